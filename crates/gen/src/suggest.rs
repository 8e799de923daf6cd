//! Suggestions: "did you mean" the known name that is nearest to a mistyped one.

/// Returns the candidate with at most two typing mistakes (and at most a third of the name's length).
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (name.chars().count() / 3).clamp(1, 2);
    candidates
        .into_iter()
        .map(|candidate| (mistakes(name, candidate), candidate))
        .filter(|&(mistakes, _)| mistakes <= allowed)
        .min_by_key(|&(mistakes, _)| mistakes)
        .map(|(_, candidate)| candidate)
}

/// Returns `, did you mean 'x'?` or an empty text.
pub(crate) fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, candidates).map_or(String::new(), |near| format!(", did you mean '{near}'?"))
}

/// Counts letters to insert, delete, replace or swap with a neighbour; case does not count.
fn mistakes(one: &str, other: &str) -> usize {
    strsim::osa_distance(&one.to_lowercase(), &other.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_count_letters() {
        for (one, other, count) in
            [("digits", "digits", 0), ("digit", "digits", 1), ("dgiits", "digits", 1), ("", "abc", 3), ("Ab", "aB", 0)]
        {
            assert_eq!(mistakes(one, other), count, "{one} {other}");
        }
    }

    #[test]
    fn only_near_names_are_offered() {
        let names = ["digits", "int", "choice"];
        assert_eq!(nearest("digit", names), Some("digits"));
        assert_eq!(nearest("chioce", names), Some("choice"));
        assert_eq!(nearest("itn", names), Some("int"));
        assert_eq!(nearest("zipf", names), None);
        assert_eq!(did_you_mean("digit", names), ", did you mean 'digits'?");
    }
}
