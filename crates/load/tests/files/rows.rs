//! Reads whole files as texts that show each cell's type and value.

use arrow_array::{RecordBatch, RecordBatchIterator};
use litepress_format::value::Value;
use litepress_load::arrow;
use litepress_load::input::Input;
use litepress_load::options::{Format, ReadOptions};
use litepress_load::reader::{Batch, FileColumnKind, ProjectedColumn, Reader};
use litepress_rows::message::Flags;
use litepress_rows::{Affinity, Result};
use std::path::{Path, PathBuf};

/// A column and its requested form.
pub type StorageForm = (&'static str, &'static str);

/// A file's columns and rows.
#[derive(Debug, PartialEq)]
pub struct Table {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Table {
    pub fn column(&self, column: usize) -> Vec<String> {
        self.rows.iter().map(|row| row[column].clone()).collect()
    }
}

pub fn read(bytes: &[u8], format: Format) -> Result<Table> {
    read_bytes(bytes, format)
}

pub fn read_bytes(bytes: &[u8], format: Format) -> Result<Table> {
    read_forms(bytes, format, &ReadOptions::default(), &[])
}

pub fn read_forms(bytes: &[u8], format: Format, options: &ReadOptions, forms: &[StorageForm]) -> Result<Table> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    read_path(file.path(), format, options, forms)
}

pub fn read_path(path: &Path, format: Format, options: &ReadOptions, forms: &[StorageForm]) -> Result<Table> {
    let input = Input::from_path(path, &ReadOptions { format: Some(format), ..options.clone() })?;
    read_in_forms(arrow::open(&input, options)?, forms)
}

/// Reads record batches in memory.
pub fn read_batches(batches: Vec<RecordBatch>, options: &ReadOptions, forms: &[StorageForm]) -> Result<Table> {
    let schema = batches[0].schema();
    let batches = RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
    read_in_forms(arrow::batches(Box::new(batches), options)?, forms)
}

fn read_in_forms(mut reader: Box<dyn Reader>, forms: &[StorageForm]) -> Result<Table> {
    if !forms.is_empty() {
        let projected: Vec<ProjectedColumn> = forms
            .iter()
            .map(|(name, form)| {
                let field = reader.columns().iter().position(|field| field.name == *name);
                let form = Some((*form).to_owned());
                ProjectedColumn { form, ..ProjectedColumn::new(field, *name, Affinity::Blob) }
            })
            .collect();
        reader.project(&projected)?;
    }
    read_all(&mut *reader)
}

pub fn read_all(reader: &mut dyn Reader) -> Result<Table> {
    let columns = reader.columns().iter().map(|field| match &field.kind {
        FileColumnKind::Typed { declared_type, reason, .. } => {
            format!("{} {declared_type} ({})", field.name, reason.in_words(&Flags))
        }
        FileColumnKind::Text => field.name.clone(),
    });
    let mut table = Table { columns: columns.collect(), rows: Vec::new() };
    let mut batch = Batch::default();
    while let Some(mut piece) = reader.next_piece()? {
        assert_eq!(piece.first_record(), table.rows.len() as u64 + 1);
        let before = table.rows.len() as u64;
        loop {
            piece.read(&mut batch)?;
            if batch.rows == 0 {
                break;
            }
            (0..batch.rows).for_each(|row| table.rows.push(show_row(&batch, row)));
        }
        assert_eq!(piece.records(), table.rows.len() as u64 - before);
    }
    Ok(table)
}

fn show_row(batch: &Batch, row: usize) -> Vec<String> {
    let bad = batch.bad.iter().find(|bad| bad.row == row);
    let show = |value| {
        bad.map_or_else(
            || show(value),
            |bad| {
                assert_eq!(value, Value::Null, "cells of a bad row are NULL");
                format!("bad {}", bad.error.headline())
            },
        )
    };
    batch.blocks.iter().map(|block| show(block.value(row))).collect()
}

pub fn show(value: Value<'_>) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Int(int) => format!("int {int}"),
        Value::Real(real) => format!("real {real:?}"),
        Value::Text(text) => format!("text {}", std::str::from_utf8(text).expect("texts are UTF-8")),
        Value::Blob(blob) => format!("blob {}", blob.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
    }
}

/// Returns a folder of the shared data, if it is present.
pub fn shared_data(folder: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let data = std::env::var_os("LITEPRESS_SHARED_DATA").map_or_else(beside, PathBuf::from).join(folder);
    if !data.is_dir() {
        eprintln!("skipped: there is no {}", data.display());
        return None;
    }
    Some(data)
}
