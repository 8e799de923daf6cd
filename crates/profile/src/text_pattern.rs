//! Patterns of texts, described without the texts.

use crate::annotation_text::quoted;

/// Makes up distinct names of the same lengths, at most 32 characters.
pub(crate) fn made_up<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<String> {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const LONGEST: usize = 32;
    let letter = |number: usize| char::from(LETTERS[number % LETTERS.len()]);
    let mut of_length = [0_usize; LONGEST + 1];
    let name = |text: &str| {
        let length = text.chars().count().min(LONGEST);
        let number = of_length[length];
        of_length[length] += 1;
        // One letter repeated; after all letters, another one before it. There is one empty text, and a text that is
        // too short to be distinct becomes longer.
        let rounds = number / LETTERS.len();
        let rest =
            std::iter::repeat_n(letter(number), length.saturating_sub(usize::from(rounds > 0)).max(length.min(1)));
        (rounds > 0).then(|| letter(rounds - 1)).into_iter().chain(rest).collect()
    };
    texts.map(name).collect()
}

/// Least number of texts that can show a common character.
const ENOUGH: usize = 50;
/// Longest text that can have a pattern.
const LONGEST: u64 = 40;

/// Returns the annotation for texts that look like these, with a reason. `unique` is the number of texts if all
/// differ. `lengths` combines annotations for ranges of lengths. `None` if the texts have no pattern.
pub(crate) fn of(
    texts: &[Box<str>],
    longest: u64,
    unique: Option<u64>,
    lengths: impl Fn(&dyn Fn(u64, u64) -> String) -> String,
) -> Option<(String, &'static str)> {
    let all = |is_it: fn(&str) -> bool| !texts.is_empty() && texts.iter().all(|text| is_it(text));
    let plain = |generator: &str, because| Some((generator.to_owned(), because));
    if all(is_uuid) {
        return plain("uuid", "they look like UUIDs");
    }
    if all(is_email) {
        const HOST: &str = "@example.com";
        let address = |shortest: u64, longest: u64| {
            let name = |length: u64| length.saturating_sub(HOST.len() as u64).max(1);
            format!("regex('[a-z]{{{},{}}}{HOST}')", name(shortest), name(longest)).replace('.', "\\.")
        };
        let generator = if unique.is_some() { "email".to_owned() } else { lengths(&address) };
        return Some((generator, "they look like e-mail addresses"));
    }
    if unique.is_none() && all(|text| text.starts_with("http://") || text.starts_with("https://")) {
        return plain("url", "they look like web addresses");
    }
    if longest > LONGEST || longest == 0 {
        return None;
    }
    let (pattern, values) = pattern(texts)?;
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
fn pattern(texts: &[Box<str>]) -> Option<(Pattern, f64)> {
    let shortest = texts.iter().map(|text| text.len()).min()?;
    let longest = texts.iter().map(|text| text.len()).max()?;
    if shortest == longest {
        let (regex, values) = fixed_pattern(texts, longest)?;
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

/// Returns the pattern of texts of one length: a character or a class at each position.
fn fixed_pattern(texts: &[Box<str>], length: usize) -> Option<(String, f64)> {
    let (mut regex, mut values) = (String::new(), 1.0);
    let mut run: (String, usize) = (String::new(), 0);
    for place in 0..length {
        let byte = |text: &str| text.as_bytes()[place];
        let first = byte(texts.first()?);
        let is_same = texts.iter().all(|text| byte(text) == first);
        let part = if is_same && first.is_ascii_graphic() && (texts.len() >= ENOUGH || first.is_ascii_punctuation()) {
            let first = char::from(first);
            if first.is_ascii_alphanumeric() { first.to_string() } else { format!("\\{first}") }
        } else if is_same && first == b' ' {
            " ".to_owned()
        } else {
            let (class, of_class, _) =
                CLASSES.iter().find(|(_, _, is_it)| texts.iter().all(|text| is_it(&byte(text))))?;
            values *= of_class;
            (*class).to_owned()
        };
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

    fn shape(texts: &[&str], unique: Option<u64>) -> Option<String> {
        let lengths = || texts.iter().map(|text| text.len() as u64);
        let (shortest, longest) = (lengths().min().unwrap_or(0), lengths().max().unwrap_or(0));
        // Enough texts to show common characters.
        let many: Vec<Box<str>> = (0..ENOUGH).flat_map(|_| texts.iter().map(|text| Box::from(*text))).collect();
        of(&many, longest, unique, |shape| shape(shortest, longest)).map(|(generator, _)| generator)
    }

    #[test]
    fn shapes_are_told_without_the_texts() {
        for (texts, expected) in [
            (&["12ab34cd-0000-4abc-8abc-0123456789ab"][..], Some("uuid")),
            (&["a@b.de", "carl.caesar@example.org"], Some("regex('[a-z]{1,11}@example\\.com')")),
            (&["https://a.b/c"], Some("url")),
            (&["CUST-0123", "CUST-9876"], Some("regex('CUST\\-[0-9]{4}')")),
            (&["0123", "9876"], Some("regex('[0-9]{4}')")),
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

    #[test]
    fn made_up_names_are_as_long_and_different() {
        assert_eq!(made_up(["new", "old", "", "x", "two"].into_iter()), ["aaa", "bbb", "", "a", "ccc"]);
        let texts: Vec<String> = (0..300).map(|number| (number % 10).to_string()).collect();
        let names: std::collections::HashSet<String> = made_up(texts.iter().map(String::as_str)).into_iter().collect();
        assert!(names.len() == 300 && names.iter().all(|name| name.len() <= 2));
    }
}
