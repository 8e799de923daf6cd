//! Opens workbooks and reads their cells.

use super::cells::{Cell, Sheet, SheetCells};
use super::limits::{MOST_BYTES, MOST_COLUMNS, MOST_ROWS, Refusal};
use super::ods::{self, SheetErrors};
use super::xls;
use crate::guard::guard;
use crate::input::Input;
use crate::options::ReadOptions;
use calamine::{Data, DataRef, ExcelDateTime, Ods, Reader as _, Sheets, Xls, Xlsb, Xlsx, XlsxError};
use litepress_rows::{Error, ErrorKind, OptionName, Result, message};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

/// Bytes of the list of members that are searched for signs of encryption.
const MOST_MANIFEST_BYTES: u64 = 1 << 20;

/// A workbook of any format.
struct Workbook {
    sheets: Sheets<BufReader<File>>,
    /// The cells with errors of an .ods, by sheet.
    errors: HashMap<String, SheetErrors>,
}

/// Returns the sheets of a workbook that have a value: those of these names, or all.
///
/// # Errors
/// If the workbook cannot be read, has no sheet of a name in `wanted`, or no sheet with a value.
pub fn open_sheets(input: &Input, wanted: &[String], options: &ReadOptions) -> Result<Vec<Sheet>> {
    let mut workbook = open(input)?;
    let known = workbook.sheets.sheet_names();
    let is_all = |wanted: &[String]| matches!(wanted, [all] if all == "all" && !known.contains(all));
    let wanted = if is_all(wanted) { &[] } else { wanted };
    let is_wanted = |name: &str| wanted.iter().any(|wanted| wanted.eq_ignore_ascii_case(name));
    let missing = wanted.iter().find(|wanted| !known.iter().any(|name| name.eq_ignore_ascii_case(wanted)));
    if let Some(missing) = missing {
        let given = OptionName::Sheet.word(missing.clone()).given();
        let error = Error::new(ErrorKind::Usage, message![given, ": the workbook has no such sheet"]);
        return Err(error.in_file(&input.name).advise(format!("it has {}", known.join(", "))));
    }
    let (mut full, mut empty) = (Vec::new(), Vec::new());
    for name in known.iter().filter(|name| wanted.is_empty() || is_wanted(name)) {
        let cells = guard(|| Ok(cells_of(&mut workbook, name, &input.name)));
        let cells = cells.map_err(|why| damaged(&input.name.join(name), &why))??;
        if cells.is_empty() { empty.push(name.as_str()) } else { full.push((name, cells)) }
    }
    if full.is_empty() {
        let error = Error::new(ErrorKind::Data, format!("there is no value in the sheets: {}", empty.join(", ")));
        return Err(error.in_file(&input.name));
    }
    if !empty.is_empty() {
        options.notes.add(format!("{}: left out, since they are empty: {}", input.name.display(), empty.join(", ")));
    }
    // A sheet is named after its workbook if no other sheet is read.
    let is_only = full.len() == 1 && wanted.is_empty();
    let sheet = |(name, cells): (&String, SheetCells)| {
        let place = if is_only { input.name.clone() } else { input.name.join(name) };
        Sheet::new(name.clone(), place, cells, options)
    };
    full.into_iter().map(sheet).collect()
}

fn open(input: &Input) -> Result<Workbook> {
    let mut file = BufReader::new(input.file()?);
    let mut head = [0; 4];
    let is_compound = file.read_exact(&mut head).is_ok() && head == *b"\xD0\xCF\x11\xE0";
    let unreadable = |error: std::io::Error| Error::io("read", &input.name, error);
    file.rewind().map_err(unreadable)?;
    let mut errors = HashMap::new();
    let kind = if is_compound {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(unreadable)?;
        xls::refuse_many_cells(&bytes).map_err(|refusal| refused(refusal, &input.name))?;
        Kind::Xls
    } else {
        let mut archive = zip::ZipArchive::new(&mut file).map_err(|error| damaged(&input.name, &error.to_string()))?;
        refuse_large_texts(&mut archive, &input.name, MOST_BYTES)?;
        errors = scan_ods(&mut archive, &input.name)?;
        let has = |name| archive.index_for_name(name).is_some();
        if has("xl/workbook.bin") {
            Kind::Xlsb
        } else if has("xl/workbook.xml") {
            Kind::Xlsx
        } else {
            Kind::Ods
        }
    };
    file.rewind().map_err(unreadable)?;
    let opened = guard(|| Ok(read_as(kind, file))).map_err(|why| damaged(&input.name, &why))?;
    let sheets = opened.map_err(|error| match error.to_string() {
        text if text.to_ascii_lowercase().contains("password") => protected(&input.name),
        text => damaged(&input.name, &text),
    })?;
    Ok(Workbook { sheets, errors })
}

/// The format of a workbook.
enum Kind {
    Xls,
    Xlsx,
    Xlsb,
    Ods,
}

fn read_as(kind: Kind, file: BufReader<File>) -> std::result::Result<Sheets<BufReader<File>>, calamine::Error> {
    Ok(match kind {
        Kind::Xls => Sheets::Xls(Xls::new(file)?),
        Kind::Xlsx => Sheets::Xlsx(Xlsx::new(file)?),
        Kind::Xlsb => Sheets::Xlsb(Xlsb::new(file)?),
        Kind::Ods => Sheets::Ods(Ods::new(file)?),
    })
}

/// Fails if the members that are in memory as a whole are too large: a small file may hold gigabytes of them.
fn refuse_large_texts<R: Read + Seek>(archive: &mut zip::ZipArchive<R>, name: &Path, most: u64) -> Result<()> {
    /// Deflate makes at most so many bytes of one.
    const MOST_GROWTH: u64 = 1032;
    for member in ["xl/sharedStrings.xml", "xl/sharedStrings.bin", "content.xml"] {
        let Some(member) = archive.index_for_name(member) else { continue };
        let mut member = archive.by_index(member).map_err(|error| damaged(name, &error.to_string()))?;
        let mut bytes = member.size();
        if bytes <= most && member.compressed_size() > most / MOST_GROWTH {
            // The size that it states may be wrong.
            bytes = std::io::copy(&mut (&mut member).take(most + 1), &mut std::io::sink())
                .map_err(|error| damaged(name, &error.to_string()))?;
        }
        if bytes > most {
            let message = format!("the texts of the workbook are larger than {most} bytes, and are needed in memory");
            return Err(Error::new(ErrorKind::Limit, message).in_file(name).advise("export its sheets as CSV"));
        }
    }
    Ok(())
}

/// Returns the cells of an .ods with errors, by sheet. Fails if its cells do not fit in memory, all those that it says once included.
fn scan_ods<R: Read + Seek>(archive: &mut zip::ZipArchive<R>, name: &Path) -> Result<HashMap<String, SheetErrors>> {
    let Some(content) = archive.index_for_name("content.xml") else { return Ok(HashMap::new()) };
    if let Ok(manifest) = archive.by_name("META-INF/manifest.xml") {
        let mut text = Vec::new();
        let read = manifest.take(MOST_MANIFEST_BYTES).read_to_end(&mut text);
        if read.is_ok() && memchr::memmem::find(&text, b"manifest:encryption-data").is_some() {
            return Err(protected(name));
        }
    }
    let content = archive.by_index(content).map_err(|error| damaged(name, &error.to_string()))?;
    ods::scan_cells(BufReader::new(content)).map_err(|refusal| refused(refusal, name))
}

fn protected(name: &Path) -> Error {
    let error = Error::new(ErrorKind::Data, "the workbook is protected by a password");
    error.in_file(name).advise("save it without a password")
}

fn refused(refusal: Refusal, name: &Path) -> Error {
    match refusal {
        Refusal::Damaged(why) => damaged(name, &why),
        Refusal::TooMany(why) => Error::new(ErrorKind::Limit, format!("the workbook does not fit in memory: {why}"))
            .in_file(name)
            .advise("export its sheets as CSV"),
    }
}

fn damaged(name: &Path, why: &str) -> Error {
    let error = Error::new(ErrorKind::Data, format!("this is not a workbook that can be read: {why}"));
    error.in_file(name).advise("open it and save it again as .xlsx, or export its sheets as CSV")
}

/// Returns the cells of a sheet that have a value. Streams them if the format allows it.
fn cells_of(workbook: &mut Workbook, name: &str, file: &Path) -> Result<SheetCells> {
    let place = file.join(name);
    let wrong = |why: String| damaged(&place, &why);
    let mut cells = SheetCells::default();
    match &mut workbook.sheets {
        // A formula may be damaged where its value is not.
        Sheets::Xlsx(book) => {
            return xlsx_cells(book, name, &place, true).or_else(|_| xlsx_cells(book, name, &place, false));
        }
        Sheets::Xlsb(book) => {
            let mut reader = book.worksheet_cells_reader(name).map_err(|error| wrong(error.to_string()))?;
            while let Some(cell) = reader.next_cell().map_err(|error| wrong(error.to_string()))? {
                add(&mut cells, cell.get_position(), cell_of(cell.get_value()), &place)?;
            }
        }
        Sheets::Xls(_) | Sheets::Ods(_) => {
            let range = workbook.sheets.worksheet_range(name).map_err(|error| wrong(error.to_string()))?;
            let errors = workbook.errors.get(name);
            let (first_row, first_column) = range.start().unwrap_or_default();
            for (row, column, data) in range.used_cells() {
                let position = |offset: usize, first: u32| {
                    u32::try_from(offset).map_or(u32::MAX, |offset| first.saturating_add(offset))
                };
                let at = (position(row, first_row), position(column, first_column));
                let is_error =
                    |text: &str| !text.is_empty() && errors.is_some_and(|errors| errors.contains(at.0, at.1));
                let cell = match data {
                    Data::String(text) if is_error(text) => Cell::Error(text.clone()),
                    _ => cell_of_range(data),
                };
                add(&mut cells, at, cell, &place)?;
            }
        }
    }
    Ok(cells)
}

/// Returns the cells of a sheet of an .xlsx that have a value. Counts formulas without one, if formulas are to be read, too.
fn xlsx_cells(book: &mut Xlsx<BufReader<File>>, name: &str, place: &Path, has_formulas: bool) -> Result<SheetCells> {
    let wrong = |error: XlsxError| damaged(place, &error.to_string());
    let mut cells = SheetCells::default();
    let mut reader = match book.worksheet_cells_reader(name) {
        Ok(reader) => reader,
        // A sheet of charts has no cells.
        Err(XlsxError::NotAWorksheet(_)) => return Ok(cells),
        Err(error) => return Err(wrong(error)),
    };
    while has_formulas && let Some(record) = reader.next_cell_with_formula_metadata().map_err(wrong)? {
        let cell = match &record.value {
            DataRef::Empty if record.formula.is_some() => Cell::Uncomputed,
            value => cell_of(value),
        };
        add(&mut cells, record.pos, cell, place)?;
    }
    while !has_formulas && let Some(cell) = reader.next_cell().map_err(wrong)? {
        add(&mut cells, cell.get_position(), cell_of(cell.get_value()), place)?;
    }
    Ok(cells)
}

/// Adds a cell. A file may name any: each row up to the last one would become a record.
fn add(cells: &mut SheetCells, (row, column): (u32, u32), cell: Cell<'_>, place: &Path) -> Result<()> {
    if row >= MOST_ROWS || column >= MOST_COLUMNS {
        let (row, column) = (u64::from(row) + 1, u64::from(column) + 1);
        let why = format!(
            "a cell stands in row {row}, column {column}, and a sheet has {MOST_ROWS} rows and {MOST_COLUMNS} columns"
        );
        return Err(damaged(place, &why));
    }
    cells.add(row, column, cell);
    Ok(())
}

fn cell_of_range(data: &Data) -> Cell<'_> {
    match data {
        Data::Int(int) => Cell::Int(*int),
        Data::Float(real) => Cell::Real(*real),
        Data::String(text) => Cell::Text(text),
        Data::Bool(flag) => Cell::Boolean(*flag),
        Data::DateTime(moment) => cell_of_moment(*moment),
        Data::DateTimeIso(text) => Cell::IsoMoment(text),
        Data::DurationIso(text) => Cell::IsoDuration(text),
        Data::Error(error) => Cell::Error(error.to_string()),
        Data::Empty => Cell::Empty,
    }
}

fn cell_of_moment(moment: ExcelDateTime) -> Cell<'static> {
    if moment.is_duration() { Cell::Duration(moment.as_f64()) } else { Cell::Moment(moment) }
}

fn cell_of<'c>(data: &'c DataRef<'_>) -> Cell<'c> {
    match data {
        DataRef::Int(int) => Cell::Int(*int),
        DataRef::Float(real) => Cell::Real(*real),
        DataRef::String(text) => Cell::Text(text),
        DataRef::SharedString(text) => Cell::Shared(text),
        DataRef::Bool(flag) => Cell::Boolean(*flag),
        DataRef::DateTime(moment) => cell_of_moment(*moment),
        DataRef::DateTimeIso(text) => Cell::IsoMoment(text),
        DataRef::DurationIso(text) => Cell::IsoDuration(text),
        DataRef::Error(error) => Cell::Error(error.to_string()),
        DataRef::Empty => Cell::Empty,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Cursor, Write};
    use zip::write::SimpleFileOptions;

    /// A workbook of 600 kB took as many megabytes of memory, and one of 1.5 MB would have taken all there is.
    #[test]
    fn texts_that_do_not_fit_are_refused_before_they_are_read() {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        archive.start_file("xl/sharedStrings.xml", SimpleFileOptions::default()).unwrap();
        archive.write_all(&vec![b' '; 1 << 20]).unwrap();
        let mut bytes = archive.finish().unwrap().into_inner();
        let refused = |bytes: &[u8], most| {
            let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
            refuse_large_texts(&mut archive, Path::new("b.xlsx"), most).err().map(|error| error.kind())
        };
        assert_eq!(refused(&bytes, 1 << 20), None);
        assert_eq!(refused(&bytes, (1 << 20) - 1), Some(ErrorKind::Limit));
        // The size that the directory states is wrong.
        let entry = bytes.windows(4).position(|four| four == b"PK\x01\x02").unwrap();
        bytes[entry + 24..entry + 28].copy_from_slice(&[9, 0, 0, 0]);
        assert!(matches!(refused(&bytes, 1 << 19), Some(ErrorKind::Limit | ErrorKind::Data)));
    }
}
