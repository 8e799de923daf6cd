//! What a decoder says about bytes that are not what the format allows.

use std::borrow::Cow;
use std::fmt;

/// Bytes that break a rule of the file format: which rule, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    what: Cow<'static, str>,
    offset: usize,
}

impl FormatError {
    /// An error about the byte at `offset`, counted from the start of the slice that the decoder
    /// was given.
    pub fn new(what: impl Into<Cow<'static, str>>, offset: usize) -> Self {
        Self { what: what.into(), offset }
    }

    /// What is wrong, without the place.
    #[must_use]
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Where, in bytes from the start of the slice that was decoded.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// The same error for a caller whose slice begins `base` bytes earlier: a record error becomes
    /// a page error.
    #[must_use]
    pub fn within(self, base: usize) -> Self {
        Self { offset: self.offset.saturating_add(base), ..self }
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.what, self.offset)
    }
}

impl std::error::Error for FormatError {}
