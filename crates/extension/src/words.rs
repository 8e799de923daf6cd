//! Options in messages, as this extension is given them: texts like `'delimiter=;'`.

use litepress::{OptionName, OptionValue, Words};

/// The words of the extension.
#[derive(Clone, Copy, Debug)]
pub struct OptionTexts;

impl Words for OptionTexts {
    fn name(&self, name: OptionName) -> String {
        format!("'{}'", name.name())
    }

    fn option(&self, name: OptionName, value: &OptionValue) -> String {
        let name = name.name();
        let text = match value {
            OptionValue::None => name.to_owned(),
            OptionValue::Word(word) => format!("{name}={word}"),
            OptionValue::Names(names) => format!("{name}={}", names.join(",")),
            OptionValue::Pair(left, right) => format!("{name}={left}={right}"),
            OptionValue::Count(None, number) => format!("{name}={number}"),
            OptionValue::Count(Some(table), number) => format!("{name}={table}={number}"),
        };
        format!("'{}'", text.replace('\'', "''"))
    }

    fn choice(&self, _name: OptionName, choice: &str) -> String {
        format!("'{choice}'")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use litepress::Message;

    #[test]
    fn options_can_be_copied_into_a_query() {
        for (hint, text) in [
            (OptionName::Strict.alone(), "'strict'"),
            (OptionName::OnError.word("reject"), "'on-error=reject'"),
            (OptionName::PrimaryKey.names(["a", "b"]), "'primary-key=a,b'"),
            (OptionName::Type.pair("it's", "TEXT"), "'type=it''s=TEXT'"),
        ] {
            assert_eq!(Message::from(hint).in_words(&OptionTexts), text);
        }
    }
}
