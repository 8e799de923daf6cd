//! Addresses of people: staff and customers belong to a store in the city in which they live.

use super::Planner;
use super::shared_rows::{Draft, HOMES};
use crate::infer::{self, quoted};

impl Planner<'_> {
    /// Gives people with an address of their own the first house in their city.
    pub(super) fn agree_on_cities(&self, drafts: &mut [Draft]) {
        for position in 0..drafts.len() {
            if let Some(text) = self.house_nearby(drafts, position) {
                drafts[position].2.text = text;
                drafts[position].2.because += ", in the city of the row";
            }
        }
    }

    /// Returns the annotation of a reference to a house, such as a store, in the city of the row's address.
    fn house_nearby(&self, drafts: &[Draft], position: usize) -> Option<String> {
        let parent = |(table, column, _): &Draft| self.single_parent(*table, *column);
        let is_own_address = |draft: &&Draft| draft.2.text.contains(", once(near=");
        let of_table = |wanted: usize| drafts.iter().filter(move |(table, ..)| *table == wanted);
        let is_free = |text: &str| [", popular", ", via(", ", within("].iter().any(|call| text.contains(call));
        let draft = drafts.get(position).filter(|draft| draft.2.text.starts_with("ref(") && is_free(&draft.2.text))?;
        let house = parent(draft).filter(|house| infer::has_last_word(&self.schema.tables[house.table], HOMES))?;
        let [own, of_house] = [draft.0, house.table].map(|table| of_table(table).find(is_own_address));
        let (own, of_house) = own.zip(of_house)?;
        let addresses = parent(own).map(|of| of.table).filter(|&of| parent(of_house).map(|of| of.table) == Some(of))?;
        let is_city = |draft: &&Draft| {
            let city = parent(draft).map(|city| &self.schema.tables[city.table]);
            draft.2.text.starts_with("ref(") && city.is_some_and(|city| infer::has_last_word(city, "city town"))
        };
        let city = of_table(addresses).find(is_city)?;
        let name = |(table, column, _): &Draft| quoted(&self.schema.tables[*table].columns[*column].name);
        let key = infer::quoted_column(&self.schema.tables[house.table], house.column);
        let of_house = infer::quoted_column(&self.schema.tables[house.table], of_house.1);
        let city = name(city);
        Some(format!("ref({key}, within({}.{city}, {of_house}.{city}, first=TRUE))", name(own)))
    }
}
