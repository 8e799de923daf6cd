//! An error as the user sees it: one line that says what and where, the source line with a caret if there is one, a line of
//! advice, and the exit code. With `--json` it is one JSON object.

use crate::output::{self, colours, painted};
use litepress::{Error, ErrorKind, Flags};
use serde_json::{Value, json};

/// Exit code of a command that succeeded.
pub const DONE: u8 = 0;
/// Exit code of data and I/O errors, and of a check that found something.
pub const FAILED: u8 = 1;
/// Exit code of wrong options and arguments.
pub const USAGE: u8 = 2;
/// Exit code after Ctrl-C, by the convention of shells: 128 plus the number of SIGINT.
pub const INTERRUPTED: u8 = 130;

/// The form of errors on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorForm {
    /// Lines for people.
    Text,
    /// One JSON object on one line.
    Json,
}

impl ErrorForm {
    /// Returns the form for a command with or without `--json`.
    pub fn of(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }

    /// Prints an error and returns its exit code.
    pub fn report(self, error: &Error) -> u8 {
        match self {
            Self::Text => output::say(&to_text(error)),
            Self::Json => output::say(&format!("{}\n", to_json(error))),
        }
        exit_code(error)
    }
}

fn exit_code(error: &Error) -> u8 {
    match error.kind() {
        ErrorKind::Usage => USAGE,
        ErrorKind::Interrupted => INTERRUPTED,
        _ => FAILED,
    }
}

fn to_text(error: &Error) -> String {
    let mut out = format!("{} {}\n", painted("error:", colours::ERROR), error.headline_in(&Flags));
    for line in error.excerpt().unwrap_or_default().lines() {
        let (margin, text) = line.split_once('|').unwrap_or(("", line));
        out += &format!("{}{text}\n", painted(&format!("{margin}|"), colours::MARGIN));
    }
    if let Some(advice) = error.advice_in(&Flags) {
        out += &format!("{} {advice}\n", painted("help:", colours::HELP));
    }
    out
}

/// Describes the error for programs. Parts that are unknown are null.
fn to_json(error: &Error) -> Value {
    let place = error.place();
    json!({
        "kind": error.kind().name(),
        "message": error.message_in(&Flags),
        "file": place.file.as_ref().map(|file| file.display().to_string()),
        "record": place.record,
        "line": place.line,
        "character": place.character,
        "table": place.table,
        "column": place.column,
        "value": place.value,
        "help": error.advice_in(&Flags),
        "exit_code": exit_code(error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use litepress::{OptionName, message};

    fn plain(error: &Error) -> String {
        anstream::adapter::strip_str(&to_text(error)).to_string()
    }

    /// The library's advice named one option, and the program added another to any advice about an existing target.
    #[test]
    fn advice_names_the_option_that_it_is_done_with() {
        let advice = message!["choose another name, or allow its replacement with ", OptionName::Overwrite.alone()];
        let text = plain(&Error::new(ErrorKind::Exists, "no").advise(advice));
        assert_eq!(text, "error: no\nhelp: choose another name, or allow its replacement with --overwrite\n");
        let text = plain(&Error::new(ErrorKind::Exists, "no").advise("choose another name"));
        assert_eq!(text, "error: no\nhelp: choose another name\n");
    }

    #[test]
    fn advice_has_a_line_of_its_own() {
        let error = Error::new(ErrorKind::Schema, "near \"tabel\"").in_file("a.sql").at(1, 8).advise("learn SQL");
        let expected = "error: a.sql:1:8: near \"tabel\"\n1 | create tabel t\n  |        ^\nhelp: learn SQL\n";
        assert_eq!(plain(&error.with_excerpt_of("create tabel t")), expected);
    }

    /// With `--json` errors were plain text, so scripts had to take them apart.
    #[test]
    fn programs_get_every_part_of_an_error() {
        let advice = message!["store it as NULL with ", OptionName::OnError.word("null")];
        let error =
            Error::new(ErrorKind::Constraint, "the value is not a number").in_file("a.csv").at(3, 5).in_record(2);
        let error = error.in_table("a").in_column("price").with_value("'x\ny'").advise(advice);
        let expected = json!({
            "kind": "constraint", "message": "the value is not a number", "file": "a.csv", "record": 2, "line": 3,
            "character": 5, "table": "a", "column": "price", "value": "'x\ny'",
            "help": "store it as NULL with --on-error null", "exit_code": 1,
        });
        assert_eq!(to_json(&error), expected);
        assert!(to_json(&Error::new(ErrorKind::Usage, "no"))["help"].is_null());
    }
}
