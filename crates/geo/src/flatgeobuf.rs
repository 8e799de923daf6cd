//! FlatGeobuf (version 3), by the `flatgeobuf` crate: the header of a file, and features as WKB and properties.
//!
//! ```text
//! | magic, 8 bytes | header | index | feature | feature | ...
//!                    length, 4 bytes, and that many bytes   (features, too)
//! property         | column, 2 bytes | value; texts and byte strings with their length, 4 bytes, in front |
//! ```
//!
//! The crate's decoders check that offsets stay within the buffer. They may panic if the lengths within a geometry disagree: callers
//! that read foreign files must expect it.
#![expect(clippy::little_endian_bytes, reason = "the format's own")]

use crate::wkb::kind;
use crate::{Crs, GeometryError, Srs};
use flatgeobuf::{ColumnType, Geometry, GeometryType, size_prefixed_root_as_feature, size_prefixed_root_as_header};
use geozero::CoordDimensions;
use geozero::wkb::{WkbDialect, WkbWriter};

/// Bytes of the magic in front of the header.
pub const MAGIC_BYTES: usize = 8;

/// Bytes of a node of the index.
const INDEX_NODE_BYTES: u64 = 40;

/// Returns whether these bytes begin a file of a version that is read.
#[must_use]
pub fn is_magic(bytes: &[u8]) -> bool {
    matches!(bytes, [b'f', b'g', b'b', 0..=3, b'f', b'g', b'b', _, ..])
}

/// The kind of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyKind {
    /// An integer within 64 bits with a sign.
    Integer,
    /// An integer of 64 bits without a sign.
    Unsigned,
    /// True or false.
    Boolean,
    /// A 32-bit float.
    Real32,
    /// A 64-bit float.
    Real,
    /// Text.
    Text,
    /// JSON as text.
    Json,
    /// Bytes.
    Bytes,
}

/// A column of properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyColumn {
    /// The name.
    pub name: String,
    /// The kind of its values.
    pub kind: PropertyKind,
    /// The file's word for the kind: `Long`.
    pub type_name: &'static str,
    /// NULL may occur.
    pub is_nullable: bool,
    bytes: ColumnType,
}

/// A value of a property.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Property<'b> {
    /// An integer.
    Integer(i64),
    /// An integer without a sign.
    Unsigned(u64),
    /// True or false.
    Boolean(bool),
    /// A 32-bit float.
    Real32(f32),
    /// A 64-bit float.
    Real(f64),
    /// Text, JSON or bytes.
    Bytes(&'b [u8]),
}

/// The header of a file.
#[derive(Clone, Debug)]
pub struct Header {
    /// The columns of properties.
    pub columns: Vec<PropertyColumn>,
    /// Number of features, if the file states it.
    pub features: Option<u64>,
    /// Bytes of the index behind the header.
    pub index_bytes: u64,
    /// The reference system: a name that [`Srs::parse`] knows, or well-known text.
    pub crs: Option<String>,
    geometry_type: GeometryType,
    has_z: bool,
    has_m: bool,
}

impl Header {
    /// Reads a header with its length in front.
    ///
    /// # Errors
    /// If the bytes are no header, or the file has its columns feature by feature.
    pub fn read(bytes: &[u8]) -> Result<Self, GeometryError> {
        let wrong = |why: &dyn std::fmt::Display| GeometryError::new(format!("its header cannot be read: {why}"));
        let header = size_prefixed_root_as_header(bytes).map_err(|error| wrong(&error))?;
        let columns = header.columns().into_iter().flatten().map(|column| {
            let (kind, type_name) = kind_of(column.type_()).ok_or_else(|| wrong(&"a column of an unknown type"))?;
            Ok(PropertyColumn {
                name: column.name().to_owned(),
                kind,
                type_name,
                is_nullable: column.nullable(),
                bytes: column.type_(),
            })
        });
        let columns = columns.collect::<Result<Vec<_>, GeometryError>>()?;
        let features = Some(header.features_count()).filter(|count| *count > 0);
        let index_bytes = match (features, header.index_node_size()) {
            (None, _) | (_, 0) => 0,
            (Some(_), 1) => return Err(wrong(&"an index with one item a node")),
            (Some(features), node_size) => index_bytes(features, node_size.into()),
        };
        Ok(Self {
            columns,
            features,
            index_bytes,
            crs: header.crs().and_then(|crs| name_of_crs(&crs)),
            geometry_type: header.geometry_type(),
            has_z: header.has_z(),
            has_m: header.has_m(),
        })
    }

    /// Reads a feature with its length in front. Appends its geometry to `wkb`, and passes the position and the value of each property
    /// to `take`. Returns `false` if it has no geometry.
    ///
    /// # Errors
    /// If the bytes are no feature of this file.
    ///
    /// # Panics
    /// If lengths within the geometry disagree.
    pub fn read_feature<'b>(
        &self,
        bytes: &'b [u8],
        wkb: &mut Vec<u8>,
        take: &mut dyn FnMut(usize, Property<'b>),
    ) -> Result<bool, GeometryError> {
        let wrong = |why: &dyn std::fmt::Display| GeometryError::new(format!("the feature cannot be read: {why}"));
        let feature = size_prefixed_root_as_feature(bytes).map_err(|error| wrong(&error))?;
        if feature.columns().is_some_and(|columns| !columns.is_empty()) {
            return Err(wrong(&"it has columns of its own, which are not read"));
        }
        if let Some(properties) = feature.properties() {
            self.properties(properties.bytes(), take)?;
        }
        let Some(geometry) = feature.geometry() else { return Ok(false) };
        self.append_wkb(&geometry, wkb).map_err(|error| wrong(&error))?;
        Ok(true)
    }

    fn append_wkb(&self, geometry: &Geometry<'_>, wkb: &mut Vec<u8>) -> geozero::error::Result<()> {
        let own = geometry.type_();
        let geometry_type = if self.geometry_type == GeometryType::Unknown { own } else { self.geometry_type };
        let has_positions = geometry.xy().is_some_and(|xy| !xy.is_empty());
        if !has_positions && geometry.parts().is_none_or(|parts| parts.is_empty()) {
            self.append_empty(geometry_type, wkb);
            return Ok(());
        }
        let dimensions = CoordDimensions { z: self.has_z, m: self.has_m, ..CoordDimensions::xy() };
        geometry.process(&mut WkbWriter::with_opts(wkb, WkbDialect::Wkb, dimensions, None, Vec::new()), geometry_type)
    }

    /// Appends an empty geometry: a point has NaN for coordinates, others have no parts.
    fn append_empty(&self, geometry_type: GeometryType, wkb: &mut Vec<u8>) {
        let code = u32::from(geometry_type.0) + 1000 * u32::from(self.has_z) + 2000 * u32::from(self.has_m);
        wkb.push(1);
        wkb.extend(code.to_le_bytes());
        if u32::from(geometry_type.0) == kind::POINT {
            let numbers = 2 + usize::from(self.has_z) + usize::from(self.has_m);
            (0..numbers).for_each(|_| wkb.extend(f64::NAN.to_le_bytes()));
        } else {
            wkb.extend([0; 4]);
        }
    }

    fn properties<'b>(
        &self,
        mut rest: &'b [u8],
        take: &mut dyn FnMut(usize, Property<'b>),
    ) -> Result<(), GeometryError> {
        let short = || GeometryError::new("the properties of a feature end in the middle");
        // Some writers leave a byte behind the last value.
        while rest.len() > 1 {
            let position = usize::from(u16::from_le_bytes(array(&mut rest).ok_or_else(short)?));
            let column = self.columns.get(position);
            let column = column.ok_or_else(|| {
                GeometryError::new(format!(
                    "a feature has a property {position}, and the header {}",
                    self.columns.len()
                ))
            })?;
            let value = property(column.bytes, &mut rest).ok_or_else(short)?;
            take(position, value);
        }
        Ok(())
    }
}

/// Takes the value of a property. Returns `None` if the bytes are too few.
fn property<'b>(kind: ColumnType, rest: &mut &'b [u8]) -> Option<Property<'b>> {
    Some(match kind {
        ColumnType::Byte => Property::Integer(i8::from_le_bytes(array(rest)?).into()),
        ColumnType::UByte => Property::Integer(u8::from_le_bytes(array(rest)?).into()),
        ColumnType::Bool => Property::Boolean(array::<1>(rest)? != [0]),
        ColumnType::Short => Property::Integer(i16::from_le_bytes(array(rest)?).into()),
        ColumnType::UShort => Property::Integer(u16::from_le_bytes(array(rest)?).into()),
        ColumnType::Int => Property::Integer(i32::from_le_bytes(array(rest)?).into()),
        ColumnType::UInt => Property::Integer(u32::from_le_bytes(array(rest)?).into()),
        ColumnType::Long => Property::Integer(i64::from_le_bytes(array(rest)?)),
        ColumnType::ULong => Property::Unsigned(u64::from_le_bytes(array(rest)?)),
        ColumnType::Float => Property::Real32(f32::from_le_bytes(array(rest)?)),
        ColumnType::Double => Property::Real(f64::from_le_bytes(array(rest)?)),
        _ => {
            let len = usize::try_from(u32::from_le_bytes(array(rest)?)).ok()?;
            let (value, behind) = rest.split_at_checked(len)?;
            *rest = behind;
            Property::Bytes(value)
        }
    })
}

fn array<const BYTES: usize>(rest: &mut &[u8]) -> Option<[u8; BYTES]> {
    let (bytes, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(*bytes)
}

fn kind_of(column: ColumnType) -> Option<(PropertyKind, &'static str)> {
    let kind = match column {
        ColumnType::ULong => PropertyKind::Unsigned,
        ColumnType::Bool => PropertyKind::Boolean,
        ColumnType::Float => PropertyKind::Real32,
        ColumnType::Double => PropertyKind::Real,
        ColumnType::String | ColumnType::DateTime => PropertyKind::Text,
        ColumnType::Json => PropertyKind::Json,
        ColumnType::Binary => PropertyKind::Bytes,
        _ => PropertyKind::Integer,
    };
    Some((kind, column.variant_name()?))
}

/// Returns the bytes of an index: its levels, from all features up to one node.
fn index_bytes(features: u64, node_size: u64) -> u64 {
    let (mut level, mut nodes) = (features, features);
    loop {
        level = level.div_ceil(node_size);
        nodes = nodes.saturating_add(level);
        if level <= 1 {
            return nodes.saturating_mul(INDEX_NODE_BYTES);
        }
    }
}

/// Returns the text if it defines the system of the number, else the number, else the text.
fn name_of_crs(crs: &flatgeobuf::Crs<'_>) -> Option<String> {
    let is_epsg = crs.org().is_none_or(|organization| organization.eq_ignore_ascii_case("EPSG"));
    let number = Some(crs.code()).filter(|code| is_epsg && *code > 0).map(|code| format!("EPSG:{code}"));
    let number = number.filter(|number| Srs::parse(number).is_ok());
    let text = crs.wkt().filter(|text| !text.is_empty());
    match (number, text) {
        (Some(number), Some(text)) if Crs::of_text(text).srs == Srs::parse(&number).ok() => Some(text.to_owned()),
        (Some(number), _) => Some(number),
        (None, text) => text.map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wkb::append_iso;
    use flatgeobuf::{FgbCrs, FgbWriter, FgbWriterOptions};
    use geozero::geojson::GeoJson;
    use geozero::{ColumnValue, PropertyProcessor};

    /// Returns a file of these geometries, each with two properties.
    fn made(geometries: &[&str], has_index: bool) -> Vec<u8> {
        let options = FgbWriterOptions {
            write_index: has_index,
            detect_type: false,
            promote_to_multi: false,
            crs: FgbCrs { code: 25_832, ..FgbCrs::default() },
            ..FgbWriterOptions::default()
        };
        let mut writer = FgbWriter::create_with_options("made", GeometryType::Unknown, options).unwrap();
        writer.add_column("name", ColumnType::String, |_, _| {});
        writer.add_column("number", ColumnType::ULong, |_, _| {});
        for geometry in geometries {
            let added = writer.add_feature_geom(GeoJson(geometry), |feature| {
                feature.property(0, "name", &ColumnValue::String("grün")).unwrap();
                feature.property(1, "number", &ColumnValue::ULong(u64::MAX)).unwrap();
            });
            added.unwrap();
        }
        let mut bytes = Vec::new();
        writer.write(&mut bytes).unwrap();
        bytes
    }

    /// Splits a value with its length in front from the rest.
    fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
        let len = u32::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
        bytes.split_at(4 + len)
    }

    #[test]
    fn header_and_features_are_read() {
        let geometries = [
            (r#"{"type": "Point", "coordinates": [1, 2]}"#, 1, [1.0, 1.0, 2.0, 2.0]),
            (r#"{"type": "Polygon", "coordinates": [[[0,0],[4,0],[4,3],[0,0]]]}"#, 3, [0.0, 4.0, 0.0, 3.0]),
            (r#"{"type": "MultiLineString", "coordinates": [[[0,0],[4,9]], [[7,7],[8,8]]]}"#, 5, [0.0, 8.0, 0.0, 9.0]),
        ];
        let texts: Vec<&str> = geometries.iter().map(|(text, ..)| *text).collect();
        for has_index in [false, true] {
            let file = made(&texts, has_index);
            assert!(is_magic(&file));
            let (header, rest) = split(&file[MAGIC_BYTES..]);
            let header = Header::read(header).unwrap();
            let columns: Vec<_> = header.columns.iter().map(|column| (&*column.name, column.kind)).collect();
            assert_eq!(columns, [("name", PropertyKind::Text), ("number", PropertyKind::Unsigned)]);
            assert_eq!((header.features, header.crs.as_deref()), (Some(3), Some("EPSG:25832")));
            assert_eq!(header.index_bytes > 0, has_index);
            let mut rest = &rest[usize::try_from(header.index_bytes).unwrap()..];
            let mut found = Vec::new();
            while !rest.is_empty() {
                let (feature, behind) = split(rest);
                rest = behind;
                let (mut wkb, mut iso, mut properties) = (Vec::new(), Vec::new(), Vec::new());
                assert!(header.read_feature(feature, &mut wkb, &mut |at, value| properties.push((at, value))).unwrap());
                assert_eq!(properties, [(0, Property::Bytes("grün".as_bytes())), (1, Property::Unsigned(u64::MAX))]);
                let geometry = append_iso(&wkb, &mut iso).unwrap();
                found.push((geometry.kind, geometry.envelope.unwrap()));
            }
            // An index puts features in the order of a curve.
            found.sort_by_key(|(kind, _)| *kind);
            assert_eq!(found, geometries.map(|(_, kind, envelope)| (kind, envelope)));
        }
    }

    #[test]
    fn broken_bytes_are_refused() {
        let file = made(&[r#"{"type": "Point", "coordinates": [1, 2]}"#], false);
        let (bytes, feature) = split(&file[MAGIC_BYTES..]);
        let header = Header::read(bytes).unwrap();
        assert!(Header::read(&bytes[..20]).is_err());
        assert!(header.read_feature(&feature[..9], &mut Vec::new(), &mut |_, _| {}).is_err());
        let properties = |bytes: &[u8]| header.properties(bytes, &mut |_, _| {}).map_err(|error| error.to_string());
        assert_eq!(properties(&[9, 0, 1]), Err("a feature has a property 9, and the header 2".to_owned()));
        assert_eq!(
            properties(&[0, 0, 9, 0, 0, 0, b'x']),
            Err("the properties of a feature end in the middle".to_owned())
        );
    }
}
