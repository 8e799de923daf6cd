//! Exponential, logarithm and normal quantile, made of the four operations and the square root.
//!
//! The functions of the standard library are the platform's and differ in the last digit between platforms. These
//! give the same bits everywhere, as every value of this crate must. They are exact to about a unit in the last
//! place. `exp` and `ln` follow FreeBSD's msun (FDLIBM, Sun Microsystems): argument reduction, then a short
//! polynomial.

const LN2_HIGH: f64 = 0.6931471803691238;
const LN2_LOW: f64 = 1.9082149292705877e-10;
const LOG2_E: f64 = std::f64::consts::LOG2_E;

/// 1.5 * 2^52: adding it rounds a number to an integer.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// Rounds to the nearest integer, ties to even; exact below 2^51, without a library call.
#[inline(always)]
pub(super) fn round(x: f64) -> f64 {
    if x.abs() < ROUND / 3.0 { (x + ROUND) - ROUND } else { x }
}

/// Returns `2^power` for powers of -1022 to 1023.
#[inline(always)]
fn power_of_two(power: i64) -> f64 {
    f64::from_bits((power + 1023).cast_unsigned() << 52)
}

/// Returns `e^x`; infinite above 709, 0 below -708.
#[inline(always)]
pub(super) fn exp(x: f64) -> f64 {
    let bounded = x.clamp(-708.0, 709.0);
    let power = round(bounded * LOG2_E);
    let (high, low) = (bounded - power * LN2_HIGH, power * LN2_LOW);
    let rest = high - low;
    let square = rest * rest;
    let even = square
        * (0.16666666666666602
            + square
                * (-0.0027777777777015593
                    + square
                        * (6.613756321437934e-05
                            + square * (-1.6533902205465252e-06 + square * 4.1381367970572385e-08))));
    let c = rest - even;
    let mantissa = 1.0 - ((low - (rest * c) / (2.0 - c)) - high);
    #[expect(clippy::cast_possible_truncation, reason = "-1022 to 1023")]
    let value = mantissa * power_of_two(power as i64);
    match x {
        _ if x > 709.0 => f64::INFINITY,
        _ if x < -708.0 => 0.0,
        _ => value,
    }
}

/// Returns the natural logarithm of a normal number above 0.
#[inline(always)]
pub(super) fn ln(x: f64) -> f64 {
    // Reduces the mantissa to between the square roots of 1/2 and 2.
    const ROOT_OF_HALF: u64 = 0x3FE6_A09E << 32;
    const ONE: u64 = 0x3FF0_0000 << 32;
    let bits = x.to_bits().wrapping_add(ONE - ROOT_OF_HALF);
    let power = (bits >> 52).cast_signed() - 1023;
    let f = f64::from_bits((bits & ((1 << 52) - 1)) + ROOT_OF_HALF) - 1.0;
    let power = power as f64;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let one = w * (0.3999999999940942 + w * (0.22222198432149784 + w * 0.15313837699209373));
    let other =
        z * (0.6666666666666735 + w * (0.2857142874366239 + w * (0.1818357216161805 + w * 0.14798198605116586)));
    let half = 0.5 * f * f;
    power * LN2_HIGH - ((half - (s * (half + one + other) + power * LN2_LOW)) - f)
}

/// Returns `x^power` of a normal number above 0.
#[inline(always)]
pub(crate) fn pow(x: f64, power: f64) -> f64 {
    exp(power * ln(x))
}

#[inline(always)]
fn polynomial(x: f64, coefficients: &[f64; 8]) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

/// Returns the value that a standard normal variable is below with this probability (above 0, below 1): algorithm AS
/// 241 (Wichura, *Applied Statistics* 37, 1988), exact to 16 digits.
#[inline(always)]
pub(super) fn normal_quantile(probability: f64) -> f64 {
    const NEAR: [&[f64; 8]; 2] = [
        &[
            3.3871328727963665,
            133.14166789178438,
            1971.5909503065513,
            13731.69376550946,
            45921.95393154987,
            67265.7709270087,
            33430.57558358813,
            2509.0809287301227,
        ],
        &[
            1.0,
            42.31333070160091,
            687.1870074920579,
            5394.196021424751,
            21213.794301586597,
            39307.89580009271,
            28729.085735721943,
            5226.495278852854,
        ],
    ];
    let centred = probability - 0.5;
    if centred.abs() <= 0.425 {
        let r = 0.180625 - centred * centred;
        return centred * polynomial(r, NEAR[0]) / polynomial(r, NEAR[1]);
    }
    let tail = tail_quantile(probability.min(1.0 - probability));
    if centred < 0.0 { -tail } else { tail }
}

/// Returns the distance from the mean at which a tail of this probability begins.
fn tail_quantile(probability: f64) -> f64 {
    const MIDDLE: [&[f64; 8]; 2] = [
        &[
            1.4234371107496835,
            4.630337846156546,
            5.769497221460691,
            3.6478483247632045,
            1.2704582524523684,
            0.2417807251774506,
            0.022723844989269184,
            0.0007745450142783414,
        ],
        &[
            1.0,
            2.053191626637759,
            1.6763848301838038,
            0.6897673349851,
            0.14810397642748008,
            0.015198666563616457,
            0.0005475938084995345,
            1.0507500716444169e-09,
        ],
    ];
    const FAR: [&[f64; 8]; 2] = [
        &[
            6.657904643501103,
            5.463784911164114,
            1.7848265399172913,
            0.29656057182850487,
            0.026532189526576124,
            0.0012426609473880784,
            2.7115555687434876e-05,
            2.0103343992922881e-07,
        ],
        &[
            1.0,
            0.599832206555888,
            0.1369298809227358,
            0.014875361290850615,
            0.0007868691311456133,
            1.8463183175100548e-05,
            1.421511758316446e-07,
            2.0442631033899397e-15,
        ],
    ];
    let r = (-ln(probability)).sqrt();
    let (r, [above, below]) = if r <= 5.0 { (r - 1.6, MIDDLE) } else { (r - 5.0, FAR) };
    polynomial(r, above) / polynomial(r, below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_agree_with_the_platform() {
        for n in -7000..7000 {
            let x = f64::from(n) / 10.0 + 0.0123;
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-15, "exp({x}) = {}", exp(x));
            let y = x.exp();
            assert!((ln(y) - y.ln()).abs() <= 2e-16 * x.abs().max(1.0), "ln({y}) = {}", ln(y));
            assert!((ln(1.0 + x.abs() / 1e4) / (1.0 + x.abs() / 1e4).ln() - 1.0).abs() < 1e-14);
            assert_eq!(round(x), x.round_ties_even());
        }
        assert_eq!([exp(0.0), exp(800.0), exp(-800.0), ln(1.0)], [1.0, f64::INFINITY, 0.0, 0.0]);
        assert!((pow(2.0, 10.0) / 1024.0 - 1.0).abs() < 1e-14);
    }

    #[test]
    fn quantiles_of_the_normal_distribution() {
        for (probability, quantile) in [
            (0.5, 0.0),
            (0.975, 1.959963984540054),
            (0.001, -3.090232306167813),
            (0.9, 1.2815515655446004),
            (1e-10, -6.361340902404056),
            (1e-20, -9.262340089798408),
        ] {
            assert!((normal_quantile(probability) - quantile).abs() < 1e-14 * quantile.abs().max(1.0), "{probability}");
        }
    }
}
