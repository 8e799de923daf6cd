//! Counts records that were left out, and writes them to a file so that they can be mended.
//!
//! The file is CSV with the columns `file, table, record, line, column, value, reason, raw`, and can be loaded again. Parts are
//! read in parallel; their rejects are written in the order of the records.

mod file;

use crate::reader::{Batch, FoundHeader};
use file::RejectsFile;
use litepress_rows::sync::{Mutex, MutexGuard, lock};
use litepress_rows::{Error, ErrorKind, OptionName, Result, counted, message};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts rejected records, and writes them to a file if one is named. The file gets its name with
/// [`publish`](Self::publish); without that it leaves nothing behind.
#[derive(Debug)]
pub struct Rejects {
    most: u64,
    nulls: AtomicU64,
    cut_texts: AtomicU64,
    skipped: AtomicU64,
    cut_records: AtomicU64,
    stray_quotes: AtomicU64,
    /// Number of rejects that an option of its own leaves out, whatever the policy for wrong records is.
    left_out: AtomicU64,
    /// Files and lines of records that repeat a header.
    repeated_headers: Mutex<Vec<(Option<PathBuf>, FoundHeader)>>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: Option<RejectsFile>,
    count: u64,
    /// The first rejects, if they are to be shown.
    shown: Vec<Error>,
    /// Number of rejects to show.
    most_shown: usize,
    /// Number of parts that began.
    parts: u64,
    /// Rejects of parts that may still get more, or that wait for earlier parts.
    waiting: BTreeMap<u64, Waiting>,
    /// The part whose rejects are written at once: all earlier parts are complete.
    current: u64,
    /// Complete parts behind the current one.
    complete: BTreeSet<u64>,
}

/// Rejects of a part that is not the current one.
#[derive(Debug, Default)]
struct Waiting {
    lines: Vec<u8>,
    shown: Vec<Error>,
}

impl Rejects {
    /// Begins the rejects file; without one only counts. A file of rejects that exists is replaced if `overwrite` is set. More
    /// than `most` records are an error.
    ///
    /// # Errors
    /// If the file exists and may not be replaced, or cannot be created.
    pub fn new(file: Option<&Path>, overwrite: bool, most: u64) -> Result<Self> {
        let file = file.map(|path| RejectsFile::create(path, overwrite)).transpose()?;
        Ok(Self::with(file, 0, most))
    }

    /// Counts rejects and keeps the first `most_shown` of them.
    pub fn shown(most_shown: usize) -> Self {
        Self::with(None, most_shown, u64::MAX)
    }

    fn with(file: Option<RejectsFile>, most_shown: usize, most: u64) -> Self {
        let state = State {
            file,
            count: 0,
            shown: Vec::new(),
            most_shown,
            parts: 0,
            waiting: BTreeMap::new(),
            current: 0,
            complete: BTreeSet::new(),
        };
        let [nulls, cut_texts, skipped, cut_records, stray_quotes, left_out] =
            std::array::from_fn(|_| AtomicU64::new(0));
        let (repeated_headers, state) = (Mutex::new(Vec::new()), Mutex::new(state));
        Self { most, nulls, cut_texts, skipped, cut_records, stray_quotes, left_out, repeated_headers, state }
    }

    /// Returns the number of records left out so far.
    pub fn count(&self) -> u64 {
        self.lock().count
    }

    /// Returns the first rejects, in the order of the records.
    pub fn take_shown(&self) -> Vec<Error> {
        let mut state = self.lock();
        let waiting = std::mem::take(&mut state.waiting);
        waiting.into_values().for_each(|part| state.show(part.shown));
        std::mem::take(&mut state.shown)
    }

    /// Returns the number of values replaced by NULL so far because their columns did not accept them.
    pub fn nulls(&self) -> u64 {
        self.nulls.load(Ordering::Relaxed)
    }

    /// Counts values replaced by NULL.
    pub(crate) fn count_nulls(&self, values: u64) {
        self.nulls.fetch_add(values, Ordering::Relaxed);
    }

    /// Returns how many texts were cut at a NUL so far, because their columns store the number in front of it.
    pub fn cut_texts(&self) -> u64 {
        self.cut_texts.load(Ordering::Relaxed)
    }

    /// Counts texts that are cut.
    pub(crate) fn count_cut_texts(&self, texts: u64) {
        self.cut_texts.fetch_add(texts, Ordering::Relaxed);
    }

    /// Returns whether rejects are written to a file.
    pub(crate) fn has_file(&self) -> bool {
        self.lock().file.is_some()
    }

    /// Returns the number of records without any value that were left out so far.
    pub fn skipped(&self) -> u64 {
        self.skipped.load(Ordering::Relaxed)
    }

    /// Returns the number of records so far that lost surplus fields.
    pub fn cut_records(&self) -> u64 {
        self.cut_records.load(Ordering::Relaxed)
    }

    /// Returns the number of records so far with quotes in the wrong place that are text.
    pub fn stray_quotes(&self) -> u64 {
        self.stray_quotes.load(Ordering::Relaxed)
    }

    /// Returns the number of records so far that are left out whatever the policy for wrong records is
    /// ([`Ragged::Reject`](crate::options::Ragged::Reject)).
    pub fn left_out(&self) -> u64 {
        self.left_out.load(Ordering::Relaxed)
    }

    /// Counts such a record.
    pub(crate) fn count_left_out(&self) {
        self.left_out.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the records so far that repeat a header: their places as `all.csv:85`, and whether they end their table.
    pub fn repeated_headers(&self) -> Vec<(String, bool)> {
        let mut places = lock(&self.repeated_headers).clone();
        places.sort();
        let place = |(file, FoundHeader { line, ends_table }): (Option<PathBuf>, FoundHeader)| match file {
            Some(file) => (format!("{}:{line}", file.display()), ends_table),
            None => (format!("line {line}"), ends_table),
        };
        places.into_iter().map(place).collect()
    }

    /// Notes a record that repeats the header and is left out.
    pub(crate) fn add_repeated_header(&self, file: Option<&Path>, found: FoundHeader) {
        lock(&self.repeated_headers).push((file.map(Path::to_owned), found));
    }

    /// Counts the records of a batch that are stored differently from the file.
    pub(crate) fn count_changed(&self, batch: &Batch) {
        self.skipped.fetch_add(batch.skipped.len() as u64, Ordering::Relaxed);
        self.cut_records.fetch_add(batch.cut_records, Ordering::Relaxed);
        self.stray_quotes.fetch_add(batch.stray_quotes, Ordering::Relaxed);
    }

    /// Returns the number of a part that begins. Calls must follow the order of the records.
    pub fn new_part(&self) -> u64 {
        let mut state = self.lock();
        state.parts += 1;
        state.parts - 1
    }

    /// Adds a record of a part: the reason, with its place, and the record's bytes in its file.
    ///
    /// ORDER: the records of a part in their order.
    ///
    /// # Errors
    /// If there are more records than allowed, or a write fails.
    pub fn add(&self, part: u64, why: Error, raw: &[u8]) -> Result<()> {
        let mut state = self.lock();
        if state.count == self.most {
            let message =
                message![format!("more than {}; the next one: ", counted(self.most, "wrong record")), why.statement()];
            let advice = message!["mend the file, or allow more with ", OptionName::MaxRejects.alone()];
            return Err(Error::new(ErrorKind::Data, message).advise(advice));
        }
        state.count += 1;
        if state.file.is_some() {
            file::write_line(&mut state.waiting.entry(part).or_default().lines, &why, raw);
        }
        if state.most_shown > 0 {
            let most = state.most_shown;
            let shown = &mut state.waiting.entry(part).or_default().shown;
            if shown.len() < most {
                shown.push(why);
            }
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

    /// Writes all waiting lines and syncs the file, so that it holds every reject before the database gets its name.
    ///
    /// # Errors
    /// If a write fails.
    pub fn finish(&self) -> Result<()> {
        let mut state = self.lock();
        let waiting = std::mem::take(&mut state.waiting);
        for part in waiting.into_values() {
            state.take(part)?;
        }
        state.file.as_mut().map_or(Ok(()), RejectsFile::sync)
    }

    /// Gives the file its name, once the database has its own.
    ///
    /// # Errors
    /// If the file cannot be renamed.
    pub fn publish(&self) -> Result<()> {
        self.lock().file.take().map_or(Ok(()), RejectsFile::publish)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    fn write_current(&mut self) -> Result<()> {
        match self.waiting.remove(&self.current) {
            None => Ok(()),
            Some(part) => self.take(part),
        }
    }

    fn take(&mut self, part: Waiting) -> Result<()> {
        self.show(part.shown);
        self.file.as_mut().map_or(Ok(()), |file| file.write(&part.lines))
    }

    fn show(&mut self, rejects: Vec<Error>) {
        let room = self.most_shown - self.shown.len();
        self.shown.extend(rejects.into_iter().take(room));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(record: u64) -> Error {
        let error = Error::new(ErrorKind::Data, "too few fields, 2").in_file("in.csv").in_record(record).in_table("t");
        error.at(record + 1, 1).in_column("c").with_value("'5'")
    }

    #[test]
    fn rejects_are_written_in_the_order_of_parts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rejects.csv");
        let rejects = Rejects::new(Some(&path), false, 10).unwrap();
        rejects.add(1, why(7), b"a,\"b\"").unwrap();
        rejects.end_part(1).unwrap();
        rejects.add(0, why(2), b"x").unwrap();
        rejects.end_part(0).unwrap();
        rejects.add(3, why(9), b"z").unwrap();
        rejects.finish().unwrap();
        assert!(!path.exists());
        rejects.publish().unwrap();
        assert_eq!(rejects.count(), 3);
        let expected = "file,table,record,line,column,value,reason,raw\n\
            in.csv,t,2,3,c,'5',\"too few fields, 2\",x\n\
            in.csv,t,7,8,c,'5',\"too few fields, 2\",\"a,\"\"b\"\"\"\n\
            in.csv,t,9,10,c,'5',\"too few fields, 2\",z\n";
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
    }

    #[test]
    fn the_first_rejects_are_shown_in_the_order_of_parts() {
        let rejects = Rejects::shown(3);
        for (part, record) in [(1, 7), (1, 8), (0, 2), (0, 3)] {
            rejects.add(part, why(record), b"").unwrap();
        }
        let records: Vec<_> = rejects.take_shown().iter().filter_map(|error| error.place().record).collect();
        assert_eq!((rejects.count(), records), (4, vec![2, 3, 7]));
    }

    #[test]
    fn one_record_too_many_is_an_error_that_says_which() {
        let rejects = Rejects::new(None, false, 1).unwrap();
        rejects.add(0, why(2), b"x").unwrap();
        let error = rejects.add(0, why(3), b"y").unwrap_err();
        assert!(error.to_string().contains("in.csv:4:1: t.c: record 3: too few fields"), "{error}");
    }
}
