//! Accepted rows of a judged batch, without gaps in their numbers.

use litepress_rows::RecordChunk;
use litepress_rows::encode::SkippedRows;

/// Accepted rows of a judged batch, handed out in runs of consecutive numbers: a chunk has no gaps.
#[derive(Debug, Default)]
pub(super) struct AcceptedRows {
    rows: RecordChunk,
    /// The number of each row.
    numbers: Vec<u64>,
    /// Position of the next row to hand out.
    next: usize,
}

impl AcceptedRows {
    pub fn is_empty(&self) -> bool {
        self.next == self.numbers.len()
    }

    /// Clears and returns the chunk. The caller fills it and then calls [`number`](Self::number).
    pub fn refill(&mut self) -> &mut RecordChunk {
        self.rows.clear();
        self.numbers.clear();
        self.next = 0;
        &mut self.rows
    }

    /// Numbers the rows that stay of a batch of `rows` rows.
    pub fn number(&mut self, left_out: &SkippedRows, first_record: u64, rows: usize) {
        let stays = (first_record..).zip(0..rows).filter(|(_, row)| !left_out.has(*row));
        self.numbers.extend(stays.map(|(number, _)| number));
        assert_eq!(self.numbers.len(), self.rows.len(), "the rows that stay are those that are not left out");
    }

    /// Appends the next run of consecutive rows to the empty chunk. Returns whether there was one.
    pub fn hand_out(&mut self, chunk: &mut RecordChunk) -> bool {
        let Some(&first) = self.numbers.get(self.next) else { return false };
        chunk.set_first_record(first);
        for number in first.. {
            if self.numbers.get(self.next) != Some(&number) {
                break;
            }
            chunk.push(self.rows.rowids()[self.next], self.rows.record(self.next));
            if self.rows.is_automatic(self.next) {
                chunk.mark_automatic(chunk.len() - 1);
            }
            self.next += 1;
        }
        true
    }
}
