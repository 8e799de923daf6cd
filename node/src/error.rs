//! Errors in the words of JavaScript.

use litepress::message::{OptionName, OptionValue, Words};
use litepress::{Error, Result};
use serde_json::json;

/// The words of JavaScript: properties of an object of options.
struct Properties;

impl Words for Properties {
    /// Returns the name in camel case.
    fn name(&self, name: OptionName) -> String {
        let mut words = name.name().split('-');
        let first = words.next().unwrap_or_default().to_owned();
        words.fold(first, |name, word| {
            let (initial, rest) = word.split_at(word.len().min(1));
            name + &initial.to_ascii_uppercase() + rest
        })
    }

    fn option(&self, name: OptionName, value: &OptionValue) -> String {
        let value = match value {
            OptionValue::None => "true".to_owned(),
            OptionValue::Word(word) => format!("{word:?}"),
            OptionValue::Names(names) => format!("{names:?}"),
            OptionValue::Pair(left, right) => format!("{{{left:?}: {right:?}}}"),
            OptionValue::Count(None, number) => number.clone(),
            OptionValue::Count(Some(table), number) => format!("{{{table:?}: {number}}}"),
        };
        format!("{{{}: {value}}}", self.name(name))
    }

    fn choice(&self, _name: OptionName, choice: &str) -> String {
        format!("{choice:?}")
    }
}

/// Returns the outcome for JavaScript. The reason of an error is a JSON object of its parts.
pub fn told<T>(outcome: Result<T>) -> napi::Result<T> {
    outcome.map_err(|error| napi::Error::from_reason(parts(&error).to_string()))
}

fn parts(error: &Error) -> serde_json::Value {
    let place = error.place();
    let excerpt = error.excerpt().map_or(String::new(), |excerpt| format!("\n{}", excerpt.trim_end()));
    json!({
        "kind": error.kind().name(),
        "message": error.headline_in(&Properties) + &excerpt,
        "advice": error.advice_in(&Properties),
        "file": place.file,
        "table": place.table,
        "column": place.column,
        "value": place.value,
        "record": place.record,
    })
}
