//! What a FILE argument is: a path, standard input, compressed or not, and of which kind.
//!
//! The content decides, never the name (content.rs). Text comes out decompressed (compressed.rs) and as UTF-8
//! (decoded.rs), from its beginning as often as it is asked for; what can be read once only (standard input, a FIFO) is
//! [spooled](Input::spool) where it must be read twice. Other kinds are files, whose readers go back and forth in them.

mod compressed;
mod content;
mod decoded;

use crate::options::{Format, ReadOptions};
use compressed::{Compression, Counted};
use litepress_rows::{Error, ErrorKind, Result};
use std::fmt;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What standard input is called in errors.
const STANDARD_INPUT: &str = "<standard input>";

/// Endings of names that say what is in a file, and nothing about what it is called.
const ENDINGS: [&str; 25] = [
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
    "parquet",
    "pq",
    "arrow",
    "arrows",
    "ipc",
    "feather",
    "db",
    "db3",
    "sqlite",
    "sqlite3",
    "gz",
    "gzip",
    "zst",
    "zstd",
];

/// A file to read, as often as needed.
#[derive(Clone, Debug)]
pub struct Input {
    /// What it is called in errors: its path, or `<standard input>`.
    pub name: PathBuf,
    /// Its kind.
    pub format: Format,
    /// Bytes of the file itself, compressed or not, where they are known.
    pub bytes: Option<u64>,
    source: Source,
    compression: Option<Compression>,
}

#[derive(Clone)]
enum Source {
    /// A file that is opened anew whenever it is read.
    Path(PathBuf),
    /// A temporary file without a name.
    Spooled(Arc<File>),
    /// What can be read once, and by one of the clones.
    Once(Arc<Mutex<Option<Bytes>>>),
}

/// Bytes of a file as they are.
type Bytes = Box<dyn Read + Send>;

impl Input {
    /// What the FILE arguments mean, in their order: paths, patterns (the files that match come by name), `-` for standard
    /// input, which is also what no argument at all means.
    ///
    /// # Errors
    /// A file that is missing, empty, a folder, of an unknown kind or compressed in an unknown way; a pattern that matches
    /// nothing; standard input that is named twice or is a terminal; an encoding that is unknown.
    pub fn from_arguments(files: &[PathBuf], options: &ReadOptions) -> Result<Vec<Self>> {
        let standard_input = [PathBuf::from("-")];
        let files = if files.is_empty() { &standard_input } else { files };
        let is_standard_input = |file: &Path| file == Path::new("-");
        if files.iter().filter(|file| is_standard_input(file)).count() > 1 {
            return Err(Error::new(ErrorKind::Usage, "standard input (-) can be read once only"));
        }
        let mut inputs = Vec::new();
        for file in files {
            if is_standard_input(file) {
                inputs.push(Self::standard_input(options)?);
            } else {
                for path in matching_files(file)? {
                    inputs.push(Self::from_path(&path, options)?);
                }
            }
        }
        Ok(inputs)
    }

    /// A file of this path; what stands in it says of what kind it is, unless the options do.
    ///
    /// # Errors
    /// As [`from_arguments`](Self::from_arguments).
    pub fn from_path(path: &Path, options: &ReadOptions) -> Result<Self> {
        let kind = std::fs::metadata(path).map_err(|error| cannot_open(path, error))?;
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

    fn standard_input(options: &ReadOptions) -> Result<Self> {
        if io::stdin().is_terminal() {
            let error = Error::new(ErrorKind::Usage, "no file is named, and standard input is a terminal");
            return Err(error.advise("name the files to load, or pipe something in"));
        }
        Self::from_stream(Path::new(STANDARD_INPUT), Box::new(io::stdin()), options)
    }

    /// What a stream gives, which can be read once.
    ///
    /// # Errors
    /// As [`from_arguments`](Self::from_arguments).
    pub fn from_stream(name: &Path, stream: Box<dyn Read + Send>, options: &ReadOptions) -> Result<Self> {
        let source = Arc::new(Mutex::new(None));
        Self::examine(name, Source::Once(source), None, stream, options)
    }

    /// Looks at the first bytes, and has a stream give them again.
    fn examine(
        name: &Path,
        source: Source,
        bytes: Option<u64>,
        mut stream: Bytes,
        options: &ReadOptions,
    ) -> Result<Self> {
        let head = content::read_head(&mut stream).map_err(|error| read_failed(name, error))?;
        let (format, compression) = content::examine(name, &head, options)?;
        if let Source::Once(once) = &source {
            let whole: Bytes = Box::new(io::Cursor::new(head).chain(stream));
            *once.lock().unwrap_or_else(PoisonError::into_inner) = Some(whole);
        }
        Ok(Self { name: name.to_owned(), format, bytes, source, compression })
    }

    /// The text of the file from its beginning: decompressed, in UTF-8, without byte-order mark. Text that is UTF-8 already
    /// is given as it is, what is wrong in it too. Every byte that is read of the file is counted in
    /// [`ReadOptions::bytes_read`].
    ///
    /// What fails while it is read is told by [`read_failed`].
    ///
    /// # Errors
    /// A file that cannot be opened; standard input that was read before; an encoding that is unknown.
    pub fn text(&self, options: &ReadOptions) -> Result<Box<dyn Read + Send>> {
        let bytes = Counted::new(self.raw()?, options.bytes_read.clone());
        let text = match self.compression {
            Some(compression) => compression.decompress(bytes, &self.name),
            None => Box::new(bytes),
        };
        decoded::to_utf8(text, &self.name, options)
    }

    /// The bytes of the file as they are, for kinds that are no text and can be read as they come (an Arrow stream). They are
    /// counted as those of [`text`](Self::text).
    ///
    /// # Errors
    /// As [`text`](Self::text).
    pub fn stream(&self, options: &ReadOptions) -> Result<Box<dyn Read + Send>> {
        Ok(Box::new(Counted::new(self.raw()?, options.bytes_read.clone())))
    }

    fn raw(&self) -> Result<Bytes> {
        match &self.source {
            Source::Path(path) => Ok(Box::new(File::open(path).map_err(|error| cannot_open(path, error))?)),
            Source::Spooled(file) => Ok(Box::new(FromStart { file: file.clone(), at: 0 })),
            Source::Once(once) => once
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take()
                .ok_or_else(|| Error::new(ErrorKind::Usage, "this cannot be read twice").in_file(&self.name)),
        }
    }

    /// The file itself, for readers that go back and forth in it; its position is its beginning, and nobody else's.
    ///
    /// # Errors
    /// A file that cannot be opened; a stream that is not [spooled](Self::spool).
    pub fn file(&self) -> Result<File> {
        let cannot = |error| Error::io("open", &self.name, error);
        match &self.source {
            Source::Path(path) => File::open(path).map_err(|error| cannot_open(path, error)),
            // Opening it anew is what gives it a position of its own.
            Source::Spooled(file) => {
                let again = File::open(format!("/proc/self/fd/{}", file.as_raw_fd()));
                again.or_else(|_| File::open(format!("/dev/fd/{}", file.as_raw_fd()))).map_err(cannot)
            }
            Source::Once(_) => {
                let message = "this kind of file is not read from its beginning to its end, which is all a pipe gives";
                let error = Error::new(ErrorKind::Usage, message).in_file(&self.name);
                Err(error.advise("save it as a file first"))
            }
        }
    }

    /// The path of the file, where it has one that can be opened again.
    pub fn path(&self) -> Option<&Path> {
        if let Source::Path(path) = &self.source { Some(path) } else { None }
    }

    /// Whether [`text`](Self::text) can be had more than once.
    pub fn can_be_read_twice(&self) -> bool {
        !matches!(self.source, Source::Once(_))
    }

    /// Copies what can be read once only to a temporary file without a name in `temp_dir`, so that it can be read as often as
    /// needed; calls `go_on` now and then. Whatever can be read twice is left as it is.
    ///
    /// # Errors
    /// What fails while reading or writing; what `go_on` says.
    pub fn spool(&mut self, temp_dir: &Path, go_on: &dyn Fn() -> Result<()>) -> Result<()> {
        if self.can_be_read_twice() {
            return Ok(());
        }
        let unwritable = |error| {
            let advice = "free some room there, or name another folder for temporary files";
            Error::io("write a copy of what cannot be read twice into this folder", temp_dir, error).advise(advice)
        };
        let mut bytes = self.raw()?;
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

    /// What a table of this file is called where nobody says it: the name of the file without endings that say of what kind
    /// it is. What is no file (standard input) gives no name.
    pub fn table_name(&self) -> Option<String> {
        let name = self.path()?.file_name()?.to_string_lossy().into_owned();
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
            Self::Spooled(file) => f.debug_tuple("Spooled").field(file).finish(),
            Self::Once(_) => f.write_str("Once"),
        }
    }
}

/// A file read from its start, whoever else reads it.
struct FromStart {
    file: Arc<File>,
    at: u64,
}

impl Read for FromStart {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// What went wrong while [text](Input::text) was read: what its content is to blame for says so itself, the rest is the
/// system's.
pub fn read_failed(name: &Path, error: io::Error) -> Error {
    match error.downcast::<Error>() {
        Ok(own) => own.in_file(name),
        Err(error) => Error::io("read", name, error),
    }
}

fn cannot_open(path: &Path, error: io::Error) -> Error {
    let is_missing = error.kind() == io::ErrorKind::NotFound;
    let error = Error::io("open", path, error);
    if is_missing { error.advise("check the name; names with spaces need quotes") } else { error }
}

/// The files that an argument means: itself where there is such a file, else those that match it.
fn matching_files(argument: &Path) -> Result<Vec<PathBuf>> {
    let pattern = argument.to_str().filter(|text| text.contains(['*', '?', '[']));
    let Some(pattern) = pattern.filter(|_| std::fs::symlink_metadata(argument).is_err()) else {
        return Ok(vec![argument.to_owned()]);
    };
    let usage = |message: String| Error::new(ErrorKind::Usage, message).in_file(argument);
    let found = glob::glob(pattern).map_err(|error| usage(format!("this is no pattern of names: {error}")))?;
    let mut files = Vec::new();
    for path in found {
        let path = path.map_err(|error| {
            let path = error.path().to_owned();
            cannot_open(&path, error.into())
        })?;
        if !path.is_dir() {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(usage("no file matches this pattern".to_owned()));
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests;
