//! Writes the records of a block from the serial types and bodies of its columns.

use super::MAX_RECORD_BYTES;
use super::column::{Bodies, Shape, Slot, body_len};
use crate::cells::{CellBlock, Cells, Strings};
use crate::chunk::arena_end;
use litepress_format::short_bytes::copy_short;
use litepress_format::{record, varint};

/// Maximum number of one-byte serial types in a header whose own length takes one byte.
const MAX_ONE_BYTE_HEADER: usize = 126;

/// Appends the first `rows` records to `arena`, and their ends to `ends`.
///
/// The error is the row whose record is longer than [`MAX_RECORD_BYTES`].
pub(super) fn write(
    columns: &[(&Slot, &CellBlock)],
    rows: usize,
    arena: &mut Vec<u8>,
    ends: &mut Vec<u32>,
) -> Result<(), usize> {
    let shapes: Option<Vec<Shape>> = columns.iter().map(|(slot, _)| slot.shape).collect();
    match shapes {
        Some(shapes) if columns.len() <= MAX_ONE_BYTE_HEADER => {
            write_uniform(columns, &shapes, rows, arena, ends);
            Ok(())
        }
        _ => write_varying(columns, rows, arena, ends),
    }
}

/// Writes records of one layout: copies a template to every row, then each column writes its varying parts.
fn write_uniform(
    columns: &[(&Slot, &CellBlock)],
    shapes: &[Shape],
    rows: usize,
    arena: &mut Vec<u8>,
    ends: &mut Vec<u32>,
) {
    let header_len = 1 + columns.len();
    let record_len = header_len + shapes.iter().map(|shape| shape.body_len).sum::<usize>();
    let mut template = vec![0; record_len];
    template[0] = u8::try_from(header_len).expect("a header of one-byte serial types");
    for (serial, shape) in template[1..].iter_mut().zip(shapes) {
        *serial = shape.serial.unwrap_or(0);
    }
    let start = arena.len();
    repeat(&template, rows, arena);
    let mut body_at = header_len;
    for (position, ((slot, block), shape)) in columns.iter().zip(shapes).enumerate() {
        let records = &mut arena[start..];
        if shape.serial.is_none() {
            for (record, &serial) in records.chunks_exact_mut(record_len).zip(&slot.serials) {
                #[expect(clippy::cast_possible_truncation, reason = "a shape promises one-byte serial types")]
                let serial = serial as u8;
                record[1 + position] = serial;
            }
        }
        match strings(slot, block) {
            None => write_words(&slot.words, shape.body_len, records, record_len, body_at),
            Some(strings) => write_strings(strings.data(), shape.body_len, records, record_len, body_at),
        }
        body_at += shape.body_len;
    }
    let first_end = start + record_len;
    ends.extend((0..rows).map(|row| arena_end(first_end + row * record_len)));
}

/// Appends `rows` copies of `template` by repeated doubling: a few large copies instead of many small ones.
fn repeat(template: &[u8], rows: usize, arena: &mut Vec<u8>) {
    let start = arena.len();
    let end = start + rows * template.len();
    if rows > 0 {
        arena.extend_from_slice(template);
    }
    while arena.len() < end {
        let copied = (arena.len() - start).min(end - arena.len());
        arena.extend_from_within(start..start + copied);
    }
}

/// Calls `$call` with a constant length if `$len` is small, so that copies become single moves.
macro_rules! with_constant_len {
    ($len:expr, $call:ident $args:tt, [$($n:literal),*], $otherwise:expr) => {
        match $len {
            0 => {}
            $($n => $call::<$n> $args,)*
            _ => $otherwise,
        }
    };
}

fn write_words(words: &[u64], body_len: usize, records: &mut [u8], record_len: usize, at: usize) {
    with_constant_len!(
        body_len,
        put_words(words, records, record_len, at),
        [1, 2, 3, 4, 5, 6, 7, 8],
        unreachable!("a word holds at most eight bytes")
    );
}

fn put_words<const LEN: usize>(words: &[u64], records: &mut [u8], record_len: usize, at: usize) {
    for (record, word) in records.chunks_exact_mut(record_len).zip(words) {
        record[at..at + LEN].copy_from_slice(&word.to_be_bytes()[..LEN]);
    }
}

fn write_strings(data: &[u8], body_len: usize, records: &mut [u8], record_len: usize, at: usize) {
    with_constant_len!(
        body_len,
        put_strings(data, records, record_len, at),
        [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 32, 36],
        for (record, body) in records.chunks_exact_mut(record_len).zip(data.chunks_exact(body_len)) {
            record[at..at + body_len].copy_from_slice(body);
        }
    );
}

fn put_strings<const LEN: usize>(data: &[u8], records: &mut [u8], record_len: usize, at: usize) {
    for (record, body) in records.chunks_exact_mut(record_len).zip(data.chunks_exact(LEN)) {
        record[at..at + LEN].copy_from_slice(body);
    }
}

/// Size of the block in which short bodies are copied. The next body overwrites the excess.
const BLOCK: usize = 16;

/// Writes records of any layout, one after another.
fn write_varying(
    columns: &[(&Slot, &CellBlock)],
    rows: usize,
    arena: &mut Vec<u8>,
    ends: &mut Vec<u32>,
) -> Result<(), usize> {
    let start = arena.len();
    let widest_header = record::header_len(columns.iter().map(|(slot, _)| varint::len(slot.max_serial.into())).sum());
    let bodies: u64 = columns.iter().map(|(slot, _)| slot.body_bytes).sum();
    let most = rows * widest_header + usize::try_from(bodies).expect("bodies lie in memory");
    arena.resize(start + most + BLOCK, 0);
    let narrow = columns.iter().all(|(slot, _)| slot.max_serial < 128) && columns.len() <= MAX_ONE_BYTE_HEADER;
    let columns: Vec<(&Slot, Option<&Strings>)> =
        columns.iter().map(|(slot, block)| (*slot, strings(slot, block))).collect();
    let mut at = start;
    for row in 0..rows {
        let record_start = at;
        at = if narrow { narrow_header(&columns, row, arena, at) } else { wide_header(&columns, row, arena, at) };
        for (slot, strings) in &columns {
            let len = body_len(slot.serials[row]);
            match strings {
                None => arena[at..at + 8].copy_from_slice(&slot.words[row].to_be_bytes()),
                Some(strings) => put_string(strings, row, len, &mut arena[at..]),
            }
            at += len;
        }
        if (at - record_start) as u64 > MAX_RECORD_BYTES {
            return Err(row);
        }
        ends.push(arena_end(at));
    }
    arena.truncate(at);
    Ok(())
}

/// Returns the strings with the slot's bodies, or `None` if these are words.
fn strings<'a>(slot: &'a Slot, block: &'a CellBlock) -> Option<&'a Strings> {
    match (slot.bodies, block.cells()) {
        (Bodies::Cells, Cells::Text(strings) | Cells::Blob(strings)) => Some(strings),
        (Bodies::Own, _) => Some(&slot.own),
        _ => None,
    }
}

fn narrow_header(columns: &[(&Slot, Option<&Strings>)], row: usize, arena: &mut [u8], at: usize) -> usize {
    let header = &mut arena[at..=at + columns.len()];
    #[expect(clippy::cast_possible_truncation, reason = "narrow: the length and every serial type are below 128")]
    {
        header[0] = header.len() as u8;
        for (byte, (slot, _)) in header[1..].iter_mut().zip(columns) {
            *byte = slot.serials[row] as u8;
        }
    }
    at + 1 + columns.len()
}

fn wide_header(columns: &[(&Slot, Option<&Strings>)], row: usize, arena: &mut [u8], mut at: usize) -> usize {
    let serial_bytes = columns.iter().map(|(slot, _)| varint::len(slot.serials[row].into())).sum();
    at += varint::write(record::header_len(serial_bytes) as u64, &mut arena[at..]);
    for (slot, _) in columns {
        at += varint::write(slot.serials[row].into(), &mut arena[at..]);
    }
    at
}

#[inline]
fn put_string(strings: &Strings, row: usize, len: usize, out: &mut [u8]) {
    // The string of a NULL row is not read: `len` is 0 by its serial type.
    let start = strings.span(row).start;
    match strings.data().get(start..start + BLOCK) {
        Some(block) if len <= BLOCK => out[..BLOCK].copy_from_slice(block),
        _ => copy_short(&strings.data()[start..start + len], &mut out[..len]),
    }
}
