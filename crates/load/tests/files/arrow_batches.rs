//! Record batches in memory: failing streams, invalid texts, slices, and plans of given data. The values of each type are
//! tested with the files (`arrow_ipc.rs`), whose cases also run over batches in memory.

use crate::rows::{read_all, read_batches, show};
use arrow_array::builder::{Int32Builder, ListBuilder, MapBuilder, StringBuilder};
use arrow_array::types::Int32Type;
use arrow_array::*;
use arrow_buffer::{Buffer, NullBuffer, ScalarBuffer};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef, UnionFields};
use litepress_format::page::PageSize;
use litepress_format::record;
use litepress_load::arrow;
use litepress_load::options::{InvalidUtf8, ReadOptions};
use litepress_load::plan::{InMemoryTable, LoadPlan, LoadRequest};
use litepress_load::reader::Reader;
use litepress_load::rejects::Rejects;
use litepress_load::schema::TableOptions;
use litepress_load::source::OnError;
use litepress_rows::{Error, ErrorKind, RecordChunk, Source};
use std::sync::Arc;

fn of<T: Array + 'static>(array: T) -> ArrayRef {
    Arc::new(array)
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let fields = columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true));
    let schema = Schema::new(fields.collect::<Vec<_>>());
    RecordBatch::try_new(Arc::new(schema), columns.into_iter().map(|(_, array)| array).collect()).unwrap()
}

fn reader(batches: Vec<RecordBatch>) -> Box<dyn Reader> {
    let schema = batches[0].schema();
    stream(schema, batches.into_iter().map(Ok).collect())
}

fn stream(schema: SchemaRef, batches: Vec<Result<RecordBatch, ArrowError>>) -> Box<dyn Reader> {
    arrow::batches(Box::new(RecordBatchIterator::new(batches, schema)), &ReadOptions::default()).unwrap()
}

fn refused(batch: RecordBatch) -> Error {
    let schema = batch.schema();
    let batches = RecordBatchIterator::new([Ok(batch)], schema);
    arrow::batches(Box::new(batches), &ReadOptions::default()).err().unwrap()
}

/// Returns an array with its bytes `wrong` changed to `wr\xffng`, as from a producer that does not check its texts.
fn spoiled(array: &ArrayRef) -> ArrayRef {
    fn spoil(data: ArrayData) -> ArrayData {
        let spoil_buffer = |buffer: &Buffer| {
            let mut bytes = buffer.as_slice().to_vec();
            while let Some(at) = bytes.windows(5).position(|bytes| bytes == b"wrong") {
                bytes[at + 2] = 0xff;
            }
            Buffer::from_vec(bytes)
        };
        let buffers = data.buffers().iter().map(spoil_buffer).collect();
        let children = data.child_data().iter().cloned().map(spoil).collect();
        let builder = data.into_builder().buffers(buffers).child_data(children).align_buffers(true);
        // SAFETY: none. A producer that breaks its promise does the same, and no code here reads these texts as `str`.
        unsafe { builder.build_unchecked() }
    }
    make_array(spoil(array.to_data()))
}

#[test]
fn texts_that_are_no_utf8_are_never_looked_at_as_texts() {
    let texts = vec!["fine", "wrong"];
    let words: DictionaryArray<Int32Type> = texts.clone().into_iter().collect();
    let runs = RunArray::<Int32Type>::try_new(&Int32Array::from(vec![1, 2]), &StringArray::from(texts.clone()));
    let mut lists = ListBuilder::new(StringBuilder::new());
    texts.iter().for_each(|text| lists.append_value([Some(text)]));
    let fixed = FixedSizeListArray::try_new(
        Arc::new(Field::new("item", DataType::Utf8, false)),
        1,
        of(StringArray::from(texts.clone())),
        None,
    );
    let views = GenericListViewArray::<i32>::try_new(
        Arc::new(Field::new("item", DataType::Utf8, false)),
        ScalarBuffer::from(vec![0, 1]),
        ScalarBuffer::from(vec![1, 1]),
        of(StringArray::from(texts.clone())),
        None,
    );
    let plain = [
        of(StringArray::from(texts.clone())),
        of(LargeStringArray::from(texts.clone())),
        of(StringViewArray::from(texts.clone())),
        of(StringViewArray::from(vec!["fine", "wrong and longer than a view"])),
        of(words),
        of(runs.unwrap()),
    ];
    for array in &plain {
        let tail = if array.as_any().is::<StringViewArray>() && array.to_data().buffers().len() > 1 { 1 } else { 0 };
        let replaced = ["text wr\u{fffd}ng", "text wr\u{fffd}ng and longer than a view"][tail];
        check_spoiled(array, ["text fine", "bad column c: the bytes are not UTF-8 text"], replaced);
    }
    for array in [of(lists.finish()), of(fixed.unwrap()), of(views.unwrap())] {
        let replaced = "text [\"wr\u{fffd}ng\"]";
        check_spoiled(&array, ["text [\"fine\"]", "bad column c: the bytes are not UTF-8 text"], replaced);
    }
}

fn check_spoiled(array: &ArrayRef, expected: [&str; 2], replaced: &str) {
    let array = spoiled(array);
    let batches = || vec![batch(vec![("c", array.clone())])];
    let read = read_batches(batches(), &ReadOptions::default(), &[]).unwrap();
    assert_eq!(read.column(0), expected, "{:?}", array.data_type());
    let options = ReadOptions { invalid_utf8: InvalidUtf8::Replace, ..ReadOptions::default() };
    let read = read_batches(batches(), &options, &[]).unwrap();
    assert_eq!(read.column(0)[1], replaced, "{:?}", array.data_type());
}

#[test]
fn structs_maps_and_unions_with_texts_are_json() {
    let fields = Fields::from(vec![Field::new("t", DataType::Utf8, false), Field::new("i", DataType::Int32, true)]);
    let columns = vec![of(StringArray::from(vec!["a", "b"])), of(Int32Array::from(vec![Some(1), None]))];
    let nulls = Some(NullBuffer::from(vec![false, true]));
    let structs = StructArray::new(fields, columns, nulls);
    let mut maps = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    maps.keys().append_value("k");
    maps.values().append_value(1);
    maps.append(true).unwrap();
    maps.append(false).unwrap();
    let of_union = UnionFields::from_fields(vec![Field::new("s", DataType::Utf8, true)]);
    let texts = vec![of(StringArray::from(vec!["x", "y"]))];
    let unions = UnionArray::try_new(of_union, ScalarBuffer::from(vec![0, 0]), None, texts).unwrap();
    let batch = batch(vec![("s", of(structs)), ("m", of(maps.finish())), ("u", of(unions))]);
    let read = read_batches(vec![batch], &ReadOptions::default(), &[]).unwrap();
    assert_eq!(read.column(0), ["null", r#"text {"t":"b","i":null}"#]);
    assert_eq!(read.column(1), [r#"text {"k":1}"#, "null"]);
    assert_eq!(read.column(2), ["text \"x\"", "text \"y\""]);
}

/// Offsets, null bitmaps and children that begin in the middle of a byte.
#[test]
fn slices_are_read_from_where_they_begin() {
    let every = |row: i32| (row % 3 != 0).then_some(row);
    let texts: StringArray = (0..100).map(|row| every(row).map(|row| format!("row {row}"))).collect();
    let ints: Int32Array = (0..100).map(every).collect();
    let flags: BooleanArray = (0..100).map(|row| every(row).map(|row| row % 2 == 0)).collect();
    let mut lists = ListBuilder::new(StringBuilder::new());
    (0..100).for_each(|row| match every(row) {
        Some(row) => lists.append_value([Some(row.to_string())]),
        None => lists.append_null(),
    });
    let whole = batch(vec![("t", of(texts)), ("i", of(ints)), ("b", of(flags)), ("l", of(lists.finish()))]);
    for (from, rows) in [(0, 100), (1, 98), (7, 9), (64, 36), (99, 1), (50, 0)] {
        let read = read_batches(vec![whole.slice(from, rows)], &ReadOptions::default(), &[]).unwrap();
        assert_eq!(read.rows.len(), rows);
        for (row, read) in (from..).zip(&read.rows) {
            let expected = match row % 3 {
                0 => ["null"; 4].map(str::to_owned),
                _ => [
                    format!("text row {row}"),
                    format!("int {row}"),
                    format!("int {}", u8::from(row % 2 == 0)),
                    format!("text [\"{row}\"]"),
                ],
            };
            assert_eq!(read[..], expected, "row {row} of {rows} from {from}");
        }
    }
}

#[test]
fn large_batches_are_cut_and_empty_ones_passed_by() {
    let rows = 600_000;
    let large = batch(vec![("c", of(Int32Array::from_iter_values(0..rows)))]);
    let empty = large.slice(0, 0);
    let mut reader = reader(vec![empty.clone(), large.clone(), empty.clone(), empty.clone(), large.slice(5, 1), empty]);
    let mut pieces = Vec::new();
    while let Some(piece) = reader.next_piece().unwrap() {
        pieces.push((piece.first_record(), piece.records()));
    }
    assert_eq!(pieces, [(1, 200_000), (200_001, 200_000), (400_001, 200_000), (600_001, 1)]);
    assert!(reader.next_piece().unwrap().is_none());
    let none = arrow::batches(Box::new(RecordBatchIterator::new(Vec::new(), large.schema())), &ReadOptions::default());
    assert_eq!(read_all(&mut *none.unwrap()).unwrap().columns, ["c INTEGER (Arrow Int32: an integer)"]);
}

#[test]
fn data_that_are_no_table_are_refused() {
    let options = RecordBatchOptions::new().with_row_count(Some(3));
    let none = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options).unwrap();
    assert_eq!(refused(none).to_string(), "the data have no column");
    let ints = || of(Int32Array::from(vec![1]));
    assert_eq!(
        refused(batch(vec![("a", ints()), ("b", ints()), ("a", ints())])).to_string(),
        "column a: two columns of the data have this name; rename one of them"
    );
    let nested = |inner, _| DataType::List(Arc::new(Field::new("item", inner, true)));
    let deep = Field::new("c", (0..65).fold(DataType::Int32, nested), true);
    let error = refused(RecordBatch::new_empty(Arc::new(Schema::new(vec![deep]))));
    assert_eq!(error.to_string(), "column c: the type is nested deeper than 64 levels");
}

/// A producer that fails, and one that panics, in the middle: the batches before are read, and nothing comes after.
#[test]
fn streams_that_break_off_say_why() {
    let some = batch(vec![("c", of(Int32Array::from(vec![1, 2])))]);
    let failure = ArrowError::CDataInterface("the source ran dry".to_owned());
    let mut reader = stream(some.schema(), vec![Ok(some.clone()), Err(failure), Ok(some.clone())]);
    assert_eq!(reader.next_piece().unwrap().unwrap().records(), 2);
    let error = reader.next_piece().err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Data);
    let expected = "the record batch after row 2 cannot be had: the source ran dry";
    assert_eq!(error.to_string(), expected);
    assert!(reader.next_piece().unwrap().is_none());
    let other = batch(vec![("c", of(StringArray::from(vec!["a"])))]);
    let mut reader = stream(some.schema(), vec![Ok(other)]);
    let error = reader.next_piece().err().unwrap().to_string();
    assert!(error.ends_with("its column c is not of the type that the schema says"), "{error}");
    let broken = std::iter::once_with(|| panic!("no more"));
    let broken = RecordBatchIterator::new(broken, some.schema());
    let mut reader = arrow::batches(Box::new(broken), &ReadOptions::default()).unwrap();
    assert!(reader.next_piece().err().unwrap().to_string().contains("no more"));
}

/// Returns the rows of a plan for data in memory, as `rowid: values`.
fn loaded(request: LoadRequest, given: Vec<InMemoryTable>) -> Result<(String, Vec<String>), Error> {
    let plan = LoadPlan::from_readers(request, given, &|| Ok(()))?;
    let rejects = Arc::new(Rejects::new(None, false, 0)?);
    let mut rows = Vec::new();
    for table in &plan.tables {
        let source = plan.source(table, PageSize::DEFAULT, OnError::Abort, &rejects)?;
        let mut chunk = RecordChunk::new();
        while let Some(mut part) = source.next_part()? {
            loop {
                chunk.clear();
                part.fill(&mut chunk)?;
                if chunk.is_empty() {
                    break;
                }
                for row in 0..chunk.len() {
                    let values: Vec<String> =
                        record::decode(chunk.record(row)).unwrap().iter().map(|value| show(*value)).collect();
                    rows.push(format!("{}: {}", chunk.rowids()[row], values.join(", ")));
                }
            }
        }
        let error = source.explain(Error::new(ErrorKind::Constraint, "UNIQUE constraint failed: t.id").in_record(3));
        let advice =
            "keep the first of such rows with on_conflict(Conflict::Ignore), or the last with Conflict::Replace";
        assert_eq!(error.to_string(), format!("record 3: UNIQUE constraint failed: t.id; {advice}"));
        let again = plan.source(table, PageSize::DEFAULT, OnError::Abort, &rejects).err().unwrap();
        assert_eq!(again.to_string(), "these data can be read only once");
    }
    Ok((plan.schema.text, rows))
}

fn given(table: &str, columns: Vec<(&str, ArrayRef)>) -> InMemoryTable {
    InMemoryTable { table: table.to_owned(), reader: reader(vec![batch(columns)]) }
}

fn with_schema(sql: &str) -> LoadRequest {
    LoadRequest { schema: Some((sql.to_owned(), "<schema>".to_owned())), ..LoadRequest::default() }
}

#[test]
fn tables_follow_from_the_columns_of_what_is_given() {
    let columns = || vec![("id", of(Int64Array::from(vec![7, 8]))), ("name", of(StringArray::from(vec!["a", "b"])))];
    let options = TableOptions { primary_key: vec![vec!["id".to_owned()]], ..TableOptions::default() };
    let request = LoadRequest { options, ..LoadRequest::default() };
    let (sql, rows) = loaded(request, vec![given("people", columns())]).unwrap();
    assert!(sql.contains("CREATE TABLE people") && sql.contains("id INTEGER PRIMARY KEY"), "{sql}");
    assert_eq!(rows, ["7: null, text a", "8: null, text b"]);
}

#[test]
fn tables_of_a_schema_take_columns_by_their_names() {
    let sql = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT NOT NULL DEFAULT 'x', b REAL); CREATE TABLE u (c)";
    let some = vec![
        given("T", vec![("B", of(Int64Array::from(vec![1, 2])))]),
        given("u", vec![("c", of(NullArray::new(1)))]),
        given("t", vec![("a", of(StringArray::from(vec!["y"]))), ("b", of(Float64Array::from(vec![0.5])))]),
    ];
    let (_, rows) = loaded(with_schema(sql), some).unwrap();
    assert_eq!(rows, ["1: null, text x, int 1", "2: null, text x, int 2", "3: null, text y, real 0.5", "1: null"]);
}

#[test]
fn what_is_wrong_is_told_without_a_file() {
    let sql = "CREATE TABLE t (a INT NOT NULL)";
    let ints = |ints: Vec<Option<i64>>| given("t", vec![("a", of(Int64Array::from(ints)))]);
    let error = loaded(with_schema(sql), vec![ints(vec![Some(1), Some(2)]), ints(vec![Some(3), None])]).unwrap_err();
    let place = (error.place().file.clone(), error.place().record, error.place().table.as_deref());
    assert_eq!((error.kind(), place), (ErrorKind::Constraint, (None, Some(4), Some("t"))), "{error}");
    let big = given("t", vec![("a", of(UInt64Array::from(vec![1, u64::MAX])))]);
    let error = loaded(with_schema(sql), vec![big]).unwrap_err();
    assert_eq!(error.headline(), "t.a: record 2: the value is not an integer of 64 bits (value 18446744073709551615)");
    let other = given("t", vec![("x", of(Int64Array::from(vec![1])))]);
    assert_eq!(
        loaded(with_schema(sql), vec![other]).unwrap_err().to_string(),
        "table t: the table lacks columns of the data: x; the table has a\n  \
         also: t.a: the data lack this column, which may not be NULL, and it has no default"
    );
    let elsewhere = given("v", vec![("a", of(Int64Array::from(vec![1])))]);
    let error = loaded(with_schema(sql), vec![elsewhere]).unwrap_err();
    assert_eq!(error.to_string(), "the schema has no table v; it has t");
    let request = LoadRequest { map: vec![("b".to_owned(), "a".to_owned())], ..with_schema(sql) };
    let error = loaded(request, vec![ints(vec![Some(1)])]).unwrap_err();
    assert_eq!(error.to_string(), "no data have a column b, which is to be called a; there are a");
}
