//! Options as Python calls them: keyword arguments.

use litepress::{OptionName, OptionValue, Words};

/// The words of Python.
#[derive(Clone, Copy, Debug)]
pub struct Keywords;

impl Words for Keywords {
    fn name(&self, name: OptionName) -> String {
        match name {
            OptionName::ForeignKey => "foreign_keys".to_owned(),
            OptionName::Index => "indexes".to_owned(),
            OptionName::Append | OptionName::Overwrite | OptionName::ReplaceTables => "if_exists".to_owned(),
            OptionName::Type => "types".to_owned(),
            OptionName::NoHeader => "header".to_owned(),
            OptionName::SkipTable => "skip_tables".to_owned(),
            _ => name.name().replace('-', "_"),
        }
    }

    /// Shows `on_conflict="ignore"`, `types={"x": "TEXT"}`, `rows={"t": N}`, and `table=` for the argument alone.
    fn option(&self, name: OptionName, value: &OptionValue) -> String {
        let keyword = self.name(name);
        let value = match value {
            OptionValue::None if name == OptionName::Overwrite => "\"overwrite\"".to_owned(),
            OptionValue::None if name == OptionName::ReplaceTables => "\"replace\"".to_owned(),
            OptionValue::None if name == OptionName::Append => "\"append\"".to_owned(),
            OptionValue::None if name == OptionName::NoHeader => "False".to_owned(),
            OptionValue::None
                if matches!(
                    name,
                    OptionName::WithoutRowid
                        | OptionName::AllowIncomplete
                        | OptionName::AbsentAsNull
                        | OptionName::AddColumns
                        | OptionName::EnforceForeignKeys
                        | OptionName::Truncate
                        | OptionName::Union
                ) =>
            {
                "True".to_owned()
            }
            OptionValue::None => String::new(),
            OptionValue::Word(form) if name == OptionName::StoreAs => format!("{{\"COLUMN\": \"{form}\"}}"),
            // A built-in schema is an argument without a keyword.
            OptionValue::Word(word) if name == OptionName::Preset => return format!("\"{word}\""),
            OptionValue::Word(word) => format!("\"{word}\""),
            OptionValue::Names(names) => match &names[..] {
                [name] => format!("\"{name}\""),
                names => format!("({})", names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")),
            },
            OptionValue::Pair(left, right) if right.is_empty() => format!("{{\"{left}\": None}}"),
            OptionValue::Pair(left, right) => format!("{{\"{left}\": \"{right}\"}}"),
            OptionValue::Count(None, number) => number.clone(),
            OptionValue::Count(Some(table), number) => format!("{{\"{table}\": {number}}}"),
        };
        format!("{keyword}={value}")
    }

    fn given(&self, name: OptionName, value: &OptionValue) -> String {
        match value {
            OptionValue::None => self.name(name),
            value => self.option(name, value),
        }
    }

    fn choice(&self, _name: OptionName, choice: &str) -> String {
        format!("\"{choice}\"")
    }
}
