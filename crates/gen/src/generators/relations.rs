//! `ref(...)` and the calls in it: their syntax is that of generators, but their values are rows of another table.

use super::catalogue::{build, relations};
use super::zipf::exponent;
use super::{Arguments, Generator};
use crate::annotation::{Argument, Call, Expression, ExpressionKind, SourceText};
use crate::suggest::did_you_mean;
use litepress_rows::Result;
use litepress_rows::cells::OwnedValue;
use std::sync::Arc;

/// The largest number of children, and of first rows without any.
const MOST: u64 = 1 << 40;

/// A parsed call of `ref`.
#[derive(Debug)]
pub(crate) struct RefCall {
    /// The column that is referred to.
    pub parent: Expression,
    pub distribution: Distribution,
    /// The column that refers to an earlier row of the table, whose first row decides.
    pub root: Option<Expression>,
    /// The column that refers to a row in this one's place.
    pub unless: Option<Expression>,
    /// The column of another table through which no row refers to this one.
    pub childless: Option<Expression>,
    /// The number of first rows that refer to nothing.
    pub after: u64,
    /// Offset of the distribution, or of the call if it has none.
    pub at: usize,
}

/// The distribution of references over the rows of the parent.
#[derive(Debug)]
pub(crate) enum Distribution {
    Uniform,
    Zipf {
        exponent: f64,
        scatter: bool,
        first: Option<u64>,
    },
    Popular {
        growing: Option<f64>,
        by: Option<Expression>,
        recent: Option<u64>,
        each: bool,
        apart: Option<Expression>,
    },
    Via {
        of: Expression,
        growing: bool,
        once: bool,
    },
    Along {
        column: Expression,
        of: Expression,
        then: Option<Expression>,
        distinct: bool,
    },
    Within {
        column: Expression,
        of: Expression,
        growing: Option<f64>,
        by: Option<Expression>,
        first: bool,
    },
    Among {
        column: Expression,
        of: Expression,
        distinct: bool,
    },
    Once {
        near: u64,
        last: bool,
    },
    SharedIn {
        column: Expression,
    },
    InTurn {
        each: u64,
        first: Option<u64>,
        second: u64,
    },
    PerParent(FanOutSpec),
    OtherThan {
        column: Expression,
        growing: bool,
        distinct: bool,
    },
    DistinctIn {
        column: Expression,
        skew: f64,
        growing: Option<f64>,
        other: bool,
        first: Option<Expression>,
    },
    /// Pairs of a number of children and the number of parents with it.
    Exact(Vec<(u64, u64)>),
}

/// The number of children of each parent.
#[derive(Debug)]
pub(crate) enum FanOutSpec {
    Constant(u64),
    /// `after`: the number of first rows that have no children.
    Varying {
        counts: Arc<dyn Generator>,
        after: u64,
    },
}

/// Returns whether this is a call of this name.
pub(crate) fn is_call(call: &Call, name: &str) -> bool {
    call.name.eq_ignore_ascii_case(name)
}

fn bind<'a>(source: &'a SourceText<'a>, call: &'a Call) -> Result<Arguments<'a>> {
    let Some(entry) = relations().iter().find(|entry| is_call(call, entry.name)) else {
        let near = did_you_mean(&call.name, relations().iter().map(|entry| entry.name));
        let error = source.error(call.span.start, format!("unknown distribution '{}'{near}", call.name));
        return Err(error.advise(
            "there are along, among, deal, distinct_in, in_turn, once, other_than, per_parent, popular, shared_in, uniform, via, within and zipf",
        ));
    };
    Arguments::bind(source, call, entry, None, build)
}

/// Parses a call of `ref`; `rows` is the number of rows of its table.
pub(crate) fn ref_call(source: &SourceText<'_>, call: &Call, rows: Option<u64>) -> Result<RefCall> {
    let arguments = bind(source, call)?;
    let parent = required(&arguments, "parent")?;
    let (root, unless) = (arguments.written("root"), arguments.written("unless"));
    let childless = arguments.written("childless");
    let after = arguments.int_within("after", 0, MOST)?;
    let others = [root.is_some(), unless.is_some(), childless.is_some(), after > 0];
    let is_given = call.arguments.len() > 1 + others.iter().filter(|is_given| **is_given).count();
    let (distribution, at) = match arguments.written("distribution") {
        Some(Expression { kind: ExpressionKind::Call(of), span }) => (distribution(source, &of, rows)?, span.start),
        _ if is_given => {
            let message = "argument 'distribution' of ref is a distribution such as zipf(1.1)";
            return Err(arguments.error_at("distribution", message));
        }
        _ => (Distribution::Uniform, call.span.start),
    };
    Ok(RefCall { parent, distribution, root, unless, childless, after, at })
}

/// Parses a call of `number_in`, `count_in` or `count_of`. Returns the column that it counts by.
pub(crate) fn column_call(source: &SourceText<'_>, call: &Call) -> Result<Expression> {
    required(&bind(source, call)?, "column")
}

/// Parses a call of `last_of` or `next_of`. Returns the column through which rows refer to a row, and the one with their value.
pub(crate) fn last_call(source: &SourceText<'_>, call: &Call) -> Result<[Expression; 2]> {
    let arguments = bind(source, call)?;
    Ok([required(&arguments, "column")?, required(&arguments, "value")?])
}

/// Parses a call of `sum_of`. Returns the expression that it adds up.
pub(crate) fn sum_call(source: &SourceText<'_>, call: &Call) -> Result<Expression> {
    required(&bind(source, call)?, "expression")
}

/// Returns an argument as it is written.
fn required(arguments: &Arguments<'_>, name: &str) -> Result<Expression> {
    arguments.written(name).ok_or_else(|| arguments.error_here(format!("argument '{name}' is missing")))
}

/// Parses a call of `same_in`, in a table of `rows`. Returns the column, and the generator of the values.
pub(crate) fn same_in_call(
    source: &SourceText<'_>,
    call: &Call,
    rows: Option<u64>,
) -> Result<(Expression, Box<dyn Generator>)> {
    let arguments = bind(source, call)?;
    let column = required(&arguments, "column")?;
    match arguments.written("inner") {
        Some(Expression { kind: ExpressionKind::Call(inner), .. }) => Ok((column, build(source, &inner, rows)?)),
        _ => Err(arguments.error_at("inner", "argument 'inner' of same_in is a generator")),
    }
}

fn distribution(source: &SourceText<'_>, call: &Call, rows: Option<u64>) -> Result<Distribution> {
    // `deal` is also a generator, and takes any number of pairs.
    if is_call(call, "deal") {
        return exact_counts(source, call);
    }
    let arguments = bind(source, call)?;
    Ok(match call.name.to_ascii_lowercase().as_str() {
        "uniform" => Distribution::Uniform,
        "zipf" => {
            let first = arguments.is_given("first");
            Distribution::Zipf {
                exponent: exponent(&arguments)?,
                scatter: arguments.int("scatter")? != 0,
                first: first.then(|| arguments.int_within("first", 1, i64::MAX.unsigned_abs())).transpose()?,
            }
        }
        "popular" => popular(&arguments)?,
        "via" => Distribution::Via {
            of: required(&arguments, "of")?,
            growing: arguments.int("growing")? != 0,
            once: arguments.int("once")? != 0,
        },
        "along" => Distribution::Along {
            column: required(&arguments, "column")?,
            of: required(&arguments, "of")?,
            then: arguments.written("then"),
            distinct: arguments.int("distinct")? != 0,
        },
        "within" => Distribution::Within {
            column: required(&arguments, "column")?,
            of: required(&arguments, "of")?,
            growing: growing(&arguments)?,
            by: arguments.written("by"),
            first: arguments.int("first")? != 0,
        },
        "among" => Distribution::Among {
            column: required(&arguments, "column")?,
            of: required(&arguments, "of")?,
            distinct: arguments.int("distinct")? != 0,
        },
        "shared_in" => Distribution::SharedIn { column: required(&arguments, "column")? },
        "once" => {
            let near = arguments.int_within("near", 1, 1 << 20)?;
            Distribution::Once { near, last: arguments.int("last")? != 0 }
        }
        "in_turn" => {
            let number = |name| arguments.int_within(name, 1, i64::MAX.unsigned_abs());
            let first = arguments.is_given("first").then(|| number("first")).transpose()?;
            let second = arguments.int_within("second", 0, MOST)?;
            if second > 0 && first.is_none() {
                return Err(arguments.error_at("second", "argument 'second' of in_turn needs 'first'"));
            }
            Distribution::InTurn { each: number("each")?, first, second }
        }
        "per_parent" => Distribution::PerParent(fan_out(source, &arguments, rows)?),
        "other_than" => {
            let column = arguments.written("column");
            let column = column.ok_or_else(|| arguments.error_here("it needs a column"))?;
            let [growing, distinct] = ["growing", "distinct"].map(|name| arguments.int(name));
            Distribution::OtherThan { column, growing: growing? != 0, distinct: distinct? != 0 }
        }
        "distinct_in" => distinct_in(&arguments)?,
        _ => return Err(arguments.error_here(format!("'{}' is not a distribution", call.name))),
    })
}

/// Returns the share of the rows that is there before the first child, if the rows grow.
fn growing(arguments: &Arguments<'_>) -> Result<Option<f64>> {
    let before = arguments.real("before")?;
    if !(0.0..=0.9).contains(&before) {
        return Err(arguments.error_at("before", "argument 'before' is 0 to 0.9"));
    }
    Ok((arguments.int("growing")? != 0).then_some(before))
}

fn popular(arguments: &Arguments<'_>) -> Result<Distribution> {
    let is_recent = arguments.is_given("recent");
    let (growing, each) = (growing(arguments)?, arguments.int("each")? != 0);
    if each && (growing != Some(0.0) || arguments.is_given("by")) {
        let message = "argument 'each' of popular needs growing=TRUE, and neither 'before' nor 'by'";
        return Err(arguments.error_at("each", message));
    }
    Ok(Distribution::Popular {
        growing,
        each,
        apart: arguments.written("apart"),
        by: arguments.written("by"),
        recent: is_recent.then(|| arguments.int_within("recent", 1, i64::MAX.unsigned_abs())).transpose()?,
    })
}

fn distinct_in(arguments: &Arguments<'_>) -> Result<Distribution> {
    let column = arguments.written("column");
    let skew = arguments.real("skew")?;
    if !(1.0..=100.0).contains(&skew) {
        return Err(arguments.error_at("skew", "argument 'skew' of distinct_in is 1 to 100"));
    }
    let growing = growing(arguments)?;
    if growing.is_some() && skew != 1.0 {
        return Err(arguments.error_at("skew", "argument 'skew' of distinct_in has no effect with 'growing'"));
    }
    let column = column.ok_or_else(|| arguments.error_here("it needs a column"))?;
    let other = arguments.int("other")? != 0;
    if other && skew != 1.0 {
        return Err(arguments.error_at("skew", "argument 'skew' of distinct_in has no effect with 'other'"));
    }
    let first = arguments.written("first");
    if first.is_some() && (skew != 1.0 || other) {
        return Err(arguments.error_at("first", "argument 'first' of distinct_in excludes 'skew' and 'other'"));
    }
    Ok(Distribution::DistinctIn { column, skew, growing, other, first })
}

fn exact_counts(source: &SourceText<'_>, call: &Call) -> Result<Distribution> {
    let whole = |expression: &Expression| match expression.kind {
        ExpressionKind::Literal(OwnedValue::Int(int)) => u64::try_from(int).ok(),
        _ => None,
    };
    let pair = |argument: &Argument| Some((whole(&argument.value)?, whole(argument.weight.as_ref()?)?));
    let pairs: Option<Vec<(u64, u64)>> = call.arguments.iter().map(pair).collect();
    let has_children = |pairs: &Vec<(u64, u64)>| pairs.iter().any(|&(children, parents)| children > 0 && parents > 0);
    pairs.filter(has_children).map(Distribution::Exact).ok_or_else(|| {
        let message =
            "deal in ref needs pairs of a number of children and a number of parents, one pair at least above 0";
        source.error(call.span.start, message).advise("for example deal(0: 2, 1: 5, 7: 1)")
    })
}

fn fan_out(source: &SourceText<'_>, arguments: &Arguments<'_>, rows: Option<u64>) -> Result<FanOutSpec> {
    let after = arguments.int_within("after", 0, MOST)?;
    if let Some(Expression { kind: ExpressionKind::Call(call), .. }) = arguments.written("min") {
        if arguments.is_given("max") {
            return Err(arguments.error_at("max", "'min' is a generator, so 'max' has no effect"));
        }
        return Ok(FanOutSpec::Varying { counts: build(source, &call, rows)?.into(), after });
    }
    let least = arguments.int_within("min", 0, MOST)?;
    let most = if arguments.is_given("max") { arguments.int_within("max", 0, MOST)? } else { least };
    if most == 0 || least > most {
        return Err(arguments.error_at("min", "there are no children, or 'min' is above 'max'"));
    }
    if least == most && after == 0 {
        return Ok(FanOutSpec::Constant(least));
    }
    let text = format!("int({least}, {most})");
    let source = SourceText::new(&text, "<per_parent>");
    let call = crate::annotation::parse_call(&source, 0..text.len())?;
    Ok(FanOutSpec::Varying { counts: build(&source, &call, rows)?.into(), after })
}
