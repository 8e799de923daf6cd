//! Streets, named as in the country of their city.

use super::TableInference;

const STREETS: &str = "address street street_address address1 address_1 address_line1 address_line_1 addr line1 line_1";
/// Languages of the generator `street`, and the codes of countries where streets have names of them.
const LANGUAGES: [(&str, &[&str]); 5] =
    [("de", &["DE", "AT", "CH"]), ("fr", &["FR"]), ("es", &["ES", "MX", "AR"]), ("it", &["IT"]), ("pt", &["PT", "BR"])];
/// Countries whose streets are in a list of their own, such as `street_nl`.
const COUNTRIES: [&str; 12] = ["CN", "CZ", "DK", "FI", "IN", "JP", "KR", "NL", "NO", "PL", "SE", "TR"];

/// The beginning of an inferred street.
const STREET: &str = "CASE place_of(";

/// Returns whether a text of [`texts_of_row`](super::texts_of_row) is a street, which is named as in the country of its city.
#[must_use]
pub fn is_street(text: &str) -> bool {
    text.starts_with(STREET)
}

impl TableInference<'_> {
    /// Infers the street of the place that `key` names, in the column with this prefix.
    pub(super) fn street_in(&mut self, prefix: &str, key: &str) {
        let is_street = |at: usize| {
            let name = self.columns[at].plain.strip_prefix(prefix).unwrap_or_default();
            let is_free = self.is_text(at) && self.is_free(at) && !self.columns[at].is_unique;
            is_free && STREETS.split(' ').any(|of| of == name)
        };
        let Some(at) = (0..self.columns.len()).find(|&at| is_street(at)) else { return };
        let by_language = LANGUAGES.iter().flat_map(|(language, codes)| {
            codes.iter().map(move |code| format!(" WHEN '{code}' THEN street('{language}')"))
        });
        let by_country =
            COUNTRIES.iter().map(|code| format!(" WHEN '{code}' THEN phrase('{{street_{}}}')", code.to_lowercase()));
        let cases: String = by_language.chain(by_country).collect();
        let text = format!("{STREET}{key}, 'country_code'){cases} ELSE phrase('{{street}}') END");
        self.set(at, text, "a street of the country");
    }
}
