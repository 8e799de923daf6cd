//! Pairs that come one after another: who follows whom, and which tags a product gets.

use super::Planner;
use super::shared_rows::{Draft, MOST_ROWS};
use crate::infer::{self, quoted};

impl Planner<'_> {
    /// Draws the pairs of tables that have a key and a time of their own in the order of time. Rows of one parent after another
    /// would not be in that order.
    pub(super) fn agree_on_pairs(&self, drafts: &mut [Draft]) {
        /// Rows of one table for each row of another one that has few.
        const FEW: u64 = 8;
        for second in 0..drafts.len() {
            let Some(first) = self.leader_of_pair(drafts, second) else { continue };
            let (table, columns) = (drafts[second].0, [first, second].map(|at| drafts[at].1));
            let [Some(one), Some(other)] = columns.map(|column| self.single_parent(table, column)) else { continue };
            // The first one is drawn from those that are there, and the second one so that no pair comes twice.
            let has_times = infer::has_times(&self.schema.tables[one.table]);
            let mut order = [(first, one), (second, other)];
            if one.table == other.table || !has_times {
                order.reverse();
            }
            // A popular product has no more tags than there are.
            let parents = order.map(|(_, of)| self.sizes[of.table].rows);
            if parents[1].saturating_mul(FEW) < parents[0] {
                order.reverse();
            }
            let apart = quoted(&self.schema.tables[table].columns[drafts[order[0].0].1].name);
            for ((at, parent), is_apart) in order.into_iter().zip([false, true]) {
                let growing = self
                    .grow(&[table, parent.table])
                    .then(|| format!("growing=TRUE{}", infer::before(self.share_before(table, parent.table))));
                let distribution = match (growing, is_apart) {
                    (None, false) => "popular".to_owned(),
                    (Some(growing), false) => format!("popular({growing})"),
                    (growing, true) if one.table == other.table => {
                        let growing = if growing.is_some() { ", growing=TRUE" } else { "" };
                        format!("other_than({apart}{growing}, distinct=TRUE)")
                    }
                    (None, true) => format!("popular(apart={apart})"),
                    (Some(growing), true) => format!("popular({growing}, apart={apart})"),
                };
                let key = infer::quoted_column(&self.schema.tables[parent.table], parent.column);
                drafts[at].2.text = format!("ref({key}, {distribution})");
            }
        }
    }

    /// Returns the draft of the column whose consecutive rows make a pair with that of another draft, if a table has few of all
    /// pairs, with a key and a time of its own, and nothing else depends on these rows.
    fn leader_of_pair(&self, drafts: &[Draft], second: usize) -> Option<usize> {
        /// All pairs for each one that is taken.
        const SPARE: u64 = 20;
        let (table, column, ref inferred) = drafts[second];
        let of_table = &self.schema.tables[table];
        let is_alone = |text: &str, call: &str| text.starts_with("ref(") && text.contains(call);
        if !is_alone(&inferred.text, ", distinct_in(") {
            return None;
        }
        let named = |at: usize| quoted(&of_table.columns[at].name);
        let names = |text: &str, at: usize| text.contains(&format!("({}", named(at)));
        let first = drafts.iter().position(|(of, at, leader)| {
            *of == table && is_alone(&leader.text, ", per_parent(") && names(&inferred.text, *at)
        })?;
        let leader = drafts[first].1;
        let is_key = of_table.rowid_alias.is_some_and(|key| key != leader && key != column);
        let rows = self.sizes[table].rows;
        let parents = [leader, column].map(|at| self.single_parent(table, at).map(|of| self.sizes[of.table].rows));
        let [Some(one), Some(other)] = parents else { return None };
        let is_few = rows.max(one).max(other) <= MOST_ROWS && rows.saturating_mul(SPARE) <= one.saturating_mul(other);
        let others = drafts.iter().enumerate().filter(|(at, draft)| draft.0 == table && *at != first && *at != second);
        let is_needed =
            others.into_iter().any(|(_, draft)| names(&draft.2.text, leader) || names(&draft.2.text, column));
        let is_pair = is_key && infer::has_times(of_table) && !infer::is_reaction(of_table);
        (is_pair && is_few && !is_needed).then_some(first)
    }
}
