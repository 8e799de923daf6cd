//! From the thread that has the Python data to the workers of the press: pieces through a bounded channel.

use crossbeam_channel::{Receiver, SendTimeoutError, Sender};
use litepress::pipeline::RowsInMemory;
use litepress_load::reader::{Batch, Field, Piece, Reader, Wanted};
use litepress_rows::{Error, ErrorKind, Result};
use pyo3::prelude::*;
use std::sync::Arc;
use std::time::Duration;

/// Pieces that wait for a worker: enough to keep all of them busy, few enough to stay small.
const WAITING_PIECES: usize = 4;

/// Data of one table that only the interpreter can read. Called in the thread that has it.
pub trait PieceMaker {
    /// Names and types of the columns that pieces have, in their order.
    fn fields(&self) -> &[Field];

    /// The next rows, all values converted; `None` after the last. How many there are follows from the data alone.
    ///
    /// # Errors
    /// What Python code raises, as it is; a value that cannot be stored, as `litepress.DataError`.
    fn next_piece(&mut self, py: Python<'_>) -> PyResult<Option<RowsInMemory>>;
}

/// Where pieces are sent from. Dropped, it ends the table.
#[derive(Debug)]
pub struct Feed {
    sender: Sender<Box<dyn Piece>>,
}

/// What became of a piece that was to be sent.
pub enum Sent {
    /// It is on its way.
    Done,
    /// There is no room yet: it comes back.
    Full(Box<dyn Piece>),
    /// Nobody wants it: the press has failed, and says why at its end.
    Over,
}

/// A table that is fed: the two ends.
pub fn channel(fields: Vec<Field>) -> (Feed, ChannelReader) {
    let (sender, receiver) = crossbeam_channel::bounded(WAITING_PIECES);
    let columns = (0..fields.len()).collect();
    (Feed { sender }, ChannelReader { fields, receiver, columns })
}

impl Feed {
    /// Sends a piece, and waits this long for room. To be called without the interpreter.
    pub fn send(&self, piece: Box<dyn Piece>, patience: Duration) -> Sent {
        match self.sender.send_timeout(piece, patience) {
            Ok(()) => Sent::Done,
            Err(SendTimeoutError::Timeout(piece)) => Sent::Full(piece),
            Err(SendTimeoutError::Disconnected(_)) => Sent::Over,
        }
    }
}

/// The pieces that are sent, as a file of them.
#[derive(Debug)]
pub struct ChannelReader {
    fields: Vec<Field>,
    receiver: Receiver<Box<dyn Piece>>,
    /// Positions in a piece of the columns that are wanted.
    columns: Arc<[usize]>,
}

impl Reader for ChannelReader {
    fn columns(&self) -> &[Field] {
        &self.fields
    }

    fn want(&mut self, columns: &[Wanted]) -> Result<()> {
        let position = |wanted: &Wanted| {
            if let Some(form) = &wanted.form {
                let message = format!("Python values have one form only, and not '{form}'");
                return Err(Error::new(ErrorKind::Usage, message).in_column(&wanted.name));
            }
            let named = || self.fields.iter().position(|field| field.name == wanted.name);
            let missing = || Error::new(ErrorKind::Usage, "the data have no such column").in_column(&wanted.name);
            wanted.field.or_else(named).ok_or_else(missing)
        };
        self.columns = columns.iter().map(position).collect::<Result<_>>()?;
        Ok(())
    }

    fn next_piece(&mut self) -> Result<Option<Box<dyn Piece>>> {
        let Ok(piece) = self.receiver.recv() else { return Ok(None) };
        let is_whole = self.columns.iter().copied().eq(0..self.fields.len());
        if is_whole {
            return Ok(Some(piece));
        }
        Ok(Some(Box::new(Chosen { piece, columns: self.columns.clone(), whole: Batch::default() })))
    }
}

/// Some columns of a piece.
struct Chosen {
    piece: Box<dyn Piece>,
    columns: Arc<[usize]>,
    whole: Batch,
}

impl Piece for Chosen {
    fn first_record(&self) -> u64 {
        self.piece.first_record()
    }

    fn records(&self) -> u64 {
        self.piece.records()
    }

    fn read(&mut self, batch: &mut Batch) -> Result<()> {
        self.piece.read(&mut self.whole)?;
        batch.clear(self.columns.len());
        batch.rows = self.whole.rows;
        std::mem::swap(&mut batch.bad, &mut self.whole.bad);
        if batch.rows > 0 {
            for (block, &column) in batch.blocks.iter_mut().zip(&*self.columns) {
                std::mem::swap(block, &mut self.whole.blocks[column]);
            }
        }
        Ok(())
    }
}
