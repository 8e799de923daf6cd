//! Pages of a database under construction: runs of pages in memory, their numbers, and reading them back.
//!
//! ```text
//! page_run    consecutive pages in memory, built on every core, without numbers
//! numbering   runs get page numbers and go to the writers; only here are page numbers assigned
//! read_back   pages of a run, or of the file so far
//! ```

mod numbering;
mod page_run;
mod read_back;

pub(crate) use numbering::{Pages, Placement};
pub(crate) use page_run::PageRun;
pub(crate) use read_back::{PagesByNumber, PagesInOrder, RunPages, changed_pages};
