//! The functions that SQLite calls when it loads the library.

use super::api::{Api, Connection, ERROR, OK_LOAD_PERMANENTLY};
use super::host::{Failure, Host, caught, sqlite_text};
use std::ffi::{c_char, c_int};

/// The first release with all functions that are used.
const LEAST_RELEASE: c_int = 3_040_000;

/// Adds the extension to a connection. This is the name that SQLite looks for first.
///
/// # Safety
/// SQLite calls it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sqlite3_extension_init(
    connection: *mut Connection,
    error: *mut *mut c_char,
    api: *const Api,
) -> c_int {
    // SAFETY: SQLite gives its functions, which are there as long as it is.
    let Some(api) = (unsafe { api.as_ref() }) else { return ERROR };
    let host = Host { api, connection };
    let done = caught(|| {
        // SAFETY: it has no argument.
        let release = unsafe { (api.libversion_number)() };
        if release < LEAST_RELEASE {
            let (major, minor) = (release / 1_000_000, release / 1000 % 1000);
            return Err(Failure::new(format!("litepress needs SQLite 3.40 or later, and this is {major}.{minor}")));
        }
        crate::register(host)
    });
    match done {
        // Threads and thread-local data may outlive the connection.
        Ok(()) => OK_LOAD_PERMANENTLY,
        Err(failure) => {
            if !error.is_null() {
                // SAFETY: SQLite gives a place for a message of its own memory.
                unsafe { *error = sqlite_text(api, &failure.text()) };
            }
            ERROR
        }
    }
}

/// Does the same under the name that SQLite makes of `litepress.so`.
///
/// # Safety
/// SQLite calls it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sqlite3_litepress_init(
    connection: *mut Connection,
    error: *mut *mut c_char,
    api: *const Api,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { sqlite3_extension_init(connection, error, api) }
}
