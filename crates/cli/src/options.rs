//! Options that all commands which make a database share, and their conversion to those of the engine.

use crate::failure::ErrorForm;
use crate::output::{print, print_json};
use crate::progress::Style;
use clap::{Args, ValueEnum};
use litepress::{
    CheckOptions, Conflict, Error, ErrorKind, Json, Options, PageSize, ProfileOptions, Result, Sync, Verify, parse,
};
use litepress_rows::escaped_lines;
use std::io::IsTerminal;
use std::path::PathBuf;

/// How a database is made.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Output database")]
pub struct BuildArgs {
    #[command(flatten)]
    pub file: FileArgs,
    /// Action for a row whose key exists: abort fails, ignore keeps the first row, replace the last, update upserts
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub on_conflict: ConflictArg,
    /// Give SQLite's planner its statistics (sqlite_stat1), as ANALYZE would
    #[arg(long)]
    pub analyze: bool,
    /// Write a part of a database, for 'litepress stitch', instead of a database
    #[arg(long)]
    pub part: bool,
    /// How results are shown.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The file that a database is made in.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Output database")]
pub struct FileArgs {
    /// Bytes of a page: a power of two, 512 to 65536 [default: those of the schema or of the source, or 4096]
    #[arg(long, value_name = "SIZE", value_parser = parse::page_size)]
    pub page_size: Option<PageSize>,
    #[command(flatten)]
    pub work: WorkArgs,
    /// Replace the database if it exists
    #[arg(long)]
    pub overwrite: bool,
    /// Check the file before it gets its name: quick as 'litepress check' does, full with SQLite's checks too
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub verify: VerifyArg,
}

/// How pages are made.
#[derive(Args, Debug, Default)]
pub struct WorkArgs {
    /// Threads that read, sort and build pages [default: one a core]
    #[arg(long, value_name = "N", value_parser = parse::threads)]
    pub threads: Option<usize>,
    /// Memory to work in, 64MiB at least [default: a quarter of the machine's, or of the container's]
    #[arg(long, value_name = "SIZE", value_parser = parse::memory)]
    pub memory: Option<u64>,
    /// Folder for what a sort cannot keep in memory [default: that of the database]
    #[arg(long, value_name = "FOLDER")]
    pub temp_dir: Option<PathBuf>,
    /// Whether the pages must survive a power cut
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub sync: SyncArg,
}

/// A page that shows the result in a browser.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Page")]
pub struct HtmlArgs {
    /// Draw the result into this file of HTML, which needs no network
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Replace the file of --html if it exists
    #[arg(long, requires = "html")]
    pub overwrite: bool,
    /// Open the page in a browser
    #[arg(long, requires = "html")]
    pub open: bool,
}

impl HtmlArgs {
    /// Sets the page in the options of a check.
    pub fn apply(&self, options: CheckOptions) -> CheckOptions {
        match &self.html {
            Some(page) => options.html(page).overwrite(self.overwrite),
            None => options,
        }
    }

    /// Sets the page in the options of a profile or a comparison.
    pub fn profile(&self, options: ProfileOptions) -> ProfileOptions {
        match &self.html {
            Some(page) => options.html(page).overwrite(self.overwrite),
            None => options,
        }
    }

    /// Opens the page in a browser, if asked to.
    pub fn open(&self) -> Result<()> {
        let Some(page) = self.html.as_ref().filter(|_| self.open) else { return Ok(()) };
        opener::open(page).map_err(|error| {
            let message = format!("the page is written, and no browser opens it: {error}");
            Error::new(ErrorKind::Io, message).in_file(page)
        })
    }
}

/// How results are shown.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Display")]
pub struct OutputArgs {
    /// How progress is shown on standard error
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub progress: Style,
    /// Show no progress and no summary; errors are still told
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Show all that is known: tables, types with their reasons, times
    #[arg(short, long)]
    pub verbose: bool,
    /// Print the result as one JSON object, an error too
    #[arg(long)]
    pub json: bool,
}

impl OutputArgs {
    /// Returns the form of progress. With `--json`, standard error is left to errors unless progress is asked for or a terminal
    /// shows it.
    pub fn progress(&self) -> Style {
        match self.progress {
            Style::Auto if self.quiet => Style::None,
            Style::Auto if self.json && !std::io::stderr().is_terminal() => Style::None,
            style => style,
        }
    }

    /// Returns the form of errors.
    pub fn errors(&self) -> ErrorForm {
        ErrorForm::of(self.json)
    }

    /// Prints a result: as JSON, as a text with all details (`true`) or in short, or not at all.
    pub fn print(&self, to_json: impl FnOnce() -> Json, to_text: impl FnOnce(bool) -> String) -> Result<()> {
        match self {
            Self { json: true, .. } => print_json(&to_json()),
            Self { quiet: true, .. } => Ok(()),
            // Names in it may be those of strangers.
            Self { verbose, .. } => print(&escaped_lines(&to_text(*verbose))),
        }
    }

    /// Prints what a command has done to a database. If that fails, the error says that it is done.
    pub fn print_done(&self, to_json: impl FnOnce() -> Json, to_text: impl FnOnce(bool) -> String) -> Result<()> {
        let done = "the work is done and the database complete: only this summary is missing";
        self.print(to_json, to_text).map_err(|error| error.advise(done))
    }
}

/// `--on-conflict`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ConflictArg {
    /// The run fails.
    #[default]
    Abort,
    /// As INSERT OR IGNORE: the row is left out, also one with NULL in a NOT NULL column.
    Ignore,
    /// As INSERT OR REPLACE: the row takes the place of those before it.
    Replace,
    /// As INSERT ... ON CONFLICT DO UPDATE: the row's values go to the row with its key (upsert).
    Update,
}

/// `--sync`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SyncArg {
    /// The file is synced before it gets its name, the folder after it.
    #[default]
    Full,
    /// Nothing is synced: the system writes when it likes.
    Off,
}

/// `--verify`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum VerifyArg {
    /// Not at all.
    #[default]
    None,
    /// As `litepress check` does.
    Quick,
    /// As `litepress check --full` does.
    Full,
}

impl From<ConflictArg> for Conflict {
    fn from(conflict: ConflictArg) -> Self {
        match conflict {
            ConflictArg::Abort => Self::Abort,
            ConflictArg::Ignore => Self::Ignore,
            ConflictArg::Replace => Self::Replace,
            ConflictArg::Update => Self::Update,
        }
    }
}

impl From<SyncArg> for Sync {
    fn from(sync: SyncArg) -> Self {
        match sync {
            SyncArg::Full => Self::Full,
            SyncArg::Off => Self::Off,
        }
    }
}

impl From<VerifyArg> for Verify {
    fn from(verify: VerifyArg) -> Self {
        match verify {
            VerifyArg::None => Self::None,
            VerifyArg::Quick => Self::Quick,
            VerifyArg::Full => Self::Full,
        }
    }
}

impl BuildArgs {
    /// Returns the options of the database.
    pub fn options(&self) -> Options {
        self.file.options().on_conflict(self.on_conflict.into()).analyze(self.analyze).part(self.part)
    }
}

impl FileArgs {
    /// Returns the options of the file.
    pub fn options(&self) -> Options {
        let mut options = self.work.options().overwrite(self.overwrite).verify(self.verify.into());
        options.page_size = self.page_size;
        options
    }
}

impl WorkArgs {
    /// Returns the options of the work.
    pub fn options(&self) -> Options {
        let mut options = Options::default().sync(self.sync.into());
        options.threads = self.threads.unwrap_or(options.threads);
        options.memory_bytes = self.memory.unwrap_or(options.memory_bytes);
        options.temp_dir.clone_from(&self.temp_dir);
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load_args::{FormatArg, InvalidUtf8Arg, OnErrorArg, RaggedArg};
    use litepress::{Choice, FileFormat, InvalidUtf8, OnError, Ragged};

    /// Compares the program's choices with those of the library, by names and values.
    fn have_the_same_names<A: ValueEnum + Into<C>, C: Choice>() {
        assert_eq!(A::value_variants().len(), C::CHOICES.len());
        for choice in A::value_variants() {
            let name = choice.to_possible_value().unwrap().get_name().to_owned();
            assert!(C::from_name(&name).unwrap() == choice.clone().into(), "{name}");
        }
    }

    #[test]
    fn choices_have_the_names_that_the_library_has() {
        have_the_same_names::<ConflictArg, Conflict>();
        have_the_same_names::<SyncArg, Sync>();
        have_the_same_names::<VerifyArg, Verify>();
        have_the_same_names::<FormatArg, FileFormat>();
        have_the_same_names::<OnErrorArg, OnError>();
        have_the_same_names::<RaggedArg, Ragged>();
        have_the_same_names::<InvalidUtf8Arg, InvalidUtf8>();
    }
}
