//! Any damage: it is found, and no file makes the check panic or hang.

use super::{made, series};
use litepress_check::{CheckOptions, check};
use proptest::prelude::*;
use std::sync::LazyLock;

/// Changes the fields of the page header and the cell pointers of every page, in a database of b-tree pages only. No
/// change may go unnoticed.
#[test]
fn structural_fields_do_not_change_unnoticed() {
    let made = made(&format!(
        "PRAGMA page_size = 512; CREATE TABLE t(a, b); INSERT INTO t SELECT i, 'some text ' || i FROM {};
         CREATE INDEX i ON t(b); DELETE FROM t WHERE a % 50 = 0",
        series(300)
    ));
    let report = made.assert_clean("before");
    assert_eq!(report.freelist_pages, 0);
    assert!(report.btrees.iter().skip(1).all(|tree| tree.depth > 1));
    let whole = std::fs::read(&made.path).unwrap();
    let options = CheckOptions { threads: 1, ..CheckOptions::default() };
    for page in 0..whole.len() / 512 {
        let header = page * 512 + if page == 0 { 100 } else { 0 };
        let cells = usize::from(u16::from_be_bytes([whole[header + 3], whole[header + 4]]));
        let header_len = if whole[header] < 8 { 12 } else { 8 };
        for offset in header..header + header_len + 2 * cells {
            for change in [0x01, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[offset] ^= change;
                std::fs::write(&made.path, bytes).unwrap();
                let report = check(&made.path, &options, &|_, _| Ok(())).unwrap();
                assert!(!report.is_clean(), "page {}, byte {}, ^ {change:#x}", page + 1, offset % 512);
            }
        }
    }
}

#[test]
fn no_byte_makes_it_panic() {
    for sql in [
        "PRAGMA page_size = 512; CREATE TABLE t(a TEXT, b UNIQUE); INSERT INTO t VALUES ('x', 1.5), (zeroblob(2000), 2);
         CREATE TABLE w(a PRIMARY KEY) WITHOUT ROWID; INSERT INTO w VALUES (hex(zeroblob(400))), (7)",
        "PRAGMA page_size = 512; PRAGMA auto_vacuum = INCREMENTAL; CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT, b);
         INSERT INTO t(b) VALUES (zeroblob(3000)), (1); UPDATE t SET b = 2 WHERE a = 1",
    ] {
        let made = made(sql);
        made.assert_clean(sql);
        let whole = std::fs::read(&made.path).unwrap();
        let options = CheckOptions { threads: 1, ..CheckOptions::default() };
        for offset in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[offset] ^= if offset % 2 == 0 { 0xff } else { 0x01 };
            std::fs::write(&made.path, bytes).unwrap();
            check(&made.path, &options, &|_, _| Ok(())).unwrap();
        }
    }
}

/// Returns a database with every sort of page, to be damaged.
fn varied() -> Vec<u8> {
    let sql = format!(
        "PRAGMA page_size = 512; PRAGMA auto_vacuum = INCREMENTAL; CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT, b, c TEXT);
         INSERT INTO t(b, c) SELECT zeroblob(i * 7 % 1500), 'text ' || i FROM {}; CREATE INDEX i ON t(c DESC, b);
         CREATE TABLE w(k TEXT COLLATE NOCASE PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO w SELECT c, b FROM t;
         DELETE FROM t WHERE a % 3 = 0",
        series(200)
    );
    std::fs::read(&made(&sql).path).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// The check ends after any overwrite of a database, with no more faults than it was asked for.
    #[test]
    fn damage_is_reported_and_nothing_worse(
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<[u8; 4]>(), 1..5_usize), 1..12),
        copied in prop::option::of((any::<prop::sample::Index>(), any::<prop::sample::Index>())),
        cut in prop::option::weighted(0.1, any::<prop::sample::Index>()),
    ) {
        static WHOLE: LazyLock<Vec<u8>> = LazyLock::new(varied);
        let mut bytes = WHOLE.clone();
        for (place, value, len) in places {
            let at = place.index(bytes.len() - 4);
            bytes[at..at + len.min(4)].copy_from_slice(&value[..len.min(4)]);
        }
        if let Some((from, to)) = copied {
            let (from, to) = (from.index(bytes.len() / 512) * 512, to.index(bytes.len() / 512) * 512);
            bytes.copy_within(from..from + 512, to);
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("damaged.db");
        std::fs::write(&path, &bytes).unwrap();
        let options = CheckOptions { threads: 2, memory_bytes: 0, max_faults: 7, ..CheckOptions::default() };
        let report = check(&path, &options, &|done, total| {
            assert!(done <= total);
            Ok(())
        }).unwrap();
        prop_assert!(report.faults.len() <= 7 && report.faults_total >= report.faults.len() as u64);
    }
}
