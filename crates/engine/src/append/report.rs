//! The report of an append.

use std::time::Duration;

/// The way in which rows get into a table that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Route {
    /// SQLite inserts them.
    Sql,
    /// They become pages behind the last page of the table, and its right edge is written anew.
    Edge,
    /// The old and the new rows become a new tree.
    Rebuild,
}

impl Route {
    /// Returns the name of the route.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sql => "sql",
            Self::Edge => "edge",
            Self::Rebuild => "rebuild",
        }
    }
}

/// The route of a table, and the reason for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RoutePlan {
    /// Name of the table.
    pub table: String,
    /// Whether the table is new.
    pub is_new: bool,
    /// The route.
    pub route: Route,
    /// The reason for the route.
    pub why: String,
}

impl RoutePlan {
    /// Returns the plan of rows of an existing table that become pages.
    pub(super) fn by_pages(table: &str, route: Route) -> Self {
        let why = match route {
            Route::Edge => "all rowids are above those of the table",
            _ => "its old and new rows become a new tree",
        };
        Self { table: table.to_owned(), is_new: false, route, why: why.to_owned() }
    }
}

/// The rows that a table got.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AppendedTable {
    /// The route, and the reason for it.
    pub plan: RoutePlan,
    /// Number of new rows. If `updated` is `None`, updated and replaced rows are among them.
    pub added: u64,
    /// Number of rows that were updated; `None` if SQLite does not tell them from new ones.
    pub updated: Option<u64>,
    /// Number of given rows that were left out.
    pub ignored: u64,
}

/// The report of an append.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AppendReport {
    /// The tables that got rows.
    pub tables: Vec<AppendedTable>,
    /// Time during which other programs could not write.
    pub locked: Duration,
    /// Time of the COMMIT.
    pub commit: Duration,
    /// Journal mode of the database: `wal`, `delete`.
    pub journal_mode: String,
}
