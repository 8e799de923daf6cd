//! The mode of a part: rows and sorted entries instead of trees, and a directory instead of a schema.

use super::Database;
use crate::part::{Directory, PageStream, header_page};
use crate::{Conflict, Error, ErrorKind, Options, Result, Verify, plan};
use litepress_rows::Schema;

/// Refuses a part where a database is made or changed: `why`.
pub(crate) fn refuse_part(options: &Options, why: &str) -> Result<()> {
    if !options.part {
        return Ok(());
    }
    let error = Error::new(ErrorKind::Usage, format!("a part cannot be written: {why}"));
    Err(error.advise("write parts of new rows, and stitch them to a new database"))
}

/// Refuses a part that cannot hold the tables, and options for whole databases only.
pub(crate) fn refuse_unfit_part(schema: &Schema, options: &Options) -> Result<()> {
    let usage = |message: &str, advice: &str| Err(Error::new(ErrorKind::Usage, message).advise(advice.to_owned()));
    if options.on_conflict != Conflict::Abort {
        let advice = "leave the policy out, or write databases instead of parts, and merge them with it";
        return usage("a part cannot resolve conflicts with the rows of other parts", advice);
    }
    if options.analyze {
        return usage("a part has no statistics for SQLite's planner", "ask for them when the parts are stitched");
    }
    if options.verify != Verify::None {
        return usage(
            "a part is no database that could be verified",
            "verify the database that is stitched from parts",
        );
    }
    if options.successor_of.is_some() {
        refuse_part(options, "tables of a database that exists are replaced")?;
    }
    for table in &schema.tables {
        let is_special = table.is_virtual || table.rtree.is_some() || table.full_text.is_some();
        let why = if is_special {
            Some("it is virtual".to_owned())
        } else {
            plan::unsupported_reason(table, Conflict::Abort)
        };
        if let Some(why) = why {
            let error = Error::new(ErrorKind::Unsupported, format!("a part cannot hold this table: {why}"));
            return Err(error.in_table(&table.name).advise("write databases instead of parts, and merge them"));
        }
    }
    Ok(())
}

impl Database {
    /// Writes the directory. Returns page 1, which must be written last.
    pub(super) fn finish_part(&mut self) -> Result<Vec<u8>> {
        let page_size = self.output.pages.page_size();
        let directory = Directory::new(&self.schema, page_size, std::mem::take(&mut self.stored)).to_bytes()?;
        let mut stream = PageStream::new(&mut self.output.pages);
        stream.write(&directory)?;
        let (first_page, ..) = stream.finish()?;
        Ok(header_page(page_size, first_page, &directory))
    }
}
