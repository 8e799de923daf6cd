//! Shapes on a map, in the form that the schema wants: with the header of a GeoPackage in one, or else as WKB, WKT or GeoJSON.

use super::maps::is_geometry;
use super::names::is_like;
use super::{TableInference, TypeClass};

impl TableInference<'_> {
    /// Infers columns that hold shapes, by their declared types and names.
    pub(super) fn shapes(&mut self) {
        const SHAPES: &str = "geom geometry the_geom shape wkb_geometry *_geom *_geometry wkb *_wkb";
        const TEXTS: [(&str, &str); 3] = [
            ("geojson *_geojson", "geojson"),
            ("wkt *_wkt", "wkt"),
            ("geom geometry the_geom *_geom *_geometry", "wkt"),
        ];
        let is_package =
            self.context.schema.tables.iter().any(|table| table.name.eq_ignore_ascii_case("gpkg_contents"));
        let binary = if is_package { "gpkg" } else { "wkb" };
        for at in 0..self.columns.len() {
            let (name, traits) = (self.columns[at].plain.as_str(), &self.columns[at].traits);
            let is_shape = is_geometry(traits.declared);
            let is_short = traits.longest.is_some_and(|longest| longest < 200);
            let of_text = || TEXTS.iter().find(|(names, _)| is_like(name, names)).map(|(_, form)| *form);
            let form = match traits.class {
                TypeClass::Blob if is_shape || is_like(name, SHAPES) => Some(binary),
                TypeClass::Text if !is_short => of_text(),
                TypeClass::Numeric if traits.declared.to_ascii_uppercase().starts_with("JSON") => {
                    of_text().filter(|form| *form == "geojson")
                }
                _ => None,
            };
            let Some(form) = form.filter(|_| self.is_free(at) && !self.columns[at].is_unique) else { continue };
            let text = format!("geometry('{}', '{form}')", shape_of(if is_shape { traits.declared } else { "" }));
            self.set(at, text, "a shape near a city");
        }
    }
}

/// Returns the shape that a declared type names: a point if it names none.
fn shape_of(declared: &str) -> String {
    let declared = declared.to_ascii_lowercase();
    let words = declared.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    // `geometry(Polygon, 4326)`
    let shape = words.rev().find(|word| *word != "geometry" && is_geometry(word));
    shape.unwrap_or("point").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_types_name_shapes() {
        for (declared, shape) in [
            ("POLYGON", "polygon"),
            ("GEOMETRY", "point"),
            ("geometry(MultiPolygon, 4326)", "multipolygon"),
            ("", "point"),
        ] {
            assert_eq!(shape_of(declared), shape, "{declared}");
        }
    }
}
