//! Tables with random types, keys, constraints, computed columns and indexes, and rows for them.

use crate::random::Random;
use litepress_rows::quoted_name;
use rusqlite::types::Value;

const NAMES: [&str; 9] = ["a", "b", "select", "c d", "é", "\"q", "x", "row_id", "K"];
const TYPES: [&str; 13] = [
    "INTEGER",
    "INT",
    "REAL",
    "TEXT",
    "BLOB",
    "NUMERIC",
    "",
    "VARCHAR(10)",
    "DATE",
    "BOOLEAN",
    "DECIMAL(10,2)",
    "FLOATING POINT",
    "CHARINT",
];
const STRICT_TYPES: [&str; 6] = ["INTEGER", "INT", "REAL", "TEXT", "BLOB", "ANY"];
const WORDS: [&str; 17] =
    ["", "a", "A", "a ", "b", "abc", "Ünïcode", "12", "1.5", "100", "0x10", " 7", "NULL", "\u{1}", "日本", "-0", "é"];

/// A table `t` without rows.
#[derive(Debug)]
pub struct RandomTable {
    create: String,
    indexes: Vec<String>,
    /// Names and types of the columns that rows have values for.
    columns: Vec<(&'static str, &'static str)>,
    /// Names that an index may have: those of the columns, and of a computed one.
    names: Vec<&'static str>,
    is_strict: bool,
    /// The columns of the primary key, with the collations that it names.
    key: Vec<(usize, &'static str)>,
    /// Whether the key is the rowid.
    has_rowid_key: bool,
}

impl RandomTable {
    /// Makes the definition of a table. SQLite may refuse it, such as a DEFAULT that a STRICT table has no type for.
    #[must_use]
    pub fn new(random: &mut Random) -> Self {
        let count = 1 + random.below(6);
        let names = random.sample(&NAMES, count);
        let is_strict = random.chance(20);
        let types: &[&str] = if is_strict { &STRICT_TYPES } else { &TYPES };
        let mut columns: Vec<(&str, &str)> = names.iter().map(|name| (*name, random.pick(types))).collect();
        let mut parts: Vec<String> = columns.iter().map(|(name, kind)| definition(random, name, kind)).collect();
        let (mut key, without_rowid) = (Vec::new(), random.chance(25));
        if !without_rowid && random.chance(40) {
            let at = random.below(count);
            columns[at].1 = "INTEGER";
            parts[at] =
                format!("{} INTEGER PRIMARY KEY{}", quoted_name(names[at]), random.pick(&["", "", " AUTOINCREMENT"]));
            key.push((at, ""));
        } else if without_rowid || random.chance(50) {
            let length = 1 + random.below(3);
            let of_key = random.sample(&Vec::from_iter(0..count), length);
            key = of_key.into_iter().map(|at| (at, random.pick(&["", "", " COLLATE NOCASE"]))).collect();
            let terms = key.iter().map(|(at, collation)| {
                format!("{}{collation}{}", quoted_name(names[*at]), random.pick(&["", " DESC"]))
            });
            let terms = Vec::from_iter(terms).join(", ");
            parts.push(format!("PRIMARY KEY ({terms})"));
        }
        let has_rowid_key = !without_rowid && matches!(key[..], [(at, _)] if columns[at].1 == "INTEGER");
        let mut indexed = names.clone();
        if random.chance(25) {
            let of = quoted_name(random.pick(&names));
            let kinds: &[&str] = if is_strict { &["INT"] } else { &["", "INT", "TEXT"] };
            let value = random.pick(&["length(#)", "coalesce(unicode(#), 0)", "lower(#)"]).replace('#', &of);
            let value = if is_strict { value.replace("lower", "length") } else { value };
            parts.push(format!("g {} AS ({value}) {}", random.pick(kinds), random.pick(&["STORED", "VIRTUAL"])));
            indexed.push("g");
        }
        let options = [is_strict.then_some("STRICT"), without_rowid.then_some("WITHOUT ROWID")];
        let options = Vec::from_iter(options.into_iter().flatten()).join(", ");
        let create = format!("CREATE TABLE t ({}) {options}", parts.join(", "));
        let mut table = Self { create, indexes: Vec::new(), columns, names: indexed, is_strict, key, has_rowid_key };
        table.indexes =
            (0..random.pick(&[0, 0, 1, 1, 2, 3])).map(|number| table.index(random, &format!("i{number}"))).collect();
        table
    }

    /// Returns the definition of an index.
    #[must_use]
    pub fn index(&self, random: &mut Random, name: &str) -> String {
        let count = 1 + random.below(3);
        let columns: Vec<String> = random.sample(&self.names, count).into_iter().map(quoted_name).collect();
        let terms = columns.iter().map(|column| {
            let expression = if random.chance(15) { random.pick(&["length(#)", "lower(#)", "(# || 1)"]) } else { "#" };
            let collation = if random.chance(20) { random.pick(&[" COLLATE NOCASE", " COLLATE RTRIM"]) } else { "" };
            format!("{}{collation}{}", expression.replace('#', column), random.pick(&["", " DESC"]))
        });
        let terms = Vec::from_iter(terms).join(", ");
        let unique = if random.chance(10) { "UNIQUE " } else { "" };
        let filter = random.pick(&["", "", "", "", " WHERE # IS NOT NULL", " WHERE # > 5", " WHERE length(#) = 1"]);
        format!("CREATE {unique}INDEX {name} ON t ({terms}){}", filter.replace('#', &columns[0]))
    }

    /// Returns all statements that make the table.
    #[must_use]
    pub fn schema(&self) -> String {
        let statements = [&self.create].into_iter().chain(&self.indexes).map(String::as_str);
        Vec::from_iter(statements).join("; ")
    }

    /// Returns the names of the columns that rows have values for, as SQL lists them.
    #[must_use]
    pub fn column_list(&self) -> String {
        Vec::from_iter(self.columns.iter().map(|(name, _)| quoted_name(name))).join(", ")
    }

    /// Returns the number of columns that rows have values for.
    #[must_use]
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// Returns the ON CONFLICT clause that updates all columns but the primary key, if there is one, and the names of the key.
    #[must_use]
    pub fn upsert(&self) -> Option<(String, Vec<&'static str>)> {
        let is_of_key = |column: usize| self.key.iter().any(|(at, _)| *at == column);
        let others = (0..self.columns.len()).filter(|at| !is_of_key(*at)).map(|at| quoted_name(self.columns[at].0));
        let set: Vec<String> = others.map(|name| format!("{name} = excluded.{name}")).collect();
        let terms = self.key.iter().map(|(at, collation)| format!("{}{collation}", quoted_name(self.columns[*at].0)));
        let target = Vec::from_iter(terms).join(", ");
        let names = self.key.iter().map(|(at, _)| self.columns[*at].0).collect();
        let is_possible = !set.is_empty() && !self.key.is_empty();
        is_possible.then(|| (format!(" ON CONFLICT ({target}) DO UPDATE SET {}", set.join(", ")), names))
    }

    /// Makes rows. In most cases the first column of the key counts on from `first`, or has numbers of about as many as there are rows.
    pub fn rows(&self, random: &mut Random, count: usize, first: usize) -> Vec<Vec<Value>> {
        let (has_long, order) = (random.chance(20), random.below(3));
        let row = |at: usize| {
            let mut row: Vec<Value> = self.columns.iter().map(|(_, kind)| self.value(random, kind, has_long)).collect();
            let Some((key, _)) = self.key.first() else { return row };
            let number = if order == 0 { first + at } else { random.below(first + 2 * count) };
            row[*key] = match self.columns[*key].1 {
                _ if order == 2 && !self.has_rowid_key => return row,
                "TEXT" => Value::Text(number.to_string()),
                "BLOB" if self.is_strict => Value::Blob(number.to_be_bytes().to_vec()),
                _ => Value::Integer(i64::try_from(number).unwrap()),
            };
            row
        };
        (0..count).map(row).collect()
    }

    /// Makes a value, of the type of its column if the table is STRICT. Real numbers have texts that all releases of SQLite agree on.
    fn value(&self, random: &mut Random, kind: &str, has_long: bool) -> Value {
        let is_any = !self.is_strict || kind == "ANY";
        let sort = if is_any {
            random.below(8)
        } else {
            ["INT", "REAL", "TEXT", "BLOB"].iter().position(|of| kind.contains(of)).unwrap()
        };
        match sort {
            _ if random.chance(12) => Value::Null,
            0 | 4 if kind.contains("INT") && random.chance(20) => {
                Value::Integer(random.pick(&[i64::MIN, i64::MAX, 1 << 40, -(1 << 31), 65_536, 127, -129]))
            }
            0 | 4 => Value::Integer(i64::try_from(random.below(1000)).unwrap() - 20),
            1 => Value::Real(f64::from(u32::try_from(random.below(4000)).unwrap()) / 4.0 - 100.0),
            3 => Value::Blob(vec![random.pick(&[0, 1, 97, 255]); random.below(9)]),
            _ if has_long && random.chance(2) => Value::Text("z".repeat(random.pick(&[5000, 70_000]))),
            _ if random.chance(30) => Value::Text(format!("{} {}", random.pick(&WORDS), random.below(1_000_000))),
            _ => Value::Text(random.pick(&WORDS).to_owned()),
        }
    }
}

/// Returns the definition of a column.
fn definition(random: &mut Random, name: &str, kind: &str) -> String {
    let name = quoted_name(name);
    let mut sql = format!("{name} {kind}");
    let rare: [(usize, &[&str]); 5] = [
        (15, &[" NOT NULL", " NOT NULL", " NOT NULL ON CONFLICT REPLACE", " NOT NULL ON CONFLICT IGNORE"]),
        (20, &[" DEFAULT 7", " DEFAULT 'x'", " DEFAULT (1 + 2)", " DEFAULT NULL", " DEFAULT -1.5", " DEFAULT x'00'"]),
        (20, &[" COLLATE NOCASE", " COLLATE RTRIM", " COLLATE BINARY"]),
        (8, &[" CHECK (# IS NOT 5)", " CHECK (length(#) < 40)", " CHECK (typeof(#) <> 'blob')"]),
        (8, &[" UNIQUE", " UNIQUE", " UNIQUE ON CONFLICT IGNORE", " UNIQUE ON CONFLICT REPLACE"]),
    ];
    for (percent, clauses) in rare {
        if random.chance(percent) {
            sql += &random.pick(clauses).replace('#', &name);
        }
    }
    sql
}
