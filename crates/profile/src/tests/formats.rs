//! Formats: texts that look like numbers, prices, codes or paths do so in a look-alike, whether they repeat or not.

use super::look_alikes::look_alike;
use super::*;
use std::collections::BTreeMap;

/// Returns the texts of a column in their rows.
fn texts(connection: &Connection, column: &str) -> Vec<String> {
    let mut select = connection.prepare(&format!("SELECT {column} FROM t WHERE {column} IS NOT NULL")).expect(column);
    let texts = select.query_map([], |row| row.get(0)).expect(column);
    texts.collect::<rusqlite::Result<_>>().expect("texts")
}

/// Returns the share of each shape: 0 stands for a digit, A for any letter.
fn shapes(texts: &[String]) -> BTreeMap<String, f64> {
    let shape = |c: char| match c {
        c if c.is_ascii_digit() => '0',
        c if c.is_alphabetic() => 'A',
        c => c,
    };
    let mut shapes = BTreeMap::new();
    for text in texts {
        *shapes.entry(text.chars().map(shape).collect()).or_default() += 1.0 / texts.len() as f64;
    }
    shapes
}

/// A version `v2.5` became `h7.1`, a duration `1:23` became `8:97`, a price in euros became words, and all of a few paths had one
/// extension.
#[test]
fn texts_keep_what_all_of_them_have() {
    let select = "'v' || (n % 4) || '.' || (n * 7919 % 11), (n % 9) || printf(':%02d', n * 7919 % 60), (n * n % 300) || ',50 €', \
        iif(n % 2, 'zebedee/' || (n % 7) || '.rs', 'quill/xanadu/' || (n % 5) || '.py')";
    let learnt = profile_of(&table("version TEXT, lasts TEXT, price TEXT, place TEXT", 2000, select), false);
    let (_folder, made) = look_alike(&learnt, 1.0);
    for (column, shape) in [
        ("version", "v[0-9].*"),
        ("lasts", "[0-8]:[0-5][0-9]"),
        ("price", "*[0-9],[0-9][0-9] €"),
        ("place", "*/[0-9].[rp][sy]"),
    ] {
        let unlike = format!("SELECT count(*) FROM t WHERE {column} NOT GLOB '{shape}'");
        let count: u64 = made.query_row(&unlike, [], |row| row.get(0)).expect(column);
        assert_eq!(count, 0, "{column}: {}", said(&learnt, &format!("t.{column}")));
    }
    let python: u64 =
        made.query_row("SELECT count(*) FROM t WHERE place GLOB '*/*/*.py'", [], |row| row.get(0)).expect("paths");
    assert!((900..1100).contains(&python), "{python}: {}", said(&learnt, "t.place"));
}

/// The price `$9.41` became `raven ba`, the version `2.5` became `owl farm`, and a telephone number was `nest branch lion`: texts of
/// several shapes that repeat were words.
#[test]
fn texts_that_repeat_keep_their_shapes() {
    let select = "'$' || (n * 7919 % 61) || printf('.%02d', n * n % 100), (n % 3) || '.' || (n * 7919 % 21) || '.' || (n * 31 % 10), \
        (n % 9) || '.' || (n * 7919 % 10), n * 7919 % 900, char(65 + n % 3) || (n * 31 % 10) || '-' || char(88 + n % 3), \
        iif(n % 5, '+', '') || (1 + n % 7) || ' (780) 428-' || (1000 + n % 7), hex(n * 7919 % 256), \
        iif(n % 3, '030 ' || (1000 + n * n % 7919), '')";
    let columns = ["price", "version", "small", "number", "code", "phone", "byte", "fax"];
    for rows in [3000, 8] {
        let folder = tempfile::tempdir().expect("a folder");
        let definition = columns.map(|column| format!("{column} TEXT")).join(", ");
        let file = database(folder.path(), &table(&definition, rows, select));
        let learnt = profile(&file, &options(1, false)).expect("a profile");
        let (_folder, made) = look_alike(&learnt, 1.0);
        let source = Connection::open(&file).expect("the source");
        for column in columns {
            let [one, other] = [&source, &made].map(|connection| texts(connection, column));
            let (of_one, of_other) = (shapes(&one), shapes(&other));
            let said = said(&learnt, &format!("t.{column}"));
            for (shape, share) in &of_other {
                let of_source = of_one.get(shape).copied().unwrap_or_default();
                // Hex digits may be of either kind.
                let most = if rows < 100 || column == "byte" { 1.0 } else { 0.1 };
                assert!((share - of_source).abs() < most, "{shape}: {share}, {of_source}: {said}");
                let is_hex = column == "byte" && shape.len() <= 3;
                assert!(is_hex || of_one.contains_key(shape), "{shape} of {column}: {said}");
            }
            let distinct = |texts: &[String]| texts.iter().collect::<std::collections::HashSet<_>>().len() as f64;
            let ratio = distinct(&other) / distinct(&one);
            assert!((0.75..1.34).contains(&ratio), "{column}: {ratio} times as many different texts: {said}");
        }
        assert_plannable(&learnt);
    }
}

/// Texts in base64 became `dawn ruby boat`, and `/usr/lib/7.txt` became words as well.
#[test]
fn base64_and_paths_keep_their_forms() {
    let folder = tempfile::tempdir().expect("a folder");
    let file =
        database(folder.path(), "CREATE TABLE t (mark TEXT, token TEXT UNIQUE, again TEXT, place TEXT, spot TEXT);");
    let connection = Connection::open(&file).expect("a database");
    connection.execute_batch("BEGIN").expect("a transaction");
    let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let base64 = |seed: u64, bytes: usize| {
        let length = (bytes * 4).div_ceil(3);
        let digit = |at: usize| {
            let at = crate::sketch::hash_int(seed * 1000 + at as u64) % 64;
            digits.chars().nth(usize::try_from(at).expect("a small number")).expect("64 digits")
        };
        let body: String = (0..length).map(digit).collect();
        body + &"=".repeat((4 - length % 4) % 4)
    };
    for row in 0..1000_u64 {
        let place = match row % 4 {
            0 => format!("/home/zebedee/{}.jpg", row % 7),
            _ => format!("/usr/lib/{}.txt", row % 90 + 10),
        };
        let values = [
            base64(row, 6 + usize::try_from(row % 18).expect("a length")),
            base64(row + 5000, 16),
            base64(row % 300, 20),
            place,
            format!("projects/quill{}/main.rs", row),
        ];
        connection.execute("INSERT INTO t VALUES (?1, ?2, ?3, ?4, ?5)", values).expect("a row");
    }
    connection.execute_batch("COMMIT").expect("rows");
    let learnt = profile(&file, &options(1, false)).expect("a profile");
    let recipe = learnt.to_toml();
    assert!(!recipe.contains("zebedee") && !recipe.contains("quill") && !recipe.contains("usr"), "{recipe}");
    let (_folder, made) = look_alike(&learnt, 2.0);
    for (column, shortest, longest) in [("mark", 8, 32), ("token", 24, 24), ("again", 28, 28)] {
        let texts = texts(&made, column);
        let is_base64 = |text: &&String| {
            let body = text.trim_end_matches('=');
            text.len().is_multiple_of(4) && text.len() - body.len() <= 2 && body.chars().all(|c| digits.contains(c))
        };
        assert_eq!(texts.iter().filter(is_base64).count(), texts.len(), "{column}: {texts:?}");
        let ends = (texts.iter().map(String::len).min(), texts.iter().map(String::len).max());
        assert_eq!(ends, (Some(shortest), Some(longest)), "{column}");
    }
    for path in texts(&made, "place").into_iter().chain(texts(&made, "spot")) {
        let parts: Vec<&str> = path.split('/').collect();
        let (is_there, extension) = (parts[0].is_empty(), path.rsplit_once('.').expect(&path).1);
        let is_number = |text: &str| text.trim_end_matches(|c: char| c.is_ascii_digit()).len() < text.len();
        let is_like = match extension {
            "jpg" | "txt" => is_there && parts.len() == 4 && is_number(parts[3].split('.').next().expect("a name")),
            "rs" => !is_there && parts.len() == 3 && is_number(parts[1]),
            _ => false,
        };
        assert!(is_like, "{path}: {recipe}");
    }
    assert_plannable(&learnt);
}
