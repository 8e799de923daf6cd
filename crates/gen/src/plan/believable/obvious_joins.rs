//! Business databases: what somebody with five minutes sees in ten rows of a table, or in one obvious join.

use super::*;

/// A customer lived in Chile, his store was in Norway, and its staff came from three other countries.
#[test]
fn people_live_in_the_city_of_their_store() {
    let far = |people: &str| {
        format!(
            "SELECT count(*) FROM {people} p JOIN address a USING (address_id) JOIN store s USING (store_id) JOIN address o ON o.address_id = s.address_id WHERE a.city_id <> o.city_id"
        )
    };
    judge("sakila", &[(&far("customer"), 0, 0), (&far("staff"), 0, 0)]);
    let error = Schema::from_sql(
        "CREATE TABLE t (id INTEGER PRIMARY KEY);
        CREATE TABLE c (id INTEGER PRIMARY KEY, t INTEGER NOT NULL REFERENCES t, n INTEGER /* gen: ref(c.id, within(t.x, c.t)) */)",
        "test.sql",
    )
    .and_then(|schema| GenPlan::new(&schema, &Request { rows: vec![(None, 10)], ..Request::default() }).map(drop))
    .expect_err("t has no column x");
    assert!(error.message().contains("no column 'x'"), "{error}");
}

/// Lyon was in France four times.
#[test]
fn a_country_has_a_city_of_a_name_once() {
    let twice = "SELECT count(*) FROM (SELECT 1 FROM city GROUP BY city, country_id HAVING count(*) > 1)";
    judge("sakila", &[(twice, 0, 0)]);
    judge_rows("sakila", &[("country", 50), ("city", 300)], &[(twice, 0, 0)]);
}

/// Each fourth film had the title of another one, and a family film was for adults only.
#[test]
fn films_have_titles_of_their_own_and_suit_their_genre() {
    judge(
        "sakila",
        &[
            ("SELECT count(*) - count(DISTINCT title) FROM film", 0, 0),
            (
                "SELECT count(*) FROM film JOIN film_category USING (film_id) JOIN category USING (category_id) WHERE name IN ('Children', 'Family') AND rating NOT IN ('G', 'PG')",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM film JOIN film_category USING (film_id) JOIN category USING (category_id) WHERE name = 'Horror' AND rating = 'G'",
                0,
                0,
            ),
            ("SELECT count(DISTINCT rating) FROM film", 5, 5),
            // "The Ship of Montreal" was in Urdu.
            ("SELECT count(*) FROM film JOIN language USING (language_id) WHERE name = 'English'", 200, 300),
            ("SELECT count(*) FROM film WHERE film_id NOT IN (SELECT film_id FROM film_category)", 0, 0),
        ],
    );
}

/// A French customer paid in Canadian dollars, coupons took nothing off, and a transfer had the number of a charge of a card.
#[test]
fn payments_suit_the_customer_and_the_method() {
    judge(
        "django_shop",
        &[
            (
                "SELECT count(*) FROM shop_order o JOIN shop_address a USING (user_id) WHERE country = 'FR' AND currency <> 'EUR'",
                0,
                0,
            ),
            ("SELECT count(DISTINCT currency) FROM shop_order", 4, 7),
            (
                "SELECT count(*) FROM shop_order WHERE coupon_code IS NOT NULL AND total > 0.91 * (subtotal + shipping + tax)",
                0,
                0,
            ),
            ("SELECT count(*) FROM shop_order WHERE coupon_code IS NULL", 80, 150),
            ("SELECT count(*) FROM shop_payment WHERE (method = 'card') <> (transaction_id LIKE 'ch%')", 0, 0),
        ],
    );
}

/// The patients of one hospital came from twenty countries, an operation cost 9.99, and patient 4 stayed in room 5001.
#[test]
fn a_hospital_is_in_one_place() {
    judge(
        "hospital",
        &[
            ("SELECT count(*) FROM patient WHERE country <> 'United States'", 0, 0),
            ("SELECT count(*) FROM patient WHERE city LIKE '%Boston'", 320, 390),
            // Patients came on Sundays.
            ("SELECT count(*) FROM appointment WHERE strftime('%w', start_time) IN ('0', '6')", 0, 0),
            ("SELECT count(*) FROM appointment WHERE start_time BETWEEN '2021-04-01' AND '2026-01-01'", 400, 400),
            ("SELECT count(*) FROM invoice WHERE amount LIKE '%.99'", 0, 20),
            ("SELECT count(*) FROM stay WHERE CAST(room AS INTEGER) / 100 = patient_id % 9 + 1", 0, 120),
        ],
    );
}

/// All patients had died, and all repositories were archived, in the last two months.
#[test]
fn rows_end_at_any_time_after_those_that_refer_to_them() {
    judge(
        "hospital",
        &[
            ("SELECT count(*) FROM patient WHERE deceased_at < '2025-11-01'", 2, 40),
            (
                "SELECT count(*) FROM patient p JOIN appointment a ON a.patient_id = p.id WHERE deceased_at < start_time",
                0,
                0,
            ),
            ("SELECT count(*) FROM patient p JOIN stay s ON s.patient_id = p.id WHERE deceased_at < check_out", 0, 0),
        ],
    );
    judge("ci", &[("SELECT count(*) FROM repositories WHERE archived_at < '2025-11-01'", 2, 40)]);
}

/// All jobs of a pipeline took 47 seconds, two of them were called lint, and a job had two files `dist.zip`.
#[test]
fn jobs_of_a_pipeline_differ() {
    judge(
        "ci",
        &[
            (
                "SELECT count(*) FROM (SELECT 1 FROM jobs GROUP BY pipeline_id HAVING count(*) > 2 AND max(duration_ms) < 1.2 * min(duration_ms))",
                0,
                8,
            ),
            ("SELECT count(*) FROM (SELECT 1 FROM jobs GROUP BY pipeline_id, name HAVING count(*) > 1)", 0, 0),
            ("SELECT count(*) FROM (SELECT 1 FROM artifacts GROUP BY job_id, filename HAVING count(*) > 1)", 0, 0),
        ],
    );
}

/// A value of 20 bytes in a cache was 46,061 bytes long.
#[test]
fn sizes_are_those_of_the_values() {
    judge_program(
        "rails",
        &[("SELECT count(*) FROM solid_cache_entries WHERE byte_size <> length(key) + length(value)", 0, 0)],
    );
}

/// A band played in nine genres, two bands had one name, and a customer was helped by somebody hired four years later.
#[test]
fn bands_keep_to_a_genre_and_employees_were_there() {
    judge(
        "chinook",
        &[
            (
                "SELECT count(*) FROM (SELECT 1 FROM Album JOIN Track USING (AlbumId) GROUP BY ArtistId HAVING count(DISTINCT GenreId) > 1)",
                0,
                0,
            ),
            ("SELECT count(DISTINCT GenreId) FROM Track", 6, 40),
            ("SELECT count(*) - count(DISTINCT Name) FROM Artist", 0, 0),
            (
                "SELECT count(*) FROM Invoice JOIN Customer USING (CustomerId) JOIN Employee ON EmployeeId = SupportRepId WHERE HireDate > InvoiceDate",
                0,
                0,
            ),
            ("SELECT count(*) FROM Employee WHERE julianday(HireDate) - julianday(BirthDate) < 18 * 365", 0, 0),
        ],
    );
}

/// Categories were called "Special Bathroom 3".
#[test]
fn many_categories_have_no_numbers() {
    let numbers = "SELECT count(*) FROM Categories WHERE CategoryName GLOB '*[0-9]*'";
    judge_rows("northwind", &[("Categories", 5000)], &[(numbers, 0, 0)]);
}

/// The employees of one firm lived in Hamburg, Kansas City, Pune and thirty other cities.
#[test]
fn employees_live_near_an_office() {
    judge("northwind", &[("SELECT count(DISTINCT City) FROM Employees", 2, 6)]);
}

/// Lines of cancelled orders were shipped, and customers wrote reviews of what had not arrived.
#[test]
fn parcels_come_before_their_reviews_and_of_no_cancelled_order() {
    judge_program("tpch", &[("SELECT count(*) FROM orders WHERE o_orderstatus IN ('cancelled', 'pending')", 0, 0)]);
    judge(
        "django_shop",
        &[(
            "SELECT count(*) FROM shop_review r WHERE created_at < (SELECT min(delivered_at) FROM shop_order o JOIN shop_orderitem i ON o.id = i.order_id WHERE o.user_id = r.user_id AND i.product_id = r.product_id)",
            0,
            20,
        )],
    );
}
