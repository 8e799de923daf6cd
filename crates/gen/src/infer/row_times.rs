//! The times of a row in their order, and what follows from them.

use super::flash_cards::has_grade;
use super::names::{is_like, plain};
use super::relatives::is_action_of;
use super::rules;
use super::subjects::Kind;
use super::times::{Delay, Form, Stage, delay};
use super::{Inference, Parent, TableInference, TypeClass, kind_of, unique};
use litepress_rows::schema::{Column, ForeignKey, Generated, Table};

/// Days before the reference day at which the times of a table begin that refers to no other one.
const DAYS: i64 = 5 * 365;
/// Days by which the times of a table begin later than those of its parents.
const DAYS_LATER: i64 = 45;
/// Rows of a log a day.
const ROWS_A_DAY: u64 = 400;
/// Times of day at which people meet.
const MEETINGS: &str = "choice(' 08:30:00', ' 09:00:00': 2, ' 09:30:00': 2, ' 10:00:00': 3, ' 10:30:00': 2, ' 11:00:00': 3, ' 11:30:00', ' 13:30:00': 2, ' 14:00:00': 3, ' 14:30:00': 2, ' 15:00:00': 3, ' 15:30:00': 2, ' 16:00:00': 2, ' 16:30:00')";

/// The turns of a thing that one row after another has.
struct Turns {
    /// The time at which the first turn begins.
    base: String,
    /// The length of a turn, in the unit of the times: days, seconds or parts of a second.
    length: String,
    /// The number of the row's turn.
    number: String,
}

/// Returns how many days before the reference day the times of a table begin whose longest chain of parents has this length.
fn days_at(depth: i64) -> i64 {
    DAYS - DAYS_LATER * depth.min(20)
}

/// Returns how many days before the reference day the times of a table begin: a log of few rows is a short one.
pub(super) fn days_of(is_log: bool, rows: u64, depth: i64) -> i64 {
    let days = days_at(depth);
    match i64::try_from(rows.div_ceil(ROWS_A_DAY)) {
        Ok(of_rows) if is_log => of_rows.clamp(2, days),
        _ => days,
    }
}

/// Returns the share of the rows of a table that come before the times of a table with a longer chain of parents begin.
pub(super) fn share_before(of_parent: i64, days_of_child: i64) -> f64 {
    let [parent, child] = [days_at(of_parent), days_of_child].map(|days| days as f64);
    // Times rise and fall a little beside an even line.
    0.9 * (1.0 - child / parent).max(0.0)
}

/// Returns whole seconds as seconds with milliseconds.
fn with_fractions(text: String) -> String {
    match text.strip_prefix("events(").and_then(|rest| rest.strip_suffix(", as='unix')")) {
        Some(span) => format!("events({span}, as='unix_ms') / 1000.0"),
        None => text,
    }
}

impl TableInference<'_> {
    /// Returns the free columns that hold times, in the order of a row's life.
    fn times_of_row(&self) -> Vec<(Stage, usize, Form)> {
        let mut times: Vec<(Stage, usize, Form)> = Vec::new();
        for at in 0..self.columns.len() {
            let found = self.time_at(at).or_else(|| self.time_of_column(self.table, &self.table.columns[at]));
            if let Some((stage, form)) = found.filter(|_| self.is_free(at) && !self.is_no_time(at)) {
                times.push((stage, at, form));
            }
        }
        // The current sign-in follows the last one, and a time that may be NULL the others of its stage.
        times.sort_by_key(|&(stage, at, _)| {
            let may_be_null = self.share_of_null(at) > 0.0;
            (stage, self.is_like(at, "current_*"), may_be_null, at)
        });
        times
    }

    /// Times in their order.
    pub(super) fn times(&mut self) {
        let mut times = self.times_of_row();
        let day = self.context.day;
        let has_hire = times.iter().any(|&(_, at, _)| is_like(&self.columns[at].plain, "*hire* *employ*"));
        let is_learned = super::has_last_word(self.table, "doctor physician surgeon professor lawyer");
        let ages = match (has_hire, is_learned) {
            (true, false) if self.are_hired_before() => (64, 32),
            (true, true) => (66, 32),
            (true, false) => (64, 26),
            (false, _) => (75, 18),
        };
        for &(_, at, form) in times.iter().filter(|(stage, ..)| *stage == Stage::Birth) {
            let inferred = form.birth(day, ages.0, ages.1);
            self.set(at, inferred, "a day of birth");
        }
        times.retain(|(stage, at, _)| *stage != Stage::Birth && !self.is_publication(*at));
        // The first is one that is always known, if there is one.
        let first = times.iter().position(|&(_, at, _)| self.share_of_null(at) == 0.0).unwrap_or(0);
        if times.is_empty() {
            return;
        }
        let (stage, anchor, form) = times[first];
        let from = day.before(self.first_day());
        let text = self.first_time(stage, form, &from);
        let text = if self.columns[anchor].traits.class == TypeClass::Real { with_fractions(text) } else { text };
        self.set(anchor, text, "a time, in the order of rows");
        let mut known: Vec<(Stage, usize, Form)> = vec![times[first]];
        for (position, &(stage, at, form)) in times.iter().enumerate().filter(|(position, _)| *position != first) {
            if position < first {
                let sooner = self.sign_in_before(times[first], at, form);
                self.set(at, sooner.unwrap_or_else(|| self.ascending(form, &from)), "a time, in the order of rows");
                continue;
            }
            let last =
                known.iter().rev().find(|(of, ..)| *of == Stage::LastSeen).filter(|_| self.is_like(at, "current_*"));
            let base = last.map(|&(_, at, form)| (at, form)).or_else(|| self.base_of(stage, at, &known));
            let limit = (stage != Stage::Due).then_some(day);
            let of_part = self.time_of_part(stage, form);
            let of_part = of_part.map(|text| (text, "a share of the time of the whole run".to_owned()));
            let of_part = of_part.or_else(|| self.same_time(at, form, &known));
            let later = of_part.or_else(|| {
                let (base, of) = base?;
                if last.is_some() {
                    let delay = Delay { amount: "int(2, 400)".into(), unit: "hours" };
                    let text = form.after(&self.column(base), of, delay, limit)?;
                    return Some((text, "follows from the sign-in before".to_owned()));
                }
                if matches!(stage, Stage::Deleted | Stage::LastSeen) && self.ends_a_parent(at) {
                    return self.end_of_parent((stage, at, form), (&self.column(base), of));
                }
                let text = form.after(&self.column(base), of, self.delay(stage, form), limit)?;
                let text = if stage == Stage::Updated { self.not_before(text, (base, form), &known) } else { text };
                Some((text, format!("not before {}", self.table.columns[base].name)))
            });
            match later {
                Some((text, because)) => self.set(at, text, &because),
                None => self.set(at, self.ascending(form, &from), "a time, in the order of rows"),
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
                    self.ascending(form, &from)
                };
                self.set(at, text, "a time that is unique");
            }
        }
        self.series(&times);
    }

    /// A sign-in changes the row of a user.
    pub(super) fn changes_by_sign_in(&mut self) {
        let Some(sign_in) = self.find("current_sign_in_at", |at| self.is_time(at)) else { return };
        let form = self.time_at(sign_in).map(|(_, form)| form);
        let is_change =
            |&at: &usize| self.time_at(at).is_some_and(|(of, same)| of == Stage::Updated && Some(same) == form);
        let change = (0..self.columns.len()).find(is_change).filter(|&at| self.columns[at].is_open);
        let sign_in = self.column(sign_in);
        let asked = self.find("reset_password_sent_at", |at| {
            self.time_at(at).map(|(_, of)| of) == form && self.found[at].is_some()
        });
        let asked = asked.filter(|_| form == Some(Form::Text)).map(|at| self.column(at));
        if let Some(found) = change.and_then(|at| self.found[at].as_mut()) {
            found.text = format!("coalesce({sign_in}, {})", found.text);
            if let Some(asked) = asked {
                found.text = format!("max({}, coalesce({asked}, ''))", found.text);
            }
            found.because = "follows from the last sign-in".to_owned();
        }
    }

    /// Returns the time of the sign-in before the current one, if that is the first time of the row that is always known.
    fn sign_in_before(&self, (stage, current, of): (Stage, usize, Form), at: usize, form: Form) -> Option<String> {
        let is_before = stage == Stage::LastSeen && self.is_like(current, "current_*") && self.is_like(at, "last_*");
        let delay = Delay { amount: "int(-400, -2)".into(), unit: "hours" };
        form.after(&self.column(current), of, delay, None).filter(|_| is_before)
    }

    /// Times of a series of measurements, one hour after another, whose last one is of the last hour. Rows are made after their hour.
    fn series(&mut self, times: &[(Stage, usize, Form)]) {
        let Some(by) = self.context.per_parent else { return };
        let time = super::time_of_series(self.table, by);
        let Some(&(_, hour, form)) = times.iter().find(|(_, at, _)| Some(*at) == time) else { return };
        let Some((last, units)) = form.number(self.context.day.unix()).zip(form.per_second()) else { return };
        let by = self.column(by);
        let text = format!("{last} - {} * (count_in({by}) - number_in({by}) + 2)", 3600 * units);
        self.set(hour, text, "one hour after another, for each row that it refers to");
        for &(_, at, of) in times.iter().filter(|(stage, at, _)| *stage == Stage::Created && *at != hour) {
            let delay = Delay { amount: "3610".into(), unit: "seconds" };
            if let Some(text) = of.after(&self.column(hour), form, delay, None) {
                self.set(at, text, "after the hour");
            }
        }
    }

    /// Returns whether a name that is like that of a time says something else here: a flag, or how long an answer took.
    fn is_no_time(&self, at: usize) -> bool {
        let is_flag =
            self.is_like(at, "finished started completed") && self.default(at).is_some_and(|text| text == "0");
        is_flag || self.columns[at].plain == "time" && has_grade(self.table)
    }

    /// Returns a time in the form of another column, which has the same name up to its end: `created` and `created_ts`.
    fn same_time(&self, at: usize, form: Form, known: &[(Stage, usize, Form)]) -> Option<(String, String)> {
        const ENDS: [&str; 3] = ["_ts", "_unix", "_epoch"];
        let stem = |at: usize| {
            let name = self.columns[at].full.as_str();
            ENDS.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
        };
        let (_, other, of) = *known.iter().find(|(_, other, _)| stem(*other) == stem(at))?;
        let text = form.converted(&self.column(other), of)?;
        Some((text, format!("the same time as {}", self.table.columns[other].name)))
    }

    /// Returns the time of the last change, not before the other times of the row in the same form.
    fn not_before(&self, text: String, (base, form): (usize, Form), known: &[(Stage, usize, Form)]) -> String {
        let is_change = |&&(stage, at, of): &&(Stage, usize, Form)| {
            of == form
                && at != base
                && matches!(stage, Stage::Paid | Stage::Edited | Stage::Ended | Stage::Delivered | Stage::Deleted)
        };
        let base = self.column(base);
        let others = known.iter().filter(is_change).map(|&(_, at, _)| format!("coalesce({}, {base})", self.column(at)));
        let others: Vec<String> = others.collect();
        if others.is_empty() { text } else { format!("max({text}, {})", others.join(", ")) }
    }

    /// Returns times that ascend with the row number. Times of few rows are almost even: a late one would come after that of
    /// the row's child.
    fn ascending(&self, form: Form, from: &str) -> String {
        const FEW: u64 = 64;
        const FIRST_DAYS: i64 = 10;
        let to = match self.context.is_lookup {
            true => (self.days() - FIRST_DAYS).max(0),
            false if self.are_hired_before() => self.days(),
            false => 0,
        };
        let to = self.context.day.before(to);
        let text = form.ascending(from, &to);
        if self.context.rows < FEW { text.replace(&format!("'{to}'"), &format!("'{to}', jitter=0.02")) } else { text }
    }

    /// Returns the first time of a row, from which the others follow.
    fn first_time(&self, stage: Stage, form: Form, from: &str) -> String {
        let ascending = self.ascending(form, from);
        let meeting = || {
            let is_meeting = form == Form::Text && self.is_meeting();
            is_meeting.then(|| format!("{} || {MEETINGS}", self.working_days()))
        };
        let of_part = self.time_of_part(stage, form).or_else(|| self.time_of_visit(form));
        let of_others =
            of_part.or_else(|| self.time_in_group(&ascending, form)).or_else(|| self.time_of_parents(stage, form));
        of_others.or_else(meeting).unwrap_or(ascending)
    }

    /// The time from a start to an end.
    pub(super) fn durations(&mut self, times: &[(Stage, usize, Form)]) {
        let find = |wanted: Stage| times.iter().find(|(stage, ..)| *stage == wanted);
        let last_action = || times.iter().find(|&&(_, at, _)| self.is_like(at, "*last_action*"));
        let Some((_, end, form)) = find(Stage::Ended).or_else(last_action).copied() else { return };
        let Some((_, start, of)) = find(Stage::Started).or(find(Stage::Created)).copied() else { return };
        const DURATIONS: &str =
            "duration_ms duration *_duration elapsed_ms elapsed elapsed_time runtime_ms *visit_total_time";
        let duration = self.find(DURATIONS, |at| self.is_number(at) && self.found[at].is_none());
        let Some(at) = duration.filter(|_| form == of) else { return };
        let (start, end) = (self.column(start), self.column(end));
        let seconds = match form {
            Form::Text => format!("date_diff({start}, {end}, 'seconds')"),
            Form::Unix(1) => format!("({end} - {start})"),
            _ => return,
        };
        let text = if self.is_like(at, "*_ms") { format!("1000 * {seconds}") } else { format!("1 * {seconds}") };
        self.set(at, text, "follows from the start and the end");
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
                && !matches!(of, Stage::LastSeen | Stage::Deleted | Stage::Due | Stage::Edited | Stage::Updated)
        });
        of_stage.or(always).or(known.first()).map(|&(_, at, form)| (at, form))
    }

    /// Returns whether a time is the end of a row that others refer to: few of them come after it if it is a late one.
    fn ends_a_parent(&self, at: usize) -> bool {
        let mut keys = self.context.schema.tables.iter().flat_map(|table| &table.foreign_keys);
        let is_referred = keys.any(|key| key.parent.eq_ignore_ascii_case(&self.table.name));
        let is_brief = matches!(self.kind(), Some(Kind::Order | Kind::Payment | Kind::Event | Kind::Stay | Kind::Text));
        is_referred && !is_brief && !self.is_like(at, "*cancel* *refunded*")
    }

    /// Returns how many seconds before the reference day the rows end, or are seen last: what writes a log was there a minute ago.
    pub(super) fn late_seconds(&self, stage: Stage) -> i64 {
        const WEEKS: i64 = 5_000_000;
        const MINUTES: i64 = 900;
        let is_of_table = |key: &ForeignKey| key.parent.eq_ignore_ascii_case(&self.table.name);
        let mut children = self.context.schema.tables.iter().filter(|table| table.foreign_keys.iter().any(is_of_table));
        let mut writes_log = || children.any(|table| kind_of(table) == Some(Kind::Log));
        let is_program = stage == Stage::LastSeen && !super::is_person(self.table);
        if is_program && writes_log() { MINUTES } else { WEEKS }
    }

    /// Returns how many days before the reference day the first row came.
    fn first_day(&self) -> i64 {
        const YEARS_BEFORE: i64 = 6;
        if self.are_hired_before() { self.days() + YEARS_BEFORE * 365 } else { self.days() }
    }

    /// Returns whether the rows are employees whom persons without a time refer to: any of them may have helped the first customer.
    fn are_hired_before(&self) -> bool {
        let is_hire = |column: &Column| is_like(&plain(&column.name), "hire* *_hire_date employed*");
        let is_early = |&(child, _): &(usize, usize)| {
            let of = &self.context.schema.tables[child];
            child != self.context.table && super::is_person(of) && !super::has_times(of)
        };
        super::is_person(self.table)
            && self.table.columns.iter().any(is_hire)
            && self.context.counted.iter().any(is_early)
    }

    /// Returns how many days before the reference day the times of the table begin.
    fn days(&self) -> i64 {
        let is_migration = self.subject.is_some_and(|subject| subject.names == "migration");
        let is_log = self.kind() == Some(Kind::Log) && !is_migration
            || self.find("http_status status_code http_method", |_| true).is_some();
        days_of(is_log, self.context.rows, self.context.depth)
    }

    /// Returns the turns of one thing, which is lent to one after another: the time from its own first time to the reference
    /// day is divided evenly.
    fn turns(&self, form: Form) -> Option<Turns> {
        let by = self.context.per_parent.filter(|_| self.kind() == Some(Kind::Stay))?;
        let start =
            self.context.parents[by].and_then(|parent| self.start_of(parent).or_else(|| self.change_of(parent)));
        let own = start.and_then(|(time, of)| form.converted(&self.through(by, time), of));
        let day = self.context.day;
        let base = own.or_else(|| form.day_before(day, self.days()))?;
        let last = form.day_before(day, 0)?;
        let died = self.death_of(by).and_then(|(died, of)| form.converted(&died, of));
        let last = died.map_or(last.clone(), |died| format!("coalesce({died}, {last})"));
        let span = form.between(&base, &last)?;
        let by = self.column(by);
        Some(Turns { base, length: format!("({span} / count_in({by}))"), number: format!("number_in({by})") })
    }

    /// Returns when the person that a column refers to died, if the table of persons says so.
    pub(super) fn death_of(&self, by: usize) -> Option<(String, Form)> {
        let of = &self.context.schema.tables[self.context.parents[by]?.table];
        let died = of.columns.iter().filter(|_| super::is_person(of)).find_map(|column| {
            let name = plain(&column.name);
            let (stage, form) = self.time_of_column(of, column)?;
            let is_death = stage == Stage::Deleted && is_like(&name, "*deceased* *died* *death*");
            (is_death && column.generated == Generated::No).then_some((column, form))
        });
        died.map(|(column, form)| (self.through(by, column), form))
    }

    /// Returns the time at which a row has its turn.
    fn time_of_turn(&self, form: Form) -> Option<String> {
        let Turns { base, length, number } = self.turns(form)?;
        // A turn takes the last tenth of its share at most.
        let span = match form.per_second() {
            // Finer steps of these units would not fit an integer.
            Some(units) if units > 1000 => {
                format!("{length} * (10_000 * {number} - 10_000 + int(0, 8899)) / 10_000 + {units} * int(0, 3599)")
            }
            _ => format!("{length} * (1_000_000 * {number} - 1_000_000 + int(0, 899_999)) / 1_000_000"),
        };
        form.plus(&base, &span)
    }

    /// Returns the delay of a stage. A turn ends before the next one begins.
    fn delay(&self, stage: Stage, form: Form) -> Delay {
        let usual = if stage == Stage::Due && self.is_for_years() {
            Delay { amount: "choice(365: 6, 398: 2, 730: 3, 1095: 2)".into(), unit: "days" }
        } else if stage == Stage::Due && super::has_last_word(self.table, "invoice bill") {
            Delay { amount: "choice(14: 2, 30: 7, 60: 1)".into(), unit: "days" }
        } else if stage == Stage::Paid && super::has_last_word(self.table, "invoice bill") {
            Delay { amount: "lognormal(2, 0.8, min=0, max=60, decimals=0)".into(), unit: "days" }
        } else {
            delay(stage, self.kind(), form)
        };
        match self.turns(form).filter(|_| stage == Stage::Ended) {
            Some(Turns { length, .. }) => {
                let (unit, amount) = match (form, form.per_second()) {
                    (Form::Day, _) => ("days", format!("min({}, {length} / 10)", usual.amount)),
                    (_, Some(units)) => ("seconds", format!("min(3600 * {}, {length} / {})", usual.amount, 10 * units)),
                    (_, None) => ("seconds", format!("min(3600 * {}, {length} / 10)", usual.amount)),
                };
                Delay { amount: amount.into(), unit }
            }
            None => usual,
        }
    }

    /// Returns whether the rows are valid for years.
    fn is_for_years(&self) -> bool {
        const LASTING: &str =
            "certificate license licence passport contract warranty domain registration membership policy";
        super::has_last_word(self.table, LASTING)
    }

    /// Returns working days in the order of rows, from a Monday on: the n-th is n days and two more for each weekend later.
    fn working_days(&self) -> String {
        /// 1970-01-05.
        const FIRST_MONDAY: i64 = 4;
        let last = self.context.day.unix() / 86_400;
        let day = last - self.days();
        let monday = day + (FIRST_MONDAY - day).rem_euclid(7);
        let (weeks, rest) = ((last - monday) / 7, (last - monday) % 7);
        let days = (weeks * 5 + rest.min(5)).max(1);
        let number = format!("((sequence() - 1) * {days} / {})", self.context.rows.max(1));
        format!("date_add('{}', {number} + {number} / 5 * 2, 'days')", self.context.day.before(last - monday))
    }

    /// Returns whether the rows are what people meet for.
    fn is_meeting(&self) -> bool {
        let words = super::names::words_of_table(&self.table.name);
        words.iter().any(|word| is_like(word, "appointment meeting consultation lesson lecture seminar"))
    }

    /// Returns a time after those of all parents, if rows do not come in the order of time: consecutive children, and the
    /// only child.
    fn time_of_parents(&self, stage: Stage, form: Form) -> Option<String> {
        let is_leader = |&at: &usize| {
            let is_only =
                self.context.parents[at].is_some() && (self.columns[at].is_unique || self.context.once == Some(at));
            Some(at) == self.context.per_parent || is_only && self.context.per_parent.is_none()
        };
        let leader = (0..self.columns.len()).find(is_leader)?;
        let after_leader = self.time_of_turn(form).or_else(|| self.time_of_parent(leader, stage, form));
        // Only the rows of a table of pairs are in no order of time if their leader has none.
        let is_pair =
            |key: Vec<usize>| key.contains(&leader) && key.iter().all(|&at| self.context.parents[at].is_some());
        if after_leader.is_none() && !super::unique_keys(self.table).any(is_pair) {
            return None;
        }
        // A line comes with its order.
        let is_line = self.kind() == Some(Kind::Line);
        // Turns remain in their order if they wait for the same person.
        let turns = self.turns(form).filter(|_| form != Form::Day);
        let in_order = |time: String| match &turns {
            Some(Turns { number, .. }) => form.plus(&time, number),
            None => Some(time),
        };
        let others = (0..self.columns.len())
            .filter(|&at| at != leader && !is_line)
            .filter_map(|at| in_order(self.time_of_parent(at, stage, form)?));
        let times: Vec<String> = after_leader.into_iter().chain(others).collect();
        match times.as_slice() {
            [] => None,
            [time] => Some(time.clone()),
            times => Some(format!("max({})", times.join(", "))),
        }
    }

    /// Returns a time in the order of rows, but not before rows that need not be in the order of time: the group of the row, or
    /// what a customer bought.
    fn time_in_group(&self, ascending: &str, form: Form) -> Option<String> {
        let starts = self.context.via.iter().filter_map(|&by| {
            let (time, of) = self.start_of(self.context.parents[by]?)?;
            form.converted(&self.through(by, time), of)
        });
        let starts: Vec<String> = starts.collect();
        let ascending = self.after_delivery(ascending, form);
        (!starts.is_empty()).then(|| format!("max({ascending}, {})", starts.join(", ")))
    }

    /// Returns a time after that of the parent's row.
    fn time_of_parent(&self, by: usize, stage: Stage, form: Form) -> Option<String> {
        // A row came after the rows to which it refers.
        let parent = self.context.parents[by].filter(|_| !self.context.shared.contains(&by))?;
        let of = &self.context.schema.tables[parent.table];
        let (time, of_form) = self.start_of(parent)?;
        let mut base = self.through(by, time);
        if self.kind() == Some(Kind::Payment) {
            let paid = of.columns.iter().find(|column| {
                let found = self.time_of_column(of, column);
                found == Some((Stage::Paid, of_form)) && column.generated == Generated::No
            });
            base = paid.map_or(base.clone(), |paid| format!("coalesce({}, {base})", self.through(by, paid)));
        }
        if let Some(within) = self.time_within(by, &base, (of, of_form)).and_then(|time| form.converted(&time, of_form))
        {
            return Some(within);
        }
        let is_order = kind_of(of) == Some(Kind::Order);
        let is_attached = super::is_attached_to(self.table, of);
        let is_output = super::is_output_of(self.table, of);
        if is_output {
            let end = of.columns.iter().find(|column| {
                let found = self.time_of_column(of, column);
                found == Some((Stage::Ended, of_form)) && column.generated == Generated::No
            });
            base = end.map_or(base.clone(), |end| format!("coalesce({}, {base})", self.through(by, end)));
        }
        let of = |amount: &str, unit| Delay { amount: amount.to_owned().into(), unit };
        let delay = match self.kind() {
            Some(Kind::Line) if is_order && matches!(stage, Stage::Ended | Stage::Delivered) => {
                of("int(1, 20)", "days")
            }
            Some(Kind::Line) if is_order => of("0", "seconds"),
            Some(Kind::Payment) => of("int(0, 90)", "seconds"),
            _ if is_output => of("int(1, 120)", "seconds"),
            _ if self.commit() == Some(by) => {
                of(&format!("60 * number_in({}) - int(0, 59)", self.column(by)), "seconds")
            }
            Some(Kind::Run | Kind::Log) => of("int(0, 240)", "seconds"),
            Some(Kind::Stay) => of("int(0, 400)", "hours"),
            _ if super::relatives::is_edit(self.table) => of("int(1, 240)", "minutes"),
            // A user comes with the account.
            _ if self.context.once == Some(by) && super::is_person(self.table) => of("int(0, 5)", "seconds"),
            _ if is_attached => of("int(0, 40)", "seconds"),
            _ if super::is_reaction(self.table) => of("exponential(0.004, max=9000, decimals=0)", "minutes"),
            _ if form == Form::Day => of("exponential(0.02, max=700, decimals=0)", "days"),
            _ => of("exponential(0.001, max=16000, decimals=0) * 60 + int(0, 59)", "minutes"),
        };
        let time = form.after(&base, of_form, delay, Some(self.context.day))?;
        Some(self.before_end_of_text(by, form, &time).unwrap_or(time))
    }

    /// Returns the time of an edit, which comes before the text goes away.
    fn before_end_of_text(&self, by: usize, form: Form, time: &str) -> Option<String> {
        let of = &self.context.schema.tables[self.context.parents[by]?.table];
        let is_end = |column: &&Column| self.time_of_column(of, column) == Some((Stage::Due, form));
        let end = of.columns.iter().filter(|_| super::relatives::is_edit(self.table)).find(is_end)?;
        let minutes = format!("{} * number_in({})", 60 * form.per_second()?, self.column(by));
        let end = self.through(by, end);
        (self.context.per_parent == Some(by)).then(|| format!("min({time}, coalesce({end} - {minutes}, {time}))"))
    }

    /// Returns a time between the start and the end of a visit, of which the rows are the actions.
    fn time_within(&self, by: usize, start: &str, (of, form): (&Table, Form)) -> Option<String> {
        let is_end = |column: &&Column| {
            let is_known = column.not_null && column.generated == Generated::No;
            let found = self.time_of_column(of, column);
            let is_last = is_like(&plain(&column.name), "*last_action*");
            is_known && found.is_some_and(|(stage, of)| of == form && (stage == Stage::Ended || is_last))
        };
        let end = of.columns.iter().filter(|_| self.kind() == Some(Kind::Log)).find(is_end)?;
        // The actions of a visit come one after another, the last one at its end.
        let is_turn = self.context.per_parent == Some(by) && is_action_of(self.table, of);
        let by_number = self.column(by);
        let share = match is_turn {
            true => format!("(number_in({by_number}) - 1) / max(1, count_in({by_number}) - 1)"),
            false => "int(0, 999) / 1000".to_owned(),
        };
        let span = format!("{} * {share}", form.between(start, &self.through(by, end))?);
        let time = form.plus(start, &span)?;
        match form {
            Form::Text => Some(time),
            Form::Unix(_) | Form::Since1601 => Some(format!("({time})")),
            Form::Day | Form::Julian => None,
        }
    }

    /// Returns the time of the last change of a parent's rows, if that is the only one that they have.
    fn change_of(&self, parent: Parent) -> Option<(&Column, Form)> {
        let of = &self.context.schema.tables[parent.table];
        let mut times = of.columns.iter().filter_map(|column| {
            let (stage, form) = self.time_of_column(of, column)?;
            Some((column, form)).filter(|_| stage == Stage::Updated && column.generated == Generated::No)
        });
        times.next().filter(|_| times.next().is_none())
    }

    /// Returns the first time of a parent's rows that is always known; where runs have parts, the time at which they start.
    pub(super) fn start_of(&self, parent: Parent) -> Option<(&Column, Form)> {
        let of = &self.context.schema.tables[parent.table];
        let times = of.columns.iter().filter_map(|column| {
            let (stage, form) = self.time_of_column(of, column)?;
            let is_start = matches!(stage, Stage::Created | Stage::Queued | Stage::Started);
            let is_known = column.generated == Generated::No && rules::null_share(&plain(&column.name)).is_none();
            (is_start && is_known).then_some((stage, column, form))
        });
        let latest = self.kind() == Some(Kind::Run);
        let is_better = |one: Stage, other: Stage| if latest { one > other } else { one < other };
        let time = times.reduce(|kept, next| if is_better(next.0, kept.0) { next } else { kept });
        time.map(|(_, column, form)| (column, form))
    }

    /// Times that a token or a state excludes: an order that is pending has no time of delivery.
    pub(super) fn states(&mut self) {
        const DONE: &str = "'completed', 'complete', 'done', 'closed', 'shipped', 'delivered', 'returned'";
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
        for at in 0..self.columns.len() {
            let Some(prefix) = self.columns[at].full.strip_suffix("_sent_at").map(str::to_owned) else { continue };
            let token = self.find(&format!("{prefix}_token"), |token| self.is_text(token));
            let Some((token, found)) = token.map(|token| self.column(token)).zip(self.found[at].clone()) else {
                continue;
            };
            if !self.columns[at].not_null {
                let text = format!("if({token} IS NULL, NULL, {})", found.text);
                self.found[at] = Some(Inference { text, because: "follows from the token".to_owned() });
            }
        }
        let is_state = |at: usize| self.is_text(at) && !self.columns[at].is_unique;
        let Some(state) = self.find("status state order_status", is_state) else {
            self.unfinished_rows();
            return;
        };
        let is_order = self.kind() == Some(Kind::Order);
        for at in 0..self.columns.len() {
            if self.columns[at].not_null || !self.is_open_time(at) {
                continue;
            }
            let Some((names, is_in, states)) = KNOWN.iter().find(|(names, ..)| self.is_like(at, names)) else {
                continue;
            };
            // A build that failed has ended, and an order that was cancelled was never completed.
            let states = if is_order && names.starts_with("*closed*") { DONE } else { states };
            if !self.has_word(state, states) {
                continue;
            }
            let state = self.column(state);
            let Some(found) = &mut self.found[at] else { continue };
            let not = if *is_in { "" } else { "NOT " };
            found.text = format!("if({state} {not}IN ({states}), {})", found.text);
            found.because = format!("{}, and the state", found.because);
        }
    }

    /// Leaves out the end of some young rows that have no state: no parcel waits for years.
    fn unfinished_rows(&mut self) {
        const ENDS: &str =
            "*shipped* *ship_date *dispatched* *delivered* *arrived* paid_at paid_on paid_date payment_date *return*";
        const DAYS: i64 = 30;
        let may_wait = matches!(self.kind(), Some(Kind::Order | Kind::Stay));
        let Some(is_young) = self.is_young(DAYS).filter(|_| may_wait) else { return };
        for at in 0..self.columns.len() {
            let is_end = self.is_open_time(at) && !self.columns[at].not_null && self.is_like(at, ENDS);
            if let Some(found) = self.found[at].as_mut().filter(|_| is_end) {
                found.text = format!("if({is_young} AND bool(0.5), NULL, {})", found.text);
                found.because = format!("follows from how young the row is, {}", found.because);
            }
        }
    }

    fn is_open_time(&self, at: usize) -> bool {
        self.columns[at].is_open && self.is_time(at)
    }

    pub(super) fn is_time(&self, at: usize) -> bool {
        self.time_at(at).is_some()
    }
}
