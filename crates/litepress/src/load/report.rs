//! The report of a load.

use crate::loaded_file::LoadedFile;
use crate::plan_report::PlannedColumn;
use crate::report::BuildReport;
use litepress_load::infer::InferredColumn;
use litepress_rows::{Message, Words};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The report of a database that was loaded.
#[derive(Debug)]
#[non_exhaustive]
pub struct LoadReport {
    /// The report of the database.
    pub build: BuildReport,
    /// Tables whose types were inferred, and their columns.
    pub inferred: Vec<(String, Vec<InferredColumn>)>,
    /// Objects of databases that are not copied: `view v of shop.db`.
    pub left_out: Vec<String>,
    /// Copied tables whose rowids are numbered from 1, since no column holds them: `log of shop.db`.
    pub renumbered: Vec<String>,
    /// The files, in the order of tables.
    pub files: Vec<LoadedFile>,
    /// Files that were left out because they are empty.
    pub empty_files: Vec<PathBuf>,
    /// Number of rejected records.
    pub rejected: u64,
    /// Number of records without any value that were left out.
    pub skipped: u64,
    /// Number of records with more fields than columns, of which the first ones are stored.
    pub cut_records: u64,
    /// Number of records with quotes in the wrong place that are stored as text.
    pub stray_quotes: u64,
    /// Places of records that repeat the header of their file: `all.csv:85`.
    pub repeated_headers: Vec<String>,
    /// Those among them that ended their table: nothing below was loaded.
    pub ended_by: Vec<String>,
    /// Number of values that their columns did not take and that are NULL instead.
    pub nulls: u64,
    /// Number of texts in numeric columns that were cut at a NUL character, as SQLite does.
    pub cut_texts: u64,
    /// Number of rows that the policy for conflicts left out or replaced, and that are not in `rejected`.
    pub ignored: u64,
    /// Losses of replaced tables: `index i of t`, `NOT NULL (a) of t`.
    pub dropped: Vec<String>,
    /// The databases that the rows were divided between, if they were.
    pub split: Option<SplitReport>,
    /// Notes: foreign keys that were not checked, texts that a declared type changed.
    pub notes: Vec<Message>,
}

/// The report of rows that were divided by the values of a column.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SplitReport {
    /// The column.
    pub column: String,
    /// Number of databases: one a value.
    pub databases: u64,
    /// Name of the file with the most rows, and their number.
    pub largest: Option<(String, u64)>,
}

impl LoadReport {
    /// Returns the report for programs.
    pub fn to_json(&self, words: &dyn Words) -> Value {
        let mut json = self.build.to_json();
        json["left_out"] = json!(self.left_out);
        json["renumbered"] = json!(self.renumbered);
        json["files"] = self.files.iter().map(LoadedFile::to_json).collect();
        json["empty_files"] = self.empty_files.iter().map(|file| file.display().to_string()).collect();
        json["rejected"] = json!(self.rejected);
        json["skipped"] = json!(self.skipped);
        json["cut_records"] = json!(self.cut_records);
        json["stray_quotes"] = json!(self.stray_quotes);
        json["repeated_headers"] = json!(self.repeated_headers);
        json["ended_by"] = json!(self.ended_by);
        json["nulls"] = json!(self.nulls);
        json["cut_texts"] = json!(self.cut_texts);
        json["ignored"] = json!(self.ignored);
        if let Some(dropped) = json["dropped"].as_array_mut() {
            dropped.extend(self.dropped.iter().map(|object| json!(object)));
        }
        if let Some(split) = &self.split {
            let (file, rows) = split.largest.as_ref().map(|(file, rows)| (file, rows)).unzip();
            json["split"] =
                json!({"column": split.column, "databases": split.databases, "largest": file, "largest_rows": rows});
        }
        json["notes"] = self.notes.iter().map(|note| note.in_words(words)).collect();
        let mut columns = Vec::new();
        for (table, decisions) in &self.inferred {
            for decision in decisions {
                let mut column = PlannedColumn::from(decision).to_json(words);
                column["table"] = json!(table);
                columns.push(column);
            }
        }
        json["columns"] = Value::Array(columns);
        json
    }
}
