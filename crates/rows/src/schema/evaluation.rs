//! Finds the expressions of a table that SQLite must evaluate for every row: expressions and predicates of indexes, CHECK constraints, computed
//! columns. Cuts their texts out of the schema, so that a SELECT over rows evaluates them.
//!
//! ```text
//! CREATE TABLE t (a, b, CHECK (a > 0));  CREATE INDEX i ON t (lower(b)) WHERE a > 9
//!
//! checks      a > 0
//! index i     SELECT lower(b) FROM t WHERE a > 9
//! ```
//!
//! SQLite judges every text. Each index is created again from its pieces. If an INSERT then compiles to other byte code,
//! the texts are dropped, and SQLite builds the index. The names of CHECK constraints must be those of the byte code.
//!
//! A name of the rowid in double quotes is the text in a computed column and in the key of an index, and the rowid elsewhere. Where no
//! column has that name, texts with it are not cut out.
//!
//! SQLite refuses a clock function in an index, a CHECK or a computed column when a row is inserted, but allows it in a SELECT. So a
//! text that names such a function becomes a computed column of the statements, and the SELECT reads that column.

use super::predicate::{Condition, conditions};
use super::read::{all, opcodes_with_operands, prepare_for_byte_code};
use super::statement_text::{Check, IndexText, checks, index_text, with_virtual_columns};
use super::{Generated, Index, IndexOrigin, Table};
use crate::quoted_name;
use crate::sql_tokens::{Tokens, names, unquote};
use rusqlite::{Connection, OptionalExtension};

/// The table as SQLite evaluates it, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Evaluation {
    /// The statements that make the table in an empty database.
    pub statements: Vec<String>,
    /// Statements of the same table with its stored computed columns declared VIRTUAL. `None` if it has no computed column
    /// that must be known before a row is stored, or if SQLite does not agree that nothing else differs.
    pub virtual_statements: Option<Vec<String>>,
    /// The CHECK constraints, if SQLite agrees that these are all. Empty if there are none or they cannot be told.
    pub checks: Vec<EvaluatedCheck>,
}

/// A CHECK constraint that a SELECT evaluates.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EvaluatedCheck {
    /// The constraint.
    pub check: Check,
    /// An expression that is true for a row that breaks the constraint.
    pub is_broken: String,
}

/// The texts of an index that a SELECT evaluates.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct EvaluatedIndex {
    /// An expression for each of the columns and appended columns.
    pub terms: Vec<String>,
    /// The expression that is true for the rows of a partial index.
    pub predicate: Option<String>,
    /// Conditions that every row of a partial index meets, which spare SQLite most of the others.
    pub conditions: Vec<Condition>,
    /// The key terms as the statement has them, for messages.
    pub names: Vec<String>,
}

/// Functions that read the clock if their argument is `now`.
const CLOCK_FUNCTIONS: [&str; 7] = ["date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff"];

/// Adds the texts that SQLite evaluates to a table and its indexes. A table that needs none stays as it is.
pub(super) fn add(sqlite: &Connection, table: &mut Table) -> rusqlite::Result<()> {
    let is_computed = table.columns.iter().any(|column| column.generated != Generated::No);
    let needs_text = table.has_check || is_computed || table.indexes.iter().any(|index| needs_evaluation(table, index));
    if !needs_text || table.is_virtual {
        return Ok(());
    }
    let find = "SELECT sql FROM main.sqlite_schema WHERE type = 'table' AND name = ?1";
    let Some(create_sql) = sqlite.query_row(find, [&table.name], |row| row.get(0)).optional()?.flatten() else {
        return Ok(());
    };
    // A table that an empty database refuses is not evaluated: it calls a function of its application, for one.
    let Ok(scratch) = Scratch::new(table, create_sql) else { return Ok(()) };
    let find = "SELECT name, sql FROM main.sqlite_schema WHERE type = 'index' AND tbl_name = ?1";
    let texts: Vec<(String, Option<String>)> = all(sqlite, find, [&table.name], |row| Ok((row.get(0)?, row.get(1)?)))?;
    scratch.add_texts(table, &texts);
    Ok(())
}

/// Returns whether an index key holds anything but columns that every record stores.
fn needs_evaluation(table: &Table, index: &Index) -> bool {
    let is_stored =
        |column: Option<usize>| column.is_some_and(|column| table.columns[column].generated != Generated::Virtual);
    index.partial || !index.columns.iter().chain(&index.appended).all(|column| is_stored(column.column))
}

/// A database in memory with nothing but the table.
struct Scratch {
    sqlite: Connection,
    statements: Vec<String>,
}

impl Scratch {
    fn new(table: &Table, create_sql: String) -> rusqlite::Result<Self> {
        let sqlite = Connection::open_in_memory()?;
        prepare_for_byte_code(&sqlite)?;
        sqlite.execute(&create_sql, [])?;
        // Every row passes SQLite's compiler once.
        insert_code(&sqlite, table)?;
        Ok(Self { sqlite, statements: vec![create_sql] })
    }

    fn add_texts(mut self, table: &mut Table, texts: &[(String, Option<String>)]) {
        let virtual_statements = self.virtual_statements(table);
        for at in 0..table.indexes.len() {
            let index = &table.indexes[at];
            if needs_evaluation(table, index) {
                let text = texts.iter().find(|(name, _)| *name == index.name).and_then(|(_, sql)| sql.as_deref());
                table.indexes[at].evaluated = self.evaluated_index(table, index, text);
            }
        }
        let checks = if table.has_check { self.checks(table) } else { None };
        let (statements, checks) = (self.statements, checks.unwrap_or_default());
        table.evaluation = Some(Evaluation { statements, virtual_statements, checks });
    }

    /// Returns the texts of an index, if SQLite agrees with them.
    fn evaluated_index(&mut self, table: &Table, index: &Index, create_sql: Option<&str>) -> Option<EvaluatedIndex> {
        let column_names = |columns: &[super::IndexColumn]| -> Vec<Option<String>> {
            let name = |column: usize| table.columns[column].name.clone();
            columns.iter().map(|column| column.column.map(name)).collect()
        };
        let has_text = index.partial || index.columns.iter().any(|column| column.column.is_none());
        let text = if has_text { Some(self.confirmed_text(table, index, create_sql?)?) } else { None };
        let mut terms = Vec::new();
        let mut term_names = Vec::new();
        for (at, name) in column_names(&index.columns).into_iter().enumerate() {
            match name {
                Some(name) => {
                    terms.push(quoted_name(&name));
                    term_names.push(name);
                }
                None => {
                    let term = text.as_ref()?.terms.get(at)?;
                    terms.push(self.term(table, term)?);
                    term_names.push(term.clone());
                }
            }
        }
        for name in column_names(&index.appended) {
            terms.push(quoted_name(&name?));
        }
        let predicate = text.and_then(|text| text.predicate);
        let conditions = predicate
            .as_deref()
            .map_or(Vec::new(), |predicate| conditions(table, predicate, |column| self.compares_bytes(table, column)));
        let predicate = match predicate {
            // The sign keeps SQLite's planner from searching for rows: those of a part may be in any order.
            Some(predicate) => Some(format!("+{}", self.term(table, &predicate)?)),
            None => None,
        };
        Some(EvaluatedIndex { terms, predicate, conditions, names: term_names })
    }

    /// Returns whether texts of a column are compared byte by byte.
    fn compares_bytes(&self, table: &Table, column: usize) -> bool {
        let [name, of] = [&table.columns[column].name, &table.name].map(|name| quoted_name(name));
        let collation = || {
            self.sqlite.execute_batch(&format!("BEGIN; CREATE INDEX \"litepress collation\" ON {of} ({name})")).ok()?;
            let select = "SELECT coll FROM temp.pragma_index_xinfo('litepress collation') WHERE seqno = 0";
            self.sqlite.query_row(select, [], |row| row.get::<_, String>(0)).ok()
        };
        let collation = collation();
        let is_back = self.sqlite.execute_batch("ROLLBACK").is_ok();
        is_back && collation.is_some_and(|name| name.eq_ignore_ascii_case("BINARY"))
    }

    /// Cuts the text of an index. Returns `None` if an index of the pieces is another one for SQLite.
    fn confirmed_text(&self, table: &Table, index: &Index, create_sql: &str) -> Option<IndexText> {
        let text = index_text(create_sql).filter(|_| index.origin == IndexOrigin::Create)?;
        if text.terms.len() != index.columns.len() || text.predicate.is_some() != index.partial {
            return None;
        }
        let terms: Vec<String> = text
            .terms
            .iter()
            .zip(&index.columns)
            .map(|(term, column)| format!("({term}\n){}", if column.descending { " DESC" } else { "" }))
            .collect();
        let unique = if index.unique { "UNIQUE " } else { "" };
        let predicate = text.predicate.as_ref().map_or(String::new(), |text| format!(" WHERE ({text}\n)"));
        let (name, on) = (quoted_name(&index.name), quoted_name(&table.name));
        let again = format!("CREATE {unique}INDEX {name} ON {on} ({}){predicate}", terms.join(", "));
        let code = |sql: &str| {
            self.sqlite.execute_batch("BEGIN").ok()?;
            let code = self.sqlite.execute(sql, []).and_then(|_| insert_code(&self.sqlite, table));
            self.sqlite.execute_batch("ROLLBACK").ok()?;
            code.ok()
        };
        (code(create_sql)? == code(&again)?).then_some(text)
    }

    /// Returns the term of a SELECT that evaluates an expression as the table does. Returns `None` if there is none.
    fn term(&mut self, table: &Table, expression: &str) -> Option<String> {
        if has_ambiguous_rowid(table, expression) {
            return None;
        }
        let is_clock = |name: &String| CLOCK_FUNCTIONS.iter().any(|function| function.eq_ignore_ascii_case(name));
        let term = if names(expression).iter().any(is_clock) {
            let name = quoted_name(&format!("litepress clock {}", self.statements.len()));
            let any = if table.strict { "ANY " } else { "" };
            let statement =
                format!("ALTER TABLE {} ADD COLUMN {name} {any}AS ({expression}\n)", quoted_name(&table.name));
            self.sqlite.execute(&statement, []).ok()?;
            self.statements.push(statement);
            name
        } else {
            format!("({expression}\n)")
        };
        self.sqlite.prepare(&format!("SELECT {term} FROM {} NOT INDEXED", quoted_name(&table.name))).ok()?;
        Some(term)
    }

    /// Returns the CHECK constraints, if SQLite agrees that these are all.
    fn checks(&mut self, table: &Table) -> Option<Vec<EvaluatedCheck>> {
        let found = checks(&self.statements[0]);
        let names: Vec<String> = found.iter().map(Check::sqlite_name).collect();
        let known = self.names_in_byte_code(table).ok()?;
        if names.is_empty() || !known.iter().all(|name| names.contains(name)) {
            return None;
        }
        let evaluated = |check: Check| {
            let is_broken = self.term(table, &format!("NOT ({}\n)", check.expression))?;
            Some(EvaluatedCheck { check, is_broken })
        };
        found.into_iter().map(evaluated).collect()
    }

    /// Returns the names of the checks that an INSERT makes.
    fn names_in_byte_code(&self, table: &Table) -> rusqlite::Result<Vec<String>> {
        const SQLITE_CONSTRAINT_CHECK: i64 = 275;
        let sql = format!("EXPLAIN INSERT INTO {} DEFAULT VALUES", quoted_name(&table.name));
        let checks = all(&self.sqlite, &sql, [], |row| {
            let is_check =
                row.get::<_, String>("opcode")? == "Halt" && row.get::<_, i64>("p1")? == SQLITE_CONSTRAINT_CHECK;
            if is_check { row.get::<_, Option<String>>("p4") } else { Ok(None) }
        })?;
        Ok(checks.into_iter().flatten().collect())
    }

    /// Returns statements of the same table with virtual columns in place of stored ones, if it has computed columns whose
    /// values a row needs before it is stored.
    fn virtual_statements(&self, table: &Table) -> Option<Vec<String>> {
        let is_needed = |column: &super::Column| match column.generated {
            Generated::Stored => true,
            Generated::Virtual => column.not_null || table.strict,
            Generated::No | Generated::Hidden => false,
        };
        if !table.columns.iter().any(is_needed) {
            return None;
        }
        let sql = with_virtual_columns(&self.statements[0]);
        let sqlite = Connection::open_in_memory().ok()?;
        prepare_for_byte_code(&sqlite).ok()?;
        sqlite.execute(&sql, []).ok()?;
        let list = "SELECT cid, name, type, \"notnull\", dflt_value, pk, CASE hidden WHEN 3 THEN 2 ELSE hidden END
                    FROM temp.pragma_table_xinfo(?1)";
        type ColumnRow = (i64, String, String, bool, Option<String>, i64, i64);
        let columns = |sqlite: &Connection| -> rusqlite::Result<Vec<ColumnRow>> {
            all(sqlite, list, [&table.name], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?))
            })
        };
        let stored = "SELECT count(*) FROM temp.pragma_table_xinfo(?1) WHERE hidden = 3";
        let left: i64 = sqlite.query_row(stored, [&table.name], |row| row.get(0)).ok()?;
        (left == 0 && columns(&self.sqlite).ok()? == columns(&sqlite).ok()?).then(|| vec![sql])
    }
}

/// Returns whether an expression has a name of the rowid in double quotes that no column has.
fn has_ambiguous_rowid(table: &Table, expression: &str) -> bool {
    Tokens::new(expression).map(|token| &expression[token.span]).any(|text| {
        let is_rowid = ["\"rowid\"", "\"oid\"", "\"_rowid_\""].iter().any(|name| name.eq_ignore_ascii_case(text));
        is_rowid && table.column(&unquote(text)).is_none()
    })
}

/// Returns SQLite's byte code for an INSERT into the table, with all operands.
fn insert_code(sqlite: &Connection, table: &Table) -> rusqlite::Result<Vec<String>> {
    opcodes_with_operands(sqlite, table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schema;

    fn table(sql: &str) -> Table {
        Schema::from_sql(sql, "<test>").expect("a schema").tables.remove(0)
    }

    #[test]
    fn terms_and_predicates_are_cut_out() {
        let table = table(
            "CREATE TABLE t(a, b TEXT, v AS (a + 1)); CREATE INDEX i ON t(b, lower(b) COLLATE NOCASE DESC) WHERE a > 1 OR b;
             CREATE INDEX j ON t(v); CREATE INDEX k ON t(a); CREATE INDEX l ON t(\"a\" + 1, date(b) DESC)",
        );
        let texts = |at: usize| table.indexes[at].evaluated.as_ref();
        let i = texts(0).expect("an expression");
        assert_eq!(i.terms, ["\"b\"", "(lower(b) COLLATE NOCASE\n)"]);
        assert_eq!(i.predicate.as_deref(), Some("+(a > 1 OR b\n)"));
        assert_eq!(i.names, ["b", "lower(b) COLLATE NOCASE"]);
        assert_eq!(texts(1).expect("a virtual column").terms, ["\"v\""]);
        assert_eq!(texts(2), None);
        assert_eq!(texts(3).expect("a clock").terms, ["(\"a\" + 1\n)", "\"litepress clock 1\""]);
        let statements = &table.evaluation.as_ref().expect("an evaluation").statements;
        assert_eq!(statements[1..], ["ALTER TABLE \"t\" ADD COLUMN \"litepress clock 1\" AS (date(b)\n)"]);
    }

    #[test]
    fn checks_are_those_of_sqlite() {
        let texts = |sql: &str| table(sql).evaluation.map(|evaluation| evaluation.checks).unwrap_or_default();
        let checks = texts("CREATE TABLE t(a CHECK (a > 0), b, CONSTRAINT x CHECK (a <> b OR rowid > 3))");
        let broken: Vec<&str> = checks.iter().map(|check| check.is_broken.as_str()).collect();
        assert_eq!(broken, ["(NOT (a > 0\n)\n)", "(NOT (a <> b OR rowid > 3\n)\n)"]);
        assert_eq!(texts("CREATE TABLE t(a)"), []);
        // The rowid cannot be in a computed column, and the clock must not be in a query.
        assert_eq!(texts("CREATE TABLE t(a, CHECK (date(a) > rowid))"), []);
    }

    /// An index on `"rowid"`, which is a text there, was filled with rowids. So was one of a column that reads the clock, the other way
    /// round.
    #[test]
    fn names_of_the_rowid_in_double_quotes_are_left_to_sqlite() {
        for (sql, is_known) in [
            ("CREATE TABLE t(a); CREATE INDEX i ON t(\"rowid\")", false),
            ("CREATE TABLE t(a); CREATE INDEX i ON t(a || \"OID\")", false),
            ("CREATE TABLE t(a); CREATE INDEX i ON t(a) WHERE date(a) > '2' AND \"_rowid_\" = 2", false),
            ("CREATE TABLE t(a, oid); CREATE INDEX i ON t(a || \"OID\")", true),
            ("CREATE TABLE t(a); CREATE INDEX i ON t(a || 'rowid')", true),
            ("CREATE TABLE t(a); CREATE INDEX i ON t(a) WHERE rowid > 3", true),
        ] {
            assert_eq!(table(sql).indexes[0].evaluated.is_some(), is_known, "{sql}");
        }
        let checks = |sql: &str| table(sql).evaluation.map(|evaluation| evaluation.checks.len());
        assert_eq!(checks("CREATE TABLE t(a, CHECK (date(a) IS NULL OR \"rowid\" > 5))"), Some(0));
    }

    #[test]
    fn stored_columns_become_virtual_where_nothing_else_changes() {
        let text = |sql: &str| table(sql).evaluation.and_then(|evaluation| evaluation.virtual_statements);
        let sql = "CREATE TABLE t(a, b AS (upper(a)) STORED NOT NULL)";
        assert_eq!(text(sql).expect("a stored column"), ["CREATE TABLE t(a, b AS (upper(a)) VIRTUAL NOT NULL)"]);
        assert_eq!(text("CREATE TABLE t(a, b AS (upper(a)))"), None);
    }
}
