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
//!
//! | to write | use |
//! |---|---|
//! | rows of your program | [`Writer`] |
//! | files: CSV, NDJSON, JSON, Parquet, Arrow IPC, SQLite | [`load()`] |
//! | databases of one schema as one database | [`merge()`] |
//! | parts that other machines have printed as one database | [`stitch()`] |
//! | generated test data | [`generate()`] |
//! | a database without its free space | [`compact()`] |
//!
//! [`FileTable`] reads the rows of files without a database.
//!
//! [`plan_load`] and [`plan_generate`] say what a run would do, [`check()`] looks at every page of any database, and
//! [`profile()`] learns a recipe for a database that looks like another one, [`compare`] shows how far apart two databases are.
//!
//! A database gets its name when it is complete, and is synced before. A run that fails leaves nothing behind, and a file
//! that was there is as it was. The bytes of a database follow from its rows and options alone, not from threads, memory or
//! machine. No function prints, or handles signals: an [`Observer`] hears of the progress, and [`Progress::stop`] ends a run.
//!
//! # Errors
//!
//! [`Error`] says what is wrong, where ([`Error::place`]), and what to do about it ([`Error::advice`]).
//! [`Error::kind`] is for programs that decide by it. A message that names an option is shown in the words of Rust; a
//! program with other names for options implements [`Words`] and takes [`Error::in_words`].
//!
//! # Below
//!
//! ```text
//! Writer --> pipeline --+
//! load      \           +--> engine: Database <-- sources of rows (litepress-load, litepress-gen)
//! generate   +--> build +
//! plan_load, plan_generate --> PlanReport        check --> CheckResult        profile --> Profile
//! ```
//!
//! [`pipeline`] takes rows in batches, and every wait of it has a time limit. [`engine`] takes records, and has
//! the format's checker and inspector. Faces of litepress, as its program, also use [`choices`], [`parse`] and [`units`]: the names
//! of choices, and values as people write them.
//!
//! # Features
//!
//! `arrow`, on by default, adds [`TableWriter::append`] for record batches.
#![forbid(unsafe_code)]

#[doc(hidden)]
pub mod append;
mod build;
mod check;
pub mod choices;
mod compact;
mod generate;
mod geopackage;
mod index;
mod load;
mod loaded_file;
mod manifest;
mod merge;
#[doc(hidden)]
pub mod named_options;
mod number_notes;
mod observer;
pub mod option_by_name;
#[doc(hidden)]
pub mod own_locks;
pub mod parse;
pub mod pipeline;
mod plan_report;
mod profile;
mod read;
mod report;
mod schema_text;
mod stitch;
mod text_file;
pub mod units;
mod writer;

pub use build::refuse_special_name;
pub use check::{CheckOptions, CheckResult, FolderCheck, check, check_folder};
pub use choices::Choice;
pub use compact::{CompactOptions, CompactReport, compact};
pub use generate::{GenerateOptions, generate, plan_generate, recipe};
pub use index::{IndexOptions, IndexReport, index, reindex};
pub use litepress_check as checker;
pub use litepress_engine as engine;
pub use litepress_engine::{
    AppendOptions, AppendReport, AppendedTable, Conflict, Database, Error, ErrorKind, Finished, MIN_MEMORY_BYTES,
    Options, PageCopy, PageSize, Parts, Phase, Place, Progress, Result, Route, RoutePlan, Schema, Stages, Summary,
    Sync, TableSummary, Target, Verify, sqlite_version,
};
pub use litepress_gen::Shard;
pub use litepress_load::infer::{Caveat, InferredColumn, NumberWords, Numbers};
pub use litepress_load::options::{InvalidUtf8, NanPolicy, Quote, Ragged, RepeatedHeader, StrayQuotes, ValueOptions};
pub use litepress_load::reader::TextFormat;
pub use litepress_load::schema::{FtsContent, TableOptions};
pub use litepress_load::source::OnError;
pub use litepress_merge::RowidFate;
pub use litepress_rows as rows;
pub use litepress_rows::message;
pub use litepress_rows::message::{Flags, Hint, Message, OptionName, OptionValue, RustWords, Words};
pub use load::{FileFormat, LoadOptions, LoadReport, Mismatches, SplitReport, load, notes_of, plan_load};
pub use loaded_file::LoadedFile;
pub use merge::{MergeOptions, MergeReport, RowidPolicy, merge, plan_merge};
pub use observer::{Meter, NullObserver, Observer, Sample, Stage, Unit};
pub use plan_report::{MergedDatabases, PlanReport, PlannedColumn, TableOrigin, TableReport, method_words};
pub use profile::{DatabaseComparison, Profile, ProfileOptions, compare, profile};
#[doc(hidden)]
pub use read::refuse_database;
pub use read::{Comparison, FileScan, FileTable, RowFilter, ScanStep};
pub use report::BuildReport;
pub use schema_text::SchemaText;
pub use serde_json::Value as Json;
pub use stitch::{StitchOptions, StitchReport, stitch};
pub use writer::{FinishedDatabase, Row, RowValues, TableWriter, ToValue, UnsupportedValue, Value, Writer};

/// The code of the guide and of the README runs as documentation tests.
#[cfg(doctest)]
mod guides {
    #[doc = include_str!("../README.md")]
    mod readme {}
    #[doc = include_str!("../../../docs/rust.md")]
    mod rust {}
}
