//! The report of a copy.

use crate::BuildReport;
use serde_json::{Value, json};

/// The report of [`compact`](crate::compact()).
#[derive(Debug)]
#[non_exhaustive]
pub struct CompactReport {
    /// The report of the copy.
    pub build: BuildReport,
    /// Bytes of the database before.
    pub bytes_before: u64,
    /// Number of indexes of the copy.
    pub indexes: usize,
    /// Objects that the copy lacks, because the options say so: `view v`, `trigger audit (needs log)`.
    pub left_out: Vec<String>,
}

impl CompactReport {
    /// Returns the report for programs: that of the copy, with the fields of this one.
    pub fn to_json(&self) -> Value {
        let mut report = self.build.to_json();
        report["bytes_before"] = json!(self.bytes_before);
        report["indexes"] = json!(self.indexes);
        report["left_out"] = json!(self.left_out);
        report
    }
}
