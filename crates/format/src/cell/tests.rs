use super::*;
use proptest::prelude::*;

const KINDS: [PageKind; 4] =
    [PageKind::InteriorIndex, PageKind::InteriorTable, PageKind::LeafIndex, PageKind::LeafTable];

/// Makes a cell of `kind` for a payload of `payload_len` bytes. `payload` has its local bytes, if not more.
fn cell_for(kind: PageKind, rowid: i64, payload: &[u8], payload_len: u64, usable: usize) -> Cell<'_> {
    let split = payload::split(kind, usable, if kind == PageKind::InteriorTable { 0 } else { payload_len });
    let local = &payload[..split.local];
    let overflow = (split.overflow_pages > 0).then_some(0x0102_0304);
    let left_child = 0x0506_0708;
    match kind {
        PageKind::LeafTable => Cell::TableLeaf { rowid, payload_len, local, overflow },
        PageKind::InteriorTable => Cell::TableInterior { left_child, rowid },
        PageKind::LeafIndex => Cell::IndexLeaf { payload_len, local, overflow },
        PageKind::InteriorIndex => Cell::IndexInterior { left_child, payload_len, local, overflow },
    }
}

/// Puts the cell at the very end of a page and reads it.
fn assert_round_trip(kind: PageKind, cell: &Cell<'_>, usable: usize) {
    let mut bytes = Vec::new();
    cell.write(&mut bytes);
    let mut page = vec![0; usable];
    let offset = usable - bytes.len();
    page[offset..].copy_from_slice(&bytes);
    assert_eq!(Cell::read(kind, &page, offset, usable), Ok((*cell, bytes.len())));
}

#[test]
#[cfg_attr(miri, ignore = "too slow there")]
fn payload_thresholds_of_every_page_size_round_trip() {
    let payload: Vec<u8> = (0..=250).cycle().take(70_000).collect();
    for usable in (9..=16).map(|power| 1_usize << power) {
        for kind in KINDS {
            let (x, m) = (payload::max_local(kind, usable), payload::min_local(usable));
            let chunk = usable - 4;
            for turn in [1, m, x, m + chunk, x + chunk, m + 2 * chunk, x + 2 * chunk] {
                for payload_len in turn.saturating_sub(1)..=turn + 1 {
                    let cell = cell_for(kind, -1, &payload, payload_len as u64, usable);
                    assert_round_trip(kind, &cell, usable);
                }
            }
        }
    }
}

#[test]
fn rowids_of_every_length_round_trip() {
    for rowid in [i64::MIN, -1, 0, 127, 128, 1 << 35, i64::MAX] {
        for kind in [PageKind::LeafTable, PageKind::InteriorTable] {
            let cell = cell_for(kind, rowid, b"payload", 7, 512);
            assert_eq!(cell.rowid(), Some(rowid));
            assert_round_trip(kind, &cell, 512);
        }
    }
}

#[test]
fn bytes_are_those_of_the_specification() {
    for (kind, expected) in [
        (PageKind::LeafTable, &b"\x03\x81\x00abc"[..]),
        (PageKind::InteriorTable, b"\x05\x06\x07\x08\x81\x00"),
        (PageKind::LeafIndex, b"\x03abc"),
        (PageKind::InteriorIndex, b"\x05\x06\x07\x08\x03abc"),
    ] {
        let mut bytes = Vec::new();
        cell_for(kind, 128, b"abc", 3, 512).write(&mut bytes);
        assert_eq!(bytes, expected);
    }
}

#[test]
fn accessors_see_what_each_kind_has() {
    for kind in KINDS {
        let cell = cell_for(kind, 9, b"abc", 3, 512);
        assert_eq!(cell.left_child().is_some(), !kind.is_leaf());
        assert_eq!(cell.rowid().is_some(), kind.is_table());
        assert_eq!(cell.payload().is_some(), kind != PageKind::InteriorTable);
    }
}

#[test]
fn a_cell_that_leaves_the_page_is_refused() {
    for kind in KINDS {
        let mut bytes = Vec::new();
        cell_for(kind, 128, &[7; 600], 600, 512).write(&mut bytes);
        for kept in 0..bytes.len() {
            let mut page = vec![0xff; 512 - kept];
            page.extend_from_slice(&bytes[..kept]);
            assert!(Cell::read(kind, &page, 512 - kept, 512).is_err(), "{kind:?} {kept}");
        }
        assert!(Cell::read(kind, &[0; 512], usize::MAX, 512).is_err());
        assert!(Cell::read(kind, &[0; 100], 0, 512).is_err());
    }
}

#[test]
fn page_zero_is_no_child() {
    for kind in [PageKind::InteriorTable, PageKind::InteriorIndex] {
        assert_eq!(Cell::read(kind, &[0; 512], 8, 512).unwrap_err().offset(), 8);
    }
}

proptest! {
    #[test]
    fn garbage_never_panics(
        page in prop::collection::vec(any::<u8>(), 512),
        kind in prop::sample::select(&KINDS[..]),
        offset in 0..600_usize,
        usable in 480..520_usize,
    ) {
        if let Ok((cell, len)) = Cell::read(kind, &page, offset, usable) {
            prop_assert!(offset + len <= usable);
            let mut written = Vec::new();
            cell.write(&mut written);
            // An equal cell: the varints of the input may have been longer than necessary.
            prop_assert!(written.len() <= len);
        }
    }
}
