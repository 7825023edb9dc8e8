//! Histories of Cline, Roo Code and their kin: Anthropic messages with marks of the extension beside them
//! (`api_conversation_history.json`).
//!
//! What was condensed or cut stays in the file, and names the summary or the cut that hides it.

use std::collections::HashSet;
use std::sync::Arc;

use epitome::transcript::Origin;
use epitome::wire::Format;
use epitome::wire::json::unquote;

use crate::body::{Body, moment};
use crate::error::ReadError;
use crate::notes::Notes;
use crate::object::{Object, elements, object};
use crate::reader::{Layout, Reader};
use crate::recording::{Options, Reach, Recording, Why};

const NAME: &str = "roo-code";

/// Names of what hides a message, and of what hides others.
const HIDDEN_BY: [(&str, &str); 2] =
    [("condenseParent", "condenseId"), ("truncationParent", "truncationId")];

/// Members that are the provider's.
const SENT: [&str; 2] = ["role", "content"];

#[derive(Debug)]
pub(crate) struct RooCode;

impl Reader for RooCode {
    fn name(&self) -> &'static str {
        NAME
    }

    fn lacks(&self) -> &'static str {
        "no list of messages with a `role` and a number `ts`"
    }

    fn layout(&self) -> Layout {
        Layout::Value
    }

    fn detects(&self, first: &Object<'_>) -> bool {
        let is_moment = |value: &str| value.bytes().all(|byte| byte.is_ascii_digit());
        first.opens("role", '"')
            && first.has_any(&["content"])
            && first.get("ts").is_some_and(is_moment)
    }

    fn read(&self, source: &Arc<String>, options: Options) -> Result<Recording, ReadError> {
        let text = source.strip_prefix('\u{feff}').unwrap_or(source).trim();
        Object::read(text).map_err(|error| ReadError::json(NAME, text, error))?;
        let rows = elements(text).ok_or(ReadError::Shape { reader: NAME, what: "no list" })?;
        let rows: Vec<Object<'_>> = rows.into_iter().map(Object::of).collect();
        let hiding =
            |id: &str| rows.iter().filter_map(|row| row.literal(id)).collect::<HashSet<_>>();
        let hiding = HIDDEN_BY.map(|(by, id)| (by, hiding(id)));
        let mut body = Body::new(None);
        let mut notes = Notes::default();
        let mut compactions = 0;
        for (at, row) in rows.iter().enumerate() {
            let is_summary = row.holds("isSummary");
            let is_mark = is_summary || row.holds("isTruncationMarker");
            compactions += usize::from(is_mark);
            let is_hidden =
                hiding.iter().any(|(by, ids)| row.literal(by).is_some_and(|id| ids.contains(id)));
            let why = match () {
                () if row.get("role").is_none() => Some(Why::NotARow),
                () if row.get("content").is_none() => Some(Why::NoContent),
                () if is_hidden && options.reach == Reach::SinceLastCompaction => {
                    Some(Why::Condensed)
                }
                () if is_mark && options.reach == Reach::Whole => Some(Why::Condensed),
                () => None,
            };
            if let Some(why) = why {
                notes.skip(at + 1, why);
                continue;
            }
            body.now(moment(row.get("ts")));
            let sent = SENT.iter().filter_map(|name| Some((*name, row.get(name)?.to_owned())));
            body.begin().push_str(&object(sent));
            if is_mark && row.text("role").as_deref() == Some("user") {
                body.spoken_by(Origin::Injected);
            }
        }
        if body.is_empty() {
            let found = rows.first().and_then(|row| row.literal("role")).map(unquote);
            let found = found.map(|role| (role.into_owned(), rows.len()));
            return Err(ReadError::NoMessages { reader: NAME, found: found.into_iter().collect() });
        }
        let recording = Recording::new(NAME, body.finish(NAME, Format::Anthropic)?, notes);
        Ok(Recording { compactions, ..recording })
    }
}
