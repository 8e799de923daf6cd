//! Names that mean something of their own in some tables: the length of a song, the temperature of a patient.

use super::amounts::named_column;
use super::names::{is_like, plain};
use super::subjects::{Kind, subject};
use super::{TableInference, TypeClass, is_person};
use crate::generators::phrases;
use litepress_rows::schema::{Column, Schema, Table};

const PRODUCT_JSON: &str =
    "object(colour: phrase('{colour}'), returns_days: choice(14: 5, 30: 6, 60: 1), made_in: place('country'))";
const MEDIA_JSON: &str =
    "object(language: choice('en': 6, 'de', 'fr', 'es'), released: int(2005, 2020), made_in: place('country'))";
const FOOD_JSON: &str =
    "object(organic: bool(0.4), shelf_life_months: choice(6: 2, 12: 5, 18: 2, 24: 3), made_in: place('country'))";
const LOG_JSON: &str =
    "object(request_id: hex(12), ip: ipv4, attempt: choice(1: 94, 2: 5, 3: 1), duration_ms: int(1, 900))";
const LOG_JSON_BY_MESSAGE: &str = "WHEN 'Requ' THEN object(request_id: hex(12), ip: ipv4, duration_ms: int(1, 900)) \
     WHEN 'User' THEN object(user_id: int(1, 5000), ip: ipv4) WHEN 'Inva' THEN object(user_id: int(1, 5000), ip: ipv4) \
     WHEN 'Job ' THEN object(job_id: hex(12), attempt: choice(1: 94, 2: 5, 3: 1), duration_ms: int(20, 90_000)) \
     WHEN 'Work' THEN object(worker: int(1, 16), pid: int(300, 32_000)) \
     WHEN 'Paym' THEN object(order_id: int(1, 90_000), amount: price(5, 400), currency: choice('EUR', 'USD')) \
     WHEN 'Disk' THEN object(mount: choice('/': 4, '/var': 2, '/home')) \
     WHEN 'Sent' THEN object(to: email, template: choice('welcome', 'receipt', 'reminder')) \
     WHEN 'Coul' THEN object(to: email, attempt: choice(1: 5, 2: 3, 3: 2)) \
     WHEN 'Quer' THEN object(table: phrase('{table_name}')) WHEN 'Slow' THEN object(table: phrase('{table_name}'), rows: int(900, 90_000)) \
     WHEN 'Conf' THEN object(file: choice('app.toml', 'server.toml', 'logging.toml')) \
     ELSE object(service: phrase('{module}'), pid: int(300, 32_000))";
/// Metrics of a dashboard by the end of its title; the others are those of hosts.
const DASHBOARD_METRICS: [(&str, &str); 5] = [
    ("KPIs", "choice('users.active', 'orders.count', 'orders.value', 'tickets.open', 'signups.count')"),
    (" Day", "choice('count', 'count.unique', 'count.failed', 'count.by_region')"),
    ("ency", "choice('http.latency': 3, 'db.latency', 'queue.wait')"),
    ("rors", "choice('http.errors': 3, 'http.requests', 'log.errors', 'queue.failed')"),
    ("vice", "choice('http.requests', 'http.latency', 'http.errors', 'cpu.usage', 'mem.used')"),
];
/// The hash of a password as Django makes it.
const PASSWORD_OF_DJANGO: &str =
    "'pbkdf2_sha256$600000$' || regex('[A-Za-z0-9]{22}') || '$' || regex('[A-Za-z0-9+/]{43}') || '='";
const SERVER_SYSTEMS: &str =
    "choice('Ubuntu 22.04': 40, 'Debian 12': 30, 'Ubuntu 24.04': 15, 'Windows Server 2019': 10, 'FreeBSD 14': 5)";

const LEARNED: &str = "doctor physician surgeon lawyer professor";

/// An annotation, and the reason for it.
type Found = Option<(String, &'static str)>;

fn found(text: &str, because: &'static str) -> Found {
    Some((text.to_owned(), because))
}

/// Returns whether a schema has the users of Django.
fn is_django(schema: &Schema) -> bool {
    schema.tables.iter().any(|table| is_like(&plain(&table.name), "auth_user django_*"))
}

impl TableInference<'_> {
    /// Infers what a name means in a table of this kind only.
    pub(super) fn special(&self, at: usize) -> Found {
        let number = || if self.is_text(at) { None } else { self.number_of_subject(at) };
        let is_text = self.is_text(at) || self.columns[at].traits.class == TypeClass::Any;
        let text = || if is_text { self.text_of_subject(at).or_else(|| self.text_of_site(at)) } else { None };
        number().or_else(text).or_else(|| self.by_other_columns(at))
    }

    /// Numbers of what the table is about.
    fn number_of_subject(&self, at: usize) -> Found {
        let name = self.columns[at].plain.as_str();
        match (name, self.subject.map(|subject| subject.names)) {
            ("milliseconds" | "duration_ms" | "length_ms", Some("song")) => {
                found("normal(245000, 70000, min=40000, max=1200000, decimals=0)", "the length of a song")
            }
            ("duration" | "length" | "seconds", Some("song")) => {
                found("normal(245, 70, min=40, max=1200, decimals=0)", "the length of a song")
            }
            ("stars" | "stargazers" | "forks" | "watchers", Some("repository" | "package" | "project")) => {
                found("lognormal(1.4, 1.9, max=90000, decimals=0)", "how many people like it")
            }
            ("bytes" | "size", Some("song")) if self.length_of_song().is_some() => {
                // 128 to 320 kbit a second, if the sound is compressed with losses.
                let rate = self.medium_of_song().map_or("int(16, 40)".to_owned(), |medium| {
                    format!("CASE substr({medium}, 1, 6) WHEN 'FLAC a' THEN int(80, 130) WHEN 'WAV au' THEN 176 WHEN 'CD' THEN 176 WHEN 'MPEG-4' THEN int(150, 500) ELSE int(16, 40) END")
                });
                Some((format!("{} * {rate}", self.length_of_song()?), "the size of a song, by its length"))
            }
            ("bytes" | "size", Some("song")) => {
                found("normal(7800000, 2300000, min=900000, max=60000000, decimals=0)", "the size of a song")
            }
            ("length" | "runtime" | "duration", Some("title")) => {
                found("normal(112, 26, min=46, max=210, decimals=0)", "the length of a film")
            }
            ("size", Some("product")) => found("int(1, 50)", "the size of a product"),
            ("salary" | "annual_salary", Some("person")) if super::has_last_word(self.table, LEARNED) => {
                found("1000 * normal(118, 26, min=60, max=320, decimals=0)", "the salary of somebody learned")
            }
            ("budget", _) if self.staff().is_some() => {
                let (count, cost) = self.staff()?;
                Some((format!("1000 * ({count} * int({cost}) + int(150, 900))"), "a budget that pays the staff"))
            }
            ("budget", Some("department" | "team" | "project" | "ward")) => {
                found("1000 * exponential(0.0016, min=180, max=9000, decimals=0)", "a budget, of several salaries")
            }
            ("status", Some("person")) if self.default(at).as_deref() == Some("0") => {
                found("choice(0: 98, 1: 2)", "few people are blocked")
            }
            ("karma", _) if self.kind() == Some(Kind::Text) => {
                found("choice(0: 90, 1: 6, 2: 3, 5: 1)", "few people vote")
            }
            ("port", _) if self.serves_pages() => {
                found("choice(443: 8, 80: 3, 8080: 2)", "a port for requests of pages")
            }
            ("menu_order", _) if self.kind() == Some(Kind::Text) => {
                let kind = self.column(self.find("type", |at| self.is_text(at))?);
                Some((format!("if({kind} = 'page', int(1, 20), 0)"), "only pages are in a menu"))
            }
            ("group", _) if self.default(at).as_deref() == Some("0") => {
                found("choice(0: 99, 1: 1)", "the DEFAULT, which stands for no group")
            }
            _ if is_like(name, "min_temperature minimum_temperature") && self.is_of("patient") => {
                found("normal(36.5, 0.3, min=35.2, max=37.4, decimals=1)", "the least temperature of a body")
            }
            _ if is_like(name, "temperature *_temperature") && self.is_of("patient") => {
                found("normal(37, 0.6, min=35.2, max=41, decimals=1)", "the temperature of a body")
            }
            _ => None,
        }
    }

    /// Returns whether the rows of a table that refers to the row are requests of pages.
    fn serves_pages(&self) -> bool {
        const STATUS: &str = "http_status status_code http_code";
        let tables = self.context.counted.iter().map(|(child, _)| &self.context.schema.tables[*child]);
        tables.flat_map(|table| &table.columns).any(|column| is_like(&plain(&column.name), STATUS))
    }

    /// Returns the number of those who belong to the row and earn a salary, and what one of them costs, in thousands.
    fn staff(&self) -> Option<(String, &'static str)> {
        let tables = &self.context.schema.tables;
        let earns = |of: &Table| of.columns.iter().any(|column| is_like(&plain(&column.name), "*salary* wage"));
        let &(child, by) = self.context.counted.iter().find(|(child, _)| earns(&tables[*child]))?;
        let cost = if super::has_last_word(&tables[child], LEARNED) { "150, 240" } else { "80, 130" };
        Some((format!("count_of({})", named_column(&tables[child], by)), cost))
    }

    /// Returns why a patient comes to the department of the person whom the row refers to.
    fn reason_of_visit(&self) -> Option<String> {
        let is_ward = |ward: &Table| subject(&ward.name).is_some_and(|subject| subject.names == "department");
        let ward = self.through_two(|person, by, ward| {
            let is_known = is_person(person) && by.not_null && is_ward(ward);
            let is_name = |column: &Column| plain(&column.name) == "name" && column.not_null;
            ward.columns.iter().position(is_name).filter(|_| is_known)
        })?;
        let case = |name: &&str| {
            let list = format!("visit_reason_{}", name.to_lowercase().replace(' ', "_"));
            format!(" WHEN '{name}' THEN phrase('{{{list}}}')")
        };
        let cases: String = phrases::items("ward").iter().map(case).collect();
        Some(format!("CASE {ward}{cases} ELSE phrase('{{visit_reason}}') END"))
    }

    /// Returns the name of the medium that a song refers to.
    fn medium_of_song(&self) -> Option<String> {
        (0..self.columns.len()).find_map(|by| {
            let of = &self.context.schema.tables[self.context.parents[by]?.table];
            let name = of.columns.iter().find(|column| plain(&column.name) == "name")?;
            subject(&of.name).filter(|subject| subject.names == "media_type")?;
            Some(self.through(by, name))
        })
    }

    /// Returns the arguments of a job, by the first letters of its class.
    fn arguments_of_job(&self) -> String {
        const BY_CLASS: &str = "WHEN 'Send' THEN object(to: email, template: choice('welcome', 'receipt', 'reminder')) \
             WHEN 'Impo' THEN object(file: phrase('{noun}.csv'), rows: int(10, 9000)) \
             WHEN 'Expo' THEN object(format: choice('csv': 3, 'pdf', 'xlsx'), since: date('2024-01-01', '2025-12-31')) \
             WHEN 'Clea' THEN object(older_than_days: choice(7, 30: 3, 90)) ELSE object(id: int(1, 9000))";
        let class = self.find("job_class class_name klass handler", |of| self.is_text(of) && self.found[of].is_some());
        match class.filter(|&of| self.has_word(of, "{job_class}")) {
            Some(of) => format!("CASE substr({}, 1, 4) {BY_CLASS} END", self.column(of)),
            None => "object(id: int(1, 9000), force: bool(0.1))".to_owned(),
        }
    }

    /// Returns the details of a message in a log, by its first letters.
    fn log_json(&self, message: usize) -> String {
        format!("CASE substr({}, 1, 4) {LOG_JSON_BY_MESSAGE} END", self.column(message))
    }

    /// Returns the panels of a dashboard, whose metrics suit its title.
    fn panels(&self) -> String {
        let json = |metric: &str| {
            format!(
                "object(panels: array(object(id: int(1, 40), type: choice('timeseries': 6, 'stat': 2, 'table'), metric: {metric}), 1, 6), refresh: choice('30s': 4, '1m': 3, '5m'), schemaVersion: choice(36: 2, 39: 5))"
            )
        };
        let other = json("phrase('{metric}')");
        let Some(title) = self.find("title name", |at| self.is_text(at)).map(|at| self.column(at)) else {
            return other;
        };
        let cases = DASHBOARD_METRICS.map(|(end, metric)| format!(" WHEN '{end}' THEN {}", json(metric)));
        let of_database = json("choice('db.connections': 2, 'db.queries': 3, 'db.latency', 'db.size', 'disk.free')");
        let other = format!("if(instr({title}, 'Database') > 0, {of_database}, {other})");
        format!("CASE substr({title}, -4){} ELSE {other} END", cases.concat())
    }

    /// Returns the column with the length of a song in milliseconds.
    fn length_of_song(&self) -> Option<String> {
        let at =
            self.find("milliseconds duration_ms length_ms", |at| self.is_number(at) && self.columns[at].not_null)?;
        Some(self.column(at))
    }

    /// Texts of what the table is about.
    fn text_of_subject(&self, at: usize) -> Found {
        let column = &self.columns[at];
        match (column.plain.as_str(), self.subject.map(|subject| subject.names)) {
            ("attributes" | "properties" | "specs" | "attrs" | "props" | "features", Some("product")) => {
                let text = self.category().map_or(PRODUCT_JSON.to_owned(), |category| {
                    let (end, food) = (format!("substr({category}, -5)"), super::amounts::FOOD);
                    format!(
                        "CASE WHEN {end} IN ({food}) THEN {FOOD_JSON} WHEN {end} IN ('Books', 'ovies', 'Music') THEN {MEDIA_JSON} ELSE {PRODUCT_JSON} END"
                    )
                });
                Some((text, "properties of a product"))
            }
            ("metadata", Some("file")) => {
                found("object(identified: bool(1), analyzed: bool(1))", "what is known of a file")
            }
            ("payload" | "data" | "args" | "arguments" | "params" | "parameters", _)
                if self.kind() == Some(Kind::Run) =>
            {
                Some((self.arguments_of_job(), "what a job works on"))
            }
            ("details" | "data" | "metadata" | "attributes" | "extra" | "properties", _)
                if self.kind() == Some(Kind::Order) =>
            {
                found(
                    "object(channel: choice('web': 6, 'app': 3, 'phone'), gift: bool(0.1), boxes: choice(1: 9, 2))",
                    "details of an order",
                )
            }
            ("context" | "details" | "data" | "payload" | "metadata" | "extra" | "attributes" | "params", _)
                if self.kind() == Some(Kind::Log) =>
            {
                match self.find("message msg", |at| self.is_text(at) && self.has_word(at, "{log_info}")) {
                    Some(of) => Some((self.log_json(of), "details of the message")),
                    None => found(LOG_JSON, "details of a log entry"),
                }
            }
            ("data" | "json" | "model", Some("dashboard")) => Some((self.panels(), "the panels of a dashboard")),
            ("os" | "operating_system" | "os_name" | "platform", Some("host")) => {
                found(SERVER_SYSTEMS, "the system of a server")
            }
            ("os" | "config_os" | "operating_system", _) if column.traits.longest == Some(3) => {
                found("choice('WIN': 5, 'AND': 4, 'IOS': 4, 'MAC': 2, 'LIN')", "the code of a system")
            }
            ("type", _) if super::has_last_word(self.table, "library workspace") => {
                found("choice('user': 5, 'group': 4, 'feed': 1)", "whose library it is")
            }
            ("password", _) if self.kind() != Some(Kind::Text) && is_django(self.context.schema) => {
                found(PASSWORD_OF_DJANGO, "the hash of a password")
            }
            (
                "comment" | "comments" | "remark" | "remarks",
                Some("country_name" | "region" | "continent" | "city_name"),
            ) => found("phrase('{place_note}')", "a remark on a place"),
            ("comment" | "comments" | "remark" | "remarks", _)
                if matches!(
                    self.kind(),
                    Some(Kind::Order | Kind::Line | Kind::Payment | Kind::Company | Kind::Person)
                ) =>
            {
                found("phrase('{note}')", "a remark on an order or a customer")
            }
            ("extension" | "ext", Some("person")) => found("digits(4)", "of a telephone"),
            ("reason", _) if self.is_of("patient") => {
                let text = self.reason_of_visit().unwrap_or_else(|| "phrase('{visit_reason}')".to_owned());
                Some((text, "why a patient comes"))
            }
            ("notes" | "note" | "remarks" | "comments", _) if self.is_of("patient") => {
                found("phrase('{visit_note}')", "a note on a patient")
            }
            _ => None,
        }
    }

    /// Texts of posts and comments on a site.
    fn text_of_site(&self, at: usize) -> Found {
        const REQUESTS: &str = "*method http_status status_code referrer referer user_agent";
        let column = &self.columns[at];
        let is_post = self.kind() == Some(Kind::Text);
        match (column.plain.as_str(), column.full.as_str()) {
            (_, "post_status") => {
                let text = "choice('publish': 84, 'draft': 10, 'private': 4, 'trash': 2)";
                let kind = self.posted_file();
                let text = kind.map_or(text.to_owned(), |is_file| format!("if({is_file}, 'inherit', {text})"));
                Some((text, "the status of a post"))
            }
            (_, "post_type") => found("choice('post': 8, 'page': 2)", "the type of a post"),
            // Other sites have no user here.
            (_, "comment_type")
                if self.context.parents.iter().flatten().any(|of| is_person(&self.context.schema.tables[of.table])) =>
            {
                found("constant('comment')", "the type of a comment of a user")
            }
            (_, "comment_type") => found("choice('comment': 97, 'pingback': 2, 'trackback')", "the type of a comment"),
            ("checksum", _) if self.table.name.starts_with("active_storage") => {
                found("regex('[A-Za-z0-9+/]{21}[AQgw]==')", "the checksum of a file")
            }
            ("mime_type", _) if is_post => found("constant('')", "a text has no file"),
            ("app_label", _) if self.find("model", |at| self.is_text(at)).is_some() => {
                let model = self.column(self.find("model", |at| self.is_text(at))?);
                let text = format!(
                    "CASE WHEN {model} IN ('user', 'group', 'permission') THEN 'auth' WHEN {model} = 'session' THEN 'sessions' \
                     WHEN {model} = 'logentry' THEN 'admin' WHEN {model} IN ('article', 'attachment', 'comment', 'page', 'tag') THEN 'blog' \
                     ELSE 'shop' END"
                );
                Some((text, "follows from the model"))
            }
            ("guid", _) if is_post && self.find("slug post_name", |at| self.is_text(at)).is_some() => {
                let key = self.column(self.table.rowid_alias?);
                Some((format!("'https://blog.example/?p=' || {key}"), "the address of a post"))
            }
            ("password", _) if is_post => found("if(bool(0.97), '', phrase('{handle}'))", "few texts have a password"),
            ("path" | "uri" | "url_path" | "request_path", _) if self.find(REQUESTS, |_| true).is_some() => {
                found("phrase('{url_path}')", "the path of a request")
            }
            ("language" | "lang" | "locale", _)
                if self.find("text body content message", |other| self.is_text(other)).is_some() =>
            {
                found("constant('en')", "the language of all texts")
            }
            _ => None,
        }
    }

    /// Values that follow from the state of a run, or from the last sign-in.
    fn by_other_columns(&self, at: usize) -> Found {
        const FOLLOWS: &str = "follows from the state";
        let status = || self.find("status state conclusion result", |at| self.is_text(at)).map(|at| self.column(at));
        let (name, not_null, is_text) = (self.columns[at].plain.as_str(), self.columns[at].not_null, self.is_text(at));
        match name {
            "sign_in_count" | "login_count" if !is_text => {
                let sign_ins = "current_sign_in_at last_sign_in_at last_login last_login_at";
                let last = self.column(self.find(sign_ins, |at| self.is_time(at))?);
                // Who was there before the current time was there twice.
                let least = if self.find("current_sign_in_at", |at| self.is_time(at)).is_some() { 2 } else { 1 };
                let count = format!("{least} + exponential(0.06, max=900, decimals=0)");
                Some((format!("if({last} IS NULL, 0, {count})"), "follows from the last sign-in"))
            }
            "exit_code" | "return_code" => {
                let (status, none) = (status()?, if not_null { "0" } else { "NULL" });
                let text = format!(
                    "CASE WHEN {status} IN ('failed', 'failure', 'error') THEN choice(1: 8, 2: 1) \
                     WHEN {status} IN ('canceled', 'cancelled', 'running', 'pending', 'queued', 'created') THEN {none} ELSE 0 END"
                );
                Some((text, FOLLOWS))
            }
            "error_message" | "error" | "failure_reason" if is_text && !not_null && self.kind() == Some(Kind::Run) => {
                let status = status()?;
                let message = match self.find("name job_name", |at| self.is_text(at)).map(|at| self.column(at)) {
                    Some(name) => format!(
                        "CASE substr({name}, 1, 4) WHEN 'depl' THEN phrase('{{deploy_error}}') WHEN 'buil' THEN phrase('{{build_error}}') WHEN 'lint' THEN phrase('{{lint_error}}') WHEN 'docs' THEN phrase('{{lint_error}}') ELSE phrase('{{test_error}}') END"
                    ),
                    None => "phrase('{error_message}')".to_owned(),
                };
                Some((format!("if({status} IN ('failed', 'failure', 'error'), {message})"), FOLLOWS))
            }
            _ => None,
        }
    }
}
