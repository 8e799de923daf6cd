//! The ADBC driver of litepress: ingests by the press, SQL by SQLite.
//!
//! ```text
//! driver.rs      the driver and its databases: the option `uri`      location.rs  the place that a uri names
//! connection.rs  transactions, metadata                              settings.rs  options
//! statement.rs   queries and ingests                                 error.rs     errors and statuses
//!
//! session.rs     the transaction: drafts, rows that wait, SQLite     activity.rs  other connections of this process
//! press.rs       rows through litepress                              ingest.rs    printed rows into a database that SQLite changes
//! definitions.rs the schema of a draft                               connection_state.rs  state that outlives a connection
//!
//! sqlite.rs      a connection that statements share                  cursor.rs    a statement that is read bit by bit
//! query.rs       results as streams                                  columns.rs   values of SQLite as Arrow columns
//! parameters.rs  Arrow values for parameters                         cancel.rs    the end of a step, from another thread
//! objects.rs, info.rs  metadata as Arrow
//! ```
//!
//! `docs/adbc.md` says how it is used. **Its own `unsafe` is in `cursor.rs`**; `adbc_ffi` makes the entry points.

mod activity;
mod cancel;
mod columns;
mod connection;
mod connection_state;
mod cursor;
mod definitions;
mod driver;
mod error;
mod info;
mod ingest;
mod location;
mod objects;
mod parameters;
mod press;
mod query;
mod session;
mod settings;
mod sqlite;
mod statement;

pub use connection::LitepressConnection;
pub use driver::{LitepressDatabase, LitepressDriver};
pub use statement::LitepressStatement;

/// Entry points: `AdbcDriverLitepressInit` and `AdbcDriverInit`.
mod entry {
    use crate::driver::LitepressDriver;
    adbc_ffi::export_driver!(AdbcDriverLitepressInit, LitepressDriver);
}
