//! The file header (section 1.3): the first 100 bytes of page 1.

use crate::FormatError;
use crate::big_endian::{put_u16, put_u32, u16_at, u32_at};
use crate::page::{FILE_HEADER_LEN, MIN_USABLE, PageSize};

/// The sixteen bytes that every SQLite database begins with.
pub const MAGIC: [u8; 16] = *b"SQLite format 3\0";
/// The schema format that SQLite writes today: serial types 8 and 9, descending indexes.
pub const SCHEMA_FORMAT: u32 = 4;
/// The SQLite release that this crate was checked against, as returned by `sqlite3_libversion_number()`.
pub const SQLITE_VERSION_NUMBER: u32 = 3_054_001;

/// Offset of the write version and the read version, one byte each.
pub const VERSIONS_OFFSET: usize = at::WRITE_VERSION;
/// Length of both versions.
pub const VERSIONS_BYTES: usize = at::READ_VERSION + 1 - at::WRITE_VERSION;
/// Offset of the number of pages, 4 bytes.
pub const PAGE_COUNT_OFFSET: usize = at::PAGE_COUNT;
/// Offset of the freelist's first trunk page and of its number of pages, 4 bytes each.
pub const FREELIST_OFFSET: usize = at::FIRST_FREELIST_TRUNK;
/// Version of a database with a rollback journal.
pub const ROLLBACK_VERSION: u8 = 1;
/// Version of a database with a write-ahead log.
pub const WAL_VERSION: u8 = 2;

/// Offsets of the fields. The bytes from 72 up to 92 are always zero.
mod at {
    use std::ops::Range;

    pub(super) const PAGE_SIZE: usize = 16;
    pub(super) const WRITE_VERSION: usize = 18;
    pub(super) const READ_VERSION: usize = 19;
    pub(super) const RESERVED: usize = 20;
    pub(super) const FRACTIONS: usize = 21;
    pub(super) const CHANGE_COUNTER: usize = 24;
    pub(super) const PAGE_COUNT: usize = 28;
    pub(super) const FIRST_FREELIST_TRUNK: usize = 32;
    pub(super) const FREELIST_PAGES: usize = 36;
    pub(super) const SCHEMA_COOKIE: usize = 40;
    pub(super) const SCHEMA_FORMAT: usize = 44;
    pub(super) const DEFAULT_CACHE_SIZE: usize = 48;
    pub(super) const LARGEST_ROOT_PAGE: usize = 52;
    pub(super) const TEXT_ENCODING: usize = 56;
    pub(super) const USER_VERSION: usize = 60;
    pub(super) const INCREMENTAL_VACUUM: usize = 64;
    pub(super) const APPLICATION_ID: usize = 68;
    pub(super) const ZEROS: Range<usize> = 72..92;
    pub(super) const VERSION_VALID_FOR: usize = 92;
    pub(super) const SQLITE_VERSION_NUMBER: usize = 96;
}

const _: () = assert!(at::SQLITE_VERSION_NUMBER + 4 == FILE_HEADER_LEN);
const _: () = assert!(at::FREELIST_PAGES == FREELIST_OFFSET + 4);

/// Offset, length in bytes and name of every field of the header, for display.
pub(crate) const FIELDS: [(usize, usize, &str); 23] = [
    (0, at::PAGE_SIZE, "magic"),
    (at::PAGE_SIZE, 2, "page size, 1 for 65536"),
    (at::WRITE_VERSION, 1, "write version: 1 rollback journal, 2 WAL"),
    (at::READ_VERSION, 1, "read version: 1 rollback journal, 2 WAL"),
    (at::RESERVED, 1, "reserved bytes at the end of every page"),
    (at::FRACTIONS, 1, "largest embedded payload fraction, always 64"),
    (at::FRACTIONS + 1, 1, "smallest embedded payload fraction, always 32"),
    (at::FRACTIONS + 2, 1, "leaf payload fraction, always 32"),
    (at::CHANGE_COUNTER, 4, "change counter"),
    (at::PAGE_COUNT, 4, "pages of the database"),
    (at::FIRST_FREELIST_TRUNK, 4, "first freelist trunk page"),
    (at::FREELIST_PAGES, 4, "pages on the freelist"),
    (at::SCHEMA_COOKIE, 4, "schema cookie"),
    (at::SCHEMA_FORMAT, 4, "schema format"),
    (at::DEFAULT_CACHE_SIZE, 4, "default cache size"),
    (at::LARGEST_ROOT_PAGE, 4, "largest root page, 0 without auto-vacuum"),
    (at::TEXT_ENCODING, 4, "text encoding: 1 UTF-8, 2 UTF-16le, 3 UTF-16be"),
    (at::USER_VERSION, 4, "user version"),
    (at::INCREMENTAL_VACUUM, 4, "incremental vacuum"),
    (at::APPLICATION_ID, 4, "application id"),
    (at::ZEROS.start, at::ZEROS.end - at::ZEROS.start, "reserved for expansion, always zero"),
    (at::VERSION_VALID_FOR, 4, "version-valid-for: the change counter when the page count was written"),
    (at::SQLITE_VERSION_NUMBER, 4, "SQLite version that wrote it"),
];

/// The payload fractions: largest embedded, smallest embedded, leaf. The format allows no other values (section
/// 1.3.5).
const FRACTIONS: [u8; 3] = [64, 32, 32];

/// The encoding of all text in the database (section 1.3.13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextEncoding {
    /// UTF-8.
    Utf8 = 1,
    /// UTF-16, little-endian.
    Utf16Le = 2,
    /// UTF-16, big-endian.
    Utf16Be = 3,
}

impl TextEncoding {
    /// Returns the encoding of this header field, or `None` if the number is invalid. 0 is read as UTF-8, as SQLite
    /// does: it stands in a database that never had a schema.
    #[must_use]
    pub const fn from_header_field(field: u32) -> Option<Self> {
        Some(match field {
            0 | 1 => Self::Utf8,
            2 => Self::Utf16Le,
            3 => Self::Utf16Be,
            _ => return None,
        })
    }

    /// Returns the number that the header stores.
    #[must_use]
    pub const fn header_field(self) -> u32 {
        self as u32
    }
}

/// The fields of the file header, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatabaseHeader {
    /// Bytes of a page. Offset 16, 2 bytes.
    pub page_size: PageSize,
    /// 1 for rollback journals, 2 for WAL. Offset 18, 1 byte.
    pub write_version: u8,
    /// 1 for rollback journals, 2 for WAL. Offset 19, 1 byte.
    pub read_version: u8,
    /// Bytes at the end of every page that belong to extensions; usually 0. Offset 20, 1 byte.
    pub reserved: u8,
    /// Number of transactions outside WAL mode. Offset 24, 4 bytes.
    pub change_counter: u32,
    /// Pages of the database. Valid only if [`page_count_is_valid`](Self::page_count_is_valid). Offset 28, 4 bytes.
    pub page_count: u32,
    /// First trunk page of the freelist, 0 if it is empty. Offset 32, 4 bytes.
    pub first_freelist_trunk: u32,
    /// Pages on the freelist, trunk pages included. Offset 36, 4 bytes.
    pub freelist_pages: u32,
    /// Changes with every change of the schema. Offset 40, 4 bytes.
    pub schema_cookie: u32,
    /// 1 to 4; 0 in a database that never had a schema. Offset 44, 4 bytes.
    pub schema_format: u32,
    /// Suggested cache size: pages if positive, KiB if negative, 0 for none. Offset 48, 4 bytes.
    pub default_cache_size: i32,
    /// Largest root page of an auto-vacuum database, 0 in others. Offset 52, 4 bytes.
    pub largest_root_page: u32,
    /// Encoding of all text. Offset 56, 4 bytes.
    pub text_encoding: TextEncoding,
    /// `PRAGMA user_version`. Offset 60, 4 bytes.
    pub user_version: i32,
    /// Whether the auto-vacuum is incremental. Offset 64, 4 bytes.
    pub incremental_vacuum: bool,
    /// `PRAGMA application_id`. Offset 68, 4 bytes.
    pub application_id: i32,
    /// The change counter at the last write by a SQLite release that maintains `page_count`. Offset 92, 4 bytes.
    pub version_valid_for: u32,
    /// `sqlite3_libversion_number()` of the SQLite release that wrote `version_valid_for`. Offset 96, 4 bytes.
    pub sqlite_version_number: u32,
}

impl DatabaseHeader {
    /// Makes the header of a new database of one page, as SQLite leaves it after the first transaction.
    #[must_use]
    pub const fn new(page_size: PageSize) -> Self {
        Self {
            page_size,
            write_version: 1,
            read_version: 1,
            reserved: 0,
            change_counter: 1,
            page_count: 1,
            first_freelist_trunk: 0,
            freelist_pages: 0,
            schema_cookie: 1,
            schema_format: SCHEMA_FORMAT,
            default_cache_size: 0,
            largest_root_page: 0,
            text_encoding: TextEncoding::Utf8,
            user_version: 0,
            incremental_vacuum: false,
            application_id: 0,
            version_valid_for: 1,
            sqlite_version_number: SQLITE_VERSION_NUMBER,
        }
    }

    /// Returns the bytes of a page without the reserved ones.
    #[must_use]
    pub const fn usable(&self) -> usize {
        self.page_size.bytes() - self.reserved as usize
    }

    /// Returns whether `page_count` is valid (section 1.3.7). If not, the length of the file counts.
    #[must_use]
    pub const fn page_count_is_valid(&self) -> bool {
        self.page_count != 0 && self.change_counter == self.version_valid_for
    }

    /// Encodes the header.
    #[must_use]
    pub fn encode(&self) -> [u8; FILE_HEADER_LEN] {
        let mut out = [0; FILE_HEADER_LEN];
        out[..MAGIC.len()].copy_from_slice(&MAGIC);
        put_u16(&mut out, at::PAGE_SIZE, self.page_size.header_field());
        out[at::WRITE_VERSION] = self.write_version;
        out[at::READ_VERSION] = self.read_version;
        out[at::RESERVED] = self.reserved;
        out[at::FRACTIONS..at::FRACTIONS + FRACTIONS.len()].copy_from_slice(&FRACTIONS);
        for (offset, value) in [
            (at::CHANGE_COUNTER, self.change_counter),
            (at::PAGE_COUNT, self.page_count),
            (at::FIRST_FREELIST_TRUNK, self.first_freelist_trunk),
            (at::FREELIST_PAGES, self.freelist_pages),
            (at::SCHEMA_COOKIE, self.schema_cookie),
            (at::SCHEMA_FORMAT, self.schema_format),
            (at::DEFAULT_CACHE_SIZE, self.default_cache_size.cast_unsigned()),
            (at::LARGEST_ROOT_PAGE, self.largest_root_page),
            (at::TEXT_ENCODING, self.text_encoding.header_field()),
            (at::USER_VERSION, self.user_version.cast_unsigned()),
            (at::INCREMENTAL_VACUUM, self.incremental_vacuum.into()),
            (at::APPLICATION_ID, self.application_id.cast_unsigned()),
            (at::VERSION_VALID_FOR, self.version_valid_for),
            (at::SQLITE_VERSION_NUMBER, self.sqlite_version_number),
        ] {
            put_u32(&mut out, offset, value);
        }
        out
    }

    /// Reads and checks the header at the start of `bytes`.
    ///
    /// # Errors
    /// The first broken rule of section 1.3.
    pub fn decode(bytes: &[u8]) -> Result<Self, FormatError> {
        let bytes = bytes
            .first_chunk::<FILE_HEADER_LEN>()
            .ok_or_else(|| FormatError::new("file header is cut off", bytes.len()))?;
        check_constant_bytes(bytes)?;
        let u32_field = |offset| u32_at(bytes, offset).expect("within the 100 bytes");
        let page_size_field = u16_at(bytes, at::PAGE_SIZE).expect("within the 100 bytes");
        let page_size = PageSize::from_header_field(page_size_field)
            .ok_or_else(|| FormatError::new(format!("page size field {page_size_field} is invalid"), at::PAGE_SIZE))?;
        let encoding_field = u32_field(at::TEXT_ENCODING);
        let text_encoding = TextEncoding::from_header_field(encoding_field)
            .ok_or_else(|| FormatError::new(format!("text encoding {encoding_field} is invalid"), at::TEXT_ENCODING))?;
        let header = Self {
            page_size,
            write_version: bytes[at::WRITE_VERSION],
            read_version: bytes[at::READ_VERSION],
            reserved: bytes[at::RESERVED],
            change_counter: u32_field(at::CHANGE_COUNTER),
            page_count: u32_field(at::PAGE_COUNT),
            first_freelist_trunk: u32_field(at::FIRST_FREELIST_TRUNK),
            freelist_pages: u32_field(at::FREELIST_PAGES),
            schema_cookie: u32_field(at::SCHEMA_COOKIE),
            schema_format: u32_field(at::SCHEMA_FORMAT),
            default_cache_size: u32_field(at::DEFAULT_CACHE_SIZE).cast_signed(),
            largest_root_page: u32_field(at::LARGEST_ROOT_PAGE),
            text_encoding,
            user_version: u32_field(at::USER_VERSION).cast_signed(),
            incremental_vacuum: u32_field(at::INCREMENTAL_VACUUM) != 0,
            application_id: u32_field(at::APPLICATION_ID).cast_signed(),
            version_valid_for: u32_field(at::VERSION_VALID_FOR),
            sqlite_version_number: u32_field(at::SQLITE_VERSION_NUMBER),
        };
        header.check()?;
        Ok(header)
    }

    /// Checks the variable fields, alone and against each other.
    fn check(&self) -> Result<(), FormatError> {
        let rules = [
            (matches!(self.write_version, 1 | 2), "write version is not 1 or 2", at::WRITE_VERSION),
            (matches!(self.read_version, 1 | 2), "read version is not 1 or 2", at::READ_VERSION),
            (self.usable() >= MIN_USABLE, "reserved bytes leave less than 480 usable bytes a page", at::RESERVED),
            (self.schema_format <= SCHEMA_FORMAT, "schema format is over 4", at::SCHEMA_FORMAT),
            (
                (self.first_freelist_trunk == 0) == (self.freelist_pages == 0),
                "the freelist has pages and no trunk, or a trunk and no pages",
                at::FIRST_FREELIST_TRUNK,
            ),
            (
                self.largest_root_page != 0 || !self.incremental_vacuum,
                "incremental vacuum without a largest root page",
                at::INCREMENTAL_VACUUM,
            ),
        ];
        match rules.iter().find(|(holds, ..)| !holds) {
            Some((_, what, offset)) => Err(FormatError::new(*what, *offset)),
            None => Ok(()),
        }
    }
}

/// Checks the bytes that are the same in every database.
fn check_constant_bytes(bytes: &[u8; FILE_HEADER_LEN]) -> Result<(), FormatError> {
    if bytes[..MAGIC.len()] != MAGIC {
        return Err(FormatError::new("not a SQLite database: it does not begin with \"SQLite format 3\"", 0));
    }
    if bytes[at::FRACTIONS..at::FRACTIONS + FRACTIONS.len()] != FRACTIONS {
        return Err(FormatError::new("payload fractions are not 64, 32, 32", at::FRACTIONS));
    }
    match bytes[at::ZEROS].iter().position(|byte| *byte != 0) {
        Some(index) => Err(FormatError::new("reserved header byte is not zero", at::ZEROS.start + index)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
