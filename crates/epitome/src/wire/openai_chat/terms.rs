//! Chat's row: names, limits, what it can say, and what shows that a text is of this format.

use EvidenceKind::{Hint, Proof};
use Place::{Block, Body, Entry, Tool};

use crate::wire::detect::{EvidenceKind, Place};
use crate::wire::{Feature, NameLimits, Opening, ParameterKey, ReasoningKept, Results, Terms};
use crate::word_list::words;

pub(super) static TERMS: Terms = Terms {
    features: &[
        Feature::BlankInstructions,
        Feature::BlankText,
        Feature::CallHoldsFunction,
        Feature::ImageDetail,
        Feature::InstructionMessages,
        Feature::NoCalls,
        Feature::OpenaiModels,
        Feature::ReasoningContent,
        Feature::Refusals,
        Feature::StrictTools,
        Feature::WordTools,
        Feature::StringContent,
    ],
    opening: Opening::Anyone,
    reasoning_kept: ReasoningKept::Loop,
    // "String too long … maximum length 40" on `tool_calls[].id` [BK].
    ids: NameLimits { letters: "_-.:/|+=", longest: 40 },
    older_tools: Some("functions"),
    most_stops: 4,
    members: &words!(
        "role content tool_calls function_call refusal audio reasoning reasoning_content \
         reasoning_details"
    ),
    result_members: &["role", "content", "tool_call_id", "name"],
    results: Results::Apart,
    answer_form: &[&["response_format", "json_schema"]],
    // PROVIDERS.md B.2.4.
    cache_settings: &[
        &["reasoning_effort"],
        &["verbosity"],
        &["service_tier"],
        &["prompt_cache_key"],
    ],
    form: Some("response_format"),
    parameters: &[
        (ParameterKey::Most, "max_completion_tokens"),
        // The older name, which compatibles know.
        (ParameterKey::Most, "max_tokens"),
        (ParameterKey::Temperature, "temperature"),
        (ParameterKey::TopP, "top_p"),
        (ParameterKey::Stop, "stop"),
        (ParameterKey::Seed, "seed"),
        (ParameterKey::Presence, "presence_penalty"),
        (ParameterKey::Frequency, "frequency_penalty"),
        (ParameterKey::Stream, "stream"),
        (ParameterKey::Effort, "reasoning_effort"),
        (ParameterKey::Store, "store"),
        (ParameterKey::Shared("metadata"), "metadata"),
        (ParameterKey::Shared("prompt_cache_key"), "prompt_cache_key"),
        (ParameterKey::Shared("safety_identifier"), "safety_identifier"),
        (ParameterKey::Shared("service_tier"), "service_tier"),
        (ParameterKey::Shared("user"), "user"),
    ],
    evidence: &[
        // Gateways take Claude's name in Chat's form.
        (Body, "response_format", &[], Proof),
        (Body, "stream_options", &[], Proof),
        (Body, "max_completion_tokens", &[], Proof),
        (Body, "frequency_penalty", &[], Hint),
        (Body, "presence_penalty", &[], Hint),
        (Body, "n", &[], Hint),
        (Body, "seed", &[], Hint),
        (Tool, "function", &[], Proof),
        (Entry, "tool_calls", &[], Proof),
        (Entry, "tool_call_id", &[], Proof),
        (Entry, "function_call", &[], Proof),
        (Entry, "role", &["tool", "function"], Proof),
        (Entry, "role", &["developer"], Hint),
        (Block, "type", &["image_url", "input_audio", "file"], Proof),
        (Block, "type", &["refusal"], Hint),
    ],
    ..Terms::COMMON
};
