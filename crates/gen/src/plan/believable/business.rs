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
