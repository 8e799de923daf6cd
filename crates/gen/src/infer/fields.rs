//! Values of the fields of references, in a table of their own: the first field of a reference is its title, the second one its
//! date, and so on.

use super::TableInference;
use super::names::is_plain;
use litepress_rows::schema::Table;

/// The kinds of values, which follow one another in the table of values: title, date, address, abstract, time of access,
/// key. References of all types have them.
pub(crate) const KINDS_OF_VALUES: u64 = 6;
/// Days between the youngest date and the reference day: references come out before they are collected.
const BEFORE_ITEMS: i64 = 1900;
/// Days between the oldest date and the reference day.
const DAYS: u64 = 15_000;

/// Returns whether a table has the values of fields, each once: `itemDataValues`.
pub(crate) fn has_values_of_fields(table: &Table) -> bool {
    let is_value = |column: usize| is_plain(&table.columns[column].name, "value") && super::is_key_alone(table, column);
    let has_values = table.rowid_alias.is_some() && (0..table.columns.len()).any(is_value);
    has_values && super::words_of_table(&table.name).join("_").ends_with("data_value")
}

/// Returns the key of a value that suits the field with a number. `rows` is the number of values.
pub(crate) fn value_of_field(number: &str, rows: u64) -> String {
    let last = (rows / KINDS_OF_VALUES).max(1) - 1;
    format!("min({rows}, ({number} - 1) % {KINDS_OF_VALUES} + 1 + {KINDS_OF_VALUES} * int(0, {last}))")
}

impl TableInference<'_> {
    /// Keys of references, by which libraries tell them apart: eight letters and digits.
    pub(super) fn keys_of_references(&mut self) {
        let are_references = || self.context.schema.tables.iter().any(has_values_of_fields);
        let key = self.find_text("key").filter(|_| self.find("date_added", |_| true).is_some() && are_references());
        if let Some(at) = key.filter(|&at| self.columns[at].is_unique) {
            self.set(at, "unique_regex('[2-9A-NP-Z]{8}')", "the key of a reference");
        }
    }

    /// Values, of one kind after another.
    pub(super) fn values_of_fields(&mut self) {
        let key = self.table.rowid_alias.filter(|_| has_values_of_fields(self.table)).map(|at| self.column(at));
        let Some((key, value)) = key.zip(self.find_text("value")) else { return };
        let number = format!("({key} / {KINDS_OF_VALUES})");
        let step = (DAYS * KINDS_OF_VALUES / self.context.rows.max(1)).max(1);
        let minutes = step * 60;
        let text = format!(
            "CASE ({key} - 1) % {KINDS_OF_VALUES} WHEN 1 THEN date_add('{1}', -{step} * {number}, 'days') \
             WHEN 2 THEN phrase('{{site}}') || '/' || phrase('{{slug}}') || '-' || {key} WHEN 3 THEN unique_phrase('{{abstract}}') \
             WHEN 4 THEN date_add('{0} 09:00:00', -{minutes} * {number}, 'minutes') WHEN 5 THEN phrase('{{noun}}') || '-' || {key} \
             ELSE unique_phrase('{{title}}') END",
            self.context.day.before(1),
            self.context.day.before(BEFORE_ITEMS)
        );
        self.set(value, text, "a value of a field");
    }
}
