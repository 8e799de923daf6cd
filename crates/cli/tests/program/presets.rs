//! Built-in schemas: each makes a database in which SQLite finds no fault.

use crate::Room;
use rusqlite::Connection;
use tpchgen::csv::{CustomerCsv, LineItemCsv, NationCsv, OrderCsv, PartCsv, PartSuppCsv, RegionCsv, SupplierCsv};
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator, PartSuppGenerator,
    RegionGenerator, SupplierGenerator,
};

#[test]
fn every_preset_makes_a_good_database() {
    let room = Room::new();
    for (preset, scale) in
        [("composite", "0.002"), ("log", "0.002"), ("metrics", "0.002"), ("shop", "0.002"), ("tpch", "0.002")]
    {
        room.done(&format!("generate {preset}.db --preset {preset} --scale {scale} --verify full"));
        let file = format!("{preset}.db");
        assert_eq!(room.query(&file, "SELECT count(*) FROM pragma_foreign_key_check"), "0", "{preset}");
        room.done(&format!(
            "generate again.db --preset {preset} --scale {scale} --write-recipe recipe.toml --overwrite"
        ));
        room.done("generate planned.db --recipe recipe.toml --overwrite");
        let bytes = |name: &str| std::fs::read(room.path(name)).expect(name);
        assert!(bytes("again.db") == bytes(&file) && bytes("planned.db") == bytes(&file), "{preset}");
    }
}

#[test]
fn the_shop_hangs_together() {
    let room = Room::new();
    room.done("generate shop.db --preset shop --scale 0.01");
    for (query, expected) in [
        ("SELECT count(*), (SELECT count(DISTINCT purchase) FROM line) FROM purchase", "10000|10000"),
        ("SELECT count(*) FROM line l JOIN product p ON p.id = l.product WHERE l.price <> p.price OR l.tax <> p.tax", "0"),
        (
            "SELECT count(*) FROM purchase p JOIN customer c ON c.id = p.customer
             WHERE (p.street, p.postcode, p.city, p.country, p.currency) <> (c.street || ' ' || c.house, c.postcode, c.city, c.country, c.currency)",
            "0",
        ),
        ("SELECT count(*) FROM line JOIN purchase p ON p.id = purchase WHERE returned_at <= ordered_at", "0"),
        ("SELECT count(*) FROM line WHERE (reason IS NULL) <> (returned_at IS NULL)", "0"),
        ("SELECT count(*) FROM purchase WHERE shipped_at <= ordered_at", "0"),
        ("SELECT max(n) > 20 * avg(n) FROM (SELECT count(*) AS n FROM line GROUP BY product)", "1"),
        ("SELECT count(*) BETWEEN 29000 AND 31000 FROM line", "1"),
        // Customers lived in Tallinn, Belgium, and their e-mail addresses had other names.
        ("SELECT count(*) FROM customer WHERE city = 'Seattle' AND country <> 'United States'", "0"),
        ("SELECT count(*) FROM customer WHERE email NOT LIKE '%' || last_name || '%' AND last_name NOT GLOB '*[^A-Za-z]*'", "0"),
        ("SELECT count(*) FROM product WHERE name LIKE '% %' AND instr(name, brand) > 1", "0"),
        (
            "SELECT count(*) FROM purchase p WHERE abs(goods - (SELECT sum(price * quantity) FROM line WHERE purchase = p.id)) > 0.005",
            "0",
        ),
        ("SELECT count(*) FROM purchase WHERE (status IN ('delivered', 'shipped', 'returned')) <> (shipped_at IS NOT NULL)", "0"),
        ("SELECT count(*) FROM purchase WHERE status = 'new' AND ordered_at < '2025-12-01'", "0"),
        ("SELECT count(*) FROM line JOIN purchase p ON p.id = purchase WHERE status = 'cancelled' AND state = 'sent'", "0"),
        // Reviews were by people who had bought nothing, or something else.
        (
            "SELECT count(*) FROM review r WHERE NOT EXISTS (SELECT 1 FROM line l JOIN purchase p ON p.id = l.purchase
             WHERE l.product = r.product AND p.customer = r.customer AND p.ordered_at <= r.written_at)",
            "0",
        ),
        ("SELECT count(*) FROM review WHERE stars > 2 AND title IN ('No parcel', 'Still waiting', 'Order cancelled')", "0"),
        ("SELECT count(*) FROM review WHERE written_at >= '2026-01-01' OR edited_at <= written_at", "0"),
    ] {
        assert_eq!(room.query("shop.db", query), expected, "{query}");
    }
    // The lines of a part may refer to purchases of another part.
    let mut lines = 0;
    for part in ["1/3", "2/3", "3/3"] {
        room.done(&format!("generate part.db --preset shop --scale 0.01 --shard {part} --overwrite"));
        let part = room.sqlite("part.db");
        part.execute("ATTACH ? AS whole", [room.path("shop.db").to_str().expect("UTF-8")]).expect("the whole");
        let other = "SELECT count(*) FROM (SELECT * FROM main.line EXCEPT SELECT * FROM whole.line)";
        assert_eq!(part.query_row(other, [], |row| row.get::<_, i64>(0)).expect(other), 0);
        let count = "SELECT count(*) FROM main.line";
        lines += part.query_row(count, [], |row| row.get::<_, i64>(0)).expect(count);
    }
    assert_eq!(room.query("shop.db", "SELECT count(*) FROM line"), lines.to_string());
}

/// Inserts the rows that the crate writes to CSV, without the suppliers that a part has twice at this scale.
fn inserted(schema: &str, scale: f64) -> Connection {
    let connection = Connection::open_in_memory().expect("a database");
    connection.execute_batch(schema).expect(schema);
    let insert = |table: &str, lines: Vec<String>| {
        let mut reader =
            csv::ReaderBuilder::new().has_headers(false).from_reader(std::io::Cursor::new(lines.join("\n")));
        for record in reader.records() {
            let record = record.expect("a record");
            let marks = vec!["?"; record.len()].join(", ");
            let mut insert =
                connection.prepare_cached(&format!("INSERT OR IGNORE INTO {table} VALUES ({marks})")).expect(table);
            insert.execute(rusqlite::params_from_iter(record.iter())).expect(table);
        }
    };
    connection.execute_batch("BEGIN").expect("a transaction");
    insert("region", RegionGenerator::default().iter().map(|row| RegionCsv::new(row).to_string()).collect());
    insert("nation", NationGenerator::default().iter().map(|row| NationCsv::new(row).to_string()).collect());
    let part = PartGenerator::new(scale, 1, 1);
    insert("part", part.iter().map(|row| PartCsv::new(row).to_string()).collect());
    let supplier = SupplierGenerator::new(scale, 1, 1);
    insert("supplier", supplier.iter().map(|row| SupplierCsv::new(row).to_string()).collect());
    let partsupp = PartSuppGenerator::new(scale, 1, 1);
    insert("partsupp", partsupp.iter().map(|row| PartSuppCsv::new(row).to_string()).collect());
    let customer = CustomerGenerator::new(scale, 1, 1);
    insert("customer", customer.iter().map(|row| CustomerCsv::new(row).to_string()).collect());
    let orders = OrderGenerator::new(scale, 1, 1);
    insert("orders", orders.iter().map(|row| OrderCsv::new(row).to_string()).collect());
    let lineitem = LineItemGenerator::new(scale, 1, 1);
    insert("lineitem", lineitem.iter().map(|row| LineItemCsv::new(row).to_string()).collect());
    connection.execute_batch("COMMIT").expect("a transaction");
    connection
}

#[test]
fn tpch_has_the_values_of_the_benchmark() {
    let room = Room::new();
    room.done("generate tpch.db --preset tpch --scale 0.001 --threads 2");
    let judge = inserted(litepress_gen::preset("tpch").expect("it is built in").sql, 0.001);
    judge.execute("ATTACH ? AS ours", [room.path("tpch.db").to_str().expect("UTF-8")]).expect("our file");
    for table in ["region", "nation", "part", "supplier", "partsupp", "customer", "orders", "lineitem"] {
        let [ours, theirs] = [("ours", "main"), ("main", "ours")].map(|(one, other)| {
            let sql = format!(
                "SELECT count(*), (SELECT count(*) FROM (SELECT * FROM {one}.{table} EXCEPT SELECT * FROM {other}.{table}))
                 FROM {one}.{table}"
            );
            let counts = judge.query_row(&sql, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)));
            counts.expect(table)
        });
        assert!(ours.0 > 0 && ours.0 == theirs.0 && ours.1 == 0 && theirs.1 == 0, "{table}: {ours:?} {theirs:?}");
    }
    assert_eq!(room.run("generate x.db --preset tpch --scale 0.0001").code, Some(1));
    assert_eq!(room.run("generate x.db --preset tpch --rows lineitem=5").code, Some(2));
}
