//! Rows of hospitals: where patients live, their rooms, and what they pay.

use super::TableInference;
use super::subjects::Kind;

/// The city of the house and its departments.
pub(super) const CITY: &str = "Boston";
/// The share of patients who live there.
const NEAR: f64 = 0.9;

impl TableInference<'_> {
    /// Returns the city of a patient: mostly that of the house.
    pub(super) fn city_of_patient(&self) -> Option<String> {
        let text = format!("if(bool({NEAR}), '{CITY}', place_of('US', 'city', digits(4)))");
        Some(text).filter(|_| self.kind() == Some(Kind::Person) && super::has_last_word(self.table, "patient"))
    }

    /// Returns the amounts that patients pay: from a check-up to an operation.
    pub(super) fn price_of_treatment(&self) -> Option<String> {
        self.is_of_patient().then(|| "lognormal(5.7, 1.1, min=45, max=60000, decimals=2)".to_owned())
    }

    /// Rooms in which people stay: each has two of their own in turn, so that none is taken twice at a time.
    pub(super) fn rooms(&mut self) {
        /// A prime: the rooms of persons come in no order.
        const FACTOR: u64 = 7919;
        const FLOORS: u64 = 9;
        let by = self.context.per_parent.filter(|_| self.kind() == Some(Kind::Stay));
        let person = by.and_then(|by| Some((by, self.context.parents[by]?.table)));
        let person = person.filter(|(_, of)| super::is_person(&self.context.schema.tables[*of]));
        let is_room = |at: usize| self.is_free(at) && !self.columns[at].is_unique;
        let Some(((by, of), at)) = person.zip(self.find("room room_number room_no bed", is_room)) else { return };
        let rooms = 2 * self.context.rows_in(of).max(99) + 2;
        let rooms = if rooms.is_multiple_of(FACTOR) { rooms + 1 } else { rooms };
        let by = self.column(by);
        let room = format!("(2 * same_in({by}, sequence()) + number_in({by}) % 2) * {FACTOR} % {rooms}");
        let floor = 10_u64.pow((rooms / FLOORS + 1).ilog10() + 1);
        let number = format!("({room} % {FLOORS} + 1) * {floor} + {room} / {FLOORS} + 1");
        let text = if self.is_text(at) { format!("({number}) || ''") } else { number };
        self.set(at, text, "a room");
    }
}
