//! Suggested annotations for a column with CHECK constraints, most natural first.

use super::limits::{Bound, Limits};
use crate::expression::Comparison;
use crate::generators::number;
use crate::infer::{Class, Subject};
use litepress_rows::cells::OwnedValue;

/// A column with constraints that its annotation does not meet.
pub(super) struct Wanted<'a> {
    pub subject: Subject<'a>,
    /// Whether every row needs a distinct value.
    pub is_key: bool,
    /// The annotation that does not meet them.
    pub now: String,
}

impl Wanted<'_> {
    fn is(&self, classes: &[Class]) -> bool {
        classes.contains(&self.subject.class)
    }

    fn may_be_int(&self) -> bool {
        self.is(&[Class::Int, Class::Numeric, Class::Any])
    }

    fn may_be_real(&self) -> bool {
        self.is(&[Class::Real, Class::Numeric, Class::Any])
    }

    /// Columns declared DATE have numeric affinity and hold texts.
    fn may_be_text(&self) -> bool {
        let is_time = self.now.starts_with("date(") || self.now.starts_with("timestamp(");
        self.is(&[Class::Text, Class::Any]) || is_time
    }
}

pub(super) fn candidates(wanted: &Wanted<'_>, limits: &Limits) -> Vec<String> {
    let mut texts = Vec::new();
    if let (Some(values), false) = (&limits.values, wanted.is_key) {
        let values: Vec<String> = values.iter().map(literal).collect();
        texts.push(format!("choice({})", values.join(", ")));
    }
    if !wanted.is_key {
        let made = limits.others.iter().flat_map(|(comparison, other)| of_other(wanted, *comparison, other));
        let made: Vec<String> = made.collect();
        let kept: Vec<String> = made.iter().filter_map(|text| within(text, limits)).collect();
        texts.extend(made);
        texts.extend(kept);
    }
    let [ints, reals] = [ints(wanted, limits), reals(wanted, limits)];
    texts.extend(if wanted.now.starts_with("real(") { [reals, ints] } else { [ints, reals] }.concat());
    texts.extend(times(wanted, limits));
    texts.extend(lengths(wanted, limits));
    texts.extend(limits.functions.iter().map(|function| format!("{function}({})", called(&wanted.now))));
    texts.extend(usual(wanted).iter().map(|&text| text.to_owned()));
    texts
}

/// Formats a value as a literal of annotations.
fn literal(value: &OwnedValue) -> String {
    match value {
        OwnedValue::Null => "NULL".to_owned(),
        OwnedValue::Int(int) => int.to_string(),
        OwnedValue::Real(real) => format!("{real}"),
        OwnedValue::Text(text) => format!("'{}'", text.replace('\'', "''")),
        OwnedValue::Blob(blob) => format!("x'{}'", blob.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
    }
}

/// Makes an annotation usable as a part of another one, in which a name alone would be a column.
fn called(text: &str) -> String {
    if text.ends_with(')') { text.to_owned() } else { format!("{text}()") }
}

/// Suggests values that compare with an expression of other columns as required.
fn of_other(wanted: &Wanted<'_>, comparison: Comparison, other: &str) -> Vec<String> {
    let is_plain = other.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '"'));
    if matches!(comparison, Comparison::Equal | Comparison::Is) {
        // A name alone would be a generator.
        let is_name = is_plain && !other.starts_with('"');
        return vec![if is_name { format!("\"{other}\"") } else { other.to_owned() }];
    }
    let other = if is_plain { other.to_owned() } else { format!("({other})") };
    let (ints, reals, days): (&[&str], &[&str], &[&str]) = match comparison {
        Comparison::GreaterOrEqual => (&["+ int(0, 100)"], &["+ real(0, 100, 2)"], &["int(0, 30)"]),
        Comparison::Greater => (&["+ int(1, 100)"], &["+ real(0.01, 100, 2)"], &["int(1, 30)"]),
        Comparison::LessOrEqual => (&["* int(0, 100) / 100", "- int(0, 100)"], &["* real(0, 1)"], &["-int(0, 30)"]),
        Comparison::Less => (&["* int(0, 99) / 100", "- int(1, 100)"], &["* real(0, 0.99)"], &["-int(1, 30)"]),
        _ => (&["+ int(1, 100)"], &["+ real(1, 100, 2)"], &["int(1, 30)"]),
    };
    let mut texts = Vec::new();
    if wanted.may_be_text() {
        texts.extend(days.iter().map(|days| format!("date_add({other}, {days}, 'days')")));
    }
    if wanted.may_be_int() {
        texts.extend(ints.iter().map(|ints| format!("{other} {ints}")));
    }
    if wanted.may_be_real() {
        texts.extend(reals.iter().map(|reals| format!("round({other} {reals}, 2)")));
    }
    if comparison == Comparison::Unequal && wanted.may_be_text() {
        texts.push(format!("{other} || '-' || word()"));
    }
    texts
}

/// Clamps an annotation to the constant bounds.
fn within(text: &str, limits: &Limits) -> Option<String> {
    let least = limits.low.as_ref().map(|low| format!("max({}, {text})", literal(&low.value)));
    let text = least.as_deref().unwrap_or(text);
    let most = limits.high.as_ref().map(|high| format!("min({}, {text})", literal(&high.value)));
    most.or(least)
}

/// Returns both bounds as numbers, with a default for a missing one.
fn bounds(limits: &Limits, usual: f64) -> Option<(f64, f64)> {
    let [low, high] = [&limits.low, &limits.high].map(|bound| bound.as_ref().and_then(|bound| number(&bound.value)));
    match (low, high) {
        (None, None) => None,
        (Some(low), high) => Some((low, high.unwrap_or(low.max(0.0) + usual))),
        (None, Some(high)) => Some((if high > 0.0 { 0.0 } else { high - usual }, high)),
    }
}

fn is_out(bound: Option<&Bound>) -> bool {
    bound.is_some_and(|bound| bound.is_out)
}

fn ints(wanted: &Wanted<'_>, limits: &Limits) -> Vec<String> {
    let Some((low, high)) =
        bounds(limits, 1000.0).filter(|_| wanted.may_be_int() || wanted.is_key && wanted.may_be_real())
    else {
        return Vec::new();
    };
    #[expect(clippy::cast_possible_truncation, reason = "conversions that saturate")]
    let (mut first, mut last) = (low.ceil() as i64, high.floor() as i64);
    if is_out(limits.low.as_ref()) && first as f64 == low {
        first = first.saturating_add(1);
    }
    if is_out(limits.high.as_ref()) && last as f64 == high {
        last = last.saturating_sub(1);
    }
    match wanted.is_key {
        true if limits.high.is_none() => vec![format!("sequence({first})")],
        true => vec![format!("sequence({first})"), format!("sequence({last}, -1)")],
        false if first <= last => vec![format!("int({first}, {last})")],
        false => Vec::new(),
    }
}

fn reals(wanted: &Wanted<'_>, limits: &Limits) -> Vec<String> {
    let Some((low, high)) = bounds(limits, 1000.0).filter(|_| wanted.may_be_real() && !wanted.is_key) else {
        return Vec::new();
    };
    let decimals = if high - low < 10.0 { 4 } else { 2 };
    let step = 1.0 / 10_f64.powi(decimals);
    let low = if is_out(limits.low.as_ref()) { low + step } else { low };
    if low < high { vec![format!("real({low}, {high}, {decimals})")] } else { vec![format!("constant({low})")] }
}

/// Suggests days and times between bounds that are texts.
fn times(wanted: &Wanted<'_>, limits: &Limits) -> Vec<String> {
    let text = |bound: &Option<Bound>, usual: &str| match bound {
        Some(Bound { value: OwnedValue::Text(text), .. }) => Some(text.clone()),
        Some(_) => None,
        None => Some(usual.to_owned()),
    };
    if !wanted.may_be_text() || wanted.is_key || limits.low.is_none() && limits.high.is_none() {
        return Vec::new();
    }
    let (Some(low), Some(high)) = (text(&limits.low, "1970-01-01"), text(&limits.high, "2030-01-01")) else {
        return Vec::new();
    };
    let (low, high) = (literal(&OwnedValue::Text(low)), literal(&OwnedValue::Text(high)));
    let day =
        if is_out(limits.low.as_ref()) { format!("date_add(date({low}, {high}), 1, 'days')") } else { String::new() };
    let plain = ["date", "timestamp"].map(|name| format!("{name}({low}, {high})"));
    plain.into_iter().chain([day]).filter(|text| !text.is_empty()).collect()
}

fn lengths(wanted: &Wanted<'_>, limits: &Limits) -> Vec<String> {
    const USUAL: u64 = 32;
    if !wanted.is(&[Class::Text, Class::Any, Class::Blob])
        || limits.least_length.is_none() && limits.most_length.is_none()
    {
        return Vec::new();
    }
    let declared = wanted.subject.longest.unwrap_or(u64::MAX);
    let least = limits.least_length.unwrap_or(1);
    let most = limits.most_length.unwrap_or(least.max(USUAL)).min(declared).max(least);
    let most = if limits.most_length == limits.least_length { most } else { most.min(least.max(USUAL)) };
    let mut texts = Vec::new();
    let digits = most.clamp(1, 16);
    if wanted.is_key {
        texts.push(format!("unique_hex({digits})"));
    } else if wanted.subject.class == Class::Blob {
        texts.push(format!("blob({least}, {most})"));
    } else {
        texts.push(format!("text({least}, {most})"));
        texts.push(format!("digits({})", most.clamp(1, 18)));
        texts.push(format!("hex({most})"));
    }
    let cased: Vec<String> = limits
        .functions
        .iter()
        .flat_map(|function| texts.iter().map(move |text| format!("{function}({text})")))
        .collect();
    cased.into_iter().chain(texts).collect()
}

/// Suggests common values for a column of this class, if its constraints have no simple form.
fn usual(wanted: &Wanted<'_>) -> &'static [&'static str] {
    match (wanted.subject.class, wanted.is_key) {
        (Class::Text, true) => &[
            "upper(unique_hex())",
            "uuid",
            "email",
            "'a' || unique_hex()",
            "unique_hex(8)",
            "upper('a' || unique_hex(8))",
        ],
        (Class::Int | Class::Real | Class::Numeric, true) => {
            &["sequence", "sequence(0)", "sequence(1000)", "sequence(2, 2)"]
        }
        (Class::Text, false) => &[
            "word",
            "upper(word())",
            "full_name",
            "email",
            "digits(5)",
            "digits(10)",
            "hex(16)",
            "hex(32)",
            "url",
            "phone",
            "date('2020-01-01', '2025-01-01')",
            "timestamp('2020-01-01', '2025-01-01')",
            "time_of_day",
            "json",
            "uuid",
            "upper(substr(word(), 1, 2))",
            "upper(substr(word(), 1, 3))",
            "text(20, 120)",
            "'[]'||''",
            "choice('Y', 'N')",
        ],
        (Class::Int | Class::Numeric | Class::Any, false) => &[
            "bool",
            "int(0, 9)",
            "int(1, 100)",
            "int(1, 12)",
            "int(1000, 9999)",
            "2 * int(0, 1000)",
            "-int(1, 1000)",
            "10 * int(1, 100)",
        ],
        (Class::Real, false) => &["real(0, 1, 4)", "real(0.01, 100, 2)", "-real(0, 100, 2)", "real(1, 10, 2)"],
        (Class::Blob, _) => &["blob(16, 16)", "blob(32, 32)", "blob(1, 8)"],
        (Class::Any, true) => &["uuid", "sequence(0)"],
    }
}
