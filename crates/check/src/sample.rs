//! Chooses leaves of a b-tree at random while its interior pages are walked. Reservoir sampling (Vitter's algorithm R) of runs
//! of neighbouring leaves: the number of leaves need not be known, and memory is bounded by the sample.
//!
//! The choice follows from the tree's root page alone, so a second look at the same file sees the same leaves.

use super::context::CheckContext;
use super::leaf::{Bound, Task};
use litepress_rows::{Result, counted};
use std::fmt;
use std::ops::Range;

/// Leaves that are chosen together: the order across pages is looked at, too, and a disk reads them at once.
const RUN_PAGES: usize = 8;

/// The share of leaves that a sample saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleReport {
    /// Number of leaves that were read.
    pub leaves_read: u64,
    /// Number of all leaves.
    pub leaves: u64,
}

impl SampleReport {
    /// Returns the share of leaves that were read, from 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.leaves == 0 { 1.0 } else { self.leaves_read as f64 / self.leaves as f64 }
    }
}

impl fmt::Display for SampleReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (read, leaves, percent) = (self.leaves_read, counted(self.leaves, "leaf page"), 100.0 * self.share());
        write!(
            f,
            "a sample, which is no proof: {read} of {leaves} ({percent:.2} %), all interior pages, the header and the freelist \
             were read; neither entries against rows, nor unused pages, nor full-text and R-Tree contents"
        )
    }
}

/// A sample of the leaves of one tree. The last run is always a part of it: that is where rows are appended.
pub(super) struct Sampler<'t> {
    /// Number of runs in the sample.
    capacity: usize,
    /// Number of runs so far, without the last one.
    runs: u64,
    kept: Vec<Task<'t>>,
    last: Option<Task<'t>>,
    random: u64,
    pub(super) report: SampleReport,
}

impl<'t> Sampler<'t> {
    /// Starts with no leaves. `leaves` is the size of the sample.
    pub(super) fn new(leaves: u64, root: u32) -> Self {
        let capacity = usize::try_from(leaves.div_ceil(RUN_PAGES as u64)).unwrap_or(usize::MAX).max(2) - 1;
        let random = u64::from(root).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        Self { capacity, runs: 0, kept: Vec::new(), last: None, random, report: SampleReport::default() }
    }

    /// Adds the leaves of a task. Fails if the callback of the check does.
    pub(super) fn add(&mut self, task: &Task<'t>, context: &CheckContext<'_>) -> Result<()> {
        self.add_task(task);
        // The walk goes on for long without a leaf that is read.
        context.advance(0)
    }

    fn add_task(&mut self, task: &Task<'t>) {
        self.report.leaves += task.pages.len() as u64;
        for start in (0..task.pages.len()).step_by(RUN_PAGES) {
            let end = (start + RUN_PAGES).min(task.pages.len());
            if let Some(before) = self.last.replace(part(task, start..end)) {
                self.add_run(before);
            }
        }
    }

    fn add_run(&mut self, run: Task<'t>) {
        self.runs += 1;
        if self.kept.len() < self.capacity {
            return self.kept.push(run);
        }
        let place = usize::try_from(self.next_random() % self.runs).unwrap_or(usize::MAX);
        if let Some(kept) = self.kept.get_mut(place) {
            *kept = run;
        }
    }

    /// Returns the next number of a xorshift generator.
    fn next_random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    /// Returns the chosen leaves, and the share that they are.
    pub(super) fn finish(self) -> (impl Iterator<Item = Task<'t>>, SampleReport) {
        let tasks: Vec<Task<'t>> = self.kept.into_iter().chain(self.last).collect();
        let leaves_read = tasks.iter().map(|task| task.pages.len() as u64).sum();
        (tasks.into_iter(), SampleReport { leaves_read, ..self.report })
    }
}

/// Returns some leaves of a task as a task of its own. In an index, its first and last entries have no neighbour then.
fn part<'t>(task: &Task<'t>, leaves: Range<usize>) -> Task<'t> {
    let lower = match leaves.start.checked_sub(1) {
        None => task.lower.clone(),
        Some(before) => task.dividers[before].rowid.map_or(Bound::None, Bound::Rowid),
    };
    Task {
        tree: task.tree,
        pages: task.pages[leaves.clone()].to_vec(),
        dividers: task.dividers[leaves.clone()].to_vec(),
        interior: task.interior.clone(),
        lower,
        upper: if leaves.end == task.pages.len() { task.upper.clone() } else { Bound::None },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leaf::Divider;
    use crate::tree::Tree;
    use litepress_format::header::TextEncoding;
    use std::collections::HashSet;

    fn tree() -> Tree {
        Tree {
            name: "t".into(),
            number: 1,
            kind: crate::BtreeKind::Table,
            root: 2,
            has_rowids: Some(true),
            rules: crate::record::RecordRules::new(None, TextEncoding::Utf8, 4),
            order: None,
            digests: Vec::new(),
            totals: Default::default(),
        }
    }

    fn sampled(leaves: u64, tasks: &[Range<u32>]) -> (Vec<u32>, SampleReport) {
        let tree = tree();
        let mut sampler = Sampler::new(leaves, tree.root);
        for pages in tasks {
            let dividers = pages.clone().map(|page| Divider { rowid: Some(page.into()), cell: None });
            sampler.add_task(&Task {
                tree: &tree,
                pages: pages.clone().collect(),
                dividers: dividers.collect(),
                interior: None,
                lower: Bound::None,
                upper: Bound::None,
            });
        }
        let (tasks, report) = sampler.finish();
        let mut pages = Vec::new();
        for task in tasks {
            let before = task.pages[0] - 1;
            assert!(task.lower.rowid().is_none_or(|lower| lower == i64::from(before)));
            pages.extend(task.pages);
        }
        (pages, report)
    }

    #[test]
    fn a_small_tree_is_seen_as_a_whole() {
        let (pages, report) = sampled(1000, &[10..70, 80..83]);
        assert_eq!(pages, (10..70).chain(80..83).collect::<Vec<_>>());
        assert_eq!(report, SampleReport { leaves_read: 63, leaves: 63 });
    }

    #[test]
    fn a_large_tree_is_seen_all_over() {
        let tasks: Vec<Range<u32>> = (0..1000).map(|task| task * 100..(task + 1) * 100).collect();
        let (pages, report) = sampled(1600, &tasks);
        assert!(report.leaves == 100_000 && report.leaves_read == pages.len() as u64);
        assert!((1500..=1600).contains(&pages.len()), "{}", pages.len());
        assert_eq!(pages.iter().collect::<HashSet<_>>().len(), pages.len());
        assert!(pages.contains(&99_999));
        let tenths: HashSet<u32> = pages.iter().map(|page| page / 10_000).collect();
        assert_eq!(tenths.len(), 10);
    }
}
