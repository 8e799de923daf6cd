//! Plans the routes of rows into a database that exists.

use super::choice::{RowFigures, TableEdge, choose, why_not_in, why_sql};
use super::page_candidates::edge_of;
use super::sources::TableSize;
use super::{AppendOptions, Route, RoutePlan};
use crate::live::LiveDatabase;
use crate::options::Options;
use crate::{Result, Schema};
use litepress_rows::schema::SchemaAdditions;
use litepress_scan::Snapshot;
use std::path::Path;

/// Rows for a database that exists, before they are added.
pub struct PlannedAppend<'a> {
    /// The file of the database.
    pub path: &'a Path,
    /// Its schema with everything that is added.
    pub schema: &'a Schema,
    /// Objects that it lacks.
    pub additions: &'a SchemaAdditions,
    /// Options of the run.
    pub options: &'a Options,
    /// Options of the append.
    pub append: &'a AppendOptions,
}

impl PlannedAppend<'_> {
    /// Returns the routes of rows for the tables at these positions of the schema. Rows without figures were not read.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn routes(&self, tables: &[(usize, Option<RowFigures>)]) -> Result<Vec<RoutePlan>> {
        let of_pages =
            match tables.iter().map(|(table, figures)| Some((*table, figures.clone()?))).collect::<Option<Vec<_>>>() {
                Some(figures) => self.by_pages(&figures)?,
                None => Err("the rows were not read: many may become pages (edge or rebuild)".to_owned()),
            };
        let plan = |(at, (position, _)): (usize, &(usize, Option<RowFigures>))| {
            let table = &self.schema.tables[*position];
            let name = table.name.clone();
            match &of_pages {
                Ok(routes) => RoutePlan::by_pages(&name, routes[at], self.append),
                Err(why) => RoutePlan {
                    is_new: self.additions.makes_table(&table.name),
                    route: Route::Sql,
                    why: why.clone(),
                    table: name,
                },
            }
        };
        Ok(tables.iter().enumerate().map(plan).collect())
    }

    /// Returns the routes if pages are written. `Err` says why SQLite inserts the rows of all tables.
    fn by_pages(&self, tables: &[(usize, RowFigures)]) -> Result<Result<Vec<Route>, String>> {
        if !self.additions.is_empty() {
            return Ok(Err("the schema is changed, too".to_owned()));
        }
        if let Some(why) = why_sql(self.schema, self.options, self.append, tables) {
            return Ok(Err(why));
        }
        let database = match LiveDatabase::open(self.path, &self.append.live(self.options))? {
            Ok(database) => database,
            Err(cannot) => return Ok(Err(cannot.reason)),
        };
        let explain = |error: rusqlite::Error| database.explain(&error);
        let snapshot = Snapshot::begin(database.connection())?;
        let mut routes = Vec::new();
        for (position, figures) in tables {
            let table = &self.schema.tables[*position];
            if let Some(why) = why_not_in(table, snapshot.encoding()) {
                return Ok(Err(why));
            }
            let root = "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = ?1";
            let root: u32 = database.connection().query_row(root, [&table.name], |row| row.get(0)).map_err(explain)?;
            let edge = match table.without_rowid {
                true => Some(TableEdge::default()),
                false => edge_of(database.connection(), table, self.append.truncate).map_err(explain)?,
            };
            let Some(edge) = edge else {
                return Ok(Err("columns have all names of the rowid".to_owned()));
            };
            let size = || TableSize::estimate(table, &snapshot, root);
            match choose(table, figures, edge, self.append, size)? {
                Ok(choice) => routes.push(choice.route),
                Err(why) => return Ok(Err(why)),
            }
        }
        Ok(Ok(routes))
    }
}
