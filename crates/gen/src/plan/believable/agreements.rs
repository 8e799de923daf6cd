//! Rows without an annotation that agreed one by one, but not with the rows beside them: their organization, their category, what
//! a person bought or did at the time.

use super::{ROWS, files, judge, judge_rows, make, number, of_program, read};
use crate::plan::schemas::insert;
use crate::plan::{GenPlan, Request};
use litepress_rows::schema::Schema;

/// Laptops were a part of Garden, and a quarter of all categories were parts of parts of parts.
#[test]
fn parts_of_categories_have_their_name() {
    let judges = [
        (
            "SELECT count(*) FROM shop_category c JOIN shop_category p ON p.id = c.parent_id WHERE c.name NOT LIKE '% ' || p.name",
            0,
            0,
        ),
        (
            "SELECT count(*) FROM shop_category c JOIN shop_category p ON p.id = c.parent_id WHERE p.parent_id IS NOT NULL",
            0,
            0,
        ),
        ("SELECT count(*) - count(DISTINCT name) FROM shop_category", 0, 0),
        ("SELECT count(*) FROM shop_category WHERE name GLOB '*[0-9]*'", 0, 0),
    ];
    judge("django_shop", &judges);
    judge("django_shop", &[("SELECT count(*) FROM shop_category WHERE parent_id IS NULL", 20, 60)]);
    judge_rows("django_shop", &[("shop_category", 3000)], &judges);
    judge_rows("django_shop", &[("shop_category", 10)], &judges);
}

/// Commits in a repository were by users of other organizations, and customers rented from shops that had no such copy.
#[test]
fn rows_are_of_one_organization() {
    let of_ci = |table: &str, person: &str| {
        format!(
            "SELECT count(*) FROM {table} t JOIN repositories r ON r.id = repository_id JOIN users u ON u.id = {person} WHERE u.organization_id <> r.organization_id OR u.created_at > t.{}",
            if table == "commits" { "committed_at" } else { "created_at" }
        )
    };
    let queries = [of_ci("commits", "author_id"), of_ci("issues", "author_id"), of_ci("issues", "assignee_id")];
    judge("ci", &queries.each_ref().map(|query| (query.as_str(), 0, 0)));
    judge(
        "ci",
        &[
            ("SELECT count(DISTINCT author_id) FROM commits", 90, 390),
            ("SELECT count(DISTINCT organization_id) FROM repositories", 40, 390),
        ],
    );
    judge(
        "sakila",
        &[
            (
                "SELECT count(*) FROM rental r JOIN inventory i USING (inventory_id) JOIN customer c USING (customer_id) JOIN staff s ON s.staff_id = r.staff_id
                WHERE c.store_id <> i.store_id OR s.store_id <> i.store_id",
                0,
                0,
            ),
            ("SELECT count(*) FROM rental JOIN customer USING (customer_id) WHERE rental_date < create_date", 0, 0),
            ("SELECT count(DISTINCT customer_id) FROM rental", 120, 390),
        ],
    );
    let sql = "CREATE TABLE tenants (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE tasks (id INTEGER PRIMARY KEY, tenant_id INTEGER NOT NULL REFERENCES tenants, project_id INTEGER NOT NULL REFERENCES projects,
            assignee_id INTEGER REFERENCES users, title TEXT NOT NULL);
        CREATE TABLE notes (id INTEGER PRIMARY KEY, tenant_id INTEGER NOT NULL REFERENCES tenants, task_id INTEGER NOT NULL REFERENCES tasks,
            author_id INTEGER NOT NULL REFERENCES users);
        CREATE TABLE projects (id INTEGER PRIMARY KEY, tenant_id INTEGER NOT NULL REFERENCES tenants, name TEXT NOT NULL);
        CREATE TABLE users (id INTEGER PRIMARY KEY, tenant_id INTEGER NOT NULL REFERENCES tenants, name TEXT NOT NULL);";
    let sqlite = make(sql, ROWS, &[("tenants", 30)]);
    for query in [
        "SELECT count(*) FROM tasks t JOIN projects p ON p.id = project_id WHERE p.tenant_id <> t.tenant_id",
        "SELECT count(*) FROM tasks t JOIN users u ON u.id = assignee_id WHERE u.tenant_id <> t.tenant_id",
        "SELECT count(*) FROM notes n JOIN tasks t ON t.id = task_id JOIN users u ON u.id = author_id WHERE n.tenant_id NOT IN (t.tenant_id, u.tenant_id) OR t.tenant_id <> u.tenant_id",
    ] {
        assert_eq!(number(&sqlite, query), 0, "{query}");
    }
    assert!(number(&sqlite, "SELECT count(DISTINCT project_id) FROM tasks") > 100);
}

/// Two turns of a copy were put off to the second in which their customer came, which broke a key.
#[test]
fn turns_of_a_copy_come_one_after_another() {
    judge_rows(
        "sakila",
        &[("rental", 8000), ("inventory", 4000)],
        &[
            (
                "SELECT count(*) FROM rental a JOIN rental b ON b.inventory_id = a.inventory_id AND b.rental_id > a.rental_id AND b.rental_date <= coalesce(a.return_date, a.rental_date)",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM rental JOIN inventory i USING (inventory_id) WHERE rental_date < i.last_update",
                0,
                0,
            ),
        ],
    );
}

/// The right to add a user was one of the content type `invoice`.
#[test]
fn rights_are_those_of_their_model() {
    let judges = [
        (
            "SELECT count(*) FROM auth_permission JOIN django_content_type t ON t.id = content_type_id WHERE codename NOT LIKE '%\\_' || model ESCAPE '\\'",
            0,
            0,
        ),
        ("SELECT count(*) FROM auth_permission WHERE codename LIKE 'use%'", 0, 0),
        ("SELECT max(n) FROM (SELECT count(*) n FROM auth_permission GROUP BY content_type_id)", 4, 4),
    ];
    judge("django_shop", &judges);
    judge_rows("django_shop", &[("auth_permission", 402), ("django_content_type", 101)], &judges);
}

/// Where a customer reviews a product once, reviews were by people who had not bought it.
#[test]
fn one_review_of_a_product_is_by_a_buyer_too() {
    const OTHERS: &str = "SELECT count(*) FROM shop_review r WHERE NOT EXISTS
        (SELECT 1 FROM shop_orderitem i JOIN shop_order o ON o.id = order_id WHERE i.product_id = r.product_id AND o.user_id = r.user_id)";
    judge("django_shop", &[(OTHERS, 0, 20), ("SELECT count(DISTINCT product_id) FROM shop_review", 150, 390)]);
    // The more products, the fewer repeat.
    judge_rows("django_shop", &[("shop_product", 4000), ("shop_orderitem", 4000)], &[(OTHERS, 0, 4)]);
    // There are more reviews than lines.
    judge_rows("django_shop", &[("shop_orderitem", 100)], &[("SELECT count(*) FROM shop_review", 400, 400)]);
}

/// A room was taken by two patients at once, and patients came after their death.
#[test]
fn patients_stay_alone_and_alive() {
    judge(
        "hospital",
        &[
            (
                "SELECT count(*) FROM stay a JOIN stay b ON a.room = b.room AND a.id < b.id
                WHERE a.check_in <= coalesce(b.check_out, b.check_in) AND b.check_in <= coalesce(a.check_out, a.check_in)",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM stay JOIN patient p ON p.id = patient_id WHERE check_in > deceased_at OR check_out > deceased_at",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM appointment JOIN patient p ON p.id = patient_id WHERE start_time > deceased_at AND status <> 'cancelled'",
                0,
                0,
            ),
            ("SELECT count(*) FROM patient WHERE deceased_at IS NOT NULL", 5, 40),
        ],
    );
}

/// Statuses were a reply and a boost at once, had a warning without being sensitive, and programs had the names of persons.
#[test]
fn statuses_are_of_one_kind_and_programs_are_called_so() {
    judge(
        "mastodon",
        &[
            ("SELECT count(*) FROM statuses WHERE in_reply_to_id IS NOT NULL AND reblog_of_id IS NOT NULL", 0, 0),
            ("SELECT count(*) FROM statuses WHERE reblog_of_id IS NOT NULL", 8, 90),
            ("SELECT count(*) FROM statuses WHERE spoiler_text <> '' AND NOT sensitive", 0, 0),
            ("SELECT count(*) FROM statuses WHERE spoiler_text = '' AND sensitive", 1, 40),
            ("SELECT count(*) FROM accounts WHERE (actor_type = 'Service') <> (display_name LIKE '% Bot')", 0, 0),
            ("SELECT count(*) FROM accounts WHERE actor_type = 'Service'", 3, 40),
        ],
    );
    judge(
        "chat",
        &[
            ("SELECT count(*) FROM users WHERE is_bot <> (display_name LIKE '% Bot')", 0, 0),
            ("SELECT count(*) FROM users WHERE is_bot", 3, 40),
        ],
    );
}

/// Users had the status 613_402, one customer paid in five currencies, and actions without a search had found 40 things.
#[test]
fn numbers_and_currencies_are_as_usual() {
    judge(
        "wordpress",
        &[
            ("SELECT count(*) FROM wp_users WHERE user_status NOT IN (0, 1)", 0, 0),
            ("SELECT count(*) FROM wp_users WHERE user_status <> 0", 0, 20),
            ("SELECT count(*) FROM wp_terms WHERE term_group <> 0", 0, 20),
        ],
    );
    judge(
        "django_shop",
        &[
            (
                "SELECT count(*) FROM (SELECT 1 FROM shop_order GROUP BY user_id HAVING count(DISTINCT currency) > 1)",
                0,
                0,
            ),
            ("SELECT count(DISTINCT currency) FROM shop_order", 3, 6),
        ],
    );
    judge(
        "matomo",
        &[
            ("SELECT count(*) FROM log_link_visit_action WHERE (search_cat IS NULL) <> (search_count IS NULL)", 0, 0),
            ("SELECT count(*) FROM log_link_visit_action WHERE search_count IS NOT NULL", 5, 80),
        ],
    );
}

/// One row of every table was too few for reactions of a kind and for a message to somebody else.
#[test]
fn schemas_of_programs_have_few_rows() {
    let mut failed = Vec::new();
    for (file, rows) in files("tests/schemas").iter().flat_map(|file| [1, 2, 3, 10].map(|rows| (file, rows))) {
        let sql = of_program(&read(file));
        let schema = Schema::from_sql(&sql, "test.sql").expect("a schema");
        let plan = GenPlan::new(&schema, &Request { rows: vec![(None, rows)], ..Request::default() });
        let made = plan.map_err(|error| error.to_string()).and_then(|plan| insert(&sql, &plan));
        failed.extend(made.err().map(|error| format!("{} with {rows}: {error}", file.display())));
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
