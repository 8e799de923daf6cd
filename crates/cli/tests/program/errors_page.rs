//! The page `docs/reference/errors.md`: each kind of error, by commands that make it.
//!
//! The test fails if the page is old, and writes it anew if `LITEPRESS_WRITE_DOCS` is set.

use crate::{LITEPRESS, Room};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

const HEAD: &str = "\
# Errors

An error says what is wrong, where, and what to do. It ends the run before the database gets its name: the old file, or none, is there.
With `--json` it is an object ([program.md](../program.md#errors-for-programs)); in Python an exception with the same fields.

Every example below was run to make this page: `LITEPRESS_WRITE_DOCS=1 cargo test -p litepress-cli --test program errors_page` writes it,
and a test fails if it is old.

| kind | exit code | meaning | in Python |
|---|---|---|---|
";

/// A kind of error: its name, its meaning, its exception in Python, and commands, the last of which fails.
struct Case {
    kind: &'static str,
    meaning: &'static str,
    python: &'static str,
    script: &'static str,
}

const CASES: &[Case] = &[
    Case {
        kind: "usage",
        meaning: "arguments that do not go together",
        python: "UsageError",
        script: "litepress generate user.db --preset user",
    },
    Case {
        kind: "schema",
        meaning: "a schema that SQLite refuses, or one without the table",
        python: "SchemaError",
        script: "printf 'CREATE TABLE t (a INTEGER, a TEXT);\\n' > twice.sql\nlitepress generate t.db twice.sql --rows 10",
    },
    Case {
        kind: "unsupported",
        meaning: "something that litepress cannot do",
        python: "UnsupportedError",
        script: "printf 'name,lon,lat\\nRome,12.5,41.9\\n' > cities.csv\nlitepress load cities.gpkg cities.csv --geometry lon,lat --strict",
    },
    Case {
        kind: "generator",
        meaning: "a generator that is unknown, or wrong arguments of one",
        python: "GeneratorError",
        script: "litepress generate user.db --preset user --rows 10 --set area='digit(6)'",
    },
    Case {
        kind: "constraint",
        meaning: "a row that breaks NOT NULL, UNIQUE, CHECK, STRICT or a key",
        python: "ConstraintError",
        script: "printf 'id,name\\n1,Ada\\n1,Grace\\n' > twice.csv\nlitepress load t.db twice.csv --primary-key id",
    },
    Case {
        kind: "data",
        meaning: "a record that cannot be read",
        python: "DataError",
        script: "printf 'id,name\\n1,Ada\\n2,Grace,London\\n' > ragged.csv\nlitepress load t.db ragged.csv",
    },
    Case {
        kind: "limit",
        meaning: "a limit of SQLite's file format",
        python: "LimitError",
        script: "litepress generate user.db --preset user --rows 10000000000000000000",
    },
    Case {
        kind: "no_space",
        meaning: "the disk lacks room for the database or its temporary files",
        python: "NoSpaceError",
        script: "litepress generate user.db --preset user --rows 10000000000000",
    },
    Case {
        kind: "exists",
        meaning: "the target exists",
        python: "TargetExistsError",
        script: "litepress generate user.db --preset user --rows 10\nlitepress generate user.db --preset user --rows 10",
    },
    Case {
        kind: "target",
        meaning: "the target cannot be replaced or changed",
        python: "TargetError",
        script: "mkdir user.db\nlitepress generate user.db --preset user --rows 10 --overwrite",
    },
    Case {
        kind: "io",
        meaning: "a file that cannot be read or written",
        python: "FileError",
        script: "litepress load t.db missing.csv",
    },
    Case {
        kind: "corrupt",
        meaning: "a database whose pages break a rule of the file format",
        python: "CorruptError",
        script: "litepress generate user.db --preset user --rows 1k\nprintf 'XXXX' | dd of=user.db bs=1 seek=4096 conv=notrunc status=none\nlitepress compact user.db",
    },
];

/// A kind that no command makes at will.
const INTERRUPTED: &str = "\
| `interrupted` | 130 | Ctrl-C or SIGTERM: no file is left | `KeyboardInterrupt` |
";

/// Runs the commands of a case. Returns the exit code and standard error of the last one.
fn run(case: &Case) -> (i32, String) {
    let room = Room::new();
    let programs = Path::new(LITEPRESS).parent().expect("the folder of the program");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").expect("folders of programs"));
    let (before, last) = case.script.rsplit_once('\n').unwrap_or(("", case.script));
    let shell = |script: &str| {
        Command::new("sh")
            .args(["-ec", script])
            .current_dir(room.path(""))
            .env("PATH", &path)
            .output()
            .expect("a shell")
    };
    let prepared = shell(before);
    assert!(prepared.status.success(), "{}: {prepared:?}", case.kind);
    let failed = shell(&format!("{last} --json"));
    let object: serde_json::Value = serde_json::from_slice(&failed.stderr).expect(case.kind);
    assert_eq!(object["kind"], case.kind, "{object}");
    let failed = shell(last);
    let text = String::from_utf8(failed.stderr).expect("UTF-8");
    (failed.status.code().expect("an exit code"), without_numbers_of_the_disk(&text))
}

/// Returns a message without the free bytes, which are others on each machine.
fn without_numbers_of_the_disk(text: &str) -> String {
    match text.split_once("the disk has ") {
        Some((before, after)) => {
            format!("{before}the disk has …{}", after.trim_start_matches(|letter: char| letter.is_ascii_digit()))
        }
        None => text.to_owned(),
    }
}

/// Examples of messages in documents had been written by hand, and three were of older programs.
#[test]
fn the_page_of_errors_is_what_the_program_says() {
    let (mut page, mut examples) = (HEAD.to_owned(), String::new());
    for case in CASES {
        let (code, text) = run(case);
        let Case { kind, meaning, python, script } = case;
        writeln!(page, "| [`{kind}`](#{kind}) | {code} | {meaning} | `{python}` |").expect("a text");
        write!(examples, "\n## {kind}\n\n```text\n{script}\n```\n\n```text\n{}\n```\n", text.trim_end())
            .expect("a text");
    }
    page += INTERRUPTED;
    page += &examples;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/errors.md");
    if std::env::var_os("LITEPRESS_WRITE_DOCS").is_some() {
        std::fs::write(&path, &page).expect("the page");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "{} is old: its head says how to write it\n{page}", path.display());
}
