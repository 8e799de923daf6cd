//! A pool of aligned memory blocks, in which pages are built and from which they are written.

use crate::memory::zeroed_pages::ZeroedPages;
use litepress_rows::sync::{Condvar, Mutex, MutexGuard, ignore_poison, lock};
use std::sync::Arc;

/// Bytes of a block: one write of it reaches the disk's full speed.
pub(crate) const BLOCK_BYTES: usize = 4 << 20;

/// The alignment of memory and file offsets for direct I/O: the largest logical block of disks in use.
pub(crate) const ALIGNMENT: usize = 4096;

/// The first blocks have normal pages: small databases need not wait until huge pages are zeroed.
const NORMAL_PAGED_BLOCKS: usize = 4;

/// Hands out blocks and takes them back.
///
/// It bounds memory: builders that [wait for room](Self::wait_for_room) wait while too many blocks are in use. A
/// single block is never refused, so a builder in the middle of its part always proceeds.
pub(crate) struct BlockPool {
    live_limit: usize,
    state: Mutex<State>,
    room: Condvar,
}

#[derive(Default)]
struct State {
    free: Vec<ZeroedPages>,
    /// Blocks in use by builders, the writers' queue and writers.
    live: usize,
    /// The largest `live` so far.
    #[cfg(test)]
    most_live: usize,
    /// Blocks reserved for an unbuilt part. They do not count against the limit, or builders would deadlock.
    held: usize,
}

/// [`BLOCK_BYTES`] of memory, aligned to [`ALIGNMENT`] if the system can map memory. Dropping it returns it to its
/// pool.
pub(crate) struct Block {
    memory: ZeroedPages,
    pool: Arc<BlockPool>,
}

impl BlockPool {
    /// Creates a pool that lets parts begin while at most `live_limit` blocks are in use.
    pub fn new(live_limit: usize) -> Arc<Self> {
        Arc::new(Self { live_limit: live_limit.max(1), state: Mutex::default(), room: Condvar::new() })
    }

    /// Returns how many blocks may be in use when a part begins.
    pub fn live_limit(&self) -> usize {
        self.live_limit
    }

    /// Takes a block. Its bytes are arbitrary.
    pub fn take(self: &Arc<Self>) -> Block {
        let mut state = self.lock();
        state.live += 1;
        #[cfg(test)]
        {
            state.most_live = state.most_live.max(state.live);
        }
        let (free, live) = (state.free.pop(), state.live);
        drop(state);
        let memory = free.unwrap_or_else(|| {
            let memory = ZeroedPages::new(BLOCK_BYTES);
            if live > NORMAL_PAGED_BLOCKS {
                memory.prefer_huge_pages();
            }
            memory
        });
        Block { memory, pool: self.clone() }
    }

    /// Waits until another part may begin. The caller must hold no block.
    pub fn wait_for_room(&self) {
        let mut state = self.lock();
        while state.live > self.live_limit + state.held {
            state = ignore_poison(self.room.wait(state));
        }
    }

    /// Sets the number of blocks that are held back until another part comes.
    pub fn set_held_blocks(&self, blocks: usize) {
        let mut state = self.lock();
        state.held = blocks;
        let kept = (self.live_limit + blocks + 1).saturating_sub(state.live);
        state.free.truncate(kept);
        drop(state);
        self.room.notify_all();
    }

    #[cfg(test)]
    pub fn most_live(&self) -> usize {
        self.lock().most_live
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl Block {
    pub fn bytes(&self) -> &[u8] {
        &self.memory
    }

    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let mut state = self.pool.lock();
        state.live -= 1;
        // Blocks beyond the limit, which a part with huge rows needed, are not kept.
        if state.live + state.free.len() < self.pool.live_limit + state.held + 1 {
            state.free.push(std::mem::take(&mut self.memory));
        }
        self.pool.room.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hundreds of blocks that were held back were returned to the system one by one, and requested from it again.
    #[test]
    fn blocks_that_may_be_held_back_are_kept() {
        let pool = BlockPool::new(2);
        pool.set_held_blocks(3);
        let blocks: Vec<Block> = (0..5).map(|_| pool.take()).collect();
        // The limit and the held blocks: nothing waits.
        pool.wait_for_room();
        drop(blocks);
        assert_eq!(pool.lock().free.len(), 5);
        pool.set_held_blocks(0);
        assert_eq!(pool.lock().free.len(), 3, "one more than the limit");
    }
}
