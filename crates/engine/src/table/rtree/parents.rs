//! The rows of the table of parents. They follow from the shape of the tree.

use crate::Result;
use litepress_format::record;
use litepress_format::value::Value;
use litepress_rows::{Part, RecordChunk, Source};
use litepress_rtree::TreeShape;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of rows of a part.
const ROWS_PER_PART: u64 = 1 << 18;

/// The parent of every node but the root, in the order of their numbers.
pub(super) struct ParentRows<'a> {
    shape: &'a TreeShape,
    next: AtomicU64,
}

impl<'a> ParentRows<'a> {
    pub fn new(shape: &'a TreeShape) -> Self {
        // The node after the root.
        Self { shape, next: AtomicU64::new(2) }
    }
}

impl Source for ParentRows<'_> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let (start, end) = (self.next.fetch_add(ROWS_PER_PART, Ordering::Relaxed), self.shape.nodes() + 1);
        let numbers = start..end.min(start + ROWS_PER_PART);
        Ok((start < end).then(|| Box::new(ParentPart { shape: self.shape, numbers }) as Box<dyn Part>))
    }

    fn rows(&self) -> Option<u64> {
        Some(self.shape.nodes() - 1)
    }

    fn page_bytes(&self) -> f64 {
        0.0
    }
}

/// The parents of some nodes.
struct ParentPart<'s> {
    shape: &'s TreeShape,
    numbers: Range<u64>,
}

impl Part for ParentPart<'_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        let mut record = Vec::new();
        while !chunk.is_full() {
            let Some(number) = self.numbers.next() else { break };
            let parent = self.shape.parent(self.shape.place(number));
            record.clear();
            record::write_record(&[Value::Null, Value::Int(parent.cast_signed())], &mut record);
            chunk.push(number.cast_signed(), &record);
        }
        Ok(())
    }
}
