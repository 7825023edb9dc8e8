//! Which strategies, in which order, with which options: as files and flags say it.
//!
//! A file says either the ladder with some of its rungs set otherwise, or a list:
//!
//! ```toml
//! strategies = { failed = false, arguments = { max-tokens = 200 } }
//! strategies = ["repeats", { outputs = { min-gain = 500 } }, "fold"]
//! strategies = ["repeats", ["outputs", "fold"]]   # a list in a list stands for its strategies
//! strategies = false     # none: the identity
//! ```

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::{
    ArgumentsOptions, BadOption, Excerpts, ExcerptsOptions, Failed, FailedOptions, Fold,
    FoldOptions, Head, HeadOptions, Intake, IntakeOptions, MediaOptions, OldArguments, OldMedia,
    OldOutputs, OldReasoning, OutputsOptions, ReasoningOptions, Recent, RecentOptions, Repeats,
    RepeatsOptions, Setting, Strategy,
};

/// Everything that goes by a name: one line for each strategy.
macro_rules! strategies {
    ($($(#[$doc:meta])+ $name:ident: $variant:ident($options:ty) => $strategy:ty,)+) => {
        /// A strategy by its name, with its options.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(remote = "Self", rename_all = "kebab-case")]
        #[non_exhaustive]
        pub enum Named {
            $($(#[$doc])+ $variant(Setting<$options>),)+
        }

        /// The names of the strategies.
        pub const NAMES: &[&str] = &[$(stringify!($name)),+];

        impl Named {
            /// Its name.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Named::$variant(_) => stringify!($name),)+
                }
            }

            /// The strategy; none where it is off.
            ///
            /// # Errors
            /// An option out of its range.
            pub fn build(&self) -> Result<Option<Arc<dyn Strategy>>, BadOption> {
                match self {
                    $(Named::$variant(setting) => {
                        let strategy = setting.on().map(|on| <$strategy>::new(on.clone()));
                        Ok(strategy.transpose()?.map(|on| Arc::new(on) as Arc<dyn Strategy>))
                    })+
                }
            }
        }

        impl FromStr for Named {
            type Err = UnknownStrategy;

            /// A name; the options are the defaults.
            fn from_str(name: &str) -> Result<Self, UnknownStrategy> {
                match name.trim() {
                    $(stringify!($name) => Ok(Named::$variant(Setting::default())),)+
                    _ => Err(UnknownStrategy { name: name.trim().to_owned() }),
                }
            }
        }

        /// The ladder, with each of its rungs set as it may be; [`Ladder::default`] is [`ladder`].
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
        pub struct Ladder {
            $($(#[$doc])+ pub $name: Setting<$options>,)+
        }
    };
}

strategies! {
    /// Giant results are excerpted when they arrive.
    intake: Intake(IntakeOptions) => Intake,
    /// Later repeats, and stale reads.
    repeats: Repeats(RepeatsOptions) => Repeats,
    /// Reasoning that is no longer needed.
    reasoning: Reasoning(ReasoningOptions) => OldReasoning,
    /// Failed calls.
    failed: Failed(FailedOptions) => Failed,
    /// Old tool outputs.
    outputs: Outputs(OutputsOptions) => OldOutputs,
    /// Bulky arguments of old calls.
    arguments: Arguments(ArgumentsOptions) => OldArguments,
    /// Old images and documents.
    media: Media(MediaOptions) => OldMedia,
    /// Long texts.
    excerpts: Excerpts(ExcerptsOptions) => Excerpts,
    /// Everything but the newest.
    recent: Recent(RecentOptions) => Recent,
    /// Older steps fold into the checkpoint.
    fold: Fold(FoldOptions) => Fold,
    /// The oldest units leave.
    head: Head(HeadOptions) => Head,
}

/// A name that no strategy has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.said())]
pub struct UnknownStrategy {
    /// The given text.
    pub name: String,
}

impl UnknownStrategy {
    fn said(&self) -> String {
        let name = &self.name;
        match name.as_str() {
            "ladder" => {
                "`ladder` is a whole pipeline, and no strategy in a list of them".to_owned()
            }
            "none" => {
                "`none` is a pipeline without a strategy, and none in a list of them".to_owned()
            }
            _ => format!("there is no strategy `{name}`; they are {}", NAMES.join(", ")),
        }
    }
}

impl Default for Ladder {
    fn default() -> Self {
        Ladder {
            intake: Setting::Off,
            repeats: Setting::default(),
            reasoning: Setting::default(),
            failed: Setting::default(),
            outputs: Setting::default(),
            arguments: Setting::default(),
            media: Setting::default(),
            excerpts: Setting::default(),
            recent: Setting::Off,
            fold: Setting::default(),
            head: Setting::default(),
        }
    }
}

impl Ladder {
    /// The strategies, cheapest loss first (DESIGN.md §7).
    ///
    /// # Errors
    /// An option out of its range.
    pub fn build(&self) -> Result<Vec<Arc<dyn Strategy>>, BadOption> {
        let rungs = [
            Named::Intake(self.intake),
            Named::Repeats(self.repeats),
            Named::Reasoning(self.reasoning),
            Named::Failed(self.failed),
            Named::Recent(self.recent),
            Named::Fold(self.fold),
            // Where what stays is still too large.
            Named::Outputs(self.outputs),
            Named::Arguments(self.arguments),
            Named::Media(self.media),
            Named::Excerpts(self.excerpts),
        ];
        let mut all = built(&rungs)?;
        if self.fold.on().is_some() {
            // What must stay leaves no room for a checkpoint: cut what belongs to it, try again.
            if self.outputs.on().is_some() {
                all.push(Arc::new(OldOutputs::last()));
            }
            if self.excerpts.on().is_some() {
                all.push(Arc::new(Excerpts::last()));
            }
            all.push(Arc::new(Fold));
        }
        all.extend(built(&[Named::Head(self.head)])?);
        Ok(all)
    }
}

/// The ladder: cheapest loss first (DESIGN.md §7).
pub fn ladder() -> Vec<Arc<dyn Strategy>> {
    Ladder::default().build().expect("defaults are in range")
}

fn built(named: &[Named]) -> Result<Vec<Arc<dyn Strategy>>, BadOption> {
    let built: Result<Vec<_>, BadOption> = named.iter().map(Named::build).collect();
    Ok(built?.into_iter().flatten().collect())
}

/// Which strategies, in which order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Pipeline {
    /// The ladder.
    Ladder(Ladder),
    /// These, in order; none of them is the identity.
    List(Vec<Named>),
}

impl Default for Pipeline {
    fn default() -> Self {
        Pipeline::Ladder(Ladder::default())
    }
}

impl Pipeline {
    /// The strategies.
    ///
    /// # Errors
    /// An option out of its range.
    pub fn build(&self) -> Result<Vec<Arc<dyn Strategy>>, BadOption> {
        match self {
            Pipeline::Ladder(ladder) => ladder.build(),
            Pipeline::List(list) => built(list),
        }
    }
}

impl FromStr for Pipeline {
    type Err = UnknownStrategy;

    /// `repeats,outputs,fold`: these, in order, with their defaults. `ladder` is all of them, `none` the identity.
    fn from_str(list: &str) -> Result<Self, UnknownStrategy> {
        match list.trim() {
            "ladder" => Ok(Pipeline::default()),
            "none" => Ok(Pipeline::List(Vec::new())),
            list => list.split(',').map(str::parse).collect::<Result<_, _>>().map(Pipeline::List),
        }
    }
}

impl Serialize for Named {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Named::serialize(self, to)
    }
}

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct NamedVisitor;
        impl<'de> Visitor<'de> for NamedVisitor {
            type Value = Named;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a strategy: its name, or a table of its name with its options")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Named, E> {
                name.parse().map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named, A::Error> {
                let named = Named::deserialize(MapAccessDeserializer::new(&mut map))?;
                match map.next_key::<String>()? {
                    None => Ok(named),
                    Some(key) => {
                        map.next_value::<IgnoredAny>()?;
                        let before = named.name();
                        Err(A::Error::custom(format!(
                            "`{key}` beside `{before}`: one strategy a table, to say their order"
                        )))
                    }
                }
            }
        }
        from.deserialize_any(NamedVisitor)
    }
}

/// A strategy of a list, or the strategies of a list in it, in their order.
struct Nested(Vec<Named>);

impl<'de> Deserialize<'de> for Nested {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct NestedVisitor;
        impl<'de> Visitor<'de> for NestedVisitor {
            type Value = Nested;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a strategy (its name, or a table of its name with its options) or a list of strategies")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Nested, E> {
                name.parse().map(|named| Nested(vec![named])).map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Nested, A::Error> {
                let named = <Named as Deserialize>::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Nested(vec![named]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Nested, A::Error> {
                let list = Vec::<Nested>::deserialize(SeqAccessDeserializer::new(list))?;
                Ok(Nested(list.into_iter().flat_map(|nested| nested.0).collect()))
            }
        }
        from.deserialize_any(NestedVisitor)
    }
}

impl<'de> Deserialize<'de> for Pipeline {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct PipelineVisitor;
        impl<'de> Visitor<'de> for PipelineVisitor {
            type Value = Pipeline;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of strategies, a list of them, or a boolean")
            }

            fn visit_bool<E>(self, is_on: bool) -> Result<Pipeline, E> {
                Ok(if is_on { Pipeline::default() } else { Pipeline::List(Vec::new()) })
            }

            fn visit_str<E: Error>(self, list: &str) -> Result<Pipeline, E> {
                list.parse().map_err(E::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Pipeline, A::Error> {
                let list = Vec::<Nested>::deserialize(SeqAccessDeserializer::new(list))?;
                Ok(Pipeline::List(list.into_iter().flat_map(|nested| nested.0).collect()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Pipeline, A::Error> {
                Ladder::deserialize(MapAccessDeserializer::new(map)).map(Pipeline::Ladder)
            }
        }
        from.deserialize_any(PipelineVisitor)
    }
}
