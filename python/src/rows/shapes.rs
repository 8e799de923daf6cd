//! Appends a row by its shape: a sequence, a mapping, or an object with attributes.

use super::{Column, TableRows, other_keys};
use crate::cells::{Place, shown, type_name};
use crate::errors::exception;
use litepress_rows::error::{counted, grouped};
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

impl TableRows {
    pub(super) fn push_sequence(&mut self, row: &Bound<'_, PyAny>) -> PyResult<usize> {
        self.check_names(row)?;
        if let Ok(tuple) = row.cast::<PyTuple>() {
            return self.push_values(row, tuple.len(), tuple.iter_borrowed().map(|value| value.to_owned()));
        }
        if row.is_instance_of::<PyList>()
            && let Ok(list) = row.cast::<PyList>()
        {
            return self.push_values(row, list.len(), list.iter());
        }
        let data = row.py().import("litepress._data")?;
        if !data.call_method1("is_sequence", (row,))?.is_truthy()? {
            return Err(self.other_shape(row, "a sequence"));
        }
        let tuple = PyTuple::new(row.py(), row.try_iter()?.collect::<PyResult<Vec<_>>>()?)?;
        self.push_values(row, tuple.len(), tuple.iter())
    }

    fn push_values<'py>(
        &mut self,
        row: &Bound<'py, PyAny>,
        len: usize,
        values: impl Iterator<Item = Bound<'py, PyAny>>,
    ) -> PyResult<usize> {
        if len != self.columns.len() {
            return Err(self.other_length(row, len));
        }
        let place = Place { table: &self.table, fields: self.fields.as_deref(), record: self.next_record() };
        let (mut bytes, mut pushed) = (0, 0);
        for (column, value) in self.columns.iter_mut().zip(values) {
            bytes += column.push(&value, &self.adapter, &place)?;
            pushed += 1;
        }
        // An adapter may have changed the list.
        if pushed < len { Err(self.other_length(row, pushed)) } else { Ok(bytes) }
    }

    pub(super) fn push_mapping(&mut self, row: &Bound<'_, PyAny>) -> PyResult<usize> {
        if row.is_instance_of::<PyDict>()
            && let Ok(dict) = row.cast::<PyDict>()
        {
            return self.push_dict(dict);
        }
        if !row.hasattr("keys")? {
            return Err(self.other_shape(row, "a mapping"));
        }
        let dict = row.py().get_type::<PyDict>().call1((row,))?;
        self.push_dict(dict.cast::<PyDict>()?)
    }

    fn push_dict(&mut self, dict: &Bound<'_, PyDict>) -> PyResult<usize> {
        let place = Place { table: &self.table, fields: self.fields.as_deref(), record: self.next_record() };
        let (mut bytes, mut found) = (0, 0);
        for column in &mut self.columns {
            let Some(value) = dict.get_item(column.key.bind_borrowed(dict.py()))? else {
                column.builder.push_null();
                continue;
            };
            bytes += column.push(&value, &self.adapter, &place)?;
            found += 1;
        }
        if found < dict.len() {
            bytes += self.push_new_keys(dict)?;
        }
        if self.updates {
            self.check_keys(dict)?;
        }
        Ok(bytes)
    }

    /// Refuses a row whose keys differ from those of the rows before: the NULL of a key that only some rows have would take the place
    /// of a value in the database.
    fn check_keys(&self, dict: &Bound<'_, PyDict>) -> PyResult<()> {
        let record = self.next_record();
        let is_first = self.fields.is_none() && self.piece_rows == 0;
        let seen = || self.columns.iter().filter(|column| column.first_seen > 0);
        if is_first || dict.len() == seen().count() && seen().all(|column| column.first_seen < record) {
            return Ok(());
        }
        let py = dict.py();
        let lacked = seen().find(|column| !dict.contains(column.key.bind(py)).unwrap_or(true));
        match lacked.or(seen().find(|column| column.first_seen == record)) {
            Some(column) => Err(exception(py, &other_keys(&self.table, record, &column.name, lacked.is_some()))),
            None => Ok(()),
        }
    }

    /// Appends the values of keys that have no column yet. Only the first piece may add columns, and none that a given table
    /// lacks.
    #[cold]
    fn push_new_keys(&mut self, dict: &Bound<'_, PyDict>) -> PyResult<usize> {
        let py = dict.py();
        let mut bytes = 0;
        // An adapter may change the row.
        for (key, value) in dict.copy()?.iter() {
            let Ok(name) = key.extract::<String>() else {
                let message = format!("a key is {}, and columns have names that are str", shown(&key));
                return Err(self.data_error(py, message, None, None));
            };
            if self.columns.iter().any(|column| column.key.bind(py) == name.as_str()) {
                continue;
            }
            let at = self.column_of_key(dict, &name)?;
            let place = Place { table: &self.table, fields: self.fields.as_deref(), record: self.next_record() };
            let column = &mut self.columns[at];
            column.builder.truncate(self.block_rows);
            bytes += column.push(&value, &self.adapter, &place)?;
        }
        Ok(bytes)
    }

    /// Returns the position of the column for a key that is new, and adds the column if there is none.
    fn column_of_key(&mut self, dict: &Bound<'_, PyDict>, name: &str) -> PyResult<usize> {
        let py = dict.py();
        let is_open = self.known.is_none() && self.names.is_none() && self.fields.is_none();
        if is_open {
            self.columns.push(Column::new(py, name, self.block_rows));
            return Ok(self.columns.len() - 1);
        }
        // SQLite ignores the case of names. A row with the same name in two spellings is refused.
        let is_same = |column: &Column| column.name.eq_ignore_ascii_case(name);
        let is_free = |at: &usize| !dict.contains(self.columns[*at].key.bind(py)).unwrap_or(true);
        let found = self.columns.iter().position(is_same).filter(|_| self.known.is_some());
        if let Some(at) = found.filter(is_free) {
            self.columns[at].key = PyString::intern(py, name).unbind();
            return Ok(at);
        }
        Err(self.unknown_key(py, name))
    }

    fn unknown_key(&self, py: Python<'_>, name: &str) -> PyErr {
        let columns: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let columns = columns.join(", ");
        if self.left_out.iter().any(|left_out| left_out.eq_ignore_ascii_case(name)) {
            let message = format!("the row has '{name}', which the first {} rows left out", grouped(self.rows_before));
            let advice =
                "give the column in all rows, or None in the first: rows without it were numbered, or have its DEFAULT";
            return self.data_error(py, message, None, Some(advice));
        }
        if self.known.is_some() || self.names.is_some() {
            let message = format!("the row has '{name}', and the table has no column of this name to fill");
            return self.data_error(py, message, None, Some(&format!("it has {columns}")));
        }
        let message = format!("the row has '{name}', which none of the first {} rows has", grouped(self.rows_before));
        self.data_error(py, message, None, Some("name all columns with columns=, or give a schema"))
    }

    pub(super) fn push_attributes(&mut self, row: &Bound<'_, PyAny>) -> PyResult<usize> {
        self.check_names(row)?;
        let py = row.py();
        let place = Place { table: &self.table, fields: self.fields.as_deref(), record: self.next_record() };
        let mut bytes = 0;
        for column in &mut self.columns {
            let value = row.getattr(column.key.bind_borrowed(py)).map_err(|error| {
                let is_absent = error.is_instance_of::<PyAttributeError>(py);
                if is_absent { place.no_attribute(row, &column.name) } else { error }
            })?;
            bytes += column.push(&value, &self.adapter, &place)?;
        }
        Ok(bytes)
    }

    #[cold]
    fn other_length(&self, row: &Bound<'_, PyAny>, len: usize) -> PyErr {
        let [values, columns] =
            [(len, "value"), (self.columns.len(), "column")].map(|(n, noun)| counted(n as u64, noun));
        let message = format!("the row has {values} instead of {columns}");
        self.data_error(row.py(), message, Some(shown(row)), None)
    }

    #[cold]
    fn other_shape(&self, row: &Bound<'_, PyAny>, expected: &str) -> PyErr {
        let message = format!("the row is of type {} and not {expected}, as the first row is", type_name(row));
        self.data_error(row.py(), message, Some(shown(row)), None)
    }
}
