//! Columns, each whole, become pieces.

use crate::feed::{PieceMaker, ReadyPiece};
use litepress_load::reader::Field;
use litepress_rows::Table;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// Columns of one length.
pub struct Columns {
    fields: Vec<Field>,
}

impl Columns {
    pub fn new(
        _py: Python<'_>,
        _described: &Bound<'_, PyAny>,
        _table: &str,
        _adapters: Option<&Bound<'_, PyAny>>,
        _known: Option<&Table>,
    ) -> PyResult<Self> {
        Err(PyTypeError::new_err("columns are not taken yet"))
    }
}

impl PieceMaker for Columns {
    fn fields(&self) -> &[Field] {
        &self.fields
    }

    fn next_piece(&mut self, _py: Python<'_>) -> PyResult<Option<ReadyPiece>> {
        Ok(None)
    }
}
