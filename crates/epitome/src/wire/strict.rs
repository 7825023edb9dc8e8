//! What strict readers of JSON refuse in a text that is JSON: a byte order mark (RFC 8259, 8.1), half a character (RFC 7493, 2.1),
//! a number beyond doubles (RFC 7493, 2.2), a member that is there twice (RFC 7493, 2.3). And nesting deeper than a provider
//! reads.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use memchr::memmem;

use super::Field;
use super::breach::{Finding, Mend};
use super::inspect::{Spans, body};
use super::rules::{RULES, RuleId};
use crate::json::{self, Scanner, Span, escape};
use crate::request::{Envelope, Request};
use crate::transcript::PartKind;

const REPLACEMENT: &str = "\\ufffd";
/// Digits of the smallest whole number beyond doubles.
const DIGITS: usize = 309;

/// The byte order mark and half characters in a request: what can be mended.
pub(super) fn characters(request: &Request) -> Vec<Finding> {
    let source = request.source();
    let is_marked = source.starts_with('\u{feff}');
    let is_surrogate = |at: usize| matches!(source.as_bytes().get(at + 2), Some(b'd' | b'D'));
    let is_halved = memmem::find_iter(source.as_bytes(), b"\\u").any(is_surrogate);
    if !is_marked && !is_halved {
        return Vec::new();
    }
    let Some(mut strict) = Strict::of(request) else { return Vec::new() };
    if is_marked {
        let mark = Span::new(0..'\u{feff}'.len_utf8());
        strict.find(mark, "a byte order mark", Mend::LeaveOut(mark));
    }
    if is_halved {
        strict.strings();
    }
    strict.findings
}

/// Numbers beyond doubles, members that are there twice and too deep nesting: what only the author can mend.
pub(super) fn numbers_and_depth(request: &Request) -> Vec<Finding> {
    let Some(mut strict) = Strict::of(request) else { return Vec::new() };
    strict.read(request.format.dialect().terms().deepest);
    strict.findings
}

/// A member that isn't read, because another says the same.
pub(crate) struct Unread {
    /// The entry in which it stands.
    pub entry: Option<usize>,
    pub name: String,
}

/// Members of which a later one of their name is read, or one that is spelt otherwise.
pub(crate) fn unread(request: &Request) -> Vec<Unread> {
    let Some(mut strict) = Strict::of(request) else { return Vec::new() };
    strict.read(usize::MAX);
    let twice = strict.twice.into_iter().map(|(value, name)| {
        let at = strict.entries.partition_point(|entry| entry.end <= value.start);
        let entry = strict.entries.get(at).filter(|entry| entry.start <= value.start).map(|_| at);
        Unread { entry, name }
    });
    let others = others(request).into_iter().map(|(name, _)| Unread { entry: None, name });
    twice.chain(others).collect()
}

/// Members of the body that another says in another spelling or in another format's, with that one: the last one counts.
fn others(request: &Request) -> Vec<(String, String)> {
    let Some(body) = body(request) else { return Vec::new() };
    let (source, terms) = (request.source(), request.format.dialect().terms());
    let is_said = |value: &str| !matches!(value, "null" | "[]" | "\"\"");
    let members = json::members(source, body).unwrap_or_default().into_iter();
    let members = members.filter(|(_, value)| is_said(value.of(source)));
    let mut last: Vec<(Meant, String)> = Vec::new();
    let mut unread = Vec::new();
    for name in members.map(|(key, _)| json::unquote(key.of(source)).into_owned()) {
        let field = terms.fields.iter().find(|(key, _)| *key == name).map(|(_, field)| *field);
        let meant = match field {
            Some(Field::Elsewhere(_)) => continue,
            Some(field) => Meant::Field(field),
            None if LISTS.contains(&name.as_str()) => Meant::List,
            None => continue,
        };
        match last.iter_mut().find(|(known, _)| *known == meant) {
            Some((Meant::List, known)) if *known == terms.list => {
                unread.push((name, known.clone()));
            }
            Some((_, known)) if *known != name => {
                let earlier = std::mem::replace(known, name.clone());
                unread.push((earlier, name));
            }
            Some(_) => {}
            None => last.push((meant, name)),
        }
    }
    unread
}

/// What a member says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meant {
    Field(Field),
    List,
}

/// What formats call the list of messages.
const LISTS: [&str; 3] = ["messages", "contents", "input"];

struct Strict<'a> {
    request: &'a Request,
    rule: RuleId,
    /// Where the entries stand.
    entries: Vec<Span>,
    paths: Paths<'a>,
    findings: Vec<Finding>,
    /// Values of members that are there again, each with its name.
    twice: Vec<(Span, String)>,
}

impl<'a> Strict<'a> {
    fn of(request: &'a Request) -> Option<Self> {
        let own =
            |rule: &&super::Rule| rule.format == request.format && rule.id.0.ends_with("/json");
        let rule = RULES.iter().find(own)?.id;
        let paths = Paths { source: request.source(), known: HashMap::new() };
        let entries = request.transcript.entries().map(|entry| entry.span()).collect();
        Some(Strict { request, rule, entries, paths, findings: Vec::new(), twice: Vec::new() })
    }

    fn find(&mut self, span: Span, detail: &str, mend: Mend) {
        let at = self.entries.partition_point(|entry| entry.end <= span.start);
        let at = self.entries.get(at).filter(|entry| entry.start <= span.start).map(|_| at);
        let member = at.is_none().then(|| self.paths.of(span));
        let (entry, detail) = (at.unwrap_or_default(), detail.to_owned());
        self.findings.push(Finding { rule: self.rule, entry, member, slot: None, detail, mend });
    }

    /// Half characters in the strings of the text, which is known to be JSON.
    fn strings(&mut self) {
        let source: &str = self.request.source();
        let mut at = 0;
        while let Some(next) = memchr::memchr(b'"', &source.as_bytes()[at..]) {
            let start = (at + next) as u32;
            let Ok(text) = Scanner::starting_at(source, start).string() else { return };
            self.text(text);
            at = text.end as usize;
        }
    }

    /// Goes through the text, which is known to be JSON.
    fn read(&mut self, deepest: usize) {
        let source: &str = self.request.source();
        let bytes = source.as_bytes();
        // A bare list is sent in a body, and rows in the list of one.
        let around = match self.request.frame.envelope {
            Envelope::Body => 0,
            Envelope::Array => 1,
            Envelope::Lines => 2,
        };
        let (mut at, mut depth) = (0, around);
        let (mut keys, mut objects) = (Vec::new(), Vec::new());
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    let Ok(text) = Scanner::starting_at(source, at as u32).string() else { return };
                    at = text.end as usize;
                    let space = bytes[at..].iter().take_while(|it| it.is_ascii_whitespace());
                    if bytes.get(at + space.count()) == Some(&b':') {
                        keys.push(text);
                    }
                    continue;
                }
                b'{' | b'[' => {
                    if *byte == b'{' {
                        objects.push(keys.len());
                    }
                    depth += 1;
                    if depth == deepest.saturating_add(1) {
                        let detail = format!("nested more than {deepest} deep");
                        self.find(Span::new(at..at + 1), &detail, Mend::Nothing);
                    }
                }
                b'}' => {
                    depth -= 1;
                    let own = keys.split_off(objects.pop().unwrap_or_default());
                    self.twice.extend(repeated(source, &own));
                }
                b']' => depth -= 1,
                b'-' | b'0'..=b'9' => {
                    let is_of =
                        |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                    let length = bytes[at..].iter().take_while(|byte| is_of(byte)).count();
                    let number = &source[at..at + length];
                    let is_large = length >= DIGITS || number.contains(['e', 'E']);
                    if is_large && number.parse().is_ok_and(f64::is_infinite) {
                        self.find(Span::new(at..at + length), number, Mend::Nothing);
                    }
                    at += length;
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        if !self.twice.is_empty() {
            let payloads = payloads(self.request);
            self.twice.retain(|(value, _)| !payloads.hold(*value));
        }
        for (value, name) in self.twice.clone() {
            self.find(value, &format!("`{name}` twice"), Mend::Nothing);
        }
        for (name, other) in others(self.request) {
            let (rule, detail) = (self.rule, format!("`{name}` beside `{other}`"));
            self.findings.push(Finding::of_member(rule, &name, detail));
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

/// What calls and results say as objects: it is their tools' affair, and carried as it is.
fn payloads(request: &Request) -> Spans {
    let source = request.source();
    let parts = request.transcript.entries().flat_map(|entry| entry.parts());
    let parts = parts.filter(|part| matches!(part.kind(), PartKind::Call | PartKind::Result));
    let bodies = parts.map(|part| part.row().body);
    Spans::of(bodies.filter(|body| body.of(source).starts_with('{')).collect())
}

/// The members of an object whose names stand at `keys` that are there again: where the value begins, and the name.
fn repeated(source: &str, keys: &[Span]) -> Vec<(Span, String)> {
    let name = |key: &Span| json::unquote(key.of(source));
    let value = |key: &Span| {
        let behind = &source[key.end as usize..];
        let value = behind.trim_start_matches(|c: char| c == ':' || c.is_ascii_whitespace());
        let start = source.len() - value.len();
        Span::new(start..start + 1)
    };
    let mut known: HashSet<Cow<'_, str>> = HashSet::new();
    if keys.len() < 2 {
        return Vec::new();
    }
    keys.iter()
        .filter(|key| !known.insert(name(key)))
        .map(|key| (value(key), name(key).into_owned()))
        .collect()
}

/// Paths into a body.
struct Paths<'a> {
    source: &'a str,
    /// What stands in the objects and lists that were looked into, by where these begin.
    known: HashMap<u32, Vec<(String, Span)>>,
}

impl Paths<'_> {
    /// The path of the value at `span`; empty for the body itself.
    fn of(&mut self, span: Span) -> String {
        let mut path = String::new();
        let mut inner = self.source.find('{').map(|start| Span::new(start..self.source.len()));
        while let Some(value) = inner.filter(|value| value.start < span.start) {
            let source = self.source;
            let within = self.known.entry(value.start).or_insert_with(|| children(source, value));
            let at = within.partition_point(|(_, child)| child.end <= span.start);
            let child = within.get(at).filter(|(_, child)| child.start <= span.start);
            inner = child.map(|(name, child)| {
                path.push_str(if path.is_empty() { name.trim_start_matches('.') } else { name });
                *child
            });
        }
        path
    }
}

/// What stands in an object or a list, each with its step of a path: `.name`, `[1]`.
fn children(source: &str, value: Span) -> Vec<(String, Span)> {
    if value.of(source).starts_with('{') {
        let members = json::members(source, value).unwrap_or_default().into_iter();
        members.map(|(key, value)| (format!(".{}", json::unquote(key.of(source))), value)).collect()
    } else if value.of(source).starts_with('[') {
        let items = json::elements(source, value).unwrap_or_default().into_iter();
        items.enumerate().map(|(at, item)| (format!("[{at}]"), item)).collect()
    } else {
        Vec::new()
    }
}
