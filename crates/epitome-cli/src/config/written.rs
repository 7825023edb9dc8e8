//! Values as files write them.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use epitome::Tail;
use epitome::model::Money;
use epitome::preset::Preset;
use epitome::strategy::{Ladder, Named, Pipeline};
use epitome::trigger::{Condition, When};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::values::{self, Spec};

/// The newest content that stays, as the flag takes it.
pub(super) fn tail_words(tail: &Tail) -> String {
    match tail {
        Tail::Fitting => "what fits".to_owned(),
        Tail::Items(many) => format!("{many}items"),
        Tail::Units(many) => format!("{many}units"),
        Tail::Steps(many) => format!("{many}steps"),
        Tail::Turns(many) => format!("{many}turns"),
        Tail::Tokens(many) => format!("{many}tokens"),
    }
}

/// When to compact, as the flag takes it; what it can't say, as a file does.
pub(super) fn trigger_words(condition: &Condition) -> String {
    let words = condition.when().to_string();
    let is_read_back = words.parse().is_ok_and(|when: When| when == *condition.when());
    if is_read_back { words } else { inline(condition) }
}

/// Strategies, as the flag takes them; with options of their own, as a file says them.
pub(super) fn pipeline_words(strategies: &Pipeline) -> String {
    let whole = |named: &Named| named.name().parse::<Named>().is_ok_and(|whole| whole == *named);
    match strategies {
        Pipeline::List(list) if list.is_empty() => "none".to_owned(),
        Pipeline::List(list) if list.iter().all(whole) => {
            list.iter().map(Named::name).collect::<Vec<_>>().join(",")
        }
        Pipeline::List(list) => inline(list),
        Pipeline::Ladder(ladder) if *ladder == Ladder::default() => "ladder".to_owned(),
        Pipeline::Ladder(ladder) => {
            let table = |ladder: &Ladder| Table::try_from(ladder).unwrap_or_default();
            let (mut rungs, usual) = (table(ladder), table(&Ladder::default()));
            rungs.retain(|rung, setting| usual.get(rung) != Some(setting));
            inline(&rungs)
        }
    }
}

fn inline(value: &impl Serialize) -> String {
    toml::Value::try_from(value).map(|value| value.to_string()).unwrap_or_default()
}

/// The name of a preset.
pub(super) fn preset<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let name: String = de::Deserialize::deserialize(from)?;
    Preset::named(&name, None).map(|preset| Some(preset.name.to_owned())).map_err(de::Error::custom)
}

/// A number, or a text that says more (`"30%"`, `"3steps"`).
pub(super) fn amount<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: fmt::Display>,
{
    written(from)?.map(|text| text.parse().map_err(|e: T::Err| de::Error::custom(e))).transpose()
}

pub(super) fn window<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    written(from)?.map(|text| values::window(&text).map_err(de::Error::custom)).transpose()
}

/// One summarizer, or several in order.
pub(super) fn summarizer<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Vec<Spec>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a summarizer or a list of them")]
    enum OneOrMany {
        One(String),
        List(Vec<String>),
    }

    let said = match OneOrMany::deserialize(from)? {
        OneOrMany::One(one) => vec![one],
        OneOrMany::List(list) => list,
    };
    specs(&said).map(Some).map_err(de::Error::custom)
}

/// Summarizers, in order.
pub(super) fn specs(said: &[String]) -> Result<Vec<Spec>, String> {
    if said.is_empty() {
        return Err("no summarizer is named; `extractive` stands for none".to_owned());
    }
    said.iter().map(|one| one.parse().map_err(|error| format!("{one}: {error}"))).collect()
}

/// A positive number of seconds.
pub(super) fn timeout<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    written(from)?.map(|text| values::seconds(&text).map_err(de::Error::custom)).transpose()
}

/// An amount of money.
pub(super) fn spend<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Money>, D::Error> {
    written(from)?.map(|text| values::dollars(&text).map_err(de::Error::custom)).transpose()
}

fn written<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    struct ValueVisitor;

    impl Visitor<'_> for ValueVisitor {
        type Value = Option<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a number or a text")
        }

        fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
            Ok(Some(number.to_string()))
        }

        fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
            Ok(Some(number.to_string()))
        }

        fn visit_f64<E: de::Error>(self, number: f64) -> Result<Self::Value, E> {
            Ok(Some(number.to_string()))
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
            Ok(Some(text.to_owned()))
        }
    }

    from.deserialize_any(ValueVisitor)
}
