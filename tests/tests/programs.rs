//! Databases of real programs: whatever litepress does to them, it leaves what SQLite's own statements leave.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use front_door::{
    CompactOptions, Conflict, IndexOptions, LoadOptions, MergeOptions, Options, PageSize, Route, RowidPolicy, Sync,
    compact, index, load, merge, reindex,
};
use litepress_conformance::folder::Folder;
use litepress_conformance::oracle::{OldSqlite, assert_same_rows, integer, texts};
use litepress_conformance::program::{Program, open_as_judge};
use litepress_rows::quoted_name;
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};

/// Rows of each table, in each step.
const ROWS: u32 = 150;

/// Settings of a database.
const UTF_8: &str = "PRAGMA encoding = 'UTF-8'";
const UTF_16: &str = "PRAGMA encoding = 'UTF-16le'";

/// Databases that an old SQLite looks at in the end, all at once.
#[derive(Default)]
struct Judged(Vec<PathBuf>);

impl Judged {
    /// Asserts that both databases have the same schema and rows, and that SQLite finds nothing wrong with ours.
    fn assert_same(&mut self, ours: &Path, theirs: &Path, what: &str) {
        let (our, their) = (open_as_judge(ours), open_as_judge(theirs));
        let schema = "SELECT type, name, tbl_name, coalesce(rootpage, 0) > 0, sql FROM sqlite_schema
                      WHERE name NOT LIKE 'sqlite_stat%' ORDER BY type, name";
        assert_same_rows(&our, &their, schema, what);
        let of_kind = |kind: &str| {
            let list = "SELECT name FROM pragma_table_list WHERE schema = 'main'";
            texts(&their, &format!("{list} AND type = '{kind}' AND name IN (SELECT name FROM sqlite_schema)"))
        };
        for table in of_kind("table") {
            if !table.starts_with("sqlite_stat") {
                assert_same_table(&our, &their, &table, what);
            }
        }
        for view in texts(&their, "SELECT name FROM sqlite_schema WHERE type = 'view'") {
            let sql = format!("SELECT * FROM {} ORDER BY 1, 2", quoted_name(&view));
            // Some call functions of the program.
            if their.prepare(&sql).is_ok() {
                assert_same_rows(&our, &their, &sql, what);
            }
        }
        for table in of_kind("virtual") {
            assert_same_table(&our, &their, &table, what);
            let sql = texts(&our, &format!("SELECT sql FROM sqlite_schema WHERE name = '{table}'")).remove(0);
            let name = quoted_name(&table);
            if sql.to_ascii_lowercase().contains("rtree") {
                assert_eq!(texts(&our, &format!("SELECT rtreecheck('{table}')")), ["ok"], "{what}");
            } else {
                our.execute_batch(&format!("INSERT INTO {name}({name}) VALUES ('integrity-check')")).unwrap();
            }
        }
        assert_eq!(texts(&our, "PRAGMA integrity_check"), ["ok"], "{what}");
        let broken = "SELECT \"table\", count(*) FROM pragma_foreign_key_check GROUP BY 1 ORDER BY 1";
        assert_same_rows(&our, &their, broken, what);
        for pragma in ["user_version", "application_id", "encoding"] {
            assert_same_rows(&our, &their, &format!("PRAGMA {pragma}"), what);
        }
        if !what.starts_with("anki") {
            self.0.push(ours.to_owned());
        }
    }
}

impl Drop for Judged {
    fn drop(&mut self) {
        if let Some(old) = OldSqlite::find().filter(|_| !std::thread::panicking()) {
            old.assert_sound(&self.0);
        }
    }
}

/// Asserts that a table has the same rows, with the same rowids if it has any.
fn assert_same_table(ours: &Connection, theirs: &Connection, table: &str, what: &str) {
    let name = quoted_name(table);
    let has_rowid = integer(theirs, &format!("SELECT NOT wr FROM pragma_table_list('{table}')")) > 0;
    let columns = texts(theirs, &format!("SELECT lower(name) FROM pragma_table_xinfo('{table}')"));
    let rowid = ["rowid", "_rowid_"].into_iter().find(|name| !columns.iter().any(|column| column == name)).unwrap();
    if has_rowid {
        let sql = format!("SELECT {rowid}, * FROM {name} NOT INDEXED ORDER BY {rowid}");
        // SQLite gives sqlite_sequence its rows in the order of first inserts.
        let sql =
            if table == "sqlite_sequence" { "SELECT * FROM sqlite_sequence ORDER BY name".to_owned() } else { sql };
        assert_same_rows(ours, theirs, &sql, what);
    } else {
        assert_same_rows(ours, theirs, &format!("SELECT * FROM {name} NOT INDEXED"), what);
    }
}

/// Runs SQL as a program without functions and collations of its own.
fn run(path: &Path, sql: &str) -> rusqlite::Result<()> {
    let sqlite = Connection::open(path)?;
    sqlite.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF")?;
    sqlite.execute_batch(sql)
}

/// Returns a name for a file.
fn file(what: &str, who: &str) -> String {
    let what: String = what.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
    format!("{what}_{who}.db")
}

fn copy(from: &Path, to: &Path) {
    fs::copy(from, to).unwrap();
}

/// Asserts that both worked or both failed.
#[track_caller]
fn assert_both<T, E: std::fmt::Debug, F: std::fmt::Debug>(ours: &Result<T, E>, theirs: &Result<(), F>, what: &str) {
    let (our, their) = (ours.as_ref().err(), theirs.as_ref().err());
    assert_eq!(our.is_some(), their.is_some(), "{what}: ours {our:?}, SQLite's {their:?}");
}

#[test]
fn rows_are_added_as_sqlite_adds_them() {
    let folder = Folder::new();
    // Dropped before the folder.
    let mut judged = Judged::default();
    for (number, program) in Program::all().iter().enumerate() {
        let utf_16 = (number % 4 == 1).then_some((Some(Route::Edge), UTF_16));
        let utf_8 = [None, Some(Route::Edge), Some(Route::Rebuild)].map(|route| (route, UTF_8));
        for (route, encoding) in utf_8.into_iter().chain(utf_16) {
            let what = format!("{}, {route:?}, {encoding}", program.name);
            let base = folder.join(&file(&what, "base"));
            program.make(&base, encoding, &[1], ROWS);
            let [ours, theirs] = ["ours", "theirs"].map(|who| folder.join(&file(&what, who)));
            copy(&base, &ours);
            copy(&base, &theirs);
            for table in program.tables(&base) {
                let what = format!("{what}: {table}");
                let rows = folder.join("rows.db");
                program.make_rows(&base, &table, &rows, ROWS + 1, ROWS, false);
                let mut options = LoadOptions::default().append(true).build(Options::default().sync(Sync::Off));
                options.append_options.route = route;
                let our = load(&*ours, [&rows], &options);
                assert_both(&our, &insert(&theirs, &rows, &table, ""), &what);
                fs::remove_file(rows).unwrap();
            }
            judged.assert_same(&ours, &theirs, &what);
        }
    }
}

/// Inserts the rows of a table in another database, with `more` behind the statement.
fn insert(path: &Path, rows: &Path, table: &str, more: &str) -> rusqlite::Result<()> {
    let columns = texts(&Connection::open(rows).unwrap(), &format!("SELECT name FROM pragma_table_info('{table}')"));
    let columns: Vec<String> = columns.iter().map(|column| quoted_name(column)).collect();
    let (columns, name) = (columns.join(", "), quoted_name(table));
    let rows = rows.to_string_lossy();
    run(
        path,
        &format!(
            "ATTACH '{rows}' AS new; INSERT INTO main.{name}({columns}) SELECT {columns} FROM new.{name} WHERE true{more}"
        ),
    )
}

#[test]
fn rows_are_updated_as_sqlite_updates_them() {
    let folder = Folder::new();
    // Dropped before the folder.
    let mut judged = Judged::default();
    for program in Program::all() {
        let base = folder.join(&format!("{}.db", program.name));
        program.make(&base, "", &[1], ROWS);
        for route in [None, Some(Route::Rebuild)] {
            let what = format!("{}, {route:?}", program.name);
            let [ours, theirs] = ["ours", "theirs"].map(|who| folder.join(&file(&what, who)));
            copy(&base, &ours);
            copy(&base, &theirs);
            for table in program.tables(&base) {
                let Some(clause) = upsert(&base, &table) else { continue };
                let (what, rows) = (format!("{what}: {table}"), folder.join("rows.db"));
                program.make_rows(&base, &table, &rows, ROWS / 2, ROWS, true);
                let build = Options::default().on_conflict(Conflict::Update).sync(Sync::Off);
                let mut options = LoadOptions::default().append(true).build(build);
                options.append_options.route = route;
                let our = load(&*ours, [&rows], &options);
                assert_both(&our, &insert(&theirs, &rows, &table, &clause), &what);
                fs::remove_file(rows).unwrap();
            }
            judged.assert_same(&ours, &theirs, &what);
        }
    }
}

/// Returns the clause that updates the row with the same primary key; `None` for a table that has none.
fn upsert(path: &Path, table: &str) -> Option<String> {
    let sqlite = Connection::open(path).unwrap();
    let list = |condition: &str| -> Vec<String> {
        let names = texts(
            &sqlite,
            &format!("SELECT name FROM pragma_table_xinfo('{table}') WHERE hidden = 0 AND {condition} ORDER BY pk"),
        );
        names.iter().map(|name| quoted_name(name)).collect()
    };
    let (key, others) = (list("pk > 0"), list("pk = 0"));
    let set: Vec<String> = others.iter().map(|name| format!("{name} = excluded.{name}")).collect();
    let then = if set.is_empty() { "NOTHING".to_owned() } else { format!("UPDATE SET {}", set.join(", ")) };
    (!key.is_empty()).then(|| format!(" ON CONFLICT ({}) DO {then}", key.join(", ")))
}

#[test]
fn indexes_are_made_as_sqlite_makes_them() {
    let folder = Folder::new();
    // Dropped before the folder.
    let mut judged = Judged::default();
    let programs = Program::all();
    let utf_8 = programs.iter().map(|program| (program, UTF_8));
    for (program, encoding) in utf_8.chain(programs.iter().step_by(4).map(|program| (program, UTF_16))) {
        let what = format!("{}, {encoding}", program.name);
        let [ours, theirs] = ["ours", "theirs"].map(|who| folder.join(&file(&what, who)));
        program.make(&ours, encoding, &[1], ROWS);
        copy(&ours, &theirs);
        for table in program.tables(&theirs) {
            let columns =
                texts(&Connection::open(&theirs).unwrap(), &format!("SELECT name FROM pragma_table_xinfo('{table}')"));
            let (first, last) = (quoted_name(&columns[0]), quoted_name(columns.last().unwrap()));
            let name = quoted_name(&table);
            let new = |number: u32| quoted_name(&format!("new {table} {number}"));
            let statements = [
                format!("CREATE INDEX {} ON {name} ({last} DESC, {first})", new(1)),
                format!("CREATE INDEX {} ON {name} ({last} COLLATE NOCASE)", new(2)),
                format!("CREATE INDEX {} ON {name} (length({last})) WHERE {first} IS NOT NULL", new(3)),
            ];
            let our = index(&ours, &statements, &IndexOptions::default().build(Options::default().sync(Sync::Off)));
            let their = run(&theirs, &format!("BEGIN; {}; COMMIT", statements.join("; ")));
            assert_both(&our, &their, &format!("{what}: {table}"));
        }
        judged.assert_same(&ours, &theirs, &format!("{what}: index"));
        for table in program.tables(&theirs) {
            let our = reindex(&ours, &[&table], &IndexOptions::default().build(Options::default().sync(Sync::Off)));
            let their = run(&theirs, &format!("REINDEX {}", quoted_name(&table)));
            // SQLite looks for the collation of a WITHOUT ROWID table even if there is nothing to make.
            if our.as_ref().is_ok_and(|report| !report.done.indexes.is_empty()) || their.is_ok() {
                assert_both(&our, &their, &format!("{what}: {table}"));
            }
        }
        judged.assert_same(&ours, &theirs, &format!("{what}: reindex"));
        let our = reindex(&ours, &[""; 0], &IndexOptions::default().build(Options::default().sync(Sync::Off)));
        assert_both(&our, &run(&theirs, "REINDEX"), &format!("{what}: reindex of all"));
        judged.assert_same(&ours, &theirs, &format!("{what}: reindex of all"));
    }
}

#[test]
fn copies_are_as_the_databases() {
    let folder = Folder::new();
    // Dropped before the folder.
    let mut judged = Judged::default();
    for program in Program::all() {
        let what = program.name.clone();
        let [ours, theirs, small, dense] =
            ["ours", "theirs", "small", "dense"].map(|who| folder.join(&file(&what, who)));
        program.make(&theirs, "", &[1], ROWS);
        for table in program.tables(&theirs) {
            // Triggers may call functions of the program, and WITHOUT ROWID tables have no rowids.
            let _ = run(&theirs, &format!("DELETE FROM {} WHERE rowid % 5 = 0", quoted_name(&table)));
        }
        copy(&theirs, &ours);
        compact(&theirs, Some((&*dense).into()), &CompactOptions::default().build(Options::default().sync(Sync::Off)))
            .unwrap();
        judged.assert_same(&dense, &theirs, &format!("{what}: compact"));
        let quick = || Options::default().sync(Sync::Off);
        let options = CompactOptions::default().build(quick().page_size(PageSize::new(1024).unwrap()));
        compact(&theirs, Some((&*small).into()), &options).unwrap();
        judged.assert_same(&small, &theirs, &format!("{what}: compact with small pages"));
        compact(&ours, None, &CompactOptions::default().build(quick())).unwrap();
        judged.assert_same(&ours, &theirs, &format!("{what}: compact in place"));
        let [ours, theirs] = [&dense, &theirs].map(|path| Connection::open(path).unwrap());
        for pragma in ["auto_vacuum", "page_size", "journal_mode"] {
            assert_same_rows(&ours, &theirs, &format!("PRAGMA {pragma}"), &what);
        }
        // With auto-vacuum, small tables with long values leave a page each.
        let free = integer(&ours, "PRAGMA freelist_count");
        let most = if integer(&ours, "PRAGMA auto_vacuum") > 0 { 9 } else { 0 };
        assert!(free <= most, "{what}: {free} free pages");
    }
}

#[test]
fn shards_become_one_database() {
    let folder = Folder::new();
    // Dropped before the folder.
    let mut judged = Judged::default();
    for program in Program::all() {
        let what = program.name.clone();
        let [ours, theirs, one, two] = ["ours", "theirs", "one", "two"].map(|who| folder.join(&file(&what, who)));
        program.make(&one, "", &[1], ROWS);
        program.make(&two, "", &[ROWS + 1], ROWS);
        program.make(&theirs, "", &[1, ROWS + 1], ROWS);
        let merged = merge(&*ours, [&one, &two], &rowid_policies(&program, &one));
        if what == "anki" {
            // SQLite has no way to order its keys, either.
            let error = merged.unwrap_err().to_string();
            assert!(error.contains("no such collation sequence: unicase"), "{error}");
            continue;
        }
        merged.unwrap_or_else(|error| panic!("{what}: {error}"));
        judged.assert_same(&ours, &theirs, &format!("{what}: merge"));
    }
}

/// Returns options that give rows new rowids, if no column holds them. Virtual tables refer to the others.
fn rowid_policies(program: &Program, shard: &Path) -> MergeOptions {
    let sqlite = Connection::open(shard).unwrap();
    let of_kind = |kind: &str| {
        texts(&sqlite, &format!("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = '{kind}'"))
    };
    let keep = |options: MergeOptions, table: String| options.table_rowids(table, RowidPolicy::Keep);
    let options =
        of_kind("virtual").into_iter().fold(MergeOptions::default().build(Options::default().sync(Sync::Off)), keep);
    let has_hidden = |table: &String| {
        let alias =
            format!("SELECT count(*) = 1 AND max(type) LIKE 'INTEGER' FROM pragma_table_info('{table}') WHERE pk");
        let has_rowid = format!("SELECT NOT wr FROM pragma_table_list('{table}')");
        integer(&sqlite, &alias) == 0 && integer(&sqlite, &has_rowid) > 0
    };
    let renumber = |options: MergeOptions, table: String| options.table_rowids(table, RowidPolicy::Renumber);
    program.tables(shard).into_iter().filter(has_hidden).fold(options, renumber)
}
