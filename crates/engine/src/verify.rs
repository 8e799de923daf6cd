//! Verifies the finished file before it gets its name.

use crate::options::{Options, Verify};
use crate::{Error, ErrorKind, Result};
use litepress_check::{CheckOptions, GoOn, Report, SqliteChecker, SqliteFaults, check};
use std::path::Path;
use std::sync::Arc;

/// Number of faults that an error shows. Further ones are counted.
const SHOWN_FAULTS: usize = 5;

/// Verifies the file as the options say. Errors call it by its future name, `target`. Returns the report of the check.
///
/// # Errors
/// [`ErrorKind::Constraint`] if rows break foreign keys, [`ErrorKind::Corrupt`] if the file is unsound.
pub(crate) fn verify(file: &Path, target: &Path, options: &Options) -> Result<Option<Report>> {
    if options.verify == Verify::None {
        return Ok(None);
    }
    let Options { threads, memory_bytes, progress, .. } = options;
    progress.enter("check");
    let check_options = CheckOptions {
        threads: *threads,
        memory_bytes: *memory_bytes,
        max_faults: SHOWN_FAULTS,
        ..CheckOptions::default()
    };
    let report = check(file, &check_options, &|_, _| progress.go_on())?;
    let lines = report.faults.iter().map(ToString::to_string).collect();
    let found = SqliteFaults { lines, total: report.faults_total, is_all: true };
    refuse(target, ErrorKind::Corrupt, "the finished file is unsound", &found)?;
    if options.verify == Verify::Full {
        progress.enter("check, by SQLite");
        let progress = progress.clone();
        let go_on: GoOn = Arc::new(move || progress.go_on());
        let sqlite = SqliteChecker::open(file, target, go_on)?;
        let found = sqlite.integrity_check(SHOWN_FAULTS)?;
        refuse(target, ErrorKind::Corrupt, "SQLite finds the finished file unsound", &found)?;
        let found = sqlite.foreign_key_check(SHOWN_FAULTS)?;
        refuse(target, ErrorKind::Constraint, "rows break foreign keys", &found)?;
    }
    Ok(Some(report))
}

/// Fails if there are faults. The error shows some of them, and the number of the others.
fn refuse(target: &Path, kind: ErrorKind, what: &str, found: &SqliteFaults) -> Result<()> {
    if found.total == 0 {
        return Ok(());
    }
    let advice = match kind {
        ErrorKind::Constraint => "give these columns values that their parents have",
        _ if found.lines.iter().all(|line| is_about_a_value(line)) => {
            "report it with the rows that hold these values: the pages are sound, so no other disk helps"
        }
        _ => "try again, on another disk too, and report it where it fails there as well",
    };
    let mut faults = found.lines.join("; ");
    let more = found.total - found.lines.len() as u64;
    if more > 0 {
        faults += &format!("; and {more} more{}", if found.is_all { "" } else { " at least" });
    }
    Err(Error::new(kind, format!("{what}: {faults}")).in_file(target).advise(advice))
}

/// Returns whether a fault is a value that its column refuses: `TEXT value in t.a`, as SQLite and
/// [`check`](litepress_check::check) say.
fn is_about_a_value(line: &str) -> bool {
    line.contains(" value in ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error showed five faults, however many there were, and named neither the file nor a remedy.
    #[test]
    fn refusals_say_where_how_many_and_what_to_do() {
        let refused = |kind, lines: &[&str], total, is_all| {
            let found = SqliteFaults { lines: lines.iter().map(ToString::to_string).collect(), total, is_all };
            refuse(Path::new("t.db"), kind, "wrong", &found).map_err(|error| error.to_string())
        };
        assert_eq!(refused(ErrorKind::Corrupt, &[], 0, true), Ok(()));
        let advice = "try again, on another disk too, and report it where it fails there as well";
        assert_eq!(refused(ErrorKind::Corrupt, &["a"], 1, true), Err(format!("t.db: wrong: a; {advice}")));
        let counted = refused(ErrorKind::Corrupt, &["a", "b"], 9, false);
        assert_eq!(counted, Err(format!("t.db: wrong: a; b; and 7 more at least; {advice}")));
        // A load failed for texts with a NUL, and its user was sent to look for another disk.
        let advice = "report it with the rows that hold these values: the pages are sound, so no other disk helps";
        let value = refused(ErrorKind::Corrupt, &["TEXT value in t.i"], 1, true);
        assert_eq!(value, Err(format!("t.db: wrong: TEXT value in t.i; {advice}")));
        let of_check =
            refused(ErrorKind::Corrupt, &["page 2, byte 5: table t: NULL value in t.i"], 1, true).unwrap_err();
        assert!(of_check.ends_with(advice), "{of_check}");
        let mixed = refused(ErrorKind::Corrupt, &["TEXT value in t.i", "row 1 missing from index i"], 2, true);
        assert!(mixed.unwrap_err().contains("on another disk"));
        let broken = refused(ErrorKind::Constraint, &["a"], 4, true).unwrap_err();
        assert_eq!(broken, "t.db: wrong: a; and 3 more; give these columns values that their parents have");
    }
}
