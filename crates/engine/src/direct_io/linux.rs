//! Direct I/O of Linux: O_DIRECT, O_TMPFILE, fallocate(2).

use rustix::fs::{FallocateFlags, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::path::Path;

/// Opens a file for writes past the page cache. Returns `None` if its file system has no such writes.
pub(crate) fn open_direct(path: &Path) -> Option<File> {
    let flags = OFlags::WRONLY | OFlags::DIRECT | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).ok().map(File::from)
}

/// Returns whether reads and writes of a file bypass the page cache.
pub(crate) fn is_direct(file: &File) -> bool {
    rustix::fs::fcntl_getfl(file).is_ok_and(|flags| flags.contains(OFlags::DIRECT))
}

/// Sets whether reads and writes of a file bypass the page cache.
pub(crate) fn set_direct(file: &File, direct: bool) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(file)?;
    let flags = if direct { flags | OFlags::DIRECT } else { flags - OFlags::DIRECT };
    Ok(rustix::fs::fcntl_setfl(file, flags)?)
}

/// Returns whether a file system accepted the flag for direct I/O but refuses the call.
pub(crate) fn is_refusal(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::INVAL.raw_os_error())
}

/// Reserves room on the disk. A file system that cannot grows the file as it comes.
pub(crate) fn reserve(file: &File, bytes: u64) {
    let _ = rustix::fs::fallocate(file, FallocateFlags::empty(), 0, bytes);
}

/// Gives room within a file back to the disk. If the file system cannot, the room is freed with the file.
pub(crate) fn give_back(file: &File, offset: u64, bytes: u64) {
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    let _ = rustix::fs::fallocate(file, flags, offset, bytes);
}

/// Opens a file without a name in a folder. Returns `None` if the file system or the kernel has no such files.
pub(crate) fn open_nameless(folder: &Path, direct: bool) -> io::Result<Option<File>> {
    let direct = if direct { OFlags::DIRECT } else { OFlags::empty() };
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::TMPFILE | direct;
    match rustix::fs::open(folder, flags, Mode::RUSR | Mode::WUSR) {
        Ok(file) => Ok(Some(file.into())),
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
