//! Spans of time in numbers: how long somebody watched, or cooks.

use super::TableInference;

/// Names of spans, without their unit.
const SPANS: &str = "*view_time *play_time *idle_time *wait_time *run_time *processing_time *watch_time *busy_time *cpu_time *execution_time *reading_time *work_time";
/// Spans of recipes, in minutes.
const COOKING: &str = "*prep_time *preparation_time *cook_time *cooking_time *baking_time";
const UNITS: [(&str, &str); 8] = [
    ("_ms", MILLISECONDS),
    ("_millis", MILLISECONDS),
    ("_minutes", MINUTES),
    ("_mins", MINUTES),
    ("_min", MINUTES),
    ("_hours", "lognormal(1, 0.8, min=1, max=200, decimals=0)"),
    ("_seconds", SECONDS),
    ("_secs", SECONDS),
];
const MILLISECONDS: &str = "lognormal(6, 1.3, min=1, max=3600000, decimals=0)";
const SECONDS: &str = "lognormal(5, 1.1, min=1, max=86400, decimals=0)";
const MINUTES: &str = "lognormal(3.2, 0.8, min=1, max=600, decimals=0)";
const MINUTES_OF_COOKING: &str = "choice(5: 6, 10: 14, 15: 18, 20: 18, 25: 8, 30: 16, 45: 10, 60: 6, 90: 3, 120: 1)";

impl TableInference<'_> {
    /// Infers spans of time in seconds, or in the unit that the name ends with. The whole time of a recipe is the sum of its parts.
    pub(super) fn spans(&mut self) {
        let mut parts = Vec::new();
        for at in 0..self.columns.len() {
            let name = self.columns[at].plain.as_str();
            let unit = UNITS.iter().find_map(|(end, text)| Some((name.strip_suffix(end)?, *text)));
            let (name, text) = unit.unwrap_or((name, SECONDS));
            let is_cooking = super::names::is_like(name, COOKING);
            if !self.is_free(at) || !self.is_number(at) || self.columns[at].is_unique || self.is_declared_time(at) {
                continue;
            }
            if is_cooking {
                self.set(at, if unit.is_some() { text } else { MINUTES_OF_COOKING }, "how long it takes");
                parts.push(format!("coalesce({}, 0)", self.column(at)));
            } else if super::names::is_like(name, SPANS) {
                let text = if name.ends_with("cpu_time") && unit.is_none() && !self.is_integer(at) {
                    "lognormal(0, 1.5, min=0.001, max=86400, decimals=3)"
                } else {
                    text
                };
                self.set(at, text, "how long it takes");
            }
        }
        let whole = self.find_repeatable_number("total_time ready_in").filter(|_| parts.len() > 1);
        if let Some(whole) = whole {
            self.set(whole, parts.join(" + "), "the sum of the other times");
        }
    }

    fn is_integer(&self, at: usize) -> bool {
        self.columns[at].traits.class == super::TypeClass::Int
    }

    /// Returns whether a column is declared as a point in time.
    fn is_declared_time(&self, at: usize) -> bool {
        let declared = self.columns[at].traits.declared.to_ascii_uppercase();
        declared.starts_with("DATE") || declared.starts_with("TIME")
    }
}
