//! Compares the objects of the copy with the tables that they need.
//!
//! The copy is the database, but for tables that it lacks (`--only`) and rowids that it lacks (`--without-rowid`). SQLite takes a view or
//! a trigger without a look at either, and fails when it is used.

use super::choice::{Choice, table_kinds};
use super::source::{Object, SourceDatabase};
use super::without_rowid::Conversion;
use crate::Result;
use litepress_rows::schema::{BrokenObject, VirtualTable, broken_objects};
use std::collections::HashMap;

/// The definitions of a database, without those that SQLite or a virtual table makes.
pub(super) struct Definitions<'s> {
    source: &'s SourceDatabase,
    kinds: HashMap<String, String>,
}

impl<'s> Definitions<'s> {
    pub fn of(source: &'s SourceDatabase) -> Self {
        Self { source, kinds: table_kinds(source) }
    }

    /// Returns the statement of an object, unless SQLite or a virtual table makes it.
    fn statement(&self, object: &'s Object) -> Option<&'s str> {
        let name = object.name.to_ascii_lowercase();
        let is_made = name.starts_with("sqlite_") || self.kinds.get(&name).is_some_and(|kind| kind == "shadow");
        object.sql.as_deref().filter(|_| !is_made && object.kind != "index")
    }

    fn statements(&self, choice: &Choice) -> Vec<&'s str> {
        choice.objects(self.source).filter_map(|object| self.statement(object)).collect()
    }

    /// Returns a function that tells whether an object is broken in the database already.
    fn is_broken_before(&self) -> Result<impl Fn(&BrokenObject) -> bool + use<>> {
        let statements: Vec<&str> = self.source.objects.iter().filter_map(|object| self.statement(object)).collect();
        let before = broken_objects(&statements)?;
        Ok(move |object: &BrokenObject| before.iter().any(|other| other.is_same(object)))
    }

    /// Returns the tables and views that views and full-text tables of the copy need, and that the copy lacks: `table t (view v reads it)`.
    pub fn missing(&self, choice: &Choice) -> Result<Vec<String>> {
        let mut missing: Vec<String> =
            choice.objects(self.source).filter_map(|table| self.content(choice, table)).collect();
        let mut statements = self.statements(choice);
        if !choice.objects(self.source).any(|object| object.kind == "view") {
            return Ok(missing);
        }
        let is_broken_before = self.is_broken_before()?;
        let is_new = |broken: &&BrokenObject| {
            let is_copied = |object: &Object| object.kind == "view" && object.name.eq_ignore_ascii_case(&broken.name);
            broken.kind == "view" && choice.objects(self.source).any(is_copied) && !is_broken_before(broken)
        };
        // SQLite tells the first table that a view lacks. With its definition it tells the next one.
        loop {
            let broken = broken_objects(&statements)?;
            let known = statements.len();
            for view in broken.iter().filter(is_new) {
                let Some(needed) =
                    view.problem.strip_prefix("no such table: ").and_then(|name| self.absent(choice, name))
                else {
                    continue;
                };
                let told = format!("{} {} (view {} reads it)", needed.kind, needed.name, view.name);
                if !missing.contains(&told) {
                    missing.push(told);
                }
                statements.extend(self.statement(needed).filter(|sql| !statements.contains(sql)));
            }
            if statements.len() == known {
                return Ok(missing);
            }
        }
    }

    /// Returns the table or view of this name, if the copy lacks it.
    fn absent(&self, choice: &Choice, name: &str) -> Option<&'s Object> {
        let name = name.strip_prefix("main.").unwrap_or(name);
        let is_it = |object: &&Object| {
            matches!(object.kind.as_str(), "table" | "view") && object.name.eq_ignore_ascii_case(name)
        };
        self.source.objects.iter().find(is_it).filter(|_| !choice.objects(self.source).any(|object| is_it(&object)))
    }

    /// Returns the table with the texts of a full-text table, if the copy lacks it.
    fn content(&self, choice: &Choice, table: &Object) -> Option<String> {
        let sql = table.sql.as_ref().filter(|_| table.kind == "table" && table.tree.is_none())?;
        let definition = VirtualTable::of_statement(sql)?;
        let needed = self.absent(choice, definition.content()?)?;
        Some(format!("{} {} ({} has its texts there)", needed.kind, needed.name, table.name))
    }

    /// Returns a view or a trigger of the copy that the last of these conversions breaks.
    pub fn broken_by(&self, choice: &Choice, conversions: &[Conversion]) -> Result<Option<BrokenObject>> {
        let is_late = |object: &Object| matches!(object.kind.as_str(), "view" | "trigger");
        if !choice.objects(self.source).any(is_late) {
            return Ok(None);
        }
        let statement = |object: &'s Object| -> Option<&str> {
            let is_its = |conversion: &&Conversion| conversion.table.name.eq_ignore_ascii_case(&object.name);
            match conversions.iter().find(is_its).filter(|_| object.kind == "table") {
                Some(conversion) => Some(&conversion.sql),
                None => self.statement(object),
            }
        };
        let with: Vec<&str> = choice.objects(self.source).filter_map(statement).collect();
        let broken = broken_objects(&with)?;
        if broken.is_empty() {
            return Ok(None);
        }
        // Objects that need a table which the copy lacks are told elsewhere.
        let without = broken_objects(&self.statements(choice))?;
        Ok(broken.into_iter().find(|object| !without.iter().any(|other| other.is_same(object))))
    }
}
