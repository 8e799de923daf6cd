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
use super::{ColumnTraits, Inference, Parent, TypeClass, by_affinity, by_declared_type, inferred, null_share, quoted_always, unique, unique_because};
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
    /// The longest chain of parents.
    pub depth: i64,
}

/// A column with the names that rules look at.
struct NamedColumn<'a> {
    plain: String,
    traits: ColumnTraits<'a>,
    is_open: bool,
    is_unique: bool,
    not_null: bool,
}

/// Inference of the columns of one table.
pub(crate) struct TableInference<'a> {
    context: TableContext<'a>,
    table: &'a Table,
    subject: Option<Subject>,
    columns: Vec<NamedColumn<'a>>,
    found: Vec<Option<Inference>>,
}

impl<'a> TableInference<'a> {
    pub(crate) fn new(context: TableContext<'a>) -> Self {
        let table = &context.schema.tables[context.table];
        let prefix = common_prefix(table);
        let named = |(at, column): (usize, &'a litepress_rows::schema::Column)| {
            let name = plain(&column.name);
            NamedColumn {
                plain: name.strip_prefix(prefix.as_str()).filter(|rest| !rest.is_empty()).unwrap_or(&name).to_owned(),
                traits: ColumnTraits::new(column),
                is_open: context.open[at],
                is_unique: unique_because(table, at).is_some(),
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
        let required = self.required();
        for (at, required) in required.into_iter().enumerate() {
            self.add_defaults_and_nulls(at, required);
        }
        self.found
    }

    fn kind(&self) -> Option<Kind> {
        self.subject.map(|subject| subject.kind)
    }

    fn is_free(&self, at: usize) -> bool {
        self.columns[at].is_open && self.found[at].is_none()
    }

    fn is_text(&self, at: usize) -> bool {
        self.columns[at].traits.class == TypeClass::Text || self.columns[at].traits.declared.is_empty()
    }

    fn is_number(&self, at: usize) -> bool {
        matches!(self.columns[at].traits.class, TypeClass::Int | TypeClass::Real | TypeClass::Numeric)
    }

    /// Returns the column as an operand.
    fn column(&self, at: usize) -> String {
        quoted_always(&self.table.columns[at].name)
    }

    /// Sets the annotation of a column, cut to its declared length.
    fn set(&mut self, at: usize, text: impl Into<String>, because: &str) {
        let text = fitted(text.into(), &self.columns[at].traits);
        self.found[at] = Some(inferred(text, because));
    }

    /// Returns the first free column whose name is like one of the patterns and that `is` right.
    fn find(&self, patterns: &str, is: impl Fn(usize) -> bool) -> Option<usize> {
        let mut patterns = patterns.split(' ');
        patterns.find_map(|pattern| {
            (0..self.columns.len()).find(|&at| is_like(&self.columns[at].plain, pattern) && self.columns[at].is_open && is(at))
        })
    }

    fn find_text(&self, patterns: &str) -> Option<usize> {
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

    /// First and last names, user name and e-mail of one person.
    fn persons(&mut self) {
        let is_person = self.kind() == Some(Kind::Person);
        let first = self.find_text("first_name firstname given_name forename fname first_names first");
        let last = self.find_text("last_name lastname surname family_name lname last_names last");
        let gender = self.find("gender sex", |at| self.found[at].is_none() && (self.is_text(at) || self.is_number(at)));
        if let Some(gender) = gender {
            let values = match (self.is_text(gender), self.columns[gender].traits.longest) {
                (true, Some(1)) => "choice('F': 50, 'M': 50)",
                (true, Some(..=6)) => "choice('female': 50, 'male': 50)",
                (true, _) => "choice('female': 49, 'male': 49, 'other': 2)",
                (false, _) => "choice(1: 50, 2: 50)",
            };
            self.set(gender, values, "its name is like gender");
        }
        if let (Some(at), false) = (first, first.is_some_and(|at| self.columns[at].is_unique)) {
            let text = match gender.filter(|&gender| self.is_text(gender)) {
                Some(gender) => format!(
                    "CASE upper(substr({}, 1, 1)) WHEN 'F' THEN phrase('{{first_female}}') WHEN 'M' THEN phrase('{{first_male}}') ELSE phrase('{{first}}') END",
                    self.column(gender)
                ),
                None => "phrase('{first}')".to_owned(),
            };
            self.set(at, text, "its name is like first_name");
        }
        if let (Some(at), false) = (last, last.is_some_and(|at| self.columns[at].is_unique)) {
            self.set(at, "phrase('{last}')", "its name is like last_name");
        }
        let both = first.zip(last).map(|(first, last)| format!("{} || ' ' || {}", self.column(first), self.column(last)));
        let full_patterns = if is_person {
            "full_name fullname display_name displayname real_name realname contact_name complete_name name customer_name employee_name"
        } else {
            "contact_name full_name fullname customer_name"
        };
        let mut full = self.find_text(full_patterns);
        if let Some(at) = full {
            let text = both.clone().unwrap_or_else(|| match gender.filter(|&gender| self.is_text(gender)) {
                Some(gender) => format!(
                    "CASE upper(substr({}, 1, 1)) WHEN 'M' THEN phrase('{{first_male}} {{last}}') ELSE phrase('{{first_female}} {{last}}') END",
                    self.column(gender)
                ),
                None => "phrase('{person}')".to_owned(),
            });
            match (self.columns[at].is_unique, &both) {
                (false, _) => self.set(at, text, "the name of a person"),
                (true, None) => self.set(at, "unique_phrase('{person}')", "it is unique, and the name of a person"),
                (true, Some(_)) => full = None,
            }
        }
        // All further parts follow from the name as it is written here.
        let name = both.clone().or_else(|| full.map(|at| self.column(at)));
        let logins = "username user_name login user_login nickname nick handle screen_name acct account_name user_nicename nicename uid_name";
        let login = self.find_text(logins);
        if let Some(at) = login {
            match (&name, self.columns[at].is_unique) {
                (Some(name), true) => self.set(at, format!("slug({name}, '') || sequence()"), "follows from the name, and is unique"),
                (Some(name), false) => self.set(at, format!("slug({name}, '') || int(1, 99)"), "follows from the name"),
                (None, true) => self.set(at, "unique_phrase('{handle}', '')", "it is unique, and a user's name"),
                (None, false) => self.set(at, "phrase('{handle}')", "its name is like username"),
            }
        }
        let mails: Vec<usize> = (0..self.columns.len())
            .filter(|&at| self.is_free(at) && self.is_text(at) && is_like(&self.columns[at].plain, "email e_mail mail *_email *email_address email_* mail_address user_email"))
            .filter(|&at| !is_like(&self.columns[at].plain, "*subject* *body* *token* *hash* *verified* *confirmed* *_at *type* *template* *domain*"))
            .collect();
        for at in mails {
            const DOMAIN: &str = "choice('@example.com': 6, '@example.net': 2, '@example.org': 2)";
            let base = match (&name, login) {
                (Some(name), _) => format!("slug({name}, '.') || sequence()"),
                (None, Some(login)) => self.column(login),
                (None, None) if self.columns[at].is_unique => "slug(phrase('{person}'), '.') || sequence()".to_owned(),
                (None, None) => "slug(phrase('{person}'), '.') || int(1, 999)".to_owned(),
            };
            self.set(at, format!("{base} || {DOMAIN}"), "an e-mail address, of the name in the row if there is one");
        }
    }

    /// Cities with the state, country, postcode and telephone number that belong to them, for each prefix of names.
    fn places(&mut self) {
        const FIELDS: &[(&str, &str)] = &[
            ("city", "city town city_name"),
            ("state", "state province region state_name state_province"),
            ("state_code", "state_code province_code region_code"),
            ("country", "country country_name nation"),
            ("country_code", "country_code country_iso iso_country country_iso2 iso2"),
            ("postcode", "zip zip_code zipcode postal_code postcode postalcode zip_postal_code"),
            ("phone", "phone phone_number telephone tel mobile mobile_phone cell cell_phone phone_mobile home_phone work_phone phone2 fax"),
            ("latitude", "latitude lat location_latitude geo_lat"),
            ("longitude", "longitude lon lng location_longitude geo_lng geo_lon"),
            ("timezone", "timezone time_zone"),
            ("currency", "currency currency_code"),
        ];
        let is_city_table = self.subject.is_some_and(|subject| subject.names == "city_name" || subject.names == "country_name");
        let mut groups: Vec<(String, Vec<(usize, &str)>)> = Vec::new();
        for at in (0..self.columns.len()).filter(|&at| self.columns[at].is_open && self.found[at].is_none()) {
            let name = &self.columns[at].plain;
            if self.columns[at].is_unique && !is_city_table {
                continue;
            }
            let part = FIELDS.iter().find_map(|(field, names)| {
                names.split(' ').find_map(|of| {
                    let prefix = name.strip_suffix(of)?;
                    (prefix.is_empty() || prefix.ends_with('_')).then(|| (*field, prefix.to_owned()))
                })
            });
            let Some((field, prefix)) = part else { continue };
            match groups.iter_mut().find(|(known, _)| *known == prefix) {
                Some((_, parts)) => parts.push((at, field)),
                None => groups.push((prefix, vec![(at, field)])),
            }
        }
        for (prefix, parts) in &groups {
            let of = |field: &str| parts.iter().find(|(at, of)| *of == field && self.is_text(*at)).map(|(at, _)| *at);
            let leader = ["city", "country", "country_code", "state"].into_iter().find_map(|field| Some((of(field)?, field)));
            // Of a lone telephone number or currency, those of the row's other place.
            let main = groups.iter().filter(|(other, _)| other != prefix && other.is_empty());
            let outside = main.flat_map(|(_, parts)| parts).find(|(at, field)| *field == "city" && self.is_text(*at));
            let alone = parts.len() == 1;
            let Some((leader, field)) = leader.or(outside.map(|(at, _)| (*at, "city"))) else {
                for &(at, field) in parts {
                    match field {
                        "phone" => self.set(at, "place_of(place('city'), 'phone', digits(8))", "its name is like phone"),
                        "postcode" if self.is_text(at) => self.set(at, "digits(5)", "its name is like postcode"),
                        _ => {}
                    }
                }
                continue;
            };
            let is_inside = parts.iter().any(|(at, _)| *at == leader);
            if is_inside && field == "state" && (alone || parts.iter().all(|(_, field)| ["state", "phone", "currency", "timezone"].contains(field))) {
                // `state` beside no city or country is more likely a status.
                continue;
            }
            if is_inside && !self.columns[leader].is_unique {
                let code = self.columns[leader].traits.longest;
                let text = match (field, code) {
                    ("country", Some(2)) => "place('country_code')",
                    ("country", Some(3)) => "place('country_code3')",
                    ("country", _) => "place('country')",
                    ("country_code", Some(3)) => "place('country_code3')",
                    ("country_code", _) => "place('country_code')",
                    ("state", Some(..=3)) => "place('state_code')",
                    ("state", _) => "place('state')",
                    _ => "place('city')",
                };
                self.set(leader, text, "a place");
            } else if is_inside {
                continue;
            }
            let key = self.column(leader);
            for &(at, field) in parts.iter().filter(|(at, _)| *at != leader) {
                let longest = self.columns[at].traits.longest;
                let text = match field {
                    "latitude" | "longitude" if self.is_number(at) => {
                        format!("round(place_of({key}, '{field}') + real(-0.06, 0.06, 4), 5)")
                    }
                    "latitude" | "longitude" => format!("round(place_of({key}, '{field}') + real(-0.06, 0.06, 4), 5) || ''"),
                    "postcode" | "phone" if self.is_text(at) => format!("place_of({key}, '{field}', digits(8))"),
                    _ if !self.is_text(at) => continue,
                    "country" if longest == Some(2) => format!("place_of({key}, 'country_code')"),
                    "country" | "country_code" if longest == Some(3) => format!("place_of({key}, 'country_code3')"),
                    "state" if longest.is_some_and(|longest| longest < 5) => format!("place_of({key}, 'state_code')"),
                    _ => format!("place_of({key}, '{field}')"),
                };
                let because = format!("belongs to {}", self.table.columns[leader].name);
                self.set(at, text, &because);
            }
        }
    }

    /// Times in their order.
    fn times(&mut self) {
        let mut times: Vec<(Stage, usize, Form)> = Vec::new();
        for at in 0..self.columns.len() {
            let column = &self.columns[at];
            let found = time_of(&column.plain, &column.traits).or_else(|| time_of(&plain(&self.table.columns[at].name), &column.traits));
            if let Some((stage, form)) = found.filter(|_| self.is_free(at)) {
                times.push((stage, at, form));
            }
        }
        times.sort_by_key(|&(stage, at, _)| (stage, at));
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
            let base = self.base_of(stage, at, &known);
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
        // A key needs a new time in every row.
        for &(_, at, form) in &times {
            if self.columns[at].is_unique {
                let text = if form == Form::Day || self.context.rows > 10_000_000 { unique(&self.columns[at].traits, &self.columns[at].plain, "").text } else { form.ascending(&from, &day.before(0)) };
                self.set(at, text, "a time that is unique");
            }
        }
    }

    /// Returns the time that a later one follows from: the latest that is always known, or the start of an end.
    fn base_of(&self, stage: Stage, at: usize, known: &[(Stage, usize, Form)]) -> Option<(usize, Form)> {
        let form = self.columns[at].traits.class;
        let is_usable = |&&(_, other, _): &&(Stage, usize, Form)| self.columns[other].traits.class == form || self.is_text(other) || self.columns[other].traits.class == TypeClass::Numeric;
        let wanted = match stage {
            Stage::Delivered => Some(Stage::Ended),
            Stage::Ended => Some(Stage::Started),
            _ => None,
        };
        let of_stage = known.iter().rev().filter(is_usable).find(|(of, ..)| Some(*of) == wanted);
        let always = known.iter().rev().filter(is_usable).find(|(of, other, _)| {
            self.share_of_null(*other) == 0.0 && !matches!(of, Stage::LastSeen | Stage::Deleted | Stage::Due | Stage::Updated)
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
            (matches!(stage, Stage::Created | Stage::Queued | Stage::Started) && of == form && column.generated == Generated::No && rules::null_share(&plain(&column.name)).is_none()).then_some((stage, column))
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

    /// Quantities, prices, totals.
    fn amounts(&mut self) {
        const PRICES: &str = "unit_price unitprice price list_price item_price sale_price retail_price amount_per_unit";
        let numbers = |patterns: &str| self.find(patterns, |at| self.is_number(at) && self.found[at].is_none());
        let quantity = numbers("quantity qty *_quantity order_qty pieces units count_ordered");
        let price = numbers(PRICES);
        let total = numbers("line_total linetotal total total_price subtotal sub_total extended_price total_amount amount net_amount");
        let cost = numbers("cost unit_cost standard_cost cost_price wholesale_price purchase_price buy_price");
        let tax = numbers("tax tax_amount vat_amount sales_tax taxes vat");
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
        if let (Some(total), Some(quantity), Some(price)) = (total.filter(|total| Some(*total) != price), quantity, price) {
            let text = format!("round({} * {}, 2)", self.column(quantity), self.column(price));
            self.set(total, text, "quantity and price");
        } else if let Some(total) = total.filter(|total| Some(*total) != price && self.found[*total].is_none()) {
            let text = self.price(total);
            self.set(total, text, "an amount");
        }
        if let (Some(tax), Some(base)) = (tax, total.or(price).filter(|base| Some(*base) != tax)) {
            let text = format!("round({} * 0.19, 2)", self.column(base));
            self.set(tax, text, "a tax of the amount");
        }
        let parts: Vec<usize> = [tax, numbers_in(self, "shipping shipping_cost freight shipping_amount delivery_fee")].into_iter().flatten().collect();
        let grand = self.find("grand_total total_due total_paid amount_total", |at| self.is_number(at) && self.found[at].is_none());
        if let (Some(grand), Some(base)) = (grand, total.or(price)) {
            let sum: Vec<String> = std::iter::once(base).chain(parts).map(|at| self.column(at)).collect();
            self.set(grand, format!("round({}, 2)", sum.join(" + ")), "the sum of the amounts");
        }
    }

    /// Returns prices as cheap or dear as such things are.
    fn price(&self, at: usize) -> String {
        let (low, high) = match self.subject.map(|subject| subject.names) {
            Some("song") => return "choice(0.99: 85, 1.29: 12, 1.99: 3)".to_owned(),
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
                is_like(&plain(&column.name), "unit_price unitprice price list_price retail_price") && column.generated == Generated::No && (column.not_null || column.default.is_some())
            };
            let price = of.columns.iter().find(is_price)?;
            Some(format!("{}.{}", self.column(at), quoted_always(&price.name)))
        })
    }

    /// Slugs of titles and names.
    fn slugs(&mut self) {
        let Some(slug) = self.find_text("slug *_slug permalink post_name url_key") else { return };
        let title = self.find("title name headline subject *_title label", |at| self.is_text(at) && at != slug && self.found[at].is_none() && !self.is_time(at));
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
        const ENDS: [(&str, &str); 7] =
            [("min_", "max_"), ("_min", "_max"), ("low", "high"), ("start_", "end_"), ("from_", "to_"), ("lft", "rgt"), ("lower", "upper")];
        for at in 0..self.columns.len() {
            let name = self.columns[at].plain.clone();
            if !self.is_free(at) || !self.is_number(at) {
                continue;
            }
            let low = ENDS.iter().filter(|(_, high)| name.contains(high)).find_map(|(low, high)| {
                let low = name.replacen(high, low, 1);
                let is_low = |&other: &usize| {
                    let column = &self.columns[other];
                    other != at && column.plain == low && column.is_open && column.traits.class == self.columns[at].traits.class
                };
                (0..self.columns.len()).find(is_low)
            });
            let Some(low) = low.filter(|&low| !self.columns[low].is_unique && !self.columns[at].is_unique) else { continue };
            let more = if self.columns[at].traits.class == TypeClass::Int { "int(1, 100)" } else { "real(0, 100, 2)" };
            let text = format!("{} + {more}", self.column(low));
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
        let own = format!("name {last_word}_name {last_word} display_name label title {last_word}_title name_en object_repr");
        for pattern in own.split(' ') {
            let Some(at) = self.find_text(pattern) else { continue };
            let is_titled = matches!(subject.kind, Kind::Order | Kind::Payment | Kind::Log | Kind::Place) && is_like(&self.columns[at].plain, "title label");
            let is_key = self.table.columns[at].key_position.is_some() && self.columns[at].traits.longest.is_some_and(|longest| longest < 12);
            if is_titled || is_key || self.is_time(at) {
                continue;
            }
            let list = subject.names;
            let text = if self.columns[at].is_unique { format!("unique_phrase('{{{list}}}')") } else { format!("phrase('{{{list}}}')") };
            let because = format!("the name of what {} holds", self.table.name);
            self.set(at, text, &because);
        }
        let texts: &[(&str, &str)] = match subject.names {
            "product" => &[("description *_description", "{product_description}"), ("color colour", "{colour}"), ("brand", "{brand}")],
            "article_title" => &[("content body text post_content *_content html", "{post}"), ("excerpt summary description *_excerpt", "{excerpt}")],
            "review_title" => &[("body content text comment review review_text message", "{review}")],
            "comment" => &[("body content text comment message *_content", "{comment}")],
            "message" => &[("body content text message subject", "{message}")],
            "title" if self.kind() == Some(Kind::Other) => &[("description plot synopsis summary overview", "{film_plot}")],
            "issue" | "task" => &[("title subject summary", "{issue}"), ("description body text", "{paragraph}")],
            "commit" => &[("message subject title", "{commit}")],
            "log_message" => &[("message msg text event description change_message", "{log_message}")],
            "category" => &[("description", "{category}, {category} and more")],
            _ => &[],
        };
        for (patterns, phrase) in texts {
            for at in 0..self.columns.len() {
                if self.is_free(at) && self.is_text(at) && !self.columns[at].is_unique && is_like(&self.columns[at].plain, patterns) {
                    let because = format!("a text of {}", self.table.name);
                    self.set(at, format!("phrase('{phrase}')"), &because);
                }
            }
        }
    }

    /// Infers a column that has nothing to do with the others.
    fn alone(&self, at: usize) -> Inference {
        let column = &self.columns[at];
        let (traits, name) = (&column.traits, &self.table.columns[at].name);
        if let Some(because) = unique_because(self.table, at) {
            return unique(traits, &column.plain, because);
        }
        let full = plain(name);
        if is_boolean(traits) || self.is_number(at) && self.is_flag(at, &full) {
            let share = self.flag_share(at, &full);
            return inferred(format!("bool({share})"), "a flag");
        }
        if let Some(found) = self.coded_flag(at) {
            return found;
        }
        if let Some(found) = by_declared_type(traits).filter(|_| !self.is_number(at) || rules::rule(&column.plain, traits, self.kind()).is_none()) {
            return found;
        }
        let rule = rules::rule(&column.plain, traits, self.kind()).or_else(|| rules::rule(&full, traits, self.kind()));
        if let Some((text, like)) = rule {
            return inferred(fitted(text.to_owned(), traits), format!("its name is like {like}"));
        }
        by_affinity(traits)
    }

    fn is_flag(&self, at: usize, full: &str) -> bool {
        let is_default = self.default(at).is_some_and(|default| default == "0" || default == "1");
        let is_small = matches!(self.columns[at].traits.declared.to_ascii_uppercase().split('(').next(), Some("TINYINT"));
        rules::is_flag(full) || is_default && (is_small || rules::flag_share(full).is_some() && !is_like(full, "*count* *_id *number* *total* *_at *time* *date*"))
    }

    fn flag_share(&self, at: usize, full: &str) -> f64 {
        let usual = match self.default(at).as_deref().map(str::to_ascii_uppercase).as_deref() {
            Some("1" | "TRUE") => 0.9,
            Some("0" | "FALSE") => 0.1,
            _ => 0.5,
        };
        rules::flag_share(full).unwrap_or(usual)
    }

    /// Infers flags that are letters: CHAR(1) DEFAULT 'Y'.
    fn coded_flag(&self, at: usize) -> Option<Inference> {
        let default = self.default(at)?;
        let pairs = [("'Y'", "'N'"), ("'N'", "'Y'"), ("'y'", "'n'"), ("'n'", "'y'"), ("'T'", "'F'"), ("'t'", "'f'"), ("'f'", "'t'"), ("'yes'", "'no'"), ("'no'", "'yes'"), ("'open'", "'closed'"), ("'on'", "'off'"), ("'off'", "'on'")];
        let (default, other) = pairs.iter().find(|(one, _)| *one == default)?;
        Some(inferred(format!("choice({default}: 92, {other}: 8)"), "a flag with a DEFAULT"))
    }

    /// Returns the DEFAULT, if it is a literal.
    fn default(&self, at: usize) -> Option<String> {
        let text = self.table.columns[at].default.as_deref()?.trim();
        let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text).trim();
        let is_number = inner.parse::<f64>().is_ok_and(f64::is_finite);
        let is_text = inner.len() > 1 && inner.starts_with('\'') && inner.ends_with('\'') && !inner[1..inner.len() - 1].contains('\'');
        match inner {
            _ if is_number || is_text => Some(inner.to_owned()),
            _ if inner.len() > 1 && inner.starts_with('"') && inner.ends_with('"') && !inner[1..inner.len() - 1].contains(['"', '\'']) => {
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
        let is_core = self.is_time(at) || is_like(&column.plain, "*name* *email* *title* status state type *price* *amount* *total* city country");
        if is_core && rules::null_share(&column.plain).is_none() { 0.0 } else { null_share(self.table, at) }
    }

    /// Returns the columns that are never NULL because a column that is NOT NULL is computed from them.
    fn required(&self) -> Vec<bool> {
        let mut required: Vec<bool> = self.columns.iter().map(|column| column.not_null || column.is_unique).collect();
        for _ in 0..self.columns.len() {
            for at in 0..self.columns.len() {
                let text = self.found[at].as_ref().filter(|_| required[at]).map(|found| found.text.as_str());
                for other in (0..self.columns.len()).filter(|&other| other != at) {
                    let is_read = || text.is_some_and(|text| text.contains(&self.column(other)));
                    required[other] = required[other] || is_read();
                }
            }
        }
        required
    }

    /// Adds the NULLs of nullable columns and the values of DEFAULTs.
    fn add_defaults_and_nulls(&mut self, at: usize, required: bool) {
        let Some(found) = self.found[at].take() else { return };
        let share = if required { 0.0 } else { self.share_of_null(at) };
        let text = &found.text;
        let changed = if share > 0.0 {
            Some(format!("null({share}, {text})"))
        } else if self.columns[at].is_unique || is_plain_choice(text) {
            None
        } else {
            self.default_share(at, text).map(|(share, default)| {
                let called = if text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') { format!("{text}()") } else { text.clone() };
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
        let default = self.default(at).filter(|default| !text.contains(default.as_str()) || self.is_number(at))?;
        if self.is_time(at) || text.contains('"') || ["TRUE", "FALSE"].contains(&default.as_str()) {
            return None;
        }
        let is_named = rules::rule(&self.columns[at].plain, &self.columns[at].traits, self.kind()).is_some() || text.contains("phrase('{");
        Some(match default.as_str() {
            // What is empty by default is often filled in.
            "''" if is_named => (0.1, default),
            "''" => (0.5, default),
            "0" | "0.0" | "0.00" if is_named => (0.3, default),
            "0" | "0.0" | "0.00" => (0.6, default),
            _ if self.is_number(at) => (0.5, default),
            _ => (0.6, default),
        })
    }
}

fn numbers_in(inference: &TableInference<'_>, patterns: &str) -> Option<usize> {
    inference.find(patterns, |at| inference.is_number(at))
}

/// Returns whether the annotation is a choice or a flag, which has the DEFAULT in its own share.
fn is_plain_choice(text: &str) -> bool {
    text.starts_with("choice(") || text.starts_with("bool(") || text == "sequence"
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
    let Some(longest) = traits.longest.filter(|&longest| longest > 0) else { return text };
    if let Some(pattern) = text.strip_prefix("phrase('").and_then(|rest| rest.strip_suffix("')"))
        && !pattern.contains('\'')
    {
        return if longest < 300 { format!("phrase('{pattern}', {longest})") } else { text };
    }
    let is_short = longest < 60 && !text.starts_with("choice(");
    if is_short && !text.starts_with("unique_") && !text.starts_with("events(") && !text.starts_with("date") {
        let called = if text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') { format!("{text}()") } else { text };
        return format!("substr({called}, 1, {longest})");
    }
    text
}
