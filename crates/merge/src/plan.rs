//! The plan of a merge: the schema, and where the rows of each table come from.

use crate::agreement::{self, AgreedObject, agree};
use crate::broken;
use crate::foreign_keys::ForeignKeys;
use crate::record::RecordForm;
use crate::references;
use crate::rowids::{self, Policies, RowidPolicy, TablePlan};
use crate::source::MergeSource;
use crate::survey::{Survey, TableKind, survey};
use crate::virtual_tables::{Content, VirtualTable};
use litepress_format::header::TextEncoding;
use litepress_rows::schema::TextContent;
use litepress_rows::sqlite::schema_statements;
use litepress_rows::{Conflict, Error, ErrorKind, Message, OptionName, Result, Schema, Table, message, quoted_name};
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The name of the merged schema in errors.
const ORIGIN: &str = "<schema of the databases>";

/// The page size of a schema that sets none.
const DEFAULT_PAGE_BYTES: u32 = 4096;

/// Options of a merge.
#[derive(Clone, Debug)]
pub struct MergeOptions {
    /// The policies for rowids: of tables by name, and of all others.
    pub rowids: Vec<(Option<String>, RowidPolicy)>,
    /// The column that gets the name of each row's shard.
    pub source_column: Option<String>,
    /// Whether objects are merged that some shards lack.
    pub union: bool,
    /// Tables that are left out.
    pub skip_tables: Vec<String>,
    /// The fate of rows whose key exists.
    pub on_conflict: Conflict,
    /// Threads that look at shards.
    pub threads: usize,
    /// Whether the caller chose the page size.
    pub has_page_size: bool,
    /// Whether differences between schemas are [kept](MergePlan::take_differences) instead of ending the plan.
    pub keeps_differences: bool,
}

/// The plan of a merge: the schema, and the source of each table.
#[derive(Debug)]
pub struct MergePlan {
    schema: Schema,
    surveys: Vec<Survey>,
    names: Vec<String>,
    tables: Vec<TablePlan>,
    /// The form of the records of each table; `None` for virtual ones.
    forms: Vec<Option<RecordForm>>,
    virtual_tables: Vec<VirtualTable>,
    notes: Vec<Message>,
    differences: Vec<Error>,
    bytes_read: Arc<AtomicU64>,
}

impl MergePlan {
    /// Looks at all shards, at least one. `go_on` ends the plan with an error if the user asks for it.
    ///
    /// # Errors
    /// If a shard cannot be read; if two of them have different schemas; if rowids cannot be kept or renumbered without a change of
    /// meaning; if an option names what does not exist.
    pub fn new(files: &[PathBuf], options: &MergeOptions, go_on: &(dyn Fn() -> Result<()> + Sync)) -> Result<Self> {
        let surveys = survey(files, options.threads, go_on)?;
        let names = files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
        let mut differences = Vec::new();
        let agreed = agree(&surveys, options.union, &mut |error| {
            if !options.keeps_differences {
                return Err(error);
            }
            differences.push(error);
            Ok(())
        })?;
        let agreed = without_skipped(agreed, &options.skip_tables)?;
        let mut notes = Vec::new();
        let source_column = options.source_column.as_deref();
        let statements = statements(&agreed, source_column)?;
        let settings = settings(&surveys, &mut notes, options.has_page_size);
        let mut schema = Schema::from_sql(&format!("{settings}{};\n", statements.join(";\n")), ORIGIN)?;
        // The shards have the rows of full-text tables that triggers keep, and no trigger runs.
        for full_text in schema.tables.iter_mut().filter_map(|table| table.full_text.as_deref_mut()) {
            if matches!(full_text.content, TextContent::Copied(..)) {
                full_text.content = TextContent::Own;
            }
        }
        notes.extend(broken::notes(&statements, source_column, &agreed, &surveys)?.into_iter().map(Message::from));
        let policies = Policies(&options.rowids);
        policies.check(&schema)?;
        let virtual_tables = virtual_tables(&schema, &agreed)?;
        let has_rows = |table: &&VirtualTable| matches!(table.content, Content::Rows(_));
        let with_rows: Vec<&VirtualTable> = virtual_tables.iter().filter(has_rows).collect();
        let keys = ForeignKeys::of_schema(&schema);
        let tables = rowids::plan(&schema, &keys, &surveys, &policies, options.on_conflict, !with_rows.is_empty())?;
        refuse_unfollowed(&with_rows, &schema, &tables, &policies)?;
        let references = references::of_tables(&schema, &keys, &tables, surveys.len())?;
        let has_source = source_column.is_some();
        let form = |(table, references): (&Table, _)| {
            (!table.is_virtual).then(|| RecordForm::new(table, references, has_source))
        };
        let forms = schema.tables.iter().zip(references).map(form).collect();
        let renumbered = schema.tables.iter().zip(&tables).filter(|(_, plan)| plan.is_renumbered);
        let renumbered: Vec<&str> = renumbered.map(|(table, _)| table.name.as_str()).collect();
        if !renumbered.is_empty() {
            let list = renumbered.join(", ");
            notes.push(format!("rows get new rowids, which no column holds and several databases have: {list}").into());
        }
        let rebuilt = virtual_tables.iter().filter(|table| table.content == Content::Rebuild);
        notes
            .extend(rebuilt.map(|table| format!("full-text index {} is built anew from its table", table.name).into()));
        let bytes_read = Arc::default();
        Ok(Self { schema, surveys, names, tables, forms, virtual_tables, notes, differences, bytes_read })
    }

    /// Returns the merged schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns what people should know.
    pub fn notes(&self) -> &[Message] {
        &self.notes
    }

    /// Takes the differences between the schemas of shards, if they are kept. The plan is then that of no merge.
    pub fn take_differences(&mut self) -> Vec<Error> {
        std::mem::take(&mut self.differences)
    }

    pub(crate) fn surveys(&self) -> &[Survey] {
        &self.surveys
    }

    /// Returns the name of a shard.
    pub(crate) fn name(&self, shard: usize) -> &str {
        &self.names[shard]
    }

    pub(crate) fn table_plan(&self, table: usize) -> &TablePlan {
        &self.tables[table]
    }

    /// Returns the form of a table's records; `None` for a virtual table.
    pub(crate) fn form(&self, table: usize) -> Option<&RecordForm> {
        self.forms[table].as_ref()
    }

    /// Returns the number of shards.
    pub fn shards(&self) -> usize {
        self.surveys.len()
    }

    /// Returns the bytes of all shards.
    pub fn bytes(&self) -> u64 {
        self.surveys.iter().map(|survey| survey.bytes).sum()
    }

    /// Returns the counter of the bytes of records that were read.
    pub fn bytes_read(&self) -> Arc<AtomicU64> {
        self.bytes_read.clone()
    }

    /// Returns whether a shard has statistics for SQLite's planner.
    pub fn has_statistics(&self) -> bool {
        self.surveys.iter().any(|survey| survey.settings.has_statistics)
    }

    /// Returns the rows of a table; `None` for a virtual table. Its position is that in the schema.
    pub fn source(&self, table: usize) -> Option<MergeSource<'_>> {
        let form = self.forms[table].as_ref()?;
        let (plan, columns) = (&self.tables[table], &self.schema.tables[table]);
        Some(MergeSource::new(columns, form, &self.surveys, plan, &self.names, &self.bytes_read))
    }

    /// Returns whether there are virtual tables to fill.
    pub fn has_virtual_tables(&self) -> bool {
        !self.virtual_tables.is_empty()
    }

    /// Fills the virtual tables of the merged database, but for those that are filled already.
    ///
    /// # Errors
    /// If a shard cannot be read, or SQLite refuses a row.
    pub fn fill_virtual_tables(&self, target: &Connection, filled: &[String]) -> Result<Vec<(&str, u64)>> {
        let others = self.virtual_tables.iter().filter(|table| !filled.contains(&table.name));
        others.map(|table| Ok((table.name.as_str(), table.fill(target, &self.surveys)?))).collect()
    }

    /// Explains an id that rows of a virtual table have in two shards. Other errors stay as they are.
    pub fn explain_id(&self, error: Error, table: &str) -> Error {
        if error.kind() != ErrorKind::Constraint || !error.message().starts_with("UNIQUE constraint failed") {
            return error;
        }
        let place = error.place();
        let named = Error::new(ErrorKind::Constraint, "two databases have a row of the virtual table with this id");
        let named = match &place.value {
            Some(id) => named.with_value(id.clone()),
            None => named,
        };
        named.in_table(table).advise(message![
            "leave the table out with ",
            OptionName::SkipTable.word(table.to_owned()),
            ", and make it again afterwards"
        ])
    }

    /// Explains a key that two rows have: says which shards have it, and what can be done.
    pub fn explain(&self, error: Error) -> Error {
        crate::conflict::explain(error, &self.schema, &self.surveys, &self.tables)
    }
}

/// Removes the tables that are left out, with all that belongs to them.
fn without_skipped<'s>(agreed: Vec<AgreedObject<'s>>, skipped: &[String]) -> Result<Vec<AgreedObject<'s>>> {
    let is_table = |name: &str| {
        let is_it =
            |agreed: &AgreedObject<'_>| agreed.object.kind == "table" && agreed.object.name.eq_ignore_ascii_case(name);
        agreed.iter().any(is_it)
    };
    if let Some(name) = skipped.iter().find(|name| !is_table(name)) {
        let text = message![OptionName::SkipTable.alone().given(), format!(": the databases have no table {name}")];
        return Err(Error::new(ErrorKind::Usage, text));
    }
    let is_kept =
        |agreed: &AgreedObject<'_>| !skipped.iter().any(|name| agreed.object.table.eq_ignore_ascii_case(name));
    Ok(agreed.into_iter().filter(is_kept).collect())
}

/// Returns the statements of the merged database.
fn statements(agreed: &[AgreedObject<'_>], source_column: Option<&str>) -> Result<Vec<String>> {
    let statements = agreement::statements(agreed);
    let Some(column) = source_column else { return Ok(statements.into_iter().map(str::to_owned).collect()) };
    let is_merged =
        |agreed: &&AgreedObject<'_>| matches!(agreed.kind, Some(TableKind::Rowid(_) | TableKind::WithoutRowid));
    let tables: Vec<&str> = agreed.iter().filter(is_merged).map(|agreed| agreed.object.name.as_str()).collect();
    with_column(&statements, &tables, column)
}

/// Returns the PRAGMAs of the file.
fn settings(surveys: &[Survey], notes: &mut Vec<Message>, has_page_size: bool) -> String {
    let first = &surveys[0];
    let mut text = String::new();
    let mut pragma = |name: &str, value: i64| text.push_str(&format!("PRAGMA {name} = {value};\n"));
    if first.settings.page_size != DEFAULT_PAGE_BYTES {
        pragma("page_size", first.settings.page_size.into());
    }
    if let Some(other) = surveys.iter().find(|survey| survey.settings.page_size != first.settings.page_size)
        && !has_page_size
    {
        let (one, two) = (first.name.display(), other.name.display());
        let [of_one, of_two] = [first, other].map(|survey| survey.settings.page_size);
        let text =
            format!("pages have {of_one} bytes as in {one}; they have {of_two} in {two}; choose their size with ");
        notes.push(message![text, OptionName::PageSize.alone()]);
    }
    let fields = [
        ("user_version", surveys.iter().map(|survey| survey.settings.user_version).collect::<Vec<i32>>()),
        ("application_id", surveys.iter().map(|survey| survey.settings.application_id).collect()),
    ];
    for (name, values) in fields {
        if values[0] != 0 {
            pragma(name, values[0].into());
        }
        if let Some(other) = values.iter().position(|value| *value != values[0]) {
            let (one, two) = (first.name.display(), surveys[other].name.display());
            let note = format!("{name} is {} as in {one}; it is {} in {two}", values[0], values[other]);
            notes.push(note.into());
        }
    }
    if surveys.iter().all(|survey| survey.settings.is_wal) {
        text.push_str("PRAGMA journal_mode = WAL;\n");
    }
    let odd =
        |is_odd: fn(&Survey) -> bool| surveys.iter().find(|survey| is_odd(survey)).map(|survey| survey.name.display());
    if let Some(name) = odd(|survey| survey.settings.encoding != TextEncoding::Utf8) {
        notes.push(format!("texts are UTF-8; they are UTF-16 in {name}").into());
    }
    if let Some(name) = odd(|survey| survey.settings.auto_vacuum != 0) {
        notes.push(format!("the database has no auto_vacuum; {name} has it").into());
    }
    text
}

/// Returns the statements of the same objects, with one more column in these tables.
fn with_column(statements: &[&str], tables: &[&str], column: &str) -> Result<Vec<String>> {
    let refused = |table: &str, error: rusqlite::Error| {
        let given = OptionName::SourceColumn.word(column.to_owned()).given();
        let text = message![given, format!(": the column cannot be added: {error}")];
        Error::new(ErrorKind::Usage, text).in_table(table).caused_by(error)
    };
    let failed = |error: rusqlite::Error| {
        let message = format!("SQLite refuses the schema of the databases: {error}");
        Error::new(ErrorKind::Schema, message).caused_by(error)
    };
    let connection = Connection::open_in_memory().map_err(failed)?;
    for sql in statements {
        connection.execute_batch(sql).map_err(failed)?;
    }
    for table in tables {
        let sql = format!("ALTER TABLE {} ADD COLUMN {} TEXT", quoted_name(table), quoted_name(column));
        connection.execute_batch(&sql).map_err(|error| refused(table, error))?;
    }
    schema_statements(&connection).map_err(failed)
}

fn virtual_tables(schema: &Schema, agreed: &[AgreedObject<'_>]) -> Result<Vec<VirtualTable>> {
    let is_virtual = |table: &&Table| table.is_virtual;
    let find = |table: &Table| {
        let is_it = |agreed: &&AgreedObject<'_>| agreed.object.name.eq_ignore_ascii_case(&table.name);
        let sql = agreed.iter().find(is_it).map_or("", |agreed| agreed.object.sql.as_str());
        VirtualTable::new(table, sql)
    };
    schema.tables.iter().filter(is_virtual).map(find).collect()
}

/// Refuses renumbered rowids that virtual tables may refer to.
fn refuse_unfollowed(
    with_rows: &[&VirtualTable],
    schema: &Schema,
    tables: &[TablePlan],
    policies: &Policies<'_>,
) -> Result<()> {
    let shifted = schema.tables.iter().zip(tables).find(|(_, plan)| plan.is_shifted());
    let is_unsaid = |table: &&&VirtualTable| !policies.names(&table.name);
    let (Some((shifted, _)), Some(unfollowed)) = (shifted, with_rows.iter().find(is_unsaid)) else { return Ok(()) };
    let message = format!(
        "the rows of this virtual table may have the rowids of {}, which are renumbered: nothing says whether they should follow",
        shifted.name
    );
    Err(Error::new(ErrorKind::Unsupported, message).in_table(&unfollowed.name).advise(message![
        "if they are of their own, say ",
        OptionName::Rowids.pair(&unfollowed.name, "keep"),
        "; or leave the table out with ",
        OptionName::SkipTable.word(unfollowed.name.clone()),
        ", and make it again afterwards"
    ]))
}
