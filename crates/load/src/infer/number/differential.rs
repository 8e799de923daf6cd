//! Random texts in the forms that programs write: of a text that a column of numbers keeps, litepress stores the double that
//! `strtod` and SQLite read.
//!
//! `LITEPRESS_FUZZ=500 cargo test --release -p litepress-load --lib differential -- --nocapture` compares ten million texts.

use super::*;
use litepress_format::value::Value;
use litepress_rows::{Affinity, affinity};

/// Number of texts, times `LITEPRESS_FUZZ`.
const TEXTS: u64 = 20_000;

/// A reproducible generator of random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, limit: u64) -> usize {
        usize::try_from(self.next() % limit).unwrap()
    }

    /// Returns a double of any size, or one of the size of measurements.
    fn double(&mut self) -> f64 {
        match self.below(4) {
            0 => f64::from_bits(self.next()),
            1 => (self.next() >> 11) as f64 / (1_u64 << 53) as f64,
            2 => {
                (self.next().cast_signed() >> self.below(60)) as f64
                    / 10_f64.powi(i32::try_from(self.below(12)).unwrap())
            }
            _ => (self.next() >> 11) as f64 * 10_f64.powi(i32::try_from(self.below(60)).unwrap() - 40),
        }
    }

    fn text(&mut self) -> String {
        let (real, digits) = (self.double(), self.below(40));
        match self.below(11) {
            0 => format!("{real:?}"),
            1 => format!("{real}"),
            2 => format!("{real:e}"),
            3 => format!("{real:.digits$e}"),
            4 => format!("{real:.16e}").replace("e-", "E-0"),
            5 => format!("{real:.14e}").replace('e', "e+").replace("+-", "-"),
            6 => format!("{real:.digits$}"),
            7 => format!("{real:.1074}"),
            8 => format!("{real:?}").replace("0.", ".").replace(".0", "."),
            // Digits that no double was asked for.
            9 => format!("{}.{:0digits$}", self.next() >> self.below(64), self.next()),
            _ => format!("{}{}e{}", self.next(), self.next() >> self.below(64), self.below(90) as i64 - 60),
        }
    }
}

#[test]
fn stored_doubles_are_those_of_strtod_and_sqlite() {
    let more: u64 = std::env::var("LITEPRESS_FUZZ").ok().and_then(|more| more.parse().ok()).unwrap_or(1);
    let sqlite = rusqlite::Connection::open_in_memory().unwrap();
    let mut cast = sqlite.prepare("SELECT CAST(? AS REAL)").unwrap();
    let mut random = Random(more);
    let (mut kept, mut lossy, mut otherwise) = (0_u64, 0_u64, 0_u64);
    for _ in 0..TEXTS * more {
        let text = random.text();
        let kind = classify(text.as_bytes()).0;
        if matches!(kind, Kind::Other | Kind::Integer | Kind::LongInteger) {
            continue;
        }
        // The standard library rounds correctly, as the C library's strtod does.
        let nearest = text.parse::<f64>().unwrap() + 0.0;
        let by_sqlite = cast.query_row([&text], |row| row.get::<_, f64>(0)).unwrap() + 0.0;
        if matches!(kind, Kind::Lossy | Kind::BigInteger) {
            lossy += 1;
            otherwise += u64::from(nearest.to_bits() != by_sqlite.to_bits());
            continue;
        }
        kept += 1;
        let Value::Real(stored) = affinity::apply(Value::Text(text.as_bytes()), Affinity::Real) else {
            panic!("{text} is not stored as a double");
        };
        assert_eq!((stored + 0.0).to_bits(), nearest.to_bits(), "{text}: {stored:e}, not {nearest:e}");
        assert_eq!(nearest.to_bits(), by_sqlite.to_bits(), "{text}: SQLite reads {by_sqlite:e}");
    }
    println!(
        "{kept} texts are kept; of {lossy} that lose digits, SQLite reads {otherwise} as another double than the nearest"
    );
    assert!(kept > TEXTS / 2 && lossy > TEXTS / 10);
}
