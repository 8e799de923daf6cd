//! The times of a row in their order, and what follows from them.

use super::flash_cards::has_grade;
use super::names::{is_like, plain};
use super::subjects::Kind;
use super::table_columns::called;
use super::times::{Delay, Form, Stage, delay};
use super::{Inference, TableInference, TypeClass, kind_of, unique};
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
pub(super) struct Turns {
    /// The time at which the first turn begins.
    base: String,
    /// The length of a turn, in the unit of the times: days, seconds or parts of a second.
    length: String,
    /// The number of the row's turn.
    pub(super) number: String,
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

/// Returns whether the rows of a table are rentals of things, each of which begins and ends at a time of day.
pub(crate) fn is_lent(table: &Table, thing: &Table) -> bool {
    let is_end = |column: &Column| {
        is_like(&plain(&column.name), "*return*") && !column.declared_type.eq_ignore_ascii_case("DATE")
    };
    super::is_stay(table) && !super::is_person(thing) && table.columns.iter().any(is_end)
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
        self.set(anchor, self.as_written(anchor, form, text), "a time, in the order of rows");
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
                let text = self.by_day(stage, (base, of), form, text);
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

    /// Ends the rental of a thing before the next one begins.
    fn ends_before_next(&mut self, times: &[(Stage, usize, Form)]) {
        const SECONDS: i64 = 3600;
        let find = |wanted: Stage| times.iter().find(|(stage, ..)| *stage == wanted).copied();
        let Some(end) = find(Stage::Ended) else { return };
        let start = find(Stage::Started).or_else(|| find(Stage::Created)).filter(|(.., form)| *form == end.2);
        let Some((start, thing)) = start.zip(self.lent_thing()) else { return };
        let next = format!("next_of({}, {})", self.column(thing), self.column(start.1));
        let before = match end.2 {
            Form::Text => format!("date_add({next}, -{SECONDS}, 'seconds')"),
            Form::Unix(units) => format!("{next} - {}", SECONDS * units),
            _ => return,
        };
        if let Some(found) = self.found[end.1].clone() {
            let start = self.column(start.1);
            let own = called(&found.text);
            let text = format!("min({own}, coalesce(max({start}, {before}), {own}))");
            self.set(end.1, text, &found.because);
        }
    }

    /// Returns the column that refers to the thing that is lent to one after another, if the rows are in the order of time.
    fn lent_thing(&self) -> Option<usize> {
        let is_thing = |&by: &usize| {
            let thing = self.context.parents[by].map(|parent| &self.context.schema.tables[parent.table]);
            thing.is_some_and(|thing| is_lent(self.table, thing))
        };
        (0..self.columns.len()).find(is_thing).filter(|_| self.context.per_parent.is_none())
    }

    /// Returns the first time of a row as the column has it: people begin to work on a day, and some seconds have fractions.
    fn as_written(&self, at: usize, form: Form, text: String) -> String {
        match form {
            Form::Text if self.is_like(at, "*hire* *employ*") => format!("substr({text}, 1, 10) || ' 00:00:00'"),
            _ if self.columns[at].traits.class == TypeClass::Real => with_fractions(text),
            _ => text,
        }
    }

    /// Returns the time at which an order leaves the house or arrives: by day, some days after the time in `base`, or as `late` says
    /// if that may be after the reference day. It is wanted by a day.
    fn by_day(&self, stage: Stage, (base, of): (usize, Form), form: Form, late: String) -> String {
        const LONGEST: i64 = 9;
        if stage == Stage::Due && form == Form::Text && self.kind() == Some(Kind::Order) {
            return format!("substr({late}, 1, 10) || ' 00:00:00'");
        }
        let days = match stage {
            Stage::Ended => "int(1, 7)",
            Stage::Delivered => "int(1, 5)",
            _ => return late,
        };
        let base = self.column(base);
        let last = form.day_before(self.context.day, LONGEST);
        let (Some(last), true) = (last, of == form && self.kind() == Some(Kind::Order)) else { return late };
        let seconds = format!("86400 * {days} + int(27_000, 68_400)");
        let time = match form {
            Form::Text => format!("date_add(substr({base}, 1, 10) || ' 00:00:00', {seconds}, 'seconds')"),
            Form::Unix(units) => format!("{base} - {base} % {} + {units} * ({seconds})", 86_400 * units),
            _ => return late,
        };
        format!("if({base} < {last}, {time}, {late})")
    }

    /// Ends the sign-ins of people whose account is suspended.
    pub(super) fn sign_ins_of_suspended(&mut self) {
        const NAMES: &str = "current_sign_in_at last_login last_login_at";
        let Some(at) = self.find(NAMES, |at| self.found[at].is_some()) else { return };
        let form = self.time_at(at).map(|(_, form)| form);
        let ended = (0..self.columns.len()).find_map(|by| {
            let of = &self.context.schema.tables[self.context.parents[by]?.table];
            let mut columns =
                of.columns.iter().filter(|column| is_like(&plain(&column.name), "suspended_at banned_at"));
            let ended = columns.find(|column| self.time_of_column(of, column).map(|(_, form)| form) == form)?;
            Some(self.through(by, ended))
        });
        let Some(ended) = ended else { return };
        let before = self.find("last_sign_in_at", |before| before != at && self.found[before].is_some());
        let before =
            before.filter(|&before| form == Some(Form::Text) && self.time_at(before).map(|(_, of)| of) == form);
        let sooner = format!("date_add({ended}, int(-400, -2), 'hours')");
        for (at, last) in before.map(|at| (at, sooner)).into_iter().chain([(at, ended)]) {
            if let Some(found) = self.found[at].clone() {
                let own = called(&found.text);
                self.set(at, format!("min({own}, coalesce({last}, {own}))"), &found.because);
            }
        }
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

    /// Returns times that ascend with the row number, at the hours at which people do something. Times of few rows are almost even: a
    /// late one would come after that of the row's child.
    pub(super) fn ascending(&self, form: Form, from: &str) -> String {
        const FEW: u64 = 64;
        const IN_OFFICE: &str = ", open='08:00', close='18:00'";
        const OFFICE: &str = "invoice bill payroll payslip contract";
        const FIRST_DAYS: i64 = 10;
        const DAYS_OF_STAYS: i64 = 90;
        let to = match self.context.is_lookup {
            true => (self.days() - FIRST_DAYS).max(0),
            // Several stays of a person take their time.
            false if self.have_stays() => DAYS_OF_STAYS,
            false if self.are_hired_before() => self.days(),
            false => 0,
        };
        let to = self.context.day.before(to);
        let jitter = if self.context.rows < FEW { 0.02 } else { 0.9 };
        let hours = match self.kind() {
            Some(Kind::Log) if super::catalogues::is_admin_log(self.table) => IN_OFFICE,
            Some(Kind::Log | Kind::Run) => "",
            _ if super::has_last_word(self.table, OFFICE) => IN_OFFICE,
            _ => ", open='06:30', close='23:30'",
        };
        form.ascending(from, &format!("'{to}', jitter={jitter}{hours}"))
    }

    /// Returns whether the rows are persons, each of whom stays somewhere from time to time.
    fn have_stays(&self) -> bool {
        let is_stay = |&(child, _): &(usize, usize)| super::is_stay(&self.context.schema.tables[child]);
        super::is_person(self.table) && self.context.counted.iter().any(is_stay)
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
        self.ends_before_next(times);
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
    pub(super) fn first_day(&self) -> i64 {
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
    pub(super) fn days(&self) -> i64 {
        let is_migration = self.subject.is_some_and(|subject| subject.names == "migration");
        let is_log = self.kind() == Some(Kind::Log) && !is_migration
            || self.find("http_status status_code http_method", |_| true).is_some();
        days_of(is_log, self.context.rows, self.context.depth)
    }

    /// Returns the turns of one thing, which is lent to one after another: the time from its own first time to the reference
    /// day is divided evenly.
    pub(super) fn turns(&self, form: Form) -> Option<Turns> {
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
    pub(super) fn time_of_turn(&self, form: Form) -> Option<String> {
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
        let usual = if stage == Stage::Updated && super::is_reaction(self.table) {
            Delay { amount: "0".into(), unit: "seconds" }
        } else if stage == Stage::Due && super::has_last_word(self.table, "certificate") {
            Delay { amount: "choice(365: 6, 398: 4)".into(), unit: "days" }
        } else if stage == Stage::Due && self.is_for_years() {
            Delay { amount: "choice(365: 6, 730: 3, 1095: 2)".into(), unit: "days" }
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
                    (_, Some(units)) => {
                        ("seconds", format!("min(3600 * {} + int(0, 3599), {length} / {})", usual.amount, 10 * units))
                    }
                    (_, None) => ("seconds", format!("min(3600 * {} + int(0, 3599), {length} / 10)", usual.amount)),
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
        let is_last = self.lent_thing().zip(self.table.rowid_alias).map(|(thing, key)| (self.column(thing), key));
        let is_last = is_last
            .map_or(String::new(), |(thing, key)| format!(" AND next_of({thing}, {}) IS NULL", self.column(key)));
        for at in 0..self.columns.len() {
            let is_end = self.is_open_time(at) && !self.columns[at].not_null && self.is_like(at, ENDS);
            if let Some(found) = self.found[at].as_mut().filter(|_| is_end) {
                found.text = format!("if({is_young}{is_last} AND bool(0.5), NULL, {})", found.text);
                found.because = format!("follows from how young the row is, {}", found.because);
            }
        }
    }

    pub(super) fn is_open_time(&self, at: usize) -> bool {
        self.columns[at].is_open && self.is_time(at)
    }

    pub(super) fn is_time(&self, at: usize) -> bool {
        self.time_at(at).is_some()
    }
}
