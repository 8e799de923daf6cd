//! Patterns in which rows refer to their parents, and the annotations of these.

use super::{Inference, inferred, quoted, quoted_column};
use litepress_rows::schema::Table;
use litepress_rows::{Error, ErrorKind, OptionName, Result, message};

/// The pattern in which a foreign key refers to the rows of a parent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ReferencePattern {
    /// Each row at most once: the column is a key.
    Once,
    /// Each row at most once, in an order of its own: not everybody lives at the address of their number.
    OnceNearby,
    /// Each row at most once, from the last one on: nobody lives in the shop.
    OnceFromEnd,
    /// Runs of this length, in turn, for a key of several foreign keys.
    InTurn { each: u64 },
    /// This number of first rows, one after another.
    FirstInTurn(u64),
    /// No row twice for the same row in the column of this name; early rows there have early ones if both tables grow, and a share is
    /// there before the first; no row itself if both refer to one table.
    DistinctIn { column: String, growing: Option<f64>, other: bool },
    /// Consecutive rows for each parent: numbers of children, and how many parents have each. `after`: the number of first
    /// parents that have none.
    PerParent { counts: Vec<(u64, u64)>, after: u64 },
    /// The superior of a person in the same table: three to twelve report to one, and all but the first report to somebody.
    Superior,
    /// This number of first rows of the table itself, which refer to nothing. `second`: that many rows behind them refer to them, and
    /// all others to the second ones.
    Roots { first: u64, second: u64 },
    /// Some of the first rows, the first ones often.
    FirstOften(u64),
    /// Each row as soon as it is there, and some of them often later: the visits of pages.
    Visits,
    /// Random rows, some of them often. If both tables grow with time, early rows refer to early rows; `growing` is the share of the
    /// parents that is there before the first row.
    Popular { growing: Option<f64> },
    /// Random rows, the first ones most often: the languages of films.
    MostlyFirst,
    /// Random rows, or the rows of another column of the foreign key.
    AtRandom,
}

/// Returns the annotation of a foreign key.
pub(crate) fn of_parent(pattern: &ReferencePattern, table: &Table, column: usize) -> Inference {
    let parent = quoted_column(table, column);
    let because = format!("refers to {}.{}", table.name, table.columns[column].name);
    match pattern {
        ReferencePattern::AtRandom => inferred(format!("ref({parent})"), because),
        ReferencePattern::Once => inferred(format!("ref({parent}, once)"), format!("{because}, each once")),
        ReferencePattern::OnceNearby => {
            inferred(format!("ref({parent}, once(near=100))"), format!("{because}, each once, in no order"))
        }
        ReferencePattern::OnceFromEnd => {
            let text = format!("ref({parent}, once(near=100, last=TRUE))");
            inferred(text, format!("{because}, each once, from the last one on"))
        }
        ReferencePattern::InTurn { each } => {
            let each = if *each == 1 { String::new() } else { format!("({each})") };
            inferred(format!("ref({parent}, in_turn{each})"), format!("{because}, in a key of foreign keys"))
        }
        ReferencePattern::FirstInTurn(first) => {
            inferred(format!("ref({parent}, in_turn(1, first={first}))"), format!("{because}, one after another"))
        }
        ReferencePattern::Superior => {
            inferred(format!("ref({parent}, per_parent(3, 12))"), format!("{because}, who leads a team"))
        }
        ReferencePattern::Roots { first, second } => {
            let second = if *second > 0 { format!(", second={second}") } else { String::new() };
            inferred(format!("ref({parent}, in_turn(first={first}{second}))"), format!("{because}, if it is no root"))
        }
        ReferencePattern::FirstOften(first) => {
            inferred(format!("ref({parent}, zipf(0.8, first={first}))"), format!("{because}, one of a few"))
        }
        ReferencePattern::DistinctIn { column, growing, other } => {
            let growing = growing.map_or(String::new(), |share| format!(", growing=TRUE{}", before(share)));
            let other = if *other { ", other=TRUE" } else { "" };
            inferred(
                format!("ref({parent}, distinct_in({}{growing}{other}))", quoted(column)),
                format!("{because}, in a key with {column}"),
            )
        }
        ReferencePattern::PerParent { counts, after } => {
            let pairs: Vec<String> =
                counts.iter().map(|(children, parents)| format!("{children}: {parents}")).collect();
            let after = if *after > 0 { format!(", after={after}") } else { String::new() };
            let text = match counts[..] {
                [(each, _)] => format!("ref({parent}, per_parent({each}{after}))"),
                _ => format!("ref({parent}, per_parent(deal({}){after}))", pairs.join(", ")),
            };
            inferred(text, format!("{because}, in a key"))
        }
        ReferencePattern::MostlyFirst => {
            inferred(format!("ref({parent}, zipf(2, scatter=FALSE))"), format!("{because}, mostly the first ones"))
        }
        ReferencePattern::Visits => {
            let text = format!("ref({parent}, popular(growing=TRUE, each=TRUE))");
            inferred(text, format!("{because}, each when it is new, and some again"))
        }
        ReferencePattern::Popular { growing: None } => inferred(format!("ref({parent}, popular)"), because),
        ReferencePattern::Popular { growing: Some(share) } => {
            let text = format!("ref({parent}, popular(growing=TRUE{}))", before(*share));
            inferred(text, format!("{because}, which grows with time, too"))
        }
    }
}

impl ReferencePattern {
    /// Returns the pattern of consecutive rows for each parent.
    pub(crate) fn per_parent(counts: Vec<(u64, u64)>) -> Self {
        Self::PerParent { counts, after: 0 }
    }
}

/// Divides rows among parents as evenly as that is possible.
pub(crate) fn even_counts(rows: u64, parents: u64) -> Vec<(u64, u64)> {
    let (each, more) = (rows / parents, rows % parents);
    [(each, parents - more), (each + 1, more)].into_iter().filter(|(_, parents)| *parents > 0).collect()
}

/// Divides rows among parents: many parents have few, and few have many. Every parent has `least` to `most`, and the
/// sum is the number of rows if that is possible.
pub(crate) fn skewed_counts(rows: u64, parents: u64, (least, most): (u64, u64)) -> Vec<(u64, u64)> {
    /// Quantiles of the exponential distribution of mean 1.
    const QUANTILES: [f64; 12] = [0.04, 0.13, 0.23, 0.34, 0.47, 0.61, 0.78, 0.98, 1.23, 1.57, 2.07, 3.55];
    let mean = rows as f64 / parents as f64;
    let groups = QUANTILES.len() as u64;
    let mut counts: Vec<(u64, u64)> = Vec::new();
    for (at, quantile) in (0..groups).zip(QUANTILES) {
        let size = parents * (at + 1) / groups - parents * at / groups;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, and saturates")]
        let children = (mean * quantile).round() as u64;
        counts.push((children.clamp(least, most), size));
    }
    let sum = |counts: &[(u64, u64)]| {
        counts.iter().fold(0_u64, |sum, (children, parents)| sum.saturating_add(children.saturating_mul(*parents)))
    };
    // One more or one less for as many parents as are needed, from the largest groups on.
    loop {
        let (now, before) = (sum(&counts), counts.clone());
        for at in (0..counts.len()).rev() {
            let (children, size) = counts[at];
            let gap = rows.abs_diff(sum(&counts)).min(size);
            let moved = match now < rows {
                true if children < most => children + 1,
                false if children > least => children - 1,
                _ => continue,
            };
            counts[at].1 -= gap;
            counts.push((moved, gap));
        }
        counts.retain(|(_, size)| *size > 0);
        if counts == before || sum(&counts) == rows {
            break;
        }
    }
    counts.sort_unstable();
    counts.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        kept.1 += if is_same { next.1 } else { 0 };
        is_same
    });
    counts
}

/// Infers the ordinal of a row among those with the same parent, for a key with the column of this name.
pub(crate) fn number_in(name: &str) -> Inference {
    inferred(format!("number_in({})", quoted(name)), format!("it is unique together with {name}"))
}

/// Returns the argument for the share of the parents that is there before the first row.
pub(crate) fn before(share: f64) -> String {
    if share > 0.0 { format!(", before={share:.3}") } else { String::new() }
}

/// Returns the argument of a distribution whose early rows refer to early rows only.
pub(crate) fn growing(is_growing: bool) -> &'static str {
    if is_growing { ", growing=TRUE" } else { "" }
}

/// The reason why nothing is inferred for a foreign key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoReference {
    pub why: String,
    /// The number of rows that the table may have, if fewer are the remedy.
    pub most_rows: Option<u64>,
}

impl From<String> for NoReference {
    fn from(why: String) -> Self {
        Self { why, most_rows: None }
    }
}

/// Infers a key without REFERENCES whose DEFAULT stands for no parent.
pub(crate) fn no_parent() -> Inference {
    inferred("constant(0)", "the DEFAULT, which stands for no parent")
}

/// Infers a foreign key without parent: NULL, or an error if the column is NOT NULL.
pub(crate) fn without_parent(table: &Table, position: usize, reason: &NoReference) -> Result<Inference> {
    const ANNOTATE: &str = "annotate the column, for example ref(table.column); docs/generators.md shows how two foreign keys share a column";
    let (column, NoReference { why, most_rows }) = (&table.columns[position], reason);
    // NULLs instead of pairs would hide that the rows are too many.
    if !column.not_null && table.rowid_alias != Some(position) && most_rows.is_none() {
        return Ok(inferred("constant(NULL)", why));
    }
    let error = Error::new(ErrorKind::Generator, format!("nothing can be inferred for this foreign key: {why}"));
    let error = error.in_table(&table.name).in_column(&column.name);
    Err(match most_rows {
        None => error.advise(ANNOTATE),
        Some(most) => {
            let fewer = OptionName::Rows.count(Some(&table.name), &most.to_string());
            error.advise(message!["make no more rows than that: ", fewer, "; or its parents more"])
        }
    })
}
