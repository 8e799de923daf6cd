//! The sparse index of a spilled run: from where on items can be read, and which they are.

/// Samples in order. The first one stands for the beginning of the run and has an empty key.
#[derive(Debug, Default)]
pub(super) struct Samples {
    places: Vec<Place>,
    /// All keys, one behind the other.
    keys: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    /// Items before.
    ordinal: u64,
    /// Bytes of the run before.
    position: u64,
    key_end: u32,
}

impl Samples {
    /// Keys are separators: as much of an item as the item before does not share, where that is short.
    pub const MAX_KEY_BYTES: usize = 256;

    pub fn push(&mut self, ordinal: u64, position: u64, key: &[u8]) {
        self.keys.extend_from_slice(key);
        let key_end = u32::try_from(self.keys.len()).expect("samples are bounded");
        self.places.push(Place { ordinal, position, key_end });
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// The key of sample `index`: greater than every item before the sample, not greater than any behind.
    pub fn key(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.places[index - 1].key_end };
        &self.keys[start as usize..self.places[index].key_end as usize]
    }

    /// How many samples have keys up to `key`.
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

    /// How many samples have fewer than `rank` items before them.
    pub fn count_before(&self, rank: u64) -> usize {
        self.places.partition_point(|place| place.ordinal < rank)
    }

    /// Ordinal and position of the last sample up to `key`.
    pub fn before(&self, key: &[u8]) -> (u64, u64) {
        let place = self.places[self.count_up_to(key) - 1];
        (place.ordinal, place.position)
    }

    /// A number that is not less than that of the items less than `key`, in a run of `items`.
    pub fn rank_at_most(&self, key: &[u8], items: u64) -> u64 {
        let count = self.count_up_to(key);
        // A sample's own key separates the items before it from all others.
        let is_sample = count > 0 && self.key(count - 1) == key;
        self.places.get(count - usize::from(is_sample)).map_or(items, |place| place.ordinal)
    }

    /// Bytes of memory that are held.
    pub fn held_bytes(&self) -> u64 {
        (self.places.capacity() * size_of::<Place>() + self.keys.capacity()) as u64
    }

    /// Drops every second sample; false where only one is left.
    pub fn thin(&mut self) -> bool {
        let mut thinner = Self::default();
        for index in (0..self.len()).step_by(2) {
            let Place { ordinal, position, .. } = self.places[index];
            thinner.push(ordinal, position, self.key(index));
        }
        let thinned = thinner.len() < self.len();
        *self = thinner;
        self.shrink();
        thinned
    }

    pub fn shrink(&mut self) {
        self.places.shrink_to_fit();
        self.keys.shrink_to_fit();
    }
}
