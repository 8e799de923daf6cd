//! Times of the last row that refers to a row: when a conversation was active, and when a repository changed.

use super::amounts::named_column;
use super::flash_cards::has_grade;
use super::subjects::Kind;
use super::table_columns::called;
use super::times::{Form, Stage};
use super::{Parent, TableInference, kind_of};

const ACTIVE: &str =
    "active_at last_active* last_activity* last_message* last_post* last_reply* last_comment* sort_timestamp bumped_at";

impl TableInference<'_> {
    /// Infers times of the last message of a conversation, and changes of rows that have no other time.
    pub(super) fn latest_times(&mut self) {
        let stages: Vec<Option<Stage>> =
            (0..self.columns.len()).map(|at| self.time_at(at).map(|(stage, _)| stage)).collect();
        let is_only = stages.iter().flatten().all(|stage| *stage == Stage::Updated);
        for at in 0..self.columns.len() {
            let is_active = self.is_like(at, ACTIVE);
            let Some((_, form)) = self.time_at(at).filter(|_| self.columns[at].is_open && (is_active || is_only))
            else {
                continue;
            };
            let latest = self.latest_of(form, is_active);
            let Some(found) = self.found[at].as_ref().filter(|_| !self.columns[at].is_unique) else { continue };
            let own = called(&found.text);
            let text = match &latest[..] {
                [] => continue,
                [one] => format!("coalesce({one}, {own})"),
                [one, other, ..] => {
                    format!("coalesce(max(coalesce({one}, {other}), coalesce({other}, {one})), {own})")
                }
            };
            self.set(at, text, "the time of the last row that refers to it");
        }
    }

    /// Returns the times of the last rows of other tables that refer to the row: of texts, if there are any. A time that they may
    /// follow from needs rows in the order of time.
    fn latest_of(&self, form: Form, is_active: bool) -> Vec<String> {
        let schema = self.context.schema;
        let children = if is_active { &self.context.latest } else { &self.context.counted };
        let times = children.iter().filter_map(|&(child, by)| {
            let of = &schema.tables[child];
            let kind = kind_of(of);
            let (time, of_form) = self.start_of(Parent { table: child, column: 0, key: 0 })?;
            let is_event = matches!(kind, None | Some(Kind::Text | Kind::Task | Kind::Log));
            let last = format!("last_of({}, {})", named_column(of, by), named_column(of, of.column(&time.name)?));
            // The time of an answer is how long it took.
            let is_event = is_event && child != self.context.table && !has_grade(of);
            Some((kind, form.converted(&last, of_form)?)).filter(|_| is_event)
        });
        let times: Vec<(Option<Kind>, String)> = times.collect();
        let has_texts = times.iter().any(|(kind, _)| *kind == Some(Kind::Text));
        times.into_iter().filter(|(kind, _)| !has_texts || *kind == Some(Kind::Text)).map(|(_, text)| text).collect()
    }
}
