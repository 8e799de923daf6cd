//! Texts in base64: letters, digits and two signs without an order.

use crate::annotation_text::quoted;
use std::collections::BTreeSet;

/// The reason for an annotation of such texts.
pub(crate) const BY_ALPHABET: &str = "they look like base64";

/// The form of texts in base64.
pub(crate) struct Base64 {
    /// The class of its characters.
    class: &'static str,
    /// Numbers of `=` at the ends of padded texts; empty if none is padded.
    padding: BTreeSet<usize>,
    /// The most frequent length of the characters before the padding, and that of the padding.
    usual: (usize, usize),
}

impl Base64 {
    /// Returns the form of these texts, if they are in base64. Texts may be cut at a multiple of four characters.
    pub fn of(texts: &[Box<str>]) -> Option<Self> {
        /// Least length of a text, and least number of characters that show that they are random.
        const SHORTEST: usize = 8;
        const ENOUGH: f64 = 64.0;
        /// Share of the texts beyond which a hyphen or underscore separates parts.
        const OFTEN: f64 = 0.95;
        let with_sign = texts.iter().filter(|text| text.contains(['-', '_'])).count();
        let (mut counts, mut signs, mut padding) = ([0.0_f64; 4], BTreeSet::new(), BTreeSet::new());
        let mut lengths: Vec<(usize, usize)> = Vec::new();
        for text in texts {
            let body = text.trim_end_matches('=');
            for character in body.bytes() {
                counts[match character {
                    b'A'..=b'Z' => 0,
                    b'a'..=b'z' => 1,
                    b'0'..=b'9' => 2,
                    b'+' | b'/' | b'-' | b'_' => 3,
                    _ => return None,
                }] += 1.0;
            }
            signs.extend(body.bytes().filter(u8::is_ascii_punctuation));
            let equal_signs = text.len() - body.len();
            padding.insert(equal_signs);
            lengths.push((body.len(), equal_signs));
        }
        let sum: f64 = counts.iter().sum();
        let is_share = |at: usize, least: f64, most: f64| (least..=most).contains(&(counts[at] / sum));
        let is_random =
            is_share(0, 0.25, 0.6) && is_share(1, 0.25, 0.6) && is_share(2, 0.05, 0.3) && is_share(3, 0.0, 0.1);
        let is_for_addresses = signs.contains(&b'-') || signs.contains(&b'_');
        let is_mixed = is_for_addresses && (signs.contains(&b'+') || signs.contains(&b'/'));
        let is_padded = padding.iter().any(|equal_signs| *equal_signs > 0);
        let is_whole = |(body, equal_signs): &(usize, usize)| *equal_signs <= 2 && (body + equal_signs) % 4 == 0;
        if sum < ENOUGH
            || texts.iter().any(|text| text.len() < SHORTEST)
            || !is_random
            || is_mixed
            || with_sign as f64 > OFTEN * texts.len() as f64
            || (signs.is_empty() && !is_padded)
            || (is_padded && !lengths.iter().all(is_whole))
        {
            return None;
        }
        lengths.sort_unstable();
        let usual = lengths.chunk_by(|one, other| one == other).max_by_key(|alike| alike.len())?[0];
        let class = if is_for_addresses { "[A-Za-z0-9_\\-]" } else { "[A-Za-z0-9+/]" };
        Some(Self { class, padding: if is_padded { padding } else { BTreeSet::new() }, usual })
    }

    /// Returns the generator of texts of these lengths.
    pub fn generator(&self, shortest: u64, longest: u64) -> String {
        let class = self.class;
        if self.padding.is_empty() {
            return format!("regex({})", quoted(&format!("{class}{}", times(shortest, longest))));
        }
        // The last four characters hold the padding.
        let least = shortest.div_ceil(4).max(1) - 1;
        let most = (longest / 4).saturating_sub(1).max(least);
        let ends: Vec<String> = self.padding.iter().map(|&padding| self.end(4 - padding, padding)).collect();
        format!("regex({})", quoted(&format!("({class}{{4}}){}({})", times(least, most), ends.join("|"))))
    }

    /// Returns the regular expression of this many characters and their padding. The bits that the padding cuts off are 0.
    fn end(&self, characters: usize, padding: usize) -> String {
        let last = match padding {
            0 => return format!("{}{{{characters}}}", self.class),
            1 => "[AEIMQUYcgkosw048]",
            _ => "[AQgw]",
        };
        format!("{}{{{}}}{last}{}", self.class, characters - 1, "=".repeat(padding))
    }

    /// Returns the generator of texts that all differ, of the most frequent length.
    pub fn unique_generator(&self) -> String {
        let (body, padding) = self.usual;
        format!("unique_regex({})", quoted(&self.end(body, padding)))
    }
}

/// Returns the repetition of a regular expression.
fn times(least: u64, most: u64) -> String {
    if least == most { format!("{{{least}}}") } else { format!("{{{least},{most}}}") }
}
