//! The rows of an append as sources: new rows as the table takes them, and old rows in front of them.

use crate::Result;
use crate::sort::bad_item;
use litepress_format::header::TextEncoding;
use litepress_format::text;
use litepress_rows::{MappedSource, Part, RowidOrder, Source, recode_texts};

/// Returns new rows with `rowids` added to each rowid, and `positions` to each position, so that they come behind all old rows.
pub(super) fn shifted(source: &dyn Source, rowids: i64, positions: u64) -> impl Source {
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
pub(super) fn recoded(source: &dyn Source, encoding: TextEncoding) -> impl Source {
    MappedSource::new(source, RowidOrder::Unknown, move |chunk| {
        let encode = |utf8: &[u8]| text::from_utf8(&String::from_utf8_lossy(utf8), encoding);
        recode_texts(chunk, encode).map_err(|error| bad_item(&error))
    })
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
