//! Inference by the name of a column.

use super::{ColumnTraits, Inference, TypeClass, inferred};

/// Days and times of five years.
pub(super) const TIMESTAMP: &str = "timestamp('2020-01-01', '2025-01-01')";
const DATE: &str = "date('2020-01-01', '2025-01-01')";
const BIRTHDAY: &str = "date('1940-01-01', '2007-01-01')";
/// These five years in Unix seconds and as Julian days.
const UNIX_TIME: &str = "int(1_577_836_800, 1_735_689_599)";
const JULIAN_DAY: &str = "real(2458849.5, 2460676.5, 5)";

/// A rule from names to generators. A pattern that begins or ends in `*` matches the rest of the name at its end or
/// beginning.
struct Rule {
    names: &'static [&'static str],
    /// For texts: the annotation, and the length of its longest text, without row numbers.
    text: Option<(&'static str, u64)>,
    int: Option<&'static str>,
    real: Option<&'static str>,
}

const fn text(names: &'static [&'static str], text: &'static str, longest: u64) -> Rule {
    Rule { names, text: Some((text, longest)), int: None, real: None }
}

const fn number(names: &'static [&'static str], int: &'static str, real: &'static str) -> Rule {
    Rule { names, text: None, int: Some(int), real: Some(real) }
}

/// Length of an e-mail address without its row number.
const EMAIL: u64 = 25;

static RULES: &[Rule] = &[
    text(&["email", "e_mail", "mail", "*_email", "email_address"], "email", EMAIL),
    text(&["uuid", "guid", "*_uuid", "*_guid"], "uuid", 36),
    text(&["first_name", "firstname", "given_name", "forename"], "first_name", 5),
    text(&["last_name", "lastname", "surname", "family_name"], "last_name", 7),
    text(
        &["name", "full_name", "fullname", "display_name", "*customer_name", "author", "*contact_name"],
        "full_name",
        13,
    ),
    text(&["username", "user_name", "login", "nickname", "nick", "slug", "tag", "keyword", "*_name"], "word", 8),
    text(&["phone", "*_phone", "phone_number", "mobile", "telephone", "tel", "fax"], "phone", 15),
    text(&["url", "*_url", "website", "homepage", "link", "uri"], "url", 46),
    text(&["city", "town", "*_city"], "city", 12),
    text(&["country", "nation", "*_country"], "country", 11),
    text(&["zip", "zip_code", "zipcode", "postal_code", "postcode", "postalcode"], "digits(5)", 5),
    text(&["currency", "currency_code"], "choice('EUR', 'USD', 'GBP', 'JPY', 'CHF')", 3),
    text(&["language", "lang", "locale"], "choice('en', 'es', 'zh', 'fr', 'de')", 2),
    text(&["color", "colour"], "choice('red', 'green', 'blue', 'yellow', 'black', 'white')", 6),
    text(&["title", "subject", "headline", "*_title"], "text(10, 40)", 40),
    text(
        &[
            "description",
            "comment",
            "comments",
            "note",
            "notes",
            "body",
            "content",
            "message",
            "bio",
            "summary",
            "*_description",
        ],
        "text(20, 120)",
        120,
    ),
    Rule {
        names: &["status", "state", "*_status"],
        text: Some(("choice('active': 6, 'pending': 2, 'suspended': 1, 'closed': 1)", 9)),
        int: Some("choice(0: 6, 1: 2, 2: 1, 3: 1)"),
        real: None,
    },
    Rule {
        names: &["birthday", "birthdate", "birth_date", "date_of_birth", "dob"],
        text: Some((BIRTHDAY, 10)),
        int: None,
        real: None,
    },
    Rule {
        names: &["*_at", "*_on", "timestamp", "datetime", "created", "updated", "modified", "*_time", "time", "ts"],
        text: Some((TIMESTAMP, 19)),
        int: Some(UNIX_TIME),
        real: Some(JULIAN_DAY),
    },
    Rule { names: &["date", "day", "*_date"], text: Some((DATE, 10)), int: None, real: Some(JULIAN_DAY) },
    Rule {
        names: &["is_*", "has_*", "active", "enabled", "deleted", "visible", "verified", "archived", "*_flag"],
        text: None,
        int: Some("bool"),
        real: None,
    },
    number(&["age"], "int(18, 90)", "int(18, 90)"),
    number(&["year", "*_year"], "int(1970, 2025)", "int(1970, 2025)"),
    number(&["month"], "int(1, 12)", "int(1, 12)"),
    number(&["hour"], "int(0, 23)", "int(0, 23)"),
    number(&["quantity", "qty", "count", "*_count", "stock", "units"], "int(1, 100)", "int(1, 100)"),
    number(&["percent", "percentage", "*_percent", "discount"], "int(0, 100)", "real(0, 100, 1)"),
    number(&["rating", "stars"], "int(1, 5)", "real(1, 5, 1)"),
    number(&["score", "points"], "int(0, 100)", "real(0, 100, 1)"),
    number(
        &[
            "price", "amount", "total", "cost", "balance", "salary", "fee", "*_price", "*_amount", "*_total", "*_cost",
            "*_cents",
        ],
        "int(1, 100_000)",
        "real(1, 1000, 2)",
    ),
    number(&["latitude", "lat"], "int(-90, 90)", "real(-90, 90, 6)"),
    number(&["longitude", "lon", "lng"], "int(-180, 180)", "real(-180, 180, 6)"),
    number(&["weight", "height", "width", "length", "depth"], "int(1, 200)", "real(1, 200, 1)"),
    number(&["temperature"], "int(-20, 40)", "real(-20, 40, 1)"),
    text(&["ip", "ip_address", "ipv4", "*_ip"], "ipv4", 15),
    text(&["ipv6"], "ipv6", 39),
    text(&["mac", "mac_address"], "mac", 17),
    text(&["user_agent", "useragent"], "user_agent", 137),
    text(&["domain", "hostname", "*_domain"], "domain", 26),
    text(&["street", "*_street", "street_address"], "street", 24),
    text(&["address", "*_address"], "address", 45),
    text(&["company", "organization", "organisation", "employer"], "company", 32),
    text(&["job", "occupation", "profession"], "job", 12),
];

/// Infers by the name, for a column of this class in a table of `rows`.
pub(super) fn rule(name: &str, traits: &ColumnTraits<'_>, rows: u64) -> Option<Inference> {
    let name = plain(name);
    let rule = find(&name)?;
    let text = || rule.text.and_then(|(text, longest)| fitting(text, longest, traits, rows));
    let int = || rule.int.map(str::to_owned);
    let real = || rule.real.map(str::to_owned);
    let annotation = match traits.class {
        TypeClass::Text => text(),
        TypeClass::Int => int(),
        TypeClass::Real => real(),
        TypeClass::Numeric => real().or_else(int).or_else(text),
        TypeClass::Any => text().or_else(int).or_else(real),
        TypeClass::Blob => (rule.text == Some(("uuid", 36))).then(|| "blob(16, 16)".to_owned()),
    };
    annotation.map(|text| inferred(text, format!("its name is like {}", rule.names[0])))
}

/// Infers a unique text that suits the name.
pub(super) fn unique_text(name: &str, traits: &ColumnTraits<'_>) -> Option<&'static str> {
    const LONGEST_ROW_NUMBER: u64 = 19;
    match find(&plain(name))?.text? {
        ("email", longest) if traits.takes_len(longest + LONGEST_ROW_NUMBER) => Some("email"),
        ("uuid", longest) if traits.takes_len(longest) => Some("uuid"),
        _ => None,
    }
}

/// Returns the annotation of a column declared DATE.
pub(super) fn days_of(name: &str) -> &'static str {
    match find(&plain(name)) {
        Some(Rule { text: Some((text, _)), .. }) if *text == BIRTHDAY => BIRTHDAY,
        _ => DATE,
    }
}

/// Returns the annotation if its texts fit the declared length; running text is shortened to fit.
fn fitting(text: &str, longest: u64, traits: &ColumnTraits<'_>, rows: u64) -> Option<String> {
    let row_number = if text == "email" { rows.to_string().len() as u64 } else { 0 };
    if traits.takes_len(longest + row_number) {
        return Some(text.to_owned());
    }
    let max = traits.longest.filter(|_| text.starts_with("text("))?;
    Some(format!("text({}, {max})", max / 4))
}

fn find(name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.names.iter().any(|pattern| matches(name, pattern)))
}

fn matches(name: &str, pattern: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end),
        (None, Some(begin)) => name.starts_with(begin),
        (None, None) => name == pattern,
    }
}

/// Normalizes `createdAt`, `Created-At` and `CREATED_AT` to `created_at`.
fn plain(name: &str) -> String {
    let mut plain = String::new();
    let mut was_lower = false;
    for c in name.chars() {
        if c.is_uppercase() && was_lower {
            plain.push('_');
        }
        was_lower = c.is_lowercase();
        match c {
            '-' | ' ' | '.' => plain.push('_'),
            _ => plain.extend(c.to_lowercase()),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::catalogue::build_text;
    use crate::random::CellRandom;
    use litepress_format::value::Value;
    use litepress_rows::CellBlock;

    #[test]
    fn names_are_compared_plainly() {
        for (name, expected) in [
            ("createdAt", "created_at"),
            ("CREATED_AT", "created_at"),
            ("First Name", "first_name"),
            ("userID", "user_id"),
        ] {
            assert_eq!(plain(name), expected);
        }
    }

    #[test]
    fn all_rules_build_and_texts_keep_to_their_length() {
        for rule in RULES {
            let numbers = [rule.int, rule.real];
            numbers.iter().flatten().for_each(|text| drop(build_text(text, "rule").expect(text)));
            let Some((text, longest)) = rule.text else { continue };
            let generator = build_text(text, "rule").expect(text);
            let mut block = CellBlock::default();
            let mut seen = 0;
            for start in (0..50).map(|block| block * 1024) {
                generator.fill(&CellRandom::new(1, "t", "c"), &(start..start + 1024).into(), &mut block);
                for row in 0..1024 {
                    let Value::Text(bytes) = block.value(row) else { panic!("{text} is no text") };
                    let number = if text == "email" { (start + row as u64 + 1).to_string().len() } else { 0 };
                    seen = seen.max(bytes.len() - number);
                }
            }
            let seen = seen as u64;
            assert!((longest - 2..=longest).contains(&seen), "{text}: {seen} characters");
        }
    }
}
