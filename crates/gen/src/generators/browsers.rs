//! User agents of browsers at a time, for the function `browser_at`: a browser of 2021 has a version of 2021.

use super::lists;
use std::fmt::Write;

/// Days from 1970 to 2021-01-19, the day of Chrome 88.
const FIRST_DAY: i64 = 18_646;
/// Days from one version of Chrome, and of Firefox, to the next.
const DAYS: [i64; 2] = [33, 30];
/// Versions of Chrome and Firefox on the first day.
const VERSIONS: [i64; 2] = [88, 85];

/// Returns the newest version of a browser on a day.
fn version(browser: usize, day: i64) -> i64 {
    (VERSIONS[browser] + (day - FIRST_DAY).div_euclid(DAYS[browser])).max(30)
}

/// Returns the newest version of iOS and Safari on a day: one comes each September, and 14 came in 2020. User agents stay at 18.
fn apple(day: i64) -> [i64; 2] {
    /// Days from the middle of September to the first day.
    const SINCE: i64 = 126;
    let days = day - FIRST_DAY + SINCE;
    let major = 14 + days.div_euclid(365);
    if major > 18 { [18, 6] } else { [major.max(9), days.rem_euclid(365) / 60] }
}

/// Returns the user agent of a browser on a day, counted from 1970, which the digits choose.
pub(crate) fn browser_at(day: i64, digits: &[u8]) -> String {
    let number = lists::number_of(digits);
    // Some people are late with a version.
    let day = match number / 100 % 5 {
        0 | 1 => day,
        2 => day - 5,
        3 => day - 20,
        _ => day - 60,
    };
    let ([major, minor], chrome, firefox) = (apple(day), version(0, day), version(1, day));
    let mut text = String::from("Mozilla/5.0 (");
    let webkit = "AppleWebKit/537.36 (KHTML, like Gecko)";
    let safari = format!("AppleWebKit/605.1.15 (KHTML, like Gecko) Version/{major}.{minor}");
    let system = match number / 500 % 100 {
        0..=67 => "Windows NT 10.0; Win64; x64",
        68..=89 => "Macintosh; Intel Mac OS X 10_15_7",
        _ => "X11; Linux x86_64",
    };
    let written = match number % 100 {
        0..=43 => write!(text, "{system}) {webkit} Chrome/{chrome}.0.0.0 Safari/537.36"),
        44..=63 => write!(text, "Linux; Android 10; K) {webkit} Chrome/{chrome}.0.0.0 Mobile Safari/537.36"),
        64..=81 => {
            write!(text, "iPhone; CPU iPhone OS {major}_{minor} like Mac OS X) {safari} Mobile/15E148 Safari/604.1")
        }
        82..=87 => write!(text, "Macintosh; Intel Mac OS X 10_15_7) {safari} Safari/605.1.15"),
        88..=93 => {
            let revision = if (110..120).contains(&firefox) { 109 } else { firefox };
            write!(text, "{system}; rv:{revision}.0) Gecko/20100101 Firefox/{firefox}.0")
        }
        _ => {
            write!(text, "Windows NT 10.0; Win64; x64) {webkit} Chrome/{chrome}.0.0.0 Safari/537.36 Edg/{chrome}.0.0.0")
        }
    };
    written.expect("a text takes all that is written");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A visit of 2021 was made with a browser of 2024.
    #[test]
    fn browsers_are_those_of_the_day() {
        for (day, digits, part) in [
            (18_700, "000000000", "Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/89."),
            (20_450, "000000000", "Chrome/142.0.0.0 Safari/537.36"),
            (
                18_700,
                "000000070",
                "iPhone OS 14_3 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/14.3 ",
            ),
            (20_450, "000000070", "iPhone OS 18_6 like Mac OS X"),
            (19_500, "000000090", "rv:109.0) Gecko/20100101 Firefox/113.0"),
            (18_700, "000000099", "Chrome/89.0.0.0 Safari/537.36 Edg/89.0.0.0"),
        ] {
            let agent = browser_at(day, digits.as_bytes());
            assert!(agent.contains(part), "{agent}");
        }
    }
}
