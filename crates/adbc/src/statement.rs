//! A statement: a query with its parameters, or an ingest.

use crate::cancel::{Cancel, SharedCancel};
use crate::cursor::Cursor;
use crate::error::{Result, failed, guarded, not_implemented, of_press};
use crate::info::{Stream, stream};
use crate::ingest::{IngestTarget, Mode};
use crate::objects::no_columns;
use crate::parameters::Parameters;
use crate::press::Rows;
use crate::query::{self, QueryReader};
use crate::session::{IngestRoute, Session, mode_of};
use crate::settings::{Settings, flag, not_set, optionable, unknown};
use adbc_core::error::Status;
use adbc_core::options::OptionStatement;
use adbc_core::{CancelHandle, PartitionedResult, Statement, constants};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::Schema;
use litepress_rows::sync::lock;
use std::sync::{Arc, Mutex};

/// The task of a statement. The option or the query that was set last decides.
#[derive(Clone, Debug, Default)]
enum Task {
    #[default]
    Nothing,
    Query {
        sql: String,
        is_prepared: bool,
    },
    Ingest(Ingest),
}

/// An ingest, as its options describe it.
#[derive(Clone, Debug, Default)]
struct Ingest {
    table: Option<String>,
    catalog: Option<String>,
    schema: Option<String>,
    mode: Mode,
    mode_name: Option<String>,
    is_temporary: bool,
}

impl Ingest {
    /// Returns the table that takes the rows.
    fn target(&self) -> Result<IngestTarget> {
        let wrong = |message: &str| Err(failed(Status::InvalidState, message));
        // SQLite calls an attached database a schema.
        let catalog = match (self.catalog.as_ref().or(self.schema.as_ref()), self.is_temporary) {
            (Some(_), true) => return wrong("adbc.ingest.target_catalog and adbc.ingest.temporary exclude each other"),
            (Some(catalog), false) => catalog.clone(),
            (None, true) => "temp".to_owned(),
            (None, false) => "main".to_owned(),
        };
        let Some(table) = self.table.clone().filter(|table| !table.is_empty()) else {
            return wrong("no table takes the rows: set adbc.ingest.target_table");
        };
        Ok(IngestTarget { table, catalog, mode: self.mode })
    }
}

/// A statement of a connection.
pub struct LitepressStatement {
    session: Arc<Mutex<Session>>,
    settings: Settings,
    cancel: Arc<Cancel>,
    task: Task,
    bound: Option<Box<dyn RecordBatchReader + Send>>,
    way: Option<IngestRoute>,
}

impl LitepressStatement {
    /// Makes a statement of a connection, with its options.
    pub fn new(session: Arc<Mutex<Session>>, settings: Settings, cancel: Arc<Cancel>) -> Self {
        Self { session, settings, cancel, task: Task::Nothing, bound: None, way: None }
    }

    fn ingest_options(&mut self) -> &mut Ingest {
        if !matches!(self.task, Task::Ingest(_)) {
            self.task = Task::Ingest(Ingest::default());
        }
        let Task::Ingest(ingest) = &mut self.task else { unreachable!("it was set") };
        ingest
    }

    /// Sets an option.
    fn set_text(&mut self, key: &str, value: &str) -> Result<()> {
        let text = || Some(value.to_owned()).filter(|value| !value.is_empty());
        match key {
            constants::ADBC_INGEST_OPTION_MODE => {
                let mode = mode_of(value)?;
                let ingest = self.ingest_options();
                (ingest.mode, ingest.mode_name) = (mode, text());
            }
            constants::ADBC_INGEST_OPTION_TARGET_TABLE => self.ingest_options().table = text(),
            constants::ADBC_INGEST_OPTION_TARGET_CATALOG => self.ingest_options().catalog = text(),
            constants::ADBC_INGEST_OPTION_TARGET_DB_SCHEMA => self.ingest_options().schema = text(),
            constants::ADBC_INGEST_OPTION_TEMPORARY => self.ingest_options().is_temporary = flag(key, value)?,
            constants::ADBC_STATEMENT_OPTION_INCREMENTAL if value == "false" => {}
            _ if self.settings.set(key, value)? => {}
            _ => return Err(unknown(key)),
        }
        Ok(())
    }

    fn get_text(&self, key: &str) -> Result<String> {
        let found = match (key, &self.task) {
            ("litepress.way", _) => self.way.map(|way| way.name().to_owned()),
            (constants::ADBC_INGEST_OPTION_TARGET_TABLE, Task::Ingest(ingest)) => ingest.table.clone(),
            (constants::ADBC_INGEST_OPTION_TARGET_CATALOG, Task::Ingest(ingest)) => ingest.catalog.clone(),
            (constants::ADBC_INGEST_OPTION_MODE, Task::Ingest(ingest)) => ingest.mode_name.clone(),
            (constants::ADBC_INGEST_OPTION_TEMPORARY, Task::Ingest(ingest)) => Some(ingest.is_temporary.to_string()),
            _ => self.settings.get(key),
        };
        found.ok_or_else(|| not_set(key))
    }

    /// Prepares the query within the transaction, and its parameters.
    fn query(&mut self) -> Result<(Cursor, Option<Parameters>)> {
        let Task::Query { sql, .. } = &self.task else {
            return Err(failed(Status::InvalidState, "the statement has no query"));
        };
        let sqlite = lock(&self.session).for_statement(sql)?;
        let cursor = Cursor::prepare(&sqlite, sql)?;
        let parameters = match self.bound.take() {
            Some(bound) => Parameters::new(bound, &cursor, self.settings.binds_by_name)?,
            None => None,
        };
        if parameters.is_none() && cursor.parameters() > 0 {
            let message = format!("the query has {} parameters, and nothing is bound", cursor.parameters());
            return Err(failed(Status::InvalidState, message));
        }
        Ok((cursor, parameters))
    }

    fn ingest(&mut self) -> Result<i64> {
        let Task::Ingest(ingest) = &self.task else { return Err(failed(Status::InvalidState, "there is no ingest")) };
        let target = ingest.target()?;
        let nothing = || failed(Status::InvalidState, "there are no rows to ingest: bind them before");
        let bound = self.bound.take().ok_or_else(nothing)?;
        let rows = Rows::new(&target.table, bound).map_err(|error| of_press(&error))?;
        let mut session = lock(&self.session);
        let count = session.ingest(&target, rows, &self.settings.press)?;
        self.way = session.way;
        Ok(i64::try_from(count).unwrap_or(i64::MAX))
    }

    fn prepared(&self) -> Result<Cursor> {
        let Task::Query { sql, is_prepared: true } = &self.task else {
            return Err(failed(Status::InvalidState, "the statement is not prepared"));
        };
        let sqlite = lock(&self.session).for_preparing()?;
        Cursor::prepare(&sqlite, sql)
    }

    /// Runs the query up to its first batch, or the ingest.
    fn run(&mut self) -> Result<Stream> {
        if matches!(self.task, Task::Ingest(_)) {
            self.ingest()?;
            return Ok(stream(no_columns(), Vec::new()));
        }
        let (cursor, parameters) = self.query()?;
        let done = if cursor.columns() == 0 {
            query::run(cursor, parameters).map(|_| stream(no_columns(), Vec::new()))
        } else {
            QueryReader::new(cursor, parameters, self.settings.batch_rows).map(|reader| -> Stream { Box::new(reader) })
        };
        self.settled(done)
    }

    /// Runs the query to its end, or the ingest. Returns the number of rows.
    fn run_update(&mut self) -> Result<i64> {
        if matches!(self.task, Task::Ingest(_)) {
            return self.ingest();
        }
        let (cursor, parameters) = self.query()?;
        let done = query::run(cursor, parameters);
        self.settled(done)
    }

    /// Takes note of a transaction that the statement has ended, whether it failed or not.
    fn settled<T>(&self, done: Result<T>) -> Result<T> {
        let settled = lock(&self.session).settle();
        done.and_then(|done| settled.map(|()| done))
    }
}

optionable!(LitepressStatement, OptionStatement);

impl Statement for LitepressStatement {
    fn bind(&mut self, batch: RecordBatch) -> Result<()> {
        let schema = batch.schema();
        self.bound = Some(Box::new(RecordBatchIterator::new([Ok(batch)], schema)));
        Ok(())
    }

    fn bind_stream(&mut self, reader: Box<dyn RecordBatchReader + Send>) -> Result<()> {
        self.bound = Some(reader);
        Ok(())
    }

    fn get_cancel_handle(&self) -> Box<dyn CancelHandle> {
        Box::new(SharedCancel(self.cancel.clone()))
    }

    fn execute(&mut self) -> Result<Stream> {
        guarded(|| self.run())
    }

    fn execute_update(&mut self) -> Result<Option<i64>> {
        guarded(|| self.run_update()).map(Some)
    }

    fn execute_schema(&mut self) -> Result<Schema> {
        let Task::Query { sql, .. } = &self.task else {
            return Err(failed(Status::InvalidState, "the statement has no query"));
        };
        let sqlite = lock(&self.session).for_preparing()?;
        let cursor = Cursor::prepare(&sqlite, sql)?;
        Ok(query::promised_schema(&cursor).as_ref().clone())
    }

    fn execute_partitions(&mut self) -> Result<PartitionedResult> {
        Err(not_implemented("a result with partitions"))
    }

    fn get_parameter_schema(&self) -> Result<Schema> {
        Ok(query::parameter_schema(&self.prepared()?))
    }

    fn prepare(&mut self) -> Result<()> {
        let Task::Query { sql, .. } = &self.task else {
            return Err(failed(Status::InvalidState, "the statement has no query to prepare"));
        };
        let sqlite = lock(&self.session).for_preparing()?;
        Cursor::prepare(&sqlite, sql)?;
        let sql = sql.clone();
        self.task = Task::Query { sql, is_prepared: true };
        Ok(())
    }

    fn set_sql_query(&mut self, query: impl AsRef<str>) -> Result<()> {
        self.task = Task::Query { sql: query.as_ref().to_owned(), is_prepared: false };
        Ok(())
    }

    fn set_substrait_plan(&mut self, _plan: impl AsRef<[u8]>) -> Result<()> {
        Err(not_implemented("Substrait"))
    }
}
