//! Tests that the options and examples in `--help` work.

use crate::{LITEPRESS, Room};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

const COMMANDS: [&str; 14] = [
    "generate",
    "load",
    "merge",
    "stitch",
    "plan",
    "index",
    "reindex",
    "profile",
    "compact",
    "compare",
    "check",
    "inspect",
    "completions",
    "man",
];

/// Returns the long options in a command's help.
fn options_of(command: &str) -> BTreeSet<String> {
    let help = Room::new().done(&format!("{command} --help"));
    let option = |line: &str| {
        let line = line.trim_start();
        let short = ["-h, ", "-q, ", "-v, "].into_iter().find_map(|short| line.strip_prefix(short));
        let rest = short.unwrap_or(line).strip_prefix("--")?;
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-').unwrap_or(rest.len());
        Some(rest[..end].to_owned())
    };
    help.lines().filter_map(option).collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "one line a run")]
fn every_option_works() {
    let makes = "--preset user --rows 10 --set area=uuid --seed 3 --until 2025-12-31 --page-size 1KiB --threads 2 --memory 64MiB --temp-dir . --overwrite --on-conflict abort --analyze";
    let how = "--page-size 1KiB --threads 2 --memory 64MiB --temp-dir . --overwrite --on-conflict abort --analyze --sync off --verify full --progress plain --json";
    let reads = "--format csv --delimiter , --quote none --escape % --no-header --columns id,p --comment # --encoding utf-8 --null-value NA --missing NaN --infinity inf --sample 2";
    let defines = "--table t --primary-key id --without-rowid --strict --type p=TEXT --numbers lenient --not-null p --index p --unique p,id --foreign-key p=t.id";
    let judges = "--on-error reject --max-rejects 5 --ragged reject --invalid-utf8 replace";
    let converts = "--skip 1 --trim --skip-empty --decimal , --thousands . --currency EUR --true yes --false no --date-format born=%d.%m.%Y --stray-quotes text --repeated-header skip";
    let runs = [
        ("load", format!("load l.db in.csv {how} {reads} {defines} {judges} --rejects wrong.csv")),
        ("load", "load s.db in.csv --schema l.sql --map x= --no-header --columns id,x --overwrite".to_owned()),
        ("load", "load s.db in.csv --store-as id=text --quiet --help".to_owned()),
        ("load", "load v.db in.csv --verbose".to_owned()),
        ("load", "load g.gpkg in.csv --no-header --geometry c1,c2 --crs EPSG:4326".to_owned()),
        ("load", "load f.db in.csv --no-header --columns id,p --fts p --fts-content own --fts-tokenizer porter".to_owned()),
        ("plan", "plan f2.db in.csv --no-header --columns id,p --fts p --fts-content own --fts-tokenizer porter".to_owned()),
        ("load", format!("load d.db d.csv --header {converts}")),
        ("plan", format!("plan d.db d.csv --header {converts}")),
        ("plan", format!("plan l.db in.csv {how} {reads} {defines} {judges} --rejects wrong-too.csv")),
        ("plan", "plan s.db in.csv --schema l.sql --map x= --no-header --columns id,x".to_owned()),
        ("plan", "plan s.db in.csv --store-as id=text --quiet --help".to_owned()),
        ("plan", "plan v.db in.csv --verbose".to_owned()),
        ("plan", "plan g2.gpkg in.csv --no-header --geometry c1,c2 --crs EPSG:4326".to_owned()),
        ("load", "load j.db in.json --json-path data --flatten --nan null --absent-as-null --sheet all --select a_b --limit 3 --source-column file".to_owned()),
        ("load", "load w.db in.csv --table w --no-header --columns id,p --primary-key id".to_owned()),
        ("merge", format!("merge m.db l.db {how} --rowids t=keep --source-column shard --union")),
        ("merge", "merge n.db s.db l.db --union --skip-table t --quiet".to_owned()),
        ("merge", "merge n.db l.db --overwrite --verbose".to_owned()),
        ("merge", "merge --help".to_owned()),
        ("merge", "merge m.part l.db --part".to_owned()),
        ("load", "load l.part in.csv --no-header --part".to_owned()),
        ("generate", "generate 1.part --preset user --rows 1k --shard 1/2 --part".to_owned()),
        ("generate", "generate 2.part --preset user --rows 1k --shard 2/2 --part".to_owned()),
        ("plan", "plan 1.part --preset user --rows 1k --part".to_owned()),
        (
            "stitch",
            "stitch st.db 1.part 2.part --threads 2 --memory 64MiB --temp-dir . --overwrite --sync off --verify full --analyze --progress plain --json".to_owned(),
        ),
        ("stitch", "stitch st.db 1.part --overwrite --quiet".to_owned()),
        ("stitch", "stitch st.db 1.part --overwrite --verbose".to_owned()),
        ("stitch", "stitch --help".to_owned()),
        ("plan", "plan n2.db s.db l.db --merge --rowids keep --union --skip-table t --source-column shard".to_owned()),
        ("load", "load c.db s.db --allow-incomplete --replace-tables".to_owned()),
        (
            "compact",
            "compact l.db l2.db --page-size 1KiB --threads 2 --memory 64MiB --temp-dir . --overwrite --sync off --verify full --progress plain --json --allow-incomplete --only t".to_owned(),
        ),
        ("compact", "compact l.db --drop-index idx_t_p --quiet".to_owned()),
        ("compact", "compact d.db --verbose".to_owned()),
        ("compact", "compact w.db --without-rowid w".to_owned()),
        ("compact", "compact --help".to_owned()),
        ("plan", "plan c.db s.db --allow-incomplete --replace-tables".to_owned()),
        ("plan", "plan j.db in.json --json-path data --flatten --nan null --absent-as-null --sheet all --select a_b --limit 3 --source-column file".to_owned()),
        ("generate", format!("generate u.db {makes} --sync off --verify full --progress plain --json")),
        ("generate", "generate --discard --preset user --rows 10".to_owned()),
        (
            "generate",
            "generate p.db --preset log --scale 0.001 --shard 1/2 --write-recipe p.toml --record-recipe".to_owned(),
        ),
        ("generate", "generate q.db --recipe p.toml".to_owned()),
        ("generate", "generate q.db --recipe p.toml --quiet --overwrite".to_owned()),
        ("generate", "generate --list --verbose".to_owned()),
        ("generate", "generate --list-presets".to_owned()),
        ("generate", "generate --help".to_owned()),
        ("plan", format!("plan u.db {makes} --sync off --verify full --progress plain --json")),
        ("plan", "plan --discard --preset user --rows 10".to_owned()),
        ("plan", "plan --preset log --scale 0.001 --shard 1/2 --write-recipe r.toml --record-recipe --toml".to_owned()),
        ("load", "load e.db in.csv --append --primary-key c1 --no-header".to_owned()),
        ("load", "load e.db in.csv --append --no-header --truncate --add-columns --through-wal --busy-timeout 1".to_owned()),
        ("load", "load e.db in.csv --append --no-header --on-conflict update --key c1 --update-columns c2 --enforce-foreign-keys".to_owned()),
        ("plan", "plan e.db in.csv --append --no-header --truncate --add-columns --through-wal --busy-timeout 1".to_owned()),
        ("plan", "plan e.db in.csv --append --no-header --on-conflict update --key c1 --update-columns c2 --enforce-foreign-keys".to_owned()),
        ("load", "load out in.csv --no-header --split-by c1".to_owned()),
        ("plan", "plan out in.csv --no-header --split-by c1".to_owned()),
        ("plan", "plan q.db --recipe r.toml".to_owned()),
        ("plan", "plan --help".to_owned()),
        ("reindex", "reindex u.db --threads 2 --memory 64MiB --temp-dir . --busy-timeout 1 --through-wal --sync off --progress plain --json".to_owned()),
        ("reindex", "reindex u.db user --quiet".to_owned()),
        ("reindex", "reindex u.db --verbose".to_owned()),
        ("reindex", "reindex --help".to_owned()),
        ("profile", "profile u.db --json --threads 2 --keep-values --html v.html --overwrite".to_owned()),
        ("profile", "profile u.db --html v.html --open --help".to_owned()),
        ("compare", "compare u.db u.db --threads 2 --json --html c.html --overwrite".to_owned()),
        ("compare", "compare u.db u.db --html c.html --open --help".to_owned()),
        ("compare", "compare --help".to_owned()),
        ("profile", "profile --help".to_owned()),
        ("check", "check u.db --full --threads 1 --memory 64MiB --max-faults 1 --progress json --json".to_owned()),
        ("check", "check u.db --quiet --html u.html --overwrite".to_owned()),
        ("check", "check u.db --html u.html --open --help".to_owned()),
        ("check", "check u.db --verbose".to_owned()),
        ("check", "check u.db --sample".to_owned()),
        ("check", "check --help".to_owned()),
        ("completions", "completions --help".to_owned()),
        ("man", "man --help".to_owned()),
        ("inspect", "inspect u.db --html u.html --overwrite".to_owned()),
        ("inspect", "inspect u.db --html u.html --open --help".to_owned()),
        ("inspect", "inspect m.gpkg --node rtree_m_geom:1".to_owned()),
    ];
    let room = Room::new();
    room.write("in.csv", "1,2\n2,1\n");
    room.write("m.csv", "x,y\n1,2\n");
    room.done("load m.gpkg m.csv --geometry x,y --progress none");
    room.write("d.csv", "x\nborn,y\n31.01.2024,\"1,5\"\n");
    room.write("in.json", "{\"data\": [{\"a\": {\"b\": NaN}}]}");
    room.write("l.sql", "CREATE TABLE in_csv (id INTEGER PRIMARY KEY);");
    // Its arguments have blanks. It shares its options with `reindex`.
    assert_eq!(options_of("index"), options_of("reindex"));
    for command in COMMANDS.into_iter().filter(|command| *command != "index") {
        let mut used = BTreeSet::new();
        for (_, arguments) in runs.iter().filter(|(of, _)| *of == command) {
            room.done(arguments);
            used.extend(arguments.split(' ').filter_map(|word| word.strip_prefix("--")).map(str::to_owned));
        }
        assert_eq!(used, options_of(command), "{command}");
    }
}

#[test]
fn every_example_works() {
    let program_folder = Path::new(LITEPRESS).parent().unwrap().display();
    let path = format!("{program_folder}:{}", std::env::var("PATH").unwrap());
    for command in [""].into_iter().chain(COMMANDS) {
        let room = Room::with_schema("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT);");
        room.write("shop.sql", "CREATE TABLE customer (id INTEGER PRIMARY KEY);\nCREATE TABLE purchase (a TEXT);");
        write_examples(&room);
        if ["profile", "compact", "compare", "check", "inspect"].contains(&command) {
            room.done("generate user.db --preset user --rows 1k");
            room.done("generate large.db --preset user --rows 2k");
        }
        if command == "check" {
            std::fs::create_dir(room.path("shards")).unwrap();
            room.done("generate shards/a.db --preset user --rows 1k");
        }
        if command == "inspect" {
            room.write("road.csv", "x,y\n1,2\n");
            room.done("load map.gpkg road.csv --geometry x,y --progress none");
        }
        for (shard, id) in [("a.db", 1), ("b.db", 2)].into_iter().filter(|_| ["merge", "plan"].contains(&command)) {
            let tables = ["country", "user", "search"].map(|table| {
                format!("CREATE TABLE {table} (id INTEGER PRIMARY KEY); INSERT INTO {table} VALUES ({id});")
            });
            room.shard(shard, &tables.concat());
        }
        if command == "stitch" {
            std::fs::create_dir(room.path("parts")).unwrap();
            room.done("generate parts/1.part --preset log --rows 1k --part");
        }
        if ["index", "reindex"].contains(&command) {
            room.done("generate app.db --preset user --rows 1k");
        }
        if command == "reindex" {
            room.sqlite("app.db").execute_batch("CREATE INDEX user_area ON user (area)").unwrap();
        }
        let help = room.done(&format!("{command} --help")).replace("\\\n    ", "");
        let examples = help.lines().skip_while(|line| *line != "Examples:").filter_map(|line| line.strip_prefix("  "));
        let mut count = 0;
        for example in examples {
            // An explanation may follow behind two blanks. Fewer rows are enough.
            let example = example.split("  ").next().unwrap();
            let small = example.replace("1b", "10k").replace("100m", "10k").replace("1m", "10k");
            let run = Command::new("sh").args(["-c", &small]).current_dir(room.path("")).env("PATH", &path).output();
            let run = run.unwrap();
            assert!(run.status.success() && run.stderr.is_empty(), "{small}: {run:?}");
            count += 1;
        }
        assert!((3..=7).contains(&count), "{command} has {count} examples");
    }
}

/// Writes the files that the examples of `load` read.
fn write_examples(room: &Room) {
    let lineitem = "l_orderkey,l_linenumber,l_shipdate\n1,1,1996-03-13\n1,2,1996-04-12\n";
    room.write("lineitem.csv", lineitem);
    room.write("data.csv", "id,name\n1,one\n2,two\n");
    room.write("typed.sql", "CREATE TABLE data (id INTEGER PRIMARY KEY, name TEXT NOT NULL);");
    room.write("users.csv.gz", "id,area\n1,002134\n2,\n");
    room.write("customer.csv", "id,name\n1,one\n");
    room.write("orders.ndjson", "{\"id\": 7, \"customer\": 1}\n");
    room.write("recipe.toml", "algorithm_version = 1\nschema = 'CREATE TABLE t (a INT)'\ntables.t.rows = 10\n");
    room.write("today.csv", "at,what\n1,start\n");
    room.write("events.ndjson", "{\"at\": 1, \"tags\": [\"a\"]}\n{\"at\": 2}\n");
}

/// Help was not wrapped: at 80 columns words broke ("published w/hole"). An example that is wrapped cannot be copied, so every
/// example fits.
#[test]
fn help_fits_the_terminal() {
    for command in [""].into_iter().chain(COMMANDS) {
        for flag in ["-h", "--help"] {
            let help = Room::new().command(&format!("{command} {flag}")).env("COLUMNS", "80").output().expect("help");
            let help = String::from_utf8(help.stdout).expect("UTF-8");
            let longest = help.lines().max_by_key(|line| line.chars().count()).expect("a line");
            assert!(longest.chars().count() <= 80, "{command} {flag}: {longest}");
        }
    }
    let narrow = Room::new().command("load --help").env("COLUMNS", "50").output().expect("help");
    let text = String::from_utf8(narrow.stdout).expect("UTF-8");
    let options = text.split("Examples:").next().expect("options");
    assert!(options.lines().all(|line| line.chars().count() <= 50), "{options}");
}

#[test]
fn the_version_names_sqlite_too() {
    let version = Room::new().done("--version");
    assert!(version.starts_with("litepress ") && version.contains(rusqlite::version()), "{version}");
}
