//! Ends of rows that others refer to: no row came after the death of its patient.

use super::amounts::named_column;
use super::subjects::Kind;
use super::times::{Form, Stage};
use super::{Parent, TableInference, kind_of};

impl TableInference<'_> {
    /// Returns the time at which a row ends that others refer to, and the reason.
    pub(super) fn end_of_parent(&self, stage: Stage, form: Form, (base, of): (&str, Form)) -> Option<(String, String)> {
        let later = self
            .time_after_children(stage, form, (base, of))
            .map(|text| (text, "after the last row that refers to the row"));
        let lately = || {
            let text = form.lately(base, of, self.context.day, self.late_seconds(stage))?;
            Some((text, "of late, because other rows refer to the row"))
        };
        later.or_else(lately).map(|(text, because)| (text, because.to_owned()))
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
            let of = &schema.tables[child];
            // A stay ends before the death.
            if kind_of(of) == Some(Kind::Stay) && super::is_person(self.table) {
                continue;
            }
            let (time, of_form) = self.start_of(Parent { table: child, column: 0, key: 0 })?;
            let last = format!("last_of({}, {})", named_column(of, by), named_column(of, of.column(&time.name)?));
            times.push(format!("coalesce({}, {base})", form.converted(&last, of_form)?));
        }
        let from = if times.len() == 1 { base } else { format!("max({})", times.join(", ")) };
        let rest = form.between(&from, &form.day_before(self.context.day, 0)?)?;
        form.plus(&from, &format!("{rest} * int(0, 999) / 1000"))
    }
}
