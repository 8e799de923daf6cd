//! A recording of everything that a program did to the files of a folder.

use std::collections::BTreeMap;

/// A change of a file, or its sync.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A file was made.
    Create {
        /// Its name in the folder.
        name: String,
    },
    /// Bytes were written.
    Write {
        /// Name of the file.
        name: String,
        /// Offset of the first byte.
        offset: u64,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// A file was cut off or extended.
    Truncate {
        /// Name of the file.
        name: String,
        /// Its new length.
        len: u64,
    },
    /// A file was synced.
    Sync {
        /// Name of the file.
        name: String,
        /// Whether the folder was synced too, as SQLite does at the first sync of a new journal.
        and_folder: bool,
    },
    /// A file was deleted.
    Delete {
        /// Its name.
        name: String,
        /// Whether the folder was synced.
        and_sync: bool,
    },
    /// The program was told that its change is durable.
    End,
}

/// The files of a folder at the beginning, and all events since.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The files at the beginning, all durable.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The events in their order.
    pub events: Vec<Event>,
}

impl Event {
    /// Returns the name of the file.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Create { name }
            | Self::Write { name, .. }
            | Self::Truncate { name, .. }
            | Self::Sync { name, .. }
            | Self::Delete { name, .. } => Some(name),
            Self::End => None,
        }
    }

    /// Describes the event in a few words.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Create { name } => format!("create {name}"),
            Self::Write { name, offset, bytes } => format!("write {name} {offset}+{}", bytes.len()),
            Self::Truncate { name, len } => format!("truncate {name} to {len}"),
            Self::Sync { name, and_folder } => format!("sync {name}{}", if *and_folder { " and folder" } else { "" }),
            Self::Delete { name, and_sync } => {
                format!("delete {name}{}", if *and_sync { " and sync folder" } else { "" })
            }
            Self::End => "end".to_owned(),
        }
    }
}

impl Recording {
    /// Returns the recording of a program that is as this one but leaves out the syncs for which `is_left_out` holds. It gets the
    /// position of the event and the name of the file.
    #[must_use]
    pub fn without_syncs(&self, is_left_out: impl Fn(usize, &str) -> bool) -> Self {
        let is_kept = |(at, event): &(usize, &Event)| match event {
            Event::Sync { name, .. } => !is_left_out(*at, name),
            _ => true,
        };
        let events = self.events.iter().enumerate().filter(is_kept).map(|(_, event)| event.clone()).collect();
        Self { files: self.files.clone(), events }
    }

    /// Lists all events, a line each.
    #[must_use]
    pub fn describe(&self) -> String {
        let lines = self.events.iter().enumerate().map(|(at, event)| format!("{at:4} {}\n", event.describe()));
        lines.collect()
    }
}
