//! Products by the category they belong to, for the function `product_of`.

use super::phrases;
use std::collections::HashMap;
use std::sync::OnceLock;

static DATA: &str = include_str!("../../data/goods.txt");

/// Styles that any product may have.
const STYLES: [&str; 8] =
    ["Classic", "Deluxe", "Essential", "Everyday", "Premium", "Signature", "Standard", "Original"];

/// Returns the goods of each category.
fn goods() -> &'static HashMap<&'static str, Vec<&'static str>> {
    static GOODS: OnceLock<HashMap<&str, Vec<&str>>> = OnceLock::new();
    GOODS.get_or_init(|| {
        let lines = DATA.lines().filter(|line| !line.starts_with('#'));
        let known = lines.map(|line| line.split_once(": ").expect("a category has goods"));
        known.map(|(category, goods)| (category, goods.split(" | ").collect())).collect()
    })
}

/// Returns the goods of a category: of `Bags`, `Leather Bags` or `Bags 2`.
fn goods_of(category: &str) -> Option<&'static [&'static str]> {
    let name = category.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end();
    let starts = std::iter::once(0).chain(name.match_indices(' ').map(|(at, _)| at + 1));
    starts.into_iter().find_map(|start| goods().get(&name[start..])).map(Vec::as_slice)
}

/// Returns a product of a category, which the digits choose; `None` if the category is unknown.
pub(crate) fn product_of(category: &str, digits: &[u8]) -> Option<String> {
    let goods = goods_of(category)?;
    let number = digits.iter().fold(0_usize, |number, digit| (number * 10 + usize::from(digit % 16)) % 1_000_000_000);
    let (number, good) = (number / goods.len(), goods[number % goods.len()]);
    let brands = phrases::items("brand");
    let (number, style) = (number / STYLES.len(), STYLES[number % STYLES.len()]);
    let brand = brands[number / 4 % brands.len()];
    Some(match number % 4 {
        0 => format!("{style} {good}"),
        1 => format!("{brand} {style} {good}"),
        _ => format!("{brand} {good}"),
    })
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
    }
}
