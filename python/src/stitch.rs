//! `litepress.stitch`: parts that were printed elsewhere become one database.

use crate::errors::exception;
use crate::files::run;
use crate::options::{making_options, refuse_append, refuse_replace};
use crate::words;
use litepress::{Json, PageCopy, Parts, StitchOptions};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// Stitches parts and returns the report as JSON. With `leaves_out_copies`, its `copies` are the pieces that are left out: position
/// of the part, offset there, offset in the database, bytes.
#[pyfunction]
pub fn stitch(
    py: Python<'_>,
    path: PathBuf,
    parts: Vec<PathBuf>,
    making: &Bound<'_, PyDict>,
    leaves_out_copies: bool,
    tell: Option<Py<PyAny>>,
) -> PyResult<String> {
    refuse_replace(making)?;
    refuse_append(making)?;
    let options = StitchOptions::default().build(making_options(making)?).leaves_out_copies(leaves_out_copies);
    let job = || {
        let report = litepress::stitch(path, parts, &options)?;
        let mut json = report.to_json(&words::Keywords);
        let copy = |copy: &PageCopy| Json::from(vec![copy.part as u64, copy.from, copy.to, copy.bytes]);
        json["copies"] = report.copies.iter().map(copy).collect();
        Ok(json)
    };
    run(py, &options.build.progress, tell, job)
}

/// Returns the range of the directory of a part that begins with these bytes.
#[pyfunction]
pub fn part_directory(py: Python<'_>, header: &[u8]) -> PyResult<(u64, u64)> {
    let range = Parts::directory_range(header).map_err(|error| exception(py, &error))?;
    Ok((range.start, range.end))
}

/// Returns the ranges of bytes of a part that a stitch reads. Its other pages may be missing from the file.
#[pyfunction]
pub fn part_needs(py: Python<'_>, path: PathBuf) -> PyResult<Vec<(u64, u64)>> {
    let ranges = Parts::needed(&path).map_err(|error| exception(py, &error))?;
    Ok(ranges.into_iter().map(|range| (range.start, range.end)).collect())
}
