//! Makes rows in four threads and sends them through a channel; the calling thread inserts them.

use crate::Outcome;
use crate::row::RandomRows;
use crate::statements::{Inserter, batches, text_of};
use rusqlite::Transaction;
use std::sync::mpsc::sync_channel;
use std::thread;

pub const PRODUCERS: u64 = 4;
/// Rows of a statement and of a message.
const BATCH: usize = 50;
/// Messages in the channel: enough to keep all threads busy in little memory.
const QUEUE: usize = 1000;

/// Sends rows, which are bound to a prepared statement.
pub fn prepared(transaction: &Transaction<'_>, rows: u64) -> Outcome<()> {
    let mut inserter = Inserter::new(transaction, BATCH, None)?;
    from_producers(rows, RandomRows::rows, |rows| inserter.insert(rows.into_iter()))
}

/// Sends statements with all values in their text.
pub fn text(transaction: &Transaction<'_>, rows: u64) -> Outcome<()> {
    from_producers(rows, text_of, |text| Ok(transaction.execute_batch(&text)?))
}

fn from_producers<T: Send>(
    rows: u64,
    make: fn(&mut RandomRows, usize) -> T,
    write: impl FnMut(T) -> Outcome<()>,
) -> Outcome<()> {
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(QUEUE);
        for share in shares(rows) {
            let sender = sender.clone();
            scope.spawn(move || {
                let mut random = RandomRows::new();
                // After a failed statement the receiver is gone.
                batches(share, BATCH).map(|size| make(&mut random, size)).all(|batch| sender.send(batch).is_ok())
            });
        }
        drop(sender);
        receiver.into_iter().try_for_each(write)
    })
}

/// Returns the number of rows of each producer.
pub fn shares(rows: u64) -> impl Iterator<Item = u64> {
    (0..PRODUCERS).map(move |producer| rows / PRODUCERS + u64::from(producer < rows % PRODUCERS))
}
