//! Recipes: TOML with the schema, the seed, the numbers of rows and a generator for each column.
//!
//! ```toml
//! algorithm_version = 1              # of the generators: another version gives other values
//! seed = 42                          # of all tables without a seed of their own
//! scale = 10                         # factor for numbers of rows
//! schema = '''
//! CREATE TABLE user (id INTEGER PRIMARY KEY, area TEXT);
//! '''
//!
//! [tables.user]
//! rows = 1_000_000
//! seed = 7
//! fixed = true                       # not scaled
//!
//! [tables.user.columns]
//! area = "digits(6)"                 # overrides the annotation in the schema
//! ```
//!
//! Everything is optional but `algorithm_version` and `schema`: without an entry, the annotations of the schema
//! count, and columns are inferred.
//!
//! The schema and the annotations are parsed as texts of their own. The TOML parser reports their spans in the file,
//! so `Recipe::locate` can translate the place of an error to its line and character in the file.

mod place;
mod write;

pub use write::{to_toml, toml_key, toml_string};

use crate::annotation::SourceText;
use crate::number::{COUNT_UNITS, whole_number};
use crate::random::ALGORITHM_VERSION;
use crate::suggest::did_you_mean;
use litepress_rows::schema::{Generated, Schema, Table};
use litepress_rows::{Error, Result};
use serde::{Deserialize, Deserializer, de};
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;

/// A parsed recipe. Its settings rank below those of the request and above those of the schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    text: String,
    origin: String,
    schema: Spanned<String>,
    /// Seed of all tables without one of their own.
    pub(crate) seed: Option<u64>,
    /// Factor for the numbers of rows.
    pub(crate) scale: Option<f64>,
    tables: Vec<RecipeTable>,
}

/// The entry of a table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RecipeTable {
    name: Spanned<String>,
    /// Number of rows, if set.
    pub rows: Option<u64>,
    /// Seed, if set.
    pub seed: Option<u64>,
    /// Whether the scale leaves the number of rows alone.
    pub fixed: bool,
    columns: Vec<(Spanned<String>, RecipeColumn)>,
}

/// An annotation in a recipe.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RecipeColumn {
    /// The annotation, without TOML quotes.
    pub expression: String,
    /// Name of the text in errors, until `Recipe::locate` replaces it.
    pub origin: String,
    span: Range<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    algorithm_version: Spanned<u32>,
    seed: Option<TomlInteger>,
    scale: Option<Spanned<f64>>,
    schema: Spanned<String>,
    #[serde(default)]
    tables: BTreeMap<Spanned<String>, DocumentTable>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct DocumentTable {
    rows: Option<TomlInteger>,
    seed: Option<TomlInteger>,
    fixed: bool,
    columns: BTreeMap<Spanned<String>, Spanned<String>>,
}

/// A whole number: a TOML integer, or a string for numbers that TOML does not have, `"10m"` and above 2^63.
#[derive(Clone, Copy)]
struct TomlInteger(u64);

impl<'de> Deserialize<'de> for TomlInteger {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = TomlInteger;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a whole number: 1_000, or \"10m\"")
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<TomlInteger, E> {
                let whole = u64::try_from(value).map(TomlInteger);
                whole.map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<TomlInteger, E> {
                Ok(TomlInteger(value))
            }

            fn visit_str<E: de::Error>(self, value: &str) -> Result<TomlInteger, E> {
                let whole = whole_number(value, &COUNT_UNITS).map(TomlInteger);
                whole.ok_or_else(|| E::invalid_value(de::Unexpected::Str(value), &self))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl Recipe {
    /// Parses a recipe; `origin` is its name in errors. Names of tables and columns are not checked yet.
    ///
    /// # Errors
    /// [`ErrorKind::Generator`](litepress_rows::ErrorKind::Generator) with line and character, if the text is not
    /// TOML, has an unknown key, or is of another [`ALGORITHM_VERSION`].
    pub fn parse(text: &str, origin: &str) -> Result<Self> {
        let source = SourceText::new(text, origin);
        let document: Document = toml::from_str(text).map_err(|error| {
            let message = error.message().replace('\n', ", ");
            let at = error.span().map_or(0, |span| span.start);
            source.error(at, message).advise("a recipe is TOML: 'litepress generate --write-recipe FILE' writes one")
        })?;
        let version = document.algorithm_version;
        if *version.get_ref() != ALGORITHM_VERSION {
            let message = format!(
                "the recipe has algorithm version {}, and this program makes the values of version {ALGORITHM_VERSION}",
                version.get_ref()
            );
            return Err(source.error(version.span().start, message).advise(
                "use the version of litepress that wrote it, or set this number to get other values of the same kind",
            ));
        }
        if let Some(scale) = &document.scale {
            check_scale(*scale.get_ref()).map_err(|message| source.error(scale.span().start, message))?;
        }
        let table = |(name, table): (Spanned<String>, DocumentTable)| RecipeTable {
            rows: table.rows.map(|TomlInteger(rows)| rows),
            seed: table.seed.map(|TomlInteger(seed)| seed),
            fixed: table.fixed,
            columns: columns(origin, name.get_ref(), table.columns),
            name,
        };
        Ok(Self {
            seed: document.seed.map(|TomlInteger(seed)| seed),
            scale: document.scale.map(Spanned::into_inner),
            schema: document.schema,
            tables: document.tables.into_iter().map(table).collect(),
            text: text.to_owned(),
            origin: origin.to_owned(),
        })
    }

    /// Parses the schema and checks the names of tables and columns against it.
    ///
    /// # Errors
    /// The errors of [`Schema::from_sql`], and of unknown tables and columns, at their place in the file.
    pub fn schema(&self) -> Result<Schema> {
        let schema = Schema::from_sql(self.schema_text(), &self.origin).map_err(|error| self.locate(error))?;
        self.check(&schema)?;
        Ok(schema)
    }

    /// Returns the text of the schema.
    pub fn schema_text(&self) -> &str {
        self.schema.get_ref()
    }

    /// Returns the name of the file in errors.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Checks that all tables and columns exist and are named once.
    fn check(&self, schema: &Schema) -> Result<()> {
        for (position, table) in self.tables.iter().enumerate() {
            let name = table.name.get_ref();
            let Some(of_table) = schema.table(name) else {
                let near = did_you_mean(name, schema.tables.iter().map(|table| table.name.as_str()));
                return Err(self.error(&table.name, format!("the schema has no table '{name}'{near}")));
            };
            if self.tables[..position].iter().any(|other| other.is(name)) {
                return Err(self.error(&table.name, format!("table {name} is there twice, in different case")));
            }
            for (position, (name, _)) in table.columns.iter().enumerate() {
                check_column(of_table, name.get_ref()).map_err(|message| self.error(name, message))?;
                let mut before = table.columns[..position].iter();
                if before.any(|(other, _)| other.get_ref().eq_ignore_ascii_case(name.get_ref())) {
                    let message = format!("column {} is there twice, in different case", name.get_ref());
                    return Err(self.error(name, message));
                }
            }
        }
        Ok(())
    }

    fn error(&self, name: &Spanned<String>, message: String) -> Error {
        SourceText::new(&self.text, &self.origin).error(name.span().start, message)
    }

    /// Returns the entry of this table.
    pub(crate) fn table(&self, name: &str) -> Option<&RecipeTable> {
        self.tables.iter().find(|table| table.is(name))
    }

    /// Returns the file's annotations: table, column, annotation.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (&str, &str, &RecipeColumn)> {
        self.tables.iter().flat_map(|table| {
            let columns = table.columns.iter();
            columns.map(|(name, column)| (table.name.get_ref().as_str(), name.get_ref().as_str(), column))
        })
    }

    /// Translates the place of an error about the schema or an annotation of this file to its place in the file.
    #[must_use]
    pub(crate) fn locate(&self, error: Error) -> Error {
        let Some(file) = error.place().file.as_deref().and_then(|file| file.to_str()) else { return error };
        let (Some(line), Some(character)) = (error.place().line, error.place().character) else {
            return error;
        };
        let (text, span) = if file == self.origin {
            (self.schema_text(), self.schema.span())
        } else {
            match self.columns().find(|(_, _, column)| column.origin == file) {
                Some((_, _, column)) => (column.expression.as_str(), column.span.clone()),
                None => return error,
            }
        };
        let (line, character) = place::in_file(&self.text, span, text, (line, character));
        error.in_file(&self.origin).at(line, character)
    }
}

impl RecipeTable {
    fn is(&self, name: &str) -> bool {
        self.name.get_ref().eq_ignore_ascii_case(name)
    }
}

fn columns(
    origin: &str,
    table: &str,
    columns: BTreeMap<Spanned<String>, Spanned<String>>,
) -> Vec<(Spanned<String>, RecipeColumn)> {
    let column = |(name, expression): (Spanned<String>, Spanned<String>)| {
        let origin = format!("{origin}: {table}.{}", name.get_ref());
        let span = expression.span();
        (name, RecipeColumn { expression: expression.into_inner(), origin, span })
    };
    columns.into_iter().map(column).collect()
}

fn check_column(table: &Table, name: &str) -> Result<(), String> {
    match table.column(name).map(|column| &table.columns[column]) {
        None => {
            let near = did_you_mean(name, table.columns.iter().map(|column| column.name.as_str()));
            Err(format!("table {} has no column '{name}'{near}", table.name))
        }
        Some(column) if column.generated != Generated::No => {
            Err(format!("column {name} is generated: SQLite computes its values"))
        }
        Some(_) => Ok(()),
    }
}

/// Checks a factor for numbers of rows.
///
/// # Errors
/// A message with the valid range.
pub fn check_scale(scale: f64) -> Result<(), String> {
    const MOST: f64 = 1e12;
    if scale > 0.0 && scale <= MOST { Ok(()) } else { Err("a scale is a number above 0: 0.1, 100".to_owned()) }
}

#[cfg(test)]
mod tests;
