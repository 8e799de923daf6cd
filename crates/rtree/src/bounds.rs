//! A box: the least and the greatest coordinate of each dimension.
//!
//! Coordinates are kept in a form of 32 bits that compares as an unsigned integer, whatever their kind: boxes are joined
//! without a look at it.

use crate::layout::{CoordinateKind, Layout, MAX_DIMENSIONS};

/// The sign bit of a coordinate.
const SIGN: u32 = 1 << 31;

/// A box of up to five dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Minimum and maximum of each dimension in ordered form; zeros behind the last dimension.
    ordered: [u32; 2 * MAX_DIMENSIONS],
}

/// Rounds down to a 32-bit float, as the bundled SQLite does for a minimum: to the largest float that is not above.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "the rounding is what is wanted")]
pub fn round_down(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) > value { nearest.next_down() } else { nearest }
}

/// Rounds up to a 32-bit float, as the bundled SQLite does for a maximum: to the smallest float that is not below.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "the rounding is what is wanted")]
pub fn round_up(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) < value { nearest.next_up() } else { nearest }
}

/// Returns the nearest 32-bit integer.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "clamped to the range")]
pub fn clamp_to_i32(value: i64) -> i32 {
    value.clamp(i32::MIN.into(), i32::MAX.into()) as i32
}

impl Bounds {
    /// The box without a dimension, from which a box is built.
    pub const EMPTY: Self = Self { ordered: [0; 2 * MAX_DIMENSIONS] };

    /// Sets dimension `at` of a tree of floats. Returns `false` if the minimum is above the maximum.
    #[must_use]
    pub fn set_reals(&mut self, at: usize, min: f64, max: f64) -> bool {
        let (min, max) = (round_down(min), round_up(max));
        self.ordered[2 * at] = ordered_f32(min);
        self.ordered[2 * at + 1] = ordered_f32(max);
        min <= max
    }

    /// Sets dimension `at` of a tree of integers. Returns `false` if the minimum is above the maximum.
    #[must_use]
    pub fn set_integers(&mut self, at: usize, min: i64, max: i64) -> bool {
        let (min, max) = (clamp_to_i32(min), clamp_to_i32(max));
        self.ordered[2 * at] = min.cast_unsigned() ^ SIGN;
        self.ordered[2 * at + 1] = max.cast_unsigned() ^ SIGN;
        min <= max
    }

    /// Grows the box until it covers `other`.
    #[inline]
    pub fn join(&mut self, other: &Self) {
        for (mine, other) in self.ordered.chunks_exact_mut(2).zip(other.ordered.chunks_exact(2)) {
            mine[0] = mine[0].min(other[0]);
            mine[1] = mine[1].max(other[1]);
        }
    }

    /// Returns whether the box covers `other`.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        let mut joined = *self;
        joined.join(other);
        joined == *self
    }

    /// Returns the first dimension whose minimum is above its maximum. Zeros are equal whatever their signs, as in SQLite.
    #[must_use]
    pub fn inverted_dimension(&self, layout: Layout) -> Option<usize> {
        let coordinate = |at| self.coordinate(at, layout.kind());
        (0..layout.dimensions()).find(|at| coordinate(2 * at) > coordinate(2 * at + 1))
    }

    /// Returns the first dimension in which the box does not cover `other`. Zeros are equal whatever their signs.
    #[must_use]
    pub fn uncovered_dimension(&self, other: &Self, layout: Layout) -> Option<usize> {
        let pair = |at| (self.coordinate(at, layout.kind()), other.coordinate(at, layout.kind()));
        (0..layout.dimensions()).find(|at| {
            let ((min, other_min), (max, other_max)) = (pair(2 * at), pair(2 * at + 1));
            other_min < min || other_max > max
        })
    }

    /// Returns coordinate `at` as a number: minimum of the first dimension, maximum of it, minimum of the second, and so on.
    #[must_use]
    pub fn coordinate(&self, at: usize, kind: CoordinateKind) -> f64 {
        let bits = bits_of(self.ordered[at], kind);
        match kind {
            CoordinateKind::Real32 => f32::from_bits(bits).into(),
            CoordinateKind::Int32 => bits.cast_signed().into(),
        }
    }

    /// Appends the ordered form, big-endian: 4 bytes a coordinate.
    pub fn push_ordered(&self, layout: Layout, out: &mut Vec<u8>) {
        self.ordered[..layout.coordinates()].iter().for_each(|ordered| out.extend_from_slice(&ordered.to_be_bytes()));
    }

    /// Reads the ordered form at the front of `bytes`. Returns `None` if they are too few.
    #[must_use]
    pub fn read_ordered(layout: Layout, bytes: &[u8]) -> Option<Self> {
        let (words, _) = bytes.get(..layout.bounds_bytes())?.as_chunks();
        let mut bounds = Self::EMPTY;
        bounds.ordered.iter_mut().zip(words).for_each(|(ordered, word)| *ordered = u32::from_be_bytes(*word));
        Some(bounds)
    }

    /// Writes the coordinates as a cell has them. REQUIRES: `out` has the bytes of a box.
    #[inline]
    pub(crate) fn write(&self, layout: Layout, out: &mut [u8]) {
        let (words, _) = out.as_chunks_mut();
        for (word, &ordered) in words.iter_mut().zip(&self.ordered[..layout.coordinates()]) {
            *word = bits_of(ordered, layout.kind()).to_be_bytes();
        }
    }

    /// Reads the coordinates of a cell. Floats that are no numbers are taken as they are ordered.
    pub(crate) fn read(layout: Layout, bytes: &[u8]) -> Self {
        let (words, _) = bytes.as_chunks();
        let mut bounds = Self::EMPTY;
        for (ordered, word) in bounds.ordered.iter_mut().zip(words) {
            let bits = u32::from_be_bytes(*word);
            *ordered = match layout.kind() {
                CoordinateKind::Real32 => ordered_f32(f32::from_bits(bits)),
                CoordinateKind::Int32 => bits ^ SIGN,
            };
        }
        bounds
    }
}

/// Returns bits that compare as the floats do; -0 comes before 0.
fn ordered_f32(value: f32) -> u32 {
    let bits = value.to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

/// Returns the bits that a cell has.
#[inline]
fn bits_of(ordered: u32, kind: CoordinateKind) -> u32 {
    match kind {
        CoordinateKind::Real32 if ordered & SIGN == 0 => !ordered,
        CoordinateKind::Real32 | CoordinateKind::Int32 => ordered ^ SIGN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rusqlite::Connection;

    /// Asks SQLite how it rounds a value as minimum and maximum.
    fn of_sqlite(sqlite: &Connection, value: f64) -> (f32, f32) {
        sqlite.execute("DELETE FROM t", []).unwrap();
        // The other coordinate may not get in the way.
        sqlite.execute("INSERT INTO t VALUES (1, ?1, 9e999, -9e999, ?1)", [value]).unwrap();
        let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, f64>(0)?, row.get::<_, f64>(1)?));
        let (min, max) = sqlite.query_row("SELECT a, d FROM t", [], read).unwrap();
        #[expect(clippy::cast_possible_truncation, reason = "they are 32-bit floats")]
        (min as f32, max as f32)
    }

    #[test]
    #[cfg_attr(miri, ignore = "needs SQLite")]
    fn rounds_as_sqlite_does() {
        let sqlite = Connection::open_in_memory().unwrap();
        sqlite.execute_batch("CREATE VIRTUAL TABLE t USING rtree(id, a, b, c, d)").unwrap();
        let same = |value: f64| {
            let (down, up) = of_sqlite(&sqlite, value);
            assert_eq!(
                (round_down(value).to_bits(), round_up(value).to_bits()),
                (down.to_bits(), up.to_bits()),
                "{value:?}"
            );
        };
        let odd = [0.0, 0.1, 1.0, 1e-50, 1e-45, 1e-40, 16_777_217.0, 3.5e38, 1e300, f64::MAX, f64::INFINITY, 180.0];
        odd.iter().flat_map(|&value| [value, -value]).for_each(same);
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        let any = proptest::num::f64::ANY.prop_filter("a number", |value| !value.is_nan());
        runner
            .run(&prop_oneof![any, -180.0..180.0], |value| {
                same(value);
                Ok(())
            })
            .unwrap();
    }

    #[test]
    fn the_ordered_form_keeps_values_and_order() {
        let values = [f32::NEG_INFINITY, -1e30, -2.5, -1e-40, -0.0, 0.0, 1e-40, 1.0, 7e20, f32::INFINITY];
        for pair in values.windows(2) {
            assert!(ordered_f32(pair[0]) < ordered_f32(pair[1]), "{pair:?}");
            assert_eq!(bits_of(ordered_f32(pair[0]), CoordinateKind::Real32), pair[0].to_bits());
        }
        let layout = Layout::new(2, CoordinateKind::Int32).unwrap();
        let mut bounds = Bounds::EMPTY;
        assert!(bounds.set_integers(0, i64::MIN, -5) && bounds.set_integers(1, 3, i64::MAX));
        let numbers: Vec<f64> = (0..4).map(|at| bounds.coordinate(at, CoordinateKind::Int32)).collect();
        assert_eq!(numbers, [f64::from(i32::MIN), -5.0, 3.0, f64::from(i32::MAX)]);
        let mut bytes = Vec::new();
        bounds.push_ordered(layout, &mut bytes);
        assert_eq!(Bounds::read_ordered(layout, &bytes), Some(bounds));
        assert_eq!(Bounds::read_ordered(layout, &bytes[1..]), None);
        assert!(!bounds.set_integers(0, 2, 1));
        // SQLite accepts zeros of either sign in either place.
        assert!(bounds.set_reals(0, 0.0, -0.0));
        assert!(!bounds.set_reals(0, 1.0, 0.5));
    }

    /// SQLite takes -0.0 for a maximum whose minimum is 0.0.
    #[test]
    fn zeros_of_both_signs_are_equal() {
        let layout = Layout::new(1, CoordinateKind::Real32).unwrap();
        let bounds = |min, max| {
            let mut bounds = Bounds::EMPTY;
            let is_right = bounds.set_reals(0, min, max);
            (bounds, is_right)
        };
        let (zeros, is_right) = bounds(0.0, -0.0);
        assert!(is_right && zeros.inverted_dimension(layout).is_none());
        let (others, _) = bounds(-0.0, 0.0);
        assert_eq!(
            (zeros.uncovered_dimension(&others, layout), others.uncovered_dimension(&zeros, layout)),
            (None, None)
        );
        let (wrong, is_right) = bounds(1.0, 0.5);
        assert!(!is_right);
        assert_eq!((wrong.inverted_dimension(layout), zeros.uncovered_dimension(&wrong, layout)), (Some(0), Some(0)));
    }

    #[test]
    fn a_joined_box_covers_both() {
        let (mut one, mut two) = (Bounds::EMPTY, Bounds::EMPTY);
        assert!(one.set_reals(0, -1.0, 2.0) && one.set_reals(1, 5.0, 6.0));
        assert!(two.set_reals(0, -3.0, 1.0) && two.set_reals(1, 4.0, 9.0));
        assert!(!one.covers(&two));
        let mut joined = one;
        joined.join(&two);
        assert!(joined.covers(&one) && joined.covers(&two));
        let numbers: Vec<f64> = (0..4).map(|at| joined.coordinate(at, CoordinateKind::Real32)).collect();
        assert_eq!(numbers, [-3.0, 2.0, 4.0, 9.0]);
    }
}
