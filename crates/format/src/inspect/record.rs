//! Shows the part of a payload that is on the page.

use std::ops::Range;

use super::lines::{Lines, byte_count, display};
use crate::record;
use crate::varint;

/// The serial type of one column.
struct Column {
    serial: u64,
    /// Bytes of the body.
    len: u64,
}

/// Shows the record at `local` of the page. A longer record continues on overflow pages.
pub(super) fn show(lines: &mut Lines<'_>, local: Range<usize>, payload_len: u64) {
    let Some(bytes) = lines.page().get(local.clone()) else {
        return lines.wrong("the payload is off the page");
    };
    let Some((header_len, own)) = varint::read(bytes) else {
        return lines.undecoded(local, "the record ends inside its header length");
    };
    lines.field(local.start..local.start + own, header_len, "record header length");
    if header_len < own as u64 || header_len > payload_len {
        return lines.undecoded(local.start + own..local.end, "that header length is impossible");
    }
    // A header that continues on an overflow page is shown up to the end of this page.
    let header_end = usize::try_from(header_len).unwrap_or(usize::MAX).min(bytes.len());
    let header = local.start + own..local.start + header_end;
    let Some(columns) = show_serial_types(lines, header) else {
        return;
    };
    if (header_end as u64) < header_len {
        return lines.heading("      the record header goes on on the overflow page");
    }
    show_bodies(lines, &columns, local.start + header_end..local.end, payload_len - header_len);
}

/// Shows the serial types. Returns `None`, after a line that says why, if the rest cannot be decoded.
fn show_serial_types(lines: &mut Lines<'_>, header: Range<usize>) -> Option<Vec<Column>> {
    let page = lines.page();
    let mut columns = Vec::new();
    let mut at = header.start;
    while at < header.end {
        let Some((serial, len)) = varint::read(&page[at..header.end]) else {
            lines.undecoded(at..header.end, "the record header ends inside a serial type");
            return None;
        };
        let Some(body_len) = record::body_len(serial) else {
            lines.undecoded(at..header.end, format_args!("serial type {serial} is reserved"));
            return None;
        };
        lines.field(at..at + len, serial, format_args!("column {}: {}", columns.len(), describe(serial, body_len)));
        columns.push(Column { serial, len: body_len });
        at += len;
    }
    Some(columns)
}

fn describe(serial: u64, body_len: u64) -> String {
    match serial {
        record::serial::NULL => "NULL".into(),
        record::serial::ZERO => "integer 0".into(),
        record::serial::ONE => "integer 1".into(),
        record::serial::REAL => "real of 8 bytes".into(),
        record::serial::I8..=record::serial::I64 => format!("integer of {}", byte_count(body_len)),
        even if even % 2 == 0 => format!("blob of {}", byte_count(body_len)),
        _ => format!("text of {}", byte_count(body_len)),
    }
}

/// Shows the bodies from the start of `local`. Together they should take `bodies_len` bytes, overflow included.
fn show_bodies(lines: &mut Lines<'_>, columns: &[Column], local: Range<usize>, bodies_len: u64) {
    let total = columns.iter().fold(0_u64, |total, column| total.saturating_add(column.len));
    if total != bodies_len {
        lines.wrong(format_args!("the values take {}, the payload has {bodies_len} for them", byte_count(total)));
    }
    let page = lines.page();
    let mut at = local.start;
    for (index, column) in columns.iter().enumerate().filter(|(_, column)| column.len > 0) {
        let here = usize::try_from(column.len).unwrap_or(usize::MAX).min(local.end - at);
        let body = &page[at..at + here];
        match record::read_body(column.serial, body) {
            Some(value) => lines.field(at..at + here, display(&value), format_args!("column {index}")),
            None => {
                let meaning = format_args!("column {index}: {here} of {} bytes stand here", column.len);
                lines.field(at..at + here, "", meaning);
            }
        }
        at += here;
    }
    if at < local.end {
        lines.raw(at..local.end, "behind the last value");
    }
}
