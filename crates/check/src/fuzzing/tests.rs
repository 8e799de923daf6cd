//! A bounded, reproducible run of the fuzz entries, and the differential of both verdicts.

use super::*;
use std::collections::BTreeMap;
use std::process::Command;

/// Returns bytes of a reproducible generator (xorshift).
fn choices(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_be_bytes()[3]
    };
    std::iter::repeat_with(next).take(64).collect()
}

/// Returns `times`, or as many times more as `LITEPRESS_FUZZ` says.
fn rounds(times: u64) -> u64 {
    let factor = std::env::var("LITEPRESS_FUZZ").ok().and_then(|factor| factor.parse().ok());
    times * factor.unwrap_or(1_u64)
}

#[test]
fn seeds_are_sound() {
    for seed in SEEDS.iter() {
        in_file(seed, |path| {
            let report = report(path, 1);
            assert!(report.is_clean(), "{:#?}", report.faults);
            assert_eq!(sqlite_integrity_check(path, 10).unwrap(), [""; 0]);
        });
    }
}

#[test]
fn no_bytes_make_it_panic() {
    for (round, seed) in (0..rounds(40)).zip(SEEDS.iter().cycle()) {
        let mut bytes = vec![0x81];
        bytes.extend_from_slice(seed);
        let noise = choices(round + 1);
        for place in noise.chunks_exact(4) {
            let at = usize::from(u16::from_be_bytes([place[0], place[1]])) % bytes.len();
            bytes[at] = place[2];
        }
        any(&bytes);
    }
}

/// The sorts of faults in files that SQLite calls `ok`. `docs/promises.md` lists them; another one is looked into first.
const FOUND_BY_CHECK_ALONE: [&str; 6] = [
    "must hold NULL",
    "%_idx has no row",
    "the position list of row",
    "is stored as a double",
    "a row that does not describe anything",
    "orphan",
];

/// Returns the first complaint of the sqlite3 of the system, which is older, or `None` if it is not installed.
fn of_system(bytes: &[u8]) -> Option<String> {
    in_file(bytes, |path| {
        let done = Command::new("sqlite3").arg("-readonly").arg(path).arg("PRAGMA integrity_check(1)").output().ok()?;
        let text = if done.stdout.is_empty() { done.stderr } else { done.stdout };
        Some(String::from_utf8_lossy(&text).trim().to_owned())
    })
}

/// A key whose collation became `NNCASE`, which no SQLite knows, counted as missed. A note of the check says what it left out.
#[test]
fn an_unknown_collation_is_noted() {
    let verdicts = verdicts(b"Ab\0\xcf\x9a\xdb\xc2Y\x9b\x92k\xdcw");
    assert_eq!(verdicts.sqlite, ["SQLite says: no such collation sequence: NNCASE"]);
    assert_eq!(verdicts.missed(), [""; 0]);
    assert!(!is_left_to_sqlite(&verdicts.sqlite[0], &[]));
}

/// A file that ends within the page of a schema entry was an error of the system, and not a fault: SQLite reads too few bytes. A full-text
/// index with a segment of no pages was called sound, and so was a table whose key has no index: SQLite opens neither. A collation whose
/// name became invalid UTF-8 counted as missed, though a note says that such a table is not checked.
#[test]
fn what_fuzzing_found_is_a_fault() {
    let found = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/found");
    for (target, entry) in [("check", any as fn(&[u8])), ("check_mutated", mutated)] {
        let files = std::fs::read_dir(found.join(target)).expect("inputs that fuzzing found");
        files.for_each(|file| entry(&std::fs::read(file.unwrap().path()).unwrap()));
    }
    let cut_off = std::fs::read(found.join("check/schema_page_cut_off")).unwrap();
    let report = in_file(&cut_off[1..], |path| report(path, 0));
    assert!(!report.is_clean(), "{report:#?}");
}

/// Holds both verdicts against one another on nearly valid files, with a new SQLite and an old one. `LITEPRESS_FUZZ=50`
/// and `--nocapture` print the figures of `docs/promises.md`.
#[test]
fn what_sqlite_finds_is_found() {
    let (mut alone, mut counts) = (BTreeMap::new(), [0; 4]);
    for round in 0..rounds(300) {
        let verdicts = verdicts(&choices(round + 1_000));
        let Verdicts { mutations, report, sqlite, bytes } = &verdicts;
        assert_eq!(verdicts.missed(), [""; 0], "round {round} after {mutations:?}");
        if report.is_clean() {
            let old = of_system(bytes).unwrap_or_else(|| "ok".to_owned());
            assert!(
                old == "ok" || is_left_to_sqlite(&old, &report.notes),
                "round {round} after {mutations:?}: the old SQLite says {old}"
            );
        }
        counts[usize::from(report.is_clean()) * 2 + usize::from(sqlite.is_empty())] += 1;
        if sqlite.is_empty() && !report.is_clean() {
            let known =
                FOUND_BY_CHECK_ALONE.iter().find(|sort| report.faults.iter().any(|fault| fault.what.contains(**sort)));
            let known = known.unwrap_or_else(|| panic!("round {round} after {mutations:?}: {:#?}", report.faults));
            *alone.entry(known).or_insert(0) += 1;
        }
    }
    let [both, of_check, of_sqlite, neither] = counts;
    println!(
        "both find a fault: {both}, the check alone: {of_check}, SQLite alone: {of_sqlite}, neither: {neither}; {alone:?}"
    );
}
