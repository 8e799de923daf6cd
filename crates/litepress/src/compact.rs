//! Copies of databases without free space.
//!
//! ```text
//! compact          options, the report, and the order of the steps
//!  |- source       the database that is read: one transaction, its pages, the rows of sqlite_schema
//!  |- choice       which objects the copy has
//!  |- needs        tables that these objects need, and rowids
//!  |- trees        the trees of these objects, verbatim or without the rows of those that are left out
//!  `- without_rowid  tables whose rows are sorted by their primary key
//! ```
//!
//! SQLite has no part in the copy: records and index entries stay as they are, so that rowids, encodings, collations and modules
//! that this program does not know are kept.

mod choice;
mod needs;
mod options;
mod report;
mod source;
mod trees;
mod without_rowid;

use crate::build::refuse_special_target;
use crate::observer::{Measured, Meter, Sample, Stage, Unit};
use crate::report::BuildReport;
use crate::{Error, ErrorKind, Options, Result, Target};
use choice::Choice;
use litepress_engine::{CopiedDatabase, begin_replacing};
use litepress_rows::{OptionName, message};
use needs::Definitions;
pub use options::CompactOptions;
pub use report::CompactReport;
use source::SourceDatabase;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use trees::Trees;
use without_rowid::Conversion;

/// Copies a database without its free space to `target`, or replaces it by the copy if there is no target. Rows keep their rowids.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("t.db");
/// # let mut db = litepress::Writer::create(&path, "CREATE TABLE t (a INTEGER)")?;
/// # (0..100).try_for_each(|row| db.table("t")?.insert([row]))?;
/// # db.finish()?;
/// use litepress::{CompactOptions, Target, compact};
///
/// let report = compact(&path, Some(Target::from(folder.path().join("copy.db"))), &CompactOptions::default())?;
/// assert_eq!(report.build.summary.rows, 100);
/// let report = compact(&path, None, &CompactOptions::default())?;
/// assert!(report.build.summary.bytes <= report.bytes_before);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the database cannot be read or is corrupt, has a setting that the copy cannot have, or lacks an object that the options name; if
/// it is in use or was changed meanwhile, and is to be replaced; errors of the engine.
pub fn compact(database: impl AsRef<Path>, target: Option<Target>, options: &CompactOptions) -> Result<CompactReport> {
    let (started, database) = (Instant::now(), database.as_ref());
    let mut build = options.build.clone();
    let is_database = |target: &Target| matches!(target, Target::File(path) if is_same_path(path, database));
    let target = match target.filter(|target| !(build.overwrite && is_database(target))) {
        Some(target) => target,
        None => {
            let stamp = begin_replacing(database)?.ok_or_else(|| source::missing(database))?;
            build.successor_of = Some(stamp);
            build.overwrite = true;
            Target::from(database)
        }
    };
    refuse_special_target(&target)?;
    if build.analyze {
        let message = "statistics of a database are copied as they are, and not made";
        return Err(Error::new(ErrorKind::Usage, message).advise("run ANALYZE on the copy"));
    }
    options.observer.enter(Stage::Build);
    let source = SourceDatabase::open(database)?;
    check_settings(&source, options)?;
    let report = Copy { source, target, options, started }.run(build);
    options.observer.enter(Stage::Over);
    report
}

/// Returns whether two paths lead to one name of a file. Another name of it (a hard link) is another target.
fn is_same_path(one: &Path, other: &Path) -> bool {
    let real = |path| fs::canonicalize(path).ok();
    real(one).is_some_and(|one| real(other) == Some(one))
}

/// Fails if the copy cannot have a setting of the database, unless that is allowed.
fn check_settings(source: &SourceDatabase, options: &CompactOptions) -> Result<()> {
    let header = source.snapshot.header();
    if header.reserved == 0 || options.allow_incomplete {
        return Ok(());
    }
    let bytes = header.reserved;
    let what =
        format!("{bytes} bytes of each page are reserved for an extension of SQLite, and the copy would not have them");
    let advice = message!["make a copy without that with ", OptionName::AllowIncomplete.alone(), ", or use VACUUM"];
    Err(Error::new(ErrorKind::Unsupported, what).in_file(&source.path).advise(advice))
}

/// A copy to make.
struct Copy<'o> {
    source: SourceDatabase,
    target: Target,
    options: &'o CompactOptions,
    started: Instant,
}

impl Copy<'_> {
    fn run(self, mut build: Options) -> Result<CompactReport> {
        let Self { source, target, options, started } = self;
        let mut choice = Choice::new(&source, options)?;
        let conversions = conversions(&source, &mut choice, &options.without_rowid)?;
        // Pages may be half empty: more is not certain to be needed.
        build.expected_bytes = source.used_bytes() / 2;
        let (header, bytes_before) = (source.next_header(), source.bytes());
        let page_size = build.page_size.unwrap_or(header.page_size);
        let read = Arc::new(AtomicU64::new(0));
        let measured = Measured::begin(&*options.observer, meter(&build, read.clone(), source.used_bytes()));
        let mut copy = CopiedDatabase::create(&target, page_size, &build)?;
        let trees = Trees { source: &source, choice: &choice, conversions: &conversions, read: &read };
        copy.expect(trees.count(), trees.tables());
        if header.largest_root_page != 0 {
            copy.keep_auto_vacuum(trees.count(), header.incremental_vacuum)?;
        }
        let copied = trees.copy(&mut copy)?;
        let names = choice.names(&source);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        source.moment.check_unchanged()?;
        // A database that is replaced must not be open.
        drop(source);
        let finished = copy.finish(&copied.schema, &names, header);
        drop(measured);
        let file = if let Target::File(file) = &target { Some(file.clone()) } else { None };
        let build = BuildReport::new(finished?, file, started, build);
        Ok(CompactReport { build, bytes_before, indexes: copied.indexes, left_out: choice.left_out })
    }
}

/// Plans the tables that the copy has WITHOUT ROWID.
fn conversions(source: &SourceDatabase, choice: &mut Choice, names: &[String]) -> Result<Vec<Conversion>> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let (definitions, mut planned) = (Definitions::of(source), Vec::new());
    for name in names {
        planned.push(Conversion::new(source, choice, name)?);
        if let Some(broken) = definitions.broken_by(choice, &planned)? {
            return Err(without_rowid::breaks(source, name, &broken));
        }
    }
    names.iter().for_each(|name| choice.drop_statistics(source, name));
    Ok(planned)
}

fn meter(build: &Options, read: Arc<AtomicU64>, total: u64) -> Meter {
    let progress = build.progress.clone();
    Meter::new(Unit::InputBytes, move || {
        let done = read.load(Ordering::Relaxed).min(total);
        Sample { done, total, bytes: progress.bytes(), phase: progress.phase() }
    })
}
