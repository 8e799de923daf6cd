//! The model of a disk: files and names, each with a durable state and changes that a power cut may lose.
//!
//! ```text
//! file   durable bytes | write | write | truncate      a sync makes all of them durable
//! name   durable file  | deleted | another file        a sync of the folder makes the last one durable
//! ```
//!
//! A power cut keeps any subset of a file's changes, and of a write any subset of its sectors. A sector that was written twice has
//! any of its versions, so changes are applied in their order. Of a name's changes it keeps the first ones. Files and names do not
//! wait for one another: journalling file systems promise more, this model promises as little as POSIX does.

use crate::recording::Event;
use std::collections::BTreeMap;

/// A change of a file that is not durable yet.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Write { offset: u64, bytes: Vec<u8> },
    Truncate { len: u64 },
}

/// A file, with or without a name.
#[derive(Clone, Debug, Default)]
pub(crate) struct File {
    pub durable: Vec<u8>,
    pub pending: Vec<Change>,
}

/// A name in the folder.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    /// The states that it may have after a power cut: the durable one, then those of its changes. `None` is no file.
    pub states: Vec<Option<usize>>,
}

/// The disk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk {
    pub files: Vec<File>,
    pub names: BTreeMap<String, Name>,
}

impl Disk {
    /// Returns a disk on which everything is durable.
    pub fn new(files: &BTreeMap<String, Vec<u8>>) -> Self {
        let mut disk = Self::default();
        for (name, bytes) in files {
            disk.names.insert(name.clone(), Name { states: vec![Some(disk.files.len())] });
            disk.files.push(File { durable: bytes.clone(), pending: Vec::new() });
        }
        disk
    }

    fn file(&mut self, name: &str) -> Option<&mut File> {
        let at = (*self.names.get(name)?.states.last()?)?;
        Some(&mut self.files[at])
    }

    fn rename(&mut self, name: &str, file: Option<usize>) {
        self.names.entry(name.to_owned()).or_insert_with(|| Name { states: vec![None] }).states.push(file);
    }

    fn sync_folder(&mut self) {
        self.names.values_mut().for_each(|name| name.states.drain(..name.states.len() - 1).for_each(drop));
    }

    /// Does what the event says. Changes of a file without a name are lost anyway.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Create { name } => {
                self.files.push(File::default());
                self.rename(name, Some(self.files.len() - 1));
            }
            Event::Write { name, offset, bytes } => {
                let change = Change::Write { offset: *offset, bytes: bytes.clone() };
                self.file(name).into_iter().for_each(|file| file.pending.push(change.clone()));
            }
            Event::Truncate { name, len } => {
                self.file(name).into_iter().for_each(|file| file.pending.push(Change::Truncate { len: *len }));
            }
            Event::Sync { name, and_folder } => {
                self.file(name).into_iter().for_each(File::sync);
                if *and_folder {
                    self.sync_folder();
                }
            }
            Event::Delete { name, and_sync } => {
                self.rename(name, None);
                if *and_sync {
                    self.sync_folder();
                }
            }
            Event::End => {}
        }
    }
}

impl File {
    fn sync(&mut self) {
        for change in std::mem::take(&mut self.pending) {
            change.apply(&mut self.durable);
        }
    }
}

impl Change {
    /// Applies the whole change.
    pub fn apply(&self, file: &mut Vec<u8>) {
        match self {
            Self::Write { offset, bytes } => write(file, *offset, bytes, 0),
            Self::Truncate { len } => file.resize(position(*len), 0),
        }
    }
}

/// Writes bytes, and fills a gap behind the end of the file.
pub(crate) fn write(file: &mut Vec<u8>, offset: u64, bytes: &[u8], filler: u8) {
    let (start, end) = (position(offset), position(offset) + bytes.len());
    if file.len() < end {
        file.resize(end, filler);
    }
    file[start..end].copy_from_slice(bytes);
}

pub(crate) fn position(offset: u64) -> usize {
    usize::try_from(offset).expect("files of the laboratory fit memory")
}
