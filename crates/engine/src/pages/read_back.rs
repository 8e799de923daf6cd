//! Reads pages back: those of a run, and those already written.

use super::numbering::SkippedPages;
use super::{PageRun, Pages, offset_of};
use crate::sink::writers::WrittenBytes;
use crate::{Error, ErrorKind, Result};
use litepress_format::page::PageSize;
use std::fmt::Display;

/// Bytes of one read.
const READ_BYTES: usize = 1 << 20;

/// Pages in order of their numbers, or of their indexes if they have no numbers yet.
pub(crate) trait PagesInOrder {
    /// Returns the next page, and the number or index that overflow pointers to it have.
    fn next(&mut self) -> Result<Option<(u32, &[u8])>>;
}

/// Pages in any order.
pub(crate) trait PagesByNumber {
    /// Returns the page of a pointer: of a number, or of an index if the page has no number yet.
    fn page(&mut self, number: u32) -> Result<&[u8]>;
}

/// The pages of a run that was not placed.
pub(crate) struct RunPages {
    run: PageRun,
    next: u32,
}

impl RunPages {
    pub fn new(run: PageRun) -> Self {
        Self { run, next: 0 }
    }
}

impl PagesInOrder for RunPages {
    fn next(&mut self) -> Result<Option<(u32, &[u8])>> {
        let index = self.next;
        self.next += 1;
        Ok((index < self.run.len()).then(|| (index, self.run.page(index))))
    }
}

impl PagesByNumber for RunPages {
    fn page(&mut self, number: u32) -> Result<&[u8]> {
        Ok(self.run.page(number))
    }
}

/// The pages of the file so far, mostly requested in sequence.
pub(crate) struct WrittenPagesByNumber<'p> {
    pages: &'p Pages,
    /// Some pages, and the number of the first of them.
    buffer: Vec<u8>,
    buffered: u32,
}

impl<'p> WrittenPagesByNumber<'p> {
    /// Bytes of one read. A tree is read leaf by leaf, then the page above them.
    const READ_BYTES: usize = 1 << 16;

    /// REQUIRES: all pages are written.
    pub(super) fn new(pages: &'p Pages) -> Self {
        Self { pages, buffer: Vec::new(), buffered: 0 }
    }
}

impl PagesByNumber for WrittenPagesByNumber<'_> {
    fn page(&mut self, number: u32) -> Result<&[u8]> {
        let Self { pages, buffer, buffered } = self;
        let page_bytes = pages.page_size.bytes();
        if number == 0 || number >= pages.next {
            return Err(changed_pages(format_args!("a pointer to page {number}")));
        }
        let is_buffered = |first: u32| number >= first && ((number - first) as usize) < buffer.len() / page_bytes;
        if !is_buffered(*buffered) {
            let left = (pages.next - number) as usize;
            buffer.resize(left.min(Self::READ_BYTES / page_bytes) * page_bytes, 0);
            pages.writers.read(buffer, pages.offset(number)).inspect_err(|_| buffer.clear())?;
            *buffered = number;
        }
        let start = (number - *buffered) as usize * page_bytes;
        Ok(&buffer[start..start + page_bytes])
    }
}

/// The last pages of the file so far. Others may be written meanwhile.
pub(crate) struct WrittenPages {
    written: WrittenBytes,
    page_size: PageSize,
    skipped: SkippedPages,
    next: u32,
    /// The number behind the last page.
    end: u32,
    /// Some pages, and the number of the first of them.
    buffer: Vec<u8>,
    buffered: u32,
}

impl PagesInOrder for WrittenPages {
    fn next(&mut self) -> Result<Option<(u32, &[u8])>> {
        let page_bytes = self.page_size.bytes();
        self.next = self.skipped.first_from(self.next);
        if self.next >= self.end {
            return Ok(None);
        }
        let number = self.next;
        if (number - self.buffered) as usize * page_bytes >= self.buffer.len() {
            let left = (self.end - number) as usize;
            self.buffer.resize(left.min(READ_BYTES / page_bytes) * page_bytes, 0);
            let offset = offset_of(number, self.page_size);
            // Zeros must not pass for a page if somebody asks again.
            self.written.read(&mut self.buffer, offset).inspect_err(|_| self.buffer.clear())?;
            self.buffered = number;
        }
        self.next += 1;
        let start = (number - self.buffered) as usize * page_bytes;
        Ok(Some((number, &self.buffer[start..start + page_bytes])))
    }
}

impl Pages {
    /// Waits until the pages from `first` on are written. Returns them for reading.
    pub fn written_from(&self, first: u32) -> Result<WrittenPages> {
        let (page_size, skipped, end) = (self.page_size, self.skipped.clone(), self.next);
        let written = self.writers.reader()?;
        Ok(WrittenPages { written, page_size, skipped, next: first, end, buffer: Vec::new(), buffered: first })
    }

    /// Waits until all pages are written. Returns them for reading.
    pub fn written(&self) -> Result<WrittenPagesByNumber<'_>> {
        self.writers.wait()?;
        Ok(WrittenPagesByNumber::new(self))
    }
}

/// Returns the error of pages that changed since they were written: by another program or by the disk.
pub(crate) fn changed_pages(what: impl Display) -> Error {
    Error::new(ErrorKind::Corrupt, format!("pages of the new database changed since they were written: {what}"))
        .advise("make sure that no other program writes to the file, check the disk, and run it again")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sink;
    use crate::sink::block::BlockPool;
    use crate::sink::writers::Writers;
    use std::io;
    use std::path::PathBuf;
    use std::sync::Arc;

    /// Pages of 64 KiB that hold their number.
    struct NumberedPages;

    impl Sink for NumberedPages {
        fn write_at(&self, _bytes: &[u8], _offset: u64) -> io::Result<()> {
            Ok(())
        }

        fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
            for (page, number) in bytes.chunks_exact_mut(1 << 16).zip((offset >> 16) + 1..) {
                page[..8].copy_from_slice(&number.to_be_bytes());
            }
            Ok(())
        }

        fn set_len(&self, _len: u64) -> io::Result<()> {
            Ok(())
        }

        fn sync(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_lock_byte_page_is_passed_over() {
        let lock_byte_page = PageSize::MAX.lock_byte_page();
        for (first, end) in [(-20, 20), (-1, 1), (0, 3), (-3, 0), (0, 0), (1, 40)] {
            let page = |distance: i32| lock_byte_page.saturating_add_signed(distance);
            let writers = Writers::new(Box::new(NumberedPages), PathBuf::new(), 0, Arc::default());
            let mut pages = Pages::new(PageSize::MAX, BlockPool::new(1), writers);
            pages.next = page(end);
            let mut written = pages.written_from(page(first)).expect("nothing to wait for");
            let mut numbers = Vec::new();
            while let Some((number, bytes)) = written.next().expect("a page") {
                assert_eq!(bytes[..8], u64::from(number).to_be_bytes());
                numbers.push(number);
            }
            let all = page(first)..page(end);
            assert_eq!(numbers, all.filter(|&number| number != lock_byte_page).collect::<Vec<_>>());
        }
    }
}
