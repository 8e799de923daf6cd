//! From the statistics of a column to the annotation for similar values.

use crate::annotation_text::{quoted, with_nulls};
use crate::base64::{self, Base64};
use crate::column_stats::{ColumnStats, Lengths, Numbers, Order, Run, Step};
use crate::compare::ColumnHistogram;
use crate::fan_out::ReferenceAnnotation;
use crate::histogram::{IN_A_BIN, Number, Precision, bounds, ends, from_least, real_histogram, whole_histogram};
use crate::paths::{self, Paths};
use crate::shapes::{self, Shapes};
use crate::{ColumnProfile, ProfileOptions, datetime, kinds, names, text_pattern};
use litepress_gen::catalogue::is_valid_annotation;
use litepress_gen::infer::{self, Reference};
use litepress_rows::schema::{Column, Schema, Table};
use std::collections::{BTreeMap, HashMap};

/// Limits up to which values are listed one by one: number of distinct values, and their mean frequency.
pub(crate) const FEW: usize = 200;
pub(crate) const OFTEN: u64 = 3;
/// Number of distinct texts up to which all are listed, some of which repeat, where the caller wants to keep them: as many cities as a
/// table of customers has.
pub(crate) const KEPT: usize = 1000;
/// Number of ranges of lengths.
const LENGTHS: usize = 8;
/// Longest text that is made of several ranges of lengths, each of which costs time.
const LONG: u64 = 4096;
/// The reason for an annotation that the names of table and column stand for.
const BY_NAME: &str = "the name of the column";
/// The reason for an annotation of texts without a format.
const BY_LENGTH: &str = "texts of these lengths";

/// A column of the source.
pub(crate) struct ColumnContext<'a> {
    pub schema: &'a Schema,
    pub table: &'a Table,
    pub column: usize,
    pub options: &'a ProfileOptions,
    /// Whether the table is as large at any scale.
    pub is_fixed: bool,
}

/// The kind of a column's annotation, as far as relations can change it.
#[derive(Clone, Debug, Default)]
pub(crate) enum Model {
    /// Nothing that a relation can change.
    #[default]
    Fixed,
    /// A histogram of numbers.
    Numbers,
    /// Few numbers.
    FewNumbers,
    /// Few texts, with their names in the recipe.
    Texts(HashMap<Box<str>, String>),
    /// Dates or times.
    Times,
}

/// An annotation with its reason, and its kind.
pub(crate) struct Description {
    pub generator: String,
    pub because: String,
    pub model: Model,
}

impl Description {
    pub fn new(generator: impl Into<String>, because: impl Into<String>, model: Model) -> Self {
        Self { generator: generator.into(), because: because.into(), model }
    }
}

impl From<(String, String)> for Description {
    fn from((generator, because): (String, String)) -> Self {
        Self::new(generator, because, Model::Fixed)
    }
}

/// Describes a column. `reference` is the annotation of a column of a foreign key.
pub(crate) fn describe(
    context: &ColumnContext<'_>,
    stats: &ColumnStats,
    reference: Option<ReferenceAnnotation>,
    (measure, histogram): ColumnHistogram,
) -> (ColumnProfile, Model) {
    let (distinct, distinct_is_exact) = stats.distinct();
    let Column { name, declared_type, .. } = context.table.columns[context.column].clone();
    let refers_to = refers_to(context);
    let nulls = stats.nulls;
    let mut model = Model::Fixed;
    let (generator, because) = match (reference, inferred(context, stats)) {
        (Some(ReferenceAnnotation { generator: None, .. }), _) if stats.values() == 0 && nulls > 0 => {
            (Some("constant(NULL)".to_owned()), "only NULL".to_owned())
        }
        (Some(ReferenceAnnotation { generator, because, .. }), _) => (generator, because),
        (None, Some(because)) => (None, because),
        (None, None) => {
            let found = kinds::values(context, stats);
            model = found.model;
            (Some(with_nulls(found.generator, nulls, nulls + stats.values())), found.because)
        }
    };
    let column = ColumnProfile {
        name,
        declared_type,
        refers_to,
        nulls,
        distinct,
        distinct_is_exact,
        range: range(stats, context.options.keep_values),
        measure,
        histogram,
        generator,
        because,
        alone: None,
    };
    (column, model)
}

/// Returns the least and the largest number, or else the shortest and the longest length. Without values of single rows, the
/// ends of numbers are rounded.
fn range(stats: &ColumnStats, keep_values: bool) -> Option<(f64, f64)> {
    let Numbers { least, largest, sample } = stats.numbers();
    if least <= largest {
        let mut sorted = sample.values();
        sorted.sort_unstable_by(f64::total_cmp);
        return Some(ends(&sorted, least, largest, Precision::new(keep_values)));
    }
    let lengths = stats.lengths();
    (stats.texts + stats.blobs > 0).then_some((lengths.shortest as f64, lengths.longest as f64))
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

/// Describes the numbers of a column.
pub(crate) fn number(stats: &ColumnStats, is_unique: bool, keep_values: bool) -> Description {
    let precision = Precision::new(keep_values);
    if let Order::Ascending(Run { first, last, step }) = stats.order()
        && (is_unique || stats.ints > 2)
        && (is_unique || keep_values || step != Some(Step::Varies))
    {
        return sequence(first, last, step, stats.ints, keep_values).into();
    }
    if is_unique {
        return Description::new("shuffle", "they are unique, in no order", Model::Fixed);
    }
    let Numbers { least, largest, .. } = stats.numbers();
    if least > largest {
        return Description::new("real(0, 1)", "infinite numbers, which are left out", Model::Fixed);
    }
    if let Some((generator, because)) = few_numbers(stats, keep_values) {
        return Description::new(generator, because, Model::FewNumbers);
    }
    let (generator, because) = numbers(stats, precision);
    Description::new(generator, because, Model::Numbers)
}

/// Returns the histogram of all numbers.
pub(crate) fn numbers(stats: &ColumnStats, precision: Precision) -> (String, String) {
    let Numbers { least, largest, sample } = stats.numbers();
    match stats.reals {
        0 => whole_histogram(sample.values(), stats.least_int, stats.largest_int, precision),
        _ => real_histogram(sample.values(), least, largest, precision),
    }
}

/// Describes ascending integers. The first one is the number of a single row: it stays if it is short, or if the others
/// follow from it.
fn sequence(first: i64, last: i64, step: Option<Step>, rows: u64, keep_values: bool) -> (String, String) {
    let steps = i64::try_from(rows - 1).unwrap_or(i64::MAX).max(1);
    let (step, because) = match step {
        None => (1, "a sequence"),
        Some(Step::Same(step)) => (step, "a sequence"),
        Some(Step::Varies) => ((last.saturating_sub(first) / steps).max(1), "ascending, with the mean step"),
    };
    let is_regular = because == "a sequence" && rows >= IN_A_BIN as u64;
    let (first, step) = if is_regular || keep_values { (first, step) } else { (first.vague(), step.vague().max(1)) };
    let arguments = if (first, step) == (1, 1) { String::new() } else { format!("({first}, {step})") };
    (format!("sequence{arguments}"), because.to_owned())
}

/// Returns whether a number may be told: it is that of five rows, or has one digit.
pub(crate) fn is_told_number(value: f64, count: u64) -> bool {
    count >= IN_A_BIN as u64 || (value.abs() < 10.0 && value.fract() == 0.0)
}

/// Returns whether a number of a column of few ones may be told.
pub(crate) fn is_told(stats: &ColumnStats, value: f64, keep_values: bool) -> bool {
    let of_ints = stats.int_counts.0.iter().flatten().filter(|(int, _)| **int as f64 == value);
    let of_reals = stats.real_counts.0.iter().flatten().filter(|(bits, _)| f64::from_bits(**bits) == value);
    let count = of_ints.map(|(_, count)| *count).chain(of_reals.map(|(_, count)| *count)).sum();
    keep_values || is_told_number(value, count)
}

/// Lists few numbers with their shares, without those of fewer than five rows unless they have one digit.
pub(crate) fn few_numbers(stats: &ColumnStats, keep_values: bool) -> Option<(String, String)> {
    let (ints, reals) = (stats.int_counts.0.as_ref()?, stats.real_counts.0.as_ref()?);
    if !is_few(stats.ints + stats.reals, ints.len() + reals.len()) {
        return None;
    }
    let of_ints = ints.iter().map(|(value, count)| (*value as f64, value.to_string(), *count));
    let of_reals = reals.iter().map(|(bits, count)| (f64::from_bits(*bits), *count));
    let of_reals = of_reals.filter(|(value, _)| value.is_finite());
    let of_reals = of_reals.map(|(value, count)| (value, format!("{value:?}"), count));
    let is_told = |value: f64, count: u64| keep_values || is_told_number(value, count);
    let mut counts: Vec<(f64, String, u64)> =
        of_ints.chain(of_reals).filter(|(value, _, count)| is_told(*value, *count)).collect();
    counts.sort_by(|one, other| one.0.total_cmp(&other.0).then_with(|| one.1.cmp(&other.1)));
    let values: Vec<String> = counts.iter().map(|(_, value, count)| format!("{value}: {count}")).collect();
    let because = "a few values by their shares".to_owned();
    (!values.is_empty()).then(|| (format!("choice({})", values.join(", ")), because))
}

/// Returns whether values are few enough, and frequent enough, to be listed with their shares.
pub(crate) fn is_few(values: u64, distinct: usize) -> bool {
    distinct <= FEW && values >= OFTEN * distinct as u64
}

/// Returns an annotation with lengths distributed as in the sample; `inner` makes the one for a range of lengths.
pub(crate) fn by_length(lengths: &Lengths, inner: impl Fn(u64, u64) -> String) -> String {
    let &Lengths { shortest, longest, .. } = lengths;
    if longest > LONG {
        return inner(shortest, mean_end(lengths));
    }
    let mut sorted = lengths.sample.clone().values();
    sorted.sort_unstable();
    let mut bounds = from_least(bounds(&sorted, LENGTHS), shortest);
    bounds.retain(|bound| *bound <= longest);
    bounds.push(longest + 1);
    let mut above = sorted.len();
    let mut annotation = String::new();
    for pair in bounds.windows(2).rev() {
        let below = if pair[0] == shortest { 0 } else { sorted.partition_point(|length| *length < pair[0]) };
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
fn mean_end(lengths: &Lengths) -> u64 {
    let sample = lengths.sample.clone().values();
    let mean = sample.iter().sum::<u64>() as f64 / sample.len().max(1) as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a length")]
    let end = (2.0 * mean).round() as u64;
    end.saturating_sub(lengths.shortest).clamp(lengths.shortest, lengths.longest)
}

/// Describes the texts of a column.
pub(crate) fn text(context: &ColumnContext<'_>, stats: &ColumnStats, is_unique: bool) -> Description {
    let (texts, keep_values) = (stats.texts, context.options.keep_values);
    let sample = stats.text_sample.clone().values();
    // Dates stay dates, however few they are.
    if let Some((generator, because)) = days(&sample, is_unique.then_some(texts), Precision::new(keep_values))
        .filter(|(annotation, _)| is_valid_annotation(annotation, texts))
    {
        let model = if generator.starts_with("if(") || is_unique { Model::Fixed } else { Model::Times };
        return Description::new(generator, because, model);
    }
    let named = names::generator(context, &sample, is_unique);
    if let Some(told) = told_texts(context, stats, named.as_deref()).filter(|_| !is_unique) {
        return told;
    }
    if is_unique {
        return unique_texts(stats, &sample, named, keep_values).into();
    }
    if let Some(years) = years(&sample, Precision::new(keep_values)) {
        return Description::new(years, "years", Model::Fixed);
    }
    let found = pattern(stats, &sample, named, keep_values);
    if context.is_fixed
        && stats.distinct_texts() == texts
        && let Some(all) = names::distinct(&found.call, texts)
    {
        return (all, "names of a list, which all differ".to_owned()).into();
    }
    if let Some(listed) = listed_texts(context, stats, &found) {
        return listed;
    }
    pooled_texts(stats, &found).unwrap_or_else(|| (found.whole, found.because.to_owned()).into())
}

/// Describes texts that are a key.
fn unique_texts(
    stats: &ColumnStats,
    sample: &[Box<str>],
    named: Option<String>,
    keep_values: bool,
) -> (String, String) {
    let (texts, longest) = (stats.texts, stats.text_lengths.longest);
    let lengths = |pattern: &dyn Fn(u64, u64) -> String| by_length(&stats.text_lengths, pattern);
    let pattern = text_pattern::of(sample, longest, Some(texts), lengths, keep_values);
    let pattern = pattern.map(|(generator, because)| (generator, because.to_owned()));
    let named = named.map(|named| (named, BY_NAME.to_owned()));
    let encoded = Base64::of(sample).map(|base64| (base64.unique_generator(), base64::BY_ALPHABET.to_owned()));
    let path = Paths::of(sample)
        .map(|Paths { pattern, .. }| (format!("unique_phrase({})", quoted(&pattern)), paths::BY_PATH.to_owned()));
    // Every e-mail address has the same pattern, and those of persons hold their names.
    let (first, second) = if pattern.as_ref().is_some_and(|(generator, _)| generator == "email") {
        (named, pattern)
    } else {
        (pattern, named)
    };
    let is_valid = |(generator, _): &(String, String)| is_valid_annotation(generator, texts);
    match first.into_iter().chain(second).chain(encoded).chain(path).find(is_valid) {
        Some(found) => found,
        None => {
            // Leaves room for a thousand times as many if the texts were short.
            let enough = (texts.max(1).ilog2() + 10).div_ceil(4).max(1);
            (format!("unique_hex({})", longest.clamp(u64::from(enough).min(16), 16)), "unique texts".to_owned())
        }
    }
}

/// Annotations for texts like those of a column.
struct Pattern {
    /// The annotation for all of them.
    whole: String,
    /// A generator of texts like them.
    call: String,
    because: &'static str,
    names: Names,
}

/// The source of made-up names for a few texts.
enum Names {
    /// The call of the pattern.
    OfCall,
    /// Letters and digits like those of each text.
    Alike,
    /// A generator for each text.
    OneByOne(GeneratorOfText),
}

/// Returns the generator of texts like one.
type GeneratorOfText = Box<dyn Fn(&str) -> Option<String>>;

/// Writes a pattern for texts of these lengths, from the shortest to the longest.
type PatternOfLengths<'p> = &'p dyn Fn(u64, u64) -> String;

/// Describes texts by their format, their column's name, or their lengths.
fn pattern(stats: &ColumnStats, sample: &[Box<str>], named: Option<String>, keep_values: bool) -> Pattern {
    if let Some((call, because)) = text_pattern::format(sample) {
        return Pattern { whole: call.clone(), call, because, names: Names::OfCall };
    }
    if let Some(shapes) = Shapes::of(sample, Precision::new(keep_values)) {
        // A call that is no generator makes no pool.
        let call = shapes.call.clone().unwrap_or_else(|| shapes.whole.clone());
        let whole = shapes.whole.clone();
        return Pattern {
            whole,
            call,
            because: shapes::BY_SHAPE,
            names: Names::OneByOne(Box::new(move |text| shapes.like(text))),
        };
    }
    // Texts of one length may have a part in common, which is to be kept.
    let is_kept = keep_values && stats.text_lengths.shortest == stats.text_lengths.longest;
    if let Some(named) = named.filter(|_| !is_kept) {
        return Pattern { whole: named.clone(), call: named, because: BY_NAME, names: Names::OfCall };
    }
    if let Some(base64) = Base64::of(sample) {
        let generator = |shortest: u64, longest: u64| base64.generator(shortest, longest);
        let (shortest, longest) = middle_lengths(stats);
        let (whole, call) = (by_length(&stats.text_lengths, generator), generator(shortest, longest));
        return Pattern { whole, call, because: base64::BY_ALPHABET, names: Names::OfCall };
    }
    if let Some(paths) = Paths::of(sample) {
        let (whole, call) = (paths.whole.clone(), paths.call.clone());
        return Pattern {
            whole,
            call,
            because: paths::BY_PATH,
            names: Names::OneByOne(Box::new(move |text| paths.like(text))),
        };
    }
    let lengths = |pattern: &dyn Fn(u64, u64) -> String| by_length(&stats.text_lengths, pattern);
    let middle = middle_lengths(stats);
    let one = |pattern: &dyn Fn(u64, u64) -> String| pattern(middle.0, middle.1);
    let of = |lengths: &dyn Fn(PatternOfLengths<'_>) -> String| {
        let found = text_pattern::of(sample, stats.text_lengths.longest, None, |pattern| lengths(pattern), keep_values);
        found.filter(|(generator, _)| is_valid_annotation(generator, stats.texts))
    };
    if let Some(((whole, because), (call, _))) = of(&lengths).zip(of(&one)) {
        return Pattern { whole, call, because, names: Names::Alike };
    }
    if stats.text_lengths.longest == 0 {
        let empty = "constant('')".to_owned();
        return Pattern { whole: empty.clone(), call: empty, because: "empty texts", names: Names::Alike };
    }
    let text = |shortest: u64, longest: u64| format!("text({shortest}, {longest})");
    let (whole, call) = (by_length(&stats.text_lengths, text), text(middle.0, middle.1));
    Pattern { whole, call, because: BY_LENGTH, names: Names::Alike }
}

/// Describes texts that are years.
fn years(sample: &[Box<str>], precision: Precision) -> Option<String> {
    const YEARS: std::ops::RangeInclusive<i64> = 1900..=2100;
    let year = |text: &str| text.parse().ok().filter(|year| YEARS.contains(year) && text.len() == 4);
    let years: Vec<i64> = sample.iter().map(|text| year(text)).collect::<Option<_>>()?;
    let (least, largest) = (*years.iter().min()?, *years.iter().max()?);
    let (histogram, _) = whole_histogram(years.iter().map(|year| *year as f64).collect(), least, largest, precision);
    Some(format!("({histogram}) || ''"))
}

/// Returns the first and the last decile of the lengths.
pub(crate) fn middle_lengths(stats: &ColumnStats) -> (u64, u64) {
    let Lengths { shortest, longest, sample } = stats.text_lengths.clone();
    let mut lengths = sample.values();
    lengths.sort_unstable();
    let at = |tenth: usize| lengths.get(lengths.len() * tenth / 10).copied();
    (at(1).unwrap_or(shortest), at(9).unwrap_or(longest).min(LONG))
}

/// Describes texts that are dates or times. Empty texts among them stand for unknown times.
fn days(sample: &[Box<str>], unique: Option<u64>, precision: Precision) -> Option<(String, String)> {
    let filled: Vec<Box<str>> = sample.iter().filter(|text| !text.is_empty()).cloned().collect();
    let (annotation, because) = datetime::of(&filled, unique, precision)?;
    match sample.len() - filled.len() {
        0 => Some((annotation, because)),
        _ if unique.is_some() => None,
        empty => {
            let share = empty as f64 / sample.len() as f64;
            Some((format!("if(bool({share:.6}), '', {annotation})"), format!("{because}, and empty texts")))
        }
    }
}

/// Lists few texts with their shares, if they may be told: the caller wants that, or the schema names them, or everybody
/// uses them in a column of this name and they are short, such as `Mr.`
fn told_texts(context: &ColumnContext<'_>, stats: &ColumnStats, named: Option<&str>) -> Option<Description> {
    let keep_values = context.options.keep_values;
    let is_few = |counts: &Vec<_>| {
        is_few(stats.texts, counts.len())
            || (keep_values && counts.len() <= KEPT && (context.is_fixed || repeats(counts.len() as u64, stats.texts)))
    };
    let counts = by_frequency(stats).filter(is_few)?;
    let are_in = |whole: &str| counts.iter().all(|(text, _)| whole.contains(&quoted(text)));
    let is_short = |text: &str| text.chars().filter(|c| c.is_alphabetic()).count() <= text_pattern::TOLD;
    let are_short = counts.iter().all(|(text, _)| is_short(text));
    let because = if keep_values {
        "a few texts by their shares"
    } else if are_in(&context.schema.text) {
        "texts that the schema names, by their shares"
    } else if are_short && named.is_some_and(|named| named.starts_with("choice(") && are_in(named)) {
        "texts that the name of the column stands for, by their shares"
    } else {
        return None;
    };
    let names = counts.iter().map(|(text, _)| (*text).to_owned()).collect();
    Some(listed(&counts, names, because))
}

/// Lists texts under made-up names, if there are not too many and some come more than once. `None` if the texts use up the list of
/// names.
fn listed_texts(context: &ColumnContext<'_>, stats: &ColumnStats, pattern: &Pattern) -> Option<Description> {
    let counts =
        by_frequency(stats).filter(|counts| counts.len() <= FEW && repeats(counts.len() as u64, stats.texts))?;
    let texts: Vec<&str> = counts.iter().map(|(text, _)| *text).collect();
    let column = &context.table.columns[context.column].name;
    let names = match &pattern.names {
        Names::OfCall => names::made_up(Some(&pattern.call), &texts, column),
        Names::Alike => names::made_up(None, &texts, column),
        Names::OneByOne(generator) => names::made_up_one_by_one(&texts, column, generator),
    }?;
    Some(listed(&counts, names, "a few texts by their shares, under made-up names"))
}

/// Returns whether a column has few texts, some of which repeat.
pub(crate) fn is_listed(stats: &ColumnStats) -> bool {
    let distinct = stats.text_counts.0.as_ref().map_or(usize::MAX, |counts| counts.len());
    distinct <= FEW && repeats(distinct as u64, stats.texts)
}

/// Returns whether this many distinct values stand for so many that some repeat.
pub(crate) fn repeats(distinct: u64, values: u64) -> bool {
    10 * distinct <= 9 * values
}

/// Returns the texts of a column with their numbers of rows, the most frequent first.
pub(crate) fn by_frequency(stats: &ColumnStats) -> Option<Vec<(&str, u64)>> {
    let counts = stats.text_counts.0.as_ref()?;
    let mut counts: Vec<(&str, u64)> = counts.iter().map(|(text, count)| (&**text, *count)).collect();
    counts.sort_unstable_by_key(|&(text, count)| (std::cmp::Reverse(count), text));
    Some(counts)
}

/// Returns the list of texts with their numbers of rows. Rare ones are dealt, so that none is missing or comes a fifth more often.
pub(crate) fn listed(counts: &[(&str, u64)], names: Vec<String>, because: &str) -> Description {
    const RARE: u64 = 100;
    let how = if counts.iter().any(|(_, count)| *count < RARE) && counts.len() > 1 { "deal" } else { "choice" };
    let values: Vec<String> =
        names.iter().zip(counts).map(|(name, (_, count))| format!("{}: {count}", quoted(name))).collect();
    let names = counts.iter().zip(names).map(|((text, _), name)| (Box::from(*text), name)).collect();
    Description::new(format!("{how}({})", values.join(", ")), because, Model::Texts(names))
}

/// Describes texts that repeat, but are too many to be listed: as a pool of as many, each as often.
fn pooled_texts(stats: &ColumnStats, pattern: &Pattern) -> Option<Description> {
    let distinct = stats.distinct_texts();
    if !repeats(distinct, stats.texts) {
        return None;
    }
    let frequencies = match by_frequency(stats) {
        Some(counts) => counts.iter().map(|(_, count)| *count).collect(),
        None => stats.text_rows.rows().collect::<Vec<u64>>(),
    };
    let text = || format!("text({}, {})", middle_lengths(stats).0.max(8), middle_lengths(stats).1.max(12));
    let enough = |inner: String| Some((names::rows_of_distinct(&inner, distinct)?, inner));
    // Other texts would lose their format.
    let otherwise = match pattern.because {
        BY_NAME => names::distinct(&pattern.call, distinct),
        BY_LENGTH => Some(text()),
        _ => None,
    };
    let (rows, inner) = [Some(pattern.call.clone()), otherwise].into_iter().flatten().find_map(enough)?;
    let run = run_of_texts(stats).map_or(String::new(), |run| format!("run={run}, "));
    let generator = format!("pool({inner}, {run}{})", frequency_groups(frequencies, rows, stats.texts));
    let because = format!("{distinct} different texts, each as often ({})", pattern.because);
    Some(Description::new(generator, because, Model::Fixed))
}

/// Returns how many rows after one another have the same text, if that is no chance: the composer of all songs of an album.
fn run_of_texts(stats: &ColumnStats) -> Option<u64> {
    const LONGEST: u64 = 100;
    let (texts, changes) = (stats.texts, stats.texts.saturating_sub(stats.equal_neighbours).max(1));
    // Texts in random order have few equal neighbours.
    let by_chance = texts / stats.distinct_texts().max(1);
    let is_by_chance = stats.equal_neighbours < texts / 4 || stats.equal_neighbours < 8 * by_chance;
    Some((texts + changes / 2) / changes).filter(|&run| !is_by_chance && (2..=LONGEST).contains(&run))
}

/// Returns `rows: values` pairs for these numbers of rows of a sample of values, for all of them.
fn frequency_groups(mut frequencies: Vec<u64>, distinct: u64, texts: u64) -> String {
    const GROUPS: usize = 12;
    frequencies.sort_unstable();
    let mut groups: BTreeMap<u64, u64> = BTreeMap::new();
    let counts: Vec<Vec<u64>> = frequencies.chunk_by(|one, other| one == other).map(<[u64]>::to_vec).collect();
    for group in counts.chunks(counts.len().div_ceil(GROUPS).max(1)) {
        let (rows, values) = (group.iter().flatten().sum::<u64>(), group.iter().map(Vec::len).sum::<usize>() as u64);
        // Two neighbouring numbers of rows have the same sum.
        let (each, more) = (rows / values, rows % values);
        *groups.entry(each).or_default() += values - more;
        *groups.entry(each + 1).or_default() += more;
    }
    let sampled: u64 = groups.values().sum();
    let scale = distinct as f64 / sampled.max(1) as f64;
    let scaled = |values: u64| (values as f64 * scale).round();
    let pairs: Vec<String> = groups
        .iter()
        .filter(|(each, values)| **each > 0 && scaled(**values) > 0.0)
        .map(|(each, values)| format!("{each}: {}", scaled(*values)))
        .collect();
    if pairs.is_empty() { format!("{}: {distinct}", (texts / distinct.max(1)).max(1)) } else { pairs.join(", ") }
}
