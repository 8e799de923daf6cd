//! Members of ZIP archives as files. A member is read in place, without unpacking the archive.

use super::compressed::Compression;
use super::notes::Notes;
use flate2::Crc;
use litepress_rows::files::{FileExt, retry};
use litepress_rows::{Error, ErrorKind, Result};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zip::{CompressionMethod, ZipArchive};

/// A member of an archive.
#[derive(Debug)]
pub(super) struct Member {
    /// Path of the archive.
    pub archive: PathBuf,
    file: Arc<File>,
    /// Offset of its data in the archive, and their size.
    start: u64,
    compressed_bytes: u64,
    /// `None` if it is stored as it is.
    compression: Option<Compression>,
    /// Size and checksum of its content.
    pub bytes: u64,
    crc: u32,
}

/// Returns whether a file with these first bytes is a ZIP archive.
pub(super) fn is_archive(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06")
}

/// Opens the archive at `path`.
pub(super) fn open(path: &Path, file: File) -> Result<ZipArchive<BufReader<File>>> {
    ZipArchive::new(BufReader::new(file)).map_err(|error| {
        let message = format!("the ZIP archive is damaged: {error}");
        Error::new(ErrorKind::Data, message).in_file(path).advise("get the file again").caused_by(error)
    })
}

/// Returns the names of the members that are files, in the order of names, and their positions.
pub(super) fn files_of(archive: &ZipArchive<BufReader<File>>) -> Vec<(String, usize)> {
    let is_hidden = |name: &str| name.split('/').any(|part| part.starts_with('.') || part == "__MACOSX");
    let position = |raw: &[u8]| {
        let name = String::from_utf8_lossy(raw).into_owned();
        let is_file = !name.ends_with('/') && !is_hidden(&name);
        archive.index_for_name_raw(raw).filter(|_| is_file).map(|position| (name, position))
    };
    let mut files: Vec<(String, usize)> = archive.file_names_raw().filter_map(position).collect();
    files.sort();
    files
}

impl Member {
    /// Finds the data of the member at this position.
    ///
    /// # Errors
    /// If the member is damaged, encrypted, or compressed by a method that is not read. `name` is its name in errors.
    pub fn find(
        archive: &mut ZipArchive<BufReader<File>>,
        position: usize,
        path: &Path,
        file: &Arc<File>,
        name: &Path,
    ) -> Result<Self> {
        let data = |message: String, advice: &str| Error::new(ErrorKind::Data, message).in_file(name).advise(advice);
        let member = archive
            .by_index_raw(position)
            .map_err(|error| data(format!("the ZIP archive is damaged: {error}"), "get the file again"))?;
        if member.encrypted() {
            return Err(data(
                "this member of the archive is encrypted".to_owned(),
                "unpack the archive with its password",
            ));
        }
        let compression = match member.compression() {
            CompressionMethod::STORE => None,
            CompressionMethod::DEFLATE => Some(Compression::Deflate),
            CompressionMethod::BZIP2 => Some(Compression::Bzip2),
            CompressionMethod::ZSTD => Some(Compression::Zstd),
            CompressionMethod::XZ => Some(Compression::Xz),
            other => {
                let message = format!("this member of the archive is compressed by a method that is not read: {other}");
                return Err(data(message, "unpack the archive first"));
            }
        };
        let damaged = || data("the ZIP archive is damaged: a member has no data".to_owned(), "get the file again");
        Ok(Self {
            archive: path.to_owned(),
            file: file.clone(),
            start: member.data_start().ok_or_else(damaged)?,
            compressed_bytes: member.compressed_size(),
            compression,
            bytes: member.size(),
            crc: member.crc32(),
        })
    }

    /// Returns the content from its beginning. At its end, size and checksum are compared.
    pub fn read(&self, name: &Path, notes: &Notes) -> Box<dyn Read + Send> {
        let section = Section { file: self.file.clone(), at: self.start, end: self.start + self.compressed_bytes };
        let content: Box<dyn Read + Send> = match self.compression {
            Some(compression) => compression.decompress(section, name, notes),
            None => Box::new(section),
        };
        Box::new(Checked { content, crc: Crc::new(), bytes: 0, expected: (self.bytes, self.crc) })
    }
}

/// A part of a file.
struct Section {
    file: Arc<File>,
    at: u64,
    end: u64,
}

impl Read for Section {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.end - self.at).unwrap_or(usize::MAX).min(buffer.len());
        let read = retry(|| self.file.read_at(&mut buffer[..most], self.at))?;
        if read == 0 && most > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.at += read as u64;
        Ok(read)
    }
}

/// A stream whose size and checksum are known.
struct Checked {
    content: Box<dyn Read + Send>,
    crc: Crc,
    bytes: u64,
    expected: (u64, u32),
}

impl Read for Checked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.content.read(buffer)?;
        self.crc.update(&buffer[..read]);
        self.bytes += read as u64;
        let is_end = read == 0 && !buffer.is_empty();
        if is_end && (self.bytes, self.crc.sum()) != self.expected {
            let error = Error::new(ErrorKind::Data, "the ZIP archive is damaged: the checksum of this member differs");
            return Err(io::Error::new(io::ErrorKind::InvalidData, error.advise("get the file again")));
        }
        Ok(read)
    }
}
