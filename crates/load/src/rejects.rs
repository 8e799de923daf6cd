//! Writes records that were left out to a file, so that they can be mended.
//!
//! The file is CSV with the columns `file, record, line, column, reason, raw`, and can be loaded again. Parts are read in
//! parallel; their rejects are written in the order of the records.

use litepress_rows::sync::lock;
use litepress_rows::{Error, ErrorKind, OptionName, Result, counted, message};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

const HEADER: &[u8] = b"file,record,line,column,reason,raw\n";

/// Counts rejected records, and writes them to a file if one is named.
#[derive(Debug)]
pub struct Rejects {
    most: u64,
    nulls: AtomicU64,
    cut_texts: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: Option<(PathBuf, BufWriter<File>)>,
    count: u64,
    /// Number of parts that began.
    parts: u64,
    /// Lines of parts that may still get more, or that wait for earlier parts.
    waiting: BTreeMap<u64, Vec<u8>>,
    /// The part whose lines are written at once: all earlier parts are complete.
    current: u64,
    /// Complete parts behind the current one.
    complete: BTreeSet<u64>,
}

impl Rejects {
    /// Opens the rejects file, which must not exist; without one only counts. More than `most` records are an error.
    ///
    /// # Errors
    /// If the file exists or cannot be created.
    pub fn new(file: Option<&Path>, most: u64) -> Result<Self> {
        let file = file.map(create).transpose()?;
        let state = State { file, count: 0, parts: 0, waiting: BTreeMap::new(), current: 0, complete: BTreeSet::new() };
        Ok(Self { most, nulls: AtomicU64::new(0), cut_texts: AtomicU64::new(0), state: Mutex::new(state) })
    }

    /// Returns the number of records left out so far.
    pub fn count(&self) -> u64 {
        self.lock().count
    }

    /// Returns the number of values replaced by NULL so far because their columns did not accept them.
    pub fn nulls(&self) -> u64 {
        self.nulls.load(Ordering::Relaxed)
    }

    /// Counts a value replaced by NULL.
    pub(crate) fn count_null(&self) {
        self.nulls.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns how many texts were cut at a NUL so far, because their columns store the number in front of it.
    pub fn cut_texts(&self) -> u64 {
        self.cut_texts.load(Ordering::Relaxed)
    }

    /// Counts texts that are cut.
    pub(crate) fn count_cut_texts(&self, texts: u64) {
        self.cut_texts.fetch_add(texts, Ordering::Relaxed);
    }

    /// Returns the number of a part that begins. Calls must follow the order of the records.
    pub fn new_part(&self) -> u64 {
        let mut state = self.lock();
        state.parts += 1;
        state.parts - 1
    }

    /// Adds a record of a part: the reason, with its place, and the record's bytes in its file.
    ///
    /// # Errors
    /// If there are more records than allowed, or a write fails.
    pub fn add(&self, part: u64, why: &Error, raw: &[u8]) -> Result<()> {
        let mut state = self.lock();
        if state.count == self.most {
            let message =
                message![format!("more than {}; the next one: ", counted(self.most, "wrong record")), why.statement()];
            let advice = message!["mend the file, or allow more with ", OptionName::MaxRejects.alone()];
            return Err(Error::new(ErrorKind::Data, message).advise(advice));
        }
        state.count += 1;
        if state.file.is_some() {
            let lines = state.waiting.entry(part).or_default();
            write_line(lines, why, raw);
        }
        state.write_current()
    }

    /// Marks a part as complete.
    ///
    /// # Errors
    /// If a write fails.
    pub fn end_part(&self, part: u64) -> Result<()> {
        let mut state = self.lock();
        state.complete.insert(part);
        loop {
            state.write_current()?;
            let current = state.current;
            if !state.complete.remove(&current) {
                break;
            }
            state.current += 1;
        }
        Ok(())
    }

    /// Writes all waiting lines and syncs the file, so that it holds every reject even if the database fails. May be called
    /// again.
    ///
    /// # Errors
    /// If a write fails.
    pub fn finish(&self) -> Result<()> {
        let mut state = self.lock();
        let waiting = std::mem::take(&mut state.waiting);
        for lines in waiting.into_values() {
            state.write(&lines)?;
        }
        match &mut state.file {
            None => Ok(()),
            // Some file systems report a full disk only on sync.
            Some((path, file)) => file
                .flush()
                .and_then(|()| file.get_ref().sync_all())
                .map_err(|error| Error::io("write the rejects to", path, error)),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    fn write_current(&mut self) -> Result<()> {
        match self.waiting.remove(&self.current) {
            None => Ok(()),
            Some(lines) => self.write(&lines),
        }
    }

    fn write(&mut self, lines: &[u8]) -> Result<()> {
        let Some((path, file)) = &mut self.file else { return Ok(()) };
        file.write_all(lines).map_err(|error| Error::io("write the rejects to", path, error))
    }
}

fn create(path: &Path) -> Result<(PathBuf, BufWriter<File>)> {
    let file = File::create_new(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Error::new(ErrorKind::Exists, "the file for rejects exists")
            .in_file(path)
            .advise("name another one, or delete it"),
        _ => Error::io("create the file for rejects", path, error),
    })?;
    let mut file = BufWriter::new(file);
    file.write_all(HEADER).map_err(|error| Error::io("write the rejects to", path, error))?;
    Ok((path.to_owned(), file))
}

fn write_line(lines: &mut Vec<u8>, why: &Error, raw: &[u8]) {
    let place = why.place();
    let file = place.file.as_ref().map(|file| file.to_string_lossy().into_owned()).unwrap_or_default();
    let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
    let value = place.value.as_ref().map(|value| format!(" (value {value})")).unwrap_or_default();
    let reason = format!("{}{value}", why.message());
    let column = place.column.as_deref().unwrap_or_default();
    let fields = [&file, &number(place.record), &number(place.line), column, &reason];
    for field in fields {
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

    fn why(record: u64) -> Error {
        Error::new(ErrorKind::Data, "too few fields, 2").in_file("in.csv").in_record(record).at(record + 1, 1)
    }

    #[test]
    fn rejects_are_written_in_the_order_of_parts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rejects.csv");
        let rejects = Rejects::new(Some(&path), 10).unwrap();
        rejects.add(1, &why(7), b"a,\"b\"").unwrap();
        rejects.end_part(1).unwrap();
        rejects.add(0, &why(2), b"x").unwrap();
        rejects.end_part(0).unwrap();
        rejects.add(3, &why(9), b"z").unwrap();
        rejects.finish().unwrap();
        assert_eq!(rejects.count(), 3);
        let expected = "file,record,line,column,reason,raw\n\
            in.csv,2,3,,\"too few fields, 2\",x\n\
            in.csv,7,8,,\"too few fields, 2\",\"a,\"\"b\"\"\"\n\
            in.csv,9,10,,\"too few fields, 2\",z\n";
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
        assert_eq!(Rejects::new(Some(&path), 10).unwrap_err().kind(), ErrorKind::Exists);
    }

    #[test]
    fn one_record_too_many_is_an_error_that_says_which() {
        let rejects = Rejects::new(None, 1).unwrap();
        rejects.add(0, &why(2), b"x").unwrap();
        let error = rejects.add(0, &why(3), b"y").unwrap_err();
        assert!(error.to_string().contains("in.csv:4:1: record 3: too few fields"), "{error}");
    }
}
