//! Opens FILE arguments: a path or standard input, compressed or not, of any format.
//!
//! The content decides the format, never the name (content.rs). Text is decompressed (compressed.rs) and converted to UTF-8
//! (decoded.rs). It can be read from its beginning as often as needed: an input that can be read only once (standard input, a
//! FIFO) is [spooled](Input::spool) first. Binary formats are files, which their readers seek in.

mod archive;
mod arguments;
mod compressed;
mod content;
mod decoded;
mod members;
mod notes;

pub use notes::Notes;

use crate::options::{Format, ReadOptions};
use archive::Member;
use compressed::{Compression, Counted};
use litepress_rows::files::{FileExt, opened_again, retry};
use litepress_rows::sync::{Mutex, lock};
use litepress_rows::{Error, ErrorKind, Result};
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name of standard input in errors.
const STANDARD_INPUT: &str = "<standard input>";

/// Extensions that state the format or compression of a file. They are not part of the table's name.
const ENDINGS: [&str; 38] = [
    "csv",
    "tsv",
    "tab",
    "psv",
    "tbl",
    "txt",
    "json",
    "ndjson",
    "jsonl",
    "jsonlines",
    "ldjson",
    "geojson",
    "geojsonl",
    "geojsons",
    "parquet",
    "pq",
    "geoparquet",
    "arrow",
    "arrows",
    "ipc",
    "feather",
    "fgb",
    "db",
    "db3",
    "sqlite",
    "sqlite3",
    "gz",
    "gzip",
    "zst",
    "zstd",
    "bz2",
    "xz",
    "lz4",
    "xlsx",
    "xlsm",
    "xlsb",
    "xls",
    "ods",
];

/// Extensions of compressed files.
const COMPRESSED: [&str; 7] = ["gz", "gzip", "zst", "zstd", "bz2", "xz", "lz4"];

/// A file that can be read as often as needed.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name in errors: its path, or `<standard input>`.
    pub name: PathBuf,
    /// Its format.
    pub format: Format,
    /// Size of the file itself, compressed or not, if known.
    pub bytes: Option<u64>,
    /// Name of its encoding. Empty if it is not text.
    pub encoding: &'static str,
    source: Source,
    compression: Option<Compression>,
    /// Its table is named after it.
    names_table: bool,
}

#[derive(Clone)]
enum Source {
    /// A file, opened anew for each reading.
    Path(PathBuf),
    /// A temporary file without a name.
    Spooled(Arc<File>),
    /// A member of an archive.
    Member(Arc<Member>),
    /// A stream that can be read once, by one of the clones.
    Once(Arc<Mutex<Option<Bytes>>>),
}

/// A stream of a file's raw bytes.
type Bytes = Box<dyn Read + Send>;

impl Input {
    /// Opens the file of this path. Its content decides the format, unless the options do.
    ///
    /// # Errors
    /// As [`from_arguments`](Self::from_arguments).
    pub fn from_path(path: &Path, options: &ReadOptions) -> Result<Self> {
        let kind = std::fs::metadata(path).map_err(|error| cannot_open(path, error))?;
        options.path_guard.map_or(Ok(()), |guard| guard(path))?;
        if kind.is_dir() {
            let advice = format!("name its files: '{}/*.csv'", path.display());
            return Err(Error::new(ErrorKind::Usage, "this is a folder").in_file(path).advise(advice));
        }
        let file = File::open(path).map_err(|error| cannot_open(path, error))?;
        if kind.is_file() {
            return Self::examine(path, Source::Path(path.to_owned()), Some(kind.len()), Box::new(file), options);
        }
        Self::from_stream(path, Box::new(file), options)
    }

    /// Returns the input of a stream, which can be read once.
    ///
    /// # Errors
    /// As [`from_arguments`](Self::from_arguments).
    pub fn from_stream(name: &Path, stream: Box<dyn Read + Send>, options: &ReadOptions) -> Result<Self> {
        let source = Arc::new(Mutex::new(None));
        Self::examine(name, Source::Once(source), None, stream, options)
    }

    /// Detects format and compression from the first bytes. A stream gets these bytes back.
    fn examine(
        name: &Path,
        source: Source,
        bytes: Option<u64>,
        mut stream: Bytes,
        options: &ReadOptions,
    ) -> Result<Self> {
        let head = content::read_head(&mut stream).map_err(|error| read_failed(name, error))?;
        let (format, compression, encoding) = content::examine(name, &head, options)?;
        let bytes = if head.is_empty() { Some(0) } else { bytes };
        if let Source::Once(once) = &source {
            let whole: Bytes = Box::new(io::Cursor::new(head).chain(stream));
            *lock(once) = Some(whole);
        }
        let names_table = matches!(source, Source::Path(_) | Source::Member(_));
        Ok(Self { name: name.to_owned(), format, bytes, encoding, source, compression, names_table })
    }

    /// Returns the text of the file from its beginning: decompressed, in UTF-8, without byte-order mark. UTF-8 text is returned
    /// unchecked. Counts every byte read from the file in [`ReadOptions::bytes_read`].
    ///
    /// [`read_failed`] converts errors of the returned stream.
    ///
    /// # Errors
    /// If the file cannot be opened, standard input was read before, or the encoding is unknown.
    pub fn text(&self, options: &ReadOptions) -> Result<Box<dyn Read + Send>> {
        decoded::to_utf8(self.decompressed(options)?, &self.name, options)
    }

    fn decompressed(&self, options: &ReadOptions) -> Result<Bytes> {
        let bytes = Counted::new(self.raw(options)?, options.bytes_read.clone());
        Ok(match self.compression {
            Some(compression) => compression.decompress(bytes, &self.name, &options.notes),
            None => Box::new(bytes),
        })
    }

    /// Returns the raw bytes of the file, for binary formats that can be streamed (an Arrow stream). They are counted like those
    /// of [`text`](Self::text).
    ///
    /// # Errors
    /// As [`text`](Self::text).
    pub fn stream(&self, options: &ReadOptions) -> Result<Box<dyn Read + Send>> {
        Ok(Box::new(Counted::new(self.raw(options)?, options.bytes_read.clone())))
    }

    fn raw(&self, options: &ReadOptions) -> Result<Bytes> {
        match &self.source {
            Source::Member(member) => Ok(member.read(&self.name, &options.notes)),
            Source::Path(path) => Ok(Box::new(File::open(path).map_err(|error| cannot_open(path, error))?)),
            Source::Spooled(file) => Ok(Box::new(FromStart { file: file.clone(), at: 0 })),
            Source::Once(once) => lock(once)
                .take()
                .ok_or_else(|| Error::new(ErrorKind::Usage, "this cannot be read twice").in_file(&self.name)),
        }
    }

    /// Opens the file for readers that seek. Each call returns a file with its own position, at the beginning.
    ///
    /// # Errors
    /// If the file cannot be opened, or is a stream that is not [spooled](Self::spool).
    pub fn file(&self) -> Result<File> {
        let cannot = |error| Error::io("open", &self.name, error);
        match &self.source {
            Source::Path(path) => File::open(path).map_err(|error| cannot_open(path, error)),
            // A file that is opened anew has its own position; a duplicate would share it.
            Source::Spooled(file) => opened_again(file).map_err(cannot),
            Source::Member(_) => {
                let error = Error::new(ErrorKind::Usage, "this kind of file is not read within an archive");
                Err(error.in_file(&self.name).advise("unpack the archive first"))
            }
            Source::Once(_) => {
                let message = "this kind of file is not read from its beginning to its end, which is all a pipe gives";
                let error = Error::new(ErrorKind::Usage, message).in_file(&self.name);
                Err(error.advise("save it as a file first"))
            }
        }
    }

    /// Returns the path of the file, if it can be opened again by one.
    pub fn path(&self) -> Option<&Path> {
        if let Source::Path(path) = &self.source { Some(path) } else { None }
    }

    /// Returns the beginning of an input that can be read once, or the whole of any other. It stays unread.
    ///
    /// # Errors
    /// If the input was read before.
    pub fn beginning(&self, bytes: u64) -> Result<Self> {
        let Source::Once(once) = &self.source else { return Ok(self.clone()) };
        let mut stream = self.raw(&ReadOptions::default())?;
        let mut head = Vec::new();
        let read = (&mut stream).take(bytes).read_to_end(&mut head);
        let beginning: Bytes = Box::new(io::Cursor::new(head.clone()));
        *lock(once) = Some(Box::new(io::Cursor::new(head).chain(stream)));
        read.map_err(|error| read_failed(&self.name, error))?;
        Ok(Self { source: Source::Once(Arc::new(Mutex::new(Some(beginning)))), ..self.clone() })
    }

    /// Returns a part of the file, of this name in errors. Its bytes count as read.
    #[must_use]
    pub fn part(&self, name: PathBuf) -> Self {
        Self { name, bytes: Some(0), ..self.clone() }
    }

    /// Returns the path of the file that holds the data: the file itself, or the archive that it is a member of.
    pub fn outer_path(&self) -> Option<&Path> {
        if let Source::Member(member) = &self.source { Some(&member.archive) } else { self.path() }
    }

    /// Returns whether [`text`](Self::text) may be called more than once.
    pub fn can_be_read_twice(&self) -> bool {
        !matches!(self.source, Source::Once(_))
    }

    /// Unpacks a file of a binary format that is compressed or a member of an archive, to a temporary file without a name in
    /// `temp_dir`. Calls `go_on` now and then. Does nothing for other inputs.
    ///
    /// # Errors
    /// As [`spool`](Self::spool).
    pub fn unpack(&mut self, temp_dir: &Path, options: &ReadOptions, go_on: &dyn Fn() -> Result<()>) -> Result<()> {
        let is_packed = self.compression.is_some() || matches!(self.source, Source::Member(_));
        if !is_packed || !self.format.is_binary() || self.format == Format::Sqlite {
            return Ok(());
        }
        // Unpacking is no part of the progress of reading.
        let bytes = self.decompressed(&ReadOptions { bytes_read: Arc::default(), ..options.clone() })?;
        self.copy_to(bytes, temp_dir, go_on)?;
        self.compression = None;
        Ok(())
    }

    /// Copies an input that can be read only once to a temporary file without a name in `temp_dir`. Calls `go_on` now and then.
    /// Does nothing for other inputs.
    ///
    /// # Errors
    /// If reading or writing fails, or `go_on` does.
    pub fn spool(&mut self, temp_dir: &Path, go_on: &dyn Fn() -> Result<()>) -> Result<()> {
        if self.can_be_read_twice() {
            return Ok(());
        }
        let bytes = self.raw(&ReadOptions::default())?;
        self.copy_to(bytes, temp_dir, go_on)
    }

    /// Copies the bytes to a temporary file, which becomes the source.
    fn copy_to(&mut self, mut bytes: Bytes, temp_dir: &Path, go_on: &dyn Fn() -> Result<()>) -> Result<()> {
        let unwritable = |error| {
            let advice = "free some room there, or name another folder for temporary files";
            Error::io("write a copy of what cannot be read twice into this folder", temp_dir, error).advise(advice)
        };
        let mut file = tempfile::tempfile_in(temp_dir).map_err(unwritable)?;
        let mut buffer = vec![0; 1 << 20];
        let mut copied = 0;
        loop {
            go_on()?;
            match bytes.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => {
                    file.write_all(&buffer[..read]).map_err(unwritable)?;
                    copied += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(read_failed(&self.name, error)),
            }
        }
        self.bytes = Some(copied);
        self.source = Source::Spooled(Arc::new(file));
        Ok(())
    }

    /// Returns the default name of the table: the file name without known extensions. `None` for inputs without a path (standard
    /// input).
    pub fn table_name(&self) -> Option<String> {
        let name = Some(&self.name).filter(|_| self.names_table)?.file_name()?.to_string_lossy().into_owned();
        let mut stem = name.as_str();
        while let Some((front, ending)) = stem.rsplit_once('.')
            && !front.is_empty()
            && ENDINGS.iter().any(|known| known.eq_ignore_ascii_case(ending))
        {
            stem = front;
        }
        Some(stem.to_owned())
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => f.debug_tuple("Path").field(path).finish(),
            Self::Member(member) => f.debug_tuple("Member").field(member).finish(),
            Self::Spooled(file) => f.debug_tuple("Spooled").field(file).finish(),
            Self::Once(_) => f.write_str("Once"),
        }
    }
}

/// A reader of a shared file with its own position.
struct FromStart {
    file: Arc<File>,
    at: u64,
}

impl Read for FromStart {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = retry(|| self.file.read_at(buffer, self.at))?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Converts an error from reading [text](Input::text): errors in the content describe themselves, all others are I/O errors.
pub fn read_failed(name: &Path, error: io::Error) -> Error {
    match error.downcast::<Error>() {
        Ok(own) => own.in_file(name),
        Err(error) => Error::io("read", name, error),
    }
}

fn cannot_open(path: &Path, error: io::Error) -> Error {
    let is_missing = error.kind() == io::ErrorKind::NotFound;
    let error = Error::io("open", path, error);
    let is_url = path.to_str().is_some_and(|name| name.contains("://"));
    if is_missing && is_url {
        return error.advise("this is a URL, and files are read: fetch it first, with curl -O for example");
    }
    if is_missing { error.advise("check the name; names with spaces need quotes") } else { error }
}

#[cfg(test)]
mod tests;
