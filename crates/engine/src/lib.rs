//! Chunks of records in, a published SQLite database out.
//!
//! ```text
//! append      rows for a database that exists
//! database    every table and its indexes, then sqlite_schema and page 1, then the file's name
//! split       the rows of each value of a column, as a database of their own
//! copy        trees and rows of sqlite_schema as they are in other databases, then the file's name
//! table       rows of a source, in order or sorted by a key
//! evaluate    what SQLite evaluates of rows on their way: keys, CHECKs, computed columns
//! index       entries extracted from the records of a table
//! sort        byte strings in order, in bounded memory
//! tree        records become cells on leaf pages; interior pages above them
//! pages       page numbers
//! part        rows printed elsewhere: leaf pages without numbers, in files that are stitched
//! sink        finished pages: to a file, to memory, nowhere
//! sqlite      what SQLite makes itself, on the written file
//! publish     the file gets its name
//! ```
//!
//! Imports run downward only: `database -> table -> index -> tree -> pages -> sink`, `{table, index, tree} -> sort`, and
//! `index -> evaluate -> sqlite`, `{database, copy} -> {table, publish}`, `database -> sqlite`. Only `pages` assigns page numbers, only `sink` and `publish` hold handles of an
//! unfinished database, only `publish` changes the target.
#![deny(unsafe_code)]

mod append;
mod copy;
mod database;
mod direct_io;
mod draft;
mod estimate;
mod evaluate;
mod full_text;
mod index;
pub mod live;
mod memory;
mod options;
mod output;
mod pages;
mod part;
pub mod plan;
mod progress;
mod publish;
mod refusals;
mod rehearsal;
mod resources;
#[cfg(all(test, shuttle))]
mod schedules;
mod sink;
mod sort;
mod split;
mod spool;
mod sqlite;
mod summary;
mod table;
mod threads;
mod tree;
mod verify;

pub use append::{
    Append, AppendOptions, AppendReport, AppendedTable, PageCandidates, PlannedAppend, Route, RoutePlan, RowFigures,
    append_pages, beside_spools, refuse_stale_indexes, schema_of, spool_rows,
};
pub use copy::{CopiedDatabase, CopiedTree};
pub use database::{Database, Finished};
pub use draft::Draft;
pub use estimate::{Estimate, TreeEstimate};
pub use full_text::{TakeTerm, TextIndexes};
pub use litepress_format::page::PageSize;
pub use litepress_fts5::Averages;
pub use litepress_rows::sqlite::sqlite_version;
pub use litepress_rows::{Conflict, Error, ErrorKind, Place, Result, Schema};
pub use options::{MIN_MEMORY_BYTES, Options, Sync, Target, Verify};
pub use part::{PageCopy, Parts};
pub use progress::{Phase, Progress};
pub use publish::{TargetStamp, apply_left_log, begin_replacing, folder_of, free_bytes};
pub use refusals::{find_refused, may_refuse, telling_policy};
pub use rehearsal::{check_append_options, check_update, rehearse_additions, rehearse_build, rehearse_split};
pub use sink::Sink;
pub use split::{SplitDatabases, SplitTable, split};
#[doc(hidden)]
pub use spool::{PartRows, Spool, SpoolBudget};
pub use summary::{Stages, Summary, TableSummary, memory_bytes, peak_memory_bytes};
