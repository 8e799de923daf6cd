//! The boxes of geometries, in a temporary file until the R-Tree is built, and what is known of all geometries.
//!
//! ```text
//! box    | rowid, 8 bytes | min x, max x, min y, max y, 8 bytes each |
//! ```

use crate::{Error, Result};
use litepress_format::record;
use litepress_format::value::Value;
use litepress_geo::wkb::Geometry;
use litepress_geo::wkb::kind::Kinds;
use litepress_rows::files::FileExt;
use litepress_rows::sync::{Mutex, lock};
use litepress_rows::{Part, RecordChunk, Source};
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const BOX_BYTES: usize = 40;

/// Number of boxes of a part.
const BOXES_PER_PART: u64 = 1 << 16;

/// What is known of some geometries.
#[derive(Debug, Default)]
pub(super) struct GeometryExtents {
    /// Number of rows.
    pub count: u64,
    /// Number of geometries, with a height, and with a measure.
    pub geometries: u64,
    pub with_z: u64,
    pub with_m: u64,
    /// Number of values that are no geometries, and NULL is stored for.
    pub nulls: u64,
    /// The types of geometries.
    pub kinds: Kinds,
    /// min x, max x, min y, max y.
    pub extent: Option<[f64; 4]>,
    /// The boxes.
    bytes: Vec<u8>,
}

impl GeometryExtents {
    pub fn add(&mut self, rowid: i64, geometry: &Geometry) {
        self.count += 1;
        self.geometries += 1;
        self.with_z += u64::from(geometry.has_z);
        self.with_m += u64::from(geometry.has_m);
        self.kinds.add(geometry.kind);
        if let Some(envelope) = geometry.envelope {
            self.grow(envelope);
            self.bytes.extend(rowid.to_be_bytes());
            envelope.iter().for_each(|number| self.bytes.extend(number.to_be_bytes()));
        }
    }

    fn grow(&mut self, [min_x, max_x, min_y, max_y]: [f64; 4]) {
        let extent = self.extent.get_or_insert([min_x, max_x, min_y, max_y]);
        *extent = [extent[0].min(min_x), extent[1].max(max_x), extent[2].min(min_y), extent[3].max(max_y)];
    }
}

/// The boxes of a layer.
pub(super) struct Spool {
    file: File,
    folder: PathBuf,
    state: Mutex<State>,
}

/// What is known of all parts so far, without their boxes, and the length of the file.
#[derive(Default)]
struct State {
    noted: GeometryExtents,
    end: u64,
}

impl Spool {
    pub fn new(folder: &Path) -> Result<Arc<Self>> {
        let file =
            tempfile::tempfile_in(folder).map_err(|error| Error::io("make a temporary file in", folder, error))?;
        Ok(Arc::new(Self { file, folder: folder.to_owned(), state: Mutex::default() }))
    }

    /// Adds the boxes of a part.
    pub fn add(&self, part: GeometryExtents) -> Result<()> {
        let at = {
            let State { noted, end } = &mut *lock(&self.state);
            noted.count += part.count;
            noted.geometries += part.geometries;
            noted.with_z += part.with_z;
            noted.with_m += part.with_m;
            noted.kinds.join(part.kinds);
            part.extent.into_iter().for_each(|extent| noted.grow(extent));
            let at = *end;
            *end += part.bytes.len() as u64;
            at
        };
        let written = self.file.write_all_at(&part.bytes, at);
        written.map_err(|error| Error::io("write a temporary file in", &self.folder, error))
    }

    /// Passes what is known of all geometries to `look`.
    pub fn look<T>(&self, look: impl FnOnce(&GeometryExtents) -> T) -> T {
        look(&lock(&self.state).noted)
    }

    fn boxes(&self) -> u64 {
        lock(&self.state).end / BOX_BYTES as u64
    }

    fn read(&self, boxes: Range<u64>, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.resize(usize::try_from(boxes.end - boxes.start).expect("boxes of a part") * BOX_BYTES, 0);
        let read = self.file.read_exact_at(bytes, boxes.start * BOX_BYTES as u64);
        read.map_err(|error| Error::io("read a temporary file in", &self.folder, error))
    }
}

/// The rows of an R-Tree. REQUIRES: the layer was filled before.
pub(super) struct BoxRows {
    spool: Arc<Spool>,
    next: AtomicU64,
}

impl BoxRows {
    pub fn new(spool: Arc<Spool>) -> Self {
        Self { spool, next: AtomicU64::new(0) }
    }
}

impl Source for BoxRows {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let (start, end) = (self.next.fetch_add(BOXES_PER_PART, Ordering::Relaxed), self.spool.boxes());
        let boxes = start..end.min(start + BOXES_PER_PART);
        Ok((start < end).then(|| Box::new(BoxPart { spool: &self.spool, boxes }) as Box<dyn Part>))
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn page_bytes(&self) -> f64 {
        0.0
    }
}

struct BoxPart<'s> {
    spool: &'s Spool,
    boxes: Range<u64>,
}

impl Part for BoxPart<'_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        let (mut bytes, mut record) = (Vec::new(), Vec::new());
        let boxes = self.boxes.start..self.boxes.end.min(self.boxes.start + 2048);
        self.spool.read(boxes.clone(), &mut bytes)?;
        self.boxes.start = boxes.end;
        for one in bytes.chunks_exact(BOX_BYTES) {
            let (numbers, _) = one.as_chunks();
            let real = |at: usize| Value::Real(f64::from_be_bytes(numbers[at]));
            let rowid = i64::from_be_bytes(numbers[0]);
            record.clear();
            record::write_record(&[Value::Int(rowid), real(1), real(2), real(3), real(4)], &mut record);
            chunk.push(rowid, &record);
        }
        Ok(())
    }
}
