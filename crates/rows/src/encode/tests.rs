//! The encoder writes the same records as the plain one, for any shape of a block.

use super::{BadValue, Encoder, RowAction, RowNumbers, SkippedRows};
use crate::affinity;
use crate::cells::{CellBlock, OwnedValue};
use crate::{Affinity, Conflict, RecordChunk, Schema};
use litepress_format::record;
use litepress_format::value::Value;
use proptest::prelude::*;

fn schema(sql: &str) -> Schema {
    Schema::from_sql(sql, "<test>").unwrap()
}

/// Encodes one block into a chunk.
fn encode(sql: &str, blocks: &[CellBlock], rows: usize) -> crate::Result<RecordChunk> {
    let schema = schema(sql);
    let mut chunk = RecordChunk::new();
    Encoder::new(&schema.tables[0], Conflict::Abort).encode(blocks, rows, RowNumbers::from_record(1), &mut chunk)?;
    Ok(chunk)
}

fn block(fill: impl FnOnce(&mut CellBlock)) -> CellBlock {
    let mut block = CellBlock::default();
    fill(&mut block);
    block
}

fn plain(values: &[Value<'_>]) -> Vec<u8> {
    let mut record = Vec::new();
    record::write_record(values, &mut record);
    record
}

#[test]
fn the_challenge_row_takes_twelve_bytes() {
    let sql = "CREATE TABLE user (id INTEGER not null primary key, area CHAR(6), age INTEGER not null, active INTEGER not null)";
    let ages = [OwnedValue::Int(5), OwnedValue::Int(10)].into();
    let flags = [OwnedValue::Int(0), OwnedValue::Int(1)].into();
    let blocks = [
        block(|b| b.ints().extend([7, 8])),
        block(|b| b.texts().fixed(2, 6).copy_from_slice(b"001122334455")),
        block(|b| b.picks(&ages).extend([0, 1])),
        block(|b| b.picks(&flags).extend([1, 0])),
    ];
    let chunk = encode(sql, &blocks, 2).unwrap();
    assert_eq!(chunk.rowids(), [7, 8]);
    assert_eq!(chunk.record(0), plain(&[Value::Null, Value::Text(b"001122"), Value::Int(5), Value::Int(1)]));
    assert_eq!(chunk.record(1), plain(&[Value::Null, Value::Text(b"334455"), Value::Int(10), Value::Int(0)]));
    assert_eq!(chunk.record(0).len(), 12);
}

#[test]
fn a_wide_table_needs_a_longer_header() {
    for columns in [125, 126, 127, 128, 300] {
        let names: Vec<String> = (0..columns).map(|column| format!("c{column}")).collect();
        let sql = format!("CREATE TABLE t ({})", names.join(", "));
        let blocks: Vec<CellBlock> = (0..columns).map(|column| block(|b| b.ints().push(column))).collect();
        let chunk = encode(&sql, &blocks, 1).unwrap();
        let values: Vec<Value<'_>> = (0..columns).map(Value::Int).collect();
        assert_eq!(chunk.record(0), plain(&values), "{columns} columns");
    }
}

#[test]
fn broken_rules_name_the_row() {
    let nulls = |b: &mut CellBlock| {
        b.ints().extend([1, 2, 3]);
        b.nulls_mut().extend([false, true, false]);
    };
    let error = encode("CREATE TABLE t (a INTEGER NOT NULL)", &[block(nulls)], 3).unwrap_err();
    assert_eq!(error.to_string(), "t.a: record 2: NULL in a NOT NULL column (value NULL)");
    let text = |b: &mut CellBlock| b.texts().push(b"abc");
    let error = encode("CREATE TABLE t (a INT) STRICT", &[block(text)], 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "t.a: record 1: the value cannot be stored in an INTEGER column of a STRICT table (value 'abc')"
    );
    let error = encode("CREATE TABLE t (a INTEGER PRIMARY KEY)", &[block(text)], 1).unwrap_err();
    assert_eq!(error.to_string(), "t.a: record 1: an INTEGER PRIMARY KEY takes integers only (value 'abc')");
    let choice = |b: &mut CellBlock| b.picks(&[OwnedValue::Int(1), OwnedValue::Null].into()).extend([0, 0, 1]);
    let error = encode("CREATE TABLE t (a INT NOT NULL)", &[block(choice)], 3).unwrap_err();
    assert_eq!(error.place().record, Some(3));
}

/// A list's value that the column refuses was reported for the first row, even if that row had picked another value.
#[test]
fn a_refused_choice_is_an_error_of_the_row_that_picks_it() {
    let values = [OwnedValue::Int(1), OwnedValue::Text("x".into())].into();
    let picks = |rows: &'static [u32]| [block(|b| b.picks(&values).extend(rows))];
    let sql = "CREATE TABLE t (a INT) STRICT";
    assert_eq!(encode(sql, &picks(&[0, 0]), 2).unwrap().len(), 2);
    let error = encode(sql, &picks(&[0, 0, 1]), 3).unwrap_err();
    assert_eq!((error.place().record, error.place().value.as_deref()), (Some(3), Some("'x'")));
}

/// Rows that are left out leave neither bytes nor record numbers behind.
#[test]
fn rows_with_null_are_left_out() {
    let schema = schema("CREATE TABLE t (a TEXT NOT NULL, b REAL NOT NULL, c)");
    let ints = |values: &[i64]| block(|b| b.ints().extend(values));
    let encode = |conflict, nulls: [bool; 4]| -> crate::Result<RecordChunk> {
        let texts = block(|b| {
            b.texts().fixed(4, 2).copy_from_slice(b"aabbccdd");
            b.nulls_mut().extend(nulls);
        });
        let blocks = [texts, block(|b| b.reals().extend([0.5, f64::NAN, 1.5, 2.5])), ints(&[1, 2, 3, 4])];
        let mut chunk = RecordChunk::new();
        chunk.push(6, b"before");
        Encoder::new(&schema.tables[0], conflict).encode(
            &blocks,
            4,
            RowNumbers { first_rowid: 7, first_record: 1 },
            &mut chunk,
        )?;
        Ok(chunk)
    };
    let chunk = encode(Conflict::Ignore, [false, false, false, true]).unwrap();
    assert_eq!((chunk.rowids(), chunk.record(0)), (&[6, 7, 9][..], &b"before"[..]));
    assert_eq!(chunk.record(1), plain(&[Value::Text(b"aa"), Value::Real(0.5), Value::Int(1)]));
    assert_eq!(chunk.record(2), plain(&[Value::Text(b"cc"), Value::Real(1.5), Value::Int(3)]));
    assert_eq!(chunk.arena().len(), *chunk.ends().last().unwrap() as usize);
    assert_eq!(encode(Conflict::Ignore, [true; 4]).unwrap().len(), 1);
    for conflict in [Conflict::Abort, Conflict::Replace] {
        assert_eq!(encode(conflict, [false; 4]).unwrap_err().place().record, Some(2), "{conflict:?}");
    }
}

/// Rows that SQLite must judge are not refused before.
#[test]
fn nulls_that_sqlite_judges_pass() {
    for (sql, conflict) in [
        ("CREATE TABLE t (a NOT NULL ON CONFLICT IGNORE)", Conflict::Abort),
        ("CREATE TABLE t (a NOT NULL DEFAULT 3)", Conflict::Replace),
    ] {
        let mut chunk = RecordChunk::new();
        let blocks = [block(|b| b.values().push(OwnedValue::Null))];
        Encoder::new(&schema(sql).tables[0], conflict)
            .encode(&blocks, 1, RowNumbers::from_record(1), &mut chunk)
            .unwrap();
        assert_eq!(chunk.record(0), plain(&[Value::Null]));
    }
}

fn any_value() -> impl Strategy<Value = OwnedValue> {
    prop_oneof![
        Just(OwnedValue::Null),
        any::<i64>().prop_map(OwnedValue::Int),
        (-300i64..300).prop_map(OwnedValue::Int),
        any::<f64>().prop_map(OwnedValue::Real),
        (-300i32..300).prop_map(|int| OwnedValue::Real(int.into())),
        "[ -~]{0,80}".prop_map(OwnedValue::Text),
        "[0-9.e]{0,6}".prop_map(OwnedValue::Text),
        prop::collection::vec(any::<u8>(), 0..200).prop_map(OwnedValue::Blob),
    ]
}

/// Generates a column of cells: of one kind, mixed, or a choice, with or without NULL flags.
fn any_block(rows: usize) -> impl Strategy<Value = CellBlock> {
    let flags = prop_oneof![Just(vec![]), prop::collection::vec(any::<bool>(), rows)];
    (0..8, prop::collection::vec(any_value(), rows), flags).prop_map(|(kind, values, nulls)| {
        let mut block = CellBlock::default();
        let text = |value: &OwnedValue| format!("{value:?}");
        match kind {
            0 => block.ints().extend(values.iter().map(|value| text(value).len() as i64 % 3)),
            1 => block.ints().extend(values.iter().map(|value| match value {
                OwnedValue::Int(int) => *int,
                _ => 1 << 40,
            })),
            2 => block.reals().extend(values.iter().map(|value| match value {
                OwnedValue::Real(real) => *real,
                _ => 2.0,
            })),
            3 => values.iter().for_each({
                let texts = block.texts();
                |value| texts.push(text(value).as_bytes())
            }),
            4 => block.blobs().fixed(values.len(), 5).fill(b'x'),
            // Dates; numbers as texts, with an occasional other text.
            6 => values.iter().for_each({
                let texts = block.texts();
                |value| match value {
                    OwnedValue::Int(int) => texts.push(int.to_string().as_bytes()),
                    OwnedValue::Real(real) => texts.push(format!("{real:.2}").as_bytes()),
                    OwnedValue::Text(text) if text.len() > 60 => texts.push(text.as_bytes()),
                    _ if values.len() == 2 => texts.push(b"1996-03-13"),
                    _ => texts.push(b"-0.5"),
                }
            }),
            5 => block.values().extend(values.iter().cloned()),
            _ => {
                let list = values.clone().into();
                let picks: Vec<u32> = (0..).zip(&values).map(|(index, _)| index).collect();
                block.picks(&list).extend(picks.iter().rev());
            }
        }
        block.nulls_mut().extend(nulls);
        block
    })
}

/// The judge decides whether rows that break rules are left out or hold NULL. All others are encoded as without them, with the
/// rowids of their positions.
#[test]
fn rows_that_break_rules_are_judged() {
    let sql = "CREATE TABLE t (a INT, b TEXT NOT NULL, c INT NOT NULL) STRICT";
    let schema = Schema::from_sql(sql, "<test>").unwrap();
    let mut blocks = [CellBlock::default(), CellBlock::default(), CellBlock::default()];
    *blocks[0].values() = ["1", "x", "3", "y", "5"].map(|text| OwnedValue::Text(text.into())).to_vec();
    *blocks[1].values() = vec![OwnedValue::Text("t".into()); 5];
    blocks[1].nulls_mut().extend([false, false, true, false, false]);
    *blocks[2].ints() = vec![7; 5];
    let mut verdicts = Vec::new();
    let mut judge = |bad: BadValue| {
        let place = bad.error.place();
        verdicts.push((bad.row, place.column.clone().unwrap(), place.record.unwrap(), bad.may_be_null));
        Ok(if bad.row == 1 { RowAction::StoreNull } else { RowAction::LeaveOut })
    };
    let (mut chunk, mut left_out) = (RecordChunk::new(), SkippedRows::default());
    left_out.add(4);
    Encoder::new(&schema.tables[0], Conflict::Abort)
        .encode_with_policy(&mut blocks, 5, RowNumbers::from_record(11), &mut left_out, &mut chunk, &mut judge)
        .unwrap();
    let expected = [(1, "a".to_owned(), 12, true), (3, "a".to_owned(), 14, true), (2, "b".to_owned(), 13, false)];
    assert_eq!(verdicts, expected);
    assert_eq!(chunk.rowids(), [11, 12]);
    assert_eq!(chunk.record(0), plain(&[Value::Int(1), Value::Text(b"t"), Value::Int(7)]));
    assert_eq!(chunk.record(1), plain(&[Value::Null, Value::Text(b"t"), Value::Int(7)]));
}

/// A row with NULL in a NOT NULL column was refused for the type of another value; SQLite checks NULL first.
#[test]
fn null_decides_before_types() {
    let blocks = |key: &str| {
        let (mut ids, mut values, mut texts) = (CellBlock::default(), CellBlock::default(), CellBlock::default());
        *ids.values() = vec![OwnedValue::Int(5), OwnedValue::Text(key.into()), OwnedValue::Int(7)];
        *values.values() = ["1", "no", "3"].map(|text| OwnedValue::Text(text.into())).to_vec();
        *texts.values() = vec![OwnedValue::Int(1), OwnedValue::Null, OwnedValue::Int(3)];
        [ids, values, texts]
    };
    let encoded = |sql: &str, key: &str, conflict| {
        let (schema, mut chunk) = (Schema::from_sql(sql, "<test>").unwrap(), RecordChunk::new());
        Encoder::new(&schema.tables[0], conflict)
            .encode(&blocks(key), 3, RowNumbers::from_record(1), &mut chunk)
            .map(|()| chunk)
    };
    let strict = "CREATE TABLE t (k INTEGER PRIMARY KEY, a INT, b ANY NOT NULL) STRICT";
    assert_eq!(encoded(strict, "6", Conflict::Ignore).unwrap().rowids(), [5, 7]);
    // NULL does not excuse an invalid INTEGER PRIMARY KEY.
    let wrong_key = encoded(strict, "x", Conflict::Ignore).unwrap_err();
    assert_eq!(wrong_key.place().column.as_deref(), Some("k"));
    for conflict in [Conflict::Abort, Conflict::Replace] {
        assert!(encoded(strict, "6", conflict).is_err(), "{conflict:?}");
    }
    let computed = "CREATE TABLE t (k INTEGER PRIMARY KEY, a INT, b ANY NOT NULL, g ANY AS (a)) STRICT";
    assert!(encoded(computed, "6", Conflict::Ignore).is_err());
    // SQLite decides, and gets the value unchanged.
    let clause = "CREATE TABLE t (k INTEGER PRIMARY KEY, a INT, b ANY NOT NULL ON CONFLICT IGNORE) STRICT";
    let chunk = encoded(clause, "6", Conflict::Abort).unwrap();
    assert_eq!(chunk.rowids(), [5, 6, 7]);
    assert_eq!(chunk.record(1), plain(&[Value::Null, Value::Text(b"no"), Value::Null]));
    assert!(encoded(clause, "6", Conflict::Replace).is_err());
}

/// Texts give the rowids that SQLite reads from them, by the fast and the exact parser.
#[test]
fn rowids_are_read_from_texts() {
    let sql = "CREATE TABLE t (a INTEGER PRIMARY KEY)";
    let rowids = |texts: &[&str]| {
        let block = block(|b| {
            texts.iter().for_each({
                let strings = b.texts();
                |text| strings.push(text.as_bytes())
            })
        });
        encode(sql, &[block], texts.len()).map(|chunk| chunk.rowids().to_vec())
    };
    let plain = ["1", "-20", "007", "12345678", "123456789012345678", "5.0"];
    assert_eq!(rowids(&plain).unwrap(), [1, -20, 7, 12_345_678, 123_456_789_012_345_678, 5]);
    let any = ["1", " 2", "+3", "4e0", "9223372036854775807"];
    assert_eq!(rowids(&any).unwrap(), [1, 2, 3, 4, i64::MAX]);
    for (refused, value) in
        [("1.5", "'1.5'"), ("", "''"), ("x", "'x'"), ("9223372036854775808", "'9223372036854775808'")]
    {
        let error = rowids(&["1", refused]).unwrap_err();
        assert_eq!((error.place().record, error.place().value.as_deref()), (Some(2), Some(value)));
    }
}

#[test]
fn rowids_of_rows_that_are_left_out_are_not_asked_for() {
    let schema = Schema::from_sql("CREATE TABLE t (a INTEGER PRIMARY KEY)", "<test>").unwrap();
    let mut block = CellBlock::default();
    *block.values() = ["5", "no", "7"].map(|text| OwnedValue::Text(text.into())).to_vec();
    let (mut chunk, mut left_out) = (RecordChunk::new(), SkippedRows::default());
    let mut judge = |bad: BadValue| {
        assert!(!bad.may_be_null);
        Ok(RowAction::LeaveOut)
    };
    Encoder::new(&schema.tables[0], Conflict::Abort)
        .encode_with_policy(&mut [block], 3, RowNumbers::from_record(1), &mut left_out, &mut chunk, &mut judge)
        .unwrap();
    assert_eq!((chunk.rowids(), chunk.len()), (&[5, 7][..], 2));
}

/// Texts with a NUL became numbers, and the part after it was lost silently. Now each cut text of a stored row is counted.
#[test]
fn texts_that_are_cut_at_a_nul_are_counted() {
    let schema = schema("CREATE TABLE t (id INTEGER PRIMARY KEY, i INTEGER, r REAL, s TEXT, c INTEGER) STRICT");
    let texts = |texts: &[&str]| {
        block(|b| {
            let strings = b.texts();
            texts.iter().for_each(|text| strings.push(text.as_bytes()));
        })
    };
    let choices = [OwnedValue::Int(1), OwnedValue::Text("9\0".to_owned())].into();
    let mut blocks = [
        texts(&["1\0x", "2", "3\0"]),
        texts(&["5\x006", "5", "x"]),
        texts(&["1.5", "2\0", "3\0"]),
        texts(&["5\x006", "5", "x"]),
        block(|b| b.picks(&choices).extend([0, 1, 1])),
    ];
    let mut encoder = Encoder::new(&schema.tables[0], Conflict::Abort);
    let (mut left_out, mut chunk) = (SkippedRows::default(), RecordChunk::new());
    let judge = &mut |_: BadValue| Ok(RowAction::LeaveOut);
    encoder.encode_with_policy(&mut blocks, 3, RowNumbers::from_record(1), &mut left_out, &mut chunk, judge).unwrap();
    assert!(left_out.has(2) && chunk.rowids() == [1, 2]);
    let [cut, plainly] = [&b"5\x006"[..], b"5"].map(Value::Text);
    assert_eq!(chunk.record(0), plain(&[Value::Null, Value::Int(5), Value::Real(1.5), cut, Value::Int(1)]));
    assert_eq!(chunk.record(1), plain(&[Value::Null, Value::Int(5), Value::Int(2), plainly, Value::Int(9)]));
    assert_eq!((encoder.take_cut_texts(), encoder.take_cut_texts()), (4, 0));
}

/// A fault in a column after the INTEGER PRIMARY KEY removed the rowids that were read before.
#[test]
fn a_fault_behind_the_rowids_leaves_them_as_they_are() {
    let sql = "CREATE TABLE t (a INTEGER PRIMARY KEY, b INTEGER) STRICT";
    let schema = Schema::from_sql(sql, "<test>").unwrap();
    let encoded = |verdict: fn() -> RowAction| {
        let (mut ids, mut values) = (CellBlock::default(), CellBlock::default());
        *ids.values() = [5, 6, 7].map(OwnedValue::Int).to_vec();
        *values.values() = ["1", "no", "3"].map(|text| OwnedValue::Text(text.into())).to_vec();
        let (mut chunk, mut left_out) = (RecordChunk::new(), SkippedRows::default());
        let mut judge = |_: BadValue| Ok(verdict());
        Encoder::new(&schema.tables[0], Conflict::Abort)
            .encode_with_policy(
                &mut [ids, values],
                3,
                RowNumbers::from_record(1),
                &mut left_out,
                &mut chunk,
                &mut judge,
            )
            .unwrap();
        (chunk.rowids().to_vec(), chunk.len())
    };
    assert_eq!(encoded(|| RowAction::LeaveOut), (vec![5, 7], 2));
    assert_eq!(encoded(|| RowAction::StoreNull), (vec![5, 6, 7], 3));
}

fn expected(block: &CellBlock, row: usize, affinity: Affinity) -> OwnedValue {
    let value = affinity::apply(block.value(row), affinity);
    let text = if affinity == Affinity::Text { affinity::text_of_number(value) } else { None };
    match (text, value) {
        (Some(text), _) => OwnedValue::Text(text.into_owned()),
        (None, Value::Null) => OwnedValue::Null,
        (None, Value::Int(int)) => OwnedValue::Int(int),
        (None, Value::Real(real)) => match affinity::real_as_integer(real) {
            Some(int) if affinity == Affinity::Real => OwnedValue::Int(int),
            _ => OwnedValue::Real(real),
        },
        (None, Value::Text(text)) => OwnedValue::Text(String::from_utf8(text.to_vec()).unwrap()),
        (None, Value::Blob(blob)) => OwnedValue::Blob(blob.to_vec()),
    }
}

proptest! {
    #[test]
    fn records_are_those_of_the_plain_encoder(
        blocks in (1usize..6).prop_flat_map(|rows| prop::collection::vec(any_block(rows), 5).prop_map(move |blocks| (rows, blocks)))
    ) {
        let (rows, blocks) = blocks;
        let sql = "CREATE TABLE t (i INTEGER, n NUMERIC, r REAL, b BLOB, s TEXT)";
        let affinities = [Affinity::Integer, Affinity::Numeric, Affinity::Real, Affinity::Blob, Affinity::Text];
        let chunk = encode(sql, &blocks, rows).unwrap();
        for row in 0..rows {
            let values: Vec<OwnedValue> =
                blocks.iter().zip(affinities).map(|(block, affinity)| expected(block, row, affinity)).collect();
            let values: Vec<Value<'_>> = values.iter().map(OwnedValue::as_value).collect();
            prop_assert_eq!(chunk.record(row), plain(&values));
        }
        prop_assert_eq!(chunk.rowids(), (1..=rows as i64).collect::<Vec<_>>());
    }
}
