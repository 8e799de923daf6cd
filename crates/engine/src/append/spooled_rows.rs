//! Reads the rows of an append before the lock of writers is taken.

use super::page_candidates::PageCandidates;
use crate::index::Indexes;
use crate::options::{MIN_MEMORY_BYTES, Options, Target};
use crate::resources::{bounded, sort_options, temp_dir};
use crate::spool::{Spool, SpoolBudget};
use crate::{Result, Schema, plan};
use litepress_rows::Source;
use std::path::Path;

/// One part in this many of the memory is for rows that wait.
const SPOOL_SHARE: u64 = 4;

/// The share of rows that a program passes to several tables at the same time.
const OTHER_SPOOLS_SHARE: u64 = 8;

/// Returns the options for what happens while rows wait: they leave less memory.
#[must_use]
pub fn beside_spools(options: &Options) -> Options {
    let spools = options.memory_bytes / SPOOL_SHARE + options.memory_bytes / OTHER_SPOOLS_SHARE;
    let memory_bytes = options.memory_bytes - spools;
    Options { memory_bytes: memory_bytes.max(MIN_MEMORY_BYTES.min(options.memory_bytes)), ..options.clone() }
}

/// Reads all rows of the sources, for the tables at these positions of the schema. Rows behind the last row of a candidate become
/// leaf pages, and their index entries are extracted.
///
/// # Errors
/// Errors of the sources; a temporary file that cannot be written.
pub fn spool_rows(
    path: &Path,
    schema: &Schema,
    options: &Options,
    candidates: &PageCandidates,
    sources: &[(usize, &dyn Source)],
) -> Result<Vec<(usize, Spool)>> {
    let folder = temp_dir(&Target::File(path.to_owned()), options);
    let memory = usize::try_from(options.memory_bytes / SPOOL_SHARE).unwrap_or(usize::MAX);
    let mut budget = SpoolBudget::new(memory, &folder);
    let options = bounded(&beside_spools(options))?;
    let mut spools = Vec::new();
    for &(position, source) in sources {
        let table = &schema.tables[position];
        let leaves = candidates.leaves(position);
        let (plans, has_checks) = match &leaves {
            Some(_) => (plan::indexes(table), plan::checks_rows(table)),
            None => (Vec::new(), false),
        };
        // The sorts of all tables live until the lock is taken.
        let sorts = sources.len() * plans.len().max(1);
        let entries = Indexes::new(plans, &sort_options(&options, &folder, sorts)).evaluating(table, has_checks)?;
        let spool = Spool::like(source, table).in_leaves(leaves);
        spools.push((position, spool.fill(source, &mut budget, entries, options.threads, &options.progress)?));
    }
    Ok(spools)
}
