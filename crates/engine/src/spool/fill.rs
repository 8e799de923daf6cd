//! Reads the rows of a source on every core into a spool.

use super::leaves::Leaves;
use super::{Spool, SpoolBudget};
use crate::index::{Extractors, Indexes};
use crate::progress::Progress;
use crate::table::PartQueue;
use crate::threads::{ReorderBuffer, on_threads};
use crate::tree::table_leaf::{LeafBuilder, TablePart};
use crate::{ErrorKind, Result};
use litepress_rows::sync::{Mutex, ignore_poison, lock};
use litepress_rows::{Part, RecordChunk, Source};

/// The rows of a part.
enum MadePart {
    Rows(Vec<RecordChunk>),
    Leaves { part: TablePart, is_numbered: bool },
}

/// The parts so far, in order.
struct State<'b> {
    parts: ReorderBuffer<MadePart>,
    spool: Spool,
    budget: &'b mut SpoolBudget,
}

impl Spool {
    /// Appends all rows of a source. `entries` takes the index entries of rows that become leaf pages.
    ///
    /// # Errors
    /// The error of the earliest wrong part; a temporary file that cannot be written.
    pub(crate) fn fill(
        self,
        source: &dyn Source,
        budget: &mut SpoolBudget,
        entries: Indexes,
        threads: usize,
        progress: &Progress,
    ) -> Result<Self> {
        let mut queue = PartQueue::new(source);
        let threads = queue.workers(threads)?;
        let (queue, leaves) = (Mutex::new(queue), self.leaves.clone());
        let state = Mutex::new(State { parts: ReorderBuffer::new(), spool: self, budget });
        on_threads(threads, || {
            let extractors = if leaves.is_some() { entries.extractors() } else { Extractors::default() };
            let mut reader = PartMaker { leaves: leaves.as_ref(), extractors, chunk: RecordChunk::new(), progress };
            while !lock(&state).parts.has_failed() {
                let taken = progress.go_on().and_then(|()| lock(&queue).take());
                match taken {
                    Ok(None) => break,
                    Ok(Some((number, part))) => {
                        let in_leaves = lock(&state).spool.open_leaves().is_some();
                        let made = reader.make(part, in_leaves);
                        lock(&state).insert(number, made);
                    }
                    Err(error) => lock(&state).parts.fail(u64::MAX, error),
                }
            }
            if let Err(error) = reader.extractors.finish() {
                lock(&state).parts.fail(u64::MAX, error);
            }
        });
        let State { parts, mut spool, .. } = ignore_poison(state.into_inner());
        parts.finish()?;
        spool.keep_entries(entries);
        Ok(spool)
    }
}

impl State<'_> {
    fn insert(&mut self, number: u64, made: Result<MadePart>) {
        let Self { parts, spool, budget } = self;
        match made {
            Err(error) => parts.fail(number, error),
            Ok(made) => parts.insert(number, made, |made| match made {
                MadePart::Leaves { part, is_numbered } => spool.push_leaves(part, is_numbered, budget),
                MadePart::Rows(chunks) => {
                    if !chunks.is_empty() {
                        spool.end_leaves();
                    }
                    chunks.iter().try_for_each(|chunk| spool.push_chunk(chunk, budget))
                }
            }),
        }
    }
}

/// Reads parts on one thread.
struct PartMaker<'a> {
    leaves: Option<&'a Leaves>,
    extractors: Extractors<'a>,
    chunk: RecordChunk,
    progress: &'a Progress,
}

impl PartMaker<'_> {
    fn make(&mut self, mut part: Box<dyn Part + '_>, in_leaves: bool) -> Result<MadePart> {
        match self.leaves.filter(|_| in_leaves) {
            Some(leaves) => self.make_leaves(&mut *part, leaves),
            None => self.rest(&mut *part, Vec::new()).map(MadePart::Rows),
        }
    }

    /// Builds leaf pages. If a row does not allow it, or SQLite refuses one as it evaluates the rows, returns the rows.
    fn make_leaves(&mut self, part: &mut dyn Part, leaves: &Leaves) -> Result<MadePart> {
        let usable = leaves.page_size.bytes();
        let mut builder = LeafBuilder::new(leaves.new_run(), usable, 0);
        let (mut kind, mut before) = (None, leaves.largest_rowid);
        loop {
            self.progress.go_on()?;
            self.chunk.clear();
            part.fill(&mut self.chunk)?;
            let Some(&first) = self.chunk.rowids().first() else {
                let is_numbered = kind.unwrap_or(false);
                if is_taken(self.extractors.end_part())? {
                    return Ok(MadePart::Leaves { part: builder.finish(), is_numbered });
                }
                return leaves.chunks_of(builder.finish(), is_numbered).map(MadePart::Rows);
            };
            let Some(is_numbered) = leaves.number(&mut self.chunk) else { break };
            let is_alike = is_numbered == *kind.get_or_insert(is_numbered);
            let is_behind = is_numbered || before.is_none_or(|before| first > before);
            if !is_alike || !is_behind || builder.add(&self.chunk).is_err() {
                break;
            }
            before = self.chunk.rowids().last().copied();
            let Self { extractors, chunk, .. } = self;
            if !is_taken(extractors.add(chunk))? {
                // The leaves have these rows.
                chunk.clear();
                break;
            }
        }
        let mut chunks = leaves.chunks_of(builder.finish(), kind.unwrap_or(false))?;
        chunks.extend(Some(std::mem::take(&mut self.chunk)).filter(|chunk| !chunk.is_empty()));
        self.rest(part, chunks).map(MadePart::Rows)
    }

    /// Reads the remaining rows of a part behind `chunks`.
    fn rest(&self, part: &mut dyn Part, mut chunks: Vec<RecordChunk>) -> Result<Vec<RecordChunk>> {
        loop {
            self.progress.go_on()?;
            let mut chunk = RecordChunk::new();
            part.fill(&mut chunk)?;
            if chunk.is_empty() {
                return Ok(chunks);
            }
            chunks.push(chunk);
        }
    }
}

/// Returns whether SQLite could evaluate the rows, and found no fault. If not, its INSERT will tell which row is wrong.
fn is_taken(extracted: Result<()>) -> Result<bool> {
    match extracted {
        Err(error) if matches!(error.kind(), ErrorKind::Constraint | ErrorKind::Limit) => Ok(false),
        done => done.map(|()| true),
    }
}
