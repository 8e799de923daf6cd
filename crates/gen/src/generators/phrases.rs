//! Phrases composed of built-in lists: `phrase('{product}')` is the name of a product.
//!
//! The lists are in `data/phrases.txt`. An item may name further lists, so that they form a grammar without recursion.

use super::template::{Node, random};
use super::{Arguments, Cardinality, Generator, Kinds, Permutation, size};
use crate::random::{CellRandom, Rows};
use crate::suggest::did_you_mean;
use litepress_rows::{CellBlock, Result};
use std::collections::{BTreeMap, HashSet};
use std::sync::OnceLock;

static DATA: &str = include_str!("../../data/phrases.txt");

/// Deepest nesting of lists.
const DEEPEST: usize = 12;

/// Most different texts of `unique_phrase` before numbers are appended.
const MOST_DISTINCT: u128 = 1 << 14;

/// Digits of the longest number behind a text.
const NUMBER: usize = 20;

/// The purpose of the order of unique phrases in [`CellRandom::fork`].
const ORDER: u64 = 71;

/// Returns all lists by their names.
fn lists() -> &'static BTreeMap<&'static str, Vec<&'static str>> {
    static LISTS: OnceLock<BTreeMap<&'static str, Vec<&'static str>>> = OnceLock::new();
    LISTS.get_or_init(|| {
        let mut lists: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut name = "";
        for line in DATA.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let items = match line.strip_prefix(' ') {
                Some(more) => more,
                None => {
                    let (list, items) = line.split_once(':').expect("a list has a name");
                    name = list;
                    items
                }
            };
            let items = items.split('|').map(str::trim).filter(|item| !item.is_empty());
            lists.entry(name).or_default().extend(items);
        }
        lists
    })
}

/// Returns the names of all lists.
pub fn names() -> impl Iterator<Item = &'static str> {
    lists().keys().copied()
}

/// Returns the items of a list.
pub(crate) fn items(list: &str) -> &'static [&'static str] {
    lists().get(list).map_or(&[], Vec::as_slice)
}

/// Returns the number of texts of a list, 0 if there is no such list.
pub(crate) fn count(list: &str) -> u64 {
    list_of(list, 0).map_or(0, |node| u64::try_from(node.count()).unwrap_or(u64::MAX))
}

/// Returns a text that begins with a capital.
pub(crate) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Builds the tree of a pattern. The error is the name of a list that there is not.
fn node_of(pattern: &str, depth: usize) -> std::result::Result<Node, String> {
    let mut parts = Vec::new();
    let mut rest = pattern;
    while let Some(open) = rest.find('{') {
        let Some(close) = rest[open..].find('}').map(|close| open + close) else { break };
        if open > 0 {
            parts.push(Node::fixed(&rest[..open]));
        }
        parts.push(list_of(&rest[open + 1..close], depth)?);
        rest = &rest[close + 1..];
    }
    if !rest.is_empty() || parts.is_empty() {
        parts.push(Node::fixed(rest));
    }
    Ok(Node::sequence(parts))
}

/// Builds the tree of a list. `Noun` is the list `noun` with capitals if there is no list `Noun`.
fn list_of(name: &str, depth: usize) -> std::result::Result<Node, String> {
    let lower = || {
        name.chars()
            .next()
            .map_or_else(String::new, |first| first.to_lowercase().to_string() + &name[first.len_utf8()..])
    };
    let (items, has_capitals) = match lists().get(name) {
        Some(items) => (items, false),
        None => (lists().get(lower().as_str()).filter(|_| depth < DEEPEST).ok_or_else(|| name.to_owned())?, true),
    };
    if items.iter().all(|item| !item.contains('{')) {
        let items: Vec<String> =
            items.iter().map(|item| if has_capitals { capital(item) } else { (*item).to_owned() }).collect();
        return Ok(Node::one_of(&items));
    }
    let nodes = items.iter().map(|item| {
        let item = match item.strip_prefix('{') {
            _ if !has_capitals => (*item).to_owned(),
            Some(name) => format!("{{{}", capital(name)),
            None => capital(item),
        };
        node_of(&item, depth + 1)
    });
    Ok(Node::OneOf(nodes.collect::<std::result::Result<_, _>>()?))
}

fn pattern(arguments: &Arguments<'_>) -> Result<Node> {
    let text = arguments.text("pattern")?;
    node_of(&text, 0).map_err(|name| {
        let near = did_you_mean(&name, names());
        arguments.error_at("pattern", format!("there is no list '{name}'{near}"))
    })
}

/// Phrases that are cut after a whole word.
#[derive(Debug)]
struct Cut {
    node: Node,
    max: usize,
}

/// Builds `phrase(pattern, max)`.
pub(super) fn phrase(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let node = pattern(arguments)?;
    if !arguments.is_given("max") {
        return Ok(random(node));
    }
    let max = size(arguments.int_within("max", 1, 1_000_000)?);
    if node.longest() <= max as u64 {
        return Ok(random(node));
    }
    match node.shorter(max) {
        Some(shorter) => Ok(random(shorter)),
        None => Ok(Box::new(Cut { node, max })),
    }
}

/// Removes words from the end until the text has `max` characters at most; a first word that is longer is cut.
pub(crate) fn cut_words(text: &mut Vec<u8>, start: usize, max: usize) {
    let is_start = |byte: u8| byte & 0xC0 != 0x80;
    let mut starts = (start..text.len()).filter(|&at| is_start(text[at]));
    let Some(end) = starts.nth(max) else { return };
    let whole = if text[end] == b' ' { end } else { (start..end).rev().find(|&at| text[at] == b' ').unwrap_or(end) };
    text.truncate(whole);
    while text.len() > start && matches!(text[text.len() - 1], b',' | b'&' | b' ' | b'-') {
        text.pop();
    }
}

impl Generator for Cut {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let texts = out.texts();
        let mut text = Vec::new();
        rows.for_each(|row| {
            text.clear();
            self.node.write_random(random.stream(row), &mut text);
            cut_words(&mut text, 0, self.max);
            texts.push(&text);
        });
    }

    fn kinds(&self) -> Kinds {
        Kinds::TEXT
    }

    fn longest_bytes(&self) -> u64 {
        self.node.longest()
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Among { values: u64::try_from(self.node.count()).unwrap_or(u64::MAX) }
    }
}

/// Phrases that differ in every row, or in every n-th one: each text once, then each with a 2 behind it, then a 3.
#[derive(Debug)]
struct UniquePhrase {
    texts: Vec<Box<[u8]>>,
    /// Bytes of the longest text with its number.
    longest: usize,
    separator: String,
    /// Rows that are a multiple of this apart have different texts.
    each: u64,
}

/// Returns the wanted number of texts of a tree, or all, with an equal share of each pattern as far as it has enough.
fn spread(node: &Node, wanted: u128) -> Vec<Vec<u8>> {
    let patterns = match node {
        Node::OneOf(nodes) => nodes.as_slice(),
        node => std::slice::from_ref(node),
    };
    let mut counts: Vec<u128> = patterns.iter().map(Node::count).collect();
    counts.sort_unstable();
    let (mut left, mut most) = (wanted, 0);
    for (at, count) in counts.into_iter().enumerate() {
        most = count.min(left / (patterns.len() - at) as u128);
        left -= most;
    }
    let texts = patterns.iter().flat_map(|node| {
        let (count, own) = (node.count(), node.count().min(most));
        // Evenly over the texts of the pattern, of which there may be more.
        (0..own).map(move |number| {
            let mut text = Vec::new();
            node.write_number(count / own * number, &mut text);
            text
        })
    });
    texts.collect()
}

/// Builds `unique_phrase(pattern, separator, each)`.
pub(super) fn unique_phrase(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let (texts, longest) = distinct_texts(&pattern(arguments)?);
    let each = arguments.int_within("each", 1, 1 << 32)?;
    let separator = arguments.text("separator")?;
    Ok(Box::new(UniquePhrase { texts, longest: longest + separator.len() + NUMBER, separator, each }))
}

/// Builds the phrases of `distinct` for a number of rows.
pub(super) fn distinct_phrases(node: &Node, rows: u64) -> Box<dyn Generator> {
    let (texts, longest) = distinct_texts(node);
    let separator = " ".to_owned();
    let more = if rows > texts.len() as u64 { separator.len() + NUMBER } else { 0 };
    Box::new(UniquePhrase { texts, longest: longest + more, separator, each: 1 })
}

/// Returns different texts of a tree, and the bytes of the longest one.
fn distinct_texts(node: &Node) -> (Vec<Box<[u8]>>, usize) {
    let mut seen = HashSet::new();
    // SQLite's NOCASE and lower() know ASCII only, but others may not.
    let is_new = |text: &Vec<u8>| seen.insert(String::from_utf8_lossy(text).to_lowercase());
    let texts = spread(node, MOST_DISTINCT).into_iter().filter(is_new);
    let texts: Vec<Box<[u8]>> = texts.map(Vec::into_boxed_slice).collect();
    let longest = texts.iter().map(|text| text.len()).max().unwrap_or(0);
    (texts, longest)
}

impl Generator for UniquePhrase {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let count = self.texts.len() as u64;
        let mut places = Vec::with_capacity(rows.len());
        // Rows beside one another have other texts, too, as long as there are any.
        rows.append_to(&mut places, |row| (row / self.each + row % self.each) % count);
        Permutation::new(count, &random.fork(ORDER)).apply(&mut places);
        let texts = out.texts();
        let mut text = Vec::new();
        rows.zip(places.into_iter(), |row, place| {
            text.clear();
            text.extend_from_slice(&self.texts[size(place)]);
            let round = row / self.each / count;
            if round > 0 {
                text.extend_from_slice(self.separator.as_bytes());
                text.extend_from_slice((round + 1).to_string().as_bytes());
            }
            texts.push(&text);
        });
    }

    fn kinds(&self) -> Kinds {
        Kinds::TEXT
    }

    fn longest_bytes(&self) -> u64 {
        self.longest as u64
    }

    fn cardinality(&self) -> Cardinality {
        if self.each == 1 { Cardinality::Unique { rows: u64::MAX } } else { Cardinality::Among { values: u64::MAX } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::catalogue::build_text;
    use litepress_format::value::Value;

    fn texts(annotation: &str, rows: u64) -> Vec<String> {
        let generator = build_text(annotation, "test").expect(annotation);
        let mut block = CellBlock::default();
        let mut texts = Vec::new();
        for start in (0..rows).step_by(1000) {
            let end = rows.min(start + 1000);
            generator.fill(&CellRandom::new(1, "t", "c"), &(start..end).into(), &mut block);
            for row in 0..size(end - start) {
                let Value::Text(text) = block.value(row) else { panic!("{annotation} is no text") };
                assert!(text.len() as u64 <= generator.longest_bytes(), "{annotation}");
                texts.push(String::from_utf8(text.to_vec()).expect("UTF-8"));
            }
        }
        texts
    }

    #[test]
    fn every_list_is_whole() {
        for name in names() {
            let items: HashSet<&str> = lists()[name].iter().copied().collect();
            assert!(items.len() == lists()[name].len() || ["browser", "os"].contains(&name), "{name}");
            let node = list_of(name, 0).unwrap_or_else(|missing| panic!("{name} names {missing}"));
            assert!(node.longest() > 0);
            for text in texts(&format!("phrase('{{{name}}}')"), 50) {
                assert!(!text.is_empty() && !text.contains(['{', '}', '|']) && text.trim() == text, "{name}: {text}");
            }
        }
    }

    /// Films were about "a explorer" and "A empty pilot".
    #[test]
    fn articles_suit_the_words_after_them() {
        for name in names() {
            for text in texts(&format!("phrase('{{{name}}}')"), 400) {
                for pair in text.to_lowercase().split(' ').collect::<Vec<_>>().windows(2) {
                    let is_vowel = pair[1].starts_with(['a', 'e', 'i', 'o']) || pair[1].starts_with("honest");
                    assert!(pair[0] != "a" || !is_vowel, "{name}: {text}");
                    assert!(pair[0] != "an" || is_vowel || pair[1].starts_with('u'), "{name}: {text}");
                }
            }
        }
    }

    /// A number behind a text must not make it another text of the list.
    #[test]
    fn unique_phrases_are_unique() {
        for (name, separator) in
            [("category", " "), ("product", " "), ("handle", ""), ("person", " "), ("slug", "-"), ("vehicle", " ")]
        {
            let texts = texts(&format!("unique_phrase('{{{name}}}', '{separator}')"), 40_000);
            assert_eq!(texts.iter().collect::<HashSet<_>>().len(), texts.len(), "{name}");
        }
        assert!(
            texts("unique_phrase('{category}')", 40).iter().all(|text| !text.contains(|c: char| c.is_ascii_digit()))
        );
    }

    /// All articles were interviews, and all organizations were called "Khan, Kaya and Gray".
    #[test]
    fn unique_phrases_are_of_all_patterns() {
        let titles = texts("unique_phrase('{article_title}')", 5000);
        assert!((100..1500).contains(&titles.iter().filter(|title| title.starts_with("An Interview")).count()));
        let firms = texts("unique_phrase('{company}')", 5000);
        assert!((1000..4000).contains(&firms.iter().filter(|name| name.contains(" and ")).count()));
    }

    #[test]
    fn texts_end_with_whole_words() {
        for text in texts("phrase('{paragraph}', 30)", 1000) {
            assert!(text.chars().count() <= 30 && !text.ends_with([' ', ',']), "{text}");
        }
        let mut short = "ab cdef".as_bytes().to_vec();
        cut_words(&mut short, 0, 5);
        assert_eq!(short, b"ab");
        let mut long = "äöüß".as_bytes().to_vec();
        cut_words(&mut long, 0, 3);
        assert_eq!(long, "äöü".as_bytes());
    }

    #[test]
    fn golden_phrases() {
        let first = |annotation: &str| texts(annotation, 1).remove(0);
        assert_eq!(
            ["phrase('{product}')", "phrase('A {noun} of {city_name}')", "unique_phrase('{category}')"].map(first),
            ["Cedar & Stone Serving Tray", "A path of Milan", "Cycling"]
        );
    }

    #[test]
    fn unknown_lists_are_suggested() {
        let error = build_text("phrase('{prodct}')", "test").expect_err("no such list");
        assert!(error.message().contains("there is no list 'prodct', did you mean 'product'?"), "{error}");
    }
}
