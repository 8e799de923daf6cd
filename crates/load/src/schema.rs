//! Tables for files: the DDL of tables that are made for them ([`create`]), and which column of a file goes where in a table
//! that is given ([`matching`]).

mod ddl;
mod default;
mod fit;
mod name;

pub use ddl::{NewTable, TableOptions, create};
pub use default::RowDefault;
pub use fit::{Fit, Naming, matching};

/// `a, b, c`, cut where it is long.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const SHOWN: usize = 30;
    let names: Vec<&str> = names.collect();
    let more = if names.len() > SHOWN { format!(", and {} more", names.len() - SHOWN) } else { String::new() };
    format!("{}{more}", names[..names.len().min(SHOWN)].join(", "))
}
