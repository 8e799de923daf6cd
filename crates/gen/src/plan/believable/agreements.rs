//! Rows without an annotation that agreed one by one, but not with the rows beside them: their organization, their category, what
//! a person bought or did at the time.

use super::{ROWS, files, judge, judge_program, judge_rows, judge_schema, make, number, of_program, read};
use crate::plan::schemas::insert;
use crate::plan::{GenPlan, Request};
use litepress_rows::schema::Schema;
use std::path::Path;

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
    let roots = "SELECT count(*) FROM shop_category WHERE parent_id IS NULL";
    judge_rows("django_shop", &[("shop_category", 400)], &[(roots, 20, 60)]);
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

/// A parcel was sent whole hours after the order, an order in Australia had the tax of Germany, and a card of Australia an IBAN of
/// Spain.
#[test]
fn nobody_acts_after_whole_hours_and_taxes_are_those_of_the_country() {
    let same = "SELECT count(*) FROM shop_order WHERE substr(placed_at, 15) IN (substr(paid_at, 15), substr(shipped_at, 15), substr(delivered_at, 15))";
    let iban = "SELECT count(*) FROM shop_payment p JOIN shop_order o ON o.id = order_id WHERE iban IS NOT NULL AND currency IN ('USD', 'AUD', 'CAD')";
    judge(
        "django_shop",
        &[
            (same, 0, 2),
            (iban, 0, 0),
            ("SELECT count(*) FROM shop_payment WHERE iban IS NOT NULL", 5, 80),
            (
                "SELECT count(*) FROM shop_order WHERE abs(tax - subtotal * CASE currency WHEN 'AUD' THEN 0.1 WHEN 'EUR' THEN 0.19 WHEN 'GBP' THEN 0.2 END) > 0.02",
                0,
                0,
            ),
            ("SELECT count(DISTINCT round(tax / subtotal, 2)) FROM shop_order WHERE subtotal > 50", 4, 7),
        ],
    );
    judge("rails_shop", &[("SELECT count(DISTINCT currency) FROM products", 1, 1)]);
}

/// Orders that were never sent got five stars.
#[test]
fn what_never_arrived_gets_no_praise() {
    let sql = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/store.sql"));
    let open = "SELECT count(*) FROM review r JOIN order_item i ON i.product_id = r.product_id JOIN orders o ON o.id = i.order_id AND o.customer_id = r.customer_id
        WHERE o.status IN ('pending', 'cancelled')";
    judge_schema(
        "store",
        &sql,
        &[("review", 400), ("order_item", 1000)],
        &[
            (open, 10, 80),
            (&format!("{open} AND r.rating > 2"), 0, 2),
            (
                "SELECT count(*) FROM review WHERE rating > 2 AND (title = 'Never arrived' OR body LIKE '%never arrived%')",
                0,
                0,
            ),
        ],
    );
}

/// A person followed others in 2025, and the next one in 2021; a product got the same tag twice when pairs were drawn by chance.
#[test]
fn pairs_come_in_the_order_of_time() {
    let late = |table: &str| {
        format!("SELECT count(*) FROM {table} a JOIN {table} b ON b.id = a.id + 1 WHERE b.created_at < a.created_at")
    };
    let twice = |table: &str, pair: &str| {
        format!("SELECT count(*) FROM (SELECT 1 FROM {table} GROUP BY {pair} HAVING count(*) > 1)")
    };
    let pair = "account_id, target_account_id";
    let most = "SELECT max(n) FROM (SELECT count(*) n FROM follows GROUP BY target_account_id)";
    judge(
        "mastodon",
        &[
            (&late("follows"), 0, 0),
            (&twice("follows", pair), 0, 0),
            ("SELECT count(*) FROM follows WHERE account_id = target_account_id", 0, 0),
            (most, 5, 60),
            (
                "SELECT count(*) FROM follows f JOIN accounts a ON a.id IN (account_id, target_account_id) WHERE f.created_at < a.created_at",
                0,
                0,
            ),
        ],
    );
    judge("rails_shop", &[(&late("taggings"), 0, 0), (&twice("taggings", "tag_id, product_id"), 0, 0)]);
}

/// A forum without a shop sold something, a visit of one page took ten minutes, pages followed one another after the same time, and
/// a page was left before the next one was there.
#[test]
fn visits_last_as_long_as_their_pages() {
    judge(
        "matomo",
        &[
            ("SELECT count(*) FROM log_conversion JOIN site USING (idsite) WHERE ecommerce = 0 AND revenue > 0", 0, 0),
            ("SELECT count(*) FROM log_conversion WHERE (coalesce(revenue, 0) > 0) <> (items > 0)", 0, 0),
            ("SELECT count(*) FROM log_visit WHERE (visit_total_actions = 1) <> (visit_total_time = 0)", 0, 8),
            (
                "SELECT count(*) FROM log_link_visit_action a JOIN log_link_visit_action b ON b.idvisit = a.idvisit AND b.idlink_va = a.idlink_va + 1
                WHERE a.time_spent <> unixepoch(b.server_time) - unixepoch(a.server_time)",
                0,
                0,
            ),
        ],
    );
}

/// The meta data of posts of WordPress, and the posts.
const META: &str = "FROM wp_postmeta m JOIN wp_posts p ON p.ID = post_id";

/// Who wanted a dark mode said that it happens every time, a picture had a time to read it and no file, and a blog had no name.
#[test]
fn texts_suit_what_they_are_about() {
    let bug = "'Happens every time.', 'Happens now and then.', 'Seen since the last release.', 'A reload helps.'";
    judge("ci", &[(&format!("SELECT count(*) FROM issues WHERE title LIKE 'Add %' AND body IN ({bug})"), 0, 0)]);
    judge_program(
        "gitea",
        &[(&format!("SELECT count(*) FROM issue WHERE name LIKE 'Add %' AND content IN ({bug})"), 0, 0)],
    );
    judge(
        "wordpress",
        &[
            (&format!("SELECT count(*) {META} WHERE meta_key GLOB '_wp_att*' AND post_type <> 'attachment'"), 0, 0),
            (
                &format!(
                    "SELECT count(*) {META} WHERE meta_key IN ('_pingme', 'seo_title') AND post_type = 'attachment'"
                ),
                0,
                0,
            ),
            (
                &format!(
                    "SELECT count(*) {META} WHERE meta_key = '_wp_attached_file' AND guid NOT LIKE '%/uploads/' || meta_value"
                ),
                0,
                0,
            ),
            (&format!("SELECT count(*) {META} WHERE meta_key = '_edit_last' AND meta_value <> post_author"), 0, 0),
            (&format!("SELECT count(*) {META} WHERE meta_key IN ('_wp_attached_file', '_edit_lock')"), 20, 250),
            (
                "SELECT count(*) FROM wp_usermeta m JOIN wp_users u ON u.ID = user_id WHERE meta_key = 'nickname' AND meta_value <> user_login",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM wp_usermeta WHERE meta_key = 'wp_capabilities' AND meta_value NOT LIKE 'a:1:{s:%:\"%\";b:1;}'",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM wp_options WHERE option_name IN ('siteurl', 'blogname', 'admin_email') AND option_id < 10",
                3,
                3,
            ),
            (
                "SELECT count(*) FROM wp_comments JOIN wp_posts p ON p.ID = comment_post_ID WHERE post_type = 'attachment'",
                0,
                0,
            ),
            ("SELECT count(*) FROM wp_users WHERE user_url = ''", 200, 350),
        ],
    );
}

/// A wish had the label of a bug, the first pipeline of a young repository the number 742, and answers were about something else.
#[test]
fn labels_numbers_and_answers_suit_what_they_are_of() {
    let short = "length(text) < 25 AND text NOT LIKE '%train%'";
    judge(
        "mastodon",
        &[(
            &format!(
                "SELECT count(*) FROM statuses WHERE in_reply_to_id IS NOT NULL AND NOT ({short}) AND reblog_of_id IS NULL"
            ),
            0,
            0,
        )],
    );
    let label = "FROM issue_labels JOIN issues i ON i.id = issue_id JOIN labels l ON l.id = label_id";
    judge(
        "ci",
        &[
            (&format!("SELECT count(*) {label} WHERE title LIKE 'Add %' AND name IN ('bug', 'performance')"), 0, 0),
            (
                &format!("SELECT count(*) {label} WHERE title LIKE 'Crash %' AND name IN ('enhancement', 'feature')"),
                0,
                0,
            ),
            ("SELECT max(number) FROM pipelines WHERE id < 20", 1, 19),
        ],
    );
}

/// Rentals came film by film, and issues repository by repository: all of the first one were years old.
#[test]
fn rows_come_by_time_whatever_they_belong_to() {
    let overlaps = "SELECT count(*) FROM rental a JOIN rental b USING (inventory_id) WHERE b.rental_id > a.rental_id AND b.rental_date <= coalesce(a.return_date, '9')";
    let rental = [
        (
            "SELECT count(*) FROM rental a JOIN rental b ON b.rental_id = a.rental_id + 1 WHERE b.rental_date < a.rental_date",
            0,
            0,
        ),
        (overlaps, 0, 0),
        ("SELECT max(n) FROM (SELECT count(*) n FROM rental GROUP BY inventory_id)", 2, 90),
    ];
    judge("sakila", &rental);
    judge_rows("sakila", &[("rental", 3000), ("inventory", 1000)], &rental);
    judge_program(
        "gitea",
        &[
            ("SELECT count(*) FROM issue a JOIN issue b ON b.id = a.id + 1 WHERE b.repo_id < a.repo_id", 100, 250),
            (
                "SELECT count(*) FROM issue i WHERE \"index\" <> (SELECT count(*) FROM issue o WHERE o.repo_id = i.repo_id AND o.id <= i.id)",
                0,
                0,
            ),
        ],
    );
}

/// A forum earned money, programs had telephones, somebody played a part in a documentary, and folders had ratings.
#[test]
fn only_what_can_have_it_has_it() {
    let sells = "name LIKE '%Shop' OR name LIKE '%Store' OR name LIKE '%Market'";
    judge("matomo", &[(&format!("SELECT count(*) FROM site WHERE ecommerce <> ({sells})"), 0, 0)]);
    judge("chat", &[("SELECT count(*) FROM users WHERE is_bot AND phone IS NOT NULL", 0, 0)]);
    judge("chat", &[("SELECT count(*) FROM users WHERE phone IS NULL", 40, 140)]);
    judge_program(
        "jellyfin",
        &[
            (
                "SELECT count(*) FROM People JOIN TypedBaseItems ON guid = ItemId WHERE Genres LIKE '%Documentary%' AND Role <> ''",
                0,
                0,
            ),
            ("SELECT count(*) FROM TypedBaseItems WHERE type = 'Folder' AND CommunityRating IS NOT NULL", 0, 0),
            ("SELECT count(*) FROM TypedBaseItems WHERE type = 'Movie' AND CommunityRating IS NOT NULL", 10, 400),
        ],
    );
}

/// Invoices were written at three in the morning, and rows came at the same distance from one another.
#[test]
fn people_sleep_at_night() {
    const NIGHT: &str =
        "(SELECT substr(created_at, 12, 5) AS at FROM accounts) WHERE at NOT BETWEEN '06:30' AND '23:30'";
    judge("mastodon", &[(&format!("SELECT count(*) FROM {NIGHT}"), 0, 0)]);
    let office = "SELECT count(*) FROM invoice WHERE substr(issued_at, 12, 5) NOT BETWEEN '08:00' AND '18:00'";
    judge("hospital", &[(office, 0, 0)]);
    let gap = "unixepoch(b.created_at) - unixepoch(a.created_at)";
    let gaps = format!("FROM accounts a JOIN accounts b ON b.id = a.id + 1 WHERE {gap}");
    judge(
        "mastodon",
        &[
            (&format!("SELECT count(*) {gaps} < 86400 * 2"), 10, 80),
            (&format!("SELECT count(*) {gaps} > 86400 * 7"), 10, 80),
        ],
    );
}

/// Ryan Campbell lived in Kolkata, an order of 2021 came from a browser of 2024, and parcels arrived at midnight.
#[test]
fn names_browsers_and_parcels_suit_the_place_and_the_time() {
    let sql = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/store.sql"));
    let night = "SELECT count(*) FROM orders WHERE substr(shipped_at, 12, 2) NOT BETWEEN '07' AND '18' OR substr(delivered_at, 12, 2) NOT BETWEEN '07' AND '18'";
    judge_schema(
        "store",
        &sql,
        &[("customer", 400), ("order_item", 1000)],
        &[
            (
                "SELECT count(*) FROM customer WHERE country = 'Japan' AND last_name IN ('Smith', 'Campbell', 'Baker', 'Yilmaz')",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM customer WHERE country = 'Poland' AND last_name IN ('Nowak', 'Mazur', 'Baran', 'Lis', 'Dudek', 'Zając')",
                1,
                20,
            ),
            ("SELECT count(*) FROM customer WHERE country = 'Italy' AND gender = 'F' AND first_name GLOB '*o'", 0, 0),
            ("SELECT count(DISTINCT last_name) FROM customer", 180, 400),
            (night, 0, 12),
            (
                "SELECT count(*) FROM orders WHERE delivered_at < shipped_at OR shipped_at < placed_at OR delivered_at > '2026-01-01'",
                0,
                0,
            ),
        ],
    );
    // Chrome 100 came in March 2022.
    let chrome = "CAST(substr(user_agent, instr(user_agent, 'Chrome/') + 7, 3) AS INTEGER)";
    judge(
        "django_shop",
        &[
            (
                &format!(
                    "SELECT count(*) FROM shop_order WHERE placed_at < '2022-03-01' AND user_agent LIKE '%Chrome/%' AND {chrome} >= 100"
                ),
                0,
                0,
            ),
            (
                &format!(
                    "SELECT count(*) FROM shop_order WHERE placed_at > '2023-01-01' AND user_agent LIKE '%Chrome/%' AND {chrome} < 100"
                ),
                0,
                0,
            ),
            ("SELECT count(*) FROM shop_order WHERE paid_at > shipped_at", 0, 0),
        ],
    );
}

/// People wrote before they joined and after they were seen last, cancelled appointments were billed, and a build of 2021 ran on a
/// system of 2024.
#[test]
fn what_happens_waits_for_what_comes_before() {
    judge(
        "chat",
        &[
            (
                "SELECT count(*) FROM messages m JOIN memberships s ON s.channel_id = m.channel_id AND s.user_id = m.user_id WHERE m.sent_at_ms < s.joined_ms",
                0,
                20,
            ),
            (
                "SELECT count(*) FROM users u JOIN messages m ON m.user_id = u.id WHERE u.last_seen_ms IS NULL OR m.sent_at_ms > u.last_seen_ms",
                0,
                0,
            ),
            ("SELECT count(*) FROM channels WHERE id NOT IN (SELECT channel_id FROM memberships)", 0, 0),
        ],
    );
    judge(
        "hospital",
        &[("SELECT count(*) FROM invoice i JOIN appointment a ON a.id = i.id WHERE i.issued_at < a.start_time", 0, 0)],
    );
    judge(
        "ci",
        &[
            ("SELECT count(*) FROM jobs WHERE name LIKE '%macos-14%' OR name LIKE '%24.04%'", 0, 0),
            ("SELECT count(*) FROM jobs WHERE status IN ('cancelled', 'canceled') AND exit_code IS NOT NULL", 0, 0),
            ("SELECT count(*) FROM jobs WHERE name LIKE 'deploy%' AND error_message LIKE '%Assertion%'", 0, 0),
            (
                "SELECT count(*) FROM artifacts a JOIN jobs j ON j.id = job_id WHERE unixepoch(a.created_at) > j.finished_at",
                0,
                0,
            ),
        ],
    );
    let tags = "SELECT count(*) FROM tags t WHERE last_status_at IS NOT NULL AND last_status_at <> (SELECT max(max(s.created_at, t.created_at)) FROM statuses_tags p JOIN statuses s ON s.id = p.status_id WHERE p.tag_id = t.id)";
    judge("mastodon", &[(tags, 0, 10)]);
}

/// Films had a picture and no sound, a channel had one person who answered herself, suspended people signed in, and each state
/// of a sensor was of another device.
#[test]
fn things_stay_what_they_are() {
    judge_program(
        "jellyfin",
        &[
            (
                "SELECT count(*) FROM (SELECT ItemId FROM mediastreams GROUP BY ItemId HAVING sum(StreamType = 'Audio') = 0)",
                0,
                0,
            ),
            ("SELECT count(DISTINCT ItemId) FROM mediastreams", 90, 140),
        ],
    );
    judge(
        "chat",
        &[("SELECT count(*) FROM (SELECT 1 FROM memberships GROUP BY channel_id HAVING count(*) < 2)", 0, 0)],
    );
    judge(
        "mastodon",
        &[
            (
                "SELECT count(*) FROM users u JOIN accounts a ON a.id = u.account_id WHERE u.current_sign_in_at > a.suspended_at",
                0,
                0,
            ),
            ("SELECT count(*) FROM favourites WHERE updated_at <> created_at", 0, 0),
        ],
    );
    judge_program(
        "home_assistant",
        &[(
            "SELECT count(*) FROM (SELECT 1 FROM states GROUP BY metadata_id HAVING count(DISTINCT attributes_id) > 1)",
            0,
            0,
        )],
    );
}
