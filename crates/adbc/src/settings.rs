//! Options of the driver: those of litepress under `litepress.`, and those of queries.
//!
//! A connection begins with the options of its database, and a statement with those of its connection.

use crate::error::{Result, failed, of_press};
use adbc_core::error::Status;
use adbc_core::options::OptionValue;
use litepress::named_options::NamedOptions;
use std::collections::BTreeMap;

/// Prefix of options that are those of litepress.
const PREFIX: &str = "litepress.";
/// Number of rows of a batch.
pub const BATCH_ROWS: &str = "adbc.sqlite.query.batch_rows";
/// Whether parameters are found by their names: the name of the SQLite driver, and that of driver managers.
const BIND_BY_NAME: [&str; 2] = ["adbc.sqlite.statement.bind_by_name", "adbc.statement.bind_by_name"];

/// Options that concern what statements do.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Options of an ingest.
    pub press: NamedOptions,
    /// Number of rows of a batch, if it was set.
    pub batch_rows: Option<usize>,
    /// Parameters are found by their names.
    pub binds_by_name: bool,
    /// The options as they were set.
    given: BTreeMap<String, String>,
}

/// Returns the text of a value.
pub fn text(key: &str, value: OptionValue) -> Result<String> {
    match value {
        OptionValue::String(text) => Ok(text),
        OptionValue::Int(int) => Ok(int.to_string()),
        OptionValue::Double(double) => Ok(double.to_string()),
        _ => Err(failed(Status::InvalidArguments, format!("option {key}: its value is a text"))),
    }
}

/// Reads `true` or `false`.
pub fn flag(key: &str, value: &str) -> Result<bool> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(failed(Status::InvalidArguments, format!("option {key}: '{value}' is neither true nor false"))),
    }
}

impl Settings {
    /// Sets an option. Returns `false` if there is none of this name.
    pub fn set(&mut self, key: &str, value: &str) -> Result<bool> {
        match key {
            BATCH_ROWS => {
                let rows = value.parse().ok().filter(|rows| (1..i32::MAX as usize).contains(rows));
                let wrong =
                    || failed(Status::InvalidArguments, format!("option {key}: '{value}' is no number of rows"));
                self.batch_rows = Some(rows.ok_or_else(wrong)?);
            }
            _ if BIND_BY_NAME.contains(&key) => {
                self.binds_by_name = flag(key, value)?;
                return Ok(true);
            }
            _ => {
                let Some(name) = key.strip_prefix(PREFIX) else { return Ok(false) };
                self.set_press(key, &name.replace('_', "-"), value)?;
            }
        }
        self.given.insert(key.to_owned(), value.to_owned());
        Ok(true)
    }

    fn set_press(&mut self, key: &str, name: &str, value: &str) -> Result<()> {
        // The mode of the ingest says what becomes of a table that exists.
        let is_known = name != "overwrite"
            && (self.press.set(name, value, key).map_err(|error| of_press(&error))?
                || self.press.set_table(name, value, key).map_err(|error| of_press(&error))?);
        if is_known {
            return Ok(());
        }
        Err(failed(Status::NotImplemented, format!("there is no option {key}: docs/adbc.md lists all of them")))
    }

    /// Returns the text of an option that was set.
    pub fn get(&self, key: &str) -> Option<String> {
        if BIND_BY_NAME.contains(&key) {
            return Some(self.binds_by_name.to_string());
        }
        let default = || (key == BATCH_ROWS).then(|| "1024".to_owned());
        self.given.get(key).cloned().or_else(default)
    }
}

/// Returns the error of an option that is not known.
pub fn unknown(key: &str) -> adbc_core::error::Error {
    failed(Status::NotImplemented, format!("there is no option {key}"))
}

/// Returns the error of an option without a value.
pub fn not_set(key: &str) -> adbc_core::error::Error {
    failed(Status::NotFound, format!("option {key} has no value"))
}

/// Reads the value of an option as a number.
pub fn number<T: std::str::FromStr>(key: &str, text: &str) -> Result<T> {
    text.parse().map_err(|_| failed(Status::NotFound, format!("option {key}: '{text}' is no such number")))
}

/// Implements the options of a type that has `set_text(key, text)` and `get_text(key)`.
macro_rules! optionable {
    ($type:ty, $key:ty) => {
        impl adbc_core::Optionable for $type {
            type Option = $key;

            fn set_option(&mut self, key: $key, value: adbc_core::options::OptionValue) -> Result<()> {
                let text = crate::settings::text(key.as_ref(), value)?;
                self.set_text(key.as_ref(), &text)
            }

            fn get_option_string(&self, key: $key) -> Result<String> {
                self.get_text(key.as_ref())
            }

            fn get_option_bytes(&self, key: $key) -> Result<Vec<u8>> {
                self.get_text(key.as_ref()).map(String::into_bytes)
            }

            fn get_option_int(&self, key: $key) -> Result<i64> {
                crate::settings::number(key.as_ref(), &self.get_text(key.as_ref())?)
            }

            fn get_option_double(&self, key: $key) -> Result<f64> {
                crate::settings::number(key.as_ref(), &self.get_text(key.as_ref())?)
            }
        }
    };
}
pub(crate) use optionable;
