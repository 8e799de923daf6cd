//! The numbers of children of a foreign key's parents, and their comparison with random and Zipf distributed references.

use crate::references::ReferenceStats;
use std::collections::BTreeMap;

/// The numbers of children of a foreign key's parents.
pub(crate) struct ChildCounts {
    /// Number of parents for each number of children.
    pub parents: BTreeMap<u64, u64>,
    pub children: u64,
    /// Parents, including those without children.
    pub all: u64,
    /// Probability that two random children have the same parent.
    pub shared: f64,
    /// Uncertainty of the number of parents with children, which is an estimate if only a sample was counted.
    pub slack: u64,
}

impl ChildCounts {
    /// Evaluates the counts of a foreign key; the parents' table has this number of rows.
    pub fn new(stats: &ReferenceStats, rows: u64) -> Self {
        let weight = stats.children.weight();
        let (mut parents, mut pairs) = (BTreeMap::new(), 0.0);
        let mut children = 0;
        for count in stats.children.rows() {
            *parents.entry(count).or_default() += weight;
            children += count * weight;
            pairs += (count as f64) * (count - 1) as f64 * weight as f64;
        }
        let with_children: u64 = parents.values().sum();
        // Three standard deviations of the number that a sample stands for.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a fraction of a number of rows")]
        let slack = (3.0 * (rows as f64 * (weight - 1) as f64).sqrt()) as u64;
        let childless = rows.saturating_sub(with_children);
        if childless > slack {
            parents.insert(0, childless);
        }
        let all = parents.values().sum();
        let shared = pairs / ((children as f64) * (children as f64 - 1.0)).max(1.0);
        Self { parents, children, all, shared, slack }
    }

    pub fn least(&self) -> u64 {
        self.parents.keys().next().copied().unwrap_or(0)
    }

    pub fn most(&self) -> u64 {
        self.parents.keys().next_back().copied().unwrap_or(0)
    }

    /// Returns whether all parents have n or n + 1 children.
    pub fn is_even(&self) -> bool {
        self.most() - self.least() <= 1 && self.children >= self.all
    }

    pub fn with_children(&self) -> u64 {
        self.all - self.parents.get(&0).copied().unwrap_or(0)
    }

    /// Returns the exponent of Zipf's law with the same probability that two children share a parent; 0 means random
    /// references.
    pub fn exponent(&self) -> f64 {
        const MOST: f64 = 8.0;
        let shared = |exponent: f64| harmonic(self.all, 2.0 * exponent) / harmonic(self.all, exponent).powi(2);
        let (mut low, mut high) = (0.0, MOST);
        for _ in 0..40 {
            let middle = (low + high) / 2.0;
            if shared(middle) < self.shared { low = middle } else { high = middle }
        }
        (low * 100.0_f64).round() / 100.0
    }

    /// Returns the distance of the numbers of children from those by Zipf's law, over all parents (Kolmogorov and
    /// Smirnov).
    pub fn distance(&self, exponent: f64) -> f64 {
        const RANKS: u64 = 1000;
        let ranks = self.all.min(RANKS);
        let sum = harmonic(self.all, exponent);
        let mean = |rank: u64| {
            let rank = (rank as f64 + 0.5) * self.all as f64 / ranks as f64 + 0.5;
            self.children as f64 * rank.powf(-exponent) / sum
        };
        let means: Vec<f64> = (0..ranks).map(mean).collect();
        let (mut below, mut largest) = (0, 0.0_f64);
        // A few dozen numbers of children suffice.
        let step = self.parents.len().div_ceil(50);
        for (place, (&count, &parents)) in self.parents.iter().enumerate() {
            below += parents;
            if place % step == 0 {
                let expected = means.iter().map(|&mean| at_most(mean, count)).sum::<f64>() / ranks as f64;
                largest = largest.max((expected - below as f64 / self.all as f64).abs());
            }
        }
        largest
    }

    /// Returns `deal(...)` of these numbers of children. Very many distinct numbers are merged in groups of
    /// neighbours, each replaced by two numbers with the same sums of parents and children.
    pub fn deal(&self) -> String {
        const GROUPS: usize = 32;
        let counts: Vec<(u64, u64)> = self.parents.iter().map(|(&count, &parents)| (count, parents)).collect();
        let mut dealt: BTreeMap<u64, u64> = BTreeMap::new();
        let group = if counts.len() <= 2 * GROUPS { 1 } else { counts.len().div_ceil(GROUPS) };
        for group in counts.chunks(group) {
            let parents: u64 = group.iter().map(|(_, parents)| parents).sum();
            let children: u64 = group.iter().map(|(count, parents)| count * parents).sum();
            let (each, more) = (children / parents, children % parents);
            *dealt.entry(each).or_default() += parents - more;
            *dealt.entry(each + 1).or_default() += more;
        }
        let dealt: Vec<String> = dealt
            .into_iter()
            .filter(|(_, parents)| *parents > 0)
            .map(|(count, parents)| format!("{count}: {parents}"))
            .collect();
        format!("deal({})", dealt.join(", "))
    }
}

/// Returns the sum of 1/n^s for the ranks up to `ranks`, the tail approximated by an integral.
fn harmonic(ranks: u64, exponent: f64) -> f64 {
    const SUMMED: u64 = 1000;
    let summed: f64 = (1..=ranks.min(SUMMED)).map(|rank| (rank as f64).powf(-exponent)).sum();
    let integral = |rank: f64| match (1.0 - exponent).abs() < 1e-9 {
        true => rank.ln(),
        false => rank.powf(1.0 - exponent) / (1.0 - exponent),
    };
    let rest = integral(ranks.max(SUMMED) as f64 + 0.5) - integral(SUMMED as f64 + 0.5);
    summed + rest
}

/// Returns the probability that a Poisson number with this mean is at most `count`.
fn at_most(mean: f64, count: u64) -> f64 {
    const LARGE: f64 = 50.0;
    if mean > LARGE {
        // The normal distribution, approximated by the logistic one.
        let deviations = (count as f64 + 0.5 - mean) / mean.sqrt();
        return 1.0 / (1.0 + (-1.702 * deviations).exp());
    }
    let terms =
        std::iter::successors(Some((1.0, (-mean).exp())), |&(next, term)| Some((next + 1.0, term * mean / next)));
    terms.map(|(_, term)| term).take(usize::try_from(count.min(500) + 1).unwrap_or(500)).sum()
}
