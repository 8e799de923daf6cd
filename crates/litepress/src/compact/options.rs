//! Options of a copy.

use crate::Options;
use crate::observer::{NullObserver, Observer};
use std::sync::Arc;

/// Options of [`compact`](crate::compact()).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompactOptions {
    /// Options of the copy. The page size is by default that of the database.
    pub build: Options,
    /// Tables and views to keep, with their indexes and triggers; by default all.
    pub only: Vec<String>,
    /// Indexes that the copy lacks.
    pub drop_indexes: Vec<String>,
    /// Rowid tables that the copy has WITHOUT ROWID.
    pub without_rowid: Vec<String>,
    /// Whether the copy may lack the reserved bytes of the database.
    pub allow_incomplete: bool,
    /// Hears of the progress.
    pub observer: Arc<dyn Observer>,
}

impl Default for CompactOptions {
    fn default() -> Self {
        Self {
            build: Options::default(),
            only: Vec::new(),
            drop_indexes: Vec::new(),
            without_rowid: Vec::new(),
            allow_incomplete: false,
            observer: Arc::new(NullObserver),
        }
    }
}

impl CompactOptions {
    /// Sets the options of the copy.
    #[must_use]
    pub fn build(mut self, build: Options) -> Self {
        self.build = build;
        self
    }

    /// Adds a table or view to keep, with its indexes and triggers.
    #[must_use]
    pub fn only(mut self, table: impl Into<String>) -> Self {
        self.only.push(table.into());
        self
    }

    /// Adds an index that the copy lacks.
    #[must_use]
    pub fn drop_index(mut self, index: impl Into<String>) -> Self {
        self.drop_indexes.push(index.into());
        self
    }

    /// Adds a rowid table that the copy has WITHOUT ROWID.
    #[must_use]
    pub fn without_rowid(mut self, table: impl Into<String>) -> Self {
        self.without_rowid.push(table.into());
        self
    }

    /// Sets whether the copy may lack the reserved bytes of the database.
    #[must_use]
    pub fn allow_incomplete(mut self, allow: bool) -> Self {
        self.allow_incomplete = allow;
        self
    }

    /// Sets the observer.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = observer;
        self
    }
}
