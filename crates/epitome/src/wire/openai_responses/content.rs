//! A content or an output, and the blocks that it may be a list of.

use crate::json::{self, JsonError, Scanner, Span, unquote};
use crate::transcript::{Marks, PartKind, PartRow};
use crate::wire::flat::{member, value};
use crate::wire::openai_chat::row;

/// A content or an output: a string, a list of blocks, or one block.
#[derive(Default)]
pub(super) struct Content {
    pub(super) span: Span,
    pub(super) blocks: Vec<Block>,
}

/// A block of a message's content or of an output.
#[derive(Default)]
pub(super) struct Block {
    whole: Span,
    kind: Span,
    text: Span,
    refusal: Span,
    image_url: Span,
    file_data: Span,
    file_url: Span,
    file_id: Span,
    audio: Span,
    stdout: Span,
    stderr: Span,
    outcome: Span,
}

impl Content {
    pub(super) fn read(&mut self, scanner: &mut Scanner<'_>) -> Result<(), JsonError> {
        // The last of duplicate keys wins.
        self.blocks.clear();
        self.span = match scanner.peek() {
            Some(b'[') => scanner.array(|scanner| {
                self.blocks.push(Block::read(scanner)?);
                Ok::<_, JsonError>(())
            })?,
            Some(b'{') => {
                let block = Block::read(scanner)?;
                let span = block.whole;
                self.blocks.extend(Some(block).filter(|block| !block.kind.is_empty()));
                span
            }
            _ => member(scanner)?,
        };
        Ok(())
    }

    pub(super) fn is_string(&self, text: &str) -> bool {
        self.span.of(text).starts_with('"')
    }
}

impl Block {
    fn read(scanner: &mut Scanner<'_>) -> Result<Self, JsonError> {
        let mut block = Block::default();
        if scanner.peek() != Some(b'{') {
            block.whole = scanner.value()?;
            return Ok(block);
        }
        let text = scanner.text();
        block.whole = scanner.object(|scanner, key| {
            let slot = match unquote(key.of(text)).as_ref() {
                "type" => &mut block.kind,
                "text" => &mut block.text,
                "refusal" => &mut block.refusal,
                "image_url" => &mut block.image_url,
                "file_data" => &mut block.file_data,
                "file_url" => &mut block.file_url,
                "file_id" => &mut block.file_id,
                "input_audio" => &mut block.audio,
                "stdout" => &mut block.stdout,
                "stderr" => &mut block.stderr,
                "outcome" => &mut block.outcome,
                _ => {
                    scanner.value()?;
                    return Ok(());
                }
            };
            *slot = member(scanner)?;
            Ok::<_, JsonError>(())
        })?;
        Ok(block)
    }

    pub(super) fn part(&self, text: &str) -> PartRow {
        let mut part = row(PartKind::Opaque, self.whole, self.whole);
        part.name = self.kind;
        let is_literal = |span: Span| span.of(text).starts_with('"');
        let payloads = [self.image_url, self.file_data, self.file_url, self.file_id, self.audio];
        let payload = payloads.into_iter().find(|span| !span.is_empty());
        let (kind, body) = match unquote(self.kind.of(text)).as_ref() {
            "refusal" if is_literal(self.refusal) => (PartKind::Text, self.refusal),
            "input_text" | "output_text" | "text" | "summary_text" | "reasoning_text"
                if is_literal(self.text) =>
            {
                (PartKind::Text, self.text)
            }
            "input_image" | "input_file" | "input_audio" | "computer_screenshot" => match payload {
                Some(payload) => (PartKind::Media, payload),
                None => return part,
            },
            _ => return part,
        };
        part.kind = kind;
        part.body = body;
        if is_literal(body) {
            part.marks = Marks::LITERAL;
        }
        part
    }

    /// Whether it says that a shell's command failed or took too long.
    pub(super) fn has_failed(&self, text: &str) -> bool {
        let exit_code = json::member(text, self.outcome, "exit_code");
        let kind = json::member(text, self.outcome, "type");
        exit_code.is_some_and(|code| !matches!(code.of(text), "0" | "null"))
            || kind.is_some_and(|kind| kind.of(text) == "\"timeout\"")
    }

    /// The parts of a block of an output: a piece of a shell's output has two.
    pub(super) fn nested(&self, text: &str) -> Vec<PartRow> {
        let streams = [self.stdout, self.stderr];
        let is_shell = self.kind.is_empty() && streams.iter().any(|span| !span.is_empty());
        if !is_shell {
            return vec![self.part(text)];
        }
        let mut said: Vec<PartRow> = streams
            .into_iter()
            .filter(|span| span.of(text).starts_with('"'))
            .map(|span| value(PartKind::Text, span, text))
            .collect();
        said.sort_by_key(|part| part.span.start);
        said
    }
}
