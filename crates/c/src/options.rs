//! Options by their names.

use crate::error::{CError, Status, given, run, text};
use litepress::{AppendOptions, Choice, Error, ErrorKind, Options, Progress, Result, parse};
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

impl COptions {
    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        let wrong = |why: String| Error::new(ErrorKind::Usage, format!("option \"{name}\": {why}")).with_value(value);
        let flag = || match value {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(wrong("this is neither true nor false".to_owned())),
        };
        let names = || value.split(',').map(|name| name.trim().to_owned()).collect::<Vec<String>>();
        let Self { options, append, .. } = self;
        match name {
            "threads" => options.threads = parse::threads(value).map_err(wrong)?,
            "memory" => options.memory_bytes = parse::memory(value).map_err(wrong)?,
            "temp-dir" => options.temp_dir = Some(value.into()),
            "page-size" => options.page_size = Some(parse::page_size(value).map_err(wrong)?),
            "overwrite" => options.overwrite = flag()?,
            "on-conflict" => options.on_conflict = Choice::from_name(value).map_err(wrong)?,
            "key" => options.key = names(),
            "update-columns" => options.update_columns = names(),
            "sync" => options.sync = Choice::from_name(value).map_err(wrong)?,
            "analyze" => options.analyze = flag()?,
            "verify" => options.verify = Choice::from_name(value).map_err(wrong)?,
            "busy-timeout" => append.busy_timeout = parse::seconds(value).map_err(wrong)?,
            "truncate" => append.truncate = flag()?,
            "through-wal" => append.through_wal = flag()?,
            "enforce-foreign-keys" => append.enforce_foreign_keys = flag()?,
            _ => {
                let error = Error::new(ErrorKind::Usage, format!("there is no option \"{name}\""));
                return Err(error.advise("litepress.h lists the options above litepress_options_set"));
            }
        }
        Ok(())
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
        given(options, "options")?.set(name, value)
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
