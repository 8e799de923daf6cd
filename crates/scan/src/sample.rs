//! Takes a sample of a tree's rows, and estimates their number by random descents (Knuth, "Estimating the efficiency of
//! backtrack programs", 1975): a leaf below pages with 3 and 200 children stands for 600 leaves.

use crate::overflow::ChainReader;
use crate::snapshot::Snapshot;
use crate::walk::{MAX_DEPTH, Tree};
use litepress_format::page::PageKind;
use litepress_format::payload::mean_page_bytes;
use litepress_rows::{RecordChunk, Result};

/// Number of descents.
const DESCENTS: u32 = 32;
/// Target size of the records of one leaf.
const LEAF_BYTES: usize = 16 * 1024;
/// Length of records that the sample does not show.
const HUGE_RECORD: u64 = 256 * 1024;

/// Some rows from all over a tree.
#[derive(Debug)]
pub(crate) struct Sample {
    /// Some rows of each leaf.
    pub chunk: RecordChunk,
    /// Estimated number of rows of the tree.
    pub rows: f64,
    /// Mean number of bytes that a row takes in pages.
    pub page_bytes: f64,
}

impl Sample {
    /// Reads some leaves of a tree.
    pub fn take(snapshot: &Snapshot, root: u32, name: &str, leaf_kind: PageKind) -> Result<Self> {
        // Pages that the sample enters are not those that the scan enters.
        let tree = Tree::new(snapshot, root, name.to_owned(), leaf_kind);
        let (mut reader, mut chains) = (snapshot.reader()?, ChainReader::default());
        let (mut chunk, mut record, mut bytes) = (RecordChunk::new(), Vec::new(), Vec::new());
        let (mut rows, mut page_bytes, mut looked_at) = (0.0, 0.0, 0);
        for descent in 0..DESCENTS {
            let mut position = (f64::from(descent) + 0.5) / f64::from(DESCENTS);
            let (mut number, mut weight) = (root, 1.0);
            for _ in 0..MAX_DEPTH {
                reader.read(number, &mut bytes)?;
                let page = tree.open(number, &bytes)?;
                let cells = page.cell_count();
                let Some(right_child) = page.right_child() else {
                    rows += weight * cells as f64;
                    break;
                };
                let children = (cells + 1) as f64;
                let at = whole(position * children).min(cells);
                (position, weight) = (position * children - at as f64, weight * children);
                let from = number;
                number = match at {
                    at if at == cells => right_child,
                    at => tree.cell(number, &page, at)?.left_child().expect("an interior cell"),
                };
                tree.check(number, from)?;
            }
            let page = tree.open(number, &bytes)?;
            if !page.kind().is_leaf() || !tree.visited.claim(number) {
                continue;
            }
            let from = chunk.arena().len();
            for at in 0..page.cell_count() {
                let cell = tree.cell(number, &page, at)?;
                let payload = cell.payload().expect("a leaf's cells have one");
                let rowid = cell.rowid().unwrap_or(0);
                looked_at += 1;
                page_bytes += mean_page_bytes(leaf_kind, snapshot.usable(), payload.payload_len, rowid);
                if payload.overflow.is_none() {
                    chunk.push(rowid, payload.local);
                } else if payload.payload_len < HUGE_RECORD {
                    chains.read(&tree, &mut reader, number, payload, &mut record)?;
                    chunk.push(rowid, &record);
                }
                if chunk.arena().len() - from > LEAF_BYTES {
                    break;
                }
            }
        }
        let (rows, page_bytes) = (rows / f64::from(DESCENTS), page_bytes / f64::from(looked_at.max(1)));
        Ok(Self { chunk, rows, page_bytes })
    }

    /// Returns the estimated number of rows.
    pub fn whole_rows(&self) -> u64 {
        whole(self.rows.round()) as u64
    }
}

/// Converts a number that is not negative, rounded down.
fn whole(number: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a conversion that saturates")]
    let whole = number as usize;
    whole
}
