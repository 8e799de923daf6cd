//! The layer that a planned table becomes.

use super::geojson;
use crate::{Error, ErrorKind, Result};
use litepress_geo::package::Layer;
use litepress_geo::wkb::kind::Kinds;
use litepress_geo::{Crs, Srs};
use litepress_load::infer::InferredColumn;
use litepress_load::plan::{LoadPlan, PlannedFile, PlannedTable};
use litepress_rows::schema::IndexOrigin;
use litepress_rows::sync::{Mutex, lock};
use litepress_rows::{OptionName, Table, message, quoted_name};

/// Names of the key of a layer that has none, in the order of preference. The first is GDAL's.
const KEYS: [&str; 3] = ["fid", "ogc_fid", "gpkg_fid"];

/// The column of geometries that are made of two others.
const MADE_GEOMETRY: &str = "geom";

/// The layer that a planned table becomes.
pub(super) struct PlannedLayer {
    /// Position of the planned table in the schema of the files.
    pub table_of_files: usize,
    pub layer: Layer,
    /// The reference system as the files define it.
    pub crs: Crs,
    /// The short name of the system that the files state, if the user gave another one.
    pub stated: Option<String>,
    /// Names of the columns, in the order of the layer's table.
    names: Vec<String>,
    /// The definitions of the table's columns but for that of the geometries, and of its keys.
    definitions: Vec<String>,
    /// The origin of each column, in the order of the layer's table.
    pub columns: Vec<LayerColumn>,
    /// The origin of the geometries.
    pub geometry: GeometryOrigin,
    /// The layer has a key that the files lack.
    pub has_own_key: bool,
    pub create_indexes: String,
    /// The types of the geometries of the last run.
    pub kinds: Mutex<Kinds>,
}

/// The origin of the values of a column of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LayerColumn {
    /// The key that the files lack.
    Key,
    Geometry,
    /// A column of the table of the files.
    Field(usize),
}

/// The origin of geometries: columns of the table of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GeometryOrigin {
    /// WKB, WKT or GeoJSON.
    Value(usize),
    Position {
        x: usize,
        y: usize,
    },
    /// A GeoJSON object whose keys became columns. `whole` has the values that are no objects.
    Flattened {
        kind: usize,
        coordinates: Option<usize>,
        geometries: Option<usize>,
        whole: Option<usize>,
    },
}

impl PlannedLayer {
    /// Plans the layer of a table.
    pub fn new(plan: &LoadPlan, planned: &PlannedTable, geometry: &str, srs: Option<Srs>) -> Result<Self> {
        let are_features = plan.are_features();
        let table = &plan.schema.tables[planned.table];
        if plan.is_copied(planned) {
            let message = message![
                format!("the table {} is copied from a database as it is, and ", table.name),
                OptionName::Geometry.alone().given(),
                " is for other files"
            ];
            return Err(Error::new(ErrorKind::Unsupported, message)
                .advise("leave it out: layers are copied with their R-Trees"));
        }
        let (name, origin) = find_geometry(table, geometry)?;
        let is_flattened = matches!(origin, GeometryOrigin::Flattened { .. });
        let stated = stated_system(plan, planned, &name, origin, srs.is_some())?;
        let default = if are_features { Srs::WGS_84 } else { Srs::UNKNOWN };
        let (crs, stated) = match (srs, stated) {
            (None, Some((crs, name))) if are_features && crs.srs.is_none() && crs.definition.is_none() => {
                return Err(unknown_system(planned, &name));
            }
            (None, stated) => {
                let crs = stated.map(|(crs, _)| crs);
                (crs.unwrap_or_else(|| Crs::of_number(default_system(origin, default))), None)
            }
            (Some(srs), Some((crs, _))) if crs.srs == Some(srs) => (crs, None),
            (Some(srs), stated) => (Crs::of_number(srs), stated.map(|(_, name)| name)),
        };
        let (mut columns, mut names) = columns(table, &name, origin, is_flattened);
        if are_features {
            move_to_front(&mut columns, &mut names);
        }
        let key = key(table, &names)?;
        let has_own_key = table.rowid_alias.is_none();
        let columns: Vec<LayerColumn> = has_own_key.then_some(LayerColumn::Key).into_iter().chain(columns).collect();
        let names: Vec<String> = has_own_key.then(|| key.clone()).into_iter().chain(names).collect();
        let layer = Layer { table: table.name.clone(), key, geometry: name, srs: crs.srs.unwrap_or(Srs::UNKNOWN) };
        let definitions = definitions(table, &columns, &names);
        let of_table =
            |object: &&litepress_rows::schema::SchemaObject| object.kind == "index" && object.table == table.name;
        let statements = plan.schema.objects.iter().filter(of_table).filter_map(|object| object.sql.as_ref());
        let create_indexes = statements.map(|sql| format!("{sql};\n")).collect();
        let table_of_files = planned.table;
        Ok(Self {
            table_of_files,
            layer,
            crs,
            stated,
            names,
            definitions,
            columns,
            geometry: origin,
            has_own_key,
            create_indexes,
            kinds: Mutex::default(),
        })
    }

    /// Returns the types of the layer's columns, and the reasons. `decisions` are those about the columns of `table`, the table of the
    /// files.
    pub fn decisions(&self, table: &Table, decisions: &[InferredColumn]) -> Vec<InferredColumn> {
        let of_column = |(column, name): (&LayerColumn, &String)| match *column {
            LayerColumn::Key => None,
            LayerColumn::Geometry => {
                let declared = self.geometry_type(*lock(&self.kinds));
                Some(InferredColumn::declared(name, declared, "the type that all geometries have", false))
            }
            LayerColumn::Field(position) => {
                let of_file = &table.columns[position].name;
                let found = decisions.iter().find(|decision| decision.name.eq_ignore_ascii_case(of_file));
                let mut decision = found?.clone();
                decision.name.clone_from(name);
                Some(decision)
            }
        };
        self.columns.iter().zip(&self.names).filter_map(of_column).collect()
    }

    /// Returns the name of a column of the table of the files.
    pub fn name_of(&self, field: usize) -> &str {
        let position = self.columns.iter().position(|column| *column == LayerColumn::Field(field));
        position.map_or(&self.layer.geometry, |position| &self.names[position])
    }

    /// Returns the declared type of geometries of these types.
    pub fn geometry_type(&self, kinds: Kinds) -> &'static str {
        if matches!(self.geometry, GeometryOrigin::Position { .. }) { "POINT" } else { kinds.column_type() }
    }

    /// Returns the statement of the table for geometries of these types, without a semicolon.
    pub fn create_table(&self, kinds: Kinds) -> String {
        let mut lines = self.definitions.clone();
        if let Some(position) = self.columns.iter().position(|column| *column == LayerColumn::Geometry) {
            lines[position] = format!("{} {}", quoted_name(&self.names[position]), self.geometry_type(kinds));
        }
        format!("CREATE TABLE {} (\n  {}\n)", quoted_name(&self.layer.table), lines.join(",\n  "))
    }
}

/// Returns the reference system that the files state for a column of geometries, and its short name. If one `is_given`, errors of
/// the files do not matter.
fn stated_system(
    plan: &LoadPlan,
    planned: &PlannedTable,
    geometry: &str,
    origin: GeometryOrigin,
    is_given: bool,
) -> Result<Option<(Crs, String)>> {
    if !matches!(origin, GeometryOrigin::Value(_)) {
        return Ok(None);
    }
    let text = match plan.crs(planned, geometry) {
        Err(_) if is_given => None,
        text => text?,
    };
    Ok(text.map(|text| {
        let crs = Crs::of_text(&text);
        let name = crs.short_name(&text);
        (crs, name)
    }))
}

/// Returns the reference system of geometries of which no file states one.
const fn default_system(origin: GeometryOrigin, of_values: Srs) -> Srs {
    match origin {
        GeometryOrigin::Flattened { .. } => Srs::WGS_84,
        GeometryOrigin::Value(_) => of_values,
        GeometryOrigin::Position { .. } => Srs::UNKNOWN,
    }
}

/// Returns the error of features whose `crs` member names no known system.
fn unknown_system(planned: &PlannedTable, name: &str) -> Error {
    let message = format!("the member \"crs\" of the file names no known coordinate reference system: {name}");
    let error = Error::new(ErrorKind::Data, message)
        .advise(message!["name the system with ", OptionName::Crs.word("EPSG:NUMBER")]);
    match planned.files.iter().find_map(PlannedFile::input) {
        Some(input) => error.in_file(&input.name),
        None => error,
    }
}

/// Moves the geometries to the front, behind which properties follow.
fn move_to_front(columns: &mut [LayerColumn], names: &mut [String]) {
    if let Some(position) = columns.iter().position(|column| *column == LayerColumn::Geometry) {
        columns[..=position].rotate_right(1);
        names[..=position].rotate_right(1);
    }
}

/// Returns the name of the layer's column of geometries, and their origin.
fn find_geometry(table: &Table, geometry: &str) -> Result<(String, GeometryOrigin)> {
    let missing = |name: &str| {
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let message = message![
            OptionName::Geometry.word(geometry.to_owned()).given(),
            format!(": the table {} has no column {name}", table.name)
        ];
        Error::new(ErrorKind::Usage, message).advise(format!("its columns are {}", names.join(", ")))
    };
    let column = |name: &str| table.column(name).ok_or_else(|| missing(name));
    if let Some(origin) = geojson::flattened(table, geometry) {
        return Ok((geometry.to_owned(), origin));
    }
    if let Some(position) = table.column(geometry) {
        return Ok((table.columns[position].name.clone(), GeometryOrigin::Value(position)));
    }
    match geometry.split_once(',') {
        Some((x, y)) => {
            let origin = GeometryOrigin::Position { x: column(x.trim())?, y: column(y.trim())? };
            if let Some(taken) = table.column(MADE_GEOMETRY) {
                let message = format!("the table {} has a column {} already", table.name, table.columns[taken].name);
                return Err(Error::new(ErrorKind::Usage, message)
                    .advise(message!["give it another name with ", OptionName::Map.pair(MADE_GEOMETRY, "geom_1")]));
            }
            Ok((MADE_GEOMETRY.to_owned(), origin))
        }
        None => Err(missing(geometry)),
    }
}

/// Returns the columns of a layer without a key of its own, and their names. Geometries that are made of several columns come
/// first.
fn columns(
    table: &Table,
    geometry: &str,
    origin: GeometryOrigin,
    is_flattened: bool,
) -> (Vec<LayerColumn>, Vec<String>) {
    let first = match origin {
        GeometryOrigin::Value(_) => None,
        _ => Some((LayerColumn::Geometry, geometry.to_owned())),
    };
    let rest = (0..table.columns.len()).filter_map(|position| {
        let name = &table.columns[position].name;
        match origin {
            GeometryOrigin::Value(value) if value == position => Some((LayerColumn::Geometry, name.clone())),
            _ if is_flattened => {
                geojson::property(table, position, geometry).map(|name| (LayerColumn::Field(position), name))
            }
            _ => Some((LayerColumn::Field(position), name.clone())),
        }
    });
    first.into_iter().chain(rest).unzip()
}

/// Returns the name of the layer's key.
fn key(table: &Table, names: &[String]) -> Result<String> {
    if let Some(alias) = table.rowid_alias {
        return Ok(table.columns[alias].name.clone());
    }
    if table.primary_index().is_some() {
        let message = format!(
            "the primary key of the table {} is not one column of integers, as GeoPackage wants it",
            table.name
        );
        return Err(Error::new(ErrorKind::Usage, message).advise(message![
            "leave ",
            OptionName::PrimaryKey.alone(),
            " out, or make these columns unique with ",
            OptionName::Unique.alone()
        ]));
    }
    let is_taken = |key: &&&str| names.iter().any(|name| name.eq_ignore_ascii_case(key));
    match KEYS.iter().find(|key| !is_taken(key)) {
        Some(key) => Ok((*key).to_owned()),
        None => {
            let message = format!("the table {} has columns {}, and none is its key", table.name, KEYS.join(", "));
            Err(Error::new(ErrorKind::Usage, message)
                .advise(message!["make one the key with ", OptionName::PrimaryKey.names([KEYS[0]])]))
        }
    }
}

/// Returns the definitions of columns and unique keys. That of the geometries is made once their types are known.
fn definitions(table: &Table, columns: &[LayerColumn], names: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (column, name) in columns.iter().zip(names) {
        let quoted = quoted_name(name);
        lines.push(match *column {
            LayerColumn::Key => format!("{quoted} INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL"),
            LayerColumn::Geometry => String::new(),
            LayerColumn::Field(position) if table.rowid_alias == Some(position) => {
                let counts = if table.autoincrement { " AUTOINCREMENT" } else { "" };
                format!("{quoted} INTEGER PRIMARY KEY{counts} NOT NULL")
            }
            LayerColumn::Field(position) => {
                let not_null = if table.columns[position].not_null { " NOT NULL" } else { "" };
                format!("{quoted} {}{not_null}", table.columns[position].declared_type)
            }
        });
    }
    for index in table.indexes.iter().filter(|index| index.origin == IndexOrigin::Unique) {
        let columns = index.columns.iter().filter_map(|column| column.column);
        let columns: Vec<String> = columns.map(|position| quoted_name(&table.columns[position].name)).collect();
        lines.push(format!("UNIQUE ({})", columns.join(", ")));
    }
    lines
}
