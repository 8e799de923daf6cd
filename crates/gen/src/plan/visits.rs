//! Invoices of visits: a patient gets one after an appointment.

use super::Planner;
use super::shared_rows::{Draft, is_random, with_distribution};
use crate::infer;

/// The columns of invoices and of visits that refer to the same person.
pub(super) struct Visits {
    pub table: usize,
    column: usize,
    invoice: usize,
}

impl Planner<'_> {
    /// Gives each visit an invoice, as long as there are invoices.
    pub(super) fn agree_on_visits(&self, drafts: &mut [Draft]) {
        for (table, column, inferred) in drafts.iter_mut().filter(|draft| is_random(&draft.2.text)) {
            let visits = self.visits_before(*table).filter(|visits| visits.invoice == *column);
            let rows = |table: usize| self.sizes[table].rows;
            if let Some(visits) = visits.filter(|visits| rows(visits.table) >= rows(*table)) {
                let by = infer::quoted_column(&self.schema.tables[visits.table], visits.column);
                inferred.text = with_distribution(&inferred.text, &format!("via({by}, once=TRUE)"));
                inferred.because += ", who came before";
            }
        }
    }

    /// Returns the visits for which the rows of a table are invoices.
    pub(super) fn visits_before(&self, table: usize) -> Option<Visits> {
        let is = |table: usize, words: &str| infer::has_last_word(&self.schema.tables[table], words);
        let persons = |table: usize| {
            let parent = move |column| Some((column, self.single_parent(table, column)?.table));
            let parents = (0..self.schema.tables[table].columns.len()).filter_map(parent);
            parents.filter(|(_, of)| infer::is_person(&self.schema.tables[*of]))
        };
        if !is(table, "invoice bill") {
            return None;
        }
        let visits = (0..self.schema.tables.len()).filter(|&of| is(of, "appointment visit"));
        let columns = visits.flat_map(|of| persons(of).map(move |(column, person)| (of, column, person)));
        columns.filter(|(of, ..)| *of != table).find_map(|(of, column, person)| {
            let (invoice, _) = persons(table).find(|(_, other)| *other == person)?;
            Some(Visits { table: of, column, invoice })
        })
    }
}
