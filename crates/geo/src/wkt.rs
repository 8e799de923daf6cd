//! Well-known text (OGC 06-103r4, clause 7) becomes WKB: a recursive-descent parser.
//!
//! ```text
//! geometry = TYPE [Z | M | ZM] body            POINT Z (1 2 3)
//! body     = EMPTY | "(" part {"," part} ")"   part: a position, a body, or a geometry
//! ```
//!
//! Positions of three numbers have a height if nothing else is declared, as in PostGIS. The type of a geometry stands in front of
//! its positions in WKB. So a text whose dimensions are known too late is read a second time.
#![expect(clippy::little_endian_bytes, reason = "well-known binary, which may have either order")]

use crate::GeometryError;
use crate::wkb::{MOST_NESTED, kind};

type Result<T, E = GeometryError> = std::result::Result<T, E>;

/// Characters of a text that an error shows.
const SHOWN: usize = 24;

/// Appends the WKB of a text to `out`.
///
/// # Errors
/// If the text is not exactly one geometry.
pub(crate) fn append_wkb(text: &str, out: &mut Vec<u8>) -> Result<()> {
    let start = out.len();
    let mut read = |dimensions| {
        out.truncate(start);
        let mut parser = Parser { rest: text, out, dimensions, has_header: false, is_late: false };
        parser.geometry(None, 0)?;
        parser.end()?;
        Ok((parser.dimensions, parser.is_late))
    };
    let (dimensions, is_late) = read(None)?;
    if is_late {
        read(dimensions)?;
    }
    Ok(())
}

/// The numbers of a position beyond x and y.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Dimensions {
    z: bool,
    m: bool,
}

impl Dimensions {
    /// Reads `Z`, `M` or `ZM`.
    fn parse(word: &str) -> Option<Self> {
        let (z, m) = (word.starts_with('Z'), word.ends_with('M'));
        matches!(word, "Z" | "M" | "ZM").then_some(Self { z, m })
    }

    fn of_count(count: usize) -> Self {
        Self { z: count > 2, m: count > 3 }
    }

    fn count(self) -> usize {
        2 + usize::from(self.z) + usize::from(self.m)
    }
}

struct Parser<'t, 'o> {
    rest: &'t str,
    out: &'o mut Vec<u8>,
    /// The dimensions of all positions, once they are known.
    dimensions: Option<Dimensions>,
    /// The type of a geometry is written.
    has_header: bool,
    /// A type was written before the dimensions were known, and lacks them.
    is_late: bool,
}

impl<'t> Parser<'t, '_> {
    /// Reads a geometry. Within another one it must be of a type that is a part of the `outer` type.
    fn geometry(&mut self, outer: Option<u32>, depth: usize) -> Result<()> {
        if depth > MOST_NESTED {
            return Err(GeometryError::new(format!("collections are nested more than {MOST_NESTED} deep")));
        }
        let Some((kind, declared)) = self.kind() else {
            return Err(self.expected("the type of a geometry"));
        };
        if let Some(outer) = outer.filter(|outer| !is_part(kind, *outer)) {
            let [kind, outer] = [kind, outer].map(kind::name);
            return Err(wrong(format!("{kind} is no part of {outer}")));
        }
        if let Some(dimensions) = declared {
            self.decide(dimensions)?;
        }
        self.body(kind, depth)
    }

    /// Reads the type of a geometry and its dimensions: `POINT Z`, `POINTZ`.
    fn kind(&mut self) -> Option<(u32, Option<Dimensions>)> {
        let before = self.rest;
        let word = self.word();
        let base = ["ZM", "Z", "M"].iter().find_map(|dimensions| word.strip_suffix(dimensions)).unwrap_or(&word);
        let Some(kind) = kind::of_name(base) else {
            self.rest = before;
            return None;
        };
        if base != word {
            return Some((kind, Dimensions::parse(&word[base.len()..])));
        }
        let before = self.rest;
        let dimensions = Dimensions::parse(&self.word());
        if dimensions.is_none() {
            self.rest = before;
        }
        Some((kind, dimensions))
    }

    fn body(&mut self, kind: u32, depth: usize) -> Result<()> {
        self.header(kind);
        match kind {
            kind::POINT if self.takes_empty() => {
                let count = self.dimensions.unwrap_or_default().count();
                (0..count).for_each(|_| self.out.extend(f64::NAN.to_le_bytes()));
                Ok(())
            }
            kind::POINT => {
                self.expect('(')?;
                self.position()?;
                self.expect(')')
            }
            kind::LINE_STRING | kind::CIRCULAR_STRING => self.list(&mut Self::position),
            kind::POLYGON | kind::TRIANGLE => self.list(&mut |ring| ring.list(&mut Self::position)),
            _ => self.list(&mut |parser| parser.part(kind, depth + 1)),
        }
    }

    /// Reads a part of a collection, which may lack the word for its type.
    fn part(&mut self, outer: u32, depth: usize) -> Result<()> {
        let is_untyped = self.peek().is_none_or(|next| !next.is_ascii_alphabetic()) || self.is_empty_next();
        match plain_part(outer).filter(|_| is_untyped) {
            // MULTIPOINT (1 2, 3 4)
            Some(kind::POINT) if !matches!(self.peek(), Some('(' | 'E' | 'e')) => {
                self.header(kind::POINT);
                self.position()
            }
            Some(kind) => self.body(kind, depth),
            None => self.geometry(Some(outer), depth),
        }
    }

    /// Reads `EMPTY` or a list in parentheses. Writes the number of its items in front of them.
    fn list(&mut self, item: &mut dyn FnMut(&mut Self) -> Result<()>) -> Result<()> {
        let at = self.out.len();
        let mut count = 0_u32;
        self.out.extend(count.to_le_bytes());
        if self.takes_empty() {
            return Ok(());
        }
        self.expect('(')?;
        loop {
            item(self)?;
            count += 1;
            if self.peek() != Some(',') {
                break;
            }
            self.rest = &self.rest[1..];
        }
        self.out[at..][..4].copy_from_slice(&count.to_le_bytes());
        self.expect(')')
    }

    fn position(&mut self) -> Result<()> {
        let mut count = 0;
        while count == 0 || !matches!(self.peek(), Some(',' | ')') | None) {
            let number = self.number()?;
            self.out.extend(number.to_le_bytes());
            count += 1;
        }
        let wanted = self.dimensions.map_or(count.clamp(2, 4), Dimensions::count);
        if count != wanted {
            return Err(wrong(format!("a position has {count} in place of {wanted} numbers")));
        }
        match self.dimensions {
            Some(_) => Ok(()),
            None => self.decide(Dimensions::of_count(count)),
        }
    }

    fn number(&mut self) -> Result<f64> {
        self.peek();
        let end = self.rest.find(|letter: char| letter.is_whitespace() || matches!(letter, ',' | '(' | ')'));
        let (token, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        // Other words that Rust reads are `inf` and `nan`.
        let is_decimal = token.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
        match token.parse::<f64>() {
            Ok(number) if is_decimal && number.is_infinite() => Err(wrong("a coordinate is too large")),
            Ok(number) if is_decimal => {
                self.rest = rest;
                Ok(number)
            }
            _ => Err(self.expected("a number")),
        }
    }

    fn header(&mut self, kind: u32) {
        let Dimensions { z, m } = self.dimensions.unwrap_or_default();
        self.out.push(1);
        self.out.extend((kind + 1000 * u32::from(z) + 2000 * u32::from(m)).to_le_bytes());
        self.has_header = true;
    }

    /// Notes the dimensions of a part, which are those of the whole.
    fn decide(&mut self, dimensions: Dimensions) -> Result<()> {
        match self.dimensions {
            Some(known) if known != dimensions => Err(wrong("its parts have different dimensions")),
            Some(_) => Ok(()),
            None => {
                self.is_late = self.has_header && dimensions != Dimensions::default();
                self.dimensions = Some(dimensions);
                Ok(())
            }
        }
    }

    /// Returns the next character behind spaces.
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    /// Takes a word, in upper case.
    fn word(&mut self) -> String {
        let (word, rest) = self.split_word();
        self.rest = rest;
        word.to_ascii_uppercase()
    }

    fn split_word(&mut self) -> (&'t str, &'t str) {
        self.peek();
        let end = self.rest.find(|letter: char| !letter.is_ascii_alphabetic());
        self.rest.split_at(end.unwrap_or(self.rest.len()))
    }

    fn is_empty_next(&mut self) -> bool {
        self.split_word().0.eq_ignore_ascii_case("EMPTY")
    }

    fn takes_empty(&mut self) -> bool {
        let is_empty = self.is_empty_next();
        if is_empty {
            self.word();
        }
        is_empty
    }

    fn expect(&mut self, wanted: char) -> Result<()> {
        if self.peek() != Some(wanted) {
            return Err(self.expected(&format!("`{wanted}`")));
        }
        self.rest = &self.rest[wanted.len_utf8()..];
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(wrong(format!("'{}' follows the geometry", shown(self.rest)))),
        }
    }

    #[cold]
    fn expected(&mut self, what: &str) -> GeometryError {
        match self.peek() {
            None => wrong(format!("it ends before {what}")),
            Some(_) => wrong(format!("expected {what}, not '{}'", shown(self.rest))),
        }
    }
}

/// Returns the type of parts without a word for it: `MULTIPOLYGON (((...)))`. Returns `None` if all need one.
fn plain_part(outer: u32) -> Option<u32> {
    Some(match outer {
        kind::MULTI_POINT => kind::POINT,
        kind::MULTI_LINE_STRING | kind::COMPOUND_CURVE | kind::CURVE_POLYGON | kind::MULTI_CURVE => kind::LINE_STRING,
        kind::MULTI_POLYGON | kind::MULTI_SURFACE | kind::POLYHEDRAL_SURFACE => kind::POLYGON,
        kind::TIN => kind::TRIANGLE,
        _ => return None,
    })
}

/// Returns whether geometries of a type, with the word for it, are parts of another one.
fn is_part(kind: u32, outer: u32) -> bool {
    match outer {
        kind::GEOMETRY_COLLECTION => true,
        kind::COMPOUND_CURVE => matches!(kind, kind::LINE_STRING | kind::CIRCULAR_STRING),
        kind::CURVE_POLYGON | kind::MULTI_CURVE => {
            matches!(kind, kind::LINE_STRING | kind::CIRCULAR_STRING | kind::COMPOUND_CURVE)
        }
        kind::MULTI_SURFACE => matches!(kind, kind::POLYGON | kind::CURVE_POLYGON),
        _ => plain_part(outer) == Some(kind),
    }
}

fn wrong(why: impl std::fmt::Display) -> GeometryError {
    GeometryError::new(format!("it is no WKT: {why}"))
}

/// Returns the beginning of a text.
fn shown(text: &str) -> String {
    let mut letters = text.chars();
    let start: String = letters.by_ref().take(SHOWN).collect();
    if letters.next().is_some() { start + "..." } else { start }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wkb::{Geometry, append_iso};
    use proptest::prelude::*;

    fn wkb(text: &str) -> Result<Vec<u8>> {
        let mut out = b"kept".to_vec();
        append_wkb(text, &mut out).map(|()| out.split_off(4))
    }

    fn geometry(text: &str) -> Geometry {
        let wkb = wkb(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        append_iso(&wkb, &mut Vec::new()).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    /// `POINT (1 2), POINT (3 4)` was stored as its first point: what followed a geometry was dropped without a word.
    #[test]
    fn a_text_is_one_geometry() {
        for (text, rest) in [
            ("POINT (1 2) junk", "junk"),
            ("POINT (1 2), POINT (3 4)", ", POINT (3 4)"),
            ("POINT (1 2)(3 4)", "(3 4)"),
            ("POINT (1 2))", ")"),
            ("POINT EMPTY (1 2)", "(1 2)"),
            ("LINESTRING EMPTY EMPTY", "EMPTY"),
            ("POINT Z (1 2 3);", ";"),
        ] {
            assert_eq!(wkb(text).unwrap_err().to_string(), format!("it is no WKT: '{rest}' follows the geometry"));
        }
    }

    /// Heights without a Z, which PostGIS writes, were refused with "Missing closing parenthesis". `POINT Z EMPTY` lost its Z.
    #[test]
    fn dimensions_are_declared_or_counted() {
        for (text, z, m) in [
            ("POINT (1 2)", false, false),
            ("POINT (1 2 3)", true, false),
            ("POINT (1 2 3 4)", true, true),
            ("POINTM(1 2 3)", false, true),
            ("pointzm (1 2 3 4)", true, true),
            ("POINT ZM (1 2 3 4)", true, true),
            ("POINT Z EMPTY", true, false),
            ("MULTIPOLYGON Z EMPTY", true, false),
            ("LINESTRING M EMPTY", false, true),
            ("LINESTRING (1 2 3, 4 5 6)", true, false),
            ("MULTIPOINT (EMPTY, 1 2 3)", true, false),
            ("GEOMETRYCOLLECTION (POINT EMPTY, LINESTRING (1 2 3, 4 5 6))", true, false),
            ("GEOMETRYCOLLECTION (POINT EMPTY, POINT M (1 2 3), POINT (4 5 6))", false, true),
            ("GEOMETRYCOLLECTION ZM (POINT (1 2 3 4), POINT ZM EMPTY)", true, true),
        ] {
            let found = geometry(text);
            assert_eq!((found.has_z, found.has_m), (z, m), "{text}");
        }
        assert_eq!(wkb("POINT (1 2 3)"), wkb("POINT Z (1 2 3)"));
    }

    /// Empty points among others were refused with "Missing closing parenthesis".
    #[test]
    fn parts_may_be_empty() {
        let first = geometry("MULTIPOINT (EMPTY, (2 2))");
        assert_eq!((first.kind, first.envelope), (kind::MULTI_POINT, Some([2.0, 2.0, 2.0, 2.0])));
        for text in ["GEOMETRYCOLLECTION (POINT EMPTY)", "MULTIPOINT (EMPTY)", "POLYGON (EMPTY)", "MULTIPOLYGON EMPTY"]
        {
            assert_eq!(geometry(text).envelope, None, "{text}");
        }
        assert_eq!(wkb("MULTIPOINT ((1 2), (3 4))"), wkb("MULTIPOINT(1 2,3 4)"));
    }

    /// Curves and surfaces were refused as text, and taken as WKB.
    #[test]
    fn curves_and_surfaces_are_read() {
        for (text, kind) in [
            ("CIRCULARSTRING (0 0, 1 1, 2 0)", kind::CIRCULAR_STRING),
            ("COMPOUNDCURVE (CIRCULARSTRING (0 0, 1 1, 2 0), (2 0, 2 2))", kind::COMPOUND_CURVE),
            ("CURVEPOLYGON (CIRCULARSTRING (0 0, 1 1, 2 0, 1 -1, 0 0), (0 0, 1 1, 2 0, 0 0))", kind::CURVE_POLYGON),
            ("MULTICURVE ((0 0, 2 2), CIRCULARSTRING (0 0, 1 1, 2 0), COMPOUNDCURVE ((0 0, 2 2)))", kind::MULTI_CURVE),
            ("MULTISURFACE (((0 0, 2 2, 2 0, 0 0)), CURVEPOLYGON EMPTY)", kind::MULTI_SURFACE),
            ("POLYHEDRALSURFACE (((0 0, 2 2, 2 0, 0 0)))", kind::POLYHEDRAL_SURFACE),
            ("TIN (((0 0, 2 2, 2 0, 0 0)), ((0 0, 2 2, 2 0, 0 0)))", kind::TIN),
            ("TRIANGLE ((0 0, 2 2, 2 0, 0 0))", kind::TRIANGLE),
        ] {
            let found = geometry(text);
            assert_eq!((found.kind, found.envelope.map(|[x, ..]| x)), (kind, Some(0.0)), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        let deep = format!("{}POINT (1 2){}", "GEOMETRYCOLLECTION (".repeat(90), ")".repeat(90));
        for (text, why) in [
            ("", "it ends before the type of a geometry"),
            ("somewhere over the rainbow", "expected the type of a geometry, not 'somewhere over the rainb...'"),
            ("POINT", "it ends before `(`"),
            ("POINT (", "it ends before a number"),
            ("POINT ()", "expected a number, not ')'"),
            ("POINT (1)", "a position has 1 in place of 2 numbers"),
            ("POINT (1 2 3 4 5)", "a position has 5 in place of 4 numbers"),
            ("POINT Z (1 2)", "a position has 2 in place of 3 numbers"),
            ("POINT (1 nan)", "expected a number, not 'nan)'"),
            ("POINT (1 1e400)", "a coordinate is too large"),
            ("POINT (1 2", "it ends before `)`"),
            ("POINT (1 2, 3 4)", "expected `)`, not ', 3 4)'"),
            ("POINTMZ (1 2 3 4)", "expected the type of a geometry"),
            ("POINTZZ (1 2 3)", "expected the type of a geometry"),
            ("LINESTRING (1 2, )", "expected a number, not ')'"),
            ("LINESTRING (1 2 3, 4 5)", "a position has 2 in place of 3 numbers"),
            ("GEOMETRYCOLLECTION (POINT Z (1 2 3), POINT M (1 2 3))", "its parts have different dimensions"),
            ("GEOMETRYCOLLECTION ((1 2))", "expected the type of a geometry, not '(1 2))'"),
            ("MULTISURFACE (LINESTRING (1 2, 3 4))", "LINESTRING is no part of MULTISURFACE"),
            ("GEOMETRY (1 2)", "expected the type of a geometry"),
            (&deep, "nested more than 32 deep"),
        ] {
            let error = wkb(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(words in proptest::collection::vec(prop_oneof![
            Just("POINT"), Just("MULTIPOINT"), Just("POLYGON"), Just("GEOMETRYCOLLECTION"), Just("COMPOUNDCURVE"), Just("TIN"),
            Just("EMPTY"), Just("Z"), Just("M"), Just("("), Just(")"), Just(","), Just("1"), Just("2.5"), Just("ä"),
        ], 0..24)) {
            let text = words.join(" ");
            if let Ok(wkb) = wkb(&text) {
                prop_assert!(append_iso(&wkb, &mut Vec::new()).is_ok(), "{text}");
            }
        }
    }
}
