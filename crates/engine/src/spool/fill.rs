//! Reads the rows of a source on every core into a spool.

use super::leaves::Leaves;
use super::{Spool, SpoolBudget};
use crate::index::{Extractors, Indexes};
use crate::progress::Progress;
use crate::table::{PIECE_BYTES, PartQueue};
use crate::threads::{Turns, on_threads};
use crate::tree::table_leaf::{LeafBuilder, TablePart};
use crate::{ErrorKind, Result};
use litepress_rows::sync::{Mutex, ignore_poison, lock};
use litepress_rows::{Part, RecordChunk, Source};

/// The rows of a part, or of a piece of it.
enum MadePart {
    Rows(Vec<RecordChunk>),
    Leaves { part: TablePart, is_numbered: bool },
}

/// The rows so far.
struct State<'b> {
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
        let state = Mutex::new(State { spool: self, budget });
        let turns = Turns::new(|made| lock(&state).push(made));
        on_threads(threads, || {
            let extractors = if leaves.is_some() { entries.extractors() } else { Extractors::default() };
            let mut reader = PartMaker { leaves: leaves.as_ref(), extractors, chunk: RecordChunk::new(), progress };
            while !turns.has_failed() {
                let taken = progress.go_on().and_then(|()| lock(&queue).take());
                match taken {
                    Ok(None) => break,
                    Ok(Some((number, part))) => {
                        let in_leaves = lock(&state).spool.open_leaves().is_some();
                        match reader.make(part, in_leaves, &|piece| turns.add(number, piece)) {
                            Ok(last) => turns.end(number, last),
                            Err(error) => turns.fail(number, error),
                        }
                    }
                    Err(error) => turns.fail(u64::MAX, error),
                }
            }
            if let Err(error) = reader.extractors.finish() {
                turns.fail(u64::MAX, error);
            }
        });
        turns.finish()?;
        let State { mut spool, .. } = ignore_poison(state.into_inner());
        spool.keep_entries(entries);
        Ok(spool)
    }
}

impl State<'_> {
    fn push(&mut self, made: MadePart) -> Result<()> {
        let Self { spool, budget } = self;
        match made {
            MadePart::Leaves { part, is_numbered } => spool.push_leaves(part, is_numbered, budget),
            MadePart::Rows(chunks) => {
                if !chunks.is_empty() {
                    spool.end_leaves();
                }
                chunks.iter().try_for_each(|chunk| spool.push_chunk(chunk, budget))
            }
        }
    }
}

/// Takes a piece of a part that has more of them. Returns whether the part goes on.
type Place<'p> = &'p dyn Fn(MadePart) -> bool;

/// Reads parts on one thread.
struct PartMaker<'a> {
    leaves: Option<&'a Leaves>,
    extractors: Extractors<'a>,
    chunk: RecordChunk,
    progress: &'a Progress,
}

impl PartMaker<'_> {
    /// Reads a part. Passes all pieces but the last to `place`, and returns the last one.
    fn make(&mut self, mut part: Box<dyn Part + '_>, in_leaves: bool, place: Place<'_>) -> Result<MadePart> {
        match self.leaves.filter(|_| in_leaves) {
            Some(leaves) => self.make_leaves(&mut *part, leaves, place),
            None => self.rest(&mut *part, Vec::new(), place),
        }
    }

    /// Builds leaf pages. If a row does not allow it, or SQLite refuses one as it evaluates the rows, returns the rows.
    fn make_leaves(&mut self, part: &mut dyn Part, leaves: &Leaves, place: Place<'_>) -> Result<MadePart> {
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
            if builder.run().bytes() >= PIECE_BYTES {
                if !is_taken(extractors.end_part())? {
                    chunk.clear();
                    break;
                }
                let full = std::mem::replace(&mut builder, LeafBuilder::new(leaves.new_run(), usable, 0));
                if !place(MadePart::Leaves { part: full.finish(), is_numbered }) {
                    return Ok(MadePart::Rows(Vec::new()));
                }
            }
        }
        let mut chunks = leaves.chunks_of(builder.finish(), kind.unwrap_or(false))?;
        chunks.extend(Some(std::mem::take(&mut self.chunk)).filter(|chunk| !chunk.is_empty()));
        self.rest(part, chunks, place)
    }

    /// Reads the remaining rows of a part behind `chunks`.
    fn rest(&self, part: &mut dyn Part, mut chunks: Vec<RecordChunk>, place: Place<'_>) -> Result<MadePart> {
        let mut bytes = 0;
        loop {
            self.progress.go_on()?;
            let mut chunk = RecordChunk::new();
            part.fill(&mut chunk)?;
            if chunk.is_empty() {
                return Ok(MadePart::Rows(chunks));
            }
            bytes += chunk.arena().len();
            chunks.push(chunk);
            if bytes >= PIECE_BYTES {
                bytes = 0;
                if !place(MadePart::Rows(std::mem::take(&mut chunks))) {
                    return Ok(MadePart::Rows(Vec::new()));
                }
            }
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
