//! Runs the user's DDL, statement by statement, in a database in memory.

use super::full_text::{self, FullTextProbe};
use super::{TableKinds, line_and_character};
use crate::sync::{Mutex, lock};
use crate::{Error, ErrorKind, Result, quoted_name};
use litepress_format::page::PageSize;
use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Batch, Connection, Statement};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A database in memory with the schema, and the statement of each table.
pub(super) struct ExecutedSchema {
    pub sqlite: Connection,
    /// The range of each table's CREATE statement.
    pub spans: HashMap<String, Range<usize>>,
    pub kinds: TableKinds,
    /// Shadow tables, in which virtual tables keep their data.
    pub shadows: HashSet<String>,
    /// The module of each virtual table.
    pub modules: HashMap<String, String>,
    /// The answers about full-text tables.
    pub full_texts: HashMap<String, FullTextProbe>,
    pub wal: bool,
    pub page_size: Option<u32>,
}

/// PRAGMAs that describe the file. They take effect.
const FILE_PRAGMAS: [&str; 4] = ["user_version", "application_id", "page_size", "journal_mode"];

/// PRAGMAs that concern only a connection and do not change the file. Dumps are full of them.
const CONNECTION_PRAGMAS: [&str; 9] = [
    "foreign_keys",
    "synchronous",
    "cache_size",
    "temp_store",
    "locking_mode",
    "busy_timeout",
    "mmap_size",
    "secure_delete",
    "recursive_triggers",
];

/// SQLite's own tables, as it defines them. `.schema` in its shell prints them with the others, but no CREATE TABLE may name
/// them.
const OWN_TABLES: [&str; 4] = [
    "createtablesqlite_sequence(name,seq)",
    "createtablesqlite_stat1(tbl,idx,stat)",
    "createtablesqlite_stat3(tbl,idx,neq,nlt,ndlt,sample)",
    "createtablesqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
];

/// The prefix of tables with statistics for SQLite's planner.
const STATISTICS: &str = "sqlite_stat";

/// The advice for using a dump as a schema.
const SCHEMA_ALONE: &str = "give the schema alone, which `sqlite3 old.db .schema` prints; `litepress load` takes rows from \
                            files and other databases";

/// PRAGMAs of the file that are accepted only with these values.
const RESTRICTED_PRAGMAS: [(&str, &[&str]); 2] = [("encoding", &["UTF-8", "UTF8"]), ("auto_vacuum", &["0", "NONE"])];

/// Maximum running time of the statements. Definitions take no time, but a query in one (CREATE TABLE AS SELECT) may never
/// end.
const MOST_TIME: Duration = Duration::from_secs(20);

/// Maximum size of the database with the schema, in pages. It has no rows, but a query in a definition may make any number.
const MOST_PAGES: u32 = 1 << 18;

/// Number of byte-code instructions of SQLite between two checks of the clock.
const INSTRUCTIONS_PER_LOOK: i32 = 1_000_000;

/// The authorizer's observations about the current statement.
#[derive(Default)]
struct AuthorizerState {
    denied: Option<Refusal>,
    created: Vec<String>,
    /// The statement is an ALTER TABLE.
    altered: bool,
    /// The table that the statement drops.
    dropped: Option<String>,
    makes_virtual_table: bool,
    /// Tables of FTS5.
    full_texts: Vec<String>,
    /// The table of FTS5 that the statement inserts into: a setting, and no row.
    configured: Option<String>,
    shadows: HashSet<String>,
    modules: HashMap<String, String>,
    wal: bool,
    page_size: Option<u32>,
}

/// The reason for refusing a statement.
struct Refusal {
    why: String,
    advice: Option<&'static str>,
}

impl From<String> for Refusal {
    fn from(why: String) -> Self {
        Self { why, advice: None }
    }
}

pub(super) fn run(text: &str, origin: &str) -> Result<ExecutedSchema> {
    if let Some(nul) = text.bytes().position(|byte| byte == 0) {
        return Err(refused("the schema holds a NUL character", text, origin, nul));
    }
    let mut sqlite = Connection::open_in_memory().map_err(|error| sqlite_failed(&error))?;
    sqlite.pragma_update(None, "max_page_count", MOST_PAGES).map_err(|error| sqlite_failed(&error))?;
    let watch = Arc::new(Mutex::new(AuthorizerState::default()));
    let seen = watch.clone();
    let authorizer = move |context: AuthContext<'_>| authorize(&context.action, &mut lock(&seen));
    sqlite.authorizer(Some(authorizer)).map_err(|error| sqlite_failed(&error))?;
    limit_time(&mut sqlite)?;
    let spans = run_statements(&sqlite, text, origin, &watch)?;
    sqlite.authorizer(None::<fn(AuthContext<'_>) -> Authorization>).map_err(|error| sqlite_failed(&error))?;
    drop_statistics(&sqlite).map_err(|error| sqlite_failed(&error))?;
    let kinds = TableKinds::read(&sqlite).map_err(|error| sqlite_failed(&error))?;
    // A table that was dropped again has no kind. Virtual tables may have their own rows.
    for (table, span) in spans.iter().filter(|(table, _)| kinds.is_ordinary(table)) {
        refuse_rows(&sqlite, table, text, origin, span.start)?;
    }
    for (table, span) in spans.iter().filter(|(table, _)| lock(&watch).full_texts.contains(table)) {
        // Rows of a transaction come into the index at its end.
        if kinds.is_virtual(table) && full_text::has_rows(&sqlite, table).map_err(|error| sqlite_failed(&error))? {
            let Refusal { why, .. } = rows_refusal("INSERT", table);
            return Err(refused(&why, text, origin, first_token(text, span.start)).advise(SCHEMA_ALONE));
        }
    }
    let mut watch = lock(&watch);
    let (shadows, modules) = (std::mem::take(&mut watch.shadows), std::mem::take(&mut watch.modules));
    let full_texts = std::mem::take(&mut watch.full_texts).into_iter().filter(|name| kinds.is_virtual(name));
    let full_texts = full_texts
        .map(|name| Ok((name.clone(), full_text::probe(&mut sqlite, &name)?)))
        .collect::<rusqlite::Result<_>>()
        .map_err(|error| sqlite_failed(&error))?;
    // A full-text table over a view asks for its rows, and there may be no end of them.
    sqlite.progress_handler(0, None::<fn() -> bool>).map_err(|error| sqlite_failed(&error))?;
    Ok(ExecutedSchema {
        sqlite,
        spans,
        kinds,
        shadows,
        modules,
        full_texts,
        wal: watch.wal,
        page_size: watch.page_size,
    })
}

/// Stops statements that run longer than any definition does.
pub(super) fn limit_time(sqlite: &mut Connection) -> Result<()> {
    let deadline = Instant::now() + MOST_TIME;
    sqlite
        .progress_handler(INSTRUCTIONS_PER_LOOK, Some(move || Instant::now() > deadline))
        .map_err(|error| sqlite_failed(&error))
}

fn run_statements(
    sqlite: &Connection,
    text: &str,
    origin: &str,
    watch: &Mutex<AuthorizerState>,
) -> Result<HashMap<String, Range<usize>>> {
    let mut spans = HashMap::new();
    // SQLite copies the rest of the text for each statement, unless it ends with a NUL.
    let terminated = format!("{text}\0");
    let mut batch = Batch::new(sqlite, &terminated);
    let mut at = 0;
    let seen = || lock(watch);
    loop {
        let explain = |error: &rusqlite::Error, start: usize| explain(error, seen().denied.take(), text, origin, start);
        if let Some(end) = end_of_own_table(text, at) {
            at = end;
            batch = Batch::new(sqlite, &terminated[at..]);
            continue;
        }
        let Some(mut statement) = batch.next().map_err(|error| explain(&error, at))? else {
            return Ok(spans);
        };
        let span = span_of(&statement, text, at);
        if statement.column_count() > 0 && statement.readonly() && !is_pragma(&text[span.clone()]) {
            return Err(refused("a query does not define anything", text, origin, first_token(text, span.start)));
        }
        run_to_end(&mut statement).map_err(|error| explain(&error, span.start))?;
        drop(statement);
        at = span.end;
        let configured = seen().configured.take();
        if let Some(table) = configured
            && full_text::has_rows(sqlite, &table).map_err(|error| sqlite_failed(&error))?
        {
            lock(watch).denied = Some(rows_refusal("INSERT", &table));
            return Err(explain(&rusqlite::Error::InvalidQuery, span.start));
        }
        let (created, altered) = {
            let mut watch = seen();
            watch.makes_virtual_table = false;
            watch.dropped = None;
            (std::mem::take(&mut watch.created), std::mem::take(&mut watch.altered))
        };
        if altered {
            follow_renames(sqlite, &mut spans, watch)?;
        }
        for table in created {
            spans.insert(table, span.clone());
        }
    }
}

/// Returns the end of the next statement, behind its semicolon, if it is one of [`OWN_TABLES`].
fn end_of_own_table(text: &str, from: usize) -> Option<usize> {
    let start = first_token(text, from);
    let len = text[start..].find(';').unwrap_or(text.len() - start);
    let is_blank_or_quote = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'[' | b']');
    let bytes = text[start..start + len].bytes().filter(|byte| !is_blank_or_quote(byte));
    // Longer than any of them with IF NOT EXISTS.
    let bare: Vec<u8> = bytes.take(100).map(|byte| byte.to_ascii_lowercase()).collect();
    let bare = String::from_utf8_lossy(&bare).replacen("createtableifnotexists", "createtable", 1);
    let end = text.len().min(start + len + 1);
    OWN_TABLES.contains(&bare.as_str()).then_some(end)
}

/// Drops the statistics of a dump: they describe the rows of the old database.
fn drop_statistics(sqlite: &Connection) -> rusqlite::Result<()> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'sqlite\\_stat%' ESCAPE '\\'";
    let names: Vec<String> = sqlite.prepare(sql)?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    names.iter().try_for_each(|name| sqlite.execute(&format!("DROP TABLE {name}"), []).map(drop))
}

/// Returns the range of the statement. SQLite keeps its text as given, including comments before it.
fn span_of(statement: &Statement<'_>, text: &str, at: usize) -> Range<usize> {
    let sql = statement.expanded_sql().unwrap_or_default();
    match text[at..].find(&sql) {
        Some(offset) => at + offset..at + offset + sql.len(),
        // A parameter is not kept as given.
        None => at..text.len(),
    }
}

fn run_to_end(statement: &mut Statement<'_>) -> rusqlite::Result<()> {
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

fn is_pragma(statement: &str) -> bool {
    let token = first_token(statement, 0);
    statement[token..].get(..6).is_some_and(|word| word.eq_ignore_ascii_case("pragma"))
}

/// Returns the offset of the first token at or after `from`. Skips blanks, comments and empty statements.
fn first_token(text: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = &text[at..];
        if rest.starts_with("--") {
            at += rest.find('\n').map_or(rest.len(), |newline| newline + 1);
        } else if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |close| close + 2);
        } else if rest.starts_with(|first: char| first == ';' || first.is_ascii_whitespace()) {
            at += 1;
        } else {
            return at;
        }
    }
}

/// Allows definitions and nothing else.
fn authorize(action: &AuthAction<'_>, watch: &mut AuthorizerState) -> Authorization {
    let denied = |why: &str| Some(Refusal::from(why.to_owned()));
    let refusal = match action {
        AuthAction::CreateTable { table_name } if watch.makes_virtual_table => {
            watch.shadows.insert((*table_name).to_owned());
            None
        }
        // SQLite adds sqlite_sequence for AUTOINCREMENT tables. In dumps, ANALYZE of the schema itself creates the statistics
        // tables and counts nothing.
        AuthAction::CreateTable { table_name } if table_name.starts_with("sqlite_") => None,
        AuthAction::CreateTable { table_name } => {
            watch.created.push((*table_name).to_owned());
            None
        }
        AuthAction::CreateVtable { table_name, module_name } => {
            watch.makes_virtual_table = true;
            watch.modules.insert((*table_name).to_owned(), module_name.to_ascii_lowercase());
            if module_name.eq_ignore_ascii_case("fts5") {
                watch.full_texts.push((*table_name).to_owned());
            }
            watch.created.push((*table_name).to_owned());
            None
        }
        AuthAction::DropTable { table_name }
        | AuthAction::DropView { view_name: table_name }
        | AuthAction::DropVtable { table_name, .. } => {
            watch.dropped = Some((*table_name).to_owned());
            None
        }
        AuthAction::AlterTable { .. } => {
            watch.altered = true;
            None
        }
        AuthAction::Pragma { pragma_name, pragma_value } => pragma(pragma_name, *pragma_value, watch),
        AuthAction::Insert { table_name } => {
            // Options of FTS5 are set by an INSERT, which is told from a row once it ran.
            if watch.configured.is_none() && watch.full_texts.iter().any(|name| name == table_name) {
                watch.configured = Some((*table_name).to_owned());
            }
            write_refusal("INSERT", table_name, watch)
        }
        AuthAction::Update { table_name, .. } => write_refusal("UPDATE", table_name, watch),
        AuthAction::Delete { table_name } => write_refusal("DELETE", table_name, watch),
        AuthAction::Attach { .. } | AuthAction::Detach { .. } => denied("ATTACH and DETACH are not allowed"),
        AuthAction::Analyze { .. } => denied("ANALYZE has nothing to count in a schema"),
        AuthAction::CreateTempTable { .. }
        | AuthAction::CreateTempIndex { .. }
        | AuthAction::CreateTempTrigger { .. }
        | AuthAction::CreateTempView { .. } => denied("a TEMP object is not part of a database file"),
        AuthAction::Function { function_name } if function_name.eq_ignore_ascii_case("load_extension") => {
            denied("load_extension() is not allowed")
        }
        _ => None,
    };
    match refusal {
        None => Authorization::Allow,
        Some(why) => {
            watch.denied.get_or_insert(why);
            Authorization::Deny
        }
    }
}

/// Refuses writes of rows. SQLite itself writes its own tables while it defines, virtual tables write theirs, and an INSERT sets options of FTS5. Dumps write
/// the numbers of AUTOINCREMENT tables, which are kept, and statistics, which are dropped.
fn write_refusal(verb: &str, table: &str, watch: &AuthorizerState) -> Option<Refusal> {
    let own = ["sqlite_master", "sqlite_schema", "sqlite_temp_master", "sqlite_sequence"].contains(&table)
        || table.starts_with(STATISTICS);
    let of_dropped = verb == "DELETE" && watch.dropped.as_deref() == Some(table);
    let configures = watch.configured.is_some() && (watch.shadows.contains(table) || is_configured(table, watch));
    (!own && !of_dropped && !watch.makes_virtual_table && !configures).then(|| rows_refusal(verb, table))
}

fn is_configured(table: &str, watch: &AuthorizerState) -> bool {
    watch.configured.as_deref() == Some(table)
}

fn rows_refusal(verb: &str, table: &str) -> Refusal {
    Refusal {
        why: format!("{verb} of rows ({table}) is not allowed: a schema defines and holds no rows"),
        advice: Some(SCHEMA_ALONE),
    }
}

fn pragma(name: &str, value: Option<&str>, watch: &mut AuthorizerState) -> Option<Refusal> {
    let name = name.to_ascii_lowercase();
    // ALTER TABLE ADD COLUMN runs it to find rows that break a CHECK constraint or a type, but there are no rows.
    if name == "quick_check" && watch.altered {
        return None;
    }
    let value = value?.trim_matches(['\'', '"']);
    if let Some((_, allowed)) = RESTRICTED_PRAGMAS.iter().find(|(restricted, _)| *restricted == name) {
        let taken = allowed.iter().any(|allowed| allowed.eq_ignore_ascii_case(value));
        return (!taken).then(|| format!("PRAGMA {name}={value} is not supported, only {name}={}", allowed[0]).into());
    }
    if name == "page_size" {
        // SQLite accepts it only for an empty database, and a database with other settings written is not empty.
        watch.page_size = value.parse().ok().filter(|&bytes| PageSize::new(bytes).is_some());
        return watch
            .page_size
            .is_none()
            .then(|| format!("PRAGMA page_size={value} is not possible: a power of two, 512 to 65536").into());
    }
    if name == "journal_mode" {
        watch.wal = value.eq_ignore_ascii_case("wal");
    }
    let known = FILE_PRAGMAS.contains(&name.as_str()) || CONNECTION_PRAGMAS.contains(&name.as_str());
    (!known).then(|| Refusal {
        why: format!("PRAGMA {name} is not supported in a schema"),
        // Dumps of virtual tables set it.
        advice: (name == "writable_schema").then_some(SCHEMA_ALONE),
    })
}

/// Follows renames after ALTER TABLE: a table that disappeared and one that appeared are the same. Shadow tables are renamed with
/// theirs.
fn follow_renames(
    sqlite: &Connection,
    spans: &mut HashMap<String, Range<usize>>,
    watch: &Mutex<AuthorizerState>,
) -> Result<()> {
    let names: Vec<String> = sqlite
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
        .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect())
        .map_err(|error| sqlite_failed(&error))?;
    // SQLite's authorizer takes the lock, too.
    let mut watch = lock(watch);
    let known: HashSet<&String> = names.iter().collect();
    let gone = spans.keys().find(|old| !known.contains(old)).cloned();
    let is_own = |name: &str| name.starts_with("sqlite_") || watch.shadows.contains(name);
    let come = names.iter().find(|name| !spans.contains_key(*name) && !is_own(name));
    let (Some(old), Some(new)) = (gone, come) else { return Ok(()) };
    if let Some(span) = spans.remove(&old) {
        spans.insert(new.clone(), span);
    }
    watch.full_texts.iter_mut().filter(|name| **name == old).for_each(|name| name.clone_from(new));
    if let Some(module) = watch.modules.remove(&old) {
        watch.modules.insert(new.clone(), module);
        let renamed = |name: String| match name.strip_prefix(&format!("{old}_")) {
            Some(suffix) if !known.contains(&name) => format!("{new}_{suffix}"),
            _ => name,
        };
        watch.shadows = std::mem::take(&mut watch.shadows).into_iter().map(renamed).collect();
    }
    Ok(())
}

/// Fails if CREATE TABLE ... AS SELECT filled the table: its rows would be lost silently.
fn refuse_rows(sqlite: &Connection, table: &str, text: &str, origin: &str, start: usize) -> Result<()> {
    let sql = format!("SELECT EXISTS (SELECT 1 FROM {})", quoted_name(table));
    if sqlite.query_row(&sql, [], |row| row.get(0)).map_err(|error| sqlite_failed(&error))? {
        let message = format!("CREATE TABLE {table} AS SELECT makes rows: a schema defines and holds no rows");
        return Err(refused(&message, text, origin, first_token(text, start)));
    }
    Ok(())
}

/// Returns SQLite's message, or the authorizer's refusal, with the place.
fn explain(error: &rusqlite::Error, denied: Option<Refusal>, text: &str, origin: &str, start: usize) -> Error {
    if let Some(Refusal { why, advice }) = denied {
        let error = refused(&why, text, origin, first_token(text, start));
        return match advice {
            Some(advice) => error.advise(advice),
            None => error,
        };
    }
    if error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted) {
        let message = format!(
            "the statement runs for more than {} s: a schema defines and computes nothing",
            MOST_TIME.as_secs()
        );
        return refused(&message, text, origin, first_token(text, start));
    }
    if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull) {
        let message = format!("the statement fills more than {MOST_PAGES} pages: a schema has definitions and no rows");
        return refused(&message, text, origin, first_token(text, start));
    }
    match error {
        rusqlite::Error::SqlInputError { msg, sql, offset, .. } => {
            // The text given to SQLite ends with a NUL.
            let offset = text.len() + 1 - sql.len() + usize::try_from(*offset).unwrap_or(0);
            refused(&format!("SQLite says: {msg}"), text, origin, offset)
        }
        rusqlite::Error::SqliteFailure(_, Some(message)) => {
            refused(&format!("SQLite says: {message}"), text, origin, first_token(text, start))
        }
        other => refused(&format!("SQLite says: {other}"), text, origin, first_token(text, start)),
    }
}

fn refused(message: &str, text: &str, origin: &str, offset: usize) -> Error {
    let (line, character) = line_and_character(text, offset);
    Error::new(ErrorKind::Schema, message).in_file(origin).at(line, character)
}

/// Converts a failure of SQLite that the user's text did not cause.
pub(super) fn sqlite_failed(error: &rusqlite::Error) -> Error {
    Error::new(ErrorKind::Schema, format!("SQLite says: {error}"))
}
