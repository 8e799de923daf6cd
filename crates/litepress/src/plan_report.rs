//! The prediction of a run: sizes, the method of each object, and every table.

use crate::choices::Choice;
use crate::{Error, Mismatches, Options, PageSize, RoutePlan, Schema, Target};
use litepress_engine::plan::{BuildMethod, ObjectPlan};
use litepress_engine::{Estimate, TreeEstimate, folder_of, free_bytes};
use litepress_gen::Provenance;
use litepress_merge::RowidFate;
use litepress_rows::{Message, Words};
use serde_json::{Value, json};
use std::path::Path;

/// The prediction of a run.
#[derive(Debug)]
#[non_exhaustive]
pub struct PlanReport {
    /// The schema.
    pub schema: Schema,
    /// The place of the database, if one is named.
    pub target: Option<Target>,
    /// Rows of all tables, if they are known.
    pub rows: Option<u64>,
    /// Page size of the database.
    pub page_size: PageSize,
    /// Options of the database.
    pub options: Options,
    /// Sizes, memory and temporary files.
    pub estimate: Estimate,
    /// The way in which each object is made.
    pub steps: Vec<ObjectPlan>,
    /// The route of each table into a database that exists; `None` for a new one.
    pub append: Option<Vec<RoutePlan>>,
    /// The databases that would be merged; `None` if rows are generated or loaded.
    pub databases: Option<MergedDatabases>,
    /// Objects of the files that are not copied; `None` if rows are generated or merged.
    pub left_out: Option<Vec<String>>,
    /// Losses of the tables that a load replaces: `index i of t`, `NOT NULL (a) of t`.
    pub dropped: Vec<String>,
    /// Tables that get rows.
    pub tables: Vec<TableReport>,
    /// Records that a load would refuse, or the reasons why a merge would fail; `None` if rows are generated.
    pub mismatches: Option<Mismatches>,
    /// Notes: foreign keys that are not checked, texts that a declared type changes.
    pub notes: Vec<Message>,
}

/// The databases of a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MergedDatabases {
    /// Their number.
    pub count: usize,
    /// The bytes of their pages.
    pub bytes: u64,
}

/// A table that gets rows.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TableReport {
    /// Name.
    pub name: String,
    /// Number of rows, if it is known.
    pub rows: Option<u64>,
    /// The origin of the rows.
    pub origin: TableOrigin,
    /// The columns.
    pub columns: Vec<PlannedColumn>,
}

/// The origin of a table's rows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableOrigin {
    /// They are generated.
    Generated {
        /// The seed of the table.
        seed: u64,
    },
    /// They are loaded.
    Loaded {
        /// The files, in their order.
        files: Vec<String>,
    },
    /// They are merged.
    Merged {
        /// Number of databases that have the table.
        databases: usize,
        /// The fate of its rowids.
        rowids: RowidFate,
    },
}

/// A column of a table that gets rows.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum PlannedColumn {
    /// Its values are generated.
    Generated {
        /// Name.
        name: String,
        /// Generator, as an annotation has it.
        generator: String,
        /// The reason for the generator.
        chosen: Provenance,
    },
    /// Its values are loaded.
    Loaded {
        /// Name.
        name: String,
        /// Declared type; empty if there is none.
        declared_type: String,
        /// The reason for the type, or for the values.
        because: Message,
    },
}

impl PlannedColumn {
    /// Returns name, generator or type, and the reason for it.
    pub fn in_words(&self, words: &dyn Words) -> [String; 3] {
        match self {
            Self::Generated { name, generator, chosen } => [name.clone(), generator.clone(), chosen.to_string()],
            Self::Loaded { name, declared_type, because } => {
                let declared = if declared_type.is_empty() { "no type" } else { declared_type };
                [name.clone(), declared.to_owned(), because.in_words(words)]
            }
        }
    }

    /// Returns the column for programs.
    pub fn to_json(&self, words: &dyn Words) -> Value {
        match self {
            Self::Generated { name, generator, chosen } => {
                let (chosen, because) = match chosen {
                    Provenance::Annotation => ("annotation", None),
                    Provenance::Set => ("set", None),
                    Provenance::Recipe => ("recipe", None),
                    Provenance::Inferred(because) => ("inferred", Some(because)),
                };
                json!({"name": name, "generator": generator, "chosen": chosen, "because": because})
            }
            Self::Loaded { name, declared_type, because } => {
                json!({"name": name, "type": declared_type, "because": because.in_words(words)})
            }
        }
    }
}

impl PlanReport {
    /// Returns the file of the database, if one is named.
    pub fn file(&self) -> Option<&Path> {
        if let Some(Target::File(file)) = &self.target { Some(file) } else { None }
    }

    /// Returns the folder of the database: the current one if none is named.
    pub fn folder(&self) -> &Path {
        self.file().map_or(Path::new("."), folder_of)
    }

    /// Returns the free space in [`folder`](Self::folder), if the folder exists.
    pub fn free_bytes(&self) -> Option<u64> {
        free_bytes(self.folder())
    }

    /// Returns the estimated size of a table's tree.
    pub fn table_bytes(&self, table: &TableReport) -> Option<u64> {
        self.tree(&table.name)?.bytes
    }

    /// Returns the estimate of the tree that a step makes.
    pub fn tree_of(&self, step: &ObjectPlan) -> Option<&TreeEstimate> {
        self.tree(step.tree.as_deref()?)
    }

    fn tree(&self, name: &str) -> Option<&TreeEstimate> {
        self.estimate.trees.iter().find(|tree| tree.name == name)
    }

    /// Returns the report for programs.
    pub fn to_json(&self, words: &dyn Words) -> Value {
        let mut json = json!({
            "schema": self.schema.origin,
            "target": self.file().map(|file| file.display().to_string()),
            "rows": self.rows,
            "expected_bytes": self.estimate.bytes,
            "page_size_bytes": self.page_size.bytes(),
            "free_bytes": self.free_bytes(),
            "expected_memory_bytes": self.estimate.memory_bytes,
            "spill_bytes": self.estimate.spill_bytes,
            "temp_dir": self.estimate.temp_dir.display().to_string(),
            "memory_budget_bytes": self.options.memory_bytes,
            "threads": self.options.threads,
            "on_conflict": self.options.on_conflict.name(),
            "tables": self.tables.iter().map(|table| self.table_json(table, words)).collect::<Vec<Value>>(),
            "steps": self.steps.iter().map(|step| self.step_json(step)).collect::<Vec<Value>>(),
        });
        if let Some(databases) = &self.databases {
            json["databases"] = json!(databases.count);
            json["database_bytes"] = json!(databases.bytes);
        }
        if let Some(left_out) = &self.left_out {
            json["left_out"] = json!(left_out);
            json["dropped"] = json!(self.dropped);
            json["schema_sql"] = json!(self.schema.text);
        }
        if let Some(mismatches) = &self.mismatches {
            json["mismatches"] = mismatches_json(mismatches, words);
        }
        if let Some(routes) = &self.append {
            let route = |plan: &RoutePlan| json!({"table": plan.table, "is_new": plan.is_new, "route": plan.route.name(), "why": plan.why});
            json["append"] = routes.iter().map(route).collect();
        }
        json["notes"] = self.notes.iter().map(|note| note.in_words(words)).collect();
        json
    }

    fn table_json(&self, table: &TableReport, words: &dyn Words) -> Value {
        let mut json = json!({
            "name": table.name,
            "rows": table.rows,
            "expected_bytes": self.table_bytes(table),
            "columns": table.columns.iter().map(|column| column.to_json(words)).collect::<Vec<Value>>(),
        });
        match &table.origin {
            TableOrigin::Generated { seed } => json["seed"] = json!(seed),
            TableOrigin::Loaded { files } => json["files"] = json!(files),
            TableOrigin::Merged { databases, rowids } => {
                json["databases"] = json!(databases);
                json["rowids"] = json!(rowids.name());
            }
        }
        json
    }

    fn step_json(&self, step: &ObjectPlan) -> Value {
        let (method, why) = method_words(&step.method);
        let mut value =
            json!({"kind": step.kind, "name": step.name, "table": step.table, "method": method, "why": why});
        if let Some(tree) = self.tree_of(step) {
            value["expected_bytes"] = json!(tree.bytes);
            value["is_rough"] = json!(tree.is_rough);
            value["memory_bytes"] = json!(tree.memory_bytes);
            value["spill_bytes"] = json!(tree.spill_bytes);
        }
        value
    }
}

fn mismatches_json(mismatches: &Mismatches, words: &dyn Words) -> Value {
    let mismatch = |error: &Error| {
        let place = error.place();
        json!({
            "file": place.file.as_ref().map(|file| file.display().to_string()),
            "table": place.table,
            "record": place.record,
            "line": place.line,
            "column": place.column,
            "value": place.value,
            "reason": error.message_in(words),
        })
    };
    json!({
        "count": mismatches.count,
        "ignored": mismatches.ignored,
        "is_fatal": mismatches.is_fatal,
        "first": mismatches.first.iter().map(mismatch).collect::<Vec<Value>>(),
    })
}

/// Returns the name of the way in which an object is made, and the reason for it.
pub fn method_words(method: &BuildMethod) -> (&'static str, String) {
    match method {
        BuildMethod::Direct => ("direct", "litepress writes its pages".to_owned()),
        BuildMethod::Evaluated => (
            "evaluated",
            "litepress writes its pages; SQLite evaluates the rows as they pass, on every core".to_owned(),
        ),
        BuildMethod::SchemaOnly => {
            ("schema only", "it is a row of sqlite_schema and has no pages of its own".to_owned())
        }
        BuildMethod::Sqlite { why } => ("sqlite", format!("SQLite makes it in the written file: {why}")),
        BuildMethod::Query => ("query", "SQLite checks it in the written file".to_owned()),
        other => ("other", format!("{other:?}")),
    }
}
