//! Which features a draft has.

use std::collections::HashSet;

use epitome::wire::{Envelope, Format};

use crate::draft::{Block, Draft, Message, Model, Shape, Thinking};
use crate::features::{Feature, Features};
use crate::gemini::{self, Spelling};
use crate::prose;
use crate::responses;

/// The features of `draft`; those of its handwriting the pen knows.
pub(crate) fn observe(draft: &Draft) -> Features {
    let mut found = Features::new();
    found.extend(match draft.format {
        Format::Anthropic => Some(Feature::Anthropic),
        Format::Gemini => Some(Feature::Gemini),
        Format::OpenaiResponses => Some(Feature::OpenaiResponses),
        Format::Bedrock => Some(Feature::Bedrock),
        Format::GeminiInteractions => Some(Feature::Interactions),
        Format::OpenaiChat => Some(Feature::OpenaiChat),
        _ => None,
    });
    found.insert(match draft.envelope {
        Envelope::Body => Feature::Body,
        Envelope::Array => Feature::Array,
        Envelope::Lines => Feature::Lines,
    });
    if draft.thinking == Thinking::Manual {
        found.insert(match draft.format {
            Format::Gemini => Feature::DemandedSignatures,
            _ => Feature::ManualThinking,
        });
    }
    if draft.format == Format::OpenaiResponses {
        responses::observe(draft, &mut found);
    }
    if draft.format == Format::Gemini {
        if gemini::is_elsewhere(draft) {
            found.insert(Feature::Elsewhere);
        }
        if draft.messages.iter().any(gemini::is_nameless) {
            found.insert(Feature::NoRole);
        }
        let spoken = draft.messages.iter().filter(|message| !message.blocks.is_empty());
        if spoken.map(Spelling::of).any(|spelling| spelling == Spelling::Snake) {
            found.insert(Feature::SnakeCase);
        }
    }
    if draft.model == Model::Bound && draft.envelope == Envelope::Body {
        found.insert(Feature::BoundModel);
        if draft.thinking == Thinking::Manual {
            found.insert(Feature::BoundByHand);
        }
    }
    let mut ids = HashSet::new();
    let is_seal = |block: &Block| matches!(block, Block::Signature(_));
    for (index, message) in draft.messages.iter().enumerate() {
        let previous = index.checked_sub(1).map(|before| &draft.messages[before]);
        message_features(message, previous, &mut found);
        let pairs = message.blocks.iter().zip(message.blocks.iter().skip(1));
        if pairs.into_iter().any(|(a, b)| matches!(a, Block::Call { .. }) && is_seal(b)) {
            found.insert(Feature::SignedCall);
        }
        for block in &message.blocks {
            block_features(block, &mut found);
            if let Block::Call { id, .. } = block
                && !ids.insert(id)
            {
                found.insert(Feature::ReusedIds);
            }
        }
    }
    if draft.messages.last().is_some_and(Message::calls) {
        found.insert(Feature::DanglingEnd);
    }
    found
}

fn message_features(message: &Message, previous: Option<&Message>, found: &mut Features) {
    let blocks = &message.blocks;
    let count = |is: fn(&Block) -> bool| blocks.iter().filter(|block| is(block)).count();
    let calls = count(|block| matches!(block, Block::Call { .. }));
    if calls > 1 {
        found.insert(Feature::ParallelBatch);
    }
    let is_text = |block: &Block| matches!(block, Block::Text(_) | Block::Cached(_));
    if message.role == "user" && message.results() && blocks.iter().any(is_text) {
        found.insert(Feature::MixedUserEntry);
    }
    if let Some(previous) = previous {
        if previous.role == "assistant" && message.role == "assistant" {
            found.insert(Feature::AssistantRun);
        }
        if previous.role == "user" && previous.results() && message.results() {
            found.insert(Feature::SplitResults);
        }
        let calls = previous.blocks.iter().filter_map(|block| match block {
            Block::Call { id, .. } => Some(id),
            _ => None,
        });
        let first = blocks.iter().find_map(|block| match block {
            Block::Result { id, .. } => Some(id),
            _ => None,
        });
        if first.is_some_and(|first| {
            calls.clone().any(|id| id == first) && calls.clone().next() != Some(first)
        }) {
            found.insert(Feature::ReversedResults);
        }
        if matches!(message.role, "system" | "developer") {
            found.insert(Feature::MiddleSystem);
        }
    }
    if message.role == "assistant" && calls == 0 && message.shape == Shape::Absent {
        found.insert(Feature::NullMember);
    }
    match message.shape {
        Shape::List => found.insert(Feature::ListContent),
        Shape::String if blocks.len() == 1 && is_text(&blocks[0]) => {
            found.insert(Feature::StringContent)
        }
        Shape::String | Shape::Absent => false,
    };
}

fn block_features(block: &Block, found: &mut Features) {
    let mut add = |feature| {
        found.insert(feature);
    };
    match block {
        Block::Text(text) | Block::Cached(text) => {
            if matches!(block, Block::Cached(_)) {
                add(Feature::CacheControl);
            }
            if text.starts_with("<system-reminder>") || text.starts_with("<environment_context>") {
                add(Feature::InjectedText);
            }
            if text.len() > 2000 {
                add(Feature::LongText);
            }
            if prose::ODD.contains(&text.as_str()) {
                add(Feature::OddText);
            }
        }
        Block::Think(_) => add(Feature::PlainReasoning),
        Block::Signed(_) => add(Feature::SignedReasoning),
        Block::Redacted => add(Feature::RedactedReasoning),
        Block::Call { .. } => add(Feature::Batch),
        Block::Result { failed, content, .. } => {
            if *failed {
                add(Feature::ErrorResult);
            }
            if content.iter().any(|b| matches!(b, Block::Image(..) | Block::Document)) {
                add(Feature::MediaInResult);
            }
            if content.iter().all(|b| matches!(b, Block::Text(text) if text.is_empty())) {
                add(Feature::EmptyResult);
            }
            for inner in content.iter().filter(|b| matches!(b, Block::Text(_) | Block::Cached(_))) {
                block_features(inner, found);
            }
        }
        Block::Function { .. } => add(Feature::LegacyFunction),
        Block::FunctionResult { .. } | Block::ServerResult { .. } => {}
        Block::Image(..) | Block::Document => add(Feature::MediaInUser),
        Block::ServerCall { .. } => add(Feature::ServerTool),
        Block::Compaction(_) => add(Feature::Compaction),
        Block::Opaque(_) => add(Feature::OpaquePart),
        Block::Signature(_) | Block::Own(_) => {}
    }
}
