//! Faults: calls of the file system that fail.

use rusqlite::ffi;
use std::ffi::c_int;

/// A kind of call of the VFS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CallKind {
    /// A file is opened.
    Open,
    /// Bytes are read.
    Read,
    /// Bytes are written.
    Write,
    /// A file is cut off.
    Truncate,
    /// A file is synced.
    Sync,
    /// The length of a file is read.
    Size,
    /// A file is deleted.
    Delete,
    /// A lock of the database is taken.
    Lock,
    /// A lock of the wal-index is taken.
    ShmLock,
    /// A region of the wal-index is mapped.
    ShmMap,
}

/// A call that fails.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// The kind of the call; `None` for a call of any kind.
    pub kind: Option<CallKind>,
    /// Number of the call among those of the kind, counted from 0.
    pub call: u64,
    /// Whether every later call of the kind fails too.
    pub lasts: bool,
    /// Whether a write that fails has written half of its bytes.
    pub is_partial: bool,
    /// The result code of SQLite; `None` for the usual one of the kind.
    pub code: Option<c_int>,
}

impl CallKind {
    /// Returns the result code of a failed call of this kind.
    #[must_use]
    pub fn usual_code(self) -> c_int {
        match self {
            Self::Open => ffi::SQLITE_CANTOPEN,
            Self::Read => ffi::SQLITE_IOERR_READ,
            Self::Write => ffi::SQLITE_IOERR_WRITE,
            Self::Truncate => ffi::SQLITE_IOERR_TRUNCATE,
            Self::Sync => ffi::SQLITE_IOERR_FSYNC,
            Self::Size => ffi::SQLITE_IOERR_FSTAT,
            Self::Delete => ffi::SQLITE_IOERR_DELETE,
            Self::Lock | Self::ShmLock => ffi::SQLITE_BUSY,
            Self::ShmMap => ffi::SQLITE_IOERR_SHMMAP,
        }
    }
}

impl Fault {
    /// A fault of the `call`-th call of a kind, with its usual result code.
    #[must_use]
    pub fn of(kind: CallKind, call: u64) -> Self {
        Self { kind: Some(kind), call, lasts: false, is_partial: false, code: None }
    }

    /// Returns the result code if the call of this kind and number fails.
    pub(crate) fn code_of(&self, kind: CallKind, number_of_kind: u64, number: u64) -> Option<c_int> {
        let number = match self.kind {
            Some(of) if of != kind => return None,
            Some(_) => number_of_kind,
            None => number,
        };
        let fails = number == self.call || self.lasts && number > self.call;
        fails.then(|| self.code.unwrap_or(kind.usual_code()))
    }
}
