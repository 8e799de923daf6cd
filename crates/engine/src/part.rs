//! Parts: rows of a database that are printed elsewhere, as leaf pages without page numbers, and stitched later.
//!
//! ```text
//! page 1       magic, page size, the place of the directory
//! runs         leaf pages of rowid tables, a run for each part of a source            run
//! items        sort items, in order: of indexes, and the rows of WITHOUT ROWID tables  items
//! directory    a SQLite database: schema, runs with the largest rowid of each leaf     directory
//! ```
//!
//! A database in the mode of a part writes these instead of trees (`database/stored_part.rs`). [`Parts`] opens them, and a database is
//! filled from them (`database/stitched.rs`): runs get numbers as parts of one process do, items go to sorts. So the file is that of
//! one process if parts of its sources are cut alike. `docs/parts.md` has the format: if you change it, raise [`VERSION`].

mod directory;
mod file;
mod items;
mod run;
#[cfg(test)]
mod tests;

pub(crate) use directory::{Directory, StoredTable};
pub use file::Parts;
pub(crate) use file::header_page;
pub(crate) use items::{PageStream, StoredItems, store};
pub(crate) use run::StoredRun;

/// The first bytes of a part.
pub(crate) const MAGIC: &[u8; 16] = b"litepress part 1";

/// The version of the format.
pub(crate) const VERSION: u32 = 1;

/// A piece of a part that becomes a piece of the database, byte for byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageCopy {
    /// Position of the part in the list of parts.
    pub part: usize,
    /// Offset in the part, in bytes.
    pub from: u64,
    /// Offset in the database, in bytes.
    pub to: u64,
    /// Number of bytes.
    pub bytes: u64,
}
