//! What is said of a file that was loaded: its format, and the dialect that it was read in.

use litepress_load::options::Format;
use litepress_load::plan::PlannedFile;
use litepress_load::reader::TextFormat;
use serde_json::{Value, json};

/// A file that was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadedFile {
    /// Its name.
    pub name: String,
    /// The table that its records went to.
    pub table: String,
    /// `csv`, `json`, `parquet`, `arrow`, `sqlite` or `spreadsheet`.
    pub format: &'static str,
    /// The dialect, if it is CSV.
    pub text: Option<TextFormat>,
}

impl LoadedFile {
    /// Describes a file of a table. `None` for data in memory.
    pub(crate) fn new(file: &PlannedFile, table: &str) -> Option<Self> {
        let input = file.input()?;
        let format = match input.format {
            Format::Csv => "csv",
            Format::Json => "json",
            Format::Parquet => "parquet",
            Format::Arrow => "arrow",
            Format::FlatGeobuf => "flatgeobuf",
            Format::Sqlite => "sqlite",
            Format::Spreadsheet => "spreadsheet",
        };
        let mut text = file.text_format().cloned();
        if let Some(text) = &mut text {
            text.encoding = input.encoding;
        }
        Some(Self { name: input.name.display().to_string(), table: table.to_owned(), format, text })
    }

    /// Returns the description for programs.
    pub fn to_json(&self) -> Value {
        let mut json = json!({ "file": self.name, "table": self.table, "format": self.format });
        if let Some(text) = &self.text {
            json["delimiter"] = json!(text.delimiter);
            json["quote"] = json!(text.quote);
            json["escape"] = json!(text.escape);
            json["line_end"] = json!(text.line_end);
            json["header"] = json!(text.header_line);
            json["encoding"] = json!(text.encoding);
            json["notes"] = json!(text.notes);
        }
        json
    }

    /// Returns whether the file is CSV, but not with commas, double quotes, a header in its first line, and UTF-8; or whether there
    /// is more to tell.
    pub fn is_unusual(&self) -> bool {
        self.text.as_ref().is_some_and(|text| {
            let is_usual = text.delimiter == "," && matches!(text.quote, Some('"')) && text.escape.is_none();
            !is_usual
                || text.line_end == "CR"
                || text.header_line != Some(1)
                || text.encoding != "UTF-8"
                || !text.notes.is_empty()
        })
    }

    /// Returns the description for people, in one line: `tab-separated, quote ", header in line 1, UTF-8`. `None` if the format says
    /// it all.
    pub fn to_text(&self) -> Option<String> {
        let text = self.text.as_ref()?;
        let delimiter = match text.delimiter.as_str() {
            "," => "comma-separated".to_owned(),
            "\t" => "tab-separated".to_owned(),
            ";" => "semicolon-separated".to_owned(),
            "|" => "bar-separated".to_owned(),
            " " => "space-separated".to_owned(),
            other => format!("separated by '{}'", other.escape_debug()),
        };
        let quote = text.quote.map_or("no quote".to_owned(), |quote| format!("quote {quote}"));
        let escape = text.escape.map(|escape| format!("escape {escape}"));
        let header = text.header_line.map_or("no header".to_owned(), |line| format!("header in line {line}"));
        let line_end = (text.line_end == "CR").then(|| "lines end with CR".to_owned());
        let encoding = (!text.encoding.is_empty()).then(|| text.encoding.to_owned());
        let parts = [Some(delimiter), Some(quote), escape, Some(header), line_end, encoding];
        let parts: Vec<String> = parts.into_iter().flatten().chain(text.notes.iter().cloned()).collect();
        Some(format!("{}: {}", self.name, parts.join(", ")))
    }
}
