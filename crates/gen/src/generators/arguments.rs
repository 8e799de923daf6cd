//! Arguments of a call, bound to the parameters of its generator.

use super::entry::Entry;
use super::{EXACT, Generator, LengthRange};
use crate::annotation::{Argument, Call, Expression, ExpressionKind, ReadableFiles, SourceText, parse_call};
use crate::suggest::did_you_mean;
use litepress_rows::cells::OwnedValue;
use litepress_rows::{Error, OptionName, Result, message};
use std::path::{Path, PathBuf};

/// Pairs of numbers of an annotation: `1: 50, 2: 20`.
type Counts = Vec<(u64, u64)>;

/// The function that builds the generator of a call, for a table of this number of rows.
///
/// It is a callback for nested calls, because the catalogue is above the arguments.
pub(super) type Build = fn(&SourceText<'_>, &Call, Option<u64>) -> Result<Box<dyn Generator>>;

/// The arguments that a `build` function reads; every mistake becomes an error at the argument's place.
#[derive(Debug)]
pub struct Arguments<'a> {
    source: &'a SourceText<'a>,
    call: &'a Call,
    entry: &'a Entry,
    /// Number of rows of the table, if there is one.
    rows: Option<u64>,
    build: Build,
    /// One for each parameter; `None` if it was left out.
    bound: Vec<Option<Expression>>,
}

/// An argument of a generator that takes any number of values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pair {
    pub value: OwnedValue,
    /// Its weight, if one is given.
    pub weight: Option<f64>,
}

impl<'a> Arguments<'a> {
    /// Binds the arguments of `call` by position and by name, and adds defaults.
    ///
    /// # Errors
    /// If an argument is missing, unknown, given twice or one too many, or if it has a weight.
    pub(super) fn bind(
        source: &'a SourceText<'a>,
        call: &'a Call,
        entry: &'a Entry,
        rows: Option<u64>,
        build: Build,
    ) -> Result<Self> {
        let mut arguments = Self { source, call, entry, rows, build, bound: vec![None; entry.parameters.len()] };
        if entry.values.is_none() {
            for (position, argument) in call.arguments.iter().enumerate() {
                arguments.bind_one(position, argument)?;
            }
        }
        arguments.add_defaults()?;
        Ok(arguments)
    }

    fn bind_one(&mut self, position: usize, argument: &Argument) -> Result<()> {
        if let Some(weight) = &argument.weight {
            return Err(self.error(weight.span.start, "weights belong to the values of choice"));
        }
        let slot = match &argument.name {
            Some(name) => self.parameter(name).ok_or_else(|| self.unknown(argument, name))?,
            None if position < self.bound.len() => position,
            None => return Err(self.too_many(argument)),
        };
        if self.bound[slot].is_some() {
            let message = format!("argument '{}' is given twice", self.entry.parameters[slot].name);
            return Err(self.error(argument.span.start, message));
        }
        self.bound[slot] = Some(argument.value.clone());
        Ok(())
    }

    fn parameter(&self, name: &str) -> Option<usize> {
        self.entry.parameters.iter().position(|parameter| parameter.name.eq_ignore_ascii_case(name))
    }

    fn unknown(&self, argument: &Argument, name: &str) -> Error {
        let near = did_you_mean(name, self.entry.parameters.iter().map(|parameter| parameter.name));
        self.error(argument.span.start, format!("{} has no argument '{name}'{near}", self.entry.name))
    }

    fn too_many(&self, argument: &Argument) -> Error {
        let most = match self.bound.len() {
            0 => "no argument".to_owned(),
            1 => "one argument".to_owned(),
            most => format!("at most {most} arguments"),
        };
        self.error(argument.span.start, format!("{} takes {most}", self.entry.name))
    }

    fn add_defaults(&mut self) -> Result<()> {
        for (slot, parameter) in self.entry.parameters.iter().enumerate() {
            match parameter.default {
                _ if self.bound[slot].is_some() => {}
                None => return Err(self.error_here(format!("argument '{}' is missing", parameter.name))),
                Some("") => {}
                Some(default) => self.bound[slot] = Some(default_value(default)),
            }
        }
        Ok(())
    }

    /// Returns the number of rows of the table that the generator is for, if there is one.
    pub(super) fn rows(&self) -> Option<u64> {
        self.rows
    }

    /// Returns whether an argument was given.
    pub(super) fn is_given(&self, name: &str) -> bool {
        self.expression(name).is_some()
    }

    /// Makes an error at `offset`, with the generator's parameters and an example as help.
    fn error(&self, offset: usize, message: impl Into<String>) -> Error {
        self.source.error(offset, message).advise(self.entry.usage())
    }

    /// Makes an error about the whole call.
    pub(super) fn error_here(&self, message: impl Into<String>) -> Error {
        self.error(self.call.span.start, message)
    }

    /// Makes an error about one argument.
    pub(super) fn error_at(&self, name: &str, message: impl Into<String>) -> Error {
        self.error(self.place(name), message)
    }

    /// Makes an error about a byte of an argument that is a text.
    pub(super) fn error_in_text(&self, name: &str, offset: usize, message: impl Into<String>) -> Error {
        let place = self.place(name);
        // A quote in the text is doubled in the annotation.
        let quotes = self.text(name).map_or(0, |text| text.bytes().take(offset).filter(|&byte| byte == b'\'').count());
        let quoted = self.source.text[place..].starts_with('\'');
        self.error(if quoted { place + 1 + offset + quotes } else { place }, message)
    }

    fn place(&self, name: &str) -> usize {
        let position = self.parameter(name).expect("a parameter of the entry");
        let given = |argument: &&Argument| argument.name.as_deref().is_some_and(|n| n.eq_ignore_ascii_case(name));
        let argument = self.call.arguments.iter().find(given).or_else(|| self.call.arguments.get(position));
        argument.map_or(self.call.span.start, |argument| argument.value.span.start)
    }

    fn expression(&self, name: &str) -> Option<&Expression> {
        let slot = self.parameter(name).expect("a parameter of the entry");
        self.bound[slot].as_ref()
    }

    /// Returns the argument as `convert` reads it, or an error that `wanted` is expected.
    fn take<T>(&self, name: &str, wanted: &str, convert: impl Fn(&OwnedValue) -> Option<T>) -> Result<Option<T>> {
        let Some(expression) = self.expression(name) else { return Ok(None) };
        let value = match &expression.kind {
            ExpressionKind::Literal(value) => convert(value),
            _ => None,
        };
        let rejected = || self.error_at(name, format!("argument '{name}' of {} is {wanted}", self.entry.name));
        value.map(Some).ok_or_else(rejected)
    }

    fn required<T>(&self, name: &str, value: Option<T>) -> Result<T> {
        value.ok_or_else(|| self.error_here(format!("argument '{name}' is missing")))
    }

    /// Returns an integer.
    pub(super) fn int(&self, name: &str) -> Result<i64> {
        let value = self.optional_int(name)?;
        self.required(name, value)
    }

    /// Returns an optional integer.
    pub(super) fn optional_int(&self, name: &str) -> Result<Option<i64>> {
        self.take(name, "a whole number", |value| match value {
            OwnedValue::Int(int) => Some(*int),
            OwnedValue::Real(real) => whole(*real),
            _ => None,
        })
    }

    /// Returns an integer of `low..=high`.
    pub(super) fn int_within(&self, name: &str, low: u64, high: u64) -> Result<u64> {
        let value = u64::try_from(self.int(name)?).ok().filter(|value| (low..=high).contains(value));
        let rejected = || self.error_at(name, format!("argument '{name}' of {} is {low} to {high}", self.entry.name));
        value.ok_or_else(rejected)
    }

    /// Returns a real number or integer.
    pub(super) fn real(&self, name: &str) -> Result<f64> {
        let value = self.take(name, "a number", number)?;
        self.required(name, value)
    }

    /// Returns an optional real number or integer.
    pub(super) fn optional_real(&self, name: &str) -> Result<Option<f64>> {
        self.take(name, "a number", number)
    }

    /// Returns a number above 0.
    pub(super) fn positive(&self, name: &str) -> Result<f64> {
        let value = self.real(name)?;
        let rejected = || self.error_at(name, format!("argument '{name}' of {} is above 0", self.entry.name));
        if value > 0.0 && value.is_finite() { Ok(value) } else { Err(rejected()) }
    }

    /// Returns a text.
    pub(super) fn text(&self, name: &str) -> Result<String> {
        let value = self.take(name, "a text in single quotes", |value| match value {
            OwnedValue::Text(text) => Some(text.clone()),
            _ => None,
        })?;
        self.required(name, value)
    }

    /// Returns any value.
    pub(super) fn value(&self, name: &str) -> Result<OwnedValue> {
        let value = self.take(name, "a value, not a generator", |value| Some(value.clone()))?;
        self.required(name, value)
    }

    /// Returns a share of 0 to 1.
    pub(super) fn share(&self, name: &str) -> Result<f64> {
        let share = self.real(name)?;
        let rejected = || self.error_at(name, format!("argument '{name}' of {} is a share of 0 to 1", self.entry.name));
        if (0.0..=1.0).contains(&share) { Ok(share) } else { Err(rejected()) }
    }

    /// Returns two integers, the first not above the second.
    pub(super) fn int_range(&self, low: &str, high: &str) -> Result<(i64, i64)> {
        let range = (self.int(low)?, self.int(high)?);
        if range.0 > range.1 {
            return Err(self.error_at(low, format!("'{low}' is above '{high}': {} > {}", range.0, range.1)));
        }
        Ok(range)
    }

    /// Returns two lengths, the first not above the second, the second not above `most`.
    pub(super) fn lengths(&self, low: &str, high: &str, most: u64) -> Result<LengthRange> {
        self.int_within(high, 0, most)?;
        self.int_within(low, 0, most)?;
        let (min, max) = self.int_range(low, high)?;
        Ok(LengthRange { min: min.unsigned_abs(), max: max.unsigned_abs() })
    }

    /// Returns the expression of an argument.
    pub(super) fn written(&self, name: &str) -> Option<Expression> {
        self.expression(name).cloned()
    }

    /// Returns a nested generator.
    pub(super) fn generator(&self, name: &str) -> Result<Box<dyn Generator>> {
        match self.expression(name) {
            Some(Expression { kind: ExpressionKind::Call(call), .. }) => (self.build)(self.source, call, self.rows),
            _ => Err(self.error_at(name, format!("argument '{name}' of {} is a generator", self.entry.name))),
        }
    }

    /// Returns the path of the file that a text names: relative to the folder of the schema or recipe, or to the current
    /// directory.
    ///
    /// # Errors
    /// If there is no such file, or if the annotation may not read it.
    pub(super) fn file(&self, name: &str) -> Result<PathBuf> {
        let text = self.text(name)?;
        let ReadableFiles::Beside(schema) = self.source.files else { return Ok(PathBuf::from(text)) };
        let schema = Path::new(schema);
        let folder = schema.parent().filter(|folder| schema.is_file() && !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let path = folder.join(&text);
        let failed = |error| self.error_at(name, format!("{} cannot be read: {error}", path.display()));
        // Without links, which may lead out of the folder.
        if path.canonicalize().map_err(failed)?.starts_with(folder.canonicalize().map_err(failed)?) {
            return Ok(path);
        }
        let column = self.source.table.zip(self.source.column);
        let column = column.map_or_else(|| "TABLE.COLUMN".to_owned(), |(table, name)| format!("{table}.{name}"));
        let set = OptionName::Set.pair(column, &self.source.text[self.call.span.clone()]);
        let message =
            format!("{} is not in the folder of the schema, whose annotations read no other files", path.display());
        Err(self.error_at(name, message).advise(message!["move it there, or name it yourself: ", set]))
    }

    /// Returns all arguments as names with generators: `id: int(1, 9)`. A literal becomes a constant generator.
    pub(super) fn named_generators(&self) -> Result<Vec<(String, Box<dyn Generator>)>> {
        self.call.arguments.iter().map(|argument| self.named_generator(argument)).collect()
    }

    fn named_generator(&self, argument: &Argument) -> Result<(String, Box<dyn Generator>)> {
        let rejected = |at| self.error(at, format!("{} takes names and generators", self.entry.name));
        let name = match (&argument.name, &argument.value.kind) {
            (None, ExpressionKind::Call(call)) if call.arguments.is_empty() => call.name.clone(),
            (None, ExpressionKind::Literal(OwnedValue::Text(text))) => text.clone(),
            (None, ExpressionKind::Column { through: None, name }) => name.clone(),
            _ => return Err(rejected(argument.span.start)),
        };
        let Some(weight) = &argument.weight else { return Err(rejected(argument.span.start)) };
        let inner = match &weight.kind {
            ExpressionKind::Call(call) => (self.build)(self.source, call, self.rows)?,
            ExpressionKind::Literal(_) => (self.build)(self.source, &constant(weight), self.rows)?,
            _ => return Err(rejected(weight.span.start)),
        };
        Ok((name, inner))
    }

    /// Returns the first argument as a generator, the number `run` if it is given, and the others as pairs of whole numbers: `word, run=4,
    /// 1: 5, 2: 3`.
    pub(super) fn generator_and_counts(&self) -> Result<(Box<dyn Generator>, u64, Counts)> {
        let Some((first, rest)) = self.call.arguments.split_first() else {
            return Err(self.error_here("the generator of its values is missing"));
        };
        let inner = match (&first.name, &first.weight, &first.value.kind) {
            (None, None, ExpressionKind::Call(call)) => (self.build)(self.source, call, self.rows)?,
            _ => return Err(self.error(first.span.start, format!("{} begins with a generator", self.entry.name))),
        };
        let count = |expression: &Expression| match expression.kind {
            ExpressionKind::Literal(OwnedValue::Int(int)) => u64::try_from(int).ok(),
            _ => None,
        };
        let pair = |argument: &Argument| {
            let pair = Some((count(&argument.value)?, count(argument.weight.as_ref()?)?));
            pair.filter(|_| argument.name.is_none())
        };
        let rejected = |argument: &Argument| self.error(argument.span.start, "whole numbers belong here: '3: 20'");
        let is_run = |argument: &&Argument| argument.name.as_deref() == Some("run") && argument.weight.is_none();
        let run = rest.first().filter(is_run);
        let length = match run.map(|run| count(&run.value).filter(|run| *run > 0).ok_or_else(|| rejected(run))) {
            None => 1,
            Some(length) => length?,
        };
        let pairs = rest.iter().skip(usize::from(run.is_some()));
        let pairs = pairs.map(|argument| pair(argument).ok_or_else(|| rejected(argument)));
        Ok((inner, length, pairs.collect::<Result<_>>()?))
    }

    /// Returns all arguments as values with weights, which default to 1.
    pub(super) fn weighted_values(&self) -> Result<Vec<(OwnedValue, f64)>> {
        self.call.arguments.iter().map(|argument| self.weighted_value(argument)).collect()
    }

    fn weighted_value(&self, argument: &Argument) -> Result<(OwnedValue, f64)> {
        if argument.name.is_some() {
            return Err(self.error(argument.span.start, format!("the values of {} have no names", self.entry.name)));
        }
        let ExpressionKind::Literal(value) = &argument.value.kind else {
            let error = self.error(argument.span.start, format!("{} takes values, not generators", self.entry.name));
            return Err(error.advise("texts stand in single quotes: 'like this'"));
        };
        let weight = argument.weight.as_ref().map_or(Ok(1.0), |weight| self.weight(weight))?;
        Ok((value.clone(), weight))
    }

    /// Returns all arguments as values with the weights that are given.
    pub(super) fn pairs(&self) -> Result<Vec<Pair>> {
        let pair = |argument: &Argument| {
            let (value, weight) = self.weighted_value(argument)?;
            Ok(Pair { value, weight: argument.weight.as_ref().map(|_| weight) })
        };
        self.call.arguments.iter().map(pair).collect()
    }

    /// Makes an error about one of [`pairs`](Self::pairs).
    pub(super) fn error_at_pair(&self, index: usize, message: impl Into<String>) -> Error {
        self.error(self.call.arguments[index].span.start, message)
    }

    fn weight(&self, weight: &Expression) -> Result<f64> {
        let value = match &weight.kind {
            ExpressionKind::Literal(value) => number(value).filter(|&value| value >= 0.0),
            _ => None,
        };
        value.ok_or_else(|| self.error(weight.span.start, "a weight is a number of 0 or more"))
    }
}

/// Returns a value that is a number as a double.
pub fn number(value: &OwnedValue) -> Option<f64> {
    match value {
        OwnedValue::Int(int) => Some(*int as f64),
        OwnedValue::Real(real) => Some(*real),
        _ => None,
    }
}

/// Converts a real number that is written for an integer: `1e6`.
fn whole(real: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and within 2^53")]
    (real.fract() == 0.0 && real.abs() <= EXACT).then_some(real as i64)
}

/// Returns the call `constant(value)`.
fn constant(value: &Expression) -> Call {
    let span = value.span.clone();
    let argument = Argument { name: None, value: value.clone(), weight: None, span: span.clone() };
    Call { name: "constant".to_owned(), is_called: true, arguments: vec![argument], span }
}

/// Parses the default value of a parameter.
fn default_value(text: &str) -> Expression {
    let call = format!("constant({text})");
    let call = parse_call(&SourceText::new(&call, "<default>"), 0..call.len()).expect("defaults parse");
    let value = call.arguments.into_iter().next().expect("one argument").value;
    assert!(matches!(value.kind, ExpressionKind::Literal(_)), "defaults are literals");
    value
}
