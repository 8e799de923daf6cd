//! `ref(...)` and the calls in it: their syntax is that of generators, but their values are rows of another table.

use super::catalogue::{build, relations};
use super::zipf::exponent;
use super::{Arguments, Generator};
use crate::annotation::{Argument, Call, Expression, ExpressionKind, Site};
use crate::suggest::did_you_mean;
use litepress_rows::Result;
use litepress_rows::cells::OwnedValue;
use std::sync::Arc;

/// A parsed call of `ref`.
#[derive(Debug)]
pub(crate) struct RefCall {
    /// The column that is referred to.
    pub parent: Expression,
    pub distribution: Distribution,
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
    },
    Once,
    InTurn {
        each: u64,
    },
    PerParent(Children),
    OtherThan(Expression),
    DistinctIn {
        column: Expression,
        skew: f64,
    },
    /// Pairs of a number of children and the number of parents with it.
    Dealt(Vec<(u64, u64)>),
}

/// The number of children of each parent.
#[derive(Debug)]
pub(crate) enum Children {
    Even(u64),
    Drawn(Arc<dyn Generator>),
}

/// Returns whether this is a call of this name.
pub(crate) fn is_call(call: &Call, name: &str) -> bool {
    call.name.eq_ignore_ascii_case(name)
}

fn bind<'a>(site: &'a Site<'a>, call: &'a Call) -> Result<Arguments<'a>> {
    let Some(entry) = relations().iter().find(|entry| is_call(call, entry.name)) else {
        let near = did_you_mean(&call.name, relations().iter().map(|entry| entry.name));
        let error = site.error(call.span.start, format!("unknown distribution '{}'{near}", call.name));
        return Err(
            error.advise("there are deal, distinct_in, in_turn, once, other_than, per_parent, uniform and zipf")
        );
    };
    Arguments::bind(site, call, entry, None, build)
}

/// Parses a call of `ref`; `rows` is the number of rows of its table.
pub(crate) fn ref_call(site: &Site<'_>, call: &Call, rows: Option<u64>) -> Result<RefCall> {
    let arguments = bind(site, call)?;
    let parent = arguments.written("parent").ok_or_else(|| arguments.error_here("argument 'parent' is missing"))?;
    let Some(Expression { kind: ExpressionKind::Call(of), span }) = arguments.written("distribution") else {
        let is_given = call.arguments.len() > 1;
        let refused = || Err(arguments.error_at("distribution", "argument 'distribution' of ref is zipf(1.1), say"));
        return if is_given {
            refused()
        } else {
            Ok(RefCall { parent, distribution: Distribution::Uniform, at: call.span.start })
        };
    };
    Ok(RefCall { parent, distribution: distribution(site, &of, rows)?, at: span.start })
}

/// Parses a call of `number_in`. Returns the column that it counts by.
pub(crate) fn number_in_call(site: &Site<'_>, call: &Call) -> Result<Expression> {
    let arguments = bind(site, call)?;
    arguments.written("column").ok_or_else(|| arguments.error_here("argument 'column' is missing"))
}

fn distribution(site: &Site<'_>, call: &Call, rows: Option<u64>) -> Result<Distribution> {
    // `deal` is also a generator, and takes any number of pairs.
    if is_call(call, "deal") {
        return dealt(site, call);
    }
    let arguments = bind(site, call)?;
    Ok(match call.name.to_ascii_lowercase().as_str() {
        "uniform" => Distribution::Uniform,
        "zipf" => Distribution::Zipf { exponent: exponent(&arguments)?, scatter: arguments.int("scatter")? != 0 },
        "once" => Distribution::Once,
        "in_turn" => Distribution::InTurn { each: arguments.int_within("each", 1, i64::MAX.unsigned_abs())? },
        "per_parent" => Distribution::PerParent(children(site, &arguments, rows)?),
        "other_than" => {
            let column = arguments.written("column");
            Distribution::OtherThan(column.ok_or_else(|| arguments.error_here("it needs a column"))?)
        }
        "distinct_in" => {
            let column = arguments.written("column");
            let skew = arguments.real("skew")?;
            if !(1.0..=100.0).contains(&skew) {
                return Err(arguments.error_at("skew", "argument 'skew' of distinct_in is 1 to 100"));
            }
            Distribution::DistinctIn { column: column.ok_or_else(|| arguments.error_here("it needs a column"))?, skew }
        }
        _ => return Err(arguments.error_here(format!("'{}' is no distribution", call.name))),
    })
}

fn dealt(site: &Site<'_>, call: &Call) -> Result<Distribution> {
    let whole = |expression: &Expression| match expression.kind {
        ExpressionKind::Literal(OwnedValue::Int(int)) => u64::try_from(int).ok(),
        _ => None,
    };
    let pair = |argument: &Argument| Some((whole(&argument.value)?, whole(argument.weight.as_ref()?)?));
    let pairs: Option<Vec<(u64, u64)>> = call.arguments.iter().map(pair).collect();
    let has_children = |pairs: &Vec<(u64, u64)>| pairs.iter().any(|&(children, parents)| children > 0 && parents > 0);
    pairs.filter(has_children).map(Distribution::Dealt).ok_or_else(|| {
        let message = "deal in ref says how many rows have so many children: numbers, and some have children";
        site.error(call.span.start, message).advise("deal(0: 2, 1: 5, 7: 1), say")
    })
}

fn children(site: &Site<'_>, arguments: &Arguments<'_>, rows: Option<u64>) -> Result<Children> {
    if let Some(Expression { kind: ExpressionKind::Call(call), .. }) = arguments.written("min") {
        if arguments.is_given("max") {
            return Err(arguments.error_at("max", "a generator says how many, and needs no 'max'"));
        }
        return Ok(Children::Drawn(build(site, &call, rows)?.into()));
    }
    const MOST: u64 = 1 << 40;
    let least = arguments.int_within("min", 0, MOST)?;
    let most = if arguments.is_given("max") { arguments.int_within("max", 0, MOST)? } else { least };
    if most == 0 || least > most {
        return Err(arguments.error_at("min", "there are no children, or 'min' is above 'max'"));
    }
    if least == most {
        return Ok(Children::Even(least));
    }
    let text = format!("int({least}, {most})");
    let site = Site::new(&text, "<per_parent>");
    let call = crate::annotation::parse_call(&site, 0..text.len())?;
    Ok(Children::Drawn(build(&site, &call, rows)?.into()))
}
