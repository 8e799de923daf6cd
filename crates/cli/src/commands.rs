//! The commands, one file each: arguments, help and output.

mod check;
mod compact;
mod compare;
mod completions;
mod generate;
mod index;
mod inspect;
mod load;
mod man;
mod merge;
mod plan;
mod profile;
mod stitch;

pub use check::{CheckArguments, check_text, run as run_check};
pub use compact::{CompactArguments, run as run_compact};
pub use compare::{CompareArguments, run as run_compare};
pub use completions::{CompletionsArguments, run as run_completions};
pub use generate::{GenerateArguments, run as run_generate};
pub use index::{IndexArguments, ReindexArguments, run_index, run_reindex};
pub use inspect::{InspectArguments, run as run_inspect};
pub use load::{LoadArguments, run as run_load};
pub use man::{ManArguments, run as run_man};
pub use merge::{MergeArguments, run as run_merge};
pub use plan::{PlanArguments, run as run_plan};
pub use profile::{ProfileArguments, run as run_profile};
pub use stitch::{StitchArguments, run as run_stitch};
