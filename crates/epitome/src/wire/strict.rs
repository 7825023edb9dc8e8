//! What strict readers of JSON refuse in a text that is JSON: a byte order mark (RFC 8259, 8.1), half a character
//! (RFC 7493, 2.1), a number beyond doubles (RFC 7493, 2.2), and nesting deeper than a provider reads.

use std::fmt::Write as _;

use super::breach::{Finding, Mend};
use super::rules::{RULES, RuleId};
use crate::json::{self, Scanner, Span, escape};
use crate::request::{Envelope, Request};

const REPLACEMENT: &str = "\\ufffd";

/// What is found in the request.
pub(super) fn check(request: &Request) -> Vec<Finding> {
    let own = |rule: &&super::Rule| rule.format == request.format && rule.id.0.ends_with("/json");
    let Some(rule) = RULES.iter().find(own).map(|rule| rule.id) else { return Vec::new() };
    let source = request.source();
    let mut strict = Strict { request, rule, findings: Vec::new() };
    if source.starts_with('\u{feff}') {
        let mark = Span::new(0..'\u{feff}'.len_utf8());
        strict.find(mark, "a byte order mark", Mend::LeaveOut(mark));
    }
    strict.read(request.format.dialect().terms().deepest);
    strict.findings
}

struct Strict<'a> {
    request: &'a Request,
    rule: RuleId,
    findings: Vec<Finding>,
}

impl Strict<'_> {
    fn find(&mut self, span: Span, detail: &str, mend: Mend) {
        let transcript = &self.request.transcript;
        let holds = |whole: Span| whole.start <= span.start && span.end <= whole.end;
        let at = transcript.entries().find(|entry| holds(entry.span())).map(|entry| entry.index);
        // Between rows and elements there is nothing to mend.
        if at.is_none() && self.request.frame.envelope != Envelope::Body {
            return;
        }
        let member = at.is_none().then(|| path(self.request.source(), span));
        let (entry, detail) = (at.unwrap_or_default(), detail.to_owned());
        self.findings.push(Finding { rule: self.rule, entry, member, slot: None, detail, mend });
    }

    /// Goes through the text, which is known to be JSON.
    fn read(&mut self, deepest: usize) {
        let source: &str = self.request.source();
        let bytes = source.as_bytes();
        let (mut at, mut depth) = (0, 0);
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    let Ok(text) = Scanner::starting_at(source, at as u32).string() else { return };
                    self.text(text);
                    at = text.end as usize;
                    continue;
                }
                b'{' | b'[' => {
                    depth += 1;
                    if depth == deepest.saturating_add(1) {
                        let detail = format!("nested more than {deepest} deep");
                        self.find(Span::new(at..at + 1), &detail, Mend::Nothing);
                    }
                }
                b'}' | b']' => depth -= 1,
                b'-' | b'0'..=b'9' => {
                    let is_of =
                        |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                    let length = bytes[at..].iter().take_while(|byte| is_of(byte)).count();
                    let number = &source[at..at + length];
                    if number.parse().is_ok_and(f64::is_infinite) {
                        self.find(Span::new(at..at + length), number, Mend::Nothing);
                    }
                    at += length;
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Escapes of a string that are half a character.
    fn text(&mut self, text: Span) {
        let raw = text.of(self.request.source());
        let mut at = 0;
        while let Some(next) = memchr::memchr(b'\\', &raw.as_bytes()[at..]) {
            at += next;
            let (length, said) = escape(&raw[at..]);
            let written = &raw[at..at + length];
            if said == char::REPLACEMENT_CHARACTER && !written.eq_ignore_ascii_case(REPLACEMENT) {
                let value = Span::new(at..at + length).shifted_by(text.start);
                let detail = format!("half a character: {written}");
                let json = REPLACEMENT.to_owned();
                self.find(value, &detail, Mend::Overwrite { value, json });
            }
            at += length;
        }
    }
}

/// The path of what stands in a body at `span`; empty for the body itself.
fn path(source: &str, span: Span) -> String {
    let holds = |whole: Span| whole.start <= span.start && span.end <= whole.end;
    let mut path = String::new();
    let mut inner = source.find('{').map(|start| Span::new(start..source.len()));
    while let Some(value) = inner.filter(|value| value.start < span.start) {
        inner = None;
        if value.of(source).starts_with('{') {
            let members = json::members(source, value).unwrap_or_default();
            if let Some((key, value)) = members.into_iter().find(|(_, value)| holds(*value)) {
                let dot = if path.is_empty() { "" } else { "." };
                path += dot;
                path += &json::unquote(key.of(source));
                inner = Some(value);
            }
        } else if value.of(source).starts_with('[') {
            let items = json::elements(source, value).unwrap_or_default();
            if let Some(at) = items.iter().position(|item| holds(*item)) {
                write!(path, "[{at}]").expect("a string takes all");
                inner = Some(items[at]);
            }
        }
    }
    path
}
