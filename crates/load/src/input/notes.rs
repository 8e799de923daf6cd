//! Notes about files for the report: parts that were skipped, values that have no place in a table.

use litepress_rows::sync::{Mutex, lock};
use std::sync::Arc;

/// Notes in the order of their first appearance. A file may be read several times, and each note is kept once. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    /// Adds a note, a sentence without full stop that begins with the name of the file.
    pub fn add(&self, note: String) {
        let mut notes = lock(&self.0);
        if !notes.contains(&note) {
            notes.push(note);
        }
    }

    /// Returns all notes.
    pub fn all(&self) -> Vec<String> {
        lock(&self.0).clone()
    }
}
