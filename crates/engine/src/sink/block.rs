//! Aligned memory in which pages are built and from which they are written, used again and again.

use crate::mapped::MappedMemory;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes of a block: one write of it runs at the disk's full speed.
pub(crate) const BLOCK_BYTES: usize = 4 << 20;

/// What direct I/O asks of memory and of file offsets: the largest logical block of disks in use.
pub(crate) const ALIGNMENT: usize = 4096;

/// Further blocks have large pages: small databases need not wait until these are cleared.
const SMALL_PAGED_BLOCKS: usize = 4;

/// Hands out blocks and gets them back.
///
/// Bounded where it can be: builders that ask for [`room`](Self::wait_for_room) wait while too many blocks are
/// under way. A block itself is never refused, so that a builder in the middle of its part always gets on.
pub(crate) struct BlockPool {
    live_limit: usize,
    state: Mutex<State>,
    room: Condvar,
}

#[derive(Default)]
struct State {
    free: Vec<MappedMemory>,
    /// Blocks that somebody holds: a builder, the writers' queue, a writer.
    live: usize,
    /// The most that there were.
    #[cfg(test)]
    most_live: usize,
    /// Those of them that are held back for a part that is still to be made: waiting for them would be for ever, or for
    /// as long as that takes.
    held: usize,
}

/// [`BLOCK_BYTES`] of memory that begin at a multiple of [`ALIGNMENT`] where the system maps memory; dropped, it goes back
/// to its pool.
pub(crate) struct Block {
    memory: MappedMemory,
    pool: Arc<BlockPool>,
}

impl BlockPool {
    /// A pool that lets parts begin while at most `live_limit` blocks are under way.
    pub fn new(live_limit: usize) -> Arc<Self> {
        Arc::new(Self { live_limit: live_limit.max(1), state: Mutex::default(), room: Condvar::new() })
    }

    /// How many blocks may be under way where a part begins.
    pub fn live_limit(&self) -> usize {
        self.live_limit
    }

    /// An empty block; its bytes are what somebody left there.
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
            let memory = MappedMemory::new(BLOCK_BYTES);
            if live > SMALL_PAGED_BLOCKS {
                memory.prefer_large_pages();
            }
            memory
        });
        Block { memory, pool: self.clone() }
    }

    /// Waits until another part may be begun. The caller must hold no block.
    pub fn wait_for_room(&self) {
        let mut state = self.lock();
        while state.live > self.live_limit + state.held {
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Says how many blocks are held back until there is another part, or none.
    pub fn hold_back(&self, blocks: usize) {
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
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
        // What was needed beyond the limit, for a part with giant rows, is not kept.
        if state.live + state.free.len() < self.pool.live_limit + state.held + 1 {
            state.free.push(std::mem::take(&mut self.memory));
        }
        self.pool.room.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks that were held back by the hundred were given back to the system one by one, and taken from it anew.
    #[test]
    fn blocks_that_may_be_held_back_are_kept() {
        let pool = BlockPool::new(2);
        pool.hold_back(3);
        let blocks: Vec<Block> = (0..5).map(|_| pool.take()).collect();
        // As many as the limit and those held back: nobody waits.
        pool.wait_for_room();
        drop(blocks);
        assert_eq!(pool.lock().free.len(), 5);
        pool.hold_back(0);
        assert_eq!(pool.lock().free.len(), 3, "one more than the limit");
    }
}
