//! tau-bench runs: OpenAI messages beside a task and a reward, one run or a list of them.

use std::sync::Arc;

use epitome::wire::Format;
use epitome::wire::json::{JsonError, Scanner, Span, unquote};

use crate::body::Body;
use crate::error::ReadError;
use crate::notes::Notes;
use crate::object::Object;
use crate::reader::{Layout, Reader};
use crate::recording::{Options, Recording, Run, Why};

const NAME: &str = "tau-bench";

#[derive(Debug)]
pub(crate) struct TauBench;

impl Reader for TauBench {
    fn name(&self) -> &'static str {
        NAME
    }

    fn lacks(&self) -> &'static str {
        "no object with `messages` (or `traj`) and `reward` or `task_id`"
    }

    fn layout(&self) -> Layout {
        Layout::Value
    }

    fn detects(&self, first: &Object<'_>) -> bool {
        let has_list = first.opens("messages", '[') || first.opens("traj", '[');
        has_list && first.has_any(&["task_id", "reward"])
    }

    fn read(&self, source: &Arc<String>, options: Options) -> Result<Recording, ReadError> {
        let text = source.strip_prefix('\u{feff}').unwrap_or(source);
        let json = |error| ReadError::json(NAME, text, error);
        let mut scanner = Scanner::new(text);
        let mut runs = Vec::new();
        match scanner.peek() {
            Some(b'[') => scanner.array(|scanner| {
                runs.push(messages(scanner)?);
                Ok::<_, JsonError>(())
            }),
            _ => messages(&mut scanner).map(|run| {
                runs.push(run);
                Span::NONE
            }),
        }
        .and_then(|_| scanner.end())
        .map_err(json)?;
        let run = match (options.run, runs.as_slice()) {
            (Run::Only, [run]) => *run,
            (Run::Only, []) => {
                return Err(ReadError::NoMessages { reader: NAME, found: Vec::new() });
            }
            (Run::Only, _) => {
                return Err(ReadError::SeveralRuns { reader: NAME, runs: runs.len() });
            }
            (Run::Nth(nth), runs) => {
                let found = nth.checked_sub(1).and_then(|index| runs.get(index)).copied();
                found.ok_or(ReadError::NoSuchRun { reader: NAME, runs: runs.len(), run: nth })?
            }
        };
        let list = run
            .ok_or(ReadError::Shape { reader: NAME, what: "no list of `messages` (or `traj`)" })?;
        let mut body = Body::new(None);
        let mut notes = Notes::default();
        let mut row = 0;
        let mut scanner = Scanner::starting_at(text, list.start);
        scanner
            .array(|scanner| {
                row += 1;
                let is_object = scanner.peek() == Some(b'{');
                let raw = scanner.value()?.of(text);
                if is_object {
                    body.begin().push_str(raw);
                } else {
                    notes.skip(row, Why::NotARow);
                }
                Ok::<_, JsonError>(())
            })
            .map_err(json)?;
        let request = body.finish(NAME, Format::OpenaiChat)?;
        Ok(Recording::new(NAME, request, notes))
    }
}

/// The run's list of messages, if the value under the cursor has one.
fn messages(scanner: &mut Scanner<'_>) -> Result<Option<Span>, JsonError> {
    let mut list = None;
    let text = scanner.text();
    if scanner.peek() != Some(b'{') {
        scanner.value()?;
        return Ok(None);
    }
    scanner.object(|scanner, key| {
        let is_list = scanner.peek() == Some(b'[');
        let value = scanner.value()?;
        if is_list && matches!(unquote(key.of(text)).as_ref(), "messages" | "traj") {
            list = Some(value);
        }
        Ok::<_, JsonError>(())
    })?;
    Ok(list)
}
