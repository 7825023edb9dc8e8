//! Responses' row: names, limits, what it can say, and what shows that a text is of this format.

use EvidenceKind::{Against, Hint, Proof, Share};
use Place::{Block, Body, Entry, Tool};

use crate::request::Keeper;
use crate::wire::detect::{EvidenceKind, Place};
use crate::wire::{
    Feature, Field, NameLimits, Opening, ParameterKey, ReasoningKept, Results, Terms,
};
use crate::word_list::words;

pub(super) static TERMS: Terms = Terms {
    features: &[
        Feature::BlankInstructions,
        Feature::BlankText,
        Feature::CallsAmongWords,
        Feature::EncryptedReasoning,
        Feature::FlatEntries,
        Feature::ImageDetail,
        Feature::InstructionMessages,
        Feature::KeptItems,
        Feature::NoCalls,
        Feature::OpenaiModels,
        Feature::Refusals,
        Feature::StrictTools,
        Feature::VisibleCompactions,
        Feature::WordTools,
        Feature::TypedMessages,
    ],
    list: "input",
    opening: Opening::Anyone,
    reasoning_kept: ReasoningKept::Loop,
    // "String too long … maximum length 64" on `call_id` [BK].
    ids: NameLimits { letters: "_-.:/|+=", longest: 64 },
    // "integer_below_min_value … >= 16".
    least_limit: 16,
    fields: &[
        ("model", Field::Model),
        ("instructions", Field::System),
        ("tools", Field::Tools),
        ("reasoning", Field::Thinking),
        ("previous_response_id", Field::Elsewhere(Keeper::PreviousResponse)),
        ("conversation", Field::Elsewhere(Keeper::Conversation)),
    ],
    members: &words!(
        "type role id status content call_id name arguments input action actions operation output created_by \
         parsed_arguments internal_chat_message_metadata_passthrough"
    ),
    result_members: &words!(
        "type id status call_id output result created_by internal_chat_message_metadata_passthrough"
    ),
    results: Results::Apart,
    answer_form: &[&["text", "format", "schema"]],
    // PROVIDERS.md B.2.4.
    cache_settings: &[
        &["reasoning", "effort"],
        &["text", "verbosity"],
        &["service_tier"],
        &["prompt_cache_key"],
    ],
    form: Some("text.format"),
    parameters: &[
        (ParameterKey::Most, "max_output_tokens"),
        (ParameterKey::Temperature, "temperature"),
        (ParameterKey::TopP, "top_p"),
        (ParameterKey::Stream, "stream"),
        (ParameterKey::Effort, "reasoning.effort"),
        (ParameterKey::Store, "store"),
        (ParameterKey::Shared("metadata"), "metadata"),
        (ParameterKey::Shared("prompt_cache_key"), "prompt_cache_key"),
        (ParameterKey::Shared("safety_identifier"), "safety_identifier"),
        (ParameterKey::Shared("service_tier"), "service_tier"),
        (ParameterKey::Shared("user"), "user"),
    ],
    evidence: &[
        (Body, "input", &[], Share),
        (Body, "previous_response_id", &[], Proof),
        (Body, "instructions", &[], Hint),
        (Tool, "parameters", &[], Hint),
        (Entry, "call_id", &[], Share),
        (Entry, "type", &["function_call"], Share),
        (
            Entry,
            "type",
            &["reasoning", "item_reference", "compaction", "compaction_trigger"],
            Proof,
        ),
        // Anthropic's answers are of this type too.
        (Entry, "type", &["message"], Hint),
        (Block, "type", &["text"], Against),
        (Entry, "type", &["additional_tools", "configuration_update"], Proof),
        (Block, "type", &["input_text", "output_text", "input_image", "input_file"], Proof),
    ],
    // There are more of them than can be listed.
    item_types: &["_call", "_output", "_list_tools"],
    ..Terms::COMMON
};
