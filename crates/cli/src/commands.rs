//! The commands, one file each: arguments, help and output.

mod check;
mod dump;
mod r#gen;
mod load;
mod plan;
mod profile;

pub use check::{CheckArguments, check_text, run as run_check};
pub use dump::{DumpArguments, run as run_dump};
pub use r#gen::{GenArguments, run as run_gen};
pub use load::{LoadArguments, run as run_load};
pub use plan::{PlanArguments, run as run_plan};
pub use profile::{ProfileArguments, run as run_profile};
