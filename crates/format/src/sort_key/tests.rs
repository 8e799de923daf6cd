use super::*;
use crate::record;
use proptest::prelude::*;

#[cfg(not(miri))] // needs SQLite and files
mod sqlite;

const COLLATIONS: [Collation; 3] = [Collation::Binary, Collation::NoCase, Collation::RTrim];

fn every_part() -> impl Iterator<Item = KeyPart> {
    let with = |collation| [false, true].map(|descending| KeyPart { collation, descending });
    COLLATIONS.into_iter().flat_map(with)
}

#[test]
fn values_compare_as_their_forms_do() {
    let mut values = edge_numbers();
    values.extend([Value::Null, Value::Real(f64::NAN)]);
    values.extend(edge_texts().into_iter().flat_map(|text| [Value::Text(text), Value::Blob(text)]));
    if cfg!(miri) {
        // It takes a thousand times as long.
        values = values.into_iter().step_by(53).collect();
    }
    for part in COLLATIONS.map(|collation| KeyPart { collation, descending: false }) {
        for left in &values {
            for right in &values {
                let expected = encode(*left, part).0.cmp(&encode(*right, part).0);
                assert_eq!(compare(left, right, part.collation), expected, "{left:?} {right:?} {part:?}");
            }
        }
    }
    assert_eq!(Collation::from_name("nocase"), Some(Collation::NoCase));
    assert_eq!(Collation::from_name("german"), None);
}

fn encode(value: Value<'_>, part: KeyPart) -> (Vec<u8>, bool) {
    let mut encoding = Vec::new();
    let is_lossless = push(&value, part, &mut encoding);
    (encoding, is_lossless)
}

fn ascending(value: Value<'_>) -> Vec<u8> {
    encode(value, KeyPart::default()).0
}

/// Returns whether both are equal in kind and bytes: 0.0 is not -0.0.
fn is_same(left: Value<'_>, right: Value<'_>) -> bool {
    match (left, right) {
        (Value::Real(left), Value::Real(right)) => left.to_bits() == right.to_bits(),
        _ => left == right,
    }
}

/// Returns numbers on both sides of every threshold of the encoding, the doubles and the integers.
/// Returns 2^power. Miri makes the last digit of `powi` uncertain.
fn power_of_two(power: i32) -> f64 {
    f64::from_bits(u64::try_from(1023 + power).expect("a normal number") << 52)
}

fn edge_numbers() -> Vec<Value<'static>> {
    let mut reals = vec![0.0, 5e-324, 2.5e-310, f64::MIN_POSITIVE, 0.1, 0.5, 1.0 - f64::EPSILON / 2.0];
    reals.extend([1.0, 1.5, 1.0 + f64::EPSILON, 3.7, 4.0, 123_456.789, 1e15 + 0.3, 1e300, f64::MAX, f64::INFINITY]);
    let mut ints = vec![0, 1, 3, 4, 100, i64::MAX - 1, i64::MAX];
    for power in 1..=70 {
        let real = power_of_two(power);
        reals.extend([real.next_down(), real, real.next_up(), real - 0.5, real + 0.5]);
        if power < 63 {
            ints.extend([(1 << power) - 1, 1 << power, (1 << power) + 1]);
        }
    }
    let negative_reals: Vec<f64> = reals.iter().map(|real| -real).collect();
    let negative_ints: Vec<i64> = ints.iter().flat_map(|int| [-int, -int - 1]).collect();
    let reals = reals.into_iter().chain(negative_reals).map(Value::Real);
    reals.chain(ints.into_iter().chain(negative_ints).map(Value::Int)).collect()
}

fn edge_texts() -> Vec<&'static [u8]> {
    vec![
        b"",
        b"\0",
        b"\0\0",
        b"\x01",
        b"\x01\0",
        b"\x01\x01",
        b"\x01\x02",
        b"\0\x01",
        b"\x02",
        b"\xff",
        b"\xff\xff",
        b"\xff\0",
        b" ",
        b"  ",
        b" a",
        b"a",
        b"a ",
        b"a  ",
        b"a\0",
        b"a \0",
        b"a\0 ",
        b"a\0b",
        b"a\0B",
        b"a\0bc",
        b"a\x01",
        b"a\x01b",
        b"a\x01b ",
        b"A",
        b"A ",
        b"A\0b",
        b"A\0c",
        b"A\0\0",
        b"aB",
        b"ab",
        b"AB",
        b"Ab ",
        b"b",
        b"Z",
        b"z",
        b"[",
        b"_",
        b"`",
        b"{",
        b"@",
        b"abcdefg",
        b"abcdefgh",
        b"abcdefghi",
        b"abcdefg\0",
        b"abcdefgh\0",
        b"abcdefgH",
        b"abcdef\x01h",
        b"abcdefgh       ",
        b"abcdefghijklmnopqrstuvwxyz",
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "\u{e4}".as_bytes(),
        "\u{c4}".as_bytes(),
        "a\u{c4} ".as_bytes(),
        "\u{10ffff}".as_bytes(),
        b"1",
        b"1.0",
        b"10",
        &[b'x'; 57],
        &[b'x'; 58],
        &[b'X'; 58],
    ]
}

fn edge_values() -> Vec<Value<'static>> {
    let texts = edge_texts();
    let mut values = edge_numbers();
    values.push(Value::Null);
    values.extend(texts.iter().map(|text| Value::Text(text)));
    values.extend(texts.iter().map(|blob| Value::Blob(blob)));
    values
}

fn any_value() -> impl Strategy<Value = OwnedValue> {
    let edge_values = edge_values().into_iter().map(OwnedValue::from).collect::<Vec<_>>();
    let byte = prop_oneof![Just(0), Just(1), Just(b' '), b'A'..=b'C', b'a'..=b'c', any::<u8>()];
    let bytes = proptest::collection::vec(byte, 0..20);
    prop_oneof![
        4 => proptest::sample::select(edge_values),
        2 => (0..64_u32, any::<i64>()).prop_map(|(shift, int)| OwnedValue::Int(int >> shift)),
        1 => any::<f64>().prop_map(OwnedValue::Real),
        1 => (0..64_u32, any::<i64>()).prop_map(|(shift, int)| OwnedValue::Real((int >> shift) as f64 / 16.0)),
        1 => bytes.clone().prop_map(OwnedValue::Text),
        1 => bytes.prop_map(OwnedValue::Blob),
    ]
}

#[derive(Clone, Debug)]
enum OwnedValue {
    Null,
    Int(i64),
    Real(f64),
    Text(Vec<u8>),
    Blob(Vec<u8>),
}

impl From<Value<'_>> for OwnedValue {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Int(int) => Self::Int(int),
            Value::Real(real) => Self::Real(real),
            Value::Text(text) => Self::Text(text.to_vec()),
            Value::Blob(blob) => Self::Blob(blob.to_vec()),
        }
    }
}

impl OwnedValue {
    fn get(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Int(int) => Value::Int(*int),
            Self::Real(real) => Value::Real(*real),
            Self::Text(text) => Value::Text(text),
            Self::Blob(blob) => Value::Blob(blob),
        }
    }
}

fn check_round_trip(value: Value<'_>, part: KeyPart) {
    let (mut encoding, is_lossless) = encode(value, part);
    let len = encoding.len();
    let mut scratch = b"left over".to_vec();
    for behind in [&b""[..], b"\0", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff"] {
        encoding.truncate(len);
        encoding.extend_from_slice(behind);
        let (read_back, read_len) = read(&encoding, part, &mut scratch).unwrap();
        let integer = if let Value::Int(int) = read_back { Some((int, len)) } else { None };
        assert_eq!(read_integer(&encoding, part), integer, "{value:?} {part:?}");
        assert_eq!((read_len, skip(&encoding, part)), (len, Ok(len)), "{value:?} {part:?}");
        let stored = if matches!(value, Value::Real(real) if real.is_nan()) { Value::Null } else { value };
        assert_eq!(is_same(read_back, stored), is_lossless, "{value:?} {part:?} came back as {read_back:?}");
        assert_eq!(encode(read_back, part), (encoding[..len].to_vec(), true), "{value:?} {part:?}");
    }
    for cut in 0..len {
        assert!(read(&encoding[..cut], part, &mut scratch).is_err(), "{value:?} {part:?} cut to {cut}");
        assert!(read_integer(&encoding[..cut], part).is_none(), "{value:?} {part:?} cut to {cut}");
    }
}

#[test]
fn what_push_keeps_reads_back() {
    let step = if cfg!(miri) { 29 } else { 1 };
    for value in edge_values().into_iter().step_by(step).chain([Value::Real(f64::NAN)]) {
        every_part().for_each(|part| check_round_trip(value, part));
    }
}

#[test]
fn forms_are_those_of_the_picture() {
    for (value, expected) in [
        (Value::Null, &[0][..]),
        (Value::Int(0), &[0x80]),
        (Value::Real(-0.0), &[0x80]),
        (Value::Int(-1), &[0x7d]),
        (Value::Int(7), &[0x8e]),
        (Value::Int(8), &[0x90, 16]),
        (Value::Int(300), &[0x92, 0x58]),
        (Value::Int(-300), &[0x6d, 0xa7]),
        (Value::Int(999_999), &[0xce, 0x84, 0x7e]),
        (Value::Int(1_700_000_000), &[0xe0, 0xca, 0xa7, 0xe2, 0]),
        (Value::Real(0.5), &[0x81, 0x3f, 0xe0, 0, 0, 0, 0, 0, 0]),
        (Value::Real(2.5), &[0x85, 4, 0, 0, 0, 0, 0, 0]),
        (Value::Real(123_456.5), &[0xb3, 0xc4, 0x81, 8, 0, 0, 0, 0]),
        (Value::Int((1 << 55) - 1), &[0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe]),
        (Value::Int(1 << 55), &[0xf9, 0, 0x80, 0, 0, 0, 0, 0, 0]),
        (Value::Int(i64::MIN), &[0x06, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
        (Value::Real(f64::INFINITY), &[0xfa, 0x7f, 0xf0, 0, 0, 0, 0, 0, 0]),
        (Value::Text(b"a\0\x01"), &[0xfd, b'a', 1, 1, 1, 2, 0]),
        (Value::Blob(b""), &[0xfe, 0]),
    ] {
        assert_eq!(ascending(value), expected, "{value:?}");
        let inverted: Vec<u8> = expected.iter().map(|byte| !byte).collect();
        let descending = KeyPart { descending: true, ..KeyPart::default() };
        assert_eq!(encode(value, descending).0, inverted, "{value:?}");
    }
}

#[test]
fn what_push_does_not_keep() {
    let kept = |value, collation| encode(value, KeyPart { collation, descending: false }).1;
    for real in
        [0.0, -0.0, 1.0, -5.0, power_of_two(53), power_of_two(62), -(power_of_two(63)), power_of_two(63).next_down()]
    {
        assert!(!kept(Value::Real(real), Collation::Binary), "{real}");
    }
    for real in
        [0.5, -1.5, power_of_two(63), (-(power_of_two(63))).next_down(), power_of_two(64), f64::NEG_INFINITY, f64::NAN]
    {
        assert!(kept(Value::Real(real), Collation::Binary), "{real}");
    }
    for (text, no_case, r_trim) in
        [("", true, true), ("ab", true, true), ("aB", false, true), ("ab ", true, false), (" a\u{c4}", true, true)]
    {
        assert!(kept(text.into(), Collation::Binary));
        assert_eq!(kept(text.into(), Collation::NoCase), no_case, "{text:?}");
        assert_eq!(kept(text.into(), Collation::RTrim), r_trim, "{text:?}");
        assert!(kept(Value::Blob(text.as_bytes()), Collation::NoCase));
        assert!(kept(Value::Blob(text.as_bytes()), Collation::RTrim));
    }
    assert!(kept(Value::Text(b"a\0\0"), Collation::NoCase));
    assert!(!kept(Value::Text(b"a\0b"), Collation::NoCase));
}

#[test]
fn no_form_starts_another() {
    for part in every_part() {
        let mut encodings: Vec<Vec<u8>> = edge_values().into_iter().map(|value| encode(value, part).0).collect();
        encodings.sort();
        encodings.dedup();
        for pair in encodings.windows(2) {
            assert!(!pair[1].starts_with(&pair[0]), "{pair:?}");
        }
    }
}

#[test]
fn rowids_sort_and_read_back() {
    let mut rowids = vec![0, i64::MIN, i64::MAX];
    for power in 0..63 {
        let near = [(1 << power) - 1, 1 << power, (1 << power) + 1];
        rowids.extend(near.iter().flat_map(|rowid| [*rowid, -rowid]));
    }
    rowids.sort_unstable();
    rowids.dedup();
    let mut last = Vec::new();
    for rowid in rowids {
        let mut encoding = Vec::new();
        push_rowid(rowid, &mut encoding);
        assert!(last < encoding && (last.is_empty() || !encoding.starts_with(&last)), "{rowid}");
        assert_eq!(read_rowid(&encoding), Ok((rowid, encoding.len())));
        assert_eq!(skip_rowid(&encoding), Ok(encoding.len()));
        assert_eq!(rowid_len(rowid), encoding.len());
        for cut in 0..encoding.len() {
            assert!(
                read_rowid(&encoding[..cut]).is_err() && skip_rowid(&encoding[..cut]).is_err(),
                "{rowid} cut to {cut}"
            );
        }
        last = encoding;
    }
}

#[test]
fn collations_have_names() {
    assert_eq!(Collation::from_name("binary"), Some(Collation::Binary));
    assert_eq!(Collation::from_name("NoCase"), Some(Collation::NoCase));
    assert_eq!(Collation::from_name("RTRIM"), Some(Collation::RTrim));
    assert_eq!(Collation::from_name("UNICODE"), None);
}

fn check_entry(layout: &IndexEntryLayout, columns: &[Value<'_>], rowid: Option<i64>) {
    let mut item = Vec::new();
    layout.push_item(columns.iter().copied(), rowid, &mut item);
    let mut expected = b"before".to_vec();
    let stored: Vec<Value<'_>> = columns.iter().copied().chain(rowid.map(Value::Int)).collect();
    record::write_record(&stored, &mut expected);
    let mut record = b"before".to_vec();
    layout.write_record(&item, &mut record).unwrap();
    assert_eq!(record, expected, "{columns:?} {rowid:?}");
    check_short(layout, columns, rowid, &item, &record[6..]);
    // Every cut of a short item, some of a long one. Miri takes a thousand times as long.
    let most_cuts = if cfg!(miri) { 4 } else { 64 };
    for cut in (0..item.len()).step_by(1 + item.len() / most_cuts) {
        record.truncate(6);
        let written = layout.write_record(&item[..cut], &mut record);
        assert!(written.is_ok() || record == b"before");
    }
}

/// Checks that encoding in whole words gives the bytes of encoding in vectors, and accepts every short plain entry.
fn check_short(layout: &IndexEntryLayout, columns: &[Value<'_>], rowid: Option<i64>, item: &[u8], record: &[u8]) {
    let mut room = [0xaa; SHORT_ROOM];
    let made = layout.make_short(columns.iter().copied(), rowid, &mut room);
    if let Some(len) = made {
        assert_eq!(&room[..len], item, "{columns:?} {rowid:?}");
        assert!(room[len..SHORT_LEN].iter().all(|byte| *byte == 0));
    }
    check_prefix(layout, columns, rowid, item, made.is_some());
    check_integers(layout, columns, rowid, item);
    let is_plain = |value: &Value<'_>| match value {
        Value::Null | Value::Int(_) => true,
        Value::Text(bytes) | Value::Blob(bytes) => bytes.iter().all(|byte| (2..0x40).contains(byte)),
        Value::Real(_) => false,
    };
    let is_trimmed = |value: &Value<'_>| !matches!(value, Value::Text(text) if text.ends_with(b" "));
    let plain = columns.iter().all(|value| is_plain(value) && is_trimmed(value));
    assert!(made.is_some() || !plain || item.len() > SHORT_LEN, "{columns:?} {rowid:?}");
    let mut cell = ShortCell::default();
    let padded = [item, &[0xfd; 64]].concat();
    let made = layout.make_short_cell(&padded, item.len(), &mut cell);
    if made {
        let bytes = bytes_of(&cell);
        assert_eq!(bytes.split_first(), Some((&u8::try_from(record.len()).unwrap(), record)));
    }
    let descends = layout.parts().iter().any(|part| part.descending);
    assert!(made || !plain || descends || columns.len() > 4 || item.len() > SHORT_LEN, "{columns:?} {rowid:?}");
}

/// Checks [`KeyPrefixEncoder`] as [`check_short`] checks short items.
fn check_prefix(layout: &IndexEntryLayout, columns: &[Value<'_>], rowid: Option<i64>, item: &[u8], is_plain: bool) {
    let mut bytes = vec![0xaa; PREFIX_MARGIN];
    record::write_record(columns, &mut bytes);
    let mut fields = record::RecordReader::new(&bytes[PREFIX_MARGIN..]).unwrap();
    let places: Vec<_> =
        std::iter::from_fn(|| fields.next_field().unwrap()).map(|field| Some((field.serial, field.body))).collect();
    // A column with the rowid's value may be the rowid.
    if let Some(column) = rowid.and_then(|rowid| columns.iter().position(|value| *value == Value::Int(rowid))) {
        let mut places = places.clone();
        places[column] = None;
        let made = KeyPrefixEncoder::new(layout, places)
            .and_then(|maker| maker.make(&bytes, PREFIX_MARGIN, rowid.unwrap_or(0)));
        if let Some((prefix, len)) = made {
            assert_eq!(&prefix.map(u64::to_be_bytes).concat()[..len], item, "{columns:?} {rowid:?}, column {column}");
        }
    }
    let maker = KeyPrefixEncoder::new(layout, places);
    let prefix = maker.and_then(|maker| maker.make(&bytes, PREFIX_MARGIN, rowid.unwrap_or(0)));
    let is_binary = layout.parts().iter().all(|part| part.collation == Collation::Binary);
    let is_small = |int: i64| int.unsigned_abs() < 1 << 54;
    let are_small =
        columns.iter().all(|value| !matches!(value, Value::Int(int) if !is_small(*int))) && rowid.is_none_or(is_small);
    let is_in_prefix = is_plain && is_binary && are_small && item.len() <= PREFIX_LEN;
    assert!(prefix.is_some() || !is_in_prefix, "{columns:?} {rowid:?}");
    if let Some((prefix, len)) = prefix {
        let mut expected = [0; PREFIX_LEN];
        expected[..item.len()].copy_from_slice(item);
        assert_eq!(
            (prefix.map(u64::to_be_bytes).concat(), len),
            (expected.to_vec(), item.len()),
            "{columns:?} {rowid:?}"
        );
    }
}

/// Checks [`IndexEntryLayout::prefix_of_integers`] as [`check_short`] checks short items. Columns may follow the
/// integers of the record.
fn check_integers(layout: &IndexEntryLayout, columns: &[Value<'_>], rowid: Option<i64>, item: &[u8]) {
    let position = rowid.unwrap_or(77);
    let mut item = item.to_vec();
    let key_len = item.len() - rowid.map_or(0, rowid_len);
    if rowid.is_none() {
        push_rowid(position, &mut item);
    }
    let is_small = |int: i64| int.unsigned_abs() < 1 << 54;
    let are_small = columns.iter().all(|value| matches!(value, Value::Int(int) if is_small(*int)));
    for behind in [&[][..], &[Value::Text(b"abc"), Value::Real(0.5)]] {
        let mut bytes = vec![0xaa; PREFIX_MARGIN];
        record::write_record(&[columns, behind].concat(), &mut bytes);
        let end = bytes.len();
        bytes.extend([0xaa; 9]);
        let prefix = layout.prefix_of_integers(&bytes, PREFIX_MARGIN..end, position);
        let is_for_it = are_small && is_small(position) && item.len() <= PREFIX_LEN && (1..=4).contains(&columns.len());
        assert!(prefix.is_some() || !is_for_it, "{columns:?} {rowid:?}");
        if let Some(KeyPrefix { words, key_len: len_of_key, len }) = prefix {
            let mut expected = [0; PREFIX_LEN];
            expected[..item.len()].copy_from_slice(&item);
            assert_eq!(words.map(u64::to_be_bytes).concat(), expected, "{columns:?} {rowid:?}");
            assert_eq!((len_of_key, len), (key_len, item.len()));
            // Records that are cut off, and headers with wrong lengths.
            assert!((0..end - PREFIX_MARGIN).all(|len| {
                let prefix = layout.prefix_of_integers(&bytes, PREFIX_MARGIN..PREFIX_MARGIN + len, position);
                prefix.is_none_or(|prefix| prefix.words == words)
            }));
            for header_len in [0, 1, columns.len(), 0x80, 0xff] {
                bytes[PREFIX_MARGIN] = u8::try_from(header_len).unwrap();
                assert!(layout.prefix_of_integers(&bytes, PREFIX_MARGIN..end, position).is_none());
            }
        }
    }
}

/// A number was placed behind a key that took all of the two words: a shift by 64 bits.
#[test]
fn a_key_that_leaves_no_room_for_a_position() {
    let parts = [KeyPart::default(); 2];
    let mut lens = Vec::new();
    // Miri takes a thousand times as long.
    let bits = || (0..54).step_by(if cfg!(miri) { 9 } else { 1 });
    for (a, b) in bits().flat_map(|a| bits().map(move |b| (1_i64 << a, 1_i64 << b))) {
        let (layout, columns, mut item) =
            (IndexEntryLayout::without_rowid(parts.to_vec(), 2), [a, b].map(Value::Int), Vec::new());
        layout.push_item(columns, None, &mut item);
        check_integers(&layout, &columns, None, &item);
        lens.push(item.len());
    }
    assert!(cfg!(miri) || lens.contains(&PREFIX_LEN));
}

#[test]
fn a_cell_takes_rowids_of_every_class() {
    let layout = IndexEntryLayout::with_rowid(vec![KeyPart { collation: Collation::Binary, descending: false }]);
    let around = |bits: u32| (-2..=2).map(move |near| (1_i64 << bits).wrapping_add(near));
    let mut rowids: Vec<i64> = (0..63).flat_map(around).flat_map(|rowid| [rowid, rowid.wrapping_neg()]).collect();
    rowids.extend([i64::MIN, i64::MAX]);
    rowids.sort_unstable();
    let mut cell = ShortCell::default();
    // Each rowid behind the one before it, and behind one of another class.
    for rowid in rowids.iter().flat_map(|&rowid| [rowid, rowid, rowid / 1000]) {
        let (mut item, mut record) = (Vec::new(), Vec::new());
        layout.push_item([Value::Int(7)], Some(rowid), &mut item);
        layout.write_record(&item, &mut record).unwrap();
        assert!(layout.make_short_cell(&[&item, &[0xff; 64][..]].concat(), item.len(), &mut cell));
        assert_eq!(&bytes_of(&cell)[1..], record, "{rowid}");
    }
}

#[test]
fn cells_that_differ_in_their_rowids_alone() {
    let layout = IndexEntryLayout::with_rowid(vec![KeyPart::default()]);
    let around = |bits: u32| (-1..=1).map(move |near| (1_i64 << bits) + near);
    let step = if cfg!(miri) { 20 } else { 3 };
    let rowids: Vec<i64> = (0..60).step_by(step).flat_map(around).chain([-1, i64::MIN, i64::MAX]).collect();
    // A template outlives neither its key nor its class of rowids.
    let (mut made, mut kept) = (0, ShortCell::default());
    for key in [Value::Null, Value::Int(7), Value::Text(b"abc"), Value::Text(b"too long with 8 bytes")] {
        let item_of = |rowid: i64| {
            let (mut item, mut record) = (Vec::new(), Vec::new());
            layout.push_item([key], Some(rowid), &mut item);
            layout.write_record(&item, &mut record).unwrap();
            (item, record)
        };
        let key_len = item_of(0).0.len() - 1;
        for (&first, is_new) in rowids.iter().flat_map(|first| [(first, false), (first, true)]) {
            let mut new = ShortCell::default();
            let cell = if is_new { &mut new } else { &mut kept };
            let (item, record) = item_of(first);
            assert!(layout.make_short_cell(&[&item, &[0xff; 64][..]].concat(), item.len(), cell));
            let Some(template) = cell.template() else {
                assert!(record.len() >= CELL_WINDOW);
                continue;
            };
            for &rowid in &rowids {
                let (item, record) = item_of(rowid);
                let encoding = [&item[key_len..], &[0xff; 8]].concat();
                let mut room = [0xaa; 3 * CELL_WINDOW];
                let encoding = u64::from_be_bytes(*encoding.first_chunk().unwrap());
                if template.fits(encoding) {
                    template.write_all([encoding; 3].into_iter(), &mut room);
                    for cell in room.rchunks(template.len()).take(3) {
                        assert_eq!(cell.split_first(), Some((&cell_len(&record), &record[..])));
                    }
                    made += 1;
                }
            }
        }
    }
    assert!(cfg!(miri) || made > 300, "{made}");
}

fn cell_len(record: &[u8]) -> u8 {
    u8::try_from(record.len()).unwrap()
}

/// A column that is the rowid was encoded as the rowid behind the columns.
#[test]
fn a_column_that_is_the_rowid() {
    for part in every_part() {
        let layout = IndexEntryLayout::with_rowid(vec![part, part]);
        for rowid in [-1, 0, 7, 300, 70_000, 1 << 40] {
            let columns = [Value::Text(b"m"), Value::Int(rowid)];
            let mut item = Vec::new();
            layout.push_item(columns, Some(rowid), &mut item);
            check_prefix(&layout, &columns, Some(rowid), &item, false);
        }
    }
}

fn bytes_of(cell: &ShortCell) -> Vec<u8> {
    let mut bytes = vec![0; cell.len()];
    cell.write(&mut bytes);
    bytes
}

#[test]
fn a_cell_keeps_only_the_columns_of_the_entry_before() {
    for part in every_part() {
        let layout = IndexEntryLayout::with_rowid(vec![part, part]);
        let (mut cell, mut items) = (ShortCell::default(), Vec::new());
        let texts: [&[u8]; 5] = [b"", b"a", b"ab", b"ab ", b"a long text it is"];
        for columns in texts.iter().flat_map(|a| texts.map(|b| [Value::Text(a), Value::Text(b)])) {
            for rowid in [0, 1, 200, -3, 1 << 40] {
                let (mut item, mut record) = (Vec::new(), Vec::new());
                layout.push_item(columns, Some(rowid), &mut item);
                layout.write_record(&item, &mut record).unwrap();
                items.push((item, record));
            }
        }
        let alternating = items.iter().zip(items.iter().rev()).flat_map(|(one, other)| [one, other]);
        let mut made = 0;
        for (item, record) in items.iter().chain(alternating) {
            if layout.make_short_cell(&[item, &[7; 64][..]].concat(), item.len(), &mut cell) {
                assert_eq!(&bytes_of(&cell)[1..], record);
                made += 1;
            }
        }
        let short = items.iter().filter(|(item, _)| item.len() <= SHORT_LEN).count();
        let is_plain = part.collation != Collation::RTrim;
        assert!(
            part.descending && made == 0 || made == 3 * short || !is_plain && made > 0,
            "{part:?}: {made}, {short}"
        );
    }
}

#[test]
fn entry_is_that_of_the_picture() {
    let no_case_desc = KeyPart { collation: Collation::NoCase, descending: true };
    let layout = IndexEntryLayout::with_rowid(vec![KeyPart::default(), no_case_desc]);
    let mut item = Vec::new();
    layout.push_item([Value::Int(300), Value::Text(b"Bo")], Some(7), &mut item);
    assert_eq!(item, b"\x92\x58\x02\x9d\x90\xff\x84\x07\x03\x00\x11Bo");
    assert_eq!(layout.unique_key(&item), Ok(UniqueKey { len: 6, has_null: false }));
}

#[test]
fn entries_become_records() {
    // Miri takes a thousand times as long.
    let step = if cfg!(miri) { 211 } else { 1 };
    for part in every_part() {
        let one = IndexEntryLayout::with_rowid(vec![part]);
        let two = IndexEntryLayout::with_rowid(vec![part, KeyPart::default()]);
        let key = IndexEntryLayout::without_rowid(vec![part, part], 1);
        for value in edge_values().into_iter().step_by(step) {
            check_entry(&one, &[value], Some(1 << 40));
            check_entry(&two, &[value, Value::Real(5.0)], Some(-1));
            check_entry(&two, &[value, Value::Text(b"x")], Some(0));
            check_entry(&key, &[Value::Text(b"X "), value], None);
        }
    }
}

#[test]
fn entries_of_many_and_long_columns() {
    let long = vec![b'L'; 20_000];
    let (step, most) = if cfg!(miri) { (7, 200) } else { (1, 2000) };
    for columns in (120..132).step_by(step).chain([most]) {
        for part in every_part().step_by(step) {
            let layout = IndexEntryLayout::with_rowid(vec![part; columns]);
            let mut values = vec![Value::Int(7); columns];
            check_entry(&layout, &values, Some(9));
            values[0] = Value::Text(&long);
            values[columns - 1] = Value::Text(&long[..60]);
            check_entry(&layout, &values, Some(9));
        }
    }
}

#[test]
fn unique_compares_columns_without_rowid() {
    for part in every_part() {
        let layout = IndexEntryLayout::with_rowid(vec![part, part]);
        for (columns, has_null) in [([Value::Int(5), Value::Text(b"xY ")], false), ([Value::Null, Value::Int(1)], true)]
        {
            let mut item = Vec::new();
            layout.push_item(columns, Some(77), &mut item);
            let key = layout.unique_key(&item).unwrap();
            assert_eq!(key.has_null, has_null);
            assert_eq!(read_rowid(&item[key.len..]).unwrap().0, 77);
        }
        let layout = IndexEntryLayout::without_rowid(vec![part, part], 1);
        let mut item = Vec::new();
        layout.push_item([Value::Int(5), Value::Null], None, &mut item);
        assert_eq!(layout.unique_key(&item), Ok(UniqueKey { len: 1, has_null: false }));
    }
}

#[test]
#[should_panic(expected = "a value for every column")]
fn a_column_too_few_is_our_mistake() {
    IndexEntryLayout::with_rowid(vec![KeyPart::default()]).push_item([], Some(1), &mut Vec::new());
}

proptest! {
    #[test]
    fn any_value_reads_back(value in any_value()) {
        every_part().for_each(|part| check_round_trip(value.get(), part));
    }

    #[test]
    fn any_entry_becomes_its_record(values in proptest::collection::vec(any_value(), 1..5), rowid: i64) {
        let values: Vec<Value<'_>> = values.iter().map(OwnedValue::get).collect();
        for part in every_part() {
            check_entry(&IndexEntryLayout::with_rowid(vec![part; values.len()]), &values, Some(rowid));
            check_entry(&IndexEntryLayout::without_rowid(vec![part; values.len()], 1), &values, None);
        }
    }

    #[test]
    fn garbage_is_read_within_its_bounds(first: u8, mut bytes: Vec<u8>) {
        bytes.insert(0, first);
        let mut record = Vec::new();
        for part in every_part() {
            if let Ok((_, len)) = read(&bytes, part, &mut Vec::new()) {
                prop_assert!(len <= bytes.len());
                prop_assert_eq!(skip(&bytes, part), Ok(len));
            }
            for layout in [IndexEntryLayout::with_rowid(vec![part; 2]), IndexEntryLayout::without_rowid(vec![part; 2], 2)] {
                let _ = layout.unique_key(&bytes);
                prop_assert!(layout.write_record(&bytes, &mut record).is_ok() || record.is_empty());
                record.clear();
                let (padded, mut cell) = ([&bytes[..], &[first; 64]].concat(), ShortCell::default());
                if layout.make_short_cell(&padded, bytes.len(), &mut cell) {
                    layout.write_record(&bytes, &mut record).unwrap();
                    prop_assert_eq!(&bytes_of(&cell)[1..], &record);
                    record.clear();
                }
            }
        }
        if let Ok((_, len)) = read_rowid(&bytes) {
            prop_assert!(len <= bytes.len());
        }
    }
}
