//! Progress reports of a run, for programs that show them.

use litepress_engine::Phase;
use std::fmt;

/// A receiver of a run's stages and progress. All methods do nothing by default.
pub trait Observer: fmt::Debug + Send + Sync {
    /// Receives the stage that begins.
    fn enter(&self, _stage: Stage) {}

    /// Receives a meter, which measures the progress from any thread until [`end_measure`](Self::end_measure).
    fn measure(&self, _meter: Meter) {}

    /// Marks the end of the measurable work.
    fn end_measure(&self) {}
}

/// A stage of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Files are inspected. Nothing is left behind if the process ends.
    Inspect,
    /// The database is built. If the process ends, its temporary file is left behind until a later run removes it.
    Build,
    /// The run is over. Nothing is left behind if the process ends.
    Over,
}

/// A source of samples of a run's progress.
pub struct Meter {
    /// The unit that is counted.
    pub unit: Unit,
    sample: Box<dyn Fn() -> Sample + Send>,
}

/// A unit of progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// Rows that were handed to the engine.
    Rows,
    /// Bytes of the input files, before they are decompressed.
    InputBytes,
    /// Pages that were checked.
    Pages,
}

/// The progress at one moment.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// Units done.
    pub done: u64,
    /// Units in all; 0 if their number is unknown, as of a pipe.
    pub total: u64,
    /// Bytes written or read.
    pub bytes: u64,
    /// The current phase. Its name is empty if there is only one.
    pub phase: Phase,
}

impl Meter {
    pub(crate) fn new(unit: Unit, sample: impl Fn() -> Sample + Send + 'static) -> Self {
        Self { unit, sample: Box::new(sample) }
    }

    /// Measures the progress.
    pub fn sample(&self) -> Sample {
        (self.sample)()
    }
}

impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meter").field("unit", &self.unit).finish_non_exhaustive()
    }
}

/// An observer that ignores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullObserver;

impl Observer for NullObserver {}

/// A guard that ends an observer's measurement when it is dropped.
pub(crate) struct Measured<'o>(&'o dyn Observer);

impl<'o> Measured<'o> {
    pub(crate) fn begin(observer: &'o dyn Observer, meter: Meter) -> Self {
        observer.measure(meter);
        Self(observer)
    }
}

impl Drop for Measured<'_> {
    fn drop(&mut self) {
        self.0.end_measure();
    }
}
