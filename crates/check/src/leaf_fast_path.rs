//! The fast paths for leaves that need no report, which are almost all. [`counts`] is one tight loop that keeps nothing, for
//! rows that no index repeats. [`PlainLeaf`] also sums up what is compared with other trees, and compares neighbours.
//! A leaf that either does not take is read again, cell by cell, so both leave everything as it was.

use super::order::Step;
use super::record::{FieldAt, FieldWord, Record, RecordRules, check_fast, read_plain};
use super::tree::Tree;
use litepress_format::page::{ByteUsage, MIN_CELL_LEN, PageKind, PageReader};
use litepress_format::payload::max_local;
use litepress_format::varint;

/// The counts that a plain leaf adds to its tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LeafCounts {
    pub(super) payload_bytes: u64,
    pub(super) last_rowid: i64,
}

/// Returns the counts of a plain leaf, or `None` if the leaf needs a second look. A plain leaf has at least one row.
/// Its cells adjoin, in order, from the end of the page towards its front. Its rows do not overflow, ascend between
/// the bounds and keep the rules.
pub(super) fn counts(
    reader: &PageReader<'_>,
    page: &[u8],
    rules: &RecordRules,
    lower: Option<i64>,
    upper: Option<i64>,
) -> Option<LeafCounts> {
    let header = reader.header();
    if reader.kind() != PageKind::LeafTable || header.first_freeblock != 0 || header.fragmented_bytes != 0 {
        return None;
    }
    let page = page.get(..reader.usable())?;
    let (pointers, _) = page.get(reader.pointer_offset(0)..reader.pointers_end())?.as_chunks();
    let (mut end, mut payload_bytes, mut last_rowid) = (page.len(), 0, lower);
    for pointer in pointers {
        let start = usize::from(u16::from_be_bytes(*pointer));
        let cell = page.get(start..end).filter(|cell| cell.len() >= MIN_CELL_LEN)?;
        let (&payload_len @ ..0x80, rest) = cell.split_first()? else { return None };
        let (rowid, rowid_len) = varint::read(rest)?;
        let record = &rest[rowid_len..];
        let rowid = rowid.cast_signed();
        if record.len() != usize::from(payload_len)
            || last_rowid.is_some_and(|last| rowid <= last)
            || !check_fast::<false>(record, rules, &mut [])
        {
            return None;
        }
        (end, last_rowid) = (start, Some(rowid));
        payload_bytes += u64::from(payload_len);
    }
    let last_rowid = last_rowid.filter(|last| upper.is_none_or(|upper| *last <= upper) && !pointers.is_empty())?;
    (end == reader.content_start()).then_some(LeafCounts { payload_bytes, last_rowid })
}

/// The counts of a leaf whose entries are all plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlainCounts {
    pub(super) payload_bytes: u64,
    pub(super) free_bytes: u64,
    /// The last rowid; `None` in an index.
    pub(super) last_rowid: Option<i64>,
    /// Start and end of the last record on the page.
    pub(super) last_record: (usize, usize),
}

/// What comes before and behind a leaf, in key order.
#[derive(Clone, Copy)]
pub(super) struct Neighbours<'n> {
    /// The largest rowid to the left.
    pub(super) lower: Option<i64>,
    /// The largest rowid that the leaf may hold.
    pub(super) upper: Option<i64>,
    /// The entry of an index before the first one, with its fields if they are known.
    pub(super) previous: Option<(Record<'n>, &'n [FieldAt])>,
}

/// A reader of plain leaves. Each thread has one, for its memory.
#[derive(Debug, Default)]
pub(super) struct PlainLeaf {
    usage: ByteUsage,
    fields: Vec<FieldWord>,
    previous: Vec<FieldWord>,
    /// The sums of the tree's digests over the leaf that was read last.
    pub(super) sums: Vec<u128>,
}

impl PlainLeaf {
    /// Reads all entries of a leaf of `tree`. Returns `None` if the leaf needs a second look: it has no entry, an entry
    /// that overflows, breaks a rule or is out of order, or bytes that are used twice or never.
    pub(super) fn read(
        &mut self,
        reader: &PageReader<'_>,
        page: &[u8],
        tree: &Tree,
        around: Neighbours<'_>,
    ) -> Option<PlainCounts> {
        let (page, has_rowids) = (page.get(..reader.usable())?, reader.kind() == PageKind::LeafTable);
        let (pointers, _) = page.get(reader.pointer_offset(0)..reader.pointers_end())?.as_chunks();
        let most = max_local(reader.kind(), page.len());
        self.start(page.len(), tree);
        let mut counts = PlainCounts { payload_bytes: 0, free_bytes: 0, last_rowid: around.lower, last_record: (0, 0) };
        for pointer in pointers {
            let offset = usize::from(u16::from_be_bytes(*pointer));
            let (payload_len, mut len) = varint::read(page.get(offset..)?)?;
            let mut rowid = None;
            if has_rowids {
                let (read, rowid_len) = varint::read(page.get(offset + len..)?)?;
                (rowid, len) = (Some(read.cast_signed()), len + rowid_len);
                if rowid <= counts.last_rowid || around.upper.is_some_and(|upper| rowid > Some(upper)) {
                    return None;
                }
                counts.last_rowid = rowid;
            }
            let payload_len = usize::try_from(payload_len).ok().filter(|len| *len <= most)?;
            let record = (offset + len, offset + len + payload_len);
            let cell_len = (len + payload_len).max(MIN_CELL_LEN);
            if offset < reader.content_start()
                || offset + cell_len > page.len()
                || !self.usage.take(offset, cell_len)
                || !read_plain(page, record, &tree.rules, &mut self.fields)
            {
                return None;
            }
            for (index, digest) in tree.digests.iter().enumerate() {
                self.sums[index] = self.sums[index].wrapping_add(digest.of_words(rowid, page, &self.fields)?);
            }
            if let Some(order) = &tree.order {
                let ascends = match (counts.last_record, around.previous) {
                    ((0, 0), None) => true,
                    ((0, 0), Some((previous, fields))) => {
                        let record = Record::whole(page.get(record.0..record.1)?);
                        order.step((&previous, fields), (&record, &[])) == Step::Ascends
                    }
                    _ => order.ascends(page, &self.previous, &self.fields),
                };
                if !ascends {
                    return None;
                }
                std::mem::swap(&mut self.fields, &mut self.previous);
            }
            counts.last_record = record;
            counts.payload_bytes += payload_len as u64;
        }
        counts.free_bytes = self.usage.finish(reader).ok().filter(|_| !pointers.is_empty())? as u64;
        Some(counts)
    }

    fn start(&mut self, usable: usize, tree: &Tree) {
        self.usage.start(usable);
        self.fields.resize(tree.rules.columns(), FieldWord::default());
        self.previous.resize(tree.rules.columns(), FieldWord::default());
        self.sums.clear();
        self.sums.resize(tree.digests.len(), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::content::{Digest, Numbers, Part};
    use super::super::order::KeyOrder;
    use super::super::record::{FieldRule, check, class};
    use super::super::report::BtreeKind;
    use super::*;
    use litepress_format::cell::Cell;
    use litepress_format::header::TextEncoding;
    use litepress_format::page::PageWriter;
    use litepress_format::record::write_record;
    use litepress_format::sort_key::KeyPart;
    use litepress_format::value::Value;
    use litepress_rows::sync::Mutex;

    fn rules() -> RecordRules {
        let rule = |accepts| FieldRule::new("t.c".into(), accepts, None, "refused value in".into());
        RecordRules::new(Some(vec![rule(class::NULL), rule(class::ANY), rule(class::ANY)]), TextEncoding::Utf8, 4)
    }

    fn leaf() -> [u8; 512] {
        let mut page = [0; 512];
        let mut writer = PageWriter::new(&mut page, 0, PageKind::LeafTable, 512);
        for rowid in [-5, 3, 200, 70_000, 5_000_000_000] {
            let (mut record, mut cell) = (Vec::new(), Vec::new());
            write_record(&[Value::Null, Value::Text(b"some text"), Value::Real(0.5)], &mut record);
            let payload_len = record.len() as u64;
            Cell::TableLeaf { rowid, payload_len, local: &record, overflow: None }.write(&mut cell);
            assert!(writer.push(&cell));
        }
        writer.finish(None);
        page
    }

    /// Returns the rows of a leaf, read cell by cell, or its first fault.
    fn closer_look(page: &[u8], rules: &RecordRules) -> Result<LeafCounts, String> {
        let reader = PageReader::new(page, 0, 512).map_err(|error| error.to_string())?;
        reader.check_space().map_err(|error| error.to_string())?;
        let (mut payload_bytes, mut last_rowid) = (0, i64::MIN);
        for cell in reader.cells() {
            let Ok(Cell::TableLeaf { rowid, local, .. }) = cell else { return Err("no row".into()) };
            check::<false>(Record::whole(local), rules, &mut Vec::new())?;
            if rowid <= last_rowid {
                return Err("out of order".into());
            }
            (payload_bytes, last_rowid) = (payload_bytes + local.len() as u64, rowid);
        }
        Ok(LeafCounts { payload_bytes, last_rowid })
    }

    #[test]
    fn a_leaf_with_any_broken_byte_is_only_plain_if_it_is_sound() {
        let (sound, rules) = (leaf(), rules());
        let plain = |page: &[u8]| counts(&PageReader::new(page, 0, 512).ok()?, page, &rules, None, None);
        assert_eq!(plain(&sound), closer_look(&sound, &rules).ok());
        for (at, value) in (0..512).flat_map(|at| (0..=255).map(move |value| (at, value))) {
            let mut page = sound;
            page[at] = value;
            if let Some(rows) = plain(&page) {
                assert_eq!(Ok(rows), closer_look(&page, &rules), "byte {at} is {value}");
            }
        }
    }

    /// Values of every class; texts and blobs shorter and longer than a word.
    fn varied_entries() -> Vec<Vec<Value<'static>>> {
        use Value::{Blob, Int, Null, Real, Text};
        let first = [Null, Real(-1e300), Int(-70_000), Int(-1), Int(0), Int(1), Real(1.5), Int(i64::MAX), Text(b"")];
        let texts: [&[u8]; 5] = [b"a", b"a\0", b"exactly8", b"exactly8 and", b"some text of more than sixteen bytes"];
        let first = first.into_iter().chain(texts.map(Text)).chain(texts.map(Blob));
        first.zip(1..).map(|(value, rowid)| vec![value, Text(b"x"), Int(rowid)]).collect()
    }

    fn tree_of_entries(parts: Vec<Part>) -> Tree {
        let fields = (0..3).map(|index| FieldRule::copy(format!("i.{index}"), class::ANY));
        let columns = vec![KeyPart::default(); 3];
        Tree {
            name: "i".into(),
            number: 1,
            kind: BtreeKind::Index,
            root: 2,
            has_rowids: Some(false),
            rules: RecordRules::new(Some(fields.collect()), TextEncoding::Utf8, 4),
            order: Some(KeyOrder { columns, unique: Some(2), encoding: TextEncoding::Utf8 }),
            digests: vec![Digest { parts }],
            totals: Mutex::default(),
        }
    }

    fn parts(numbers: Numbers) -> Vec<Part> {
        (0..3).map(|index| Part::Field { index, numbers, default: None }).collect()
    }

    /// Reads a leaf of an index cell by cell: its sum, bytes of records and free bytes, or its first fault.
    fn closer_look_at_entries(page: &[u8], tree: &Tree) -> Result<(u128, u64, u64), String> {
        let reader = PageReader::new(page, 0, page.len()).map_err(|error| error.to_string())?;
        let (mut usage, mut sum, mut bytes) = (ByteUsage::default(), 0_u128, 0);
        let mut previous: Option<(Record<'_>, Vec<FieldAt>)> = None;
        usage.start(page.len());
        for index in 0..reader.cell_count() {
            let (cell, len) = reader.cell(index).map_err(|error| error.to_string())?;
            let Cell::IndexLeaf { local, overflow: None, .. } = cell else { return Err("no entry".into()) };
            let offset = reader.cell_offset(index).map_err(|error| error.to_string())?;
            if !usage.take(offset, len.max(MIN_CELL_LEN)) {
                return Err("overlap".into());
            }
            let (record, mut fields) = (Record::whole(local), Vec::new());
            check::<true>(record, &tree.rules, &mut fields)?;
            sum = sum.wrapping_add(tree.digests[0].of(None, &record, &fields).ok_or("not read")?);
            let order = tree.order.as_ref().ok_or("no order")?;
            if let Some((before, their)) = &previous
                && order.step((before, their), (&record, &fields)) != Step::Ascends
            {
                return Err("out of order".into());
            }
            previous = Some((record, fields));
            bytes += local.len() as u64;
        }
        let free = usage.finish(&reader).map_err(|error| error.to_string())?;
        Ok((sum, bytes, free as u64))
    }

    /// The leaf that was read entry by entry is now read in one loop. A broken byte must not slip through it, and what it
    /// sums up must be what a row of the table adds.
    #[test]
    fn entries_with_any_broken_byte_are_only_plain_if_they_are_sound() {
        let mut sound = [0; 1024];
        let mut writer = PageWriter::new(&mut sound, 0, PageKind::LeafIndex, 1024);
        for entry in varied_entries() {
            let (mut record, mut cell) = (Vec::new(), Vec::new());
            write_record(&entry, &mut record);
            Cell::IndexLeaf { payload_len: record.len() as u64, local: &record, overflow: None }.write(&mut cell);
            assert!(writer.push(&cell));
        }
        writer.finish(None);
        for numbers in [Numbers::AsStored, Numbers::AsDoubles, Numbers::ByValue] {
            let tree = tree_of_entries(parts(numbers));
            let mut plain = PlainLeaf::default();
            let mut read = |page: &[u8]| {
                let around = Neighbours { lower: None, upper: None, previous: None };
                let counts = plain.read(&PageReader::new(page, 0, 1024).ok()?, page, &tree, around)?;
                Some((plain.sums[0], counts.payload_bytes, counts.free_bytes))
            };
            assert_eq!(read(&sound), closer_look_at_entries(&sound, &tree).ok());
            assert!(read(&sound).is_some());
            for (at, change) in (0..1024).flat_map(|at| (1..=255).map(move |change| (at, change))) {
                let mut page = sound;
                page[at] ^= change;
                if let Some(found) = read(&page) {
                    assert_eq!(Ok(found), closer_look_at_entries(&page, &tree), "byte {at} ^ {change}");
                }
            }
        }
    }

    /// Cells in any order on the page, with a freeblock between them, are plain too: SQLite leaves most pages so.
    #[test]
    fn entries_in_any_place_are_plain() {
        let tree = tree_of_entries(parts(Numbers::AsStored));
        let mut page = [0; 512];
        let mut put = |at: usize, bytes: &[u8]| page[at..at + bytes.len()].copy_from_slice(bytes);
        // Two cells: the smaller entry lies behind the larger one, and a freeblock of eight bytes between them.
        put(504, b"\x07\x04\x01\x0f\x01\x03x\x01");
        put(488, b"\x07\x04\x01\x0f\x01\x04x\x02");
        put(496, &[0, 0, 0, 8]);
        put(0, &[0x0a, 1, 240, 0, 2, 1, 232, 0, 1, 248, 1, 232]);
        let reader = PageReader::new(&page, 0, 512).unwrap();
        let around = Neighbours { lower: None, upper: None, previous: None };
        let mut plain = PlainLeaf::default();
        let counts = plain.read(&reader, &page, &tree, around).unwrap();
        assert_eq!((counts.payload_bytes, counts.last_record), (14, (489, 496)));
        assert_eq!(closer_look_at_entries(&page, &tree), Ok((plain.sums[0], 14, counts.free_bytes)));
        // The entry of the page before it must be smaller.
        let previous = |record: &'static [u8]| Neighbours { previous: Some((Record::whole(record), &[])), ..around };
        assert!(plain.read(&reader, &page, &tree, previous(b"\x04\x01\x0f\x01\x02x\x01")).is_some());
        assert!(plain.read(&reader, &page, &tree, previous(b"\x04\x01\x0f\x01\x03x\x09")).is_none());
    }

    #[test]
    fn rowids_outside_the_bounds_are_not_plain() {
        let (page, rules) = (leaf(), rules());
        let reader = PageReader::new(&page, 0, 512).unwrap();
        let is_plain = |lower, upper| counts(&reader, &page, &rules, lower, upper).is_some();
        assert!(is_plain(Some(-6), Some(5_000_000_000)));
        assert!(!is_plain(Some(-5), None) && !is_plain(None, Some(4_999_999_999)));
    }
}
