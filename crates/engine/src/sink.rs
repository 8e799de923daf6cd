//! Where finished pages go: a file, memory, nowhere. Only this folder holds file handles of a database in the making.

pub(crate) mod block;
mod discard;
mod file;
mod memory;
pub(crate) mod writers;

pub(crate) use discard::DiscardSink;
pub(crate) use file::FileSink;
pub(crate) use memory::MemorySink;

use std::io;

/// Takes positioned writes of whole pages. A trait so that tests can fail the n-th write or sync.
pub trait Sink: Send + Sync {
    /// Writes all of `bytes` at byte `offset`. Called from several threads, never for one place at the same time, and twice
    /// only for what was [read back](Self::read_at).
    ///
    /// # Errors
    /// What the operating system says; nothing is retried.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Whether what was written can be [read](Self::read_at).
    fn can_read(&self) -> bool {
        false
    }

    /// Reads all of `bytes`, which were written before, at byte `offset`.
    ///
    /// # Errors
    /// What the operating system says; that it is unsupported, where nothing can be read.
    fn read_at(&self, _bytes: &mut [u8], _offset: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// All writes are done: sets the length of the file in bytes.
    ///
    /// # Errors
    /// What the operating system says.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Returns once everything written survives a power cut.
    ///
    /// # Errors
    /// What the operating system says; the file must then be given up.
    fn sync(&self) -> io::Result<()>;

    /// The bytes, where the sink keeps them in memory.
    fn take_bytes(&self) -> Option<Vec<u8>> {
        None
    }
}
