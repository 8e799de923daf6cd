//! Names of tables and columns, in one form: words in lower case, with underscores between them.

use litepress_rows::schema::Table;

/// Normalizes `createdAt`, `Created-At` and `CREATED_AT` to `created_at`.
pub(crate) fn plain(name: &str) -> String {
    let mut plain = String::new();
    let mut was_lower = false;
    for c in name.chars() {
        if c.is_uppercase() && was_lower {
            plain.push('_');
        }
        was_lower = c.is_lowercase();
        match c {
            '-' | ' ' | '.' => plain.push('_'),
            _ => plain.extend(c.to_lowercase()),
        }
    }
    plain
}

/// Returns whether this is the plain form of a name. Most names differ in their first letter, which costs nothing.
pub(super) fn is_plain(name: &str, wanted: &str) -> bool {
    let first = |name: &str| name.as_bytes().first().map(u8::to_ascii_lowercase);
    first(name) == first(wanted) && plain(name) == wanted
}

/// Returns the plain name of a column without the letters of its table with which all columns begin: `status` for `o_status` of
/// `orders`. Core Data puts a Z in front of all names: `date_created` for `ZDATECREATED` of `ZASSET`.
pub(crate) fn bare(table: &Table, column: &str) -> String {
    const LONGEST: usize = 3;
    let (name, of) = (plain(column), plain(&table.name));
    let all_begin = |prefix: &str| {
        table.columns.len() > 1 && table.columns.iter().all(|column| plain(&column.name).starts_with(prefix))
    };
    let initials =
        name.split_once('_').filter(|(letters, _)| letters.len() <= LONGEST).map_or("", |(letters, _)| letters);
    let is_initials = of.starts_with(|c| initials.starts_with(c)) && all_begin(&format!("{initials}_"));
    let is_of_core_data =
        of.starts_with('z') && all_begin("z") && table.columns.iter().any(|column| column.name == "Z_PK");
    match name.strip_prefix(initials).and_then(|rest| rest.strip_prefix('_')).filter(|_| is_initials) {
        Some(rest) => apart(rest),
        None if is_of_core_data => apart(name.trim_start_matches('z').trim_start_matches('_')),
        None => name,
    }
}

/// Puts an underscore between two words that are written as one: `order_date` for `orderdate`.
fn apart(name: &str) -> String {
    const LAST: &str = "created modified attributes number folder status count price state date name size cost data kind time bal key qty";
    const LEAST: usize = 3;
    let first = |last: &str| name.strip_suffix(last).filter(|first| first.len() >= LEAST && !name.contains('_'));
    let pair = LAST.split(' ').find_map(|last| Some(format!("{}_{last}", first(last)?)));
    pair.unwrap_or_else(|| name.to_owned())
}

/// Returns the singular of an English plural.
pub(super) fn singular(word: &str) -> String {
    match word {
        "people" => return "person".to_owned(),
        "children" => return "child".to_owned(),
        "status" | "address" | "news" | "series" | "species" | "os" | "gps" | "dns" | "sms" | "class" | "business"
        | "process" | "access" | "progress" => return word.to_owned(),
        _ => {}
    }
    for (plural, one) in [("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("uses", "us")] {
        if let Some(stem) = word.strip_suffix(plural).filter(|stem| stem.len() > 1) {
            return format!("{stem}{one}");
        }
    }
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > 1 && !stem.ends_with('s') => stem.to_owned(),
        _ => word.to_owned(),
    }
}

/// Returns the whole word that an abbreviation stands for: `repository` for `repo`.
pub(crate) fn expanded(word: &str) -> &str {
    const SHORT: [(&str, &str); 14] = [
        ("acct", "account"),
        ("cat", "category"),
        ("conv", "conversation"),
        ("cust", "customer"),
        ("dept", "department"),
        ("emp", "employee"),
        ("grp", "group"),
        ("lang", "language"),
        ("loc", "location"),
        ("msg", "message"),
        ("org", "organization"),
        ("prod", "product"),
        ("repo", "repository"),
        ("usr", "user"),
    ];
    SHORT.iter().find(|(short, _)| *short == word).map_or(word, |(_, whole)| whole)
}

/// Returns the words of a table's name, each in the singular.
pub(crate) fn words_of_table(name: &str) -> Vec<String> {
    let plain = plain(name);
    let words = plain
        .split('_')
        .map(|word| if word.len() > 3 { word.trim_end_matches(|c: char| c.is_ascii_digit()) } else { word });
    words.filter(|word| !word.is_empty()).map(singular).collect()
}

/// Returns whether a plain name matches a pattern: `*_at` the end, `is_*` the beginning, `*mail*` any part.
pub(super) fn matches(name: &str, pattern: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(part), Some(_)) => name.contains(part.trim_end_matches('*')),
        (Some(end), None) => name.ends_with(end),
        (None, Some(begin)) => name.starts_with(begin),
        (None, None) => name == pattern,
    }
}

/// Returns whether a plain name matches one of the patterns, which are separated by blanks.
pub(super) fn is_like(name: &str, patterns: &str) -> bool {
    patterns.split(' ').any(|pattern| matches(name, pattern))
}

#[cfg(test)]
mod tests {
    use super::*;
    use litepress_rows::schema::Schema;

    #[test]
    fn names_are_compared_plainly() {
        for (name, expected) in [
            ("createdAt", "created_at"),
            ("CREATED_AT", "created_at"),
            ("First Name", "first_name"),
            ("userID", "user_id"),
        ] {
            assert_eq!(plain(name), expected);
        }
    }

    /// The status of an order was "tree": `o_orderstatus` said nothing.
    #[test]
    fn columns_have_names_without_the_letters_of_their_table() {
        for (table, expected) in [
            ("orders (o_orderkey INTEGER, o_orderstatus TEXT)", ["order_key", "order_status"]),
            ("partsupp (ps_availqty INTEGER, ps_comment TEXT)", ["avail_qty", "comment"]),
            ("ZASSET (Z_PK INTEGER PRIMARY KEY, ZDATECREATED TIMESTAMP)", ["pk", "date_created"]),
            ("orders (o_orderdate TEXT, orderstatus TEXT)", ["o_orderdate", "orderstatus"]),
            ("orders (is_paid INTEGER, is_sent INTEGER)", ["is_paid", "is_sent"]),
            ("zebra (zoo TEXT, zone TEXT)", ["zoo", "zone"]),
        ] {
            let schema = Schema::from_sql(&format!("CREATE TABLE {table}"), "test").expect(table);
            let of = &schema.tables[0];
            let names: Vec<String> = of.columns.iter().map(|column| bare(of, &column.name)).collect();
            assert_eq!(names, expected, "{table}");
        }
    }

    #[test]
    fn tables_have_words_in_the_singular() {
        for (name, expected) in [
            ("shop_categories", vec!["shop", "category"]),
            ("OrderDetails", vec!["order", "detail"]),
            ("wp_posts", vec!["wp", "post"]),
            ("addresses", vec!["address"]),
            ("People", vec!["person"]),
            ("status", vec!["status"]),
            ("boxes", vec!["box"]),
            ("Chapters2", vec!["chapter"]),
        ] {
            assert_eq!(words_of_table(name), expected);
        }
    }

    #[test]
    fn patterns_match_the_beginning_the_end_or_a_part() {
        for (name, pattern, expected) in [
            ("paid_at", "*_at", true),
            ("is_new", "is_*", true),
            ("e_mail_address", "*mail*", true),
            ("name", "name", true),
            ("names", "name", false),
        ] {
            assert_eq!(matches(name, pattern), expected, "{name} {pattern}");
        }
        assert!(is_like("city", "town city") && !is_like("velocity", "town city"));
    }
}
