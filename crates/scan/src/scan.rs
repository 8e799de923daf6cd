//! Reads the rows of a rowid table, or the entries of an index, as sources of rows.

use crate::leaf::{ScanPart, payload};
use crate::overflow::look_at;
use crate::sample::Sample;
use crate::snapshot::Snapshot;
use crate::walk::{MAX_DEPTH, Tree, Walk};
use litepress_format::page::PageKind;
use litepress_rows::sync::{Mutex, lock};
use litepress_rows::{Part, RecordChunk, Result, RowidOrder, Source};
use std::sync::{Arc, OnceLock};

/// A tree whose leaves are handed out in groups.
#[derive(Debug)]
struct Scan {
    tree: Arc<Tree>,
    walk: Mutex<Walk>,
    /// Taken when it is first asked for.
    sample: OnceLock<Sample>,
}

impl Scan {
    fn new(snapshot: &Snapshot, root: u32, name: String, leaf_kind: PageKind) -> Result<Self> {
        let tree = Arc::new(Tree::new(snapshot, root, name, leaf_kind));
        let walk = Mutex::new(Walk::new(&tree)?);
        Ok(Self { tree, walk, sample: OnceLock::new() })
    }

    fn next_part(&self) -> Result<Option<ScanPart>> {
        let Some(group) = lock(&self.walk).next_group(&self.tree)? else { return Ok(None) };
        Ok(Some(ScanPart::new(self.tree.clone(), group)?))
    }

    fn sample(&self) -> Result<&Sample> {
        if let Some(sample) = self.sample.get() {
            return Ok(sample);
        }
        let Tree { snapshot, root, name, leaf_kind, .. } = &*self.tree;
        let sample = Sample::take(snapshot, *root, name, *leaf_kind)?;
        Ok(self.sample.get_or_init(|| sample))
    }

    fn page_bytes(&self) -> f64 {
        // A tree that cannot be read fails when its rows are read.
        self.sample().map_or(0.0, |sample| sample.page_bytes)
    }

    fn show_sample(&self, look: &mut dyn FnMut(&RecordChunk)) -> Result<()> {
        let sample = self.sample()?;
        if !sample.chunk.is_empty() {
            look(&sample.chunk);
        }
        Ok(())
    }
}

/// The rows of a rowid table, verbatim and ascending by rowid.
///
/// Parts can be read in parallel; their boundaries follow from the tree alone. A record has as many values as the row that was
/// written, which may be fewer than the table has columns now. The value of an INTEGER PRIMARY KEY in it is NULL. The positions of
/// rows in chunks ascend, with gaps.
#[derive(Debug)]
pub struct TableScan(Scan);

impl TableScan {
    /// Begins at the root page of a table, whose name errors show.
    ///
    /// # Errors
    /// If the first pages cannot be read or are not those of a rowid table.
    pub fn new(snapshot: &Snapshot, root: u32, name: impl Into<String>) -> Result<Self> {
        Ok(Self(Scan::new(snapshot, root, name.into(), PageKind::LeafTable)?))
    }

    /// Returns the next part as [`Source::next_part`] does, as a value that does not borrow the scan.
    ///
    /// # Errors
    /// If interior pages cannot be read or break a rule.
    pub fn next_scan_part(&self) -> Result<Option<ScanPart>> {
        self.0.next_part()
    }

    /// Estimates the number of rows from some pages.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn estimated_rows(&self) -> Result<u64> {
        Ok(self.0.sample()?.whole_rows())
    }
}

impl Source for TableScan {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        Ok(self.0.next_part()?.map(|part| Box::new(part) as Box<dyn Part>))
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn rowid_order(&self) -> RowidOrder {
        RowidOrder::Ascending
    }

    fn page_bytes(&self) -> f64 {
        self.0.page_bytes()
    }

    fn sample(&self, look: &mut dyn FnMut(&RecordChunk)) -> Result<()> {
        self.0.show_sample(look)
    }
}

/// The entries of an index, or the rows of a WITHOUT ROWID table, verbatim and in the order of their key.
///
/// As [`TableScan`], but rowids have no meaning: all are 0. The order is that of the pages; whether it is that of the key is not
/// checked.
#[derive(Debug)]
pub struct IndexScan(Scan);

impl IndexScan {
    /// Begins at the root page of an index or a WITHOUT ROWID table, whose name errors show.
    ///
    /// # Errors
    /// If the first pages cannot be read or are not those of an index.
    pub fn new(snapshot: &Snapshot, root: u32, name: impl Into<String>) -> Result<Self> {
        Ok(Self(Scan::new(snapshot, root, name.into(), PageKind::LeafIndex)?))
    }

    /// Returns the next part as [`Source::next_part`] does, as a value that does not borrow the scan.
    ///
    /// # Errors
    /// If interior pages cannot be read or break a rule.
    pub fn next_scan_part(&self) -> Result<Option<ScanPart>> {
        self.0.next_part()
    }

    /// Estimates the number of entries from some pages.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn estimated_rows(&self) -> Result<u64> {
        Ok(self.0.sample()?.whole_rows())
    }

    /// Returns the last entry of the tree, or `None` if there is none. The scan reads it once more.
    ///
    /// # Errors
    /// If the pages at the right edge cannot be read or break a rule.
    pub fn last_entry(&self) -> Result<Option<Vec<u8>>> {
        let tree = &*self.0.tree;
        let (mut reader, mut number, mut bytes) = (tree.snapshot.reader()?, tree.root, Vec::new());
        for _ in 0..=MAX_DEPTH {
            reader.read(number, &mut bytes)?;
            let page = tree.open(number, &bytes)?;
            if let Some(right_child) = page.right_child() {
                tree.check(right_child, number)?;
                number = right_child;
                continue;
            }
            return match page.cell_count().checked_sub(1) {
                Some(last) => look_at(tree, number, payload(&tree.cell(number, &page, last)?)).map(Some),
                None if number == tree.root => Ok(None),
                None => Err(tree.corrupt(number, "is an empty leaf at the right edge")),
            };
        }
        Err(tree.corrupt(tree.root, format!("no leaf is found within {MAX_DEPTH} levels of the tree")))
    }

    /// Returns the pages that were read, in order, overflow pages included: all pages of the tree, once all entries were read.
    pub fn pages(&self) -> impl Iterator<Item = u32> {
        self.0.tree.visited.pages()
    }
}

impl Source for IndexScan {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        Ok(self.0.next_part()?.map(|part| Box::new(part) as Box<dyn Part>))
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn page_bytes(&self) -> f64 {
        self.0.page_bytes()
    }

    fn sample(&self, look: &mut dyn FnMut(&RecordChunk)) -> Result<()> {
        self.0.show_sample(look)
    }
}
