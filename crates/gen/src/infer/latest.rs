//! Times of the last row that refers to a row: when a conversation was active, and when a repository changed.

use super::amounts::named_column;
use super::flash_cards::has_grade;
use super::subjects::Kind;
use super::table_columns::called;
use super::times::{Form, Stage};
use super::{Parent, TableInference, kind_of, words_of_table};
use litepress_rows::quoted_name;

const ACTIVE: &str = "active_at last_active* last_activity* last_message* last_status* last_post* last_reply* last_comment* sort_timestamp bumped_at";

impl TableInference<'_> {
    /// Infers times of the last message of a conversation, and changes of rows that have no other time.
    pub(super) fn latest_times(&mut self) {
        let stages: Vec<Option<Stage>> =
            (0..self.columns.len()).map(|at| self.time_at(at).map(|(stage, _)| stage)).collect();
        let is_only = stages.iter().flatten().all(|stage| *stage == Stage::Updated);
        self.last_seen();
        for at in 0..self.columns.len() {
            let is_active = self.is_like(at, ACTIVE);
            let Some((_, form)) = self.time_at(at).filter(|_| self.columns[at].is_open && (is_active || is_only))
            else {
                continue;
            };
            let mut latest = self.latest_of(form, is_active);
            if latest.is_empty() && is_active {
                latest.extend(self.latest_through_pairs(at, form));
            }
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

    /// Times at which a person or a host was seen last: not before the last message or measurement.
    fn last_seen(&mut self) {
        /// Tables that are looked at.
        const MOST: usize = 3;
        let at =
            self.find("last_seen*", |at| self.is_time(at) && self.found[at].is_some() && !self.columns[at].is_unique);
        let Some((at, Some((_, form)))) = at.map(|at| (at, self.time_at(at))) else { return };
        let created = (0..self.columns.len()).find(|&at| {
            self.time_at(at) == Some((Stage::Created, form)) && self.columns[at].not_null && self.found[at].is_some()
        });
        let tables = &self.context.schema.tables;
        let last = self.context.counted.iter().filter_map(|&(child, by)| {
            let of = &tables[child];
            let is_event =
                matches!(kind_of(of), Some(Kind::Text | Kind::Log)) || super::has_last_word(of, "reading measurement");
            self.last_time(child, by, form).filter(|_| is_event && child != self.context.table)
        });
        let last: Vec<String> = last.take(MOST).collect();
        let (Some(created), Some(own), false) = (created, self.found[at].clone(), last.is_empty()) else { return };
        let created = self.column(created);
        let known: Vec<String> = last.iter().map(|last| format!("coalesce({last}, {created})")).collect();
        let text = format!("max({}, {})", known.join(", "), called(&own.text));
        let text = match self.columns[at].not_null {
            true => text,
            false => {
                let nothing: Vec<String> = last.iter().map(|last| format!("{last} IS NULL")).collect();
                format!("if({} AND bool(0.2), NULL, {text})", nothing.join(" AND "))
            }
        };
        self.set(at, text, "follows from the last rows that refer to it");
    }

    /// Returns the time, in this form, of the last row of a table that refers to the row through a column.
    pub(super) fn last_time(&self, child: usize, by: usize, form: Form) -> Option<String> {
        let of = &self.context.schema.tables[child];
        let (time, of_form) = self.start_of(Parent { table: child, column: 0, key: 0 })?;
        let last = format!("last_of({}, {})", named_column(of, by), named_column(of, of.column(&time.name)?));
        form.converted(&last, of_form)
    }

    /// Returns the time of the last row with which a pair joins the row, if the column says that in its name: `last_status_at` of a tag
    /// that statuses have.
    fn latest_through_pairs(&self, at: usize, form: Form) -> Option<String> {
        let schema = self.context.schema;
        self.context.counted.iter().find_map(|&(pairs, by)| {
            let of = &schema.tables[pairs];
            (0..of.columns.len()).filter(|&other| other != by).find_map(|other| {
                let parent = super::other_parent(schema, pairs, other)?;
                let word = words_of_table(&schema.tables[parent.table].name).pop()?;
                let (time, of_form) = self.start_of(parent).filter(|_| self.columns[at].plain.contains(&word))?;
                let path = [&of.name, &of.columns[other].name, &time.name].map(|name| quoted_name(name)).join(".");
                let last = form.converted(&format!("last_of({}, {path})", named_column(of, by)), of_form)?;
                let created = (0..self.columns.len()).find(|&at| self.time_at(at) == Some((Stage::Created, form)));
                let created = created.filter(|&at| self.columns[at].not_null).map(|at| self.column(at));
                Some(created.map_or(last.clone(), |created| format!("max({last}, {created})")))
            })
        })
    }

    /// Returns the times of the last rows of other tables that refer to the row: of texts, if there are any. A time that they may
    /// follow from needs rows in the order of time.
    fn latest_of(&self, form: Form, is_active: bool) -> Vec<String> {
        let schema = self.context.schema;
        let children = if is_active { &self.context.latest } else { &self.context.counted };
        let times = children.iter().filter_map(|&(child, by)| {
            let of = &schema.tables[child];
            let kind = kind_of(of);
            let is_event = matches!(kind, None | Some(Kind::Text | Kind::Task | Kind::Log));
            // The time of an answer is how long it took.
            let is_event = is_event && child != self.context.table && !has_grade(of);
            Some((kind, self.last_time(child, by, form)?)).filter(|_| is_event)
        });
        let times: Vec<(Option<Kind>, String)> = times.collect();
        let has_texts = times.iter().any(|(kind, _)| *kind == Some(Kind::Text));
        times.into_iter().filter(|(kind, _)| !has_texts || *kind == Some(Kind::Text)).map(|(_, text)| text).collect()
    }
}
