//! Databases of generated rows.

use crate::build::{BuildJob, refuse_special_target};
use crate::load::notes::unrun_triggers;
use crate::observer::{Meter, NullObserver, Observer, Sample, Stage, Unit};
use crate::plan_report::{PlanReport, PlannedColumn, TableOrigin, TableReport};
use crate::report::BuildReport;
use crate::schema_text::{SchemaText, Texts};
use crate::text_file::{PreparedText, TextFile, TextKind};
use crate::{Error, ErrorKind, Message, Options, PageSize, Result, Schema, Target};
use litepress_engine::Estimate;
use litepress_engine::plan::plan_objects;
use litepress_gen::recipe::to_toml;
use litepress_gen::{ColumnPlan, GenPlan, GenSource, Recipe, Request, SetColumn, Shard, TablePlan};
use litepress_rows::message::RustWords;
use litepress_rows::{OptionName, Source, Words, message};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The table that keeps the recipe in the database.
const RECORD: &str = "litepress_recipe";

/// Options of [`generate`].
#[derive(Clone)]
#[non_exhaustive]
pub struct GenerateOptions {
    /// Options of the database.
    pub build: Options,
    /// Numbers of rows, by table; `None` stands for every table without one.
    pub rows: Vec<(Option<String>, u64)>,
    /// Columns (`TABLE.COLUMN`, or `COLUMN` if there is one table) and their generators, before those of the schema.
    pub set: Vec<(String, String)>,
    /// Seed of all tables; by default that of the schema, or 0.
    pub seed: Option<u64>,
    /// Factor for the numbers of rows that the schema or the recipe gives.
    pub scale: Option<f64>,
    /// The day at which inferred times end, as `YYYY-MM-DD`; 2026-01-01 by default.
    pub until: Option<String>,
    /// The part of the rows to make; by default all.
    pub shard: Option<Shard>,
    /// File to write the recipe to, once the database is made.
    pub write_recipe: Option<PathBuf>,
    /// Whether the recipe is kept in the database, as the only row of a table `litepress_recipe`.
    pub record_recipe: bool,
    /// The names of options in the origins of errors: `<set user.area>`.
    pub words: Arc<dyn Words + Send + Sync>,
    /// Hears of the progress.
    pub observer: Arc<dyn Observer>,
}

impl Default for GenerateOptions {
    fn default() -> Self {
        Self {
            build: Options::default(),
            rows: Vec::new(),
            set: Vec::new(),
            seed: None,
            scale: None,
            until: None,
            shard: None,
            write_recipe: None,
            record_recipe: false,
            words: Arc::new(RustWords),
            observer: Arc::new(NullObserver),
        }
    }
}

impl GenerateOptions {
    /// Sets the options of the database.
    #[must_use]
    pub fn build(mut self, build: Options) -> Self {
        self.build = build;
        self
    }

    /// Sets the number of rows of every table without one.
    #[must_use]
    pub fn rows(mut self, rows: u64) -> Self {
        self.rows.push((None, rows));
        self
    }

    /// Sets the number of rows of a table.
    #[must_use]
    pub fn table_rows(mut self, table: impl Into<String>, rows: u64) -> Self {
        self.rows.push((Some(table.into()), rows));
        self
    }

    /// Sets the generator of a column: `TABLE.COLUMN`, or `COLUMN` if there is one table.
    #[must_use]
    pub fn set(mut self, column: impl Into<String>, generator: impl Into<String>) -> Self {
        self.set.push((column.into(), generator.into()));
        self
    }

    /// Sets the seed of all tables.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets the factor for the numbers of rows that the schema or the recipe gives.
    #[must_use]
    pub fn scale(mut self, scale: f64) -> Self {
        self.scale = Some(scale);
        self
    }

    /// Sets the day at which inferred times end, as `YYYY-MM-DD`.
    #[must_use]
    pub fn until(mut self, day: impl Into<String>) -> Self {
        self.until = Some(day.into());
        self
    }

    /// Sets the part of the rows to make.
    #[must_use]
    pub fn shard(mut self, shard: Shard) -> Self {
        self.shard = Some(shard);
        self
    }

    /// Sets the file to write the recipe to.
    #[must_use]
    pub fn write_recipe(mut self, file: impl Into<PathBuf>) -> Self {
        self.write_recipe = Some(file.into());
        self
    }

    /// Sets whether the recipe is kept in the database.
    #[must_use]
    pub fn record_recipe(mut self, record_recipe: bool) -> Self {
        self.record_recipe = record_recipe;
        self
    }

    /// Sets the names of options in the origins of errors.
    #[must_use]
    pub fn words(mut self, words: Arc<dyn Words + Send + Sync>) -> Self {
        self.words = words;
        self
    }

    /// Sets the observer.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = observer;
        self
    }
}

/// Builds a database of generated rows. Comments of the schema say how (`-- gen: digits(6)`); names and types of columns do
/// where no comment does.
///
/// ```
/// use litepress::{GenerateOptions, Target, generate};
///
/// let schema = "CREATE TABLE user (id INTEGER PRIMARY KEY, area TEXT, age INTEGER)";
/// let options = GenerateOptions::default().rows(1000).set("age", "int(1, 99)").seed(7);
/// let report = generate(Target::Memory, schema, &options)?;
/// assert_eq!(report.summary.rows, 1000);
/// # Ok::<(), litepress::Error>(())
/// ```
///
/// # Errors
/// All mistakes in the options, the schema and its annotations; errors of the engine.
pub fn generate(
    target: impl Into<Target>,
    schema: impl Into<SchemaText>,
    options: &GenerateOptions,
) -> Result<BuildReport> {
    let (started, target, schema) = (Instant::now(), target.into(), schema.into());
    refuse_special_target(&target)?;
    let recipe = options.recipe_file(&schema, Some(&target))?;
    // A plan may take seconds: the children of a billion parents are counted. There is nothing to clean up yet.
    options.observer.enter(Stage::Inspect);
    let job = GenerateJob::new(&schema, options)?;
    let sources = job.sources()?;
    options.observer.enter(Stage::Build);
    let (schema, observer) = (&job.schema, &*options.observer);
    let build = BuildJob { schema, sources: &listed(&sources), target: &target, started, observer };
    let prepared = RefCell::new(None);
    let before_publishing = || {
        prepared.replace(recipe.as_ref().map(|file| file.prepare(&job.recipe_text)).transpose()?);
        Ok(())
    };
    let built = build.run(options.build.clone(), job.meter(&sources), &before_publishing);
    let built = built.map_err(|error| job.texts.explain(error))?;
    prepared.into_inner().map_or(Ok(()), PreparedText::publish)?;
    Ok(built)
}

/// Returns what [`generate`] would do, and why. Without a target nothing is said of the disk. The file of
/// [`GenerateOptions::write_recipe`] is written.
///
/// # Errors
/// All mistakes in the options, the schema and its annotations.
pub fn plan_generate(
    target: Option<Target>,
    schema: impl Into<SchemaText>,
    options: &GenerateOptions,
) -> Result<PlanReport> {
    let schema = schema.into();
    let recipe = options.recipe_file(&schema, target.as_ref())?;
    let job = GenerateJob::new(&schema, options)?;
    let sources = job.sources()?;
    let build = options.build.clone();
    let place = target.clone().unwrap_or(Target::Discard);
    let estimate = Estimate::new(&job.schema, &listed(&sources), &place, &build);
    let estimate = estimate.map_err(|error| job.texts.explain(error))?;
    recipe.map_or(Ok(()), |file| file.write(&job.recipe_text))?;
    Ok(PlanReport {
        target,
        rows: Some(job.rows()),
        page_size: job.page_size,
        estimate,
        databases: None,
        append: None,
        steps: plan_objects(&job.schema, build.on_conflict),
        left_out: None,
        dropped: Vec::new(),
        mismatches: None,
        notes: job.notes(),
        tables: job.plan.tables().iter().map(|plan| table_report(plan, job.rows_of(plan))).collect(),
        options: build,
        schema: job.schema,
    })
}

/// Returns the recipe (TOML) of the rows, from which the same rows can be generated.
///
/// # Errors
/// As [`plan_generate`].
pub fn recipe(schema: impl Into<SchemaText>, options: &GenerateOptions) -> Result<String> {
    let schema = schema.into();
    let recipe = options.recipe_file(&schema, None)?;
    let job = GenerateJob::new(&schema, options)?;
    recipe.map_or(Ok(()), |file| file.write(&job.recipe_text))?;
    Ok(job.recipe_text)
}

impl GenerateOptions {
    /// Returns the file that the recipe is written to.
    fn recipe_file(&self, schema: &SchemaText, target: Option<&Target>) -> Result<Option<TextFile>> {
        let made = if let Some(Target::File(file)) = target { Some(file.as_path()) } else { None };
        // The origin is the path of a schema that was read from a file.
        let read = [Path::new(&schema.origin)];
        let file = |file: &PathBuf| TextFile::new(file, TextKind::Recipe, self.build.overwrite, &read, made);
        self.write_recipe.as_ref().map(file).transpose()
    }
}

/// A schema with a plan for its rows.
struct GenerateJob<'o> {
    options: &'o GenerateOptions,
    schema: Schema,
    plan: GenPlan,
    page_size: PageSize,
    /// The plan of the rows as TOML.
    recipe_text: String,
    shard: Shard,
    texts: Texts,
}

/// The rows of a table, by its position in the schema.
type TableSource = (usize, Box<dyn Source>);

impl<'o> GenerateJob<'o> {
    fn new(read: &SchemaText, options: &'o GenerateOptions) -> Result<Self> {
        let mut texts = Texts::default();
        texts.add(&read.origin, &read.text);
        let (schema, file) = schema_of(read).map_err(|error| texts.explain(error))?;
        if schema.objects.is_empty() {
            let error = Error::new(ErrorKind::Schema, "the schema defines nothing").in_file(&read.origin);
            let preset = OptionName::Preset.word("user");
            return Err(error.advise(message!["write CREATE statements into it, or take a built-in one: ", preset]));
        }
        let mut request = Request::default();
        request.rows.clone_from(&options.rows);
        request.seed = options.seed;
        request.scale = options.scale;
        request.until.clone_from(&options.until);
        request.recipe = file;
        request.on_conflict = options.build.on_conflict;
        for (column, expression) in &options.set {
            let (table, column) = table_and_column(&schema, column)?;
            let origin = format!("<{} {table}.{column}>", options.words.name(OptionName::Set));
            texts.add(&origin, expression);
            request.set.push(SetColumn { table, column, expression: expression.clone(), origin });
        }
        let plan = GenPlan::new(&schema, &request).map_err(|error| texts.explain(error))?;
        let page_size = options.build.page_size.or(schema.settings.page_size.and_then(PageSize::new));
        let page_size = page_size.unwrap_or(PageSize::DEFAULT);
        let recipe_text = to_toml(&schema, &plan);
        let shard = options.shard.unwrap_or(Shard::WHOLE);
        let job = Self { options, schema, plan, page_size, shard, texts, recipe_text };
        if options.record_recipe { job.recorded(request) } else { Ok(job) }
    }

    /// Adds the table that holds the recipe.
    fn recorded(self, mut request: Request) -> Result<Self> {
        if let Some(table) = self.schema.table(RECORD) {
            let error = Error::new(ErrorKind::Usage, "the recipe is to be kept in a table of this name");
            let record = OptionName::RecordRecipe.alone();
            return Err(error.in_table(&table.name).advise(message!["leave out ", record, ", or the table"]));
        }
        let text = format!("{}\n;CREATE TABLE {RECORD} (recipe TEXT NOT NULL);\n", self.schema.text);
        let schema = Schema::from_sql(&text, &self.schema.origin)?;
        for (table, _) in &mut request.rows {
            // It was the only one.
            table.get_or_insert_with(|| self.plan.tables()[0].name.clone());
        }
        request.rows.push((Some(RECORD.to_owned()), 1));
        request.set.push(SetColumn {
            table: RECORD.to_owned(),
            column: "recipe".to_owned(),
            expression: format!("constant('{}')", self.recipe_text.replace('\'', "''")),
            origin: "<recorded recipe>".to_owned(),
        });
        let plan = GenPlan::new(&schema, &request).map_err(|error| self.texts.explain(error))?;
        Ok(Self { schema, plan, ..self })
    }

    /// Returns the part of a table's rows to make: the table that holds the recipe is made whole, but for parts, which become one
    /// database.
    fn shard_of(&self, table: &TablePlan) -> Shard {
        if table.name == RECORD && !self.options.build.part { Shard::WHOLE } else { self.shard }
    }

    /// Returns notes that follow from the plan alone.
    fn notes(&self) -> Vec<Message> {
        let filled = self.plan.tables().iter().filter(|plan| self.rows_of(plan) > 0);
        filled.filter_map(|plan| unrun_triggers(&self.schema, &self.schema.tables[plan.table])).collect()
    }

    fn rows_of(&self, table: &TablePlan) -> u64 {
        let rows = self.shard_of(table).row_range(table.rows);
        rows.end - rows.start
    }

    fn rows(&self) -> u64 {
        self.plan.tables().iter().map(|plan| self.rows_of(plan)).fold(0, u64::saturating_add)
    }

    fn sources(&self) -> Result<Vec<TableSource>> {
        let source = |plan: &Arc<TablePlan>| {
            let (table, shard) = (plan.table, self.shard_of(plan));
            let source =
                GenSource::for_shard(&self.plan, &self.schema, table, self.page_size, shard, self.options.build.part);
            Ok((table, source.map_err(|error| self.texts.explain(error))?))
        };
        self.plan.tables().iter().map(source).collect()
    }

    fn meter(&self, sources: &[TableSource]) -> Meter {
        // The rows of a part are divided elsewhere than those of a shard.
        let in_part = |(_, source): &TableSource| source.rows().unwrap_or(0);
        let total = if self.options.build.part { sources.iter().map(in_part).sum() } else { self.rows() };
        let progress = self.options.build.progress.clone();
        Meter::new(Unit::Rows, move || {
            let (done, bytes, phase) = (progress.rows(), progress.bytes(), progress.phase());
            Sample { done, total, bytes, phase }
        })
    }
}

fn listed(sources: &[TableSource]) -> Vec<(usize, &dyn Source)> {
    sources.iter().map(|(table, source)| (*table, &**source)).collect()
}

fn table_report(table: &TablePlan, rows: u64) -> TableReport {
    let column = |column: &ColumnPlan| PlannedColumn::Generated {
        name: column.name.clone(),
        generator: column.expression.clone(),
        chosen: column.provenance.clone(),
    };
    TableReport {
        name: table.name.clone(),
        rows: Some(rows),
        origin: TableOrigin::Generated { seed: table.seed },
        columns: table.columns.iter().map(column).collect(),
    }
}

/// Returns the schema, and the recipe that holds it.
fn schema_of(read: &SchemaText) -> Result<(Schema, Option<Recipe>)> {
    if !read.is_recipe {
        return Ok((Schema::from_sql(&read.text, &read.origin)?, None));
    }
    let recipe = Recipe::parse(&read.text, &read.origin)?;
    Ok((recipe.schema()?, Some(recipe)))
}

/// Finds the column of a name. Names may hold dots: every way to cut one is tried.
fn table_and_column(schema: &Schema, name: &str) -> Result<(String, String)> {
    if let [table] = &schema.tables[..]
        && (table.column(name).is_some() || !name.contains('.'))
    {
        return Ok((table.name.clone(), name.to_owned()));
    }
    let cuts = || name.match_indices('.').map(|(dot, _)| (&name[..dot], &name[dot + 1..]));
    let known = cuts().find(|(table, column)| schema.table(table).is_some_and(|table| table.column(column).is_some()));
    let Some((table, column)) = known.or_else(|| cuts().next()) else {
        let given = OptionName::Set.word(name.to_owned()).given();
        let message = message![given, format!(": which table? The schema has {}", schema.tables.len())];
        let advice = message!["write ", OptionName::Set.pair(format!("TABLE.{name}"), "GENERATOR")];
        return Err(Error::new(ErrorKind::Usage, message).advise(advice));
    };
    Ok((table.to_owned(), column.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_with_and_without_table() {
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
