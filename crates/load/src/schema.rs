//! Tables for files: the DDL of new tables ([`create`]), and the mapping of file columns to the columns of given tables
//! ([`matching`]).

mod agreement;
mod column_mapping;
mod ddl;
mod default;
mod distinct;
mod name;
mod pattern;

pub(crate) use agreement::{Origin, disagreements, idle_options, options_of_new};
pub(crate) use column_mapping::LACKS_COLUMNS;
pub use column_mapping::{ColumnMapping, Naming, matching};
pub(crate) use ddl::declare_types;
pub(crate) use ddl::full_text::unused as unused_full_text_options;
use ddl::type_of_word;
pub use ddl::{FtsContent, NewTable, TableOptions, create};
pub use default::RowDefault;
pub(crate) use distinct::distinct;
pub use pattern::{numbers_of, value_of};

/// Returns `a, b, c`, shortened if there are more than 30 names.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const SHOWN: usize = 30;
    let names: Vec<&str> = names.map(|name| if name.is_empty() { "\"\"" } else { name }).collect();
    let more = if names.len() > SHOWN { format!(", and {} more", names.len() - SHOWN) } else { String::new() };
    format!("{}{more}", names[..names.len().min(SHOWN)].join(", "))
}
