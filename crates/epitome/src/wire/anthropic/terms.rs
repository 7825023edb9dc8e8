//! Anthropic's row: names, limits, what it can say, and what shows that a text is of this format.

use EvidenceKind::{Hint, Never, Proof, Share};
use Place::{Block, Body, First, Tool};

use crate::request::Keeper;
use crate::transcript::unit::Instructions;
use crate::wire::detect::{EvidenceKind, Place};
use crate::wire::{Feature, Field, NameLimits, ParameterKey, Terms};

pub(super) static TERMS: Terms = Terms {
    features: &[
        Feature::CallsAmongWords,
        Feature::Failure,
        Feature::NeededLimit,
        Feature::NoCalls,
        Feature::PlainSchemas,
        Feature::SpokenStops,
        Feature::StrictTools,
        Feature::TextDocuments,
        Feature::ThinkingModes,
        Feature::StringContent,
    ],
    instructions: Instructions::BetweenUserAndReply,
    tool_names: NameLimits { letters: "_-", longest: 128 },
    temperatures: 0.0..=1.0,
    fields: &[
        ("model", Field::Model),
        ("system", Field::System),
        ("tools", Field::Tools),
        ("thinking", Field::Thinking),
        ("thread", Field::Elsewhere(Keeper::Thread)),
    ],
    answer_form: &[&["output_config", "format"], &["output_format"]],
    // PROVIDERS.md B.1.6.
    cache_settings: &[&["tool_choice"], &["thinking"], &["speed"]],
    parameters: &[
        (ParameterKey::Most, "max_tokens"),
        (ParameterKey::Temperature, "temperature"),
        (ParameterKey::TopP, "top_p"),
        (ParameterKey::TopK, "top_k"),
        (ParameterKey::Stop, "stop_sequences"),
        (ParameterKey::Stream, "stream"),
    ],
    evidence: &[
        // Bedrock has one too, beside other evidence.
        (Body, "system", &[], Hint),
        (Body, "thinking", &[], Hint),
        (Body, "anthropic_version", &[], Proof),
        (Tool, "input_schema", &[], Proof),
        (Block, "cache_control", &[], Hint),
        // Gateways take Claude's name in Chat's form, of which a compaction may leave plain messages.
        (First, "role", &["system"], Never),
        (Block, "type", &["tool_use", "tool_result", "redacted_thinking"], Proof),
        // Interactions have both, too.
        (Block, "type", &["image", "document"], Share),
        // Mistral's reasoning models have such blocks in Chat messages.
        (Block, "type", &["thinking"], Hint),
        (Block, "type", &["server_tool_use", "compaction"], Proof),
    ],
    models: &["claude"],
    ..Terms::COMMON
};
