//! Histograms of samples, as annotations.

/// Number of bins of a histogram, and the least number of values in a bin, so that no bin reveals a single row.
const BINS: usize = 48;
const IN_A_BIN: usize = 5;
/// Returns the number of bins for this number of values.
fn bins(values: usize) -> usize {
    BINS.min(values / IN_A_BIN).max(1)
}

/// Returns bounds of bins that hold about equally many of these numbers. A very frequent number gets its own bin, up
/// to `successor` it.
pub(crate) fn bounds<N: Copy + PartialOrd>(sorted: &[N], bins: usize, successor: impl Fn(N) -> N) -> Vec<N> {
    let mut bounds: Vec<N> = Vec::new();
    for bin in 0..bins {
        let bound = sorted[bin * sorted.len() / bins];
        match bounds.last() {
            Some(last) if *last == bound => bounds.push(successor(bound)),
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
        let end_count = if bin + 2 == bounds.len() { sorted.len() } else { below(pair[1]) };
        bins += &format!("{}: {}, ", show(pair[0]), end_count - first);
    }
    format!("histogram({bins}{})", show(end))
}

/// Extends the bounds of a sample to the least number of all rows. A frequent number keeps its own bin.
pub(crate) fn from_least<N: Copy + PartialOrd>(mut bounds: Vec<N>, least: N, successor: impl Fn(N) -> N) -> Vec<N> {
    match bounds[..] {
        [first, next, ..] if least < first && next == successor(first) => bounds.insert(0, least),
        _ => bounds[0] = least,
    }
    bounds
}

pub(crate) fn whole_histogram(sample: Vec<f64>, least: i64, largest: i64) -> (String, String) {
    #[expect(clippy::cast_possible_truncation, reason = "saturates, and is clamped")]
    let mut sorted: Vec<i64> = sample.iter().map(|&number| (number as i64).clamp(least, largest)).collect();
    sorted.sort_unstable();
    (stepped(sorted, least, largest), "integers with this distribution".to_owned())
}

/// Returns a histogram of integers, or of a multiple of integers if all are multiples above the least one.
fn stepped(mut sorted: Vec<i64>, least: i64, largest: i64) -> String {
    const ENOUGH: usize = 20;
    // The sample holds larger integers rounded.
    const EXACT: u64 = 1 << 53;
    let successor = |bound: i64| bound.saturating_add(1);
    let is_exact = least.unsigned_abs() < EXACT && largest.unsigned_abs() < EXACT;
    let step = if is_exact && sorted.len() >= ENOUGH { common_step(&sorted, least, largest) } else { 1 };
    if step > 1 {
        sorted.iter_mut().for_each(|number| *number = (*number - least) / step);
        let steps = (largest - least) / step;
        let bounds = from_least(bounds(&sorted, bins(sorted.len()), successor), 0, successor);
        let from = match least {
            0 => String::new(),
            1.. => format!(" + {least}"),
            _ => format!(" - {}", least.unsigned_abs()),
        };
        return format!("{} * {step}{from}", histogram(&sorted, bounds, steps + 1, |bound| bound.to_string()));
    }
    let bounds = from_least(bounds(&sorted, bins(sorted.len()), successor), least, successor);
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

pub(crate) fn real_histogram(sample: Vec<f64>, least: f64, largest: f64) -> (String, String) {
    if let Some(decimals) = decimals(&sample).filter(|_| least.abs().max(largest.abs()) < 1e9) {
        let unit = 10_f64.powi(decimals);
        #[expect(clippy::cast_possible_truncation, reason = "below 2^53")]
        let whole = |number: f64| (number * unit).round() as i64;
        let mut sorted: Vec<i64> = sample.into_iter().map(whole).collect();
        sorted.sort_unstable();
        let generator = stepped(sorted, whole(least), whole(largest));
        let generator = if generator.ends_with(')') { generator } else { format!("({generator})") };
        return (format!("{generator} / {unit:.1}"), format!("numbers of {decimals} decimals with this distribution"));
    }
    let mut sorted = sample;
    sorted.sort_unstable_by(f64::total_cmp);
    let bounds = from_least(bounds(&sorted, bins(sorted.len()), f64::next_up), least, f64::next_up);
    let generator = histogram(&sorted, bounds, largest.next_up(), |bound| format!("{bound:?}"));
    (generator, "numbers with this distribution".to_owned())
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
