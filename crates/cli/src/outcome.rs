//! What a command has to tell at its end.

use crate::output::{print, print_json};
use litepress::Result;
use serde_json::Value;

/// What a command has to tell at its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// For people.
    pub text: String,
    /// For programs: what `--json` prints.
    pub json: Value,
}

impl Outcome {
    /// Prints it.
    pub(crate) fn print(&self, as_json: bool) -> Result<()> {
        if as_json { print_json(&self.json) } else { print(&self.text) }
    }
}
