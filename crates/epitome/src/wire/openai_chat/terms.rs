//! Chat's row: names, limits, what it can say, and what shows that a text is of this format.

use Place::{Block, Body, Entry, Tool};
use Weight::{Hint, Proof};

use crate::wire::detect::{Place, Weight};
use crate::wire::{Demand, Feature, Key, Opening, ReasoningKept, Results, Terms};

pub(super) static TERMS: Terms = Terms {
    features: &[
        Feature::BlankInstructions,
        Feature::BlankText,
        Feature::CallHoldsFunction,
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
    ids: Demand { letters: "_-.:/|+=", longest: 40 },
    older_tools: Some("functions"),
    most_stops: 4,
    members: &[
        "role",
        "content",
        "tool_calls",
        "function_call",
        "refusal",
        "audio",
        "reasoning",
        "reasoning_content",
        "reasoning_details",
    ],
    result_members: &["role", "content", "tool_call_id", "name"],
    results: Results::Apart,
    parameters: &[
        (Key::Most, "max_completion_tokens"),
        // The older name, which compatibles know.
        (Key::Most, "max_tokens"),
        (Key::Temperature, "temperature"),
        (Key::TopP, "top_p"),
        (Key::Stop, "stop"),
        (Key::Seed, "seed"),
        (Key::Presence, "presence_penalty"),
        (Key::Frequency, "frequency_penalty"),
        (Key::Stream, "stream"),
        (Key::Effort, "reasoning_effort"),
        (Key::Store, "store"),
        (Key::Shared("metadata"), "metadata"),
        (Key::Shared("prompt_cache_key"), "prompt_cache_key"),
        (Key::Shared("safety_identifier"), "safety_identifier"),
        (Key::Shared("service_tier"), "service_tier"),
        (Key::Shared("user"), "user"),
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
