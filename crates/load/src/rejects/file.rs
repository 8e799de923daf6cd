//! The file of rejects. It grows under a temporary name and gets its own once the database is published.

use litepress_rows::{Error, ErrorKind, OptionName, Result, message};
use std::fs::{self, File};
use std::io::{BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempPath};

const HEADER: &[u8] = b"file,table,record,line,column,value,reason,raw\n";

/// A file of rejects in the making. Dropped unpublished, it leaves nothing behind.
#[derive(Debug)]
pub(super) struct RejectsFile {
    path: PathBuf,
    /// `None` for a pipe or a device, which is written at the end: a load may take several passes.
    temporary: Option<TempPath>,
    overwrite: bool,
    writer: BufWriter<File>,
}

impl RejectsFile {
    /// Begins the file. A file of this name is replaced only if `overwrite` is set and it holds rejects.
    ///
    /// # Errors
    /// If the name is taken, or the file cannot be created.
    pub fn create(path: &Path, overwrite: bool) -> Result<Self> {
        let failed = |error| Error::io("create the file for rejects", path, error);
        let (temporary, file) = match fs::metadata(path) {
            Ok(metadata) if metadata.is_file() => {
                check_replaced(path, overwrite)?;
                temporary_beside(path).map_err(failed)?
            }
            Ok(metadata) if metadata.is_dir() => {
                return Err(Error::new(ErrorKind::Io, "this is a folder").in_file(path));
            }
            Ok(_) => (None, tempfile::tempfile().map_err(failed)?),
            Err(_) => temporary_beside(path).map_err(failed)?,
        };
        let mut created = Self { path: path.to_owned(), temporary, overwrite, writer: BufWriter::new(file) };
        created.write(HEADER)?;
        Ok(created)
    }

    pub fn write(&mut self, lines: &[u8]) -> Result<()> {
        self.writer.write_all(lines).map_err(|error| Error::io("write the rejects to", &self.path, error))
    }

    /// Writes what is buffered, and waits for the disk. Some file systems report a full disk only then.
    pub fn sync(&mut self) -> Result<()> {
        let is_file = self.temporary.is_some();
        let sync = |file: &File| if is_file { file.sync_all() } else { Ok(()) };
        let synced = self.writer.flush().and_then(|()| sync(self.writer.get_ref()));
        synced.map_err(|error| Error::io("write the rejects to", &self.path, error))
    }

    /// Gives the file its name.
    pub fn publish(mut self) -> Result<()> {
        self.sync()?;
        let Some(temporary) = self.temporary else { return copy(self.writer.get_mut(), &self.path) };
        let named =
            if self.overwrite { temporary.persist(&self.path) } else { temporary.persist_noclobber(&self.path) };
        named.map_err(|error| Error::io("name the file of rejects", &self.path, error.error))
    }
}

/// Copies the lines to a pipe or a device.
fn copy(lines: &mut File, path: &Path) -> Result<()> {
    let copied = lines.rewind().and_then(|()| {
        let mut device = File::options().write(true).open(path)?;
        std::io::copy(lines, &mut device)
    });
    copied.map(drop).map_err(|error| Error::io("write the rejects to", path, error))
}

/// Creates a file in the folder of `path`, with the rights that the user gives new files. It is locked as long as it is open: those
/// that killed runs left have no lock, and are removed.
fn temporary_beside(path: &Path) -> std::io::Result<(Option<TempPath>, File)> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The system applies the user's mask.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let prefix = temporary_prefix(path);
    remove_stale(folder, &prefix);
    loop {
        let made: NamedTempFile = builder.prefix(&prefix).suffix(".tmp").tempfile_in(folder)?;
        // A file system without locks keeps the files of killed runs.
        let _ = made.as_file().try_lock();
        // Another run may have taken it for stale before it was locked.
        if made.path().exists() {
            let (file, temporary) = made.into_parts();
            return Ok((Some(temporary), file));
        }
    }
}

/// Returns the beginning of the names of temporary files of `path`. A long name is cut, so that they are no longer than 255 bytes.
fn temporary_prefix(path: &Path) -> String {
    const MOST: usize = 200;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let end = (0..=name.len().min(MOST)).rfind(|&end| name.is_char_boundary(end)).unwrap_or(0);
    format!(".{}.rejects-", &name[..end])
}

/// Removes temporary files that no living run holds.
fn remove_stale(folder: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_temporary = name.starts_with(prefix) && name.ends_with(".tmp");
        if is_temporary && File::open(&path).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_file(&path);
        }
    }
}

/// Fails if the file may not be replaced. A file of other content may be the user's data.
fn check_replaced(path: &Path, overwrite: bool) -> Result<()> {
    if !overwrite {
        let error = Error::new(ErrorKind::Exists, "the file for rejects exists").in_file(path);
        return Err(error.advise(message!["name another one, or replace it with ", OptionName::Overwrite.alone()]));
    }
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEADER.len() as u64).read_to_end(&mut start));
    read.map_err(|error| Error::io("read the file for rejects", path, error))?;
    if start.is_empty() || start == HEADER {
        return Ok(());
    }
    let error = Error::new(ErrorKind::Exists, "the file for rejects exists, and it holds no rejects").in_file(path);
    Err(error.advise("name another one, or remove it"))
}

/// Appends a record.
pub(super) fn write_line(lines: &mut Vec<u8>, why: &Error, raw: &[u8]) {
    let place = why.place();
    let file = place.file.as_ref().map(|file| file.to_string_lossy().into_owned()).unwrap_or_default();
    let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let (table, column, value) = (text(&place.table), text(&place.column), text(&place.value));
    let (record, line) = (number(place.record), number(place.line));
    for field in [&file, &table, &record, &line, &column, &value, why.message()] {
        write_field(lines, field.as_bytes());
        lines.push(b',');
    }
    write_field(lines, raw);
    lines.push(b'\n');
}

/// Appends a CSV field, quoted if necessary.
fn write_field(lines: &mut Vec<u8>, field: &[u8]) {
    if !field.iter().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r')) {
        lines.extend_from_slice(field);
        return;
    }
    lines.push(b'"');
    for &byte in field {
        if byte == b'"' {
            lines.push(b'"');
        }
        lines.push(byte);
    }
    lines.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A failed run left a file with the header alone, and the next one refused to write: the file existed. The user's scripts
    /// needed `rm -f`.
    #[test]
    fn only_a_published_file_gets_its_name_and_only_rejects_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("wrong.csv");
        drop(RejectsFile::create(&path, false).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        RejectsFile::create(&path, false).unwrap().publish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), HEADER);
        assert_eq!(RejectsFile::create(&path, false).unwrap_err().kind(), ErrorKind::Exists);
        let mut again = RejectsFile::create(&path, true).unwrap();
        again.write(b"more\n").unwrap();
        again.publish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), [HEADER, b"more\n"].concat());
        fs::write(&path, "id,name\n1,Ada\n").unwrap();
        let refused = RejectsFile::create(&path, true).unwrap_err();
        assert!(refused.message().contains("holds no rejects"), "{refused}");
    }
    /// The file of a killed run stayed for ever: its name had nothing to do with the target.
    #[test]
    fn files_of_killed_runs_are_removed_and_those_of_living_ones_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("wrong.csv");
        let other = RejectsFile::create(&folder.path().join("other.csv"), false).unwrap();
        let living = RejectsFile::create(&path, false).unwrap();
        let killed = folder.path().join(".wrong.csv.rejects-a1b2c3.tmp");
        fs::write(&killed, HEADER).unwrap();
        RejectsFile::create(&path, false).unwrap().publish().unwrap();
        assert!(!killed.exists() && living.temporary.as_ref().is_some_and(|living| living.exists()));
        drop((living, other));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let long = folder.path().join("x".repeat(250));
        RejectsFile::create(&long, false).unwrap().publish().unwrap();
    }
}
