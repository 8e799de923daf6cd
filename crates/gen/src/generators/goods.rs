//! Products by the category they belong to, for the function `product_of`, and their usual prices, for `worth_of`.

use super::{lists, phrases};
use std::collections::HashMap;
use std::str::Split;
use std::sync::OnceLock;

static DATA: &str = include_str!("../../data/goods.txt");
static WORTH: &str = include_str!("../../data/worth.txt");

/// Styles that any product may have.
const STYLES: [&str; 8] =
    ["Classic", "Deluxe", "Essential", "Everyday", "Premium", "Signature", "Standard", "Original"];

/// Returns the goods of each category.
fn goods() -> &'static HashMap<&'static str, Vec<&'static str>> {
    static GOODS: OnceLock<HashMap<&str, Vec<&str>>> = OnceLock::new();
    GOODS.get_or_init(|| lists::read(DATA).map(|(category, goods)| (category, goods.collect())).collect())
}

/// Returns the parts of a text that begin with a word and go to its end, the longest first.
fn ends(text: &str) -> impl Iterator<Item = &str> {
    std::iter::once(0).chain(text.match_indices(' ').map(|(at, _)| at + 1)).map(|start| &text[start..])
}

/// Returns the goods of a category: of `Bags`, `Leather Bags` or `Bags 2`.
fn goods_of(category: &str) -> Option<&'static [&'static str]> {
    let name = category.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end();
    ends(name).find_map(|end| goods().get(end)).map(Vec::as_slice)
}

/// Returns a product of a category, which the digits choose; `None` if the category is unknown.
pub(crate) fn product_of(category: &str, digits: &[u8]) -> Option<String> {
    let goods = goods_of(category)?;
    let number = lists::number_of(digits);
    let (number, good) = (number / goods.len(), goods[number % goods.len()]);
    let brands = phrases::items("brand");
    let (number, style) = (number / STYLES.len(), STYLES[number % STYLES.len()]);
    // The shelf of a brand has its goods only.
    let of_category = brands.iter().find(|brand| category.contains(**brand));
    let brand = of_category.unwrap_or(&brands[number / 4 % brands.len()]);
    Some(match number % 4 {
        0 if of_category.is_none() => format!("{style} {good}"),
        1 => format!("{brand} {style} {good}"),
        _ => format!("{brand} {good}"),
    })
}

/// Returns the usual price of each good.
fn worth() -> &'static HashMap<&'static str, i64> {
    static PRICES: OnceLock<HashMap<&str, i64>> = OnceLock::new();
    PRICES.get_or_init(|| {
        let each = |(price, goods): (&str, Split<'static, &'static str>)| {
            let price = price.parse().expect("a price is a number");
            goods.map(move |good| (good, price))
        };
        lists::read(WORTH).flat_map(each).collect()
    })
}

/// Returns the usual price of a product, by the good that its name ends with; `None` if it is unknown.
pub(crate) fn worth_of(product: &str) -> Option<i64> {
    ends(product).find_map(|end| worth().get(end)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wool cap was a tool.
    #[test]
    fn categories_have_goods() {
        for category in phrases::items("category") {
            assert!(goods_of(category).is_some_and(|goods| goods.len() > 5), "{category}");
        }
        assert_eq!(goods().len(), phrases::items("category").len());
        assert!(phrases::items("brand").iter().all(|brand| !brand.contains('{')));
        let product = product_of("Bags", b"000000");
        assert_eq!(product.as_deref(), Some("Classic Backpack"));
        assert_eq!(product_of("Children's Bags", b"000000"), product);
        assert_eq!(product_of("Bags 17", b"000000"), product);
        assert_eq!(product_of("Home Decor", b"000001").as_deref(), Some("Classic Wall Clock"));
        assert_eq!(product_of("Ideas", b"000000"), None);
        for digits in [b"000000", b"123456", b"987654", b"555555"] {
            let product = product_of("Best-Selling Cedar & Stone Bags", digits);
            assert!(product.is_some_and(|product| product.starts_with("Cedar & Stone ")));
        }
    }

    /// A dining chair cost 11.99, and a flask 128.99.
    #[test]
    fn goods_have_a_usual_price() {
        let of_lists = ["soft_goods", "hard_goods", "tech_goods"].map(phrases::items);
        for good in goods().values().flatten().chain(of_lists.into_iter().flatten()) {
            assert!(worth_of(good).is_some(), "{good}");
        }
        for (product, price) in [
            ("Oak Stool", Some(45)),
            ("Thistle Key Ring", Some(5)),
            ("Ring", Some(80)),
            ("Stool of Oak", None),
            ("", None),
        ] {
            assert_eq!(worth_of(product), price, "{product}");
        }
    }
}
