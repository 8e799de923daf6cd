//! A group becomes a file.

use super::file_name::file_name;
use super::groups::{Group, Groups, NextGroup};
use super::item;
use super::rows::{GroupRest, GroupRows, GroupSource};
use super::{SplitTable, Totals, large, small};
use crate::database::{Database, Finished};
use crate::options::{Options, Target, Verify};
use crate::verify::verify;
use crate::{Error, Result, Schema};
use litepress_rows::Affinity;
use litepress_rows::sync::{Mutex, ignore_poison, lock};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// An error, and the number of its group.
pub(super) type Failure = (u64, Error);

/// Makes the files of all groups.
pub(super) struct Files<'a> {
    schema: &'a Schema,
    tables: &'a [SplitTable<'a>],
    /// The folder under its temporary name, and its future name.
    folder: &'a Path,
    target: &'a Path,
    options: &'a Options,
    affinity: Affinity,
    totals: Mutex<Totals>,
}

/// A worker's own things.
pub(super) struct Worker {
    options: Options,
    totals: Totals,
}

impl<'a> Files<'a> {
    pub fn new(
        schema: &'a Schema,
        tables: &'a [SplitTable<'a>],
        folder: &'a Path,
        target: &'a Path,
        options: &'a Options,
    ) -> Self {
        // Only a column of texts in every table has no numbers.
        let affinity = |split: &SplitTable<'_>| schema.tables[split.table].columns[split.column].affinity;
        let is_text = tables.iter().all(|split| affinity(split) == Affinity::Text);
        let affinity = if is_text { Affinity::Text } else { Affinity::Blob };
        Self { schema, tables, folder, target, options, affinity, totals: Mutex::new(Totals::of(schema)) }
    }

    /// Returns a worker for one thread.
    pub fn worker(&self) -> Worker {
        Worker { options: small(self.options), totals: Totals::of(self.schema) }
    }

    /// Adds what a worker has counted.
    pub fn add(&self, worker: Worker) {
        lock(&self.totals).join(worker.totals);
    }

    /// Makes the file of the next group. Returns `false` if there is none.
    pub fn make_next(&self, groups: &Mutex<Groups<'_>>, worker: &mut Worker) -> Result<bool, Failure> {
        let early = |error| (0, error);
        self.options.progress.go_on().map_err(early)?;
        let mut all = lock(groups);
        match all.next().map_err(early)? {
            NextGroup::End => Ok(false),
            NextGroup::Whole(group) => {
                drop(all);
                let (number, name) = (group.number, self.name(&group));
                let finished = self.make_small(group, &name, worker);
                worker.totals.add(name.clone(), finished.map_err(|error| (number, self.placed(error, &name)))?);
                Ok(true)
            }
            // The lock is kept: all threads work for this group.
            NextGroup::Begun(group) => {
                let (number, name) = (group.number, self.name(&group));
                let finished = self.make_large(group, &mut all, &name);
                worker.totals.add(name.clone(), finished.map_err(|error| (number, self.placed(error, &name)))?);
                Ok(true)
            }
        }
    }

    /// Names the database in an error that names no record of the input: its rowids are those of the database.
    fn placed(&self, error: Error, name: &str) -> Error {
        let is_placed = error.place().file.is_some() || error.place().record.is_some();
        if is_placed { error } else { error.in_file(self.target.join(name)) }
    }

    fn name(&self, group: &Group) -> String {
        file_name(item::value(&group.front), self.affinity)
    }

    /// Makes a database in memory and writes it to its file.
    fn make_small(&self, group: Group, name: &str, worker: &Worker) -> Result<Finished> {
        let options = Options { verify: Verify::None, ..worker.options.clone() };
        let mut database = Database::create(&Target::Memory, self.schema.clone(), &options)?;
        self.fill(&mut database, group.tables, |_| None)?;
        let mut finished = database.finish()?;
        let (path, target) = self.paths(name);
        let written = File::create_new(&path).and_then(|mut file| {
            let bytes = finished.bytes.take().unwrap_or_default();
            file.write_all(&bytes)
        });
        written.map_err(|error| Error::io("write", &target, error))?;
        finished.verified = verify(&path, &target, &worker.options)?;
        Ok(finished)
    }

    /// Makes a database of rows that come from the sort as they are needed.
    fn make_large(&self, group: Group, groups: &mut Groups<'_>, name: &str) -> Result<Finished> {
        let (path, target) = self.paths(name);
        let options = Options { verify: Verify::None, ..large(self.options) };
        let mut database = Database::create(&Target::File(path.clone()), self.schema.clone(), &options)?;
        let (front, groups) = (group.front, &Mutex::new(groups));
        let rest = |table| Some(GroupRest { groups, front: &front, table });
        self.fill(&mut database, group.tables, rest)?;
        let mut finished = database.finish()?;
        finished.verified = verify(&path, &target, &Options { verify: self.options.verify, ..options })?;
        Ok(finished)
    }

    /// Fills the tables of a database in their order, which is that of the sorted rows.
    fn fill<'g, 's: 'g>(
        &'g self,
        database: &mut Database,
        mut rows: BTreeMap<u32, GroupRows>,
        rest: impl Fn(u32) -> Option<GroupRest<'g, 's>>,
    ) -> Result<()> {
        for (number, split) in (0..).zip(self.tables) {
            let table = &self.schema.tables[split.table];
            let rest = rest(number);
            // Behind the copied rows, which are those of the first tables, all come from the rest.
            let is_given = match &rest {
                Some(rest) => lock(rest.groups).table_in(rest.front)? == Some(number),
                None => false,
            };
            let first = rows.remove(&number);
            if first.is_some() || is_given {
                let source = GroupSource::new(table, split.source, first.unwrap_or_default(), rest);
                database.fill(split.table, &source)?;
            }
        }
        Ok(())
    }

    /// Returns the path of a file, and its future one.
    fn paths(&self, name: &str) -> (PathBuf, PathBuf) {
        (self.folder.join(name), self.target.join(name))
    }

    /// Returns the figures of all files.
    pub fn finish(self) -> Totals {
        ignore_poison(self.totals.into_inner())
    }
}
