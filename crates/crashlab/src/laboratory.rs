//! A folder that is watched.

use crate::faults::{CallKind, Fault};
use crate::recording::{Event, Recording};
use crate::shim;
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Watches all files that SQLite opens in a folder, from its creation until it is dropped.
#[derive(Debug)]
pub struct Laboratory {
    bench: Arc<Bench>,
}

/// The watched folder, as the shim knows it.
#[derive(Debug)]
pub(crate) struct Bench {
    pub folder: PathBuf,
    state: Mutex<BenchState>,
}

#[derive(Debug, Default)]
pub(crate) struct BenchState {
    recording: Option<Recording>,
    fault: Option<Fault>,
    /// Number of calls since the last [`Laboratory::fail`] or [`Laboratory::count`].
    calls: BTreeMap<CallKind, u64>,
    failed_calls: u64,
    pub open_files: usize,
    pub skips_syncs: bool,
}

impl Laboratory {
    /// Watches a folder.
    ///
    /// # Errors
    /// If the folder does not exist.
    pub fn new(folder: &Path) -> io::Result<Self> {
        let folder = std::fs::canonicalize(folder)?;
        let bench = Arc::new(Bench { folder, state: Mutex::default() });
        shim::watch(&bench);
        Ok(Self { bench })
    }

    /// Begins to record. The present files count as durable.
    ///
    /// # Errors
    /// If a file of the folder cannot be read.
    pub fn record(&self) -> io::Result<()> {
        let files = files(&self.bench.folder)?;
        self.bench.state().recording = Some(Recording { files, events: Vec::new() });
        Ok(())
    }

    /// Records that the program was told that its change is durable.
    pub fn mark_end(&self) {
        self.bench.state().event(|| Event::End);
    }

    /// Ends the recording and returns it.
    #[must_use]
    pub fn recording(&self) -> Recording {
        self.bench.state().recording.take().unwrap_or_default()
    }

    /// Makes calls fail from now on.
    pub fn fail(&self, fault: Fault) {
        let mut state = self.bench.state();
        state.calls.clear();
        state.failed_calls = 0;
        state.fault = Some(fault);
    }

    /// Ends all faults, and counts calls from now on.
    pub fn count(&self) {
        let mut state = self.bench.state();
        state.calls.clear();
        state.failed_calls = 0;
        state.fault = None;
    }

    /// Returns the number of calls of each kind since they are counted.
    #[must_use]
    pub fn calls(&self) -> BTreeMap<CallKind, u64> {
        self.bench.state().calls.clone()
    }

    /// Returns the number of calls that failed.
    #[must_use]
    pub fn failed_calls(&self) -> u64 {
        self.bench.state().failed_calls
    }

    /// Returns the number of files that SQLite has open in the folder. Files that were open before do not count.
    #[must_use]
    pub fn open_files(&self) -> usize {
        self.bench.state().open_files
    }

    /// Makes syncs do nothing, for folders that need not survive anything.
    pub fn skip_syncs(&self) {
        self.bench.state().skips_syncs = true;
    }
}

impl Drop for Laboratory {
    fn drop(&mut self) {
        shim::forget(&self.bench);
    }
}

/// Reads all files of a folder, but not the shared memory of SQLite, which no power cut survives.
pub(crate) fn files(folder: &Path) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.metadata()?.is_file() && !name.ends_with("-shm") {
            files.insert(name, std::fs::read(entry.path())?);
        }
    }
    Ok(files)
}

impl Bench {
    pub fn state(&self) -> MutexGuard<'_, BenchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BenchState {
    /// Counts a call. Returns the result code if it fails.
    pub fn begin_call(&mut self, kind: CallKind) -> Option<c_int> {
        let number: u64 = self.calls.values().sum();
        let of_kind = self.calls.entry(kind).or_default();
        let number_of_kind = *of_kind;
        *of_kind += 1;
        let code = self.fault?.code_of(kind, number_of_kind, number);
        self.failed_calls += u64::from(code.is_some());
        code
    }

    /// Returns whether a write that fails writes half of its bytes.
    pub fn is_partial(&self) -> bool {
        self.fault.is_some_and(|fault| fault.is_partial)
    }

    /// Records an event, if a recording runs.
    pub fn event(&mut self, event: impl FnOnce() -> Event) {
        if let Some(recording) = &mut self.recording {
            recording.events.push(event());
        }
    }
}
