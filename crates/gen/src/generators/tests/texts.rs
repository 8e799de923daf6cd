//! Texts of patterns.

use super::*;
use crate::annotation::{ReadableFiles, SourceText, parse_call};

/// Returns texts without their quotes.
fn texts(text: &str, rows: u64) -> Vec<String> {
    values(text, rows).into_iter().map(|value| value.trim_matches('\'').to_owned()).collect()
}

/// Predicate that a text must satisfy.
type Matches<'a> = &'a dyn Fn(&str) -> bool;

#[test]
fn regular_expressions_match() {
    let digit = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let cases: [(&str, Matches<'_>); 8] = [
        ("regex('^[A-Z]{3}-[0-9]{4}$')", &|t| t.len() == 8 && &t[3..4] == "-" && digit(&t[4..])),
        ("regex('a|bb|c+')", &|t| {
            matches!(t, "a" | "bb") || t.bytes().all(|b| b == b'c') && (1..=9).contains(&t.len())
        }),
        ("regex('x?y{2,3}')", &|t| matches!(t, "yy" | "yyy" | "xyy" | "xyyy")),
        (r"regex('\d\w\.[[:upper:]]')", &|t| digit(&t[..1]) && &t[2..3] == "." && t.len() == 4),
        ("regex('[äöü]{2}')", &|t| t.chars().count() == 2 && t.chars().all(|c| "äöü".contains(c))),
        ("regex('[a-f&&[^bd]]')", &|t| matches!(t, "a" | "c" | "e" | "f")),
        ("pattern('#-?')", &|t| digit(&t[..1]) && t.as_bytes()[2].is_ascii_uppercase()),
        (r"pattern('\#?é')", &|t| t.starts_with('#') && t.ends_with('é') && t.len() == 4),
    ];
    for (text, matches) in cases {
        let found = texts(text, 3000);
        assert!(found.iter().all(|value| matches(value)), "{text}: {:?}", &found[..3]);
    }
    assert_eq!(texts("regex('')", 1), [""]);
}

#[test]
fn every_text_of_a_pattern_comes_as_often() {
    let all: Vec<String> = (b'A'..=b'Z').map(|letter| format!("'{}'", char::from(letter))).collect();
    let shares: Vec<(&str, f64)> = all.iter().map(|value| (value.as_str(), 1.0 / 26.0)).collect();
    // 25 degrees of freedom: 52.6 is exceeded by one seed in a thousand.
    assert!(chi_square(&values("pattern('?')", 50_000), &shares) < 52.6);
    let last: Vec<String> =
        texts("pattern('##########-?')", 50_000).iter().map(|text| format!("'{}'", &text[11..])).collect();
    assert!(chi_square(&last, &shares) < 52.6);
    let lengths: Vec<String> = texts("regex('a{0,3}')", 50_000).iter().map(|text| text.len().to_string()).collect();
    assert!(chi_square(&lengths, &[("0", 0.25), ("1", 0.25), ("2", 0.25), ("3", 0.25)]) < 16.3);
}

/// Every text occurs once.
#[test]
fn unique_texts_are_all_of_their_language() {
    for (text, count) in [
        ("unique_digits(4)", 10_000),
        ("unique_regex('[ab]{0,3}-?c{2}')", 30),
        ("unique_regex('(x[0-9]{1,3}|y|z[a-c]*)!')", 1110 + 1 + 9841),
        ("unique_regex('a')", 1),
    ] {
        assert_eq!(build(text).cardinality(), Cardinality::Unique { rows: count }, "{text}");
        assert_eq!(values(text, count).into_iter().collect::<HashSet<_>>().len() as u64, count, "{text}");
    }
    // There are more texts than numbers: the whole text varies, not only its end.
    let many = texts("unique_regex('[a-z]{30}')", 20_000);
    assert_eq!(many.iter().collect::<HashSet<_>>().len(), 20_000);
    for place in 8..30 {
        assert_eq!(many.iter().map(|text| &text[place..=place]).collect::<HashSet<_>>().len(), 26, "{place}");
    }
    assert_eq!(build("unique_regex('[a-z]{30}')").cardinality(), Cardinality::Unique { rows: u64::MAX });
}

#[test]
fn texts_of_digits_are_known_as_such() {
    for (text, kinds) in [
        ("pattern('####')", Kinds::DIGITS),
        ("regex('[1-9]\\d{3}')", Kinds::DIGITS),
        ("regex('\\d*')", Kinds::TEXT),
        ("regex('\\d{19}')", Kinds::TEXT),
        ("unique_digits(18)", Kinds::DIGITS),
        ("pattern('##-##')", Kinds::TEXT),
    ] {
        assert_eq!(build(text).kinds(), kinds, "{text}");
    }
}

#[test]
fn json_of_generators() {
    let text = "object(id: sequence, kind: 'us\"er', n: null(0.5, int(1, 1)), tags: array(choice('a', 'b'), 0, 2), \
                'in side': object(x: constant(1.5), j: json, e: constant(x'0a')))";
    for (row, value) in texts(text, 2000).iter().enumerate() {
        let rest = value.strip_prefix(&format!(r#"{{"id":{},"kind":"us\"er","n":"#, row + 1)).expect(value);
        let rest = rest.strip_prefix("null").or_else(|| rest.strip_prefix('1')).expect(value);
        let rest = rest.strip_prefix(r#","tags":["#).expect(value);
        let (tags, rest) = rest.split_once("],").expect(value);
        assert!(matches!(tags, "" | r#""a""# | r#""b""#) || tags.len() == 7, "{value}");
        assert!(
            rest.starts_with(r#""in side":{"x":1.5,"j":{"number":"#) && rest.ends_with(r#"},"e":"0a"}}"#),
            "{value}"
        );
    }
    assert_eq!(texts("object()", 2), ["{}", "{}"]);
    assert_eq!(texts("array(null(0, bool(1)), 1, 1)", 1), ["[true]"]);
    assert_eq!(texts("array(sequence, 2, 2)", 3), ["[1,2]", "[3,4]", "[5,6]"]);
    assert_eq!(build("array(uuid, 1, 4)").cardinality(), Cardinality::Unique { rows: u64::MAX / 4 });
    assert_eq!(build("object(a: bool, b: int(1, 5))").cardinality(), Cardinality::Among { values: 10 });
    let lengths: Vec<String> =
        texts("array(int(0, 1), 0, 1)", 50_000).iter().map(|text| text.len().to_string()).collect();
    assert!(chi_square(&lengths, &[("2", 0.5), ("3", 0.5)]) < 10.8);
}

#[test]
fn words_of_a_file_come_by_weight() {
    let shares = [("'apple'", 0.5), ("'pear'", 0.3), ("'plum'", 0.15), ("'quince'", 0.05)];
    assert!(chi_square(&values("wordlist('examples/words.txt')", 100_000), &shares) < 16.3);
}

#[test]
fn compressible_blobs_have_zeros() {
    for (text, low, high) in [
        ("blob(640, 640, 0.5)", 310, 330),
        ("blob(640, 640, 0)", 0, 20),
        ("blob(640, 640, 1)", 550, 570),
        ("blob(0, 9, 1)", 0, 2),
    ] {
        for value in values(text, 500) {
            let digits = &value.as_bytes()[2..value.len() - 1];
            let zeros = digits.chunks(2).filter(|byte| byte == b"00").count();
            assert!((low..=high).contains(&zeros), "{text}: {zeros} zeros");
        }
    }
    let blobs = values("blob(8, 200, 0.9)", 50_000);
    assert_eq!(blobs.iter().collect::<HashSet<_>>().len(), blobs.len());
}

#[test]
fn counts_of_words_and_sentences_are_uniform() {
    let words: Vec<String> = texts("words(1, 4)", 50_000).iter().map(|t| t.split(' ').count().to_string()).collect();
    assert!(chi_square(&words, &[("1", 0.25), ("2", 0.25), ("3", 0.25), ("4", 0.25)]) < 16.3);
    for text in texts("sentences(2, 2)", 1000) {
        assert!(text.ends_with('.') && text.matches(". ").count() == 1, "{text}");
        let words = text.split(". ").next().map_or(0, |sentence| sentence.split(' ').count());
        assert!((4..=12).contains(&words), "{text}");
    }
}

#[test]
fn addresses_of_every_locale() {
    for locale in ["en", "de_DE", "FR", "es", "it", "pt-BR"] {
        for name in [
            "first_name",
            "last_name",
            "full_name",
            "name",
            "city",
            "phone",
            "street",
            "postcode",
            "address",
            "company",
            "job",
        ] {
            let found = texts(&format!("{name}('{locale}')"), 2000);
            assert!(found.iter().all(|text| !text.is_empty() && text.trim() == text), "{name} {locale}: {found:?}");
            assert!(found.iter().collect::<HashSet<_>>().len() > 10, "{name} {locale}");
        }
    }
    for (text, is_right) in [
        (
            "ipv4",
            (|t| t.parse::<std::net::Ipv4Addr>().is_ok_and(|ip| !ip.is_private() && !ip.is_loopback()))
                as fn(&str) -> bool,
        ),
        ("ipv6", |t| t.parse::<std::net::Ipv6Addr>().is_ok_and(|ip| ip.to_string() == t)),
        ("mac", |t| t.len() == 17 && t.split(':').count() == 6),
        ("colour", |t| t.len() == 7 && t.starts_with('#')),
        ("domain", |t| t.contains('.') && !t.contains(' ')),
        ("user_agent", |t| t.starts_with("Mozilla/5.0 (")),
        ("unique_email", |t| t.contains("@example.") && t.is_ascii()),
    ] {
        assert!(texts(text, 3000).iter().all(|value| is_right(value)), "{text}");
    }
}

/// A word list of `/dev/zero` took all of the memory, and one of a named pipe waited for ever.
#[cfg(unix)]
#[test]
fn word_lists_are_regular_files() {
    for file in ["/dev/zero", "/dev/null", "/dev"] {
        let annotation = format!("wordlist('{file}')");
        let source = SourceText::new(&annotation, "test").with_files(ReadableFiles::All);
        let call = parse_call(&source, 0..annotation.len()).expect("a call");
        let error = catalogue::build(&source, &call, None).expect_err(file);
        assert!(error.message().contains("is not a regular file"), "{error}");
    }
}
