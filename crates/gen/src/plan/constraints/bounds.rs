//! Bounds on one column, read from the expression of a CHECK constraint.

use crate::annotation::{Expression, ExpressionKind, SourceText, parse};
use crate::expression::{Comparison, Function, Operator};
use litepress_format::sort_key::{self, Collation};
use litepress_rows::cells::OwnedValue;
use litepress_rows::sql_tokens::{unquote, words};
use std::cmp::Ordering;

/// An end of a range.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bound {
    pub value: OwnedValue,
    /// Whether the value itself is excluded.
    pub is_out: bool,
}

impl Bound {
    /// Returns whether it excludes more than another bound at the same end.
    fn is_tighter(&self, other: &Self, is_high: bool) -> bool {
        match sort_key::compare(&self.value.as_value(), &other.value.as_value(), Collation::Binary) {
            Ordering::Equal => self.is_out && !other.is_out,
            Ordering::Less => is_high,
            Ordering::Greater => !is_high,
        }
    }
}

/// All bounds on a column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CheckBounds {
    /// Allowed values.
    pub values: Option<Vec<OwnedValue>>,
    pub low: Option<Bound>,
    pub high: Option<Bound>,
    pub least_length: Option<u64>,
    pub most_length: Option<u64>,
    /// Comparisons with expressions of other columns.
    pub others: Vec<(Comparison, String)>,
    /// Functions that leave the column unchanged: `code = upper(code)`.
    pub functions: Vec<&'static str>,
    /// Patterns of LIKE.
    pub likes: Vec<String>,
}

/// Reader of one constraint.
struct Reader<'a> {
    text: &'a str,
    column: &'a str,
    bounds: &'a mut CheckBounds,
}

impl CheckBounds {
    /// Adds the bounds of a constraint on the column of this name. Parts that are not understood are ignored.
    pub(super) fn read(&mut self, text: &str, column: &str) {
        self.likes.extend(likes(text, column));
        if let Ok(expression) = parse(&SourceText::new(text, "<check>"), 0..text.len()) {
            Reader { text, column, bounds: self }.condition(&expression);
        }
    }

    /// Returns how many whole numbers lie between both bounds, if there are both.
    pub(super) fn whole_numbers(&self) -> Option<u64> {
        let int = |bound: &Bound| match bound.value {
            OwnedValue::Int(int) => Some((int, i64::from(bound.is_out))),
            _ => None,
        };
        let ((low, low_out), (high, high_out)) = (int(self.low.as_ref()?)?, int(self.high.as_ref()?)?);
        let values = high.checked_sub(high_out)?.checked_sub(low.checked_add(low_out)?)?.checked_add(1)?;
        u64::try_from(values).ok()
    }

    /// Returns the expressions that it must differ from.
    pub(super) fn unequal(&self) -> impl Iterator<Item = &str> {
        let is_unequal = |(comparison, _): &&(Comparison, String)| *comparison == Comparison::Unequal;
        self.others.iter().filter(is_unequal).map(|(_, other)| other.as_str())
    }
}

/// Returns the patterns in `column LIKE 'pattern'`, wherever that stands in the constraint. Annotations have no LIKE.
fn likes(text: &str, column: &str) -> Vec<String> {
    let words = words(text);
    let is = |word: &str, name: &str| unquote(word).eq_ignore_ascii_case(name);
    let found = words.windows(3).filter(|three| is(three[0], column) && three[1].eq_ignore_ascii_case("like"));
    found.filter(|three| three[2].starts_with('\'')).map(|three| unquote(three[2])).collect()
}

impl Reader<'_> {
    fn condition(&mut self, expression: &Expression) {
        let ExpressionKind::Operation { operator, operands } = &expression.kind else { return };
        match (operator, &operands[..]) {
            (Operator::And, [one, other]) => {
                self.condition(one);
                self.condition(other);
            }
            (Operator::Or, [one, other]) if is_null_test(one) => self.condition(other),
            (Operator::Or, [one, other]) if is_null_test(other) => self.condition(one),
            (Operator::Or, _) => {
                if let Some(values) = self.either(expression) {
                    self.among(values);
                }
            }
            (Operator::In, [of, values @ ..]) if self.is_column(of) => {
                if let Some(values) = values.iter().map(literal).collect() {
                    self.among(values);
                }
            }
            (Operator::Between, [of, low, high]) => {
                self.compare(Comparison::GreaterOrEqual, of, low);
                self.compare(Comparison::LessOrEqual, of, high);
            }
            (Operator::Compare(comparison), [one, other]) => {
                self.compare(*comparison, one, other);
                self.compare(turned(*comparison), other, one);
            }
            _ => {}
        }
    }

    /// Returns the values of `a = 1 OR a = 2 OR a IN (3, 4)`.
    fn either(&self, expression: &Expression) -> Option<Vec<OwnedValue>> {
        if is_null_test(expression) {
            return Some(Vec::new());
        }
        let ExpressionKind::Operation { operator, operands } = &expression.kind else { return None };
        match (operator, &operands[..]) {
            (Operator::Or, [one, other]) => Some([self.either(one)?, self.either(other)?].concat()),
            (Operator::Compare(Comparison::Equal), [of, value]) if self.is_column(of) => Some(vec![literal(value)?]),
            (Operator::In, [of, values @ ..]) if self.is_column(of) => values.iter().map(literal).collect(),
            _ => None,
        }
    }

    fn among(&mut self, values: Vec<OwnedValue>) {
        let values: Vec<OwnedValue> = values.into_iter().filter(|value| *value != OwnedValue::Null).collect();
        let known = self.bounds.values.take();
        self.bounds.values = Some(match known {
            Some(known) => known.into_iter().filter(|value| values.contains(value)).collect(),
            None => values,
        });
    }

    fn compare(&mut self, comparison: Comparison, of: &Expression, with: &Expression) {
        if let (Some(function), Some(OwnedValue::Int(length))) = (self.function_of(of), literal(with)) {
            if function == Function::Length {
                self.length(comparison, length);
            }
            return;
        }
        if !self.is_column(of) {
            return;
        }
        match (literal(with), comparison) {
            (Some(value), Comparison::Equal | Comparison::Is) => self.among(vec![value]),
            (Some(value), _) => self.bound(comparison, value),
            (None, Comparison::Equal) if self.function_of(with).is_some() => match self.function_of(with) {
                Some(Function::Upper) => self.bounds.functions.push("upper"),
                Some(Function::Lower) => self.bounds.functions.push("lower"),
                _ => {}
            },
            (None, _) if !self.mentions(with) => {
                self.bounds.others.push((comparison, self.text[with.span.clone()].to_owned()));
            }
            (None, _) => {}
        }
    }

    fn bound(&mut self, comparison: Comparison, value: OwnedValue) {
        let (is_high, is_out) = match comparison {
            // A comparison with NULL is met by any value.
            _ if value == OwnedValue::Null => return,
            Comparison::Less | Comparison::LessOrEqual => (true, comparison == Comparison::Less),
            Comparison::Greater | Comparison::GreaterOrEqual => (false, comparison == Comparison::Greater),
            _ => return,
        };
        let place = if is_high { &mut self.bounds.high } else { &mut self.bounds.low };
        let bound = Bound { value, is_out };
        if place.as_ref().is_none_or(|known| bound.is_tighter(known, is_high)) {
            *place = Some(bound);
        }
    }

    fn length(&mut self, comparison: Comparison, length: i64) {
        let length = u64::try_from(length).unwrap_or(0);
        let (least, most) = match comparison {
            Comparison::Equal | Comparison::Is => (Some(length), Some(length)),
            Comparison::Less => (None, Some(length.saturating_sub(1))),
            Comparison::LessOrEqual => (None, Some(length)),
            Comparison::Greater => (Some(length + 1), None),
            Comparison::GreaterOrEqual => (Some(length), None),
            _ => (None, None),
        };
        self.bounds.least_length = self.bounds.least_length.max(least);
        self.bounds.most_length = self.bounds.most_length.into_iter().chain(most).min();
    }

    /// Returns the function that has the column as its only argument.
    fn function_of(&self, expression: &Expression) -> Option<Function> {
        match &expression.kind {
            ExpressionKind::Operation { operator: Operator::Function(function), operands } => {
                matches!(&operands[..], [of] if self.is_column(of)).then_some(*function)
            }
            _ => None,
        }
    }

    fn is_column(&self, expression: &Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Call(call) => !call.is_called && call.name.eq_ignore_ascii_case(self.column),
            ExpressionKind::Column { through: None, name } => name.eq_ignore_ascii_case(self.column),
            _ => false,
        }
    }

    fn mentions(&self, expression: &Expression) -> bool {
        self.is_column(expression)
            || match &expression.kind {
                ExpressionKind::Operation { operands, .. } => operands.iter().any(|operand| self.mentions(operand)),
                _ => false,
            }
    }
}

fn literal(expression: &Expression) -> Option<OwnedValue> {
    match &expression.kind {
        ExpressionKind::Literal(value) => Some(value.clone()),
        _ => None,
    }
}

/// Returns whether this is `x IS NULL`.
fn is_null_test(expression: &Expression) -> bool {
    let ExpressionKind::Operation { operator: Operator::Compare(Comparison::Is), operands } = &expression.kind else {
        return false;
    };
    literal(&operands[1]) == Some(OwnedValue::Null)
}

/// Swaps the sides of a comparison.
fn turned(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Less => Comparison::Greater,
        Comparison::LessOrEqual => Comparison::GreaterOrEqual,
        Comparison::Greater => Comparison::Less,
        Comparison::GreaterOrEqual => Comparison::LessOrEqual,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_plain_is_read() {
        let of = |text: &str| {
            let mut bounds = CheckBounds::default();
            bounds.read(text, "a");
            bounds
        };
        let int = OwnedValue::Int;
        let bound = |value, is_out| Some(Bound { value: int(value), is_out });
        let none = CheckBounds::default;
        for (text, expected) in [
            ("a IN (1, 2) AND b > 3", CheckBounds { values: Some(vec![int(1), int(2)]), ..none() }),
            ("a = 1 OR 2 = b OR a = 3", none()),
            ("a IS NULL OR a = 1 OR a IN (3, NULL)", CheckBounds { values: Some(vec![int(1), int(3)]), ..none() }),
            ("a > 5 AND 10 >= A", CheckBounds { low: bound(5, true), high: bound(10, false), ..none() }),
            // A later bound replaced a tighter one.
            (
                "a > 5 AND a >= 3 AND a < 9 AND a <= 9",
                CheckBounds { low: bound(5, true), high: bound(9, true), ..none() },
            ),
            (
                "a >= 5 AND a > 5 AND a <= 9 AND a < 12.5",
                CheckBounds { low: bound(5, true), high: bound(9, false), ..none() },
            ),
            ("\"a\" BETWEEN -1 AND 4", CheckBounds { low: bound(-1, false), high: bound(4, false), ..none() }),
            ("length(a) <= 5 AND 2 < length(a)", CheckBounds { least_length: Some(3), most_length: Some(5), ..none() }),
            ("a = upper(a)", CheckBounds { functions: vec!["upper"], ..none() }),
            ("b + 1 <= a", CheckBounds { others: vec![(Comparison::GreaterOrEqual, "b + 1".into())], ..none() }),
            ("a > 5 OR b", none()),
            ("a LIKE 'x%'", CheckBounds { likes: vec!["x%".into()], ..none() }),
            ("a NOT LIKE 'x%' OR b LIKE 'y%'", none()),
            ("\"a\" like '%x%' OR a LIKE 'it''s'", CheckBounds { likes: vec!["%x%".into(), "it's".into()], ..none() }),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
    }
}
