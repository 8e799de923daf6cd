//! The commands, one file each: arguments, help and output.

mod check;
mod compare;
mod generate;
mod inspect;
mod load;
mod plan;
mod profile;

pub use check::{CheckArguments, check_text, run as run_check};
pub use compare::{CompareArguments, run as run_compare};
pub use generate::{GenerateArguments, run as run_generate};
pub use inspect::{InspectArguments, run as run_inspect};
pub use load::{LoadArguments, run as run_load};
pub use plan::{PlanArguments, run as run_plan};
pub use profile::{ProfileArguments, run as run_profile};
