//! How an error reaches the user: one line that says what and where, the source line with a caret where there is
//! one, a line of advice, and the exit code.

use crate::output;
use litepress::{Error, ErrorKind};

/// Exit code of a command that did what it was to do.
pub const DONE: u8 = 0;
/// Exit code of data and I/O errors, and of a check that found something.
pub const FAILED: u8 = 1;
/// Exit code of wrong options and arguments.
pub const USAGE: u8 = 2;
/// Exit code after Ctrl-C, as shells have it: 128 and the number of the signal.
pub const INTERRUPTED: u8 = 130;

/// Characters of a source line that are shown around a mistake.
const EXCERPT_CHARACTERS: usize = 100;

/// An error and, where it is about a text that the user wrote, that text.
#[derive(Debug)]
pub struct Failure {
    error: Error,
    text: Option<String>,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { error, text: None }
    }
}

impl Failure {
    /// Prints the error; its exit code.
    pub(crate) fn report(&self) -> u8 {
        output::say(&self.to_text());
        match self.error.kind() {
            ErrorKind::Usage => USAGE,
            ErrorKind::Interrupted => INTERRUPTED,
            _ => FAILED,
        }
    }

    /// The error.
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// The line of the text that the error is about, with a caret below the character.
    pub fn excerpt(&self) -> Option<String> {
        let place = self.error.place();
        excerpt(self.text.as_ref()?, place.line?, place.character?)
    }

    fn to_text(&self) -> String {
        let mut out = format!("error: {}\n", self.error.headline());
        out += &self.excerpt().unwrap_or_default();
        if let Some(advice) = advice(&self.error) {
            out += &format!("help: {advice}\n");
        }
        out
    }
}

/// The advice of an error, with the option that it is followed by.
pub fn advice(error: &Error) -> Option<String> {
    error.advice().map(|advice| format!("{advice}{}", option_for(error.kind(), advice)))
}

/// What an advice of the library, which knows no options, is done with.
fn option_for(kind: ErrorKind, advice: &str) -> &'static str {
    match kind {
        ErrorKind::Exists if advice.ends_with("allow its replacement") => " with --replace",
        ErrorKind::Io | ErrorKind::NoSpace if advice.ends_with("another folder for temporary files") => {
            " with --temp-dir"
        }
        _ => "",
    }
}

/// The texts that errors may be about, by the names that errors call them.
#[derive(Debug, Default)]
pub struct Texts(Vec<(String, String)>);

impl Texts {
    /// Adds a text.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) {
        self.0.push((name.into(), text.into()));
    }

    /// Joins an error with the text that it is about.
    pub fn explain(&self, error: Error) -> Failure {
        let file = error.place().file.as_deref();
        let text = self.0.iter().find(|(name, _)| file.is_some_and(|file| file.as_os_str() == name.as_str()));
        Failure { text: text.map(|(_, text)| text.clone()), error }
    }
}

/// The line of a text with a caret below one of its characters, both counted from 1.
fn excerpt(text: &str, line: u64, character: u64) -> Option<String> {
    let source = text.split('\n').nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
    let characters: Vec<char> = source.trim_end_matches('\r').chars().collect();
    let caret = usize::try_from(character).ok()?.checked_sub(1)?.min(characters.len());
    let start = caret.saturating_sub(EXCERPT_CHARACTERS / 2);
    let end = characters.len().min(start + EXCERPT_CHARACTERS);
    // Control characters, tabs too, would move the caret or the terminal's mind.
    let shown: String = characters[start..end].iter().map(|it| if it.is_control() { ' ' } else { *it }).collect();
    let number = line.to_string();
    let margin = " ".repeat(number.len());
    let before = " ".repeat(caret - start);
    Some(format!("{number} | {}\n{margin} | {before}^\n", shown.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_below_the_character() {
        assert_eq!(excerpt("one\n\ttwo\r\nthree", 2, 2).unwrap(), "2 |  two\n  |  ^\n");
        assert_eq!(excerpt("one", 1, 4).unwrap(), "1 | one\n  |    ^\n");
        assert_eq!(excerpt("", 1, 1).unwrap(), "1 | \n  | ^\n");
        assert_eq!(excerpt("one", 2, 1), None);
        let long = excerpt(&format!("{}x{}", "a".repeat(5000), "b".repeat(5000)), 1, 5001).unwrap();
        assert!(long.len() < 300 && long.contains("axb"), "{long}");
    }

    /// The library named one option itself, and the program put another behind any advice about a target that exists.
    #[test]
    fn advice_names_the_option_that_it_is_done_with() {
        for (kind, advice, option) in [
            (ErrorKind::Exists, "choose another name, or allow its replacement", " with --replace"),
            (ErrorKind::Exists, "choose another name", ""),
            (
                ErrorKind::NoSpace,
                "free some room there, or name another folder for temporary files",
                " with --temp-dir",
            ),
            (ErrorKind::Io, "check the disk, or name another folder for temporary files", " with --temp-dir"),
            (ErrorKind::NoSpace, "free some room, or write to another disk", ""),
        ] {
            let text = Failure::from(Error::new(kind, "no").advise(advice)).to_text();
            assert_eq!(text, format!("error: no\nhelp: {advice}{option}\n"));
        }
    }

    #[test]
    fn advice_has_a_line_of_its_own() {
        let mut texts = Texts::default();
        texts.add("a.sql", "create tabel t");
        let error = Error::new(ErrorKind::Schema, "near \"tabel\"").in_file("a.sql").at(1, 8).advise("learn SQL");
        let expected = "error: a.sql:1:8: near \"tabel\"\n1 | create tabel t\n  |        ^\nhelp: learn SQL\n";
        assert_eq!(texts.explain(error).to_text(), expected);
    }
}
