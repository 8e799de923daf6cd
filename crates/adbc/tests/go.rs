//! A program in Go loads the driver by ADBC's driver manager, and runs the validation suite of ADBC for Go.
//!
//! Skipped aloud where there is no Go, no C++ compiler, or no way to Go's modules.

use std::path::Path;
use std::process::Command;

#[test]
fn the_driver_passes_the_validation_suite() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/go");
    let runs = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
    for (tool, argument) in [("go", "version"), ("c++", "--version")] {
        if !runs(Command::new(tool).arg(argument)) {
            println!("skipped: there is no {tool}");
            return;
        }
    }
    if !runs(Command::new("go").args(["mod", "download"]).current_dir(&folder)) {
        println!("skipped: Go's modules cannot be had");
        return;
    }
    let library = std::env::current_exe().expect("a program").with_file_name("libadbc_driver_litepress.so");
    let output = Command::new("go")
        // Compiling ADBC takes most of the time: nothing is optimized.
        .args(["test", "-count=1", "-vet=off", "-gcflags=all=-N", "./..."])
        .current_dir(folder)
        .envs([("CGO_ENABLED", "1"), ("CGO_CFLAGS", "-O0"), ("CGO_CXXFLAGS", "-O0")])
        .env("LITEPRESS_ADBC", library)
        .env("LITEPRESS_VERSION", env!("CARGO_PKG_VERSION"))
        .env("ARROW_VERSION", arrow_array::ARROW_VERSION)
        .env("SQLITE_VERSION", rusqlite::version())
        .output()
        .expect("go");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}
