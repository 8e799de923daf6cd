//! One moment of a shard, and its pages.
//!
//! Up to [`MOST_KEPT`] shards stay open from their survey to the end, so that all of their tables are read from one moment.
//! More shards are closed in between. A shard that was changed since its survey is an error then.

use litepress_rows::{Error, ErrorKind, Result};
use litepress_scan::{ConnectionGuard, FileStamp, Moment, Snapshot};
use std::path::Path;

/// Number of shards that stay open. Each takes three files, and three more for each thread that reads it.
pub(crate) const MOST_KEPT: usize = 8;

/// An open shard.
#[derive(Debug)]
pub(crate) struct OpenShard {
    moment: Moment,
    snapshot: Snapshot,
}

impl OpenShard {
    /// Opens a database for reading.
    pub fn open(name: &Path) -> Result<Self> {
        let moment = Moment::begin(name)?;
        let snapshot = match moment.snapshot() {
            Some(snapshot) => snapshot.clone(),
            None => {
                let connection = moment.connection();
                connection.execute_batch("ROLLBACK").map_err(|error| moment.failure(error))?;
                Snapshot::begin(&connection).map_err(|error| error.in_file(name))?
            }
        };
        Ok(Self { moment, snapshot })
    }

    /// Opens a database that must be as it was at its survey.
    pub fn reopen(name: &Path, stamp: &FileStamp, change_counter: u32) -> Result<Self> {
        let shard = Self::open(name)?;
        if shard.snapshot.header().change_counter != change_counter || FileStamp::of(name)? != *stamp {
            let message = format!(
                "the database was changed while it was merged; only of up to {MOST_KEPT} databases one moment is kept to the end"
            );
            let error = Error::new(ErrorKind::Data, message).in_file(name);
            return Err(error.advise("merge again once nobody writes into it"));
        }
        Ok(shard)
    }

    pub fn connection(&self) -> ConnectionGuard<'_> {
        self.moment.connection()
    }

    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Converts an error of SQLite.
    pub fn failure(&self, error: rusqlite::Error) -> Error {
        self.moment.failure(error)
    }

    /// Checks that what was read is of one moment.
    pub fn check_unchanged(&self) -> Result<()> {
        self.moment.check_unchanged()
    }
}

impl Drop for OpenShard {
    fn drop(&mut self) {
        // The moment tidies up behind the last connection.
        self.snapshot.close_idle();
        self.moment.close();
    }
}
