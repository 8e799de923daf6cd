//! The annotations of columns: of the request, the recipe and the schema.

use super::{Provenance, Request, SetColumn, table_position, usage};
use crate::annotation::{ReadableFiles, SourceText};
use crate::recipe::Recipe;
use crate::schema_annotations::{self, Annotation};
use crate::suggest::did_you_mean;
use litepress_rows::Result;
use litepress_rows::schema::{Generated, Schema};
use std::ops::Range;

/// An annotation of a column.
pub(super) struct ColumnAnnotation<'a> {
    pub table: usize,
    pub column: usize,
    pub source: SourceText<'a>,
    pub span: Range<usize>,
    pub provenance: Provenance,
}

/// Collects the annotations of columns. If a column has several, the request ranks first, then the recipe, then
/// the schema.
pub(super) fn column_annotations<'a>(
    schema: &'a Schema,
    request: &'a Request,
    annotations: &[Annotation],
) -> Result<Vec<ColumnAnnotation<'a>>> {
    let mut column_annotations: Vec<ColumnAnnotation<'a>> = Vec::new();
    for set in &request.set {
        let SetColumn { table, column, expression, origin } = set;
        let named = NamedAnnotation { table, column, expression, origin, files: ReadableFiles::All };
        let annotation = requested_annotation(schema, named)?;
        if column_annotations.iter().any(|other| (other.table, other.column) == (annotation.table, annotation.column)) {
            return Err(usage("this column is given a generator twice").in_file(&set.origin));
        }
        column_annotations.push(annotation);
    }
    let recipe_columns =
        |recipe: &'a Recipe| recipe.columns().map(|column| (ReadableFiles::Beside(recipe.origin()), column));
    for (files, (table, column, planned)) in request.recipe.iter().flat_map(recipe_columns) {
        let (expression, origin) = (&planned.expression, &planned.origin);
        let named = NamedAnnotation { table, column, expression, origin, files };
        let annotation = ColumnAnnotation { provenance: Provenance::Recipe, ..requested_annotation(schema, named)? };
        if !column_annotations.iter().any(|other| (other.table, other.column) == (annotation.table, annotation.column))
        {
            column_annotations.push(annotation);
        }
    }
    let asked: Vec<(usize, usize)> =
        column_annotations.iter().map(|annotation| (annotation.table, annotation.column)).collect();
    column_annotations.extend(annotations.iter().filter_map(|annotation| {
        let source = schema_annotations::place(schema, annotation);
        let (table, column) = (annotation.table, annotation.column?);
        let annotation = ColumnAnnotation {
            table,
            column,
            source,
            span: annotation.span.clone(),
            provenance: Provenance::Annotation,
        };
        (!asked.contains(&(table, column))).then_some(annotation)
    }));
    Ok(column_annotations)
}

/// An annotation with the names of its table and column.
#[derive(Clone, Copy)]
struct NamedAnnotation<'a> {
    table: &'a str,
    column: &'a str,
    expression: &'a str,
    origin: &'a str,
    files: ReadableFiles<'a>,
}

fn requested_annotation<'a>(schema: &'a Schema, named: NamedAnnotation<'a>) -> Result<ColumnAnnotation<'a>> {
    let NamedAnnotation { table, column, expression: text, origin, files } = named;
    let position = table_position(schema, table).map_err(|error| error.in_file(origin))?;
    let of_table = &schema.tables[position];
    let Some(column) = of_table.column(column) else {
        let near = did_you_mean(column, of_table.columns.iter().map(|column| column.name.as_str()));
        return Err(usage(format!("table {} has no column '{column}'{near}", of_table.name)).in_file(origin));
    };
    let name = &of_table.columns[column].name;
    if of_table.columns[column].generated != Generated::No {
        return Err(usage(format!("column {name} is generated: SQLite computes its values")).in_file(origin));
    }
    let source = SourceText::new(text, origin).with_files(files).for_column(&of_table.name, name);
    Ok(ColumnAnnotation { table: position, column, source, span: 0..text.len(), provenance: Provenance::Set })
}
