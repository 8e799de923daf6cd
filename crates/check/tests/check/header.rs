//! The file header, the length of the file, and companions.

use super::{checked, made, series};
use litepress_check::{CheckOptions, check};

/// A header with a byte that SQLite overlooks was a fault: `check` failed for a database that SQLite calls `ok`.
#[test]
fn header_bytes_that_sqlite_overlooks_are_notes() {
    for (offset, value, note) in [
        (18, 9, "byte 18: write version is not 1 or 2"),
        (18, 2, "write version 2 and read version 1 differ"),
        (19, 0, "byte 19: read version is not 1 or 2"),
        (19, 2, "write version 1 and read version 2 differ"),
        (44, 7, "byte 44: schema format is over 4"),
        (47, 1, "table t: t.a holds the serial types 8 or 9"),
        (58, 1, "byte 56: text encoding 257 is invalid"),
        (59, 5, "byte 56: text encoding 5 is invalid"),
        (72, 1, "byte 72: reserved header byte is not zero"),
        (91, 255, "byte 91: reserved header byte is not zero"),
    ] {
        let made = made("CREATE TABLE t(a); INSERT INTO t VALUES (1)");
        made.patch(|bytes| bytes[offset] = value);
        made.assert_noted(note);
    }
}

#[test]
fn headers_that_do_not_hold() {
    for (offset, value, expected) in [
        (28, 1, "has the root page 2, which the file does not have"),
        (28, 3, "the header counts 3 pages, the file has 2"),
        (44, 5, "schema format"),
        (36, 1, "freelist"),
        (64, 1, "incremental vacuum"),
    ] {
        let made = made("CREATE TABLE t(a); INSERT INTO t VALUES (1)");
        made.patch(|bytes| bytes[offset..offset + 4].copy_from_slice(&u32::to_be_bytes(value)));
        made.assert_fault(expected);
    }
    for (offset, value, expected) in [
        (0, b'X', "not a SQLite database"),
        (17, 7, "page size"),
        (19, 9, "read version"),
        (20, 255, "page"),
        (21, 63, "fractions"),
    ] {
        let made = made("PRAGMA page_size = 512; CREATE TABLE t(a)");
        made.patch(|bytes| bytes[offset] = value);
        made.assert_fault(expected);
    }
}

#[test]
fn files_that_are_cut_or_too_long() {
    let made = made(&format!("CREATE TABLE t(a); INSERT INTO t SELECT i FROM {}", series(5000)));
    let whole = std::fs::read(&made.path).unwrap();
    for len in [1, 99, 100, 512, 4095, 4096, 4097, 8192, whole.len() - 1, whole.len() - 4096] {
        std::fs::write(&made.path, &whole[..len]).unwrap();
        assert!(!checked(&made.path).is_clean(), "{len}");
    }
    // The header counts the page that was added.
    let pages = u32::try_from(whole.len() / 4096 + 1).unwrap().to_be_bytes();
    std::fs::write(&made.path, [&whole[..28], &pages, &whole[32..], &[0; 4096]].concat()).unwrap();
    made.assert_fault("orphan: nothing points to this page");
}

#[test]
fn companions_with_content_are_refused() {
    let made = made("CREATE TABLE t(a)");
    let mut wal = made.path.clone().into_os_string();
    wal.push("-wal");
    std::fs::write(&wal, [1; 100]).unwrap();
    let error = check(&made.path, &CheckOptions::default(), &|_, _| Ok(())).unwrap_err();
    assert!(error.to_string().contains("-wal") && error.advice().is_some(), "{error}");
    let error = check(&made.path.with_extension("none"), &CheckOptions::default(), &|_, _| Ok(())).unwrap_err();
    assert!(error.to_string().contains("cannot open"), "{error}");
}
