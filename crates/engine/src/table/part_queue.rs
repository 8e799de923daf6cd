//! A queue of a source's parts, shared by workers.

use crate::Result;
use crate::progress::Progress;
use crate::sink::block::BlockPool;
use crate::threads::Turns;
use litepress_rows::sync::{Mutex, lock};
use litepress_rows::{Part, Source};
use std::collections::VecDeque;

/// The parts of a source, numbered in order.
pub(crate) struct PartQueue<'s> {
    source: &'s dyn Source,
    /// Parts that were requested from the source and not taken yet.
    ahead: VecDeque<Box<dyn Part + 's>>,
    next: u64,
}

impl<'s> PartQueue<'s> {
    pub fn new(source: &'s dyn Source) -> Self {
        Self { source, ahead: VecDeque::new(), next: 0 }
    }

    /// Returns how many of `threads` have work: starting a thread costs more than a table of a single part.
    pub fn workers(&mut self, threads: usize) -> Result<usize> {
        while self.ahead.len() < 2 {
            let Some(part) = self.source.next_part()? else { return Ok(1) };
            self.ahead.push_back(part);
        }
        Ok(threads)
    }

    /// Takes the next part and its number.
    pub fn take(&mut self) -> Result<Option<(u64, Box<dyn Part + 's>)>> {
        let part = match self.ahead.pop_front() {
            Some(part) => Some(part),
            None => self.source.next_part()?,
        };
        let number = self.next;
        self.next += 1;
        Ok(part.map(|part| (number, part)))
    }
}

/// Takes part after part and passes it to `make`, which builds it and ends its turn. Ends after the last part, or once a
/// part has failed.
pub(crate) fn take_parts<'f, P, F: FnMut(P) -> Result<()>>(
    queue: &Mutex<PartQueue<'f>>,
    turns: &Turns<P, F>,
    pool: &BlockPool,
    progress: &Progress,
    mut make: impl FnMut(u64, Box<dyn Part + 'f>) -> Result<()>,
) {
    while !turns.has_failed() {
        pool.wait_for_room();
        let taken = progress.go_on().and_then(|()| lock(queue).take());
        let (number, part) = match taken {
            Ok(Some(taken)) => taken,
            Ok(None) => return,
            // The error belongs to no part: a part that is still being built may report an earlier one.
            Err(error) => return turns.fail(u64::MAX, error),
        };
        if let Err(error) = make(number, part) {
            turns.fail(number, error);
        }
    }
}
