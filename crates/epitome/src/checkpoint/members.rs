//! Failures and new values in an answer in JSON.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::RangeInclusive;

use serde::de::IgnoredAny;

use super::failure_lines::{Echo, EchoKind, MOST_SEEN, first, states_newly};
use super::target::{MOST_ERROR, MOST_RESULT, is_target, one_line, whole_words};
use super::told_kinds::told;
use crate::json::{self, Span, unquote};
use crate::text::cut;
use crate::text::kinds::{Cell, Row, are_most_alike, kinds};
use crate::text::salience::{Tell, opens_with_failure, tell};
use crate::text::secrets::masked;
use crate::tool::words;

/// How a call went whose output is too long to be said.
pub(super) const ANSWERED: &str = "answered";
/// Levels of objects and lists that are looked into.
const DEEPEST: usize = 4;
/// The longest name that is shown, and the least room for showing anything, in bytes.
const MOST_NAME: usize = 64;
const LEAST_SUMMARY: usize = 16;
/// What stands for members that have no room.
const CUT: &str = ", …";
/// Stands for the number of a record where a list has values.
const VALUE: u32 = 0;
/// Up to this many records each is shown that fits; of more, only if most are alike.
const MOST_APART: usize = 4;
/// So few members of an answer are all worth being said, beside what it lists.
const FEW: usize = 4;
/// Names of members that give a reason for a failure in words.
const REASONS: [&str; 7] =
    ["message", "msg", "reason", "detail", "details", "description", "error_description"];
/// Words in the names of members with an earlier value.
const BEFORE: [&str; 5] = ["old", "previous", "prior", "before", "former"];
/// Members of listed elements that are looked at.
const MOST_LISTED: usize = 4096;
/// Status codes of HTTP that tell of a failure (RFC 9110, sections 15.5 and 15.6).
const HTTP_FAILURES: RangeInclusive<u16> = 400..=599;

/// The members of an object or list, nested ones too.
#[derive(Default)]
pub(super) struct Members<'a> {
    all: Vec<Member<'a>>,
    /// Records so far.
    records: u32,
    /// Lists of values by their names, and how many each has.
    lists: Vec<(Cow<'a, str>, usize)>,
}

struct Member<'a> {
    name: Cow<'a, str>,
    value: Cow<'a, str>,
    /// Which object among others it is of: what that says needn't be how the call went.
    record: Option<u32>,
    /// Whether its name, or that of its container, means a failure.
    is_failure: bool,
}

impl<'a> Members<'a> {
    /// Reads a text; `None` where it is no JSON.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        if !is_json(text) {
            return None;
        }
        let mut all = Members::default();
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
            members.map(|(name, value)| (short(unquote(name.of(text))), value)).collect()
        };
        // The only one of a list stands for itself.
        let is_map = !is_list && is_map(text, &inside);
        let are_records = is_list && inside.len() > 1 || is_map;
        let is_bare = |value: &Span| !value.of(text).starts_with(['{', '[']);
        // A list in a record is of that alone.
        let is_own = is_list && around.record.is_none();
        if is_own && inside.len() > 1 && inside.iter().all(|(_, value)| is_bare(value)) {
            self.lists.push((around.name.clone(), inside.len()));
        }
        let begin = self.all.len();
        for (name, value) in inside {
            let raw = value.of(text);
            let is_object = raw.starts_with('{');
            self.records += u32::from(are_records && is_object);
            let record = match are_records {
                true if is_object => Some(self.records),
                true => Some(VALUE),
                false => around.record,
            };
            let depth = around.depth + 1;
            if is_map {
                let (value, name) = (name.clone(), Cow::Borrowed(""));
                self.all.push(Member { name, value, record, is_failure: false });
            }
            if raw.starts_with(['{', '[']) {
                // A list of rejected things means a failure unless it is empty.
                let is_failure = around.is_failure
                    || names_failure(&name)
                    || raw.starts_with('[') && mentions_failure(&name);
                if depth <= DEEPEST {
                    self.add(text, value, &Around { name, record, is_failure, depth });
                }
                continue;
            }
            let is_text = raw.starts_with('"');
            let value = if is_text { unquote(raw) } else { Cow::Borrowed(raw) };
            // What came from elsewhere may be JSON in a string.
            if is_text && depth <= DEEPEST && is_json(&value) {
                // What stood behind one more escape wasn't seen by whoever masked the output.
                let value = masked(&value);
                let mut inside = Members { records: self.records, ..Members::default() };
                let is_failure = around.is_failure || names_failure(&name);
                let around = Around { name, record, is_failure, depth };
                inside.add(&value, Span::new(0..value.len()), &around);
                self.records = inside.records;
                self.all.extend(inside.all.into_iter().map(Member::owned));
                let lists = inside.lists.into_iter();
                self.lists.extend(lists.map(|(name, count)| (name.into_owned().into(), count)));
                continue;
            }
            // What an object of errors says is one.
            let is_inside = is_text && around.is_failure;
            let before = self.all[begin..].last_mut().filter(|last| last.is_failure && !is_list);
            if let Some(before) = before.filter(|_| is_inside) {
                let _ = write!(before.value.to_mut(), ", {value}");
                continue;
            }
            let is_failure = is_inside || names_failure(&name);
            let name = if is_inside { around.name.clone() } else { name };
            if raw != "null" && !value.trim().is_empty() {
                self.all.push(Member { name, value, record, is_failure });
            }
        }
    }

    /// The failure that the members report: a line that states one, else a flag or a status, with the first words beside it.
    /// Words repeated from the `asked` arguments don't count.
    pub(super) fn failure(&self, asked: &str) -> Option<String> {
        let is_well = self.all.iter().any(Member::is_well);
        let is_count = |member: &Member<'_>| member.value.parse::<f64>().is_ok();
        let lines_of = |are_counts| {
            let members = self.all.iter().filter(move |member| is_count(member) == are_counts);
            members.flat_map(|member| member.lines(asked, is_well)).collect::<Vec<_>>()
        };
        // Counts are used only without other lines.
        let lines: Vec<Cow<'_, str>> =
            Some(lines_of(false)).filter(|said| !said.is_empty()).unwrap_or_else(|| lines_of(true));
        let flag = || {
            let is_alone = self.all.len() == 1;
            let is_flag = |member: &&Member<'_>| {
                // `{"deleted": false}` says nothing else.
                member.is_flag(asked) || is_alone && member.value == "false"
            };
            let Member { name, value, .. } = self.all.iter().find(is_flag)?;
            let words =
                self.all.iter().map(|member| &*member.value).find(|value| value.contains(' '));
            let said = format!("{name}={value} {}", words.unwrap_or_default());
            Some(whole_words(said.trim_end(), MOST_ERROR).into_owned())
        };
        // A code says little without the words beside it.
        let with_words = |said: String| {
            let is_code = said.split_once(": ").is_some_and(|(_, value)| !value.contains(' '));
            let is_reason = |it: &&Member<'_>| {
                let is_so = REASONS.iter().any(|name| it.name.eq_ignore_ascii_case(name));
                is_so && it.value.contains(' ') && !asked.contains(it.value.trim())
            };
            let words = self.all.iter().find(|it| it.record.is_none() && is_reason(it));
            match words.filter(|_| is_code) {
                Some(words) => {
                    whole_words(&format!("{said}, {}", words.value.trim()), MOST_ERROR).into_owned()
                }
                None => said,
            }
        };
        first(&lines, "", MOST_ERROR).map(with_words).or_else(flag)
    }

    /// Whether a flag says that the call did nothing, and another member why: `{"ok":false,"error":"no room"}`.
    pub(super) fn refuses(&self) -> bool {
        let own = || self.all.iter().filter(|member| member.record.is_none());
        let refuses = |it: &Member<'_>| is_success(&it.name) && it.value == "false";
        own().any(refuses) && own().any(|it| it.is_failure && !it.is_word())
    }

    /// Whether it says more than that the call failed, and why.
    pub(super) fn says_more(&self) -> bool {
        self.all.iter().any(|member| !member.is_failure && !is_success(&member.name))
    }

    /// The state that an answer tells: `status=pending`, or `result=timeout` where it is one word.
    pub(super) fn state(&self) -> Option<String> {
        let mut own = self.all.iter().filter(|member| member.record.is_none());
        let is_outcome = |member: &&Member<'_>| {
            let is_so = ["result", "outcome"].iter().any(|it| member.name.eq_ignore_ascii_case(it));
            is_so && member.value.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        };
        let state = own.clone().find(|member| is_state(&member.name));
        let Member { name, value, .. } = state.or_else(|| own.find(is_outcome))?;
        Some(format!("{name}={}", one_line(value)))
    }

    /// The content of a long answer in at most `most` bytes: states and flags first, then new ids and addresses, sentences, other
    /// new values, and lists. Values that the call `asked` with, or that were `said` already, are left out.
    pub(super) fn summary(
        &self,
        (asked, said): (&str, &str),
        most: usize,
        is_new: &dyn Fn(&str) -> bool,
    ) -> String {
        if most < LEAST_SUMMARY {
            return String::new();
        }
        let are_few = self.all.iter().filter(|it| it.record.is_none()).count() <= FEW;
        let rank = |member: &Member<'_>| {
            let Member { name, value, .. } = member;
            let is_sentence = || value.contains(' ') && !asked.contains(value.trim());
            let is_asked = |value: &str| {
                asked
                    .split(|c: char| !c.is_alphanumeric() && !"-.".contains(c))
                    .any(|it| it == value)
            };
            match () {
                () if member.is_all_well() => Some(4),
                () if member.is_word() || is_state(name) => Some(0),
                () if is_target(value) => is_new(value).then_some(1),
                () if is_sentence() => Some(2),
                () if is_new(value) => Some(3),
                // One of few measurements may be what it was before.
                () => (are_few && value.parse::<f64>().is_ok() && !is_asked(value)).then_some(5),
            }
        };
        let is_own = |member: &&Member<'_>| {
            let is_word = |word: &str| *word == *member.value;
            let is_said = match &*member.value {
                value if member.is_word() => said.contains(&format!("{}={value}", member.name)),
                value if value.contains(' ') => said.contains(value),
                _ => said.split(|c: char| c.is_whitespace() || ",:;=".contains(c)).any(is_word),
            };
            let is_past = words(&member.name).iter().any(|word| BEFORE.contains(&word.as_str()));
            member.record.is_none() && !is_said && !is_past
        };
        let own = self.all.iter().filter(is_own);
        let mut told: Vec<_> = own.filter_map(|member| Some((rank(member)?, member))).collect();
        told.sort_by_key(|(rank, _)| *rank);
        let mut out = String::new();
        let mut is_cut = false;
        for (_, member) in told {
            let gap = if out.is_empty() { "" } else { ", " };
            let room = most.saturating_sub(out.len() + gap.len() + CUT.len());
            let told = member.told();
            // Of a sentence the beginning tells something.
            if told.len() <= room || member.value.contains(' ') && room >= MOST_RESULT {
                let _ = write!(out, "{gap}{}", whole_words(&told, room));
            } else {
                is_cut = true;
            }
        }
        out.push_str(if is_cut && !out.is_empty() { CUT } else { "" });
        // Where nothing else tells anything, lists tell how many.
        if out.is_empty() {
            let lists = self.lists.iter().filter(|(name, _)| !name.is_empty());
            let counts = lists.map(|(name, count)| format!("{name}={count} listed"));
            out = whole_words(&counts.collect::<Vec<_>>().join(", "), most).into_owned();
        }
        let gap = if out.is_empty() { "" } else { ", " };
        if let Some(listed) = self.listed(most.saturating_sub(out.len() + gap.len())) {
            let _ = write!(out, "{gap}{}", one_line(&listed));
        }
        out
    }

    /// What an answer lists, within `most` bytes: what few of many say, else each of a few.
    fn listed(&self, most: usize) -> Option<String> {
        let records = self.all.iter().filter(|member| member.record > Some(VALUE));
        let mut listed: Vec<&Member<'_>> = records.take(MOST_LISTED).collect();
        let qualifier = if listed.len() < MOST_LISTED { "" } else { "at least " };
        // What stands behind a list in a record is of that record.
        listed.sort_by_key(|member| member.record);
        let records: Vec<&[&Member<'_>]> =
            listed.chunk_by(|one, next| one.record == next.record).collect();
        let row = |record: &&[&Member<'_>]| {
            record.iter().map(|it| Cell::of(&it.name, &it.value)).collect()
        };
        let rows: Vec<Row> = records.iter().map(row).collect();
        let kinds = kinds(&rows);
        // Of few each may tell how it went.
        let tells = |it: &&Member<'_>| it.is_word() || is_state(&it.name);
        let are_told = rows.len() <= MOST_APART && listed.iter().any(tells);
        if !are_told && !are_most_alike(&kinds) {
            return None;
        }
        let (told, _) = told(&kinds, most, |kind| {
            let record = records[kind.last()];
            let is_one = kind.rows.len() == 1;
            let said =
                record.iter().enumerate().filter(|(at, _)| is_one || kind.told_by.contains(at));
            let said = said.map(|(_, it)| it.told()).collect::<Vec<_>>();
            Some((said.join(", "), qualifier.to_owned()))
        });
        (!told.is_empty()).then_some(told)
    }
}

/// The beginning of a name.
fn short(name: Cow<'_, str>) -> Cow<'_, str> {
    match name {
        Cow::Borrowed(name) => cut::head(name, MOST_NAME).into(),
        Cow::Owned(name) => cut::head(&name, MOST_NAME).to_owned().into(),
    }
}

/// Whether members are records by their names: several objects of one shape.
fn is_map(text: &str, members: &[(Cow<'_, str>, Span)]) -> bool {
    let names = |value: Span| {
        let is_object = value.of(text).starts_with('{');
        let inside = is_object.then(|| json::members(text, value).ok()).flatten()?;
        inside.first().map(|(name, _)| name.of(text))
    };
    let first = members.first().filter(|_| members.len() > 2).and_then(|it| names(it.1));
    first.is_some() && members.iter().all(|(_, value)| names(*value) == first)
}

/// Whether a text is an object or a list in JSON.
fn is_json(text: &str) -> bool {
    text.starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// What is around a member.
#[derive(Default)]
struct Around<'a> {
    name: Cow<'a, str>,
    record: Option<u32>,
    is_failure: bool,
    depth: usize,
}

impl Member<'_> {
    fn told(&self) -> String {
        let Member { name, value, .. } = self;
        if name.is_empty() { value.to_string() } else { format!("{name}={value}") }
    }

    fn owned<'o>(self) -> Member<'o> {
        let (name, value) = (self.name.into_owned().into(), self.value.into_owned().into());
        Member { name, value, record: self.record, is_failure: self.is_failure }
    }

    /// What states a failure: of several lines each is looked at. Where a flag says that all is well, only members of errors count.
    fn lines(&self, asked: &str, is_well: bool) -> Vec<Cow<'_, str>> {
        let Member { name, value, record, is_failure } = self;
        let is_none =
            ["false", "no", "none", "null"].iter().any(|none| value.eq_ignore_ascii_case(none))
                || value.parse() == Ok(0.0);
        // A title may speak of an error.
        let may_state = !is_well && record.is_none();
        let opens = || opens_with_failure(value) && !asked.contains(value.trim());
        let is_flag = value == "true";
        if *is_failure && !is_none && !is_flag || may_state && opens() {
            return vec![format!("{name}: {}", value.trim()).into()];
        }
        if !may_state || !value.contains('\n') {
            return Vec::new();
        }
        let echo = Echo { asked, kind: EchoKind::Given };
        let lines = cut::tail(value, MOST_SEEN).lines().map(str::trim);
        let lines = lines.filter(|line| states_newly(line, echo));
        lines.map(Cow::Borrowed).collect()
    }

    fn is_word(&self) -> bool {
        matches!(&*self.value, "true" | "false")
    }

    /// Whether it is a flag that says all went well.
    fn is_well(&self) -> bool {
        is_success(&self.name) && self.record.is_none() && self.value == "true"
    }

    /// Whether it is a flag that says nothing but that all went well: `isError=false`.
    fn is_all_well(&self) -> bool {
        self.is_well() || self.is_failure && self.value == "false"
    }

    /// Whether it is a flag or a status of a failure, but not an argument, such as `aborted` of `abort_upload`.
    fn is_flag(&self, asked: &str) -> bool {
        let tool = words(asked.split(' ').next().unwrap_or_default());
        let is_asked = |state: &str| {
            tool.iter().any(|verb| verb.len() > 2 && state.starts_with(verb.as_str()))
        };
        let Member { name, value, record, .. } = self;
        match &*name.to_ascii_lowercase() {
            name if is_success(name) => value == "false",
            _ if self.is_failure => value == "true",
            _ if record.is_some() => false,
            "result" | "outcome" => names_failure(value),
            "statuscode" | "status_code" => is_http_failure(value),
            name if is_state(name) && is_asked(&value.to_ascii_lowercase()) => false,
            name if is_state(name) => names_failure(value) || is_http_failure(value),
            _ => false,
        }
    }
}

/// Whether a flag of this name says that all went well.
fn is_success(name: &str) -> bool {
    ["ok", "success", "succeeded"].iter().any(|flag| name.eq_ignore_ascii_case(flag))
}

fn is_http_failure(value: &str) -> bool {
    value.parse().is_ok_and(|code| HTTP_FAILURES.contains(&code))
}

/// Whether a member of this name says how something stands.
fn is_state(name: &str) -> bool {
    ["status", "state"].iter().any(|state| name.eq_ignore_ascii_case(state))
}

/// Whether a name or a state is one of failure: `error`, `userErrors`, `payment failed`.
fn names_failure(name: &str) -> bool {
    let is_name = !name.contains(' ');
    let mut words = if is_name { words(name) } else { vec![name.to_owned()] };
    // `onError` names an action, not a failure.
    let is_handler = words.len() > 1 && words[0] == "on";
    let last = words.pop().filter(|_| !is_handler).unwrap_or_default();
    tell(&format!("{last}:")) == Tell::Failure
}

/// Whether a word is one of failure or hints at one: `rejected`.
fn mentions_failure(word: &str) -> bool {
    !word.contains(' ') && tell(&format!("{word}:")) >= Tell::Mention
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_found_wherever_they_stand() {
        let cases = [
            (r#"{"deleted": false}"#, Some("deleted=false")),
            (
                r#"{"done":[],"rejected":[{"id":"i-5","why":"it is off"}]}"#,
                Some("rejected: i-5, it is off"),
            ),
            (r#"{"done":["a"],"rejected":[],"timeout":30,"status":"queued"}"#, None),
            (r#"{"id": 7, "status": "declined"}"#, None),
            (r#"{"a": {"ok": true}, "b": {"ok": true}, "c": {"ok": false}}"#, Some("ok=false")),
            (r#"{"id": 7, "status": "failed"}"#, Some("status=failed")),
            (r#"{"id": 7, "status": "aborted"}"#, None),
            (
                r#"{"price": 15, "userErrors": [{"message": "is fixed"}]}"#,
                Some("userErrors: is fixed"),
            ),
            (r#"{"ok": true, "text": "Error: no host"}"#, None),
            (r#"{"id": 7, "text": "Error: no host"}"#, Some("text: Error: no host")),
            (r#"{"id": 7, "title": "Error: the page is late"}"#, None),
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
            (
                r#"{"all": [{"id": 1, "error": "locked"}, {"id": 2, "ok": true}], "failed": 1}"#,
                Some("error: locked"),
            ),
            (r#"{"done": 4, "failed": 1}"#, Some("failed: 1")),
            (r#"{"a":{"b":{"c":{"d":{"e":{"ok":false}}}}}}"#, None),
            (
                r#"{"status": 200, "body": "{\"error\": \"no courier\"}"}"#,
                Some("error: no courier"),
            ),
        ];
        for (text, expected) in cases {
            let members = Members::read(text).expect("JSON");
            assert_eq!(
                members.failure(r#"abort_it {"title": "Error: the page is late"}"#).as_deref(),
                expected,
                "{text}"
            );
        }
        let listed = r#"{"request": "r-1", "items": [{"status": "gone"}, {"status": "in use"}, {"status": "gone"}]}"#;
        let told = Members::read(listed)
            .expect("JSON")
            .summary(("", ""), MOST_ERROR, &|said| said == "r-1");
        assert_eq!(told, "request=r-1, status=gone / status=in use / status=gone");
        let of = |name: &str, state: &str| format!(r#""{name}": {{"sso": "{state}"}}"#);
        let tenants: Vec<String> = ["a", "b", "c", "d", "e", "f", "g"]
            .iter()
            .map(|name| of(name, if *name == "d" { "waiting" } else { "on" }))
            .collect();
        let tenants = format!("{{{}}}", tenants.join(","));
        let told = Members::read(&tenants).expect("JSON").summary(("", ""), MOST_ERROR, &|_| false);
        assert_eq!(told, "d, sso=waiting / sso=on (6 such)");
        let torn =
            r#"[{"id":1,"lines":[{"s":"a"},{"s":"b"}],"status":"failed"},{"id":2,"status":"on"}]"#;
        let told = Members::read(torn).expect("JSON").summary(("", ""), MOST_ERROR, &|_| false);
        assert_eq!(told, "id=1, status=failed / s=a / s=b / id=2, status=on");
        // A long name is shown once for all of its elements.
        let named = format!(r#"{{"x": "{{\"{}\": [1, 2]}}"}}"#, "A".repeat(1_000));
        assert!(
            Members::read(&named).expect("JSON").all.iter().all(|it| it.name.len() <= MOST_NAME)
        );
        assert!(Members::read("{no").is_none() && Members::read("words").is_none());
    }
}
