//! From the statistics of a column to the annotation for similar values.

use super::column::{ColumnStats, Order, Run, Step};
use super::fan_out::Said;
use super::shape::{self, quoted};
use super::{ColumnProfile, ProfileOptions, times};
use crate::annotation::{Expression, ExpressionKind, Site, parse};
use crate::generators::catalogue;
use crate::infer::{self, Reference};
use litepress_rows::schema::{Schema, Table};
use std::fmt::Display;

/// Limits up to which values are listed one by one: number of distinct values, and their mean frequency.
pub(super) const FEW: usize = 200;
pub(super) const OFTEN: u64 = 3;
/// Number of bins of a histogram, and the least number of values in a bin, so that no bin reveals a single row.
const BINS: usize = 48;
const IN_A_BIN: usize = 5;
/// Number of ranges of lengths.
const LENGTHS: usize = 8;
/// Longest text that is made of several ranges of lengths, each of which costs time.
const LONG: u64 = 4096;

/// A column of the source.
pub(super) struct Subject<'a> {
    pub schema: &'a Schema,
    pub table: &'a Table,
    pub column: usize,
    pub options: &'a ProfileOptions,
}

/// Describes a column. `reference` is the annotation of a column of a foreign key.
pub(super) fn describe(subject: &Subject<'_>, stats: ColumnStats, said: Option<Said>) -> ColumnProfile {
    let (distinct, distinct_is_exact) = stats.distinct();
    let range = if stats.least <= stats.largest {
        Some((stats.least, stats.largest))
    } else {
        (stats.texts + stats.blobs > 0).then_some((stats.shortest as f64, stats.longest as f64))
    };
    let (name, nulls) = (subject.table.columns[subject.column].name.clone(), stats.nulls);
    let (generator, because) = match (said, inferred(subject, &stats)) {
        (Some(Said { generator: None, .. }), _) if stats.values() == 0 && nulls > 0 => {
            (Some("constant(NULL)".to_owned()), "only NULL".to_owned())
        }
        (Some(Said { generator, because, .. }), _) => (generator, because),
        (None, Some(because)) => (None, because),
        (None, None) => {
            let rows = stats.nulls + stats.values();
            let (inner, because) = values(subject, stats);
            (Some(with_nulls(inner, nulls, rows)), because)
        }
    };
    ColumnProfile { name, nulls, distinct, distinct_is_exact, range, generator, because }
}

/// Returns why a column is left to inference, if it is: its annotation depends on numbers of rows.
fn inferred(subject: &Subject<'_>, stats: &ColumnStats) -> Option<String> {
    let (table, column) = (subject.table, subject.column);
    if stats.values() == 0 {
        return (stats.nulls == 0).then(|| "there are no rows".to_owned());
    }
    if let Reference::Unclear(why) = infer::reference(subject.schema, table, column)
        && infer::refers(subject.schema, table, column)
    {
        return Some(why);
    }
    let is_unique = infer::is_key_alone(table, column);
    infer::unique_because(table, column).filter(|_| !is_unique).map(str::to_owned)
}

/// Returns the annotation for the values other than NULL.
fn values(subject: &Subject<'_>, stats: ColumnStats) -> (String, String) {
    let values = stats.values();
    if values == 0 {
        return ("constant(NULL)".to_owned(), "only NULL".to_owned());
    }
    let is_unique = infer::is_key_alone(subject.table, subject.column);
    let numbers = stats.ints + stats.reals;
    let most = numbers.max(stats.texts).max(stats.blobs);
    let (generator, because) = if most == numbers {
        number(stats, is_unique)
    } else if most == stats.texts {
        text(subject, stats, is_unique)
    } else {
        let least = if is_unique { 8 } else { 0 };
        let blob = |shortest: u64, longest: u64| format!("blob({}, {})", shortest.max(least), longest.max(least));
        (by_length(&stats, blob), "blobs of such lengths".to_owned())
    };
    let mixed = if most == values { "" } else { ", and values of other kinds, which are left out" };
    if is_good(&generator, values) {
        (generator, because + mixed)
    } else if most == numbers {
        ("int(0, 1000)".to_owned(), format!("nothing better than numbers was found{mixed}"))
    } else {
        ("text(1, 10)".to_owned(), format!("nothing better than texts was found{mixed}"))
    }
}

/// Returns whether the plan would accept an annotation.
fn is_good(annotation: &str, rows: u64) -> bool {
    let site = Site::new(annotation, "<profile>");
    parse(&site, 0..annotation.len()).is_ok_and(|expression| is_made(&site, &expression, rows))
}

fn is_made(site: &Site<'_>, expression: &Expression, rows: u64) -> bool {
    match &expression.kind {
        ExpressionKind::Call(call) => catalogue::build(site, call, Some(rows)).is_ok(),
        ExpressionKind::Operation { operands, .. } => operands.iter().all(|operand| is_made(site, operand, rows)),
        ExpressionKind::Literal(_) => true,
        ExpressionKind::Column { .. } => false,
    }
}

pub(super) fn with_nulls(inner: String, nulls: u64, rows: u64) -> String {
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
pub(super) fn is_few(values: u64, distinct: usize) -> bool {
    distinct <= FEW && values >= OFTEN * distinct as u64
}

/// Returns `choice(value: count, ...)`.
fn weighted<V: Display + Ord>(counts: impl Iterator<Item = (V, u64)>) -> (String, String) {
    let mut counts: Vec<(V, u64)> = counts.collect();
    counts.sort();
    let values: Vec<String> = counts.iter().map(|(value, count)| format!("{value}: {count}")).collect();
    (format!("choice({})", values.join(", ")), "a few values by their shares".to_owned())
}

/// Returns the number of bins for this number of values.
fn bins(values: usize) -> usize {
    BINS.min(values / IN_A_BIN).max(1)
}

/// Returns bounds of bins that hold about equally many of these numbers. A very frequent number gets its own bin, up
/// to `behind` it.
fn bounds<N: Copy + PartialOrd>(sorted: &[N], bins: usize, behind: impl Fn(N) -> N) -> Vec<N> {
    let mut bounds: Vec<N> = Vec::new();
    for bin in 0..bins {
        let bound = sorted[bin * sorted.len() / bins];
        match bounds.last() {
            Some(last) if *last == bound => bounds.push(behind(bound)),
            Some(last) if *last > bound => {}
            _ => bounds.push(bound),
        }
    }
    bounds
}

/// Returns `histogram(b0: w0, ..., bn)`; `show` formats the bounds.
fn histogram<N: Copy + PartialOrd>(sorted: &[N], mut bounds: Vec<N>, end: N, show: impl Fn(N) -> String) -> String {
    bounds.retain(|bound| *bound < end);
    bounds.push(end);
    let below = |bound: N| sorted.partition_point(|number| *number < bound);
    let mut bins = String::new();
    for (bin, pair) in bounds.windows(2).enumerate() {
        // The extremes of all rows may be missing in the sample.
        let first = if bin == 0 { 0 } else { below(pair[0]) };
        let behind = if bin + 2 == bounds.len() { sorted.len() } else { below(pair[1]) };
        bins += &format!("{}: {}, ", show(pair[0]), behind - first);
    }
    format!("histogram({bins}{})", show(end))
}

/// Extends the bounds of a sample to the least number of all rows. A frequent number keeps its own bin.
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
    (stepped(sorted, least, largest), "whole numbers so distributed".to_owned())
}

/// Returns a histogram of integers, or of a multiple of integers if all are multiples above the least one.
fn stepped(mut sorted: Vec<i64>, least: i64, largest: i64) -> String {
    const ENOUGH: usize = 20;
    // The sample holds larger integers rounded.
    const EXACT: u64 = 1 << 53;
    let behind = |bound: i64| bound.saturating_add(1);
    let is_exact = least.unsigned_abs() < EXACT && largest.unsigned_abs() < EXACT;
    let step = if is_exact && sorted.len() >= ENOUGH { common_step(&sorted, least, largest) } else { 1 };
    if step > 1 {
        sorted.iter_mut().for_each(|number| *number = (*number - least) / step);
        let steps = (largest - least) / step;
        let bounds = from_least(bounds(&sorted, bins(sorted.len()), behind), 0, behind);
        let from = match least {
            0 => String::new(),
            1.. => format!(" + {least}"),
            _ => format!(" - {}", least.unsigned_abs()),
        };
        return format!("{} * {step}{from}", histogram(&sorted, bounds, steps + 1, |bound| bound.to_string()));
    }
    let bounds = from_least(bounds(&sorted, bins(sorted.len()), behind), least, behind);
    match largest.checked_add(1) {
        Some(end) => histogram(&sorted, bounds, end, |bound| bound.to_string()),
        None => format!("int({least}, {largest})"),
    }
}

/// Returns the greatest common divisor of all distances from the least number.
fn common_step(sorted: &[i64], least: i64, largest: i64) -> i64 {
    let common = |one: i64, other: i64| {
        let (mut one, mut other) = (one, other);
        while other != 0 {
            (one, other) = (other, one % other);
        }
        one
    };
    sorted.iter().map(|number| number - least).fold(largest - least, common).max(1)
}

fn real_histogram(sample: Vec<f64>, least: f64, largest: f64) -> (String, String) {
    if let Some(decimals) = decimals(&sample).filter(|_| least.abs().max(largest.abs()) < 1e9) {
        let unit = 10_f64.powi(decimals);
        #[expect(clippy::cast_possible_truncation, reason = "below 2^53")]
        let whole = |number: f64| (number * unit).round() as i64;
        let mut sorted: Vec<i64> = sample.into_iter().map(whole).collect();
        sorted.sort_unstable();
        let generator = stepped(sorted, whole(least), whole(largest));
        let generator = if generator.ends_with(')') { generator } else { format!("({generator})") };
        return (format!("{generator} / {unit:.1}"), format!("numbers of {decimals} decimals so distributed"));
    }
    let mut sorted = sample;
    sorted.sort_unstable_by(f64::total_cmp);
    let bounds = from_least(bounds(&sorted, bins(sorted.len()), f64::next_up), least, f64::next_up);
    let generator = histogram(&sorted, bounds, largest.next_up(), |bound| format!("{bound:?}"));
    (generator, "numbers so distributed".to_owned())
}

/// Returns the number of decimals that all of these numbers need, if it is small.
fn decimals(numbers: &[f64]) -> Option<i32> {
    const MOST: i32 = 6;
    let is_written = |number: f64, decimals: i32| {
        let unit = 10_f64.powi(decimals);
        (number * unit).round() / unit == number
    };
    let of = |number: &f64| (0..=MOST).find(|&decimals| is_written(*number, decimals));
    numbers.iter().map(of).try_fold(0, |most, decimals| Some(most.max(decimals?)))
}

/// Returns an annotation with lengths distributed as in the sample; `inner` makes the one for a range of lengths.
fn by_length(stats: &ColumnStats, inner: impl Fn(u64, u64) -> String) -> String {
    if stats.longest > LONG {
        return inner(stats.shortest, mean_end(stats));
    }
    let mut sorted = stats.lengths.clone().values();
    sorted.sort_unstable();
    let behind = |length: u64| length + 1;
    let mut bounds = from_least(bounds(&sorted, LENGTHS, behind), stats.shortest, behind);
    bounds.retain(|bound| *bound <= stats.longest);
    bounds.push(stats.longest + 1);
    let mut above = sorted.len();
    let mut made = String::new();
    for pair in bounds.windows(2).rev() {
        let below = if pair[0] == stats.shortest { 0 } else { sorted.partition_point(|length| *length < pair[0]) };
        let range = inner(pair[0], pair[1] - 1);
        // The share of this range among the lengths that are not below it.
        let share = (above - below) as f64 / (sorted.len() - below).max(1) as f64;
        made = match made.is_empty() {
            true => range,
            false if above == below => made,
            false => format!("if(bool({share:.4}), {range}, {made})"),
        };
        above = below;
    }
    made
}

/// Returns the end of a range that begins with the shortest length and has the sample's mean.
fn mean_end(stats: &ColumnStats) -> u64 {
    let lengths = stats.lengths.clone().values();
    let mean = lengths.iter().sum::<u64>() as f64 / lengths.len().max(1) as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a length")]
    let end = (2.0 * mean).round() as u64;
    end.saturating_sub(stats.shortest).clamp(stats.shortest, stats.longest)
}

fn text(subject: &Subject<'_>, stats: ColumnStats, is_unique: bool) -> (String, String) {
    let (texts, longest) = (stats.texts, stats.longest);
    let sample = stats.text_sample.clone().values();
    // Dates stay dates, however few they are.
    if let Some(found) = days(&sample, is_unique.then_some(texts)).filter(|(made, _)| is_good(made, texts)) {
        return found;
    }
    if let Some(few) = few_texts(subject, &stats).filter(|_| !is_unique) {
        return few;
    }
    let shape = shape::of(&sample, longest, is_unique.then_some(texts), |shape| by_length(&stats, shape));
    match shape.filter(|(generator, _)| is_good(generator, texts)) {
        Some((generator, because)) => (generator, because.to_owned()),
        None if is_unique => {
            // Leaves room for a thousand times as many if the texts were short.
            let enough = (texts.max(1).ilog2() + 10).div_ceil(4).max(1);
            (format!("unique_hex({})", longest.clamp(u64::from(enough).min(16), 16)), "unique texts".to_owned())
        }
        None if longest == 0 => ("constant('')".to_owned(), "empty texts".to_owned()),
        None => {
            let text = |shortest: u64, longest: u64| format!("text({shortest}, {longest})");
            (by_length(&stats, text), "texts of such lengths".to_owned())
        }
    }
}

/// Describes texts that are dates or times. Empty texts among them stand for unknown times.
fn days(sample: &[Box<str>], unique: Option<u64>) -> Option<(String, String)> {
    let filled: Vec<Box<str>> = sample.iter().filter(|text| !text.is_empty()).cloned().collect();
    let (made, because) = times::of(&filled, unique)?;
    match sample.len() - filled.len() {
        0 => Some((made, because)),
        _ if unique.is_some() => None,
        empty => {
            let share = empty as f64 / sample.len() as f64;
            Some((format!("if(bool({share:.6}), '', {made})"), format!("{because}, and empty texts")))
        }
    }
}

/// Lists few texts with their shares.
fn few_texts(subject: &Subject<'_>, stats: &ColumnStats) -> Option<(String, String)> {
    let counts = stats.text_counts.0.as_ref().filter(|counts| is_few(stats.texts, counts.len()))?;
    let mut counts: Vec<(&str, u64)> = counts.iter().map(|(text, count)| (&**text, *count)).collect();
    counts.sort_unstable_by_key(|&(text, count)| (std::cmp::Reverse(count), text));
    let is_named = |text: &str| subject.schema.text.contains(&quoted(text));
    let real = || counts.iter().map(|(text, _)| (*text).to_owned()).collect();
    let (names, because): (Vec<String>, _) = if subject.options.keep_values {
        (real(), "a few texts by their shares")
    } else if counts.iter().all(|(text, _)| is_named(text)) {
        (real(), "texts that the schema names, by their shares")
    } else {
        (shape::made_up(counts.iter().map(|(text, _)| *text)), "a few texts by their shares, under made-up names")
    };
    let values = names.iter().zip(&counts).map(|(name, (_, count))| format!("{}: {count}", quoted(name)));
    Some((format!("choice({})", values.collect::<Vec<String>>().join(", ")), because.to_owned()))
}
