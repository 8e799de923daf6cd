//! A crash laboratory for programs that use SQLite.
//!
//! ```text
//! the program --> SQLite --> shim VFS --> unix VFS        every file of one folder
//!                               |
//!                 recording of all writes, syncs, deletions --> crash states --> SQLite opens each: is it sound?
//!                 faults at chosen calls
//! ```
//!
//! `preload` does the same to a program as it is shipped: its system calls, allocations and threads fail.
//!
//! The shim is the default VFS of the process. It passes everything on, and looks only at files in the folder of a
//! [`Laboratory`], so that tests of one process do not disturb one another. The program under test needs no change: also a write
//! through a file handle that SQLite gave away passes the shim.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! use litepress_crashlab::{Judgement, Laboratory, content};
//!
//! let path = folder.path().join("app.db");
//! let database = rusqlite::Connection::open(&path)?;
//! database.execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1)")?;
//! drop(database);
//! let before = content::content(&path)?;
//!
//! let laboratory = Laboratory::new(folder.path())?;
//! laboratory.record()?;
//! let database = rusqlite::Connection::open(&path)?;
//! database.execute_batch("PRAGMA synchronous = EXTRA; INSERT INTO t VALUES (2)")?;
//! laboratory.mark_end();
//! drop(database);
//! let recording = laboratory.recording();
//! let after = content::content(&path)?;
//!
//! let judgement = Judgement::of(&recording, "app.db", (before, after), 20)?;
//! assert!(judgement.states > 50 && judgement.bad.is_empty(), "{judgement:?}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod content;
mod crash_states;
mod disk;
mod faults;
mod judgement;
pub mod kill;
mod laboratory;
#[cfg(target_os = "linux")]
pub mod preload;
mod recording;
mod shim;
#[cfg(test)]
mod tests;

pub use crash_states::{CrashState, CrashStates};
pub use faults::{CallKind, Fault};
pub use judgement::{Judgement, fast_folder};
pub use laboratory::Laboratory;
pub use recording::{Event, Recording};
