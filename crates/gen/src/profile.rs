//! What a database that exists looks like, as a plan for one that looks alike.
//!
//! ```text
//! source --read.rs--> ranges of rowids, side by side --column.rs, sketch.rs--> ColumnStats, merged in any order
//! ColumnStats --describe.rs, shape.rs, times.rs--> an annotation a column --> plan file
//! ReferenceStats --fan_out.rs--> the annotations of foreign keys
//! two databases' stats --compare.rs--> their columns side by side
//! ```
//!
//! Everything is learned in one pass and in memory that does not grow with the source: counts, the least and the largest
//! value, values and their numbers as long as they are few, a sketch of how many there are, a sample, and the rows of
//! each parent, of a sample of parents where they are many. What is learned does not depend on the number of threads: ranges follow from the rowids alone, the sample from a hash of the rowid.
//!
//! **No text of the source's rows is kept** unless the caller wants it: of texts that are few their shares stay, under
//! made-up names, and of others their shape. Texts that the schema itself names, in a CHECK say, are no secret, nor is a
//! character that stands at the same place in all of many texts. Numbers and days are kept, as ends of ranges and bins.

mod column;
mod compare;
mod describe;
mod fan_out;
mod read;
mod references;
mod shape;
mod sketch;
#[cfg(test)]
mod tests;
mod times;

pub use compare::{Bucket, ColumnComparison, Comparison, Measure, TableComparison, compare};

use crate::annotation::{Expression, ExpressionKind, parse};
use crate::comments::{self, Annotation};
use crate::plan::{GenPlan, Request};
use crate::plan_file::{PlanFile, key_of, string};
use crate::random::ALGORITHM_VERSION;
use fan_out::Choice;
use litepress_rows::{Result, Schema};
use std::fmt::Write;
use std::path::Path;

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
    /// Whether the number is left to the plan: it follows from how many children the rows of a parent have.
    pub follows: bool,
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

/// Looks at all rows of a database; one connection a thread.
///
/// # Errors
/// [`ErrorKind::Data`](litepress_rows::ErrorKind::Data) where SQLite cannot read the file;
/// [`ErrorKind::Schema`](litepress_rows::ErrorKind::Schema) where its schema uses what this program's SQLite does not have.
pub fn profile(file: &Path, options: &ProfileOptions) -> Result<Profile> {
    let read::DatabaseStats { schema, tables: stats } = read::read(file, options.threads)?;
    // Annotations that a schema has by chance are none.
    let annotations = comments::annotations(&schema).unwrap_or_default();
    let mut choice = Choice::new(&schema, &stats);
    let mut said = Vec::new();
    for position in 0..schema.tables.len() {
        let own = || annotations.iter().filter(|annotation| annotation.table == position);
        let annotated: Vec<usize> = own().filter_map(|annotation| annotation.column).collect();
        let has_children = own().any(|annotation| annotation.column.is_some() && says_per_parent(&schema, annotation));
        said.push(choice.table(position, &annotated, has_children));
    }
    let follows = choice.follows;
    let mut tables = Vec::new();
    for (position, (stats, said)) in stats.into_iter().zip(said).enumerate() {
        let (Some(stats), table) = (stats, &schema.tables[position]) else { continue };
        let columns = table.ordinary_columns().zip(stats.columns).map(|(column, stats)| {
            let said = said.iter().find(|said| said.column == column).cloned();
            describe::describe(&describe::Subject { schema: &schema, table, column, options }, stats, said)
        });
        let (name, rows, follows) = (table.name.clone(), stats.rows, follows[position].is_some());
        tables.push(TableProfile { name, rows, follows, columns: columns.collect() });
    }
    let mut profile = Profile { schema, tables };
    profile.leave_what_fails();
    Ok(profile)
}

/// Whether an annotation of the schema is, or holds, a call of `per_parent`.
fn says_per_parent(schema: &Schema, annotation: &Annotation) -> bool {
    let site = comments::place(schema, annotation);
    parse(&site, annotation.span.clone()).is_ok_and(|expression| per_parent(&expression))
}

fn per_parent(expression: &Expression) -> bool {
    let ExpressionKind::Call(call) = &expression.kind else { return false };
    call.name.eq_ignore_ascii_case("per_parent") || call.arguments.iter().any(|argument| per_parent(&argument.value))
}

impl Profile {
    /// Plans what was learnt, as `gen` will. Columns whose values a constraint refuses, a CHECK of two columns say, are
    /// left to be inferred, as that may meet it.
    fn leave_what_fails(&mut self) {
        while let Some((table, names)) = self.fault() {
            let Some(of) = self.tables.iter_mut().find(|of| of.name == table) else { return };
            let mut left = false;
            for column in of.columns.iter_mut().filter(|column| names.split(", ").any(|name| name == column.name)) {
                left |= column.generator.take().is_some();
                column.because = "what was learnt does not meet the constraints of the table".to_owned();
            }
            if !left {
                return;
            }
        }
    }

    /// The table and the columns of the first mistake in the plan.
    fn fault(&self) -> Option<(String, String)> {
        let plan = PlanFile::parse(&self.to_toml(), "the profile").ok()?;
        let schema = plan.schema().ok()?;
        let error = GenPlan::new(&schema, &Request { plan: Some(plan), ..Request::default() }).err()?;
        Some((error.place().table.clone()?, error.place().column.clone()?))
    }

    /// The profile as a plan file.
    pub fn to_toml(&self) -> String {
        let mut out = String::from("# litepress gen OUT.db --plan THIS_FILE [--scale F]\n");
        let mut put = |text: std::fmt::Arguments<'_>| out.write_fmt(text).expect("a string takes everything");
        put(format_args!("algorithm_version = {ALGORITHM_VERSION}\nschema = {}\n", string(&self.schema.text)));
        for table in &self.tables {
            let name = key_of(&table.name);
            put(format_args!("\n[tables.{name}]\n"));
            match table.follows {
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
}
