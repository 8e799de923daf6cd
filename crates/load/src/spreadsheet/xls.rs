//! Looks through an .xls before calamine reads it. A sheet is a list of cells, each with its row and column, and calamine has all cells of
//! the rectangle around them in memory. Cells name their texts by number, and each gets a copy.
//!
//! ```text
//! file      sectors of 512 bytes, a table with the successor of each   [MS-CFB]
//! stream    "Workbook": records of kind, length, data                  [MS-XLS] 2.1.4
//! sheets    from the position that BoundSheet8 says to the EOF record
//! ```

#![expect(clippy::little_endian_bytes, reason = "the format's numbers are little-endian")]

use super::limits::{MOST_CELLS, Refusal, refuse_beyond};

/// The most records of all sheets.
const MOST_RECORDS: u64 = 1 << 26;

/// The most records that continue another one. Its reader takes the square of their number.
const MOST_CONTINUED: usize = 1 << 16;

/// Counts the cells of a file, and the bytes of their texts. A file that is no workbook, or is encrypted, is left to the reader.
///
/// # Errors
/// Says why the workbook cannot be read: too many cells, too many texts, a structure that is damaged.
pub(super) fn refuse_many_cells(file: &[u8]) -> Result<(), Refusal> {
    let Some(stream) = workbook_stream(file)? else { return Ok(()) };
    let Some(globals) = Globals::read(&stream)? else { return Ok(()) };
    let mut count = Count::default();
    for &start in &globals.sheets {
        let sheet = stream.get(start..).ok_or_else(|| Refusal::damaged("a sheet begins behind the end"))?;
        count.add_sheet(sheet, &globals.text_bytes)?;
    }
    Ok(())
}

fn ends() -> Refusal {
    Refusal::damaged("it ends too early")
}

fn u16_at(bytes: &[u8], at: usize) -> Result<u16, Refusal> {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map(|two| u16::from_le_bytes(*two)).ok_or_else(ends)
}

fn u32_at(bytes: &[u8], at: usize) -> Result<u32, Refusal> {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map(|four| u32::from_le_bytes(*four)).ok_or_else(ends)
}

/// Sectors, and the successor of each.
struct Sectors<'f> {
    bytes: &'f [u8],
    size: usize,
    next: Vec<u32>,
}

/// The end of a chain of sectors.
const END: u32 = 0xFFFF_FFFE;
/// Greater numbers are no sectors, but of special meaning.
const LAST_SECTOR: u32 = 0xFFFF_FFFA;

impl<'f> Sectors<'f> {
    fn most(&self) -> usize {
        self.bytes.len() / self.size + 1
    }

    /// Returns a sector. The last one may be shorter.
    fn sector(&self, number: u32) -> Result<&'f [u8], Refusal> {
        let start = (number as usize).saturating_mul(self.size);
        let bytes = self.bytes.get(start..).ok_or_else(|| Refusal::damaged("it refers to a sector behind its end"))?;
        Ok(&bytes[..bytes.len().min(self.size)])
    }

    /// Returns up to `len` bytes of the chain that begins with a sector.
    fn chain(&self, first: u32, len: usize) -> Result<Vec<u8>, Refusal> {
        let (mut bytes, mut number, mut taken) = (Vec::new(), first, 0);
        while number != END {
            taken += 1;
            if taken > self.most() {
                return Err(Refusal::damaged("its sectors go round in a circle"));
            }
            let sector = self.sector(number)?;
            bytes.extend_from_slice(&sector[..sector.len().min(len - bytes.len())]);
            if bytes.len() >= len {
                break;
            }
            number = *self.next.get(number as usize).ok_or_else(|| Refusal::damaged("a sector has no successor"))?;
        }
        Ok(bytes)
    }
}

/// Returns the stream with the records of the workbook. `None` if there is none.
fn workbook_stream(file: &[u8]) -> Result<Option<Vec<u8>>, Refusal> {
    const NAMES: [&str; 2] = ["Workbook", "Book"];
    const DIRECTORY_BYTES: usize = 128;
    /// Shorter streams are in sectors of 64 bytes.
    const MINI: usize = 4096;
    let header = file.first_chunk::<512>().ok_or_else(ends)?;
    let (header_bytes, size) = match u16_at(header, 30)? {
        9 => (512, 512),
        12 => (4096, 4096),
        _ => return Ok(None),
    };
    let bytes = file.get(header_bytes..).ok_or_else(ends)?;
    let mut sectors = Sectors { bytes, size, next: Vec::new() };
    sectors.next = successors(header, &sectors)?;
    let directory = sectors.chain(u32_at(header, 48)?, usize::MAX)?;
    let entries = || directory.chunks_exact(DIRECTORY_BYTES);
    let Some(root) = entries().next() else { return Ok(None) };
    let length = |entry: &[u8]| -> Result<usize, Refusal> {
        // The upper half is undefined with small sectors.
        let upper = if size == 512 { 0 } else { u64::from(u32_at(entry, 124)?) << 32 };
        usize::try_from(upper | u64::from(u32_at(entry, 120)?)).map_err(Refusal::damaged)
    };
    let found = NAMES.into_iter().find_map(|name| entries().find(|entry| is_named(entry, name)));
    let Some(entry) = found else { return Ok(None) };
    let (start, len) = (u32_at(entry, 116)?, length(entry)?);
    let mini_sectors = u32_at(header, 64)? as usize;
    if mini_sectors == 0 {
        return if len < MINI { Ok(None) } else { sectors.chain(start, len).map(Some) };
    }
    // Read even if the stream is not there, because the reader does.
    let small = sectors.chain(u32_at(root, 116)?, length(root)?)?;
    let next = sectors.chain(u32_at(header, 60)?, mini_sectors.saturating_mul(size))?;
    if len >= MINI {
        return sectors.chain(start, len).map(Some);
    }
    let stream = Sectors { bytes: &small, size: 64, next: words(&next).collect() }.chain(start, len)?;
    // The reader would take other bytes of the file for those that lack.
    if stream.len() < len { Err(ends()) } else { Ok(Some(stream)) }
}

/// Returns the successors of all sectors.
fn successors(header: &[u8; 512], sectors: &Sectors<'_>) -> Result<Vec<u32>, Refusal> {
    let mut tables: Vec<u32> = words(&header[76..]).collect();
    let (mut number, mut taken) = (u32_at(header, 68)?, 0);
    while number < LAST_SECTOR {
        taken += 1;
        if taken > sectors.most() {
            return Err(Refusal::damaged("its sectors go round in a circle"));
        }
        tables.extend(words(sectors.sector(number)?));
        number = tables.pop().ok_or_else(ends)?;
    }
    tables.retain(|&table| table < LAST_SECTOR);
    if tables.len() > sectors.most() {
        return Err(Refusal::damaged("it has more tables of sectors than sectors"));
    }
    let mut next = Vec::new();
    for table in tables {
        next.extend(words(sectors.sector(table)?));
    }
    Ok(next)
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes.as_chunks().0.iter().map(|four| u32::from_le_bytes(*four))
}

/// Returns whether an entry of the directory has this name, in UTF-16 up to a NUL.
fn is_named(entry: &[u8], name: &str) -> bool {
    let units = entry[..64].as_chunks().0.iter().map(|two| u16::from_le_bytes(*two)).take_while(|&unit| unit != 0);
    let same = |unit: u16| u8::try_from(unit).map_or(0, |byte| byte.to_ascii_lowercase());
    units.map(same).eq(name.bytes().map(|byte| byte.to_ascii_lowercase()))
}

/// Kinds of records.
mod kind {
    pub const EOF: u16 = 0x000A;
    pub const FILE_PASS: u16 = 0x002F;
    pub const CONTINUE: u16 = 0x003C;
    pub const BOUND_SHEET: u16 = 0x0085;
    pub const SST: u16 = 0x00FC;
    pub const DIMENSIONS: u16 = 0x0200;
    pub const STRING: u16 = 0x0207;
    pub const BOF: u16 = 0x0809;
    pub const FORMULA: u16 = 0x0006;
    pub const MUL_RK: u16 = 0x00BD;
    pub const LABEL_SST: u16 = 0x00FD;
    /// Number, Label, RString, BoolErr, RK.
    pub const CELLS: [u16; 5] = [0x0203, 0x0204, 0x00D6, 0x0205, 0x027E];
}

/// A record, with the data of those that continue it.
struct Record<'s> {
    kind: u16,
    data: &'s [u8],
    continued: Vec<&'s [u8]>,
}

struct Records<'s> {
    left: &'s [u8],
}

impl<'s> Records<'s> {
    fn next(&mut self) -> Result<Option<Record<'s>>, Refusal> {
        if self.left.is_empty() {
            return Ok(None);
        }
        let (kind, data) = self.take()?;
        let mut continued = Vec::new();
        while self.left.len() > 4 && u16_at(self.left, 0)? == kind::CONTINUE {
            if continued.len() == MOST_CONTINUED {
                return Err(Refusal::damaged("a record is continued too often"));
            }
            continued.push(self.take()?.1);
        }
        Ok(Some(Record { kind, data, continued }))
    }

    fn take(&mut self) -> Result<(u16, &'s [u8]), Refusal> {
        let (kind, len) = (u16_at(self.left, 0)?, usize::from(u16_at(self.left, 2)?));
        let (data, left) = self.left[4..].split_at_checked(len).ok_or_else(ends)?;
        self.left = left;
        Ok((kind, data))
    }
}

/// The content of the records in front of the sheets.
#[derive(Default)]
struct Globals {
    /// Positions of the sheets in the stream.
    sheets: Vec<usize>,
    /// The most bytes of each text that cells name by number.
    text_bytes: Vec<u64>,
}

impl Globals {
    /// Reads the first records. Returns `None` if the others are encrypted.
    fn read(stream: &[u8]) -> Result<Option<Self>, Refusal> {
        let (mut globals, mut records) = (Self::default(), Records { left: stream });
        while let Some(record) = records.next()? {
            match record.kind {
                kind::FILE_PASS if u16_at(record.data, 0)? != 0 => return Ok(None),
                kind::BOUND_SHEET => globals.sheets.push(u32_at(record.data, 0)? as usize),
                kind::SST => globals.text_bytes = text_bytes(&record)?,
                kind::EOF => break,
                _ => {}
            }
        }
        Ok(Some(globals))
    }
}

/// Returns the most bytes of each text of a record `SST` ([MS-XLS] 2.4.265) in UTF-8.
fn text_bytes(record: &Record<'_>) -> Result<Vec<u64>, Refusal> {
    let (mut all, mut texts) = (Vec::new(), Texts { left: record.data, next: record.continued.iter() });
    texts.skip(8)?;
    while texts.has_more() {
        let characters = texts.skip_text()?;
        all.push(3 * characters);
    }
    Ok(all)
}

struct Texts<'s, 'r> {
    left: &'s [u8],
    next: std::slice::Iter<'r, &'s [u8]>,
}

impl Texts<'_, '_> {
    fn has_more(&mut self) -> bool {
        !self.left.is_empty() || self.turn()
    }

    /// Goes to the next record.
    fn turn(&mut self) -> bool {
        let Some(next) = self.next.next() else { return false };
        self.left = next;
        true
    }

    /// Skips bytes, over the ends of records.
    fn skip(&mut self, mut bytes: usize) -> Result<(), Refusal> {
        while bytes > 0 {
            if !self.has_more() {
                return Err(ends());
            }
            let here = bytes.min(self.left.len());
            self.left = &self.left[here..];
            bytes -= here;
        }
        Ok(())
    }

    /// Skips an `XLUnicodeRichExtendedString` ([MS-XLS] 2.5.293). Returns the number of its characters.
    fn skip_text(&mut self) -> Result<u64, Refusal> {
        if self.left.is_empty() {
            return Ok(0);
        }
        let (characters, flags) = (u16_at(self.left, 0)?, *self.left.get(2).ok_or_else(ends)?);
        let (mut at, mut behind) = (3, 0);
        if flags & 8 != 0 {
            behind += 4 * usize::from(u16_at(self.left, at)?);
            at += 2;
        }
        if flags & 4 != 0 {
            behind += u32_at(self.left, at)? as usize;
            at += 4;
        }
        self.left = &self.left[at..];
        let (mut left, mut width) = (usize::from(characters), 1 + usize::from(flags & 1));
        loop {
            let here = left.min(self.left.len() / width);
            left -= here;
            self.left = &self.left[here * width..];
            if left == 0 {
                break;
            }
            // A text that goes on in the next record says anew how wide its characters are.
            if !self.turn() {
                return Err(ends());
            }
            let (flags, text) = self.left.split_first().ok_or_else(ends)?;
            (width, self.left) = (1 + usize::from(flags & 1), text);
        }
        self.skip(behind)?;
        Ok(u64::from(characters))
    }
}

/// The cells so far.
#[derive(Default)]
struct Count {
    cells: u64,
    text_bytes: u64,
    records: u64,
}

impl Count {
    fn add_sheet(&mut self, sheet: &[u8], texts: &[u64]) -> Result<(), Refusal> {
        let (mut records, mut around, mut formula) = (Records { left: sheet }, Rectangle::default(), (0, 0));
        // Charts within a sheet have records of their own.
        let mut depth = 0_u32;
        while let Some(Record { kind, data, .. }) = records.next()? {
            self.records += 1;
            if self.records > MOST_RECORDS {
                return Err(Refusal::TooMany(format!("it has more than {MOST_RECORDS} records")));
            }
            match kind {
                kind::BOF => depth += 1,
                kind::EOF if depth <= 1 => break,
                kind::EOF => depth -= 1,
                _ if depth > 1 => {}
                kind::DIMENSIONS => refuse_dimensions(data)?,
                kind::FORMULA => {
                    formula = place(data)?;
                    around.add(formula);
                }
                kind::STRING => around.add(formula),
                kind::MUL_RK => {
                    let (row, column) = place(data)?;
                    around.add((row, column));
                    around.add((row, u16_at(data, data.len().saturating_sub(2))?.max(column)));
                }
                kind::LABEL_SST => {
                    around.add(place(data)?);
                    self.text_bytes += texts.get(u32_at(data, 6)? as usize).copied().unwrap_or(0);
                }
                _ if kind::CELLS.contains(&kind) => around.add(place(data)?),
                _ => {}
            }
            refuse_beyond(self.cells + around.cells(), self.text_bytes)?;
        }
        self.cells += around.cells();
        Ok(())
    }
}

/// Returns the row and the column of a cell.
fn place(data: &[u8]) -> Result<(u16, u16), Refusal> {
    Ok((u16_at(data, 0)?, u16_at(data, 2)?))
}

/// The smallest rectangle around cells: the first and the last row and column.
#[derive(Default)]
struct Rectangle(Option<[u16; 4]>);

impl Rectangle {
    fn add(&mut self, (row, column): (u16, u16)) {
        let [top, bottom, left, right] = self.0.unwrap_or([row, row, column, column]);
        self.0 = Some([top.min(row), bottom.max(row), left.min(column), right.max(column)]);
    }

    fn cells(&self) -> u64 {
        let side = |first: u16, last: u16| u64::from(last) - u64::from(first) + 1;
        self.0.map_or(0, |[top, bottom, left, right]| side(top, bottom) * side(left, right))
    }
}

/// Fails if a sheet says that it has more cells than it can: the reader makes room for them.
fn refuse_dimensions(data: &[u8]) -> Result<(), Refusal> {
    let (first_row, after_row, at) = match data.len() {
        10 => (u32::from(u16_at(data, 0)?), u32::from(u16_at(data, 2)?), 4),
        14 | 16 => (u32_at(data, 0)?, u32_at(data, 4)?, 8),
        _ => return Ok(()),
    };
    let (first_column, after_column) = (u16_at(data, at)?, u16_at(data, at + 2)?);
    if after_row == 0 || after_column == 0 {
        return Ok(());
    }
    // Calamine takes a column beyond the last one for the first one.
    let first_column = if first_column > 0xFF || after_column < first_column { 0 } else { first_column };
    let rows = after_row.checked_sub(first_row).ok_or_else(|| Refusal::damaged("a sheet ends before it begins"))?;
    let cells = u64::from(rows) * u64::from(after_column - first_column);
    if cells > MOST_CELLS {
        return Err(Refusal::damaged("a sheet says that it has more cells than a sheet can have"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CITIES: &[u8] = include_bytes!("../../tests/data/cities.xls");

    /// Returns what is said of the workbook with other bytes at the first, second, ... place of a record, behind kind and length.
    fn changed(record: &[u8; 4], nth: usize, at: usize, bytes: &[u8]) -> Result<(), Refusal> {
        let mut file = CITIES.to_vec();
        let found = file.windows(4).enumerate().filter(|(_, window)| window == record).nth(nth).unwrap().0;
        file[found + 4 + at..][..bytes.len()].copy_from_slice(bytes);
        refuse_many_cells(&file)
    }

    /// Two cells of a file of 5 kB took 137 GB. A position behind the end was a panic, and sectors in a circle took all memory.
    #[test]
    fn an_xls_is_looked_through_before_it_is_read() {
        let damaged = |result| assert!(matches!(result, Err(Refusal::Damaged(_))), "{result:?}");
        assert_eq!(refuse_many_cells(CITIES), Ok(()));
        let (label, dimensions, sheet) = (b"\xFD\x00\x0A\x00", b"\x00\x02\x0E\x00", b"\x85\x00\x0E\x00");
        let far = changed(label, 1, 0, &[0xFF; 4]);
        assert!(matches!(far, Err(Refusal::TooMany(_))), "{far:?}");
        assert_eq!(changed(label, 1, 0, &[0xFF, 0xFF, 0xFF, 0]), Ok(()), "the last cell that there can be");
        damaged(changed(dimensions, 0, 0, &[0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0xFF, 0xFF]));
        damaged(changed(dimensions, 0, 0, &[9, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0]));
        damaged(changed(sheet, 0, 0, &[0xFF, 0xFF, 0xFF, 0x7F]));
        let mut circle = CITIES.to_vec();
        let table = u32::from_le_bytes(*circle[76..].first_chunk().unwrap()) as usize;
        let directory = u32::from_le_bytes(*circle[48..].first_chunk().unwrap());
        let successor = 512 * (table + 1) + 4 * directory as usize;
        circle[successor..][..4].copy_from_slice(&directory.to_le_bytes());
        damaged(refuse_many_cells(&circle));
        for len in 0..CITIES.len() {
            // Nothing panics, whatever is said.
            drop(refuse_many_cells(&CITIES[..len]));
        }
    }

    #[test]
    fn texts_count_as_often_as_cells_name_them() {
        // A text that goes on in the next record with wide characters, one with runs and an extension, an empty one.
        let texts = Record {
            kind: kind::SST,
            data: &[&[0; 8][..], &[2, 0, 0], b"ab", &[4, 0, 0], b"cd"].concat(),
            continued: vec![&[1, b'e', 0, b'f', 0, 1, 0, 12, 1, 0, 2, 0, 0, 0, b'g', 9, 9, 9], &[9, 8, 8, 0, 0, 0]],
        };
        assert_eq!(text_bytes(&texts), Ok(vec![6, 12, 3, 0]));
        let mut count = Count::default();
        let cell = [0xFD, 0, 10, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0];
        count.add_sheet(&cell.repeat(3), &[7, 1 << 20]).unwrap();
        assert_eq!((count.cells, count.text_bytes), (1, 3 << 20));
        let many = count.add_sheet(&cell.repeat(1022), &[7, 1 << 20]);
        assert!(matches!(many, Err(Refusal::TooMany(_))), "{many:?}");
    }
}
