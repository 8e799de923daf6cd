//! Rows of files that are lists of texts: their records, and the treatment of bad ones.

use super::*;
use crate::infer::FileStats;
use crate::reader::{BadRecord, Batch, FileColumn, Piece, ProjectedColumn};
use litepress_format::record;
use litepress_format::value::Value;
use litepress_rows::{ErrorKind, Schema};
use std::borrow::Cow;
use std::collections::VecDeque;

/// A file of one column, as pieces of batches of texts. `?` is a record that cannot be read, `!` one that is always left
/// out.
struct Texts {
    pieces: VecDeque<Vec<Vec<&'static str>>>,
    next_record: u64,
}

struct TextPiece {
    first_record: u64,
    records: u64,
    batches: VecDeque<Vec<&'static str>>,
    current: Vec<&'static str>,
    read: u64,
}

impl Reader for Texts {
    fn columns(&self) -> &[FileColumn] {
        &[]
    }

    fn project(&mut self, _columns: &[ProjectedColumn]) -> Result<()> {
        Ok(())
    }

    fn next_piece(&mut self) -> Result<Option<Box<dyn Piece>>> {
        let Some(batches) = self.pieces.pop_front() else { return Ok(None) };
        let (first_record, records) = (self.next_record, batches.iter().map(|batch| batch.len() as u64).sum());
        self.next_record += records;
        Ok(Some(Box::new(TextPiece { first_record, records, batches: batches.into(), current: Vec::new(), read: 0 })))
    }
}

impl Piece for TextPiece {
    fn first_record(&self) -> u64 {
        self.first_record
    }

    fn records(&self) -> u64 {
        self.records
    }

    fn read(&mut self, batch: &mut Batch) -> Result<()> {
        self.read += self.current.len() as u64;
        self.current = self.batches.pop_front().unwrap_or_default();
        batch.clear(1);
        batch.rows = self.current.len();
        let values = self.current.iter().map(|text| OwnedValue::Text((*text).to_owned()));
        batch.blocks[0].values().extend(values);
        for row in (0..batch.rows).filter(|&row| matches!(self.current[row], "?" | "!")) {
            batch.blocks[0].set_null(row, batch.rows);
            let is_left_out = self.current[row] == "!";
            batch.bad.push(BadRecord { row, error: Error::new(ErrorKind::Data, "a question"), is_left_out });
        }
        Ok(())
    }

    fn scan_types(&mut self, _findings: &mut FileStats) -> Result<()> {
        unreachable!("rows are read here")
    }

    /// Returns the line of a row; records begin after a header line.
    fn line(&self, row: usize) -> Option<u64> {
        Some(self.first_record + self.read + row as u64 + 1)
    }

    fn raw(&self, row: usize) -> Option<Cow<'_, [u8]>> {
        Some(Cow::Borrowed(self.current[row].as_bytes()))
    }
}

fn file(name: &str, pieces: &[&[&[&'static str]]]) -> OpenFile {
    let pieces = pieces.iter().map(|piece| piece.iter().map(|batch| batch.to_vec()).collect()).collect();
    let reader = Box::new(Texts { pieces, next_record: 1 });
    OpenFile {
        name: Some(name.into()),
        reader,
        column_sources: vec![ColumnSource::File(0)],
        type_checks: Vec::new(),
        conversions: Vec::new(),
        gives_records: false,
        keeps_rowids: false,
    }
}

fn table(sql: &str) -> Table {
    Schema::from_sql(sql, "<test>").unwrap().tables.remove(0)
}

fn source(sql: &str, files: Vec<OpenFile>, on_error: OnError) -> LoadSource {
    rejecting(sql, files, on_error, Rejects::new(None, false, 10).unwrap())
}

fn rejecting(sql: &str, files: Vec<OpenFile>, on_error: OnError, rejects: Rejects) -> LoadSource {
    LoadSource::new(&table(sql), files, Conflict::Abort, on_error, Arc::new(rejects), TableEstimate::default())
}

/// Returns all rows: position in the input, rowid and first value.
fn rows(source: &LoadSource) -> Result<Vec<(u64, i64, String)>> {
    let (mut rows, mut chunk) = (Vec::new(), RecordChunk::new());
    while let Some(mut part) = source.next_part()? {
        loop {
            chunk.clear();
            part.fill(&mut chunk)?;
            if chunk.is_empty() {
                break;
            }
            for row in 0..chunk.len() {
                let value = match record::decode(chunk.record(row)).unwrap()[0] {
                    Value::Text(text) => String::from_utf8(text.to_vec()).unwrap(),
                    other => litepress_rows::quote(&other),
                };
                rows.push((chunk.first_record() + row as u64, chunk.rowids()[row], value));
            }
        }
    }
    Ok(rows)
}

fn numbered(rows: &[(u64, &str)]) -> Vec<(u64, i64, String)> {
    rows.iter().map(|&(number, value)| (number, number.cast_signed(), value.to_owned())).collect()
}

const STRICT: &str = "CREATE TABLE t (a INT NOT NULL) STRICT";

#[test]
fn rows_are_numbered_through_pieces_and_files() {
    let files =
        || vec![file("one", &[&[&["1", "2"], &["3"]], &[&["4"]]]), file("none", &[]), file("two", &[&[&["5"]]])];
    let source = source(STRICT, files(), OnError::Abort);
    assert_eq!(rows(&source).unwrap(), numbered(&[(1, "1"), (2, "2"), (3, "3"), (4, "4"), (5, "5")]));
    for (record, file, number) in [(1, "one", 1), (4, "one", 4), (5, "two", 1)] {
        let error = source.explain(Error::new(ErrorKind::Constraint, "twice").in_record(record));
        assert_eq!((error.place().file.as_deref(), error.place().record), (Some(Path::new(file)), Some(number)));
    }
}

#[test]
fn a_value_that_its_column_refuses_is_told_with_file_record_and_line() {
    let files = vec![file("one", &[&[&["1", "2"]]]), file("two", &[&[&["3"], &["4", "x"]]])];
    let error = rows(&source(STRICT, files, OnError::Abort)).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("two:4:1: t.a: record 3: the value cannot be stored in an INTEGER column"), "{text}");
    assert!(text.contains("'x'"), "{text}");
}

#[test]
fn a_record_that_cannot_be_read_fails_where_nothing_else_is_wanted() {
    for on_error in [OnError::Abort, OnError::Null] {
        let files = vec![file("one", &[&[&["1"], &["2", "?"]]])];
        let error = rows(&source("CREATE TABLE t (a)", files, on_error)).unwrap_err();
        assert_eq!(error.to_string(), "one:4:1: table t: record 3: a question");
    }
}

/// Rows that are left out leave a gap in the numbers, also within chunks: positions are those in the file.
#[test]
fn rows_that_are_wrong_are_left_out_and_written_down() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rejects.csv");
    let rejects = Rejects::new(Some(&path), false, 10).unwrap();
    let pieces: &[&[&[&str]]] = &[&[&["1", "?", "3", "x", "5"], &["?"], &["7"]], &[&["8", "y"]]];
    let source = rejecting(STRICT, vec![file("one", pieces)], OnError::Reject, rejects);
    assert_eq!(rows(&source).unwrap(), numbered(&[(1, "1"), (3, "3"), (5, "5"), (7, "7"), (8, "8")]));
    source.rejects.publish().unwrap();
    assert_eq!(source.rejects.count(), 4);
    let written = std::fs::read_to_string(&path).unwrap();
    let places: Vec<&str> = written.lines().skip(1).map(|line| &line[..line.len().min(10)]).collect();
    assert_eq!(places, ["one,t,2,3,", "one,t,4,5,", "one,t,6,7,", "one,t,9,10"], "{written}");
    assert!(written.lines().nth(2).unwrap().ends_with(",x"), "{written}");
}

/// Records that could not be read stood before those with a wrong value, whatever their order in the file.
#[test]
fn rejects_stand_in_the_order_of_the_records() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rejects.csv");
    let rejects = Rejects::new(Some(&path), false, 10).unwrap();
    let refused = BTreeMap::from([(3, Error::new(ErrorKind::Constraint, "SQLite says no"))]);
    let files = vec![file("one", &[&[&["x", "?", "3", "?", "y"]]])];
    let source = rejecting(STRICT, files, OnError::Reject, rejects).refusing(refused);
    assert_eq!(rows(&source).unwrap(), []);
    source.rejects.publish().unwrap();
    let written = std::fs::read_to_string(&path).unwrap();
    let starts = ["one,t,1,2,a,'x',", "one,t,2,3,", "one,t,3,4,,,SQLite says no,3", "one,t,4,5,", "one,t,5,6,a,'y',"];
    for (line, start) in written.lines().skip(1).zip(starts) {
        assert!(line.starts_with(start), "{start}: {line}");
    }
    assert_eq!(written.lines().count(), 6);
}

/// A batch with such a record follows others in one chunk.
#[test]
fn records_that_are_left_out_in_any_case_do_not_fail() {
    for on_error in [OnError::Abort, OnError::Reject, OnError::Null] {
        let files = vec![file("one", &[&[&["1", "2"], &["!"], &["4", "!", "6"], &["7"]]])];
        let source = source("CREATE TABLE t (a INT) STRICT", files, on_error);
        assert_eq!(rows(&source).unwrap(), numbered(&[(1, "1"), (2, "2"), (4, "4"), (6, "6"), (7, "7")]));
        assert_eq!(source.rejects.count(), 2);
    }
}

#[test]
fn null_takes_the_place_of_a_value_where_the_column_takes_null() {
    let files = || vec![file("one", &[&[&["1", "x", "3"]]])];
    let nullable = source("CREATE TABLE t (a INT) STRICT", files(), OnError::Null);
    assert_eq!(rows(&nullable).unwrap(), numbered(&[(1, "1"), (2, "NULL"), (3, "3")]));
    let error = rows(&source(STRICT, files(), OnError::Null)).unwrap_err();
    assert_eq!(error.place().record, Some(2));
}

#[test]
fn columns_that_files_do_not_have_are_constants_or_numbers() {
    let mut file = file("one", &[&[&["x"], &["y", "z"]]]);
    file.column_sources = vec![
        ColumnSource::RowNumber,
        ColumnSource::Constant(OwnedValue::Text("same".to_owned())),
        ColumnSource::File(0),
    ];
    let source = source("CREATE TABLE t (id INTEGER PRIMARY KEY, b, c)", vec![file], OnError::Abort);
    assert_eq!(source.rowid_order(), RowidOrder::Ascending);
    let (mut part, mut chunk) = (source.next_part().unwrap().unwrap(), RecordChunk::new());
    part.fill(&mut chunk).unwrap();
    assert_eq!(chunk.rowids(), [1, 2, 3]);
    for (row, last) in ["x", "y", "z"].into_iter().enumerate() {
        let values = [Value::Null, Value::Text(b"same"), Value::Text(last.as_bytes())];
        assert_eq!(record::decode(chunk.record(row)).unwrap(), values);
    }
}

/// Rows of a judged batch are encoded on another path. There, too, each row has its own value, and the error for a DEFAULT
/// that SQLite cannot evaluate names the row's place.
#[test]
fn defaults_of_every_row_are_evaluated_once_a_row() {
    for on_error in [OnError::Abort, OnError::Reject] {
        let with = |expression: &str| {
            let mut file = file("one", &[&[&["a", "b"], &["c"]], &[&["d"]]]);
            let (table, column, expression) = ("t".to_owned(), "u".to_owned(), expression.to_owned());
            file.column_sources = vec![ColumnSource::EachRow(RowDefault { table, column, expression })];
            source("CREATE TABLE t (u TEXT NOT NULL)", vec![file], on_error)
        };
        let found = rows(&with("hex(randomblob(9))")).unwrap();
        let values: std::collections::HashSet<&String> = found.iter().map(|row| &row.2).collect();
        assert_eq!((found.len(), values.len()), (4, 4), "{found:?}");
        let error = rows(&with("randomblob(2000000000)")).unwrap_err();
        let place = error.place();
        assert_eq!((place.record, place.line, place.column.as_deref()), (Some(1), Some(2), Some("u")), "{error}");
        assert!(error.to_string().contains("SQLite cannot evaluate the default randomblob(2000000000)"), "{error}");
    }
}

/// A batch of a thousand rows took the bytes of a long DEFAULT a thousand times, and more than 4 GiB ended in a panic.
#[test]
fn long_defaults_make_small_batches() {
    let table = table("CREATE TABLE t (a, b)");
    let limits = |source: ColumnSource, read: &[usize]| -> Vec<usize> {
        let mut encoder = BatchEncoder::new(&table, Conflict::Abort, vec![ColumnSource::File(0), source]);
        let mut limits = vec![encoder.batch.most_rows()];
        for &rows in read {
            encoder.batch.clear(1);
            encoder.batch.rows = rows;
            encoder.batch.blocks[0].values().resize(rows, OwnedValue::Int(1));
            encoder.encode(1, &mut RecordChunk::new()).unwrap();
            limits.push(encoder.batch.most_rows());
        }
        limits
    };
    let text = |len| ColumnSource::Constant(OwnedValue::Text("x".repeat(len)));
    assert_eq!(limits(text(10), &[1024]), [1024, 1024]);
    assert_eq!(limits(text(1 << 20), &[4]), [4, 4]);
    assert_eq!(limits(text(100 << 20), &[1]), [1, 1]);
    let by_row = |expression: &str| {
        let (table, column, expression) = ("t".to_owned(), "b".to_owned(), expression.to_owned());
        ColumnSource::EachRow(RowDefault { table, column, expression })
    };
    assert_eq!(limits(by_row("random()"), &[1, 4, 16, 64, 256, 1024]), [1, 4, 16, 64, 256, 1024, 1024]);
    assert_eq!(limits(by_row("randomblob(1 << 20)"), &[1, 4, 4]), [1, 4, 4, 4]);
}
