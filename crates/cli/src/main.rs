//! The program `litepress`: see the library of this package.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    litepress_cli::main_with(std::env::args_os()).into()
}
