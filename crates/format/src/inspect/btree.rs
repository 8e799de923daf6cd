//! Shows a b-tree page, and on page 1 the file header before it.

use std::ops::Range;

use super::lines::{Lines, byte_count, display};
use super::{header_offset, record};
use crate::big_endian::{u16_at, u32_at};
use crate::cell::Cell;
use crate::header::{DatabaseHeader, FIELDS};
use crate::page::{CELL_POINTER_LEN, Freeblock, LEAF_HEADER_LEN, MIN_CELL_LEN, PageHeader, PageReader};
use crate::value::Value;
use crate::varint;

/// Shows the first `usable` bytes of the page.
pub(super) fn show(lines: &mut Lines<'_>, page_number: u32, usable: usize) {
    if page_number == 1 {
        show_file_header(lines);
    }
    let header_offset = header_offset(page_number);
    match PageHeader::decode(&lines.page()[header_offset..usable]) {
        Ok(header) => show_page_header(lines, header_offset, &header),
        Err(error) => return lines.undecoded_error(header_offset..usable, &error.within(header_offset)),
    }
    match PageReader::new(lines.page(), header_offset, usable) {
        Ok(reader) => show_content(lines, &reader, usable),
        Err(error) => lines.undecoded_error(header_offset + LEAF_HEADER_LEN..usable, &error),
    }
}

fn show_file_header(lines: &mut Lines<'_>) {
    let page = lines.page();
    lines.heading("file header");
    for (offset, len, name) in FIELDS {
        let value = match len {
            1 => page[offset].to_string(),
            2 => u16_at(page, offset).unwrap_or_default().to_string(),
            4 => u32_at(page, offset).unwrap_or_default().to_string(),
            20 => String::new(),
            _ => display(&Value::Text(&page[offset..offset + len])),
        };
        lines.field(offset..offset + len, value, name);
    }
    if let Err(error) = DatabaseHeader::decode(page) {
        lines.wrong_error(&error);
    }
}

fn show_page_header(lines: &mut Lines<'_>, at: usize, header: &PageHeader) {
    lines.heading("page header");
    lines.field(at..at + 1, header.kind, "kind of page");
    lines.field(at + 1..at + 3, header.first_freeblock, "first freeblock");
    lines.field(at + 3..at + 5, header.cell_count, "cells");
    lines.field(at + 5..at + 7, header.content_start, "start of the cell content");
    lines.field(at + 7..at + 8, header.fragmented_bytes, "fragmented bytes");
    if let Some(child) = header.right_child {
        lines.field(at + 8..at + 12, child, "right child");
    }
}

fn show_content(lines: &mut Lines<'_>, reader: &PageReader<'_>, usable: usize) {
    if reader.cell_count() > 0 {
        lines.heading("cell pointers, in key order");
    }
    for index in 0..reader.cell_count() {
        show_pointer(lines, reader, index);
    }
    show_gap(lines, reader.pointers_end()..reader.content_start());
    // The cells of a sound page are together no longer than the page. This bounds the description of a page whose cells
    // overlap.
    let mut budget = usable;
    for index in 0..reader.cell_count() {
        let Ok(offset) = reader.cell_offset(index) else { continue };
        match reader.cell(index) {
            Ok((_, len)) if len > budget => {
                lines.wrong(format_args!("cell {index} and those behind it are not shown: cells overlap"));
                break;
            }
            Ok((cell, len)) => {
                budget -= len;
                lines.heading(format_args!("cell {index}: {}", byte_count(len as u64)));
                show_cell(lines, &cell, offset, len);
            }
            Err(error) => {
                lines.heading(format_args!("cell {index}"));
                lines.undecoded_error(offset..usable.min(offset + MIN_CELL_LEN), &error);
            }
        }
    }
    show_freeblocks(lines, reader);
    if let Err(error) = reader.check_space() {
        lines.wrong_error(&error);
    }
}

fn show_pointer(lines: &mut Lines<'_>, reader: &PageReader<'_>, index: usize) {
    let at = reader.pointer_offset(index);
    let field = at..at + CELL_POINTER_LEN;
    match reader.cell_offset(index) {
        Ok(offset) => lines.field(field, offset, format_args!("cell {index} is at {offset:04x}")),
        Err(error) => lines.undecoded_error(field, &error),
    }
}

fn show_gap(lines: &mut Lines<'_>, gap: Range<usize>) {
    if gap.is_empty() {
        return;
    }
    let is_zero = lines.page()[gap.clone()].iter().all(|byte| *byte == 0);
    let content = if is_zero { "all zero" } else { "not all zero" };
    let len = byte_count(gap.len() as u64);
    lines.heading(format_args!("{:04x}  {len}, unallocated gap, {content}", gap.start));
}

/// Shows the fields of the cell of `len` bytes at `start`.
fn show_cell(lines: &mut Lines<'_>, cell: &Cell<'_>, start: usize, len: usize) {
    let mut at = start;
    if let Some(child) = cell.left_child() {
        lines.field(at..at + 4, child, "left child");
        at += 4;
    }
    let payload = cell.payload();
    if let Some(payload) = payload {
        at = show_varint(lines, at, payload.payload_len, "payload length");
    }
    if let Some(rowid) = cell.rowid() {
        at = show_varint(lines, at, rowid, "rowid");
    }
    let Some(payload) = payload else { return };
    let local_end = at + payload.local.len();
    if payload.payload_len > 0 {
        record::show(lines, at..local_end, payload.payload_len);
    }
    if let Some(page) = payload.overflow {
        let elsewhere = payload.payload_len - payload.local.len() as u64;
        let meaning = format_args!("overflow page, for {elsewhere} bytes more");
        lines.field(local_end..start + len, page, meaning);
    }
}

/// Shows the varint at `at`, whose number is `value`. Returns the offset behind it.
fn show_varint(lines: &mut Lines<'_>, at: usize, value: impl std::fmt::Display, meaning: &str) -> usize {
    let len = lines.page().get(at..).and_then(varint::read).map_or(0, |(_, len)| len);
    lines.field(at..at + len, value, meaning);
    at + len
}

fn show_freeblocks(lines: &mut Lines<'_>, reader: &PageReader<'_>) {
    for block in reader.freeblocks() {
        match block {
            Ok(Freeblock { offset, len }) => {
                lines.heading("freeblock");
                let next = u16_at(lines.page(), offset).unwrap_or_default();
                lines.field(offset..offset + 2, next, "next freeblock");
                lines.field(offset + 2..offset + 4, len, "bytes of this freeblock");
            }
            Err(error) => lines.wrong_error(&error),
        }
    }
}
