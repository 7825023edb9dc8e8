//! SWE-agent trajectories: `history` is nearly a list of OpenAI messages.
//!
//! Members that only SWE-agent knows are dropped (`thought` and `action` repeat the content). A
//! message answers one call, so of `tool_call_ids` the first is the message's. Without tool calls an
//! observation comes in the user's role, right after the action; its origin is the tool.

use std::sync::Arc;

use epitome::transcript::Origin;
use epitome::wire::Format;
use epitome::wire::json::{JsonError, Scanner, Span, unquote};

use crate::body::Body;
use crate::error::ReadError;
use crate::notes::Notes;
use crate::object::Object;
use crate::reader::{Layout, Reader};
use crate::recording::{Options, Recording, Why};

const NAME: &str = "swe-agent";

#[derive(Debug)]
pub(crate) struct SweAgent;

impl Reader for SweAgent {
    fn name(&self) -> &'static str {
        NAME
    }

    fn lacks(&self) -> &'static str {
        "no object with `history` and `trajectory`, `environment` or `info`"
    }

    fn layout(&self) -> Layout {
        Layout::Value
    }

    fn detects(&self, first: &Object<'_>) -> bool {
        first.opens("history", '[')
            && (first.opens("trajectory", '[') || first.has_any(&["environment", "info"]))
    }

    fn read(&self, source: &Arc<String>, _options: Options) -> Result<Recording, ReadError> {
        let text = source.strip_prefix('\u{feff}').unwrap_or(source);
        let json = |error| ReadError::json(NAME, text, error);
        let mut scanner = Scanner::new(text);
        if scanner.peek() != Some(b'{') {
            return Err(ReadError::Shape { reader: NAME, what: "not an object" });
        }
        let mut history = None;
        scanner
            .object(|scanner, key| {
                let is_list = scanner.peek() == Some(b'[');
                let value = scanner.value()?;
                if is_list && unquote(key.of(text)) == "history" {
                    history = Some(value);
                }
                Ok::<_, JsonError>(())
            })
            .and_then(|_| scanner.end())
            .map_err(json)?;
        let list: Span =
            history.ok_or(ReadError::Shape { reader: NAME, what: "no list called `history`" })?;
        let mut history =
            History { body: Body::new(None), notes: Notes::default(), row: 0, stage: Stage::Start };
        let mut scanner = Scanner::starting_at(text, list.start);
        scanner.array(|scanner| history.message(scanner)).map_err(json)?;
        let request = history.body.finish(NAME, Format::OpenaiChat)?;
        Ok(Recording::new(NAME, request, history.notes))
    }
}

struct History {
    body: Body,
    notes: Notes,
    row: usize,
    stage: Stage,
}

/// What may come next in the user's role.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The task, which newer versions call an observation as well.
    Start,
    /// Something that a person or the agent says.
    Told,
    /// What the action brought.
    Acted,
}

/// A message's members; those without a name of their own are of no use to a model.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent members of the message")]
struct Message<'a> {
    role: Option<&'a str>,
    /// `role`, `content`, `tool_calls` and what else chat knows, as they stand.
    chat: Vec<&'a str>,
    has_content: bool,
    answers: Option<&'a str>,
    has_answers: bool,
    is_demo: bool,
    is_observation: bool,
}

impl History {
    fn message(&mut self, scanner: &mut Scanner<'_>) -> Result<(), JsonError> {
        self.row += 1;
        let row = self.row;
        let mut skip = |why| self.notes.skip(row, why);
        if scanner.peek() != Some(b'{') {
            scanner.value()?;
            skip(Why::NotARow);
            return Ok(());
        }
        let message = Message::read(scanner)?;
        let Some(role) = message.role else {
            skip(Why::NotARow);
            return Ok(());
        };
        if !message.has_content {
            skip(Why::NoContent);
            return Ok(());
        }
        let text = self.body.begin();
        text.push('{');
        text.push_str(&message.chat.join(","));
        if let (Some(id), false) = (message.answers, message.has_answers) {
            text.push_str(",\"tool_call_id\":");
            text.push_str(id);
        }
        text.push('}');
        let role = unquote(role);
        if message.is_demo {
            self.body.spoken_by(Origin::Injected);
            return Ok(());
        }
        match (role.as_ref(), self.stage) {
            ("user", Stage::Start) => self.stage = Stage::Told,
            ("user", stage) if stage == Stage::Acted || message.is_observation => {
                self.body.spoken_by(Origin::Tool);
                self.stage = Stage::Told;
            }
            ("assistant", _) => self.stage = Stage::Acted,
            _ => {}
        }
        Ok(())
    }
}

impl<'a> Message<'a> {
    fn read(scanner: &mut Scanner<'a>) -> Result<Self, JsonError> {
        let text = scanner.text();
        let mut message = Message::default();
        scanner.object(|scanner, key| {
            let name = unquote(key.of(text));
            let is_list = scanner.peek() == Some(b'[');
            let value = if name == "tool_call_ids" && is_list {
                scanner.array(|scanner| {
                    let id = scanner.value()?.of(text);
                    message.answers.get_or_insert(id);
                    Ok::<_, JsonError>(())
                })?
            } else {
                scanner.value()?
            };
            let raw = value.of(text);
            match name.as_ref() {
                "role" => message.role = raw.starts_with('"').then_some(raw),
                "content" => message.has_content = true,
                "tool_calls" if is_list => message.has_content = true,
                "tool_call_id" => message.has_answers = true,
                "name" | "reasoning_content" | "refusal" => {}
                "is_demo" => {
                    message.is_demo = raw == "true";
                    return Ok(());
                }
                "message_type" => {
                    message.is_observation = unquote(raw) == "observation";
                    return Ok(());
                }
                _ => return Ok(()),
            }
            message.chat.push(&text[key.start as usize..value.end as usize]);
            Ok(())
        })?;
        Ok(message)
    }
}
