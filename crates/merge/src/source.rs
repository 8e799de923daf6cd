//! The rows of a table of all shards, shard after shard, as a source.
//!
//! ```text
//! a large shard              its parts are those of the scan: groups of leaves
//! several small ones         one part; its worker opens them, one after another
//! ```
//!
//! Shards are opened as their turn comes, and closed once their last part was read. The boundaries of parts follow from the
//! shards alone.

use crate::record::{RecordForm, Rewriter};
use crate::rowids::{ShardTable, TablePlan};
use crate::shard::OpenShard;
use crate::survey::{Survey, of_shard};
use litepress_rows::source::PART_BYTES;
use litepress_rows::sync::lock;
use litepress_rows::{Error, Part, RecordChunk, Result, RowidOrder, Source, Table};
use litepress_scan::{IndexScan, TableScan};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// Binary digits of a row's position in its part: a part of [`PART_BYTES`] has fewer rows than this allows.
const POSITION_BITS: u32 = 20;

/// The shards that a source has open.
pub(crate) type OpenShards = [OnceLock<Arc<OpenShard>>];

/// The rows of one table of all shards.
pub struct MergeSource<'m> {
    table: &'m Table,
    form: &'m RecordForm,
    surveys: &'m [Survey],
    plan: &'m TablePlan,
    opened: &'m OpenShards,
    /// The names of the shards, as values.
    names: &'m [String],
    bytes_read: &'m AtomicU64,
    /// The scan of each large shard.
    scans: Vec<OnceLock<Box<dyn Source + Send + 'm>>>,
    next: Mutex<Next>,
}

/// The next part.
#[derive(Debug, Default)]
struct Next {
    /// Position of its shard in the plan.
    shard: usize,
    /// Number of parts before it.
    number: u64,
}

impl<'m> MergeSource<'m> {
    #[expect(clippy::too_many_arguments, reason = "all that the plan knows of a table")]
    pub(crate) fn new(
        table: &'m Table,
        form: &'m RecordForm,
        surveys: &'m [Survey],
        plan: &'m TablePlan,
        opened: &'m OpenShards,
        names: &'m [String],
        bytes_read: &'m AtomicU64,
    ) -> Self {
        let scans = plan.shards.iter().map(|_| OnceLock::new()).collect();
        Self { table, form, surveys, plan, opened, names, bytes_read, scans, next: Mutex::default() }
    }

    fn survey(&self, at: usize) -> &'m Survey {
        &self.surveys[self.plan.shards[at].shard]
    }

    /// Begins to scan the table in a shard.
    fn scan<'s>(&self, shard: &'s OpenShard, root: u32) -> Result<Box<dyn Source + Send + 's>> {
        let name = self.table.name.as_str();
        Ok(match self.table.without_rowid {
            true => Box::new(IndexScan::new(shard.snapshot(), root, name)?),
            false => Box::new(TableScan::new(shard.snapshot(), root, name)?),
        })
    }

    /// Returns the shard at this position, and its scan.
    fn open(&self, at: usize) -> Result<(&'m OpenShard, &dyn Source)> {
        let opened: &'m OnceLock<Arc<OpenShard>> = &self.opened[at];
        if opened.get().is_none() {
            let _ = opened.set(self.survey(at).open()?);
        }
        let shard: &'m OpenShard = opened.get().expect("it is set");
        if self.scans[at].get().is_none() {
            let _ = self.scans[at].set(self.scan(shard, self.plan.shards[at].root)?);
        }
        Ok((shard, &**self.scans[at].get().expect("it is set")))
    }

    /// Returns the range of positions of small shards from `first` on that make one part; empty if the first one is large.
    fn small_shards(&self, first: usize) -> Range<usize> {
        let mut bytes = 0;
        let fits = |&at: &usize| {
            bytes += self.survey(at).bytes;
            bytes <= PART_BYTES as u64
        };
        first..first + (first..self.plan.shards.len()).take_while(fits).count()
    }

    /// Brings rows of a shard into the form of the merged table.
    fn finish(&self, at: usize, first_record: &mut u64, chunk: &mut RecordChunk) -> Result<()> {
        let ShardTable { shard, shift, .. } = self.plan.shards[at];
        self.bytes_read.fetch_add(chunk.arena().len() as u64, Ordering::Relaxed);
        let encoding = self.surveys[shard].settings.encoding;
        Rewriter { form: self.form, shard, encoding, source: &self.names[shard] }.rewrite(chunk)?;
        if shift != 0 {
            let rowids: Vec<i64> = chunk.rowids().iter().map(|rowid| rowid.wrapping_add(shift)).collect();
            chunk.set_rowids(0, rowids.into_iter());
        }
        chunk.set_first_record(*first_record);
        *first_record += chunk.len() as u64;
        Ok(())
    }

    fn failure(&self, at: usize, error: Error) -> Error {
        let error = of_shard(self.survey(at), error);
        if error.place().table.is_some() { error } else { error.in_table(&self.table.name) }
    }
}

impl Source for MergeSource<'_> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let mut next = lock(&self.next);
        while next.shard < self.plan.shards.len() {
            let at = next.shard;
            let first_record = (next.number << POSITION_BITS) + 1;
            let small = self.small_shards(at);
            if !small.is_empty() {
                (next.shard, next.number) = (small.end, next.number + 1);
                return Ok(Some(Box::new(SmallShards { source: self, shards: small, rows: VecDeque::new(), first_record })));
            }
            let part = self.open(at).and_then(|(shard, scan)| Ok((shard, scan.next_part()?)));
            match part.map_err(|error| self.failure(at, error))? {
                (shard, Some(rows)) => {
                    next.number += 1;
                    let reading = Reading::begin(shard);
                    return Ok(Some(Box::new(LargeShardPart { source: self, at, rows, first_record, _reading: reading })));
                }
                (shard, None) => {
                    shard.end_parts();
                    next.shard += 1;
                }
            }
        }
        Ok(None)
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn rowid_order(&self) -> RowidOrder {
        self.plan.order
    }

    fn page_bytes(&self) -> f64 {
        0.0
    }

    fn last_sequence(&self) -> Option<i64> {
        self.plan.sequence
    }
}

/// A part that is being read. The last one of a shard closes it.
struct Reading<'m>(&'m OpenShard);

impl<'m> Reading<'m> {
    fn begin(shard: &'m OpenShard) -> Self {
        shard.begin_part();
        Self(shard)
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.0.end_part();
    }
}

/// Some rows of a large shard.
struct LargeShardPart<'s, 'm> {
    source: &'s MergeSource<'m>,
    /// Position of the shard in the plan.
    at: usize,
    rows: Box<dyn Part + 's>,
    first_record: u64,
    /// Declared after `rows`, which has a file of the shard open.
    _reading: Reading<'m>,
}

impl Part for LargeShardPart<'_, '_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        let Self { source, at, rows, first_record, .. } = self;
        let filled = rows.fill(chunk).and_then(|()| source.finish(*at, first_record, chunk));
        filled.map_err(|error| source.failure(*at, error))
    }
}

/// The rows of some small shards.
struct SmallShards<'s, 'm> {
    source: &'s MergeSource<'m>,
    /// Positions of the shards in the plan that were not read yet.
    shards: Range<usize>,
    /// Rows of the shard that was read last.
    rows: VecDeque<RecordChunk>,
    first_record: u64,
}

impl SmallShards<'_, '_> {
    /// Reads all rows of a shard.
    fn read(&mut self, at: usize) -> Result<()> {
        let Self { source, rows, first_record, .. } = self;
        let shard = source.survey(at).open()?;
        let scan = source.scan(&shard, source.plan.shards[at].root)?;
        while let Some(mut part) = scan.next_part()? {
            loop {
                let mut chunk = RecordChunk::new();
                part.fill(&mut chunk)?;
                if chunk.is_empty() {
                    break;
                }
                source.finish(at, first_record, &mut chunk)?;
                rows.push_back(chunk);
            }
        }
        drop(scan);
        shard.check_unchanged()
    }
}

impl Part for SmallShards<'_, '_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        loop {
            if let Some(rows) = self.rows.pop_front() {
                *chunk = rows;
                return Ok(());
            }
            let Some(at) = self.shards.next() else { return Ok(()) };
            self.read(at).map_err(|error| self.source.failure(at, error))?;
        }
    }
}
