//! Parts that were printed elsewhere become one database.

use crate::build::{refuse_special_target, refuse_target_among};
use crate::load::notes::foreign_keys;
use crate::observer::{Measured, Meter, NullObserver, Observer, Sample, Stage, Unit};
use crate::report::BuildReport;
use crate::{Database, Error, ErrorKind, Finished, Options, Result, Target};
use litepress_engine::{PageCopy, Parts};
use litepress_rows::{Message, Words};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// Options of [`stitch`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StitchOptions {
    /// Options of the database. Its page size is that of the parts.
    pub build: Options,
    /// Whether pages that need no change are left out of the database, for a program that copies them:
    /// [`StitchReport::copies`].
    pub leaves_out_copies: bool,
    /// Hears of the progress.
    pub observer: Arc<dyn Observer>,
}

impl Default for StitchOptions {
    fn default() -> Self {
        Self { build: Options::default(), leaves_out_copies: false, observer: Arc::new(NullObserver) }
    }
}

impl StitchOptions {
    /// Sets the options of the database.
    #[must_use]
    pub fn build(mut self, build: Options) -> Self {
        self.build = build;
        self
    }

    /// Sets whether pages that need no change are left out of the database.
    #[must_use]
    pub fn leaves_out_copies(mut self, leaves_out: bool) -> Self {
        self.leaves_out_copies = leaves_out;
        self
    }

    /// Sets the observer.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = observer;
        self
    }
}

/// The report of a stitch.
#[derive(Debug)]
#[non_exhaustive]
pub struct StitchReport {
    /// The report of the database.
    pub build: BuildReport,
    /// Number of parts.
    pub parts: usize,
    /// Bytes of the parts.
    pub part_bytes: u64,
    /// Pieces of parts that are left out of the database, in the order of their offsets there; empty unless
    /// [asked for](StitchOptions::leaves_out_copies).
    pub copies: Vec<PageCopy>,
    /// Notes: foreign keys that were not checked.
    pub notes: Vec<Message>,
}

impl StitchReport {
    /// Returns the report for programs.
    pub fn to_json(&self, words: &dyn Words) -> Value {
        let mut json = self.build.to_json();
        json["parts"] = json!(self.parts);
        json["part_bytes"] = json!(self.part_bytes);
        json["notes"] = self.notes.iter().map(|note| note.in_words(words)).collect();
        json
    }
}

/// Makes one database of parts, which [`Options::part`] makes, in any order. They are only read.
///
/// ```
/// use litepress::{GenerateOptions, Options, Shard, StitchOptions, generate, stitch};
///
/// # let folder = tempfile::tempdir()?;
/// let schema = "CREATE TABLE user (id INTEGER PRIMARY KEY, area TEXT)";
/// let mut parts = Vec::new();
/// for number in 1..=2 {
///     let part = folder.path().join(format!("{number}.part"));
///     let options = GenerateOptions::default().build(Options::default().part(true)).rows(1000);
///     generate(&*part, schema, &options.shard(Shard::new(number, 2).expect("a shard")))?;
///     parts.push(part);
/// }
/// let report = stitch(folder.path().join("user.db"), parts, &StitchOptions::default())?;
/// assert_eq!(report.build.summary.rows, 1000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a file is no part, or a damaged one; if two parts have different schemas; if two rows have the same key; errors of the engine. The
/// target is then as it was.
pub fn stitch(
    target: impl Into<Target>,
    parts: impl IntoIterator<Item = impl Into<PathBuf>>,
    options: &StitchOptions,
) -> Result<StitchReport> {
    let (started, target) = (Instant::now(), target.into());
    refuse_special_target(&target)?;
    options.observer.enter(Stage::Inspect);
    let files: Vec<PathBuf> = parts.into_iter().map(Into::into).collect();
    if let Target::File(file) = &target {
        refuse_target_among(files.iter().map(PathBuf::as_path), file)?;
    }
    let parts = Parts::open(&files)?;
    let build = build_options(&parts, options)?;
    options.observer.enter(Stage::Build);
    let measured = Measured::begin(&*options.observer, meter(&parts, &build));
    let mut copies = Vec::new();
    let finished = fill(&parts, &target, &build, options.leaves_out_copies.then_some(&mut copies));
    drop(measured);
    options.observer.enter(Stage::Over);
    let (finished, file) = (finished?, if let Target::File(file) = target { Some(file) } else { None });
    copies.sort_by_key(|copy| copy.to);
    let notes = foreign_keys(parts.schema(), build.verify).into_iter().collect();
    let (count, part_bytes) = (files.len(), parts.bytes());
    Ok(StitchReport {
        build: BuildReport::new(finished, file, started, build),
        parts: count,
        part_bytes,
        copies,
        notes,
    })
}

/// Returns the options of the database.
fn build_options(parts: &Parts, options: &StitchOptions) -> Result<Options> {
    let mut build = options.build.clone();
    if build.part {
        let error = Error::new(ErrorKind::Usage, "parts are stitched to a database, not to a part");
        return Err(error.advise("stitch all parts at once"));
    }
    build.page_size = Some(parts.page_size());
    if !options.leaves_out_copies {
        build.expected_bytes = parts.bytes();
    } else if build.verify != crate::Verify::None {
        let error = Error::new(ErrorKind::Usage, "pages that are copied later cannot be verified now");
        return Err(error.advise("check the database once it is whole"));
    }
    Ok(build)
}

/// Builds the database, table after table.
fn fill(parts: &Parts, target: &Target, options: &Options, mut copies: Option<&mut Vec<PageCopy>>) -> Result<Finished> {
    let mut database = Database::create(target, parts.schema().clone(), options)?;
    let has_rows = |table: &usize| parts.has_rows(&parts.schema().tables[*table].name);
    let tables: Vec<usize> = database.filling_order().into_iter().filter(has_rows).collect();
    database.expect(&tables);
    for table in tables {
        database.stitch(table, parts, copies.as_deref_mut())?;
    }
    database.finish()
}

fn meter(parts: &Parts, options: &Options) -> Meter {
    let (progress, total) = (options.progress.clone(), parts.rows());
    Meter::new(Unit::Rows, move || {
        let (done, bytes, phase) = (progress.rows(), progress.bytes(), progress.phase());
        Sample { done, total, bytes, phase }
    })
}
