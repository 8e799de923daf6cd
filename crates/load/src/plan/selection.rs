//! The columns of files that are read, renamed and added.

use super::LoadRequest;
use super::groups::{Found, Group};
use crate::infer::{FileStats, InferredColumn};
use crate::reader::FileColumn;
use litepress_rows::{Error, ErrorKind, OptionName, Result, message};

impl LoadRequest {
    /// Adds the column for the name of the file.
    pub(super) fn add_source_column(&self, group: &Group, decisions: &mut Vec<InferredColumn>) -> Result<()> {
        let Some(column) = &self.source_column else { return Ok(()) };
        if decisions.is_empty() {
            return Ok(());
        }
        if decisions.iter().any(|decision| decision.name.eq_ignore_ascii_case(column)) {
            let given = OptionName::SourceColumn.word(column.clone()).given();
            let error = Error::new(ErrorKind::Usage, message![given, ": the files have a column of this name"]);
            return Err(group.contents[0].in_file(error).advise("say another name"));
        }
        let reason = message!["the name of the file (", OptionName::SourceColumn.alone(), ")"];
        decisions.push(InferredColumn::of_text(column, reason));
        Ok(())
    }

    /// Fails if a table has columns, but none that is selected.
    pub(super) fn refuse_empty_selection(&self, group: &Group, found: &Found) -> Result<()> {
        let mut fields = found.fields.iter().flatten().map(|field| field.name.as_str()).collect::<Vec<_>>();
        if self.select.is_empty() || fields.is_empty() || fields.iter().any(|field| self.selects(&group.name, field)) {
            return Ok(());
        }
        let given = OptionName::Select.names(self.select.iter().map(String::as_str)).given();
        let error = Error::new(ErrorKind::Usage, message![given, ": the file has no such column"]);
        fields.dedup();
        Err(group.contents[0].in_file(error).advise(format!("it has {}", fields.join(", "))))
    }

    /// Fails if a column is selected, or added, in a table that is copied with its definition.
    pub(super) fn refuse_selection_of_copies(&self, groups: &[Group]) -> Result<()> {
        let given = match (self.select.is_empty(), &self.source_column) {
            (false, _) => OptionName::Select.alone().given(),
            (true, Some(_)) => OptionName::SourceColumn.alone().given(),
            (true, None) => return Ok(()),
        };
        let copied = groups.iter().find(|group| group.copied.is_some() && self.schema.is_none());
        let Some(copied) = copied else { return Ok(()) };
        let message = message![given, " cannot change a table that is copied with its definition"];
        let error = Error::new(ErrorKind::Usage, message).in_table(&copied.name);
        Err(error.advise(message!["define the table: ", OptionName::Schema.word("FILE.sql")]))
    }

    /// Fails if a limit would cut tables that describe the rows of others: those of a virtual table, or of a GeoPackage.
    pub(super) fn refuse_limit_of_copies(&self, groups: &[Group]) -> Result<()> {
        let Some(limit) = self.limit else { return Ok(()) };
        for group in groups.iter().filter(|group| self.limit_of(group).is_some()) {
            let what = match &group.copied {
                Some(copied) if copied.is_shadow => "belongs to a virtual table",
                Some(_) if group.name.eq_ignore_ascii_case("gpkg_contents") => "describes the layers of a GeoPackage",
                _ => continue,
            };
            let given = OptionName::Limit.word(limit.to_string()).given();
            let message = message![given, format!(": the table {what}, and must agree with all rows of others")];
            let error = Error::new(ErrorKind::Usage, message).in_table(&group.name);
            return Err(group.contents[0].in_file(error).advise(message![
                "load one table of the database: ",
                OptionName::Table.alone(),
                ", or leave the limit out"
            ]));
        }
        Ok(())
    }

    /// Returns the largest number of records of a table. One that a replaced database keeps has no limit.
    pub(super) fn limit_of(&self, group: &Group) -> Option<u64> {
        self.limit.filter(|_| !group.contents.iter().any(|content| self.keeps(content)))
    }

    /// Returns whether a column of a table's files is read.
    pub(super) fn selects(&self, table: &str, column: &str) -> bool {
        self.select.is_empty() || self.select.iter().any(|asked| is_named(table, column, asked))
    }

    /// Fails if `select` names a column that no file has.
    pub(super) fn refuse_unknown_selection(&self, groups: &[Group], found: &[Found]) -> Result<()> {
        let fields = |found: &Found| found.fields.iter().flatten().map(|field| field.name.clone()).collect::<Vec<_>>();
        let known: Vec<(&str, Vec<String>)> =
            groups.iter().zip(found).map(|(group, found)| (group.name.as_str(), fields(found))).collect();
        for asked in &self.select {
            if !known.iter().any(|(table, names)| names.iter().any(|name| is_named(table, name, asked))) {
                let given = OptionName::Select.word(asked.clone()).given();
                let error = Error::new(ErrorKind::Usage, message![given, ": no file has such a column"]);
                let mut names: Vec<&str> = known.iter().flat_map(|(_, names)| names).map(String::as_str).collect();
                names.dedup();
                return Err(error.advise(format!("there are {}", names.join(", "))));
            }
        }
        let is_read = |column: &str| {
            let known = known.iter().flat_map(|(table, names)| names.iter().map(move |name| (table, name)));
            known.into_iter().any(|(table, name)| name.eq_ignore_ascii_case(column) && self.selects(table, name))
        };
        match self.map.iter().find(|(from, to)| !to.is_empty() && !is_read(from)) {
            None => Ok(()),
            Some((from, to)) => {
                let (map, select) = (OptionName::Map.pair(from, to).given(), OptionName::Select.alone().given());
                let error = Error::new(ErrorKind::Usage, message![map, ": ", select, format!(" leaves out {from}")]);
                Err(error.advise("select it, too"))
            }
        }
    }

    /// Keeps the selected columns of a table, in the order of the selection.
    pub(super) fn select_columns(&self, table: &str, decisions: &mut Vec<InferredColumn>) {
        let place = |name: &str| self.select.iter().position(|asked| is_named(table, name, asked));
        decisions.retain(|decision| self.selects(table, &decision.name));
        decisions.sort_by_key(|decision| place(&decision.name));
    }

    /// Returns the table's name of a file column, one of `names`. Empty if the column is dropped. An entry of `map` is for the
    /// column of exactly its name, or else for those that differ in case.
    pub(super) fn name_in_table<'n>(&'n self, name: &'n str, names: &[impl AsRef<str>]) -> &'n str {
        let is_for_another = |from: &str| names.iter().any(|name| name.as_ref() == from);
        let mapped = self.map.iter().find(|(from, _)| from == name);
        let alike = |(from, _): &&(String, String)| from.eq_ignore_ascii_case(name) && !is_for_another(from);
        mapped.or_else(|| self.map.iter().find(alike)).map_or(name, |(_, to)| to)
    }

    /// Joins columns of different files that `map` gives one name, so that the values of all decide about its type. `names` are those
    /// of all columns.
    pub(super) fn join_mapped(
        &self,
        fields: &mut Vec<FileColumn>,
        names: &[String],
        files: &[Vec<FileColumn>],
        findings: &mut FileStats,
    ) {
        let is_in = |file: &[FileColumn], name: &str| file.iter().any(|field| field.name == name);
        let mut at = usize::from(!self.map.is_empty());
        while at > 0 && at < fields.len() {
            let (field, target) = (&fields[at], self.name_in_table(&fields[at].name, names));
            let is_same = |other: &FileColumn| {
                let is_beside = files.iter().any(|file| is_in(file, &other.name) && is_in(file, &field.name));
                let is_alike = || self.name_in_table(&other.name, names).eq_ignore_ascii_case(target);
                other.kind == field.kind && !is_beside && is_alike()
            };
            match fields[..at].iter().find(|other| !target.is_empty() && is_same(other)) {
                Some(first) => {
                    findings.join(&field.name, &first.name);
                    fields.remove(at);
                }
                None => at += 1,
            }
        }
    }

    /// Returns the targets of the columns of one file: the entries of `map` for them, and nothing for those that are not selected.
    pub(super) fn map_of(&self, table: &str, known: &[FileColumn]) -> Vec<(String, String)> {
        let is_mapped = |name: &str| self.map.iter().any(|(from, _)| from.eq_ignore_ascii_case(name));
        let unselected = known.iter().filter(|field| !self.selects(table, &field.name) && !is_mapped(&field.name));
        let unselected = unselected.map(|field| (field.name.clone(), String::new()));
        self.given_map_of(known).into_iter().chain(unselected).collect()
    }

    /// Returns the entries of `map` for the columns of one file. With a schema and a single file these are all entries, so that
    /// an unknown column is an error.
    fn given_map_of(&self, known: &[FileColumn]) -> Vec<(String, String)> {
        if self.schema.is_some() && self.inputs.len() == 1 {
            return self.map.clone();
        }
        let has = |name: &str| known.iter().any(|field| field.name.eq_ignore_ascii_case(name));
        self.map.iter().filter(|(from, _)| has(from)).cloned().collect()
    }

    /// Fails if `map` or the formats of dates name a column that no file has.
    pub(super) fn refuse_unknown_names(&self, found: &[Found]) -> Result<()> {
        let fields: Vec<&FileColumn> = found.iter().flat_map(|found| &found.fields).flatten().collect();
        for (column, pattern) in &self.read.values.dates {
            if !fields.iter().any(|field| field.name.eq_ignore_ascii_case(column)) {
                let known: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
                let given = OptionName::DateFormat.pair(column, pattern).given();
                let error = Error::new(ErrorKind::Usage, message![given, format!(": no file has a column {column}")]);
                return Err(error.advise(format!("there are {}", known.join(", "))));
            }
        }
        for (from, to) in &self.map {
            if !fields.iter().any(|field| field.name.eq_ignore_ascii_case(from)) {
                let known: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
                let error = if self.inputs.is_empty() {
                    Error::new(ErrorKind::Usage, format!("no data have a column {from}, which is to be called {to}"))
                } else {
                    let given = OptionName::Map.pair(from, to).given();
                    Error::new(ErrorKind::Usage, message![given, format!(": no file has a column {from}")])
                };
                return Err(error.advise(format!("there are {}", known.join(", "))));
            }
        }
        Ok(())
    }

    /// Renames columns as `map` says and drops those with an empty name.
    pub(super) fn rename(&self, decisions: &mut Vec<InferredColumn>) {
        let names: Vec<String> = decisions.iter().map(|decision| decision.name.clone()).collect();
        for (decision, name) in decisions.iter_mut().zip(&names) {
            decision.name = self.name_in_table(name, &names).to_owned();
        }
        decisions.retain(|decision| !decision.name.is_empty());
    }
}

/// Returns whether `asked` means this column: `COLUMN` or `TABLE.COLUMN`.
pub(super) fn is_named(table: &str, column: &str, asked: &str) -> bool {
    let with_table = || {
        let (of, name) = (asked.get(..table.len())?, asked.get(table.len()..)?.strip_prefix('.')?);
        Some(of.eq_ignore_ascii_case(table) && name.eq_ignore_ascii_case(column))
    };
    asked.eq_ignore_ascii_case(column) || with_table() == Some(true)
}
