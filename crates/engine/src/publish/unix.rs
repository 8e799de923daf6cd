//! Names, owners and disks of unix.

use rustix::fs::{CWD, OFlags, RenameFlags};
use rustix::io::Errno;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Permissions of the owner alone, for a file under construction.
const OWNER_ONLY: u32 = 0o600;
/// Bit of folders in which only owners may remove and rename files, such as `/tmp`.
const STICKY: u32 = 0o1000;

/// Returns the bytes that are free on the disk of a file or folder, or `None` if that is unknown.
pub fn free_bytes(path: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(path).ok()?;
    // A file system in user space may not tell: it says that all is zero.
    (disk.f_blocks > 0).then(|| disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Returns whether this user may give the name of a file in a folder to another one.
pub(super) fn may_replace(file: &Metadata, folder: &Metadata) -> bool {
    may_replace_as(rustix::process::geteuid().as_raw(), file.uid(), (folder.mode(), folder.uid()))
}

/// Does the same for a user, the owner of the file, and the mode and owner of the folder.
fn may_replace_as(user: u32, owner: u32, folder: (u32, u32)) -> bool {
    let (mode, folder_owner) = folder;
    mode & STICKY == 0 || user == 0 || user == owner || user == folder_owner
}

/// Gives a file a name that is free.
pub(super) fn rename_to_free_name(temporary: &Path, target: &Path) -> io::Result<()> {
    match rustix::fs::renameat_with(CWD, temporary, CWD, target, RenameFlags::NOREPLACE) {
        // Some file systems lack NOREPLACE: look first, then rename.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) if target.exists() => Err(io::ErrorKind::AlreadyExists.into()),
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => fs::rename(temporary, target),
        renamed => renamed.map_err(io::Error::from),
    }
}

/// Exchanges the names of two folders. Returns `false` if the file system cannot.
pub(super) fn exchange(one: &Path, other: &Path) -> io::Result<bool> {
    match rustix::fs::renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
        exchanged => exchanged.map(|()| true).map_err(io::Error::from),
    }
}

/// Writes everything to the disk that lies on the one of an open folder. Returns `false` if the system cannot.
pub(super) fn sync_disk_of(folder: &File) -> io::Result<bool> {
    #[cfg(target_os = "linux")]
    return rustix::fs::syncfs(folder).map(|()| true).map_err(io::Error::from);
    #[cfg(not(target_os = "linux"))]
    return Ok(folder.metadata().is_err());
}

/// Opens a folder, to lock and to sync it.
pub(super) fn open_folder(folder: &Path) -> io::Result<Option<File>> {
    File::open(folder).map(Some)
}

/// Writes the names of a folder to the disk.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Lets only the owner use the file that is created.
pub(super) fn restrict_to_owner(options: &mut OpenOptions) {
    options.mode(OWNER_ONLY);
}

/// Locks a temporary file as long as it is open: it is no stale one.
pub(super) fn mark_as_used(file: &File) -> Result<(), TryLockError> {
    file.try_lock()
}

/// Opens a file for reads, but none behind a link, and without waiting for the other end of a FIFO.
pub(super) fn open_no_link(path: &Path) -> io::Result<File> {
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).expect("flags of open(2)");
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Opens a file for reads and writes, without waiting for another program's lease.
pub(super) fn open_at_once(target: &Path) -> io::Result<File> {
    let nonblocking = i32::try_from(OFlags::NONBLOCK.bits()).expect("a flag of open(2)");
    OpenOptions::new().read(true).write(true).custom_flags(nonblocking).open(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a folder with the sticky bit, a database of another user was built as a whole before the rename failed.
    #[test]
    fn only_owners_replace_files_in_a_sticky_folder() {
        let (sticky, plain) = ((0o41777, 5), (0o40777, 5));
        let may = [0, 5, 7, 9].map(|user| may_replace_as(user, 7, sticky));
        assert_eq!(may, [true, true, true, false]);
        assert!(may_replace_as(9, 7, plain));
    }
}
