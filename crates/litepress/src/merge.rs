//! Databases of one schema become one.

mod plan;

use crate::build::{refuse_special_target, refuse_target_among};
use crate::choices::Choice;
use crate::load::notes::foreign_keys;
use crate::manifest::{Manifest, Shard};
use crate::observer::{Measured, Meter, NullObserver, Observer, Sample, Stage, Unit};
use crate::report::BuildReport;
use crate::{Conflict, Database, Error, ErrorKind, Finished, Options, Result, Target};
use litepress_engine::{Averages, TakeTerm, TextIndexes};
use litepress_merge::{MergePlan, TextIndex};
use litepress_rows::{Message, OptionName, RecordChunk, Source, Words, message};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

pub use litepress_merge::RowidPolicy;
pub use plan::plan_merge;

/// Options of [`merge`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MergeOptions {
    /// Options of the database. Its page size is by default that of the first database.
    pub build: Options,
    /// What becomes of rowids, by table; `None` stands for every table without a policy.
    pub rowids: Vec<(Option<String>, RowidPolicy)>,
    /// Column that is added to every table, with the path of each row's database.
    pub source_column: Option<String>,
    /// Whether tables and other objects are merged that some databases lack.
    pub union: bool,
    /// Tables that are left out.
    pub skip_tables: Vec<String>,
    /// Hears of the progress.
    pub observer: Arc<dyn Observer>,
    /// Refuses files before they are opened, for a face that must not open some.
    #[doc(hidden)]
    pub path_guard: Option<fn(&Path) -> Result<()>>,
}

impl Default for MergeOptions {
    fn default() -> Self {
        Self {
            build: Options::default(),
            rowids: Vec::new(),
            source_column: None,
            union: false,
            skip_tables: Vec::new(),
            observer: Arc::new(NullObserver),
            path_guard: None,
        }
    }
}

impl MergeOptions {
    /// Sets the options of the database.
    #[must_use]
    pub fn build(mut self, build: Options) -> Self {
        self.build = build;
        self
    }

    /// Sets what becomes of the rowids of every table without a policy.
    #[must_use]
    pub fn rowids(mut self, policy: RowidPolicy) -> Self {
        self.rowids.push((None, policy));
        self
    }

    /// Sets what becomes of the rowids of a table.
    #[must_use]
    pub fn table_rowids(mut self, table: impl Into<String>, policy: RowidPolicy) -> Self {
        self.rowids.push((Some(table.into()), policy));
        self
    }

    /// Sets the column for the path of each row's database.
    #[must_use]
    pub fn source_column(mut self, column: impl Into<String>) -> Self {
        self.source_column = Some(column.into());
        self
    }

    /// Sets whether objects are merged that some databases lack.
    #[must_use]
    pub fn union(mut self, union: bool) -> Self {
        self.union = union;
        self
    }

    /// Leaves a table out, with its indexes and triggers.
    #[must_use]
    pub fn skip_table(mut self, table: impl Into<String>) -> Self {
        self.skip_tables.push(table.into());
        self
    }

    /// Sets the observer.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = observer;
        self
    }
}

/// The report of a merge.
#[derive(Debug)]
#[non_exhaustive]
pub struct MergeReport {
    /// The report of the database.
    pub build: BuildReport,
    /// Number of merged databases.
    pub databases: usize,
    /// Bytes of the merged databases.
    pub database_bytes: u64,
    /// Number of rows that the policy for conflicts left out or replaced.
    pub ignored: u64,
    /// Notes: settings that differ, rows with new rowids, foreign keys that were not checked.
    pub notes: Vec<Message>,
}

impl MergeReport {
    /// Returns the report for programs.
    pub fn to_json(&self, words: &dyn Words) -> Value {
        let mut json = self.build.to_json();
        json["databases"] = json!(self.databases);
        json["database_bytes"] = json!(self.database_bytes);
        json["ignored"] = json!(self.ignored);
        json["notes"] = self.notes.iter().map(|note| note.in_words(words)).collect();
        json
    }
}

impl Choice for RowidPolicy {
    const CHOICES: &'static [(&'static str, Self)] = &[("keep", Self::Keep), ("renumber", Self::Renumber)];
}

/// Merges databases of one schema into one: files, patterns of files, and folders. Each is read at one moment, and stays as it is.
///
/// ```
/// use litepress::{MergeOptions, RowidPolicy, merge};
///
/// # let folder = tempfile::tempdir()?;
/// # let [one, two, all] = ["1.db", "2.db", "all.db"].map(|name| folder.path().join(name));
/// for shard in [&one, &two] {
///     let mut database = litepress::Writer::create(shard, "CREATE TABLE log (id INTEGER PRIMARY KEY, text TEXT)")?;
///     database.table("log")?.insert((1, "started"))?;
///     database.finish()?;
/// }
/// let options = MergeOptions::default().rowids(RowidPolicy::Renumber).source_column("shard");
/// let report = merge(&*all, [one, two], &options)?;
/// assert_eq!(report.build.summary.rows, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a database cannot be read, was changed meanwhile, or has another schema than the others; if two rows have the same key and the
/// policy is to abort; if foreign keys cannot follow renumbered rowids; if the source column breaks a trigger or a view; errors of the
/// engine. The target is then as it was.
pub fn merge(
    target: impl Into<Target>,
    files: impl IntoIterator<Item = impl Into<PathBuf>>,
    options: &MergeOptions,
) -> Result<MergeReport> {
    let (started, target) = (Instant::now(), target.into());
    options.observer.enter(Stage::Inspect);
    let files = databases(Some(&target), files, options)?;
    let progress = options.build.progress.clone();
    let plan = MergePlan::new(&files, &plan_options(options, false), &|| progress.go_on())?;
    let build = build_options(&plan, options);
    options.observer.enter(Stage::Build);
    let measured = Measured::begin(&*options.observer, meter(&plan, options));
    let finished = fill(&plan, &target, &build);
    drop(measured);
    options.observer.enter(Stage::Over);
    let finished = finished.map_err(|error| plan.explain(error))?;
    let file = if let Target::File(file) = target { Some(file) } else { None };
    let mut notes = plan.notes().to_vec();
    notes.extend(foreign_keys(plan.schema(), build.verify));
    let ignored = finished.summary.tables.iter().map(|table| table.left_out).sum();
    let (databases, database_bytes) = (plan.shards(), plan.bytes());
    Ok(MergeReport {
        build: BuildReport::new(finished, file, started, build),
        databases,
        database_bytes,
        ignored,
        notes,
    })
}

/// Returns the databases to merge.
fn databases(
    target: Option<&Target>,
    files: impl IntoIterator<Item = impl Into<PathBuf>>,
    options: &MergeOptions,
) -> Result<Vec<PathBuf>> {
    if let Some(target) = target {
        refuse_special_target(target)?;
    }
    if options.build.on_conflict == Conflict::Update {
        let text = message![
            OptionName::OnConflict.word("update").given(),
            " is for rows that are added to a database, and this merge makes a new one"
        ];
        let error = Error::new(ErrorKind::Usage, text);
        return Err(error.advise(message!["keep the last of such rows with ", OptionName::OnConflict.word("replace")]));
    }
    let arguments: Vec<PathBuf> = files.into_iter().map(Into::into).collect();
    let arguments: Vec<Vec<PathBuf>> = arguments.into_iter().map(of_set).collect::<Result<_>>()?;
    let arguments = arguments.concat();
    if let Some(guard) = options.path_guard {
        // All files of a folder are opened, to see which are databases.
        arguments.iter().try_for_each(|argument| guard_folder(argument, guard))?;
    }
    let files = litepress_merge::files(&arguments)?;
    if let Some(guard) = options.path_guard {
        files.iter().try_for_each(|file| guard(file))?;
    }
    if let Some(Target::File(file)) = target {
        refuse_target_among(files.iter().map(PathBuf::as_path), file)?;
    }
    Ok(files)
}

/// Calls `guard` with the files of a folder. Other arguments have none.
fn guard_folder(argument: &Path, guard: fn(&Path) -> Result<()>) -> Result<()> {
    let Ok(entries) = fs::read_dir(argument) else { return Ok(()) };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    files.iter().try_for_each(|file| guard(file))
}

/// Returns the shards of a folder with a manifest, in its order. Anything else stands for itself.
fn of_set(argument: PathBuf) -> Result<Vec<PathBuf>> {
    let manifest = if argument.is_dir() { Manifest::of(&argument)? } else { None };
    let Some(manifest) = manifest else { return Ok(vec![argument]) };
    let file = |shard: &Shard| {
        let file = shard.path_in(&argument)?;
        let bytes = fs::metadata(&file).map_err(|error| Error::io("open", &file, error))?.len();
        if bytes != shard.bytes {
            let message = format!("the shard has {bytes} bytes, and the manifest says {}", shard.bytes);
            let error = Error::new(ErrorKind::Data, message).in_file(file);
            return Err(
                error.advise("find what else differs with `litepress check` of the folder, and write the shards again")
            );
        }
        Ok(file)
    };
    manifest.shards.iter().map(file).collect()
}

/// Returns the options of the plan.
fn plan_options(options: &MergeOptions, keeps_differences: bool) -> litepress_merge::MergeOptions {
    litepress_merge::MergeOptions {
        rowids: options.rowids.clone(),
        source_column: options.source_column.clone(),
        union: options.union,
        skip_tables: options.skip_tables.clone(),
        on_conflict: options.build.on_conflict,
        threads: options.build.threads,
        has_page_size: options.build.page_size.is_some(),
        keeps_differences,
    }
}

/// Returns the options of the merged database.
fn build_options(plan: &MergePlan, options: &MergeOptions) -> Options {
    let mut build = options.build.clone();
    build.analyze |= plan.has_statistics() && !build.part;
    if build.on_conflict == Conflict::Abort && options.skip_tables.is_empty() {
        // Pages of the databases may be half empty.
        build.expected_bytes = plan.bytes() / 2;
    }
    build
}

/// Builds the merged database, table after table.
fn fill(plan: &MergePlan, target: &Target, options: &Options) -> Result<Finished> {
    let mut database = Database::create(target, plan.schema().clone(), options)?;
    let has_rows = |&table: &usize| {
        let table = &plan.schema().tables[table];
        !table.is_virtual || table.full_text.is_some() || table.rtree.is_some()
    };
    let (tables, mut filled) = (database.filling_order(), Vec::new());
    let tables: Vec<usize> = tables.into_iter().filter(has_rows).collect();
    database.expect(&tables);
    for table in tables {
        if let Some(source) = plan.source(table) {
            database.fill(table, &source)?;
        } else if let Some(boxes) = plan.boxes(table) {
            let name = &plan.schema().tables[table].name;
            database.fill(table, &boxes).map_err(|error| plan.explain_id(error, name))?;
            filled.push(name.clone());
        } else if let Some(index) = plan.text_index(table)? {
            let name = &plan.schema().tables[table].name;
            database.fill_text_indexes(table, &JoinedTexts(&index)).map_err(|error| plan.explain_id(error, name))?;
            filled.push(name.clone());
        }
    }
    if !plan.has_virtual_tables() {
        return database.finish();
    }
    let mut by_modules = Vec::new();
    let mut finished = database.finish_with(&mut |connection| {
        by_modules = plan.fill_virtual_tables(connection, &filled)?;
        Ok(())
    })?;
    let summary = &mut finished.summary;
    for (name, rows) in by_modules {
        summary.tables.iter_mut().filter(|table| table.name == name).for_each(|table| table.rows += rows);
        summary.rows += rows;
    }
    Ok(finished)
}

/// The indexes of a full-text table, as the engine joins them.
struct JoinedTexts<'i>(&'i TextIndex<'i>);

impl TextIndexes for JoinedTexts<'_> {
    fn averages(&self) -> Averages {
        self.0.averages()
    }

    fn content(&self) -> Box<dyn Source + '_> {
        Box::new(self.0.rows("content"))
    }

    fn sizes(&self) -> Box<dyn Source + '_> {
        Box::new(self.0.rows("docsize"))
    }

    fn configuration(&self) -> Result<RecordChunk> {
        self.0.configuration()
    }

    fn count(&self) -> usize {
        self.0.count()
    }

    fn terms(&self, index: usize, take: TakeTerm<'_>) -> Result<()> {
        self.0.terms(index, take)
    }
}

fn meter(plan: &MergePlan, options: &MergeOptions) -> Meter {
    let (progress, read, total) = (options.build.progress.clone(), plan.bytes_read(), plan.bytes());
    Meter::new(Unit::InputBytes, move || {
        let done = read.load(Ordering::Relaxed).min(total);
        Sample { done, total, bytes: progress.bytes(), phase: progress.phase() }
    })
}
