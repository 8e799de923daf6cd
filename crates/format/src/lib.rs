//! The bytes of a SQLite database file.
//!
//! Everything here turns values into bytes of the SQLite file format, or such bytes back into
//! values. Nothing here opens a file, starts a thread or allocates a page: functions take slices
//! and return counts, so that each of them is tested, fuzzed and run under miri without a disk.
//! Section numbers in the docs are those of SQLite's "Database File Format"
//! (<https://www.sqlite.org/fileformat2.html>); all integers in the format are big-endian.
//!
//! # The tour, from the smallest thing to the whole file
//!
//! | module | what it is | section |
//! |---|---|---|
//! | [`varint`] | the 1 to 9 byte integer that lengths, rowids and serial types are written in | 1.6 |
//! | [`value`] | the five kinds of value that a column holds | 2.1 |
//! | [`text`] | the three encodings of text | 1.3.13 |
//! | [`record`] | values of one row or one index key, behind a header of serial types | 2.1 |
//! | [`sort_key`] | normalised keys: they compare as bytes, and index records are made from them | 2.4 |
//! | [`payload`] | how much of a record stays on the b-tree page, and how much overflows | 1.6 |
//! | [`cell`] | a record with what the b-tree needs around it: rowid, child, overflow page | 1.6 |
//! | [`page`] | a b-tree page: header, cell pointers, gap, cells | 1.6 |
//! | [`overflow`] | the chain of pages with the rest of a long record | 1.7 |
//! | [`freelist`] | unused pages of the file | 1.5 |
//! | [`ptrmap`] | the back pointers of an auto-vacuum database | 1.8 |
//! | [`header`] | the first 100 bytes of the file | 1.3 |
//! | [`schema`] | the rows of `sqlite_schema`, whose tree is rooted on page 1 | 2.6 |
//! | [`inspect`] | any page as annotated text | |
//!
//! Every encoder has its decoder beside it. Decoders take anything that a disk may hold: they return [`FormatError`]
//! and never panic on the *contents* of a slice. Encoders take values that this program computed: they assert.
//!
//! # One row, from values to a page
//!
//! ```
//! use litepress_format::{cell::Cell, page::*, record, value::Value};
//!
//! let mut row = Vec::new();
//! record::write_record(&[Value::Null, Value::Text(b"hello"), Value::Int(300)], &mut row);
//! assert_eq!(row, b"\x04\x00\x17\x02hello\x01\x2c");
//!
//! let mut leaf_cell = Vec::new();
//! Cell::TableLeaf { rowid: 7, payload_len: row.len() as u64, local: &row, overflow: None }.write(&mut leaf_cell);
//!
//! let mut page = [0; 512];
//! let mut writer = PageWriter::new(&mut page, 0, PageKind::LeafTable, 512);
//! assert!(writer.push(&leaf_cell));
//! writer.finish(None);
//!
//! let reader = PageReader::new(&page, 0, 512)?;
//! let (read_back, _) = reader.cell(0)?;
//! let Cell::TableLeaf { rowid, local, .. } = read_back else { unreachable!() };
//! assert_eq!(rowid, 7);
//! assert_eq!(record::decode(local)?[2], Value::Int(300));
//! # Ok::<(), litepress_format::FormatError>(())
//! ```

#![forbid(unsafe_code)]

mod big_endian;
pub mod cell;
mod error;
pub mod freelist;
pub mod header;
pub mod inspect;
pub mod overflow;
pub mod page;
pub mod payload;
pub mod ptrmap;
pub mod record;
pub mod schema;
pub mod short_bytes;
pub mod sort_key;
pub mod text;
pub mod value;
pub mod varint;

pub use error::FormatError;
