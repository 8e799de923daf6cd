//! The Go package without cgo runs this program.

use crate::LITEPRESS;
use std::path::Path;
use std::process::Command;

#[test]
fn the_go_package_passes_its_tests_without_cgo() {
    if !Command::new("go").arg("version").output().is_ok_and(|output| output.status.success()) {
        println!("skipped: Go is not installed");
        return;
    }
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../go");
    for arguments in [["vet", "./..."].as_slice(), &["test", "-count=1", "-vet=off", "./..."]] {
        let mut command = Command::new("go");
        command.args(arguments).current_dir(&package);
        command.envs([("CGO_ENABLED", "0"), ("GOPROXY", "off"), ("LITEPRESS_PROGRAM", LITEPRESS)]);
        let output = command.output().expect("Go");
        let said = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
    }
}
