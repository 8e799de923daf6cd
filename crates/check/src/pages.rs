//! Reads pages: interior pages one at a time, runs of consecutive leaves with one read.

use litepress_rows::files::FileExt;
use litepress_rows::{Error, Result};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Bytes of one read of consecutive pages: large enough to hide the call, small enough to stay in a core's cache
/// during the check.
pub(super) const RUN_BYTES: usize = 256 * 1024;

/// A database file as pages.
#[derive(Debug)]
pub(super) struct PageFile {
    file: File,
    pub(super) path: PathBuf,
    page_size: usize,
    /// Bytes of a page without the reserved ones.
    pub(super) usable: usize,
    /// Number of pages of the database that the file has.
    pub(super) count: u32,
}

impl PageFile {
    pub(super) fn new(file: File, path: &Path, page_size: usize, usable: usize, count: u32) -> Self {
        Self { file, path: path.to_owned(), page_size, usable, count }
    }

    pub(super) fn page_size(&self) -> usize {
        self.page_size
    }

    /// Returns whether the file has a page of this number.
    pub(super) fn has(&self, page: u32) -> bool {
        (1..=self.count).contains(&page)
    }

    /// Reads `pages` pages from `first` on into `buffer`. All must be in the file.
    pub(super) fn read(&self, first: u32, pages: usize, buffer: &mut Vec<u8>) -> Result<()> {
        assert!(self.has(first), "page {first} of {}", self.count);
        buffer.resize(pages * self.page_size, 0);
        let offset = u64::from(first - 1) * self.page_size as u64;
        self.file.read_exact_at(buffer, offset).map_err(|error| Error::io("read the database", &self.path, error))
    }
}

/// A reader of listed pages in their order, which reads consecutive ones together.
#[derive(Debug, Default)]
pub(super) struct RunReader {
    buffer: Vec<u8>,
}

impl RunReader {
    /// Calls `look` with every page and its position in `pages`. All pages must be in the file.
    pub(super) fn each(
        &mut self,
        file: &PageFile,
        pages: &[u32],
        mut look: impl FnMut(usize, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let longest = (RUN_BYTES / file.page_size).max(1);
        let mut at = 0;
        while at < pages.len() {
            let run = run_length(&pages[at..], longest);
            file.read(pages[at], run, &mut self.buffer)?;
            for (index, page) in self.buffer.chunks_exact(file.page_size).enumerate() {
                look(at + index, page)?;
            }
            at += run;
        }
        Ok(())
    }
}

/// Returns how many of the first pages are consecutive, at most `longest`.
fn run_length(pages: &[u32], longest: usize) -> usize {
    let neighbours = pages.windows(2).take_while(|pair| pair[0].checked_add(1) == Some(pair[1])).count();
    (neighbours + 1).min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn runs_end_where_neighbours_end() {
        assert_eq!(run_length(&[5], 8), 1);
        assert_eq!(run_length(&[5, 6, 7, 9], 8), 3);
        assert_eq!(run_length(&[5, 6, 7, 8], 2), 2);
        assert_eq!(run_length(&[5, 4, 5], 8), 1);
    }

    #[test]
    fn every_listed_page_is_seen_once_and_in_order() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let bytes: Vec<u8> = (1..=9_u8).flat_map(|page| [page; 512]).collect();
        file.write_all(&bytes).unwrap();
        let pages = PageFile::new(file.reopen().unwrap(), file.path(), 512, 512, 9);
        let listed = [4, 5, 6, 1, 9, 8];
        let mut seen = Vec::new();
        RunReader::default()
            .each(&pages, &listed, |index, page| {
                assert_eq!(page.len(), 512);
                seen.push((index, u32::from(page[511])));
                Ok(())
            })
            .unwrap();
        assert_eq!(seen, listed.into_iter().enumerate().collect::<Vec<_>>());
    }
}
