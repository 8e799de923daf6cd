//! Programs for photographs and maps, a repository and a benchmark, of which many columns have no type or no words in their names.

use super::judge_program;

/// A customer was called "patient stranger", an order of the day "lantern" had the status "tree", and lines were of the part 863661 of 400.
#[test]
fn rows_of_a_benchmark_are_believable() {
    judge_program(
        "tpch",
        &[
            ("SELECT count(*) FROM nation WHERE n_name GLOB '[a-z]*'", 0, 0),
            (
                "SELECT count(*) FROM customer WHERE c_name NOT GLOB '[A-Z]* [A-Z]*' OR c_acctbal NOT BETWEEN -500 AND 20000",
                0,
                0,
            ),
            ("SELECT count(*) FROM part WHERE p_size NOT BETWEEN 1 AND 50 OR p_mfgr GLOB '[a-z]*'", 0, 0),
            (
                "SELECT count(*) FROM orders WHERE o_orderstatus NOT IN ('completed', 'shipped', 'processing', 'pending', 'cancelled')",
                0,
                0,
            ),
            ("SELECT count(*) FROM orders WHERE o_orderdate NOT BETWEEN '2021-01-01' AND '2026-01-01'", 0, 0),
            ("SELECT count(*) FROM lineitem WHERE l_partkey NOT IN (SELECT p_partkey FROM part)", 0, 0),
            ("SELECT count(*) FROM lineitem WHERE l_suppkey NOT IN (SELECT s_suppkey FROM supplier)", 0, 0),
            (
                "SELECT count(*) FROM lineitem JOIN orders ON o_orderkey = l_orderkey WHERE l_shipdate < o_orderdate",
                0,
                0,
            ),
            (
                "SELECT count(*) FROM lineitem JOIN part ON p_partkey = l_partkey WHERE abs(l_extendedprice - l_quantity * p_retailprice) > 0.01",
                0,
                0,
            ),
        ],
    );
}
