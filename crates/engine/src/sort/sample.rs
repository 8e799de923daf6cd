//! The sparse index of a spilled run: keys, and the positions at which reading can begin.

/// Samples in key order. The first one is the beginning of the run and has an empty key.
#[derive(Debug, Default)]
pub(super) struct Samples {
    places: Vec<Place>,
    /// All keys, concatenated.
    keys: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    /// Number of items before the sample.
    ordinal: u64,
    /// Bytes of the run before the sample.
    position: u64,
    key_end: u32,
}

impl Samples {
    /// The longest key. A key is a separator: the shortest prefix of an item that the item before does not have.
    pub const MAX_KEY_BYTES: usize = 256;

    pub fn push(&mut self, ordinal: u64, position: u64, key: &[u8]) {
        self.keys.extend_from_slice(key);
        let key_end = u32::try_from(self.keys.len()).expect("samples are bounded");
        self.places.push(Place { ordinal, position, key_end });
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns the key of sample `index`: greater than every item before the sample, and not greater than any from it
    /// on.
    pub fn key(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.places[index - 1].key_end };
        &self.keys[start as usize..self.places[index].key_end as usize]
    }

    /// Returns the number of samples with keys up to `key`.
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

    /// Returns the number of samples with fewer than `rank` items before them.
    pub fn count_before(&self, rank: u64) -> usize {
        self.places.partition_point(|place| place.ordinal < rank)
    }

    /// Returns the ordinal and position of the last sample up to `key`.
    pub fn before(&self, key: &[u8]) -> (u64, u64) {
        let place = self.places[self.count_up_to(key) - 1];
        (place.ordinal, place.position)
    }

    /// Returns an upper bound of the number of items less than `key`, in a run of `items` items.
    pub fn rank_at_most(&self, key: &[u8], items: u64) -> u64 {
        let count = self.count_up_to(key);
        // A sample's own key separates exactly: the items before the sample are the lesser ones.
        let is_sample = count > 0 && self.key(count - 1) == key;
        self.places.get(count - usize::from(is_sample)).map_or(items, |place| place.ordinal)
    }

    /// Returns the bytes of memory that are held.
    pub fn held_bytes(&self) -> u64 {
        (self.places.capacity() * size_of::<Place>() + self.keys.capacity()) as u64
    }

    /// Drops every second sample. Returns `false` if only one is left.
    pub fn downsample(&mut self) -> bool {
        let mut fewer = Self::default();
        for index in (0..self.len()).step_by(2) {
            let Place { ordinal, position, .. } = self.places[index];
            fewer.push(ordinal, position, self.key(index));
        }
        let downsampled = fewer.len() < self.len();
        *self = fewer;
        self.shrink();
        downsampled
    }

    pub fn shrink(&mut self) {
        self.places.shrink_to_fit();
        self.keys.shrink_to_fit();
    }
}
