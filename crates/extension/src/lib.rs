//! litepress.so: litepress for any SQLite, as a loadable extension. `docs/sqlite.md` is its documentation.
//!
//! ```text
//! read.rs, read/    litepress_read: rows of files, as a table
//! array.rs, array/  litepress_array: arrays of the program, as a table of several columns
//! print.rs          litepress_print: a new database from a query
//! check.rs          litepress_check: faults of a database, as a table
//! interruption.rs   work in threads, while the host is asked whether to stop
//! options.rs        options as texts            words.rs   options in messages
//! open_files.rs     databases that the process has open, which are left alone
//! sqlite.rs, sqlite/  the SQLite that has loaded the extension, behind safe types
//! ```
//!
//! There are two SQLites here. The host is reached through `sqlite3_api_routines` alone. The one that litepress brings along reads
//! schemas and completes new databases; none of its symbols leaves the library, and none of the host's takes their place.

mod array;
mod check;
mod interruption;
mod open_files;
mod options;
mod print;
mod read;
mod sqlite;
mod words;

use sqlite::{Failure, Host, add_function, add_module};

#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing {
    //! Entries of the fuzz targets.

    /// Takes a text for an argument of a table: nothing may panic.
    pub fn argument(text: &str) {
        let text = crate::options::unquoted(text);
        let _ = crate::options::FileArguments::of([text.as_str(), "a.csv"]);
        let _ = crate::options::PrintOptions::default().set(&text);
        let _ = crate::array::column_of_json(text.as_bytes());
    }
}

/// Adds all functions and tables to a connection.
fn register(host: Host) -> Result<(), Failure> {
    add_module::<read::ReadTable>(host)?;
    add_module::<array::ArrayTable>(host)?;
    add_module::<check::CheckTable>(host)?;
    add_function(host, c"litepress_print", print::print)?;
    add_function(host, c"litepress_version", |_, _, output| {
        output.set(env!("CARGO_PKG_VERSION").into());
        Ok(())
    })
}
