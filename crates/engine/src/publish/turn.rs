//! Lets the threads of this process look at a target and replace it one after another.
//!
//! A thread that replaces a target has it open for ten milliseconds at least. The target is in use to the others meanwhile, and the
//! last of many would lose their patience.

use super::folder_of;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};
use std::{fs, process};

/// Targets at which a thread has its turn, each with the thread's process: a fork copies the set, but not the threads.
static TAKEN: Mutex<BTreeSet<(u32, PathBuf)>> = Mutex::new(BTreeSet::new());
static ENDED: Condvar = Condvar::new();

/// The turn of a thread at a target. It ends when dropped.
pub struct Turn((u32, PathBuf));

impl Turn {
    /// Waits until no thread of this process has a turn at the target.
    ///
    /// REQUIRES: this thread has no turn at it.
    pub fn take(target: &Path) -> Self {
        let turn = (process::id(), one_name(target));
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        while taken.contains(&turn) {
            taken = ENDED.wait(taken).unwrap_or_else(PoisonError::into_inner);
        }
        taken.insert(turn.clone());
        Self(turn)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        TAKEN.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
        ENDED.notify_all();
    }
}

/// Returns the same path for each spelling of the target's folder, if there is such a folder.
fn one_name(target: &Path) -> PathBuf {
    match (fs::canonicalize(folder_of(target)), target.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => target.to_owned(),
    }
}
