//! Inference of all columns of a table together, so that the values of a row agree.
//!
//! ```text
//! names --> parts of a person, a place, times, amounts --> a first column of each, and the others computed from it
//!       --> other names: rules.rs; declared types; affinity
//! then NULL in a share of nullable columns (rules.rs), and DEFAULTs
//! ```

use super::media::is_of_films;
use super::names::{bare, is_like, plain, words_of_table};
use super::subjects::{Kind, Subject, subject};
use super::times::{ReferenceDay, are_in_millis};
use super::{
    ColumnTraits, Inference, Parent, TypeClass, by_affinity, by_declared_type, has_last_word, inferred, other_parent,
    subject_of, unique, unique_because,
};
use super::{distinct, rules};
use crate::generators::catalogue;
use crate::tables::statement_of;
use litepress_rows::quoted_name;
use litepress_rows::schema::{Column, Schema, Table};

/// The lines of orders: their table, their column that refers to the orders, and the table of these.
#[derive(Clone, Copy)]
pub(crate) struct OrderLines {
    pub lines: usize,
    pub order: usize,
    pub orders: usize,
}

/// The facts about a table before its columns are inferred.
pub(crate) struct TableContext<'a> {
    pub schema: &'a Schema,
    /// Position of the table.
    pub table: usize,
    pub rows: u64,
    /// Rows of all tables.
    pub rows_of: Vec<u64>,
    pub day: ReferenceDay,
    /// Whether all rows were there from the start: languages, genres.
    pub is_lookup: bool,
    /// Columns that need an annotation and are not part of a foreign key.
    pub open: Vec<bool>,
    /// The parents of columns that refer to one.
    pub parents: Vec<Option<Parent>>,
    /// The parents of columns that refer to one or are NULL.
    pub possible_parents: Vec<Option<Parent>>,
    /// The column whose parents have consecutive children, if there is one.
    pub per_parent: Option<usize>,
    /// The column that refers to each parent at most once, if there is one.
    pub once: Option<usize>,
    /// The columns that refer to a row through a row of another table.
    pub via: Vec<usize>,
    /// The tables through whose rows they do, each of which comes once.
    pub halfway: Vec<usize>,
    /// The columns that refer to the row that another row of theirs refers to.
    pub shared: Vec<usize>,
    /// The table with the lines of this one's rows, which is per_parent.
    pub lines: Option<usize>,
    /// The lines of orders of which the rows are reviews.
    pub bought: Option<OrderLines>,
    /// Columns that refer to the table, by table and column, whose rows can be counted.
    pub counted: Vec<(usize, usize)>,
    /// The columns of `counted` whose rows come in the order of time.
    pub latest: Vec<(usize, usize)>,
    /// The column that refers to the first rows of its own table, and the number of these rows, if there is one.
    pub roots: Option<(usize, u64)>,
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
    /// Whether numbers that are times count milliseconds.
    pub(super) in_millis: bool,
}

impl TableContext<'_> {
    /// Returns the number of rows of a table; 0 if only names are known.
    pub fn rows_in(&self, table: usize) -> u64 {
        self.rows_of.get(table).copied().unwrap_or(0)
    }
}

impl<'a> TableInference<'a> {
    pub(crate) fn new(context: TableContext<'a>) -> Self {
        let table = &context.schema.tables[context.table];
        let prefix = common_prefix(table);
        let named = |(at, column): (usize, &'a Column)| {
            let name = bare(table, &column.name);
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
        let subject = subject_of(table).map(|found| by_columns(in_schema(found, context.schema, table), table));
        let in_millis = are_in_millis(context.schema);
        Self { table, subject, columns, found, in_millis, context }
    }

    /// Infers all open columns; the others stay `None`.
    pub(crate) fn infer(mut self) -> Vec<Option<Inference>> {
        self.keys();
        self.unused();
        self.lower_case();
        self.keys_as_texts();
        self.authors();
        self.names_of_customers();
        self.conversations();
        self.persons();
        self.places();
        self.spans();
        self.times();
        self.latest_times();
        self.sign_ins_of_suspended();
        self.changes_by_sign_in();
        self.amounts();
        self.slugs();
        self.upkeep();
        self.media();
        self.messages();
        self.own_json();
        self.companions();
        self.ranges();
        self.products();
        self.names();
        for at in 0..self.columns.len() {
            if self.is_free(at) {
                let found = self.alone(at);
                self.found[at] = Some(found);
            }
        }
        self.rare_values();
        self.states();
        self.shared_texts();
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
        let traits = &self.columns[at].traits;
        traits.class == TypeClass::Text || traits.class == TypeClass::Any && traits.declared.is_empty()
    }

    pub(super) fn is_number(&self, at: usize) -> bool {
        self.columns[at].traits.is_number()
    }

    /// Returns the column as an operand.
    pub(super) fn column(&self, at: usize) -> String {
        quoted_name(&self.table.columns[at].name)
    }

    /// Returns a column of the row that `by` refers to as an operand.
    pub(super) fn through(&self, by: usize, column: &Column) -> String {
        format!("{}.{}", self.column(by), quoted_name(&column.name))
    }

    /// Returns a column of a row two references away, as an operand: the first that `find` finds, given the table that the row refers
    /// to, its column that refers on, and the table at the end.
    pub(super) fn through_two(&self, find: impl Fn(&Table, &Column, &Table) -> Option<usize>) -> Option<String> {
        let schema = self.context.schema;
        (0..self.columns.len()).find_map(|by| {
            let parent = self.context.parents[by]?.table;
            let of = &schema.tables[parent];
            of.columns.iter().enumerate().find_map(|(at, column)| {
                let end = &schema.tables[other_parent(schema, parent, at)?.table];
                let found = &end.columns[find(of, column, end)?];
                Some(format!("{}.{}", self.through(by, column), quoted_name(&found.name)))
            })
        })
    }

    /// Returns whether the annotation of a column, or the statement of the table, has one of the words, which commas separate.
    pub(super) fn has_word(&self, at: usize, words: &str) -> bool {
        let sql = statement_of(self.context.schema, self.table).unwrap_or_default();
        let values = self.found[at].as_ref().map_or("", |found| found.text.as_str());
        words.split(", ").any(|word| values.contains(word) || sql.contains(word))
    }

    /// Sets the annotation of a column, cut to its declared length.
    pub(super) fn set(&mut self, at: usize, text: impl Into<String>, because: &str) {
        let whole = text.into();
        let text = fitted(whole.clone(), &self.columns[at].traits);
        // Texts that are cut may repeat: a key gets another one.
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

    /// Returns the text that [`find_text`](Self::find_text) finds, unless its values must be unique.
    pub(super) fn find_repeatable_text(&self, patterns: &str) -> Option<usize> {
        self.find_text(patterns).filter(|&at| !self.columns[at].is_unique)
    }

    /// Returns the first number of these names whose values may repeat, and that is not yet inferred.
    pub(super) fn find_repeatable_number(&self, patterns: &str) -> Option<usize> {
        self.find(patterns, |at| self.is_number(at) && self.found[at].is_none() && !self.columns[at].is_unique)
    }

    /// Returns the text with the kind of the row, if its values may repeat and no CHECK says which ones there are.
    pub(super) fn find_kind(&self, patterns: &str) -> Option<usize> {
        self.find_repeatable_text(patterns).filter(|_| !self.table.has_check)
    }

    /// Makes an inferred column NULL in all rows that do not meet a condition, if it is nullable.
    pub(super) fn set_only_if(&mut self, names: &str, condition: &str, because: &str) {
        let at = self.find(names, |at| self.found[at].is_some() && !self.columns[at].not_null);
        if let Some((at, found)) = at.and_then(|at| Some((at, self.found[at].clone()?))) {
            self.set(at, format!("if({condition}, {})", called(&found.text)), because);
        }
    }

    /// Keys that count.
    fn keys(&mut self) {
        for at in 0..self.columns.len() {
            if self.table.rowid_alias == Some(at) && self.is_free(at) {
                self.found[at] = Some(inferred("sequence", "INTEGER PRIMARY KEY"));
            }
        }
        let only = super::only_row(self.context.schema, self.context.table);
        if let Some(at) = only.filter(|&at| self.is_free(at) && self.is_like(at, "id")) {
            self.found[at] = Some(inferred("sequence", "the only row"));
        }
        self.parts_of_others();
    }

    /// Infers a key of two numbers that refer to no table: three parts of one thing after another, such as the slices of a file.
    fn parts_of_others(&mut self) {
        const BYTES: u64 = 1 << 20;
        let is_free = |at: usize| self.is_free(at) && self.columns[at].traits.class == TypeClass::Int;
        let [thing, part] = super::keys::primary_key(self.table)[..] else { return };
        let is_pair = self.is_like(thing, "*_id") && self.is_like(part, "offset position part number seq ord idx");
        if !is_pair || !is_free(thing) || !is_free(part) {
            return;
        }
        let unit = if self.is_like(part, "offset") { format!(" * {BYTES}") } else { String::new() };
        self.found[thing] = Some(inferred("(sequence() + 2) / 3", "three rows of each"));
        self.found[part] = Some(inferred(format!("(sequence() - 1) % 3{unit}"), "in order"));
        if let Some(bytes) = self.find_repeatable_number("received_bytes bytes size").filter(|_| !unit.is_empty()) {
            let text = format!("if((sequence() - 1) % 3 < 2, {BYTES}, int(1, {BYTES}))");
            self.set(bytes, text, "the bytes up to the next part");
            if let Some(at) = self.find_repeatable_number("finished") {
                self.set(at, "constant(1)", "follows from the bytes");
            }
        }
    }

    /// Texts of no characters: columns that a program no longer writes.
    fn unused(&mut self) {
        for at in 0..self.columns.len() {
            let column = &self.columns[at];
            if self.is_free(at) && column.traits.longest == Some(0) && !column.not_null && !column.is_unique {
                self.found[at] = Some(inferred("constant(NULL)", "follows from its length of 0"));
            }
        }
    }

    /// Infers a column that has nothing to do with the others.
    pub(super) fn alone(&self, at: usize) -> Inference {
        let column = &self.columns[at];
        let traits = &column.traits;
        let full = &column.full;
        if self.is_opaque_key(at) {
            return inferred("hex(32)", "a key of no meaning");
        }
        if let Some(because) = unique_because(self.table, at).filter(|_| column.is_unique) {
            if self.is_number(at) && traits.class != TypeClass::Int && is_like(full, super::amounts::TOTALS) {
                let cents = 500 + self.context.rows.saturating_mul(4).clamp(40_000, 1 << 50);
                return inferred(format!("shuffle(500, {cents}) / 100.0"), because);
            }
            if let Some(text) = distinct::text(self.name_of_code(at), traits, self.kind(), self.context.rows) {
                return inferred(text, because);
            }
            let like = if super::keys::unique_text(full, traits).is_some() { full } else { &column.plain };
            return unique(traits, like, because);
        }
        if let Some((text, because)) = self.special(at) {
            return inferred(fitted(text.to_owned(), traits), because);
        }
        if is_boolean(traits) || self.is_number(at) && self.is_flag(at, full) {
            let share = self.flag_share(at, full);
            return inferred(format!("bool({share})"), "a flag");
        }
        if let Some(found) = self.coded_flag(at) {
            return found;
        }
        let is_json = traits.declared.to_ascii_uppercase().starts_with("JSON");
        if is_json && self.is_like(at, "tags *_tags labels keywords topics categories") {
            return inferred("array(phrase('{topic}'), 1, 4)", "a list of texts");
        }
        let by_name = |name: &str| {
            let rule = rules::rule(name, traits, self.kind());
            rule.filter(|(text, _)| !is_json || text.starts_with("object("))
        };
        if let Some(found) =
            by_declared_type(traits).filter(|_| !self.is_number(at) || by_name(&column.plain).is_none())
        {
            return found;
        }
        let rule = by_name(&column.plain).or_else(|| by_name(self.name_of_code(at)));
        if let Some((text, like)) = rule {
            return inferred(fitted(text.to_owned(), traits), format!("its name is like {like}"));
        }
        if traits.class == TypeClass::Int && is_like(full, "*_id did odid") {
            return inferred("zipf(200, 0.8)", "the key of rows that are elsewhere");
        }
        by_affinity(traits)
    }

    /// Returns whether a row is about a patient.
    pub(super) fn is_of_patient(&self) -> bool {
        self.is_of("patient")
    }

    /// Returns whether the name of the table or of one that the row refers to has a word.
    pub(super) fn is_of(&self, wanted: &str) -> bool {
        let parents = self.context.parents.iter().flatten().map(|parent| &self.context.schema.tables[parent.table]);
        parents.chain([self.table]).any(|table| words_of_table(&table.name).iter().any(|word| word == wanted))
    }
}

fn is_boolean(traits: &ColumnTraits<'_>) -> bool {
    let declared = traits.declared.to_ascii_uppercase().replace(' ', "");
    declared.starts_with("BOOL") || declared == "TINYINT(1)" || declared == "BIT" || declared == "BIT(1)"
}

/// Returns what a table is about in its schema: the categories of films are not those of a shop.
fn in_schema(found: Subject, schema: &Schema, table: &Table) -> Subject {
    let has =
        |wanted: &str| schema.tables.iter().any(|table| subject(&table.name).is_some_and(|of| of.names == wanted));
    let names = match found.names {
        "product" if is_of_films(table) => return Subject { names: "title", kind: Kind::Other },
        // The types of what a library has.
        "label" if words_of_table(&table.name).join("_") == "item_type" && has("person") => "document_type",
        "topic" if has("dashboard") => "dashboard_topic",
        "topic" if schema.tables.iter().any(super::is_post) => "topic_of_posts",
        "topic" if schema.tables.iter().any(|table| has_last_word(table, "product")) && !has("article_title") => {
            "topic_of_goods"
        }
        "region" if has_countries(schema, table) => "continent",
        "category" if has("title") && !has("product") => "film_genre",
        "category" if has("article_title") && !has("product") => "topic",
        "department"
            if schema.tables.iter().any(|table| words_of_table(&table.name).contains(&"patient".to_owned())) =>
        {
            "ward"
        }
        names => names,
    };
    Subject { names, ..found }
}

/// Returns whether countries refer to the rows of a table.
fn has_countries(schema: &Schema, table: &Table) -> bool {
    let is_country = |of: &&Table| subject(&of.name).is_some_and(|subject| subject.names == "country_name");
    let mut keys = schema.tables.iter().filter(is_country).flat_map(|of| &of.foreign_keys);
    keys.any(|key| key.parent.eq_ignore_ascii_case(&table.name))
}

/// Returns what the rows of a table are by its columns: states that change are no parts of a country, events with a type are a
/// log, and so are activities of a user.
fn by_columns(found: Subject, table: &Table) -> Subject {
    let has = |names: &str| table.columns.iter().any(|column| is_like(&plain(&column.name), names));
    match found.names {
        "city_name" if has("state") && has("last_changed* old_state*") => Subject { names: "metric", kind: Kind::Log },
        "event" if has("event_type*") => Subject { kind: Kind::Log, ..found },
        "task" if has("timestamp") && !has("*status title") => Subject { names: "log_message", kind: Kind::Log },
        // Rows of a table such as `statistics_meta` describe what is measured.
        "setting_key" if has("unit*") && !has("key *_key") => Subject { names: "sensor_name", kind: Kind::Other },
        _ => found,
    }
}

/// Returns the prefix that the names of all or almost all columns have: `post_` of WordPress.
fn common_prefix(table: &Table) -> String {
    let names: Vec<String> = table.columns.iter().map(|column| bare(table, &column.name)).collect();
    let words = words_of_table(&table.name);
    let own = words.last().map(|word| format!("{word}_")).unwrap_or_default();
    let count = names.iter().filter(|name| name.starts_with(&own)).count();
    if own.len() > 1 && 2 * count > names.len() || own.len() > 3 && count >= 2 { own } else { String::new() }
}

/// Cuts the annotation of a text to the declared length of the column.
fn fitted(text: String, traits: &ColumnTraits<'_>) -> String {
    const LONGEST_PLACE: u64 = 27;
    const LONGEST_PASSWORDS: [(&str, u64); 2] = [("'pbkdf2", 90), ("'$2b", 60)];
    const LONGEST_OTHER: u64 = 60;
    let Some(longest) = traits.longest.filter(|&longest| longest > 0) else { return text };
    if LONGEST_PASSWORDS.iter().any(|(begin, needed)| text.starts_with(begin) && longest < *needed) {
        return format!("hex({})", longest.min(40));
    }
    if let Some(pattern) = text.strip_prefix("phrase('").and_then(|rest| rest.strip_suffix("')"))
        && !pattern.contains('\'')
    {
        return if longest < LONGEST_OTHER { format!("phrase('{pattern}', {longest})") } else { text };
    }
    let needed = catalogue::longest_bytes(&text, 1)
        .or_else(|| longest_choice(&text))
        .unwrap_or(if text.contains("place") { LONGEST_PLACE } else { LONGEST_OTHER });
    if let Some(field) = text.strip_prefix("place('").and_then(|rest| rest.strip_suffix("')")) {
        return if longest < needed { format!("place('{field}', {longest})") } else { text };
    }
    if longest >= needed
        || ["unique_", "events(", "date", "choice(", "if(length("].iter().any(|call| text.starts_with(call))
    {
        return text;
    }
    format!("cut({}, {longest})", called(&text))
}

/// Returns the bytes of the longest text that an annotation can choose: of a CASE, or of a code of a place.
fn longest_choice(text: &str) -> Option<u64> {
    const CODES: [&str; 4] = ["'country_code')", "'country_code3')", "'state_code')", "'language')"];
    const LONGEST_CODE: u64 = 3;
    let is_code = text.starts_with("place_of(") && CODES.iter().any(|code| text.ends_with(code));
    if is_code || !text.starts_with("CASE ") {
        return is_code.then_some(LONGEST_CODE);
    }
    let has_column = ["||", "THEN \"", "ELSE \""].iter().any(|part| text.contains(part));
    let is_choice = !has_column
        && text.split('(').rev().skip(1).all(|before| {
            let name = before.rsplit(|c: char| !c.is_ascii_alphabetic() && c != '_').next().unwrap_or_default();
            ["", "choice", "lower", "upper", "substr"].contains(&name)
        });
    let longest = text.split('\'').skip(1).step_by(2).map(str::len).max()?;
    is_choice.then(|| u64::try_from(longest).unwrap_or(u64::MAX))
}

/// Returns an annotation as part of an expression, where the name of a generator alone would be that of a column.
pub(super) fn called(text: &str) -> String {
    let is_name = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_name { format!("{text}()") } else { text.to_owned() }
}
