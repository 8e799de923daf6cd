//! Sample sort into buckets: the fast path of the sort.
//!
//! ```text
//! push   -> bucket by leading bits, spilled unsorted in blocks       partitioner, partition_writer, bucket_store,
//!                                                                    segments, block_memory
//!           short items as packed keys of 8 bytes                    key_packer
//!             from many records at once                              packed_key_builder
//!             as deltas from key to key                              delta_codec
//!           long items as they are, or in parts                      split_item
//! range  -> a bucket is sorted when its turn comes                   sorted_buckets
//! ```

pub(super) mod block_memory;
pub(super) mod bucket_store;
pub(super) mod delta_codec;
pub(super) mod key_packer;
pub(super) mod packed_key_builder;
pub(super) mod partition_writer;
pub(super) mod partitioner;
pub(super) mod segments;
pub(super) mod sorted_buckets;
pub(super) mod split_item;
