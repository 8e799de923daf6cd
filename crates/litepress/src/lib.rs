//! Writes SQLite databases by building b-tree pages bottom-up on all cores, instead of inserting row by row.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("metrics.db");
//! let mut db = litepress::Writer::create(&path, "CREATE TABLE metrics (name TEXT, value REAL)")?;
//! db.table("metrics")?.insert(("load", 0.5))?;
//! db.finish()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod pipeline;
mod writer;

pub use litepress_engine as engine;
pub use litepress_engine::{
    Conflict, Database, Error, ErrorKind, Finished, MIN_MEMORY_BYTES, Options, PageSize, Place, Progress, Result,
    Schema, Stages, Summary, Sync, TableSummary, Target, Verify, sqlite_version,
};
pub use writer::{Row, RowValues, TableWriter, ToValue, UnsupportedValue, Value, Writer, Written};
