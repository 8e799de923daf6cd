//! One column of arrays in memory, converted a range of rows at a time.

use super::convert::Column;
use super::form::SemanticType;
use super::narrow::narrowed;
use super::texts::array_as_bytes;
use super::weight::byte_weight;
use super::{batches, describe};
use crate::guard::guard;
use crate::options::InvalidUtf8;
use crate::reader::{BadRecord, FileColumn, FileColumnKind};
use arrow_array::{Array, ArrayRef};
use arrow_schema::FieldRef;
use litepress_rows::cells::BLOCK_ROWS;
use litepress_rows::{Affinity, CellBlock, Error, ErrorKind, Result};
use std::ops::Range;
use std::sync::Arc;

/// Most bytes of values in a range that [`ArrayColumn::room`] allows.
const RANGE_BYTES: usize = 4 << 20;

/// A column of arrays in memory.
#[derive(Clone, Debug)]
pub struct ArrayColumn {
    column: Column,
    field: FileColumn,
    /// The arrays that have rows, each with the number of its first row.
    arrays: Vec<(usize, ArrayRef)>,
    /// The array of the last range. Ranges are asked for in order.
    current: usize,
}

impl ArrayColumn {
    /// Takes the arrays of a column. `form` is the form in which it is stored, if not the default one.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if the values do not have this form; [`ErrorKind::Data`] if an array breaks the rules of Arrow.
    pub fn new(name: &str, field: &FieldRef, arrays: &[ArrayRef], form: Option<&str>) -> Result<Self> {
        let damaged =
            |why| Error::new(ErrorKind::Data, format!("the data break the rules of Arrow: {why}")).in_column(name);
        let field: FieldRef = Arc::new(field.as_ref().clone().with_name(name));
        batches::refuse_depth(&field)?;
        let meaning = SemanticType::of_field(&field);
        let meaning = if batches::reads_ahead(field.data_type()) { narrowed(meaning, arrays.iter()) } else { meaning };
        let chosen = meaning.form(form, Affinity::Blob, name)?;
        let mut described = describe(&field, meaning, &batches::origin(&field));
        if let (Some(_), FileColumnKind::Typed { declared_type, .. }) = (form, &mut described.kind) {
            chosen.declared_type().clone_into(declared_type);
        }
        let mut first = 0;
        let mut taken = Vec::new();
        for array in arrays.iter().filter(|array| !array.is_empty()) {
            taken.push((first, guard(|| array_as_bytes(array)).map_err(damaged)?));
            first += array.len();
        }
        let column = Column::new(field, meaning, chosen, InvalidUtf8::default());
        Ok(Self { column, field: described, arrays: taken, current: 0 })
    }

    /// Describes the column for table definitions.
    pub fn field(&self) -> &FileColumn {
        &self.field
    }

    /// Sets the affinity of the table's column: a TEXT column keeps the digits of decimals.
    ///
    /// # Errors
    /// None: the default form is one of the values' forms.
    pub fn store_in(&mut self, affinity: Affinity) -> Result<()> {
        if self.column.form == self.column.meaning.default_form() {
            self.column.form = self.column.meaning.form(None, affinity, &self.field.name)?;
        }
        Ok(())
    }

    /// Returns the number of rows from this one on that [`fill`](Self::fill) takes at once, at least 1.
    pub fn room(&mut self, from: usize) -> usize {
        let Some((first, array)) = self.array_of(from) else { return BLOCK_ROWS };
        let at = from - first;
        let mut rows = BLOCK_ROWS.min(array.len() - at);
        while rows > 1 && byte_weight(array, at..at + rows) > RANGE_BYTES {
            rows /= 2;
        }
        rows
    }

    /// Fills a block with a range of rows that [`room`](Self::room) allows, and appends those that cannot be stored to `bad`.
    /// Returns the approximate size of values of variable length, in bytes.
    ///
    /// # Errors
    /// The array breaks the rules of Arrow.
    pub fn fill(&mut self, rows: Range<usize>, block: &mut CellBlock, bad: &mut Vec<BadRecord>) -> Result<usize> {
        let Some((first, array)) = self.array_of(rows.start) else { return Ok(0) };
        let array = array.slice(rows.start - first, rows.len());
        let bytes = byte_weight(&array, 0..rows.len());
        let filled = guard(|| {
            self.column.fill(&array, None, block, bad);
            Ok(bytes)
        });
        filled.map_err(|why| {
            Error::new(ErrorKind::Data, format!("the data break the rules of Arrow: {why}")).in_column(&self.field.name)
        })
    }

    /// Returns the array that has this row, and the number of its first row.
    fn array_of(&mut self, row: usize) -> Option<(usize, &ArrayRef)> {
        let has = |(first, array): &(usize, ArrayRef)| (*first..first + array.len()).contains(&row);
        if !self.arrays.get(self.current).is_some_and(has) {
            self.current = self.arrays.iter().position(has)?;
        }
        let (first, array) = &self.arrays[self.current];
        Some((*first, array))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Int64Array, StringArray};
    use arrow_schema::{DataType, Field as ArrowField};

    fn filled(column: &mut ArrayColumn, rows: usize) -> (Vec<String>, Vec<String>) {
        let (mut values, mut errors, mut at) = (Vec::new(), Vec::new(), 0);
        while at < rows {
            let room = column.room(at).min(rows - at);
            let (mut block, mut bad) = (CellBlock::default(), Vec::new());
            column.fill(at..at + room, &mut block, &mut bad).unwrap();
            values.extend((0..room).map(|row| litepress_rows::quote(&block.value(row))));
            errors.extend(bad.into_iter().map(|bad| format!("{}: {}", at + bad.row, bad.error)));
            at += room;
        }
        (values, errors)
    }

    #[test]
    fn ranges_end_with_their_arrays() {
        let arrays: [ArrayRef; 4] = [
            Arc::new(Int64Array::from(vec![1, 2])),
            Arc::new(Int64Array::from(Vec::<i64>::new())),
            Arc::new(Int64Array::from(vec![Some(3), None])),
            Arc::new(Int64Array::from(vec![5])),
        ];
        let field = Arc::new(ArrowField::new("", DataType::Int64, true));
        let mut column = ArrayColumn::new("n", &field, &arrays, None).unwrap();
        assert_eq!((column.room(0), column.room(1), column.room(4), column.field().name.as_str()), (2, 1, 1, "n"));
        assert_eq!(filled(&mut column, 5).0, ["1", "2", "3", "NULL", "5"]);
        let mut texts = ArrayColumn::new("n", &field, &arrays, Some("text")).unwrap();
        assert_eq!(filled(&mut texts, 5).0, ["'1'", "'2'", "'3'", "NULL", "'5'"]);
        assert_eq!(ArrayColumn::new("n", &field, &arrays, Some("hex")).unwrap_err().kind(), ErrorKind::Usage);
    }

    #[test]
    fn long_values_make_short_ranges() {
        let text = "x".repeat(RANGE_BYTES / 2 + 1);
        let array: ArrayRef = Arc::new(StringArray::from(vec![text.as_str(); 8]));
        let field = Arc::new(ArrowField::new("", DataType::Utf8, true));
        let mut column = ArrayColumn::new("t", &field, &[array], None).unwrap();
        assert_eq!(column.room(0), 1);
        assert_eq!(filled(&mut column, 8).0.len(), 8);
    }
}
