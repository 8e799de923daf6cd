//! Counts the cells that an .ods unfolds to, and finds those with errors. It writes equal cells and equal rows once, with their number, and
//! calamine has each of them in memory. An error is a text to calamine:
//!
//! ```text
//! <table:table-row table:number-rows-repeated="1000000">           16,000,000,000 cells in 200 bytes
//!   <table:table-cell table:number-columns-repeated="16000" office:value="1" .../>
//!   <table:table-cell calcext:value-type="error" office:string-value="" ...>     #DIV/0!
//!     <text:p>#DIV/0!</text:p>
//! ```

use super::limits::{MOST_COLUMNS, MOST_ROWS, Refusal, refuse_beyond};
use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::BufRead;
use std::ops::Range;

/// The cells of a sheet with errors.
#[derive(Debug, Default)]
pub(super) struct SheetErrors {
    /// In the order of rows, then of columns. Areas of a row have the same rows.
    areas: Vec<Area>,
}

/// Equal cells, side by side in equal rows. Rows and columns are counted from 0.
#[derive(Debug)]
struct Area {
    rows: Range<u32>,
    columns: Range<u32>,
}

impl SheetErrors {
    /// Returns whether a cell has an error.
    pub fn contains(&self, row: u32, column: u32) -> bool {
        let is_before = |area: &Area| area.rows.end <= row || area.rows.contains(&row) && area.columns.end <= column;
        let next = self.areas.get(self.areas.partition_point(is_before));
        next.is_some_and(|area| area.rows.contains(&row) && area.columns.contains(&column))
    }
}

/// Counts the cells of `content.xml`, and the bytes of their texts. Returns the cells with errors by the name of their sheet.
///
/// # Errors
/// Says why the workbook cannot be read: too many cells, too many texts, XML that cannot be parsed.
pub(super) fn scan_cells(content: impl BufRead) -> Result<HashMap<String, SheetErrors>, Refusal> {
    let mut reader = Reader::from_reader(content);
    let config = reader.config_mut();
    config.expand_empty_elements = true;
    let (mut count, mut buffer, mut depth) = (Count::default(), Vec::new(), 0_u64);
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer).map_err(Refusal::damaged)? {
            Event::Start(element) => {
                depth += 1;
                count.begin(&element)?;
            }
            Event::Text(text) => count.add_text(text.len()),
            Event::CData(text) => count.add_text(text.len()),
            // A character, mostly.
            Event::GeneralRef(_) => count.add_text(size_of::<char>()),
            Event::End(element) => {
                depth -= 1;
                count.end(element.name().0)?;
            }
            // Its reader would wait for the end of a sheet for ever.
            Event::Eof if depth > 0 => return Err(Refusal::damaged("an element does not end")),
            Event::Eof => return Ok(count.errors),
            _ => {}
        }
    }
}

/// The cells so far.
#[derive(Default)]
struct Count {
    /// Cells of the sheets before, each in the rectangle of its sheet.
    cells: u64,
    /// Cells of all rows, each row once.
    cells_of_rows: u64,
    /// Bytes of texts.
    text_bytes: u64,
    errors: HashMap<String, SheetErrors>,
    sheet: SheetCount,
    row: Option<RowCount>,
    /// Within a cell, nothing counts but its text.
    cell: Option<CellCount>,
}

/// The smallest rectangle of a sheet that has all its values.
#[derive(Default)]
struct SheetCount {
    name: Option<String>,
    errors: SheetErrors,
    /// Rows so far.
    all_rows: u64,
    /// Rows from the first one with a value to the last one.
    rows: u64,
    /// Rows without a value behind them.
    empty_rows: u64,
    columns: Option<(u64, u64)>,
}

#[derive(Default)]
struct RowCount {
    repeats: u64,
    /// Columns with errors.
    errors: Vec<Range<u64>>,
    cells: u64,
    /// Empty cells at the end, which count if another cell follows.
    empty_cells: u64,
    /// The first column with a value, and the one behind the last.
    columns: Option<(u64, u64)>,
    text_bytes: u64,
}

#[derive(Default)]
struct CellCount {
    repeats: u64,
    has_value: bool,
    is_error: bool,
    /// Its content is its value.
    has_text: bool,
    text_bytes: u64,
}

impl Count {
    fn begin(&mut self, element: &BytesStart<'_>) -> Result<(), Refusal> {
        match element.name().0 {
            "table:table" if self.cell.is_none() && self.sheet.name.is_none() => {
                let name = attribute(element, "table:name")?;
                let name = name.map(|name| unescape(&name).map(Cow::into_owned).map_err(Refusal::damaged));
                self.sheet.name = name.transpose()?;
            }
            "table:table-row" if self.cell.is_none() => {
                let left = u64::from(MOST_ROWS).saturating_sub(self.sheet.all_rows);
                let repeats = attribute(element, "table:number-rows-repeated")?.map_or(Ok(1), number)?;
                if repeats == 0 {
                    // Calamine may count it as a row.
                    return Err(Refusal::damaged("a row is repeated 0 times"));
                }
                let repeats = repeats.min(left);
                self.sheet.all_rows += repeats;
                if self.row.replace(RowCount { repeats, ..RowCount::default() }).is_some() {
                    return Err(Refusal::damaged("a row stands in a row"));
                }
            }
            "table:table-cell" | "table:covered-table-cell" if self.cell.replace(cell(element)?).is_some() => {
                return Err(Refusal::damaged("a cell stands in a cell"));
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<(), Refusal> {
        match name {
            "table:table-cell" | "table:covered-table-cell" => self.end_cell(),
            "table:table-row" if self.cell.is_none() => return self.end_row(),
            "table:table" if self.cell.is_none() => self.end_sheet(),
            _ => {}
        }
        Ok(())
    }

    fn add_text(&mut self, bytes: usize) {
        if let Some(cell) = self.cell.as_mut().filter(|cell| cell.has_text) {
            cell.text_bytes += bytes as u64;
        }
    }

    fn end_cell(&mut self) {
        let (Some(cell), Some(row)) = (self.cell.take(), &mut self.row) else { return };
        let empty_cells = std::mem::take(&mut row.empty_cells);
        row.add(empty_cells);
        let before = row.cells;
        if !cell.has_value {
            row.empty_cells = cell.repeats.min(u64::from(MOST_COLUMNS) - before);
            return;
        }
        row.add(cell.repeats);
        row.text_bytes += (row.cells - before).saturating_mul(cell.text_bytes);
        row.columns = Some((row.columns.map_or(before, |(first, _)| first), row.cells));
        if cell.is_error {
            row.errors.push(before..row.cells);
        }
    }

    fn end_row(&mut self) -> Result<(), Refusal> {
        let (row, sheet) = (self.row.take().unwrap_or_default(), &mut self.sheet);
        self.cells_of_rows += row.cells;
        self.text_bytes = self.text_bytes.saturating_add(row.text_bytes.saturating_mul(row.repeats));
        sheet.add_errors(&row);
        match (row.columns, sheet.columns) {
            (None, None) => {}
            (None, Some(_)) => sheet.empty_rows += row.repeats,
            (Some(columns), known) => {
                let (first, after) = known.unwrap_or(columns);
                sheet.columns = Some((first.min(columns.0), after.max(columns.1)));
                sheet.rows += std::mem::take(&mut sheet.empty_rows) + row.repeats;
            }
        }
        refuse_beyond(self.cells_of_rows.max(self.cells + self.sheet.cells()), self.text_bytes)
    }

    fn end_sheet(&mut self) {
        let sheet = std::mem::take(&mut self.sheet);
        self.cells += sheet.cells();
        if let Some(name) = sheet.name {
            // Calamine has the last sheet of a name.
            self.errors.insert(name, sheet.errors);
        }
    }
}

impl SheetCount {
    fn add_errors(&mut self, row: &RowCount) {
        let number = |count: u64| u32::try_from(count).expect("a sheet has at most a million rows");
        for columns in &row.errors {
            let rows = number(self.all_rows - row.repeats)..number(self.all_rows);
            self.errors.areas.push(Area { rows, columns: number(columns.start)..number(columns.end) });
        }
    }

    fn cells(&self) -> u64 {
        self.columns.map_or(0, |(first, after)| self.rows * (after - first))
    }
}

impl RowCount {
    fn add(&mut self, cells: u64) {
        self.cells += cells.min(u64::from(MOST_COLUMNS) - self.cells);
    }
}

/// Returns a cell without its content.
fn cell(element: &BytesStart<'_>) -> Result<CellCount, Refusal> {
    let mut cell = CellCount { repeats: 1, ..CellCount::default() };
    let (mut is_text, mut is_stated) = (false, false);
    for attribute in element.attributes().with_checks(false) {
        let attribute = attribute.map_err(Refusal::damaged)?;
        match attribute.key.0 {
            "table:number-columns-repeated" => cell.repeats = number(attribute.value)?,
            "office:value" | "office:boolean-value" => is_stated = true,
            "office:string-value" | "office:date-value" | "office:time-value" => {
                is_stated = true;
                cell.text_bytes += attribute.value.len() as u64;
            }
            "table:formula" => {
                cell.has_value |= !attribute.value.is_empty();
                cell.text_bytes += attribute.value.len() as u64;
            }
            "office:value-type" => is_text = attribute.value == "string",
            "calcext:value-type" => cell.is_error = attribute.value == "error",
            _ => {}
        }
    }
    cell.has_value |= is_text || is_stated;
    // The text of an error may stand beside an empty value.
    cell.has_text = is_text && !is_stated || cell.is_error;
    Ok(cell)
}

/// Returns the value of an attribute as it is written.
fn attribute<'e>(element: &'e BytesStart<'_>, name: &str) -> Result<Option<Cow<'e, str>>, Refusal> {
    let mut attributes = element.attributes();
    for attribute in attributes.with_checks(false) {
        let attribute = attribute.map_err(Refusal::damaged)?;
        if attribute.key.0 == name {
            return Ok(Some(attribute.value));
        }
    }
    Ok(None)
}

fn number(text: impl AsRef<str>) -> Result<u64, Refusal> {
    unescape(text.as_ref()).map_err(Refusal::damaged)?.parse().map_err(Refusal::damaged)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &str) -> Result<(), Refusal> {
        scan_cells(format!("<a><table:table table:name='t'>{rows}</table:table></a>").as_bytes()).map(drop)
    }

    fn row(repeats: u64, cells: &str) -> String {
        format!("<table:table-row table:number-rows-repeated=\"{repeats}\">{cells}</table:table-row>")
    }

    fn cell(repeats: u64, attributes: &str, content: &str) -> String {
        format!("<table:table-cell table:number-columns-repeated='{repeats}' {attributes}>{content}</table:table-cell>")
    }

    const NUMBER: &str = "office:value-type='float' office:value='1'";

    /// A file of two kilobytes took five gigabytes, and texts that cells repeat all there was.
    #[test]
    fn repetitions_are_counted_before_they_are_read() {
        let refused = |rows: &str| matches!(of(rows), Err(Refusal::TooMany(_)));
        let million = u64::from(MOST_ROWS);
        assert!(!refused(&row(million, &cell(32, NUMBER, ""))));
        assert!(refused(&row(million, &cell(33, NUMBER, ""))));
        assert!(
            !refused(&(row(million, &cell(32, NUMBER, "")) + &row(million, &cell(9, NUMBER, "")))),
            "rows beyond the last one"
        );
        let text = cell(1024, "office:value-type='string'", &format!("<text:p>{}</text:p>", "x".repeat(1024)));
        assert!(!refused(&row(1024, &text)));
        assert!(refused(&row(1025, &text)));
        let text = cell(1024, &format!("office:value-type='string' office:string-value='{}'", "x".repeat(1024)), "y");
        assert!(!refused(&row(1024, &text)));
        assert!(refused(&(row(1024, &text) + &row(1, &text))));
    }

    /// LibreOffice writes as many empty cells and rows as a sheet can have.
    #[test]
    fn empty_cells_count_between_others() {
        let (end, million) = (cell(16_000, "", ""), u64::from(MOST_ROWS));
        let rows: String = (0..100).map(|_| row(1, &(cell(2, NUMBER, "1") + &end))).collect();
        assert_eq!(of(&(rows.clone() + &row(million - 100, &end))), Ok(()));
        let last = row(million - 200, &end) + &row(1, &cell(1, NUMBER, ""));
        assert_eq!(of(&(rows + &last)), Ok(()));
        let wide = row(1, &(cell(40, NUMBER, ""))) + &row(million - 2, "") + &row(1, &cell(1, NUMBER, ""));
        assert!(matches!(of(&wide), Err(Refusal::TooMany(_))), "a rectangle of forty million cells");
        // Each row has thousands of cells in memory, though all are empty.
        let rows = row(1, &(end + &cell(1, "", ""))).repeat(2100);
        assert!(matches!(of(&rows), Err(Refusal::TooMany(_))));
    }

    #[test]
    fn what_is_no_number_is_damage() {
        assert!(matches!(
            of(&row(1, "<table:table-cell table:number-columns-repeated='-1'/>")),
            Err(Refusal::Damaged(_))
        ));
        assert!(matches!(of("<table:table-row table:number-rows-repeated='x'/>"), Err(Refusal::Damaged(_))));
        assert_eq!(of("<table:table-row table:number-rows-repeated='&#49;'/>"), Ok(()));
        assert!(matches!(of(&row(0, "")), Err(Refusal::Damaged(_))));
        let unended = "<a><table:table table:name='t'>".as_bytes();
        assert!(matches!(scan_cells(unended), Err(Refusal::Damaged(_))));
        // Else what follows would be counted for the row within.
        assert!(matches!(of(&row(9, &row(1, ""))), Err(Refusal::Damaged(_))));
        assert!(matches!(of(&row(9, &cell(1, "", &cell(1, "", "")))), Err(Refusal::Damaged(_))));
    }

    /// Errors were texts, and no note told of them.
    #[test]
    fn errors_are_found_where_they_are_repeated() {
        let error = "office:value-type='string' office:string-value='' calcext:value-type='error'";
        let rows = [
            row(2, &cell(9, "", "")),
            row(3, &(cell(2, "", "") + &cell(2, error, "#N/A") + &cell(1, NUMBER, "") + &cell(1, error, "#REF!"))),
            row(1, &cell(20_000, error, "#N/A")),
        ];
        let sheet = |name: &str, rows: &str| format!("<table:table table:name='{name}'>{rows}</table:table>");
        let content =
            format!("<a>{}{}</a>", sheet("b &amp; c", &rows.concat()), sheet("d", &row(1, &cell(1, NUMBER, ""))));
        let errors = scan_cells(content.as_bytes()).unwrap();
        assert_eq!(errors["d"].areas.len(), 0);
        let of_row =
            |row| (0..=MOST_COLUMNS).filter(|&column| errors["b & c"].contains(row, column)).collect::<Vec<_>>();
        let expected =
            [vec![], vec![], vec![2, 3, 5], vec![2, 3, 5], vec![2, 3, 5], (0..MOST_COLUMNS).collect(), vec![]];
        for (row, expected) in (0..).zip(expected) {
            assert_eq!(of_row(row), expected, "row {row}");
        }
    }
}
