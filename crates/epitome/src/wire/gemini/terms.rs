//! Gemini's row: names, limits, what it can say, and what shows that a text is of this format.

use Place::{Body, Entry, Tool};
use Weight::{Hint, Proof};

use crate::request::Keeper;
use crate::wire::detect::{Place, Weight};
use crate::wire::{Demand, Feature, Field, Key, ReasoningKept, Results, Terms};

pub(super) static TERMS: Terms = Terms {
    features: &[
        Feature::BlankText,
        Feature::CallsAmongWords,
        Feature::CallsFollowUser,
        Feature::Failure,
        Feature::GatheredResults,
        Feature::KeyedParts,
        Feature::ModelMedia,
        Feature::NoCalls,
        Feature::PayloadBesideMedia,
    ],
    list: "contents",
    content: "parts",
    model: None,
    reasoning_kept: ReasoningKept::Turn,
    ids: Demand { letters: "_-.:/|+=", longest: 128 },
    tool_names: Demand { letters: "_-.:", longest: 64 },
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
    parameters: &[
        (Key::Most, "generationConfig.maxOutputTokens"),
        (Key::Temperature, "generationConfig.temperature"),
        (Key::TopP, "generationConfig.topP"),
        (Key::TopK, "generationConfig.topK"),
        (Key::Stop, "generationConfig.stopSequences"),
        (Key::Seed, "generationConfig.seed"),
        (Key::Presence, "generationConfig.presencePenalty"),
        (Key::Frequency, "generationConfig.frequencyPenalty"),
    ],
    about_elements: &[
        "videoMetadata",
        "video_metadata",
        "mediaResolution",
        "media_resolution",
        "mediaProcessing",
        "media_processing",
        "partMetadata",
        "part_metadata",
    ],
    evidence: &[
        (Body, "contents", &[], Proof),
        (Body, "systemInstruction", &[], Proof),
        (Body, "system_instruction", &[], Proof),
        (Body, "generationConfig", &[], Hint),
        (Tool, "functionDeclarations", &[], Proof),
        (Tool, "function_declarations", &[], Proof),
        (Entry, "parts", &[], Proof),
        (Entry, "role", &["model"], Proof),
    ],
    ..Terms::COMMON
};
