//! Options that a command does not have.

use crate::Room;

/// `--rows` of `load` suggested `--progress`, `-q` suggested "to pass '-q' as a value", and `--append` suggested nothing.
#[test]
fn words_of_other_commands_and_tools_get_a_tip() {
    let room = Room::new();
    for (arguments, tip) in [
        ("load a.db a.csv --rows 10", "'--rows' is an option of 'litepress generate' and 'litepress plan'"),
        ("check a.db --primary-key id", "'--primary-key' is an option of 'litepress load' and 'litepress plan'"),
        ("load a.db a.csv --append", "litepress load NEW.db OLD.db FILE"),
        ("load a.db a.csv --upsert", "--on-conflict replace"),
        ("load a.db a.csv --replace", "'--overwrite' replaces the database"),
        ("load a.db a.csv --null=NA", "'--null-value'"),
        ("load a.db a.csv --pk id", "'--primary-key'"),
        ("load a.db a.csv --quite", "a similar argument exists: '--quiet'"),
    ] {
        let ended = room.run(arguments);
        assert_eq!(ended.code, Some(2), "{arguments}");
        assert!(ended.err.contains(&format!("tip: {tip}")) || ended.err.contains(tip), "{arguments}: {}", ended.err);
        assert!(!ended.err.contains("--progress"), "{arguments}: {}", ended.err);
    }
}

/// A database in memory was to be measured with `--discard`, which `load` does not have.
#[test]
fn help_names_options_that_the_command_has() {
    let room = Room::new();
    let ended = room.run("load :memory: a.csv");
    assert!(ended.code == Some(2) && !ended.err.contains("--discard"), "{ended:#?}");
    assert!(room.run("generate :memory: --preset user").err.contains("--discard"));
}
