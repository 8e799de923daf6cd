//! Rows whose values are no geometries: all of them are found before a load that leaves them out.

use super::boxes::GeometryExtents;
use super::features::Conversion;
use crate::load::read_all;
use crate::{Error, ErrorKind, Progress, Result};
use litepress_load::source::LoadSource;
use litepress_rows::sync::{Mutex, lock};
use std::collections::BTreeMap;

/// Rows whose values are no geometries.
#[derive(Debug, Default)]
pub(crate) struct WrongGeometries {
    /// Number of all.
    pub count: u64,
    /// The first of them, by record number through all files.
    pub first: BTreeMap<u64, Error>,
}

/// Converts all rows of `source` and drops them. Keeps the first `most` wrong ones, whatever the number of threads.
pub(super) fn find(
    conversion: &Conversion<'_>,
    source: &LoadSource,
    most: u64,
    threads: usize,
    progress: &Progress,
) -> Result<WrongGeometries> {
    let found = Mutex::new(WrongGeometries::default());
    read_all(source, threads, progress, &|chunk| {
        let (mut blob, mut record, mut noted) = (Vec::new(), Vec::new(), GeometryExtents::default());
        for row in 0..chunk.len() {
            let converted =
                conversion.convert(chunk.record(row), chunk.rowids()[row], &mut blob, &mut record, &mut noted);
            match converted {
                Err(error) if error.kind() == ErrorKind::Data => {
                    lock(&found).add(chunk.first_record() + row as u64, error, most);
                }
                other => other?,
            }
        }
        Ok(())
    })?;
    Ok(found.into_inner().unwrap_or_default())
}

impl WrongGeometries {
    fn add(&mut self, record: u64, error: Error, most: u64) {
        self.count += 1;
        self.first.insert(record, error);
        if self.first.len() as u64 > most {
            self.first.pop_last();
        }
    }
}
