//! Files of unix: a file is a disk and an inode.

use super::FileId;
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub(super) fn id_of_file(file: &File) -> io::Result<FileId> {
    file.metadata().map(|metadata| id(&metadata))
}

pub(super) fn id_at(path: &Path) -> io::Result<FileId> {
    std::fs::metadata(path).map(|metadata| id(&metadata))
}

pub(super) fn id_of_name(path: &Path) -> io::Result<FileId> {
    std::fs::symlink_metadata(path).map(|metadata| id(&metadata))
}

fn id(metadata: &Metadata) -> FileId {
    FileId { disk: metadata.dev(), number: metadata.ino() }
}

/// A duplicate would share the position: the file is opened by its number.
pub(super) fn opened_again(file: &File) -> io::Result<File> {
    let number = file.as_raw_fd();
    File::open(format!("/proc/self/fd/{number}")).or_else(|_| File::open(format!("/dev/fd/{number}")))
}

#[expect(clippy::unnecessary_wraps, reason = "other systems have bytes that are no path")]
pub(super) fn path_of_bytes(bytes: &[u8]) -> Option<PathBuf> {
    Some(OsStr::from_bytes(bytes).into())
}

pub(super) fn count_names(file: &File) -> io::Result<u64> {
    file.metadata().map(|metadata| metadata.nlink())
}
