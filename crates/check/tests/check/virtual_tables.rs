//! Full-text tables and R-Trees.

use super::{Made, checked, faults, made, series};

/// Returns a database with full-text tables of every kind, with many segments, deletions and merges.
fn made_of_full_texts() -> Made {
    let words = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO";
    let text = "SELECT 'the word' || (i * i % 997) || ' and the ' || hex(i * 7919), i FROM n";
    let mut sql = String::new();
    for (number, options) in
        ["", ", detail=none", ", detail=column, prefix='2'", ", columnsize=0", ", content='', contentless_delete=1"]
            .iter()
            .enumerate()
    {
        let f = format!("f{number}");
        sql += &format!("CREATE VIRTUAL TABLE {f} USING fts5(a, b UNINDEXED{options}); {words} {f}(a, b) {text};");
        sql += &format!("INSERT INTO {f}({f}, rank) VALUES ('pgsz', 100), ('hashsize', 3000);");
        if number == 1 {
            sql += &format!("INSERT INTO {f}({f}, rank) VALUES ('secure-delete', 1);");
        }
        sql += &format!("{words} {f}(a, b) {text}; DELETE FROM {f} WHERE rowid % 7 = 0;");
        sql += &format!("INSERT INTO {f}({f}, rank) VALUES ('merge', 40);");
        if number % 2 == 0 {
            sql += &format!("{words} {f}(a, b) {text}; INSERT INTO {f}({f}) VALUES ('optimize');");
        }
    }
    made(&sql)
}

#[test]
fn segments_of_full_text_tables() {
    let made = made_of_full_texts();
    let report = checked(&made.path);
    assert!(report.is_clean(), "{:#?}", report.faults);
    let damages = [
        ("UPDATE f0_data SET block = substr(block, 1, length(block) - 1) WHERE id = 10", "its structure record"),
        ("UPDATE f0_data SET block = x'8107' WHERE id = 1", "its averages are those of 135 rows"),
        // SQLite opens no such table, and the check called it sound.
        ("UPDATE f0_config SET v = 3 WHERE k = 'version'", "its version is 3"),
        ("DELETE FROM f0_config WHERE k = 'version'", "does not tell its version"),
        ("DELETE FROM f0_docsize WHERE id = 9", "its averages are those of"),
        ("DELETE FROM f0_data WHERE id = (SELECT max(id) FROM f0_data WHERE id & (1 << 36) = 0)", "is missing"),
        ("DELETE FROM f0_idx WHERE pgno = (SELECT max(pgno) FROM f0_idx)", "%_idx"),
        (
            "UPDATE f0_data SET block = zeroblob(length(block)) WHERE id = (SELECT max(id) FROM f0_data)",
            "doclist index",
        ),
    ];
    for (damage, expected) in damages {
        let made = made_of_full_texts();
        made.connection().execute_batch(damage).unwrap();
        let faults = faults(&made.path);
        assert!(faults.len() == 1 && faults[0].contains("full-text table f0"), "{damage}: {faults:?}");
        assert!(faults[0].contains(expected), "{damage}: {faults:?}");
    }
}

/// While SQLite merges segments step by step, those that it has used up have pages 0 to 0. The check called every such table damaged.
#[test]
fn segments_that_a_merge_has_used_up_are_sound() {
    let sql = "CREATE VIRTUAL TABLE f USING fts5(a); INSERT INTO f(f, rank) VALUES ('pgsz', 64);
        INSERT INTO f VALUES ('w18 w14 w10 w17 w27');
        INSERT INTO f VALUES ('w29 w16 w6 w1 w18 w27 w5 w7 w12 w8 w10 w9 w9 w7 w0 w9 w6 w9 w22 w17');
        INSERT INTO f VALUES ('w14 w20 w23 w12 w21 w11 w10 w29 w5 w1 w12 w15 w22 w27 w24 w28 w9 w12 w17 w21');
        INSERT INTO f VALUES ('w23 w24 w22 w27 w17 w1 w2 w5 w24 w9 w7 w4 w9 w24 w4 w9 w29 w5 w24 w19');";
    let merge = "INSERT INTO f(f, rank) VALUES ('merge', 1); INSERT INTO f(f) VALUES ('integrity-check');";
    let mut used_up = 0;
    for steps in 0..6 {
        let made = made(&format!("{sql} {}", merge.repeat(steps)));
        assert!(checked(&made.path).is_clean(), "{:#?}", checked(&made.path).faults);
        let structure: Vec<u8> =
            made.connection().query_row("SELECT block FROM f_data WHERE id = 10", [], |row| row.get(0)).unwrap();
        let structure = litepress_fts5::Structure::decode(&structure).unwrap();
        let mut segments = structure.levels.iter().flat_map(|level| &level.segments);
        used_up += usize::from(segments.any(|segment| segment.is_used_up()));
    }
    assert!(used_up > 0);
}

/// Where FTS5 does not keep the texts, a row may be indexed twice, or taken out with another text. SQLite finds that sound, and the
/// check called it a fault.
#[test]
fn sizes_of_texts_that_are_elsewhere_may_differ() {
    for sql in [
        "CREATE TABLE e(a); INSERT INTO e VALUES ('x y'), ('p'); CREATE VIRTUAL TABLE f USING fts5(a, content=e);
         INSERT INTO f(f) VALUES ('rebuild'); INSERT INTO f(f, rowid, a) VALUES ('delete', 1, 'x')",
        "CREATE VIRTUAL TABLE f USING fts5(a, content=''); INSERT INTO f(rowid, a) VALUES (1, 'x y');
         INSERT INTO f(rowid, a) VALUES (1, 'x y')",
    ] {
        let made = made(&format!("{sql}; INSERT INTO f(f) VALUES ('integrity-check')"));
        made.assert_noted("so that ranks may be off");
        made.assert_noted("which it does not keep, is not checked");
    }
}

/// The check took a full-text table or an R-Tree that has lost a table for one of an unknown module, and called the file sound.
#[test]
fn virtual_tables_need_their_tables() {
    let full_text = "CREATE VIRTUAL TABLE v USING fts5(a); INSERT INTO v VALUES ('x')";
    let rtree = "CREATE VIRTUAL TABLE v USING rtree(id, a, b, +c); INSERT INTO v VALUES (1, 1, 2, 3)";
    for (sql, suffixes) in
        [(full_text, &["config", "content", "data", "docsize", "idx"][..]), (rtree, &["node", "parent", "rowid"])]
    {
        for suffix in suffixes {
            let made = made(&format!("{sql}; DROP TABLE v_{suffix}"));
            made.assert_fault(&format!("virtual table v: its table v_{suffix} is missing"));
        }
    }
    made(&format!("{rtree}; ALTER TABLE v_rowid ADD COLUMN a1; ALTER TABLE v_rowid ADD COLUMN a2"))
        .assert_fault("R-Tree v: SQLite cannot open it");
    made(&format!("{full_text}; INSERT INTO v_idx VALUES (1, x'307838', 998)"))
        .assert_fault("%_idx has a row of leaf 499");
    made(&format!("{full_text}; UPDATE v_data SET block = 'text' WHERE id > 10")).assert_fault("block is Text");
}

/// Returns a database with R-Trees of several kinds that SQLite has grown and shrunk.
fn made_of_rtrees() -> Made {
    let rows = series(6000);
    made(&format!(
        "CREATE VIRTUAL TABLE r USING rtree(id, x0, x1, y0, y1, +note);
         INSERT INTO r SELECT i, i * 7919 % 1000, i * 7919 % 1000 + 3.1, -i, -i + 2.3, 'n' || i FROM {rows};
         DELETE FROM r WHERE id % 3 = 0; UPDATE r SET x1 = x1 + 9 WHERE id % 7 = 1;
         CREATE VIRTUAL TABLE \"of 3\" USING rtree_i32(id, a0, a1, b0, b1, c0, c1);
         INSERT INTO \"of 3\" SELECT -i, i % 90, i % 90, -i, i, i, i + 5 FROM {rows};
         CREATE VIRTUAL TABLE zeros USING rtree(id, x0, x1); INSERT INTO zeros VALUES (1, 0.0, -0.0), (2, -0.0, 0.0);
         CREATE VIRTUAL TABLE empty USING rtree(id, x0, x1)"
    ))
}

/// The check passed over R-Trees, and a tree that had lost a node was "ok". SQLite's own check is the judge.
#[test]
fn nodes_of_rtrees() {
    let made = made_of_rtrees();
    let report = checked(&made.path);
    assert!(report.is_clean() && report.notes.is_empty(), "{:#?} {:?}", report.faults, report.notes);
    let root = "UPDATE r_node SET data = CAST(";
    let leaf = "WHERE nodeno = (SELECT nodeno FROM r_rowid ORDER BY rowid LIMIT 1)";
    let damages = [
        ("UPDATE r_rowid SET nodeno = nodeno + 1 WHERE rowid = 7".to_owned(), "row 7 is in node"),
        ("UPDATE r_rowid SET nodeno = NULL WHERE rowid = 7".to_owned(), "%_rowid says NULL"),
        ("DELETE FROM r_rowid WHERE rowid = 7".to_owned(), "%_rowid has no row of it"),
        (
            "INSERT INTO r_rowid(rowid, nodeno) VALUES (3, 2)".to_owned(),
            "r_rowid has 4001 rows, and the tree 4000 rows",
        ),
        ("DELETE FROM r_parent WHERE nodeno = 2".to_owned(), "node 2 is in node"),
        ("UPDATE r_parent SET parentnode = 77 WHERE nodeno = 2".to_owned(), "%_parent says node 77"),
        ("DELETE FROM r_node WHERE nodeno = 2".to_owned(), "node 2 is missing"),
        ("UPDATE r_node SET data = substr(data, 1, 700) WHERE nodeno = 2".to_owned(), "node 2 has 700 bytes"),
        (format!("{root} x'0029' || substr(data, 3) AS BLOB) WHERE nodeno = 1"), "deeper than SQLite allows"),
        (format!("{root} substr(data, 1, 12) || x'7f000000' || substr(data, 17) AS BLOB) {leaf}"), "above the maximum"),
        (format!("{root} substr(data, 1, 12) || x'ff000000' || substr(data, 17) AS BLOB) {leaf}"), "leaves the box"),
    ];
    for (damage, expected) in damages {
        let made = made_of_rtrees();
        made.connection().execute_batch(&damage).unwrap();
        let faults = faults(&made.path);
        assert!(faults.iter().all(|fault| fault.contains("R-Tree r: ")), "{damage}: {faults:?}");
        assert!(faults.iter().any(|fault| fault.contains(expected)), "{damage}: {faults:?}");
        let verdict = made.connection().query_row("SELECT rtreecheck('r')", [], |row| row.get::<_, String>(0));
        assert_ne!(verdict, Ok("ok".to_owned()), "{damage}");
    }
    for (damage, expected) in [
        // SQLite passes over a node that nothing refers to.
        ("INSERT INTO r_node SELECT 99999, data FROM r_node WHERE nodeno = 2", "1 of the "),
        ("UPDATE r_node SET data = x'00' WHERE nodeno = 1", "SQLite cannot open it"),
    ] {
        let made = made_of_rtrees();
        made.connection().execute_batch(damage).unwrap();
        let faults = faults(&made.path);
        assert!(faults.len() == 1 && faults[0].contains(expected), "{damage}: {faults:?}");
    }
}

/// A shadow table had another column. SQLite could not open the R-Tree, and the check took it for a table of an unknown module.
#[test]
fn rtrees_that_sqlite_cannot_open_are_faults() {
    for (table, from, to) in [("r_node", "nodeno", "nodenx"), ("r_node", "data", "datx"), ("r_rowid", "a0", "ax")] {
        let made = made_of_rtrees();
        made.redefine(table, from, to);
        made.assert_fault("R-Tree r: SQLite cannot open it: no such column");
    }
}

/// Any damage of nodes ends the check, and soon: a node may refer to one above it.
#[test]
fn rtrees_that_run_in_circles_are_left() {
    let made = made_of_rtrees();
    // Every cell of a child of the root refers to the root.
    let sql = "UPDATE r_node SET data = CAST(substr(data, 1, 4) || x'0000000000000001' || substr(data, 13) AS BLOB)";
    made.connection().execute_batch(sql).unwrap();
    let faults = faults(&made.path);
    assert!(!faults.is_empty() && faults.iter().all(|fault| fault.contains("R-Tree r: ")), "{faults:?}");
}
