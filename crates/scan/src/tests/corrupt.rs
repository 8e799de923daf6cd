//! Broken files end in an error, never in a panic or an endless loop.

use super::{Database, index_rows, root, table_rows, tables};
use crate::Snapshot;
use litepress_rows::{Error, ErrorKind};
use proptest::prelude::*;
use rusqlite::types::Value as Stored;

/// Returns the rows of all trees, or the first error.
fn scan_all(database: &Database, roots: &[(u32, bool)]) -> Result<Vec<Vec<Stored>>, Error> {
    let connection = database.connect();
    let snapshot = Snapshot::begin(&connection)?;
    let mut rows = Vec::new();
    for &(root, is_table) in roots {
        let scanned = if is_table { table_rows(&snapshot, root, "t") } else { index_rows(&snapshot, root, "t") };
        rows.extend(scanned?);
    }
    Ok(rows)
}

#[test]
fn pages_that_point_nowhere() {
    let database = Database::new(&("PRAGMA page_size = 512; BEGIN;".to_owned() + &tables(700) + "COMMIT"));
    let table = root(&database.connect(), "t");
    let sound = std::fs::read(&database.path).unwrap();
    let page = |number: u32| (number as usize - 1) * 512;
    let broken = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = sound.clone();
        change(&mut bytes);
        std::fs::write(&database.path, bytes).unwrap();
        scan_all(&database, &[(table, true)]).unwrap_err()
    };
    let right_child = page(table) + 8;
    for child in [0, table, 1, u32::MAX, 1 << 20] {
        let error = broken(&|bytes| bytes[right_child..right_child + 4].copy_from_slice(&child.to_be_bytes()));
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{child}: {error}");
        assert_eq!(error.place().table.as_deref(), Some("t"), "{error}");
        assert!(error.message().contains("page"), "{error}");
    }
    assert_eq!(broken(&|bytes| bytes[page(table)] = 10).kind(), ErrorKind::Corrupt);
    // A file that is cut off.
    let error = broken(&|bytes| bytes.truncate(page(table) + 512 * 20));
    assert!(matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Io), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_end(seed in 0..u64::MAX, changes in 1..20_u32, header_only: bool) {
        thread_local! {
            static SOUND: (Database, Vec<u8>, [(u32, bool); 3]) = {
                let sql = "PRAGMA page_size = 512; BEGIN;".to_owned() + &tables(300) + "COMMIT";
                let database = Database::new(&sql);
                let connection = database.connect();
                let roots = [("t", true), ("w", false), ("i", false)].map(|(name, is_table)| (root(&connection, name), is_table));
                let bytes = std::fs::read(&database.path).unwrap();
                (database, bytes, roots)
            };
        }
        SOUND.with(|(database, sound, roots)| {
            let (mut bytes, mut random) = (sound.clone(), seed | 1);
            for _ in 0..changes {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let page = usize::try_from(random >> 40).unwrap() % (bytes.len() / 512 - 1) + 1;
                let within = usize::try_from(random >> 20 & 0xfff).unwrap() % if header_only { 12 } else { 512 };
                bytes[page * 512 + within] = u8::try_from(random & 0xff).unwrap();
            }
            std::fs::write(&database.path, bytes).unwrap();
            if let Err(error) = scan_trees(database, roots) {
                prop_assert_eq!(error.kind(), ErrorKind::Corrupt, "{}", error);
            }
            Ok(())
        })?;
    }
}

/// Reads all trees without a look at the records, which may be broken, too.
fn scan_trees(database: &Database, roots: &[(u32, bool)]) -> Result<(), Error> {
    let connection = database.connect();
    let snapshot = Snapshot::begin(&connection)?;
    for &(root, is_table) in roots {
        if is_table {
            super::rows_of(&crate::TableScan::new(&snapshot, root, "t")?)?;
        } else {
            super::rows_of(&crate::IndexScan::new(&snapshot, root, "t")?)?;
        }
    }
    Ok(())
}
