//! Holds the cells of a sheet column by column.

use super::moments::{Form, duration, is_shown, iso_duration};
use crate::options::ReadOptions;
use crate::schema::distinct;
use calamine::ExcelDateTime;
use litepress_rows::{Error, ErrorKind, OptionName, Result, grouped, message};
use std::collections::{BTreeMap, HashMap, hash_map};
use std::iter;
use std::path::{Path, PathBuf};

/// A cell as a workbook gives it.
#[derive(Debug)]
pub(super) enum Cell<'c> {
    Int(i64),
    Real(f64),
    Text(&'c str),
    /// A text that other cells may have, too: at the same address, as long as the workbook is open.
    Shared(&'c str),
    Boolean(bool),
    /// A date, a date with a time, or a time.
    Moment(ExcelDateTime),
    /// Number of days.
    Duration(f64),
    /// ISO 8601: `2024-03-01T12:30:00`.
    IsoMoment(&'c str),
    /// ISO 8601: `PT12H30M00S`.
    IsoDuration(&'c str),
    Error(String),
    /// A formula whose value the file does not have: programs that do not compute write such.
    Uncomputed,
    Empty,
}

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Text,
    True,
    False,
}

/// The cells of a sheet that have a value.
#[derive(Debug, Default)]
pub(super) struct SheetCells {
    columns: BTreeMap<u32, Column>,
    /// The places of long texts that cells share, by column and address.
    shared: HashMap<(u32, usize), usize>,
    errors: Told,
    /// Formulas without a value.
    uncomputed: Told,
    /// Whole numbers of which a double may have lost digits.
    rounded: Told,
    /// The last row of a column with an error or a formula without a value.
    last_nulls: BTreeMap<u32, u32>,
}

/// Cells that a note tells of.
#[derive(Debug, Default)]
struct Told {
    count: u64,
    /// The name and the text of the first one.
    first: Option<(String, String)>,
}

impl Told {
    fn add(&mut self, row: u32, column: u32, text: impl FnOnce() -> String) {
        self.count += 1;
        self.first.get_or_insert_with(|| (cell_name(column, row), text()));
    }
}

/// The values of a column in the order of rows.
#[derive(Debug, Default)]
struct Column {
    values: Vec<Entry>,
    texts: Vec<u8>,
    /// Dates and times by position in `values`: their text depends on the others.
    moments: Vec<(usize, ExcelDateTime)>,
}

/// A value: its row, and the place of its text.
#[derive(Clone, Copy, Debug)]
struct Entry {
    row: u32,
    len: u32,
    start: usize,
    kind: Kind,
}

impl SheetCells {
    /// Returns whether no cell has a value.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Adds a cell. Rows and columns are counted from 0.
    pub fn add(&mut self, row: u32, column: u32, cell: Cell<'_>) {
        let (kind, text) = match cell {
            Cell::Empty | Cell::Text("") | Cell::Shared("") => return,
            Cell::Shared(text) if text.len() > SHORT_TEXT => return self.add_shared(row, column, text),
            Cell::Error(error) => {
                self.errors.add(row, column, || error);
                return self.add_null(row, column);
            }
            Cell::Uncomputed => {
                self.uncomputed.add(row, column, String::new);
                return self.add_null(row, column);
            }
            Cell::Moment(moment) => return self.columns.entry(column).or_default().add_moment(row, moment),
            Cell::Int(int) => (Kind::Number, int.to_string()),
            Cell::Real(real) => {
                if is_long(real) {
                    self.rounded.add(row, column, || number(real));
                }
                (Kind::Number, number(real))
            }
            Cell::Text(text) | Cell::Shared(text) => (Kind::Text, text.to_owned()),
            Cell::Boolean(flag) => (if flag { Kind::True } else { Kind::False }, String::new()),
            Cell::Duration(days) => (Kind::Text, duration(days)),
            Cell::IsoMoment(text) => (Kind::Text, text.replacen('T', " ", 1)),
            Cell::IsoDuration(text) => (Kind::Text, iso_duration(text).unwrap_or_else(|| text.to_owned())),
        };
        self.columns.entry(column).or_default().add(row, kind, &text);
    }

    /// Adds a cell that is no value, but makes its row a record.
    fn add_null(&mut self, row: u32, column: u32) {
        let last = self.last_nulls.entry(column).or_default();
        *last = row.max(*last);
    }

    /// Returns the first row with a value, and the last one of a column with a value.
    fn rows(&self) -> (u32, u32) {
        let nulls = self.last_nulls.iter().filter(|(column, _)| self.columns.contains_key(column)).map(|(_, row)| *row);
        let rows = self.columns.values().flat_map(|column| &column.values).map(|entry| entry.row);
        let (first, last) = (rows.clone().min(), rows.chain(nulls).max());
        first.zip(last).expect("a cell has a value")
    }

    /// Returns notes of the cells that lost something.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let Self { errors, uncomputed, rounded, .. } = self;
        if let Some((cell, error)) = &errors.first {
            notes.push(match errors.count {
                1 => format!("cell {cell} holds the error {error} and is NULL"),
                count => format!("{} cells hold errors and are NULL, the first is {error} in {cell}", grouped(count)),
            });
        }
        if let Some((cell, _)) = &uncomputed.first {
            let what = match uncomputed.count {
                1 => format!("cell {cell} holds a formula without its value and is NULL"),
                count => {
                    let count = grouped(count);
                    format!("{count} cells hold formulas without their values and are NULL, the first is {cell}")
                }
            };
            notes.push(format!("{what}; a spreadsheet program computes them when it saves the file"));
        }
        if let Some((cell, number)) = &rounded.first {
            let what = match rounded.count {
                1 => format!("cell {cell} holds a whole number beyond 2^53, about {number}"),
                count => {
                    let count = grouped(count);
                    format!("{count} cells hold whole numbers beyond 2^53, the first is about {number} in {cell}")
                }
            };
            notes.push(format!(
                "{what}; numbers of a sheet are doubles, and their last digits may differ from those in the file"
            ));
        }
        notes
    }

    /// Adds a cell whose text is in memory once, however many cells of the column have it.
    fn add_shared(&mut self, row: u32, column: u32, text: &str) {
        let of_column = self.columns.entry(column).or_default();
        match self.shared.entry((column, text.as_ptr().addr())) {
            hash_map::Entry::Occupied(known) => {
                let len = text_len(text);
                of_column.values.push(Entry { row, len, start: *known.get(), kind: Kind::Text });
            }
            hash_map::Entry::Vacant(new) => {
                new.insert(of_column.texts.len());
                of_column.add(row, Kind::Text, text);
            }
        }
    }
}

/// Bytes of a text that is kept for each cell.
const SHORT_TEXT: usize = 32;

fn text_len(text: &str) -> u32 {
    u32::try_from(text.len()).expect("the texts of a workbook have at most 1 GiB")
}

impl Column {
    fn add(&mut self, row: u32, kind: Kind, text: &str) {
        let len = text_len(text);
        self.values.push(Entry { row, len, start: self.texts.len(), kind });
        self.texts.extend_from_slice(text.as_bytes());
    }

    fn add_moment(&mut self, row: u32, moment: ExcelDateTime) {
        if is_shown(moment) {
            self.moments.push((self.values.len(), moment));
            self.add(row, Kind::Text, "");
        } else {
            // Excel shows no date for such a number.
            self.add(row, Kind::Number, &number(moment.as_f64()));
        }
    }

    /// Writes the dates and times, those of the header for itself.
    fn write_moments(&mut self, header: Option<u32>) {
        let moments = std::mem::take(&mut self.moments);
        let is_header = |position: usize, values: &[Entry]| Some(values[position].row) == header;
        let values = moments.iter().filter(|(position, _)| !is_header(*position, &self.values));
        let form = Form::of(values.map(|&(_, moment)| moment));
        for (position, moment) in moments {
            let form = if is_header(position, &self.values) { Form::of(iter::once(moment)) } else { form };
            let text = form.text(moment);
            let entry = &mut self.values[position];
            (entry.start, entry.len) = (self.texts.len(), text_len(&text));
            self.texts.extend_from_slice(text.as_bytes());
        }
    }

    /// Sorts the values by row. Returns a row that has two of them, since a reader takes one a row.
    fn sort(&mut self) -> Option<u32> {
        // Rows of usual files ascend.
        if self.values.is_sorted_by(|entry, next| entry.row < next.row) {
            return None;
        }
        self.values.sort_by_key(|entry| entry.row);
        let twice = self.values.windows(2).find(|pair| pair[0].row == pair[1].row);
        twice.map(|pair| pair[0].row)
    }

    fn text(&self, entry: &Entry) -> &[u8] {
        &self.texts[entry.start..entry.start + entry.len as usize]
    }
}

/// Whole numbers below this one are exact in a double.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Returns whether it may be the double of a whole number of 64 bits that was rounded. Greater numbers are no identifiers.
fn is_long(real: f64) -> bool {
    const END: f64 = 18_446_744_073_709_551_616.0;
    (EXACT..=END).contains(&real.abs())
}

/// Returns the shortest text of a double, without a point if it is whole.
fn number(real: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "whole and within range")]
    if real.fract() == 0.0 && real.abs() <= EXACT { (real as i64).to_string() } else { format!("{real:?}") }
}

/// A sheet whose columns have names.
#[derive(Debug)]
pub struct Sheet {
    /// Its name in the workbook.
    pub name: String,
    /// Its name in errors: the workbook, and the sheet if there are several.
    pub place: PathBuf,
    names: Vec<String>,
    columns: Vec<Column>,
    /// Row of the first record, counted from 0, and number of records.
    first_row: u32,
    rows: usize,
}

impl Sheet {
    /// Takes the cells of a sheet, which must have a value. `place` is the name of the sheet in errors.
    ///
    /// # Errors
    /// If a cell stands twice, or another number of columns is named.
    pub(super) fn new(name: String, place: PathBuf, cells: SheetCells, options: &ReadOptions) -> Result<Self> {
        for note in cells.notes() {
            options.notes.add(format!("{}: {note}", place.display()));
        }
        let dialect = &options.dialect;
        let has_header = dialect.header != Some(false);
        let (first, last) = cells.rows();
        let header = has_header.then_some(first);
        let mut columns = cells.columns;
        for (&position, column) in &mut columns {
            column.write_moments(header);
            if let Some(row) = column.sort() {
                return Err(stands_twice(position, row, &place));
            }
        }
        let names = names(&columns, header, dialect.columns.as_deref(), options, &place)?;
        let first_row = first + u32::from(has_header);
        let rows = (last + 1).saturating_sub(first_row) as usize;
        let mut columns: Vec<Column> = columns.into_values().collect();
        for column in &mut columns {
            let before = column.values.partition_point(|entry| entry.row < first_row);
            column.values.drain(..before);
        }
        Ok(Self { name, place, names, columns, first_row, rows })
    }

    /// Returns the names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the number of records.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the row of a record in the sheet, counted from 1.
    pub(super) fn line_of(&self, row: usize) -> u64 {
        u64::from(self.first_row) + row as u64 + 1
    }

    /// Returns the number of a column's values in front of a record.
    pub(super) fn cells_before(&self, column: usize, row: usize) -> usize {
        self.columns[column].values.partition_point(|entry| self.row_of(entry) < row)
    }

    /// Returns a value of a column by its position, with its record.
    pub(super) fn cell_at(&self, column: usize, position: usize) -> Option<(usize, Kind, &[u8])> {
        let column = &self.columns[column];
        column.values.get(position).map(|entry| (self.row_of(entry), entry.kind, column.text(entry)))
    }

    /// Returns the value at this position of a column if it belongs to this record.
    pub(super) fn cell(&self, column: usize, position: usize, row: usize) -> Option<(Kind, &[u8])> {
        let (of, kind, text) = self.cell_at(column, position)?;
        (of == row).then_some((kind, text))
    }

    fn row_of(&self, entry: &Entry) -> usize {
        (entry.row - self.first_row) as usize
    }
}

/// Returns the names of the columns: the given ones, those in the header, or names by position.
fn names(
    columns: &BTreeMap<u32, Column>,
    header: Option<u32>,
    given: Option<&[String]>,
    options: &ReadOptions,
    place: &Path,
) -> Result<Vec<String>> {
    if let Some(given) = given {
        if given.len() != columns.len() {
            let message = format!("the sheet has {} columns, and {} are named", columns.len(), given.len());
            let advice = message!["name as many with ", OptionName::Columns.alone()];
            return Err(Error::new(ErrorKind::Usage, message).in_file(place).advise(advice));
        }
        return Ok(given.to_vec());
    }
    let name = |column: &Column| {
        let in_header = column.values.first().filter(|entry| Some(entry.row) == header);
        let text = in_header.map(|entry| match entry.kind {
            Kind::True => "true".into(),
            Kind::False => "false".into(),
            Kind::Number | Kind::Text => String::from_utf8_lossy(column.text(entry)).trim().to_owned(),
        });
        text.unwrap_or_default()
    };
    let written = columns.values().map(name).collect();
    let places: Vec<u32> = columns.keys().copied().collect();
    let name_by_position = |position| format!("c{}", position + 1);
    let (names, notes) = distinct(written, name_by_position, |position| letters(places[position]));
    for note in notes {
        options.notes.add(format!("{}: {note}", place.display()));
    }
    Ok(names)
}

/// Spreadsheet programs refuse such a file, or ask to repair it.
fn stands_twice(column: u32, row: u32, place: &Path) -> Error {
    let message = format!("the cell {} stands twice, and one of its values would be lost", cell_name(column, row));
    let advice = "open the workbook in a spreadsheet program and save it again, or export its sheets as CSV";
    Error::new(ErrorKind::Data, message).in_file(place).advise(advice)
}

/// Returns the name of a cell by its column and row, counted from 0: `AA1`.
fn cell_name(column: u32, row: u32) -> String {
    format!("{}{}", letters(column), row + 1)
}

/// Returns the letters of a column, counted from 0: `A`, `Z`, `AA`.
fn letters(column: u32) -> String {
    let (mut letters, mut rest) = (String::new(), column + 1);
    while rest > 0 {
        letters.insert(0, char::from(b'A' + u8::try_from((rest - 1) % 26).expect("below 26")));
        rest = (rest - 1) / 26;
    }
    letters
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A workbook says a text once for many cells: half a megabyte took ten gigabytes of memory.
    #[test]
    fn shared_texts_are_in_memory_once() {
        let (long, other, short) = ("x".repeat(1000), "y".repeat(40), "z");
        let mut cells = SheetCells::default();
        for row in 0..300 {
            cells.add(row, 0, Cell::Shared([&*long, &*other, short][row as usize % 3]));
            cells.add(row, 1, Cell::Shared(&long));
            cells.add(row, 2, Cell::Text(&long));
        }
        let lens = [0, 1, 2].map(|column| cells.columns[&column].texts.len());
        assert_eq!(lens, [1000 + 40 + 100, 1000, 300_000]);
        let first = &cells.columns[&0];
        for (entry, row) in first.values.iter().zip(0..) {
            let text = [&*long, &*other, short][row % 3];
            assert!(first.text(entry) == text.as_bytes() && entry.row as usize == row, "row {row}");
        }
    }
}
