//! What is done so far, on standard error: a bar on a terminal, lines elsewhere.
//!
//! Workers only count; a thread of its own looks at the counters ten times a second, so that watching costs nothing.

use crate::{numbers, output};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
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

/// How far something is.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// Units done.
    pub done: u64,
    /// Units in all.
    pub total: u64,
    /// Bytes written or read.
    pub bytes: u64,
    /// What is being done, where there are several stages.
    pub stage: String,
}

/// Shows progress until it is dropped.
#[derive(Debug)]
pub struct Watch {
    /// Closing it ends the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

const TICK: Duration = Duration::from_millis(100);

impl Watch {
    /// Shows what `sample` says; `unit` is what is counted: `rows`.
    pub fn start(style: Style, unit: &'static str, sample: impl Fn() -> Sample + Send + 'static) -> Self {
        let Some(mut view) = View::new(style, unit) else { return Self { stop: None, thread: None } };
        let (stop, stopped) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                view.show(&sample());
            }
            view.finish(&sample());
        });
        Self { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct View {
    unit: &'static str,
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
    fn new(style: Style, unit: &'static str) -> Option<Self> {
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

/// `450,000,000 of 1,000,000,000 rows (45 %), 9.10 GB, 85.2 million rows/s, 6.46 s left`
fn describe(sample: &Sample, unit: &str, passed: Duration) -> String {
    let (done, total) = (numbers::grouped(sample.done), numbers::grouped(sample.total));
    let (percent, speed) = (percent(sample), describe_speed(sample, unit, passed));
    format!("{done} of {total} {unit} ({percent} %), {speed}")
}

/// `45 %, 450 million rows, 9.10 GB, 85.2 million rows/s, 6.46 s left`: fits beside a bar.
fn describe_shortly(sample: &Sample, unit: &str, passed: Duration) -> String {
    let done = numbers::rate(sample.done as f64);
    format!("{} %, {done} {unit}, {}", percent(sample), describe_speed(sample, unit, passed))
}

fn describe_speed(sample: &Sample, unit: &str, passed: Duration) -> String {
    let rest = match time_left(sample, passed) {
        Some(Duration::ZERO) => "finishing".to_owned(),
        Some(left) => format!("{} left", numbers::duration(left)),
        None => "starting".to_owned(),
    };
    let rate = numbers::rate(numbers::per_second(sample.done, passed));
    let comma = if sample.stage.is_empty() { "" } else { ", " };
    format!("{}, {rate} {unit}/s, {rest}{comma}{}", numbers::bytes(sample.bytes), sample.stage)
}

fn percent(sample: &Sample) -> u64 {
    let hundredfold = u128::from(sample.done) * 100;
    hundredfold.checked_div(sample.total.into()).and_then(|percent| u64::try_from(percent).ok()).unwrap_or(0)
}

fn to_json(sample: &Sample, unit: &str, passed: Duration) -> serde_json::Value {
    json!({
        unit: sample.done,
        format!("{unit}_total"): sample.total,
        "bytes": sample.bytes,
        "seconds": passed.as_secs_f64(),
        format!("{unit}_per_second"): numbers::per_second(sample.done, passed),
        "stage": sample.stage,
        "seconds_left": time_left(sample, passed).map(|left| left.as_secs_f64()),
    })
}

/// The time left at the mean rate so far, where there is one.
fn time_left(sample: &Sample, passed: Duration) -> Option<Duration> {
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
        let line = describe(&sample(450_000, ""), "rows", Duration::from_secs(5));
        assert_eq!(line, "450,000 of 1,000,000 rows (45 %), 9.00 MB, 90,000 rows/s, 6.11 s left");
        let short = describe_shortly(&sample(450_000, "rows of t"), "rows", Duration::from_secs(5));
        assert_eq!(short, "45 %, 450,000 rows, 9.00 MB, 90,000 rows/s, 6.11 s left, rows of t");
        let start = describe(&sample(0, ""), "rows", Duration::from_secs(1));
        assert!(start.ends_with("starting"), "{start}");
        let end = describe(&sample(1_000_000, "index i"), "rows", Duration::from_secs(1));
        assert!(end.contains("(100 %)") && end.ends_with("finishing, index i"), "{end}");
    }

    #[test]
    fn json_has_units_in_its_names() {
        let sample = Sample { done: 3, total: 4, bytes: 5, stage: "index i".to_owned() };
        let line = to_json(&sample, "pages", Duration::from_secs(2));
        assert_eq!((&line["pages"], &line["pages_total"], &line["stage"]), (&3.into(), &4.into(), &"index i".into()));
        assert_eq!(line["pages_per_second"], 1.5);
    }
}
