//! Replaces `lease.rs` on operating systems without leases. Each request is answered with [`Lease::Unsupported`].

use std::fs::File;
use std::io;

/// Outcome of a request for a lease.
pub enum Lease {
    /// The file is open nowhere else. Never the answer here.
    Granted(WriteLease),
    /// The file is open elsewhere, too. Never the answer here.
    Denied(File),
    /// The operating system has no leases.
    Unsupported,
}

/// A lease, which does not exist here.
#[derive(Debug)]
pub enum WriteLease {}

impl WriteLease {
    /// Answers that there are no leases.
    pub fn request(_: File) -> Lease {
        Lease::Unsupported
    }

    /// Returns whether a program waits to open the file.
    pub fn is_awaited(&self) -> bool {
        match *self {}
    }

    /// Returns the leased file.
    pub fn file(&self) -> &File {
        match *self {}
    }

    /// Gives up the lease.
    pub fn release(self) -> File {
        match self {}
    }
}

/// Fails: only a replacement under a lease locks the new file.
pub fn lock_database(_: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Does nothing, because nothing was locked.
pub fn unlock_database(_: &File) -> io::Result<()> {
    Ok(())
}
