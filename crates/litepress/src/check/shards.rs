//! Checks of a folder of databases: each by itself, and all of them against the manifest.

use super::{CheckOptions, CheckResult};
use crate::manifest::{Key, Manifest, NAME, Shard, is_of_a_job};
use crate::observer::{Measured, Meter, Sample, Unit};
use crate::{Error, ErrorKind, Result};
use litepress_check::Report;
use litepress_engine::Phase;
use litepress_format::header::MAGIC;
use litepress_format::sort_key::{self, Collation};
use litepress_format::value::Value;
use litepress_rows::cells::OwnedValue;
use litepress_rows::files::retry;
use litepress_rows::sqlite::open_immutable;
use litepress_rows::sqlite_value::{from_sqlite, parameter};
use litepress_rows::sync::{Mutex, ignore_poison, lock, on_threads};
use litepress_rows::{quote, quoted_name};
use rusqlite::Connection;
use serde_json::{Value as Json, json};
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Bytes that are read at once for a checksum.
const READ_BYTES: usize = 1 << 20;
/// The result of a check of a folder.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FolderCheck {
    /// Whether the folder has a manifest. Without one, each database was checked by itself.
    pub has_manifest: bool,
    /// Number of databases that were checked.
    pub databases: u64,
    /// Bytes of these databases.
    pub bytes: u64,
    /// Rows of the manifest's table in all of them; 0 without a manifest.
    pub rows: u64,
    /// Findings, in the order of the manifest, or of names: a file, and what is wrong with it.
    pub findings: Vec<(String, String)>,
    /// Number of all findings.
    pub findings_total: u64,
    /// Files of jobs that the manifest does not name. The next commit removes them.
    pub orphans: Vec<String>,
    /// Duration of the check.
    pub duration: Duration,
}

impl FolderCheck {
    /// Returns whether nothing was found. Orphans are no fault: they belong to no set.
    pub fn is_clean(&self) -> bool {
        self.findings_total == 0
    }

    /// Returns the result for programs.
    pub fn to_json(&self) -> Json {
        let findings = self.findings.iter().map(|(file, what)| json!({"file": file, "what": what}));
        json!({
            "ok": self.is_clean(),
            "manifest": self.has_manifest,
            "databases": self.databases,
            "bytes": self.bytes,
            "rows": self.has_manifest.then_some(self.rows),
            "faults_total": self.findings_total,
            "faults": findings.collect::<Vec<Json>>(),
            "orphans": self.orphans,
            "seconds": self.duration.as_secs_f64(),
        })
    }
}

/// Checks all databases of a folder, one a core: every page, and with a manifest files, bytes, checksums, schemas, rows, keys and values.
///
/// # Errors
/// If the folder has no database, or a manifest that cannot be read; if a page or a sample is wanted. A fault of a database is part of the result.
pub fn check_folder(folder: impl AsRef<Path>, options: &CheckOptions) -> Result<FolderCheck> {
    let (folder, started) = (folder.as_ref(), Instant::now());
    if options.html.is_some() {
        let error = Error::new(ErrorKind::Usage, "a page shows one database, and this is a folder").in_file(folder);
        return Err(error.advise("name one of its databases"));
    }
    if options.sample.is_some() {
        let error = Error::new(ErrorKind::Usage, "a sample is of one database, and this is a folder").in_file(folder);
        return Err(error.advise("name one of its databases"));
    }
    let manifest = Manifest::of(folder)?;
    let files = files_below(folder)?;
    let shards = match &manifest {
        Some(manifest) => manifest.shards.clone(),
        None => unlisted(folder, &files)?,
    };
    let check = Check { folder, manifest: manifest.as_ref(), options };
    let found = check.all(&shards)?;
    let bytes = found.iter().map(|found| found.bytes).sum();
    let rows = found.iter().map(|found| found.rows).sum();
    let of_files = shards.iter().zip(found);
    let mut findings: Vec<(String, String)> =
        of_files.flat_map(|(shard, found)| found.what.into_iter().map(|what| (shard.file.clone(), what))).collect();
    if let Some(manifest) = &manifest {
        findings.extend(of_the_whole(manifest));
    }
    let named: BTreeSet<&str> = shards.iter().map(|shard| &*shard.file).collect();
    let is_orphan = |file: &String| manifest.is_some() && is_of_a_job(file) && !named.contains(&**file);
    let orphans = files.into_iter().filter(is_orphan).collect();
    let findings_total = findings.len() as u64;
    findings.truncate(options.max_faults);
    Ok(FolderCheck {
        has_manifest: manifest.is_some(),
        databases: shards.len() as u64,
        bytes,
        rows,
        findings,
        findings_total,
        orphans,
        duration: started.elapsed(),
    })
}

/// Returns the files of a folder and of those below it, sorted, as paths from it.
fn files_below(folder: &Path) -> Result<Vec<String>> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(below) = folders.pop() {
        let path = folder.join(&below);
        let unreadable = |error| Error::io("read the folder", &path, error);
        for entry in fs::read_dir(&path).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let name = below.join(entry.file_name());
            let kind = entry.file_type().map_err(unreadable)?;
            if kind.is_dir() {
                // A link to a folder is left alone: it may lead back here.
                folders.push(name);
            } else if kind.is_file() || folder.join(&name).is_file() {
                // Opening a pipe would wait for ever.
                files.push(name.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/"));
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Returns the databases of a folder without a manifest, of which nothing is known.
fn unlisted(folder: &Path, files: &[String]) -> Result<Vec<Shard>> {
    let mut shards = Vec::new();
    for file in files {
        let path = folder.join(file);
        let mut head = Vec::new();
        let read = File::open(&path).and_then(|open| open.take(MAGIC.len() as u64).read_to_end(&mut head));
        read.map_err(|error| Error::io("read", &path, error))?;
        // A file of this name that is no database is a finding.
        if head == MAGIC || file.ends_with(".db") {
            let file = file.clone();
            shards.push(Shard { file, rows: 0, bytes: 0, checksum: None, smallest: None, largest: None, value: None });
        }
    }
    if shards.is_empty() {
        let error = Error::new(ErrorKind::Data, "the folder has neither a manifest nor a database").in_file(folder);
        return Err(error.advise(format!("name a database, or a folder that has databases or {NAME}")));
    }
    Ok(shards)
}

/// What was found in one file.
#[derive(Default)]
struct Found {
    bytes: u64,
    rows: u64,
    what: Vec<String>,
}

impl Found {
    /// Notes a difference between a file and the manifest.
    fn compare<T: PartialEq>(&mut self, name: &str, found: &T, told: &T, show: impl Fn(&T) -> String) {
        if found != told {
            self.what.push(format!("{name}: {} here, {} in the manifest", show(found), show(told)));
        }
    }
}

/// The check of a folder.
struct Check<'c> {
    folder: &'c Path,
    manifest: Option<&'c Manifest>,
    options: &'c CheckOptions,
}

impl Check<'_> {
    /// Checks all files, one a thread.
    fn all(&self, shards: &[Shard]) -> Result<Vec<Found>> {
        let done = std::sync::Arc::new(AtomicU64::new(0));
        let bytes = |shard: &Shard| fs::metadata(self.folder.join(&shard.file)).map_or(0, |metadata| metadata.len());
        let total: u64 = shards.iter().map(bytes).sum();
        let seen = done.clone();
        let meter = Meter::new(Unit::InputBytes, move || {
            let done = seen.load(Relaxed);
            Sample { done, total, bytes: done, phase: Phase::default() }
        });
        let measured = Measured::begin(&*self.options.observer, meter);
        let (next, found, failed) = (AtomicUsize::new(0), Mutex::new(HashMap::new()), Mutex::new(None));
        let work = || {
            while lock(&failed).is_none() {
                let number = next.fetch_add(1, Relaxed);
                let Some(shard) = shards.get(number) else { break };
                if let Err(error) = self.options.progress.go_on() {
                    lock(&failed).get_or_insert(error);
                    break;
                }
                let one = self.one(shard, shards.len());
                done.fetch_add(one.bytes, Relaxed);
                lock(&found).insert(number, one);
            }
        };
        let threads = self.options.threads.clamp(1, shards.len().max(1));
        on_threads(threads, work);
        drop(measured);
        if let Some(error) = ignore_poison(failed.into_inner()) {
            return Err(error);
        }
        let mut found = ignore_poison(found.into_inner());
        Ok((0..shards.len()).map(|number| found.remove(&number).unwrap_or_default()).collect())
    }

    /// Checks a file of `of`.
    fn one(&self, shard: &Shard, of: usize) -> Found {
        let mut found = Found::default();
        let path = match shard.path_in(self.folder) {
            Ok(path) => path,
            Err(error) => {
                found.what.push(error.message().to_string());
                return found;
            }
        };
        if !path.is_file() {
            found.what.push("the file is absent".to_owned());
        } else if let Err(error) = self.file(&path, shard, of, &mut found) {
            found.what.push(format!("the file cannot be read: {}", error.message()));
        }
        found
    }

    /// Checks pages, and what the manifest says.
    fn file(&self, path: &Path, shard: &Shard, of: usize, found: &mut Found) -> Result<()> {
        if self.manifest.is_some() {
            let (bytes, checksum) = checksum_of(path)?;
            found.bytes = bytes;
            found.compare("bytes", &bytes, &shard.bytes, u64::to_string);
            if let Some(told) = &shard.checksum {
                found.compare("checksum", &checksum, told, String::clone);
            }
        }
        // The cores work for one file only if there is no other.
        let threads = if of == 1 { self.options.threads } else { 1 };
        let memory = self.options.memory_bytes / if of == 1 { 1 } else { self.options.threads.max(1) as u64 };
        let options = litepress_check::CheckOptions {
            threads,
            memory_bytes: memory.max(crate::MIN_MEMORY_BYTES),
            max_faults: self.options.max_faults,
            ..litepress_check::CheckOptions::default()
        };
        let report = litepress_check::check(path, &options, &|_, _| self.options.progress.go_on())?;
        found.bytes = report.bytes;
        let result = match report.is_clean() {
            true => super::sqlite_check(path, report, self.options)?,
            false => CheckResult { report, sqlite: None },
        };
        found.what.extend(result.report.faults.iter().map(ToString::to_string));
        found.what.extend(result.sqlite.iter().flatten().cloned());
        match self.manifest {
            Some(manifest) if result.is_clean() => content(path, &result.report, manifest, shard, found),
            _ => Ok(()),
        }
    }
}

/// Compares schema, rows, keys and values of a sound database with the manifest.
fn content(path: &Path, report: &Report, manifest: &Manifest, shard: &Shard, found: &mut Found) -> Result<()> {
    let table = report.btrees.iter().find(|tree| tree.name == manifest.table);
    found.rows = table.map_or(0, |tree| tree.entries);
    found.compare("rows", &found.rows.clone(), &shard.rows, u64::to_string);
    let failed = |error: rusqlite::Error| Error::new(ErrorKind::Data, error.to_string());
    let path = fs::canonicalize(path).map_err(|error| Error::io("open", path, error))?;
    let database = open_immutable(&path).map_err(failed)?;
    let schema = schema_of(&database).map_err(failed)?;
    found.compare("schema", &schema, &manifest.schema, |statements| format!("{} statements", statements.len()));
    if table.is_none() {
        return Ok(());
    }
    for (name, order, told) in [("smallest key", "ASC", &shard.smallest), ("largest key", "DESC", &shard.largest)] {
        if told.is_some() {
            let end = key_at(&database, manifest, order).map_err(failed)?;
            let is_same = end.as_ref().zip(told.as_ref()).is_some_and(|(end, told)| compare(end, told).is_eq());
            if !is_same {
                let (end, told) = (shown(end.as_ref()), shown(told.as_ref()));
                found.what.push(format!("{name}: {end} here, {told} in the manifest"));
            }
        }
    }
    if let (Some(column), Some(value)) = (&manifest.column, &shard.value) {
        let (table, quoted) = (quoted_name(&manifest.table), quoted_name(column));
        let sql = format!("SELECT count(*) FROM {table} WHERE {quoted} COLLATE BINARY IS NOT ?1");
        let others: u64 = database.query_row(&sql, [parameter(value.as_value())], |row| row.get(0)).map_err(failed)?;
        if others > 0 {
            let value = quote(&value.as_value());
            found.what.push(format!("{others} rows have another value of {column} than {value}"));
        }
    }
    Ok(())
}

fn schema_of(database: &Connection) -> rusqlite::Result<Vec<String>> {
    let select =
        "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid";
    let mut ask = database.prepare(select)?;
    ask.query_map([], |row| row.get(0))?.collect()
}

/// Returns the first key in an order. `None` if the table is empty.
fn key_at(database: &Connection, manifest: &Manifest, order: &str) -> rusqlite::Result<Option<Key>> {
    let names: Vec<String> = manifest.primary_key.iter().map(|name| quoted_name(name)).collect();
    let ordered: Vec<String> = names.iter().map(|name| format!("{name} {order}")).collect();
    let (names, ordered, table) = (names.join(", "), ordered.join(", "), quoted_name(&manifest.table));
    let mut ask = database.prepare(&format!("SELECT {names} FROM {table} ORDER BY {ordered} LIMIT 1"))?;
    let mut rows = ask.query([])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let value = |column| row.get_ref(column).map(|value| owned(from_sqlite(value)));
    (0..manifest.primary_key.len()).map(value).collect::<rusqlite::Result<Key>>().map(Some)
}

fn owned(value: Value<'_>) -> OwnedValue {
    match value {
        Value::Null => OwnedValue::Null,
        Value::Int(int) => OwnedValue::Int(int),
        Value::Real(real) => OwnedValue::Real(real),
        Value::Text(text) => OwnedValue::Text(String::from_utf8_lossy(text).into_owned()),
        Value::Blob(blob) => OwnedValue::Blob(blob.to_vec()),
    }
}

/// Compares keys as SQLite does.
fn compare(one: &Key, other: &Key) -> Ordering {
    let pairs = one.iter().zip(other);
    let orders = pairs.map(|(one, other)| sort_key::compare(&one.as_value(), &other.as_value(), Collation::Binary));
    orders.fold(Ordering::Equal, Ordering::then).then(one.len().cmp(&other.len()))
}

fn shown(key: Option<&Key>) -> String {
    let values = key.map(|key| key.iter().map(|value| quote(&value.as_value())).collect::<Vec<_>>().join(", "));
    values.unwrap_or_else(|| "none".to_owned())
}

/// Returns what is wrong with the manifest itself: sums, ranges that overlap, files and values that are there twice.
fn of_the_whole(manifest: &Manifest) -> Vec<(String, String)> {
    let mut findings = Vec::new();
    let mut add = |file: &str, what: String| findings.push((file.to_owned(), what));
    let rows: u64 = manifest.shards.iter().map(|shard| shard.rows).sum();
    let bytes: u64 = manifest.shards.iter().map(|shard| shard.bytes).sum();
    for (name, sum, told) in [("rows", rows, manifest.rows), ("bytes", bytes, manifest.bytes)] {
        if sum != told {
            add(NAME, format!("{name}: the shards have {sum} together, and the manifest says {told}"));
        }
    }
    let mut files = HashMap::new();
    for shard in &manifest.shards {
        if files.insert(&*shard.file, ()).is_some() {
            add(&shard.file, "the manifest names the file twice".to_owned());
        }
    }
    for pair in manifest.shards.windows(2).filter(|_| manifest.is_by_range) {
        if let (Some(end), Some(begin)) = (&pair[0].largest, &pair[1].smallest)
            && compare(end, begin).is_ge()
        {
            let (begin, end) = (shown(Some(begin)), shown(Some(end)));
            add(&pair[1].file, format!("it begins with key {begin}, and {} ends with {end}", pair[0].file));
        }
    }
    let mut by_value: Vec<(&OwnedValue, &str)> =
        manifest.shards.iter().filter_map(|shard| Some((shard.value.as_ref()?, &*shard.file))).collect();
    let order =
        |one: &OwnedValue, other: &OwnedValue| sort_key::compare(&one.as_value(), &other.as_value(), Collation::Binary);
    by_value.sort_by(|one, other| order(one.0, other.0));
    for pair in by_value.windows(2).filter(|pair| order(pair[0].0, pair[1].0).is_eq()) {
        add(pair[1].1, format!("{} has the value {}, too", pair[0].1, quote(&pair[0].0.as_value())));
    }
    findings
}

/// Returns the bytes of a file, and its checksum.
fn checksum_of(path: &Path) -> Result<(u64, String)> {
    let failed = |error| Error::io("read", path, error);
    let mut file = File::open(path).map_err(failed)?;
    let (mut hasher, mut block, mut bytes) = (crc32fast::Hasher::new(), vec![0; READ_BYTES], 0);
    loop {
        let read = retry(|| file.read(&mut block)).map_err(failed)?;
        if read == 0 {
            return Ok((bytes, format!("crc32:{:08x}", hasher.finalize())));
        }
        hasher.update(&block[..read]);
        bytes += read as u64;
    }
}

#[cfg(test)]
mod tests;
