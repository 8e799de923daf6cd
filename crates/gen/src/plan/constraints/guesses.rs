//! Suggested annotations for a column with CHECK constraints, most natural first.

use super::bounds::{Bound, CheckBounds};
use crate::expression::Comparison;
use crate::generators::number;
use crate::infer::{ColumnTraits, TypeClass, usual_weight};
use litepress_rows::cells::OwnedValue;

/// A column with constraints that its annotation does not meet.
pub(super) struct GuessContext<'a> {
    pub traits: ColumnTraits<'a>,
    /// Whether every row needs a distinct value.
    pub is_key: bool,
    /// The annotation that does not meet them.
    pub now: String,
    /// The DEFAULT as written.
    pub default: Option<String>,
}

impl GuessContext<'_> {
    fn is(&self, classes: &[TypeClass]) -> bool {
        classes.contains(&self.traits.class)
    }

    fn may_be_int(&self) -> bool {
        self.is(&[TypeClass::Int, TypeClass::Numeric, TypeClass::Any])
    }

    fn may_be_real(&self) -> bool {
        self.is(&[TypeClass::Real, TypeClass::Numeric, TypeClass::Any])
    }

    /// Columns declared DATE have numeric affinity and hold texts.
    fn may_be_text(&self) -> bool {
        let is_time = ["date(", "timestamp(", "events('", "date_add("].iter().any(|call| self.now.contains(call));
        self.is(&[TypeClass::Text, TypeClass::Any]) || is_time
    }
}

pub(super) fn guesses(context: &GuessContext<'_>, bounds: &CheckBounds) -> Vec<String> {
    let mut texts = Vec::new();
    if let (Some(values), false) = (&bounds.values, context.is_key) {
        let weighted = |value: &OwnedValue| {
            let text = literal(value);
            let is_default = context.default.as_ref().is_some_and(|default| default.trim_matches(['(', ')']) == text);
            let usual = if let OwnedValue::Text(text) = value { usual_weight(text) } else { 2 };
            let weight = if is_default { 12 } else { usual };
            if weight == 2 { text } else { format!("{text}: {weight}") }
        };
        let all: Vec<String> = values.iter().map(weighted).collect();
        let is_even = all.iter().all(|value| !value.contains(": "));
        // A weight of 1 is that of a value without one.
        let all = if is_even {
            all
        } else {
            all.into_iter().map(|value| if value.contains(": ") { value } else { value + ": 2" }).collect()
        };
        texts.push(format!("choice({})", all.join(", ")));
    }
    if !context.is_key {
        let derived = bounds.others.iter().flat_map(|(comparison, other)| of_other(context, *comparison, other));
        let derived: Vec<String> = derived.collect();
        let clamped: Vec<String> = derived.iter().filter_map(|text| clamp(text, bounds)).collect();
        texts.extend(derived);
        texts.extend(clamped);
    }
    texts.extend(likes(context, bounds));
    let [ints, reals] = [ints(context, bounds), reals(context, bounds)];
    texts.extend(if context.now.starts_with("real(") { [reals, ints] } else { [ints, reals] }.concat());
    texts.extend(times(context, bounds));
    texts.extend(lengths(context, bounds));
    texts.extend(bounds.functions.iter().map(|function| format!("{function}({})", called(&context.now))));
    texts.extend(usual(context).iter().map(|&text| text.to_owned()));
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
fn of_other(context: &GuessContext<'_>, comparison: Comparison, other: &str) -> Vec<String> {
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
    if context.may_be_text() {
        texts.extend(days.iter().map(|days| format!("date_add({other}, {days}, 'days')")));
    }
    if context.may_be_int() {
        texts.extend(ints.iter().map(|ints| format!("{other} {ints}")));
    }
    if context.may_be_real() {
        texts.extend(reals.iter().map(|reals| format!("round({other} {reals}, 2)")));
    }
    if comparison == Comparison::Unequal && context.may_be_text() {
        texts.push(format!("{other} || '-' || word()"));
    }
    texts
}

/// Clamps an annotation to the constant bounds.
fn clamp(text: &str, bounds: &CheckBounds) -> Option<String> {
    let least = bounds.low.as_ref().map(|low| format!("max({}, {text})", literal(&low.value)));
    let text = least.as_deref().unwrap_or(text);
    let most = bounds.high.as_ref().map(|high| format!("min({}, {text})", literal(&high.value)));
    most.or(least)
}

/// Returns both bounds as numbers, with a default for a missing one.
fn numeric_bounds(bounds: &CheckBounds, usual: f64) -> Option<(f64, f64)> {
    let [low, high] = [&bounds.low, &bounds.high].map(|bound| bound.as_ref().and_then(|bound| number(&bound.value)));
    match (low, high) {
        (None, None) => None,
        (Some(low), high) => Some((low, high.unwrap_or(low.max(0.0) + usual))),
        (None, Some(high)) => Some((if high > 0.0 { 0.0 } else { high - usual }, high)),
    }
}

fn is_out(bound: Option<&Bound>) -> bool {
    bound.is_some_and(|bound| bound.is_out)
}

fn ints(context: &GuessContext<'_>, bounds: &CheckBounds) -> Vec<String> {
    let Some((low, high)) =
        numeric_bounds(bounds, 1000.0).filter(|_| context.may_be_int() || context.is_key && context.may_be_real())
    else {
        return Vec::new();
    };
    #[expect(clippy::cast_possible_truncation, reason = "conversions that saturate")]
    let (mut first, mut last) = (low.ceil() as i64, high.floor() as i64);
    if is_out(bounds.low.as_ref()) && first as f64 == low {
        first = first.saturating_add(1);
    }
    if is_out(bounds.high.as_ref()) && last as f64 == high {
        last = last.saturating_sub(1);
    }
    match context.is_key {
        true if bounds.high.is_none() => vec![format!("sequence({first})")],
        true => vec![format!("sequence({first})"), format!("sequence({last}, -1)")],
        false if first <= last => vec![format!("int({first}, {last})")],
        false => Vec::new(),
    }
}

fn reals(context: &GuessContext<'_>, bounds: &CheckBounds) -> Vec<String> {
    let Some((low, high)) = numeric_bounds(bounds, 1000.0).filter(|_| context.may_be_real() && !context.is_key) else {
        return Vec::new();
    };
    let decimals = if high - low < 10.0 { 4 } else { 2 };
    let step = 1.0 / 10_f64.powi(decimals);
    let low = if is_out(bounds.low.as_ref()) { low + step } else { low };
    if low < high { vec![format!("real({low}, {high}, {decimals})")] } else { vec![format!("constant({low})")] }
}

/// Suggests days and times between bounds that are texts.
fn times(context: &GuessContext<'_>, bounds: &CheckBounds) -> Vec<String> {
    let text = |bound: &Option<Bound>, usual: &str| match bound {
        Some(Bound { value: OwnedValue::Text(text), .. }) => Some(text.clone()),
        Some(_) => None,
        None => Some(usual.to_owned()),
    };
    if !context.may_be_text() || context.is_key || bounds.low.is_none() && bounds.high.is_none() {
        return Vec::new();
    }
    let (Some(low), Some(high)) = (text(&bounds.low, "1970-01-01"), text(&bounds.high, "2030-01-01")) else {
        return Vec::new();
    };
    let (low, high) = (literal(&OwnedValue::Text(low)), literal(&OwnedValue::Text(high)));
    let day =
        if is_out(bounds.low.as_ref()) { format!("date_add(date({low}, {high}), 1, 'days')") } else { String::new() };
    let plain = ["date", "timestamp"].map(|name| format!("{name}({low}, {high})"));
    plain.into_iter().chain([day]).filter(|text| !text.is_empty()).collect()
}

fn lengths(context: &GuessContext<'_>, bounds: &CheckBounds) -> Vec<String> {
    const USUAL: u64 = 32;
    if !context.is(&[TypeClass::Text, TypeClass::Any, TypeClass::Blob])
        || bounds.least_length.is_none() && bounds.most_length.is_none()
    {
        return Vec::new();
    }
    let declared = context.traits.longest.unwrap_or(u64::MAX);
    let least = bounds.least_length.unwrap_or(1);
    let most = bounds.most_length.unwrap_or(least.max(USUAL)).min(declared).max(least);
    let most = if bounds.most_length == bounds.least_length { most } else { most.min(least.max(USUAL)) };
    let mut texts = Vec::new();
    let digits = most.clamp(1, 16);
    if context.is_key && least > 16 {
        texts.push(format!("hex({least})"));
    } else if context.is_key {
        texts.push(format!("unique_hex({digits})"));
    } else if context.traits.class == TypeClass::Blob {
        texts.push(format!("blob({least}, {most})"));
    } else {
        texts.push(format!("text({least}, {most})"));
        texts.push(format!("digits({})", most.clamp(1, 18)));
        texts.push(format!("hex({most})"));
    }
    let cased: Vec<String> = bounds
        .functions
        .iter()
        .flat_map(|function| texts.iter().map(move |text| format!("{function}({text})")))
        .collect();
    cased.into_iter().chain(texts).collect()
}

/// Suggests texts that match patterns of LIKE.
fn likes(context: &GuessContext<'_>, bounds: &CheckBounds) -> Vec<String> {
    if !context.is(&[TypeClass::Text, TypeClass::Any]) || bounds.likes.is_empty() {
        return Vec::new();
    }
    let quoted = |text: &str| literal(&OwnedValue::Text(text.to_owned()));
    let mut texts = Vec::new();
    // '%a%' OR '%b%': the words themselves.
    let inner = |pattern: &String| pattern.trim_matches('%').to_owned();
    let are_words = |word: &String| !word.is_empty() && !word.contains(['%', '_']);
    let words: Vec<String> = bounds.likes.iter().map(inner).filter(are_words).collect();
    if words.len() == bounds.likes.len() && !context.is_key && bounds.likes.iter().all(|like| like.starts_with('%')) {
        texts.push(format!("choice({})", words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(", ")));
    }
    let fills: &[&str] =
        if context.is_key { &["unique_hex(12)", "uuid()"] } else { &["word()", "digits(6)", "hex(16)", "uuid()"] };
    for pattern in &bounds.likes {
        // Identifiers follow a prefix such as `PNI:`.
        let first = pattern.ends_with(":%").then_some(&"uuid()");
        for fill in first.into_iter().chain(fills) {
            let mut parts = Vec::new();
            for part in pattern.split_inclusive(['%', '_']) {
                let fixed = part.trim_end_matches(['%', '_']);
                parts.extend((!fixed.is_empty()).then(|| quoted(fixed)));
                match part.chars().last() {
                    Some('%') => parts.push((*fill).to_owned()),
                    Some('_') => parts.push("digits(1)".to_owned()),
                    _ => {}
                }
            }
            // One literal alone is not an annotation.
            if parts.len() == 1 && parts[0].starts_with('\'') {
                parts = vec![format!("constant({})", parts[0])];
            }
            texts.push(parts.join(" || "));
        }
    }
    texts
}

/// Suggests common values for a column of this class, if its constraints have no simple form.
fn usual(context: &GuessContext<'_>) -> &'static [&'static str] {
    match (context.traits.class, context.is_key) {
        (TypeClass::Text, true) => &[
            "upper(unique_hex())",
            "uuid",
            "email",
            "'a' || unique_hex()",
            "unique_hex(8)",
            "upper('a' || unique_hex(8))",
        ],
        (TypeClass::Int | TypeClass::Real | TypeClass::Numeric, true) => {
            &["sequence", "sequence(0)", "sequence(1000)", "sequence(2, 2)"]
        }
        (TypeClass::Text, false) => &[
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
        (TypeClass::Int | TypeClass::Numeric | TypeClass::Any, false) => &[
            "bool",
            "int(0, 9)",
            "int(1, 100)",
            "int(1, 12)",
            "int(1000, 9999)",
            "2 * int(0, 1000)",
            "-int(1, 1000)",
            "10 * int(1, 100)",
        ],
        (TypeClass::Real, false) => &["real(0, 1, 4)", "real(0.01, 100, 2)", "-real(0, 100, 2)", "real(1, 10, 2)"],
        (TypeClass::Blob, _) => &["blob(16, 16)", "blob(32, 32)", "blob(1, 8)"],
        (TypeClass::Any, true) => &["uuid", "sequence(0)"],
    }
}
