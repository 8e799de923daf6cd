//! `litepress compare`: shows the values of two databases side by side, and how far apart they are.

use crate::failure::{DONE, ErrorForm};
use crate::options::HtmlArgs;
use crate::output::{print, print_json};
use clap::Args;
use litepress::{ProfileOptions, Result, parse};
use litepress_profile::{ColumnComparison, Comparison, RelationComparison};
use litepress_rows::{counted, escaped_lines, grouped};
use std::fmt::Write;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  litepress compare user.db large.db
  litepress compare user.db large.db --threads 1
  litepress compare user.db large.db --json
  litepress compare user.db large.db --html both.html
";

/// Compare two databases: histograms of every column side by side, and how far apart they are
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CompareArguments {
    /// A database; it is only read
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// Another database with the same tables; it is only read
    #[arg(value_name = "OTHER")]
    other: PathBuf,
    /// Threads that read [default: one a core]
    #[arg(long, value_name = "N", value_parser = parse::threads)]
    threads: Option<usize>,
    #[command(flatten)]
    html: HtmlArgs,
    /// Print the comparison as one JSON object
    #[arg(long)]
    json: bool,
}

impl CompareArguments {
    /// Returns the form of errors.
    pub fn errors(&self) -> ErrorForm {
        ErrorForm::of(self.json)
    }
}

pub fn run(arguments: &CompareArguments) -> Result<u8> {
    let options = arguments.html.profile(ProfileOptions::default());
    let options = options.clone().threads(arguments.threads.unwrap_or(options.threads));
    let comparison = litepress::compare(&arguments.database, &arguments.other, &options)?;
    arguments.html.open()?;
    match arguments.json {
        true => print_json(&comparison.to_json())?,
        false => print(&escaped_lines(&side_by_side(&comparison)))?,
    }
    Ok(DONE)
}

/// Shows both histograms of every column as bars, and the most different columns once more at the end.
fn side_by_side(comparison: &Comparison) -> String {
    const WORST: usize = 5;
    let mut out = String::new();
    let mut put = |text: std::fmt::Arguments<'_>| out.write_fmt(text).expect("a string takes everything");
    let mut columns = Vec::new();
    for table in &comparison.tables {
        let [one, other] = table.rows.map(|rows| counted(rows, "row"));
        put(format_args!("{}: {one} | {other}\n", table.name));
        for column in &table.columns {
            put(format_args!("{}", of_column(column)));
            columns.push((column.distance, format!("{}.{} {:.3}", table.name, column.name, column.distance)));
        }
        if !table.relations.is_empty() {
            put(format_args!("  Relations:\n"));
        }
        table.relations.iter().for_each(|relation| put(format_args!("{}", of_relation(relation))));
    }
    columns.sort_by(|one, other| other.0.total_cmp(&one.0));
    let worst: Vec<String> = columns.into_iter().take(WORST).map(|(_, column)| column).collect();
    let part = |score: Option<f64>| score.map_or("none".to_owned(), |score| format!("{score:.3}"));
    put(format_args!(
        "Score (1 is alike): {:.3}, the mean of columns {} and relations {}\n",
        comparison.score(),
        part(comparison.columns_score()),
        part(comparison.relations_score())
    ));
    if !comparison.only_in_other.is_empty() {
        put(format_args!("Only in the other database, and not compared: {}\n", comparison.only_in_other.join(", ")));
    }
    put(format_args!("Farthest apart (0 is alike, 1 has nothing in common): {}\n", worst.join(", ")));
    out
}

/// Shows the measures of a relation. Measures of samples are estimates.
fn of_relation(relation: &RelationComparison) -> String {
    let [one, other] = relation.values.map(|value| match value.abs() > 1.0 {
        true => format!("{value:.0}"),
        false => format!("~{value:.2}"),
    });
    format!("    {}: {one} | {other}, distance {:.3}\n", relation.text, relation.distance)
}

fn of_column(column: &ColumnComparison) -> String {
    const WIDTH: usize = 30;
    let percent = |share: f64| format!("{:.1}%", 100.0 * share);
    let [nulls, nulls_of_other] = column.nulls.map(percent);
    let [distinct, distinct_of_other] = [0, 1].map(|side| {
        let about = if column.distinct_is_exact[side] { "" } else { "~" };
        format!("{about}{}", grouped(column.distinct[side]))
    });
    let mut out = format!(
        "  {}: {}, distance {:.3}; NULL {nulls} | {nulls_of_other}; {distinct} | {distinct_of_other} different\n",
        column.name,
        column.measure.name(),
        column.distance
    );
    let bar = |share: f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of the width")]
        let eighths = (share * 8.0 * WIDTH as f64).round() as usize;
        let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
        format!("{}{rest}", "█".repeat(eighths / 8))
    };
    let widest = column.buckets.iter().map(|bucket| bucket.label.chars().count()).max().unwrap_or(0);
    for bucket in &column.buckets {
        let [one, other] = bucket.shares.map(|share| format!("{:>6} {}", percent(share), bar(share)));
        let line = format!("    {:>widest$} {one:<width$} |{other}", bucket.label, width = WIDTH + 7);
        out += line.trim_end();
        out.push('\n');
    }
    out
}
