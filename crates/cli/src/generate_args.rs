//! Arguments of `generate` and `plan` about generated rows.

use crate::output::refuse_special_name;
use crate::reporter::Reporter;
use clap::Args;
use litepress::{Error, ErrorKind, Flags, GenerateOptions, Options, Result, SchemaText, Shard, parse, units};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The schema and the rows to generate.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Rows")]
pub struct GenerateArgs {
    /// A built-in schema instead of a file
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// Row count of one table, or of every table without one: 1000, 10k, 100m, 1b; may be repeated
    #[arg(long, value_name = "[TABLE=]N", value_parser = rows)]
    pub rows: Vec<(Option<String>, u64)>,
    /// The generator of a column, before that of the schema: T.AREA='digits(6)'; may be repeated
    #[arg(long, value_name = "[TABLE.]COL=GENERATOR", value_parser = set)]
    pub set: Vec<(String, String)>,
    /// Seed of all tables: another seed, other rows [default: that of the schema, or 0]
    #[arg(long, value_name = "N", value_parser = units::count)]
    pub seed: Option<u64>,
    /// A recipe (TOML) instead of a schema: see 'litepress plan --toml'; '-' reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "preset")]
    pub recipe: Option<PathBuf>,
    /// Multiply the numbers of rows that the recipe, the schema or the preset gives; those of --rows stay
    #[arg(long, value_name = "F", value_parser = parse::scale)]
    pub scale: Option<f64>,
    /// End the times of columns without a generator at this day, 2026-12-31 say [default: 2026-01-01]
    #[arg(long, value_name = "DAY")]
    pub until: Option<String>,
    /// Only the rows of the I-th of N equal shards of every table, I from 1; together they are the whole
    #[arg(long, value_name = "I/N", value_parser = parse::shard)]
    pub shard: Option<Shard>,
    /// Write the recipe to a file, too: 'litepress generate OUT.db --recipe FILE' makes the same again
    #[arg(long, value_name = "FILE")]
    pub write_recipe: Option<PathBuf>,
    /// Keep the recipe in the database, as the only row of a table litepress_recipe
    #[arg(long)]
    pub record_recipe: bool,
    /// Build the pages and drop them, to measure how fast that is; OUT.db is not needed then
    #[arg(long, conflicts_with_all = ["verify"])]
    pub discard: bool,
}

/// The positional arguments of a command: database and schema.
#[derive(Clone, Copy, Debug, Default)]
pub struct Names<'a> {
    /// The database to make.
    pub out: Option<&'a Path>,
    /// A file of CREATE statements; `-` is standard input.
    pub schema: Option<&'a Path>,
}

impl GenerateArgs {
    /// Returns whether the options name no schema: a positional argument must.
    pub(crate) fn has_no_schema(&self) -> bool {
        self.preset.is_none() && self.recipe.is_none()
    }

    /// Reads the schema from this file, or the built-in schema or the recipe that the options name.
    pub(crate) fn read(&self, schema: Option<&Path>) -> Result<SchemaText> {
        let usage = |message: &str| Error::new(ErrorKind::Usage, message);
        match (&self.recipe, schema, self.preset.as_deref()) {
            (Some(recipe), ..) => SchemaText::from_file(recipe).map(SchemaText::recipe),
            (None, Some(file), None) => SchemaText::from_file(file),
            (None, None, Some(name)) => preset(name),
            (None, Some(_), Some(_)) => Err(usage("a schema file and --preset exclude one another")),
            (None, None, None) => Err(usage("no schema is given").advise(
                "name a file with CREATE statements ('-' reads standard input), or a built-in one: --preset user",
            )),
        }
    }

    /// Decides which positional arguments are the database and the schema file. Without `needs_out` a lone name is the schema.
    pub(crate) fn files<'a>(&self, names: Names<'a>, needs_out: bool) -> Result<Names<'a>> {
        let Names { out, schema } = names;
        if self.recipe.is_some() && schema.is_some() {
            return Err(Error::new(ErrorKind::Usage, "a schema file and --recipe exclude one another")
                .advise("the recipe holds its schema"));
        }
        if !needs_out && schema.is_none() && self.has_no_schema() {
            return Ok(Names { out: None, schema: out });
        }
        if let (Some(out), Some(schema)) = (out, schema)
            && is_sql(out)
            && !is_sql(schema)
        {
            let error =
                Error::new(ErrorKind::Usage, "this is not a database: its name comes first, the schema behind it");
            let advice = format!("did you mean '{} {}'?", schema.display(), out.display());
            return Err(error.in_file(out).advise(advice));
        }
        match out {
            None if needs_out => Err(Error::new(ErrorKind::Usage, "no database is named")
                .advise("say where it goes: litepress generate OUT.db SCHEMA.sql --rows N")),
            Some(out) => refuse_special_name(out, true).map(|()| names),
            None => Ok(names),
        }
    }

    /// Returns the options.
    pub fn options(&self, build: Options, observer: Arc<Reporter>) -> GenerateOptions {
        let mut options = GenerateOptions::default().build(build).words(Arc::new(Flags)).observer(observer);
        options.rows.clone_from(&self.rows);
        options.set.clone_from(&self.set);
        options.seed = self.seed;
        options.scale = self.scale;
        options.until.clone_from(&self.until);
        options.shard = self.shard;
        options.write_recipe.clone_from(&self.write_recipe);
        options.record_recipe = self.record_recipe;
        options
    }
}

/// Takes a built-in schema.
fn preset(name: &str) -> Result<SchemaText> {
    SchemaText::from_preset(name).map_err(|error| {
        let presets = error.advice().unwrap_or_default().to_owned();
        error.advise(format!("{presets}; --list-presets shows them"))
    })
}

/// Returns whether a file name ends with `.sql`.
pub fn is_sql(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("sql"))
}

/// Parses `N` or `TABLE=N`.
fn rows(text: &str) -> Result<(Option<String>, u64), String> {
    match text.rsplit_once('=') {
        None => Ok((None, units::count(text)?)),
        Some(("", _)) => Err("the table is missing: TABLE=N".to_owned()),
        Some((table, rows)) => Ok((Some(table.to_owned()), units::count(rows)?)),
    }
}

/// Parses `COL=GENERATOR` or `TABLE.COL=GENERATOR`. Cuts at the first `=`, because a generator may contain others.
fn set(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((column, generator)) if !column.is_empty() && !generator.trim().is_empty() => {
            Ok((column.to_owned(), generator.to_owned()))
        }
        _ => Err("a column and its generator are written TABLE.COL='digits(6)'".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_with_and_without_table() {
        assert_eq!(rows("1k"), Ok((None, 1000)));
        assert_eq!(rows("t=1m"), Ok((Some("t".to_owned()), 1_000_000)));
        assert_eq!(rows("a=b=2"), Ok((Some("a=b".to_owned()), 2)));
        assert!(rows("=2").is_err() && rows("t=").is_err() && rows("t").is_err());
    }

    #[test]
    fn a_generator_may_hold_signs() {
        assert_eq!(set("t.a=sequence(start=5)"), Ok(("t.a".to_owned(), "sequence(start=5)".to_owned())));
        assert!(set("t.a").is_err() && set("=uuid").is_err() && set("a= ").is_err());
    }
}
