//! Truncated distributions without a closed inverse: a range far from the mean must not put its mass on the bound.

use super::super::functions::{exp, ln};
use super::between;
use crate::random::CellStream;

/// Draws a standard normal variable within `low..=high` (Robert, *Simulation of truncated normal variables*, 1995): the
/// proposal is uniform in a narrow range, exponential in a tail, and half of the proposals or more are accepted.
pub(super) fn normal(stream: &mut CellStream, low: f64, high: f64) -> f64 {
    if high < 0.0 {
        return -normal(stream, -high, -low);
    }
    if low < 0.0 {
        // The mode is inside, and the range is narrow: else one of the first draws would be in it.
        return uniform_proposal(stream, low, high, 0.0);
    }
    let rate = (low + (low * low + 4.0).sqrt()) / 2.0;
    if (high - low) * rate < 2.0 {
        return uniform_proposal(stream, low, high, low);
    }
    loop {
        let x = low - ln(between(stream.u64())) / rate;
        let distance = x - rate;
        // The acceptance rate of a proposal is the ratio of densities, at most 1.
        if x <= high && ln(between(stream.u64())) <= -distance * distance / 2.0 {
            return x;
        }
        if rate > 1e8 {
            return x.min(high);
        }
    }
}

/// Draws by uniform proposals; the density is largest at `mode`.
fn uniform_proposal(stream: &mut CellStream, low: f64, high: f64, mode: f64) -> f64 {
    loop {
        let x = low + (high - low) * between(stream.u64());
        if ln(between(stream.u64())) <= (mode - x) * (mode + x) / 2.0 {
            return x;
        }
    }
}

/// Returns the quantile of a beta variable within `low..=high`, by bisection of the incomplete beta function. Each of
/// both parts, below and above the place where its continued fraction changes sides, is measured from its own end, so
/// that the tails keep their digits.
pub(super) fn beta(probability: f64, (a, b): (f64, f64), low: f64, high: f64) -> f64 {
    const STEPS: usize = 80;
    let middle = (a + 1.0) / (a + b + 2.0);
    let below = |x: f64| incomplete_beta(x, a, b);
    let above = |x: f64| incomplete_beta(1.0 - x, b, a);
    // Both parts have the same unknown factor, so that their masses compare.
    let lower = if low < middle { below(high.min(middle)) - below(low) } else { 0.0 };
    let upper = if high > middle { above(low.max(middle)) - above(high) } else { 0.0 };
    let wanted = probability * (lower + upper);
    let is_lower = wanted < lower;
    let (mut least, mut most) = if is_lower { (low, high.min(middle)) } else { (low.max(middle), high) };
    let start = if is_lower { below(low) } else { above(low.max(middle)) };
    if lower + upper <= 0.0 {
        // The whole range has no mass that a double can hold: the end nearest to the mode has most.
        return if high < middle { high } else { low };
    }
    for _ in 0..STEPS {
        let x = least + (most - least) / 2.0;
        let mass = if is_lower { below(x) - start } else { lower + start - above(x) };
        if mass < wanted { least = x } else { most = x }
    }
    least + (most - least) / 2.0
}

/// Returns the incomplete beta function of x, not regularized, by Lentz's method for its continued fraction
/// (Press et al., *Numerical Recipes*, 6.4); x is not far above the mean. All values have a common factor that keeps
/// them within the range of a double.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    const MOST_TERMS: u32 = 4000;
    const TINY: f64 = 1e-300;
    if x <= 0.0 {
        return 0.0;
    }
    let nonzero = |x: f64| if x.abs() < TINY { TINY } else { x };
    let mut c = 1.0;
    let mut d = 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for term in 1..MOST_TERMS {
        let m = f64::from(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = fraction;
        for numerator in [even, odd] {
            d = 1.0 / nonzero(1.0 + numerator * d);
            c = nonzero(1.0 + numerator / c);
            fraction *= d * c;
        }
        if (fraction - before).abs() < 1e-15 * fraction.abs() {
            break;
        }
    }
    let mode = (a / (a + b)).clamp(1e-12, 1.0 - 1e-12);
    let largest = a * ln(mode) + b * ln(1.0 - mode);
    let rest = (1.0 - x).max(1e-300);
    exp(a * ln(x) + b * ln(rest) - largest) * fraction / a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::CellRandom;

    fn normals(low: f64, high: f64, rows: u64) -> Vec<f64> {
        let random = CellRandom::new(1, "t", "c");
        let mut values: Vec<f64> = (0..rows).map(|row| normal(&mut random.stream(row), low, high)).collect();
        values.sort_unstable_by(f64::total_cmp);
        values
    }

    /// The mean of a normal variable beyond `a` is its density there divided by its tail.
    #[test]
    fn tails_have_their_mean() {
        for (low, high, mean) in [
            (2.0, f64::MAX, 2.373_215_5),
            (3.0, f64::MAX, 3.283_098_6),
            (4.0, 5.0, 4.216_83),
            (-0.01, 0.01, 0.0),
            (6.0, 6.1, 6.045_0),
            (-3.0, -2.5, -2.6949),
            (30.0, f64::MAX, 30.033_26),
        ] {
            let values = normals(low, high, 40_000);
            let found = values.iter().sum::<f64>() / values.len() as f64;
            assert!((found - mean).abs() < 0.004, "{low} to {high}: {found}");
            assert!(values[0] >= low && values[values.len() - 1] <= high && values[0] < values[9]);
        }
    }

    #[test]
    fn beta_keeps_its_shape_in_a_range() {
        // Beta(2, 1) has the density 2 x: within 0.1 to 0.2 the quantile is the root of 0.01 + p 0.03.
        for p in [0.001, 0.25, 0.5, 0.999] {
            let x = beta(p, (2.0, 1.0), 0.1, 0.2);
            assert!((x * x - 0.01 - p * 0.03).abs() < 1e-9, "{p}: {x}");
            let x = 1.0 - beta(p, (1.0, 2.0), 0.8, 0.9);
            assert!((x * x - 0.01 - (1.0 - p) * 0.03).abs() < 1e-9, "{p}: {x}");
        }
        // Across the middle, and in a far tail.
        assert!((beta(0.5, (5.0, 5.0), 0.2, 0.8) - 0.5).abs() < 1e-9);
        let far = beta(0.5, (400.0, 400.0), 0.9, 0.95);
        assert!((0.9..0.901).contains(&far), "{far}");
    }
}
