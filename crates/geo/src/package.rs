//! The statements and rows of a GeoPackage.

use crate::Srs;

/// `GPKG`, as the file header's application id.
pub const APPLICATION_ID: u32 = 0x4750_4b47;
/// Version 1.4.0, as the file header's user version.
pub const USER_VERSION: u32 = 10_400;

/// The extension of spatial indexes.
pub const RTREE_EXTENSION: &str = "gpkg_rtree_index";
/// The document that defines it.
pub const RTREE_DEFINITION: &str = "http://www.geopackage.org/spec120/#extension_rtree";

/// The document that defines extensions of geometries, `gpkg_geom_` and a type.
pub const GEOMETRY_DEFINITION: &str = "http://www.geopackage.org/spec120/#extension_geometry_types";

/// The extension of reference systems in well-known text of the second version.
pub const CRS_EXTENSION: &str = "gpkg_crs_wkt";
/// The document that defines it.
pub const CRS_DEFINITION: &str = "http://www.geopackage.org/spec120/#extension_crs_wkt";
/// The column that it adds to `gpkg_spatial_ref_sys`.
pub const CRS_COLUMN: &str = "definition_12_063";

/// Returns the statements of the tables that describe the others. `has_second_wkt` adds [`CRS_COLUMN`].
#[must_use]
pub fn tables(has_second_wkt: bool) -> String {
    let more = if has_second_wkt { format!(", {CRS_COLUMN} TEXT NOT NULL") } else { String::new() };
    format!("{SYSTEMS}{more});\n{OTHER_TABLES}")
}

const SYSTEMS: &str = r"CREATE TABLE gpkg_spatial_ref_sys (
  srs_name TEXT NOT NULL, srs_id INTEGER NOT NULL PRIMARY KEY, organization TEXT NOT NULL,
  organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT";

/// `gpkg_ogr_contents` is GDAL's, for the number of features.
const OTHER_TABLES: &str = r"CREATE TABLE gpkg_contents (
  table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, identifier TEXT UNIQUE, description TEXT DEFAULT '',
  last_change DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
  min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, srs_id INTEGER,
  CONSTRAINT fk_gc_r_srs_id FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys(srs_id));
CREATE TABLE gpkg_geometry_columns (
  table_name TEXT NOT NULL, column_name TEXT NOT NULL, geometry_type_name TEXT NOT NULL, srs_id INTEGER NOT NULL,
  z TINYINT NOT NULL, m TINYINT NOT NULL,
  CONSTRAINT pk_geom_cols PRIMARY KEY (table_name, column_name), CONSTRAINT uk_gc_table_name UNIQUE (table_name),
  CONSTRAINT fk_gc_tn FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_name),
  CONSTRAINT fk_gc_srs FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys (srs_id));
CREATE TABLE gpkg_extensions (
  table_name TEXT, column_name TEXT, extension_name TEXT NOT NULL, definition TEXT NOT NULL, scope TEXT NOT NULL,
  CONSTRAINT ge_tce UNIQUE (table_name, column_name, extension_name));
CREATE TABLE gpkg_ogr_contents (table_name TEXT NOT NULL PRIMARY KEY, feature_count INTEGER DEFAULT NULL);
";

/// Names of the tables of [`tables`], in their order.
pub const TABLE_NAMES: [&str; 5] =
    ["gpkg_spatial_ref_sys", "gpkg_contents", "gpkg_geometry_columns", "gpkg_extensions", "gpkg_ogr_contents"];

/// A table of features.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Name of the table.
    pub table: String,
    /// Name of its INTEGER PRIMARY KEY.
    pub key: String,
    /// Name of its column of geometries.
    pub geometry: String,
    /// The reference system of the coordinates.
    pub srs: Srs,
}

impl Layer {
    /// Returns the name of the R-Tree.
    #[must_use]
    pub fn rtree(&self) -> String {
        format!("rtree_{}_{}", self.table, self.geometry)
    }

    /// Returns the statement of the R-Tree.
    #[must_use]
    pub fn create_rtree(&self) -> String {
        format!("CREATE VIRTUAL TABLE {} USING rtree(id, minx, maxx, miny, maxy);\n", quoted(&self.rtree()))
    }

    /// Returns the triggers that keep the R-Tree (annex F.3 of version 1.4) and GDAL's number of features.
    #[must_use]
    pub fn create_triggers(&self) -> String {
        let (table, rtree, name) = (quoted(&self.table), quoted(&self.rtree()), self.rtree());
        let (key, geometry) = (quoted(&self.key), quoted(&self.geometry));
        let bounds = format!(
            "ST_MinX(NEW.{geometry}), ST_MaxX(NEW.{geometry}), ST_MinY(NEW.{geometry}), ST_MaxY(NEW.{geometry})"
        );
        let (is_new, is_old) = (filled("NEW", &geometry), filled("OLD", &geometry));
        let (no_new, no_old) = (empty("NEW", &geometry), empty("OLD", &geometry));
        let insert = format!("INSERT OR REPLACE INTO {rtree} VALUES (NEW.{key}, {bounds});");
        let delete = format!("DELETE FROM {rtree} WHERE id = OLD.{key};");
        let update = format!(
            "UPDATE {rtree} SET minx = ST_MinX(NEW.{geometry}), maxx = ST_MaxX(NEW.{geometry}), \
             miny = ST_MinY(NEW.{geometry}), maxy = ST_MaxY(NEW.{geometry}) WHERE id = NEW.{key};"
        );
        let (same, other) = (format!("OLD.{key} = NEW.{key}"), format!("OLD.{key} != NEW.{key}"));
        let of_column = format!("AFTER UPDATE OF {geometry}");
        let both = format!("DELETE FROM {rtree} WHERE id IN (OLD.{key}, NEW.{key});");
        let plain = format!("INSERT INTO {rtree} VALUES (NEW.{key}, {bounds});");
        let count = |sign| {
            let layer = literal(&self.table);
            format!(
                "UPDATE gpkg_ogr_contents SET feature_count = feature_count {sign} 1 WHERE lower(table_name) = lower({layer});"
            )
        };
        [
            (format!("{name}_insert"), "AFTER INSERT", is_new.clone(), insert.clone()),
            (format!("{name}_update2"), &of_column, format!("{same} AND {no_new}"), delete.clone()),
            (format!("{name}_update4"), "AFTER UPDATE", format!("{other} AND {no_new}"), both),
            (format!("{name}_update5"), "AFTER UPDATE", format!("{other} AND {is_new}"), format!("{delete} {insert}")),
            (format!("{name}_update6"), &of_column, format!("{same} AND {is_new} AND {is_old}"), update),
            (format!("{name}_update7"), &of_column, format!("{same} AND {is_new} AND {no_old}"), plain),
            (format!("{name}_delete"), "AFTER DELETE", format!("OLD.{geometry} NOT NULL"), delete),
            (format!("trigger_insert_feature_count_{}", self.table), "AFTER INSERT", "1".to_owned(), count('+')),
            (format!("trigger_delete_feature_count_{}", self.table), "AFTER DELETE", "1".to_owned(), count('-')),
        ]
        .map(|(trigger, event, condition, body)| {
            let when = if condition == "1" { String::new() } else { format!(" WHEN {condition}") };
            format!("CREATE TRIGGER {} {event} ON {table}{when} BEGIN {body} END;\n", quoted(&trigger))
        })
        .concat()
    }
}

fn filled(row: &str, geometry: &str) -> String {
    format!("({row}.{geometry} NOTNULL AND NOT ST_IsEmpty({row}.{geometry}))")
}

fn empty(row: &str, geometry: &str) -> String {
    format!("({row}.{geometry} ISNULL OR ST_IsEmpty({row}.{geometry}))")
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted() {
        let layer =
            Layer { table: "a'b".to_owned(), key: "fid".to_owned(), geometry: "ge\"om".to_owned(), srs: Srs::WGS_84 };
        let triggers = layer.create_triggers();
        assert_eq!(triggers.matches("CREATE TRIGGER").count(), 9);
        assert!(triggers.contains("ON \"a'b\" WHEN (NEW.\"ge\"\"om\" NOTNULL") && triggers.contains("lower('a''b')"));
        assert_eq!(
            layer.create_rtree(),
            "CREATE VIRTUAL TABLE \"rtree_a'b_ge\"\"om\" USING rtree(id, minx, maxx, miny, maxy);\n"
        );
    }
}
