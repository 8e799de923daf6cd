//! The text of a schema: from a file, standard input, a built-in schema, or the program itself.

use crate::{Error, ErrorKind, Result};
use litepress_gen::presets;
use std::io::Read;
use std::path::Path;

/// CREATE statements before SQLite has read them, or a recipe, which holds some.
///
/// ```
/// let schema = litepress::SchemaText::from("-- gen: rows=10\nCREATE TABLE t (a);");
/// assert_eq!(schema.origin, "<schema>");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaText {
    /// CREATE statements with annotations, or the text of a recipe.
    pub text: String,
    /// The name of the text in errors.
    pub origin: String,
    /// The text is that of a recipe (TOML).
    pub is_recipe: bool,
}

impl From<&str> for SchemaText {
    fn from(text: &str) -> Self {
        Self::new(text, "<schema>")
    }
}

impl From<String> for SchemaText {
    fn from(text: String) -> Self {
        Self::new(text, "<schema>")
    }
}

impl SchemaText {
    /// Takes CREATE statements and their name in errors.
    pub fn new(text: impl Into<String>, origin: impl Into<String>) -> Self {
        Self { text: text.into(), origin: origin.into(), is_recipe: false }
    }

    /// Marks the text as that of a recipe.
    #[must_use]
    pub fn recipe(self) -> Self {
        Self { is_recipe: true, ..self }
    }

    /// Reads a file of CREATE statements; `-` is standard input.
    ///
    /// # Errors
    /// A file that cannot be read, or is not UTF-8.
    pub fn from_file(file: impl AsRef<Path>) -> Result<Self> {
        let file = file.as_ref();
        let is_input = file == Path::new("-");
        let origin = if is_input { "<standard input>".to_owned() } else { file.display().to_string() };
        let bytes = if is_input {
            let mut bytes = Vec::new();
            std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
        } else {
            read_regular(file)
        };
        let bytes = bytes.map_err(|error| Error::io("read the schema", Path::new(&origin), error))?;
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self::new(text, origin)),
            Err(error) => {
                let offset = error.utf8_error().valid_up_to();
                Err(Error::new(ErrorKind::Data, format!("byte {offset} of the schema is not UTF-8"))
                    .in_file(origin)
                    .advise("a schema is SQL text in UTF-8"))
            }
        }
    }

    /// Takes a built-in schema.
    ///
    /// # Errors
    /// A name that is none of the [presets](Self::presets).
    pub fn from_preset(name: &str) -> Result<Self> {
        let Some(preset) = presets::preset(name) else {
            let names: Vec<&str> = Self::presets().collect();
            return Err(Error::new(ErrorKind::Usage, format!("there is no preset '{name}'"))
                .advise(format!("presets are {}", names.join(", "))));
        };
        Ok(Self::new(preset.sql, format!("<preset {name}>")))
    }

    /// Returns the names of all built-in schemas.
    pub fn presets() -> impl Iterator<Item = &'static str> {
        presets::all().iter().map(|preset| preset.name)
    }
}

/// Reads a file of limited size. A named pipe might never end, and a device has no end.
fn read_regular(file: &Path) -> std::io::Result<Vec<u8>> {
    const LARGEST: u64 = 64 << 20;
    let refused = |what: &str| std::io::Error::other(what.to_owned());
    let metadata = std::fs::metadata(file)?;
    if metadata.is_dir() {
        return std::fs::read(file);
    }
    if !metadata.is_file() {
        return Err(refused("it is not a regular file; '-' reads standard input"));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(file)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST { Err(refused("a schema is 64 MiB at most")) } else { Ok(bytes) }
}

/// The texts that errors may be about, by their names in errors.
#[derive(Debug, Default)]
pub(crate) struct Texts(Vec<(String, String)>);

impl Texts {
    pub(crate) fn add(&mut self, name: impl Into<String>, text: impl Into<String>) {
        self.0.push((name.into(), text.into()));
    }

    /// Adds the excerpt of the text that the error is about.
    pub(crate) fn explain(&self, error: Error) -> Error {
        let file = error.place().file.as_deref();
        let text = self.0.iter().find(|(name, _)| file.is_some_and(|file| file.as_os_str() == name.as_str()));
        match text {
            Some((_, text)) => error.with_excerpt_of(text),
            None => error,
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// A schema of `/dev/zero` took all of the memory.
    #[test]
    fn schemas_are_regular_files() {
        let error = SchemaText::from_file("/dev/zero").expect_err("it has no end");
        assert!(error.to_string().contains("not a regular file"), "{error}");
        assert!(SchemaText::from_file("/nowhere.sql").is_err());
    }
}
