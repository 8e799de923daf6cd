//! Standard output and standard error. A reader may close either at any time.

use litepress::{Error, Result};
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Prints `text` as it is. A reader that closes the pipe early, as `head` does, causes no error.
pub fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Error::io("write the output", Path::new("<standard output>"), error))
        }
        _ => Ok(()),
    }
}

/// Prints one JSON value on one line.
pub fn print_json(value: &serde_json::Value) -> Result<()> {
    print(&format!("{value}\n"))
}

/// Prints `text` on standard error. Ignores errors, because there is no other place to report them.
pub fn say(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Refuses database names with a special meaning to SQLite or shells.
pub fn refuse_special_name(out: &Path) -> Result<()> {
    litepress::refuse_special_name(out).map_err(|error| match out.to_str() {
        Some(":memory:") => error.advise(
            "name a file, or measure with --discard; databases in memory are for programs that use the library",
        ),
        _ => error,
    })
}
