//! A small table whose sorts do not fit the smallest memory, because many indexes share it.

use crate::source::MadeRows;
use litepress_format::record::write_record;
use litepress_format::value::Value;

/// A WITHOUT ROWID table with a stored column and a CHECK, and fifteen indexes, some on expressions or partial.
pub const SCHEMA: &str = "
CREATE TABLE t(a INT, b TEXT COLLATE NOCASE, c REAL, d AS (upper(b)) STORED, PRIMARY KEY(b, a), CHECK (c < 2000)) WITHOUT ROWID;
CREATE INDEX i1 ON t(a); CREATE INDEX i2 ON t(a DESC); CREATE INDEX i3 ON t(b DESC); CREATE INDEX i4 ON t(b COLLATE BINARY, c);
CREATE INDEX i5 ON t(c); CREATE INDEX i6 ON t(c DESC, a); CREATE INDEX i7 ON t(a, c); CREATE INDEX i8 ON t(a, b);
CREATE UNIQUE INDEX u1 ON t(b, a DESC, c); CREATE UNIQUE INDEX u2 ON t(a, b, c);
CREATE INDEX i9 ON t(b COLLATE RTRIM, a); CREATE INDEX i10 ON t(c, b);
CREATE INDEX x1 ON t(lower(b), a % 7 DESC); CREATE INDEX x2 ON t(d, c) WHERE c > 500; CREATE UNIQUE INDEX x3 ON t(b || a) WHERE a % 3;";

/// A number of rows that spills.
pub const ROWS: u64 = 40_000;

/// Returns `count` of its rows, shuffled, with few different values in each column.
#[must_use]
pub fn rows(count: u64) -> MadeRows<impl Fn(u64, &mut Vec<u8>) -> i64 + Clone + Send + Sync + 'static> {
    MadeRows::new(count, 5000, |row, record| {
        let mixed = row.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let text = format!("{} {:x}", if mixed >> 63 == 0 { "key" } else { "KEY" }, mixed >> 50);
        let real = f64::from(u16::try_from(mixed % 1000).unwrap()) + 0.25;
        write_record(&[Value::Text(text.as_bytes()), Value::Int(row.cast_signed()), Value::Real(real)], record);
        0
    })
}
