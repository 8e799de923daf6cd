//! Messages of errors and reports that name options. Every face of litepress calls an option by another name: the program `--on-conflict ignore`,
//! Python `on_conflict="ignore"`, Rust `on_conflict(Conflict::Ignore)`.
//!
//! So a message that names an option is not a text but a sequence of [`Hint`]s, and a face renders it with its [`Words`]. No
//! face reads the text of another.
//!
//! ```
//! use litepress_rows::message::{Flags, OptionName, RustWords};
//! use litepress_rows::message;
//!
//! let advice = message!["keep the first of such rows with ", OptionName::OnConflict.word("ignore")];
//! assert_eq!(advice.in_words(&Flags), "keep the first of such rows with --on-conflict ignore");
//! assert_eq!(advice.in_words(&RustWords), "keep the first of such rows with on_conflict(Conflict::Ignore)");
//! ```

mod option_name;
mod words;

pub use option_name::{OptionName, OptionValue};
pub use words::{Flags, RustWords, Words};

use std::borrow::Cow;
use std::fmt;

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Words that are the same for every face.
    Text(Cow<'static, str>),
    /// An option and its value.
    Option {
        /// The option.
        name: OptionName,
        /// Its value.
        value: OptionValue,
        /// The caller gave it. Otherwise the message advises to give it.
        is_given: bool,
    },
    /// Another choice for an option that the message has named before.
    Choice(OptionName, Cow<'static, str>),
}

impl Hint {
    fn option(name: OptionName, value: OptionValue) -> Self {
        Self::Option { name, value, is_given: false }
    }

    /// Says that the caller gave the option.
    #[must_use]
    pub fn given(mut self) -> Self {
        if let Self::Option { is_given, .. } = &mut self {
            *is_given = true;
        }
        self
    }
}

/// A message as a sequence of hints. [`Display`](fmt::Display) shows it in [Rust's words](RustWords).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message(Vec<Hint>);

impl Message {
    /// Returns the parts.
    pub fn hints(&self) -> &[Hint] {
        &self.0
    }

    /// Appends another message.
    #[must_use]
    pub fn and(mut self, other: impl Into<Self>) -> Self {
        self.0.append(&mut other.into().0);
        self
    }

    /// Renders the message in the words of a face.
    pub fn in_words(&self, words: &dyn Words) -> String {
        let render = |hint: &Hint| match hint {
            Hint::Text(text) => text.clone().into_owned(),
            Hint::Option { name, value, is_given: true } => words.given(*name, value),
            Hint::Option { name, value, is_given: false } => words.option(*name, value),
            Hint::Choice(name, choice) => words.choice(*name, choice),
        };
        self.0.iter().map(render).collect()
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(&RustWords))
    }
}

impl From<Hint> for Message {
    fn from(hint: Hint) -> Self {
        Self(vec![hint])
    }
}

impl From<Cow<'_, str>> for Message {
    fn from(text: Cow<'_, str>) -> Self {
        text.into_owned().into()
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        Hint::Text(text.into()).into()
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&String> for Message {
    fn from(text: &String) -> Self {
        text.clone().into()
    }
}

impl From<&Message> for Message {
    fn from(message: &Message) -> Self {
        message.clone()
    }
}

/// Joins texts, [`Hint`](crate::message::Hint)s and [`Message`](crate::message::Message)s to one message.
#[macro_export]
macro_rules! message {
    ($($part:expr),+ $(,)?) => {
        $crate::message::Message::default()$(.and($part))+
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, ErrorKind};

    #[test]
    fn every_value_in_the_words_of_the_program_and_of_rust() {
        for (hint, flags, rust) in [
            (OptionName::Table.alone(), "--table", "table"),
            (OptionName::Overwrite.alone(), "--overwrite", "overwrite(true)"),
            (OptionName::OnConflict.word("ignore"), "--on-conflict ignore", "on_conflict(Conflict::Ignore)"),
            (OptionName::Encoding.word("latin1"), "--encoding latin1", "encoding(\"latin1\")"),
            (OptionName::PrimaryKey.names(["a", "b"]), "--primary-key a,b", "primary_key([\"a\", \"b\"])"),
            (OptionName::Type.pair("a b", "TEXT"), "--type 'a b=TEXT'", "column_type(\"a b\", \"TEXT\")"),
            (OptionName::Type.pair("a b", "TEXT").given(), "--type a b=TEXT", "column_type(\"a b\", \"TEXT\")"),
            (OptionName::Map.pair("a", ""), "--map 'a='", "map(\"a\", \"\")"),
            (OptionName::Rows.count(Some("t"), "N"), "--rows t=N", "rows(\"t\", N)"),
            (OptionName::Rows.count(None, "N"), "--rows N", "rows(N)"),
        ] {
            let message = message!["say ", hint, ", ", String::from("then")];
            assert_eq!(message.in_words(&Flags), format!("say {flags}, then"));
            assert_eq!(message.to_string(), format!("say {rust}, then"));
        }
    }

    /// Programs that use the library were told of flags which only the program has.
    #[test]
    fn an_error_names_options_as_its_reader_calls_them() {
        let message = message![OptionName::Map.pair("x", "b").given(), ": the table has no column b"];
        let error = Error::new(ErrorKind::Schema, message).in_table("t").advise(OptionName::Map.pair("x", ""));
        assert_eq!(error.to_string(), "table t: map(\"x\", \"b\"): the table has no column b; map(\"x\", \"\")");
        assert_eq!(error.in_words(&Flags), "table t: --map x=b: the table has no column b; --map 'x='");
    }
}
