//! Cancels an operation of a connection from another thread.

use crate::error::Result;
use adbc_core::CancelHandle;
use litepress::Progress;
use litepress_rows::sync::lock;
use rusqlite::InterruptHandle;
use std::sync::{Arc, Mutex};

/// Handles of a statement of SQLite and of a run of litepress.
#[derive(Default)]
pub struct Cancel {
    interrupt: Mutex<Option<InterruptHandle>>,
    progress: Mutex<Arc<Progress>>,
}

impl Cancel {
    /// Watches a new connection of SQLite.
    pub fn watch(&self, interrupt: InterruptHandle) {
        *lock(&self.interrupt) = Some(interrupt);
    }

    /// Begins a new step. A request to cancel the previous one is dropped.
    pub fn begin(&self) {
        *lock(&self.progress) = Arc::default();
    }

    /// Returns the progress of the step.
    pub fn progress(&self) -> Arc<Progress> {
        lock(&self.progress).clone()
    }
}

/// A share of [`Cancel`], for ADBC.
pub struct SharedCancel(pub Arc<Cancel>);

impl CancelHandle for SharedCancel {
    fn try_cancel(&self) -> Result<()> {
        lock(&self.0.progress).stop();
        if let Some(interrupt) = &*lock(&self.0.interrupt) {
            interrupt.interrupt();
        }
        Ok(())
    }
}
