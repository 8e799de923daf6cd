//! Programs that are killed at a chosen moment.
//!
//! Moments by the clock hit the long phases of a program. Its short ones, as a COMMIT, are hit by watching the folder: names and
//! lengths of files change as a program goes from one phase to the next.

use fastrand::Rng;
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// Names and lengths of the files of a folder.
pub type Listing = Vec<(String, u64)>;

/// The moment at which a program is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// So long after its start.
    After(Duration),
    /// So long after the folder was seen to change for the n-th time, counted from 1.
    Change(usize, Duration),
    /// Never.
    Never,
}

/// The end of a program that was to be killed.
#[derive(Debug)]
pub struct Killed {
    /// Its exit status, if it ended before the moment.
    pub ended: Option<ExitStatus>,
    /// Time from its start to its end.
    pub lived: Duration,
    /// Number of changes of the folder that were seen.
    pub changes: usize,
}

/// Returns the names and lengths of the files of a folder, sorted.
///
/// # Errors
/// If the folder cannot be read.
pub fn listing(folder: &Path) -> io::Result<Listing> {
    let mut files = Listing::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        // A file may be deleted between the two calls.
        if let Ok(metadata) = entry.metadata() {
            files.push((entry.file_name().to_string_lossy().into_owned(), metadata.len()));
        }
    }
    files.sort();
    Ok(files)
}

/// Runs a program and kills it at a moment, as `kill -9` does. `folder` is watched.
///
/// # Errors
/// If the program cannot be started, or the folder cannot be read.
pub fn run_until(command: &mut Command, folder: &Path, moment: Moment) -> io::Result<Killed> {
    let mut before = listing(folder)?;
    let started = Instant::now();
    let mut child = Reaped(command.spawn()?);
    let (mut changes, mut last_change) = (0, started);
    loop {
        let ended = child.0.try_wait()?;
        let is_due = match moment {
            Moment::After(time) => started.elapsed() >= time,
            Moment::Change(number, time) => changes >= number && last_change.elapsed() >= time,
            Moment::Never => false,
        };
        if ended.is_some() || is_due {
            if ended.is_none() {
                child.0.kill()?;
                // It may have ended just before: a status without a signal says so.
                let status = child.0.wait()?;
                return Ok(Killed { ended: status.code().map(|_| status), lived: started.elapsed(), changes });
            }
            return Ok(Killed { ended, lived: started.elapsed(), changes });
        }
        let is_past = matches!(moment, Moment::Change(number, _) if changes >= number);
        if !is_past {
            let now = listing(folder)?;
            if now != before {
                (before, changes, last_change) = (now, changes + 1, Instant::now());
            }
        }
        std::thread::sleep(Duration::from_micros(20));
    }
}

/// A child that is killed if the watch fails.
struct Reaped(Child);

impl Drop for Reaped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Random moments, over a whole run and at its phases.
#[derive(Debug)]
pub struct Moments {
    random: Rng,
    lived: Duration,
    changes: usize,
}

impl Moments {
    /// Takes the length and the changes of a whole run.
    #[must_use]
    pub fn new(whole: &Killed, seed: u64) -> Self {
        Self { random: Rng::with_seed(seed), lived: whole.lived, changes: whole.changes }
    }
}

impl Iterator for Moments {
    type Item = Moment;

    /// Returns a moment of the whole run, of its last fifth, or shortly after a change of the folder.
    fn next(&mut self) -> Option<Moment> {
        let random = &mut self.random;
        Some(match random.u32(..10) {
            0..3 => Moment::After(self.lived.mul_f64(1.05 * random.f64())),
            3..5 => Moment::After(self.lived.mul_f64(0.8 + 0.25 * random.f64())),
            _ => {
                let longest = [0, 300, 2_000, 10_000][random.usize(..4)];
                let pause = Duration::from_micros(random.u64(..=longest));
                Moment::Change(1 + random.usize(..self.changes.max(1)), pause)
            }
        })
    }
}
