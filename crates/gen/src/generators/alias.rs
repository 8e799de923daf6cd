//! Walker's alias method: weighted choices in constant time, at one random word a cell.

use super::size;
use crate::random::Fraction;

/// The numbers `0..weights.len()`, each as often as its weight says.
#[derive(Debug)]
pub(super) struct AliasTable(Vec<AliasColumn>);

/// An equal share of all rows, divided between the column's own value and one other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct AliasColumn {
    /// The own value is picked if 32 random bits are below this; 2^32 is always.
    own: u64,
    /// The column's own value and the other one.
    picks: [u32; 2],
}

/// Returns the number of 32-bit words that make this share of all of them.
pub(super) fn threshold(share: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, reason = "0 to 2^32")]
    #[expect(clippy::cast_sign_loss, reason = "a share is not negative")]
    let words = (share * 4_294_967_296.0).round() as u64;
    words
}

impl AliasTable {
    /// Builds columns of equal width from the weights: one that is lighter than the mean is filled up from a heavier
    /// one, until all are full (Vose's order, which is numerically stable).
    pub fn new(weights: &[f64]) -> Self {
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        let mut left: Vec<f64> = weights.iter().map(|weight| weight / mean).collect();
        let mut table: Vec<AliasColumn> =
            (0..).take(weights.len()).map(|own| AliasColumn { own: 1 << 32, picks: [own; 2] }).collect();
        let (mut light, mut heavy): (Vec<usize>, Vec<usize>) = (0..weights.len()).partition(|&value| left[value] < 1.0);
        while let (Some(own), Some(&other)) = (light.pop(), heavy.last()) {
            let picks = [table[own].picks[0], table[other].picks[0]];
            table[own] = AliasColumn { own: threshold(left[own]), picks };
            left[other] -= 1.0 - left[own];
            if left[other] < 1.0 {
                heavy.pop();
                light.push(other);
            }
        }
        Self(table)
    }

    /// Picks one of the numbers.
    #[inline(always)]
    pub fn pick(&self, bits: &mut Fraction) -> u32 {
        let column = &self.0[size(bits.take(self.0.len() as u64))];
        // Two loads instead of a branch, which would be mispredicted often.
        column.picks[usize::from(u64::from(bits.take_u32()) >= column.own)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alias_tables_keep_the_weights() {
        for weights in [vec![3.0, 1.0], vec![1.0, 2.0, 3.0, 4.0], vec![0.001, 1000.0, 5.0], vec![1.0, 1.0, 1.5]] {
            let table = AliasTable::new(&weights).0;
            let mut shares = vec![0.0; weights.len()];
            for (value, column) in table.iter().enumerate() {
                let own = column.own as f64 / 4_294_967_296.0;
                shares[value] += own / weights.len() as f64;
                shares[column.picks[1] as usize] += (1.0 - own) / weights.len() as f64;
            }
            let sum: f64 = weights.iter().sum();
            for (share, weight) in shares.iter().zip(&weights) {
                assert!((share - weight / sum).abs() < 1e-8, "{weights:?} became {shares:?}");
            }
        }
    }

    #[test]
    fn thresholds() {
        assert_eq!([0.0, 0.5, 1.0].map(threshold), [0, 1 << 31, 1 << 32]);
    }
}
