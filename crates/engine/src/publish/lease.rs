//! File leases and byte-range locks of Linux (fcntl(2), "Leases" and "Open file description locks").
//!
//! `unsafe`: no safe wrapper offers leases. Each call passes a file descriptor that is open, and at most a pointer to a
//! local struct that the kernel reads before the call returns.
#![expect(unsafe_code, reason = "fcntl(2) has no safe wrapper for leases; see the head of this file")]

use litepress_format::page::LOCK_BYTE;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Length of the range from [`LOCK_BYTE`] on that holds all of SQLite's locks: pending, reserved, and 510 shared ones.
const LOCK_BYTES: i64 = 512;

/// Command that chooses the signal for a lease holder (fcntl(2)); `libc` lacks it.
const F_SETSIG: libc::c_int = 10;

/// Outcome of a request for a lease.
pub enum Lease {
    /// The file is open nowhere else, in no process.
    Granted(WriteLease),
    /// The file is open elsewhere, too.
    Denied(File),
    /// The file system, or the user's rights, do not allow leases.
    Unsupported,
}

/// A write lease: the file is open nowhere else, and a program that opens it waits until the lease is given up.
#[derive(Debug)]
pub struct WriteLease {
    file: File,
}

impl WriteLease {
    /// Requests the lease. `file` must have been opened with `O_NONBLOCK`, or the open may wait for another lease.
    pub fn request(file: File) -> Lease {
        // The kernel sends a signal to a lease holder if a program waits. The default signal, SIGIO, ends a process.
        let signal = fcntl(&file, F_SETSIG, libc::SIGURG);
        match signal.and_then(|()| fcntl(&file, libc::F_SETLEASE, libc::F_WRLCK)) {
            Ok(()) => Lease::Granted(Self { file }),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Lease::Denied(file),
            Err(_) => Lease::Unsupported,
        }
    }

    /// Returns whether a program waits to open the file.
    pub fn is_awaited(&self) -> bool {
        // SAFETY: the descriptor is open, and this command takes no argument.
        let lease = unsafe { libc::fcntl(self.file.as_raw_fd(), libc::F_GETLEASE) };
        lease != libc::F_WRLCK
    }

    /// Returns the leased file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Gives up the lease and keeps the file open.
    pub fn release(self) -> File {
        // A lease that cannot be given up ends when the file is closed.
        let _ = fcntl(&self.file, libc::F_SETLEASE, libc::F_UNLCK);
        self.file
    }
}

/// Locks a database as SQLite's EXCLUSIVE lock does: other connections get SQLITE_BUSY. The lock belongs to the open
/// file, not to the process as SQLite's own do, and ends with [`unlock_database`] or when the last handle is closed.
pub fn lock_database(file: &File) -> io::Result<()> {
    set_lock(file, libc::F_WRLCK)
}

/// Gives up the lock of [`lock_database`].
pub fn unlock_database(file: &File) -> io::Result<()> {
    set_lock(file, libc::F_UNLCK)
}

fn set_lock(file: &File, kind: libc::c_int) -> io::Result<()> {
    let kind = libc::c_short::try_from(kind).expect("a small constant");
    let whence = libc::c_short::try_from(libc::SEEK_SET).expect("a small constant");
    let (l_start, l_len) = (i64::from(LOCK_BYTE), LOCK_BYTES);
    let range = libc::flock { l_type: kind, l_whence: whence, l_start, l_len, l_pid: 0 };
    // SAFETY: the descriptor is open, and `range` lives until the call returns.
    let result = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const range) };
    check(result)
}

fn fcntl(file: &File, command: libc::c_int, argument: libc::c_int) -> io::Result<()> {
    // SAFETY: the descriptor is open, and both commands that are used take an integer.
    let result = unsafe { libc::fcntl(file.as_raw_fd(), command, argument) };
    check(result)
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
