//! Options of an append.

use super::Route;
use crate::live::LiveOptions;
use crate::options::Options;
use std::time::Duration;

/// Options of an [`Append`](super::Append).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AppendOptions {
    /// Longest wait for a lock of another program.
    pub busy_timeout: Duration,
    /// Whether the rows of the tables are deleted before.
    pub truncate: bool,
    /// Whether columns that a table lacks are added to it.
    pub add_columns: bool,
    /// Whether foreign keys are enforced, and their actions happen. SQLite does so only on request.
    pub enforce_foreign_keys: bool,
    /// Whether all pages go through the WAL or the journal, so that programs which copy the WAL elsewhere get them. Always
    /// so if a sign of such a program is found.
    pub through_wal: bool,
    /// The route of all tables that can take it. By default the one that is estimated cheapest. For tests.
    #[doc(hidden)]
    pub route: Option<Route>,
}

impl Default for AppendOptions {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(10),
            truncate: false,
            add_columns: false,
            enforce_foreign_keys: false,
            through_wal: false,
            route: None,
        }
    }
}

impl AppendOptions {
    /// Returns the options of a change of the database's pages.
    pub(super) fn live(&self, build: &Options) -> LiveOptions {
        let (busy_timeout, through_wal) = (self.busy_timeout, self.through_wal);
        LiveOptions { build: build.clone(), busy_timeout, through_wal }
    }

    /// Sets the longest wait for a lock of another program.
    #[must_use]
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// Sets whether the rows of the tables are deleted before.
    #[must_use]
    pub fn truncate(mut self, truncate: bool) -> Self {
        self.truncate = truncate;
        self
    }

    /// Sets whether columns that a table lacks are added to it.
    #[must_use]
    pub fn add_columns(mut self, add_columns: bool) -> Self {
        self.add_columns = add_columns;
        self
    }

    /// Sets whether all pages go through the WAL or the journal.
    #[must_use]
    pub fn through_wal(mut self, through_wal: bool) -> Self {
        self.through_wal = through_wal;
        self
    }

    /// Sets whether foreign keys are enforced.
    #[must_use]
    pub fn enforce_foreign_keys(mut self, enforce: bool) -> Self {
        self.enforce_foreign_keys = enforce;
        self
    }
}
