//! The driver, and the databases that it opens.

use crate::connection::LitepressConnection;
use crate::error::{Result, failed};
use crate::location::Location;
use crate::settings::{Settings, not_set, optionable, text, unknown};
use adbc_core::error::Status;
use adbc_core::options::{OptionConnection, OptionDatabase, OptionValue};
use adbc_core::{Database, Driver, constants};

/// The driver.
#[derive(Clone, Copy, Debug, Default)]
pub struct LitepressDriver;

impl Driver for LitepressDriver {
    type DatabaseType = LitepressDatabase;

    fn new_database(&mut self) -> Result<LitepressDatabase> {
        self.new_database_with_opts([])
    }

    fn new_database_with_opts(
        &mut self,
        options: impl IntoIterator<Item = (OptionDatabase, OptionValue)>,
    ) -> Result<LitepressDatabase> {
        let mut database = LitepressDatabase {
            uri: String::new(),
            location: Location::memory(),
            settings: Settings::default(),
            keeper: None,
        };
        for (key, value) in options {
            let value = text(key.as_ref(), value)?;
            if key == OptionDatabase::Uri {
                database.location = Location::parse(&value)?;
                database.uri = value;
            } else {
                database.set_text(key.as_ref(), &value)?;
            }
        }
        if let Location::Memory(uri) = &database.location {
            // A database in memory lives as long as a connection to it.
            database.keeper = Some(crate::sqlite::Sqlite::open_memory(uri)?);
        }
        Ok(database)
    }
}

/// A database: a file that may not exist yet, or memory.
pub struct LitepressDatabase {
    uri: String,
    location: Location,
    settings: Settings,
    keeper: Option<std::sync::Arc<crate::sqlite::Sqlite>>,
}

impl LitepressDatabase {
    fn set_text(&mut self, key: &str, value: &str) -> Result<()> {
        match key {
            constants::ADBC_OPTION_URI => Err(failed(Status::InvalidState, "the uri of an open database stays")),
            _ if self.settings.set(key, value)? => Ok(()),
            _ => Err(unknown(key)),
        }
    }

    fn get_text(&self, key: &str) -> Result<String> {
        match key {
            constants::ADBC_OPTION_URI => Ok(self.uri.clone()),
            _ => self.settings.get(key).ok_or_else(|| not_set(key)),
        }
    }
}

optionable!(LitepressDatabase, OptionDatabase);

impl Database for LitepressDatabase {
    type ConnectionType = LitepressConnection;

    fn new_connection(&self) -> Result<LitepressConnection> {
        self.new_connection_with_opts([])
    }

    fn new_connection_with_opts(
        &self,
        options: impl IntoIterator<Item = (OptionConnection, OptionValue)>,
    ) -> Result<LitepressConnection> {
        let mut connection = LitepressConnection::new(self.location.clone(), self.settings.clone())?;
        for (key, value) in options {
            connection.set_text(key.as_ref(), &text(key.as_ref(), value)?)?;
        }
        Ok(connection)
    }
}
