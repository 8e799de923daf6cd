//! Texts by pattern.

use super::*;

/// Texts without their quotes.
fn texts(text: &str, rows: u64) -> Vec<String> {
    values(text, rows).into_iter().map(|value| value.trim_matches('\'').to_owned()).collect()
}

/// Whether a text is one that is wanted.
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
    // 25 degrees of freedom: 52.6 is exceeded once in a thousand seeds.
    assert!(chi_square(&values("pattern('?')", 50_000), &shares) < 52.6);
    let last: Vec<String> =
        texts("pattern('##########-?')", 50_000).iter().map(|text| format!("'{}'", &text[11..])).collect();
    assert!(chi_square(&last, &shares) < 52.6);
    let lengths: Vec<String> = texts("regex('a{0,3}')", 50_000).iter().map(|text| text.len().to_string()).collect();
    assert!(chi_square(&lengths, &[("0", 0.25), ("1", 0.25), ("2", 0.25), ("3", 0.25)]) < 16.3);
}

/// All texts there are, and each once.
#[test]
fn unique_texts_are_all_of_their_language() {
    for (text, count) in [
        ("unique_digits(4)", 10_000),
        ("unique_regex('[ab]{0,3}-?c{2}')", 30),
        ("unique_regex('(x[0-9]{1,3}|y|z[a-c]*)!')", 1110 + 1 + 9841),
        ("unique_regex('a')", 1),
    ] {
        assert_eq!(build(text).distinct(), Distinct::Unique { rows: count }, "{text}");
        assert_eq!(values(text, count).into_iter().collect::<HashSet<_>>().len() as u64, count, "{text}");
    }
    // More texts than numbers: all of a text varies, not only its end.
    let many = texts("unique_regex('[a-z]{30}')", 20_000);
    assert_eq!(many.iter().collect::<HashSet<_>>().len(), 20_000);
    for place in 8..30 {
        assert_eq!(many.iter().map(|text| &text[place..=place]).collect::<HashSet<_>>().len(), 26, "{place}");
    }
    assert_eq!(build("unique_regex('[a-z]{30}')").distinct(), Distinct::Unique { rows: u64::MAX });
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
