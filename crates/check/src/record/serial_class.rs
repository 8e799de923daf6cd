//! Classes of serial types, and the lengths of their bodies.

use litepress_format::record::serial;

/// Classes of serial types, as bits of a set.
pub(crate) mod class {
    pub(crate) const NULL: u8 = 1;
    pub(crate) const INT: u8 = 2;
    /// The integers 0 and 1 without a body. Schema formats before 4 do not have them, but SQLite reads them there too.
    pub(crate) const SMALL_INT: u8 = 4;
    pub(crate) const REAL: u8 = 8;
    pub(crate) const TEXT: u8 = 16;
    pub(crate) const BLOB: u8 = 32;
    pub(crate) const INTEGERS: u8 = INT | SMALL_INT;
    pub(crate) const ANY: u8 = 63;
    /// Serial types 10 and 11.
    pub(crate) const RESERVED: u8 = 64;
}

/// Class and body length by the first byte of a serial type. [`class::RESERVED`] also marks serial types of several
/// bytes.
#[expect(clippy::cast_possible_truncation, reason = "a serial type of one byte has a body of at most 57")]
pub(super) const SHORT_SERIALS: [(u8, u8); 256] = {
    let mut table = [(class::RESERVED, 0); 256];
    let mut serial = 0;
    while serial < 128 {
        table[serial] = (class_of(serial as u64), serial::body_len(serial as u64) as u8);
        serial += 1;
    }
    table
};

const fn class_of(serial: u64) -> u8 {
    match serial {
        serial::NULL => class::NULL,
        serial::I8..=serial::I64 => class::INT,
        serial::REAL => class::REAL,
        serial::ZERO | serial::ONE => class::SMALL_INT,
        10 | 11 => class::RESERVED,
        _ => {
            if serial.is_multiple_of(2) {
                class::BLOB
            } else {
                class::TEXT
            }
        }
    }
}

/// Returns class and body length of any serial type. The length saturates, at more than any body has.
#[inline]
pub(crate) fn classify(serial: u64) -> (u8, usize) {
    if serial < 0x80 {
        let (class, len) = SHORT_SERIALS[(serial & 0x7f) as usize];
        return (class, len.into());
    }
    (class_of(serial), usize::try_from(serial::body_len(serial)).unwrap_or(usize::MAX))
}
