//! Joins the doclists that several segments of one index have for a term. The newest entry of a row counts, and deleted rows have no
//! entry.

use crate::decoder::position_list;
use crate::varint_at;
use litepress_format::{FormatError, varint};
use std::ops::Range;

/// An entry of a doclist.
struct Entry {
    rowid: i64,
    /// Position of its doclist.
    doclist: usize,
    /// The position list with its size before it.
    list: Range<usize>,
}

/// Appends the live entries of a term to `out`, as a doclist. The doclist of the newest segment comes first. `has_positions` is false
/// for tables with detail=none.
///
/// Memory: some words for each entry.
///
/// # Errors
/// If a doclist breaks a rule of the format.
pub fn join_doclists(newest_first: &[&[u8]], has_positions: bool, out: &mut Vec<u8>) -> Result<(), FormatError> {
    let mut entries = Vec::new();
    for (number, doclist) in newest_first.iter().enumerate() {
        read_entries(doclist, number, has_positions, &mut entries)?;
    }
    entries.sort_by_key(|entry| (entry.rowid, entry.doclist));
    entries.dedup_by_key(|entry| entry.rowid);
    let mut before = 0;
    for Entry { rowid, doclist, list } in entries {
        let start = out.len();
        varint::push(rowid.wrapping_sub(before).cast_unsigned(), out);
        if push_live(&newest_first[doclist][list], has_positions, out)? {
            before = rowid;
        } else {
            out.truncate(start);
        }
    }
    Ok(())
}

/// Reads the entries of a doclist, whose first rowid alone is stored whole.
fn read_entries(
    doclist: &[u8],
    number: usize,
    has_positions: bool,
    entries: &mut Vec<Entry>,
) -> Result<(), FormatError> {
    let (mut at, mut rowid) = (0, 0_i64);
    while at < doclist.len() {
        let (step, start) = varint_at(doclist, at)?;
        rowid = rowid.wrapping_add(step.cast_signed());
        let (end, list) = position_list(doclist, start, has_positions)?;
        at = end + list;
        if at > doclist.len() {
            return Err(FormatError::new("a position list is cut off", start));
        }
        entries.push(Entry { rowid, doclist: number, list: start..at });
    }
    Ok(())
}

/// Appends a position list without the mark of a deleted row. Returns `false` if the row was deleted and not added again.
fn push_live(list: &[u8], has_positions: bool, out: &mut Vec<u8>) -> Result<bool, FormatError> {
    if !has_positions {
        // One zero byte: deleted. Two: deleted, then added.
        return Ok(list.len() != 1);
    }
    let (size, at) = varint_at(list, 0)?;
    if size == 1 {
        return Ok(false);
    }
    varint::push(size & !1, out);
    out.extend_from_slice(&list[at..]);
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_entry_of_a_row_counts() {
        let join = |newest_first: &[&[u8]], has_positions| {
            let mut out = Vec::new();
            join_doclists(newest_first, has_positions, &mut out).expect("doclists");
            out
        };
        // Rows 2, 5 and 9 with one position each; 5 is deleted, and 9 deleted and added again.
        let old: &[u8] = &[2, 2, 7, 3, 2, 8, 4, 2, 9];
        let new: &[u8] = &[5, 1, 4, 3, 6];
        assert_eq!(join(&[old], true), old);
        assert_eq!(join(&[new, old], true), [2, 2, 7, 7, 2, 6]);
        assert_eq!(join(&[&[2, 1, 3, 1], old], true), [9, 2, 9]);
        // Without positions.
        assert_eq!(join(&[&[5, 0, 4, 0, 0], &[2, 3, 4]], false), [2, 7]);
        assert!(join_doclists(&[&[5, 8, 1]], true, &mut Vec::new()).is_err());
    }
}
