//! `litepress inspect`: explains the bytes of a database file. The file may be broken in any way.

use crate::failure::{DONE, FAILED};
use crate::output::print;
use crate::text_table::{Align, format_table};
use clap::Args;
use litepress::checker::inspect::DatabaseFile;
use litepress::{Error, ErrorKind, Result, units};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  litepress inspect user.db               the file header and the b-trees
  litepress inspect user.db 1             page 1, field by field
  litepress inspect user.db 2 3 4         some pages
  litepress inspect user.db 2 | head -20  the beginning of a page
";

/// Explain the bytes of a database: header and b-trees, or pages
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct InspectArguments {
    /// The database, sound or broken
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// Numbers of pages, counted from 1
    #[arg(value_name = "PAGE", value_parser = page_number)]
    pages: Vec<u32>,
}

pub fn run(arguments: &InspectArguments) -> Result<u8> {
    let file = DatabaseFile::open(&arguments.database)?;
    if arguments.pages.is_empty() {
        let (text, is_database) = overview(&file)?;
        print(&text)?;
        return Ok(if is_database { DONE } else { FAILED });
    }
    for (index, page) in arguments.pages.iter().enumerate() {
        let gap = if index > 0 { "\n" } else { "" };
        print(&format!("{gap}{}", one_page(&file, *page)?))?;
    }
    Ok(DONE)
}

fn one_page(file: &DatabaseFile, number: u32) -> Result<String> {
    let missing = || {
        let message = format!("there is no page {number}: the file has {}", units::counted(file.pages(), "page"));
        Error::new(ErrorKind::Usage, message).in_file(file.path())
    };
    file.page_text(number)?.ok_or_else(missing)
}

/// Describes the header, and the b-trees in the schema. Returns whether SQLite can read the schema, too.
fn overview(file: &DatabaseFile) -> Result<(String, bool)> {
    let [bytes, pages] = [(file.bytes(), "byte"), (file.pages(), "page")].map(|(n, noun)| units::counted(n, noun));
    let mut out = format!("{}: {bytes}, {pages}\n", file.path().display());
    out += &file.header_text()?;
    out += "\nb-trees\n";
    let btrees = file.btrees();
    let is_database = btrees.is_ok();
    match btrees {
        Ok(btrees) => {
            let mut rows = vec![["kind", "name", "table", "root page"].map(str::to_owned).to_vec()];
            rows.extend(btrees.into_iter().map(|tree| vec![tree.kind, tree.name, tree.table, tree.root.to_string()]));
            out += &format_table(&rows, &[Align::Left, Align::Left, Align::Left, Align::Right], 2);
        }
        Err(error) => out += &format!("! {}\n", error.message()),
    }
    Ok((out, is_database))
}

fn page_number(text: &str) -> Result<u32, String> {
    let number = units::count(text).ok().and_then(|count| u32::try_from(count).ok());
    number.filter(|number| *number > 0).ok_or_else(|| "pages are counted from 1 to 4294967294".to_owned())
}
