//! Files past the page cache, without a name, with room that is reserved or given back: as far as the system has them.

#[cfg_attr(target_os = "linux", path = "direct_io/linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "direct_io/elsewhere.rs")]
mod system;

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
pub(crate) use system::{give_back, is_direct, is_refusal, open_direct, open_nameless, reserve, set_direct};

/// Creates a file that only this user may open and that disappears with the process. Its name is `path` at most for a moment.
#[cfg(unix)]
pub(crate) fn create_unlinked(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)?;
    std::fs::remove_file(path)?;
    Ok(file)
}

/// Creates a file that the system removes when it is closed, also after a crash.
#[cfg(windows)]
pub(crate) fn create_unlinked(path: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;
    /// FILE_ATTRIBUTE_TEMPORARY and FILE_FLAG_DELETE_ON_CLOSE of CreateFileW.
    const TEMPORARY: u32 = 0x0000_0100 | 0x0400_0000;
    OpenOptions::new().read(true).write(true).create_new(true).custom_flags(TEMPORARY).open(path)
}
