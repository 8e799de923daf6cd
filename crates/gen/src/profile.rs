//! What a database that exists looks like, as a plan for one that looks alike.
//!
//! ```text
//! source --read.rs--> ranges of rowids, side by side --column.rs, sketch.rs--> ColumnStats, merged in any order
//! ColumnStats --describe.rs, shape.rs--> an annotation a column --> plan file
//! ```
//!
//! Everything is learned in one pass and in memory that does not grow with the source: counts, the least and the largest
//! value, values and their numbers as long as they are few, a sketch of how many there are, and a sample. What is learned
//! does not depend on the number of threads: ranges follow from the rowids alone, the sample from a hash of the rowid.
//!
//! **No text of the source's rows is kept** unless the caller wants it: of texts that are few their shares stay, under
//! made-up names, and of others their shape. Texts that the schema itself names, in a CHECK say, are no secret, nor is a
//! character that stands at the same place in all of many texts. Numbers and days are kept, as ends of ranges and bins.

mod column;
mod describe;
mod read;
mod shape;
mod sketch;
#[cfg(test)]
mod tests;

pub use read::profile;

use crate::annotation::{Expression, ExpressionKind, parse};
use crate::comments;
use crate::plan_file::{key_of, string};
use crate::random::ALGORITHM_VERSION;
use litepress_rows::Schema;
use std::fmt::Write;

/// How a profile is made.
#[derive(Clone, Debug)]
pub struct ProfileOptions {
    /// Threads that read.
    pub threads: usize,
    /// Whether texts that are few in their column are kept.
    pub keep_values: bool,
}

/// What a database looks like.
#[derive(Debug)]
pub struct Profile {
    /// The schema.
    pub schema: Schema,
    /// Its tables, virtual tables apart.
    pub tables: Vec<TableProfile>,
}

/// What a table looks like.
#[derive(Clone, Debug, PartialEq)]
pub struct TableProfile {
    /// Name.
    pub name: String,
    /// Number of rows.
    pub rows: u64,
    /// The ordinary columns in their order.
    pub columns: Vec<ColumnProfile>,
}

/// What a column looks like.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnProfile {
    /// Name.
    pub name: String,
    /// Rows that are NULL.
    pub nulls: u64,
    /// About how many values there are, NULL apart; exact where `distinct_is_exact`.
    pub distinct: u64,
    /// Whether all values were told apart.
    pub distinct_is_exact: bool,
    /// The least and the largest number, or the least and the largest length of a text or blob in characters or bytes.
    pub range: Option<(f64, f64)>,
    /// The annotation that gives such values; `None` where the plan infers it, from keys and numbers of rows.
    pub generator: Option<String>,
    /// Why.
    pub because: String,
}

impl Profile {
    /// The profile as a plan file.
    pub fn to_toml(&self) -> String {
        let mut out = String::from("# litepress gen OUT.db --plan THIS_FILE [--scale F]\n");
        let mut put = |text: std::fmt::Arguments<'_>| out.write_fmt(text).expect("a string takes everything");
        put(format_args!("algorithm_version = {ALGORITHM_VERSION}\nschema = {}\n", string(&self.schema.text)));
        for table in &self.tables {
            let name = key_of(&table.name);
            put(format_args!("\n[tables.{name}]\n"));
            match self.follows(table) {
                true => put(format_args!("# rows = {}  # they follow from those of its parent\n", table.rows)),
                false => put(format_args!("rows = {}\n", table.rows)),
            }
            put(format_args!("\n[tables.{name}.columns]\n"));
            for column in &table.columns {
                let (name, because) = (key_of(&column.name), &column.because);
                match &column.generator {
                    Some(generator) => put(format_args!("{name} = {}  # {because}\n", string(generator))),
                    None => put(format_args!("# {name} is inferred: {because}\n")),
                }
            }
        }
        out
    }

    /// Whether the number of rows is left to the plan: the schema has annotations of its own, and one that counts here says
    /// how many children each parent has.
    fn follows(&self, table: &TableProfile) -> bool {
        let annotations = comments::annotations(&self.schema).unwrap_or_default();
        annotations.iter().any(|annotation| {
            let of_table = &self.schema.tables[annotation.table];
            let name = annotation.column.map(|column| &of_table.columns[column].name);
            let counts = table.columns.iter().any(|column| Some(&column.name) == name && column.generator.is_none());
            let site = comments::place(&self.schema, annotation);
            let is_per_parent =
                || parse(&site, annotation.span.clone()).is_ok_and(|expression| per_parent(&expression));
            of_table.name == table.name && counts && is_per_parent()
        })
    }
}

/// Whether an annotation is, or holds, a call of `per_parent`.
fn per_parent(expression: &Expression) -> bool {
    let ExpressionKind::Call(call) = &expression.kind else { return false };
    call.name.eq_ignore_ascii_case("per_parent") || call.arguments.iter().any(|argument| per_parent(&argument.value))
}
