//! The SQLite that has loaded the extension, behind safe types.
//!
//! ```text
//! entry.rs      what SQLite calls first
//! api.rs        declarations: functions by their places, structs of virtual tables
//! host.rs       a connection; memory and messages for SQLite
//! values.rs     values that SQLite gives, and results that it takes
//! function.rs   functions of SQL              table.rs   virtual tables; index.rs: their plans
//! statement.rs  queries of the host
//! ```
//!
//! **All `unsafe` of the extension is here, in `array/pointers.rs`, and in one function of `open_files.rs`.** No panic gets out: each function that SQLite calls makes
//! an error of it.

pub mod api;
mod entry;
mod function;
mod host;
mod index;
mod statement;
mod table;
mod values;

pub use function::add_function;
pub use host::{Failure, Host};
pub use index::{HIDDEN, Index, Operator, Plan};
pub use statement::{Query, StepResult};
pub use table::{Arguments, TableCursor, TableModule, add_module};
pub use values::{HostValue, Kind, Output};
