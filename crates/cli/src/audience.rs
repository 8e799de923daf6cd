//! Who is told while something is done.

use crate::interrupt::Interrupt;
use crate::progress::{Sample, Style, Unit, Watch};
use std::sync::Arc;

/// Who is told while something is done: the user of the program, or nobody.
#[derive(Debug)]
pub struct Audience {
    /// How progress is shown on standard error.
    style: Style,
    /// What Ctrl-C does, which depends on how far a run is.
    interrupt: Option<Arc<Interrupt>>,
}

impl Audience {
    /// Nothing is shown and no signal handled.
    pub const NOBODY: Self = Self { style: Style::None, interrupt: None };

    /// The user of the program.
    pub(crate) fn user(style: Style, interrupt: Option<Arc<Interrupt>>) -> Self {
        Self { style, interrupt }
    }

    /// Shows what `sample` says until the watch is dropped.
    pub(crate) fn watch(&self, unit: Unit, sample: impl Fn() -> Sample + Send + 'static) -> Watch {
        Watch::start(self.style, unit, sample)
    }

    /// There is nothing to clean up: Ctrl-C ends the program at once, even where it waits for input that never comes.
    pub(crate) fn nothing_to_clean_up(&self) {
        self.interrupt.iter().for_each(|interrupt| interrupt.exits_at_once(true));
    }

    /// From now on there is something to clean up.
    pub(crate) fn something_to_clean_up(&self) {
        self.interrupt.iter().for_each(|interrupt| interrupt.exits_at_once(false));
    }
}
