//! Cities with what belongs to them: state, country, postcode, telephone, coordinates, currency.
//!
//! The generator `place` draws a city by its weight. The function `place_of` finds a city, state or country by its name
//! or code, so that further columns of a row agree with the first one.

use super::alias::AliasTable;
use super::template::{self, Node};
use super::{Arguments, Cardinality, Generator, Kinds, NUMBER_BYTES, lists, size};
use crate::random::{CellRandom, Fraction, Rows};
use crate::suggest::did_you_mean;
use litepress_rows::cells::OwnedValue;
use litepress_rows::{CellBlock, Result};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

static DATA: &str = include_str!("../../data/places.txt");
/// Cities of other countries, of which only the country and its calling code are known.
static CITIES: &str = include_str!("../../data/cities.txt");
static CONTINENTS: &str = include_str!("../../data/continents.txt");
static NAMES: &str = include_str!("../../data/names.txt");

/// The fields of a place, and the names of people who live there.
const FIELDS: [&str; 21] = [
    "city",
    "state",
    "state_code",
    "country_code",
    "postcode",
    "latitude",
    "longitude",
    "phone",
    "timezone",
    "country_code3",
    "country_number",
    "country",
    "currency",
    "language",
    "calling_code",
    "continent",
    "town",
    "first",
    "first_female",
    "first_male",
    "last",
];

/// Words in front of the name of a city.
const PARTS: [&str; 8] = ["North", "South", "East", "West", "New", "Old", "Upper", "Lower"];

const CITY: usize = 0;
const POSTCODE: usize = 4;
const LATITUDE: usize = 5;
const LONGITUDE: usize = 6;
const PHONE: usize = 7;
const COUNTRY: usize = 11;
const CALLING_CODE: usize = 14;
const CONTINENT: usize = 15;
/// A city or a part of one.
const TOWN: usize = 16;
/// The first of the names of people.
const FIRST: usize = 17;
const FIRST_FEMALE: usize = 18;
const FIRST_MALE: usize = 19;

/// A city with the fields of its country.
#[derive(Debug)]
struct Place {
    fields: [&'static str; 17],
    weight: f64,
}

/// All places, and their positions by name of city, of country, of state, and by code.
struct Places {
    places: Vec<Place>,
    by_key: HashMap<&'static str, usize>,
    /// The cities of each country, by its name or code.
    cities: HashMap<&'static str, Vec<&'static str>>,
    /// The other countries' cities, with the country.
    other_cities: HashMap<&'static str, OtherCountry>,
    /// The continent of each country, by its name.
    continents: HashMap<&'static str, &'static str>,
}

/// A country without whole places. Its postcode is empty if it has none.
#[derive(Clone, Copy)]
struct OtherCountry {
    name: &'static str,
    calling_code: &'static str,
    postcode: &'static str,
}

/// The names of people who speak one language.
struct PeopleNames {
    female: Vec<&'static str>,
    male: Vec<&'static str>,
    last: Vec<&'static str>,
}

/// Returns the names of people in countries where most of them are from there.
fn people_names() -> &'static HashMap<&'static str, Arc<PeopleNames>> {
    static PEOPLE: OnceLock<HashMap<&str, Arc<PeopleNames>>> = OnceLock::new();
    PEOPLE.get_or_init(|| {
        let lists: HashMap<&str, Vec<&str>> = lists::read(NAMES).map(|(head, list)| (head, list.collect())).collect();
        let of = |kind: &str, language: &str| lists[format!("{kind}{language}").as_str()].clone();
        let mut people = HashMap::new();
        for (language, countries) in
            lists.iter().filter_map(|(head, list)| Some((head.strip_prefix("countries")?, list)))
        {
            let [female, male, last] = ["female", "male", "last"].map(|kind| of(kind, language));
            let names = Arc::new(PeopleNames { female, male, last });
            people.extend(countries.iter().map(|country| (*country, names.clone())));
        }
        people
    })
}

fn places() -> &'static Places {
    static PLACES: OnceLock<Places> = OnceLock::new();
    PLACES.get_or_init(|| {
        let lines =
            || DATA.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(',').collect::<Vec<_>>());
        let countries: HashMap<&str, Vec<&str>> =
            lines().filter(|line| line.len() == 8).map(|line| (line[0], line)).collect();
        let continents: HashMap<&str, &str> = lists::read(CONTINENTS)
            .flat_map(|(continent, countries)| countries.map(move |country| (country, continent)))
            .collect();
        let cities = lines().filter(|line| line.len() == 10);
        let places: Vec<Place> = cities
            .map(|line| {
                let country = &countries[line[3]];
                let [city, state, state_code, code, postcode, latitude, longitude, phone, timezone] =
                    std::array::from_fn(|at| line[at]);
                let fields = [
                    city,
                    state,
                    state_code,
                    code,
                    postcode,
                    latitude,
                    longitude,
                    phone,
                    timezone,
                    country[1],
                    country[2],
                    country[3],
                    country[4],
                    country[5],
                    country[6],
                    continents[country[3]],
                    city,
                ];
                Place { fields, weight: line[9].parse().expect("a weight") }
            })
            .collect();
        let mut by_key = HashMap::new();
        // A city is found before a country, and that before a state: names of the first kind win.
        for field in ["city", "country", "country_code", "country_code3", "state", "state_code", "timezone"] {
            let at = FIELDS.iter().position(|name| *name == field).expect("a field");
            for (position, place) in places.iter().enumerate() {
                by_key.entry(place.fields[at]).or_insert(position);
            }
        }
        let mut cities: HashMap<&str, Vec<&str>> = HashMap::new();
        for place in &places {
            for field in ["country", "country_code", "country_code3"] {
                let at = FIELDS.iter().position(|name| *name == field).expect("a field");
                cities.entry(place.fields[at]).or_default().push(place.fields[CITY]);
            }
        }
        let mut other_cities = HashMap::new();
        for (country, of_country) in other_countries() {
            other_cities.extend(of_country.iter().map(|city| (*city, country)));
            cities.insert(country.name, of_country);
        }
        Places { places, by_key, cities, other_cities, continents }
    })
}

/// Returns the countries without whole places, with their cities.
fn other_countries() -> impl Iterator<Item = (OtherCountry, Vec<&'static str>)> {
    lists::read(CITIES).map(|(country, cities)| {
        let mut fields = country.split(", ");
        let name = fields.next().expect("a country has a name");
        let calling_code = fields.next().expect("a country has a calling code");
        let country = OtherCountry { name, calling_code, postcode: fields.next().unwrap_or_default() };
        (country, cities.collect())
    })
}

/// A country with its cities.
#[derive(Clone, Debug)]
pub struct Country {
    /// Its name, and its codes of two and three letters; empty codes if only the names of its cities are known.
    pub names: [&'static str; 3],
    /// The cities, and then parts of them such as `North Lyon`. `place_of` knows all of them.
    pub cities: Vec<String>,
}

/// Returns all countries: first the ones whose cities have states and postcodes, and then the ones with the most cities.
pub fn countries() -> Vec<Country> {
    let all = places();
    let names = all.places.iter().map(|place| [place.fields[COUNTRY], place.fields[3], place.fields[9]]);
    let names: BTreeSet<[&str; 3]> =
        names.chain(other_countries().map(|(country, _)| [country.name, "", ""])).collect();
    let country = |names: [&'static str; 3]| {
        let cities = &all.cities[names[0]];
        let parts = PARTS.iter().flat_map(|part| cities.iter().map(move |city| format!("{part} {city}")));
        Country { names, cities: cities.iter().map(|city| (*city).to_owned()).chain(parts).collect() }
    };
    let mut countries: Vec<Country> = names.into_iter().map(country).collect();
    countries.sort_by_key(|country| (country.names[1].is_empty(), std::cmp::Reverse(country.cities.len())));
    countries
}

/// Returns the city of which a text names a part.
fn whole_city(key: &str) -> Option<&str> {
    let all = places();
    // The north of New York is no new North.
    let parts = [key.split_once(' '), key.rsplit_once(' ').map(|(city, part)| (part, city))];
    let mut parts = parts.into_iter().flatten().filter(|(part, _)| PARTS.contains(part)).map(|(_, city)| city);
    parts.find(|city| all.by_key.contains_key(city) || all.other_cities.contains_key(city))
}

/// Returns what is known of a city, or of the one of which the name is a part.
fn of_city<'a, T>(known: &'a HashMap<&'static str, T>, key: &str) -> Option<&'a T> {
    known.get(key).or_else(|| known.get(whole_city(key)?))
}

/// Returns a city of a country, the one that the digits choose, and the part of it if the number is larger than that of cities. A
/// number behind the name of the country does not count.
fn city_of(country: &str, digits: &[u8]) -> Option<(Option<&'static str>, &'static str)> {
    let known = &places().cities;
    let name = country.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end();
    let cities = known.get(country).or_else(|| known.get(name))?;
    let number = lists::number_of(digits) % 1_000_000;
    let part = (number / cities.len()).checked_sub(1).map(|part| PARTS[part % PARTS.len()]);
    Some((part, cities[number % cities.len()]))
}

/// Appends a field of a city of which little is known. Returns `false` if it is not known either.
fn append_of_city(city: &str, field: usize, digits: &[u8], out: &mut Vec<u8>) -> bool {
    let Some(country) = of_city(&places().other_cities, city) else { return false };
    match field {
        CITY | TOWN => out.extend_from_slice(city.as_bytes()),
        COUNTRY => out.extend_from_slice(country.name.as_bytes()),
        CONTINENT => out.extend_from_slice(places().continents[country.name].as_bytes()),
        CALLING_CODE => out.extend_from_slice(country.calling_code.as_bytes()),
        PHONE => fill(&format!("+{} ## ### ###", country.calling_code), digits, out),
        POSTCODE if !country.postcode.is_empty() => fill(country.postcode, digits, out),
        _ => return false,
    }
    true
}

/// Returns a name of somebody who lives in a place, as the digits choose; `None` if the names of there are unknown.
fn name_of(key: &str, field: usize, digits: &[u8]) -> Option<&'static str> {
    let all = places();
    let country = match of_city(&all.by_key, key) {
        Some(&place) => all.places[place].fields[COUNTRY],
        None => of_city(&all.other_cities, key).map_or(key, |country| country.name),
    };
    let names = people_names().get(country)?;
    let number = lists::number_of(digits);
    let (list, number) = match field {
        FIRST_FEMALE => (&names.female, number),
        FIRST_MALE => (&names.male, number),
        FIRST if number.is_multiple_of(2) => (&names.female, number / 2),
        FIRST => (&names.male, number / 2),
        _ => (&names.last, number),
    };
    Some(list[number % list.len()])
}

/// Appends a text in which digits replace the marks.
fn fill(text: &str, digits: &[u8], out: &mut Vec<u8>) {
    let mut digits = digits.iter().cycle();
    out.extend(text.bytes().map(|byte| if byte == b'#' { *digits.next().unwrap_or(&b'0') } else { byte }));
}

/// Returns the position of a field.
pub(crate) fn field(name: &str) -> Option<usize> {
    FIELDS.iter().position(|field| field.eq_ignore_ascii_case(name))
}

/// Returns whether a field is a number: a coordinate.
pub(crate) fn is_coordinate(field: usize) -> bool {
    [LATITUDE, LONGITUDE].contains(&field)
}

/// Returns a field of the place with this name or code, as [`append_place`] finds it.
pub(crate) fn place_of(key: &str, field: usize, digits: &[u8]) -> Option<OwnedValue> {
    let mut text = Vec::new();
    let text = append_place(key, field, digits, &mut text).then(|| String::from_utf8(text).ok())??;
    Some(if is_coordinate(field) { OwnedValue::Real(text.parse().ok()?) } else { OwnedValue::Text(text) })
}

/// Appends a field of the place with this name or code. Returns `false` if there is none. Digits replace the marks of a postcode
/// or telephone number, and choose the city of a country.
pub(crate) fn append_place(key: &str, field: usize, digits: &[u8], out: &mut Vec<u8>) -> bool {
    if [CITY, TOWN].contains(&field)
        && !digits.is_empty()
        && let Some((part, city)) = city_of(key, digits)
    {
        // East Lyon, and Monte Carlo East.
        let part = part.filter(|_| field == TOWN);
        let (before, after) = if city.contains(' ') { (None, part) } else { (part, None) };
        for word in [before, Some(city), after].into_iter().flatten() {
            out.extend_from_slice(word.as_bytes());
            out.push(b' ');
        }
        out.pop();
        return true;
    }
    if field >= FIRST {
        return name_of(key, field, digits).inspect(|name| out.extend_from_slice(name.as_bytes())).is_some();
    }
    let all = places();
    // Georgia is a country in Asia, and a state.
    if let Some(continent) = all.continents.get(key).filter(|_| field == CONTINENT) {
        out.extend_from_slice(continent.as_bytes());
        return true;
    }
    let Some(&place) = of_city(&all.by_key, key) else {
        return append_of_city(key, field, digits, out);
    };
    fill(all.places[place].fields[field], digits, out);
    true
}

/// `place(field, max)`
#[derive(Debug)]
struct PlaceField {
    field: usize,
    /// The places with texts that are not too long.
    places: Vec<&'static Place>,
    weights: AliasTable,
}

pub(super) fn place(arguments: &Arguments<'_>) -> Result<Box<dyn Generator>> {
    let name = arguments.text("field")?;
    let is_alone = |&field: &usize| field < FIRST && field != POSTCODE && field != PHONE;
    let Some(field) = field(&name).filter(is_alone) else {
        let near = did_you_mean(&name, FIELDS);
        let message = format!("a place has no field '{name}'{near}");
        let is_filled = field(&name).is_some();
        let error = arguments.error_at("field", message);
        let known = FIELDS[..FIRST].iter().filter(|name| !["postcode", "phone"].contains(name)).copied();
        let known = known.collect::<Vec<_>>();
        return Err(match is_filled {
            true => {
                error.advise(format!("write place_of(city, '{name}', digits(9)), with a column that is place('city')"))
            }
            false => error.advise(format!("there are {}", known.join(", "))),
        });
    };
    let max = if arguments.is_given("max") { arguments.int_within("max", 1, 1_000_000)? } else { u64::MAX };
    let fits = |place: &&Place| place.fields[field].chars().count() as u64 <= max;
    let places: Vec<&Place> = places().places.iter().filter(fits).collect();
    if places.is_empty() {
        return Err(arguments.error_at("max", format!("no {name} is as short as that")));
    }
    let weights: Vec<f64> = places.iter().map(|place| place.weight).collect();
    Ok(Box::new(PlaceField { field, weights: AliasTable::new(&weights), places }))
}

/// Returns the longitude and latitude of all cities, or of those of one name, and how often each is drawn; `None` if there is none.
pub(super) fn positions(name: Option<&str>) -> Option<(Vec<[f64; 2]>, AliasTable)> {
    let is_wanted = |place: &&Place| name.is_none_or(|name| place.fields[CITY] == name);
    let places: Vec<&Place> = places().places.iter().filter(is_wanted).collect();
    let at = |place: &&Place| [LONGITUDE, LATITUDE].map(|field| place.fields[field].parse().unwrap_or(0.0));
    let weights: Vec<f64> = places.iter().map(|place| place.weight).collect();
    (!places.is_empty()).then(|| (places.iter().map(at).collect(), AliasTable::new(&weights)))
}

impl Generator for PlaceField {
    fn fill(&self, random: &CellRandom, rows: &Rows<'_>, out: &mut CellBlock) {
        let pick =
            |row| self.places[size(u64::from(self.weights.pick(&mut Fraction(random.u64(row)))))].fields[self.field];
        if self.kinds() == Kinds::REAL {
            rows.append_to(out.reals(), |row| pick(row).parse().unwrap_or(0.0));
        } else {
            let texts = out.texts();
            rows.for_each(|row| texts.push(pick(row).as_bytes()));
        }
    }

    fn kinds(&self) -> Kinds {
        if is_coordinate(self.field) { Kinds::REAL } else { Kinds::TEXT }
    }

    fn longest_bytes(&self) -> u64 {
        let longest = self.places.iter().map(|place| place.fields[self.field].len() as u64).max();
        longest.unwrap_or(0).max(NUMBER_BYTES)
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Among { values: self.places.len() as u64 }
    }

    fn distinct(&self, rows: u64) -> Option<Box<dyn Generator>> {
        let mut texts: Vec<&str> = self.places.iter().map(|place| place.fields[self.field]).collect();
        texts.sort_unstable();
        texts.dedup();
        (self.kinds() == Kinds::TEXT).then(|| template::distinct(&Node::one_of(&texts), rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A look-alike with more cities than a country of the list has needed names that nobody could place.
    #[test]
    fn parts_of_cities_are_places() {
        let countries = countries();
        assert!(countries.len() > 150 && countries[0].names == ["United States", "US", "USA"], "{:?}", countries[0]);
        for country in countries {
            assert!(country.cities.len() >= 9, "{country:?}");
            for city in &country.cities {
                assert_eq!(place_of(city, COUNTRY, b""), Some(OwnedValue::Text(country.names[0].to_owned())), "{city}");
            }
        }
        assert_eq!(place_of("South Nowhere", COUNTRY, b""), None);
    }

    #[test]
    fn places_are_whole() {
        let all = places();
        assert!(all.places.len() > 100);
        for place in &all.places {
            let [latitude, longitude] =
                [LATITUDE, LONGITUDE].map(|at| place.fields[at].parse::<f64>().expect("a number"));
            assert!(latitude.abs() <= 90.0 && longitude.abs() <= 180.0 && place.weight > 0.0, "{place:?}");
            assert!(place.fields.iter().all(|field| !field.is_empty()), "{place:?}");
            // Tokyo's state was called 13.
            assert!(!place.fields[2].contains(|c: char| c.is_ascii_digit()), "{place:?}");
            // Every city is found by its own name.
            assert_eq!(place_of(place.fields[0], 11, b""), Some(OwnedValue::Text(place.fields[11].to_owned())));
        }
    }

    #[test]
    fn names_and_codes_find_their_place() {
        let text = |key, name| match place_of(key, field(name).expect(name), b"1234") {
            Some(OwnedValue::Text(text)) => text,
            other => panic!("{key} {name}: {other:?}"),
        };
        assert_eq!(text("Seattle", "state_code"), "WA");
        assert_eq!(text("Seattle", "postcode"), "98112");
        assert_eq!(text("Berlin", "phone"), "+49 30 23125 123");
        assert_eq!(text("Japan", "currency"), "JPY");
        assert_eq!(text("SE", "language"), "sv");
        assert_eq!(text("Texas", "country"), "United States");
        assert_eq!(place_of("Nowhere", 0, b""), None);
        // Ryan Campbell lived in Kolkata.
        for (place, name, expected) in [
            ("Kolkata", "last", Some("Banerjee")),
            ("Germany", "first_female", Some("Andrea")),
            ("North Leipzig", "first", Some("Andrea")),
            ("Cairo", "first_male", Some("Ahmed")),
            ("Mexico City North", "last", Some("Aguilar")),
            ("Toronto", "last", None),
            ("Nowhere", "last", None),
        ] {
            let found = place_of(place, field(name).expect(name), b"000000000");
            assert_eq!(found, expected.map(|name| OwnedValue::Text(name.to_owned())), "{place}");
        }
    }

    /// Cyprus was in the West, and the Netherlands were in the East.
    #[test]
    fn countries_are_on_a_continent() {
        let continent = |key: &str| match place_of(key, CONTINENT, b"") {
            Some(OwnedValue::Text(text)) => text,
            other => panic!("{key}: {other:?}"),
        };
        for (key, expected) in
            [("Georgia", "Asia"), ("Texas", "North America"), ("Lima", "South America"), ("FR", "Europe")]
        {
            assert_eq!(continent(key), expected, "{key}");
        }
        let countries = crate::generators::phrases::items("country_name");
        assert!(countries.iter().all(|country| !continent(country).is_empty()));
    }

    /// Toronto was in Papua New Guinea.
    #[test]
    fn countries_have_cities() {
        let city = |country, digits: &[u8]| place_of(country, CITY, digits);
        let text = |text: &str| Some(OwnedValue::Text(text.to_owned()));
        assert_eq!(city("Peru", b"0002"), text("Trujillo"));
        assert_eq!(city("Georgia", b"7"), text("Batumi"), "the country, not the state");
        assert_eq!(city("Germany 12", b"1"), text("Hamburg"));
        assert_eq!(city("AT", b"0"), text("Vienna"));
        assert_eq!(city("Atlantis", b"0"), None);
        assert_eq!(place_of("Lima", COUNTRY, b""), text("Peru"));
        assert_eq!(place_of("Lima", PHONE, b"12345678"), text("+51 12 345 678"));
        assert_eq!(place_of("Lima", POSTCODE, b"12345678"), text("15012"));
        assert_eq!(place_of("Luanda", POSTCODE, b"12345678"), None, "Angola has no postcodes");
        let all: Vec<&str> = other_countries().flat_map(|(_, cities)| cities).collect();
        for (at, city) in all.iter().enumerate() {
            assert!(!all[..at].contains(city) && !places().by_key.contains_key(city), "{city} is elsewhere as well");
        }
        assert!(other_countries().all(|(country, _)| places().cities[country.name].len() > 1));
    }
}
