//! Properties of the texts of a tree: whether they are unambiguous, and whether they are digits.

use super::List;

/// A set of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bytes([u64; 4]);

impl Bytes {
    fn add(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    fn union(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    fn intersects(self, other: Self) -> bool {
        self.0.iter().zip(other.0).any(|(one, other)| one & other != 0)
    }
}

/// Properties of a set of texts. They are unambiguous if the next byte always decides how a text is derived: no byte
/// that may extend one piece may begin the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextTraits {
    /// Whether each text is known to have one derivation.
    pub unambiguous: bool,
    /// Whether every text consists of decimal digits and is not empty.
    pub digits: bool,
    nullable: bool,
    /// Bytes that begin a text.
    first: Bytes,
    /// Bytes that continue a text beyond the end of a shorter one.
    further: Bytes,
}

impl TextTraits {
    pub const EMPTY: Self =
        Self { unambiguous: true, digits: false, nullable: true, first: Bytes([0; 4]), further: Bytes([0; 4]) };

    pub fn of_list(list: &List) -> Self {
        let mut texts: Vec<&[u8]> = list.texts().collect();
        texts.sort_unstable();
        let mut traits = Self { nullable: false, ..Self::EMPTY };
        traits.digits = texts.iter().all(|text| !text.is_empty() && text.iter().all(u8::is_ascii_digit));
        let mut prefixes: Vec<&[u8]> = Vec::new();
        for text in texts {
            while prefixes.last().is_some_and(|prefix| !text.starts_with(prefix)) {
                prefixes.pop();
            }
            for prefix in &prefixes {
                match text.get(prefix.len()) {
                    Some(&byte) => traits.further.add(byte),
                    None => traits.unambiguous = false,
                }
            }
            match text.first() {
                Some(&byte) => traits.first.add(byte),
                None => traits.nullable = true,
            }
            prefixes.push(text);
        }
        traits
    }

    pub fn then(self, next: Self) -> Self {
        let is_empty = self.nullable && self.first == Bytes::default();
        Self {
            unambiguous: self.unambiguous && next.unambiguous && !self.further.intersects(next.first),
            digits: next.digits && (self.digits || is_empty),
            nullable: self.nullable && next.nullable,
            first: if self.nullable { self.first.union(next.first) } else { self.first },
            further: if next.nullable { self.further.union(next.further) } else { next.further },
        }
    }

    pub fn or(self, other: Self) -> Self {
        let mut further = self.further.union(other.further);
        if self.nullable || other.nullable {
            further = further.union(self.first).union(other.first);
        }
        let is_disjoint = !(self.first.intersects(other.first) || self.nullable && other.nullable);
        Self {
            unambiguous: self.unambiguous && other.unambiguous && is_disjoint,
            digits: self.digits && other.digits,
            nullable: self.nullable || other.nullable,
            first: self.first.union(other.first),
            further,
        }
    }

    pub fn times(self, min: u64, max: u64) -> Self {
        match max {
            0 => Self::EMPTY,
            1 if min == 1 => self,
            _ => Self {
                unambiguous: self.unambiguous && !self.nullable && !self.further.intersects(self.first),
                digits: self.digits && min > 0,
                nullable: self.nullable || min == 0,
                first: self.first,
                further: if min < max { self.further.union(self.first) } else { self.further },
            },
        }
    }
}
