//! Kinds of values: a column that holds several kinds does so in a look-alike, with their shares and lengths.

use super::look_alikes::look_alike;
use super::*;

/// A column of integers, real numbers and texts lost its integers: real numbers took their place, and only the two most frequent kinds
/// were kept.
#[test]
fn every_kind_keeps_its_share() {
    let select = "CASE n % 3 WHEN 0 THEN n % 500 WHEN 1 THEN n * 0.37 ELSE 'word ' || n END, \
        CASE n % 3 WHEN 0 THEN randomblob(100 + n % 50) WHEN 1 THEN n ELSE printf('%.*c', 3 + n % 4, 'x') END, \
        iif(n % 4, n * 7919 % 1000, n * 0.37 + 0.001), \
        CASE n % 10 WHEN 0 THEN n WHEN 1 THEN 'a text ' || n WHEN 2 THEN randomblob(40) WHEN 3 THEN NULL ELSE n * 0.37 + 0.001 END, \
        iif(n % 3, n * 7919 % 1000, n % 500 + 0.25)";
    let columns = ["a", "b", "c", "d", "e"];
    let folder = tempfile::tempdir().expect("a folder");
    let file = database(folder.path(), &table("a, b, c, d, e NUMERIC", 3000, select));
    let learnt = profile(&file, &options(1, false)).expect("a profile");
    let source = Connection::open(&file).expect("the source");
    for scale in [1.0, 2.0] {
        let (_folder, made) = look_alike(&learnt, scale);
        for column in columns {
            for kind in ["integer", "real", "text", "blob", "null"] {
                let share = |connection: &Connection| -> f64 {
                    let sql = format!("SELECT avg(typeof({column}) = '{kind}') FROM t");
                    connection.query_row(&sql, [], |row| row.get(0)).expect(column)
                };
                let (one, other) = (share(&source), share(&made));
                let said = said(&learnt, &format!("t.{column}"));
                assert!((one - other).abs() < 0.03, "{kind} of {column}: {one}, {other}: {said}");
            }
        }
        let sql = "SELECT max(length(b)) FILTER (WHERE typeof(b) = 'text'), min(length(b)) FILTER (WHERE typeof(b) = 'blob') FROM t";
        let (longest, shortest): (i64, i64) =
            made.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).expect("lengths");
        assert!(longest <= 12 && shortest >= 100, "{longest}, {shortest}: {}", said(&learnt, "t.b"));
    }
    assert_plannable(&learnt);
}
