//! Tells whether somebody has written into a database that was closed meanwhile.

use litepress_rows::files::FileId;
use litepress_rows::sqlite::companion;
use litepress_rows::{Error, Result};
use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// Sizes and times of the files of a database: they differ once somebody has written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStamp {
    file: FileId,
    database: (u64, Option<SystemTime>),
    log: Option<(u64, Option<SystemTime>)>,
}

impl FileStamp {
    /// Looks at the files of the database at `path`.
    ///
    /// # Errors
    /// If it does not exist.
    pub fn of(path: &Path) -> Result<Self> {
        let failed = |error| Error::io("open", path, error);
        let found = fs::metadata(path).map_err(failed)?;
        // An empty log appears and vanishes as the database is read.
        let log = fs::metadata(companion(path, "-wal")).ok().filter(|log| log.len() > 0);
        Ok(Self {
            file: FileId::at(path).map_err(failed)?,
            database: (found.len(), found.modified().ok()),
            log: log.map(|log| (log.len(), log.modified().ok())),
        })
    }
}
