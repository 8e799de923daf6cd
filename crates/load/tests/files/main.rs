//! Reads files of every binary kind, and batches in memory.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod arrow_batches;
mod arrow_ipc;
mod flatgeobuf;
mod parquet;
mod rows;
mod sqlite_tables;
