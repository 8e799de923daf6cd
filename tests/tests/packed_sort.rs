//! Entries of one form, enough to be packed by the sort, and rows with integer keys, enough to be sorted by buckets. SQLite
//! finds the same entries that it would make.

use litepress::PageSize;
use litepress_conformance::case::{Case, Into, Route};
use litepress_conformance::oracle;
use litepress_conformance::source::Row;
use litepress_rows::cells::OwnedValue;

const TABLE: &str =
    "CREATE TABLE t(id INTEGER PRIMARY KEY, code TEXT, flag TEXT COLLATE NOCASE, sex TEXT, n INT, day TEXT,
    pad TEXT COLLATE RTRIM, maybe TEXT)";

/// Returns pseudo-random numbers, the same in every run.
fn scattered(at: u64, salt: u64) -> u64 {
    let mixed = (at ^ salt << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 17
}

fn row(rowid: i64) -> Row {
    let at = rowid.cast_unsigned();
    let number = |salt: u64, below: u32| u32::try_from(scattered(at, salt) % u64::from(below)).expect("less than that");
    let text = |text: &str| OwnedValue::Text(text.to_owned());
    let one_of = |salt: u64, texts: &str| text(texts.split('|').nth(number(salt, 4) as usize).expect("four texts"));
    vec![
        OwnedValue::Int(rowid),
        text(&format!("{:06}", number(1, 1_000_000))),
        one_of(2, "Y|y|N|n"),
        text(["M", "F", "W", "D"][number(3, 4) as usize]),
        OwnedValue::Int(i64::from(number(4, 200_000)) - 300),
        text(&format!("20{:02}-{:02}-{:02}", number(5, 30), 1 + number(6, 12), 1 + number(7, 28))),
        one_of(8, "| |a|a  "),
        if number(9, 50) == 0 { OwnedValue::Null } else { text(&format!("{:04x}", number(10, 1 << 16))) },
    ]
}

/// Checks tables with many indexes. A part ended with an empty leaf if the last entry of a page became the next divider; texts
/// folded by NOCASE lost their original; a key column that is the rowid was ordered like the rowid after the columns.
fn check_indexes(first_rowid: i64, count: usize, threads: usize) {
    let indexes = [
        "code",
        "flag",
        "sex, id",
        "code DESC",
        "n",
        "sex, flag",
        "day",
        "pad",
        "maybe",
        "id DESC, sex",
        "n, sex DESC",
    ];
    let sql: String =
        indexes.iter().zip(1..).map(|(columns, i)| format!("; CREATE INDEX i{i} ON t({columns})")).collect();
    let case = Case::new(format!("{TABLE}{sql}")).parts_of(30_000).rows((first_rowid..).take(count).map(row));
    let bytes = case.build(Route { threads, into: Into::Memory }, PageSize::DEFAULT).expect("rows are good");
    let what = format!("{count} rows from {first_rowid}");
    oracle::assert_sound(&bytes, &what);
    oracle::assert_reindexed(&bytes, &what);
}

#[test]
fn many_entries_of_one_form() {
    // 273 entries of `code` fill a leaf and include the divider after it; more than an interior page has children.
    check_indexes(100_000, 273 * 320, 1);
}

#[test]
fn many_entries_around_rowid_zero() {
    check_indexes(-40_000, 80_001, 2);
}

/// Returns a row with a key of integers. A few keys have another type or exceed a word.
fn keyed_row(at: i64) -> Row {
    let number = |salt: u64, below: u64| (scattered(at.cast_unsigned(), salt) % below).cast_signed();
    let c = match number(3, 500) {
        0 => OwnedValue::Real(0.5),
        1 => OwnedValue::Text("text".to_owned()),
        2 => OwnedValue::Int(i64::MIN + number(4, 9)),
        3 => OwnedValue::Int((1 << 53) + number(4, 9)),
        _ => OwnedValue::Int(number(4, 300) - 20),
    };
    let note = match number(5, 300) {
        0 => OwnedValue::Null,
        1 => OwnedValue::Text("much ".repeat(1200)),
        2 => OwnedValue::Text("more ".repeat(60)),
        _ => OwnedValue::Text(format!("{:040x}", number(6, 1 << 40))),
    };
    vec![OwnedValue::Int(number(1, 1000) - 500), OwnedValue::Int(at - 40_000), c, note]
}

/// The other columns of a row survive every path into its bucket, and errors name the records that share a key.
#[test]
fn many_rows_with_keys_of_integers() {
    let count = 90_000;
    for (key, threads) in [("a, b DESC, c", 1), ("c DESC, a, b", 2), ("b", 2)] {
        let sql = format!("CREATE TABLE t(a INT, b INT, c INT, note TEXT, PRIMARY KEY({key})) WITHOUT ROWID");
        let rows = || (0..count).map(|at| keyed_row(at * 77_773 % count));
        let route = Route { threads, into: Into::Memory };
        let case = Case::new(&sql).parts_of(10_000).rows(rows());
        let twice = Case::new(&sql).parts_of(10_000).rows(rows().chain(rows().skip(700).take(1)));
        for (case, twice) in [(case.clone(), twice.clone()), (case.numbered(), twice.numbered())] {
            case.judge(&case.build(route, PageSize::DEFAULT).unwrap(), PageSize::DEFAULT);
            let error = twice.build(route, PageSize::DEFAULT).unwrap_err();
            assert!(error.message().contains("records 701 and 90001 have the same key"), "{error}");
        }
    }
}
