//! The observer of a run: shows progress on standard error, and decides the effect of Ctrl-C.

use crate::interrupt::Interrupt;
use crate::progress::{ProgressDisplay, Style};
use litepress::rows::sync::lock;
use litepress::{Meter, Observer, Stage};
use std::sync::{Arc, Mutex, MutexGuard};

/// Shows the progress of a run to the user of the program.
#[derive(Debug)]
pub struct Reporter {
    /// The form of progress on standard error.
    style: Style,
    /// The effect of Ctrl-C, which depends on the stage of the run.
    interrupt: Option<Arc<Interrupt>>,
    watch: Mutex<Option<ProgressDisplay>>,
}

impl Reporter {
    /// Creates a reporter. `interrupt` is told whether there is something to clean up.
    pub fn new(style: Style, interrupt: Option<Arc<Interrupt>>) -> Arc<Self> {
        Arc::new(Self { style, interrupt, watch: Mutex::new(None) })
    }

    fn watch(&self) -> MutexGuard<'_, Option<ProgressDisplay>> {
        lock(&self.watch)
    }
}

impl Observer for Reporter {
    /// Lets Ctrl-C end the program at once if there is nothing to clean up, even if the run waits for input that never comes.
    fn enter(&self, stage: Stage) {
        self.interrupt.iter().for_each(|interrupt| interrupt.exits_at_once(stage != Stage::Build));
    }

    fn measure(&self, meter: Meter) {
        *self.watch() = Some(ProgressDisplay::start(self.style, meter));
    }

    fn end_measure(&self) {
        *self.watch() = None;
    }
}
