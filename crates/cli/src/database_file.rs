//! A database file as `dump` looks at it: page by page, and guessing where it must.

use litepress::{Error, ErrorKind, PageSize, Result};
use litepress_format::dump::Role;
use litepress_format::freelist::Trunk;
use litepress_format::header::DatabaseHeader;
use litepress_format::page::{FILE_HEADER_LEN, MIN_USABLE};
use litepress_format::ptrmap::{self, Entry, EntryKind};
use rusqlite::{Connection, OpenFlags};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A file that may be a database.
#[derive(Debug)]
pub struct DatabaseFile {
    path: PathBuf,
    file: File,
    bytes: u64,
    page_size: PageSize,
    usable: usize,
    /// `None` where it does not decode.
    header: Option<DatabaseHeader>,
}

/// A b-tree that the schema names.
#[derive(Debug)]
pub struct Btree {
    pub kind: String,
    pub name: String,
    pub table: String,
    pub root: i64,
}

impl DatabaseFile {
    /// Opens the file for reading. The page size is the header's, or 4096 bytes where that is none.
    pub fn open(path: &Path) -> Result<Self> {
        let failed = |error| Error::io("open the database", path, error);
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(Error::new(ErrorKind::Io, "this is a folder").in_file(path));
        }
        let bytes = metadata.len();
        let mut opened =
            Self { path: path.to_owned(), file, bytes, page_size: PageSize::MIN, usable: 512, header: None };
        let head = opened.page(1)?.unwrap_or_default();
        opened.header = DatabaseHeader::decode(&head).ok();
        // A header that breaks some other rule may well name the right size.
        let size =
            head.get(16..18).and_then(|field| PageSize::from_header_field(u16::from_be_bytes([field[0], field[1]])));
        opened.page_size = size.unwrap_or(PageSize::DEFAULT);
        let reserved =
            head.get(20).filter(|_| head.len() >= FILE_HEADER_LEN).map_or(0, |reserved| usize::from(*reserved));
        let usable = opened.page_size.bytes() - reserved;
        opened.usable = if usable < MIN_USABLE { opened.page_size.bytes() } else { usable };
        Ok(opened)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn page_size(&self) -> PageSize {
        self.page_size
    }

    /// Bytes of a page without the reserved ones.
    pub fn usable(&self) -> usize {
        self.usable
    }

    /// Pages, the last one perhaps cut off.
    pub fn pages(&self) -> u64 {
        self.bytes.div_ceil(self.page_size.bytes() as u64)
    }

    /// A page, shorter where the file ends in it; `None` behind the end of the file.
    pub fn page(&self, number: u32) -> Result<Option<Vec<u8>>> {
        let size = self.page_size.bytes() as u64;
        let start = u64::from(number - 1) * size;
        if start >= self.bytes {
            return Ok(None);
        }
        let len = usize::try_from(size.min(self.bytes - start)).expect("at most a page");
        let mut page = vec![0; len];
        let read = self.file.read_exact_at(&mut page, start);
        read.map_err(|error| Error::io("read the database", &self.path, error))?;
        Ok(Some(page))
    }

    /// What the page is for, as far as header, freelist and pointer map tell.
    pub fn role(&self, number: u32) -> Result<Role> {
        let Some(header) = &self.header else { return Ok(Role::Unknown) };
        if number == self.page_size.lock_byte_page() {
            return Ok(Role::LockByte);
        }
        if number == 1 {
            return Ok(Role::BTree);
        }
        match self.role_on_freelist(number, header)? {
            Role::Unknown if header.largest_root_page != 0 => self.role_by_pointer_map(number),
            role => Ok(role),
        }
    }

    /// Follows the freelist to the page; no further than the header says it is long.
    fn role_on_freelist(&self, number: u32, header: &DatabaseHeader) -> Result<Role> {
        let mut next = header.first_freelist_trunk;
        for _ in 0..header.freelist_pages {
            if next == number {
                return Ok(Role::FreelistTrunk);
            }
            let page = if next == 0 { None } else { self.page(next)? };
            let Some(page) = page else { break };
            let Ok(trunk) = Trunk::decode(&page, self.usable) else { break };
            if trunk.leaves().any(|leaf| leaf == number) {
                return Ok(Role::FreelistLeaf);
            }
            next = trunk.next;
        }
        Ok(Role::Unknown)
    }

    fn role_by_pointer_map(&self, number: u32) -> Result<Role> {
        let lock_byte_page = self.page_size.lock_byte_page();
        let Some(map_page) = ptrmap::map_page_of(number, self.usable, lock_byte_page) else { return Ok(Role::Unknown) };
        if map_page == number {
            return Ok(Role::PointerMap);
        }
        let map = self.page(map_page)?.unwrap_or_default();
        let offset = ptrmap::entry_offset(number, map_page);
        let entry = offset.and_then(|offset| map.get(offset..)).and_then(|bytes| Entry::decode(bytes).ok());
        Ok(match entry.map(|entry| entry.kind) {
            Some(EntryKind::RootPage | EntryKind::Child) => Role::BTree,
            Some(EntryKind::FirstOverflow | EntryKind::LaterOverflow) => Role::Overflow,
            Some(EntryKind::FreePage) | None => Role::Unknown,
        })
    }

    /// The b-trees, as SQLite reads the schema: `sqlite_schema` itself first. The file is not locked or changed, and
    /// a `-wal` beside it is not looked at.
    pub fn btrees(&self) -> Result<Vec<Btree>> {
        let sql = "SELECT 'table', 'sqlite_schema', 'sqlite_schema', 1
                   UNION ALL SELECT type, name, tbl_name, rootpage FROM sqlite_schema WHERE rootpage > 0";
        let read = || -> rusqlite::Result<Vec<Btree>> {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
            let connection = Connection::open_with_flags(uri(&self.path), flags)?;
            let mut statement = connection.prepare(sql)?;
            let rows = statement.query_map([], |row| {
                Ok(Btree { kind: row.get(0)?, name: row.get(1)?, table: row.get(2)?, root: row.get(3)? })
            })?;
            rows.collect()
        };
        let explain = |error| Error::new(ErrorKind::Corrupt, format!("SQLite cannot read the schema: {error}"));
        read().map_err(|error| explain(error).in_file(&self.path))
    }
}

/// The file as SQLite's URI for reading it as it lies there.
fn uri(path: &Path) -> String {
    let escape = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => char::from(*byte).to_string(),
        _ => format!("%{byte:02x}"),
    };
    let path: String = path.as_os_str().as_bytes().iter().map(escape).collect();
    format!("file:{path}?mode=ro&immutable=1")
}
