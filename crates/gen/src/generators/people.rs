//! People, addresses, firms and network identifiers, as trees of lists (see [`template`](super::template)).

use super::choice::ListPick;
use super::locales::{self, LOCALES, Locale, items};
use super::template::{self, Node};
use super::words::{FIRST_NAMES, LAST_NAMES, WORDS};
use super::{Arguments, Generator, lists};
use litepress_rows::Result;
use litepress_rows::cells::OwnedValue;

/// Returns the argument `locale`, if it is given.
fn locale(arguments: &Arguments<'_>) -> Result<Option<&'static Locale>> {
    if !arguments.is_given("locale") {
        return Ok(None);
    }
    let code = arguments.text("locale")?;
    let rejected = || {
        let known: Vec<String> = LOCALES.iter().map(|locale| format!("'{}'", locale.code)).collect();
        arguments.error_at("locale", format!("there is no locale '{code}': there are {}", known.join(", ")))
    };
    locales::find(&code).map(Some).ok_or_else(rejected)
}

/// Builds a generator of the items with equal weights.
fn pick(list: &'static str) -> Box<dyn Generator> {
    Box::new(ListPick::evenly(items(list).into_iter().map(|item| OwnedValue::Text(item.to_owned())).collect()))
}

/// A generator with an optional locale; without one it keeps the values from before locales existed.
macro_rules! with_locale {
    ($(#[$doc:meta])* $name:ident, $without:expr, $of_locale:expr) => {
        $(#[$doc])*
        pub(super) fn $name(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
            match locale(arguments)? {
                None => $without(arguments),
                Some(locale) => Ok($of_locale(locale)),
            }
        }
    };
}

with_locale!(first_name, lists::first_name, |locale: &Locale| pick(locale.first_names));
with_locale!(last_name, lists::last_name, |locale: &Locale| pick(locale.last_names));
with_locale!(city, lists::city, |locale: &Locale| pick(locale.cities));
with_locale!(full_name, lists::full_name, |locale| template::random(name_of(locale)));
with_locale!(phone, lists::phone, |locale: &Locale| template::random(digits(locale.phone)));

/// A generator with a locale, by default the first.
macro_rules! of_locale {
    ($name:ident, $of_locale:expr) => {
        pub(super) fn $name(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
            Ok($of_locale(locale(arguments)?.unwrap_or(&LOCALES[0])))
        }
    };
}

of_locale!(name, |locale| template::random(name_of(locale)));
of_locale!(job, |locale: &Locale| pick(locale.jobs));
of_locale!(street, |locale| template::random(street_of(locale)));
of_locale!(postcode, |locale: &Locale| template::random(digits(locale.postcode)));
of_locale!(address, |locale| template::random(address_of(locale)));
of_locale!(company, |locale| template::random(company_of(locale)));

fn list(list: &'static str) -> Node {
    Node::one_of(&items(list))
}

/// Builds a tree in which `#` is a digit and `%` one of 1 to 9.
fn digits(pattern: &str) -> Node {
    let part = |character: char| match character {
        '#' => Node::digits(1),
        '%' => list("1|2|3|4|5|6|7|8|9"),
        other => Node::fixed(&other.to_string()),
    };
    Node::sequence(pattern.chars().map(part).collect())
}

fn name_of(locale: &Locale) -> Node {
    Node::sequence(vec![list(locale.first_names), Node::fixed(" "), list(locale.last_names)])
}

/// Builds a street with number: `12 Elm Street`, `Ahornweg 12`.
fn street_of(locale: &Locale) -> Node {
    let mut parts: Vec<Node> = locale.streets.iter().map(|part| list(part)).collect();
    let numbers: Vec<String> = (1..200).map(|number| number.to_string()).collect();
    if locale.number_first {
        parts.insert(0, Node::fixed(" "));
        parts.insert(0, Node::one_of(&numbers));
    } else {
        parts.extend([Node::fixed(" "), Node::one_of(&numbers)]);
    }
    Node::sequence(parts)
}

fn address_of(locale: &Locale) -> Node {
    let mut town = [list(locale.cities), Node::fixed(" "), digits(locale.postcode)];
    if locale.postcode_first {
        town.reverse();
    }
    Node::sequence([street_of(locale), Node::fixed(", ")].into_iter().chain(town).collect())
}

fn company_of(locale: &Locale) -> Node {
    let name = || list(locale.last_names);
    let two = Node::sequence(vec![name(), Node::fixed(locale.and), name()]);
    Node::sequence(vec![Node::OneOf(vec![name(), two]), list(locale.firms)])
}

/// Builds `unique_email`: the shuffled row number, written as first name, last name, digits and domain.
pub(super) fn unique_email(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let lower = |names: &[&str]| names.iter().map(|name| name.to_lowercase()).collect::<Vec<_>>();
    let (first, last) = (lower(&FIRST_NAMES), lower(&LAST_NAMES));
    let domains = ["@example.com", "@example.net", "@example.org"];
    let names = (first.len() * last.len() * domains.len()) as u64;
    let digits = if arguments.is_given("digits") {
        arguments.int_within("digits", 1, 15)?
    } else {
        // Twice the rows, because numbers are not all of one length.
        let rows = arguments.rows().unwrap_or(100_000_000).saturating_mul(2);
        (2..15).find(|&digits| names.saturating_mul(10_u64.pow(digits)) >= rows).map_or(15, u64::from)
    };
    let parts = [Node::one_of(&first), Node::fixed("."), Node::one_of(&last), Node::digits(digits)];
    let node = Node::sequence(parts.into_iter().chain([Node::one_of(&domains)]).collect());
    template::unique(node, || arguments.error_here("the same address can be composed in several ways"))
}

fn words_of(count_from: u64, count_to: u64) -> Node {
    let further: Vec<String> = WORDS.iter().map(|word| format!(" {word}")).collect();
    let further = Node::Repeat { node: Box::new(Node::one_of(&further)), min: count_from - 1, max: count_to - 1 };
    Node::Sequence(vec![Node::one_of(&WORDS), further])
}

/// Returns the arguments `min` and `max`, 1 to a million.
fn parts(arguments: &Arguments<'_>) -> Result<(u64, u64)> {
    const MOST: u64 = 1_000_000;
    let (min, max) = (arguments.int_within("min", 1, MOST)?, arguments.int_within("max", 1, MOST)?);
    arguments.int_range("min", "max")?;
    Ok((min, max))
}

/// Builds `words(min, max)`.
pub(super) fn words(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let (min, max) = parts(arguments)?;
    Ok(template::random(words_of(min, max)))
}

/// Builds `sentences(min, max)`, of 4 to 12 words each.
pub(super) fn sentences(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let (min, max) = parts(arguments)?;
    let capital = |word: &&str| format!("{}{}", word[..1].to_uppercase(), &word[1..]);
    let sentence = |begin: &str| {
        let first: Vec<String> = WORDS.iter().map(|word| format!("{begin}{}", capital(word))).collect();
        let further: Vec<String> = WORDS.iter().map(|word| format!(" {word}")).collect();
        let further = Node::Repeat { node: Box::new(Node::one_of(&further)), min: 3, max: 11 };
        Node::Sequence(vec![Node::one_of(&first), further, Node::fixed(".")])
    };
    let further = Node::Repeat { node: Box::new(sentence(" ")), min: min - 1, max: max - 1 };
    Ok(template::random(Node::Sequence(vec![sentence(""), further])))
}

fn hex_digit() -> Node {
    list("0|1|2|3|4|5|6|7|8|9|a|b|c|d|e|f")
}

fn repeated(times: usize, part: &[Node]) -> Node {
    Node::sequence((0..times).flat_map(|_| part.to_vec()).collect())
}

/// Builds `ipv4`: networks that are neither private nor reserved as a whole.
pub(super) fn ipv4(_: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let first: Vec<String> = (1..224)
        .filter(|first| !matches!(first, 10 | 100 | 127 | 169 | 172 | 192 | 198 | 203))
        .map(|n: u8| n.to_string())
        .collect();
    let further: Vec<String> = (0..=255).map(|n| format!(".{n}")).collect();
    Ok(template::random(Node::sequence(vec![Node::one_of(&first), repeated(3, &[Node::one_of(&further)])])))
}

/// Builds `ipv6`: the network for documentation (RFC 3849).
pub(super) fn ipv6(_: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let group = [list(":1|:2|:3|:4|:5|:6|:7|:8|:9|:a|:b|:c|:d|:e|:f"), hex_digit(), hex_digit(), hex_digit()];
    Ok(template::random(Node::sequence(vec![Node::fixed("2001:db8"), repeated(6, &group)])))
}

/// Builds `mac`: locally administered addresses, so that no vendor's.
pub(super) fn mac(_: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let further = repeated(5, &[Node::fixed(":"), hex_digit(), hex_digit()]);
    Ok(template::random(Node::sequence(vec![hex_digit(), list("2|6|a|e"), further])))
}

/// Builds `colour`.
pub(super) fn colour(_: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    Ok(template::random(Node::sequence(vec![Node::fixed("#"), repeated(6, &[hex_digit()])])))
}

/// Builds `domain`: under reserved top-level domains (RFC 2606).
pub(super) fn domain(_: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let parts = vec![Node::one_of(&WORDS), Node::fixed("-"), Node::one_of(&WORDS), list(".example|.test|.invalid")];
    Ok(template::random(Node::sequence(parts)))
}

/// Builds `user_agent`.
pub(super) fn user_agent(_: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let versions: Vec<String> = (100..140).map(|version| version.to_string()).collect();
    let versions = || Node::one_of(&versions);
    let desktops = || list("Windows NT 10.0; Win64; x64|Macintosh; Intel Mac OS X 10_15_7|X11; Linux x86_64");
    let begin = || Node::fixed("Mozilla/5.0 (");
    let webkit = || Node::fixed(") AppleWebKit/537.36 (KHTML, like Gecko) Chrome/");
    let chrome = vec![begin(), desktops(), webkit(), versions(), Node::fixed(".0.0.0 Safari/537.36")];
    let edge = vec![
        begin(),
        desktops(),
        webkit(),
        versions(),
        Node::fixed(".0.0.0 Safari/537.36 Edg/"),
        versions(),
        Node::fixed(".0.0.0"),
    ];
    let phone = vec![
        begin(),
        list("Linux; Android 10; K|Linux; Android 13; Pixel 7|Linux; Android 14; SM-S918B"),
        webkit(),
        versions(),
        Node::fixed(".0.0.0 Mobile Safari/537.36"),
    ];
    let firefox =
        vec![begin(), desktops(), Node::fixed("; rv:109.0) Gecko/20100101 Firefox/"), versions(), Node::fixed(".0")];
    let safari = vec![
        begin(),
        list("iPhone; CPU iPhone OS 17_4 like Mac OS X|iPad; CPU OS 16_6 like Mac OS X"),
        Node::fixed(") AppleWebKit/605.1.15 (KHTML, like Gecko) Version/"),
        list("15.6|16.6|17.4"),
        Node::fixed(" Mobile/15E148 Safari/604.1"),
    ];
    Ok(template::random(Node::OneOf([chrome, edge, phone, firefox, safari].into_iter().map(Node::sequence).collect())))
}
