//! Progress on standard error: a bar on a terminal, lines elsewhere.
//!
//! Workers only count. A separate thread reads the counters ten times a second, so progress costs the workers nothing more.

use crate::output;
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use litepress::{Meter, Sample, Unit, units};
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
        let thread = std::thread::spawn(move || {
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                view.show(&meter.sample());
            }
            view.finish(&meter.sample());
        });
        Self { stop: Some(stop), thread: Some(thread) }
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
        Some(Self { unit, started: Instant::now(), lines_shown: 0, form })
    }

    fn show(&mut self, sample: &Sample) {
        let passed = self.started.elapsed();
        match &self.form {
            Form::Bar(bar) => {
                bar.set_length(sample.total);
                bar.set_position(sample.done);
                bar.set_message(describe_shortly(sample, self.unit, passed));
            }
            Form::Lines { every } => {
                if passed >= *every * (self.lines_shown + 1) {
                    self.lines_shown += 1;
                    output::say(&format!("{}\n", describe(sample, self.unit, passed)));
                }
            }
            Form::Json { every } => {
                if passed >= *every * (self.lines_shown + 1) {
                    self.lines_shown += 1;
                    output::say(&format!("{}\n", to_json(sample, self.unit, passed)));
                }
            }
        }
    }

    fn finish(&self, sample: &Sample) {
        match &self.form {
            Form::Bar(bar) => bar.finish_and_clear(),
            Form::Lines { .. } => {}
            Form::Json { .. } => output::say(&format!("{}\n", to_json(sample, self.unit, self.started.elapsed()))),
        }
    }
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:14} {wide_msg}").expect("a template that never changes");
    ProgressBar::new(0).with_style(style.progress_chars("#>-"))
}

/// Describes progress in a line: `450,000,000 of 1,000,000,000 rows (45 %), 9.10 GB, 85.2 million rows/s, 6.46 s left`.
fn describe(sample: &Sample, unit: Unit, passed: Duration) -> String {
    let speed = describe_speed(sample, unit, passed);
    if sample.total == 0 {
        return format!("{}, {speed}", unit.describe_shortly(sample.done));
    }
    format!("{} ({} %), {speed}", unit.describe(sample.done, sample.total), percent(sample))
}

/// Describes progress beside a bar: `45 %, 450 million rows, 9.10 GB, 85.2 million rows/s, 6.46 s left`.
fn describe_shortly(sample: &Sample, unit: Unit, passed: Duration) -> String {
    let (done, speed) = (unit.describe_shortly(sample.done), describe_speed(sample, unit, passed));
    if sample.total == 0 { format!("{done}, {speed}") } else { format!("{} %, {done}, {speed}", percent(sample)) }
}

fn describe_speed(sample: &Sample, unit: Unit, passed: Duration) -> String {
    let rest = match time_left(sample, passed) {
        _ if sample.total == 0 => String::new(),
        Some(Duration::ZERO) => ", finishing".to_owned(),
        Some(left) => format!(", {} left", units::duration(left)),
        None => ", starting".to_owned(),
    };
    let rate = unit.rate(units::per_second(sample.done, passed));
    let comma = if sample.stage.is_empty() { "" } else { ", " };
    format!("{}, {rate}{rest}{comma}{}", unit.written(sample.bytes), sample.stage)
}

fn percent(sample: &Sample) -> u64 {
    let hundredfold = u128::from(sample.done) * 100;
    hundredfold.checked_div(sample.total.into()).and_then(|percent| u64::try_from(percent).ok()).unwrap_or(0)
}

fn to_json(sample: &Sample, unit: Unit, passed: Duration) -> serde_json::Value {
    let unit = unit.name();
    json!({
        unit: sample.done,
        format!("{unit}_total"): sample.total,
        "bytes": sample.bytes,
        "seconds": passed.as_secs_f64(),
        format!("{unit}_per_second"): units::per_second(sample.done, passed),
        "stage": sample.stage,
        "seconds_left": time_left(sample, passed).map(|left| left.as_secs_f64()),
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

    #[test]
    fn a_line_says_how_far_how_fast_and_how_long() {
        let sample = |done, stage: &str| Sample { done, total: 1_000_000, bytes: 9_000_000, stage: stage.to_owned() };
        let line = describe(&sample(450_000, ""), Unit::Rows, Duration::from_secs(5));
        assert_eq!(line, "450,000 of 1,000,000 rows (45 %), 9.00 MB, 90,000 rows/s, 6.11 s left");
        let short = describe_shortly(&sample(450_000, "rows of t"), Unit::Rows, Duration::from_secs(5));
        assert_eq!(short, "45 %, 450,000 rows, 9.00 MB, 90,000 rows/s, 6.11 s left, rows of t");
        let start = describe(&sample(0, ""), Unit::Rows, Duration::from_secs(1));
        assert!(start.ends_with("starting"), "{start}");
        let end = describe(&sample(1_000_000, "index i"), Unit::Rows, Duration::from_secs(1));
        assert!(end.contains("(100 %)") && end.ends_with("finishing, index i"), "{end}");
    }

    #[test]
    fn bytes_of_input_are_told_as_bytes() {
        let sample = Sample { done: 340_000_000, total: 680_000_000, bytes: 9_000_000, stage: "rows of t".to_owned() };
        let line = describe(&sample, Unit::InputBytes, Duration::from_secs(1));
        assert_eq!(line, "340 MB of 680 MB read (50 %), 9.00 MB written, 340 MB/s, 1.00 s left, rows of t");
        let piped = describe(&Sample { total: 0, ..sample.clone() }, Unit::InputBytes, Duration::from_secs(1));
        assert_eq!(piped, "340 MB read, 9.00 MB written, 340 MB/s, rows of t");
        assert_eq!(to_json(&sample, Unit::InputBytes, Duration::from_secs(1))["input_bytes_total"], 680_000_000);
    }

    #[test]
    fn json_has_units_in_its_names() {
        let sample = Sample { done: 3, total: 4, bytes: 5, stage: "index i".to_owned() };
        let line = to_json(&sample, Unit::Pages, Duration::from_secs(2));
        assert_eq!((&line["pages"], &line["pages_total"], &line["stage"]), (&3.into(), &4.into(), &"index i".into()));
        assert_eq!(line["pages_per_second"], 1.5);
    }
}
