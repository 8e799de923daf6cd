//! Refuses to replace tables of a GeoPackage that its other tables describe.
//!
//! `gpkg_contents` lists the layers with their extents, and triggers keep R-Trees and numbers of features up to date. A table that takes
//! the place of another one leaves all that as it was: programs see a layer that is gone, or none.

use crate::sqlite::{Database, Table};
use litepress_rows::{Error, ErrorKind, OptionName, Result, message};
use std::sync::Arc;

/// Tables of a GeoPackage that list others.
const LISTS: [&str; 2] = ["gpkg_contents", "gpkg_geometry_columns"];

/// The column of their names.
const LISTED: &str = "table_name";

/// Fails if one of the tables to be replaced belongs to a GeoPackage.
pub(super) fn refuse_layers(database: &Database, replaced: &[Arc<Table>]) -> Result<()> {
    let mut listed: Vec<String> = Vec::new();
    for list in
        LISTS.iter().filter_map(|list| database.tables().iter().find(|table| table.name.eq_ignore_ascii_case(list)))
    {
        if list.fields.iter().any(|field| field.name.eq_ignore_ascii_case(LISTED)) {
            listed.extend(database.texts(&list.name, LISTED)?);
        }
    }
    for Table { name, .. } in replaced.iter().map(|table| &**table) {
        let why = if name.get(..5).is_some_and(|prefix| prefix.eq_ignore_ascii_case("gpkg_")) {
            format!(
                "{name} describes the tables of a GeoPackage, and those that it lacks then would be lost to programs"
            )
        } else if listed.iter().any(|layer| layer.eq_ignore_ascii_case(name)) {
            format!(
                "{name} is a layer of a GeoPackage, whose other tables have its extent, its boxes and its number of rows"
            )
        } else {
            continue;
        };
        let replace = OptionName::ReplaceTables.alone().given();
        let error = Error::new(ErrorKind::Unsupported, message![replace, format!(": {why}")]);
        return Err(error.in_file(database.name()).advise(message![
            "make a new file; or replace the layer with a GIS program; or, if it has no geometries, add rows with ",
            OptionName::Append.alone(),
            ", and ",
            OptionName::Truncate.alone(),
            " if the old ones are not wanted"
        ]));
    }
    Ok(())
}
