//! Judges of shops, rentals and trading companies.

use super::*;

/// Half of all users were superusers, nothing was ever NULL, and a category was called "Bela Duarte".
#[test]
fn a_shop_made_with_django_is_believable() {
    judge(
        "django_shop",
        &[
            ("SELECT count(*) FROM auth_user WHERE is_superuser", 0, 15),
            ("SELECT count(*) FROM auth_user WHERE password LIKE 'pbkdf2_sha256$%'", 400, 400),
            ("SELECT count(*) FROM auth_user WHERE is_active", 350, 398),
            ("SELECT count(*) FROM auth_user WHERE last_login < date_joined", 0, 0),
            ("SELECT count(*) FROM auth_user WHERE last_login IS NULL", 20, 90),
            ("SELECT count(*) FROM auth_user WHERE instr(email, lower(first_name)) = 0 OR first_name = ''", 0, 4),
            ("SELECT count(*) FROM auth_user WHERE instr(username, lower(substr(last_name, 1, 3))) = 0", 0, 8),
            ("SELECT count(DISTINCT n) FROM (SELECT count(*) n FROM auth_user_groups GROUP BY user_id)", 3, 100),
            (
                "SELECT count(*) FROM auth_user u WHERE NOT EXISTS (SELECT 1 FROM auth_user_groups WHERE user_id = u.id)",
                50,
                250,
            ),
            (
                "SELECT count(*) FROM shop_category WHERE name LIKE '% Smith' OR name GLOB '*[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]*'",
                0,
                0,
            ),
            ("SELECT count(*) FROM shop_category WHERE slug NOT LIKE lower(substr(name, 1, 3)) || '%'", 0, 0),
            ("SELECT count(*) FROM shop_product WHERE updated_at < created_at OR deleted_at < created_at", 0, 0),
            ("SELECT count(*) FROM shop_product WHERE deleted_at IS NULL", 370, 399),
            (
                "SELECT count(*) FROM shop_product WHERE printf('%.2f', price) GLOB '*.99' OR printf('%.2f', price) GLOB '*.95'",
                260,
                380,
            ),
            ("SELECT count(*) FROM shop_product WHERE cost > price", 0, 0),
            ("SELECT count(*) FROM shop_product WHERE price <= 0", 0, 0),
            ("SELECT count(DISTINCT price) FROM shop_product", 60, 400),
            ("SELECT count(*) FROM shop_address WHERE length(country) <> 2", 0, 0),
            (
                "SELECT count(DISTINCT country) FROM (SELECT city, country FROM shop_address GROUP BY city HAVING count(DISTINCT country) > 1)",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM shop_address WHERE city = 'Berlin' AND (latitude NOT BETWEEN 52 AND 53 OR country <> 'DE')",
                0,
                0,
            ),
        ],
    );
}

/// Half of all reviews were older than their author, and payments by PayPal had a card and an IBAN, a month after the order.
#[test]
fn what_refers_to_rows_of_a_shop_comes_after_them() {
    judge(
        "django_shop",
        &[
            (
                "SELECT count(*) FROM shop_review r JOIN auth_user u ON u.id = user_id JOIN shop_product p ON p.id = product_id WHERE r.created_at < u.date_joined OR r.created_at < p.created_at",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM shop_payment p JOIN shop_order o ON o.id = order_id WHERE unixepoch(p.created_at) - unixepoch(coalesce(o.paid_at, o.placed_at)) NOT BETWEEN 0 AND 200",
                0,
                3,
            ),
            ("SELECT count(*) FROM shop_payment WHERE card_last4 IS NOT NULL AND method <> 'card'", 0, 0),
            (
                "SELECT count(*) FROM shop_payment WHERE iban IS NOT NULL AND method NOT IN ('transfer', 'invoice')",
                0,
                0,
            ),
            ("SELECT count(*) FROM shop_payment WHERE card_last4 IS NOT NULL", 60, 115),
            (
                "SELECT count(*) FROM shop_payment p JOIN shop_order o ON o.id = order_id WHERE (p.status IN ('pending', 'failed')) <> (o.paid_at IS NULL)",
                0,
                0,
            ),
            ("SELECT count(*) FROM auth_permission WHERE name <> 'Can ' || replace(codename, '_', ' ')", 0, 0),
            ("SELECT count(*) FROM shop_product WHERE attributes LIKE '%theme%'", 0, 0),
            (
                "SELECT count(*) FROM shop_product WHERE description LIKE '%blanket%' OR description LIKE '%lamp%' OR description LIKE '%tent %'",
                0,
                0,
            ),
        ],
    );
    judge(
        "rails_shop",
        &[
            ("SELECT count(*) FROM orders o JOIN users u ON u.id = user_id WHERE o.email <> u.email", 0, 0),
            (
                "SELECT count(*) FROM orders WHERE (payment_state = 'paid') <> (state IN ('completed', 'complete', 'shipped', 'delivered'))",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM line_items l JOIN orders o ON o.id = order_id WHERE l.created_at <> o.created_at",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM line_items l JOIN products p ON p.id = product_id WHERE abs(100 * l.price - price_cents) > 0.5",
                0,
                0,
            ),
            ("SELECT count(*) FROM users WHERE (sign_in_count = 0) <> (current_sign_in_at IS NULL)", 0, 0),
        ],
    );
}

/// Reviews were by customers who had not bought the product.
#[test]
fn customers_review_what_they_bought() {
    let sql = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/store.sql"));
    let sqlite = make(&sql, ROWS, &[("order_item", 1000)]);
    for query in [
        "SELECT count(*) FROM review r WHERE NOT EXISTS (SELECT 1 FROM order_item i JOIN orders o ON o.id = order_id WHERE i.product_id = r.product_id AND o.customer_id = r.customer_id)",
        "SELECT count(*) FROM review r JOIN product p ON p.id = product_id JOIN customer c ON c.id = customer_id WHERE r.created_at < c.registered_at",
    ] {
        assert!(number(&sqlite, query) <= 4, "{query}: {}", number(&sqlite, query));
    }
    let early = "SELECT count(*) FROM review r WHERE created_at < (SELECT min(placed_at) FROM order_item i JOIN orders o ON o.id = order_id WHERE i.product_id = r.product_id AND o.customer_id = r.customer_id)";
    assert!(number(&sqlite, early) <= 40, "{}", number(&sqlite, early));
    assert!(number(&sqlite, "SELECT count(DISTINCT product_id) FROM review") > 150);
}

/// Orders were paid before they were placed in half of the rows, and every order had as many lines.
#[test]
fn orders_of_a_shop_are_believable() {
    judge(
        "django_shop",
        &[
            (
                "SELECT count(*) FROM shop_order WHERE paid_at < placed_at OR shipped_at < placed_at OR delivered_at < shipped_at",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM shop_order WHERE status = 'pending' AND (shipped_at IS NOT NULL OR delivered_at IS NOT NULL)",
                0,
                0,
            ),
            ("SELECT count(*) FROM shop_order WHERE (status = 'cancelled') <> (cancelled_at IS NOT NULL)", 0, 40),
            ("SELECT count(*) FROM shop_order WHERE delivered_at IS NOT NULL", 120, 158),
            (
                "SELECT count(*) FROM shop_order WHERE coupon_code IS NULL AND abs(total - subtotal - shipping - tax) > 0.011",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM shop_order o WHERE abs(subtotal - (SELECT total(line_total) FROM shop_orderitem WHERE order_id = o.id)) > 0.005",
                0,
                0,
            ),
            ("SELECT count(*) FROM shop_payment p JOIN shop_order o ON o.id = order_id WHERE amount <> total", 0, 0),
            (
                "SELECT count(*) FROM shop_order a JOIN shop_order b ON b.id = a.id + 1 WHERE b.placed_at < a.placed_at",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM shop_order o JOIN auth_user u ON u.id = o.user_id WHERE placed_at < date_joined",
                0,
                8,
            ),
            ("SELECT count(*) FROM shop_order WHERE placed_at >= '2026-01-01'", 0, 0),
            ("SELECT count(*) FROM shop_order WHERE placed_at >= '2025-12-01'", 2, 40),
            ("SELECT max(n) FROM (SELECT count(*) n FROM shop_order GROUP BY user_id)", 4, 60),
            (
                "SELECT count(*) FROM auth_user u WHERE NOT EXISTS (SELECT 1 FROM shop_order WHERE user_id = u.id)",
                120,
                340,
            ),
            (
                "SELECT count(*) FROM shop_orderitem i JOIN shop_product p ON p.id = product_id WHERE unit_price <> price",
                0,
                0,
            ),
            ("SELECT count(*) FROM shop_orderitem WHERE abs(line_total - quantity * unit_price) > 0.01", 0, 0),
            ("SELECT count(*) FROM shop_orderitem WHERE quantity = 1", 180, 320),
            (
                "SELECT count(*) FROM shop_review WHERE rating < 4 AND (title IN ('Excellent', 'Love it', 'Perfect') OR body LIKE '%Five stars%')",
                0,
                0,
            ),
            ("SELECT count(*) FROM shop_review WHERE rating = 5", 130, 250),
            ("SELECT count(*) FROM shop_payment WHERE iban IS NOT NULL AND length(iban) NOT BETWEEN 18 AND 24", 0, 0),
            ("SELECT count(*) FROM shop_payment WHERE method NOT IN ('card', 'paypal', 'invoice', 'transfer')", 0, 0),
        ],
    );
}

#[test]
fn a_music_shop_is_believable() {
    judge(
        "chinook",
        &[
            ("SELECT count(*) FROM Employee WHERE HireDate < date(BirthDate, '+16 years')", 0, 0),
            ("SELECT count(*) FROM Employee WHERE ReportsTo = EmployeeId", 0, 0),
            ("SELECT count(DISTINCT Title) FROM Employee", 10, 60),
            ("SELECT count(*) FROM Customer WHERE Company IS NULL", 180, 300),
            (
                "SELECT count(*) FROM Customer WHERE Email NOT LIKE '%' || lower(substr(LastName, 1, 2)) || '%@%' AND LastName NOT GLOB '*[^A-Za-z]*'",
                0,
                8,
            ),
            (
                "SELECT count(*) FROM (SELECT City FROM Customer GROUP BY City HAVING count(DISTINCT Country) > 1 OR count(DISTINCT State) > 1)",
                0,
                0,
            ),
            ("SELECT count(*) FROM Invoice WHERE BillingCity IS NULL AND BillingCountry IS NOT NULL", 0, 0),
            ("SELECT count(*) FROM Invoice JOIN Customer c USING (CustomerId) WHERE BillingCity IS NOT c.City", 0, 0),
            ("SELECT count(*) FROM Track WHERE Milliseconds BETWEEN 40000 AND 1200000", 400, 400),
            ("SELECT count(*) FROM Track WHERE Name IS NULL OR Name = ''", 0, 0),
            ("SELECT count(DISTINCT Name) FROM MediaType", 4, 12),
            ("SELECT count(*) - count(DISTINCT Name) FROM MediaType", 0, 0),
            ("SELECT count(*) FROM InvoiceLine l JOIN Track t USING (TrackId) WHERE l.UnitPrice <> t.UnitPrice", 0, 0),
            (
                "SELECT count(*) FROM Invoice i WHERE abs(Total - (SELECT total(UnitPrice * Quantity) FROM InvoiceLine WHERE InvoiceId = i.InvoiceId)) > 0.005",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM InvoiceLine a JOIN InvoiceLine b ON b.InvoiceLineId = a.InvoiceLineId + 1 WHERE b.InvoiceId < a.InvoiceId",
                0,
                0,
            ),
            ("SELECT count(*) FROM PlaylistTrack WHERE PlaylistId = TrackId", 0, 12),
            ("SELECT max(n) FROM (SELECT count(*) n FROM PlaylistTrack GROUP BY PlaylistId)", 3, 40),
        ],
    );
}

#[test]
fn a_trading_company_is_believable() {
    judge(
        "northwind",
        &[
            ("SELECT count(*) FROM Orders WHERE ShippedDate < OrderDate OR RequiredDate < OrderDate", 0, 0),
            ("SELECT count(*) FROM Orders WHERE ShippedDate IS NULL", 1, 12),
            ("SELECT count(*) FROM Employees WHERE HireDate < BirthDate", 0, 0),
            ("SELECT count(*) FROM Products WHERE Discontinued <> '0'", 1, 60),
            ("SELECT count(*) FROM Products WHERE UnitPrice <= 0", 0, 0),
            ("SELECT count(DISTINCT UnitsInStock) FROM Products", 20, 400),
            ("SELECT count(*) FROM Orders JOIN Customers c USING (CustomerID) WHERE ShipCity <> c.City", 0, 0),
            ("SELECT count(*) FROM Suppliers WHERE CompanyName = ContactName", 0, 0),
            ("SELECT count(*) FROM Orders JOIN Customers c USING (CustomerID) WHERE ShipName <> c.CompanyName", 0, 0),
            ("SELECT count(*) FROM Categories WHERE Description NOT LIKE CategoryName || '%'", 0, 0),
            (
                "SELECT count(*) FROM Products JOIN Categories USING (CategoryID) WHERE ProductName LIKE '%Tent' AND CategoryName NOT LIKE '%Camping'",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM (SELECT City FROM Customers GROUP BY City HAVING count(DISTINCT Country) > 1)",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM \"Order Details\" d JOIN Products p USING (ProductID) WHERE d.UnitPrice <> p.UnitPrice",
                0,
                0,
            ),
            ("SELECT count(*) FROM \"Order Details\" WHERE Discount = 0", 240, 390),
            ("SELECT count(*) FROM Orders o WHERE OrderID NOT IN (SELECT OrderID FROM \"Order Details\")", 0, 0),
        ],
    );
}

/// Orders without lines had a total of 0, some of them delivered and paid.
#[test]
fn orders_have_one_line_or_several() {
    const NUMBERS: &str =
        "(SELECT count(i.id) n FROM shop_order o LEFT JOIN shop_orderitem i ON i.order_id = o.id GROUP BY o.id)";
    let rows = [("shop_orderitem", 3 * ROWS)];
    let queries = ["SELECT min(n) FROM", "SELECT max(n) FROM", "SELECT count(DISTINCT n) FROM"];
    let queries = queries.map(|query| format!("{query} {NUMBERS}"));
    let judges = [(queries[0].as_str(), 1, 1), (&queries[1], 6, 60), (&queries[2], 5, 40)];
    judge_rows("django_shop", &rows, &judges);
    judge_rows(
        "django_shop",
        &rows,
        &[
            ("SELECT count(*) FROM shop_order WHERE subtotal < 1", 0, 0),
            (
                "SELECT count(*) FROM shop_orderitem i JOIN shop_order o ON o.id = order_id JOIN shop_product p ON p.id = product_id WHERE placed_at < p.created_at",
                0,
                12,
            ),
        ],
    );
}

#[test]
fn a_video_rental_is_believable() {
    judge(
        "sakila",
        &[
            ("SELECT count(*) FROM rental WHERE return_date < rental_date OR last_update < rental_date", 0, 0),
            ("SELECT count(*) FROM rental WHERE return_date IS NULL", 1, 70),
            ("SELECT count(*) FROM rental WHERE time(rental_date) = '00:00:00'", 0, 2),
            ("SELECT count(*) FROM customer WHERE active NOT IN ('Y', 'N')", 0, 0),
            ("SELECT count(*) FROM customer WHERE active = 'Y'", 330, 395),
            ("SELECT count(*) FROM staff WHERE active", 330, 395),
            ("SELECT count(*) FROM film WHERE length NOT BETWEEN 40 AND 220", 0, 0),
            ("SELECT count(*) FROM film WHERE rental_rate NOT IN (0.99, 2.99, 4.99)", 0, 0),
            ("SELECT count(DISTINCT rating) FROM film", 5, 5),
            ("SELECT max(n) FROM (SELECT count(*) n FROM film_actor GROUP BY actor_id)", 3, 40),
            (
                "SELECT count(*) FROM address a JOIN city c USING (city_id) WHERE c.city = 'Berlin' AND a.phone NOT LIKE '+49 30%'",
                0,
                0,
            ),
            // Toronto was in Papua New Guinea.
            (
                "SELECT count(*) FROM city JOIN country USING (country_id) WHERE city = 'Toronto' AND country NOT LIKE 'Canada%'",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM city JOIN country USING (country_id) WHERE country = 'Kenya' AND city NOT IN ('Nairobi', 'Mombasa', 'Kisumu')",
                0,
                0,
            ),
            ("SELECT count(DISTINCT city) FROM city", 100, 400),
            (
                "SELECT count(*) FROM (SELECT city FROM city JOIN country USING (country_id) GROUP BY city HAVING count(DISTINCT rtrim(country, ' 0123456789')) > 1)",
                0,
                0,
            ),
            ("SELECT count(*) FROM payment WHERE amount <= 0", 0, 0),
            ("SELECT count(*) FROM category WHERE name IN ('Bags', 'Phones', 'Stationery')", 0, 0),
            ("SELECT count(DISTINCT address_id) FROM customer", 100, 400),
            ("SELECT count(*) FROM payment WHERE amount > 13", 0, 0),
            ("SELECT count(*) FROM film WHERE replacement_cost NOT BETWEEN 8 AND 31", 0, 0),
            (
                "SELECT count(*) FROM rental WHERE return_date IS NOT NULL AND unixepoch(return_date) - unixepoch(rental_date) NOT BETWEEN 3600 AND 191 * 3600",
                0,
                1,
            ),
            // Of a copy that one customer has, another one has none.
            (
                "SELECT count(*) FROM rental a JOIN rental b ON b.inventory_id = a.inventory_id AND b.rental_id <> a.rental_id AND b.rental_date BETWEEN a.rental_date AND a.return_date",
                0,
                25,
            ),
            (
                "SELECT count(*) FROM payment p JOIN rental r USING (rental_id) WHERE p.customer_id <> r.customer_id",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM payment p JOIN rental r USING (rental_id) WHERE unixepoch(payment_date) - unixepoch(rental_date) NOT BETWEEN 0 AND 100",
                0,
                3,
            ),
        ],
    );
}
