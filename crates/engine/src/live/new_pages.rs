//! Sinks of new pages: the database file, or a temporary file if they must pass through the WAL.

use crate::Sink;
use litepress_rows::files::FileExt;
use litepress_rows::sync::{Mutex, lock};
use litepress_scan::FilePointer;
use std::fs::File;
use std::io;
use std::sync::Arc;

/// The database file, written through the handle of its connection. Readers look neither behind the end of the database nor at free
/// pages.
pub(super) struct DatabaseFile {
    pub file: Arc<Mutex<FilePointer>>,
}

impl Sink for DatabaseFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        lock(&self.file).write(bytes, offset)
    }

    fn can_read(&self) -> bool {
        true
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        lock(&self.file).read(bytes, offset)
    }

    fn set_len(&self, _len: u64) -> io::Result<()> {
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        lock(&self.file).sync()
    }
}

/// A temporary file that takes pages until they are inserted into `sqlite_dbpage`.
pub(super) struct Spool {
    pub file: File,
    /// Offset in the database of the file's first byte.
    pub start: u64,
}

impl Sink for Spool {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, offset - self.start)
    }

    fn can_read(&self) -> bool {
        true
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(bytes, offset - self.start)
    }

    fn set_len(&self, _len: u64) -> io::Result<()> {
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
