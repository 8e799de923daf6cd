//! A reorder buffer: parts that are finished in any order leave it in order.

use crate::{Error, Result};
use std::collections::BTreeMap;

/// Holds parts back until their predecessors have come.
pub(crate) struct ReorderBuffer<P> {
    next: u64,
    /// Parts whose predecessors are still being built.
    waiting: BTreeMap<u64, P>,
    /// The failure of the earliest failed part, so that the same input gives the same error.
    failure: Option<(u64, Error)>,
}

impl<P> ReorderBuffer<P> {
    pub fn new() -> Self {
        Self { next: 0, waiting: BTreeMap::new(), failure: None }
    }

    pub fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Records the failure of part `number`.
    pub fn fail(&mut self, number: u64, error: Error) {
        if self.failure.as_ref().is_none_or(|(earliest, _)| number < *earliest) {
            // Later parts are dropped now: builders of earlier parts need their memory.
            self.waiting.split_off(&number);
            self.failure = Some((number, error));
        }
    }

    /// Takes part `number`. Passes every part whose predecessors are complete to `place`.
    pub fn insert(&mut self, number: u64, part: P, mut place: impl FnMut(P) -> Result<()>) {
        if self.failure.as_ref().is_some_and(|(earliest, _)| number > *earliest) {
            return;
        }
        self.waiting.insert(number, part);
        while let Some(part) = self.waiting.remove(&self.next) {
            if let Err(error) = place(part) {
                return self.fail(self.next, error);
            }
            self.next += 1;
        }
    }

    /// Returns the failure, if any. All parts have come, or one has failed.
    pub fn finish(self) -> Result<()> {
        self.failure.map_or(Ok(()), |(_, error)| Err(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    /// Parts behind a failed one kept their memory for ever, and a builder that waited for memory never woke.
    #[test]
    fn what_lies_behind_a_failed_part_is_dropped() {
        let part = std::sync::Arc::new(());
        let mut parts = ReorderBuffer::new();
        parts.insert(2, part.clone(), |_| Ok(()));
        parts.fail(1, Error::new(ErrorKind::Data, "the second part"));
        parts.insert(3, part.clone(), |_| Ok(()));
        assert_eq!(std::sync::Arc::strong_count(&part), 1);
        parts.fail(0, Error::new(ErrorKind::Data, "the first part"));
        assert_eq!(parts.finish().unwrap_err().message(), "the first part");
    }

    #[test]
    fn parts_are_placed_in_order() {
        let mut parts = ReorderBuffer::new();
        let mut placed = Vec::new();
        for number in [2, 0, 3, 1] {
            parts.insert(number, number, |part| {
                placed.push(part);
                Ok(())
            });
        }
        assert_eq!(placed, [0, 1, 2, 3]);
    }
}
