//! Notes of a load: what was done as SQLite does it, and is worth a look.

use crate::{Message, OptionName, Schema, Verify, message};
use litepress_load::changes::ChangedColumn;
use litepress_load::input::Input;
use litepress_load::plan::PlannedFile;
use litepress_load::source::LoadSource;
use litepress_rows::{Table, counted, grouped};

/// Returns the notes of a load whose sources were read. `has_schema` tells that the types are those of a schema.
pub fn notes_of<'s>(
    schema: &Schema,
    verify: Verify,
    sources: impl Iterator<Item = &'s LoadSource>,
    has_schema: bool,
) -> Vec<Message> {
    let changed = sources.flat_map(|source| changes(source, has_schema));
    foreign_keys(schema, verify).into_iter().chain(changed).collect()
}

/// Returns a note for each column whose declared type changed texts, or that holds texts among numbers. `has_schema` tells that the types are those of a schema.
pub(super) fn changes(source: &LoadSource, has_schema: bool) -> Vec<Message> {
    let table = &source.table().name;
    let columns = source.changed_columns();
    let changed = columns.iter().filter(|column| column.count > 0).map(|column| change(table, column, has_schema));
    let kept = columns.iter().filter(|column| column.kept > 0).map(|column| kept_texts(table, column));
    let rounded = columns.iter().filter(|column| column.rounded > 0).map(|column| rounded(table, column, has_schema));
    changed.chain(kept).chain(rounded).collect()
}

/// Tells of numbers that are rounded to the nearest double.
fn rounded(table: &str, column: &ChangedColumn, has_schema: bool) -> Message {
    let ChangedColumn { name, rounded, first_rounded, .. } = column;
    let numbers = match rounded {
        1 => "1 number is rounded to the nearest double".to_owned(),
        _ => format!("{} numbers are rounded to the nearest doubles", grouped(*rounded)),
    };
    let shown: Vec<String> =
        first_rounded.iter().map(|(record, number)| format!("{number} in record {record}")).collect();
    let more = if *rounded > first_rounded.len() as u64 { ", ..." } else { "" };
    let what = format!("{table}.{name}: {numbers} ({}{more}); ", shown.join(", "));
    if has_schema {
        return message![what, "a column that is declared TEXT keeps their digits"];
    }
    message![what, OptionName::Type.pair(name, "TEXT"), " keeps their digits"]
}

/// Tells of texts that a column of numbers keeps.
fn kept_texts(table: &str, column: &ChangedColumn) -> Message {
    let ChangedColumn { name, declared_type, kept, first_kept, .. } = column;
    let texts = if *kept == 1 { "1 text".to_owned() } else { format!("{} texts", grouped(*kept)) };
    let shown: Vec<String> = first_kept.iter().map(|(record, text)| format!("{text} in record {record}")).collect();
    let more = if *kept > first_kept.len() as u64 { ", ..." } else { "" };
    let what = format!(
        "{table}.{name} is declared {declared_type}, and {texts} in it stay texts ({}{more}); ",
        shown.join(", ")
    );
    let note = message![what, "SQLite refuses them in STRICT tables only"];
    if first_kept.iter().all(|(_, text)| text != "''") {
        return note;
    }
    note.and(message!["; ", OptionName::NullValue.alone(), " makes empty fields NULL"])
}

fn change(table: &str, column: &ChangedColumn, has_schema: bool) -> Message {
    let ChangedColumn { name, declared_type, count, first, .. } = column;
    let declared = if declared_type.is_empty() { "without a type" } else { declared_type };
    let texts = if *count == 1 { "1 text".to_owned() } else { format!("{} texts", grouped(*count)) };
    let shown: Vec<String> =
        first.iter().map(|(record, text, stored)| format!("{text} to {stored} in record {record}")).collect();
    let more = if *count > first.len() as u64 { ", ..." } else { "" };
    let what = format!(
        "{table}.{name} is declared {declared}, which SQLite stores as numbers: {texts} changed ({}{more}); ",
        shown.join(", ")
    );
    if has_schema {
        return message![what, "declare the column TEXT to keep them"];
    }
    message![what, "keep them with ", OptionName::Type.pair(name, "TEXT")]
}

/// Returns a note about triggers that SQLite would run for the new rows of a table, and that do not run in a new file.
pub(crate) fn unrun_triggers(schema: &Schema, table: &Table) -> Option<Message> {
    let triggers: Vec<&str> = schema.unrun_triggers(table).collect();
    let listed = match &triggers[..] {
        [] => return None,
        [one] => format!("the trigger {one} of {} does", table.name),
        several => format!("the triggers {} of {} do", several.join(", "), table.name),
    };
    let listed = listed
        + " not run for the rows of a new file, nor fill other tables; where rows are added to a file that exists (";
    Some(message![listed, OptionName::Append.alone(), "), SQLite runs triggers"])
}

/// Returns notes about foreign keys: missing parents, and unchecked keys.
pub(crate) fn foreign_keys(schema: &Schema, verify: Verify) -> Vec<Message> {
    let advice = message!["check them with ", OptionName::Verify.word("full")];
    foreign_keys_of(schema, schema.tables.iter(), verify, advice)
}

/// Returns notes about foreign keys of tables that exist and get rows.
pub(crate) fn foreign_keys_of_existing<'s>(
    schema: &'s Schema,
    tables: impl Iterator<Item = &'s Table>,
    verify: Verify,
) -> Vec<Message> {
    let (check, enforce) = (OptionName::Verify.word("full"), OptionName::EnforceForeignKeys.alone());
    foreign_keys_of(schema, tables, verify, message!["check them with ", check, ", or enforce them with ", enforce])
}

fn foreign_keys_of<'s>(
    schema: &'s Schema,
    tables: impl Iterator<Item = &'s Table>,
    verify: Verify,
    advice: Message,
) -> Vec<Message> {
    let mut notes = Vec::new();
    let mut unchecked = Vec::new();
    for table in tables {
        for key in &table.foreign_keys {
            let columns: Vec<&str> = key.columns.iter().map(|&column| table.columns[column].name.as_str()).collect();
            let child = format!("{}.{}", table.name, columns.join(", "));
            if schema.table(&key.parent).is_none() {
                notes.push(format!("{child} references {}, and there is no such table", key.parent).into());
            } else {
                unchecked.push(format!("{child} -> {}", key.parent));
            }
        }
    }
    if !unchecked.is_empty() && verify != Verify::Full {
        let (listed, more) = (unchecked.len().min(5), unchecked.len().saturating_sub(5));
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let keys = format!("foreign keys are not checked: {}{more}; ", unchecked[..listed].join(", "));
        notes.push(message![keys, advice]);
    }
    notes
}

/// Returns a note about headers of numbers, which may be records.
pub(super) fn of_doubtful_headers<'f>(files: impl Iterator<Item = &'f PlannedFile>) -> Option<Message> {
    let header = |file: &'f PlannedFile| Some((file.input()?, file.text_format()?.doubtful_header.as_ref()?));
    let doubtful: Vec<(&Input, &String)> = files.filter_map(header).collect();
    let (input, header) = doubtful.first()?;
    let more = match doubtful.len() - 1 {
        0 => String::new(),
        count => format!(", as in {}", counted(count as u64, "other file")),
    };
    let what = format!("the first record of {} became names of columns{more}: {header}; ", input.name.display());
    Some(message![what, OptionName::NoHeader.alone(), " reads it as a record"])
}
