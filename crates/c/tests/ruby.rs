//! The tests of the Ruby package run against the library of this build.

use std::path::Path;
use std::process::Command;

#[test]
fn the_ruby_package_passes_its_tests() {
    if Command::new("ruby")
        .args(["-r", "fiddle", "-r", "minitest", "-e", ""])
        .status()
        .is_ok_and(|status| status.success())
    {
        let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ruby");
        let library = std::env::current_exe().expect("a program").with_file_name("liblitepress_c.so");
        let mut command = Command::new("ruby");
        command
            .args(["-w", "-I", "lib", "test/litepress_test.rb"])
            .current_dir(package)
            .env("LITEPRESS_LIBRARY", library);
        let output = command.output().expect("Ruby");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        assert!(said.contains(" 0 failures, 0 errors"), "{said}");
        assert!(!String::from_utf8_lossy(&output.stderr).contains("warning"), "{output:?}");
    } else {
        println!("skipped: there is no Ruby with Fiddle and minitest");
    }
}
