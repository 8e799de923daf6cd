//! WKT, EWKT, GeoJSON and hexadecimal WKB become WKB.
#![expect(clippy::little_endian_bytes, reason = "well-known binary, which may have either order")]

use crate::wkb::kind;
use crate::{GeometryError, wkt};
use geozero::geojson::GeoJson;
use geozero::wkb::{WkbDialect, WkbWriter};
use geozero::{CoordDimensions, GeomProcessor, GeozeroGeometry};

/// Appends the WKB of a text to `out`, or the GeoPackageBinary of its hexadecimal digits. Returns the SRID if the text names one.
///
/// # Errors
/// If the text is no geometry.
pub fn append_wkb(text: &str, out: &mut Vec<u8>) -> Result<Option<i32>, GeometryError> {
    let text = text.trim();
    // Structs and lists of columns become JSON.
    if text.starts_with('[') || text.starts_with("{\"x\":") {
        let why = "it has a native encoding of GeoParquet or GeoArrow, which is not read: write the file with WKB";
        return Err(GeometryError::new(why));
    }
    if text.starts_with('{') {
        return append_geojson(text, out).map(|()| None);
    }
    if text.len() >= 10 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return append_hex(text, out).map(|()| None);
    }
    let (srid, text) = split_srid(text)?;
    wkt::append_wkb(text, out)?;
    Ok(srid)
}

/// Splits `SRID=4326;POINT (1 2)`.
fn split_srid(text: &str) -> Result<(Option<i32>, &str), GeometryError> {
    let Some(prefix) = text.get(..5).filter(|prefix| prefix.eq_ignore_ascii_case("SRID=")) else {
        return Ok((None, text));
    };
    let parts = text[prefix.len()..].split_once(';');
    let (srid, wkt) = parts.ok_or_else(|| GeometryError::new("no semicolon follows its SRID"))?;
    let srid = srid.trim().parse().map_err(|_| GeometryError::new(format!("its SRID '{srid}' is not a number")))?;
    Ok((Some(srid), wkt))
}

fn append_hex(text: &str, out: &mut Vec<u8>) -> Result<(), GeometryError> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok()).unwrap_or_default();
    let (pairs, rest) = text.as_bytes().as_chunks();
    if !rest.is_empty() {
        return Err(GeometryError::new("it has an odd number of hexadecimal digits"));
    }
    out.extend(pairs.iter().map(|&[high, low]| digit(high) << 4 | digit(low)));
    Ok(())
}

fn append_geojson(text: &str, out: &mut Vec<u8>) -> Result<(), GeometryError> {
    let failed = |error: geozero::error::GeozeroError| GeometryError::new(format!("it is no GeoJSON: {error}"));
    let geometry = GeoJson(text);
    let mut seen = SeenDimensions::default();
    geometry.process_geom(&mut seen).map_err(failed)?;
    if seen.is_empty_point {
        out.extend(empty_point());
        return Ok(());
    }
    let dimensions = CoordDimensions { z: seen.z, m: seen.m, ..CoordDimensions::xy() };
    geometry.process_geom(&mut WkbWriter::with_opts(out, WkbDialect::Wkb, dimensions, None, Vec::new())).map_err(failed)
}

/// Returns the WKB of an empty point: its coordinates are NaN.
fn empty_point() -> impl Iterator<Item = u8> {
    let nan = f64::NAN.to_le_bytes();
    [1].into_iter().chain(kind::POINT.to_le_bytes()).chain(nan).chain(nan)
}

/// Finds out whether positions have a height or a measure, and whether the geometry is an empty point, which the writer lacks.
#[derive(Default)]
struct SeenDimensions {
    z: bool,
    m: bool,
    /// Number of collections around the current geometry.
    depth: usize,
    is_empty_point: bool,
}

impl GeomProcessor for SeenDimensions {
    fn dimensions(&self) -> CoordDimensions {
        CoordDimensions::xyzm()
    }

    fn coordinate(
        &mut self,
        x: f64,
        y: f64,
        z: Option<f64>,
        m: Option<f64>,
        _t: Option<f64>,
        _tm: Option<u64>,
        _idx: usize,
    ) -> geozero::error::Result<()> {
        self.z |= z.is_some();
        self.m |= m.is_some();
        // The text has a number that no double holds.
        match [Some(x), Some(y), z, m].into_iter().flatten().any(f64::is_infinite) {
            true => Err(geozero::error::GeozeroError::Geometry("a coordinate is too large".to_owned())),
            false => Ok(()),
        }
    }

    fn empty_point(&mut self, _idx: usize) -> geozero::error::Result<()> {
        self.is_empty_point |= self.depth == 0;
        Ok(())
    }

    fn multipoint_begin(&mut self, _size: usize, _idx: usize) -> geozero::error::Result<()> {
        self.depth += 1;
        Ok(())
    }

    fn geometrycollection_begin(&mut self, _size: usize, _idx: usize) -> geozero::error::Result<()> {
        self.depth += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wkb::{Geometry, append_iso};

    fn geometry(text: &str) -> Result<(Option<i32>, Geometry), GeometryError> {
        let mut wkb = Vec::new();
        let srid = append_wkb(text, &mut wkb)?;
        append_iso(&wkb, &mut Vec::new()).map(|geometry| (srid, geometry))
    }

    #[test]
    fn texts_become_wkb() {
        for (text, code, z, envelope) in [
            ("POINT (1 2)", kind::POINT, false, Some([1.0, 1.0, 2.0, 2.0])),
            ("  point z(1 2 3) ", kind::POINT, true, Some([1.0, 1.0, 2.0, 2.0])),
            ("POLYGON ((0 0, 4 0, 4 3, 0 0), (1 1, 2 1, 2 2, 1 1))", kind::POLYGON, false, Some([0.0, 4.0, 0.0, 3.0])),
            (
                "MULTIPOLYGON (((0 0, 4 0, 4 3, 0 0)), ((9 9, 10 9, 10 10, 9 9)))",
                6,
                false,
                Some([0.0, 10.0, 0.0, 10.0]),
            ),
            ("MULTIPOINT ((1 2), (3 4))", 4, false, Some([1.0, 3.0, 2.0, 4.0])),
            ("GEOMETRYCOLLECTION (POINT (1 2), LINESTRING (5 5, 6 7))", 7, false, Some([1.0, 6.0, 2.0, 7.0])),
            ("LINESTRING EMPTY", kind::LINE_STRING, false, None),
            ("POINT EMPTY", kind::POINT, false, None),
            (r#"{"type": "Point", "coordinates": [1, 2]}"#, kind::POINT, false, Some([1.0, 1.0, 2.0, 2.0])),
            (r#"{"type": "LineString", "coordinates": [[1, 2, 5], [3, 4, 6]]}"#, 2, true, Some([1.0, 3.0, 2.0, 4.0])),
            (
                r#"{"type": "Polygon", "coordinates": [[[0,0],[1,0],[1,1],[0,0]]]}"#,
                3,
                false,
                Some([0.0, 1.0, 0.0, 1.0]),
            ),
            ("0101000000000000000000F03F0000000000000040", kind::POINT, false, Some([1.0, 1.0, 2.0, 2.0])),
        ] {
            let (srid, found) = geometry(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!((srid, found.kind, found.has_z, found.envelope), (None, code, z, envelope), "{text}");
        }
        assert_eq!(geometry("SRID=25832;POINT(1 2)").unwrap().0, Some(25_832));
    }

    #[test]
    fn other_texts_are_refused() {
        for (text, why) in [
            ("", "no WKT"),
            ("POINT (1)", "no WKT"),
            ("POINT (1e400 2)", "a coordinate is too large"),
            ("LINESTRING Z (1 2 3, 1 2 -1e400)", "a coordinate is too large"),
            (r#"{"type": "Point", "coordinates": [1, 1e400]}"#, "no GeoJSON"),
            ("somewhere", "no WKT"),
            ("SRID=x;POINT (1 2)", "'x' is not a number"),
            ("SRID=4326", "no semicolon"),
            (r#"{"type": "Point"}"#, "no GeoJSON"),
            (r#"{"a": 1"#, "no GeoJSON"),
            // The reason was that a key is missing in GeoJSON, or that a type of WKT is.
            (r#"{"x":1.5,"y":2.5}"#, "a native encoding of GeoParquet or GeoArrow"),
            (r#"[{"x":1.5,"y":2.5}]"#, "a native encoding of GeoParquet or GeoArrow"),
            ("010100000000000000000", "odd number"),
        ] {
            let error = geometry(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
