//! Ends of ranges, with a mean between them: `min <= mean <= max`.

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
            let below = self.mean_above(low).unwrap_or(low);
            let low_column = self.column(below);
            let text = match self.columns[at].traits.class {
                _ if self.is_like(at, "*temp*") && self.is_of_patient() => {
                    format!("round({low_column} + real(0.1, 1.6, 1), 1)")
                }
                _ if self.is_like(at, "*temp* *humid* *pressure*") => {
                    format!("round({low_column} + real(0.5, 12, 1), 1)")
                }
                TypeClass::Int => format!("{low_column} + int(1, 100)"),
                _ => format!("round({low_column} + real(0.01, 100, 2), 2)"),
            };
            let because = format!("not below {}", self.table.columns[low].name);
            self.set(at, text, &because);
        }
    }

    /// Infers the mean beside the lower end of a range as a number above it, if there is one. Returns its column.
    fn mean_above(&mut self, low: usize) -> Option<usize> {
        const MEANS: [&str; 5] = ["mean", "average", "avg", "median", "typical"];
        let name = &self.columns[low].plain;
        let names: Vec<String> = MEANS.iter().map(|mean| name.replacen("min", mean, 1)).collect();
        let is_mean = |at: usize| at != low && names.contains(&self.columns[at].plain) && self.is_number(at);
        let mean =
            (0..self.columns.len()).find(|&at| is_mean(at) && self.is_free(at) && !self.columns[at].is_unique)?;
        let low = self.column(low);
        let text = match self.columns[mean].traits.class {
            TypeClass::Int => format!("{low} + int(1, 100)"),
            _ => format!("round({low} + real(0.01, 100, 2), 2)"),
        };
        self.set(mean, text, "between the ends of the range");
        Some(mean)
    }
}
