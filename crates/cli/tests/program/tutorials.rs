//! Runs the tutorials as they stand, and compares what is printed with what they show.

use crate::{LITEPRESS, Room};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Numbers of a tutorial that take too long, and those that are run instead.
const SMALLER: [(&str, &str); 1] = [("seq 1 260000000", "seq 1 20000")];

/// The tutorial is run by `python/tests/test_docs.py` and, with Spark, by `python/tests_cluster/test_docs.py`.
const OF_PYTHON: &str = "spark.md";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tutorials")
}

/// A block of commands, and the block of text below it.
struct Step {
    script: String,
    shown: Option<String>,
}

/// Returns the blocks of shell commands in order. A block of text belongs to the block of commands before it.
fn steps(text: &str) -> Vec<Step> {
    let mut found: Vec<Step> = Vec::new();
    for block in text.split("\n```").skip(1).step_by(2) {
        let (language, inner) = block.split_once('\n').unwrap_or_default();
        match language {
            "sh" => found.push(Step { script: inner.to_owned(), shown: None }),
            "text" => found.last_mut().expect("commands before the text").shown = Some(inner.to_owned()),
            other => assert_eq!(other, "sql", "a block of a language that no test runs"),
        }
    }
    found
}

/// Returns whether lines are as a pattern shows them: `…` in a line is any text, `…` alone any number of lines.
fn lines_match(shown: &[&str], lines: &[&str]) -> bool {
    match shown {
        [] => lines.is_empty(),
        ["…", rest @ ..] => (0..=lines.len()).any(|skipped| lines_match(rest, &lines[skipped..])),
        [first, rest @ ..] => {
            lines.split_first().is_some_and(|(line, others)| line_matches(first, line) && lines_match(rest, others))
        }
    }
}

fn line_matches(shown: &str, line: &str) -> bool {
    match shown.split_once('…') {
        None => shown == line,
        Some((before, after)) => line.strip_prefix(before).is_some_and(|rest| {
            rest.char_indices().map(|(at, _)| at).chain([rest.len()]).any(|at| line_matches(after, &rest[at..]))
        }),
    }
}

fn run(tutorial: &str, step: &Step, room: &Room) -> String {
    let programs = Path::new(LITEPRESS).parent().expect("the folder of the program");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").expect("folders of programs"));
    let script = SMALLER.iter().fold(step.script.clone(), |script, (large, small)| script.replace(large, small));
    let done = Command::new("sh").args(["-ec", &script]).current_dir(room.path("")).env("PATH", &path).output();
    let done = done.expect("a shell");
    assert!(done.status.success(), "{tutorial}: {script}: {done:?}");
    String::from_utf8(done.stdout).expect("UTF-8")
}

#[test]
fn every_tutorial_does_what_it_shows() {
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .expect("tutorials")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .filter(|name| name != OF_PYTHON && name != "index.md")
        .collect();
    names.sort();
    assert!(names.len() >= 5, "{names:?}");
    for name in names {
        let text = std::fs::read_to_string(folder().join(&name)).expect("a tutorial");
        let (room, steps) = (Room::new(), steps(&text));
        assert!(steps.len() >= 3 && steps.iter().any(|step| step.shown.is_some()), "{name}");
        for step in steps {
            let printed = run(&name, &step, &room);
            let Some(shown) = &step.shown else { continue };
            let (shown, lines): (Vec<&str>, Vec<&str>) = (shown.lines().collect(), printed.lines().collect());
            assert!(lines_match(&shown, &lines), "{name}: {}\nshown:\n{shown:#?}\nprinted:\n{lines:#?}", step.script);
        }
    }
}

#[test]
fn the_first_page_names_every_tutorial() {
    let index = std::fs::read_to_string(folder().join("index.md")).expect("the first page");
    for entry in std::fs::read_dir(folder()).expect("tutorials") {
        let name = entry.expect("an entry").file_name().into_string().expect("UTF-8");
        assert!(name == "index.md" || index.contains(&format!("({name})")), "{name}");
    }
}

#[test]
fn an_ellipsis_stands_for_texts_and_lines() {
    let lines = ["a.db: 3 rows, 4 kB", "time", "ok"];
    assert!(lines_match(&["a.db: 3 rows, …", "…", "ok"], &lines));
    assert!(lines_match(&["…3…kB", "time", "…", "ok"], &lines));
    assert!(!lines_match(&["a.db: 4 rows, …", "…"], &lines));
    assert!(!lines_match(&["…", "time"], &lines));
}
