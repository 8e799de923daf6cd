//! The names of options, as messages refer to them, and the values that messages give to options.

use super::Hint;
use std::borrow::Cow;

/// An option that a message may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OptionName {
    /// Whether a key that a record of JSON lacks is NULL in an update.
    AbsentAsNull,
    /// Whether columns that the table lacks are added to it.
    AddColumns,
    /// Whether a copy may lack what cannot be copied.
    AllowIncomplete,
    /// Whether rows are added to a database that exists.
    Append,
    /// Longest wait for another program's lock.
    BusyTimeout,
    /// Names of the columns of CSV.
    Columns,
    /// Reference system of coordinates.
    Crs,
    /// Delimiter of CSV.
    Delimiter,
    /// Pages are dropped.
    Discard,
    /// Index that a copy lacks.
    DropIndex,
    /// Encoding of text.
    Encoding,
    /// Whether foreign keys are enforced.
    EnforceForeignKeys,
    /// Foreign key of a new table.
    ForeignKey,
    /// Format of the files.
    Format,
    /// Columns of a full-text index of a new table.
    Fts,
    /// Place of the texts of full-text indexes.
    FtsContent,
    /// Tokenizer of full-text indexes.
    FtsTokenizer,
    /// Column of geometries.
    Geometry,
    /// Index of a new table.
    Index,
    /// Fate of text that is not UTF-8.
    InvalidUtf8,
    /// Keys that lead to the records of JSON.
    JsonPath,
    /// Columns of the unique key that decides which row is updated.
    Key,
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
    /// Table that a copy keeps.
    Only,
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
    /// Tables that are left out of a merge.
    SkipTable,
    /// Column for the name of the file.
    SourceColumn,
    /// Column whose values divide the rows.
    SplitBy,
    /// Largest number of records of a table.
    Limit,
    /// Schema of the tables.
    Schema,
    /// Generator of a column.
    Set,
    /// Form in which a typed column is stored.
    StoreAs,
    /// Fields that mean NULL.
    NullValue,
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
    /// Whether the rows of the table are replaced.
    Truncate,
    /// Whether a merge takes objects that some databases lack.
    Union,
    /// Unique columns of a new table.
    Unique,
    /// Day at which inferred times end.
    Until,
    /// Columns that an update changes.
    UpdateColumns,
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
    #[expect(clippy::too_many_lines, reason = "one line an option")]
    pub fn name(self) -> &'static str {
        match self {
            Self::AbsentAsNull => "absent-as-null",
            Self::AddColumns => "add-columns",
            Self::AllowIncomplete => "allow-incomplete",
            Self::Append => "append",
            Self::BusyTimeout => "busy-timeout",
            Self::Columns => "columns",
            Self::Crs => "crs",
            Self::Delimiter => "delimiter",
            Self::Discard => "discard",
            Self::DropIndex => "drop-index",
            Self::Encoding => "encoding",
            Self::EnforceForeignKeys => "enforce-foreign-keys",
            Self::ForeignKey => "foreign-key",
            Self::Format => "format",
            Self::Fts => "fts",
            Self::FtsContent => "fts-content",
            Self::FtsTokenizer => "fts-tokenizer",
            Self::Geometry => "geometry",
            Self::Index => "index",
            Self::InvalidUtf8 => "invalid-utf8",
            Self::JsonPath => "json-path",
            Self::Key => "key",
            Self::Map => "map",
            Self::MaxRejects => "max-rejects",
            Self::Nan => "nan",
            Self::Memory => "memory",
            Self::NotNull => "not-null",
            Self::Numbers => "numbers",
            Self::OnConflict => "on-conflict",
            Self::OnError => "on-error",
            Self::Only => "only",
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
            Self::SplitBy => "split-by",
            Self::Limit => "limit",
            Self::Schema => "schema",
            Self::Set => "set",
            Self::StoreAs => "store-as",
            Self::NullValue => "null-value",
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
            Self::Truncate => "truncate",
            Self::Union => "union",
            Self::Unique => "unique",
            Self::Until => "until",
            Self::UpdateColumns => "update-columns",
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
