//! Runs the commands of README.md and of the documents.

use crate::{LITEPRESS, Room};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Commands that take too long or leave the folder. Their `make` targets are checked to exist; the Python package has other
/// tests.
const NOT_RUN: [&str; 4] = ["make install", "pip install ./python", "make demo", "make demo ROWS=1b"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(repository().join(name)).expect(name)
}

/// Returns the lines of all blocks of shell commands, without their comments.
fn commands(text: &str) -> Vec<String> {
    let blocks = text.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
    let lines = blocks.flat_map(str::lines).map(|line| line.split(" #").next().unwrap_or_default().trim());
    lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// Runs the commands of a document with fewer rows, in a folder with the examples. Returns the commands that were skipped.
fn run_all(document: &str, room: &Room) -> Vec<String> {
    std::fs::create_dir_all(room.path("examples")).expect("a folder");
    // Fewer rows are enough.
    let shop = read("examples/shop.sql").replace("rows=1m", "rows=1k").replace("00k", "00").replace("50k", "50");
    room.write("examples/shop.sql", shop);
    for file in ["examples/lineitem.csv", "examples/sensors.csv"] {
        room.write(file, read(file));
    }
    let programs = Path::new(LITEPRESS).parent().expect("the folder of the program");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").expect("folders of programs"));
    let (not_run, run): (Vec<String>, Vec<String>) =
        commands(&read(document)).into_iter().partition(|command| NOT_RUN.contains(&command.as_str()));
    for command in &run {
        let small = command.replace("1b", "10k").replace("100m", "10k").replace("1m", "10k");
        let done = Command::new("sh").args(["-c", &small]).current_dir(room.path("")).env("PATH", &path).output();
        let done = done.expect("a shell");
        assert!(done.status.success(), "{document}: {small}: {done:?}");
    }
    assert!(run.len() >= 4, "{document}: {run:?}");
    not_run
}

/// The commands were reviewed repeatedly and never run.
#[test]
fn every_command_of_the_readme_works() {
    assert_eq!(run_all("README.md", &Room::new()), NOT_RUN, "a command that is not run has gone from README.md");
    let makefile = read("Makefile");
    for command in NOT_RUN.iter().filter(|command| command.starts_with("make")) {
        let target = command.split(' ').nth(1).unwrap();
        assert!(makefile.contains(&format!("\n{target}:")), "{command}");
    }
}

#[test]
fn every_command_of_the_documents_works() {
    for document in [
        "docs/load.md",
        "docs/existing.md",
        "docs/geo.md",
        "docs/generate.md",
        "docs/recipes.md",
        "docs/program.md",
        "docs/pictures.md",
        "docs/tasks.md",
        "docs/jobs.md",
    ] {
        let room = Room::new();
        assert!(run_all(document, &room).is_empty(), "{document}");
        if document != "docs/recipes.md" {
            continue;
        }
        let plan = read(document);
        let plan = plan.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
        room.write("shown.toml", plan);
        assert!(room.done("plan --recipe shown.toml").contains("1,000,200"));
    }
}

/// The README had grown to 2,800 words.
#[test]
fn the_readme_is_short() {
    assert!(read("README.md").split_whitespace().count() <= 900);
}
