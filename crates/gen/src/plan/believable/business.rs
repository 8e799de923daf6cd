//! Rows of shops, lenders and builds: what a colleague would find absurd in the first ten rows of a table.

use super::*;

/// The first ten pipelines were of one repository and one commit, and the first eight orders were by two customers.
#[test]
fn first_rows_refer_to_many_rows() {
    judge(
        "ci",
        &[
            ("SELECT count(DISTINCT repository_id) FROM pipelines WHERE id <= 10", 4, 10),
            (
                "SELECT count(*) FROM pipelines p JOIN commits c ON c.id = commit_id WHERE queued_at < committed_at",
                0,
                0,
            ),
        ],
    );
    judge(
        "rails_shop",
        &[
            ("SELECT count(DISTINCT user_id) FROM orders WHERE id <= 10", 4, 10),
            ("SELECT count(*) FROM orders o JOIN users u ON u.id = user_id WHERE o.created_at < u.created_at", 0, 0),
        ],
    );
    let error = Schema::from_sql(
        "CREATE TABLE p (id INTEGER PRIMARY KEY);
        CREATE TABLE c (id INTEGER PRIMARY KEY, p REFERENCES p /* gen: ref(p.id, popular(growing=TRUE, before=2)) */)",
        "test.sql",
    )
    .and_then(|schema| GenPlan::new(&schema, &Request { rows: vec![(None, 10)], ..Request::default() }).map(drop))
    .expect_err("2 is no share");
    assert!(error.message().contains("'before' is 0 to 0.9"), "{error}");
}

/// Orders of 2021 were pending and pipelines of 2021 were running, completed orders were cancelled ten months later, and a cancelled
/// order had a balance due.
#[test]
fn only_young_rows_have_a_state_of_now() {
    judge(
        "django_shop",
        &[
            (
                "SELECT count(*) FROM shop_order WHERE status IN ('pending', 'paid', 'shipped') AND placed_at < '2025-11-30'",
                0,
                0,
            ),
            ("SELECT count(*) FROM shop_order WHERE status IN ('pending', 'paid', 'shipped')", 1, 12),
            ("SELECT count(*) FROM shop_order WHERE status = 'cancelled'", 5, 60),
            ("SELECT count(*) FROM shop_payment WHERE status = 'pending' AND created_at < '2025-12-28'", 0, 0),
        ],
    );
    judge(
        "rails_shop",
        &[
            (
                "SELECT count(*) FROM orders WHERE state IN ('pending', 'processing') AND created_at < '2025-11-30'",
                0,
                0,
            ),
            ("SELECT count(*) FROM orders WHERE completed_at IS NOT NULL AND canceled_at IS NOT NULL", 0, 0),
            (
                "SELECT count(*) FROM orders WHERE state = 'cancelled' AND (payment_state <> 'void' OR shipment_state <> 'canceled')",
                0,
                0,
            ),
            ("SELECT count(*) FROM orders WHERE julianday(canceled_at) - julianday(created_at) > 7", 0, 0),
        ],
    );
    judge("ci", &[("SELECT count(*) FROM pipelines WHERE status = 'running' AND queued_at < '2025-12-30'", 0, 0)]);
    judge_program(
        "litestream_app",
        &[("SELECT count(*) FROM job WHERE state = 'running' AND date(run_at, 'unixepoch') < '2025-12-30'", 0, 0)],
    );
}
