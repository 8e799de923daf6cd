//! From the statistics of a column to the annotation for similar values.

use crate::annotation_text::{quoted, with_nulls};
use crate::column_stats::{ColumnStats, Order, Run, Step};
use crate::compare::ColumnHistogram;
use crate::fan_out::ReferenceAnnotation;
use crate::histogram::{bounds, from_least, real_histogram, whole_histogram};
use crate::text_pattern;
use crate::{ColumnProfile, ProfileOptions, datetime};
use litepress_gen::catalogue::is_valid_annotation;
use litepress_gen::infer::{self, Reference};
use litepress_rows::schema::{Column, Schema, Table};
use std::fmt::Display;

/// Limits up to which values are listed one by one: number of distinct values, and their mean frequency.
pub(crate) const FEW: usize = 200;
pub(crate) const OFTEN: u64 = 3;
/// Number of ranges of lengths.
const LENGTHS: usize = 8;
/// Longest text that is made of several ranges of lengths, each of which costs time.
const LONG: u64 = 4096;

/// A column of the source.
pub(crate) struct ColumnContext<'a> {
    pub schema: &'a Schema,
    pub table: &'a Table,
    pub column: usize,
    pub options: &'a ProfileOptions,
}

/// Describes a column. `reference` is the annotation of a column of a foreign key.
pub(crate) fn describe(
    context: &ColumnContext<'_>,
    stats: ColumnStats,
    reference: Option<ReferenceAnnotation>,
    (measure, histogram): ColumnHistogram,
) -> ColumnProfile {
    let (distinct, distinct_is_exact) = stats.distinct();
    let range = if stats.least <= stats.largest {
        Some((stats.least, stats.largest))
    } else {
        (stats.texts + stats.blobs > 0).then_some((stats.shortest as f64, stats.longest as f64))
    };
    let Column { name, declared_type, .. } = context.table.columns[context.column].clone();
    let refers_to = refers_to(context);
    let nulls = stats.nulls;
    let (generator, because) = match (reference, inferred(context, &stats)) {
        (Some(ReferenceAnnotation { generator: None, .. }), _) if stats.values() == 0 && nulls > 0 => {
            (Some("constant(NULL)".to_owned()), "only NULL".to_owned())
        }
        (Some(ReferenceAnnotation { generator, because, .. }), _) => (generator, because),
        (None, Some(because)) => (None, because),
        (None, None) => {
            let rows = stats.nulls + stats.values();
            let (inner, because) = values(context, stats);
            (Some(with_nulls(inner, nulls, rows)), because)
        }
    };
    ColumnProfile {
        name,
        declared_type,
        refers_to,
        nulls,
        distinct,
        distinct_is_exact,
        range,
        measure,
        histogram,
        generator,
        because,
    }
}

/// Returns the table that the column refers to, with the column there if the foreign key names it.
fn refers_to(context: &ColumnContext<'_>) -> Option<String> {
    let mut keys = context.table.foreign_keys.iter();
    let (key, place) =
        keys.find_map(|key| Some((key, key.columns.iter().position(|&column| column == context.column)?)))?;
    let column = key.parent_columns.get(place).map(|column| format!(".{column}"));
    Some(key.parent.clone() + &column.unwrap_or_default())
}

/// Returns why a column is left to inference, if it is: its annotation depends on numbers of rows.
fn inferred(context: &ColumnContext<'_>, stats: &ColumnStats) -> Option<String> {
    let (table, column) = (context.table, context.column);
    if stats.values() == 0 {
        return (stats.nulls == 0).then(|| "there are no rows".to_owned());
    }
    if let Reference::Unclear(why) = infer::reference(context.schema, table, column)
        && infer::refers(context.schema, table, column)
    {
        return Some(why);
    }
    let is_unique = infer::is_key_alone(table, column);
    infer::unique_because(table, column).filter(|_| !is_unique).map(str::to_owned)
}

/// Returns the annotation for the values other than NULL.
fn values(context: &ColumnContext<'_>, stats: ColumnStats) -> (String, String) {
    let values = stats.values();
    if values == 0 {
        return ("constant(NULL)".to_owned(), "only NULL".to_owned());
    }
    let is_unique = infer::is_key_alone(context.table, context.column);
    let numbers = stats.ints + stats.reals;
    let most = numbers.max(stats.texts).max(stats.blobs);
    let (generator, because) = if most == numbers {
        number(stats, is_unique)
    } else if most == stats.texts {
        text(context, stats, is_unique)
    } else {
        let least = if is_unique { 8 } else { 0 };
        let blob = |shortest: u64, longest: u64| format!("blob({}, {})", shortest.max(least), longest.max(least));
        (by_length(&stats, blob), "blobs of these lengths".to_owned())
    };
    let mixed = if most == values { "" } else { ", and values of other kinds, which are left out" };
    if is_valid_annotation(&generator, values) {
        (generator, because + mixed)
    } else if most == numbers {
        ("int(0, 1000)".to_owned(), format!("no better description than numbers was found{mixed}"))
    } else {
        ("text(1, 10)".to_owned(), format!("no better description than texts was found{mixed}"))
    }
}

fn number(stats: ColumnStats, is_unique: bool) -> (String, String) {
    let order = stats.order();
    if let Order::Ascending(Run { first, last, step }) = order
        && (is_unique || stats.ints > 2)
    {
        let steps = i64::try_from(stats.ints - 1).unwrap_or(i64::MAX).max(1);
        let (step, because) = match step {
            None => (1, "a sequence"),
            Some(Step::Same(step)) => (step, "a sequence"),
            Some(Step::Varies) => ((last.saturating_sub(first) / steps).max(1), "ascending, with the mean step"),
        };
        let arguments = if (first, step) == (1, 1) { String::new() } else { format!("({first}, {step})") };
        return (format!("sequence{arguments}"), because.to_owned());
    }
    if is_unique {
        return ("shuffle".to_owned(), "they are unique, in no order".to_owned());
    }
    if stats.least > stats.largest {
        return ("real(0, 1)".to_owned(), "infinite numbers, which are left out".to_owned());
    }
    if stats.reals == 0 {
        if let Some(counts) = stats.int_counts.0.as_ref().filter(|counts| is_few(stats.ints, counts.len())) {
            return weighted(counts.iter().map(|(value, count)| (*value, *count)));
        }
        let (least, largest) = (stats.least_int, stats.largest_int);
        return whole_histogram(stats.numbers.values(), least, largest);
    }
    if let (Some(ints), Some(reals)) = (&stats.int_counts.0, &stats.real_counts.0)
        && is_few(stats.ints + stats.reals, ints.len() + reals.len())
    {
        let of_ints = ints.iter().map(|(value, count)| (value.to_string(), *count));
        let finite =
            reals.iter().map(|(value, count)| (f64::from_bits(*value), *count)).filter(|(value, _)| value.is_finite());
        let of_reals = finite.map(|(value, count)| (format!("{value:?}"), count));
        return weighted(of_ints.chain(of_reals));
    }
    real_histogram(stats.numbers.values(), stats.least, stats.largest)
}

/// Returns whether values are few enough, and frequent enough, to be listed with their shares.
pub(crate) fn is_few(values: u64, distinct: usize) -> bool {
    distinct <= FEW && values >= OFTEN * distinct as u64
}

/// Returns `choice(value: count, ...)`.
fn weighted<V: Display + Ord>(counts: impl Iterator<Item = (V, u64)>) -> (String, String) {
    let mut counts: Vec<(V, u64)> = counts.collect();
    counts.sort();
    let values: Vec<String> = counts.iter().map(|(value, count)| format!("{value}: {count}")).collect();
    (format!("choice({})", values.join(", ")), "a few values by their shares".to_owned())
}

/// Returns an annotation with lengths distributed as in the sample; `inner` makes the one for a range of lengths.
fn by_length(stats: &ColumnStats, inner: impl Fn(u64, u64) -> String) -> String {
    if stats.longest > LONG {
        return inner(stats.shortest, mean_end(stats));
    }
    let mut sorted = stats.lengths.clone().values();
    sorted.sort_unstable();
    let successor = |length: u64| length + 1;
    let mut bounds = from_least(bounds(&sorted, LENGTHS, successor), stats.shortest, successor);
    bounds.retain(|bound| *bound <= stats.longest);
    bounds.push(stats.longest + 1);
    let mut above = sorted.len();
    let mut annotation = String::new();
    for pair in bounds.windows(2).rev() {
        let below = if pair[0] == stats.shortest { 0 } else { sorted.partition_point(|length| *length < pair[0]) };
        let range = inner(pair[0], pair[1] - 1);
        // The share of this range among the lengths that are not below it.
        let share = (above - below) as f64 / (sorted.len() - below).max(1) as f64;
        annotation = match annotation.is_empty() {
            true => range,
            false if above == below => annotation,
            false => format!("if(bool({share:.4}), {range}, {annotation})"),
        };
        above = below;
    }
    annotation
}

/// Returns the end of a range that begins with the shortest length and has the sample's mean.
fn mean_end(stats: &ColumnStats) -> u64 {
    let lengths = stats.lengths.clone().values();
    let mean = lengths.iter().sum::<u64>() as f64 / lengths.len().max(1) as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a length")]
    let end = (2.0 * mean).round() as u64;
    end.saturating_sub(stats.shortest).clamp(stats.shortest, stats.longest)
}

fn text(context: &ColumnContext<'_>, stats: ColumnStats, is_unique: bool) -> (String, String) {
    let (texts, longest) = (stats.texts, stats.longest);
    let sample = stats.text_sample.clone().values();
    // Dates stay dates, however few they are.
    if let Some(found) =
        days(&sample, is_unique.then_some(texts)).filter(|(annotation, _)| is_valid_annotation(annotation, texts))
    {
        return found;
    }
    if let Some(few) = few_texts(context, &stats).filter(|_| !is_unique) {
        return few;
    }
    let pattern = text_pattern::of(&sample, longest, is_unique.then_some(texts), |pattern| by_length(&stats, pattern));
    match pattern.filter(|(generator, _)| is_valid_annotation(generator, texts)) {
        Some((generator, because)) => (generator, because.to_owned()),
        None if is_unique => {
            // Leaves room for a thousand times as many if the texts were short.
            let enough = (texts.max(1).ilog2() + 10).div_ceil(4).max(1);
            (format!("unique_hex({})", longest.clamp(u64::from(enough).min(16), 16)), "unique texts".to_owned())
        }
        None if longest == 0 => ("constant('')".to_owned(), "empty texts".to_owned()),
        None => {
            let text = |shortest: u64, longest: u64| format!("text({shortest}, {longest})");
            (by_length(&stats, text), "texts of these lengths".to_owned())
        }
    }
}

/// Describes texts that are dates or times. Empty texts among them stand for unknown times.
fn days(sample: &[Box<str>], unique: Option<u64>) -> Option<(String, String)> {
    let filled: Vec<Box<str>> = sample.iter().filter(|text| !text.is_empty()).cloned().collect();
    let (annotation, because) = datetime::of(&filled, unique)?;
    match sample.len() - filled.len() {
        0 => Some((annotation, because)),
        _ if unique.is_some() => None,
        empty => {
            let share = empty as f64 / sample.len() as f64;
            Some((format!("if(bool({share:.6}), '', {annotation})"), format!("{because}, and empty texts")))
        }
    }
}

/// Lists few texts with their shares.
fn few_texts(context: &ColumnContext<'_>, stats: &ColumnStats) -> Option<(String, String)> {
    let counts = stats.text_counts.0.as_ref().filter(|counts| is_few(stats.texts, counts.len()))?;
    let mut counts: Vec<(&str, u64)> = counts.iter().map(|(text, count)| (&**text, *count)).collect();
    counts.sort_unstable_by_key(|&(text, count)| (std::cmp::Reverse(count), text));
    let is_named = |text: &str| context.schema.text.contains(&quoted(text));
    let real = || counts.iter().map(|(text, _)| (*text).to_owned()).collect();
    let (names, because): (Vec<String>, _) = if context.options.keep_values {
        (real(), "a few texts by their shares")
    } else if counts.iter().all(|(text, _)| is_named(text)) {
        (real(), "texts that the schema names, by their shares")
    } else {
        (
            text_pattern::made_up(counts.iter().map(|(text, _)| *text)),
            "a few texts by their shares, under made-up names",
        )
    };
    let values = names.iter().zip(&counts).map(|(name, (_, count))| format!("{}: {count}", quoted(name)));
    Some((format!("choice({})", values.collect::<Vec<String>>().join(", ")), because.to_owned()))
}
