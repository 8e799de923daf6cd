//! The indexes of a full-text table of FTS5 in all shards, to be joined without reading texts again.
//!
//! Their segments are decoded, and the entries of deleted rows are left out. The rows of `%_content` and `%_docsize` are scanned.

use crate::plan::MergePlan;
use crate::shard::OpenShard;
use crate::survey::{Survey, of_shard};
use litepress_format::header::TextEncoding;
use litepress_format::record::write_record;
use litepress_fts5::structure::Segment;
use litepress_fts5::{AVERAGES_ID, Averages, STRUCTURE_ID, SegmentDecoder, Structure, join_doclists, leaf_id};
use litepress_rows::schema::TextContent;
use litepress_rows::sqlite_value::from_sqlite;
use litepress_rows::sync::{Mutex, lock};
use litepress_rows::{Error, ErrorKind, Part, RecordChunk, Result, RowidOrder, Source, quoted_name};
use litepress_scan::{ScanPart, TableScan};
use rusqlite::{Connection, OptionalExtension};
use std::collections::VecDeque;
use std::sync::Arc;

/// The most indexes that are joined: each takes a buffer during the merge.
const MOST_INDEXES: usize = 256;

/// The version of an index from whose leaves no entry was taken out (`secure-delete`).
const PLAIN_VERSION: i64 = 4;

/// Takes a term and its doclist.
pub type TakeTerm<'t> = &'t mut dyn FnMut(&[u8], &[u8]) -> Result<()>;

/// The indexes of a full-text table, one in each shard that has it.
#[derive(Debug)]
pub struct TextIndex<'m> {
    table: &'m str,
    has_positions: bool,
    surveys: Vec<&'m Survey>,
    averages: Averages,
}

impl MergePlan {
    /// Returns the indexes of the table at this position of the schema. Returns `None` if it is no full-text table that keeps its
    /// texts, or SQLite must index its texts once more: there are too many indexes, or one has a form that is not joined.
    ///
    /// # Errors
    /// If a shard cannot be read.
    pub fn text_index(&self, position: usize) -> Result<Option<TextIndex<'_>>> {
        let table = &self.schema().tables[position];
        let Some(full_text) = table.full_text.as_ref().filter(|text| matches!(text.content, TextContent::Own)) else {
            return Ok(None);
        };
        let has_it = |survey: &&Survey| {
            survey.catalogue.objects.iter().any(|object| object.name.eq_ignore_ascii_case(&table.name))
        };
        let surveys: Vec<&Survey> = self.surveys().iter().filter(has_it).collect();
        if surveys.len() > MOST_INDEXES {
            return Ok(None);
        }
        let has_positions = full_text.has_positions;
        let mut index = TextIndex { table: &table.name, has_positions, surveys, averages: Averages::default() };
        for survey in index.surveys.clone() {
            let shard = survey.open()?;
            let Some(averages) = index.look(survey, &shard)? else { return Ok(None) };
            index.averages.add(&averages);
        }
        Ok(Some(index))
    }
}

impl TextIndex<'_> {
    /// Returns the sums of rows and tokens.
    pub fn averages(&self) -> Averages {
        self.averages.clone()
    }

    /// Returns the number of indexes.
    pub fn count(&self) -> usize {
        self.surveys.len()
    }

    fn shadow(&self, suffix: &str) -> String {
        format!("{}_{suffix}", self.table)
    }

    /// Returns the averages of a shard's index, or `None` if it cannot be joined.
    fn look(&self, survey: &Survey, shard: &OpenShard) -> Result<Option<Averages>> {
        let connection = shard.connection();
        let read = || {
            let has_sizes = connection.table_exists(Some("main"), self.shadow("docsize").as_str())?;
            let version = format!("SELECT v FROM main.{} WHERE k = 'version'", quoted_name(&self.shadow("config")));
            let version: Option<i64> = connection.query_row(&version, [], |row| row.get(0)).optional()?;
            let [structure, averages] = [self.block(&connection, STRUCTURE_ID)?, self.block(&connection, AVERAGES_ID)?];
            Ok((has_sizes && version == Some(PLAIN_VERSION), structure, averages))
        };
        let (is_plain, structure, averages) = read().map_err(|error| shard.failure(error))?;
        if !is_plain || survey.settings.encoding != TextEncoding::Utf8 {
            return Ok(None);
        }
        let (Ok(structure), Ok(averages)) = (Structure::decode(&structure), Averages::decode(&averages)) else {
            return Ok(None);
        };
        Ok((!structure.has_origins).then_some(averages))
    }

    /// Reads a row of `%_data`; one that is missing is empty.
    fn block(&self, connection: &Connection, id: i64) -> rusqlite::Result<Vec<u8>> {
        let sql = format!("SELECT block FROM main.{} WHERE id = ?1", quoted_name(&self.shadow("data")));
        Ok(connection.prepare_cached(&sql)?.query_row([id], |row| row.get(0)).optional()?.unwrap_or_default())
    }

    /// Passes the terms of an index with their live doclists to `take`.
    ///
    /// # Errors
    /// If the index is damaged, or `take` fails.
    pub fn terms(&self, index: usize, take: TakeTerm<'_>) -> Result<()> {
        let survey = self.surveys[index];
        let shard = survey.open()?;
        let connection = shard.connection();
        let structure = self.block(&connection, STRUCTURE_ID).map_err(|error| shard.failure(error))?;
        let structure = Structure::decode(&structure).map_err(|error| self.damaged(survey, &error))?;
        let segments = structure.levels.iter().flat_map(|level| level.segments.iter().rev());
        let segments = segments.filter(|segment| !segment.is_used_up());
        let mut segments: Vec<Terms> = segments.map(|segment| Terms::new(*segment, self.has_positions)).collect();
        let mut next = |terms: &mut Terms| -> Result<()> {
            while terms.waiting.is_empty() && terms.page <= terms.segment.last_page {
                let id = leaf_id(terms.segment.id, terms.page);
                let leaf = self.block(&connection, id).map_err(|error| shard.failure(error))?;
                terms.add(&leaf).map_err(|error| self.damaged(survey, &error))?;
            }
            Ok(())
        };
        let mut joined = Vec::new();
        loop {
            segments.iter_mut().try_for_each(&mut next)?;
            let heads = segments.iter().filter_map(|segment| segment.waiting.front().map(|(term, _)| term));
            let Some(least) = heads.min().cloned() else { return shard.check_unchanged() };
            let holders = segments.iter_mut().filter(|segment| segment.next_is(&least));
            let doclists: Vec<Vec<u8>> =
                holders.filter_map(|segment| segment.waiting.pop_front().map(|(_, doclist)| doclist)).collect();
            let newest_first: Vec<&[u8]> = doclists.iter().map(Vec::as_slice).collect();
            joined.clear();
            join_doclists(&newest_first, self.has_positions, &mut joined)
                .map_err(|error| self.damaged(survey, &error))?;
            if !joined.is_empty() {
                take(&least, &joined)?;
            }
        }
    }

    fn damaged(&self, survey: &Survey, error: &litepress_format::FormatError) -> Error {
        let message = format!("its full-text index is damaged: {error}");
        of_shard(survey, Error::new(ErrorKind::Corrupt, message).in_table(self.table))
    }

    /// Returns the rows of `%_config` of the first shard.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn configuration(&self) -> Result<RecordChunk> {
        let (mut chunk, mut record) = (RecordChunk::new(), Vec::new());
        let Some(survey) = self.surveys.first() else { return Ok(chunk) };
        let shard = survey.open()?;
        let connection = shard.connection();
        let mut read = || {
            let sql = format!("SELECT k, v FROM main.{} ORDER BY k", quoted_name(&self.shadow("config")));
            let mut settings = connection.prepare(&sql)?;
            let mut settings = settings.query([])?;
            while let Some(row) = settings.next()? {
                record.clear();
                write_record(&[from_sqlite(row.get_ref(0)?), from_sqlite(row.get_ref(1)?)], &mut record);
                chunk.push(0, &record);
            }
            Ok(())
        };
        read().map_err(|error| shard.failure(error))?;
        Ok(chunk)
    }

    /// Returns the rows of the shadow table with this suffix, of all shards.
    pub fn rows(&self, suffix: &str) -> impl Source + '_ {
        ShadowRows { surveys: &self.surveys, name: self.shadow(suffix), state: Mutex::default() }
    }
}

/// The terms of a segment, leaf by leaf.
struct Terms {
    segment: Segment,
    /// The next leaf.
    page: u32,
    decoder: SegmentDecoder,
    /// Terms that are complete, with their doclists.
    waiting: VecDeque<(Vec<u8>, Vec<u8>)>,
}

impl Terms {
    fn new(segment: Segment, has_positions: bool) -> Self {
        let decoder = SegmentDecoder::new(has_positions);
        Self { segment, page: segment.first_page, decoder, waiting: VecDeque::new() }
    }

    /// Decodes the next leaf.
    fn add(&mut self, leaf: &[u8]) -> Result<(), litepress_format::FormatError> {
        let Self { segment, page, decoder, waiting } = self;
        let mut keep = |term: &[u8], doclist: &[u8]| waiting.push_back((term.to_vec(), doclist.to_vec()));
        decoder.add(leaf, &mut keep)?;
        if *page == segment.last_page {
            decoder.finish(&mut keep);
        }
        *page += 1;
        Ok(())
    }

    fn next_is(&self, term: &[u8]) -> bool {
        self.waiting.front().is_some_and(|(next, _)| next == term)
    }
}

/// The rows of a shadow table of all shards, one shard after another.
struct ShadowRows<'m> {
    surveys: &'m [&'m Survey],
    name: String,
    state: Mutex<State>,
}

/// The next part.
#[derive(Default)]
struct State {
    /// Number of shards that were opened.
    opened: usize,
    parts: u64,
    /// Declared before the shard: its readers are closed first.
    scan: Option<(TableScan, Arc<OpenShard>)>,
}

impl ShadowRows<'_> {
    /// Opens the table of a shard.
    fn open(&self, survey: &Survey) -> Result<(TableScan, Arc<OpenShard>)> {
        let shard = survey.open()?;
        let sql = "SELECT rootpage FROM main.sqlite_schema WHERE type = 'table' AND name = ?1 COLLATE NOCASE";
        let root = shard.connection().query_row(sql, [&self.name], |row| row.get::<_, u32>(0));
        let root = root.map_err(|error| shard.failure(error))?;
        let scan =
            TableScan::new(shard.snapshot(), root, self.name.as_str()).map_err(|error| of_shard(survey, error))?;
        Ok((scan, shard))
    }
}

impl Source for ShadowRows<'_> {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        let mut state = lock(&self.state);
        loop {
            if let Some((scan, shard)) = &state.scan {
                let (part, shard) = (scan.next_scan_part()?, shard.clone());
                if let Some(rows) = part {
                    let first_record = (state.parts << crate::source::POSITION_BITS) + 1;
                    state.parts += 1;
                    return Ok(Some(Box::new(ShadowPart { rows, shard, first_record })));
                }
                shard.check_unchanged()?;
                state.scan = None;
            }
            let Some(survey) = self.surveys.get(state.opened) else { return Ok(None) };
            state.opened += 1;
            state.scan = Some(self.open(survey)?);
        }
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

/// Some rows of a shadow table.
struct ShadowPart {
    /// Declared before the shard: its reader is closed first.
    rows: ScanPart,
    shard: Arc<OpenShard>,
    first_record: u64,
}

impl Part for ShadowPart {
    fn fill(&mut self, chunk: &mut RecordChunk) -> Result<()> {
        self.rows.fill(chunk)?;
        chunk.set_first_record(self.first_record);
        self.first_record += chunk.len() as u64;
        if chunk.is_empty() { self.shard.check_unchanged() } else { Ok(()) }
    }
}
