//! The Python package `litepress`, as its extension module `litepress._litepress`.
//!
//! ```text
//!  litepress/__init__.py    what users call: arguments are sorted out, data is told apart (_describe.py)
//!        |
//!  write.rs   data that is all there: given readers -> LoadPlan -> engine
//!  writer.rs  rows as they come: litepress::pipeline
//!  files.rs   load, generate, plan, profile, compare, check: functions of the crate litepress
//!        |
//!  arrow_in.rs  Arrow capsules     -+
//!  rows.rs      rows, one by one    +--> pieces --feed.rs--> LoadSource --> engine, on a thread of its own (engine_thread.rs)
//!  columns.rs   columns, each whole +
//!  cells.rs     one Python value    -+
//! ```
//!
//! **Python code runs in the calling thread**: iterators, adapters and progress functions are called there. The engine works in
//! other threads meanwhile, without the interpreter. The calling thread waits for them in short naps, to notice Ctrl-C.
//! Only Arrow streams are pulled by the engine: their interface allows any thread to do so.

mod arrow_in;
mod cells;
mod columns;
mod engine_thread;
mod errors;
mod feed;
mod files;
mod merge;
mod names;
mod options;
mod rows;
mod stitch;
mod words;
mod write;
mod writer;

// The ADBC driver's entry points are symbols of this library.
use adbc_driver_litepress as _;
use pyo3::prelude::*;

#[pymodule]
mod _litepress {
    #[pymodule_export]
    use crate::files::{
        check, compact, compare, generate, index, load, plan_generate, plan_load, preset, presets, profile,
        refuse_lock, run_program, schema_file,
    };
    #[pymodule_export]
    use crate::merge::{merge, plan_merge};
    #[pymodule_export]
    use crate::options::choices;
    #[pymodule_export]
    use crate::stitch::{part_directory, part_needs, stitch};
    #[pymodule_export]
    use crate::write::{columns_of, only_table, write};
    #[pymodule_export]
    use crate::writer::Writer;
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's name")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
