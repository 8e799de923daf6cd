//! What `gen` and `plan` have in common: their arguments, and how these become a schema, a plan of its rows, and
//! sources that supply them.

use crate::failure::{Failure, Texts};
use crate::making::refuse_special_names;
use crate::numbers;
use crate::schema_text::SchemaText;
use clap::Args;
use litepress::{Error, ErrorKind, Estimate, Options, PageSize, Result, Schema, Target};
use litepress_gen::{GenPlan, GenSource, Request, SetColumn};
use litepress_rows::Source;
use std::path::Path;

/// What is to be made of what.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Rows")]
pub struct InventionArguments {
    /// A built-in schema instead of a file
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// Rows of a table, or of the only table: 1000, 10k, 100m, 1b; may be repeated
    #[arg(long, value_name = "[TABLE=]N", value_parser = rows)]
    pub rows: Vec<(Option<String>, u64)>,
    /// The generator of a column, before that of the schema: T.AREA='digits(6)'; may be repeated
    #[arg(long, value_name = "[TABLE.]COL=GENERATOR", value_parser = set)]
    pub set: Vec<(String, String)>,
    /// Seed of all tables: another seed, other rows [default: that of the schema, or 0]
    #[arg(long, value_name = "N", value_parser = numbers::count)]
    pub seed: Option<u64>,
    /// Build the pages and drop them, to measure how fast that is; OUT.db is not needed then
    #[arg(long, conflicts_with_all = ["verify"])]
    pub discard: bool,
}

/// The database and the schema among the names that a user gives.
#[derive(Clone, Copy, Debug, Default)]
pub struct Names<'a> {
    /// The database to make.
    pub out: Option<&'a Path>,
    /// A file of CREATE statements; `-` is standard input.
    pub schema: Option<&'a Path>,
}

/// Rows that are ready to be made.
#[derive(Debug)]
pub struct Invention {
    /// The schema as SQLite understands it.
    pub schema: Schema,
    /// Rows and generators of every table.
    pub plan: GenPlan,
    /// Page size of the database, as the engine chooses it.
    pub page_size: PageSize,
    /// What errors may be about.
    pub texts: Texts,
}

/// The rows of one table.
#[derive(Debug)]
pub struct Supply {
    /// Position in [`Schema::tables`].
    pub table: usize,
    /// The rows.
    pub source: GenSource,
}

impl InventionArguments {
    /// The database and the schema file among the arguments.
    pub(crate) fn files<'a>(&self, names: Names<'a>, needs_out: bool) -> Result<Names<'a>> {
        let Names { out, schema } = names;
        if !needs_out && schema.is_none() && self.preset.is_none() {
            return Ok(Names { out: None, schema: out });
        }
        if let (Some(out), Some(schema)) = (out, schema)
            && is_sql(out)
            && !is_sql(schema)
        {
            let error = Error::new(ErrorKind::Usage, "this is no database: its name comes first, the schema behind it");
            let advice = format!("did you mean '{} {}'?", schema.display(), out.display());
            return Err(error.in_file(out).advise(advice));
        }
        match out {
            None if needs_out => Err(Error::new(ErrorKind::Usage, "no database is named")
                .advise("say where it goes: litepress gen OUT.db SCHEMA.sql --rows N")),
            Some(out) => refuse_special_names(out).map(|()| names),
            None => Ok(names),
        }
    }
}

impl Invention {
    /// Plans the rows of a schema.
    pub fn new(read: SchemaText, arguments: &InventionArguments, options: &Options) -> Result<Self, Failure> {
        let mut texts = Texts::default();
        texts.add(&read.origin, &read.text);
        let schema = Schema::from_sql(&read.text, &read.origin).map_err(|error| texts.explain(error))?;
        if schema.objects.is_empty() {
            let error = Error::new(ErrorKind::Schema, "the schema defines nothing").in_file(read.origin);
            return Err(error.advise("write CREATE statements into it, or take a built-in one: --preset user").into());
        }
        let mut request = Request::default();
        request.rows.clone_from(&arguments.rows);
        request.seed = arguments.seed;
        request.on_conflict = options.on_conflict;
        for (column, expression) in &arguments.set {
            let (table, column) = table_and_column(&schema, column)?;
            let origin = format!("<--set {table}.{column}>");
            texts.add(&origin, expression);
            request.set.push(SetColumn { table, column, expression: expression.clone(), origin });
        }
        let plan = GenPlan::new(&schema, &request).map_err(|error| texts.explain(error))?;
        let page_size = options.page_size.or(schema.settings.page_size.and_then(PageSize::new));
        Ok(Self { schema, plan, page_size: page_size.unwrap_or(PageSize::DEFAULT), texts })
    }

    /// Sources of all tables that rows are planned for.
    pub fn supplies(&self) -> Result<Vec<Supply>, Failure> {
        let supply = |table: usize| {
            let source = GenSource::new(&self.plan, &self.schema, table, self.page_size);
            Ok(Supply { table, source: source.map_err(|error| self.texts.explain(error))? })
        };
        self.plan.tables().iter().map(|plan| supply(plan.table)).collect()
    }

    /// What the database and its build take.
    pub fn estimate(&self, supplies: &[Supply], target: &Target, options: &Options) -> Result<Estimate, Failure> {
        Estimate::new(&self.schema, &sources(supplies), target, options).map_err(|error| self.texts.explain(error))
    }

    /// Rows of all tables.
    pub fn rows(&self) -> u64 {
        self.plan.tables().iter().map(|plan| plan.rows).fold(0, u64::saturating_add)
    }
}

/// The sources as the engine takes them.
pub fn sources(supplies: &[Supply]) -> Vec<(usize, &dyn Source)> {
    supplies.iter().map(|supply| (supply.table, &supply.source as &dyn Source)).collect()
}

/// Whether a file is called one of SQL.
pub fn is_sql(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("sql"))
}

/// `N` or `TABLE=N`
fn rows(text: &str) -> Result<(Option<String>, u64), String> {
    match text.rsplit_once('=') {
        None => Ok((None, numbers::count(text)?)),
        Some(("", _)) => Err("the table is missing: TABLE=N".to_owned()),
        Some((table, rows)) => Ok((Some(table.to_owned()), numbers::count(rows)?)),
    }
}

/// `COL=GENERATOR` or `TABLE.COL=GENERATOR`, cut at the first `=`: generators may hold more of them.
fn set(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((column, generator)) if !column.is_empty() && !generator.trim().is_empty() => {
            Ok((column.to_owned(), generator.to_owned()))
        }
        _ => Err("a column and its generator are written TABLE.COL='digits(6)'".to_owned()),
    }
}

/// Which column `name` means. Names may hold dots: every way to cut one is tried.
fn table_and_column(schema: &Schema, name: &str) -> Result<(String, String)> {
    if let [table] = &schema.tables[..]
        && (table.column(name).is_some() || !name.contains('.'))
    {
        return Ok((table.name.clone(), name.to_owned()));
    }
    let cuts = || name.match_indices('.').map(|(dot, _)| (&name[..dot], &name[dot + 1..]));
    let known = cuts().find(|(table, column)| schema.table(table).is_some_and(|table| table.column(column).is_some()));
    let Some((table, column)) = known.or_else(|| cuts().next()) else {
        let message = format!("--set {name}: which table? The schema has {}", schema.tables.len());
        return Err(Error::new(ErrorKind::Usage, message).advise(format!("write --set TABLE.{name}=GENERATOR")));
    };
    Ok((table.to_owned(), column.to_owned()))
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
    fn columns_with_and_without_table() {
        assert_eq!(set("t.a=sequence(start=5)"), Ok(("t.a".to_owned(), "sequence(start=5)".to_owned())));
        assert!(set("t.a").is_err() && set("=uuid").is_err() && set("a= ").is_err());
        let one = Schema::from_sql("CREATE TABLE t (a, \"b.c\")", "<test>").unwrap();
        let two = Schema::from_sql("CREATE TABLE t (a); CREATE TABLE \"x.y\" (\"b.c\")", "<test>").unwrap();
        for (schema, name, expected) in [
            (&one, "a", Some(("t", "a"))),
            (&one, "T.a", Some(("T", "a"))),
            (&one, "b.c", Some(("t", "b.c"))),
            (&one, "t.b.c", Some(("t", "b.c"))),
            (&one, "nobody", Some(("t", "nobody"))),
            (&two, "t.a", Some(("t", "a"))),
            (&two, "x.y.b.c", Some(("x.y", "b.c"))),
            (&two, "u.a", Some(("u", "a"))),
            (&two, "a", None),
        ] {
            let expected = expected.map(|(table, column)| (table.to_owned(), column.to_owned()));
            assert_eq!(table_and_column(schema, name).ok(), expected, "{name}");
        }
    }
}
