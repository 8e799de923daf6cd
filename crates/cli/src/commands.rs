//! The commands, one file each: `run` is the command as the program has it, and beside it stands what it does.

mod check;
mod dump;
mod r#gen;
mod load;
mod plan;
mod profile;

pub use check::{CheckArguments, Verdict, check, run as run_check};
pub use dump::{DumpArguments, run as run_dump};
pub use r#gen::{GenArguments, generate, run as run_gen};
pub use load::{LoadArguments, load, run as run_load};
pub use plan::{PlanArguments, plan_generate, plan_load, run as run_plan};
pub use profile::{ProfileArguments, plan_alike, run as run_profile};
