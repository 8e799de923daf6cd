//! The tests of the Node.js package run with the native part of this build, and the program of its document.

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

fn is_installed(program: &str, arguments: &[&str]) -> bool {
    let is_there = Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success());
    if !is_there {
        println!("skipped: {program} {} fails", arguments.join(" "));
    }
    is_there
}

fn node(folder: &Path) -> Command {
    let native = std::env::current_exe().expect("a program").with_file_name("liblitepress_node.so");
    let mut command = Command::new("node");
    command.current_dir(folder).env("LITEPRESS_NODE", native);
    command
}

fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(output.status.success() && !said.contains("Warning:"), "{command:?}: {said}");
    said
}

/// Writes an Arrow stream as `tableToIPC` does.
fn write_arrow(path: &Path) {
    let columns: [(&str, ArrayRef); 3] = [
        ("value", Arc::new(Float64Array::from(vec![Some(0.5), None]))),
        ("id", Arc::new(Int64Array::from(vec![10, 11]))),
        ("name", Arc::new(StringArray::from(vec!["ten", "eleven"]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    let file = File::create(path).expect("a file");
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(file, &batch.schema()).expect("a stream");
    writer.write(&batch).expect("a batch");
    writer.finish().expect("a stream");
}

#[test]
fn the_package_passes_its_tests() {
    if !is_installed("node", &["--version"]) || !is_installed("sqlite3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let arrow = folder.path().join("table.arrows");
    write_arrow(&arrow);
    let said =
        succeed(node(Path::new(PACKAGE)).args(["--test", "test/litepress.test.js"]).env("LITEPRESS_ARROW", arrow));
    assert!(said.contains("# fail 0") || said.contains("fail 0"), "{said}");
    assert!(said.contains("# skipped 0") || said.contains("skipped 0"), "{said}");
}

#[test]
fn the_version_is_that_of_litepress() {
    let described = std::fs::read_to_string(Path::new(PACKAGE).join("package.json")).expect("package.json");
    assert!(described.contains(&format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"))), "{described}");
}

/// Returns the blocks of a language in the document.
fn blocks(language: &str) -> String {
    let text = std::fs::read_to_string(Path::new(PACKAGE).join("../docs/node.md")).expect("docs/node.md");
    let start = format!("```{language}\n");
    text.split(&start).skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect()
}

/// Makes a folder in which `litepress` is an installed package.
fn with_package() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let modules = folder.path().join("node_modules");
    std::fs::create_dir(&modules).expect("a folder");
    std::os::unix::fs::symlink(PACKAGE, modules.join("litepress")).expect("a link");
    let path = folder.path().to_owned();
    (folder, path)
}

#[test]
fn the_program_of_the_document_runs() {
    if !is_installed("node", &["--version"]) {
        return;
    }
    let (_kept, folder) = with_package();
    std::fs::write(folder.join("metrics.mjs"), blocks("js")).expect("a file");
    assert_eq!(succeed(node(&folder).args(["--preserve-symlinks", "metrics.mjs"])), "7 rows\n");
    let database = rusqlite::Connection::open(folder.join("metrics.db")).expect("a database");
    let facts = "SELECT count(*) || ' ' || count(value) || ' ' || (SELECT sum(height) || ' ' || count(*) FROM steps) FROM metrics";
    let facts: String = database.query_row(facts, [], |row| row.get(0)).expect("facts");
    assert_eq!(facts, "4 3 19.5 3");
}

/// The types of the package fit a program in TypeScript.
#[test]
fn the_types_fit() {
    if !is_installed("tsc", &["--version"]) {
        return;
    }
    let (_kept, folder) = with_package();
    std::fs::write(folder.join("metrics.ts"), blocks("ts")).expect("a file");
    let options =
        ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--skipLibCheck", "--types", ""];
    succeed(Command::new("tsc").current_dir(folder).args(options).arg("metrics.ts"));
}
