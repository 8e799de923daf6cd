//! A bounded channel of pieces from the thread that has the Python data to the workers of the engine.

use crossbeam_channel::{Receiver, SendTimeoutError, Sender};
use litepress::pipeline::RowsInMemory;
use litepress_load::reader::{Batch, FileColumn, Piece, ProjectedColumn, Reader};
use litepress_rows::{Error, ErrorKind, Result};
use pyo3::prelude::*;
use std::sync::Arc;
use std::time::Duration;

/// Capacity of the channel: enough pieces to keep all workers busy, few enough to stay small in memory.
const WAITING_PIECES: usize = 4;

/// Data of one table that only the interpreter can read. Only the thread that holds the interpreter calls it.
pub trait PieceMaker {
    /// Returns the names and types of the columns of a piece, in their order.
    fn fields(&self) -> &[FileColumn];

    /// Returns the names of the columns that are stored in a form that the user chose.
    fn formed(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the next rows with all values converted, or `None` after the last. The size of a piece depends on the data alone.
    ///
    /// # Errors
    /// Exceptions of Python code, unchanged; `litepress.DataError` for a value that cannot be stored.
    fn next_piece(&mut self, py: Python<'_>) -> PyResult<Option<RowsInMemory>>;
}

/// The sending end of a table's channel. Dropping it ends the table.
#[derive(Debug)]
pub struct Feed {
    sender: Sender<Box<dyn Piece>>,
}

/// The result of an attempt to send a piece.
pub enum Sent {
    /// The piece is in the channel.
    Done,
    /// The channel is full: the piece comes back.
    Full(Box<dyn Piece>),
    /// The receiver is gone: the engine has failed, and its thread returns the reason.
    Over,
}

/// Makes the two ends of a table's channel.
///
/// `formed` are the columns that come in the form that the user chose.
pub fn channel(fields: Vec<FileColumn>, formed: Vec<String>) -> (Feed, ChannelReader) {
    let (sender, receiver) = crossbeam_channel::bounded(WAITING_PIECES);
    let columns = (0..fields.len()).collect();
    (Feed { sender }, ChannelReader { fields, formed, receiver, columns })
}

impl Feed {
    /// Returns whether all pieces that were sent are taken.
    pub fn is_empty(&self) -> bool {
        self.sender.is_empty()
    }

    /// Sends a piece, and waits up to `patience` for room. The caller must not hold the interpreter.
    pub fn send(&self, piece: Box<dyn Piece>, patience: Duration) -> Sent {
        match self.sender.send_timeout(piece, patience) {
            Ok(()) => Sent::Done,
            Err(SendTimeoutError::Timeout(piece)) => Sent::Full(piece),
            Err(SendTimeoutError::Disconnected(_)) => Sent::Over,
        }
    }
}

/// The receiving end: a reader whose pieces come from the channel instead of a file.
#[derive(Debug)]
pub struct ChannelReader {
    fields: Vec<FileColumn>,
    formed: Vec<String>,
    receiver: Receiver<Box<dyn Piece>>,
    /// Positions of the projected columns in a piece.
    columns: Arc<[usize]>,
}

impl Reader for ChannelReader {
    fn columns(&self) -> &[FileColumn] {
        &self.fields
    }

    fn project(&mut self, columns: &[ProjectedColumn]) -> Result<()> {
        let position = |projected: &ProjectedColumn| {
            if let Some(form) = &projected.form
                && !self.formed.contains(&projected.name)
            {
                let message = format!("Python values have one form only, and not '{form}'");
                return Err(Error::new(ErrorKind::Usage, message).in_column(&projected.name));
            }
            let named = || self.fields.iter().position(|field| field.name == projected.name);
            let missing = || Error::new(ErrorKind::Usage, "the data have no such column").in_column(&projected.name);
            projected.field.or_else(named).ok_or_else(missing)
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
