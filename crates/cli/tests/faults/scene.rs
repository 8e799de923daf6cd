//! Small runs of all commands, and what may be left of their targets.

use litepress_crashlab::content::{Content, content};
use litepress_crashlab::kill::listing;
use rusqlite::Connection;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The program under test.
const LITEPRESS: &str = env!("CARGO_BIN_EXE_litepress");

/// A run of the program in the folder `work`, where `app.db` and `old.db` are.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    pub name: &'static str,
    /// Arguments between blanks. A middle dot is a blank within one.
    arguments: &'static str,
    /// The database that it makes or changes.
    target: &'static str,
}

const fn makes(name: &'static str, arguments: &'static str) -> Operation {
    Operation { name, arguments, target: "out.db" }
}

const fn changes(name: &'static str, target: &'static str, arguments: &'static str) -> Operation {
    Operation { name, arguments, target }
}

pub const OPERATIONS: [Operation; 18] = [
    makes("generate", "generate out.db ../shop.sql --rows 300 --seed 1"),
    changes("generate --overwrite", "old.db", "generate old.db ../shop.sql --rows 300 --seed 1 --overwrite"),
    makes("load CSV", "load out.db ../event.csv --primary-key id --index day,area --analyze"),
    makes("load gzip", "load out.db ../event.csv.gz --primary-key id --without-rowid --index note"),
    makes("load NDJSON", "load out.db ../event.ndjson --table event --on-error reject --rejects rejects.csv"),
    makes("load SQLite", "load out.db app.db"),
    makes("load objects", "load out.db ../mail.csv ../place.csv --schema ../objects.sql --verify full"),
    changes("load --overwrite", "old.db", "load old.db ../event.csv --overwrite"),
    changes("load --replace-tables", "old.db", "load old.db ../event.csv --table side --replace-tables"),
    changes("append, edge", "app.db", "load app.db ../event.csv --append --table event"),
    changes("append, sql", "app.db", "load app.db ../audited.csv --append --table audited"),
    changes("upsert", "app.db", "load app.db ../event.csv --append --table event --on-conflict update"),
    changes(
        "index",
        "app.db",
        "index app.db CREATE·INDEX·areas·ON·event·(area,day) CREATE·UNIQUE·INDEX·notes·ON·event·(note,id)·WHERE·area>3",
    ),
    changes("compact in place", "app.db", "compact app.db"),
    makes("compact to a copy", "compact app.db out.db --page-size 1024"),
    makes("merge", "merge out.db old.db ../old.db --rowids renumber"),
    changes("check", "app.db", "check app.db"),
    changes("check --full", "app.db", "check app.db --full"),
];

/// A run with temporary files: the sorts of its indexes do not fit the memory.
pub const SPILLING: Operation =
    makes("generate, spilling", "generate out.db ../spilling.sql --rows 40000 --seed 1 --memory 64MiB");

const APP: &str = "
    CREATE TABLE event (id INTEGER PRIMARY KEY, day TEXT, area INTEGER, note TEXT COLLATE NOCASE);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
    INSERT INTO event SELECT i, date('2024-01-01', (i % 300) || ' days'), i % 17, 'Note ' || i FROM n;
    CREATE INDEX event_day ON event (day);
    CREATE TABLE side (id INTEGER PRIMARY KEY); CREATE VIEW v AS SELECT day FROM event;";
const MORE: &str = "
    CREATE TABLE audited (id INTEGER PRIMARY KEY, v REAL); CREATE TABLE log (line TEXT);
    CREATE TRIGGER logged AFTER INSERT ON audited BEGIN INSERT INTO log VALUES ('added ' || new.id); END;
    CREATE TABLE filler (x); INSERT INTO filler SELECT zeroblob(900) FROM event; DELETE FROM filler;";
const SHOP: &str = "
    CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
    CREATE TABLE purchase (number INTEGER, customer INTEGER REFERENCES customer, price REAL, PRIMARY KEY (number)) WITHOUT ROWID;
    CREATE INDEX purchases ON purchase (customer, price); CREATE UNIQUE INDEX names ON customer (lower(name), id);";
const OBJECTS: &str = "
    CREATE TABLE mail (id INTEGER PRIMARY KEY, subject TEXT, size INT CHECK (size >= 0), twice INT AS (size * 2) STORED);
    CREATE INDEX subjects ON mail (lower(subject)); CREATE INDEX large ON mail (size) WHERE size > 400;
    CREATE VIRTUAL TABLE found USING fts5(subject, content='mail', content_rowid='id');
    CREATE VIRTUAL TABLE place USING rtree(id, left, right, low, high);";

/// A folder with databases and files. Runs happen in its folder `work`.
pub struct Scene {
    folder: tempfile::TempDir,
    operation: Operation,
    before: Picture,
    after: Picture,
    /// Names of the files of `work` after a whole run.
    names: Vec<String>,
}

/// A database: its bytes, and its content as SQLite sees it. `None` if there is none.
type Picture = Option<(Vec<u8>, Content)>;

/// The state of the target after a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    Before,
    After,
    /// Nothing tells them apart.
    Same,
}

impl Scene {
    /// Makes the files and runs the operation once, to its end.
    pub fn new(operation: Operation) -> Self {
        let folder = litepress_crashlab::fast_folder().expect("a temporary folder");
        let mut scene = Self { folder, operation, before: None, after: None, names: Vec::new() };
        scene.write_files();
        scene.begin();
        scene.before = scene.picture();
        let output = scene.command().output().expect("the program");
        assert!(output.status.success(), "{}: {output:?}", operation.name);
        scene.after = scene.picture();
        scene.names = scene.left();
        scene
    }

    fn write_files(&self) {
        let write = |name: &str, text: &str| fs::write(self.folder.path().join(name), text).expect("a file");
        for (name, sql) in [("app.db", format!("{APP} {MORE}")), ("old.db", APP.to_owned())] {
            let database = Connection::open(self.folder.path().join(name)).expect("a database");
            database.execute_batch(&sql).expect("its content");
        }
        let lines = |head: &str, rows: u32, row: &dyn Fn(u32) -> String| {
            (0..rows).fold(head.to_owned(), |mut text, number| {
                writeln!(text, "{}", row(number)).expect("room for a row");
                text
            })
        };
        let event = |n| format!("{},2025-01-{:02},{},New {n}", 601 + n, n % 28, n % 9);
        write("event.csv", &lines("id,day,area,note\n", 900, &event));
        let zip = Command::new("gzip").args(["-k", "event.csv"]).current_dir(self.folder.path()).status();
        assert!(zip.is_ok_and(|status| status.success()), "gzip is installed");
        let json =
            |n| if n % 100 == 7 { "{broken".to_owned() } else { format!("{{\"id\": {n}, \"v\": \"text {n}\"}}") };
        write("event.ndjson", &lines("", 500, &json));
        write("audited.csv", &lines("v\n", 200, &|n| format!("{n}.5")));
        write(
            "mail.csv",
            &lines("id,subject,size\n", 400, &|n| format!("{n},word{} and Word{},{}", n % 97, n % 31, 2 * n)),
        );
        let place = |n| format!("{n},{0},{0}.5,{1},{1}", n % 360, n % 179);
        write("place.csv", &lines("id,left,right,low,high\n", 200, &place));
        write("shop.sql", SHOP);
        write("objects.sql", OBJECTS);
        let spilling = (0..15).fold("CREATE TABLE t (a INT, b TEXT, c REAL);".to_owned(), |mut sql, number| {
            write!(sql, "CREATE INDEX i{number} ON t ({});", ["a, b", "b DESC", "c, a"][number % 3]).expect("room");
            sql
        });
        write("spilling.sql", &spilling);
    }

    /// Makes the folder `work` anew, with the databases.
    pub fn begin(&self) {
        let _ = fs::remove_dir_all(self.work(""));
        fs::create_dir(self.work("")).expect("a folder");
        self.fill();
    }

    /// Removes the files of the folder `work`, and copies the databases there.
    pub fn fill(&self) {
        for name in self.left() {
            fs::remove_file(self.work(&name)).expect("a file that can be removed");
        }
        for name in ["app.db", "old.db"] {
            fs::copy(self.folder.path().join(name), self.work(name)).expect("a copy");
        }
    }

    /// Returns the size of the files of the folder `work`, in whole pages of memory.
    pub fn kib(&self) -> u64 {
        let files = listing(&self.work("")).expect("a folder");
        files.iter().map(|(_, bytes)| bytes.next_multiple_of(4096) / 1024).sum()
    }

    pub fn work(&self, name: &str) -> PathBuf {
        self.folder.path().join("work").join(name)
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(LITEPRESS);
        command.args(self.operation.arguments.split_whitespace().map(|argument| argument.replace('·', " ")));
        command.args(["--threads", "2"]).env("RUST_BACKTRACE", "0");
        command.current_dir(self.work("")).stdin(Stdio::null());
        command
    }

    fn left(&self) -> Vec<String> {
        listing(&self.work("")).expect("a folder").into_iter().map(|(name, _)| name).collect()
    }

    fn picture(&self) -> Picture {
        let path = self.work(self.operation.target);
        path.exists().then(|| (fs::read(&path).expect("its bytes"), content(&path).expect("a sound database")))
    }

    /// Returns the state of the target. Files that do not belong there are those of SQLite, which recovers them here, or are removed
    /// by the next run.
    pub fn state(&self) -> Result<State, String> {
        let (path, same) = (self.work(self.operation.target), self.before == self.after);
        let bytes = path.exists().then(|| fs::read(&path).map_err(|error| error.to_string())).transpose()?;
        let is_alone = self.left().iter().all(|name| self.names.contains(name));
        let has_bytes = |picture: &Picture| bytes.as_ref() == picture.as_ref().map(|(bytes, _)| bytes);
        let state = if bytes.is_none() {
            self.before.is_none().then_some(State::Before).ok_or("the target is gone")?
        } else if is_alone && has_bytes(&self.before) {
            State::Before
        } else if is_alone && has_bytes(&self.after) {
            State::After
        } else {
            let found = Some(content(&path)?);
            let is_content = |picture: &Picture| picture.as_ref().map(|(_, content)| *content) == found;
            match (is_content(&self.before), is_content(&self.after)) {
                (true, true) => State::Same,
                (true, false) => State::Before,
                (false, true) => State::After,
                (false, false) => return Err("the target is neither as before nor as after".to_owned()),
            }
        };
        Ok(if same { State::Same } else { state })
    }

    /// Returns whether only files of a whole run are there, after the next run if need be. `state` is that of the target.
    pub fn check_files(&self, state: State) -> Result<bool, String> {
        let is_clean = |scene: &Self| scene.left().iter().all(|name| scene.names.contains(name));
        if is_clean(self) {
            return Ok(true);
        }
        let left = self.left();
        let run = |command: &mut Command| command.output().map_err(|error| error.to_string());
        let mut command = self.command();
        if state == State::After && self.operation.target == "out.db" {
            command.arg("--overwrite");
        }
        let output = run(&mut command)?;
        if state != State::After && !output.status.success() {
            return Err(format!("the next run fails: {output:?}"));
        }
        if is_clean(self) { Ok(false) } else { Err(format!("the next run leaves {:?} of {left:?}", self.left())) }
    }
}
