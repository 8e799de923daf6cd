//! Decides about the memory, threads, page size and temporary folder of a run.

use crate::options::{MIN_MEMORY_BYTES, Options, Target};
use crate::sink::block::BLOCK_BYTES;
use crate::sort::SortOptions;
use crate::{Error, ErrorKind, Result, Schema, memory};
use litepress_format::page::PageSize;
use litepress_rows::{OptionName, message};
use std::path::{Path, PathBuf};

/// Returns the page size of the options, or else of the schema, or else the default.
pub(crate) fn page_size(schema: &Schema, options: &Options) -> Result<PageSize> {
    let of_schema = schema.settings.page_size.map(|bytes| {
        PageSize::new(bytes).ok_or_else(|| Error::new(ErrorKind::Schema, format!("page size {bytes} is not possible")))
    });
    Ok(options.page_size.or(of_schema.transpose()?).unwrap_or(PageSize::DEFAULT))
}

/// Returns the folder for temporary files of sorts. The default is beside the target: that disk has room for a large
/// index.
pub(crate) fn temp_dir(target: &Target, options: &Options) -> PathBuf {
    match (&options.temp_dir, target) {
        (Some(folder), _) => folder.clone(),
        (None, Target::File(path)) => crate::publish::folder_of(path).to_owned(),
        (None, _) => std::env::temp_dir(),
    }
}

/// Fails if the folder for temporary files does not exist. A sort would notice only when it spills.
pub(crate) fn check_temp_dir(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let what = if folder.exists() { "is not a folder" } else { "does not exist" };
    let error = Error::new(ErrorKind::Io, format!("the folder for temporary files {what}")).in_file(folder);
    Err(error
        .advise(message!["make it, or name another folder for temporary files with ", OptionName::TempDir.alone()]))
}

/// Returns the options with memory capped at the machine's, and builders at the number of blocks in half of it.
///
/// # Errors
/// If the memory is too little to work in, or the folder for temporary files does not exist.
pub(crate) fn bounded(options: &Options) -> Result<Options> {
    options.temp_dir.as_deref().map_or(Ok(()), check_temp_dir)?;
    if options.memory_bytes < MIN_MEMORY_BYTES {
        let message = format!("{} bytes of memory are too few to work in", options.memory_bytes);
        let least = OptionName::Memory.count(None, &MIN_MEMORY_BYTES.to_string());
        return Err(Error::new(ErrorKind::Usage, message).advise(message!["the least is ", least]));
    }
    let memory_bytes = options.memory_bytes.min(memory::memory_bytes().unwrap_or(u64::MAX)).max(MIN_MEMORY_BYTES);
    let options = Options { memory_bytes, ..options.clone() };
    Ok(Options { threads: options.threads.clamp(1, affordable_blocks(&options)), ..options })
}

/// Returns the number of writer threads. Two writes in flight per builder keep the disk busy while builders compute;
/// a disk takes only a few at a time.
pub(crate) fn writer_threads(options: &Options) -> usize {
    const MOST: usize = 16;
    (2 * options.threads).min(MOST)
}

/// Returns the number of blocks in flight at which builders begin no further part. That is enough for every builder to
/// fill one while the disk takes several, but at most half of the memory budget.
pub(crate) fn live_blocks(options: &Options, writer_threads: usize) -> usize {
    (4 * options.threads + writer_threads).min(affordable_blocks(options))
}

/// Returns the memory for pages in flight, in bytes.
pub(crate) fn pages_bytes(options: &Options) -> u64 {
    (live_blocks(options, writer_threads(options)) * BLOCK_BYTES) as u64
}

/// Returns the options for each of `sorts` simultaneous sorts, which share the memory that pages leave.
pub(crate) fn sort_options(options: &Options, temp_dir: &Path, sorts: usize) -> SortOptions {
    SortOptions {
        memory_bytes: options.memory_bytes.saturating_sub(pages_bytes(options)) / sorts.max(1) as u64,
        temp_dir: temp_dir.to_owned(),
        writers: options.threads,
    }
}

fn affordable_blocks(options: &Options) -> usize {
    usize::try_from(options.memory_bytes / 2).unwrap_or(usize::MAX) / BLOCK_BYTES
}
