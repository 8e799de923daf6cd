//! What a FILE argument is: a path, standard input, compressed or not, and of which kind.

use crate::options::{Format, ReadOptions};
use litepress_rows::{Error, Result};
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

/// A file to read, as often as needed.
#[derive(Clone, Debug)]
pub struct Input {
    /// What it is called in errors: its path, or `<standard input>`.
    pub name: PathBuf,
    /// Its kind.
    pub format: Format,
    /// Bytes of the file itself, compressed or not, where they are known.
    pub bytes: Option<u64>,
}

impl Input {
    /// The text of the file from its beginning: decompressed, in UTF-8, without byte-order mark.
    ///
    /// # Errors
    /// A file that cannot be opened; standard input that was read before.
    pub fn text(&self, options: &ReadOptions) -> Result<Box<dyn Read + Send>> {
        let _ = options;
        todo!("helper D")
    }

    /// The file itself, to be read by position.
    ///
    /// # Errors
    /// A file that cannot be opened.
    pub fn file(&self) -> Result<File> {
        File::open(&self.name).map_err(|error| Error::io("open", &self.name, error))
    }
}
