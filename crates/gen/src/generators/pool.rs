//! A limited number of values, each in its own number of rows.

use super::{Arguments, Cardinality, Generator, InJson, Kinds, Permutation};
use crate::random::{CellRandom, Rows};
use litepress_rows::{CellBlock, Result};

/// The purposes of the values and of the blocks' orders in [`CellRandom::fork`].
const VALUES: u64 = 69;
const BLOCKS: u64 = 70;

/// `pool(inner, n: values, ...)`: so many values of `inner` are in n rows each of every block of as many rows as these
/// are together. Rows of a block are in random order, in runs of `run` rows with one value, as far as a value is in so many. Value v
/// of the pool is what `inner` has in row v.
#[derive(Debug)]
struct Pool {
    inner: Box<dyn Generator>,
    /// For each number of rows: that number, and the cumulative counts of values and rows.
    groups: Vec<Group>,
    /// The number of consecutive rows that stay together.
    run: u64,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    each: u64,
    values: u64,
    rows: u64,
}

pub(super) fn pool(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    const MOST: u64 = 1 << 40;
    let (inner, run, pairs) = arguments.generator_and_counts()?;
    let (mut groups, mut before) = (Vec::new(), Group { each: 0, values: 0, rows: 0 });
    for (index, (each, values)) in pairs.into_iter().enumerate().filter(|(_, (each, values))| *each > 0 && *values > 0)
    {
        let rows = before.rows.saturating_add(each.saturating_mul(values));
        if each > MOST || values > MOST || rows > MOST {
            return Err(arguments.error_at_pair(index + 1, "a pool has 2^40 rows at most"));
        }
        before = Group { each, values: before.values + values, rows };
        groups.push(before);
    }
    match groups.is_empty() {
        true => Err(arguments.error_here("pool has no value")),
        false => Ok(Box::new(Pool { inner, groups, run })),
    }
}

impl Pool {
    fn last(&self) -> Group {
        *self.groups.last().expect("a pool has a group")
    }

    /// Replaces the places of a block's rows by others: runs change their order and stay whole. The rows behind the last whole run
    /// stay where they are.
    fn shuffle(&self, random: &CellRandom, places: &mut [u64]) {
        let length = self.last().rows;
        let run = if length < self.run { 1 } else { self.run };
        let (runs, whole) = (length / run, length / run * run);
        let mut moved: Vec<u64> = places.iter().map(|place| if *place < whole { place / run } else { 0 }).collect();
        Permutation::new(runs, random).apply(&mut moved);
        for (place, moved) in places.iter_mut().zip(moved) {
            if *place < whole {
                *place = moved * run + *place % run;
            }
        }
    }

    /// Returns the value at a place of a block.
    fn value(&self, place: u64) -> u64 {
        let at = self.groups.partition_point(|group| group.rows <= place);
        let (values, rows) =
            at.checked_sub(1).map_or((0, 0), |before| (self.groups[before].values, self.groups[before].rows));
        values + (place - rows) / self.groups[at].each
    }
}

impl Generator for Pool {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let (mut values, mut all) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
        rows.append_to(&mut all, |row| row);
        let (blocks, length) = (random.fork(BLOCKS), self.last().rows);
        for of_block in all.chunk_by(|one, next| one / length == next / length) {
            let start = values.len();
            values.extend(of_block.iter().map(|row| row % length));
            let places = &mut values[start..];
            self.shuffle(&blocks.fork(of_block[0] / length), places);
            places.iter_mut().for_each(|place| *place = self.value(*place));
        }
        self.inner.fill(&random.fork(VALUES), &Rows::List(&values), out);
    }

    fn kinds(&self) -> Kinds {
        self.inner.kinds()
    }

    fn longest_bytes(&self) -> u64 {
        self.inner.longest_bytes()
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Among { values: self.last().values.min(self.inner.cardinality().at_most()) }
    }

    fn null_share(&self) -> f64 {
        self.inner.null_share()
    }

    fn in_json(&self) -> InJson {
        self.inner.in_json()
    }
}

#[cfg(test)]
mod tests {
    use super::super::catalogue;
    use super::*;
    use std::collections::BTreeMap;

    /// Returns the number of rows of each value.
    fn counts(text: &str, rows: u64) -> BTreeMap<String, u64> {
        let generator = catalogue::build_text(text, "test").expect(text);
        let (mut out, mut counts) = (CellBlock::default(), BTreeMap::new());
        for start in (0..rows).step_by(1000) {
            let some = start..rows.min(start + 1000);
            let length = usize::try_from(some.end - some.start).expect("few");
            generator.fill(&CellRandom::new(3, "t", "c"), &some.into(), &mut out);
            (0..length).for_each(|row| *counts.entry(format!("{:?}", out.value(row))).or_default() += 1);
        }
        counts
    }

    #[test]
    fn every_value_is_in_its_number_of_rows() {
        let pool = "pool(hex(16), 1: 500, 2: 40, 70: 2)";
        for blocks in [1, 3] {
            let mut values: BTreeMap<u64, u64> = BTreeMap::new();
            let counts = counts(pool, blocks * 720);
            counts.values().for_each(|rows| *values.entry(*rows).or_default() += 1);
            assert_eq!(values, BTreeMap::from([(blocks, 500), (2 * blocks, 40), (70 * blocks, 2)]));
        }
    }

    /// Six songs of an album had six composers.
    #[test]
    fn runs_have_one_value() {
        for (pool, changes) in
            [("pool(hex(16), run=10, 10: 40, 20: 20)", 80), ("pool(hex(16), run=7, 7: 40, 3: 5, 21: 9)", 80)]
        {
            let generator = catalogue::build_text(pool, "test").expect(pool);
            let rows = if pool.contains("run=10") { 800 } else { 484 };
            let mut out = CellBlock::default();
            generator.fill(&CellRandom::new(3, "t", "c"), &(0..rows).into(), &mut out);
            let values: Vec<String> =
                (0..usize::try_from(rows).expect("few")).map(|row| format!("{:?}", out.value(row))).collect();
            let changed = values.windows(2).filter(|two| two[0] != two[1]).count();
            assert!((changes / 2..=changes + 10).contains(&changed), "{changed} changes of {pool}");
            let mut one = CellBlock::default();
            generator.fill(&CellRandom::new(3, "t", "c"), &(77..78).into(), &mut one);
            assert_eq!(format!("{:?}", one.value(0)), values[77]);
        }
        let mut groups: BTreeMap<u64, u64> = BTreeMap::new();
        counts("pool(hex(16), run=7, 1: 500, 2: 40, 70: 2)", 720)
            .values()
            .for_each(|rows| *groups.entry(*rows).or_default() += 1);
        assert_eq!(groups, BTreeMap::from([(1, 500), (2, 40), (70, 2)]));
    }

    #[test]
    fn mistakes_are_errors() {
        for text in [
            "pool(word, run=0, 1: 2)",
            "pool(word, run='a', 1: 2)",
            "pool(word, runs=2, 1: 2)",
            "pool(word)",
            "pool(word, 1: 0)",
            "pool('a', 1: 2)",
            "pool(word, 1: 'a')",
            "pool(word, 3)",
        ] {
            assert!(catalogue::build_text(text, "test").is_err(), "{text}");
        }
    }
}
