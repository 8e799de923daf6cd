//! The program `litepress`: see the library of this package.
#![forbid(unsafe_code)]

use std::process::ExitCode;

/// Serves every thread from memory of its own: the static program would wait for the one lock of musl's allocator.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    litepress_cli::main_with(std::env::args_os()).into()
}
