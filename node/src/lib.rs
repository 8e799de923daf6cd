//! The native part of the Node.js package `litepress`. `../index.js` is its face, which packs rows into batches.
//!
//! ```text
//! writer.rs  NativeWriter: a Writer, its tables by numbers, calls that wait on a thread of their own
//! batch.rs   rows of JavaScript as arrays of bytes and numbers
//! error.rs   errors as JSON, which index.js turns into a LitepressError
//! ```

mod batch;
mod error;
mod writer;

use napi_derive::napi;

/// Returns the version of the package.
#[napi]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
