//! Reads schemas by asking SQLite.
//!
//! The bundled SQLite runs the user's DDL in a database in memory. An authorizer lets it define objects and nothing else. Then
//! SQLite is asked for the result: no SQL parser of ours decides about affinities, keys or collations.

mod broken;
mod copied_texts;
mod default;
mod evaluation;
mod existing;
mod full_text;
mod older_rows;
mod predicate;
mod read;
mod rtree;
mod run;
mod statement_text;
mod triggers;
mod unrun_triggers;
mod virtual_table;

use crate::{Affinity, Result};
use litepress_rtree::Layout;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

pub use broken::{BrokenObject, broken_objects};
pub use default::DefaultKind;
pub use evaluation::{EvaluatedCheck, EvaluatedIndex, Evaluation};
pub use existing::SchemaAdditions;
pub use full_text::{FullText, TextContent, full_text_has_positions};
pub use older_rows::{EncodedValue, OlderRows, value_in_older_rows};
pub use predicate::Condition;
pub use read::{TableKinds, has_check, table_of, with_evaluation};
pub use rtree::{NamedRTree, rtrees};
pub use statement_text::{Check, checks, index_predicate};
pub use triggers::{Trigger, missing_objects};
pub use virtual_table::VirtualTable;

/// A whole database schema.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Schema {
    /// The text from the user.
    pub text: String,
    /// The name of the text in errors: a file name, or `<preset user>`.
    pub origin: String,
    /// Tables for rows of the user, in the order of their definition, without shadow tables of virtual ones.
    pub tables: Vec<Table>,
    /// Every row of `sqlite_schema` in SQLite's own order: tables (`sqlite_sequence` too), indexes, views, triggers.
    pub objects: Vec<SchemaObject>,
    /// Settings of the file from the text's PRAGMAs.
    pub settings: FileSettings,
    /// Tables in which virtual ones keep their data.
    pub shadow_tables: Vec<Table>,
    /// Initial positions in `tables` by lower-case name: schemas with thousands of tables are common.
    positions: HashMap<String, usize>,
}

/// One row of `sqlite_schema`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaObject {
    /// `table`, `index`, `view` or `trigger`.
    pub kind: String,
    /// Name of the object.
    pub name: String,
    /// Name of the table that it belongs to. Tables and views belong to themselves.
    pub table: String,
    /// It belongs to a shadow table, in which a virtual table keeps its data.
    pub is_shadow: bool,
    /// It has a b-tree (views, triggers and virtual tables have none).
    pub has_btree: bool,
    /// The statement as SQLite normalized it. `None` for automatic indexes.
    pub sql: Option<String>,
}

/// Settings that belong to the file and not to a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileSettings {
    /// `PRAGMA page_size`, in bytes, if the text sets it.
    pub page_size: Option<u32>,
    /// `PRAGMA user_version`
    pub user_version: i32,
    /// `PRAGMA application_id`
    pub application_id: i32,
    /// `PRAGMA journal_mode=WAL`
    pub wal: bool,
    /// Number of schema changes by SQLite: the header's schema cookie.
    pub schema_cookie: u32,
}

/// One table.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Table {
    /// The name as SQLite keeps it.
    pub name: String,
    /// Range of its CREATE TABLE statement in [`Schema::text`], including comments before it.
    pub span: Range<usize>,
    /// The columns in the order of their definition, including generated and hidden ones.
    pub columns: Vec<Column>,
    /// The column that is the INTEGER PRIMARY KEY, an alias of the rowid.
    pub rowid_alias: Option<usize>,
    /// Declared `WITHOUT ROWID`.
    pub without_rowid: bool,
    /// Declared `STRICT`.
    pub strict: bool,
    /// Its INTEGER PRIMARY KEY is declared `AUTOINCREMENT`.
    pub autoincrement: bool,
    /// The number of an AUTOINCREMENT table in `sqlite_sequence`, if the text sets one, as dumps do. Rowids up to it are not
    /// assigned again.
    pub last_sequence: Option<i64>,
    /// A virtual table.
    pub is_virtual: bool,
    /// It is a full-text table of FTS5. Known in schemas that were read from their text.
    pub full_text: Option<Box<FullText>>,
    /// The tree of an R-Tree table; `None` for other tables.
    pub rtree: Option<RTree>,
    /// The indexes, including automatic ones, in SQLite's order of creation.
    pub indexes: Vec<Index>,
    /// The foreign keys in the order of their definition.
    pub foreign_keys: Vec<ForeignKey>,
    /// The table has a CHECK constraint.
    pub has_check: bool,
    /// An ON CONFLICT clause of the statement may leave out or replace rows.
    pub has_conflict_clause: bool,
    /// Some of its data have the INTEGER PRIMARY KEY and others lack it, so rowids are chosen among given ones. Set by a source
    /// of rows; the schema does not show it.
    pub has_mixed_rowids: bool,
    /// The texts that SQLite evaluates row by row. `None` if there are none, or if SQLite cannot make the table on its own.
    pub evaluation: Option<Evaluation>,
}

/// The tree of an R-Tree table. Its first column is the id, then come minimum and maximum of each dimension, then auxiliary columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RTree {
    /// Its dimensions and coordinates.
    pub layout: Layout,
    /// Number of auxiliary columns.
    pub auxiliary: usize,
}

/// One column.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Column {
    /// Name.
    pub name: String,
    /// The declared type as written. Empty if there is none.
    pub declared_type: String,
    /// The affinity of the declared type (in a STRICT table: of its exact type).
    pub affinity: Affinity,
    /// NULL is refused (`NOT NULL`, and the primary key of STRICT and WITHOUT ROWID tables).
    pub not_null: bool,
    /// Position in the primary key, counted from 0.
    pub key_position: Option<usize>,
    /// The column alone is unique: it is the only one of a PRIMARY KEY or UNIQUE constraint or index.
    pub unique: bool,
    /// The DEFAULT expression as written.
    pub default: Option<String>,
    /// The origin of its values.
    pub generated: Generated,
}

/// The origin of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generated {
    /// An ordinary column, whose values are given.
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
    /// No two rows may have equal keys.
    pub unique: bool,
    /// The statement that created it.
    pub origin: IndexOrigin,
    /// It has a WHERE clause.
    pub partial: bool,
    /// The key columns as declared.
    pub columns: Vec<IndexColumn>,
    /// The columns after the key. In a WITHOUT ROWID table, an index appends the missing columns of the primary key, and the
    /// primary key itself appends all others. In a rowid table there are none: the rowid follows the key.
    pub appended: Vec<IndexColumn>,
    /// The texts of an index whose keys records do not have. `None` if they have, or if the texts cannot be told.
    pub evaluated: Option<EvaluatedIndex>,
}

/// The statement that created an index.
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
    /// Position of the column in its table. `None` for an expression.
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
    /// Names of the parent's columns. Empty if they are its primary key.
    pub parent_columns: Vec<String>,
}

impl ForeignKey {
    /// Makes a foreign key of one column.
    pub fn single(column: usize, parent: &str, parent_column: &str) -> Self {
        Self { columns: vec![column], parent: parent.to_owned(), parent_columns: vec![parent_column.to_owned()] }
    }
}

/// The ends of the names of the shadow tables of FTS5.
const SHADOWS: [&str; 5] = ["data", "idx", "content", "docsize", "config"];

impl Schema {
    /// Reads `text` with SQLite.
    ///
    /// # Errors
    /// [`ErrorKind::Schema`](crate::ErrorKind::Schema) with file, line and character, if SQLite refuses a statement (with its own
    /// message) or a statement does more than define.
    pub fn from_sql(text: &str, origin: &str) -> Result<Self> {
        let ran = run::run(text, origin)?;
        read::schema(text, origin, &ran)
    }

    /// Turns shadow tables into tables whose rows are given, as in a copy of a database. A virtual table is then an entry of
    /// `sqlite_schema` alone. A full-text table is left as it is if the rows of its shadow tables are not given: it is new.
    #[must_use]
    pub fn with_shadow_tables(mut self, is_given: impl Fn(&str) -> bool) -> Self {
        let is_new = |table: &Table| table.full_text.is_some() && !is_given(&format!("{}_data", table.name));
        self.tables.retain(|table| !table.is_virtual || is_new(table));
        let new = self.tables.iter().filter(|table| table.is_virtual).map(|table| &table.name);
        let of_new: HashSet<String> = new.flat_map(|name| SHADOWS.map(|suffix| format!("{name}_{suffix}"))).collect();
        let (kept, mut given) = self.shadow_tables.drain(..).partition(|table| of_new.contains(&table.name));
        self.shadow_tables = kept;
        self.tables.append(&mut given);
        self.objects.iter_mut().for_each(|object| object.is_shadow = of_new.contains(&object.table));
        self.positions = positions(&self.tables);
        self
    }

    /// Returns the shadow table of this name.
    pub fn shadow_table(&self, name: &str) -> Option<&Table> {
        self.shadow_tables.iter().find(|table| table.name.eq_ignore_ascii_case(name))
    }

    /// Returns the table of this name. Names are compared as in SQLite.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.position(name).map(|position| &self.tables[position])
    }

    /// Returns the position in [`tables`](Self::tables) of the table of this name. Names are compared as in SQLite.
    pub fn position(&self, name: &str) -> Option<usize> {
        let is_named = |table: &Table| table.name.eq_ignore_ascii_case(name);
        let known = self.positions.get(&name.to_ascii_lowercase()).copied();
        // The owner of the schema may have moved, added or removed tables.
        known
            .filter(|&position| self.tables.get(position).is_some_and(is_named))
            .or_else(|| self.tables.iter().position(is_named))
    }
}

impl Table {
    /// Returns a name of the rowid, quoted for SQL. `None` without a rowid, or if columns have all of its names.
    pub fn rowid_name(&self) -> Option<String> {
        if self.without_rowid {
            return None;
        }
        if let Some(alias) = self.rowid_alias {
            return Some(crate::quoted_name(&self.columns[alias].name));
        }
        ["rowid", "_rowid_", "oid"].into_iter().find(|name| self.column(name).is_none()).map(str::to_owned)
    }

    /// Returns the positions of the columns that are given values: those neither computed nor hidden.
    pub fn ordinary_columns(&self) -> impl Iterator<Item = usize> + '_ {
        let is_ordinary = |column: &Column| column.generated == Generated::No;
        (0..self.columns.len()).filter(move |&position| is_ordinary(&self.columns[position]))
    }

    /// Returns the positions of the columns in a record of the table, in record order. A WITHOUT ROWID table has its primary key
    /// first, as SQLite reports it.
    pub fn stored_columns(&self) -> Vec<usize> {
        let is_stored = |&position: &usize| self.columns[position].generated != Generated::Virtual;
        match self.primary_index().filter(|_| self.without_rowid) {
            Some(key) => key.columns.iter().chain(&key.appended).filter_map(|column| column.column).collect(),
            None => (0..self.columns.len()).filter(is_stored).collect(),
        }
    }

    /// Returns a rowid table with only these columns, in this order. It keeps only NOT NULL and STRICT types as constraints.
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
            evaluation: None,
            rtree: None,
            ..self.clone()
        }
    }

    /// Returns the index of the primary key, if that is not the rowid. In a WITHOUT ROWID table, the index is the table itself.
    pub fn primary_index(&self) -> Option<&Index> {
        self.indexes.iter().find(|index| index.origin == IndexOrigin::PrimaryKey)
    }

    /// Returns the position of the column of this name. Names are compared as in SQLite.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
    }
}

/// Returns the positions of the tables by lower-case name.
fn positions(tables: &[Table]) -> HashMap<String, usize> {
    tables.iter().enumerate().map(|(at, table)| (table.name.to_ascii_lowercase(), at)).collect()
}

/// Returns line and character, both counted from 1, of a byte offset in a text.
pub fn line_and_character(text: &str, offset: usize) -> (u64, u64) {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let character = String::from_utf8_lossy(&before[line_start..]).chars().count() + 1;
    (line as u64, character as u64)
}
