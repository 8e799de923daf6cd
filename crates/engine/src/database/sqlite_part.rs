//! Has SQLite do its part on the written file: the tables that it fills, CHECK constraints, and the objects that litepress
//! does not write.

use super::{Database, FillBySqlite};
use crate::full_text;
use crate::sqlite::{SessionOptions, SqliteSession};
use crate::{Result, plan};
use litepress_rows::schema::{Index, SchemaObject};

impl Database {
    /// Counts the phases in which SQLite works on the file.
    pub(super) fn phases_of_sqlite(&self) -> usize {
        let will_be_written = |object: &&SchemaObject| match (object.kind.as_str(), self.schema.table(&object.table)) {
            ("index", Some(table)) => {
                self.is_written_table(table) && plan::indexes(table).iter().any(|index| index.name == object.name)
            }
            _ => self.is_written(object),
        };
        let has_check = |object: &&&SchemaObject| {
            object.kind == "table" && self.schema.table(&object.name).is_some_and(plan::checks_by_sqlite)
        };
        let objects = self.schema.objects.iter().filter(|object| object.sql.is_some() && !object.is_shadow);
        let (written, created): (Vec<_>, Vec<_>) = objects.partition(will_be_written);
        let rebuilt = self.rebuild_statements().len();
        created.len() + rebuilt + written.iter().filter(has_check).count() + usize::from(self.options.analyze)
    }

    /// Hands the written database to SQLite. Creates the tables that SQLite will fill, and the indexes that decide
    /// which of their rows stay.
    pub(super) fn open_session(&mut self) -> Result<()> {
        if self.session.is_some() {
            return Ok(());
        }
        self.write_remaining()?;
        let Self { options, output, .. } = self;
        let progress = options.progress.clone();
        let session_options = SessionOptions { temp_dir: output.temp_dir.clone(), progress };
        let session = match &output.publication {
            Some(publication) => SqliteSession::open(publication.temporary(), session_options)?,
            None => SqliteSession::open_bytes(output.pages.take_bytes().unwrap_or_default(), session_options)?,
        };
        self.define(&session, |object| object.kind == "table")?;
        self.define(&session, |object| self.decides_about_rows(object))?;
        self.session = Some(session);
        Ok(())
    }

    /// Has SQLite do its part: check CHECK constraints, create the remaining objects, and do what `fill` wants. Returns the
    /// file's bytes if they are in memory.
    pub(super) fn finish_session(&mut self, fill: Option<FillBySqlite<'_>>) -> Result<Option<Vec<u8>>> {
        if !self.needs_sqlite && fill.is_none() {
            return Ok(self.output.pages.take_bytes());
        }
        self.open_session()?;
        let (session, progress) = (self.session.take().expect("it was opened"), &self.options.progress);
        for (table, tree) in self.schema.tables.iter().zip(&self.trees) {
            if let (None, Some(sequence)) = (tree, table.last_sequence) {
                session.raise_sequence(table, sequence)?;
            }
        }
        for object in self.schema.objects.iter().filter(|object| object.kind == "table" && self.is_written(object)) {
            if let Some(table) = self.schema.table(&object.name).filter(|table| plan::checks_by_sqlite(table)) {
                progress.enter(format!("CHECK of {}, by SQLite", table.name));
                session.check_constraints(table)?;
            }
        }
        self.define(&session, |object| object.kind == "index" && !self.decides_about_rows(object))?;
        if self.options.analyze {
            progress.enter("statistics, by SQLite");
            session.analyze(&self.not_counted())?;
        }
        self.define(&session, |object| object.kind == "view" || object.kind == "trigger")?;
        for (table, statement) in self.rebuild_statements() {
            progress.enter(format!("full-text index of {table}, by SQLite"));
            session.define(&statement, &format!("table {table}"))?;
        }
        if let Some(fill) = fill {
            session.work(fill)?;
        }
        session.order_schema(&self.schema.objects)?;
        let bytes = session.finish()?;
        self.summary.bytes = match (&bytes, &self.output.publication) {
            (Some(bytes), _) => bytes.len() as u64,
            (None, Some(publication)) => publication.len()?,
            (None, None) => self.summary.bytes,
        };
        Ok(bytes)
    }

    /// Has SQLite create the wanted objects that litepress does not write, in the order of the schema. Shadow tables
    /// come with their virtual tables.
    fn define(&self, session: &SqliteSession, is_wanted: impl Fn(&SchemaObject) -> bool) -> Result<()> {
        let left = |object: &&SchemaObject| is_wanted(object) && !object.is_shadow && !self.is_written(object);
        for object in self.schema.objects.iter().filter(left) {
            if let Some(sql) = &object.sql {
                self.options.progress.enter(format!("{} {}, by SQLite", object.kind, object.name));
                let what = format!("{} {}", object.kind, object.name);
                session.define(sql, &what)?;
                full_text::settings(&self.schema, object).iter().try_for_each(|set| session.define(set, &what))?;
            }
        }
        Ok(())
    }

    /// Returns whether an object is an index that must exist before the rows, because it decides which of them stay.
    fn decides_about_rows(&self, object: &SchemaObject) -> bool {
        let is_it = |index: &Index| index.unique && index.name == object.name;
        let table = self.schema.table(&object.table);
        object.kind == "index"
            && table
                .is_some_and(|table| table.can_drop_rows(self.options.on_conflict) && table.indexes.iter().any(is_it))
    }

    /// Returns the tables and indexes whose statistics SQLite must collect, because it made them. ANALYZE of a table
    /// includes its indexes.
    fn not_counted(&self) -> Vec<&str> {
        let is_alone =
            |object: &SchemaObject| object.kind == "table" || object.kind == "index" && self.writes_table(object);
        let left = self.schema.objects.iter().filter(|object| is_alone(object) && !self.is_written(object));
        left.map(|object| object.name.as_str()).collect()
    }
}
