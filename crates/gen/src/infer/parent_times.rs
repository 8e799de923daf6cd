//! Times that follow those of the rows that a row refers to.

use super::amounts::named_column;
use super::names::{is_like, plain};
use super::relatives::is_action_of;
use super::row_times::Turns;
use super::rules;
use super::subjects::Kind;
use super::times::{Delay, Form, Stage};
use super::{Parent, TableInference, kind_of};
use litepress_rows::schema::{Column, Generated, Table};

impl TableInference<'_> {
    /// Returns a time after those of all parents, if rows do not come in the order of time: consecutive children, and the
    /// only child.
    pub(super) fn time_of_parents(&self, stage: Stage, form: Form) -> Option<String> {
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
    pub(super) fn time_in_group(&self, ascending: &str, form: Form) -> Option<String> {
        let starts = self.context.via.iter().filter_map(|&by| {
            let (time, of) = self.start_of(self.context.parents[by]?)?;
            form.converted(&self.through(by, time), of)
        });
        // The visit for which an invoice is.
        let halfway = self.context.halfway.iter().filter_map(|&table| {
            let (time, of) = self.start_of(Parent { table, column: 0, key: 0 })?;
            let visits = &self.context.schema.tables[table];
            form.converted(&named_column(visits, visits.column(&time.name)?), of)
        });
        let starts: Vec<String> = starts.chain(halfway).collect();
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
            // The files of a run are there when it ends.
            _ if is_output => of("0", "seconds"),
            _ if super::has_last_word(self.table, "membership member participant subscription subscriber") => {
                of("exponential(0.02, max=900, decimals=0)", "minutes")
            }
            // The first run starts with the commit, and others start by hand or by a plan.
            _ if self.commit() == Some(by) => {
                of(&format!("7200 * number_in({}) - 7140 - int(0, 59)", self.column(by)), "seconds")
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
            true => super::traffic::share_of_visit(&by_number, 0),
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
    pub(super) fn change_of(&self, parent: Parent) -> Option<(&Column, Form)> {
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
}
