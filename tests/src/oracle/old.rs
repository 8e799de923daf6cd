//! An older SQLite: the `sqlite3` program of the system.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The `sqlite3` program.
pub struct OldSqlite {
    version: String,
}

impl OldSqlite {
    /// Returns the program, or `None` with a message if it is missing.
    pub fn find() -> Option<&'static Self> {
        static FOUND: OnceLock<Option<OldSqlite>> = OnceLock::new();
        let found = FOUND.get_or_init(|| {
            let output = Command::new("sqlite3").arg("--version").output().ok()?;
            let version = String::from_utf8_lossy(&output.stdout);
            let version = version.split_whitespace().next()?.to_owned();
            println!("older SQLite: {version}, bundled: {}", rusqlite::version());
            Some(OldSqlite { version })
        });
        if found.is_none() {
            println!("skipped: there is no sqlite3 program to read the files with");
        }
        found.as_ref()
    }

    /// Returns its version.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Runs `script`, which must not fail, and returns its output.
    #[must_use]
    pub fn run(&self, script: &str) -> String {
        self.try_run(script).unwrap_or_else(|errors| panic!("sqlite3 {}: {errors}", self.version))
    }

    /// Runs `script` up to its first error, and returns its output, or the error.
    pub fn try_run(&self, script: &str) -> Result<String, String> {
        let mut command = Command::new("sqlite3");
        command.args(["-batch", "-bail", "-noheader", "-list"]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it was found");
        let mut stdin = child.stdin.take().expect("a pipe");
        let script = script.to_owned();
        let writer = std::thread::spawn(move || stdin.write_all(script.as_bytes()));
        let output = child.wait_with_output().unwrap();
        // It stops reading at an error, which the next line reports.
        let _ = writer.join().unwrap();
        if output.status.success() && output.stderr.is_empty() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }

    /// Asserts that it finds nothing wrong with these files, in one process.
    pub fn assert_sound(&self, files: &[PathBuf]) {
        const CHECKS: &str = "PRAGMA integrity_check;\nPRAGMA quick_check;\n";
        let script: String = files.iter().map(|file| open_command(file) + CHECKS).collect();
        let verdicts = self.run(&script);
        let verdicts: Vec<&str> = verdicts.lines().collect();
        if verdicts != vec!["ok"; 2 * files.len()] {
            // One by one, to name the file.
            for file in files {
                assert_eq!(
                    self.run(&(open_command(file) + CHECKS)),
                    "ok\nok\n",
                    "{}: {}",
                    self.version,
                    file.display()
                );
            }
            panic!("{}: {verdicts:?}", self.version);
        }
    }
}

/// Returns the command that makes the program open a file.
#[must_use]
pub fn open_command(file: &Path) -> String {
    format!(".open '{}'\n", file.display())
}
