//! Files become layers of a GeoPackage: a table with geometries, its R-Tree, and the tables that describe it.
//!
//! ```text
//! LoadSource: rows of the file --features--> rows with a key and GeoPackageBinary --> table of the layer
//!                                  |
//!                                  `--> boxes, spooled --> rows of the R-Tree
//!                                       extent, count  --> gpkg_contents, gpkg_geometry_columns, ...
//! ```
//!
//! The tables of the layers come first in the schema, then the R-Trees, then the tables with the extents: they are filled in
//! this order.

mod boxes;
mod description;
mod features;
mod geojson;
mod layer;
mod wrong_geometries;

pub(crate) use geojson::options_of_features;
pub(crate) use wrong_geometries::WrongGeometries;

use crate::{Conflict, Error, ErrorKind, LoadOptions, Message, OnError, Progress, Result, Schema};
use boxes::Spool;
use description::{DescriptionRows, has_second_wkt};
use features::{Conversion, FeatureRows};
use layer::PlannedLayer;
use litepress_geo::wkb::kind::Kinds;
use litepress_geo::{Crs, Srs, package};
use litepress_load::infer::InferredColumn;
use litepress_load::plan::LoadPlan;
use litepress_load::source::LoadSource;
use litepress_rows::{OptionName, Source, message};
use std::path::Path;

/// The name of the schema in errors.
const ORIGIN: &str = "<GeoPackage>";

/// The layers of a GeoPackage.
pub(crate) struct GeoPackage {
    /// The schema of the whole file.
    pub schema: Schema,
    layers: Vec<PlannedLayer>,
    on_error: OnError,
}

/// The rows of all tables of a GeoPackage.
pub(crate) struct PackageSources<'s>(Vec<(usize, Box<dyn Source + 's>)>);

impl PackageSources<'_> {
    /// Returns the rows by the position of their table in the schema.
    pub fn listed(&self) -> Vec<(usize, &dyn Source)> {
        self.0.iter().map(|(table, source)| (*table, &**source)).collect()
    }
}

impl GeoPackage {
    /// Plans the layers, or returns `None` if no geometries are wanted.
    ///
    /// # Errors
    /// If a table lacks the columns of the geometry, or other options do not go with it.
    pub fn new(plan: &LoadPlan, options: &LoadOptions) -> Result<Option<Self>> {
        let Some(geometry) = &options.geometry else {
            return match options.crs {
                None => Ok(None),
                Some(_) => Err(no_effect(OptionName::Crs, "there is no geometry", OptionName::Geometry)),
            };
        };
        refuse_others(options)?;
        let srs = options.crs.as_deref().map(Srs::parse).transpose();
        let srs = srs.map_err(|why| {
            let given = OptionName::Crs.word(options.crs.clone().unwrap_or_default()).given();
            Error::new(ErrorKind::Usage, message![given, format!(": {why}")])
        })?;
        let layers = plan.tables.iter().map(|planned| PlannedLayer::new(plan, planned, geometry, srs));
        let mut layers: Vec<PlannedLayer> = layers.collect::<Result<_>>()?;
        number_own_systems(&mut layers);
        let create_table = |layer: &PlannedLayer| format!("{};\n", layer.create_table(Kinds::default()));
        let sql = [
            format!("PRAGMA application_id = {};\n", package::APPLICATION_ID),
            format!("PRAGMA user_version = {};\n", package::USER_VERSION),
            layers.iter().map(create_table).collect(),
            layers.iter().map(|layer| layer.layer.create_rtree()).collect(),
            package::tables(has_second_wkt(layers.iter())),
            layers.iter().map(|layer| layer.create_indexes.as_str()).collect(),
            layers.iter().map(|layer| layer.layer.create_triggers()).collect(),
        ];
        let mut schema = Schema::from_sql(&sql.concat(), ORIGIN)?;
        schema.settings.page_size = plan.schema.settings.page_size;
        Ok(Some(Self { schema, layers, on_error: options.policy()? }))
    }

    /// Makes the rows of all tables from the rows of the files. Boxes go to a temporary file in `temp_dir`.
    ///
    /// # Errors
    /// If the temporary file cannot be made.
    pub fn sources<'s>(&'s self, rows: &'s [(usize, LoadSource)], temp_dir: &Path) -> Result<PackageSources<'s>> {
        let mut sources: Vec<(usize, Box<dyn Source + 's>)> = Vec::new();
        let mut spools = Vec::new();
        for layer in &self.layers {
            let found = rows.iter().find(|(table, _)| *table == layer.table_of_files);
            let (_, source) = found.expect("every planned table has a source");
            let spool = Spool::new(temp_dir)?;
            let conversion = Conversion::new(layer, self.on_error == OnError::Null);
            sources.push((
                self.position(&layer.layer.table),
                Box::new(FeatureRows::new(source, conversion, spool.clone())),
            ));
            sources.push((self.position(&layer.layer.rtree()), Box::new(boxes::BoxRows::new(spool.clone()))));
            spools.push((layer, spool));
        }
        for (number, table) in package::TABLE_NAMES.into_iter().enumerate() {
            sources.push((self.position(table), Box::new(DescriptionRows::new(number, spools.clone()))));
        }
        Ok(PackageSources(sources))
    }

    fn position(&self, table: &str) -> usize {
        self.schema.position(table).expect("the schema has all tables of its layers")
    }

    /// Finds the rows of a planned table whose values are no geometries. Keeps the first `most` of them.
    ///
    /// # Errors
    /// If the rows cannot be read; a request to stop.
    pub fn find_wrong(
        &self,
        table: usize,
        source: &LoadSource,
        most: u64,
        threads: usize,
        progress: &Progress,
    ) -> Result<WrongGeometries> {
        let layer = self.layers.iter().find(|layer| layer.table_of_files == table);
        let conversion = Conversion::new(layer.expect("every planned table is a layer"), false);
        wrong_geometries::find(&conversion, source, most, threads, progress)
    }

    /// Returns notes about reference systems: those that are not defined in the GeoPackage, and files that say another one.
    pub fn notes(&self) -> Vec<Message> {
        self.layers
            .iter()
            .flat_map(|layer| note_on_other_system(layer).into_iter().chain(note_on_system(layer)))
            .collect()
    }

    /// Returns the types of a layer's columns, and the reasons, from those of the planned table at this position.
    pub fn decisions(&self, plan: &LoadPlan, table: usize, decisions: &[InferredColumn]) -> Vec<InferredColumn> {
        let layer = self.layers.iter().find(|layer| layer.table_of_files == table);
        layer.expect("every planned table is a layer").decisions(&plan.schema.tables[table], decisions)
    }

    /// Returns whether a table is one of a layer, whose rows are those of the files.
    pub fn is_layer(&self, table: &str) -> bool {
        self.layers.iter().any(|layer| layer.layer.table == table)
    }
}

/// Gives numbers to the systems that files define and no register has: equal systems get one number.
fn number_own_systems(layers: &mut [PlannedLayer]) {
    let mut own: Vec<Crs> = Vec::new();
    for layer in layers.iter_mut().filter(|layer| layer.crs.srs.is_none() && layer.crs.definition.is_some()) {
        let position = own.iter().position(|crs| *crs == layer.crs);
        layer.layer.srs = Srs::own(position.unwrap_or(own.len()));
        if position.is_none() {
            own.push(layer.crs.clone());
        }
    }
}

/// Tells that a file says another reference system than the one that was taken.
fn note_on_other_system(layer: &PlannedLayer) -> Option<Message> {
    let (name, stated) = (&layer.layer.table, layer.stated.as_ref()?);
    let given = OptionName::Crs.word(layer.layer.srs.to_string()).given();
    Some(message![format!("{name}: the file says that its geometries are in {stated}; "), given, " was taken"])
}

/// Tells that a layer's reference system is not defined.
fn note_on_system(layer: &PlannedLayer) -> Option<Message> {
    let (name, srs) = (&layer.layer.table, layer.layer.srs);
    if layer.crs.definition.is_some() || srs == Srs::WGS_84 {
        return None;
    }
    Some(if srs.has_number() {
        let message = format!(
            "{name}: no file defines {srs}; it is stored by its number, which programs look up in the EPSG register"
        );
        message.into()
    } else {
        let why = match &layer.crs {
            // A system without number whose definition has no text in a GeoPackage.
            Crs { srs: None, name, .. } => {
                let of_file = name.as_deref().map_or_else(String::new, |name| format!(", {name},"));
                format!(
                    "the reference system of the file{of_file} has no number and no definition that a GeoPackage can hold"
                )
            }
            Crs { .. } => "nothing tells the reference system of the geometries".to_owned(),
        };
        message![format!("{name}: {why}; it is stored as undefined, "), OptionName::Crs.alone(), " names it"]
    })
}

/// Refuses options that a GeoPackage cannot follow.
fn refuse_others(options: &LoadOptions) -> Result<()> {
    let tables = &options.tables;
    let others = [
        (OptionName::Append, options.append),
        (OptionName::ReplaceTables, options.replace_tables),
        (OptionName::Schema, options.schema.is_some()),
        (OptionName::OnConflict, options.build.on_conflict != Conflict::Abort),
        (OptionName::Strict, tables.strict),
        (OptionName::WithoutRowid, tables.without_rowid),
        (OptionName::ForeignKey, !tables.foreign_keys.is_empty()),
    ];
    match others.into_iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => {
            let (option, geometry) = (option.alone().given(), OptionName::Geometry.alone().given());
            let message = message![option, " does not go with ", geometry, ", which makes a new GeoPackage"];
            Err(Error::new(ErrorKind::Unsupported, message).advise("leave one of them out"))
        }
    }
}

fn no_effect(option: OptionName, why: &str, needed: OptionName) -> Error {
    let message = message![option.alone().given(), format!(" has no effect: {why}")];
    Error::new(ErrorKind::Usage, message).advise(message!["name its column with ", needed.alone()])
}
