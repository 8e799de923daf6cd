//! Inference of all columns of a table together, so that the values of a row agree.
//!
//! ```text
//! names --> parts of a person, a place, times, amounts --> a first column of each, and the others computed from it
//!       --> other names: rules.rs; declared types; affinity
//! then NULL in a share of nullable columns (rules.rs), and DEFAULTs
//! ```

use super::names::{is_like, plain};
use super::rules;
use super::subjects::{Kind, Subject, subject};
use super::times::{Delay, Form, ReferenceDay, Stage, delay, time_of};
use super::{
    ColumnTraits, Inference, Parent, TypeClass, by_affinity, by_declared_type, inferred, null_share, quoted_always,
    unique, unique_because,
};
use crate::generators::catalogue;
use litepress_rows::schema::{Generated, Schema, Table};

/// Days before the reference day at which the times of a table begin that refers to no other one.
const DAYS: i64 = 5 * 365;
/// Days by which the times of a table begin later than those of its parents.
const DAYS_LATER: i64 = 45;

/// What is known of a table before its columns are inferred.
pub(crate) struct TableContext<'a> {
    pub schema: &'a Schema,
    /// Position of the table.
    pub table: usize,
    pub rows: u64,
    pub day: ReferenceDay,
    /// Columns that need an annotation and are not part of a foreign key.
    pub open: Vec<bool>,
    /// The parents of columns that refer to one.
    pub parents: Vec<Option<Parent>>,
    /// The column whose parents have consecutive children, if there is one.
    pub per_parent: Option<usize>,
    /// Columns that need no unique values, because different pairs of foreign keys make their key unique.
    pub relieved: Vec<usize>,
    /// The longest chain of parents.
    pub depth: i64,
}

/// A column with the names that rules look at.
pub(super) struct NamedColumn<'a> {
    /// The name without the prefix that all columns have.
    pub plain: String,
    full: String,
    pub traits: ColumnTraits<'a>,
    is_open: bool,
    pub is_unique: bool,
    not_null: bool,
}

/// Inference of the columns of one table.
pub(crate) struct TableInference<'a> {
    pub(super) context: TableContext<'a>,
    pub(super) table: &'a Table,
    pub(super) subject: Option<Subject>,
    pub(super) columns: Vec<NamedColumn<'a>>,
    pub(super) found: Vec<Option<Inference>>,
}

impl<'a> TableInference<'a> {
    pub(crate) fn new(context: TableContext<'a>) -> Self {
        let table = &context.schema.tables[context.table];
        let prefix = common_prefix(table);
        let named = |(at, column): (usize, &'a litepress_rows::schema::Column)| {
            let name = plain(&column.name);
            NamedColumn {
                plain: name.strip_prefix(prefix.as_str()).filter(|rest| rest.len() > 1).unwrap_or(&name).to_owned(),
                traits: ColumnTraits::new(column),
                is_open: context.open[at],
                full: name,
                is_unique: unique_because(table, at).is_some() && !context.relieved.contains(&at),
                not_null: column.not_null || column.key_position.is_some(),
            }
        };
        let columns: Vec<NamedColumn<'a>> = table.columns.iter().enumerate().map(named).collect();
        let found = columns.iter().map(|_| None).collect();
        let subject = subject(&table.name);
        Self { table, subject, columns, found, context }
    }

    /// Infers all open columns; the others stay `None`.
    pub(crate) fn infer(mut self) -> Vec<Option<Inference>> {
        self.keys();
        self.persons();
        self.places();
        self.times();
        self.amounts();
        self.slugs();
        self.ranges();
        self.names();
        for at in 0..self.columns.len() {
            if self.is_free(at) {
                let found = self.alone(at);
                self.found[at] = Some(found);
            }
        }
        self.states();
        let required = self.required();
        for (at, required) in required.into_iter().enumerate() {
            self.add_defaults_and_nulls(at, required);
        }
        self.found
    }

    /// Infers the texts of a column by the names of the table and the column alone.
    pub(super) fn text_by_name(mut self, at: usize) -> Option<String> {
        if !self.is_text(at) {
            return None;
        }
        self.persons();
        self.places();
        if self.subject.is_some() {
            self.names();
        }
        let is_of_place = self.columns.iter().any(|column| is_like(&column.plain, "*city *country *zip* *postal*"));
        if is_of_place && self.found[at].is_none() && is_like(&self.columns[at].plain, "state *_state") {
            self.set(at, "place('state')", "a place");
        }
        let unnamed = super::by_type(self.table, at).text;
        let found = self.found[at].take().unwrap_or_else(|| self.alone(at)).text;
        (found != unnamed && found != by_affinity(&self.columns[at].traits).text).then_some(found)
    }

    pub(super) fn kind(&self) -> Option<Kind> {
        self.subject.map(|subject| subject.kind)
    }

    pub(super) fn is_free(&self, at: usize) -> bool {
        self.columns[at].is_open && self.found[at].is_none()
    }

    pub(super) fn is_text(&self, at: usize) -> bool {
        self.columns[at].traits.class == TypeClass::Text || self.columns[at].traits.declared.is_empty()
    }

    pub(super) fn is_number(&self, at: usize) -> bool {
        matches!(self.columns[at].traits.class, TypeClass::Int | TypeClass::Real | TypeClass::Numeric)
    }

    /// Returns the column as an operand.
    pub(super) fn column(&self, at: usize) -> String {
        quoted_always(&self.table.columns[at].name)
    }

    /// Sets the annotation of a column, cut to its declared length.
    pub(super) fn set(&mut self, at: usize, text: impl Into<String>, because: &str) {
        let whole = text.into();
        let text = fitted(whole.clone(), &self.columns[at].traits);
        // What is cut may repeat: a key gets another text.
        if text == whole || !self.columns[at].is_unique {
            self.found[at] = Some(inferred(text, because));
        }
    }

    /// Returns the first free column whose name is like one of the patterns and that `is` right.
    pub(super) fn find(&self, patterns: &str, is: impl Fn(usize) -> bool) -> Option<usize> {
        let mut patterns = patterns.split(' ');
        patterns.find_map(|pattern| {
            (0..self.columns.len()).find(|&at| self.is_like(at, pattern) && self.columns[at].is_open && is(at))
        })
    }

    /// Returns whether the name of a column, with or without its prefix, is like one of the patterns.
    fn is_like(&self, at: usize, patterns: &str) -> bool {
        is_like(&self.columns[at].plain, patterns) || is_like(&self.columns[at].full, patterns)
    }

    pub(super) fn find_text(&self, patterns: &str) -> Option<usize> {
        self.find(patterns, |at| self.is_text(at) && self.found[at].is_none())
    }

    /// Keys that count.
    fn keys(&mut self) {
        for at in 0..self.columns.len() {
            if self.table.rowid_alias == Some(at) && self.is_free(at) {
                self.found[at] = Some(inferred("sequence", "INTEGER PRIMARY KEY"));
            }
        }
    }

    /// Times in their order.
    fn times(&mut self) {
        let mut times: Vec<(Stage, usize, Form)> = Vec::new();
        for at in 0..self.columns.len() {
            let column = &self.columns[at];
            let found = time_of(&column.plain, &column.traits)
                .or_else(|| time_of(&plain(&self.table.columns[at].name), &column.traits));
            if let Some((stage, form)) = found.filter(|_| self.is_free(at)) {
                times.push((stage, at, form));
            }
        }
        // The current sign-in follows the last one.
        times.sort_by_key(|&(stage, at, _)| (stage, self.is_like(at, "current_*"), at));
        let day = self.context.day;
        let has_hire = times.iter().any(|&(_, at, _)| is_like(&self.columns[at].plain, "*hire* *employ*"));
        let ages = if has_hire { (62, 26) } else { (75, 18) };
        for &(_, at, form) in times.iter().filter(|(stage, ..)| *stage == Stage::Birth) {
            let inferred = form.birth(day, ages.0, ages.1);
            self.set(at, inferred, "a day of birth");
        }
        times.retain(|(stage, ..)| *stage != Stage::Birth);
        // The first is one that is always known, if there is one.
        let first = times.iter().position(|&(_, at, _)| self.share_of_null(at) == 0.0).unwrap_or(0);
        if times.is_empty() {
            return;
        }
        let (_, anchor, form) = times[first];
        let from = day.before(DAYS - DAYS_LATER * self.context.depth.min(20));
        let text = self.time_of_parent(form).unwrap_or_else(|| form.ascending(&from, &day.before(0)));
        self.set(anchor, text, "a time, in the order of rows");
        let mut known: Vec<(Stage, usize, Form)> = vec![times[first]];
        for (position, &(stage, at, form)) in times.iter().enumerate().filter(|(position, _)| *position != first) {
            if position < first {
                let later = form.ascending(&from, &day.before(0));
                self.set(at, later, "a time, in the order of rows");
                continue;
            }
            let last =
                known.iter().rev().find(|(of, ..)| *of == Stage::LastSeen).filter(|_| self.is_like(at, "current_*"));
            let base = last.map(|&(_, at, form)| (at, form)).or_else(|| self.base_of(stage, at, &known));
            let limit = (stage != Stage::Due).then_some(day);
            let later = base.and_then(|(base, of)| {
                let text = form.after(&self.column(base), of, delay(stage, self.kind(), form), limit)?;
                Some((text, format!("not before {}", self.table.columns[base].name)))
            });
            match later {
                Some((text, because)) => self.set(at, text, &because),
                None => self.set(at, form.ascending(&from, &day.before(0)), "a time, in the order of rows"),
            }
            known.push((stage, at, form));
        }
        self.durations(&known);
        // A key needs a new time in every row.
        for &(_, at, form) in &times {
            if self.columns[at].is_unique {
                let text = if form == Form::Day || self.context.rows > 10_000_000 {
                    unique(&self.columns[at].traits, &self.columns[at].plain, "").text
                } else {
                    form.ascending(&from, &day.before(0))
                };
                self.set(at, text, "a time that is unique");
            }
        }
    }

    /// The time from a start to an end.
    fn durations(&mut self, times: &[(Stage, usize, Form)]) {
        let find = |wanted: Stage| times.iter().find(|(stage, ..)| *stage == wanted);
        let Some((_, end, form)) = find(Stage::Ended).copied() else { return };
        let Some((_, start, of)) = find(Stage::Started).or(find(Stage::Created)).copied() else { return };
        let duration = self.find("duration_ms duration *_duration elapsed_ms elapsed elapsed_time runtime_ms", |at| {
            self.is_number(at) && self.found[at].is_none()
        });
        let Some(at) = duration.filter(|_| form == of) else { return };
        let (start, end) = (self.column(start), self.column(end));
        let seconds = match form {
            Form::Text => format!("date_diff({start}, {end}, 'seconds')"),
            Form::Unix(1) => format!("({end} - {start})"),
            _ => return,
        };
        let text = if self.is_like(at, "*_ms") { format!("1000 * {seconds}") } else { format!("1 * {seconds}") };
        self.set(at, text, "from the start to the end");
    }

    /// Returns the time that a later one follows from: the latest that is always known, or the start of an end.
    fn base_of(&self, stage: Stage, at: usize, known: &[(Stage, usize, Form)]) -> Option<(usize, Form)> {
        let form = self.columns[at].traits.class;
        let is_usable = |&&(_, other, _): &&(Stage, usize, Form)| {
            self.columns[other].traits.class == form
                || self.is_text(other)
                || self.columns[other].traits.class == TypeClass::Numeric
        };
        let wanted = match stage {
            Stage::Delivered => Some(Stage::Ended),
            Stage::Ended => Some(Stage::Started),
            _ => None,
        };
        let of_stage = known.iter().rev().filter(is_usable).find(|(of, ..)| Some(*of) == wanted);
        let always = known.iter().rev().filter(is_usable).find(|(of, other, _)| {
            self.share_of_null(*other) == 0.0
                && !matches!(of, Stage::LastSeen | Stage::Deleted | Stage::Due | Stage::Updated)
        });
        of_stage.or(always).or(known.first()).map(|&(_, at, form)| (at, form))
    }

    /// Returns the time of the parent's row, for rows that are consecutive children.
    fn time_of_parent(&self, form: Form) -> Option<String> {
        let by = self.context.per_parent?;
        let parent = self.context.parents[by]?;
        let of = &self.context.schema.tables[parent.table];
        let mut times = of.columns.iter().filter_map(|column| {
            let (stage, of) = time_of(&plain(&column.name), &ColumnTraits::new(column))?;
            (matches!(stage, Stage::Created | Stage::Queued | Stage::Started)
                && of == form
                && column.generated == Generated::No
                && rules::null_share(&plain(&column.name)).is_none())
            .then_some((stage, column))
        });
        let first = times.next()?;
        let (_, column) = times.fold(first, |least, next| if next.0 < least.0 { next } else { least });
        let through = format!("{}.{}", self.column(by), quoted_always(&column.name));
        let delay = match self.kind() {
            Some(Kind::Line) => Delay { amount: "0", unit: "seconds" },
            _ if form == Form::Day => Delay { amount: "int(0, 5)", unit: "days" },
            _ => Delay { amount: "int(0, 7200)", unit: "seconds" },
        };
        form.after(&through, form, delay, Some(self.context.day))
    }

    /// Times that a state excludes: an order that is pending has no time of delivery.
    fn states(&mut self) {
        const KNOWN: [(&str, bool, &str); 5] = [
            ("*delivered* *arrived*", true, "'delivered', 'completed', 'complete', 'done', 'returned'"),
            (
                "*shipped* *ship_date *dispatched*",
                true,
                "'shipped', 'delivered', 'completed', 'complete', 'done', 'returned'",
            ),
            (
                "paid_at paid_on paid_date payment_date paid",
                false,
                "'pending', 'new', 'draft', 'open', 'created', 'cancelled', 'canceled', 'failed'",
            ),
            ("*cancel*", true, "'cancelled', 'canceled'"),
            (
                "*closed* *finished* *ended* *completed* *resolved* *merged*",
                true,
                "'closed', 'done', 'resolved', 'completed', 'complete', 'success', 'succeeded', 'passed', 'failed', 'failure', 'error', 'cancelled', 'canceled', 'finished', 'merged', 'shipped', 'delivered'",
            ),
        ];
        let is_state = |at: usize| self.is_text(at) && !self.columns[at].is_unique;
        let Some(state) = self.find("status state order_status", is_state) else { return };
        let object =
            self.context.schema.objects.iter().find(|object| object.kind == "table" && object.name == self.table.name);
        let sql = object.and_then(|object| object.sql.clone()).unwrap_or_default();
        let values = self.found[state].as_ref().map_or(String::new(), |found| found.text.clone()) + &sql;
        for at in 0..self.columns.len() {
            if self.columns[at].not_null || !self.is_time(at) || !self.columns[at].is_open {
                continue;
            }
            let Some((_, is_in, states)) = KNOWN.iter().find(|(names, ..)| self.is_like(at, names)) else { continue };
            if !states.split(", ").any(|state| values.contains(state)) {
                continue;
            }
            let state = self.column(state);
            let Some(found) = &mut self.found[at] else { continue };
            let not = if *is_in { "" } else { "NOT " };
            found.text = format!("if({state} {not}IN ({states}), {})", found.text);
            found.because = format!("{}, and the state", found.because);
        }
    }

    /// Quantities, prices, totals.
    fn amounts(&mut self) {
        const PRICES: &str = "unit_price unitprice price list_price item_price sale_price retail_price amount_per_unit";
        let numbers = |patterns: &str| self.find(patterns, |at| self.is_amount(at) && self.found[at].is_none());
        let quantity = numbers("quantity qty *_quantity order_qty pieces units count_ordered");
        let price = numbers(PRICES);
        let base = numbers("subtotal sub_total item_total net_amount goods_total net_total amount_net");
        let total = self.find("line_total linetotal amount total total_price extended_price total_amount", |at| {
            self.is_amount(at) && self.found[at].is_none() && Some(at) != price && Some(at) != base
        });
        let cost = numbers("cost unit_cost standard_cost cost_price wholesale_price purchase_price buy_price");
        let tax = numbers("tax tax_amount vat_amount sales_tax taxes vat tax_total");
        let shipping =
            numbers("shipping shipping_cost freight shipping_amount delivery_fee shipping_total shipping_fee");
        if let Some(quantity) = quantity {
            self.set(quantity, "choice(1: 62, 2: 20, 3: 8, 4: 4, 5: 3, 6: 1, 10: 2)", "its name is like quantity");
        }
        if let Some(price) = price {
            let text = self.price_of_parent().unwrap_or_else(|| self.price(price));
            self.set(price, text, "its name is like price");
        }
        if let (Some(cost), Some(price)) = (cost.filter(|cost| Some(*cost) != price), price) {
            let text = format!("round({} * real(0.35, 0.75, 3), 2)", self.column(price));
            self.set(cost, text, "less than the price");
        }
        if let Some(shipping) = shipping {
            self.set(shipping, "choice(0: 40, 4.95: 38, 9.9: 15, 19.9: 7)", "a fee of delivery");
        }
        // The sum that taxes are computed from: a subtotal, a line's total, or the only amount.
        let product = quantity
            .zip(price)
            .map(|(quantity, price)| format!("round({} * {}, 2)", self.column(quantity), self.column(price)));
        let net = base.or(total);
        if let Some(net) = net {
            let text = product.unwrap_or_else(|| self.price(net));
            self.set(net, text, "an amount");
        }
        if let (Some(tax), Some(net)) = (tax, net.or(price)) {
            let text = format!("round({} * 0.19, 2)", self.column(net));
            self.set(tax, text, "a tax of the amount");
        }
        let parts: Vec<usize> = [net, tax, shipping].into_iter().flatten().collect();
        let sums = [
            "grand_total total_due total_paid amount_total total_with_tax gross_amount gross",
            "total total_amount order_total",
        ];
        for patterns in sums {
            let sum = self.find(patterns, |at| self.is_amount(at) && self.found[at].is_none());
            if let Some(sum) = sum.filter(|_| !parts.is_empty()) {
                let text: Vec<String> = parts.iter().map(|&at| self.column(at)).collect();
                self.set(sum, format!("round({}, 2)", text.join(" + ")), "the sum of the amounts");
            }
        }
    }

    /// Returns whether a column may hold amounts, which repeat.
    fn is_amount(&self, at: usize) -> bool {
        self.is_number(at) && !self.columns[at].is_unique
    }

    /// Returns prices as cheap or dear as such things are.
    fn price(&self, at: usize) -> String {
        let (low, high) = match self.subject.map(|subject| subject.names) {
            Some("song") => return "choice(0.99: 85, 1.29: 12, 1.99: 3)".to_owned(),
            Some("product") => (6, 400),
            Some("album") => (6, 25),
            Some("title" | "article_title" | "series") => (4, 30),
            Some("plan") => (5, 300),
            Some("vehicle") => (4000, 60_000),
            _ => (3, 400),
        };
        let declared = self.columns[at].traits.declared.to_ascii_uppercase();
        let is_small = declared.replace(' ', "").contains("(4,2)") || declared.replace(' ', "").contains("(5,2)");
        let high = if is_small { high.min(99) } else { high };
        match self.columns[at].traits.class {
            // An integer holds cents.
            TypeClass::Int => format!("round(price({low}, {high}) * 100)"),
            _ => format!("price({low}, {high})"),
        }
    }

    /// Returns the price of the thing that a line of an order refers to.
    fn price_of_parent(&self) -> Option<String> {
        (0..self.columns.len()).find_map(|at| {
            let parent = self.context.parents[at].filter(|parent| parent.table != self.context.table)?;
            let of = &self.context.schema.tables[parent.table];
            let is_price = |column: &&litepress_rows::schema::Column| {
                is_like(&plain(&column.name), "unit_price unitprice price list_price retail_price")
                    && column.generated == Generated::No
                    && (column.not_null || column.default.is_some())
            };
            let price = of.columns.iter().find(is_price)?;
            Some(format!("{}.{}", self.column(at), quoted_always(&price.name)))
        })
    }

    /// Slugs of titles and names.
    fn slugs(&mut self) {
        let Some(slug) = self.find_text("slug *_slug permalink post_name url_key") else { return };
        let title = self.find("title name headline subject *_title label", |at| {
            self.is_text(at) && at != slug && self.found[at].is_none() && !self.is_time(at)
        });
        match (title, self.columns[slug].is_unique) {
            (Some(title), true) if self.columns[title].is_unique => {
                let text = format!("slug({})", self.column(title));
                self.set(slug, text, "follows from the name");
            }
            (Some(title), true) => {
                let text = format!("slug({}) || '-' || sequence()", self.column(title));
                self.set(slug, text, "follows from the name, and is unique");
            }
            (Some(title), false) => {
                let text = format!("slug({})", self.column(title));
                self.set(slug, text, "follows from the name");
            }
            (None, true) => self.set(slug, "unique_phrase('{slug}', '-')", "it is unique, and a slug"),
            (None, false) => self.set(slug, "phrase('{slug}')", "its name is like slug"),
        }
    }

    fn is_time(&self, at: usize) -> bool {
        time_of(&self.columns[at].plain, &self.columns[at].traits).is_some()
    }

    /// Ends of ranges: `max_x` is not below `min_x`.
    fn ranges(&mut self) {
        const ENDS: [(&str, &str); 7] = [
            ("min_", "max_"),
            ("_min", "_max"),
            ("low", "high"),
            ("start_", "end_"),
            ("from_", "to_"),
            ("lft", "rgt"),
            ("lower", "upper"),
        ];
        for at in 0..self.columns.len() {
            let name = self.columns[at].plain.clone();
            if !self.is_free(at) || !self.is_number(at) {
                continue;
            }
            let low = ENDS.iter().filter(|(_, high)| name.contains(high)).find_map(|(low, high)| {
                let low = name.replacen(high, low, 1);
                let is_low = |&other: &usize| {
                    let column = &self.columns[other];
                    other != at
                        && column.plain == low
                        && column.is_open
                        && column.traits.class == self.columns[at].traits.class
                };
                (0..self.columns.len()).find(is_low)
            });
            let Some(low) = low.filter(|&low| !self.columns[low].is_unique && !self.columns[at].is_unique) else {
                continue;
            };
            let low_column = self.column(low);
            let text = match self.columns[at].traits.class {
                _ if self.is_like(at, "*temp* *humid* *pressure*") => {
                    format!("round({low_column} + real(0.5, 12, 1), 1)")
                }
                TypeClass::Int => format!("{low_column} + int(1, 100)"),
                _ => format!("round({low_column} + real(0, 100, 2), 2)"),
            };
            let because = format!("not below {}", self.table.columns[low].name);
            self.set(at, text, &because);
        }
    }

    /// The names and titles of what the table is about.
    fn names(&mut self) {
        let Some(subject) = self.subject else {
            if let Some(at) = self.find_text("name").filter(|&at| !self.columns[at].is_unique) {
                self.set(at, "phrase('{Adjective} {Noun}')", "a name");
            }
            return;
        };
        let last_word = super::names::words_of_table(&self.table.name).pop().unwrap_or_default();
        let own = format!(
            "name {last_word}_name {last_word} display_name label title {last_word}_title name_en object_repr {last_word}_description"
        );
        for pattern in own.split(' ') {
            let Some(at) = self.find_text(pattern) else { continue };
            let is_titled =
                matches!(subject.kind, Kind::Person | Kind::Order | Kind::Payment | Kind::Log | Kind::Place)
                    && is_like(&self.columns[at].plain, "title label");
            // Where a table has no name, its description is one.
            if pattern.ends_with("_description")
                && (self.columns.len() > 4 || self.find("name title", |_| true).is_some())
            {
                continue;
            }
            let is_key = self.table.columns[at].key_position.is_some()
                && self.columns[at].traits.longest.is_some_and(|longest| longest < 12);
            if is_titled || is_key || self.is_time(at) {
                continue;
            }
            let list = subject.names;
            let text = if self.columns[at].is_unique {
                format!("unique_phrase('{{{list}}}')")
            } else {
                format!("phrase('{{{list}}}')")
            };
            let because = format!("the name of what {} holds", self.table.name);
            self.set(at, text, &because);
        }
        self.texts_of(subject);
    }

    /// The texts that belong to what the table is about.
    fn texts_of(&mut self, subject: Subject) {
        let texts: &[(&str, &str)] = match subject.names {
            "product" => &[
                ("description *_description", "{product_description}"),
                ("color colour", "{colour}"),
                ("brand", "{brand}"),
            ],
            "article_title" => &[
                ("content body text post_content *_content html", "{post}"),
                ("excerpt summary description *_excerpt", "{excerpt}"),
            ],
            "review_title" => &[("body content text comment review review_text message", "{review}")],
            "comment" => &[("body content text comment message *_content", "{comment}")],
            "message" => &[("body content text message subject", "{message}")],
            "title" if self.kind() == Some(Kind::Other) => {
                &[("description plot synopsis summary overview", "{film_plot}")]
            }
            "person" => &[("title", "{job}"), ("note notes about bio description", "{bio}")],
            "issue" | "task" => &[("title subject summary", "{issue}"), ("description body text", "{paragraph}")],
            "commit" => &[("message subject title", "{commit}")],
            "log_message" => &[("message msg text event description change_message", "{log_message}")],
            "category" => &[("description", "{category}, {category} and more")],
            _ => &[],
        };
        if subject.names == "review_title" {
            self.review_texts();
        }
        for (patterns, phrase) in texts {
            for at in 0..self.columns.len() {
                if self.is_free(at)
                    && self.is_text(at)
                    && !self.columns[at].is_unique
                    && is_like(&self.columns[at].plain, patterns)
                {
                    let because = format!("a text of {}", self.table.name);
                    self.set(at, format!("phrase('{phrase}')"), &because);
                }
            }
        }
    }

    /// Praise and blame, as the number of stars says.
    fn review_texts(&mut self) {
        let Some(rating) =
            self.find("rating stars score grade", |at| self.is_number(at) && !self.columns[at].is_unique)
        else {
            return;
        };
        if self.found[rating].is_none() {
            self.set(rating, "choice(5: 46, 4: 28, 3: 12, 2: 6, 1: 8)", "its name is like rating");
        }
        let rating = self.column(rating);
        for (patterns, list) in [
            ("title headline subject summary", "review_title"),
            ("body content text comment review review_text message", "review"),
        ] {
            for at in 0..self.columns.len() {
                let is_text = self.is_text(at) && self.columns[at].is_open && !self.columns[at].is_unique;
                if is_text && is_like(&self.columns[at].plain, patterns) {
                    let text = format!("if({rating} > 3, phrase('{{{list}_good}}'), phrase('{{{list}_bad}}'))");
                    self.set(at, text, "a text of a review, as good as its rating");
                }
            }
        }
    }

    /// Infers a column that has nothing to do with the others.
    fn alone(&self, at: usize) -> Inference {
        let column = &self.columns[at];
        let (traits, name) = (&column.traits, &self.table.columns[at].name);
        let full = plain(name);
        if let Some(because) = unique_because(self.table, at).filter(|_| column.is_unique) {
            let like = if super::unique_text(&full, traits).is_some() { &full } else { &column.plain };
            return unique(traits, like, because);
        }
        if let Some((text, because)) = self.special(at) {
            return inferred(fitted(text.to_owned(), traits), because);
        }
        if is_boolean(traits) || self.is_number(at) && self.is_flag(at, &full) {
            let share = self.flag_share(at, &full);
            return inferred(format!("bool({share})"), "a flag");
        }
        if let Some(found) = self.coded_flag(at) {
            return found;
        }
        if let Some(found) = by_declared_type(traits)
            .filter(|_| !self.is_number(at) || rules::rule(&column.plain, traits, self.kind()).is_none())
        {
            return found;
        }
        let rule = rules::rule(&column.plain, traits, self.kind()).or_else(|| rules::rule(&full, traits, self.kind()));
        if let Some((text, like)) = rule {
            return inferred(fitted(text.to_owned(), traits), format!("its name is like {like}"));
        }
        by_affinity(traits)
    }

    /// Infers what a name means in a table of this kind only.
    fn special(&self, at: usize) -> Option<(String, &'static str)> {
        let name = self.columns[at].plain.as_str();
        let names = self.subject.map(|subject| subject.names);
        let is_text = self.is_text(at);
        let status = || self.find("status state conclusion result", |at| self.is_text(at)).map(|at| self.column(at));
        Some(match (name, names) {
            ("milliseconds" | "duration_ms" | "length_ms", Some("song")) => {
                ("normal(245000, 70000, min=40000, max=1200000, decimals=0)".to_owned(), "the length of a song")
            }
            ("duration" | "length" | "seconds", Some("song")) if !is_text => {
                ("normal(245, 70, min=40, max=1200, decimals=0)".to_owned(), "the length of a song")
            }
            ("bytes" | "size", Some("song")) => {
                ("normal(7800000, 2300000, min=900000, max=60000000, decimals=0)".to_owned(), "the size of a song")
            }
            ("length" | "runtime" | "duration", Some("title")) if !is_text => {
                ("normal(112, 26, min=46, max=210, decimals=0)".to_owned(), "the length of a film")
            }
            ("path" | "uri" | "url_path" | "request_path", _)
                if self.find("*method http_status status_code referrer referer user_agent", |_| true).is_some() =>
            {
                ("phrase('{url_path}')".to_owned(), "the path of a request")
            }
            ("extension" | "ext", Some("person")) if is_text => ("digits(4)".to_owned(), "of a telephone"),
            ("password", _) if is_text && self.kind() == Some(Kind::Text) => {
                ("if(bool(0.97), '', phrase('{handle}'))".to_owned(), "few texts have a password")
            }
            ("exit_code" | "return_code", _) => {
                let status = status()?;
                (
                    format!(
                        "if({status} IN ('failed', 'failure', 'error', 'canceled', 'cancelled'), choice(1: 8, 2: 1, 137: 1), 0)"
                    ),
                    "follows from the state",
                )
            }
            ("error_message" | "error" | "failure_reason", _)
                if is_text && !self.columns[at].not_null && self.kind() == Some(Kind::Run) =>
            {
                let status = status()?;
                (
                    format!("if({status} IN ('failed', 'failure', 'error'), phrase('{{error_message}}'))"),
                    "follows from the state",
                )
            }
            _ => return None,
        })
    }

    fn is_flag(&self, at: usize, full: &str) -> bool {
        let is_default = self.default(at).is_some_and(|default| default == "0" || default == "1");
        let is_small =
            matches!(self.columns[at].traits.declared.to_ascii_uppercase().split('(').next(), Some("TINYINT"));
        rules::is_flag(full)
            || is_default
                && (is_small
                    || rules::flag_share(full).is_some()
                        && !is_like(full, "*count* *_id *number* *total* *_at *time* *date*"))
    }

    fn flag_share(&self, at: usize, full: &str) -> f64 {
        let usual = match self.default(at).as_deref().map(str::to_ascii_uppercase).as_deref() {
            Some("1" | "'1'" | "TRUE") => 0.9,
            Some("0" | "'0'" | "FALSE") => 0.1,
            _ => 0.5,
        };
        rules::flag_share(full).unwrap_or(usual)
    }

    /// Infers flags that are letters: CHAR(1) DEFAULT 'Y'.
    fn coded_flag(&self, at: usize) -> Option<Inference> {
        let default = self.default(at)?;
        if default == "'0'" || default == "'1'" {
            let share = self.flag_share(at, &self.columns[at].full);
            let share = if default == "'1'" && share == 0.5 { 0.9 } else { share };
            return Some(inferred(format!("choice('1': {share}, '0': {})", 1.0 - share), "a flag with a DEFAULT"));
        }
        let pairs = [
            ("'Y'", "'N'"),
            ("'N'", "'Y'"),
            ("'y'", "'n'"),
            ("'n'", "'y'"),
            ("'T'", "'F'"),
            ("'t'", "'f'"),
            ("'f'", "'t'"),
            ("'yes'", "'no'"),
            ("'no'", "'yes'"),
            ("'open'", "'closed'"),
            ("'on'", "'off'"),
            ("'off'", "'on'"),
        ];
        let (default, other) = pairs.iter().find(|(one, _)| *one == default)?;
        Some(inferred(format!("choice({default}: 92, {other}: 8)"), "a flag with a DEFAULT"))
    }

    /// Returns the DEFAULT, if it is a literal.
    fn default(&self, at: usize) -> Option<String> {
        let text = self.table.columns[at].default.as_deref()?.trim();
        let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text).trim();
        let is_number = inner.parse::<f64>().is_ok_and(f64::is_finite);
        let is_text = inner.len() > 1
            && inner.starts_with('\'')
            && inner.ends_with('\'')
            && !inner[1..inner.len() - 1].contains('\'');
        match inner {
            _ if is_number || is_text => Some(inner.to_owned()),
            _ if inner.len() > 1
                && inner.starts_with('"')
                && inner.ends_with('"')
                && !inner[1..inner.len() - 1].contains(['"', '\'']) =>
            {
                Some(format!("'{}'", &inner[1..inner.len() - 1]))
            }
            _ if ["TRUE", "FALSE"].contains(&inner.to_ascii_uppercase().as_str()) => Some(inner.to_ascii_uppercase()),
            _ => None,
        }
    }

    fn share_of_null(&self, at: usize) -> f64 {
        let column = &self.columns[at];
        if self.table.rowid_alias == Some(at) {
            return 0.0;
        }
        // Times and names of persons are unknown only if their name says so.
        // A company is an extra only beside the name of a person.
        if is_like(&column.plain, "*company* organization organisation")
            && self.find("first_name last_name firstname lastname", |_| true).is_none()
        {
            return 0.0;
        }
        // Most shops, firms and people are still there.
        let is_end = matches!(time_of(&column.plain, &column.traits), Some((Stage::Ended, _)));
        if is_end && matches!(self.kind(), Some(Kind::Place | Kind::Company | Kind::Person | Kind::Product)) {
            return if null_share(self.context.schema, self.table, at) > 0.0 { 0.9 } else { 0.0 };
        }
        let is_core = self.is_time(at)
            || is_like(&column.plain, "*name* *email* *title* status state type *price* *amount* *total* city country");
        if is_core && rules::null_share(&column.plain).is_none() {
            0.0
        } else {
            null_share(self.context.schema, self.table, at)
        }
    }

    /// Returns the columns that are never NULL because a column that is NOT NULL is computed from them.
    fn required(&self) -> Vec<bool> {
        let mut required: Vec<bool> = self.columns.iter().map(|column| column.not_null).collect();
        let names: Vec<String> = (0..self.columns.len()).map(|at| self.column(at)).collect();
        let mut waiting: Vec<usize> = (0..required.len()).filter(|&at| required[at]).collect();
        while let Some(at) = waiting.pop() {
            // Other columns are read by their quoted names.
            let Some(found) = self.found[at].as_ref().filter(|found| found.text.contains('"')) else { continue };
            for (other, name) in names.iter().enumerate() {
                if !required[other] && found.text.contains(name) {
                    required[other] = true;
                    waiting.push(other);
                }
            }
        }
        required
    }

    /// Adds the NULLs of nullable columns and the values of DEFAULTs.
    fn add_defaults_and_nulls(&mut self, at: usize, required: bool) {
        let Some(found) = self.found[at].take() else { return };
        let has_state = found.because.ends_with(", and the state");
        let share = if required || has_state || found.because == "follows from the state" {
            0.0
        } else {
            self.share_of_null(at)
        };
        let text = &found.text;
        let changed = if share > 0.0 {
            Some(format!("null({share}, {text})"))
        } else if self.columns[at].is_unique
            || text.starts_with("bool(")
            || text == "sequence"
            || found.because == "a flag with a DEFAULT"
        {
            None
        } else {
            self.default_share(at, text).map(|(share, default)| {
                if share == 1.0 {
                    return format!("constant({default})");
                }
                let called = if text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                    format!("{text}()")
                } else {
                    text.clone()
                };
                format!("if(bool({share}), {default}, {called})")
            })
        };
        self.found[at] = Some(match changed {
            Some(text) => Inference { text, because: found.because },
            None => found,
        });
    }

    /// Returns how often the DEFAULT comes, and the DEFAULT.
    fn default_share(&self, at: usize, text: &str) -> Option<(f64, String)> {
        const NEVER: &str = "*price* *amount* *total* *cost* *name* *email* *mail title *_title *pass* *login* *content text body salary subtotal sku *_path path url uri quantity";
        let default = self.default(at)?;
        let name = &self.columns[at].plain;
        if self.is_time(at) || text.contains('"') || ["TRUE", "FALSE"].contains(&default.as_str()) {
            return None;
        }
        let is_number = self.is_number(at);
        let is_named = rules::rule(name, &self.columns[at].traits, self.kind()).is_some()
            || text.contains("phrase('{") && !text.contains("phrase('{words}");
        let is_choice = is_plain_choice(text);
        if is_choice && (is_number || text.contains(default.as_str())) {
            return None;
        }
        Some(match default.as_str() {
            "''" if is_named => (rules::null_share(name)?, default),
            "''" => (0.5, default),
            "0" | "0.0" | "0.00" if is_like(name, NEVER) => return None,
            "0" | "0.0" | "0.00" if is_named => (0.3, default),
            "0" | "0.0" | "0.00" => (0.6, default),
            _ if is_number && is_like(name, NEVER) => return None,
            _ if is_number => (0.5, default),
            _ if is_named => (0.8, default),
            // Nothing is known of other values.
            _ => (1.0, default),
        })
    }
}

/// Returns whether the annotation is a choice, which may have the DEFAULT in its own share.
fn is_plain_choice(text: &str) -> bool {
    text.starts_with("choice(")
}

fn is_boolean(traits: &ColumnTraits<'_>) -> bool {
    let declared = traits.declared.to_ascii_uppercase().replace(' ', "");
    declared.starts_with("BOOL") || declared == "TINYINT(1)" || declared == "BIT" || declared == "BIT(1)"
}

/// Returns the prefix that the names of all or almost all columns have: `post_` of WordPress.
fn common_prefix(table: &Table) -> String {
    let names: Vec<String> = table.columns.iter().map(|column| plain(&column.name)).collect();
    let words = super::names::words_of_table(&table.name);
    let own = words.last().map(|word| format!("{word}_")).unwrap_or_default();
    let count = names.iter().filter(|name| name.starts_with(&own)).count();
    if own.len() > 1 && 2 * count > names.len() || own.len() > 3 && count >= 2 { own } else { String::new() }
}

/// Cuts the annotation of a text to the declared length of the column.
fn fitted(text: String, traits: &ColumnTraits<'_>) -> String {
    const LONGEST_PLACE: u64 = 27;
    const LONGEST_PASSWORD: u64 = 90;
    const LONGEST_OTHER: u64 = 60;
    let Some(longest) = traits.longest.filter(|&longest| longest > 0) else { return text };
    if text.starts_with("'pbkdf2") && longest < LONGEST_PASSWORD {
        return format!("hex({})", longest.min(40));
    }
    if let Some(pattern) = text.strip_prefix("phrase('").and_then(|rest| rest.strip_suffix("')"))
        && !pattern.contains('\'')
    {
        return if longest < LONGEST_OTHER { format!("phrase('{pattern}', {longest})") } else { text };
    }
    let needed =
        catalogue::longest_bytes(&text).unwrap_or(if text.contains("place") { LONGEST_PLACE } else { LONGEST_OTHER });
    if longest >= needed || ["unique_", "events(", "date", "choice("].iter().any(|call| text.starts_with(call)) {
        return text;
    }
    let called = if text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') { format!("{text}()") } else { text };
    format!("substr({called}, 1, {longest})")
}
