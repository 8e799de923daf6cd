//! The rows, from a random number each.

use std::hash::{BuildHasher, RandomState};

/// What differs from row to row.
pub struct Row {
    pub area: [u8; 6],
    pub age: u8,
    pub active: u8,
}

impl Row {
    pub fn area(&self) -> &str {
        std::str::from_utf8(&self.area).expect("digits are ASCII")
    }
}

/// Marsaglia's xorshift with 64 bits, begun by the standard library's only source of chance.
pub struct Random(u64);

impl Random {
    pub fn new() -> Self {
        Self(RandomState::new().hash_one(0) | 1)
    }

    pub fn row(&mut self) -> Row {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        // The upper bits choose one of so many rows, evenly.
        let mut rest = u32::try_from((u128::from(self.0) * 6_000_000) >> 64).expect("below 6,000,000");
        let (age, active) = ([5, 10, 15][rest as usize % 3], [0, 1][rest as usize / 3 % 2]);
        rest /= 6;
        let mut area = [b'0'; 6];
        for digit in area.iter_mut().rev() {
            *digit = b"0123456789"[rest as usize % 10];
            rest /= 10;
        }
        Row { area, age, active }
    }

    pub fn rows(&mut self, count: usize) -> Vec<Row> {
        (0..count).map(|_| self.row()).collect()
    }
}
