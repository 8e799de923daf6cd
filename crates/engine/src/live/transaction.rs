//! One write transaction: new pages, changed pages, rows of `sqlite_schema`, freed pages, COMMIT.

use super::freelist::{Freelist, TrunkPage, leaves_of};
use super::new_pages::{DatabaseFile, Spool};
use super::tree_pages::{TreePages, corrupt};
use super::{LiveDatabase, read_header, refusal_of};
use crate::options::{Options, Target};
use crate::pages::{FreePages, Pages};
use crate::resources::{bounded, live_blocks, temp_dir};
use crate::sink::block::BlockPool;
use crate::sink::writers::Writers;
use crate::sort::cached_file;
use crate::{Error, ErrorKind, Result, Sink};
use litepress_format::header::{DatabaseHeader, FREELIST_OFFSET, PAGE_COUNT_OFFSET};
use litepress_format::page::PageSize;
use litepress_rows::sync::{Mutex, lock};
use litepress_scan::{FilePointer, forget_pages, wal_has_pages_behind, wal_is_empty};
use rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Free pages are looked for if there is at least one for this many pages.
const MOST_PAGES_PER_FREE: u64 = 16;

/// A write transaction of an existing database.
///
/// Everything is done at [`commit`](Self::commit), or nothing is: dropped, the transaction is rolled back. Memory: blocks of
/// new pages, within the budget of the options, and four bytes for each freed page.
pub struct LiveTransaction<'d> {
    /// Declared first: writes end before the handle below is dropped.
    pages: Option<Pages>,
    database: &'d mut LiveDatabase,
    file: Arc<Mutex<FilePointer>>,
    page_size: PageSize,
    /// Pages of the database, the published new ones included.
    page_count: u32,
    /// Number of pages, and length of the file, when the transaction began.
    pages_before: u32,
    file_bytes: u64,
    /// Whether new pages go through SQLite.
    through_sqlite: bool,
    /// Free pages of the database that new pages may take. `None` if there are few, readers may still look at them, or a statement
    /// was run in this transaction: a page that it took and freed again may be in the cache, to be written at COMMIT.
    free: Option<Arc<FreePages>>,
    pub(super) freed: Vec<u32>,
    began: Instant,
    checkpoints: Option<CheckpointLock>,
    pages_written: u64,
    pages_reused: u64,
    is_open: bool,
    /// COMMIT was tried. If it fails behind its last write, the database is changed nevertheless.
    has_tried_commit: bool,
}

/// The figures of a finished transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommitReport {
    /// The time during which other programs could not write.
    pub locked: Duration,
    /// The time of COMMIT itself. In rollback mode, other programs cannot read meanwhile.
    pub commit: Duration,
    /// Number of new pages.
    pub pages_written: u64,
    /// Number of new pages that took free ones.
    pub pages_reused: u64,
    /// Number of pages that went to the freelist.
    pub pages_freed: u64,
    /// Whether the new pages went through the WAL or the journal.
    pub through_wal: bool,
}

impl<'d> LiveTransaction<'d> {
    pub(super) fn begin(database: &'d mut LiveDatabase) -> Result<Self> {
        let connection = &database.connection;
        let explain = |error| database.explain(&error);
        prepare(database).map_err(explain)?;
        let is_wal = is_wal(connection).map_err(explain)?;
        let file = Arc::new(Mutex::new(FilePointer::of_database(connection)?));
        // Before the lock of writers, as a checkpoint takes them: in the other order, each could wait for the other.
        let checkpoints = is_wal.then(|| CheckpointLock::take(database, &file)).transpose()?;
        connection.execute_batch("BEGIN IMMEDIATE").map_err(explain)?;
        let mut transaction = Self::new(database, file, checkpoints);
        transaction.look(is_wal).map_err(|error| error.in_file(transaction.path()))?;
        Ok(transaction)
    }

    /// Goes on with a read transaction that became a write transaction. `checkpoints` is held.
    pub(super) fn adopt(database: &'d mut LiveDatabase, checkpoints: CheckpointLock) -> Result<Self> {
        let file = checkpoints.file.clone();
        let mut transaction = Self::new(database, file, Some(checkpoints));
        transaction.look(true).map_err(|error| error.in_file(transaction.path()))?;
        Ok(transaction)
    }

    fn new(database: &'d mut LiveDatabase, file: Arc<Mutex<FilePointer>>, checkpoints: Option<CheckpointLock>) -> Self {
        let through_sqlite = database.options.through_wal || database.replication.is_some();
        Self {
            pages: None,
            page_size: PageSize::DEFAULT,
            page_count: 0,
            database,
            file,
            pages_before: 0,
            file_bytes: u64::MAX,
            through_sqlite,
            free: None,
            freed: Vec::new(),
            began: Instant::now(),
            checkpoints,
            pages_written: 0,
            pages_reused: 0,
            is_open: true,
            has_tried_commit: false,
        }
    }

    /// Looks at the database, which nobody else can change any more.
    fn look(&mut self, was_wal: bool) -> Result<()> {
        let explain = |error| self.database.explain(&error);
        let header = read_header(&self.database.connection).map_err(explain)?;
        let header = header.filter(|header| refusal_of(header).is_none()).ok_or_else(changed)?;
        if was_wal != is_wal(&self.database.connection).map_err(explain)? {
            return Err(changed());
        }
        self.page_size = header.page_size;
        self.page_count = self.query_page_count()?;
        self.pages_before = self.page_count;
        let len = lock(&self.file).size();
        self.file_bytes = len.map_err(|error| Error::io("read the length of", self.path(), error))?;
        // A count that an old SQLite left invalid makes readers ask for the length of the file.
        self.through_sqlite |= !header.page_count_is_valid();
        // Readers skip frames that a checkpoint has copied, but only as long as the wal-index lives. After a crash, the recovery
        // of the WAL makes all of its frames count again, and one of a page behind the end would come back.
        if was_wal && !self.through_sqlite {
            let (connection, page_bytes) = (self.database_connection(), self.page_bytes());
            self.through_sqlite = wal_has_pages_behind(connection, self.page_count, page_bytes)?;
        }
        self.look_for_free_pages(&header, was_wal)
    }

    /// Looks whether new pages can take free ones. Readers never look at free pages, and a rollback needs no bytes of a leaf of the
    /// freelist. But readers of an older snapshot look at pages that were freed since: in WAL mode only an empty WAL rules them out.
    fn look_for_free_pages(&mut self, header: &DatabaseHeader, is_wal: bool) -> Result<()> {
        // A page behind the end that the list names must not become a new one.
        let leaves = leaves_of(&self.trunks(header)?).ok_or_else(|| self.broken_freelist())?;
        let is_many = u64::from(header.freelist_pages) * MOST_PAGES_PER_FREE >= u64::from(self.page_count);
        if !is_many {
            return Ok(());
        }
        let free = FreePages::new(&leaves, self.page_count, self.page_size.lock_byte_page());
        let is_safe = self.through_sqlite || !is_wal || wal_is_empty(self.database_connection())?;
        // Through the WAL old readers keep their pages. That is slower, but the file must not grow for ever.
        let is_most = free.as_ref().is_some_and(|free| u64::from(free.len()) * 2 >= u64::from(self.page_count));
        self.through_sqlite |= !is_safe && is_most;
        self.free = free.filter(|_| is_safe || is_most).map(Arc::new);
        Ok(())
    }

    /// Returns the trunk pages of the freelist.
    fn trunks(&self, header: &DatabaseHeader) -> Result<Vec<TrunkPage>> {
        let list = Freelist { first_trunk: header.first_freelist_trunk, pages: header.freelist_pages };
        list.trunks(self.page_count, |number| self.read_page(number))?.ok_or_else(|| self.broken_freelist())
    }

    fn broken_freelist(&self) -> Error {
        let message = "the freelist names a page twice, or one that does not exist, or counts other pages than it has";
        Error::new(ErrorKind::Corrupt, message)
            .in_file(self.path())
            .advise("check the database; `litepress compact` makes it anew without free pages")
    }

    fn query_page_count(&self) -> Result<u32> {
        let count = self.database_connection().query_row("PRAGMA page_count", [], |row| row.get(0));
        count.map_err(|error| self.database.explain(&error))
    }

    /// Returns the connection for reading. New pages are not published to it.
    pub(crate) fn database_connection(&self) -> &Connection {
        &self.database.connection
    }

    /// Returns the connection, for statements within the transaction. New pages so far are published to it.
    ///
    /// # Errors
    /// If new pages cannot be written.
    pub fn connection(&mut self) -> Result<&Connection> {
        self.publish_pages()?;
        self.free = None;
        Ok(&self.database.connection)
    }

    /// Returns the path of the database.
    pub fn path(&self) -> &Path {
        &self.database.path
    }

    /// Converts a failure of SQLite.
    pub fn explain(&self, error: &rusqlite::Error) -> Error {
        self.database.explain(error)
    }

    /// Returns the number of pages of the database, without new ones that are not published.
    pub fn page_count(&self) -> u32 {
        self.page_count
    }

    /// Returns whether new pages go through the WAL or the journal.
    pub fn is_through_wal(&self) -> bool {
        self.through_sqlite
    }

    /// Returns the size of a page.
    pub(crate) fn page_size(&self) -> PageSize {
        self.page_size
    }

    /// Returns the bytes of a page. None is reserved.
    pub(super) fn page_bytes(&self) -> usize {
        self.page_size.bytes()
    }

    /// Fails if a stop was requested.
    pub(super) fn go_on(&self) -> Result<()> {
        self.database.options.build.progress.go_on()
    }

    /// Returns the options of the run, with memory and threads bounded.
    pub(crate) fn options(&self) -> Result<Options> {
        bounded(&self.database.options.build)
    }

    /// Reads a page as this transaction sees it.
    pub(super) fn read_page(&self, number: u32) -> Result<Vec<u8>> {
        let read = || {
            let sql = "SELECT data FROM sqlite_dbpage WHERE pgno = ?1";
            self.database_connection().prepare_cached(sql)?.query_row([number], |row| row.get(0))
        };
        read().map_err(|error| self.explain(&error))
    }

    /// Returns new pages: free ones, and others behind the end of the database. They are published before the next statement of SQLite.
    pub(crate) fn pages(&mut self) -> Result<&mut Pages> {
        if self.pages.is_none() {
            self.pages = Some(self.new_pages()?);
        }
        Ok(self.pages.as_mut().expect("it was made"))
    }

    fn new_pages(&mut self) -> Result<Pages> {
        let options = self.options()?;
        let sink: Box<dyn Sink> = if self.through_sqlite {
            let folder = temp_dir(&Target::File(self.database.path.clone()), &options);
            let start = if self.free.is_some() { 0 } else { u64::from(self.page_count) * self.page_bytes() as u64 };
            Box::new(Spool { file: cached_file(&folder)?, start })
        } else {
            Box::new(DatabaseFile { file: self.file.clone() })
        };
        // The handle of the connection takes one write at a time.
        let threads = 1;
        let writers = Writers::new(sink, self.database.path.clone(), threads, options.progress.clone());
        let pool = BlockPool::new(live_blocks(&options, threads));
        Ok(match &self.free {
            Some(free) => Pages::in_place_of(free.clone(), self.page_size, pool, writers),
            None => Pages::behind(self.page_count, self.page_size, pool, writers),
        })
    }

    /// Makes the new pages known to SQLite.
    fn publish_pages(&mut self) -> Result<()> {
        let Some(pages) = self.pages.take() else { return Ok(()) };
        let free = self.free.take();
        let next = pages.next();
        let taken: Vec<u32> = free.iter().flat_map(|free| free.taken_before(next)).flatten().collect();
        let (old, new) = (self.page_count, pages.count().max(self.page_count));
        pages.wait()?;
        self.pages_written += u64::from(new - old) + taken.len() as u64;
        self.pages_reused += taken.len() as u64;
        if self.through_sqlite {
            self.insert_all(&pages, taken.iter().copied().chain(old + 1..=new))?;
        } else if new > old || !taken.is_empty() {
            // Even if durability is not wanted: after a power cut, the commit must not refer to pages that are lost.
            pages.sync()?;
            if new > old {
                let mut last = vec![0; self.page_bytes()];
                pages.read(new, &mut last)?;
                self.insert_page(new, &last)?;
            }
        }
        drop(pages);
        if new > old {
            self.change_header(PAGE_COUNT_OFFSET, &[new])?;
            // Without it, the b-tree layer of SQLite would take the first new page for itself.
            self.execute("SAVEPOINT size; RELEASE size")?;
            self.page_count = new;
        }
        self.take_off_freelist(&taken)?;
        let lock_byte_page = self.page_size.lock_byte_page();
        self.free = free.and_then(|free| free.from(next, self.page_count, lock_byte_page)).map(Arc::new);
        Ok(())
    }

    /// Inserts new pages, through SQLite.
    fn insert_all(&self, pages: &Pages, numbers: impl Iterator<Item = u32>) -> Result<()> {
        let mut page = vec![0; self.page_bytes()];
        for number in numbers.filter(|&number| number != self.page_size.lock_byte_page()) {
            self.go_on()?;
            pages.read(number, &mut page)?;
            self.insert_page(number, &page)?;
        }
        Ok(())
    }

    /// Takes pages off the freelist, before a statement of SQLite takes them. REQUIRES: they are leaves of it, ascending.
    fn take_off_freelist(&mut self, taken: &[u32]) -> Result<()> {
        let Some(number) = u32::try_from(taken.len()).ok().filter(|&number| number > 0) else { return Ok(()) };
        let header = self.header()?;
        let trunks = self.trunks(&header)?;
        let is_taken = |leaf: u32| taken.binary_search(&leaf).is_ok();
        let changed = |trunk: &TrunkPage| Some((trunk.number, trunk.without(is_taken, self.page_bytes())?));
        let changes: Vec<(u32, Vec<u8>)> = trunks.iter().filter_map(changed).collect();
        self.change_pages(&changes)?;
        self.change_header(FREELIST_OFFSET, &[header.first_freelist_trunk, header.freelist_pages - number])
    }

    /// Cuts off new pages. REQUIRES: the database has as many pages as before, and this is its only writer, so that nothing else changes
    /// the length of the file: no checkpoint can run.
    fn cut_off_pages(&self) {
        let mut file = lock(&self.file);
        if file.size().is_ok_and(|len| len > self.file_bytes) {
            let _ = file.truncate(self.file_bytes);
        }
    }

    pub(super) fn insert_page(&self, number: u32, bytes: &[u8]) -> Result<()> {
        let insert = || {
            let sql = "INSERT INTO sqlite_dbpage (pgno, data) VALUES (?1, ?2)";
            self.database_connection().prepare_cached(sql)?.execute((number, bytes))
        };
        insert().map(drop).map_err(|error| self.explain(&error))
    }

    pub(super) fn execute(&self, sql: &str) -> Result<()> {
        self.database_connection().execute_batch(sql).map_err(|error| self.explain(&error))
    }

    /// Changes some numbers of the file header.
    pub(super) fn change_header(&self, offset: usize, numbers: &[u32]) -> Result<()> {
        let mut page = self.read_page(1)?;
        for (field, number) in page[offset..].chunks_exact_mut(4).zip(numbers) {
            field.copy_from_slice(&number.to_be_bytes());
        }
        self.insert_page(1, &page)
    }

    /// Gives pages that exist other bytes.
    pub(crate) fn change_pages(&mut self, changes: &[(u32, Vec<u8>)]) -> Result<()> {
        self.publish_pages()?;
        // Makes SQLite forget the parsed form of these pages.
        let zeros = vec![0; self.page_bytes()];
        self.execute("SAVEPOINT parsed")?;
        changes.iter().try_for_each(|&(number, _)| self.insert_page(number, &zeros))?;
        self.execute("ROLLBACK TO parsed; RELEASE parsed")?;
        changes.iter().try_for_each(|(number, bytes)| self.insert_page(*number, bytes))
    }

    /// Adds a row to `sqlite_schema`. `kind` is `table` or `index`, and `root` a new page.
    ///
    /// # Errors
    /// If SQLite refuses it.
    pub fn add_object(&mut self, kind: &str, name: &str, table: &str, root: u32, sql: &str) -> Result<()> {
        self.change_schema(|connection| {
            let insert = "INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES (?1, ?2, ?3, ?4, ?5)";
            connection.execute(insert, (kind, name, table, root, sql)).map(drop)
        })
    }

    /// Gives a table or an index another root page. Its old tree stays where it is: [`free_tree`](Self::free_tree) it.
    ///
    /// # Errors
    /// If there is no such object, or SQLite refuses.
    pub fn set_root(&mut self, name: &str, root: u32) -> Result<()> {
        self.change_schema(|connection| {
            let update = "UPDATE sqlite_schema SET rootpage = ?2 WHERE name = ?1 AND type IN ('table', 'index')
                          AND rootpage > 0";
            match connection.execute(update, (name, root))? {
                1 => Ok(()),
                _ => Err(rusqlite::Error::QueryReturnedNoRows),
            }
        })
    }

    /// Changes rows of `sqlite_schema`, and makes every connection read them again.
    fn change_schema(&mut self, change: impl FnOnce(&Connection) -> rusqlite::Result<()>) -> Result<()> {
        self.publish_pages()?;
        self.free = None;
        let connection = self.database_connection();
        let changed = || {
            connection.execute_batch("PRAGMA writable_schema = ON")?;
            let changed = change(connection);
            let version: i64 = connection.query_row("PRAGMA schema_version", [], |row| row.get(0))?;
            connection.execute_batch(&format!(
                "PRAGMA schema_version = {}; PRAGMA writable_schema = RESET",
                next_version(version)
            ))?;
            changed
        };
        changed().map_err(|error| self.explain(&error))
    }

    /// Puts all pages of a tree on the freelist, at COMMIT. REQUIRES: no object has this root any more.
    ///
    /// # Errors
    /// If the tree is damaged.
    pub fn free_tree(&mut self, root: u32) -> Result<()> {
        self.publish_pages()?;
        let mut pages = TreePages::collect(self, root)?;
        self.freed.append(&mut pages);
        Ok(())
    }

    /// Puts pages on the freelist, at COMMIT. REQUIRES: they are all pages of trees that no object has any more.
    ///
    /// # Errors
    /// If one of them cannot belong to a tree.
    pub(crate) fn free_pages(&mut self, pages: &[u32]) -> Result<()> {
        if pages.contains(&1) {
            return Err(corrupt(1, "an index has a pointer to it"));
        }
        self.freed.extend_from_slice(pages);
        Ok(())
    }

    /// Returns the file header as this transaction sees it.
    fn header(&self) -> Result<DatabaseHeader> {
        let page_1 = self.read_page(1)?;
        DatabaseHeader::decode(&page_1)
            .map_err(|error| Error::new(ErrorKind::Corrupt, format!("page 1: {error}")).in_file(self.path()))
    }

    pub(super) fn write_freelist(&mut self) -> Result<()> {
        if self.freed.is_empty() {
            return Ok(());
        }
        let mut freed = std::mem::take(&mut self.freed);
        freed.sort_unstable();
        if let Some(twice) = freed.windows(2).find(|pair| pair[0] == pair[1]) {
            let message = format!("page {} belongs to two trees", twice[0]);
            return Err(Error::new(ErrorKind::Corrupt, message).in_file(self.path()));
        }
        let header = self.header()?;
        let page_bytes = self.page_bytes();
        let (mut list, mut rest) =
            (Freelist { first_trunk: header.first_freelist_trunk, pages: header.freelist_pages }, &freed[..]);
        let mut changes = Vec::new();
        for trunk in self.trunks(&header)? {
            if let Some((page, taken)) = trunk.filled(rest, page_bytes) {
                changes.push((trunk.number, page));
                list.pages += u32::try_from(taken).expect("leaves of a page");
                rest = &rest[taken..];
            }
        }
        let (list, trunks) = list.with(rest, page_bytes);
        changes.extend(trunks);
        self.change_pages(&changes)?;
        self.freed = freed;
        self.change_header(FREELIST_OFFSET, &[list.first_trunk, list.pages])
    }

    /// Commits everything.
    ///
    /// # Errors
    /// If a stop was requested, readers keep the database locked, or a write fails. Nothing is changed then.
    pub fn commit(mut self) -> Result<CommitReport> {
        self.publish_pages()?;
        self.write_freelist()?;
        self.go_on()?;
        let committing = Instant::now();
        self.has_tried_commit = true;
        self.execute("COMMIT")?;
        self.is_open = false;
        let commit = committing.elapsed();
        self.checkpoints = None;
        let report = CommitReport {
            locked: self.began.elapsed(),
            commit,
            pages_written: self.pages_written,
            pages_reused: self.pages_reused,
            pages_freed: self.freed.len() as u64,
            through_wal: self.through_sqlite,
        };
        if self.through_sqlite {
            // The WAL may have become long.
            let _ = self.database_connection().query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        }
        Ok(report)
    }
}

impl Drop for LiveTransaction<'_> {
    fn drop(&mut self) {
        // Ends the writers before anything else.
        self.pages = None;
        if !self.is_open {
            return;
        }
        if self.has_tried_commit {
            // The sync of the folder, or an unlock, may have failed behind the change. Then the new pages are those of the database.
            let _ = self.database.connection.execute_batch("ROLLBACK");
            let is_as_before = self.database.connection.execute_batch("BEGIN IMMEDIATE").is_ok()
                && self.query_page_count().is_ok_and(|count| count == self.pages_before);
            if !is_as_before {
                let _ = self.database.connection.execute_batch("ROLLBACK");
                return;
            }
        }
        self.cut_off_pages();
        let _ = self.database.connection.execute_batch("ROLLBACK");
    }
}

/// The lock that keeps checkpoints from running. A checkpoint would cut off pages behind the end of the database.
pub(super) struct CheckpointLock {
    file: Arc<Mutex<FilePointer>>,
}

impl CheckpointLock {
    pub(super) fn take(database: &LiveDatabase, file: &Arc<Mutex<FilePointer>>) -> Result<Self> {
        let taken = lock(file).lock_checkpoints(database.options.busy_timeout);
        match taken {
            Ok(()) => Ok(Self { file: file.clone() }),
            Err(error) if error.kind() == std::io::ErrorKind::ResourceBusy => {
                let busy = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
                Err(database.explain(&rusqlite::Error::SqliteFailure(busy, None)))
            }
            Err(error) => Err(Error::io("lock the wal-index of", &database.path, error)),
        }
    }
}

impl Drop for CheckpointLock {
    fn drop(&mut self) {
        // It fails only if the lock is gone already.
        let _ = lock(&self.file).unlock_checkpoints();
    }
}

/// Readies the cache and the WAL for pages that are written behind the back of the connection. REQUIRES: it has no transaction.
pub(super) fn prepare(database: &LiveDatabase) -> rusqlite::Result<()> {
    let connection = &database.connection;
    // Free pages may be in the cache as they were when they were in use.
    forget_pages(connection);
    let kind = if has_many_free(connection)? { "TRUNCATE" } else { "PASSIVE" };
    // Copies what it can, so that fewer frames must be looked at. It waits for nobody. Free pages can be taken if it copies all.
    connection.busy_timeout(Duration::ZERO)?;
    let _ = connection.query_row(&format!("PRAGMA wal_checkpoint({kind})"), [], |_| Ok(()));
    connection.busy_timeout(database.options.busy_timeout)
}

/// Returns whether many pages of the database are free.
fn has_many_free(connection: &Connection) -> rusqlite::Result<bool> {
    // Damaged, they are negative.
    let number = |name: &str| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0));
    Ok(number("freelist_count")? * MOST_PAGES_PER_FREE.cast_signed() >= number("page_count")?)
}

/// Returns whether the database is in WAL mode.
pub(super) fn is_wal(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("PRAGMA journal_mode", [], |row| Ok(row.get::<_, String>(0)? == "wal"))
}

/// Returns the schema version after `version`, a signed number of 32 bits.
fn next_version(version: i64) -> i64 {
    if version >= i32::MAX.into() { i32::MIN.into() } else { version + 1 }
}

fn changed() -> Error {
    Error::new(ErrorKind::Target, "another program changed the form of the database meanwhile").advise("run it again")
}
