//! liblitepress: the C library. `include/litepress.h` is its documentation.
//!
//! ```text
//! options.rs  litepress_options_*: names and values of options, as the program's
//! writer.rs   litepress_create, _open, _table, _finish, _abort: a Writer and the tables that were asked for
//! rows.rs     litepress_insert, _append: values and columns of C
//! arrow.rs    litepress_append_stream, _append_array: the Arrow C interfaces
//! error.rs    litepress_error_*: errors, status codes; panics end here
//! ```
//!
//! A pointer that must be valid is a reference here, and one that may be NULL is an `Option<&T>`.
//! **All `unsafe` of the library is in these files**: each block says which promise of the header it relies on.

mod arrow;
mod error;
mod options;
mod rows;
mod writer;

use std::ffi::c_char;

/// Returns the version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn litepress_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
