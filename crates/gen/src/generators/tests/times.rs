//! Time patterns and formats.

use super::*;

#[test]
fn one_time_in_all_formats() {
    for (format, expected) in [
        ("iso", "'2024-02-29 00:00:00'"),
        ("iso_ms", "'2024-02-29 00:00:00.250'"),
        ("unix", "1709164800"),
        ("unix_ms", "1709164800250"),
        ("julian", "2460369.5000028936"),
    ] {
        let text = format!("events('2024-02-29', every='250ms', jitter=0, as='{format}')");
        assert_eq!(block(&*build(&text), 1..2), [expected]);
    }
    let before = "timestamp('1969-12-31 23:59:59', '1970-01-01', as='unix')";
    assert_eq!(values(before, 3), ["-1", "-1", "-1"]);
    let ms = "timestamp('1970-01-01', '1970-01-01 00:00:01', as='unix_ms')";
    assert_eq!(values(ms, 50_000).into_iter().collect::<HashSet<_>>().len(), 1000);
}

#[test]
fn business_is_done_from_monday_to_friday() {
    // Monday to Sunday and the next Monday: six working days.
    let found = values("business_hours('2024-01-01', '2024-01-09', '22:00', '24:00')", 60_000);
    let days: Vec<String> = found.iter().map(|time| time[1..11].to_owned()).collect();
    let week = ["01", "02", "03", "04", "05", "08"].map(|day| format!("2024-01-{day}"));
    let shares: Vec<(&str, f64)> = week.iter().map(|day| (day.as_str(), 1.0 / 6.0)).collect();
    // 5 degrees of freedom: 20.5 is exceeded by one seed in a thousand.
    assert!(chi_square(&days, &shares) < 20.5);
    assert!(found.iter().all(|time| ("22:00:00".."24").contains(&&time[12..20])));
}

#[test]
fn events_ascend() {
    for text in [
        "events('2024-01-01', every='250ms', jitter=0.9, as='iso_ms')",
        "events('2024-01-01', every='250ms', jitter=1)",
        "events('2024-01-01', every='0.1ms', as='unix_ms')",
        "events('0000-01-01', every='1.5d', jitter=0.9)",
    ] {
        let generator = build(text);
        for first in [0, 123_456, 1 << 40] {
            let found = block(&*generator, first..first + BLOCK_ROWS as u64);
            assert!(found.is_sorted(), "{text}");
            let ascends = matches!(generator.cardinality(), Cardinality::Ascending { rows } if rows > first + 1024);
            assert!(!ascends || found.windows(2).all(|two| two[0] < two[1]), "{text}");
        }
    }
    assert_eq!(
        block(&*build("events('2024-01-01', every='1000d')"), 1 << 50..(1 << 50) + 1),
        ["'9999-12-31 23:59:59'"]
    );
}

/// Generators that know the number of rows adapt to it.
#[test]
fn events_end_with_the_table() {
    let of_rows = |text: &str, rows| {
        let source = crate::annotation::SourceText::new(text, "test");
        let call = crate::annotation::parse_call(&source, 0..text.len()).expect(text);
        catalogue::build(&source, &call, Some(rows)).expect(text)
    };
    let generator = of_rows("events('2024-01-01', '2024-01-02', jitter=0.99)", 1000);
    let found = block(&*generator, 0..1000);
    assert!(
        found.is_sorted() && found[0].starts_with("'2024-01-01 00:0") && found[999].starts_with("'2024-01-01 23:5")
    );
    assert!(of_rows("unique_email", 5).longest_bytes() < of_rows("unique_email", 1 << 40).longest_bytes());
    for rows in [1, 1 << 20, 1 << 40] {
        assert!(of_rows("unique_email", rows).cardinality().at_most() >= rows);
    }
}
