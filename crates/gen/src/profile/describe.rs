//! From what is remembered of a column to the annotation that gives such values.

use super::column::{ColumnStats, Order, Run, Step};
use super::shape::{self, quoted};
use super::{ColumnProfile, ProfileOptions};
use crate::annotation::{Site, parse_call};
use crate::generators::catalogue;
use crate::infer::{self, Reference};
use litepress_rows::schema::{Schema, Table};
use std::fmt::Display;

/// Values are named one by one if they are so few, and each comes so often in the mean.
const FEW: usize = 60;
const OFTEN: u64 = 8;
/// Bins of a histogram, and that many more for values that come very often.
const BINS: usize = 48;

/// What a column looks like.
pub(super) fn describe(
    schema: &Schema,
    table: &Table,
    position: usize,
    stats: ColumnStats,
    options: &ProfileOptions,
) -> ColumnProfile {
    let (distinct, distinct_is_exact) = stats.distinct();
    let range = if stats.ints + stats.reals > 0 {
        Some((stats.least, stats.largest))
    } else {
        (stats.texts + stats.blobs > 0).then_some((stats.shortest as f64, stats.longest as f64))
    };
    let (name, nulls) = (table.columns[position].name.clone(), stats.nulls);
    let (generator, because) = match inferred(schema, table, position, &stats) {
        Some(because) => (None, because),
        None => {
            let is_unique = infer::is_key_alone(table, position);
            let rows = stats.nulls + stats.values();
            let (inner, because) = values(schema, stats, is_unique, options);
            (Some(with_nulls(inner, nulls, rows)), because)
        }
    };
    ColumnProfile { name, nulls, distinct, distinct_is_exact, range, generator, because }
}

/// Why a column is left to be inferred, if it is: keys hang on how many rows there are.
fn inferred(schema: &Schema, table: &Table, position: usize, stats: &ColumnStats) -> Option<String> {
    if stats.values() == 0 {
        return (stats.nulls == 0).then(|| "there are no rows".to_owned());
    }
    if let Reference::Single(parent) = infer::reference(schema, table, position) {
        let of = &schema.tables[parent.table];
        if of.rowid_alias == Some(parent.column) {
            return Some(format!("refers to {}.{}", of.name, of.columns[parent.column].name));
        }
    }
    let is_unique = infer::is_key_alone(table, position);
    infer::unique_because(table, position).filter(|_| !is_unique).map(str::to_owned)
}

/// The annotation for the values that are not NULL.
fn values(schema: &Schema, stats: ColumnStats, is_unique: bool, options: &ProfileOptions) -> (String, String) {
    let values = stats.values();
    if values == 0 {
        return ("constant(NULL)".to_owned(), "only NULL".to_owned());
    }
    let numbers = stats.ints + stats.reals;
    let most = numbers.max(stats.texts).max(stats.blobs);
    let (generator, because) = if most == numbers {
        number(stats, is_unique)
    } else if most == stats.texts {
        text(schema, stats, is_unique, options)
    } else {
        let (shortest, longest) = (stats.shortest, mean_end(&stats));
        let unique = if is_unique { 8 } else { 0 };
        (format!("blob({}, {})", shortest.max(unique), longest.max(unique)), "blobs of such lengths".to_owned())
    };
    let mixed = if most == values { "" } else { ", and values of other kinds, which are left out" };
    if is_good(&generator, values) {
        (generator, because + mixed)
    } else {
        ("text(1, 10)".to_owned(), format!("nothing better than texts was found{mixed}"))
    }
}

/// What is written out here is read by the plan: nothing may come out that it refuses.
fn is_good(generator: &str, rows: u64) -> bool {
    let site = Site::new(generator, "<profile>");
    parse_call(&site, 0..generator.len()).and_then(|call| catalogue::build(&site, &call, Some(rows))).is_ok()
}

fn with_nulls(inner: String, nulls: u64, rows: u64) -> String {
    if nulls == 0 || nulls == rows {
        return inner;
    }
    let share = (nulls as f64 / rows as f64).clamp(0.000_001, 0.999_999);
    let share = format!("{share:.6}");
    format!("null({}, {inner})", share.trim_end_matches('0'))
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
            Some(Step::Varies) => ((last.saturating_sub(first) / steps).max(1), "they ascend; the mean step"),
        };
        let arguments = if (first, step) == (1, 1) { String::new() } else { format!("({first}, {step})") };
        return (format!("sequence{arguments}"), because.to_owned());
    }
    if is_unique {
        return ("shuffle".to_owned(), "they are unique, in no order".to_owned());
    }
    let (distinct, is_exact) = stats.distinct();
    let is_few = is_exact && distinct <= FEW as u64 && stats.values() >= OFTEN * distinct;
    if stats.reals == 0 {
        if let Some(counts) = stats.int_counts.0.as_ref().filter(|_| is_few) {
            return weighted(counts.iter().map(|(value, count)| (*value, *count)));
        }
        let (least, largest) = (stats.least_int, stats.largest_int);
        return whole_histogram(stats.numbers.values(), least, largest);
    }
    if let (Some(ints), Some(reals)) = (&stats.int_counts.0, &stats.real_counts.0)
        && is_few
    {
        let of_ints = ints.iter().map(|(value, count)| (value.to_string(), *count));
        let of_reals = reals.iter().map(|(value, count)| (format!("{:?}", f64::from_bits(*value)), *count));
        return weighted(of_ints.chain(of_reals));
    }
    real_histogram(stats.numbers.values(), stats.least, stats.largest)
}

/// `choice(value: count, ...)`
fn weighted<V: Display + Ord>(counts: impl Iterator<Item = (V, u64)>) -> (String, String) {
    let mut counts: Vec<(V, u64)> = counts.collect();
    counts.sort();
    let values: Vec<String> = counts.iter().map(|(value, count)| format!("{value}: {count}")).collect();
    (format!("choice({})", values.join(", ")), "a few values by their shares".to_owned())
}

/// Bounds of bins that hold about equally many of these numbers; one that holds very many has a bin of its own, up to
/// what comes behind it.
fn bounds<N: Copy + PartialOrd>(sorted: &[N], behind: impl Fn(N) -> N) -> Vec<N> {
    let mut bounds: Vec<N> = Vec::new();
    for bin in 0..BINS {
        let bound = sorted[bin * sorted.len() / BINS];
        match bounds.last() {
            Some(last) if *last == bound => bounds.push(behind(bound)),
            Some(last) if *last > bound => {}
            _ => bounds.push(bound),
        }
    }
    bounds
}

/// `histogram(b0: w0, ..., bn)`; the bounds are written by `show`.
fn histogram<N: Copy + PartialOrd>(sorted: &[N], mut bounds: Vec<N>, end: N, show: impl Fn(N) -> String) -> String {
    bounds.retain(|bound| *bound < end);
    bounds.push(end);
    let below = |bound: N| sorted.partition_point(|number| *number < bound);
    let mut bins = String::new();
    for (bin, pair) in bounds.windows(2).enumerate() {
        // The least and the largest number of all may not be in the sample.
        let first = if bin == 0 { 0 } else { below(pair[0]) };
        let behind = if bin + 2 == bounds.len() { sorted.len() } else { below(pair[1]) };
        bins += &format!("{}: {}, ", show(pair[0]), behind - first);
    }
    format!("histogram({bins}{})", show(end))
}

/// The bounds of a sample, from the least number of all on. One that holds very many keeps its bin.
fn from_least<N: Copy + PartialOrd>(mut bounds: Vec<N>, least: N, behind: impl Fn(N) -> N) -> Vec<N> {
    match bounds[..] {
        [first, next, ..] if least < first && next == behind(first) => bounds.insert(0, least),
        _ => bounds[0] = least,
    }
    bounds
}

pub(super) fn whole_histogram(sample: Vec<f64>, least: i64, largest: i64) -> (String, String) {
    #[expect(clippy::cast_possible_truncation, reason = "saturates, and is clamped")]
    let mut sorted: Vec<i64> = sample.iter().map(|&number| (number as i64).clamp(least, largest)).collect();
    sorted.sort_unstable();
    let behind = |bound: i64| bound.saturating_add(1);
    let bounds = from_least(bounds(&sorted, behind), least, behind);
    let generator = match largest.checked_add(1) {
        Some(end) => histogram(&sorted, bounds, end, |bound| bound.to_string()),
        None => format!("int({least}, {largest})"),
    };
    (generator, "whole numbers so distributed".to_owned())
}

fn real_histogram(sample: Vec<f64>, least: f64, largest: f64) -> (String, String) {
    let mut sorted = sample;
    sorted.sort_unstable_by(f64::total_cmp);
    let bounds = from_least(bounds(&sorted, f64::next_up), least, f64::next_up);
    let generator = histogram(&sorted, bounds, largest.next_up(), |bound| format!("{bound:?}"));
    (generator, "numbers so distributed".to_owned())
}

/// The end of a range of lengths that begins with the shortest and has the mean that they have.
fn mean_end(stats: &ColumnStats) -> u64 {
    let lengths = stats.lengths.clone().values();
    let mean = lengths.iter().sum::<u64>() as f64 / lengths.len().max(1) as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a length")]
    let end = (2.0 * mean).round() as u64;
    end.saturating_sub(stats.shortest).clamp(stats.shortest, stats.longest)
}

fn text(schema: &Schema, stats: ColumnStats, is_unique: bool, options: &ProfileOptions) -> (String, String) {
    let (distinct, is_exact) = stats.distinct();
    if let Some(counts) = &stats.text_counts.0
        && !is_unique
        && is_exact
        && distinct <= FEW as u64
        && stats.texts >= OFTEN * distinct
    {
        let mut counts: Vec<(&str, u64)> = counts.iter().map(|(text, count)| (&**text, *count)).collect();
        counts.sort_unstable_by_key(|&(text, count)| (std::cmp::Reverse(count), text));
        let is_named = |text: &str| schema.text.contains(&quoted(text));
        let (names, because): (Vec<String>, _) = if options.keep_values {
            (counts.iter().map(|(text, _)| (*text).to_owned()).collect(), "a few texts by their shares")
        } else if counts.iter().all(|(text, _)| is_named(text)) {
            (
                counts.iter().map(|(text, _)| (*text).to_owned()).collect(),
                "texts that the schema names, by their shares",
            )
        } else {
            (shape::made_up(counts.iter().map(|(text, _)| *text)), "a few texts by their shares, under made-up names")
        };
        let values = names.iter().zip(&counts).map(|(name, (_, count))| format!("{}: {count}", quoted(name)));
        return (format!("choice({})", values.collect::<Vec<String>>().join(", ")), because.to_owned());
    }
    let (shortest, end, texts, longest) = (stats.shortest, mean_end(&stats), stats.texts, stats.longest);
    let shape = shape::of(&stats.text_sample.values(), longest, is_unique.then_some(texts));
    match shape.filter(|(generator, _)| is_good(generator, texts)) {
        Some((generator, because)) => (generator, because.to_owned()),
        None if is_unique => (format!("unique_hex({})", longest.clamp(1, 16)), "unique texts".to_owned()),
        None if longest == 0 => ("constant('')".to_owned(), "empty texts".to_owned()),
        None => (format!("text({shortest}, {end})"), "texts of such lengths".to_owned()),
    }
}
