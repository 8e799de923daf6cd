//! "Did you mean": the known name that is nearest to a mistyped one.

/// The candidate that is at most two typing slips (and a third of the name's length) away from `name`.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (name.chars().count() / 3).clamp(1, 2);
    candidates
        .into_iter()
        .map(|candidate| (slips(name, candidate), candidate))
        .filter(|&(slips, _)| slips <= allowed)
        .min_by_key(|&(slips, _)| slips)
        .map(|(_, candidate)| candidate)
}

/// `, did you mean 'x'?` or nothing.
pub(crate) fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, candidates).map_or(String::new(), |near| format!(", did you mean '{near}'?"))
}

/// How many letters have to be added, taken away, changed or swapped with their neighbour; case does not count.
fn slips(one: &str, other: &str) -> usize {
    let one: Vec<char> = one.to_lowercase().chars().collect();
    let other: Vec<char> = other.to_lowercase().chars().collect();
    let mut before_last = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (i, &left) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &right) in other.iter().enumerate() {
            let mut best = (last[j] + usize::from(left != right)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && left == other[j - 1] && one[i - 1] == right {
                best = best.min(before_last[j - 1] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_count_letters() {
        for (one, other, count) in
            [("digits", "digits", 0), ("digit", "digits", 1), ("dgiits", "digits", 1), ("", "abc", 3), ("Ab", "aB", 0)]
        {
            assert_eq!(slips(one, other), count, "{one} {other}");
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
