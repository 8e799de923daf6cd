//! The packages for other languages pass their tests with the library of this build, and the programs of their documents run.
//!
//! A language that is not installed is skipped, aloud. `docs/NAME.md` has whole programs, in blocks of the language.

use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Returns a folder of the repository.
fn repository(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder).canonicalize().expect(folder)
}

/// Returns the shared library of this build.
fn library() -> PathBuf {
    std::env::current_exe().expect("a program").with_file_name("liblitepress_c.so")
}

/// Says whether a program runs; prints that it is skipped if it does not.
fn is_installed(program: &str, arguments: &[&str]) -> bool {
    let is_there = Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success());
    if !is_there {
        println!("skipped: {program} {} fails", arguments.join(" "));
    }
    is_there
}

/// Runs a command, and returns what it prints. It must succeed without a warning.
fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(output.status.success() && !said.contains("warning:"), "{command:?}: {said}");
    said
}

/// Returns the blocks of a language in a document.
fn blocks(document: &str, language: &str) -> Vec<String> {
    let text = std::fs::read_to_string(repository("docs").join(document)).expect(document);
    let start = format!("```{language}\n");
    let blocks: Vec<String> =
        text.split(&start).skip(1).map(|rest| rest.split("```").next().unwrap_or_default().to_owned()).collect();
    assert!(!blocks.is_empty(), "{document} has no program");
    blocks
}

/// The R package says a version of its own.
#[test]
fn the_version_of_the_r_package_is_that_of_litepress() {
    let described = std::fs::read_to_string(repository("r/DESCRIPTION")).expect("r/DESCRIPTION");
    assert!(described.contains(concat!("Version: ", env!("CARGO_PKG_VERSION"), "\n")), "{described}");
}

/// Asks SQLite.
fn query(path: &Path, sql: &str) -> String {
    let connection = Connection::open(path).expect("a database");
    let verdict: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("a verdict");
    assert_eq!(verdict, "ok");
    connection.query_row(sql, [], |row| row.get(0)).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// The facts of the database that the program of each document makes.
const METRICS: &str =
    "SELECT count(*) || ' ' || count(value) || ' ' || (SELECT sum(height) || ' ' || count(*) FROM steps) FROM metrics";

fn expect_metrics(folder: &TempDir) {
    assert_eq!(query(&folder.path().join("metrics.db"), METRICS), "4 3 19.5 3");
}

/// Makes a folder with the library under the names of `make install-c`.
fn with_links() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["liblitepress.so", "liblitepress.so.0"] {
        std::os::unix::fs::symlink(library(), folder.path().join(name)).expect("a link");
    }
    folder
}

/// Returns a command of Go. Its environment points cgo to the library.
fn go(folder: &Path, prefix: &Path) -> Command {
    let mut command = Command::new("go");
    command
        .current_dir(folder)
        .env("CGO_ENABLED", "1")
        .env("CGO_CFLAGS", format!("-I{} -Werror", repository("crates/c/include").display()))
        .env("CGO_LDFLAGS", format!("-L{}", prefix.display()))
        .env("LD_LIBRARY_PATH", prefix)
        .env("GOFLAGS", "-mod=mod")
        .env("GOPROXY", "off");
    command
}

#[test]
fn the_go_package_passes_its_tests() {
    if !is_installed("go", &["version"]) || !is_installed("cc", &["--version"]) {
        return;
    }
    let folder = with_links();
    let package = repository("go");
    succeed(go(&package, folder.path()).args(["vet", "./..."]));
    // A test that was skipped says so.
    println!("{}", succeed(go(&package, folder.path()).args(["test", "-count=1", "-vet=off", "./..."])));

    let [program] = &blocks("go.md", "go")[..] else { panic!("docs/go.md has one program") };
    std::fs::write(folder.path().join("main.go"), program).expect("a file");
    let module = format!(
        "module metrics\n\ngo 1.23\n\nrequire litepress v0.1.0\n\nreplace litepress => {}\n",
        package.display()
    );
    std::fs::write(folder.path().join("go.mod"), module).expect("a file");
    assert_eq!(succeed(go(folder.path(), folder.path()).args(["run", "."])), "7 rows\n");
    expect_metrics(&folder);
}

#[test]
fn the_ruby_package_passes_its_tests() {
    if !is_installed("ruby", &["-r", "fiddle", "-r", "minitest", "-e", ""]) {
        return;
    }
    let package = repository("ruby");
    let ruby = |folder: &Path| {
        let mut command = Command::new("ruby");
        command.args(["-w", "-I"]).arg(package.join("lib")).current_dir(folder).env("LITEPRESS_LIBRARY", library());
        command
    };
    let said = succeed(ruby(&package).arg("test/litepress_test.rb"));
    assert!(said.contains(" 0 failures, 0 errors"), "{said}");

    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("metrics.rb"), blocks("ruby.md", "ruby").concat()).expect("a file");
    assert_eq!(succeed(ruby(folder.path()).arg("metrics.rb")), "7 rows\n");
    expect_metrics(&folder);
}

#[test]
fn the_java_package_passes_its_tests() {
    if !is_installed("javac", &["--version"]) || !is_installed("cc", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (package, built) = (repository("java"), folder.path().join("target"));
    let links = with_links();
    succeed(Command::new(package.join("build.sh")).arg(links.path().join("liblitepress.so.0")).arg(&built));
    let jar = built.join("litepress.jar");
    let java = |class: &str| {
        let mut command = Command::new("java");
        command.current_dir(folder.path()).args(["-Xcheck:jni", "-cp"]);
        command.arg(format!("{}:{}", jar.display(), built.display())).arg(class);
        command
    };
    std::fs::write(folder.path().join("Metrics.java"), blocks("java.md", "java").concat()).expect("a file");
    let test = package.join("src/test/java/litepress/WriterTest.java");
    let mut compile = Command::new("javac");
    compile.current_dir(folder.path()).args(["-Xlint:all", "-Werror", "-cp"]).arg(&jar);
    succeed(compile.arg("-d").arg(&built).arg(test).arg("Metrics.java"));
    let said = succeed(&mut java("litepress.WriterTest"));
    assert!(said.contains(" tests passed") && !said.contains("WARNING in native method"), "{said}");
    assert_eq!(succeed(&mut java("Metrics")), "7 rows\n");
    expect_metrics(&folder);

    if is_installed("kotlinc", &["-version"]) {
        std::fs::write(folder.path().join("Metrics.kt"), blocks("java.md", "kotlin").concat()).expect("a file");
        let mut compile = Command::new("kotlinc");
        succeed(compile.current_dir(folder.path()).args(["Metrics.kt", "-cp"]).arg(&jar).args([
            "-include-runtime",
            "-d",
            "kotlin.jar",
        ]));
        let mut run = Command::new("java");
        run.current_dir(folder.path()).arg("-cp").arg(format!("kotlin.jar:{}", jar.display())).arg("MetricsKt");
        assert_eq!(succeed(&mut run), "2 rows\n");
    }
}

#[test]
fn the_r_package_passes_its_tests() {
    if !is_installed("Rscript", &["--version"]) || !is_installed("cc", &["--version"]) {
        return;
    }
    let (folder, links) = (tempfile::tempdir().expect("a folder"), with_links());
    // R compiles in the folder of the sources.
    succeed(Command::new("cp").arg("-r").arg(repository("r")).arg(folder.path().join("litepress")));
    let installed = folder.path().join("library");
    std::fs::create_dir(&installed).expect("a folder");
    let path = links.path().display();
    let mut install = Command::new("R");
    install.args(["CMD", "INSTALL", "-l"]).arg(&installed).arg(folder.path().join("litepress"));
    install.env("LITEPRESS_CFLAGS", format!("-I{} -Wall", repository("crates/c/include").display()));
    succeed(install.env("LITEPRESS_LIBS", format!("-L{path} -Wl,-rpath,{path}")));
    let r = |script: &Path| {
        let mut command = Command::new("Rscript");
        command.current_dir(folder.path()).arg(script).env("R_LIBS", &installed);
        command
    };
    assert!(succeed(&mut r(&repository("r/tests/litepress.R"))).contains("all tests passed"));

    let program = folder.path().join("metrics.R");
    std::fs::write(&program, blocks("r.md", "r").concat()).expect("a file");
    assert_eq!(succeed(&mut r(&program)), "7 rows\n");
    expect_metrics(&folder);
}
