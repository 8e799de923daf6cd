//! The table of all generators with parameters, description and example; look-up, messages and documentation use it.

pub use super::entry::{Entry, Parameter};

use super::entry::{default, given, optional};
use super::{
    Arguments, Generator, ascending, blobs, check_digits, choice, digits, distributions, events, geometry, histogram,
    lists, nested, nulls, numbers, people, phrases, places, pool, prices, regex, shuffle, template, text, time, unique,
    walk, wordlist, zipf,
};
use crate::annotation::{Argument, Call, Expression, ExpressionKind, SourceText, parse, parse_call};
use crate::expression::functions;
use crate::random::CellRandom;
use crate::suggest::nearest;
use litepress_rows::{CellBlock, Result};
use std::ops::Range;

/// A generator with its constructor.
struct Registration {
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
) -> Registration {
    Registration { entry: Entry { name, parameters, values: None, about, example }, build }
}

/// Registers a generator that takes any number of values, written as in `values`.
const fn variadic(
    name: &'static str,
    values: &'static str,
    about: &'static str,
    example: &'static str,
    build: fn(&Arguments<'_>) -> Result<Box<dyn Generator>>,
) -> Registration {
    Registration { entry: Entry { name, parameters: &[], values: Some(values), about, example }, build }
}

static GENERATORS: &[Registration] = &[
    entry("address", &[optional("locale")], "street, number, postcode and city", "address('de')", people::address),
    entry(
        "array",
        &[given("inner"), given("min"), given("max")],
        "a JSON array of min to max values of inner",
        "array(word, 1, 3)",
        nested::array,
    ),
    variadic(
        "ascending",
        "bound: weight, ..., bound",
        "the numbers of such a histogram in ascending order over the rows of the table",
        "ascending(0: 5, 18: 60, 65: 20, 90)",
        ascending::ascending,
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
    entry(
        "bool",
        &[default("p", "0.5")],
        "1 in the share p of the rows, else 0; true and false in JSON",
        "bool(0.1)",
        choice::bool,
    ),
    entry(
        "business_hours",
        &[given("from"), given("to"), default("open", "'09:00'"), default("close", "'17:00'"), default("as", "'iso'")],
        "a time of a Monday to Friday between open and close; as timestamp has it",
        "business_hours('2024-01-01', '2025-01-01')",
        events::business_hours,
    ),
    entry(
        "card_number",
        &[],
        "the number of a credit card, with its check digit",
        "card_number",
        check_digits::card_number,
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
        "the name of a city; locales are 'en', 'de', 'fr', 'es', 'it', 'pt'",
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
    entry(
        "distinct",
        &[given("inner")],
        "a text of inner, different in every row; numbers follow after all texts of a list",
        "distinct(isbn)",
        unique::distinct,
    ),
    entry("domain", &[], "a domain under a reserved top-level domain", "domain", people::domain),
    entry("ean", &[], "the number of an article (EAN-13), with its check digit", "ean", check_digits::ean),
    entry("email", &[], "an e-mail address that holds the row's number: no two rows share one", "email", lists::email),
    entry(
        "events",
        &[
            given("from"),
            optional("to"),
            optional("every"),
            default("jitter", "0.5"),
            default("open", "'00:00'"),
            default("close", "'24:00'"),
            default("as", "'iso'"),
        ],
        "ascending times up to to, or one in every, each late by up to jitter; by day from open to close",
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
    entry(
        "geometry",
        &[default("shape", "'point'"), default("form", "'wkb'"), default("srs", "4326"), optional("city")],
        "a point, linestring, polygon, ... near this or any city, as 'wkb', 'gpkg', 'wkt' or 'geojson'",
        "geometry('polygon', 'geojson')",
        geometry::geometry,
    ),
    entry("hex", &[given("n")], "a text of n hex digits; unique if n is 16 or more", "hex(32)", blobs::hex),
    variadic(
        "histogram",
        "bound: weight, ..., bound",
        "a number from a bin chosen by weight; an integer if all bounds are integers",
        "histogram(0: 5, 18: 60, 65: 20, 90)",
        histogram::histogram,
    ),
    entry("iban", &[], "the number of a bank account (IBAN), with its check digits", "iban", check_digits::iban),
    entry(
        "int",
        &[given("lo"), given("hi"), default("step", "1")],
        "a whole number of lo to hi (both included) in steps from lo",
        "int(1, 100)",
        numbers::int,
    ),
    entry("ipv4", &[], "an IPv4 address", "ipv4", people::ipv4),
    entry("ipv6", &[], "an IPv6 address of the network for examples", "ipv6", people::ipv6),
    entry("isbn", &[], "the number of a book (ISBN-13), with its check digit", "isbn", check_digits::isbn),
    entry("isin", &[], "the number of a security (ISIN), with its check digit", "isin", check_digits::isin),
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
        "phrase",
        &[given("pattern"), optional("max")],
        "a text with items of built-in lists in {}; whole words of max characters at most",
        "phrase('{adjective} {noun}')",
        phrases::phrase,
    ),
    entry(
        "place",
        &[given("field"), optional("max")],
        "a city, its state, country, ..., of max characters at most; place_of(city, 'state') belongs to it",
        "place('city')",
        places::place,
    ),
    entry(
        "poisson",
        &[given("mean")],
        "a count of events, Poisson distributed around mean (1000000 at most)",
        "poisson(3.5)",
        histogram::poisson,
    ),
    variadic(
        "pool",
        "inner, [run=n], rows: values, ...",
        "values of inner, so many in that number of rows each, at any scale, and in runs of n rows",
        "pool(full_name, 1: 50, 2: 20, 9: 3)",
        pool::pool,
    ),
    entry("postcode", &[optional("locale")], "a postal code", "postcode('fr')", people::postcode),
    entry(
        "price",
        &[given("lo"), given("hi")],
        "a price from lo to hi, more often low than high, that ends in .99, .95, .50 or .00",
        "price(1, 500)",
        prices::price,
    ),
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
        "unique_phrase",
        &[given("pattern"), default("separator", "' '"), default("each", "1")],
        "a phrase that differs in every row (each=n: in every n-th row); numbers follow after all texts",
        "unique_phrase('{category}')",
        phrases::unique_phrase,
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
        "a line of a file in the folder of the schema, evenly or by the weight after a tab",
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
        "along",
        &[given("column"), given("of"), optional("then"), default("distinct", "FALSE")],
        "in ref: the row that the other table's row, which the column takes by via or among, refers to; then: and that row; distinct=TRUE: no pair with that column twice",
        "along(product_id, line.order_id, orders.customer_id)",
    ),
    Entry::new(
        "among",
        &[given("column"), given("of"), default("distinct", "FALSE")],
        "in ref: the row that a row of another table refers to, which refers to the same row as the column; distinct=TRUE: no pair with that column twice",
        "among(channel_id, membership.user_id)",
    ),
    Entry::new(
        "count_in",
        &[given("column")],
        "how many rows refer to the same row through the column",
        "count_in(order_id)",
    ),
    Entry::new(
        "count_of",
        &[given("column")],
        "how many rows of a table refer to this row through its column",
        "count_of(comment.post_id)",
    ),
    Entry::new(
        "distinct_in",
        &[
            given("column"),
            default("skew", "1"),
            default("growing", "FALSE"),
            default("other", "FALSE"),
            optional("first"),
            default("before", "0"),
        ],
        "in ref: no row twice for rows with the same parent in the column, which is per_parent; growing=TRUE: early parents have early rows only; before as in popular; other=TRUE: never that parent; first: the first one is the row that this column of the parent refers to",
        "distinct_in(post_id)",
    ),
    Entry::new(
        "in_turn",
        &[default("each", "1"), optional("first"), default("second", "0")],
        "in ref: one row after another, each for a number of rows; first: only so many first rows, which refer to nothing in the same table; second: so many rows behind these refer to them, and all others to the second ones",
        "in_turn(3)",
    ),
    Entry::new(
        "last_of",
        &[given("column"), given("value")],
        "a value of the last row of a table that refers to this row through its column; NULL if there is none",
        "last_of(message.chat_id, message.sent_at)",
    ),
    Entry::new(
        "next_of",
        &[given("column"), given("value")],
        "a value of the next row that refers to the same row through the column; NULL if there is none",
        "next_of(inventory_id, rental_date)",
    ),
    Entry::new(
        "number_in",
        &[given("column")],
        "1 in the first row that refers to a row through the column, 2 in the next",
        "number_in(order_id)",
    ),
    Entry::new(
        "once",
        &[default("near", "1"), default("last", "FALSE")],
        "in ref: each row at most once, in order; near: so many rows after one another in any order; last=TRUE: from the last row on",
        "once",
    ),
    Entry::new(
        "other_than",
        &[given("column"), default("growing", "FALSE"), default("distinct", "FALSE")],
        "in ref: a random row other than the one that the column refers to; growing=TRUE: early rows refer to early rows only; distinct=TRUE: no pair with the column twice",
        "other_than(sender_id)",
    ),
    Entry::new(
        "per_parent",
        &[given("min"), optional("max"), default("after", "0")],
        "in ref: consecutive rows refer to each row; their number is a number, a range or a generator; after: the number of first rows that have none",
        "per_parent(1, 5)",
    ),
    Entry::new(
        "popular",
        &[
            default("growing", "FALSE"),
            optional("by"),
            default("before", "0"),
            optional("recent"),
            default("each", "FALSE"),
            optional("apart"),
        ],
        "in ref: some rows often, most seldom, some never; growing=TRUE: early rows refer to early rows only; before: the share that is there before the first row; by: so do early children of a row; recent: one of that many last rows; each=TRUE: each once at least; apart: no pair with that column twice",
        "popular(growing=TRUE)",
    ),
    Entry::new(
        "ref",
        &[
            given("parent"),
            default("distribution", "'uniform'"),
            optional("root"),
            optional("unless"),
            optional("childless"),
            default("after", "0"),
        ],
        "the value of a column of another table's row, or of an earlier row of the same table; root: rows that refer to one another have the same; unless: NULL if that column refers to a row; childless: NULL if a row refers to this one through that column of another table; after: the number of first rows that are NULL",
        "ref(orders.id, zipf(1.1))",
    ),
    Entry::new(
        "same_in",
        &[given("column"), given("inner")],
        "a value of inner that is the same in all rows that refer to one row through the column",
        "same_in(album_id, choice('rock', 'jazz'))",
    ),
    Entry::new(
        "shared_in",
        &[given("column")],
        "in ref: a random row, the same for all rows that refer to one row through the column",
        "shared_in(album_id)",
    ),
    Entry::new(
        "sum_of",
        &[given("expression")],
        "the sum over the rows of a table that refers to this row by per_parent, 0 if there are none",
        "sum_of(line.pieces * line.price)",
    ),
    Entry::new("uniform", &[], "in ref: a random row, all equally likely", "uniform"),
    Entry::new(
        "via",
        &[given("of"), default("growing", "FALSE"), default("once", "FALSE")],
        "in ref: the row that a row of another table refers to; growing=TRUE: early rows take early ones only; once=TRUE: each once, in order",
        "via(membership.channel_id)",
    ),
    Entry::new(
        "within",
        &[
            given("column"),
            given("of"),
            default("growing", "FALSE"),
            optional("by"),
            default("before", "0"),
            default("first", "FALSE"),
        ],
        "in ref: a row that refers, through a column of its own, to the same row as the column; growing, before and by as in popular; first=TRUE: always the first such row",
        "within(project_id.team_id, users.team_id)",
    ),
    Entry::new(
        "zipf",
        &[given("s"), default("scatter", "TRUE"), optional("first")],
        "in ref: the n-th most frequent row has a weight of 1/n^s; scatter=FALSE: in the order of rows; first: only so many first rows, in their order",
        "zipf(1.1)",
    ),
];

/// Returns all generators, in the order of their names.
pub fn all() -> impl ExactSizeIterator<Item = &'static Entry> + Clone {
    GENERATORS.iter().map(|registration| &registration.entry)
}

/// Returns the other calls in annotations: `ref`, the distributions in it, and calls about the row that a column refers to.
pub fn relations() -> &'static [Entry] {
    RELATIONS
}

/// Returns the generator of this name; ASCII case does not matter.
pub(crate) fn find(name: &str) -> Option<&'static Entry> {
    find_registration(name).map(|registration| &registration.entry)
}

fn find_registration(name: &str) -> Option<&'static Registration> {
    GENERATORS.iter().find(|registration| registration.entry.name.eq_ignore_ascii_case(name))
}

/// Names of generators in other tools and types of columns, and the generator that does the same.
const ELSEWHERE: [(&str, &str); 40] = [
    ("autoincrement", "sequence"),
    ("boolean", "bool"),
    ("bytes", "blob"),
    ("binary", "blob"),
    ("char", "text"),
    ("color", "colour"),
    ("datetime", "timestamp"),
    ("decimal", "real"),
    ("double", "real"),
    ("enum", "choice"),
    ("float", "real"),
    ("fullname", "full_name"),
    ("gauss", "normal"),
    ("gaussian", "normal"),
    ("guid", "uuid"),
    ("integer", "int"),
    ("ip", "ipv4"),
    ("lorem", "sentences"),
    ("mail", "email"),
    ("now", "timestamp"),
    ("number", "int"),
    ("numeric", "real"),
    ("oneof", "choice"),
    ("paragraph", "sentences"),
    ("password", "hex"),
    ("person", "full_name"),
    ("pick", "choice"),
    ("randint", "int"),
    ("sentence", "sentences"),
    ("serial", "sequence"),
    ("slug", "regex"),
    ("string", "text"),
    ("surname", "last_name"),
    ("telephone", "phone"),
    ("token", "hex"),
    ("username", "pattern"),
    ("varchar", "text"),
    ("weighted", "choice"),
    ("zip", "postcode"),
    ("zipcode", "postcode"),
];

/// Returns the generator that a mistyped name, or one of another tool, stands for.
pub(crate) fn suggestion(name: &str) -> Option<&'static Entry> {
    let plain = name.to_ascii_lowercase().replace('_', "");
    let elsewhere = ELSEWHERE.iter().find(|(other, _)| *other == plain).map(|(_, here)| *here);
    let begins = || all().map(|entry| entry.name).filter(|known| plain.len() > 2 && known.starts_with(&plain)).min();
    let nearly = || {
        let near = nearest(&plain, ELSEWHERE.iter().map(|(other, _)| *other))?;
        ELSEWHERE.iter().find(|(other, _)| *other == near).map(|(_, here)| *here)
    };
    find(nearest(name, all().map(|entry| entry.name)).or(elsewhere).or_else(begins).or_else(nearly)?)
}

/// Builds the generator of a call, for a table of this number of rows.
///
/// # Errors
/// [`ErrorKind::Generator`](litepress_rows::ErrorKind::Generator) at the unknown name or wrong argument.
pub(crate) fn build(source: &SourceText<'_>, call: &Call, rows: Option<u64>) -> Result<Box<dyn Generator>> {
    let Some(Registration { entry, build: constructor }) = find_registration(&call.name) else {
        let near = suggestion(&call.name);
        let question = near.map_or(String::new(), |entry| format!(", did you mean '{}'?", entry.name));
        let error = source.error(call.span.start, format!("unknown generator '{}'{question}", call.name));
        let all = || format!("there are {}", all().map(|entry| entry.name).collect::<Vec<&str>>().join(", "));
        return Err(error.advise(near.map_or_else(all, Entry::usage)));
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
one of 'en', 'de', 'fr', 'es', 'it' and 'pt'.

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
    let entry = find("null").expect("null is in the catalogue");
    let arguments = Arguments::bind(source, call, entry, None, build)?;
    let inner = arguments.written("inner").ok_or_else(|| arguments.error_here("argument 'inner' is missing"))?;
    Ok((arguments.share("p")?, inner))
}

/// Returns the bytes of the longest value of a single generator, for a table of so many rows; `None` for other annotations.
pub(crate) fn longest_bytes(annotation: &str, rows: u64) -> Option<u64> {
    let source = SourceText::new(annotation, "<annotation>");
    let call = parse_call(&source, 0..annotation.len()).ok()?;
    build(&source, &call, Some(rows)).ok().map(|generator| generator.longest_bytes())
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
        ExpressionKind::Column { .. } | ExpressionKind::Path { .. } => false,
    }
}

/// Builds the generator of an annotation without a table, such as an example.
#[cfg(test)]
pub(crate) fn build_text(text: &str, origin: &str) -> Result<Box<dyn Generator>> {
    let source = SourceText::new(text, origin);
    build(&source, &parse_call(&source, 0..text.len())?, None)
}

#[cfg(test)]
mod tests;
