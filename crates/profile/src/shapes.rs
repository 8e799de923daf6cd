//! Shapes of texts of digits and signs, such as phone numbers, versions and prices. Letters are rare in them, and become others.

use crate::annotation_text::{by_share, quoted};
use crate::histogram::{IN_A_BIN, Precision, whole_histogram};
use crate::text_pattern::ENOUGH;
use std::collections::{BTreeMap, BTreeSet};

/// The reason for an annotation of shapes.
pub(crate) const BY_SHAPE: &str = "digits and signs in these places";

/// Annotations for texts of a few shapes.
pub(crate) struct Shapes {
    /// The annotation with the share of each shape.
    pub whole: String,
    /// One generator of all shapes, about in their shares; `None` if some texts are empty, which a pool would not keep in their share.
    pub call: Option<String>,
    /// The generator of each shape.
    by_mask: BTreeMap<String, String>,
}

/// A shape: 0 stands for a digit, a for a small and A for a capital letter.
struct Shape {
    mask: String,
    count: u64,
    /// Different texts of it, five at most.
    different: BTreeSet<Box<str>>,
    /// The least and the largest character at each place.
    characters: Vec<(char, char)>,
}

impl Shapes {
    /// Returns the annotations for texts of digits and signs: regular expressions for the most frequent shapes.
    pub fn of(texts: &[Box<str>], precision: Precision) -> Option<Self> {
        /// Alternatives of all shapes together: each has as many as its share of the texts, and one at least.
        const ALTERNATIVES: u64 = 10;
        let shapes = shapes(texts)?;
        let all: u64 = shapes.iter().map(|shape| shape.count).sum();
        let (mut parts, mut by_mask, mut alternatives) = (Vec::new(), BTreeMap::new(), Vec::new());
        for shape in shapes.iter().rev() {
            let regex = shape.regex();
            let call = format!("regex({})", quoted(&regex));
            parts.push((shape.count, if regex.is_empty() { "''".to_owned() } else { call.clone() }));
            let times = if shapes.len() > 1 { (ALTERNATIVES * shape.count + all / 2) / all } else { 1 };
            alternatives.extend((0..times.max(1)).map(|_| regex.clone()));
            by_mask.insert(shape.mask.clone(), call);
        }
        let has_empty = by_mask.contains_key("");
        let call = (!has_empty).then(|| format!("regex({})", quoted(&alternatives.join("|"))));
        Some(Self { whole: whole_numbers(texts, precision).unwrap_or_else(|| by_share(parts)), call, by_mask })
    }

    /// Returns the generator of texts of the shape of this one, if that is one of the frequent ones.
    pub fn like(&self, text: &str) -> Option<String> {
        self.by_mask.get(&mask(text)).cloned()
    }
}

/// Returns the shapes of texts of digits and signs, the most frequent first. Rare ones are left out.
fn shapes(texts: &[Box<str>]) -> Option<Vec<Shape>> {
    /// Most shapes, and the least share of the texts that have one of them.
    const SHAPES: usize = 12;
    const SHARE: f64 = 0.6;
    const LONGEST: usize = 40;
    const LETTERS: usize = 2;
    let mut found: BTreeMap<String, Shape> = BTreeMap::new();
    for text in texts {
        let is_plain = |c: char| c.is_ascii_graphic() || c == ' ' || !(c.is_ascii() || c.is_alphanumeric());
        let length = text.chars().count();
        let letters = text.split(|c: char| !c.is_ascii_alphabetic()).map(str::len).max().unwrap_or(0);
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        if length > LONGEST || !text.chars().all(is_plain) || letters > LETTERS || 3 * digits < length {
            return None;
        }
        let mask = mask(text);
        let shape = || Shape {
            mask: mask.clone(),
            count: 0,
            different: BTreeSet::new(),
            characters: text.chars().map(|c| (c, c)).collect(),
        };
        let shape = found.entry(mask.clone()).or_insert_with(shape);
        shape.count += 1;
        if shape.different.len() < IN_A_BIN {
            shape.different.insert(text.clone());
        }
        for (ends, c) in shape.characters.iter_mut().zip(text.chars()) {
            *ends = (ends.0.min(c), ends.1.max(c));
        }
    }
    let mut shapes: Vec<Shape> = found.into_values().collect();
    shapes.sort_by_key(|shape| std::cmp::Reverse(shape.count));
    let all: u64 = shapes.iter().map(|shape| shape.count).sum();
    shapes.truncate(SHAPES);
    let told: u64 = shapes.iter().map(|shape| shape.count).sum();
    let is_filled = shapes.iter().any(|shape| !shape.mask.is_empty());
    (is_filled && told as f64 >= SHARE * all as f64).then_some(shapes)
}

fn mask(text: &str) -> String {
    let class = |c: char| match c {
        c if c.is_ascii_digit() => '0',
        c if c.is_ascii_lowercase() => 'a',
        c if c.is_ascii_uppercase() => 'A',
        c => c,
    };
    text.chars().map(class).collect()
}

impl Shape {
    /// Returns the regular expression. Fifty texts tell letters that all have. If five are different, they tell the first digits of
    /// their numbers, too.
    fn regex(&self) -> String {
        let are_many = self.count >= ENOUGH as u64;
        let is_told = are_many && self.different.len() == IN_A_BIN;
        let mut parts: Vec<String> = Vec::new();
        let mut before = ' ';
        for (class, &(least, largest)) in self.mask.chars().zip(&self.characters) {
            let is_first = before != '0';
            let is_single = self.mask.chars().nth(parts.len() + 1) != Some('0');
            parts.push(match class {
                '0' if is_first && is_told && least == largest => least.to_string(),
                '0' if is_first && is_told => format!("[{least}-{largest}]"),
                '0' if is_first && !is_single && least > '0' => "[1-9]".to_owned(),
                '0' => "[0-9]".to_owned(),
                'a' | 'A' if are_many && least == largest => least.to_string(),
                'a' => "[a-z]".to_owned(),
                'A' => "[A-Z]".to_owned(),
                sign if sign.is_ascii_punctuation() => format!("\\{sign}"),
                sign => sign.to_string(),
            });
            before = class;
        }
        let runs = parts.chunk_by(|one, next| one == next);
        runs.map(|run| if run.len() > 1 { format!("{}{{{}}}", run[0], run.len()) } else { run[0].clone() }).collect()
    }
}

/// Describes texts that are whole numbers of a few digits.
fn whole_numbers(texts: &[Box<str>], precision: Precision) -> Option<String> {
    const DIGITS: usize = 6;
    let number = |text: &str| {
        let number: i64 = text.parse().ok().filter(|_| text.len() <= DIGITS)?;
        (number.to_string() == text).then_some(number)
    };
    let numbers: Vec<i64> = texts.iter().map(|text| number(text)).collect::<Option<_>>()?;
    let (least, largest) = (*numbers.iter().min()?, *numbers.iter().max()?);
    let numbers = numbers.iter().map(|number| *number as f64).collect();
    Some(format!("({}) || ''", whole_histogram(numbers, least, largest, precision).0))
}
