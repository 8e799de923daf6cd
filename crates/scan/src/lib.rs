//! Reads tables and indexes of an existing database page by page, on every core, as they are at one moment.
//!
//! SQLite keeps the moment: a read or write transaction of a connection, which other programs respect. Rows do not pass through
//! SQL, so a scan costs little more than reading the file. Records come verbatim: not decoded, not converted, in the encoding of
//! the database.
//!
//! # The tour
//!
//! ```text
//! file_pointer   SQLite's own handles of the file and its journal, the only unsafe code
//! wal            the pages that are in the write-ahead log, and in which frame
//! snapshot       Snapshot: the bytes of every page at the moment; PageReader: a handle for one thread
//!
//! moment         Moment: a connection with a read transaction, its snapshot, and no file left behind
//! file_stamp     FileStamp: whether a database was changed while it was closed
//! walk           interior pages, read by one worker at a time: leaves in key order, cut into groups
//! leaf           ScanPart: rows and entries of a group, read by one worker each
//!  `- overflow   payloads that go on behind their page
//! sample         some rows from all over a tree
//! scan           TableScan, IndexScan: sources of rows (litepress_rows::Source)
//! ```
//!
//! # Why the file is read through SQLite's handle
//!
//! POSIX locks belong to a process: as soon as it closes *any* handle of a file, all its locks on the file are gone, those of the
//! caller's connections too. SQLite's handles know of one another and are closed when no lock is left. So every thread has a
//! connection of its own, which begins no transaction, and reads through that connection's `sqlite3_file`.
//!
//! # Termination
//!
//! A scan enters each page once (one bit a page), and a tree has at most 20 levels, so it ends on any file. A page that breaks a
//! rule of the file format is an error of kind [`Corrupt`](litepress_rows::ErrorKind::Corrupt), which names page and table.
#![deny(unsafe_code)]

mod file_pointer;
mod file_stamp;
mod leaf;
mod moment;
mod overflow;
mod sample;
mod scan;
mod snapshot;
mod visited_pages;
mod wal;
mod walk;

pub use file_pointer::{FilePointer, forget_pages, vfs_name};
pub use file_stamp::FileStamp;
pub use leaf::ScanPart;
pub use moment::{ConnectionGuard, Moment};
pub use scan::{IndexScan, TableScan};
pub use snapshot::{PageReader, Snapshot};
pub use wal::{wal_has_pages_behind, wal_is_empty};

#[cfg(test)]
mod tests;
