//! Distributions, tested by statistics of fixed seeds.

use super::*;
use crate::generators::functions::normal_quantile;

fn numbers(text: &str, rows: u64) -> Vec<f64> {
    values(text, rows).iter().map(|value| value.parse().expect("a number")).collect()
}

/// Returns the largest distance between the empirical and the expected distribution (Kolmogorov and Smirnov), times
/// the square root of the number of values: 1.95 is exceeded by one seed in a thousand.
fn kolmogorov_smirnov(mut values: Vec<f64>, below: impl Fn(f64) -> f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let distance = |(at, &value): (usize, &f64)| {
        let expected = below(value);
        (expected - at as f64 / n).abs().max(((at + 1) as f64 / n - expected).abs())
    };
    values.iter().enumerate().map(distance).fold(0.0, f64::max) * n.sqrt()
}

/// Returns the probability below `x` of a standard normal variable: the inverse of the quantile, by bisection.
fn normal_below(x: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if normal_quantile(middle) < x { low = middle } else { high = middle }
    }
    low
}

/// A distribution function: the probability below a number.
type Below<'a> = &'a dyn Fn(f64) -> f64;

#[test]
fn continuous_distributions_have_their_shape() {
    let normal = |x: f64| normal_below((x - 10.0) / 2.0);
    let cases: [(&str, Below<'_>); 9] = [
        ("normal(10, 2)", &normal),
        ("normal(10, 2, min=9)", &|x| (normal(x) - normal(9.0)) / (1.0 - normal(9.0))),
        ("lognormal(10, 2)", &|x| normal(x.ln())),
        ("exponential(4)", &|x| 1.0 - (-4.0 * x).exp()),
        ("pareto(3, 1.5)", &|x| 1.0 - (x / 3.0).powf(-1.5)),
        // For shapes of 1 or 2 the distribution function is short.
        ("beta(3, 1)", &|x| x.powi(3)),
        ("beta(1, 0.5)", &|x| 1.0 - (1.0 - x).sqrt()),
        ("beta(2, 2)", &|x| x * x * (3.0 - 2.0 * x)),
        ("histogram(-1.5: 1, 0: 3, 2)", &|x| if x < 0.0 { (x + 1.5) / 6.0 } else { 0.25 + x * 0.375 }),
    ];
    for (text, below) in cases {
        let distance = kolmogorov_smirnov(numbers(text, 50_000), below);
        assert!(distance < 1.95, "{text}: {distance}");
    }
}

/// Returns the chi-square statistic of integers of 0 to `most` (and all above together) against weights, and a bound
/// that is exceeded by one seed in a thousand, by the normal approximation of Wilson and Hilferty.
fn chi_of_weights(values: &[f64], weights: &[f64]) -> (f64, f64) {
    let sum: f64 = weights.iter().sum();
    let mut counts = vec![0.0; weights.len()];
    for &value in values {
        let place = (0..weights.len() - 1).find(|&place| place as f64 == value);
        counts[place.unwrap_or(weights.len() - 1)] += 1.0;
    }
    let expected = |weight: &f64| weight / sum * values.len() as f64;
    let chi = counts.iter().zip(weights).map(|(count, weight)| (count - expected(weight)).powi(2) / expected(weight));
    let freedom = weights.len() as f64 - 1.0;
    let bound = freedom * (1.0 - 2.0 / (9.0 * freedom) + 3.09 * (2.0 / (9.0 * freedom)).sqrt()).powi(3);
    (chi.sum(), bound)
}

/// Counts ranks below 30 one by one, and the rest together.
#[test]
fn zipf_of_every_exponent() {
    for (n, s) in [(40_u64, 0.5), (1000, 0.8), (1000, 1.0), (1000, 1.000_01), (100_000, 1.5), (1000, 3.0), (1000, 0.01)]
    {
        let ranks: Vec<f64> = numbers(&format!("zipf({n}, {s})"), 100_000).iter().map(|rank| rank - 1.0).collect();
        assert!(ranks.iter().all(|&rank| rank >= 0.0 && rank < n as f64));
        let weight = |rank: u64| (rank as f64).powf(-s);
        let mut weights: Vec<f64> = (1..30).map(weight).collect();
        weights.push((30..=n).map(weight).sum());
        let (chi, bound) = chi_of_weights(&ranks, &weights);
        assert!(chi < bound, "zipf({n}, {s}): chi-square {chi}");
    }
    assert!(values("zipf(1, 2)", 100).iter().all(|rank| rank == "1"));
    assert!(numbers("zipf(4503599627370496, 0.001)", 1000).iter().any(|&rank| rank > 4e15));
}

#[test]
fn poisson_of_small_and_large_means() {
    for (mean, most) in [(0.01, 2), (0.9, 5), (3.5, 11), (20.0, 35)] {
        let weight = |k: u32| (1..=k).fold(f64::exp(-mean), |weight, k| weight * mean / f64::from(k));
        let mut weights: Vec<f64> = (0..most).map(weight).collect();
        weights.push(1.0 - weights.iter().sum::<f64>());
        let (chi, bound) = chi_of_weights(&numbers(&format!("poisson({mean})"), 100_000), &weights);
        assert!(chi < bound, "poisson({mean}): chi-square {chi} above {bound}");
    }
    let large = numbers("poisson(1m)", 20_000);
    let mean = large.iter().sum::<f64>() / 20_000.0;
    let variance = large.iter().map(|k| (k - mean).powi(2)).sum::<f64>() / 20_000.0;
    assert!((mean - 1e6).abs() < 4.0 * 1000.0 / 141.0 && (variance / 1e6 - 1.0).abs() < 0.04, "{mean} {variance}");
}

#[test]
fn histograms_of_whole_numbers() {
    let (chi, bound) = chi_of_weights(&numbers("histogram(0: 2, 2: 0, 4: 3, 5: 5, 10)", 100_000), &{
        [2.0, 2.0, 0.0, 0.0, 6.0, 2.0, 2.0, 2.0, 2.0, 2.0].map(|weight: f64| weight.max(1e-300))
    });
    assert!(chi < bound, "chi-square {chi}");
    let widest = numbers("histogram(-9223372036854775808: 1, 9223372036854775807)", 1000);
    assert!(widest.iter().any(|&n| n < -9e18) && widest.iter().any(|&n| n > 9e18));
}

/// Values beyond a bound were drawn anew 33 times only: then the bound itself was stored, in up to 99.9 % of the rows.
#[test]
fn bounds_have_no_mass() {
    for (text, low, high, mean) in [
        ("normal(0, 1, min=2)", 2.0, 9.0, 2.3732),
        ("normal(0, 1, min=3)", 3.0, 9.0, 3.2831),
        ("normal(50, 10, min=90, max=100)", 90.0, 100.0, 92.17),
        ("normal(0, 1, min=-0.01, max=0.01)", -0.01, 0.01, 0.0),
        ("exponential(1, min=5)", 5.0, 30.0, 6.0),
        ("exponential(1, min=5, max=6)", 5.0, 6.0, 5.418),
        ("lognormal(0, 1, min=10)", 10.0, 1e6, 14.7),
        ("pareto(1, 3, min=100)", 100.0, 1e9, 150.0),
        ("pareto(1, 1.16, min=100, max=200)", 100.0, 200.0, 136.5),
        ("beta(2, 5, min=0.95)", 0.95, 1.0, 0.9583),
        ("beta(0.5, 0.5, max=0.001)", 0.0, 0.001, 0.000333),
    ] {
        let found = numbers(text, 20_000);
        let at_bound = found.iter().filter(|&&n| n == low || n == high).count();
        assert!(at_bound < 3 && found.iter().all(|n| (low..=high).contains(n)), "{text}: {at_bound}");
        let average = found.iter().sum::<f64>() / found.len() as f64;
        assert!((average - mean).abs() < 0.03 * mean.abs().max(high.min(0.01)), "{text}: {average}");
    }
    for (text, message) in [
        ("exponential(1, max=-1)", "no value lies between"),
        ("pareto(2, 1, max=1)", "the distribution has 2 and more"),
        ("beta(1, 1, min=2)", "the distribution has 0 to 1"),
        ("lognormal(0, 1, max=0)", "no value lies between"),
    ] {
        let error = catalogue::build_text(text, "test").expect_err(text);
        assert!(error.message().contains(message), "{error}");
    }
}

#[test]
fn bounds_and_decimals_are_kept() {
    for (text, low, high) in [
        ("normal(0, 10, min=-5, max=5)", -5.0, 5.0),
        ("normal(0, 1, min=10)", 10.0, 11.5),
        ("normal(0.5, 1, min=0.5, max=1.4, decimals=0)", 1.0, 1.0),
        ("normal(0, 1, min=0.05, decimals=1)", 0.1, 9.0),
        ("pareto(1, 0.1, max=1000, decimals=0)", 1.0, 1000.0),
        ("walk(5, 3, min=0, max=10)", 0.0, 10.0),
        ("walk(0.5, 100, min=0.3, max=0.74, decimals=1)", 0.3, 0.7),
        ("walk(-5, 30, max=0)", -1e9, 0.0),
    ] {
        let found = numbers(text, 20_000);
        assert!(found.iter().all(|n| (low..=high).contains(n)), "{text}");
        let decimals = |value: &String| value.split('.').nth(1).map_or(0, str::len);
        if text.contains("decimals") {
            assert!(values(text, 1000).iter().all(|value| decimals(value) <= 1), "{text}");
        }
    }
    for (text, is_whole) in
        [("walk", true), ("walk(1.0, 2)", false), ("walk(1, 2, decimals=2)", false), ("normal(1, 2, decimals=0)", true)]
    {
        assert_eq!(values(text, 10).iter().all(|value| !value.contains('.')), is_whole, "{text}");
    }
}

#[test]
fn steps_follow_one_another() {
    assert_eq!(values("steps('a': 2, 'b': 1, 'c')", 5).concat(), "'a''a''b''c''c'");
    assert_eq!(values("steps(1: 1500, NULL)", 3000).iter().filter(|value| *value == "1").count(), 1500);
    assert_eq!(values("steps(7)", 2), ["7", "7"]);
}

#[test]
fn sparse_values_come_in_their_share() {
    for (text, shares) in [
        ("sparse(0.1)", [("1", 0.1), ("NULL", 0.9)]),
        ("sparse(0.1, 'x', 0)", [("'x'", 0.1), ("0", 0.9)]),
        ("sparse(0.4, NULL, 5)", [("NULL", 0.4), ("5", 0.6)]),
    ] {
        assert!(chi_square(&values(text, 100_000), &shares) < 10.8, "{text}");
    }
}

/// Whole decks have each value the right number of times, and no two decks have the same order.
#[test]
fn decks_are_dealt_whole() {
    let dealt = values("deal('a': 3, 'b': 1, 'c': 1200)", 1204 * 3);
    let count = |rows: &[String], value: &str| rows.iter().filter(|row| *row == value).count();
    for deck in dealt.chunks(1204) {
        assert_eq!([count(deck, "'a'"), count(deck, "'b'"), count(deck, "'c'")], [3, 1, 1200]);
    }
    assert_ne!(dealt[..1204], dealt[1204..2408]);
    let generator = build("deal('a': 3, 'b': 1, 'c': 1200)");
    assert_eq!(block(&*generator, 1000..1500), dealt[1000..1500]);
    assert_eq!(values("deal(7)", 3), ["7", "7", "7"]);
}
