//! Interactions' row: names, limits, what it can say, and what shows that a text is of this format.

use EvidenceKind::{Against, Hint, Never, Proof, Share};
use Place::{Block, Body, Entry};

use crate::request::Keeper;
use crate::wire::detect::{EvidenceKind, Place};
use crate::wire::{
    Feature, Field, NameLimits, Opening, ParameterKey, ReasoningKept, Results, Terms,
};

pub(super) static TERMS: Terms = Terms {
    features: &[
        Feature::BlankText,
        Feature::CallsAmongWords,
        Feature::Failure,
        Feature::FlatEntries,
        Feature::KeptItems,
        Feature::LetteredNames,
        Feature::ModelMedia,
        Feature::NoCalls,
        Feature::TypedSteps,
    ],
    list: "input",
    opening: Opening::Anyone,
    reasoning_kept: ReasoningKept::Turn,
    ids: NameLimits { letters: "_-.:/|+=", longest: 128 },
    tool_names: NameLimits { letters: "_-.:", longest: 64 },
    most_stops: 5,
    fields: &[
        ("model", Field::Model),
        ("system_instruction", Field::System),
        ("tools", Field::Tools),
        ("previous_interaction_id", Field::Elsewhere(Keeper::PreviousInteraction)),
        ("cached_content", Field::Elsewhere(Keeper::Cache)),
    ],
    members: &[],
    result_members: &[],
    model_role: "model_output",
    results: Results::Apart,
    answer_form: &[&["response_format"]],
    parameters: &[
        (ParameterKey::Most, "generation_config.max_output_tokens"),
        (ParameterKey::Temperature, "generation_config.temperature"),
        (ParameterKey::TopP, "generation_config.top_p"),
        (ParameterKey::Stop, "generation_config.stop_sequences"),
        (ParameterKey::Seed, "generation_config.seed"),
        (ParameterKey::Stream, "stream"),
        (ParameterKey::Store, "store"),
    ],
    evidence: &[
        (Body, "previous_interaction_id", &[], Proof),
        (Body, "response_modalities", &[], Proof),
        // OpenAI's Responses have it, too.
        (Body, "input", &[], Share),
        (Body, "generation_config", &[], Hint),
        (Body, "system_instruction", &[], Hint),
        (Body, "contents", &[], Never),
        (Body, "messages", &[], Never),
        (Entry, "type", &["user_input", "model_output", "thought", "function_result"], Proof),
        (Entry, "type", &["function_call"], Share),
        (Entry, "role", &["model"], Share),
        (Entry, "type", &["text", "image", "audio", "document", "video"], Hint),
        (Block, "type", &["image", "audio", "document", "video"], Share),
        // Messages of other formats that came to stand in `input` have it.
        (Block, "type", &["text"], Against),
    ],
    models: &["gemini"],
    deepest: 100,
    ..Terms::COMMON
};
