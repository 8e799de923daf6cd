//! Checks the pointer map of an auto-vacuum database: the entry of every page must name the page that points to it.

use super::context::CheckContext;
use litepress_format::ptrmap::{Entry, EntryKind, entry_offset, map_page_of};
use litepress_rows::Result;

/// A reader of pointer-map entries. It keeps the last page that it needed, because neighbours share one.
#[derive(Debug, Default)]
pub(super) struct MapReader {
    page: Vec<u8>,
    /// Page number of `page`; 0 before the first read.
    number: u32,
}

impl MapReader {
    /// Reports a fault unless the entry of `page` is `expected`. Does nothing without auto-vacuum.
    #[inline]
    pub(super) fn expect(&mut self, context: &CheckContext<'_>, page: u32, expected: Entry) -> Result<()> {
        if context.has_pointer_map() { self.compare(context, page, expected) } else { Ok(()) }
    }

    fn compare(&mut self, context: &CheckContext<'_>, page: u32, expected: Entry) -> Result<()> {
        let map_page = map_page_of(page, context.file.usable, context.lock_byte_page());
        let Some(map_page) = map_page.filter(|map_page| context.file.has(*map_page)) else { return Ok(()) };
        if self.number != map_page {
            self.number = 0;
            context.file.read(map_page, 1, &mut self.page)?;
            self.number = map_page;
        }
        let Some(offset) = entry_offset(page, map_page) else { return Ok(()) };
        let found = self.page.get(offset..).map(Entry::decode);
        if found != Some(Ok(expected)) {
            context.faults.add_to_file(Some(map_page), Some(offset), mismatch(page, found, expected));
        }
        Ok(())
    }
}

fn mismatch(page: u32, found: Option<Result<Entry, litepress_format::FormatError>>, expected: Entry) -> String {
    let expected = describe(expected);
    match found {
        Some(Ok(found)) => format!("the pointer map takes page {page} for {}, it is {expected}", describe(found)),
        Some(Err(error)) => {
            format!("the pointer map has no entry for page {page} ({}), it is {expected}", error.message())
        }
        None => format!("the pointer map has no entry for page {page}"),
    }
}

fn describe(Entry { kind, parent }: Entry) -> String {
    match kind {
        EntryKind::RootPage => format!("a root page (parent {parent})"),
        EntryKind::FreePage => format!("a free page (parent {parent})"),
        EntryKind::FirstOverflow => format!("the first overflow page of a cell on page {parent}"),
        EntryKind::LaterOverflow => format!("an overflow page behind page {parent}"),
        EntryKind::Child => format!("a child of page {parent}"),
    }
}
