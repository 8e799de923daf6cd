//! Spatial reference systems: which one coordinates are in.

use crate::GeometryError;
use serde_json::Value;
use std::fmt;

/// The definition of WGS 84, which every GeoPackage has.
const WGS_84: &str = "GEOGCS[\"WGS 84\",DATUM[\"WGS_1984\",SPHEROID[\"WGS 84\",6378137,298.257223563,AUTHORITY[\"EPSG\",\"7030\"]],AUTHORITY[\"EPSG\",\"6326\"]],PRIMEM[\"Greenwich\",0,AUTHORITY[\"EPSG\",\"8901\"]],UNIT[\"degree\",0.0174532925199433,AUTHORITY[\"EPSG\",\"9122\"]],AXIS[\"Latitude\",NORTH],AXIS[\"Longitude\",EAST],AUTHORITY[\"EPSG\",\"4326\"]]";

/// The number of the first system that no register has. GDAL's is the same.
const FIRST_OWN: i32 = 100_000;

/// A spatial reference system, by its number in the EPSG register or in the GeoPackage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Srs(i32);

impl Srs {
    /// Longitude and latitude of WGS 84, as GPS and GeoJSON have them.
    pub const WGS_84: Self = Self(4326);
    /// Unknown, in a plane.
    pub const UNKNOWN: Self = Self(-1);

    /// Returns the system of a number of the EPSG register.
    #[must_use]
    pub const fn epsg(code: i32) -> Self {
        Self(code)
    }

    /// Returns the system of a number in the GeoPackage.
    #[must_use]
    pub const fn with_id(id: i32) -> Self {
        Self(id)
    }

    /// Returns a system that the GeoPackage alone defines: the one at this position among them.
    #[must_use]
    pub fn own(position: usize) -> Self {
        Self(i32::try_from(position).map_or(i32::MAX, |position| FIRST_OWN.saturating_add(position)))
    }

    /// Returns whether the system has a number of the EPSG register.
    #[must_use]
    pub const fn has_number(self) -> bool {
        self.0 > 0 && self.0 < FIRST_OWN
    }

    /// Returns the system's number in the GeoPackage.
    #[must_use]
    pub const fn id(self) -> i32 {
        self.0
    }

    /// Reads `EPSG:25832`, `25832`, `OGC:CRS84` or `urn:ogc:def:crs:EPSG::25832`.
    ///
    /// # Errors
    /// If the text names no system of the EPSG register.
    pub fn parse(text: &str) -> Result<Self, GeometryError> {
        let name = text.trim().to_ascii_uppercase();
        if name == "OGC:CRS84" || name.ends_with(":CRS84") {
            return Ok(Self::WGS_84);
        }
        let is_epsg = name.starts_with("EPSG:") || name.starts_with("URN:OGC:DEF:CRS:EPSG:");
        let code = if is_epsg { name.rsplit(':').next().unwrap_or_default() } else { &name };
        match code.parse() {
            Ok(code) if Self(code).has_number() => Ok(Self(code)),
            _ => Err(GeometryError::new(format!("'{text}' names no coordinate reference system: say EPSG:25832"))),
        }
    }

    /// Returns the system that the `id` of PROJJSON names. Returns `None` if it is not of the EPSG register.
    pub(crate) fn of_json(crs: &Value) -> Option<Self> {
        let id = crs.get("id")?;
        let (authority, code) = (id.get("authority")?.as_str()?, id.get("code")?);
        let code = code.as_str().map_or_else(|| code.to_string(), str::to_owned);
        Self::parse(&format!("{authority}:{code}")).ok()
    }

    /// Returns the system's row of `gpkg_spatial_ref_sys`: name, organization, number there, definition, description.
    #[must_use]
    pub fn row(self) -> (String, &'static str, i32, &'static str, &'static str) {
        match self.0 {
            -1 => (
                "Undefined Cartesian SRS".to_owned(),
                "NONE",
                -1,
                "undefined",
                "undefined Cartesian coordinate reference system",
            ),
            0 => (
                "Undefined geographic SRS".to_owned(),
                "NONE",
                0,
                "undefined",
                "undefined geographic coordinate reference system",
            ),
            4326 => {
                let description = "longitude/latitude coordinates in decimal degrees on the WGS 84 spheroid";
                ("WGS 84 geodetic".to_owned(), "EPSG", 4326, WGS_84, description)
            }
            FIRST_OWN.. => ("Own system".to_owned(), "NONE", self.0, "undefined", ""),
            // Readers know the register.
            code => (format!("EPSG:{code}"), "EPSG", code, "undefined", ""),
        }
    }
}

impl fmt::Display for Srs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            -1 | 0 => f.write_str("undefined"),
            FIRST_OWN.. => f.write_str("a system without number"),
            code => write!(f, "EPSG:{code}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn systems_have_many_names() {
        for name in ["EPSG:25832", "epsg:25832", "25832", "urn:ogc:def:crs:EPSG::25832"] {
            assert_eq!(Srs::parse(name), Ok(Srs::epsg(25_832)), "{name}");
        }
        assert_eq!(Srs::parse("urn:ogc:def:crs:OGC:1.3:CRS84"), Ok(Srs::WGS_84));
        assert!(Srs::parse("Gauss").unwrap_err().to_string().contains("'Gauss'"));
        assert!(Srs::parse("-4").is_err() && Srs::parse("ESRI:102100").is_err() && Srs::parse("EPSG:102100").is_err());
        assert_eq!((Srs::own(0).id(), Srs::own(2).id(), Srs::own(0).has_number()), (100_000, 100_002, false));
        assert_eq!(
            Srs::of_json(&json!({"type": "GeographicCRS", "id": {"authority": "EPSG", "code": 3857}})),
            Some(Srs::epsg(3857))
        );
        assert_eq!(Srs::of_json(&json!({"id": {"authority": "OGC", "code": "CRS84"}})), Some(Srs::WGS_84));
        assert_eq!(Srs::of_json(&json!({"type": "GeographicCRS"})), None);
    }
}
