//! Chooses the route of a table's rows.

use super::sources::TableSize;
use super::update::{RowPolicy, claimed_indexes};
use super::{AppendOptions, Route};
use crate::index::IndexPlan;
use crate::options::{Options, Verify};
use crate::spool::Spool;
use crate::{Conflict, Result, plan};
use litepress_format::header::TextEncoding;
use litepress_rows::schema::Generated;
use litepress_rows::{NullPolicy, Schema, Source, Table};

/// Fewer rows are inserted by SQLite: opening a snapshot and changing roots would take longer.
pub(super) const LEAST_ROWS: u64 = 20_000;

/// An index is built anew if there is at least one new entry for this many old ones, and a table likewise. Both also are if there
/// are this many new rows for each page of the table: SQLite would change most of the pages, one after another.
const MOST_OLD_ENTRIES: u64 = 30;
const MOST_OLD_ROWS: u64 = 10;
const LEAST_PER_PAGE: u64 = 2;

/// The reason for tables that are large beside their new rows.
const FEW_ROWS: &str = "there are few rows beside those of the table";

/// Figures of new rows, which decide about their route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowFigures {
    /// Number of rows.
    pub rows: u64,
    /// Whether no row has a value for the INTEGER PRIMARY KEY.
    pub are_automatic: bool,
    /// The smallest and the largest rowid, if all rows have one.
    pub range: Option<(i64, i64)>,
    /// The columns of the table that the rows lack.
    pub missing: Vec<usize>,
}

impl RowFigures {
    pub(super) fn of(rows: &Spool) -> Self {
        Self {
            rows: rows.rows().unwrap_or(0),
            are_automatic: rows.has_automatic_rowids(),
            range: rows.rowid_range().map(std::ops::RangeInclusive::into_inner),
            missing: rows.missing_columns(),
        }
    }
}

/// Returns why SQLite must insert the rows, as far as the schema and the rows tell.
pub(super) fn why_sql(
    schema: &Schema,
    options: &Options,
    append: &AppendOptions,
    tables: &[(usize, RowFigures)],
) -> Option<String> {
    let of_table = |(table, rows): &(usize, RowFigures)| why_not(schema, &schema.tables[*table], rows, options);
    if let Some(why) = tables.iter().find_map(of_table) {
        return Some(why);
    }
    let rows: u64 = tables.iter().map(|(_, figures)| figures.rows).sum();
    let general = [
        (append.route == Some(Route::Sql), "it was asked for"),
        (rows < LEAST_ROWS && append.route.is_none(), "there are few rows"),
        (append.enforce_foreign_keys, "foreign keys are enforced"),
        (append.truncate && tables.iter().any(|(_, figures)| figures.rows == 0), "a table gets no rows"),
        (options.verify != Verify::None, "the tables are checked"),
        (options.analyze, "the tables are analyzed"),
    ];
    general.into_iter().find(|(is_so, _)| *is_so).map(|(_, why)| why.to_owned())
}

/// Returns why SQLite must insert the rows of a table.
fn why_not(schema: &Schema, table: &Table, rows: &RowFigures, options: &Options) -> Option<String> {
    let updates = options.on_conflict == Conflict::Update;
    let lacks_some = table.rowid_alias.is_some() && rows.range.is_none() && !rows.are_automatic;
    let reasons = [
        (updates && rows.are_automatic, "it has no key to update rows by"),
        (lacks_some && rows.rows > 0, "only some rows have rowids"),
    ];
    let of_rows = || reasons.into_iter().find(|(is_so, _)| *is_so).map(|(_, why)| why.to_owned());
    let of_update = || RowPolicy::of(table, options, &rows.missing).err();
    why_not_table(schema, table, options).or_else(of_rows).or_else(of_update)
}

/// Returns why SQLite must insert the rows of a table, whatever the rows are.
pub(super) fn why_not_table(schema: &Schema, table: &Table, options: &Options) -> Option<String> {
    let conflict = options.on_conflict;
    let updates = conflict == Conflict::Update;
    let has_computed = table.columns.iter().any(|column| column.generated != Generated::No);
    let asks = table.columns_where_null(NullPolicy::AskSqlite, conflict).next().is_some();
    let reasons = [
        (table.is_virtual, "it is a virtual table"),
        (schema.has_trigger(&table.name), "it has triggers"),
        (plan::checks_by_sqlite(table), "the texts of its CHECK constraints cannot be told"),
        (table.has_conflict_clause, "it has an ON CONFLICT clause"),
        (has_computed && table.evaluation.is_none(), "its computed columns cannot be evaluated"),
        (asks, "its DEFAULT stands in for NULL"),
        (updates && table.rowid_alias.is_none() && !table.without_rowid, "it has no key to update rows by"),
    ];
    if let Some((_, why)) = reasons.into_iter().find(|(is_so, _)| *is_so) {
        return Some(why.to_owned());
    }
    let not_ours = || plan::own_indexes(table).find_map(|index| IndexPlan::evaluated(table, index).err());
    let of_index = || not_ours().map(|why| format!("of an index, {why}"));
    let of_key = || claimed_indexes(table, conflict).err();
    plan::not_computable_reason(table, conflict).or_else(of_index).or_else(of_key)
}

/// Returns why SQLite must insert the rows of a table in a database of this encoding.
pub(super) fn why_not_in(table: &Table, encoding: TextEncoding) -> Option<String> {
    let is_evaluated = plan::checks_rows(table)
        || table.columns.iter().any(|column| column.generated != Generated::No)
        || plan::indexes(table).iter().any(|plan| plan.evaluated_index().is_some());
    let is_other = encoding != TextEncoding::Utf8;
    if is_other && table.without_rowid {
        return Some("it is WITHOUT ROWID, and its keys are not in UTF-8".to_owned());
    }
    (is_evaluated && is_other).then(|| "SQLite evaluates its rows, which litepress has it do in UTF-8 only".to_owned())
}

/// The last rowid of a table (`None` if it is empty, or its rows are deleted), and the number that AUTOINCREMENT counts on from.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TableEdge {
    pub largest_rowid: Option<i64>,
    pub sequence: Option<i64>,
}

impl TableEdge {
    /// Returns the largest rowid that SQLite does not choose any more. `None` if it would choose rowids otherwise than by counting.
    pub fn shift(self) -> Option<i64> {
        Some(self.largest_rowid.max(self.sequence).unwrap_or(0)).filter(|shift| *shift >= 0)
    }
}

/// A route by pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub route: Route,
    /// Added to the rowids of rows that have none of their own.
    pub shift: i64,
    pub is_numbered: bool,
    /// The largest rowid of an AUTOINCREMENT table.
    pub sequence: Option<i64>,
}

/// Chooses the route of rows that can become pages. `Err` says why SQLite must insert them. `size` estimates the table.
pub(super) fn choose(
    table: &Table,
    new: &RowFigures,
    edge: TableEdge,
    append: &AppendOptions,
    size: impl FnOnce() -> Result<TableSize>,
) -> Result<Result<Choice, String>> {
    let is_worth = |most_old: u64| {
        let old = size()?;
        Ok::<bool, crate::Error>(
            new.rows.saturating_mul(most_old) >= old.rows || new.rows >= LEAST_PER_PAGE * old.pages,
        )
    };
    if table.without_rowid {
        let is_asked = append.route.is_some() || append.truncate;
        let is_worth = is_asked || is_worth(MOST_OLD_ROWS)?;
        let choice = Choice { route: Route::Rebuild, shift: 0, is_numbered: false, sequence: None };
        return Ok(if is_worth { Ok(choice) } else { Err(FEW_ROWS.to_owned()) });
    }
    let is_numbered = table.rowid_alias.is_none() || new.are_automatic;
    let counted = || {
        let shift = edge.shift()?;
        Some((shift, shift.checked_add_unsigned(new.rows)?))
    };
    let (shift, smallest, largest) = match (is_numbered, counted()) {
        (true, None) => return Ok(Err("SQLite chooses the rowids".to_owned())),
        (true, Some((shift, largest))) => (shift, Some(shift + 1), Some(largest)),
        (false, _) => (0, new.range.map(|range| range.0), new.range.map(|range| range.1)),
    };
    let is_behind = smallest > edge.largest_rowid;
    let route = if is_behind && append.route != Some(Route::Rebuild) { Route::Edge } else { Route::Rebuild };
    let route = if append.truncate { Route::Rebuild } else { route };
    if append.route.is_none() && !append.truncate {
        let has_indexes = plan::own_indexes(table).next().is_some();
        let is_worth = match route {
            Route::Edge if !has_indexes => true,
            Route::Edge => is_worth(MOST_OLD_ENTRIES)?,
            _ => is_worth(MOST_OLD_ROWS)?,
        };
        if !is_worth {
            return Ok(Err(FEW_ROWS.to_owned()));
        }
    }
    let sequence = largest.filter(|_| table.autoincrement);
    Ok(Ok(Choice { route, shift, is_numbered, sequence }))
}
