//! Made-up texts of a row that agree, as annotations: a city lies in its country, and an e-mail address holds the name of the row.
//!
//! ```text
//! cities of one country of the source --made_up_places--> cities of one other country, in the list of `place_of`
//! City --> Country = place_of("City", 'country'), State, PostalCode;  FirstName, LastName --> Email
//! ```
//!
//! [`infer::texts_of_row`] says what belongs together, by the names of the columns. Places that the caller wants to keep agree
//! already, unless they are too many to be listed.

use crate::ColumnProfile;
use crate::annotation_text::with_nulls;
use crate::column_stats::ColumnStats;
use crate::describe::{Model, by_frequency, listed, middle_lengths, repeats};
use crate::names::is_like_generated;
use crate::row_sample::Cell;
use crate::weave::Weaver;
use litepress_gen::{Country, countries, infer};
use litepress_rows::quoted_name;
use std::collections::{BTreeMap, HashMap, HashSet};

/// New names by the texts of the source.
type Names = HashMap<Box<str>, String>;

/// The columns of a row's place that say which one it is.
struct Place {
    /// The column that the others are looked up by.
    city: usize,
    country: Option<usize>,
    /// Whether the city is one of the country that the row has, and not the other way round.
    is_by_country: bool,
}

impl Weaver<'_> {
    /// Makes the texts of a row agree. Sets for each column that follows from another one, which that is.
    pub fn agree(&mut self, columns: &mut [ColumnProfile], follows: &mut [Option<usize>]) {
        let Some(table) = self.schema.position(&self.table.name) else { return };
        let mut found = infer::texts_of_row(self.schema, table);
        let found: Vec<String> =
            self.table.ordinary_columns().map(|column| found[column].take().unwrap_or_default()).collect();
        let is_made_up = !self.precision.is_exact;
        let is_city = |at: usize| {
            let key = format!("place_of({}, 'country", self.operand(at));
            found[at] == "place('city')" || found.iter().any(|text| text.contains(&key))
        };
        let is_kept = |at: usize| !is_made_up && matches!(self.models[at], Model::Texts(_));
        let cities: Vec<usize> = (0..found.len()).filter(|&at| is_city(at) && !is_kept(at)).collect();
        for city in cities {
            let Some(place) = self.place(city, &found, columns) else { continue };
            follows[city] = place.country.filter(|_| place.is_by_country);
            for (column, text) in found.iter().enumerate().filter(|(column, _)| *column != city) {
                let is_open = follows[city] != Some(column) && self.is_open(column, text, columns);
                let Some(text) = self.of_place(column, text, &place, columns).filter(|_| is_open) else { continue };
                follows[column] = Some(city);
                self.follow(column, text, &format!("belongs to {}", self.name(city)), columns);
                if place.country != Some(column) {
                    self.models[column] = Model::Fixed;
                }
            }
        }
        for (column, text) in found.into_iter().enumerate() {
            if self.is_open(column, &text, columns)
                && (self.is_by_gender(&text, columns)
                    || self.is_name_of_place(&text, &columns[column])
                    || self.is_of_person(column, &text)
                    || self.is_of_parents_place(column, &text))
            {
                let text = self.with_its_nulls(column, self.as_short(column, text));
                self.follow(column, text, "agrees with the name or the place of the row", columns);
                self.models[column] = Model::Fixed;
            }
        }
    }

    /// Returns whether a column has texts and an annotation of its own, and can have one that follows from others: these are not
    /// NULL where it is not.
    fn is_open(&self, column: usize, text: &str, columns: &[ColumnProfile]) -> bool {
        let stats = self.stats(column);
        let is_filled = |at: usize| self.stats(at).nulls == 0 || !text.contains(&self.operand(at));
        columns[column].alone.is_none()
            && columns[column].generator.is_some()
            && stats.texts == stats.values()
            && (stats.nulls > 0 || (0..columns.len()).all(is_filled))
    }

    /// Adds NULL to an annotation in the share of the rows in which a column is NULL.
    fn with_its_nulls(&self, column: usize, text: String) -> String {
        let stats = self.stats(column);
        with_nulls(text, stats.nulls, stats.nulls + stats.values())
    }

    /// Gives a column an annotation that follows from another column.
    fn follow(&self, column: usize, text: String, because: &str, columns: &mut [ColumnProfile]) {
        let of = &mut columns[column];
        let alone = of.generator.replace(text);
        of.alone = alone.map(|alone| (alone, std::mem::replace(&mut of.because, because.to_owned())));
    }

    /// Returns the name of a column as inferred annotations have it.
    fn operand(&self, place: usize) -> String {
        let column = self.table.ordinary_columns().nth(place).expect("an ordinary column");
        quoted_name(&self.table.columns[column].name)
    }

    /// Names the cities of a column, and their countries, after places that belong together. `None` if the texts are no cities.
    fn place(&mut self, city: usize, found: &[String], columns: &mut [ColumnProfile]) -> Option<Place> {
        let key = format!("place_of({}, 'country", self.operand(city));
        let is_country = |at: usize| found[at].contains(&key) && !infer::is_street(&found[at]);
        let country = (0..found.len()).find(|&at| is_country(at) && self.is_open(at, &found[at], columns));
        let is_city = is_like_generated(&self.stats(city).text_sample.clone().values(), "place('city')");
        if !is_city || !self.is_open(city, "", columns) {
            return None;
        }
        let is_listed = |at: usize| matches!(self.models[at], Model::Texts(_));
        let listed_country = country.filter(|&at| is_listed(at));
        if is_listed(city) {
            let kind = listed_country.map_or(0, |at| kind_of_country(self.stats(at)));
            let (cities, names) = made_up_places(&self.cities(city, listed_country), kind);
            self.rename(city, &cities, columns);
            listed_country.into_iter().for_each(|at| self.rename(at, &names, columns));
            return Some(Place { city, country, is_by_country: false });
        }
        let text = match listed_country {
            Some(country) => format!("coalesce(place_of({}, 'city', digits(4)), place('city'))", self.operand(country)),
            None => "place('city')".to_owned(),
        };
        self.follow(city, self.with_its_nulls(city, text), "more cities than can be listed", columns);
        Some(Place { city, country, is_by_country: listed_country.is_some() })
    }

    /// Returns the cities of the sample with their countries. Without a column of countries, each is the only one of its country.
    fn cities(&self, city: usize, country: Option<usize>) -> BTreeMap<Box<str>, Box<str>> {
        let text = |cell: &Cell| if let Cell::Text(text) = cell { Some(text.clone()) } else { None };
        let of_row = |cells: &[Cell]| {
            let city = text(&cells[city])?;
            let country = country.map_or_else(|| Some(city.clone()), |country| text(&cells[country]));
            Some((city, country.unwrap_or_default()))
        };
        self.view.rows.iter().filter_map(|row| of_row(&row.cells)).collect()
    }

    /// Lists the texts of a column under these names, as far as they have one.
    fn rename(&mut self, column: usize, names: &Names, columns: &mut [ColumnProfile]) {
        let Some(counts) = by_frequency(self.stats(column)) else { return };
        let Model::Texts(known) = &self.models[column] else { return };
        let name = |text: &str| names.get(text).or_else(|| known.get(text)).cloned().unwrap_or_default();
        let found = listed(&counts, counts.iter().map(|(text, _)| name(text)).collect(), &columns[column].because);
        columns[column].generator = Some(self.with_its_nulls(column, found.generator));
        self.models[column] = found.model;
    }

    /// Returns the annotation of a column that belongs to a place, where the inferred one has it.
    fn of_place(&self, column: usize, inferred: &str, place: &Place, columns: &[ColumnProfile]) -> Option<String> {
        let city = self.operand(place.city);
        if infer::is_street(inferred) {
            return Some(self.null_by_place(column, inferred.to_owned(), place, columns));
        }
        let field = inferred.split_once(&format!("place_of({city}, '"))?.1.split('\'').next()?;
        let stats = self.stats(column);
        let field = match field {
            "country" | "country_code" | "country_code3" => COUNTRIES[kind_of_country(stats)],
            "state" | "state_code" if middle_lengths(stats).1 <= 3 => "state_code",
            "state_code" => "state",
            field if field == "phone" || field == "last" || field.starts_with("first") => return None,
            field => field,
        };
        let text = match field {
            // Postcodes that repeat: each city has one.
            "postcode" if repeats(stats.distinct().0, stats.texts) => {
                format!("place_of({city}, 'postcode', '27182818')")
            }
            "postcode" => format!("place_of({city}, 'postcode', digits(8))"),
            field => format!("place_of({city}, '{field}')"),
        };
        let otherwise = match field {
            "state" => format!("{city} || ' Province'"),
            "state_code" => format!("upper(substr({city}, 1, 2))"),
            field if field.starts_with("country") => return Some(self.null_by_place(column, text, place, columns)),
            _ => {
                let alone = columns[column].generator.as_deref()?;
                let filled = alone.strip_prefix("null(").and_then(|rest| rest.split_once(", ")?.1.strip_suffix(')'));
                filled.unwrap_or(alone).to_owned()
            }
        };
        let text = format!("coalesce({text}, {otherwise})");
        Some(self.null_by_place(column, text, place, columns))
    }

    /// Makes a column NULL as often as it is, in the countries or cities where it always is.
    fn null_by_place(&self, column: usize, text: String, place: &Place, columns: &[ColumnProfile]) -> String {
        let is_null = |row: &usize| self.view.rows[*row].cells[column].is_null();
        let plain = || self.with_its_nulls(column, text.clone());
        let by = [place.country, Some(place.city)]
            .into_iter()
            .flatten()
            .find(|&by| by != column && matches!(self.models[by], Model::Texts(_)));
        let Some(by) = by.filter(|_| self.stats(column).nulls > 0) else { return plain() };
        let mut groups: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        self.view.columns[by]
            .groups
            .iter()
            .enumerate()
            .for_each(|(row, group)| groups.entry(*group).or_default().push(row));
        let others: Vec<&usize> = groups.values().filter(|rows| !rows.iter().all(is_null)).flatten().collect();
        let nulls = others.iter().filter(|row| is_null(row)).count();
        let filled = with_nulls(text.clone(), nulls as u64, others.len() as u64);
        let given = |rows: &[usize]| Some(if rows.iter().all(is_null) { "NULL".to_owned() } else { filled.clone() });
        self.by_groups(by, 1, columns, &given).unwrap_or_else(plain)
    }

    /// Returns whether a column has what an annotation computes of the person of the row: an address, a name or a user name.
    fn is_of_person(&self, column: usize, text: &str) -> bool {
        let stats = self.stats(column);
        let sample = stats.text_sample.clone().values();
        let is_kind = match (text.contains('@'), text.contains("slug(")) {
            (true, _) => sample.iter().all(|text| text.contains('@')),
            (_, true) => is_like_generated(&sample, "phrase('{handle}')"),
            _ => return self.is_whole_name(column, text),
        };
        is_kind && !repeats(stats.distinct().0, stats.texts)
    }

    /// Writes only the initial of the first name in addresses, if those of the column are short.
    fn as_short(&self, column: usize, text: String) -> String {
        const LONG: u64 = 48;
        let (shortest, longest) = middle_lengths(self.stats(column));
        if !text.contains('@') || shortest + longest >= LONG {
            return text;
        }
        let initial = text.replacen("slug(", "slug(substr(", 1).replacen(" || ' ' || ", ", 1, 1) || ", 1);
        if initial.contains(", 1, 1) || ") { initial.replacen(", '.')", ", '')", 1) } else { text }
    }

    /// Returns whether an annotation chooses a given name by a column that keeps the genders or forms of address.
    fn is_by_gender(&self, text: &str, columns: &[ColumnProfile]) -> bool {
        const TOLD: [&str; 5] = ["'Mr.'", "'F'", "'f'", "'female'", "'Female'"];
        let is_told =
            |of: &ColumnProfile| TOLD.iter().any(|told| of.generator.as_ref().is_some_and(|of| of.contains(told)));
        let is_chosen_by = |at: usize| text.contains(&self.operand(at)) && is_told(&columns[at]);
        !self.precision.is_exact && text.contains("{first_female}") && (0..columns.len()).any(is_chosen_by)
    }

    /// Returns whether an annotation chooses a name by a place, and the column has such names.
    fn is_name_of_place(&self, text: &str, of: &ColumnProfile) -> bool {
        let is_list = |list: &str| {
            let alone = format!("phrase('{list}'");
            text.contains(&alone) && of.generator.as_ref().is_some_and(|generator| generator.contains(&alone))
        };
        !self.precision.is_exact && text.contains("coalesce(place_of(") && (is_list("{first}") || is_list("{last}"))
    }

    /// Returns whether a column has two others with a blank between them, as an annotation says.
    fn is_whole_name(&self, column: usize, text: &str) -> bool {
        const SAME: f64 = 0.95;
        let at = |name: &str| (0..self.view.columns.len()).find(|&at| self.operand(at) == name);
        let parts = text.split_once(" || ' ' || ").and_then(|(one, other)| Some((at(one)?, at(other)?)));
        let Some((one, other)) = parts else { return false };
        let is_same = |cells: &[Cell]| {
            matches!((&cells[one], &cells[other], &cells[column]),
                (Cell::Text(one), Cell::Text(other), Cell::Text(whole)) if **whole == format!("{one} {other}"))
        };
        let filled = self.view.rows.iter().filter(|row| !row.cells[column].is_null()).count();
        let same = self.view.rows.iter().filter(|row| is_same(&row.cells)).count();
        same > 0 && same as f64 >= SAME * filled as f64
    }

    /// Returns whether a column has what an annotation computes of a place that the row refers to.
    fn is_of_parents_place(&self, column: usize, text: &str) -> bool {
        let is_like = |generator| is_like_generated(&self.stats(column).text_sample.clone().values(), generator);
        !self.precision.is_exact
            && text.contains("coalesce(place_of(")
            && text.contains("\".\"")
            && match text.contains("'city'") {
                true => is_like("place('city')"),
                false => text.contains("'postcode'") && is_like("postcode"),
            }
    }
}

/// The fields of a country that a column may have.
const COUNTRIES: [&str; 3] = ["country", "country_code", "country_code3"];

/// Returns which name of a country the texts of a column are: the name, or the code of two or three letters.
fn kind_of_country(stats: &ColumnStats) -> usize {
    match (stats.text_lengths.shortest, stats.text_lengths.longest) {
        (2, 2) => 1,
        (3, 3) => 2,
        _ => 0,
    }
}

/// Makes up names of cities and of their countries: the cities of one country get those of one other country. None is a text of the
/// source. The country with the most cities comes first.
fn made_up_places(cities: &BTreeMap<Box<str>, Box<str>>, kind: usize) -> (Names, Names) {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    cities.iter().for_each(|(city, country)| groups.entry(country).or_default().push(city));
    let taken: HashSet<&str> = cities.iter().flat_map(|(city, country)| [&**city, &**country]).collect();
    let mut groups: Vec<(&str, Vec<&str>)> = groups.into_iter().collect();
    groups.sort_by_key(|(_, cities)| std::cmp::Reverse(cities.len()));
    let (own, others): (Vec<Country>, Vec<Country>) = countries()
        .into_iter()
        .filter(|country| !country.names[kind].is_empty())
        .partition(|country| taken.contains(country.names[kind]));
    // There are few countries with codes: a source may have all of them.
    let known = if others.is_empty() { own } else { others };
    let mut known: Vec<(&str, _)> = known
        .into_iter()
        .map(|country| (country.names[kind], country.cities.into_iter().filter(|city| !taken.contains(&**city))))
        .collect();
    let (mut of_cities, mut of_countries) = (Names::new(), Names::new());
    let count = known.len();
    for (at, (country, cities)) in groups.into_iter().enumerate() {
        let (name, free) = &mut known[at % count];
        of_countries.insert(country.into(), (*name).to_owned());
        of_cities.extend(cities.into_iter().zip(free).map(|(city, name)| (city.into(), name)));
    }
    (of_cities, of_countries)
}
