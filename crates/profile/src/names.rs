//! Made-up texts that look like those of a column: by the name of the column, or by the letters and digits of each text.

use crate::describe::ColumnContext;
use crate::text_pattern;
use litepress_format::value::Value;
use litepress_gen::catalogue::Sample;
use litepress_gen::infer;
use litepress_rows::CellBlock;
use litepress_rows::cells::BLOCK_ROWS;
use std::collections::{BTreeMap, HashSet};

/// Returns the annotation that `generate` infers from the names of a table and a column, if these texts are like its texts.
pub(crate) fn generator(context: &ColumnContext<'_>, texts: &[Box<str>], is_unique: bool) -> Option<String> {
    let position = context.schema.position(&context.table.name)?;
    let generator = infer::text_by_name(context.schema, position, context.column, is_unique)?;
    // The addresses of a row's person are computed from the name, so that there is no sample of them.
    if is_unique && generator.contains('@') && texts.iter().all(|text| text.contains('@')) {
        return Some(generator);
    }
    is_like_generated(texts, &generator).then_some(generator)
}

/// Returns the texts of a generator in these rows.
pub(crate) fn values(generator: &str, rows: std::ops::Range<u64>) -> Option<Vec<String>> {
    let (sample, mut block, mut values) = (Sample::new(generator).ok()?, CellBlock::default(), Vec::new());
    for start in rows.clone().step_by(BLOCK_ROWS) {
        let some = start..rows.end.min(start + BLOCK_ROWS as u64);
        let length = usize::try_from(some.end - some.start).ok()?;
        sample.fill(some, &mut block);
        for row in 0..length {
            let Value::Text(text) = block.value(row) else { return None };
            values.push(String::from_utf8_lossy(text).into_owned());
        }
    }
    Some(values)
}

/// Returns whether texts are like those of a generator.
pub(crate) fn is_like_generated(texts: &[Box<str>], generator: &str) -> bool {
    values(generator, 0..64).is_some_and(|others| is_alike(texts, &others))
}

/// Returns whether texts have letters and digits in similar shares, and similar lengths.
fn is_alike(texts: &[Box<str>], others: &[String]) -> bool {
    let shares = |texts: &mut dyn Iterator<Item = &str>| {
        let (mut letters, mut digits, mut characters, mut count) = (0.0, 0.0, 0.0, 0.0_f64);
        for text in texts {
            letters += text.chars().filter(|c| c.is_alphabetic()).count() as f64;
            digits += text.chars().filter(char::is_ascii_digit).count() as f64;
            characters += text.chars().count() as f64;
            count += 1.0;
        }
        let characters = f64::max(characters, 1.0);
        [letters / characters, digits / characters, characters / count.max(1.0)]
    };
    let one = shares(&mut texts.iter().map(|text| &**text));
    let other = shares(&mut others.iter().map(String::as_str));
    let is_near = |at: usize| (one[at] - other[at]).abs() < 0.3;
    is_near(0) && is_near(1) && one[2] < 3.0 * other[2] && other[2] < 3.0 * one[2]
}

/// Returns the number of rows in which a generator has so many distinct texts; `None` if that takes half as many more, or
/// too many.
pub(crate) fn rows_of_distinct(generator: &str, wanted: u64) -> Option<u64> {
    const MOST: u64 = 20_000;
    let tried = wanted.min(MOST);
    let texts = values(generator, 0..tried + tried / 2 + 1)?;
    let mut seen = HashSet::new();
    let mut distinct = texts.iter().map(|text| {
        seen.insert(text.as_str());
        seen.len() as u64
    });
    let rows = distinct.position(|distinct| distinct == tried)? as u64 + 1;
    let scaled = u128::from(rows) * u128::from(wanted) / u128::from(tried.max(1));
    u64::try_from(scaled).ok()
}

/// Makes up distinct texts for these, in their order: values of the generator, or without one texts of similar letters and digits.
/// None is one of the given texts. `None` if the generator has too few values.
pub(crate) fn made_up(generator: Option<&str>, texts: &[&str], column: &str) -> Option<Vec<String>> {
    const TRIES: u64 = 40;
    const ROUNDS: u64 = 100;
    let is_short = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count() <= text_pattern::TOLD;
    let taken: HashSet<&str> = texts.iter().copied().collect();
    let start = column.bytes().fold(7_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte))) % 1000;
    let (mut names, mut seen) = (Vec::new(), HashSet::new());
    let longer = generator.and_then(longer_list);
    for generator in generator.into_iter().chain(longer) {
        if names.len() >= texts.len() {
            break;
        }
        let rows = start..start + 500 + TRIES * texts.len() as u64;
        let found = values(generator, rows).unwrap_or_default();
        names.extend(found.into_iter().filter(|text| !taken.contains(&**text) && seen.insert(text.clone())));
    }
    names.truncate(texts.len());
    if generator.is_some() && names.len() < texts.len() {
        return None;
    }
    let words = values("word", 0..2000).unwrap_or_default();
    for (rank, text) in texts.iter().enumerate().skip(names.len()) {
        let rank = rank as u64;
        let rounds = if is_short(text) { 10 * ROUNDS } else { ROUNDS };
        let mut round = 0;
        let name = loop {
            let mut name = like(text, start + rank + 7919 * round, &words);
            if round >= rounds {
                name += &(round - rounds + 1).to_string();
            }
            // Short texts may use up their shape: names then keep the shape, and some are texts of the source.
            let may_repeat = round >= ROUNDS && is_short(text);
            if (!taken.contains(&*name) || may_repeat) && !seen.contains(&name) || text.is_empty() && round == 0 {
                break name;
            }
            round += 1;
        };
        seen.insert(name.clone());
        names.push(name);
    }
    Some(names)
}

/// Makes up distinct texts for these, in their order: values of the generator that each text has, or else texts of similar letters and
/// digits. None is one of the given texts, unless a generator has hardly others.
pub(crate) fn made_up_one_by_one(
    texts: &[&str],
    column: &str,
    generator: &dyn Fn(&str) -> Option<String>,
) -> Option<Vec<String>> {
    const TRIES: u64 = 40;
    let taken: HashSet<&str> = texts.iter().copied().collect();
    let mut left: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut names = made_up(None, texts, column)?;
    let mut seen = HashSet::new();
    for (name, text) in names.iter_mut().zip(texts).filter(|(_, text)| !text.is_empty()) {
        let Some(generator) = generator(text) else { continue };
        let left = left.entry(generator).or_insert_with_key(|generator| {
            let found = values(generator, 0..500 + TRIES * texts.len() as u64).unwrap_or_default();
            let (again, others): (Vec<String>, Vec<String>) =
                found.into_iter().partition(|text| taken.contains(&**text));
            // The last one is used first.
            again.into_iter().chain(others.into_iter().rev()).collect()
        });
        while let Some(other) = left.pop() {
            if seen.insert(other.clone()) {
                *name = other;
                break;
            }
        }
    }
    Some(names)
}

/// Returns a generator of more names of the same kind, for a column with more of them than the generator has.
fn longer_list(generator: &str) -> Option<&'static str> {
    match generator {
        "place('country')" => Some("phrase('{country_name}')"),
        _ => None,
    }
}

/// Returns a generator of this many distinct texts of a list; `None` if it would put numbers behind them.
pub(crate) fn distinct(generator: &str, wanted: u64) -> Option<String> {
    const MOST: u64 = 1000;
    let pattern = generator.strip_prefix("phrase('")?.split('\'').next()?;
    let unique = format!("unique_phrase('{pattern}')");
    let texts = values(&unique, 0..wanted.min(MOST))?;
    let longest = generator.rsplit_once("', ").and_then(|(_, rest)| rest.strip_suffix(')')?.parse().ok());
    let is_name = |text: &String| {
        !text.ends_with(|c: char| c.is_ascii_digit())
            && longest.is_none_or(|longest: usize| text.chars().count() <= longest)
    };
    texts.iter().all(is_name).then_some(unique)
}

/// Makes up a text with other words of about the same lengths, and other letters and digits in short codes.
fn like(text: &str, salt: u64, words: &[String]) -> String {
    const LONGEST: usize = 40;
    const SHORT: usize = 3;
    let random = |place: usize| crate::sketch::hash_int(salt.wrapping_mul(1000).wrapping_add(place as u64));
    let pick = |place: usize, of: &[u8]| {
        char::from(of[usize::try_from(random(place) % of.len() as u64).expect("a small index")])
    };
    let characters: Vec<char> = text.chars().take(LONGEST).collect();
    let digits = characters.iter().filter(|c| c.is_ascii_digit()).count();
    let mut made = String::new();
    for run in characters.chunk_by(|one, next| one.is_alphabetic() && next.is_alphabetic()) {
        let place = made.len();
        let first = run[0];
        if first.is_alphabetic() && run.len() > SHORT {
            let longest = words.iter().map(String::len).max().unwrap_or(0);
            let near = |word: &&String| word.len().abs_diff(run.len().min(longest)) <= 2;
            let near: Vec<&String> = words.iter().filter(near).collect();
            let word = near[usize::try_from(random(place) % near.len() as u64).expect("a small index")];
            let is_upper = run.iter().all(|c| c.is_uppercase());
            let mut letters = word.chars();
            match letters.next() {
                Some(initial) if is_upper => {
                    made.push(initial.to_ascii_uppercase());
                    made.extend(letters.map(|c| c.to_ascii_uppercase()));
                }
                Some(initial) if first.is_uppercase() => {
                    made.push(initial.to_ascii_uppercase());
                    made.extend(letters);
                }
                _ => made.push_str(word),
            }
            continue;
        }
        for (at, c) in run.iter().enumerate() {
            let is_in_number = made.ends_with(|before: char| before.is_ascii_digit());
            made.push(match c {
                // A long number is not told by its zeros.
                '0' if is_in_number && digits > SHORT => pick(place + at, b"0123456789"),
                '0' => '0',
                c if c.is_ascii_digit() => pick(place + at, b"123456789"),
                c if c.is_uppercase() => pick(place + at, b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
                c if c.is_alphabetic() => pick(place + at, b"abcdefghijklmnopqrstuvwxyz"),
                c if c.is_ascii() || !c.is_alphanumeric() => *c,
                _ => '-',
            });
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProfileOptions;
    use litepress_rows::Schema;

    /// People of a look-alike were called `Titcj`, and lived in `eeeeeee`.
    #[test]
    fn columns_are_known_by_their_names() {
        let sql = "CREATE TABLE Customer (FirstName TEXT, City TEXT, BillingCity TEXT, Country TEXT, nickname TEXT);
            CREATE TABLE Employees (LastName TEXT);
            CREATE TABLE Artist (Name TEXT);
            CREATE TABLE Genre (Name TEXT);
            CREATE TABLE country (name TEXT UNIQUE);
            CREATE TABLE t (x TEXT);";
        let schema = Schema::from_sql(sql, "names.sql").expect(sql);
        let options = ProfileOptions { threads: 1, keep_values: false };
        for (column, texts, expected) in [
            ("Customer.FirstName", &["Ada", "Grace"][..], Some("phrase('{first}')")),
            ("Employees.LastName", &["Lovelace"], Some("phrase('{last}')")),
            ("Customer.BillingCity", &["Paris", "Marseille"], Some("place('city')")),
            ("Customer.Country", &["France"], Some("place('country')")),
            ("Customer.nickname", &["adalove"], Some("phrase('{handle}')")),
            ("Artist.Name", &["The Quiet Lovelaces"], Some("phrase('{band}')")),
            ("Genre.Name", &["Rock"], Some("phrase('{genre}')")),
            ("country.name", &["France", "Portugal"], Some("unique_phrase('{country_name}')")),
            ("t.x", &["some words"], None),
            // A name that says something else than the texts.
            ("Customer.City", &["17", "23"], None),
            ("Customer.Country", &["DE 49 12345"], None),
        ] {
            let (table, name) = column.split_once('.').expect("two names");
            let table = schema.table(table).expect("a table");
            let at = table.column(name).expect("a column");
            let context = ColumnContext { schema: &schema, table, column: at, options: &options, is_fixed: false };
            let texts: Vec<Box<str>> = texts.iter().map(|text| Box::from(*text)).collect();
            let found = generator(&context, &texts, infer::is_key_alone(table, at));
            assert_eq!(found.as_deref(), expected, "{column}");
        }
    }

    #[test]
    fn made_up_texts_are_distinct_and_others() {
        let texts = ["new", "old", "", "x", "Rock And Roll", "PAID", "A-12", "ä"];
        let names = made_up(None, &texts, "c").expect("no list");
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), texts.len(), "{names:?}");
        assert!(names[2].is_empty() && names.iter().zip(texts).all(|(name, text)| name != text || text.is_empty()));
        assert!(names[5].chars().all(|c| c.is_ascii_uppercase()), "{names:?}");
        assert!(names[6].starts_with(|c: char| c.is_ascii_uppercase()) && names[6].contains('-'), "{names:?}");
        let digits: Vec<String> = (0..300).map(|number| number.to_string()).collect();
        let digits: Vec<&str> = digits.iter().map(String::as_str).collect();
        let names = made_up(None, &digits, "c").expect("no list");
        assert_eq!(names.into_iter().collect::<HashSet<_>>().len(), 300);
        let cities = made_up(Some("city"), &["Paris", "London"], "city").expect("other cities");
        assert!(!cities.contains(&"Paris".to_owned()) && !cities.contains(&"London".to_owned()), "{cities:?}");
    }
}
