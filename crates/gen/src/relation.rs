//! References: which row of the parent a row of the child refers to. It is a function of the child's row number, so
//! that the parent's key, and any other column of that row, is computed and never looked up.
//!
//! | distribution | the parent of row r |
//! |---|---|
//! | `uniform` | a random one, all equally likely |
//! | `zipf(s)` | the n-th most frequent one has a weight of 1/n^s; the order of frequency is random, or with `scatter=FALSE` that of the rows; `first=n`: only the first n rows, in their order |
//! | `once` | row r, or one of `near` rows beside it: each parent has at most one child |
//! | `in_turn(each)` | row r / each, modulo the number of parents: keys of several such columns count like digits; `first=n`: modulo n; `second=m`: rows behind the first n + m refer to the m rows behind the first n |
//! | `per_parent(...)` | the children of a parent are consecutive rows; their number is fixed or drawn for each parent |
//! | `popular` | a random one; some are referred to often, most seldom, and some not at all; `growing=TRUE`: only those of the same share of the rows, behind a share `before`; `by=c`: the first children of a row through column c have early ones; `recent=n`: the last n of them |
//! | `deal(n: parents, ...)` | a random one, but exactly that number of parents has n children each |
//! | `other_than(c)` | a random one, except the row that column c refers to; `growing=TRUE`: early rows refer to early rows only |
//! | `via(t.c)` | the row that a popular row of table t refers to |
//! | `along(c, t.d)` | the row that the row of t refers to through d which `via` or `among` takes for column c, or c refers to |
//! | `among(c, t.d)` | the row that a row of table t refers to through d, a random one of the children of the row in column c, or in a column of that row; `distinct=TRUE`: no pair with c twice |
//! | `within(c, t.d)`, `within(c.e, t.d)` | a random one of the rows of t that refer through d to the same row as column c, or as e of the row that c refers to, and so on: `c.e.f` |
//! | `shared_in(c)` | a random one, some of them often, the same for all rows that refer to one row through column c |
//! | `distinct_in(c)` | a random one, but never twice for the same row in column c; `growing=TRUE`: early rows of c have early ones only; `other=TRUE`: never that row; `first=d`: first the row that column d of that row refers to |
//!
//! A table that refers to itself refers to earlier rows only, so that there are no cycles. Its first row refers to
//! nothing, or to itself if the column is NOT NULL. `in_turn` alone takes later rows too; with `first` the first rows refer to
//! nothing, or to themselves.

mod exact_counts;
mod fan_out;

use crate::generators::{Permutation, Zipf, pow};
use crate::program::Members;
use crate::random::{CellRandom, CellStream, Fraction, Rows};
pub(crate) use exact_counts::ExactCounts;
pub(crate) use fan_out::FanOut;
use std::ops::Range;
use std::sync::Arc;

/// The purpose of `distinct_in` in [`CellRandom::fork`]; each parent row has random numbers of its own.
const PARTNERS: u64 = 1 << 32;

/// The purpose of the weights of parents.
const POPULARITY: u64 = 72;

/// The purpose of the order of the most frequent parents.
const ORDER: u64 = 64;

/// Rows of another table, one for each row of a block.
#[derive(Debug, Default)]
pub(crate) struct RowList {
    /// Row numbers, counted from 0.
    pub rows: Vec<u64>,
    /// Number of rows of that table.
    pub of: u64,
    /// Rows without a parent: one flag a row, or empty if every row has one.
    pub nulls: Vec<bool>,
    /// Each row's position among the children of its parent; for `per_parent` only.
    pub positions: Vec<ChildPosition>,
}

impl RowList {
    /// Begins a list of rows of a table that has `of` rows.
    pub(crate) fn begin(&mut self, of: u64) {
        self.of = of;
        self.rows.clear();
        self.nulls.clear();
        self.positions.clear();
    }
}

/// A child's position among the children of its parent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChildPosition {
    /// Counted from 0.
    pub ordinal: u64,
    /// Number of children of the parent.
    pub siblings: u64,
}

/// A field of a [`ChildPosition`] that annotations can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PositionField {
    /// The ordinal, counted from 1.
    Ordinal,
    /// The number of children of the parent.
    Count,
}

impl ChildPosition {
    pub(crate) fn value(self, field: PositionField) -> i64 {
        match field {
            PositionField::Ordinal => self.ordinal.cast_signed() + 1,
            PositionField::Count => self.siblings.cast_signed(),
        }
    }
}

/// A reference of a column to rows of a table.
#[derive(Clone, Debug)]
pub(crate) struct Relation {
    /// Rows of the parent.
    pub parents: u64,
    pub assignment: Assignment,
    /// Whether the parent is the child's own table.
    pub to_itself: bool,
    /// Whether every row refers to one: in a table that refers to itself the first row too.
    pub is_total: bool,
}

/// The growth of a table together with its parents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    children: u64,
    /// The children that would have come while the parents came that are there before the first child.
    before: u64,
}

impl Growth {
    /// Returns the growth of `children` rows. A share of the parents is there before them.
    pub(crate) fn new(children: u64, share: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, and saturates")]
        let before = (children as f64 * share / (1.0 - share)) as u64;
        Self { children, before }
    }

    fn present(self, row: u64, parents: u64) -> u64 {
        parents_so_far(row.saturating_add(self.before), self.children.saturating_add(self.before), parents)
    }
}

/// The way in which rows get their parents.
#[derive(Clone, Debug)]
pub(crate) enum Assignment {
    Uniform,
    Zipf {
        zipf: Arc<Zipf>,
        scatter: bool,
    },
    /// `growth`: that of the children, if early ones refer to early parents only. `by`: a column of consecutive children, the
    /// first of which refer to early parents. `recent`: the number of last parents that are drawn from. `each`: the number of
    /// children, if one of them refers to each parent as soon as it is there. `apart`: a column together with which no two rows
    /// refer to the same rows.
    Popular {
        growth: Option<Growth>,
        by: Option<usize>,
        recent: Option<u64>,
        each: Option<u64>,
        apart: Option<usize>,
    },
    /// Each row about as often, in order; `children` is the number of children.
    Spread {
        children: u64,
    },
    /// The row that another column goes through. `distinct`: no two rows refer to the same rows through both columns.
    Along {
        column: usize,
        distinct: bool,
    },
    /// One of the children of the row that the column, or a column of this name in that row, refers to, or any row if it has none.
    /// `distinct`: others for the rows of one sibling, if there are enough. `fan_out`: the numbers of children, which compilation finds.
    Among {
        column: usize,
        name: Option<String>,
        distinct: bool,
        fan_out: Option<Arc<FanOut>>,
    },
    /// One of the rows that refer through `of`, a table, its column and a path from there, to the same row as a column, or as the end of a
    /// path of columns from the row that it refers to. `growth` and `by` are those of `Popular`; `first`: always the first one.
    /// Compilation finds the members.
    Within {
        column: usize,
        path: Vec<String>,
        of: (usize, usize, Vec<String>),
        first: bool,
        growth: Option<Growth>,
        by: Option<usize>,
        members: Option<Arc<Members>>,
    },
    /// All rows that refer to one row through the column, or through a path of columns from there, get the same row.
    SharedIn {
        column: usize,
        path: Vec<String>,
    },
    /// `near`: the number of consecutive rows that take their parents in any order. `last`: from the last parent on.
    Once {
        near: u64,
        last: bool,
    },
    /// `first`: only the first rows are taken, and in a table that refers to itself they refer to nothing. `second`: only that many rows
    /// behind them refer to them, and the rows behind these to the second ones.
    InTurn {
        each: u64,
        first: Option<u64>,
        second: u64,
    },
    PerParent(Arc<FanOut>),
    Exact(Arc<ExactCounts>),
    /// `each`: column c is `in_turn(each)`, so that rows with the same row in c take the others one after another. `children`: the
    /// number of children, if early ones refer to early parents only. `distinct`: no two rows refer to the same rows through both.
    OtherThan {
        column: usize,
        each: Option<u64>,
        children: Option<u64>,
        distinct: bool,
    },
    /// `skew` is 1 if all parents are equally likely; `growing`: early rows in the column have early parents only; `other`: the
    /// row in the column is not its own parent; `first`: a column of that row, whose row is the parent of the first child.
    DistinctIn {
        column: usize,
        skew: f64,
        growing: Option<f64>,
        other: bool,
        first: Option<String>,
    },
}

impl Assignment {
    /// Returns the column together with which no two rows refer to the same rows, if some would by chance.
    pub(crate) fn apart_from(&self) -> Option<usize> {
        match *self {
            Self::Along { column, distinct: true }
            | Self::Among { column, distinct: true, .. }
            | Self::OtherThan { column, distinct: true, .. }
            | Self::Popular { apart: Some(column), .. } => Some(column),
            _ => None,
        }
    }

    /// Returns whether two columns of one foreign key may both have it.
    pub(crate) fn is_default(&self) -> bool {
        matches!(self, Self::Uniform)
    }

    /// Returns whether each row refers to a later row than the one before.
    pub(crate) fn is_ascending(&self) -> bool {
        match self {
            Self::Once { near, last } => *near == 1 && !last,
            Self::PerParent(fan_out) => fan_out.most() <= 1,
            _ => false,
        }
    }
}

impl Relation {
    /// Computes the parents of these rows. `siblings` are the rows that the column in `distinct_in`, `shared_in`, `other_than`,
    /// `among` or `by` refers to, and `groups` those of the column in `within`.
    pub(crate) fn assign_parents(
        &self,
        random: &CellRandom,
        rows: &Rows<'_>,
        [siblings, groups]: [Option<&RowList>; 2],
        out: &mut RowList,
    ) {
        out.begin(self.parents);
        if self.is_to_earlier() {
            self.assign_earlier(random, rows, out);
            return;
        }
        let parents = self.parents.max(1);
        match &self.assignment {
            Assignment::Uniform => {
                out.rows.resize(rows.len(), 0);
                random.fill_below(rows, &mut out.rows, parents, |row| row);
            }
            Assignment::Zipf { zipf, scatter } => {
                rows.append_to(&mut out.rows, |row| zipf.draw(&mut random.stream(row)) - 1);
                if *scatter {
                    Permutation::new(parents, &random.fork(ORDER)).apply(&mut out.rows);
                }
            }
            Assignment::Popular { growth, recent, each, .. } => {
                self.assign_popular(random, rows, siblings, (*growth, *recent, *each), out);
            }
            Assignment::Within { growth, first, members, .. } => {
                let members = members.as_ref().expect("compilation sets the members");
                let mut groups = groups.expect("within names a column").rows.iter();
                let mut present = self.present(*growth, siblings);
                rows.append_to(&mut out.rows, |row| {
                    let group = groups.next().copied().unwrap_or_default();
                    let present = if *first { 0 } else { present(row) };
                    members.draw(group, present, Fraction(random.u64(row)))
                });
            }
            Assignment::SharedIn { .. } => {
                self.assign_shared(random, rows, siblings.expect("shared_in names a column"), out);
            }
            Assignment::Among { distinct, fan_out, .. } => {
                let siblings = siblings.expect("among names a column");
                let fan_out = fan_out.as_ref().expect("compilation sets the numbers of children");
                let apart = Some(siblings).filter(|siblings| *distinct && !siblings.positions.is_empty());
                self.assign_among(random, rows, (groups.unwrap_or(siblings), fan_out, apart), out);
            }
            Assignment::Spread { children } => rows.append_to(&mut out.rows, |row| {
                let share = u128::from(row) * u128::from(parents) / u128::from((*children).max(1));
                u64::try_from(share).unwrap_or(parents).min(parents - 1)
            }),
            Assignment::Along { .. } => unreachable!("compilation takes the rows of the other column"),
            Assignment::Once { near, last } => {
                rows.append_to(&mut out.rows, |row| row.min(parents - 1));
                shuffle_near(&mut out.rows, *near, parents, &random.fork(ORDER));
                if *last {
                    out.rows.iter_mut().for_each(|row| *row = parents - 1 - *row);
                }
            }
            Assignment::InTurn { each, first: None, .. } => rows.append_to(&mut out.rows, |row| row / each % parents),
            Assignment::InTurn { each, first: Some(n), second } => self.assign_first(rows, [*each, *n, *second], out),
            Assignment::PerParent(fan_out) => fan_out.find(rows, 0, out),
            Assignment::Exact(counts) => counts.find(random, rows, out),
            Assignment::OtherThan { each, children, .. } => {
                let siblings = siblings.expect("other_than names a column");
                self.assign_others(random, rows, siblings, (*each, *children), out);
            }
            Assignment::DistinctIn { growing, other, first, .. } if *other || first.is_some() => {
                let siblings = siblings.expect("distinct_in names a column");
                self.assign_distinct_others(random, (siblings, groups), *growing, out);
            }
            Assignment::DistinctIn { skew, growing, .. } => {
                let siblings = siblings.expect("distinct_in names a column");
                self.assign_distinct(random, siblings, (*skew, *growing), out);
            }
        }
    }

    /// Draws rows, some of them often, from those that there are when a row comes.
    fn assign_popular(
        &self,
        random: &CellRandom,
        rows: &Rows<'_>,
        siblings: Option<&RowList>,
        (growth, recent, each): (Option<Growth>, Option<u64>, Option<u64>),
        out: &mut RowList,
    ) {
        let (weights, parents) = (random.fork(POPULARITY), self.parents.max(1));
        let mut present = self.present(growth, siblings);
        rows.append_to(&mut out.rows, |row| {
            let known = each.map(|children| parents_known([row, row + 1], children, parents));
            match known {
                Some([before, known]) if before < known => known - 1,
                Some([known, _]) => popular(&weights, &mut random.stream(row), last(known, recent)),
                None => popular(&weights, &mut random.stream(row), last(present(row), recent)),
            }
        });
        siblings.inspect(|siblings| out.nulls.clone_from(&siblings.nulls));
    }

    /// Returns whether rows of a table refer to earlier rows of the same table.
    pub(crate) fn is_to_earlier(&self) -> bool {
        self.to_itself && !matches!(self.assignment, Assignment::InTurn { .. })
    }

    /// Computes parents among the rows before each row.
    fn assign_earlier(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut RowList) {
        match &self.assignment {
            Assignment::Zipf { zipf, .. } => {
                rows.append_to(&mut out.rows, |row| zipf.draw_among(row.max(1), &mut random.stream(row)) - 1);
            }
            Assignment::Popular { recent, .. } => {
                let weights = random.fork(POPULARITY);
                let draw = |row: u64| popular(&weights, &mut random.stream(row), last(row.max(1), *recent));
                rows.append_to(&mut out.rows, draw);
            }
            Assignment::Once { .. } if self.is_total => rows.append_to(&mut out.rows, |row| row),
            Assignment::Once { .. } => rows.append_to(&mut out.rows, |row| row.saturating_sub(1)),
            Assignment::PerParent(fan_out) => fan_out.find(rows, 1, out),
            _ => rows.append_to(&mut out.rows, |row| Fraction(random.u64(row)).take(row.max(1))),
        }
        let is_first = |row: u64| row == 0;
        if !self.is_total {
            match rows {
                Rows::Range(range) if range.start > 0 => {}
                Rows::Range(range) => out.nulls.extend(range.clone().map(is_first)),
                Rows::List(list) => out.nulls.extend(list.iter().map(|&row| is_first(row))),
            }
        }
    }

    /// Returns how many parents there are when a row comes: all of them; if they grow, those of the `growth`;
    /// with `siblings`, those that there are when its turn among its siblings comes. If the siblings' own parents grow, the first
    /// turn comes with them.
    fn present<'a>(&self, growth: Option<Growth>, siblings: Option<&'a RowList>) -> impl FnMut(u64) -> u64 + use<'a> {
        let parents = self.parents.max(1);
        let mut at = 0;
        move |row| {
            let Some(siblings) = siblings else {
                return growth.map_or(parents, |growth| growth.present(row, parents));
            };
            let (sibling, position) = (siblings.rows[at], siblings.positions[at]);
            at += 1;
            let first = if growth.is_some() { parents_so_far(sibling + 1, siblings.of, parents) } else { 1 };
            let present = first + parents_so_far(position.ordinal, position.siblings, parents - first + 1) - 1;
            present.clamp(1, parents)
        }
    }

    /// Takes the first rows one after another, or, behind the rows of a second level, those of that level.
    fn assign_first(&self, rows: &Rows<'_>, [each, first, second]: [u64; 3], out: &mut RowList) {
        let first = first.clamp(1, self.parents.max(1));
        let is_root = |row: u64| self.to_itself && row < first;
        let below = first.saturating_add(second);
        rows.append_to(&mut out.rows, |row| match row {
            _ if is_root(row) => row,
            _ if second > 0 && row >= below && below <= self.parents => first + (row - below) / each % second,
            _ => row / each % first,
        });
        if self.to_itself && !self.is_total {
            rows.append_to(&mut out.nulls, is_root);
        }
    }

    /// Draws a row for each sibling. A row without a sibling has a parent of its own.
    fn assign_shared(&self, random: &CellRandom, rows: &Rows<'_>, siblings: &RowList, out: &mut RowList) {
        let (weights, mut at) = (random.fork(POPULARITY), 0);
        rows.append_to(&mut out.rows, |row| {
            let is_alone = siblings.nulls.get(at).is_some_and(|&null| null);
            let drawn_by = if is_alone { row } else { siblings.rows[at] };
            at += 1;
            popular(&weights, &mut random.stream(drawn_by), 0..self.parents.max(1))
        });
    }

    /// Draws another row than each sibling.
    fn assign_others(
        &self,
        random: &CellRandom,
        rows: &Rows<'_>,
        siblings: &RowList,
        (each, children): (Option<u64>, Option<u64>),
        out: &mut RowList,
    ) {
        let parents = self.parents.max(1);
        let mut at = 0;
        rows.append_to(&mut out.rows, |row| {
            let sibling = siblings.rows[at];
            at += 1;
            // There is another one, and the other column may refer to the last one.
            let so_far = |children| parents_so_far(row, children, parents).max(sibling + 1).max(2).min(parents);
            let among = children.map_or(parents, so_far);
            let others = (among - 1).max(1);
            let step = each.map_or_else(|| Fraction(random.u64(row)).take(others), |each| row % each % others);
            (sibling + 1 + step) % among
        });
    }

    /// Draws one of the children of each group, or any row if the group has none: one after another for the rows that are `apart`.
    fn assign_among(
        &self,
        random: &CellRandom,
        rows: &Rows<'_>,
        (groups, fan_out, apart): (&RowList, &FanOut, Option<&RowList>),
        out: &mut RowList,
    ) {
        let parents = self.parents.max(1);
        let mut ranges = Vec::new();
        fan_out.children_of(&Rows::List(&groups.rows), &mut ranges);
        let mut ranges = ranges.into_iter().enumerate();
        rows.append_to(&mut out.rows, |row| {
            let (at, range) = ranges.next().unwrap_or_default();
            let (start, end) = (range.start.min(parents), range.end.min(parents));
            let (seed, step) = apart.map_or((row, 0), |apart| (apart.rows[at], apart.positions[at].ordinal));
            let mut fraction = Fraction(random.u64(seed));
            match end.saturating_sub(start) {
                0 => Fraction(random.u64(row)).take(parents),
                count => start + (fraction.take(count) + step) % count,
            }
        });
        out.nulls.clone_from(&groups.nulls);
    }

    /// Replaces each row by the first one of its thread: the row that it refers to, the row that one refers to, and on.
    pub(crate) fn find_roots(
        &self,
        random: &CellRandom,
        nulls: &mut dyn FnMut(&Rows<'_>, &mut Vec<bool>),
        rows: &mut [u64],
    ) {
        let mut waiting: Vec<usize> = (0..rows.len()).collect();
        let (mut list, mut out) = (Vec::new(), RowList::default());
        while !waiting.is_empty() {
            list.clear();
            list.extend(waiting.iter().map(|&at| rows[at]));
            self.assign_parents(random, &Rows::List(&list), [None; 2], &mut out);
            nulls(&Rows::List(&list), &mut out.nulls);
            let mut number = 0;
            waiting.retain(|&at| {
                let is_null = out.nulls.get(number).is_some_and(|&null| null);
                let parent = out.rows[number];
                number += 1;
                let is_reply = !is_null && parent < rows[at];
                rows[at] = if is_reply { parent } else { rows[at] };
                is_reply
            });
        }
    }

    /// Divides all parents into one range for each child of a row, and draws each child's parent from its own range:
    /// ranges do not overlap, so no two children of one row share a parent. With a skew the first ranges are short
    /// and the last ones long, so that few parents are frequent. A random permutation says which ones; with an even
    /// share each row also rotates it. While both tables grow, the ranges divide the parents so far, in their order.
    fn assign_distinct(
        &self,
        random: &CellRandom,
        siblings: &RowList,
        (skew, growing): (f64, Option<f64>),
        out: &mut RowList,
    ) {
        for (&row, position) in siblings.rows.iter().zip(&siblings.positions) {
            let all = self.parents.max(1);
            let present =
                |before| Growth::new(siblings.of, before).present(row + 1, all).max(position.siblings.min(all));
            let parents = growing.map_or(all, present);
            let own = random.fork(PARTNERS.wrapping_add(row));
            let start = range_start(position.ordinal, position.siblings, parents, skew);
            let end = range_start(position.ordinal + 1, position.siblings, parents, skew);
            let drawn = start + Fraction(own.u64(position.ordinal)).take((end - start).max(1));
            // Without a rotation of its own the first child of a row would never have the last parent.
            let turn = if skew == 1.0 { Fraction(own.u64(u64::MAX)).take(parents) } else { 0 };
            out.rows.push((drawn.min(parents - 1) + turn) % parents);
        }
        if growing.is_none() {
            Permutation::new(self.parents.max(1), &random.fork(ORDER)).apply(&mut out.rows);
        }
        out.nulls.clone_from(&siblings.nulls);
    }

    /// Divides all rows but the one in the other column into one range for each of its children, as `assign_distinct` does. The
    /// ranges begin behind that row. With `firsts`, the first child has the row there, and the others have others.
    fn assign_distinct_others(
        &self,
        random: &CellRandom,
        (siblings, firsts): (&RowList, Option<&RowList>),
        growing: Option<f64>,
        out: &mut RowList,
    ) {
        for (at, (&row, position)) in siblings.rows.iter().zip(&siblings.positions).enumerate() {
            let excluded = firsts.map_or(row, |firsts| firsts.rows[at]);
            let skipped = u64::from(firsts.is_some());
            if position.ordinal < skipped {
                out.rows.push(excluded);
                continue;
            }
            let (ordinal, count) = (position.ordinal - skipped, position.siblings - skipped);
            let all = self.parents.max(2);
            let present = |before| Growth::new(siblings.of, before).present(row + 1, all);
            let so_far = |before| present(before).max(excluded + 1).max(count + 1).min(all);
            let among = growing.map_or(all, so_far);
            let own = random.fork(PARTNERS.wrapping_add(row));
            let start = range_start(ordinal, count, among - 1, 1.0);
            let end = range_start(ordinal + 1, count, among - 1, 1.0);
            let drawn = start + Fraction(own.u64(ordinal)).take((end - start).max(1));
            let turn = Fraction(own.u64(u64::MAX)).take(among - 1);
            out.rows.push((excluded + 1 + (drawn.min(among - 2) + turn) % (among - 1)) % among);
        }
        out.nulls.clone_from(&siblings.nulls);
    }
}

/// Returns how many parents there are when child `row` of `children` comes, if both come evenly over the same time.
pub(crate) fn parents_so_far(row: u64, children: u64, parents: u64) -> u64 {
    let share = u128::from(row) * u128::from(parents) / u128::from(children.max(1));
    u64::try_from(share).unwrap_or(parents).clamp(1, parents)
}

/// Returns how many parents are there behind so many of all children, if the first child comes with the first parent, and the last
/// parent before the last child.
fn parents_known(rows: [u64; 2], children: u64, parents: u64) -> [u64; 2] {
    /// The first children, which come with a parent each.
    const NEW: u64 = 24;
    rows.map(|row| {
        let known = (u128::from(row) * u128::from(parents)).div_ceil(u128::from(children.max(1)));
        u64::try_from(known).unwrap_or(parents).max(row.min(NEW)).min(parents)
    })
}

/// Replaces each row by another one of its block of `near` consecutive rows. The last block may be a short one.
fn shuffle_near(rows: &mut [u64], near: u64, parents: u64, random: &CellRandom) {
    if near == 1 {
        return;
    }
    let whole = parents / near * near;
    let mut places: Vec<u64> = rows.iter().map(|row| if *row < whole { row % near } else { 0 }).collect();
    Permutation::new(near, random).apply(&mut places);
    let last = Permutation::new(parents - whole, random);
    for (row, place) in rows.iter_mut().zip(places) {
        if *row < whole {
            *row = *row - *row % near + place;
        } else {
            let mut place = [*row - whole];
            last.apply(&mut place);
            *row = whole + place[0];
        }
    }
}

/// Returns the last `recent` of the first `count` rows, or all of them.
fn last(count: u64, recent: Option<u64>) -> Range<u64> {
    count - recent.unwrap_or(count).min(count)..count
}

/// Draws a parent by rejection: a parent is accepted with its weight, which is a function of its number alone. One of 20
/// has the full weight, and the weight exceeded by a share s of the parents is about 1 / (20 s).
fn popular(weights: &CellRandom, stream: &mut CellStream, parents: Range<u64>) -> u64 {
    let count = parents.end - parents.start;
    const TRIES: usize = 40;
    const TOP: f64 = 0.05;
    let share = |word: u64| (word >> 11) as f64 / 9_007_199_254_740_992.0;
    for _ in 1..TRIES {
        let parent = parents.start + stream.below(count);
        let weight = TOP / share(weights.u64(parent)).max(1e-9) - TOP / 2.0;
        if share(stream.u64()) < weight {
            return parent;
        }
    }
    parents.start + stream.below(count)
}

/// Returns the first parent in the range of child `ordinal` of `siblings`.
fn range_start(ordinal: u64, siblings: u64, parents: u64, skew: f64) -> u64 {
    let spare = parents.saturating_sub(siblings);
    if skew == 1.0 {
        let share = u128::from(spare) * u128::from(ordinal) / u128::from(siblings.max(1));
        return ordinal + u64::try_from(share).unwrap_or(spare);
    }
    let share = if ordinal == 0 { 0.0 } else { pow(ordinal as f64 / siblings.max(1) as f64, skew) };
    #[expect(clippy::cast_possible_truncation, reason = "a share of a number of rows")]
    #[expect(clippy::cast_sign_loss, reason = "it is positive")]
    let share = (spare as f64 * share) as u64;
    ordinal + share.min(spare)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(draw: &Assignment, to_itself: bool, rows: &Rows<'_>) -> Vec<u64> {
        let relation = Relation { parents: 1000, assignment: draw.clone(), to_itself, is_total: false };
        let mut out = RowList::default();
        relation.assign_parents(&CellRandom::new(42, "t", "c"), rows, [None; 2], &mut out);
        out.rows
    }

    /// The last of 1000 rows are in a block of 40, and no row is taken twice.
    #[test]
    fn rows_near_one_another_are_each_taken_once() {
        let found = drawn(&Assignment::Once { near: 64, last: false }, false, &(0..1000).into());
        assert!(found.iter().zip(0..).all(|(found, row)| found / 64 == row / 64), "{found:?}");
        assert!(found.iter().zip(0..).filter(|(found, row)| *found == row).count() < 60, "{found:?}");
        let back = drawn(&Assignment::Once { near: 64, last: true }, false, &(0..1000).into());
        assert!(back.iter().zip(&found).all(|(back, found)| back + found == 999));
        let mut sorted = found;
        sorted.sort_unstable();
        assert_eq!(sorted, (0..1000).collect::<Vec<u64>>());
    }

    /// Each page was visited at one time only.
    #[test]
    fn each_parent_is_known_from_its_first_child_on() {
        for (children, parents) in [(1000, 1000), (1001, 1000), (5000, 1000)] {
            let each = Assignment::Popular { growth: None, by: None, recent: None, each: Some(children), apart: None };
            let found = drawn(&each, false, &(0..children).into());
            let mut known = 0;
            for (row, &parent) in found.iter().enumerate() {
                assert!(parent <= known, "row {row} of {children}: {parent}, and {known} are known");
                known = known.max(parent + 1);
            }
            assert_eq!(known, parents, "of {children}");
            assert_eq!(found[..5], drawn(&each, false, &Rows::List(&[0, 1, 2, 3, 4])));
        }
        let again = Assignment::Popular { growth: None, by: None, recent: None, each: Some(5000), apart: None };
        let found = drawn(&again, false, &(0..5000).into());
        assert!(found.iter().rev().take(500).any(|&parent| parent < 500), "old ones come again");
    }

    /// References are as frozen as values are.
    #[test]
    fn golden_rows_of_version_1() {
        let zipf = |exponent, scatter| Assignment::Zipf { zipf: Arc::new(Zipf::new(1000, exponent)), scatter };
        let draws = [
            (Assignment::Uniform, false),
            (Assignment::Uniform, true),
            (zipf(1.1, true), false),
            (zipf(1.1, false), false),
            (zipf(0.8, false), false),
            (zipf(1.0, false), true),
        ];
        let found = draws.each_ref().map(|(draw, to_itself)| {
            let found = drawn(draw, *to_itself, &Rows::List(&[0, 1, 2, 999, 1_000_000_007]));
            let consecutive = drawn(draw, *to_itself, &(0..1000).into());
            assert!([0, 1, 2, 999].map(|row| consecutive[row]) == found[..4], "{draw:?} in one block");
            found
        });
        let expected = [
            [565, 927, 842, 42, 446],
            [0, 0, 1, 201, 654_442_033],
            [687, 139, 139, 948, 140],
            [6, 0, 0, 130, 3],
            [54, 4, 0, 425, 28],
            [0, 0, 0, 219, 872],
        ];
        assert_eq!(found, expected);
    }
}
