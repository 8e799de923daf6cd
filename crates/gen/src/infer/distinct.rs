//! Distinct texts by the rules for names: addresses of machines, numbers with check digits, texts of a list.

use super::names::is_like;
use super::subjects::Kind;
use super::{ColumnTraits, TableInference, TypeClass, has_last_word, keys, rules};
use crate::generators::catalogue;

/// Names that a rule knows better than their last word says: a `card_number` is no number of an article.
const KNOWN: &str = "isin_code card_number cc_number credit_card_number swift_code account_number serial_number serial_no passport_number license_plate_number plate_number vat_number tax_number country_code language_code currency_code sha256 *_sha256 sha512 *_sha512 file_hash content_hash";

/// Returns distinct texts of what a rule knows of a name, if they fit the declared length and no other unique text suits the name.
pub(super) fn text(name: &str, traits: &ColumnTraits<'_>, kind: Option<Kind>, rows: u64) -> Option<String> {
    if traits.class != TypeClass::Text || !is_like(name, KNOWN) && keys::unique_text(name, traits).is_some() {
        return None;
    }
    let text = match name {
        "country_code" | "iso2" | "country_iso" => "place('country_code')",
        "currency_code" | "currency" => "place('currency')",
        "country" => "phrase('{country_name}')",
        "city" => "place('city')",
        _ => rules::rule(name, traits, kind)?.0,
    };
    let text = format!("distinct({text})");
    let longest = catalogue::longest_bytes(&text, rows)?;
    traits.takes_len(longest).then_some(text)
}

impl TableInference<'_> {
    /// Returns the name of a column; an `iso_code` is one of what its table lists.
    pub(super) fn name_of_code(&self, at: usize) -> &str {
        const CODES: [(&str, &str); 2] = [("currency", "currency_code"), ("language", "language_code")];
        let of_table = |(word, _): &&(&str, &str)| has_last_word(self.table, word);
        match self.columns[at].full.as_str() {
            "iso_code" => CODES.iter().find(of_table).map_or("country_code", |(_, name)| name),
            name => name,
        }
    }
}
