//! The catalogue: look-up, binding of arguments, errors and documentation.

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
    let written = include_str!("../../../../../docs/generators.md");
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
    // A misspelled generator listed 60 names and suggested none.
    ("string(5)", 1, "unknown generator 'string', did you mean 'text'?"),
    ("DateTime", 1, "unknown generator 'DateTime', did you mean 'timestamp'?"),
    ("slugg", 1, "unknown generator 'slugg', did you mean 'regex'?"),
    ("zip_code", 1, "unknown generator 'zip_code', did you mean 'postcode'?"),
    ("stamp", 1, "unknown generator 'stamp'"),
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
