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

mod build;
mod check;
pub mod choices;
mod generate;
mod load;
mod observer;
pub mod parse;
pub mod pipeline;
mod plan_report;
mod profile;
mod report;
mod schema_text;
pub mod units;
mod writer;

pub use build::refuse_special_name;
pub use check::{CheckOptions, CheckResult, check};
pub use choices::Choice;
pub use generate::{GenerateOptions, generate, plan_file, plan_generate};
pub use litepress_engine as engine;
pub use litepress_engine::{
    Conflict, Database, Error, ErrorKind, Finished, MIN_MEMORY_BYTES, Options, PageSize, Place, Progress, Result,
    Schema, Stages, Summary, Sync, TableSummary, Target, Verify, sqlite_version,
};
pub use litepress_gen::Shard;
pub use litepress_load::infer::Decision;
pub use litepress_load::options::{InvalidUtf8, Ragged};
pub use litepress_load::schema::TableOptions;
pub use litepress_load::source::OnError;
pub use litepress_rows::hint::{Flags, Hint, Message, OptionName, OptionValue, RustWords, Words};
pub use litepress_rows::message;
pub use load::{FileFormat, LoadOptions, LoadReport, load, plan_load};
pub use observer::{Meter, Observer, Sample, Silent, Stage, Unit};
pub use plan_report::{PlanReport, PlannedColumn, TableOrigin, TableReport, lane_words};
pub use profile::{Profile, ProfileOptions, profile};
pub use report::BuildReport;
pub use schema_text::SchemaText;
pub use serde_json::Value as Json;
pub use writer::{Row, RowValues, TableWriter, ToValue, UnsupportedValue, Value, Writer, Written};
