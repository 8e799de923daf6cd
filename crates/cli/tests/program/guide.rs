//! Makes databases of the schemas in docs/generators.md, and checks every constraint.

use crate::Room;
use std::path::Path;

/// Returns the SQL blocks of a section.
fn schemas(section: &str) -> Vec<String> {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/generators.md");
    let guide = std::fs::read_to_string(guide).expect("the guide");
    let text = guide.split("\n## ").find(|text| text.starts_with(section)).expect(section);
    let blocks = text.split("```sql\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
    blocks.map(str::to_owned).collect()
}

#[test]
fn expressions_and_references() {
    let schemas = schemas("Expressions and references");
    assert!(schemas.len() >= 3);
    for schema in schemas {
        let room = Room::with_schema(&schema);
        room.done("generate guide.db schema.sql --verify full");
        let broken = room.query("guide.db", "SELECT count(*) FROM pragma_foreign_key_check");
        let check = room.query("guide.db", "PRAGMA integrity_check");
        assert_eq!((broken.as_str(), check.as_str()), ("0", "ok"), "{schema}");
    }
}

#[test]
fn what_a_row_refers_to_is_consistent() {
    let room = Room::with_schema(&schemas("Expressions and references")[1]);
    room.done("generate shop.db schema.sql");
    for (query, expected) in [
        ("SELECT count(*) FROM purchase p JOIN customer c ON c.id = p.customer WHERE c.country <> p.country", "0"),
        ("SELECT count(*) FROM line l JOIN item i ON i.id = l.item WHERE round(i.price * l.pieces, 2) <> l.total", "0"),
        ("SELECT count(*) FROM (SELECT purchase FROM line GROUP BY purchase HAVING max(number) <> count(*))", "0"),
        ("SELECT count(DISTINCT purchase) FROM line", "1000"),
        ("SELECT count(*) FROM transfer WHERE sender = receiver", "0"),
    ] {
        assert_eq!(room.query("shop.db", query), expected, "{query}");
    }
}
