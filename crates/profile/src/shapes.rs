//! Shapes of texts of digits and signs, such as phone numbers, versions and prices. Letters are rare in them, and become others.

use crate::annotation_text::quoted;
use crate::histogram::{Precision, whole_histogram};
use std::collections::BTreeMap;

/// The reason for an annotation of shapes.
pub(crate) const BY_SHAPE: &str = "digits and signs in these places";

/// Annotations for texts of a few shapes.
pub(crate) struct Shapes {
    /// The annotation with the share of each shape.
    pub whole: String,
    /// One generator of all shapes, about in their shares; `None` if some texts are empty, which a pool would not keep in their share.
    pub call: Option<String>,
}

/// A shape: 0 stands for a digit, a for a small and A for a capital letter.
struct Shape {
    mask: String,
    count: u64,
    /// Whether a number of several digits begins with 0, for each number in the shape.
    has_zero: Vec<bool>,
}

/// Returns the annotations for texts of digits and signs: regular expressions for the most frequent shapes.
pub(crate) fn of(texts: &[Box<str>], precision: Precision) -> Option<Shapes> {
    let shapes = shapes(texts)?;
    let mut left: u64 = shapes.iter().map(|shape| shape.count).sum();
    let all = left;
    let mut parts: Vec<(f64, String)> = Vec::new();
    let mut alternatives: Vec<String> = Vec::new();
    for shape in &shapes {
        /// Alternatives of all shapes together: each has as many as its share of the texts, and one at least.
        const ALTERNATIVES: u64 = 10;
        let regex = shape.regex();
        let times = if shapes.len() > 1 { (ALTERNATIVES * shape.count + all / 2) / all } else { 1 };
        alternatives.extend((0..times.max(1)).map(|_| regex.clone()));
        let text = if regex.is_empty() { "''".to_owned() } else { format!("regex({})", quoted(&regex)) };
        parts.push((shape.count as f64 / left as f64, text));
        left -= shape.count;
    }
    let (_, mut whole) = parts.pop()?;
    let has_empty = shapes.iter().any(|shape| shape.mask.is_empty());
    let call = (!has_empty).then(|| format!("regex({})", quoted(&alternatives.join("|"))));
    for (share, regex) in parts.into_iter().rev() {
        whole = format!("if(bool({share:.4}), {regex}, {whole})");
    }
    Some(Shapes { whole: whole_numbers(texts, precision).unwrap_or(whole), call })
}

/// Returns the shapes of texts of digits and signs, the most frequent first. Rare ones are left out.
fn shapes(texts: &[Box<str>]) -> Option<Vec<Shape>> {
    /// Most shapes, and the least share of the texts that have one of them.
    const SHAPES: usize = 12;
    const SHARE: f64 = 0.6;
    const LONGEST: usize = 40;
    const LETTERS: usize = 2;
    let mut found: BTreeMap<String, (u64, Vec<bool>)> = BTreeMap::new();
    for text in texts {
        let is_plain = text.len() <= LONGEST && text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
        let letters = text.split(|c: char| !c.is_ascii_alphabetic()).map(str::len).max().unwrap_or(0);
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        if !is_plain || letters > LETTERS || 3 * digits < text.len() {
            return None;
        }
        let numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty());
        let zeros = numbers.map(|number| number.len() > 1 && number.starts_with('0'));
        let shape = found.entry(text.chars().map(mask).collect()).or_default();
        shape.0 += 1;
        shape.1.resize(text.len(), false);
        shape.1.iter_mut().zip(zeros).for_each(|(has_zero, zero)| *has_zero |= zero);
    }
    let shape = |(mask, (count, has_zero))| Shape { mask, count, has_zero };
    let mut shapes: Vec<Shape> = found.into_iter().map(shape).collect();
    shapes.sort_by_key(|shape| std::cmp::Reverse(shape.count));
    let all: u64 = shapes.iter().map(|shape| shape.count).sum();
    shapes.truncate(SHAPES);
    let told: u64 = shapes.iter().map(|shape| shape.count).sum();
    let is_filled = shapes.iter().any(|shape| !shape.mask.is_empty());
    (is_filled && told as f64 >= SHARE * all as f64).then_some(shapes)
}

fn mask(character: char) -> char {
    match character {
        c if c.is_ascii_digit() => '0',
        c if c.is_ascii_lowercase() => 'a',
        c if c.is_ascii_uppercase() => 'A',
        c => c,
    }
}

impl Shape {
    fn regex(&self) -> String {
        let mut regex = String::new();
        let mut has_zero = self.has_zero.iter();
        let characters: Vec<char> = self.mask.chars().collect();
        for run in characters.chunk_by(|one, next| one == next) {
            let mut length = run.len();
            let class = match run[0] {
                '0' => {
                    if has_zero.next() == Some(&false) && length > 1 {
                        regex += "[1-9]";
                        length -= 1;
                    }
                    "[0-9]".to_owned()
                }
                'a' => "[a-z]".to_owned(),
                'A' => "[A-Z]".to_owned(),
                ' ' => " ".to_owned(),
                sign => format!("\\{sign}"),
            };
            regex += &class;
            if length > 1 {
                regex += &format!("{{{length}}}");
            }
        }
        regex
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
