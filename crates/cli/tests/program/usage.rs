//! Options that a command does not have.

use crate::Room;

/// `--rows` of `load` suggested `--progress`, `-q` suggested "to pass '-q' as a value".
#[test]
fn words_of_other_commands_and_tools_get_a_tip() {
    let room = Room::new();
    for (arguments, tip) in [
        ("load a.db a.csv --rows 10", "'--rows' is an option of 'litepress generate' and 'litepress plan'"),
        ("check a.db --primary-key id", "'--primary-key' is an option of 'litepress load' and 'litepress plan'"),
        ("load a.db a.csv --upsert", "--append --on-conflict update"),
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

/// A missing file ended with exit code 1, and a pattern that no file matches with 2.
#[test]
fn missing_files_have_one_exit_code() {
    let room = Room::new();
    for name in ["missing.csv", "missing*.csv"] {
        assert_eq!(room.run(&format!("load a.db {name}")).code, Some(1), "{name}");
    }
    let ended = room.run("generate /proc/a.db --preset user --rows 1");
    // The folder was said not to exist.
    assert!(ended.code == Some(1) && !ended.err.contains("no folder '/proc'"), "{ended:#?}");
    assert!(ended.err.contains("/proc/a.db: cannot create a temporary file beside it: "), "{ended:#?}");
}

/// The first thing to try failed with "every table's number of rows is said: one for the others is for none".
#[test]
fn a_number_of_rows_scales_a_preset() {
    let room = Room::new();
    room.done("generate shop.db --preset shop --rows 3k");
    assert_eq!(
        room.query(
            "shop.db",
            "SELECT (SELECT count(*) FROM line) BETWEEN 2800 AND 3200, count(*) BETWEEN 900 AND 1100 FROM purchase"
        ),
        "1|1"
    );
    let ended = room.run("generate t.db --preset tpch --rows 10k");
    for part in ["--rows 10000 has no effect", "--scale 0.1"] {
        assert!(ended.err.contains(part), "{part}: {ended:#?}");
    }
}

/// A table that had fewer pairs of parents than rows was to be annotated. Fewer rows are the remedy.
#[test]
fn too_many_rows_for_a_key_of_pairs() {
    let room = Room::with_schema(
        "CREATE TABLE u (id INTEGER PRIMARY KEY); CREATE TABLE g (id INTEGER PRIMARY KEY);
         CREATE TABLE m (u INT NOT NULL REFERENCES u, g INT NOT NULL REFERENCES g, PRIMARY KEY (u, g));",
    );
    let ended = room.run("generate m.db schema.sql --rows 100 --rows u=5 --rows g=2");
    assert!(ended.err.contains("a key that has 10 values for 100 rows"), "{ended:#?}");
    assert!(ended.err.contains("--rows m=10"), "{ended:#?}");
    room.done("generate m.db schema.sql --rows u=5 --rows g=2 --rows m=10");
}

/// A misspelled generator listed 60 names and suggested none.
#[test]
fn a_generator_of_another_name() {
    let room = Room::with_schema("CREATE TABLE t (a TEXT /* gen: string(5) */);");
    let ended = room.run("generate t.db schema.sql --rows 1");
    assert!(ended.err.contains("did you mean 'text'?") && ended.err.contains("help: text("), "{ended:#?}");
}

/// A database in memory was to be measured with `--discard`, which `load` does not have.
#[test]
fn help_names_options_that_the_command_has() {
    let room = Room::new();
    let ended = room.run("load :memory: a.csv");
    assert!(ended.code == Some(2) && !ended.err.contains("--discard"), "{ended:#?}");
    assert!(room.run("generate :memory: --preset user").err.contains("--discard"));
}
