//! Bedrock's row: names, limits, what it can say, and what shows that a text is of this format.

use EvidenceKind::{Against, Hint, Never, Proof};
use Place::{Block, Body, First, Words};

use crate::wire::detect::{EvidenceKind, Place};
use crate::wire::{Feature, Field, ParameterKey, Terms};

pub(super) static TERMS: Terms = Terms {
    features: &[
        Feature::Alternates,
        Feature::CallsAmongWords,
        Feature::Failure,
        Feature::GatheredResults,
        Feature::KeyedParts,
        Feature::ModelInUrl,
        Feature::ThinkingModes,
    ],
    model: Some("modelId"),
    temperatures: 0.0..=1.0,
    fields: &[
        ("modelId", Field::Model),
        ("system", Field::System),
        ("toolConfig", Field::Tools),
        ("additionalModelRequestFields", Field::Thinking),
    ],
    answer_form: &[&["outputConfig", "textFormat", "structure", "jsonSchema"]],
    parameters: &[
        (ParameterKey::Most, "inferenceConfig.maxTokens"),
        (ParameterKey::Temperature, "inferenceConfig.temperature"),
        (ParameterKey::TopP, "inferenceConfig.topP"),
        (ParameterKey::Stop, "inferenceConfig.stopSequences"),
    ],
    evidence: &[
        (Body, "modelId", &[], Proof),
        (Body, "toolConfig", &[], Hint),
        (Body, "inferenceConfig", &[], Proof),
        (Body, "additionalModelRequestFields", &[], Proof),
        (Body, "guardrailConfig", &[], Proof),
        (Block, "toolUse", &[], Proof),
        (Block, "toolResult", &[], Proof),
        (Block, "reasoningContent", &[], Proof),
        (Block, "cachePoint", &[], Proof),
        // Every other format's blocks say of what type they are.
        (Block, "text", &[], Hint),
        (Block, "image", &[], Hint),
        (Block, "document", &[], Hint),
        (Block, "type", &[], Against),
        (First, "role", &["system"], Never),
        // The address names the model, and words alone are no content.
        (Body, "model", &[], Never),
        (Words, "content", &[], Against),
    ],
    models: &["anthropic.claude"],
    ..Terms::COMMON
};
