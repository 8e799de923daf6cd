//! Finds the triggers that SQLite would run for each row of a new file, whose rows become pages without them, and those that SQLite
//! itself does not run: of DELETE, for rows that are replaced.

use super::{Schema, SchemaObject, Table, TextContent};
use crate::sql_tokens::lowercase_words;

impl Schema {
    /// Returns the names of the triggers that SQLite would run for new rows of the table, without those that only add the row to a
    /// full-text table: its index is made from the rows themselves.
    pub fn unrun_triggers<'s>(&'s self, table: &'s Table) -> impl Iterator<Item = &'s str> {
        let runs = |trigger: &&SchemaObject| {
            let words = trigger.sql.as_deref().map(lowercase_words).unwrap_or_default();
            let (head, body) = head_and_body(&words);
            is_of(head, "insert") && !only_target(head, body).is_some_and(|target| self.is_filled_from(target, table))
        };
        self.objects_of("trigger", &table.name).filter(runs).map(|trigger| &*trigger.name)
    }

    /// Returns a virtual table whose index would keep the texts of rows of `table` that are replaced: a trigger takes them out of it
    /// when a row is deleted. SQLite runs no such trigger for a row that another one replaces.
    pub fn stale_index<'s>(&'s self, table: &'s Table) -> Option<&'s str> {
        self.objects_of("trigger", &table.name).find_map(|trigger| {
            let words = lowercase_words(trigger.sql.as_deref()?);
            let (head, body) = head_and_body(&words);
            let is_wanted = is_of(head, "delete") && body.iter().any(|word| word == "'delete'");
            let into = body.windows(2).find(|pair| pair[0] == "into").filter(|_| is_wanted)?;
            self.table(&into[1]).filter(|index| index.is_virtual).map(|index| &*index.name)
        })
    }

    /// Returns whether the full-text table `name` is filled from the rows of `table`.
    fn is_filled_from(&self, name: &str, table: &Table) -> bool {
        let Some(full_text) = self.table(name).and_then(|found| found.full_text.as_deref()) else { return false };
        match &full_text.content {
            TextContent::Table(from, _) | TextContent::Copied(from, _) => from.name.eq_ignore_ascii_case(&table.name),
            _ => false,
        }
    }
}

/// Divides the words of a trigger at BEGIN, with which its body begins.
fn head_and_body(words: &[String]) -> (&[String], &[String]) {
    words.split_at(words.iter().position(|word| word == "begin").unwrap_or(words.len()))
}

/// Returns whether a trigger is one of this event: `CREATE TRIGGER t AFTER INSERT ON ...`
fn is_of(head: &[String], event: &str) -> bool {
    head.windows(2).any(|pair| pair[0] == event && pair[1] == "on")
}

/// Returns the table into which a trigger inserts, if it does nothing else.
fn only_target<'w>(head: &[String], body: &'w [String]) -> Option<&'w str> {
    let is_one = body.iter().filter(|word| *word == ";").count() == 1 && !head.iter().any(|word| word == "when");
    match body {
        [_, insert, into, target, ..] if is_one && insert == "insert" && into == "into" => Some(target),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables that a trigger would have filled were empty, and nothing said so.
    #[test]
    fn triggers_whose_work_is_not_done_are_found() {
        let sql = "CREATE TABLE m (id INTEGER PRIMARY KEY, s, t); CREATE TABLE log (x);
            CREATE VIRTUAL TABLE own USING fts5(s); CREATE VIRTUAL TABLE two USING fts5(s, t);
            CREATE VIRTUAL TABLE outer USING fts5(s, content='m', content_rowid='id');
            CREATE TRIGGER a AFTER INSERT ON m BEGIN INSERT INTO own(rowid, s) VALUES (new.id, new.s); END;
            CREATE TRIGGER b AFTER INSERT ON m BEGIN INSERT INTO outer(rowid, s) VALUES (new.id, coalesce(new.s, '')); END;
            CREATE TRIGGER c AFTER INSERT ON m BEGIN INSERT INTO two(rowid, s) VALUES (new.id, upper(new.s)); END;
            CREATE TRIGGER d BEFORE INSERT ON m WHEN new.id > 1 BEGIN INSERT INTO outer(rowid, s) VALUES (1, 'x'); END;
            CREATE TRIGGER e AFTER INSERT ON M BEGIN INSERT INTO outer(s) VALUES (1); DELETE FROM log; END;
            CREATE TRIGGER f AFTER DELETE ON m BEGIN INSERT INTO log VALUES (1); END;
            CREATE TRIGGER \"insert\" AFTER UPDATE OF s ON m BEGIN INSERT INTO log VALUES (1); END;
            CREATE TRIGGER h AFTER INSERT ON log BEGIN SELECT 1; END;
            CREATE TRIGGER i AFTER DELETE ON log BEGIN INSERT INTO OUTER(outer, rowid, s) VALUES ('delete', old.rowid, old.x); END;";
        let schema = Schema::from_sql(sql, "<test>").unwrap();
        let stale = |table: &str| schema.stale_index(schema.table(table).unwrap());
        assert_eq!((stale("m"), stale("log")), (None, Some("outer")));
        let of = |table: &str| schema.unrun_triggers(schema.table(table).unwrap()).collect::<Vec<&str>>();
        assert_eq!(of("m"), ["c", "d", "e"]);
        assert_eq!(of("log"), ["h"]);
    }
}
