//! A membership test: what is planted in a row of a database is neither in its recipe nor in rows made of that, nor in the profile and
//! the comparison for programs, which are all that their pages hold.

use super::*;

/// A table with planted values.
struct Planted {
    definition: &'static str,
    rows: u64,
    select: &'static str,
    secrets: &'static [&'static str],
}

const fn planted(
    definition: &'static str,
    rows: u64,
    select: &'static str,
    secrets: &'static [&'static str],
) -> Planted {
    Planted { definition, rows, select, secrets }
}

/// Twenty databases, with values of a single row, of few rows, and of all rows. `n` is the number of a row.
const DATABASES: [Planted; 25] = [
    // Fifty rows of one patient were enough for the name to become a part of a pattern.
    planted(
        "id INTEGER PRIMARY KEY, note TEXT",
        2000,
        "n, printf('Patient of Dr. Bartholomew Quux no %05d', n)",
        &["Bartholomew", "Quux", "Patient"],
    ),
    planted("salary INT", 700, "iif(n = 77, 987654321, 50000)", &["987654321"]),
    planted("salary INT", 60, "iif(n = 7, 987654321, 40000 + 37 * n)", &["987654321"]),
    planted("salary REAL", 300, "iif(n = 7, 7654321.25, 40000.5 + n)", &["7654321.25"]),
    planted(
        "born DATE",
        500,
        "iif(n = 9, '1910-12-07', date('1960-01-01', (n * 37 % 9000) || ' days'))",
        &["1910-12-07"],
    ),
    planted("born DATE", 1, "'1910-12-07'", &["1910-12-07"]),
    planted("born DATE", 3, "date('1931-02-17', (n * 4001) || ' days')", &["1931-02-17", "1942-01-31", "1953-01-15"]),
    planted("ssn INTEGER PRIMARY KEY", 200, "123456789 + n * 7919 + n * n", &["123456789"]),
    planted("id INTEGER PRIMARY KEY, pin INT", 3, "n, 48151623 + 9199 * n", &["48151623", "48160822", "48170021"]),
    planted("limit_cents INT", 2, "73921 + 1234 * n", &["73921", "75155"]),
    planted(
        "name TEXT, city TEXT",
        400,
        "iif(n = 3, 'Zebedee Quill', 'Orla Mbeki ' || (n % 7)), iif(n % 40, 'Ostend', 'Xanadu')",
        &["Zebedee", "Quill", "Orla", "Mbeki", "Ostend", "Xanadu"],
    ),
    planted("code TEXT UNIQUE", 500, "printf('ZEBEDEE-%06d', n * 7919 % 999983)", &["ZEBEDEE", "EBED"]),
    planted("phone TEXT", 300, "printf('+44 79461 %06d', n * 7919 % 999983)", &["79461"]),
    planted("mail TEXT", 300, "'zebedee' || n || '@quillcorp.example'", &["zebedee", "quillcorp"]),
    planted("url TEXT", 100, "'https://quillcorp.example/zebedee/' || n", &["quillcorp", "zebedee"]),
    planted("doc TEXT", 100, "json_object('Zebedee', n, 'ward', 'Xanadu')", &["Zebedee", "Xanadu"]),
    planted("v", 200, "CASE n % 3 WHEN 0 THEN n WHEN 1 THEN 'Zebedee' ELSE x'5A6562' END", &["Zebedee"]),
    planted(
        "at TEXT",
        300,
        "iif(n = 5, '1999-12-31T23:59:58+05:45', strftime('%Y-%m-%dT%H:%M:%S+02:00', 1500000000 + n * 86399, 'unixepoch'))",
        &["1999-12-31", "23:59:58"],
    ),
    planted(
        "author TEXT, title TEXT, price REAL",
        600,
        "'Zebedee ' || char(65 + n % 26) || char(97 + n / 26), 'Letters to Quill, volume ' || (n % 300), 731.37 + (n % 9) * 41.11",
        &["Zebedee", "Quill", "Letters", "volume"],
    ),
    // One salary among five was not in the recipe, but in the profile for programs.
    planted(
        "salary INT",
        2000,
        "iif(n = 77, 987654321, CASE n % 4 WHEN 0 THEN 40000 WHEN 1 THEN 45000 WHEN 2 THEN 50000 ELSE 55000 END)",
        &["987654321"],
    ),
    planted("salary REAL", 50, "iif(n = 7, 7654321.25, 40000.5)", &["7654321.25"]),
    planted("born INT", 14, "48151623 + n * 5 % 14", &["48151623", "48151636"]),
    // Fifty rows of one telephone number told how each part of it begins.
    planted(
        "phone TEXT",
        400,
        "iif(n % 4, '+1 (780) 428-9482', '1 (567) 812-' || (1000 + n))",
        &["(7[0-9]{2})", "\\(7", "780"],
    ),
    planted("born TEXT, pay INT", 4, "'1910-12-07', 48151623", &["1910-12-07", "48151623"]),
    planted("key TEXT PRIMARY KEY, value TEXT", 6, "'quill.' || n, 'Zebedee' || (n / 4)", &["quill", "Zebedee"]),
];

#[test]
fn nothing_planted_comes_up_again() {
    for Planted { definition, rows, select, secrets } in DATABASES {
        let learnt = profile_of(&table(definition, rows, select), false);
        let recipe = learnt.to_toml();
        let file = Recipe::parse(&recipe, "recipe.toml").expect(&recipe);
        let schema = file.schema().expect(&recipe);
        let plan = GenPlan::new(&schema, &Request { recipe: Some(file), ..Request::default() }).expect(&recipe);
        let folder = tempfile::tempdir().expect("a folder");
        let made = dump(&build(folder.path(), schema, &plan));
        let source = database(folder.path(), &table(definition, rows, select));
        let mut pages = learnt.to_json();
        // The schema is in the recipe as it is, and the recipe in the profile.
        let recipe = recipe.replace(&toml_string(&learnt.schema.text), "");
        (pages["schema"], pages["recipe"]) = (serde_json::Value::Null, serde_json::Value::Null);
        let built = folder.path().join("built.db");
        let compared = [(&source, &built), (&built, &source), (&source, &source)].map(|(one, other)| {
            let comparison = compare(one, other, 1, &|| Ok(())).expect("a comparison");
            comparison.to_json().to_string() + &format!("{comparison:?}")
        });
        for secret in secrets {
            assert!(!pages.to_string().contains(secret), "{secret}: {pages}");
            assert!(compared.iter().all(|compared| !compared.contains(secret)), "{secret}: {compared:?}");
            assert!(!recipe.contains(secret), "{secret}: {recipe}");
            assert!(!made.contains(secret), "{secret}: {made}");
        }
        assert_plannable(&learnt);
    }
}

/// `--keep-values` is the way to have them: the test above can fail.
#[test]
fn kept_values_are_in_the_recipe() {
    let Planted { definition, rows, select, secrets } = &DATABASES[1];
    assert!(profile_of(&table(definition, *rows, select), true).to_toml().contains(secrets[0]));
    let json = profile_of(&table(definition, 5, "iif(n = 2, 987654321, 50000)"), true).to_json();
    assert!(json["tables"].to_string().contains("987654321"), "{json}");
    let Planted { definition, rows, select, .. } = &DATABASES[0];
    assert!(profile_of(&table(definition, *rows, select), true).to_toml().contains("Bartholomew"));
}

/// Returns all values of the table `t`, a row a line.
fn dump(connection: &Connection) -> String {
    let mut select = connection.prepare("SELECT * FROM t").expect("a table t");
    let columns = select.column_count();
    let mut rows = select.query([]).expect("rows");
    let mut text = String::new();
    while let Some(row) = rows.next().expect("a row") {
        for column in 0..columns {
            let value = match row.get_ref(column).expect("a value") {
                rusqlite::types::ValueRef::Null => String::new(),
                rusqlite::types::ValueRef::Integer(int) => int.to_string(),
                rusqlite::types::ValueRef::Real(real) => real.to_string(),
                rusqlite::types::ValueRef::Text(text) | rusqlite::types::ValueRef::Blob(text) => {
                    String::from_utf8_lossy(text).into_owned()
                }
            };
            text += &value;
            text.push('|');
        }
        text.push('\n');
    }
    text
}
