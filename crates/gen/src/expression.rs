//! Evaluation of expressions: SQLite's operators and functions, over blocks of rows.
//!
//! ```text
//! operands (blocks of cells, or one value for all rows) --apply--> a block of cells
//! ```
//!
//! Every operand is evaluated for every row before its operator, also those that `CASE` does not choose: no operator
//! fails or has a side effect, and undefined results are NULL. Numbers and texts in blocks of one kind are computed
//! in loops over slices, other values one by one.
//!
//! | operators | semantics of SQLite |
//! |---|---|
//! | `+ - * / %` | integers stay integers (`7 / 2` is 3) unless they overflow, a text counts as the number at its beginning, division by 0 is NULL |
//! | comparison | NULL gives NULL; numbers < texts < blobs; column affinity applies; texts byte by byte (no collations) |
//! | `AND OR NOT` | three-valued; a text that is not a number is false |
//! | `\|\|` | concatenation as texts; NULL gives NULL |
//!
//! One result differs: `abs` of the least integer, an error in SQLite, is a real number.

mod apply;
mod compare;
mod dates;
mod functions;
mod numbers;
mod operand;
mod select;
#[cfg(test)]
mod tests;
mod texts;

pub(crate) use apply::apply;
pub use functions::{Function, all as functions};
pub(crate) use operand::{Operand, owned};
pub(crate) use texts::stored;

/// An operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `-a`
    Negate,
    /// `NOT a`
    Not,
    /// `a + b`
    Add,
    /// `a - b`
    Subtract,
    /// `a * b`
    Multiply,
    /// `a / b`
    Divide,
    /// `a % b`
    Remainder,
    /// `a || b`
    Concat,
    /// `a < b` and the other comparisons.
    Compare(Comparison),
    /// `a AND b`
    And,
    /// `a OR b`
    Or,
    /// `a BETWEEN low AND high`
    Between,
    /// `a IN (b, ...)`
    In,
    /// `CASE [base] {WHEN a THEN b} ELSE c END`, operands in this order.
    Case {
        /// Whether the first operand is the base that the conditions are compared with.
        has_base: bool,
    },
    /// `round(a, b)` and the other functions.
    Function(Function),
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `a = b`
    Equal,
    /// `a <> b`
    Unequal,
    /// `a < b`
    Less,
    /// `a <= b`
    LessOrEqual,
    /// `a > b`
    Greater,
    /// `a >= b`
    GreaterOrEqual,
    /// `a IS b`
    Is,
    /// `a IS NOT b`
    IsNot,
}
