//! Facts about the driver.

use crate::error::Result;
use adbc_core::options::InfoCode;
use adbc_core::{constants, schemas};
use arrow_array::{
    ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StringArray, UInt32Array, UnionArray,
    new_empty_array,
};
use arrow_schema::{DataType, SchemaRef};
use std::collections::HashSet;
use std::sync::Arc;

/// A stream of Arrow batches.
pub type Stream = Box<dyn RecordBatchReader + Send + 'static>;

/// Returns a stream of these batches.
pub fn stream(schema: SchemaRef, batches: Vec<RecordBatch>) -> Stream {
    Box::new(RecordBatchIterator::new(batches.into_iter().map(Ok), schema))
}

enum Fact {
    Text(String),
    Int(i64),
}

/// Returns everything that is known. Clients take the way for SQLite by the name of the vendor.
fn facts() -> Vec<(u32, Fact)> {
    let text = |text: &str| Fact::Text(text.to_owned());
    vec![
        (constants::ADBC_INFO_VENDOR_NAME, text("SQLite")),
        (constants::ADBC_INFO_VENDOR_VERSION, text(rusqlite::version())),
        (constants::ADBC_INFO_DRIVER_NAME, text("ADBC litepress Driver")),
        (constants::ADBC_INFO_DRIVER_VERSION, text(env!("CARGO_PKG_VERSION"))),
        (constants::ADBC_INFO_DRIVER_ARROW_VERSION, text(&format!("v{}", arrow_array::ARROW_VERSION))),
        (constants::ADBC_INFO_DRIVER_ADBC_VERSION, Fact::Int(constants::ADBC_VERSION_1_1_0.into())),
    ]
}

/// Returns the wanted facts, or all. Codes that are not known are left out.
pub fn info(codes: Option<&HashSet<InfoCode>>) -> Result<Stream> {
    let is_wanted = |code: u32| codes.is_none_or(|codes| codes.contains(&InfoCode::from(code)));
    let facts: Vec<(u32, Fact)> = facts().into_iter().filter(|(code, _)| is_wanted(*code)).collect();
    let schema = schemas::GET_INFO_SCHEMA.clone();
    let DataType::Union(fields, _) = schema.field(1).data_type().clone() else { unreachable!("values are a union") };
    let (mut texts, mut ints, mut types, mut offsets) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (_, fact) in &facts {
        let (kind, offset) = match fact {
            Fact::Text(text) => (0_i8, push(&mut texts, text.as_str())),
            Fact::Int(int) => (2_i8, push(&mut ints, *int)),
        };
        types.push(kind);
        offsets.push(offset);
    }
    let child = |(kind, field): (i8, &Arc<arrow_schema::Field>)| -> ArrayRef {
        match kind {
            0 => Arc::new(StringArray::from(texts.clone())),
            2 => Arc::new(Int64Array::from(ints.clone())),
            _ => new_empty_array(field.data_type()),
        }
    };
    let children = fields.iter().map(child).collect();
    let values = UnionArray::try_new(fields.clone(), types.into(), Some(offsets.into()), children)?;
    let codes = UInt32Array::from_iter_values(facts.iter().map(|(code, _)| *code));
    let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(codes), Arc::new(values)])?;
    Ok(stream(schema, vec![batch]))
}

/// Appends a value and returns its position.
fn push<T>(values: &mut Vec<T>, value: T) -> i32 {
    values.push(value);
    i32::try_from(values.len() - 1).expect("a few facts")
}
