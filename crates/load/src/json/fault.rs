//! Says what is wrong with a record.
//!
//! The parser says where it stopped and what it expected there. For common mistakes, the text at that place gives a better
//! message (`diagnose`).

use super::frame::Layout;
use jiter::{JiterError, JiterErrorType, JsonErrorType};
use litepress_rows::{Message, OptionName, message};
use std::borrow::Cow;

/// A fault in a record.
#[derive(Debug)]
pub(super) struct Fault {
    /// Its byte in the record.
    pub at: usize,
    /// Start of the value with the fault. `None` outside of values.
    pub start: Option<usize>,
    /// Length of the bad value in bytes, if known.
    pub len: Option<usize>,
    pub message: Cow<'static, str>,
    pub advice: Option<Message>,
    /// The key of the value.
    pub key: Option<String>,
    /// The group of the fault.
    pub mistake: Mistake,
}

/// A group of faults with common advice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mistake {
    /// No advice: the message is enough.
    #[default]
    Other,
    /// Text that is not JSON.
    Syntax,
    /// The record ends too early.
    CutOff,
    /// Something follows the object.
    Behind,
    /// The record has a key without a column. It may have another fault further on.
    UnknownKey,
}

impl Fault {
    pub fn new(at: usize, message: impl Into<Cow<'static, str>>) -> Self {
        Self { at, start: None, len: None, message: message.into(), advice: None, key: None, mistake: Mistake::Other }
    }

    /// Says that a record lacks a key, and would update a row.
    #[cold]
    pub fn lacks_key(key: &str) -> Self {
        let message =
            format!("the record lacks the key {key:?}, which others have: an update would make the value NULL");
        Self::new(0, message).of_key(key).advise(message![
            "write null where it is meant, take a key that a record lacks for NULL (",
            OptionName::AbsentAsNull.alone(),
            "), or load records with different keys from files of their own, one after another"
        ])
    }

    pub fn advise(self, advice: impl Into<Message>) -> Self {
        Self { advice: Some(advice.into()), ..self }
    }

    /// Moves a fault in a part of the record, which begins at `base`, to its place in the record.
    pub fn behind(self, base: usize) -> Self {
        Self { at: self.at + base, start: self.start.map(|start| start + base), ..self }
    }

    pub fn in_value(self, start: usize) -> Self {
        Self { start: Some(start), ..self }
    }

    pub fn of_key(self, key: &str) -> Self {
        Self { key: Some(key.to_owned()), ..self }
    }

    pub fn of(self, mistake: Mistake) -> Self {
        Self { mistake, ..self }
    }

    /// Names the mistake and its remedy, judging by the text at its place and the layout of the file.
    #[cold]
    pub fn diagnose(self, record: &[u8], layout: Layout) -> Self {
        match self.mistake {
            Mistake::Other | Mistake::UnknownKey => self,
            Mistake::Syntax => self.diagnose_syntax(record),
            Mistake::CutOff if layout == Layout::Lines => self.advise(message![
                "the file may be cut off here; ",
                OptionName::Format.word("json"),
                " reads objects that stand on several lines"
            ]),
            Mistake::CutOff => self.advise("the file may be cut off here"),
            Mistake::Behind => match layout {
                Layout::Lines => self.advise(message![
                    "write one object a line; ",
                    OptionName::Format.word("json"),
                    " reads objects that follow one another on a line"
                ]),
                Layout::Array => self.advise("a comma may be missing between two records"),
                Layout::Stream => self,
            },
        }
    }

    fn diagnose_syntax(self, record: &[u8]) -> Self {
        // The parser may have stopped behind the first letter.
        let from = self.at.saturating_sub(1).min(record.len());
        let (before, text) = (record.get(from), &record[self.at.min(record.len())..]);
        let word = match (before, text) {
            (_, [b'N', b'a', b'N', ..]) => Some("NaN"),
            (Some(b'-'), [b'I', ..]) | (_, [b'-', b'I', ..]) => Some("-Infinity"),
            (_, [b'I', ..]) => Some("Infinity"),
            _ => None,
        };
        if let Some(word) = word {
            let message = format!("{word} is not a number of JSON");
            let advice = message![
                OptionName::Nan.word("null"),
                " stores NULL instead, ",
                OptionName::Nan.or("text"),
                " the word"
            ];
            return Self { message: message.into(), ..self }.advise(advice);
        }
        let python = [("True", "true"), ("False", "false"), ("None", "null")];
        if let Some((word, json)) = python.into_iter().find(|(word, _)| text.starts_with(word.as_bytes())) {
            let message = format!("{word} is Python; JSON writes {json}");
            return Self { message: message.into(), ..self }.advise("write the file with json.dumps");
        }
        match text {
            [b'\'', ..] => self.advise("JSON has no single quotes; Python writes it with json.dumps"),
            [b'/', b'/' | b'*', ..] | [b'#', ..] => self.advise("JSON has no comments"),
            [b'}' | b']', ..] if self.message.contains("behind the comma") => self.advise("leave out the comma"),
            _ => self,
        }
    }
}

impl From<JiterError> for Fault {
    fn from(error: JiterError) -> Self {
        let fault = |message| Self::new(error.index, message).of(Mistake::Syntax);
        let cut_off = |message| Self::new(error.index, message).of(Mistake::CutOff);
        let JiterErrorType::JsonError(kind) = &error.error_type else {
            return Self::new(error.index, error.error_type.to_string());
        };
        let surrogates = || message![OptionName::InvalidUtf8.word("replace"), " stores U+FFFD instead"];
        let utf8 = || {
            let (encoding, invalid) = (OptionName::Encoding.alone(), OptionName::InvalidUtf8.alone());
            message!["name the encoding by ", encoding, ", or say what to do by ", invalid]
        };
        match kind {
            JsonErrorType::EofWhileParsingList => cut_off("it ends within an array: expected `,` or `]`"),
            JsonErrorType::EofWhileParsingObject => cut_off("it ends within an object: expected `}`"),
            JsonErrorType::EofWhileParsingString => cut_off("it ends within a string: expected `\"`"),
            JsonErrorType::EofWhileParsingValue => cut_off("it ends where a value or key is expected"),
            JsonErrorType::ExpectedColon => fault("expected `:` behind the key"),
            JsonErrorType::ExpectedListCommaOrEnd => fault("expected `,` or `]`"),
            JsonErrorType::ExpectedObjectCommaOrEnd => fault("expected `,` or `}`"),
            JsonErrorType::ExpectedSomeIdent => fault("expected true, false or null"),
            JsonErrorType::ExpectedSomeValue => fault("expected a value"),
            JsonErrorType::InvalidEscape => {
                fault("expected one of \" \\ / b f n r t behind `\\`, or u and four hexadecimal digits")
            }
            JsonErrorType::InvalidNumber => {
                fault("expected a number as JSON writes it: no `+`, no leading zeros, digits around the point")
            }
            JsonErrorType::NumberOutOfRange => fault("expected a number of at most 4300 digits"),
            JsonErrorType::InvalidUnicodeCodePoint => fault("expected UTF-8").advise(utf8()),
            JsonErrorType::ControlCharacterWhileParsingString => {
                fault("expected a control character in a string to be escaped")
            }
            JsonErrorType::KeyMustBeAString => fault("expected a key in double quotes"),
            JsonErrorType::LoneLeadingSurrogateInHexEscape | JsonErrorType::UnexpectedEndOfHexEscape => {
                fault("expected both halves of a surrogate pair: one stands alone").advise(surrogates())
            }
            JsonErrorType::TrailingComma => fault("expected a key or value behind the comma"),
            JsonErrorType::TrailingCharacters => fault("expected nothing behind the object").of(Mistake::Behind),
            other => Self::new(error.index, other.to_string()),
        }
    }
}
