//! Row generators: a schema with annotations in its comments becomes rows, each of which can be computed alone.
//!
//! ```text
//! schema text --schema_annotations--> annotations --annotation--> expressions --recipe/resolve--> column expressions
//!                                     columns without one --infer--^              (generators/catalogue)  |
//! schema, request --plan--> GenPlan: rows, seed and a checked program for each table <----plan/compile----'
//! GenPlan --source--> parts, blocks (program, expression), records
//! ```
//!
//! Every cell is a pure function of (seed, table, column, row number). `random` defines the random numbers, and
//! [`ALGORITHM_VERSION`] names the version of everything that decides a value.
//!
//! ```
//! use litepress_format::page::PageSize;
//! use litepress_gen::{GenPlan, GenSource, Request};
//! use litepress_rows::{Schema, Source};
//!
//! let sql = "-- gen: rows=1_000
//! CREATE TABLE fruit (
//!   id   INTEGER PRIMARY KEY,
//!   name TEXT NOT NULL        -- gen: choice('apple': 3, 'pear': 1)
//! );";
//! let schema = Schema::from_sql(sql, "fruit.sql")?;
//! let plan = GenPlan::new(&schema, &Request::default())?;
//! let source = GenSource::new(&plan, &schema, 0, PageSize::DEFAULT)?;
//! assert_eq!(source.rows(), Some(1000));
//! # Ok::<(), litepress_rows::Error>(())
//! ```
#![forbid(unsafe_code)]

pub mod infer;
pub mod presets;
pub mod recipe;

mod annotation;
mod decimal;
mod expression;
mod generators;
mod number;
mod plan;
mod program;
mod random;
mod relation;
mod schema_annotations;
mod source;
mod suggest;
mod tables;
mod time_text;

pub use expression::functions;
pub use generators::{Country, catalogue, countries};
pub use litepress_rows::Shard;
pub use litepress_tpch::TpchTable;
pub use number::{COUNT_UNITS, whole_number};
pub use plan::{ColumnPlan, GenPlan, Provenance, Request, SetColumn, TablePlan};
pub use presets::preset;
pub use random::ALGORITHM_VERSION;
pub use recipe::Recipe;
pub use schema_annotations::{AnnotatedColumn, annotated_columns};
pub use source::GenSource;
pub use tables::{generated_tables, is_generated};
