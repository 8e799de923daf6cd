//! Leaves out the fields of records that no statement reads. SQLite's byte code tells which these are.
//!
//! ```text
//! SELECT lower(b) FROM t    ->  Column, cursor 0, field 1
//!
//! record of the table       | a | b | c |
//! record to be evaluated    | NULL | b |
//! ```
//!
//! Most expressions read one short column, and rows are copied twice on their way to SQLite.

use litepress_format::record::{SHORT_BODY_LENS, body_len, header_len, serial};
use litepress_format::varint;
use rusqlite::Connection;

/// The fields of a table's records that statements read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Projection {
    /// Whether each field is read, up to the last one that is.
    is_read: Vec<bool>,
}

/// Memory for the projection of records.
#[derive(Clone, Debug, Default)]
pub(super) struct ProjectedRecord {
    record: Vec<u8>,
    types: Vec<u8>,
    bodies: Vec<u8>,
}

impl Projection {
    /// Returns the projection to the fields that statements over one table read. Returns `None` if it is not worth it, or unknown.
    /// `fields` is the number of fields of a record.
    pub fn of(sqlite: &Connection, statements: &[String], fields: usize) -> Option<Self> {
        let mut is_read = vec![false; fields];
        for sql in statements {
            // A statement that SQLite refuses never reads a row.
            let Ok(read) = fields_read(sqlite, sql) else { continue };
            for field in read? {
                *is_read.get_mut(field)? = true;
            }
        }
        if is_read.iter().all(|&is_read| is_read) {
            return None;
        }
        let len = is_read.iter().rposition(|&is_read| is_read).map_or(0, |last| last + 1);
        is_read.truncate(len);
        Some(Self { is_read })
    }

    /// Projects a record. Returns `None` if it is malformed.
    pub fn project<'m>(&self, record: &[u8], memory: &'m mut ProjectedRecord) -> Option<&'m [u8]> {
        let ProjectedRecord { record: out, types, bodies } = memory;
        types.clear();
        bodies.clear();
        let (header_end, mut at) = varint::read(record)?;
        let header_end = usize::try_from(header_end).ok().filter(|&end| end <= record.len())?;
        let mut body = header_end;
        for &is_read in &self.is_read {
            if at >= header_end {
                break;
            }
            let (len, next) = field_len(record, at)?;
            if is_read {
                types.extend_from_slice(&record[at..next]);
                bodies.extend_from_slice(record.get(body..body.checked_add(len)?)?);
            } else {
                types.push(NULL_TYPE);
            }
            at = next;
            body = body.checked_add(len)?;
        }
        out.clear();
        varint::push(header_len(types.len()) as u64, out);
        out.extend_from_slice(types);
        out.extend_from_slice(bodies);
        Some(out)
    }
}

/// The serial type of NULL in a header.
#[expect(clippy::cast_possible_truncation, reason = "it is zero")]
const NULL_TYPE: u8 = serial::NULL as u8;

/// Returns the length of the body whose serial type is at `at` of a record, and the offset behind the type.
#[inline]
pub(super) fn field_len(record: &[u8], at: usize) -> Option<(usize, usize)> {
    match *record.get(at)? {
        10 | 11 => None,
        short @ ..0x80 => Some((SHORT_BODY_LENS[usize::from(short)].into(), at + 1)),
        _ => {
            let (serial, len) = varint::read(&record[at..])?;
            Some((usize::try_from(body_len(serial)?).ok()?, at + len))
        }
    }
}

/// Returns the fields that a statement over one table reads. Returns `None` if the byte code may read them in another way.
fn fields_read(sqlite: &Connection, sql: &str) -> rusqlite::Result<Option<Vec<usize>>> {
    let mut explain = sqlite.prepare(&format!("EXPLAIN {sql}"))?;
    let code = explain.query_map([], |row| Ok((row.get::<_, String>(1)?, row.get(2)?, row.get(3)?)))?;
    let code: Vec<(String, i64, i64)> = code.collect::<rusqlite::Result<_>>()?;
    let operands = |wanted: &'static str| {
        code.iter().filter(move |(opcode, ..)| opcode == wanted).map(|&(_, first, second)| (first, second))
    };
    let (Some((table, _)), 1) = (operands("OpenRead").next(), operands("OpenRead").count()) else { return Ok(None) };
    if operands("RowData").next().is_some() {
        return Ok(None);
    }
    let fields = operands("Column").filter(|&(cursor, _)| cursor == table).map(|(_, field)| usize::try_from(field));
    Ok(fields.collect::<Result<_, _>>().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use litepress_format::record::{decode, write_record};
    use litepress_format::value::Value;

    fn fields(table: &str, statements: &[&str], fields: usize) -> Option<Vec<bool>> {
        let sqlite = Connection::open_in_memory().unwrap();
        sqlite.execute_batch(table).unwrap();
        let statements: Vec<String> = statements.iter().map(|&sql| sql.to_owned()).collect();
        Projection::of(&sqlite, &statements, fields).map(|projection| projection.is_read)
    }

    #[test]
    fn byte_code_tells_the_fields() {
        let table = "CREATE TABLE t (n INTEGER PRIMARY KEY, a, b, v AS (c || a), c, d, UNIQUE (d))";
        let read = |statements: &[&str]| fields(table, statements, 5);
        assert_eq!(read(&["SELECT rowid, n, 1 FROM t NOT INDEXED"]), Some(vec![]));
        assert_eq!(
            read(&["SELECT lower(b) FROM t NOT INDEXED WHERE +(a IN (1, 2, b))"]),
            Some(vec![false, true, true])
        );
        assert_eq!(read(&["SELECT v FROM t NOT INDEXED", "SELECT n FROM t"]), Some(vec![false, true, false, true]));
        assert_eq!(
            read(&["SELECT typeof(d), length(a) FROM t NOT INDEXED"]),
            Some(vec![false, true, false, false, true])
        );
        assert_eq!(read(&["SELECT a, b, c, d FROM t NOT INDEXED"]), Some(vec![false, true, true, true, true]));
        // It does not run.
        assert_eq!(read(&["SELECT none FROM t", "SELECT a FROM t"]), Some(vec![false, true]));
        // Another table is read.
        assert_eq!(read(&["SELECT 1 FROM t AS one, t AS other"]), None);
        let without_rowid = "CREATE TABLE t (a, b, c, PRIMARY KEY (c, a)) WITHOUT ROWID";
        assert_eq!(fields(without_rowid, &["SELECT a FROM t"], 3), Some(vec![false, true]));
        assert_eq!(fields(without_rowid, &["SELECT a, b, c FROM t"], 3), None);
    }

    #[test]
    fn fields_that_are_not_read_are_null() {
        let long = "x".repeat(70_000);
        let values = [Value::Int(300), Value::from(long.as_str()), Value::Null, Value::Real(0.5), Value::Blob(b"abc")];
        let mut record = Vec::new();
        write_record(&values, &mut record);
        let mut memory = ProjectedRecord::default();
        for mask in 0..1 << values.len() {
            let is_read: Vec<bool> = (0..values.len()).map(|field| mask >> field & 1 == 1).collect();
            let projection = Projection { is_read: is_read.clone() };
            let projected = decode(projection.project(&record, &mut memory).unwrap()).unwrap();
            let expected: Vec<Value<'_>> =
                values.iter().zip(is_read).map(|(&value, is_read)| if is_read { value } else { Value::Null }).collect();
            assert_eq!(projected, expected);
        }
        // A record may have fewer fields, and a damaged one is left to SQLite.
        let all = Projection { is_read: vec![true; 9] };
        assert_eq!(all.project(&record, &mut memory), Some(&*record));
        assert_eq!(all.project(&record[..record.len() - 1], &mut memory), None);
        for damaged in [&[][..], &[5, 1], &[2, 10, 0], &[3, 0x81]] {
            assert_eq!(all.project(damaged, &mut memory), None, "{damaged:?}");
        }
    }
}
