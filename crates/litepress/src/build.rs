//! From sources of rows to a finished database.

use crate::observer::{Measured, Meter, Observer, Stage};
use crate::report::BuildReport;
use crate::{Database, Error, ErrorKind, Finished, Options, Result, Schema, Target};
use litepress_engine::Estimate;
use litepress_rows::Source;
use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

/// A database to build.
pub(crate) struct BuildJob<'a> {
    /// The schema.
    pub schema: &'a Schema,
    /// The rows of tables, by their position in [`Schema::tables`].
    pub sources: &'a [(usize, &'a dyn Source)],
    /// The place of the database.
    pub target: &'a Target,
    /// The start of the run, from which its time counts.
    pub started: Instant,
    /// Hears of the progress.
    pub observer: &'a dyn Observer,
}

impl BuildJob<'_> {
    /// Builds the database. `before_publishing` runs when all rows were read: if it fails, the target stays as it was.
    pub(crate) fn run(
        &self,
        mut options: Options,
        meter: Meter,
        before_publishing: &dyn Fn() -> Result<()>,
    ) -> Result<BuildReport> {
        options.expected_bytes = Estimate::new(self.schema, self.sources, self.target, &options)?.certain_bytes;
        let measured = Measured::begin(self.observer, meter);
        let finished = self.build(&options, before_publishing);
        drop(measured);
        self.observer.enter(Stage::Over);
        let file = if let Target::File(file) = self.target { Some(file.clone()) } else { None };
        Ok(BuildReport::new(finished?, file, self.started, options))
    }

    fn build(&self, options: &Options, before_publishing: &dyn Fn() -> Result<()>) -> Result<Finished> {
        let mut database = Database::create(self.target, self.schema.clone(), options)?;
        let sources: HashMap<usize, &dyn Source> = self.sources.iter().copied().collect();
        for table in database.filling_order() {
            if let Some(source) = sources.get(&table) {
                database.fill(table, *source)?;
            }
        }
        before_publishing()?;
        database.finish()
    }
}

/// Refuses names that SQLite and shells give a meaning of their own.
///
/// # Errors
/// `:memory:`, `-` and the empty name.
pub fn refuse_special_name(file: &Path) -> Result<()> {
    let message = match file.to_str() {
        Some(":memory:") => "a database in memory (:memory:) would be gone when this program ends",
        Some("-") => "a database cannot be written to standard output",
        Some("") => "the name of the database is empty",
        _ => return Ok(()),
    };
    Err(Error::new(ErrorKind::Usage, message).advise("name a file"))
}

/// Refuses a [special name](refuse_special_name) of a target that is a file.
pub(crate) fn refuse_special_target(target: &Target) -> Result<()> {
    if let Target::File(file) = target { refuse_special_name(file) } else { Ok(()) }
}
