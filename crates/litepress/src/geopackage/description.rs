//! The rows of the tables that describe a GeoPackage. They are made once all layers are filled.

use super::boxes::{Noted, Spool};
use super::layer::PlannedLayer;
use crate::{Error, ErrorKind, Result};
use litepress_format::record;
use litepress_format::value::Value;
use litepress_geo::{Srs, package};
use litepress_rows::cells::OwnedValue::{self, Int, Null, Real, Text};
use litepress_rows::{Part, RecordChunk, Source};
use rusqlite::Connection;
use std::collections::BTreeSet;
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
        let of_layers = |row: &dyn Fn(&PlannedLayer, &Noted) -> Vec<OwnedValue>| {
            self.layers.iter().map(|(layer, spool)| spool.look(|noted| row(layer, noted))).collect()
        };
        Ok(match self.table {
            0 => reference_systems(self.layers.iter().map(|(layer, _)| layer.layer.srs)),
            1 => {
                let now = now()?;
                of_layers(&|layer, noted| contents(layer, noted, &now))
            }
            2 => of_layers(&geometry_columns),
            3 => of_layers(&|layer, _| {
                let texts = [
                    &layer.layer.table,
                    &layer.layer.geometry,
                    package::RTREE_EXTENSION,
                    package::RTREE_DEFINITION,
                    "write-only",
                ];
                texts.map(|text: &str| Text(text.to_owned())).to_vec()
            }),
            _ => of_layers(&|layer, noted| vec![Text(layer.layer.table.clone()), Int(noted.count.cast_signed())]),
        })
    }
}

/// Returns the three systems that every GeoPackage has, and those of the layers.
fn reference_systems(layers: impl Iterator<Item = Srs>) -> Vec<Vec<OwnedValue>> {
    let ids: BTreeSet<i32> = [-1, 0, 4326].into_iter().chain(layers.map(Srs::id)).collect();
    let row = |id: i32| {
        let (name, organization, code, definition, description) = Srs::epsg(id).row();
        let [organization, definition, description] =
            [organization, definition, description].map(|text| Text(text.to_owned()));
        vec![Text(name), Int(id.into()), organization, Int(code.into()), definition, description]
    };
    ids.into_iter().map(row).collect()
}

fn contents(layer: &PlannedLayer, noted: &Noted, now: &str) -> Vec<OwnedValue> {
    let [min_x, max_x, min_y, max_y] = noted.extent.map_or([Null, Null, Null, Null], |extent| extent.map(Real));
    let table = || Text(layer.layer.table.clone());
    let [data_type, description, now] = ["features", "", now].map(|text| Text(text.to_owned()));
    vec![table(), data_type, table(), description, now, min_x, min_y, max_x, max_y, Int(layer.layer.srs.id().into())]
}

fn geometry_columns(layer: &PlannedLayer, noted: &Noted) -> Vec<OwnedValue> {
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
    let texts =
        [&layer.layer.table, &layer.layer.geometry, layer.geometry_type].map(|text: &str| Text(text.to_owned()));
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
