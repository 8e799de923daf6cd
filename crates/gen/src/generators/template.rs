//! Texts composed of list entries: patterns, regular expressions, names, addresses.
//!
//! A text is a tree of [`Node`]s whose leaves are lists of byte strings. Neighbours with few combinations are fused
//! into one list of all of them ([`Node::sequence`]): `[A-Z]{3}-[0-9]{4}` is three picks and not eight. A random cell
//! takes its picks from its random words. A unique cell takes them as the digits of a number, which is different in
//! every row ([`Node::write_number`]).

mod text_traits;

use super::phrases::distinct_phrases;
use super::shuffle::shuffled;
use super::{Arguments, Cardinality, Generator, Kinds, size};
use crate::random::{CellRandom, CellStream, Fraction, Rows};
use litepress_rows::{CellBlock, Error, Result};
use text_traits::TextTraits;

/// Limits of fused lists: number of texts, and bytes of a text.
const MOST_FUSED: usize = 1 << 12;
const BLOCK: usize = 16;

/// Bits of a word that are never drawn, so that picks are uniform.
const RESERVE: u32 = 32;

/// A tree that describes texts.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// One of these texts.
    List(List),
    /// Texts in sequence.
    Sequence(Vec<Node>),
    /// One of these trees.
    OneOf(Vec<Node>),
    /// A tree, `min` to `max` times.
    Repeat { node: Box<Node>, min: u64, max: u64 },
}

/// A list of texts.
#[derive(Clone, Debug)]
pub(super) struct List {
    /// All texts, and [`BLOCK`] further bytes, because a short text is copied as a block.
    bytes: Vec<u8>,
    /// Start and length of each text, unless all have one length.
    spans: Vec<(u32, u32)>,
    fixed_len: Option<usize>,
    count: usize,
}

/// The random bits of a cell, drawn one pick at a time.
struct PickBits {
    stream: CellStream,
    fraction: Fraction,
    left: u32,
}

impl PickBits {
    #[inline(always)]
    fn new(mut stream: CellStream) -> Self {
        let fraction = Fraction(stream.u64());
        Self { stream, fraction, left: u64::BITS }
    }

    /// Takes a number in `0..n`, `n` below 2^32.
    #[inline(always)]
    fn take(&mut self, n: u64) -> u64 {
        let bits = u64::BITS - n.leading_zeros();
        if self.left < bits + RESERVE {
            (self.fraction, self.left) = (Fraction(self.stream.u64()), u64::BITS);
        }
        self.left -= bits;
        self.fraction.take(n)
    }
}

impl List {
    pub fn new<T: AsRef<[u8]>>(texts: &[T]) -> Self {
        let mut lens = texts.iter().map(|text| text.as_ref().len());
        let first = lens.next().unwrap_or(0);
        let fixed_len = lens.all(|len| len == first).then_some(first);
        let mut list = Self { bytes: Vec::new(), spans: Vec::new(), fixed_len, count: texts.len() };
        for text in texts.iter().map(AsRef::as_ref) {
            let at = |len: usize| u32::try_from(len).expect("lists are below 4 GiB");
            if fixed_len.is_none() {
                list.spans.push((at(list.bytes.len()), at(text.len())));
            }
            list.bytes.extend_from_slice(text);
        }
        list.bytes.extend_from_slice(&[0; BLOCK]);
        list
    }

    /// Returns start and length of a text.
    #[inline(always)]
    fn span(&self, index: usize) -> (usize, usize) {
        match self.fixed_len {
            Some(len) => (index * len, len),
            None => {
                let (start, len) = self.spans[index];
                (start as usize, len as usize)
            }
        }
    }

    fn texts(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.count).map(|index| self.span(index)).map(|(start, len)| &self.bytes[start..start + len])
    }

    #[inline(always)]
    fn write(&self, index: u64, out: &mut Vec<u8>) {
        let (start, len) = self.span(size(index));
        if len <= BLOCK {
            let at = out.len();
            out.extend_from_slice(&self.bytes[start..start + BLOCK]);
            out.truncate(at + len);
        } else {
            out.extend_from_slice(&self.bytes[start..start + len]);
        }
    }

    fn longest(&self) -> usize {
        self.texts().map(<[u8]>::len).max().unwrap_or(0)
    }

    /// Returns every text of this list followed by every one of `other`, unless that is a long list.
    fn fused(&self, other: &Self) -> Option<Self> {
        let fits = self.count * other.count <= MOST_FUSED && self.longest() + other.longest() <= BLOCK;
        let texts = || self.texts().flat_map(|one| other.texts().map(move |other| [one, other].concat()));
        fits.then(|| Self::new(&texts().collect::<Vec<_>>()))
    }
}

impl Node {
    /// Makes the tree of one text.
    pub fn fixed(text: &str) -> Self {
        Self::one_of(&[text])
    }

    /// Makes the tree of a choice of texts.
    pub fn one_of<T: AsRef<[u8]>>(texts: &[T]) -> Self {
        Self::List(List::new(texts))
    }

    /// Makes the tree of `len` digits.
    pub fn digits(len: u64) -> Self {
        Self::sequence((0..len).map(|_| Self::one_of(&["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"])).collect())
    }

    /// Makes the tree of a sequence; short lists in it are fused.
    pub fn sequence(nodes: Vec<Self>) -> Self {
        let mut fused: Vec<Self> = Vec::new();
        let mut add = |node: Self| match (fused.last_mut(), node) {
            (Some(Self::List(last)), Self::List(next)) => match last.fused(&next) {
                Some(both) => *last = both,
                None => fused.push(Self::List(next)),
            },
            (_, node) => fused.push(node),
        };
        for node in nodes {
            match node {
                Self::Sequence(nodes) => nodes.into_iter().for_each(&mut add),
                node => add(node),
            }
        }
        match <[Self; 1]>::try_from(fused) {
            Ok([only]) => only,
            Err(fused) => Self::Sequence(fused),
        }
    }

    /// Appends the random text of a cell.
    pub fn write_random(&self, stream: CellStream, out: &mut Vec<u8>) {
        self.write(&mut PickBits::new(stream), out);
    }

    /// Appends a random text.
    fn write(&self, bits: &mut PickBits, out: &mut Vec<u8>) {
        match self {
            Self::List(list) => list.write(bits.take(list.count as u64), out),
            Self::Sequence(nodes) => nodes.iter().for_each(|node| node.write(bits, out)),
            Self::OneOf(nodes) => nodes[size(bits.take(nodes.len() as u64))].write(bits, out),
            Self::Repeat { node, min, max } => {
                let times = min + bits.take(max - min + 1);
                (0..times).for_each(|_| node.write(bits, out));
            }
        }
    }

    /// Appends text number `number` of [`count`](Self::count).
    pub fn write_number(&self, mut number: u128, out: &mut Vec<u8>) {
        match self {
            Self::List(list) => list.write(low(number), out),
            Self::Sequence(nodes) => {
                let mut digits = [0; 16];
                if nodes.len() <= digits.len() {
                    // The last node changes fastest.
                    for (digit, node) in digits[..nodes.len()].iter_mut().zip(nodes).rev() {
                        (number, *digit) = divide(number, node.count());
                    }
                    digits.iter().zip(nodes).for_each(|(digit, node)| node.write_number(*digit, out));
                } else {
                    let (head, tail) = nodes.split_at(nodes.len() - digits.len() + 1);
                    let of_tail = tail.iter().fold(1_u128, |product, node| product.saturating_mul(node.count()));
                    let (of_head, rest) = divide(number, of_tail);
                    write_sequence(head, of_head, out);
                    write_sequence(tail, rest, out);
                }
            }
            Self::OneOf(nodes) => {
                for node in nodes {
                    if number < node.count() {
                        return node.write_number(number, out);
                    }
                    number -= node.count();
                }
            }
            Self::Repeat { node, min, max } => {
                let each = node.count();
                let mut times = *min;
                let mut of_times = power(each, times);
                while times < *max && number >= of_times {
                    number -= of_times;
                    times += 1;
                    of_times = of_times.saturating_mul(each);
                }
                for done in 1..=times {
                    let (digit, rest) = divide(number, power(each, times - done));
                    node.write_number(digit.min(each - 1), out);
                    number = rest;
                }
            }
        }
    }

    /// Returns the number of texts; `u128::MAX` means that many or more. Texts that can be derived in several ways
    /// count several times.
    pub fn count(&self) -> u128 {
        match self {
            Self::List(list) => list.count as u128,
            Self::Sequence(nodes) => nodes.iter().fold(1, |product, node| product.saturating_mul(node.count())),
            Self::OneOf(nodes) => nodes.iter().fold(0, |sum, node| sum.saturating_add(node.count())),
            Self::Repeat { node, min, max } => {
                let each = node.count();
                if each <= 1 {
                    return u128::from(max - min) + 1;
                }
                let (mut sum, mut of_times) = (0_u128, power(each, *min));
                for _ in *min..=*max {
                    if sum == u128::MAX {
                        break;
                    }
                    sum = sum.saturating_add(of_times);
                    of_times = of_times.saturating_mul(each);
                }
                sum
            }
        }
    }

    /// Returns the bytes of the longest text.
    pub fn longest(&self) -> u64 {
        match self {
            Self::List(list) => list.longest() as u64,
            Self::Sequence(nodes) => nodes.iter().fold(0, |sum, node| sum.saturating_add(node.longest())),
            Self::OneOf(nodes) => nodes.iter().map(Self::longest).max().unwrap_or(0),
            Self::Repeat { node, max, .. } => node.longest().saturating_mul(*max),
        }
    }

    /// Returns the properties of the texts.
    fn traits(&self) -> TextTraits {
        match self {
            Self::List(list) => TextTraits::of_list(list),
            Self::Sequence(nodes) => nodes.iter().map(Self::traits).fold(TextTraits::EMPTY, TextTraits::then),
            Self::OneOf(nodes) => nodes.iter().map(Self::traits).reduce(TextTraits::or).unwrap_or(TextTraits::EMPTY),
            Self::Repeat { node, min, max } => node.traits().times(*min, *max),
        }
    }
}

fn write_sequence(nodes: &[Node], mut number: u128, out: &mut Vec<u8>) {
    let mut digits = vec![0; nodes.len()];
    for (digit, node) in digits.iter_mut().zip(nodes).rev() {
        (number, *digit) = divide(number, node.count());
    }
    digits.iter().zip(nodes).for_each(|(digit, node)| node.write_number(*digit, out));
}

/// Removes and returns the last digit of a number in this base.
#[inline(always)]
fn rest_of(number: &mut u64, base: u64) -> u64 {
    let rest = *number % base;
    *number /= base;
    rest
}

/// Divides with remainder; most numbers have 64 bits, which divide much faster.
#[inline(always)]
fn divide(number: u128, by: u128) -> (u128, u128) {
    match (u64::try_from(number), u64::try_from(by)) {
        (Ok(number), Ok(by)) => (u128::from(number / by), u128::from(number % by)),
        _ => (number / by, number % by),
    }
}

fn power(each: u128, times: u64) -> u128 {
    if each == 1 {
        return 1;
    }
    (0..times.min(128)).fold(1, |product: u128, _| product.saturating_mul(each))
}

#[expect(clippy::cast_possible_truncation, reason = "an index of a list")]
fn low(number: u128) -> u64 {
    number as u64
}

/// A tree that is a sequence of short lists of fixed length: each list has a fixed position in a line, and the
/// encoder is fastest on texts of one length.
#[derive(Debug)]
struct Layout {
    parts: Vec<(List, usize)>,
    len: usize,
}

/// Bytes of the longest line, and of the buffer: the last block may extend beyond the line.
const LINE: usize = 64;
const BUFFER: usize = LINE + BLOCK;

impl Layout {
    /// Returns the layout of a tree, if it has one.
    fn of(node: &Node) -> Option<Self> {
        let nodes = match node {
            Node::Sequence(nodes) => &nodes[..],
            one => std::slice::from_ref(one),
        };
        let mut layout = Self { parts: Vec::new(), len: 0 };
        for node in nodes {
            let Node::List(list) = node else { return None };
            layout.parts.push((list.clone(), layout.len));
            layout.len += list.fixed_len.filter(|&len| len <= BLOCK)?;
        }
        (1..=LINE).contains(&layout.len).then_some(layout)
    }

    /// Writes the text of these picks.
    #[inline(always)]
    fn line(&self, mut pick: impl FnMut(&List) -> u64, out: &mut [u8]) {
        let mut line = [0; BUFFER];
        for (list, at) in &self.parts {
            let (start, _) = list.span(size(pick(list)));
            line[*at..at + BLOCK].copy_from_slice(&list.bytes[start..start + BLOCK]);
        }
        out.copy_from_slice(&line[..out.len()]);
    }
}

/// Random texts of a tree.
#[derive(Debug)]
struct Template {
    node: Node,
    layout: Option<Layout>,
    longest: u64,
    kinds: Kinds,
    cardinality: Cardinality,
}

/// Unique texts of a tree.
#[derive(Debug)]
struct UniqueTemplate {
    texts: Template,
    /// Row numbers are permuted within 0 to this.
    last: u64,
    /// The number of texts for each permuted row number.
    each: u128,
}

fn template(node: Node) -> Template {
    let traits = node.traits();
    let values = u64::try_from(node.count()).unwrap_or(u64::MAX);
    let kinds = if traits.digits && node.longest() <= 18 { Kinds::DIGITS } else { Kinds::TEXT };
    Template {
        longest: node.longest(),
        layout: Layout::of(&node),
        kinds,
        cardinality: Cardinality::Among { values },
        node,
    }
}

/// Builds a generator of random texts.
pub(super) fn random(node: Node) -> Box<dyn Generator> {
    Box::new(template(node))
}

/// Builds a generator of unique texts; `rejected` makes the error if the texts are ambiguous.
pub(super) fn unique(node: Node, rejected: impl FnOnce() -> Error) -> Result<Box<dyn Generator>> {
    unambiguous(node).ok_or_else(rejected)
}

/// Builds a generator of unique texts; `None` if the texts are ambiguous.
fn unambiguous(node: Node) -> Option<Box<dyn Generator>> {
    if !node.traits().unambiguous {
        return None;
    }
    let count = node.count();
    let last = u64::try_from(count - 1).unwrap_or(u64::MAX - 1);
    let texts = Template { cardinality: Cardinality::Unique { rows: last.saturating_add(1) }, ..template(node) };
    Some(Box::new(UniqueTemplate { texts, last, each: count / (u128::from(last) + 1) }))
}

/// Returns a generator of texts of a tree that differ in each of so many rows: in a random order, or those of a list before all
/// of them with a number.
pub(super) fn distinct(node: &Node, rows: u64) -> Box<dyn Generator> {
    let is_enough = node.count() >= u128::from(rows);
    let unique = Some(node).filter(|_| is_enough).and_then(|node| unambiguous(node.clone()));
    unique.unwrap_or_else(|| distinct_phrases(node, rows))
}

impl Generator for Template {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        if let Some(layout) = &self.layout {
            let texts = out.texts().fixed(rows.len(), layout.len);
            rows.zip(texts.chunks_exact_mut(layout.len), |row, text| {
                let mut bits = PickBits::new(random.stream(row));
                layout.line(|list| bits.take(list.count as u64), text);
            });
            return;
        }
        let texts = out.texts();
        rows.for_each(|row| {
            self.node.write(&mut PickBits::new(random.stream(row)), texts.arena());
            texts.end_string();
        });
    }

    fn kinds(&self) -> Kinds {
        self.kinds
    }

    fn longest_bytes(&self) -> u64 {
        self.longest
    }

    fn cardinality(&self) -> Cardinality {
        self.cardinality
    }

    fn distinct(&self, rows: u64) -> Option<Box<dyn Generator>> {
        Some(distinct(&self.node, rows))
    }
}

impl Generator for UniqueTemplate {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let mut numbers = vec![0; rows.len()];
        shuffled(random, self.last, rows, &mut numbers, |number| number);
        if let Some(layout) = self.texts.layout.as_ref().filter(|_| self.each == 1) {
            let texts = out.texts().fixed(numbers.len(), layout.len);
            for (text, mut number) in texts.chunks_exact_mut(layout.len).zip(numbers) {
                // The first list changes fastest: any order will do, and this one needs no array of digits.
                layout.line(|list| rest_of(&mut number, list.count as u64), text);
            }
            return;
        }
        let texts = out.texts();
        rows.zip(numbers.into_iter(), |row, number| {
            let mut number = u128::from(number);
            if self.each > 1 {
                let mut stream = random.stream(row);
                let within = u128::from(stream.u64()) << 64 | u128::from(stream.u64());
                number = number * self.each + within % self.each;
            }
            self.texts.node.write_number(number, texts.arena());
            texts.end_string();
        });
    }

    fn kinds(&self) -> Kinds {
        self.texts.kinds
    }

    fn longest_bytes(&self) -> u64 {
        self.texts.longest
    }

    fn cardinality(&self) -> Cardinality {
        self.texts.cardinality
    }
}

/// Builds `unique_digits(n)`.
pub(super) fn unique_digits(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let node = Node::digits(arguments.int_within("n", 1, 18)?);
    unique(node, || arguments.error_here("digits are no digits"))
}

/// Builds `pattern('CUST-######')`: `#` is a digit, `?` a letter of A to Z, `\` makes the next character literal.
pub(super) fn pattern(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let text = arguments.text("pattern")?;
    let letters: Vec<[u8; 1]> = (b'A'..=b'Z').map(|letter| [letter]).collect();
    let mut nodes = Vec::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        nodes.push(match character {
            '#' => Node::digits(1),
            '?' => Node::one_of(&letters),
            '\\' => match characters.next() {
                Some(next) => Node::fixed(&next.to_string()),
                None => return Err(arguments.error_at("pattern", "nothing follows the '\\' at the end")),
            },
            other => Node::fixed(&other.to_string()),
        });
    }
    Ok(random(Node::sequence(nodes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn all(node: &Node) -> Vec<Vec<u8>> {
        let text = |number| {
            let mut out = Vec::new();
            node.write_number(number, &mut out);
            out
        };
        (0..node.count()).map(text).collect()
    }

    fn letters(text: &str) -> Node {
        Node::one_of(&text.split(' ').collect::<Vec<_>>())
    }

    /// Unambiguous trees have as many texts as numbers.
    #[test]
    fn texts_that_are_told_apart_are_different() {
        let repeat = |node, min, max| Node::Repeat { node: Box::new(node), min, max };
        for (node, unambiguous) in [
            (letters("a b c"), true),
            (letters("a b a"), false),
            (letters("a ab"), true),
            (Node::Sequence(vec![letters("a ab"), letters("c bc")]), false),
            (Node::Sequence(vec![letters("a ab"), letters("c d")]), true),
            (repeat(letters("a b"), 0, 4), true),
            (repeat(letters("a aa"), 0, 3), false),
            (Node::Sequence(vec![repeat(letters("a b"), 1, 3), letters("- _"), repeat(letters("a b"), 2, 2)]), true),
            (Node::Sequence(vec![repeat(letters("a b"), 1, 3), letters("a _")]), false),
            (Node::OneOf(vec![letters("a b"), repeat(letters("c d"), 1, 2)]), true),
            (Node::OneOf(vec![letters("a b"), letters("b c")]), false),
            (Node::Sequence(vec![repeat(letters("a"), 0, 1), repeat(letters("b"), 0, 1), letters("c")]), true),
            (Node::Sequence(vec![repeat(letters("a"), 0, 1), repeat(letters("b"), 0, 1), letters("a")]), false),
            (Node::Sequence((0..20).map(|_| letters("a b")).collect::<Vec<_>>()[..18].to_vec()), true),
        ] {
            assert_eq!(node.traits().unambiguous, unambiguous, "{node:?}");
            let texts = all(&node);
            let different = texts.iter().collect::<HashSet<_>>().len();
            assert!(!unambiguous || different == texts.len(), "{node:?}: {different} of {}", texts.len());
            assert!(texts.iter().all(|text| text.len() as u64 <= node.longest()));
        }
    }

    #[test]
    fn short_lists_become_one() {
        let Node::List(list) = Node::sequence(vec![Node::fixed("A"), Node::digits(3)]) else { panic!("a list") };
        assert_eq!((list.count, list.longest()), (1000, 4));
        let Node::Sequence(nodes) = Node::digits(7) else { panic!("three lists") };
        assert_eq!(nodes.iter().map(Node::count).collect::<Vec<_>>(), [1000, 1000, 10]);
        assert_eq!(Node::sequence(Vec::new()).count(), 1);
    }
}
