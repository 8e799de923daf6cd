//! Replaces `linux.rs` on other systems: everything passes the page cache, no room is reserved or given back.

use std::fs::File;
use std::io;
use std::path::Path;

/// Answers that there is no direct I/O.
pub(crate) fn open_direct(_: &Path) -> Option<File> {
    None
}

/// Returns `false`: nothing bypasses the page cache.
pub(crate) fn is_direct(_: &File) -> bool {
    false
}

/// Accepts that nothing bypasses the page cache, and refuses the opposite.
pub(crate) fn set_direct(_: &File, direct: bool) -> io::Result<()> {
    if direct { Err(io::ErrorKind::Unsupported.into()) } else { Ok(()) }
}

/// Returns `false`: no call is direct.
pub(crate) fn is_refusal(_: &io::Error) -> bool {
    false
}

/// Leaves the file to grow as it comes.
pub(crate) fn reserve(_: &File, _: u64) {}

/// Leaves the room to the file.
pub(crate) fn give_back(_: &File, _: u64, _: u64) {}

/// Answers that every file has a name.
pub(crate) fn open_nameless(_: &Path, _: bool) -> io::Result<Option<File>> {
    Ok(None)
}
