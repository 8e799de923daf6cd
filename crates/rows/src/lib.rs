//! The interface between sources of rows and the trees that store them.
//!
//! ```text
//! Schema (read from SQLite)          what the tables are
//! Source -> Part -> RecordChunk      rows, cut into numbered parts
//!           ^
//!           CellBlock --Encoder-->   a block of rows column by column becomes SQLite records:
//!                                    affinity, NOT NULL, STRICT types, INTEGER PRIMARY KEY
//! ```
//!
//! [`RecordChunk`] is the only exchange format between sources and trees: rowids, encoded records and their ends. A source
//! never sees a page; a tree never sees a file type.
#![forbid(unsafe_code)]

pub mod affinity;
pub mod calendar;
pub mod cells;
pub mod chunk;
mod conflict;
pub mod encode;
pub mod error;
pub mod files;
pub mod message;
mod recode;
pub mod schema;
mod shard;
pub mod source;
pub mod sql_tokens;
pub mod sqlite;
pub mod sqlite_value;
pub mod sync;

pub use affinity::Affinity;
pub use cells::{CellBlock, Cells, Choice, Strings};
pub use chunk::RecordChunk;
pub use conflict::{Conflict, NullPolicy};
pub use encode::Encoder;
pub use error::{Error, ErrorKind, Place, Result, counted, escaped, escaped_lines, grouped, quote, quoted_name};
pub use message::{Hint, Message, OptionName, OptionValue, Words};
pub use recode::recode_texts;
pub use schema::{Column, ForeignKey, Schema, Table};
pub use shard::Shard;
pub use source::{KeyReader, Keys, MappedSource, Part, RandomAccessRows, RowReader, RowidOrder, Source};
