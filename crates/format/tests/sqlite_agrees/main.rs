//! Compares with SQLite in both directions: this crate reads its files byte for byte, and it reads the files of this
//! crate.
//!
//! Every case runs over all page sizes, with and without auto-vacuum, and with reserved bytes (`Shape`). The database
//! holds values on both sides of every threshold: integer widths, header lengths, and payloads around the overflow
//! limit, in tables, indexes and WITHOUT ROWID tables. It also has the holes that deletions leave.

#![cfg(not(miri))] // needs SQLite and files
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod database;
mod walk;

use database::{Database, Shape, every_shape};
use litepress_format::header::{DatabaseHeader, TextEncoding};
use litepress_format::inspect::{Role, describe_page};
use litepress_format::page::{FILE_HEADER_LEN, PageKind, PageReader, PageSize, PageWriter};
use litepress_format::{cell::Cell, freelist, overflow, ptrmap, record, schema, value::Value};
use walk::{Entry, File, Walk};

/// Returns the rows of `sql` as records that this crate encodes.
fn records_of(database: &Database, sql: &str) -> Vec<Vec<u8>> {
    let mut record = Vec::new();
    database.rows(sql, |values| {
        record.clear();
        record::write_record(values, &mut record);
        record.clone()
    })
}

/// Checks that the entries of a tree are the rows of `sql`, and that their bytes are those that this crate writes.
fn assert_entries(database: &Database, entries: &[Entry], sql: &str) {
    let expected = records_of(database, sql);
    assert_eq!(entries.len(), expected.len(), "{sql}");
    for (entry, expected) in entries.iter().zip(&expected) {
        assert_eq!(record::decode(&entry.payload), record::decode(expected), "{sql}: {:?}", entry.rowid);
        assert_eq!(&entry.payload, expected, "{sql}: {:?}", entry.rowid);
    }
}

#[test]
fn records_and_payload_splits_are_those_of_sqlite() {
    for layout in every_shape() {
        let database = Database::filled(layout);
        let file = database.file();
        let mut walk = Walk::new(&file);
        for row in walk.schema() {
            let entries = walk.tree(u32::try_from(row.rootpage).unwrap());
            match row.name.as_str() {
                "t" => {
                    assert_entries(&database, &entries, "SELECT NULL, a, b FROM t ORDER BY id");
                    let rowids: Vec<i64> = entries.iter().map(|entry| entry.rowid.unwrap()).collect();
                    assert_eq!(rowids, database.integers("SELECT id FROM t ORDER BY id"));
                }
                "t_a" => assert_entries(&database, &entries, "SELECT a, id FROM t ORDER BY a, id"),
                "w" => assert_entries(&database, &entries, "SELECT k, v FROM w ORDER BY k"),
                wide => assert_entries(&database, &entries, &format!("SELECT * FROM {wide} ORDER BY rowid")),
            }
        }
    }
}

#[test]
fn every_page_has_one_use_and_its_space_adds_up() {
    for layout in every_shape() {
        let database = Database::filled(layout);
        let file = database.file();
        let mut walk = Walk::new(&file);
        walk.everything();
        let expected: Vec<u32> = (1..=file.page_count()).collect();
        assert!(walk.uses.keys().copied().eq(expected), "{layout:?}");
        let free_pages = walk.uses.values().filter(|page_use| page_use.is_free()).count();
        assert_eq!(free_pages as i64, database.integer("PRAGMA freelist_count"), "{layout:?}");
        for (number, page_use) in &walk.uses {
            if page_use.role == Role::BTree {
                assert_eq!(file.reader(*number).check_space(), Ok(()), "{layout:?} page {number}");
            }
        }
    }
}

#[test]
fn the_cases_hold_what_they_are_for() {
    let mut freeblocks = 0;
    let mut roles = Vec::new();
    let mut kinds_with_overflow = Vec::new();
    for layout in every_shape() {
        let database = Database::filled(layout);
        let file = database.file();
        let mut walk = Walk::new(&file);
        walk.everything();
        for (number, page_use) in &walk.uses {
            roles.push(page_use.role);
            if page_use.role == Role::BTree {
                let reader = file.reader(*number);
                freeblocks += reader.freeblocks().count();
                let overflows = |cell: &Cell<'_>| cell.payload().is_some_and(|payload| payload.overflow.is_some());
                if reader.cells().any(|cell| overflows(&cell.unwrap())) {
                    kinds_with_overflow.push(reader.kind());
                }
            }
        }
    }
    assert!(freeblocks > 100);
    for role in [Role::BTree, Role::Overflow, Role::FreelistTrunk, Role::FreelistLeaf, Role::PointerMap] {
        assert!(roles.contains(&role), "{role:?}");
    }
    for kind in [PageKind::LeafTable, PageKind::LeafIndex, PageKind::InteriorIndex] {
        assert!(kinds_with_overflow.contains(&kind), "{kind:?}");
    }
}

#[test]
fn pointer_maps_say_where_pages_are_pointed_to_from() {
    for layout in every_shape().into_iter().filter(|layout| layout.auto_vacuum > 0) {
        let database = Database::filled(layout);
        let file = database.file();
        let mut walk = Walk::new(&file);
        walk.everything();
        let lock_byte_page = file.header.page_size.lock_byte_page();
        for (number, page_use) in walk.uses.range(2..) {
            let map_page = ptrmap::map_page_of(*number, file.usable(), lock_byte_page).unwrap();
            assert_eq!(map_page == *number, page_use.role == Role::PointerMap, "{layout:?} page {number}");
            if let Some(offset) = ptrmap::entry_offset(*number, map_page) {
                let entry = ptrmap::Entry::decode(&file.page(map_page)[offset..]).unwrap();
                assert_eq!(Some(entry), page_use.pointed_to_by, "{layout:?} page {number}");
            }
        }
    }
}

#[test]
fn schema_rows_are_those_of_sqlite() {
    let database = Database::filled(Shape::plain(PageSize::DEFAULT));
    let file = database.file();
    let rows = Walk::new(&file).schema();
    let read: Vec<Vec<u8>> = rows
        .iter()
        .map(|row: &schema::OwnedSchemaRow| {
            let mut record = Vec::new();
            row.as_row().write(&mut record);
            record
        })
        .collect();
    assert_eq!(read, records_of(&database, "SELECT * FROM sqlite_schema ORDER BY rowid"));
}

#[test]
fn header_fields_are_what_the_pragmas_say() {
    for layout in every_shape() {
        let database = Database::filled(layout);
        database
            .execute("PRAGMA user_version = -7; PRAGMA application_id = -2000000000; PRAGMA default_cache_size = 77");
        let file = database.file();
        let header = &file.header;
        let pragma = |name: &str| database.integer(&format!("PRAGMA {name}"));
        assert_eq!(header.page_size.bytes() as i64, pragma("page_size"));
        assert_eq!(i64::from(header.page_count), pragma("page_count"));
        assert_eq!(i64::from(header.freelist_pages), pragma("freelist_count"));
        assert_eq!(i64::from(header.schema_cookie), pragma("schema_version"));
        assert_eq!((header.user_version, header.application_id), (-7, -2_000_000_000));
        assert_eq!(i64::from(header.default_cache_size), pragma("default_cache_size"));
        let auto_vacuum = i64::from(header.largest_root_page != 0) + i64::from(header.incremental_vacuum);
        assert_eq!(auto_vacuum, pragma("auto_vacuum"));
        assert_eq!(i64::from(header.sqlite_version_number), i64::from(rusqlite::version_number()));
        assert_eq!(header.encode(), file.page(1)[..FILE_HEADER_LEN]);
        assert!(header.page_count_is_valid());
        assert_eq!(header.reserved, layout.reserved);
    }
}

#[test]
fn a_fresh_header_is_the_one_of_a_fresh_database() {
    for page_size in database::page_sizes() {
        let database = Database::empty(Shape::plain(page_size));
        database.execute("CREATE TABLE t(a)");
        let expected = DatabaseHeader { page_count: 2, ..DatabaseHeader::new(page_size) };
        assert_eq!(database.file().header, expected);
    }
}

#[test]
fn encodings_and_journal_modes_are_read() {
    for (pragma, text_encoding, version) in [
        ("PRAGMA encoding = 'UTF-16le'", TextEncoding::Utf16Le, 1),
        ("PRAGMA encoding = 'UTF-16be'", TextEncoding::Utf16Be, 1),
        ("PRAGMA journal_mode = WAL", TextEncoding::Utf8, 2),
    ] {
        let database = Database::empty(Shape::plain(PageSize::DEFAULT));
        database.execute(pragma);
        database.execute("CREATE TABLE t(a)");
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)");
        let header = database.file().header;
        assert_eq!(header.text_encoding, text_encoding);
        assert_eq!((header.write_version, header.read_version), (version, version));
    }
}

#[test]
fn the_dump_complains_about_no_sound_page() {
    for layout in every_shape() {
        let database = Database::filled(layout);
        let file = database.file();
        let mut walk = Walk::new(&file);
        walk.everything();
        for (number, page_use) in &walk.uses {
            let page = file.page(*number);
            let text = describe_page(*number, page, file.header.page_size, file.usable(), page_use.role);
            assert!(!text.lines().any(|line| line.starts_with('!')), "{layout:?}\n{text}");
            let _ = describe_page(*number, page, file.header.page_size, file.usable(), Role::Unknown);
        }
    }
}

/// Makes the page again from what the reader returned.
fn rewritten(file: &File, number: u32, role: Role) -> Vec<u8> {
    let (page, usable) = (file.page(number), file.usable());
    let mut out = vec![0; page.len()];
    match role {
        Role::BTree => rewrite_btree(&file.reader(number), &mut out, file, number),
        Role::Overflow => {
            let (next, content) = overflow::read_page(page, usable);
            overflow::write_page(next, content, &mut out);
        }
        Role::FreelistTrunk => {
            let trunk = freelist::Trunk::decode(page, usable).unwrap();
            let leaves: Vec<u32> = trunk.leaves().collect();
            assert!(leaves.len() <= freelist::max_leaves_written(usable));
            freelist::write_trunk(trunk.next, &leaves, &mut out);
        }
        Role::PointerMap => {
            for (from, to) in page[..usable].chunks_exact(5).zip(out.chunks_exact_mut(5)) {
                if from[0] != 0 {
                    ptrmap::Entry::decode(from).unwrap().encode(to);
                }
            }
        }
        Role::FreelistLeaf | Role::LockByte | Role::Unknown => {}
    }
    out
}

fn rewrite_btree(reader: &PageReader<'_>, out: &mut [u8], file: &File, number: u32) {
    let header_offset = if number == 1 { FILE_HEADER_LEN } else { 0 };
    out[..header_offset].copy_from_slice(&file.header.encode()[..header_offset]);
    let mut writer = PageWriter::new(out, header_offset, reader.kind(), file.usable());
    for cell in reader.cells() {
        let mut bytes = Vec::new();
        cell.unwrap().write(&mut bytes);
        assert!(writer.push(&bytes));
    }
    writer.finish(reader.right_child());
}

#[test]
fn sqlite_reads_every_page_written_anew() {
    for layout in every_shape() {
        let database = Database::filled(layout);
        let file = database.file();
        let mut walk = Walk::new(&file);
        walk.everything();
        let pages = walk.uses.iter().flat_map(|(number, page_use)| rewritten(&file, *number, page_use.role));
        let copy = Database::from_bytes(&pages.collect::<Vec<u8>>());
        assert_eq!(copy.text("PRAGMA integrity_check"), "ok", "{layout:?}");
        for query in ["SELECT id, a, b FROM t", "SELECT a, id FROM t INDEXED BY t_a ORDER BY a", "SELECT k, v FROM w"] {
            assert_eq!(records_of(&copy, query), records_of(&database, query), "{layout:?} {query}");
        }
    }
}

#[test]
fn text_that_is_not_utf_8_and_reals_at_their_ends_read_back() {
    let database = Database::empty(Shape::plain(PageSize::DEFAULT));
    database
        .execute("CREATE TABLE t(a); INSERT INTO t VALUES (CAST(x'ff00fe' AS TEXT)), (9e999), (-9e999), (-0.0), (5.0)");
    let file = database.file();
    let entries = Walk::new(&file).tree(2);
    let values: Vec<Value<'_>> = entries.iter().flat_map(|entry| record::decode(&entry.payload).unwrap()).collect();
    let infinity = f64::INFINITY;
    let expected = [Value::Text(b"\xff\0\xfe"), infinity.into(), (-infinity).into(), (-0.0).into(), 5.0.into()];
    assert_eq!(values, expected);
}
