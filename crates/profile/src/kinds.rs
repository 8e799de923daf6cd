//! Columns of several kinds of values, each with its share: integers, real numbers, texts and blobs.

use crate::ProfileOptions;
use crate::column_stats::ColumnStats;
use crate::describe::{ColumnContext, Description, Model, by_length, few_numbers, number, text};
use crate::histogram::decimals;
use litepress_gen::catalogue::is_valid_annotation;
use litepress_gen::infer;
use litepress_rows::Affinity;

/// A kind of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// Integers and real numbers of one distribution.
    Numbers,
    Ints,
    Reals,
    Texts,
    Blobs,
}

/// Returns the annotation for the values other than NULL.
pub(crate) fn values(context: &ColumnContext<'_>, stats: &ColumnStats) -> Description {
    /// Least share of a kind of values beside a more frequent one.
    const SHARE: f64 = 0.01;
    let is_unique = infer::is_key_alone(context.table, context.column);
    let mut kinds = kinds(context, stats, is_unique);
    kinds.sort_by_key(|(kind, count)| (std::cmp::Reverse(*count), *kind));
    let Some(&(first, mut told)) = kinds.first() else {
        return Description::new("constant(NULL)", "only NULL", Model::Fixed);
    };
    let mut found = of_kind(context, stats, first, is_unique);
    for &(kind, count) in &kinds[1..] {
        if is_unique || (count as f64) < SHARE * stats.values() as f64 {
            found.because += ", and values of other kinds, which are left out";
            break;
        }
        let other = of_kind(context, stats, kind, is_unique);
        told += count;
        let share = count as f64 / told as f64;
        found = Description::new(
            format!("if(bool({share:.4}), {}, {})", other.generator, found.generator),
            format!("{}; {}", found.because, other.because),
            Model::Fixed,
        );
    }
    // A relation may change the numbers, and then decides which of them are whole.
    if told == stats.ints + stats.reals && stores_whole_as_ints(context) && kinds.len() > 1 {
        found.model = Model::Numbers;
    }
    found
}

/// Returns the kinds of a column's values with their numbers of rows.
fn kinds(context: &ColumnContext<'_>, stats: &ColumnStats, is_unique: bool) -> Vec<(Kind, u64)> {
    let mut kinds = match are_apart(context, stats, is_unique) {
        true => vec![(Kind::Ints, stats.ints), (Kind::Reals, stats.reals)],
        false => vec![(Kind::Numbers, stats.ints + stats.reals)],
    };
    kinds.extend([(Kind::Texts, stats.texts), (Kind::Blobs, stats.blobs)]);
    kinds.retain(|(_, count)| *count > 0);
    kinds
}

/// Returns whether integers and real numbers have distributions of their own. A list of few numbers holds both kinds.
fn are_apart(context: &ColumnContext<'_>, stats: &ColumnStats, is_unique: bool) -> bool {
    /// Difference of two shares that chance can explain.
    const NEAR: f64 = 0.03;
    let (ints, numbers) = (stats.ints as f64, (stats.ints + stats.reals) as f64);
    if is_unique || stats.ints == 0 || stats.reals == 0 || few_numbers(stats, context.options.keep_values).is_some() {
        return false;
    }
    let whole = decimals(&stats.numbers().sample.values()).map_or(0.0, |decimals| 0.1_f64.powi(decimals));
    !stores_whole_as_ints(context) || (ints / numbers - whole).abs() > NEAR
}

/// Returns whether the column turns real numbers without decimals into integers.
fn stores_whole_as_ints(context: &ColumnContext<'_>) -> bool {
    matches!(context.table.columns[context.column].affinity, Affinity::Integer | Affinity::Numeric)
}

/// Describes the values of one kind.
fn of_kind(context: &ColumnContext<'_>, stats: &ColumnStats, kind: Kind, is_unique: bool) -> Description {
    let &ProfileOptions { keep_values, .. } = context.options;
    let numbers = |stats: &ColumnStats| {
        let found = number(stats, is_unique, keep_values);
        checked(found, stats.ints + stats.reals, "int(0, 1000)", "numbers")
    };
    match kind {
        Kind::Numbers => numbers(stats),
        Kind::Ints => numbers(&stats.without_reals()),
        Kind::Reals => numbers(&stats.without_ints()),
        Kind::Texts => checked(text(context, stats, is_unique), stats.texts, "text(1, 10)", "texts"),
        Kind::Blobs => {
            let least = if is_unique { 8 } else { 0 };
            let blob = |shortest: u64, longest: u64| format!("blob({}, {})", shortest.max(least), longest.max(least));
            Description::new(by_length(&stats.blob_lengths, blob), "blobs of these lengths", Model::Fixed)
        }
    }
}

/// Returns a description if its annotation is valid for this number of values, or else a plain one.
fn checked(found: Description, values: u64, otherwise: &str, kind: &str) -> Description {
    match is_valid_annotation(&found.generator, values) {
        true => found,
        false => {
            let because = format!("no better description than {kind} was found");
            Description::new(otherwise, because, Model::Fixed)
        }
    }
}
