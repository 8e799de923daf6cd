//! Rows of Rust values, and the rows of a table that are not encoded yet.

use super::value::{ToValue, UnsupportedValue, Value};
use crate::pipeline::{ColumnBuilder, MAX_VALUE_BYTES, RowsInMemory, TableEncoder};
use crate::{Error, ErrorKind, Result};
use litepress_load::reader::{Batch, FileColumn, FileColumnKind};
use litepress_load::source::ColumnSource;
use litepress_rows::cells::BLOCK_ROWS;
use litepress_rows::{Message, Table, counted};
use std::collections::VecDeque;

/// Size of the values at which rows are encoded, if they are fewer than a block has.
const FULL_BYTES: usize = 1 << 20;

/// The values of one row, in the order of the columns.
///
/// Tuples of up to 16 values, arrays, slices and vectors are rows. A type of your own pushes its values:
///
/// ```
/// use litepress::{Row, RowValues, UnsupportedValue};
///
/// struct Metric {
///     name: String,
///     value: f64,
/// }
///
/// impl Row for Metric {
///     fn push_to(&self, row: &mut RowValues<'_>) -> Result<(), UnsupportedValue> {
///         row.push(&self.name)?;
///         row.push(self.value)
///     }
/// }
/// ```
pub trait Row {
    /// Pushes one value for every column.
    ///
    /// # Errors
    /// A value that SQLite has no form for.
    fn push_to(&self, row: &mut RowValues<'_>) -> Result<(), UnsupportedValue>;
}

impl<R: Row + ?Sized> Row for &R {
    #[inline]
    fn push_to(&self, row: &mut RowValues<'_>) -> Result<(), UnsupportedValue> {
        R::push_to(self, row)
    }
}

impl<T: ToValue> Row for [T] {
    #[inline]
    fn push_to(&self, row: &mut RowValues<'_>) -> Result<(), UnsupportedValue> {
        self.iter().try_for_each(|value| row.push(value))
    }
}

impl<T: ToValue, const LENGTH: usize> Row for [T; LENGTH] {
    #[inline]
    fn push_to(&self, row: &mut RowValues<'_>) -> Result<(), UnsupportedValue> {
        self.as_slice().push_to(row)
    }
}

impl<T: ToValue> Row for Vec<T> {
    #[inline]
    fn push_to(&self, row: &mut RowValues<'_>) -> Result<(), UnsupportedValue> {
        self.as_slice().push_to(row)
    }
}

macro_rules! tuple_is_row {
    ($($type:ident $position:tt),+) => {
        impl<$($type: ToValue),+> Row for ($($type,)+) {
            #[inline]
            fn push_to(&self, row: &mut RowValues<'_>) -> Result<(), UnsupportedValue> {
                $(row.push(&self.$position)?;)+
                Ok(())
            }
        }
    };
}

tuple_is_row!(A 0);
tuple_is_row!(A 0, B 1);
tuple_is_row!(A 0, B 1, C 2);
tuple_is_row!(A 0, B 1, C 2, D 3);
tuple_is_row!(A 0, B 1, C 2, D 3, E 4);
tuple_is_row!(A 0, B 1, C 2, D 3, E 4, F 5);
tuple_is_row!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuple_is_row!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
tuple_is_row!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8);
tuple_is_row!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9);
tuple_is_row!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10);
tuple_is_row!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11);
tuple_is_row!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12);
tuple_is_row!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13);
tuple_is_row!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13, O 14);
tuple_is_row!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13, O 14, P 15);

/// Takes the values of one row, column by column.
#[derive(Debug)]
pub struct RowValues<'b> {
    columns: &'b mut [BufferedColumn],
    /// Number of values so far, also those beyond the last column.
    pushed: usize,
    bytes: usize,
    may_be_refused: bool,
}

impl RowValues<'_> {
    /// Appends the value of the next column.
    ///
    /// # Errors
    /// A value that SQLite has no form for: the row is to end there.
    #[inline]
    pub fn push(&mut self, value: impl ToValue) -> Result<(), UnsupportedValue> {
        let value = value.to_value()?;
        if let Some(column) = self.columns.get_mut(self.pushed) {
            self.bytes += column.push(value)?;
            self.may_be_refused |= column.may_refuse(value);
        }
        self.pushed += 1;
        Ok(())
    }
}

/// A column of the rows that are not encoded yet.
#[derive(Debug)]
struct BufferedColumn {
    name: String,
    builder: ColumnBuilder,
    never_refused: Kinds,
}

/// Kinds of values, which a column stores whatever the values are. The encoder alone decides about all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kinds {
    null: bool,
    int: bool,
    real: bool,
    text: bool,
    blob: bool,
}

impl Kinds {
    const NONE: Self = Self { null: false, int: false, real: false, text: false, blob: false };
    const ALL: Self = Self { null: true, int: true, real: true, text: true, blob: true };

    /// Returns the kinds that the column at this position never refuses.
    fn of_column(table: &Table, position: usize) -> Self {
        let column = &table.columns[position];
        if table.rowid_alias == Some(position) {
            return Self { int: true, ..Self::NONE };
        }
        let kinds = match column.declared_type.to_ascii_uppercase().as_str() {
            _ if !table.strict => Self::ALL,
            "ANY" => Self::ALL,
            "INT" | "INTEGER" => Self { int: true, ..Self::NONE },
            "REAL" => Self { int: true, real: true, ..Self::NONE },
            "TEXT" => Self { text: true, ..Self::NONE },
            "BLOB" => Self { blob: true, ..Self::NONE },
            _ => Self::NONE,
        };
        Self { null: !column.not_null, ..kinds }
    }
}

impl BufferedColumn {
    /// Appends a value and returns its approximate size.
    #[inline]
    fn push(&mut self, value: Value<'_>) -> Result<usize, UnsupportedValue> {
        match value {
            Value::Null => self.builder.push_null(),
            Value::Int(int) => self.builder.push_int(int),
            Value::Real(real) if real.is_nan() => self.builder.push_null(),
            Value::Real(real) => self.builder.push_real(real),
            Value::Text(text) => {
                check_length(text.len())?;
                self.builder.push_text(text);
                return Ok(text.len());
            }
            Value::Blob(blob) => {
                check_length(blob.len())?;
                self.builder.push_blob(blob);
                return Ok(blob.len());
            }
        }
        Ok(size_of::<i64>())
    }

    #[inline]
    fn may_refuse(&self, value: Value<'_>) -> bool {
        !match value {
            Value::Null => self.never_refused.null,
            Value::Int(_) => self.never_refused.int,
            Value::Real(real) => self.never_refused.real && (self.never_refused.null || !real.is_nan()),
            Value::Text(_) => self.never_refused.text,
            Value::Blob(_) => self.never_refused.blob,
        }
    }
}

fn check_length(bytes: usize) -> Result<(), UnsupportedValue> {
    if bytes <= MAX_VALUE_BYTES {
        return Ok(());
    }
    let value = format!("{bytes} bytes");
    Err(UnsupportedValue::new(value, "the value is longer than the 1,000,000,000 bytes that SQLite allows", "cut it"))
}

/// The rows of one table that are not encoded yet: a block at most.
#[derive(Debug)]
pub(super) struct RowBuffer {
    columns: Vec<BufferedColumn>,
    column_sources: Vec<ColumnSource>,
    rows: usize,
    bytes: usize,
    /// The columns may hold values of a row that is not whole: its [`Row::push_to`] runs, or has panicked.
    has_torn_row: bool,
}

impl RowBuffer {
    /// Creates a buffer for rows with values for `columns`, or for all that are not computed.
    ///
    /// # Errors
    /// Columns that the table does not have or computes; columns that are left out and need a value.
    pub(super) fn new(encoder: &TableEncoder, columns: Option<&[&str]>) -> Result<Self> {
        let table = encoder.table();
        let all = || table.ordinary_columns().map(|position| table.columns[position].name.as_str()).collect();
        let names: Vec<&str> = columns.map_or_else(all, <[&str]>::to_vec);
        let kind =
            || FileColumnKind::Typed { declared_type: String::new(), reason: Message::default(), not_null: false };
        let fields: Vec<FileColumn> =
            names.iter().map(|name| FileColumn { name: (*name).to_owned(), kind: kind() }).collect();
        let column_sources = encoder.column_sources(&fields)?;
        let column = |name: &&str| {
            let position = table.column(name);
            BufferedColumn {
                name: position.map_or(*name, |position| &table.columns[position].name).to_owned(),
                builder: ColumnBuilder::default(),
                never_refused: position.map_or(Kinds::NONE, |position| Kinds::of_column(table, position)),
            }
        };
        Ok(Self { columns: names.iter().map(column).collect(), column_sources, rows: 0, bytes: 0, has_torn_row: false })
    }

    /// Returns whether the rows have values for these columns, in this order.
    pub(super) fn has_columns(&self, names: &[&str]) -> bool {
        let are_equal = |(column, name): (&BufferedColumn, &&str)| column.name.eq_ignore_ascii_case(name);
        self.columns.len() == names.len() && self.columns.iter().zip(names).all(are_equal)
    }

    /// Returns the number of rows.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Appends a row. Returns whether the rows are to be encoded now: the block is full, or only the encoder can tell
    /// whether the table takes the row, which the caller of this row wants to know.
    ///
    /// # Errors
    /// Too few or too many values; a value that SQLite has no form for. The row is not in the buffer then.
    #[inline]
    pub(super) fn push(&mut self, row: &(impl Row + ?Sized), table: &str, rows_before: u64) -> Result<bool> {
        if std::mem::replace(&mut self.has_torn_row, true) {
            self.remove_torn_row();
        }
        let mut values = RowValues { columns: &mut self.columns, pushed: 0, bytes: 0, may_be_refused: false };
        let done = row.push_to(&mut values);
        let RowValues { pushed, bytes, may_be_refused, .. } = values;
        if done.is_err() || pushed != self.columns.len() {
            return Err(self.refuse(done, pushed, table, rows_before));
        }
        self.has_torn_row = false;
        self.rows += 1;
        self.bytes += bytes;
        Ok(may_be_refused || self.rows == BLOCK_ROWS || self.bytes >= FULL_BYTES)
    }

    #[cold]
    fn remove_torn_row(&mut self) {
        self.columns.iter_mut().for_each(|column| column.builder.truncate(self.rows));
    }

    /// Removes the values of a refused row and says why it is refused.
    #[cold]
    fn refuse(&mut self, done: Result<(), UnsupportedValue>, pushed: usize, table: &str, rows_before: u64) -> Error {
        self.remove_torn_row();
        self.has_torn_row = false;
        let in_row = |error: Error| error.in_table(table).in_record(rows_before + self.rows as u64 + 1);
        match done {
            Err(unsupported) => {
                let error = Error::new(ErrorKind::Data, unsupported.message).advise(unsupported.advice);
                let error = in_row(error.with_value(unsupported.value));
                match self.columns.get(pushed) {
                    Some(column) => error.in_column(&column.name),
                    None => error,
                }
            }
            Ok(()) => {
                let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
                let message = format!(
                    "the row has {} for {}",
                    counted(pushed as u64, "value"),
                    counted(names.len() as u64, "column")
                );
                in_row(Error::new(ErrorKind::Data, message)).advise(format!("give values for {}", names.join(", ")))
            }
        }
    }

    /// Encodes all rows.
    ///
    /// # Errors
    /// A row that breaks a rule of the table.
    pub(super) fn encode(&mut self, encoder: &mut TableEncoder) -> Result<()> {
        if std::mem::take(&mut self.has_torn_row) {
            self.remove_torn_row();
        }
        if self.rows == 0 {
            return Ok(());
        }
        let blocks = self.columns.iter_mut().map(|column| column.builder.finish()).collect();
        let batch = Batch { blocks, rows: self.rows, ..Batch::default() };
        let records = self.rows as u64;
        let first_record = encoder.rows() + 1;
        (self.rows, self.bytes) = (0, 0);
        let mut piece = RowsInMemory { batches: VecDeque::from([batch]), first_record, records };
        encoder.encode(&mut piece, &self.column_sources)
    }
}
