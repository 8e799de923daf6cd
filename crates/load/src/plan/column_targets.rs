//! Plans the files of a table: the target of each column.

use super::content::Content;
use super::groups::{Found, Group};
use super::selection::is_named;
use super::{LoadRequest, PlannedFile, PlannedTable};
use crate::csv::HEADER_HAS;
use crate::infer::{Conversion, InferredColumn};
use crate::options::Format;
use crate::reader::{FileColumn, TextFormat};
use crate::schema::{self, LACKS_COLUMNS};
use litepress_rows::cells::OwnedValue;
use litepress_rows::{Affinity, Error, ErrorKind, OptionName, Result, Schema, Table, message};
use std::sync::Mutex;

impl LoadRequest {
    /// Plans the files of a table: the target of each column.
    pub(super) fn plan_table(
        &self,
        schema: &Schema,
        group: Group,
        found: Found,
        go_on: &(dyn Fn() -> Result<()> + Sync),
    ) -> Result<PlannedTable, Vec<Error>> {
        let Some(position) = schema.position(&group.name) else {
            let known: Vec<&str> = schema.tables.iter().map(|table| table.name.as_str()).collect();
            let error = Error::new(ErrorKind::Schema, format!("the schema has no table {}", group.name));
            let has = format!("it has {}", known.join(", "));
            if group.is_given() {
                return Err(vec![error.advise(has)]);
            }
            let advice = message![has, "; ", OptionName::Table.alone(), " says which one the files go to"];
            return Err(vec![error.in_file(&schema.origin).advise(advice)]);
        };
        let table = &schema.tables[position];
        let is_copied = group.copied.is_some() && (self.schema.is_none() || self.keep.is_some());
        let exists = self.existing.as_ref().is_some_and(|existing| existing.schema.position(&group.name).is_some());
        let limit = self.limit_of(&group);
        let (mut files, mut mistakes) = (Vec::new(), Vec::new());
        for (number, content) in group.contents.into_iter().enumerate() {
            let fields = found.fields.get(number).map(Vec::as_slice);
            match self.plan_file(table, content, fields, &found, go_on) {
                Ok(file) => files.push(file),
                Err(errors) => mistakes.extend(errors),
            }
        }
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        self.refuse_different_columns(table, &files).map_err(|error| vec![error])?;
        self.null_different_columns(table, &mut files);
        let records = found.records.or_else(|| files.iter().map(|file| file.records).sum());
        let records = records.map(|records: u64| records.min(limit.unwrap_or(u64::MAX)));
        Ok(PlannedTable { table: position, decisions: found.decisions, records, files, limit, is_copied, exists })
    }

    fn plan_file(
        &self,
        table: &Table,
        mut content: Content,
        fields: Option<&[FileColumn]>,
        found: &Found,
        go_on: &(dyn Fn() -> Result<()> + Sync),
    ) -> Result<PlannedFile, Vec<Error>> {
        let decisions: &[InferredColumn] = &found.decisions;
        let by_key = match (fields, content.input().map(|input| input.format)) {
            (None, Some(Format::Json)) => {
                Some(self.fields_by_key(table, &mut content, go_on).map_err(|error| vec![error])?)
            }
            _ => None,
        };
        let reader = content.open(&self.read).map_err(|error| vec![error])?;
        let naming = content.naming(&self.read, &*reader);
        let known = by_key.or(fields.map(<[FileColumn]>::to_vec)).unwrap_or_else(|| reader.columns().to_vec());
        let of_file = |error: Error| content.in_file(error);
        let added = self.source_column.as_deref().zip(content.input());
        let added = added.map(|(column, input)| (column, OwnedValue::Text(input.name.display().to_string())));
        let empty = known.iter().filter(|field| found.empty.contains(&field.name));
        let empty: Vec<String> = empty.map(|field| field.name.clone()).collect();
        let is_kept = self.keeps(&content);
        let mut map = if is_kept { Vec::new() } else { self.map_of(&table.name, &known) };
        map.extend(empty.iter().map(|name| (name.clone(), String::new())));
        let mut mapping = schema::matching(table, &known, naming, &map, added).map_err(|errors| {
            let lacks_columns = errors.iter().any(|error| error.message().starts_with(LACKS_COLUMNS));
            let why = reader.text_format().filter(|_| lacks_columns).and_then(missing_name);
            let errors = errors.into_iter().map(|error| self.offer_columns(table, error));
            errors.chain(why).map(of_file).collect::<Vec<Error>>()
        })?;
        for (column, form) in self.store_as.iter().filter(|_| !is_kept) {
            let projected =
                mapping.projected.iter_mut().filter(|projected| is_named(&table.name, &projected.name, column));
            projected.for_each(|projected| projected.form = Some(form.clone()));
        }
        let (mut type_checks, mut conversions) = (Vec::new(), Vec::new());
        let names: Vec<String> = known.iter().map(|field| field.name.clone()).collect();
        for (position, projected) in mapping.projected.iter_mut().enumerate() {
            let name = self.name_in_table(&projected.name, &names);
            let decision = decisions.iter().find(|decision| decision.name.eq_ignore_ascii_case(name));
            projected.is_needed = self.needed_keys.has(name);
            projected.most_digits = found.most_digits.get(&projected.name).copied();
            projected.empty_is_null = decision.is_some_and(|decision| decision.empty_is_null);
            type_checks.extend(decision.filter(|_| self.sample.is_some()).map(|decision| (position, decision.clone())));
            let rounds = decision.is_some_and(InferredColumn::rounds);
            let is_number = matches!(projected.affinity, Affinity::Integer | Affinity::Real | Affinity::Numeric);
            if is_number && !is_kept && (rounds || !self.read.words.is_empty()) {
                conversions.push((position, Conversion { words: self.read.words.clone(), rounds }));
            }
        }
        let records = reader.records();
        let mut text_format = reader.text_format().cloned();
        if let (Some(format), false) = (&mut text_format, empty.is_empty()) {
            format.notes.push(format!("left out columns without name and values: {}", empty.join(", ")));
        }
        let reader = (!content.can_be_read_twice()).then_some(reader);
        let ignored = self.map.iter().filter(|(_, to)| to.is_empty()).map(|(from, _)| from.clone()).collect();
        let ignored = self.select.is_empty().then_some(ignored);
        Ok(PlannedFile {
            content,
            mapping,
            ignored,
            type_checks,
            conversions,
            records,
            text_format,
            reader: Mutex::new(reader),
        })
    }

    /// Fails if `store_as` names a column that no table takes from a file.
    pub(super) fn refuse_forms_of_no_column(&self, schema: &Schema, tables: &[PlannedTable]) -> Result<()> {
        let mut taken = Vec::new();
        for planned in tables {
            let (table, projected) =
                (&schema.tables[planned.table].name, planned.files.iter().flat_map(|file| &file.mapping.projected));
            taken.extend(projected.map(|projected| (table.as_str(), projected.name.as_str())));
        }
        for (column, form) in &self.store_as {
            if !taken.iter().any(|(table, name)| is_named(table, name, column)) {
                let given = OptionName::StoreAs.pair(column, form).given();
                let message = message![given, format!(": no table takes a column {column}")];
                let error = Error::new(ErrorKind::Usage, message);
                let names: Vec<&str> = taken.iter().map(|(_, name)| *name).collect();
                return Err(error.advise(format!("there are {}", names.join(", "))));
            }
        }
        Ok(())
    }
}

/// Tells of a header that lacks the name of a column, which got one that no one wrote.
fn missing_name(format: &TextFormat) -> Option<Error> {
    let note = format.notes.iter().find(|note| note.starts_with(HEADER_HAS))?;
    Some(Error::new(ErrorKind::Data, note.clone()).at(format.header_line?, 1))
}
