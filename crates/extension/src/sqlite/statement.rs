//! Queries of the host's connection.

use super::api::{self, Api, Statement};
use super::host::{Failure, Host};
use super::values::Kind;
use std::ffi::{CStr, CString, c_char, c_int};
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A query of the host that runs row by row.
#[derive(Debug)]
pub struct Query<'h> {
    host: Host,
    statement: NonNull<Statement>,
    columns: usize,
    call: PhantomData<&'h Host>,
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepResult {
    /// There is a row.
    Row,
    /// There are no more rows.
    Done,
}

impl Host {
    /// Prepares a query, which must not change the database.
    ///
    /// # Errors
    /// A text that SQLite refuses, that holds several statements, changes something or returns no columns.
    pub fn query(&self, sql: &str) -> Result<Query<'_>, Failure> {
        let text = CString::new(sql).map_err(|_| Failure::new("the query holds a NUL"))?;
        let mut statement = std::ptr::null_mut();
        let mut rest = std::ptr::null();
        // SAFETY: the connection is open, and the text ends with a NUL.
        let code =
            unsafe { (self.api.prepare_v2)(self.connection, text.as_ptr(), -1, &raw mut statement, &raw mut rest) };
        if code != api::OK {
            return Err(self.failure());
        }
        let Some(statement) = NonNull::new(statement) else { return Err(Failure::new("the query is empty")) };
        let mut query = Query { host: *self, statement, columns: 0, call: PhantomData };
        // SAFETY: SQLite points into the text, at its end or before.
        let rest = unsafe { CStr::from_ptr(rest) }.to_string_lossy();
        if !rest.trim().is_empty() && self.is_statement(&rest) {
            return Err(Failure::new(format!("a second statement follows the query: {}", rest.trim())));
        }
        // SAFETY: the statement is prepared.
        if unsafe { (self.api.stmt_readonly)(query.raw()) } == 0 {
            return Err(Failure::new("the statement changes the database, and a query only reads it"));
        }
        // SAFETY: as above.
        let columns = unsafe { (self.api.column_count)(query.raw()) };
        query.columns = usize::try_from(columns).unwrap_or(0);
        if query.columns == 0 {
            return Err(Failure::new("the statement returns no columns"));
        }
        Ok(query)
    }

    /// Returns whether a text is more than comments.
    fn is_statement(&self, text: &str) -> bool {
        let Ok(text) = CString::new(text) else { return true };
        let mut statement = std::ptr::null_mut();
        // SAFETY: the connection is open, and the text ends with a NUL.
        let code = unsafe {
            (self.api.prepare_v2)(self.connection, text.as_ptr(), -1, &raw mut statement, std::ptr::null_mut())
        };
        // SAFETY: a statement is finalized once; NULL is allowed.
        unsafe { (self.api.finalize)(statement) };
        code != api::OK || !statement.is_null()
    }
}

impl Query<'_> {
    /// Returns whether the query was interrupted, if the host can tell.
    pub fn is_interrupted(&self) -> bool {
        self.host.is_interrupted()
    }

    fn raw(&self) -> *mut Statement {
        self.statement.as_ptr()
    }

    fn api(&self) -> &'static Api {
        self.host.api
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the name of a column.
    pub fn name(&self, column: usize) -> String {
        // SAFETY: the statement is prepared.
        self.text(unsafe { (self.api().column_name)(self.raw(), self.number(column)) })
    }

    /// Returns the type that a column is declared with. Empty for an expression.
    pub fn declared_type(&self, column: usize) -> String {
        // SAFETY: the statement is prepared.
        self.text(unsafe { (self.api().column_decltype)(self.raw(), self.number(column)) })
    }

    fn text(&self, text: *const c_char) -> String {
        match NonNull::new(text.cast_mut()) {
            // SAFETY: SQLite returns a text that ends with a NUL and stays until its next call.
            Some(text) => unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned(),
            None => String::new(),
        }
    }

    fn number(&self, column: usize) -> c_int {
        assert!(column < self.columns, "a column of the query");
        c_int::try_from(column).unwrap_or(c_int::MAX)
    }

    /// Goes to the next row.
    ///
    /// # Errors
    /// The error of SQLite: an interruption, too.
    pub fn step(&mut self) -> Result<StepResult, Failure> {
        // SAFETY: the statement is prepared.
        match unsafe { (self.api().step)(self.raw()) } {
            api::ROW => Ok(StepResult::Row),
            api::DONE => Ok(StepResult::Done),
            _ => Err(self.host.failure()),
        }
    }

    /// Returns the kind of a value of the row.
    #[inline]
    pub fn kind(&self, column: usize) -> Kind {
        // SAFETY: the statement is at a row.
        Kind::of(unsafe { (self.api().column_type)(self.raw(), self.number(column)) })
    }

    /// Returns an integer of the row.
    #[inline]
    pub fn int(&self, column: usize) -> i64 {
        // SAFETY: as above.
        unsafe { (self.api().column_int64)(self.raw(), self.number(column)) }
    }

    /// Returns a double of the row.
    #[inline]
    pub fn real(&self, column: usize) -> f64 {
        // SAFETY: as above.
        unsafe { (self.api().column_double)(self.raw(), self.number(column)) }
    }

    /// Returns the bytes of a text or blob of the row, until the next step.
    #[inline]
    pub fn bytes(&self, column: usize) -> &[u8] {
        let number = self.number(column);
        let data = if self.kind(column) == Kind::Text {
            // SAFETY: as above.
            unsafe { (self.api().column_text)(self.raw(), number) }
        } else {
            // SAFETY: as above.
            unsafe { (self.api().column_blob)(self.raw(), number) }.cast()
        };
        // SAFETY: as above. The length is asked after the bytes, as SQLite demands.
        let length = unsafe { (self.api().column_bytes)(self.raw(), number) };
        match usize::try_from(length) {
            // SAFETY: SQLite returned this number of bytes. They stay until the next step, which needs the whole query, because no call
            // asks for the value as another type.
            Ok(length) if length > 0 && !data.is_null() => unsafe { std::slice::from_raw_parts(data, length) },
            _ => &[],
        }
    }
}

impl Drop for Query<'_> {
    fn drop(&mut self) {
        // SAFETY: the statement is finalized once.
        unsafe { (self.api().finalize)(self.raw()) };
    }
}
