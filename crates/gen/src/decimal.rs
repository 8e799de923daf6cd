//! Decimal digits of integers, three at a time from a table.

/// `000` to `999`. The rest of the table is never read, and lets the compiler see that an index of ten bits is within
/// bounds.
pub static THREE: [[u8; 3]; 1024] = {
    let digits = b"0123456789";
    let mut table = [[b'0'; 3]; 1024];
    let mut n = 0;
    while n < 1000 {
        table[n] = [digits[n / 100], digits[n / 10 % 10], digits[n % 10]];
        n += 1;
    }
    table
};

/// Returns the three digits of a number below 1000.
#[inline(always)]
pub fn three(value: u64) -> [u8; 3] {
    THREE[(value & 1023) as usize]
}

/// Returns the two digits of a number below 100.
#[inline(always)]
pub fn two(value: u64) -> [u8; 2] {
    let [_, tens, ones] = three(value);
    [tens, ones]
}

/// Appends `value` in decimal, without leading zeros.
pub fn push_decimal(value: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 21];
    let (mut rest, mut begin) = (value, digits.len());
    loop {
        begin -= 3;
        digits[begin..begin + 3].copy_from_slice(&three(rest % 1000));
        rest /= 1000;
        if rest == 0 {
            break;
        }
    }
    let zeros = digits[begin..begin + 2].iter().take_while(|&&digit| digit == b'0').count();
    out.extend_from_slice(&digits[begin + zeros..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals() {
        assert_eq!((three(7), two(7)), (*b"007", *b"07"));
        for (value, text) in [(0, "0"), (9, "9"), (1000, "1000"), (u64::MAX, "18446744073709551615")] {
            let mut out = Vec::new();
            push_decimal(value, &mut out);
            assert_eq!(out, text.as_bytes());
        }
    }
}
