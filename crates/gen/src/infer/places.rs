//! The columns of one place: city, state, country, postcode, telephone number, coordinates and currency agree.

use super::hospitals::CITY;
use super::names::{plain, words_of_table};
use super::subjects::{Kind, subject};
use super::{Parent, TableInference, kind_of};
use litepress_rows::schema::{Column, Generated, Schema, Table};

/// The fields of a place, and the names of their columns behind a prefix such as `billing_`.
const FIELDS: &[(&str, &str)] = &[
    ("city", "city town city_name place_name"),
    ("state", "state province region state_name state_province"),
    ("state_code", "state_code province_code region_code"),
    ("country", "country country_name nation"),
    ("country_code", "country_code country_iso iso_country country_iso2 iso2 iso_code"),
    ("postcode", "zip zip_code zipcode postal_code postcode postalcode zip_postal_code"),
    (
        "phone",
        "phone phone_number telephone tel mobile mobile_phone cell cell_phone phone_mobile home_phone work_phone phone2 fax",
    ),
    ("latitude", "latitude lat location_latitude geo_lat latitude_number latitudenumber"),
    ("longitude", "longitude lon lng location_longitude geo_lng geo_lon longitude_number longitudenumber"),
    ("timezone", "timezone time_zone"),
    ("currency", "currency currency_code"),
    ("language", "browser_lang browser_language accept_language"),
];

/// The cities of each country in a table of cities.
pub(crate) const CITIES_OF_COUNTRY: u64 = 3;

/// Returns whether the rows of a table are cities in the countries of another one.
pub(crate) fn is_city_of(table: &Table, countries: &Table) -> bool {
    let is = |table: &Table, names: &str| subject(&table.name).is_some_and(|subject| subject.names == names);
    super::has_last_word(table, "city town") && is(table, "city_name") && is(countries, "country_name")
}

/// The columns with one prefix, and their fields.
struct Place {
    prefix: String,
    parts: Vec<(usize, &'static str)>,
}

const COUNTRIES: &str = "USGBDEFRITESCAAUINJPBRNL";

/// Returns the country that the key of a person chooses, if it counts: all rows of the person are in one country.
pub(super) fn country_by_key(schema: &Schema, person: Parent, key: &str) -> Option<String> {
    let counts = schema.tables[person.table].rowid_alias == Some(person.column);
    counts.then(|| format!("substr('{COUNTRIES}', 1 + {key} * 7919 % 1009 % {} * 2, 2)", COUNTRIES.len() / 2))
}

/// Returns the number of the trip on which a picture was taken, as most of a hundred pictures are taken at home.
pub(super) fn key_of_trip(key: &str) -> String {
    format!("if({key} % 100 < 70, 1, 2 + {key} / 100)")
}

/// Returns a city that the key of a row chooses.
pub(super) fn city_by_key(key: &str) -> String {
    let country = format!("substr('{COUNTRIES}', 1 + {key} * 7 % {} * 2, 2)", COUNTRIES.len() / 2);
    format!("place_of({country}, 'city', {key} * 7919 % 1000 || '')")
}

impl TableInference<'_> {
    /// Infers the columns of places: the first of each is drawn, and the others are looked up by it.
    pub(super) fn places(&mut self) {
        self.places_of_parents();
        self.cities_of_country();
        self.districts();
        let places = self.places_by_prefix();
        let of = |place: &Place, field: &str| {
            let is_field = |(at, of): &&(usize, &str)| *of == field && self.is_text(*at);
            place.parts.iter().find(is_field).map(|(at, _)| *at)
        };
        let main = places.iter().filter(|place| place.prefix.is_empty()).find_map(|place| of(place, "city"));
        let leaders: Vec<Option<(usize, &str)>> = places
            .iter()
            .map(|place| {
                let fields = ["city", "country", "country_code", "state"];
                // A lone telephone number or currency is that of the row's other place.
                fields.into_iter().find_map(|field| Some((of(place, field)?, field))).or_else(|| Some((main?, "city")))
            })
            .collect();
        for (place, leader) in places.iter().zip(leaders) {
            match leader {
                Some((leader, field)) => self.place(place, leader, field),
                None => self.place_without_name(place),
            }
        }
    }

    /// Addresses for bills and parcels: mostly those of the customer.
    fn places_of_parents(&mut self) {
        const PREFIXES: [&str; 4] = ["billing_", "bill_", "shipping_", "ship_"];
        for at in 0..self.columns.len() {
            let name = &self.columns[at].plain;
            let Some(rest) = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)) else { continue };
            if !self.is_free(at) || !self.is_text(at) || self.columns[at].is_unique || rest == "name" {
                continue;
            }
            let found = (0..self.columns.len()).find_map(|by| {
                let parent = self.context.possible_parents[by]?;
                let of = &self.context.schema.tables[parent.table];
                kind_of(of).filter(|kind| matches!(kind, Kind::Person | Kind::Company))?;
                let column = of
                    .columns
                    .iter()
                    .find(|column| plain(&column.name) == rest && column.generated == Generated::No)?;
                let is_known = column.not_null && self.context.parents[by].is_some();
                let fits = is_known || !self.columns[at].not_null;
                fits.then(|| self.through(by, column))
            });
            if let Some(text) = found {
                self.set(at, text, "follows from the customer");
            }
        }
    }

    /// Groups the columns of places.
    fn places_by_prefix(&self) -> Vec<Place> {
        let is_place_table = self.subject.is_some_and(|subject| ["city_name", "country_name"].contains(&subject.names));
        let own = words_of_table(&self.table.name).pop().filter(|_| is_place_table);
        let mut places: Vec<Place> = Vec::new();
        for at in (0..self.columns.len()).filter(|&at| self.is_free(at)) {
            let name = &self.columns[at].plain;
            let is_other_code = name == "iso_code" && super::has_last_word(self.table, "currency language");
            if self.columns[at].is_unique || own.as_ref() == Some(name) || is_other_code {
                continue;
            }
            let part = FIELDS.iter().find_map(|(field, names)| {
                names.split(' ').find_map(|of| {
                    let prefix = name.strip_suffix(of)?;
                    (prefix.is_empty() || prefix.ends_with('_')).then(|| (*field, prefix.to_owned()))
                })
            });
            let Some((field, prefix)) = part else { continue };
            match places.iter_mut().find(|place| place.prefix == prefix) {
                Some(place) => place.parts.push((at, field)),
                None => places.push(Place { prefix, parts: vec![(at, field)] }),
            }
        }
        places
    }

    /// Infers the columns of a place by its leading column.
    fn place(&mut self, place: &Place, leader: usize, field: &str) {
        // Names that are cut are of no place.
        const SHORT: u64 = 20;
        if place.parts.iter().any(|(at, _)| *at == leader) {
            let says_little =
                |(_, field): &(usize, &str)| ["state", "phone", "currency", "timezone", "language"].contains(field);
            if field == "state" && place.parts.iter().all(says_little) {
                // `state` beside no city or country is more likely a status.
                return;
            }
            let text = match (field, self.columns[leader].traits.longest) {
                ("country", Some(2)) => "place('country_code')",
                ("country" | "country_code", Some(3)) => "place('country_code3')",
                ("country", _) => "place('country')",
                ("country_code", _) => "place('country_code')",
                ("state", Some(..=3)) => "place('state_code')",
                ("state", _) => "place('state')",
                _ => "place('city')",
            };
            let of_house = self.city_of_patient().or_else(|| self.city_of_employee());
            let text = of_house.filter(|_| field == "city").unwrap_or_else(|| text.to_owned());
            match self.person_of_address().filter(|_| field == "city") {
                Some(by) => {
                    let key = self.column(by);
                    let by_key = self.context.parents[by];
                    let by_key = by_key.and_then(|person| country_by_key(self.context.schema, person, &key));
                    let country = by_key.unwrap_or_else(|| format!("same_in({key}, place('country'))"));
                    let text = format!("coalesce(place_of({country}, 'city', digits(4)), place('city'))");
                    let is_short = self.columns[leader].traits.longest.is_some_and(|longest| longest < SHORT);
                    self.set(
                        leader,
                        if is_short { "place('city')".to_owned() } else { text },
                        "a place in the country of the person",
                    );
                }
                None => self.set(leader, text, "a place"),
            }
        }
        let key = self.column(leader);
        self.street_in(&place.prefix, &key);
        for &(at, field) in place.parts.iter().filter(|(at, _)| *at != leader) {
            if let Some(text) = self.place_field(at, field, &key) {
                let because = format!("belongs to {}", self.table.columns[leader].name);
                self.set(at, text, &because);
            }
        }
    }

    /// Returns the city of an employee: one in which the firm has an office.
    fn city_of_employee(&self) -> Option<String> {
        const OFFICES: &str = "choice('London': 5, 'Manchester': 2, 'New York': 3, 'Toronto': 2)";
        let is_employee = super::has_last_word(self.table, "employee") && self.find("hire*", |_| true).is_some();
        is_employee.then(|| OFFICES.to_owned())
    }

    /// Returns the column that refers to the person who has several addresses.
    fn person_of_address(&self) -> Option<usize> {
        let is_address = super::has_last_word(self.table, "address");
        (0..self.columns.len()).filter(|_| is_address).find(|&at| {
            let parent = self.context.parents[at].map(|parent| &self.context.schema.tables[parent.table]);
            parent.is_some_and(super::is_person) && !self.columns[at].is_unique && self.context.once != Some(at)
        })
    }

    /// Returns the annotation of a field of the place that `key` names.
    fn place_field(&self, at: usize, field: &str, key: &str) -> Option<String> {
        const LONGEST: u64 = 27;
        let near = || format!("round(place_of({key}, '{field}') + real(-0.06, 0.06, 4), 5)");
        Some(match (field, self.columns[at].traits.longest) {
            ("latitude" | "longitude", _) if self.is_number(at) => near(),
            ("latitude" | "longitude", _) => format!("{} || ''", near()),
            _ if !self.is_text(at) => return None,
            ("postcode" | "phone", _) => format!("place_of({key}, '{field}', digits(8))"),
            ("country", Some(2)) => format!("place_of({key}, 'country_code')"),
            ("country" | "country_code", Some(3)) => format!("place_of({key}, 'country_code3')"),
            ("state", Some(..5)) => format!("place_of({key}, 'state_code')"),
            // A code is shorter than a name.
            ("country" | "state", Some(longest)) if longest < LONGEST => {
                let [name, code] = ["", "_code"].map(|end| format!("place_of({key}, '{field}{end}')"));
                format!("if(length({name}) > {longest}, {code}, {name})")
            }
            _ => format!("place_of({key}, '{field}')"),
        })
    }

    /// Infers telephone numbers and postcodes of a row that names no place: of the city it refers to, if it does.
    fn place_without_name(&mut self, place: &Place) {
        let city = self.city_of_parent();
        if let Some(city) = &city {
            self.street_in(&place.prefix, city);
        }
        for &(at, field) in &place.parts {
            match (field, &city) {
                _ if !self.is_text(at) => {}
                ("phone", Some(city)) => {
                    self.set(at, format!("place_of({city}, 'phone', digits(8))"), "belongs to the city");
                }
                ("postcode", Some(city)) => {
                    let text = format!("coalesce(place_of({city}, 'postcode', digits(8)), digits(5))");
                    self.set(at, text, "belongs to the city");
                }
                // The departments of a house have telephones in one city.
                ("phone", None)
                    if self.subject.is_some_and(|of| ["department", "ward", "team"].contains(&of.names)) =>
                {
                    self.set(at, format!("place_of('{CITY}', 'phone', digits(8))"), "a telephone of the house");
                }
                ("phone", None) => {
                    // Firms that say no place are in one country.
                    let text = match self.kind() {
                        Some(Kind::Company) => "place_of('New York', 'phone', digits(8))",
                        _ => "place_of(place('city'), 'phone', digits(8))",
                    };
                    self.set(at, text, "its name is like phone");
                }
                ("postcode", None) => self.set(at, "digits(5)", "its name is like postcode"),
                _ => {}
            }
        }
        self.positions(place);
    }

    /// Infers the latitude and longitude of a row that names no place: near a city, which the key of the row chooses.
    fn positions(&mut self, place: &Place) {
        let of = |field: &str| {
            let is_field = |(at, of): &&(usize, &str)| *of == field && self.is_free(*at) && self.is_number(*at);
            place.parts.iter().find(is_field).map(|(at, _)| *at)
        };
        let Some((latitude, longitude)) = of("latitude").zip(of("longitude")) else { return };
        let key = self.table.rowid_alias.map_or("sequence()".to_owned(), |at| self.column(at));
        let city = self.city_of_picture().unwrap_or_else(|| match super::is_of_photographs(self.context.schema) {
            true => city_by_key(&key_of_trip(&key)),
            false => city_by_key(&key),
        });
        for (at, field) in [(latitude, "latitude"), (longitude, "longitude")] {
            if let Some(text) = self.place_field(at, field, &city) {
                self.set(at, text, "near a city");
            }
        }
    }

    /// Returns the name of the city that the row refers to.
    fn city_of_parent(&self) -> Option<String> {
        self.name_of_place("city_name", &["city", "name", "city_name"])
    }

    /// Returns the name of the place of a kind that the row refers to.
    fn name_of_place(&self, kind: &str, names: &[&str]) -> Option<String> {
        (0..self.columns.len()).find_map(|at| {
            let parent = self.context.parents[at]?;
            let of = &self.context.schema.tables[parent.table];
            subject(&of.name).filter(|subject| subject.names == kind)?;
            let is_name = |column: &&Column| names.contains(&plain(&column.name).as_str()) && column.not_null;
            Some(self.through(at, of.columns.iter().find(is_name)?))
        })
    }

    /// Infers the districts of addresses: the state of the city that the row refers to, or the city if it has none.
    fn districts(&mut self) {
        let Some((at, city)) = self.find_repeatable_text("district county").zip(self.city_of_parent()) else { return };
        let state = format!("coalesce(place_of({city}, 'state'), {city})");
        let text = match self.columns[at].traits.longest {
            Some(longest) => {
                let short = |other: &str| format!("if(length({state}) > {longest}, {other}, {state})");
                short(&format!("if(length({city}) > {longest}, cut({city}, {longest}), {city})"))
            }
            None => state,
        };
        self.set(at, text, "belongs to the city");
    }

    /// Infers the names of cities, each in the country that the row refers to.
    fn cities_of_country(&mut self) {
        let is_city = self.subject.is_some_and(|subject| subject.names == "city_name");
        let is_named_so = super::has_last_word(self.table, "city town");
        let country = self.name_of_place("country_name", &["country", "name", "country_name"]);
        let Some(country) = country.filter(|_| is_city && is_named_so) else { return };
        let Some(at) = self.find_repeatable_text("city name city_name town") else {
            return;
        };
        let mut parents = self.context.parents.iter().flatten();
        let countries = parents.find(|parent| is_city_of(self.table, &self.context.schema.tables[parent.table]));
        let town = match countries {
            // The cities of each country come in turn.
            Some(parent) => {
                format!(
                    "place_of({country}, 'town', ((sequence() - 1) / {}) || '')",
                    self.context.rows_in(parent.table)
                )
            }
            None => format!("place_of({country}, 'city', digits(4))"),
        };
        let text = format!("coalesce({town}, phrase('{{city_name}}'))");
        self.set(at, text, "a city of the country that the row refers to");
    }
}
