//! An allocator that ends the program with an error if the system has no memory left, where Rust would let it crash.
//!
//! `unsafe`: the trait of allocators is. Each method passes its arguments on to another allocator and its answer back. The error is
//! written by hand, because whatever prints or formats may want memory.
#![expect(unsafe_code, reason = "an allocator cannot be made without; see the head of this file")]

use std::alloc::{GlobalAlloc, Layout};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Allocates as another allocator does, and fails as the program does.
pub struct Memory<A>(pub A);

static IS_JSON: AtomicBool = AtomicBool::new(false);
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

/// Sets the form of the error.
pub fn tell_as_json(is_json: bool) {
    IS_JSON.store(is_json, Ordering::Relaxed);
}

// SAFETY: memory comes from `A`, which keeps the rules; a call that does not return gives nothing away.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Memory<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the rules of the same method.
        had(unsafe { self.0.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the rules of the same method.
        had(unsafe { self.0.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: the caller keeps the rules of the same method.
        had(unsafe { self.0.realloc(memory, layout, bytes) }, bytes)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the rules of the same method.
        unsafe { self.0.dealloc(memory, layout) }
    }
}

/// Returns memory that was asked for, if it can be had.
#[inline]
fn had(memory: *mut u8, bytes: usize) -> *mut u8 {
    if memory.is_null() {
        end(bytes);
    }
    memory
}

/// Tells the error and ends the program. The target is as it was; the next run removes the temporary file.
#[cold]
fn end(bytes: usize) -> ! {
    if HAS_FAILED.swap(true, Ordering::Relaxed) {
        // The first thread tells it, and ends this one, too.
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    let mut text = [0; 400];
    let mut left = &mut text[..];
    let help = "free some memory, raise the limit (ulimit -v), or use less of it with --memory and --threads";
    // The text fits.
    let _ = if IS_JSON.load(Ordering::Relaxed) {
        writeln!(
            left,
            "{{\"kind\": \"limit\", \"message\": \"the system has no {bytes} bytes of memory left\", \"file\": null, \
             \"record\": null, \"line\": null, \"character\": null, \"table\": null, \"column\": null, \"value\": null, \
             \"help\": \"{help}\", \"exit_code\": 1}}"
        )
    } else {
        writeln!(left, "error: the system has no {bytes} bytes of memory left\nhelp: {help}")
    };
    let unused = left.len();
    tell(&text[..400 - unused]);
    // Not `std::process::exit`, which waits for the buffer of standard output if this thread is just making it.
    signal_hook::low_level::exit(1)
}

#[cfg(unix)]
fn tell(text: &[u8]) {
    use std::fs::File;
    use std::mem::ManuallyDrop;
    use std::os::fd::FromRawFd;
    // The standard library's own handle may be in use by this thread, in the middle of a message.
    // SAFETY: standard error is open for as long as the program runs, and is not closed here.
    let mut out = ManuallyDrop::new(unsafe { File::from_raw_fd(2) });
    let _ = out.write_all(text);
}

#[cfg(not(unix))]
fn tell(text: &[u8]) {
    let _ = std::io::stderr().write_all(text);
}
