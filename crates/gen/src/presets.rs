//! Built-in schemas with annotations.

/// A built-in schema.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preset {
    /// Name of the preset.
    pub name: &'static str,
    /// One line about its tables.
    pub about: &'static str,
    /// CREATE statements with annotations.
    pub sql: &'static str,
}

static PRESETS: &[Preset] = &[
    Preset {
        name: "user",
        about: "the table of the well-known challenge to insert a billion rows",
        sql: include_str!("presets/user.sql"),
    },
    Preset {
        name: "composite",
        about: "a key of three integers and a text, in a table WITHOUT ROWID, in random order",
        sql: include_str!("presets/composite.sql"),
    },
    Preset { name: "log", about: "a stream of events with three indexes", sql: include_str!("presets/log.sql") },
    Preset {
        name: "metrics",
        about: "time series: a name, a time and a value",
        sql: include_str!("presets/metrics.sql"),
    },
    Preset {
        name: "shop",
        about: "customers, products, purchases, their lines and reviews: 5 tables, 100 columns, 7 indexes",
        sql: include_str!("presets/shop.sql"),
    },
    Preset {
        name: "tpch",
        about: "the TPC-H benchmark with its keys: 8 tables, 866,602 rows at --scale 0.1, 8,661,245 at 1",
        sql: include_str!("presets/tpch.sql"),
    },
];

/// Returns all presets.
pub fn all() -> &'static [Preset] {
    PRESETS
}

/// Returns the preset of this name.
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{GenPlan, Provenance, Request};
    use litepress_rows::Schema;

    #[test]
    fn the_shop_has_as_many_columns_as_it_says() {
        let schema = Schema::from_sql(preset("shop").expect("it is built in").sql, "<preset>").expect("a schema");
        let columns: usize = schema.tables.iter().map(|table| table.columns.len()).sum();
        let indexes = schema.objects.iter().filter(|object| object.kind == "index" && object.sql.is_some());
        assert_eq!((schema.tables.len(), columns, indexes.count()), (5, 100, 7));
    }

    #[test]
    fn every_preset_is_annotated_throughout() {
        for preset in all() {
            let schema = Schema::from_sql(preset.sql, "<preset>").expect(preset.name);
            let rows = schema.tables.iter().map(|table| (Some(table.name.clone()), 10));
            let rows = if preset.name == "tpch" { Vec::new() } else { rows.collect() };
            let plan = GenPlan::new(&schema, &Request { rows, ..Request::default() }).expect(preset.name);
            let columns = plan.tables().iter().flat_map(|table| &table.columns);
            // The annotation of a foreign key depends on the number of rows of its parent.
            let is_reference = |because: &str| because.starts_with("refers to");
            for column in columns {
                let is_settled = match &column.provenance {
                    Provenance::Inferred(because) => is_reference(because),
                    provenance => *provenance == Provenance::Annotation,
                };
                assert!(is_settled, "{}: {}", preset.name, column.name);
            }
        }
        assert!(preset("user").is_some() && preset("nobody").is_none());
    }
}
