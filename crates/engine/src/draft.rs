//! A database that has no name yet, and that SQLite may change before it gets one.

use crate::Result;
use crate::options::Sync;
use crate::publish::Publication;
use std::path::Path;

/// A file beside its target, under a temporary name.
///
/// Dropped unpublished, it leaves nothing behind. Connections to it must be closed before.
pub struct Draft {
    publication: Publication,
    sync: Sync,
}

impl Draft {
    /// Makes an empty file, which is a database without tables.
    ///
    /// # Errors
    /// If no file can be made beside the target.
    pub fn begin(target: &Path, sync: Sync) -> Result<Self> {
        Ok(Self::new(Publication::of_draft(target)?, sync))
    }

    pub(crate) fn new(publication: Publication, sync: Sync) -> Self {
        Self { publication, sync }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        self.publication.temporary()
    }

    /// Waits for the disk and gives the file its name.
    ///
    /// # Errors
    /// If the name is taken meanwhile, or a sync or the rename fails.
    pub fn publish(self) -> Result<()> {
        let Self { publication, sync } = self;
        if sync == Sync::Full {
            publication.sync()?;
        }
        publication.commit(sync)
    }
}
