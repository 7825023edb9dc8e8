//! What differs between formats and is plain data.

use std::ops::RangeInclusive;

use super::detect::Sign;
use super::{Field, Opening, ParameterKey, ReasoningKept};
use crate::transcript::unit::Instructions;

/// A format's row: names of members, limits, and what it can say.
pub(crate) struct Terms {
    pub(crate) features: &'static [Feature],
    /// The body member that holds the entries.
    pub(crate) list: &'static str,
    /// The entry's member that holds its parts.
    pub(crate) content: &'static str,
    /// Members of an entry that are read, and of one that is a result; none where its parts say all.
    pub(crate) members: &'static [&'static str],
    pub(crate) result_members: &'static [&'static str],
    /// The model's role.
    pub(crate) model_role: &'static str,
    pub(crate) results: Results,
    /// Body members that say something about the request.
    pub(crate) fields: &'static [(&'static str, Field)],
    /// The body member that names the model, where it isn't the address alone.
    pub(crate) model: Option<&'static str>,
    /// A body member beside the tools that defines more of them.
    pub(crate) older_tools: Option<&'static str>,
    /// Where a body says what form the answer must have, which the model reads like the definitions of tools.
    pub(crate) answer_form: &'static [&'static [&'static str]],
    /// Where a body says what its provider's cache depends on, beside model, instructions, tools and the form of the answer.
    pub(crate) cache_settings: &'static [&'static [&'static str]],
    /// The body's member that says so as OpenAI's formats do, which tell one another the same.
    pub(crate) form: Option<&'static str>,
    /// What shows that a text is of this format.
    pub(crate) evidence: &'static [Sign],
    /// Ends of its items' types, which show it too.
    pub(crate) item_types: &'static [&'static str],
    /// Parts of its models' names, which hint at it.
    pub(crate) models: &'static [&'static str],
    /// Who must speak first.
    pub(crate) opening: Opening,
    /// Where system text may stand in mid-conversation.
    pub(crate) instructions: Instructions,
    /// Which reasoning must come back while a tool loop is open.
    pub(crate) reasoning_kept: ReasoningKept,
    pub(crate) ids: NameLimits,
    pub(crate) tool_names: NameLimits,
    /// Parameters and where they stand; the first place of each is where it is written.
    pub(crate) parameters: &'static [(ParameterKey, &'static str)],
    pub(crate) temperatures: RangeInclusive<f64>,
    pub(crate) most_stops: usize,
    pub(crate) least_limit: u64,
    /// Members of an entry's elements that say something about them and have no like elsewhere.
    pub(crate) about_elements: &'static [&'static str],
    /// How deep objects and lists may be nested.
    pub(crate) deepest: usize,
}

/// What formats demand of names: letters beside the plain ones and digits, and a length.
#[derive(Clone, Copy)]
pub(crate) struct NameLimits {
    pub(crate) letters: &'static str,
    pub(crate) longest: usize,
}

/// Where results stand, always before the user's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Results {
    /// Each in a message of its own.
    Apart,
    /// In the user's message.
    First,
    /// In one message of their own.
    Together,
}

impl Terms {
    /// The most common ones.
    pub(crate) const COMMON: Terms = Terms {
        features: &[],
        list: "messages",
        content: "content",
        members: &["role", "content"],
        result_members: &[],
        model_role: "assistant",
        results: Results::First,
        fields: &[
            ("model", Field::Model),
            ("system", Field::System),
            ("tools", Field::Tools),
            ("thinking", Field::Thinking),
        ],
        model: Some("model"),
        older_tools: None,
        answer_form: &[],
        cache_settings: &[],
        form: None,
        evidence: &[],
        item_types: &[],
        models: &[],
        opening: Opening::User,
        instructions: Instructions::Anywhere,
        reasoning_kept: ReasoningKept::NewestStep,
        ids: NameLimits { letters: "_-", longest: 64 },
        tool_names: NameLimits { letters: "_-", longest: 64 },
        parameters: &[],
        temperatures: f64::NEG_INFINITY..=f64::INFINITY,
        most_stops: usize::MAX,
        least_limit: 1,
        about_elements: &[],
        deepest: usize::MAX,
    };
}

/// What holds of some formats only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feature {
    /// User and assistant take turns: messages of one role can't stand side by side.
    Alternates,
    /// Instructions may be blank.
    BlankInstructions,
    /// Texts may be blank.
    BlankText,
    /// A call's name is a member of the `function` that it holds.
    CallHoldsFunction,
    /// Calls may stand between the words of a reply.
    CallsAmongWords,
    /// Calls must stand right behind the user's side.
    CallsFollowUser,
    /// Signed reasoning comes back encrypted, so that its bytes are no text.
    EncryptedReasoning,
    /// A result says whether its call failed.
    Failure,
    /// A part's members are its entry's.
    FlatEntries,
    /// All results of a turn must stand in one message.
    GatheredResults,
    /// A tool's name begins with a letter or `_`.
    LetteredNames,
    /// Instructions in mid-conversation are messages that say whose they are.
    InstructionMessages,
    /// A request may go on from items that the provider keeps.
    KeptItems,
    /// An element has one member with its data, which is the part.
    KeyedParts,
    /// The model can be told that no tool may be called.
    NoCalls,
    /// The model shows images.
    ModelMedia,
    /// The URL names the model, not the body.
    ModelInUrl,
    /// It must be said how long an answer may be.
    NeededLimit,
    /// OpenAI's models are asked, of which those that reason refuse parameters.
    OpenaiModels,
    /// A result has a payload beside its media.
    PayloadBesideMedia,
    /// A tool's schema has no choice at its top.
    PlainSchemas,
    /// Words that end the answer aren't blank.
    SpokenStops,
    /// Chat's `reasoning_content` carries reasoning back.
    ReasoningContent,
    /// Refusals are told apart from other words.
    Refusals,
    /// A user's message of one text has it as a string.
    StringContent,
    /// An image may say in what detail it is to be looked at.
    ImageDetail,
    /// Arguments may have to follow the schema.
    StrictTools,
    /// A document's data may be plain text, or blocks of it.
    TextDocuments,
    /// Reasoning is asked for by Anthropic's modes.
    ThinkingModes,
    /// A message says that it is one.
    TypedMessages,
    /// A compaction item doesn't hide what stands before it.
    VisibleCompactions,
    /// A step says by its type who speaks.
    TypedSteps,
    /// Tools may take words.
    WordTools,
}
