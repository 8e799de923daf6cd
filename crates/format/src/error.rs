//! The error of the decoders: bytes that break a rule of the file format.

use std::borrow::Cow;
use std::fmt;

/// A broken rule of the file format, and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    message: Cow<'static, str>,
    offset: usize,
}

impl FormatError {
    /// Makes an error about the byte at `offset`, counted from the start of the decoded slice.
    pub fn new(message: impl Into<Cow<'static, str>>, offset: usize) -> Self {
        Self { message: message.into(), offset }
    }

    /// Returns the broken rule, without the position.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the position, in bytes from the start of the decoded slice.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Moves the position by `base` bytes, for a caller whose slice begins that much earlier: a record error becomes
    /// a page error.
    #[must_use]
    pub fn within(self, base: usize) -> Self {
        Self { offset: self.offset.saturating_add(base), ..self }
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.message, self.offset)
    }
}

impl std::error::Error for FormatError {}
