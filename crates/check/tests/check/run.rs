//! How a check runs: what watches and stops it, memory, samples.

use super::{Made, checked, made, series};
use litepress_check::{CheckOptions, Report, check};
use litepress_rows::{Error, ErrorKind};
use std::sync::atomic::{AtomicU64, Ordering};

/// The check of a database that was being written reported false faults: it read pages of several states.
#[test]
fn a_database_that_changes_meanwhile_is_not_judged() {
    let sql = format!("CREATE TABLE t(a); INSERT INTO t SELECT i FROM {}", series(5000));
    let changes: [&(dyn Fn(&Made) + Sync); 3] = [
        &|made| made.connection().execute_batch("DELETE FROM t WHERE a % 2").unwrap(),
        &|made| made.patch(|bytes| bytes.truncate(8192)),
        &|made| {
            let copy = made.path.with_extension("copy");
            std::fs::copy(&made.path, &copy).unwrap();
            std::fs::rename(&copy, &made.path).unwrap();
        },
    ];
    for change in changes {
        let made = made(&sql);
        let once = std::sync::Once::new();
        let outcome = check(&made.path, &CheckOptions::default(), &|_, _| {
            once.call_once(|| change(&made));
            Ok(())
        });
        let error = outcome.unwrap_err();
        assert!(error.to_string().contains("was changed while it was read"), "{error}");
        assert!(error.advice().is_some());
    }
}

/// A check could not be stopped: a verified run of hours ignored Ctrl-C until all pages were read.
#[test]
fn whoever_watches_may_stop_it() {
    let made =
        made(&format!("PRAGMA page_size = 512; CREATE TABLE t(a); INSERT INTO t SELECT i FROM {}", series(90_000)));
    for threads in [1, 3] {
        let options = CheckOptions { threads, ..CheckOptions::default() };
        let (calls, pages) = (AtomicU64::new(0), AtomicU64::new(0));
        let enough = |done, total| {
            pages.store(total, Ordering::Relaxed);
            match calls.fetch_add(1, Ordering::Relaxed) {
                0 => Ok(()),
                _ => Err(Error::new(ErrorKind::Interrupted, format!("enough after {done}"))),
            }
        };
        let error = check(&made.path, &options, &enough).unwrap_err();
        assert!(error.kind() == ErrorKind::Interrupted && error.message().starts_with("enough"), "{error}");
        // Each thread may still be at a task when another gets the error.
        let (calls, pages) = (calls.into_inner(), pages.into_inner());
        assert!(calls <= 3 + threads as u64 && pages > 1500, "{calls} calls for {pages} pages");
    }
}

#[test]
fn records_beyond_the_memory_are_looked_at_in_part() {
    let made = made(
        "CREATE TABLE t(a, b TEXT); INSERT INTO t VALUES (zeroblob(5000000), CAST(x'ff' AS TEXT)); CREATE INDEX i ON t(a)",
    );
    let run =
        |memory_bytes| check(&made.path, &CheckOptions { memory_bytes, ..CheckOptions::default() }, &|_, _| Ok(()));
    let (little, enough) = (run(0).unwrap(), run(1 << 30).unwrap());
    assert!(little.is_clean(), "{:#?}", little.faults);
    assert!(little.notes.iter().any(|note| note.contains("table t: records beyond")), "{:?}", little.notes);
    assert_eq!(little.btrees, enough.btrees);
    assert_eq!(enough.notes, ["table t: t.b holds text that is not valid UTF-8"]);
}

/// A look at a sample sees damage of header, freelist, interior pages and chosen leaves, and says what it did not see.
#[test]
fn a_sample_of_a_large_file() {
    let made = made(&format!(
        "PRAGMA page_size = 512; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); CREATE TABLE u(x);
         INSERT INTO t SELECT i, printf('%06d', i * 7919 % 1000000) FROM {}; CREATE INDEX i ON t(b); DROP TABLE u",
        series(20_000)
    ));
    let sample = |leaves| {
        let options = |threads| CheckOptions { threads, sample: Some(leaves), ..CheckOptions::default() };
        let run = |threads| check(&made.path, &options(threads), &|_, _| Ok(())).unwrap();
        let (serial, parallel) = (run(1), run(3));
        assert_eq!(
            (&serial.faults, &serial.notes, &serial.btrees),
            (&parallel.faults, &parallel.notes, &parallel.btrees)
        );
        serial
    };
    let whole = checked(&made.path);
    let report = sample(40);
    assert!(report.is_clean(), "{:#?}", report.faults);
    let seen = report.sample.unwrap();
    // The last run of an interior page may be short.
    assert!((50..=80).contains(&seen.leaves_read), "{seen:?}");
    assert_eq!(seen.leaves, whole.btrees[1..].iter().map(|tree| tree.leaf_pages).sum::<u64>());
    assert!(report.notes[0].starts_with("a sample, which is no proof"), "{:?}", report.notes);
    let interior = |report: &Report| report.btrees.iter().map(|tree| tree.interior_pages).collect::<Vec<_>>();
    assert_eq!(interior(&report), interior(&whole));
    let all = sample(1_000_000);
    assert_eq!(all.btrees, whole.btrees);
    assert_eq!(all.sample.unwrap().share(), 1.0);
    // Every leaf is broken, so any sample finds some of it; so does damage of pages that are always read.
    let sound = std::fs::read(&made.path).unwrap();
    let leaves_broken = |bytes: &mut Vec<u8>| {
        bytes.chunks_exact_mut(512).skip(1).filter(|page| [10, 13].contains(&page[0])).for_each(|page| page[7] ^= 1);
    };
    let interior_broken = |bytes: &mut Vec<u8>| {
        let page = bytes.chunks_exact_mut(512).skip(1).find(|page| page[0] == 5).unwrap();
        page[7] ^= 1;
    };
    type Change = fn(&mut Vec<u8>);
    let changes: [Change; 4] = [leaves_broken, interior_broken, |bytes| bytes[39] ^= 1, |bytes| bytes[21] ^= 1];
    for change in changes {
        made.patch(change);
        assert!(!sample(16).is_clean());
        made.patch(|bytes| bytes.clone_from(&sound));
    }
}
