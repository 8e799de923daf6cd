//! The options that all commands which make a database share, as clap reads them and as the engine takes them.

use crate::numbers;
use crate::progress::Style;
use clap::{Args, ValueEnum};
use litepress::{Conflict, MIN_MEMORY_BYTES, Options, PageSize, Sync, Verify};
use std::path::PathBuf;

/// Threads beyond this help nobody.
const MAX_THREADS: usize = 1024;

/// How a database is made.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Making")]
pub struct MakingArguments {
    /// Bytes of a page: a power of two, 512 to 65536 [default: PRAGMA page_size of the schema, or 4096]
    #[arg(long, value_name = "SIZE", value_parser = page_size)]
    pub page_size: Option<PageSize>,
    /// Threads that build pages [default: one a core]
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    /// Memory to work in, 64MiB at least [default: a quarter of the machine's, or of the container's]
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub memory: Option<u64>,
    /// Folder for what a sort cannot keep in memory [default: that of the database]
    #[arg(long, value_name = "FOLDER")]
    pub temp_dir: Option<PathBuf>,
    /// Replace the database if it exists
    #[arg(long)]
    pub replace: bool,
    /// What becomes of a row whose key is there already: abort fails, ignore keeps the first, replace the last
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub on_conflict: ConflictArgument,
    /// Give SQLite's planner its statistics (sqlite_stat1), as ANALYZE would
    #[arg(long)]
    pub analyze: bool,
    /// Whether the file must survive a power cut
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub sync: SyncArgument,
    /// Check the file before it gets its name: quick as 'litepress check' does, full with SQLite's checks too
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub verify: VerifyArgument,
    /// How results are shown.
    #[command(flatten)]
    pub showing: ShowingArguments,
}

/// How results are shown.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Showing")]
pub struct ShowingArguments {
    /// How progress is shown on standard error
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub progress: Style,
    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `--on-conflict`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ConflictArgument {
    /// The run fails.
    #[default]
    Abort,
    /// As INSERT OR IGNORE: the row is left out, also one with NULL in a NOT NULL column.
    Ignore,
    /// As INSERT OR REPLACE: the row takes the place of those before it.
    Replace,
}

/// `--sync`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SyncArgument {
    /// The file is synced before it gets its name, the folder after it.
    #[default]
    Full,
    /// Nothing is synced: the system writes when it likes.
    Off,
}

/// `--verify`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum VerifyArgument {
    /// Not at all.
    #[default]
    None,
    /// As `litepress check` does.
    Quick,
    /// As `litepress check --sqlite` does.
    Full,
}

impl ConflictArgument {
    /// The engine's choice.
    fn conflict(self) -> Conflict {
        match self {
            Self::Abort => Conflict::Abort,
            Self::Ignore => Conflict::Ignore,
            Self::Replace => Conflict::Replace,
        }
    }
}

/// What the choice is called, in options and in results.
pub(crate) fn conflict_name(conflict: Conflict) -> &'static str {
    match conflict {
        Conflict::Abort => "abort",
        Conflict::Ignore => "ignore",
        Conflict::Replace => "replace",
    }
}

/// What the choice is called, in options and in results.
pub(crate) fn sync_name(sync: Sync) -> &'static str {
    match sync {
        Sync::Full => "full",
        Sync::Off => "off",
    }
}

/// One of the choices of an option by its name.
///
/// # Errors
/// Names all of them.
pub fn choice<T: ValueEnum>(name: &str) -> Result<T, String> {
    T::from_str(name, false).map_err(|_| {
        let choices = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let choices: Vec<String> = choices.map(|choice| format!("'{}'", choice.get_name())).collect();
        format!("'{name}' is none of {}", choices.join(", "))
    })
}

impl MakingArguments {
    /// The engine's options; the expected size is still to be told.
    pub fn options(&self) -> Options {
        let mut options = Options::default();
        options.page_size = self.page_size;
        options.threads = self.threads.unwrap_or(options.threads);
        options.memory_bytes = self.memory.unwrap_or(options.memory_bytes);
        options.temp_dir.clone_from(&self.temp_dir);
        options.replace = self.replace;
        options.on_conflict = self.on_conflict.conflict();
        options.analyze = self.analyze;
        options.sync = match self.sync {
            SyncArgument::Full => Sync::Full,
            SyncArgument::Off => Sync::Off,
        };
        options.verify = match self.verify {
            VerifyArgument::None => Verify::None,
            VerifyArgument::Quick => Verify::Quick,
            VerifyArgument::Full => Verify::Full,
        };
        options
    }
}

/// A number of threads.
///
/// # Errors
/// Says what one is.
pub fn threads(text: &str) -> Result<usize, String> {
    let threads = numbers::count(text).ok().and_then(|count| usize::try_from(count).ok());
    threads
        .filter(|threads| (1..=MAX_THREADS).contains(threads))
        .ok_or_else(|| format!("a number of threads is 1 to {MAX_THREADS}"))
}

/// A memory budget.
///
/// # Errors
/// Says what one is.
pub fn memory(text: &str) -> Result<u64, String> {
    let bytes = numbers::size(text)?;
    if bytes < MIN_MEMORY_BYTES {
        return Err(format!("{} is the least memory to work in", numbers::memory(MIN_MEMORY_BYTES)));
    }
    Ok(bytes)
}

/// A page size.
///
/// # Errors
/// Says what one is.
pub fn page_size(text: &str) -> Result<PageSize, String> {
    let bytes = numbers::size(text).ok().and_then(|bytes| u32::try_from(bytes).ok());
    bytes.and_then(PageSize::new).ok_or_else(|| "a page size is a power of two from 512 to 65536".to_owned())
}
