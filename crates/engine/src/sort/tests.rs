//! Compares the whole sort with `Vec::sort`, with several memory budgets, numbers of writers, and disks.

use super::spill::ALIGNMENT;
use super::*;
use crate::{Error, ErrorKind};
use litepress_format::sort_key::KeyPrefix;
use proptest::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

type Items = Vec<Vec<u8>>;

/// Makes `key` prefix-free: replaces NULs, and appends a terminator and a number.
fn item(key: &[u8], number: u32) -> Vec<u8> {
    let mut item: Vec<u8> = key.iter().map(|&byte| byte.max(1)).collect();
    item.push(0);
    item.extend(number.to_be_bytes());
    item
}

fn numbered(keys: impl IntoIterator<Item = Vec<u8>>) -> Items {
    keys.into_iter().zip(0..).map(|(key, number)| item(&key, number)).collect()
}

/// Returns a deterministic generator of random numbers.
fn random() -> impl FnMut() -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

fn options(memory_bytes: u64, writers: usize) -> (SortOptions, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (SortOptions { memory_bytes, temp_dir: folder.path().to_owned(), writers }, folder)
}

/// Pushes the items on as many threads as there are writers, in turns of some hundred items.
fn fill(sorter: &Sorter, items: &Items, writers: usize) -> Result<()> {
    let turns: Vec<&[Vec<u8>]> = items.chunks(300).collect();
    std::thread::scope(|scope| {
        let work = |first: usize| {
            let turns = &turns;
            move || {
                let mut writer = sorter.writer();
                for item in turns.iter().skip(first).step_by(writers).copied().flatten() {
                    writer.push(item)?;
                }
                writer.finish()
            }
        };
        let threads: Vec<_> = (0..writers).map(|first| scope.spawn(work(first))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap())
    })
}

fn sort(items: &Items, memory_bytes: u64, writers: usize) -> Result<SortedItems> {
    sort_with(items, memory_bytes, writers, |_| {})
}

/// Sorts like [`sort`], but never in buckets: the general sort must be right by itself.
fn sort_in_runs(items: &Items, memory_bytes: u64, writers: usize) -> Result<SortedItems> {
    let sorted = sort_with(items, memory_bytes, writers, |sorter| {
        sorter.partitioner.set(None).expect("no writer has sampled items yet");
    })?;
    assert!(sorted.runs.buckets.is_empty());
    Ok(sorted)
}

fn sort_with(items: &Items, memory_bytes: u64, writers: usize, set_up: impl FnOnce(&Sorter)) -> Result<SortedItems> {
    let (options, folder) = options(memory_bytes, writers);
    let sorter = Sorter::new(options);
    set_up(&sorter);
    fill(&sorter, items, writers)?;
    let sorted = sorter.finish();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "no temporary file has a name");
    sorted
}

/// Sorts like [`sort`], but half of the items come sorted from an ordered writer.
fn sort_half(items: &Items, memory_bytes: u64, writers: usize) -> Result<SortedItems> {
    let (options, _folder) = options(memory_bytes, writers);
    let sorter = Sorter::new(options);
    let (ordered, others) = items.split_at(items.len().div_ceil(2));
    fill(&sorter, &others.to_vec(), writers)?;
    let mut ordered = ordered.to_vec();
    ordered.sort();
    let mut writer = sorter.ordered_writer(ordered.len() as u64, ordered.iter().map(|item| item.len() as u64).sum())?;
    ordered.iter().try_for_each(|item| writer.push(item))?;
    writer.finish()?;
    sorter.finish()
}

fn read(sorted: &SortedItems, ranks: Range<u64>) -> Result<Items> {
    let mut merge = sorted.range(ranks)?;
    let mut items = Items::new();
    while let Some(item) = merge.next()? {
        items.push(item.to_vec());
    }
    assert!(merge.next()?.is_none());
    Ok(items)
}

/// Returns whether these ranks hold exactly the expected items.
fn holds(sorted: &SortedItems, ranks: Range<u64>, expected: &[&[u8]]) -> bool {
    let mut merge = sorted.range(ranks).unwrap();
    expected.iter().all(|item| merge.next().unwrap() == Some(item)) && merge.next().unwrap().is_none()
}

fn in_order(items: &Items) -> Vec<&[u8]> {
    let mut items: Vec<&[u8]> = items.iter().map(Vec::as_slice).collect();
    items.sort_unstable();
    items
}

/// Checks the ranks of an item and of keys right beside it, most of which are not among the items.
fn check_ranks(sorted: &SortedItems, expected: &[&[u8]], item: &[u8]) {
    let before = &item[..item.len().saturating_sub(1)];
    for key in [before, item, &[item, &[0]].concat(), &[before, &[0xff]].concat()] {
        let rank = expected.partition_point(|item| *item < key);
        assert_eq!(sorted.rank(key).unwrap(), rank as u64, "{key:?}");
    }
}

const SMALL: u64 = 64 << 10;
const LARGE: u64 = 64 << 20;

/// Sorts with each budget and number of writers. Compares the complete result and some ranges.
fn check(items: &Items) {
    let expected = in_order(items);
    for (memory_bytes, writers) in [(SMALL, 1), (SMALL, 4), (1 << 20, 2), (LARGE, 1), (LARGE, 4)] {
        let sorted = sort(items, memory_bytes, writers).unwrap();
        assert_eq!(sorted.len(), items.len() as u64);
        assert_eq!(sorted.item_bytes(), items.iter().map(|item| item.len() as u64).sum::<u64>());
        assert!(holds(&sorted, 0..sorted.len(), &expected), "{memory_bytes} bytes, {writers} writers");
        for start in (0..items.len()).step_by(items.len() / 7 + 1) {
            let end = items.len().min(start + 50);
            let ranks = start as u64..end as u64;
            assert!(holds(&sorted, ranks, &expected[start..end]), "{memory_bytes} bytes, from {start}");
            check_ranks(&sorted, &expected, expected[start]);
        }
        assert_eq!((sorted.rank(&[]).unwrap(), sorted.rank(&[0xff; 600]).unwrap()), (0, sorted.len()));
        if !items.is_empty() {
            let sorted = sort_half(items, memory_bytes, writers).unwrap();
            assert!(holds(&sorted, 0..sorted.len(), &expected), "{memory_bytes} bytes, half in order");
        }
    }
}

#[test]
fn nothing_and_one() {
    check(&vec![]);
    check(&vec![vec![]]);
    check(&vec![b"a".to_vec()]);
    check(&vec![vec![7; 100_000]]);
}

#[test]
fn kinds_of_keys() {
    let mut random = random();
    let count = 12_000_u64;
    let digits = |number: u64| format!("{:06}", number % 1_000_000).into_bytes();
    check(&(0..count).map(|number| number.to_be_bytes().to_vec()).collect());
    check(&(0..count).rev().map(|number| number.to_be_bytes().to_vec()).collect());
    check(&numbered((0..count).map(|_| digits(random()))));
    check(&numbered((0..count).map(|_| [b"AAAA", b"BBBB", b"CCCC"][(random() % 3) as usize].to_vec())));
    check(&numbered((0..count).map(|_| random().to_be_bytes().repeat(2))));
    // Some items of each kind, which only their ends distinguish.
    let kinds: Items = (0..count / 4).map(|_| random().to_be_bytes().repeat(4)).collect();
    check(&numbered((0..count).map(|_| kinds[(random() % 3000) as usize].clone())));
    check(&numbered((0..count).map(|_| vec![b'x'; (random() % 40) as usize])));
    check(&numbered((0..count / 8).map(|_| [vec![b'p'; 150], digits(random() % 700)].concat())));
}

#[test]
fn ever_longer_common_prefixes() {
    check(&numbered((0..700).map(|length| vec![b'a'; length])));
    check(&numbered((0..700).rev().map(|length| vec![b'a'; length])));
}

#[test]
fn ever_wider_items() {
    check(&numbered((0..6000).map(|number| vec![b"abcdefg"[number % 7]; number / 150])));
    check(&numbered((0..6000).map(|number| vec![b'a'; if number % 2000 == 1999 { 5000 } else { number % 5 }])));
}

#[test]
fn giant_items_are_runs_of_their_own() {
    let giants = [(3, 300_000), (1, 300_000), (2, 90_000)];
    let small = (0..3000).map(|number: u32| number.to_be_bytes().to_vec());
    check(&numbered(giants.iter().map(|&(byte, len)| vec![byte; len]).chain(small)));
}

/// Checks with memories that are large enough for buckets, with and without spilling.
fn check_buckets(items: &Items, in_buckets: bool) {
    let expected = in_order(items);
    for (memory_bytes, writers) in [(24 << 20, 1), (512 << 20, 1), (512 << 20, 3)] {
        let sorted = sort(items, memory_bytes, writers).unwrap();
        if writers == 1 && sorted.runs.spilled.is_empty() {
            assert_eq!(!sorted.runs.buckets.is_empty(), in_buckets, "{memory_bytes} bytes");
        }
        assert_eq!(sorted.item_bytes(), items.iter().map(|item| item.len() as u64).sum::<u64>());
        assert!(holds(&sorted, 0..sorted.len(), &expected), "{memory_bytes} bytes, {writers} writers");
        for start in (0..items.len()).step_by(items.len() / 23 + 1) {
            let end = items.len().min(start + 50);
            let ranks = start as u64..end as u64;
            assert!(holds(&sorted, ranks, &expected[start..end]), "{memory_bytes} bytes, from {start}");
        }
    }
    let sorted = sort_in_runs(items, 24 << 20, 2).unwrap();
    assert!(holds(&sorted, 0..sorted.len(), &expected), "without buckets");
}

#[test]
fn items_in_buckets() {
    let mut random = random();
    let count = 400_000_u32;
    let mut digits = || format!("{:06}", random() % 1_000_000).into_bytes();
    check_buckets(&numbered((0..count).map(|_| digits())), true);
    check_buckets(&numbered((0..count).map(|number| [digits(), vec![7; number as usize % 40]].concat())), true);
    // Longer items come when the shorter ones already have buckets.
    check_buckets(&numbered((0..count).map(|number| [digits(), vec![7; number as usize / 5000]].concat())), true);
    let giant = |number: u32| if number % 100_000 == 99_999 { 600_000 } else { 40 };
    check_buckets(&numbered((0..count).map(|number| [digits(), vec![7; giant(number)]].concat())), true);
}

/// Enough memory for buckets, but only for less than six megabytes in them.
const NARROW: u64 = 9 << 20;

/// Sorts with one writer, and compares the complete result and some ranges. Returns the sort.
fn check_narrow(items: &Items) -> SortedItems {
    let sorted = sort(items, NARROW, 1).unwrap();
    let expected = in_order(items);
    assert_eq!(sorted.item_bytes(), items.iter().map(|item| item.len() as u64).sum::<u64>());
    assert!(holds(&sorted, 0..sorted.len(), &expected));
    for start in (0..items.len()).step_by(items.len() / 11 + 1) {
        let end = items.len().min(start + 70_000);
        assert!(holds(&sorted, start as u64..end as u64, &expected[start..end]), "from {start}");
    }
    sorted
}

/// Makes items like [`numbered`], but all numbers have the varying bits of the first ones.
fn scattered(keys: impl IntoIterator<Item = Vec<u8>>) -> Items {
    keys.into_iter()
        .zip(0_u32..)
        .map(|(key, number)| item(&key, number.wrapping_mul(0x9e37_79b1) & 0xff_ffff))
        .collect()
}

fn random_digits() -> impl FnMut() -> Vec<u8> {
    let mut random = random();
    move || format!("{:06}", random() % 1_000_000).into_bytes()
}

#[test]
fn buckets_that_memory_cannot_hold_are_written_unsorted() {
    let mut digits = random_digits();
    let words = check_narrow(&scattered((0..1_150_000).map(|_| digits())));
    let long = check_narrow(&scattered((0..160_000).map(|_| [digits(), vec![7; 40]].concat())));
    for sorted in [words, long] {
        assert!(sorted.runs.spilled.is_empty(), "{} runs", sorted.runs.spilled.len());
        let written = sorted.runs.buckets.written_bytes();
        assert!(written > 1 << 19, "{written} bytes");
    }
}

/// A bucket's keys have too few bytes for the keys behind its last digit: `:` to `?`, which no sampled item has.
#[test]
fn packed_keys_without_a_bucket() {
    let mut digits = random_digits();
    let others =
        |number: usize| if number.is_multiple_of(1000) { b':' + u8::try_from(number / 1000 % 6).unwrap() } else { 0 };
    let keys = (0..300_000).map(|number| {
        let mut key = digits();
        key[number % 6] = key[number % 6].max(if number > 150_000 { others(number) } else { 0 });
        key
    });
    let items = scattered(keys.collect::<Vec<_>>());
    for memory_bytes in [NARROW, 64 << 20] {
        let sorted = sort(&items, memory_bytes, 1).unwrap();
        let in_buckets = sorted.runs.buckets.len();
        assert!(in_buckets < sorted.len() && in_buckets > sorted.len() / 10 * 9, "{in_buckets} items");
        let expected = in_order(&items);
        assert!(holds(&sorted, 0..sorted.len(), &expected), "{memory_bytes} bytes");
    }
}

/// Makes entries of an index over six digits: a text and a rowid.
fn entries(rowids: impl IntoIterator<Item = i64>, digits: &mut impl FnMut() -> Vec<u8>) -> Items {
    let entry = |rowid| {
        let mut item = [&[0xfd][..], &digits(), &[0]].concat();
        litepress_format::sort_key::push_rowid(rowid, &mut item);
        item
    };
    rowids.into_iter().map(entry).collect()
}

/// Packed keys are deltas from one rowid to the next. They are escaped if a delta does not fit, and sorted otherwise
/// if rowids descend, or if the writers' turns are shorter than a delta reaches.
#[test]
fn rowids_in_every_order() {
    let count = 250_000_i64;
    let mut digits = random_digits();
    let mut random = random();
    let mut few = move || vec![b'1' + u8::try_from(random() % 3).unwrap(); 6];
    let longer = (1 << 21) - 150_000;
    check_buckets(&entries(longer..longer + count, &mut digits), true);
    check_buckets(&entries(longer..longer + count, &mut few), false);
    // A digit that no sampled item has sorts before all others and comes later.
    let mut late = 0;
    let mut from_three = || {
        late += 1;
        let mut digits = digits();
        digits[0] = digits[0].max(if late > 200_000 { b'0' } else { b'3' });
        digits
    };
    check_buckets(&entries(longer..longer + count, &mut from_three), true);
    check_buckets(&entries((0..count).map(|row| row * 10), &mut digits), true);
    check_buckets(&entries((0..count).map(|row| row + row / 40_000 * 10_000_000), &mut digits), true);
    check_buckets(&entries((0..count).map(|row| if row < 150_000 { row } else { 9_999_999 - row }), &mut digits), true);
    check_buckets(
        &entries((0..count).map(|row| if row < 120_000 { row } else { row * 7919 % count }), &mut digits),
        true,
    );
    check_buckets(&entries(-70_000..count - 70_000, &mut digits), true);
    check_narrow(&entries(longer..longer + 4 * count, &mut digits));
}

/// Short items that were staged beside a long one were counted as long ones, which a bucket of packed keys does not
/// have: ranks were wrong, or a negative size of memory was requested.
#[test]
fn entries_and_a_long_item() {
    let mut digits = random_digits();
    let mut items = entries(2_000_000..2_400_000, &mut digits);
    let long = [&[0xfd][..], &[b'5'; 60], &[0, 0x81]].concat();
    // Among the first items of the second writer, and when all have their buckets.
    for at in [300, 350_000] {
        let short = std::mem::replace(&mut items[at], long.clone());
        let expected = in_order(&items);
        for writers in [1, 2] {
            let sorted = sort(&items, 512 << 20, writers).unwrap();
            assert_eq!(sorted.len(), items.len() as u64);
            for start in (0..items.len()).step_by(30_011) {
                let end = items.len().min(start + 3000);
                let ranks = start as u64..end as u64;
                assert!(holds(&sorted, ranks, &expected[start..end]), "{at}, {writers} writers, from {start}");
            }
            assert!(holds(&sorted, 0..sorted.len(), &expected), "{at}, {writers} writers");
        }
        items[at] = short;
    }
}

/// An entry takes three bytes instead of six or eight if rows come by ascending rowid.
#[test]
fn entries_take_few_bytes_where_rowids_ascend() {
    let mut digits = random_digits();
    let bytes_each = |items: &Items| {
        let sorted = sort(items, 512 << 20, 1).unwrap();
        // Each of a thousand buckets has a half-full block.
        sorted.runs.buckets.memory_bytes().saturating_sub(1000 * 2048) as f64 / items.len() as f64
    };
    let ascend = bytes_each(&entries(5_000_000..7_000_000, &mut digits));
    assert!(ascend < 3.4, "{ascend} bytes");
    // Without a zero in front, like customer numbers.
    let mut from_one = || [&[b'1' + digits()[0] % 9][..], &digits()[..5]].concat();
    let ascend = bytes_each(&entries(5_000_000..7_000_000, &mut from_one));
    assert!(ascend < 3.4, "{ascend} bytes");
    let scattered = bytes_each(&entries((0..1_000_000).map(|row| row * 7919 % 999_983), &mut digits));
    assert!((5.5..6.5).contains(&scattered), "{scattered} bytes");
}

/// Checks that items assembled in their buckets equal those pushed whole: at the end of a block, at the end of
/// memory, and if they are too short or too long for it.
#[test]
fn items_pushed_in_parts() {
    let (mut random, filler) = (random(), vec![7; 9000]);
    let prefix_with = |number: u32, random: u64, key_len: usize| {
        let words = [random | 1 << 63, u64::from(number) << 32 | 0x0101_0101];
        KeyPrefix {
            words: [words[0], words[1] >> (8 * (16 - key_len - 4)) << (8 * (16 - key_len - 4))],
            key_len,
            len: key_len + 4,
        }
    };
    let body_len = |number: u32| match number % 1000 {
        0 => 9000,
        1 => 700,
        2 => 3,
        _ => number as usize % 90,
    };
    let count = 150_000;
    let rows: Vec<(KeyPrefix, usize)> =
        (0..count).map(|number| (prefix_with(number, random(), 8 + number as usize % 5), body_len(number))).collect();
    let split =
        |&(prefix, body_len): &(KeyPrefix, usize)| SplitItem { prefix, body: &filler[..body_len], tail: [9, 9] };
    let whole = |row: &(KeyPrefix, usize)| {
        let split = split(row);
        [&split.prefix.words.map(u64::to_be_bytes).concat()[..split.prefix.len], split.body, &split.tail].concat()
    };
    let items: Items = rows.iter().map(whole).collect();
    let expected = in_order(&items);
    for memory_bytes in [NARROW, 256 << 20] {
        let (options, _folder) = options(memory_bytes, 1);
        let sorter = Sorter::new(options);
        let (mut writer, mut split_items) = (sorter.writer(), 0);
        for rows in rows.chunks(SplitItem::AT_ONCE) {
            let mut left: Vec<_> = rows.iter().map(|row| (row, split(row))).collect();
            if writer.accepts_split() {
                writer.push_split(&mut left);
                split_items += rows.len() - left.len();
            }
            left.iter().for_each(|(row, _)| writer.push(&whole(row)).unwrap());
        }
        writer.finish().unwrap();
        let sorted = sorter.finish().unwrap();
        assert!(holds(&sorted, 0..sorted.len(), &expected), "{memory_bytes} bytes");
        assert_eq!(sorted.item_bytes(), expected.iter().map(|item| item.len() as u64).sum::<u64>());
        assert!(split_items > rows.len() / 3, "{split_items} items in {memory_bytes} bytes");
    }
}

/// If some blocks of a bucket were already written, the other ones could not be.
#[test]
fn buckets_of_a_finished_writer_make_way_for_the_next() {
    let mut digits = random_digits();
    let items = scattered((0..160_000).map(|_| [digits(), vec![7; 40]].concat()));
    let (options, _folder) = options(NARROW, 1);
    let sorter = Sorter::new(options);
    let (first, second) = items.split_at(140_000);
    fill(&sorter, &first.to_vec(), 1).unwrap();
    let written = sorter.state().runs.buckets.written_bytes();
    fill(&sorter, &second.to_vec(), 1).unwrap();
    let sorted = sorter.finish().unwrap();
    assert!(written > 0 && sorted.runs.buckets.written_bytes() > written);
    let expected = in_order(&items);
    assert!(holds(&sorted, 0..sorted.len(), &expected));
}

#[test]
fn strays_among_written_buckets_are_runs_of_their_own() {
    let mut digits = random_digits();
    let mut stray = |number: u32| if number % 20 == 19 { [vec![b'x'], digits()].concat() } else { digits() };
    let sorted = check_narrow(&scattered((0..1_500_000).map(&mut stray)));
    assert!(!sorted.runs.spilled.is_empty() && sorted.runs.buckets.written_bytes() > 0);
    // At some point all items are strays: the buckets take no more items, and remain.
    let mut other = |number: u32| if number > 1_000_000 { [vec![b'x'], digits()].concat() } else { digits() };
    let sorted = check_narrow(&scattered((0..1_500_000).map(&mut other)));
    let in_buckets = sorted.runs.buckets.len();
    assert!(!sorted.runs.spilled.is_empty() && in_buckets > 900_000, "{in_buckets} in buckets");
    // Wider items come after much is written.
    let mut wider = |number: u32| if number > 1_200_000 { [digits(), vec![7; 30]].concat() } else { digits() };
    check_narrow(&scattered((0..1_150_000).map(&mut wider)));
    let mut wider = |number: u32| [digits(), vec![7; 12 + number as usize / 20_000]].concat();
    check_narrow(&scattered((0..300_000).map(&mut wider)));
}

#[test]
fn buckets_too_large_to_be_sorted_make_way_for_runs() {
    let mut digits = random_digits();
    let sorted = check_narrow(&scattered((0..900_000).map(|_| [digits(), vec![7; 30]].concat())));
    let budget = Budget::new(NARROW, 1);
    let longest = sorted.runs.spilled.iter().map(SpilledRun::item_bytes).max().unwrap();
    assert!(longest > budget.buffer_bytes as u64 / 2, "ordinary runs: {longest} bytes");
    assert!(sorted.runs.spilled.len() < 20, "{} runs", sorted.runs.spilled.len());
}

#[test]
fn damaged_buckets_are_an_error() {
    let mut digits = random_digits();
    let items = numbered((0..250_000).map(|_| [digits(), vec![7; 40]].concat()));
    for (block, byte) in [(0, 0), (7, 0xff), (100, 7)] {
        let sorted = sort(&items, NARROW, 1).unwrap();
        sorted.runs.buckets.file().damage(block, byte);
        let error = read(&sorted, 0..sorted.len()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.to_string().contains("does not hold what was written to it"), "{error}");
    }
    let sorted = sort(&items, NARROW, 1).unwrap();
    sorted.runs.buckets.file().truncate(8192);
    assert_eq!(read(&sorted, 0..sorted.len()).unwrap_err().kind(), ErrorKind::Io);
}

#[test]
fn short_items_in_buckets() {
    // Some end within the bits that tell the bucket; zeros follow others.
    let mut random = random();
    let mut short = |_| {
        let number = random() % 40_000;
        let bytes = number.to_be_bytes();
        if number < 200 { vec![1, bytes[7]] } else { [&[2][..], &bytes[6..], &(random() >> 16).to_be_bytes()].concat() }
    };
    let mut items: Items = (0..500_000).map(&mut short).collect();
    items.sort();
    items.dedup();
    for index in 0..items.len() {
        items.swap(index, usize::try_from(random() % (index as u64 + 1)).unwrap());
    }
    check_buckets(&items, true);
}

#[test]
fn items_that_are_not_like_the_first_ones() {
    let mut random = random();
    let mut number = |first: u8| [&[first][..], &random().to_be_bytes(), &random().to_be_bytes()].concat();
    // A few items without a bucket; nearly all items in one bucket; most items without a bucket.
    check_buckets(&(0..500_000).map(|index| number(u8::from(index % 1000 == 999))).collect(), true);
    let one = |index: u32, item: Vec<u8>| if index > 150_000 { [&[0, 7, 7][..], &item[3..]].concat() } else { item };
    check_buckets(&(0..500_000).map(|index| one(index, number(0))).collect(), true);
    check_buckets(&(0..500_000).map(|index| number(u8::from(index > 120_000))).collect(), false);
    check_buckets(&(0..300_000_u64).map(|number| number.to_be_bytes().repeat(3)).collect(), false);
}

#[test]
fn every_range_of_a_small_sort() {
    let mut random = random();
    let items = numbered((0..150).map(|_| vec![b'a' + (random() % 3) as u8; 200]));
    let expected = in_order(&items);
    let sorted = sort(&items, SMALL, 4).unwrap();
    assert!(sorted.runs.spilled.len() > 1, "spilled");
    for start in 0..=items.len() {
        for end in start..=items.len() {
            assert!(holds(&sorted, start as u64..end as u64, &expected[start..end]), "{start}..{end}");
        }
    }
}

#[test]
fn ranges_are_read_by_several_threads() {
    let mut random = random();
    let items = numbered((0..40_000).map(|_| random().to_be_bytes().to_vec()));
    let expected = in_order(&items);
    let sorted = sort(&items, 1 << 20, 2).unwrap();
    std::thread::scope(|scope| {
        for part in 0..4 {
            let (sorted, expected) = (&sorted, &expected);
            let ranks = part * 10_000..(part + 1) * 10_000;
            scope.spawn(move || {
                assert!(holds(sorted, ranks.start as u64..ranks.end as u64, &expected[ranks]));
            });
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_items(
        keys in prop::collection::vec(prop::collection::vec(0..4u8, 0..60), 0..1500),
        repeat in 1..4_usize,
        memory_bytes in SMALL..4 * SMALL,
        writers in 1..5_usize,
        split in any::<prop::sample::Index>(),
    ) {
        let items = numbered(std::iter::repeat_n(keys, repeat).flatten());
        let expected = in_order(&items);
        let sorted = sort(&items, memory_bytes, writers).unwrap();
        let middle = split.index(items.len() + 1);
        prop_assert!(holds(&sorted, 0..middle as u64, &expected[..middle]));
        prop_assert!(holds(&sorted, middle as u64..sorted.len(), &expected[middle..]));
    }
}

#[test]
fn many_runs_are_merged_into_few() {
    let items = numbered((0..60_000_u32).map(|number| number.wrapping_mul(0x9e37_79b9).to_be_bytes().to_vec()));
    let sorted = sort(&items, SMALL, 2).unwrap();
    let (options, _folder) = options(SMALL, 2);
    let budget = Budget::new(options.memory_bytes, options.writers);
    assert!(sorted.runs.spilled.len() <= budget.fan_in(sorted.runs.held_bytes()));
    assert!(sorted.runs.spilled.len() > 1);
    let longest = sorted.runs.spilled.iter().map(SpilledRun::len).max().unwrap();
    assert!(longest * 16 > 2 * budget.buffer_bytes as u64, "a run of several runs");
}

#[test]
fn spilled_bytes_are_few() {
    let mut random = random();
    let kinds = [&b"\x30AAAA\0"[..], b"\x30BBBB\0", b"\x30CCCC\0"];
    let items = (0..40_000_u64).map(|rowid| [kinds[(random() % 3) as usize], &rowid.to_be_bytes()].concat());
    let sorted = sort(&items.collect(), 256 << 10, 1).unwrap();
    let (bytes, items) = sorted.runs.spilled.iter().fold((0, 0), |sum, run| (sum.0 + run.bytes(), sum.1 + run.len()));
    assert!(items > 20_000 && bytes < items * 5 / 2, "{bytes} bytes for {items} items");
}

#[test]
fn memory_stays_within_the_budget() {
    for memory_bytes in [64 << 20, 100 << 20, 512 << 20, 6 << 30] {
        for writers in [1, 2, 4, 16] {
            let budget = Budget::new(memory_bytes, writers);
            let filling = budget.writers * budget.writer_bytes() + budget.sparse_index_bytes;
            assert!(filling <= memory_bytes, "{memory_bytes} {writers}: {filling}");
            // A writer that is finished leaves at most one of its two memories, with the order in half of the other;
            // or its buckets and a small run.
            let held = budget.writers * budget.buffer_bytes as u64 * 3 / 2 + budget.sparse_index_bytes;
            let limits = budget.bucket_limits();
            let in_buckets =
                limits.memory_bytes + 3 * budget.unpartitioned_bytes() + 2 * (limits.write_bytes + ALIGNMENT);
            assert!(in_buckets <= 2 * budget.buffer_bytes, "{memory_bytes} {writers}");
            for runs in [1, budget.fan_in(held) / 2, budget.fan_in(held)] {
                let reads = 2 * (budget.read_bytes(held, runs) + ALIGNMENT) as u64 * runs as u64;
                let sorting = 3 * budget.sorted_bucket_bytes() + (budget.block_bytes + ALIGNMENT) as u64;
                let merging = held + budget.writers * (reads + sorting);
                assert!(merging <= memory_bytes, "{memory_bytes} {writers} {runs}: {merging}");
            }
        }
    }
}

#[test]
fn held_memory_is_what_the_budget_allows() {
    let items = numbered((0..60_000_u32).map(|number| number.wrapping_mul(0x9e37_79b9).to_be_bytes().to_vec()));
    let (options, _folder) = options(1 << 20, 2);
    let sorter = Sorter::new(options);
    for _ in 0..5 {
        fill(&sorter, &items, 2).unwrap();
        let state = sorter.state();
        assert_eq!(state.live, 0);
        assert!(state.runs.held_bytes() <= 1 << 20);
    }
    assert_eq!(sorter.finish().unwrap().len(), 300_000);
}

#[test]
fn a_truncated_file_is_an_error() {
    let items = numbered((0..40_000_u32).map(|number| number.wrapping_mul(0x9e37_79b9).to_be_bytes().to_vec()));
    let sorted = sort(&items, 256 << 10, 1).unwrap();
    sorted.runs.spilled[0].file().truncate(8192);
    let error = read(&sorted, 0..sorted.len()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().contains("temporary file"), "{error}");
}

/// A damaged item that compares less than it should made the rank of a key too large, which caused a panic.
#[test]
fn damaged_bytes_are_never_a_panic() {
    let items = numbered((0..40_000_u32).map(|number| number.wrapping_mul(0x9e37_79b9).to_be_bytes().to_vec()));
    let mut errors = 0;
    for (block, byte) in [(0, 0), (2, 0), (2, 0xff), (5, 0), (5, 7), (8, 0x80)] {
        let sorted = sort(&items, 256 << 10, 1).unwrap();
        sorted.runs.spilled[0].file().damage(block, byte);
        let ranges = [0..sorted.len(), sorted.len() / 2..sorted.len(), sorted.len() - 1..sorted.len()];
        errors += ranges.into_iter().filter(|range| read(&sorted, range.clone()).is_err()).count();
    }
    assert!(errors > 0, "some damage is noticed");
}

#[test]
fn a_missing_folder_is_an_error_that_names_it() {
    let items = numbered((0..40_000_u32).map(|number| number.to_be_bytes().to_vec()));
    let (mut options, folder) = options(SMALL, 1);
    options.temp_dir = folder.path().join("absent");
    let sorter = Sorter::new(options.clone());
    let error = fill(&sorter, &items, 1).unwrap_err();
    assert_eq!(error.place().file.as_deref(), Some(options.temp_dir.as_path()));
    assert!(error.to_string().contains("another folder for temporary files"), "{error}");
    // Without spilling the folder is not used.
    let sorter = Sorter::new(SortOptions { memory_bytes: LARGE, ..options });
    fill(&sorter, &items, 1).unwrap();
    assert_eq!(sorter.finish().unwrap().len(), 40_000);
}

/// Sorts on a disk that is full after `writes` writes.
fn sort_on_full_disk(items: &Items, memory_bytes: u64, writes: i64) -> ControlFlow<(), Error> {
    let (options, folder) = options(memory_bytes, 2);
    let sorter = Sorter::new(options);
    sorter.folder.writes_left.store(writes, Ordering::Relaxed);
    let done = fill(&sorter, items, 2).and_then(|()| sorter.finish());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
    done.err().map_or(ControlFlow::Break(()), ControlFlow::Continue)
}

#[test]
fn a_full_disk_is_an_error_whenever_it_happens() {
    let items = numbered((0..4_000_u32).map(|number| number.wrapping_mul(0x9e37_79b9).to_be_bytes().to_vec()));
    let mut digits = random_digits();
    let long = numbered((0..500_000).map(|_| [digits(), vec![7; 40]].concat()));
    // The first case writes runs and merged runs, the second one buckets.
    for (items, memory_bytes, step) in [(items, SMALL, 1), (long, 2 * NARROW, 9)] {
        let mut writes = 0;
        while let ControlFlow::Continue(error) = sort_on_full_disk(&items, memory_bytes, writes) {
            assert_eq!(error.kind(), ErrorKind::NoSpace);
            assert!(error.to_string().contains("another folder for temporary files"), "{error}");
            writes += step;
        }
        assert!(writes > 10, "{writes}");
    }
}

/// A run that could not be written left a memory so small that no item fitted, and finishing the writer never ended.
#[test]
fn a_writer_that_failed_can_be_finished() {
    let mut digits = random_digits();
    let items = numbered((0..250_000).map(|_| [digits(), vec![7; 40]].concat()));
    let strays = items.iter().map(|item| [&b"x"[..], item].concat());
    for items in [items.clone(), items.iter().take(20_000).cloned().chain(strays).collect()] {
        let (mut options, folder) = options(NARROW, 1);
        options.temp_dir = folder.path().join("absent");
        let sorter = Sorter::new(options);
        let mut writer = sorter.writer();
        let failures = items.iter().filter(|item| writer.push(item).is_err()).take(3).count();
        assert!(failures > 0);
        let _ = writer.finish();
    }
}

#[test]
#[should_panic(expected = "every writer of a sort is finished")]
fn a_forgotten_writer_is_noticed() {
    let (options, _folder) = options(SMALL, 1);
    let sorter = Sorter::new(options);
    sorter.writer().push(b"lost").unwrap();
    let _ = sorter.finish();
}
