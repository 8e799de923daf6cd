//! Foreign keys that follow renumbered rowids.
//!
//! A value that is a rowid of the parent's rows in its shard gets their shift. Another value stays as it is, unless a row of
//! another shard has it now: then it would refer to that row, which is an error.

use crate::foreign_keys::{ForeignKeys, Place};
use crate::rowids::{RowidPolicy, TablePlan};
use litepress_rows::schema::Generated;
use litepress_rows::{Error, ErrorKind, OptionName, Result, Schema, message};
use std::sync::Arc;

/// A column that follows the rowids of a parent.
#[derive(Debug)]
pub(crate) struct Reference {
    /// Position in the table.
    pub column: usize,
    /// Position of the value in the records of shards.
    pub field: usize,
    /// The names of child, column and parent, for errors.
    pub names: [String; 3],
    shift: Arc<GroupShift>,
}

/// The shift of tables that are shifted together. All columns that follow one of them change in the same way: they may refer
/// to one another.
#[derive(Debug, Default, PartialEq, Eq)]
struct GroupShift {
    /// The rowids and their shift, by shard.
    by_shard: Vec<Option<ShiftedRange>>,
    /// All ranges after the shift, ascending.
    ranges: Vec<(i64, i64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ShiftedRange {
    rowids: (i64, i64),
    shift: i64,
}

impl GroupShift {
    /// Finds the shift of tables of one group.
    fn new(shards: usize, tables: &[&TablePlan]) -> Self {
        if tables.is_empty() {
            return Self::default();
        }
        let mut by_shard: Vec<Option<ShiftedRange>> = vec![None; shards];
        for table in tables.iter().flat_map(|plan| &plan.shards) {
            let range = by_shard[table.shard].get_or_insert(ShiftedRange { rowids: table.rowids, shift: table.shift });
            range.rowids = (range.rowids.0.min(table.rowids.0), range.rowids.1.max(table.rowids.1));
        }
        let shifted =
            |range: &ShiftedRange| (range.rowids.0.wrapping_add(range.shift), range.rowids.1.wrapping_add(range.shift));
        let mut ranges: Vec<(i64, i64)> = by_shard.iter().flatten().map(shifted).collect();
        ranges.sort_unstable();
        Self { by_shard, ranges }
    }

    /// Returns whether any rowid changes.
    fn is_shifted(&self) -> bool {
        self.by_shard.iter().flatten().any(|range| range.shift != 0)
    }
}

impl Reference {
    /// Returns whether any value changes. If not, values that refer to no row must not find one all the same.
    pub fn is_shifted(&self) -> bool {
        self.shift.is_shifted()
    }

    /// Returns the value that follows the parent's rows of `shard`.
    ///
    /// # Errors
    /// If it refers to no row of the shard, and would refer to one of another shard.
    pub fn follow(&self, shard: usize, value: i64) -> Result<i64> {
        let GroupShift { by_shard, ranges } = &*self.shift;
        if let Some(ShiftedRange { rowids: (least, most), shift }) = by_shard[shard]
            && (least..=most).contains(&value)
        {
            return Ok(value + shift);
        }
        let at = ranges.partition_point(|&(_, most)| most < value);
        match ranges.get(at) {
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

/// Returns the columns of each table that follow renumbered rowids.
///
/// # Errors
/// If a column would follow two tables with different shifts; if it is computed, or refers to a column that is.
pub(crate) fn of_tables(
    schema: &Schema,
    keys: &ForeignKeys,
    plans: &[TablePlan],
    shards: usize,
) -> Result<Vec<Vec<Reference>>> {
    let groups = plans.iter().map(|plan| plan.group + 1).max().unwrap_or_default();
    let mut members: Vec<Vec<&TablePlan>> = vec![Vec::new(); groups];
    for (table, plan) in schema.tables.iter().zip(plans) {
        // Columns follow an INTEGER PRIMARY KEY only.
        if table.rowid_alias.is_some() && plan.policy == RowidPolicy::Renumber {
            members[plan.group].push(plan);
        }
    }
    let shifts = members.iter().map(|tables| Arc::new(GroupShift::new(shards, tables))).collect();
    let finder = Finder { schema, keys, plans, shifts };
    // One database has no rows of another one.
    let of_table = |table| if shards > 1 { finder.of_table(table) } else { Ok(Vec::new()) };
    (0..schema.tables.len()).map(of_table).collect()
}

/// Finds the columns that follow renumbered rowids.
struct Finder<'f> {
    schema: &'f Schema,
    keys: &'f ForeignKeys,
    plans: &'f [TablePlan],
    /// The shift of each group of tables.
    shifts: Vec<Arc<GroupShift>>,
}

impl Finder<'_> {
    fn of_table(&self, at: usize) -> Result<Vec<Reference>> {
        let table = &self.schema.tables[at];
        let stored = table.stored_columns();
        let mut found = Vec::new();
        for column in 0..table.columns.len() {
            let place = (at, column);
            self.refuse_computed_parents(place)?;
            self.refuse_other_shifts(place)?;
            // The INTEGER PRIMARY KEY is shifted as a rowid.
            let parents = if self.is_alias(place) { Vec::new() } else { self.renumbered(place) };
            if let Some(&parent) = parents.first().filter(|_| table.columns[column].generated != Generated::No) {
                return Err(self.unfollowed(place, parent, "the column is computed"));
            }
            let mut known: Vec<&GroupShift> = Vec::new();
            for parent in parents {
                let shift = &self.shifts[self.plans[parent].group];
                if known.contains(&&**shift) {
                    continue;
                }
                known.push(shift);
                let field = stored.iter().position(|&stored| stored == column).expect("the column is not computed");
                let names = [&table.name, &table.columns[column].name, self.name(parent)].map(String::clone);
                found.push(Reference { column, field, names, shift: shift.clone() });
            }
        }
        Ok(found)
    }

    fn name(&self, table: usize) -> &String {
        &self.schema.tables[table].name
    }

    fn is_alias(&self, (table, column): Place) -> bool {
        self.schema.tables[table].rowid_alias == Some(column)
    }

    /// Returns the tables whose rowids the values of a column are, or follow.
    fn tables(&self, place: Place) -> Vec<usize> {
        let own = self.is_alias(place).then_some(place.0);
        own.into_iter().chain(self.keys.followed(place).iter().copied()).collect()
    }

    /// Returns those of these tables that are renumbered.
    fn renumbered(&self, place: Place) -> Vec<usize> {
        self.tables(place).into_iter().filter(|&table| self.plans[table].policy == RowidPolicy::Renumber).collect()
    }

    /// Returns the shift of the rowids of a table, if there is one.
    fn shift(&self, table: usize) -> Option<&GroupShift> {
        Some(&*self.shifts[self.plans[table].group]).filter(|shift| shift.is_shifted())
    }

    /// Refuses a column whose values would change otherwise than those of a column that it refers to.
    fn refuse_other_shifts(&self, place: Place) -> Result<()> {
        let tables = self.tables(place);
        let Some(&first) = tables.iter().find(|&&table| self.shift(table).is_some()) else { return Ok(()) };
        let shift = self.shift(first);
        let fixed = self.keys.parents(place).iter().filter(|&&parent| self.tables(parent).is_empty());
        let other = tables.iter().copied().find(|&table| self.shift(table) != shift);
        let Some(other) = other.or(fixed.map(|&(table, _)| table).next()) else { return Ok(()) };
        let table = &self.schema.tables[place.0];
        let (one, other) = (self.name(first), self.name(other));
        let message = format!(
            "its values follow the renumbered rowids of {one}, but it refers to {other}, too, whose values change otherwise or stay"
        );
        let error = Error::new(ErrorKind::Unsupported, message);
        Err(error
            .in_table(&table.name)
            .in_column(&table.columns[place.1].name)
            .advise(message!["keep rowids with ", OptionName::Rowids.pair(one, "keep")]))
    }

    /// Refuses a reference to a computed column, if values of its table change: it is not known whether it depends on them.
    fn refuse_computed_parents(&self, place: Place) -> Result<()> {
        for &(at, column) in self.keys.parents(place) {
            let parent = &self.schema.tables[at];
            if parent.columns[column].generated == Generated::No {
                continue;
            }
            let mut renumbered = (0..parent.columns.len()).flat_map(|column| self.renumbered((at, column)));
            let Some(renumbered) = renumbered.next() else { continue };
            let what = format!("it refers to the computed column {}.{}", parent.name, parent.columns[column].name);
            return Err(self.unfollowed(place, renumbered, &what));
        }
        Ok(())
    }

    /// Returns the error of a column that cannot follow a renumbered table.
    fn unfollowed(&self, (table, column): Place, parent: usize, why: &str) -> Error {
        let (table, parent) = (&self.schema.tables[table], self.name(parent));
        let message = format!("{why}, so its values cannot follow the renumbered rowids of {parent}");
        Error::new(ErrorKind::Unsupported, message)
            .in_table(&table.name)
            .in_column(&table.columns[column].name)
            .advise(message!["keep rowids with ", OptionName::Rowids.pair(parent, "keep")])
    }
}
