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

use super::checks::{BROKEN, Checks};
use super::row_filter::RowFilter;
use super::select::{Select, SelectedRow};
use super::small_database::{SmallDatabase, Template, connection};
use super::{explain, key_columns, recorded, scan_clause};
use crate::Result;
use crate::sqlite::message;
use crate::{Error, ErrorKind};
use litepress_format::header::TextEncoding;
use litepress_format::record::write_record;
use litepress_format::value::Value;
use litepress_rows::schema::{Generated, Index};
use litepress_rows::{Affinity, Column, RecordChunk, Table, quoted_name};
use rusqlite::{Connection, Row};
use std::ops::Range;
use std::sync::Arc;

/// Number of columns of an entry whose values need no allocation.
const FEW_COLUMNS: usize = 8;

/// The evaluation of the rows of one table.
#[derive(Clone, Debug)]
pub(crate) struct RowEvaluation {
    table: Table,
    template: Arc<Template>,
    queries: Vec<Query>,
    checks: Option<Checks>,
    /// Rows of which nothing needs to be evaluated, if that can be told.
    filter: Option<RowFilter>,
    indexes: usize,
    encoding: TextEncoding,
}

/// A SELECT that evaluates the keys of some indexes.
#[derive(Clone, Debug)]
struct Query {
    sql: String,
    predicate: Option<String>,
    /// The terms, without the rowid.
    terms: Vec<String>,
    has_rowid: bool,
    /// An expression that is 1 for rows that break a CHECK constraint, if this query judges them. It comes behind the terms.
    is_broken: Option<String>,
    outputs: Vec<Output>,
    /// The terms that are REAL columns of the table.
    are_real: Vec<bool>,
    /// Names of the indexes.
    names: Vec<String>,
}

/// The terms of a query that are the columns of an index.
#[derive(Clone, Debug)]
struct Output {
    /// Number of the index.
    index: usize,
    terms: Range<usize>,
}

impl RowEvaluation {
    /// Prepares the evaluation of these indexes of a table, and of its CHECK constraints if it `has_checks`. Returns `None` if
    /// there is nothing to evaluate. The texts of all records have this encoding.
    ///
    /// # Errors
    /// If SQLite refuses the table, which it has accepted before.
    pub fn new(table: &Table, indexes: &[&Index], has_checks: bool, encoding: TextEncoding) -> Result<Option<Self>> {
        Self::with(table, indexes, has_checks, Vec::new(), encoding)
    }

    /// Prepares the evaluation of what SQLite evaluates of a row before it looks for other rows with its key: virtual columns and CHECK
    /// constraints. With `has_keys`, the keys of indexes too. Returns `None` if there is nothing to evaluate.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of_insert(table: &Table, has_keys: bool) -> Result<Option<Self>> {
        let indexes: Vec<&Index> = table.indexes.iter().filter(|index| has_keys && index.evaluated.is_some()).collect();
        let is_virtual = |column: &&Column| column.generated == Generated::Virtual;
        let columns = table.columns.iter().filter(is_virtual).map(|column| quoted_name(&column.name)).collect();
        Self::with(table, &indexes, true, columns, TextEncoding::Utf8)
    }

    /// Prepares the evaluation of indexes, CHECK constraints and `others`: terms whose values do not matter.
    fn with(
        table: &Table,
        indexes: &[&Index],
        has_checks: bool,
        others: Vec<String>,
        encoding: TextEncoding,
    ) -> Result<Option<Self>> {
        let Some(evaluation) = &table.evaluation else { return Ok(None) };
        let checks = if has_checks { Checks::new(table) } else { None };
        if indexes.is_empty() && checks.is_none() && others.is_empty() {
            return Ok(None);
        }
        let is_only_partial = checks.is_none() && others.is_empty() && encoding == TextEncoding::Utf8;
        let filter = if is_only_partial { RowFilter::new(table, indexes) } else { None };
        let mut queries = queries_of(table, indexes);
        if !others.is_empty() {
            let are_real = vec![false; others.len()];
            let query = Query::new(table, None);
            queries.push(Query { terms: others, has_rowid: false, are_real, ..query });
        }
        if let (Some(checks), Some(query)) = (&checks, queries.iter_mut().find(|query| query.predicate.is_none())) {
            query.is_broken = Some(checks.is_broken().to_owned());
        }
        queries.iter_mut().for_each(|query| query.sql = query.text(table));
        let reads: Vec<String> =
            queries.iter().flat_map(|query| query.reads(table)).chain(checks.iter().flat_map(Checks::reads)).collect();
        let template = Template::new(table, &evaluation.statements, &reads, encoding)?;
        Ok(Some(Self { table: table.clone(), template, queries, checks, filter, indexes: indexes.len(), encoding }))
    }

    /// Fails if a row of a small database breaks a CHECK constraint.
    fn check(&self, small: &Connection) -> Result<()> {
        self.checks.as_ref().map_or(Ok(()), |checks| checks.check(small))
    }
}

/// Returns the queries for the keys of indexes: one for those without a WHERE clause, and one for each WHERE clause.
fn queries_of(table: &Table, indexes: &[&Index]) -> Vec<Query> {
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
    queries
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
            is_broken: None,
            outputs: Vec::new(),
            are_real: Vec::new(),
            names: Vec::new(),
        }
    }

    fn add(&mut self, table: &Table, number: usize, index: &Index) {
        let texts = index.evaluated.as_ref().expect("only indexes with texts are evaluated");
        let start = self.terms.len();
        self.outputs.push(Output { index: number, terms: start..start + texts.terms.len() });
        self.terms.extend(texts.terms.iter().cloned());
        let is_real = |column: Option<usize>| column.is_some_and(|at| table.columns[at].affinity == Affinity::Real);
        let all = index.columns.iter().chain(&index.appended);
        self.are_real.extend(all.map(|column| is_real(column.column)));
        self.names.push(index.name.clone());
    }

    fn text(&self, table: &Table) -> String {
        let rowid = if self.has_rowid { table.rowid_name() } else { None };
        let predicate = self.predicate.as_ref().map_or(String::new(), |text| format!(" WHERE {text}"));
        let columns = rowid.iter().chain(&self.terms).chain(&self.is_broken);
        let columns: Vec<&str> = columns.map(String::as_str).collect();
        format!("SELECT {} FROM {}{predicate}", columns.join(", "), scan_clause(table))
    }

    /// Returns the column of the result with a term.
    fn column(&self, term: usize) -> usize {
        usize::from(self.has_rowid) + term
    }

    /// Returns whether the current row breaks a CHECK constraint that this query judges.
    fn breaks_check(&self, row: SelectedRow<'_>) -> rusqlite::Result<bool> {
        Ok(self.is_broken.is_some() && row.value(self.column(self.terms.len()))? == BROKEN)
    }

    /// Returns the value of a term in the current row.
    fn value<'r>(&self, row: SelectedRow<'r>, term: usize) -> rusqlite::Result<Value<'r>> {
        Ok(recorded(row.value(self.column(term))?, self.are_real[term]))
    }

    /// Appends the record of one index's entry in the current row.
    fn write_entry(&self, row: SelectedRow<'_>, terms: Range<usize>, out: &mut Vec<u8>) -> rusqlite::Result<()> {
        if terms.len() > FEW_COLUMNS {
            let values = terms.map(|term| self.value(row, term)).collect::<rusqlite::Result<Vec<_>>>()?;
            write_record(&values, out);
            return Ok(());
        }
        let mut values = [Value::Null; FEW_COLUMNS];
        let count = terms.len();
        for (value, term) in values.iter_mut().zip(terms) {
            *value = self.value(row, term)?;
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
    rows: SmallDatabase,
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
            if self.plan.filter.as_ref().is_some_and(|filter| filter.excludes(chunk.record(row))) {
                continue;
            }
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
            // A connection takes the next database for one in UTF-8, and refuses it if the last one was not.
            Some(small) if plan.encoding == TextEncoding::Utf8 => small,
            _ => known.insert(connection(plan.encoding).map_err(failed)?),
        };
        rows.open_in(small).map_err(failed)?;
        rows.clear();
        if !plan.queries.iter().any(|query| query.is_broken.is_some()) {
            plan.check(small)?;
        }
        for query in &plan.queries {
            run(small, query, plan, chunks, record, take)?;
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
    plan: &RowEvaluation,
    chunks: &mut [RecordChunk],
    record: &mut Vec<u8>,
    take: &mut impl FnMut(usize, &RecordChunk) -> Result<()>,
) -> Result<()> {
    let failed = |error: rusqlite::Error| match plan.check(small) {
        Err(error) if query.is_broken.is_some() => error,
        _ => query.failed(small, &plan.table, &error),
    };
    let mut rows = Select::new(small, &query.sql).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let rowid = match row.value(0).map_err(failed)? {
            Value::Int(rowid) if query.has_rowid => rowid,
            _ => 0,
        };
        if query.breaks_check(row).map_err(failed)? {
            plan.check(small)?;
        }
        for Output { index, terms } in &query.outputs {
            record.clear();
            query.write_entry(row, terms.clone(), record).map_err(failed)?;
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
        let mut evaluate = small.prepare(&self.text_for_all(table)).ok()?;
        let mut rows = evaluate.query([]).ok()?;
        let mut good = 0_usize;
        while rows.next().is_ok_and(|row| row.is_some()) {
            good += 1;
        }
        let find = format!("{} LIMIT 1 OFFSET {good}", keys_text(table));
        let text = |row: &Row<'_>| {
            let value = |(at, (_, name)): (usize, &(String, String))| {
                Ok::<_, rusqlite::Error>(format!("{name} {}", crate::sqlite::quote_sqlite(row.get_ref(at)?)))
            };
            Ok(key_columns(table).iter().enumerate().map(value).collect::<rusqlite::Result<Vec<_>>>()?.join(", "))
        };
        small.query_row(&find, [], text).ok()
    }

    /// Returns a statement that evaluates the terms where the predicate holds, and gives a row for every row of the table.
    fn text_for_all(&self, table: &Table) -> String {
        let predicate = self.predicate.as_deref().unwrap_or("1");
        let terms: Vec<String> =
            self.terms.iter().map(|term| format!("CASE WHEN {predicate} THEN {term} END")).collect();
        format!("SELECT {} FROM {}", terms.join(", "), scan_clause(table))
    }

    /// Returns all statements over rows.
    fn reads(&self, table: &Table) -> [String; 3] {
        [self.sql.clone(), self.text_for_all(table), keys_text(table)]
    }
}

/// Returns a statement for the keys of all rows.
fn keys_text(table: &Table) -> String {
    let keys = key_columns(table);
    let columns: Vec<&str> = keys.iter().map(|(sql, _)| sql.as_str()).collect();
    format!("SELECT {} FROM {}", columns.join(", "), scan_clause(table))
}
