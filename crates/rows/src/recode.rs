//! Brings the texts of records into another encoding.

use crate::RecordChunk;
use litepress_format::FormatError;
use litepress_format::record;
use litepress_format::value::Value;

/// Replaces the bytes of each text in the records of a chunk by those that `recode` makes of them. Rowids and positions stay.
///
/// # Errors
/// If a record is malformed.
pub fn recode_texts(chunk: &mut RecordChunk, recode: impl Fn(&[u8]) -> Vec<u8>) -> Result<(), FormatError> {
    let (mut recoded, mut bytes) = (RecordChunk::new(), Vec::new());
    recoded.set_first_record(chunk.first_record());
    for (row, &rowid) in chunk.rowids().iter().enumerate() {
        let mut values = record::decode(chunk.record(row))?;
        let text = |value: &Value<'_>| if let Value::Text(text) = value { recode(text) } else { Vec::new() };
        let texts: Vec<Vec<u8>> = values.iter().map(text).collect();
        for (value, text) in values.iter_mut().zip(&texts) {
            if let Value::Text(_) = value {
                *value = Value::Text(text);
            }
        }
        bytes.clear();
        record::write_record(&values, &mut bytes);
        recoded.push(rowid, &bytes);
    }
    *chunk = recoded;
    Ok(())
}
