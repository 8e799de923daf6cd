//! Parts of a tree, finished in any order by any worker, put together in their own.

use crate::pages::{PageRun, Pages, Placement};
use crate::tree::interior::{Child, Divider, Levels, Root, write_interior};
use crate::tree::open_page::write_empty;
use crate::{Error, Result};
use litepress_format::page::PageKind;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Holds parts back until those before them are there.
pub(crate) struct InOrder<P> {
    next: u64,
    /// Parts whose predecessors are still being built.
    waiting: BTreeMap<u64, P>,
    /// The failure of the earliest part that failed, so that the same input gives the same error.
    failure: Option<(u64, Error)>,
}

impl<P> InOrder<P> {
    pub fn new() -> Self {
        Self { next: 0, waiting: BTreeMap::new(), failure: None }
    }

    pub fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Notes a failure; `number` is that of its part.
    pub fn fail(&mut self, number: u64, error: Error) {
        if self.failure.as_ref().is_none_or(|(earliest, _)| number < *earliest) {
            self.failure = Some((number, error));
        }
    }

    /// Takes part `number`, and gives to `place` whatever has its predecessors now.
    pub fn deposit(&mut self, number: u64, part: P, mut place: impl FnMut(P) -> Result<()>) {
        self.waiting.insert(number, part);
        while let Some(part) = self.waiting.remove(&self.next) {
            if let Err(error) = place(part) {
                return self.fail(self.next, error);
            }
            self.next += 1;
        }
    }

    /// All parts are there, or one of them failed.
    pub fn finish(self) -> Result<()> {
        self.failure.map_or(Ok(()), |(_, error)| Err(error))
    }
}

/// Gives parts their page numbers and builds the levels above them.
pub(crate) struct TreeStitch<'p, D> {
    pages: &'p mut Pages,
    levels: Levels<D>,
}

impl<'p, D: Divider> TreeStitch<'p, D> {
    pub fn new(pages: &'p mut Pages) -> Self {
        let levels = Levels::new(pages.page_size().bytes());
        Self { pages, levels }
    }

    /// Places the next part and has it written, with the interior pages that it completes behind it. `child` makes of
    /// each leaf a child of the level above.
    pub fn place<L>(
        &mut self,
        mut run: PageRun,
        leaves: Vec<L>,
        child: impl Fn(L, Placement) -> Child<D>,
    ) -> Result<()> {
        let placement = self.pages.place(&mut run)?;
        for leaf in leaves {
            let pages = &mut *self.pages;
            let write = |children: &[_]| append_interior(pages, &mut run, placement, children);
            self.levels.push(child(leaf, placement), write)?;
        }
        self.pages.write(run, placement)
    }

    /// Completes the tree; the number of its root. A tree without leaves gets an empty one of kind `empty`.
    pub fn finish(self, empty: PageKind) -> Result<u32> {
        let Self { pages, levels } = self;
        let usable = pages.page_size().bytes();
        let mut run = pages.new_run();
        let placement = pages.place(&mut run)?;
        let root = match levels.finish(usable, |children| append_interior(pages, &mut run, placement, children))? {
            Root::Leaf(Some(leaf)) => leaf,
            Root::Interior(children) => append_interior(pages, &mut run, placement, &children)?,
            Root::Leaf(None) => {
                let (index, number) = pages.append(&mut run, placement)?;
                write_empty(run.page_mut(index), 0, usable, empty);
                number
            }
        };
        pages.write(run, placement)?;
        Ok(root)
    }
}

/// Writes an interior page behind the pages of `run`, and returns its number.
pub(crate) fn append_interior<D: Divider>(
    pages: &mut Pages,
    run: &mut PageRun,
    placement: Placement,
    children: &[Child<D>],
) -> Result<u32> {
    let usable = pages.page_size().bytes();
    let (index, number) = pages.append(run, placement)?;
    write_interior(run.page_mut(index), 0, usable, children);
    Ok(number)
}

/// A mutex whose holder panicked is as good as any: the panic ends the run anyway.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has as many threads as said do the same work; a single one does it on this thread.
pub(crate) fn on_threads(threads: usize, work: impl Fn() + Sync) {
    if threads <= 1 {
        return work();
    }
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(&work);
        }
    });
}
