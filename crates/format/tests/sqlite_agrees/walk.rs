//! Walks a whole file with the readers of this crate and notes the use of every page.

use std::collections::BTreeMap;

use litepress_format::cell::CellPayload;
use litepress_format::freelist::Trunk;
use litepress_format::header::DatabaseHeader;
use litepress_format::inspect::Role;
use litepress_format::overflow;
use litepress_format::page::{FILE_HEADER_LEN, PageKind, PageReader};
use litepress_format::payload;
use litepress_format::ptrmap::{self, EntryKind};
use litepress_format::schema::{self, OwnedSchemaRow};

/// A database file in memory.
pub struct File {
    bytes: Vec<u8>,
    pub header: DatabaseHeader,
}

impl File {
    pub fn new(bytes: Vec<u8>) -> Self {
        let header = DatabaseHeader::decode(&bytes).unwrap();
        assert_eq!(bytes.len(), header.page_count as usize * header.page_size.bytes());
        Self { bytes, header }
    }

    pub fn page_count(&self) -> u32 {
        self.header.page_count
    }

    pub fn usable(&self) -> usize {
        self.header.usable()
    }

    pub fn page(&self, number: u32) -> &[u8] {
        let size = self.header.page_size.bytes();
        &self.bytes[(number as usize - 1) * size..][..size]
    }

    pub fn reader(&self, number: u32) -> PageReader<'_> {
        let header_offset = if number == 1 { FILE_HEADER_LEN } else { 0 };
        PageReader::new(self.page(number), header_offset, self.usable()).unwrap()
    }
}

/// The use of a page.
pub struct Use {
    pub role: Role,
    /// The expected pointer-map entry; `None` for pages without one.
    pub pointed_to_by: Option<ptrmap::Entry>,
}

impl Use {
    pub fn is_free(&self) -> bool {
        matches!(self.role, Role::FreelistTrunk | Role::FreelistLeaf)
    }
}

/// An entry of a tree, its payload joined.
pub struct Entry {
    pub rowid: Option<i64>,
    pub payload: Vec<u8>,
}

pub struct Walk<'f> {
    file: &'f File,
    pub uses: BTreeMap<u32, Use>,
}

impl<'f> Walk<'f> {
    pub fn new(file: &'f File) -> Self {
        Self { file, uses: BTreeMap::new() }
    }

    /// Notes the use of a page, which must be its only one.
    fn take(&mut self, number: u32, role: Role, kind: EntryKind, parent: u32) {
        // Page 1 precedes the first pointer-map page.
        let pointed_to_by = (number > 1).then_some(ptrmap::Entry { kind, parent });
        let before = self.uses.insert(number, Use { role, pointed_to_by });
        assert!(before.is_none(), "page {number} has two uses");
    }

    /// Walks all trees, the freelist and the pointer maps.
    pub fn everything(&mut self) {
        for row in self.schema() {
            self.tree(u32::try_from(row.rootpage).unwrap());
        }
        self.freelist();
        if self.file.header.largest_root_page > 0 {
            self.pointer_maps();
        }
    }

    pub fn schema(&mut self) -> Vec<OwnedSchemaRow> {
        self.tree(schema::ROOT_PAGE).iter().map(|entry| schema::read(&entry.payload).unwrap()).collect()
    }

    /// Returns the entries of a tree in key order.
    pub fn tree(&mut self, root: u32) -> Vec<Entry> {
        let mut entries = Vec::new();
        self.take(root, Role::BTree, EntryKind::RootPage, 0);
        self.subtree(root, &mut entries);
        entries
    }

    fn subtree(&mut self, number: u32, entries: &mut Vec<Entry>) {
        let reader = self.file.reader(number);
        for cell in reader.cells() {
            let cell = cell.unwrap();
            if let Some(child) = cell.left_child() {
                self.child(child, number, entries);
            }
            match cell.payload() {
                Some(payload) => {
                    let payload = self.payload(number, reader.kind(), payload);
                    entries.push(Entry { rowid: cell.rowid(), payload });
                }
                // The key of a table interior cell is the largest of its left subtree.
                None => assert!(entries.last().unwrap().rowid <= cell.rowid()),
            }
        }
        if let Some(child) = reader.right_child() {
            self.child(child, number, entries);
        }
    }

    fn child(&mut self, number: u32, parent: u32, entries: &mut Vec<Entry>) {
        self.take(number, Role::BTree, EntryKind::Child, parent);
        self.subtree(number, entries);
    }

    /// Follows the overflow chain, which must be as long as `split` says.
    fn payload(&mut self, page: u32, kind: PageKind, payload: CellPayload<'_>) -> Vec<u8> {
        let split = payload::split(kind, self.file.usable(), payload.payload_len);
        assert_eq!(payload.local.len(), split.local);
        let mut whole = payload.local.to_vec();
        let mut chain = 0;
        let (mut before, mut next) = (page, payload.overflow.unwrap_or(0));
        while next != 0 {
            let kind = if chain == 0 { EntryKind::FirstOverflow } else { EntryKind::LaterOverflow };
            self.take(next, Role::Overflow, kind, before);
            let (following, content) = overflow::read_page(self.file.page(next), self.file.usable());
            whole.extend_from_slice(content);
            (before, next) = (next, following);
            chain += 1;
        }
        assert_eq!(chain, split.overflow_pages);
        let payload_len = usize::try_from(payload.payload_len).unwrap();
        assert!(whole.len() >= payload_len);
        whole.truncate(payload_len);
        whole
    }

    fn freelist(&mut self) {
        let mut trunk_number = self.file.header.first_freelist_trunk;
        while trunk_number != 0 {
            self.take(trunk_number, Role::FreelistTrunk, EntryKind::FreePage, 0);
            let trunk = Trunk::decode(self.file.page(trunk_number), self.file.usable()).unwrap();
            for leaf in trunk.leaves() {
                self.take(leaf, Role::FreelistLeaf, EntryKind::FreePage, 0);
            }
            trunk_number = trunk.next;
        }
    }

    fn pointer_maps(&mut self) {
        let distance = ptrmap::entries_per_page(self.file.usable()) + 1;
        for number in (2..=self.file.page_count()).step_by(distance) {
            let before = self.uses.insert(number, Use { role: Role::PointerMap, pointed_to_by: None });
            assert!(before.is_none(), "pointer-map page {number} has another use");
        }
    }
}
