//! Profiles: statistics of an existing database, written as a recipe for a similar one.
//!
//! ```text
//! pages --read.rs--> parts of tables, in parallel --row_values.rs--> values of a row
//! values --column_stats.rs, sketch.rs--> ColumnStats, merged in any order
//! ColumnStats --kinds.rs, describe.rs, histogram.rs, datetime.rs--> one annotation a column --> recipe
//! texts --text_pattern.rs, shapes.rs, base64.rs, paths.rs, names.rs--> annotations of their formats
//! ReferenceStats --fan_out.rs--> annotations of foreign keys
//! sampled rows and their parents (row_sample.rs) --relations.rs--> relations of columns --weave.rs, agree.rs, siblings.rs, slopes.rs--> annotations that follow from others
//! two databases' stats --compare.rs, likeness.rs--> their columns and relations side by side, and a score
//! profile or comparison --json.rs--> what programs and pages read
//! ```
//!
//! Everything is collected in one pass and in memory that does not grow with the source: counts, extremes, values
//! with their frequencies while they are few, a sketch of the number of distinct values, a sample, and the number of
//! rows for each parent (of a sample of parents if they are many). The result does not depend on the number of
//! threads: parts follow from the pages alone, and the sample from a hash of the rowid.
//!
//! **No text of the source's rows is kept, and no number or day of a single row**, unless the caller asks for it: a column of
//! few texts keeps their shares under made-up names, and other columns keep the pattern of their texts. Exempt are
//! texts that occur in the schema itself, for example in a CHECK, and up to three letters or digits that all of many texts
//! have at the same place. Numbers and dates are kept as ends of ranges and bins, rounded, of five rows or more. Labels of histograms
//! keep to the same rule.

#![forbid(unsafe_code)]

mod agree;
mod annotation_text;
mod base64;
mod child_counts;
mod column_stats;
mod compare;
mod datetime;
mod describe;
mod fan_out;
mod histogram;
mod json;
mod kinds;
mod likeness;
mod names;
mod paths;
mod read;
mod references;
mod relations;
mod row_sample;
mod row_values;
mod shapes;
mod siblings;
mod sketch;
mod slopes;
#[cfg(test)]
mod tests;
mod text_pattern;
mod weave;

pub use compare::{Bucket, ColumnComparison, Comparison, Measure, RelationComparison, TableComparison, compare};

use describe::Model;
use fan_out::ReferencePlanner;
use histogram::Precision;
use litepress_gen::recipe::{toml_key, toml_string};
use litepress_gen::{ALGORITHM_VERSION, GenPlan, Recipe, Request, annotated_columns};
use litepress_rows::{Result, Schema};
use relations::SampleView;
use std::fmt::Write;
use std::path::Path;
use weave::Weaver;

/// Options of [`profile`](profile()).
#[derive(Clone, Debug)]
pub struct ProfileOptions {
    /// Number of reader threads.
    pub threads: usize,
    /// Whether the texts of columns with few texts are kept.
    pub keep_values: bool,
}

/// The profile of a database.
#[derive(Debug)]
pub struct Profile {
    /// The schema.
    pub schema: Schema,
    /// Its tables, without virtual ones.
    pub tables: Vec<TableProfile>,
}

/// The profile of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableProfile {
    /// Name.
    pub name: String,
    /// Number of rows.
    pub rows: u64,
    /// Whether the recipe leaves the number out, because it follows from the parents' numbers of children.
    pub rows_are_derived: bool,
    /// Whether the table is as large at any scale: a list of things that others refer to.
    pub is_fixed: bool,
    /// The ordinary columns in their order.
    pub columns: Vec<ColumnProfile>,
}

/// The profile of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnProfile {
    /// Name.
    pub name: String,
    /// Declared type.
    pub declared_type: String,
    /// The table that a foreign key of the column refers to, with its column if the key names it.
    pub refers_to: Option<String>,
    /// Rows that are NULL.
    pub nulls: u64,
    /// Number of distinct values without NULL: an estimate unless `distinct_is_exact`.
    pub distinct: u64,
    /// Whether `distinct` is exact.
    pub distinct_is_exact: bool,
    /// The least and the largest number, or else the least and the largest length of a text in characters or a blob
    /// in bytes.
    pub range: Option<(f64, f64)>,
    /// The property that the histogram counts.
    pub measure: Measure,
    /// Ranges of values, or values, with their shares of the values other than NULL.
    pub histogram: Vec<(String, f64)>,
    /// The annotation for similar values; `None` if the recipe leaves it to inference from keys and numbers of rows.
    pub generator: Option<String>,
    /// Reason for the annotation.
    pub because: String,
    /// The annotation, and its reason, that the column would have without the others, if it follows from one.
    alone: Option<(String, String)>,
}

/// Profiles a database by reading all rows, with one connection a thread. `go_on` is called now and then; its error stops the run.
///
/// # Errors
/// Errors of `go_on`;
/// [`ErrorKind::Data`](litepress_rows::ErrorKind::Data) if SQLite cannot read the file; [`ErrorKind::Corrupt`](litepress_rows::ErrorKind::Corrupt) if a page breaks a rule of the file format;
/// [`ErrorKind::Schema`](litepress_rows::ErrorKind::Schema) if the schema uses something that the bundled SQLite
/// lacks.
pub fn profile(file: &Path, options: &ProfileOptions, go_on: &(dyn Fn() -> Result<()> + Sync)) -> Result<Profile> {
    let database = read::read(file, options.threads, go_on)?;
    let mut histograms: Vec<_> =
        (0..database.tables.len()).map(|table| compare::histograms(&database, table, options.keep_values)).collect();
    let read::DatabaseStats { schema, tables: stats } = database;
    let annotated = annotated_columns(&schema);
    let mut planner = ReferencePlanner::new(&schema, &stats);
    let mut references = Vec::new();
    for position in 0..schema.tables.len() {
        let of_table = || annotated.iter().filter(|column| column.table == position);
        let columns: Vec<usize> = of_table().map(|column| column.column).collect();
        references.push(planner.table(position, &columns, of_table().any(|column| column.has_per_parent)));
    }
    let (row_sources, fixed) = (planner.row_sources, planner.fixed);
    let mut tables = Vec::new();
    for (position, references) in references.into_iter().enumerate() {
        let (Some(stats), table) = (&stats[position], &schema.tables[position]) else { continue };
        let histograms = std::mem::take(&mut histograms[position]);
        let columns = table.ordinary_columns().zip(&stats.columns).zip(histograms);
        let columns = columns.map(|((column, stats), histogram)| {
            let reference = references.iter().find(|reference| reference.column == column).cloned();
            let is_fixed = fixed[position];
            let context = describe::ColumnContext { schema: &schema, table, column, options, is_fixed };
            describe::describe(&context, stats, reference, histogram)
        });
        let (mut columns, models): (Vec<ColumnProfile>, Vec<Model>) = columns.unzip();
        let (view, precision) = (SampleView::new(table, stats), Precision::new(options.keep_values));
        Weaver { schema: &schema, table, stats, view: &view, models, precision }.weave(&mut columns);
        let is_derived = row_sources[position].is_some();
        tables.push(TableProfile {
            name: table.name.clone(),
            rows: stats.rows,
            rows_are_derived: is_derived,
            is_fixed: fixed[position] && !is_derived,
            columns,
        });
    }
    let mut profile = Profile { schema, tables };
    profile.infer_rejected_columns();
    Ok(profile)
}

impl Profile {
    /// Tests the profile as a recipe. Columns whose values violate a constraint, for example a CHECK of two columns, first
    /// lose their relation to another column. Then they are left to inference, which may satisfy it.
    fn infer_rejected_columns(&mut self) {
        while let Some((table, names)) = self.first_error() {
            let Some(of) = self.tables.iter_mut().find(|of| of.name == table) else { return };
            let mut left = false;
            for column in of.columns.iter_mut().filter(|column| names.split(", ").any(|name| name == column.name)) {
                left |= column.generator.is_some();
                (column.generator, column.because) = match column.alone.take() {
                    Some((alone, because)) => (Some(alone), because),
                    None => (None, "the profile violates the constraints of the table".to_owned()),
                };
            }
            if !left {
                return;
            }
        }
    }

    /// Returns the table and the columns of the first error in the recipe.
    fn first_error(&self) -> Option<(String, String)> {
        let recipe = Recipe::parse(&self.to_toml(), "the profile").ok()?;
        let schema = recipe.schema().ok()?;
        let error = GenPlan::new(&schema, &Request { recipe: Some(recipe), ..Request::default() }).err()?;
        Some((error.place().table.clone()?, error.place().column.clone()?))
    }

    /// Writes the profile as a recipe.
    pub fn to_toml(&self) -> String {
        let mut out = String::from("# litepress generate OUT.db --recipe THIS_FILE [--scale F]\n");
        let mut put = |text: std::fmt::Arguments<'_>| out.write_fmt(text).expect("writing to memory does not fail");
        put(format_args!("algorithm_version = {ALGORITHM_VERSION}\nschema = {}\n", toml_string(&self.schema.text)));
        for table in &self.tables {
            let name = toml_key(&table.name);
            put(format_args!("\n[tables.{name}]\n"));
            match table.rows_are_derived {
                true => put(format_args!("# rows = {}  # they follow from those of its parent\n", table.rows)),
                false => put(format_args!("rows = {}\n", table.rows)),
            }
            if table.is_fixed {
                put(format_args!("fixed = true  # a list that others refer to\n"));
            }
            put(format_args!("\n[tables.{name}.columns]\n"));
            for column in &table.columns {
                let (name, because) = (toml_key(&column.name), &column.because);
                match &column.generator {
                    Some(generator) => put(format_args!("{name} = {}  # {because}\n", toml_string(generator))),
                    None => put(format_args!("# {name} is inferred: {because}\n")),
                }
            }
        }
        out
    }
}
