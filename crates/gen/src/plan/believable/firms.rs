//! Firms, shops and hospitals: what one obvious join of two tables shows.

use super::*;

/// A third of all employees reported to nobody, customers were supported by copywriters, and receptionists took orders.
#[test]
fn employees_have_a_superior_and_a_title_of_what_they_do() {
    judge(
        "chinook",
        &[
            ("SELECT count(*) FROM Employee WHERE ReportsTo IS NULL", 1, 1),
            // Finance directors reported to the head of another department, and one of three led a team.
            ("SELECT count(*) FROM Employee WHERE EmployeeId < 5 AND ReportsTo > 1", 0, 0),
            ("SELECT count(DISTINCT ReportsTo) FROM Employee", 30, 90),
            ("SELECT count(*) FROM Playlist", 20, 60),
            (
                "SELECT count(*) FROM Customer JOIN Employee e ON EmployeeId = SupportRepId WHERE e.Title NOT LIKE '%Support%' AND e.ReportsTo IS NOT NULL",
                0,
                0,
            ),
        ],
    );
    judge(
        "northwind",
        &[
            (
                "SELECT count(*) FROM Orders JOIN Employees e USING (EmployeeID) WHERE e.Title NOT LIKE 'Sales%' AND e.Title <> 'Regional Manager' AND e.ReportsTo IS NOT NULL",
                0,
                0,
            ),
            // Madrid and Helsinki were in the East.
            (
                "SELECT count(*) FROM Territories t JOIN Regions r USING (RegionID) WHERE TerritoryDescription NOT LIKE '_% ' || RegionDescription",
                0,
                0,
            ),
            // Territories of one employee were in all regions.
            (
                "SELECT count(*) FROM (SELECT count(*) FROM EmployeeTerritories JOIN Territories USING (TerritoryID) GROUP BY EmployeeID HAVING count(DISTINCT RegionID) > 1)",
                0,
                8,
            ),
            ("SELECT max(n) FROM (SELECT count(*) n FROM EmployeeTerritories GROUP BY EmployeeID)", 2, 30),
            // A camera bag was sold in cartons of 24, for 34.
            (
                "SELECT count(*) FROM Products WHERE UnitPrice > 20 AND QuantityPerUnit NOT IN ('piece', 'pack of 2')",
                0,
                0,
            ),
        ],
    );
}

/// Egypt was in the West and the Netherlands were in the East, and lines took parts from suppliers who did not have them.
#[test]
fn nations_are_on_their_continent_and_suppliers_have_the_parts() {
    judge_program(
        "tpch",
        &[
            ("SELECT count(*) FROM region WHERE r_name IN ('Africa', 'Asia', 'Europe', 'North America', 'South America', 'Oceania')", 6, 6),
            (
                "SELECT count(*) FROM nation JOIN region ON r_regionkey = n_regionkey WHERE n_name IN ('Egypt', 'Chad') AND r_name <> 'Africa'
                OR n_name IN ('Netherlands', 'Cyprus') AND r_name <> 'Europe' OR n_name = 'Japan' AND r_name <> 'Asia'",
                0,
                0,
            ),
            // All parts were shipped on the day of the order.
            ("SELECT count(*) FROM lineitem JOIN orders ON o_orderkey = l_orderkey WHERE l_shipdate <= o_orderdate", 0, 6),
            ("SELECT count(*) FROM lineitem JOIN partsupp ON ps_partkey = l_partkey AND ps_suppkey = l_suppkey", 400, 400),
            (
                "SELECT count(*) FROM lineitem JOIN part ON p_partkey = l_partkey WHERE abs(l_extendedprice - l_quantity * p_retailprice) > 0.01",
                0,
                0,
            ),
        ],
    );
}

/// Products came after the orders for them, completed orders had no number, and suppliers took more than the shop.
#[test]
fn orders_and_costs_suit_their_products() {
    const LATE: &str =
        "SELECT count(*) FROM line_items i JOIN products p ON p.id = product_id WHERE i.created_at < p.created_at";
    // Coffee grinders had the tag politics-tools, and clocks were for pets.
    const TAGS: &str =
        "SELECT count(*) FROM tags WHERE name LIKE 'politics%' OR name LIKE 'linux%' OR name LIKE 'startups%'
         OR name LIKE 'for-pets%' OR name LIKE 'washable%'";
    judge("rails_shop", &[(LATE, 0, 4), (TAGS, 0, 0), ("SELECT count(*) FROM orders WHERE number IS NULL", 0, 0)]);
    // Articles of a magazine are not for sale.
    let sql = "CREATE TABLE articles (id INTEGER PRIMARY KEY, title TEXT); CREATE TABLE tags (id INTEGER PRIMARY KEY, name TEXT UNIQUE)";
    let goods = "SELECT count(*) FROM tags WHERE name IN ('staff-pick', 'on-sale', 'gift', 'price-drop', 'premium', 'top-rated')";
    assert_eq!(number(&make(sql, 37, &[]), goods), 0);
    judge_program(
        "tpch",
        &[(
            "SELECT count(*) FROM partsupp JOIN part ON p_partkey = ps_partkey WHERE ps_supplycost NOT BETWEEN 0.3 * p_retailprice AND 0.8 * p_retailprice",
            0,
            0,
        )],
    );
    judge_program(
        "django",
        &[
            // Totals counted from 1.
            ("SELECT count(*) FROM shop_order WHERE total = CAST(total AS INTEGER)", 0, 40),
            ("SELECT count(*) FROM shop_order WHERE total NOT BETWEEN 5 AND 410", 0, 0),
        ],
    );
}

/// Pipelines began 443 days after their commit, on several branches, were deployed before they were built on another system, and
/// coverage made a package.
#[test]
fn pipelines_follow_their_commit() {
    judge(
        "ci",
        &[
            (
                "SELECT count(*) FROM pipelines p JOIN commits c ON c.id = commit_id WHERE julianday(queued_at) - julianday(committed_at) NOT BETWEEN 0 AND 0.9",
                0,
                0,
            ),
            ("SELECT max(n) FROM (SELECT count(DISTINCT branch) n FROM pipelines GROUP BY commit_id)", 1, 1),
            (
                "SELECT count(*) FROM jobs d JOIN jobs j USING (pipeline_id) WHERE d.stage = 'deploy' AND j.id > d.id",
                0,
                0,
            ),
            ("SELECT count(*) FROM jobs WHERE stage = 'deploy'", 20, 150),
            // The n-th job made the n-th file.
            ("SELECT count(*) FROM artifacts WHERE id = job_id", 0, 60),
            (
                "SELECT count(*) FROM artifacts JOIN jobs j ON j.id = job_id WHERE name = 'coverage' AND filename NOT LIKE 'coverage.%'",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM jobs WHERE name LIKE '%(%' AND runner NOT LIKE substr(name, instr(name, '(') + 1, 4) || '%'",
                0,
                0,
            ),
        ],
    );
}

/// Cardiologists vaccinated, and a department with 238 doctors had to do with the salaries of four.
#[test]
fn departments_of_a_hospital_do_their_own_work() {
    judge(
        "hospital",
        &[
            (
                "SELECT count(*) FROM appointment a JOIN doctor o ON o.id = doctor_id JOIN department d ON d.id = department_id
                WHERE (reason IN ('Chest pain', 'Palpitations', 'Heart murmur')) > (name IN ('Cardiology', 'Emergency'))",
                0,
                0,
            ),
            ("SELECT count(DISTINCT reason) FROM appointment", 40, 110),
            (
                "SELECT count(*) FROM department d WHERE budget < (SELECT total(salary) FROM doctor WHERE department_id = d.id)",
                0,
                0,
            ),
        ],
    );
}

/// A log of changes called each session a backpack, the fourth migration had the number 23, all of them were made in two weeks,
/// and jobs worked on a dark theme.
#[test]
fn tables_of_programs_follow_their_own_columns() {
    judge_program(
        "django",
        &[
            (
                "SELECT count(*) FROM django_admin_log JOIN django_content_type t ON t.id = content_type_id
                WHERE model = 'session' AND object_repr <> 'Session object (' || object_id || ')'",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM django_migrations m WHERE name NOT LIKE printf('%04d', (SELECT count(*) FROM django_migrations WHERE app = m.app AND id <= m.id)) || '_%'",
                0,
                0,
            ),
            ("SELECT count(*) FROM django_migrations WHERE applied < '2023-01-01'", 100, 250),
        ],
    );
    judge_program(
        "litestream_app",
        &[("SELECT count(*) FROM job WHERE payload LIKE '%theme%' OR json_extract(payload, '$.id') IS NULL", 0, 40)],
    );
}

/// Comments came before the post that they were on, and most were on one of ten posts.
#[test]
fn comments_on_anything_come_after_it() {
    judge_program(
        "rails",
        &[
            (
                "SELECT count(*) FROM comments c JOIN posts p ON p.id = commentable_id WHERE c.created_at < p.created_at",
                0,
                3,
            ),
            ("SELECT count(DISTINCT commentable_id) FROM comments", 100, 390),
        ],
    );
}

/// Films came out after the row about them had been changed for the last time.
#[test]
fn films_came_out_before_their_row() {
    judge(
        "sakila",
        &[
            ("SELECT count(*) FROM film WHERE release_year > strftime('%Y', last_update)", 0, 0),
            // Addresses in Graz were in the district Coast.
            (
                "SELECT count(*) FROM address WHERE district IN ('North', 'South', 'East', 'West', 'Coast', 'Central')",
                0,
                0,
            ),
        ],
    );
}
