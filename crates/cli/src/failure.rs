//! An error as the user sees it: one line that says what and where, the source line with a caret if there is one, a line of
//! advice, and the exit code.

use crate::output;
use litepress::{Error, ErrorKind, Flags};

/// Exit code of a command that succeeded.
pub const DONE: u8 = 0;
/// Exit code of data and I/O errors, and of a check that found something.
pub const FAILED: u8 = 1;
/// Exit code of wrong options and arguments.
pub const USAGE: u8 = 2;
/// Exit code after Ctrl-C, by the convention of shells: 128 plus the number of SIGINT.
pub const INTERRUPTED: u8 = 130;

/// Prints an error and returns its exit code.
pub fn report(error: &Error) -> u8 {
    output::say(&to_text(error));
    match error.kind() {
        ErrorKind::Usage => USAGE,
        ErrorKind::Interrupted => INTERRUPTED,
        _ => FAILED,
    }
}

fn to_text(error: &Error) -> String {
    let mut out = format!("error: {}\n", error.headline_in(&Flags));
    out += error.excerpt().unwrap_or_default();
    if let Some(advice) = error.advice_in(&Flags) {
        out += &format!("help: {advice}\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use litepress::{OptionName, message};

    /// The library's advice named one option, and the program added another to any advice about an existing target.
    #[test]
    fn advice_names_the_option_that_it_is_done_with() {
        let advice = message!["choose another name, or allow its replacement with ", OptionName::Overwrite.alone()];
        let text = to_text(&Error::new(ErrorKind::Exists, "no").advise(advice));
        assert_eq!(text, "error: no\nhelp: choose another name, or allow its replacement with --overwrite\n");
        let text = to_text(&Error::new(ErrorKind::Exists, "no").advise("choose another name"));
        assert_eq!(text, "error: no\nhelp: choose another name\n");
    }

    #[test]
    fn advice_has_a_line_of_its_own() {
        let error = Error::new(ErrorKind::Schema, "near \"tabel\"").in_file("a.sql").at(1, 8).advise("learn SQL");
        let expected = "error: a.sql:1:8: near \"tabel\"\n1 | create tabel t\n  |        ^\nhelp: learn SQL\n";
        assert_eq!(to_text(&error.with_excerpt_of("create tabel t")), expected);
    }
}
