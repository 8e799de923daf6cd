//! Inference of all columns of a table together, so that the values of a row agree.
//!
//! ```text
//! names --> parts of a person, a place, times, amounts --> a first column of each, and the others computed from it
//!       --> other names: rules.rs; declared types; affinity
//! then NULL in a share of nullable columns (rules.rs), and DEFAULTs
//! ```

use super::names::{is_like, plain};
use super::rules;
use super::subjects::{Kind, Subject, subject};
use super::times::ReferenceDay;
use super::{
    ColumnTraits, Inference, Parent, TypeClass, by_affinity, by_declared_type, inferred, quoted_always, unique,
    unique_because,
};
use crate::generators::catalogue;
use litepress_rows::schema::{Schema, Table};

/// What is known of a table before its columns are inferred.
pub(crate) struct TableContext<'a> {
    pub schema: &'a Schema,
    /// Position of the table.
    pub table: usize,
    pub rows: u64,
    pub day: ReferenceDay,
    /// Columns that need an annotation and are not part of a foreign key.
    pub open: Vec<bool>,
    /// The parents of columns that refer to one.
    pub parents: Vec<Option<Parent>>,
    /// The parents of columns that refer to one or are NULL.
    pub possible_parents: Vec<Option<Parent>>,
    /// The column whose parents have consecutive children, if there is one.
    pub per_parent: Option<usize>,
    /// The table with the lines of this one's rows, which is per_parent.
    pub lines: Option<usize>,
    /// Columns that need no unique values, because different pairs of foreign keys make their key unique.
    pub relieved: Vec<usize>,
    /// The longest chain of parents.
    pub depth: i64,
}

/// A column with the names that rules look at.
pub(super) struct NamedColumn<'a> {
    /// The name without the prefix that all columns have.
    pub plain: String,
    pub(super) full: String,
    pub traits: ColumnTraits<'a>,
    pub(super) is_open: bool,
    pub is_unique: bool,
    pub(super) not_null: bool,
}

/// Inference of the columns of one table.
pub(crate) struct TableInference<'a> {
    pub(super) context: TableContext<'a>,
    pub(super) table: &'a Table,
    pub(super) subject: Option<Subject>,
    pub(super) columns: Vec<NamedColumn<'a>>,
    pub(super) found: Vec<Option<Inference>>,
}

impl<'a> TableInference<'a> {
    pub(crate) fn new(context: TableContext<'a>) -> Self {
        let table = &context.schema.tables[context.table];
        let prefix = common_prefix(table);
        let named = |(at, column): (usize, &'a litepress_rows::schema::Column)| {
            let name = plain(&column.name);
            NamedColumn {
                plain: name.strip_prefix(prefix.as_str()).filter(|rest| rest.len() > 1).unwrap_or(&name).to_owned(),
                traits: ColumnTraits::new(column),
                is_open: context.open[at],
                full: name,
                is_unique: unique_because(table, at).is_some() && !context.relieved.contains(&at),
                not_null: column.not_null || column.key_position.is_some(),
            }
        };
        let columns: Vec<NamedColumn<'a>> = table.columns.iter().enumerate().map(named).collect();
        let found = columns.iter().map(|_| None).collect();
        let subject = subject(&table.name).map(|found| in_schema(found, context.schema));
        Self { table, subject, columns, found, context }
    }

    /// Infers all open columns; the others stay `None`.
    pub(crate) fn infer(mut self) -> Vec<Option<Inference>> {
        self.keys();
        self.persons();
        self.places();
        self.times();
        self.amounts();
        self.slugs();
        self.companions();
        self.ranges();
        self.names();
        for at in 0..self.columns.len() {
            if self.is_free(at) {
                let found = self.alone(at);
                self.found[at] = Some(found);
            }
        }
        self.states();
        let required = self.required();
        for (at, required) in required.into_iter().enumerate() {
            self.add_defaults_and_nulls(at, required);
        }
        self.found
    }

    pub(super) fn kind(&self) -> Option<Kind> {
        self.subject.map(|subject| subject.kind)
    }

    pub(super) fn is_free(&self, at: usize) -> bool {
        self.columns[at].is_open && self.found[at].is_none()
    }

    pub(super) fn is_text(&self, at: usize) -> bool {
        self.columns[at].traits.class == TypeClass::Text || self.columns[at].traits.declared.is_empty()
    }

    pub(super) fn is_number(&self, at: usize) -> bool {
        self.columns[at].traits.is_number()
    }

    /// Returns the column as an operand.
    pub(super) fn column(&self, at: usize) -> String {
        quoted_always(&self.table.columns[at].name)
    }

    /// Sets the annotation of a column, cut to its declared length.
    pub(super) fn set(&mut self, at: usize, text: impl Into<String>, because: &str) {
        let whole = text.into();
        let text = fitted(whole.clone(), &self.columns[at].traits);
        // What is cut may repeat: a key gets another text.
        if text == whole || !self.columns[at].is_unique {
            self.found[at] = Some(inferred(text, because));
        }
    }

    /// Returns the first free column whose name is like one of the patterns and that `is` right.
    pub(super) fn find(&self, patterns: &str, is: impl Fn(usize) -> bool) -> Option<usize> {
        let mut patterns = patterns.split(' ');
        patterns.find_map(|pattern| {
            (0..self.columns.len()).find(|&at| self.is_like(at, pattern) && self.columns[at].is_open && is(at))
        })
    }

    /// Returns whether the name of a column, with or without its prefix, is like one of the patterns.
    pub(super) fn is_like(&self, at: usize, patterns: &str) -> bool {
        is_like(&self.columns[at].plain, patterns) || is_like(&self.columns[at].full, patterns)
    }

    pub(super) fn find_text(&self, patterns: &str) -> Option<usize> {
        self.find(patterns, |at| self.is_text(at) && self.found[at].is_none())
    }

    /// Keys that count.
    fn keys(&mut self) {
        for at in 0..self.columns.len() {
            if self.table.rowid_alias == Some(at) && self.is_free(at) {
                self.found[at] = Some(inferred("sequence", "INTEGER PRIMARY KEY"));
            }
        }
    }

    /// Infers a column that has nothing to do with the others.
    pub(super) fn alone(&self, at: usize) -> Inference {
        let column = &self.columns[at];
        let (traits, name) = (&column.traits, &self.table.columns[at].name);
        let full = plain(name);
        if let Some(because) = unique_because(self.table, at).filter(|_| column.is_unique) {
            let like = if super::unique_text(&full, traits).is_some() { &full } else { &column.plain };
            return unique(traits, like, because);
        }
        if let Some((text, because)) = self.special(at) {
            return inferred(fitted(text.to_owned(), traits), because);
        }
        if is_boolean(traits) || self.is_number(at) && self.is_flag(at, &full) {
            let share = self.flag_share(at, &full);
            return inferred(format!("bool({share})"), "a flag");
        }
        if let Some(found) = self.coded_flag(at) {
            return found;
        }
        if let Some(found) = by_declared_type(traits)
            .filter(|_| !self.is_number(at) || rules::rule(&column.plain, traits, self.kind()).is_none())
        {
            return found;
        }
        let rule = rules::rule(&column.plain, traits, self.kind()).or_else(|| rules::rule(&full, traits, self.kind()));
        if let Some((text, like)) = rule {
            return inferred(fitted(text.to_owned(), traits), format!("its name is like {like}"));
        }
        by_affinity(traits)
    }

    /// Returns whether a row is about a patient.
    pub(super) fn is_of_patient(&self) -> bool {
        let parents = self.context.parents.iter().flatten().map(|parent| &self.context.schema.tables[parent.table]);
        parents
            .chain([self.table])
            .any(|table| super::names::words_of_table(&table.name).iter().any(|word| word == "patient"))
    }

    /// Infers what a name means in a table of this kind only.
    fn special(&self, at: usize) -> Option<(String, &'static str)> {
        let name = self.columns[at].plain.as_str();
        let names = self.subject.map(|subject| subject.names);
        let is_text = self.is_text(at);
        let status = || self.find("status state conclusion result", |at| self.is_text(at)).map(|at| self.column(at));
        Some(match (name, names) {
            ("milliseconds" | "duration_ms" | "length_ms", Some("song")) => {
                ("normal(245000, 70000, min=40000, max=1200000, decimals=0)".to_owned(), "the length of a song")
            }
            ("duration" | "length" | "seconds", Some("song")) if !is_text => {
                ("normal(245, 70, min=40, max=1200, decimals=0)".to_owned(), "the length of a song")
            }
            ("bytes" | "size", Some("song")) => {
                ("normal(7800000, 2300000, min=900000, max=60000000, decimals=0)".to_owned(), "the size of a song")
            }
            ("length" | "runtime" | "duration", Some("title")) if !is_text => {
                ("normal(112, 26, min=46, max=210, decimals=0)".to_owned(), "the length of a film")
            }
            ("path" | "uri" | "url_path" | "request_path", _)
                if self.find("*method http_status status_code referrer referer user_agent", |_| true).is_some() =>
            {
                ("phrase('{url_path}')".to_owned(), "the path of a request")
            }
            ("attributes" | "properties" | "specs" | "attrs" | "props" | "features", Some("product")) if is_text => {
                (PRODUCT_JSON.to_owned(), "properties of a product")
            }
            ("context" | "details" | "data" | "payload" | "metadata" | "extra" | "attributes" | "params", _)
                if is_text && self.kind() == Some(Kind::Log) =>
            {
                (LOG_JSON.to_owned(), "details of a log entry")
            }
            ("os" | "operating_system" | "os_name" | "platform", Some("host")) if is_text => (
                "choice('Ubuntu 22.04': 40, 'Debian 12': 30, 'Ubuntu 24.04': 15, 'Windows Server 2022': 10, 'FreeBSD 14': 5)"
                    .to_owned(),
                "the system of a server",
            ),
            (name, _) if is_like(name, "temperature *_temperature") && !is_text && self.is_of_patient() => {
                ("normal(37, 0.6, min=35.2, max=41, decimals=1)".to_owned(), "the temperature of a body")
            }
            ("budget", Some("department" | "team" | "project")) if !is_text => {
                ("1000 * exponential(0.0016, min=180, max=9000, decimals=0)".to_owned(), "a budget, of several salaries")
            }
            ("os" | "config_os" | "operating_system", _) if is_text && self.columns[at].traits.longest == Some(3) => {
                ("choice('WIN': 5, 'AND': 4, 'IOS': 4, 'MAC': 2, 'LIN')".to_owned(), "the code of a system")
            }
            ("type", _) if is_text && self.columns[at].full == "post_type" => {
                ("choice('post': 72, 'page': 18, 'attachment': 10)".to_owned(), "the type of a post")
            }
            ("type", _) if is_text && self.columns[at].full == "comment_type" => {
                ("choice('comment': 97, 'pingback': 2, 'trackback')".to_owned(), "the type of a comment")
            }
            ("language" | "lang" | "locale", _)
                if is_text && self.find("text body content message", |other| self.is_text(other)).is_some() =>
            {
                ("choice('en': 94, 'de': 3, 'fr': 3)".to_owned(), "the language of a text")
            }
            ("mime_type", _) if is_text && self.kind() == Some(Kind::Text) => {
                ("constant('')".to_owned(), "a text has no file")
            }
            ("extension" | "ext", Some("person")) if is_text => ("digits(4)".to_owned(), "of a telephone"),
            ("password", _) if is_text && self.kind() == Some(Kind::Text) => {
                ("if(bool(0.97), '', phrase('{handle}'))".to_owned(), "few texts have a password")
            }
            ("exit_code" | "return_code", _) => {
                let status = status()?;
                (
                    format!(
                        "if({status} IN ('failed', 'failure', 'error', 'canceled', 'cancelled'), choice(1: 8, 2: 1, 137: 1), 0)"
                    ),
                    "follows from the state",
                )
            }
            ("error_message" | "error" | "failure_reason", _)
                if is_text && !self.columns[at].not_null && self.kind() == Some(Kind::Run) =>
            {
                let status = status()?;
                (
                    format!("if({status} IN ('failed', 'failure', 'error'), phrase('{{error_message}}'))"),
                    "follows from the state",
                )
            }
            _ => return None,
        })
    }
}

const PRODUCT_JSON: &str = "object(colour: phrase('{colour}'), material: phrase('{material_low}'), weight_g: int(40, 2500), in_stock: bool(0.9))";
const LOG_JSON: &str =
    "object(request_id: hex(12), ip: ipv4, attempt: choice(1: 94, 2: 5, 3: 1), duration_ms: int(1, 900))";

fn is_boolean(traits: &ColumnTraits<'_>) -> bool {
    let declared = traits.declared.to_ascii_uppercase().replace(' ', "");
    declared.starts_with("BOOL") || declared == "TINYINT(1)" || declared == "BIT" || declared == "BIT(1)"
}

/// Returns what a table is about in its schema: the categories of films are not those of a shop.
fn in_schema(found: Subject, schema: &Schema) -> Subject {
    let has =
        |wanted: &str| schema.tables.iter().any(|table| subject(&table.name).is_some_and(|of| of.names == wanted));
    let names = match found.names {
        "category" if has("title") && !has("product") => "film_genre",
        "category" if has("article_title") && !has("product") => "topic",
        names => names,
    };
    Subject { names, ..found }
}

/// Returns the prefix that the names of all or almost all columns have: `post_` of WordPress.
fn common_prefix(table: &Table) -> String {
    let names: Vec<String> = table.columns.iter().map(|column| plain(&column.name)).collect();
    let words = super::names::words_of_table(&table.name);
    let own = words.last().map(|word| format!("{word}_")).unwrap_or_default();
    let count = names.iter().filter(|name| name.starts_with(&own)).count();
    if own.len() > 1 && 2 * count > names.len() || own.len() > 3 && count >= 2 { own } else { String::new() }
}

/// Cuts the annotation of a text to the declared length of the column.
fn fitted(text: String, traits: &ColumnTraits<'_>) -> String {
    const LONGEST_PLACE: u64 = 27;
    const LONGEST_PASSWORD: u64 = 90;
    const LONGEST_OTHER: u64 = 60;
    let Some(longest) = traits.longest.filter(|&longest| longest > 0) else { return text };
    if text.starts_with("'pbkdf2") && longest < LONGEST_PASSWORD {
        return format!("hex({})", longest.min(40));
    }
    if let Some(pattern) = text.strip_prefix("phrase('").and_then(|rest| rest.strip_suffix("')"))
        && !pattern.contains('\'')
    {
        return if longest < LONGEST_OTHER { format!("phrase('{pattern}', {longest})") } else { text };
    }
    let needed =
        catalogue::longest_bytes(&text).unwrap_or(if text.contains("place") { LONGEST_PLACE } else { LONGEST_OTHER });
    if longest >= needed || ["unique_", "events(", "date", "choice("].iter().any(|call| text.starts_with(call)) {
        return text;
    }
    format!("substr({}, 1, {longest})", called(&text))
}

/// Returns an annotation as part of an expression, where the name of a generator alone would be that of a column.
pub(super) fn called(text: &str) -> String {
    let is_name = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_name { format!("{text}()") } else { text.to_owned() }
}
