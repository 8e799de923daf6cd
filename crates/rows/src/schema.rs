//! Tables as SQLite itself reads them.
//!
//! The user's DDL is run by the bundled SQLite in a database in memory, under an authorizer that lets it define
//! and nothing else; then SQLite is asked what it understood. No SQL parser of ours decides what a column's
//! affinity, a key or a collation is.

mod default;
mod read;
mod run;
mod triggers;

use crate::{Affinity, Result};
use std::collections::HashMap;
use std::ops::Range;

pub use default::DefaultKind;
pub use read::{TableKinds, has_check, table_of};
pub use triggers::{Trigger, missing_objects};

/// A whole database schema.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Schema {
    /// The text that the user gave.
    pub text: String,
    /// What the text is called in errors: a file name, or `<preset user>`.
    pub origin: String,
    /// Tables that hold rows of the user, in the order of their definition; not the shadow tables of virtual ones.
    pub tables: Vec<Table>,
    /// Every row of `sqlite_schema` in SQLite's own order: tables (`sqlite_sequence` too), indexes, views, triggers.
    pub objects: Vec<SchemaObject>,
    /// What PRAGMAs of the text say about the file itself.
    pub settings: FileSettings,
    /// Positions that `tables` had at first, by names in lower case: schemas of thousands of tables are not rare.
    positions: HashMap<String, usize>,
}

/// One row of `sqlite_schema`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaObject {
    /// `table`, `index`, `view` or `trigger`.
    pub kind: String,
    /// Name of the object.
    pub name: String,
    /// Name of the table that it belongs to; its own name for tables and views.
    pub table: String,
    /// Whether it belongs to a shadow table, in which a virtual table keeps its data.
    pub is_shadow: bool,
    /// Whether it has a b-tree of its own (views, triggers and virtual tables have none).
    pub has_btree: bool,
    /// The statement as SQLite normalised it; `None` for automatic indexes.
    pub sql: Option<String>,
}

/// Settings that belong to the file and not to a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileSettings {
    /// `PRAGMA page_size`, in bytes, where the text sets it.
    pub page_size: Option<u32>,
    /// `PRAGMA user_version`
    pub user_version: i32,
    /// `PRAGMA application_id`
    pub application_id: i32,
    /// `PRAGMA journal_mode=WAL`
    pub wal: bool,
    /// How many times SQLite changed the schema: the header's schema cookie.
    pub schema_cookie: u32,
}

/// One table.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Table {
    /// Name as SQLite keeps it.
    pub name: String,
    /// Where its CREATE TABLE statement stands in [`Schema::text`] (comments in front of it included).
    pub span: Range<usize>,
    /// Columns in the order of their definition, generated and hidden ones included.
    pub columns: Vec<Column>,
    /// Which column is the INTEGER PRIMARY KEY, an alias of the rowid.
    pub rowid_alias: Option<usize>,
    /// Declared `WITHOUT ROWID`.
    pub without_rowid: bool,
    /// Declared `STRICT`.
    pub strict: bool,
    /// Its INTEGER PRIMARY KEY is declared `AUTOINCREMENT`.
    pub autoincrement: bool,
    /// The number of an AUTOINCREMENT table in `sqlite_sequence`, if the text sets one, as dumps do: rowids up to it are
    /// not given again.
    pub last_sequence: Option<i64>,
    /// A virtual table.
    pub is_virtual: bool,
    /// Indexes, automatic ones included, in SQLite's order of creation.
    pub indexes: Vec<Index>,
    /// Foreign keys in the order of their definition.
    pub foreign_keys: Vec<ForeignKey>,
    /// Whether a CHECK constraint stands in the statement.
    pub has_check: bool,
    /// Whether an ON CONFLICT clause of the statement has rows left out or replaced.
    pub has_conflict_clause: bool,
    /// Whether some of its data have its INTEGER PRIMARY KEY and others lack it: rowids are chosen among those that are given.
    /// A source of rows says so; the schema cannot.
    pub has_mixed_rowids: bool,
}

/// One column.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Column {
    /// Name.
    pub name: String,
    /// Declared type, as written; empty where none is.
    pub declared_type: String,
    /// Affinity that follows from the declared type (in a STRICT table: from its exact type).
    pub affinity: Affinity,
    /// NULL is refused (`NOT NULL`, and the primary key of STRICT and WITHOUT ROWID tables).
    pub not_null: bool,
    /// Position in the primary key, counted from 0.
    pub key_position: Option<usize>,
    /// Whether the column alone is unique: PRIMARY KEY or UNIQUE of this one column.
    pub unique: bool,
    /// DEFAULT expression as written.
    pub default: Option<String>,
    /// How it comes by its value.
    pub generated: Generated,
}

/// How a column comes by its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generated {
    /// It is given one: an ordinary column.
    No,
    /// `GENERATED ALWAYS AS ... VIRTUAL`: not in the record.
    Virtual,
    /// `GENERATED ALWAYS AS ... STORED`: in the record.
    Stored,
    /// A hidden column of a virtual table.
    Hidden,
}

/// One index.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Index {
    /// Name (`sqlite_autoindex_T_N` for automatic ones).
    pub name: String,
    /// No two rows may agree on its key.
    pub unique: bool,
    /// Where it comes from.
    pub origin: IndexOrigin,
    /// It has a WHERE clause.
    pub partial: bool,
    /// The key columns as declared.
    pub columns: Vec<IndexColumn>,
    /// The columns behind the key. Of a WITHOUT ROWID table: those of its primary key that the index does not have;
    /// behind the primary key itself all others. Of a rowid table none: the rowid stands there.
    pub appended: Vec<IndexColumn>,
}

/// Where an index comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexOrigin {
    /// CREATE INDEX
    Create,
    /// A UNIQUE constraint.
    Unique,
    /// A PRIMARY KEY constraint.
    PrimaryKey,
}

/// One column of an index.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct IndexColumn {
    /// Position of the column in its table; `None` for an expression.
    pub column: Option<usize>,
    /// Sorted in descending order.
    pub descending: bool,
    /// Name of its collation.
    pub collation: String,
}

/// One foreign key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ForeignKey {
    /// Positions of the child's columns.
    pub columns: Vec<usize>,
    /// Name of the parent table as written.
    pub parent: String,
    /// Names of the parent's columns; empty where the parent's primary key is meant.
    pub parent_columns: Vec<String>,
}

impl Schema {
    /// Has SQLite read `text`.
    ///
    /// # Errors
    /// [`ErrorKind::Schema`](crate::ErrorKind::Schema) with file, line and character where SQLite refuses a
    /// statement (with SQLite's own message) or where a statement does more than define.
    pub fn from_sql(text: &str, origin: &str) -> Result<Self> {
        let ran = run::run(text, origin)?;
        read::schema(text, origin, &ran)
    }

    /// The table of this name, compared as SQLite compares names.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.position(name).map(|position| &self.tables[position])
    }

    /// The position in [`tables`](Self::tables) of the table of this name, compared as SQLite compares names.
    pub fn position(&self, name: &str) -> Option<usize> {
        let is_named = |table: &Table| table.name.eq_ignore_ascii_case(name);
        let known = self.positions.get(&name.to_ascii_lowercase()).copied();
        // Whoever holds the schema may have moved its tables, added some or taken some away.
        known
            .filter(|&position| self.tables.get(position).is_some_and(is_named))
            .or_else(|| self.tables.iter().position(is_named))
    }
}

impl Table {
    /// Positions of the columns that are given values: neither computed nor hidden.
    pub fn ordinary_columns(&self) -> impl Iterator<Item = usize> + '_ {
        let is_ordinary = |column: &Column| column.generated == Generated::No;
        (0..self.columns.len()).filter(move |&position| is_ordinary(&self.columns[position]))
    }

    /// Positions of the columns that a record of the table holds, in its order. A WITHOUT ROWID table puts those of its
    /// primary key first, as SQLite itself tells.
    pub fn stored_columns(&self) -> Vec<usize> {
        let is_stored = |&position: &usize| self.columns[position].generated != Generated::Virtual;
        match self.primary_index().filter(|_| self.without_rowid) {
            Some(key) => key.columns.iter().chain(&key.appended).filter_map(|column| column.column).collect(),
            None => (0..self.columns.len()).filter(is_stored).collect(),
        }
    }

    /// A rowid table of these columns alone, in this order, without keys and constraints but NOT NULL and STRICT types.
    #[must_use]
    pub fn narrow(&self, columns: &[usize]) -> Self {
        Self {
            columns: columns.iter().map(|&column| self.columns[column].clone()).collect(),
            rowid_alias: None,
            without_rowid: false,
            autoincrement: false,
            last_sequence: None,
            indexes: Vec::new(),
            foreign_keys: Vec::new(),
            has_check: false,
            has_conflict_clause: false,
            has_mixed_rowids: false,
            ..self.clone()
        }
    }

    /// The index of its primary key, where that is not the rowid. In a WITHOUT ROWID table it is the table itself.
    pub fn primary_index(&self) -> Option<&Index> {
        self.indexes.iter().find(|index| index.origin == IndexOrigin::PrimaryKey)
    }

    /// The column of this name, compared as SQLite compares names.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
    }
}

/// Line and character, both counted from 1, of a byte offset of a text.
pub fn line_and_character(text: &str, offset: usize) -> (u64, u64) {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let character = String::from_utf8_lossy(&before[line_start..]).chars().count() + 1;
    (line as u64, character as u64)
}
