//! Options as texts: `name=value`, or a name alone. Names and values are those of the program.

use crate::sqlite::Failure;
use litepress::{AppendOptions, Choice, LoadOptions, Options, TableOptions, option_by_name, parse, units};

/// Options of any new database.
const BUILD_OPTIONS: [&str; 9] =
    ["analyze", "memory", "on-conflict", "overwrite", "page-size", "sync", "temp-dir", "threads", "verify"];

/// Options for the rows of files, and the files themselves.
#[derive(Clone, Debug, Default)]
pub struct FileArguments {
    /// The files: paths, patterns, folders.
    pub files: Vec<String>,
    /// How they are read.
    pub options: LoadOptions,
}

/// The outcome of an attempt to set an option.
type Set = Result<(), String>;

/// A text that may be an option.
#[derive(Clone, Copy, Debug)]
struct OptionText<'a> {
    name: &'a str,
    value: Option<&'a str>,
}

impl<'a> OptionText<'a> {
    /// Returns the option in a text, if it can be one.
    fn of(text: &'a str) -> Option<Self> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value)),
            None => (text, None),
        };
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        is_name.then_some(Self { name, value })
    }

    fn value(self) -> Result<&'a str, String> {
        self.value.ok_or_else(|| format!("it needs a value: '{}=...'", self.name))
    }

    fn parsed<T>(self, parse: impl FnOnce(&str) -> Result<T, String>) -> Result<T, String> {
        parse(self.value()?)
    }

    fn flag(self) -> Result<bool, String> {
        match self.value {
            None | Some("true") => Ok(true),
            Some("false") => Ok(false),
            Some(_) => Err("this is neither true nor false".to_owned()),
        }
    }

    fn names(self) -> Result<Vec<String>, String> {
        Ok(self.value()?.split(',').map(|name| name.trim().to_owned()).collect())
    }

    fn pair(self) -> Result<(String, String), String> {
        let pair = self.value()?.split_once('=');
        let (left, right) = pair.ok_or_else(|| format!("it is written '{}=COLUMN=VALUE'", self.name))?;
        Ok((left.to_owned(), right.to_owned()))
    }

    fn text(self) -> Result<String, String> {
        self.value().map(str::to_owned)
    }

    fn wrong(self, why: &str) -> Failure {
        let value = self.value.map_or_else(String::new, |value| format!("={value}"));
        Failure::new(format!("option '{}{value}': {why}", self.name))
    }
}

impl FileArguments {
    /// Sorts texts into files and options. A text that names an option is one; `./` in front makes a file of it.
    ///
    /// # Errors
    /// An option that is not known, or a wrong value; no file.
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, Failure> {
        let mut arguments = Self::default();
        for text in texts {
            arguments.add(text)?;
        }
        if arguments.files.is_empty() {
            return Err(Failure::new("no file is named. Write litepress_read('trips.parquet')"));
        }
        if arguments.files.iter().any(|file| file == "-") {
            return Err(Failure::new("standard input belongs to the program that runs SQLite. Name a file"));
        }
        Ok(arguments)
    }

    fn add(&mut self, text: &str) -> Result<(), Failure> {
        let Some(option) = OptionText::of(text) else {
            self.files.push(text.to_owned());
            return Ok(());
        };
        match set_file_option(&mut self.options, option) {
            Some(done) => done.map_err(|why| option.wrong(&why)),
            None if option.value.is_some() && !std::path::Path::new(text).exists() => {
                let message = format!(
                    "there is no option '{}'. docs/sqlite.md lists them; a file is named ./{text}",
                    option.name
                );
                Err(Failure::new(message))
            }
            None => {
                self.files.push(text.to_owned());
                Ok(())
            }
        }
    }
}

/// Sets an option for reading files. `None` if there is no such option.
fn set_file_option(options: &mut LoadOptions, option: OptionText<'_>) -> Option<Set> {
    let set = match option.name {
        "format" => option.parsed(Choice::from_name).map(|format| options.format = Some(format)),
        "encoding" => option.text().map(|encoding| options.encoding = Some(encoding)),
        "invalid-utf8" => option.parsed(Choice::from_name).map(|policy| options.invalid_utf8 = policy),
        "null-value" => option.text().map(|text| options.null_values.push(text)),
        "missing" => option.text().map(|word| options.words.missing.push(word)),
        "infinity" => option.text().map(|word| options.words.infinity.push(word)),
        "store-as" => option.pair().map(|pair| options.store_as.push(pair)),
        "sample" => option.parsed(units::count).map(|records| options.sample = Some(records)),
        "limit" => option.parsed(units::count).map(|records| options.limit = Some(records)),
        "select" => option.names().map(|names| options.select.extend(names)),
        "sheet" => option.text().map(|sheet| options.sheets.push(sheet)),
        "source-column" => option.text().map(|column| options.source_column = Some(column)),
        "map" => option.pair().map(|pair| options.map.push(pair)),
        "type" => option.pair().map(|pair| options.tables.types.push(pair)),
        "numbers" => option.parsed(parse::numbers).map(|rule| options.tables.numbers.push(rule)),
        "json-path" => option.text().map(|path| options.json_path = Some(path)),
        "flatten" => option.flag().map(|flatten| options.flatten = flatten),
        "nan" => option.parsed(Choice::from_name).map(|policy| options.nan = policy),
        "on-error" => option.parsed(Choice::from_name).map(|policy| options.on_error = Some(policy)),
        "max-rejects" => option.parsed(units::count).map(|records| options.max_rejects = Some(records)),
        "threads" => option.parsed(parse::threads).map(|threads| options.build.threads = threads),
        "memory" => option.parsed(parse::memory).map(|bytes| options.build.memory_bytes = bytes),
        "temp-dir" => option.text().map(|folder| options.build.temp_dir = Some(folder.into())),
        _ => return set_csv_option(options, option),
    };
    Some(set)
}

/// Sets an option for reading CSV.
fn set_csv_option(options: &mut LoadOptions, option: OptionText<'_>) -> Option<Set> {
    let values = &mut options.values;
    let set = match option.name {
        "delimiter" => option.parsed(parse::delimiter).map(|delimiter| options.delimiter = Some(delimiter)),
        "quote" => option.parsed(parse::quote).map(|quote| options.quote = quote),
        "escape" => option.parsed(parse::ascii).map(|escape| options.escape = Some(escape)),
        "header" => option.flag().map(|header| options.header = Some(header)),
        "no-header" => option.flag().map(|no_header| options.header = Some(!no_header)),
        "skip" => option.parsed(units::count).map(|lines| options.skip = lines),
        "trim" => option.flag().map(|trim| options.trim = trim),
        "skip-empty" => option.flag().map(|skip| options.skip_empty = skip),
        "columns" => option.names().map(|names| options.columns = names),
        "comment" => option.parsed(parse::ascii).map(|comment| options.comment = Some(comment)),
        "decimal" => option.parsed(parse::mark).map(|mark| values.decimal = Some(mark)),
        "thousands" => option.parsed(parse::mark).map(|mark| values.thousands = Some(mark)),
        "currency" => option.text().map(|sign| values.currency.push(sign)),
        "true" => option.text().map(|word| values.true_words.push(word)),
        "false" => option.text().map(|word| values.false_words.push(word)),
        "date-format" => option.pair().map(|pair| values.dates.push(pair)),
        "ragged" => option.parsed(Choice::from_name).map(|policy| options.ragged = policy),
        "stray-quotes" => option.parsed(Choice::from_name).map(|policy| options.stray_quotes = policy),
        "repeated-header" => option.parsed(Choice::from_name).map(|policy| options.repeated_header = policy),
        _ => return None,
    };
    Some(set)
}

/// Options of a new database.
#[derive(Clone, Debug, Default)]
pub struct PrintOptions {
    /// Options of the database.
    pub build: Options,
    /// Keys, types and indexes of the table.
    pub table: TableOptions,
    /// Its CREATE statements, if they are given.
    pub schema: Option<String>,
}

impl PrintOptions {
    /// Sets an option.
    ///
    /// # Errors
    /// An option that is not known, or a wrong value.
    pub fn set(&mut self, text: &str) -> Result<(), Failure> {
        let unknown = || Failure::new(format!("there is no option '{text}'. docs/sqlite.md lists them"));
        let option = OptionText::of(text).ok_or_else(unknown)?;
        if let Some(done) = self.set_table_option(option) {
            return done.map_err(|why| option.wrong(&why));
        }
        // An option of rows that exist has no effect on a new database.
        let mut of_existing = AppendOptions::default();
        let is_of_new = BUILD_OPTIONS.contains(&option.name);
        let is_set = is_of_new
            && option_by_name::set(&mut self.build, &mut of_existing, option.name, option.value.unwrap_or("true"))?;
        if is_set { Ok(()) } else { Err(unknown()) }
    }

    /// Sets an option of the table. `None` if there is no such option.
    fn set_table_option(&mut self, option: OptionText<'_>) -> Option<Set> {
        let Self { table, schema, .. } = self;
        let set = match option.name {
            "schema" => option.text().map(|text| *schema = Some(text)),
            "primary-key" => option.names().map(|names| table.primary_key.push(names)),
            "index" => option.names().map(|names| table.indexes.push(names)),
            "unique" => option.names().map(|names| table.unique.push(names)),
            "not-null" => option.names().map(|names| table.not_null.extend(names)),
            "type" => option.pair().map(|pair| table.types.push(pair)),
            "foreign-key" => option.pair().map(|pair| table.foreign_keys.push(pair)),
            "fts" => option.names().map(|names| table.full_text.push(names)),
            "without-rowid" => option.flag().map(|flag| table.without_rowid = flag),
            "strict" => option.flag().map(|flag| table.strict = flag),
            _ => return None,
        };
        Some(set)
    }
}

/// Returns the text of an argument of CREATE VIRTUAL TABLE: without quotes around it, or around the value of an option.
pub fn unquoted(argument: &str) -> String {
    let argument = argument.trim();
    if let Some(text) = quoted_text(argument) {
        return text;
    }
    match argument.split_once('=') {
        Some((name, value)) => {
            let value = value.trim();
            format!("{}={}", name.trim(), quoted_text(value).unwrap_or_else(|| value.to_owned()))
        }
        None => argument.to_owned(),
    }
}

/// Returns what stands between quotes, if a text is quoted as a whole.
fn quoted_text(text: &str) -> Option<String> {
    let quote = text.chars().next().filter(|first| matches!(first, '\'' | '"'))?;
    let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
    let doubled = format!("{quote}{quote}");
    let is_whole = !inner.replace(&doubled, "").contains(quote);
    is_whole.then(|| inner.replace(&doubled, &quote.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_lose_their_quotes() {
        for (written, text) in [
            ("'a b.csv'", "a b.csv"),
            (" \"a.csv\" ", "a.csv"),
            ("'it''s'", "it's"),
            ("delimiter=';'", "delimiter=;"),
            ("delimiter = ';'", "delimiter=;"),
            ("'delimiter=;'", "delimiter=;"),
            ("header=false", "header=false"),
            ("'a' || 'b'", "'a' || 'b'"),
            ("'", "'"),
            ("", ""),
        ] {
            assert_eq!(unquoted(written), text, "{written}");
        }
    }

    #[test]
    fn files_are_told_from_options() {
        let texts = ["a.csv", "delimiter=;", "no-header", "./trim", "null-value=-", "type=a=TEXT", "B=1.csv"];
        let FileArguments { files, options } = FileArguments::of(texts).unwrap();
        assert_eq!(files, ["a.csv", "./trim", "B=1.csv"]);
        assert_eq!((options.delimiter.as_deref(), options.header), (Some(";"), Some(false)));
        assert_eq!(options.null_values, ["-"]);
        assert_eq!(options.tables.types, [("a".to_owned(), "TEXT".to_owned())]);
        for (texts, message) in [
            (&["a.csv", "delimeter=;"][..], "there is no option 'delimeter'"),
            (&["a.csv", "threads=0"], "option 'threads=0': a number of threads is 1 to 1024"),
            (&["a.csv", "flatten=maybe"], "neither true nor false"),
            (&["a.csv", "limit"], "it needs a value"),
            (&["trim"], "no file is named"),
            (&["-"], "standard input"),
        ] {
            let failure = FileArguments::of(texts.iter().copied()).unwrap_err();
            assert!(failure.message.contains(message), "{}", failure.message);
        }
    }
}
