//! Full-text indexes of new tables: a table of FTS5 over the columns of each, and the triggers that keep it up to date.

use super::{Draft, TableOptions, usage};
use crate::schema::name::in_sql;
use litepress_rows::{Error, OptionName, message};
use std::fmt::Write;

/// The place of the texts of full-text indexes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FtsContent {
    /// The table whose columns are indexed.
    #[default]
    Table,
    /// The full-text table itself, which has copies.
    Own,
}

/// The name of a table's full-text index.
pub(crate) fn table_name(table: &str) -> String {
    format!("{table}_fts")
}

/// Returns an error for each option of full-text indexes if none is asked for.
pub(crate) fn unused(options: &TableOptions) -> Vec<Error> {
    let words = [
        options.tokenizer.as_ref().map(|tokenizer| OptionName::FtsTokenizer.word(tokenizer.clone())),
        options.text_content.map(|_| OptionName::FtsContent.alone()),
    ];
    let unused = words.into_iter().flatten().filter(|_| options.full_text.is_empty());
    unused
        .map(|option| {
            let advice = message!["name the columns to index with ", OptionName::Fts.names(["A", "B"])];
            usage(message![option.given(), " has no effect: no table has a full-text index"]).advise(advice)
        })
        .collect()
}

/// Refuses full-text indexes that cannot be.
pub(super) fn refuse(drafts: &mut [Draft<'_>], options: &TableOptions, mistakes: &mut Vec<Error>) {
    mistakes.extend(unused(options));
    let names: Vec<String> = drafts.iter().map(|draft| draft.table.name.clone()).collect();
    for draft in drafts.iter_mut().filter(|draft| !draft.full_text.is_empty()) {
        let mut seen = Vec::new();
        draft.full_text.retain(|column| {
            !seen.contains(column) && {
                seen.push(*column);
                true
            }
        });
        let table = &draft.table.name;
        if options.without_rowid {
            let error = usage("a full-text index needs rowids, and the table is WITHOUT ROWID").in_table(table);
            mistakes.push(error.advise(message!["leave out ", OptionName::WithoutRowid.alone()]));
        }
        if rowid_name(draft).is_none() {
            let error =
                usage("a full-text index needs a name for the rowid, and columns have all three").in_table(table);
            mistakes.push(error.advise(message!["rename one: ", OptionName::Map.pair("rowid", "NEW_NAME")]));
        }
        let index = table_name(table);
        if names.iter().any(|name| name.eq_ignore_ascii_case(&index)) {
            let message = format!("its full-text index would be named {index}, which is another table");
            mistakes.push(usage(message).in_table(table).advise("rename the file"));
        }
        for &column in &draft.full_text {
            let name = &draft.table.columns[column].name;
            if ["rank", "rowid", &index].iter().any(|taken| taken.eq_ignore_ascii_case(name)) {
                let error = usage("FTS5 has a column of this name itself").in_table(table).in_column(name);
                mistakes.push(error.advise(message!["rename it: ", OptionName::Map.pair(name, "NEW_NAME")]));
            }
        }
    }
}

/// Writes the full-text tables and their triggers.
pub(super) fn write_tables(drafts: &[Draft<'_>], options: &TableOptions, sql: &mut String) {
    for draft in drafts.iter().filter(|draft| !draft.full_text.is_empty()) {
        let index = table_name(&draft.table.name);
        let rowid = rowid_name(draft).expect("a table without a name for its rowid was refused");
        let mut arguments = draft.names(&draft.full_text);
        if !is_own(options) {
            write!(arguments, ", content={}, content_rowid={}", text(&draft.table.name), text(&rowid))
                .expect(TAKES_ALL);
        }
        if let Some(tokenizer) = &options.tokenizer {
            write!(arguments, ", tokenize={}", text(tokenizer)).expect(TAKES_ALL);
        }
        writeln!(sql, "CREATE VIRTUAL TABLE {} USING fts5({arguments});", in_sql(&index)).expect(TAKES_ALL);
        write_triggers(draft, options, &index, &rowid, sql);
    }
}

fn is_own(options: &TableOptions) -> bool {
    options.text_content == Some(FtsContent::Own)
}

const TAKES_ALL: &str = "a string takes everything";

/// Writes the triggers that keep a full-text table up to date. A table with texts of its own is also filled by what they say.
fn write_triggers(draft: &Draft<'_>, options: &TableOptions, index: &str, rowid: &str, sql: &mut String) {
    let (table, name) = (in_sql(&draft.table.name), in_sql(index));
    let (columns, rowid) = (draft.names(&draft.full_text), in_sql(rowid));
    let values = |row: &str| {
        let columns = draft.full_text.iter().map(|&column| in_sql(&draft.table.columns[column].name));
        columns.map(|column| format!(", {row}.{column}")).collect::<String>()
    };
    let add = format!("INSERT INTO {name}(rowid, {columns}) VALUES (new.{rowid}{});", values("new"));
    let old = values("old");
    let remove = match is_own(options) {
        true => format!("DELETE FROM {name} WHERE rowid = old.{rowid};"),
        false => format!("INSERT INTO {name}({name}, rowid, {columns}) VALUES ('delete', old.{rowid}{old});"),
    };
    for (event, body) in [("insert", add.clone()), ("delete", remove.clone()), ("update", format!("{remove}\n  {add}"))]
    {
        let trigger = format!("{index}_{event}");
        let (trigger, event) = (in_sql(&trigger), event.to_ascii_uppercase());
        writeln!(sql, "CREATE TRIGGER {trigger} AFTER {event} ON {table} BEGIN\n  {body}\nEND;").expect(TAKES_ALL);
    }
}

/// Returns a name of the rowid that no other column has.
fn rowid_name(draft: &Draft<'_>) -> Option<String> {
    let columns = &draft.table.columns;
    if let [key] = draft.primary_key[..]
        && columns[key].declared_type.eq_ignore_ascii_case("INTEGER")
    {
        return Some(columns[key].name.clone());
    }
    let is_free = |name: &&str| !columns.iter().any(|column| column.name.eq_ignore_ascii_case(name));
    ["rowid", "_rowid_", "oid"].into_iter().find(is_free).map(str::to_owned)
}

/// Returns a text as SQL writes it.
fn text(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
