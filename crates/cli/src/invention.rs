//! What `gen` and `plan` have in common: their arguments, and how these become a schema, a plan of its rows, and
//! sources that supply them.

use crate::failure::{Failure, Texts};
use crate::making::refuse_special_names;
use crate::numbers;
use crate::schema_text::{self, SchemaText};
use clap::Args;
use litepress::{Error, ErrorKind, Estimate, Options, PageSize, Result, Schema, Target};
use litepress_gen::plan_file::{check_scale, to_toml};
use litepress_gen::{GenPlan, GenSource, PlanFile, Request, SetColumn, Shard, TablePlan};
use litepress_rows::Source;
use std::path::{Path, PathBuf};

/// What is to be made of what.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Rows")]
pub struct InventionArguments {
    /// A built-in schema instead of a file
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// Rows of a table, or of every table that nothing says them of: 1000, 10k, 100m, 1b; may be repeated
    #[arg(long, value_name = "[TABLE=]N", value_parser = rows)]
    pub rows: Vec<(Option<String>, u64)>,
    /// The generator of a column, before that of the schema: T.AREA='digits(6)'; may be repeated
    #[arg(long, value_name = "[TABLE.]COL=GENERATOR", value_parser = set)]
    pub set: Vec<(String, String)>,
    /// Seed of all tables: another seed, other rows [default: that of the schema, or 0]
    #[arg(long, value_name = "N", value_parser = numbers::count)]
    pub seed: Option<u64>,
    /// A plan file (TOML) instead of a schema: see 'litepress plan --toml'; '-' reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "preset")]
    pub plan: Option<PathBuf>,
    /// Multiply the numbers of rows that the plan, the schema or the preset gives; those of --rows stay
    #[arg(long, value_name = "F", value_parser = scale)]
    pub scale: Option<f64>,
    /// Only the rows of the I-th of N equal stretches of every table, I from 1; they are those of the whole
    #[arg(long, value_name = "I/N", value_parser = part)]
    pub part: Option<Shard>,
    /// Write the plan to a file, too: 'litepress gen OUT.db --plan FILE' makes the same again
    #[arg(long, value_name = "FILE")]
    pub write_plan: Option<PathBuf>,
    /// Keep the plan in the database, as the only row of a table litepress_plan
    #[arg(long)]
    pub record_plan: bool,
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
    /// The plan as a plan file.
    pub written: String,
    /// Which of the rows are made.
    shard: Shard,
    /// What errors may be about.
    pub texts: Texts,
}

/// The rows of one table.
pub struct Supply {
    /// Position in [`Schema::tables`].
    pub table: usize,
    /// The rows.
    pub source: Box<dyn Source>,
}

impl InventionArguments {
    /// Whether a schema is still to be named.
    pub(crate) fn has_no_schema(&self) -> bool {
        self.preset.is_none() && self.plan.is_none()
    }

    /// The schema: of this file, or what the arguments name. Of a plan file it is the text of the plan.
    pub(crate) fn read(&self, schema: Option<&Path>) -> Result<SchemaText> {
        match &self.plan {
            Some(plan) => SchemaText::from_file(plan),
            None => schema_text::read(schema, self.preset.as_deref()),
        }
    }

    /// The database and the schema file among the arguments.
    pub(crate) fn files<'a>(&self, names: Names<'a>, needs_out: bool) -> Result<Names<'a>> {
        let Names { out, schema } = names;
        if self.plan.is_some() && schema.is_some() {
            return Err(Error::new(ErrorKind::Usage, "a schema file and --plan exclude one another")
                .advise("the plan file holds its schema"));
        }
        if !needs_out && schema.is_none() && self.has_no_schema() {
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
    /// Plans the rows of a schema, or of the plan file whose text this is.
    pub fn new(read: SchemaText, arguments: &InventionArguments, options: &Options) -> Result<Self, Failure> {
        let mut texts = Texts::default();
        texts.add(&read.origin, &read.text);
        let (schema, file) = schema_of(&read, arguments).map_err(|error| texts.explain(error))?;
        if schema.objects.is_empty() {
            let error = Error::new(ErrorKind::Schema, "the schema defines nothing").in_file(read.origin);
            return Err(error.advise("write CREATE statements into it, or take a built-in one: --preset user").into());
        }
        let mut request = Request::default();
        request.rows.clone_from(&arguments.rows);
        request.seed = arguments.seed;
        request.scale = arguments.scale;
        request.plan = file;
        request.on_conflict = options.on_conflict;
        for (column, expression) in &arguments.set {
            let (table, column) = table_and_column(&schema, column)?;
            let origin = format!("<--set {table}.{column}>");
            texts.add(&origin, expression);
            request.set.push(SetColumn { table, column, expression: expression.clone(), origin });
        }
        let plan = GenPlan::new(&schema, &request).map_err(|error| texts.explain(error))?;
        let page_size = options.page_size.or(schema.settings.page_size.and_then(PageSize::new));
        let page_size = page_size.unwrap_or(PageSize::DEFAULT);
        let written = to_toml(&schema, &plan);
        let shard = arguments.part.unwrap_or(Shard::WHOLE);
        let invention = Self { schema, plan, page_size, shard, texts, written };
        if arguments.record_plan { invention.recorded(request) } else { Ok(invention) }
    }

    /// The same with a table that holds the plan.
    fn recorded(self, mut request: Request) -> Result<Self, Failure> {
        if let Some(table) = self.schema.table(RECORD) {
            let error = Error::new(ErrorKind::Usage, "the plan is to be kept in a table of this name");
            return Err(error.in_table(&table.name).advise("leave out --record-plan, or the table").into());
        }
        let text = format!("{}\n;CREATE TABLE {RECORD} (plan TEXT NOT NULL);\n", self.schema.text);
        let schema = Schema::from_sql(&text, &self.schema.origin)?;
        for (table, _) in &mut request.rows {
            // It was the only one.
            table.get_or_insert_with(|| self.plan.tables()[0].name.clone());
        }
        request.rows.push((Some(RECORD.to_owned()), 1));
        request.set.push(SetColumn {
            table: RECORD.to_owned(),
            column: "plan".to_owned(),
            expression: format!("constant('{}')", self.written.replace('\'', "''")),
            origin: "<--record-plan>".to_owned(),
        });
        let plan = GenPlan::new(&schema, &request).map_err(|error| self.texts.explain(error))?;
        Ok(Self { schema, plan, ..self })
    }

    /// Writes the plan to the file that is named for it.
    pub fn write_plan(&self, arguments: &InventionArguments) -> Result<()> {
        let Some(file) = &arguments.write_plan else { return Ok(()) };
        std::fs::write(file, &self.written).map_err(|error| Error::io("write the plan", file, error))
    }

    /// The part of the rows that is made of a table: all of that which holds the plan.
    fn shard_of(&self, table: &TablePlan) -> Shard {
        if table.name == RECORD { Shard::WHOLE } else { self.shard }
    }

    /// How many rows are made of a table.
    pub fn rows_of(&self, table: &TablePlan) -> u64 {
        let rows = self.shard_of(table).row_range(table.rows);
        rows.end - rows.start
    }

    /// Sources of all tables that rows are planned for.
    pub fn supplies(&self) -> Result<Vec<Supply>, Failure> {
        let supply = |plan: &TablePlan| {
            let (table, shard) = (plan.table, self.shard_of(plan));
            let source = GenSource::for_shard(&self.plan, &self.schema, table, self.page_size, shard);
            Ok(Supply { table, source: source.map_err(|error| self.texts.explain(error))? })
        };
        self.plan.tables().iter().map(|plan| supply(plan)).collect()
    }

    /// What the database and its build take.
    pub fn estimate(&self, supplies: &[Supply], target: &Target, options: &Options) -> Result<Estimate, Failure> {
        Estimate::new(&self.schema, &sources(supplies), target, options).map_err(|error| self.texts.explain(error))
    }

    /// Rows of all tables.
    pub fn rows(&self) -> u64 {
        self.plan.tables().iter().map(|plan| self.rows_of(plan)).fold(0, u64::saturating_add)
    }
}

/// The sources as the engine takes them.
pub fn sources(supplies: &[Supply]) -> Vec<(usize, &dyn Source)> {
    supplies.iter().map(|supply| (supply.table, &*supply.source)).collect()
}

/// The table that keeps the plan in the database.
const RECORD: &str = "litepress_plan";

/// The schema, and the plan file that it stands in.
fn schema_of(read: &SchemaText, arguments: &InventionArguments) -> Result<(Schema, Option<PlanFile>)> {
    if arguments.plan.is_none() {
        return Ok((Schema::from_sql(&read.text, &read.origin)?, None));
    }
    let plan = PlanFile::parse(&read.text, &read.origin)?;
    Ok((plan.schema()?, Some(plan)))
}

/// `I/N`
///
/// # Errors
/// Says what a part is.
pub fn part(text: &str) -> Result<Shard, String> {
    let numbers = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
    let shard = numbers.and_then(|(number, of)| Shard::new(number, of));
    shard.ok_or_else(|| "a part is written I/N, I from 1 to N: 1/4".to_owned())
}

/// A factor for numbers of rows.
///
/// # Errors
/// Says what one is.
pub fn scale(text: &str) -> Result<f64, String> {
    let scale = text.parse().map_err(|_| "a scale is a number above 0: 0.1, 100".to_owned())?;
    check_scale(scale).map(|()| scale)
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
