//! Finds rows that claim one key of a unique index, whether or not one of them is overwritten later.
//!
//! ```text
//! there is (1, 'a'); rows (3, 'a') and (3, 'c') come, on conflict replace
//!
//! SQLite        (3, 'a') deletes (1, 'a'), and (3, 'c') replaces (3, 'a')
//! by rowid      (3, 'c') replaces (3, 'a'), and (1, 'a') stays: wrong
//! ```
//!
//! If no two rows with different primary keys claim one unique key, of all rows that are there or come, no row can delete another
//! one or fail by it. Then the primary key alone decides.

use crate::index::{ColumnLocator, IndexPlan};
use crate::progress::Progress;
use crate::sort::SortOptions;
use crate::table::sorted_rows::sort_rows;
use crate::table::{Row, RowKey};
use crate::{Error, ErrorKind, Result};
use litepress_rows::{RecordChunk, Source};

/// Fails if two rows with different primary keys have one key of a unique index.
pub(super) fn check_claims(
    plan: IndexPlan,
    rows: &dyn Source,
    options: &SortOptions,
    progress: &Progress,
) -> Result<()> {
    let key = Claim(plan);
    let sorted = sort_rows(rows, &key, options, progress)?;
    let (mut items, mut before) = (sorted.range(0..sorted.len())?, Vec::new());
    while let Some(item) = items.next()? {
        if key.0.is_claimed_by_another(claim(&before), claim(item))? {
            let message = "rows with different primary keys claim one unique key";
            return Err(Error::new(ErrorKind::Constraint, message));
        }
        before.clear();
        before.extend_from_slice(item);
    }
    Ok(())
}

/// The entry of a row in a unique index, followed by the position of the row: equal entries are distinct items.
struct Claim(IndexPlan);

/// Returns an item without its position.
fn claim(item: &[u8]) -> &[u8] {
    &item[..item.len().saturating_sub(size_of::<u64>())]
}

impl RowKey for Claim {
    fn push_item(
        &self,
        locator: &mut ColumnLocator,
        chunk: &RecordChunk,
        row: usize,
        item: &mut Vec<u8>,
    ) -> Result<()> {
        self.0.push_item(locator, chunk.record(row), chunk.rowids()[row], item)?;
        item.extend_from_slice(&(chunk.first_record() + row as u64).to_be_bytes());
        Ok(())
    }

    fn read(&self, item: &[u8], _rank: u64) -> Result<Row> {
        Ok(Row { unique_len: None, rowid: 0, record: (item.len(), item.len()) })
    }

    fn conflict(&self, _first: &[u8], _second: &[u8]) -> Error {
        Error::new(ErrorKind::Constraint, "two rows claim one key")
    }
}
