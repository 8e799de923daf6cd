//! Names and disks of Windows. Compiled, but never run by the tests of the project.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

/// Answers that the free bytes are unknown: a full disk shows when it is written.
pub fn free_bytes(_: &Path) -> Option<u64> {
    None
}

/// Returns `true`: folders have no sticky bit, and a rename that is not allowed fails by itself.
pub(super) fn may_replace(_: &Metadata, _: &Metadata) -> bool {
    true
}

/// Gives a file a name that is free. The link fails if the name is taken; a disk without links is looked at first.
pub(super) fn rename_to_free_name(temporary: &Path, target: &Path) -> io::Result<()> {
    match fs::hard_link(temporary, target) {
        Ok(()) => fs::remove_file(temporary),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        Err(_) if target.exists() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(temporary, target),
    }
}

/// Answers that names cannot be exchanged.
pub(super) fn exchange(_: &Path, _: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Answers that a disk cannot be synced as a whole.
pub(super) fn sync_disk_of(_: &File) -> io::Result<bool> {
    Ok(false)
}

/// Answers that folders cannot be opened.
pub(super) fn open_folder(_: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

/// Does nothing: folders cannot be synced, and NTFS writes its journal of names in order.
pub(super) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Does nothing: the folder gives the rights.
pub(super) fn restrict_to_owner(_: &mut OpenOptions) {}

/// Refuses: a lock would keep SQLite from reading the file (locks of Windows are mandatory). So no run removes stale files.
pub(super) fn mark_as_used(_: &File) -> Result<(), TryLockError> {
    Err(TryLockError::Error(io::ErrorKind::Unsupported.into()))
}

/// Opens a file for reads.
pub(super) fn open_no_link(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Opens a file for reads and writes.
pub(super) fn open_at_once(target: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(target)
}
