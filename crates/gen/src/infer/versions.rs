//! A repository that keeps its versions in tables, in the form of Fossil: each fourth artifact is a check-in, and those between are
//! versions of files. Each fifth of the fourth ones is a change of something else: a ticket, a page of a wiki.
//!
//! ```text
//! artifact   1 2 3   4         5 6 7   8         ... 17 18 19   20
//!            files   check-in  files   check-in      files      ticket
//! ```

use super::names::plain;
use super::{Inference, inferred};
use litepress_rows::schema::{Schema, Table};

/// The artifacts of a repository, of which the keys count.
pub(crate) struct Versions {
    /// Position of the table of artifacts, and their number.
    pub table: usize,
    rows: u64,
    /// Check-ins from a version of a file to the next one.
    cycle: u64,
    /// Deliveries of artifacts.
    deliveries: u64,
}

/// Returns whether a schema has the versions of files: their names, and which version follows from which.
pub(super) fn is_of_versions(schema: &Schema) -> bool {
    schema.table("filename").is_some() && schema.table("delta").is_some()
}

impl Versions {
    /// Returns the artifacts of a schema that has some, given the rows of its tables.
    pub(crate) fn new(schema: &Schema, rows_of: impl Fn(usize) -> u64) -> Option<Self> {
        const LEAST: u64 = 40;
        let table = schema.position("blob").filter(|_| is_of_versions(schema))?;
        let rows = rows_of(table);
        let count = |name| schema.position(name).map_or(1, &rows_of);
        let cycle = (count("filename") / 3).min(rows / 32).max(1);
        (rows >= LEAST).then(|| Self { table, rows, cycle, deliveries: count("rcvfrom").max(1) })
    }

    /// Returns the seconds from one artifact to the next, if the last one comes after so many days.
    pub(super) fn seconds_each(&self, days: i64) -> i64 {
        (days * 86400 / i64::try_from(self.rows).unwrap_or(i64::MAX)).max(1)
    }

    /// Returns the most rows that a table has.
    pub(crate) fn most_rows(&self, table: &Table) -> Option<u64> {
        let changes = self.rows / 4;
        Some(match plain(&table.name).as_str() {
            "event" => changes,
            "plink" => changes - changes / 5 - 1,
            "tagxref" => changes - changes / 5,
            "mlink" => 3 * (changes - 1),
            "delta" => 3 * (changes - self.cycle),
            "filename" => 3 * (self.rows / 32).max(1),
            "rcvfrom" => self.rows.div_ceil(12),
            "unclustered" => self.rows.div_ceil(200),
            _ => return None,
        })
    }

    /// Returns the annotation of a column that has the key of an artifact or of what belongs to one, in a table of `rows`.
    pub(crate) fn key(&self, table: &Table, column: usize, rows: u64) -> Option<Inference> {
        if self.most_rows(table).is_some_and(|most| rows > most) {
            return None;
        }
        const FILE: &str = "4 * ((sequence() - 1) / 3) + (sequence() - 1) % 3 + 1";
        let (artifacts, cycle) = (self.rows, self.cycle);
        let text = match (plain(&table.name).as_str(), plain(&table.columns[column].name).as_str()) {
            ("blob", "rcvid") => format!("(\"rid\" - 1) * {} / {artifacts} + 1", self.deliveries),
            ("event", "objid") => "4 * sequence()".to_owned(),
            // Only a tag of a check-in is one of the artifact.
            ("event", "tagid") | ("plink", "baseid") | ("mlink", "pfnid") => "constant(NULL)".to_owned(),
            ("plink", "cid") => "4 * (5 * sequence() / 4 + 1)".to_owned(),
            ("plink", "pid") => "4 * (5 * max(0, sequence() - choice(1: 9, 2)) / 4 + 1)".to_owned(),
            ("mlink" | "delta", "fid" | "rid") => FILE.to_owned(),
            ("mlink", "mid") => "4 * (\"fid\" / 4 + 1) + if((\"fid\" / 4 + 1) % 5 = 0, 4, 0)".to_owned(),
            ("mlink", "pmid") => "if(\"mid\" > 4, \"mid\" - if(\"mid\" % 20 = 4, 8, 4))".to_owned(),
            ("mlink", "pid") => format!("if(\"fid\" > {}, \"fid\" - {})", 4 * cycle, 4 * cycle),
            ("mlink", "fnid") => format!("\"fid\" / 4 % {cycle} * 3 + \"fid\" % 4"),
            ("delta", "srcid") => format!("\"rid\" + {}", 4 * cycle),
            ("unclustered", "rid") => format!("{} + sequence()", artifacts - rows),
            ("tagxref", "rid") => "4 * (5 * (sequence() - 1) / 4 + 1)".to_owned(),
            ("tagxref", "tagid") => "ref(tag.tagid, popular)".to_owned(),
            ("tagxref", "srcid" | "origid") => "\"rid\"".to_owned(),
            _ => return None,
        };
        Some(inferred(text, "in the order of check-ins"))
    }
}
