//! Makes the names of a file's columns distinct.

use std::collections::HashSet;

/// Makes names distinct to SQLite: an empty one becomes that of its position, a repeated one gets a number. Returns the names, and
/// a note about each repeated one.
pub(crate) fn distinct(header: Vec<String>, name_by_position: impl Fn(usize) -> String) -> (Vec<String>, Vec<String>) {
    // SQLite ignores the case of ASCII letters in names.
    let written: HashSet<String> = header.iter().map(|name| name.to_ascii_lowercase()).collect();
    let mut taken = HashSet::new();
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
            let numbered = (2..).map(|number: usize| format!("{base}_{number}"));
            numbered.into_iter().find(|name| is_free(name, &taken)).expect("there are enough numbers")
        };
        if given != name && !name.is_empty() {
            notes.push(format!("column {} is called {given}, because {name} is taken", position + 1));
        }
        taken.insert(given.to_ascii_lowercase());
        names.push(given);
    }
    (names, notes)
}
