//! Where the text of a schema comes from: a file, standard input, or a preset.

use litepress::{Error, ErrorKind, Result};
use litepress_gen::presets;
use std::io::Read;
use std::path::Path;

/// A schema before SQLite has seen it.
#[derive(Clone, Debug)]
pub struct SchemaText {
    /// CREATE statements with annotations.
    pub text: String,
    /// What errors call it.
    pub origin: String,
}

/// Reads the schema from `file` (`-` is standard input) or takes the preset.
pub(crate) fn read(file: Option<&Path>, preset: Option<&str>) -> Result<SchemaText> {
    match (file, preset) {
        (Some(file), None) => SchemaText::from_file(file),
        (None, Some(name)) => SchemaText::from_preset(name),
        (Some(_), Some(_)) => Err(Error::new(ErrorKind::Usage, "a schema file and --preset exclude one another")),
        (None, None) => Err(Error::new(ErrorKind::Usage, "no schema is given")
            .advise("name a file with CREATE statements ('-' reads standard input), or a built-in one: --preset user")),
    }
}

impl SchemaText {
    /// The text of a file; `-` is standard input.
    ///
    /// # Errors
    /// A file that cannot be read, or is not UTF-8.
    pub fn from_file(file: &Path) -> Result<Self> {
        let is_input = file == Path::new("-");
        let origin = if is_input { "<standard input>".to_owned() } else { file.display().to_string() };
        let bytes = if is_input {
            let mut bytes = Vec::new();
            std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
        } else {
            std::fs::read(file)
        };
        let bytes = bytes.map_err(|error| Error::io("read the schema", Path::new(&origin), error))?;
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self { text, origin }),
            Err(error) => {
                let offset = error.utf8_error().valid_up_to();
                Err(Error::new(ErrorKind::Data, format!("byte {offset} of the schema is not UTF-8"))
                    .in_file(origin)
                    .advise("a schema is SQL text in UTF-8"))
            }
        }
    }

    /// A built-in schema.
    ///
    /// # Errors
    /// Names all of them.
    pub fn from_preset(name: &str) -> Result<Self> {
        let Some(preset) = presets::preset(name) else {
            let names: Vec<&str> = Self::presets().collect();
            return Err(Error::new(ErrorKind::Usage, format!("there is no preset '{name}'"))
                .advise(format!("presets are {}; --list-presets shows them", names.join(", "))));
        };
        Ok(Self { text: preset.sql.to_owned(), origin: format!("<preset {name}>") })
    }

    /// Names of all built-in schemas.
    pub fn presets() -> impl Iterator<Item = &'static str> {
        presets::all().iter().map(|preset| preset.name)
    }
}
