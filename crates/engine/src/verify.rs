//! A last look at the finished file, before it gets its name.

use crate::check::{self, CheckOptions, Report};
use crate::{Error, ErrorKind, Options, Result};
use std::path::Path;

/// How the finished file is checked before it gets its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verify {
    /// Not at all.
    #[default]
    None,
    /// Every page, by [`check`](check::check).
    Quick,
    /// By SQLite too: `integrity_check` and `foreign_key_check`.
    Full,
}

/// How many faults an error tells.
const SHOWN_FAULTS: usize = 5;

/// Checks the file as the options say; what was looked at.
///
/// # Errors
/// [`ErrorKind::Constraint`] where rows refer to rows that are not there, [`ErrorKind::Corrupt`] where the file is not
/// what it should be.
pub(crate) fn verify(file: &Path, options: &Options) -> Result<Option<Report>> {
    if options.verify == Verify::None {
        return Ok(None);
    }
    let Options { threads, memory_bytes, progress, .. } = options;
    progress.enter("check");
    let check_options = CheckOptions { threads: *threads, memory_bytes: *memory_bytes, max_faults: SHOWN_FAULTS };
    let report = check::check(file, &check_options, &|_, _| {})?;
    progress.go_on()?;
    refuse(ErrorKind::Corrupt, "the finished file is unsound", &report.faults)?;
    if options.verify == Verify::Full {
        progress.enter("check, by SQLite");
        let sqlite = check::Judge::open(file, progress)?;
        refuse(ErrorKind::Corrupt, "SQLite finds the finished file unsound", &sqlite.integrity_check(SHOWN_FAULTS)?)?;
        refuse(ErrorKind::Constraint, "rows break foreign keys", &sqlite.foreign_key_check(SHOWN_FAULTS)?)?;
    }
    Ok(Some(report))
}

fn refuse(kind: ErrorKind, what: &str, faults: &[impl ToString]) -> Result<()> {
    if faults.is_empty() {
        return Ok(());
    }
    let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
    Err(Error::new(kind, format!("{what}: {}", faults.join("; "))))
}
