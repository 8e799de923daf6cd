//! Completions and manual pages.

use crate::Room;
use std::process::Command;

/// Returns whether a program is installed.
fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

#[test]
fn every_shell_gets_every_command() {
    let room = Room::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = room.done(&format!("completions {shell}"));
        for word in ["generate", "load", "inspect", "primary-key", "write-recipe", "quiet"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        room.write(shell, &script);
        if ["bash", "zsh", "fish"].contains(&shell) && has(shell) {
            let parsed = Command::new(shell).arg("-n").arg(room.path(shell)).output().expect(shell);
            assert!(parsed.status.success(), "{shell}: {parsed:?}");
        }
    }
}

#[test]
fn bash_completes() {
    if !has("bash") {
        return;
    }
    let room = Room::new();
    room.write("litepress.bash", room.done("completions bash"));
    let complete = |words: &str, word: usize| {
        let ask = format!(
            "source ./litepress.bash; COMP_WORDS=({words}); COMP_CWORD={word}; _litepress litepress \
             \"${{COMP_WORDS[{word}]}}\" \"${{COMP_WORDS[{word} - 1]}}\"; echo \"${{COMPREPLY[*]}}\""
        );
        let answer = Command::new("bash").args(["-c", &ask]).current_dir(room.path("")).output().expect("bash");
        String::from_utf8(answer.stdout).expect("UTF-8").trim().to_owned()
    };
    assert_eq!(complete("litepress gen", 1), "generate");
    assert_eq!(complete("litepress load --prim", 2), "--primary-key");
    assert_eq!(complete("litepress load --on-conflict ig", 3), "ignore");
}

#[test]
fn every_command_has_a_manual_page() {
    let room = Room::new();
    let listed = room.done("man share/man1");
    assert_eq!(room.done("man share/man1"), listed, "pages are replaced");
    for command in
        ["", "-generate", "-load", "-plan", "-profile", "-compare", "-check", "-inspect", "-completions", "-man"]
    {
        let name = format!("share/man1/litepress{command}.1");
        assert!(listed.lines().any(|line| line == name), "{name}: {listed}");
        let page = std::fs::read_to_string(room.path(&name)).expect("a page");
        assert!(page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"), "{name}");
    }
    let load = std::fs::read_to_string(room.path("share/man1/litepress-load.1")).expect("a page");
    assert!(load.contains("without\\-rowid") && load.contains("litepress load lite.db"), "{load}");
    let refused = room.run("man share/man1/litepress.1");
    assert!(refused.code == Some(1) && refused.err.contains("share/man1/litepress.1"), "{refused:#?}");
}
