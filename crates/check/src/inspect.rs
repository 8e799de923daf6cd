//! Explains the bytes of a database file, page by page. It trusts nothing in the file: if nothing tells the role of a
//! page, it is guessed.

mod full_text;
mod rtree_node;

use litepress_format::freelist::Trunk;
use litepress_format::header::DatabaseHeader;
use litepress_format::inspect::describe_page;
use litepress_format::page::{FILE_HEADER_LEN, MIN_USABLE, PageSize};
use litepress_format::ptrmap::{self, Entry, EntryKind};
use litepress_rows::files::FileExt;
use litepress_rows::sqlite::{lossy_text, open_file, open_immutable};
use litepress_rows::{Error, ErrorKind, Result};
use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};

pub use litepress_format::inspect::Role;

/// A file that may be a database.
#[derive(Debug)]
pub struct DatabaseFile {
    path: PathBuf,
    file: File,
    bytes: u64,
    page_size: PageSize,
    usable: usize,
    /// The file header; `None` if it cannot be decoded.
    header: Option<DatabaseHeader>,
}

/// A b-tree that the schema names.
#[derive(Debug)]
pub struct Btree {
    /// `table` or `index`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Name of the table that it belongs to.
    pub table: String,
    /// Page number of its root, according to the schema.
    pub root: i64,
}

impl DatabaseFile {
    /// Opens the file for reading. The page size is the header's, or 4096 bytes if that is invalid.
    ///
    /// # Errors
    /// If the file cannot be read. Its contents may be anything.
    pub fn open(path: &Path) -> Result<Self> {
        let (file, bytes) = open_file(path)?;
        let mut opened =
            Self { path: path.to_owned(), file, bytes, page_size: PageSize::MIN, usable: 512, header: None };
        let head = opened.page(1)?.unwrap_or_default();
        opened.header = DatabaseHeader::decode(&head).ok();
        // A header that breaks another rule may still have the right size.
        let size =
            head.get(16..18).and_then(|field| PageSize::from_header_field(u16::from_be_bytes([field[0], field[1]])));
        opened.page_size = size.unwrap_or(PageSize::DEFAULT);
        let reserved =
            head.get(20).filter(|_| head.len() >= FILE_HEADER_LEN).map_or(0, |reserved| usize::from(*reserved));
        let usable = opened.page_size.bytes() - reserved;
        opened.usable = if usable < MIN_USABLE { opened.page_size.bytes() } else { usable };
        Ok(opened)
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the length of the file, in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the page size.
    pub fn page_size(&self) -> PageSize {
        self.page_size
    }

    /// Returns the number of pages. The last one may be incomplete.
    pub fn pages(&self) -> u64 {
        self.bytes.div_ceil(self.page_size.bytes() as u64)
    }

    /// Returns the page as annotated text, one line per field, or `None` behind the end of the file. Rows of a full-text index are
    /// explained behind it.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn page_text(&self, number: u32) -> Result<Option<String>> {
        let Some(bytes) = self.page(number)? else { return Ok(None) };
        let text = describe_page(number, &bytes, self.page_size, self.usable, self.role(number)?);
        Ok(Some(text + &self.full_text_rows(number)?))
    }

    /// Returns the file header, which is the first part of page 1, as annotated text. It is empty if there is no page.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn header_text(&self) -> Result<String> {
        let page = self.page_text(1)?.unwrap_or_default();
        let header = page.lines().skip(1).take_while(|line| *line != "page header");
        Ok(header.map(|line| format!("{line}\n")).collect())
    }

    /// Reads a page, which is shorter if the file ends in it. Returns `None` behind the end of the file, and for page
    /// 0.
    fn page(&self, number: u32) -> Result<Option<Vec<u8>>> {
        let size = self.page_size.bytes() as u64;
        let Some(start) = number.checked_sub(1).map(|before| u64::from(before) * size) else { return Ok(None) };
        if start >= self.bytes {
            return Ok(None);
        }
        let len = usize::try_from(size.min(self.bytes - start)).expect("at most a page");
        let mut page = vec![0; len];
        let read = self.file.read_exact_at(&mut page, start);
        read.map_err(|error| Error::io("read the database", &self.path, error))?;
        Ok(Some(page))
    }

    /// Returns the role of the page, as far as header, freelist and pointer map tell.
    ///
    /// # Errors
    /// If the file cannot be read.
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

    /// Searches the freelist for the page. Follows no trunk twice.
    fn role_on_freelist(&self, number: u32, header: &DatabaseHeader) -> Result<Role> {
        let mut next = header.first_freelist_trunk;
        let mut trunks = HashSet::new();
        while (trunks.len() as u64) < self.pages().min(header.freelist_pages.into()) && trunks.insert(next) {
            if next == number {
                return Ok(Role::FreelistTrunk);
            }
            let Some(page) = self.page(next)? else { break };
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

    /// Returns the b-trees as SQLite reads the schema, after that of `sqlite_schema` itself. The file is neither
    /// locked nor changed, and a `-wal` beside it is ignored.
    ///
    /// # Errors
    /// If SQLite cannot read the schema.
    pub fn btrees(&self) -> Result<Vec<Btree>> {
        let sql = "SELECT 'table', 'sqlite_schema', 'sqlite_schema', 1
                   UNION ALL SELECT type, name, tbl_name, rootpage FROM sqlite_schema WHERE rootpage > 0";
        let read = || -> rusqlite::Result<Vec<Btree>> {
            let connection = open_immutable(&self.path)?;
            let mut statement = connection.prepare(sql)?;
            let rows = statement.query_map([], |row| {
                let text = |column| lossy_text(row, column);
                Ok(Btree { kind: text(0)?, name: text(1)?, table: text(2)?, root: row.get(3)? })
            })?;
            rows.collect()
        };
        let explain = |error| Error::new(ErrorKind::Corrupt, format!("SQLite cannot read the schema: {error}"));
        read().map_err(|error| explain(error).in_file(&self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use litepress_format::freelist::write_trunk;

    /// Such a freelist was followed 2^32 - 1 times.
    #[test]
    fn a_freelist_that_runs_in_a_circle_is_followed_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("circle.db");
        let mut header = DatabaseHeader::new(PageSize::MIN);
        (header.page_count, header.first_freelist_trunk, header.freelist_pages) = (4, 2, u32::MAX);
        let mut bytes = vec![0; 4 * 512];
        bytes[..FILE_HEADER_LEN].copy_from_slice(&header.encode());
        for circle in [[2, 2], [3, 2]] {
            write_trunk(circle[0], &[], &mut bytes[512..1024]);
            write_trunk(circle[1], &[], &mut bytes[1024..1536]);
            std::fs::write(&path, &bytes).unwrap();
            let file = DatabaseFile::open(&path).unwrap();
            assert_eq!(file.role(2).unwrap(), Role::FreelistTrunk);
            assert_eq!(file.role(4).unwrap(), Role::Unknown);
        }
    }
}
