//! What types the columns of a text file can have, from all of its values.

use std::collections::HashMap;

/// What is known of the columns of a file, or of a part of it.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Records looked at.
    pub records: u64,
    columns: Vec<Finding>,
    /// Positions by name, for files whose records name their columns.
    positions: HashMap<String, usize>,
}

/// What is known of the values of one column.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Name in the file.
    pub name: String,
}

/// A value as a survey sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seen<'a> {
    /// NULL: JSON null, or a field that `--null` says is one.
    Null,
    /// Text, empty ones too; numbers of a CSV file are text.
    Text(&'a [u8]),
    /// A JSON number as it is written.
    Number(&'a [u8]),
    /// JSON true or false.
    Boolean(bool),
    /// A JSON array or object as it is written.
    Nested(&'a [u8]),
}

impl Findings {
    /// Adds a value of the column at this position, in the record of this number. Columns are made as they come.
    pub fn see(&mut self, column: usize, value: Seen<'_>, record: u64) {
        let _ = (column, value, record, &self.columns);
    }

    /// The position of the column of this name, which is new at the end where there is none yet.
    pub fn column(&mut self, name: &str) -> usize {
        let _ = &self.positions;
        name.len()
    }
}
