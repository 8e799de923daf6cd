//! Builds the tree of `%_data`: the merged segment, behind two rows that tell of it.
//!
//! ```text
//! id 1    averages     known before the merge
//! id 10   structure    known at its end: its page is kept free, and written last
//! then    leaves       as they are merged
//! then    pages of doclist indexes
//! ```

use super::runs::{RowSpool, Run, RunStore};
use crate::pages::{Pages, Placement};
use crate::progress::Progress;
use crate::table::{TableTree, build_few};
use crate::tree::assembler::TreeAssembler;
use crate::tree::interior::{LargestRowid, Levels};
use crate::tree::table_leaf::{LeafBuilder, TablePart};
use crate::{Error, Result};
use litepress_format::page::PageKind;
use litepress_format::record::write_record;
use litepress_format::value::Value;
use litepress_fts5::{
    AVERAGES_ID, Averages, RunReader, STRUCTURE_ID, SegmentSink, SegmentWriter, Structure, doclist_index_id, leaf_id,
    merge,
};
use litepress_rows::RecordChunk;
use litepress_rows::source::PART_BYTES;
use std::io;

/// Number of the only segment.
const SEGMENT: u32 = 1;

/// The request for a tree.
pub(super) struct Request<'r> {
    pub averages: Averages,
    /// The structure of a table without terms.
    pub initial: Structure,
    pub has_origins: bool,
    pub has_positions: bool,
    pub leaf_bytes: usize,
    pub progress: &'r Progress,
    /// The store for rows that are written behind the leaves.
    pub store: &'r RunStore,
}

/// The finished tree, and the rows of `%_idx`.
pub(super) struct Written {
    pub tree: TableTree,
    pub splits: RowSpool,
}

/// Builds the tree of a table without rows.
pub(super) fn build_empty(rows: RecordChunk, pages: &mut Pages) -> Result<Written> {
    Ok(Written { tree: build_few(rows, pages)?, splits: RowSpool::default() })
}

/// Merges the runs into one segment, and builds the tree of it.
pub(super) fn build(runs: Vec<Run>, request: &Request<'_>, pages: &mut Pages) -> Result<Written> {
    let (leading, averages) = place_row(AVERAGES_ID, &request.averages.encode(), pages)?;
    let mut reserved = pages.new_run();
    let index = reserved.add_page();
    let structure_place = pages.place(&mut reserved)?;
    drop(reserved);
    let mut levels = Levels::new(pages.page_size().bytes());
    for child in leading.into_iter().chain([(LargestRowid(STRUCTURE_ID), structure_place.number(index))]) {
        levels.push::<Error>(child, |_| unreachable!("a page has room for several children"))?;
    }
    let mut assembler = TreeAssembler::new(pages);
    assembler.set_levels(levels);
    let readers = runs.into_iter().map(|run| RunReader::new(run, request.has_positions)).collect();
    let data = DataWriter::new(assembler, request.progress, request.store);
    let mut segment = SegmentWriter::new(data, request.leaf_bytes, request.has_positions);
    merge(readers, &mut segment).map_err(|SinkError(error)| error)?;
    let (data, summary) = segment.finish().map_err(|SinkError(error)| error)?;
    let (mut tree, splits) = data.finish()?;
    let structure = if summary.leaves == 0 {
        request.initial.clone()
    } else {
        let merged = Structure::one_segment(summary.leaves, request.has_origins.then_some(request.averages.rows));
        Structure { cookie: request.initial.cookie, ..merged }
    };
    let structure = write_row(STRUCTURE_ID, &structure.encode(), pages);
    tree.rows += 2;
    tree.payload_bytes += averages + structure.payload_bytes;
    pages.write(structure.run, &structure_place)?;
    Ok(Written { tree, splits })
}

/// Writes one row to leaf pages of its own.
fn write_row(id: i64, block: &[u8], pages: &Pages) -> TablePart {
    let mut chunk = RecordChunk::new();
    push_row(id, block, &mut chunk, &mut Vec::new());
    let mut builder = LeafBuilder::new(pages.new_run(), pages.page_size().bytes(), 0);
    builder.add(&chunk).expect("one row is in order");
    builder.finish()
}

/// Places one row. Returns its leaf, and the length of its record.
fn place_row(id: i64, block: &[u8], pages: &mut Pages) -> Result<(Vec<(LargestRowid, u32)>, u64)> {
    let TablePart { mut run, leaves, payload_bytes, .. } = write_row(id, block, pages);
    let placement: Placement = pages.place(&mut run)?;
    let leaves = leaves.into_iter().map(|(last, index)| (LargestRowid(last), placement.number(index))).collect();
    pages.write(run, &placement)?;
    Ok((leaves, payload_bytes))
}

fn push_row(id: i64, block: &[u8], chunk: &mut RecordChunk, record: &mut Vec<u8>) {
    record.clear();
    write_record(&[Value::Null, Value::Blob(block)], record);
    chunk.push(id, record);
}

/// The error of the merge.
struct SinkError(Error);

impl From<io::Error> for SinkError {
    fn from(error: io::Error) -> Self {
        // A temporary file, unless it is a failure that went through the merge.
        Self(error.downcast::<Error>().unwrap_or_else(|error| {
            Error::new(crate::ErrorKind::Io, format!("a full-text index cannot be merged: {error}"))
        }))
    }
}

/// Writes the leaves of a segment as rows of `%_data`.
struct DataWriter<'p> {
    assembler: TreeAssembler<'p, LargestRowid>,
    progress: &'p Progress,
    /// The part that is being built.
    part: Option<LeafBuilder>,
    part_bytes: usize,
    chunk: RecordChunk,
    record: Vec<u8>,
    tree: TableTree,
    store: &'p RunStore,
    /// Pages of doclist indexes with their ids, which ascend within each height.
    doclist_indexes: Vec<RowSpool>,
    /// The rows of `%_idx`.
    splits: RowSpool,
}

impl<'p> DataWriter<'p> {
    fn new(assembler: TreeAssembler<'p, LargestRowid>, progress: &'p Progress, store: &'p RunStore) -> Self {
        Self {
            assembler,
            progress,
            part: None,
            part_bytes: 0,
            chunk: RecordChunk::new(),
            record: Vec::new(),
            tree: TableTree::default(),
            store,
            doclist_indexes: Vec::new(),
            splits: RowSpool::default(),
        }
    }

    /// Adds a row.
    fn add(&mut self, id: i64, block: &[u8]) -> Result<()> {
        push_row(id, block, &mut self.chunk, &mut self.record);
        if self.chunk.is_full() { self.add_chunk() } else { Ok(()) }
    }

    fn add_chunk(&mut self) -> Result<()> {
        self.progress.go_on()?;
        let pages = self.assembler.pages();
        let part = self.part.get_or_insert_with(|| {
            pages.pool().wait_for_room();
            LeafBuilder::new(pages.new_run(), pages.page_size().bytes(), 0)
        });
        part.add(&self.chunk)?;
        self.part_bytes += self.chunk.arena().len();
        self.chunk.clear();
        if self.part_bytes >= PART_BYTES { self.place_part() } else { Ok(()) }
    }

    fn place_part(&mut self) -> Result<()> {
        let Some(part) = self.part.take() else { return Ok(()) };
        let TablePart { run, leaves, rows, payload_bytes, .. } = part.finish();
        self.part_bytes = 0;
        self.tree.rows += rows;
        self.tree.payload_bytes += payload_bytes;
        if let Some(&(last, _)) = leaves.last() {
            self.tree.last_rowid = last;
        }
        self.assembler.place(run, leaves, |(last, index), placement| (LargestRowid(last), placement.number(index)))
    }

    /// Writes the doclist indexes and completes the tree. Returns it, and the rows of `%_idx`.
    fn finish(mut self) -> Result<(TableTree, RowSpool)> {
        for mut level in std::mem::take(&mut self.doclist_indexes) {
            while let Some((id, page)) = level.next()? {
                self.add(id, page)?;
            }
        }
        if !self.chunk.is_empty() {
            self.add_chunk()?;
        }
        self.place_part()?;
        let Self { assembler, tree, splits, .. } = self;
        Ok((TableTree { root: assembler.finish(PageKind::LeafTable)?, ..tree }, splits))
    }
}

impl SegmentSink for DataWriter<'_> {
    type Error = SinkError;

    fn leaf(&mut self, page: u32, bytes: &[u8]) -> Result<(), SinkError> {
        self.add(leaf_id(SEGMENT, page), bytes).map_err(SinkError)
    }

    fn doclist_index(&mut self, height: u32, page: u32, bytes: &[u8]) -> Result<(), SinkError> {
        let level = height as usize;
        if self.doclist_indexes.len() <= level {
            self.doclist_indexes.resize_with(level + 1, RowSpool::default);
        }
        let id = doclist_index_id(SEGMENT, height, page);
        self.doclist_indexes[level].push(id, bytes, self.store).map_err(SinkError)
    }

    fn index_row(&mut self, term: &[u8], page: u32, has_doclist_index: bool) -> Result<(), SinkError> {
        let page = i64::from(page) << 1 | i64::from(has_doclist_index);
        self.record.clear();
        write_record(&[Value::Int(i64::from(SEGMENT)), Value::Blob(term), Value::Int(page)], &mut self.record);
        self.splits.push(page, &self.record, self.store).map_err(SinkError)
    }
}
