//! Options of an append.

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
}

impl Default for AppendOptions {
    fn default() -> Self {
        Self { busy_timeout: Duration::from_secs(10), truncate: false, add_columns: false, enforce_foreign_keys: false }
    }
}

impl AppendOptions {
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

    /// Sets whether foreign keys are enforced.
    #[must_use]
    pub fn enforce_foreign_keys(mut self, enforce: bool) -> Self {
        self.enforce_foreign_keys = enforce;
        self
    }
}
