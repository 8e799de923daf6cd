//! Schemas with annotations that are built in.

/// A built-in schema.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// CREATE statements with annotations.
    pub sql: &'static str,
}

static PRESETS: &[Preset] = &[Preset {
    name: "user",
    about: "the table of the well-known challenge to insert a billion rows",
    sql: "\
CREATE TABLE user (
  id INTEGER not null primary key,  -- gen: sequence
  area CHAR(6),                     -- gen: digits(6)
  age INTEGER not null,             -- gen: choice(5, 10, 15)
  active INTEGER not null           -- gen: choice(0, 1)
);
",
}];

/// All presets.
pub fn all() -> &'static [Preset] {
    PRESETS
}

/// The preset of this name.
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Chosen, GenPlan, Request};
    use litepress_rows::Schema;

    #[test]
    fn every_preset_is_annotated_throughout() {
        for preset in all() {
            let schema = Schema::from_sql(preset.sql, "<preset>").expect(preset.name);
            let rows = schema.tables.iter().map(|table| (Some(table.name.clone()), 10)).collect();
            let plan = GenPlan::new(&schema, &Request { rows, ..Request::default() }).expect(preset.name);
            let columns = plan.tables().iter().flat_map(|table| &table.columns);
            assert!(columns.into_iter().all(|column| column.chosen == Chosen::Annotation));
        }
        assert!(preset("user").is_some() && preset("nobody").is_none());
    }
}
