//! Part files, opened and compared before anything is written.

use super::directory::{Directory, StoredTable};
use super::items::ItemReader;
use super::run::damaged;
use super::{MAGIC, StoredItems, StoredRun};
use crate::pages::{PageRun, offset_of};
use crate::progress::Progress;
use crate::sink::block::BlockPool;
use crate::sort::Sorter;
use crate::tree::input_positions::InputPositions;
use crate::tree::table_leaf::TablePart;
use crate::{Error, ErrorKind, Result};
use litepress_format::page::PageSize;
use litepress_rows::Schema;
use litepress_rows::files::FileExt;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes of page 1 that have a meaning.
const HEADER_BYTES: usize = 44;

/// Returns the bytes of page 1: where the directory is.
pub(crate) fn header_page(page_size: PageSize, directory_page: u32, directory: &[u8]) -> Vec<u8> {
    let mut page = vec![0; page_size.bytes()];
    page[..16].copy_from_slice(MAGIC);
    // Bytes 16 to 19 stay zero: a database has its journal mode there, which is changed before a file is replaced.
    page[20..24].copy_from_slice(&u32::try_from(page_size.bytes()).expect("at most 65536").to_be_bytes());
    page[24..28].copy_from_slice(&directory_page.to_be_bytes());
    page[28..36].copy_from_slice(&(directory.len() as u64).to_be_bytes());
    page[36..40].copy_from_slice(&crc32fast::hash(directory).to_be_bytes());
    let checksum = crc32fast::hash(&page[..40]);
    page[40..HEADER_BYTES].copy_from_slice(&checksum.to_be_bytes());
    page
}

/// A part, whose directory was read. The file is closed.
#[derive(Debug)]
pub(crate) struct PartFile {
    path: PathBuf,
    pub directory: Directory,
    /// The range of the directory in the file.
    directory_bytes: Range<u64>,
}

impl PartFile {
    fn read(path: &Path) -> Result<Self> {
        let opened = |error| Error::io("open", path, error);
        // A FIFO would block until somebody writes into it.
        if !std::fs::metadata(path).map_err(opened)?.is_file() {
            return Err(Error::new(ErrorKind::Io, "this is not a regular file").in_file(path));
        }
        let file = File::open(path).map_err(opened)?;
        let in_file = |error: Error| error.in_file(path);
        let mut header = [0; HEADER_BYTES];
        file.read_exact_at(&mut header, 0).map_err(|_| in_file(no_part()))?;
        let directory_bytes = directory_range(&header).map_err(in_file)?;
        let len = file.metadata().map_err(|error| Error::io("look at", path, error))?.len();
        if len < directory_bytes.end {
            let message = format!("the part is cut off: it has {len} bytes of {}", directory_bytes.end);
            return Err(in_file(Error::new(ErrorKind::Data, message).advise("copy it again, or print it again")));
        }
        let bytes = usize::try_from(directory_bytes.end - directory_bytes.start).expect("bytes of a file");
        let mut directory = vec![0; bytes];
        let failed = |error| Error::io("read", path, error);
        file.read_exact_at(&mut directory, directory_bytes.start).map_err(failed)?;
        if crc32fast::hash(&directory) != be32(&header[36..]) {
            return Err(in_file(damaged("the checksum of the directory is wrong")));
        }
        let directory = Directory::from_bytes(&directory).map_err(in_file)?;
        Ok(Self { path: path.to_owned(), directory, directory_bytes })
    }

    /// Returns the table of this name.
    pub fn table(&self, name: &str) -> Option<&StoredTable> {
        self.directory.tables.iter().find(|table| table.name == name)
    }

    /// Opens the file.
    pub fn open(&self) -> Result<OpenPart<'_>> {
        let file = File::open(&self.path).map_err(|error| Error::io("open", &self.path, error))?;
        Ok(OpenPart { part: self, file })
    }
}

/// An open part.
pub(crate) struct OpenPart<'p> {
    part: &'p PartFile,
    file: File,
}

impl OpenPart<'_> {
    /// Reads a run, for blocks of `pool`.
    pub fn load(&self, run: &StoredRun, pool: &Arc<BlockPool>) -> Result<TablePart> {
        let PartFile { path, directory, .. } = self.part;
        let page_size = directory.page_size;
        let (leaves, pointers) = (run.leaves()?, run.pointers(page_size.bytes())?);
        let (mut at, mut checksum) = (offset_of(run.first_page, page_size), crc32fast::Hasher::new());
        let mut pages = PageRun::filled(page_size, pool, run.pages, pointers.clone(), |bytes| {
            self.file.read_exact_at(bytes, at).map_err(|error| Error::io("read", path, error))?;
            checksum.update(bytes);
            at += bytes.len() as u64;
            Ok(())
        })?;
        if checksum.finalize() != run.checksum {
            return Err(self.failure(damaged("the checksum of pages is wrong")));
        }
        for (page, offset) in pointers {
            let pointer = &mut pages.page_mut(page)[offset as usize..][..4];
            let index = be32(pointer).checked_sub(run.first_page).filter(|index| *index < run.pages);
            let index = index.ok_or_else(|| self.failure(damaged("a pointer leads out of its run")))?;
            pointer.copy_from_slice(&index.to_be_bytes());
        }
        Ok(TablePart {
            run: pages,
            leaves,
            first_rowid: Some(run.first_rowid),
            rows: run.rows,
            positions: InputPositions::default(),
            payload_bytes: run.payload_bytes,
        })
    }

    /// Returns a reader of items.
    pub fn items<'f>(&'f self, stored: &StoredItems) -> ItemReader<impl Read + 'f> {
        let at = offset_of(stored.first_page, self.part.directory.page_size);
        let bytes = ReadAt { file: &self.file, at, end: at + stored.bytes };
        ItemReader::new(bytes, stored)
    }

    /// Names the file in an error.
    pub fn failure(&self, error: Error) -> Error {
        if error.place().file.is_some() { error } else { error.in_file(&self.part.path) }
    }
}

/// A range of a file.
struct ReadAt<'f> {
    file: &'f File,
    at: u64,
    end: u64,
}

impl Read for ReadAt<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let read = bytes.len().min(usize::try_from(self.end - self.at).unwrap_or(usize::MAX));
        self.file.read_exact_at(&mut bytes[..read], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Returns the range of the directory.
fn directory_range(header: &[u8]) -> Result<Range<u64>> {
    if &header[..16] != MAGIC {
        return Err(no_part());
    }
    let page_size =
        PageSize::new(be32(&header[20..])).filter(|_| be32(&header[40..]) == crc32fast::hash(&header[..40]));
    let page_size = page_size.ok_or_else(|| damaged("the checksum of the first page is wrong"))?;
    let bytes = u64::from_be_bytes(header[28..36].try_into().expect("eight bytes"));
    let start = offset_of(be32(&header[24..]).max(2), page_size);
    Ok(start..start.saturating_add(bytes))
}

fn be32(bytes: &[u8]) -> u32 {
    u32::from_be_bytes(bytes[..4].try_into().expect("four bytes"))
}

fn no_part() -> Error {
    Error::new(ErrorKind::Data, "this is no part of a database")
        .advise("name files that generate, load or shards have written as parts; merge takes databases")
}

/// The parts of one database, in any order.
#[derive(Debug)]
pub struct Parts {
    files: Vec<PartFile>,
    schema: Schema,
}

/// A run of a table, and the position of its part.
pub(crate) type TableRun<'p> = (usize, &'p StoredRun);

impl Parts {
    /// Opens parts, at least one.
    ///
    /// # Errors
    /// If a file is no part, is damaged or cut off; if two parts have different schemas or page sizes, or rowids of one table overlap.
    pub fn open(paths: &[PathBuf]) -> Result<Self> {
        let files: Vec<PartFile> = paths.iter().map(|path| PartFile::read(path)).collect::<Result<_>>()?;
        let Some(first) = files.first() else {
            return Err(Error::new(ErrorKind::Usage, "no part is named").advise("name the parts to stitch"));
        };
        files[1..].iter().try_for_each(|other| agree(first, other))?;
        let mut schema = Schema::from_sql(&first.directory.text(), "<schema of the parts>")?;
        schema.settings = first.directory.settings;
        let parts = Self { files, schema };
        for table in &parts.schema.tables {
            parts.runs(&table.name)?;
        }
        Ok(parts)
    }

    /// Returns the schema of all parts.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the page size of all parts.
    pub fn page_size(&self) -> PageSize {
        self.files[0].directory.page_size
    }

    /// Returns the number of rows of all tables.
    pub fn rows(&self) -> u64 {
        self.files.iter().flat_map(|file| &file.directory.tables).map(|table| table.rows).sum()
    }

    /// Returns the number of bytes of all parts.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.directory_bytes.end).sum()
    }

    /// Returns whether the parts have rows of a table.
    pub fn has_rows(&self, table: &str) -> bool {
        self.files.iter().filter_map(|file| file.table(table)).any(|table| table.rows > 0)
    }

    /// Returns the largest rowid that an AUTOINCREMENT table must not assign again, if it is not that of a row.
    pub(crate) fn last_sequence(&self, table: &str) -> Option<i64> {
        self.files.iter().filter_map(|file| file.table(table)?.last_sequence).max()
    }

    pub(crate) fn files(&self) -> &[PartFile] {
        &self.files
    }

    /// Returns the runs of a table in the order of their rowids.
    pub(crate) fn runs(&self, table: &str) -> Result<Vec<TableRun<'_>>> {
        let mut files: Vec<(usize, &[StoredRun])> = Vec::new();
        for (number, file) in self.files.iter().enumerate() {
            let runs = file.table(table).map_or(&[][..], |table| &table.runs);
            if !runs.is_empty() {
                files.push((number, runs));
            }
        }
        files.sort_by_key(|(_, runs)| runs[0].first_rowid);
        let runs: Vec<TableRun<'_>> =
            files.into_iter().flat_map(|(number, runs)| runs.iter().map(move |run| (number, run))).collect();
        for pair in runs.windows(2) {
            let [(number, before), (other, run)] = pair else { unreachable!("windows of two") };
            if before.last_rowid >= run.first_rowid {
                return Err(self.overlap(table, (*number, before.last_rowid), (*other, run.first_rowid)));
            }
        }
        Ok(runs)
    }

    /// Passes the items of an index, or of the rows of a WITHOUT ROWID table, to a sort.
    pub(crate) fn sort_items(
        &self,
        table: &str,
        index: Option<&str>,
        sorter: &Sorter,
        progress: &Progress,
    ) -> Result<()> {
        for file in &self.files {
            progress.go_on()?;
            let stored = file.table(table).into_iter().flat_map(|table| &table.items);
            let Some(stored) = stored.filter(|items| items.items > 0).find(|items| items.index.as_deref() == index)
            else {
                continue;
            };
            let (file, mut writer) = (file.open()?, sorter.ordered_writer(stored.items, stored.item_bytes)?);
            let mut items = file.items(stored);
            while let Some(item) = items.next().map_err(|error| file.failure(error))? {
                writer.push(item)?;
            }
            writer.finish()?;
        }
        Ok(())
    }

    fn overlap(&self, table: &str, before: (usize, i64), behind: (usize, i64)) -> Error {
        let [path, other] = [before.0, behind.0].map(|number| &self.files[number].path);
        let message =
            format!("rowids overlap: a run begins with {}, and {} goes up to {}", behind.1, path.display(), before.1);
        Error::new(ErrorKind::Constraint, message).in_file(other).in_table(table).advise(
            "give each part another range of the INTEGER PRIMARY KEY; or write databases instead of parts, and merge them",
        )
    }

    /// Returns the ranges of bytes of a part that a stitch reads. The others are only copied.
    ///
    /// # Errors
    /// If there is no such part.
    pub fn needed(file: &Path) -> Result<Vec<Range<u64>>> {
        let part = PartFile::read(file)?;
        let page_size = part.directory.page_size;
        let start = |page| offset_of(page, page_size);
        let mut ranges = Vec::new();
        for table in &part.directory.tables {
            let runs = table.runs.iter().filter(|run| !run.is_free_of_pointers());
            ranges.extend(runs.map(|run| start(run.first_page)..start(run.first_page + run.pages)));
            let items = table.items.iter().filter(|items| items.items > 0);
            ranges.extend(items.map(|items| start(items.first_page)..start(items.first_page) + items.bytes));
        }
        ranges.sort_by_key(|range| range.start);
        Ok(ranges)
    }

    /// Returns the range of the directory of a part that begins with these bytes, [`HEADER_BYTES`](Self::HEADER_BYTES) or more.
    ///
    /// # Errors
    /// If they are not those of a part.
    pub fn directory_range(header: &[u8]) -> Result<Range<u64>> {
        if header.len() < HEADER_BYTES { Err(no_part()) } else { directory_range(header) }
    }

    /// Number of bytes at the front of a part that tell where its directory is.
    pub const HEADER_BYTES: usize = HEADER_BYTES;
}

impl Directory {
    /// Returns the text of the schema.
    fn text(&self) -> String {
        self.statements.iter().map(|sql| format!("{sql};\n")).collect()
    }
}

/// Checks that two parts are of one database.
fn agree(first: &PartFile, other: &PartFile) -> Result<()> {
    let (one, two) = (&first.directory, &other.directory);
    let differs = |message: String| {
        let error = Error::new(ErrorKind::Schema, message).in_file(&other.path);
        Err(error.advise("print all parts with one schema and one page size"))
    };
    if one.page_size != two.page_size {
        let [page, of_first] = [two, one].map(|directory| directory.page_size.bytes());
        return differs(format!("pages have {page} bytes; they have {of_first} in {}", first.path.display()));
    }
    let count = one.statements.len().max(two.statements.len());
    let at = |directory: &Directory, number: usize| directory.statements.get(number).cloned();
    if let Some(number) = (0..count).find(|&number| at(one, number) != at(two, number)) {
        let [here, there] = [two, one].map(|directory| at(directory, number).unwrap_or_else(|| "nothing".to_owned()));
        return differs(format!("the schema has {here} where {} has {there}", first.path.display()));
    }
    if one.settings != two.settings {
        return differs(format!("user_version, application_id or journal_mode are not as in {}", first.path.display()));
    }
    Ok(())
}
