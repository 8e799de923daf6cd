//! Maps: layers with their coordinate systems and extents, tiles at each zoom level, and what a file of tiles says of itself.

use super::names::is_like;
use super::{TableInference, has_last_word, plain};
use crate::generators::phrases;
use litepress_rows::schema::Table;

/// Words in the names of layers whose shapes are lines, and points.
const LINES: [&str; 10] =
    ["rail", "road", "river", "canal", "stream", "trail", "path", "pipeline", "contour", "tunnel"];
const POINTS: [&str; 7] = ["tree", "well", "hydrant", "stop", "school", "bridge", "elevation"];
/// Metres of a pixel if one tile of 256 pixels shows the world.
const METRES: &str = "156543.03392804097";
/// Zoom levels up to this one are complete before the next one begins.
pub(super) const LAST_LEVEL: u32 = 13;
const ABOUT_TILES: &str = "WHEN 'name' THEN 'World Basemap' WHEN 'format' THEN 'png' WHEN 'type' THEN 'baselayer' WHEN 'version' THEN '1.1' \
    WHEN 'bounds' THEN '-180.0,-85.0511,180.0,85.0511' WHEN 'center' THEN '10.0,30.0,2' WHEN 'minzoom' THEN '0' \
    WHEN 'attribution' THEN '(c) OpenStreetMap contributors' WHEN 'description' THEN 'Streets, buildings and land use' ELSE '{}'";

/// Returns whether a column is declared to hold shapes on a map.
pub(super) fn is_geometry(declared: &str) -> bool {
    const SHAPES: [&str; 4] = ["POINT", "LINESTRING", "POLYGON", "GEOMETRY"];
    let declared = shape(declared);
    SHAPES.contains(&declared.trim_start_matches("MULTI")) || declared == "GEOMETRYCOLLECTION"
}

/// Returns the shape that a column is declared to hold.
pub(super) fn shape(declared: &str) -> String {
    declared.split('(').next().unwrap_or_default().trim().to_ascii_uppercase()
}

/// Returns the key of a table of coordinate systems, and the number of well-known ones.
pub(super) fn coordinate_systems(table: &Table) -> Option<(usize, u64)> {
    let key = ["srs_id", "srid"].iter().find_map(|name| table.column(name))?;
    let has_text = table.columns.iter().any(|column| is_like(&plain(&column.name), "definition srtext"));
    (table.rowid_alias == Some(key) && has_text).then(|| (key, phrases::items("coordinate_system").len() as u64))
}

/// Returns a CASE over the levels of a map.
fn by_level(is: impl Fn(u32) -> String, value: impl Fn(u32) -> String) -> String {
    let cases: String = (0..LAST_LEVEL).map(|level| format!(" WHEN {} THEN {}", is(level), value(level))).collect();
    format!("CASE{cases} ELSE {} END", value(LAST_LEVEL))
}

/// Returns how many tiles there are at all levels before one.
fn tiles_before(level: u32) -> u64 {
    (4_u64.pow(level) - 1) / 3
}

impl TableInference<'_> {
    pub(super) fn maps(&mut self) {
        self.named_shapes();
        self.shapes();
        let has = |name: &str| self.context.schema.tables.iter().any(|table| table.column(name).is_some());
        let (has_tiles, has_layers) = (has("tile_column"), has("srs_id"));
        if has_tiles {
            self.tiles();
            self.about_tiles();
        }
        if has_layers {
            self.coordinate_systems();
            self.layers();
            self.columns_of_shapes();
            self.levels_of_layers();
        }
    }

    /// Names of things on a map, such as roads.
    fn named_shapes(&mut self) {
        let has_shape = self.columns.iter().any(|column| is_geometry(column.traits.declared));
        let Some(name) = self.find_repeatable_text("name").filter(|_| has_shape) else { return };
        let list =
            if has_last_word(self.table, "road street path") { "{street_name} {street_kind}" } else { "{street}" };
        if has_last_word(self.table, "road street path parcel building lot address") {
            self.set(name, format!("phrase('{list}')"), "the name of a place on a map");
        }
        if let Some(lanes) = self.find_repeatable_number("lanes") {
            self.set(lanes, "choice(1: 30, 2: 55, 3: 6, 4: 9)", "lanes of a road");
        }
    }

    /// Tiles: all of one level, before those of the next one.
    fn tiles(&mut self) {
        const NUMBER: &str = "(sequence() - 1)";
        for (name, text) in [("tile_id", "hex(32)"), ("grid_id", "'grid-' || sequence()")] {
            if let Some(at) = self.find(name, |at| self.is_text(at) && self.found[at].is_none()) {
                self.set(at, text, "the key of a picture");
            }
        }
        let find = |name: &str| self.find(name, |at| self.found[at].is_none() && self.is_number(at));
        let (Some(zoom), Some(column), Some(row)) = (find("zoom_level zoom"), find("tile_column"), find("tile_row"))
        else {
            return;
        };
        let is_before = |level| format!("{NUMBER} < {}", tiles_before(level + 1));
        self.set(zoom, by_level(is_before, |level| level.to_string()), "one level after another");
        let zoom = self.column(zoom);
        let is_level = |level| format!("{zoom} = {level}");
        let number = |level| format!("({NUMBER} - {})", tiles_before(level));
        let side = |level| 2_u64.pow(level);
        self.set(column, by_level(is_level, |level| format!("{} / {}", number(level), side(level))), "in order");
        self.set(row, by_level(is_level, |level| format!("{} % {}", number(level), side(level))), "in order");
    }

    /// Returns the number of tiles in all tables of the schema.
    fn tiles_of_map(&self) -> u64 {
        let tables = self.context.schema.tables.iter().zip(&self.context.rows_of);
        tables.filter(|(table, _)| table.column("tile_column").is_some()).map(|(_, rows)| rows).sum()
    }

    /// Properties of a file of tiles.
    fn about_tiles(&mut self) {
        let is_about = has_last_word(self.table, "metadata") && self.columns.len() == 2;
        let Some((name, value)) = self.find_text("name").zip(self.find_repeatable_text("value")) else { return };
        if is_about {
            self.set(name, "unique_phrase('{tile_key}')", "a property of a map");
            let name = self.column(name);
            let last = (0..LAST_LEVEL).find(|&level| tiles_before(level + 1) >= self.tiles_of_map());
            let last = last.unwrap_or(LAST_LEVEL);
            let text = format!("CASE {name} WHEN 'maxzoom' THEN '{last}' {ABOUT_TILES} END");
            self.set(value, text, "follows from the name");
        }
    }

    /// Coordinate systems: well-known ones of the register of EPSG, by their numbers there.
    fn coordinate_systems(&mut self) {
        let Some((key, count)) = coordinate_systems(self.table).filter(|_| self.context.rows > 0) else { return };
        let systems = || phrases::items("coordinate_system").iter().filter_map(|system| system.split_once(' '));
        // A key is a sum with the number of the row, which differs in all rows.
        let step = |(at, (number, _)): (usize, (&str, &str))| {
            let number: usize = number.parse().unwrap_or_default();
            format!("{}: 1, ", number.saturating_sub(at + 1))
        };
        let steps: String = systems().enumerate().map(step).collect();
        let text = format!("steps({steps}900000) + sequence()");
        self.found[key] = Some(super::inferred(text, "the number of a coordinate system"));
        let key = self.column(key);
        if let Some(name) = self.find_repeatable_text("srs_name ref_sys_name") {
            let names = systems().map(|(number, name)| format!(" WHEN {number} THEN '{name}'"));
            let names: String = names.collect();
            let text = format!("CASE {key}{names} ELSE 'Local grid ' || (sequence() - {count}) END");
            self.set(name, text, "the name of a coordinate system");
            let name = self.column(name);
            let by_unit = |plane: &str, globe: &str| format!("if(instr({name}, ' / ') > 0, '{plane}', '{globe}')");
            let kind = by_unit("PROJCS", "GEOGCS");
            let text = format!("{kind} || '[\"' || {name} || '\",AUTHORITY[\"EPSG\",\"' || {key} || '\"]]'");
            self.set_texts("definition srtext", &text);
            let unit = by_unit("metres", "degrees");
            self.set_texts("description", &format!("'Coordinates of ' || {name} || ', in ' || {unit}"));
        }
        self.set_texts("organization auth_name", "constant('EPSG')");
        if let Some(at) = self.find_repeatable_number("organization_coordsys_id auth_srid") {
            self.set(at, key, "follows from the key");
        }
    }

    pub(super) fn set_texts(&mut self, names: &str, text: &str) {
        if let Some(at) = self.find_repeatable_text(names) {
            self.set(at, text, "follows from what is on the map");
        }
    }

    /// Layers: their names, kinds and extents in degrees.
    fn layers(&mut self) {
        let is_layer = self.find("data_type", |_| true).is_some();
        if let Some(name) = self.find_text("table_name").filter(|_| is_layer) {
            self.set(name, "unique_phrase('{layer}', '_')", "the name of a layer");
        }
        if let Some(name) = self.find("table_name", |_| is_layer) {
            let is_catalogue = self.found[name].as_ref().is_some_and(|found| !found.text.contains("{layer}"));
            let name = self.column(name);
            if let Some(title) = self.find_text("identifier") {
                self.set(title, format!("replace({name}, '_', ' ')"), "follows from the name");
            }
            self.set_texts("data_type", "choice('features': 96, 'tiles': 4)");
            let city = if is_catalogue { "'Seattle'" } else { "phrase('{city_name}')" };
            let which = if is_catalogue { "'The '" } else { "'All '" };
            self.set_texts("description", &format!("{which} || replace({name}, '_', ' ') || ' of ' || {city}"));
        }
        let city = self.find("description", |at| self.found[at].is_some()).map(|at| self.column(at));
        for (least, most, field) in [("min_x", "max_x", "longitude"), ("min_y", "max_y", "latitude")] {
            let find = |name: &str| self.find(name, |at| self.is_number(at)).filter(|_| is_layer);
            let Some((least, most)) = find(least).zip(find(most)) else { continue };
            let place = city.as_ref().map(|of| format!("place_of(substr({of}, instr({of}, ' of ') + 4), '{field}')"));
            let place = place.unwrap_or_else(|| "real(-80, 80, 2)".to_owned());
            self.set(least, format!("round({place} - real(0.02, 0.4, 4), 4)"), "follows from what is on the map");
            let text = format!("round({} + real(0.42, 0.8, 4), 4)", self.column(least));
            self.set(most, text, "follows from the least");
        }
        if let Some(at) = self.find_repeatable_number("feature_count") {
            self.set(at, "lognormal(6, 1.6, min=1, max=900000, decimals=0)", "the size of a layer");
        }
    }

    /// Columns of shapes: their kinds, as the names of the layers say.
    fn columns_of_shapes(&mut self) {
        let name = self.table.column("table_name").map(|at| self.column(at));
        let Some((kind, name)) = self.find_repeatable_text("geometry_type_name").zip(name) else { return };
        let has = |words: &[&str]| {
            let places: Vec<String> = words.iter().map(|word| format!("instr({name}, '{word}')")).collect();
            format!("max({}) > 0", places.join(", "))
        };
        let (lines, points) = (has(&LINES), has(&POINTS));
        let other = "choice('POLYGON': 6, 'MULTIPOLYGON': 4)";
        let text = format!("CASE WHEN {lines} THEN 'LINESTRING' WHEN {points} THEN 'POINT' ELSE {other} END");
        self.set(kind, text, "follows from the name of the layer");
        self.set_texts("column_name", "constant('geom')");
        for name in ["z", "m"] {
            if let Some(at) = self.find_repeatable_number(name) {
                self.set(at, "choice(0: 90, 1: 5, 2: 5)", "whether shapes have it");
            }
        }
    }

    /// Levels of the tiles of a layer: each one is twice as wide as the one before.
    fn levels_of_layers(&mut self) {
        let by = self.context.per_parent.map(|by| self.column(by));
        let width = self.find_repeatable_number("matrix_width");
        let Some((by, width)) = by.zip(width) else { return };
        let is_level = |level| format!("number_in({by}) = {level}");
        self.set(width, by_level(is_level, |level| 2_u64.pow(level).to_string()), "follows from the level");
        let width = self.column(width);
        if let Some(at) = self.find_repeatable_number("pixel_x_size") {
            self.set(at, format!("{METRES} / {width}"), "follows from the width");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shape of a parcel was the number 734091, for SQLite takes a POINT for an integer.
    #[test]
    fn shapes_are_known_by_their_types() {
        for declared in ["POINT", "Polygon", "MULTILINESTRING", "GEOMETRYCOLLECTION", "geometry(Point, 4326)"] {
            assert!(is_geometry(declared), "{declared}");
        }
        assert!(!is_geometry("POINTS") && !is_geometry("INTEGER") && !is_geometry(""));
    }
}
