//! Chunks of records in, a published SQLite database out.
//!
//! ```text
//! Source -> table -> tree -> pages -> sink          one table: parts in parallel, stitched in order
//!       -> settle -> table or keyed_table           rows that must be sorted first
//!       -> settle -> sorted_prefix -> table         rows whose order is unknown
//! database: every table, then sqlite_schema and page 1, then publish
//! ```
//!
//! Imports run downward only: `database -> settle -> table -> tree -> pages -> sink`, and `database -> publish`. Only
//! `pages` assigns page numbers, only `sink` and `publish` hold handles of an unfinished database, only `publish`
//! changes the target.
#![deny(unsafe_code)]

mod bulk_load;
mod database;
mod estimate;
mod feed;
mod fields;
mod index;
mod keyed_parts;
mod keyed_table;
mod machine;
mod numbered_table;
mod options;
mod pages;
pub mod plan;
mod printed_entries;
mod printed_rows;
mod progress;
mod publish;
mod reorder;
mod schema_pages;
mod settle;
mod sink;
mod sort;
mod sorted_prefix;
mod sorted_rows;
mod sql_lane;
mod statistics;
mod stitch;
mod summary;
mod table;
mod threads;
mod tree;
mod verify;
mod zeroed_pages;

pub use database::{Database, Finished};
pub use estimate::{Estimate, TreeEstimate};
pub use litepress_format::page::PageSize;
pub use litepress_rows::sqlite::sqlite_version;
pub use litepress_rows::{Conflict, Error, ErrorKind, Place, Result, Schema};
pub use options::{MIN_MEMORY_BYTES, Options, Sync, Target};
pub use progress::Progress;
pub use publish::{folder_of, free_bytes};
pub use sink::Sink;
pub use summary::{Stages, Summary, TableSummary, peak_memory_bytes};
pub use verify::Verify;
