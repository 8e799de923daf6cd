//! Builds the tree of `sqlite_schema`, whose root is page 1, behind the file header.

use super::interior::{LargestRowid, Levels, Root, write_interior};
use super::open_page::write_empty;
use super::table_leaf::LeafBuilder;
use crate::Result;
use crate::pages::Pages;
use litepress_format::header::DatabaseHeader;
use litepress_format::page::{FILE_HEADER_LEN, PageKind};
use litepress_format::schema::SchemaRow;
use litepress_rows::RecordChunk;
use litepress_rows::schema::SchemaObject;

/// A row of `sqlite_schema` that litepress writes.
#[derive(Clone, Copy)]
pub(crate) struct WrittenObject<'s> {
    /// Place of the object in the schema, counted from 1. Objects that SQLite makes later leave gaps.
    pub rowid: i64,
    /// The object.
    pub object: &'s SchemaObject,
    /// Its root page, 0 if it has none.
    pub root: u32,
}

/// Writes the schema's tree except for its root. Returns page 1, complete with the header.
///
/// REQUIRES: `objects` in the order of their rowids.
pub(crate) fn build(
    objects: &[WrittenObject<'_>],
    pages: &mut Pages,
    header: impl FnOnce(u32) -> DatabaseHeader,
) -> Result<Vec<u8>> {
    build_rows(&rows(objects), pages, header)
}

/// Writes the schema's tree of these rows except for its root. Returns page 1, complete with the header.
///
/// REQUIRES: ascending rowids.
pub(crate) fn build_rows(
    rows: &RecordChunk,
    pages: &mut Pages,
    header: impl FnOnce(u32) -> DatabaseHeader,
) -> Result<Vec<u8>> {
    let mut page_1 = match single_page(rows, pages)? {
        Some(page_1) => page_1,
        None => tree(rows, pages)?,
    };
    page_1[..FILE_HEADER_LEN].copy_from_slice(&header(pages.count()).encode());
    Ok(page_1)
}

fn rows(objects: &[WrittenObject<'_>]) -> RecordChunk {
    let mut chunk = RecordChunk::new();
    let mut record = Vec::new();
    for &WrittenObject { rowid, object, root } in objects {
        record.clear();
        let row = SchemaRow {
            kind: &object.kind,
            name: &object.name,
            tbl_name: &object.table,
            rootpage: root.into(),
            sql: object.sql.as_deref(),
        };
        row.write(&mut record);
        chunk.push(rowid, &record);
    }
    chunk
}

/// Returns page 1 if it has room for all rows. Only their overflow pages lie elsewhere.
fn single_page(chunk: &RecordChunk, pages: &mut Pages) -> Result<Option<Vec<u8>>> {
    let page_bytes = pages.page_size().bytes();
    let mut builder = LeafBuilder::new(pages.new_run(), page_bytes, FILE_HEADER_LEN);
    builder.add(chunk)?;
    let part = builder.finish();
    match part.leaves[..] {
        [] => {
            let mut page_1 = vec![0; page_bytes];
            write_empty(&mut page_1, FILE_HEADER_LEN, page_bytes, PageKind::LeafTable);
            Ok(Some(page_1))
        }
        [_] => Ok(Some(pages.place_behind_page_1(part.run)?)),
        _ => Ok(None),
    }
}

/// Returns page 1 as the root of a taller tree.
fn tree(chunk: &RecordChunk, pages: &mut Pages) -> Result<Vec<u8>> {
    let page_bytes = pages.page_size().bytes();
    let mut builder = LeafBuilder::new(pages.new_run(), page_bytes, 0);
    builder.add(chunk)?;
    let part = builder.finish();
    let mut run = part.run;
    let placement = pages.place(&mut run)?;
    let mut levels = Levels::new(page_bytes);
    let mut append = |children: &[_]| super::assembler::append_interior(pages, &mut run, &placement, children);
    for &(last_rowid, index) in &part.leaves {
        levels.push((LargestRowid(last_rowid), placement.number(index)), &mut append)?;
    }
    let root = levels.finish(page_bytes - FILE_HEADER_LEN, &mut append)?;
    pages.write(run, &placement)?;
    let children = match root {
        Root::Interior(children) => children,
        // The rows fit on a page, but not on page 1, which is 100 bytes shorter. SQLite does the same: only page 1 may
        // be an interior page without a cell.
        Root::Leaf(leaf) => vec![(LargestRowid(0), leaf.expect("a schema with rows"))],
    };
    let mut page_1 = vec![0; page_bytes];
    write_interior(&mut page_1, FILE_HEADER_LEN, page_bytes, &children);
    Ok(page_1)
}
