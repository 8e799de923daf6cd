//! Work on a read snapshot, followed by a write transaction of the same state.

use super::transaction::{CheckpointLock, is_wal, prepare};
use super::{LiveDatabase, LiveTransaction};
use crate::Result;
use litepress_rows::sync::Mutex;
use litepress_scan::{FilePointer, Snapshot};
use rusqlite::{Connection, ffi};
use std::sync::Arc;
use std::time::{Duration, Instant};

impl LiveDatabase {
    /// Does `work` on a snapshot, then begins a write transaction on the same state of the database. Returns the transaction, the
    /// result of the work, and whether it had to be done twice.
    ///
    /// In WAL mode other programs may write during the work. If they commit, the work is done again within the write transaction. In
    /// rollback mode, readers keep writers from committing anyway, so the write lock is taken at once.
    ///
    /// # Errors
    /// If the work fails, or another program keeps the database locked.
    pub fn begin_after<T>(
        &mut self,
        work: impl Fn(&Connection, &Snapshot) -> Result<T>,
    ) -> Result<(LiveTransaction<'_>, T, bool)> {
        let is_wal = is_wal(&self.connection).map_err(|error| self.explain(&error))?;
        if is_wal && let Some((value, checkpoints)) = self.work_first(&work)? {
            return Ok((LiveTransaction::adopt(self, checkpoints)?, value, false));
        }
        let transaction = LiveTransaction::begin(self)?;
        let snapshot = Snapshot::of_write_transaction(transaction.database_connection())?;
        let value = work(transaction.database_connection(), &snapshot)?;
        Ok((transaction, value, is_wal))
    }

    /// Does `work` in a read transaction, and makes it a write transaction. Returns `None` if others committed meanwhile.
    fn work_first<T>(
        &self,
        work: &impl Fn(&Connection, &Snapshot) -> Result<T>,
    ) -> Result<Option<(T, CheckpointLock)>> {
        let connection = &self.connection;
        prepare(self).map_err(|error| self.explain(&error))?;
        let snapshot = Snapshot::begin(connection)?;
        let worked = work(connection, &snapshot).and_then(|value| {
            let file = Arc::new(Mutex::new(FilePointer::of_database(connection)?));
            Ok((value, CheckpointLock::take(self, &file)?))
        });
        drop(snapshot);
        let upgraded = worked.and_then(|(value, lock)| Ok(self.upgrade()?.then_some((value, lock))));
        if !matches!(upgraded, Ok(Some(_))) {
            // The lock of checkpoints is given up by now.
            let _ = connection.execute_batch("ROLLBACK");
        }
        upgraded
    }

    /// Makes the read transaction a write transaction. Returns `false` if others committed since it began.
    fn upgrade(&self) -> Result<bool> {
        let end = Instant::now() + self.options.busy_timeout;
        let version = self.connection.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0));
        let version = version.map_err(|error| self.explain(&error))?;
        loop {
            // Any write will do. This one changes nothing.
            let upgraded = self.connection.execute_batch(&format!("PRAGMA user_version = {version}"));
            let Err(error) = upgraded else { return Ok(true) };
            let code = error.sqlite_error().map_or(0, |error| error.extended_code);
            match code {
                ffi::SQLITE_BUSY_SNAPSHOT => return Ok(false),
                // Another program writes, and may yet give up. SQLite does not wait for it here.
                ffi::SQLITE_BUSY if Instant::now() < end => std::thread::sleep(Duration::from_millis(1)),
                _ => return Err(self.explain(&error)),
            }
        }
    }
}
