//! A database that is copied: one transaction, its pages, and the rows of `sqlite_schema`.

use crate::{Error, ErrorKind, Result};
use litepress_format::header::DatabaseHeader;
use litepress_format::page::PageKind;
use litepress_format::record;
use litepress_format::schema::ROOT_PAGE;
use litepress_format::text;
use litepress_format::value::Value;
use litepress_rows::sqlite::{message, refuse_shared_roots};
use litepress_rows::{RecordChunk, Source};
use litepress_scan::{Moment, Snapshot, TableScan};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A database that is read in one transaction. It is closed when this is dropped.
pub(super) struct SourceDatabase {
    /// Its path as it was given.
    pub path: PathBuf,
    pub objects: Vec<Object>,
    pub snapshot: Snapshot,
    /// The transaction.
    pub moment: Moment,
}

/// A row of `sqlite_schema`.
pub(super) struct Object {
    pub rowid: i64,
    /// `table`, `index`, `view` or `trigger`.
    pub kind: String,
    pub name: String,
    /// The table or view it belongs to.
    pub table: String,
    /// `None` for an index of a constraint.
    pub sql: Option<String>,
    /// Its tree, if it has one.
    pub tree: Option<Tree>,
    /// The whole record.
    pub record: Vec<u8>,
}

/// A tree of the database.
#[derive(Clone, Copy)]
pub(super) struct Tree {
    pub root: u32,
    /// Whether it is one of index pages: that of an index or a WITHOUT ROWID table.
    pub is_keyed: bool,
}

impl SourceDatabase {
    /// Opens the database and begins the transaction.
    pub fn open(name: &Path) -> Result<Self> {
        if fs::metadata(name).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Err(missing(name));
        }
        let (moment, snapshot) = Moment::begin_with_pages(name)?;
        let mut source = Self { path: name.to_owned(), objects: Vec::new(), snapshot, moment };
        source.objects = source.read_objects()?;
        Ok(source)
    }

    /// Returns the size of the file, in bytes.
    pub fn bytes(&self) -> u64 {
        u64::from(self.snapshot.page_count()) * self.snapshot.page_size().bytes() as u64
    }

    /// Returns the bytes of all pages that hold something.
    pub fn used_bytes(&self) -> u64 {
        let free = self.snapshot.header().freelist_pages;
        u64::from(self.snapshot.page_count().saturating_sub(free)) * self.snapshot.page_size().bytes() as u64
    }

    /// Returns the header of the copy. Its counters differ from those here, so that a connection takes no page of one file for
    /// a page of the other.
    pub fn next_header(&self) -> DatabaseHeader {
        let header = *self.snapshot.header();
        let change_counter = header.change_counter.wrapping_add(1);
        DatabaseHeader {
            change_counter,
            version_valid_for: change_counter,
            schema_cookie: header.schema_cookie.wrapping_add(1),
            sqlite_version_number: DatabaseHeader::new(header.page_size).sqlite_version_number,
            ..header
        }
    }

    /// Reads the rows of `sqlite_schema`.
    fn read_objects(&self) -> Result<Vec<Object>> {
        let mut objects = Vec::new();
        if self.snapshot.page_count() == 0 {
            return Ok(objects);
        }
        let scan = TableScan::new(&self.snapshot, ROOT_PAGE, "sqlite_schema")?;
        let mut chunk = RecordChunk::new();
        while let Some(mut part) = scan.next_part()? {
            loop {
                chunk.clear();
                part.fill(&mut chunk)?;
                if chunk.is_empty() {
                    break;
                }
                for (row, &rowid) in chunk.rowids().iter().enumerate() {
                    objects.push(self.object(rowid, chunk.record(row))?);
                }
            }
        }
        let trees = objects.iter().filter_map(|object| Some((object.name.as_str(), object.tree.as_ref()?.root)));
        refuse_shared_roots(trees).map_err(|error| {
            let error = Error::new(ErrorKind::Corrupt, message(&error)).in_file(&self.path).caused_by(error);
            error.advise("find out more with: litepress check; sqlite3's .recover saves what can be read")
        })?;
        Ok(objects)
    }

    fn object(&self, rowid: i64, record: &[u8]) -> Result<Object> {
        let broken = |what: &str| {
            let message = format!("row {rowid} of sqlite_schema {what}");
            Error::new(ErrorKind::Corrupt, message)
                .in_file(&self.path)
                .advise("find out more with: litepress check; sqlite3's .recover saves what can be read")
        };
        let values = record::decode(record).map_err(|error| broken(&format!("is no record: {error}")))?;
        let [kind, name, table, root, sql] = &values[..] else { return Err(broken("does not have five columns")) };
        let text_of = |bytes: &[u8]| text::to_utf8(bytes, self.snapshot.encoding());
        let decoded = |value: &Value<'_>| match value {
            Value::Text(bytes) => Some(text_of(bytes)),
            _ => None,
        };
        let [Some(kind), Some(name), Some(table)] = [kind, name, table].map(decoded) else {
            return Err(broken("has no text for type, name or table"));
        };
        let root = match root {
            Value::Null | Value::Int(0) => None,
            Value::Int(root) => Some(u32::try_from(*root).map_err(|_| broken("has a root page that cannot be"))?),
            _ => return Err(broken("has a root page that is no number")),
        };
        let tree = root.map(|root| self.tree(root, &name)).transpose()?;
        Ok(Object { rowid, kind, name, table, sql: decoded(sql), tree, record: record.to_vec() })
    }

    /// Looks at the root page of a tree.
    fn tree(&self, root: u32, name: &str) -> Result<Tree> {
        let mut page = Vec::new();
        let read = self.snapshot.reader()?.read(root, &mut page);
        read.map_err(|error| error.in_table(name))?;
        let kind = PageKind::from_byte(page[0]);
        Ok(Tree { root, is_keyed: kind.is_some_and(|kind| !kind.is_table()) })
    }
}

/// Returns the error of a database that does not exist.
pub(super) fn missing(name: &Path) -> Error {
    Error::new(ErrorKind::Io, "there is no such database").in_file(name).advise("check its name")
}
