//! The order of boxes: the place of their centre on a Hilbert curve over the extent of all boxes.
//!
//! Two dimensions take the bit-parallel form of the curve (as Flatbush does, here with 32 bits a dimension); others
//! Skilling's transposition ("Programming the Hilbert curve", 2004). Only additions, multiplications and divisions of
//! doubles come before, which every platform rounds alike.

use crate::bounds::Bounds;
use crate::layout::{Layout, MAX_DIMENSIONS};

/// A grid over the extent of all boxes. Its cells are numbered along the curve.
#[derive(Clone, Debug)]
pub struct Grid {
    layout: Layout,
    /// Bits of a cell's position in each dimension.
    bits: u32,
    /// The least coordinate of each dimension.
    lows: [f64; MAX_DIMENSIONS],
    /// Number of grid cells for a unit of each dimension.
    scales: [f64; MAX_DIMENSIONS],
}

impl Grid {
    /// Makes the grid over `extent`, which covers all boxes.
    #[must_use]
    pub fn new(layout: Layout, extent: &Bounds) -> Self {
        let dimensions = u32::try_from(layout.dimensions()).expect("at most five");
        let bits = (64 / dimensions).min(32);
        let largest = (1_u64 << bits) as f64 - 1.0;
        let (mut lows, mut scales) = ([0.0; MAX_DIMENSIONS], [0.0; MAX_DIMENSIONS]);
        for at in 0..layout.dimensions() {
            let [low, high] = [2 * at, 2 * at + 1].map(|at| finite(extent.coordinate(at, layout.kind())));
            lows[at] = low;
            scales[at] = if high > low { largest / (high - low) } else { 0.0 };
        }
        Self { layout, bits, lows, scales }
    }

    /// Returns the place of a box's centre on the curve.
    #[must_use]
    pub fn key(&self, bounds: &Bounds) -> u64 {
        let mut cell = [0; MAX_DIMENSIONS];
        for (at, cell) in cell.iter_mut().enumerate().take(self.layout.dimensions()) {
            let [low, high] = [2 * at, 2 * at + 1].map(|at| finite(bounds.coordinate(at, self.layout.kind())));
            let place = ((low + high) / 2.0 - self.lows[at]) * self.scales[at];
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates within the grid")]
            let place = place as u32;
            *cell = place;
        }
        match self.layout.dimensions() {
            1 => cell[0].into(),
            2 => place_in_plane(cell[0], cell[1]),
            dimensions => place_in_space(&mut cell[..dimensions], self.bits),
        }
    }
}

/// Returns the nearest number that a 32-bit float can be, so that differences are finite.
fn finite(value: f64) -> f64 {
    value.clamp(f32::MIN.into(), f32::MAX.into())
}

/// Returns the place of a cell on the curve through a plane of 2^32 by 2^32 cells.
fn place_in_plane(x: u32, y: u32) -> u64 {
    let mut state = {
        let (a, b, c, d) = (x ^ y, !(x ^ y), !(x | y), x & !y);
        let stepped_a = a | (b >> 1);
        let stepped_b = (a >> 1) ^ a;
        (stepped_a, stepped_b, ((c >> 1) ^ (b & (d >> 1))) ^ c, ((a & (c >> 1)) ^ (d >> 1)) ^ d)
    };
    for shift in [2, 4, 8, 16] {
        let (a, b, c, d) = state;
        state = (
            (a & (a >> shift)) ^ (b & (b >> shift)),
            (a & (b >> shift)) ^ (b & ((a ^ b) >> shift)),
            c ^ (a & (c >> shift)) ^ (b & (d >> shift)),
            d ^ (b & (c >> shift)) ^ ((a ^ b) & (d >> shift)),
        );
    }
    let (_, _, c, d) = state;
    let (a, b) = (c ^ (c >> 1), d ^ (d >> 1));
    let low = x ^ y;
    let high = b | !(low | a);
    (spread(high) << 1) | spread(low)
}

/// Puts a zero before each bit.
fn spread(bits: u32) -> u64 {
    let mut wide = u64::from(bits);
    for (shift, mask) in [
        (16, 0x0000_ffff_0000_ffff),
        (8, 0x00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ] {
        wide = (wide | (wide << shift)) & mask;
    }
    wide
}

/// Returns the place of a cell on the curve through a space of three dimensions or more.
fn place_in_space(cell: &mut [u32], bits: u32) -> u64 {
    let top = 1_u32 << (bits - 1);
    let mut bit = top;
    while bit > 1 {
        let below = bit - 1;
        for at in 0..cell.len() {
            if cell[at] & bit != 0 {
                cell[0] ^= below;
            } else {
                let swapped = (cell[0] ^ cell[at]) & below;
                cell[0] ^= swapped;
                cell[at] ^= swapped;
            }
        }
        bit >>= 1;
    }
    for at in 1..cell.len() {
        cell[at] ^= cell[at - 1];
    }
    let (mut gray, mut bit) = (0, top);
    while bit > 1 {
        if cell[cell.len() - 1] & bit != 0 {
            gray ^= bit - 1;
        }
        bit >>= 1;
    }
    cell.iter_mut().for_each(|place| *place ^= gray);
    let in_order = (0..bits).rev().flat_map(|bit| cell.iter().map(move |place| u64::from((place >> bit) & 1)));
    in_order.fold(0, |key, bit| (key << 1) | bit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::CoordinateKind;
    use proptest::prelude::*;

    /// The curve bit by bit, as Wikipedia has it.
    fn place_by_bits(mut x: u32, mut y: u32) -> u64 {
        let mut place = 0_u64;
        for bit in (0..32).rev() {
            let side = 1_u32 << bit;
            let (right, up) = (u32::from(x & side != 0), u32::from(y & side != 0));
            place += (u64::from(side) * u64::from(side)) * u64::from((3 * right) ^ up);
            if up == 0 {
                if right == 1 {
                    (x, y) = (!x, !y);
                }
                (x, y) = (y, x);
            }
        }
        place
    }

    proptest! {
        #[test]
        fn the_fast_plane_is_the_plane_by_bits(x in any::<u32>(), y in any::<u32>()) {
            prop_assert_eq!(place_in_plane(x, y), place_by_bits(x, y));
        }
    }

    /// Walks along the curve: each cell comes once, and neighbours on the curve are neighbours in space.
    #[test]
    fn neighbours_on_the_curve_are_neighbours_in_space() {
        for (dimensions, bits) in [(2, 4), (3, 3), (4, 2), (5, 2)] {
            let side = 1_u32 << bits;
            let cells = side.pow(dimensions);
            let cell_of =
                |number: u32| (0..dimensions).map(|at| (number >> (bits * at)) & (side - 1)).collect::<Vec<u32>>();
            let mut along: Vec<(u64, Vec<u32>)> = (0..cells)
                .map(|number| {
                    let cell = cell_of(number);
                    let place = match &cell[..] {
                        &[x, y] => place_in_plane(x << (32 - bits), y << (32 - bits)) >> (64 - 2 * bits),
                        _ => place_in_space(&mut cell.clone(), bits),
                    };
                    (place, cell)
                })
                .collect();
            along.sort();
            for (number, (place, _)) in (0..).zip(&along) {
                assert_eq!(*place, number, "{dimensions} dimensions");
            }
            for pair in along.windows(2) {
                let distance: u32 = pair[0].1.iter().zip(&pair[1].1).map(|(one, two)| one.abs_diff(*two)).sum();
                assert_eq!(distance, 1, "{pair:?}");
            }
        }
    }

    #[test]
    fn odd_extents_have_keys() {
        for dimensions in 1..=MAX_DIMENSIONS {
            let layout = Layout::new(dimensions, CoordinateKind::Real32).unwrap();
            let (mut extent, mut point) = (Bounds::EMPTY, Bounds::EMPTY);
            for at in 0..dimensions {
                assert!(extent.set_reals(at, f64::NEG_INFINITY, f64::INFINITY) && point.set_reals(at, 7.0, 7.0));
            }
            let grid = Grid::new(layout, &extent);
            assert_eq!(grid.key(&extent), grid.key(&point), "both centres are close to 0");
            assert_eq!(Grid::new(layout, &point).key(&point), 0);
        }
        let layout = Layout::new(2, CoordinateKind::Real32).unwrap();
        let (mut extent, mut corner) = (Bounds::EMPTY, Bounds::EMPTY);
        assert!(extent.set_reals(0, -180.0, 180.0) && extent.set_reals(1, -90.0, 90.0));
        assert!(corner.set_reals(0, 180.0, 180.0) && corner.set_reals(1, -90.0, -90.0));
        // The curve ends at the right end of its first side. Golden: the bytes of files depend on it.
        assert_eq!(Grid::new(layout, &extent).key(&corner), place_by_bits(u32::MAX, 0));
        assert!(corner.set_reals(0, 11.25, 11.5) && corner.set_reals(1, 48.0, 48.25));
        assert_eq!(Grid::new(layout, &extent).key(&corner), 0x90da_9497_a016_1720_u64);
    }
}
