//! Generated tables with keys: indexes, UNIQUE and PRIMARY KEY constraints, WITHOUT ROWID.

use crate::edge_values::{STRICT_TYPES, TYPES, any_key, any_value};
use crate::source::Row;
use litepress_rows::cells::OwnedValue;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeSet;
use std::fmt::Write;

/// One column of a key: its number (modulo the number of columns), collation and order.
type KeyColumn = (usize, &'static str, &'static str);

/// A table and its rows, which SQLite may refuse.
#[derive(Clone, Debug)]
pub struct KeyedTable {
    columns: Vec<(usize, &'static str)>,
    primary: Primary,
    uniques: Vec<Vec<KeyColumn>>,
    indexes: Vec<AnyIndex>,
    strict: bool,
    /// Position and form of a computed column.
    computed: Option<(usize, &'static str)>,
    check: &'static str,
    rows: Vec<Row>,
    rowids: Vec<i64>,
}

/// An index, perhaps of an expression over its first column, perhaps partial.
#[derive(Clone, Debug)]
struct AnyIndex {
    unique: bool,
    key: Vec<KeyColumn>,
    expression: &'static str,
    predicate: &'static str,
}

/// Expressions over a column `#`, most of them the column itself.
const EXPRESSIONS: [&str; 9] = ["#", "#", "#", "lower(#)", "(# || 'x')", "typeof(#)", "(+#)", "coalesce(#, 1)", "(#)"];

/// Predicates over a column `#`.
const PREDICATES: [&str; 7] =
    ["", "", "", " WHERE typeof(#) = 'text'", " WHERE # > 1", " WHERE # IS NOT NULL AND length(#) < 3", " WHERE 0"];

/// Computed columns.
const COMPUTED: [&str; 6] = [
    "v AS (1)",
    "v AS (c0 || 'v')",
    "v TEXT AS (c0) STORED",
    "v REAL AS (c0 + 1)",
    "v AS (typeof(c0)) STORED NOT NULL",
    "v INT NOT NULL AS (c0)",
];

/// CHECK constraints.
const CHECKS: [&str; 5] = ["", "", "", ", CHECK (typeof(c0) <> 'blob')", ", CONSTRAINT small CHECK (length(c0) < 5)"];

#[derive(Clone, Debug)]
enum Primary {
    None,
    /// An INTEGER PRIMARY KEY as the first column, and the words after it.
    Rowid(&'static str),
    /// An automatic index.
    Index(Vec<KeyColumn>),
    WithoutRowid(Vec<KeyColumn>),
}

fn any_key_columns() -> impl Strategy<Value = Vec<KeyColumn>> {
    let collation = select(&["", "", " COLLATE NOCASE", " COLLATE RTRIM", " COLLATE BINARY"][..]);
    prop::collection::vec((0_usize..6, collation, select(&["", "", " DESC", " ASC"][..])), 1..4)
}

fn any_primary() -> impl Strategy<Value = Primary> {
    prop_oneof![
        2 => Just(Primary::None),
        2 => select(&["", " AUTOINCREMENT"][..]).prop_map(Primary::Rowid),
        2 => any_key_columns().prop_map(Primary::Index),
        4 => any_key_columns().prop_map(Primary::WithoutRowid),
    ]
}

/// Generates a table of up to `rows` rows.
pub fn any_table(rows: usize) -> impl Strategy<Value = KeyedTable> {
    let suffix = select(&["", "", "", " COLLATE NOCASE", " COLLATE RTRIM", " NOT NULL", " UNIQUE"][..]);
    let columns = prop::collection::vec((0..TYPES.len(), suffix), 1..6);
    let uniques = prop::collection::vec(any_key_columns(), 0..2);
    let index = (prop::bool::weighted(0.2), any_key_columns(), select(&EXPRESSIONS[..]), select(&PREDICATES[..]));
    let index = index.prop_map(|(unique, key, expression, predicate)| AnyIndex { unique, key, expression, predicate });
    let indexes = prop::collection::vec(index, 0..4);
    let computed = prop::option::weighted(0.4, (0_usize..6, select(&COMPUTED[..])));
    let others = (prop::bool::weighted(0.2), computed, select(&CHECKS[..]));
    (columns, any_primary(), uniques, indexes, others, any::<u64>()).prop_flat_map(
        move |(columns, primary, uniques, indexes, (strict, computed, check), salt)| {
            let computed = computed.filter(|_| !strict);
            let value = prop_oneof![3 => any_key().boxed(), 1 => any_value().boxed()];
            let row = prop::collection::vec(value, columns.len());
            let rowids = (0..).map(|row: u64| shuffled_rowid(row, salt)).take(rows).collect();
            let table =
                KeyedTable { columns, primary, uniques, indexes, strict, computed, check, rows: Vec::new(), rowids };
            prop::collection::vec(row, 0..rows).prop_map(move |rows| KeyedTable { rows, ..table.clone() })
        },
    )
}

/// Returns rowids in any order, small and large, with hardly any duplicates.
fn shuffled_rowid(row: u64, salt: u64) -> i64 {
    let mixed = (row ^ salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    match mixed >> 61 {
        0 | 1 => (mixed >> 8).cast_signed() % 50,
        2 => i64::MIN + (mixed % 3).cast_signed(),
        // After the very largest rowid, SQLite would choose at random.
        3 => i64::MAX - 20 - (mixed % 3).cast_signed(),
        _ => mixed.cast_signed() >> (mixed % 48),
    }
}

impl KeyedTable {
    /// Returns its CREATE statements. The table is called `t` and a number.
    #[must_use]
    pub fn sql(&self, number: usize) -> String {
        let mut columns: Vec<String> =
            self.columns.iter().enumerate().map(|(at, column)| self.column(at, *column)).collect();
        if let Some((behind, column)) = self.computed {
            columns.insert(behind.min(columns.len()), column.to_owned());
        }
        match &self.primary {
            Primary::None => {}
            Primary::Rowid(words) => columns.insert(0, format!("k INTEGER PRIMARY KEY{words}")),
            Primary::Index(key) | Primary::WithoutRowid(key) => {
                columns.push(format!("PRIMARY KEY({})", self.key(key)));
            }
        }
        columns.extend(self.uniques.iter().map(|key| format!("UNIQUE({})", self.key(key))));
        let mut options = Vec::new();
        if matches!(self.primary, Primary::WithoutRowid(_)) {
            options.push("WITHOUT ROWID");
        }
        if self.strict {
            options.push("STRICT");
        }
        let columns = columns.join(", ") + self.check;
        let mut sql = format!("CREATE TABLE t{number}({columns}) {};\n", options.join(", "));
        for (at, AnyIndex { unique, key, expression, predicate }) in self.indexes.iter().enumerate() {
            let unique = if *unique { "UNIQUE " } else { "" };
            let (first, rest) = key.split_first().expect("a key has a column");
            // An index of two columns begins with the computed column.
            let is_computed = self.computed.is_some() && rest.len() == 1;
            let name = if is_computed { "v".to_owned() } else { format!("c{}", first.0 % self.columns.len()) };
            let term = format!("{}{}{}", expression.replace('#', &name), first.1, first.2);
            let rest: String = rest.iter().map(|column| format!(", {}", self.key(&[*column]))).collect();
            let predicate = predicate.replace('#', &name);
            writeln!(sql, "CREATE {unique}INDEX t{number}_i{at} ON t{number}({term}{rest}){predicate};").unwrap();
        }
        sql
    }

    fn column(&self, at: usize, (declared, suffix): (usize, &str)) -> String {
        let declared = if self.strict { STRICT_TYPES[declared % STRICT_TYPES.len()] } else { TYPES[declared] };
        // INTEGER would make a primary key of one column an alias of the rowid.
        let has_index = matches!(self.primary, Primary::Index(_));
        let declared = if has_index && declared == "INTEGER" { "INT" } else { declared };
        format!("c{at} {declared}{suffix}")
    }

    /// Returns the columns of a key, in which a column may occur more than once.
    fn key(&self, key: &[KeyColumn]) -> String {
        let column = |(at, collation, order): &KeyColumn| format!("c{}{collation}{order}", at % self.columns.len());
        key.iter().map(column).collect::<Vec<_>>().join(", ")
    }

    /// Returns the rows. If the table has a column for rowids, each row has one, possibly in any order.
    #[must_use]
    pub fn rows(&self, in_any_order: bool) -> Vec<Row> {
        if !matches!(self.primary, Primary::Rowid(_)) {
            return self.rows.clone();
        }
        let mut rowids = self.rowids[..self.rows.len()].to_vec();
        if !in_any_order {
            // Ascending and distinct.
            rowids = BTreeSet::from_iter(rowids).into_iter().collect();
        }
        let with_rowid = |(row, rowid): (&Row, i64)| [&[OwnedValue::Int(rowid)], &row[..]].concat();
        self.rows.iter().zip(rowids).map(with_rowid).collect()
    }
}
