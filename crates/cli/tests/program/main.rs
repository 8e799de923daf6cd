//! The program as a user runs it: arguments in, exit code, text and files out.

mod append;
mod bad_input;
mod check;
mod compact;
mod copies;
mod display;
mod dry_run;
mod errors_page;
mod existing_target;
mod full_text;
mod gdal;
mod generate;
mod geopackage;
mod go;
mod guide;
mod help;
mod index;
mod inspect;
mod interrupt;
mod json_shapes;
mod keys;
mod killed;
mod kinds;
mod load;
mod merge;
mod numbers;
mod plan;
mod presets;
mod profile;
mod readme;
mod recipe;
mod rejects;
mod shards;
mod shells;
mod split;
mod tutorials;
mod usage;
mod values;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The program under test.
const LITEPRESS: &str = env!("CARGO_BIN_EXE_litepress");

/// A temporary folder to run the program in.
struct Room(tempfile::TempDir);

/// The result of a run.
#[derive(Debug)]
struct Ended {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Room {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    /// Makes a room with this text in `schema.sql`.
    fn with_schema(sql: &str) -> Self {
        let room = Self::new();
        room.write("schema.sql", sql);
        room
    }

    fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).expect(name);
    }

    /// Returns a command that runs the program in this folder. Arguments are split at blanks.
    fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(LITEPRESS);
        command.args(arguments.split_whitespace()).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &str) -> Ended {
        self.command(arguments).output().expect("the program starts").into()
    }

    /// Runs the program, asserts success, and returns its standard output.
    fn done(&self, arguments: &str) -> String {
        let ended = self.run(arguments);
        assert_eq!(ended.code, Some(0), "{arguments}: {ended:#?}");
        ended.out
    }

    /// Returns the names of all files in the folder, sorted.
    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("the folder");
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<String> = entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn sqlite(&self, name: &str) -> rusqlite::Connection {
        rusqlite::Connection::open(self.path(name)).expect(name)
    }

    /// Returns the result of a query, one row a line, columns joined with `|`.
    fn query(&self, name: &str, sql: &str) -> String {
        let connection = self.sqlite(name);
        let mut statement = connection.prepare(sql).expect(sql);
        let columns = statement.column_count();
        let row = |row: &rusqlite::Row<'_>| {
            let value = |column| match row.get_ref(column)? {
                rusqlite::types::ValueRef::Null => Ok("NULL".to_owned()),
                rusqlite::types::ValueRef::Integer(value) => Ok(value.to_string()),
                rusqlite::types::ValueRef::Real(value) => Ok(value.to_string()),
                rusqlite::types::ValueRef::Text(text) => Ok(String::from_utf8_lossy(text).into_owned()),
                rusqlite::types::ValueRef::Blob(bytes) => Ok(format!("{} bytes", bytes.len())),
            };
            Ok((0..columns).map(value).collect::<rusqlite::Result<Vec<String>>>()?.join("|"))
        };
        let rows = statement.query_map([], row).expect(sql);
        rows.collect::<rusqlite::Result<Vec<String>>>().expect(sql).join("\n")
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).expect("UTF-8"),
            err: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect(text)
}
