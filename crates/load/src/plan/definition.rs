//! Defines tables: those of databases as in their database, others from the contents of their files.

use super::LoadRequest;
use super::content::Content;
use super::groups::{Found, Group};
use super::selection::is_named;
use crate::arrow;
use crate::database_copy::{self, CopiedTable, DatabaseCopy};
use crate::infer::{self, FileStats, InferredColumn};
use crate::input::Input;
use crate::options::Format;
use crate::reader::{DecimalRange, FileColumn, FileColumnKind, Reader};
use crate::schema::{self, NewTable, Origin, TableOptions};
use litepress_rows::{Conflict, Error, ErrorKind, Message, OptionName, Result, Schema, Table, message};
use std::collections::{BTreeMap, HashMap, HashSet};

impl LoadRequest {
    /// Defines the tables: tables of databases as in their database, others from the contents of their files.
    pub(super) fn define(
        &self,
        groups: &mut [Group],
        copy: &mut DatabaseCopy,
        go_on: &(dyn Fn() -> Result<()> + Sync),
    ) -> Result<(Schema, Vec<Found>)> {
        let (mut new, mut found) = (Vec::new(), Vec::new());
        for group in groups.iter_mut() {
            let mut of_group = self.infer_types(group, go_on)?;
            match &group.copied {
                Some(_) => of_group.decisions.clear(),
                None => {
                    self.rename(&mut of_group.decisions);
                    self.refuse_empty_selection(group, &of_group)?;
                    self.add_source_column(group, &mut of_group.decisions)?;
                    refuse_impossible(group, &of_group.decisions, of_group.first_bad.take())?;
                    new.push(NewTable { name: group.name.clone(), columns: of_group.decisions.clone() });
                }
            }
            found.push(of_group);
        }
        let options = self.options_of_new(groups, copy, &new)?;
        self.refuse_unknown_names(&found)?;
        self.refuse_unknown_selection(groups, &found)?;
        let created =
            if new.is_empty() { String::new() } else { schema::create(&mut new, &options).map_err(Error::all_of)? };
        let copied: Vec<&CopiedTable> = groups.iter().filter_map(|group| group.copied.as_ref()).collect();
        let sql = copy.settings() + &copy.definitions(&copied, &created)?;
        let inferred = groups.iter().zip(&mut found).filter(|(group, _)| group.copied.is_none());
        for ((_, found), table) in inferred.zip(new) {
            found.decisions = table.columns;
        }
        let schema = Schema::from_sql(&sql, database_copy::ORIGIN)?;
        // Virtual tables of databases come with their shadow tables.
        Ok((schema.with_shadow_tables(|name| groups.iter().any(|group| group.is_copy_of(name))), found))
    }

    /// Returns the options of the new tables. Fails if some say what a copied table is not: the copy keeps its definition. Skips the tables
    /// that a target keeps.
    fn options_of_new(&self, groups: &[Group], copy: &mut DatabaseCopy, new: &[NewTable]) -> Result<TableOptions> {
        let is_read = |group: &&Group| !group.contents.iter().any(|content| self.keeps(content));
        let copied = groups.iter().filter(is_read).filter_map(|group| group.copied.as_ref());
        let copied: Vec<&CopiedTable> = copied.filter(|copied| !copied.is_shadow).collect();
        // SQLite takes a while for the definitions of a database with thousands of tables.
        if copied.is_empty() || self.options == TableOptions::default() {
            return Ok(self.options.clone());
        }
        let schema = Schema::from_sql(&copy.definitions_without_triggers(&copied, ""), database_copy::ORIGIN)?;
        let tables: Vec<&Table> = copied.iter().filter_map(|copied| schema.table(&copied.table.name)).collect();
        let origin = Origin::Source { beside_new: !new.is_empty() };
        let mut mistakes: Vec<Error> =
            tables.iter().flat_map(|table| schema::disagreements(&schema, table, &self.options, origin)).collect();
        if new.is_empty() {
            mistakes.extend(schema::idle_options(&tables, &self.options));
            mistakes.extend(schema::unused_full_text_options(&self.options));
        }
        if !mistakes.is_empty() {
            return Err(Error::all_of(mistakes));
        }
        if !new.is_empty() {
            self.note_plain_copies(&tables, copy);
        }
        Ok(schema::options_of_new(&self.options, &tables, new))
    }

    /// Notes the copied tables that differ from what the options say of new ones.
    fn note_plain_copies(&self, tables: &[&Table], copy: &mut DatabaseCopy) {
        let options = [
            (self.options.strict, OptionName::Strict, (|table| table.strict) as fn(&Table) -> bool),
            (self.options.without_rowid, OptionName::WithoutRowid, |table| table.without_rowid),
        ];
        for (_, option, is_so) in options.into_iter().filter(|(is_given, ..)| *is_given) {
            let others: Vec<&str> =
                tables.iter().filter(|table| !is_so(table)).map(|table| table.name.as_str()).collect();
            if !others.is_empty() {
                let others = others.join(", ");
                let option = option.alone().given();
                copy.notes.push(message![option, " is for new tables: copied ones keep their definition: ", others]);
            }
        }
    }

    /// Scans the files of a table: text files in full, to infer types.
    pub(super) fn infer_types(&self, group: &mut Group, go_on: &(dyn Fn() -> Result<()> + Sync)) -> Result<Found> {
        let (mut findings, mut found) = (FileStats::default(), Found::default());
        let (mut fields, mut names): (Vec<FileColumn>, HashSet<String>) = Default::default();
        let (mut records, mut unnamed, mut decimals) = (Some(0), BTreeMap::new(), Decimals::default());
        for (number, content) in (0..).zip(&mut group.contents) {
            let Inspected { columns, records: of_content, named, ranges } =
                self.inspect(number, content, &mut findings, go_on)?;
            decimals.add(&columns, ranges);
            for (position, column) in columns.iter().enumerate() {
                *unnamed.entry(column.name.clone()).or_insert(true) &= position >= named;
            }
            found.first_bad = found.first_bad.or_else(|| findings.take_first_bad().map(|error| content.in_file(error)));
            records = records.zip(of_content).map(|(sum, all)| sum + all);
            for field in &columns {
                if names.insert(field.name.clone()) {
                    fields.push(field.clone());
                }
            }
            found.fields.push(columns);
        }
        found.most_digits = decimals.become_numbers(&mut fields);
        let names: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
        if self.select.is_empty() {
            self.join_mapped(&mut fields, &names, &found.fields, &mut findings);
        }
        found.decisions = findings.decide(&fields, self.options.strict, self.sample, &|column| {
            schema::numbers_of(&self.options.numbers, &group.name, self.name_in_table(column, &names))
        });
        self.select_columns(&group.name, &mut found.decisions);
        if self.sample.is_none() {
            unnamed
                .retain(|name, is_unnamed| *is_unnamed && findings.of(name).is_none_or(|column| column.values() == 0));
            found.decisions.retain(|decision| !unnamed.contains_key(&decision.name));
            found.empty = unnamed.into_keys().collect();
        }
        self.declare_forms(&group.name, &mut found.decisions);
        found.records = records.map(|records| records.min(self.limit_of(group).unwrap_or(u64::MAX)));
        Ok(found)
    }

    /// Inspects one file of a table: scans a text for types, and finds the ranges of decimals.
    fn inspect(
        &self,
        number: u32,
        content: &mut Content,
        findings: &mut FileStats,
        go_on: &(dyn Fn() -> Result<()> + Sync),
    ) -> Result<Inspected> {
        let typed = |columns, records, ranges| Inspected { columns, records, named: usize::MAX, ranges };
        if let Some((columns, records)) = content.known() {
            return Ok(typed(columns, records, Vec::new()));
        }
        if let Content::File(input) = content {
            input.spool(&self.temp_dir, &|| go_on())?;
        }
        let mut reader = content.open(&self.read)?;
        let text = |input: &&Input| matches!(input.format, Format::Csv | Format::Json | Format::Spreadsheet);
        let Some(input) = content.input().filter(text) else {
            let ranges = if self.sample.is_none() { reader.decimal_ranges(&|| go_on())? } else { Vec::new() };
            return Ok(typed(reader.columns().to_vec(), reader.records(), ranges));
        };
        let named = reader.text_format().map_or(usize::MAX, |format| format.named);
        let limit = self.sample.into_iter().chain(self.limit).min();
        let mut of_file = infer::scan_types(&mut *reader, self.threads, limit, &self.read.words, go_on)
            .map_err(|error| content.in_file(error))?;
        of_file.in_file(number, &input.name);
        let all = if self.sample.is_none() { Some(of_file.records) } else { None };
        let mut columns = fields_of(&*reader, &of_file);
        if self.conflict == Conflict::Update && input.format == Format::Json {
            // The scan reads whole pieces. A key of later records is none that the others lack.
            columns.retain(|field| of_file.of(&field.name).is_none_or(|column| column.is_within(limit)));
        }
        findings.merge(of_file);
        Ok(Inspected { columns, records: all, named, ranges: Vec::new() })
    }

    /// Changes the declared type of columns that are stored in another form.
    fn declare_forms(&self, table: &str, decisions: &mut [InferredColumn]) {
        for (column, form) in &self.store_as {
            // An unknown form is reported by the column itself, which lists its forms.
            let Some(declared) = arrow::declared_type_of_form(form) else { continue };
            for decision in decisions.iter_mut().filter(|decision| is_named(table, &decision.name, column)) {
                *decision = decision.overridden(declared, self.options.strict, OptionName::StoreAs);
            }
        }
    }
}

/// The result of inspecting one file of a table.
struct Inspected {
    columns: Vec<FileColumn>,
    /// Number of records, if it is known now.
    records: Option<u64>,
    /// Number of columns up to the last one that has a name.
    named: usize,
    /// The ranges of decimals, by position of their column.
    ranges: Vec<(usize, DecimalRange)>,
}

/// The ranges of decimals in all files of a table.
#[derive(Default)]
struct Decimals(HashMap<String, Option<DecimalRange>>);

impl Decimals {
    /// Adds the columns of a file. A column that is something else in one of the files has no range.
    fn add(&mut self, columns: &[FileColumn], ranges: Vec<(usize, DecimalRange)>) {
        let mut ranges: HashMap<usize, DecimalRange> = ranges.into_iter().collect();
        for (position, column) in columns.iter().enumerate() {
            let range = ranges.remove(&position);
            match self.0.get_mut(&column.name) {
                None => drop(self.0.insert(column.name.clone(), range)),
                Some(known) => match (&mut *known, range) {
                    (Some(known), Some(range)) => known.merge(&range),
                    _ => *known = None,
                },
            }
        }
    }

    /// Changes the types of decimals that are numbers by their ranges. Returns their largest numbers of digits, by name.
    fn become_numbers(&self, fields: &mut [FileColumn]) -> HashMap<String, u8> {
        let mut most_digits = HashMap::new();
        for field in fields {
            let FileColumnKind::Typed { not_null, .. } = field.kind else { continue };
            let range = self.0.get(&field.name).and_then(Option::as_ref);
            if let Some((kind, digits)) = range.and_then(|range| arrow::number_column(range, not_null)) {
                field.kind = kind;
                most_digits.insert(field.name.clone(), digits);
            }
        }
        most_digits
    }
}

/// The default limit of columns in a table of SQLite (`SQLITE_MAX_COLUMN`).
const MOST_COLUMNS: usize = 2000;

/// Fails if no table can be defined: it has no columns, too many, or a reserved name. Without columns, the first bad record tells
/// why.
fn refuse_impossible(group: &Group, decisions: &[InferredColumn], first_bad: Option<Error>) -> Result<()> {
    let data = |message: &str, advice: Message| {
        let error = Error::new(ErrorKind::Data, message);
        // Options are no advice for given data.
        if group.is_given() { error.in_table(&group.name) } else { group.contents[0].in_file(error).advise(advice) }
    };
    if let (true, Some(error)) = (decisions.is_empty(), first_bad) {
        return Err(error);
    }
    if decisions.is_empty() {
        let message = if group.is_given() {
            "the data have no column, and a table needs one"
        } else {
            "no record has a key, so the table would have no column"
        };
        return Err(data(message, message!["define the table: ", OptionName::Schema.word("FILE.sql")]));
    }
    if decisions.len() > MOST_COLUMNS {
        let message = format!("there are {} columns, and a SQLite table has at most {MOST_COLUMNS}", decisions.len());
        return Err(data(&message, message!["leave some out: ", OptionName::Map.pair("COLUMN", "")]));
    }
    if group.name.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("sqlite_")) {
        let message = format!("the table would be called {}, and SQLite keeps such names for itself", group.name);
        return Err(data(&message, message!["say another name: ", OptionName::Table.alone()]));
    }
    Ok(())
}

/// Returns the columns of a text file after its scan.
fn fields_of(reader: &dyn Reader, findings: &FileStats) -> Vec<FileColumn> {
    if !reader.columns().is_empty() {
        return reader.columns().to_vec();
    }
    let field = |name: &String| FileColumn { name: name.clone(), kind: FileColumnKind::Text };
    findings.columns().iter().map(|finding| field(&finding.name)).collect()
}
