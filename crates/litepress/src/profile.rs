//! Profiles of databases, as recipes for databases that look alike.

use crate::{Progress, Result};
use std::path::Path;
use std::sync::Arc;

pub use litepress_profile::Profile;

/// Options of [`profile`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProfileOptions {
    /// Threads that read; by default one a core.
    pub threads: usize,
    /// Whether texts are kept in columns with few different ones.
    pub keep_values: bool,
    /// Carries the wish to stop.
    pub progress: Arc<Progress>,
}

impl Default for ProfileOptions {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { threads, keep_values: false, progress: Arc::default() }
    }
}

impl ProfileOptions {
    /// Sets the number of threads that read.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets whether texts are kept in columns with few different ones.
    #[must_use]
    pub fn keep_values(mut self, keep_values: bool) -> Self {
        self.keep_values = keep_values;
        self
    }

    /// Sets the object that carries the wish to stop.
    #[must_use]
    pub fn progress(mut self, progress: Arc<Progress>) -> Self {
        self.progress = progress;
        self
    }
}

/// Profiles a database. [`Profile::to_toml`] is a recipe for a database that looks alike; texts of rows are not in it, unless
/// [`ProfileOptions::keep_values`] says so.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("t.db");
/// # let mut db = litepress::Writer::create(&path, "CREATE TABLE t (a INTEGER)")?;
/// # (0..100).try_for_each(|row| db.table("t")?.insert([row]))?;
/// # db.finish()?;
/// let profile = litepress::profile(&path, &litepress::ProfileOptions::default())?;
/// assert_eq!(profile.tables[0].rows, 100);
/// let recipe = litepress::SchemaText::new(profile.to_toml(), "recipe.toml").recipe();
/// let report = litepress::generate(litepress::Target::Memory, recipe, &litepress::GenerateOptions::default())?;
/// assert_eq!(report.summary.rows, 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A file that SQLite cannot read; [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted) after a wish to stop.
pub fn profile(database: impl AsRef<Path>, options: &ProfileOptions) -> Result<Profile> {
    let ProfileOptions { threads, keep_values, ref progress } = *options;
    let options = litepress_profile::ProfileOptions { threads, keep_values };
    litepress_profile::profile(database.as_ref(), &options, &|| progress.go_on())
}
