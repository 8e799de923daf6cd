//! `litepress inspect`: explains the bytes of a database file. The file may be broken in any way.

use crate::commands::check::check_text;
use crate::failure::{DONE, FAILED};
use crate::options::HtmlArgs;
use crate::output::print;
use crate::progress::Style;
use crate::reporter::Reporter;
use crate::text_table::{Align, format_table};
use clap::Args;
use litepress::checker::inspect::DatabaseFile;
use litepress::{CheckOptions, Error, ErrorKind, Result, units};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  litepress inspect user.db               the file header and the b-trees
  litepress inspect user.db 1             page 1, field by field
  litepress inspect user.db 2 3 4         some pages
  litepress inspect user.db 2 | head -20  the beginning of a page
  litepress inspect user.db --html u.html  a page for the browser
  litepress inspect map.gpkg --node rtree_road_geom:1
                                          the root of an R-Tree
";

/// Explain the bytes of a database: header and b-trees, or pages
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct InspectArguments {
    /// The database, sound or broken
    #[arg(value_name = "DB")]
    database: PathBuf,
    /// Numbers of pages, counted from 1
    #[arg(value_name = "PAGE", value_parser = page_number, conflicts_with = "html")]
    pages: Vec<u32>,
    /// Node of an R-Tree table; the root is node 1
    #[arg(long, value_name = "TABLE:NUMBER", value_parser = node, conflicts_with = "html")]
    node: Vec<(String, i64)>,
    #[command(flatten)]
    html: HtmlArgs,
}

pub fn run(arguments: &InspectArguments) -> Result<u8> {
    if arguments.html.html.is_some() {
        return draw(arguments);
    }
    let file = DatabaseFile::open(&arguments.database)?;
    if arguments.pages.is_empty() && arguments.node.is_empty() {
        let (text, is_database) = overview(&file)?;
        print(&text)?;
        return Ok(if is_database { DONE } else { FAILED });
    }
    let pages = arguments.pages.iter().map(|page| one_page(&file, *page));
    let nodes = arguments.node.iter().map(|(table, number)| file.rtree_node_text(table, *number));
    for (index, text) in pages.chain(nodes).enumerate() {
        let gap = if index > 0 { "\n" } else { "" };
        print(&format!("{gap}{}", text?))?;
    }
    Ok(DONE)
}

/// Draws the database as a page. The check that reads it tells its faults.
fn draw(arguments: &InspectArguments) -> Result<u8> {
    let options = arguments.html.apply(CheckOptions::default()).observer(Reporter::new(Style::Auto, None));
    let result = litepress::check(&arguments.database, &options)?;
    arguments.html.open()?;
    print(&check_text(&result))?;
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

fn node(text: &str) -> Result<(String, i64), String> {
    let parts = text.rsplit_once(':').and_then(|(table, number)| Some((table.to_owned(), number.parse().ok()?)));
    parts
        .filter(|(table, _)| !table.is_empty())
        .ok_or_else(|| "give a table and the number of a node: boxes:1".to_owned())
}

fn page_number(text: &str) -> Result<u32, String> {
    let number = units::count(text).ok().and_then(|count| u32::try_from(count).ok());
    number.filter(|number| *number > 0).ok_or_else(|| "pages are counted from 1 to 4294967294".to_owned())
}
