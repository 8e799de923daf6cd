//! Tables that the copy has WITHOUT ROWID: their rows are sorted by the primary key, and their indexes are built anew.

use super::choice::Choice;
use super::source::{Object, SourceDatabase};
use crate::{Error, ErrorKind, Result, Schema};
use litepress_engine::{CopiedDatabase, CopiedTree};
use litepress_format::header::{SCHEMA_FORMAT, TextEncoding};
use litepress_format::record;
use litepress_format::value::Value;
use litepress_rows::schema::{BrokenObject, Generated, OlderRows, Table};
use litepress_rows::{Message, OptionName, Part, RecordChunk, Source, message};
use std::sync::atomic::{AtomicU64, Ordering};

/// A table that becomes a WITHOUT ROWID table.
pub(super) struct Conversion {
    /// The table of the copy.
    pub table: Table,
    /// Its CREATE TABLE statement.
    pub sql: String,
    layout: Layout,
}

/// The way of values from a record of a rowid table to one of a WITHOUT ROWID table.
struct Layout {
    /// The position in the old record, by position in the new one.
    positions: Vec<usize>,
    /// Number of positions in the new record that belong to the primary key.
    key: usize,
    /// Position of the INTEGER PRIMARY KEY in the old record, which holds NULL there.
    rowid: Option<usize>,
    /// The values of the old record in rows that are older than their columns.
    older: OlderRows,
}

impl Conversion {
    /// Plans the conversion of a table.
    ///
    /// # Errors
    /// If the database has no such rowid table, or the table cannot become one without rowids.
    pub fn new(source: &SourceDatabase, choice: &Choice, name: &str) -> Result<Self> {
        let object = rowid_table(source, choice, name)?;
        let refused = |what: String| refusal(source, name, what);
        let old_sql = object.sql.as_ref().ok_or_else(|| refused(": it has no CREATE TABLE statement".to_owned()))?;
        if source.snapshot.encoding() != TextEncoding::Utf8 {
            return Err(refused(": this needs a database in UTF-8".to_owned()));
        }
        // SQLite takes DESC for ASC in old formats, and indexes would be built as they say.
        let format = source.snapshot.header().schema_format;
        if format < SCHEMA_FORMAT {
            let error = refused(format!(": the schema format of the database is {format}, that of an old SQLite"));
            return Err(error.advise("run VACUUM on it first, which writes the format of today"));
        }
        if let Some(user) = source.objects.iter().find(|other| may_use_rowids(other, name)) {
            return Err(refused(format!(": {} {} names it, and may use its rowids", user.kind, user.name)));
        }
        let parsed = |sql: &str| {
            let schema = Schema::from_sql(sql, "<schema of the copy>").map_err(|error| {
                let error = refused(format!(": {}", error.message()));
                error.advise("SQLite does not take its statement with WITHOUT ROWID at its end")
            })?;
            schema.table(name).cloned().ok_or_else(|| refused(": its statement makes another table".to_owned()))
        };
        let old = parsed(old_sql)?;
        let sql = without_rowid(old_sql, old.strict);
        let is_index =
            |other: &&Object| other.kind == "index" && other.table.eq_ignore_ascii_case(name) && other.sql.is_some();
        let indexes = choice.objects(source).filter(is_index).filter_map(|index| index.sql.as_deref());
        let text: String = [sql.as_str()].into_iter().chain(indexes).map(|sql| format!("{sql}\n;\n")).collect();
        let table = parsed(&text)?;
        let layout = Layout::new(&old, &table);
        Ok(Self { table, sql, layout })
    }

    /// Builds the trees of the table and of its indexes. `scan` has the rows of the rowid table.
    pub fn build(
        &self,
        scan: &dyn Source,
        read: &AtomicU64,
        copy: &mut CopiedDatabase,
    ) -> Result<(CopiedTree, Vec<(String, CopiedTree)>)> {
        let built = copy.build_table(&self.table, &Converted { conversion: self, scan, read });
        built.map_err(|error| match error.kind() {
            ErrorKind::Unsupported => error
                .advise(message!["leave the table out of ", OptionName::WithoutRowid.word(self.table.name.clone())]),
            _ => error,
        })
    }
}

/// Finds the table. Names are compared as in SQLite.
fn rowid_table<'s>(source: &'s SourceDatabase, choice: &Choice, name: &str) -> Result<&'s Object> {
    let is_it = |object: &&Object| object.kind == "table" && object.name.eq_ignore_ascii_case(name);
    match choice.objects(source).find(is_it).map(|object| (object, object.tree)) {
        None => Err(refusal(source, name, ": the copy has no such table")),
        Some((_, None)) => Err(refusal(source, name, ": it is a virtual table")),
        Some((_, Some(tree))) if tree.is_keyed => Err(refusal(source, name, ": the table is WITHOUT ROWID already")),
        Some((object, _)) => Ok(object),
    }
}

fn refusal(source: &SourceDatabase, name: &str, what: impl Into<Message>) -> Error {
    let given = OptionName::WithoutRowid.word(name.to_owned()).given();
    Error::new(ErrorKind::Usage, message![given, what.into()]).in_file(&source.path)
}

/// Returns the error of a view or a trigger that works with the rowids of a table alone.
pub(super) fn breaks(source: &SourceDatabase, name: &str, broken: &BrokenObject) -> Error {
    let BrokenObject { kind, name: object, problem, .. } = broken;
    let error = refusal(source, name, format!(": it breaks the {kind} {object}: {problem}"));
    let option = OptionName::WithoutRowid.word(name.to_owned());
    error.advise(message!["leave out ", option, format!(", or drop the {kind} first")])
}

/// Returns whether an object is a virtual table whose arguments name the table.
fn may_use_rowids(object: &Object, name: &str) -> bool {
    let Some(sql) = object.sql.as_ref().filter(|_| object.kind == "table" && object.tree.is_none()) else {
        return false;
    };
    let is_in_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    if name.chars().all(is_in_word) {
        return sql.split(|letter| !is_in_word(letter)).any(|word| word.eq_ignore_ascii_case(name));
    }
    sql.to_ascii_lowercase().contains(&name.to_ascii_lowercase())
}

/// Adds the option to a CREATE TABLE statement.
fn without_rowid(sql: &str, strict: bool) -> String {
    let options = sql.rfind(')').map_or("", |end| &sql[end..]);
    // A comment may reach to the end of the line.
    let space = if options.contains("--") { "\n" } else { " " };
    if strict { format!("{sql}{space}, WITHOUT ROWID") } else { format!("{sql}{space}WITHOUT ROWID") }
}

impl Layout {
    fn new(old: &Table, new: &Table) -> Self {
        let is_stored = |&position: &usize| old.columns[position].generated != Generated::Virtual;
        let stored: Vec<usize> = (0..old.columns.len()).filter(is_stored).collect();
        let position_of = |column: usize| stored.iter().position(|&stored| stored == column);
        let positions = new.stored_columns().into_iter().filter_map(position_of).collect();
        let key = new.primary_index().map_or(0, |key| key.columns.len());
        let older = OlderRows::of(old, TextEncoding::Utf8);
        Self { positions, key, rowid: old.rowid_alias.and_then(position_of), older }
    }

    /// Writes the new record of a row.
    fn convert(&self, rowid: i64, old: &[u8], new: &mut Vec<u8>) -> Result<()> {
        let mut values = record::decode(old).map_err(|error| Error::new(ErrorKind::Corrupt, error.to_string()))?;
        let count = values.len();
        values.extend(self.older.missing(count));
        if let Some(position) = self.rowid {
            values[position] = Value::Int(rowid);
        }
        let ordered: Vec<Value<'_>> = self.positions.iter().map(|&position| values[position]).collect();
        if ordered[..self.key].contains(&Value::Null) {
            let message =
                format!("the row with rowid {rowid} has NULL in its primary key, which a WITHOUT ROWID table refuses");
            return Err(Error::new(ErrorKind::Constraint, message).advise("give it a key, or delete it"));
        }
        new.clear();
        record::write_record(&ordered, new);
        Ok(())
    }
}

/// The rows of a rowid table as those of a WITHOUT ROWID table.
struct Converted<'c> {
    conversion: &'c Conversion,
    scan: &'c dyn Source,
    read: &'c AtomicU64,
}

impl Source for Converted<'_> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let part = self.scan.next_part()?;
        let (all, record) = (RecordChunk::new(), Vec::new());
        Ok(part.map(|part| Box::new(ConvertedPart { rows: self, part, all, record }) as Box<dyn Part + '_>))
    }

    fn rows(&self) -> Option<u64> {
        self.scan.rows()
    }

    fn page_bytes(&self) -> f64 {
        self.scan.page_bytes()
    }
}

struct ConvertedPart<'c> {
    rows: &'c Converted<'c>,
    part: Box<dyn Part + 'c>,
    /// The rows of the rowid table.
    all: RecordChunk,
    record: Vec<u8>,
}

impl Part for ConvertedPart<'_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        let Self { rows: Converted { conversion, read, .. }, part, all, record } = self;
        all.clear();
        part.fill(all)?;
        chunk.set_first_record(all.first_record());
        for (row, &rowid) in all.rowids().iter().enumerate() {
            conversion.layout.convert(rowid, all.record(row), record)?;
            chunk.push(rowid, record);
        }
        read.fetch_add(all.arena().len() as u64, Ordering::Relaxed);
        Ok(())
    }
}
