//! `litepress plan`: predicts the work of `litepress generate`, `load` or `merge` for the same arguments.

use crate::failure::{DONE, ErrorForm, FAILED};
use crate::generate_args::{GenerateArgs, Names, is_sql};
use crate::load_args::LoadArgs;
use crate::merge_args::MergeArgs;
use crate::options::BuildArgs;
use crate::output::{print, print_json};
use crate::plan_text::plan_text;
use crate::reporter::Reporter;
use clap::Args;
use litepress::{Error, ErrorKind, Flags, Options, PlanReport, Result, Target};
use litepress_rows::escaped_lines;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  litepress plan schema.sql --rows 100k
  litepress plan --preset user --rows 1b --json
  litepress plan shop.db shop.sql --rows customer=10k --rows purchase=100k
  litepress plan --preset user --rows 1m --set area='hex(6)'
  litepress plan schema.sql --rows 100k --toml > recipe.toml
  litepress plan lite.db lineitem.csv --primary-key l_orderkey,l_linenumber
  litepress plan all.db shards/*.db --merge --rowids renumber
";

/// Arguments of generating and loading, which have no effect on a merge.
const NOT_OF_MERGES: [&str; 13] = [
    "toml",
    "GenerateArgs",
    "ReadArgs",
    "TableArgs",
    "AppendArgs",
    "BadRecordArgs",
    "json_path",
    "flatten",
    "nan",
    "absent_as_null",
    "sheet",
    "select",
    "limit",
];

/// Show what 'litepress generate', 'load' or 'merge' would do with the same arguments, and why
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct PlanArguments {
    /// The database to make (the plan tells if it exists, which is no error), then its source: a file of CREATE statements as for generate, files as for load, or databases as for merge
    #[arg(value_name = "OUT.db SCHEMA.sql|FILE")]
    names: Vec<PathBuf>,
    /// Print the recipe (TOML) for 'litepress generate --recipe FILE'
    #[arg(long, conflicts_with = "json")]
    toml: bool,
    /// The files are databases, which 'litepress merge' would merge
    #[arg(long, conflicts_with_all = NOT_OF_MERGES)]
    merge: bool,
    #[command(flatten)]
    merging: MergeArgs,
    #[command(flatten)]
    generate: GenerateArgs,
    #[command(flatten)]
    load: LoadArgs,
    #[command(flatten)]
    build: BuildArgs,
}

impl PlanArguments {
    /// Returns the form of errors.
    pub fn errors(&self) -> ErrorForm {
        self.build.output.errors()
    }
}

pub fn run(arguments: PlanArguments) -> Result<u8> {
    let (options, output) = (arguments.build.options(), arguments.build.output.clone());
    let reporter = Reporter::new(output.progress(), None);
    let print_report = |report: &PlanReport| {
        if output.json { print_json(&report.to_json(&Flags)) } else { print(&escaped_lines(&plan_text(report))) }
    };
    if arguments.merge {
        return plan_of_merge(arguments, options, reporter, &print_report);
    }
    if let Some(option) = arguments.merging.given() {
        let error = Error::new(ErrorKind::Usage, format!("{option} is for databases that are merged"));
        return Err(error.advise("say that they are with --merge, or leave it out"));
    }
    let names: Vec<&Path> = arguments.names.iter().map(PathBuf::as_path).collect();
    let out = match names[..] {
        [file] if arguments.is_of_load(file) => None,
        [out, file, ..] if names.len() > 2 || arguments.is_of_load(file) => Some(out.to_owned()),
        _ => {
            let names = Names { out: names.first().copied(), schema: names.get(1).copied() };
            let names = arguments.generate.files(names, false)?;
            let schema = arguments.generate.read(names.schema)?;
            let options = arguments.generate.options(options, reporter);
            if arguments.toml {
                print(&litepress::recipe(schema, &options)?)?;
                return Ok(DONE);
            }
            print_report(&litepress::plan_generate(names.out.map(Target::from), schema, &options)?)?;
            return Ok(DONE);
        }
    };
    if arguments.toml {
        let error = Error::new(ErrorKind::Usage, "--toml prints the recipe of generated rows, and these are loaded");
        return Err(error.advise("name a schema, or leave out --toml"));
    }
    let PlanArguments { names: mut files, load, .. } = arguments;
    files.drain(..usize::from(out.is_some()));
    let schema = load.read_schema()?;
    let options = load.options(options, schema, reporter);
    let report = litepress::plan_load(out.map(Target::File), files, &options)?;
    print_report(&report)?;
    Ok(if report.mismatches.is_some_and(|found| found.is_fatal) { FAILED } else { DONE })
}

/// Prints the plan of a merge.
fn plan_of_merge(
    arguments: PlanArguments,
    build: Options,
    observer: Arc<Reporter>,
    print_report: &dyn Fn(&PlanReport) -> Result<()>,
) -> Result<u8> {
    let PlanArguments { mut names, load, merging, .. } = arguments;
    if names.len() < 2 {
        let error = Error::new(ErrorKind::Usage, "a merge needs a database to make, and databases to merge");
        return Err(error.advise("name them: litepress plan all.db shards/*.db --merge"));
    }
    let out = names.remove(0);
    let mut options = merging.options(build, load.content.source_column);
    options.observer = observer;
    let report = litepress::plan_merge(Some(Target::File(out)), names, &options)?;
    print_report(&report)?;
    Ok(if report.mismatches.is_some_and(|found| found.is_fatal) { FAILED } else { DONE })
}

impl PlanArguments {
    /// Returns whether this is a file to load. Otherwise it is a schema, or the database of a built-in schema or a recipe.
    fn is_of_load(&self, file: &Path) -> bool {
        let load = &self.load;
        let is_said = load.reading.format.is_some() || load.tables.schema.is_some() || load.tables.table.is_some();
        is_said || (!is_sql(file) && file != Path::new("-") && self.generate.has_no_schema())
    }
}
