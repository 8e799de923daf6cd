//! A connection: its transaction, its options, and what it says about the database.

use crate::cancel::{Cancel, SharedCancel};
use crate::cursor::Cursor;
use crate::error::{Result, failed, guarded, not_implemented};
use crate::info::{self, Stream};
use crate::location::Location;
use crate::objects::{self, Filters};
use crate::query::QueryReader;
use crate::session::Session;
use crate::settings::{Settings, flag, not_set, optionable, unknown};
use crate::statement::LitepressStatement;
use adbc_core::error::Status;
use adbc_core::options::{InfoCode, ObjectDepth, OptionConnection};
use adbc_core::{CancelHandle, Connection, constants};
use arrow_array::RecordBatchReader;
use arrow_schema::Schema;
use litepress_rows::sync::lock;
use std::collections::HashSet;
use std::sync::{Arc, Mutex};

/// Number of rows that decide about the types of a table.
const SCHEMA_ROWS: usize = 64;

/// The option that makes SQLite enforce foreign keys.
const ENFORCE_FOREIGN_KEYS: &str = "litepress.enforce_foreign_keys";

/// A connection to a database.
pub struct LitepressConnection {
    session: Arc<Mutex<Session>>,
    settings: Settings,
    cancel: Arc<Cancel>,
}

impl LitepressConnection {
    /// Connects to a database.
    pub fn new(location: Location, settings: Settings) -> Result<Self> {
        let cancel = Arc::new(Cancel::default());
        let session = Session::new(location, &settings.press.append, cancel.clone())?;
        Ok(Self { session: Arc::new(Mutex::new(session)), settings, cancel })
    }

    /// Sets an option.
    pub fn set_text(&mut self, key: &str, value: &str) -> Result<()> {
        match key {
            constants::ADBC_CONNECTION_OPTION_AUTOCOMMIT => lock(&self.session).set_autocommit(flag(key, value)?),
            constants::ADBC_CONNECTION_OPTION_READ_ONLY if value == "false" => Ok(()),
            constants::ADBC_CONNECTION_OPTION_READ_ONLY => {
                Err(not_implemented("adbc.connection.readonly: open the uri 'file:PATH?mode=ro'; the option"))
            }
            constants::ADBC_CONNECTION_OPTION_CURRENT_CATALOG if value == "main" => Ok(()),
            constants::ADBC_CONNECTION_OPTION_CURRENT_CATALOG | constants::ADBC_CONNECTION_OPTION_CURRENT_DB_SCHEMA => {
                Err(not_implemented(&format!("{key}=\"{value}\"")))
            }
            constants::ADBC_CONNECTION_OPTION_ISOLATION_LEVEL => Err(not_implemented(key)),
            _ if self.settings.set(key, value)? => {
                let enforces = self.settings.press.append.enforce_foreign_keys;
                if key == ENFORCE_FOREIGN_KEYS { lock(&self.session).enforce_foreign_keys(enforces) } else { Ok(()) }
            }
            _ => Err(unknown(key)),
        }
    }

    fn get_text(&self, key: &str) -> Result<String> {
        match key {
            constants::ADBC_CONNECTION_OPTION_AUTOCOMMIT => Ok(lock(&self.session).is_autocommit().to_string()),
            constants::ADBC_CONNECTION_OPTION_CURRENT_CATALOG => Ok("main".to_owned()),
            "litepress.way" => {
                let way = lock(&self.session).way;
                way.map(|way| way.name().to_owned()).ok_or_else(|| not_set(key))
            }
            _ => self.settings.get(key).ok_or_else(|| not_set(key)),
        }
    }

    fn table_schema(&self, sql: &str, table: &str) -> Result<Schema> {
        let sqlite = lock(&self.session).for_metadata()?.ok_or_else(|| objects::no_table(table))?;
        let cursor = Cursor::prepare(&sqlite, sql).map_err(|error| match error.message.contains("no such table") {
            true => objects::no_table(table),
            false => error,
        })?;
        let reader = QueryReader::new(cursor, None, Some(SCHEMA_ROWS))?;
        Ok(reader.schema().as_ref().clone())
    }
}

optionable!(LitepressConnection, OptionConnection);

impl Connection for LitepressConnection {
    type StatementType = LitepressStatement;

    fn new_statement(&mut self) -> Result<LitepressStatement> {
        Ok(LitepressStatement::new(self.session.clone(), self.settings.clone(), self.cancel.clone()))
    }

    fn get_cancel_handle(&self) -> Box<dyn CancelHandle> {
        Box::new(SharedCancel(self.cancel.clone()))
    }

    fn get_info(&self, codes: Option<HashSet<InfoCode>>) -> Result<Stream> {
        info::info(codes.as_ref())
    }

    fn get_objects(
        &self,
        depth: ObjectDepth,
        catalog: Option<&str>,
        db_schema: Option<&str>,
        table_name: Option<&str>,
        table_type: Option<Vec<&str>>,
        column_name: Option<&str>,
    ) -> Result<Stream> {
        let filters = Filters {
            depth,
            catalog,
            schema: db_schema,
            table: table_name,
            kinds: table_type.as_deref(),
            column: column_name,
        };
        match lock(&self.session).for_metadata()? {
            Some(sqlite) => objects::objects(Some(&*sqlite.lock()), filters),
            None => objects::objects(None, filters),
        }
    }

    fn get_table_schema(&self, catalog: Option<&str>, db_schema: Option<&str>, table_name: &str) -> Result<Schema> {
        self.table_schema(&objects::query_of_table(catalog, db_schema, table_name)?, table_name)
    }

    fn get_table_types(&self) -> Result<Stream> {
        objects::table_types()
    }

    fn get_statistic_names(&self) -> Result<Stream> {
        Err(not_implemented("statistics"))
    }

    fn get_statistics(&self, _: Option<&str>, _: Option<&str>, _: Option<&str>, _: bool) -> Result<Stream> {
        Err(not_implemented("statistics"))
    }

    fn commit(&mut self) -> Result<()> {
        guarded(|| lock(&self.session).commit())
    }

    fn rollback(&mut self) -> Result<()> {
        lock(&self.session).rollback()
    }

    fn read_partition(&self, _partition: impl AsRef<[u8]>) -> Result<Stream> {
        Err(failed(Status::NotImplemented, "results have no partitions"))
    }
}
