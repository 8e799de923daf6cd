//! Destinations of finished pages: a file, memory, or nothing. `pages` hands blocks to the threads of `writers`, which call
//! the sink. `publish` opens the file that a [`FileSink`] writes, and gives it its name.

pub(crate) mod block;
mod discard;
mod file;
mod memory;
pub(crate) mod writers;

pub(crate) use discard::DiscardSink;
pub(crate) use file::FileSink;
pub(crate) use memory::MemorySink;

use std::io;

/// Takes positioned writes of whole pages. It is a trait so that tests can fail the n-th write or sync.
pub trait Sink: Send + Sync {
    /// Writes all of `bytes` at byte `offset`. Called from several threads, but never for one offset at the same
    /// time. An offset is written twice only if it was [read back](Self::read_at).
    ///
    /// # Errors
    /// Any error of the operating system; nothing is retried.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Returns whether written bytes can be [read](Self::read_at).
    fn can_read(&self) -> bool {
        false
    }

    /// Reads all of `bytes`, which were written before, at byte `offset`.
    ///
    /// # Errors
    /// Any error of the operating system; `Unsupported` if the sink cannot be read.
    fn read_at(&self, _bytes: &mut [u8], _offset: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Sets the length of the file in bytes, after the last write.
    ///
    /// # Errors
    /// Any error of the operating system.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Returns once everything written survives a power cut.
    ///
    /// # Errors
    /// Any error of the operating system; the file must then be discarded.
    fn sync(&self) -> io::Result<()>;

    /// Returns the bytes, if the sink keeps them in memory.
    fn take_bytes(&self) -> Option<Vec<u8>> {
        None
    }
}
