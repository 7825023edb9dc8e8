//! When to act is a trigger's question; this is what may be used and where to land.

use std::fmt;
use std::str::FromStr;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// Where a compaction is to land.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// At most this many tokens.
    Tokens(u64),
    /// At most this share of the input, in percent.
    Percent(u8),
}

impl Target {
    /// The default: well below any sensible trigger, so that compactions are rare.
    pub const DEFAULT: Target = Target::Percent(30);

    /// The target in tokens, for an input of `tokens`.
    pub fn resolve(self, tokens: u64) -> u64 {
        match self {
            Target::Tokens(most) => most,
            Target::Percent(share) => (tokens.saturating_mul(u64::from(share)) / 100).max(1),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Tokens(most) => write!(f, "{most}"),
            Target::Percent(share) => write!(f, "{share}%"),
        }
    }
}

impl FromStr for Target {
    type Err = BadAmount;

    /// `20000`, `20k`, `1m`, `30%`.
    fn from_str(text: &str) -> Result<Self, BadAmount> {
        let bad = || BadAmount {
            text: text.to_owned(),
            expected: "a number of tokens (20000, 20k) or percent from 1 to 100 (30%)",
        };
        match text.strip_suffix('%') {
            Some(share) => match share.trim().parse() {
                Ok(share @ 1..=100) => Ok(Target::Percent(share)),
                _ => Err(bad()),
            },
            None => amount(text).filter(|most| *most > 0).map(Target::Tokens).ok_or_else(bad),
        }
    }
}

/// How much of the newest transcript stays verbatim whatever else must go.
///
/// A file says it as a number of items, a short form (`"3steps"`) or a table of one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "lowercase")]
pub enum Tail {
    /// As much as fits; nothing beyond pins is promised.
    Fitting,
    /// The newest entries.
    Items(usize),
    /// The newest model calls with their results.
    Steps(usize),
    /// The newest units: a message, or a model call with its results.
    Units(usize),
    /// The newest human messages and what followed them.
    Turns(usize),
    /// The newest units that fit in this many tokens.
    Tokens(u64),
}

impl Serialize for Tail {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Tail::serialize(self, to)
    }
}

impl<'de> Deserialize<'de> for Tail {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct TailVisitor;
        impl<'de> Visitor<'de> for TailVisitor {
            type Value = Tail;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of items, units, steps, turns or tokens")
            }

            fn visit_u64<E: Error>(self, items: u64) -> Result<Tail, E> {
                usize::try_from(items).map(Tail::Items).map_err(E::custom)
            }

            fn visit_i64<E: Error>(self, items: i64) -> Result<Tail, E> {
                usize::try_from(items).map(Tail::Items).map_err(E::custom)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Tail, E> {
                if text == "fitting" { Ok(Tail::Fitting) } else { text.parse().map_err(E::custom) }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Tail, A::Error> {
                Tail::deserialize(MapAccessDeserializer::new(map))
            }
        }
        from.deserialize_any(TailVisitor)
    }
}

impl FromStr for Tail {
    type Err = BadAmount;

    /// `10` or `10items`, `4units`, `3steps`, `2turns`, `8000tokens`.
    fn from_str(text: &str) -> Result<Self, BadAmount> {
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, unit) = text.split_at(digits);
        let bad = || BadAmount {
            text: text.to_owned(),
            expected: "a number with `items`, `units`, `steps`, `turns` or `tokens` behind it (items if nothing is)",
        };
        let number: u64 = number.parse().map_err(|_| bad())?;
        match unit.trim() {
            "" | "item" | "items" => Ok(Tail::Items(number as usize)),
            "step" | "steps" => Ok(Tail::Steps(number as usize)),
            "unit" | "units" => Ok(Tail::Units(number as usize)),
            "turn" | "turns" => Ok(Tail::Turns(number as usize)),
            "token" | "tokens" => Ok(Tail::Tokens(number)),
            "ktokens" | "k" => Ok(Tail::Tokens(number.saturating_mul(1000))),
            _ => Err(bad()),
        }
    }
}

/// When a pipeline has done enough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// Once the target is reached: strategies behind that have nothing to do.
    #[default]
    AtTarget,
    /// At the end: every strategy does all it does, and the target is only checked. For pipelines
    /// that decide by themselves what stays.
    AtEnd,
}

/// An amount that can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {expected}")]
pub struct BadAmount {
    /// The given text.
    pub text: String,
    /// What would have been right.
    pub expected: &'static str,
}

/// `20000`, `20_000`, `20k`, `1m`.
pub(crate) fn amount(text: &str) -> Option<u64> {
    let text = text.trim().replace('_', "");
    let (number, factor) = match text.chars().next_back()? {
        'k' | 'K' => (&text[..text.len() - 1], 1_000),
        'm' | 'M' => (&text[..text.len() - 1], 1_000_000),
        _ => (&text[..], 1),
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// What may be used, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Where to land.
    pub target: u64,
    /// The requested target: below the real one if it can't be reached. Shares are shares of it.
    pub asked: u64,
}

impl Budget {
    /// To land at `target`.
    pub fn new(target: u64) -> Self {
        Budget { target, asked: target }
    }

    /// The most that one pinned entry may take without being excerpted: a quarter of the target.
    pub fn share(&self) -> u64 {
        self.asked / 4
    }

    /// The most that a checkpoint takes from entries that could stay verbatim: 24,000 tokens. Beyond that, notes are
    /// worth less than whole messages.
    pub fn checkpoint(&self) -> u64 {
        24_000
    }

    /// How much of the newest content strategies leave alone unless they must: three tenths.
    pub fn recent(&self) -> u64 {
        self.asked * 3 / 10
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_or_refused() {
        assert_eq!("20k".parse(), Ok(Target::Tokens(20_000)));
        assert_eq!("1m".parse(), Ok(Target::Tokens(1_000_000)));
        assert_eq!("8_000".parse(), Ok(Target::Tokens(8_000)));
        assert_eq!("30%".parse(), Ok(Target::Percent(30)));
        for bad in ["", "0", "0%", "101%", "-5", "x", "3.5%", "%"] {
            assert!(bad.parse::<Target>().is_err(), "{bad}");
        }
        assert_eq!("10".parse(), Ok(Tail::Items(10)));
        assert_eq!("3steps".parse(), Ok(Tail::Steps(3)));
        assert_eq!("4units".parse(), Ok(Tail::Units(4)));
        assert_eq!("1 turn".parse(), Ok(Tail::Turns(1)));
        assert_eq!("0".parse(), Ok(Tail::Items(0)));
        assert_eq!("5tokens".parse(), Ok(Tail::Tokens(5)));
        for (json, tail) in [
            ("3", Tail::Items(3)),
            ("\"3steps\"", Tail::Steps(3)),
            ("{\"turns\":2}", Tail::Turns(2)),
            ("\"fitting\"", Tail::Fitting),
        ] {
            assert_eq!(serde_json::from_str::<Tail>(json).expect("a tail"), tail);
            let written = serde_json::to_string(&tail).expect("serializable");
            assert_eq!(serde_json::from_str::<Tail>(&written).expect("its own form"), tail);
        }
        assert!(serde_json::from_str::<Tail>("-1").is_err());
        assert!("steps".parse::<Tail>().is_err() && "3x".parse::<Tail>().is_err());
    }

    #[test]
    fn percent_is_of_what_came_in() {
        assert_eq!(Target::Percent(30).resolve(1001), 300);
        assert_eq!(Target::Tokens(7).resolve(1001), 7);
    }
}
