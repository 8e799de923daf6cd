//! The program `litepress`: see the library of this package.

mod memory;

use memory::Memory;
use std::process::ExitCode;

/// Serves every thread from memory of its own: the static program would wait for the one lock of musl's allocator.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: Memory<mimalloc::MiMalloc> = Memory(mimalloc::MiMalloc);

#[cfg(not(target_env = "musl"))]
#[global_allocator]
static ALLOCATOR: Memory<std::alloc::System> = Memory(std::alloc::System);

fn main() -> ExitCode {
    memory::tell_as_json(std::env::args_os().any(|argument| argument == "--json"));
    litepress_cli::main_with(std::env::args_os()).into()
}
