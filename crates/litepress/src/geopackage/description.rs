//! The rows of the tables that describe a GeoPackage. They are made once all layers are filled.

use super::boxes::{GeometryExtents, Spool};
use super::layer::PlannedLayer;
use crate::{Error, ErrorKind, Result};
use litepress_format::record;
use litepress_format::value::Value;
use litepress_geo::{Crs, Definition, Srs, package};
use litepress_rows::cells::OwnedValue::{self, Int, Null, Real, Text};
use litepress_rows::{Part, RecordChunk, Source};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The rows of one of [`package::TABLE_NAMES`].
pub(super) struct DescriptionRows<'a> {
    /// Position of the table there.
    table: usize,
    layers: Vec<(&'a PlannedLayer, Arc<Spool>)>,
    is_done: AtomicBool,
}

impl<'a> DescriptionRows<'a> {
    pub fn new(table: usize, layers: Vec<(&'a PlannedLayer, Arc<Spool>)>) -> Self {
        Self { table, layers, is_done: AtomicBool::new(false) }
    }

    fn make(&self) -> Result<Vec<Vec<OwnedValue>>> {
        let of_layers = |row: &dyn Fn(&PlannedLayer, &GeometryExtents) -> Vec<OwnedValue>| {
            self.layers.iter().map(|(layer, spool)| spool.look(|noted| row(layer, noted))).collect()
        };
        Ok(match self.table {
            0 => reference_systems(self.layers.iter().map(|(layer, _)| *layer)),
            1 => {
                let now = now()?;
                of_layers(&|layer, noted| contents(layer, noted, &now))
            }
            2 => of_layers(&geometry_columns),
            3 => self.extensions(),
            _ => of_layers(&|layer, noted| vec![Text(layer.layer.table.clone()), Int(noted.count.cast_signed())]),
        })
    }

    /// Returns the extensions of each layer: its R-Tree, and types of geometries beyond the common ones.
    fn extensions(&self) -> Vec<Vec<OwnedValue>> {
        let texts = |texts: [&str; 5]| texts.map(|text| Text(text.to_owned())).to_vec();
        let of_systems = has_second_wkt(self.layers.iter().map(|(layer, _)| *layer)).then(|| {
            let [table, column] = [package::TABLE_NAMES[0], package::CRS_COLUMN];
            texts([table, column, package::CRS_EXTENSION, package::CRS_DEFINITION, "read-write"])
        });
        let of_layer = |(layer, spool): &(&PlannedLayer, Arc<Spool>)| {
            let row = |extension: &str, definition, scope| {
                texts([&layer.layer.table, &layer.layer.geometry, extension, definition, scope])
            };
            let rtree = row(package::RTREE_EXTENSION, package::RTREE_DEFINITION, "write-only");
            let kinds = spool.look(|noted| noted.kinds).extensions();
            let kinds = kinds.map(|kind| row(&format!("gpkg_geom_{kind}"), package::GEOMETRY_DEFINITION, "read-write"));
            std::iter::once(rtree).chain(kinds).collect::<Vec<_>>()
        };
        of_systems.into_iter().chain(self.layers.iter().flat_map(of_layer)).collect()
    }
}

/// Returns whether a layer's reference system is defined by well-known text of the second version.
pub(super) fn has_second_wkt<'l>(mut layers: impl Iterator<Item = &'l PlannedLayer>) -> bool {
    let is_second = |crs: &Crs| matches!(crs.definition, Some(Definition::Wkt2(_)));
    layers.any(|layer| layer.layer.srs != Srs::WGS_84 && is_second(&layer.crs))
}

/// Returns the three systems that every GeoPackage has, and those of the layers.
fn reference_systems<'l>(layers: impl Iterator<Item = &'l PlannedLayer> + Clone) -> Vec<Vec<OwnedValue>> {
    let mut systems: BTreeMap<i32, Option<&Crs>> = [-1, 0, Srs::WGS_84.id()].map(|id| (id, None)).into();
    for layer in layers.clone() {
        systems.entry(layer.layer.srs.id()).or_insert(Some(&layer.crs));
    }
    let has_second_wkt = has_second_wkt(layers);
    let row = |(id, crs): (i32, Option<&Crs>)| {
        let (name, organization, code, definition, description) = Srs::with_id(id).row();
        let name = crs.and_then(|crs| crs.name.clone()).unwrap_or(name);
        let (first, second) = match crs.and_then(|crs| crs.definition.as_ref()) {
            Some(Definition::Wkt1(text)) => (text.as_str(), "undefined"),
            Some(Definition::Wkt2(text)) => (definition, text.as_str()),
            None => (definition, "undefined"),
        };
        let [organization, first, description, second] =
            [organization, first, description, second].map(|text| Text(text.to_owned()));
        let second = has_second_wkt.then_some(second);
        let row = [Text(name), Int(id.into()), organization, Int(code.into()), first, description];
        row.into_iter().chain(second).collect()
    };
    systems.into_iter().map(row).collect()
}

fn contents(layer: &PlannedLayer, noted: &GeometryExtents, now: &str) -> Vec<OwnedValue> {
    let [min_x, max_x, min_y, max_y] = noted.extent.map_or([Null, Null, Null, Null], |extent| extent.map(Real));
    let table = || Text(layer.layer.table.clone());
    let [data_type, description, now] = ["features", "", now].map(|text| Text(text.to_owned()));
    vec![table(), data_type, table(), description, now, min_x, min_y, max_x, max_y, Int(layer.layer.srs.id().into())]
}

fn geometry_columns(layer: &PlannedLayer, noted: &GeometryExtents) -> Vec<OwnedValue> {
    // 0: none has it; 1: all have it; 2: some do.
    let has = |number: u64| {
        Int(if number == 0 {
            0
        } else if number == noted.geometries {
            1
        } else {
            2
        })
    };
    let texts = [&layer.layer.table, &layer.layer.geometry, layer.geometry_type(noted.kinds)]
        .map(|text: &str| Text(text.to_owned()));
    let numbers = [Int(layer.layer.srs.id().into()), has(noted.with_z), has(noted.with_m)];
    texts.into_iter().chain(numbers).collect()
}

/// Asks SQLite for the DEFAULT of `last_change`: the time, or that of `SOURCE_DATE_EPOCH` for files that are the same each time.
fn now() -> Result<String> {
    let epoch = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|epoch| epoch.parse::<i64>().ok());
    let sql = "SELECT CASE WHEN ?1 IS NULL THEN strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
               ELSE strftime('%Y-%m-%dT%H:%M:%fZ', ?1, 'unixepoch') END";
    let ask = || Connection::open_in_memory()?.query_row(sql, [epoch], |row| row.get(0));
    ask().map_err(|error: rusqlite::Error| Error::new(ErrorKind::Data, format!("SQLite says: {error}")))
}

impl Source for DescriptionRows<'_> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let is_done = self.is_done.swap(true, Ordering::Relaxed);
        Ok((!is_done).then(|| Box::new(DescriptionPart { rows: Some(self) }) as Box<dyn Part>))
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn page_bytes(&self) -> f64 {
        0.0
    }
}

struct DescriptionPart<'s> {
    rows: Option<&'s DescriptionRows<'s>>,
}

impl Part for DescriptionPart<'_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        let Some(rows) = self.rows.take() else { return Ok(()) };
        let mut record = Vec::new();
        for (number, mut row) in (1..).zip(rows.make()?) {
            // The number of a reference system is its rowid.
            let rowid = match (rows.table, &mut row[..]) {
                (0, [_, id, ..]) => match std::mem::replace(id, Null) {
                    Int(id) => id,
                    _ => number,
                },
                _ => number,
            };
            let values: Vec<Value<'_>> = row.iter().map(OwnedValue::as_value).collect();
            record.clear();
            record::write_record(&values, &mut record);
            chunk.push(rowid, &record);
        }
        Ok(())
    }
}
