//! Every generator with its arguments, what it does and an example: look-up, messages and documentation come from
//! this one table.

use super::{
    Arguments, Generator, blobs, choice, digits, lists, nulls, numbers, relations, shuffle, text, time, unique,
};
use crate::annotation::{Argument, Call, Expression, ExpressionKind, Site, parse_call};
use crate::suggest::did_you_mean;
use litepress_rows::Result;
use std::fmt::{self, Debug};

/// One generator.
pub struct Entry {
    /// Its name in annotations.
    pub name: &'static str,
    /// Its arguments in their order.
    pub parameters: &'static [Parameter],
    /// What it takes instead of `parameters` where it takes as many values as one likes.
    pub values: Option<&'static str>,
    /// What it gives, in one line.
    pub about: &'static str,
    /// A call of it.
    pub example: &'static str,
    build: fn(&Arguments<'_>) -> Result<Box<dyn Generator>>,
}

/// One argument of a generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name for `name=value`.
    pub name: &'static str,
    /// Its value where it is left out: `None`, it must be given; empty, none.
    pub default: Option<&'static str>,
}

impl Entry {
    /// The call with the names of its arguments: `sequence(start=1, step=1)`.
    pub fn signature(&self) -> String {
        let parameters: Vec<String> = match self.values {
            Some(values) => vec![values.to_owned()],
            None => self.parameters.iter().map(Parameter::to_string).collect(),
        };
        if parameters.is_empty() { self.name.to_owned() } else { format!("{}({})", self.name, parameters.join(", ")) }
    }

    /// The advice in errors about a call of this generator.
    pub(super) fn usage(&self) -> String {
        format!("{}: for example {}", self.signature(), self.example)
    }
}

impl Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.signature())
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.default {
            None => f.write_str(self.name),
            Some("") => write!(f, "[{}]", self.name),
            Some(default) => write!(f, "{}={default}", self.name),
        }
    }
}

pub(super) const fn given(name: &'static str) -> Parameter {
    Parameter { name, default: None }
}

pub(super) const fn default(name: &'static str, value: &'static str) -> Parameter {
    Parameter { name, default: Some(value) }
}

pub(super) const fn optional(name: &'static str) -> Parameter {
    default(name, "")
}

/// An entry's short form: name, parameters, what it does, example, build function.
pub(super) const fn entry(
    name: &'static str,
    parameters: &'static [Parameter],
    about: &'static str,
    example: &'static str,
    build: fn(&Arguments<'_>) -> Result<Box<dyn Generator>>,
) -> Entry {
    Entry { name, parameters, values: None, about, example, build }
}

static ENTRIES: &[Entry] = &[
    entry(
        "blob",
        &[given("min"), given("max")],
        "min to max random bytes; never the same twice where min is 8 or more",
        "blob(16, 64)",
        blobs::blob,
    ),
    entry("bool", &[default("p", "0.5")], "1 in the share p of the rows, else 0", "bool(0.1)", choice::bool),
    Entry {
        name: "choice",
        parameters: &[],
        values: Some("v, ... | v: weight, ..."),
        about: "one of the values, by their weights or evenly",
        example: "choice('a': 3, 'b': 1)",
        build: choice::choice,
    },
    entry("city", &[], "the name of a city", "city", lists::city),
    entry("constant", &[given("v")], "the same value in every row", "constant('new')", choice::constant),
    entry("country", &[], "the name of a country", "country", lists::country),
    entry(
        "date",
        &[given("from"), given("to")],
        "a day as 'YYYY-MM-DD', on or after from, before to",
        "date('2020-01-01', '2025-01-01')",
        time::date,
    ),
    entry("digits", &[given("n")], "a text of n decimal digits, 1 to 18", "digits(6)", digits::digits),
    entry("email", &[], "an e-mail address that holds the row's number: no two rows share one", "email", lists::email),
    entry("first_name", &[], "a person's first name", "first_name", lists::first_name),
    entry("full_name", &[], "first and last name", "full_name", lists::full_name),
    entry("hex", &[given("n")], "a text of n hex digits; unique where n is 16 or more", "hex(32)", blobs::hex),
    entry(
        "int",
        &[given("lo"), given("hi"), default("step", "1")],
        "a whole number of lo to hi (both included) in steps from lo",
        "int(1, 100)",
        numbers::int,
    ),
    entry("json", &[], "a JSON object: {\"number\":7,\"word\":\"reed\",\"flag\":true}", "json", lists::json),
    entry("last_name", &[], "a person's last name", "last_name", lists::last_name),
    entry(
        "null",
        &[given("p"), given("inner")],
        "NULL in the share p of the rows, else what inner gives",
        "null(0.1, int(1, 100))",
        nulls::null,
    ),
    entry("phone", &[], "a telephone number of the range that is kept for fiction", "phone", lists::phone),
    entry(
        "real",
        &[given("lo"), given("hi"), optional("decimals")],
        "a real number from lo, below hi, of all or of so many decimals",
        "real(0, 100, 2)",
        numbers::real,
    ),
    entry(
        "repeat",
        &[given("lo"), given("hi"), default("each", "1"), default("step", "1")],
        "lo to hi in turn, over and over, each so many times in a row: two such columns can make a key",
        "repeat(1, 12, each=3)",
        numbers::repeat,
    ),
    entry(
        "sequence",
        &[default("start", "1"), default("step", "1")],
        "start in the first row, and step more in each row after it",
        "sequence(start=1000)",
        numbers::sequence,
    ),
    entry(
        "shuffle",
        &[optional("lo"), optional("hi")],
        "lo to hi in random order, each once; 1 to the number of rows where both are left out",
        "shuffle(1, 1_000_000)",
        shuffle::shuffle,
    ),
    entry(
        "text",
        &[given("min"), given("max")],
        "lower-case words, min to max characters together",
        "text(10, 40)",
        text::text,
    ),
    entry("time_of_day", &[], "a time as 'HH:MM:SS'", "time_of_day", time::time_of_day),
    entry(
        "timestamp",
        &[given("from"), given("to")],
        "a time as 'YYYY-MM-DD HH:MM:SS', at or after from, before to",
        "timestamp('2020-01-01', '2025-01-01 12:00')",
        time::timestamp,
    ),
    entry(
        "unique_hex",
        &[default("n", "16")],
        "n hex digits (1 to 16), different in every row",
        "unique_hex(12)",
        unique::unique_hex,
    ),
    entry("url", &[], "a web address", "url", lists::url),
    entry("uuid", &[], "a random UUID (version 4) as text, different in every row", "uuid", unique::uuid),
    entry("word", &[], "a lower-case word", "word", lists::word),
];

/// All generators, in the order of their names.
pub fn all() -> &'static [Entry] {
    ENTRIES
}

/// What else annotations are made of: `ref` and the distributions that stand in it.
pub fn relations() -> &'static [Entry] {
    relations::ENTRIES
}

/// The generator of this name; ASCII case does not matter.
pub(crate) fn find(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name.eq_ignore_ascii_case(name))
}

/// Makes the generator that `call` describes, for a table of so many rows.
///
/// # Errors
/// [`ErrorKind::Generator`](litepress_rows::ErrorKind::Generator) at the place of the name or argument that is wrong.
pub(crate) fn build(site: &Site<'_>, call: &Call, rows: Option<u64>) -> Result<Box<dyn Generator>> {
    let Some(entry) = find(&call.name) else {
        let names: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
        let near = did_you_mean(&call.name, names.iter().copied());
        let error = site.error(call.span.start, format!("unknown generator '{}'{near}", call.name));
        return Err(error.advise(format!("there are {}", names.join(", "))));
    };
    (entry.build)(&Arguments::bind(site, call, entry, rows)?)
}

/// Whether an expression is a generator of this table and, where it is `null`, what is nested in it too.
pub(crate) fn is_generator(expression: &Expression) -> bool {
    let ExpressionKind::Call(call) = &expression.kind else { return false };
    let is_inner =
        |argument: &Argument| argument.name.as_deref().is_some_and(|name| name.eq_ignore_ascii_case("inner"));
    let inner = call.arguments.iter().find(|argument| is_inner(argument)).or_else(|| call.arguments.get(1));
    let is_whole =
        |inner: &Argument| matches!(inner.value.kind, ExpressionKind::Literal(_)) || is_generator(&inner.value);
    find(&call.name).is_some_and(|entry| entry.name != "null" || inner.is_none_or(is_whole))
}

/// The share and the inner expression of a call of `null`.
pub(crate) fn null_arguments(site: &Site<'_>, call: &Call) -> Result<(f64, Expression)> {
    let entry = find("null").expect("it is in the table");
    let arguments = Arguments::bind(site, call, entry, None)?;
    let inner = arguments.written("inner").ok_or_else(|| arguments.error_here("argument 'inner' is missing"))?;
    Ok((arguments.share("p")?, inner))
}

/// Makes the generator that an annotation of its own describes, such as an example.
#[cfg(test)]
pub(crate) fn build_text(text: &str, origin: &str) -> Result<Box<dyn Generator>> {
    let site = Site::new(text, origin);
    build(&site, &parse_call(&site, 0..text.len())?, None)
}

/// The value of a default as it stands in [`Parameter`].
pub(super) fn default_value(text: &str) -> Expression {
    let call = format!("constant({text})");
    let call = parse_call(&Site::new(&call, "<default>"), 0..call.len()).expect("defaults parse");
    let value = call.arguments.into_iter().next().expect("one argument").value;
    assert!(matches!(value.kind, ExpressionKind::Literal(_)), "defaults are literals");
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use litepress_rows::ErrorKind;

    #[test]
    fn names_are_in_order_and_examples_are_of_their_generator() {
        assert!(ENTRIES.is_sorted_by(|one, other| one.name < other.name));
        for entry in all() {
            build_text(entry.example, "example").expect(entry.example);
            assert!(entry.example.starts_with(entry.name), "{}", entry.name);
            assert!(!entry.about.ends_with('.') && entry.about.len() < 100, "{}", entry.about);
        }
    }

    #[test]
    fn signatures() {
        for (name, signature) in [
            ("uuid", "uuid"),
            ("sequence", "sequence(start=1, step=1)"),
            ("real", "real(lo, hi, [decimals])"),
            ("CHOICE", "choice(v, ... | v: weight, ...)"),
        ] {
            assert_eq!(find(name).expect(name).signature(), signature);
        }
    }

    #[test]
    fn arguments_bind_by_position_and_by_name() {
        for (one, other) in [
            ("sequence", "sequence(1, 1)"),
            ("sequence(step=2, start=5)", "sequence(5, 2)"),
            ("sequence(5, step=2)", "SEQUENCE(5, 2)"),
            ("int(HI=9, lo=1)", "int(1, 9, 1)"),
            ("int(0, 1e6)", "int(0, 1m)"),
            ("bool", "bool(0.5)"),
        ] {
            let debug = |text| format!("{:?}", build_text(text, "test").expect(text));
            assert_eq!(debug(one), debug(other));
        }
    }

    #[test]
    fn mistakes_point_at_their_place() {
        for (text, character, message) in [
            ("digit(6)", 1, "unknown generator 'digit', did you mean 'digits'?"),
            ("null(0.5, itn(1, 2))", 11, "unknown generator 'itn', did you mean 'int'?"),
            ("zipf(1.5)", 1, "unknown generator 'zipf'"),
            ("digits", 1, "argument 'n' is missing"),
            ("digits(6, 7)", 11, "digits takes one argument"),
            ("uuid(1)", 6, "uuid takes no argument"),
            ("int(1, 2, 3, 4)", 14, "int takes at most 3 arguments"),
            ("int(1, lo=2)", 8, "argument 'lo' is given twice"),
            ("int(1, hgh=2)", 8, "int has no argument 'hgh'"),
            ("sequence(stp=2)", 10, "did you mean 'step'?"),
            ("int(1: 2, 3)", 8, "weights belong to the values of choice"),
            ("int('a', 3)", 5, "argument 'lo' of int is a whole number"),
            ("int(1.5, 3)", 5, "argument 'lo' of int is a whole number"),
            ("int(uuid, 3)", 5, "argument 'lo' of int is a whole number"),
            ("int(hi=1, lo=3)", 14, "'lo' is above 'hi': 3 > 1"),
            ("int(1, 3, 0)", 11, "argument 'step' of int is 1 to"),
            ("sequence(1, 0)", 13, "argument 'step' of sequence is not 0"),
            ("real('a', 1)", 6, "argument 'lo' of real is a number"),
            ("real(1, 1)", 6, "'lo' is not below 'hi'"),
            ("real(-1e308, 1e308)", 6, "too wide"),
            ("real(0, 1, 16)", 12, "argument 'decimals' of real is 0 to 15"),
            ("real(0, 1e14, 2)", 15, "more digits than a real number holds"),
            ("real(0.001, 0.002, 1)", 20, "no number of 1 decimals"),
            ("digits(0)", 8, "argument 'n' of digits is 1 to 18"),
            ("digits(19)", 8, "argument 'n' of digits is 1 to 18"),
            ("choice()", 1, "choice has nothing to choose from"),
            ("choice", 1, "choice has nothing to choose from"),
            ("choice(1, 'x': -1)", 16, "a weight is a number of 0 or more"),
            ("choice(1, 'x': 'y')", 16, "a weight is a number of 0 or more"),
            ("choice(1: 0, 2: 0)", 1, "all weights are 0"),
            ("choice(a=1)", 8, "the values of choice have no names"),
            ("choice(1, yes)", 11, "choice takes values, not generators"),
            ("bool(1.5)", 6, "argument 'p' of bool is a share of 0 to 1"),
            ("bool(p=-0.1)", 8, "argument 'p' of bool is a share of 0 to 1"),
            ("null(2, uuid)", 6, "argument 'p' of null is a share of 0 to 1"),
            ("null(0.5, 3)", 11, "argument 'inner' of null is a generator"),
            ("constant(uuid)", 10, "a value, not a generator"),
            ("text(5, 4)", 6, "'min' is above 'max': 5 > 4"),
            ("text(-5, 4)", 6, "argument 'min' of text is 0 to"),
            ("blob(0, 2b)", 9, "argument 'max' of blob is 0 to"),
            ("hex(0)", 5, "argument 'n' of hex is 1 to"),
            ("unique_hex(17)", 12, "argument 'n' of unique_hex is 1 to 16"),
            ("timestamp(1, 2)", 11, "a text in single quotes"),
            ("timestamp('2020-13-01', '2021-01-01')", 11, "'2020-13-01' is not a time"),
            ("timestamp('2020-01-01', '2020-02-30')", 25, "'2020-02-30' is not a time"),
            ("date('2020-01-01', '2020-01-01')", 6, "'from' is not before 'to'"),
            ("date('2020-01-01 10:00', '2021-01-01')", 6, "is not a day"),
        ] {
            let error = build_text(text, "test").expect_err(text);
            assert_eq!(error.kind(), ErrorKind::Generator);
            assert!(error.message().contains(message), "{text}: {error}");
            assert_eq!(error.place().character, Some(character), "{text}: {error}");
            assert!(error.advice().is_some(), "{text}");
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = build_text("zipf(1.5)", "test").expect_err("there is none yet");
        assert!(all().iter().all(|entry| error.advice().expect("a list").contains(entry.name)));
    }
}
