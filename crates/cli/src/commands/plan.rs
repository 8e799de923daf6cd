//! `litepress plan`: what `litepress gen` or `litepress load` would do with the same arguments, and why.

use crate::audience::Audience;
use crate::failure::{DONE, Failure};
use crate::invention::{Invention, InventionArguments, Names, is_sql};
use crate::loading::{LoadJob, Loading, LoadingArguments, column_json as loaded_column_json, column_words};
use crate::options::MakingArguments;
use crate::outcome::Outcome;
use crate::output::print;
use crate::prospect::{Prospect, TableProspect};
use crate::schema_text::SchemaText;
use clap::Args;
use litepress::plan::steps;
use litepress::{Error, ErrorKind, Estimate, Options, Target};
use litepress_gen::{ColumnPlan, Provenance, TablePlan};
use litepress_load::plan::{PlannedFile, PlannedTable};
use litepress_load::schema::RowDefault;
use litepress_rows::Table;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  litepress plan schema.sql --rows 100k
  litepress plan --preset user --rows 1b --json
  litepress plan shop.db shop.sql --rows customer=10k --rows purchase=100k
  litepress plan --preset user --rows 1m --set area='hex(6)'
  litepress plan schema.sql --rows 100k --toml > plan.toml
  litepress plan lite.db lineitem.csv --primary-key l_orderkey,l_linenumber --without-rowid
";

/// Show what 'litepress gen' or 'litepress load' would do with the same arguments, and why
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct PlanArguments {
    /// The database to make, and what of: a file of CREATE statements as for gen, or files as for load
    #[arg(value_name = "OUT.db SCHEMA.sql|FILE")]
    names: Vec<PathBuf>,
    /// Print the plan as a file for 'litepress gen --plan FILE'
    #[arg(long, conflicts_with = "json")]
    toml: bool,
    #[command(flatten)]
    invention: InventionArguments,
    #[command(flatten)]
    loading: LoadingArguments,
    #[command(flatten)]
    making: MakingArguments,
}

pub fn run(arguments: PlanArguments) -> Result<u8, Failure> {
    let (options, showing) = (arguments.making.options(), arguments.making.showing.clone());
    let names: Vec<&Path> = arguments.names.iter().map(PathBuf::as_path).collect();
    let out = match names[..] {
        [file] if arguments.is_of_load(file) => None,
        [out, file, ..] if names.len() > 2 || arguments.is_of_load(file) => Some(out.to_owned()),
        _ => {
            let names = Names { out: names.first().copied(), schema: names.get(1).copied() };
            let names = arguments.invention.files(names, false)?;
            let schema = arguments.invention.read(names.schema)?;
            if arguments.toml {
                let invention = Invention::new(schema, &arguments.invention, &options)?;
                invention.write_plan(&arguments.invention)?;
                print(&invention.written)?;
                return Ok(DONE);
            }
            plan_generate(schema, &arguments.invention, names.out, options)?.print(showing.json)?;
            return Ok(DONE);
        }
    };
    if arguments.toml {
        let error =
            Error::new(ErrorKind::Usage, "--toml prints a plan of rows that are invented, and these are loaded");
        return Err(error.advise("name a schema, or leave out --toml").into());
    }
    let PlanArguments { names: mut files, loading, .. } = arguments;
    files.drain(..usize::from(out.is_some()));
    let audience = Audience::user(showing.progress, None);
    plan_load(&loading.job(files)?, out.as_deref(), options, &audience)?.print(showing.json)?;
    Ok(DONE)
}

impl PlanArguments {
    /// Whether this is a file to load, and not a schema or the database that a built-in one is for.
    fn is_of_load(&self, file: &Path) -> bool {
        let loading = &self.loading;
        let is_said =
            loading.reading.format.is_some() || loading.tables.schema.is_some() || loading.tables.table.is_some();
        is_said || (!is_sql(file) && file != Path::new("-") && self.invention.has_no_schema())
    }
}

/// What [`generate`](crate::generate) would do with the same arguments.
///
/// # Errors
/// All mistakes in the arguments, the schema and its annotations.
pub fn plan_generate(
    schema: SchemaText,
    arguments: &InventionArguments,
    out: Option<&Path>,
    options: Options,
) -> Result<Outcome, Failure> {
    let invention = Invention::new(schema, arguments, &options)?;
    invention.write_plan(arguments)?;
    let supplies = invention.supplies()?;
    let target = out.map_or(Target::Discard, |out| Target::File(out.to_owned()));
    let prospect = Prospect {
        command: "gen",
        schema: &invention.schema,
        out,
        rows: Some(invention.rows()),
        page_size: invention.page_size,
        estimate: invention.estimate(&supplies, &target, &options)?,
        steps: steps(&invention.schema, options.on_conflict),
        left_out: None,
        tables: invention.plan.tables().iter().map(|plan| table(plan, invention.rows_of(plan))).collect(),
        options,
    };
    Ok(prospect.outcome())
}

/// What [`load`](crate::load) would do with the same arguments.
///
/// # Errors
/// All mistakes in the arguments; files that cannot be read.
pub fn plan_load(job: &LoadJob, out: Option<&Path>, options: Options, audience: &Audience) -> Result<Outcome, Failure> {
    let loading = job.prepare(out, &options, audience)?;
    let sources = loading.sources_without_rejects()?;
    let target = out.map_or(Target::Discard, |out| Target::File(out.to_owned()));
    let listed = sources.listed();
    let rows: Vec<Option<u64>> = listed.iter().map(|(_, source)| source.rows()).collect();
    let schema = &loading.plan.schema;
    let tables = loading.plan.tables.iter().zip(&rows);
    let prospect = Prospect {
        command: "load",
        schema,
        out,
        rows: rows.iter().copied().sum(),
        page_size: loading.page_size,
        estimate: Estimate::new(schema, &listed, &target, &options)?,
        steps: steps(schema, options.on_conflict),
        left_out: Some((loading.left_out_text(), &loading.plan.left_out)),
        tables: tables.map(|(table, rows)| loaded_table(&loading, table, *rows)).collect(),
        options,
    };
    Ok(prospect.outcome())
}

fn loaded_table(loading: &Loading, table: &PlannedTable, rows: Option<u64>) -> TableProspect {
    let inputs = table.files.iter().filter_map(PlannedFile::input);
    let files: Vec<String> = inputs.map(|input| input.name.display().to_string()).collect();
    let definition = &loading.plan.schema.tables[table.table];
    let defaults = row_defaults(definition, table);
    let words = |[name, declared, why]: [String; 3]| {
        vec![name, if declared.is_empty() { "no type".to_owned() } else { declared }, why]
    };
    let mut columns: Vec<Value> = table.decisions.iter().map(loaded_column_json).collect();
    columns
        .extend(defaults.iter().map(|[name, declared, why]| json!({"name": name, "type": declared, "because": why})));
    TableProspect {
        name: definition.name.clone(),
        rows,
        note: format!(", out of {}", files.join(", ")),
        columns: column_words(table).into_iter().chain(defaults.into_iter().map(words)).collect(),
        json: json!({"files": files, "columns": columns}),
    }
}

/// Name, type and reason of the columns that the files lack and that SQLite computes for every row.
fn row_defaults(definition: &Table, table: &PlannedTable) -> Vec<[String; 3]> {
    let describe = |default: &RowDefault| {
        let column = definition.column(&default.column).map(|at| &definition.columns[at]);
        let declared = column.map_or_else(String::new, |column| column.declared_type.clone());
        let why = format!("not in the file: SQLite evaluates its DEFAULT for every row, {}", default.expression);
        [default.column.clone(), declared, why]
    };
    table.row_defaults().into_iter().map(describe).collect()
}

fn table(table: &TablePlan, rows: u64) -> TableProspect {
    let words =
        |column: &ColumnPlan| [&column.name, &column.expression, &column.provenance.to_string()].map(String::clone);
    TableProspect {
        name: table.name.clone(),
        rows: Some(rows),
        note: format!(", seed {}", table.seed),
        columns: table.columns.iter().map(|column| words(column).to_vec()).collect(),
        json: json!({
            "seed": table.seed,
            "columns": table.columns.iter().map(column_json).collect::<Vec<Value>>(),
        }),
    }
}

fn column_json(column: &ColumnPlan) -> Value {
    let (chosen, because) = match &column.provenance {
        Provenance::Annotation => ("annotation", None),
        Provenance::Set => ("set", None),
        Provenance::Plan => ("plan", None),
        Provenance::Inferred(because) => ("inferred", Some(because)),
    };
    json!({"name": column.name, "generator": column.expression, "chosen": chosen, "because": because})
}
