//! Progress on standard error: a bar on a terminal, lines elsewhere.
//!
//! Workers only count. A separate thread reads the counters ten times a second, so progress costs the workers nothing more.

use crate::output;
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use litepress::engine::memory_bytes;
use litepress::{Meter, Phase, Sample, Unit, units};
use serde_json::json;
use std::io::IsTerminal;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How progress is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Style {
    /// A bar on a terminal, else a line every two seconds.
    #[default]
    Auto,
    /// A line every second.
    Plain,
    /// A JSON object a line every second, and one at the end.
    Json,
    /// Nothing.
    None,
}

/// A unit of progress in words.
trait UnitWords {
    /// Returns the unit's name in JSON.
    fn name(self) -> &'static str;
    /// Describes progress with a total: `450,000 of 1,000,000 rows`, `340 MB of 766 MB read`.
    fn describe(self, done: u64, total: u64) -> String;
    /// Describes progress without the total: `450 million rows`, `340 MB read`.
    fn describe_shortly(self, done: u64) -> String;
    /// Describes the speed: `85.2 million rows/s`, `340 MB/s`.
    fn rate(self, per_second: f64) -> String;
    /// Describes the bytes written. Adds "written" if the unit counts bytes, too.
    fn written(self, bytes: u64) -> String;
}

impl UnitWords for Unit {
    fn name(self) -> &'static str {
        match self {
            Self::Pages => "pages",
            Self::InputBytes => "input_bytes",
            _ => "rows",
        }
    }

    fn describe(self, done: u64, total: u64) -> String {
        match self {
            Self::InputBytes => format!("{} of {} read", units::bytes(done), units::bytes(total)),
            _ => format!("{} of {} {}", units::grouped(done), units::grouped(total), self.name()),
        }
    }

    fn describe_shortly(self, done: u64) -> String {
        match self {
            Self::InputBytes => format!("{} read", units::bytes(done)),
            _ => format!("{} {}", units::rate(done as f64), self.name()),
        }
    }

    fn rate(self, per_second: f64) -> String {
        match self {
            Self::InputBytes => format!("{}/s", units::bytes(units::rounded(per_second))),
            _ => format!("{} {}/s", units::rate(per_second), self.name()),
        }
    }

    fn written(self, bytes: u64) -> String {
        match self {
            Self::InputBytes => format!("{} written", units::bytes(bytes)),
            _ => units::bytes(bytes),
        }
    }
}

/// Shows progress until it is dropped.
#[derive(Debug)]
pub struct ProgressDisplay {
    /// Dropping the sender ends the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

const TICK: Duration = Duration::from_millis(100);

impl ProgressDisplay {
    /// Starts the thread that shows a meter's samples.
    pub fn start(style: Style, meter: Meter) -> Self {
        let Some(mut view) = View::new(style, meter.unit) else { return Self { stop: None, thread: None } };
        let (stop, stopped) = mpsc::channel();
        // A run without a display is better than none.
        let thread = std::thread::Builder::new().spawn(move || {
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                view.show(&meter.sample());
            }
            view.finish(&meter.sample());
        });
        Self { stop: Some(stop), thread: thread.ok() }
    }
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct View {
    unit: Unit,
    started: Instant,
    /// The phase that was shown last, and its begin.
    phase: (u32, Instant),
    lines_shown: u32,
    form: Form,
}

enum Form {
    Bar(ProgressBar),
    Lines { every: Duration },
    Json { every: Duration },
}

impl View {
    fn new(style: Style, unit: Unit) -> Option<Self> {
        let second = Duration::from_secs(1);
        let form = match style {
            Style::Auto if std::io::stderr().is_terminal() => Form::Bar(bar()),
            Style::Auto => Form::Lines { every: 2 * second },
            Style::Plain => Form::Lines { every: second },
            Style::Json => Form::Json { every: second },
            Style::None => return None,
        };
        let started = Instant::now();
        Some(Self { unit, started, phase: (0, started), lines_shown: 0, form })
    }

    fn show(&mut self, sample: &Sample) {
        let status = self.status(sample);
        match &self.form {
            Form::Bar(bar) if sample.phase.is_after_rows => {
                bar.set_style(bar_style("{spinner} {wide_msg}"));
                bar.tick();
                bar.set_message(describe_shortly(sample, self.unit, status));
            }
            Form::Bar(bar) => {
                bar.set_length(sample.total);
                bar.set_position(sample.done);
                bar.set_message(describe_shortly(sample, self.unit, status));
            }
            Form::Lines { every } => {
                if status.all >= *every * (self.lines_shown + 1) {
                    self.lines_shown += 1;
                    output::say(&format!("{}\n", describe(sample, self.unit, status)));
                }
            }
            Form::Json { every } => {
                if status.all >= *every * (self.lines_shown + 1) {
                    self.lines_shown += 1;
                    output::say(&format!("{}\n", to_json(sample, self.unit, status)));
                }
            }
        }
    }

    /// Measures the time since the begin of the run and of the phase, and memory.
    fn status(&mut self, sample: &Sample) -> Status {
        if sample.phase.number != self.phase.0 {
            self.phase = (sample.phase.number, Instant::now());
        }
        let (all, phase) = (self.started.elapsed(), self.phase.1.elapsed());
        Status { all, phase, memory_bytes: memory_bytes() }
    }

    fn finish(&mut self, sample: &Sample) {
        let status = self.status(sample);
        match &self.form {
            Form::Bar(bar) => bar.finish_and_clear(),
            Form::Lines { .. } => {}
            Form::Json { .. } => output::say(&format!("{}\n", to_json(sample, self.unit, status))),
        }
    }
}

/// The time that has passed, and the memory in use.
#[derive(Clone, Copy, Debug)]
struct Status {
    /// Time since the begin of the run.
    all: Duration,
    /// Time since the begin of the phase.
    phase: Duration,
    /// Memory of the process; `None` if the system does not tell.
    memory_bytes: Option<u64>,
}

impl Status {
    /// Describes the memory: `, 71.0 MiB of memory`.
    fn memory(self) -> String {
        self.memory_bytes.map(|bytes| format!(", {} of memory", units::memory(bytes))).unwrap_or_default()
    }
}

fn bar() -> ProgressBar {
    ProgressBar::new(0).with_style(bar_style("{bar:14} {wide_msg}"))
}

fn bar_style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("a template that never changes").progress_chars("#>-")
}

/// Describes progress in a line: `phase 1 of 3: rows of user, 450,000,000 of 1,000,000,000 rows (45 %), 9.10 GB,
/// 85.2 million rows/s, 6.46 s left, 71.0 MiB of memory`. After the last row it is `phase 2 of 3: index i, 3.20 s;
/// 1,000,000,000 rows, 9.10 GB, 71.0 MiB of memory`.
fn describe(sample: &Sample, unit: Unit, status: Status) -> String {
    if sample.phase.is_after_rows {
        return describe_phase(sample, unit, status);
    }
    let (phase, speed) = (describe_name(&sample.phase), describe_speed(sample, unit, status));
    let (bytes, memory) = (unit.written(sample.bytes), status.memory());
    if sample.total == 0 {
        return format!("{phase}{}, {bytes}, {speed}{memory}", unit.describe_shortly(sample.done));
    }
    format!("{phase}{} ({} %), {bytes}, {speed}{memory}", unit.describe(sample.done, sample.total), percent(sample))
}

/// Describes progress beside a bar. The most important figures come first, because a narrow terminal cuts the line:
/// `45 %, 85.2 million rows/s, 6.46 s left, phase 1 of 3: rows of user, 71.0 MiB of memory, 450 million rows, 9.10 GB`.
fn describe_shortly(sample: &Sample, unit: Unit, status: Status) -> String {
    if sample.phase.is_after_rows {
        return describe_phase(sample, unit, status);
    }
    let (phase, speed) = (describe_name(&sample.phase), describe_speed(sample, unit, status));
    let phase = phase.trim_end_matches(", ");
    let comma = if phase.is_empty() { "" } else { ", " };
    let done = format!("{}, {}", unit.describe_shortly(sample.done), unit.written(sample.bytes));
    let share = if sample.total == 0 { String::new() } else { format!("{} %, ", percent(sample)) };
    format!("{share}{speed}{comma}{phase}{}, {done}", status.memory())
}

/// Describes the phase in front of what is done in it: `phase 1 of 3: rows of user, `. It is empty if the run has no phases.
fn describe_name(phase: &Phase) -> String {
    match phase {
        Phase { name, .. } if name.is_empty() => String::new(),
        Phase { name, count: 0 | 1, .. } => format!("{name}, "),
        Phase { name, number, count, .. } => format!("phase {number} of {}: {name}, ", count.max(number)),
    }
}

/// Describes the work after the last row. A rate of rows would fall and say nothing.
fn describe_phase(sample: &Sample, unit: Unit, status: Status) -> String {
    let Phase { name, number, count, .. } = &sample.phase;
    let time = units::duration(status.phase);
    let (done, bytes, memory) = (unit.describe_shortly(sample.done), unit.written(sample.bytes), status.memory());
    format!("phase {number} of {}: {name}, {time}; {done}, {bytes}{memory}", count.max(number))
}

/// Describes the mean rate and the remaining time: `85.2 million rows/s, 6.46 s left`.
fn describe_speed(sample: &Sample, unit: Unit, status: Status) -> String {
    let rest = match time_left(sample, status.all) {
        _ if sample.total == 0 => String::new(),
        Some(Duration::ZERO) => ", finishing".to_owned(),
        Some(left) => format!(", {} left", units::duration(left)),
        None => ", starting".to_owned(),
    };
    format!("{}{rest}", unit.rate(units::per_second(sample.done, status.all)))
}

fn percent(sample: &Sample) -> u64 {
    let hundredfold = u128::from(sample.done) * 100;
    hundredfold.checked_div(sample.total.into()).and_then(|percent| u64::try_from(percent).ok()).unwrap_or(0)
}

fn to_json(sample: &Sample, unit: Unit, status: Status) -> serde_json::Value {
    let unit = unit.name();
    let (phase, left) = (&sample.phase, time_left(sample, status.all).filter(|_| !sample.phase.is_after_rows));
    json!({
        unit: sample.done,
        format!("{unit}_total"): sample.total,
        "bytes": sample.bytes,
        "seconds": status.all.as_secs_f64(),
        format!("{unit}_per_second"): units::per_second(sample.done, status.all),
        "phase": phase.number,
        "phases": phase.count,
        "stage": phase.name,
        "stage_seconds": status.phase.as_secs_f64(),
        "is_after_rows": phase.is_after_rows,
        "seconds_left": left.map(|left| left.as_secs_f64()),
        "memory_bytes": status.memory_bytes,
    })
}

/// Returns the time left at the mean rate so far. Returns `None` if the total or the rate is unknown.
fn time_left(sample: &Sample, passed: Duration) -> Option<Duration> {
    if sample.total == 0 {
        return None;
    }
    let left = sample.total.saturating_sub(sample.done);
    if left == 0 {
        return Some(Duration::ZERO);
    }
    let seconds = left as f64 * passed.as_secs_f64() / sample.done as f64;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(name: &str, number: u32, is_after_rows: bool) -> Phase {
        let mut phase = Phase::default();
        (phase.name, phase.number, phase.count, phase.is_after_rows) = (name.to_owned(), number, 6, is_after_rows);
        phase
    }

    fn after(seconds: u64) -> Status {
        let (all, phase) = (Duration::from_secs(seconds), Duration::from_secs(seconds / 2));
        Status { all, phase, memory_bytes: Some(71 << 20) }
    }

    #[test]
    fn a_line_says_how_far_how_fast_and_how_long() {
        let sample =
            |done, name: &str| Sample { done, total: 1_000_000, bytes: 9_000_000, phase: phase(name, 1, false) };
        let line = describe(&sample(450_000, ""), Unit::Rows, after(5));
        assert_eq!(line, "450,000 of 1,000,000 rows (45 %), 9.00 MB, 90,000 rows/s, 6.11 s left, 71.0 MiB of memory");
        let short = describe_shortly(&sample(450_000, "rows of t"), Unit::Rows, after(5));
        let expected =
            "45 %, 90,000 rows/s, 6.11 s left, phase 1 of 6: rows of t, 71.0 MiB of memory, 450,000 rows, 9.00 MB";
        assert_eq!(short, expected);
        let silent = Status { memory_bytes: None, ..after(5) };
        assert!(!describe(&sample(450_000, ""), Unit::Rows, silent).contains("memory"));
        let start = describe(&sample(0, ""), Unit::Rows, after(1));
        assert!(start.contains("starting"), "{start}");
        let end = describe(&sample(1_000_000, "index i"), Unit::Rows, after(1));
        assert!(
            end.starts_with("phase 1 of 6: index i, ") && end.contains("(100 %)") && end.contains("finishing"),
            "{end}"
        );
    }

    /// The bar stood at 100 % for half of the time, with rows/s falling.
    #[test]
    fn after_the_rows_phases_are_counted() {
        let done = 12_000_000;
        let sample = Sample { done, total: done, bytes: 9_000_000, phase: phase("CHECK of t, by SQLite", 4, true) };
        for text in [describe(&sample, Unit::Rows, after(8)), describe_shortly(&sample, Unit::Rows, after(8))] {
            assert_eq!(
                text,
                "phase 4 of 6: CHECK of t, by SQLite, 4.00 s; 12.0 million rows, 9.00 MB, 71.0 MiB of memory"
            );
        }
        let line = to_json(&sample, Unit::Rows, after(8));
        assert_eq!((&line["phase"], &line["phases"], &line["is_after_rows"]), (&4.into(), &6.into(), &true.into()));
        assert!(line["seconds_left"].is_null(), "{line}");
        assert_eq!(line["memory_bytes"], 71 << 20);
    }

    #[test]
    fn bytes_of_input_are_told_as_bytes() {
        let (done, total) = (340_000_000, 680_000_000);
        let sample = Sample { done, total, bytes: 9_000_000, phase: phase("rows of t", 1, false) };
        let line = describe(&sample, Unit::InputBytes, after(1));
        assert_eq!(
            line,
            "phase 1 of 6: rows of t, 340 MB of 680 MB read (50 %), 9.00 MB written, 340 MB/s, 1.00 s left, 71.0 MiB of memory"
        );
        let piped = describe(&Sample { total: 0, ..sample.clone() }, Unit::InputBytes, after(1));
        assert_eq!(piped, "phase 1 of 6: rows of t, 340 MB read, 9.00 MB written, 340 MB/s, 71.0 MiB of memory");
        assert_eq!(to_json(&sample, Unit::InputBytes, after(1))["input_bytes_total"], 680_000_000);
    }

    #[test]
    fn json_has_units_in_its_names() {
        let sample = Sample { done: 3, total: 4, bytes: 5, phase: phase("index i", 2, false) };
        let line = to_json(&sample, Unit::Pages, after(2));
        assert_eq!((&line["pages"], &line["pages_total"], &line["stage"]), (&3.into(), &4.into(), &"index i".into()));
        assert_eq!(line["pages_per_second"], 1.5);
    }
}
