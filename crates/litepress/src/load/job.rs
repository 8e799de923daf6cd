//! A load, from the inspection of the files to the report.

use super::notes::{self, notes_of};
use super::options::LoadOptions;
use super::report::LoadReport;
use crate::append::AppendJob;
use crate::build::refuse_target_among;
use crate::geopackage::{GeoPackage, options_of_features};
use crate::loaded_file::LoadedFile;
use crate::number_notes::number_notes;
use crate::observer::{Measured, Meter, Sample, Unit};
use crate::plan_report::{PlannedColumn, TableOrigin, TableReport};
use crate::report::BuildReport;
use crate::schema_text::Texts;
use crate::{Error, ErrorKind, OnError, Options, PageSize, Result, Target};
use litepress_engine::plan::{ObjectPlan, is_filled_by_sqlite, plan_objects};
use litepress_engine::{
    Estimate, Phase, PlannedAppend, RoutePlan, RowFigures, Schema, TargetStamp, folder_of, rehearse_additions,
    rehearse_build, rehearse_split,
};
use litepress_load::infer::InferredColumn;
use litepress_load::input::Input;
use litepress_load::options::{Format, ReadOptions};
use litepress_load::plan::{ColumnOrigin, Existing, LoadPlan, LoadRequest, PlannedFile, PlannedTable};
use litepress_load::rejects::Rejects;
use litepress_load::schema::RowDefault;
use litepress_load::source::LoadSource;
use litepress_rows::{Message, OptionName, Source, message};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Files that are ready to be loaded.
pub(crate) struct LoadJob<'o> {
    pub options: &'o LoadOptions,
    pub plan: LoadPlan,
    pub page_size: PageSize,
    /// Folder for temporary files.
    pub temp_dir: PathBuf,
    /// The schema of the target, if its tables get the rows.
    pub existing: Option<Schema>,
    /// The target, if only some of its tables are replaced.
    pub successor_of: Option<TargetStamp>,
    pub on_error: OnError,
    pub texts: Texts,
    /// The layers of a GeoPackage, if one is made.
    pub geopackage: Option<GeoPackage>,
}

/// The rows of a table, by its position in the schema.
pub(super) type TableSource = (usize, LoadSource);

pub(super) fn listed(sources: &[TableSource]) -> Vec<(usize, &dyn Source)> {
    sources.iter().map(|(table, source)| (*table, source as &dyn Source)).collect()
}

impl<'o> LoadJob<'o> {
    /// Inspects the files and decides which become which tables; without a schema, by all of their records. `reads_twice` says
    /// that files may be read more than once after that.
    pub(crate) fn new(
        target: &Target,
        files: Vec<PathBuf>,
        options: &'o LoadOptions,
        reads_twice: bool,
    ) -> Result<Self> {
        let (on_error, build) = (options.policy()?, &options.build);
        let mut read = ReadOptions { leaves_out_empty: on_error == OnError::Reject, ..options.read()? };
        let mut texts = Texts::default();
        if let Some(schema) = &options.schema {
            options.refuse_definitions()?;
            texts.add(&schema.origin, &schema.text);
        }
        let out = if let Target::File(file) = target { Some(file.as_path()) } else { None };
        let inputs = Input::from_arguments(&files, &read)?;
        if let Some(out) = out {
            refuse_target_among(inputs.iter().filter_map(Input::outer_path), out)?;
        }
        options.refuse_rejects_among(&inputs, out)?;
        if let Some(json) = options_of_features(options, &inputs, &read) {
            read.json = json;
        }
        let folder = || out.map_or(Path::new("."), folder_of).to_owned();
        let temp_dir = build.temp_dir.clone().unwrap_or_else(folder);
        let existing = options.existing(out)?;
        let successor_of = options.successor_of(out)?;
        let keep = if successor_of.is_some() { out.map(kept).transpose()? } else { None };
        let add_columns = options.append_options.add_columns;
        let request = LoadRequest {
            keep,
            existing: existing.clone().map(|schema| Existing { schema, add_columns }),
            inputs,
            table: options.table.clone(),
            schema: options.schema.as_ref().map(|schema| (schema.text.clone(), schema.origin.clone())),
            options: options.tables.clone(),
            map: options.map.clone(),
            store_as: options.store_as.clone(),
            sample: options.sample,
            sheets: options.sheets.clone(),
            select: options.select.clone(),
            source_column: options.source_column.clone(),
            limit: options.limit,
            conflict: build.on_conflict,
            needed_keys: options.needed_keys(),
            threads: build.threads,
            temp_dir: temp_dir.clone(),
            reads_twice: reads_twice || existing.is_some(),
            read,
        };
        let measured = Measured::begin(&*options.observer, inspection_meter(&request, build));
        let progress = build.progress.clone();
        let plan = LoadPlan::new(request, &move || progress.go_on());
        drop(measured);
        let plan = plan.map_err(|error| texts.explain(error))?;
        let page_size = build.page_size.or(plan.schema.settings.page_size.and_then(PageSize::new));
        let page_size = page_size.unwrap_or(PageSize::DEFAULT);
        let geopackage = GeoPackage::new(&plan, options)?;
        Ok(Self { options, temp_dir, existing, successor_of, plan, page_size, on_error, texts, geopackage })
    }

    /// Returns the schema of the new database.
    pub(super) fn built_schema(&self) -> &Schema {
        self.geopackage.as_ref().map_or(&self.plan.schema, |package| &package.schema)
    }

    pub(crate) fn max_rejects(&self) -> u64 {
        self.options.max_rejects.unwrap_or(u64::MAX)
    }

    /// Opens the rows of all tables.
    pub(super) fn sources(&self, rejects: Rejects) -> Result<(Vec<TableSource>, Arc<Rejects>)> {
        let rejects = Arc::new(rejects);
        let source = |table: &PlannedTable| {
            let source = self.plan.source(table, self.page_size, self.on_error, &rejects)?;
            Ok((table.table, source))
        };
        let sources: Result<Vec<_>> = self.plan.tables.iter().map(source).collect();
        Ok((sources.map_err(|error| self.texts.explain(error))?, rejects))
    }

    /// Fails if something of a database cannot be copied, unless that is allowed.
    pub(super) fn refuse_left_out(&self) -> Result<()> {
        let left_out = &self.plan.left_out;
        if left_out.is_empty() || self.options.allow_incomplete {
            return Ok(());
        }
        let message = format!("the copy would lack {}", left_out.join(", "));
        let advice = message!["go on without with ", OptionName::AllowIncomplete.alone()];
        Err(Error::new(ErrorKind::Unsupported, message).advise(advice))
    }

    /// Returns notes that follow from the plan alone.
    pub(super) fn notes(&self) -> Vec<Message> {
        let none = std::iter::empty();
        let (schema, verify) = (&self.plan.schema, self.options.build.verify);
        let of_schema = match &self.existing {
            None => notes_of(schema, verify, none, false),
            Some(_) if self.options.append_options.enforce_foreign_keys => Vec::new(),
            Some(_) => {
                let tables = self.plan.tables.iter().map(|planned| &schema.tables[planned.table]);
                notes::foreign_keys_of_existing(schema, tables, verify)
            }
        };
        let filled =
            self.plan.tables.iter().filter(|planned| self.existing.is_none() && !LoadPlan::is_of_databases(planned));
        let of_triggers = filled.filter_map(|planned| notes::unrun_triggers(schema, &schema.tables[planned.table]));
        let of_files = self.plan.notes_about_files().into_iter().map(Message::from);
        let of_headers = notes::of_doubtful_headers(self.plan.tables.iter().flat_map(|table| &table.files));
        let name = |table: &PlannedTable| &*self.plan.schema.tables[table.table].name;
        let of_systems = self.geopackage.iter().flat_map(GeoPackage::notes);
        let numbers = number_notes(self.plan.tables.iter().map(|table| (name(table), &table.decisions[..])));
        self.plan
            .notes
            .iter()
            .cloned()
            .chain(of_schema)
            .chain(of_triggers)
            .chain(of_files)
            .chain(of_headers)
            .chain(of_systems)
            .chain(numbers)
            .collect()
    }

    /// Returns the options of the database. A copy has statistics if its source has.
    pub(super) fn build_options(&self) -> Options {
        let build = self.options.build.clone();
        let analyze = build.analyze || self.plan.has_statistics && !build.part;
        let mut build = build.analyze(analyze);
        build.successor_of.clone_from(&self.successor_of);
        build.overwrite |= self.successor_of.is_some();
        build
    }

    /// Returns whether SQLite fills the table.
    pub(super) fn is_by_sqlite(&self, table: &str) -> bool {
        let table = self.plan.schema.table(table);
        table.is_some_and(|table| is_filled_by_sqlite(table, self.options.build.on_conflict))
    }

    /// Returns the rows' way into a database that exists.
    pub(super) fn appending(&self, target: &Target) -> Option<AppendJob> {
        let (Some(existing), Target::File(path)) = (&self.existing, target) else { return None };
        Some(AppendJob {
            path: path.clone(),
            existing: existing.clone(),
            schema: self.plan.schema.clone(),
            additions: self.plan.additions.clone(),
            options: self.build_options(),
            append: self.options.append_options.clone(),
        })
    }

    /// Returns the route of each table into a database that exists; `None` for a new database. `figures` are those of the tables'
    /// rows, if they were read.
    pub(super) fn routes(&self, target: &Target, figures: &[Option<RowFigures>]) -> Result<Option<Vec<RoutePlan>>> {
        let Some(AppendJob { path, schema, additions, options, append, .. }) = self.appending(target) else {
            return Ok(None);
        };
        let tables: Vec<_> =
            self.plan.tables.iter().map(|planned| planned.table).zip(figures.iter().cloned()).collect();
        let planned =
            PlannedAppend { path: &path, schema: &schema, additions: &additions, options: &options, append: &append };
        planned.routes(&tables).map(Some)
    }

    /// Fails as an append would before its first row. `missing` are the columns that the rows of each table lack.
    pub(super) fn rehearse_append(&self, target: &Target, missing: Vec<Vec<usize>>) -> Result<()> {
        let Some(AppendJob { existing, schema, additions, mut options, .. }) = self.appending(target) else {
            return Ok(());
        };
        options.temp_dir.get_or_insert_with(|| self.temp_dir.clone());
        let tables: Vec<_> = self.plan.tables.iter().map(|planned| planned.table).zip(missing).collect();
        rehearse_additions(&existing, &schema, &additions, &options, &tables)
    }

    /// Fails as a new database would before its first row. `missing` are the columns that the rows of each table lack.
    pub(super) fn rehearse_build(&self, target: &Target, missing: &[Vec<usize>]) -> Result<()> {
        if self.existing.is_some() {
            return Ok(());
        }
        let place = if let Target::File(path) = target { Some(path.as_path()) } else { None };
        let tables: Vec<_> =
            self.plan.tables.iter().map(|planned| planned.table).zip(missing.iter().cloned()).collect();
        let rehearse = if self.options.split_by.is_some() { rehearse_split } else { rehearse_build };
        rehearse(self.built_schema(), place, &self.build_options(), &tables)
    }

    /// Returns how each object of a new database is made.
    pub(super) fn steps(&self) -> Vec<ObjectPlan> {
        if self.existing.is_some() {
            return Vec::new();
        }
        plan_objects(self.built_schema(), self.options.build.on_conflict)
    }

    /// Estimates the sizes of the tables that get rows.
    pub(super) fn estimate(
        &self,
        sources: &[(usize, &dyn Source)],
        place: &Target,
        build: &Options,
    ) -> Result<Estimate> {
        if self.existing.is_none() {
            return Estimate::new(&self.plan.schema, sources, place, build);
        }
        let mut schema = self.plan.schema.clone();
        let tables = sources.iter().map(|(table, _)| schema.tables[*table].clone()).collect();
        let sources: Vec<(usize, &dyn Source)> = (0..).zip(sources.iter().map(|(_, source)| *source)).collect();
        (schema.tables, schema.objects) = (tables, Vec::new());
        Estimate::new(&schema, &sources, place, build)
    }

    /// Estimates the sizes of a GeoPackage.
    pub(super) fn estimate_package(
        &self,
        package: &GeoPackage,
        sources: &[TableSource],
        place: &Target,
        build: &Options,
    ) -> Result<Estimate> {
        let sources = package.sources(sources, &self.temp_dir)?;
        Estimate::new(&package.schema, &sources.listed(), place, build)
    }

    /// Adds to an error of the run the file and the line that it is about.
    pub(super) fn explain(&self, sources: &[TableSource], error: Error) -> Error {
        let table = error.place().table.as_deref().and_then(|table| self.plan.schema.position(table));
        let source = sources.iter().find(|(position, _)| Some(*position) == table);
        let error = match source {
            Some((_, source)) => source.explain(error),
            None => error,
        };
        let mut placed = self.with_lines(vec![error]);
        self.texts.explain(placed.remove(0))
    }

    /// Adds the lines of their records to errors that lack them.
    pub(super) fn with_lines(&self, errors: Vec<Error>) -> Vec<Error> {
        self.plan.with_lines(errors, &|| self.options.build.progress.go_on())
    }

    /// Measures bytes of input, whose number is known of compressed files, too.
    pub(super) fn meter(&self) -> Meter {
        let (progress, read) = (self.options.build.progress.clone(), self.plan.bytes_read());
        let (total, before) = (self.plan.input_bytes(), read.load(Ordering::Relaxed));
        Meter::new(Unit::InputBytes, move || {
            let done = read.load(Ordering::Relaxed).saturating_sub(before);
            // The bytes of tables of a database are estimates.
            let done = done.min(total.unwrap_or(u64::MAX));
            Sample { done, total: total.unwrap_or(0), bytes: progress.bytes(), phase: progress.phase() }
        })
    }

    /// Returns whether the types are those of a schema, or of a database that exists.
    pub(super) fn has_schema(&self) -> bool {
        self.options.schema.is_some() || self.existing.is_some()
    }

    pub(super) fn report(&self, mut build: BuildReport, sources: &[TableSource], rejects: &Rejects) -> LoadReport {
        let of_tables: u64 = build.summary.tables.iter().map(|table| table.left_out).sum();
        let in_front: u64 = sources.iter().map(|(_, source)| source.ignored()).sum();
        for table in build.appended.iter_mut().flat_map(|appended| &mut appended.tables) {
            let of_table = sources.iter().filter(|(_, source)| source.table().name == table.plan.table);
            table.ignored += of_table.map(|(_, source)| source.ignored()).sum::<u64>();
        }
        let mut notes = self.notes();
        notes.extend(sources.iter().flat_map(|(_, source)| notes::changes(source, self.has_schema())));
        let inferred = |table: &PlannedTable| {
            let name = self.plan.schema.tables[table.table].name.clone();
            (!table.decisions.is_empty()).then(|| (name, self.decisions(table)))
        };
        let found = rejects.repeated_headers();
        let ended_by = found.iter().filter(|(_, ends_table)| *ends_table).map(|(place, _)| place.clone()).collect();
        let repeated_headers = found.into_iter().map(|(place, _)| place).collect();
        LoadReport {
            build,
            inferred: self.plan.tables.iter().filter_map(inferred).collect(),
            left_out: self.plan.left_out.clone(),
            renumbered: self.plan.renumbered(&|table| self.is_by_sqlite(&table.name)),
            files: self.files(),
            empty_files: self.plan.empty_files.clone(),
            rejected: rejects.count(),
            skipped: rejects.skipped(),
            cut_records: rejects.cut_records(),
            stray_quotes: rejects.stray_quotes(),
            repeated_headers,
            ended_by,
            nulls: rejects.nulls(),
            cut_texts: rejects.cut_texts(),
            ignored: of_tables + in_front,
            dropped: self.plan.dropped.clone(),
            split: None,
            notes,
        }
    }

    /// Returns the types of the columns that a table will have, and the reasons.
    fn decisions(&self, table: &PlannedTable) -> Vec<InferredColumn> {
        match &self.geopackage {
            Some(package) => package.decisions(&self.plan, table.table, &table.decisions),
            None => table.decisions.clone(),
        }
    }

    /// Describes the files and how they were read.
    fn files(&self) -> Vec<LoadedFile> {
        let of_table = |table: &PlannedTable| -> Vec<LoadedFile> {
            let name = &self.plan.schema.tables[table.table].name;
            table.files.iter().filter_map(|file| LoadedFile::new(file, name)).collect()
        };
        self.plan.tables.iter().flat_map(of_table).collect()
    }

    pub(super) fn table_report(&self, table: &PlannedTable, rows: Option<u64>) -> TableReport {
        let inputs = table.files.iter().filter_map(PlannedFile::input);
        let definition = &self.plan.schema.tables[table.table];
        let default = |default: &RowDefault| {
            let column = definition.column(&default.column).map(|at| &definition.columns[at]);
            let because =
                format!("not in the file: SQLite evaluates its DEFAULT for every row, {}", default.expression);
            PlannedColumn::Loaded {
                name: default.column.clone(),
                declared_type: column.map_or_else(String::new, |column| column.declared_type.clone()),
                because: because.into(),
            }
        };
        let decisions = if table.decisions.is_empty() { Vec::new() } else { self.decisions(table) };
        let decided: Vec<PlannedColumn> = decisions.iter().map(PlannedColumn::from).collect();
        let mapped = |origin: ColumnOrigin| PlannedColumn::Loaded {
            name: origin.name,
            declared_type: origin.declared_type,
            because: origin.because,
        };
        let columns = if decided.is_empty() {
            self.plan.column_origins(table).into_iter().map(mapped).collect()
        } else {
            decided.into_iter().chain(table.row_defaults().into_iter().map(default)).collect()
        };
        TableReport {
            name: definition.name.clone(),
            rows,
            origin: TableOrigin::Loaded { files: inputs.map(|input| input.name.display().to_string()).collect() },
            columns,
        }
    }
}

impl From<&InferredColumn> for PlannedColumn {
    fn from(decision: &InferredColumn) -> Self {
        Self::Loaded {
            name: decision.name.clone(),
            declared_type: decision.declared_type.clone(),
            because: decision.reason.clone(),
        }
    }
}

/// Measures how far the inspection of all records is.
fn inspection_meter(request: &LoadRequest, options: &Options) -> Meter {
    let (read, progress) = (request.read.bytes_read.clone(), options.progress.clone());
    let total: Option<u64> = request.inputs.iter().map(|input| input.bytes).sum();
    Meter::new(Unit::InputBytes, move || {
        // The header is read once more.
        let done = read.load(Ordering::Relaxed).min(total.unwrap_or(u64::MAX));
        let mut phase = Phase::default();
        phase.name = "inferring types".to_owned();
        Sample { done, total: total.unwrap_or(0), bytes: progress.bytes(), phase }
    })
}

/// Returns the target as the database to keep.
fn kept(target: &Path) -> Result<Input> {
    let read = ReadOptions { format: Some(Format::Sqlite), ..ReadOptions::default() };
    Input::from_path(target, &read)
}
