//! CHECK constraints: sampled rows are tested against them, and inferred columns change until they pass.
//!
//! ```text
//! statement --schema_annotations/checks--> expressions --evaluator--> SQLite: do sampled rows meet them?
//! no: expression --bounds--> values, ranges, other columns --guesses--> annotations, tried one after another
//! ```
//!
//! SQLite alone evaluates a constraint, on generated rows. Our parser only suggests annotations for inferred columns,
//! and a wrong suggestion fails the test like any other.

mod candidates;
mod judge;
mod limits;

use super::compile::Drafts;
use super::rows::Size;
use super::{Chosen, Planner};
use crate::infer::{self, Inferred};
use crate::tables::generated_tables;
use judge::{Judge, Verdict};
use litepress_rows::{Error, ErrorKind, Result};

impl Planner<'_> {
    /// Replaces the annotations of inferred columns until all CHECK constraints hold.
    ///
    /// # Errors
    /// [`ErrorKind::Generator`] for a constraint that sampled rows violate.
    pub(super) fn meet_checks(&mut self) -> Result<()> {
        for (table, of_table) in generated_tables(self.schema) {
            let Size { rows, tpch, .. } = self.sizes[table];
            let is_judged =
                of_table.has_check && rows > 0 && tpch.is_none() && !of_table.may_lose_rows(self.on_conflict);
            let Some(judge) = Judge::new(self.schema, table).filter(|_| is_judged) else { continue };
            let mut verdict = judge.judge(self.drafts(), table)?;
            while !verdict.is_met() {
                match self.improve(&judge, table, &verdict) {
                    Some(better) => verdict = better,
                    None => return Err(self.refusal(&judge, table, &verdict)),
                }
            }
        }
        Ok(())
    }

    /// Replaces the annotation of one inferred column so that fewer constraints fail.
    fn improve(&mut self, judge: &Judge, table: usize, verdict: &Verdict) -> Option<Verdict> {
        for check in verdict.failing() {
            let because = format!("CHECK ({})", shortened(&judge.checks[check].text));
            for column in self.changeable(judge, table, check) {
                for text in self.candidates(judge, table, column) {
                    let before = self.columns[table][column].take();
                    let inferred = Inferred { text, because: because.clone() };
                    let judged = self.settle(table, column, inferred).and_then(|()| judge.judge(self.drafts(), table));
                    match judged {
                        Ok(better) if better.meets(check) && better.count() < verdict.count() => return Some(better),
                        _ => self.columns[table][column] = before,
                    }
                }
            }
        }
        None
    }

    /// Returns the inferred columns that a constraint names, last ones first, because these may depend on the others.
    fn changeable(&self, judge: &Judge, table: usize, check: usize) -> Vec<usize> {
        let is_inferred = |&&column: &&usize| {
            let draft = self.columns[table][column].as_ref();
            draft.is_some_and(|draft| matches!(draft.chosen, Chosen::Inferred(_)))
        };
        judge.checks[check].columns.iter().rev().filter(is_inferred).copied().collect()
    }

    fn candidates(&self, judge: &Judge, table: usize, column: usize) -> Vec<String> {
        let of_table = &self.schema.tables[table];
        let name = &of_table.columns[column].name;
        let mut limits = limits::Limits::default();
        for check in judge.checks.iter().filter(|check| check.columns.contains(&column)) {
            limits.read(&check.text, name);
        }
        let now = self.columns[table][column].as_ref().map_or(String::new(), |draft| draft.expression.clone());
        if let Some(reference) = self.drafts().reference((table, column)) {
            let parent = &self.schema.tables[reference.parent];
            let key = format!("{}.{}", infer::quoted(&parent.name), infer::quoted(&parent.columns[reference.key].name));
            let others = limits.unequal();
            return others.map(|other| format!("ref({key}, other_than({other}))")).collect();
        }
        let wanted = candidates::Wanted {
            subject: infer::Subject::new(&of_table.columns[column]),
            is_key: infer::is_made_unique(of_table, column),
            now,
        };
        candidates::candidates(&wanted, &limits)
    }

    pub(super) fn drafts(&self) -> Drafts<'_, '_> {
        Drafts { schema: self.schema, sizes: &self.sizes, columns: &self.columns }
    }

    fn refusal(&self, judge: &Judge, table: usize, verdict: &Verdict) -> Error {
        let of_table = &self.schema.tables[table];
        let check = verdict.failing().next().expect("a constraint fails");
        let (failed, example) = verdict.failure(check);
        let judged = &judge.checks[check];
        let names: Vec<&str> = judged.columns.iter().map(|&column| of_table.columns[column].name.as_str()).collect();
        let called = judged.name.as_ref().map_or(String::new(), |name| format!(", called {name},"));
        let message = format!(
            "CHECK ({}){called} fails for {failed} of {} sampled rows, for example where {example}",
            shortened(&judged.text),
            verdict.rows
        );
        let error = Error::new(ErrorKind::Generator, message).in_table(&of_table.name);
        if names.is_empty() {
            return error.advise("no column is named there: no row can meet it");
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
