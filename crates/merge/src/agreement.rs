//! One schema of all shards, or the first difference between two of them.
//!
//! Statements agree if their [tokens](crate::tokens) do: white space, comments, and the case of names do not count.

use crate::survey::{Catalogue, Object, Survey, TableKind};
use crate::tokens::{Statement, Token};
use litepress_rows::{Error, ErrorKind, OptionName, Result, escaped, message};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Number of tokens that a message shows of a difference.
const TOKENS_SHOWN: usize = 6;

/// An object of the merged schema.
#[derive(Debug)]
pub(crate) struct AgreedObject<'s> {
    pub object: &'s Object,
    pub kind: Option<TableKind>,
}

/// Returns the objects of all shards, those of the first shard first. Passes to `differs` each object that two shards have differently;
/// unless `has_union`, also those that one lacks.
///
/// # Errors
/// Errors of `differs`.
pub(crate) fn agree<'s>(
    surveys: &'s [Survey],
    has_union: bool,
    differs: &mut dyn FnMut(Error) -> Result<()>,
) -> Result<Vec<AgreedObject<'s>>> {
    let mut catalogues: Vec<(&Survey, &Arc<Catalogue>)> = Vec::new();
    for survey in surveys {
        if !catalogues.iter().any(|(_, known)| Arc::ptr_eq(known, &survey.catalogue)) {
            catalogues.push((survey, &survey.catalogue));
        }
    }
    let mut agreed: Vec<(AgreedObject<'_>, &Path)> = Vec::new();
    let mut known: HashMap<(bool, String), usize> = HashMap::new();
    for (survey, catalogue) in &catalogues {
        for (object, &kind) in catalogue.objects.iter().zip(&catalogue.kinds) {
            match known.get(&key(object)) {
                Some(&at) => {
                    let (other, shard) = &agreed[at];
                    compare((object, survey.name.as_path()), (other.object, shard)).or_else(&mut *differs)?;
                }
                None => {
                    known.insert(key(object), agreed.len());
                    agreed.push((AgreedObject { object, kind }, survey.name.as_path()));
                }
            }
        }
    }
    if !has_union {
        refuse_missing(&catalogues, &agreed, differs)?;
    }
    Ok(agreed.into_iter().map(|(object, _)| object).collect())
}

/// Returns the statements of objects. Shadow tables come with their virtual tables.
pub(crate) fn statements<'s>(agreed: &[AgreedObject<'s>]) -> Vec<&'s str> {
    let agreed = agreed.iter().filter(|agreed| agreed.kind != Some(TableKind::Shadow));
    agreed.map(|agreed| agreed.object.sql.as_str()).collect()
}

/// Returns what tells objects apart: triggers may be called as tables.
fn key(object: &Object) -> (bool, String) {
    (object.kind == "trigger", object.name.to_ascii_lowercase())
}

fn refuse_missing(
    catalogues: &[(&Survey, &Arc<Catalogue>)],
    agreed: &[(AgreedObject<'_>, &Path)],
    differs: &mut dyn FnMut(Error) -> Result<()>,
) -> Result<()> {
    for (survey, catalogue) in catalogues {
        let has = |object: &Object| catalogue.objects.iter().any(|own| key(own) == key(object));
        for (missing, shard) in agreed.iter().filter(|(agreed, _)| !has(agreed.object)) {
            let Object { kind, name, .. } = missing.object;
            let text = format!("the database has no {kind} {name}, which {} has", shard.display());
            let union = OptionName::Union.alone();
            let error = Error::new(ErrorKind::Schema, text).in_file(&survey.name);
            differs(error.advise(message!["merge what any database has with ", union]))?;
        }
    }
    Ok(())
}

/// Compares two objects of one name.
fn compare(one: (&Object, &Path), other: (&Object, &Path)) -> Result<()> {
    let ((object, shard), (first, first_shard)) = (one, other);
    let differs = |what: String| {
        let text = format!("{} {} is not as in {}: {what}", object.kind, object.name, first_shard.display());
        let error = Error::new(ErrorKind::Schema, text).in_file(shard);
        Err(error.advise("give all databases one schema first, or merge only those that agree"))
    };
    if object.kind != first.kind || !object.table.eq_ignore_ascii_case(&first.table) {
        return differs(format!("there it is a {} of {}", first.kind, first.table));
    }
    if object.sql == first.sql {
        return Ok(());
    }
    let (here, there) = (Statement::new(&object.sql), Statement::new(&first.sql));
    let alike = here.alike(&there);
    if alike == here.tokens.len() && alike == there.tokens.len() {
        return Ok(());
    }
    let show = |tokens: &[Token<'_>]| {
        // The word before tells which column it is.
        let shown = tokens[alike.saturating_sub(2).min(tokens.len())..].iter().take(TOKENS_SHOWN);
        escaped(&shown.map(|token| token.written).collect::<Vec<_>>().join(" ")).into_owned()
    };
    differs(format!("'{}' here, '{}' there", show(&here.tokens), show(&there.tokens)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(sql: &str) -> Object {
        let [kind, name, table] = ["table", "t", "t"].map(str::to_owned);
        Object { kind, name, table, sql: sql.to_owned() }
    }

    #[test]
    fn layout_does_not_count() {
        let plain = object("CREATE TABLE t (a INTEGER, b TEXT DEFAULT 'x  y')");
        let path = Path::new("s.db");
        for same in [
            "CREATE TABLE \"t\" (\n  a INTEGER, -- the key\n  b TEXT DEFAULT 'x  y')",
            "create table [t](a integer,/* x */b text default 'x  y')",
        ] {
            compare((&object(same), path), (&plain, path)).expect(same);
        }
        for (other, difference) in [
            ("CREATE TABLE t (a INTEGER, b TEXT DEFAULT 'x y')", "'TEXT DEFAULT 'x y' )' here"),
            (
                "CREATE TABLE t (a TEXT, b TEXT DEFAULT 'x  y')",
                "'( a TEXT , b TEXT' here, '( a INTEGER , b TEXT' there",
            ),
            ("CREATE TABLE t (a INTEGER, b TEXT DEFAULT 'X  y')", "here"),
            ("CREATE TABLE t (a INTEGER, b TEXT)", "here"),
        ] {
            let error = compare((&object(other), path), (&plain, path)).expect_err(other).to_string();
            assert!(error.contains("table t is not as in s.db") && error.contains(difference), "{error}");
        }
    }
}
