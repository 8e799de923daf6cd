//! States that mean "now": no order of years ago is pending, and no build of last summer still runs.

use super::names::{bare, is_like};
use super::subjects::Kind;
use super::times::Stage;
use super::{TableInference, rules};
use crate::tables::statement_of;
use litepress_rows::schema::{Column, checks};
use litepress_rows::sql_tokens::{unquote, words};

/// States of rows whose end is still to come, and for how many days they last at most.
const CURRENT: [(Kind, &str, i64); 4] = [
    (
        Kind::Order,
        "pending new created open draft placed received accepted confirmed processing preparing in_progress picking packed ready unpaid awaiting_payment on_hold backordered",
        30,
    ),
    (Kind::Stay, "pending requested confirmed booked reserved active checked_in in_progress", 30),
    (Kind::Payment, "pending processing authorized created requires_action", 3),
    (Kind::Run, "running pending queued created waiting scheduled started starting in_progress building", 1),
];
/// States of orders that go on if they have one of `ENDS` to reach.
const ON_THE_WAY: &str = "paid shipped in_transit dispatched";
/// States of orders without a parcel.
const UNSHIPPED: &str = "cancelled canceled failed pending new created open draft received confirmed processing preparing unpaid on_hold backordered";
const ENDS: &str = "delivered completed complete done closed fulfilled";

/// Returns how frequent a state usually is: most orders are delivered, and few are cancelled.
pub(crate) fn usual_weight(state: &str) -> u32 {
    const FREQUENT: &str = "delivered completed complete done closed active published success succeeded paid enabled normal user member public standard open";
    const RARE: &str = "cancelled canceled failed error rejected deleted banned suspended refunded inactive archived disabled returned blocked owner admin superuser urgent critical";
    let state = state.to_lowercase();
    match () {
        () if has(FREQUENT, &state) => 6,
        () if has(RARE, &state) => 1,
        () => 2,
    }
}

fn has(words: &str, wanted: &str) -> bool {
    words.split(' ').any(|word| word == wanted)
}

/// Returns the texts and weights of a choice of texts.
fn items(text: &str) -> Option<Vec<(&str, u32)>> {
    let items = text.strip_prefix("choice(")?.strip_suffix(')')?.split(", ");
    let weighted = items.map(|item| item.split_once(": ").unwrap_or((item, "1")));
    weighted.map(|(text, weight)| Some((text, weight.parse().ok()?))).collect()
}

/// Formats a choice of texts with these weights.
fn choice(items: &[(&str, u32)]) -> String {
    let items: Vec<String> = items.iter().map(|(text, weight)| format!("{text}: {weight}")).collect();
    format!("choice({})", items.join(", "))
}

impl TableInference<'_> {
    /// Keeps states that mean "now" to the rows of the last days.
    pub(super) fn current_states(&mut self) {
        let Some((_, current, days)) = CURRENT.iter().find(|(kind, ..)| self.kind() == Some(*kind)) else { return };
        let Some(state) = self.find_repeatable_text("status state *_status conclusion result") else { return };
        let text = self.states_in_check(state).unwrap_or_else(|| self.alone(state).text);
        let Some(mut states) = items(&text) else { return };
        let word = |state: &str| state.trim_matches('\'').to_lowercase().replace([' ', '-'], "_");
        if self.are_lines_shipped() {
            states.retain(|(state, _)| !has(UNSHIPPED, &word(state)));
        }
        let goes_on = self.kind() == Some(Kind::Order) && states.iter().any(|(state, _)| has(ENDS, &word(state)));
        let is_current = |state: &str| has(current, &word(state)) || goes_on && has(ON_THE_WAY, &word(state));
        let mut over: Vec<(&str, u32)> = states.iter().filter(|(state, _)| !is_current(state)).copied().collect();
        let sum = |states: &[(&str, u32)]| states.iter().map(|(_, weight)| weight).sum::<u32>();
        let rest = sum(&states) - sum(&over);
        // Most rows end well.
        let Some((_, weight)) = over.iter_mut().max_by_key(|(_, weight)| *weight).filter(|_| rest > 0) else { return };
        *weight += rest;
        if let Some(is_young) = self.is_young(*days) {
            let text = format!("if({is_young}, {}, {})", choice(&states), choice(&over));
            self.set(state, text, "a state of now, if the row is a young one");
        }
    }

    /// Returns whether each line of an order has a day of shipping.
    fn are_lines_shipped(&self) -> bool {
        self.context.lines.is_some_and(|lines| {
            let of = &self.context.schema.tables[lines];
            let is_shipped =
                |column: &Column| column.not_null && is_like(&bare(of, &column.name), "*ship_date *shipped*");
            of.columns.iter().any(is_shipped)
        })
    }

    /// Returns whether a row is of the last days, as an operand.
    pub(super) fn is_young(&self, days: i64) -> Option<String> {
        (0..self.columns.len()).find_map(|at| {
            let (stage, form) = self.time_at(at)?;
            let is_first = matches!(stage, Stage::Created | Stage::Queued | Stage::Started);
            let is_known = self.found[at].is_some() && rules::null_share(&self.columns[at].plain).is_none();
            let first = form.day_before(self.context.day, days)?;
            (is_first && is_known).then(|| format!("{} >= {first}", self.column(at)))
        })
    }

    /// Returns a choice of the texts that a CHECK lists.
    pub(super) fn states_in_check(&self, at: usize) -> Option<String> {
        let sql = statement_of(self.context.schema, self.table).filter(|_| self.table.has_check)?;
        checks(sql).iter().find_map(|check| match words(&check.expression)[..] {
            [name, is_in, ref texts @ ..]
                if unquote(name).eq_ignore_ascii_case(&self.table.columns[at].name)
                    && is_in.eq_ignore_ascii_case("in")
                    && texts.iter().all(|text| text.starts_with('\'') && !text.contains([',', ':'])) =>
            {
                let weighted = texts.iter().map(|text| (*text, usual_weight(text.trim_matches('\''))));
                Some(choice(&weighted.collect::<Vec<_>>()))
            }
            _ => None,
        })
    }
}
