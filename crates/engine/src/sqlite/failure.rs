//! Turns failures of SQLite into errors.

use crate::progress::Progress;
use crate::{Error, ErrorKind};
pub(crate) use litepress_rows::sqlite::message;
use litepress_rows::{OptionName, message};
use rusqlite::ErrorCode;

/// A converter of SQLite's failures.
#[derive(Clone, Copy)]
pub(crate) struct Failures<'p> {
    progress: &'p Progress,
    in_memory: bool,
}

impl<'p> Failures<'p> {
    pub fn of(progress: &'p Progress) -> Self {
        Self { progress, in_memory: false }
    }

    /// Sets whether the database is in memory.
    pub fn in_memory(self, in_memory: bool) -> Self {
        Self { in_memory, ..self }
    }

    /// Returns SQLite's message with the kind of error that its code implies, or with `kind` if the code implies none.
    pub fn explain(&self, error: &rusqlite::Error, kind: ErrorKind) -> Error {
        let code = error.sqlite_error_code();
        if let (Some(ErrorCode::OperationInterrupted), Err(stopped)) = (code, self.progress.go_on()) {
            return stopped;
        }
        let kind = code.and_then(kind_of).unwrap_or(kind);
        let explained = Error::new(kind, format!("SQLite says: {}", message(error)));
        match code {
            Some(ErrorCode::DiskFull) if self.in_memory => {
                explained.advise("SQLite lets a database in memory grow to 1 GiB only: write a file")
            }
            Some(ErrorCode::DiskFull) => explained.advise(message![
                "free some room, write to another disk, or name another folder for temporary files with ",
                OptionName::TempDir.alone()
            ]),
            _ if message(error).starts_with("no such function: ST_") => explained.advise(message![
                "triggers of a GeoPackage need functions of GIS programs: add the rows with such a program, or load them into a new \
                 GeoPackage without ",
                OptionName::Append.alone()
            ]),
            _ => explained,
        }
    }
}

/// Returns the kind of error that a code implies, if any.
fn kind_of(code: ErrorCode) -> Option<ErrorKind> {
    Some(match code {
        ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch => ErrorKind::Constraint,
        ErrorCode::DiskFull => ErrorKind::NoSpace,
        ErrorCode::SystemIoFailure | ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::OutOfMemory => {
            ErrorKind::Io
        }
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => ErrorKind::Corrupt,
        ErrorCode::TooBig => ErrorKind::Limit,
        _ => return None,
    })
}
