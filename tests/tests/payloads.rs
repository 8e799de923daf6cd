//! Lengths and values at all thresholds of the format: overflow, varints, serial types, headers.

use litepress_conformance::case::{Case, Route, routes_at};
use litepress_conformance::folder::Folder;
use litepress_conformance::oracle::OldSqlite;
use litepress_conformance::page_sizes;
use litepress_conformance::source::Row;
use litepress_format::page::{PageKind, PageSize};
use litepress_format::payload::{max_local, min_local};
use litepress_format::record::write_record;
use litepress_format::value::Value;
use litepress_rows::cells::OwnedValue;

const TABLE: &str = "CREATE TABLE t(id INTEGER PRIMARY KEY, b BLOB, c)";

/// Returns bytes that differ by position, so that a misplaced page is noticed.
fn bytes(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|at| u8::try_from((at.wrapping_mul(31) ^ (at >> 8) ^ seed) % 256).unwrap_or_default()).collect()
}

/// Returns a row whose record has exactly `len` bytes. One byte in the length of a blob may change the record by two, so the
/// third column compensates: NULL, or an integer of one byte.
fn row_of(len: usize, id: i64) -> Row {
    let extras = [OwnedValue::Null, OwnedValue::Int(77)];
    for extra in extras {
        for overhead in 4..12 {
            let Some(blob) = len.checked_sub(overhead).map(|blob| bytes(blob, len)) else { continue };
            let mut record = Vec::new();
            write_record(&[Value::Null, Value::Blob(&blob), extra.as_value()], &mut record);
            if record.len() == len {
                return vec![OwnedValue::Int(id), OwnedValue::Blob(blob), extra];
            }
        }
    }
    panic!("no row has a record of {len} bytes")
}

/// Returns payload lengths around every threshold: X, M, K = X, and each of the first overflow pages.
fn turns(page_size: PageSize) -> Vec<usize> {
    let usable = page_size.bytes();
    let (most, least, chunk) = (max_local(PageKind::LeafTable, usable), min_local(usable), usable - 4);
    let mut lens: Vec<usize> = (0..=3)
        .flat_map(|chunks| [least + chunks * chunk, most + chunks * chunk])
        .flat_map(|turn| turn - 2..=turn + 2)
        .collect();
    lens.sort_unstable();
    lens.dedup();
    lens
}

/// Every length up to five overflow pages with 512 bytes; every length near a threshold with other page sizes.
#[test]
fn every_payload_length_around_each_overflow_threshold() {
    let (folder, mut files) = (Folder::new(), Vec::new());
    for page_size in page_sizes() {
        let lens = if page_size == PageSize::MIN { (4..2700).collect() } else { turns(page_size) };
        let rows = lens.iter().zip(1..).map(|(&len, id)| row_of(len, id));
        let case = Case::new(TABLE).rows(rows).parts_of(7);
        let file = folder.join(&format!("{page_size}.db"));
        std::fs::write(&file, case.check_along(routes_at(page_size), page_size)).expect("a file in a temporary folder");
        files.push(file);
    }
    if let Some(old) = OldSqlite::find() {
        old.assert_sound(&files);
    }
    assert_eq!(files.len(), 8);
}

/// A page with a single payload, and pages shared by overflowing and other payloads.
#[test]
fn a_payload_around_each_threshold_alone_in_its_table() {
    for page_size in page_sizes() {
        for len in turns(page_size) {
            let case = Case::new(TABLE).rows([row_of(len, 1)]);
            let bytes = case.build(Route::SHORTEST, page_size).expect("one row");
            case.judge(&bytes, page_size);
        }
    }
}

/// Payload lengths at which the varint grows by a byte. The next one is at 256 MiB and is left out.
#[test]
fn payload_lengths_at_every_edge_of_a_varint() {
    for edge in [1 << 7, 1 << 14, 1 << 21] {
        let rows = (edge - 3..edge + 3).zip(1..).map(|(len, id)| row_of(len, id));
        let case = Case::new(TABLE).rows(rows);
        if edge < 1 << 21 {
            case.check();
        } else {
            for page_size in [PageSize::MIN, PageSize::DEFAULT, PageSize::MAX] {
                case.check_along(routes_at(page_size), page_size);
            }
        }
    }
}

/// Rowids at which the varint grows by a byte, the ends of the range, and their neighbours.
#[test]
fn rowids_at_every_edge_of_a_varint() {
    let mut ids: Vec<i64> =
        (0..=9).flat_map(|bytes| around(1_i64.checked_shl(7 * bytes).unwrap_or(i64::MAX))).collect();
    ids.extend(around(i64::MIN).into_iter().chain(around(i64::MAX)).chain(around(0)));
    let negative: Vec<i64> = ids.iter().map(|id| id.wrapping_neg()).collect();
    ids.extend(negative);
    ids.sort_unstable();
    ids.dedup();
    // Short rows take the fast path into a page, long ones the general path.
    let text = |id: i64, width: usize| OwnedValue::Text(format!("{id:>width$}"));
    let rows = |width: usize| ids.iter().map(move |&id| vec![OwnedValue::Int(id), text(id, width)]).collect::<Vec<_>>();
    for width in [1, 60, 600] {
        Case::new("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)").rows(rows(width)).parts_of(5).check();
    }
}

fn around(value: i64) -> [i64; 5] {
    [-2, -1, 0, 1, 2].map(|step| value.saturating_add(step))
}

/// Integers at the ends of every width, texts and blobs at every edge of their serial type, special doubles.
#[test]
fn values_at_every_edge_of_a_serial_type() {
    let mut values: Vec<OwnedValue> = vec![OwnedValue::Null];
    for bits in [0, 1, 7, 8, 15, 16, 23, 24, 31, 32, 47, 48, 53, 62, 63] {
        let edge = 1_i64.checked_shl(bits).unwrap_or(i64::MAX);
        values.extend(around(edge).into_iter().chain(around(edge.wrapping_neg())).map(OwnedValue::Int));
    }
    let reals =
        [0.0, -0.0, 0.5, 5.0, -5.0, 1e300, f64::MIN_POSITIVE, 5e-324, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let powers = [47, 48, 53, 63, 64].map(|power| 2_f64.powi(power));
    let near = powers.into_iter().flat_map(|power| [power.next_down(), power, power.next_up()]);
    let reals = near.flat_map(|real| [real, -real]).chain(reals);
    values.extend(reals.map(OwnedValue::Real));
    for serial in [128, 16_384, 2_097_152_usize] {
        // Serial type N stands for (N - 13) / 2 bytes of text and (N - 12) / 2 bytes of blob.
        for len in (serial - 12) / 2 - 3..=(serial - 12) / 2 + 2 {
            values.push(OwnedValue::Blob(bytes(len, 1)));
            values.push(OwnedValue::Text("é".repeat(len / 2) + &"x".repeat(len % 2)));
        }
    }
    values.extend([OwnedValue::Text(String::new()), OwnedValue::Blob(Vec::new()), OwnedValue::Text("a\0b\0".into())]);
    let rows: Vec<Row> = values.iter().map(|value| vec![value.clone(); 5]).collect();
    let columns = "CREATE TABLE t(i INTEGER, n NUMERIC, r REAL, b BLOB, s TEXT)";
    for page_size in [PageSize::MIN, PageSize::DEFAULT] {
        // One by one, and column by column of one kind.
        for rows_per_part in [1, 50] {
            let case = Case::new(columns).rows(rows.clone()).parts_of(rows_per_part);
            case.check_along(routes_at(page_size), page_size);
        }
    }
}

/// Record headers of 126 bytes and more need two bytes for their own length. The maximum is 2000 columns.
#[test]
fn wide_tables() {
    for columns in [1, 2, 62, 63, 125, 126, 127, 128, 129, 2000] {
        let names: Vec<String> = (0..columns).map(|column| format!("c{column}")).collect();
        let table = format!("CREATE TABLE t({})", names.join(", "));
        let cell = |row: usize, column: usize| match (row + column) % 5 {
            0 => OwnedValue::Null,
            1 => OwnedValue::Int(i64::try_from(row * column).expect("a small product")),
            2 => OwnedValue::Text("t".repeat(column % 70)),
            3 => OwnedValue::Real(0.25),
            _ => OwnedValue::Blob(bytes(row, column)),
        };
        let mixed = (0..4).map(|row| (0..columns).map(|column| cell(row, column)).collect());
        let case = Case::new(&table).rows(mixed).parts_of(3);
        let uniform = Case::new(&table).rows((0..4).map(|_| vec![OwnedValue::Int(300); columns])).parts_of(3);
        if columns < 2000 {
            case.check();
            uniform.check();
        } else {
            for page_size in [PageSize::MIN, PageSize::MAX] {
                case.check_at(page_size);
                uniform.check_at(page_size);
            }
        }
    }
}
