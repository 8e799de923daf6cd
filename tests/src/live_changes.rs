//! Every way in which litepress changes a database that exists in one transaction, for tests that break it.

use crate::folder::Folder;
use crate::source::ValueRows;
use front_door::append::AppendJob;
use litepress::live::{IndexTask, LiveOptions, make_indexes};
use litepress::{AppendOptions, Conflict, Finished, Options, Result, Route, Schema, schema_of};
use litepress_crashlab::content::{Content, content};
use litepress_rows::Source;
use litepress_rows::cells::OwnedValue;
use litepress_rows::schema::SchemaAdditions;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A change of a database that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveChange {
    /// Rows behind the last one.
    Edge,
    /// The same, with all pages through the WAL or the journal.
    EdgeThroughWal,
    /// Rows between others.
    Rebuild,
    /// Rows of which some update others.
    Upsert,
    /// Rows that SQLite inserts.
    Sql,
    /// Two new indexes.
    Index,
    /// All indexes anew.
    Reindex,
}

/// The journal mode, and the company of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// A rollback journal that is deleted.
    Delete,
    /// A write-ahead log. The program is the only one, so that its end is followed by a checkpoint.
    Wal,
    /// A rollback journal, beside which another program has left its own, whose header is zero.
    Persist,
    /// A write-ahead log that another program has open and has written to.
    WalInCompany,
    /// The same, and the other program reads: its snapshot keeps the log from beginning anew.
    WalWithReader,
    /// A write-ahead log with pages behind the end of the database, which was larger before.
    WalShrunk,
    /// A rollback journal, and most pages of the file are free.
    DeleteFree,
    /// A write-ahead log, and most pages of the file are free.
    WalFree,
    /// The same, and another program still reads what was on them.
    WalFreeWithReader,
}

/// A database that is changed, in a folder of its own.
pub struct Subject {
    /// The folder.
    pub folder: Folder,
    /// The connection of another program, if there is one.
    pub company: Option<Connection>,
}

impl LiveChange {
    /// All changes.
    pub const ALL: [Self; 7] =
        [Self::Edge, Self::EdgeThroughWal, Self::Rebuild, Self::Upsert, Self::Sql, Self::Index, Self::Reindex];

    /// Makes the change, with this patience for locks.
    ///
    /// # Errors
    /// Errors of litepress.
    pub fn make(self, path: &Path, busy_timeout: Duration) -> Result<()> {
        match self {
            Self::Edge | Self::EdgeThroughWal | Self::Rebuild | Self::Upsert | Self::Sql => {
                self.append(path, busy_timeout)
            }
            Self::Index | Self::Reindex => self.index(path, busy_timeout),
        }
    }

    fn append(self, path: &Path, busy_timeout: Duration) -> Result<()> {
        let (route, rowid): (Route, fn(i64) -> i64) = match self {
            Self::Rebuild => (Route::Rebuild, |row| 2 * row + 1),
            Self::Upsert => (Route::Rebuild, |row| 3 * row + 2),
            Self::Sql => (Route::Sql, |row| 2 * row + 1),
            _ => (Route::Edge, |row| 10_000 + row),
        };
        let mut append = AppendOptions::default().busy_timeout(busy_timeout);
        append.route = Some(route);
        append.through_wal = self == Self::EdgeThroughWal;
        let mut options = Options::default().threads(1);
        options.on_conflict = if self == Self::Upsert { Conflict::Update } else { Conflict::Abort };
        let schema = schema_of(path, &append)?;
        let rows: Vec<Vec<OwnedValue>> = (0..260)
            .map(|row| {
                let note = format!("new {row} {}", if row % 90 == 0 { "long ".repeat(400) } else { String::new() });
                vec![OwnedValue::Int(rowid(row)), OwnedValue::Int(row % 13), OwnedValue::Text(note)]
            })
            .collect();
        let rows = ValueRows::new(&schema.tables[0], rows.into(), 100, 1);
        let finished = append_rows(path, schema, options, append, (0, &rows))?;
        let taken = finished.appended.expect("rows were added").tables[0].plan.route;
        assert_eq!(taken, route, "the route of {self:?}");
        Ok(())
    }

    fn index(self, path: &Path, busy_timeout: Duration) -> Result<()> {
        let mut options = LiveOptions::default();
        (options.busy_timeout, options.build.threads) = (busy_timeout, 1);
        let statements = ["CREATE INDEX by_area ON event (area, note)", "CREATE UNIQUE INDEX u ON event (note, id)"]
            .map(str::to_owned);
        let task = if self == Self::Index { IndexTask::Create(&statements) } else { IndexTask::Again(&[]) };
        make_indexes(path, task, &options).map(drop)
    }
}

impl Setting {
    /// All settings.
    pub const ALL: [Self; 9] = [
        Self::Delete,
        Self::Wal,
        Self::Persist,
        Self::WalInCompany,
        Self::WalWithReader,
        Self::WalShrunk,
        Self::DeleteFree,
        Self::WalFree,
        Self::WalFreeWithReader,
    ];

    /// Returns the statements of the other program, if there is one.
    fn company(self) -> Option<&'static str> {
        match self {
            Self::Delete | Self::Wal | Self::DeleteFree | Self::WalFree => None,
            Self::Persist => Some("PRAGMA journal_mode = persist; UPDATE side SET x = 'journalled'"),
            Self::WalInCompany => Some("PRAGMA wal_autocheckpoint = 0; UPDATE side SET x = 'in the log'"),
            Self::WalWithReader => Some(
                "PRAGMA wal_autocheckpoint = 0; UPDATE side SET x = 'in the log';
                 BEGIN; SELECT count(*) FROM side",
            ),
            Self::WalShrunk => Some(
                "PRAGMA wal_autocheckpoint = 0; CREATE TABLE large AS SELECT *, zeroblob(700) FROM event; DROP TABLE large;
                 VACUUM",
            ),
            Self::WalFreeWithReader => {
                Some("PRAGMA wal_autocheckpoint = 0; BEGIN; SELECT count(*) FROM large WHERE length(hex(block)) > 0")
            }
        }
    }
}

impl Subject {
    /// Makes a database with a table, indexes, overflow pages and free pages.
    #[must_use]
    pub fn new(page_size: u32, setting: Setting) -> Self {
        let folder = Folder::fast();
        let connection = Connection::open(folder.join("app.db")).unwrap();
        let has_journal = matches!(setting, Setting::Delete | Setting::Persist);
        let mode = if has_journal { "delete" } else { "wal" };
        connection
            .execute_batch(&format!(
                "PRAGMA page_size = {page_size}; PRAGMA journal_mode = {mode}; PRAGMA synchronous = OFF;
                 CREATE TABLE event (id INTEGER PRIMARY KEY, area INTEGER, note TEXT);
                 CREATE INDEX by_note ON event (note); CREATE TABLE side (id INTEGER PRIMARY KEY, x);
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
                 INSERT INTO event SELECT 2 * i, i % 17, 'note ' || i || CASE i % 80 WHEN 0 THEN hex(zeroblob(1500)) ELSE '' END
                 FROM n;
                 INSERT INTO side SELECT id, note FROM event; DELETE FROM side WHERE id > 40"
            ))
            .unwrap();
        let is_free = matches!(setting, Setting::DeleteFree | Setting::WalFree | Setting::WalFreeWithReader);
        if is_free {
            let large = "CREATE TABLE large AS SELECT randomblob(1200) AS block FROM event, (SELECT 1 UNION SELECT 2)";
            connection.execute_batch(large).unwrap();
        }
        drop(connection);
        let company = setting.company().map(|sql| {
            let company = Connection::open(folder.join("app.db")).unwrap();
            company.busy_timeout(Duration::from_secs(10)).unwrap();
            company.execute_batch(&format!("PRAGMA synchronous = OFF; {sql}")).unwrap();
            company
        });
        if is_free {
            let connection = Connection::open(folder.join("app.db")).unwrap();
            connection.execute_batch("PRAGMA synchronous = OFF; DROP TABLE large").unwrap();
        }
        // A connection that is open keeps its journal for itself.
        let company = if setting == Setting::Persist { company.and(None) } else { company };
        Self { folder, company }
    }

    /// Returns the path of the database.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.join("app.db")
    }

    /// Returns the content of the database.
    #[must_use]
    pub fn content(&self) -> Content {
        content(&self.path()).unwrap()
    }
}

/// Adds rows to a table of a database whose schema stays.
pub(crate) fn append_rows(
    path: &Path,
    schema: Schema,
    options: Options,
    append: AppendOptions,
    (table, rows): (usize, &dyn Source),
) -> Result<Finished> {
    let (path, existing, additions) = (path.to_owned(), schema.clone(), SchemaAdditions::default());
    AppendJob { path, existing, schema, additions, options, append }.run(&[(table, rows)], &|| Ok(()))
}
