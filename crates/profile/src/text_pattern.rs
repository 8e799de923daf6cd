//! Patterns of texts, described without the texts.

use crate::annotation_text::quoted;

/// Least number of texts that can show a common character.
pub(crate) const ENOUGH: usize = 50;
/// Longest text that can have a pattern.
const LONGEST: u64 = 40;

/// Returns the annotation for texts of a format that everybody knows, with a reason.
pub(crate) fn format(texts: &[Box<str>]) -> Option<(String, &'static str)> {
    let all = |is_it: fn(&str) -> bool| !texts.is_empty() && texts.iter().all(|text| is_it(text));
    let plain = |generator: &str, because| Some((generator.to_owned(), because));
    if all(is_uuid) {
        return plain("uuid", "they look like UUIDs");
    }
    if all(is_email) {
        return plain("email", "they look like e-mail addresses");
    }
    if all(|text| text.starts_with("http://") || text.starts_with("https://")) {
        return plain("url", "they look like web addresses");
    }
    if all(|text| text.parse::<std::net::Ipv4Addr>().is_ok()) {
        return plain("ipv4", "they look like IP addresses");
    }
    if all(|text| text.parse::<std::net::Ipv6Addr>().is_ok()) {
        return plain("ipv6", "they look like IP addresses");
    }
    if all(|text| is_like(text, "hh:hh:hh:hh:hh:hh")) {
        return plain("mac", "they look like MAC addresses");
    }
    if all(|text| text.starts_with("{\"") || text == "{}") {
        return plain("json", "JSON objects, whose fields are not learnt");
    }
    hash(texts).map(|digits| (format!("hex({digits})"), "hex digits, as of a hash"))
}

/// Returns the number of hex digits of texts that are hashes: all as long, with letters and digits anywhere.
fn hash(texts: &[Box<str>]) -> Option<usize> {
    const LEAST: usize = 16;
    let length = texts.first()?.len();
    let is_hash =
        |text: &str| text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let is_mixed = texts.iter().any(|text| text.bytes().any(|byte| byte.is_ascii_lowercase()));
    // Texts are sampled up to 64 characters; a hash of 128 digits is rare, and text of other lengths never is one.
    (length >= LEAST && is_mixed && texts.iter().all(|text| is_hash(text))).then_some(length)
}

/// Returns the annotation for texts that look like these, with a reason. `unique` is the number of texts if all
/// differ. `lengths` combines annotations for ranges of lengths. `None` if the texts have no pattern.
pub(crate) fn of(
    texts: &[Box<str>],
    longest: u64,
    unique: Option<u64>,
    lengths: impl Fn(&dyn Fn(u64, u64) -> String) -> String,
    keep_values: bool,
) -> Option<(String, &'static str)> {
    let all = |is_it: fn(&str) -> bool| !texts.is_empty() && texts.iter().all(|text| is_it(text));
    if unique.is_some() && all(is_uuid) {
        return Some(("uuid".to_owned(), "they look like UUIDs"));
    }
    if unique.is_some() && all(is_email) {
        return Some(("email".to_owned(), "they look like e-mail addresses"));
    }
    if let Some(digits) = hash(texts).filter(|_| unique.is_some()) {
        return Some((format!("hex({digits})"), "hex digits, as of a hash"));
    }
    if longest > LONGEST || longest == 0 {
        return None;
    }
    let (pattern, values) = pattern(texts, keep_values)?;
    let generator = match unique {
        None => lengths(&|shortest, longest| format!("regex({})", quoted(&pattern.regex(shortest, longest)))),
        // A recipe may ask for fewer rows than there are texts, or for more.
        Some(unique) if values >= 1000.0 * unique as f64 => {
            let shortest = texts.iter().map(|text| text.len() as u64).min()?;
            format!("unique_regex({})", quoted(&pattern.regex(shortest, longest)))
        }
        Some(_) => return None,
    };
    Some((generator, "a pattern of characters"))
}

/// The common pattern of texts.
enum Pattern {
    /// A regular expression for texts of one length.
    Fixed(String),
    /// Texts of several lengths: the class of the first character, if it differs, and the class of the others.
    Classes(&'static str, &'static str),
}

impl Pattern {
    /// Returns the regular expression for texts of these lengths.
    fn regex(&self, shortest: u64, longest: u64) -> String {
        let apart = match self {
            Self::Fixed(regex) => return regex.clone(),
            Self::Classes(first, _) => u64::from(!first.is_empty()),
        };
        let Self::Classes(first, rest) = self else { unreachable!("the other variant returned above") };
        match (shortest.saturating_sub(apart), longest.saturating_sub(apart)) {
            (0, 0) => (*first).to_owned(),
            (one, other) if one == other => format!("{first}{rest}{{{one}}}"),
            (one, other) => format!("{first}{rest}{{{one},{other}}}"),
        }
    }
}

/// Returns whether `text` matches a mask: 0 is a digit, h a hex digit, any other character itself.
fn is_like(text: &str, mask: &str) -> bool {
    text.len() == mask.len()
        && text.bytes().zip(mask.bytes()).all(|(byte, mask)| match mask {
            b'0' => byte.is_ascii_digit(),
            b'h' => byte.is_ascii_hexdigit(),
            _ => byte == mask,
        })
}

fn is_uuid(text: &str) -> bool {
    is_like(text, "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh")
}

fn is_email(text: &str) -> bool {
    let parts = text.split_once('@');
    parts.is_some_and(|(name, host)| !name.is_empty() && host.contains('.') && !host.contains('@'))
        && !text.contains(char::is_whitespace)
}

/// A class of characters: notation, number of characters, and test; the first that matches is used.
type Class = (&'static str, f64, fn(&u8) -> bool);
const CLASSES: [Class; 7] = [
    ("[0-9]", 10.0, u8::is_ascii_digit),
    ("[a-z]", 26.0, u8::is_ascii_lowercase),
    ("[A-Z]", 26.0, u8::is_ascii_uppercase),
    ("[0-9a-f]", 16.0, |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')),
    ("[0-9A-F]", 16.0, |byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F')),
    ("[A-Za-z]", 52.0, u8::is_ascii_alphabetic),
    ("[A-Za-z0-9]", 62.0, u8::is_ascii_alphanumeric),
];

/// Returns the pattern of the texts, and the number of texts that match it.
fn pattern(texts: &[Box<str>], keep_values: bool) -> Option<(Pattern, f64)> {
    let shortest = texts.iter().map(|text| text.len()).min()?;
    let longest = texts.iter().map(|text| text.len()).max()?;
    if shortest == longest {
        let (regex, values) = fixed_pattern(texts, longest, keep_values)?;
        return Some((Pattern::Fixed(regex), values));
    }
    // Tries one class for all characters, and a class of its own for the first one.
    let class = |bytes: &dyn Fn(&str) -> Vec<u8>| {
        CLASSES.iter().find(|(_, _, is_it)| texts.iter().all(|text| bytes(text).iter().all(is_it)))
    };
    let whole = class(&|text| text.as_bytes().to_vec())
        .map(|(class, values, _)| (Pattern::Classes("", class), values.powf(longest as f64)));
    let [first, rest] = [class(&|text| text.bytes().take(1).collect()), class(&|text| text.bytes().skip(1).collect())];
    let apart = first.zip(rest).filter(|_| shortest > 0).map(|((first, of_first, _), (rest, of_rest, _))| {
        (Pattern::Classes(first, rest), of_first * of_rest.powf((longest - 1) as f64))
    });
    match (whole, apart) {
        // The narrower one is more specific.
        (Some(whole), Some(apart)) if whole.1 <= apart.1 => Some(whole),
        (whole, apart) => apart.or(whole),
    }
}

/// Longest run of constant letters and digits that a pattern tells. A longer one may be a name.
pub(crate) const TOLD: usize = 3;

/// Returns the pattern of texts of one length: a character or a class at each position. Constant letters and digits
/// become classes where more than three of them stand together.
fn fixed_pattern(texts: &[Box<str>], length: usize, keep_values: bool) -> Option<(String, f64)> {
    let mut parts: Vec<(String, f64)> = Vec::new();
    let mut constants = 0..0;
    for place in 0..=length {
        let part = if place < length { Some(character(texts, place)?) } else { None };
        let is_constant = part.as_ref().is_some_and(|(part, _)| part.len() == 1 && part != " ");
        if is_constant && constants.is_empty() {
            constants = place..place;
        }
        if is_constant {
            constants.end = place + 1;
        } else {
            if constants.len() > TOLD && !keep_values {
                for place in constants.clone() {
                    parts[place] = class(texts, place)?;
                }
            }
            constants = 0..0;
        }
        parts.extend(part);
    }
    let values = parts.iter().map(|(_, values)| values).product();
    let (mut regex, mut run): (String, (String, usize)) = (String::new(), (String::new(), 0));
    for (part, _) in parts {
        if run.0 == part {
            run.1 += 1;
        } else {
            end_run(&mut regex, &run);
            run = (part, 1);
        }
    }
    end_run(&mut regex, &run);
    Some((regex, values))
}

/// Returns the part of a pattern at this place, and its number of values.
fn character(texts: &[Box<str>], place: usize) -> Option<(String, f64)> {
    let byte = |text: &str| text.as_bytes()[place];
    let first = byte(texts.first()?);
    let is_same = texts.iter().all(|text| byte(text) == first);
    if is_same && first.is_ascii_graphic() && (texts.len() >= ENOUGH || first.is_ascii_punctuation()) {
        let first = char::from(first);
        Some((if first.is_ascii_alphanumeric() { first.to_string() } else { format!("\\{first}") }, 1.0))
    } else if is_same && first == b' ' {
        Some((" ".to_owned(), 1.0))
    } else {
        class(texts, place)
    }
}

/// Returns the class of the characters at this place, and its number of values.
fn class(texts: &[Box<str>], place: usize) -> Option<(String, f64)> {
    let is_in = |is_it: &fn(&u8) -> bool| texts.iter().all(|text| is_it(&text.as_bytes()[place]));
    let (class, values, _) = CLASSES.iter().find(|(_, _, is_it)| is_in(is_it))?;
    Some(((*class).to_owned(), *values))
}

fn end_run(regex: &mut String, (part, times): &(String, usize)) {
    match times {
        0 => {}
        1 => *regex += part,
        times => *regex += &format!("{part}{{{times}}}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::Precision;
    use crate::shapes::Shapes;

    fn shape(texts: &[&str], unique: Option<u64>) -> Option<String> {
        let lengths = || texts.iter().map(|text| text.len() as u64);
        let (shortest, longest) = (lengths().min().unwrap_or(0), lengths().max().unwrap_or(0));
        // Enough texts to show common characters.
        let many: Vec<Box<str>> = (0..ENOUGH).flat_map(|_| texts.iter().map(|text| Box::from(*text))).collect();
        if let (None, Some((annotation, _))) = (unique, format(&many)) {
            return Some(annotation);
        }
        if let (None, Some(shapes)) = (unique, Shapes::of(&many, Precision::new(false))) {
            return Some(shapes.whole);
        }
        of(&many, longest, unique, |shape| shape(shortest, longest), false).map(|(generator, _)| generator)
    }

    #[test]
    fn shapes_are_told_without_the_texts() {
        for (texts, expected) in [
            (&["12ab34cd-0000-4abc-8abc-0123456789ab"][..], Some("uuid")),
            (&["a@b.de", "carl.caesar@example.org"], Some("email")),
            (&["https://a.b/c"], Some("url")),
            (&["CUS-0123", "CUS-9876"], Some("regex('CUS\\-[0-9]{4}')")),
            // A run of four letters may be a name.
            (&["CUST-0123", "CUST-9876"], Some("regex('[A-Z]{4}\\-[0-9]{4}')")),
            (&["0123", "9876"], Some("regex('[0-9]{4}')")),
            (&["1.12.3", "2.10.7"], Some("regex('[0-9]\\.[1-9][0-9]\\.[0-9]')")),
            (&["$12.34", "$99.90"], Some("regex('\\$[1-9][0-9]\\.[1-9][0-9]')")),
            (
                &["+49 30 1234567", "+44 20 79460"],
                Some(
                    "if(bool(0.5000), regex('\\+[1-9][0-9] [1-9][0-9] [1-9][0-9]{4}'), regex('\\+[1-9][0-9] [1-9][0-9] [1-9][0-9]{6}'))",
                ),
            ),
            (&["10.0.0.1", "192.168.1.254"], Some("ipv4")),
            (&["fe80::1", "2001:db8::7"], Some("ipv6")),
            (&["{\"a\":1}", "{}"], Some("json")),
            (&["e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"], Some("hex(64)")),
            (&["Anna", "Bob"], Some("regex('[A-Z][a-z]{2,3}')")),
            (&["red", "yellow"], Some("regex('[a-z]{3,6}')")),
            (&["what is it", "a text"], None),
            (&["ä1"], None),
        ] {
            assert_eq!(shape(texts, None).as_deref(), expected, "{texts:?}");
        }
        assert_eq!(
            shape(&["AB12CD34", "ZZ99XY00"], Some(1000)).as_deref(),
            Some("unique_regex('[A-Z]{2}[0-9]{2}[A-Z]{2}[0-9]{2}')")
        );
        assert_eq!(shape(&["12", "34"], Some(1000)), None);
    }
}
