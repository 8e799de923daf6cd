//! Views and triggers that SQLite can compile in their database, and cannot in the merged one.
//!
//! The column for the name of the database is an error then: each change of a trigger's table would fail. Nothing else changes a
//! table, so what is missing was left out: that is told in notes.

use crate::agreement::{self, AgreedObject};
use crate::survey::{Catalogue, Survey, TableKind};
use litepress_rows::schema::{BrokenObject, broken_objects};
use litepress_rows::{Error, ErrorKind, OptionName, Result, message};
use std::sync::Arc;

/// Returns a note about each broken object. `statements` are those of the merged database.
///
/// # Errors
/// If the column for the name of the database breaks one.
pub(crate) fn notes(
    statements: &[String],
    source_column: Option<&str>,
    agreed: &[AgreedObject<'_>],
    surveys: &[Survey],
) -> Result<Vec<String>> {
    if !agreed.iter().any(|agreed| matches!(agreed.object.kind.as_str(), "view" | "trigger")) {
        return Ok(Vec::new());
    }
    let broken = broken_objects(statements)?;
    if broken.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(column) = source_column {
        refuse_broken_by_column(&broken, column, agreed)?;
    }
    let mut known: Vec<(&Arc<Catalogue>, Vec<BrokenObject>)> = Vec::new();
    let mut notes = Vec::new();
    for object in broken {
        let is_it = |catalogue: &Catalogue| {
            let mut objects = catalogue.objects.iter();
            objects.any(|own| own.kind == object.kind && own.name.eq_ignore_ascii_case(&object.name))
        };
        let Some(survey) = surveys.iter().find(|survey| is_it(&survey.catalogue)) else { continue };
        let at = known.iter().position(|(catalogue, _)| Arc::ptr_eq(catalogue, &survey.catalogue));
        let at = match at {
            Some(at) => at,
            None => {
                known.push((&survey.catalogue, broken_objects(&of_catalogue(&survey.catalogue))?));
                known.len() - 1
            }
        };
        if !known[at].1.iter().any(|own| own.is_same(&object)) {
            notes.push(note(&object));
        }
    }
    Ok(notes)
}

/// Refuses the column for the name of the database if an object is broken with it alone.
fn refuse_broken_by_column(broken: &[BrokenObject], column: &str, agreed: &[AgreedObject<'_>]) -> Result<()> {
    let without = broken_objects(&agreement::statements(agreed))?;
    let Some(object) = broken.iter().find(|object| !without.iter().any(|own| own.is_same(object))) else {
        return Ok(());
    };
    let BrokenObject { kind, name, problem, .. } = object;
    let option = OptionName::SourceColumn.word(column.to_owned());
    let text = message![option.given(), format!(": the column breaks the {kind} {name}: {problem}")];
    let error = Error::new(ErrorKind::Unsupported, text);
    Err(error.advise(message![
        "do without ",
        OptionName::SourceColumn.alone(),
        format!(", or name the columns in the {kind} in all databases first, or drop it there")
    ]))
}

/// Returns the statements of a database.
fn of_catalogue(catalogue: &Catalogue) -> Vec<&str> {
    let objects = catalogue.objects.iter().zip(&catalogue.kinds);
    objects.filter(|(_, kind)| **kind != Some(TableKind::Shadow)).map(|(object, _)| object.sql.as_str()).collect()
}

fn note(object: &BrokenObject) -> String {
    let BrokenObject { kind, name, table, problem, .. } = object;
    match kind.as_str() {
        "view" => format!("view {name} stays, and cannot be read: {problem}"),
        _ => format!("trigger {name} stays, and changes of {table} fail: {problem}"),
    }
}
