//! Files of Windows: a file is a volume and an index. Compiled, but never run by the tests of the project.

use super::FileId;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::{FileExt as _, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Opens a symbolic link itself (CreateFileW, FILE_FLAG_OPEN_REPARSE_POINT), and folders (FILE_FLAG_BACKUP_SEMANTICS).
const OPEN_LINK: u32 = 0x0020_0000 | 0x0200_0000;
/// Opens folders, too.
const OPEN_ANY: u32 = 0x0200_0000;

/// Reads and writes at an offset, as unix has them. They move the file's cursor, which the project does not use beside them.
pub trait FileExt {
    /// Reads some bytes at an offset. Returns their number: 0 behind the end.
    ///
    /// # Errors
    /// If the read fails.
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes some bytes at an offset. Returns their number.
    ///
    /// # Errors
    /// If the write fails.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;

    /// Fills `bytes` from an offset on.
    ///
    /// # Errors
    /// If a read fails, or the file ends before.
    fn read_exact_at(&self, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.read_at(bytes, offset) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => {
                    bytes = &mut bytes[read..];
                    offset += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Writes all bytes at an offset.
    ///
    /// # Errors
    /// If a write fails.
    fn write_all_at(&self, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.write_at(bytes, offset) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    bytes = &bytes[written..];
                    offset += written as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl FileExt for File {
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        self.seek_read(bytes, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.seek_write(bytes, offset)
    }
}

pub(super) fn id_of_file(file: &File) -> io::Result<FileId> {
    let found = winapi_util::file::information(file)?;
    Ok(FileId { disk: found.volume_serial_number(), number: found.file_index() })
}

pub(super) fn id_at(path: &Path) -> io::Result<FileId> {
    id_of_file(&open(path, OPEN_ANY)?)
}

pub(super) fn id_of_name(path: &Path) -> io::Result<FileId> {
    id_of_file(&open(path, OPEN_LINK)?)
}

/// Opens a file for questions alone: no right to its contents is asked for.
fn open(path: &Path, flags: u32) -> io::Result<File> {
    OpenOptions::new().access_mode(0).custom_flags(flags).open(path)
}

/// Answers that a file without a name is not opened again. A pipe whose content must be sought in is saved as a file first.
pub(super) fn opened_again(_: &File) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// SQLite states names in UTF-8 here.
pub(super) fn path_of_bytes(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}

pub(super) fn count_names(file: &File) -> io::Result<u64> {
    winapi_util::file::information(file).map(|found| found.number_of_links())
}
