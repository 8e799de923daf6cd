use super::*;
use crate::cell::Cell;
use crate::payload::max_local;
use proptest::prelude::*;

const KINDS: [PageKind; 4] =
    [PageKind::InteriorIndex, PageKind::InteriorTable, PageKind::LeafIndex, PageKind::LeafTable];

#[test]
fn page_sizes_are_the_powers_of_two_from_512_to_65536() {
    let legal: Vec<u32> = (0..=70_000).filter(|bytes| PageSize::new(*bytes).is_some()).collect();
    assert_eq!(legal, [512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536]);
    for size in legal.into_iter().filter_map(PageSize::new) {
        assert_eq!(PageSize::from_header_field(size.header_field()), Some(size));
    }
    assert_eq!(PageSize::MAX.header_field(), 1);
    for field in [0, 2, 256, 513] {
        assert_eq!(PageSize::from_header_field(field), None);
    }
}

#[test]
fn lock_byte_page_holds_the_lock_byte() {
    for size in (9..=16).filter_map(|power| PageSize::new(1 << power)) {
        let first_byte = u64::from(size.lock_byte_page() - 1) * size.bytes() as u64;
        assert_eq!(first_byte, LOCK_BYTE.into());
    }
    assert_eq!(PageSize::DEFAULT.lock_byte_page(), 262_145);
}

#[test]
fn kinds_are_their_bytes() {
    for byte in 0..=u8::MAX {
        match PageKind::from_byte(byte) {
            Some(kind) => assert_eq!(kind.byte(), byte),
            None => assert!(!KINDS.map(PageKind::byte).contains(&byte)),
        }
    }
}

#[test]
fn page_header_round_trips() {
    for kind in KINDS {
        let header = PageHeader {
            kind,
            first_freeblock: 0x0102,
            cell_count: 0x0304,
            content_start: 65_536,
            fragmented_bytes: 60,
            right_child: (!kind.is_leaf()).then_some(0x0506_0708),
        };
        let mut bytes = [0xee; 12];
        header.encode(&mut bytes);
        assert_eq!(bytes[5..7], [0, 0]);
        assert_eq!(PageHeader::decode(&bytes), Ok(header));
        for cut in 0..kind.header_len() {
            assert!(PageHeader::decode(&bytes[..cut]).is_err());
        }
    }
}

/// Makes a table leaf cell of exactly `len` bytes (at least 3): two bytes of its own, a record header, a blob.
fn cell_of(len: usize) -> Vec<u8> {
    let local = vec![1; len - 2];
    let mut cell = Vec::new();
    let payload_len = local.len() as u64;
    Cell::TableLeaf { rowid: 5, payload_len, local: &local, overflow: None }.write(&mut cell);
    assert_eq!(cell.len(), len);
    cell
}

#[test]
fn a_page_takes_cells_to_its_last_byte() {
    for (header_offset, usable) in [(0, 512), (100, 512), (0, 480), (100, 65_536)] {
        let mut page = vec![0xee; if usable == 480 { 512 } else { usable }];
        let mut writer = PageWriter::new(&mut page, header_offset, PageKind::LeafTable, usable);
        assert_eq!(writer.free_bytes(), usable - header_offset - 8);
        while writer.free_bytes() > 110 {
            assert!(writer.push(&cell_of(40)));
        }
        let last = writer.free_bytes() - CELL_POINTER_LEN;
        assert!(!writer.fits(last + 1) && !writer.push(&cell_of(last + 1)));
        assert!(writer.push(&cell_of(last)));
        assert_eq!(writer.free_bytes(), 0);
        let cells = usize::from(writer.cell_count());
        writer.finish(None);

        assert!(page[..header_offset].iter().all(|byte| *byte == 0xee));
        assert!(page[usable..].iter().all(|byte| *byte == 0));
        let reader = PageReader::new(&page, header_offset, usable).unwrap();
        assert_eq!(reader.cell_count(), cells);
        assert_eq!(reader.cell(cells - 1).unwrap().1, last);
        assert_eq!(reader.check_space(), Ok(()));
    }
}

#[test]
fn a_very_short_cell_takes_four_bytes() {
    let mut page = [0xee; 512];
    let mut writer = PageWriter::new(&mut page, 0, PageKind::LeafIndex, 512);
    // An index entry with an empty record, which no SQL statement makes.
    assert!(writer.push(&[1, 1]));
    assert!(writer.push(&[1, 1]));
    writer.finish(None);
    assert_eq!(page[504..], [1, 1, 0, 0, 1, 1, 0, 0]);
    let reader = PageReader::new(&page, 0, 512).unwrap();
    assert_eq!((reader.cell_offset(0).unwrap(), reader.cell_offset(1).unwrap()), (508, 504));
    assert_eq!(reader.check_space(), Ok(()));
}

#[test]
fn an_empty_page_of_the_largest_size_stores_its_content_start_as_zero() {
    let mut page = vec![0xee; 65_536];
    PageWriter::new(&mut page, 0, PageKind::LeafTable, 65_536).finish(None);
    assert!(page[1..].iter().all(|byte| *byte == 0));
    let reader = PageReader::new(&page, 0, 65_536).unwrap();
    assert_eq!((reader.cell_count(), reader.content_start()), (0, 65_536));
    assert_eq!(reader.check_space(), Ok(()));
}

#[test]
fn interior_pages_know_all_children() {
    let mut page = [0; 512];
    let mut writer = PageWriter::new(&mut page, 0, PageKind::InteriorTable, 512);
    for child in 2..5 {
        let mut cell = Vec::new();
        Cell::TableInterior { left_child: child, rowid: i64::from(child) * 10 }.write(&mut cell);
        assert!(writer.push(&cell));
    }
    writer.finish(Some(5));
    let reader = PageReader::new(&page, 0, 512).unwrap();
    let children: Vec<u32> = reader.cells().map(|cell| cell.unwrap().left_child().unwrap()).collect();
    assert_eq!((children, reader.right_child()), (vec![2, 3, 4], Some(5)));
}

/// Makes a table leaf with three cells of 100 bytes, at 412, 312 and 212.
fn three_cells() -> [u8; 512] {
    let mut page = [0; 512];
    let mut writer = PageWriter::new(&mut page, 0, PageKind::LeafTable, 512);
    for _ in 0..3 {
        assert!(writer.push(&cell_of(100)));
    }
    writer.finish(None);
    page
}

#[test]
fn freeblocks_and_fragments_are_counted() {
    let mut page = three_cells();
    // Deletes the cell in the middle: a freeblock of 98 bytes, and a fragment of 2.
    page[3..5].copy_from_slice(&[0, 2]);
    page[10..12].copy_from_slice(&212_u16.to_be_bytes());
    page[1..3].copy_from_slice(&312_u16.to_be_bytes());
    page[312..316].copy_from_slice(&[0, 0, 0, 98]);
    let check = |page: &[u8; 512]| PageReader::new(page, 0, 512).unwrap().check_space();
    assert_eq!(check(&page).unwrap_err().offset(), 7);
    page[7] = 2;
    assert_eq!(check(&page), Ok(()));

    let reader = PageReader::new(&page, 0, 512).unwrap();
    let blocks: Result<Vec<Freeblock>, FormatError> = reader.freeblocks().collect();
    assert_eq!(blocks, Ok(vec![Freeblock { offset: 312, len: 98 }]));
}

#[test]
fn freeblocks_that_lead_astray_end_with_an_error() {
    for (first, next, len) in [
        (100_u16, 0, 8), // before the cell content
        (511, 0, 8),     // its own header is off the page
        (312, 0, 3),     // too short to be one
        (312, 0, 201),   // ends off the page
        (312, 312, 8),   // a circle
        (312, 220, 8),   // back
        (312, 323, 8),   // less than four bytes behind the first one's end
    ] {
        let mut page = three_cells();
        put_u16(&mut page, 1, first);
        if first == 312 {
            if next > 0 {
                // Sound in itself.
                put_u16(&mut page, usize::from(next), 0);
                put_u16(&mut page, usize::from(next) + 2, 8);
            }
            put_u16(&mut page, 312, next);
            put_u16(&mut page, 314, len);
        }
        let mut blocks = PageReader::new(&page, 0, 512).unwrap().freeblocks();
        assert!(blocks.any(|block| block.is_err()), "{first} {next} {len}");
        assert_eq!(blocks.next(), None);
    }
}

#[test]
fn pages_that_contradict_themselves_are_refused() {
    for (what, offset, bytes) in [
        ("no kind", 0, &[1][..]),
        ("cell pointers run into the content", 3, &[0, 103]),
        ("content starts behind the page", 5, &[2, 1]),
        ("content starts at 65536", 5, &[0, 0]),
    ] {
        let mut page = three_cells();
        page[offset..offset + bytes.len()].copy_from_slice(bytes);
        assert!(PageReader::new(&page, 0, 512).is_err(), "{what}");
    }
    assert!(PageReader::new(&three_cells(), 0, 513).is_err());
    assert!(PageReader::new(&three_cells(), 0, 400).is_err());
    assert!(PageReader::new(&three_cells(), 600, 512).is_err());
}

#[test]
fn cell_pointers_that_lead_astray_are_refused() {
    for pointer in [0_u16, 8, 211, 509, 512, u16::MAX] {
        let mut page = three_cells();
        put_u16(&mut page, 8, pointer);
        let error = PageReader::new(&page, 0, 512).unwrap().cell_offset(0).unwrap_err();
        assert_eq!(error.offset(), 8);
    }
}

#[test]
fn overlapping_cells_are_found() {
    let mut page = three_cells();
    put_u16(&mut page, 8, 312);
    assert!(PageReader::new(&page, 0, 512).unwrap().check_space().is_err());
}

/// Calls every method of a reader.
fn read_all(page: &[u8], header_offset: usize, usable: usize) {
    if let Ok(reader) = PageReader::new(page, header_offset, usable) {
        let _ = (reader.cells().count(), reader.freeblocks().count(), reader.check_space());
        let limit = max_local(reader.kind(), usable);
        for index in (0..reader.cell_count()).filter(|_| reader.kind().is_leaf()) {
            // The quick look sees what the other one sees, or nothing.
            let cell = reader.cell(index).ok().map(|(cell, _)| cell);
            let local = cell.filter(|cell| cell.payload().is_some_and(|payload| payload.overflow.is_none()));
            let local = local.map(|cell| (cell.rowid().unwrap_or(0), cell.payload().unwrap().local));
            let quick = reader.local_payload(index, limit).map(|(rowid, range)| (rowid, &reader.bytes()[range]));
            assert_eq!(quick, local);
        }
    }
}

proptest! {
    #[test]
    fn garbage_never_panics(
        mut page in prop::collection::vec(any::<u8>(), 512),
        kind in prop::sample::select(&KINDS[..]),
        cells in 0..40_u8,
        header_offset in prop::sample::select(&[0, 100][..]),
        usable in 470..520_usize,
    ) {
        // Random bytes behind a plausible page header.
        page[header_offset] = kind.byte();
        page[header_offset + 3..header_offset + 5].copy_from_slice(&[0, cells]);
        page[header_offset + 5] = 0;
        read_all(&page, header_offset, usable);
    }

    #[test]
    fn damaged_pages_never_panic(damage in prop::collection::vec((0..512_usize, any::<u8>()), 1..20)) {
        let mut page = three_cells();
        for (offset, byte) in damage {
            page[offset] = byte;
        }
        read_all(&page, 0, 512);
    }

    #[test]
    fn what_is_pushed_is_read(lens in prop::collection::vec(3..60_usize, 0..80), usable in 480..=512_usize) {
        let mut page = [0xee; 512];
        let mut writer = PageWriter::new(&mut page, 0, PageKind::LeafTable, usable);
        let pushed: Vec<usize> = lens.into_iter().take_while(|len| writer.push(&cell_of(*len))).collect();
        writer.finish(None);
        let reader = PageReader::new(&page, 0, usable).unwrap();
        let read: Vec<usize> = (0..reader.cell_count()).map(|index| reader.cell(index).unwrap().1).collect();
        prop_assert_eq!(read, pushed);
        prop_assert_eq!(reader.check_space(), Ok(()));
    }
}
