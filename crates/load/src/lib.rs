//! Rows from files.
//!
//! ```text
//! Input (path, standard input; decompressed, decoded)  --->  Reader: columns, pieces of records in order
//!   csv, json: text is cut into pieces (cut.rs)                |
//!   arrow, parquet: row groups, batches                        |--- survey --->  Findings ---> types, DDL (infer)
//!   sqlite: tables of another database                         |
//!                                                               `-- LoadSource ---> RecordChunk (source)
//! ```
//!
//! Every kind of file is a [`Reader`](reader::Reader); nothing behind it knows which kind. What its values are is decided from
//! all of them ([`infer`]); then the schema is text that SQLite reads, and rows go through the encoder that all rows go through.
#![forbid(unsafe_code)]

pub mod arrow;
mod block;
mod copy;
pub mod csv;
pub mod cut;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
pub mod infer;
pub mod input;
pub mod json;
pub mod options;
pub mod outlook;
pub mod plan;
pub mod reader;
pub mod rejects;
pub mod schema;
pub mod source;
pub mod sqlite;
