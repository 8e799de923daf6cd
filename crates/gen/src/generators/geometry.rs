//! Shapes near cities, in degrees: as WKB, with the header of a GeoPackage (clause 2.1.3 of its standard), as WKT or as GeoJSON.
#![expect(clippy::little_endian_bytes, reason = "well-known binary, which may have either order")]

use super::alias::AliasTable;
use super::{Arguments, Cardinality, Generator, InJson, Kinds, places, size};
use crate::random::{CellRandom, CellStream, Fraction, Rows};
use litepress_rows::{CellBlock, Result};
use std::io::Write;

/// Names of shapes in WKT and GeoJSON, with the code of WKB. A multiple shape has one part.
const SHAPES: [(&str, &str, u32); 7] = [
    ("POINT", "Point", 1),
    ("LINESTRING", "LineString", 2),
    ("POLYGON", "Polygon", 3),
    ("MULTIPOINT", "MultiPoint", 4),
    ("MULTILINESTRING", "MultiLineString", 5),
    ("MULTIPOLYGON", "MultiPolygon", 6),
    ("GEOMETRYCOLLECTION", "GeometryCollection", 7),
];
const POINT: u32 = 1;
const LINE: u32 = 2;
const POLYGON: u32 = 3;
const COLLECTION: u32 = 7;
const FORMS: [(&str, Form); 4] =
    [("wkb", Form::Wkb), ("gpkg", Form::GeoPackage), ("wkt", Form::Wkt), ("geojson", Form::GeoJson)];
/// The most points of a line; a polygon has five.
const MOST_POINTS: u64 = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Wkb,
    GeoPackage,
    Wkt,
    GeoJson,
}

/// `geometry(shape, form, srs, city)`
#[derive(Debug)]
struct Geometry {
    /// Its position among [`SHAPES`].
    shape: usize,
    form: Form,
    srs: i32,
    cities: Vec<[f64; 2]>,
    weights: AliasTable,
}

pub(super) fn geometry(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let (shape, form) = (arguments.text("shape")?, arguments.text("form")?);
    let Some(shape) = SHAPES.iter().position(|(name, ..)| name.eq_ignore_ascii_case(&shape)) else {
        let names = SHAPES.map(|(name, ..)| name.to_ascii_lowercase()).join(", ");
        return Err(arguments
            .error_at("shape", format!("there is no shape '{shape}'"))
            .advise(format!("there are {names}")));
    };
    let Some((_, form)) = FORMS.into_iter().find(|(name, _)| *name == form) else {
        let names = FORMS.map(|(name, _)| name).join(", ");
        return Err(arguments.error_at("form", format!("argument 'form' is one of {names}")));
    };
    let srs = i32::try_from(arguments.int_within("srs", 0, 999_999)?).unwrap_or_default();
    let city = arguments.is_given("city").then(|| arguments.text("city")).transpose()?;
    let Some((cities, weights)) = places::positions(city.as_deref()) else {
        return Err(arguments.error_at("city", format!("there is no city '{}'", city.unwrap_or_default())));
    };
    Ok(Box::new(Geometry { shape, form, srs, cities, weights }))
}

/// Writes the byte order and the code of a shape.
fn push_code(code: u32, out: &mut Vec<u8>) {
    out.push(1);
    out.extend_from_slice(&code.to_le_bytes());
}

impl Geometry {
    /// Returns the code of the shape, or of its part.
    fn code_of_part(&self) -> u32 {
        match SHAPES[self.shape].2 {
            COLLECTION => POINT,
            code if code > POLYGON => code - POLYGON,
            code => code,
        }
    }

    fn is_multiple(&self) -> bool {
        SHAPES[self.shape].2 > POLYGON
    }

    /// Draws the longitudes and latitudes of the points of a row: a building, a road, or one place.
    fn points(&self, stream: &mut CellStream) -> Vec<[f64; 2]> {
        let city = self.cities[size(u64::from(self.weights.pick(&mut Fraction(stream.u64()))))];
        let mut near = |[x, y]: [f64; 2], millionths: u64| {
            let mut move_by = |at: f64| {
                let by = stream.below(2 * millionths + 1) as f64 - millionths as f64;
                (at * 1e6 + by).round() / 1e6
            };
            [move_by(x), move_by(y)]
        };
        let first = near(city, 80_000);
        match self.code_of_part() {
            POINT => vec![first],
            LINE => {
                let mut points = vec![first];
                for _ in 0..2 + stream.below(MOST_POINTS - 2) - 1 {
                    let [x, y] = points[points.len() - 1];
                    let mut by = || (1.0 + stream.below(900) as f64) / 1e6;
                    points.push([(x + by()) * 1e6, (y + by()) * 1e6].map(|at| at.round() / 1e6));
                }
                points
            }
            _ => {
                let [x, y] = first;
                let mut side = || (100 + stream.below(900)) as f64 / 1e6;
                let [x_end, y_end] = [x + side(), y + side()].map(|at| (at * 1e6).round() / 1e6);
                vec![[x, y], [x_end, y], [x_end, y_end], [x, y_end], [x, y]]
            }
        }
    }

    fn push_binary(&self, points: &[[f64; 2]], out: &mut Vec<u8>) {
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes();
        if self.form == Form::GeoPackage {
            const LITTLE_ENDIAN: u8 = 1;
            const ENVELOPE: u8 = 1 << 1;
            let has_envelope = SHAPES[self.shape].2 != POINT;
            out.extend_from_slice(b"GP\0");
            out.push(if has_envelope { LITTLE_ENDIAN | ENVELOPE } else { LITTLE_ENDIAN });
            out.extend_from_slice(&self.srs.to_le_bytes());
            for axis in [0, 1].into_iter().filter(|_| has_envelope) {
                let along = || points.iter().map(|point| point[axis]);
                out.extend_from_slice(&along().fold(f64::INFINITY, f64::min).to_le_bytes());
                out.extend_from_slice(&along().fold(f64::NEG_INFINITY, f64::max).to_le_bytes());
            }
        }
        push_code(SHAPES[self.shape].2, out);
        if self.is_multiple() {
            out.extend_from_slice(&count(1));
            push_code(self.code_of_part(), out);
        }
        if self.code_of_part() == POLYGON {
            out.extend_from_slice(&count(1));
        }
        if self.code_of_part() != POINT {
            out.extend_from_slice(&count(points.len()));
        }
        points.iter().flatten().for_each(|at| out.extend_from_slice(&at.to_le_bytes()));
    }

    /// Writes the points between brackets, as deep as the shape needs them.
    fn push_points(&self, points: &[[f64; 2]], [open, close, between]: [&str; 3], out: &mut Vec<u8>) {
        let is_json = self.form == Form::GeoJson;
        let depth = usize::from(self.code_of_part() == POLYGON)
            + usize::from(self.is_multiple() && SHAPES[self.shape].2 != COLLECTION)
            + usize::from(!is_json || self.code_of_part() != POINT);
        out.extend_from_slice(open.repeat(depth).as_bytes());
        for (at, [x, y]) in points.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            let [begin, end] = if is_json { ["[", "]"] } else { ["", ""] };
            write!(out, "{comma}{begin}{x}{between}{y}{end}").expect("writing to memory does not fail");
        }
        out.extend_from_slice(close.repeat(depth).as_bytes());
    }

    fn push(&self, points: &[[f64; 2]], out: &mut Vec<u8>) {
        let (wkt, json, code) = SHAPES[self.shape];
        match self.form {
            Form::Wkb | Form::GeoPackage => self.push_binary(points, out),
            Form::Wkt => {
                let [before, after] = if code == COLLECTION { ["(POINT ", ")"] } else { ["", ""] };
                out.extend_from_slice(format!("{wkt} {before}").as_bytes());
                self.push_points(points, ["(", ")", " "], out);
                out.extend_from_slice(after.as_bytes());
            }
            Form::GeoJson => {
                let [before, after] = if code == COLLECTION {
                    ["\"geometries\":[{\"type\":\"Point\",\"coordinates\":", "}]}"]
                } else {
                    ["\"coordinates\":", "}"]
                };
                out.extend_from_slice(format!("{{\"type\":\"{json}\",{before}").as_bytes());
                self.push_points(points, ["[", "]", ","], out);
                out.extend_from_slice(after.as_bytes());
            }
        }
    }
}

impl Generator for Geometry {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let values = if self.kinds() == Kinds::BLOB { out.blobs() } else { out.texts() };
        rows.for_each(|row| {
            self.push(&self.points(&mut random.stream(row)), values.arena());
            values.end_string();
        });
    }

    fn kinds(&self) -> Kinds {
        if matches!(self.form, Form::Wkb | Form::GeoPackage) { Kinds::BLOB } else { Kinds::TEXT }
    }

    fn longest_bytes(&self) -> u64 {
        const HEADERS: u64 = 96;
        const POINT_BYTES: u64 = 32;
        HEADERS + MOST_POINTS * POINT_BYTES
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Among { values: u64::MAX }
    }

    fn in_json(&self) -> InJson {
        if self.form == Form::GeoJson { InJson::Json } else { InJson::Value }
    }
}
