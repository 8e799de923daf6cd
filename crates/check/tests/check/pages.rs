//! Pages and cells that do not hold.

use super::{checked, made, series};

#[test]
fn values_that_sqlite_would_not_store() {
    let nan = made("CREATE TABLE t(a REAL); INSERT INTO t VALUES (0.1)");
    nan.patch(|bytes| {
        let place = bytes.windows(8).position(|window| window == 0.1_f64.to_be_bytes()).unwrap();
        bytes[place..place + 8].copy_from_slice(&f64::NAN.to_be_bytes());
    });
    nan.assert_fault("NaN stored in t.a");
    made("CREATE TABLE t(a); INSERT INTO t VALUES ('a' || char(0) || 'b')").assert_clean("NUL in a text");
}

#[test]
fn pages_are_used_once() {
    let two = made("CREATE TABLE t(a); CREATE TABLE u(a); INSERT INTO t VALUES (1)");
    let (t, u) = (two.root("t"), two.root("u"));
    let connection = two.connection();
    connection.execute_batch(&format!("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = {t}")).unwrap();
    drop(connection);
    two.assert_fault(&format!("points to page {t}, which is in use already"));
    two.assert_fault(&format!("page {u}: orphan"));

    let chains = made("CREATE TABLE t(a); INSERT INTO t VALUES (zeroblob(9000)), (zeroblob(9000))");
    let root = chains.root("t") * 4096 - 4096;
    chains.patch(|bytes| {
        // Cells end with the first page of their chain; the first cell ends with the page.
        let second_cell = u16::from_be_bytes([bytes[root + 10], bytes[root + 11]]);
        let end_of_second = root + usize::from(u16::from_be_bytes([bytes[root + 8], bytes[root + 9]]));
        assert!(usize::from(second_cell) < end_of_second - root);
        bytes.copy_within(root + 4092..root + 4096, end_of_second - 4);
    });
    chains.assert_fault("which is in use already");
    chains.assert_fault("orphan");
}

#[test]
fn overflow_chains_have_their_length() {
    for (next, expected) in
        [(0_u32, "the overflow chain ends after 1 of 2"), (1, "page 1, which is in use"), (99, "does not have")]
    {
        let made = made("CREATE TABLE t(a); INSERT INTO t VALUES (zeroblob(12000))");
        let first = made.root("t") * 4096;
        made.patch(|bytes| bytes[first..first + 4].copy_from_slice(&next.to_be_bytes()));
        made.assert_fault(expected);
    }
    let longer = made("CREATE TABLE t(a); INSERT INTO t VALUES (zeroblob(12000)), (zeroblob(5000))");
    longer.patch(|bytes| {
        let last = (3..6).map(|page| page * 4096 - 4096).find(|at| bytes[*at..*at + 4] == [0; 4]).unwrap();
        bytes[last + 3] = 6;
    });
    longer.assert_fault("does not end after");
}

#[test]
fn a_payload_longer_than_any_file_is_refused() {
    let made = made("CREATE TABLE t(a); INSERT INTO t VALUES (zeroblob(5000))");
    let root = made.root("t") * 4096 - 4096;
    made.patch(|bytes| {
        let cell = root + usize::from(u16::from_be_bytes([bytes[root + 8], bytes[root + 9]]));
        bytes[cell..cell + 9].copy_from_slice(&[0xff; 9]);
    });
    assert!(!checked(&made.path).is_clean());
}

#[test]
fn rowids_stay_between_their_dividers() {
    let sql =
        format!("PRAGMA page_size = 512; CREATE TABLE t(a); INSERT INTO t SELECT 'text ' || i FROM {}", series(100));
    for (divider, expected) in [(1, "left of the divider 1"), (60, "behind 60"), (0x7f, "not between those around it")]
    {
        let made = made(&sql);
        let root = made.root("t") * 512 - 512;
        made.patch(|bytes| {
            let cell = root + usize::from(u16::from_be_bytes([bytes[root + 12], bytes[root + 13]]));
            bytes[cell + 4] = divider;
        });
        made.assert_fault(expected);
    }
}

#[test]
fn pointer_maps_tell_the_truth() {
    let made = made(&format!(
        "PRAGMA page_size = 512; PRAGMA auto_vacuum = FULL; CREATE TABLE t(a); INSERT INTO t SELECT zeroblob(2000) FROM {}",
        series(9)
    ));
    let whole = std::fs::read(&made.path).unwrap();
    for entry in 0..30 {
        for (offset, value) in [(0, 9), (0, 2), (4, 0xee)] {
            made.patch(|bytes| {
                bytes.clone_from(&whole);
                bytes[512 + 5 * entry + offset] ^= value;
            });
            made.assert_fault("the pointer map");
        }
    }
    made.patch(|bytes| {
        bytes.clone_from(&whole);
        bytes[55] = 99;
    });
    made.assert_fault("the largest root page is 99 in the header, 3 in the schema");
}
