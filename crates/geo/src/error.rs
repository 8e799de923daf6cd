//! The error of a value that is no geometry.

use std::borrow::Cow;
use std::fmt;

/// The reason why a value is no geometry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeometryError(Cow<'static, str>);

impl GeometryError {
    pub(crate) fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for GeometryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for GeometryError {}
