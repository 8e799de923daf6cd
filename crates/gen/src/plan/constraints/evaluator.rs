//! Evaluates CHECK constraints in SQLite, on sampled rows.

use super::super::compile::{self, ColumnDrafts};
use super::super::{ColumnDraft, Provenance};
use crate::annotation::{ExpressionKind, SourceText, parse};
use crate::program::Scratch;
use crate::tables::statement_of;
use litepress_rows::Result;
use litepress_rows::cells::OwnedValue;
use litepress_rows::schema::{Schema, checks};
use litepress_rows::sql_tokens::names;
use litepress_rows::sqlite_value::parameter;
use rusqlite::Connection;

/// Sampled rows at each place, and number of places.
const ROWS: u64 = 64;
const PLACES: u64 = 5;

/// A table in memory without constraints, and the constraints to evaluate on its rows.
pub(super) struct CheckEvaluator {
    sqlite: Connection,
    table: String,
    pub checks: Vec<Check>,
}

/// A CHECK constraint.
pub(super) struct Check {
    /// Name of the constraint, if it has one.
    pub name: Option<String>,
    /// Its expression.
    pub text: String,
    /// The columns that it names, by position.
    pub columns: Vec<usize>,
}

/// The result of an evaluation.
pub(super) struct CheckReport {
    /// Number of sampled rows.
    pub rows: u64,
    /// For each constraint, the number of rows that fail and the text of one of them.
    failures: Vec<(u64, String)>,
}

impl CheckReport {
    pub(super) fn is_met(&self) -> bool {
        self.failing().next().is_none()
    }

    pub(super) fn meets(&self, check: usize) -> bool {
        self.failures[check].0 == 0
    }

    /// Returns the constraints that fail.
    pub(super) fn failing(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.failures.len()).filter(|&check| self.failures[check].0 > 0)
    }

    pub(super) fn count(&self) -> usize {
        self.failing().count()
    }

    pub(super) fn failure(&self, check: usize) -> (u64, &str) {
        (self.failures[check].0, &self.failures[check].1)
    }
}

impl CheckEvaluator {
    /// Creates the table. Returns `None` if SQLite cannot create it without the rest of the schema.
    pub(super) fn new(schema: &Schema, table: usize) -> Option<Self> {
        let of_table = &schema.tables[table];
        let statement = statement_of(schema, of_table)?;
        let sqlite = Connection::open_in_memory().ok()?;
        sqlite.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON;").ok()?;
        sqlite.execute_batch(statement).ok()?;
        let columns_of = |text: &str| {
            let words = names(text);
            let is_named =
                |&column: &usize| words.iter().any(|word| word.eq_ignore_ascii_case(&of_table.columns[column].name));
            (0..of_table.columns.len()).filter(is_named).collect()
        };
        let checks = checks(statement)
            .into_iter()
            .map(|check| Check { columns: columns_of(&check.expression), name: check.name, text: check.expression })
            .collect();
        Some(Self { sqlite, table: litepress_rows::quoted_name(&of_table.name), checks })
    }

    /// Evaluates the constraints on rows of the current drafts.
    ///
    /// # Errors
    /// The errors of compiling the table.
    pub(super) fn evaluate(&self, drafts: ColumnDrafts<'_, '_>, table: usize) -> Result<CheckReport> {
        let rows = sample(drafts, table)?;
        let failures = self.failures(drafts, table, &rows);
        // If SQLite cannot evaluate a constraint here, the build will report violations.
        Ok(failures.unwrap_or_else(|_| CheckReport { rows: 0, failures: vec![(0, String::new()); self.checks.len()] }))
    }

    fn failures(
        &self,
        drafts: ColumnDrafts<'_, '_>,
        table: usize,
        rows: &[Vec<OwnedValue>],
    ) -> rusqlite::Result<CheckReport> {
        let of_table = &drafts.schema.tables[table];
        let names: Vec<String> = of_table
            .ordinary_columns()
            .map(|column| litepress_rows::quoted_name(&of_table.columns[column].name))
            .collect();
        self.sqlite.execute_batch(&format!("SAVEPOINT evaluation; DELETE FROM {}", self.table))?;
        let marks = vec!["?"; names.len()].join(", ");
        let insert = format!("INSERT OR IGNORE INTO {} ({}) VALUES ({marks})", self.table, names.join(", "));
        let mut insert = self.sqlite.prepare_cached(&insert)?;
        for row in rows {
            // Other checks report values that the column rejects.
            let _ = insert.execute(rusqlite::params_from_iter(row.iter().map(|value| parameter(value.as_value()))));
        }
        let failures =
            self.checks.iter().map(|check| self.failure(check, drafts, table)).collect::<rusqlite::Result<_>>();
        let count =
            self.sqlite.query_row(&format!("SELECT count(*) FROM {}", self.table), [], |row| row.get::<_, i64>(0));
        let ends = self.failing_ends(drafts, table);
        self.sqlite.execute_batch("ROLLBACK TO evaluation; RELEASE evaluation")?;
        let mut failures: Vec<(u64, String)> = failures?;
        for (check, example) in ends? {
            if failures[check].0 == 0 {
                failures[check] = (1, example);
            }
        }
        Ok(CheckReport { rows: count?.unsigned_abs(), failures })
    }

    /// Returns the constraints of one column that fail for the least or largest value that it can draw, which may be
    /// too rare for the sample.
    fn failing_ends(&self, drafts: ColumnDrafts<'_, '_>, table: usize) -> rusqlite::Result<Vec<(usize, String)>> {
        let of_table = &drafts.schema.tables[table];
        let mut failing = Vec::new();
        for (at, check) in self.checks.iter().enumerate() {
            let [column] = check.columns[..] else { continue };
            let Some(draft) = &drafts.columns[table][column] else { continue };
            let name = &of_table.columns[column].name;
            let quoted = litepress_rows::quoted_name(name);
            let query = format!("SELECT NOT ({}) FROM (SELECT ?1 AS {quoted})", check.text);
            for end in ends(draft) {
                let fails: Option<bool> =
                    self.sqlite.query_row(&query, [parameter(end.as_value())], |row| row.get(0))?;
                if fails == Some(true) {
                    failing.push((at, format!("{name} = {}", litepress_rows::quote(&end.as_value()))));
                }
            }
        }
        Ok(failing)
    }

    /// Counts the rows that fail a constraint, with the text of one of them.
    fn failure(&self, check: &Check, drafts: ColumnDrafts<'_, '_>, table: usize) -> rusqlite::Result<(u64, String)> {
        let of_table = &drafts.schema.tables[table];
        let words = check.columns.iter().map(|&column| {
            let name = &of_table.columns[column].name;
            let quoted = litepress_rows::quoted_name(name);
            format!("'{} = ' || quote({quoted})", name.replace('\'', "''"))
        });
        let words: Vec<String> = words.collect();
        let words = if words.is_empty() { "''".to_owned() } else { words.join(" || ', ' || ") };
        let query = format!("SELECT count(*), max({words}) FROM {} WHERE NOT ({})", self.table, check.text);
        self.sqlite.query_row(&query, [], |row| {
            Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get::<_, Option<String>>(1)?.unwrap_or_default()))
        })
    }
}

/// Generates rows from all over the table.
fn sample(drafts: ColumnDrafts<'_, '_>, table: usize) -> Result<Vec<Vec<OwnedValue>>> {
    let program = compile::compile(drafts, table)?.program;
    let mut scratch = Scratch::new(&program);
    let count = drafts.sizes[table].rows;
    let mut rows: Vec<Vec<OwnedValue>> = Vec::new();
    let mut end_of_last = 0;
    for place in 0..PLACES {
        let start = (count.saturating_sub(ROWS) / (PLACES - 1)).saturating_mul(place).max(end_of_last);
        let block = start.min(count)..count.min(start + ROWS);
        end_of_last = block.end;
        program.run(&block.clone().into(), &mut scratch);
        let values =
            |row: usize| scratch.columns().iter().map(|cells| crate::expression::owned(cells.value(row))).collect();
        rows.extend((0..usize::try_from(block.end - block.start).expect("a few")).map(values));
    }
    Ok(rows)
}

fn decimals_of(value: &OwnedValue) -> i64 {
    match value {
        OwnedValue::Int(int) => *int,
        _ => 0,
    }
}

/// Returns the least and the largest number of an inferred `int` or `real`.
fn ends(draft: &ColumnDraft<'_>) -> Vec<OwnedValue> {
    let source = SourceText::new(&draft.expression, "<inferred>");
    let Ok(expression) = parse(&source, 0..draft.expression.len()) else { return Vec::new() };
    let ExpressionKind::Call(call) = &expression.kind else { return Vec::new() };
    let numbers: Vec<OwnedValue> = call
        .arguments
        .iter()
        .filter_map(|argument| match &argument.value.kind {
            ExpressionKind::Literal(number @ (OwnedValue::Int(_) | OwnedValue::Real(_))) => Some(number.clone()),
            _ => None,
        })
        .collect();
    let real = |value: &OwnedValue| match value {
        OwnedValue::Int(int) => *int as f64,
        OwnedValue::Real(real) => *real,
        _ => 0.0,
    };
    match (&draft.provenance, call.name.as_str(), &numbers[..]) {
        (Provenance::Inferred(_), "int", [low, high, ..]) => vec![low.clone(), high.clone()],
        (Provenance::Inferred(_), "real", [low, high, decimals]) => {
            let step = (0..decimals_of(decimals)).fold(1.0, |step, _| step / 10.0);
            vec![low.clone(), OwnedValue::Real(real(high) - step)]
        }
        _ => Vec::new(),
    }
}
