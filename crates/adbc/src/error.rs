//! Converts errors to ADBC's form: status, message, and the place as details.

use adbc_core::error::{Error, Status};
use litepress::message::{OptionName, OptionValue, Words};
use litepress::{Error as PressError, ErrorKind};
use rusqlite::ErrorCode;
use rusqlite::ffi;
use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result of the driver's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// Returns an error with this status.
pub fn failed(status: Status, message: impl Into<String>) -> Error {
    Error::with_message_and_status(format!("[litepress] {}", message.into().replace('\0', "\u{fffd}")), status)
}

/// Returns the error of a table that does not exist.
pub fn no_such_table(message: impl Into<String>) -> Error {
    with_sqlstate(NO_SUCH_TABLE, failed(Status::NotFound, message))
}

/// Returns the error of a table that exists already.
pub fn table_exists(message: impl Into<String>) -> Error {
    with_sqlstate(TABLE_EXISTS, failed(Status::AlreadyExists, message))
}

/// SQLSTATE of ODBC for a table that does not exist. Clients recognize this failure by the code.
const NO_SUCH_TABLE: [u8; 5] = *b"42S02";

/// SQLSTATE of ODBC for a table that exists already.
const TABLE_EXISTS: [u8; 5] = *b"42S01";

fn with_sqlstate(state: [u8; 5], error: Error) -> Error {
    Error { sqlstate: state.map(|byte| c_char::from_be_bytes([byte])), ..error }
}

/// Returns the error of something that the driver does not have.
pub fn not_implemented(what: &str) -> Error {
    failed(Status::NotImplemented, format!("{what} is not supported"))
}

/// Puts the culprit in front of an error, and an advice behind it.
pub fn explained(error: Error, culprit: &str, advice: &str) -> Error {
    let message = error.message.strip_prefix("[litepress] ").unwrap_or(&error.message);
    Error { message: format!("[litepress] {culprit}: {message}; {advice}"), ..error }
}

/// Returns the error of a connection that another process has opened.
pub fn of_fork() -> Error {
    let message = "the connection belongs to the process that this one was forked from: connect anew";
    failed(Status::InvalidState, message)
}

/// Runs a step. A panic becomes an error: it must not reach a program in C.
pub fn guarded<T>(step: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(step)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        let said = said.unwrap_or("a panic without a message");
        Err(failed(Status::Internal, format!("this is a mistake of litepress: {said}")))
    })
}

/// The words of the driver: options are set by their keys.
pub struct DriverWords;

impl Words for DriverWords {
    fn name(&self, name: OptionName) -> String {
        match name {
            OptionName::Table => "adbc.ingest.target_table".to_owned(),
            OptionName::Append | OptionName::Overwrite | OptionName::ReplaceTables => "adbc.ingest.mode".to_owned(),
            OptionName::ForeignKey => "litepress.foreign_keys".to_owned(),
            OptionName::Index => "litepress.indexes".to_owned(),
            OptionName::Type => "litepress.types".to_owned(),
            _ => format!("litepress.{}", name.name().replace('-', "_")),
        }
    }

    fn option(&self, name: OptionName, value: &OptionValue) -> String {
        let value = match value {
            OptionValue::None if name == OptionName::Append => "adbc.ingest.mode.append".to_owned(),
            OptionValue::None if name == OptionName::Overwrite => "adbc.ingest.mode.replace".to_owned(),
            OptionValue::None if name == OptionName::ReplaceTables => "adbc.ingest.mode.replace".to_owned(),
            OptionValue::None => "true".to_owned(),
            OptionValue::Word(word) if name == OptionName::StoreAs => format!("COLUMN={word}"),
            OptionValue::Word(word) => word.clone().into_owned(),
            OptionValue::Names(names) => names.join(", "),
            OptionValue::Pair(left, right) => format!("{left}={right}"),
            OptionValue::Count(None, number) => number.clone(),
            OptionValue::Count(Some(table), number) => format!("{table}={number}"),
        };
        format!("{}=\"{value}\"", self.name(name))
    }

    fn choice(&self, _name: OptionName, choice: &str) -> String {
        format!("\"{choice}\"")
    }
}

/// Converts an error of litepress.
pub fn of_press(error: &PressError) -> Error {
    let place = error.place();
    let record = place.record.map(|record| record.to_string());
    let texts = [("table", &place.table), ("column", &place.column), ("record", &record), ("value", &place.value)];
    let detail = |(name, text): (&str, &Option<String>)| {
        text.as_ref().map(|text| (format!("litepress.{name}"), text.clone().into_bytes()))
    };
    let details: Vec<(String, Vec<u8>)> = texts.into_iter().filter_map(detail).collect();
    let details = Some(details).filter(|details| !details.is_empty());
    Error { details, ..failed(status_of(error.kind()), error.in_words(&DriverWords)) }
}

fn status_of(kind: ErrorKind) -> Status {
    match kind {
        ErrorKind::Usage | ErrorKind::Generator | ErrorKind::Schema => Status::InvalidArguments,
        ErrorKind::Unsupported => Status::NotImplemented,
        ErrorKind::Constraint => Status::Integrity,
        ErrorKind::Data | ErrorKind::Limit => Status::InvalidData,
        ErrorKind::Exists => Status::AlreadyExists,
        ErrorKind::Target | ErrorKind::NoSpace | ErrorKind::Io | ErrorKind::Corrupt => Status::IO,
        ErrorKind::Interrupted => Status::Cancelled,
        _ => Status::Internal,
    }
}

/// Converts a failure of SQLite.
pub fn of_sqlite(error: &rusqlite::Error) -> Error {
    match error {
        rusqlite::Error::SqliteFailure(code, message) => {
            let text = message.clone().unwrap_or_else(|| code.to_string());
            of_code(code.extended_code, &text)
        }
        rusqlite::Error::SqlInputError { error, msg, sql, .. } => {
            of_code(error.extended_code, &format!("{msg}\nquery: {sql}"))
        }
        other => failed(Status::Internal, other.to_string()),
    }
}

/// Converts a result code and a message of SQLite.
pub fn of_code(code: i32, message: &str) -> Error {
    let status = match ffi::Error::new(code).code {
        ErrorCode::ConstraintViolation => Status::Integrity,
        ErrorCode::OperationInterrupted => Status::Cancelled,
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Status::Timeout,
        ErrorCode::CannotOpen | ErrorCode::SystemIoFailure | ErrorCode::DiskFull | ErrorCode::ReadOnly => Status::IO,
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Status::IO,
        ErrorCode::TypeMismatch | ErrorCode::TooBig => Status::InvalidData,
        ErrorCode::PermissionDenied => Status::Unauthorized,
        ErrorCode::InternalMalfunction | ErrorCode::OutOfMemory => Status::Internal,
        _ if message.contains("no such table") => Status::NotFound,
        _ if message.contains("already exists") => Status::AlreadyExists,
        _ => Status::InvalidArguments,
    };
    let error = Error { vendor_code: code, ..failed(status, message) };
    match status {
        Status::NotFound => with_sqlstate(NO_SUCH_TABLE, error),
        Status::AlreadyExists if message.starts_with("table ") => with_sqlstate(TABLE_EXISTS, error),
        _ => error,
    }
}
