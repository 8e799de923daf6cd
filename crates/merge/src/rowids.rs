//! Decides in which order a table takes the rows of shards, and how far the rowids of each are shifted.
//!
//! ```text
//! keep, ranges of rowids disjoint       by range, nothing is shifted: rows come in order
//! keep, ranges overlap                  in the order of the shards: rows are sorted, equal rowids are conflicts
//! renumber                              in the order of the shards: each begins above the one before
//! ```
//!
//! If one of two rows with one key stays, the order of the shards decides which. So they come in this order then.
//!
//! Tables whose INTEGER PRIMARY KEY follows that of another one shift with it: they form a group.

use crate::foreign_keys::ForeignKeys;
use crate::survey::{Survey, TableFacts};
use litepress_rows::{Conflict, Error, ErrorKind, OptionName, Result, RowidOrder, Schema, Table, message};

/// The policy for rowids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowidPolicy {
    /// Rows keep theirs. Rows with equal ones conflict.
    Keep,
    /// The rowids of each shard are shifted above those of the shards before it.
    Renumber,
}

/// A table of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShardTable {
    /// Number of the shard.
    pub shard: usize,
    pub root: u32,
    /// The number that is added to rowids.
    pub shift: i64,
    /// The least and the largest rowid in the shard.
    pub rowids: (i64, i64),
}

/// A table in all shards that have rows of it. WITHOUT ROWID tables: in all shards that have it.
#[derive(Debug)]
pub(crate) struct TablePlan {
    pub shards: Vec<ShardTable>,
    pub order: RowidOrder,
    /// Number of the group of tables that are shifted together.
    pub group: usize,
    /// The policy of its group.
    pub policy: RowidPolicy,
    /// Rowids that no column holds were shifted because ranges overlap, without being asked.
    pub is_renumbered: bool,
    /// The largest number of `sqlite_sequence`, shifted.
    pub sequence: Option<i64>,
}

impl TablePlan {
    /// Returns whether any rowid changes.
    pub fn is_shifted(&self) -> bool {
        self.shards.iter().any(|shard| shard.shift != 0)
    }
}

/// The policies of the caller: for tables by name, and for all others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Policies<'p>(pub &'p [(Option<String>, RowidPolicy)]);

impl Policies<'_> {
    /// Returns the policy for a table, if there is one.
    pub fn of(&self, table: &str) -> Option<RowidPolicy> {
        let of_table = |(name, policy): &(Option<String>, RowidPolicy)| {
            name.as_ref().is_some_and(|name| name.eq_ignore_ascii_case(table)).then_some(*policy)
        };
        let of_all = |(name, policy): &(Option<String>, RowidPolicy)| name.is_none().then_some(*policy);
        self.0.iter().rev().find_map(of_table).or_else(|| self.0.iter().rev().find_map(of_all))
    }

    /// Returns whether the caller said something about this very table.
    pub fn names(&self, table: &str) -> bool {
        self.0.iter().any(|(name, _)| name.as_ref().is_some_and(|name| name.eq_ignore_ascii_case(table)))
    }

    /// Checks that every name is that of a table.
    pub fn check(&self, schema: &Schema) -> Result<()> {
        let names = self.0.iter().filter_map(|(name, _)| name.as_ref());
        match names.into_iter().find(|name| schema.table(name).is_none()) {
            Some(name) => {
                let text =
                    message![OptionName::Rowids.alone().given(), format!(": the databases have no table {name}")];
                Err(Error::new(ErrorKind::Usage, text))
            }
            None => Ok(()),
        }
    }
}

/// Plans all tables of the schema. `can_be_referred` says whether something else than foreign keys may hold the rowids of tables
/// whose rowid has no name, such as a full-text index.
pub(crate) fn plan(
    schema: &Schema,
    keys: &ForeignKeys,
    surveys: &[Survey],
    policies: &Policies<'_>,
    conflict: Conflict,
    can_be_referred: bool,
) -> Result<Vec<TablePlan>> {
    let may_reorder = conflict == Conflict::Abort;
    let facts: Vec<Vec<(usize, TableFacts)>> = schema.tables.iter().map(|table| facts_of(table, surveys)).collect();
    let groups = groups(schema, keys);
    let mut plans: Vec<Option<TablePlan>> = (0..schema.tables.len()).map(|_| None).collect();
    for (number, group) in groups.into_iter().enumerate() {
        let tables: Vec<(&Table, &[(usize, TableFacts)])> =
            group.iter().map(|&at| (&schema.tables[at], facts[at].as_slice())).collect();
        let is_renumbered = is_renumbered(&tables, policies, may_reorder, can_be_referred)?;
        let shifts = if is_renumbered.is_some() { shifts(&tables, surveys.len())? } else { vec![0; surveys.len()] };
        let plan = GroupPlan { number, shifts, is_renumbered };
        for (&at, (table, facts)) in group.iter().zip(&tables) {
            plans[at] = Some(plan.plan_table(table, facts, may_reorder));
        }
    }
    Ok(plans.into_iter().map(|plan| plan.expect("every table is in a group")).collect())
}

/// Returns the shards that have the table.
fn facts_of(table: &Table, surveys: &[Survey]) -> Vec<(usize, TableFacts)> {
    let of_shard = |(number, survey): (usize, &Survey)| survey.table(&table.name).map(|facts| (number, facts));
    surveys.iter().enumerate().filter_map(of_shard).collect()
}

/// Returns the positions of tables that are shifted together.
fn groups(schema: &Schema, keys: &ForeignKeys) -> Vec<Vec<usize>> {
    let mut leaders: Vec<usize> = (0..schema.tables.len()).collect();
    for (at, table) in schema.tables.iter().enumerate() {
        let Some(alias) = table.rowid_alias else { continue };
        for &parent in keys.followed((at, alias)) {
            let (one, other) = (leaders[at], leaders[parent]);
            leaders.iter_mut().filter(|leader| **leader == one).for_each(|leader| *leader = other);
        }
    }
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); leaders.len()];
    leaders.iter().enumerate().for_each(|(at, &leader)| groups[leader].push(at));
    groups.retain(|group| !group.is_empty());
    groups
}

/// Returns whether a group is renumbered: `Some(true)` if the caller did not ask for it.
fn is_renumbered(
    tables: &[(&Table, &[(usize, TableFacts)])],
    policies: &Policies<'_>,
    may_reorder: bool,
    can_be_referred: bool,
) -> Result<Option<bool>> {
    let asked: Vec<Option<RowidPolicy>> = tables.iter().map(|(table, _)| policies.of(&table.name)).collect();
    if let Some(other) =
        asked.iter().position(|policy| policy.unwrap_or(RowidPolicy::Keep) != asked[0].unwrap_or(RowidPolicy::Keep))
    {
        let (one, two) = (&tables[0].0.name, &tables[other].0.name);
        let message =
            format!("the rows of {one} and {two} have the same keys by a foreign key, but other rules for rowids");
        return Err(Error::new(ErrorKind::Usage, message)
            .advise(message!["give both the same rule with ", OptionName::Rowids.alone()]));
    }
    match (asked[0], tables) {
        (Some(RowidPolicy::Renumber), _) => Ok(Some(false)),
        (None, [(table, facts)])
            if !table.without_rowid && table.rowid_alias.is_none() && in_order(facts, may_reorder).is_none() =>
        {
            if can_be_referred {
                let message = format!(
                    "rowids of table {}, which no column holds, are in several databases, and a virtual table may refer to them",
                    table.name
                );
                return Err(Error::new(ErrorKind::Data, message).advise(message![
                    "give its rows new rowids with ",
                    OptionName::Rowids.pair(&table.name, "renumber"),
                    ", or refuse equal ones with ",
                    OptionName::Rowids.pair(&table.name, "keep")
                ]));
            }
            Ok(Some(true))
        }
        _ => Ok(None),
    }
}

/// Returns the shards with rows in the order of their rowids, or `None` if their ranges overlap.
fn in_order(facts: &[(usize, TableFacts)], may_reorder: bool) -> Option<Vec<usize>> {
    let mut ranges: Vec<(i64, i64, usize)> = facts
        .iter()
        .enumerate()
        .filter_map(|(at, (_, facts))| facts.rowids.map(|(least, most)| (least, most, at)))
        .collect();
    if may_reorder {
        ranges.sort_unstable();
    }
    let are_disjoint = ranges.windows(2).all(|pair| pair[0].1 < pair[1].0);
    are_disjoint.then(|| ranges.into_iter().map(|(_, _, at)| at).collect())
}

/// Returns what is added to the rowids of each shard.
fn shifts(tables: &[(&Table, &[(usize, TableFacts)])], shards: usize) -> Result<Vec<i64>> {
    let mut ranges: Vec<Option<(i64, i64)>> = vec![None; shards];
    for (table, facts) in tables {
        for (shard, facts) in *facts {
            // AUTOINCREMENT gives no rowid twice, also those of rows that are gone.
            let given = facts.sequence.filter(|_| table.autoincrement).map(|last| (last, last));
            for (least, most) in facts.rowids.into_iter().chain(given) {
                let range = ranges[*shard].get_or_insert((least, most));
                *range = (range.0.min(least), range.1.max(most));
            }
        }
    }
    let (mut last, mut shifts) = (None, vec![0; shards]);
    for (shift, range) in shifts.iter_mut().zip(ranges) {
        let Some((least, most)) = range else { continue };
        // A shard whose rowids are above the others already keeps them.
        let wanted = match last {
            Some(last) if i128::from(least) <= last => last + 1 - i128::from(least),
            _ => 0,
        };
        last = Some(i128::from(most) + wanted);
        let fits = i64::try_from(i128::from(most) + wanted).is_ok();
        *shift = i64::try_from(wanted).ok().filter(|_| fits).ok_or_else(|| {
            let name = &tables[0].0.name;
            let message = "the largest rowids of all databases together exceed 9223372036854775807";
            Error::new(ErrorKind::Limit, message).in_table(name)
        })?;
    }
    Ok(shifts)
}

/// The rowids of tables that are shifted together.
struct GroupPlan {
    number: usize,
    /// The number that is added to the rowids of each shard.
    shifts: Vec<i64>,
    /// `None` if rowids stay; `Some(true)` if the caller did not ask for new ones.
    is_renumbered: Option<bool>,
}

impl GroupPlan {
    /// Plans a table of the group. `facts` are those of its shards.
    fn plan_table(&self, table: &Table, facts: &[(usize, TableFacts)], may_reorder: bool) -> TablePlan {
        let of_shard = |&(shard, facts): &(usize, TableFacts)| {
            let shift = self.shifts[shard];
            ShardTable { shard, root: facts.root, shift, rowids: facts.rowids.unwrap_or_default() }
        };
        let is_new = self.is_renumbered.is_some();
        let (group, policy) = (self.number, if is_new { RowidPolicy::Renumber } else { RowidPolicy::Keep });
        if table.without_rowid {
            let (shards, order) = (facts.iter().map(of_shard).collect(), RowidOrder::Unknown);
            return TablePlan { shards, order, group, policy, is_renumbered: false, sequence: None };
        }
        let by_range = if is_new { None } else { in_order(facts, may_reorder) };
        let order = if is_new || by_range.is_some() { RowidOrder::Ascending } else { RowidOrder::Unordered };
        let shards = match by_range {
            Some(by_range) => by_range.into_iter().map(|at| of_shard(&facts[at])).collect(),
            None => facts.iter().filter(|(_, facts)| facts.rowids.is_some()).map(of_shard).collect(),
        };
        let sequences = facts.iter().filter_map(|(shard, facts)| facts.sequence?.checked_add(self.shifts[*shard]));
        let sequence = sequences.max();
        TablePlan { shards, order, group, policy, is_renumbered: self.is_renumbered == Some(true), sequence }
    }
}
