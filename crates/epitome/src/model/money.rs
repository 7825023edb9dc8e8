//! Amounts of money and prices, exactly: no sum is rounded before it is shown.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};

/// Picodollars in a dollar.
const PICO: u128 = 1_000_000_000_000;

/// US dollars, counted in picodollars (10⁻¹² dollars): a rate in millionths of a dollar for a million
/// tokens, times tokens, is a whole number of them. Serialised as dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money {
    /// How many picodollars.
    pub pico: u64,
}

impl Money {
    /// Nothing.
    pub const ZERO: Money = Money { pico: 0 };

    /// This many millionths of a dollar.
    pub const fn micro(micro: u64) -> Self {
        Money { pico: micro.saturating_mul(1_000_000) }
    }

    /// In millionths of a dollar, rounded up.
    pub const fn in_micro(self) -> u64 {
        self.pico.div_ceil(1_000_000)
    }

    /// Dollars, for programs that don't add them up.
    pub fn dollars(self) -> f64 {
        self.pico as f64 / PICO as f64
    }

    /// The rest after `other`, at least nothing.
    #[must_use]
    pub fn less(self, other: Money) -> Money {
        Money { pico: self.pico.saturating_sub(other.pico) }
    }

    /// This many times as much.
    #[must_use]
    pub fn times(self, by: u64) -> Money {
        Money { pico: self.pico.saturating_mul(by) }
    }
}

impl Add for Money {
    type Output = Money;

    fn add(self, other: Money) -> Money {
        Money { pico: self.pico.saturating_add(other.pico) }
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Money) {
        *self = *self + other;
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Money>>(amounts: I) -> Money {
        amounts.fold(Money::ZERO, Add::add)
    }
}

/// `$1.25`, `$0.0123`: two digits behind the point, and below a dollar as many more as it takes to show
/// three that count.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pico = u128::from(self.pico);
        let shows = |places: &u32| pico >= PICO || pico * 10_u128.pow(*places) >= 100 * PICO;
        let places = (2..9).find(shows).unwrap_or(9);
        let scale = 10_u128.pow(places);
        let rounded = (pico * scale + PICO / 2) / PICO;
        let digits = format!("{:0width$}", rounded % scale, width = places as usize);
        let kept = digits.trim_end_matches('0').len().max(2);
        write!(f, "${}.{}", rounded / scale, &digits[..kept])
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(self.dollars())
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        whole(f64::deserialize(from)?, PICO as f64).map(|pico| Money { pico })
    }
}

/// The price of a million tokens, in millionths of a dollar. In files: dollars, as providers quote them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate {
    /// Millionths of a dollar for a million tokens, which is picodollars for one.
    pub micro: u64,
}

impl Rate {
    /// What `tokens` cost.
    pub fn of(self, tokens: u64) -> Money {
        Money { pico: self.micro.saturating_mul(tokens) }
    }

    /// Dollars for a million tokens.
    pub fn dollars(self) -> f64 {
        self.micro as f64 / 1e6
    }
}

/// Dollars for a million tokens, without needless zeros.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.dollars())
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(self.dollars())
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        whole(f64::deserialize(from)?, 1e6).map(|micro| Rate { micro })
    }
}

/// `number` in units of which `scale` make one.
fn whole<E: de::Error>(number: f64, scale: f64) -> Result<u64, E> {
    let scaled = (number * scale).round();
    if number.is_finite() && (0.0..9.0e18).contains(&scaled) {
        Ok(scaled as u64)
    } else {
        Err(E::custom(format_args!("{number} is no amount of dollars")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_exact() {
        let rate: Rate = serde_json::from_str("0.0028").expect("a rate");
        assert_eq!(rate.micro, 2_800);
        assert_eq!(rate.of(1), Money { pico: 2_800 });
        assert_eq!(rate.of(1_000_000_000), Money::micro(2_800_000));
        assert_eq!(serde_json::to_string(&rate).expect("a number"), "0.0028");
        for bad in ["-1", "1e30", "\"5\""] {
            assert!(serde_json::from_str::<Rate>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn amounts_show_what_counts_of_them() {
        for (pico, shown) in [
            (0, "$0.00"),
            (150_000_000_000, "$0.15"),
            (12_345_678_900, "$0.0123"),
            (1_234_567_890_000, "$1.23"),
            (999_600_000_000, "$1.00"),
            (45_000_000, "$0.000045"),
            (1, "$0.00"),
            (12_000_000_000_000, "$12.00"),
        ] {
            assert_eq!(Money { pico }.to_string(), shown, "{pico}");
        }
        let money = Money::micro(1_500_000);
        assert_eq!(serde_json::to_string(&money).expect("a number"), "1.5");
        assert_eq!(serde_json::from_str::<Money>("1.5").expect("money"), money);
    }
}
