//! Finds the table whose rows a trigger copies into a full-text table with texts of its own.
//!
//! ```text
//! CREATE VIRTUAL TABLE docs_fts USING fts5(body);
//! CREATE TRIGGER docs_fts_insert AFTER INSERT ON docs BEGIN
//!   INSERT INTO docs_fts(rowid, body) VALUES (new.id, new.body);
//! END;
//! ```
//!
//! Only a trigger of exactly this form counts. SQLite would run it for every row of the table.

use super::{FullText, Generated, SchemaObject, Table, TextContent};
use crate::sql_tokens::lowercase_words;

/// Returns where the texts of a full-text table come from: for a table of its own texts that a trigger fills, the other table.
pub(super) fn content(
    full_text: &FullText,
    table: &Table,
    objects: &[SchemaObject],
    find: impl Fn(&str) -> Option<Table>,
) -> Option<TextContent> {
    if !matches!(full_text.content, TextContent::Own) {
        return None;
    }
    let triggers = objects.iter().filter(|object| object.kind == "trigger").filter_map(|object| object.sql.as_deref());
    let mut copies = triggers.filter_map(copy).filter(|copy| copy.to.eq_ignore_ascii_case(&table.name));
    let (Some(copy), None) = (copies.next(), copies.next()) else { return None };
    let from = find(&copy.from).filter(|from| !from.is_virtual && !from.without_rowid)?;
    let is_rowid = |name: &str| match from.column(name) {
        Some(column) => from.rowid_alias == Some(column),
        None => ["rowid", "_rowid_", "oid"].contains(&name),
    };
    let mut columns = copy.columns;
    let rowid = columns.iter().position(|(to, _)| to == "rowid")?;
    if !is_rowid(&columns.remove(rowid).1) || columns.len() != table.ordinary_columns().count() {
        return None;
    }
    let position = |column: usize| {
        let name = &table.columns[column].name;
        let (_, source) = columns.iter().find(|(to, _)| to.eq_ignore_ascii_case(name))?;
        from.column(source).filter(|&at| from.columns[at].generated == Generated::No)
    };
    let columns = table.ordinary_columns().map(position).collect::<Option<Vec<usize>>>()?;
    Some(TextContent::Copied(Box::new(from), columns))
}

/// A trigger that copies each new row of a table into another one.
struct Copy {
    from: String,
    to: String,
    /// Columns of the other table, and of the new row.
    columns: Vec<(String, String)>,
}

/// Reads a CREATE TRIGGER statement. Returns `None` if it has another form.
fn copy(sql: &str) -> Option<Copy> {
    let words = lowercase_words(sql);
    let mut words = words.iter().map(String::as_str);
    expect(&mut words, &["create", "trigger"])?;
    words.next()?;
    expect(&mut words, &["after", "insert", "on"])?;
    let from = words.next()?.to_owned();
    let mut word = words.next()?;
    if word == "for" {
        expect(&mut words, &["each", "row"])?;
        word = words.next()?;
    }
    (word == "begin").then_some(())?;
    expect(&mut words, &["insert", "into"])?;
    let to = words.next()?.to_owned();
    expect(&mut words, &["("])?;
    let mut names = Vec::new();
    loop {
        names.push(words.next()?.to_owned());
        match words.next()? {
            "," => {}
            ")" => break,
            _ => return None,
        }
    }
    expect(&mut words, &["values", "("])?;
    let mut columns = Vec::new();
    for (at, name) in (1..).zip(&names) {
        expect(&mut words, &["new", "."])?;
        columns.push((name.clone(), words.next()?.to_owned()));
        expect(&mut words, &[if at == names.len() { ")" } else { "," }])?;
    }
    expect(&mut words, &[";", "end"])?;
    words.next().is_none().then_some(Copy { from, to, columns })
}

fn expect<'w>(words: &mut impl Iterator<Item = &'w str>, expected: &[&str]) -> Option<()> {
    expected.iter().all(|&expected| words.next() == Some(expected)).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schema;

    #[test]
    fn a_trigger_tells_whose_texts_are_copied() {
        let content = |rest: &str| {
            let sql = format!(
                "CREATE TABLE docs (id INTEGER PRIMARY KEY, title, \"odd, name\", c AS (title));
                 CREATE TABLE other (title, body); CREATE VIRTUAL TABLE t USING fts5(title, body); {rest}"
            );
            match Schema::from_sql(&sql, "<test>").unwrap().table("t").unwrap().full_text.clone().unwrap().content {
                TextContent::Copied(table, columns) => format!("{} {columns:?}", table.name),
                other => format!("{other:?}"),
            }
        };
        let trigger = |table: &str, names: &str, values: &str| {
            format!(
                "CREATE TRIGGER \"a b\" AFTER INSERT ON {table} BEGIN -- copy
                   INSERT INTO t({names}) VALUES({values}); END;"
            )
        };
        let names = "rowid, title, body";
        let usual = trigger("docs", names, "new.id, new.title, new.\"odd, name\"");
        assert_eq!(content(&usual), "docs [1, 2]");
        assert_eq!(
            content(&trigger("DOCS FOR EACH ROW", "[body],rowid,Title", "NEW.title,new.rowid,new.Title")),
            "docs [1, 1]"
        );
        assert_eq!(content(&trigger("other", names, "new.rowid, new.title, new.body")), "other [0, 1]");
        for other in [
            String::new(),
            trigger("docs", names, "new.title, new.title, new.\"odd, name\""),
            trigger("docs", names, "new.id, new.c, new.title"),
            trigger("docs", names, "new.id, upper(new.title), new.title"),
            trigger("docs", names, "new.id, 'new', new.title"),
            trigger("docs WHEN new.id > 5", names, "new.id, new.title, new.title"),
            trigger("docs", "rowid, title", "new.id, new.title"),
            trigger("docs", "title, body", "new.title, new.title"),
            usual.replace("AFTER", "BEFORE"),
            usual.replace("AFTER INSERT", "AFTER UPDATE"),
            usual.replace("END;", "DELETE FROM other; END;"),
            format!("{usual} {}", trigger("other", names, "new.rowid, new.title, new.body").replace("a b", "b")),
        ] {
            assert_eq!(content(&other), "Own", "{other}");
        }
    }
}
