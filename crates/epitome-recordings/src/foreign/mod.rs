//! Formats of others that aren't read, known by their members, and what can be read instead. All that is known of them is
//! in the [table](formats::FORMATS).

mod formats;

use crate::object::{Object, start_of_list};
use crate::rows::{RawRow, rows};
use Mark::{Among, Any, Begins, Ends, Has, Inside, Is, Key, Lacks, Within};
use Place::{Body, Message, Row};
use formats::{FORMATS, NEXT};

/// A format that isn't read.
#[derive(Debug)]
pub(crate) struct Foreign {
    /// What the input is.
    pub(crate) what: &'static str,
    /// A command, with `FILE` for the input, or what else to do.
    pub(crate) instead: &'static str,
    /// Where its marks stand.
    place: Place,
    /// Sets of marks, each of which is enough.
    marks: &'static [&'static [Mark]],
}

/// Where marks stand: tool schemas and message texts may look like anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In a row, an element of a list, or a value that has no list of messages.
    Row,
    /// In a value that has a list of messages.
    Body,
    /// In a message of such a list, or of one that stands alone.
    Message,
}

/// What an object must have.
#[derive(Clone, Copy, Debug)]
enum Mark {
    /// A member whose value begins so: `"`, `[`, `{`.
    Has(&'static str, char),
    /// A member, even if it is null.
    Any(&'static str),
    /// No member called so.
    Lacks(&'static str),
    /// A string that is one of these.
    Is(&'static str, &'static [&'static str]),
    /// A string that begins with one of these.
    Begins(&'static str, &'static [&'static str]),
    /// A string that ends with one of these.
    Ends(&'static str, &'static [&'static str]),
    /// An object that has all this.
    Within(&'static str, &'static [Mark]),
    /// A list with such an object near its start.
    Among(&'static str, &'static [Mark]),
    /// An object one of whose values is such an object.
    Inside(&'static str, &'static [Mark]),
    /// An object with a key that begins so.
    Key(&'static str, &'static str),
}

const EMBEDDINGS: Foreign = Foreign {
    what: "a request for embeddings",
    instead: "give it a conversation: there is nothing in this one that could be left out",
    place: Row,
    marks: &[],
};
const REQUESTS: Foreign = Foreign {
    what: "several requests, one a line",
    instead: "sed -n 1p FILE | epitome stats",
    place: Row,
    marks: &[],
};

const EVENTS: Foreign = Foreign {
    what: "a provider's reply as a stream of events",
    instead: NEXT,
    place: Row,
    marks: &[],
};

/// How many rows of a text, and elements of a list, are looked at.
const MOST: usize = 32;

/// What a text is, if it is none of ours.
pub(crate) fn foreign(text: &str) -> Option<&'static Foreign> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if ["event:", "data:"].iter().any(|field| text.starts_with(field)) {
        return Some(&EVENTS);
    }
    if text.starts_with('[') {
        return start_of_list(text, MOST).iter().find_map(item);
    }
    let rows: Vec<RawRow<'_>> = rows(text).take(MOST).collect();
    let on_lines = rows.len() > 1 && rows[0].line != rows[1].line;
    let is_body = |row: &RawRow<'_>| {
        let row = Object::of(row.text);
        let has_list = ["messages", "contents", "input"].iter().any(|list| row.opens(list, '['));
        has_list && !row.has_any(&["output"])
    };
    let are_bodies = on_lines && rows[..2].iter().all(is_body);
    let rows: Vec<Object<'_>> = rows.iter().map(|row| Object::start(row.text)).collect();
    if let [one] = &rows[..]
        && is_for_embeddings(one)
    {
        return Some(&EMBEDDINGS);
    }
    rows.iter().find_map(item).or(are_bodies.then_some(&REQUESTS))
}

/// What a whole value, a row, or an element of a list of such is.
fn item(object: &Object<'_>) -> Option<&'static Foreign> {
    let lists = ["messages", "contents", "input"];
    let Some(list) = lists.into_iter().find(|list| object.opens(list, '[')) else {
        return told(object, &[Row, Message]);
    };
    let within = || object.start_of_list(list, MOST).iter().find_map(|one| told(one, &[Message]));
    told(object, &[Body]).or_else(within)
}

/// The first format that has its marks in an object, which stands at these places.
fn told(object: &Object<'_>, places: &[Place]) -> Option<&'static Foreign> {
    let mut formats = FORMATS.iter().filter(|format| places.contains(&format.place));
    formats.find(|format| format.marks.iter().any(|marks| has(object, marks)))
}

fn has(object: &Object<'_>, marks: &[Mark]) -> bool {
    marks.iter().all(|mark| mark.is_in(object))
}

impl Mark {
    fn is_in(&self, object: &Object<'_>) -> bool {
        let word =
            |name, is: &dyn Fn(&str) -> bool| object.text(name).is_some_and(|word| is(&word));
        match *self {
            Has(name, opening) => object.opens(name, opening),
            Any(name) => object.has_any(&[name]),
            Lacks(name) => !object.has_any(&[name]),
            Is(name, words) => word(name, &|word| words.contains(&word)),
            Begins(name, words) => {
                word(name, &|word| words.iter().any(|begin| word.starts_with(begin)))
            }
            Ends(name, words) => word(name, &|word| words.iter().any(|end| word.ends_with(end))),
            Within(name, marks) => object.opens(name, '{') && has(&object.object(name), marks),
            Among(name, marks) => {
                object.start_of_list(name, MOST).iter().any(|one| has(one, marks))
            }
            Inside(name, marks) => {
                let object = object.object(name);
                object.members().take(MOST).any(|(_, value)| has(&Object::of(value), marks))
            }
            Key(name, begin) => {
                object.object(name).members().any(|(key, _)| key.starts_with(begin))
            }
        }
    }
}

fn is_for_embeddings(object: &Object<'_>) -> bool {
    let Some(input) = object.get("input") else { return false };
    let first = input.strip_prefix('[').map(str::trim_start);
    match first {
        Some(first) if first.starts_with('"') => true,
        Some(first) if first.starts_with('{') => false,
        _ => {
            object.text("model").is_some_and(|model| model.contains("embed"))
                && object.get("tools").is_none()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, what: Option<&str>) {
        assert_eq!(foreign(text).map(|foreign| foreign.what), what, "{text}");
    }

    #[test]
    fn formats_of_others_show_in_their_members() {
        for (text, what) in [
            (
                r#"[{"parts": [{"content": "x", "part_kind": "user-prompt"}], "kind": "request"}]"#,
                "a dump of Pydantic AI's messages",
            ),
            (
                r#"{"id":"chat","messages":[{"id":"m","role":"user","parts":[{"type":"text","text":"x"}]}]}"#,
                "a list of the Vercel AI SDK's UI messages",
            ),
            (
                r#"[{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c","toolName":"f","input":{}}]}]"#,
                "a list of the Vercel AI SDK's model messages",
            ),
            (
                r#"[{"id":"x","conversations":[{"from":"human","value":"x"}]}]"#,
                "a ShareGPT conversation",
            ),
            (
                r#"[{"lc":1,"type":"constructor","id":[],"kwargs":{"content":"hi"}}]"#,
                "a dump of LangChain's messages",
            ),
            (
                r#"{"custom_id":"r","method":"POST","body":{"messages":[]}}"#,
                "a batch of requests, one a line",
            ),
            (r#"{"requests":[{"custom_id":"r","params":{"messages":[]}}]}"#, "a batch of requests"),
            (
                r#"[{"title":"t","mapping":{"root":{"message":null},"a":{"message":{"content":{}}}}}]"#,
                "an export of ChatGPT",
            ),
            (r#"[{"uuid":"u","chat_messages":[{"text":"x"}]}]"#, "an export of claude.ai"),
            (r#"[{"type":"human","data":{"content":"x"}}]"#, "a dump of LangChain's messages"),
            (r#"[{"type":"human","content":"x"}]"#, "a dump of LangChain's messages"),
            (
                r#"[{"from":"human","value":"x"},{"from":"gpt","value":"y"}]"#,
                "a ShareGPT conversation",
            ),
            (
                r#"{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"","toolInvocations":[{"state":"result","toolCallId":"c","toolName":"f","args":{},"result":"y"}]}]}"#,
                "a list of the Vercel AI SDK's UI messages",
            ),
            (
                r#"{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"x"}],"stop_reason":"end_turn"}"#,
                "a provider's reply",
            ),
            (
                r#"{"info": {}, "messages": [{"role": "system", "content": "x"}]}"#,
                "a trajectory around plain messages, as mini-swe-agent writes it",
            ),
            (
                r#"{"model":"m","input":[{"role":"user","content":"q"},{"role":"model","content":"a"}]}"#,
                "a history of Gemini's Interactions in turns, as they were before June 2026",
            ),
            (r#"{"model":"text-embedding-3-small","input":"x"}"#, "a request for embeddings"),
            (r#"{"model":"m","input":["x","y"]}"#, "a request for embeddings"),
            (
                "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}\n{\"messages\":[]}\n",
                "several requests, one a line",
            ),
            (
                "{\"model\":\"m\",\"messages\":[]}\n{\"model\":\"m\",\"messages\":[]}\n",
                "several requests, one a line",
            ),
        ] {
            check(text, Some(what));
        }
    }

    /// Tool schemas, arguments and frame members are exempt.
    #[test]
    fn members_of_others_within_a_request_tell_nothing() {
        let within = [
            r#"{"mapping":{"a":{"message":{}}},"message":{}}"#,
            r#"{"custom_id":"r","params":{},"body":{}}"#,
            r#"{"requests":[{"custom_id":"r","params":{}}]}"#,
            r#"{"chat_messages":[]}"#,
            r#"{"conversations":[{"from":"human"}]}"#,
            r#"{"lc":1,"kwargs":{}}"#,
            r#"{"type":"human","data":{"content":"x"}}"#,
            r#"{"parts":[{"type":"x","part_kind":"user-prompt"}],"kind":"request","role":"x"}"#,
            r#"{"role":"x","content":[{"type":"tool-call","toolCallId":"c"}]}"#,
            r#"{"input":["x","y"],"model":"text-embedding-3-small"}"#,
        ];
        for within in within {
            check(
                &format!(
                    r#"{{"messages":[{{"role":"user","content":"x"}}],"metadata":{within},"tools":[{{"input_schema":{{"properties":{within}}}}}]}}"#
                ),
                None,
            );
            check(
                &format!(
                    r#"{{"messages":[{{"role":"assistant","content":[{{"type":"tool_use","id":"c","name":"f","input":{within}}}]}}]}}"#
                ),
                None,
            );
            check(
                &format!(
                    r#"{{"input":[{{"type":"message","role":"user","content":"x"}}],"metadata":{within}}}"#
                ),
                None,
            );
            check(
                &format!(
                    r#"{{"contents":[{{"role":"model","parts":[{{"functionCall":{{"name":"f","args":{within}}}}}]}}]}}"#
                ),
                None,
            );
        }
    }

    #[test]
    fn requests_are_not_foreign() {
        for text in [
            r#"{"messages":[{"role":"user","content":"{\"part_kind\":\"x\",\"kind\":\"request\"}"}]}"#,
            r#"{"contents":[{"role":"user","parts":[{"text":"x"}]}],"tools":[{"functionDeclarations":[{"parameters":{"type":"OBJECT"}}]}]}"#,
            r#"{"model":"gpt-5","input":"Which embeddings are best?"}"#,
            r#"{"model":"m","input":[{"role":"user","content":"x"}]}"#,
            "{\"role\":\"user\",\"content\":\"x\"}\n{\"role\":\"assistant\",\"content\":\"y\"}",
        ] {
            check(text, None);
        }
    }
}
