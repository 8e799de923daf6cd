//! Turns: steps of a task that any thread may take, and whose parts are placed in the order of the steps.

use crate::{Error, Result};
use litepress_rows::sync::{Condvar, Mutex, MutexGuard, ignore_poison, lock};
use std::collections::BTreeMap;

/// Places the parts of turns, each of which has any number of parts:
///
/// ```text
/// the turn has come       a part is placed at once
/// it has not come yet     a part waits here, and its thread too if the turn has more of them
/// ```
///
/// So a turn of many parts takes no more memory than one of few, except for the turn that has come, whose parts leave at once.
pub(crate) struct Turns<P, F> {
    state: Mutex<State<P, F>>,
    /// The turn has changed, or a failure has come.
    changed: Condvar,
}

struct State<P, F> {
    /// The turn whose parts are placed.
    current: u64,
    waiting: BTreeMap<u64, WaitingTurn<P>>,
    /// The failure of the earliest failed turn, so that the same input gives the same error.
    failure: Option<(u64, Error)>,
    place: F,
}

/// The parts of a later turn.
struct WaitingTurn<P> {
    parts: Vec<P>,
    is_complete: bool,
}

impl<P, F: FnMut(P) -> Result<()>> Turns<P, F> {
    /// Begins with turn 0. `place` takes every part in order.
    pub fn new(place: F) -> Self {
        let state = State { current: 0, waiting: BTreeMap::new(), failure: None, place };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Returns whether a turn has failed: no later turn needs to begin.
    pub fn has_failed(&self) -> bool {
        self.state().failure.is_some()
    }

    /// Records the failure of a turn.
    pub fn fail(&self, turn: u64, error: Error) {
        self.state().fail(turn, error);
        self.changed.notify_all();
    }

    /// Takes a part of a turn that has more of them. Waits until the turn has come. Returns whether it goes on: not if it, or an
    /// earlier one, has failed.
    pub fn add(&self, turn: u64, part: P) -> bool {
        let mut state = self.state();
        state.take(turn, part);
        while state.current != turn && !state.is_over(turn) {
            state = ignore_poison(self.changed.wait(state));
        }
        let goes_on = !state.is_over(turn);
        drop(state);
        // The part may not have been placed.
        self.changed.notify_all();
        goes_on
    }

    /// Takes the last part of a turn.
    pub fn end(&self, turn: u64, part: P) {
        let mut state = self.state();
        state.take(turn, part);
        state.complete(turn);
        drop(state);
        self.changed.notify_all();
    }

    /// Returns the failure, if any. All turns have ended, or one has failed.
    pub fn finish(self) -> Result<()> {
        ignore_poison(self.state.into_inner()).failure.map_or(Ok(()), |(_, error)| Err(error))
    }

    fn state(&self) -> MutexGuard<'_, State<P, F>> {
        lock(&self.state)
    }
}

impl<P, F: FnMut(P) -> Result<()>> State<P, F> {
    fn fail(&mut self, turn: u64, error: Error) {
        if self.failure.as_ref().is_none_or(|(earliest, _)| turn < *earliest) {
            // Later parts are dropped now: earlier turns need their memory.
            self.waiting.split_off(&turn);
            self.failure = Some((turn, error));
        }
    }

    /// Returns whether this turn, or an earlier one, has failed.
    fn is_over(&self, turn: u64) -> bool {
        self.failure.as_ref().is_some_and(|(earliest, _)| turn >= *earliest)
    }

    fn take(&mut self, turn: u64, part: P) {
        if self.is_over(turn) {
            return;
        }
        if turn == self.current {
            self.place(part);
        } else {
            self.waiting(turn).parts.push(part);
        }
    }

    fn waiting(&mut self, turn: u64) -> &mut WaitingTurn<P> {
        self.waiting.entry(turn).or_insert_with(|| WaitingTurn { parts: Vec::new(), is_complete: false })
    }

    fn place(&mut self, part: P) {
        if let Err(error) = (self.place)(part) {
            self.fail(self.current, error);
        }
    }

    /// Ends a turn. If it is the current one, goes on with those that wait.
    fn complete(&mut self, turn: u64) {
        if turn != self.current {
            self.waiting(turn).is_complete = true;
            return;
        }
        loop {
            self.current += 1;
            let Some(next) = self.waiting.remove(&self.current) else { return };
            next.parts.into_iter().for_each(|part| self.place(part));
            if !next.is_complete {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::threads::on_threads;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Takes turns on some threads. Turn `n` has `parts(n)` parts.
    fn take_turns(
        turns: u64,
        parts: impl Fn(u64) -> u64 + Sync,
        failing: Option<u64>,
    ) -> (Vec<(u64, u64)>, Result<()>) {
        let mut placed = Vec::new();
        let result = {
            let (next, all) = (
                AtomicU64::new(0),
                Turns::new(|part| {
                    placed.push(part);
                    Ok(())
                }),
            );
            on_threads(4, || {
                while !all.has_failed() {
                    let turn = next.fetch_add(1, Ordering::Relaxed);
                    if turn >= turns {
                        return;
                    }
                    if failing.is_some_and(|failing| turn >= failing) {
                        return all.fail(turn, Error::new(ErrorKind::Data, format!("turn {turn}")));
                    }
                    assert!((1..parts(turn)).all(|part| all.add(turn, (turn, part))));
                    all.end(turn, (turn, parts(turn)));
                }
            });
            all.finish()
        };
        (placed, result)
    }

    #[test]
    fn parts_are_placed_in_the_order_of_turns() {
        let parts = |turn: u64| [1, 7, 1, 2, 40, 1][(turn % 6) as usize];
        for _ in 0..50 {
            let (placed, result) = take_turns(60, parts, None);
            result.unwrap();
            let expected: Vec<(u64, u64)> =
                (0..60).flat_map(|turn| (1..=parts(turn)).map(move |part| (turn, part))).collect();
            assert_eq!(placed, expected);
        }
    }

    /// A thread that waited for its turn would have waited for ever.
    #[test]
    fn a_failure_ends_the_wait() {
        for _ in 0..50 {
            let (placed, result) = take_turns(60, |_| 3, Some(5));
            assert_eq!(result.unwrap_err().message(), "turn 5");
            assert_eq!(placed.len(), 15, "the turns before it are placed");
        }
    }

    #[test]
    fn a_part_that_cannot_be_placed_fails_its_turn() {
        let turns = Turns::new(|part: u64| if part == 3 { Err(Error::new(ErrorKind::Io, "full")) } else { Ok(()) });
        turns.end(1, 3);
        turns.end(0, 1);
        turns.end(2, 4);
        assert!(turns.has_failed());
        assert_eq!(turns.finish().unwrap_err().message(), "full");
    }
}
