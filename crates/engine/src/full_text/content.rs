//! Passes rows to the indexers on their way, and makes the records of the content table from them.

use super::indexer::{Indexer, IndexerPool, Place, places};
use crate::Result;
use crate::threads::take_all;
use litepress_format::record::{RecordReader, write_record};
use litepress_format::value::Value;
use litepress_format::varint;
use litepress_rows::schema::{FullText, TextContent};
use litepress_rows::sync::{Mutex, lock};
use litepress_rows::{Part, RecordChunk, RowidOrder, Source, Table};

/// The rows of a source, all of which are indexed as they are read.
pub(super) struct IndexedSource<'s> {
    source: &'s dyn Source,
    pool: &'s IndexerPool<'s>,
    layout: ContentLayout,
}

/// The records of the content table.
#[derive(Clone, Debug)]
enum ContentLayout {
    /// NULL for the rowid, the columns, and NULL for each locale.
    All { locales: usize },
    /// NULL for the rowid, and these columns.
    Some(Vec<usize>),
    /// NULL for the rowid, values of the record of another table, and NULL for each locale.
    Copied { places: Vec<Place>, locales: usize },
    /// None.
    Nothing,
}

impl ContentLayout {
    fn new(table: &Table, full_text: &FullText) -> Self {
        let columns = table.ordinary_columns().count();
        let names = &full_text.content_columns;
        let locales = names.len().saturating_sub(1 + columns);
        match &full_text.content {
            TextContent::Own => Self::All { locales },
            TextContent::Copied(..) => Self::Copied { places: places(table, full_text), locales },
            // A column of the content table has the number of its column.
            TextContent::Unindexed => {
                Self::Some(names.iter().filter_map(|name| name.strip_prefix('c')?.parse().ok()).collect())
            }
            _ => Self::Nothing,
        }
    }

    /// Makes the record of the content table from the record of a row.
    fn convert(&self, rowid: i64, record: &[u8], out: &mut Vec<u8>) {
        out.clear();
        match self {
            Self::All { locales } => {
                let (header, start) = varint::read(record).expect(WELL_FORMED);
                let header = usize::try_from(header).expect(WELL_FORMED);
                let types = 1 + (header - start) + locales;
                let own = |len: usize| varint::len((types + len) as u64);
                let len = if own(1) == 1 { 1 } else { own(own(2)) };
                varint::push((types + len) as u64, out);
                out.push(0);
                out.extend_from_slice(&record[start..header]);
                out.resize(out.len() + locales, 0);
                out.extend_from_slice(&record[header..]);
            }
            Self::Copied { places, locales } => {
                let values = values(record);
                let copied = places.iter().map(|place| place.value(&values, rowid));
                let locales = std::iter::repeat_n(Value::Null, *locales);
                let kept: Vec<Value<'_>> = std::iter::once(Value::Null).chain(copied).chain(locales).collect();
                write_record(&kept, out);
            }
            Self::Some(columns) => {
                let values = values(record);
                let kept = columns.iter().map(|&column| values[column]);
                let kept: Vec<Value<'_>> = std::iter::once(Value::Null).chain(kept).collect();
                write_record(&kept, out);
            }
            Self::Nothing => {}
        }
    }
}

/// Returns the values of a record.
fn values(record: &[u8]) -> Vec<Value<'_>> {
    let read = RecordReader::new(record).expect(WELL_FORMED);
    read.map(|value| value.expect(WELL_FORMED)).collect()
}

const WELL_FORMED: &str = "records of a chunk are well-formed";

impl<'s> IndexedSource<'s> {
    pub fn new(source: &'s dyn Source, pool: &'s IndexerPool<'s>, table: &Table, full_text: &FullText) -> Self {
        Self { source, pool, layout: ContentLayout::new(table, full_text) }
    }

    /// Indexes all rows, and keeps no records.
    pub fn drain(&self, threads: usize) -> Result<()> {
        let next = Mutex::new(0_u64);
        take_all(
            threads,
            RecordChunk::new,
            |chunk| {
                let (number, part) = {
                    let mut next = lock(&next);
                    let number = *next;
                    *next += 1;
                    (number, self.next_part().map_err(|error| (u64::MAX, error))?)
                };
                let Some(mut part) = part else { return Ok(false) };
                loop {
                    chunk.clear();
                    part.fill(chunk).map_err(|error| (number, error))?;
                    if chunk.is_empty() {
                        return Ok(true);
                    }
                }
            },
            |_| Ok(()),
        )
    }
}

impl Source for IndexedSource<'_> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let Some(part) = self.source.next_part()? else { return Ok(None) };
        let Self { pool, layout, .. } = self;
        Ok(Some(Box::new(IndexedPart {
            part,
            pool,
            layout,
            indexer: None,
            rows: RecordChunk::new(),
            record: Vec::new(),
        })))
    }

    fn rows(&self) -> Option<u64> {
        self.source.rows()
    }

    fn rowid_order(&self) -> RowidOrder {
        self.source.rowid_order()
    }

    fn page_bytes(&self) -> f64 {
        self.source.page_bytes()
    }
}

/// A part whose rows are indexed as they are read.
struct IndexedPart<'s> {
    part: Box<dyn Part + 's>,
    pool: &'s IndexerPool<'s>,
    layout: &'s ContentLayout,
    /// The indexer, from the first rows until the part is dropped.
    indexer: Option<Indexer>,
    rows: RecordChunk,
    record: Vec<u8>,
}

impl Part for IndexedPart<'_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        let Self { part, pool, layout, indexer, rows, record } = self;
        pool.progress().go_on()?;
        rows.clear();
        part.fill(rows)?;
        if rows.is_empty() {
            return Ok(());
        }
        indexer.get_or_insert_with(|| pool.take()).add(rows, pool)?;
        chunk.set_first_record(rows.first_record());
        for (row, &rowid) in rows.rowids().iter().enumerate() {
            layout.convert(rowid, rows.record(row), record);
            chunk.push(rowid, record);
        }
        Ok(())
    }
}

impl Drop for IndexedPart<'_> {
    /// Gives the indexer back: other parts go on with it.
    fn drop(&mut self) {
        if let Some(indexer) = self.indexer.take() {
            self.pool.give_back(indexer);
        }
    }
}
