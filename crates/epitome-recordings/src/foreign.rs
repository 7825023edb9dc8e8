//! Formats of others that aren't read, known by a few members, and what can be read instead.

use epitome::text::cut;

/// A format that isn't read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Foreign {
    /// What the input is.
    pub(crate) what: &'static str,
    /// A command, with `FILE` for the input, or what else to do.
    pub(crate) instead: &'static str,
}

/// How much of a text is looked at.
const HEAD: usize = 64 * 1024;

/// What must all stand in a text, white space left out, and what it is then. Within a string its quotes would be
/// escaped, so that these are members.
const SIGNS: [(&[&str], Foreign); 10] = [
    (
        &["\"part_kind\":\"", "\"kind\":\"re"],
        Foreign { what: "a dump of Pydantic AI's messages", instead: BODY },
    ),
    (
        &["\"parts\":[{\"type\":\"", "\"role\":\""],
        Foreign {
            what: "a list of the Vercel AI SDK's UI messages",
            instead: "log what convertToModelMessages and the provider make of it: the request body that is sent",
        },
    ),
    (
        &["\"type\":\"tool-call\"", "\"toolCallId\":\""],
        Foreign { what: "a list of the Vercel AI SDK's model messages", instead: BODY },
    ),
    (
        &["\"conversations\":[{\"from\":\""],
        Foreign { what: "a ShareGPT conversation", instead: CHAT },
    ),
    (
        &["\"lc\":1,", "\"kwargs\":{"],
        Foreign { what: "a dump of LangChain's messages", instead: LANGCHAIN },
    ),
    (
        &["{\"type\":\"human\",\"data\":{\"content\":"],
        Foreign { what: "a dump of LangChain's messages", instead: LANGCHAIN },
    ),
    (
        &["\"custom_id\":\"", "\"body\":{"],
        Foreign {
            what: "a batch of requests, one a line",
            instead: "sed -n 1p FILE | jq .body | epitome stats",
        },
    ),
    (
        &["\"custom_id\":\"", "\"params\":{"],
        Foreign {
            what: "a batch of requests",
            instead: "take one out: jq '(.requests[0] // .).params' FILE | epitome stats",
        },
    ),
    (&["\"mapping\":{", "\"message\":{"], Foreign { what: "an export of ChatGPT", instead: CHAT }),
    (&["\"chat_messages\":["], Foreign { what: "an export of claude.ai", instead: CHAT }),
];

const BODY: &str = "log the request body that is sent to the provider, and read that";
const CHAT: &str = "write it as a list of messages: [{\"role\": \"user\", \"content\": \"…\"}, …]";
const LANGCHAIN: &str = "write what convert_to_openai_messages gives as JSON, and read that";

const TRAJECTORY: Foreign = Foreign {
    what: "a trajectory around plain messages, as mini-swe-agent writes it",
    instead: "jq .messages FILE | epitome stats",
};
const EMBEDDINGS: Foreign = Foreign {
    what: "a request for embeddings",
    instead: "give it a conversation: there is nothing in this one that could be left out",
};
const REQUESTS: Foreign =
    Foreign { what: "several requests, one a line", instead: "sed -n 1p FILE | epitome stats" };

/// What a text is, if it is none of ours.
pub(crate) fn foreign(text: &str) -> Option<Foreign> {
    let head = head(text);
    let has = |signs: &[&str]| signs.iter().all(|sign| head.contains(sign));
    if let Some((_, foreign)) = SIGNS.iter().find(|(signs, _)| has(signs)) {
        return Some(*foreign);
    }
    // A conversation's items have roles or types.
    let has_items = head.contains("\"role\":\"") || head.contains("\"type\":\"");
    let model = head.split_once("\"model\":\"").and_then(|(_, rest)| rest.split('"').next());
    let embeds = model.is_some_and(|model| model.contains("embed"));
    let lists = head.contains("\"input\":[\"");
    if head.starts_with('{') && head.contains("\"input\":") && (embeds || lists) && !has_items {
        return Some(EMBEDDINGS);
    }
    let mut rows = text.lines().map(str::trim).filter(|row| !row.is_empty());
    let is_body = |row: &str| row.starts_with("{\"messages\":") && row.ends_with('}');
    (rows.next().is_some_and(is_body) && rows.next().is_some_and(is_body)).then_some(REQUESTS)
}

/// Whether what has `info` and `messages`, as opencode's sessions do, has plain ones in them.
pub(crate) fn around_messages(text: &str) -> Option<Foreign> {
    head(text).contains("\"messages\":[{\"role\":\"").then_some(TRAJECTORY)
}

/// The first of a text, without its white space.
fn head(text: &str) -> String {
    let head = cut::head(text, HEAD).trim_start_matches('\u{feff}');
    head.chars().filter(|c| !c.is_ascii_whitespace()).collect()
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
            (r#"{"model":"text-embedding-3-small","input":"x"}"#, "a request for embeddings"),
            (r#"{"model":"m","input":["x","y"]}"#, "a request for embeddings"),
            (
                "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}\n{\"messages\":[]}\n",
                "several requests, one a line",
            ),
        ] {
            check(text, Some(what));
        }
    }

    #[test]
    fn a_trajectory_around_plain_messages_is_told() {
        let plain = r#"{"info": {}, "messages": [{"role": "system", "content": "x"}]}"#;
        assert_eq!(around_messages(plain), Some(TRAJECTORY));
        let opencode = r#"{"info":{"id":"s"},"messages":[{"info":{"role":"user"},"parts":[]}]}"#;
        assert_eq!(around_messages(opencode), None);
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
