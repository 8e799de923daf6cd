//! The crates' messages, in which an option is what the program calls it, in the words of Python: `--on-conflict ignore` is
//! `on_conflict="ignore"`, `--type 'x=TEXT'` is `types={"x": "TEXT"}`, and `--table` alone is `table=`.

use pyo3::prelude::*;

/// What may stand behind an option.
#[derive(Clone, Copy)]
enum Takes {
    /// Nothing that belongs to it.
    Nothing,
    /// One of these words; any other belongs to the sentence.
    Choice(&'static [&'static str]),
    /// A word.
    Word,
    /// Names between commas.
    Names,
    /// `A=B`; without B, `None`.
    Pair,
    /// `A=N`, which is no text.
    Number,
}

/// Options and the keyword arguments that they are.
const KEYWORDS: [(&str, &str, Takes); 27] = [
    ("--as", "forms", Takes::Pair),
    ("--analyze", "analyze", Takes::Nothing),
    ("--columns", "columns", Takes::Nothing),
    ("--delimiter", "delimiter", Takes::Nothing),
    ("--encoding", "encoding", Takes::Word),
    ("--foreign-key", "foreign_keys", Takes::Pair),
    ("--format", "format", Takes::Choice(&["csv", "tsv", "ndjson", "json", "parquet", "arrow", "sqlite"])),
    ("--index", "indexes", Takes::Names),
    ("--invalid-utf8", "invalid_utf8", Takes::Choice(&["error", "replace", "blob"])),
    ("--map", "map", Takes::Pair),
    ("--max-rejects", "max_rejects", Takes::Nothing),
    ("--memory", "memory", Takes::Nothing),
    ("--not-null", "not_null", Takes::Names),
    ("--on-conflict", "on_conflict", Takes::Choice(&["abort", "ignore", "replace"])),
    ("--on-error", "on_error", Takes::Choice(&["abort", "reject", "null"])),
    ("--page-size", "page_size", Takes::Nothing),
    ("--primary-key", "primary_key", Takes::Names),
    ("--ragged", "ragged", Takes::Choice(&["error", "pad", "reject"])),
    ("--rejects", "rejects", Takes::Nothing),
    ("--rows", "rows", Takes::Number),
    ("--schema", "schema", Takes::Choice(&["FILE.sql"])),
    ("--set", "set", Takes::Pair),
    ("--strict", "strict", Takes::Nothing),
    ("--table", "table", Takes::Nothing),
    ("--temp-dir", "temp_dir", Takes::Nothing),
    ("--type", "types", Takes::Pair),
    ("--unique", "unique", Takes::Names),
];

/// Phrases that are not an option and its value.
const PHRASES: [(&str, &str); 7] = [
    ("<--set ", "<set "),
    ("--without-rowid", "without_rowid=True"),
    ("--replace", "if_exists=\"replace\""),
    ("--preset user", "\"user\""),
    ("; --list-presets shows them", ""),
    ("; names with spaces need quotes", ""),
    (", or measure with --discard; databases in memory are for programs that use the library", ""),
];

/// The message in the words of Python.
#[pyfunction]
pub fn in_python(message: &str) -> String {
    let mut rest = message.to_owned();
    for (phrase, python) in PHRASES {
        rest = rest.replace(phrase, python);
    }
    let mut out = String::new();
    let mut rest = rest.as_str();
    while let Some(at) = rest.find("--") {
        let (before, option) = rest.split_at(at);
        out += before;
        let end = option.find(|it: char| !it.is_ascii_alphanumeric() && it != '-').unwrap_or(option.len());
        let (name, behind) = option.split_at(end);
        let begins = before.is_empty() || before.ends_with([' ', '(', '\n']);
        match KEYWORDS.iter().find(|keyword| keyword.0 == name && begins) {
            Some((_, keyword, takes)) => {
                let (value, length) = value(behind, *takes);
                // "--type: 'X' is no type"
                let sign = if behind.starts_with(':') { "" } else { "=" };
                out += &format!("{keyword}{sign}{value}");
                rest = &behind[length..];
            }
            None => {
                out += name;
                rest = behind;
            }
        }
    }
    out + rest
}

/// What stands behind an option, in Python, and how long it is in the message.
fn value(behind: &str, takes: Takes) -> (String, usize) {
    let nothing = (String::new(), 0);
    let Some(text) = behind.strip_prefix(' ') else { return nothing };
    let (word, length) = match text.strip_prefix('\'').and_then(|quoted| Some((quoted, quoted.find('\'')?))) {
        Some((quoted, end)) => (&quoted[..end], end + 3),
        None => {
            let word = text.split_whitespace().next().unwrap_or_default().trim_end_matches([':', ',', ';', ')', '?']);
            (word, word.len() + 1)
        }
    };
    let python = match takes {
        Takes::Choice(choices) if choices.contains(&word) => Some(format!("\"{word}\"")),
        Takes::Word if !word.is_empty() => Some(format!("\"{word}\"")),
        // "--primary-key is given twice"
        Takes::Names if !word.is_empty() && word != "is" => Some(names(word)),
        Takes::Pair => word.rsplit_once('=').map(|(left, right)| match right {
            "" => format!("{{\"{left}\": None}}"),
            _ => format!("{{\"{left}\": \"{right}\"}}"),
        }),
        Takes::Number => word.rsplit_once('=').map(|(left, right)| format!("{{\"{left}\": {right}}}")),
        _ => None,
    };
    python.map_or(nothing, |python| (python, length))
}

fn names(word: &str) -> String {
    let names: Vec<String> = word.split(',').map(|name| format!("\"{name}\"")).collect();
    match &names[..] {
        [name] => name.clone(),
        names => format!("({})", names.join(", ")),
    }
}
