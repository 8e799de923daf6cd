//! What expressions mean: operators and functions as SQLite has them, over blocks of rows.
//!
//! ```text
//! operands (blocks of cells, or one value for all rows) --apply--> a block of cells
//! ```
//!
//! Every operand is computed for every row before its operator, those that `CASE` does not choose too: nothing fails
//! and nothing has a side effect, and what there is not is NULL. Numbers and texts that come in blocks of one kind are
//! computed in loops over slices; other values one after another.
//!
//! | what | as in SQLite |
//! |---|---|
//! | `+ - * / %` | whole numbers stay whole (`7 / 2` is 3) unless they pass 64 bits, texts count by the number they begin with, division by 0 is NULL |
//! | comparison | NULL gives NULL; numbers, texts, blobs in this order; a column's affinity counts; texts byte by byte (no collations) |
//! | `AND OR NOT` | three-valued; what is no number is false |
//! | `\|\|` | the texts of both; NULL gives NULL |
//!
//! Two things differ, as nothing fails here: `abs` of the least integer is a real number, and so is its negation.

mod apply;
mod compare;
mod dates;
mod functions;
mod numbers;
mod select;
#[cfg(test)]
mod tests;
mod texts;

pub(crate) use apply::{Operand, apply, owned};
pub(crate) use dates::{seconds, written};
pub use functions::{Function, all as functions};
pub(crate) use texts::stored;

/// How a value is computed of others.
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
    /// `a < b` and its like.
    Compare(Comparison),
    /// `a AND b`
    And,
    /// `a OR b`
    Or,
    /// `a BETWEEN low AND high`
    Between,
    /// `a IN (b, ...)`
    In,
    /// `CASE [base] {WHEN a THEN b} ELSE c END`, in this order.
    Case {
        /// Whether the first operand is what the others are compared with.
        has_base: bool,
    },
    /// `round(a, b)` and its like.
    Function(Function),
}

/// A comparison.
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
