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
    for round in 0..rounds(40) {
        let mut bytes = vec![0x81];
        bytes.extend_from_slice(&SEEDS[round as usize % SEEDS.len()]);
        let noise = choices(round + 1);
        for place in noise.chunks_exact(4) {
            let at = usize::from(u16::from_be_bytes([place[0], place[1]])) % bytes.len();
            bytes[at] = place[2];
        }
        any(&bytes);
    }
}

/// Faults of the check in files that SQLite calls `ok`: `docs/promises.md` lists them. No other may come up.
const STRICTER: [&str; 3] = ["must hold NULL", "%_idx", "XX"];

/// Returns the first complaint of the sqlite3 of the system, or `None` if it is not installed.
fn of_system(path: &Path) -> Option<String> {
    let done = Command::new("sqlite3").arg("-readonly").arg(path).arg("PRAGMA integrity_check(1)").output().ok()?;
    let text = if done.stdout.is_empty() { done.stderr } else { done.stdout };
    Some(String::from_utf8_lossy(&text).trim().to_owned())
}

/// Both verdicts on nearly valid files, by the new SQLite and an old one. It printed what differs, when the list was made.
#[test]
fn what_sqlite_finds_is_found() {
    let (mut stricter, mut counts) = (BTreeMap::new(), [0; 4]);
    for round in 0..rounds(300) {
        let verdicts = verdicts(&choices(round + 1_000));
        if !verdicts.missed().is_empty() {
            println!("MISSED {round} {:?} {:?}", verdicts.mutations, verdicts.missed());
        }
        let (is_clean, is_ok) = (verdicts.report.is_clean(), verdicts.sqlite.is_empty());
        counts[usize::from(is_clean) * 2 + usize::from(is_ok)] += 1;
        if is_ok {
            for fault in &verdicts.report.faults {
                let key: String = fault.what.chars().filter(|c| !c.is_ascii_digit()).collect();
                stricter.entry(key).or_insert((0, round, verdicts.mutations.clone())).0 += 1;
            }
        }
    }
    println!(
        "found by both {}, by the check alone {}, by SQLite alone {}, by neither {}",
        counts[0], counts[1], counts[2], counts[3]
    );
    println!("STRICTER {stricter:#?}");
}
