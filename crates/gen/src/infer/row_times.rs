//! The times of a row in their order, what follows from them, and ends of ranges.

use super::names::{is_like, plain};
use super::rules;
use super::subjects::Kind;
use super::times::{Delay, Form, Stage, delay, time_of};
use super::{ColumnTraits, TableInference, TypeClass, quoted_always, unique};
use litepress_rows::schema::Generated;

/// Days before the reference day at which the times of a table begin that refers to no other one.
const DAYS: i64 = 5 * 365;
/// Days by which the times of a table begin later than those of its parents.
const DAYS_LATER: i64 = 45;

impl TableInference<'_> {
    /// Times in their order.
    pub(super) fn times(&mut self) {
        let mut times: Vec<(Stage, usize, Form)> = Vec::new();
        for at in 0..self.columns.len() {
            let column = &self.columns[at];
            let found = time_of(&column.plain, &column.traits)
                .or_else(|| time_of(&plain(&self.table.columns[at].name), &column.traits));
            if let Some((stage, form)) = found.filter(|_| self.is_free(at)) {
                times.push((stage, at, form));
            }
        }
        // The current sign-in follows the last one.
        times.sort_by_key(|&(stage, at, _)| (stage, self.is_like(at, "current_*"), at));
        let day = self.context.day;
        let has_hire = times.iter().any(|&(_, at, _)| is_like(&self.columns[at].plain, "*hire* *employ*"));
        let ages = if has_hire { (62, 26) } else { (75, 18) };
        for &(_, at, form) in times.iter().filter(|(stage, ..)| *stage == Stage::Birth) {
            let inferred = form.birth(day, ages.0, ages.1);
            self.set(at, inferred, "a day of birth");
        }
        times.retain(|(stage, ..)| *stage != Stage::Birth);
        // The first is one that is always known, if there is one.
        let first = times.iter().position(|&(_, at, _)| self.share_of_null(at) == 0.0).unwrap_or(0);
        if times.is_empty() {
            return;
        }
        let (_, anchor, form) = times[first];
        let from = day.before(DAYS - DAYS_LATER * self.context.depth.min(20));
        let text = self.time_of_parent(form).unwrap_or_else(|| form.ascending(&from, &day.before(0)));
        self.set(anchor, text, "a time, in the order of rows");
        let mut known: Vec<(Stage, usize, Form)> = vec![times[first]];
        for (position, &(stage, at, form)) in times.iter().enumerate().filter(|(position, _)| *position != first) {
            if position < first {
                let later = form.ascending(&from, &day.before(0));
                self.set(at, later, "a time, in the order of rows");
                continue;
            }
            let last =
                known.iter().rev().find(|(of, ..)| *of == Stage::LastSeen).filter(|_| self.is_like(at, "current_*"));
            let base = last.map(|&(_, at, form)| (at, form)).or_else(|| self.base_of(stage, at, &known));
            let limit = (stage != Stage::Due).then_some(day);
            let later = base.and_then(|(base, of)| {
                let text = form.after(&self.column(base), of, delay(stage, self.kind(), form), limit)?;
                Some((text, format!("not before {}", self.table.columns[base].name)))
            });
            match later {
                Some((text, because)) => self.set(at, text, &because),
                None => self.set(at, form.ascending(&from, &day.before(0)), "a time, in the order of rows"),
            }
            known.push((stage, at, form));
        }
        self.durations(&known);
        // A key needs a new time in every row.
        for &(_, at, form) in &times {
            if self.columns[at].is_unique {
                let text = if form == Form::Day || self.context.rows > 10_000_000 {
                    unique(&self.columns[at].traits, &self.columns[at].plain, "").text
                } else {
                    form.ascending(&from, &day.before(0))
                };
                self.set(at, text, "a time that is unique");
            }
        }
    }

    /// The time from a start to an end.
    pub(super) fn durations(&mut self, times: &[(Stage, usize, Form)]) {
        let find = |wanted: Stage| times.iter().find(|(stage, ..)| *stage == wanted);
        let Some((_, end, form)) = find(Stage::Ended).copied() else { return };
        let Some((_, start, of)) = find(Stage::Started).or(find(Stage::Created)).copied() else { return };
        let duration = self.find("duration_ms duration *_duration elapsed_ms elapsed elapsed_time runtime_ms", |at| {
            self.is_number(at) && self.found[at].is_none()
        });
        let Some(at) = duration.filter(|_| form == of) else { return };
        let (start, end) = (self.column(start), self.column(end));
        let seconds = match form {
            Form::Text => format!("date_diff({start}, {end}, 'seconds')"),
            Form::Unix(1) => format!("({end} - {start})"),
            _ => return,
        };
        let text = if self.is_like(at, "*_ms") { format!("1000 * {seconds}") } else { format!("1 * {seconds}") };
        self.set(at, text, "from the start to the end");
    }

    /// Returns the time that a later one follows from: the latest that is always known, or the start of an end.
    pub(super) fn base_of(&self, stage: Stage, at: usize, known: &[(Stage, usize, Form)]) -> Option<(usize, Form)> {
        let form = self.columns[at].traits.class;
        let is_usable = |&&(_, other, _): &&(Stage, usize, Form)| {
            self.columns[other].traits.class == form
                || self.is_text(other)
                || self.columns[other].traits.class == TypeClass::Numeric
        };
        let wanted = match stage {
            Stage::Delivered => Some(Stage::Ended),
            Stage::Ended => Some(Stage::Started),
            _ => None,
        };
        let of_stage = known.iter().rev().filter(is_usable).find(|(of, ..)| Some(*of) == wanted);
        let always = known.iter().rev().filter(is_usable).find(|(of, other, _)| {
            self.share_of_null(*other) == 0.0
                && !matches!(of, Stage::LastSeen | Stage::Deleted | Stage::Due | Stage::Updated)
        });
        of_stage.or(always).or(known.first()).map(|&(_, at, form)| (at, form))
    }

    /// Returns the time of the parent's row, for rows that are consecutive children.
    pub(super) fn time_of_parent(&self, form: Form) -> Option<String> {
        let by = self.context.per_parent?;
        let parent = self.context.parents[by]?;
        let of = &self.context.schema.tables[parent.table];
        let mut times = of.columns.iter().filter_map(|column| {
            let (stage, of) = time_of(&plain(&column.name), &ColumnTraits::new(column))?;
            (matches!(stage, Stage::Created | Stage::Queued | Stage::Started)
                && of == form
                && column.generated == Generated::No
                && rules::null_share(&plain(&column.name)).is_none())
            .then_some((stage, column))
        });
        let first = times.next()?;
        let (_, column) = times.fold(first, |least, next| if next.0 < least.0 { next } else { least });
        let through = format!("{}.{}", self.column(by), quoted_always(&column.name));
        let delay = match self.kind() {
            Some(Kind::Line) => Delay { amount: "0", unit: "seconds" },
            _ if form == Form::Day => Delay { amount: "int(0, 5)", unit: "days" },
            _ => Delay { amount: "int(0, 7200)", unit: "seconds" },
        };
        form.after(&through, form, delay, Some(self.context.day))
    }

    /// Times that a state excludes: an order that is pending has no time of delivery.
    pub(super) fn states(&mut self) {
        const KNOWN: [(&str, bool, &str); 5] = [
            ("*delivered* *arrived*", true, "'delivered', 'completed', 'complete', 'done', 'returned'"),
            (
                "*shipped* *ship_date *dispatched*",
                true,
                "'shipped', 'delivered', 'completed', 'complete', 'done', 'returned'",
            ),
            (
                "paid_at paid_on paid_date payment_date paid",
                false,
                "'pending', 'new', 'draft', 'open', 'created', 'cancelled', 'canceled', 'failed'",
            ),
            ("*cancel*", true, "'cancelled', 'canceled'"),
            (
                "*closed* *finished* *ended* *completed* *resolved* *merged*",
                true,
                "'closed', 'done', 'resolved', 'completed', 'complete', 'success', 'succeeded', 'passed', 'failed', 'failure', 'error', 'cancelled', 'canceled', 'finished', 'merged', 'shipped', 'delivered'",
            ),
        ];
        let is_state = |at: usize| self.is_text(at) && !self.columns[at].is_unique;
        let Some(state) = self.find("status state order_status", is_state) else { return };
        let object =
            self.context.schema.objects.iter().find(|object| object.kind == "table" && object.name == self.table.name);
        let sql = object.and_then(|object| object.sql.clone()).unwrap_or_default();
        let values = self.found[state].as_ref().map_or(String::new(), |found| found.text.clone()) + &sql;
        for at in 0..self.columns.len() {
            if self.columns[at].not_null || !self.is_time(at) || !self.columns[at].is_open {
                continue;
            }
            let Some((_, is_in, states)) = KNOWN.iter().find(|(names, ..)| self.is_like(at, names)) else { continue };
            if !states.split(", ").any(|state| values.contains(state)) {
                continue;
            }
            let state = self.column(state);
            let Some(found) = &mut self.found[at] else { continue };
            let not = if *is_in { "" } else { "NOT " };
            found.text = format!("if({state} {not}IN ({states}), {})", found.text);
            found.because = format!("{}, and the state", found.because);
        }
    }

    pub(super) fn is_time(&self, at: usize) -> bool {
        time_of(&self.columns[at].plain, &self.columns[at].traits).is_some()
    }

    /// Ends of ranges: `max_x` is not below `min_x`.
    pub(super) fn ranges(&mut self) {
        const ENDS: [(&str, &str); 7] = [
            ("min_", "max_"),
            ("_min", "_max"),
            ("low", "high"),
            ("start_", "end_"),
            ("from_", "to_"),
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
            let low_column = self.column(low);
            let text = match self.columns[at].traits.class {
                _ if self.is_like(at, "*temp* *humid* *pressure*") => {
                    format!("round({low_column} + real(0.5, 12, 1), 1)")
                }
                TypeClass::Int => format!("{low_column} + int(1, 100)"),
                _ => format!("round({low_column} + real(0, 100, 2), 2)"),
            };
            let because = format!("not below {}", self.table.columns[low].name);
            self.set(at, text, &because);
        }
    }
}
