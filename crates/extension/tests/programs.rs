//! The extension in other SQLites: that of Debian, of Python, Ruby, Node and Datasette. Absent ones are skipped aloud.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder with the library under the name that users know.
struct Room {
    folder: TempDir,
}

impl Room {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let built = std::env::current_exe().expect("a program").with_file_name("liblitepress_extension.so");
        std::os::unix::fs::symlink(built, folder.path().join("litepress.so")).expect("a link");
        let room = Self { folder };
        room.file("trips.csv", "id,fare,city\n1,7.5,Zürich\n2,,Bern\n3,12.25,Basel\n");
        room
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        std::fs::write(self.path(name), text).expect("a file");
        self.path(name)
    }

    /// Runs a program in the folder. `None`, aloud, if there is none.
    fn run(&self, program: &str, arguments: &[&str]) -> Option<Output> {
        match Command::new(program).args(arguments).current_dir(self.folder.path()).output() {
            Ok(output) => Some(output),
            Err(error) => {
                println!("skipped: {program}: {error}");
                None
            }
        }
    }

    /// Runs a program and returns its lines. It must succeed.
    fn lines(&self, program: &str, arguments: &[&str]) -> Option<Vec<String>> {
        let output = self.run(program, arguments)?;
        assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        Some(text.lines().map(str::to_owned).collect())
    }
}

#[test]
fn the_shell_of_debian_loads_it() {
    let room = Room::new();
    let load = ".load ./litepress";
    let Some(lines) = room.lines("sqlite3", &[":memory:", load, "SELECT count(*) FROM litepress_read('trips.csv')"])
    else {
        return;
    };
    assert_eq!(lines, ["3"]);
    let script = ".load ./litepress
        CREATE VIRTUAL TABLE temp.trips USING litepress_read('trips.csv');
        SELECT *, typeof(fare) FROM trips WHERE id >= 2;
        SELECT row FROM litepress_read('trips.csv') LIMIT 1;
        SELECT litepress_print('out.db', 'trips', 'SELECT * FROM trips', 'primary-key=id');
        SELECT count(*) FROM litepress_check('out.db', 'full');
        ATTACH 'out.db' AS out;
        SELECT city FROM out.trips WHERE id = 3;
        SELECT c2 FROM litepress_array('[1, 2]', '[\"a\", \"b\"]') WHERE c1 = 2;";
    let script = room.file("script.sql", script);
    let read = format!(".read {}", script.display());
    let lines = room.lines("sqlite3", &[":memory:", &read]).expect("it ran above");
    assert_eq!(
        lines,
        ["2||Bern|null", "3|12.25|Basel|real", "{\"id\":1,\"fare\":7.5,\"city\":\"Zürich\"}", "3", "0", "Basel", "b"]
    );
    let failed =
        room.run("sqlite3", &[":memory:", load, "SELECT * FROM litepress_read('none.csv')"]).expect("it ran above");
    assert!(String::from_utf8_lossy(&failed.stderr).contains("none.csv"), "{failed:?}");
}

#[test]
fn python_loads_it() {
    let room = Room::new();
    let script = r#"
import sqlite3, struct, sys
db = sqlite3.connect(":memory:")
if not hasattr(db, "enable_load_extension"):
    print("skip"); sys.exit()
db.enable_load_extension(True)
db.load_extension("./litepress")
print(db.execute("SELECT sum(c2), count(*) FROM litepress_read('trips.csv')").fetchone())
db.execute("CREATE VIRTUAL TABLE temp.users USING litepress_array(id INTEGER, name TEXT)")
ids, names = struct.pack("3q", 3, 1, 2), '["c", "a", "b"]'
print(db.execute("SELECT * FROM users(?, ?) ORDER BY id", (ids, names)).fetchall())
print(db.execute("SELECT litepress_print('py.db', 't', 'SELECT * FROM litepress_read(''trips.csv'')')").fetchone())
try:
    db.execute("SELECT * FROM litepress_read('none.csv')").fetchall()
except sqlite3.OperationalError as error:
    print("none.csv" in str(error))
"#;
    let script = room.file("script.py", script);
    let Some(lines) = room.lines("/usr/bin/python3", &[script.to_str().expect("UTF-8")]) else { return };
    if lines == ["skip"] {
        println!("skipped: this Python cannot load extensions");
        return;
    }
    assert_eq!(lines, ["(19.75, 3)", "[(1, 'a'), (2, 'b'), (3, 'c')]", "(3,)", "True"]);
}

#[test]
fn ruby_loads_it() {
    let room = Room::new();
    let script = r#"
begin
  require "sqlite3"
rescue LoadError
  puts "skip"; exit
end
db = SQLite3::Database.new(":memory:")
db.enable_load_extension(true)
db.load_extension("./litepress")
p db.execute("SELECT c1, c3 FROM litepress_read('trips.csv') WHERE c1 > ?", [1])
p db.execute("SELECT c1 FROM litepress_array(?)", ["[5, 6]"])
"#;
    let script = room.file("script.rb", script);
    let Some(lines) = room.lines("ruby", &[script.to_str().expect("UTF-8")]) else { return };
    if lines == ["skip"] {
        println!("skipped: Ruby has no sqlite3");
        return;
    }
    assert_eq!(lines, ["[[2, \"Bern\"], [3, \"Basel\"]]", "[[5], [6]]"]);
}

#[test]
fn node_loads_it() {
    let room = Room::new();
    let script = r#"
let Database;
try { Database = require("better-sqlite3"); } catch { console.log("skip"); process.exit(); }
const db = new Database(":memory:");
db.loadExtension("./litepress.so");
console.log(JSON.stringify(db.prepare("SELECT c1, c3 FROM litepress_read('trips.csv') WHERE c1 > ?").all(1)));
"#;
    let script = room.file("script.js", script);
    let Some(lines) = room.lines("node", &[script.to_str().expect("UTF-8")]) else { return };
    if lines == ["skip"] {
        println!("skipped: Node has no better-sqlite3 (NODE_PATH may name its folder)");
        return;
    }
    assert_eq!(lines, [r#"[{"c1":2,"c3":"Bern"},{"c1":3,"c3":"Basel"}]"#]);
}

#[test]
fn datasette_loads_it() {
    let room = Room::new();
    let sql = "/_memory.json?sql=SELECT+c1,+c3+FROM+litepress_read('trips.csv')&_shape=arrays";
    let arguments = ["--load-extension=./litepress.so", "--get", sql];
    let Some(output) = room.run("datasette", &arguments) else { return };
    let text = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("enable_load_extension") {
        println!("skipped: the Python of Datasette cannot load extensions");
        return;
    }
    assert!(text.contains(r#"[2, "Bern"]"#), "{text} {said}");
}

/// Compiles `pointers.c` against the SQLite of the system. `None`, aloud, if that cannot be done.
fn compile(room: &Room, arguments: &[&str]) -> Option<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = room.path("pointers");
    let mut command = Command::new("cc");
    command.args(["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g"]).args(arguments);
    command
        .arg("-I")
        .arg(here.join("include"))
        .arg(here.join("tests/pointers.c"))
        .arg("-o")
        .arg(&program)
        .arg("-lsqlite3");
    let Ok(output) = command.output() else {
        println!("skipped: there is no cc");
        return None;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("sqlite3.h: No such file") || said.contains("cannot find -lsqlite3") || said.contains("lasan") {
        println!("skipped: {said}");
        return None;
    }
    assert!(output.status.success(), "{said}");
    Some(program)
}

#[test]
fn pointers_of_c_are_read() {
    let room = Room::new();
    let Some(program) = compile(&room, &[]) else { return };
    let output = Command::new(program).arg(room.path("litepress.so")).output().expect("a program");
    assert!(output.status.success(), "{output:?}");
}

/// Reads beyond what the program gave would show here.
#[test]
fn the_sanitizers_find_nothing() {
    let room = Room::new();
    let Some(program) = compile(&room, &["-fsanitize=address,undefined"]) else { return };
    // The library stays loaded at the end, with what it has allocated once for all.
    let output = Command::new(program).arg(room.path("litepress.so")).env("ASAN_OPTIONS", "detect_leaks=0").output();
    let output = output.expect("a program");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn valgrind_finds_nothing() {
    let room = Room::new();
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("skipped: there is no valgrind");
        return;
    }
    let Some(program) = compile(&room, &[]) else { return };
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite"]);
    let output = command.arg(program).arg(room.path("litepress.so")).output().expect("valgrind");
    assert!(output.status.success(), "{output:?}");
}

/// The page that users read was never run.
#[test]
fn the_guide_works() {
    let guide =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sqlite.md")).expect("a guide");
    let blocks = |language: &str| -> Vec<String> {
        let opening = format!("```{language}\n");
        guide.split(&opening).skip(1).map(|rest| rest.split("```").next().unwrap_or_default().to_owned()).collect()
    };
    let room = Room::new();
    for command in blocks("sh") {
        if room.run("sqlite3", &["--version"]).is_none() {
            return;
        }
        assert_eq!(room.lines("sh", &["-c", &command]).expect("a shell"), ["3"], "{command}");
    }
    let queries = blocks("sql");
    assert!(queries.len() >= 5, "{queries:?}");
    let script = room.file("guide.sql", &format!(".bail on\n.load ./litepress\n{}", queries.concat()));
    let lines = room.lines("sqlite3", &[":memory:", &format!(".read {}", script.display())]).expect("it ran above");
    let expected = [
        "Basel|12.25",
        "Zürich|7.5",
        "3|19.75",
        "Zürich",
        "2",
        "3",
        "3",
        "3|c",
        "1|a",
        "2|b",
        "Zürich",
        "Basel",
        "1|a",
        "2|b",
        "3|c",
    ];
    assert_eq!(lines, expected);
    for script in blocks("python") {
        let script = room.file("guide.py", &script);
        let path = script.to_str().expect("UTF-8");
        let output = room.run("/usr/bin/python3", &[path]);
        let Some(output) = output else { return };
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() || said.contains("enable_load_extension"), "{said}");
    }
}
