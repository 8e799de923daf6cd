//! Runs that are stopped from outside.

use crate::Room;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Starts a run that takes many seconds, and waits until its temporary file grows.
fn start(room: &Room) -> Child {
    let mut command = room.command("generate u.db --preset user --rows 200m --progress none");
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let started = Instant::now();
    let grows = |name: &String| std::fs::metadata(room.path(name)).is_ok_and(|file| file.len() > 1 << 20);
    while !room.files().iter().any(grows) {
        assert!(started.elapsed() < Duration::from_secs(30), "it writes nothing");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &child.id().to_string()]).status().expect("kill");
    assert!(sent.success());
}

#[test]
fn an_interrupted_run_leaves_nothing() {
    for name in ["INT", "TERM"] {
        let room = Room::new();
        let child = start(&room);
        signal(&child, name);
        let signalled = Instant::now();
        let ended: crate::Ended = child.wait_with_output().unwrap().into();
        assert_eq!(ended.code, Some(130), "{name}: {ended:#?}");
        assert!(ended.err.contains("error: ") && ended.err.contains("interrupted"), "{ended:#?}");
        assert!(signalled.elapsed() < Duration::from_secs(10), "it stops soon");
        assert_eq!(room.files(), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn after_a_killed_run_the_next_one_cleans_up() {
    let room = Room::new();
    let child = start(&room);
    signal(&child, "KILL");
    assert_eq!(child.wait_with_output().unwrap().status.code(), None);
    assert!(!room.files().is_empty() && !room.path("u.db").exists());
    room.done("generate u.db --preset user --rows 10");
    assert_eq!(room.files(), ["u.db"]);
}

/// A run that waited for the other end of a pipe did not end at Ctrl-C.
#[test]
fn a_run_that_waits_for_input_is_interrupted() {
    let room = Room::new();
    let mut command = room.command("load u.db - --table t --progress none");
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let pipe = child.stdin.take();
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, "INT");
    let signalled = Instant::now();
    while child.try_wait().expect("a child").is_none() && signalled.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(pipe);
    let ended: crate::Ended = child.wait_with_output().unwrap().into();
    assert!(signalled.elapsed() < Duration::from_secs(10) && ended.code == Some(130), "{ended:#?}");
    assert_eq!(room.files(), Vec::<String>::new());
}
