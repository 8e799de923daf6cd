//! The rows of an R-Tree table in all shards: ids, coordinates and auxiliary columns, as SQLite reads them.

use crate::plan::MergePlan;
use crate::source::POSITION_BITS;
use crate::survey::{Survey, of_shard};
use litepress_format::record::write_record;
use litepress_format::value::Value;
use litepress_rows::sqlite_value::from_sqlite;
use litepress_rows::sync::{Mutex, lock};
use litepress_rows::{Part, RecordChunk, Result, RowidOrder, Source, quoted_name};
use rusqlite::OptionalExtension;
use std::collections::VecDeque;

/// Number of rows of a part.
const ROWS_PER_PART: u32 = 1 << 14;

/// The rows of an R-Tree table, shard after shard, in the order of their ids.
#[derive(Debug)]
pub struct BoxSource<'m> {
    table: &'m str,
    /// The columns as SQL writes them, the id first.
    columns: Vec<String>,
    surveys: Vec<&'m Survey>,
    next: Mutex<NextPart>,
}

/// The next part.
#[derive(Debug, Default)]
struct NextPart {
    /// Position of its shard.
    shard: usize,
    /// The last id of the part before, if it is of the same shard.
    last: Option<i64>,
    parts: u64,
}

impl MergePlan {
    /// Returns the rows of the table at this position of the schema, if it is an R-Tree that litepress packs.
    pub fn boxes(&self, position: usize) -> Option<BoxSource<'_>> {
        let table = &self.schema().tables[position];
        table.rtree?;
        let name = |column: usize| quoted_name(&table.columns[column].name);
        let columns = table.ordinary_columns().map(name).collect();
        let has_it = |survey: &&Survey| {
            survey.catalogue.objects.iter().any(|object| object.name.eq_ignore_ascii_case(&table.name))
        };
        let surveys = self.surveys().iter().filter(has_it).collect();
        Some(BoxSource { table: &table.name, columns, surveys, next: Mutex::default() })
    }
}

impl BoxSource<'_> {
    /// Returns the last id of the part behind the id `last`, or `None` if the shard has no more rows.
    fn end_of_part(&self, survey: &Survey, last: Option<i64>) -> Result<Option<i64>> {
        let shard = survey.open()?;
        let rowids = quoted_name(&format!("{}_rowid", self.table));
        let sql = format!(
            "SELECT max(rowid) FROM (SELECT rowid FROM main.{rowids} WHERE ?1 IS NULL OR rowid > ?1
             ORDER BY rowid LIMIT {ROWS_PER_PART})"
        );
        let end = shard.connection().query_row(&sql, [last], |row| row.get(0)).optional();
        end.map(Option::flatten).map_err(|error| shard.failure(error).in_table(self.table))
    }

    /// Reads the rows with ids above `last`, up to `end`.
    fn read(&self, survey: &Survey, last: Option<i64>, end: i64) -> Result<VecDeque<RecordChunk>> {
        let shard = survey.open()?;
        let (table, rowids) = (quoted_name(self.table), quoted_name(&format!("{}_rowid", self.table)));
        let columns: Vec<String> = self.columns.iter().map(|column| format!("boxes.{column}")).collect();
        // The ids come in order, and each is found through its node.
        let sql = format!(
            "SELECT {} FROM main.{rowids} AS ids CROSS JOIN main.{table} AS boxes ON {} = ids.rowid
             WHERE (?1 IS NULL OR ids.rowid > ?1) AND ids.rowid <= ?2 ORDER BY ids.rowid",
            columns.join(", "),
            columns[0]
        );
        let connection = shard.connection();
        let read = || {
            let (mut chunks, mut record) = (VecDeque::from([RecordChunk::new()]), Vec::new());
            let mut select = connection.prepare_cached(&sql)?;
            let columns = select.column_count();
            let mut rows = select.query((last, end))?;
            while let Some(row) = rows.next()? {
                let values: Vec<Value<'_>> =
                    (0..columns).map(|at| row.get_ref(at).map(from_sqlite)).collect::<rusqlite::Result<_>>()?;
                record.clear();
                write_record(&values, &mut record);
                if chunks.back().is_none_or(RecordChunk::is_full) {
                    chunks.push_back(RecordChunk::new());
                }
                chunks.back_mut().expect("one was pushed").push(row.get(0)?, &record);
            }
            Ok(chunks)
        };
        let chunks = read().map_err(|error| shard.failure(error).in_table(self.table))?;
        shard.check_unchanged().map_err(|error| of_shard(survey, error))?;
        Ok(chunks)
    }
}

impl Source for BoxSource<'_> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let mut next = lock(&self.next);
        while let Some(&survey) = self.surveys.get(next.shard) {
            if let Some(end) = self.end_of_part(survey, next.last)? {
                let (last, first_record) = (next.last.replace(end), (next.parts << POSITION_BITS) + 1);
                next.parts += 1;
                return Ok(Some(Box::new(BoxPart { source: self, survey, last, end, first_record, rows: None })));
            }
            (next.shard, next.last) = (next.shard + 1, None);
        }
        Ok(None)
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn rowid_order(&self) -> RowidOrder {
        RowidOrder::Unknown
    }

    fn page_bytes(&self) -> f64 {
        0.0
    }
}

/// Some rows of a shard.
struct BoxPart<'s> {
    source: &'s BoxSource<'s>,
    survey: &'s Survey,
    last: Option<i64>,
    end: i64,
    first_record: u64,
    /// The rows that were not handed out; `None` before they are read.
    rows: Option<VecDeque<RecordChunk>>,
}

impl Part for BoxPart<'_> {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        let rows = match &mut self.rows {
            Some(rows) => rows,
            none => none.insert(self.source.read(self.survey, self.last, self.end)?),
        };
        if let Some(next) = rows.pop_front() {
            *chunk = next;
            chunk.set_first_record(self.first_record);
            self.first_record += chunk.len() as u64;
        }
        Ok(())
    }
}
