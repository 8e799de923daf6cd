//! Paths of files: as many folders, numbers of as many digits, and extensions that everybody uses, under other names.

use crate::annotation_text::{by_share, quoted};
use crate::names;
use crate::text_pattern::{ENOUGH, TOLD};
use std::collections::{BTreeMap, HashSet};

/// The reason for an annotation of paths.
pub(crate) const BY_PATH: &str = "paths of files";

/// Annotations for paths.
pub(crate) struct Paths {
    /// The annotation with the share of each shape.
    pub whole: String,
    /// The generator of the most frequent shape.
    pub call: String,
    /// The pattern of a phrase of that shape.
    pub pattern: String,
    /// The extensions that may be told.
    told: HashSet<String>,
}

impl Paths {
    /// Returns the annotations for these texts, if all are paths: they begin with a slash, or have one and an extension.
    pub fn of(texts: &[Box<str>]) -> Option<Self> {
        /// Most shapes.
        const SHAPES: usize = 12;
        let known = names::values("phrase('{ext}')", 0..1000)?;
        let mut extensions: BTreeMap<&str, usize> = BTreeMap::new();
        texts.iter().for_each(|text| *extensions.entry(extension(text)).or_default() += 1);
        // One that many texts have tells no more than a pattern does.
        let is_told =
            |of: &str| known.iter().any(|known| known == of) || (of.len() <= TOLD && extensions[of] >= ENOUGH);
        let told: HashSet<String> = extensions.keys().filter(|of| is_told(of)).map(|&of| of.to_owned()).collect();
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for text in texts {
            *counts.entry(pattern(text, &told)?).or_default() += 1;
        }
        let mut shapes: Vec<(String, usize)> = counts.into_iter().collect();
        shapes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        shapes.truncate(SHAPES);
        let whole = by_share(shapes.iter().rev().map(|(pattern, count)| (*count as u64, call(pattern))));
        let (pattern, _) = shapes.into_iter().next()?;
        Some(Self { whole, call: call(&pattern), pattern, told })
    }

    /// Returns the generator of paths like this one.
    pub fn like(&self, path: &str) -> Option<String> {
        pattern(path, &self.told).map(|pattern| call(&pattern))
    }
}

fn call(pattern: &str) -> String {
    format!("phrase({})", quoted(pattern))
}

/// Returns the extension of a file; empty if it has none.
fn extension(path: &str) -> &str {
    let file = path.rsplit_once('/').map_or(path, |(_, file)| file);
    let is_extension = |of: &str| {
        of.len() <= 5
            && of.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && of.contains(|c: char| c.is_ascii_alphabetic())
    };
    file.rsplit_once('.').filter(|(stem, of)| !stem.is_empty() && is_extension(of)).map_or("", |(_, of)| of)
}

/// Returns the pattern of a phrase that looks like a path. Only extensions that may be told are in it.
fn pattern(path: &str, told: &HashSet<String>) -> Option<String> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | ' ' | '~' | '+');
    let (folders, file) = path.rsplit_once('/')?;
    let extension = extension(path);
    let is_path = (path.starts_with('/') || !extension.is_empty()) && !path.contains("//") && path.chars().all(is_part);
    if !is_path || path.len() < 2 {
        return None;
    }
    let mut pattern = String::new();
    for (place, folder) in folders.split('/').enumerate() {
        pattern += if place > 0 { "/" } else { "" };
        pattern += &name(folder, "{folder}");
    }
    pattern.push('/');
    match extension {
        "" => pattern += &name(file, "{folder}"),
        of => {
            pattern += &name(&file[..file.len() - of.len() - 1], "{noun}");
            pattern.push('.');
            pattern += if told.contains(of) { of } else { "{ext}" };
        }
    }
    Some(pattern)
}

/// Returns the pattern of a name: a word, unless it is a number, with as many digits behind it.
fn name(text: &str, word: &str) -> String {
    const MOST_DIGITS: usize = 12;
    let letters = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = (text.len() - letters.len()).min(MOST_DIGITS);
    let mut pattern = if letters.is_empty() { String::new() } else { word.to_owned() };
    for place in 0..digits {
        let is_zero = text.as_bytes()[letters.len()] == b'0';
        pattern += if place == 0 && digits > 1 && !is_zero { "{nonzero}" } else { "{digit}" };
    }
    pattern
}
