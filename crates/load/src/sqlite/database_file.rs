//! A database file that is open at one moment, or closed until it is read.

use super::MOST_KEPT;
use litepress_rows::sync::{Mutex, lock};
use litepress_rows::{Error, ErrorKind, Result};
use litepress_scan::{FileStamp, Moment};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file of a database.
#[derive(Debug)]
pub(super) struct DatabaseFile {
    /// Its name in errors.
    name: PathBuf,
    state: Mutex<State>,
    /// The files when they were first opened.
    stamp: FileStamp,
    /// The counter in the header, which commits outside WAL mode raise. `None` if pages cannot be read.
    change_counter: Option<u32>,
}

#[derive(Debug)]
enum State {
    /// Open from the beginning to the end.
    Kept(Arc<Moment>),
    /// Open while a table is read.
    Released,
}

impl DatabaseFile {
    /// Opens a database, and begins its moment.
    ///
    /// # Errors
    /// As [`Moment::begin`].
    pub fn open(name: &Path) -> Result<(Self, Arc<Moment>)> {
        let stamp = FileStamp::of(name)?;
        let moment = Arc::new(Moment::begin(name)?);
        let (change_counter, state) = (change_counter(&moment), Mutex::new(State::Kept(moment.clone())));
        Ok((Self { name: name.to_owned(), state, stamp, change_counter }, moment))
    }

    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Closes the database until its [moment](Self::moment) is asked for. Moments that were handed out last as long as they are
    /// used.
    pub fn release(&self) {
        *lock(&self.state) = State::Released;
    }

    /// Closes the database once no thread reads it, until its [moment](Self::moment) is asked for again. Moments that were handed out
    /// end.
    pub fn close(&self) {
        let state = std::mem::replace(&mut *lock(&self.state), State::Released);
        if let State::Kept(moment) = state {
            moment.close();
        }
    }

    /// Returns the moment. Opens the database if it was released.
    ///
    /// # Errors
    /// If the database was changed since it was first opened.
    pub fn moment(&self) -> Result<Arc<Moment>> {
        if let State::Kept(moment) = &*lock(&self.state) {
            return Ok(moment.clone());
        }
        let moment = Moment::begin(&self.name)?;
        if change_counter(&moment) != self.change_counter || FileStamp::of(&self.name)? != self.stamp {
            let message = format!(
                "the database was changed while it was loaded; only of up to {MOST_KEPT} databases one moment is kept to the end"
            );
            let error = Error::new(ErrorKind::Data, message).in_file(&self.name);
            return Err(error.advise("load again once nobody writes into it"));
        }
        Ok(Arc::new(moment))
    }
}

fn change_counter(moment: &Moment) -> Option<u32> {
    moment.snapshot().map(|snapshot| snapshot.header().change_counter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_released_database_must_stay_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let writer = rusqlite::Connection::open(&path).unwrap();
        writer.execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1)").unwrap();
        let (file, moment) = DatabaseFile::open(&path).unwrap();
        drop(moment);
        file.release();
        assert!(file.moment().is_ok(), "nobody has written");
        writer.execute_batch("UPDATE t SET a = 2").unwrap();
        let error = file.moment().unwrap_err();
        assert!(error.message().contains("changed while it was loaded"), "{error}");
    }

    #[test]
    fn a_closed_database_can_be_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let writer = rusqlite::Connection::open(&path).unwrap();
        writer.execute_batch("CREATE TABLE t (a)").unwrap();
        let (file, first) = DatabaseFile::open(&path).unwrap();
        file.close();
        let again = file.moment().unwrap();
        assert!(!Arc::ptr_eq(&first, &again), "the first moment has ended");
    }
}
