//! Faults in a program as it is shipped: its system calls, allocations and threads fail at chosen calls.
//!
//! `preload/faults.c` does this, from within the program. It is compiled when it is wanted, by `cc`.

use std::io;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A kind of call of a program, in the order of `enum kind` of `faults.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProgramCall {
    /// read(2), as of files and pipes from their start to their end.
    Read,
    /// pread(2).
    ReadAt,
    /// write(2), but not of standard output and standard error.
    Write,
    /// pwrite(2).
    WriteAt,
    /// fsync(2).
    Sync,
    /// fdatasync(2).
    SyncData,
    /// ftruncate(2).
    Truncate,
    /// rename(2) and its newer forms.
    Rename,
    /// unlink(2).
    Unlink,
    /// open(2).
    Open,
    /// mmap(2).
    Map,
    /// flock(2), the locks and the leases of fcntl(2).
    Lock,
    /// pthread_create(3).
    Thread,
    /// An allocation of 128 KiB or more.
    LargeAllocation,
    /// A smaller allocation.
    SmallAllocation,
}

impl ProgramCall {
    /// All kinds.
    pub const ALL: [Self; 15] = [
        Self::Read,
        Self::ReadAt,
        Self::Write,
        Self::WriteAt,
        Self::Sync,
        Self::SyncData,
        Self::Truncate,
        Self::Rename,
        Self::Unlink,
        Self::Open,
        Self::Map,
        Self::Lock,
        Self::Thread,
        Self::LargeAllocation,
        Self::SmallAllocation,
    ];
}

/// The way in which a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// With a number of errno(3).
    Errno(i32),
    /// A read or a write moves half of its bytes.
    Short,
}

/// Calls of a program that fail.
#[derive(Clone, Copy, Debug)]
pub struct ProgramFault {
    /// The kind of the calls.
    pub call: ProgramCall,
    /// The way in which they fail.
    pub failure: Failure,
    /// The number of the first one among those of the kind, counted from 0.
    pub first: u64,
    /// The number of calls from the first to the last one.
    pub count: u64,
    /// Every such call of these fails.
    pub period: u64,
}

impl ProgramFault {
    /// Makes one call fail.
    #[must_use]
    pub fn once(call: ProgramCall, failure: Failure, number: u64) -> Self {
        Self { call, failure, first: number, count: 1, period: 1 }
    }

    /// Makes a call and all later ones of its kind fail.
    #[must_use]
    pub fn lasting(call: ProgramCall, failure: Failure, first: u64) -> Self {
        Self { call, failure, first, count: u64::MAX, period: 1 }
    }

    /// Makes every second call of the kind fail.
    #[must_use]
    pub fn every_second(call: ProgramCall, failure: Failure) -> Self {
        Self { call, failure, first: 0, count: u64::MAX, period: 2 }
    }
}

/// The end of a program whose calls failed.
#[derive(Debug)]
pub struct Faulted {
    /// The exit code and the output; `None` if the program did not end in time, and was killed.
    pub output: Option<Output>,
    /// The number of calls that failed.
    pub failed: u64,
    calls: Vec<u64>,
}

impl Faulted {
    /// Returns the number of calls of a kind, with those that failed.
    #[must_use]
    pub fn calls(&self, call: ProgramCall) -> u64 {
        self.calls[call as usize]
    }
}

/// The compiled library.
#[derive(Debug)]
pub struct FaultLibrary(TempDir);

impl FaultLibrary {
    /// Compiles the library.
    ///
    /// # Errors
    /// If there is no C compiler `cc`.
    pub fn build() -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let source = folder.path().join("faults.c");
        std::fs::write(&source, include_str!("../preload/faults.c"))?;
        let arguments =
            ["-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", "faults.so", "faults.c", "-ldl"];
        let compiled = Command::new("cc").args(arguments).current_dir(folder.path()).output()?;
        if !compiled.status.success() {
            return Err(io::Error::other(String::from_utf8_lossy(&compiled.stderr).into_owned()));
        }
        Ok(Self(folder))
    }

    /// Runs a program to its end, for `patience` at most. Without a fault its calls are counted.
    ///
    /// # Errors
    /// If it cannot be started, or the system does not let its calls be caught.
    pub fn run(&self, command: &mut Command, fault: Option<ProgramFault>, patience: Duration) -> io::Result<Faulted> {
        let counts = tempfile::NamedTempFile::new_in(self.0.path())?;
        counts.as_file().set_len(8 * (2 + ProgramCall::ALL.len() as u64))?;
        let told = fault.map_or_else(
            || "-1 0 0 0 1".to_owned(),
            |ProgramFault { call, failure, first, count, period }| {
                let error = if let Failure::Errno(error) = failure { error } else { 0 };
                format!("{} {error} {first} {count} {period}", call as usize)
            },
        );
        command.env("LD_PRELOAD", self.0.path().join("faults.so")).env("LITEPRESS_FAULT", told);
        command.env("LITEPRESS_FAULT_COUNTS", counts.path()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = output_of(command.spawn()?, patience)?;
        let words = read_words(counts.path())?;
        if words.first() != Some(&1) {
            return Err(io::Error::other("the system refuses the filter of system calls"));
        }
        Ok(Faulted { output, failed: words[1], calls: words[2..].to_vec() })
    }
}

/// Waits for a program that prints little. Returns `None` if it had to be killed.
fn output_of(mut child: Child, patience: Duration) -> io::Result<Option<Output>> {
    let started = Instant::now();
    while child.try_wait()?.is_none() {
        if started.elapsed() > patience {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child.wait_with_output().map(Some)
}

#[expect(clippy::host_endian_bytes, reason = "words that a program of this machine has written")]
fn read_words(path: &Path) -> io::Result<Vec<u64>> {
    let bytes = std::fs::read(path)?;
    Ok(bytes.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `cat` is a program that the library was not made for: each of its calls fails as it is told.
    #[test]
    fn calls_of_any_program_fail() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let text = folder.path().join("text");
        std::fs::write(&text, "some text\n")?;
        let library = FaultLibrary::build()?;
        let run = |fault| library.run(Command::new("cat").arg(&text), fault, Duration::from_secs(20));
        let whole = run(None)?;
        let output = whole.output.as_ref().expect("it ends");
        assert!(output.status.success() && output.stdout == b"some text\n", "{whole:?}");
        assert!(whole.failed == 0 && whole.calls(ProgramCall::Read) > 0, "{whole:?}");
        let reads = whole.calls(ProgramCall::Read);
        for number in 0..reads {
            let short = run(Some(ProgramFault::once(ProgramCall::Read, Failure::Short, number)))?;
            assert!(short.output.is_some_and(|output| output.stdout == b"some text\n"));
            assert_eq!(short.failed, 1);
        }
        let broken = run(Some(ProgramFault::lasting(ProgramCall::Read, Failure::Errno(5), reads - 2)))?;
        assert!(broken.failed == 1 && broken.output.is_some_and(|output| output.status.code() == Some(1)));
        let late = run(Some(ProgramFault::once(ProgramCall::Read, Failure::Errno(5), reads)))?;
        assert_eq!(late.failed, 0);
        Ok(())
    }
}
