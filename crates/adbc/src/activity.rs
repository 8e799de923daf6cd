//! Transactions of this process on a file.
//!
//! POSIX locks belong to a process: closing any handle of a file ends all of its locks on it. So litepress opens a file by itself
//! only while no other connection of the driver is within a transaction on it, and no other copy of SQLite in this process uses it.

use crate::sqlite::Sqlite;
use litepress::own_locks;
use litepress_rows::files::full_path;
use litepress_rows::sqlite::companion;
use litepress_rows::sync::lock;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// Whether a connection is within a transaction, or reads a result.
pub struct Activity {
    file: Option<PathBuf>,
    is_active: AtomicBool,
    sqlite: Mutex<Weak<Sqlite>>,
}

static ALL: Mutex<Vec<Weak<Activity>>> = Mutex::new(Vec::new());

/// Connections that were left open, with their files.
static LEFT: Mutex<Vec<(PathBuf, Arc<Sqlite>)>> = Mutex::new(Vec::new());

impl Activity {
    /// Registers a connection.
    pub fn new(file: Option<&Path>) -> Arc<Self> {
        let file = file.map(full_path);
        let activity = Arc::new(Self { file, is_active: AtomicBool::new(false), sqlite: Mutex::default() });
        let mut all = lock(&ALL);
        all.retain(|activity| activity.strong_count() > 0);
        all.push(Arc::downgrade(&activity));
        activity
    }

    /// Notes that a transaction begins or ends.
    pub fn note(&self, is_active: bool) {
        self.is_active.store(is_active, Ordering::SeqCst);
    }

    /// Notes the connection whose results are read.
    pub fn watch(&self, sqlite: &Arc<Sqlite>) {
        *lock(&self.sqlite) = Arc::downgrade(sqlite);
    }

    fn is_active(&self) -> bool {
        let sqlite = || lock(&self.sqlite).upgrade();
        self.is_active.load(Ordering::SeqCst)
            || sqlite().is_some_and(|sqlite| sqlite.open_results() > 0 || sqlite.is_at_work())
    }

    /// Returns whether another connection is within a transaction on the same file.
    pub fn others_are_active(self: &Arc<Self>) -> bool {
        self.others().any(|other| other.is_active())
    }

    /// Returns whether another copy of SQLite in this process, such as that of Python, uses the file. A lock tells that unless it may be
    /// one of the driver.
    pub fn is_used_by_another_copy(self: &Arc<Self>) -> bool {
        let Some(file) = &self.file else { return false };
        let copies = own_locks::copies_with_wal(file);
        if self.has_deleted_wal() {
            // The driver has the deleted one.
            return copies > 0;
        }
        let is_open = |of: &Self| lock(&of.sqlite).strong_count() > 0;
        let is_left = || lock(&LEFT).iter().any(|(left, _)| left == file);
        let own = usize::from(is_open(self) || self.others().any(|other| is_open(&other)) || is_left());
        match copies {
            0 => !self.is_active() && !self.others_are_active() && own_locks::has_own_lock(file),
            copies => copies > own,
        }
    }

    /// Returns whether the driver has a WAL of the file that was deleted. Another copy of SQLite takes itself for the last user of the
    /// database when it closes it, because locks of its own process do not keep it out. Commits would go to a file without a name.
    pub fn has_deleted_wal(&self) -> bool {
        self.file.as_deref().is_some_and(|file| has_deleted_handle(&companion(file, "-shm")))
    }

    /// Keeps a connection open to the end of the process, or until [`close_left`](Self::close_left): its end would end the locks of
    /// another copy of SQLite, and delete the WAL that this one writes to.
    pub fn leave_open(&self, sqlite: Arc<Sqlite>) {
        if let Some(file) = &self.file {
            lock(&LEFT).push((file.clone(), sqlite));
        }
    }

    /// Closes connections to the file that were left open. REQUIRES: no other copy of SQLite in this process uses the file.
    pub fn close_left(&self) {
        let closed: Vec<_> = lock(&LEFT).extract_if(.., |(file, _)| self.file.as_ref() == Some(file)).collect();
        closed.iter().for_each(|(_, sqlite)| sqlite.leave_wal());
    }

    fn others(self: &Arc<Self>) -> impl Iterator<Item = Arc<Self>> {
        let all: Vec<Arc<Self>> = lock(&ALL).iter().filter_map(Weak::upgrade).collect();
        all.into_iter().filter(move |other| !Arc::ptr_eq(self, other) && other.file == self.file)
    }
}

/// Returns whether this process has a handle of a deleted file that had this path. Without `/proc` none is found.
fn has_deleted_handle(path: &Path) -> bool {
    let mut deleted = path.as_os_str().to_owned();
    deleted.push(" (deleted)");
    let Ok(handles) = fs::read_dir("/proc/self/fd") else { return false };
    handles.flatten().any(|handle| fs::read_link(handle.path()).is_ok_and(|target| target == deleted))
}
