//! How a tool call went, as far as its output tells.

use std::borrow::Cow;

use super::salience::{Tell, first_word, opens_with_failure, tell};
use super::{begins_with_one, cut};
use crate::json::{self, Span, unquote, unquote_inner};

/// How a tool call went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CallStatus {
    /// It succeeded.
    Ok,
    /// It failed.
    Error,
    /// Not reported.
    #[default]
    Unknown,
}

impl CallStatus {
    /// The same; the exit code decides if the status is unknown.
    pub(crate) fn or_by(self, exit_code: Option<i32>) -> Self {
        match (self, exit_code) {
            (CallStatus::Unknown, Some(0)) => CallStatus::Ok,
            (CallStatus::Unknown, Some(_)) => CallStatus::Error,
            (reported, _) => reported,
        }
    }

    /// The same; the result object of an MCP server decides if the status is unknown.
    pub(crate) fn or_by_flag(self, output: &str) -> Self {
        let is_flagged = || memchr::memmem::find(output.as_bytes(), b"\"isError\"").is_some();
        let fails = || blocks(body(output)).is_some_and(|blocks| blocks.is_error);
        if self == CallStatus::Unknown && is_flagged() && fails() {
            CallStatus::Error
        } else {
            self
        }
    }
}

/// A result as an MCP server gives it: `{"content":[{"type":"text","text":"…"}],"isError":false}`.
struct Blocks {
    /// Where its content stands.
    content: Span,
    /// And what it says as an object, which its text may say, too.
    structured: Option<Span>,
    is_error: bool,
}

/// Reads such a result; `None` for anything else.
fn blocks(output: &str) -> Option<Blocks> {
    let start = output.len() - output.trim_start().len();
    if !output[start..].starts_with('{') {
        return None;
    }
    let (mut content, mut structured, mut is_error) = (None, None, false);
    for (name, value) in json::members(output, Span::new(start..output.len())).ok()? {
        match &*unquote(name.of(output)) {
            "content" => content = Some(value),
            "isError" => is_error = value.of(output) == "true",
            "structuredContent" => structured = Some(value),
            "_meta" => {}
            _ => return None,
        }
    }
    Some(Blocks { content: content?, structured, is_error })
}

/// The findings about one result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict<'a> {
    /// The reported status; without one, that of the exit code or the first words.
    pub outcome: CallStatus,
    /// The exit code, where the output names one.
    pub exit_code: Option<i32>,
    /// The first line that states the failure, if it failed; not capped.
    pub line: Option<&'a str>,
}

/// The text of a synthetic result: the call was interrupted, and its outcome is unknown.
pub(crate) const NO_RESULT: &str =
    "[no result: this call was interrupted before its result was recorded]";

/// How much of each end of an output is looked at.
const WINDOW: usize = 16 * 1024;
/// As much as stands behind a text's first word where a failure is told.
const BEHIND: usize = 32;
/// Exit codes stand in the first or last words.
const EXIT_WINDOW: usize = 512;

/// The longest line that is nothing but an exit code: `[return code: -2147483648]`, indented.
const LONGEST_CODE: usize = 40;

/// Judges a result by its reported status and its output.
pub fn judge(output: &str, reported: CallStatus) -> Verdict<'_> {
    let exit_code = exit_code(output);
    let output = body(output);
    let outcome = match reported.or_by(exit_code).or_by_flag(output) {
        CallStatus::Unknown if opens_with_failure(output) => CallStatus::Error,
        known => known,
    };
    let line = if outcome == CallStatus::Error { failing_line(output) } else { None };
    Verdict { outcome, exit_code, line }
}

/// A quick check of an output as a JSON literal: whether it may report a failure without a status.
pub(crate) fn may_have_failed(literal: &str) -> bool {
    let Some(inner) = literal.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return true;
    };
    let bytes = inner.as_bytes();
    // Letters needn't stand there as they are.
    let is_letter = |at: usize| matches!(bytes.get(at + 4), Some(b'4' | b'6' | b'7'));
    let names_code = |word: &&str| memchr::memmem::find(bytes, word.as_bytes()).is_some();
    if ["xit", "eturn code", "returncode", "return_code", "rc=", "rc:", "rc\\\"", "isError"]
        .iter()
        .any(names_code)
        || memchr::memmem::find_iter(bytes, b"\\u00").any(is_letter)
    {
        return true;
    }
    // No escape has a space in it.
    let end = inner.len().min(EXIT_WINDOW);
    let end = if end == inner.len() { Some(end) } else { memchr::memrchr(b' ', &bytes[..end]) };
    let Some(end) = end else { return true };
    let head = unquote_inner(&inner[..end]);
    let said = head.trim_start();
    let is_all = end == inner.len() || said.contains('\n') || first_word(said).1.len() > BEHIND;
    !is_all || has_preamble(said) || said.starts_with("Command: ") || opens_with_failure(said)
}

/// The exit code that a harness names in the first or last words of an output, in a line of nothing else: `Exit code 1`,
/// `Process exited with code 1`, `exit status: 1`; or in an object, `"exit_code":1`. Other words of an exit code are the
/// output's own, and tell of something else.
pub fn exit_code(output: &str) -> Option<i32> {
    let head = cut::head(output, EXIT_WINDOW);
    let tail = cut::tail(&output[head.len()..], EXIT_WINDOW);
    if output.trim_start().starts_with('{') {
        return code_member(head).or_else(|| code_member(tail));
    }
    // Where a window ends or begins inside of a line, that says less than it says.
    let (head, tail) = if head.len() + tail.len() == output.len() {
        (output, "")
    } else {
        let head = head.rsplit_once('\n').map_or("", |(whole, _)| whole);
        (head, tail.split_once('\n').map_or("", |(_, whole)| whole))
    };
    let names_one = |text: &&str| {
        ["xit", "<returncode>"]
            .iter()
            .any(|word| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some())
    };
    let told = [head, tail].into_iter().filter(names_one).flat_map(str::lines).find_map(code_of);
    told.or_else(|| {
        let output = output.trim_end();
        let line = memchr::memrchr(b'\n', output.as_bytes()).map_or(0, |at| at + 1);
        last_code(&output[line..])
    })
}

/// The exit code that the last line of an output is, as scripts print it: `[exit 1]`, `rc=9`, `Return code: 8`. A bare `exit 1` ends
/// a script that is shown.
fn last_code(line: &str) -> Option<i32> {
    if line.len() > LONGEST_CODE {
        return None;
    }
    let line = line.trim();
    let inner = line.trim_matches(['[', ']', '(', ')', '<', '>', ' ']);
    let before = inner.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('-');
    let code = inner[before.len()..].parse().ok()?;
    let (name, sign) = before.split_at(before.find([':', '=']).or_else(|| before.rfind(' '))?);
    let is_named = ["exit", "Exit", "rc", "return code", "Return code"].contains(&name);
    let is_signed = ["=", ":", ": "].contains(&sign) || sign == " " && inner != line;
    (is_named && is_signed).then_some(code)
}

/// The exit code of a line that says nothing else.
fn code_of(line: &str) -> Option<i32> {
    let tagged = |line: &str| {
        line.trim().strip_prefix("<returncode>")?.strip_suffix("</returncode>")?.parse().ok()
    };
    if line.contains("returncode") {
        return tagged(line);
    }
    let at = line.find("xit").filter(|at| *at > 0)?;
    let before = line.get(..at - 1)?.trim_matches([' ', '[', '(', '<']);
    let words = || before.split(' ');
    let is_of = |word: &str| ["command", "process"].iter().any(|it| word.eq_ignore_ascii_case(it));
    let is_form = words().all(|word| word.bytes().all(|byte| byte.is_ascii_alphabetic()));
    if !before.is_empty() && (!is_form || !words().any(is_of)) {
        return None;
    }
    let (code, rest) = code_behind(&line[at - 1..])?;
    let is_all = !rest.contains(|c: char| c.is_alphanumeric());
    is_all.then_some(code)
}

/// The exit code that is a member of an object.
fn code_member(text: &str) -> Option<i32> {
    let named = ["\"exit", "\"return"].into_iter().flat_map(|name| text.match_indices(name));
    let named = named.map(|(at, _)| code_behind(&text[at + 1..])).find_map(|found| Some(found?.0));
    // As Ansible names it.
    let is_run = || {
        ["\"stdout\"", "\"stderr\"", "\"cmd\"", "\"msg\""].iter().any(|name| text.contains(name))
    };
    let rc = || {
        let rest = text.split_once("\"rc\"")?.1.trim_start().strip_prefix(':')?.trim_start();
        let end = rest.find([',', '}', ' ', '\n'])?;
        rest[..end].parse().ok()
    };
    named.or_else(|| is_run().then(rc).flatten())
}

/// The number behind `exit code`, however that is spelt, and what stands behind it.
fn code_behind(text: &str) -> Option<(i32, &str)> {
    let exit = || text.strip_prefix(['e', 'E'])?.strip_prefix("xit");
    // As Python's modules name it.
    let returned = || text.strip_prefix("return").filter(|rest| rest.starts_with(['c', '_']));
    let rest = exit().or_else(returned)?;
    let rest = rest.strip_prefix("ed with").unwrap_or(rest);
    let words = [" code", " Code", "_code", "Code", " status", "-code", "code"];
    let rest = words.iter().find_map(|word| rest.strip_prefix(word))?;
    let rest = rest.trim_start_matches([' ', ':', '"', '=', '>']);
    let digits = rest.strip_prefix('-').unwrap_or(rest);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let end = rest.len() - digits.len() + end;
    Some((rest[..end].parse().ok()?, &rest[end..]))
}

/// The first line that states a failure, or else mentions one, or else says anything.
fn failing_line(output: &str) -> Option<&str> {
    let head = cut::head(output, WINDOW);
    let tail = cut::tail(&output[head.len()..], WINDOW);
    let mut best: Option<(u8, &str)> = None;
    for line in head.lines().chain(tail.lines()) {
        let line = untagged(line);
        let grade = match tell(line) {
            _ if line.is_empty() => continue,
            Tell::Failure => return Some(line),
            Tell::Mention => 2,
            // Known already, and better said as a number.
            Tell::Total if code_of(line).is_some() => continue,
            _ => 1,
        };
        if best.is_none_or(|(known, _)| grade > known) {
            best = Some((grade, line));
        }
    }
    best.map(|(_, line)| line)
}

/// An output without the lines that some harnesses put before it, up to `Output:`.
pub(crate) fn body(output: &str) -> &str {
    if let Some(body) = of_fields(output) {
        return body;
    }
    if !has_preamble(output) {
        return output;
    }
    let head = cut::head(output, EXIT_WINDOW);
    head.find("\nOutput:\n").map_or(output, |at| &output[at + "\nOutput:\n".len()..])
}

/// The streams of a command as Gemini CLI reports it: its line and folder stand before them, and behind them the code and fields
/// that are empty.
fn of_fields(output: &str) -> Option<&str> {
    let rest = output.strip_prefix("Command: ")?;
    let streams = ["\nOutput: ", "\nStdout: "].iter().filter_map(|name| {
        let at = rest.find(name)?;
        Some((at, at + name.len()))
    });
    let (_, start) = streams.min()?;
    let ends = ["\nError: (none)\n", "\nExit Code: ", "\nSignal: "];
    let end = ends.iter().filter_map(|end| rest.rfind(end)).filter(|end| *end >= start).min();
    Some(&rest[start..end.unwrap_or(rest.len())])
}

fn has_preamble(output: &str) -> bool {
    begins_with_one(output, &["Chunk ID: ", "Exit code: ", "Wall time: "])
}

/// An output without them; in place of the JSON of content blocks, or of an object with an exit code, the texts in it.
pub(crate) fn said(output: &str) -> Cow<'_, str> {
    let bare = json_block(body(output));
    let whole = Span::new(bare.len() - bare.trim_start().len()..bare.len());
    let blocks = blocks(bare);
    let whole = blocks.as_ref().map_or(whole, |blocks| blocks.content);
    let mut texts: Vec<_> = match whole.of(bare).as_bytes() {
        [b'[', ..] => {
            let text = |block: Span| {
                let block = block.of(bare);
                let is_text = json::text_member(block, "type").as_deref() == Some("text");
                json::text_member(block, "text").filter(|_| is_text)
            };
            let blocks = json::elements(bare, whole).unwrap_or_default();
            blocks.into_iter().filter_map(text).collect()
        }
        [b'{', ..] if exit_code(bare).is_some() => {
            let members = json::members(bare, whole).unwrap_or_default();
            let values = members.iter().map(|(_, value)| value.of(bare));
            values.filter(|raw| raw.starts_with('"')).map(|raw| unquote(raw).into_owned()).collect()
        }
        _ => Vec::new(),
    };
    let structured = blocks.and_then(|blocks| blocks.structured).map(|it| it.of(bare).to_owned());
    let is_said = texts.iter().any(|text| text.trim_start().starts_with('{'));
    let is_beside = !texts.is_empty() && !is_said;
    texts.extend(structured.filter(|it| is_beside && it.starts_with('{')));
    if texts.is_empty() { Cow::Borrowed(bare) } else { Cow::Owned(texts.join("\n")) }
}

/// Of the block `{"json": …}`, in which Bedrock has an object, that object.
fn json_block(output: &str) -> &str {
    let whole = output.trim();
    let block =
        whole.strip_prefix('[').and_then(|all| all.strip_suffix(']')).unwrap_or(whole).trim();
    if !block.strip_prefix('{').is_some_and(|inner| inner.trim_start().starts_with("\"json\"")) {
        return output;
    }
    match json::members(block, Span::new(0..block.len())).as_deref() {
        Ok([(_, value)]) if value.of(block).starts_with(['{', '[']) => value.of(block),
        _ => output,
    }
}

/// A line without the tags that harnesses put around errors.
pub(crate) fn untagged(line: &str) -> &str {
    let line = line.trim();
    let line = line.strip_prefix("<tool_use_error>").unwrap_or(line);
    line.strip_suffix("</tool_use_error>").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_report_of_fields_says_what_the_command_did() {
        let of = |streams: &str, error: &str| {
            format!(
                "Command: npm run build\nDirectory: (root)\n{streams}\nError: {error}\n\
                 Exit Code: 1\nSignal: (none)\nProcess Group PGID: 4711"
            )
        };
        assert_eq!(body(&of("Output: a\nb", "(none)")), "a\nb");
        assert_eq!(body(&of("Output: a", "spawn failed")), "a\nError: spawn failed");
        let apart = "Stdout: a\nStderr: b";
        assert_eq!(body(&of(apart, "(none)")), "a\nStderr: b");
        assert_eq!(body("Command: x"), "Command: x");
    }

    #[test]
    fn exit_codes_are_found() {
        let cases = [
            ("Exit code 1\nboom", Some(1)),
            ("Process exited with code 0\nOutput:", Some(0)),
            ("x\n\nCommand exited with code 127", Some(127)),
            ("{\"output\":\"\",\"metadata\":{\"exit_code\":2}}", Some(2)),
            ("exit status: 101", Some(101)),
            ("[The command completed with exit code -9.]", Some(-9)),
            ("Stderr: (empty)\nExit Code: 2\nSignal: (none)", Some(2)),
            (r#"{"host":"a","rc": 100,"stderr":"no lock"}"#, Some(100)),
            (r#"{"rc":"a.rc"}"#, None),
            ("<returncode>1</returncode>\n<output>\nno host\n</output>", Some(1)),
            ("{\"returncode\": 3, \"output\": \"\"}", Some(3)),
            ("the returncode of exit 1", None),
            ("step lint: exit code 0\nstep unit: exit code 1", None),
            ("The last run had exit code 1.\nThis run: success", None),
            ("web: process exited with code 1\nonline", None),
            ("uses exit code 0 for success", None),
            ("on exit, code is clean", None),
            ("process.exit(1)", None),
            ("2 failed\n[exit 1]\n", Some(1)),
            ("2 failed\n(exit 5)", Some(5)),
            ("2 failed\nReturn code: 8", Some(8)),
            ("deploying\nrc=9", Some(9)),
            ("deploying\nexit=0", Some(0)),
            ("deploying\nexit 1", None),
            ("rc=1\ndone", None),
            ("src=9", None),
            // As long as the windows leave the line's beginning, or its end, out.
            (
                &format!(
                    "{}\nstep of the unit tests: exit code 1{}",
                    "a".repeat(800),
                    " ".repeat(500)
                ),
                None,
            ),
            (&format!("{}\nexit code 12\n{}", "a".repeat(500), "b\n".repeat(600)), None),
            (&format!("{}\nexit code 12", "a\n".repeat(800)), Some(12)),
            (&format!("{}\nexit code 12\nb", "a".repeat(500)), Some(12)),
        ];
        for (output, expected) in cases {
            assert_eq!(exit_code(output), expected, "{output}");
        }
    }

    #[test]
    fn a_report_beats_a_guess_and_a_code_beats_the_words() {
        assert_eq!(judge("Exit code 1", CallStatus::Ok).outcome, CallStatus::Ok);
        assert_eq!(judge("error: none\nexit code 0", CallStatus::Unknown).outcome, CallStatus::Ok);
        assert_eq!(judge("Error: user not found", CallStatus::Unknown).outcome, CallStatus::Error);
        assert_eq!(judge("plain text", CallStatus::Unknown).outcome, CallStatus::Unknown);
    }

    #[test]
    fn the_failing_line_states_the_failure() {
        let output = "Exit code 1\nCompiling x\nerror[E0308]: mismatched types\n --> a.rs:1:2\n";
        let verdict = judge(output, CallStatus::Unknown);
        assert_eq!(verdict.line, Some("error[E0308]: mismatched types"));
        assert_eq!(verdict.exit_code, Some(1));
        let verdict = judge(
            "<tool_use_error>File has not been read yet.</tool_use_error>",
            CallStatus::Error,
        );
        assert_eq!(verdict.line, Some("File has not been read yet."));
        assert_eq!(judge("", CallStatus::Error).line, None);
        let output =
            "Chunk ID: 1d\nProcess exited with code 1\nOutput:\nps: operation not permitted\n";
        assert_eq!(judge(output, CallStatus::Unknown).line, Some("ps: operation not permitted"));
        assert_eq!(judge("Command exited with code 1", CallStatus::Error).line, None);
    }

    #[test]
    fn the_result_of_a_server_says_whether_it_is_an_error() {
        let of = |is_error: bool| {
            format!(
                r#"{{"content":[{{"type":"text","text":"a field\nis missing"}}],"isError":{is_error}}}"#
            )
        };
        let outcome = |output: &str| judge(output, CallStatus::Unknown).outcome;
        assert_eq!(said(&of(true)), "a field\nis missing");
        assert_eq!(
            (outcome(&of(true)), outcome(&of(false))),
            (CallStatus::Error, CallStatus::Unknown)
        );
        assert_eq!(judge(&of(true), CallStatus::Ok).outcome, CallStatus::Ok);
        let both = r#"{"content":[{"type":"text","text":"Done."}],"structuredContent":{"state":"waiting"}}"#;
        assert_eq!(said(both), "Done.\n{\"state\":\"waiting\"}");
        let own = r#"{"content":[],"isError":true,"rows":3}"#;
        assert_eq!((outcome(own), &*said(own)), (CallStatus::Unknown, own));
    }

    proptest! {
        /// In any spelling: an output that the quick check rejects didn't fail.
        #[test]
        fn the_quick_look_lets_every_failure_pass(
            text in "([ \n]{0,3}|[a]{0,200}|[*\\[ ]{0,700}| {0,600})(error|Error|fatal|failed|Exit code: 1|rc=9|\\[exit 1\\]|Return code: 8|tool_use_error|[A-Z]Error|é)?([:\\[! ]|)(exit code [0-2]|[a-z ]{0,300}|\n){0,4}",
            spell in prop::sample::select(vec!["", "e", "x", "i", "t", "r", "F"]),
        ) {
            let literal = serde_json::to_string(&text).expect("a string");
            let code = |c: char| format!("\\u{:04x}", u32::from(c));
            let literal = spell.chars().fold(literal, |said, c| said.replace(c, &code(c)));
            prop_assert_eq!(unquote_inner(&literal[1..literal.len() - 1]), text.as_str());
            let has_failed = judge(&text, CallStatus::Unknown).outcome == CallStatus::Error;
            prop_assert!(!has_failed || may_have_failed(&literal), "{literal}");
        }

        #[test]
        fn any_output_can_be_judged(output: String) {
            let _ = judge(&output, CallStatus::Unknown);
            let _ = judge(&output, CallStatus::Error);
        }
    }
}
