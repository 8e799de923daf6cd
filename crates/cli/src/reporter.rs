//! How a run is watched: progress on standard error, and what Ctrl-C does.

use crate::interrupt::Interrupt;
use crate::progress::{Style, Watch};
use litepress::{Meter, Observer, Stage};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Shows the progress of a run to the user of the program.
#[derive(Debug)]
pub struct Reporter {
    /// How progress is shown on standard error.
    style: Style,
    /// What Ctrl-C does, which depends on how far a run is.
    interrupt: Option<Arc<Interrupt>>,
    watch: Mutex<Option<Watch>>,
}

impl Reporter {
    /// Creates a reporter. `interrupt` is told whether there is something to clean up.
    pub fn new(style: Style, interrupt: Option<Arc<Interrupt>>) -> Arc<Self> {
        Arc::new(Self { style, interrupt, watch: Mutex::new(None) })
    }

    fn watch(&self) -> MutexGuard<'_, Option<Watch>> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Reporter {
    /// Lets Ctrl-C end the program at once if there is nothing to clean up, even if the run waits for input that never comes.
    fn enter(&self, stage: Stage) {
        self.interrupt.iter().for_each(|interrupt| interrupt.exits_at_once(stage != Stage::Build));
    }

    fn measure(&self, meter: Meter) {
        *self.watch() = Some(Watch::start(self.style, meter));
    }

    fn end_measure(&self) {
        *self.watch() = None;
    }
}
