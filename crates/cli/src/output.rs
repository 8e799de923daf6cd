//! Standard output and standard error. A reader may close either at any time.

use anstyle::{AnsiColor, Style};
use litepress::{Error, Result};
use std::io::{ErrorKind, Write};
use std::path::Path;

/// The colours of messages. They reach a terminal only, and none if `NO_COLOR` or `CLICOLOR=0` is set.
pub mod colours {
    use super::{AnsiColor, Style};

    /// For the word "error".
    pub const ERROR: Style = AnsiColor::Red.on_default().bold();
    /// For the word "help".
    pub const HELP: Style = AnsiColor::Green.on_default().bold();
    /// For the margin beside a line of a file.
    pub const MARGIN: Style = AnsiColor::Blue.on_default().bold();
}

/// Returns a text in a colour.
pub fn painted(text: &str, style: Style) -> String {
    format!("{style}{text}{style:#}")
}

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

/// Prints `text` on standard error, without its colours unless that is a terminal. Ignores errors, because there is no other
/// place to report them.
pub fn say(text: &str) {
    let _ = anstream::AutoStream::auto(std::io::stderr()).write_all(text.as_bytes());
}

/// Refuses database names with a special meaning to SQLite or shells. `can_discard` says whether the command has `--discard`.
pub fn refuse_special_name(out: &Path, can_discard: bool) -> Result<()> {
    const IN_MEMORY: &str = "databases in memory are for programs that use the library";
    litepress::refuse_special_name(out).map_err(|error| match out.to_str() {
        Some(":memory:") if can_discard => error.advise(format!("name a file, or measure with --discard; {IN_MEMORY}")),
        Some(":memory:") => error.advise(format!("name a file; {IN_MEMORY}")),
        _ => error,
    })
}
