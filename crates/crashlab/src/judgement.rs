//! SQLite's verdict on crash states.

use crate::content::{Content, content};
use crate::crash_states::CrashState;
use crate::laboratory::Laboratory;
use crate::recording::Recording;
use std::io;
use std::path::Path;

/// The verdict on the crash states of a recording.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    /// Number of different states.
    pub states: usize,
    /// Number of states in which the database was as before.
    pub before: usize,
    /// Number of states in which it was as after.
    pub after: usize,
    /// Descriptions of bad states: damaged, neither before nor after, or before, although the commit was reported as durable.
    pub bad: Vec<String>,
}

impl Judgement {
    /// Opens the crash states of a recording with SQLite. `database` is the name of the database, and `expected` its content
    /// before and after.
    ///
    /// # Errors
    /// If files of a state cannot be written.
    pub fn of(
        recording: &Recording,
        database: &str,
        expected: (Content, Content),
        states_per_event: usize,
    ) -> io::Result<Self> {
        let mut judgement = Self::default();
        let open = |_: &CrashState, folder: &Path| content(&folder.join(database));
        judgement.judge(recording.crash_states(states_per_event, 1), expected, open)?;
        Ok(judgement)
    }

    /// Adds the verdict on other states. `open` gets each state with a folder that has its files, and returns the content of the
    /// database, or says why the state is bad.
    ///
    /// # Errors
    /// If files of a state cannot be written.
    pub fn judge(
        &mut self,
        states: impl IntoIterator<Item = CrashState>,
        (before, after): (Content, Content),
        mut open: impl FnMut(&CrashState, &Path) -> Result<Content, String>,
    ) -> io::Result<()> {
        for state in states {
            self.states += 1;
            let folder = fast_folder()?;
            state.write_to(folder.path())?;
            let laboratory = Laboratory::new(folder.path())?;
            laboratory.skip_syncs();
            let fault = match open(&state, folder.path()) {
                Ok(content) if content == after => {
                    self.after += 1;
                    continue;
                }
                Ok(content) if content == before && state.is_after_end => "the change is lost".to_owned(),
                Ok(content) if content == before => {
                    self.before += 1;
                    continue;
                }
                Ok(content) => format!("content {content:?} is neither {before:?} nor {after:?}"),
                Err(error) => error,
            };
            self.bad.push(format!("after event {}, {}: {fault}", state.events, state.lost));
        }
        Ok(())
    }
}

/// Makes a temporary folder, in memory if the system has such a place.
///
/// # Errors
/// If it cannot be made.
pub fn fast_folder() -> io::Result<tempfile::TempDir> {
    let memory = Path::new("/dev/shm");
    if memory.is_dir()
        && let Ok(folder) = tempfile::tempdir_in(memory)
    {
        return Ok(folder);
    }
    tempfile::tempdir()
}
