//! Histograms of samples, as annotations.
//!
//! **No bound is the number of a single row**, unless the caller asks for that: the ends are round numbers between the
//! extreme and the fifth value, and the bounds between bins are rounded too. A number of five rows or more may be a
//! bound. All bounds are within the range of the numbers, so that they keep to a CHECK.

/// Number of bins of a histogram.
const BINS: usize = 48;
/// Least number of values in a bin, and of rows that a listed number needs.
pub(crate) const IN_A_BIN: usize = 5;

/// The precision of a histogram.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Precision {
    /// Most bins.
    pub bins: usize,
    /// Whether bounds are the numbers as they are.
    pub is_exact: bool,
}

impl Precision {
    pub fn new(keep_values: bool) -> Self {
        Self { bins: BINS, is_exact: keep_values }
    }

    /// Returns the number of bins for this number of values.
    fn bins(self, values: usize) -> usize {
        let in_a_bin = if self.is_exact { 1 } else { IN_A_BIN };
        self.bins.min(values / in_a_bin).max(1)
    }
}

/// A number whose roundness can be compared.
pub(crate) trait Number: Copy + PartialOrd {
    /// Returns the roundest number above `above` and up to `most`, by its decimal digits; `most` if there is none.
    fn roundest(above: Self, most: Self) -> Self;
    /// Returns the number just above.
    fn successor(self) -> Self;
    /// Returns a number near `self` with three significant digits at most: `self` is the number of a single row.
    fn vague(self) -> Self;
    /// Returns the number at a share of the way to `other`.
    fn towards(self, other: Self, share: f64) -> Self;
}

impl Number for i64 {
    fn roundest(above: Self, most: Self) -> Self {
        let units = (0..19).rev().map(|power| 10_i64.pow(power));
        let at = |unit: i64| most.checked_sub(most.rem_euclid(unit)).filter(|round| *round > above && *round <= most);
        units.flat_map(|unit| [unit.checked_mul(5), Some(unit)]).flatten().find_map(at).unwrap_or(most)
    }

    fn successor(self) -> Self {
        self.saturating_add(1)
    }

    fn vague(self) -> Self {
        let digits = self.unsigned_abs().checked_ilog10().unwrap_or(0);
        let unit = 10_i64.pow(digits.saturating_sub(2));
        self / unit * unit
    }

    fn towards(self, other: Self, share: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "between two integers; the conversion saturates")]
        let step = (other.saturating_sub(self) as f64 * share) as i64;
        self.saturating_add(step)
    }
}

/// Lengths.
impl Number for u64 {
    fn roundest(_: Self, most: Self) -> Self {
        most
    }

    fn successor(self) -> Self {
        self.saturating_add(1)
    }

    fn vague(self) -> Self {
        self
    }

    fn towards(self, _: Self, _: f64) -> Self {
        self
    }
}

impl Number for f64 {
    fn roundest(above: Self, most: Self) -> Self {
        const POWERS: i32 = 18;
        let distance = most - above;
        if !(distance > 0.0 && distance.is_finite()) {
            return most;
        }
        #[expect(clippy::cast_possible_truncation, reason = "a decimal exponent")]
        let largest = most.abs().max(distance).log10().ceil() as i32;
        let at = |power: i32, digit: f64| {
            // Multiplies or divides by a whole power of ten, which a double holds.
            let round = match power {
                0.. => (most / (digit * 10_f64.powi(power))).floor() * digit * 10_f64.powi(power),
                _ => (most * 10_f64.powi(-power) / digit).floor() * digit / 10_f64.powi(-power),
            };
            Some(round).filter(|round| *round > above && *round <= most)
        };
        let powers = (largest - POWERS..=largest).rev();
        powers
            .flat_map(|power| [(power, 5.0), (power, 1.0)])
            .find_map(|(power, digit)| at(power, digit))
            .unwrap_or(most)
    }

    fn successor(self) -> Self {
        self.next_up()
    }

    fn vague(self) -> Self {
        format!("{self:.2e}").parse().unwrap_or(self)
    }

    fn towards(self, other: Self, share: f64) -> Self {
        self + (other - self) * share
    }
}

/// Returns the ends of these sorted numbers, of which `least` and `largest` are the extremes of all rows: round
/// numbers within the outermost five.
pub(crate) fn ends<N: Number>(sorted: &[N], least: N, largest: N, precision: Precision) -> (N, N) {
    /// Share of the range that a round end may be beyond the fifth number.
    const BEYOND: f64 = 0.05;
    let Some(last) = sorted.len().checked_sub(1).filter(|_| !precision.is_exact) else { return (least, largest) };
    let edge = (last / 4).min(IN_A_BIN - 1);
    let (low, high) = (sorted[edge], sorted[last - edge]);
    if edge == 0 {
        // Too few numbers to hide one among them.
        let (low, high) = (low.vague(), high.vague());
        return if low < high { (low, high) } else { (high, high) };
    }
    // An outlier does not stretch the range.
    let (below, above) = (low.towards(high, -BEYOND), high.towards(low, -BEYOND));
    let below = if least > below { least } else { below };
    let above = if largest < above { largest } else { above };
    let first = if below < low { N::roundest(below, low) } else { low };
    let last = if high < above { N::roundest(high, above) } else { high };
    // The extreme itself is the number of a single row.
    (first, if last < largest { last } else { high })
}

/// Returns bounds of bins that hold about equally many of these numbers. A very frequent number gets its own bin, up
/// to its successor.
pub(crate) fn bounds<N: Number>(sorted: &[N], bins: usize) -> Vec<N> {
    let mut bounds: Vec<N> = Vec::new();
    for bin in 0..bins {
        let bound = sorted[bin * sorted.len() / bins];
        match bounds.last() {
            Some(last) if *last == bound => bounds.push(bound.successor()),
            Some(last) if *last > bound => {}
            _ => bounds.push(bound),
        }
    }
    bounds
}

/// Returns the bounds of a histogram from `low` on, rounded unless they are those of a very frequent number.
fn rounded<N: Number>(bounds: Vec<N>, low: N, precision: Precision) -> Vec<N> {
    let mut rounded: Vec<N> = vec![low];
    for (place, &bound) in bounds.iter().enumerate() {
        let before = rounded[rounded.len() - 1];
        let is_frequent =
            |bound: N| bounds.windows(2).any(|pair| pair[1] == pair[0].successor() && pair.contains(&bound));
        let bound = match place {
            _ if precision.is_exact || is_frequent(bound) => bound,
            _ => N::roundest(bound.towards(before, 0.25), bound),
        };
        if bound > before {
            rounded.push(bound);
        }
    }
    rounded
}

/// Returns `histogram(b0: w0, ..., bn)`, up to `end`; `show` formats the bounds.
fn histogram<N: Number>(sorted: &[N], mut bounds: Vec<N>, end: N, show: impl Fn(N) -> String) -> String {
    bounds.retain(|bound| *bound < end);
    if bounds.is_empty() {
        // All numbers are the end, or beyond it.
        return format!("histogram({}: {}, {})", show(end), sorted.len(), show(end.successor()));
    }
    bounds.push(end);
    let below = |bound: N| sorted.partition_point(|number| *number < bound);
    let mut bins = String::new();
    for (bin, pair) in bounds.windows(2).enumerate() {
        // The extremes belong to the first and the last bin.
        let first = if bin == 0 { 0 } else { below(pair[0]) };
        let end_count = if bin + 2 == bounds.len() { sorted.len() } else { below(pair[1]) };
        bins += &format!("{}: {}, ", show(pair[0]), end_count - first);
    }
    format!("histogram({bins}{})", show(end))
}

/// Extends the bounds of a sample to the least number of all rows. A frequent number keeps its own bin.
pub(crate) fn from_least<N: Number>(mut bounds: Vec<N>, least: N) -> Vec<N> {
    match bounds[..] {
        [first, next, ..] if least < first && next == first.successor() => bounds.insert(0, least),
        _ => bounds[0] = least,
    }
    bounds
}

pub(crate) fn whole_histogram(sample: Vec<f64>, least: i64, largest: i64, precision: Precision) -> (String, String) {
    #[expect(clippy::cast_possible_truncation, reason = "saturates, and is clamped")]
    let mut sorted: Vec<i64> = sample.iter().map(|&number| (number as i64).clamp(least, largest)).collect();
    sorted.sort_unstable();
    (stepped(sorted, least, largest, precision), "integers with this distribution".to_owned())
}

/// Returns a histogram of integers, or of a multiple of integers if all distances from the least one are multiples.
fn stepped(mut sorted: Vec<i64>, least: i64, largest: i64, precision: Precision) -> String {
    const ENOUGH: usize = 20;
    // The sample holds larger integers rounded.
    const EXACT: u64 = 1 << 53;
    let is_exact = least.unsigned_abs() < EXACT && largest.unsigned_abs() < EXACT;
    let step = if is_exact && sorted.len() >= ENOUGH { common_step(&sorted, least, largest) } else { 1 };
    let rest = least.rem_euclid(step);
    sorted.iter_mut().for_each(|number| *number = (*number - rest).div_euclid(step));
    let (least, largest) = ((least - rest) / step, (largest - rest) / step);
    let histogram = whole_bins(&sorted, least, largest, precision);
    match (step, rest) {
        (1, _) => histogram,
        (_, 0) => format!("{histogram} * {step}"),
        _ => format!("{histogram} * {step} + {rest}"),
    }
}

/// Returns the histogram of sorted integers between these extremes.
fn whole_bins(sorted: &[i64], least: i64, largest: i64, precision: Precision) -> String {
    let (low, high) = ends(sorted, least, largest, precision);
    let bounds = from_least(bounds(sorted, precision.bins(sorted.len())), low);
    // A rounded end needs no successor.
    let is_round = high < largest
        && high.saturating_sub(low) >= 100
        && high % 10 == 0
        && sorted.partition_point(|n| *n < high) < sorted.len();
    let end = if is_round && !precision.is_exact { Some(high) } else { high.checked_add(1) };
    match end {
        Some(end) => histogram(sorted, rounded(bounds, low, precision), end, |bound| bound.to_string()),
        None => format!("int({low}, {high})"),
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

pub(crate) fn real_histogram(sample: Vec<f64>, least: f64, largest: f64, precision: Precision) -> (String, String) {
    if let Some(decimals) = decimals(&sample).filter(|_| least.abs().max(largest.abs()) < 1e9) {
        let unit = 10_f64.powi(decimals);
        #[expect(clippy::cast_possible_truncation, reason = "below 2^53")]
        let whole = |number: f64| (number * unit).round() as i64;
        let mut sorted: Vec<i64> = sample.into_iter().map(whole).collect();
        sorted.sort_unstable();
        let generator = stepped(sorted, whole(least), whole(largest), precision);
        let generator = if generator.ends_with(')') { generator } else { format!("({generator})") };
        return (format!("{generator} / {unit:.1}"), format!("numbers of {decimals} decimals with this distribution"));
    }
    let mut sorted = sample;
    sorted.sort_unstable_by(f64::total_cmp);
    let (low, high) = ends(&sorted, least, largest, precision);
    let bounds = from_least(bounds(&sorted, precision.bins(sorted.len())), low);
    let end = if high < largest && low < high { high } else { high.next_up() };
    let generator = histogram(&sorted, rounded(bounds, low, precision), end, |bound| format!("{bound:?}"));
    (generator, "numbers with this distribution".to_owned())
}

/// Returns the number of decimals that all of these numbers need, if it is small.
pub(crate) fn decimals(numbers: &[f64]) -> Option<i32> {
    const MOST: i32 = 6;
    let is_written = |number: f64, decimals: i32| {
        let unit = 10_f64.powi(decimals);
        (number * unit).round() / unit == number
    };
    let of = |number: &f64| (0..=MOST).find(|&decimals| is_written(*number, decimals));
    numbers.iter().map(of).try_fold(0, |most, decimals| Some(most.max(decimals?)))
}
