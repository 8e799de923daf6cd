//! A connection of the host, and failures in its terms.

use super::api::{Api, Connection, ERROR, INTERRUPT};
use crate::words::OptionTexts;
use litepress::{Error, ErrorKind};
use std::any::Any;
use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The first release that can be asked whether a query was interrupted.
const HAS_IS_INTERRUPTED: c_int = 3_041_000;

/// A connection of the SQLite that has loaded the extension. It is open as long as SQLite's call into the extension runs.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    pub(super) api: &'static Api,
    pub(super) connection: *mut Connection,
}

// SAFETY: SQLite calls the methods of a table from any thread that uses its connection, one at a time.
unsafe impl Send for Host {}
// SAFETY: as above. Threads of the extension itself have no host.
unsafe impl Sync for Host {}

/// The failure of a call: a message, and SQLite's code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The code: `SQLITE_ERROR` and the like.
    pub code: c_int,
    /// The message.
    pub message: String,
}

impl Failure {
    /// Returns a failure with the code `SQLITE_ERROR`.
    pub fn new(message: impl Into<String>) -> Self {
        Self { code: ERROR, message: message.into() }
    }

    fn of_panic(panic: &(dyn Any + Send)) -> Self {
        let said = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Self::new(format!("this is a mistake of litepress: {}", said.unwrap_or("a panic without a message")))
    }

    /// Returns the message for SQLite, which ends it with a NUL.
    pub(super) fn text(&self) -> CString {
        CString::new(self.message.replace('\0', "\u{fffd}")).unwrap_or_default()
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        if error.kind() == ErrorKind::Interrupted {
            return Self { code: INTERRUPT, message: "interrupted".to_owned() };
        }
        let (mut message, advice) = (error.headline_in(&OptionTexts), error.advice_in(&OptionTexts));
        if let Some(advice) = advice {
            message = format!("{message}. {}", capitalized(&advice));
        }
        Self::new(message)
    }
}

fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + characters.as_str())
}

/// Runs the body of a function that SQLite calls. Makes a failure of a panic.
pub(super) fn caught<T>(body: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| Err(Failure::of_panic(&*panic)))
}

impl Host {
    /// Returns the message of the last error.
    pub(super) fn failure(&self) -> Failure {
        // SAFETY: the connection is open.
        let code = unsafe { (self.api.extended_errcode)(self.connection) };
        // SAFETY: as above.
        let message = unsafe { (self.api.errmsg)(self.connection) };
        // SAFETY: SQLite returns a text that ends with a NUL and stays until its next call.
        let message = unsafe { CStr::from_ptr(message) };
        Failure { code: if code == 0 { ERROR } else { code }, message: message.to_string_lossy().into_owned() }
    }

    /// Returns whether the query that runs was interrupted. Releases before 3.41 cannot tell: they look between rows.
    pub fn is_interrupted(&self) -> bool {
        // SAFETY: it has no argument.
        if unsafe { (self.api.libversion_number)() } < HAS_IS_INTERRUPTED {
            return false;
        }
        // SAFETY: the connection is open, and this release has the function.
        unsafe { (self.api.is_interrupted)(self.connection) != 0 }
    }

    /// Declares the columns of a virtual table.
    pub(super) fn declare(&self, definition: &str) -> Result<(), Failure> {
        let definition = CString::new(definition).map_err(|_| Failure::new("a name of a column holds a NUL"))?;
        // SAFETY: this is called while SQLite connects the table.
        match unsafe { (self.api.declare_vtab)(self.connection, definition.as_ptr()) } {
            0 => Ok(()),
            _ => Err(self.failure()),
        }
    }
}

/// Copies a text into memory of SQLite. NULL if there is none left.
pub(super) fn sqlite_text(api: &Api, text: &CStr) -> *mut c_char {
    let bytes = text.to_bytes_with_nul();
    // SAFETY: any size may be asked for.
    let copy = unsafe { (api.malloc64)(bytes.len() as u64) }.cast::<u8>();
    if !copy.is_null() {
        // SAFETY: SQLite gave this number of bytes, and they are apart.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), copy, bytes.len()) };
    }
    copy.cast()
}
