//! The shared state of one check: the file, the bitmap of pages, the list of faults.

use super::Watcher;
use super::page_map::{PageRecorder, PageUse};
use super::pages::PageFile;
use super::report::{Fault, FaultLog};
use super::tree::Tree;
use super::visited_pages::VisitedPages;
use litepress_format::header::DatabaseHeader;
use litepress_format::page::FILE_HEADER_LEN;
use litepress_format::ptrmap;
use litepress_rows::sqlite::is_let_down;
use litepress_rows::sync::{Mutex, lock};
use litepress_rows::{Error, ErrorKind, Result};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// One check of one file.
pub(super) struct CheckContext<'a> {
    pub(super) file: PageFile,
    pub(super) header: DatabaseHeader,
    pub(super) visited: VisitedPages,
    /// Whether a page has several references.
    shares_pages: AtomicBool,
    pub(super) faults: &'a FaultLog,
    /// Number of bytes of a record that are inspected.
    pub(super) record_limit: usize,
    /// Records the pages; `None` without a map.
    pub(super) recorder: Option<PageRecorder>,
    progress: Watcher<'a>,
    pages_done: AtomicU64,
    failure: Mutex<Option<Error>>,
    stopped: AtomicBool,
}

impl<'a> CheckContext<'a> {
    pub(super) fn new(
        file: PageFile,
        header: DatabaseHeader,
        faults: &'a FaultLog,
        record_limit: usize,
        progress: Watcher<'a>,
    ) -> Self {
        let visited = VisitedPages::new(file.count);
        Self {
            file,
            header,
            visited,
            shares_pages: AtomicBool::new(false),
            faults,
            record_limit,
            recorder: None,
            progress,
            pages_done: AtomicU64::new(0),
            failure: Mutex::new(None),
            stopped: AtomicBool::new(false),
        }
    }

    /// Sets the recorder of pages.
    pub(super) fn record(mut self, recorder: Option<PageRecorder>) -> Self {
        self.recorder = recorder;
        self
    }

    /// Records the use of a page outside the levels of a b-tree.
    pub(super) fn record_other(&self, page: u32, kind: PageUse) {
        if let Some(recorder) = &self.recorder {
            recorder.other_page(page, kind);
        }
    }

    /// Records a page of a b-tree: its level, or `None` for a leaf, and the number of its cells and free bytes.
    #[inline]
    pub(super) fn record_btree_page(&self, page: u32, level: Option<u32>, entries: usize, free_bytes: u64) {
        if let Some(recorder) = &self.recorder {
            recorder.btree_page(page, level, entries as u64, free_bytes);
        }
    }

    pub(super) fn has_pointer_map(&self) -> bool {
        self.header.largest_root_page != 0
    }

    pub(super) fn lock_byte_page(&self) -> u32 {
        self.header.page_size.lock_byte_page()
    }

    /// Marks a page that `from` points to. If the page cannot be used so, adds a fault and returns `false`.
    pub(super) fn claim(&self, page: u32, tree: &Tree, from: Option<u32>) -> bool {
        let problem = self.claim_quietly(page);
        if let Some(problem) = problem {
            self.faults.add(|| tree.fault(from, None, format!("points to page {page}, {problem}")));
        } else if let Some(recorder) = &self.recorder {
            recorder.reached(page, tree.number, from);
        }
        problem.is_none()
    }

    /// Marks a page. Returns the reason if the page cannot be used.
    pub(super) fn claim_quietly(&self, page: u32) -> Option<&'static str> {
        if !self.file.has(page) {
            return Some("which the file does not have");
        }
        if page == self.lock_byte_page() {
            return Some("the lock-byte page");
        }
        let is_map = |page| ptrmap::map_page_of(page, self.file.usable, self.lock_byte_page()) == Some(page);
        if self.has_pointer_map() && is_map(page) {
            return Some("a pointer-map page");
        }
        if self.visited.claim(page) {
            return None;
        }
        self.shares_pages.store(true, Ordering::Relaxed);
        Some("which is in use already: this is its second reference")
    }

    /// Returns whether a page has several references.
    pub(super) fn shares_pages(&self) -> bool {
        self.shares_pages.load(Ordering::Relaxed)
    }

    /// Returns the offset of the page header on a page.
    pub(super) fn header_offset(page: u32) -> usize {
        if page == 1 { FILE_HEADER_LEN } else { 0 }
    }

    pub(super) fn add_fault(&self, tree: &Tree, page: u32, offset: Option<usize>, what: impl Into<String>) {
        self.faults.add(|| tree.fault(Some(page), offset, what));
    }

    /// Reports that `pages` more pages were inspected. Fails if the callback does.
    pub(super) fn advance(&self, pages: u64) -> Result<()> {
        let done = self.pages_done.fetch_add(pages, Ordering::Relaxed) + pages;
        (self.progress)(done.min(self.file.count.into()), self.file.count.into())
    }

    /// Reports that all pages were inspected.
    pub(super) fn finish_progress(&self) -> Result<()> {
        (self.progress)(self.file.count.into(), self.file.count.into())
    }

    /// Adds the fault that SQLite cannot read a part of the file, for which `what` stands. If the system let SQLite down, the check
    /// fails instead, because the file may be whole.
    pub(super) fn sqlite_failed(&self, object: Option<String>, what: &str, error: &rusqlite::Error) {
        let what = format!("{what}: {error}");
        if matches!(error, rusqlite::Error::Utf8Error(..)) {
            // SQLite does not mind.
            let object = object.unwrap_or_else(|| "the schema".to_owned());
            self.faults.note(format!("{object}: not checked, because its definition is not valid UTF-8"));
        } else if is_let_down(error) {
            let what = object.map_or_else(|| what.clone(), |object| format!("{object}: {what}"));
            self.fail(Error::new(ErrorKind::Io, what).in_file(&self.file.path));
        } else {
            self.faults.add(|| Fault { page: None, offset: None, object, what });
        }
    }

    /// Makes all threads stop. Keeps the first failure.
    pub(super) fn fail(&self, error: Error) {
        lock(&self.failure).get_or_insert(error);
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Returns the failure, if a thread had one.
    pub(super) fn result(&self) -> Result<()> {
        lock(&self.failure).take().map_or(Ok(()), Err)
    }
}
