//! Catalogues: tables with a row for each of the schema's own tables, such as the layers of a map and the models of a framework.

use super::maps::{self, LAST_LEVEL};
use super::{TableInference, branches, has_last_word, is_person, literal, plain, refers, words_of_table};
use super::{photographs, smart_home};
use crate::generators::phrases::{self, capital};
use litepress_rows::schema::{Schema, Table};

/// Layers of pictures, which are beside those with shapes.
const TILES: [&str; 2] = ["basemap", "aerial_photographs"];
/// Models of the framework itself, which people do not change by hand.
pub(super) const OF_FRAMEWORK: [(&str, &str); 4] =
    [("logentry", "admin"), ("permission", "auth"), ("contenttype", "contenttypes"), ("session", "sessions")];

/// A model of a framework.
pub(super) struct Model {
    pub app: String,
    pub name: String,
    /// The position of the table with its rows.
    pub table: usize,
}

fn has(table: &Table, name: &str) -> bool {
    table.column(name).is_some()
}

/// Returns the tables with shapes and, of each, its column of shapes.
fn layers(schema: &Schema) -> impl Iterator<Item = (&Table, usize)> {
    let shapes = |table: &Table| table.columns.iter().position(|column| maps::is_geometry(&column.declared_type));
    schema.tables.iter().filter_map(move |table| Some((table, shapes(table)?)))
}

/// Returns whether a table lists the entities of Core Data.
fn lists_entities(table: &Table) -> bool {
    has(table, "Z_NAME") && has(table, "Z_MAX")
}

/// Returns the tables of entities of Core Data, by position.
fn entities(schema: &Schema) -> impl Iterator<Item = (usize, &Table)> {
    schema.tables.iter().enumerate().filter(|(_, table)| has(table, "Z_PK") && has(table, "Z_ENT"))
}

/// Returns the name of an entity: `AdditionalAssetAttributes` for `ZADDITIONALASSETATTRIBUTES`.
fn name_of_entity(schema: &Schema, table: &Table) -> String {
    const WORDS: [&str; 3] = ["additional", "attributes", "generic"];
    let lower = |table: &Table| table.name.trim_start_matches('Z').to_lowercase();
    let words: Vec<String> = entities(schema).map(|(_, of)| lower(of)).chain(WORDS.map(str::to_owned)).collect();
    let (mut name, whole) = (String::new(), lower(table));
    let mut rest = whole.as_str();
    while !rest.is_empty() {
        let first = words.iter().filter(|word| **word != whole && rest.starts_with(word.as_str())).map(String::len);
        let (word, others) = rest.split_at(first.max().unwrap_or(rest.len()));
        name += &capital(word);
        rest = others;
    }
    name
}

/// Returns whether a schema has tables with shapes.
pub(super) fn has_layers(schema: &Schema) -> bool {
    layers(schema).next().is_some()
}

/// Returns the number of layers of pictures: none if no table has the levels of their tiles.
fn layers_of_tiles(schema: &Schema) -> usize {
    if schema.tables.iter().any(|table| has(table, "matrix_width")) { TILES.len() } else { 0 }
}

/// Returns whether a table lists models by their applications.
fn lists_models(table: &Table) -> bool {
    has(table, "app_label") && has(table, "model")
}

/// Returns the models whose tables a schema has, if a table lists models: `shop_order` is the order of a shop.
pub(super) fn models(schema: &Schema) -> Vec<Model> {
    let Some(list) = schema.tables.iter().find(|table| lists_models(table)) else { return Vec::new() };
    let own = plain(&list.name).split('_').next().unwrap_or_default().to_owned();
    let model = |(position, table): (usize, &Table)| {
        let name = plain(&table.name);
        let (app, model) = name.split_once('_').filter(|(app, _)| *app != own)?;
        // A table of pairs is part of a model.
        let values = (0..table.columns.len()).filter(|&at| table.rowid_alias != Some(at) && !refers(schema, table, at));
        let name = model.replace('_', "");
        let is_model = values.count() > 0 && OF_FRAMEWORK.iter().all(|(other, _)| *other != name);
        is_model.then(|| Model { app: app.to_owned(), name, table: position })
    };
    let mut models: Vec<Model> = schema.tables.iter().enumerate().filter_map(model).collect();
    // People find rows by their numbers.
    models.sort_by_key(|model| schema.tables[model.table].rowid_alias.is_none());
    models
}

/// Returns the applications of the models whose tables a schema has, but those of the framework.
pub(super) fn applications(schema: &Schema) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let models = models(schema);
    let own = models.iter().map(|model| model.app.as_str());
    for app in own.filter(|app| OF_FRAMEWORK.iter().all(|(_, other)| other != app)) {
        if !found.iter().any(|known| known == app) {
            found.push(app.to_owned());
        }
    }
    found
}

/// Returns the column of a catalogue that names its rows, and the number of rows.
pub(super) fn rows_of_catalogue(schema: &Schema, table: &Table) -> Option<(usize, u64)> {
    if let Some(found) = maps::coordinate_systems(table) {
        return Some(found);
    }
    if photographs::are_roots(schema, table) {
        return Some((0, photographs::MOST_ROOTS));
    }
    if smart_home::lists_events(schema, table) {
        return Some((table.column("event_type")?, phrases::count("house_event")));
    }
    // The tables of the schema are counted for catalogues alone.
    let shapes = || Some(layers(schema).count()).filter(|&layers| layers > 0);
    if let Some((name, layers)) = table.column("table_name").and_then(|name| Some((name, shapes()?))) {
        let count = match () {
            () if has(table, "data_type") => layers + layers_of_tiles(schema),
            () if has(table, "geometry_type_name") || has(table, "feature_count") => layers,
            () if has(table, "matrix_width") => TILES.len() * LAST_LEVEL as usize,
            () => return None,
        };
        return Some((name, count as u64));
    }
    let models = if lists_models(table) { models(schema).len() } else { 0 };
    let (column, count) = match models {
        1.. => (table.column("model")?, models + OF_FRAMEWORK.len()),
        0 if lists_entities(table) => (table.column("Z_NAME")?, entities(schema).count().max(1)),
        0 => return None,
    };
    Some((column, count as u64))
}

/// Returns how many first rows of a table of layers have shapes, if another table has the tiles of the others.
pub(crate) fn layers_without_tiles(schema: &Schema, table: &Table, layers_of: &Table, rows: u64) -> u64 {
    let shapes = layers(schema).count() as u64;
    if has(table, "matrix_width") && has(layers_of, "data_type") && shapes < rows { shapes } else { 0 }
}

/// Returns whether the rows of a table tell what the staff changed.
pub(super) fn is_admin_log(table: &Table) -> bool {
    has_last_word(table, "log") && words_of_table(&table.name).iter().any(|word| word == "admin")
}

/// Returns how many first rows of another table the rows of a table refer to, if few stand for all: the staff and their models, the coordinate
/// system of a map in degrees, and the frequent events of a house.
pub(crate) fn first_often(schema: &Schema, table: usize, parent: usize, rows: u64) -> Option<u64> {
    /// Users for each one of the staff.
    const USERS: u64 = 100;
    const MOST: u64 = 30;
    let (of_table, of_parent) = (&schema.tables[table], &schema.tables[parent]);
    let is_log = is_admin_log(of_table);
    match () {
        () if is_log && is_person(of_parent) => Some((rows / USERS).clamp(1, MOST)),
        () if is_log && lists_models(of_parent) => {
            let is_numbered = |model: &&Model| schema.tables[model.table].rowid_alias.is_some();
            let models = models(schema).iter().filter(is_numbered).count() as u64;
            (models > 0).then_some(models)
        }
        () if smart_home::lists_events(schema, of_parent) => Some(rows),
        () if has(of_table, "min_x") && maps::coordinate_systems(of_parent).is_some() => Some(1),
        () => None,
    }
}

impl TableInference<'_> {
    /// Infers the rows of a catalogue.
    pub(super) fn catalogues(&mut self) {
        let found = rows_of_catalogue(self.context.schema, self.table);
        if found.is_some_and(|(_, rows)| self.context.rows <= rows) {
            self.list_of_events();
            self.list_of_models();
            self.list_of_entities();
            self.list_of_layers();
        }
    }

    fn list_of_events(&mut self) {
        let is_list = smart_home::lists_events(self.context.schema, self.table);
        if let Some(at) = self.find_text("event_type").filter(|_| is_list) {
            self.set(at, nth(phrases::items("house_event").iter().copied()), "frequent events come first");
        }
    }

    fn list_of_models(&mut self) {
        let pair = self.find_text("app_label").zip(self.find_text("model"));
        let Some((app, model)) = pair.filter(|_| lists_models(self.table)) else { return };
        let models = models(self.context.schema);
        let pairs = models.iter().map(|of| (of.name.as_str(), of.app.as_str())).chain(OF_FRAMEWORK);
        let pairs: Vec<(&str, &str)> = pairs.collect();
        self.set(model, nth(pairs.iter().map(|(name, _)| *name)), "a model of the schema");
        self.set(app, nth(pairs.iter().map(|(_, app)| *app)), "the application of the model");
    }

    fn list_of_entities(&mut self) {
        let schema = self.context.schema;
        let key = self.table.column("Z_ENT").filter(|&at| self.table.rowid_alias == Some(at));
        let Some((key, name)) = key.zip(self.find_text("name")).filter(|_| lists_entities(self.table)) else { return };
        let names: Vec<String> = entities(schema).map(|(_, table)| name_of_entity(schema, table)).collect();
        self.set(name, nth(names.iter().map(String::as_str)), "a table of the schema");
        let steps: Vec<String> =
            entities(schema).enumerate().map(|(at, (table, _))| format!("{}: 1", table - at)).collect();
        let text = format!("steps({}, 0) + sequence()", steps.join(", "));
        self.found[key] = Some(super::inferred(text, "the number of the table"));
        let rows = entities(schema).map(|(table, _)| self.context.rows_in(table));
        let text = format!("CASE sequence(){} END", branches(1, rows));
        if let Some(at) = self.find_repeatable_number("max") {
            self.set(at, text, "the rows of the table");
        }
    }

    fn list_of_layers(&mut self) {
        let schema = self.context.schema;
        let count = layers(schema).count();
        let Some(name) = self.table.column("table_name").filter(|_| count > 0) else { return };
        if has(self.table, "data_type") && self.is_free(name) {
            let names = layers(schema).map(|(table, _)| table.name.as_str()).chain(TILES);
            self.set(name, nth(names), "a table of the schema, or a layer of tiles");
            let text = format!("if(sequence() > {count}, 'tiles', 'features')");
            self.set_texts("data_type", &text);
        }
        let of = self.column(name);
        let by_layer = |value: &dyn Fn(&Table, usize) -> String| {
            let case = |(table, column): (&Table, usize)| {
                format!(" WHEN {} THEN {}", literal(&table.name), value(table, column))
            };
            let cases: String = layers(schema).map(case).collect();
            format!("CASE {of}{cases} END")
        };
        let texts = [
            ("column_name", by_layer(&|table, column| literal(&table.columns[column].name))),
            (
                "geometry_type_name",
                by_layer(&|table, column| literal(&maps::shape(&table.columns[column].declared_type))),
            ),
        ];
        for (names, text) in texts {
            self.set_texts(names, &text);
        }
        for name in ["z", "m"] {
            if let Some(at) = self.find_repeatable_number(name).filter(|_| has(self.table, "geometry_type_name")) {
                self.set(at, "constant(0)", "shapes have neither heights nor measures");
            }
        }
        let rows = |table: &Table| schema.position(&table.name).map_or(0, |table| self.context.rows_in(table));
        let text = by_layer(&|table, _| rows(table).to_string());
        if let Some(at) = self.find_repeatable_number("feature_count") {
            self.set(at, text, "the rows of the table");
        }
    }
}

/// Returns an annotation with one text after another.
fn nth<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    format!("CASE sequence(){} END", branches(1, texts.map(literal)))
}
