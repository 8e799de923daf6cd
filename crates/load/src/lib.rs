//! Loads rows from files into tables.
//!
//! ```text
//! Input (path, standard input; decompressed, decoded)  --->  Reader: columns, pieces of records in order
//!   csv, json: text is cut into pieces (framing.rs)                |
//!   arrow, parquet: row groups, batches                        |--- scan --->  FileStats ---> types, DDL (infer)
//!   spreadsheet: cells of a sheet                              |
//!   sqlite: tables of another database                         |
//!                                                               `-- LoadSource ---> RecordChunk (source)
//! ```
//!
//! Every file format is a [`Reader`](reader::Reader); the code behind it does not know the format. Column types are inferred
//! from all values ([`infer`]). The resulting schema is SQL text that SQLite reads, and rows go through the encoder that
//! generated rows use, too.
#![forbid(unsafe_code)]

pub mod arrow;
mod byte_lanes;
pub mod changes;
pub mod csv;
mod database_copy;
pub mod estimate;
pub mod filter;
pub mod framing;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod guard;
pub mod infer;
pub mod input;
pub mod json;
pub mod options;
pub mod plan;
pub mod reader;
pub mod rejects;
pub mod schema;
pub mod source;
pub mod spreadsheet;
pub mod sqlite;
