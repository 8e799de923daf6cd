//! Rows without an annotation that contradicted themselves or the rows that they refer to.

use super::{ROWS, judge, judge_program, make, number};

/// A T-shirt was sold as a bag of 500 g, honey was easy to clean, snacks were second-hand, and photographs were in
/// `garden.zip`.
#[test]
fn things_are_sold_as_such_things_are() {
    judge(
        "northwind",
        &[
            (
                "SELECT count(*) FROM Products WHERE QuantityPerUnit GLOB '*[kg]g bag' OR QuantityPerUnit LIKE '%bottle%'",
                0,
                0,
            ),
            ("SELECT count(*) FROM Employees WHERE PhotoPath NOT GLOB '*.jpg' AND PhotoPath NOT GLOB '*.png'", 0, 0),
            ("SELECT count(*) FROM Employees WHERE Title IN ('Nurse', 'Mechanic', 'Teacher', 'Pharmacist')", 0, 0),
            ("SELECT count(*) FROM Employees WHERE Notes LIKE '% by day, %'", 0, 0),
            (
                "SELECT count(*) FROM Suppliers WHERE HomePage NOT LIKE 'https://www.' || lower(substr(CompanyName, 1, 3)) || '%'",
                0,
                12,
            ),
        ],
    );
    judge(
        "django_shop",
        &[
            (
                "SELECT count(*) FROM shop_product p JOIN shop_category c ON c.id = p.category_id
                WHERE (c.name LIKE '%Snacks' OR c.name LIKE '%Grocery') AND p.description LIKE 'Designed%'",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM shop_category WHERE (name LIKE '%Snacks' OR name LIKE '%Grocery' OR name LIKE '%Beverages')
                AND (name LIKE 'Second-Hand%' OR name LIKE 'Refurb%' OR name LIKE 'Antique%' OR name LIKE 'Women''s%')",
                0,
                0,
            ),
            ("SELECT count(*) FROM shop_product WHERE description LIKE '%, now in %'", 0, 0),
            ("SELECT count(*) FROM auth_user WHERE is_superuser AND NOT is_staff", 0, 0),
        ],
    );
}

/// Passwords were reset before there was a user, rows were last changed before their order was completed, messages were edited
/// in the second in which they were sent, and certificates were valid for a week and revoked after it.
#[test]
fn times_come_after_the_times_that_they_follow() {
    judge(
        "rails_shop",
        &[
            (
                "SELECT count(*) FROM users WHERE reset_password_sent_at < created_at OR remember_created_at < created_at",
                0,
                0,
            ),
            ("SELECT count(*) FROM orders WHERE updated_at < completed_at OR updated_at < canceled_at", 0, 0),
            ("SELECT count(*) FROM orders WHERE completed_at IS NULL", 5, 40),
        ],
    );
    judge("sakila", &[("SELECT count(*) FROM rental WHERE last_update < return_date", 0, 0)]);
    judge("chat", &[("SELECT count(*) FROM messages WHERE edited_at_ms <= sent_at_ms", 0, 0)]);
    judge("hospital", &[("SELECT count(*) FROM doctor WHERE hire_date < date(birth_date, '+26 years')", 0, 0)]);
    judge(
        "telemetry",
        &[
            ("SELECT count(*) FROM certificates WHERE valid_until < date(valid_from, '+1 year', '-1 day')", 0, 0),
            ("SELECT count(*) FROM certificates WHERE revoked_at > valid_until", 0, 0),
        ],
    );
}

/// Answers without content had 50 kB, DELETE created things, and a full disk was no more than information.
#[test]
fn requests_and_logs_are_of_one_piece() {
    judge(
        "telemetry",
        &[
            ("SELECT count(*) FROM requests WHERE http_status IN (204, 304) AND bytes > 0", 0, 0),
            ("SELECT count(*) FROM requests WHERE http_status = 201 AND method <> 'POST'", 0, 0),
            ("SELECT count(*) FROM requests WHERE http_status = 304 AND method <> 'GET'", 0, 0),
            (
                "SELECT count(*) FROM logs WHERE level = 'error' AND message IN ('Cache miss', 'User logged in', 'Sent e-mail')",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM logs WHERE level IN ('info', 'debug') AND message IN ('Out of memory', 'Disk is full')",
                0,
                0,
            ),
            ("SELECT count(DISTINCT level) FROM logs", 4, 4),
        ],
    );
    judge(
        "matomo",
        &[
            (
                "SELECT count(*) FROM log_link_visit_action JOIN log_visit USING (idvisit)
                WHERE server_time NOT BETWEEN visit_first_action_time AND visit_last_action_time OR time_spent > visit_total_time",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM log_visit v WHERE visit_total_actions <>
                (SELECT count(*) FROM log_link_visit_action a WHERE a.idvisit = v.idvisit)",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM log_visit WHERE referer_url IS NOT NULL
                AND referer_url NOT LIKE 'https://%' || coalesce(referer_name, '-') || '%/%'",
                0,
                0,
            ),
        ],
    );
}

/// Accounts followed themselves, half of all channels had no owner and some had two, and eight customers lived at one address.
#[test]
fn pairs_are_of_two() {
    judge("mastodon", &[("SELECT count(*) FROM follows WHERE account_id = target_account_id", 0, 0)]);
    judge(
        "chat",
        &[(
            "SELECT count(*) FROM (SELECT sum(role = 'owner') n FROM memberships GROUP BY channel_id) WHERE n <> 1",
            0,
            0,
        )],
    );
    judge(
        "sakila",
        &[
            ("SELECT max(n) FROM (SELECT count(*) n FROM customer GROUP BY address_id)", 1, 1),
            ("SELECT max(n) FROM (SELECT count(*) n FROM store GROUP BY address_id)", 1, 1),
        ],
    );
    let sql = "CREATE TABLE account (id INTEGER PRIMARY KEY);
        CREATE TABLE transfer (id INTEGER PRIMARY KEY, from_account_id INTEGER NOT NULL REFERENCES account, to_account_id INTEGER NOT NULL REFERENCES account)";
    let sqlite = make(sql, ROWS, &[]);
    assert_eq!(number(&sqlite, "SELECT count(*) FROM transfer WHERE from_account_id = to_account_id"), 0);
}

/// `other=TRUE` leaves out the row itself in any order of rows, whether all rows or early ones may come.
#[test]
fn partners_are_others() {
    for growing in ["", ", growing=TRUE"] {
        let sql = format!(
            "/* gen: rows=40 */ CREATE TABLE one (id INTEGER PRIMARY KEY);
            CREATE TABLE pair (a NOT NULL REFERENCES one /* gen: ref(one.id, per_parent(0, 9)) */,
                b NOT NULL REFERENCES one /* gen: ref(one.id, distinct_in(a, other=TRUE{growing})) */, PRIMARY KEY (a, b)) WITHOUT ROWID;"
        );
        let sqlite = super::super::schemas::database(&sql);
        assert_eq!(number(&sqlite, "SELECT count(*) FROM pair WHERE a = b"), 0);
        assert!(number(&sqlite, "SELECT count(DISTINCT b) FROM pair") > 30);
    }
}

/// A repository had five stars at most, a plan was both 'free' and 'Free', a channel on travel was about cooking, and a boost's
/// warning had three sentences.
#[test]
fn texts_and_numbers_suit_their_table() {
    judge(
        "ci",
        &[
            ("SELECT max(stars) FROM repositories", 20, 90_000),
            ("SELECT count(*) FROM organizations WHERE plan <> lower(plan)", 0, 0),
            ("SELECT count(*) FROM repositories WHERE description LIKE '% has sent %'", 0, 0),
        ],
    );
    judge("chat", &[("SELECT count(*) FROM channels a JOIN channels b ON a.topic = b.name", 0, 0)]);
    judge(
        "mastodon",
        &[
            ("SELECT count(*) FROM statuses WHERE spoiler_text <> ''", 10, 80),
            ("SELECT count(*) FROM users WHERE unconfirmed_email = email", 0, 0),
        ],
    );
    judge(
        "chinook",
        &[(
            "SELECT count(*) FROM Track JOIN MediaType m USING (MediaTypeId) WHERE m.Name LIKE 'MPEG audio%' AND Bytes * 8 / Milliseconds NOT BETWEEN 100 AND 400",
            0,
            0,
        )],
    );
}

/// General managers reported to receptionists, closed posts and drafts had comments, one customer had addresses in eight
/// countries and none or three to use, pictures had the kind of videos, jobs made files years after their end, men went to
/// gynaecologists and old people to paediatricians, and the content type `cartitem` belonged to the application `sites`.
#[test]
fn rows_suit_the_rows_that_refer_to_them() {
    judge(
        "chinook",
        &[
            (
                "SELECT count(*) FROM Employee m WHERE EXISTS (SELECT 1 FROM Employee WHERE ReportsTo = m.EmployeeId)
                AND Title NOT LIKE '%Manager' AND Title NOT LIKE '%Director'",
                0,
                0,
            ),
            ("SELECT count(DISTINCT Title) FROM Employee", 20, 40),
        ],
    );
    judge(
        "wordpress",
        &[
            (
                "SELECT count(*) FROM wp_comments JOIN wp_posts p ON p.ID = comment_post_ID
                WHERE comment_status = 'closed' OR post_status <> 'publish' AND post_type <> 'attachment'",
                0,
                0,
            ),
            ("SELECT count(*) FROM wp_posts WHERE comment_status = 'closed'", 5, 60),
            ("SELECT count(*) FROM wp_posts WHERE (post_type = 'attachment') <> (post_mime_type <> '')", 0, 0),
        ],
    );
    judge(
        "django_shop",
        &[
            ("SELECT max(n) FROM (SELECT count(DISTINCT country) n FROM shop_address GROUP BY user_id)", 1, 1),
            ("SELECT count(DISTINCT country) FROM shop_address", 10, 60),
            ("SELECT count(*) FROM (SELECT sum(is_default) n FROM shop_address GROUP BY user_id) WHERE n <> 1", 0, 0),
            ("SELECT count(DISTINCT user_id) FROM shop_address", 150, 390),
            (
                "SELECT count(*) FROM django_content_type WHERE (model IN ('user', 'group')) <> (app_label = 'auth') AND model <> 'permission'",
                0,
                0,
            ),
        ],
    );
    judge(
        "ci",
        &[(
            "SELECT count(*) FROM artifacts a JOIN jobs j ON j.id = a.job_id
            WHERE unixepoch(a.created_at) - coalesce(j.finished_at, j.started_at) NOT BETWEEN 0 AND 86400",
            0,
            0,
        )],
    );
    judge(
        "hospital",
        &[(
            "SELECT count(*) FROM appointment JOIN doctor o ON o.id = doctor_id JOIN department d ON d.id = department_id
            WHERE d.name LIKE 'Gynaecology%' OR d.name LIKE 'Paediatrics%'",
            0,
            0,
        )],
    );
    judge(
        "rails_shop",
        &[("SELECT count(*) FROM users WHERE sign_in_count = 1 AND current_sign_in_at <> last_sign_in_at", 0, 0)],
    );
    judge(
        "mastodon",
        &[("SELECT count(DISTINCT type) FROM media_attachments WHERE file_content_type LIKE 'image/%'", 1, 1)],
    );
}

/// A food weighed 0.93 kg and 200 g, the name of a user was `HannahO'Brien`, and files were identified "1".
#[test]
fn texts_are_those_of_programs() {
    judge("django_shop", &[("SELECT count(*) FROM shop_product WHERE attributes LIKE '%weight%'", 0, 0)]);
    judge_program("gitea", &[("SELECT count(*) FROM user WHERE name LIKE '%''%' OR email LIKE '%''%'", 0, 0)]);
    let is_known = "metadata IS NOT NULL AND json_type(metadata, '$.identified') IS NOT 'true'";
    judge_program("rails", &[(&format!("SELECT count(*) FROM active_storage_blobs WHERE {is_known}"), 0, 0)]);
}

/// Two posts had one address, an image had an old one, Rails had a colour for backups, and Firefox had the settings of Chrome.
#[test]
fn programs_keep_what_they_know() {
    judge(
        "wordpress",
        &[
            ("SELECT count(*) - count(DISTINCT post_name) FROM wp_posts WHERE post_type IN ('post', 'page')", 0, 0),
            (
                "SELECT count(*) FROM wp_postmeta JOIN wp_posts p ON p.ID = post_id WHERE post_type = 'attachment' AND meta_key = '_wp_old_slug'",
                0,
                0,
            ),
            ("SELECT count(*) FROM wp_posts WHERE post_content LIKE '%longer list at the end%'", 0, 0),
        ],
    );
    judge_program(
        "rails",
        &[
            ("SELECT count(*) FROM ar_internal_metadata WHERE key IN ('environment', 'schema_sha1')", 2, 2),
            (
                "SELECT count(*) FROM schema_migrations a JOIN schema_migrations b ON b.rowid = a.rowid + 1 WHERE b.version <= a.version",
                0,
                0,
            ),
        ],
    );
    judge_program(
        "firefox_places",
        &[("SELECT count(*) FROM moz_meta WHERE key LIKE 'sync/%' OR key LIKE 'origin%'", 7, 7)],
    );
    judge_program("anki", &[("SELECT count(*) FROM col WHERE models LIKE '%\"fields\":[\"Front\",\"Back\"]%'", 1, 1)]);
    judge_program(
        "django",
        &[("SELECT count(*) FROM django_migrations WHERE name LIKE '%remove%' OR name LIKE '%rename%'", 0, 0)],
    );
    judge_program(
        "nextcloud",
        &[("SELECT count(*) FROM oc_filecache WHERE mimetype = 1 AND name GLOB '* [0-9][0-9][0-9][0-9]'", 0, 0)],
    );
}

/// Nothing was built on the branch `master`, a wish was urgent, a build that failed had packages, and screenshots showed Lisbon by night.
#[test]
fn builds_and_pictures_suit_what_they_are_of() {
    judge(
        "ci",
        &[
            (
                "SELECT count(*) FROM pipelines JOIN repositories r ON r.id = repository_id WHERE branch = default_branch",
                40,
                100,
            ),
            (
                "SELECT count(*) FROM pipelines JOIN repositories r ON r.id = repository_id WHERE trigger = 'schedule' AND branch <> default_branch",
                0,
                0,
            ),
            ("SELECT count(*) FROM issues WHERE priority = 'urgent' AND title LIKE 'Add %'", 0, 0),
            (
                "SELECT count(*) FROM artifacts JOIN jobs j ON j.id = job_id WHERE j.status = 'failed' AND j.name LIKE 'build%' AND filename LIKE '%.zip'",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM repositories WHERE name LIKE '%-billing' AND description NOT LIKE 'Invoices%' AND description NOT IN ('Work in progress', 'Used by all teams', 'Without dependencies', 'Experiments, not for production') AND description NOT LIKE 'In production%'",
                0,
                0,
            ),
        ],
    );
    judge(
        "mastodon",
        &[
            (
                "SELECT count(*) FROM media_attachments WHERE file_file_name LIKE 'Screen%' AND description LIKE '%night%'",
                0,
                0,
            ),
            ("SELECT count(*) FROM users WHERE last_sign_in_at > current_sign_in_at", 0, 0),
        ],
    );
    judge(
        "hospital",
        &[(
            "SELECT count(*) FROM stay a JOIN stay b ON a.patient_id = b.patient_id AND a.id < b.id WHERE a.check_out > b.check_in AND b.check_out > a.check_in",
            0,
            0,
        )],
    );
    judge(
        "matomo",
        &[
            ("SELECT count(*) FROM site WHERE timezone = 'Asia/Tokyo' AND currency <> 'JPY' OR type = 'special'", 0, 0),
            ("SELECT count(*) FROM log_conversion WHERE (revenue > 0) <> (url LIKE '%/checkout/complete')", 0, 0),
        ],
    );
}

/// Addresses in Leipzig were `605 Cherry Court`, four stars were "Perfect", large orders paid for delivery and small ones did not, orders
/// were wanted by a second, and identifiers were `PNI:carpet`.
#[test]
fn addresses_and_praise_suit_their_rows() {
    judge(
        "northwind",
        &[
            (
                "SELECT count(*) FROM Customers WHERE Country IN ('Germany', 'Italy', 'Spain') AND Address GLOB '[0-9]*'",
                0,
                0,
            ),
            ("SELECT count(*) FROM Customers WHERE Country = 'Poland' AND Address NOT LIKE 'ul. %'", 0, 0),
            ("SELECT count(*) FROM Customers WHERE Country = 'United States' AND Address NOT GLOB '[0-9]*'", 0, 0),
            ("SELECT count(*) FROM Orders WHERE RequiredDate NOT LIKE '% 00:00:00'", 0, 0),
            ("SELECT count(*) FROM Suppliers WHERE CompanyName LIKE '% GmbH'", 0, 0),
        ],
    );
    judge(
        "django_shop",
        &[
            ("SELECT count(*) FROM shop_order WHERE subtotal > 150 AND shipping > 0", 0, 0),
            ("SELECT count(*) FROM shop_review WHERE rating = 4 AND title IN ('Perfect', 'Excellent')", 0, 0),
            ("SELECT count(*) FROM shop_review WHERE rating = 2 AND title = 'Never again'", 0, 0),
            ("SELECT count(*) FROM shop_address WHERE country = 'DE' AND line1 GLOB '[0-9]*'", 0, 0),
        ],
    );
    judge("chat", &[("SELECT count(*) FROM devices WHERE pni NOT LIKE 'PNI:________-____-4%'", 0, 0)]);
    judge_program(
        "django",
        &[(
            "SELECT count(*) FROM django_admin_log WHERE time(action_time) NOT BETWEEN '08:00:00' AND '18:00:00'",
            0,
            0,
        )],
    );
}
