//! Ends of ranges, with what is between them: `min <= mean <= max`.

use super::{TableInference, TypeClass};

impl TableInference<'_> {
    /// Ends of ranges: `max_x` is not below `min_x`.
    pub(super) fn ranges(&mut self) {
        const ENDS: [(&str, &str); 7] = [
            ("min", "max"),
            ("start", "end"),
            ("low", "high"),
            ("from_", "to_"),
            ("_from", "_to"),
            ("lft", "rgt"),
            ("lower", "upper"),
        ];
        for at in 0..self.columns.len() {
            let name = self.columns[at].plain.clone();
            if !self.is_free(at) || !self.is_number(at) {
                continue;
            }
            let low = ENDS.iter().filter(|(_, high)| name.contains(high)).find_map(|(low, high)| {
                let low = name.replacen(high, low, 1);
                let is_low = |&other: &usize| {
                    let column = &self.columns[other];
                    other != at
                        && column.plain == low
                        && column.is_open
                        && column.traits.class == self.columns[at].traits.class
                };
                (0..self.columns.len()).find(is_low)
            });
            let Some(low) = low.filter(|&low| !self.columns[low].is_unique && !self.columns[at].is_unique) else {
                continue;
            };
            let between = self.between(low);
            let low_column = match between.as_slice() {
                [] => self.column(low),
                [one] => self.column(*one),
                more => {
                    format!("max({})", more.iter().map(|&at| self.column(at)).collect::<Vec<String>>().join(", "))
                }
            };
            let text = self.above(at, &low_column);
            let because = format!("not below {}", self.table.columns[low].name);
            self.set(at, text, &because);
        }
    }

    /// Returns a number, or a time of day, that is not below another one.
    fn above(&self, at: usize, low: &str) -> String {
        match self.columns[at].traits.class {
            _ if self.columns[at].traits.declared.eq_ignore_ascii_case("time") => format!("max({low}, time_of_day())"),
            _ if self.is_like(at, "*temp*") && self.is_of_patient() => format!("round({low} + real(0.1, 1.6, 1), 1)"),
            _ if self.is_like(at, "*temp* *humid* *pressure*") => format!("round({low} + real(0.5, 12, 1), 1)"),
            TypeClass::Int => format!("{low} + int(1, 100)"),
            _ => format!("round({low} + real(0.01, 100, 2), 2)"),
        }
    }

    /// Infers the numbers between the ends of a range, such as a mean, as numbers above the lower end. Returns their columns.
    fn between(&mut self, low: usize) -> Vec<usize> {
        const ENDS: [&str; 3] = ["min", "lower", "low"];
        const BETWEEN: [&str; 7] = ["mean", "average", "avg", "median", "typical", "open", "close"];
        let name = &self.columns[low].plain;
        let Some(end) = ENDS.iter().find(|end| name.contains(**end)) else { return Vec::new() };
        let names: Vec<String> = BETWEEN.iter().map(|mean| name.replacen(end, mean, 1)).collect();
        let is_between = |&at: &usize| {
            let is_free = self.is_free(at) && self.is_number(at) && !self.columns[at].is_unique;
            at != low && names.contains(&self.columns[at].plain) && is_free
        };
        let between: Vec<usize> = (0..self.columns.len()).filter(is_between).collect();
        let low = self.column(low);
        for &at in &between {
            let text = self.above(at, &low);
            self.set(at, text, "between the ends of the range");
        }
        between
    }
}
