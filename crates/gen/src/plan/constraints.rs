//! CHECK constraints: sampled rows are tested against them, and inferred columns change until they pass.
//!
//! ```text
//! statement --schema_annotations/checks--> expressions --evaluator--> SQLite: do sampled rows meet them?
//! no: expression --bounds--> values, ranges, other columns --guesses--> annotations, tried one after another
//! ```
//!
//! SQLite alone evaluates a constraint, on generated rows. Our parser only suggests annotations for inferred columns,
//! and a wrong suggestion fails the test like any other.

mod bounds;
mod evaluator;
mod guesses;

use super::compile::ColumnDrafts;
use super::table_sizes::TableSize;
use super::{Planner, Provenance};
use crate::infer::{self, Inference};
use crate::tables::{generated_tables, statement_of};
use evaluator::{CheckEvaluator, CheckReport};
use litepress_rows::schema::{Schema, Table, checks};
use litepress_rows::{Error, ErrorKind, OptionName, Result, counted, message};

/// Returns the unique column for which a CHECK allows the fewest whole numbers, and how many: a table cannot have more rows.
pub(super) fn most_rows(schema: &Schema, table: usize) -> Option<(usize, u64)> {
    let of_table = &schema.tables[table];
    let checks = checks(statement_of(schema, of_table).filter(|_| of_table.has_check)?);
    let values = |column: usize| {
        let mut bounds = bounds::CheckBounds::default();
        checks.iter().for_each(|check| bounds.read(&check.expression, &of_table.columns[column].name));
        Some((column, bounds.whole_numbers()?))
    };
    let keys = (0..of_table.columns.len()).filter(|&column| infer::is_key_of_all(of_table, column));
    keys.filter_map(values).min_by_key(|(_, values)| *values)
}

impl Planner<'_> {
    /// Replaces the annotations of inferred columns until all CHECK constraints hold.
    ///
    /// # Errors
    /// [`ErrorKind::Generator`] for a constraint that sampled rows violate.
    pub(super) fn meet_checks(&mut self) -> Result<()> {
        for (table, of_table) in generated_tables(self.schema) {
            let TableSize { rows, tpch, .. } = self.sizes[table];
            let is_checked =
                of_table.has_check && rows > 0 && tpch.is_none() && !of_table.can_drop_rows(self.on_conflict);
            let Some(evaluator) = CheckEvaluator::new(self.schema, table).filter(|_| is_checked) else { continue };
            self.keep_apart(&evaluator, table)?;
            let mut report = evaluator.evaluate(self.drafts(), table)?;
            let mut is_simplified = false;
            while !report.is_met() {
                match self.replace_one(&evaluator, table, &report) {
                    Some(better) => report = better,
                    None if !is_simplified => {
                        is_simplified = true;
                        self.simplify(&evaluator, table, &report)?;
                        report = evaluator.evaluate(self.drafts(), table)?;
                    }
                    None => return Err(self.violation(&evaluator, table, &report)),
                }
            }
        }
        Ok(())
    }

    /// Leaves tables of pairs empty whose two different rows would have to be of a table with one row, if their number of rows is
    /// that of all tables.
    pub(super) fn empty_tables_of_pairs(&mut self) {
        for (table, of_table) in generated_tables(self.schema) {
            let TableSize { rows, is_scaled, .. } = self.sizes[table];
            let refers_to_only = |column: usize| {
                self.single_parent(table, column).is_some_and(|parent| self.sizes[parent.table].rows == 1)
            };
            let is_referred =
                |of: &Table| of.foreign_keys.iter().any(|key| self.schema.position(&key.parent) == Some(table));
            let has_pair = (0..of_table.columns.len()).filter(|&column| refers_to_only(column)).count() > 1;
            let may_be =
                of_table.has_check && has_pair && rows > 0 && is_scaled && !self.schema.tables.iter().any(is_referred);
            if !may_be {
                continue;
            }
            let Some(evaluator) = CheckEvaluator::new(self.schema, table) else { continue };
            let must_differ = evaluator.checks.iter().any(|check| {
                check.columns.iter().filter(|&&column| refers_to_only(column)).any(|&column| {
                    let mut bounds = bounds::CheckBounds::default();
                    bounds.read(&check.text, &of_table.columns[column].name);
                    bounds.unequal().any(|other| of_table.column(other).is_some_and(refers_to_only))
                })
            });
            if must_differ {
                self.sizes[table].rows = 0;
            }
        }
    }

    /// Infers the columns of failing constraints by their types alone, so that none of them depends on another.
    fn simplify(&mut self, evaluator: &CheckEvaluator, table: usize, report: &CheckReport) -> Result<()> {
        for check in report.failing() {
            for column in self.changeable(evaluator, table, check) {
                if self.drafts().reference((table, column)).is_none() {
                    self.assign(table, column, infer::by_type(&self.schema.tables[table], column))?;
                }
            }
        }
        Ok(())
    }

    /// Makes columns differ that a constraint wants to differ: in a sample they may be equal too rarely to be seen.
    fn keep_apart(&mut self, evaluator: &CheckEvaluator, table: usize) -> Result<()> {
        for check in 0..evaluator.checks.len() {
            for column in self.changeable(evaluator, table, check) {
                let mut bounds = bounds::CheckBounds::default();
                bounds.read(&evaluator.checks[check].text, &self.schema.tables[table].columns[column].name);
                let is_reference = self.drafts().reference((table, column)).is_some();
                if !is_reference || bounds.unequal().next().is_none() {
                    continue;
                }
                let because = format!("CHECK ({})", shortened(&evaluator.checks[check].text));
                for text in self.guesses(evaluator, table, column) {
                    let before = self.columns[table][column].take();
                    let inferred = Inference { text, because: because.clone() };
                    let evaluated =
                        self.assign(table, column, inferred).and_then(|()| evaluator.evaluate(self.drafts(), table));
                    match evaluated {
                        Ok(report) if report.meets(check) => break,
                        _ => self.columns[table][column] = before,
                    }
                }
                break;
            }
        }
        Ok(())
    }

    /// Replaces the annotation of one inferred column so that fewer constraints fail.
    fn replace_one(&mut self, evaluator: &CheckEvaluator, table: usize, report: &CheckReport) -> Option<CheckReport> {
        for check in report.failing() {
            let because = format!("CHECK ({})", shortened(&evaluator.checks[check].text));
            for column in self.changeable(evaluator, table, check) {
                for text in self.guesses(evaluator, table, column) {
                    let before = self.columns[table][column].take();
                    let inferred = Inference { text, because: because.clone() };
                    let evaluated =
                        self.assign(table, column, inferred).and_then(|()| evaluator.evaluate(self.drafts(), table));
                    match evaluated {
                        Ok(better) if better.meets(check) && better.count() < report.count() => return Some(better),
                        _ => self.columns[table][column] = before,
                    }
                }
            }
        }
        None
    }

    /// Returns the inferred columns that a constraint names, last ones first, because these may depend on the others.
    fn changeable(&self, evaluator: &CheckEvaluator, table: usize, check: usize) -> Vec<usize> {
        let is_inferred = |&&column: &&usize| {
            let draft = self.columns[table][column].as_ref();
            draft.is_some_and(|draft| matches!(draft.provenance, Provenance::Inferred(_)))
        };
        evaluator.checks[check].columns.iter().rev().filter(is_inferred).copied().collect()
    }

    fn guesses(&self, evaluator: &CheckEvaluator, table: usize, column: usize) -> Vec<String> {
        let of_table = &self.schema.tables[table];
        let name = &of_table.columns[column].name;
        let mut bounds = bounds::CheckBounds::default();
        for check in evaluator.checks.iter().filter(|check| check.columns.contains(&column)) {
            bounds.read(&check.text, name);
        }
        let now = self.columns[table][column].as_ref().map_or(String::new(), |draft| draft.expression.clone());
        if let Some(reference) = self.drafts().reference((table, column)) {
            let parent = &self.schema.tables[reference.parent];
            let key = infer::quoted_column(parent, reference.key);
            let others = bounds.unequal();
            let growing = infer::growing(now.contains("growing=TRUE"));
            return others.map(|other| format!("ref({key}, other_than({other}{growing}))")).collect();
        }
        let context = guesses::GuessContext {
            traits: infer::ColumnTraits::new(&of_table.columns[column]),
            is_key: infer::is_made_unique(of_table, column) && !self.relieved.contains(&(table, column)),
            now,
            default: of_table.columns[column].default.clone(),
        };
        guesses::guesses(&context, &bounds)
    }

    pub(super) fn drafts(&self) -> ColumnDrafts<'_, '_> {
        ColumnDrafts { schema: self.schema, sizes: &self.sizes, columns: &self.columns }
    }

    fn violation(&self, evaluator: &CheckEvaluator, table: usize, report: &CheckReport) -> Error {
        let of_table = &self.schema.tables[table];
        let check = report.failing().next().expect("a constraint fails");
        let (failed, example) = report.failure(check);
        let evaluated = &evaluator.checks[check];
        let names: Vec<&str> = evaluated.columns.iter().map(|&column| of_table.columns[column].name.as_str()).collect();
        let called = evaluated.name.as_ref().map_or(String::new(), |name| format!(", called {name},"));
        let message = format!(
            "CHECK ({}){called} fails for {failed} of {} sampled rows, for example where {example}",
            shortened(&evaluated.text),
            report.rows
        );
        let error = Error::new(ErrorKind::Generator, message).in_table(&of_table.name);
        if let [column] = evaluated.columns[..]
            && infer::is_made_unique(of_table, column)
        {
            let mut bounds = bounds::CheckBounds::default();
            bounds.read(&evaluated.text, &of_table.columns[column].name);
            let rows = self.sizes[table].rows;
            if let Some(values) = bounds.whole_numbers().filter(|&values| values < rows) {
                let message = format!(
                    "the column is unique, and CHECK ({}) has {} for {}",
                    shortened(&evaluated.text),
                    counted(values, "whole number"),
                    counted(rows, "row")
                );
                let fewer = OptionName::Rows.count(Some(&of_table.name), &values.to_string());
                return Error::new(ErrorKind::Generator, message)
                    .in_table(&of_table.name)
                    .in_column(&of_table.columns[column].name)
                    .advise(message!["make no more rows than that: ", fewer]);
            }
        }
        if names.is_empty() {
            return error.advise("the constraint names no column, so no row can meet it");
        }
        let advice = format!("annotate {} so that the constraint is met", names.join(" or "));
        error.in_column(names.join(", ")).advise(advice)
    }
}

/// Returns an expression in one line of limited length.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 100;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST { line } else { line.chars().take(LONGEST).chain("...".chars()).collect() }
}
