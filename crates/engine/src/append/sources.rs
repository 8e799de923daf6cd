//! The rows of an append as sources: new rows as the table takes them, and old rows in front of them.
//!
//! ```text
//! given rows -> rowids -> computed columns -> CHECK constraints -> encoding of the database
//! ```

use crate::evaluate::CheckedRows;
use crate::evaluate::computed::{self, ComputedColumns};
use crate::sort::bad_item;
use crate::{Conflict, Result};
use litepress_format::header::TextEncoding;
use litepress_format::text;
use litepress_rows::{MappedSource, Part, RowidOrder, Source, Table, recode_texts};
use litepress_scan::{IndexScan, Snapshot, TableScan};

/// The position of the first new row in the order of rows: behind all old ones.
const FIRST_POSITION: u64 = 1 << 48;

/// Passes new rows to `take` as the table stores them. `shift` is added to each rowid. All of them are checked, because SQLite
/// checks a row even if another one replaces it.
pub(super) fn with_stored_rows<T>(
    table: &Table,
    given: &dyn Source,
    (shift, conflict): (i64, Conflict),
    encoding: TextEncoding,
    take: impl FnOnce(&dyn Source) -> Result<T>,
) -> Result<T> {
    let numbered = shifted(given, shift, FIRST_POSITION);
    let computed = computed::is_needed(table).then(|| ComputedColumns::new(table, &numbered)).transpose()?;
    let whole: &dyn Source = computed.as_ref().map_or(&numbered, |computed| computed);
    let are_overwritten = matches!(conflict, Conflict::Replace | Conflict::Update);
    let checked = CheckedRows::new(table, whole, are_overwritten)?;
    let checked: &dyn Source = checked.as_ref().map_or(whole, |checked| checked);
    match encoding {
        TextEncoding::Utf8 => take(checked),
        other => take(&recoded(checked, other)),
    }
}

/// Returns new rows with `rowids` added to each rowid, and `positions` to each position, so that they come behind all old rows.
fn shifted(source: &dyn Source, rowids: i64, positions: u64) -> impl Source {
    MappedSource::new(source, RowidOrder::Unknown, move |chunk| {
        if rowids != 0 {
            let shifted: Vec<i64> = chunk.rowids().iter().map(|rowid| rowid + rowids).collect();
            chunk.set_rowids(0, shifted.into_iter());
        }
        chunk.set_first_record(chunk.first_record() + positions);
        Ok(())
    })
}

/// Returns rows with their texts in the encoding of the database instead of UTF-8.
fn recoded(source: &dyn Source, encoding: TextEncoding) -> impl Source {
    MappedSource::new(source, RowidOrder::Unknown, move |chunk| {
        let encode = |utf8: &[u8]| text::from_utf8(&String::from_utf8_lossy(utf8), encoding);
        recode_texts(chunk, encode).map_err(|error| bad_item(&error))
    })
}

/// Returns the rows that a table has.
pub(super) fn old_rows(table: &Table, snapshot: &Snapshot, root: u32) -> Result<Box<dyn Source>> {
    Ok(match table.without_rowid {
        true => Box::new(IndexScan::new(snapshot, root, &table.name)?),
        false => Box::new(TableScan::new(snapshot, root, &table.name)?),
    })
}

/// The estimated size of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct TableSize {
    pub rows: u64,
    pub pages: u64,
}

impl TableSize {
    /// Estimates the size of a table from some of its pages.
    pub fn estimate(table: &Table, snapshot: &Snapshot, root: u32) -> Result<Self> {
        let (rows, page_bytes) = if table.without_rowid {
            let scan = IndexScan::new(snapshot, root, &table.name)?;
            (scan.estimated_rows()?, scan.page_bytes())
        } else {
            let scan = TableScan::new(snapshot, root, &table.name)?;
            (scan.estimated_rows()?, scan.page_bytes())
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate, and saturates")]
        let pages = (rows as f64 * page_bytes / snapshot.usable() as f64) as u64;
        Ok(Self { rows, pages })
    }
}

/// The rows of a table, then new ones.
pub(super) struct OldAndNew<'s> {
    pub old: &'s dyn Source,
    pub new: &'s dyn Source,
}

impl Source for OldAndNew<'_> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        match self.old.next_part()? {
            Some(part) => Ok(Some(part)),
            None => self.new.next_part(),
        }
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn page_bytes(&self) -> f64 {
        self.new.page_bytes()
    }
}
