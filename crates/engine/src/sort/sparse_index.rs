//! A sparse index, as of an SSTable: for some items of a sorted sequence a key and the position at which reading can begin.
//! Spilled runs have one of their restart points, and buckets have one of their starts.

/// The indexed points in key order. The first one is the beginning of the sequence and has an empty key.
#[derive(Debug, Default)]
pub(super) struct SparseIndex {
    points: Vec<Point>,
    /// All keys, concatenated.
    keys: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Point {
    /// Number of items before the point.
    ordinal: u64,
    /// Bytes of the run before the point, or the number of the bucket that begins there.
    position: u64,
    key_end: u32,
}

impl SparseIndex {
    /// The longest key. A key is a separator: the shortest prefix of an item that the item before does not have.
    pub const MAX_KEY_BYTES: usize = 256;

    pub fn push(&mut self, ordinal: u64, position: u64, key: &[u8]) {
        self.keys.extend_from_slice(key);
        let key_end = u32::try_from(self.keys.len()).expect("the keys of an index are bounded");
        self.points.push(Point { ordinal, position, key_end });
    }

    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Returns the key of point `index`: greater than every item before the point, and not greater than any from it
    /// on.
    pub fn key(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.points[index - 1].key_end };
        &self.keys[start as usize..self.points[index].key_end as usize]
    }

    /// Returns the number of points with keys up to `key`.
    pub fn count_up_to(&self, key: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.key(middle) <= key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns the number of points with fewer than `rank` items before them.
    pub fn count_before(&self, rank: u64) -> usize {
        self.points.partition_point(|point| point.ordinal < rank)
    }

    /// Returns the ordinal and position of the last point up to `key`.
    pub fn before(&self, key: &[u8]) -> (u64, u64) {
        let point = self.points[self.count_up_to(key) - 1];
        (point.ordinal, point.position)
    }

    /// Returns an upper bound of the number of items less than `key`, in a run of `items` items.
    pub fn rank_at_most(&self, key: &[u8], items: u64) -> u64 {
        let count = self.count_up_to(key);
        // A point's own key separates exactly: the items before the point are the lesser ones.
        let is_point = count > 0 && self.key(count - 1) == key;
        self.points.get(count - usize::from(is_point)).map_or(items, |point| point.ordinal)
    }

    /// Returns the bytes of memory that are held.
    pub fn held_bytes(&self) -> u64 {
        (self.points.capacity() * size_of::<Point>() + self.keys.capacity()) as u64
    }

    /// Drops every second point. Returns `false` if only one is left.
    pub fn downsample(&mut self) -> bool {
        let mut fewer = Self::default();
        for index in (0..self.len()).step_by(2) {
            let Point { ordinal, position, .. } = self.points[index];
            fewer.push(ordinal, position, self.key(index));
        }
        let downsampled = fewer.len() < self.len();
        *self = fewer;
        self.shrink();
        downsampled
    }

    pub fn shrink(&mut self) {
        self.points.shrink_to_fit();
        self.keys.shrink_to_fit();
    }
}
