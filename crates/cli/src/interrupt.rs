//! Signal handlers. The first Ctrl-C or SIGTERM asks the run to stop and clean up, the second exits at once, and so does a run
//! that has not stopped after half a minute. SIGXFSZ is ignored.

use crate::failure::ErrorForm;
use crate::output;
use litepress::{Error, ErrorKind, Progress, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The time for a run to stop and clean up. The next run removes what it leaves.
const LONGEST_STOP: Duration = Duration::from_secs(30);

/// Ends the program without cleaning up.
fn exit(form: ErrorForm) -> ! {
    let code = form.report(&Error::new(ErrorKind::Interrupted, "interrupted"));
    std::process::exit(code.into())
}

/// The effect of the next signal: exit at once, or stop the run.
#[derive(Debug, Default)]
pub struct Interrupt {
    exits_at_once: AtomicBool,
}

impl Interrupt {
    /// Installs the handlers: a signal stops `progress` from now on. `form` is that of messages. Fails if it is called twice in a
    /// process.
    pub fn stops(progress: Arc<Progress>, form: ErrorForm) -> Result<Arc<Self>> {
        let interrupt = Arc::new(Self::default());
        let seen = interrupt.clone();
        let on_signal = move || {
            if seen.exits_at_once.swap(true, Ordering::Relaxed) {
                output::say(if form == ErrorForm::Text { "\n" } else { "" });
                exit(form);
            }
            progress.stop();
            // A statement of SQLite may not look whether it shall stop: `timeout` sends one signal, and waits for its effect.
            let wait = move || {
                std::thread::sleep(LONGEST_STOP);
                exit(form);
            };
            let _unless_no_memory = std::thread::Builder::new().spawn(wait);
            if form == ErrorForm::Text {
                output::say("\nstopping; once more to exit without cleaning up\n");
            }
        };
        ctrlc::set_handler(on_signal)
            .map_err(|error| Error::new(ErrorKind::Io, format!("cannot watch for Ctrl-C: {error}")))?;
        fail_writes_at_the_limit()?;
        Ok(interrupt)
    }

    /// Sets whether the next signal ends the program at once, because there is nothing to clean up.
    pub fn exits_at_once(&self, at_once: bool) {
        self.exits_at_once.store(at_once, Ordering::Relaxed);
    }
}

/// Does nothing: there is no such limit.
#[cfg(windows)]
#[expect(clippy::unnecessary_wraps, reason = "unix has such a limit")]
fn fail_writes_at_the_limit() -> Result<()> {
    Ok(())
}

/// Lets a write beyond the limit on file sizes (`ulimit -f`) fail like any other. Without a handler SIGXFSZ kills the program,
/// whose temporary file then stays. The handler's flag has no reader.
#[cfg(unix)]
fn fail_writes_at_the_limit() -> Result<()> {
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default())
        .map(drop)
        .map_err(|error| Error::new(ErrorKind::Io, format!("cannot watch for the limit on the size of files: {error}")))
}
