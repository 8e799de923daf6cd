//! Flash cards: new ones have no interval yet, and the answers of a review have four grades.

use super::amounts::named_column;
use super::names::{is_like, plain};
use super::table_columns::called;
use super::times::Form;
use super::{TableInference, has_last_word};
use litepress_rows::schema::{Schema, Table};

const INTERVALS: &str = "ivl interval interval_days";
const DAYS: &str = "lognormal(3.1, 1.2, min=1, max=1500, decimals=0)";
/// The separator of the fields of a note.
const SEPARATOR: char = '\u{1f}';

/// Returns whether the rows of a table are answers, with their grade.
pub(super) fn has_grade(table: &Table) -> bool {
    table.columns.iter().any(|column| is_like(&plain(&column.name), "ease grade button"))
}

/// The answers of one card after another.
struct Answers {
    /// The number of an answer among those of its card.
    number: String,
    /// Its time, in milliseconds.
    time: String,
    /// The days until the next one.
    interval: String,
}

/// Returns whether the rows of a table are the answers to the cards in another one.
pub(crate) fn is_answer_to(table: &Table, cards: &Table) -> bool {
    has_grade(table) && has_last_word(cards, "card")
}

/// Returns whether the rows of a table are the cards of the notes in another one.
pub(crate) fn is_card_of(table: &Table, parent: &Table) -> bool {
    has_last_word(table, "card") && has_last_word(parent, "note")
}

/// Returns whether a schema has notes of which flash cards are made.
fn are_flash_cards(schema: &Schema) -> bool {
    schema.tables.iter().any(|table| has_last_word(table, "note") && table.column("flds").is_some())
}

fn are_types_of_notes(table: &Table) -> bool {
    plain(&table.name).trim_end_matches('s').ends_with("notetype")
}

/// Returns whether the rows of a table are the fields of the types of notes in another one.
pub(super) fn is_field_of(table: &Table, parent: &Table) -> bool {
    has_last_word(table, "field") && are_types_of_notes(parent)
}

impl TableInference<'_> {
    pub(super) fn flash_cards(&mut self) {
        self.cards();
        self.reviews();
        self.notes_of_cards();
        self.collections();
        self.fields_of_types();
        self.types_of_notes();
        self.tags_of_notes();
        self.settings_of_cards();
        self.deleted_rows();
    }

    /// Cards: the number of reviews decides about the kind (new, in learning, learnt), and that about queue, interval and ease.
    fn cards(&mut self) {
        let find = |names: &str| self.find_repeatable_number(names);
        let Some(count) = find("reps repetitions") else { return };
        let (Some(kind), Some(_)) = (find("type state"), find(INTERVALS)) else { return };
        let tables = &self.context.schema.tables;
        let reviews = self.context.counted.iter().find(|(child, _)| has_grade(&tables[*child]));
        let last = reviews.and_then(|&(child, column)| {
            let of = &tables[child];
            let interval = (0..of.columns.len()).find(|&at| is_like(&plain(&of.columns[at].name), INTERVALS))?;
            Some(format!("last_of({}, {})", named_column(of, column), named_column(of, interval)))
        });
        let text = match reviews {
            Some(&(child, column)) => format!("count_of({})", named_column(&tables[child], column)),
            None => "if(bool(0.3), 0, 1 + exponential(0.15, max=90, decimals=0))".to_owned(),
        };
        self.set(count, text, "follows from the reviews");
        let count = self.column(count);
        // A card whose last answer was wrong is learnt again.
        let other = match &last {
            Some(last) => format!("if({last} > 0, 2, if({count} = 1, 1, 3))"),
            None => "choice(1: 5, 2: 90, 3: 5)".to_owned(),
        };
        self.set(kind, format!("if({count} = 0, 0, {other})"), "follows from the reviews");
        let kind = self.column(kind);
        let days = last.unwrap_or_else(|| DAYS.to_owned());
        for (names, text) in [
            (INTERVALS, format!("CASE {kind} WHEN 0 THEN 0 WHEN 2 THEN {days} ELSE 1 END")),
            ("lapses", format!("if({kind} = 0, 0, min({count}, choice(0: 7, 1: 2, 2: 1)))")),
            ("factor ease_factor", format!("if({kind} = 0, 0, choice(2500: 70, 2350: 15, 2650: 10, 1300: 5))")),
            ("queue", format!("if(bool(0.03), -1, if({kind} = 3, 1, {kind}))")),
            ("due", self.due_of_card(&kind)),
            ("ord", self.number_of_card()),
        ] {
            if let Some(at) = self.find_repeatable_number(names) {
                self.set(at, text, "follows from the kind of the card");
            }
        }
        self.no_data();
        self.last_answers();
    }

    /// Times of the last changes of cards, which are those of their last answers.
    fn last_answers(&mut self) {
        let tables = &self.context.schema.tables;
        let last =
            self.context.counted.iter().filter(|(child, _)| has_grade(&tables[*child])).find_map(|&(child, by)| {
                let [by, time] = [by, tables[child].rowid_alias?].map(|at| named_column(&tables[child], at));
                Form::Unix(1).converted(&format!("last_of({by}, {time})"), Form::Unix(1000))
            });
        let is_change = |at: usize| matches!(self.time_at(at), Some((_, Form::Unix(1))));
        let Some((at, last)) = self.find("mod", is_change).zip(last) else { return };
        if let Some(own) = &self.found[at] {
            let text = format!("coalesce({last}, {})", called(&own.text));
            self.set(at, text, "the time of the last answer");
        }
    }

    /// Returns the day on which a card is due, counted from the day of the collection. New cards have a place in line.
    fn due_of_card(&self, kind: &str) -> String {
        let is_change = |at: usize| matches!(self.time_at(at), Some((_, Form::Unix(1))));
        let interval = self.find(INTERVALS, |at| self.is_number(at)).map(|at| self.column(at));
        let changed = self.find("mod", is_change).map(|at| self.column(at));
        let day = interval
            .zip(changed)
            .map(|(interval, changed)| format!("({changed} - {}) / 86400 + {interval}", self.first_second()));
        format!("if({kind} = 0, int(1, 5000), {})", day.unwrap_or_else(|| "int(1500, 1860)".to_owned()))
    }

    /// Returns the time at which collections begin.
    fn first_second(&self) -> i64 {
        const DAYS: i64 = 1826;
        self.context.day.unix() - 86_400 * DAYS
    }

    /// Returns the number of a card among those of its note.
    fn number_of_card(&self) -> String {
        let by = self.context.per_parent.map(|by| self.column(by));
        by.map_or("constant(0)".to_owned(), |by| format!("number_in({by}) - 1"))
    }

    /// Answers: four grades, the next interval, and the time that the answer took.
    fn reviews(&mut self) {
        let find = |names: &str| self.find_repeatable_number(names);
        let (Some(grade), Some(interval)) = (find("ease grade button"), find(INTERVALS)) else { return };
        let (time, kind) = (find("time taken_millis"), find("type"));
        let answers = self.answers_of_card();
        let grades = match &answers {
            Some(Answers { number, .. }) => format!("if({number} = 1 AND bool(0.4), 1, choice(2: 8, 3: 80, 4: 12))"),
            None => "choice(1: 12, 2: 8, 3: 70, 4: 10)".to_owned(),
        };
        self.set(grade, grades, "how easy the answer was");
        let grade = self.column(grade);
        let days = answers.as_ref().map_or(DAYS, |answers| answers.interval.as_str());
        // Below a day the interval counts seconds, as a negative number.
        self.set(interval, format!("if({grade} = 1, -600, {days})"), "follows from the answer");
        if let Some(key) = self.table.rowid_alias {
            let [from, to] = [1500, 0].map(|days| self.context.day.before(days));
            let text = answers
                .as_ref()
                .map_or_else(|| Form::Unix(1000).ascending(&from, &format!("'{to}'")), |of| of.time.clone());
            self.found[key] = Some(super::inferred(text, "the time of an answer, in milliseconds"));
        }
        if let Some(at) = time {
            self.set(at, "lognormal(8.9, 0.6, min=800, max=60000, decimals=0)", "milliseconds of an answer");
        }
        if let Some(at) = kind {
            let text = answers.map(|Answers { number, .. }| format!("if({number} = 1, 0, 1)"));
            let text = text.unwrap_or_else(|| "choice(1: 75, 0: 18, 2: 5, 3: 2)".to_owned());
            self.set(at, text, "in learning, or a review");
        }
    }

    /// Returns the answers of one card after another, if they are consecutive and the card's note says when it was made. The n-th answer
    /// comes as many days later as the cube of n, but all of them come before the reference day.
    fn answers_of_card(&self) -> Option<Answers> {
        const DAY: u32 = 86_400;
        let by = self.column(self.context.per_parent?);
        let made = self.through_two(|_, _, note| note.column("mod").filter(|_| has_last_word(note, "note")))?;
        let (number, gaps) = (format!("number_in({by})"), format!("min(count_in({by}) - 1, 1000)"));
        let rows = i64::try_from(self.context.rows).unwrap_or(i64::MAX).max(1000);
        let age = format!("max(0, {} - {made})", self.context.day.unix() - 1 - rows / 500);
        let whole = format!("min({age}, {DAY} * {gaps} * {gaps} * {gaps})");
        // Thousandths of the gaps, and the seconds that are over then.
        let seconds = |number: &str| {
            let part = format!("({number} * 1000 / max({gaps}, 1))");
            format!("({whole} * ({part} * {part} * {part}) / 1_000_000_000)")
        };
        let [before, after] = [seconds(&format!("({number} - 1)")), seconds(&number)];
        // No two keys have the same remainder.
        let time = format!("({made} + {before}) * 1000 / {rows} * {rows} + {rows} + sequence() % {rows}");
        let interval = format!("max(1, ({after} - {before}) / {DAY})");
        Some(Answers { number, time, interval })
    }

    /// Notes: a product or a city in front, and its value or country behind. The front sorts them.
    fn notes_of_cards(&mut self) {
        let is_note = has_last_word(self.table, "note");
        let fields = self.find_repeatable_text("flds fields").filter(|_| is_note);
        let front = self.find("sfld sort_field", |at| self.found[at].is_none() && !self.columns[at].is_unique);
        let key = self.table.rowid_alias.map(|at| self.column(at));
        let (Some(fields), Some(front), Some(key)) = (fields, front, key) else { return };
        let (is_city, one, other) =
            (format!("{key} % 29 = 0"), format!("(2 + {key} % 97)"), format!("(3 + {key} / 97 % 89)"));
        let text = format!("if({is_city}, place('city'), {one} || ' x ' || {other})");
        self.set(front, text, "the first field");
        let front = self.column(front);
        let back = format!("if({is_city}, place_of({front}, 'country'), {one} * {other})");
        self.set(fields, format!("{front} || '{SEPARATOR}' || {back}"), "the fields of a note");
        if let Some(tags) = self.find_repeatable_text("tags") {
            let text = format!(
                "if({is_city}, 'geography' || choice('': 6, ' cities': 2, ' difficult'), 'arithmetic' || choice('': 6, ' multiplication': 2, ' tables'))"
            );
            self.set(tags, text, "follows from the fields");
        }
        if let Some(flags) = self.find_repeatable_number("flags") {
            self.set(flags, "constant(0)", "follows from what a note is");
        }
        self.no_data();
    }

    /// Collections: their models as JSON.
    fn collections(&mut self) {
        let is_collection = self.find("conf", |at| self.is_text(at)).is_some();
        if let Some(at) = self.find_repeatable_text("models").filter(|_| is_collection) {
            let text = r#"constant('{"name":"Basic","type":0,"fields":["Front","Back"]}')"#;
            self.set(at, text, "models as JSON");
            if let Some(at) = self.find("conf", |at| self.is_text(at)) {
                let text = "object(curDeck: constant(1), newSpread: constant(0), collapseTime: constant(1200), timeLim: constant(0), \
                            dueCounts: bool(1), sortType: constant('noteFld'), nextPos: int(5000, 9000))";
                self.set(at, text, "settings of flash cards as JSON");
            }
        }
        let (first, last) = (self.first_second(), self.context.day.unix());
        for (name, text) in [
            ("crt", format!("constant({first})")),
            ("mod", format!("{last} - int(60, 9000)")),
            ("scm", format!("constant({first})")),
        ] {
            let at = self.find(name, |at| matches!(self.time_at(at), Some((_, Form::Unix(1)))));
            if let Some(at) = at.filter(|&at| is_collection && !self.columns[at].is_unique) {
                self.set(at, text, "a time of the whole collection");
            }
        }
    }

    /// Tags: those that the notes have.
    fn tags_of_notes(&mut self) {
        let are_of_cards = has_last_word(self.table, "tag") && are_flash_cards(self.context.schema);
        if let Some(at) = self.find_text("tag name").filter(|&at| are_of_cards && self.columns[at].is_unique) {
            self.set(at, "unique_phrase('{card_tag}')", "a tag of a note");
        }
    }

    /// Settings of a program for flash cards.
    fn settings_of_cards(&mut self) {
        let is_config = has_last_word(self.table, "config") && are_flash_cards(self.context.schema);
        if let Some(at) = self.find_text("key").filter(|&at| is_config && self.columns[at].is_unique) {
            self.set(at, "unique_phrase('{card_setting}')", "a setting of flash cards");
        }
    }

    /// Keys of rows that were deleted: no row has them any more.
    fn deleted_rows(&mut self) {
        let key = self.find("oid", |at| self.is_number(at) && self.found[at].is_none());
        if let Some(at) = key.filter(|_| has_last_word(self.table, "grave")) {
            let rows = self.context.rows_of.iter().max().copied().unwrap_or_default();
            self.set(at, format!("{rows} + sequence()"), "the key of a row that is no more");
        }
    }

    /// Empties the data that add-ons of the program write.
    fn no_data(&mut self) {
        if let Some(at) = self.find_repeatable_text("data") {
            self.set(at, "constant('')", "follows from the add-ons that write it");
        }
    }

    /// Names of the types of notes.
    fn types_of_notes(&mut self) {
        if let Some(at) = self.find_text("name").filter(|_| are_types_of_notes(self.table)) {
            let unique = if self.columns[at].is_unique { "unique_" } else { "" };
            self.set(at, format!("{unique}phrase('{{card_type}}')"), "a type of notes");
        }
    }

    /// Names of the fields of a type, by their numbers.
    fn fields_of_types(&mut self) {
        let name = self.find_text("name").filter(|_| has_last_word(self.table, "field"));
        let Some((by, name)) = self.context.per_parent.map(|by| self.column(by)).zip(name) else { return };
        let text = format!(
            "CASE number_in({by}) WHEN 1 THEN 'Front' WHEN 2 THEN 'Back' WHEN 3 THEN 'Example' ELSE 'Field ' || number_in({by}) END"
        );
        self.set(name, text, "follows from its number");
    }
}
