//! The two records of `%_data` that tell of the whole index: which segments there are, and how many tokens.

use crate::varint_at;
use litepress_format::{FormatError, varint};

/// Marks a structure whose segments know from which rows they come. Tables with `contentless_delete=1` have it.
const WITH_ORIGINS: [u8; 4] = [0xff, 0, 0, 1];

/// The segments of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Structure {
    /// Number of changes of the configuration.
    pub cookie: u32,
    /// Number of leaves that were written to level 0.
    pub write_counter: u64,
    /// Whether segments have an [origin](Origin).
    pub has_origins: bool,
    /// The levels; segments of level 0 are merged first.
    pub levels: Vec<Level>,
}

/// A level of segments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// Number of segments that are being merged.
    pub merging: u64,
    /// The segments, the oldest first.
    pub segments: Vec<Segment>,
}

/// A segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Its number in ids of `%_data`.
    pub id: u32,
    /// The first leaf; 0 if it is [used up](Self::is_used_up).
    pub first_page: u32,
    /// The last leaf.
    pub last_page: u32,
    /// The origin of its rows, in tables with `contentless_delete=1`.
    pub origin: Origin,
}

/// The origin of a segment's rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The first flush whose rows it has.
    pub first: u64,
    /// The last flush whose rows it has.
    pub last: u64,
    /// Number of pages with deleted rowids.
    pub tombstone_pages: u64,
    /// Number of deleted rowids.
    pub tombstones: u64,
    /// Number of rows.
    pub entries: u64,
}

impl Segment {
    /// Returns whether a merge has used the segment up: its entries are in the new one, and its leaves, which are there until the merge
    /// ends, do not count.
    #[must_use]
    pub const fn is_used_up(&self) -> bool {
        self.first_page == 0
    }
}

impl Structure {
    /// Returns the structure of an index of one segment with this many leaves, as one flush leaves it. `entries` is the number
    /// of rows in tables with `contentless_delete=1`.
    #[must_use]
    pub fn one_segment(leaves: u32, entries: Option<u64>) -> Self {
        let origin =
            entries.map_or_else(Origin::default, |entries| Origin { first: 1, last: 1, entries, ..Origin::default() });
        let segment = Segment { id: 1, first_page: 1, last_page: leaves, origin };
        Self {
            cookie: 0,
            write_counter: u64::from(leaves),
            has_origins: entries.is_some(),
            levels: vec![Level { merging: 0, segments: vec![segment] }],
        }
    }

    /// Returns the number of segments.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.levels.iter().map(|level| level.segments.len()).sum()
    }

    /// Encodes the record.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = self.cookie.to_be_bytes().to_vec();
        if self.has_origins {
            out.extend_from_slice(&WITH_ORIGINS);
        }
        [self.levels.len() as u64, self.segments() as u64, self.write_counter]
            .iter()
            .for_each(|&value| varint::push(value, &mut out));
        for level in &self.levels {
            varint::push(level.merging, &mut out);
            varint::push(level.segments.len() as u64, &mut out);
            for &Segment { id, first_page, last_page, origin } in &level.segments {
                [id, first_page, last_page].iter().for_each(|&value| varint::push(u64::from(value), &mut out));
                if self.has_origins {
                    let Origin { first, last, tombstone_pages, tombstones, entries } = origin;
                    let values = [first, last, tombstone_pages, tombstones, entries];
                    values.iter().for_each(|&value| varint::push(value, &mut out));
                }
            }
        }
        out
    }

    /// Decodes the record.
    ///
    /// # Errors
    /// If it is cut off, or SQLite would not accept it: counts do not agree, a segment ends before it begins, or a merge has too few
    /// segments or no level to put them into.
    pub fn decode(bytes: &[u8]) -> Result<Self, FormatError> {
        let cookie = bytes.first_chunk().ok_or_else(|| FormatError::new("the cookie is cut off", 0))?;
        let has_origins = bytes[4..].starts_with(&WITH_ORIGINS);
        let mut at = if has_origins { 8 } else { 4 };
        let mut next = || {
            let (value, end) = varint_at(bytes, at)?;
            at = end;
            Ok::<u64, FormatError>(value)
        };
        let (levels, segments, write_counter) = (next()?, next()?, next()?);
        let mut structure =
            Self { cookie: u32::from_be_bytes(*cookie), write_counter, has_origins, levels: Vec::new() };
        for _ in 0..levels {
            let mut level = Level { merging: next()?, segments: Vec::new() };
            for _ in 0..next()? {
                let [id, first_page, last_page] = [next()?, next()?, next()?].map(u32::try_from);
                let (Ok(id), Ok(first_page), Ok(last_page)) = (id, first_page, last_page) else {
                    return Err(FormatError::new("a page number is too large", at));
                };
                if last_page < first_page {
                    return Err(FormatError::new(format!("segment {id} ends before it begins"), at));
                }
                let mut origin = Origin::default();
                if has_origins {
                    (origin.first, origin.last) = (next()?, next()?);
                    (origin.tombstone_pages, origin.tombstones, origin.entries) = (next()?, next()?, next()?);
                }
                level.segments.push(Segment { id, first_page, last_page, origin });
            }
            let is_merged_with = structure.levels.last().is_some_and(|level| level.merging > 0);
            if level.merging > level.segments.len() as u64 || is_merged_with && level.segments.is_empty() {
                return Err(FormatError::new("a merge has too few segments", at));
            }
            structure.levels.push(level);
        }
        if structure.levels.last().is_some_and(|level| level.merging > 0) {
            return Err(FormatError::new("the last level merges into no other", at));
        }
        if structure.segments() as u64 != segments || at != bytes.len() {
            return Err(FormatError::new(format!("its levels do not have {segments} segments"), 4));
        }
        Ok(structure)
    }
}

/// The number of rows and of tokens, for bm25().
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Averages {
    /// Number of rows.
    pub rows: u64,
    /// Number of tokens of each column.
    pub tokens: Vec<u64>,
}

impl Averages {
    /// Encodes the record.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        std::iter::once(&self.rows).chain(&self.tokens).for_each(|&value| varint::push(value, &mut out));
        out
    }

    /// Decodes the record. The record of a table that never had a row is empty.
    ///
    /// # Errors
    /// If a number is cut off.
    pub fn decode(bytes: &[u8]) -> Result<Self, FormatError> {
        let (mut values, mut at) = (Vec::new(), 0);
        while at < bytes.len() {
            let (value, next) = varint_at(bytes, at)?;
            values.push(value);
            at = next;
        }
        let rows = if values.is_empty() { 0 } else { values.remove(0) };
        Ok(Self { rows, tokens: values })
    }

    /// Adds the numbers of other rows.
    pub fn add(&mut self, other: &Self) {
        self.rows += other.rows;
        self.tokens.resize(self.tokens.len().max(other.tokens.len()), 0);
        self.tokens.iter_mut().zip(&other.tokens).for_each(|(sum, tokens)| *sum += tokens);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records that SQLite refuses were read: a segment of no pages, merges of more segments than there are, and of the last level.
    #[test]
    fn records_that_sqlite_refuses_are_errors() {
        let read = |levels: &[u8]| Structure::decode(&[&[0, 0, 0, 0], levels].concat());
        assert!(read(&[1, 1, 1, 0, 1, 1, 1, 2]).is_ok());
        assert!(read(&[2, 2, 1, 1, 1, 1, 1, 2, 0, 1, 2, 1, 1]).is_ok());
        for (levels, why) in [
            (&[1, 1, 1, 0, 1, 1, 1, 0][..], "ends before it begins"),
            (&[2, 2, 1, 2, 1, 1, 1, 2, 0, 1, 2, 1, 1], "too few segments"),
            (&[2, 1, 1, 1, 1, 1, 1, 2, 0, 0], "too few segments"),
            (&[1, 1, 1, 1, 1, 1, 1, 2], "merges into no other"),
            (&[1, 2, 1, 0, 1, 1, 1, 2], "do not have 2 segments"),
        ] {
            let error = read(levels).expect_err(why).to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
