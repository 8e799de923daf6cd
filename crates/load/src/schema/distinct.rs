//! Makes the names of a file's columns distinct.

use std::collections::{HashMap, HashSet};

/// Makes names distinct to SQLite: an empty one becomes that of its position, a repeated one gets a number. Returns the names, and
/// a note about each repeated one; `place` tells which column it is.
pub(crate) fn distinct(
    header: Vec<String>,
    name_by_position: impl Fn(usize) -> String,
    place: impl Fn(usize) -> String,
) -> (Vec<String>, Vec<String>) {
    // SQLite ignores the case of ASCII letters in names.
    let written: HashSet<String> = header.iter().map(|name| name.to_ascii_lowercase()).collect();
    let mut taken = HashSet::new();
    // Lower numbers are taken: to try them again takes hours if all names are equal.
    let mut next_numbers: HashMap<String, usize> = HashMap::new();
    let (mut names, mut notes) = (Vec::with_capacity(header.len()), Vec::new());
    for (position, name) in header.into_iter().enumerate() {
        let base = if name.is_empty() { name_by_position(position) } else { name.clone() };
        let is_free = |name: &str, taken: &HashSet<String>| {
            let name = name.to_ascii_lowercase();
            !taken.contains(&name) && !written.contains(&name)
        };
        let is_first = !name.is_empty() && !taken.contains(&name.to_ascii_lowercase());
        let given = if is_first || is_free(&base, &taken) {
            base
        } else {
            let next = next_numbers.entry(base.to_ascii_lowercase()).or_insert(2);
            let mut numbered = (*next..).map(|number| (number, format!("{base}_{number}")));
            let (number, name) = numbered.find(|(_, name)| is_free(name, &taken)).expect("there are enough numbers");
            *next = number + 1;
            name
        };
        if given != name && !name.is_empty() {
            notes.push(format!("column {} is called {given}, because {name} is taken", place(position)));
        }
        taken.insert(given.to_ascii_lowercase());
        names.push(given);
    }
    (names, notes)
}
