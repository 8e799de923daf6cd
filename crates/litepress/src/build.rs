//! From sources of rows to a finished database.

use crate::observer::{Measured, Meter, Observer, Stage};
use crate::report::BuildReport;
use crate::{Database, Error, ErrorKind, Finished, Options, Result, Schema, Target};
use litepress_engine::Estimate;
use litepress_rows::Source;
use litepress_rows::files::FileId;
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
        database.expect(&sources.keys().copied().collect::<Vec<usize>>());
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

/// Refuses to replace a file that is read.
pub(crate) fn refuse_target_among<'s>(sources: impl IntoIterator<Item = &'s Path>, target: &Path) -> Result<()> {
    let Ok(target) = FileId::at(target) else { return Ok(()) };
    match sources.into_iter().find(|source| FileId::at(source).is_ok_and(|source| source == target)) {
        None => Ok(()),
        Some(source) => {
            let error = Error::new(ErrorKind::Usage, "the target is also a source").in_file(source);
            Err(error.advise("name another file for the new database, and rename it once it is made"))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{GenerateOptions, SchemaText, generate};

    /// The bar stood at 100 % while indexes were built and constraints checked: no one knew how much was left.
    #[test]
    fn every_phase_is_announced() {
        const TABLES: &str = "CREATE TABLE p (id INTEGER PRIMARY KEY, a TEXT UNIQUE, b INT CHECK (b >= 0));
            CREATE TABLE k (a TEXT PRIMARY KEY, b INT) WITHOUT ROWID;
            CREATE INDEX i ON p (b);";
        const BY_SQLITE: &str = "CREATE INDEX partial ON p (b) WHERE b > 5;
            CREATE VIEW v AS SELECT * FROM p;
            CREATE TABLE s (a INT UNIQUE, b INT UNIQUE, c AS (a + 1) STORED);
            CREATE VIRTUAL TABLE f USING fts5(a);";
        let folder = tempfile::tempdir().expect("a folder");
        for (number, sql) in [TABLES.to_owned(), format!("{TABLES}{BY_SQLITE}")].into_iter().enumerate() {
            for options in [GenerateOptions::default(), {
                let mut options = GenerateOptions::default();
                options.build.verify = crate::Verify::Full;
                options.build.analyze = true;
                options
            }] {
                let mut options = options.rows(100);
                options.build.overwrite = true;
                let progress = options.build.progress.clone();
                generate(folder.path().join(format!("{number}.db")), SchemaText::new(&sql, "test.sql"), &options)
                    .expect(&sql);
                let phase = progress.phase();
                assert!(phase.is_after_rows && phase.number == phase.count && phase.count >= 5, "{sql}: {phase:?}");
            }
        }
    }
}
