//! Numbers of rows that follow from the numbers of children of parents.

use super::column_annotations::ColumnAnnotation;
use super::resolve::{Reference, Resolver, Scope};
use super::table_sizes::TableSize;
use crate::annotation::parse;
use crate::relation::Assignment;
use litepress_rows::schema::Schema;

/// The number of children of a parent table's rows.
#[derive(Clone, Copy)]
struct Children {
    parent: usize,
    parents: u64,
    rows: u64,
}

/// Derives numbers of rows from parents: a table without a number gets as many rows as its known parents have
/// children. A scaled number is limited to that.
pub(super) fn derive_rows(schema: &Schema, column_annotations: &[ColumnAnnotation<'_>], sizes: &mut [TableSize]) {
    let given = sizes.to_vec();
    let mut known: Vec<Option<Children>> = vec![None; column_annotations.len()];
    // In a chain of derived tables each round resolves at least one.
    for _ in 0..=sizes.len() {
        let before = sizes.to_vec();
        let mut is_resolved = vec![false; sizes.len()];
        for (known, annotation) in known.iter_mut().zip(column_annotations) {
            let size = given[annotation.table];
            if size.is_known && !size.is_scaled || is_resolved[annotation.table] {
                continue;
            }
            if known.is_none_or(|Children { parent, parents, .. }| sizes[parent].rows != parents) {
                *known = children(schema, sizes, annotation);
            }
            if let Some(Children { rows, .. }) = *known {
                let rows = if size.is_known { size.rows.min(rows) } else { rows };
                sizes[annotation.table] =
                    TableSize { rows, is_known: true, is_derived: !size.is_known || size.is_derived, ..size };
                is_resolved[annotation.table] = true;
            }
        }
        if *sizes == *before {
            break;
        }
    }
}

/// Returns the number of children if the annotation is `per_parent` of a table with a known number of rows.
fn children(schema: &Schema, sizes: &[TableSize], annotation: &ColumnAnnotation<'_>) -> Option<Children> {
    // A number that exceeds its children is an error later; here it must not prevent the derivation.
    let mut sizes = sizes.to_vec();
    sizes[annotation.table].rows = 0;
    let scope = Scope { schema, sizes: &sizes, table: annotation.table, column: annotation.column };
    let expression = parse(&annotation.source, annotation.span.clone()).ok()?;
    let expr = Resolver::new(&annotation.source, scope).annotation(&expression).ok()?;
    let Reference { parent, relation, .. } = expr.reference()?;
    if *parent == annotation.table || !sizes[*parent].is_known {
        return None;
    }
    match &relation.assignment {
        Assignment::PerParent(fan_out) => {
            Some(Children { parent: *parent, parents: relation.parents, rows: fan_out.children() })
        }
        _ => None,
    }
}
