//! What can be wrong with a transcript: the ways in which pairs, order and content get broken.

use epitome::wire::Format;

use crate::draft::{Block, Draft, Message, Shape};
use crate::script::Spot;
use epitome_bench::dice::Dice;

/// One thing that goes wrong, somewhere.
#[derive(Clone, Debug)]
pub(crate) struct Breach {
    how: How,
    at: Spot,
    to: Spot,
}

#[derive(Clone, Copy, Debug)]
enum How {
    DropResult,
    DropCall,
    RepeatResult,
    RepeatCall,
    MoveResult,
    MoveCall,
    ReuseId,
    ForgetId,
    DropMessage,
    SwapMessages,
    RepeatMessage,
    EmptyText,
    EmptyContent,
    EmptyResultText,
    AssistantFirst,
    SystemSomewhere,
    UnknownRole,
    NotAnObject,
    BadInput,
    LongName,
    TextBeforeResult,
    ResultInAssistant,
    CallInUser,
    NoThinking,
}

const ALL: [How; 24] = [
    How::DropResult,
    How::DropCall,
    How::RepeatResult,
    How::RepeatCall,
    How::MoveResult,
    How::MoveCall,
    How::ReuseId,
    How::ForgetId,
    How::DropMessage,
    How::SwapMessages,
    How::RepeatMessage,
    How::EmptyText,
    How::EmptyContent,
    How::EmptyResultText,
    How::AssistantFirst,
    How::SystemSomewhere,
    How::UnknownRole,
    How::NotAnObject,
    How::BadInput,
    How::LongName,
    How::TextBeforeResult,
    How::ResultInAssistant,
    How::CallInUser,
    How::NoThinking,
];

impl Breach {
    /// The one that these throws choose.
    pub(crate) fn of(dice: &mut Dice) -> Self {
        Breach { how: dice.pick(&ALL), at: Spot::of(dice), to: Spot::of(dice) }
    }
}

/// Where a block is: message and position in it.
type Place = (usize, usize);

/// Does `breach` to `draft`, if there is something to do it to.
pub(crate) fn break_up(draft: &mut Draft, breach: &Breach) {
    let pick = |places: Vec<Place>| (!places.is_empty()).then(|| *breach.at.get(&places));
    let call = || pick(places(draft, is_call));
    let result = || pick(places(draft, is_result));
    let text = || pick(places(draft, |block| matches!(block, Block::Text(_))));
    let len = draft.messages.len();
    let somewhere = breach.to.index(len + 1);
    let message = || (len > 0).then(|| breach.at.index(len));
    match breach.how {
        How::DropResult => drop_block(draft, result()),
        How::DropCall => drop_block(draft, call()),
        How::RepeatResult => repeat(draft, result(), somewhere),
        How::RepeatCall => repeat(draft, call(), somewhere),
        How::MoveResult => {
            let place = result();
            repeat(draft, place, len);
            drop_block(draft, place);
        }
        How::MoveCall => {
            let place = call();
            repeat(draft, place, len);
            drop_block(draft, place);
        }
        How::ReuseId => {
            let ids: Vec<String> = all(draft).filter_map(|block| id_of(block).cloned()).collect();
            if let (Some(place), false) = (call(), ids.is_empty()) {
                let (old, new) = (id_of(at(draft, place)).cloned(), breach.to.get(&ids).clone());
                // The call and its result, so that only the reuse is wrong.
                let named: Vec<Place> = places(draft, |block| id_of(block) == old.as_ref());
                for place in named {
                    set_id(at(draft, place), &new);
                }
            }
        }
        How::ForgetId => {
            if let Some(place) = pick(places(draft, |block| id_of(block).is_some())) {
                set_id(at(draft, place), "");
            }
        }
        How::DropMessage => {
            if let Some(index) = message() {
                draft.messages.remove(index);
            }
        }
        How::SwapMessages => {
            if let Some(index) = message() {
                draft.messages.swap(index, breach.to.index(len));
            }
        }
        How::RepeatMessage => {
            if let Some(index) = message() {
                draft.messages.insert(somewhere, draft.messages[index].clone());
            }
        }
        How::EmptyText => {
            if let Some(place) = text() {
                *at(draft, place) = Block::Text(String::new());
            }
        }
        How::EmptyContent => {
            if let Some(index) = message() {
                let shapes = [Shape::String, Shape::List, Shape::Absent];
                draft.messages[index].shape = *breach.to.get(&shapes);
                draft.messages[index].blocks.clear();
            }
        }
        How::EmptyResultText => {
            // No images in tool messages on OpenAI (PROVIDERS.md B.3).
            let beside = match draft.format {
                Format::OpenaiChat => Block::Text("(end)".to_owned()),
                _ => Block::Image(3, 3),
            };
            if let Some(place) = result()
                && let Block::Result { content, shape, .. } = at(draft, place)
            {
                *content = vec![Block::Text(String::new()), beside];
                *shape = Shape::List;
            }
        }
        How::AssistantFirst => insert(draft, 0, "assistant", Block::Text("Hello!".to_owned())),
        How::SystemSomewhere => insert(draft, somewhere, "system", Block::Text("Obey.".to_owned())),
        How::UnknownRole => {
            if let Some(index) = message() {
                draft.messages[index].role =
                    *breach.to.get(&["tool", "critic", "model", "developer"]);
            }
        }
        How::NotAnObject => {
            let raw = *breach.at.get(&[
                "42",
                "null",
                "[1,[2]]",
                "\"hi\"",
                "{}",
                r#"{"content":"x"}"#,
                r#"{"role":7}"#,
            ]);
            if draft.envelope != epitome::wire::Envelope::Lines {
                insert(draft, somewhere, "", Block::Opaque(raw.to_owned()));
            }
        }
        How::BadInput => {
            if let Some(place) = call()
                && let Block::Call { input, .. } = at(draft, place)
            {
                (*breach.to.get(&["[]", "\"{}\"", "null", "7"])).clone_into(input);
            }
        }
        How::LongName => {
            if let Some(place) = call()
                && let Block::Call { name, .. } = at(draft, place)
            {
                *name = "n".repeat(*breach.to.get(&[0, 201, 500]));
            }
        }
        How::TextBeforeResult => {
            if let Some((index, _)) = result() {
                draft.messages[index].blocks.insert(0, Block::Text("first of all".to_owned()));
            }
        }
        How::ResultInAssistant => {
            if let Some(place) = result() {
                let block = at(draft, place).clone();
                drop_block(draft, Some(place));
                insert(draft, somewhere, "assistant", block);
            }
        }
        How::CallInUser => {
            if let Some(place) = call() {
                let block = at(draft, place).clone();
                drop_block(draft, Some(place));
                insert(draft, somewhere, "user", block);
            }
        }
        How::NoThinking => {
            for message in &mut draft.messages {
                message.blocks.retain(|b| {
                    !matches!(
                        b,
                        Block::Think(_) | Block::Signed(_) | Block::Redacted | Block::Signature(_)
                    )
                });
            }
            draft.messages.retain(|message| !message.blocks.is_empty());
        }
    }
}

fn is_call(block: &Block) -> bool {
    matches!(block, Block::Call { .. })
}

fn is_result(block: &Block) -> bool {
    matches!(block, Block::Result { .. })
}

fn all(draft: &Draft) -> impl Iterator<Item = &Block> {
    draft.messages.iter().flat_map(|message| &message.blocks)
}

fn places(draft: &Draft, is: impl Fn(&Block) -> bool) -> Vec<Place> {
    let mut found = Vec::new();
    for (index, message) in draft.messages.iter().enumerate() {
        let blocks = message.blocks.iter().enumerate();
        found.extend(blocks.filter(|(_, block)| is(block)).map(|(position, _)| (index, position)));
    }
    found
}

fn at(draft: &mut Draft, (index, position): Place) -> &mut Block {
    &mut draft.messages[index].blocks[position]
}

fn id_of(block: &Block) -> Option<&String> {
    match block {
        Block::Call { id, .. } | Block::Result { id, .. } => Some(id),
        _ => None,
    }
}

fn set_id(block: &mut Block, new: &str) {
    if let Block::Call { id, .. } | Block::Result { id, .. } = block {
        new.clone_into(id);
    }
}

/// Removes a block, and its message if nothing else is in it.
fn drop_block(draft: &mut Draft, place: Option<Place>) {
    if let Some((index, position)) = place {
        draft.messages[index].blocks.remove(position);
        if draft.messages[index].blocks.is_empty() {
            draft.messages.remove(index);
        }
    }
}

/// Puts a copy of a block into its own message, or in a message of its own at `to`.
fn repeat(draft: &mut Draft, place: Option<Place>, to: usize) {
    let Some((index, position)) = place else { return };
    let block = draft.messages[index].blocks[position].clone();
    let role = draft.messages[index].role;
    if to.is_multiple_of(2) && role != "tool" {
        draft.messages[index].blocks.insert(position, block);
    } else {
        // Behind the original, so that its place stays what it was.
        insert(draft, to.max(index + 1), role, block);
    }
}

fn insert(draft: &mut Draft, at: usize, role: &'static str, block: Block) {
    let at = at.min(draft.messages.len());
    draft.messages.insert(at, Message { role, blocks: vec![block], shape: Shape::List });
}
