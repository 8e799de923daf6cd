//! Comparison of two databases of one schema: the distribution of each column's values in both, and their distance.
//!
//! | column | what is compared | distance |
//! |---|---|---|
//! | foreign key | number of children of each parent | Kolmogorov and Smirnov |
//! | foreign key to a list as long in both, and more or fewer children | share of the children of each parent, by rank | total variation |
//! | unique numbers | position between the least and the largest one, which differ with the number of rows | the same |
//! | numbers, dates and times | values | the same |
//! | few values | shares; for texts, whose names differ, by rank of frequency | total variation |
//! | other texts and blobs | lengths | Kolmogorov and Smirnov |
//!
//! Relations between columns (`relations.rs`) are measured in both, and `likeness.rs` makes one score of all.
//!
//! **Labels tell no number and no day of a single row**, unless the caller asks for that: few numbers are shown if five rows or more
//! have them or if they have one digit, and ranges are round, hold five rows on average and begin at the fifth number.
//!
//! Both distances are 0 if the shares are the same and 1 if there is no common value. Columns of very many values are
//! compared by samples: two samples of one distribution have a distance of about 0.01.

use crate::child_counts::ChildCounts;
use crate::column_stats::ColumnStats;
use crate::describe::{is_listed, is_told_number};
use crate::histogram::IN_A_BIN;
use crate::likeness::{self, Related};
use crate::read::{DatabaseStats, TableStats, read};
use litepress_gen::infer;
use litepress_rows::calendar::{DAYS_BEFORE_1970, Date, DateTime, SECONDS_PER_DAY};
use litepress_rows::schema::{Schema, Table};
use litepress_rows::{Error, ErrorKind, Result};
use std::path::Path;

/// Start of the labels that stand for texts.
const RANK: &str = "no. ";

/// Approximate number of buckets of a histogram.
const BUCKETS: usize = 10;

/// Day from which bounds of buckets are counted: 0000-03-01, so that multiples of years begin in March.
const EPOCH: i64 = 60 - DAYS_BEFORE_1970;
const DAY: f64 = SECONDS_PER_DAY as f64;

/// The comparison of two databases.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The tables of the first database.
    pub tables: Vec<TableComparison>,
    /// What the second database alone has and nothing is compared with: `table t`, `column c of table t`.
    pub only_in_other: Vec<String>,
}

/// The comparison of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableComparison {
    /// Name.
    pub name: String,
    /// Numbers of rows.
    pub rows: [u64; 2],
    /// Its columns.
    pub columns: Vec<ColumnComparison>,
    /// The relations between columns that the first database has.
    pub relations: Vec<RelationComparison>,
}

/// The comparison of a relation between columns, or of a property of texts.
#[derive(Clone, Debug, PartialEq)]
pub struct RelationComparison {
    /// The relation in words: `ShippedDate is not below OrderDate`.
    pub text: String,
    /// Its measure: a share of rows, a rank correlation, or a number of texts.
    pub values: [f64; 2],
    /// Distance of the measures, from 0 to 1.
    pub distance: f64,
}

/// The comparison of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnComparison {
    /// Name.
    pub name: String,
    /// Declared type in the first database.
    pub declared_type: String,
    /// Shares of NULL.
    pub nulls: [f64; 2],
    /// Numbers of distinct values.
    pub distinct: [u64; 2],
    /// Whether these numbers are counted and not estimated.
    pub distinct_is_exact: [bool; 2],
    /// The compared property.
    pub measure: Measure,
    /// Distance of the values other than NULL, from 0 to 1.
    pub distance: f64,
    /// The histogram of both.
    pub buckets: Vec<Bucket>,
}

/// The property of a column that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Nothing: one of them has no values.
    Nothing,
    /// Numbers.
    Numbers,
    /// Positions of unique numbers between the least and the largest.
    Places,
    /// Dates and times.
    Times,
    /// Shares of few values.
    Shares,
    /// Lengths of texts and blobs.
    Lengths,
    /// Numbers of children of a foreign key's parents.
    Children,
}

/// A bucket of values, with its share in both.
#[derive(Clone, Debug, PartialEq)]
pub struct Bucket {
    /// Range of the values.
    pub label: String,
    /// Shares.
    pub shares: [f64; 2],
}

/// Compares two databases by reading all rows. `go_on` is called now and then; its error stops the run.
///
/// # Errors
/// Errors of `go_on`; as for [`profile`](crate::profile()); [`ErrorKind::Data`] if the second one lacks a table or a column of the
/// first, or the first one has no table.
pub fn compare(
    one: &Path,
    other: &Path,
    threads: usize,
    go_on: &(dyn Fn() -> Result<()> + Sync),
) -> Result<Comparison> {
    let both = [read(one, threads, go_on)?, read(other, threads, go_on)?];
    let mut tables = Vec::new();
    for (position, stats) in both[0].tables.iter().enumerate() {
        let Some(stats) = stats else { continue };
        let table = &both[0].schema.tables[position];
        let of_other = both[1].schema.position(&table.name);
        let Some((of_other, stats_of_other)) = of_other.and_then(|of| Some((of, both[1].tables[of].as_ref()?))) else {
            return Err(lacks(other, &format!("table {}", table.name)));
        };
        let pair =
            [Side { of: &both[0], position, stats }, Side { of: &both[1], position: of_other, stats: stats_of_other }];
        let columns = table.ordinary_columns().map(|column| {
            let name = &table.columns[column].name;
            column_of(&pair, name, false).ok_or_else(|| lacks(other, &format!("column {name} of table {}", table.name)))
        });
        let columns = columns.collect::<Result<_>>()?;
        let relations = likeness::relations(&pair.map(|side| Related {
            schema: side.schema(),
            table: side.table(),
            stats: side.stats,
        }));
        let (name, rows) = (table.name.clone(), pair.map(|side| side.stats.rows));
        tables.push(TableComparison { name, rows, columns, relations });
    }
    if tables.is_empty() {
        return Err(Error::new(ErrorKind::Data, "the database has no table to compare").in_file(one));
    }
    Ok(Comparison { tables, only_in_other: only_in_other(&both) })
}

/// Returns the tables and columns that the second database alone has.
fn only_in_other([one, other]: &[DatabaseStats; 2]) -> Vec<String> {
    let mut found = Vec::new();
    let tables = other.schema.tables.iter().zip(&other.tables).filter(|(_, stats)| stats.is_some());
    for (table, _) in tables {
        let name = &table.name;
        let Some(of_one) = one.schema.position(name).filter(|&of_one| one.tables[of_one].is_some()) else {
            found.push(format!("table {name}"));
            continue;
        };
        let columns = table.ordinary_columns().map(|column| &table.columns[column].name);
        let columns = columns.filter(|column| one.schema.tables[of_one].column(column).is_none());
        found.extend(columns.map(|column| format!("column {column} of table {name}")));
    }
    found
}

/// The property of a column that a histogram counts, and the shares of its values.
pub(crate) type ColumnHistogram = (Measure, Vec<(String, f64)>);

/// Returns the histograms of a table's ordinary columns: those of a comparison with itself. Texts have their ranks as names,
/// unless they may be told.
pub(crate) fn histograms(database: &DatabaseStats, position: usize, keep_values: bool) -> Vec<ColumnHistogram> {
    let Some(stats) = database.tables[position].as_ref() else { return Vec::new() };
    let side = Side { of: database, position, stats };
    let table = side.table();
    let columns = table.ordinary_columns().zip(&stats.columns);
    let histogram = |(column, stats): (usize, &ColumnStats)| {
        let Some(found) = column_of(&[side, side], &table.columns[column].name, keep_values) else {
            return (Measure::Nothing, Vec::new());
        };
        let mut shares: Vec<(String, f64)> =
            found.buckets.into_iter().map(|bucket| (bucket.label, bucket.shares[0])).collect();
        if keep_values && found.measure == Measure::Shares {
            let labels = shares.iter_mut().map(|(label, _)| label).filter(|label| label.starts_with(RANK));
            labels.zip(by_frequency(stats)).for_each(|(label, text)| text.clone_into(label));
        }
        (found.measure, shares)
    };
    columns.map(histogram).collect()
}

/// Returns the texts of a column of few texts, the most frequent first.
fn by_frequency(stats: &ColumnStats) -> Vec<&str> {
    let mut counts: Vec<_> = stats.text_counts.0.iter().flatten().collect();
    counts.sort_unstable_by(|(one, of_one), (other, of_other)| of_other.cmp(of_one).then(one.cmp(other)));
    counts.into_iter().map(|(text, _)| &**text).collect()
}

fn lacks(file: &Path, what: &str) -> Error {
    Error::new(ErrorKind::Data, format!("there is no {what} to compare with")).in_file(file)
}

/// A table of one of the databases.
#[derive(Clone, Copy)]
struct Side<'a> {
    of: &'a DatabaseStats,
    position: usize,
    stats: &'a TableStats,
}

impl<'a> Side<'a> {
    fn schema(&self) -> &'a Schema {
        &self.of.schema
    }

    fn table(&self) -> &'a Table {
        &self.schema().tables[self.position]
    }

    fn column(&self, name: &str) -> Option<(usize, &'a ColumnStats)> {
        let column = self.table().column(name)?;
        let place = self.table().ordinary_columns().position(|ordinary| ordinary == column)?;
        Some((column, &self.stats.columns[place]))
    }

    /// Returns the child counts of a foreign key's parents, if the column is part of one.
    fn counts(&self, column: usize) -> Option<ChildCounts> {
        let mut keys = self.stats.foreign_keys.iter();
        let (key, stats) =
            keys.find(|(key, stats)| key.columns.contains(&column) && stats.children.rows().next().is_some())?;
        let parents = self.of.tables[key.parent].as_ref().map_or(0, |parent| parent.rows);
        Some(ChildCounts::new(stats, parents))
    }
}

/// Compares a column; `None` if one of the databases lacks it. `keep_values` allows values of single rows in labels.
fn column_of(pair: &[Side<'_>; 2], name: &str, keep_values: bool) -> Option<ColumnComparison> {
    let [(column, one), (of_other, other)] = [pair[0].column(name)?, pair[1].column(name)?];
    let both = [one, other];
    let counts = pair[0].counts(column).zip(pair[1].counts(of_other));
    let (measure, (distance, buckets)) = match counts {
        Some((one, other)) if one.all == other.all && one.children != other.children => {
            (Measure::Shares, by_rank(&shares_of_parents(&one), &shares_of_parents(&other)))
        }
        Some((one, other)) => (Measure::Children, children([one, other])),
        None => {
            let is_unique = infer::is_made_unique(pair[0].table(), column) && both.iter().all(|stats| is_unique(stats));
            values(both, is_unique, keep_values)
        }
    };
    // Rows have nothing in common with no rows.
    let has_rows = both.map(|stats| stats.nulls + stats.values() > 0);
    let distance = if has_rows[0] == has_rows[1] { distance } else { 1.0 };
    Some(ColumnComparison {
        name: name.to_owned(),
        declared_type: pair[0].table().columns[column].declared_type.clone(),
        nulls: both.map(|stats| stats.nulls as f64 / (stats.nulls + stats.values()).max(1) as f64),
        distinct: both.map(|stats| stats.distinct().0),
        distinct_is_exact: both.map(|stats| stats.distinct().1),
        measure,
        distance,
        buckets,
    })
}

/// Returns whether hardly a value repeats; in a key of several columns they may.
fn is_unique(stats: &ColumnStats) -> bool {
    10 * stats.distinct().0 >= 9 * stats.values()
}

type Histogram = (f64, Vec<Bucket>);

fn values(both: [&ColumnStats; 2], is_unique: bool, keep_values: bool) -> (Measure, Histogram) {
    if both.iter().any(|stats| stats.values() == 0) {
        return (Measure::Nothing, (0.0, Vec::new()));
    }
    let are = |count: fn(&ColumnStats) -> u64| both.iter().all(|stats| 2 * count(stats) > stats.values());
    let numbers = || both.map(|stats| stats.numbers().sample.values());
    let have_numbers = numbers().iter().all(|numbers| !numbers.is_empty());
    if have_numbers && are(|stats| stats.ints + stats.reals) {
        return match few_numbers(both, keep_values) {
            _ if is_unique => {
                (Measure::Places, histogram(both.map(places), |place| format!("{:.0}%", 100.0 * place), true))
            }
            Some(shares) => (Measure::Shares, shares),
            None => (Measure::Numbers, histogram(numbers(), shown, keep_values)),
        };
    }
    if are(|stats| stats.texts) {
        if let [Some(one), Some(other)] = both.map(times) {
            let days = [one, other].map(|times| times.into_iter().map(|time| time / DAY).collect());
            return (Measure::Times, histogram(days, day, keep_values));
        }
        if let [Some(one), Some(other)] = both.map(ranked) {
            return (Measure::Shares, by_rank(&one, &other));
        }
    }
    let lengths =
        |stats: &ColumnStats| stats.lengths().sample.values().into_iter().map(|length| length as f64).collect();
    let lengths: [Vec<f64>; 2] = both.map(lengths);
    match lengths.iter().any(Vec::is_empty) {
        true => (Measure::Nothing, (1.0, Vec::new())),
        false => (Measure::Lengths, histogram(lengths, shown, true)),
    }
}

/// Returns positions between the least number (0) and the largest (1), each in the middle of its slot.
fn places(stats: &ColumnStats) -> Vec<f64> {
    let numbers = stats.numbers();
    let (least, range, values) = (numbers.least, numbers.largest - numbers.least, stats.values() as f64);
    let place =
        |number: f64| if range > 0.0 { ((number - least) / range * (values - 1.0) + 0.5) / values } else { 0.5 };
    numbers.sample.values().into_iter().map(place).collect()
}

fn time_of(text: &str) -> Option<f64> {
    let time = text.split('.').next().unwrap_or_default();
    let time = DateTime::parse(time.strip_suffix('Z').unwrap_or(time).as_bytes())?;
    Some((time.seconds() - EPOCH * SECONDS_PER_DAY) as f64)
}

/// Formats a number of days from the epoch of times as a date or time.
fn day(days: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "saturates, and the result is then no date")]
    let seconds = (days * DAY) as i64;
    let (day, second) = (seconds.div_euclid(SECONDS_PER_DAY) + EPOCH, seconds.rem_euclid(SECONDS_PER_DAY));
    let Date { year, month, day } = Date::from_days(day);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    match year {
        0..10_000 if (hour, minute, second) == (0, 0, 0) => format!("{year:04}-{month:02}-{day:02}"),
        0..10_000 => format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"),
        _ => shown(days),
    }
}

fn times(stats: &ColumnStats) -> Option<Vec<f64>> {
    let texts = stats.text_sample.clone().values();
    // Empty texts stand for unknown times.
    let times: Option<Vec<f64>> = texts.iter().filter(|text| !text.is_empty()).map(|text| time_of(text)).collect();
    times.filter(|times| !times.is_empty())
}

/// Compares the shares of numbers that are few in both. The last bucket counts all numbers that must not be shown.
fn few_numbers(both: [&ColumnStats; 2], keep_values: bool) -> Option<Histogram> {
    const SHOWN: usize = 12;
    let few = |stats: &ColumnStats| -> Option<Vec<(f64, u64)>> {
        let (ints, reals) = (stats.int_counts.0.as_ref()?, stats.real_counts.0.as_ref()?);
        let ints = ints.iter().map(|(int, count)| (*int as f64, *count));
        Some(ints.chain(reals.iter().map(|(bits, count)| (f64::from_bits(*bits), *count))).collect())
    };
    let [one, other] = both.map(|stats| few(stats).filter(|counts| counts.len() <= SHOWN));
    let counts = [one?, other?];
    let mut values: Vec<f64> = counts.iter().flatten().map(|(value, _)| *value).collect();
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    // 1 and 1.0 are one value here.
    let count = |side: usize, value: f64| -> u64 {
        counts[side].iter().filter(|(of, _)| *of == value).map(|(_, count)| count).sum()
    };
    let rows = [0, 1].map(|side| counts[side].iter().map(|(_, count)| count).sum::<u64>().max(1));
    let bucket = |&value: &f64| {
        let shares = [0, 1].map(|side| count(side, value) as f64 / rows[side] as f64);
        Bucket { label: shown(value), shares }
    };
    let is_shown = |value: &f64| {
        let mut found = [0, 1].into_iter().map(|side| count(side, *value)).filter(|count| *count > 0);
        keep_values || found.all(|count| is_told_number(*value, count))
    };
    let (told, others): (Vec<f64>, Vec<f64>) = values.into_iter().partition(is_shown);
    let [mut buckets, others] = [told, others].map(|values| values.iter().map(bucket).collect::<Vec<Bucket>>());
    let distance = total_variation(&buckets) + total_variation(&others);
    if !others.is_empty() {
        buckets.push(together(&others));
    }
    Some((distance, buckets))
}

/// Returns one bucket for all of these.
fn together(buckets: &[Bucket]) -> Bucket {
    let sum = |side: usize| buckets.iter().map(|bucket| bucket.shares[side]).sum::<f64>().min(1.0);
    let label = if buckets.len() == 1 { "1 other".to_owned() } else { format!("{} others", buckets.len()) };
    Bucket { label, shares: [sum(0), sum(1)] }
}

fn total_variation(buckets: &[Bucket]) -> f64 {
    buckets.iter().map(|bucket| (bucket.shares[0] - bucket.shares[1]).abs()).sum::<f64>() / 2.0
}

/// Returns the shares of texts, largest first, if they are few.
fn ranked(stats: &ColumnStats) -> Option<Vec<f64>> {
    let counts = stats.text_counts.0.as_ref()?;
    let mut shares: Vec<f64> = counts.values().map(|count| *count as f64 / stats.texts as f64).collect();
    shares.sort_unstable_by(|one, other| other.total_cmp(one));
    is_listed(stats).then_some(shares)
}

fn by_rank(one: &[f64], other: &[f64]) -> Histogram {
    let share = |shares: &[f64], rank: usize| shares.get(rank).copied().unwrap_or(0.0);
    let bucket =
        |rank: usize| Bucket { label: format!("{RANK}{}", rank + 1), shares: [share(one, rank), share(other, rank)] };
    let mut buckets: Vec<Bucket> = (0..one.len().max(other.len())).map(bucket).collect();
    let distance = total_variation(&buckets);
    if buckets.len() > BUCKETS + 1 {
        let rest = buckets.split_off(BUCKETS);
        buckets.push(together(&rest));
    }
    (distance, buckets)
}

/// Returns the share of the children that each parent has, the largest first: the parents are a list that stays as large as it is.
fn shares_of_parents(counts: &ChildCounts) -> Vec<f64> {
    let parents = counts.parents.iter().rev();
    let share = |&children: &u64| children as f64 / counts.children.max(1) as f64;
    parents
        .flat_map(|(children, parents)| std::iter::repeat_n(share(children), usize::try_from(*parents).unwrap_or(0)))
        .collect()
}

/// Compares the shares of parents by number of children: 0, 1, 2, 3 to 4, 5 to 8, and so on.
fn children(both: [ChildCounts; 2]) -> Histogram {
    let share = |counts: &ChildCounts, from: u64, to: u64| {
        counts.parents.range(from..=to).map(|(_, parents)| *parents).sum::<u64>() as f64 / counts.all.max(1) as f64
    };
    let most = both.iter().map(ChildCounts::most).max().unwrap_or(0);
    let (mut buckets, mut from) = (Vec::new(), 0_u64);
    while from <= most {
        let to = if from < 3 { from } else { (from - 1).saturating_mul(2) };
        let label = if from == to { from.to_string() } else { format!("{from} .. {to}") };
        buckets.push(Bucket { label, shares: [share(&both[0], from, to), share(&both[1], from, to)] });
        from = to + 1;
    }
    let counts = both[0].parents.keys().chain(both[1].parents.keys());
    let distance =
        counts.map(|&count| (share(&both[0], 0, count) - share(&both[1], 0, count)).abs()).fold(0.0, f64::max);
    (distance, buckets)
}

/// Compares two samples by buckets of equal width; values outside belong to the first and the last bucket. `keep_values` allows
/// bounds that are the number of a single row.
fn histogram(mut both: [Vec<f64>; 2], show: impl Fn(f64) -> String, keep_values: bool) -> Histogram {
    both.iter_mut().for_each(|sample| sample.sort_unstable_by(f64::total_cmp));
    let [one, other] = &both;
    let bounds = if keep_values { even_bounds(one, 0, BUCKETS) } else { shared_bounds(&both) };
    let below =
        |sample: &[f64], bound: f64| sample.partition_point(|number| *number < bound) as f64 / sample.len() as f64;
    let bucket = |place: usize| {
        let (from, end) = (bounds[place], bounds.get(place + 1).copied());
        let share = |sample: &[f64]| {
            let first = if place == 0 { 0.0 } else { below(sample, from) };
            end.map_or(1.0, |end| below(sample, end)) - first
        };
        let label = end.map_or(format!("{} ..", show(from)), |end| format!("{} .. {}", show(from), show(end)));
        Bucket { label, shares: [share(one), share(other)] }
    };
    let buckets = match bounds.is_empty() {
        true => vec![Bucket { label: "all values".to_owned(), shares: [1.0, 1.0] }],
        false => (0..bounds.len()).map(bucket).collect(),
    };
    (distance(one, other), buckets)
}

/// Returns the lower bounds of buckets of five values or more on average; none if the values are too few to hide one among them. A
/// bucket of a single number has five values or more of each sample, or none.
fn shared_bounds(both: &[Vec<f64>; 2]) -> Vec<f64> {
    let one = &both[0];
    let edge = ((one.len() - 1) / 4).min(IN_A_BIN - 1);
    let mut bounds = even_bounds(one, edge, BUCKETS.min(one.len() / IN_A_BIN));
    let has_few = |from: f64, end: f64| {
        let count = |sample: &Vec<f64>| {
            sample.partition_point(|number| *number < end) - sample.partition_point(|number| *number < from)
        };
        both.iter().any(|sample| (1..IN_A_BIN).contains(&count(sample)))
    };
    let are_single = both.iter().flatten().all(|number| number.fract() == 0.0)
        && bounds.windows(2).all(|pair| pair[1] - pair[0] <= 1.0);
    let mut place = 0;
    while are_single && place < bounds.len() {
        let from = if place == 0 { f64::NEG_INFINITY } else { bounds[place] };
        if !has_few(from, bounds.get(place + 1).copied().unwrap_or(f64::INFINITY)) {
            place += 1;
        } else if place + 1 < bounds.len() {
            bounds.remove(place + 1);
        } else {
            bounds.remove(place);
            place = place.saturating_sub(1);
        }
    }
    let is_frequent = |bound: f64| one.iter().filter(|number| **number == bound).count() >= IN_A_BIN;
    if bounds.len() == 1 && !is_frequent(bounds[0]) { Vec::new() } else { bounds }
}

/// Returns the lower bounds of this many buckets: round numbers, from the value at `edge` up to the ninth decile.
fn even_bounds(sorted: &[f64], edge: usize, buckets: usize) -> Vec<f64> {
    const MOST: usize = 4 * BUCKETS;
    if buckets == 0 {
        return Vec::new();
    }
    let (least, largest) = (sorted[edge], sorted[((sorted.len() - 1) * 9 / 10).max(edge)]);
    let width = (largest - least) / buckets as f64;
    if !(width > 0.0 && width.is_finite()) {
        return vec![least];
    }
    let power = 10_f64.powf(width.log10().floor());
    let round = [1.0, 2.0, 5.0, 10.0].into_iter().map(|digit| digit * power).find(|step| *step >= width);
    let are_whole = sorted.iter().all(|number| number.fract() == 0.0);
    let step = round.unwrap_or(width).max(if are_whole { 1.0 } else { 0.0 });
    let first = (least / step).floor();
    (0..MOST).map(|place| (first + place as f64) * step).take_while(|bound| *bound <= largest).collect()
}

/// Returns the largest difference of two cumulative distributions (Kolmogorov and Smirnov); both samples are sorted.
pub(crate) fn distance(one: &[f64], other: &[f64]) -> f64 {
    let share = |sorted: &[f64], at: f64| sorted.partition_point(|value| *value <= at) as f64 / sorted.len() as f64;
    one.iter().chain(other).map(|&at| (share(one, at) - share(other, at)).abs()).fold(0.0, f64::max)
}

/// Formats a number with four decimals at most; very large and very small ones in scientific notation.
fn shown(number: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and small")]
    match number.abs() {
        0.0 => "0".to_owned(),
        1e-4..1e15 if number.fract() == 0.0 => (number as i64).to_string(),
        1e-4..1e15 => format!("{number:.4}").trim_end_matches('0').to_owned(),
        _ => format!("{number:.3e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::shown;

    /// 1e300 was written with all of its digits.
    #[test]
    fn numbers_are_short() {
        let shorter =
            [(0.0, "0"), (-12.0, "-12"), (2.25, "2.25"), (0.5, "0.5"), (1e300, "1.000e300"), (-3e-9, "-3.000e-9")];
        shorter.into_iter().for_each(|(number, text)| assert_eq!(shown(number), text));
    }
}
