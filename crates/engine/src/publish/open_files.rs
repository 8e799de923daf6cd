//! Finds processes that have a file open, as far as `/proc` tells.

use litepress_rows::files::FileId;
use std::fs;
use std::path::Path;

/// Returns whether this process has the file open. Opening and closing it once more would then give up the locks of that
/// connection: POSIX locks end with the first handle that is closed (sqlite.org/howtocorrupt.html, 2.2).
pub fn is_open_in_this_process(file: FileId) -> bool {
    is_open_in(Path::new("/proc/self"), file)
}

/// Returns the name and number of a process that has the file open: `python3, process 1234`. `None` if no process that
/// this user may look into has it.
pub fn process_with(file: FileId) -> Option<String> {
    let processes = fs::read_dir("/proc").ok()?.flatten();
    processes.filter_map(|entry| entry.file_name().into_string().ok()?.parse().ok()).find_map(|number: u32| {
        let process = Path::new("/proc").join(number.to_string());
        if !is_open_in(&process, file) {
            return None;
        }
        let name = fs::read_to_string(process.join("comm")).unwrap_or_default();
        Some(format!("{}, process {number}", name.trim()))
    })
}

fn is_open_in(process: &Path, file: FileId) -> bool {
    let Ok(handles) = fs::read_dir(process.join("fd")) else { return false };
    handles.flatten().any(|handle| FileId::at(&handle.path()).is_ok_and(|open| open == file))
}
