//! The commands of README.md and of the documents work.

use crate::{LITEPRESS, Room};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What takes too long, or leaves the folder: what `make` does is seen to exist only. The package has tests of its own.
const NOT_RUN: [&str; 5] = ["make demo", "make demo ROWS=1b", "make test", "make install", "pip install ./python"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(repository().join(name)).expect(name)
}

/// The lines of all blocks of shell commands, without the comments behind them.
fn commands(text: &str) -> Vec<String> {
    let blocks = text.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
    let lines = blocks.flat_map(str::lines).map(|line| line.split(" #").next().unwrap_or_default().trim());
    lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// They were read over and over, and never run.
#[test]
fn every_command_works() {
    let room = Room::new();
    std::fs::create_dir(room.path("examples")).unwrap();
    // A thousandth of the rows will do.
    let shop = read("examples/shop.sql").replace("rows=1m", "rows=1k").replace("00k", "00").replace("50k", "50");
    room.write("examples/shop.sql", shop);
    room.write("examples/lineitem.csv", read("examples/lineitem.csv"));
    let path = format!("{}:{}", Path::new(LITEPRESS).parent().unwrap().display(), std::env::var("PATH").unwrap());
    let commands = commands(&read("README.md"));
    let (not_run, run): (Vec<&String>, Vec<&String>) =
        commands.iter().partition(|command| NOT_RUN.contains(&command.as_str()));
    for command in &run {
        let small = command.replace("1b", "10k").replace("100m", "10k");
        let done = Command::new("sh").args(["-c", &small]).current_dir(room.path("")).env("PATH", &path).output();
        let done = done.unwrap();
        assert!(done.status.success(), "{small}: {done:?}");
    }
    assert!(run.len() >= 5, "{run:?}");
    assert_eq!(not_run, NOT_RUN, "a command that is not run has gone from README.md");
    let makefile = read("Makefile");
    for command in NOT_RUN.iter().filter(|command| command.starts_with("make")) {
        let target = command.split(' ').nth(1).unwrap();
        assert!(makefile.contains(&format!("\n{target}:")), "{command}");
    }
}

#[test]
fn every_command_of_the_documents_works() {
    let room = Room::new();
    let path = format!("{}:{}", Path::new(LITEPRESS).parent().unwrap().display(), std::env::var("PATH").unwrap());
    let document = read("docs/plans.md");
    let commands = commands(&document);
    for command in &commands {
        let small = command.replace("1m", "10k");
        let done = Command::new("sh").args(["-c", &small]).current_dir(room.path("")).env("PATH", &path).output();
        let done = done.unwrap();
        assert!(done.status.success(), "{small}: {done:?}");
    }
    assert!(commands.len() >= 10, "{commands:?}");
    let plan = document.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    room.write("shown.toml", plan);
    assert!(room.done("plan --plan shown.toml").contains("1,000,200"));
}
