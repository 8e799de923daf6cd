//! Fills an R-Tree table: the boxes are sorted along a Hilbert curve and packed into nodes (`litepress_rtree`).
//!
//! ```text
//! rows --boxes--> sorted by id ----> sorted by Hilbert key --nodes--> t_node      the root's page is reserved first
//!        extent   duplicates found   |                         |      and written last
//!        of all                      number of boxes:          `----> sorted by id --> t_rowid
//!                                    the tree's shape --parents--> t_parent
//! ```
//!
//! The curve needs the extent of all boxes, so the rows are sorted by id before the first key is made. This sort also finds
//! duplicate ids, with the policy for conflicts of any other table. The numbers of all nodes follow from the number of boxes
//! (`TreeShape`), so parts of consecutive boxes become nodes on every core.

mod boxes;
mod hilbert_key;
mod nodes;
mod parents;

use super::append::append;
use super::context::{BuildContext, TableTree};
use super::one_chunk::OneChunk;
use super::row_key::RowidKey;
use super::rowid::{self, RowidLayout, RowidTree};
use super::sorted_rows::{SortedRows, gather};
use crate::pages::Pages;
use crate::sort::{SortOptions, Sorter};
use crate::{Conflict, Result};
use boxes::BoxRows;
use hilbert_key::HilbertKey;
use litepress_rows::schema::RTree;
use litepress_rows::{Source, Table};
use litepress_rtree::TreeShape;
use litepress_rtree::shape::ROOT;
use nodes::{NodeRows, PackedTree};
use parents::ParentRows;

/// Number of sorts that live at the same time.
pub(crate) const SORTS: usize = 2;

/// Number of phases after the rows are read.
pub(crate) const PHASES: usize = 2;

/// The number of a table's first node, as a rowid.
const ROOT_ROWID: i64 = ROOT.cast_signed();

/// The trees of the tables in which an R-Tree keeps its data.
pub(crate) struct ShadowTrees {
    /// Number of boxes.
    pub rows: u64,
    /// Each with the name of its table.
    pub trees: [(String, TableTree); 3],
}

/// Builds the trees of an R-Tree table from all rows of `source`.
pub(crate) fn build(
    table: &Table,
    tree: RTree,
    source: &dyn Source,
    conflict: Conflict,
    pages: &mut Pages,
    options: &SortOptions,
    context: BuildContext<'_>,
) -> Result<ShadowTrees> {
    let progress = context.progress;
    // The first column is the rowid, though SQLite does not report it.
    let mut keyed = table.clone();
    keyed.rowid_alias = Some(0);
    let (boxes, sorter) = (BoxRows::new(source, table, tree, conflict), Sorter::new(options.clone()));
    gather(&boxes, &RowidKey::new(&keyed, false), &sorter, context)?;
    let seen = boxes.finish()?;
    progress.enter(format!("nodes of {}", table.name));
    let by_id = SortedRows::new(RowidKey::new(&keyed, seen.is_numbered), sorter.finish()?, conflict);
    let key = HilbertKey::new(tree.layout, &seen.extent);
    let along_curve = SortedRows::sort(key, &by_id, Conflict::Abort, options, progress)?;
    drop(by_id);
    let node_bytes = tree.layout.node_bytes(pages.page_size().bytes());
    let capacity = tree.layout.capacity(node_bytes);
    let (rows, shape) = (along_curve.len(), TreeShape::new(along_curve.len(), capacity));
    let along_curve = along_curve.with_parts_of_multiples((capacity * capacity) as u64);
    let packed = PackedTree { tree, node_bytes, capacity: capacity as u64, shape };
    let (rowid_key, rowids) = (RowidKey::new(&keyed, false), Sorter::new(options.clone()));
    let nodes = build_nodes(NodeRows::new(&packed, &along_curve, &rowid_key, &rowids), pages, context)?;
    drop(along_curve);
    progress.enter(format!("rowids of {}", table.name));
    let rowids = SortedRows::new(rowid_key, rowids.finish()?, Conflict::Abort);
    let rowids = rowid::build(&rowids, pages, context)?;
    let parents = rowid::build(&ParentRows::new(&packed.shape), pages, context)?;
    let name = |suffix| format!("{}_{suffix}", table.name);
    Ok(ShadowTrees { rows, trees: [(name("node"), nodes), (name("rowid"), rowids), (name("parent"), parents)] })
}

/// Builds the table of nodes. The root is the first row, and known last.
fn build_nodes(rows: NodeRows<'_>, pages: &mut Pages, context: BuildContext<'_>) -> Result<TableTree> {
    let layout = RowidLayout { usable: pages.page_size().bytes(), must_ascend: true };
    let mut tree = RowidTree::new(pages);
    let placement = tree.reserve_first(ROOT_ROWID)?;
    append(&rows, &layout, &mut tree, None, context)?;
    let top = rows.finish()?;
    append(&OneChunk::new(top.inner_nodes), &layout, &mut tree, None, context)?;
    tree.write_reserved(&placement, ROOT_ROWID, &top.root)?;
    tree.finish()
}
