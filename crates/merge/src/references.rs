//! Foreign keys that follow shifted rowids.
//!
//! A value that is a rowid of the parent's rows in its shard gets their shift. Another value stays as it is, unless a row of
//! another shard has it now: then it would refer to that row, which is an error.

use crate::rowids::{TablePlan, references};
use litepress_rows::{Error, ErrorKind, OptionName, Result, Schema, message};

/// A column that follows the rowids of a parent.
#[derive(Debug)]
pub(crate) struct Reference {
    /// Position in the table.
    pub column: usize,
    /// Position of the value in the records of shards.
    pub field: usize,
    /// The names of child, column and parent, for errors.
    pub names: [String; 3],
    /// The parent's rowids and their shift, by shard.
    by_shard: Vec<Option<ShiftedRange>>,
    /// All ranges of the parent after the shift, ascending.
    ranges: Vec<(i64, i64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ShiftedRange {
    rowids: (i64, i64),
    shift: i64,
}

impl Reference {
    fn new(column: usize, field: usize, names: [String; 3], shards: usize, parent: &TablePlan) -> Self {
        let mut by_shard = vec![None; shards];
        for table in &parent.shards {
            by_shard[table.shard] = Some(ShiftedRange { rowids: table.rowids, shift: table.shift });
        }
        let mut ranges: Vec<(i64, i64)> = parent.shards.iter().map(|table| table.shifted()).collect();
        ranges.sort_unstable();
        Self { column, field, names, by_shard, ranges }
    }

    /// Returns the value that follows the parent's rows of `shard`.
    ///
    /// # Errors
    /// If it refers to no row of the shard, and would refer to one of another shard.
    pub fn follow(&self, shard: usize, value: i64) -> Result<i64> {
        if let Some(ShiftedRange { rowids: (least, most), shift }) = self.by_shard[shard]
            && (least..=most).contains(&value)
        {
            return Ok(value + shift);
        }
        let at = self.ranges.partition_point(|&(_, most)| most < value);
        match self.ranges.get(at) {
            Some(&(least, _)) if least <= value => Err(self.dangling(value)),
            _ => Ok(value),
        }
    }

    fn dangling(&self, value: i64) -> Error {
        let [table, column, parent] = &self.names;
        let message = format!(
            "it refers to no row of {parent} in its database, but would refer to one of another database once rowids of {parent} \
             are renumbered"
        );
        Error::new(ErrorKind::Constraint, message)
            .in_table(table)
            .in_column(column)
            .with_value(value.to_string())
            .advise(message![
                "find such rows with PRAGMA foreign_key_check and mend them, or keep rowids with ",
                OptionName::Rowids.pair(parent, "keep")
            ])
    }

    /// Returns the error of a value that is not an integer.
    pub fn not_an_integer(&self, value: &str) -> Error {
        let [table, column, parent] = &self.names;
        let message = format!("the value is not an integer, so it cannot follow the renumbered rowids of {parent}");
        Error::new(ErrorKind::Constraint, message)
            .in_table(table)
            .in_column(column)
            .with_value(value)
            .advise(message!["keep rowids with ", OptionName::Rowids.pair(parent, "keep")])
    }
}

/// Returns the columns of each table that follow shifted rowids.
///
/// # Errors
/// If a column would follow two tables with different shifts.
pub(crate) fn of_tables(schema: &Schema, plans: &[TablePlan], shards: usize) -> Result<Vec<Vec<Reference>>> {
    let of_table = |table: &litepress_rows::Table| {
        let stored = table.stored_columns();
        let mut found: Vec<Reference> = Vec::new();
        for (parent, column) in references(schema, table) {
            // The INTEGER PRIMARY KEY is shifted as a rowid.
            if !plans[parent].is_shifted() || table.rowid_alias == Some(column) {
                continue;
            }
            let Some(field) = stored.iter().position(|&stored| stored == column) else { continue };
            let names = [&table.name, &table.columns[column].name, &schema.tables[parent].name].map(String::clone);
            let reference = Reference::new(column, field, names, shards, &plans[parent]);
            match found.iter().find(|known| known.column == column) {
                Some(known) if known.by_shard == reference.by_shard => {}
                Some(known) => {
                    let [_, column, parent] = &reference.names;
                    let message = format!(
                        "it refers to {} and to {parent}, whose rowids are renumbered differently",
                        known.names[2]
                    );
                    let error = Error::new(ErrorKind::Unsupported, message).in_table(&table.name).in_column(column);
                    return Err(error
                        .advise(message!["keep the rowids of both with ", OptionName::Rowids.pair(parent, "keep")]));
                }
                None => found.push(reference),
            }
        }
        Ok(found)
    };
    schema.tables.iter().map(of_table).collect()
}
