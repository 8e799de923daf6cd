//! The commands, one file each.

mod check;
mod dump;
mod r#gen;
mod load;
mod plan;

pub use check::{CheckArguments, Verdict, run as check};
pub use dump::{DumpArguments, run as dump};
pub use r#gen::{GenArguments, run as r#gen};
pub use load::{LoadArguments, run as load};
pub use plan::{PlanArguments, run as plan};
