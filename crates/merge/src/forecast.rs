//! The facts of a merge before it happens: the fate of rowids, keys that several databases may have, estimated numbers of rows.

use crate::plan::MergePlan;
use crate::record::Rewriter;
use crate::rowids::{ShardTable, TablePlan};
use crate::source::Scan;
use litepress_rows::{Part, RecordChunk, Result, RowidOrder, Source, Table};

/// The most databases of which a table's rows are sampled.
const SAMPLED_SHARDS: usize = 16;

/// The fate of a table's rowids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowidFate {
    /// They stay, and no two databases have the same range.
    Kept,
    /// They stay, and rows of several databases may have the same.
    KeptOverlapping,
    /// Each database's are shifted above those before it, as the caller wants.
    Renumbered,
    /// They are shifted, because no column holds them and several databases have the same range.
    RenumberedUnnamed,
    /// The table has none, or its module gives them.
    None,
}

impl RowidFate {
    /// Returns its name in reports for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::KeptOverlapping => "kept_overlapping",
            Self::Renumbered | Self::RenumberedUnnamed => "renumbered",
            Self::None => "none",
        }
    }

    /// Describes it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Kept => "rowids stay",
            Self::KeptOverlapping => "rowids stay, and several databases have the same range of them",
            Self::Renumbered => "rowids are renumbered",
            Self::RenumberedUnnamed => {
                "rowids are renumbered, because no column holds them and several databases have them"
            }
            Self::None => "no rowids to keep",
        }
    }
}

/// The facts of a table of the merged database.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableForecast {
    /// Number of databases that have the table.
    pub databases: usize,
    /// The fate of its rowids.
    pub rowids: RowidFate,
    /// The columns that follow renumbered rowids, by position, and the tables of these.
    pub following: Vec<(usize, String)>,
    /// The column that gets the name of each row's database.
    pub source_column: Option<usize>,
    /// Whether rows of several databases may have one key, or a value cannot follow its row: only the rows tell.
    pub hangs_on_rows: bool,
}

impl MergePlan {
    /// Returns the facts of the table at this position of the schema.
    pub fn forecast(&self, position: usize) -> TableForecast {
        let (table, plan) = (&self.schema().tables[position], self.table_plan(position));
        let form = self.form(position);
        let references = form.map_or(&[][..], |form| &form.references);
        let shifted = references.iter().filter(|reference| reference.is_shifted());
        let following = shifted.map(|reference| (reference.column, reference.names[2].clone())).collect();
        let rowids = fate(table, plan);
        let has_keys = table.without_rowid
            || rowids == RowidFate::KeptOverlapping
            || table.indexes.iter().any(|index| index.unique);
        let has_table = |survey: &&crate::survey::Survey| {
            survey.catalogue.objects.iter().any(|object| object.name.eq_ignore_ascii_case(&table.name))
        };
        TableForecast {
            databases: self.surveys().iter().filter(has_table).count(),
            rowids,
            following,
            source_column: form.filter(|form| form.has_source).map(|_| table.columns.len() - 1),
            hangs_on_rows: has_keys && plan.shards.len() > 1 || !references.is_empty(),
        }
    }

    /// Samples the rows of the table at this position; `None` for a virtual table.
    ///
    /// # Errors
    /// If a database cannot be read.
    pub fn sample(&self, position: usize) -> Result<Option<MergeSample>> {
        let Some(form) = self.form(position) else { return Ok(None) };
        let (table, plan) = (&self.schema().tables[position], self.table_plan(position));
        let step = plan.shards.len().div_ceil(SAMPLED_SHARDS).max(1);
        let bytes_of = |shard: &ShardTable| self.surveys()[shard.shard].bytes as f64;
        let all_bytes: f64 = plan.shards.iter().map(bytes_of).sum();
        let (mut rows, mut sampled_bytes, mut page_bytes, mut chunks) = (0.0, 0.0, 0.0, Vec::new());
        for found in plan.shards.iter().step_by(step) {
            let survey = &self.surveys()[found.shard];
            let of_shard = |error| crate::survey::of_shard(survey, error);
            let shard = survey.open().map_err(of_shard)?;
            let scan = Scan::new(table, &shard, found.root).map_err(of_shard)?;
            let own_rows = scan.estimated_rows().map_err(of_shard)? as f64;
            let (encoding, source) = (survey.settings.encoding, self.name(found.shard));
            let rewriter = Rewriter { form, shard: found.shard, encoding, source };
            let mut look = |sampled: &RecordChunk| {
                let mut chunk = RecordChunk::new();
                (0..sampled.len()).for_each(|row| chunk.push(sampled.rowids()[row], sampled.record(row)));
                // Rows that the merge will refuse are left out here.
                if rewriter.rewrite(&mut chunk).is_ok() {
                    chunks.push(chunk);
                }
            };
            scan.as_source().sample(&mut look).map_err(of_shard)?;
            page_bytes += own_rows * scan.as_source().page_bytes();
            rows += own_rows;
            sampled_bytes += bytes_of(found);
        }
        let page_bytes = if rows > 0.0 { page_bytes / rows } else { 0.0 };
        let rows = if sampled_bytes > 0.0 { rows * all_bytes / sampled_bytes } else { 0.0 };
        Ok(Some(MergeSample { rows: rounded(rows), page_bytes, order: plan.order, chunks }))
    }
}

/// Returns the fate of a table's rowids.
fn fate(table: &Table, plan: &TablePlan) -> RowidFate {
    if table.without_rowid || table.is_virtual {
        RowidFate::None
    } else if plan.is_renumbered {
        RowidFate::RenumberedUnnamed
    } else if plan.is_shifted() {
        RowidFate::Renumbered
    } else if plan.order == RowidOrder::Unordered {
        RowidFate::KeptOverlapping
    } else {
        RowidFate::Kept
    }
}

/// Some rows of a table of all databases, for estimates: a source without parts.
#[derive(Debug)]
pub struct MergeSample {
    rows: u64,
    page_bytes: f64,
    order: RowidOrder,
    chunks: Vec<RecordChunk>,
}

impl Source for MergeSample {
    fn next_part(&self) -> Result<Option<Box<dyn Part + '_>>> {
        Ok(None)
    }

    /// Returns the estimated number of rows.
    fn rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn rowid_order(&self) -> RowidOrder {
        self.order
    }

    fn page_bytes(&self) -> f64 {
        self.page_bytes
    }

    fn sample(&self, look: &mut dyn FnMut(&RecordChunk)) -> Result<()> {
        self.chunks.iter().for_each(look);
        Ok(())
    }
}

/// Converts a number that is not negative.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "numbers of rows, and `as` saturates")]
fn rounded(number: f64) -> u64 {
    number.round() as u64
}
