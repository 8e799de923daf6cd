//! Lists what a replaced table loses: indexes, triggers, columns and constraints that its replacement lacks.

use super::ORIGIN;
use crate::sqlite;
use litepress_rows::Schema;
use litepress_rows::schema::{Generated, IndexOrigin, Table, checks};
use litepress_rows::sql_tokens::lowercase_words;

/// Returns what a replaced table had that the new schema lacks: `index i of t`, `NOT NULL of t.a`.
pub(super) fn losses(old: &sqlite::Table, new: &Schema) -> Vec<String> {
    let mut losses = Vec::new();
    for object in &old.objects {
        let kind = if object.is_trigger { "trigger" } else { "index" };
        let known = new.sql_of(kind, &object.name).map(lowercase_words);
        if known != Some(lowercase_words(&object.sql)) {
            losses.push(format!("{kind} {} of {}", object.name, old.name));
        }
    }
    let Some(table) = new.table(&old.name) else { return losses };
    match Schema::from_sql(&old.sql, ORIGIN) {
        Ok(schema) => {
            schema.tables.iter().for_each(|old| losses.append(&mut lost_constraints(old, table)));
            let kept = new.sql_of("table", &old.name).unwrap_or_default();
            losses.extend(lost_clauses(&old.sql, kept).map(|clause| format!("{clause} of {}", old.name)));
        }
        // A CHECK may call a function that only an application has.
        Err(_) => losses.push(format!("definition of {}", old.name)),
    }
    losses
}

/// Returns the columns and constraints of a table that its replacement lacks.
fn lost_constraints(old: &Table, new: &Table) -> Vec<String> {
    let name = &old.name;
    let mut losses = Vec::new();
    let mut lose = |is_lost: bool, what: &str| {
        if is_lost {
            losses.push(format!("{what} of {name}"));
        }
    };
    let (old_key, new_key) = (primary_key(old), primary_key(new));
    lose(!old_key.is_empty() && !is_same(&old_key, &new_key), &format!("PRIMARY KEY ({})", old_key.join(", ")));
    lose(old.autoincrement && !new.autoincrement, "AUTOINCREMENT");
    lose(old.without_rowid && !new.without_rowid, "WITHOUT ROWID");
    lose(old.strict && !new.strict, "STRICT");
    for unique in unique_keys(old) {
        let is_kept = is_same(&unique, &new_key) || unique_keys(new).any(|other| is_same(&unique, &other));
        lose(!is_kept, &format!("UNIQUE ({})", unique.join(", ")));
    }
    for (columns, parent) in foreign_keys(old) {
        let is_kept =
            foreign_keys(new).any(|(others, other)| is_same(&columns, &others) && parent.eq_ignore_ascii_case(other));
        lose(!is_kept, &format!("FOREIGN KEY ({}) to {parent}", columns.join(", ")));
    }
    for column in &old.columns {
        let name = &column.name;
        let Some(position) = new.column(name) else {
            lose(true, &format!("column {name}"));
            continue;
        };
        let replacement = &new.columns[position];
        let is_computed = |generated| generated != Generated::No;
        lose(column.not_null && !replacement.not_null, &format!("NOT NULL ({name})"));
        lose(column.default.is_some() && column.default != replacement.default, &format!("DEFAULT ({name})"));
        let is_lost = is_computed(column.generated) && !is_computed(replacement.generated);
        lose(is_lost, &format!("GENERATED ({name})"));
    }
    losses
}

/// Returns the CHECK constraints, collations and actions of a CREATE TABLE statement that another one lacks.
fn lost_clauses(old: &str, new: &str) -> impl Iterator<Item = String> {
    let mut kept: Vec<Vec<String>> = clauses(new).into_iter().map(|clause| lowercase_words(&clause)).collect();
    clauses(old).into_iter().filter(move |clause| {
        let words = lowercase_words(clause);
        let known = kept.iter().position(|other| *other == words);
        known.map(|at| kept.swap_remove(at)).is_none()
    })
}

/// Returns the clauses of a CREATE TABLE statement: `CHECK (a > 0)`, `COLLATE nocase`, `ON DELETE set null`, `ON CONFLICT ignore`.
fn clauses(create_sql: &str) -> Vec<String> {
    let mut clauses: Vec<String> =
        checks(create_sql).into_iter().map(|check| format!("CHECK ({})", check.expression)).collect();
    let words = lowercase_words(create_sql);
    let mut words = words.iter().map(String::as_str).peekable();
    while let Some(word) = words.next() {
        let next = words.peek().copied();
        match (word, next) {
            ("collate", Some(name)) => clauses.push(format!("COLLATE {name}")),
            ("on", Some(event @ ("delete" | "update" | "conflict"))) => {
                words.next();
                let Some(action) = words.next() else { break };
                let rest =
                    words.next_if(|_| matches!(action, "set" | "no")).map_or(String::new(), |word| format!(" {word}"));
                clauses.push(format!("ON {} {action}{rest}", event.to_ascii_uppercase()));
            }
            ("initially", Some("deferred")) => clauses.push("DEFERRABLE INITIALLY DEFERRED".to_owned()),
            _ => {}
        }
    }
    clauses
}

/// Returns the names of the primary key's columns in its order.
fn primary_key(table: &Table) -> Vec<&str> {
    let mut columns: Vec<_> = table.columns.iter().filter(|column| column.key_position.is_some()).collect();
    columns.sort_by_key(|column| column.key_position);
    columns.into_iter().map(|column| column.name.as_str()).collect()
}

/// Returns the columns of each UNIQUE constraint and unique index that was made for all rows.
fn unique_keys(table: &Table) -> impl Iterator<Item = Vec<&str>> {
    let keys = table.indexes.iter().filter(|index| index.unique && !index.partial);
    let keys = keys.filter(|index| index.origin != IndexOrigin::PrimaryKey);
    keys.filter_map(|index| {
        let columns = index.columns.iter().map(|column| Some(table.columns[column.column?].name.as_str()));
        columns.collect()
    })
}

/// Returns the columns and the parent of each foreign key.
fn foreign_keys(table: &Table) -> impl Iterator<Item = (Vec<&str>, &str)> {
    table.foreign_keys.iter().map(|key| {
        let columns = key.columns.iter().map(|&column| table.columns[column].name.as_str());
        (columns.collect(), key.parent.as_str())
    })
}

/// Returns whether both name the same columns in the same order. Names are compared as in SQLite.
fn is_same(names: &[&str], others: &[&str]) -> bool {
    names.len() == others.len() && names.iter().zip(others).all(|(name, other)| name.eq_ignore_ascii_case(other))
}
