//! Profiles and comparisons as JSON, for programs and pages.

use crate::{ColumnComparison, ColumnProfile, Comparison, Measure, Profile, TableProfile};
use serde_json::{Value, json};

impl Measure {
    /// Returns the name of the property.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing to compare",
            Self::Numbers => "numbers",
            Self::Places => "places of unique numbers",
            Self::Times => "times",
            Self::Shares => "shares of values",
            Self::Lengths => "lengths",
            Self::Children => "rows that refer to a row",
        }
    }
}

impl Profile {
    /// Returns the profile for programs.
    pub fn to_json(&self) -> Value {
        let table = |table: &TableProfile| {
            let columns: Vec<Value> = table.columns.iter().map(column_json).collect();
            json!({"name": table.name, "rows": table.rows, "fixed": table.is_fixed, "columns": columns})
        };
        json!({
            "schema": self.schema.text,
            "tables": self.tables.iter().map(table).collect::<Vec<Value>>(),
            "recipe": self.to_toml(),
        })
    }
}

fn column_json(column: &ColumnProfile) -> Value {
    let buckets = column.histogram.iter().map(|(values, share)| json!({"values": values, "share": share}));
    json!({
        "name": column.name,
        "type": column.declared_type,
        "refers_to": column.refers_to,
        "nulls": column.nulls,
        "distinct": column.distinct,
        "distinct_is_exact": column.distinct_is_exact,
        "range": column.range.map(|(least, largest)| [least, largest]),
        "measure": column.measure.name(),
        "buckets": buckets.collect::<Vec<Value>>(),
        "generator": column.generator,
        "because": column.because,
    })
}

impl Comparison {
    /// Returns the comparison for programs.
    pub fn to_json(&self) -> Value {
        let tables = self.tables.iter().map(|table| {
            let columns: Vec<Value> = table.columns.iter().map(compared_column_json).collect();
            let relations = table.relations.iter().map(
                |relation| json!({"relation": relation.text, "values": relation.values, "distance": relation.distance}),
            );
            let relations: Vec<Value> = relations.collect();
            json!({"name": table.name, "rows": table.rows, "columns": columns, "relations": relations})
        });
        json!({
            "score": self.score(),
            "score_of_columns": self.columns_score(),
            "score_of_relations": self.relations_score(),
            "tables": tables.collect::<Vec<Value>>(),
            "only_in_other": self.only_in_other,
        })
    }
}

fn compared_column_json(column: &ColumnComparison) -> Value {
    let buckets = column.buckets.iter().map(|bucket| json!({"values": bucket.label, "shares": bucket.shares}));
    json!({
        "name": column.name,
        "type": column.declared_type,
        "measure": column.measure.name(),
        "distance": column.distance,
        "nulls": column.nulls,
        "distinct": column.distinct,
        "distinct_is_exact": column.distinct_is_exact,
        "buckets": buckets.collect::<Vec<Value>>(),
    })
}
