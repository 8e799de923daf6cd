//! A source's parts on their way to workers.

use crate::Result;
use litepress_rows::{Part, Source};
use std::collections::VecDeque;

/// The source's parts, numbered as they are taken.
pub(crate) struct Feed<'s> {
    source: &'s dyn Source,
    /// Parts that were taken from the source and from nobody yet.
    ahead: VecDeque<Box<dyn Part + 's>>,
    next: u64,
}

impl<'s> Feed<'s> {
    pub fn new(source: &'s dyn Source) -> Self {
        Self { source, ahead: VecDeque::new(), next: 0 }
    }

    /// How many of `threads` have something to do: starting one costs more than a table of a single part.
    pub fn workers(&mut self, threads: usize) -> Result<usize> {
        while self.ahead.len() < 2 {
            let Some(part) = self.source.next_part()? else { return Ok(1) };
            self.ahead.push_back(part);
        }
        Ok(threads)
    }

    /// The next part and its number.
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
