//! Statistics of the values of a column.

use crate::sketch::{Distinct, KeyCounts, Mixed, Sample, hash_bytes, hash_int};
use litepress_format::value::Value;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash};

/// Maximum number of distinct values that are counted one by one.
const COUNTED: usize = 1024;
/// Maximum bytes of a text that is counted.
const COUNTED_BYTES: usize = 64;
/// Size of the sample of numbers.
const SAMPLED_NUMBERS: usize = 16_384;
/// Size of the sample of texts, and the characters kept of each.
const SAMPLED_TEXTS: usize = 4096;
const SAMPLED_CHARACTERS: usize = 64;
/// Size of the sample of distinct texts whose rows are counted.
const SAMPLED_DISTINCT: usize = 2048;

/// Frequencies by value. Bytes are hashed as everywhere in this crate: the hasher of the standard library costs more than the rest.
type Frequencies<K> = HashMap<K, u64, BuildHasherDefault<Mixed>>;

/// The frequency of every value, or `None` if there are too many distinct ones.
#[derive(Clone, Debug)]
pub(crate) struct Counts<K>(pub Option<Frequencies<K>>);

impl<K: Eq + Hash> Counts<K> {
    fn new() -> Self {
        Self(Some(HashMap::default()))
    }

    /// Counts a value. Returns the values so far, without this one, if they are too many now.
    fn add<Q: ?Sized + Eq + Hash>(&mut self, value: &Q, owned: impl FnOnce(&Q) -> Option<K>) -> Option<Frequencies<K>>
    where
        K: std::borrow::Borrow<Q>,
    {
        let counts = self.0.as_mut()?;
        if let Some(count) = counts.get_mut(value) {
            *count += 1;
            return None;
        }
        match owned(value).filter(|_| counts.len() < COUNTED) {
            Some(value) => {
                counts.insert(value, 1);
                None
            }
            None => self.0.take(),
        }
    }

    /// Adds the counts of other rows. Returns the values of both that are too many together.
    fn merge(&mut self, other: Self) -> Frequencies<K> {
        let is_counted = self.0.is_some() && other.0.is_some();
        let mut all = self.0.take().unwrap_or_default();
        for (value, count) in other.0.into_iter().flatten() {
            *all.entry(value).or_default() += count;
        }
        if is_counted && all.len() <= COUNTED {
            self.0 = Some(all);
            return HashMap::default();
        }
        all
    }
}

/// An ascending run of integers in consecutive rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub first: i64,
    pub last: i64,
    /// The difference between neighbours; `None` for a single number.
    pub step: Option<Step>,
}

/// The differences between neighbours of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// All equal.
    Same(i64),
    /// Not all equal.
    Varies,
}

impl Run {
    /// Joins this run and the next one, if the result ascends.
    fn and(self, next: Self) -> Option<Self> {
        let step = next.first.checked_sub(self.last).filter(|step| *step > 0)?;
        let steps = [self.step, Some(Step::Same(step)), next.step];
        let mut steps = steps.into_iter().flatten();
        let first = steps.next();
        let step = if steps.all(|step| Some(step) == first) { first } else { Some(Step::Varies) };
        Some(Self { first: self.first, last: next.last, step })
    }
}

/// Returns the first characters of a text.
pub(crate) fn beginning(text: &str, characters: usize) -> &str {
    text.char_indices().nth(characters).map_or(text, |(end, _)| &text[..end])
}

/// The order of the values in a range of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The range is empty.
    Empty,
    /// Ascending integers.
    Ascending(Run),
    /// Any other order, or not all integers.
    Any,
}

impl Order {
    pub fn and(self, next: Self) -> Self {
        match (self, next) {
            (Self::Empty, other) | (other, Self::Empty) => other,
            (Self::Ascending(one), Self::Ascending(other)) => one.and(other).map_or(Self::Any, Self::Ascending),
            _ => Self::Any,
        }
    }
}

/// The lengths of texts in characters, or of blobs in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Lengths {
    /// The least and the largest one; without any, the least is above the largest.
    pub shortest: u64,
    pub longest: u64,
    pub sample: Sample<u64>,
}

impl Lengths {
    fn new() -> Self {
        Self { shortest: u64::MAX, longest: 0, sample: Sample::new(SAMPLED_TEXTS) }
    }

    fn add(&mut self, row_hash: u64, length: u64) {
        self.shortest = self.shortest.min(length);
        self.longest = self.longest.max(length);
        self.sample.add(row_hash, || length);
    }

    fn merge(&mut self, other: Self) {
        self.shortest = self.shortest.min(other.shortest);
        self.longest = self.longest.max(other.longest);
        self.sample.merge(other.sample);
    }
}

/// Finite numbers of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    /// The least and the largest one; without any, the least is above the largest.
    pub least: f64,
    pub largest: f64,
    pub sample: Sample<f64>,
}

impl Numbers {
    fn new() -> Self {
        Self { least: f64::INFINITY, largest: f64::NEG_INFINITY, sample: Sample::new(SAMPLED_NUMBERS) }
    }

    /// Adds a number. Histograms have no place for infinities.
    fn add(&mut self, row_hash: u64, number: f64) {
        if number.is_finite() {
            self.least = self.least.min(number);
            self.largest = self.largest.max(number);
            self.sample.add(row_hash, || number);
        }
    }

    fn merge(&mut self, other: Self) {
        self.least = self.least.min(other.least);
        self.largest = self.largest.max(other.largest);
        self.sample.merge(other.sample);
    }
}

/// Statistics of a column. They can be merged in any order, as `orders` keeps the number of each range.
#[derive(Clone, Debug)]
pub(crate) struct ColumnStats {
    pub nulls: u64,
    pub ints: u64,
    pub reals: u64,
    pub texts: u64,
    pub blobs: u64,
    /// Least and largest integer, exact beyond 2^53 too.
    pub least_int: i64,
    pub largest_int: i64,
    pub int_counts: Counts<i64>,
    pub real_counts: Counts<u64>,
    pub text_counts: Counts<Box<str>>,
    /// Texts that are equal to the one before, within a range; NULLs between them do not count.
    pub equal_neighbours: u64,
    /// The hash of the last text of the range.
    last_text: Option<u64>,
    /// Rows of each text of a sample, once the texts are too many for `text_counts`.
    pub text_rows: KeyCounts,
    pub distinct: Distinct,
    int_numbers: Numbers,
    real_numbers: Numbers,
    pub text_sample: Sample<Box<str>>,
    pub text_lengths: Lengths,
    pub blob_lengths: Lengths,
    order: Order,
    /// The order of each range, by its number.
    orders: Vec<(usize, Order)>,
}

impl ColumnStats {
    pub fn new() -> Self {
        Self {
            nulls: 0,
            ints: 0,
            reals: 0,
            texts: 0,
            equal_neighbours: 0,
            last_text: None,
            blobs: 0,
            least_int: i64::MAX,
            largest_int: i64::MIN,
            int_counts: Counts::new(),
            real_counts: Counts::new(),
            text_counts: Counts::new(),
            text_rows: KeyCounts::with_most(SAMPLED_DISTINCT),
            distinct: Distinct::new(),
            int_numbers: Numbers::new(),
            real_numbers: Numbers::new(),
            text_sample: Sample::new(SAMPLED_TEXTS),
            text_lengths: Lengths::new(),
            blob_lengths: Lengths::new(),
            order: Order::Empty,
            orders: Vec::new(),
        }
    }

    pub fn add(&mut self, row_hash: u64, value: Value<'_>) {
        let order = match value {
            Value::Int(int) => Order::Ascending(Run { first: int, last: int, step: None }),
            _ => Order::Any,
        };
        self.order = self.order.and(order);
        match value {
            Value::Null => self.nulls += 1,
            Value::Int(int) => self.int(row_hash, int),
            Value::Real(real) => self.real(row_hash, real),
            Value::Text(text) => self.text(row_hash, text),
            Value::Blob(blob) => {
                self.blobs += 1;
                self.distinct.add(hash_bytes(blob));
                self.blob_lengths.add(row_hash, blob.len() as u64);
            }
        }
    }

    fn int(&mut self, row_hash: u64, int: i64) {
        self.ints += 1;
        self.distinct.add(hash_int(int.cast_unsigned()));
        self.least_int = self.least_int.min(int);
        self.largest_int = self.largest_int.max(int);
        drop(self.int_counts.add(&int, |int| Some(*int)));
        self.int_numbers.add(row_hash, int as f64);
    }

    fn real(&mut self, row_hash: u64, real: f64) {
        self.reals += 1;
        self.distinct.add(hash_int(real.to_bits()));
        drop(self.real_counts.add(&real.to_bits(), |bits| Some(*bits)));
        self.real_numbers.add(row_hash, real);
    }

    fn text(&mut self, row_hash: u64, bytes: &[u8]) {
        self.texts += 1;
        let hash = hash_bytes(bytes);
        self.distinct.add(hash);
        self.equal_neighbours += u64::from(self.last_text.replace(hash) == Some(hash));
        let text = String::from_utf8_lossy(bytes);
        let is_counted = self.text_counts.0.is_some();
        let counted = self.text_counts.add(&*text, |text| (text.len() <= COUNTED_BYTES).then(|| text.into()));
        self.count_rows(counted.into_iter().flatten());
        if !is_counted || self.text_counts.0.is_none() {
            self.text_rows.add(hash, 1);
        }
        self.text_sample.add(row_hash, || beginning(&text, SAMPLED_CHARACTERS).into());
        self.text_lengths.add(row_hash, text.chars().count() as u64);
    }

    /// Adds texts that are not counted one by one any more to the sample of texts.
    fn count_rows(&mut self, counted: impl IntoIterator<Item = (Box<str>, u64)>) {
        counted.into_iter().for_each(|(text, rows)| self.text_rows.add(hash_bytes(text.as_bytes()), rows));
    }

    /// Ends a range, with its number.
    pub fn end_range(&mut self, range: usize) {
        self.last_text = None;
        self.orders.push((range, std::mem::replace(&mut self.order, Order::Empty)));
    }

    pub fn merge(&mut self, other: Self) {
        self.nulls += other.nulls;
        self.ints += other.ints;
        self.reals += other.reals;
        self.texts += other.texts;
        self.equal_neighbours += other.equal_neighbours;
        self.blobs += other.blobs;
        self.least_int = self.least_int.min(other.least_int);
        self.largest_int = self.largest_int.max(other.largest_int);
        drop(self.int_counts.merge(other.int_counts));
        drop(self.real_counts.merge(other.real_counts));
        let counted = self.text_counts.merge(other.text_counts);
        self.count_rows(counted);
        self.text_rows.merge(other.text_rows);
        self.distinct.merge(&other.distinct);
        self.int_numbers.merge(other.int_numbers);
        self.real_numbers.merge(other.real_numbers);
        self.text_sample.merge(other.text_sample);
        self.text_lengths.merge(other.text_lengths);
        self.blob_lengths.merge(other.blob_lengths);
        self.orders.extend(other.orders);
    }

    /// Returns the order of the values in the whole table.
    pub fn order(&self) -> Order {
        let mut orders = self.orders.clone();
        orders.sort_unstable_by_key(|(range, _)| *range);
        orders.into_iter().fold(Order::Empty, |order, (_, next)| order.and(next))
    }

    /// Returns the numbers of both kinds.
    pub fn numbers(&self) -> Numbers {
        let mut numbers = self.int_numbers.clone();
        numbers.merge(self.real_numbers.clone());
        numbers
    }

    /// Returns the lengths of texts and blobs.
    pub fn lengths(&self) -> Lengths {
        let mut lengths = self.text_lengths.clone();
        lengths.merge(self.blob_lengths.clone());
        lengths
    }

    /// Returns the statistics without the integers.
    pub fn without_ints(&self) -> Self {
        let none = Self::new();
        Self {
            ints: 0,
            least_int: none.least_int,
            largest_int: none.largest_int,
            int_counts: none.int_counts,
            int_numbers: none.int_numbers,
            ..self.clone()
        }
    }

    /// Returns the statistics without the real numbers.
    pub fn without_reals(&self) -> Self {
        let none = Self::new();
        Self { reals: 0, real_counts: none.real_counts, real_numbers: none.real_numbers, ..self.clone() }
    }

    pub fn values(&self) -> u64 {
        self.ints + self.reals + self.texts + self.blobs
    }

    /// Returns the number of distinct texts.
    pub fn distinct_texts(&self) -> u64 {
        match &self.text_counts.0 {
            Some(counts) => counts.len() as u64,
            None if self.texts == self.values() => self.distinct().0,
            None => (self.text_rows.rows().count() as u64 * self.text_rows.weight()).min(self.texts),
        }
    }

    /// Returns the number of distinct values, and whether it is exact.
    pub fn distinct(&self) -> (u64, bool) {
        let counted = match (&self.int_counts.0, &self.real_counts.0, &self.text_counts.0) {
            (Some(ints), Some(reals), Some(texts)) if self.blobs == 0 => Some(ints.len() + reals.len() + texts.len()),
            _ => None,
        };
        match counted {
            Some(counted) => (counted as u64, true),
            None => (self.distinct.estimate().min(self.values()), false),
        }
    }
}
