//! Writes a table with an index: `cargo run --example index -- words.db`

use std::path::Path;

fn main() -> litepress::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "words.db".to_owned());
    run(Path::new(&path))
}

/// Writes words and the positions at which they stand.
pub fn run(path: &Path) -> litepress::Result<()> {
    let schema = "CREATE TABLE word (position INTEGER PRIMARY KEY, word TEXT NOT NULL);
                  CREATE INDEX word_word ON word (word);";
    let mut db = litepress::Writer::create(path, schema)?;
    let mut words = db.table("word")?;
    for (position, word) in "to be or not to be".split(' ').enumerate() {
        words.insert((position, word))?;
    }
    db.finish()?;
    Ok(())
}
