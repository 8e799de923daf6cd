//! Options of databases and of new tables by their names, for faces that take names and texts: the ADBC driver.

use crate::{AppendOptions, Error, ErrorKind, Options, Result, TableOptions, option_by_name};

/// Options that were set by their names, which are those of the program.
#[derive(Clone, Debug, Default)]
pub struct NamedOptions {
    /// Options of any database.
    pub build: Options,
    /// Options of a database that exists.
    pub append: AppendOptions,
    /// Options of new tables.
    pub tables: TableOptions,
    /// Typed columns, and the forms in which they are stored.
    pub store_as: Vec<(String, String)>,
}

fn wrong(name: &str, value: &str, why: String) -> Error {
    Error::new(ErrorKind::Usage, format!("option \"{name}\": {why}")).with_value(value)
}

fn flag(value: &str) -> Result<bool, String> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err("this is neither true nor false".to_owned()),
    }
}

/// Reads names with commas between them. An empty text has none.
fn names(value: &str) -> Vec<String> {
    value.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Reads lists of names with semicolons between them.
fn lists(value: &str) -> Vec<Vec<String>> {
    value.split(';').map(names).filter(|list| !list.is_empty()).collect()
}

/// Reads pairs with semicolons between them.
fn pairs(value: &str) -> Result<Vec<(String, String)>, String> {
    let pair = |text: &str| {
        let (left, right) = text.split_once('=')?;
        Some((left.trim().to_owned(), right.trim().to_owned()))
    };
    let texts = value.split(';').map(str::trim).filter(|text| !text.is_empty());
    texts.map(pair).collect::<Option<_>>().ok_or_else(|| "pairs are written NAME=VALUE; NAME=VALUE".to_owned())
}

impl NamedOptions {
    /// Sets an option of databases. Errors call it `shown`. Returns `false` if there is none of this name.
    ///
    /// # Errors
    /// A value that the option does not take.
    pub fn set(&mut self, name: &str, value: &str, shown: &str) -> Result<bool> {
        if name == "add-columns" {
            self.append.add_columns = flag(value).map_err(|why| wrong(shown, value, why))?;
            return Ok(true);
        }
        option_by_name::set(&mut self.build, &mut self.append, name, value).map_err(|error| {
            let why = error.message().strip_prefix(&format!("option \"{name}\": ")).unwrap_or(error.message());
            wrong(shown, value, why.to_owned())
        })
    }

    /// Sets an option of new tables, as [`set`](Self::set) does those of databases. Lists have semicolons between them: `area; age, active`. Returns `false` if there is no
    /// option of this name.
    ///
    /// # Errors
    /// A value that the option does not take.
    pub fn set_table(&mut self, name: &str, value: &str, shown: &str) -> Result<bool> {
        let Self { tables, store_as, .. } = self;
        let mut set = || {
            match name {
                "primary-key" => {
                    tables.primary_key = Some(names(value)).filter(|key| !key.is_empty()).into_iter().collect()
                }
                "without-rowid" => tables.without_rowid = flag(value)?,
                "strict" => tables.strict = flag(value)?,
                "store-as" => *store_as = pairs(value)?,
                "types" => tables.types = pairs(value)?,
                "not-null" => tables.not_null = names(value),
                "indexes" => tables.indexes = lists(value),
                "unique" => tables.unique = lists(value),
                "foreign-keys" => tables.foreign_keys = pairs(value)?,
                _ => return Ok(false),
            }
            Ok(true)
        };
        set().map_err(|why| wrong(shown, value, why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Conflict;

    #[test]
    fn names_and_lists_are_read() {
        let mut options = NamedOptions::default();
        for (name, value) in [("on-conflict", "ignore"), ("key", "a, b"), ("busy-timeout", "0.5"), ("memory", "64MiB")]
        {
            assert!(options.set(name, value, name).expect(name), "{name}");
        }
        let tables = [("primary-key", "id"), ("indexes", "area; age, active"), ("types", "a=TEXT; b=REAL")];
        for (name, value) in tables {
            assert!(options.set_table(name, value, name).expect(name), "{name}");
        }
        assert_eq!((options.build.on_conflict, options.build.key.len()), (Conflict::Ignore, 2));
        assert_eq!(options.tables.indexes, [vec!["area".to_owned()], vec!["age".to_owned(), "active".to_owned()]]);
        assert_eq!(options.tables.types[1], ("b".to_owned(), "REAL".to_owned()));
        assert!(!options.set("primary-key", "id", "").expect("no option of databases"));
        assert!(!options.set_table("memory", "1GiB", "").expect("no option of tables"));
        let error = options.set("analyze", "yes", "analyze").expect_err("no flag").to_string();
        assert!(error.contains("\"analyze\"") && error.contains("neither true nor false"), "{error}");
    }
}
