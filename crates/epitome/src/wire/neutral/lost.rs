//! What a conversion leaves out or says in another way.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// Something that came out otherwise than it went in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Lost {
    /// Index of its entry in the request as it came; `None` for a frame member.
    pub entry: Option<usize>,
    /// What kind of thing it is.
    pub what: Loss,
    /// Which one: a tool's name, a member's key, a media type; empty where there is nothing to tell them apart.
    pub name: String,
    /// Whether it is gone.
    pub extent: Extent,
    /// Why, in a few words.
    pub why: Cow<'static, str>,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extent {
    /// It isn't there any more.
    Dropped,
    /// It is said in another way.
    Changed,
}

/// Kinds of things that not every format can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Loss {
    /// Reasoning in the clear.
    Reasoning,
    /// Reasoning that is signed or encrypted, and signatures.
    SignedReasoning,
    /// A call or result of a tool that the provider runs.
    ServedTool,
    /// A provider's own compaction.
    Compaction,
    /// A part or item of a kind of its own.
    Part,
    /// Plain words in a block or document of its own kind.
    Words,
    /// History that only the provider has.
    History,
    /// Ids by which the provider knows items.
    ItemId,
    /// A mark of what is to be cached.
    CacheMarker,
    /// A file of which there is only a name.
    ProviderFile,
    /// An image or file that can't be shown there.
    Medium,
    /// That a call failed.
    Failure,
    /// The order of words and calls in one reply.
    Order,
    /// Blank words.
    Blank,
    /// Half of a character that JSON writes in two.
    HalfCharacter,
    /// System text in mid-conversation.
    Instructions,
    /// A call with a form of its own.
    CallKind,
    /// Arguments that are no object.
    Arguments,
    /// A tool's name.
    ToolName,
    /// A definition of a tool that is no function.
    Tool,
    /// A member of a message, a part or a tool.
    Member,
    /// A parameter of the request.
    Parameter,
    /// The model.
    Model,
}

impl Loss {
    /// All kinds.
    pub const ALL: [Loss; 23] = [
        Loss::Reasoning,
        Loss::SignedReasoning,
        Loss::ServedTool,
        Loss::Compaction,
        Loss::Part,
        Loss::Words,
        Loss::History,
        Loss::ItemId,
        Loss::CacheMarker,
        Loss::ProviderFile,
        Loss::Medium,
        Loss::Failure,
        Loss::Order,
        Loss::Blank,
        Loss::HalfCharacter,
        Loss::Instructions,
        Loss::CallKind,
        Loss::Arguments,
        Loss::ToolName,
        Loss::Tool,
        Loss::Member,
        Loss::Parameter,
        Loss::Model,
    ];

    /// What it is, what becomes of it, and why.
    const fn told(self) -> (&'static str, Extent, &'static str) {
        use Extent::{Changed, Dropped};
        match self {
            Loss::Reasoning => ("reasoning", Dropped, "only its own model is told it again"),
            Loss::SignedReasoning => {
                ("signed reasoning", Dropped, "only the model that made it can read it")
            }
            Loss::ServedTool => {
                ("provider's tool", Dropped, "the other provider doesn't run this tool")
            }
            Loss::Compaction => {
                ("provider's compaction", Dropped, "only the provider that made it can read it")
            }
            Loss::Part => ("part of its own kind", Dropped, "no other format has a word for it"),
            Loss::Words => ("words of their own kind", Changed, "they stand there as plain text"),
            Loss::History => {
                ("history elsewhere", Dropped, "only the provider that keeps it has it")
            }
            Loss::ItemId => ("item ids", Dropped, "they are of the provider's own store"),
            Loss::CacheMarker => ("cache marker", Dropped, "caches are the provider's own"),
            Loss::ProviderFile => (
                "provider's file",
                Changed,
                "only the provider that keeps it has it: a note stands there",
            ),
            Loss::Medium => {
                ("medium", Changed, "it can't be shown there: a note stands in its place")
            }
            Loss::Failure => ("failure", Dropped, "that a call failed is said by its words only"),
            Loss::Order => ("order", Changed, "words of a reply stand before its calls"),
            Loss::Blank => ("blank text", Dropped, "blank text is refused"),
            Loss::HalfCharacter => (
                "half a character",
                Changed,
                "no text holds it alone: the replacement character stands there",
            ),
            Loss::Instructions => (
                "instructions",
                Changed,
                "system text in mid-conversation is a reminder in the user's role",
            ),
            Loss::CallKind => ("call of its own kind", Changed, "it is a call of a function"),
            Loss::Arguments => ("arguments", Changed, "they are put into an object"),
            Loss::ToolName => ("tool name", Changed, "written with what names may have there"),
            Loss::Tool => ("tool definition", Dropped, "it is no function with a schema"),
            Loss::Member => ("member", Dropped, "there is none like it"),
            Loss::Parameter => {
                ("parameter", Dropped, "there is none like it, or not with this value or model")
            }
            Loss::Model => ("model", Dropped, "models are the provider's own"),
        }
    }

    /// What it is, in words.
    pub const fn words(self) -> &'static str {
        self.told().0
    }

    /// What becomes of it.
    pub const fn extent(self) -> Extent {
        self.told().1
    }

    /// Why.
    pub const fn why(self) -> &'static str {
        self.told().2
    }
}

impl Lost {
    pub(crate) fn new(entry: Option<usize>, what: Loss, name: impl Into<String>) -> Self {
        Lost { entry, what, name: name.into(), extent: what.extent(), why: what.why().into() }
    }
}
