//! Writes a plan as a recipe.

use super::Schema;
use crate::infer::{Reference, reference};
use crate::plan::{ColumnPlan, GenPlan, Provenance, TablePlan};
use crate::random::ALGORITHM_VERSION;
use std::fmt::Write;

/// Writes the plan as a recipe, which generates the same database, byte by byte.
///
/// Inferred foreign keys are written as comments, because they depend on the parents' numbers of rows: they are
/// inferred again, so that these can be changed.
pub fn to_toml(schema: &Schema, plan: &GenPlan) -> String {
    let mut out = format!(
        "# litepress generate OUT.db --recipe THIS_FILE [--scale F]\nalgorithm_version = {ALGORITHM_VERSION}\n"
    );
    let scale = plan.tables().iter().find_map(|table| table.tpch.map(|(_, scale)| scale));
    if let Some(scale) = scale {
        put(&mut out, format_args!("scale = {scale:?}\n"));
    }
    put(&mut out, format_args!("schema = {}\n", toml_string(&schema.text)));
    for table in plan.tables().iter().filter(|table| table.tpch.is_none()) {
        write_table(&mut out, schema, table, scale.is_some());
    }
    out
}

fn write_table(out: &mut String, schema: &Schema, table: &TablePlan, is_scaled: bool) {
    let name = toml_key(&table.name);
    put(out, format_args!("\n[tables.{name}]\n"));
    match table.rows_are_derived {
        true => put(out, format_args!("# rows = {}  # they follow from those of its parent\n", grouped(table.rows))),
        false => put(out, format_args!("rows = {}\n", grouped(table.rows))),
    }
    put(out, format_args!("seed = {}\n", seed(table.seed)));
    if table.fixed || is_scaled {
        out.push_str("fixed = true\n");
    }
    put(out, format_args!("\n[tables.{name}.columns]\n"));
    for column in &table.columns {
        let line = format!("{} = {}", toml_key(&column.name), toml_string(&column.expression));
        match &column.provenance {
            Provenance::Inferred(because) if is_reference(schema, table, column) => {
                put(out, format_args!("# {}  # inferred anew: {because}\n", line.replace('\n', " ")));
            }
            Provenance::Inferred(because) => put(out, format_args!("{line}  # inferred: {because}\n")),
            _ => put(out, format_args!("{line}\n")),
        }
    }
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to memory does not fail");
}

fn is_reference(schema: &Schema, table: &TablePlan, column: &ColumnPlan) -> bool {
    reference(schema, &schema.tables[table.table], column.column) != Reference::None
}

/// Writes a whole number as TOML does: `1_000_000`.
fn grouped(number: u64) -> String {
    litepress_rows::grouped(number).replace(',', "_")
}

/// Writes a seed; TOML has no integers above 2^63-1, so these become strings.
fn seed(seed: u64) -> String {
    if i64::try_from(seed).is_ok() { seed.to_string() } else { format!("\"{seed}\"") }
}

/// Writes a name as a TOML key.
pub fn toml_key(name: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !name.is_empty() && name.bytes().all(is_bare) { name.to_owned() } else { escaped(name) }
}

/// Writes a text as a TOML string, without escapes if TOML has a notation for it.
pub fn toml_string(text: &str) -> String {
    let is_long = text.contains('\n');
    let is_odd = |c: char| c.is_control() && c != '\t' && c != '\n';
    let is_literal = !text.contains("'''") && !text.ends_with('\'') && !text.contains(is_odd);
    match (is_long, is_literal) {
        (true, true) => format!("'''\n{text}'''"),
        (false, _) if !text.contains(is_odd) && !text.contains(['"', '\\']) => format!("\"{text}\""),
        (false, _) if !text.contains(is_odd) && !text.contains('\'') => format!("'{text}'"),
        _ => escaped(text),
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            _ if c.is_control() => put(&mut out, format_args!("\\u{:04X}", u32::from(c))),
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_read_back() {
        let texts = ["", "a", "a'b", "a\"b", "a\"'b", "a\nb", "a'''\nb", "a\nb'", "\u{1}\r\n\t\\", "ä\u{7f}", "\nx"];
        for text in texts {
            for (written, name) in [(toml_string(text), "x"), (escaped(text), "x"), ("1".to_owned(), text)] {
                let file = format!("{} = {written}", toml_key(name));
                let parsed: toml::Table = toml::from_str(&file).expect(&file);
                if name == "x" {
                    assert_eq!(parsed["x"].as_str(), Some(text), "{file}");
                } else {
                    assert!(parsed.contains_key(name), "{file}");
                }
            }
        }
    }
}
