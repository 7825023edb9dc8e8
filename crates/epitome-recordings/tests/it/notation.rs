//! Claude Code rows in short, and what was read of them.
//!
//! A row is `id parent verb rest`; `-` is a null parent, `.` leaves the member out.
//!
//! ```text
//! u1 -  human Fix it.            p1 a3 human Go on. @other      (of another session)
//! a1 u1 text:m1 On it.           s1 -  human Look. +agent       (of a sub-agent)
//! a2 a1 call:m1 c1               b1 -  boundary a3 head..tail@anchor
//! r1 a2 result c1 done           x1 a1 link
//! k1 r1 command fix the build    w1 r1 attached todo
//! ```

use epitome::Request;
use epitome::transcript::{Marks, Part, PartKind};
use epitome_recordings::Skipped;

use serde_json::{Value, json};

/// Rows as a file.
pub(crate) fn file(rows: &[&str]) -> String {
    rows.iter().map(|row| row_of(row).to_string() + "\n").collect()
}

fn row_of(short: &str) -> Value {
    let mut words: Vec<&str> = short.split_whitespace().collect();
    let mut row = json!({ "sessionId": "session" });
    while let Some(last) = words.last().copied() {
        if let Some(session) = last.strip_prefix('@') {
            row["sessionId"] = json!(session);
        } else if let Some(agent) = last.strip_prefix('+') {
            row["isSidechain"] = json!(true);
            if agent != "nameless" {
                row["agentId"] = json!(agent);
            }
        } else {
            break;
        }
        words.pop();
    }
    let [id, parent, verb, rest @ ..] = words.as_slice() else {
        panic!("a row is short of words: {short}")
    };
    if *id != "." {
        row["uuid"] = json!(id);
    }
    match *parent {
        "." => {}
        "-" => row["parentUuid"] = Value::Null,
        parent => row["parentUuid"] = json!(parent),
    }
    let text = rest.join(" ");
    let said = |role: &str, content: Value| json!({ "role": role, "content": content });
    let (verb, message) = verb.split_once(':').unwrap_or((verb, ""));
    let block = match (verb, rest) {
        ("text", _) => Some(json!({ "type": "text", "text": text })),
        ("thinking", _) => {
            Some(json!({ "type": "thinking", "thinking": text, "signature": "sig" }))
        }
        ("call", [id, ..]) => {
            Some(json!({ "type": "tool_use", "id": id, "name": "run", "input": {} }))
        }
        _ => None,
    };
    if let Some(block) = block {
        row["type"] = json!("assistant");
        row["message"] = said("assistant", json!([block]));
        if !message.is_empty() {
            row["message"]["id"] = json!(message);
        }
        return row;
    }
    match (verb, rest) {
        ("result", [id, ..]) => {
            let content = rest[1..].join(" ");
            let block = json!({ "type": "tool_result", "tool_use_id": id, "content": content });
            row["type"] = json!("user");
            row["message"] = said("user", json!([block]));
        }
        ("error", _) => {
            row["type"] = json!("assistant");
            row["isApiErrorMessage"] = json!(true);
            row["message"] = said("assistant", json!([{ "type": "text", "text": text }]));
            row["message"]["model"] = json!("<synthetic>");
        }
        ("boundary", _) => {
            row["type"] = json!("system");
            row["subtype"] = json!("compact_boundary");
            for word in rest {
                match word
                    .split_once("..")
                    .and_then(|(head, rest)| Some((head, rest.split_once('@')?)))
                {
                    Some((head, (tail, anchor))) => {
                        row["compactMetadata"] = json!({ "preservedSegment": {
                            "headUuid": head, "tailUuid": tail, "anchorUuid": anchor } });
                    }
                    None => row["logicalParentUuid"] = json!(word),
                }
            }
        }
        ("link", _) => row["type"] = json!("progress"),
        ("shortened", [id, ..]) => {
            row["type"] = json!("content-replacement");
            let replacement = rest[1..].join(" ");
            row["replacements"] =
                json!([{ "kind": "tool-result", "toolUseId": id, "replacement": replacement }]);
        }
        ("attached", [kind]) => {
            row["type"] = json!("attachment");
            row["attachment"] = json!({ "type": kind, "itemCount": 3 });
        }
        ("other", [kind]) => row["type"] = json!(kind),
        ("queued", _) => {
            row["type"] = json!("attachment");
            row["attachment"] =
                json!({ "type": "queued_command", "commandMode": "prompt", "prompt": text });
        }
        ("queue", [operation, ..]) => {
            row["type"] = json!("queue-operation");
            row["operation"] = json!(operation);
            if rest.len() > 1 {
                row["content"] = json!(rest[1..].join(" "));
            }
        }
        _ => {
            row["type"] = json!("user");
            let text = match (verb, rest) {
                ("command", [name, args @ ..]) => format!(
                    "<command-name>/{name}</command-name>\n            <command-message>{name}</command-message>\n            \
                     <command-args>{}</command-args>",
                    args.join(" ")
                ),
                ("printed", _) => format!("<local-command-stdout>{text}</local-command-stdout>"),
                ("caveat", _) => format!("<local-command-caveat>{text}</local-command-caveat>"),
                _ => text,
            };
            row["message"] = said("user", json!(text));
            match verb {
                "command" | "printed" | "caveat" => {}
                "human" => {}
                "meta" => row["isMeta"] = json!(true),
                "summary" => row["isCompactSummary"] = json!(true),
                _ => panic!("no such verb: {short}"),
            }
        }
    }
    row
}

/// What was read: a line for each entry.
pub(crate) fn shown(request: &Request) -> Vec<String> {
    let entries = request.transcript.entries();
    entries
        .map(|entry| {
            let parts = entry.parts().filter(|part| !part.is(Marks::NESTED)).map(|part| of(&part));
            let parts: Vec<String> = parts.collect();
            let origin = format!("{:?}", entry.origin()).to_lowercase();
            format!("{origin}: {}", parts.join(" | "))
        })
        .collect()
}

pub(crate) fn of(part: &Part<'_>) -> String {
    match part.kind() {
        PartKind::Call => format!("call {}", part.id()),
        PartKind::Result => format!("{} = {}", part.id(), part.text()),
        _ => part.text().into_owned(),
    }
}

pub(crate) fn left_out(skipped: &[Skipped]) -> Vec<(usize, String)> {
    skipped.iter().map(|skipped| (skipped.row, skipped.why.to_string())).collect()
}
