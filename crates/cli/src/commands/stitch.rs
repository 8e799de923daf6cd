//! `litepress stitch`: parts that were printed elsewhere become one database.

use crate::build_text::stitch_text;
use crate::failure::{DONE, ErrorForm};
use crate::interrupt::Interrupt;
use crate::options::{OutputArgs, VerifyArg, WorkArgs};
use crate::output::refuse_special_name;
use crate::reporter::Reporter;
use clap::Args;
use litepress::{Flags, Result, StitchOptions};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  litepress generate 1.part --preset user --rows 1m --shard 1/2 --part
  litepress generate 2.part --preset user --rows 1m --shard 2/2 --part
  litepress stitch user.db 1.part 2.part
  litepress stitch all.db parts/* --analyze --verify full
";

/// Make one database of parts that 'generate', 'load' or 'merge' have written with --part
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct StitchArguments {
    /// The database to make
    #[arg(value_name = "OUT.db")]
    out: PathBuf,
    /// Parts of one schema, in any order; they are only read
    #[arg(value_name = "PART", required = true)]
    parts: Vec<PathBuf>,
    #[command(flatten)]
    make: StitchArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// How the database is made.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output database")]
struct StitchArgs {
    #[command(flatten)]
    work: WorkArgs,
    /// Replace the database if it exists
    #[arg(long)]
    overwrite: bool,
    /// Check the file before it gets its name: quick as 'litepress check' does, full with SQLite's checks too
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    verify: VerifyArg,
    /// Give SQLite's planner its statistics (sqlite_stat1), as ANALYZE would
    #[arg(long)]
    analyze: bool,
}

impl StitchArguments {
    /// Returns the form of errors.
    pub fn errors(&self) -> ErrorForm {
        self.output.errors()
    }
}

pub fn run(arguments: StitchArguments) -> Result<u8> {
    let StitchArguments { out, parts, make, output } = arguments;
    refuse_special_name(&out, false)?;
    let build = make.work.options().overwrite(make.overwrite).verify(make.verify.into()).analyze(make.analyze);
    let interrupt = Interrupt::stops(build.progress.clone(), output.errors())?;
    let reporter = Reporter::new(output.progress(), Some(interrupt));
    let options = StitchOptions::default().build(build).observer(reporter);
    let report = litepress::stitch(&*out, parts, &options)?;
    output.print_done(|| report.to_json(&Flags), |verbose| stitch_text(&report, verbose))?;
    Ok(DONE)
}
