//! Programs in C and C++ are compiled against the header and the shared library, and run; SQLite reads what they wrote.

use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const MANIFEST: &str = env!("CARGO_MANIFEST_DIR");

/// A folder with the library under its own names.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let built = std::env::current_exe().expect("a program").with_file_name("liblitepress_c.so");
        for name in ["liblitepress.so", "liblitepress.so.0"] {
            std::os::unix::fs::symlink(&built, folder.path().join(name)).expect("a link");
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Compiles a program with all warnings as errors. Returns `None`, aloud, if there is no compiler.
    fn compile(&self, source: &str, arguments: &[&str]) -> Option<PathBuf> {
        let compiler = if source.ends_with(".cpp") { "c++" } else { "cc" };
        if Command::new(compiler).arg("--version").output().is_err() {
            println!("skipped: there is no {compiler}");
            return None;
        }
        let program = self.path("program");
        let mut command = Command::new(compiler);
        command.args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g"]).args(arguments);
        command.arg(format!("-DLITEPRESS_EXPECTED_VERSION=\"{}\"", env!("CARGO_PKG_VERSION")));
        command.arg("-I").arg(Path::new(MANIFEST).join("include")).arg(Path::new(MANIFEST).join(source));
        command.arg("-o").arg(&program).arg("-L").arg(self.folder.path()).args(["-llitepress", "-lm"]);
        let output = command.output().expect("a compiler");
        assert!(output.status.success(), "{source}: {}", String::from_utf8_lossy(&output.stderr));
        Some(program)
    }

    fn can_sanitize(&self) -> bool {
        let source = self.path("empty.c");
        std::fs::write(&source, "int main(void) { return 0; }").expect("a source");
        let mut command = Command::new("cc");
        command.args(["-fsanitize=address,undefined", "-o"]).arg(self.path("empty")).arg(source);
        command.output().is_ok_and(|output| output.status.success())
    }

    /// Runs a program, which gets this argument, and returns what it prints.
    fn run(&self, mut command: Command, argument: &Path) -> String {
        let output = command.arg(argument).env("LD_LIBRARY_PATH", self.folder.path()).output().expect("a program");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{:?}: {said}", output.status);
        String::from_utf8(output.stdout).expect("UTF-8")
    }
}

fn query<T: rusqlite::types::FromSql>(path: &Path, sql: &str) -> T {
    let connection = Connection::open(path).expect("a database");
    let verdict: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("a verdict");
    assert_eq!(verdict, "ok");
    connection.query_row(sql, [], |row| row.get(0)).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

#[test]
fn every_function_keeps_its_word() {
    for standard in ["-std=c99", "-std=c17"] {
        let bench = Bench::new();
        let Some(program) = bench.compile("tests/boundary.c", &[standard]) else { return };
        assert_eq!(bench.run(Command::new(program), bench.folder.path()), "");
        let rows = bench.path("rows.db");
        let sql = "SELECT group_concat(id || '=' || name || coalesce(value, '-') || typeof(raw), ' ') FROM (SELECT * FROM t ORDER BY id)";
        let found: String = query(&rows, sql);
        assert_eq!(
            found,
            "7=new-blob 8=next0.5text 9=x1.5text 10=y-text 20=a1.5null 21=-null 22=ccc3.5null 100=new-blob"
        );
    }
}

#[test]
fn arrow_batches_are_taken() {
    let bench = Bench::new();
    let Some(program) = bench.compile("tests/arrow.c", &["-std=c99"]) else { return };
    assert_eq!(bench.run(Command::new(program), bench.folder.path()), "");
    let sql = "SELECT group_concat(id || coalesce(name, '-') || more, ' ') FROM t";
    let found: String = query(&bench.path("arrow.db"), sql);
    assert_eq!(found, "1one9 2-9 3three9 1one9 2-9 3three9 1one9 2-9 3three9 4four5");
}

/// A child that ended its copy of a writer removed the temporary file of the parent, whose rows were gone.
#[test]
fn a_fork_leaves_the_writer_to_its_parent() {
    let bench = Bench::new();
    let Some(program) = bench.compile("tests/fork.c", &["-std=c99"]) else { return };
    let command = Command::new(program);
    assert_eq!(bench.run(command, bench.folder.path()), "");
    assert_eq!(query::<i64>(&bench.path("forked.db"), "SELECT count(*) FROM t WHERE a = 7"), 1_001_001);
}

/// Reads beyond what the program gave, and memory that the program forgets to free, would show here.
#[test]
fn the_sanitizers_find_nothing() {
    let bench = Bench::new();
    if !bench.can_sanitize() {
        println!("skipped: the compiler has no sanitizers");
        return;
    }
    for source in ["tests/boundary.c", "tests/arrow.c"] {
        let Some(program) = bench.compile(source, &["-std=c17", "-fsanitize=address,undefined"]) else { return };
        bench.run(Command::new(program), bench.folder.path());
    }
}

/// Memory that the library or the test forgets, and reads beyond what the program gave, would show here.
#[test]
fn valgrind_finds_nothing() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("skipped: there is no valgrind");
        return;
    }
    let bench = Bench::new();
    let Some(program) = bench.compile("tests/boundary.c", &["-std=c17"]) else { return };
    let mut command = Command::new("valgrind");
    command
        .args(["--quiet", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite"])
        .arg(program);
    bench.run(command, bench.folder.path());
}

#[test]
fn the_examples_run() {
    let bench = Bench::new();
    let Some(program) = bench.compile("examples/simulator.c", &["-std=c99"]) else { return };
    let path = bench.path("simulation.db");
    assert!(bench.run(Command::new(program), &path).contains("100000 rows"));
    assert_eq!(
        query::<i64>(&path, "SELECT count(*) FROM step INDEXED BY state WHERE state IN ('falls', 'rises')"),
        100_000
    );

    let Some(program) = bench.compile("examples/batches.cpp", &["-std=c++17"]) else { return };
    let path = bench.path("batches.db");
    assert!(bench.run(Command::new(program), &path).contains("100000 rows"));
    assert_eq!(
        query::<i64>(&path, "SELECT count(*) FROM cell WHERE value = id / 8.0 AND name = 'cell ' || id"),
        87_500
    );
}

/// Runs a command; its output is shown if it fails.
fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&said));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// A program is built against the files of `make install-c` by pkg-config and by CMake.
#[test]
fn an_installed_library_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let prefix = folder.path().join("prefix");
    let built = std::env::current_exe().expect("a program");
    let built = built.parent().expect("a folder");
    succeed(Command::new(Path::new(MANIFEST).join("install.sh")).arg(built).arg(&prefix));
    let examples = Path::new(MANIFEST).join("examples");

    if Command::new("pkg-config").arg("--version").output().is_ok() {
        let mut flags = Command::new("pkg-config");
        let flags = succeed(flags.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")).args([
            "--cflags",
            "--libs",
            "litepress",
        ]));
        let program = folder.path().join("by-pkg-config");
        let mut compile = Command::new("cc");
        succeed(compile.arg(examples.join("simulator.c")).arg("-o").arg(&program).args(flags.split_whitespace()));
        let path = folder.path().join("by-pkg-config.db");
        succeed(Command::new(program).arg(&path).env("LD_LIBRARY_PATH", prefix.join("lib")));
        assert_eq!(query::<i64>(&path, "SELECT count(*) FROM step"), 100_000);
    } else {
        println!("skipped: there is no pkg-config");
    }

    if Command::new("cmake").arg("--version").output().is_ok() {
        let build = folder.path().join("build");
        let mut configure = Command::new("cmake");
        configure.arg("-S").arg(&examples).arg("-B").arg(&build);
        succeed(configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display())));
        succeed(Command::new("cmake").arg("--build").arg(&build));
        let path = folder.path().join("by-cmake.db");
        // CMake writes the folder of the library into the programs that stay in the build folder.
        succeed(Command::new(build.join("batches")).arg(&path));
        assert_eq!(query::<i64>(&path, "SELECT count(*) FROM cell"), 100_000);
    } else {
        println!("skipped: there is no cmake");
    }
}
