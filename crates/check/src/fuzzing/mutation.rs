//! Changes single fields of a database file, so that it stays nearly valid.

use litepress_format::header::DatabaseHeader;
use litepress_format::page::{FILE_HEADER_LEN, PageReader};
use litepress_format::varint;

/// A source of choices: the bytes of the fuzzer, then zeros.
#[derive(Debug)]
pub struct Choices<'d>(&'d [u8]);

impl<'d> Choices<'d> {
    /// Creates a source of these bytes.
    pub fn new(data: &'d [u8]) -> Self {
        Self(data)
    }

    /// Returns the next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((byte, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *byte
    }

    /// Returns a number below `end`, or 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        let number = usize::from(u16::from_be_bytes([if end > 256 { self.byte() } else { 0 }, self.byte()]));
        number % end.max(1)
    }
}

/// Fields of the file header: offset and length.
const HEADER_FIELDS: [(usize, usize); 20] = [
    (16, 2),
    (18, 1),
    (19, 1),
    (20, 1),
    (21, 1),
    (22, 1),
    (23, 1),
    (24, 4),
    (28, 4),
    (32, 4),
    (36, 4),
    (40, 4),
    (44, 4),
    (48, 4),
    (52, 4),
    (56, 4),
    (60, 4),
    (64, 4),
    (92, 4),
    (96, 4),
];

/// Numbers that readers like to get wrong, modulo their field.
const TELLING: [u8; 10] = [0, 1, 2, 0x7f, 0x80, 0x81, 0xfe, 0xff, 12, 13];

/// Changes one field of a database with pages of 512 bytes. Returns the name of the field.
pub fn mutate(bytes: &mut [u8], choices: &mut Choices<'_>) -> &'static str {
    const PAGE: usize = 512;
    let pages = bytes.len() / PAGE;
    let number = choices.below(pages);
    let start = number * PAGE;
    let kind = choices.byte();
    if kind < 12 {
        let (offset, len) = HEADER_FIELDS[choices.below(HEADER_FIELDS.len())];
        put(&mut bytes[offset..offset + len], choices, pages);
        return "file header";
    }
    if kind < 20 {
        let other = choices.below(pages) * PAGE;
        bytes.copy_within(start..start + PAGE, other);
        return "copied page";
    }
    let usable = first_header(bytes).map_or(PAGE, |header| header.usable().min(PAGE));
    let header_offset = if number == 0 { FILE_HEADER_LEN } else { 0 };
    let page = &mut bytes[start..start + PAGE];
    let place = PageReader::new(page, header_offset, usable).ok().and_then(|reader| field(&reader, kind, choices));
    match place {
        Some((name, offset, len)) if offset + len <= PAGE => {
            put(&mut page[offset..offset + len], choices, pages);
            name
        }
        // Trunks of the freelist and overflow pages begin with a page number; entries of the pointer map have five bytes.
        _ => {
            let (unit, skip) = if kind % 2 == 0 { (4, 0) } else { (5, usize::from(kind % 4 == 1)) };
            let offset = choices.below(if kind < 100 { 3 } else { PAGE / unit }) * unit + skip;
            let len = if unit == 5 && skip == 0 { 1 } else { 4 };
            put(&mut page[offset.min(PAGE - 4)..][..len], choices, pages);
            "page without cells"
        }
    }
}

fn first_header(bytes: &[u8]) -> Option<DatabaseHeader> {
    DatabaseHeader::decode(bytes.first_chunk::<FILE_HEADER_LEN>()?).ok()
}

/// Chooses a field of a b-tree page. Returns its name, offset and length.
fn field(reader: &PageReader<'_>, kind: u8, choices: &mut Choices<'_>) -> Option<(&'static str, usize, usize)> {
    let first = reader.pointer_offset(0);
    let header = first - reader.kind().header_len();
    if kind < 60 {
        let fields = [(0, 1), (1, 2), (3, 2), (5, 2), (7, 1), (8, 4)];
        let known = if reader.right_child().is_some() { fields.len() } else { fields.len() - 1 };
        let (offset, len) = fields[choices.below(known)];
        return Some(("page header", header + offset, len));
    }
    if reader.cell_count() == 0 {
        return None;
    }
    let index = choices.below(reader.cell_count());
    if kind < 90 {
        return Some(("cell pointer", reader.pointer_offset(index), 2));
    }
    let offset = reader.cell_offset(index).ok()?;
    let (cell, len) = reader.cell(index).ok()?;
    let child = if cell.left_child().is_some() { 4 } else { 0 };
    if kind < 110 {
        return match cell.payload() {
            Some(payload) if payload.overflow.is_some() => Some(("overflow page", offset + len - 4, 4)),
            _ if child > 0 => Some(("left child", offset, 4)),
            _ => Some(("payload length", offset, 1)),
        };
    }
    let bytes = reader.bytes();
    let lengths = varint::read(bytes.get(offset + child..)?)?.1;
    if kind < 130 {
        return Some(("payload length or rowid", offset + child + choices.below(lengths + 2), 1));
    }
    let local = cell.payload()?.local;
    let record = offset + len - local.len() - if cell.payload()?.overflow.is_some() { 4 } else { 0 };
    let header_len = local.first().map_or(1, |len| usize::from(*len)).clamp(1, local.len().max(1));
    if kind < 180 {
        return Some(("record header", record + choices.below(header_len), 1));
    }
    Some(("record body", record + (header_len + choices.below(local.len())).min(local.len().max(1) - 1), 1))
}

/// Writes a number that is likely to be nearly right: a page number, a telling number, one bit more or less.
fn put(field: &mut [u8], choices: &mut Choices<'_>, pages: usize) {
    let Some(last) = field.len().checked_sub(1) else { return };
    match choices.byte() % 6 {
        0 => field[last] ^= 1 << (choices.byte() % 8),
        1 => field[last] = field[last].wrapping_add(1),
        2 => field[last] = field[last].wrapping_sub(1),
        3 if last == 3 => field.copy_from_slice(&u32::try_from(choices.below(pages + 2)).unwrap_or(0).to_be_bytes()),
        4 => field[choices.below(last + 1)] = choices.byte(),
        _ => field.fill(TELLING[choices.below(TELLING.len())]),
    }
}
