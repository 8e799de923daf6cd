use super::*;
use proptest::prelude::*;

fn fresh() -> DatabaseHeader {
    DatabaseHeader::new(PageSize::DEFAULT)
}

#[test]
fn a_fresh_header_is_what_sqlite_writes() {
    let bytes = fresh().encode();
    assert_eq!(bytes[..24], *b"SQLite format 3\0\x10\x00\x01\x01\x00\x40\x20\x20");
    assert_eq!(DatabaseHeader::decode(&bytes), Ok(fresh()));
    assert!(fresh().page_count_is_valid());
    assert_eq!(fresh().usable(), 4096);
}

#[test]
fn every_field_has_its_own_place() {
    let header = DatabaseHeader {
        page_size: PageSize::MAX,
        write_version: 2,
        read_version: 2,
        reserved: 32,
        change_counter: 0x0101_0101,
        page_count: 0x0202_0202,
        first_freelist_trunk: 0x0303_0303,
        freelist_pages: 0x0404_0404,
        schema_cookie: 0x0505_0505,
        schema_format: 3,
        default_cache_size: -2000,
        largest_root_page: 0x0606_0606,
        text_encoding: TextEncoding::Utf16Be,
        user_version: -7,
        incremental_vacuum: true,
        application_id: -8,
        version_valid_for: 0x0909_0909,
        sqlite_version_number: 0x0a0a_0a0a,
    };
    assert_eq!(DatabaseHeader::decode(&header.encode()), Ok(header));
    assert!(!header.page_count_is_valid());
}

#[test]
fn every_rule_is_checked_where_it_stands() {
    for (offset, byte) in [
        (0, b's'),  // magic
        (16, 0x11), // page size 4352
        (18, 0),    // write version
        (18, 3),
        (19, 0), // read version
        (19, 3),
        (21, 63), // fractions
        (22, 31),
        (23, 33),
        (36, 1), // freelist pages without a trunk
        (44, 1), // schema format 0x0100_0004
        (47, 5), // schema format 5
        (59, 4), // text encoding
        (67, 1), // incremental vacuum without auto-vacuum
        (72, 1), // bytes reserved for expansion
        (91, 1),
    ] {
        let mut bytes = fresh().encode();
        bytes[offset] = byte;
        let error = DatabaseHeader::decode(&bytes).expect_err(&format!("{offset}: {byte}"));
        assert!(error.offset().abs_diff(offset) < 5, "{offset}: {error}");
    }
    let mut unterminated = fresh().encode();
    unterminated[15] = b' ';
    assert!(DatabaseHeader::decode(&unterminated).is_err());
    assert!(DatabaseHeader::decode(&fresh().encode()[..99]).is_err());
}

#[test]
fn at_least_480_bytes_are_usable() {
    for (reserved, legal) in [(32, true), (33, false), (255, false)] {
        let header = DatabaseHeader { reserved, ..DatabaseHeader::new(PageSize::MIN) };
        assert_eq!(DatabaseHeader::decode(&header.encode()).is_ok(), legal, "{reserved}");
    }
}

#[test]
fn a_database_without_a_schema_yet_is_read() {
    let mut bytes = fresh().encode();
    bytes[44..48].fill(0);
    bytes[56..60].fill(0);
    let header = DatabaseHeader::decode(&bytes).unwrap();
    assert_eq!((header.schema_format, header.text_encoding), (0, TextEncoding::Utf8));
}

#[test]
fn fields_follow_each_other_to_the_end() {
    let end = FIELDS.iter().fold(0, |expected, (offset, len, name)| {
        assert_eq!(*offset, expected, "{name}");
        offset + len
    });
    assert_eq!(end, FILE_HEADER_LEN);
}

proptest! {
    #[test]
    fn garbage_never_panics(bytes: Vec<u8>) {
        let _ = DatabaseHeader::decode(&bytes);
    }

    #[test]
    fn damaged_headers_never_panic_and_read_as_written(offset in 0..100_usize, byte: u8) {
        let mut bytes = fresh().encode();
        bytes[offset] = byte;
        if let Ok(header) = DatabaseHeader::decode(&bytes) {
            prop_assert_eq!(DatabaseHeader::decode(&header.encode()), Ok(header));
        }
    }
}
