//! Errors and status codes, and the end of panics.

use litepress::message::{OptionName, OptionValue, Words};
use litepress::{Error, ErrorKind, Result};
use std::any::Any;
use std::cell::Cell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Result of a function: `litepress_status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum Status {
    /// Success.
    Ok = 0,
    /// [`ErrorKind::Usage`]
    Usage = 1,
    /// [`ErrorKind::Schema`]
    Schema = 2,
    /// [`ErrorKind::Unsupported`]
    Unsupported = 3,
    /// [`ErrorKind::Constraint`]
    Constraint = 4,
    /// [`ErrorKind::Data`]
    Data = 5,
    /// [`ErrorKind::Limit`]
    Limit = 6,
    /// [`ErrorKind::Exists`]
    Exists = 7,
    /// [`ErrorKind::Target`]
    Target = 8,
    /// [`ErrorKind::NoSpace`]
    NoSpace = 9,
    /// [`ErrorKind::Io`]
    Io = 10,
    /// [`ErrorKind::Corrupt`]
    Corrupt = 11,
    /// [`ErrorKind::Interrupted`]
    Interrupted = 12,
    /// A panic.
    Internal = 99,
}

/// An error in the words of C: `litepress_error`.
#[derive(Debug)]
pub struct CError {
    status: Status,
    message: CString,
    advice: Option<CString>,
    file: Option<CString>,
    table: Option<CString>,
    column: Option<CString>,
    value: Option<CString>,
    record: u64,
}

/// Options that are on or off.
const FLAGS: [OptionName; 3] = [OptionName::EnforceForeignKeys, OptionName::Overwrite, OptionName::Truncate];

/// Options with a value of their own, besides these.
const VALUES: [OptionName; 8] = [
    OptionName::BusyTimeout,
    OptionName::Key,
    OptionName::Memory,
    OptionName::OnConflict,
    OptionName::PageSize,
    OptionName::TempDir,
    OptionName::UpdateColumns,
    OptionName::Verify,
];

/// The advice for values that only an option of the program could convert.
const CONVERT: &str = "convert the values of the column before you give them, to texts for example";

/// The words of C: options are set by their names.
#[derive(Default)]
struct OptionsSet {
    /// Set when an option was named that C lacks.
    has_named_another: Cell<bool>,
}

impl Words for OptionsSet {
    fn name(&self, name: OptionName) -> String {
        format!("\"{}\"", name.name())
    }

    fn option(&self, name: OptionName, value: &OptionValue) -> String {
        if name == OptionName::Append {
            return "litepress_open()".to_owned();
        }
        if !FLAGS.contains(&name) && !VALUES.contains(&name) {
            self.has_named_another.set(true);
        }
        let value = match value {
            OptionValue::None if FLAGS.contains(&name) => "true".to_owned(),
            OptionValue::None => return format!("the option {}", self.name(name)),
            OptionValue::Word(word) => word.clone().into_owned(),
            OptionValue::Names(names) => names.join(","),
            OptionValue::Pair(left, right) => format!("{left}={right}"),
            OptionValue::Count(None, number) => number.clone(),
            OptionValue::Count(Some(table), number) => format!("{table}={number}"),
        };
        format!("litepress_options_set(options, {}, \"{value}\")", self.name(name))
    }

    fn choice(&self, _name: OptionName, choice: &str) -> String {
        format!("\"{choice}\"")
    }
}

/// Returns the advice, if it can be followed in C.
fn advice_of(error: &Error) -> Option<String> {
    let words = OptionsSet::default();
    let advice = error.advice_in(&words)?;
    if !words.has_named_another.get() {
        return Some(advice);
    }
    (error.kind() == ErrorKind::Data).then(|| CONVERT.to_owned())
}

impl CError {
    fn of(error: &Error) -> Self {
        let place = error.place();
        let text = |text: &Option<String>| text.as_deref().map(c_text);
        let excerpt = error.excerpt().map_or(String::new(), |excerpt| format!("\n{}", excerpt.trim_end()));
        Self {
            status: status_of(error.kind()),
            message: c_text(&(error.headline_in(&OptionsSet::default()) + &excerpt)),
            advice: advice_of(error).as_deref().map(c_text),
            file: place.file.as_deref().map(Path::to_string_lossy).as_deref().map(c_text),
            table: text(&place.table),
            column: text(&place.column),
            value: text(&place.value),
            record: place.record.unwrap_or(0),
        }
    }

    fn of_panic(panic: &(dyn Any + Send)) -> Self {
        let said = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        let message = format!("this is a mistake of litepress: {}", said.unwrap_or("a panic without a message"));
        Self { status: Status::Internal, ..Self::of(&Error::new(ErrorKind::Usage, message)) }
    }
}

fn status_of(kind: ErrorKind) -> Status {
    match kind {
        ErrorKind::Usage | ErrorKind::Generator => Status::Usage,
        ErrorKind::Schema => Status::Schema,
        ErrorKind::Unsupported => Status::Unsupported,
        ErrorKind::Constraint => Status::Constraint,
        ErrorKind::Data => Status::Data,
        ErrorKind::Limit => Status::Limit,
        ErrorKind::Exists => Status::Exists,
        ErrorKind::Target => Status::Target,
        ErrorKind::NoSpace => Status::NoSpace,
        ErrorKind::Io => Status::Io,
        ErrorKind::Corrupt => Status::Corrupt,
        ErrorKind::Interrupted => Status::Interrupted,
        _ => Status::Internal,
    }
}

/// Returns a text for C, which has no NUL within.
fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}

/// Runs the body of a function of the library. Stores its error, and makes an error of a panic.
pub fn run(error: Option<&mut *mut CError>, body: impl FnOnce() -> Result<()>) -> Status {
    let failure = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return Status::Ok,
        Ok(Err(failure)) => CError::of(&failure),
        Err(panic) => CError::of_panic(&*panic),
    };
    let status = failure.status;
    if let Some(error) = error {
        *error = Box::into_raw(Box::new(failure));
    }
    status
}

/// Returns what a pointer points to.
///
/// # Errors
/// If it is NULL.
pub fn given<T>(pointer: Option<T>, name: &str) -> Result<T> {
    pointer.ok_or_else(|| Error::new(ErrorKind::Usage, format!("{name} is NULL")))
}

/// Returns a text of the caller.
///
/// # Errors
/// If it is NULL or not UTF-8.
///
/// # Safety
/// The pointer is NULL or points to a text that ends with a NUL and lives for `'a`.
pub unsafe fn text<'a>(pointer: *const c_char, name: &str) -> Result<&'a str> {
    given((!pointer.is_null()).then_some(()), name)?;
    // SAFETY: the caller promises a text that ends with a NUL.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| {
        let shown = text.to_string_lossy().into_owned();
        Error::new(ErrorKind::Usage, format!("{name} is not UTF-8")).with_value(shown)
    })
}

fn pointer(text: Option<&CString>) -> *const c_char {
    text.map_or(std::ptr::null(), |text| text.as_ptr())
}

/// Returns place and message.
#[unsafe(no_mangle)]
pub extern "C" fn litepress_error_message(error: Option<&CError>) -> *const c_char {
    pointer(error.map(|error| &error.message))
}

/// Returns the advice, or NULL.
#[unsafe(no_mangle)]
pub extern "C" fn litepress_error_advice(error: Option<&CError>) -> *const c_char {
    pointer(error.and_then(|error| error.advice.as_ref()))
}

/// Returns the status of the call that failed.
#[unsafe(no_mangle)]
pub extern "C" fn litepress_error_status(error: Option<&CError>) -> Status {
    error.map_or(Status::Ok, |error| error.status)
}

/// Returns the file, or NULL.
#[unsafe(no_mangle)]
pub extern "C" fn litepress_error_file(error: Option<&CError>) -> *const c_char {
    pointer(error.and_then(|error| error.file.as_ref()))
}

/// Returns the table, or NULL.
#[unsafe(no_mangle)]
pub extern "C" fn litepress_error_table(error: Option<&CError>) -> *const c_char {
    pointer(error.and_then(|error| error.table.as_ref()))
}

/// Returns the column, or NULL.
#[unsafe(no_mangle)]
pub extern "C" fn litepress_error_column(error: Option<&CError>) -> *const c_char {
    pointer(error.and_then(|error| error.column.as_ref()))
}

/// Returns the offending value, or NULL.
#[unsafe(no_mangle)]
pub extern "C" fn litepress_error_value(error: Option<&CError>) -> *const c_char {
    pointer(error.and_then(|error| error.value.as_ref()))
}

/// Returns the number of the record, or 0.
#[unsafe(no_mangle)]
pub extern "C" fn litepress_error_record(error: Option<&CError>) -> u64 {
    error.map_or(0, |error| error.record)
}

/// Frees an error.
#[unsafe(no_mangle)]
pub extern "C" fn litepress_error_free(error: Option<Box<CError>>) {
    drop(error);
}
