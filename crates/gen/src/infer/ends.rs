//! Ends of rows that others refer to: no row came after the death of its patient.

use super::amounts::named_column;
use super::subjects::Kind;
use super::times::{Form, Stage};
use super::{Parent, TableInference, kind_of};

impl TableInference<'_> {
    /// Returns the time at which a row ends that others refer to, or at which a person was seen last, and the reason.
    pub(super) fn end_of_parent(
        &self,
        (stage, at, form): (Stage, usize, Form),
        (base, of): (&str, Form),
    ) -> Option<(String, String)> {
        if let Some(text) = self.time_after_children(stage, form, (base, of)) {
            return Some((text, "after the last row that refers to the row".to_owned()));
        }
        let lately = form.lately(base, of, self.context.day, self.late_seconds(stage))?;
        let Some(last) = self.last_order(at, form) else {
            return Some((lately, "of late, because other rows refer to the row".to_owned()));
        };
        let seen = format!("max({lately}, coalesce({last}, {base}))");
        let text = match self.columns[at].not_null {
            true => seen,
            false => format!("if({last} IS NULL AND bool(0.2), NULL, {seen})"),
        };
        Some((text, "follows from the last order".to_owned()))
    }

    /// Returns the time of the last order of a person, if a column tells when the person was there.
    fn last_order(&self, at: usize, form: Form) -> Option<String> {
        let is_visit = self.is_like(at, "*last_login* *last_seen* *last_sign* *last_activ* *last_visit* *last_access*");
        self.context.latest.iter().filter(|_| is_visit && super::is_person(self.table)).find_map(|&(orders, by)| {
            let is_order = kind_of(&self.context.schema.tables[orders]) == Some(Kind::Order);
            self.last_time_of((orders, by), form).filter(|_| is_order)
        })
    }

    /// Returns a time between the last row that refers to the row and the reference day. Returns `None` if rows
    /// refer to it that have no time or are too many to count.
    fn time_after_children(&self, stage: Stage, form: Form, (base, of): (&str, Form)) -> Option<String> {
        let schema = self.context.schema;
        let base = form.converted(base, of).filter(|_| stage == Stage::Deleted)?;
        let keys = schema.tables.iter().flat_map(|table| &table.foreign_keys);
        let referring = keys.filter(|key| key.parent.eq_ignore_ascii_case(&self.table.name)).count();
        if self.context.counted.len() < referring {
            return None;
        }
        let mut times = vec![base.clone()];
        for &(child, by) in self.context.counted.iter().filter(|(child, _)| *child != self.context.table) {
            // A stay ends before the death.
            if kind_of(&schema.tables[child]) == Some(Kind::Stay) && super::is_person(self.table) {
                continue;
            }
            times.push(format!("coalesce({}, {base})", self.last_time_of((child, by), form)?));
        }
        let from = if times.len() == 1 { base } else { format!("max({})", times.join(", ")) };
        let rest = form.between(&from, &form.day_before(self.context.day, 0)?)?;
        form.plus(&from, &format!("{rest} * int(0, 999) / 1000"))
    }

    /// Returns the time of the last row of a table that refers to the row through a column.
    fn last_time_of(&self, (child, by): (usize, usize), form: Form) -> Option<String> {
        let of = &self.context.schema.tables[child];
        let (time, of_form) = self.start_of(Parent { table: child, column: 0, key: 0 })?;
        let last = format!("last_of({}, {})", named_column(of, by), named_column(of, of.column(&time.name)?));
        form.converted(&last, of_form)
    }
}
