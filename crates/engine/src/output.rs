//! The pages of a run and the file that they go to, from its temporary name to its publication.

use crate::evaluate::computed;
use crate::index::Indexes;
use crate::options::{Options, Sync, Target};
use crate::pages::Pages;
use crate::part::{self, PageCopy, Parts, StoredTable};
use crate::publish::Publication;
use crate::resources::{live_blocks, sort_options, temp_dir, writer_threads};
use crate::sink::block::BlockPool;
use crate::sink::writers::Writers;
use crate::sink::{DiscardSink, FileSink, MemorySink, Sink};
use crate::summary::Stages;
use crate::table::{BuildContext, SortPlan, TableTree, rowid, rtree, without_rowid};
use crate::tree::bulk_load::IndexTree;
use crate::verify::verify;
use crate::{Error, ErrorKind, Result, Verify, plan};
use litepress_check::Report;
use litepress_format::page::PageSize;
use litepress_rows::schema::RTree;
use litepress_rows::{Source, Table};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The pages of a database under construction, and the file that they go to.
///
/// Dropped unpublished, it leaves nothing behind.
pub(crate) struct Output {
    pub pages: Pages,
    /// The file; `None` if the target is no file.
    pub publication: Option<Publication>,
    /// The folder for temporary files of sorts.
    pub temp_dir: PathBuf,
}

impl Output {
    /// Opens the target. `wrap` may put another sink in front of the target's.
    ///
    /// REQUIRES: options within [bounds](crate::resources::bounded).
    pub fn open(
        target: &Target,
        page_size: PageSize,
        options: &Options,
        wrap: impl FnOnce(Box<dyn Sink>) -> Box<dyn Sink>,
    ) -> Result<Self> {
        Self::open_with(target, page_size, options, wrap, |path| {
            Publication::begin(path, options.overwrite, options.successor_of.as_ref())
        })
    }

    /// Opens the target, as [`open`](Self::open) does. `begin` makes the temporary file of a file.
    pub fn open_with(
        target: &Target,
        page_size: PageSize,
        options: &Options,
        wrap: impl FnOnce(Box<dyn Sink>) -> Box<dyn Sink>,
        begin: impl FnOnce(&Path) -> Result<Publication>,
    ) -> Result<Self> {
        if options.verify != Verify::None && !matches!(target, Target::File(_)) {
            let error = Error::new(ErrorKind::Unsupported, "only a file can be verified");
            return Err(error.advise("write a file, or verify nothing"));
        }
        let temp_dir = temp_dir(target, options);
        let publication = match target {
            Target::File(path) => Some(begin(path)?),
            Target::Memory | Target::Discard => None,
        };
        let (sink, path, threads): (Box<dyn Sink>, _, _) = match (&publication, target) {
            (Some(publication), _) => {
                publication.check_space(options.expected_bytes)?;
                let file = publication.handle()?;
                let sink = FileSink::new(file, publication.temporary(), options.expected_bytes);
                (Box::new(sink), publication.target().to_owned(), writer_threads(options))
            }
            (None, Target::Memory) => (Box::new(MemorySink::default()), PathBuf::from("<memory>"), 0),
            (None, _) => (Box::new(DiscardSink), PathBuf::from("<discarded>"), 0),
        };
        let writers = Writers::new(wrap(sink), path, threads, options.progress.clone());
        let pages = Pages::new(page_size, BlockPool::new(live_blocks(options, threads)), writers);
        let pages = if options.part { pages.of_part() } else { pages };
        Ok(Self { pages, publication, temp_dir })
    }

    /// Builds the trees of a table that litepress writes itself and of its indexes.
    pub fn build_table(
        &mut self,
        table: &Table,
        source: &dyn Source,
        options: &Options,
    ) -> Result<(TableTree, Vec<(String, IndexTree)>)> {
        let (pages, progress, threads) = (&mut self.pages, &*options.progress, options.threads);
        let plans = plan::indexes(table);
        let sort_plan = SortPlan::new(table, options.on_conflict, Some(source));
        let sort_options = sort_options(options, &self.temp_dir, plans.len() + sort_plan.sorts());
        // Rows whose columns are computed were checked then.
        let has_checks = plan::checks_rows(table) && !computed::is_needed(table);
        let indexes = Indexes::new(plans, &sort_options).evaluating(table, has_checks)?;
        let context = BuildContext { indexes: &indexes, threads, counts_keys: options.analyze, progress };
        let tree = sort_plan.build(source, pages, &sort_options, context)?;
        Ok((tree, indexes.build(pages, threads, options.analyze, progress)?))
    }

    /// Writes the rows of a table and the entries of its indexes to a part.
    pub fn store_table(&mut self, table: &Table, source: &dyn Source, options: &Options) -> Result<StoredTable> {
        let (pages, progress) = (&mut self.pages, &*options.progress);
        let plans = plan::indexes(table);
        let sort_plan = SortPlan::new(table, options.on_conflict, Some(source));
        let sort_options = sort_options(options, &self.temp_dir, plans.len() + sort_plan.sorts());
        let has_checks = plan::checks_rows(table) && !computed::is_needed(table);
        let indexes = Indexes::new(plans, &sort_options).evaluating(table, has_checks)?;
        let context = BuildContext { indexes: &indexes, threads: options.threads, counts_keys: false, progress };
        let mut stored = StoredTable { name: table.name.clone(), ..StoredTable::default() };
        if table.without_rowid {
            let rows = without_rowid::sort(table, source, &sort_options, context)?;
            stored.rows = rows.len();
            stored.items.push(part::store(None, &rows, pages, progress)?);
        } else {
            let tree = sort_plan.build(source, pages, &sort_options, context)?;
            (stored.rows, stored.runs) = (tree.rows, tree.runs);
        }
        stored.items.append(&mut indexes.store(pages, progress)?);
        stored.last_sequence = source.last_sequence().max(table.last_sequence);
        Ok(stored)
    }

    /// Builds the trees of a table and of its indexes from parts. With `copies`, pages that need no change are left out.
    pub fn stitch_table(
        &mut self,
        table: &Table,
        parts: &Parts,
        options: &Options,
        copies: Option<&mut Vec<PageCopy>>,
    ) -> Result<(TableTree, Vec<(String, IndexTree)>)> {
        let (pages, progress, threads) = (&mut self.pages, &*options.progress, options.threads);
        let plans = plan::indexes(table);
        let sort_options = sort_options(options, &self.temp_dir, plans.len() + usize::from(table.without_rowid));
        let indexes = Indexes::new(plans, &sort_options);
        let context = BuildContext { indexes: &indexes, threads, counts_keys: options.analyze, progress };
        let tree = match table.without_rowid {
            true => without_rowid::stitch(table, parts, pages, &sort_options, context)?,
            false => rowid::stitch(&table.name, parts, pages, progress, copies)?,
        };
        indexes.add_stored(&table.name, parts, progress)?;
        Ok((tree, indexes.build(pages, threads, options.analyze, progress)?))
    }

    /// Builds the trees of the tables in which an R-Tree table keeps its data.
    pub fn build_rtree(
        &mut self,
        table: &Table,
        tree: RTree,
        source: &dyn Source,
        options: &Options,
    ) -> Result<rtree::ShadowTrees> {
        let sort_options = sort_options(options, &self.temp_dir, rtree::SORTS);
        let (threads, progress) = (options.threads, &*options.progress);
        let context = BuildContext { indexes: &Indexes::default(), threads, counts_keys: false, progress };
        rtree::build(table, tree, source, options.on_conflict, &mut self.pages, &sort_options, context)
    }

    /// Returns whether the run waits until the file survives a power cut.
    pub fn is_synced(&self, options: &Options) -> bool {
        options.sync == Sync::Full && self.publication.is_some()
    }

    /// Returns the tables and views of the replaced file that the new one lacks.
    pub fn dropped(&self, has: impl Fn(&str) -> bool) -> Vec<String> {
        let old = self.publication.as_ref().map(|publication| publication.old_contents()).unwrap_or_default();
        old.iter().filter(|object| !has(&object.name)).map(ToString::to_string).collect()
    }

    /// Verifies the finished file if asked to, waits for the disk and gives the file its name. Returns the report of the
    /// check, and notes the times.
    pub fn publish(&mut self, options: &Options, stages: &mut Stages) -> Result<Option<Report>> {
        let done = Instant::now();
        let verified = match &self.publication {
            Some(publication) => verify(publication.temporary(), publication.target(), options)?,
            None => None,
        };
        stages.verify = done.elapsed();
        if self.is_synced(options) {
            options.progress.enter("waiting for the disk");
            self.pages.sync()?;
        }
        let synced = Instant::now();
        stages.sync = synced - done - stages.verify;
        options.progress.go_on()?;
        if let Some(publication) = self.publication.take() {
            publication.commit(options.sync)?;
        }
        stages.publish = synced.elapsed();
        Ok(verified)
    }
}
