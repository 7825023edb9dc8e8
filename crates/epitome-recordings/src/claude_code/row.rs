//! One row of a session: its fields, and the pieces of its message.

use std::collections::{HashMap, VecDeque};

use epitome::wire::json::{Scanner, Span, member, unquote};

use super::fields::{Block, Content, Fields, Kept, is};
use crate::notes::{About, Notes};
use crate::recording::{Reach, Why};
use crate::rows::{RawRow, rows};
use epitome::word_list::words;

/// More than a person types ahead; keeps the search in the queue short.
const LONGEST_QUEUE: usize = 64;

/// Types of rows that the model sees nothing of.
pub(super) const UNSEEN: [&str; 23] = words!(
    "agent-color agent-name agent-setting ai-title api-request atis-latch attribution-snapshot \
     cost-state custom-title file-history-snapshot last-prompt mode permission-mode pr-link \
     progress result speculation-accept summary system tag task-summary tools-used worktree-state"
);

/// All rows of a file, in order. Ids are JSON literals: they are compared, not shown.
pub(super) struct Rows<'a> {
    pub(super) all: Vec<Row<'a>>,
    blocks: Vec<Block<'a>>,
    pub(super) notes: Notes,
    /// For calls whose results were shortened when they were sent, what was sent. The agent sends
    /// it again when it resumes the session.
    pub(super) replacements: HashMap<&'a str, &'a str>,
    /// Words that wait for the model.
    queue: VecDeque<&'a str>,
    /// Words that were taken up in mid-turn and stand in a row of their own.
    attached: Vec<&'a str>,
    reach: Reach,
}

/// A row that has a place in the conversation.
#[derive(Debug)]
pub(super) struct Row<'a> {
    pub(super) line: usize,
    pub(super) what: What,
    pub(super) uuid: Option<&'a str>,
    pub(super) parent: Option<&'a str>,
    /// For a boundary: the row before it that it cuts off.
    pub(super) logical_parent: Option<&'a str>,
    pub(super) session: Option<&'a str>,
    pub(super) agent: Option<&'a str>,
    /// When it was written, as a literal.
    pub(super) timestamp: Option<&'a str>,
    pub(super) is_sidechain: bool,
    /// Whether it was written when a view was applied.
    pub(super) is_again: bool,
    /// The API message that an assistant row is a piece of.
    pub(super) message_id: Option<&'a str>,
    pub(super) model: Option<&'a str>,
    pub(super) usage: Option<&'a str>,
    pub(super) content: Content<'a>,
    pub(super) kept: Kept<'a>,
}

impl<'a> Row<'a> {
    fn new(line: usize, what: What, content: Content<'a>, fields: Fields<'a>) -> Self {
        let message = fields.message.unwrap_or_default();
        Row {
            line,
            what,
            uuid: fields.uuid,
            parent: fields.parent,
            logical_parent: fields.logical_parent,
            session: fields.session,
            agent: fields.agent.or(fields.task),
            timestamp: fields.timestamp,
            is_sidechain: fields.flags.sidechain || fields.task.is_some(),
            is_again: fields.flags.again,
            message_id: message.id,
            model: message.model,
            usage: message.usage,
            content,
            kept: fields.kept,
        }
    }
}

/// What a row is to the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Said in the user's role; the text shows by whom.
    User,
    /// A person's words, taken up in mid-turn; only the queue's book-keeping holds them.
    Queued,
    /// Put into the user's role by the agent.
    Injected,
    /// The summary that stands for what lies before it.
    Summary,
    /// Said in the assistant's role.
    Assistant,
    /// Written by the agent in the assistant's role.
    Synthetic,
    /// A compaction took place here.
    Boundary,
    /// Nothing that the model sees, but other rows may hang on it.
    Link,
}

impl What {
    pub(super) fn is_message(self) -> bool {
        !matches!(self, What::Boundary | What::Link)
    }

    pub(super) fn is_assistant(self) -> bool {
        matches!(self, What::Assistant | What::Synthetic)
    }
}

impl<'a> Rows<'a> {
    pub(super) fn read(source: &'a str, reach: Reach) -> Self {
        let mut found = Rows {
            all: Vec::new(),
            blocks: Vec::new(),
            notes: Notes::default(),
            replacements: HashMap::new(),
            queue: VecDeque::new(),
            attached: Vec::new(),
            reach,
        };
        for raw in rows(source) {
            found.row(raw);
        }
        found.without_echoes();
        found
    }

    pub(super) fn blocks(&self, row: usize) -> &[Block<'a>] {
        match &self.all[row].content {
            Content::Blocks(range) => &self.blocks[range.clone()],
            Content::Text(_) => &[],
        }
    }

    /// The message of a row, as it stands there.
    pub(super) fn says(&self, row: usize) -> Vec<&'a str> {
        match &self.all[row].content {
            Content::Text(text) => vec![*text],
            Content::Blocks(range) => self.blocks[range.clone()].iter().map(|it| it.raw).collect(),
        }
    }

    /// The text literals of a content.
    fn words(&self, content: Option<&Content<'a>>) -> Vec<&'a str> {
        match content {
            Some(Content::Text(words)) => vec![words],
            Some(Content::Blocks(range)) => {
                let text = |block: &Block<'a>| {
                    let whole = Span::new(0..block.raw.len());
                    member(block.raw, whole, "text").map(|span| span.of(block.raw))
                };
                self.blocks[range.clone()].iter().filter_map(text).collect()
            }
            None => Vec::new(),
        }
    }

    fn row(&mut self, raw: RawRow<'a>) {
        let mut fields = Fields::default();
        let mut scanner = Scanner::new(raw.text);
        let first_block = self.blocks.len();
        let is_object = scanner.peek() == Some(b'{');
        let read = if is_object {
            fields.read(&mut scanner, &mut self.blocks).and_then(|()| scanner.end())
        } else {
            scanner.value().and_then(|_| scanner.end())
        };
        if let Err(error) = read {
            self.blocks.truncate(first_block);
            if let Some(pieces) = raw.pieces() {
                return pieces.into_iter().for_each(|piece| self.row(piece));
            }
            return self.notes.broken(raw, error);
        }
        let Some(kind) = fields.kind else {
            return self.notes.foreign(raw.line);
        };
        let kind = unquote(kind);
        self.notes.count(&kind);
        match kind.as_ref() {
            "user" | "assistant" => self.message(raw.line, fields, first_block),
            "attachment" if is(fields.attachment.kind, "queued_command") => {
                let what = if fields.is_notice() { What::Injected } else { What::User };
                let prompt = fields.attachment.prompt.take();
                self.attached.extend(self.words(prompt.as_ref()));
                self.skip_odd(raw.line, &fields.attachment.odd);
                self.said(raw.line, what, prompt, fields, first_block);
            }
            "queue-operation" => self.queued(raw.line, &fields),
            "system" if is(fields.subtype, "compact_boundary") => {
                self.all.push(Row::new(raw.line, What::Boundary, Content::Text(""), fields));
            }
            "system" if is(fields.subtype, "microcompact_boundary") => {
                self.notes.take(raw.line, About::Cleared);
                self.link(raw.line, fields);
            }
            "attachment" => {
                let kind = fields
                    .attachment
                    .kind
                    .map_or_else(String::new, |kind| unquote(kind).into_owned());
                self.notes.take(raw.line, About::Unworded { kind });
                self.link(raw.line, fields);
            }
            "content-replacement" => self.replacements.extend(fields.replacements),
            kind => {
                if !UNSEEN.contains(&kind) {
                    self.notes.unknown(raw.line, kind);
                }
                self.link(raw.line, fields);
            }
        }
    }

    fn message(&mut self, line: usize, mut fields: Fields<'a>, first_block: usize) {
        let Some(mut message) = fields.message.take() else {
            self.notes.skip(line, Why::NoMessage);
            return self.link(line, fields);
        };
        // It repeats rows before the boundary.
        if fields.flags.again && self.reach == Reach::Whole {
            return self.link(line, fields);
        }
        if fields.flags.api_error {
            self.notes.skip(line, Why::ApiError);
            return self.link(line, fields);
        }
        let is_assistant = match message.role.map(unquote).as_deref() {
            Some("assistant") => true,
            Some("user") => false,
            _ => is(fields.kind, "assistant"),
        };
        let what = match () {
            () if is_assistant && is(message.model, "<synthetic>") => What::Synthetic,
            () if is_assistant => What::Assistant,
            () if fields.flags.summary => What::Summary,
            () if fields.flags.meta || fields.is_notice() => What::Injected,
            () => What::User,
        };
        self.skip_odd(line, &message.odd);
        let content = message.content.take();
        fields.message = Some(message);
        self.said(line, what, content, fields, first_block);
    }

    fn said(
        &mut self,
        line: usize,
        what: What,
        content: Option<Content<'a>>,
        fields: Fields<'a>,
        first_block: usize,
    ) {
        match content {
            Some(Content::Text(text)) => {
                self.all.push(Row::new(line, what, Content::Text(text), fields));
            }
            Some(Content::Blocks(range)) if !range.is_empty() => {
                self.all.push(Row::new(line, what, Content::Blocks(range), fields));
            }
            _ => {
                self.blocks.truncate(first_block);
                self.notes.skip(line, Why::NoContent);
                self.link(line, fields);
            }
        }
    }

    /// Older versions wrote words that were taken up in mid-turn at `enqueue` only; `remove` says
    /// that they were. (`dequeue` makes them a row, `popAll` gives them back to the person.)
    fn queued(&mut self, line: usize, fields: &Fields<'a>) {
        let same =
            fields.queued.and_then(|words| self.queue.iter().position(|other| *other == words));
        match fields.operation.map(unquote).as_deref() {
            Some("enqueue") => {
                if self.queue.len() == LONGEST_QUEUE {
                    self.queue.pop_front();
                }
                self.queue.extend(fields.queued);
            }
            Some("dequeue") => {
                self.queue.remove(same.unwrap_or(0));
            }
            Some("popAll") => self.queue.clear(),
            Some("remove") if fields.reason.is_none_or(|r| unquote(r) == "absorbed_mid_turn") => {
                let queued = self.queue.remove(same.unwrap_or(0));
                if let Some(words) = fields.queued.or(queued) {
                    let Fields { session, timestamp, .. } = *fields;
                    let row = Fields { session, timestamp, ..Fields::default() };
                    self.all.push(Row::new(line, What::Queued, Content::Text(words), row));
                }
            }
            _ => {}
        }
    }

    /// Drops what the queue says again: the newer versions write the words as an attachment too.
    fn without_echoes(&mut self) {
        let mut attached: HashMap<&str, usize> = HashMap::new();
        for words in &self.attached {
            *attached.entry(words).or_default() += 1;
        }
        self.all.retain(|row| match row.content {
            Content::Text(words) if row.what == What::Queued => match attached.get_mut(words) {
                Some(left @ 1..) => {
                    *left -= 1;
                    false
                }
                _ => true,
            },
            _ => true,
        });
    }

    fn link(&mut self, line: usize, fields: Fields<'a>) {
        if fields.uuid.is_some() {
            self.all.push(Row::new(line, What::Link, Content::Text(""), fields));
        }
    }

    fn skip_odd(&mut self, row: usize, positions: &[usize]) {
        for position in positions {
            self.notes.skip(row, Why::NotABlock { position: *position });
        }
    }
}
