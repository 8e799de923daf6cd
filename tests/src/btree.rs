//! Reads the records of an index or of a WITHOUT ROWID table with the format crate's own decoders.

use litepress_format::cell::{Cell, CellPayload};
use litepress_format::overflow;
use litepress_format::page::{PageReader, PageSize};

/// The bytes of a database, and its page size.
#[derive(Clone, Copy, Debug)]
pub struct Pages<'a> {
    database: &'a [u8],
    bytes: usize,
}

impl<'a> Pages<'a> {
    /// Creates a reader of a database without reserved bytes.
    #[must_use]
    pub fn new(database: &'a [u8], page_size: PageSize) -> Self {
        Self { database, bytes: page_size.bytes() }
    }

    fn page(self, number: u32) -> &'a [u8] {
        let start = (number as usize - 1) * self.bytes;
        &self.database[start..start + self.bytes]
    }

    /// Returns the stored bytes of the records of the tree at page `root`, in the order of the tree.
    #[must_use]
    pub fn records(self, root: u32) -> Vec<Vec<u8>> {
        let mut records = Vec::new();
        self.visit(root, &mut records);
        records
    }

    fn visit(self, number: u32, records: &mut Vec<Vec<u8>>) {
        let page = PageReader::new(self.page(number), 0, self.bytes).unwrap();
        assert!(!page.kind().is_table(), "page {number} is one of a rowid table");
        for cell in page.cells() {
            let cell: Cell<'_> = cell.unwrap();
            if let Some(child) = cell.left_child() {
                self.visit(child, records);
            }
            records.push(self.record(cell.payload().expect("index cells have one")));
        }
        if let Some(child) = page.right_child() {
            self.visit(child, records);
        }
    }

    fn record(self, payload: CellPayload<'_>) -> Vec<u8> {
        let mut record = payload.local.to_vec();
        let mut next = payload.overflow.unwrap_or(0);
        while next != 0 {
            let (following, content) = overflow::read_page(self.page(next), self.bytes);
            record.extend_from_slice(content);
            next = following;
        }
        let len = usize::try_from(payload.payload_len).unwrap();
        assert!(len <= record.len(), "an overflow chain of {} bytes for a payload of {len}", record.len());
        record.truncate(len);
        record
    }
}
