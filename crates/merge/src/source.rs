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
use litepress_rows::sync::{Mutex, lock};
use litepress_rows::{Error, Part, RecordChunk, Result, RowidOrder, Source, Table};
use litepress_scan::{IndexScan, ScanPart, TableScan};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Binary digits of a row's position in its part: a part of [`PART_BYTES`] has fewer rows than this allows.
pub(crate) const POSITION_BITS: u32 = 20;

/// The rows of one table of all shards.
pub struct MergeSource<'m> {
    table: &'m Table,
    form: &'m RecordForm,
    surveys: &'m [Survey],
    plan: &'m TablePlan,
    /// The names of the shards, as values.
    names: &'m [String],
    bytes_read: &'m AtomicU64,
    next: Mutex<NextPart>,
}

/// The next part.
#[derive(Debug, Default)]
struct NextPart {
    /// Position of its shard in the plan.
    shard: usize,
    /// Number of parts before it.
    number: u64,
    /// The shard, if it is large and its first part was taken.
    open: Option<OpenTable>,
}

/// The table of an open shard. The shard is closed once the parts that were handed out are read.
#[derive(Debug)]
struct OpenTable {
    /// Declared first: its readers are closed before the shard.
    scan: Scan,
    shard: Arc<OpenShard>,
}

/// A scan of a table of any kind.
#[derive(Debug)]
pub(crate) enum Scan {
    Table(TableScan),
    Index(IndexScan),
}

impl Scan {
    pub fn new(table: &Table, shard: &OpenShard, root: u32) -> Result<Self> {
        let name = table.name.as_str();
        Ok(match table.without_rowid {
            true => Self::Index(IndexScan::new(shard.snapshot(), root, name)?),
            false => Self::Table(TableScan::new(shard.snapshot(), root, name)?),
        })
    }

    /// Estimates the number of rows from some pages.
    pub fn estimated_rows(&self) -> Result<u64> {
        match self {
            Self::Table(scan) => scan.estimated_rows(),
            Self::Index(scan) => scan.estimated_rows(),
        }
    }

    pub fn as_source(&self) -> &dyn Source {
        match self {
            Self::Table(scan) => scan,
            Self::Index(scan) => scan,
        }
    }

    fn next_part(&self) -> Result<Option<ScanPart>> {
        match self {
            Self::Table(scan) => scan.next_scan_part(),
            Self::Index(scan) => scan.next_scan_part(),
        }
    }
}

impl<'m> MergeSource<'m> {
    pub(crate) fn new(
        table: &'m Table,
        form: &'m RecordForm,
        surveys: &'m [Survey],
        plan: &'m TablePlan,
        names: &'m [String],
        bytes_read: &'m AtomicU64,
    ) -> Self {
        Self { table, form, surveys, plan, names, bytes_read, next: Mutex::default() }
    }

    fn survey(&self, at: usize) -> &'m Survey {
        &self.surveys[self.plan.shards[at].shard]
    }

    /// Opens the shard at this position, and begins to scan the table.
    fn open(&self, at: usize) -> Result<OpenTable> {
        let shard = self.survey(at).open()?;
        let scan = Scan::new(self.table, &shard, self.plan.shards[at].root)?;
        Ok(OpenTable { scan, shard })
    }

    /// Returns the next part of the large shard at this position.
    fn next_of(&self, at: usize, open: &mut Option<OpenTable>) -> Result<Option<(ScanPart, Arc<OpenShard>)>> {
        let table = match open {
            Some(table) => table,
            none => none.insert(self.open(at)?),
        };
        let part = table.scan.next_part()?;
        Ok(part.map(|part| (part, table.shard.clone())))
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
                return Ok(Some(Box::new(SmallShards {
                    source: self,
                    shards: small,
                    rows: VecDeque::new(),
                    first_record,
                })));
            }
            let part = self.next_of(at, &mut next.open).map_err(|error| self.failure(at, error))?;
            if let Some((rows, shard)) = part {
                next.number += 1;
                return Ok(Some(Box::new(LargeShardPart { source: self, at, rows, first_record, shard })));
            }
            (next.open, next.shard) = (None, at + 1);
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

/// Some rows of a large shard.
struct LargeShardPart<'s, 'm> {
    source: &'s MergeSource<'m>,
    /// Position of the shard in the plan.
    at: usize,
    /// Declared before the shard: its reader is closed first.
    rows: ScanPart,
    first_record: u64,
    shard: Arc<OpenShard>,
}

impl Part for LargeShardPart<'_, '_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        let Self { source, at, rows, first_record, shard } = self;
        let filled = rows.fill(chunk).and_then(|()| source.finish(*at, first_record, chunk));
        let filled = if chunk.is_empty() { filled.and_then(|()| shard.check_unchanged()) } else { filled };
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
        let OpenTable { scan, shard } = source.open(at)?;
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
