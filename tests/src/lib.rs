//! The code that conformance tests share.
//!
//! ```text
//! case         a schema and its rows, written along every route: threads x sinks x page sizes
//! source       rows as values, or made by a function, cut into parts
//! oracle       is the file sound, by the bundled SQLite and by an older one; does it hold what SQLite's INSERT gives
//! shape        depth and pages of a tree
//! spilling     rows whose sorts do not fit the smallest memory
//! btree        the records of an index, as they are stored
//! edge_values  types and values at the edges of SQLite's rules
//! keyed        generated tables with indexes and constraints, WITHOUT ROWID or not
//! clients      programs that use a database in a trial, and the files in which they tell how it went
//! hammer       a trial: a database is changed under clients
//! live_changes every change of a database that exists
//! program      databases in the form of real programs
//! random       pseudo-random numbers
//! random_table tables with random types, keys, constraints and indexes
//! race         a trial: a database is replaced under clients
//! faults       sinks that fail, and sinks that leave holes
//! ```
//!
//! The tests are in `tests/tests`: one file for each promise, most of them modules of `conformance.rs`.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

pub mod btree;
pub mod case;
pub mod checksum;
pub mod clients;
pub mod edge_values;
pub mod faults;
pub mod folder;
pub mod hammer;
pub mod keyed;
pub mod live_changes;
pub mod oracle;
pub mod program;
pub mod race;
pub mod random;
pub mod random_table;
pub mod shape;
pub mod source;
pub mod spilling;

use litepress::PageSize;

/// Returns every page size that SQLite supports.
pub fn page_sizes() -> impl Iterator<Item = PageSize> {
    (9..=16).filter_map(|power| PageSize::new(1 << power))
}
