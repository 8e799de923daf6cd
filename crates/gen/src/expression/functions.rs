//! The functions of expressions: one table for the parser, for messages and for documentation.

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    Abs,
    BrowserAt,
    Coalesce,
    Cut,
    DateAdd,
    DateDiff,
    If,
    Instr,
    Length,
    Lower,
    Max,
    Min,
    NullIf,
    PlaceOf,
    ProductOf,
    Replace,
    Reverse,
    Round,
    Slug,
    Substr,
    Upper,
    WorthOf,
}

/// The description of a function.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    /// The function.
    pub function: Function,
    /// Name in annotations.
    pub name: &'static str,
    /// The call with its parameters.
    pub signature: &'static str,
    /// One line about its result.
    pub about: &'static str,
    /// Limits of the number of arguments.
    least: usize,
    most: usize,
}

const fn entry(
    function: Function,
    signature: (&'static str, &'static str),
    about: &'static str,
    (least, most): (usize, usize),
) -> Described {
    Described { function, name: signature.0, signature: signature.1, about, least, most }
}

const ANY: usize = usize::MAX;

/// In the order of [`Function`].
static FUNCTIONS: [Described; 22] = [
    entry(Function::Abs, ("abs", "abs(x)"), "the number without its sign", (1, 1)),
    entry(
        Function::BrowserAt,
        ("browser_at", "browser_at(time, digits)"),
        "the user agent of a browser at the time, which digits choose",
        (2, 2),
    ),
    entry(Function::Coalesce, ("coalesce", "coalesce(x, y, ...)"), "the first that is not NULL", (2, ANY)),
    entry(Function::Cut, ("cut", "cut(x, n)"), "whole words of the text, n characters at most", (2, 2)),
    entry(
        Function::DateAdd,
        ("date_add", "date_add(time, n, 'days')"),
        "the day or time n seconds, minutes, hours, days, weeks, months or years later",
        (3, 3),
    ),
    entry(
        Function::DateDiff,
        ("date_diff", "date_diff(from, to, 'days')"),
        "whole seconds, minutes, hours, days or weeks from one day or time to the other",
        (3, 3),
    ),
    entry(Function::If, ("if", "if(condition, x, y)"), "x if the condition is true, else y (or NULL)", (2, 3)),
    entry(
        Function::Instr,
        ("instr", "instr(x, y)"),
        "the position of text y in text x, counted in characters from 1, or 0",
        (2, 2),
    ),
    entry(Function::Length, ("length", "length(x)"), "characters of a text, bytes of a blob", (1, 1)),
    entry(Function::Lower, ("lower", "lower(x)"), "the text with a to z for A to Z", (1, 1)),
    entry(Function::Max, ("max", "max(x, y, ...)"), "the largest; NULL if one is NULL", (2, ANY)),
    entry(Function::Min, ("min", "min(x, y, ...)"), "the smallest; NULL if one is NULL", (2, ANY)),
    entry(Function::NullIf, ("nullif", "nullif(x, y)"), "NULL if both are equal, else x", (2, 2)),
    entry(
        Function::PlaceOf,
        ("place_of", "place_of(x, 'field', [digits])"),
        "state, country, currency, latitude, ... of a city, state or country; digits fill a postcode or phone, or choose a country's city, or a name of there: first, first_female, first_male, last",
        (2, 3),
    ),
    entry(
        Function::ProductOf,
        ("product_of", "product_of(x, digits)"),
        "a product of a category such as Bags, which digits choose; NULL if the category is unknown",
        (2, 2),
    ),
    entry(Function::Replace, ("replace", "replace(x, old, new)"), "the text with every old replaced by new", (3, 3)),
    entry(
        Function::Reverse,
        ("reverse", "reverse(x)"),
        "the characters of the text from the last to the first",
        (1, 1),
    ),
    entry(
        Function::Round,
        ("round", "round(x, [digits])"),
        "the number rounded to a number of decimals, by default 0",
        (1, 2),
    ),
    entry(
        Function::Slug,
        ("slug", "slug(x, [separator])"),
        "lower-case letters a to z and digits of a text, with hyphens, or another text, between words",
        (1, 2),
    ),
    entry(
        Function::Substr,
        ("substr", "substr(x, start, [length])"),
        "characters from position start on, counted from 1 or, if negative, from the end",
        (2, 3),
    ),
    entry(Function::Upper, ("upper", "upper(x)"), "the text with A to Z for a to z", (1, 1)),
    entry(
        Function::WorthOf,
        ("worth_of", "worth_of(x)"),
        "the usual price of a product such as Oak Stool; NULL if the good is unknown",
        (1, 1),
    ),
];

/// Returns all functions, in the order of their names.
pub fn all() -> &'static [Described] {
    &FUNCTIONS
}

impl Function {
    /// Returns the function of this name; ASCII case does not matter. `iif` is another name of `if`.
    pub(crate) fn find(name: &str) -> Option<Self> {
        let name = if name.eq_ignore_ascii_case("iif") { "if" } else { name };
        FUNCTIONS.iter().find(|entry| entry.name.eq_ignore_ascii_case(name)).map(|entry| entry.function)
    }

    fn described(self) -> &'static Described {
        FUNCTIONS.iter().find(|entry| entry.function == self).expect("the table has every function")
    }

    pub(crate) fn name(self) -> &'static str {
        self.described().name
    }

    pub(crate) fn signature(self) -> &'static str {
        self.described().signature
    }

    /// Returns whether it accepts this number of arguments.
    pub(crate) fn takes(self, count: usize) -> bool {
        (self.described().least..=self.described().most).contains(&count)
    }
}
