//! Columns whose names say enough, in tables of no known program: numbers with check digits, spans of time, ranges, addresses.

use super::judge_schema;

/// Books had 16 hex digits for an ISBN because no two books may share one, and countries had the code 'TVH-961932'.
#[test]
fn unique_texts_are_what_their_name_says() {
    const SQL: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, isbn TEXT NOT NULL UNIQUE, iban TEXT NOT NULL UNIQUE, card_number TEXT NOT NULL UNIQUE,
        vin TEXT NOT NULL UNIQUE, ip_address VARCHAR(15) NOT NULL UNIQUE, mac TEXT NOT NULL UNIQUE, sha512 TEXT NOT NULL UNIQUE, sku TEXT NOT NULL UNIQUE,
        account_number TEXT NOT NULL UNIQUE, timezone TEXT NOT NULL UNIQUE, address TEXT NOT NULL UNIQUE, user_agent TEXT NOT NULL UNIQUE);
        CREATE TABLE land (id INTEGER PRIMARY KEY, country_code CHAR(2) NOT NULL UNIQUE);
        CREATE TABLE currency (id INTEGER PRIMARY KEY, iso_code TEXT NOT NULL UNIQUE);";
    let wrong = |condition: &str| format!("SELECT count(*) FROM t WHERE NOT ({condition})");
    let queries = [
        "isbn GLOB '978[013]*' AND length(isbn) = 13",
        "iban GLOB '[A-Z][A-Z][0-9][0-9]*' AND length(iban) > 17",
        "card_number GLOB '[345]*' AND length(card_number) IN (15, 16)",
        "length(vin) = 17",
        "ip_address GLOB '[1-9]*.*.*.*[0-9]'",
        "mac GLOB '[0-9a-f][26ae]:*' AND length(mac) = 17",
        "length(sha512) = 128",
        "sku GLOB '[A-Z][A-Z][A-Z]-[0-9]*'",
        "account_number NOT GLOB '*[^0-9]*' AND length(account_number) = 10",
        "timezone LIKE '%/%' OR timezone LIKE 'UTC%'",
        "address GLOB '[1-9]* [A-Z]* [A-Z]*'",
        "user_agent LIKE 'Mozilla/5.0 (%'",
    ]
    .map(wrong);
    let mut judges: Vec<_> = queries.iter().map(|query| (query.as_str(), 0, 0)).collect();
    judges.extend([
        // A list comes once before it has numbers.
        ("SELECT count(*) FROM (SELECT timezone FROM t ORDER BY id LIMIT 26) WHERE timezone GLOB '*[0-9]'", 0, 0),
        ("SELECT count(*) FROM land WHERE country_code NOT GLOB '[A-Z][A-Z]'", 0, 0),
        ("SELECT count(*) FROM land WHERE country_code IN ('US', 'DE', 'FR', 'JP')", 1, 4),
        ("SELECT count(*) FROM currency WHERE iso_code IN ('USD', 'EUR', 'JPY', 'GBP')", 1, 4),
    ]);
    judge_schema("unique", SQL, &[("land", 20), ("currency", 15)], &judges);
}

/// Serial numbers were words, and the tags of a JSON column were no JSON.
#[test]
fn names_of_numbers_and_lists_are_known() {
    const SQL: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, serial_number TEXT NOT NULL, passport TEXT NOT NULL, isin TEXT NOT NULL, sha512 TEXT NOT NULL,
        country TEXT NOT NULL, iso_code TEXT NOT NULL, tags JSON NOT NULL, options JSON NOT NULL);
        CREATE TABLE person (id INTEGER PRIMARY KEY, first TEXT NOT NULL, last TEXT NOT NULL, middle TEXT NOT NULL);";
    judge_schema(
        "numbers",
        SQL,
        &[],
        &[
            ("SELECT count(*) FROM t WHERE serial_number NOT GLOB '[A-Z][A-Z][0-9]*'", 0, 0),
            ("SELECT count(*) FROM t WHERE passport NOT GLOB '[A-Z][0-9]*'", 0, 0),
            ("SELECT count(*) FROM t WHERE isin NOT GLOB '[A-Z][A-Z][0-9]*' OR length(isin) <> 12", 0, 0),
            ("SELECT count(*) FROM t WHERE length(sha512) <> 128", 0, 0),
            (
                "SELECT count(*) FROM t WHERE country = 'Germany' AND iso_code <> 'DE' OR iso_code = 'FR' AND country <> 'France'",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM t WHERE NOT json_valid(tags) OR json_type(tags) <> 'array' OR NOT json_valid(options)",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM person WHERE first || last || middle GLOB '*[a-z] [a-z]*' OR lower(first) = first",
                0,
                0,
            ),
        ],
    );
}

/// Somebody watched until 1609554032, and a cake was in the oven for 731,204 minutes.
#[test]
fn spans_of_time_are_no_points_in_time() {
    const SQL: &str = "CREATE TABLE viewing (id INTEGER PRIMARY KEY, total_view_time INTEGER, play_time INTEGER, idle_time_ms INTEGER, run_time INTEGER, cpu_time REAL);
        CREATE TABLE recipe (id INTEGER PRIMARY KEY, prep_time INTEGER, cook_time INTEGER, total_time INTEGER);";
    judge_schema(
        "spans",
        SQL,
        &[],
        &[
            ("SELECT max(max(total_view_time, play_time, run_time)) FROM viewing", 500, 86_400),
            ("SELECT CAST(max(idle_time_ms) AS INTEGER) FROM viewing", 3000, 3_600_000),
            ("SELECT CAST(10 * avg(cpu_time) AS INTEGER) FROM viewing", 10, 100),
            ("SELECT max(max(prep_time, cook_time)) FROM recipe", 60, 120),
            ("SELECT count(*) FROM recipe WHERE total_time <> prep_time + cook_time", 0, 0),
        ],
    );
}

/// A mean was larger than the largest value, a rule was valid to a day before the first one, and a job ended before it began.
#[test]
fn pairs_are_in_order_in_any_table() {
    const SQL: &str = "CREATE TABLE measurement (mean REAL, min REAL, max REAL); CREATE TABLE limits (min INTEGER, max INTEGER);
        CREATE TABLE box (minx REAL, maxx REAL, miny REAL, maxy REAL); CREATE TABLE rule (valid_from INTEGER, valid_to INTEGER);
        CREATE TABLE events (\"start\" TEXT, \"end\" TEXT); CREATE TABLE meeting (\"start\" INTEGER, \"end\" INTEGER);
        CREATE TABLE users (id INTEGER PRIMARY KEY, current_sign_in_at TEXT, last_sign_in_at TEXT);
        CREATE TABLE jobs (created_at REAL, started_at REAL, finished_at REAL); CREATE TABLE thing (created_at FLOAT, updated_at FLOAT);";
    judge_schema(
        "pairs",
        SQL,
        &[],
        &[
            ("SELECT count(*) FROM measurement WHERE NOT (min <= mean AND mean <= max)", 0, 0),
            ("SELECT count(*) FROM limits WHERE min > max", 0, 0),
            ("SELECT count(*) FROM box WHERE minx > maxx OR miny > maxy", 0, 0),
            ("SELECT count(*) FROM rule WHERE valid_from > valid_to", 0, 0),
            ("SELECT count(*) FROM events WHERE NOT (datetime(\"start\") <= datetime(\"end\"))", 0, 0),
            ("SELECT count(*) FROM events WHERE datetime(\"start\") IS NULL", 0, 0),
            ("SELECT count(*) FROM meeting WHERE \"start\" > \"end\" OR \"start\" < 1000000000", 0, 0),
            ("SELECT count(*) FROM users WHERE last_sign_in_at > current_sign_in_at", 0, 0),
            ("SELECT count(*) FROM jobs WHERE NOT (created_at <= started_at AND started_at <= finished_at)", 0, 0),
            // 2026-01-01 is the Julian day 2461041.5.
            ("SELECT count(*) FROM jobs WHERE finished_at > 2461041.5 OR created_at < 2459000", 0, 0),
            ("SELECT count(*) FROM thing WHERE updated_at < created_at", 0, 0),
            ("SELECT count(*) FROM thing WHERE updated_at = created_at", 80, 250),
        ],
    );
}

/// A parcel went to the address of a stranger if a second address, or none, was possible.
#[test]
fn orders_have_addresses_of_their_user() {
    const USERS: &str = "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE addresses (id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users, city TEXT);";
    const OTHERS: [&str; 4] = [
        "address_id INTEGER NOT NULL REFERENCES addresses",
        "address_id INTEGER REFERENCES addresses",
        "billing_address_id INTEGER REFERENCES addresses, shipping_address_id INTEGER REFERENCES addresses",
        "billing_address_id INTEGER NOT NULL REFERENCES addresses, shipping_address_id INTEGER NOT NULL REFERENCES addresses",
    ];
    for columns in OTHERS {
        let sql = format!(
            "{USERS} CREATE TABLE orders (id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users, {columns});"
        );
        for name in ["address_id", "billing_address_id", "shipping_address_id"] {
            let strange =
                format!("SELECT count(*) FROM orders o JOIN addresses a ON a.id = {name} WHERE a.user_id <> o.user_id");
            let known = format!("SELECT count(*) FROM orders o JOIN addresses a ON a.id = {name}");
            let judges = [(strange.as_str(), 0, 0), (known.as_str(), 200, 400)];
            if columns.starts_with(name) || columns.contains(&format!(" {name}")) {
                judge_schema(columns, &sql, &[], &judges);
            }
        }
    }
}

/// A column of 8 characters held 'Nurember', one of 7 'United ', and an address had no @.
#[test]
fn short_columns_hold_whole_names() {
    const SQL: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, city VARCHAR(8), country VARCHAR(7), state VARCHAR(10), email VARCHAR(15), work_email VARCHAR(20) UNIQUE);
        CREATE TABLE place (id INTEGER PRIMARY KEY, city TEXT);";
    judge_schema(
        "short",
        SQL,
        &[("place", 20_000)],
        &[
            ("SELECT count(*) FROM t WHERE length(city) > 8 OR length(country) > 7 OR length(state) > 10", 0, 0),
            ("SELECT count(DISTINCT city) FROM t", 20, 200),
            ("SELECT count(*) FROM t WHERE city NOT IN (SELECT city FROM place)", 0, 0),
            ("SELECT count(*) FROM t WHERE country = 'United' OR country LIKE '% '", 0, 0),
            ("SELECT count(*) FROM t WHERE email NOT LIKE '%_@_%.test' OR length(email) > 15", 0, 0),
            ("SELECT count(*) FROM t WHERE work_email NOT LIKE '%_@_%.test' OR length(work_email) > 20", 0, 0),
        ],
    );
}

/// A parcel had the shape x'8f3a02', and the WKT of a house was "gentle river".
#[test]
fn shapes_are_in_the_form_of_their_schema() {
    const SQL: &str = "CREATE TABLE parcel (id INTEGER PRIMARY KEY, geom POLYGON NOT NULL); CREATE TABLE stop (id INTEGER PRIMARY KEY, geom BLOB NOT NULL, wkt TEXT NOT NULL, geojson TEXT NOT NULL);";
    const PACKAGE: &str = "CREATE TABLE gpkg_contents (table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL);";
    judge_schema(
        "shapes",
        SQL,
        &[],
        &[
            (
                "SELECT count(*) FROM parcel WHERE hex(geom) NOT GLOB '01030000000100000005000000*' OR length(geom) <> 93",
                0,
                0,
            ),
            ("SELECT count(*) FROM stop WHERE hex(geom) NOT GLOB '0101000000*' OR length(geom) <> 21", 0, 0),
            ("SELECT count(*) FROM stop WHERE wkt NOT GLOB 'POINT (*[0-9] *[0-9])'", 0, 0),
            (
                "SELECT count(*) FROM stop WHERE abs(geojson ->> '$.coordinates[1]') > 90 OR geojson ->> 'type' <> 'Point'",
                0,
                0,
            ),
            ("SELECT count(DISTINCT geojson ->> '$.coordinates') FROM stop", 390, 400),
        ],
    );
    judge_schema(
        "package",
        &format!("{PACKAGE} {SQL}"),
        &[],
        &[
            // 'GP', version 0, an envelope and little-endian, EPSG 4326, the envelope, and the shape.
            ("SELECT count(*) FROM parcel WHERE hex(geom) NOT GLOB '47500003E6100000*' OR length(geom) <> 133", 0, 0),
            ("SELECT count(*) FROM parcel WHERE hex(substr(geom, 41, 5)) <> '0103000000'", 0, 0),
            (
                "SELECT count(*) FROM stop WHERE hex(geom) NOT GLOB '47500001E61000000101000000*' OR length(geom) <> 29",
                0,
                0,
            ),
        ],
    );
}
