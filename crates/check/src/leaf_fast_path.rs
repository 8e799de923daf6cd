//! The fast path for leaves of rowid tables that need no report, which are almost all: one tight loop that keeps
//! nothing.

use super::record::{RecordRules, check_fast};
use litepress_format::page::{MIN_CELL_LEN, PageKind, PageReader};
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

#[cfg(test)]
mod tests {
    use super::super::record::{FieldRule, Record, check, class};
    use super::*;
    use litepress_format::cell::Cell;
    use litepress_format::header::TextEncoding;
    use litepress_format::page::PageWriter;
    use litepress_format::record::write_record;
    use litepress_format::value::Value;

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

    #[test]
    fn rowids_outside_the_bounds_are_not_plain() {
        let (page, rules) = (leaf(), rules());
        let reader = PageReader::new(&page, 0, 512).unwrap();
        let is_plain = |lower, upper| counts(&reader, &page, &rules, lower, upper).is_some();
        assert!(is_plain(Some(-6), Some(5_000_000_000)));
        assert!(!is_plain(Some(-5), None) && !is_plain(None, Some(4_999_999_999)));
    }
}
