//! A database in memory with the schema of another one and no rows. CREATE INDEX takes no time on it, so SQLite tells what a
//! statement makes: the columns of the index, its form in `sqlite_schema`, or what is wrong with it.

use super::index::{PlannedIndex, roots};
use crate::index::IndexPlan;
use crate::sqlite::Failures;
use crate::{Error, ErrorKind, Result};
use litepress_format::header::TextEncoding;
use litepress_rows::schema::{Index, OlderRows, TableKinds, table_of, with_evaluation};
use litepress_rows::sql_tokens::{Tokens, unquote};
use litepress_rows::sync::{Mutex, lock};
use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Batch, Connection};
use std::collections::HashMap;
use std::sync::Arc;

/// The schema of a database, without rows.
pub(super) struct Skeleton {
    sqlite: Connection,
    statements: StatementWatch,
    /// Root pages in the real database, by name.
    roots: HashMap<String, u32>,
    /// The encoding of the real database.
    encoding: TextEncoding,
}

/// The effect of statements: indexes to make, and names of those that exist already.
#[derive(Default)]
pub(super) struct StatementPlan {
    pub indexes: Vec<PlannedIndex>,
    pub existing: Vec<String>,
}

/// A row of `sqlite_schema`: type, name, table, root page, statement.
type SchemaRow = (String, String, String, Option<i64>, Option<String>);

impl Skeleton {
    /// Copies the schema of an open database with this encoding.
    pub fn of(connection: &Connection, encoding: TextEncoding) -> rusqlite::Result<Self> {
        let mut sqlite = Connection::open_in_memory()?;
        let statements = StatementWatch::of(&mut sqlite)?;
        let kinds = TableKinds::read(connection)?;
        let mut select =
            connection.prepare("SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema ORDER BY rowid")?;
        let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)))?;
        let rows: Vec<SchemaRow> = rows.collect::<rusqlite::Result<_>>()?;
        sqlite.execute_batch("BEGIN")?;
        for (number, (kind, name, ..)) in rows.iter().enumerate().filter(|(_, (.., root, _))| root.unwrap_or(0) > 0) {
            let is_rowid_table = kind == "table" && !kinds.is_without_rowid(name);
            let form = if is_rowid_table { "(a)" } else { "(a PRIMARY KEY) WITHOUT ROWID" };
            sqlite.execute_batch(&format!("CREATE TABLE r{number}{form}"))?;
        }
        let roots_of_skeleton = roots(&sqlite)?;
        sqlite.execute_batch("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema")?;
        let mut insert = sqlite.prepare("INSERT INTO sqlite_schema VALUES (?1, ?2, ?3, ?4, ?5)")?;
        for (number, (kind, name, table, root, sql)) in rows.iter().enumerate() {
            let root = roots_of_skeleton.get(&format!("r{number}")).copied().map(i64::from).or(*root);
            insert.execute((kind, name, table, root, sql))?;
        }
        drop(insert);
        sqlite.execute_batch("PRAGMA schema_version = 1000; COMMIT; PRAGMA writable_schema = RESET")?;
        Ok(Self { sqlite, statements, roots: roots(connection)?, encoding })
    }

    /// Plans the indexes of CREATE INDEX statements.
    pub fn plan(&self, statements: &[String]) -> Result<StatementPlan> {
        let mut planned = StatementPlan::default();
        for text in statements {
            run_create_index(&self.sqlite, &self.statements, text, |name, is_new| {
                if !is_new {
                    planned.existing.push(name.to_owned());
                    return Ok(());
                }
                planned.indexes.push(self.planned(name)?);
                Ok(())
            })?;
        }
        Ok(planned)
    }

    /// Plans to make indexes again: those of these names, those of tables of these names, or all without a name.
    pub fn plan_again(&self, names: &[String]) -> Result<StatementPlan> {
        let explain = |error| explain(&error);
        let mut select = self
            .sqlite
            .prepare("SELECT name, tbl_name FROM sqlite_schema WHERE type = 'index' AND rootpage > 0 ORDER BY rowid")
            .map_err(explain)?;
        let all = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).map_err(explain)?;
        let mut all: Vec<(String, String)> = all.collect::<rusqlite::Result<_>>().map_err(explain)?;
        // The key of a WITHOUT ROWID table is the table itself; it has no tree of its own.
        let is_named = |(index, table): &(String, String), name: &String| {
            index.eq_ignore_ascii_case(name) || table.eq_ignore_ascii_case(name)
        };
        let is_table = |name: &String| self.roots.keys().any(|known| known.eq_ignore_ascii_case(name));
        if let Some(unknown) = names.iter().find(|name| !is_table(name)) {
            let message = format!("there is no table or index {unknown}");
            return Err(Error::new(ErrorKind::Usage, message).advise("name a table or an index of the database"));
        }
        all.retain(|index| names.is_empty() || names.iter().any(|name| is_named(index, name)));
        let indexes = all.iter().map(|(name, _)| self.planned(name)).collect::<Result<_>>()?;
        Ok(StatementPlan { indexes, existing: Vec::new() })
    }

    /// Plans an index of the skeleton.
    fn planned(&self, name: &str) -> Result<PlannedIndex> {
        let find = || {
            let (table, sql): (String, Option<String>) = self.sqlite.query_row(
                "SELECT tbl_name, sql FROM sqlite_schema WHERE name = ?1 AND type = 'index'",
                [name],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
            let table = table_of(&self.sqlite, &TableKinds::read(&self.sqlite)?, &table)?;
            let table = table.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
            Ok((with_evaluation(&self.sqlite, table)?, sql))
        };
        let (table, sql) = find().map_err(|error| explain(&error))?;
        let index: &Index = table
            .indexes
            .iter()
            .find(|index| index.name == name)
            .ok_or_else(|| Error::new(ErrorKind::Schema, format!("SQLite does not know the index {name}")))?;
        let table_root = self.roots.get(&table.name).copied().unwrap_or(0);
        let plan = IndexPlan::evaluated(&table, index).map(|plan| plan.in_encoding(self.encoding));
        let older = if plan.is_ok() { OlderRows::of(&table, self.encoding) } else { OlderRows::default() };
        let old_root = self.roots.get(name).copied();
        Ok(PlannedIndex { name: name.to_owned(), table, table_root, sql, plan, old_root, older })
    }
}

/// Runs CREATE INDEX statements, and nothing else. `made` gets the name of each index, and whether it is new.
pub(super) fn run_create_index(
    sqlite: &Connection,
    statements: &StatementWatch,
    text: &str,
    mut made: impl FnMut(&str, bool) -> Result<()>,
) -> Result<()> {
    let explained = |error: rusqlite::Error| explain(&error).with_value(text);
    let mut batch = Batch::new(sqlite, text);
    let mut count = 0;
    loop {
        let (statement, seen) = statements.watch(|| batch.next());
        if let Some(refused) = seen.refused {
            let message = format!("only CREATE INDEX is possible here, not {refused}");
            return Err(Error::new(ErrorKind::Usage, message).with_value(text));
        }
        let Some(mut statement) = statement.map_err(explained)? else { break };
        let before = names_of_indexes(sqlite).map_err(explained)?;
        statement.raw_execute().map_err(explained)?;
        let sql = statement.expanded_sql().unwrap_or_default();
        drop(statement);
        let after = names_of_indexes(sqlite).map_err(explained)?;
        count += 1;
        match after.iter().find(|name| !before.contains(name)) {
            Some(new) => made(new, true)?,
            None => made(&seen.index.or_else(|| existing_name(&sql)).unwrap_or_else(|| text.to_owned()), false)?,
        }
    }
    if count == 0 {
        let error = Error::new(ErrorKind::Usage, "this is not a statement").with_value(text);
        return Err(error.advise("give CREATE INDEX statements"));
    }
    Ok(())
}

/// Watches the actions of statements while they are compiled.
pub(super) struct StatementWatch(Arc<Mutex<Option<StatementActions>>>);

/// The actions of a statement.
#[derive(Default)]
struct StatementActions {
    index: Option<String>,
    refused: Option<String>,
}

impl StatementWatch {
    /// Begins to watch a connection. Actions are allowed unless [`watch`](Self::watch) runs.
    pub fn of(sqlite: &mut Connection) -> rusqlite::Result<Self> {
        let seen = Arc::new(Mutex::new(None::<StatementActions>));
        let noted = seen.clone();
        sqlite.authorizer(Some(move |context: AuthContext<'_>| match &mut *lock(&noted) {
            Some(seen) => seen.judge(context.action),
            None => Authorization::Allow,
        }))?;
        Ok(Self(seen))
    }

    /// Watches `compile`. Returns its result, and the actions.
    fn watch<T>(&self, compile: impl FnOnce() -> T) -> (T, StatementActions) {
        *lock(&self.0) = Some(StatementActions::default());
        let compiled = compile();
        (compiled, lock(&self.0).take().unwrap_or_default())
    }
}

impl StatementActions {
    fn judge(&mut self, action: AuthAction<'_>) -> Authorization {
        match action {
            AuthAction::CreateIndex { index_name, .. } => {
                self.index = Some(index_name.to_owned());
                Authorization::Allow
            }
            AuthAction::Insert { table_name: "sqlite_master" | "sqlite_schema" }
            | AuthAction::Update { table_name: "sqlite_master" | "sqlite_schema", .. }
            | AuthAction::Reindex { .. }
            | AuthAction::Read { .. }
            | AuthAction::Function { .. } => Authorization::Allow,
            other => {
                let name = format!("{other:?}");
                let word = name.split([' ', '{']).next().unwrap_or_default().to_owned();
                self.refused.get_or_insert(word);
                Authorization::Deny
            }
        }
    }
}

/// Returns the name behind IF NOT EXISTS in a valid statement.
fn existing_name(sql: &str) -> Option<String> {
    let mut tokens = Tokens::new(sql).map(|token| &sql[token.span]);
    tokens.find(|token| token.eq_ignore_ascii_case("exists"))?;
    let first = tokens.next()?;
    let name = if tokens.next() == Some(".") { tokens.next()? } else { first };
    Some(unquote(name))
}

fn names_of_indexes(sqlite: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut select = sqlite.prepare("SELECT name FROM sqlite_schema WHERE type = 'index' ORDER BY rowid")?;
    let names = select.query_map([], |row| row.get(0))?;
    names.collect()
}

fn explain(error: &rusqlite::Error) -> Error {
    Failures::of(&crate::Progress::default()).explain(error, ErrorKind::Schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_index_that_exists() {
        for (sql, name) in [
            ("CREATE INDEX IF NOT EXISTS a ON t (b)", "a"),
            ("create unique index if not exists main . [a b] on t (b)", "a b"),
            ("CREATE INDEX IF NOT EXISTS \"main\".\"a\"\"b\" ON t (b)", "a\"b"),
        ] {
            assert_eq!(existing_name(sql).as_deref(), Some(name), "{sql}");
        }
    }
}
