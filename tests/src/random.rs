//! Pseudo-random numbers.

/// A generator (splitmix64): the same seed gives the same numbers.
#[derive(Clone, Copy, Debug)]
pub struct Random(pub u64);

impl Random {
    /// Returns a number from 0 to `end` - 1.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).unwrap()
    }

    /// Returns true in so many of a hundred calls.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Returns one of these.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Takes so many of these, in any order.
    pub fn sample<T: Copy>(&mut self, of: &[T], count: usize) -> Vec<T> {
        let mut rest = of.to_vec();
        (0..count.min(of.len())).map(|_| rest.swap_remove(self.below(rest.len()))).collect()
    }
}
