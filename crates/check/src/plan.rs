//! Derives the rules of a check from the schema: which b-trees exist, and what each must hold.

use super::content::{Digest, Numbers, Part, StoredValue};
use super::context::CheckContext;
use super::defaults::{self, AddedDefault, RELEASES};
use super::order::KeyOrder;
use super::record::{FieldRule, RecordRules, class};
use super::report::BtreeKind;
use super::sqlite::SqliteSchema;
use super::tree::{Totals, Tree};
use litepress_format::record as format_record;
use litepress_format::sort_key::{Collation, KeyPart};
use litepress_rows::Affinity;
use litepress_rows::schema::{
    Column, EncodedValue, Generated, Index, IndexColumn, IndexOrigin, Table, value_in_older_rows,
};
use litepress_rows::sync::Mutex;
use rusqlite::types::Value as SqlValue;
use std::collections::HashMap;
use std::ops::Range;

/// A row of `sqlite_schema` that names a b-tree.
#[derive(Clone, Debug)]
pub(super) struct SchemaEntry {
    pub(super) kind: BtreeKind,
    pub(super) name: String,
    /// Name of the table it belongs to.
    pub(super) table: String,
    /// Its name is text that is valid in the encoding of the database. If it is not, SQL cannot name it.
    pub(super) is_utf8: bool,
    pub(super) root: u32,
}

/// An index and its table, which are compared once both were read.
#[derive(Debug)]
pub(super) struct Pair {
    /// Position of the table's tree.
    pub(super) table: usize,
    /// The table's digests, one of which must equal the index's; empty if contents are not compared.
    pub(super) digests: Range<usize>,
    /// Position of the index's tree.
    pub(super) index: usize,
    /// Whether every row has an entry.
    pub(super) is_full: bool,
}

/// All b-trees of a database, and their relations.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) trees: Vec<Tree>,
    pub(super) pairs: Vec<Pair>,
    /// Positions of the trees of AUTOINCREMENT tables.
    pub(super) autoincrements: Vec<usize>,
}

/// Returns the tree of `sqlite_schema` itself.
pub(super) fn schema_tree(context: &CheckContext<'_>) -> Tree {
    let text = class::NULL | class::TEXT | class::BLOB;
    let columns = [("type", text), ("name", text), ("tbl_name", text), ("rootpage", class::ANY), ("sql", text)];
    let fields = columns.into_iter().map(|(name, accepts)| {
        let rule = FieldRule::new(format!("sqlite_schema.{name}"), accepts, None, "NUMERIC value in".into());
        FieldRule { may_be_missing: false, ..rule }
    });
    let kind = BtreeKind::Table;
    let entry =
        SchemaEntry { kind, name: "sqlite_schema".into(), table: "sqlite_schema".into(), is_utf8: true, root: 1 };
    tree(context, &entry, Some(true), Some(fields.collect()))
}

/// Returns a tree without order and digests.
fn tree(
    context: &CheckContext<'_>,
    entry: &SchemaEntry,
    has_rowids: Option<bool>,
    fields: Option<Vec<FieldRule>>,
) -> Tree {
    Tree {
        name: entry.name.clone(),
        number: 0,
        kind: entry.kind,
        root: entry.root,
        has_rowids,
        rules: RecordRules::new(fields, context.header.text_encoding, context.header.schema_format),
        order: None,
        digests: Vec::new(),
        totals: Mutex::default(),
    }
}

/// Plans the check of the b-trees that the schema names. Without an `sqlite` only their structure is checked.
pub(super) fn plan(context: &CheckContext<'_>, entries: &[SchemaEntry], sqlite: Option<&SqliteSchema>) -> Plan {
    let indexes = entries.iter().enumerate().filter(|(_, entry)| entry.kind == BtreeKind::Index);
    let index_positions = indexes.map(|(position, entry)| (entry.name.to_ascii_lowercase(), position)).collect();
    let planned = vec![false; entries.len()];
    let mut planner = Planner { context, entries, index_positions, planned, plan: Plan::default() };
    for (position, entry) in entries.iter().enumerate() {
        if entry.kind == BtreeKind::Table {
            if let Some(sqlite) = sqlite.filter(|_| !entry.is_utf8) {
                planner.not_utf8(position, sqlite);
                continue;
            }
            match sqlite.map(|sqlite| (sqlite, sqlite.table(&entry.name))) {
                Some((_, Ok(Some(table)))) => {
                    planner.note_check(sqlite, &table);
                    planner.table(position, &table);
                }
                Some((_, Ok(None))) => planner.unknown(position, "SQLite does not find it in the schema"),
                Some((sqlite, Err(rusqlite::Error::Utf8Error(..)))) => planner.not_utf8(position, sqlite),
                Some((_, Err(error))) => {
                    let object = format!("{} {}", entry.kind, entry.name);
                    context.sqlite_failed(Some(object), "SQLite cannot read its definition", &error);
                    planner.structure_only(position);
                }
                None => planner.structure_only(position),
            }
        }
    }
    for position in 0..entries.len() {
        match sqlite {
            _ if planner.planned[position] => {}
            Some(_) => planner.unknown(position, "SQLite does not find it among the indexes of its table"),
            None => planner.structure_only(position),
        }
    }
    let full_texts: Vec<&str> = sqlite.into_iter().flat_map(SqliteSchema::full_texts).collect();
    let rtrees: Vec<&str> = sqlite.into_iter().flat_map(SqliteSchema::rtrees).map(|found| &*found.name).collect();
    let others = sqlite.into_iter().flat_map(SqliteSchema::virtual_tables).filter(|name| !rtrees.contains(name));
    for name in others {
        let missing = sqlite.map(|sqlite| sqlite.missing_tables(name)).unwrap_or_default();
        for table in &missing {
            context.faults.add_to_file(None, None, format!("virtual table {name}: its table {table} is missing"));
        }
        if missing.is_empty() {
            context
                .faults
                .note(format!("virtual table {name}: {}", unchecked(sqlite, name, full_texts.contains(&name))));
        }
    }
    let mut plan = planner.plan;
    for (number, tree) in (1..).zip(&mut plan.trees) {
        tree.number = number;
        tree.totals = Mutex::new(Totals::nothing(tree.digests.len()));
    }
    plan
}

/// Says what is not checked of a virtual table.
fn unchecked(sqlite: Option<&SqliteSchema>, name: &str, is_full_text: bool) -> &'static str {
    if !is_full_text {
        "what its module keeps in shadow tables is not checked; SQLite's integrity_check does"
    } else if sqlite.is_some_and(|sqlite| sqlite.has_texts(name)) {
        "whether its index agrees with its texts is not checked; SQLite's integrity_check does"
    } else {
        "whether its index agrees with its texts, which it does not keep, is not checked"
    }
}

struct Planner<'p, 'a> {
    context: &'p CheckContext<'a>,
    entries: &'p [SchemaEntry],
    /// Positions of the indexes among the entries, by name in lower case.
    index_positions: HashMap<String, usize>,
    /// Whether each entry has a tree in the plan.
    planned: Vec<bool>,
    plan: Plan,
}

impl Planner<'_, '_> {
    fn add(&mut self, position: usize, tree: Tree) -> usize {
        self.planned[position] = true;
        self.plan.trees.push(tree);
        self.plan.trees.len() - 1
    }

    fn structure_only(&mut self, position: usize) {
        let entry = &self.entries[position];
        let has_rowids = (entry.kind == BtreeKind::Index).then_some(false);
        let tree = tree(self.context, entry, has_rowids, None);
        self.context.faults.note(format!("{}: columns, order and contents", tree.object()));
        self.add(position, tree);
    }

    /// Plans a table and its indexes of which a name, a type or a DEFAULT is no UTF-8, as of programs that wrote Latin-1. SQLite
    /// reads it.
    fn not_utf8(&mut self, position: usize, sqlite: &SqliteSchema) {
        let entry = &self.entries[position];
        self.context.faults.note(format!("{} {}: its definition is not valid UTF-8", entry.kind, entry.name));
        self.structure_only(position);
        for index in sqlite.missing_indexes(entry.root).unwrap_or_default() {
            self.missing(&entry.name, &index);
        }
        for index in 0..self.entries.len() {
            let is_of_table = self.entries[index].table.eq_ignore_ascii_case(&entry.name);
            if is_of_table && !self.planned[index] && self.entries[index].kind == BtreeKind::Index {
                self.structure_only(index);
            }
        }
    }

    fn unknown(&mut self, position: usize, why: &str) {
        let entry = &self.entries[position];
        let what = format!("{} {}: {why}", entry.kind, entry.name);
        self.context.faults.add_to_file(None, None, what);
        self.structure_only(position);
    }

    /// Notes that rows may break CHECK constraints, if the table has any.
    fn note_check(&self, sqlite: Option<&SqliteSchema>, table: &Table) {
        if sqlite.is_some_and(|sqlite| sqlite.has_check(table)) {
            let what =
                "rows are not checked against its CHECK constraints; SQLite's shell does by PRAGMA integrity_check";
            self.context.faults.note(format!("table {}: {what}", table.name));
        }
    }

    /// Plans a table and all its indexes.
    fn table(&mut self, position: usize, table: &Table) {
        let entry = &self.entries[position];
        let key = table.indexes.iter().find(|index| index.origin == IndexOrigin::PrimaryKey);
        if table.without_rowid && key.is_none() {
            return self.unknown(position, "SQLite does not say what its primary key is");
        }
        let stored = table.stored_columns();
        let rules = stored.iter().map(|column| self.column_rule(&entry.name, table, *column)).collect();
        let mut tree = tree(self.context, entry, Some(!table.without_rowid), Some(rules));
        if let Some(key) = key.filter(|_| table.without_rowid) {
            let columns: Vec<EntryColumn<'_>> = key.columns.iter().map(EntryColumn::of).collect();
            tree.order = self.key_order(&tree, &columns, Some(columns.len()));
        }
        self.note_computed(&entry.name, table);
        let table_at = self.add(position, tree);
        if table.autoincrement {
            self.plan.autoincrements.push(table_at);
        }
        // The primary key of a WITHOUT ROWID table has no separate tree.
        let separate = |index: &&Index| !(table.without_rowid && index.origin == IndexOrigin::PrimaryKey);
        for index in table.indexes.iter().filter(separate) {
            match self.index_positions.get(&index.name.to_ascii_lowercase()).copied() {
                Some(index_position)
                    if self.entries[index_position].table.eq_ignore_ascii_case(&entry.name)
                        && !self.planned[index_position] =>
                {
                    self.index(index_position, table_at, table, &stored, index);
                }
                _ => self.missing(&entry.name, &index.name),
            }
        }
    }

    /// Notes computed columns whose values no record holds, if a constraint or a type of a STRICT table could refuse them.
    fn note_computed(&self, name: &str, table: &Table) {
        let is_judged = |column: &&Column| {
            let has_type = table.strict && strict_classes(&column.declared_type) != class::ANY;
            column.generated == Generated::Virtual && (column.not_null || has_type)
        };
        for column in table.columns.iter().filter(is_judged) {
            let what = "is not checked against its type and NOT NULL; SQLite's integrity_check does";
            self.context.faults.note(format!("table {name}: its computed column {} {what}", column.name));
        }
    }

    /// Tells of an index of which `sqlite_schema` has no row with a b-tree. SQLite makes it out of a PRIMARY KEY or UNIQUE, and
    /// cannot read the table.
    fn missing(&self, table: &str, index: &str) {
        let what = format!("table {table}: sqlite_schema has no b-tree of it for the index {index}");
        self.context.faults.add_to_file(None, None, what);
    }

    fn index(&mut self, position: usize, table_at: usize, table: &Table, stored: &[usize], index: &Index) {
        let entry = &self.entries[position];
        let columns = EntryColumn::all(table, index);
        let rules = columns.iter().map(|column| {
            let name = format!("{}.{}", entry.name, source_name(table, column.source));
            match column.source {
                IndexSource::Rowid => FieldRule::copy(name, class::INTEGERS),
                IndexSource::Column(_) => FieldRule::copy(name, class::ANY),
                IndexSource::Expression => FieldRule {
                    may_be_missing: false,
                    ..FieldRule::new(name, class::ANY, None, "unexpected value in".into())
                },
            }
        });
        let mut tree = tree(self.context, entry, Some(false), Some(rules.collect()));
        tree.order = self.key_order(&tree, &columns, index.unique.then_some(index.columns.len()));
        let first = self.plan.trees[table_at].digests.len();
        if index.partial {
            self.context.faults.note(format!("{}: entries against rows (a partial index)", tree.object()));
        } else {
            let (in_table, in_index) = self.digests(&tree, table, stored, &columns);
            tree.digests.push(in_index);
            self.plan.trees[table_at].digests.extend(in_table);
        }
        let digests = first..self.plan.trees[table_at].digests.len();
        let index_at = self.add(position, tree);
        self.plan.pairs.push(Pair { table: table_at, digests, index: index_at, is_full: !index.partial });
    }

    /// Returns the digests by which table and index are compared. They cover every part of an entry that the table
    /// stores. The table has one for each way in which releases of SQLite read the defaults of added columns.
    fn digests(
        &self,
        tree: &Tree,
        table: &Table,
        stored: &[usize],
        columns: &[EntryColumn<'_>],
    ) -> (Vec<Digest>, Digest) {
        let mut in_table: [Vec<Part>; RELEASES] = Default::default();
        let mut in_index = Vec::new();
        for (position, column) in columns.iter().enumerate() {
            let of_column = match column.source {
                IndexSource::Rowid => Some((Numbers::AsStored, [const { Part::Rowid }; RELEASES])),
                IndexSource::Expression => None,
                IndexSource::Column(column) if table.rowid_alias == Some(column) => {
                    Some((Numbers::AsStored, [const { Part::Rowid }; RELEASES]))
                }
                IndexSource::Column(column) => {
                    stored.iter().position(|stored| *stored == column).map(|index| self.fields(table, column, index))
                }
            };
            match of_column {
                None => self.context.faults.note(format!("{}: the values of its expressions", tree.object())),
                Some((numbers, parts)) => {
                    in_table.iter_mut().zip(parts).for_each(|(digest, part)| digest.push(part));
                    in_index.push(Part::Field { index: position, numbers, default: None });
                }
            }
        }
        let mut in_table: Vec<Digest> = in_table.into_iter().map(|parts| Digest { parts }).collect();
        in_table.dedup();
        (in_table, Digest { parts: in_index })
    }

    /// Returns how the numbers of a stored column are compared, and the column as each group of releases reads it.
    fn fields(&self, table: &Table, column: usize, index: usize) -> (Numbers, [Part; RELEASES]) {
        let known = table.columns.get(column).and_then(|Column { affinity, default, .. }| {
            Some((*affinity, defaults::of_added_column(default.as_deref(), *affinity)?))
        });
        let Some((affinity, AddedDefault { by_release, is_whole_double })) = known else {
            let is_real = table.columns.get(column).is_some_and(|column| column.affinity == Affinity::Real);
            let numbers = if is_real { Numbers::AsDoubles } else { Numbers::AsStored };
            return (numbers, [const { None }; RELEASES].map(|default| Part::Field { index, numbers, default }));
        };
        let numbers = match affinity {
            Affinity::Real => Numbers::AsDoubles,
            _ if is_whole_double => Numbers::ByValue,
            _ => Numbers::AsStored,
        };
        let default = |value| Some(self.stored(&value));
        (numbers, by_release.map(|value| Part::Field { index, numbers, default: default(value) }))
    }

    /// Returns the value as a record of this database stores it.
    fn stored(&self, value: &rusqlite::types::Value) -> StoredValue {
        let encoded = EncodedValue::new(value, self.context.header.text_encoding);
        let value = encoded.as_value();
        let mut body = Vec::new();
        format_record::write_body(&value, &mut body);
        StoredValue { serial: format_record::serial_of(&value), body }
    }

    /// Returns the order of entries by these columns, the first `unique` of which must not repeat. If only an
    /// application knows a collation, adds a note and returns `None`.
    fn key_order(&self, tree: &Tree, columns: &[EntryColumn<'_>], unique: Option<usize>) -> Option<KeyOrder> {
        let mut order = Vec::new();
        for column in columns {
            let Some(collation) = Collation::from_name(column.collation) else {
                let note = format!("{}: its order (the collation {} is unknown)", tree.object(), column.collation);
                self.context.faults.note(note);
                return None;
            };
            order.push(KeyPart { collation, descending: column.descending });
        }
        Some(KeyOrder { columns: order, unique, encoding: self.context.header.text_encoding })
    }

    fn column_rule(&self, table_name: &str, table: &Table, position: usize) -> FieldRule {
        let Column { name, declared_type, affinity, not_null, default, .. } = &table.columns[position];
        let name = format!("{table_name}.{name}");
        if table.rowid_alias == Some(position) {
            let refusal = "the rowid is the value, and the record must hold NULL:";
            return FieldRule::new(name, class::NULL, None, refusal.into());
        }
        let (accepts, refusal) = match (table.strict, *affinity) {
            (true, _) => (strict_classes(declared_type), format!("non-{declared_type} value in")),
            (false, Affinity::Text) => (class::NULL | class::TEXT | class::BLOB, "NUMERIC value in".into()),
            (false, _) => (class::ANY, String::new()),
        };
        let accepts = if *not_null { accepts & !class::NULL } else { accepts };
        let missing = match default {
            None => class::NULL,
            Some(default) => value_in_older_rows(default, *affinity).map_or(accepts, |value| class_of_value(&value)),
        };
        let may_be_missing = accepts & missing != 0;
        FieldRule { may_be_missing, ..FieldRule::new(name, accepts, Some(*affinity), refusal) }
    }
}

/// A column of an index entry.
struct EntryColumn<'s> {
    source: IndexSource,
    descending: bool,
    collation: &'s str,
}

/// The source of an index column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IndexSource {
    /// This column of the table.
    Column(usize),
    /// The rowid.
    Rowid,
    /// An expression.
    Expression,
}

impl<'s> EntryColumn<'s> {
    fn of(column: &'s IndexColumn) -> Self {
        let source = column.column.map_or(IndexSource::Expression, IndexSource::Column);
        Self { source, descending: column.descending, collation: &column.collation }
    }

    /// Returns the columns of an index entry, in order.
    fn all(table: &Table, index: &'s Index) -> Vec<Self> {
        let rowid = Self { source: IndexSource::Rowid, descending: false, collation: "BINARY" };
        let named = index.columns.iter().chain(&index.appended).map(Self::of);
        named.chain((!table.without_rowid).then_some(rowid)).collect()
    }
}

fn source_name(table: &Table, source: IndexSource) -> &str {
    match source {
        IndexSource::Column(column) => table.columns.get(column).map_or("column", |column| &column.name),
        IndexSource::Rowid => "rowid",
        IndexSource::Expression => "expression",
    }
}

fn class_of_value(value: &SqlValue) -> u8 {
    match value {
        SqlValue::Null => class::NULL,
        SqlValue::Integer(_) => class::INTEGERS,
        SqlValue::Real(_) => class::REAL,
        SqlValue::Text(_) => class::TEXT,
        SqlValue::Blob(_) => class::BLOB,
    }
}

/// Returns the classes that a column of a STRICT table accepts.
fn strict_classes(declared_type: &str) -> u8 {
    let of_type = match declared_type.to_ascii_uppercase().as_str() {
        "INT" | "INTEGER" => class::INTEGERS,
        "REAL" => class::INTEGERS | class::REAL,
        "TEXT" => class::TEXT,
        "BLOB" => class::BLOB,
        _ => class::ANY,
    };
    of_type | class::NULL
}
