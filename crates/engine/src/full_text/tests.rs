use super::{FullTextBuilder, FullTextTrees, TextRows};
use crate::output::Output;
use crate::{Database, Options, Schema, Target};
use litepress_format::page::PageSize;
use litepress_format::record::write_record;
use litepress_format::value::Value;
use litepress_rows::sync::{Mutex, lock};
use litepress_rows::{Part, RecordChunk, Result, RowidOrder, Source};
use rusqlite::{Connection, MAIN_DB};

/// Texts as rows of a table, with rowids from 1 on.
struct Texts<'t> {
    rows: &'t [Vec<String>],
    /// The table has an INTEGER PRIMARY KEY in front.
    has_key: bool,
    rows_per_part: usize,
    next: Mutex<usize>,
}

impl<'t> Texts<'t> {
    fn new(rows: &'t [Vec<String>], has_key: bool, rows_per_part: usize) -> Self {
        Self { rows, has_key, rows_per_part, next: Mutex::new(0) }
    }
}

impl Source for Texts<'_> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let mut next = lock(&self.next);
        let first = *next;
        *next = (first + self.rows_per_part).min(self.rows.len());
        let rows = &self.rows[first..*next];
        Ok((!rows.is_empty()).then(|| Box::new(TextPart { rows, first, has_key: self.has_key }) as Box<dyn Part>))
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows.len() as u64)
    }

    fn rowid_order(&self) -> RowidOrder {
        RowidOrder::Ascending
    }

    fn page_bytes(&self) -> f64 {
        100.0
    }
}

struct TextPart<'t> {
    rows: &'t [Vec<String>],
    first: usize,
    has_key: bool,
}

impl Part for TextPart<'_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        chunk.set_first_record(self.first as u64 + 1);
        let mut record = Vec::new();
        while let Some((row, rest)) = self.rows.split_first().filter(|_| !chunk.is_full()) {
            let key = self.has_key.then_some(Value::Null);
            let values: Vec<Value<'_>> = key.into_iter().chain(row.iter().map(|text| text.as_str().into())).collect();
            record.clear();
            write_record(&values, &mut record);
            self.first += 1;
            chunk.push(i64::try_from(self.first).unwrap(), &record);
            self.rows = rest;
        }
        Ok(())
    }
}

/// Makes rows of words, some frequent and most rare.
fn rows(count: usize, columns: usize) -> Vec<Vec<String>> {
    let mut seed = 7_u64;
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut text = |number: usize| {
        let words = (0..number % 50).map(|_| match random(4) {
            0 => "the".to_owned(),
            1 => format!("Wörter{}", random(30)),
            _ => format!("{:x}", random(1000) * random(1000)),
        });
        words.collect::<Vec<String>>().join(" ")
    };
    (0..count).map(|number| (0..columns).map(|_| text(number)).collect()).collect()
}

/// Builds a database whose table `filled` has these rows, on some threads and with parts of some size.
fn build(sql: &str, filled: &str, texts: &[Vec<String>], threads: usize, rows_per_part: usize) -> Vec<u8> {
    let schema = Schema::from_sql(sql, "<test>").unwrap();
    let index = schema.position(filled).unwrap();
    let has_key = schema.tables[index].rowid_alias.is_some();
    let options = Options::default().threads(threads).memory_bytes(64 << 20).analyze(true);
    let mut database = Database::create(&Target::Memory, schema, &options).unwrap();
    database.expect(&[index]);
    database.fill(index, &Texts::new(texts, has_key, rows_per_part)).unwrap();
    let finished = database.finish().unwrap();
    let phase = options.progress.phase();
    assert!(phase.number == phase.count, "{sql}: {phase:?}");
    finished.bytes.unwrap()
}

fn open(bytes: &[u8]) -> Connection {
    let mut db = Connection::open_in_memory().unwrap();
    db.deserialize_read_exact(MAIN_DB, bytes, bytes.len(), false).unwrap();
    db
}

/// Returns what SQLite makes of the rows in one transaction.
fn by_sqlite(sql: &str, filled: &str, texts: &[Vec<String>], is_external: bool) -> Connection {
    let db = Connection::open_in_memory().unwrap();
    // A trigger would flush every row.
    let trigger = sql.find("CREATE TRIGGER copies").map(|at| sql.split_at(at));
    db.execute_batch(trigger.map_or(sql, |(tables, _)| tables)).unwrap();
    db.execute_batch("INSERT INTO t(t, rank) VALUES('hashsize', 1000000000); BEGIN").unwrap();
    let names: Vec<String> = db
        .prepare("SELECT name FROM pragma_table_info(?) WHERE name <> 'id'")
        .unwrap()
        .query_map([filled], |row| row.get(0))
        .unwrap()
        .map(rusqlite::Result::unwrap)
        .collect();
    let marks = vec!["?"; names.len()].join(",");
    let names = names.join(",");
    let mut insert = db.prepare(&format!("INSERT INTO {filled}(rowid, {names}) VALUES (?, {marks})")).unwrap();
    for (rowid, row) in (1..).zip(texts) {
        insert.raw_bind_parameter(1, rowid).unwrap();
        (2..).zip(row).for_each(|(at, text)| insert.raw_bind_parameter(at, text).unwrap());
        insert.raw_execute().unwrap();
    }
    drop(insert);
    if let Some((_, trigger)) = trigger {
        db.execute_batch(&format!("INSERT INTO t(rowid, b, a) SELECT rowid, b, a FROM {filled}; {trigger}")).unwrap();
    }
    db.execute_batch("COMMIT").unwrap();
    if is_external && trigger.is_none() {
        db.execute_batch("INSERT INTO t(t) VALUES('rebuild')").unwrap();
    }
    db.execute_batch("INSERT INTO t(t) VALUES('optimize'); ANALYZE").unwrap();
    db
}

/// Returns all rows of the shadow tables, without what follows from a setting of `hashsize`.
fn shadow_rows(db: &Connection) -> Vec<String> {
    let mut all = Vec::new();
    for table in ["content", "docsize", "data", "idx", "config"] {
        let sql = match table {
            "data" => {
                "SELECT id, CASE id WHEN 10 THEN substr(block, 5) ELSE block END FROM t_data ORDER BY id".to_owned()
            }
            "config" => "SELECT * FROM t_config WHERE k <> 'hashsize'".to_owned(),
            table => format!("SELECT * FROM t_{table} ORDER BY 1, 2"),
        };
        let Ok(mut statement) = db.prepare(&sql) else { continue };
        let columns = statement.column_count();
        let rows = statement.query_map([], |row| {
            let values: Vec<rusqlite::types::Value> =
                (0..columns).map(|at| row.get(at)).collect::<rusqlite::Result<_>>()?;
            Ok(format!("{table} {values:?}"))
        });
        all.extend(rows.unwrap().map(rusqlite::Result::unwrap));
    }
    all
}

fn statistics(db: &Connection) -> Vec<String> {
    let sql = "SELECT quote(tbl) || quote(idx) || quote(stat) FROM sqlite_stat1 WHERE tbl <> 't_config' ORDER BY 1";
    let mut statement = db.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(rusqlite::Result::unwrap).collect()
}

fn check(sql: &str, filled: &str, texts: &[Vec<String>]) {
    let is_external = filled != "t";
    let expected = by_sqlite(sql, filled, texts, is_external);
    let bytes = build(sql, filled, texts, 3, 40);
    let db = open(&bytes);
    let (ours, theirs) = (shadow_rows(&db), shadow_rows(&expected));
    for (our, their) in ours.iter().zip(&theirs) {
        assert!(our == their, "{sql}\n{}\n{}", &our[..our.len().min(300)], &their[..their.len().min(300)]);
    }
    assert_eq!(ours.len(), theirs.len(), "{sql}");
    assert_eq!(statistics(&db), statistics(&expected), "{sql}");
    for threads in [1, 2] {
        // The bytes depend on the parts alone.
        assert!(build(sql, filled, texts, threads, 40) == bytes, "{sql}: {threads} threads");
    }
    let schema = |db: &Connection| {
        let sql = "SELECT group_concat(type || name || coalesce(sql, ''), ';') FROM sqlite_schema WHERE name NOT LIKE 'sqlite%'";
        db.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap()
    };
    assert_eq!(schema(&db), schema(&expected));
    db.execute_batch("INSERT INTO t(t) VALUES('integrity-check')").unwrap();
    let sound: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok", "{sql}");
    // SQLite goes on with it.
    let columns = db.prepare("SELECT * FROM t LIMIT 0").unwrap().column_names().collect::<Vec<_>>().join(",");
    let marks = vec!["'the newest words'"; columns.split(',').count()].join(",");
    db.execute(&format!("INSERT INTO t(rowid, {columns}) VALUES (1000000, {marks})"), []).unwrap();
    db.execute_batch("INSERT INTO t(t) VALUES('optimize')").unwrap();
    if !is_external {
        db.execute_batch("INSERT INTO t(t) VALUES('integrity-check')").unwrap();
    }
}

#[test]
fn tables_with_and_without_texts() {
    let texts = rows(700, 2);
    for options in [
        "",
        ", tokenize='porter ascii', prefix='1 3'",
        ", tokenize=trigram, detail=none",
        ", detail=column, columnsize=0",
        ", content=''",
        ", content='', contentless_delete=1",
        ", content='', columnsize=0, detail=none",
        ", locale=1",
    ] {
        check(&format!("CREATE VIRTUAL TABLE t USING fts5(a, b{options})"), "t", &texts);
    }
    check("CREATE VIRTUAL TABLE t USING fts5(a UNINDEXED, b)", "t", &texts);
    check("CREATE VIRTUAL TABLE t USING fts5(a UNINDEXED, b, content='', contentless_unindexed=1)", "t", &texts);
    check("CREATE VIRTUAL TABLE t USING fts5(a, b)", "t", &vec![vec![String::new(); 2]; 3]);
}

/// Options that are set by an INSERT were refused in schemas. The size of leaves changes every byte of the index.
#[test]
fn options_of_a_table_hold_in_its_index() {
    let texts = rows(300, 2);
    let set = |option: &str| format!("INSERT INTO t(t, rank) VALUES {option}");
    for (options, settings) in [
        ("", set("('rank', 'bm25(10.0, 5.0)'), ('automerge', 8)")),
        ("", set("('pgsz', 64)")),
        (", detail=none, prefix=2", set("('pgsz', 100)")),
        (", tokenize=trigram, detail=column", set("('pgsz', 1000)")),
        (", content='', contentless_delete=1", set("('pgsz', 20000), ('secure-delete', 0)")),
    ] {
        check(&format!("CREATE VIRTUAL TABLE t USING fts5(a, b{options}); {settings}"), "t", &texts);
    }
    let db = open(&build(
        &format!("CREATE VIRTUAL TABLE t USING fts5(a, b); {}", set("('rank', 'bm25(10.0)'), ('pgsz', 64)")),
        "t",
        &texts,
        2,
        40,
    ));
    let cookie = "SELECT hex(substr(block, 1, 4)) FROM t_data WHERE id = 10";
    assert_eq!(db.query_row(cookie, [], |row| row.get::<_, String>(0)).unwrap(), "00000002");
    // SQLite makes leaves that are too large for litepress.
    let large = format!("CREATE VIRTUAL TABLE t USING fts5(a, b); {}", set("('pgsz', 60000)"));
    let db = open(&build(&large, "t", &texts, 2, 40));
    let size: i64 = db.query_row("SELECT v FROM t_config WHERE k = 'pgsz'", [], |row| row.get(0)).unwrap();
    assert_eq!(size, 60_000);
    db.execute_batch("INSERT INTO t(t) VALUES('integrity-check')").unwrap();
}

/// An external content table stayed empty until someone asked for a rebuild, which SQLite makes with one thread.
#[test]
fn texts_in_another_table() {
    let texts = rows(900, 3);
    let docs = "CREATE TABLE docs (id INTEGER PRIMARY KEY, a TEXT, n, b TEXT); CREATE INDEX by_n ON docs (n);";
    for table in [
        "CREATE VIRTUAL TABLE t USING fts5(b, a, content='docs', content_rowid='id')",
        "CREATE VIRTUAL TABLE t USING fts5(id, a UNINDEXED, b, content=docs, content_rowid=id, detail=none)",
    ] {
        check(&format!("{docs}{table}"), "docs", &texts);
    }
    let bare = "CREATE TABLE docs (a TEXT, n, b TEXT); CREATE TRIGGER new AFTER INSERT ON docs BEGIN
        INSERT INTO t(rowid, a) VALUES (new.rowid, new.a); END;";
    let sql = format!("CREATE VIRTUAL TABLE t USING fts5(a, content='docs'); {bare}");
    let bytes = build(&sql, "docs", &texts, 2, 50);
    let db = open(&bytes);
    db.execute_batch("INSERT INTO t(t, rank) VALUES('integrity-check', 1); INSERT INTO docs(a) VALUES ('afterwards')")
        .unwrap();
    let found: i64 = db.query_row("SELECT rowid FROM t('afterwards')", [], |row| row.get(0)).unwrap();
    assert_eq!(found, 901);
}

/// A trigger that copies texts did not run while rows were loaded, and its full-text table stayed empty.
#[test]
fn texts_that_a_trigger_copies() {
    let texts = rows(600, 3);
    for (table, key, options) in
        [("docs", "id", ""), ("docs", "rowid", ", locale=1"), ("bare", "oid", ", prefix=2, detail=column")]
    {
        let columns = if table == "docs" { "id INTEGER PRIMARY KEY, a TEXT, n, b TEXT" } else { "a TEXT, n, b TEXT" };
        let sql = format!(
            "CREATE TABLE {table} ({columns}); CREATE VIRTUAL TABLE t USING fts5(b, a{options});
             CREATE TRIGGER copies AFTER INSERT ON {table} BEGIN
                INSERT INTO t(rowid, a, b) VALUES (new.{key}, new.a, new.b); END"
        );
        check(&sql, table, &texts);
    }
    // SQLite fills the table because of its ON CONFLICT clause, and then the copy.
    let sql =
        "CREATE TABLE docs (id INTEGER PRIMARY KEY ON CONFLICT REPLACE, a TEXT); CREATE VIRTUAL TABLE t USING fts5(a);
        CREATE TRIGGER copies AFTER INSERT ON docs BEGIN INSERT INTO t(rowid, a) VALUES (new.id, new.a); END";
    let db = open(&build(sql, "docs", &rows(50, 1), 2, 10));
    db.execute_batch("INSERT INTO t(t) VALUES('integrity-check')").unwrap();
    let [copied, all] = ["t", "docs"].map(|table| {
        let sql = format!("SELECT group_concat(rowid || a, ';') FROM (SELECT rowid, a FROM {table} ORDER BY 1)");
        db.query_row(&sql, [], |row| row.get::<_, String>(0)).unwrap()
    });
    assert_eq!(copied, all);
}

/// Only SQLite can read a view, or a column that is computed.
#[test]
fn texts_that_sqlite_reads() {
    let texts = rows(50, 1);
    let docs = "CREATE TABLE docs (id INTEGER PRIMARY KEY, a TEXT);";
    let computed = "CREATE TABLE docs (id INTEGER PRIMARY KEY, a TEXT, b AS (a || a));";
    for sql in [
        format!(
            "{docs} CREATE VIEW v AS SELECT id, a FROM docs; CREATE VIRTUAL TABLE t USING fts5(a, content='v', content_rowid='id')"
        ),
        format!("{computed} CREATE VIRTUAL TABLE t USING fts5(a, b, content='docs', content_rowid='id')"),
    ] {
        let db = open(&build(&sql, "docs", &texts, 2, 10));
        db.execute_batch("INSERT INTO t(t, rank) VALUES('integrity-check', 1)").unwrap();
        let found: i64 = db.query_row("SELECT count(*) FROM t('the')", [], |row| row.get(0)).unwrap();
        assert!(found > 10, "{sql}: {found}");
    }
    let missing =
        "CREATE TABLE docs (id INTEGER PRIMARY KEY, a TEXT); CREATE VIRTUAL TABLE t USING fts5(a, content='none')";
    let db = open(&build(missing, "docs", &texts, 1, 10));
    assert_eq!(db.query_row("SELECT count(*) FROM t_data", [], |row| row.get::<_, i64>(0)).unwrap(), 2);
}

#[test]
fn a_table_without_rows() {
    for sql in [
        "CREATE VIRTUAL TABLE t USING fts5(a)",
        "CREATE VIRTUAL TABLE t USING fts5(a, content='', contentless_delete=1)",
    ] {
        let schema = Schema::from_sql(sql, "<test>").unwrap();
        let finished = Database::create(&Target::Memory, schema, &Options::default()).unwrap().finish().unwrap();
        let (db, expected) = (open(&finished.bytes.unwrap()), Connection::open_in_memory().unwrap());
        expected.execute_batch(sql).unwrap();
        assert_eq!(shadow_rows(&db), shadow_rows(&expected));
        db.execute_batch("INSERT INTO t VALUES ('first words'); INSERT INTO t(t) VALUES('integrity-check')").unwrap();
    }
}

/// Returns texts of about 1,000 characters: the sources of this workspace.
fn sources() -> Vec<Vec<String>> {
    let mut folders = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|kind| kind == "rs") => files.push(path),
                false => {}
            }
        }
    }
    files.sort();
    let mut documents = Vec::new();
    for text in files.iter().map(|path| std::fs::read_to_string(path).unwrap()) {
        let mut document = String::new();
        for line in text.lines() {
            document.push_str(line);
            document.push('\n');
            if document.len() >= 1000 {
                documents.push(vec![std::mem::take(&mut document)]);
            }
        }
    }
    documents
}

/// Builds the shadow tables of a full-text table with some memory. Returns the pages, and what is known of them.
fn build_with_memory(sql: &str, texts: &[Vec<String>], memory_bytes: u64) -> (Vec<u8>, FullTextTrees) {
    let schema = Schema::from_sql(sql, "<test>").unwrap();
    let table = schema.table("t").unwrap();
    let options = Options::default().threads(2);
    let mut output = Output::open(&Target::Memory, PageSize::DEFAULT, &options, |sink| sink).unwrap();
    let mut builder = FullTextBuilder::new(&schema, table, &mut output, &options).unwrap();
    builder.memory_bytes = memory_bytes;
    let trees = builder.build(TextRows::Given(&Texts::new(texts, false, 100))).unwrap();
    output.pages.finish(&[0; PageSize::DEFAULT.bytes()]).unwrap();
    (output.pages.take_bytes().unwrap(), trees)
}

/// An index larger than memory goes through a temporary file, at most half as large as the texts.
#[test]
fn segments_that_do_not_fit_the_memory_are_spilled() {
    let texts = sources();
    let text_bytes: usize = texts.iter().flatten().map(String::len).sum();
    assert!(text_bytes > 2 << 20, "{text_bytes}");
    for options in ["", ", detail=none, tokenize=porter", ", content='', contentless_delete=1, prefix=3"] {
        let sql = format!("CREATE VIRTUAL TABLE t USING fts5(a{options})");
        let (bytes, trees) = build_with_memory(&sql, &texts, 1 << 30);
        assert_eq!(trees.spilled_bytes, 0);
        let (spilled, spilled_trees) = build_with_memory(&sql, &texts, 0);
        assert!(spilled == bytes, "{sql}: a spilled index is another one");
        assert_eq!((spilled_trees.rows, &spilled_trees.roots), (trees.rows, &trees.roots));
        let share = spilled_trees.spilled_bytes as f64 / text_bytes as f64;
        let most = if options.contains("prefix") { 1.0 } else { 0.5 };
        assert!((0.05..most).contains(&share), "{sql}: the temporary file is {share} of the texts");
    }
}
