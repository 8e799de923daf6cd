//! Options by their names.

use crate::error::{CError, Status, given, run, text};
use litepress::{AppendOptions, Error, ErrorKind, Options, Progress, option_by_name};
use std::ffi::{CString, c_char, c_int, c_void};
use std::time::{Duration, Instant};

/// Time between two calls of a watcher.
pub const WATCH_TIME: Duration = Duration::from_millis(100);

/// Options of a database: `litepress_options`.
#[derive(Clone, Debug, Default)]
pub struct COptions {
    /// Options of any database.
    pub options: Options,
    /// Options of a database that exists.
    pub append: AppendOptions,
    /// Hears of the progress.
    pub watcher: Option<Watcher>,
}

/// Progress of a writer: `litepress_progress`.
#[derive(Debug)]
#[repr(C)]
pub struct CProgress {
    size: usize,
    rows: u64,
    bytes: u64,
    phase: *const c_char,
}

type WatchFunction = unsafe extern "C" fn(*mut c_void, *const CProgress) -> c_int;

/// A function of the program that hears of the progress.
#[derive(Clone, Copy, Debug)]
pub struct Watcher {
    function: WatchFunction,
    context: *mut c_void,
    last: Instant,
}

impl Watcher {
    /// Calls the function if it is time. Its wish to stop goes to `progress`.
    pub fn look(&mut self, progress: &Progress) {
        if self.last.elapsed() < WATCH_TIME {
            return;
        }
        self.last = Instant::now();
        let phase = CString::new(progress.stage()).unwrap_or_default();
        let (rows, bytes) = (progress.rows(), progress.bytes());
        let shown = CProgress { size: size_of::<CProgress>(), rows, bytes, phase: phase.as_ptr() };
        // SAFETY: the program gave this function for this context, and the struct lives until it returns.
        if unsafe { (self.function)(self.context, &raw const shown) } != 0 {
            progress.stop();
        }
    }
}

/// Returns the default options.
#[unsafe(no_mangle)]
pub extern "C" fn litepress_options_new() -> Box<COptions> {
    Box::default()
}

/// Frees options.
#[unsafe(no_mangle)]
pub extern "C" fn litepress_options_free(options: Option<Box<COptions>>) {
    drop(options);
}

/// Sets an option.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn litepress_options_set(
    options: Option<&mut COptions>,
    name: *const c_char,
    value: *const c_char,
    error: Option<&mut *mut CError>,
) -> Status {
    run(error, || {
        // SAFETY: the caller gives a text that ends with a NUL, or NULL.
        let name = unsafe { text(name, "the name of the option") }?;
        // SAFETY: as above.
        let value = unsafe { text(value, "the value of the option") }?;
        let COptions { options, append, .. } = given(options, "options")?;
        let error = match option_by_name::set(options, append, name, value) {
            Ok(true) => return Ok(()),
            Ok(false) => Error::new(ErrorKind::Usage, format!("there is no option \"{name}\"")),
            Err(error) => return Err(error),
        };
        Err(error.advise("litepress.h lists the options above litepress_options_set"))
    })
}

/// Sets or removes the watcher.
#[unsafe(no_mangle)]
pub extern "C" fn litepress_options_watch(
    options: Option<&mut COptions>,
    watcher: Option<WatchFunction>,
    context: *mut c_void,
) {
    if let Some(options) = options {
        let watch = |function| Watcher { function, context, last: Instant::now() };
        options.watcher = watcher.map(watch);
    }
}
