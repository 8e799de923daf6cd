//! The commands, one file each.

mod check;
mod dump;
mod r#gen;
mod plan;

pub use check::{CheckArguments, Verdict, run as check};
pub use dump::{DumpArguments, run as dump};
pub use r#gen::{GenArguments, run as r#gen};
pub use plan::{PlanArguments, run as plan};
