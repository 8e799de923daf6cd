//! `litepress inspect`.

use crate::Room;

#[test]
fn header_and_pages_of_a_sound_database() {
    let room = Room::new();
    room.done("generate u.db --preset user --rows 5k");
    let out = room.done("inspect u.db");
    for part in ["SQLite format 3", "page size", "sqlite_schema", "user", "root page"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let out = room.done("inspect u.db 1 2");
    assert!(out.contains("page 1, b-tree page, 4096 bytes") && out.contains("page 2, "), "{out}");
    assert!(out.contains("CREATE TABLE user"), "{out}");
    assert!(!out.contains("\n!"), "{out}");
    let ended = room.run("inspect u.db 99999");
    assert!(ended.code == Some(2) && ended.err.contains("no page 99999"), "{ended:#?}");
    assert_eq!(room.run("inspect u.db 0").code, Some(2));
}

#[test]
fn pages_are_called_what_header_freelist_and_pointer_map_say() {
    let room = Room::new();
    let rows = "WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 400)
                INSERT INTO t SELECT hex(zeroblob(3000)) FROM n;";
    let sql = format!("PRAGMA auto_vacuum = incremental; CREATE TABLE t (a); {rows} DELETE FROM t WHERE rowid > 200;");
    room.sqlite("a.db").execute_batch(&sql).unwrap();
    let pages: u32 = room.query("a.db", "PRAGMA page_count").parse().unwrap();
    let numbers: Vec<String> = (1..=pages).map(|page| page.to_string()).collect();
    let out = room.done(&format!("inspect a.db {}", numbers.join(" ")));
    let count = |role: &str| out.lines().filter(|line| line.starts_with("page ") && line.contains(role)).count();
    assert!(count("pointer map") >= 1 && count("overflow page") >= 100, "{pages}");
    assert!(count("freelist trunk") >= 1 && count("freelist leaf") >= 100, "{pages}");
    assert_eq!(count("guessed"), 0);
    assert!(out.contains("page 2, pointer map"));
}

#[test]
fn nodes_of_an_rtree() {
    let room = Room::new();
    let rows: String = (0..200).map(|row| format!("{},{}\n", row % 20, row / 20)).collect();
    room.write("places.csv", format!("x,y\n{rows}"));
    room.done("load places.gpkg places.csv --geometry x,y --progress none");
    let out = room.done("inspect places.gpkg --node rtree_places_geom:1 --node rtree_places_geom:2");
    for part in
        ["node 1 of rtree_places_geom, root, 1228 bytes", "child node", "maxy", "its parent is node 1", "  id\n"]
    {
        assert!(out.contains(part), "{part}: {out}");
    }
    let ended = room.run("inspect places.gpkg --node rtree_places_geom:99");
    assert!(ended.code == Some(2) && ended.err.contains("there is no node 99"), "{ended:#?}");
    for wrong in ["rtree_places_geom", ":1", "x:y"] {
        let ended = room.run(&format!("inspect places.gpkg --node {wrong}"));
        assert!(ended.code == Some(2) && ended.err.contains("boxes:1"), "{ended:#?}");
    }
}

/// The overview of a file that is no database, such as a CSV file, ended with exit code 0.
#[test]
fn garbage_is_shown_and_told_by_the_exit_code() {
    let room = Room::new();
    let overview = |room: &Room| {
        let ended = room.run("inspect g.db");
        let is_unreadable = ended.out.contains("\n! SQLite cannot read the schema");
        assert_eq!((ended.code, ended.err.as_str()), (Some(i32::from(is_unreadable)), ""), "{ended:#?}");
        ended.code
    };
    room.done("generate u.db --preset user --rows 1k");
    let sound = std::fs::read(room.path("u.db")).unwrap();
    let mut random = 1_u64;
    for round in 0..30 {
        let mut bytes = sound.clone();
        for _ in 0..40 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = usize::try_from(random >> 33).unwrap() % if round % 2 == 0 { 140 } else { bytes.len() };
            bytes[at] = random.to_be_bytes()[0];
        }
        bytes.truncate(bytes.len() - 37 * round);
        room.write("g.db", &bytes);
        overview(&room);
        room.done("inspect g.db 1 2");
    }
    for content in [&b""[..], b"x", b"SQLite format 3\0", &[0xff; 5000], &[0; 5000]] {
        room.write("g.db", content);
        overview(&room);
        if !content.is_empty() {
            room.done("inspect g.db 1");
        }
    }
    room.write("g.db", "a,b\n1,2\n3,4\n");
    assert_eq!(overview(&room), Some(1));
    for file in ["none.db", "."] {
        assert_eq!(room.run(&format!("inspect {file}")).code, Some(1));
    }
}

/// The rows of a full-text index were blobs like any others.
#[test]
fn rows_of_full_text_indexes_are_explained() {
    let room = Room::new();
    let sql = "CREATE VIRTUAL TABLE mails USING fts5(subject, body, prefix=2);
        INSERT INTO mails(mails, rank) VALUES ('pgsz', 200);
        INSERT INTO mails SELECT 'hello', 'word' || value || ' the end' FROM generated;";
    let rows = "CREATE TEMP TABLE generated AS WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT 300)
        SELECT value FROM n;";
    room.sqlite("a.db")
        .execute_batch(&format!("{rows}{sql} CREATE TABLE plain (a); INSERT INTO plain VALUES (1);"))
        .unwrap();
    let pages: u32 = room.query("a.db", "PRAGMA page_count").parse().unwrap();
    let numbers: Vec<String> = (1..=pages).map(|page| page.to_string()).collect();
    let out = room.done(&format!("inspect a.db {}", numbers.join(" ")));
    for part in [
        "rows of the full-text table mails\n",
        "row 1: averages: 300 rows, tokens of each column: 300, 900\n",
        "row 10: structure: 1 segments, 1 changes of options, ",
        "\n  level 0: segment 1, leaves 1 to ",
        "\nrow 137438953473: leaf 1 of segment 1, ",
        "\n  term \"end\": rows 1, 2, 3, 4, 5 and ",
        "bytes of the doclist of the leaf before: the first rowid is ",
        "\n  term \"word17\": row 17\n",
        "\n  term \"he\" of prefix index 1: rows 1, 2, ",
        " of the doclist indexes of segment 1, ",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    assert!(!out.contains("\n! row"), "{out}");
    let root = room.query("a.db", "SELECT rootpage FROM sqlite_schema WHERE name = 'plain'");
    assert!(!room.done(&format!("inspect a.db {root}")).contains("full-text"));
    // The first leaf of the index, with its header overwritten.
    room.sqlite("a.db").execute_batch("UPDATE mails_data SET block = x'ffff0000' WHERE id = 137438953473").unwrap();
    let out = room.done(&format!("inspect a.db {}", numbers.join(" ")));
    assert!(out.contains("\n! row 137438953473: "), "{out}");
}

/// The page is one file that needs no other, whole or absent.
#[test]
fn a_page_that_shows_the_database() {
    let room = Room::new();
    room.done("generate shop.db --preset shop --scale 0.001");
    let out = room.done("inspect shop.db --html shop.html");
    assert!(out.starts_with("ok ("), "{out}");
    let page = std::fs::read_to_string(room.path("shop.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    for part in ["purchase_ordered_at", "sequential_leaves", "\"references\":[{\"columns\":[\"customer\"]"] {
        assert!(page.contains(part), "{part} is missing");
    }
    assert!(!page.contains("src=") && !page.contains("<link"), "the page needs other files");
    let again = room.run("inspect shop.db --html shop.html");
    assert!(again.code == Some(1) && again.err.contains("--overwrite"), "{again:#?}");
    room.done("check shop.db --html shop.html --overwrite --quiet");
    let pages = room.run("inspect shop.db 1 --html other.html");
    assert!(pages.code == Some(2) && !room.path("other.html").exists(), "{pages:#?}");
}

/// A broken file has a page too, which tells the faults. The command that checks fails, the one that draws does not.
#[test]
fn a_page_of_a_broken_file() {
    let room = Room::new();
    room.done("generate u.db --preset user --rows 30k");
    let mut bytes = std::fs::read(room.path("u.db")).unwrap();
    bytes[3 * 4096] = 0x77;
    std::fs::write(room.path("u.db"), bytes).unwrap();
    room.write("notes.txt", "no database");
    assert_eq!(room.run("check u.db --html u.html").code, Some(1));
    assert!(std::fs::read_to_string(room.path("u.html")).unwrap().contains("\"faults_total\":1"));
    assert_eq!(room.run("inspect u.db --html again.html").code, Some(0));
    assert_eq!(room.run("check notes.txt --html notes.html").code, Some(1));
    assert!(room.path("notes.html").exists());
    let nowhere = room.run("inspect u.db --html missing/u.html");
    assert!(nowhere.code != Some(0) && nowhere.err.contains("missing/u.html"), "{nowhere:#?}");
}

/// `check keep.db --html keep.db --overwrite` replaced the database by its page.
#[test]
fn a_page_replaces_pages_alone() {
    let room = Room::new();
    for name in ["keep.db", "other.db"] {
        room.sqlite(name).execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1)").unwrap();
    }
    std::os::unix::fs::symlink("keep.db", room.path("link")).unwrap();
    room.write("mine.html", "<p>mine</p>");
    room.write("empty.html", "");
    let before = room.files();
    for command in
        ["check keep.db", "inspect keep.db", "profile keep.db", "compare keep.db keep.db", "compare keep.db link"]
    {
        for (page, code, why) in [
            ("keep.db", 2, "the file for the page is a file that is read"),
            ("./link", 2, "the file for the page is a file that is read"),
            ("other.db", 1, "the file exists, and it is a SQLite database"),
            ("keep.db-wal", 2, "the file for the page has the name of a file that SQLite keeps beside 'keep.db'"),
            ("other.db-journal", 2, "SQLite keeps beside 'other.db'"),
            ("mine.html", 1, "the file exists, and it is no page"),
        ] {
            let ended = room.run(&format!("{command} --html {page} --overwrite"));
            assert_eq!(ended.code, Some(code), "{command} {page}: {ended:#?}");
            assert!(ended.err.contains(why) && ended.err.contains("help: name another file"), "{ended:#?}");
        }
        room.done(&format!("{command} --html empty.html --overwrite"));
        room.done(&format!("{command} --html empty.html --overwrite"));
    }
    assert_eq!(room.files(), before);
    assert_eq!(room.query("keep.db", "SELECT a FROM t"), room.query("other.db", "SELECT a FROM t"));
}

/// A file that was cut off in its first page was explained by "4096 usable bytes are impossible".
#[test]
fn a_file_that_is_cut_off_is_called_so() {
    let room = Room::new();
    room.sqlite("t.db").execute_batch("CREATE TABLE t (a)").unwrap();
    let whole = std::fs::read(room.path("t.db")).unwrap();
    for (bytes, page) in [(100, 1), (40, 1), (6000, 2)] {
        room.write("cut.db", &whole[..bytes]);
        let out = room.done(&format!("inspect cut.db {page}"));
        assert!(out.contains("the file is cut off: it ends in this page of 4096 bytes"), "{out}");
        assert!(!out.contains("impossible"), "{out}");
    }
}
