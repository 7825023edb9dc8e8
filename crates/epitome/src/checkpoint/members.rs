//! What an answer in JSON says of a failure, and of what is new in it.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::RangeInclusive;

use serde::de::IgnoredAny;

use super::failure_lines::failure;
use super::target::{MOST_ERROR, one_line, whole_words};
use crate::json::{self, Span, unquote};
use crate::text::salience::{Tell, opens_with_failure, tell};

/// How a call went whose output is too long to be said.
pub(super) const ANSWERED: &str = "answered";
/// Levels of objects and lists that are looked into.
const DEEPEST: usize = 4;
/// Status codes of HTTP that tell of a failure (RFC 9110, sections 15.5 and 15.6).
const HTTP_FAILURES: RangeInclusive<u16> = 400..=599;

/// What an object or list, and what is in it, says by itself.
pub(super) struct Members<'a>(Vec<Member<'a>>);

struct Member<'a> {
    name: Cow<'a, str>,
    value: Cow<'a, str>,
    /// Whether it is of one object among others: what that says needn't be how the call went.
    is_listed: bool,
}

impl<'a> Members<'a> {
    /// Reads a text; `None` where it is no JSON.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        if !text.starts_with(['{', '[']) || serde_json::from_str::<IgnoredAny>(text).is_err() {
            return None;
        }
        let mut all = Members(Vec::new());
        all.add(text, Span::new(0..text.len()), &Around::default());
        Some(all)
    }

    fn add(&mut self, text: &'a str, span: Span, around: &Around<'a>) {
        let is_list = span.of(text).starts_with('[');
        let inside: Vec<(Cow<'a, str>, Span)> = if is_list {
            let elements = json::elements(text, span).unwrap_or_default().into_iter();
            elements.map(|value| (around.name.clone(), value)).collect()
        } else {
            let members = json::members(text, span).unwrap_or_default().into_iter();
            members.map(|(name, value)| (unquote(name.of(text)), value)).collect()
        };
        let is_listed = around.is_listed || is_list;
        for (name, value) in inside {
            let raw = value.of(text);
            if raw.starts_with(['{', '[']) {
                if around.depth < DEEPEST {
                    self.add(text, value, &Around { name, is_listed, depth: around.depth + 1 });
                }
                continue;
            }
            let is_text = raw.starts_with('"');
            let value = if is_text { unquote(raw) } else { Cow::Borrowed(raw) };
            // What an object of errors says is one.
            let name = if is_text && names_failure(&around.name) { &around.name } else { &name };
            if raw != "null" && !value.trim().is_empty() {
                self.0.push(Member { name: name.clone(), value, is_listed });
            }
        }
    }

    /// What they say of a failure: a line that states one, else a flag or a status, with the first words beside it.
    pub(super) fn failure(&self) -> Option<String> {
        let lines: Vec<String> = self.0.iter().filter_map(Member::line).collect();
        let flag = || {
            let is_alone = self.0.len() == 1;
            let is_flag = |member: &&Member<'_>| {
                // `{"deleted": false}` says nothing else.
                member.is_flag() || is_alone && member.value == "false"
            };
            let Member { name, value, .. } = self.0.iter().find(is_flag)?;
            let words =
                self.0.iter().map(|member| &*member.value).find(|value| value.contains(' '));
            let said = format!("{name}={value} {}", words.unwrap_or_default());
            Some(whole_words(said.trim_end(), MOST_ERROR).into_owned())
        };
        failure(&lines.join("\n"), MOST_ERROR).or_else(flag)
    }

    /// Of a long answer the exact strings that it is the first to say: what else it says is a record, more than how a call went.
    pub(super) fn answered(&self, is_new: &dyn Fn(&str) -> bool) -> String {
        let mut out = ANSWERED.to_owned();
        // A list is of what there is.
        let own = self.0.iter().filter(|member| !member.is_listed);
        for Member { name, value, .. } in own.filter(|member| is_new(&member.value)) {
            let gap = if out.len() == ANSWERED.len() { ": " } else { ", " };
            let said = format!("{name}={value}");
            if out.len() + gap.len() + said.len() <= MOST_ERROR {
                let _ = write!(out, "{gap}{}", one_line(&said));
            }
        }
        out
    }
}

/// What is around a member.
#[derive(Default)]
struct Around<'a> {
    name: Cow<'a, str>,
    is_listed: bool,
    depth: usize,
}

impl Member<'_> {
    /// What may state a failure: of several lines each is looked at.
    fn line(&self) -> Option<String> {
        let Member { name, value, is_listed } = self;
        let is_none = matches!(&*value.to_ascii_lowercase(), "false" | "no" | "none" | "null")
            || value.parse() == Ok(0.0);
        // A title may speak of an error.
        let is_stated = names_failure(name) && !is_none || !is_listed && opens_with_failure(value);
        let line = is_stated.then(|| format!("{name}: {value}"));
        line.or_else(|| (!is_listed && value.contains('\n')).then(|| value.to_string()))
    }

    /// Whether it is a flag or a status of a failure.
    fn is_flag(&self) -> bool {
        let Member { name, value, is_listed } = self;
        match &*name.to_ascii_lowercase() {
            "ok" | "success" | "succeeded" => value == "false",
            "iserror" | "is_error" => value == "true",
            "status" | "state" | "result" if !is_listed && names_failure(value) => true,
            "status" | "statuscode" | "status_code" => {
                !is_listed && value.parse().is_ok_and(|code| HTTP_FAILURES.contains(&code))
            }
            _ => false,
        }
    }
}

/// Whether a word is one of failure: `error`, `failed`.
fn names_failure(word: &str) -> bool {
    tell(&format!("{word}:")) == Tell::Failure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_found_wherever_they_stand() {
        let cases = [
            (r#"{"deleted": false}"#, Some("deleted=false")),
            (r#"{"statusCode": 503, "body": "try later"}"#, Some("statusCode=503 try later")),
            (r#"{"status": 404}"#, Some("status=404")),
            (r#"{"status": 200, "deleted": false}"#, None),
            (r#"[{"ok": true}, {"ok": false, "why": "no room"}]"#, Some("ok=false no room")),
            (r#"{"a": {"b": {"success": false}}}"#, Some("success=false")),
            (r#"{"errors": [{"message": "no such field"}]}"#, Some("errors: no such field")),
            (r#"{"errors": ["no such field"]}"#, Some("errors: no such field")),
            (r#"{"data": {"results": [{"id": 1, "error": "gone"}]}}"#, Some("error: gone")),
            (r#"[{"id": 1, "status": "failed"}, {"id": 2, "title": "Error: no host"}]"#, None),
            (r#"{"errors": [], "error": null, "failures": 0}"#, None),
            (r#"{"a":{"b":{"c":{"d":{"e":{"ok":false}}}}}}"#, None),
        ];
        for (text, expected) in cases {
            let members = Members::read(text).expect("JSON");
            assert_eq!(members.failure().as_deref(), expected, "{text}");
        }
        assert!(Members::read("{no").is_none() && Members::read("words").is_none());
    }
}
