//! Walks the interior pages of a b-tree on one thread, and hands out the leaves below them as tasks.
//!
//! It enters only claimed pages, and a tree has at most [`MAX_DEPTH`] levels, so the walk ends on any file. Its memory
//! is one interior page per level.

use super::context::CheckContext;
use super::leaf::{Bound, CellAt, Divider, Interior, Scanner, Task};
use super::tree::Tree;
use litepress_format::page::PageReader;
use litepress_format::ptrmap::{Entry, EntryKind};
use litepress_rows::Result;
use std::sync::Arc;

/// The depth of the deepest tree that SQLite walks.
const MAX_DEPTH: u32 = 20;
/// A leaf that lies at most this far behind the one before it comes with the same read.
const READ_AHEAD_PAGES: u32 = 8;
/// Bytes of leaves in one task: many reads, but many tasks in any tree that is worth more than one thread.
const TASK_BYTES: usize = 2 * 1024 * 1024;

/// A callback that takes the tasks of a walk. Returning `false` stops the walk.
pub(super) type Emit<'e, 't> = &'e mut dyn FnMut(Task<'t>) -> Result<bool>;

/// Walks the tree and hands out its leaves.
pub(super) fn walk<'t>(scanner: &mut Scanner<'_>, tree: &'t Tree, emit: Emit<'_, 't>) -> Result<()> {
    scanner.start(tree);
    let context = scanner.context;
    if context.claim(tree.root, tree, None) {
        scanner.map.expect(context, tree.root, Entry { kind: EntryKind::RootPage, parent: 0 })?;
        let leaf_depth = match leaf_depth(context, tree.root, End::Left)? {
            None => leaf_depth(context, tree.root, End::Right)?,
            found => found,
        };
        match leaf_depth {
            Some(leaf_depth) => Walk { scanner, tree, leaf_depth, last_leaf: None, emit }.root()?,
            None => {
                scanner.totals.incomplete = true;
                context.add_fault(tree, tree.root, None, "no way leads from the root to a leaf");
            }
        }
    } else {
        scanner.totals.incomplete = true;
    }
    scanner.flush(tree);
    Ok(())
}

/// The child to follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Left,
    Right,
}

/// Returns the level of the leaf at one end of a tree. The root has level 1.
fn leaf_depth(context: &CheckContext<'_>, root: u32, end: End) -> Result<Option<u32>> {
    let mut bytes = Vec::new();
    let mut page = root;
    for depth in 1..=MAX_DEPTH {
        if !context.file.has(page) {
            return Ok(None);
        }
        context.file.read(page, 1, &mut bytes)?;
        let header_offset = CheckContext::header_offset(page);
        let Ok(reader) = PageReader::new(&bytes, header_offset, context.file.usable) else { return Ok(None) };
        let first_child = || reader.cell(0).ok().and_then(|(cell, _)| cell.left_child());
        let next = match reader.right_child() {
            None => return Ok(Some(depth)),
            Some(_) if end == End::Left && reader.cell_count() > 0 => first_child(),
            right_child => right_child,
        };
        let Some(next) = next else { return Ok(None) };
        page = next;
    }
    Ok(None)
}

struct Walk<'w, 's, 'e, 't> {
    scanner: &'w mut Scanner<'s>,
    tree: &'t Tree,
    leaf_depth: u32,
    /// The last leaf that was handed out.
    last_leaf: Option<u32>,
    emit: Emit<'e, 't>,
}

/// A child of an interior page, with the divider to its right.
struct Child {
    page: u32,
    /// Offset of the interior cell; `None` for the right-most child.
    cell: Option<usize>,
    /// Position of that cell on the page.
    index: usize,
    /// The rowid of the divider.
    rowid: Option<i64>,
}

impl<'t> Walk<'_, '_, '_, 't> {
    fn root(&mut self) -> Result<()> {
        self.scanner.totals.depth = self.leaf_depth;
        match self.leaf_depth {
            1 => self.emit_single(self.tree.root, Bound::None, Bound::None).map(drop),
            _ => self.interior(self.tree.root, 1, Bound::None, Bound::None).map(drop),
        }
    }

    /// Hands out a task of one leaf.
    fn emit_single(&mut self, page: u32, lower: Bound, upper: Bound) -> Result<bool> {
        self.count_sequential(page);
        let dividers = vec![Divider { rowid: upper.rowid(), cell: None }];
        (self.emit)(Task { tree: self.tree, pages: vec![page], dividers, interior: None, lower, upper })
    }

    /// Walks the pages below a claimed page on level `depth`, which should be an interior page. Returns `false` if the
    /// walk is stopped.
    fn interior(&mut self, page: u32, depth: u32, lower: Bound, upper: Bound) -> Result<bool> {
        let mut bytes = Vec::new();
        self.scanner.context.file.read(page, 1, &mut bytes)?;
        let Some(reader) = self.scanner.open(self.tree, page, &bytes) else { return Ok(true) };
        if reader.kind().is_leaf() {
            let what = format!("a leaf on level {depth}, the first one is on level {}", self.leaf_depth);
            self.scanner.context.add_fault(self.tree, page, None, what);
            return self.emit_single(page, lower, upper);
        }
        self.scanner.totals.interior_pages += 1;
        self.scanner.context.advance(1)?;
        // Page 1 has less room than others, so SQLite may have to keep its only child as it is.
        if reader.cell_count() == 0 && page != 1 {
            self.scanner.context.add_fault(self.tree, page, None, "an interior page without a cell");
        }
        let free_bytes = self.scanner.totals.free_bytes;
        let mut children = self.children(page, &reader, &bytes)?;
        let free_bytes = self.scanner.totals.free_bytes - free_bytes;
        self.scanner.context.record_btree_page(page, Some(depth), reader.cell_count(), free_bytes);
        self.check_dividers(page, &children, lower.rowid(), upper.rowid());
        self.claim_children(page, &mut children)?;
        if depth + 1 < self.leaf_depth {
            self.descend(page, &bytes, &children, depth, lower, upper)
        } else {
            self.emit_leaves(Interior { number: page, bytes }, &children, lower, upper)
        }
    }

    /// Returns the children of an interior page in key order. Also checks the use of its space.
    fn children(&mut self, page: u32, reader: &PageReader<'_>, bytes: &[u8]) -> Result<Vec<Child>> {
        let mut children = Vec::with_capacity(reader.cell_count() + 1);
        self.scanner.each_cell(self.tree, page, (reader, bytes), |_, CellAt { offset, index, .. }, cell| {
            let child = |page| Child { page, cell: Some(offset), index, rowid: cell.rowid() };
            children.extend(cell.left_child().map(child));
            Ok(())
        })?;
        let last = reader.right_child().map(|page| Child { page, cell: None, index: reader.cell_count(), rowid: None });
        children.extend(last);
        Ok(children)
    }

    /// Checks that the dividers of a rowid table ascend between the bounds of their page.
    fn check_dividers(&self, page: u32, children: &[Child], lower: Option<i64>, upper: Option<i64>) {
        let mut last = lower;
        for child in children {
            let Some(divider) = child.rowid else { continue };
            let outside = last.is_some_and(|last| divider <= last) || upper.is_some_and(|upper| divider > upper);
            if outside {
                let what = format!("the divider {divider} is not between those around it");
                self.scanner.context.add_fault(self.tree, page, child.cell, what);
            }
            last = last.max(Some(divider));
        }
    }

    /// Claims the children. Keeps only those to which nothing else points.
    fn claim_children(&mut self, page: u32, children: &mut Vec<Child>) -> Result<()> {
        let context = self.scanner.context;
        let before = children.len();
        children.retain(|child| context.claim(child.page, self.tree, Some(page)));
        self.scanner.totals.incomplete |= children.len() < before;
        for child in children {
            self.scanner.map.expect(context, child.page, Entry { kind: EntryKind::Child, parent: page })?;
        }
        Ok(())
    }

    /// Walks the children one by one.
    fn descend(
        &mut self,
        page: u32,
        bytes: &[u8],
        children: &[Child],
        depth: u32,
        mut lower: Bound,
        upper: Bound,
    ) -> Result<bool> {
        for child in children {
            let divider = match child.cell {
                None => upper.clone(),
                Some(_) => self.divider(page, bytes, child)?,
            };
            if !self.interior(child.page, depth + 1, lower, divider.clone())? {
                return Ok(false);
            }
            lower = divider;
        }
        Ok(true)
    }

    /// Returns the right bound of a child. This is the only place where the entry of an index on such a page is
    /// checked.
    fn divider(&mut self, page: u32, bytes: &[u8], child: &Child) -> Result<Bound> {
        if let Some(rowid) = child.rowid {
            return Ok(Bound::Rowid(rowid));
        }
        let usable = self.scanner.context.file.usable;
        let reader = PageReader::new(bytes, CheckContext::header_offset(page), usable);
        let payload = reader.and_then(|reader| reader.cell(child.index)).ok().and_then(|(cell, _)| cell.payload());
        match (payload, child.cell) {
            (Some(payload), Some(offset)) => {
                let at = CellAt { tree: self.tree, page, offset, index: child.index };
                self.scanner.bounding_entry(at, payload)
            }
            _ => Ok(Bound::None),
        }
    }

    /// Hands out the leaves below a page of the last interior level.
    fn emit_leaves(&mut self, interior: Interior, children: &[Child], mut lower: Bound, upper: Bound) -> Result<bool> {
        let interior = Arc::new(interior);
        let per_task = (TASK_BYTES / self.scanner.context.file.page_size()).max(16);
        let mut rest = children;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(per_task));
            now.iter().for_each(|child| self.count_sequential(child.page));
            let last = &now[now.len() - 1];
            let right = match last.cell {
                Some(_) if !later.is_empty() || last.rowid.is_none() => {
                    self.divider(interior.number, &interior.bytes, last)?
                }
                _ => upper.clone(),
            };
            let mut task = self.task(now, &interior, lower, right.clone());
            if let Some(divider) = task.dividers.last_mut() {
                *divider = Divider { rowid: last.rowid.or(upper.rowid()), cell: None };
            }
            if !(self.emit)(task)? {
                return Ok(false);
            }
            (rest, lower) = (later, right);
        }
        Ok(true)
    }

    /// Counts a leaf if reading on from the one before it leads there.
    fn count_sequential(&mut self, page: u32) {
        let is_sequential = self.last_leaf.is_none_or(|last| page > last && page - last <= READ_AHEAD_PAGES);
        self.scanner.totals.sequential_leaves += u64::from(is_sequential);
        if let Some(recorder) = self.scanner.context.recorder.as_ref().filter(|_| !is_sequential) {
            recorder.jump(page);
        }
        self.last_leaf = Some(page);
    }

    fn task(&self, children: &[Child], interior: &Arc<Interior>, lower: Bound, upper: Bound) -> Task<'t> {
        let in_index = |child: &Child| child.rowid.is_none() && child.cell.is_some();
        let divider = |child: &Child| Divider { rowid: child.rowid, cell: in_index(child).then_some(child.index) };
        Task {
            tree: self.tree,
            pages: children.iter().map(|child| child.page).collect(),
            dividers: children.iter().map(divider).collect(),
            interior: children.iter().any(in_index).then(|| Arc::clone(interior)),
            lower,
            upper,
        }
    }
}
