//! Each difference between files and manifest is found, in the words of a user.

use super::*;
use crate::{TableWriter, Writer};

const SCHEMA: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, tenant TEXT)";

/// A folder with two shards and its manifest.
struct Set {
    folder: tempfile::TempDir,
    manifest: Json,
}

impl Set {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("v-0123456789abcdef0123456789abcdef")).expect("a folder");
        let shards = [("v-0123456789abcdef0123456789abcdef/a.db", 1..=50, "a"), ("v-0123456789abcdef0123456789abcdef/b.db", 51..=80, "b")].map(|(file, ids, tenant)| {
            let path = folder.path().join(file);
            let mut writer = Writer::create(&path, SCHEMA).expect("a database");
            let mut table: TableWriter<'_> = writer.table("t").expect("a table");
            ids.clone().for_each(|id: i64| table.insert((id, tenant)).expect("a row"));
            writer.finish().expect("a file");
            let (bytes, checksum) = checksum_of(&path).expect("a file");
            let (smallest, largest) = (*ids.start(), *ids.end());
            json!({"file": file, "rows": largest - smallest + 1, "bytes": bytes, "pages": bytes / 4096, "checksum": checksum,
                "smallest": [smallest], "largest": [largest], "value": tenant})
        });
        let bytes: u64 = shards.iter().filter_map(|shard| shard["bytes"].as_u64()).sum();
        let manifest = json!({"format": "litepress.shards", "version": 1, "job": "j", "generation": 1, "table": "t", "schema": [SCHEMA],
            "primary_key": ["id"], "partitioning": "range", "column": "tenant", "rows": 80, "bytes": bytes, "origin": {}, "shards": shards});
        Self { folder, manifest }
    }

    fn check(&self) -> Result<FolderCheck> {
        fs::write(self.folder.path().join(NAME), self.manifest.to_string()).expect("a file");
        check_folder(self.folder.path(), &CheckOptions::default().full(true))
    }

    /// Returns the findings as lines.
    fn findings(&self) -> String {
        let lines = self.check().expect("a readable manifest").findings;
        lines.iter().map(|(file, what)| format!("{file}: {what}\n")).collect()
    }
}

#[test]
fn a_sound_set_is_sound_and_orphans_are_told() {
    let set = Set::new();
    let found = set.check().expect("a set");
    assert!(found.is_clean() && found.has_manifest, "{found:?}");
    assert_eq!((found.databases, found.rows, found.orphans.len()), (2, 80, 0));
    fs::copy(
        set.folder.path().join("v-0123456789abcdef0123456789abcdef/a.db"),
        set.folder.path().join("v-0123456789abcdef0123456789abcdef/c.db"),
    )
    .expect("a copy");
    // Only files that jobs name so are theirs.
    fs::write(set.folder.path().join("notes.txt"), "mine").expect("a file");
    let found = set.check().expect("a set");
    assert!(found.is_clean());
    assert_eq!(found.orphans, ["v-0123456789abcdef0123456789abcdef/c.db"]);
}

#[test]
fn each_difference_is_found() {
    type Change = (&'static str, Json, &'static str);
    let changes: [Change; 10] = [
        (
            "/shards/0/rows",
            json!(51),
            "v-0123456789abcdef0123456789abcdef/a.db: rows: 50 here, 51 in the manifest\n_manifest.json: rows: the shards have 81",
        ),
        ("/shards/1/bytes", json!(1), "v-0123456789abcdef0123456789abcdef/b.db: bytes: "),
        ("/shards/1/checksum", json!("crc32:00000000"), "v-0123456789abcdef0123456789abcdef/b.db: checksum: crc32:"),
        (
            "/shards/0/smallest",
            json!([0]),
            "v-0123456789abcdef0123456789abcdef/a.db: smallest key: 1 here, 0 in the manifest",
        ),
        (
            "/shards/0/largest",
            json!([60]),
            "v-0123456789abcdef0123456789abcdef/b.db: it begins with key 51, and v-0123456789abcdef0123456789abcdef/a.db ends with 60",
        ),
        (
            "/shards/1/value",
            json!("c"),
            "v-0123456789abcdef0123456789abcdef/b.db: 30 rows have another value of tenant than 'c'",
        ),
        (
            "/shards/1/value",
            json!("a"),
            "v-0123456789abcdef0123456789abcdef/b.db: v-0123456789abcdef0123456789abcdef/a.db has the value 'a', too",
        ),
        (
            "/schema",
            json!(["CREATE TABLE t (id)"]),
            "v-0123456789abcdef0123456789abcdef/a.db: schema: 1 statements here",
        ),
        (
            "/shards/1/file",
            json!("v-0123456789abcdef0123456789abcdef/x.db"),
            "v-0123456789abcdef0123456789abcdef/x.db: the file is absent",
        ),
        ("/shards/1/file", json!("../x.db"), "../x.db: the name leads out of the folder"),
    ];
    for (pointer, value, expected) in changes {
        let mut set = Set::new();
        *set.manifest.pointer_mut(pointer).expect(pointer) = value;
        let findings = set.findings();
        assert!(findings.contains(expected), "{pointer}: {findings}");
    }
}

/// An object store puts databases together without reading them, and knows no checksum.
#[test]
fn a_shard_may_have_no_checksum() {
    let mut set = Set::new();
    set.manifest["shards"][0]["checksum"] = Json::Null;
    let found = set.check().expect("a set");
    assert!(found.is_clean(), "{found:?}");
    set.manifest["shards"][0]["bytes"] = json!(5);
    assert!(!set.check().expect("a set").is_clean());
}

/// A changed byte in the middle of a page is a checksum, and what the page says of itself.
#[test]
fn a_changed_page_is_found() {
    let set = Set::new();
    let path = set.folder.path().join("v-0123456789abcdef0123456789abcdef/b.db");
    let mut bytes = fs::read(&path).expect("a file");
    bytes[4096] ^= 0xff;
    fs::write(&path, bytes).expect("a file");
    let findings = set.findings();
    assert!(findings.contains("checksum: ") && findings.contains("page 2"), "{findings}");
}

#[test]
fn what_is_no_manifest_is_an_error() {
    for (pointer, value, expected) in [
        ("/version", json!(2), "the manifest has version 2"),
        ("/format", json!("x"), "\"format\" is \"x\""),
        ("/shards/0/checksum", json!(5), "\"checksum\" is absent or of another kind"),
        ("/shards/0/smallest", json!([true]), "\"smallest\" is absent or of another kind"),
    ] {
        let mut set = Set::new();
        *set.manifest.pointer_mut(pointer).expect(pointer) = value;
        let error = set.check().expect_err(pointer).to_string();
        assert!(error.contains(expected) && error.contains(NAME), "{error}");
    }
}

/// Databases of a folder without a manifest are checked by themselves.
#[test]
fn a_folder_without_a_manifest() {
    let set = Set::new();
    let check = || check_folder(set.folder.path(), &CheckOptions::default());
    let found = check().expect("databases");
    assert!(found.is_clean() && !found.has_manifest);
    assert_eq!((found.databases, found.orphans.len()), (2, 0));
    fs::write(set.folder.path().join("v-0123456789abcdef0123456789abcdef/c.db"), "no database").expect("a file");
    let found = check().expect("databases");
    assert_eq!(found.findings_total, 1, "{found:?}");
    let empty = tempfile::tempdir().expect("a folder");
    let error = check_folder(empty.path(), &CheckOptions::default()).expect_err("nothing");
    assert!(error.to_string().contains("neither a manifest nor a database"), "{error}");
}
