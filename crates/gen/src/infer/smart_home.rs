//! States of the things in a house, and statistics of its sensors: a lamp is on or off, and a temperature is a number.

use super::names::{is_like, is_plain, plain};
use super::{ColumnTraits, TableInference, TypeClass, branches, literal};
use litepress_rows::schema::{Schema, Table};

/// States by the first letters of a thing's name, one after another.
const STATES: [(&str, &[&str]); 6] = [
    ("li", &["on", "off"]),
    ("sw", &["on", "off"]),
    ("bi", &["on", "off"]),
    ("cl", &["heat", "off"]),
    ("co", &["open", "closed"]),
    ("me", &["off", "playing", "paused", "playing"]),
];
/// Rows between two states of a thing.
pub(crate) const STATES_OF_THING: u64 = 25;
/// Seconds between two states of a thing.
const SECONDS: u64 = 3600;
/// Events of a house in the order of their list: how many of twenty there are, and their details.
const EVENTS: [(u8, &str); 9] = [
    (
        8,
        "object(domain: constant('light'), service: choice('turn_on': 5, 'turn_off': 5, 'toggle'), service_data: object(entity_id: phrase('light.{room_id}')))",
    ),
    (2, "object(entity_id: phrase('{entity_id}'))"),
    (
        4,
        "CASE int(0, 6) WHEN 0 THEN object(name: choice('Lights off at night', 'Heating down at night', 'Heating up in the morning'), source: constant('time pattern')) \
         WHEN 1 THEN object(name: choice('Blinds down at sunset', 'Blinds up at sunrise', 'Lights on at sunset'), source: constant('sun.sun')) \
         WHEN 2 THEN object(name: constant('Motion at night'), source: phrase('state of binary_sensor.{room_id}_motion')) \
         WHEN 3 THEN object(name: constant('Door left open'), source: constant('state of binary_sensor.front_door')) \
         WHEN 4 THEN object(name: constant('Window open while heating'), source: phrase('state of binary_sensor.{room_id}_window')) \
         ELSE object(name: choice('Nobody is at home', 'Somebody came home'), source: constant('state of zone.home')) END",
    ),
    (1, "object(entity_id: phrase('{entity_id}'))"),
    (1, "object(name: phrase('{house_script}'))"),
    (1, "object(name: phrase('{house_script}'))"),
    (1, "object(entity_id: phrase('timer.{house_timer}'))"),
    (1, "object(entity_id: phrase('button.{room_id}'))"),
    (1, "object(tag_id: hex(16), device_id: hex(32))"),
];
const ATTRIBUTES: &str = "object(supported_features: choice(0: 6, 1: 2, 4: 2, 44), update_interval: choice(10: 2, 30: 5, 60: 3), device: hex(8))";
/// Sensors: a word of their names, the unit, and the least value about which they measure, with a hundredth of its span.
const SENSORS: [(&str, &str, &str); 4] = [
    ("temperature", "°C", "17 + 0.07"),
    ("humidity", "%", "32 + 0.3"),
    ("energy", COUNTED, "100 + 80"),
    ("power", "W", "15 + 3"),
];
/// The unit of what is counted.
const COUNTED: &str = "kWh";

/// Returns whether a schema has the entities of a house.
fn is_of_house(schema: &Schema) -> bool {
    let is_entity = |table: &Table| table.columns.iter().any(|column| is_plain(&column.name, "entity_id"));
    schema.tables.iter().any(is_entity)
}

/// Returns whether a table lists the kinds of events in a house.
pub(crate) fn lists_events(schema: &Schema, table: &Table) -> bool {
    let is_unique = |at: usize| super::is_key_alone(table, at);
    is_of_house(schema) && table.columns.len() == 2 && table.column("event_type").is_some_and(is_unique)
}

/// Returns whether the rows of a table are states of the things, or statistics of the sensors, in another one.
pub(super) fn is_measured(table: &Table, of: &Table) -> bool {
    let has = |table: &Table, names: &str| table.columns.iter().any(|column| is_like(&plain(&column.name), names));
    has(of, "entity_id") && !has(of, "state") && has(table, "state") && has(table, "old_state_id")
        || has(of, "statistic_id") && has(table, "mean")
}

/// Returns a CASE over the event whose details have a number, by its position in the list of events.
fn by_event(number: &str, value: impl Fn(usize) -> String) -> String {
    let positions = EVENTS.iter().enumerate().flat_map(|(at, (share, _))| (0..*share).map(move |_| at));
    let all: u32 = EVENTS.iter().map(|(share, _)| u32::from(*share)).sum();
    format!("CASE {number} % {all}{} END", branches(0, positions.map(value)))
}

/// Returns the key of the event whose details have a number, if a table lists all events in their order.
pub(crate) fn event_of_details(schema: &Schema, list: &Table, rows: u64, number: &str) -> Option<String> {
    let is_whole = lists_events(schema, list) && list.rowid_alias.is_some() && rows == EVENTS.len() as u64;
    is_whole.then(|| by_event(number, |at| (at + 1).to_string()))
}

/// Returns a CASE over what a sensor measures, as its name says.
fn by_sensor(name: &str, value: impl Fn(&(&str, &str, &str)) -> String) -> String {
    let case = |sensor: &(&str, &str, &str)| {
        format!(" WHEN replace({name}, '{}', '') <> {name} THEN {}", sensor.0, value(sensor))
    };
    format!("CASE{} END", SENSORS.iter().map(case).collect::<String>())
}

/// Returns the value about which a sensor measures, as its name decides, so that the states and statistics of one sensor agree.
fn about(name: &str, values: &str) -> String {
    format!("({values} * ((length({name}) * 61 + instr({name}, '_') * 37) % 100))")
}

/// Returns a value near the one about which a sensor measures.
fn near(name: &str, values: &str) -> String {
    format!("round({} * normal(1, 0.01), 1)", about(name, values))
}

impl TableInference<'_> {
    pub(super) fn smart_home(&mut self) {
        if is_of_house(self.context.schema) {
            self.things();
            self.states_of_things();
            self.changes_of_things();
            self.sensors();
            self.statistics();
        }
    }

    /// Names of things, and their attributes and the details of events as JSON.
    fn things(&mut self) {
        if let Some(at) = self.find_text("entity_id").filter(|&at| self.columns[at].is_unique) {
            self.set(at, "unique_phrase('{entity_id}', '_')", "a thing in a house");
        }
        let number = self.table.rowid_alias.map_or("sequence()".to_owned(), |key| self.column(key));
        let event = by_event(&number, |at| EVENTS[at].1.to_owned());
        for (names, text) in
            [("shared_data event_data", event.as_str()), ("shared_attrs attributes state_attributes", ATTRIBUTES)]
        {
            if let Some(at) = self.find_repeatable_text(names) {
                self.set(at, text, "details as JSON");
            }
        }
    }

    /// Times at which states changed: NULL stands for the time of the row.
    fn changes_of_things(&mut self) {
        let is_time = |at: usize| self.is_open_time(at) && !self.columns[at].not_null;
        let changed = self.find("last_changed_ts", is_time);
        let (Some(changed), Some(updated)) = (changed, self.find("last_updated_ts", |at| self.is_open_time(at))) else {
            return;
        };
        self.found[changed] = Some(super::inferred("constant(NULL)", "follows from the time of the last update"));
        let rows = self.context.rows.max(1);
        let step = SECONDS as f64 / rows.div_ceil(STATES_OF_THING) as f64;
        let first = self.context.day.unix() as f64 - (rows as f64 * step).ceil() - 1.0;
        if self.columns[updated].traits.class == TypeClass::Real {
            let text = format!("{first:.1} + {step} * (sequence() - 1) + real(0, {step}, 3)");
            self.set(updated, text, "one state after another");
        }
    }

    /// States that the thing can have that the row refers to.
    fn states_of_things(&mut self) {
        let state = self.find_repeatable_text("state");
        let Some((state, thing)) = state.zip(self.text_of_a_parent("entity_id")) else { return };
        // The things take turns.
        let turn = format!("((sequence() - 1) / {})", self.context.rows.div_ceil(STATES_OF_THING).max(1));
        let measured = by_sensor(&thing, |&(_, unit, values)| match unit {
            COUNTED => format!("round({} + 0.3 * {turn}, 2) || ''", about(&thing, values)),
            _ => format!("{} || ''", near(&thing, values)),
        });
        let of_kind = |(kind, states): &(&str, &[&str])| {
            let states_in_turn = branches(0, states.iter().map(|state| literal(state)));
            format!(" WHEN '{kind}' THEN CASE ({turn} + length({thing})) % {}{states_in_turn} END", states.len())
        };
        let states: String = STATES.iter().map(of_kind).collect();
        let text = format!("CASE substr({thing}, 1, 2){states} ELSE coalesce({measured}, 'unknown') END");
        self.set(state, text, "follows from the thing that the row refers to");
    }

    /// Sensors: the unit suits the name, and what is counted has a sum in place of a mean.
    fn sensors(&mut self) {
        let unit = self.find_repeatable_text("unit*");
        let Some((id, unit)) = self.find_text("statistic_id sensor_id").zip(unit) else { return };
        self.set(id, "unique_phrase('{sensor_id}', '_')", "a sensor");
        let text = by_sensor(&self.column(id), |(_, unit, _)| format!("'{unit}'"));
        self.set(unit, text, "follows from the name of the sensor");
        for (name, operator) in [("has_mean", "<>"), ("has_sum", "=")] {
            if let Some(at) = self.find(name, |at| self.found[at].is_none()) {
                let text = format!("{} {operator} '{COUNTED}'", self.column(unit));
                self.set(at, text, "follows from the unit");
            }
        }
        if let Some(at) = self.find_repeatable_text("source") {
            self.set(at, "constant('recorder')", "what measures");
        }
        if let Some(at) = self.find_repeatable_text("name").filter(|&at| !self.columns[at].not_null) {
            self.set(at, "constant(NULL)", "follows from the sensor, which has a name");
        }
    }

    /// Statistics of an hour: the mean is between the least and the largest value, and a sum grows.
    fn statistics(&mut self) {
        let find = |name: &str| self.find(name, |at| self.found[at].is_none() && self.is_amount(at));
        let (Some(mean), Some(least), Some(most)) = (find("mean avg average"), find("min"), find("max")) else {
            return;
        };
        let (state, sum) = (find("state"), find("sum"));
        let Some(name) = self.text_of_a_parent("statistic_id sensor_id") else { return };
        let text = by_sensor(&name, |&(_, unit, values)| match unit {
            COUNTED => "NULL".to_owned(),
            _ => near(&name, values),
        });
        self.set(mean, text, "follows from the sensor");
        let mean = self.column(mean);
        for (at, sign) in [(least, "-"), (most, "+")] {
            let text = format!("round({mean} {sign} abs({mean}) * real(0, 0.08, 3), 2)");
            self.set(at, text, "follows from the mean");
        }
        let by = self.context.per_parent.map(|by| self.column(by));
        if let Some((sum, by)) = sum.zip(by) {
            let text = format!("if({mean} IS NULL, round(0.4 * number_in({by}) + real(0, 0.3, 2), 2))");
            self.set(sum, text, "follows from the hours before");
            if let Some(state) = state {
                self.set(state, format!("{} + 100", self.column(sum)), "follows from the sum");
            }
        }
    }

    /// Returns a text of one of these names of a row that the row refers to.
    fn text_of_a_parent(&self, names: &str) -> Option<String> {
        (0..self.columns.len()).find_map(|by| {
            let of = &self.context.schema.tables[self.context.parents[by]?.table];
            let column = of.columns.iter().find(|column| is_like(&plain(&column.name), names))?;
            let is_text = ColumnTraits::new(column).class == TypeClass::Text;
            is_text.then(|| self.through(by, column))
        })
    }
}
