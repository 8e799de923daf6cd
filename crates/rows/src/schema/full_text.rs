//! Full-text tables of FTS5: asks SQLite where they keep their texts, and how they index them.

use super::{Generated, Table};
use crate::sqlite::is_let_down;
use crate::sync::{Mutex, lock};
use crate::{Result, quoted_name};
use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use std::collections::HashSet;
use std::sync::Arc;

/// A full-text table of FTS5.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FullText {
    /// Its CREATE VIRTUAL TABLE statement, as `sqlite_schema` has it.
    pub sql: String,
    /// The columns of its table `%_content`, if it has one.
    pub content_columns: Vec<String>,
    /// The place of its texts.
    pub content: TextContent,
    /// Doclists have position lists, as they have unless `detail=none`.
    pub has_positions: bool,
    /// The statements that set its options: `INSERT INTO t(t, rank) VALUES ('pgsz', 1000)`.
    pub settings: Vec<String>,
    /// The size of its leaves in bytes, if it is set (`pgsz`).
    pub leaf_bytes: Option<usize>,
}

/// The place of the texts of a full-text table.
#[derive(Clone, Debug)]
pub enum TextContent {
    /// Its table `%_content`.
    Own,
    /// Its table `%_content`, which a trigger fills from another rowid table. The columns of that table are those of the full-text
    /// table, as positions.
    Copied(Box<Table>, Vec<usize>),
    /// Nowhere (`content=''`).
    Nowhere,
    /// Nowhere, but its table `%_content` has the columns that are not indexed (`contentless_unindexed=1`).
    Unindexed,
    /// Another rowid table (`content=docs`). Its columns are those of the full-text table, as positions.
    Table(Box<Table>, Vec<usize>),
    /// A table that only SQLite can read for it; the reason.
    Elsewhere(String),
    /// A table that SQLite cannot read for it; the reason.
    Missing(String),
}

/// The results of asking SQLite about a full-text table.
#[derive(Debug)]
pub(super) struct FullTextProbe {
    has_positions: bool,
    /// The tables and columns that SQLite reads to index the texts again, in the order of reading.
    reads: Vec<(String, String)>,
    failure: Option<String>,
    settings: Vec<String>,
    leaf_bytes: Option<usize>,
}

/// Returns whether anything was indexed or stored in the full-text table `name` of FTS5.
pub(super) fn has_rows(sqlite: &Connection, name: &str) -> rusqlite::Result<bool> {
    let shadow = |suffix: &str| quoted_name(&format!("{name}_{suffix}"));
    // Beside segments there are two rows. The first one counts rows and tokens.
    let index = format!("SELECT count(*) > 2 OR max(id = 1 AND ltrim(hex(block), '0') <> '') FROM {}", shadow("data"));
    if sqlite.query_row(&index, [], |row| row.get(0))? {
        return Ok(true);
    }
    for table in ["content", "docsize"] {
        if sqlite.table_exists(Some("main"), format!("{name}_{table}").as_str())?
            && sqlite.prepare(&format!("SELECT 1 FROM {}", shadow(table)))?.exists([])?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the statements that set the options of a full-text table once more, and the size of its leaves, if it is set.
fn settings(sqlite: &Connection, name: &str) -> rusqlite::Result<(Vec<String>, Option<usize>)> {
    let (table, config) = (quoted_name(name), quoted_name(&format!("{name}_config")));
    let sql = format!("SELECT k, quote(k), quote(v), v FROM {config} WHERE k <> 'version' ORDER BY k");
    let (mut settings, mut leaf_bytes) = (Vec::new(), None);
    let mut statement = sqlite.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (key, value): (String, String) = (row.get(1)?, row.get(2)?);
        settings.push(format!("INSERT INTO {table}({table}, rank) VALUES ({key}, {value})"));
        if row.get_ref(0)?.as_str()? == "pgsz" {
            leaf_bytes = Some(row.get(3)?);
        }
    }
    Ok((settings, leaf_bytes))
}

/// Asks SQLite about the full-text table `name`, whose database is in memory and has no rows.
pub(super) fn probe(sqlite: &mut Connection, name: &str) -> rusqlite::Result<FullTextProbe> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let reads = seen.clone();
    sqlite.authorizer(Some(move |context: AuthContext<'_>| {
        if let AuthAction::Read { table_name, column_name } = context.action {
            lock(&reads).push((table_name.to_owned(), column_name.to_owned()));
        }
        Authorization::Allow
    }))?;
    let quoted = quoted_name(name);
    let rebuilt = sqlite.execute(&format!("INSERT INTO {quoted}({quoted}) VALUES ('rebuild')"), []);
    sqlite.authorizer(None::<fn(AuthContext<'_>) -> Authorization>)?;
    let has_positions = full_text_has_positions(sqlite, name)?;
    let (settings, leaf_bytes) = settings(sqlite, name)?;
    let reads = std::mem::take(&mut *lock(&seen));
    Ok(FullTextProbe {
        has_positions,
        reads,
        failure: rebuilt.err().map(|error| error.to_string()),
        settings,
        leaf_bytes,
    })
}

/// Returns whether the doclists of a full-text table of FTS5 have position lists, as they have unless `detail=none`.
///
/// # Errors
/// If SQLite cannot read the table's definition, or the system lets it down.
pub fn full_text_has_positions(sqlite: &Connection, name: &str) -> rusqlite::Result<bool> {
    let quoted = quoted_name(name);
    let column: String =
        sqlite
            .query_row("SELECT name FROM temp.pragma_table_info(?) ORDER BY cid LIMIT 1", [name], |row| row.get(0))?;
    // Only without positions, SQLite refuses to look into one column. Three letters are one token to every tokenizer.
    let term = format!("{} : wor", quoted_name(&column));
    let found = sqlite
        .prepare(&format!("SELECT 1 FROM {quoted} WHERE {quoted} MATCH ?"))
        .and_then(|mut statement| statement.exists([term]));
    match found {
        Err(error) if is_let_down(&error) => Err(error),
        found => Ok(!found.is_err_and(|error| error.to_string().contains("detail=none"))),
    }
}

impl FullTextProbe {
    /// Describes the full-text table. `columns` are those that rows are given for, `shadows` its shadow tables, and `find`
    /// returns a table of the schema.
    pub fn describe(
        &self,
        table: &Table,
        sql: &str,
        shadows: &HashSet<String>,
        find: impl Fn(&str) -> Option<Table>,
    ) -> FullText {
        let own = |suffix: &str| shadows.contains(&format!("{}_{suffix}", table.name));
        let is_own = |name: &str| shadows.contains(name) && name.starts_with(&table.name);
        let content_table = find(&format!("{}_content", table.name)).filter(|_| own("content"));
        let columns = content_table.into_iter().flat_map(|content| content.columns);
        let content_columns: Vec<String> = columns.map(|column| column.name).collect();
        let content = if own("content") {
            let has_all = content_columns.len() > table.ordinary_columns().count();
            if has_all { TextContent::Own } else { TextContent::Unindexed }
        } else if self.failure.as_ref().is_some_and(|why| why.contains("contentless")) {
            TextContent::Nowhere
        } else if let Some(failure) = &self.failure {
            TextContent::Missing(format!("SQLite cannot read its texts: {failure}"))
        } else {
            let reads: Vec<&(String, String)> =
                self.reads.iter().filter(|(name, _)| !is_own(name) && !name.starts_with("sqlite_")).collect();
            Self::content_table(table, &reads, find).unwrap_or_else(TextContent::Elsewhere)
        };
        let Self { has_positions, leaf_bytes, .. } = *self;
        let settings = self.settings.clone();
        FullText { sql: sql.to_owned(), content_columns, content, has_positions, settings, leaf_bytes }
    }

    /// Returns the other table with the texts, or why only SQLite can read it. `reads` are the columns that SQLite reads.
    fn content_table(
        table: &Table,
        reads: &[&(String, String)],
        find: impl Fn(&str) -> Option<Table>,
    ) -> Result<TextContent, String> {
        let Some((name, rowid)) = reads.first() else { return Err("its texts are in no table".to_owned()) };
        if reads.iter().any(|(other, _)| other != name) {
            return Err("its texts come from a view".to_owned());
        }
        let other = find(name).filter(|other| !other.is_virtual && !other.without_rowid);
        let other = other.ok_or_else(|| format!("its texts are in {name}, which is no rowid table"))?;
        let alias = other.rowid_alias.map_or("ROWID", |alias| &other.columns[alias].name);
        if !rowid.eq_ignore_ascii_case(alias) {
            return Err(format!("its rowids are the column {rowid} of {name}, which is not the rowid"));
        }
        let position = |column: usize| {
            let column = &table.columns[column].name;
            let position = other.column(column).filter(|&at| other.columns[at].generated == Generated::No);
            position.ok_or_else(|| format!("its column {column} is computed in {name}"))
        };
        let columns = table.ordinary_columns().map(position).collect::<Result<Vec<usize>, String>>()?;
        Ok(TextContent::Table(Box::new(other), columns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schema;

    #[test]
    fn sqlite_tells_where_texts_are() {
        let sql =
            "CREATE TABLE docs (id INTEGER PRIMARY KEY, title TEXT, n INT, \"odd, name\" TEXT, c AS (n + 1), k UNIQUE);
            CREATE TABLE bare (title, body);
            CREATE VIEW v AS SELECT id, title FROM docs;
            CREATE TABLE keyed (id INTEGER PRIMARY KEY, title) WITHOUT ROWID;
            CREATE VIRTUAL TABLE own USING fts5(title, body, detail=none);
            CREATE VIRTUAL TABLE trigrams USING fts5(title, detail=none, tokenize=trigram);
            CREATE VIRTUAL TABLE located USING fts5(title, body, locale=1, detail='column');
            CREATE VIRTUAL TABLE nowhere USING fts5(title, body, content='');
            CREATE VIRTUAL TABLE deleted USING fts5(title, content='', contentless_delete=1);
            CREATE VIRTUAL TABLE unindexed USING fts5(title, n UNINDEXED, content='', contentless_unindexed=1);
            CREATE VIRTUAL TABLE f1 USING fts5(\"odd, name\", title, content = docs, content_rowid = id);
            CREATE VIRTUAL TABLE f2 USING fts5(body, title, content = \"bare\");
            CREATE VIRTUAL TABLE of_view USING fts5(title, content='v', content_rowid=id);
            CREATE VIRTUAL TABLE of_keyed USING fts5(title, content='keyed', content_rowid=id);
            CREATE VIRTUAL TABLE computed USING fts5(c, content='docs', content_rowid=id);
            CREATE VIRTUAL TABLE other_key USING fts5(title, content='docs', content_rowid=k);
            CREATE VIRTUAL TABLE missing USING fts5(title, content='none');
            CREATE VIRTUAL TABLE old USING fts4(title)";
        let schema = Schema::from_sql(sql, "<test>").unwrap();
        let told = |name: &str| {
            let full_text = schema.table(name).unwrap().full_text.clone()?;
            let content = match full_text.content {
                TextContent::Table(table, columns) => format!("{} {columns:?}", table.name),
                TextContent::Elsewhere(why) | TextContent::Missing(why) => why,
                other => format!("{other:?}"),
            };
            Some((content, full_text.has_positions))
        };
        for (name, content, has_positions) in [
            ("own", "Own", false),
            ("trigrams", "Own", false),
            ("located", "Own", true),
            ("nowhere", "Nowhere", true),
            ("deleted", "Nowhere", true),
            ("unindexed", "Unindexed", true),
            ("f1", "docs [3, 1]", true),
            ("f2", "bare [1, 0]", true),
            ("of_view", "its texts come from a view", true),
            ("of_keyed", "its texts are in keyed, which is no rowid table", true),
            ("computed", "its column c is computed in docs", true),
            ("other_key", "its rowids are the column k of docs, which is not the rowid", true),
            ("missing", "SQLite cannot read its texts: no such table: main.none", true),
        ] {
            assert_eq!(told(name), Some((content.to_owned(), has_positions)), "{name}");
        }
        assert_eq!((told("old"), told("docs")), (None, None));
    }
}
