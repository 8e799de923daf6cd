//! The table of all generators with parameters, description and example; look-up, messages and documentation use it.

pub use super::entry::{Entry, Parameter};

use super::entry::{default, given, optional};
use super::{
    Arguments, Generator, blobs, choice, digits, distributions, events, histogram, lists, nested, nulls, numbers,
    people, regex, shuffle, template, text, time, unique, walk, wordlist, zipf,
};
use crate::annotation::{Argument, Call, Expression, ExpressionKind, SourceText, parse, parse_call};
use crate::expression::functions;
use crate::random::CellRandom;
use crate::suggest::did_you_mean;
use litepress_rows::{CellBlock, Result};
use std::ops::Range;

/// A generator with its constructor.
struct Registered {
    entry: Entry,
    build: fn(&Arguments<'_>) -> Result<Box<dyn Generator>>,
}

/// Registers a generator with parameters.
const fn entry(
    name: &'static str,
    parameters: &'static [Parameter],
    about: &'static str,
    example: &'static str,
    build: fn(&Arguments<'_>) -> Result<Box<dyn Generator>>,
) -> Registered {
    Registered { entry: Entry { name, parameters, values: None, about, example }, build }
}

/// Registers a generator that takes any number of values, written as in `values`.
const fn variadic(
    name: &'static str,
    values: &'static str,
    about: &'static str,
    example: &'static str,
    build: fn(&Arguments<'_>) -> Result<Box<dyn Generator>>,
) -> Registered {
    Registered { entry: Entry { name, parameters: &[], values: Some(values), about, example }, build }
}

static GENERATORS: &[Registered] = &[
    entry("address", &[optional("locale")], "street, number, postcode and city", "address('de')", people::address),
    entry(
        "array",
        &[given("inner"), given("min"), given("max")],
        "a JSON array of min to max values of inner",
        "array(word, 1, 3)",
        nested::array,
    ),
    entry(
        "beta",
        &[given("a"), given("b"), optional("min"), optional("max"), optional("decimals")],
        "a share of 0 to 1, beta distributed with the shapes a and b",
        "beta(2, 5)",
        distributions::beta,
    ),
    entry(
        "blob",
        &[given("min"), given("max"), optional("compressible")],
        "min to max random bytes (a share of them zero), unique if min is 8 or more",
        "blob(16, 64)",
        blobs::blob,
    ),
    entry("bool", &[default("p", "0.5")], "1 in the share p of the rows, else 0", "bool(0.1)", choice::bool),
    entry(
        "business_hours",
        &[given("from"), given("to"), default("open", "'09:00'"), default("close", "'17:00'"), default("as", "'iso'")],
        "a time of a Monday to Friday between open and close; as timestamp has it",
        "business_hours('2024-01-01', '2025-01-01')",
        events::business_hours,
    ),
    variadic(
        "choice",
        "v, ... | v: weight, ...",
        "one of the values, by their weights or evenly",
        "choice('a': 3, 'b': 1)",
        choice::choice,
    ),
    entry(
        "city",
        &[optional("locale")],
        "the name of a city; locales are 'en', 'de', 'fr', 'es', 'it'",
        "city('fr')",
        people::city,
    ),
    entry("colour", &[], "a colour as '#rrggbb'", "colour", people::colour),
    entry("company", &[optional("locale")], "the name of a firm", "company", people::company),
    entry("constant", &[given("v")], "the same value in every row", "constant('new')", choice::constant),
    entry("country", &[], "the name of a country", "country", lists::country),
    entry(
        "date",
        &[given("from"), given("to")],
        "a day as 'YYYY-MM-DD', on or after from, before to",
        "date('2020-01-01', '2025-01-01')",
        time::date,
    ),
    variadic(
        "deal",
        "v, ... | v: n, ...",
        "each value in exactly n rows of every block as long as the sum of all n, in random order",
        "deal('a': 3, 'b': 1)",
        choice::deal,
    ),
    entry("digits", &[given("n")], "a text of n decimal digits, 1 to 18", "digits(6)", digits::digits),
    entry("domain", &[], "a domain under a reserved top-level domain", "domain", people::domain),
    entry("email", &[], "an e-mail address that holds the row's number: no two rows share one", "email", lists::email),
    entry(
        "events",
        &[given("from"), optional("to"), optional("every"), default("jitter", "0.5"), default("as", "'iso'")],
        "ascending times, evenly up to to or one in every, each delayed by up to jitter of an interval",
        "events('2024-01-01', every='250ms', as='iso_ms')",
        events::events,
    ),
    entry(
        "exponential",
        &[given("rate"), optional("min"), optional("max"), optional("decimals")],
        "exponentially distributed: waiting times of 1 / rate on average",
        "exponential(0.5)",
        distributions::exponential,
    ),
    entry("first_name", &[optional("locale")], "a person's first name", "first_name", people::first_name),
    entry("full_name", &[optional("locale")], "first and last name", "full_name", people::full_name),
    entry("hex", &[given("n")], "a text of n hex digits; unique if n is 16 or more", "hex(32)", blobs::hex),
    variadic(
        "histogram",
        "bound: weight, ..., bound",
        "a number from a bin chosen by weight; an integer if all bounds are integers",
        "histogram(0: 5, 18: 60, 65: 20, 90)",
        histogram::histogram,
    ),
    entry(
        "int",
        &[given("lo"), given("hi"), default("step", "1")],
        "a whole number of lo to hi (both included) in steps from lo",
        "int(1, 100)",
        numbers::int,
    ),
    entry("ipv4", &[], "an IPv4 address", "ipv4", people::ipv4),
    entry("ipv6", &[], "an IPv6 address of the network for examples", "ipv6", people::ipv6),
    entry("job", &[optional("locale")], "an occupation", "job", people::job),
    entry("json", &[], "a JSON object: {\"number\":7,\"word\":\"reed\",\"flag\":true}", "json", lists::json),
    entry("last_name", &[optional("locale")], "a person's last name", "last_name", people::last_name),
    entry(
        "lognormal",
        &[given("mu"), given("sigma"), optional("min"), optional("max"), optional("decimals")],
        "the exponential of a normal number: incomes, sizes of files",
        "lognormal(3, 0.5, decimals=2)",
        distributions::lognormal,
    ),
    entry("mac", &[], "a MAC address, administered locally", "mac", people::mac),
    entry(
        "name",
        &[optional("locale")],
        "first and last name, from longer lists than full_name",
        "name('de')",
        people::name,
    ),
    entry(
        "normal",
        &[given("mean"), given("sd"), optional("min"), optional("max"), optional("decimals")],
        "normally distributed; redrawn beyond min or max; decimals=0 gives integers",
        "normal(100, 15, min=0, decimals=0)",
        distributions::normal,
    ),
    entry(
        "null",
        &[given("p"), given("inner")],
        "NULL in the share p of the rows, else the value of inner",
        "null(0.1, int(1, 100))",
        nulls::null,
    ),
    variadic(
        "object",
        "name: generator, ...",
        "a JSON object; each field's values come from a generator or are always the same",
        "object(id: int(1, 9), kind: 'user', tags: array(word, 1, 3))",
        nested::object,
    ),
    entry(
        "pareto",
        &[given("scale"), given("shape"), optional("min"), optional("max"), optional("decimals")],
        "from scale up, the share above x falling as x^-shape: wealth, popularity",
        "pareto(1, 1.16, max=1m)",
        distributions::pareto,
    ),
    entry(
        "pattern",
        &[given("pattern")],
        "# becomes a digit, ? a letter of A to Z, \\x is x, all else stands for itself",
        "pattern('CUST-######')",
        template::pattern,
    ),
    entry(
        "phone",
        &[optional("locale")],
        "a telephone number; without locale, in en, de and fr from a range reserved for fiction",
        "phone",
        people::phone,
    ),
    entry(
        "poisson",
        &[given("mean")],
        "a count of events, Poisson distributed around mean (1000000 at most)",
        "poisson(3.5)",
        histogram::poisson,
    ),
    entry("postcode", &[optional("locale")], "a postal code", "postcode('fr')", people::postcode),
    entry(
        "real",
        &[given("lo"), given("hi"), optional("decimals")],
        "a real number from lo, below hi, with all decimals or a given number of them",
        "real(0, 100, 2)",
        numbers::real,
    ),
    entry(
        "regex",
        &[given("regex")],
        "a text that the regular expression matches; * and + repeat at most 8 extra times",
        "regex('[A-Z]{3}-[0-9]{4}')",
        regex::regex,
    ),
    entry(
        "repeat",
        &[given("lo"), given("hi"), default("each", "1"), default("step", "1")],
        "lo to hi in a cycle, each value in consecutive rows: two such columns can make a key",
        "repeat(1, 12, each=3)",
        numbers::repeat,
    ),
    entry(
        "sentences",
        &[given("min"), given("max")],
        "min to max sentences of 4 to 12 words",
        "sentences(1, 3)",
        people::sentences,
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
        "lo to hi in random order, each once; 1 to the number of rows if both are left out",
        "shuffle(1, 1_000_000)",
        shuffle::shuffle,
    ),
    entry(
        "sparse",
        &[given("p"), default("value", "1"), default("rest", "NULL")],
        "value in the share p of the rows, rest in the others",
        "sparse(0.01, 'x')",
        choice::sparse,
    ),
    variadic(
        "steps",
        "v: rows, ..., v",
        "each value for its number of consecutive rows, the last one for all further rows",
        "steps('v1': 1000, 'v2': 500, 'v3')",
        choice::steps,
    ),
    entry("street", &[optional("locale")], "street and number", "street", people::street),
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
        &[given("from"), given("to"), default("as", "'iso'")],
        "a time at or after from, before to, as 'iso', 'iso_ms', 'unix', 'unix_ms' or 'julian'",
        "timestamp('2020-01-01', '2025-01-01 12:00')",
        time::timestamp,
    ),
    entry(
        "unique_digits",
        &[given("n")],
        "n decimal digits (1 to 18), different in every row, in no order",
        "unique_digits(9)",
        template::unique_digits,
    ),
    entry(
        "unique_email",
        &[optional("digits")],
        "an e-mail address, different in every row, in no order; more digits for more rows",
        "unique_email",
        people::unique_email,
    ),
    entry(
        "unique_hex",
        &[default("n", "16")],
        "n hex digits (1 to 16), different in every row",
        "unique_hex(12)",
        unique::unique_hex,
    ),
    entry(
        "unique_regex",
        &[given("regex")],
        "a text that the regular expression matches, different in every row, in no order",
        "unique_regex('[A-Z]{2}[0-9]{6}')",
        regex::unique_regex,
    ),
    entry("url", &[], "a web address", "url", lists::url),
    entry("user_agent", &[], "the User-Agent header of a browser", "user_agent", people::user_agent),
    entry("uuid", &[], "a random UUID (version 4) as text, different in every row", "uuid", unique::uuid),
    entry(
        "walk",
        &[default("start", "0"), default("step", "1"), optional("min"), optional("max"), optional("decimals")],
        "a random walk of normal steps, reflected at min and max; integers if start and step are",
        "walk(100, 0.5, min=0, decimals=2)",
        walk::walk,
    ),
    entry("word", &[], "a lower-case word", "word", lists::word),
    entry(
        "wordlist",
        &[given("file")],
        "a line of a file, evenly or by the weight after a tab",
        "wordlist('examples/words.txt')",
        wordlist::wordlist,
    ),
    entry("words", &[given("min"), given("max")], "min to max lower-case words", "words(3, 8)", people::words),
    entry(
        "zipf",
        &[given("n"), default("s", "1")],
        "a rank of 1 to n, rank k in proportion to k^-s",
        "zipf(1m, 1.1)",
        zipf::zipf,
    ),
];

/// Calls that only `ref` and expressions understand.
static RELATIONS: &[Entry] = &[
    Entry::new(
        "distinct_in",
        &[given("column"), default("skew", "1")],
        "in ref: no row twice for rows with the same parent in the column, which is per_parent",
        "distinct_in(post_id)",
    ),
    Entry::new(
        "in_turn",
        &[default("each", "1")],
        "in ref: one row after another, each for a number of rows",
        "in_turn(3)",
    ),
    Entry::new(
        "number_in",
        &[given("column")],
        "1 in the first row that refers to a row through the column, 2 in the next; the column is per_parent",
        "number_in(order_id)",
    ),
    Entry::new("once", &[], "in ref: each row at most once, in order", "once"),
    Entry::new(
        "other_than",
        &[given("column")],
        "in ref: a random row other than the one that the column refers to",
        "other_than(sender_id)",
    ),
    Entry::new(
        "per_parent",
        &[given("min"), optional("max")],
        "in ref: consecutive rows refer to each row; their number is a number, a range or a generator",
        "per_parent(1, 5)",
    ),
    Entry::new(
        "ref",
        &[given("parent"), default("distribution", "'uniform'")],
        "the value of a column of another table's row, or of an earlier row of the same table",
        "ref(orders.id, zipf(1.1))",
    ),
    Entry::new("uniform", &[], "in ref: a random row, all equally likely", "uniform"),
    Entry::new(
        "zipf",
        &[given("s"), default("scatter", "TRUE")],
        "in ref: the n-th most frequent row has a weight of 1/n^s; scatter=FALSE: in the order of rows",
        "zipf(1.1)",
    ),
];

/// Returns all generators, in the order of their names.
pub fn all() -> impl ExactSizeIterator<Item = &'static Entry> + Clone {
    GENERATORS.iter().map(|registered| &registered.entry)
}

/// Returns the other calls in annotations: `ref`, the distributions in it, and `number_in`.
pub fn relations() -> &'static [Entry] {
    RELATIONS
}

/// Returns the generator of this name; ASCII case does not matter.
pub(crate) fn find(name: &str) -> Option<&'static Entry> {
    find_registered(name).map(|registered| &registered.entry)
}

fn find_registered(name: &str) -> Option<&'static Registered> {
    GENERATORS.iter().find(|registered| registered.entry.name.eq_ignore_ascii_case(name))
}

/// Builds the generator of a call, for a table of this number of rows.
///
/// # Errors
/// [`ErrorKind::Generator`](litepress_rows::ErrorKind::Generator) at the unknown name or wrong argument.
pub(crate) fn build(source: &SourceText<'_>, call: &Call, rows: Option<u64>) -> Result<Box<dyn Generator>> {
    let Some(Registered { entry, build: constructor }) = find_registered(&call.name) else {
        let names: Vec<&str> = all().map(|entry| entry.name).collect();
        let near = did_you_mean(&call.name, names.iter().copied());
        let error = source.error(call.span.start, format!("unknown generator '{}'{near}", call.name));
        return Err(error.advise(format!("there are {}", names.join(", "))));
    };
    constructor(&Arguments::bind(source, call, entry, rows, build)?)
}

/// A generator without a table, to look at its values and to measure it.
#[derive(Debug)]
pub struct Sample {
    generator: Box<dyn Generator>,
    random: CellRandom,
}

impl Sample {
    /// Builds the generator of an annotation such as [`Entry::example`].
    ///
    /// # Errors
    /// As for an annotation in a schema.
    pub fn new(annotation: &str) -> Result<Self> {
        let source = SourceText::new(annotation, "<sample>");
        let call = parse_call(&source, 0..annotation.len())?;
        Ok(Self { generator: build(&source, &call, None)?, random: CellRandom::new(0, "sample", "sample") })
    }

    /// Fills `out` with the values of these rows, [`BLOCK_ROWS`](litepress_rows::cells::BLOCK_ROWS) at most.
    pub fn fill(&self, rows: Range<u64>, out: &mut CellBlock) {
        self.generator.fill(&self.random, &rows.into(), out);
    }
}

/// Formats all generators and functions as Markdown tables, with the nanoseconds per cell (a dash if unknown).
pub fn markdown(nanoseconds: impl Fn(&Entry) -> Option<f64>) -> String {
    let mut text = String::from(MARKDOWN_HEAD);
    for entry in all() {
        let escaped = |text: String| text.replace('|', "\\|");
        let time = nanoseconds(entry).map_or("-".to_owned(), |time| format!("{time:.1}"));
        let (signature, example) = (escaped(entry.signature()), escaped(entry.example.to_owned()));
        let about = escaped(entry.about.to_owned());
        text.push_str(&format!("| `{signature}` | {about} | `{example}` | {time} |\n"));
    }
    text.push_str(MARKDOWN_FUNCTIONS);
    for function in functions() {
        text.push_str(&format!("| `{}` | {} |\n", function.signature, function.about));
    }
    text
}

const MARKDOWN_HEAD: &str = "\
# Generators

What fills a column, in an annotation (`-- gen: int(1, 100)`) or an option (`--set user.age='int(1, 100)'`). The value of a
cell depends on the seed, the table, the column and the row's number, and on nothing else.

Arguments are given in their order or by name; one in brackets may be left out, and so may one with a default. `locale` is
one of 'en', 'de', 'fr', 'es' and 'it'.

The last column is the time of a cell of the example in nanoseconds, on one core: `bench/cells.py` measures it and writes this
file.

| Generator | What it gives | Example | ns |
| --- | --- | --- | ---: |
";

const MARKDOWN_FUNCTIONS: &str = "
## Functions

They are part of expressions, which the next section describes.

| Function | What it gives |
| --- | --- |
";

/// The first line of the document's hand-written part.
#[cfg(test)]
const MARKDOWN_GUIDE: &str = "\n## Expressions and references\n";

/// Returns whether an expression is a generator of this table and, if it is `null`, whether its inner expression is
/// one.
pub(crate) fn is_generator(expression: &Expression) -> bool {
    let ExpressionKind::Call(call) = &expression.kind else { return false };
    let is_inner =
        |argument: &Argument| argument.name.as_deref().is_some_and(|name| name.eq_ignore_ascii_case("inner"));
    let inner = call.arguments.iter().find(|argument| is_inner(argument)).or_else(|| call.arguments.get(1));
    let is_whole =
        |inner: &Argument| matches!(inner.value.kind, ExpressionKind::Literal(_)) || is_generator(&inner.value);
    find(&call.name).is_some_and(|entry| entry.name != "null" || inner.is_none_or(is_whole))
}

/// Returns the share and the inner expression of a call of `null`.
pub(crate) fn null_arguments(source: &SourceText<'_>, call: &Call) -> Result<(f64, Expression)> {
    let entry = find("null").expect("it is in the table");
    let arguments = Arguments::bind(source, call, entry, None, build)?;
    let inner = arguments.written("inner").ok_or_else(|| arguments.error_here("argument 'inner' is missing"))?;
    Ok((arguments.share("p")?, inner))
}

/// Returns whether an annotation that names no columns is valid in a table of `rows` rows.
pub fn is_valid_annotation(annotation: &str, rows: u64) -> bool {
    let source = SourceText::new(annotation, "<annotation>");
    parse(&source, 0..annotation.len()).is_ok_and(|expression| builds(&source, &expression, rows))
}

fn builds(source: &SourceText<'_>, expression: &Expression, rows: u64) -> bool {
    match &expression.kind {
        ExpressionKind::Call(call) => build(source, call, Some(rows)).is_ok(),
        ExpressionKind::Operation { operands, .. } => operands.iter().all(|operand| builds(source, operand, rows)),
        ExpressionKind::Literal(_) => true,
        ExpressionKind::Column { .. } => false,
    }
}

/// Builds the generator of an annotation without a table, such as an example.
#[cfg(test)]
pub(crate) fn build_text(text: &str, origin: &str) -> Result<Box<dyn Generator>> {
    let source = SourceText::new(text, origin);
    build(&source, &parse_call(&source, 0..text.len())?, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use litepress_rows::ErrorKind;

    #[test]
    fn names_are_in_order_and_examples_are_of_their_generator() {
        assert!(all().is_sorted_by(|one, other| one.name < other.name));
        for entry in all() {
            build_text(entry.example, "example").expect(entry.example);
            assert!(entry.example.starts_with(entry.name), "{}", entry.name);
            assert!(!entry.about.ends_with('.') && entry.about.len() < 100, "{}", entry.about);
        }
    }

    /// `bench/cells.py` writes the file anew; the figures in it may be old.
    #[test]
    fn the_documentation_has_every_generator() {
        let written = include_str!("../../../../docs/generators.md");
        let without_times = |text: &str| -> Vec<String> {
            let is_time = |cell: &str| cell == "-" || cell.parse::<f64>().is_ok();
            let line = |line: &str| match line.trim_end_matches(" |").rsplit_once("| ") {
                Some((rest, time)) if is_time(time) => rest.to_owned(),
                _ => line.to_owned(),
            };
            text.lines().map(line).collect()
        };
        let (tables, guide) = written.split_once(MARKDOWN_GUIDE).expect("the part by hand");
        assert_eq!(without_times(tables), without_times(&markdown(|_| None)), "run bench/cells.py");
        assert!(!tables.contains("| - |"), "a generator without a time: run bench/cells.py");
        for entry in relations() {
            assert!(guide.contains(&format!("`{}", entry.name)), "{} is told of", entry.name);
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

    /// Annotations, the character at which each is wrong, and a part of the message.
    const MISTAKES: &[(&str, u64, &str)] = &[
        ("digit(6)", 1, "unknown generator 'digit', did you mean 'digits'?"),
        ("null(0.5, itn(1, 2))", 11, "unknown generator 'itn', did you mean 'int'?"),
        ("zip(1.5)", 1, "unknown generator 'zip', did you mean 'zipf'?"),
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
        ("deal()", 1, "deal has nothing to deal"),
        ("deal(1: 0)", 1, "deal has nothing to deal"),
        ("deal(1: 2, 2: 0.5)", 12, "a value is dealt a whole number of times"),
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
        ("normal(0, 0)", 11, "argument 'sd' of normal is above 0"),
        ("normal(0, 1, min=2, max=1)", 18, "'min' is above 'max': 2 > 1"),
        ("normal(0, 1, min=0.1, max=0.2, decimals=0)", 41, "no number of 0 decimals"),
        ("beta(0, 1)", 6, "argument 'a' of beta is above 0"),
        ("beta(1, 0.01)", 9, "argument 'b' of beta is 0.1 to"),
        ("zipf(0)", 6, "argument 'n' of zipf is 1 to"),
        ("zipf(10, 0)", 10, "argument 's' of zipf is above 0"),
        ("poisson(2m)", 9, "argument 'mean' of poisson is 1000000 at most"),
        ("histogram(1)", 1, "a histogram has two bounds at least"),
        ("histogram(1: 1, 2: 1)", 17, "the last bound ends the last bin"),
        ("histogram(1: 1, 2, 3)", 17, "every bound but the last has the weight"),
        ("histogram(1: 1, 1)", 17, "a bound is above the one before it"),
        ("histogram(1: 1, 'a')", 17, "a bound of a histogram is a number"),
        ("histogram(1: 0, 2)", 1, "all weights are 0"),
        ("steps('a', 'b')", 7, "every step but the last"),
        ("steps('a': 0.5, 'b')", 7, "a step has a whole number of rows"),
        ("steps()", 1, "steps has no value"),
        ("walk(5, 1, min=6)", 6, "'start' is not within 'min' and 'max'"),
        ("walk(5, 1, min=6, max=6)", 16, "'min' is not below 'max'"),
        ("timestamp('2020-01-01', '2021-01-01', as='x')", 42, "argument 'as' is 'iso', 'iso_ms'"),
        ("business_hours('2024-01-06', '2024-01-08')", 16, "no working day"),
        ("business_hours('2024-01-06', '2024-01-09', '9')", 44, "'9' is not a time of day"),
        ("business_hours('2024-01-06', '2024-01-09', '09:00', '09:00')", 44, "'open' is not before 'close'"),
        ("events('2024-01-01')", 1, "either 'to' or 'every'"),
        ("events('2024-01-01', '2025-01-01')", 22, "the number of events"),
        ("events('2024-01-01', every='5 weeks')", 28, "'5 weeks' is not an interval"),
        ("events('2024-01-01', every='1s', jitter=2)", 41, "a share of 0 to 1"),
        ("name('xx')", 6, "there is no locale 'xx': there are 'en', 'de'"),
        ("words(0, 2)", 7, "argument 'min' of words is 1 to"),
        ("words(3, 2)", 7, "'min' is above 'max'"),
        ("object(int(1, 2))", 8, "object takes names and generators"),
        ("object(a: int(1, 2), a: 5)", 22, "a field 'a' already"),
        ("object(a: itn(1, 2))", 11, "unknown generator 'itn', did you mean 'int'?"),
        ("object(a=5)", 8, "object takes names and generators"),
        ("array(5, 1, 2)", 7, "argument 'inner' of array is a generator"),
        ("array(word, 1, 2000)", 16, "argument 'max' of array is 0 to 1024"),
        ("wordlist('no/such file')", 10, "no/such file cannot be read"),
        ("blob(1, 2, 1.5)", 12, "a share of 0 to 1"),
        ("pattern('a\\')", 9, "nothing follows"),
        ("regex('a[0-9')", 9, "unclosed character class"),
        ("regex('it''s [0-9')", 14, "unclosed character class"),
        ("regex('[^ -~]')", 8, "this class has no character"),
        ("regex('a\\bc')", 9, "only ^ and $"),
        ("regex('\\pL')", 8, "Unicode properties"),
        ("regex('(a{2000}){2000}')", 8, "longer than a million bytes"),
        ("regex('a(){0,4000000000}')", 11, "more than a million times"),
        ("unique_regex('(){0,9}')", 14, "the same text can be matched in several ways"),
        ("unique_regex('(a|ab)(c|bc)')", 14, "the same text can be matched in several ways"),
        ("unique_regex('[a-z]*[a-z]')", 14, "the same text can be matched in several ways"),
        ("date('2020-01-01 10:00', '2021-01-01')", 6, "is not a day"),
    ];

    #[test]
    fn mistakes_point_at_their_place() {
        for (text, character, message) in MISTAKES {
            let error = build_text(text, "test").expect_err(text);
            assert_eq!(error.kind(), ErrorKind::Generator);
            assert!(error.message().contains(message), "{text}: {error}");
            assert_eq!(error.place().character, Some(*character), "{text}: {error}");
            assert!(error.advice().is_some(), "{text}");
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = build_text("gamma(1.5)", "test").expect_err("there is none");
        assert!(all().all(|entry| error.advice().expect("a list").contains(entry.name)));
    }
}
