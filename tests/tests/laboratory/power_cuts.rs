//! Power cuts during changes of databases that exist: whatever the disk has lost, SQLite finds the database as it was before or as it
//! is after, and as it is after if the run had ended. `make powercut` looks at ten thousand states and more.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use litepress_conformance::folder::Folder;
use litepress_conformance::live_changes::{LiveChange, Setting, Subject};
use litepress_conformance::oracle::OldSqlite;
use litepress_crashlab::content::{Content, content};
use litepress_crashlab::{CrashState, Event, Judgement, Laboratory, Recording};
use std::path::Path;
use std::time::Duration;

const DATABASE: &str = "app.db";

/// Records a change. Returns also the contents before and after it.
fn record(change: LiveChange, setting: Setting, page_size: u32) -> (Recording, (Content, Content)) {
    let subject = Subject::new(page_size, setting);
    let before = subject.content();
    let laboratory = Laboratory::new(subject.folder.path()).unwrap();
    laboratory.skip_syncs();
    laboratory.record().unwrap();
    change.make(&subject.path(), Duration::from_secs(5)).unwrap();
    laboratory.mark_end();
    assert_eq!(laboratory.open_files(), 0, "{change:?} leaves no file open");
    let recording = laboratory.recording();
    (recording, (before, subject.content()))
}

/// States for each event: few in the suite, many in `make powercut`.
fn states_per_event() -> Option<usize> {
    std::env::var("LITEPRESS_STATES").ok().and_then(|states| states.parse().ok())
}

#[test]
fn every_state_is_before_or_after() {
    let sizes: &[u32] = if states_per_event().is_some() { &[512, 1024, 4096] } else { &[1024] };
    let mut all = Judgement::default();
    for (setting, change) in Setting::ALL.into_iter().flat_map(|setting| LiveChange::ALL.map(|it| (setting, it))) {
        for &page_size in sizes {
            let (recording, contents) = record(change, setting, page_size);
            let is_reindex = change == LiveChange::Reindex;
            assert_eq!(contents.0 == contents.1, is_reindex, "{change:?} changes the content");
            let mut judgement = Judgement::default();
            let states = recording.crash_states(states_per_event().unwrap_or(1), 1);
            judgement.judge(states, contents, |state, folder| open(state, folder, change, contents)).unwrap();
            let what = format!("{change:?}, {setting:?}, pages of {page_size} bytes");
            println!(
                "{what}: {} events, {} states: {} before, {} after, {} bad",
                recording.events.len(),
                judgement.states,
                judgement.before,
                judgement.after,
                judgement.bad.len()
            );
            assert!(judgement.bad.is_empty(), "{what}: {:#?}\n{}", judgement.bad, recording.describe());
            assert!(judgement.after > 0 && (judgement.before > 0 || is_reindex), "{what}: {judgement:?}");
            all.states += judgement.states;
        }
    }
    println!("{} states, none bad", all.states);
    assert!(all.states > states_per_event().map_or(300, |_| 1000), "too few states: {}", all.states);
}

/// Returns the content of a crash state. In some states a new run follows, and the older SQLite looks at others.
fn open(
    state: &CrashState,
    folder: &Path,
    change: LiveChange,
    (before, after): (Content, Content),
) -> Result<Content, String> {
    const EVERY: usize = 8;
    let number = state.lost.len() + state.events;
    let path = folder.join(DATABASE);
    if number % EVERY == 1
        && let Some(old) = OldSqlite::find()
    {
        let copy = Folder::fast();
        state.write_to(copy.path()).map_err(|error| error.to_string())?;
        old.assert_sound(&[copy.join(DATABASE)]);
    }
    let found = content(&path)?;
    if number % EVERY == 2 && found == before && before != after {
        change.make(&path, Duration::from_secs(5)).map_err(|error| format!("the next run: {error}"))?;
        let renewed = content(&path)?;
        if renewed != after {
            return Err("the next run gives another content".to_owned());
        }
    }
    Ok(found)
}

/// Protocols that are wrong on purpose. A laboratory that does not find them would not find mistakes of ours either.
#[test]
fn wrong_protocols_are_found() {
    let delete = record(LiveChange::Edge, Setting::Delete, 1024);
    let wal = record(LiveChange::Edge, Setting::WalInCompany, 1024);
    let free = record(LiveChange::Rebuild, Setting::WalFree, 1024);
    assert!(!free.0.events.iter().any(|event| is_new_page(&free.0, event)), "all new pages took free ones");
    let cases = [
        ("the new pages are not synced", &wal, without_sync_of_new_pages(&wal.0)),
        ("the free pages that new ones take are not synced", &free, free.0.without_syncs(|_, name| name == DATABASE)),
        ("COMMIT comes before the new pages", &wal, pages_after_commit(&wal.0)),
        ("the WAL is not synced", &wal, wal.0.without_syncs(|_, name| name.ends_with("-wal"))),
        ("the journal is not synced", &delete, delete.0.without_syncs(|_, name| name.ends_with("-journal"))),
        ("the journal is deleted before the sync", &delete, delete.0.without_syncs(|_, name| name == DATABASE)),
        ("there is no journal", &delete, without_journal(&delete.0)),
        ("the deletion of the journal is not synced", &delete, with_lazy_deletion(&delete.0)),
    ];
    for (what, (_, contents), wrong) in cases {
        let judgement = Judgement::of(&wrong, DATABASE, *contents, 8).unwrap();
        println!("{what}: {} states, {} bad", judgement.states, judgement.bad.len());
        assert!(!judgement.bad.is_empty(), "{what}, and nothing is found:\n{}", wrong.describe());
    }
}

/// With `synchronous = FULL`, SQLite does not sync the folder after it has deleted the journal. A run reported success, the power
/// went, the journal was there again, and the next program rolled the rows back.
#[test]
fn a_commit_that_has_returned_survives() {
    for change in [LiveChange::Edge, LiveChange::Sql, LiveChange::Index] {
        let (recording, contents) = record(change, Setting::Delete, 1024);
        let mut judgement = Judgement::default();
        let states = recording.crash_states(6, 1).filter(|state| state.is_after_end);
        let open = |_: &CrashState, folder: &Path| content(&folder.join(DATABASE));
        judgement.judge(states, contents, open).unwrap();
        assert!(judgement.after > 0 && judgement.bad.is_empty(), "{change:?}: {judgement:?}\n{}", recording.describe());
    }
}

/// Returns the position of the first write of a new page.
fn first_new_page(recording: &Recording) -> usize {
    recording.events.iter().position(|event| is_new_page(recording, event)).expect("new pages")
}

/// Returns whether the event writes behind the end of the database.
fn is_new_page(recording: &Recording, event: &Event) -> bool {
    let old_bytes = recording.files[DATABASE].len() as u64;
    matches!(event, Event::Write { name, offset, .. } if name == DATABASE && *offset >= old_bytes)
}

fn without_sync_of_new_pages(recording: &Recording) -> Recording {
    let first = first_new_page(recording);
    recording.without_syncs(|at, name| at > first && name == DATABASE)
}

/// Moves the new pages and their syncs to the end.
fn pages_after_commit(recording: &Recording) -> Recording {
    let first = first_new_page(recording);
    let is_late = |at: usize, event: &Event| {
        is_new_page(recording, event) || at > first && matches!(event, Event::Sync { name, .. } if name == DATABASE)
    };
    let events = recording.events.iter().enumerate();
    let (late, mut early): (Vec<_>, Vec<_>) = events.partition(|(at, event)| is_late(*at, event));
    early.extend(late);
    Recording { files: recording.files.clone(), events: early.into_iter().map(|(_, event)| event.clone()).collect() }
}

fn without_journal(recording: &Recording) -> Recording {
    let is_kept = |event: &&Event| event.name().is_none_or(|name| name == DATABASE);
    Recording { files: recording.files.clone(), events: recording.events.iter().filter(is_kept).cloned().collect() }
}

fn with_lazy_deletion(recording: &Recording) -> Recording {
    let mut wrong = recording.clone();
    for event in &mut wrong.events {
        if let Event::Delete { and_sync, .. } = event {
            *and_sync = false;
        }
    }
    wrong
}
