//! A database is made and watched: what all commands that make one do once they have sources.

use crate::audience::Audience;
use crate::commands::Verdict;
use crate::outcome::Outcome;
use crate::progress::Watch;
use crate::report::Report;
use litepress::{Database, Error, ErrorKind, Estimate, Finished, Options, Result, Schema, Target, Verify};
use litepress_rows::Source;
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

/// A database that is to be made.
pub struct Making<'a> {
    /// The schema as SQLite understands it.
    pub schema: &'a Schema,
    /// The rows of tables, by their position in [`Schema::tables`].
    pub sources: &'a [(usize, &'a dyn Source)],
    /// The file; `None` where pages are dropped.
    pub file: Option<&'a Path>,
    /// Since when the run's time counts.
    pub started: Instant,
}

/// What a command has to tell beyond what is told of every database.
#[derive(Debug, Default)]
pub struct Addition {
    /// Behind the report for people.
    pub text: String,
    /// Members of the report for programs.
    pub json: serde_json::Map<String, Value>,
}

/// A database that was made.
pub struct Made {
    finished: Finished,
    options: Options,
}

impl Making<'_> {
    /// Makes the database; `watch` shows what is done as long as it lives. `before_publishing` runs when all rows were
    /// read: if it fails, the target stays as it was.
    pub fn make(
        &self,
        mut options: Options,
        audience: &Audience,
        watch: impl FnOnce(&Options) -> Watch,
        before_publishing: &dyn Fn() -> Result<()>,
    ) -> Result<Made> {
        let target = self.file.map_or(Target::Discard, |file| Target::File(file.to_owned()));
        options.expected_bytes = Estimate::new(self.schema, self.sources, &target, &options)?.printed_bytes;
        let watch = watch(&options);
        let finished = self.press(&target, &options, before_publishing);
        drop(watch);
        audience.nothing_to_clean_up();
        Ok(Made { finished: finished?, options })
    }

    fn press(
        &self,
        target: &Target,
        options: &Options,
        before_publishing: &dyn Fn() -> Result<()>,
    ) -> Result<Finished> {
        let mut database = Database::create(target, self.schema.clone(), options)?;
        let sources: HashMap<usize, &dyn Source> = self.sources.iter().copied().collect();
        for table in database.filling_order() {
            if let Some(source) = sources.get(&table) {
                database.fill(table, *source)?;
            }
        }
        before_publishing()?;
        database.finish()
    }

    /// What there is to tell about the database.
    pub fn outcome(&self, made: &Made, addition: Addition) -> Outcome {
        let Made { finished, options } = made;
        let report = Report {
            summary: &finished.summary,
            file: self.file,
            wall: self.started.elapsed().saturating_sub(finished.summary.stages.verify),
            options,
        };
        // What SQLite complains of is an error: it has found nothing.
        let sqlite = (options.verify == Verify::Full).then(Vec::new);
        let verdict = finished.verified.clone().map(|report| Verdict { report, sqlite });
        let mut json = report.to_json();
        json["verify"] = verdict.as_ref().map_or(Value::Null, Verdict::to_json);
        json.as_object_mut().expect("a report is an object").extend(addition.json);
        let verdict = verdict.map(|verdict| format!("\nverify: {}", verdict.to_text())).unwrap_or_default();
        Outcome { text: report.to_text() + &addition.text + &verdict, json }
    }
}

/// Names that SQLite and shells give a meaning of their own.
pub fn refuse_special_names(out: &Path) -> Result<()> {
    let (message, advice) = match out.to_str() {
        Some(":memory:") => (
            "a database in memory (:memory:) would be gone when this program ends",
            "name a file, or measure with --discard; databases in memory are for programs that use the library",
        ),
        Some("-") => ("a database cannot be written to standard output", "name a file"),
        Some("") => ("the name of the database is empty", "name a file"),
        _ => return Ok(()),
    };
    Err(Error::new(ErrorKind::Usage, message).advise(advice))
}
