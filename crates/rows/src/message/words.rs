//! Options in the words of each face: the trait, the methods of Rust and the flags of the program. Python has its own.

use super::{OptionName, OptionValue};

/// The names of options in the words of one face.
pub trait Words {
    /// Returns the name of an option.
    fn name(&self, name: OptionName) -> String;

    /// Renders an option to be given, ready to be copied.
    fn option(&self, name: OptionName, value: &OptionValue) -> String;

    /// Renders a choice for an option without the option.
    fn choice(&self, name: OptionName, choice: &str) -> String;

    /// Renders an option that was given.
    fn given(&self, name: OptionName, value: &OptionValue) -> String {
        self.option(name, value)
    }
}

/// The words of Rust: methods of option structs.
#[derive(Clone, Copy, Debug)]
pub struct RustWords;

impl Words for RustWords {
    fn name(&self, name: OptionName) -> String {
        match name {
            OptionName::Memory => "memory_bytes".to_owned(),
            OptionName::Type => "column_type".to_owned(),
            OptionName::True => "true_word".to_owned(),
            OptionName::False => "false_word".to_owned(),
            OptionName::NoHeader => "header".to_owned(),
            _ => name.name().replace('-', "_"),
        }
    }

    fn option(&self, name: OptionName, value: &OptionValue) -> String {
        let arguments = match value {
            OptionValue::None
                if matches!(
                    name,
                    OptionName::AbsentAsNull
                        | OptionName::AddColumns
                        | OptionName::AllowIncomplete
                        | OptionName::Append
                        | OptionName::EnforceForeignKeys
                        | OptionName::ReplaceTables
                        | OptionName::Overwrite
                        | OptionName::Truncate
                        | OptionName::Union
                ) =>
            {
                "true".to_owned()
            }
            OptionValue::None if name == OptionName::NoHeader => "false".to_owned(),
            OptionValue::None => return self.name(name),
            OptionValue::Word(word) => self.choice(name, word),
            OptionValue::Names(names) => format!("{names:?}"),
            OptionValue::Pair(table, policy) if name == OptionName::Rowids => {
                return format!("table_rowids({table:?}, {})", self.choice(name, policy));
            }
            OptionValue::Pair(left, right) => format!("{left:?}, {right:?}"),
            OptionValue::Count(None, number) => number.clone(),
            OptionValue::Count(Some(table), number) => format!("{table:?}, {number}"),
        };
        format!("{}({arguments})", self.name(name))
    }

    fn choice(&self, name: OptionName, choice: &str) -> String {
        let choices = match name {
            OptionName::Format => "Format",
            OptionName::InvalidUtf8 => "InvalidUtf8",
            OptionName::Nan => "NanPolicy",
            OptionName::Numbers => "Numbers",
            OptionName::OnConflict => "Conflict",
            OptionName::OnError => "OnError",
            OptionName::Ragged => "Ragged",
            OptionName::Rowids => "RowidPolicy",
            OptionName::StrayQuotes => "StrayQuotes",
            _ => return format!("{choice:?}"),
        };
        format!("{choices}::{}", capitalized(choice))
    }
}

fn capitalized(word: &str) -> String {
    let mut characters = word.chars();
    characters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + characters.as_str())
}

/// Quotes a word for the shell.
fn shell_word(word: &str) -> String {
    let is_plain = !word.contains(['"', '$', '`', '\\', '!']);
    if word.contains('\'') && is_plain { format!("\"{word}\"") } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// The words of the program: flags of the command line.
#[derive(Clone, Copy, Debug)]
pub struct Flags;

impl Flags {
    fn value(value: &OptionValue) -> Option<String> {
        match value {
            OptionValue::None => None,
            OptionValue::Word(word) => Some(word.clone().into_owned()),
            OptionValue::Names(names) => Some(names.join(",")),
            OptionValue::Pair(left, right) => Some(format!("{left}={right}")),
            OptionValue::Count(None, number) => Some(number.clone()),
            OptionValue::Count(Some(table), number) => Some(format!("{table}={number}")),
        }
    }
}

impl Words for Flags {
    fn name(&self, name: OptionName) -> String {
        format!("--{}", name.name())
    }

    /// Quotes pairs: names of columns may hold characters with a meaning for the shell.
    fn option(&self, name: OptionName, value: &OptionValue) -> String {
        match value {
            OptionValue::Pair(left, right) => format!("{} {}", self.name(name), shell_word(&format!("{left}={right}"))),
            _ => self.given(name, value),
        }
    }

    fn choice(&self, _name: OptionName, choice: &str) -> String {
        choice.to_owned()
    }

    fn given(&self, name: OptionName, value: &OptionValue) -> String {
        match Self::value(value) {
            None => self.name(name),
            Some(value) => format!("{} {value}", self.name(name)),
        }
    }
}
