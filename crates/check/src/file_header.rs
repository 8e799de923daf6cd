//! Inspects a file before its b-trees: the files beside it, its length, its header.

use super::report::FaultLog;
use litepress_format::header::DatabaseHeader;
use litepress_format::page::{FILE_HEADER_LEN, MAX_PAGE_NUMBER};
use litepress_rows::files::{FileId, read_up_to};
use litepress_rows::sqlite::{companion, is_hot_journal, open_file};
use litepress_rows::{Error, ErrorKind, Result};
use std::io::ErrorKind as IoErrorKind;
use std::path::Path;

/// Refuses a database if another file beside it holds a part of it.
pub(super) fn refuse_companions(path: &Path) -> Result<()> {
    let wal = companion(path, "-wal");
    if len_of(&wal)? > 0 {
        return Err(unfinished(path, &wal, "committed transactions that are not in the database file yet"));
    }
    let journal = companion(path, "-journal");
    if is_hot_journal(&journal)? {
        return Err(unfinished(path, &journal, "what is needed to roll back an interrupted transaction"));
    }
    Ok(())
}

fn unfinished(path: &Path, companion: &Path, holds: &str) -> Error {
    let message = format!("{} may hold {holds}", companion.display());
    let advice = "close every program that has the database open; if the file stays, open the database once with \
                  SQLite (PRAGMA wal_checkpoint(TRUNCATE) empties a -wal file, any SELECT rolls a -journal back), and \
                  check again";
    Error::new(ErrorKind::Target, message).in_file(path).advise(advice)
}

/// Returns values that change when the file is written or replaced. Every transaction changes a counter in the header;
/// the time is needed for pages that a transaction spills before it commits.
pub(super) fn state(path: &Path) -> Result<impl PartialEq> {
    let failed = |error| Error::io("read the database", path, error);
    let (file, _) = open_file(path)?;
    let metadata = file.metadata().map_err(failed)?;
    let mut head = [0; FILE_HEADER_LEN];
    read_up_to(&file, &mut head, 0).map_err(failed)?;
    let id = FileId::of(&file).map_err(failed)?;
    Ok((id, metadata.len(), metadata.modified().ok(), head))
}

fn len_of(path: &Path) -> Result<u64> {
    match std::fs::metadata(path) {
        Ok(metadata) => Ok(metadata.len()),
        Err(error) if matches!(error.kind(), IoErrorKind::NotFound | IoErrorKind::InvalidFilename) => Ok(0),
        Err(error) => Err(Error::io("look for a file beside the database", path, error)),
    }
}

/// Decodes the header of the file. Reports every broken rule, as a note if SQLite overlooks it. Returns `None` if
/// nothing can be read without the header: the file is not a SQLite database, or the page size is missing.
pub(super) fn header(bytes: &[u8], faults: &FaultLog) -> Option<DatabaseHeader> {
    let Some(mut bytes) = bytes.first_chunk::<FILE_HEADER_LEN>().copied() else {
        let what = format!("the file has {} and so no header", litepress_rows::counted(bytes.len() as u64, "byte"));
        faults.add_to_file(None, None, what);
        return None;
    };
    // One broken rule must not hide the next, so each is mended in the copy that is decoded.
    for _ in 0..FILE_HEADER_LEN {
        match DatabaseHeader::decode(&bytes) {
            Ok(header) => return Some(header),
            Err(error) => {
                if is_overlooked(&bytes, error.offset()) {
                    faults.note(format!(
                        "the file header, byte {}: {}, which SQLite overlooks",
                        error.offset(),
                        error.message()
                    ));
                } else {
                    faults.add_to_file(Some(1), Some(error.offset()), error.message());
                }
                mend(&mut bytes, error.offset())?;
            }
        }
    }
    None
}

/// Returns whether SQLite reads a database whose header breaks the rule about this byte.
fn is_overlooked(bytes: &[u8; FILE_HEADER_LEN], offset: usize) -> bool {
    match offset {
        // A file with a later write version can be read but not written.
        18 | 72..=91 => true,
        19 => bytes[19] == 0,
        // SQLite reads only the last byte of these numbers, and only the last two bits of the encoding.
        44..=47 => bytes[47] <= 4,
        56..=59 => true,
        _ => false,
    }
}

/// Replaces a value that breaks a rule by the one that SQLite reads, or by a harmless one. Returns `None` if there is
/// none.
fn mend(bytes: &mut [u8; FILE_HEADER_LEN], offset: usize) -> Option<()> {
    match offset {
        18 => bytes[18] = bytes[19].clamp(1, 2),
        19 => bytes[19] = 1,
        20 => bytes[20] = 0,
        21..=23 => bytes[21..24].copy_from_slice(&[64, 32, 32]),
        32..=39 => bytes[32..40].fill(0),
        44..=47 => {
            bytes[44..47].fill(0);
            bytes[47] = bytes[47].min(4);
        }
        56..=59 => {
            bytes[56..59].fill(0);
            bytes[59] = (bytes[59] & 3).max(1);
        }
        64..=67 => bytes[64..68].fill(0),
        72..=91 => bytes[offset] = 0,
        _ => return None,
    }
    Some(())
}

/// Returns the number of pages of the database. Reports disagreements with the header.
///
/// The header's count is valid if version-valid-for equals the change counter. Bytes behind the last counted page are
/// then no part of the database. Otherwise the length of the file decides, as before release 3.7.0.
pub(super) fn page_count(header: &DatabaseHeader, file_len: u64, faults: &FaultLog) -> u32 {
    let page_size = header.page_size.bytes() as u64;
    let (whole, counted) = (file_len / page_size, u64::from(header.page_count));
    let holds = counted != 0 && header.page_count_is_valid();
    if holds && counted * page_size < file_len {
        let more = file_len - counted * page_size;
        let [more, pages] =
            [(more, "byte"), (counted, "page")].map(|(count, noun)| litepress_rows::counted(count, noun));
        faults.note(format!("the file goes on for {more} behind the {pages} that its header counts"));
    } else if !file_len.is_multiple_of(page_size) {
        let what = format!("the file has {file_len} bytes, which is not a multiple of the page size {page_size}");
        faults.add_to_file(None, None, what);
    }
    if !holds {
        faults.note(format!("the header's page count, {counted}, does not hold: the length of the file counts"));
    } else if counted > whole {
        let what = format!("the header counts {}, the file has {whole}", litepress_rows::counted(counted, "page"));
        faults.add_to_file(Some(1), Some(28), what);
    }
    if header.write_version != header.read_version {
        let what = format!("write version {} and read version {} differ", header.write_version, header.read_version);
        faults.note(format!("the file header, byte 18: {what}, which SQLite overlooks"));
    }
    let pages = if holds { counted.min(whole) } else { whole };
    u32::try_from(pages).unwrap_or(u32::MAX).min(MAX_PAGE_NUMBER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use litepress_format::header::TextEncoding;
    use litepress_format::page::PageSize;

    fn faults_of(change: impl FnOnce(&mut [u8; FILE_HEADER_LEN])) -> (bool, Vec<Option<usize>>) {
        let mut bytes = DatabaseHeader::new(PageSize::MIN).encode();
        change(&mut bytes);
        let faults = FaultLog::new(100);
        let header = header(&bytes, &faults);
        if let Some(header) = &header {
            page_count(header, 512, &faults);
        }
        (header.is_some(), faults.take().0.into_iter().map(|fault| fault.offset).collect())
    }

    #[test]
    fn every_broken_field_is_reported_beside_the_others() {
        assert_eq!(faults_of(|_| {}), (true, vec![]));
        let (readable, offsets) = faults_of(|bytes| {
            for offset in [18, 22, 47, 59, 67, 72, 91] {
                bytes[offset] = 99;
            }
        });
        assert!(readable);
        assert_eq!(offsets, [21, 44, 64].map(Some));
    }

    #[test]
    fn the_header_is_read_as_sqlite_reads_it() {
        let read = |change: fn(&mut [u8; FILE_HEADER_LEN])| {
            let mut bytes = DatabaseHeader::new(PageSize::MIN).encode();
            change(&mut bytes);
            let faults = FaultLog::new(100);
            let header = header(&bytes, &faults).unwrap();
            let (faults, notes) = faults.take();
            assert!(faults.is_empty() && notes.len() == 1, "{faults:?} {notes:?}");
            header
        };
        assert_eq!(read(|bytes| bytes[56] = 9).text_encoding, TextEncoding::Utf8);
        assert_eq!(read(|bytes| bytes[59] = 8).text_encoding, TextEncoding::Utf8);
        assert_eq!(read(|bytes| bytes[59] = 7).text_encoding, TextEncoding::Utf16Be);
        assert_eq!(read(|bytes| bytes[44] = 1).schema_format, 4);
        assert_eq!(read(|bytes| bytes[18..20].copy_from_slice(&[77, 2])).write_version, 2);
        assert_eq!(read(|bytes| bytes[19] = 0).read_version, 1);
    }

    #[test]
    fn a_file_without_magic_or_page_size_is_not_read_on() {
        assert_eq!(faults_of(|bytes| bytes[3] = 0), (false, vec![Some(0)]));
        assert_eq!(faults_of(|bytes| bytes[17] = 3), (false, vec![Some(16)]));
        let faults = FaultLog::new(9);
        assert!(header(b"", &faults).is_none());
        assert_eq!(faults.total(), 1);
    }

    #[test]
    fn a_journal_or_wal_with_content_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        assert!(refuse_companions(&path).is_ok());
        for (name, content, refused) in [
            ("x.db-wal", &b""[..], false),
            ("x.db-journal", b"", false),
            ("x.db-journal", &[0; 512], false),
            ("x.db-journal", b"\xd9\xd5", true),
            ("x.db-wal", b"frames", true),
        ] {
            let companion = folder.path().join(name);
            std::fs::write(&companion, content).unwrap();
            let outcome = refuse_companions(&path);
            assert_eq!(outcome.is_err(), refused, "{name} {content:?}");
            if let Err(error) = outcome {
                assert_eq!(error.kind(), ErrorKind::Target);
                assert!(error.advice().is_some());
            }
            std::fs::remove_file(&companion).unwrap();
        }
    }
}
