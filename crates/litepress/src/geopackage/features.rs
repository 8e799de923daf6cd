//! The rows of a layer: those of the files, with a key and with geometries as GeoPackage stores them.

use super::boxes::{GeometryExtents, Spool};
use super::layer::{GeometryOrigin, LayerColumn, PlannedLayer};
use crate::{Error, ErrorKind, Result};
use litepress_format::record;
use litepress_format::value::Value;
use litepress_geo::{Given, Srs, append_blob};
use litepress_load::source::LoadSource;
use litepress_rows::sync::lock;
use litepress_rows::{OptionName, Part, RecordChunk, RowidOrder, Source, message, quote};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Bytes of a value that an error shows.
const SHOWN_BYTES: usize = 60;

/// Bytes that a geometry's header and the key add to a row.
const ADDED_BYTES: f64 = 45.0;

/// How a row of the files becomes one of the layer.
pub(super) struct Conversion<'a> {
    layer: &'a PlannedLayer,
    /// NULL is stored for a value that is no geometry.
    stores_null: bool,
}

impl<'a> Conversion<'a> {
    pub fn new(layer: &'a PlannedLayer, stores_null: bool) -> Self {
        Self { layer, stores_null }
    }

    /// Replaces `record` with the record of the layer for the record `given` of the files. Notes the geometry of the row.
    pub fn convert(
        &self,
        given: &[u8],
        rowid: i64,
        blob: &mut Vec<u8>,
        record: &mut Vec<u8>,
        noted: &mut GeometryExtents,
    ) -> Result<()> {
        let values = record::decode(given).map_err(|error| Error::new(ErrorKind::Data, error.to_string()))?;
        blob.clear();
        let has_geometry = match self.append_geometry(&values, rowid, blob, noted) {
            Err(_) if self.stores_null => {
                noted.count += 1;
                noted.nulls += 1;
                false
            }
            appended => appended?,
        };
        let geometry = if has_geometry { Value::Blob(blob) } else { Value::Null };
        let value = |column: &LayerColumn| match *column {
            LayerColumn::Key => Value::Null,
            LayerColumn::Geometry => geometry,
            LayerColumn::Field(position) => values[position],
        };
        let converted: Vec<Value<'_>> = self.layer.columns.iter().map(value).collect();
        record.clear();
        record::write_record(&converted, record);
        Ok(())
    }

    /// Appends the geometry of a row to `blob`. Returns `false` if it has none.
    fn append_geometry(
        &self,
        values: &[Value<'_>],
        rowid: i64,
        blob: &mut Vec<u8>,
        noted: &mut GeometryExtents,
    ) -> Result<bool> {
        let made;
        let given = match self.layer.geometry {
            GeometryOrigin::Value(position) => match values[position] {
                Value::Null => None,
                Value::Blob(bytes) => Some(Given::Bytes(bytes)),
                Value::Text(text) => Some(Given::Text(
                    std::str::from_utf8(text).map_err(|_| self.wrong(&values[position], "it is not UTF-8"))?,
                )),
                Value::Int(_) | Value::Real(_) => return Err(self.wrong(&values[position], "it is a number")),
            },
            GeometryOrigin::Position { x, y } => {
                let [x, y] = [x, y].map(|field| self.coordinate(values, field));
                x?.zip(y?).map(|(x, y)| Given::Position(x, y))
            }
            GeometryOrigin::Flattened { kind, coordinates, geometries, whole } => {
                made = object(values, kind, coordinates, geometries);
                let other = whole.map(|whole| values[whole]).filter(|value| *value != Value::Null);
                if let (None, Some(value)) = (&made, other) {
                    return Err(self.wrong(&value, "it is no GeoJSON object"));
                }
                made.as_deref().map(Given::Text)
            }
        };
        let Some(given) = given else {
            noted.count += 1;
            return Ok(false);
        };
        let srs = self.layer.layer.srs;
        let stored = append_blob(given, srs.id(), blob).map_err(|why| self.wrong(&shown(given), &why.to_string()))?;
        if let Some(srid) = stored.srid.filter(|&srid| srid > 0 && srid != srs.id()) {
            return Err(self.other_srs(srid, srs));
        }
        noted.add(rowid, &stored.geometry);
        Ok(true)
    }

    /// Returns a coordinate, or `None` for NULL. One bad value makes a column TEXT, so a text may be a number.
    fn coordinate(&self, values: &[Value<'_>], field: usize) -> Result<Option<f64>> {
        let why = match values[field] {
            Value::Null => return Ok(None),
            Value::Int(int) => return Ok(Some(int as f64)),
            Value::Real(real) => return Ok(Some(real)),
            Value::Text(text) => {
                match std::str::from_utf8(text).ok().and_then(|text| text.trim().parse::<f64>().ok()) {
                    Some(real) if real.is_finite() => return Ok(Some(real)),
                    Some(_) if text.iter().any(u8::is_ascii_digit) => "it is beyond the largest double",
                    _ => "it is not a number",
                }
            }
            Value::Blob(_) => "it is not a number",
        };
        Err(self.wrong_in(self.layer.name_of(field), &values[field], &format!("the value is no coordinate: {why}")))
    }

    fn wrong(&self, value: &Value<'_>, why: &str) -> Error {
        self.wrong_in(&self.layer.layer.geometry, value, &format!("the value is no geometry: {why}"))
    }

    fn wrong_in(&self, column: &str, value: &Value<'_>, message: &str) -> Error {
        let (reject, null) = (OptionName::OnError.word("reject"), OptionName::OnError.word("null"));
        let advice = message!["leave such records out with ", reject, ", or store NULL with ", null];
        Error::new(ErrorKind::Data, message).in_column(column).with_value(quote(value)).advise(advice)
    }

    fn other_srs(&self, srid: i32, srs: Srs) -> Error {
        let message = format!(
            "the geometry is in EPSG:{srid}, and the layer in {}",
            if srs.id() > 0 { srs.to_string() } else { "an unknown system".to_owned() }
        );
        Error::new(ErrorKind::Data, message)
            .in_column(&self.layer.layer.geometry)
            .advise(message!["name the system of all geometries with ", OptionName::Crs.word(format!("EPSG:{srid}"))])
    }
}

/// Returns the beginning of a value, for errors.
fn shown(given: Given<'_>) -> Value<'_> {
    match given {
        Given::Bytes(bytes) => Value::Blob(&bytes[..bytes.len().min(SHOWN_BYTES)]),
        Given::Text(text) => {
            let end = (0..=text.len().min(SHOWN_BYTES)).rev().find(|&at| text.is_char_boundary(at));
            Value::Text(&text.as_bytes()[..end.unwrap_or(0)])
        }
        Given::Position(x, _) => Value::Real(x),
    }
}

/// Puts a GeoJSON object together whose keys are columns. Returns `None` if it is null.
fn object(values: &[Value<'_>], kind: usize, coordinates: Option<usize>, geometries: Option<usize>) -> Option<String> {
    let Value::Text(kind) = values[kind] else { return None };
    let mut object = serde_json::Map::new();
    object.insert("type".to_owned(), String::from_utf8_lossy(kind).into());
    for (key, column) in [("coordinates", coordinates), ("geometries", geometries)] {
        if let Some(Value::Text(json)) = column.map(|column| values[column]) {
            object.insert(key.to_owned(), serde_json::from_slice(json).unwrap_or_default());
        }
    }
    Some(serde_json::Value::Object(object).to_string())
}

/// The rows of a layer.
pub(super) struct FeatureRows<'a> {
    source: &'a LoadSource,
    conversion: Conversion<'a>,
    spool: Arc<Spool>,
}

impl<'a> FeatureRows<'a> {
    pub fn new(source: &'a LoadSource, conversion: Conversion<'a>, spool: Arc<Spool>) -> Self {
        Self { source, conversion, spool }
    }
}

impl Source for FeatureRows<'_> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let part = self.source.next_part()?;
        Ok(part.map(|part| Box::new(FeaturePart::new(self, part)) as Box<dyn Part>))
    }

    fn rows(&self) -> Option<u64> {
        self.source.rows()
    }

    fn rowid_order(&self) -> RowidOrder {
        self.source.rowid_order()
    }

    fn has_automatic_rowids(&self) -> bool {
        self.conversion.layer.has_own_key || self.source.has_automatic_rowids()
    }

    fn page_bytes(&self) -> f64 {
        self.source.page_bytes() + ADDED_BYTES
    }

    fn last_sequence(&self) -> Option<i64> {
        self.source.last_sequence()
    }

    fn rowid_range(&self) -> Option<RangeInclusive<i64>> {
        self.source.rowid_range()
    }

    /// Returns the statement of the table with the type of all geometries.
    fn final_sql(&self) -> Option<String> {
        let (layer, kinds) = (&self.conversion.layer, self.spool.look(|noted| noted.kinds));
        *lock(&layer.kinds) = kinds;
        Some(layer.create_table(kinds))
    }

    fn sample(&self, look: &mut dyn FnMut(&RecordChunk)) -> Result<()> {
        let (mut blob, mut record, mut converted) = (Vec::new(), Vec::new(), RecordChunk::new());
        self.source.sample(&mut |chunk| {
            converted.clear();
            for row in 0..chunk.len() {
                let rowid = chunk.rowids()[row];
                // A wrong row is an error when it is loaded.
                if self
                    .conversion
                    .convert(chunk.record(row), rowid, &mut blob, &mut record, &mut GeometryExtents::default())
                    .is_ok()
                {
                    converted.push(rowid, &record);
                }
            }
            look(&converted);
        })
    }
}

/// The rows of a part of the files.
struct FeaturePart<'s> {
    rows: &'s FeatureRows<'s>,
    part: Box<dyn Part + 's>,
    given: RecordChunk,
    blob: Vec<u8>,
    record: Vec<u8>,
    noted: GeometryExtents,
}

impl<'s> FeaturePart<'s> {
    fn new(rows: &'s FeatureRows<'s>, part: Box<dyn Part + 's>) -> Self {
        let (blob, record, noted) = (Vec::new(), Vec::new(), GeometryExtents::default());
        Self { rows, part, given: RecordChunk::new(), blob, record, noted }
    }
}

impl Part for FeaturePart<'_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        let Self { rows, part, given, blob, record, noted } = self;
        given.clear();
        part.fill(given)?;
        if given.is_empty() {
            rows.source.count_nulls(noted.nulls);
            return rows.spool.add(std::mem::take(noted));
        }
        chunk.set_first_record(given.first_record());
        for row in 0..given.len() {
            let rowid = given.rowids()[row];
            let converted = rows.conversion.convert(given.record(row), rowid, blob, record, noted);
            converted.map_err(|error| error.in_record(given.first_record() + row as u64))?;
            chunk.push(rowid, record);
            if rows.conversion.layer.has_own_key || given.is_automatic(row) {
                chunk.mark_automatic(chunk.len() - 1);
            }
        }
        Ok(())
    }
}
