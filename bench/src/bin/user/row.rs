//! Makes each row from one random number.

use litepress_bench::Random;
use std::hash::{BuildHasher, RandomState};

/// The columns of a row, except for its id.
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

/// Random rows, seeded by `RandomState`, the only source of randomness of the standard library.
pub struct RandomRows(Random);

impl RandomRows {
    pub fn new() -> Self {
        Self(Random(RandomState::new().hash_one(0) | 1))
    }

    pub fn row(&mut self) -> Row {
        let mut rest = self.0.below(6_000_000);
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
