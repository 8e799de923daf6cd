//! Boxes along the curve become the rows of the table of nodes: leaves and, behind each full group of them, their parent.
//! The ids of the boxes go with their leaf into the sort of the table of rowids.

use super::super::row_key::RowidKey;
use super::super::sorted_rows::{ItemMaker, SortedRows};
use super::hilbert_key::{HilbertKey, read_bounds};
use crate::Result;
use crate::sort::{RunWriter, Sorter, bad_item};
use litepress_format::record;
use litepress_format::value::Value;
use litepress_rows::schema::RTree;
use litepress_rows::sync::{Mutex, ignore_poison, lock};
use litepress_rows::{Part, RecordChunk, Source};
use litepress_rtree::TreeShape;
use litepress_rtree::node::{Cell, NodeBuilder};
use litepress_rtree::shape::Place;
use std::sync::atomic::{AtomicU64, Ordering};

/// A tree whose number of boxes is known.
pub(super) struct PackedTree {
    pub tree: RTree,
    pub node_bytes: usize,
    /// Number of cells of a full node.
    pub capacity: u64,
    pub shape: TreeShape,
}

impl PackedTree {
    fn builder(&self) -> NodeBuilder {
        NodeBuilder::new(self.tree.layout, self.node_bytes)
    }

    /// Returns the level of the highest nodes that are made part by part.
    fn level_of_parts(&self) -> usize {
        self.shape.depth().saturating_sub(1).min(1)
    }
}

/// The rows of the table of nodes up to the level of parts, without the root.
pub(super) struct NodeRows<'a> {
    packed: &'a PackedTree,
    boxes: &'a SortedRows<HilbertKey>,
    next_rank: AtomicU64,
    rowid_key: &'a RowidKey,
    rowids: &'a Sorter,
    /// Writers of ids that no part uses now.
    idle_writers: Mutex<Vec<RunWriter<'a>>>,
    top: Mutex<Top>,
}

/// The top of the tree.
#[derive(Default)]
struct Top {
    /// The cells of the finished nodes of the level of parts, with the number of nodes before each.
    cells: Vec<(u64, Cell)>,
    /// The record of a root that is the only leaf.
    root: Option<Vec<u8>>,
}

/// The rows above the level of parts.
pub(super) struct TopRows {
    /// All nodes but the root.
    pub inner_nodes: RecordChunk,
    /// The root's record.
    pub root: Vec<u8>,
}

impl<'a> NodeRows<'a> {
    pub fn new(
        packed: &'a PackedTree,
        boxes: &'a SortedRows<HilbertKey>,
        rowid_key: &'a RowidKey,
        rowids: &'a Sorter,
    ) -> Self {
        let (next_rank, idle_writers, top) = (AtomicU64::new(0), Mutex::default(), Mutex::default());
        Self { packed, boxes, next_rank, rowid_key, rowids, idle_writers, top }
    }

    /// Completes the sort of ids, and makes the nodes above the level of parts. REQUIRES: all rows were read.
    pub fn finish(self) -> Result<TopRows> {
        ignore_poison(self.idle_writers.into_inner()).into_iter().try_for_each(RunWriter::finish)?;
        let PackedTree { shape, capacity, .. } = self.packed;
        let Top { mut cells, root } = ignore_poison(self.top.into_inner());
        cells.sort_unstable_by_key(|(index, _)| *index);
        let mut cells: Vec<Cell> = cells.into_iter().map(|(_, cell)| cell).collect();
        let (mut inner_nodes, mut builder) = (RecordChunk::new(), self.packed.builder());
        let mut root = root.unwrap_or_else(|| builder.finish(0, |node, _| record_of(node)));
        for level in self.packed.level_of_parts() + 1..=shape.depth() {
            let mut parents = Vec::new();
            for (index, group) in (0..).zip(cells.chunks(usize::try_from(*capacity).expect("a few cells"))) {
                group.iter().for_each(|cell| builder.add(cell));
                let id = shape.number(Place { level, index }).cast_signed();
                let is_root = level == shape.depth();
                builder.finish(if is_root { level } else { 0 }, |node, bounds| {
                    if is_root {
                        root = record_of(node);
                    } else {
                        inner_nodes.push(id, &record_of(node));
                    }
                    parents.push(Cell { id, bounds });
                });
            }
            cells = parents;
        }
        Ok(TopRows { inner_nodes, root })
    }
}

/// Returns the record of a node: NULL stands for its number, which is the rowid.
fn record_of(node: &[u8]) -> Vec<u8> {
    let mut record = Vec::with_capacity(node.len() + 8);
    record::write_record(&[Value::Null, Value::Blob(node)], &mut record);
    record
}

impl Source for NodeRows<'_> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let Some(part) = self.boxes.next_part()? else { return Ok(None) };
        let rank = self.next_rank.fetch_add(self.boxes.items_per_part(), Ordering::Relaxed);
        Ok(Some(Box::new(NodePart::new(self, part, rank))))
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn page_bytes(&self) -> f64 {
        0.0
    }
}

/// The nodes of a part of the boxes. Part boundaries are boundaries of nodes of the level of parts.
struct NodePart<'s, 'a> {
    rows: &'s NodeRows<'a>,
    boxes: Box<dyn Part + 's>,
    /// Boxes of the part, and the next of them.
    input: RecordChunk,
    next: usize,
    /// Number of boxes before the next one, in the whole tree.
    rank: u64,
    leaf: NodeBuilder,
    parent: NodeBuilder,
    /// The cells of the part's nodes of the level of parts.
    finished: Vec<(u64, Cell)>,
    ids: IdWriter<'a>,
}

/// Sorts rows of the table of rowids, for one part.
struct IdWriter<'a> {
    items: ItemMaker<'a, RowidKey>,
    /// Taken from the idle ones with the first box, and given back behind the last.
    writer: Option<RunWriter<'a>>,
    rows: RecordChunk,
    /// The record of a row; kept for its memory.
    record: Vec<u8>,
}

impl<'s, 'a> NodePart<'s, 'a> {
    fn new(rows: &'s NodeRows<'a>, boxes: Box<dyn Part + 's>, rank: u64) -> Self {
        let (items, chunk) = (ItemMaker::new(rows.rowid_key), RecordChunk::new());
        let ids = IdWriter { items, writer: None, rows: chunk, record: Vec::new() };
        let (leaf, parent) = (rows.packed.builder(), rows.packed.builder());
        Self { rows, boxes, input: RecordChunk::new(), next: 0, rank, leaf, parent, finished: Vec::new(), ids }
    }

    /// Takes the next boxes. Returns `false` if there are none.
    fn refill(&mut self) -> Result<bool> {
        self.input.clear();
        self.next = 0;
        self.boxes.fill(&mut self.input)?;
        Ok(!self.input.is_empty())
    }

    /// Returns the index of the leaf of the box before the next one.
    fn leaf_index(&self) -> u64 {
        (self.rank - 1) / self.rows.packed.capacity
    }

    /// Adds the next box to its leaf.
    fn add_box(&mut self) -> Result<()> {
        let (packed, row) = (self.rows.packed, self.next);
        let (id, record) = (self.input.rowids()[row], self.input.record(row));
        let bounds = read_bounds(packed.tree.layout, record)?;
        self.rank += 1;
        self.next += 1;
        let leaf = packed.shape.number(Place { level: 0, index: self.leaf_index() });
        self.ids.push(id, leaf, &self.input.record(row)[packed.tree.layout.bounds_bytes()..])?;
        self.leaf.add(&Cell { id, bounds });
        Ok(())
    }

    /// Completes the leaf of the last box, and its parent if that is full.
    fn finish_leaf(&mut self, out: &mut RecordChunk) {
        let (packed, index) = (self.rows.packed, self.leaf_index());
        let id = packed.shape.number(Place { level: 0, index }).cast_signed();
        let (record, bounds) = self.leaf.finish(0, |node, bounds| (record_of(node), bounds));
        let cell = Cell { id, bounds };
        if packed.shape.depth() == 0 {
            lock(&self.rows.top).root = Some(record);
            return;
        }
        out.push(id, &record);
        if packed.level_of_parts() == 0 {
            self.finished.push((index, cell));
            return;
        }
        self.parent.add(&cell);
        if self.parent.is_full() {
            self.finish_parent(out);
        }
    }

    /// Completes the parent of the last leaf.
    fn finish_parent(&mut self, out: &mut RecordChunk) {
        let index = self.leaf_index() / self.rows.packed.capacity;
        let id = self.rows.packed.shape.number(Place { level: 1, index }).cast_signed();
        let (record, bounds) = self.parent.finish(0, |node, bounds| (record_of(node), bounds));
        out.push(id, &record);
        self.finished.push((index, Cell { id, bounds }));
    }

    /// Completes the last nodes of the part, which are not full in the last part only, and hands over the cells above.
    fn finish(&mut self, out: &mut RecordChunk) {
        if !self.leaf.is_empty() {
            self.finish_leaf(out);
        }
        if !self.parent.is_empty() {
            self.finish_parent(out);
        }
        lock(&self.rows.top).cells.append(&mut self.finished);
    }
}

impl Part for NodePart<'_, '_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        while !chunk.is_full() {
            if self.next == self.input.len() && !self.refill()? {
                self.finish(chunk);
                self.ids.flush(self.rows)?;
                self.ids.rest(self.rows);
                return Ok(());
            }
            self.add_box()?;
            if self.leaf.is_full() {
                self.finish_leaf(chunk);
            }
        }
        self.ids.flush(self.rows)
    }
}

impl<'a> IdWriter<'a> {
    /// Adds the row of a box: its id, its leaf and the record of its auxiliary columns, empty if there are none.
    fn push(&mut self, id: i64, leaf: u64, auxiliary: &[u8]) -> Result<()> {
        let leaf = Value::Int(leaf.cast_signed());
        self.record.clear();
        if auxiliary.is_empty() {
            record::write_record(&[Value::Null, leaf], &mut self.record);
        } else {
            let auxiliary = record::decode(auxiliary).map_err(|error| bad_item(&error))?;
            let values: Vec<Value<'_>> = [Value::Null, leaf].into_iter().chain(auxiliary).collect();
            record::write_record(&values, &mut self.record);
        }
        self.rows.push(id, &self.record);
        Ok(())
    }

    /// Passes the rows to the sort.
    fn flush(&mut self, all: &NodeRows<'a>) -> Result<()> {
        let writer = self.writer.get_or_insert_with(|| {
            let idle = lock(&all.idle_writers).pop();
            idle.unwrap_or_else(|| all.rowids.writer())
        });
        self.items.push_from(0, &self.rows, writer)?;
        self.rows.clear();
        Ok(())
    }

    /// Gives the writer back.
    fn rest(&mut self, all: &NodeRows<'a>) {
        lock(&all.idle_writers).extend(self.writer.take());
    }
}
