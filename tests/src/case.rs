//! One case, written along all routes.

use crate::folder::Folder;
use crate::oracle;
use crate::page_sizes;
use crate::source::{Row, ValueRows};
use litepress::{Conflict, Database, Options, PageSize, Schema, Sync, Target};
use litepress_rows::cells::OwnedValue;
use litepress_rows::{Result, RowidOrder, Table, quoted_name};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql};
use std::fs;
use std::sync::Arc;

/// A schema and the rows of its tables.
#[derive(Clone, Debug)]
pub struct Case {
    /// Statements that define tables.
    tables: String,
    /// Statements that SQLite runs once the rows are there: views and triggers.
    after: String,
    rows: Vec<TableRows>,
    rows_per_part: usize,
    rowid_order: RowidOrder,
    conflict: Conflict,
    is_numbered: bool,
}

#[derive(Clone, Debug)]
struct TableRows {
    rows: Arc<[Row]>,
    first_rowid: i64,
}

/// How a case becomes a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Threads that build.
    pub threads: usize,
    /// The target of the pages.
    pub into: Into,
}

/// The target of the pages of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Into {
    /// Bytes in memory.
    Memory,
    /// A file, by way of the page cache.
    CachedFile,
    /// A file with a large estimate, so that it is written past the page cache.
    DirectFile,
}

const THREADS: [usize; 3] = [1, 2, 7];
const TARGETS: [Into; 3] = [Into::Memory, Into::CachedFile, Into::DirectFile];

/// Returns all routes: every number of threads with every target.
pub fn routes() -> impl Iterator<Item = Route> {
    THREADS.into_iter().flat_map(|threads| TARGETS.into_iter().map(move |into| Route { threads, into }))
}

/// Returns three routes: every number of threads once, and every target once.
///
/// The pairs change with the page size as in a Latin square, so that three successive page sizes take all nine routes.
pub fn routes_at(page_size: PageSize) -> impl Iterator<Item = Route> {
    let shift = page_size.bytes().trailing_zeros() as usize;
    let targets = TARGETS.into_iter().cycle().skip(shift % TARGETS.len());
    THREADS.into_iter().zip(targets).map(|(threads, into)| Route { threads, into })
}

/// The least expected size of a file that is written past the page cache from its first byte on.
const PAST_CACHE_BYTES: u64 = (64 << 20) + 1;

impl Route {
    /// The shortest: one thread, in memory.
    pub const SHORTEST: Self = Self { threads: 1, into: Into::Memory };

    /// Returns the options for this route.
    #[must_use]
    pub fn options(self, page_size: PageSize) -> Options {
        let mut options = Options::default();
        options.threads = self.threads;
        options.page_size = Some(page_size);
        options.sync = Sync::Off;
        // Large zeroed buffers cost nothing, because the system maps them. Reused memory must be cleared.
        options.memory_bytes = 4 << 30;
        if self.into == Into::DirectFile {
            options.expected_bytes = PAST_CACHE_BYTES;
        }
        options
    }
}

impl Case {
    /// Creates a case of these tables, without rows.
    #[must_use]
    pub fn new(tables: impl std::convert::Into<String>) -> Self {
        Self {
            tables: tables.into(),
            after: String::new(),
            rows: Vec::new(),
            rows_per_part: 1000,
            rowid_order: RowidOrder::Ascending,
            conflict: Conflict::Abort,
            is_numbered: false,
        }
    }

    /// Adds the rows of the next table.
    #[must_use]
    pub fn rows(self, rows: impl IntoIterator<Item = Row>) -> Self {
        self.rows_from(1, rows)
    }

    /// Adds the rows of the next table, which has no INTEGER PRIMARY KEY, with rowids from `first_rowid` on.
    #[must_use]
    pub fn rows_from(mut self, first_rowid: i64, rows: impl IntoIterator<Item = Row>) -> Self {
        self.rows.push(TableRows { rows: rows.into_iter().collect(), first_rowid });
        self
    }

    /// Adds views and triggers.
    #[must_use]
    pub fn after(mut self, after: impl std::convert::Into<String>) -> Self {
        self.after = after.into();
        self
    }

    /// Cuts the rows into parts of `rows` rows.
    #[must_use]
    pub fn parts_of(mut self, rows: usize) -> Self {
        self.rows_per_part = rows;
        self
    }

    /// Lets rows be made again by their numbers.
    #[must_use]
    pub fn numbered(mut self) -> Self {
        self.is_numbered = true;
        self
    }

    /// Declares that rowids come in any order.
    #[must_use]
    pub fn in_any_order(self) -> Self {
        self.in_order(RowidOrder::Unordered)
    }

    /// Sets the order of rowids that the source declares.
    #[must_use]
    pub fn in_order(mut self, rowid_order: RowidOrder) -> Self {
        self.rowid_order = rowid_order;
        self
    }

    /// Sets the policy for rows that their table refuses. The reference knows abort only.
    #[must_use]
    pub fn on_conflict(mut self, conflict: Conflict) -> Self {
        self.conflict = conflict;
        self
    }

    /// Returns the whole schema, as litepress reads it.
    ///
    /// # Errors
    /// Fails if litepress refuses the schema.
    pub fn schema(&self) -> Result<Schema> {
        Schema::from_sql(&format!("{};\n{}", self.tables, self.after), "<case>")
    }

    /// Returns the file that litepress makes of the case.
    ///
    /// # Errors
    /// Fails if litepress refuses the case.
    pub fn build(&self, route: Route, page_size: PageSize) -> Result<Vec<u8>> {
        self.build_schema(self.schema()?, &route.options(page_size), route.into)
    }

    /// Does the same as [`build`](Self::build) with a schema that was read before.
    ///
    /// # Errors
    /// Fails if litepress refuses the case.
    pub fn build_schema(&self, schema: Schema, options: &Options, into: Into) -> Result<Vec<u8>> {
        let mut options = options.clone();
        options.on_conflict = self.conflict;
        let folder = (into != Into::Memory).then(Folder::new);
        let target = folder.as_ref().map_or(Target::Memory, |folder| folder.target("case.db"));
        let finished = self.fill(Database::create(&target, schema, &options)?)?.finish()?;
        let bytes = match &target {
            Target::File(path) => fs::read(path).unwrap(),
            _ => finished.bytes.expect("a database in memory has bytes"),
        };
        assert_eq!(bytes.len() as u64, finished.summary.bytes, "the summary's length");
        Ok(bytes)
    }

    /// Writes the case to a target.
    ///
    /// # Errors
    /// Fails if litepress refuses the case.
    pub fn build_to(&self, target: &Target, options: &Options) -> Result<()> {
        self.fill(Database::create(target, self.schema()?, options)?)?.finish().map(drop)
    }

    /// Fills all tables of `database`, which has the schema of the case.
    ///
    /// # Errors
    /// Fails if litepress refuses a row.
    pub fn fill(&self, mut database: Database) -> Result<Database> {
        for (index, table_rows) in self.rows.iter().enumerate() {
            let table = database.schema().tables[index].clone();
            let TableRows { rows, first_rowid } = table_rows;
            let mut source = ValueRows::new(&table, rows.clone(), self.rows_per_part, *first_rowid);
            source.rowid_order = self.rowid_order;
            source.conflict = self.conflict;
            source.is_numbered = self.is_numbered;
            database.fill(index, &source)?;
        }
        Ok(database)
    }

    /// Returns the database that SQLite makes of the case by INSERT.
    #[must_use]
    pub fn reference(&self, page_size: PageSize) -> Connection {
        let sqlite = Connection::open_in_memory().unwrap();
        self.fill_reference(&sqlite, page_size);
        sqlite
    }

    /// Has SQLite make the case in an empty database.
    pub fn fill_reference(&self, sqlite: &Connection, page_size: PageSize) {
        sqlite
            .execute_batch(&format!(
                "PRAGMA page_size = {page_size}; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF"
            ))
            .unwrap();
        sqlite.execute_batch(&self.tables).unwrap();
        let schema = Schema::from_sql(&self.tables, "<case>").unwrap();
        sqlite.execute_batch("BEGIN").unwrap();
        for (table, TableRows { rows, first_rowid }) in schema.tables.iter().zip(&self.rows) {
            for (row, rowid) in rows.iter().zip(*first_rowid..) {
                insert(sqlite, table, rowid, row).unwrap();
            }
        }
        sqlite.execute_batch("COMMIT").unwrap();
        sqlite.execute_batch(&self.after).unwrap();
    }

    /// Writes the case at every page size, along every route at some. Asserts equal bytes for all routes, a sound file,
    /// and the content of SQLite's INSERT. Returns the files, one for each page size.
    pub fn check(&self) -> Vec<Vec<u8>> {
        page_sizes().map(|page_size| self.check_along(routes_at(page_size), page_size)).collect()
    }

    /// Does the same as [`check`](Self::check) at one page size, along every route.
    pub fn check_at(&self, page_size: PageSize) -> Vec<u8> {
        self.check_along(routes(), page_size)
    }

    /// Does the same as [`check`](Self::check) at one page size, along these routes and the shortest one.
    pub fn check_along(&self, routes: impl Iterator<Item = Route>, page_size: PageSize) -> Vec<u8> {
        let schema = self.schema().unwrap();
        let build = |route: Route| self.build_schema(schema.clone(), &route.options(page_size), route.into).unwrap();
        let bytes = build(Route::SHORTEST);
        for route in routes.filter(|route| *route != Route::SHORTEST) {
            assert!(build(route) == bytes, "pages of {page_size} bytes, {route:?}: other bytes");
        }
        self.judge(&bytes, page_size);
        bytes
    }

    /// Asserts that `bytes` are sound and have the content of SQLite's INSERT.
    pub fn judge(&self, bytes: &[u8], page_size: PageSize) {
        let what = format!("pages of {page_size} bytes");
        oracle::assert_sound(bytes, &what);
        let (mut ours, mut theirs) = (oracle::open(bytes), self.reference(page_size));
        oracle::assert_same_database(&ours, &theirs, &what);
        oracle::assert_same_indexes(&mut ours, &mut theirs, &what);
        oracle::assert_reindexed(bytes, &what);
    }
}

/// Inserts one row by SQLite. The rowid is used if the table has one but no INTEGER PRIMARY KEY.
///
/// # Errors
/// Any error of SQLite.
pub fn insert(sqlite: &Connection, table: &Table, rowid: i64, row: &Row) -> rusqlite::Result<()> {
    // A table of 2000 columns has no room for another one, and gets the rowids that SQLite chooses.
    let has_room = !table.without_rowid && table.rowid_alias.is_none() && table.ordinary_columns().count() < 2000;
    run_insert(sqlite, table, "INSERT", Some(OwnedValue::Int(rowid)).filter(|_| has_room).as_ref(), row)
}

/// Inserts one row by SQLite with a policy for conflicts. SQLite chooses the rowid.
///
/// # Errors
/// Any error of SQLite.
///
/// # Panics
/// If rows are to be updated: that needs a clause.
pub fn insert_or(sqlite: &Connection, table: &Table, conflict: Conflict, row: &Row) -> rusqlite::Result<()> {
    let verb = match conflict {
        Conflict::Abort => "INSERT",
        Conflict::Ignore => "INSERT OR IGNORE",
        Conflict::Replace => "INSERT OR REPLACE",
        Conflict::Update => panic!("an upsert names its key"),
    };
    run_insert(sqlite, table, verb, None, row)
}

fn run_insert(
    sqlite: &Connection,
    table: &Table,
    verb: &str,
    rowid: Option<&OwnedValue>,
    row: &Row,
) -> rusqlite::Result<()> {
    let mut names: Vec<String> =
        table.ordinary_columns().map(|column| quoted_name(&table.columns[column].name)).collect();
    let values = row.iter().chain(rowid).map(Bound);
    names.extend(rowid.map(|_| free_rowid_name(table).to_owned()));
    let places = vec!["?"; names.len()].join(", ");
    let sql = format!("{verb} INTO {} ({}) VALUES ({places})", quoted_name(&table.name), names.join(", "));
    sqlite.prepare_cached(&sql)?.execute(rusqlite::params_from_iter(values)).map(drop)
}

fn free_rowid_name(table: &Table) -> &'static str {
    ["rowid", "_rowid_", "oid"].into_iter().find(|name| table.column(name).is_none()).expect("a name for the rowid")
}

struct Bound<'a>(&'a OwnedValue);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            OwnedValue::Null => ValueRef::Null,
            OwnedValue::Int(int) => ValueRef::Integer(*int),
            OwnedValue::Real(real) => ValueRef::Real(*real),
            OwnedValue::Text(text) => ValueRef::Text(text.as_bytes()),
            OwnedValue::Blob(blob) => ValueRef::Blob(blob),
        }))
    }
}
