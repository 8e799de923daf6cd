use super::*;
use crate::cell::Cell;
use crate::header::DatabaseHeader;
use crate::overflow;
use crate::page::{PageKind, PageWriter};
use crate::value::Value;
use proptest::prelude::*;

const ROLES: [Role; 7] = [
    Role::BTree,
    Role::Overflow,
    Role::FreelistTrunk,
    Role::FreelistLeaf,
    Role::PointerMap,
    Role::LockByte,
    Role::Unknown,
];

fn describe(page_number: u32, page: &[u8], role: Role) -> String {
    describe_page(page_number, page, PageSize::MIN, 512, role)
}

fn has_complaint(text: &str) -> bool {
    text.lines().any(|line| line.starts_with('!'))
}

/// Makes a table leaf with two cells, the second of which overflows.
fn leaf() -> [u8; 512] {
    let mut page = [0; 512];
    let mut writer = PageWriter::new(&mut page, 0, PageKind::LeafTable, 512);
    let mut record = Vec::new();
    crate::record::write_record(&[Value::Null, Value::Text(b"hello"), Value::Int(300)], &mut record);
    let mut cell = Vec::new();
    let payload_len = record.len() as u64;
    Cell::TableLeaf { rowid: 7, payload_len, local: &record, overflow: None }.write(&mut cell);
    assert!(writer.push(&cell));
    record.clear();
    crate::record::write_record(&[Value::Int(1), Value::Real(0.5), Value::Blob(&[9; 600])], &mut record);
    cell.clear();
    let split = crate::payload::split(PageKind::LeafTable, 512, record.len() as u64);
    let (payload_len, local) = (record.len() as u64, &record[..split.local]);
    Cell::TableLeaf { rowid: -1, payload_len, local, overflow: Some(9) }.write(&mut cell);
    assert!(writer.push(&cell));
    writer.finish(None);
    page
}

#[test]
fn a_leaf_is_explained_to_the_last_byte() {
    let expected = "\
page 2, b-tree page, 512 bytes
page header
0000  0d                          table leaf        kind of page
0001  00 00                       0                 first freeblock
0003  00 02                       2                 cells
0005  01 7b                       379               start of the cell content
0007  00                          0                 fragmented bytes
cell pointers, in key order
0008  01 f3                       499               cell 0 is at 01f3
000a  01 7b                       379               cell 1 is at 017b
000c  367 bytes, unallocated gap, all zero
cell 0: 13 bytes
01f3  0b                          11                payload length
01f4  07                          7                 rowid
01f5  04                          4                 record header length
01f6  00                          0                 column 0: NULL
01f7  17                          23                column 1: text of 5 bytes
01f8  02                          2                 column 2: integer of 2 bytes
01f9  68 65 6c 6c 6f              \"hello\"           column 1
01fe  01 2c                       300               column 2
cell 1: 120 bytes
017b  84 65                       613               payload length
017d  ff ff ff ff ff ff ff ff..   -1                rowid
0186  05                          5                 record header length
0187  09                          9                 column 0: integer 1
0188  07                          7                 column 1: real of 8 bytes
0189  89 3c                       1212              column 2: blob of 600 bytes
018b  3f e0 00 00 00 00 00 00     0.5               column 1
0193  09 09 09 09 09 09 09 09..                     column 2: 92 of 600 bytes stand here
01ef  00 00 00 09                 9                 overflow page, for 508 bytes more
";
    let text = describe(2, &leaf(), Role::BTree);
    assert_eq!(text, expected, "\n{text}");
}

#[test]
fn page_1_shows_the_file_header() {
    let mut page = [0; 512];
    PageWriter::new(&mut page, 100, PageKind::LeafTable, 512).finish(None);
    page[..100].copy_from_slice(&DatabaseHeader::new(PageSize::MIN).encode());
    let text = describe(1, &page, Role::Unknown);
    assert!(text.contains("\n0000  53 51 4c 69 74 65 20 66..   \"SQLite format 3\\0\"  magic\n"), "{text}");
    assert!(text.contains("\n0010  02 00                       512               page size"), "{text}");
    assert!(text.contains("\n0064  0d                          table leaf        kind of page\n"), "{text}");
    assert!(!has_complaint(&text), "{text}");
    page[21] = 1;
    assert!(describe(1, &page, Role::BTree).contains("\n! 0015: payload fractions are not 64, 32, 32\n"));
}

#[test]
fn pages_outside_the_trees_are_explained_and_guessed() {
    let mut trunk = [0; 512];
    crate::freelist::write_trunk(0, &[5, 6], &mut trunk);
    let mut map = [0; 512];
    map[..10].copy_from_slice(&[1, 0, 0, 0, 0, 5, 0, 0, 0, 3]);
    let mut chained = [0; 512];
    overflow::write_page(1 << 24 | 7, b"some payload", &mut chained);
    for (page_number, page, role, expected) in [
        (4, trunk, Role::FreelistTrunk, "000c  00 00 00 06                 6                 leaf 1\n"),
        (2, map, Role::PointerMap, "0005  05 00 00 00 03              4                 b-tree page below page 3\n"),
        (5, chained, Role::Overflow, "0000  01 00 00 07                 16777223          next overflow page\n"),
        (2_097_153, [0; 512], Role::LockByte, "0000  512 bytes, never in use\n"),
    ] {
        let text = describe(page_number, &page, role);
        assert!(text.contains(expected) && !has_complaint(&text), "{text}");
        let guessed = describe(page_number, &page, Role::Unknown);
        assert_eq!(guessed.replace(" (guessed)", ""), text);
    }
}

#[test]
fn what_does_not_decode_is_shown_with_the_reason() {
    let mut page = leaf();
    page[0] = 3;
    let text = describe(2, &page, Role::BTree);
    assert!(text.contains("! 0000: 3 is not a kind of b-tree page\n"), "{text}");

    page = leaf();
    page[0x1f8] = 10;
    let text = describe(2, &page, Role::BTree);
    assert!(text.contains("! serial type 10 is reserved\n"), "{text}");

    page = leaf();
    page[8] = 0;
    let text = describe(2, &page, Role::BTree);
    assert!(text.contains("! 0008: pointer of cell 0 is 243, outside the cell content\n"), "{text}");
}

#[test]
fn no_usable_size_panics() {
    // Miri takes a thousand times as long.
    let step = if cfg!(miri) { 130 } else { 1 };
    for role in ROLES {
        for usable in (0..520).step_by(step) {
            let text = describe_page(2, &leaf(), PageSize::MIN, usable, role);
            assert!(has_complaint(&text) || (480..=512).contains(&usable), "{role:?} {usable}");
        }
    }
}

#[test]
fn long_and_odd_texts_are_cut_and_escaped() {
    assert_eq!(lines::display(&Value::Text(b"a\"\xff\n")), r#""a\"\u{fffd}\n""#.replace("\\u{fffd}", "\u{fffd}"));
    let long = lines::display(&Value::Text("é".repeat(100).as_bytes()));
    assert_eq!(long, format!("\"{}\"... 200 bytes", "é".repeat(40)));
    let blob = lines::display(&Value::Blob(&[0xab; 41]));
    assert_eq!(blob, format!("x'{}'... 41 bytes", "ab".repeat(40)));
}

#[test]
#[cfg_attr(miri, ignore = "too slow there")]
fn cells_that_overlap_do_not_make_the_text_explode() {
    // 10,000 pointers to one cell that covers nearly all of the rest of the page.
    let mut page = vec![0; 65_536];
    let mut writer = PageWriter::new(&mut page, 0, PageKind::LeafTable, 65_536);
    let mut record = Vec::new();
    crate::record::write_record(&vec![Value::Null; 40_000], &mut record);
    let payload_len = record.len() as u64;
    let mut cell = Vec::new();
    Cell::TableLeaf { rowid: 1, payload_len, local: &record, overflow: None }.write(&mut cell);
    assert!(writer.push(&cell));
    writer.finish(None);
    page.copy_within(8..10, 10);
    for index in 1..10_000 {
        page.copy_within(8..10, 8 + 2 * index);
    }
    page[3..5].copy_from_slice(&10_000_u16.to_be_bytes());
    let text = describe_page(2, &page, PageSize::MAX, 65_536, Role::BTree);
    assert!(has_complaint(&text) && text.len() < 100 * page.len());
}

proptest! {
    #[test]
    fn garbage_never_panics(
        mut page in prop::collection::vec(any::<u8>(), 0..600),
        start: [u8; 8],
        page_number in 0..200_u32,
        usable in 0..600_usize,
        role in prop::sample::select(&ROLES[..]),
    ) {
        for (byte, plausible) in page.iter_mut().zip(start) {
            *byte = plausible % 16;
        }
        let _ = describe_page(page_number, &page, PageSize::MIN, usable, role);
    }

    #[test]
    fn damaged_pages_never_panic(
        damage in prop::collection::vec((0..512_usize, any::<u8>()), 0..12),
        page_number in 1..3_u32,
        role in prop::sample::select(&ROLES[..]),
    ) {
        let mut page = leaf();
        for (offset, byte) in damage {
            page[offset] = byte;
        }
        let _ = describe(page_number, &page, role);
    }
}
