//! Shows pages outside the b-trees.

use super::lines::Lines;
use crate::freelist::Trunk;
use crate::overflow;
use crate::ptrmap::{ENTRY_LEN, Entry, EntryKind, entries_per_page};

/// Shows an overflow page. Only the cell and its chain tell how much of the content is payload.
pub(super) fn show_overflow(lines: &mut Lines<'_>, usable: usize) {
    let (next, _) = overflow::read_page(lines.page(), usable);
    lines.field(0..4, next, if next == 0 { "last page of its chain" } else { "next overflow page" });
    lines.raw(4..usable, "payload");
}

/// Shows a freelist trunk page.
pub(super) fn show_trunk(lines: &mut Lines<'_>, usable: usize) {
    let trunk = match Trunk::decode(lines.page(), usable) {
        Ok(trunk) => trunk,
        Err(error) => return lines.undecoded_error(0..usable, &error),
    };
    let leaf_count = trunk.leaves().len();
    lines.field(0..4, trunk.next, if trunk.next == 0 { "last trunk page" } else { "next trunk page" });
    lines.field(4..8, leaf_count, "leaves");
    for (index, leaf) in trunk.leaves().enumerate() {
        let at = 8 + 4 * index;
        lines.field(at..at + 4, leaf, format_args!("leaf {index}"));
    }
    let end = 8 + 4 * leaf_count;
    if end < usable {
        lines.raw(end..usable, "not in use");
    }
}

/// Shows a pointer-map page up to its last nonzero entry.
pub(super) fn show_pointer_map(lines: &mut Lines<'_>, page_number: u32, usable: usize) {
    let bytes = &lines.page()[..entries_per_page(usable) * ENTRY_LEN];
    let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last / ENTRY_LEN + 1);
    for (entry, index) in bytes.chunks_exact(ENTRY_LEN).take(used).zip(1_u32..) {
        let at = (index as usize - 1) * ENTRY_LEN;
        let page = u64::from(page_number) + u64::from(index);
        match Entry::decode(entry) {
            Ok(entry) => show_entry(lines, at, page, entry),
            Err(_) if entry.iter().all(|byte| *byte == 0) => lines.field(at..at + ENTRY_LEN, "", "no entry"),
            Err(error) => lines.undecoded_error(at..at + ENTRY_LEN, &error.within(at)),
        }
    }
    if used * ENTRY_LEN < usable {
        lines.raw(used * ENTRY_LEN..usable, "no more entries");
    }
}

fn show_entry(lines: &mut Lines<'_>, at: usize, page: u64, entry: Entry) {
    let (what, parent) = match entry.kind {
        EntryKind::RootPage => ("root of a b-tree", ""),
        EntryKind::FreePage => ("on the freelist", ""),
        EntryKind::FirstOverflow => ("first overflow page of a cell", " on page "),
        EntryKind::LaterOverflow => ("overflow page", " after page "),
        EntryKind::Child => ("b-tree page", " below page "),
    };
    let parent = if parent.is_empty() { String::new() } else { format!("{parent}{}", entry.parent) };
    lines.field(at..at + ENTRY_LEN, page, format_args!("{what}{parent}"));
}

/// Shows the lock-byte page, which SQLite never reads or writes.
pub(super) fn show_lock_byte(lines: &mut Lines<'_>, page_number: u32, lock_byte_page: u32) {
    if page_number != lock_byte_page {
        lines.wrong(format_args!("the lock-byte page is page {lock_byte_page}"));
    }
    lines.raw(0..lines.page().len(), "never in use");
}
