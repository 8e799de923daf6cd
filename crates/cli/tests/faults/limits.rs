//! Limits of the system, disks that are full or read-only, and signals at random moments.

use crate::scene::{OPERATIONS, Operation, Scene, State};
use crate::{is_long, thread_had_no_memory};
use litepress_crashlab::kill::{Moment, run_until};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Judges what a run left, and returns its end in a word.
fn judge(scene: &Scene, output: &Output) -> Result<&'static str, String> {
    let told = String::from_utf8_lossy(&output.stderr);
    let thread_had_no_memory = thread_had_no_memory(&told);
    if told.contains("panicked") && !thread_had_no_memory {
        return Err(format!("it panics: {told}"));
    }
    let state = scene.state()?;
    scene.check_files(state)?;
    match output.status.code() {
        Some(0) if state == State::Before => Err("it ends well, but nothing has changed".to_owned()),
        Some(0) => Ok("done"),
        Some(1 | 130) if told.contains("error: ") => Ok("failed"),
        None if thread_had_no_memory => Ok("failed"),
        // The signal came before the program could take it.
        None if told.is_empty() => Ok("killed"),
        code => Err(format!("exit code {code:?}: {told}")),
    }
}

/// Counts outcomes, and fails at the end if one is bad.
#[derive(Default)]
struct Outcomes {
    ends: BTreeMap<&'static str, u64>,
    bad: u64,
}

impl Outcomes {
    fn add(&mut self, what: &str, judged: Result<&'static str, String>) {
        if let Err(why) = &judged {
            println!("{what}: {why}");
            self.bad += 1;
        }
        *self.ends.entry(judged.unwrap_or("BAD")).or_default() += 1;
    }

    fn end(&self, what: &str) {
        println!("{what}: {:?}", self.ends);
        assert!(self.bad == 0 && !self.ends.is_empty(), "see above");
    }
}

/// Takes all operations, or a few in the suite.
fn operations(few: usize) -> impl Iterator<Item = Operation> {
    OPERATIONS.into_iter().step_by(if is_long() { 1 } else { OPERATIONS.len() / few })
}

/// Wraps the command into a shell that sets a limit first.
fn limited(command: &Command, limit: &str) -> Command {
    let mut limited = Command::new("bash");
    limited.args(["-c", &format!("ulimit {limit} && exec \"$@\""), "bash"]).arg(command.get_program());
    limited.args(command.get_args()).env("RUST_BACKTRACE", "0").stdin(Stdio::null());
    limited.current_dir(command.get_current_dir().expect("its folder"));
    limited
}

/// Sizes of files in KiB, addresses in KiB, numbers of open files. The lowest ones let the program start.
#[test]
fn limits_of_the_system_are_errors() {
    let mut outcomes = Outcomes::default();
    let limits: [(&str, u64, u64, u64); 3] = [("-f", 1, 200, 17), ("-v", 70_000, 1_400_000, 133_333), ("-n", 5, 40, 3)];
    for operation in operations(5) {
        let scene = Scene::new(operation);
        for (option, from, to, step) in limits {
            let step = if is_long() { step.div_ceil(4) } else { step };
            let mut limit = from;
            while limit < to {
                scene.begin();
                let output = limited(&scene.command(), &format!("{option} {limit}")).output().expect("bash");
                // The loader of programs needs memory and files, too.
                if output.status.code() != Some(127) {
                    outcomes.add(&format!("{}, ulimit {option} {limit}", operation.name), judge(&scene, &output));
                }
                limit += step;
            }
        }
    }
    assert!(outcomes.ends.get("failed").is_some_and(|failed| *failed > 10), "limits must be felt");
    outcomes.end("limits");
}

/// A file system in memory, of one size.
struct Disk<'a>(&'a Path);

impl<'a> Disk<'a> {
    /// Mounts it. `None` if this user may not.
    fn mount(at: &'a Path, kib: u64) -> Option<Self> {
        let options = format!("size={kib}k,mode=777");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(at).output().ok()?;
        mounted.status.success().then_some(Self(at))
    }

    fn remount_read_only(&self) -> bool {
        let mounted = Command::new("mount").args(["-o", "remount,ro"]).arg(self.0).output();
        mounted.is_ok_and(|output| output.status.success())
    }

    fn remount_writable(&self, kib: u64) {
        let options = format!("remount,rw,size={kib}k");
        let mounted = Command::new("mount").args(["-o", &options]).arg(self.0).status();
        assert!(mounted.is_ok_and(|status| status.success()), "the disk is writable again");
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

/// Disks of any size between that of the databases and enough for the run, and one that becomes read-only. Needs root.
#[test]
fn disks_that_are_full_or_read_only_are_errors() {
    const ENOUGH: u64 = 1 << 16;
    let mut outcomes = Outcomes::default();
    for operation in operations(4) {
        let scene = Scene::new(operation);
        let place = scene.work("");
        let Some(disk) = Disk::mount(&place, ENOUGH) else {
            println!("SKIPPED: this user may not mount file systems");
            return;
        };
        scene.fill();
        let used = scene.kib();
        for kib in (used..used + 500).step_by(if is_long() { 4 } else { 90 }) {
            scene.fill();
            disk.remount_writable(kib);
            let output = scene.command().output().expect("the program");
            disk.remount_writable(ENOUGH);
            outcomes.add(&format!("{}, a disk of {kib} KiB", operation.name), judge(&scene, &output));
        }
        scene.fill();
        assert!(disk.remount_read_only());
        let output = scene.command().output().expect("the program");
        disk.remount_writable(ENOUGH);
        outcomes.add(&format!("{}, a read-only disk", operation.name), judge(&scene, &output));
    }
    outcomes.end("disks");
}

/// SIGINT, SIGTERM and SIGKILL at random moments.
#[test]
fn signals_at_any_moment_leave_the_target_whole() {
    let (mut outcomes, mut random) = (Outcomes::default(), 0x9e37_79b9_u64);
    for operation in operations(4) {
        let scene = Scene::new(operation);
        scene.begin();
        let whole = run_until(scene.command().stdout(Stdio::null()), &scene.work(""), Moment::Never);
        let whole = whole.expect("the program").lived;
        for number in 0..if is_long() { 200 } else { 4 } {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let share = f64::from(u32::try_from(random >> 33).expect("31 bits")) / f64::from(1_u32 << 31);
            let signal = ["INT", "TERM", "KILL"][number % 3];
            scene.begin();
            let mut command = scene.command();
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program");
            let started = Instant::now();
            while started.elapsed() < whole.mul_f64(1.1 * share) {
                std::thread::sleep(Duration::from_micros(50));
            }
            let _ = Command::new("kill").args(["-s", signal, &child.id().to_string()]).output();
            let output = child.wait_with_output().expect("its output");
            outcomes.add(&format!("{}, {signal} after {share:.2} of it", operation.name), judge(&scene, &output));
        }
    }
    outcomes.end("signals");
}
