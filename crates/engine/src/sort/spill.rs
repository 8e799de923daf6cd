//! Temporary files without a name, and aligned memory for direct I/O.
//!
//! Such a file never appears in a directory, or is unlinked at once. So it disappears with the process, even after a
//! crash. It bypasses the page cache if the file system allows that: copying into cold memory costs more than
//! writing, and would evict everything else.

use crate::{Error, ErrorKind, Result, direct_io};
use litepress_rows::files::FileExt;
use litepress_rows::{OptionName, message};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The alignment of memory, offsets and lengths that direct I/O requires.
pub(super) const ALIGNMENT: usize = 4096;

/// The folder for temporary files.
#[derive(Debug)]
pub(super) struct SpillFolder {
    path: PathBuf,
    /// Number of files that had a name for a moment.
    named: AtomicU64,
    /// Number of writes until one fails.
    #[cfg(test)]
    pub writes_left: std::sync::atomic::AtomicI64,
}

impl SpillFolder {
    pub fn new(path: PathBuf) -> Arc<Self> {
        Arc::new(Self {
            path,
            named: AtomicU64::new(0),
            #[cfg(test)]
            writes_left: i64::MAX.into(),
        })
    }

    fn failure(&self, doing: &str, cause: io::Error) -> Error {
        let advice = message![
            "free some room there, or name another folder for temporary files with ",
            OptionName::TempDir.alone()
        ];
        Error::io(doing, &self.path, cause).advise(advice)
    }

    /// Creates an empty file.
    pub fn create(self: &Arc<Self>) -> Result<Arc<SpillFile>> {
        let file = match direct_io::open_nameless(&self.path, true) {
            Ok(Some(file)) => Ok(file),
            Ok(None) | Err(_) => match direct_io::open_nameless(&self.path, false) {
                Ok(Some(file)) => Ok(file),
                Ok(None) => self.open_unlinked(),
                Err(error) => Err(error),
            },
        };
        let file = file.map_err(|cause| self.failure("create a temporary file in this folder", cause))?;
        Ok(Arc::new(SpillFile { folder: self.clone(), file, len: AtomicU64::new(0) }))
    }

    /// Returns the file in `file`, which is created at the first call.
    pub fn open_once(self: &Arc<Self>, file: &mut Option<Arc<SpillFile>>) -> Result<Arc<SpillFile>> {
        match file {
            Some(file) => Ok(file.clone()),
            none => Ok(none.insert(self.create()?).clone()),
        }
    }

    fn open_unlinked(&self) -> io::Result<File> {
        let name = format!(".litepress-{}-{}.tmp", std::process::id(), self.named.fetch_add(1, Ordering::Relaxed));
        let path = self.path.join(name);
        let file = direct_io::create_unlinked(&path)?;
        // Only now: some file systems refuse to open a file for direct I/O, but create it.
        let _ = direct_io::set_direct(&file, true);
        Ok(file)
    }

    fn create_cached(&self) -> io::Result<File> {
        if let Ok(Some(file)) = direct_io::open_nameless(&self.path, false) {
            return Ok(file);
        }
        let file = self.open_unlinked()?;
        direct_io::set_direct(&file, false)?;
        Ok(file)
    }

    #[cfg(test)]
    fn injected(&self) -> io::Result<()> {
        let left = self.writes_left.fetch_sub(1, Ordering::Relaxed);
        if left <= 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

/// Creates an empty file without a name in `folder`, for reads and writes of any length and offset.
pub(crate) fn cached_file(folder: &Path) -> Result<File> {
    let spill = SpillFolder::new(folder.to_owned());
    let file = spill.create_cached();
    file.map_err(|cause| spill.failure("create a temporary file in this folder", cause))
}

/// A temporary file. Its disk space is freed when the last run in it is dropped.
#[derive(Debug)]
pub(super) struct SpillFile {
    folder: Arc<SpillFolder>,
    file: File,
    /// The offset of the next write. Only one thread at a time writes.
    len: AtomicU64,
}

impl SpillFile {
    pub fn path(&self) -> &Path {
        &self.folder.path
    }

    pub fn len(&self) -> u64 {
        self.len.load(Ordering::Acquire)
    }

    /// Appends `bytes`, whose length is a multiple of [`ALIGNMENT`].
    pub fn append(&self, bytes: &[u8]) -> Result<()> {
        let offset = self.len();
        #[cfg(test)]
        self.folder.injected().map_err(|cause| self.folder.failure("write a temporary file in this folder", cause))?;
        let written = match self.file.write_all_at(bytes, offset) {
            Err(error) if self.leaves_direct(&error) => self.file.write_all_at(bytes, offset),
            done => done,
        };
        written.map_err(|cause| self.folder.failure("write a temporary file in this folder", cause))?;
        self.len.store(offset + bytes.len() as u64, Ordering::Release);
        Ok(())
    }

    /// Turns direct I/O off if the file system accepted the flag but refuses the call. Returns whether it did.
    fn leaves_direct(&self, error: &io::Error) -> bool {
        let refused = direct_io::is_refusal(error) && direct_io::is_direct(&self.file);
        refused && direct_io::set_direct(&self.file, false).is_ok()
    }

    /// Reads all of `bytes` at `offset`.
    pub fn read(&self, bytes: &mut [u8], offset: u64) -> Result<()> {
        let read = match self.file.read_exact_at(bytes, offset) {
            Err(error) if self.leaves_direct(&error) => self.file.read_exact_at(bytes, offset),
            done => done,
        };
        read.map_err(|cause| Error::io("read back a temporary file in this folder", self.path(), cause))
    }

    /// Returns the error of a file that does not hold what was written.
    pub fn damaged(&self) -> Error {
        Error::new(ErrorKind::Io, "a temporary file in this folder does not hold what was written to it")
            .in_file(self.path())
            .advise(message![
                "check the disk, or name another folder for temporary files with ",
                OptionName::TempDir.alone()
            ])
    }

    /// Frees the disk space of a run. If the file system cannot, the space is freed with the file.
    pub fn release(&self, offset: u64, bytes: u64) {
        direct_io::give_back(&self.file, offset, bytes);
    }

    #[cfg(test)]
    pub fn truncate(&self, len: u64) {
        self.file.set_len(len).unwrap();
    }

    /// Fills block `number` with `byte`.
    #[cfg(test)]
    pub fn damage(&self, number: u64, byte: u8) {
        let mut block = AlignedMemory::new(ALIGNMENT);
        block.bytes_mut().fill(byte);
        self.file.write_all_at(block.bytes(), number * ALIGNMENT as u64).unwrap();
    }
}

/// Memory that begins at a multiple of [`ALIGNMENT`].
#[derive(Debug, Default)]
pub(super) struct AlignedMemory {
    bytes: Vec<u8>,
    start: usize,
    len: usize,
}

impl AlignedMemory {
    pub fn new(len: usize) -> Self {
        let bytes = vec![0; len + ALIGNMENT];
        let start = bytes.as_ptr().align_offset(ALIGNMENT);
        Self { bytes, start, len }
    }

    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.len]
    }

    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_whose_name_is_taken_away() {
        let folder = tempfile::tempdir().unwrap();
        let spill = SpillFolder::new(folder.path().to_owned());
        let file = spill.open_unlinked().unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let file = SpillFile { folder: spill, file, len: AtomicU64::new(0) };
        let mut memory = AlignedMemory::new(2 * ALIGNMENT);
        memory.bytes_mut().fill(7);
        file.append(memory.bytes()).unwrap();
        memory.bytes_mut().fill(0);
        file.read(memory.bytes_mut(), 0).unwrap();
        assert!(memory.bytes().iter().all(|&byte| byte == 7));
        assert!(file.read(memory.bytes_mut(), ALIGNMENT as u64).is_err(), "behind the end");
    }
}
