//! Parts of a run: the jobs of a pipeline end as it does, and run while it does.

use super::subjects::Kind;
use super::table_columns::called;
use super::times::{Form, Stage};
use super::{ColumnTraits, TableInference, branches, is_output_of, is_run_of_commit, kind_of, plain, subject_of};
use crate::generators::phrases;
use litepress_rows::schema::{Column, Generated, Table};

const STATES: &str = "status state conclusion result";
/// Seconds that a run takes that has not ended.
const SECONDS: i64 = 600;

/// The times at which a run starts and ends, as operands.
struct Span {
    start: String,
    end: String,
    form: Form,
}

/// Returns the items of a list in turn for the rows that refer to one row, from any of the items on.
fn in_turn(list: &str, by: &str) -> String {
    let items = phrases::items(list);
    let cases = branches(0, items.iter().map(|item| format!("phrase('{item}')")));
    format!("CASE (number_in({by}) + same_in({by}, int(1, {0}))) % {0}{cases} END", items.len())
}

impl TableInference<'_> {
    /// Returns the column that refers to the run whose parts the rows are, and the table of runs.
    fn run(&self) -> Option<(usize, &Table)> {
        let by = self.context.per_parent.filter(|_| self.kind() == Some(Kind::Run))?;
        let of = &self.context.schema.tables[self.context.parents[by]?.table];
        (kind_of(of) == Some(Kind::Run)).then_some((by, of))
    }

    /// Infers the states of a run's parts: the last one ends as the run does, and the others before it succeed.
    pub(super) fn states_of_runs(&mut self) {
        const ALIKE: &str = "'success', 'succeeded', 'passed', 'completed', 'queued', 'pending', 'created', 'skipped'";
        let Some((by, of)) = self.run().filter(|(_, of)| !of.has_check && !self.table.has_check) else { return };
        let is_state = |column: &&Column| {
            let is_text = !ColumnTraits::new(column).is_number() && column.generated == Generated::No;
            is_text && column.not_null && STATES.split(' ').any(|name| plain(&column.name) == name)
        };
        let Some(state) = of.columns.iter().find(is_state).map(|column| self.through(by, column)) else { return };
        let Some(own) = self.find_repeatable_text(STATES) else { return };
        if !self.alone(own).text.contains("'success'") {
            return;
        }
        let by = self.column(by);
        let text = format!("if({state} IN ({ALIKE}) OR number_in({by}) = count_in({by}), {state}, 'success')");
        self.set(own, text, "follows from the state of the whole run");
    }

    /// Returns the column that refers to the commit that starts a run.
    pub(super) fn commit(&self) -> Option<usize> {
        let by = self.context.per_parent?;
        let of = &self.context.schema.tables[self.context.parents[by]?.table];
        is_run_of_commit(self.table, of).then_some(by)
    }

    /// Infers the branch of a run: all runs of a commit are on one.
    pub(super) fn branches(&mut self) {
        let Some(by) = self.commit().map(|by| self.column(by)) else { return };
        let branch = self.find_repeatable_text("branch branch_name ref git_ref");
        let default = (0..self.columns.len()).find_map(|by| self.text_of_parent(by, "default_branch"));
        if let Some(at) = self
            .find_repeatable_text("trigger triggered_by trigger_event source event")
            .filter(|_| !self.table.has_check)
        {
            let usual = "choice('schedule': 5, 'manual': 3, 'api': 1)";
            // A schedule is for the default branch.
            let others = match branch.zip(default.as_ref()) {
                Some((branch, default)) => {
                    format!("if({} = {default}, {usual}, choice('manual': 8, 'api': 2))", self.column(branch))
                }
                None => usual.to_owned(),
            };
            self.set(at, format!("if(number_in({by}) = 1, 'push', {others})"), "the first run starts with the commit");
        }
        let Some(at) = branch else { return };
        let text = match default {
            Some(default) => {
                format!("if(same_in({by}, int(1, 5)) < 3, {default}, same_in({by}, phrase('{{topic_branch}}')))")
            }
            None => format!("same_in({by}, {})", called(&self.alone(at).text)),
        };
        self.set(at, text, "the branch of the commit");
    }

    /// Infers the names of a run's jobs, which build, test and deploy in this order, and the machines that suit them.
    pub(super) fn names_of_jobs(&mut self) {
        let Some(name) = self.find_repeatable_text("name job_name") else { return };
        if let Some((by, _)) = self.run() {
            let by = self.column(by);
            let [first, second] = ["ci_job_first", "ci_job_second"].map(|list| in_turn(list, &by));
            let last = match self.run().and_then(|(by, _)| self.text_of_parent(by, "branch")) {
                Some(branch) => format!(
                    "if(substr({branch}, 1, 4) IN ('main', 'mast', 'rele'), 'deploy-production', 'deploy-staging')"
                ),
                None => "phrase('{ci_job_last}')".to_owned(),
            };
            let text = format!(
                "CASE WHEN 3 * number_in({by}) < count_in({by}) + 3 THEN {first} \
                 WHEN number_in({by}) < count_in({by}) OR count_in({by}) = 2 THEN {second} ELSE {last} END"
            );
            self.set(name, text, "the jobs of a run build, test and deploy in this order");
        }
        let Some(runner) = self.find_repeatable_text("runner runner_name") else { return };
        let name = self.column(name);
        let platform = format!("replace(substr({name}, instr({name}, '(') + 1), ')', '')");
        let text = format!("if(instr({name}, '(') > 0, {platform} || '-' || int(1, 12), 'runner-' || int(1, 40))");
        self.set(runner, text, "suits the platform of the job");
    }

    /// Returns the names of files that a job makes, by the first letters of its name: results of tests, or a package.
    pub(super) fn file_of_job(&self) -> Option<String> {
        const JOBS: [&str; 6] = ["test", "coverage", "docs", "lint", "benchmark", "deploy"];
        let by = (0..self.columns.len()).find(|&by| {
            let of = self.context.parents[by].map(|parent| &self.context.schema.tables[parent.table]);
            let subject = of.filter(|of| is_output_of(self.table, of)).and_then(subject_of);
            subject.is_some_and(|subject| subject.names == "ci_job")
        })?;
        let own = self.column(by);
        let file = |list: &str| match self.context.per_parent == Some(by) {
            true => in_turn(list, &own),
            false => format!("phrase('{{{list}}}')"),
        };
        let case = |job: &str| format!("WHEN '{}' THEN {} ", &job[..4], file(&format!("{job}_file")));
        let name = self.text_of_parent(by, "name")?;
        let package = match self.text_of_parent(by, "status") {
            // Who builds nothing has nothing to pack.
            Some(status) => format!(
                "if({status} IN ('failed', 'failure', 'error'), {}, {})",
                file("failed_build_file"),
                file("package_file")
            ),
            None => file("package_file"),
        };
        Some(format!("CASE substr({name}, 1, 4) {}ELSE {package} END", JOBS.map(case).concat()))
    }

    /// Returns the time of a part of a run at a stage. The parts follow one another, and the last one ends with the run.
    pub(super) fn time_of_part(&self, stage: Stage, form: Form) -> Option<String> {
        let number = match stage {
            Stage::Created | Stage::Queued | Stage::Started => "- 1",
            Stage::Ended => "+ 0",
            _ => return None,
        };
        let Span { start, end, form: of } = self.span_of_run()?;
        let by = self.column(self.run()?.0);
        if !matches!(of, Form::Text | Form::Unix(1)) {
            return None;
        }
        let seconds = of.between(&start, &end)?;
        // Parts begin up to seven eighths of an even share late. The first begins with the run, and the last ends with it.
        let (seconds, count) = (format!("coalesce({seconds}, {SECONDS})"), format!("count_in({by})"));
        let done = format!("(number_in({by}) {number})");
        let late = format!("min(1, {done} * ({count} - {done})) * (({seconds} + {done} * 5) % 8)");
        let part = format!("{seconds} * (8 * {done} + {late}) / (8 * {count})");
        form.converted(&format!("({})", of.plus(&start, &part)?), of)
    }

    /// Returns the start of a run, or the latest time before it that is always known, and its end.
    fn span_of_run(&self) -> Option<Span> {
        let (by, of) = self.run()?;
        let times: Vec<(Stage, Form, &Column)> = of
            .columns
            .iter()
            .filter(|column| column.generated == Generated::No)
            .filter_map(|column| {
                let (stage, form) = self.time_of_column(of, column)?;
                Some((stage, form, column))
            })
            .collect();
        let find = |stages: &[Stage]| times.iter().find(|(stage, ..)| stages.contains(stage));
        let (_, form, end) = *find(&[Stage::Ended])?;
        let start = find(&[Stage::Started]);
        let known = find(&[Stage::Queued, Stage::Created]).filter(|(_, _, column)| column.not_null);
        let same = |time: &&(Stage, Form, &Column)| time.1 == form;
        let names: Vec<String> =
            [start, known].into_iter().flatten().filter(same).map(|(_, _, column)| self.through(by, column)).collect();
        let start = match &names[..] {
            [] => return None,
            [only] => only.clone(),
            _ => format!("coalesce({})", names.join(", ")),
        };
        Some(Span { start, end: self.through(by, end), form })
    }
}
