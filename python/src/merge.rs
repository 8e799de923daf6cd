//! `litepress.merge`: databases of one schema become one.

use crate::files::run;
use crate::options::{Keywords, making_options, refuse_append, refuse_replace};
use crate::words;
use litepress::own_locks::refuse_own_lock;
use litepress::{Choice, MergeOptions, RowidPolicy, Target};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// Merges databases and returns the report as JSON.
#[pyfunction]
pub fn merge(
    py: Python<'_>,
    path: PathBuf,
    databases: Vec<PathBuf>,
    arguments: &Bound<'_, PyDict>,
    making: &Bound<'_, PyDict>,
    tell: Option<Py<PyAny>>,
) -> PyResult<String> {
    let options = merge_options(arguments, making)?;
    let job = || Ok(litepress::merge(path, databases, &options)?.to_json(&words::Keywords));
    run(py, &options.build.progress, tell, job)
}

/// Returns what [`merge`] would do, as JSON.
#[pyfunction]
pub fn plan_merge(
    py: Python<'_>,
    path: Option<PathBuf>,
    databases: Vec<PathBuf>,
    arguments: &Bound<'_, PyDict>,
    making: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let options = merge_options(arguments, making)?;
    let job = || Ok(litepress::plan_merge(path.map(Target::File), databases, &options)?.to_json(&words::Keywords));
    run(py, &options.build.progress, None, job)
}

fn merge_options(arguments: &Bound<'_, PyDict>, making: &Bound<'_, PyDict>) -> PyResult<MergeOptions> {
    refuse_replace(making)?;
    refuse_append(making)?;
    let given = Keywords(arguments);
    let mut options = MergeOptions::default().build(making_options(making)?);
    if let Some(policy) = given.parsed("rowids", RowidPolicy::from_name)? {
        options.rowids.push((None, policy));
    }
    for (table, policy) in given.or_default::<Vec<(String, String)>>("table_rowids")? {
        let policy = RowidPolicy::from_name(&policy);
        let policy = policy.map_err(|reason| PyValueError::new_err(format!("rowids: {reason}")))?;
        options.rowids.push((Some(table), policy));
    }
    options.path_guard = Some(refuse_own_lock);
    options.source_column = given.get("source_column")?;
    options.union = given.or_default("union")?;
    options.skip_tables = given.or_default("skip_tables")?;
    Ok(options)
}
