//! Workbooks and archives of any content.

use super::{checked, invalid_utf8, read_all, take};
use crate::input::Input;
use crate::options::{Dialect, Format, ReadOptions};
use crate::spreadsheet::{SheetReader, open_sheets};
use crate::{csv, json};
use litepress_rows::Result;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use zip::write::SimpleFileOptions;

/// The parts of an .xlsx that are the same in all: what leads to its one sheet.
const XLSX: [(&str, &str); 3] = [
    (
        "_rels/.rels",
        "<Relationships><Relationship Id='r' Target='xl/workbook.xml' \
         Type='http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument'/></Relationships>",
    ),
    (
        "xl/workbook.xml",
        "<workbook xmlns:r='http://schemas.openxmlformats.org/officeDocument/2006/relationships'><sheets>\
         <sheet name='s' sheetId='1' r:id='r1'/></sheets></workbook>",
    ),
    (
        "xl/_rels/workbook.xml.rels",
        "<Relationships><Relationship Id='r1' Target='worksheets/sheet1.xml' \
         Type='http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet'/></Relationships>",
    ),
];

const XLSB_LINKS: &str = "<Relationships><Relationship Id='r1' Target='worksheets/sheet1.bin' \
     Type='http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet'/></Relationships>";

/// Checks a workbook or an archive: all sheets and members are read or refused. The option byte chooses what the bytes are: the file, the
/// contents of an .ods, or the parts of an .xlsx or .xlsb, with two bytes for the length of each but the last.
pub fn workbook(data: &[u8]) {
    if let Err(error) = rows(data) {
        checked(&error);
    }
}

/// Returns the number of rows of all sheets and members.
pub(super) fn rows(data: &[u8]) -> Result<usize> {
    let ([choice], bytes) = take(data);
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("fuzzed");
    match choice & 3 {
        0 => std::fs::write(&path, bytes).expect("room for a temporary file"),
        1 => archive(
            &path,
            &[
                ("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"),
                ("META-INF/manifest.xml", b"<manifest:manifest/>"),
                ("content.xml", bytes),
            ],
        ),
        2 => {
            let (strings, bytes) = part(bytes);
            let (styles, sheet) = part(bytes);
            let common = XLSX.iter().map(|(name, text)| (*name, text.as_bytes()));
            let own =
                [("xl/sharedStrings.xml", strings), ("xl/styles.xml", styles), ("xl/worksheets/sheet1.xml", sheet)];
            archive(&path, &common.chain(own).collect::<Vec<_>>());
        }
        _ => {
            let (book, bytes) = part(bytes);
            let (strings, sheet) = part(bytes);
            archive(
                &path,
                &[
                    ("xl/workbook.bin", book),
                    ("xl/_rels/workbook.bin.rels", XLSB_LINKS.as_bytes()),
                    ("xl/sharedStrings.bin", strings),
                    ("xl/worksheets/sheet1.bin", sheet),
                ],
            );
        }
    }
    let options = ReadOptions {
        dialect: Dialect { header: (choice & 4 != 0).then_some(false), ..Dialect::default() },
        invalid_utf8: invalid_utf8(choice >> 3),
        ..ReadOptions::default()
    };
    read(&path, &options)
}

fn read(path: &Path, options: &ReadOptions) -> Result<usize> {
    let mut rows = 0;
    for input in Input::all_of(path, options)?.iter().take(8) {
        match input.format {
            Format::Spreadsheet => {
                for sheet in open_sheets(input, &[], options)? {
                    rows += read_all(Ok(Box::new(SheetReader::new(Arc::new(sheet), options)))).rows.len();
                }
            }
            Format::Csv => rows += read_all(csv::open(input, options)).rows.len(),
            Format::Json => rows += read_all(json::open(input, options)).rows.len(),
            _ => {}
        }
    }
    Ok(rows)
}

/// Splits off a part, whose length stands in front of it.
fn part(bytes: &[u8]) -> (&[u8], &[u8]) {
    let ([upper, lower], bytes) = take(bytes);
    bytes.split_at(bytes.len().min(usize::from(u16::from_be_bytes([upper, lower]))))
}

fn archive(path: &Path, members: &[(&str, &[u8])]) {
    const WRITES: &str = "room for a temporary file";
    let mut archive = zip::ZipWriter::new(std::fs::File::create(path).expect(WRITES));
    for (name, bytes) in members {
        archive.start_file(*name, SimpleFileOptions::default()).expect(WRITES);
        archive.write_all(bytes).expect(WRITES);
    }
    archive.finish().expect(WRITES);
}
