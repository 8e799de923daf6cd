//! Writes a text file beside the result of a run: a page of HTML, or a recipe.
//!
//! ```text
//! TextFile::new     before the run: refuses names that the user may not mean
//! prepare           once the run cannot fail any more: the whole text, under a temporary name
//! publish           after the result has its name
//! ```

use crate::{Error, ErrorKind, Result, SchemaText, message};
use litepress_format::header::MAGIC;
use litepress_gen::Recipe;
use litepress_rows::OptionName;
use litepress_rows::files::is_same_file;
use litepress_rows::sqlite::companion_of;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// The content of a text file, which decides about the files that it may replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextKind {
    /// A page of HTML.
    Page,
    /// A recipe (TOML).
    Recipe,
}

/// A text file that a run is to write.
#[derive(Debug)]
pub(crate) struct TextFile {
    /// The file, or the one that a link leads to.
    path: PathBuf,
    overwrite: bool,
}

/// A text file that is written, but for its name. Dropped, it leaves nothing behind.
#[derive(Debug)]
pub(crate) struct PreparedText<'a> {
    file: &'a TextFile,
    text: &'a str,
    /// `None` for a pipe or a device.
    temporary: Option<TempPath>,
}

impl TextFile {
    /// Checks that the file may be written. `overwrite` replaces a file of the same kind, and an empty one. The files in `read` and the
    /// database in `made` are never replaced, nor is any other SQLite database.
    ///
    /// # Errors
    /// A name of another file, or of a file that SQLite keeps beside a database.
    pub fn new(path: &Path, kind: TextKind, overwrite: bool, read: &[&Path], made: Option<&Path>) -> Result<Self> {
        let found = fs::metadata(path).ok();
        if found.as_ref().is_some_and(fs::Metadata::is_dir) {
            return Err(Error::new(ErrorKind::Io, "this is a folder").in_file(path));
        }
        kind.refuse_other_files(path, read, made)?;
        if found.as_ref().is_some_and(fs::Metadata::is_file) {
            kind.refuse_content(path)?;
            if !overwrite {
                let error = Error::new(ErrorKind::Exists, "the file exists").in_file(path);
                let advice = message!["name another one, or replace it with ", OptionName::Overwrite.alone()];
                return Err(error.advise(advice));
            }
        }
        // The link /dev/stdout may lead to a pipe, which has no name.
        let is_link = path.is_symlink() && found.is_none_or(|found| found.is_file());
        let target = if is_link { fs::canonicalize(path) } else { Ok(path.to_owned()) };
        let path = target.map_err(|error| Error::io("follow the link", path, error))?;
        Ok(Self { path, overwrite })
    }

    /// Writes the text under a temporary name in the same folder.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn prepare<'a>(&'a self, text: &'a str) -> Result<PreparedText<'a>> {
        if fs::metadata(&self.path).is_ok_and(|found| !found.is_file()) {
            return Ok(PreparedText { file: self, text, temporary: None });
        }
        let path = &self.path;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // The system applies the user's mask.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let mut write = || -> std::io::Result<TempPath> {
            let mut file = builder.prefix(".litepress-").suffix(".tmp").tempfile_in(folder)?;
            file.write_all(text.as_bytes())?;
            file.as_file().sync_all()?;
            Ok(file.into_temp_path())
        };
        let temporary = write().map_err(|error| Error::io("write", path, error))?;
        Ok(PreparedText { file: self, text, temporary: Some(temporary) })
    }

    /// Writes the file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, text: &str) -> Result<()> {
        self.prepare(text)?.publish()
    }
}

impl PreparedText<'_> {
    /// Gives the file its name.
    ///
    /// # Errors
    /// If it cannot be renamed, or the pipe or the device fails.
    pub fn publish(self) -> Result<()> {
        let TextFile { path, overwrite } = self.file;
        let named = match self.temporary {
            None => File::options().write(true).open(path).and_then(|mut file| file.write_all(self.text.as_bytes())),
            Some(temporary) if *overwrite => temporary.persist(path).map_err(|error| error.error),
            Some(temporary) => temporary.persist_noclobber(path).map_err(|error| error.error),
        };
        named.map_err(|error| Error::io("write", path, error))
    }
}

impl TextKind {
    fn noun(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Recipe => "recipe",
        }
    }

    /// Refuses the names of files that the run reads or makes, and of files that SQLite keeps beside a database: it would take the text
    /// for a log.
    fn refuse_other_files(self, path: &Path, read: &[&Path], made: Option<&Path>) -> Result<()> {
        let noun = self.noun();
        let is_same = |file: &&Path| is_same_file(file, path);
        let database = companion_of(path);
        let is_beside = |database: &PathBuf| database.exists() || made.is_some_and(|made| is_same_file(made, database));
        let message = if read.iter().any(is_same) {
            format!("the file for the {noun} is a file that is read")
        } else if made.iter().any(is_same) {
            format!("the file for the {noun} is the database to make")
        } else if let Some(database) = database.filter(is_beside) {
            format!("the file for the {noun} has the name of a file that SQLite keeps beside '{}'", database.display())
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorKind::Usage, message).in_file(path).advise(format!("name another file for the {noun}")))
    }

    /// Refuses to replace a file of other content, which may be the user's data.
    fn refuse_content(self, path: &Path) -> Result<()> {
        let noun = self.noun();
        let mut start = Vec::new();
        let opened = File::open(path).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut start));
        opened.map_err(|error| Error::io("read", path, error))?;
        let (what, advice) = if start == MAGIC {
            ("it is a SQLite database".to_owned(), format!("name another file for the {noun}"))
        } else if start.is_empty() || self.is_begun_by(&start, path) {
            return Ok(());
        } else {
            (format!("it is no {noun}"), format!("name another file for the {noun}, or remove this one"))
        };
        Err(Error::new(ErrorKind::Exists, format!("the file exists, and {what}")).in_file(path).advise(advice))
    }

    /// Returns whether a file that begins with `start` has content of this kind.
    fn is_begun_by(self, start: &[u8], path: &Path) -> bool {
        const DOCTYPE: &[u8] = b"<!doctype html";
        match self {
            Self::Page => start.get(..DOCTYPE.len()).is_some_and(|start| start.eq_ignore_ascii_case(DOCTYPE)),
            Self::Recipe => {
                SchemaText::from_file(path).is_ok_and(|read| Recipe::parse(&read.text, &read.origin).is_ok())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(path: &Path, overwrite: bool, read: &[&Path]) -> Result<TextFile> {
        TextFile::new(path, TextKind::Page, overwrite, read, None)
    }

    #[test]
    fn a_text_replaces_its_kind_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.html");
        page(&path, false, &[]).unwrap().write("<!doctype html>1").unwrap();
        assert_eq!(page(&path, false, &[]).unwrap_err().kind(), ErrorKind::Exists);
        page(&path, true, &[]).unwrap().write("<!DOCTYPE html>2").unwrap();
        drop(page(&path, true, &[]).unwrap().prepare("3").unwrap());
        page(&path, true, &[]).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"<!DOCTYPE html>2");
        let recipe = TextFile::new(&path, TextKind::Recipe, true, &[], None).unwrap_err();
        assert!(recipe.message().contains("it is no recipe"), "{recipe}");
        fs::write(&path, "<p>mine</p>").unwrap();
        assert!(page(&path, true, &[]).unwrap_err().message().contains("it is no page"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn files_of_databases_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("a.db"), b"").unwrap();
        fs::write(path("b.db"), b"SQLite format 3\0...").unwrap();
        for (name, message) in [
            ("a.db", "a file that is read"),
            ("b.db", "it is a SQLite database"),
            ("a.db-wal", "keeps beside"),
            ("b.db-shm", "keeps beside"),
            ("b.db-journal", "keeps beside"),
        ] {
            let error = page(&path(name), true, &[&path("a.db")]).unwrap_err();
            assert!(error.message().contains(message), "{error}");
        }
        let made = path("c.db");
        for name in ["c.db", "c.db-wal"] {
            TextFile::new(&path(name), TextKind::Recipe, true, &[], Some(&made)).unwrap_err();
        }
        page(&path("d-wal"), true, &[]).unwrap();
    }

    /// `--write-recipe /dev/stdout` must not replace the device.
    #[cfg(unix)]
    #[test]
    fn devices_and_links_stay() {
        let folder = tempfile::tempdir().unwrap();
        TextFile::new(Path::new("/dev/null"), TextKind::Recipe, false, &[], None).unwrap().write("x").unwrap();
        let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
        fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        page(&link, true, &[]).unwrap().write("x").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"x");
    }
}
