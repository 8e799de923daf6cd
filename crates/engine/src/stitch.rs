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
            // What lies behind it will never be placed; its memory is wanted by those who still build what lies before.
            self.waiting.split_off(&number);
            self.failure = Some((number, error));
        }
    }

    /// Takes part `number`, and gives to `place` whatever has its predecessors now.
    pub fn deposit(&mut self, number: u64, part: P, mut place: impl FnMut(P) -> Result<()>) {
        if self.failure.as_ref().is_some_and(|(earliest, _)| number > *earliest) {
            return;
        }
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

    /// Where its pages go.
    pub fn pages(&self) -> &Pages {
        self.pages
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

/// An error, and the number of the part that it is in.
pub(crate) type InPart<T> = Result<T, (u64, Error)>;

/// Has threads take parts of some work until one says that there are no more, or that one has failed, each with what
/// `begin` makes and `finish` completes. Of errors, that of the first part counts.
pub(crate) fn take_all<W>(
    threads: usize,
    begin: impl Fn() -> W + Sync,
    take: impl Fn(&mut W) -> InPart<bool> + Sync,
    finish: impl Fn(W) -> Result<()> + Sync,
) -> Result<()> {
    let parts = Mutex::new(InOrder::<()>::new());
    on_threads(threads, || {
        let mut worker = begin();
        while !lock(&parts).has_failed() {
            match take(&mut worker) {
                Ok(true) => {}
                Ok(false) => break,
                Err((number, error)) => lock(&parts).fail(number, error),
            }
        }
        if let Err(error) = finish(worker) {
            lock(&parts).fail(u64::MAX, error);
        }
    });
    parts.into_inner().unwrap_or_else(PoisonError::into_inner).finish()
}

/// Has as many threads as said do the same work, this one among them. Where the system refuses to start so many, fewer do.
pub(crate) fn on_threads(threads: usize, work: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        for _ in 1..threads {
            if std::thread::Builder::new().spawn_scoped(scope, &work).is_err() {
                break;
            }
        }
        work();
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    /// Parts behind a failed one kept their memory for ever, and a builder that waited for memory never woke.
    #[test]
    fn what_lies_behind_a_failed_part_is_dropped() {
        let part = std::sync::Arc::new(());
        let mut parts = InOrder::new();
        parts.deposit(2, part.clone(), |_| Ok(()));
        parts.fail(1, Error::new(ErrorKind::Data, "the second part"));
        parts.deposit(3, part.clone(), |_| Ok(()));
        assert_eq!(std::sync::Arc::strong_count(&part), 1);
        parts.fail(0, Error::new(ErrorKind::Data, "the first part"));
        assert_eq!(parts.finish().unwrap_err().message(), "the first part");
    }

    #[test]
    fn parts_are_placed_in_order() {
        let mut parts = InOrder::new();
        let mut placed = Vec::new();
        for number in [2, 0, 3, 1] {
            parts.deposit(number, number, |part| {
                placed.push(part);
                Ok(())
            });
        }
        assert_eq!(placed, [0, 1, 2, 3]);
    }
}
