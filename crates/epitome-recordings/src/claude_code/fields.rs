//! The members of a row, as they go by.

use std::ops::Range;

use epitome::wire::json::{JsonError, Scanner, Span, unquote};

use crate::append::MARK;

/// The members of a row that mean something to us. Strings are JSON literals.
#[derive(Default)]
pub(super) struct Fields<'a> {
    pub(super) kind: Option<&'a str>,
    pub(super) subtype: Option<&'a str>,
    pub(super) uuid: Option<&'a str>,
    pub(super) parent: Option<&'a str>,
    pub(super) logical_parent: Option<&'a str>,
    pub(super) session: Option<&'a str>,
    pub(super) agent: Option<&'a str>,
    /// In a stream, the call that a sub-agent works for.
    pub(super) task: Option<&'a str>,
    /// When it was written.
    pub(super) timestamp: Option<&'a str>,
    pub(super) flags: Flags,
    /// Who sent it, where the row says so.
    pub(super) sender: Option<&'a str>,
    pub(super) message: Option<Message<'a>>,
    pub(super) attachment: Attachment<'a>,
    pub(super) operation: Option<&'a str>,
    pub(super) queued: Option<&'a str>,
    pub(super) reason: Option<&'a str>,
    pub(super) kept: Kept<'a>,
    /// Calls whose results the model saw shortened, each with what it saw.
    pub(super) replacements: Vec<(&'a str, &'a str)>,
}

/// A message's content.
#[derive(Clone, Debug)]
pub(super) enum Content<'a> {
    /// A string literal.
    Text(&'a str),
    /// Blocks, as an index range.
    Blocks(Range<usize>),
}

/// What a compaction kept of the rows before it.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept<'a> {
    pub(super) head: Option<&'a str>,
    pub(super) tail: Option<&'a str>,
    /// The row that the kept ones now hang on.
    pub(super) anchor: Option<&'a str>,
    /// All of them by name, where the row says so.
    pub(super) all: Vec<&'a str>,
}

/// An element of a content list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block<'a> {
    pub(super) raw: &'a str,
    pub(super) pairs: Pairs<'a>,
}

/// A block's part in a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pairs<'a> {
    Call(&'a str),
    Result(&'a str),
    Neither,
}

/// The flags of a row that are `true`.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent members of the row")]
pub(super) struct Flags {
    pub(super) sidechain: bool,
    pub(super) meta: bool,
    pub(super) summary: bool,
    pub(super) api_error: bool,
    /// That it was written when a view was applied.
    pub(super) again: bool,
}

/// The API message, or the piece of one, that a row carries.
#[derive(Default)]
pub(super) struct Message<'a> {
    pub(super) role: Option<&'a str>,
    pub(super) id: Option<&'a str>,
    pub(super) model: Option<&'a str>,
    pub(super) content: Option<Content<'a>>,
    /// What the provider reported, as an object.
    pub(super) usage: Option<&'a str>,
    /// Positions of elements that aren't blocks.
    pub(super) odd: Vec<usize>,
}

/// The agent's additions to human words, or in mid-turn the words themselves.
#[derive(Default)]
pub(super) struct Attachment<'a> {
    pub(super) kind: Option<&'a str>,
    pub(super) mode: Option<&'a str>,
    pub(super) prompt: Option<Content<'a>>,
    pub(super) odd: Vec<usize>,
}

impl<'a> Fields<'a> {
    /// Reads the row under the cursor; its blocks are appended to `blocks`.
    pub(super) fn read(
        &mut self,
        scanner: &mut Scanner<'a>,
        blocks: &mut Vec<Block<'a>>,
    ) -> Result<(), JsonError> {
        each(scanner, |scanner, key| {
            match key {
                "type" => self.kind = string(scanner)?,
                "subtype" => self.subtype = string(scanner)?,
                "uuid" => self.uuid = string(scanner)?,
                "parentUuid" => self.parent = string(scanner)?,
                "logicalParentUuid" => self.logical_parent = string(scanner)?,
                "sessionId" | "session_id" => self.session = string(scanner)?,
                "agentId" => self.agent = string(scanner)?,
                "parent_tool_use_id" => self.task = string(scanner)?,
                "timestamp" => self.timestamp = string(scanner)?,
                "isSidechain" => self.flags.sidechain = truth(scanner)?,
                "isMeta" => self.flags.meta = truth(scanner)?,
                "isCompactSummary" => self.flags.summary = truth(scanner)?,
                "isApiErrorMessage" => self.flags.api_error = truth(scanner)?,
                MARK => self.flags.again = string(scanner)?.is_some(),
                "operation" => self.operation = string(scanner)?,
                "content" => self.queued = string(scanner)?,
                "reason" => self.reason = string(scanner)?,
                "origin" => self.sender = sender(scanner)?,
                "message" => self.message = Message::read(scanner, blocks)?,
                "attachment" => {
                    self.attachment = Attachment::read(scanner, blocks, &mut self.sender)?;
                }
                "replacements" if scanner.peek() == Some(b'[') => {
                    scanner.array(|scanner| {
                        self.replacements.extend(replacement(scanner)?);
                        Ok::<_, JsonError>(())
                    })?;
                }
                "compactMetadata" | "compact_metadata" => self.kept = Kept::read(scanner)?,
                _ => {
                    scanner.value()?;
                }
            }
            Ok(())
        })
    }

    /// Whether it comes from the agent's machinery, although it is in the user's role.
    pub(super) fn is_notice(&self) -> bool {
        self.sender.is_some_and(|sender| unquote(sender) != "human")
            || is(self.attachment.mode, "task-notification")
    }
}

impl<'a> Message<'a> {
    /// `None` if there is no object.
    fn read(
        scanner: &mut Scanner<'a>,
        blocks: &mut Vec<Block<'a>>,
    ) -> Result<Option<Self>, JsonError> {
        if scanner.peek() != Some(b'{') {
            scanner.value()?;
            return Ok(None);
        }
        let mut message = Message::default();
        each(scanner, |scanner, key| {
            match key {
                "role" => message.role = string(scanner)?,
                "id" => message.id = string(scanner)?,
                "model" => message.model = string(scanner)?,
                "content" => message.content = content(scanner, blocks, &mut message.odd)?,
                "usage" => message.usage = Some(value(scanner)?),
                _ => {
                    scanner.value()?;
                }
            }
            Ok(())
        })?;
        Ok(Some(message))
    }
}

impl<'a> Attachment<'a> {
    fn read(
        scanner: &mut Scanner<'a>,
        blocks: &mut Vec<Block<'a>>,
        from: &mut Option<&'a str>,
    ) -> Result<Self, JsonError> {
        let mut attachment = Attachment::default();
        if scanner.peek() != Some(b'{') {
            scanner.value()?;
            return Ok(attachment);
        }
        each(scanner, |scanner, key| {
            match key {
                "type" => attachment.kind = string(scanner)?,
                "commandMode" => attachment.mode = string(scanner)?,
                "origin" => *from = sender(scanner)?,
                "prompt" => attachment.prompt = content(scanner, blocks, &mut attachment.odd)?,
                _ => {
                    scanner.value()?;
                }
            }
            Ok(())
        })?;
        Ok(attachment)
    }
}

impl<'a> Kept<'a> {
    fn read(scanner: &mut Scanner<'a>) -> Result<Self, JsonError> {
        let mut kept = Kept::default();
        if scanner.peek() != Some(b'{') {
            scanner.value()?;
            return Ok(kept);
        }
        each(scanner, |scanner, key| match key {
            "preservedSegment" | "preservedMessages" | "preserved_segment"
            | "preserved_messages"
                if scanner.peek() == Some(b'{') =>
            {
                kept.members(scanner)
            }
            _ => scanner.value().map(drop),
        })?;
        Ok(kept)
    }

    fn members(&mut self, scanner: &mut Scanner<'a>) -> Result<(), JsonError> {
        each(scanner, |scanner, key| {
            match key {
                "headUuid" | "head_uuid" => self.head = string(scanner)?,
                "tailUuid" | "tail_uuid" => self.tail = string(scanner)?,
                "anchorUuid" | "anchor_uuid" => self.anchor = string(scanner)?,
                "uuids" if scanner.peek() == Some(b'[') => {
                    self.all.clear();
                    scanner.array(|scanner| {
                        self.all.extend(string(scanner)?);
                        Ok::<_, JsonError>(())
                    })?;
                }
                _ => {
                    scanner.value()?;
                }
            }
            Ok(())
        })
    }
}

/// Whether the literal is the string `name`.
pub(super) fn is(literal: Option<&str>, name: &str) -> bool {
    literal.is_some_and(|literal| unquote(literal) == name)
}

/// Walks an object by the names of its members.
fn each<'a>(
    scanner: &mut Scanner<'a>,
    mut member: impl FnMut(&mut Scanner<'a>, &str) -> Result<(), JsonError>,
) -> Result<(), JsonError> {
    let text = scanner.text();
    scanner.object(|scanner, key| member(scanner, &unquote(key.of(text))))?;
    Ok(())
}

/// A string as a literal; `None` for any other value.
fn string<'a>(scanner: &mut Scanner<'a>) -> Result<Option<&'a str>, JsonError> {
    let raw = value(scanner)?;
    Ok(raw.starts_with('"').then_some(raw))
}

fn truth(scanner: &mut Scanner<'_>) -> Result<bool, JsonError> {
    Ok(value(scanner)? == "true")
}

fn value<'a>(scanner: &mut Scanner<'a>) -> Result<&'a str, JsonError> {
    Ok(scanner.value()?.of(scanner.text()))
}

/// The `kind` of an `origin`.
fn sender<'a>(scanner: &mut Scanner<'a>) -> Result<Option<&'a str>, JsonError> {
    let mut kind = None;
    if scanner.peek() != Some(b'{') {
        scanner.value()?;
        return Ok(kind);
    }
    each(scanner, |scanner, key| {
        if key == "kind" {
            kind = string(scanner)?;
        } else {
            scanner.value()?;
        }
        Ok(())
    })?;
    Ok(kind)
}

/// A call's id and the text that stands in for its result, as literals.
fn replacement<'a>(scanner: &mut Scanner<'a>) -> Result<Option<(&'a str, &'a str)>, JsonError> {
    if scanner.peek() != Some(b'{') {
        scanner.value()?;
        return Ok(None);
    }
    let (mut id, mut text) = (None, None);
    each(scanner, |scanner, key| {
        match key {
            "toolUseId" | "tool_use_id" => id = string(scanner)?,
            "replacement" => text = string(scanner)?,
            _ => {
                scanner.value()?;
            }
        }
        Ok(())
    })?;
    Ok(id.zip(text))
}

/// A content: a string, or a list of blocks. `None` for anything else.
fn content<'a>(
    scanner: &mut Scanner<'a>,
    blocks: &mut Vec<Block<'a>>,
    odd: &mut Vec<usize>,
) -> Result<Option<Content<'a>>, JsonError> {
    if scanner.peek() != Some(b'[') {
        return Ok(string(scanner)?.map(Content::Text));
    }
    odd.clear();
    let first = blocks.len();
    let mut position = 0;
    scanner.array(|scanner| {
        position += 1;
        match block(scanner)? {
            Some(block) => blocks.push(block),
            None => odd.push(position),
        }
        Ok::<_, JsonError>(())
    })?;
    Ok(Some(Content::Blocks(first..blocks.len())))
}

/// `None` if it isn't an object with a `type`.
fn block<'a>(scanner: &mut Scanner<'a>) -> Result<Option<Block<'a>>, JsonError> {
    if scanner.peek() != Some(b'{') {
        scanner.value()?;
        return Ok(None);
    }
    let (mut kind, mut id, mut answers) = (None, None, None);
    let text = scanner.text();
    let span: Span = scanner.object(|scanner, key| {
        match unquote(key.of(text)).as_ref() {
            "type" => kind = string(scanner)?,
            "id" => id = string(scanner)?,
            "tool_use_id" => answers = string(scanner)?,
            _ => {
                scanner.value()?;
            }
        }
        Ok::<_, JsonError>(())
    })?;
    let Some(kind) = kind else { return Ok(None) };
    let pairs = match (unquote(kind).as_ref(), id, answers) {
        ("tool_use", Some(id), _) => Pairs::Call(id),
        ("tool_result", _, Some(id)) => Pairs::Result(id),
        _ => Pairs::Neither,
    };
    Ok(Some(Block { raw: span.of(text), pairs }))
}
