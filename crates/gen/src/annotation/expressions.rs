//! Parser of expressions: precedence climbing, with the precedence of SQLite's operators.

use super::lexer::TokenKind;
use super::parser::{Parser, int, keyword};
use super::{Expression, ExpressionKind};
use crate::expression::{Comparison, Function, Operator};
use crate::suggest::did_you_mean;
use litepress_rows::Result;
use litepress_rows::cells::OwnedValue;

/// Precedence of an operator; operators of higher precedence bind more closely.
type Precedence = u8;

const OR: Precedence = 1;
const AND: Precedence = 2;
const NOT: Precedence = 3;
const EQUALITY: Precedence = 4;
const ORDER: Precedence = 5;
const SUM: Precedence = 6;
const PRODUCT: Precedence = 7;
const CONCAT: Precedence = 8;
const SIGN: Precedence = 9;

/// Units of `date_add` and `date_diff`.
const UNITS: [&str; 7] = ["seconds", "minutes", "hours", "days", "weeks", "months", "years"];

/// An operator between two operands.
enum Infix {
    Plain(Operator, Precedence),
    Is,
    Between,
    In,
    /// `NOT` before BETWEEN or IN.
    Not,
}

impl Parser<'_> {
    /// Parses an expression between commas or parentheses.
    pub(super) fn expression(&mut self, depth: usize) -> Result<Expression> {
        self.operation(OR, depth)
    }

    /// Parses an expression of operators with at least this precedence.
    fn operation(&mut self, least: Precedence, depth: usize) -> Result<Expression> {
        self.check_depth(depth)?;
        let start = self.token().span.start;
        let mut left = self.prefixed(least, depth)?;
        while let Some(infix) = self.infix() {
            let precedence = infix.precedence();
            if precedence < least {
                break;
            }
            self.count_operator()?;
            self.take();
            let (operator, operands) = match infix {
                Infix::Plain(operator, precedence) => {
                    (operator, vec![left, self.operation(precedence + 1, depth + 1)?])
                }
                Infix::Is => self.is(left, depth)?,
                Infix::Between => self.between(left, depth)?,
                Infix::In => self.in_list(left, depth)?,
                Infix::Not => self.negated(left, depth)?,
            };
            left = Expression { kind: ExpressionKind::Operation { operator, operands }, span: start..self.end() };
        }
        Ok(left)
    }

    fn prefixed(&mut self, least: Precedence, depth: usize) -> Result<Expression> {
        let start = self.token().span.start;
        let (operator, precedence) = match self.peek() {
            TokenKind::Mark("-") if !matches!(self.peek_second(), TokenKind::Int(_) | TokenKind::Real(_)) => {
                (Operator::Negate, SIGN)
            }
            TokenKind::Name(name) if is(name, "not") && least <= NOT => (Operator::Not, NOT),
            _ => return self.operand(depth),
        };
        self.count_operator()?;
        self.take();
        if operator == Operator::Negate && matches!(self.peek(), TokenKind::Text(_) | TokenKind::Blob(_)) {
            return Err(self.unexpected("a number"));
        }
        let operands = vec![self.operation(precedence, depth + 1)?];
        Ok(Expression { kind: ExpressionKind::Operation { operator, operands }, span: start..self.end() })
    }

    /// Returns the binary operator at the current token, if it is one.
    fn infix(&self) -> Option<Infix> {
        use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, Unequal};
        let compare = |comparison, precedence| Infix::Plain(Operator::Compare(comparison), precedence);
        Some(match self.peek() {
            TokenKind::Mark(mark) => match *mark {
                "||" => Infix::Plain(Operator::Concat, CONCAT),
                "*" => Infix::Plain(Operator::Multiply, PRODUCT),
                "/" => Infix::Plain(Operator::Divide, PRODUCT),
                "%" => Infix::Plain(Operator::Remainder, PRODUCT),
                "+" => Infix::Plain(Operator::Add, SUM),
                "-" => Infix::Plain(Operator::Subtract, SUM),
                "<" => compare(Less, ORDER),
                "<=" => compare(LessOrEqual, ORDER),
                ">" => compare(Greater, ORDER),
                ">=" => compare(GreaterOrEqual, ORDER),
                "=" | "==" => compare(Equal, EQUALITY),
                "<>" | "!=" => compare(Unequal, EQUALITY),
                _ => return None,
            },
            TokenKind::Name(name) => match name.to_ascii_lowercase().as_str() {
                "and" => Infix::Plain(Operator::And, AND),
                "or" => Infix::Plain(Operator::Or, OR),
                "is" => Infix::Is,
                "between" => Infix::Between,
                "in" => Infix::In,
                "not" => Infix::Not,
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Parses the rest of `IS [NOT] value`. `IS TRUE` and `IS FALSE` compare the truth of the left side, not its
    /// value.
    fn is(&mut self, left: Expression, depth: usize) -> Result<(Operator, Vec<Expression>)> {
        let comparison = if self.take_word("not") { Comparison::IsNot } else { Comparison::Is };
        let word = self.token().span.clone();
        let is_truth = self.is_word("true") || self.is_word("false");
        let right = self.operation(ORDER, depth + 1)?;
        let left = if is_truth && right.span == word { truth(left) } else { left };
        Ok((Operator::Compare(comparison), vec![left, right]))
    }

    /// Parses the rest of `BETWEEN low AND high`.
    fn between(&mut self, left: Expression, depth: usize) -> Result<(Operator, Vec<Expression>)> {
        let low = self.operation(ORDER, depth + 1)?;
        self.word("and")?;
        Ok((Operator::Between, vec![left, low, self.operation(ORDER, depth + 1)?]))
    }

    /// Parses the rest of `IN (value, ...)`.
    fn in_list(&mut self, left: Expression, depth: usize) -> Result<(Operator, Vec<Expression>)> {
        if !self.take_mark("(") {
            return Err(self.unexpected("'('"));
        }
        let mut operands = vec![left];
        self.operands(&mut operands, depth)?;
        Ok((Operator::In, operands))
    }

    /// Parses the rest of `NOT BETWEEN` and `NOT IN`.
    fn negated(&mut self, left: Expression, depth: usize) -> Result<(Operator, Vec<Expression>)> {
        let start = left.span.start;
        let (operator, operands) = if self.take_word("between") {
            self.between(left, depth)?
        } else {
            self.word("in")?;
            self.in_list(left, depth)?
        };
        let inner = Expression { kind: ExpressionKind::Operation { operator, operands }, span: start..self.end() };
        Ok((Operator::Not, vec![inner]))
    }

    /// Parses expressions up to and including the closing parenthesis.
    fn operands(&mut self, operands: &mut Vec<Expression>, depth: usize) -> Result<()> {
        loop {
            operands.push(self.expression(depth + 1)?);
            if self.take_mark(")") {
                return Ok(());
            }
            if !self.take_mark(",") {
                return Err(self.unexpected("',' or ')'"));
            }
        }
    }

    /// Parses an operand: a literal, a name, a call or a parenthesis.
    fn operand(&mut self, depth: usize) -> Result<Expression> {
        let start = self.token().span.start;
        let negative = self.take_mark("-");
        let kind = match self.peek().clone() {
            TokenKind::Int(magnitude) => self.literal(int(magnitude, negative)),
            TokenKind::Real(value) => self.literal(Some(OwnedValue::Real(if negative { -value } else { value }))),
            TokenKind::Text(text) => self.literal(Some(OwnedValue::Text(text))),
            TokenKind::Blob(blob) => self.literal(Some(OwnedValue::Blob(blob))),
            TokenKind::Mark("(") => return self.parenthesized(depth),
            TokenKind::Quoted(name) => self.column(name),
            TokenKind::Name(name) => self.named(name, depth),
            TokenKind::Mark(_) | TokenKind::End => return Err(self.unexpected("a generator or a value")),
        }?;
        Ok(Expression { kind, span: start..self.end() })
    }

    fn parenthesized(&mut self, depth: usize) -> Result<Expression> {
        let start = self.take().span.start;
        let inner = self.expression(depth + 1)?;
        if !self.take_mark(")") {
            return Err(self.unexpected("')'"));
        }
        Ok(Expression { span: start..self.end(), ..inner })
    }

    /// Parses a keyword, a function, a column of another row, or a generator.
    fn named(&mut self, name: String, depth: usize) -> Result<ExpressionKind> {
        let is_called = *self.peek_second() == TokenKind::Mark("(");
        match keyword(&name) {
            Some(value) if !is_called => return self.literal(Some(value)),
            _ if is(&name, "case") => return self.case(depth),
            None if is_reserved(&name) => return Err(self.unexpected("a generator or a value")),
            _ if *self.peek_second() == TokenKind::Mark(".") => return self.column(name),
            _ => {}
        }
        match Function::find(&name) {
            Some(function) if is_called => self.function(function, depth),
            _ => Ok(ExpressionKind::Call(self.call(name, depth)?)),
        }
    }

    /// Parses `name`, `name.name` or more of them.
    fn column(&mut self, first: String) -> Result<ExpressionKind> {
        self.take();
        if !self.take_mark(".") {
            return Ok(ExpressionKind::Column { through: None, name: first });
        }
        let mut through = vec![first];
        loop {
            let (TokenKind::Name(name) | TokenKind::Quoted(name)) = self.peek().clone() else {
                return Err(self.unexpected("the name of a column"));
            };
            self.take();
            if self.take_mark(".") {
                through.push(name);
                continue;
            }
            return Ok(match through.len() {
                1 => ExpressionKind::Column { through: through.pop(), name },
                _ => ExpressionKind::Path { through, name },
            });
        }
    }

    fn function(&mut self, function: Function, depth: usize) -> Result<ExpressionKind> {
        let start = self.take().span.start;
        self.take();
        let mut operands = Vec::new();
        if !self.take_mark(")") {
            self.operands(&mut operands, depth)?;
        }
        if !function.takes(operands.len()) {
            let message = format!("{} does not take {} arguments", function.name(), operands.len());
            return Err(self.source.error(start, message).advise(function.signature()));
        }
        let is_of_time = matches!(function, Function::DateAdd | Function::DateDiff);
        if let Some(Expression { kind: ExpressionKind::Literal(OwnedValue::Text(unit)), span }) = operands.get(2)
            && is_of_time
        {
            self.check_unit(unit, span.start)?;
        }
        Ok(ExpressionKind::Operation { operator: Operator::Function(function), operands })
    }

    fn check_unit(&self, unit: &str, at: usize) -> Result<()> {
        let singular = unit.strip_suffix('s').unwrap_or(unit);
        if UNITS.iter().any(|known| known.strip_suffix('s').is_some_and(|known| is(known, singular))) {
            return Ok(());
        }
        let near = did_you_mean(unit, UNITS);
        let error = self.source.error(at, format!("'{unit}' is not a unit of time{near}"));
        Err(error.advise(format!("there are {}", UNITS.join(", "))))
    }

    /// Parses `CASE [base] WHEN condition THEN value ... [ELSE value] END`.
    fn case(&mut self, depth: usize) -> Result<ExpressionKind> {
        self.take();
        let mut operands = Vec::new();
        let has_base = !self.is_word("when");
        if has_base {
            operands.push(self.expression(depth + 1)?);
        }
        self.word("when")?;
        loop {
            operands.push(self.expression(depth + 1)?);
            self.word("then")?;
            operands.push(self.expression(depth + 1)?);
            if !self.take_word("when") {
                break;
            }
        }
        let end = self.end();
        operands.push(match self.take_word("else") {
            true => self.expression(depth + 1)?,
            false => Expression { kind: ExpressionKind::Literal(OwnedValue::Null), span: end..end },
        });
        self.word("end")?;
        Ok(ExpressionKind::Operation { operator: Operator::Case { has_base }, operands })
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), TokenKind::Name(name) if is(name, word))
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.take();
        }
        found
    }

    /// Takes this keyword, which is required here.
    fn word(&mut self, word: &str) -> Result<()> {
        if self.take_word(word) { Ok(()) } else { Err(self.unexpected(&word.to_ascii_uppercase())) }
    }
}

impl Infix {
    fn precedence(&self) -> Precedence {
        match self {
            Self::Plain(_, precedence) => *precedence,
            Self::Is | Self::Between | Self::In | Self::Not => EQUALITY,
        }
    }
}

/// Returns `expression AND TRUE`, which is 1, 0 or NULL.
fn truth(expression: Expression) -> Expression {
    let span = expression.span.clone();
    let yes = Expression { kind: ExpressionKind::Literal(OwnedValue::Int(1)), span: span.clone() };
    let kind = ExpressionKind::Operation { operator: Operator::And, operands: vec![expression, yes] };
    Expression { kind, span }
}

/// Returns whether a name is a keyword, so that a column of this name needs double quotes.
pub(crate) fn is_reserved(name: &str) -> bool {
    const RESERVED: [&str; 15] = [
        "and", "or", "not", "is", "between", "in", "when", "then", "else", "end", "as", "case", "null", "true", "false",
    ];
    RESERVED.iter().any(|word| is(name, word))
}

fn is(name: &str, word: &str) -> bool {
    name.eq_ignore_ascii_case(word)
}

#[cfg(test)]
mod tests {
    use super::super::{SourceText, parse};
    use super::*;

    /// Returns an expression with all of its parentheses.
    fn shape(expression: &Expression, text: &str) -> String {
        let words = |operands: &[Expression]| operands.iter().map(|one| shape(one, text)).collect::<Vec<_>>().join(" ");
        match &expression.kind {
            ExpressionKind::Operation { operator, operands } => format!("({operator:?} {})", words(operands)),
            ExpressionKind::Column { through: Some(through), name } => format!("{through}.{name}"),
            ExpressionKind::Path { through, name } => format!("{}->{name}", through.join("->")),
            _ => text[expression.span.clone()].to_owned(),
        }
    }

    #[test]
    fn operators_bind_as_in_sqlite() {
        for (text, expected) in [
            ("a + b * c", "(Add a (Multiply b c))"),
            ("a - b - c", "(Subtract (Subtract a b) c)"),
            ("(a - b) || c * d", "(Multiply (Concat (Subtract a b) c) d)"),
            ("-a * -2", "(Multiply (Negate a) -2)"),
            ("a - 2", "(Subtract a 2)"),
            ("NOT a = b AND c", "(And (Not (Compare(Equal) a b)) c)"),
            ("a or b and c < d", "(Or a (And b (Compare(Less) c d)))"),
            ("a = b < c", "(Compare(Equal) a (Compare(Less) b c))"),
            ("a between 1 and b + 1 and c", "(And (Between a 1 (Add b 1)) c)"),
            ("a not between 1 and 2", "(Not (Between a 1 2))"),
            ("a not in (1, b)", "(Not (In a 1 b))"),
            ("a is not null", "(Compare(IsNot) a null)"),
            ("\"a b\" || p.\"c\"", "(Concat \"a b\" p.c)"),
            ("case when a then 1 end", "(Case { has_base: false } a 1 )"),
            ("case a when 1 then b when 2 then c else d end", "(Case { has_base: true } a 1 b 2 c d)"),
            ("round(a = b, 2)", "(Function(Round) (Compare(Equal) a b) 2)"),
            ("int(1, 5) + uuid", "(Add int(1, 5) uuid)"),
        ] {
            let parsed = parse(&SourceText::new(text, "test"), 0..text.len()).expect(text);
            assert_eq!(shape(&parsed, text), expected, "{text}");
        }
    }

    #[test]
    fn what_does_not_fit_is_pointed_at() {
        let long = format!("a{}", " + a".repeat(1100));
        let deep = "(".repeat(100);
        for (text, character, message) in [
            ("a +", 4, "the annotation ends where a generator or a value"),
            ("a + * b", 5, "'*' stands where a generator or a value"),
            ("(a", 3, "the annotation ends where ')'"),
            ("a b", 3, "'b' stands where the end"),
            ("case a then 1 end", 8, "'then' stands where WHEN"),
            ("case when a then 1", 19, "the annotation ends where END"),
            ("a between 1 or 2", 13, "'or' stands where AND"),
            ("a in 5", 6, "'5' stands where '('"),
            ("a not 5", 7, "'5' stands where IN"),
            ("a.", 3, "the annotation ends where the name of a column"),
            ("a + round()", 5, "round does not take 0 arguments"),
            ("substr(a)", 1, "substr does not take 1 arguments"),
            (&long, 4003, "more than 1000 operators"),
            (&deep, 34, "nested too deeply"),
        ] {
            let error = parse(&SourceText::new(text, "test"), 0..text.len()).expect_err(text);
            assert_eq!(error.place().character, Some(character), "{error}");
            assert!(error.message().contains(message), "{error}");
        }
    }
}
