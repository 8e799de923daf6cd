//! Roughly tells numbers, dates and texts apart: for guesses about dialect and header, never for values.

/// The kind of a field, by its look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldKind {
    Empty,
    /// `17`, `-3`
    Integer,
    /// `1.5`, `1,5`, `1e-5`, `1.234,50`
    Decimal,
    /// `$74.69`, `5 €`, `12 %`
    Amount,
    /// `2024-01-31`, `31/01/2024`, with or without a time
    Date,
    /// `12:30`
    Time,
    Text,
}

impl FieldKind {
    pub fn of(field: &[u8]) -> Self {
        let field = field.trim_ascii();
        match field.first() {
            None => return Self::Empty,
            // Longer fields are texts, whatever they begin with.
            Some(_) if field.len() > 40 => return Self::Text,
            Some(b'$') => return Self::of_amount(&field[1..]),
            Some(_) => {}
        }
        for sign in ["€", "£", "¥"] {
            if let Some(amount) = field.strip_prefix(sign.as_bytes()).or(field.strip_suffix(sign.as_bytes())) {
                return Self::of_amount(amount);
            }
        }
        if let Some(amount) = field.strip_suffix(b"%") {
            return Self::of_amount(amount);
        }
        if !field.iter().any(u8::is_ascii_digit) {
            return Self::Text;
        }
        moment(field).or_else(|| number(field)).unwrap_or(Self::Text)
    }

    fn of_amount(rest: &[u8]) -> Self {
        if number(rest.trim_ascii()).is_some() { Self::Amount } else { Self::Text }
    }

    /// Returns whether a name is unlikely to look like this.
    pub fn is_value(self) -> bool {
        !matches!(self, Self::Empty | Self::Text)
    }

    /// Returns whether one column holds both kinds.
    pub fn is_alike(self, other: Self) -> bool {
        let is_number = |kind| matches!(kind, Self::Integer | Self::Decimal);
        self == other || (is_number(self) && is_number(other))
    }
}

fn number(field: &[u8]) -> Option<FieldKind> {
    let digits = field.strip_prefix(b"-").or(field.strip_prefix(b"+")).unwrap_or(field);
    let (mantissa, exponent) = match digits.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        Some(at) => (&digits[..at], Some(&digits[at + 1..])),
        None => (digits, None),
    };
    if let Some(exponent) = exponent {
        let exponent = exponent.strip_prefix(b"-").or(exponent.strip_prefix(b"+")).unwrap_or(exponent);
        if exponent.is_empty() || !exponent.iter().all(u8::is_ascii_digit) {
            return None;
        }
    }
    let is_plain = !mantissa.is_empty() && mantissa.iter().all(u8::is_ascii_digit);
    if is_plain {
        return Some(if exponent.is_some() { FieldKind::Decimal } else { FieldKind::Integer });
    }
    let groups: Vec<&[u8]> = mantissa.split(|byte| b".,".contains(byte)).collect();
    let is_digits = |group: &&[u8]| group.iter().all(u8::is_ascii_digit);
    // Between marks for thousands are three digits.
    let is_grouped = groups.iter().skip(1).take(groups.len().saturating_sub(2)).all(|group| group.len() == 3);
    let is_decimal = groups.iter().all(is_digits) && is_grouped && groups.iter().any(|group| !group.is_empty());
    (is_decimal && !mantissa.starts_with(b",")).then_some(FieldKind::Decimal)
}

/// Recognises dates and times of digits: groups of one to four digits between `-`, `/`, `.`, `:`, a blank or `T`.
fn moment(field: &[u8]) -> Option<FieldKind> {
    let field = field.strip_suffix(b"Z").unwrap_or(field);
    if !field.iter().all(|byte| byte.is_ascii_digit() || b"-/.: T+".contains(byte)) {
        return None;
    }
    let mut groups = field.split(|byte| !byte.is_ascii_digit());
    let is_short = |group: &[u8]| (1..=2).contains(&group.len());
    let has = |separator: u8| field.iter().filter(|&&byte| byte == separator).count();
    if has(b'-') >= 2 || has(b'/') == 2 || has(b'.') == 2 {
        let (first, second, third) = (groups.next()?, groups.next()?, groups.next()?);
        let is_year = |group: &[u8]| group.len() == 4;
        let is_date = is_short(second)
            && ((is_year(first) && is_short(third)) || (is_short(first) && (is_year(third) || is_short(third))));
        return is_date.then_some(FieldKind::Date);
    }
    let is_time = (1..=2).contains(&has(b':')) && groups.by_ref().take(2).all(is_short);
    is_time.then_some(FieldKind::Time)
}

#[cfg(test)]
mod tests {
    use super::FieldKind as Kind;

    #[test]
    fn kinds_are_told_by_the_look_of_fields() {
        let cases = [
            (Kind::Empty, &["", "  "][..]),
            (Kind::Integer, &["0", "-17", "007"]),
            (Kind::Decimal, &["1.5", "-.5", "1,5", "1e-5", "1.234,50", "12,345.6"]),
            (Kind::Amount, &["$74.69", "5 €", "12%"]),
            (Kind::Date, &["2024-01-31", "31/01/2024", "1.2.24", "2024-01-31 12:30:00", "2024-01-31T12:30:00Z"]),
            (Kind::Time, &["12:30", "1:02:03"]),
            (Kind::Text, &["x", "1a", "v1.2.3.4", "10-12", "192.168.0.1", "-", "1.2.3.4", "1e"]),
        ];
        for (kind, fields) in cases {
            for field in fields {
                assert_eq!(Kind::of(field.as_bytes()), kind, "{field}");
            }
        }
    }
}
