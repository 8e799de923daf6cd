//! Evaluates the keys of expression and partial indexes, and CHECK constraints: one SELECT for all indexes without a WHERE
//! clause, and one for each WHERE clause.
//!
//! ```text
//! CREATE INDEX x ON t (lower(a));  CREATE INDEX y ON t (b, a + 1);  CREATE INDEX z ON t (b) WHERE c
//!
//! SELECT rowid, lower(a), b, a + 1 FROM t        entries of x and y
//! SELECT rowid, b FROM t WHERE +(c)              entries of z
//! ```
//!
//! The values of an entry become a record, from which the entry is extracted as from a record of the table.

use super::checks::Checks;
use super::small_database::{SmallDatabase, Template, connection};
use super::{explain, key_columns, recorded, scan_clause};
use crate::Result;
use crate::sqlite::message;
use crate::{Error, ErrorKind};
use litepress_format::record::write_record;
use litepress_format::value::Value;
use litepress_rows::schema::{Generated, Index};
use litepress_rows::{Affinity, Column, RecordChunk, Table, quoted_name};
use rusqlite::{Connection, Row};
use std::ops::Range;

/// Number of columns of an entry whose values need no allocation.
const FEW_COLUMNS: usize = 8;

/// The evaluation of the rows of one table.
#[derive(Clone, Debug)]
pub(crate) struct RowEvaluation {
    table: Table,
    template: Template,
    queries: Vec<Query>,
    checks: Option<Checks>,
    indexes: usize,
}

/// A SELECT that evaluates the keys of some indexes.
#[derive(Clone, Debug)]
struct Query {
    sql: String,
    predicate: Option<String>,
    /// The terms, without the rowid.
    terms: Vec<String>,
    has_rowid: bool,
    outputs: Vec<Output>,
    /// The columns of the result that are REAL columns of the table.
    are_real: Vec<bool>,
    /// Names of the indexes.
    names: Vec<String>,
}

/// The columns of a result that are the columns of an index.
#[derive(Clone, Debug)]
struct Output {
    /// Number of the index.
    index: usize,
    columns: Range<usize>,
}

impl RowEvaluation {
    /// Prepares the evaluation of these indexes of a table, and of its CHECK constraints if it `has_checks`. Returns `None` if
    /// there is nothing to evaluate.
    ///
    /// # Errors
    /// If SQLite refuses the table, which it has accepted before.
    pub fn new(table: &Table, indexes: &[&Index], has_checks: bool) -> Result<Option<Self>> {
        let Some(evaluation) = &table.evaluation else { return Ok(None) };
        let checks = if has_checks { Checks::new(table) } else { None };
        if indexes.is_empty() && checks.is_none() {
            return Ok(None);
        }
        let template = Template::new(table, &evaluation.statements)?;
        let mut queries: Vec<Query> = Vec::new();
        for (number, index) in indexes.iter().enumerate() {
            let texts = index.evaluated.as_ref().expect("only indexes with texts are evaluated");
            let known = queries.iter_mut().find(|query| query.predicate == texts.predicate);
            let query = match known {
                Some(query) => query,
                None => {
                    queries.push(Query::new(table, texts.predicate.clone()));
                    queries.last_mut().expect("it was added")
                }
            };
            query.add(table, number, index);
        }
        queries.iter_mut().for_each(|query| query.sql = query.text(table));
        Ok(Some(Self { table: table.clone(), template, queries, checks, indexes: indexes.len() }))
    }
}

impl RowEvaluation {
    /// Prepares the evaluation of what SQLite evaluates of a row before it looks for other rows with its key: virtual columns and CHECK
    /// constraints. With `has_keys`, the keys of indexes too. Returns `None` if there is nothing to evaluate.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of_insert(table: &Table, has_keys: bool) -> Result<Option<Self>> {
        let Some(texts) = &table.evaluation else { return Ok(None) };
        let indexes: Vec<&Index> = table.indexes.iter().filter(|index| has_keys && index.evaluated.is_some()).collect();
        let known = Self::new(table, &indexes, true)?;
        let is_virtual = |column: &&Column| column.generated == Generated::Virtual;
        let columns: Vec<&Column> = table.columns.iter().filter(is_virtual).collect();
        if columns.is_empty() {
            return Ok(known);
        }
        let mut evaluation = match known {
            Some(known) => known,
            None => Self {
                table: table.clone(),
                template: Template::new(table, &texts.statements)?,
                queries: Vec::new(),
                checks: None,
                indexes: 0,
            },
        };
        let mut query = Query::new(table, None);
        query.terms = columns.iter().map(|column| quoted_name(&column.name)).collect();
        query.sql = query.text(table);
        evaluation.queries.push(query);
        Ok(Some(evaluation))
    }
}

/// Returns whether a SELECT can tell the entries of the table's indexes.
pub(crate) fn can_evaluate(table: &Table) -> bool {
    table.evaluation.is_some() && (table.without_rowid || table.rowid_name().is_some())
}

impl Query {
    fn new(table: &Table, predicate: Option<String>) -> Self {
        Self {
            sql: String::new(),
            predicate,
            terms: Vec::new(),
            has_rowid: !table.without_rowid,
            outputs: Vec::new(),
            are_real: Vec::new(),
            names: Vec::new(),
        }
    }

    fn add(&mut self, table: &Table, number: usize, index: &Index) {
        let texts = index.evaluated.as_ref().expect("only indexes with texts are evaluated");
        let start = usize::from(self.has_rowid) + self.terms.len();
        self.outputs.push(Output { index: number, columns: start..start + texts.terms.len() });
        self.terms.extend(texts.terms.iter().cloned());
        let is_real = |column: Option<usize>| column.is_some_and(|at| table.columns[at].affinity == Affinity::Real);
        let all = index.columns.iter().chain(&index.appended);
        self.are_real.extend(all.map(|column| is_real(column.column)));
        self.names.push(index.name.clone());
    }

    fn text(&self, table: &Table) -> String {
        let rowid = if self.has_rowid { table.rowid_name() } else { None };
        let columns: Vec<&str> = rowid.iter().chain(&self.terms).map(String::as_str).collect();
        let predicate = self.predicate.as_ref().map_or(String::new(), |text| format!(" WHERE {text}"));
        format!("SELECT {} FROM {}{predicate}", columns.join(", "), scan_clause(table))
    }

    /// Appends the record of one index's entry in the current row.
    fn write_entry(&self, row: &Row<'_>, columns: Range<usize>, out: &mut Vec<u8>) -> rusqlite::Result<()> {
        let first = usize::from(self.has_rowid);
        let value =
            |column: usize| Ok::<_, rusqlite::Error>(recorded(row.get_ref(column)?, self.are_real[column - first]));
        if columns.len() > FEW_COLUMNS {
            let values = columns.map(value).collect::<rusqlite::Result<Vec<_>>>()?;
            write_record(&values, out);
            return Ok(());
        }
        let mut values = [Value::Null; FEW_COLUMNS];
        let count = columns.len();
        for (at, column) in columns.enumerate() {
            values[at] = value(column)?;
        }
        write_record(&values[..count], out);
        Ok(())
    }
}

/// Evaluates rows on one thread.
///
/// Memory: a few MiB. ORDER: [`add`](Self::add) rows; [`evaluate`](Self::evaluate) at the end of each part, so that an error
/// belongs to the part of its row.
pub(crate) struct Evaluator<'p> {
    plan: &'p RowEvaluation,
    connection: Option<Connection>,
    rows: SmallDatabase<'p>,
    /// The entries of each index that are not yet taken.
    chunks: Vec<RecordChunk>,
    record: Vec<u8>,
}

impl<'p> Evaluator<'p> {
    pub fn new(plan: &'p RowEvaluation) -> Self {
        let chunks = (0..plan.indexes).map(|_| RecordChunk::new()).collect();
        let rows = SmallDatabase::new(&plan.template);
        Self { plan, connection: None, rows, chunks, record: Vec::new() }
    }

    /// Adds the rows of `chunk`. Passes the number of an index and records of its entries to `take`.
    pub fn add(&mut self, chunk: &RecordChunk, take: &mut impl FnMut(usize, &RecordChunk) -> Result<()>) -> Result<()> {
        for row in 0..chunk.len() {
            if self.rows.is_full() {
                self.evaluate(take)?;
            }
            self.rows.add(chunk, row);
        }
        Ok(())
    }

    /// Evaluates all rows that were added.
    pub fn evaluate(&mut self, take: &mut impl FnMut(usize, &RecordChunk) -> Result<()>) -> Result<()> {
        if self.rows.rows() == 0 {
            return Ok(());
        }
        let Self { plan, connection: known, rows, chunks, record } = self;
        let failed = |error| explain(&error, &plan.table);
        let small = match known {
            Some(small) => small,
            None => known.insert(connection().map_err(failed)?),
        };
        rows.open_in(small).map_err(failed)?;
        rows.clear();
        if let Some(checks) = &plan.checks {
            checks.check(small)?;
        }
        for query in &plan.queries {
            run(small, query, &plan.table, chunks, record, take)?;
        }
        for (index, chunk) in chunks.iter_mut().enumerate().filter(|(_, chunk)| !chunk.is_empty()) {
            take(index, chunk)?;
            chunk.clear();
        }
        Ok(())
    }
}

/// Runs a query over a small database, and collects the entries.
fn run(
    small: &Connection,
    query: &Query,
    table: &Table,
    chunks: &mut [RecordChunk],
    record: &mut Vec<u8>,
    take: &mut impl FnMut(usize, &RecordChunk) -> Result<()>,
) -> Result<()> {
    let failed = |error: rusqlite::Error| query.failed(small, table, &error);
    let mut statement = small.prepare(&query.sql).map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let rowid = if query.has_rowid { row.get(0).map_err(failed)? } else { 0 };
        for Output { index, columns } in &query.outputs {
            record.clear();
            query.write_entry(row, columns.clone(), record).map_err(failed)?;
            let chunk = &mut chunks[*index];
            chunk.push(rowid, record);
            if chunk.is_full() {
                take(*index, chunk)?;
                chunk.clear();
            }
        }
    }
    Ok(())
}

impl Query {
    /// Returns the error of an expression that SQLite cannot evaluate, with the row.
    fn failed(&self, small: &Connection, table: &Table, error: &rusqlite::Error) -> Error {
        let explained = explain(error, table);
        if explained.kind() != ErrorKind::Constraint {
            return explained;
        }
        let what = if self.names.len() == 1 { "index" } else { "indexes" };
        let row = self.failing_row(small, table).map_or(String::new(), |row| format!(": {row}"));
        // An expression that may read the clock is evaluated as a computed column.
        let why = message(error).replace("in a generated column", "in an index");
        let message = format!("{what} {}: SQLite says: {why}{row}", self.names.join(", "));
        Error::new(ErrorKind::Constraint, message).in_table(&table.name)
    }

    /// Returns the key of the first row that cannot be evaluated, such as `rowid 7`.
    fn failing_row(&self, small: &Connection, table: &Table) -> Option<String> {
        let predicate = self.predicate.as_deref().unwrap_or("1");
        let terms: Vec<String> =
            self.terms.iter().map(|term| format!("CASE WHEN {predicate} THEN {term} END")).collect();
        let scan = scan_clause(table);
        let mut evaluate = small.prepare(&format!("SELECT {} FROM {scan}", terms.join(", "))).ok()?;
        let mut rows = evaluate.query([]).ok()?;
        let mut good = 0_usize;
        while rows.next().is_ok_and(|row| row.is_some()) {
            good += 1;
        }
        let keys = key_columns(table);
        let columns: Vec<&str> = keys.iter().map(|(sql, _)| sql.as_str()).collect();
        let find = format!("SELECT {} FROM {scan} LIMIT 1 OFFSET {good}", columns.join(", "));
        let text = |row: &Row<'_>| {
            let value = |(at, (_, name)): (usize, &(String, String))| {
                Ok::<_, rusqlite::Error>(format!("{name} {}", crate::sqlite::quote_sqlite(row.get_ref(at)?)))
            };
            Ok(keys.iter().enumerate().map(value).collect::<rusqlite::Result<Vec<_>>>()?.join(", "))
        };
        small.query_row(&find, [], text).ok()
    }
}
