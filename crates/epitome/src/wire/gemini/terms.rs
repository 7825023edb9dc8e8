//! Gemini's row: names, limits, what it can say, and what shows that a text is of this format.

use EvidenceKind::{Hint, Proof};
use Place::{Body, Entry, Tool};

use crate::request::Keeper;
use crate::wire::detect::{EvidenceKind, Place};
use crate::wire::{Feature, Field, NameLimits, ParameterKey, ReasoningKept, Results, Terms};
use crate::word_list::words;

pub(super) static TERMS: Terms = Terms {
    features: &[
        Feature::BlankText,
        Feature::CallsAmongWords,
        Feature::CallsFollowUser,
        Feature::Failure,
        Feature::GatheredResults,
        Feature::KeyedParts,
        Feature::LetteredNames,
        Feature::ModelMedia,
        Feature::NoCalls,
        Feature::PayloadBesideMedia,
    ],
    list: "contents",
    content: "parts",
    model: None,
    reasoning_kept: ReasoningKept::Turn,
    ids: NameLimits { letters: "_-.:/|+=", longest: 128 },
    tool_names: NameLimits { letters: "_-.:", longest: 64 },
    most_stops: 5,
    fields: &[
        ("model", Field::Model),
        ("systemInstruction", Field::System),
        ("system_instruction", Field::System),
        ("tools", Field::Tools),
        ("cachedContent", Field::Elsewhere(Keeper::Cache)),
        ("cached_content", Field::Elsewhere(Keeper::Cache)),
    ],
    members: &["role", "parts"],
    model_role: "model",
    results: Results::Together,
    answer_form: &[
        &["generationConfig", "responseSchema"],
        &["generationConfig", "responseJsonSchema"],
    ],
    parameters: &[
        (ParameterKey::Most, "generationConfig.maxOutputTokens"),
        (ParameterKey::Temperature, "generationConfig.temperature"),
        (ParameterKey::TopP, "generationConfig.topP"),
        (ParameterKey::TopK, "generationConfig.topK"),
        (ParameterKey::Stop, "generationConfig.stopSequences"),
        (ParameterKey::Seed, "generationConfig.seed"),
        (ParameterKey::Presence, "generationConfig.presencePenalty"),
        (ParameterKey::Frequency, "generationConfig.frequencyPenalty"),
    ],
    about_elements: &words!(
        "videoMetadata video_metadata mediaResolution media_resolution mediaProcessing \
         media_processing partMetadata part_metadata"
    ),
    evidence: &[
        (Body, "contents", &[], Proof),
        (Body, "systemInstruction", &[], Proof),
        (Body, "system_instruction", &[], Hint),
        (Body, "generationConfig", &[], Hint),
        (Tool, "functionDeclarations", &[], Proof),
        (Tool, "function_declarations", &[], Proof),
        (Entry, "parts", &[], Proof),
        (Entry, "role", &["model"], Hint),
    ],
    deepest: 100,
    ..Terms::COMMON
};
