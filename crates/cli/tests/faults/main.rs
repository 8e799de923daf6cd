//! Faults in the program as it is shipped: each of its calls of the system fails in turn, limits and disks are too small, signals
//! come at any moment. The error is told, the exit code is right, the target is as before or as after, and what is left is
//! removed by the next run. `make faults` does this at every call; the suite takes a sample.
#![cfg(target_os = "linux")]

mod calls;
mod limits;
mod scene;

/// Returns whether `make faults` asks for every call.
fn is_long() -> bool {
    std::env::var_os("LITEPRESS_FAULTS").is_some()
}

/// Returns whether a library ended the program: those of Rust and C want some memory of their own when a thread begins, for its
/// handle, its signal stack and the destructors of its variables. Rust takes the handle from the system, not from the program's
/// allocator, which would tell another error.
fn thread_had_no_memory(told: &str) -> bool {
    let words = ["memory allocation of", "alternative stack", "failed to register TLS destructor"];
    words.into_iter().any(|words| told.contains(words))
}
