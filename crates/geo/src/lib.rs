//! Geometries as GeoPackage stores them, and the tables of a GeoPackage (OGC 12-128r19, version 1.4).
//!
//! ```text
//! WKB, EWKB --wkb------------------------> ISO WKB, box --blob--> GeoPackageBinary
//! WKT, EWKT, GeoJSON, hex --text--> WKB ---^
//! ```
//!
//! | module | what it is |
//! |---|---|
//! | [`wkb`] | well-known binary: walked once, for its box, its kind and the ISO form |
//! | [`text`] | texts: WKT by `wkt`, a small parser; GeoJSON by `geozero`; hexadecimal digits |
//! | [`flatgeobuf`] | files of FlatGeobuf: header and features |
//! | [`blob`] | GeoPackageBinary: header, envelope, WKB |
//! | [`srs`], [`crs`] | spatial reference systems, by number and as files define them; `projjson`: PROJJSON becomes WKT |
//! | [`package`] | the statements and rows of a GeoPackage |

#![forbid(unsafe_code)]

pub mod blob;
pub mod crs;
mod error;
pub mod flatgeobuf;
pub mod package;
mod projjson;
pub mod srs;
pub mod text;
pub mod wkb;
mod wkt;

pub use blob::{Given, Stored, append_blob};
pub use crs::{Crs, Definition};
pub use error::GeometryError;
pub use srs::Srs;
