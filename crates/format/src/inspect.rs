//! Shows a page as annotated text: one line a field, with its offset, its bytes, its value and its meaning.
//!
//! This is for people who examine a damaged file, so nothing in it trusts the page. Bytes that do not decode are
//! shown as hex below a line that begins with `!` and says why. A sound page has no such line.
//!
//! ```
//! use litepress_format::inspect::{Role, describe_page};
//! use litepress_format::page::{PageKind, PageSize, PageWriter};
//!
//! let mut page = [0; 512];
//! let mut writer = PageWriter::new(&mut page, 0, PageKind::LeafTable, 512);
//! assert!(writer.push(b"\x0b\x07\x04\x00\x17\x02hello\x01\x2c"));
//! writer.finish(None);
//! let text = describe_page(2, &page, PageSize::MIN, 512, Role::BTree);
//! assert_eq!(text, r#"page 2, b-tree page, 512 bytes
//! page header
//! 0000  0d                          table leaf        kind of page
//! 0001  00 00                       0                 first freeblock
//! 0003  00 01                       1                 cells
//! 0005  01 f3                       499               start of the cell content
//! 0007  00                          0                 fragmented bytes
//! cell pointers, in key order
//! 0008  01 f3                       499               cell 0 is at 01f3
//! 000a  489 bytes, unallocated gap, all zero
//! cell 0: 13 bytes
//! 01f3  0b                          11                payload length
//! 01f4  07                          7                 rowid
//! 01f5  04                          4                 record header length
//! 01f6  00                          0                 column 0: NULL
//! 01f7  17                          23                column 1: text of 5 bytes
//! 01f8  02                          2                 column 2: integer of 2 bytes
//! 01f9  68 65 6c 6c 6f              "hello"           column 1
//! 01fe  01 2c                       300               column 2
//! "#);
//! ```
//!
//! The submodules: `lines` formats a line; `btree` and `side` (pages outside the trees) know the order of the fields;
//! `record` shows the part of a payload that is on the page.

mod btree;
mod lines;
mod record;
mod side;

use crate::freelist::Trunk;
use crate::page::{FILE_HEADER_LEN, MIN_USABLE, PageReader, PageSize};
use crate::ptrmap;
use lines::Lines;

/// The use of a page, which its bytes alone do not always tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// A page of a b-tree. Page 1 also has the file header.
    BTree,
    /// A page of an overflow chain.
    Overflow,
    /// A trunk page of the freelist.
    FreelistTrunk,
    /// A leaf page of the freelist.
    FreelistLeaf,
    /// A pointer-map page.
    PointerMap,
    /// The lock-byte page.
    LockByte,
    /// Not known: the description guesses, and says so.
    Unknown,
}

impl Role {
    const fn name(self) -> &'static str {
        match self {
            Self::BTree => "b-tree page",
            Self::Overflow => "overflow page",
            Self::FreelistTrunk => "freelist trunk",
            Self::FreelistLeaf => "freelist leaf",
            Self::PointerMap => "pointer map",
            Self::LockByte => "lock-byte page",
            Self::Unknown => "page of unknown use",
        }
    }
}

/// Formats the page as text, one line a field. Every line ends with `\n`.
///
/// `page` is the complete page, and `usable` its size without the reserved bytes. Accepts any bytes: nothing here
/// panics, and the text is at most a few hundred times as long as the page.
#[must_use]
pub fn describe_page(page_number: u32, page: &[u8], page_size: PageSize, usable: usize, role: Role) -> String {
    let mut lines = Lines::new(page);
    let known_role = if role == Role::Unknown { guess(page_number, page, page_size, usable) } else { role };
    let guessed = if known_role == role { "" } else { " (guessed)" };
    lines.heading(format_args!("page {page_number}, {}{guessed}, {} bytes", known_role.name(), page.len()));
    if page.len() < page_size.bytes() {
        lines.wrong(format_args!("the file is cut off: it ends in this page of {page_size} bytes"));
        if usable > page.len() {
            lines.undecoded(0..page.len(), format_args!("a part of a page is not explained"));
            return lines.into_text();
        }
    } else if page.len() > page_size.bytes() {
        lines.wrong(format_args!("the page size is {page_size}"));
    }
    if usable < MIN_USABLE || usable > page.len() {
        lines.undecoded(0..page.len(), format_args!("{usable} usable bytes are impossible"));
        return lines.into_text();
    }
    match known_role {
        Role::BTree => btree::show(&mut lines, page_number, usable),
        Role::Overflow => side::show_overflow(&mut lines, usable),
        Role::FreelistTrunk => side::show_trunk(&mut lines, usable),
        Role::PointerMap => side::show_pointer_map(&mut lines, page_number, usable),
        Role::FreelistLeaf => lines.raw(0..usable, "free: means nothing"),
        Role::LockByte => side::show_lock_byte(&mut lines, page_number, page_size.lock_byte_page()),
        Role::Unknown => lines.raw(0..usable, "unknown"),
    }
    if known_role != Role::LockByte && usable < page.len() {
        lines.raw(usable..page.len(), "reserved for extensions");
    }
    lines.into_text()
}

/// Returns the offset of the b-tree page header.
const fn header_offset(page_number: u32) -> usize {
    if page_number == 1 { FILE_HEADER_LEN } else { 0 }
}

/// Guesses the role whose rules the page follows. A page of zeros or text may belong to an overflow chain or be a
/// freelist leaf.
fn guess(page_number: u32, page: &[u8], page_size: PageSize, usable: usize) -> Role {
    let lock_byte_page = page_size.lock_byte_page();
    if page_number == lock_byte_page {
        return Role::LockByte;
    }
    if page_number == 1 || PageReader::new(page, header_offset(page_number), usable).is_ok() {
        return Role::BTree;
    }
    let is_map_page = usable <= PageSize::MAX.bytes()
        && ptrmap::map_page_of(page_number, usable, lock_byte_page) == Some(page_number);
    if is_map_page && ptrmap::Entry::decode(page).is_ok() {
        return Role::PointerMap;
    }
    if Trunk::decode(page, usable).is_ok_and(|trunk| trunk.leaves().len() > 0 && trunk.leaves().all(|leaf| leaf > 1)) {
        return Role::FreelistTrunk;
    }
    if page.iter().any(|byte| *byte != 0) { Role::Overflow } else { Role::Unknown }
}

#[cfg(test)]
mod tests;
