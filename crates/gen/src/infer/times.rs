//! Times of a row: which columns hold one, in which form, and in which order they come.
//!
//! The first time of a row ascends with the row number and ends near the reference day. The others follow from it, so
//! that no order is paid before it is placed.

use super::browsing::is_history;
use super::names::{bare, is_like};
use super::subjects::Kind;
use super::{ColumnTraits, TableInference, TypeClass};
use litepress_rows::calendar::{Date, DateTime};
use litepress_rows::schema::{Column, Schema, Table};
use std::borrow::Cow;

/// The last day of inferred times, in days from 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReferenceDay(i64);

impl Default for ReferenceDay {
    /// Returns 2026-01-01: a day that does not move, so that the same schema has the same rows.
    fn default() -> Self {
        Self(20_454)
    }
}

impl ReferenceDay {
    /// Parses `YYYY-MM-DD`, from the year 200 to 9000.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let time = DateTime::parse(text.as_bytes())
            .filter(|time| time.second.is_none() && text.len() == 10 && time.date.exists())?;
        (200..9000).contains(&time.date.year).then(|| Self(time.date.days()))
    }

    /// Returns the text of a day a number of days before.
    pub(super) fn before(self, days: i64) -> String {
        let Date { year, month, day } = Date::from_days(self.0 - days);
        format!("{year:04}-{month:02}-{day:02}")
    }

    pub(super) fn unix(self) -> i64 {
        self.0 * 86_400
    }

    /// Returns the Julian day at which the day begins.
    fn julian(self) -> f64 {
        self.0 as f64 + JULIAN_1970
    }
}

/// The Julian day at which 1970 begins.
const JULIAN_1970: f64 = 2_440_587.5;

/// How a column stores times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `YYYY-MM-DD`
    Day,
    /// `YYYY-MM-DD HH:MM:SS`
    Text,
    /// A number of units from 1970, with this number of them in a second.
    Unix(i64),
    /// Microseconds from 1601, the first year of a Gregorian cycle.
    Since1601,
    Julian,
}

/// The place of a time in the life of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    Birth,
    Created,
    Queued,
    Started,
    Paid,
    Edited,
    LastSeen,
    Ended,
    Delivered,
    Deleted,
    /// The last change of the row, not before the other times.
    Updated,
    /// A time that may be after the reference day.
    Due,
}

/// The share of the rest of the time that a delay takes which would end after the reference day.
const SHARE: &str = "int(500, 999) / 1000";

/// Names of times by stage. The first that matches counts.
static STAGES: &[(&str, Stage)] = &[
    ("*birth* dob born", Stage::Birth),
    (
        "*expire* *expiry* *expiration* *due* *valid_until *valid_to *_until *deadline* required_date *requireddate *scheduled* *remind* *renew* *publish_up *ban_end*",
        Stage::Due,
    ),
    (
        "*deleted* *removed* *cancel* *archived* *banned* *suspended* *revoked* *locked* *refunded* *deceased* *died* *death* *discontinu* *unsubscribed* *silenced* *disabled* *sensitized* *destroyed*",
        Stage::Deleted,
    ),
    ("*delivered* *arrived* *delivery_date received_at received_timestamp received_date arrival*", Stage::Delivered),
    (
        "*shipped* *ship_date *dispatched* *finished* *ended* *_end end end_* *_end_* *stopped* *completed* *closed* *resolved* *return* *processed* *merged* *_to to_date *stop_time *leaves* *check_out* *checkout* *departure* *settled* last_day",
        Stage::Ended,
    ),
    (
        "*reset* *remember* *last_login* *last_seen* *last_sign* *last_activ* *last_visit* *last_used* *last_access* *last_poll* *seen* *read_at *checked* *viewed* *clicked* *current_sign* *accessed* *atime *last_status* *last_message* *last_post* *last_reply* *last_comment*",
        Stage::LastSeen,
    ),
    (
        "updated* *updated_at *_updated *updated_on *updated_date modified* *modified_at *_modified *modified_on *modified_date *changed_at *_changed changed *mtime mod *_mod post_modified* *update_time *lastmodified* *last_update*",
        Stage::Updated,
    ),
    ("*updated* *modified* *changed* *edited* *mtime* *last_* *synced* *refreshed* *touched* *dirty*", Stage::Edited),
    (
        "*paid* *payment_date *approved* *confirmed* *verified* *accepted* *activated* *reviewed* *authorized*",
        Stage::Paid,
    ),
    (
        "*started* *start_* *_start *begin* *began* *opens* *valid_from *from_date *check_in* *checkin* *published* *pubdate* *released* *release_date",
        Stage::Started,
    ),
    ("*queued* *enqueued* *submitted* *requested*", Stage::Queued),
    (
        "*created* *inserted* *added* *registered* *registration* *joined* *ordered* *placed* *posted* *opened* *since *hire* *purchase* *signup* *first_* *issued* *booked* *sent* *applied* *fired* *occurred* *_date date date_* at *_at *_on *_time time datetime timestamp ts *_ts day created crt scm ctime *_ctime when *_gmt *dateadded* *_datetime *_timestamp *founded* *established* *uploaded* *imported* *logged* *recorded* *taken* epoch",
        Stage::Created,
    ),
];

/// Names that hold durations, counts and persons, although a part of them is that of a time.
const NO_TIMES: &str = "response_time* *load_time* *processing_time *latency* *wait_time *run_time *work_time *view_time *play_time *idle_time *cook_time *cooking_time *prep_time *cpu_time *watch_time *busy_time *reading_time *execution_time *_ttl *_name *_ip* *_count *_by *_id *_user* *_status *duration* total_time typing_time scrolling_time visit_total_time time_spent elapsed* *_ms_total *_seconds *_zone* timezone time_slot *_num *_number *_url *_reason *_email *_hash *_version *_token *_visits *_generation* *_comment* *_address* *_author* *_attempt* *_size *_index *_page* *_row *_error* *_message* based_on *_location *start_line *end_line *_title *_text created_from *_text return_code *_sequence *_pos* *_offset *_timer *_ticks *_ttl";

/// Returns the stage and the form of a column of times.
pub(super) fn time_of(name: &str, traits: &ColumnTraits<'_>) -> Option<(Stage, Form)> {
    let declared = traits.declared.to_ascii_uppercase();
    let base = declared.split('(').next().unwrap_or_default().trim();
    let of_type = match base {
        "DATE" => Some(Form::Day),
        "DATETIME" | "TIMESTAMP" | "TIMESTAMP WITH TIME ZONE" | "TIMESTAMP WITHOUT TIME ZONE" | "TIMESTAMPTZ" => {
            Some(Form::Text)
        }
        "TIME" | "TIME WITHOUT TIME ZONE" => return None,
        _ => None,
    };
    let whole_name = name;
    let name = ["_ms", "_millis", "_msec"].iter().find_map(|unit| name.strip_suffix(unit)).unwrap_or(name);
    let stage = STAGES.iter().find(|(names, _)| is_like(name, names)).map(|(_, stage)| *stage);
    if let Some(form) = of_type {
        return Some((stage.unwrap_or(Stage::Created), form));
    }
    // `joined_ms` is a time, and `first_byte_ms` is not.
    let is_participle = whole_name != name && !name.contains('_');
    // `last_run_time` is a time, and `run_time` is not.
    let is_other = is_like(name, NO_TIMES) && !(is_like(name, "last_* next_*") && name.ends_with("_time"));
    let stage = stage.filter(|_| !is_other && (is_participle || !is_weak(name, traits.class)))?;
    let is_day = is_like(name, "date *_date day *_on *date dob *birthday* born hire_date")
        && !is_like(name, "*_at update* *lastmodified*");
    let form = match traits.class {
        TypeClass::Text if traits.longest.is_some_and(|longest| longest < 10) => return None,
        TypeClass::Text if is_day || traits.longest.is_some_and(|longest| longest < 19) => Form::Day,
        TypeClass::Text | TypeClass::Any => Form::Text,
        TypeClass::Int | TypeClass::Numeric => Form::Unix(if whole_name != name { 1000 } else { 1 }),
        TypeClass::Real if is_like(name, "*_ts ts timestamp *unix* *_epoch") => Form::Unix(1),
        TypeClass::Real => Form::Julian,
        TypeClass::Blob => return None,
    };
    Some((stage, form))
}

/// Returns whether the times of a program are in milliseconds: most of its tables have names such as `sentAt`.
pub(super) fn are_in_millis(schema: &Schema) -> bool {
    let is_camel = |column: &Column| {
        let name = column.name.trim_end_matches("ID").as_bytes();
        name.first().is_some_and(u8::is_ascii_lowercase) && name.iter().any(u8::is_ascii_uppercase)
    };
    let camel = schema.tables.iter().filter(|table| table.columns.iter().any(is_camel)).count();
    2 * camel > schema.tables.len()
}

impl TableInference<'_> {
    /// Returns the stage and the form of a time of the row.
    pub(super) fn time_at(&self, at: usize) -> Option<(Stage, Form)> {
        let column = &self.columns[at];
        self.time(&column.plain, &column.traits).or_else(|| self.start_or_end(at))
    }

    /// Returns the stage and the form of a `start` beside an `end`: a time in a text, or a number of what takes place. Other numbers
    /// may be places in a text.
    fn start_or_end(&self, at: usize) -> Option<(Stage, Form)> {
        const PAIRS: [[&str; 2]; 4] = [["start", "end"], ["starts", "ends"], ["begin", "end"], ["begins", "ends"]];
        let is_event = matches!(self.kind(), Some(Kind::Event | Kind::Stay | Kind::Run | Kind::Task));
        let is_usable = |at: usize| self.columns[at].is_open && (self.is_text(at) || self.is_number(at) && is_event);
        let named = |name: &str| (0..self.columns.len()).find(|&at| self.columns[at].plain == name && is_usable(at));
        let is_pair = |pair: &&[&str; 2]| pair.iter().all(|name| named(name).is_some());
        let pair = PAIRS.iter().find(is_pair)?;
        let end = pair.iter().position(|name| named(name) == Some(at))?;
        // The name of a time with the same meaning decides about the form.
        let (stage, name) = [(Stage::Started, "started_at"), (Stage::Ended, "ended_at")][end];
        let (_, form) = self.time(name, &self.columns[at].traits)?;
        Some((stage, form))
    }

    /// Returns the stage and the form of a time of any table.
    pub(super) fn time_of_column(&self, of: &Table, column: &Column) -> Option<(Stage, Form)> {
        self.time(&bare(of, &column.name), &ColumnTraits::new(column))
    }

    /// Returns the stage and the form of a time. Histories of browsers count microseconds, from 1970 or 1601, and some schemas
    /// milliseconds.
    fn time(&self, name: &str, traits: &ColumnTraits<'_>) -> Option<(Stage, Form)> {
        let (stage, form) = time_of(name, traits)?;
        let is_fine = traits.class == TypeClass::Int && is_history(self.context.schema);
        let form = match form {
            Form::Unix(1) if is_fine && is_like(name, "*time") => Form::Since1601,
            Form::Unix(1) if is_fine => Form::Unix(1_000_000),
            Form::Unix(1) if self.in_millis && !is_like(name, "*_unix") => Form::Unix(1000),
            form => form,
        };
        Some((stage, form))
    }
}

/// Returns whether a column holds a time at which a row came, so that the rows of its table grow with time.
pub(super) fn has_time(name: &str, traits: &ColumnTraits<'_>) -> bool {
    time_of(name, traits).is_some_and(|(stage, _)| !matches!(stage, Stage::Birth | Stage::Due | Stage::Deleted))
}

/// Returns whether a name says too little of a column that is not declared as a time: `opened` may be a flag.
fn is_weak(name: &str, class: TypeClass) -> bool {
    const STRONG: &str = "*_unix *_epoch at *_at *_on *date* *time* *_ts ts timestamp created updated modified *_created *_updated *_modified *modified expires expiry *_expires *expiry* *expiration* mtime *mtime* ctime atime crt mod scm *last_checked *birth* dob born *last_seen* last_login *lastlogin* last_used *_since since *_gmt *_until valid_until valid_from valid_to deadline *_deadline *_from_ts *_start *_end started finished *_started *_finished start_ts end_ts date_* when registered user_registered last_active last_activity epoch";
    let is_integer_day = matches!(class, TypeClass::Int) && is_like(name, "day *_day due *_due");
    !is_like(name, STRONG) || is_integer_day
}

/// Microseconds from 1601 to 1970.
const SINCE_1601: i64 = 11_644_473_600_000_000;

impl Form {
    /// Returns the units in a second of a number, and the number at 1970.
    fn units(self) -> Option<(i64, i64)> {
        match self {
            Self::Unix(units) => Some((units, 0)),
            Self::Since1601 => Some((1_000_000, SINCE_1601)),
            Self::Day | Self::Text | Self::Julian => None,
        }
    }

    /// Returns the number of a time in seconds from 1970.
    pub(super) fn number(self, seconds: i64) -> Option<i64> {
        self.units().map(|(units, origin)| units * seconds + origin)
    }

    /// Returns the units in a second of a number.
    pub(super) fn per_second(self) -> Option<i64> {
        self.units().map(|(units, _)| units)
    }

    /// Returns the annotation of times that ascend with the row number: these arguments of `events` behind the first one, and the form.
    pub(super) fn ascending(self, from: &str, arguments: &str) -> String {
        let events = |form: &str| format!("events('{from}', {arguments}{form})");
        match self {
            Self::Day => format!("substr({}, 1, 10)", events("")),
            Self::Text => events(""),
            Self::Unix(1) => events(", as='unix'"),
            Self::Unix(1000) => events(", as='unix_ms'"),
            Self::Unix(1_000_000) => format!("{} * 1000 + int(0, 999)", events(", as='unix_ms'")),
            Self::Unix(units) => format!("{} * {units}", events(", as='unix'")),
            Self::Since1601 => format!("{} + {SINCE_1601}", Self::Unix(1_000_000).ascending(from, arguments)),
            Self::Julian => events(", as='julian'"),
        }
    }

    /// Returns the annotation of a day between two ages in years before the reference day.
    pub(super) fn birth(self, day: ReferenceDay, oldest: i64, youngest: i64) -> String {
        let (from, to) = (day.before(oldest * 365), day.before(youngest * 365));
        match self {
            Self::Day => format!("date('{from}', '{to}')"),
            Self::Text => format!("date('{from}', '{to}') || ' 00:00:00'"),
            Self::Unix(units) => format!(
                "86400 * {units} * int({}, {})",
                day.unix() / 86_400 - oldest * 365,
                day.unix() / 86_400 - youngest * 365
            ),
            Self::Since1601 => format!("{} + {SINCE_1601}", Self::Unix(1_000_000).birth(day, oldest, youngest)),
            Self::Julian => format!("timestamp('{from}', '{to}', as='julian')"),
        }
    }

    /// Returns the annotation of a time that is `delay` later than the time in `base`, in `of` form; `None` if these
    /// forms cannot be computed from one another. A time after the limit becomes one in the second half of what is left.
    pub(super) fn after(self, base: &str, of: Self, delay: Delay, limit: Option<ReferenceDay>) -> Option<String> {
        let base = self.converted(base, of)?;
        let Delay { amount, unit } = delay;
        if amount == "0" {
            return Some(base);
        }
        let length = match unit {
            "seconds" => 1,
            "minutes" => 60,
            "hours" => 3600,
            _ => 86_400,
        };
        // A delay that may be 0 may be cut to 0.
        let may_be_none = ["if(", "int(0,", "choice(0:", "exponential("].iter().any(|begin| amount.starts_with(begin));
        let least = u8::from(!may_be_none);
        let cut = |amount: &str, rest: String| format!("max({least}, min({amount}, {rest}))");
        // Nobody acts after whole hours, but for lessons and meetings.
        let in_seconds = || match length {
            1 => amount.to_string(),
            _ if amount.starts_with("choice(") => format!("{length} * ({amount})"),
            _ => format!("{length} * ({amount}) + int(0, {})", length - 1),
        };
        Some(match (self, limit) {
            (Self::Day, _) if length < 86_400 => base,
            (Self::Day, None) => format!("date_add({base}, {amount}, '{unit}')"),
            (Self::Day, Some(day)) => {
                let rest = format!("date_diff({base}, '{}', '{unit}')", day.before(0));
                format!("date_add({base}, {}, '{unit}')", cut(&amount, rest))
            }
            (Self::Text, None) => format!("date_add({base}, {amount}, '{unit}')"),
            (Self::Text, Some(day)) => {
                let rest = format!("date_diff({base}, '{}', 'seconds') * {SHARE}", day.before(0));
                format!("date_add({base}, {}, 'seconds')", cut(&in_seconds(), rest))
            }
            (Self::Unix(_) | Self::Since1601, None) => {
                format!("{base} + {} * ({amount})", self.per_second()? * length)
            }
            (Self::Unix(1), Some(day)) => {
                format!("{base} + {}", cut(&in_seconds(), format!("({} - {base}) * {SHARE}", day.unix())))
            }
            (Self::Unix(_) | Self::Since1601, Some(day)) => {
                let units = self.per_second()?;
                let rest = format!("({} - {base}) / {units} * {SHARE}", self.number(day.unix())?);
                format!("{base} + {units} * {}", cut(&in_seconds(), rest))
            }
            (Self::Julian, None) => format!("{base} + ({}) / 86400.0", in_seconds()),
            (Self::Julian, Some(day)) => {
                let rest = format!("({} - {base}) * 86400 * {SHARE}", day.julian());
                format!("{base} + {} / 86400.0", cut(&in_seconds(), rest))
            }
        })
    }

    /// Returns the annotation of a time in the last `seconds`, but not before the time in `base`, in `of` form.
    pub(super) fn lately(self, base: &str, of: Self, day: ReferenceDay, seconds: i64) -> Option<String> {
        let base = self.converted(base, of)?;
        Some(match self {
            Self::Day => {
                format!("max({base}, date_add('{}', int(-{}, -1), 'days'))", day.before(0), seconds / 86_400 + 1)
            }
            Self::Text => {
                format!("max({base}, date_add('{} 00:00:00', int(-{seconds}, -30), 'seconds'))", day.before(0))
            }
            Self::Unix(_) | Self::Since1601 => {
                let (units, last) = (self.per_second()?, self.number(day.unix())?);
                format!("max({base}, {last} + {units} * int(-{seconds}, -30))")
            }
            Self::Julian => format!("max({base}, {} + int(-{seconds}, -30) / 86400.0)", day.julian()),
        })
    }

    /// Returns the beginning of the day that is `days` before the reference day.
    pub(super) fn day_before(self, day: ReferenceDay, days: i64) -> Option<String> {
        Some(match self {
            Self::Day => format!("'{}'", day.before(days)),
            Self::Text => format!("'{} 00:00:00'", day.before(days)),
            Self::Unix(_) | Self::Since1601 => self.number(day.unix() - 86_400 * days)?.to_string(),
            Self::Julian => format!("{} - {days}", day.julian()),
        })
    }

    /// Returns the span from one time to another, in the unit of the form: days, seconds or parts of a second.
    pub(super) fn between(self, from: &str, to: &str) -> Option<String> {
        Some(match self {
            Self::Day => format!("date_diff({from}, {to}, 'days')"),
            Self::Text => format!("date_diff({from}, {to}, 'seconds')"),
            Self::Unix(_) | Self::Since1601 => format!("({to} - {from})"),
            Self::Julian => return None,
        })
    }

    /// Returns the time that is a span later, in the unit of the form.
    pub(super) fn plus(self, base: &str, span: &str) -> Option<String> {
        Some(match self {
            Self::Day => format!("date_add({base}, {span}, 'days')"),
            Self::Text => format!("date_add({base}, {span}, 'seconds')"),
            Self::Unix(_) | Self::Since1601 => format!("{base} + {span}"),
            Self::Julian => return None,
        })
    }

    /// Returns a time of another form in this one.
    pub(super) fn converted(self, base: &str, of: Self) -> Option<String> {
        Some(match (self, of) {
            (Self::Julian, Self::Julian) => base.to_owned(),
            (Self::Julian, Self::Unix(units)) => format!("({base} / {units} / 86400.0 + {JULIAN_1970})"),
            (Self::Julian, Self::Day | Self::Text) => {
                format!("(date_diff('1970-01-01', {base}, 'seconds') / 86400.0 + {JULIAN_1970})")
            }
            (Self::Julian, _) | (_, Self::Julian) => return None,
            (Self::Day, Self::Text) => format!("substr({base}, 1, 10)"),
            (Self::Text, Self::Day) => format!("{base} || ' 00:00:00'"),
            _ if self == of => base.to_owned(),
            (Self::Since1601, _) | (_, Self::Since1601) => return None,
            (Self::Unix(units), Self::Unix(of)) if units > of => format!("{base} * {}", units / of),
            (Self::Unix(units), Self::Unix(of)) => format!("{base} / {}", of / units),
            (Self::Unix(units), _) => format!("{units} * date_diff('1970-01-01', {base}, 'seconds')"),
            (Self::Text, Self::Unix(of)) => format!("date_add('1970-01-01 00:00:00', {base} / {of}, 'seconds')"),
            (Self::Day, Self::Unix(of)) => format!("date_add('1970-01-01', {base} / {}, 'days')", of * 86_400),
            (Self::Day | Self::Text, _) => base.to_owned(),
        })
    }
}

/// A span of time between two stages.
#[derive(Clone, Debug)]
pub(super) struct Delay {
    pub amount: Cow<'static, str>,
    pub unit: &'static str,
}

/// Returns the usual delay of a stage, in a table of this kind.
pub(super) fn delay(stage: Stage, kind: Option<Kind>, form: Form) -> Delay {
    let of = |amount: &'static str, unit| Delay { amount: amount.into(), unit };
    let is_day = form == Form::Day;
    match (stage, kind) {
        (Stage::Started, Some(Kind::Run)) => of("int(1, 90)", "seconds"),
        (Stage::Ended, Some(Kind::Stay)) if !is_day => of("int(20, 190)", "hours"),
        (Stage::Ended, Some(Kind::Run)) => of("lognormal(5, 1, min=2, max=7200, decimals=0)", "seconds"),
        (Stage::Updated | Stage::Edited, Some(Kind::Run | Kind::Log)) => of("int(0, 600)", "seconds"),
        (Stage::Updated | Stage::Edited, Some(Kind::Line)) if !is_day => of("int(0, 90)", "seconds"),
        (Stage::Delivered, Some(Kind::Text)) if !is_day => {
            of("lognormal(1, 1.2, min=0, max=90000, decimals=0)", "seconds")
        }
        (Stage::LastSeen, Some(Kind::Text)) if !is_day => {
            of("lognormal(4, 2, min=1, max=90000, decimals=0)", "minutes")
        }
        (Stage::Paid, _) if is_day => of("choice(0: 6, 1: 2, 3: 1, 14: 1)", "days"),
        // An order is paid before it leaves the house.
        (Stage::Paid, Some(Kind::Order)) => of("lognormal(3, 1.4, min=1, max=280, decimals=0)", "minutes"),
        (Stage::Paid, _) => of("lognormal(4, 2, min=1, max=20000, decimals=0)", "minutes"),
        (Stage::Ended, Some(Kind::Place | Kind::Company | Kind::Person | Kind::Product)) => of("int(30, 900)", "days"),
        (Stage::Ended, Some(Kind::Event)) if !is_day => of("choice(15: 3, 30: 5, 45: 3, 60: 4, 90: 1)", "minutes"),
        (Stage::Ended, Some(Kind::Task)) => of("lognormal(4.5, 1.2, min=1, max=4000, decimals=0)", "hours"),
        (Stage::Ended, _) if is_day => of("int(1, 9)", "days"),
        (Stage::Ended, _) => of("int(5, 190)", "hours"),
        (Stage::Delivered, _) if is_day => of("int(1, 6)", "days"),
        (Stage::Delivered, _) => of("int(20, 150)", "hours"),
        (Stage::Updated | Stage::Edited, _) if is_day => of("choice(0: 5, 1: 1, 7: 1, 30: 1, 90: 1)", "days"),
        (Stage::Edited, _) => of("lognormal(7, 2.2, min=20, max=9000000, decimals=0)", "seconds"),
        (Stage::Updated, _) => of("if(bool(0.35), 0, exponential(0.0000006, max=30000000, decimals=0))", "seconds"),
        (Stage::LastSeen, _) if is_day => of("int(0, 600)", "days"),
        (Stage::LastSeen, _) => of("exponential(0.0002, max=12000, decimals=0)", "hours"),
        (Stage::Deleted, Some(Kind::Order)) => of("int(1, 6)", "days"),
        (Stage::Deleted, _) => of("int(1, 300)", "days"),
        (Stage::Due, _) => of("int(7, 90)", "days"),
        (_, _) if is_day => of("choice(0: 4, 1: 2, 2: 1)", "days"),
        (_, _) => of("int(0, 3600)", "seconds"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message was sent at 1618416627, which JavaScript takes for a day in 1970.
    #[test]
    fn programs_with_names_in_camel_case_count_milliseconds() {
        for (sql, expected) in [
            ("CREATE TABLE message (id INTEGER PRIMARY KEY, sentAt INTEGER, read_at INTEGER)", true),
            (
                "CREATE TABLE message (id INTEGER PRIMARY KEY, sent_at INTEGER); CREATE TABLE mark (dateAdded INTEGER)",
                false,
            ),
            ("CREATE TABLE item (itemID INTEGER PRIMARY KEY, added INTEGER)", false),
            ("CREATE TABLE Message (MessageId INTEGER PRIMARY KEY, SentAt INTEGER)", false),
        ] {
            assert_eq!(are_in_millis(&Schema::from_sql(sql, "test").expect(sql)), expected, "{sql}");
        }
    }

    #[test]
    fn reference_days_are_days() {
        assert_eq!(ReferenceDay::default().before(0), "2026-01-01");
        assert_eq!(ReferenceDay::parse("2024-02-29").map(|day| day.before(1)), Some("2024-02-28".to_owned()));
        for text in ["2024-02-30", "2024-02-28 10:00", "now", "99999-01-01"] {
            assert_eq!(ReferenceDay::parse(text), None, "{text}");
        }
    }
}
