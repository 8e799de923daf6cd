//! Descriptions of generators and of the other calls in annotations.

use std::fmt::{self, Debug};

/// The description of a generator.
pub struct Entry {
    /// Name in annotations.
    pub name: &'static str,
    /// Parameters in order.
    pub parameters: &'static [Parameter],
    /// Notation of the arguments, if it takes any number of values instead of `parameters`.
    pub values: Option<&'static str>,
    /// One line about its values.
    pub about: &'static str,
    /// An example call.
    pub example: &'static str,
}

/// A parameter of a generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name in `name=value`.
    pub name: &'static str,
    /// Default: `None` if the argument is required, empty if it may be left out without one.
    pub default: Option<&'static str>,
}

impl Entry {
    /// Describes a call with parameters.
    pub(super) const fn new(
        name: &'static str,
        parameters: &'static [Parameter],
        about: &'static str,
        example: &'static str,
    ) -> Self {
        Self { name, parameters, values: None, about, example }
    }

    /// Returns the call with the names of its parameters: `sequence(start=1, step=1)`.
    pub fn signature(&self) -> String {
        let parameters: Vec<String> = match self.values {
            Some(values) => vec![values.to_owned()],
            None => self.parameters.iter().map(Parameter::to_string).collect(),
        };
        if parameters.is_empty() { self.name.to_owned() } else { format!("{}({})", self.name, parameters.join(", ")) }
    }

    /// Returns the help of errors about a call of this generator.
    pub(super) fn usage(&self) -> String {
        format!("{}: for example {}", self.signature(), self.example)
    }
}

impl Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.signature())
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.default {
            None => f.write_str(self.name),
            Some("") => write!(f, "[{}]", self.name),
            Some(default) => write!(f, "{}={default}", self.name),
        }
    }
}

pub(super) const fn given(name: &'static str) -> Parameter {
    Parameter { name, default: None }
}

pub(super) const fn default(name: &'static str, value: &'static str) -> Parameter {
    Parameter { name, default: Some(value) }
}

pub(super) const fn optional(name: &'static str) -> Parameter {
    default(name, "")
}
