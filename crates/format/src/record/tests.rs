use super::*;
use proptest::prelude::*;

fn record_of(values: &[Value<'_>]) -> Vec<u8> {
    let mut record = Vec::new();
    write_record(values, &mut record);
    record
}

#[test]
fn every_integer_width_starts_and_ends_where_it_should() {
    for (serial, width, bits) in [
        (serial::I8, 1, 8),
        (serial::I16, 2, 16),
        (serial::I24, 3, 24),
        (serial::I32, 4, 32),
        (serial::I48, 6, 48),
        (serial::I64, 8, 64),
    ] {
        let (least, most) = (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits));
        assert_eq!(int_serial(least), (serial, width), "{least}");
        assert_eq!(int_serial(most), (serial, width), "{most}");
        if bits < 64 {
            assert_eq!(int_serial(least - 1).0, serial + 1, "{}", least - 1);
            assert_eq!(int_serial(most + 1).0, serial + 1, "{}", most + 1);
        }
        for value in [least, least + 1, most - 1, most] {
            assert_eq!(decode(&record_of(&[Value::Int(value)])), Ok(vec![Value::Int(value)]));
        }
    }
}

#[test]
fn the_integer_in_the_last_field() {
    let long = [b'x'; 3000];
    let before: [&[Value<'_>]; 6] = [
        &[],
        &[Value::Null],
        &[Value::Int(i64::MIN), Value::Text(b"abc")],
        // The serial type of this text takes two bytes, the last of which could be that of an integer.
        &[Value::Text(&long[..58])],
        &[Value::Text(&long)],
        &[Value::Null; 200],
    ];
    for values in before {
        for int in [0, 1, 2, -1, 127, 128, 1 << 20, 1 << 30, 1 << 40, i64::MIN, i64::MAX] {
            let record = record_of(&[values, &[Value::Int(int)]].concat());
            assert_eq!(last_int(&record), Some(int), "{record:?}");
            // No record, and no integer.
            assert_eq!(last_int(&record[..record.len() - 1]).filter(|cut| *cut == int && int > 1), None, "{record:?}");
        }
        assert_eq!(last_int(&record_of(&[values, &[Value::Text(b"x")]].concat())), None);
        assert_eq!(last_int(&record_of(&[values, &[Value::Text(&long[..60])]].concat())), None);
    }
    assert_eq!(last_int(&[]), None);
    assert_eq!(last_int(&[1]), None);
    assert_eq!(last_int(&[2, 6, 0]), None);
    assert_eq!(last_int(&[0]), None);
}

#[test]
fn zero_and_one_have_no_body() {
    assert_eq!(int_serial(-1), (serial::I8, 1));
    assert_eq!(int_serial(0), (serial::ZERO, 0));
    assert_eq!(int_serial(1), (serial::ONE, 0));
    assert_eq!(int_serial(2), (serial::I8, 1));
    assert_eq!(record_of(&[Value::Int(0), Value::Int(1)]), [3, 8, 9]);
}

#[test]
fn body_len_is_what_write_body_writes() {
    let long = [b'x'; 300];
    let mut values: Vec<Value<'_>> = (0..64).map(|shift| Value::Int(i64::MIN >> shift)).collect();
    values.extend([Value::Null, Value::Real(1.5), Value::Real(f64::NAN)]);
    for len in [0, 1, 57, 58, 300] {
        values.extend([Value::Text(&long[..len]), Value::Blob(&long[..len])]);
    }
    for value in values {
        let mut body = Vec::new();
        write_body(&value, &mut body);
        assert_eq!(body_len(serial_of(&value)), Some(body.len() as u64), "{value:?}");
    }
}

#[test]
fn serial_types_of_texts_and_blobs_cross_varint_widths() {
    assert_eq!((serial::blob(0), serial::text(0)), (12, 13));
    // 127 is the last serial type of one byte.
    assert_eq!((varint::len(serial::text(57)), varint::len(serial::blob(58))), (1, 2));
    assert_eq!((varint::len(serial::text(8185)), varint::len(serial::blob(8186))), (2, 3));
    assert_eq!((body_len(10), body_len(11)), (None, None));
    assert_eq!(body_len(u64::MAX), Some((u64::MAX - 12) / 2));
}

#[test]
fn header_counts_itself_over_every_varint_width() {
    for (serial_bytes, expected) in [
        (0, 1),
        (1, 2),
        (125, 126),
        (126, 127),
        // One byte more for its own length, which is then 128 and takes two bytes.
        (127, 129),
        (128, 130),
        (16_381, 16_383),
        // 16384 takes three bytes.
        (16_382, 16_385),
        (16_383, 16_386),
        (16_384, 16_387),
    ] {
        assert_eq!(header_len(serial_bytes), expected, "{serial_bytes}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "too slow there")]
fn records_of_any_number_of_columns_read_back() {
    for columns in [0, 1, 125, 126, 127, 128, 129, 2000, 16_382, 16_383] {
        let values = vec![Value::Int(1); columns];
        let record = record_of(&values);
        assert_eq!(record.len(), header_len(columns));
        assert_eq!(decode(&record), Ok(values));
    }
}

#[test]
fn nan_becomes_null_and_the_other_reals_keep_their_bits() {
    assert_eq!(record_of(&[Value::Real(f64::NAN)]), record_of(&[Value::Null]));
    for real in [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE, 1e308] {
        let record = record_of(&[Value::Real(real)]);
        let values = decode(&record).unwrap();
        let [Value::Real(read)] = values[..] else { panic!("{real} read back as {values:?}") };
        assert_eq!(read.to_bits(), real.to_bits());
    }
}

#[test]
fn fields_know_their_places() {
    let record = record_of(&[Value::Null, Value::Text(b"hello"), Value::Int(300)]);
    let mut reader = RecordReader::new(&record).unwrap();
    assert_eq!(reader.next_field().unwrap().unwrap().body, 4..4);
    let text = reader.next_field().unwrap().unwrap();
    assert_eq!((text.serial, text.header, text.body), (23, 2..3, 4..9));
    assert_eq!(reader.next_field().unwrap().unwrap().body, 9..11);
    assert_eq!(reader.next_field(), Ok(None));
    assert_eq!(reader.next_field(), Ok(None));
}

#[test]
fn what_is_not_a_record_is_refused() {
    for (what, record, offset) in [
        ("nothing", &[][..], 0),
        ("a cut header length", &[0x81], 0),
        ("a header shorter than its length", &[0x00], 0),
        ("a header longer than the record", &[0x03, 0x00], 0),
        ("a header that ends inside a serial type", &[0x02, 0x81, 0x00], 1),
        ("a reserved serial type", &[0x02, 0x0a], 1),
        ("the other reserved serial type", &[0x03, 0x00, 0x0b], 2),
        ("a cut body", &[0x02, 0x02, 0x00], 2),
        ("a body longer than memory", &[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], 10),
        ("bytes left over", &[0x02, 0x01, 0x05, 0x06], 3),
        ("bytes left over behind nothing", &[0x01, 0x06], 1),
    ] {
        let error = decode(record).expect_err(what);
        assert_eq!(error.offset(), offset, "{what}: {error}");
    }
}

#[test]
fn an_error_ends_the_iteration() {
    for record in [&[0x04, 0x01, 0x0a, 0x01, 0x05, 0x06][..], &[0x02, 0x01, 0x05, 0x06]] {
        let mut reader = RecordReader::new(record).unwrap();
        assert_eq!(reader.next(), Some(Ok(Value::Int(5))));
        assert!(reader.next().unwrap().is_err());
        assert_eq!(reader.next(), None);
    }
}

/// A value that owns its bytes, for proptest to generate and shrink.
#[derive(Clone, Debug)]
enum Made {
    Null,
    Int(i64),
    Real(f64),
    Text(Vec<u8>),
    Blob(Vec<u8>),
}

impl Made {
    fn value(&self) -> Value<'_> {
        match self {
            Made::Null => Value::Null,
            Made::Int(int) => Value::Int(*int),
            Made::Real(real) => Value::Real(*real),
            Made::Text(text) => Value::Text(text),
            Made::Blob(blob) => Value::Blob(blob),
        }
    }
}

fn made() -> impl Strategy<Value = Made> {
    prop_oneof![
        Just(Made::Null),
        (any::<i64>(), 0..64_u32).prop_map(|(bits, shift)| Made::Int(bits >> shift)),
        any::<f64>().prop_map(Made::Real),
        prop::collection::vec(any::<u8>(), 0..200).prop_map(Made::Text),
        prop::collection::vec(any::<u8>(), 0..200).prop_map(Made::Blob),
    ]
}

proptest! {
    #[test]
    fn round_trip(made in prop::collection::vec(made(), 0..300)) {
        let values: Vec<Value<'_>> = made.iter().map(Made::value).collect();
        let record = record_of(&values);
        let read = decode(&record).unwrap();
        prop_assert_eq!(&read, &values);
        prop_assert_eq!(record_of(&read), record);
    }

    #[test]
    fn garbage_never_panics(record: Vec<u8>) {
        let _ = decode(&record);
    }

    #[test]
    fn every_cut_of_a_record_is_refused(made in prop::collection::vec(made(), 1..20), cut: prop::sample::Index) {
        let values: Vec<Value<'_>> = made.iter().map(Made::value).collect();
        let record = record_of(&values);
        prop_assert!(decode(&record[..cut.index(record.len())]).is_err());
    }
}

#[test]
fn leading_values_are_those_of_the_record() {
    let long = vec![b'x'; 60];
    let all = [Value::Int(1), Value::Int(-300), Value::Null, Value::Real(1.5), Value::Text(b"ab"), Value::Text(&long)];
    let record = record_of(&all);
    for count in 0..=all.len() {
        let mut values = vec![Value::Null; count];
        // The last one has a serial type of two bytes.
        assert_eq!(read_leading(&record, &mut values), count < all.len());
        if count < all.len() {
            assert_eq!(values, all[..count]);
        }
    }
    // A record with too few values, and one that is cut off.
    assert!(!read_leading(&[2, 8], &mut [Value::Null; 2]));
    for end in 0..=13 {
        assert!(!read_leading(&record[..end], &mut [Value::Null; 4]));
    }
}
