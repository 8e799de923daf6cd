//! Tables by which programs keep themselves up: sessions, migrations, and the tenant that rows belong to.

use super::catalogues::OF_FRAMEWORK;
use super::names::is_like;
use super::subjects::{Kind, Subject, subject};
use super::table_columns::called;
use super::times::{Form, Stage};
use super::{TableInference, branches, literal, plain};
use crate::generators::phrases;
use litepress_rows::schema::Table;

const MIGRATION_ERRORS: &str = "choice('database is locked': 5, 'disk I/O error', 'database or disk is full': 2)";
const TENANTS: &str = "org_id organization_id organisation_id tenant_id site_id workspace_id realm_id instance_id";

/// Returns the names of things of any model; a thing without a name, or one of `others`, is called `Order object (17)`.
fn things_by_model(model: &str, key: &str, others: &[String]) -> String {
    let case = |name: &&str| {
        let Subject { names, kind } = subject(name)?;
        let is_named = matches!(kind, Kind::Person | Kind::Product)
            || ["category", "role", "group", "topic", "article_title"].contains(&names);
        let is_named = is_named && !others.iter().any(|other| other == name);
        is_named.then(|| format!(" WHEN '{name}' THEN phrase('{{{names}}}')"))
    };
    let cases: String = phrases::items("model").iter().filter_map(case).collect();
    let class = format!("upper(substr({model}, 1, 1)) || substr({model}, 2)");
    format!("CASE coalesce({model}, 'product'){cases} ELSE {class} || ' object (' || {key} || ')' END")
}

/// Returns migrations that make tables and add three columns to each of them. Each fourth row makes a table, and the other rows
/// change tables of earlier rows.
fn migration_of_table() -> String {
    const COLUMNS: &str = "WHEN 0 THEN choice('created_by', 'updated_by', 'description', 'language') WHEN 1 THEN choice('uid', 'slug', 'source') ELSE choice('note', 'status', 'color')";
    let number = "(sequence() - 1)";
    let is_new = format!("{number} % 4 = 3 OR {number} < 4");
    format!(
        "if({is_new}, 'create table ', 'alter table ') || unique_phrase('{{migration_table}}', '_', each=4) \
         || if({is_new}, '', ' add column ' || CASE {number} % 4 {COLUMNS} END)"
    )
}

/// Returns a choice of the columns of a table that people change, if there are any.
fn fields_of(table: &Table) -> Option<String> {
    const OTHERS: &str = "id *_id *password* *last_login *_at *created* *joined* *updated*";
    let names = table.columns.iter().map(|column| plain(&column.name)).filter(|name| !is_like(name, OTHERS));
    let of_group = super::has_last_word(table, "group").then(|| literal("permissions"));
    let names: Vec<String> = names.map(|name| literal(&name.replace('_', " "))).chain(of_group).collect();
    (!names.is_empty()).then(|| format!("choice({})", names.join(", ")))
}

impl TableInference<'_> {
    pub(super) fn upkeep(&mut self) {
        self.sessions();
        self.versions();
        self.migrations();
        self.tenants();
        self.alerts();
        self.admin_log();
        self.audits();
        self.queued_jobs();
    }

    /// Returns whether a text is a key that says nothing: it is none of a setting, a feature or a text.
    pub(super) fn is_opaque_key(&self, at: usize) -> bool {
        let is_setting = self.subject.is_some_and(|subject| subject.names == "setting_key")
            || self
                .find("value *_value val *enabled text translation name label title description", |_| true)
                .is_some();
        let fits = self.is_text(at) && self.columns[at].traits.takes_len(32);
        fits && (self.is_like(at, "*_unique_key") || self.columns[at].full == "key" && !is_setting)
    }

    /// Ends of sessions and shares: those that ended long ago are gone. Checks happened of late.
    fn sessions(&mut self) {
        let is_brief = super::has_last_word(self.table, "session token share invitation");
        for at in 0..self.columns.len() {
            let Some((stage, form)) = self.time_at(at).filter(|_| self.found[at].is_some()) else { continue };
            let seconds = match stage {
                Stage::Due if is_brief => "int(-3000, 2_592_000)",
                Stage::LastSeen if self.is_like(at, "*checked*") => "int(-900_000, -60)",
                _ => continue,
            };
            let others = (0..self.columns.len()).any(|other| other != at && self.is_time(other));
            let day = self.context.day;
            let text = match form {
                Form::Text => format!("date_add('{} 00:00:00', {seconds}, 'seconds')", day.before(0)),
                Form::Unix(units) => format!("{units} * ({} + {seconds})", day.unix()),
                Form::Day | Form::Julian | Form::Since1601 => continue,
            };
            if !others {
                self.set(at, text, "follows from what is not over yet");
            }
        }
    }

    /// Versions of the program, one after another, and of a row, which is the first one until it changes.
    fn versions(&mut self) {
        let time = |wanted: Stage| {
            let at = (0..self.columns.len()).find(|&at| self.time_at(at).is_some_and(|(stage, _)| stage == wanted))?;
            Some((self.column(at), self.time_at(at)?.1))
        };
        let times = time(Stage::Created).zip(time(Stage::Updated)).filter(|((_, one), (_, other))| one == other);
        if let (Some(((created, _), (updated, _))), Some(at)) =
            (times, self.find_repeatable_number("version lock_version revision"))
        {
            let text = format!("if({updated} > {created}, choice(2: 5, 3: 3, 4: 2, 5, 7), 1)");
            self.set(at, text, "follows from whether the row has changed");
        }
        let is_history = super::has_last_word(self.table, "version") && self.columns.len() == 2;
        let version = self.find_repeatable_number("version").filter(|_| is_history && self.table.rowid_alias.is_some());
        if let Some(at) = version {
            self.set(at, "sequence", "one version after another");
        }
    }

    /// Versions of migrations: the times at which they were written.
    pub(super) fn versions_of_migrations(&mut self) {
        const MOST_ROWS: u64 = 10_000_000;
        let version = self.find_text("version").filter(|_| super::has_last_word(self.table, "migration"));
        let is_time = |&at: &usize| self.columns[at].is_unique && self.columns[at].traits.takes_len(14);
        if let Some(at) = version.filter(is_time).filter(|_| self.context.rows <= MOST_ROWS) {
            let time = self.ascending(Form::Text, &self.context.day.before(self.days()));
            let text = format!("replace(replace(replace({time}, '-', ''), ':', ''), ' ', '')");
            self.set(at, text, "the time of a migration");
        }
    }

    /// Statements of migrations, as their names say, and errors of those that failed.
    fn migrations(&mut self) {
        let success = self.find("success succeeded is_success", |at| self.is_number(at));
        let error = self.find_repeatable_text("error error_message");
        if let Some((success, error)) = success.zip(error) {
            let none = if self.columns[error].not_null { "''" } else { "NULL" };
            let is_migration = self.subject.is_some_and(|subject| subject.names == "migration");
            let message = if is_migration { MIGRATION_ERRORS } else { "phrase('{error_message}')" };
            let text = format!("if({}, {none}, {message})", self.column(success));
            self.set(error, text, "follows from the success");
        }
        if self.subject.is_none_or(|subject| subject.names != "migration") {
            return;
        }
        if let Some(at) = success.filter(|&at| self.is_free(at)) {
            self.set(at, "bool(0.99)", "a flag");
        }
        let Some(name) =
            self.find_text("migration_id migration name").filter(|&at| self.columns[at].traits.takes_len(60))
        else {
            return;
        };
        if let Some(app) = self.find_repeatable_text("app").filter(|_| !self.columns[name].is_unique) {
            self.migrations_of_apps(app, name);
            return;
        }
        let text = match self.columns[name].is_unique {
            true => "unique_phrase('{migration}', '_v')".to_owned(),
            false => migration_of_table(),
        };
        self.set(name, text, "a migration");
        let name = self.column(name);
        if let Some(sql) = self.find_repeatable_text("sql statement") {
            let text = format!(
                "CASE substr({name}, 1, 4) WHEN 'crea' THEN 'CREATE TABLE ' || substr({name}, 14) || ' (id INTEGER PRIMARY KEY, name TEXT NOT NULL)' \
                 WHEN 'drop' THEN 'DROP TABLE ' || substr({name}, 12) ELSE 'ALTER TABLE ' || replace(substr({name}, 13), ' add column ', ' ADD COLUMN ') || ' TEXT' END"
            );
            self.set(sql, text, "follows from the name");
        }
    }

    /// Migrations of applications: each has its first, second and third one.
    fn migrations_of_apps(&mut self, app: usize, name: usize) {
        // Each needs those before it.
        const FIRST_APPS: [&str; OF_FRAMEWORK.len()] = ["contenttypes", "auth", "admin", "sessions"];
        const APPS: [&str; 7] = ["accounts", "catalog", "orders", "payments", "blog", "pages", "shipping"];
        let of_models = super::catalogues::applications(self.context.schema);
        // The framework's own applications come first, and have no other migrations.
        let first = if of_models.is_empty() { 0 } else { OF_FRAMEWORK.len() };
        let of_framework = FIRST_APPS.iter().take(first).enumerate();
        let firsts: String =
            of_framework.map(|(at, app)| format!(" WHEN sequence() = {} THEN '{app}'", at + 1)).collect();
        let apps = if of_models.is_empty() { APPS.map(str::to_owned).to_vec() } else { of_models };
        let (cases, count) = (branches(0, apps.iter().map(|app| literal(app))), apps.len());
        let rest = format!("CASE (sequence() - {}) % {count}{cases} END", first + 1);
        let text = if first > 0 { format!("CASE{firsts} ELSE {rest} END") } else { rest };
        self.set(app, text, "one application after another");
        let before = format!("max(0, sequence() - {}) / {count}", first + 1);
        let number = format!("if({before} < 9999, substr('000' || ({before} + 1), -4), {before} + 1)");
        let text = format!("{number} || if({before} = 0, '_initial', phrase('_{{migration_change}}'))");
        self.set(name, text, "the next migration of the application");
        // The first ones make the tables, before anything else is there.
        let applied = (0..self.columns.len()).find(|&at| matches!(self.time_at(at), Some((_, Form::Text))));
        if let Some((at, found)) = applied.and_then(|at| Some((at, self.found[at].clone()?))) {
            let from = self.context.day.before(self.first_day());
            let own = called(&found.text);
            let text = format!(
                "if(sequence() <= {}, date_add('{from} 00:00:00', sequence(), 'seconds'), {own})",
                first + count
            );
            self.set(at, text, &found.because);
        }
    }

    /// Rows of a log of what people changed: each names the thing and the change.
    fn admin_log(&mut self) {
        let flag = self.find_repeatable_number("action_flag");
        let texts = self.find_repeatable_text("object_repr").zip(self.find_repeatable_text("change_message"));
        let Some((flag, (thing, change))) = flag.zip(texts) else { return };
        let has_models = !super::catalogues::models(self.context.schema).is_empty();
        let flags = if has_models { "choice(1: 1, 2: 97, 3: 2)" } else { "choice(1: 30, 2: 60, 3: 10)" };
        self.set(flag, flags, "a row is added, changed or deleted");
        let model = (0..self.columns.len()).find_map(|by| {
            let of = &self.context.schema.tables[self.context.possible_parents[by]?.table];
            let model = of.columns.iter().find(|column| plain(&column.name) == "model")?;
            Some(self.through(by, model))
        });
        let key = self.find_repeatable_text("object_id");
        // Readers look up the things that have a table.
        let known: Vec<String> =
            super::catalogues::models(self.context.schema).into_iter().map(|model| model.name).collect();
        let things = model.as_ref().zip(key).map(|(model, key)| things_by_model(model, &self.column(key), &known));
        self.set(thing, things.unwrap_or_else(|| "phrase('{product}')".to_owned()), "the name of the thing");
        let goods = "choice('name': 4, 'price': 3, 'stock': 3, 'description': 2)";
        let field = match model.as_ref() {
            Some(model) => format!(
                "CASE {model}{} WHEN 'product' THEN {goods} WHEN 'user' THEN choice('email', 'is active', 'groups') \
                 WHEN 'order' THEN choice('status': 3, 'note') ELSE choice('name', 'status', 'position') END",
                self.of_models(fields_of)
            ),
            None => goods.to_owned(),
        };
        let text = format!(
            "CASE {} WHEN 1 THEN 'Added.' WHEN 2 THEN 'Changed ' || {field} || '.' ELSE '' END",
            self.column(flag)
        );
        self.set(change, text, "follows from what was done");
        if let Some(key) = key {
            let (schema, flag) = (self.context.schema, self.column(flag));
            let keys = self.of_models(|table| {
                let rows = schema.position(&table.name).map_or(0, |table| self.context.rows_in(table)).max(1);
                // Rows that were added are the last ones, as the log is a short one, and no row that was deleted is there.
                let all = self.context.rows.max(1);
                let number = format!(
                    "CASE {flag} WHEN 1 THEN {rows} - ({all} - sequence()) * {rows} / ({all} * 150) WHEN 3 THEN {rows} + sequence() ELSE int(1, {rows}) END || ''"
                );
                Some(if table.rowid_alias.is_some() { number } else { "hex(32)".to_owned() })
            });
            let text = match model.filter(|_| !keys.is_empty()) {
                Some(model) => format!("CASE {model}{keys} ELSE int(1, 900) || '' END"),
                None => "int(1, 900) || ''".to_owned(),
            };
            self.set(key, text, "the key of the thing");
        }
    }

    /// Returns the cases of a CASE over the models of the schema.
    fn of_models(&self, value: impl Fn(&Table) -> Option<String>) -> String {
        let tables = &self.context.schema.tables;
        let models = super::catalogues::models(self.context.schema).into_iter();
        models
            .filter_map(|model| Some(format!(" WHEN '{}' THEN {}", model.name, value(&tables[model.table])?)))
            .collect()
    }

    /// Actions of accounts, which had signed up before.
    fn audits(&mut self) {
        let is_audit = super::has_last_word(self.table, "audit") && self.is_of_person();
        if let Some(at) = self.find_repeatable_text("what action activity event").filter(|_| is_audit) {
            self.set(at, "phrase('{account_event}')", "what an account does");
        }
    }

    fn is_of_person(&self) -> bool {
        let parents = self.context.possible_parents.iter().flatten();
        parents.into_iter().any(|parent| super::is_person(&self.context.schema.tables[parent.table]))
    }

    /// States of jobs that wait for their time, and how often each was tried.
    fn queued_jobs(&mut self) {
        let attempts = self.find_repeatable_number("attempts attempt *_attempts retries retry_count");
        let state = self.find_repeatable_text("state status");
        let state = state.filter(|&at| self.kind() == Some(Kind::Run) && self.states_in_check(at).is_none());
        let Some((attempts, state)) = attempts.zip(state) else { return };
        let over = "choice('done': 93, 'failed': 7)";
        let text = match self.is_young(2) {
            Some(is_young) => format!("if({is_young}, choice('queued': 75, 'running': 10, 'done': 15), {over})"),
            None => format!("if(bool(0.02), 'queued', {over})"),
        };
        self.set(state, text, "a job waits until its time");
        let text = format!(
            "CASE {} WHEN 'queued' THEN 0 WHEN 'failed' THEN choice(3: 4, 5: 1) ELSE choice(1: 93, 2: 5, 3: 2) END",
            self.column(state)
        );
        self.set(attempts, text, "follows from the state");
    }

    /// Tenants: a row belongs to that of the row that it refers to.
    fn tenants(&mut self) {
        let Some(at) = self.find_repeatable_number(TENANTS) else { return };
        let through = (0..self.columns.len()).find_map(|by| {
            let of = &self.context.schema.tables[self.context.possible_parents[by]?.table];
            let name = &self.table.columns[at].name;
            let same = of.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name) && column.not_null)?;
            Some(self.through(by, same))
        });
        if let Some(through) = through {
            let own = called(&self.alone(at).text);
            self.set(at, format!("coalesce({through}, {own})"), "that of the row that it refers to");
        }
    }

    /// Kinds and texts of annotations, of which some are alerts.
    fn alerts(&mut self) {
        let Some(kind) = self.find_kind("type kind") else { return };
        let alert = self.find_repeatable_number("alert_id alert_rule_id").filter(|&at| !self.columns[at].not_null);
        let Some(alert) = alert else { return };
        self.set(kind, "choice('deployment': 5, 'alert': 4, 'note': 2)", "a kind of annotation");
        if let Some(text) = self.find_repeatable_text("text description message") {
            let cases = "WHEN 'alert' THEN phrase('{annotation_alert}') WHEN 'deployment' THEN phrase('{annotation_deployment}') ELSE phrase('{annotation}')";
            self.set(text, format!("CASE {} {cases} END", self.column(kind)), "follows from the type");
        }
        let own = called(&self.alone(alert).text);
        self.set(alert, format!("if({} = 'alert', {own})", self.column(kind)), "follows from the type");
    }
}
