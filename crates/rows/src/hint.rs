//! Messages that name options. Every face of litepress calls an option by another name: the program `--on-conflict ignore`,
//! Python `on_conflict="ignore"`, Rust `on_conflict(Conflict::Ignore)`.
//!
//! So a message that names an option is not a text but a sequence of [`Hint`]s, and a face renders it with its [`Words`]. No
//! face reads the text of another.
//!
//! ```
//! use litepress_rows::hint::{Flags, OptionName, RustWords};
//! use litepress_rows::message;
//!
//! let advice = message!["keep the first of such rows with ", OptionName::OnConflict.word("ignore")];
//! assert_eq!(advice.in_words(&Flags), "keep the first of such rows with --on-conflict ignore");
//! assert_eq!(advice.in_words(&RustWords), "keep the first of such rows with on_conflict(Conflict::Ignore)");
//! ```

use std::borrow::Cow;
use std::fmt;

/// An option that a message may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OptionName {
    /// Whether a copy may lack what cannot be copied.
    AllowIncomplete,
    /// Names of the columns of CSV.
    Columns,
    /// Delimiter of CSV.
    Delimiter,
    /// Pages are dropped.
    Discard,
    /// Encoding of text.
    Encoding,
    /// Foreign key of a new table.
    ForeignKey,
    /// Format of the files.
    Format,
    /// Index of a new table.
    Index,
    /// Fate of text that is not UTF-8.
    InvalidUtf8,
    /// Keys that lead to the records of JSON.
    JsonPath,
    /// Column of the table for a column of a file.
    Map,
    /// Largest number of rejected records.
    MaxRejects,
    /// Fate of NaN and Infinity in JSON.
    Nan,
    /// Memory to work in.
    Memory,
    /// Columns of a new table that take no NULL.
    NotNull,
    /// Rule for columns of numbers.
    Numbers,
    /// Fate of rows whose key exists already.
    OnConflict,
    /// Fate of wrong records.
    OnError,
    /// Whether an existing database is replaced.
    Overwrite,
    /// Bytes of a page.
    PageSize,
    /// Built-in schema.
    Preset,
    /// Primary key of a new table.
    PrimaryKey,
    /// File that says how the rows are generated.
    Recipe,
    /// Keeps the recipe in the database.
    RecordRecipe,
    /// File for rejected records.
    Rejects,
    /// Whether files replace tables of the target.
    ReplaceTables,
    /// What becomes of rowids in a merge.
    Rowids,
    /// Number of rows.
    Rows,
    /// Factor for numbers of rows.
    Scale,
    /// Sheets of a workbook.
    Sheet,
    /// Columns of files that are read.
    Select,
    /// Tables that are left out.
    SkipTable,
    /// Column for the name of the file.
    SourceColumn,
    /// Largest number of records of a table.
    Limit,
    /// Schema of the tables.
    Schema,
    /// Generator of a column.
    Set,
    /// Form in which a typed column is stored.
    StoreAs,
    /// Whether new tables are STRICT.
    Strict,
    /// Table of the files.
    Table,
    /// Folder for temporary files.
    TempDir,
    /// Declared type of a column.
    Type,
    /// Currency signs beside numbers.
    Currency,
    /// Format of the dates of a column.
    DateFormat,
    /// Decimal mark of numbers.
    Decimal,
    /// Character in front of a quote within quotes.
    Escape,
    /// Word that means false.
    False,
    /// Whether CSV has a header.
    Header,
    /// CSV has no header.
    NoHeader,
    /// Quote of CSV.
    Quote,
    /// Fate of CSV records with too many or too few fields.
    Ragged,
    /// Number of lines in front of the table.
    Skip,
    /// Records without any value are left out.
    SkipEmpty,
    /// Fate of quotes in the wrong place.
    StrayQuotes,
    /// Mark between the thousands of numbers.
    Thousands,
    /// Spaces around fields do not belong to them.
    Trim,
    /// Word that means true.
    True,
    /// Whether a merge takes objects that some databases lack.
    Union,
    /// Unique columns of a new table.
    Unique,
    /// Check of the finished file.
    Verify,
    /// Whether new tables are WITHOUT ROWID.
    WithoutRowid,
}

/// The value that a message gives to an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// None: the option alone is named.
    None,
    /// One word: a choice, a name, a text.
    Word(Cow<'static, str>),
    /// Names of columns.
    Names(Vec<String>),
    /// A column and what belongs to it. An empty second part stands for nothing.
    Pair(String, String),
    /// A table, or all of them, and a number.
    Count(Option<String>, String),
}

impl OptionName {
    /// Returns the name in lower case, with `-` between words.
    pub fn name(self) -> &'static str {
        match self {
            Self::AllowIncomplete => "allow-incomplete",
            Self::Columns => "columns",
            Self::Delimiter => "delimiter",
            Self::Discard => "discard",
            Self::Encoding => "encoding",
            Self::ForeignKey => "foreign-key",
            Self::Format => "format",
            Self::Index => "index",
            Self::InvalidUtf8 => "invalid-utf8",
            Self::JsonPath => "json-path",
            Self::Map => "map",
            Self::MaxRejects => "max-rejects",
            Self::Nan => "nan",
            Self::Memory => "memory",
            Self::NotNull => "not-null",
            Self::Numbers => "numbers",
            Self::OnConflict => "on-conflict",
            Self::OnError => "on-error",
            Self::Overwrite => "overwrite",
            Self::PageSize => "page-size",
            Self::Preset => "preset",
            Self::PrimaryKey => "primary-key",
            Self::Recipe => "recipe",
            Self::RecordRecipe => "record-recipe",
            Self::Rejects => "rejects",
            Self::ReplaceTables => "replace-tables",
            Self::Rowids => "rowids",
            Self::Rows => "rows",
            Self::Scale => "scale",
            Self::Sheet => "sheet",
            Self::Select => "select",
            Self::SkipTable => "skip-table",
            Self::SourceColumn => "source-column",
            Self::Limit => "limit",
            Self::Schema => "schema",
            Self::Set => "set",
            Self::StoreAs => "store-as",
            Self::Strict => "strict",
            Self::Table => "table",
            Self::TempDir => "temp-dir",
            Self::Type => "type",
            Self::Currency => "currency",
            Self::DateFormat => "date-format",
            Self::Decimal => "decimal",
            Self::Escape => "escape",
            Self::False => "false",
            Self::Header => "header",
            Self::NoHeader => "no-header",
            Self::Quote => "quote",
            Self::Ragged => "ragged",
            Self::Skip => "skip",
            Self::SkipEmpty => "skip-empty",
            Self::StrayQuotes => "stray-quotes",
            Self::Thousands => "thousands",
            Self::Trim => "trim",
            Self::True => "true",
            Self::Union => "union",
            Self::Unique => "unique",
            Self::Verify => "verify",
            Self::WithoutRowid => "without-rowid",
        }
    }

    /// Names the option without a value.
    pub fn alone(self) -> Hint {
        Hint::option(self, OptionValue::None)
    }

    /// Names the option with one word as its value.
    pub fn word(self, word: impl Into<Cow<'static, str>>) -> Hint {
        Hint::option(self, OptionValue::Word(word.into()))
    }

    /// Names another choice for the option, after it was named itself.
    pub fn or(self, choice: impl Into<Cow<'static, str>>) -> Hint {
        Hint::Choice(self, choice.into())
    }

    /// Names the option with columns as its value.
    pub fn names<'n>(self, names: impl IntoIterator<Item = &'n str>) -> Hint {
        Hint::option(self, OptionValue::Names(names.into_iter().map(str::to_owned).collect()))
    }

    /// Names the option with a column and what belongs to it.
    pub fn pair(self, left: impl Into<String>, right: impl Into<String>) -> Hint {
        Hint::option(self, OptionValue::Pair(left.into(), right.into()))
    }

    /// Names the option with a number for a table, or for all of them.
    pub fn count(self, table: Option<&str>, number: &str) -> Hint {
        Hint::option(self, OptionValue::Count(table.map(str::to_owned), number.to_owned()))
    }
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Words that are the same for every face.
    Text(Cow<'static, str>),
    /// An option and its value.
    Option {
        /// The option.
        name: OptionName,
        /// Its value.
        value: OptionValue,
        /// The caller gave it. Otherwise the message advises to give it.
        is_given: bool,
    },
    /// Another choice for an option that the message has named before.
    Choice(OptionName, Cow<'static, str>),
}

impl Hint {
    fn option(name: OptionName, value: OptionValue) -> Self {
        Self::Option { name, value, is_given: false }
    }

    /// Says that the caller gave the option.
    #[must_use]
    pub fn given(mut self) -> Self {
        if let Self::Option { is_given, .. } = &mut self {
            *is_given = true;
        }
        self
    }
}

/// A message as a sequence of hints. [`Display`](fmt::Display) shows it in [Rust's words](RustWords).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message(Vec<Hint>);

impl Message {
    /// Returns the parts.
    pub fn hints(&self) -> &[Hint] {
        &self.0
    }

    /// Appends another message.
    #[must_use]
    pub fn and(mut self, other: impl Into<Self>) -> Self {
        self.0.append(&mut other.into().0);
        self
    }

    /// Renders the message in the words of a face.
    pub fn in_words(&self, words: &dyn Words) -> String {
        let render = |hint: &Hint| match hint {
            Hint::Text(text) => text.clone().into_owned(),
            Hint::Option { name, value, is_given: true } => words.given(*name, value),
            Hint::Option { name, value, is_given: false } => words.option(*name, value),
            Hint::Choice(name, choice) => words.choice(*name, choice),
        };
        self.0.iter().map(render).collect()
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(&RustWords))
    }
}

impl From<Hint> for Message {
    fn from(hint: Hint) -> Self {
        Self(vec![hint])
    }
}

impl From<Cow<'_, str>> for Message {
    fn from(text: Cow<'_, str>) -> Self {
        text.into_owned().into()
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        Hint::Text(text.into()).into()
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&String> for Message {
    fn from(text: &String) -> Self {
        text.clone().into()
    }
}

impl From<&Message> for Message {
    fn from(message: &Message) -> Self {
        message.clone()
    }
}

/// Joins texts, [`Hint`](crate::hint::Hint)s and [`Message`](crate::hint::Message)s to one message.
#[macro_export]
macro_rules! message {
    ($($part:expr),+ $(,)?) => {
        $crate::hint::Message::default()$(.and($part))+
    };
}

/// The names of options in the words of one face.
pub trait Words {
    /// Returns the name of an option.
    fn name(&self, name: OptionName) -> String;

    /// Renders an option to be given, ready to be copied.
    fn option(&self, name: OptionName, value: &OptionValue) -> String;

    /// Renders a choice for an option without the option.
    fn choice(&self, name: OptionName, choice: &str) -> String;

    /// Renders an option that was given.
    fn given(&self, name: OptionName, value: &OptionValue) -> String {
        self.option(name, value)
    }
}

/// The words of Rust: methods of option structs.
#[derive(Clone, Copy, Debug)]
pub struct RustWords;

impl Words for RustWords {
    fn name(&self, name: OptionName) -> String {
        match name {
            OptionName::Memory => "memory_bytes".to_owned(),
            OptionName::Type => "column_type".to_owned(),
            OptionName::True => "true_word".to_owned(),
            OptionName::False => "false_word".to_owned(),
            _ => name.name().replace('-', "_"),
        }
    }

    fn option(&self, name: OptionName, value: &OptionValue) -> String {
        let arguments = match value {
            OptionValue::None
                if matches!(name, 
                    OptionName::AllowIncomplete
                        | OptionName::ReplaceTables
                        | OptionName::Overwrite
                        | OptionName::Union
                ) =>
            {
                "true".to_owned()
            }
            OptionValue::None => return self.name(name),
            OptionValue::Word(word) => self.choice(name, word),
            OptionValue::Names(names) => format!("{names:?}"),
            OptionValue::Pair(table, policy) if name == OptionName::Rowids => {
                return format!("table_rowids({table:?}, {})", self.choice(name, policy));
            }
            OptionValue::Pair(left, right) => format!("{left:?}, {right:?}"),
            OptionValue::Count(None, number) => number.clone(),
            OptionValue::Count(Some(table), number) => format!("{table:?}, {number}"),
        };
        format!("{}({arguments})", self.name(name))
    }

    fn choice(&self, name: OptionName, choice: &str) -> String {
        let choices = match name {
            OptionName::Format => "Format",
            OptionName::InvalidUtf8 => "InvalidUtf8",
            OptionName::Nan => "NanPolicy",
            OptionName::Numbers => "Numbers",
            OptionName::OnConflict => "Conflict",
            OptionName::OnError => "OnError",
            OptionName::Ragged => "Ragged",
            OptionName::Rowids => "RowidPolicy",
            OptionName::StrayQuotes => "StrayQuotes",
            _ => return format!("{choice:?}"),
        };
        format!("{choices}::{}", capitalized(choice))
    }
}

fn capitalized(word: &str) -> String {
    let mut characters = word.chars();
    characters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + characters.as_str())
}

/// The words of the program: flags of the command line.
#[derive(Clone, Copy, Debug)]
pub struct Flags;

impl Flags {
    fn value(value: &OptionValue) -> Option<String> {
        match value {
            OptionValue::None => None,
            OptionValue::Word(word) => Some(word.clone().into_owned()),
            OptionValue::Names(names) => Some(names.join(",")),
            OptionValue::Pair(left, right) => Some(format!("{left}={right}")),
            OptionValue::Count(None, number) => Some(number.clone()),
            OptionValue::Count(Some(table), number) => Some(format!("{table}={number}")),
        }
    }
}

impl Words for Flags {
    fn name(&self, name: OptionName) -> String {
        format!("--{}", name.name())
    }

    /// Quotes pairs: names of columns may hold characters with a meaning for the shell.
    fn option(&self, name: OptionName, value: &OptionValue) -> String {
        match value {
            OptionValue::Pair(left, right) => format!("{} '{left}={right}'", self.name(name)),
            _ => self.given(name, value),
        }
    }

    fn choice(&self, _name: OptionName, choice: &str) -> String {
        choice.to_owned()
    }

    fn given(&self, name: OptionName, value: &OptionValue) -> String {
        match Self::value(value) {
            None => self.name(name),
            Some(value) => format!("{} {value}", self.name(name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, ErrorKind};

    #[test]
    fn every_value_in_the_words_of_the_program_and_of_rust() {
        for (hint, flags, rust) in [
            (OptionName::Table.alone(), "--table", "table"),
            (OptionName::Overwrite.alone(), "--overwrite", "overwrite(true)"),
            (OptionName::OnConflict.word("ignore"), "--on-conflict ignore", "on_conflict(Conflict::Ignore)"),
            (OptionName::Encoding.word("latin1"), "--encoding latin1", "encoding(\"latin1\")"),
            (OptionName::PrimaryKey.names(["a", "b"]), "--primary-key a,b", "primary_key([\"a\", \"b\"])"),
            (OptionName::Type.pair("a b", "TEXT"), "--type 'a b=TEXT'", "column_type(\"a b\", \"TEXT\")"),
            (OptionName::Type.pair("a b", "TEXT").given(), "--type a b=TEXT", "column_type(\"a b\", \"TEXT\")"),
            (OptionName::Map.pair("a", ""), "--map 'a='", "map(\"a\", \"\")"),
            (OptionName::Rows.count(Some("t"), "N"), "--rows t=N", "rows(\"t\", N)"),
            (OptionName::Rows.count(None, "N"), "--rows N", "rows(N)"),
        ] {
            let message = message!["say ", hint, ", ", String::from("then")];
            assert_eq!(message.in_words(&Flags), format!("say {flags}, then"));
            assert_eq!(message.to_string(), format!("say {rust}, then"));
        }
    }

    /// Programs that use the library were told of flags which only the program has.
    #[test]
    fn an_error_names_options_as_its_reader_calls_them() {
        let message = message![OptionName::Map.pair("x", "b").given(), ": the table has no column b"];
        let error = Error::new(ErrorKind::Schema, message).in_table("t").advise(OptionName::Map.pair("x", ""));
        assert_eq!(error.to_string(), "table t: map(\"x\", \"b\"): the table has no column b; map(\"x\", \"\")");
        assert_eq!(error.in_words(&Flags), "table t: --map x=b: the table has no column b; --map 'x='");
    }
}
