//! Looks at each shard once: its schema, the roots of its tables, their least and largest rowids.

use crate::shard::{MOST_KEPT, OpenShard};
use litepress_format::header::{TextEncoding, WAL_VERSION};
use litepress_rows::sqlite::{refuse_shared_roots, without_views};
use litepress_rows::sync::{Mutex, lock, on_threads};
use litepress_rows::{Error, Part, RecordChunk, Result, quoted_name};
use litepress_scan::{FileStamp, TableScan};
use rusqlite::{Connection, OptionalExtension};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The names of a rowid, as far as no column has them.
const ROWID_NAMES: [&str; 3] = ["rowid", "_rowid_", "oid"];

/// A row of `sqlite_schema`, without SQLite's own tables and automatic indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    /// `table`, `index`, `view` or `trigger`.
    pub kind: String,
    pub name: String,
    /// The table of an index or a trigger; else its own name.
    pub table: String,
    pub sql: String,
}

/// The kind of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableKind {
    /// The name under which SQL reads its rowid; `None` if columns have all of them.
    Rowid(Option<&'static str>),
    WithoutRowid,
    Virtual,
    /// It belongs to a virtual table.
    Shadow,
}

/// The schema of one or more shards.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Catalogue {
    pub objects: Vec<Object>,
    /// The kind of each object that is a table.
    pub kinds: Vec<Option<TableKind>>,
}

/// The facts of a table of a shard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TableFacts {
    pub root: u32,
    /// The least and the largest rowid; `None` without rows, and for tables without rowids.
    pub rowids: Option<(i64, i64)>,
    /// Its number in `sqlite_sequence`.
    pub sequence: Option<i64>,
}

/// Settings that belong to the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub page_size: u32,
    pub is_wal: bool,
    pub encoding: TextEncoding,
    pub auto_vacuum: u8,
    pub user_version: i32,
    pub application_id: i32,
    pub has_statistics: bool,
}

/// A shard as it was found.
#[derive(Debug)]
pub(crate) struct Survey {
    pub name: PathBuf,
    pub stamp: FileStamp,
    /// The counter in the header, which commits outside WAL mode raise.
    pub change_counter: u32,
    /// Bytes of its pages.
    pub bytes: u64,
    pub catalogue: Arc<Catalogue>,
    /// The facts of each object that is a table with a tree.
    pub facts: Vec<Option<TableFacts>>,
    pub settings: Settings,
    /// The shard itself, if it stays open.
    kept: Option<Arc<OpenShard>>,
}

impl Survey {
    /// Surveys a shard.
    fn of(name: &Path, is_kept: bool, known: &Mutex<Vec<Arc<Catalogue>>>) -> Result<Self> {
        let stamp = FileStamp::of(name)?;
        let shard = OpenShard::open(name)?;
        let (catalogue, mut facts, settings) = {
            let connection = shard.connection();
            read(&connection, &shard, known).map_err(|error| shard.failure(error))?
        };
        for ((object, kind), facts) in catalogue.objects.iter().zip(&catalogue.kinds).zip(&mut facts) {
            if let (Some(TableKind::Rowid(None)), Some(facts)) = (kind, facts) {
                facts.rowids = scanned_rowids(&shard, &object.name, facts.root)?;
            }
        }
        shard.check_unchanged()?;
        let pages = u64::from(shard.snapshot().page_count());
        let bytes = pages * shard.snapshot().page_size().bytes() as u64;
        let change_counter = shard.snapshot().header().change_counter;
        let kept = is_kept.then(|| Arc::new(shard));
        Ok(Self { name: name.to_owned(), stamp, change_counter, bytes, catalogue, facts, settings, kept })
    }

    /// Opens the shard as it was surveyed.
    pub fn open(&self) -> Result<Arc<OpenShard>> {
        match &self.kept {
            Some(shard) => Ok(shard.clone()),
            None => OpenShard::reopen(&self.name, &self.stamp, self.change_counter).map(Arc::new),
        }
    }

    /// Returns the facts of the table of this name.
    pub fn table(&self, name: &str) -> Option<TableFacts> {
        let is_it = |object: &Object| object.kind == "table" && object.name.eq_ignore_ascii_case(name);
        self.facts[self.catalogue.objects.iter().position(is_it)?]
    }
}

/// Surveys all shards, several at a time.
///
/// # Errors
/// The error of the first shard that cannot be read.
pub(crate) fn survey(
    files: &[PathBuf],
    threads: usize,
    go_on: &(dyn Fn() -> Result<()> + Sync),
) -> Result<Vec<Survey>> {
    let (next, catalogues) = (AtomicUsize::new(0), Mutex::default());
    let done: Mutex<Vec<(usize, Result<Survey>)>> = Mutex::default();
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = files.get(number) else { return };
            let surveyed = go_on().and_then(|()| Survey::of(file, files.len() <= MOST_KEPT, &catalogues));
            if surveyed.is_err() {
                next.store(files.len(), Ordering::Relaxed);
            }
            lock(&done).push((number, surveyed));
        }
    };
    on_threads(threads.clamp(1, files.len()), work);
    let mut surveys = done.into_inner().unwrap_or_default();
    surveys.sort_by_key(|(number, _)| *number);
    surveys.into_iter().map(|(_, survey)| survey).collect()
}

type Found = (Arc<Catalogue>, Vec<Option<TableFacts>>, Settings);

fn read(connection: &Connection, shard: &OpenShard, known: &Mutex<Vec<Arc<Catalogue>>>) -> rusqlite::Result<Found> {
    let sql = "SELECT type, name, tbl_name, sql, rootpage FROM sqlite_schema ORDER BY rowid";
    let (mut objects, mut roots, mut has_sequence, mut has_statistics) = (Vec::new(), Vec::new(), false, false);
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (name, sql): (String, Option<String>) = (row.get(1)?, row.get(3)?);
        has_sequence |= name == "sqlite_sequence";
        has_statistics |= name == "sqlite_stat1";
        if let Some(sql) = sql.filter(|_| !name.to_ascii_lowercase().starts_with("sqlite_")) {
            objects.push(Object { kind: row.get(0)?, name, table: row.get(2)?, sql });
            roots.push(row.get::<_, Option<u32>>(4)?.unwrap_or(0));
        }
    }
    refuse_shared_roots(objects.iter().map(|object| object.name.as_str()).zip(roots.iter().copied()))?;
    let catalogue = catalogue(connection, objects, known)?;
    let mut facts = Vec::with_capacity(roots.len());
    for ((object, kind), &root) in catalogue.objects.iter().zip(&catalogue.kinds).zip(&roots) {
        facts.push(match kind {
            Some(TableKind::Rowid(name)) => {
                let rowids = name.map(|name| rowids(connection, &object.name, name)).transpose()?.flatten();
                let sequence = if has_sequence { sequence(connection, &object.name)? } else { None };
                Some(TableFacts { root, rowids, sequence })
            }
            Some(TableKind::WithoutRowid) => Some(TableFacts { root, ..TableFacts::default() }),
            _ => None,
        });
    }
    let number = |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let snapshot = shard.snapshot();
    let settings = Settings {
        page_size: u32::try_from(snapshot.page_size().bytes()).unwrap_or(u32::MAX),
        // A file that is read without locks has another PRAGMA journal_mode.
        is_wal: snapshot.header().read_version == WAL_VERSION,
        encoding: snapshot.encoding(),
        auto_vacuum: u8::try_from(number("auto_vacuum")?).unwrap_or_default(),
        user_version: i32::try_from(number("user_version")?).unwrap_or_default(),
        application_id: i32::try_from(number("application_id")?).unwrap_or_default(),
        has_statistics,
    };
    Ok((catalogue, facts, settings))
}

/// Returns the catalogue with these objects. Shards with equal ones share it.
fn catalogue(
    connection: &Connection,
    objects: Vec<Object>,
    known: &Mutex<Vec<Arc<Catalogue>>>,
) -> rusqlite::Result<Arc<Catalogue>> {
    if let Some(found) = lock(known).iter().find(|catalogue| catalogue.objects == objects) {
        return Ok(found.clone());
    }
    let kind = |object: &Object| (object.kind == "table").then(|| kind_of(connection, &object.name)).transpose();
    let kinds = without_views(connection, || objects.iter().map(kind).collect())?;
    let catalogue = Arc::new(Catalogue { objects, kinds });
    lock(known).push(catalogue.clone());
    Ok(catalogue)
}

fn kind_of(connection: &Connection, table: &str) -> rusqlite::Result<TableKind> {
    let sql = "SELECT type, wr FROM temp.pragma_table_list(?1) WHERE schema = 'main'";
    let (kind, without_rowid): (String, bool) =
        connection.query_row(sql, [table], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(match kind.as_str() {
        "virtual" => TableKind::Virtual,
        "shadow" => TableKind::Shadow,
        _ if without_rowid => TableKind::WithoutRowid,
        _ => TableKind::Rowid(rowid_name(connection, table)?),
    })
}

fn rowid_name(connection: &Connection, table: &str) -> rusqlite::Result<Option<&'static str>> {
    let mut statement = connection.prepare("SELECT lower(name) FROM temp.pragma_table_xinfo(?1)")?;
    let columns: Vec<String> = statement.query_map([table], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let is_free = |name: &&&str| !columns.iter().any(|column| column == **name);
    Ok(ROWID_NAMES.iter().find(is_free).copied())
}

/// Returns the least and the largest rowid of a table whose columns have all names of the rowid: SQL cannot ask for them.
fn scanned_rowids(shard: &OpenShard, table: &str, root: u32) -> Result<Option<(i64, i64)>> {
    let scan = TableScan::new(shard.snapshot(), root, table)?;
    let (mut range, mut chunk) = (None, RecordChunk::new());
    while let Some(mut part) = scan.next_scan_part()? {
        loop {
            chunk.clear();
            part.fill(&mut chunk)?;
            let (Some(&first), Some(&last)) = (chunk.rowids().first(), chunk.rowids().last()) else { break };
            range = Some((range.map_or(first, |(least, _)| least), last));
        }
    }
    Ok(range)
}

fn rowids(connection: &Connection, table: &str, rowid: &str) -> rusqlite::Result<Option<(i64, i64)>> {
    // Each of the two descends the tree once.
    let table = quoted_name(table);
    let sql = format!("SELECT (SELECT min({rowid}) FROM main.{table}), (SELECT max({rowid}) FROM main.{table})");
    connection.query_row(&sql, [], |row| Ok(row.get::<_, Option<i64>>(0)?.zip(row.get(1)?)))
}

fn sequence(connection: &Connection, table: &str) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT max(CASE WHEN typeof(seq) = 'integer' THEN seq END) FROM main.sqlite_sequence WHERE name = ?1";
    connection.query_row(sql, [table], |row| row.get(0)).optional().map(Option::flatten)
}

/// Returns an error about a shard.
pub(crate) fn of_shard(survey: &Survey, error: Error) -> Error {
    if error.place().file.is_some() { error } else { error.in_file(&survey.name) }
}
