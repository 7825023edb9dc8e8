//! A strategy's setting in a file: off, on, or on with options.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// Whether a strategy takes part, and how: `false`, `true` (as by default) or `{…}` in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting<T> {
    /// It doesn't.
    Off,
    /// It does, with these options.
    On(T),
}

impl<T> Setting<T> {
    /// The options, where it is on.
    pub fn on(&self) -> Option<&T> {
        match self {
            Setting::Off => None,
            Setting::On(options) => Some(options),
        }
    }
}

impl<T: Default> Default for Setting<T> {
    fn default() -> Self {
        Setting::On(T::default())
    }
}

impl<T: Serialize> Serialize for Setting<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Setting::Off => to.serialize_bool(false),
            Setting::On(options) => options.serialize(to),
        }
    }
}

impl<'de, T: Default + Deserialize<'de>> Deserialize<'de> for Setting<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct SettingVisitor<T>(PhantomData<T>);
        impl<'de, T: Default + Deserialize<'de>> Visitor<'de> for SettingVisitor<T> {
            type Value = Setting<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("false, true or a table of options")
            }

            fn visit_bool<E>(self, is_on: bool) -> Result<Setting<T>, E> {
                Ok(if is_on { Setting::default() } else { Setting::Off })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Setting<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Setting::On)
            }
        }
        from.deserialize_any(SettingVisitor(PhantomData))
    }
}

/// An option out of its range; it never means "off".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{option}` is {given}; it must be {expected}")]
pub struct BadOption {
    /// The strategy and its option, as files spell them: `outputs.min-gain`.
    pub option: &'static str,
    /// The given text.
    pub given: String,
    /// What would have been right.
    pub expected: &'static str,
}

impl BadOption {
    /// An error unless `given` is at least 1.
    pub(super) fn unless_positive(option: &'static str, given: u64) -> Result<(), Self> {
        if given > 0 {
            return Ok(());
        }
        Err(BadOption { option, given: given.to_string(), expected: "1 or more" })
    }
}
