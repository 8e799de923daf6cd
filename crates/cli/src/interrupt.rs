//! Ctrl-C and SIGTERM: the first asks the run to stop, which leaves nothing behind; the second does not wait. SIGXFSZ does
//! nothing.

use crate::failure::INTERRUPTED;
use crate::output;
use litepress::{Error, ErrorKind, Progress, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What the next signal does.
#[derive(Debug, Default)]
pub struct Interrupt {
    exits_at_once: AtomicBool,
}

impl Interrupt {
    /// From now on a signal stops `progress`; to be called once.
    pub fn stops(progress: Arc<Progress>) -> Result<Arc<Self>> {
        let interrupt = Arc::new(Self::default());
        let seen = interrupt.clone();
        let on_signal = move || {
            if seen.exits_at_once.swap(true, Ordering::Relaxed) {
                output::say("\nerror: interrupted\n");
                std::process::exit(INTERRUPTED.into());
            }
            progress.stop();
            output::say("\nstopping; once more to exit without cleaning up\n");
        };
        ctrlc::set_handler(on_signal)
            .map_err(|error| Error::new(ErrorKind::Io, format!("cannot watch for Ctrl-C: {error}")))?;
        fail_writes_at_the_limit()?;
        Ok(interrupt)
    }

    /// Whether a signal ends the program at once: there is nothing to clean up.
    pub fn exits_at_once(&self, at_once: bool) {
        self.exits_at_once.store(at_once, Ordering::Relaxed);
    }
}

/// A write beyond the limit on the size of files (`ulimit -f`) is to fail like any other, and not to kill the program,
/// which would leave its temporary file behind. Nobody reads the flag.
fn fail_writes_at_the_limit() -> Result<()> {
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default())
        .map(drop)
        .map_err(|error| Error::new(ErrorKind::Io, format!("cannot watch for the limit on the size of files: {error}")))
}
