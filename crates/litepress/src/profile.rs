//! Profiles of databases, as recipes for databases that look alike, and comparisons of two databases.

use crate::text_file::{TextFile, TextKind};
use crate::{Progress, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use litepress_profile::{Comparison as DatabaseComparison, Profile};

/// Options of [`profile`] and [`compare`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProfileOptions {
    /// Threads that read; by default one a core.
    pub threads: usize,
    /// Whether texts are kept in columns with few different ones.
    pub keep_values: bool,
    /// The file of a page that shows the values: histograms, shares, NULL, relations.
    pub html: Option<PathBuf>,
    /// Whether that file is replaced if it exists. It must be a page.
    pub overwrite: bool,
    /// Carries the wish to stop.
    pub progress: Arc<Progress>,
}

impl Default for ProfileOptions {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { threads, keep_values: false, html: None, overwrite: false, progress: Arc::default() }
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

    /// Sets the file of a page that shows the values.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let (path, page) = (folder.path().join("t.db"), folder.path().join("t.html"));
    /// # litepress::Writer::create(&path, "CREATE TABLE t (a)")?.finish()?;
    /// litepress::profile(&path, &litepress::ProfileOptions::default().html(&page))?;
    /// assert!(std::fs::read_to_string(&page)?.starts_with("<!doctype html>"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn html(mut self, page: impl Into<PathBuf>) -> Self {
        self.html = Some(page.into());
        self
    }

    /// Sets whether the file of the page is replaced if it exists.
    #[must_use]
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
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
/// A file that SQLite cannot read; [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted) after a wish to stop. If the page cannot be written.
pub fn profile(database: impl AsRef<Path>, options: &ProfileOptions) -> Result<Profile> {
    let database = database.as_ref();
    let page = options.page(&[database])?;
    let ProfileOptions { threads, keep_values, ref progress, .. } = *options;
    let of_engine = litepress_profile::ProfileOptions { threads, keep_values };
    let profile = litepress_profile::profile(database, &of_engine, &|| progress.go_on())?;
    if let Some(page) = page {
        page.write(&litepress_html::profile_page(database, &profile))?;
    }
    Ok(profile)
}

/// Compares the values of two databases: the histograms of every column side by side, and how far apart they are.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let paths = ["a.db", "b.db"].map(|name| folder.path().join(name));
/// for path in &paths {
///     let mut db = litepress::Writer::create(path, "CREATE TABLE t (a INTEGER)")?;
///     (0..100).try_for_each(|row| db.table("t")?.insert([row]))?;
///     db.finish()?;
/// }
/// let comparison = litepress::compare(&paths[0], &paths[1], &litepress::ProfileOptions::default())?;
/// assert_eq!(comparison.tables[0].columns[0].distance, 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`profile`]; [`ErrorKind::Data`](crate::ErrorKind::Data) if the other database lacks a table or a column of the first.
pub fn compare(
    database: impl AsRef<Path>,
    other: impl AsRef<Path>,
    options: &ProfileOptions,
) -> Result<DatabaseComparison> {
    let (one, other) = (database.as_ref(), other.as_ref());
    let page = options.page(&[one, other])?;
    let comparison = litepress_profile::compare(one, other, options.threads, &|| options.progress.go_on())?;
    if let Some(page) = page {
        page.write(&litepress_html::comparison_page([one, other], &comparison))?;
    }
    Ok(comparison)
}

impl ProfileOptions {
    /// Returns the file of the page. `read` are the databases.
    fn page(&self, read: &[&Path]) -> Result<Option<TextFile>> {
        let page = |page: &PathBuf| TextFile::new(page, TextKind::Page, self.overwrite, read, None);
        self.html.as_ref().map(page).transpose()
    }
}
