//! What values are made of by the providers' own SDKs, as tables: members, types and values.
//!
//! A provider may know more by tomorrow than these tables do today. So only [`inspect`](super::inspect) holds a request to
//! them; a compaction carries what it doesn't know.

mod media;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::rules::{Finding, Mend, RuleId};
use crate::json::{self, Span, quote, unquote};
use crate::text::secrets::beginning;
use crate::transcript::Entry;

/// The form of a value. A required object, string or list of this many must be one; other forms aren't judged here, nor are null
/// members, which count as missing.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    Any,
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// The same, or a number for one: JSON of protocol buffers has either.
    Enum(&'static [&'static str]),
    /// A string of which this holds.
    Such(fn(&str) -> bool),
    /// True or false.
    Flag,
    /// Nothing but null.
    Barred,
    /// A number, if it is one, that isn't below this.
    Least(f64),
    /// A media type: an image's is one of these.
    Media(&'static [&'static str]),
    /// Bytes as base64.
    Data,
    /// An address with a scheme. Where it is a data URL with an image, that is of one of these types.
    Address(&'static [&'static str]),
    Object(&'static Object),
    /// Each element of a list; another value isn't judged.
    List(&'static Shape),
    /// The same, and another value is of the second form.
    ListOr(&'static Shape, &'static Shape),
    /// One of these strings, and another value is of the form.
    WordOr(&'static [&'static str], &'static Shape),
    /// A list of so many elements: at least, and at most.
    Listed(usize, usize, &'static Shape),
    /// An object whose `type` says what it is made of.
    Typed(&'static Typed),
}

/// The members of an object; lists of names are words.
pub(super) struct Object {
    /// Those that may be anything.
    plain: &'static str,
    shaped: &'static [(&'static str, Shape)],
    /// Those that must be there.
    needed: &'static str,
    /// The required members, with an empty value for each.
    filled: &'static [(&'static str, &'static str)],
    /// One of which must be there.
    either: &'static str,
    /// A member, and another beside which it can't stand.
    apart: &'static [(&'static str, &'static str)],
    others: Others,
}

impl Object {
    /// Has these members, each of which may be anything.
    pub(super) const fn of(plain: &'static str) -> Self {
        let (either, apart) = ("", &[] as &[_]);
        let others = Others::Refused;
        Object { plain, shaped: &[], needed: "", filled: &[], either, apart, others }
    }

    /// Has members that others judge, too.
    pub(super) const fn open(plain: &'static str) -> Self {
        Object { others: Others::Taken, ..Object::of(plain) }
    }

    /// One member of these is all that it says.
    pub(super) const fn union(plain: &'static str) -> Self {
        Object { others: Others::Kind, ..Object::of(plain) }
    }

    pub(super) const fn with(self, shaped: &'static [(&'static str, Shape)]) -> Self {
        Object { shaped, ..self }
    }

    pub(super) const fn needing(self, needed: &'static str) -> Self {
        Object { needed, ..self }
    }

    pub(super) const fn filled(self, filled: &'static [(&'static str, &'static str)]) -> Self {
        Object { filled, ..self }
    }

    pub(super) const fn either(self, either: &'static str) -> Self {
        Object { either, ..self }
    }

    pub(super) const fn apart(self, apart: &'static [(&'static str, &'static str)]) -> Self {
        Object { apart, ..self }
    }
}

/// What another member, or another type, is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Others {
    /// Left to the provider.
    Taken,
    /// A breach.
    Refused,
    /// A breach, and the one thing that the object says.
    Kind,
}

/// The objects of which a list holds some.
pub(super) struct Typed {
    pub(super) of: fn(&str) -> Option<&'static Object>,
    /// What an object without a type is.
    pub(super) untyped: Option<&'static Object>,
    pub(super) others: Others,
}

/// A format's shapes, and the rules that they stand for.
pub(crate) struct Shapes {
    /// What an entry is.
    pub(super) entry: Shape,
    /// What stands around the list of entries.
    pub(super) body: Shape,
    pub(super) names: Names,
    pub(super) kind: RuleId,
    pub(super) member: RuleId,
    pub(super) value: RuleId,
    pub(super) missing: RuleId,
}

/// How members may be spelt.
#[derive(Clone, Copy)]
pub(super) enum Names {
    /// As the tables have them.
    Exact,
    /// Also in snake case, as protocol buffers may.
    EitherCase,
}

/// Whether a tool may have this name: 1 to 128 letters, digits, `_` and `-`.
pub(super) fn is_tool_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (1..=128).contains(&name.chars().count()) && name.chars().all(is_allowed)
}

pub(super) fn says_something(text: &str) -> bool {
    !text.trim().is_empty()
}

pub(super) fn is_any(_text: &str) -> bool {
    true
}

/// The findings in this entry, except in `spared`.
pub(super) fn of_entry(
    shapes: &Shapes,
    source: &str,
    entry: Entry<'_>,
    spared: &BTreeSet<Span>,
) -> Vec<Finding> {
    let entry_of = Some(entry.index);
    Reading::of(shapes, source, entry_of, spared, (entry.span(), &shapes.entry))
}

/// What is found around the entries, in the body at `span`.
pub(super) fn of_body(shapes: &Shapes, source: &str, span: Span) -> Vec<Finding> {
    Reading::of(shapes, source, None, &BTreeSet::new(), (span, &shapes.body))
}

struct Reading<'a> {
    shapes: &'a Shapes,
    source: &'a str,
    /// The entry in question; none for frame members.
    entry: Option<usize>,
    spared: &'a BTreeSet<Span>,
    /// Where the value stands that is read.
    path: Vec<Step>,
    findings: Vec<Finding>,
}

enum Step {
    Member(String),
    Element(usize),
}

impl<'a> Reading<'a> {
    fn of(
        shapes: &'a Shapes,
        source: &'a str,
        entry: Option<usize>,
        spared: &'a BTreeSet<Span>,
        (span, shape): (Span, &Shape),
    ) -> Vec<Finding> {
        let (path, findings) = (Vec::new(), Vec::new());
        let mut reading = Reading { shapes, source, entry, spared, path, findings };
        reading.value(span, shape, "");
        reading.findings
    }

    fn find(&mut self, rule: RuleId, detail: String, mend: Mend) {
        let member = match self.entry {
            Some(_) => None,
            None => Some(self.place()),
        };
        let entry = self.entry.unwrap_or_default();
        self.findings.push(Finding { rule, entry, member, slot: None, detail, mend });
    }

    fn place(&self) -> String {
        let mut place = String::new();
        for step in &self.path {
            match step {
                Step::Element(at) => write!(place, "[{at}]").expect("a string takes all"),
                Step::Member(name) if place.is_empty() => place.clone_from(name),
                Step::Member(name) => write!(place, ".{name}").expect("a string takes all"),
            }
        }
        place
    }

    /// Does it with what stands one step further in.
    fn inside(&mut self, step: Step, act: impl FnOnce(&mut Self)) {
        self.path.push(step);
        act(self);
        self.path.pop();
    }

    fn value(&mut self, span: Span, shape: &Shape, name: &str) {
        if self.spared.contains(&span) {
            return;
        }
        let raw = span.of(self.source);
        match (shape, raw.as_bytes().first()) {
            (Shape::Object(object), Some(b'{')) => self.object(span, object, name),
            (Shape::List(shape) | Shape::ListOr(shape, _), Some(b'[')) => {
                self.list(span, (0, usize::MAX), shape, name);
            }
            (Shape::ListOr(_, other), _) => self.value(span, other, name),
            (Shape::Listed(least, most, shape), Some(b'[')) => {
                self.list(span, (*least, *most), shape, name);
            }
            (Shape::Typed(typed), Some(b'{')) => self.typed(span, typed, name),
            (Shape::Object(_) | Shape::Typed(_) | Shape::Listed(..), _) if self.must_be(raw) => {
                self.find(self.shapes.kind, format!("{name}: {}", said(raw)), Mend::Nothing);
            }
            (Shape::OneOf(known) | Shape::Enum(known) | Shape::WordOr(known, _), Some(b'"')) => {
                self.word(span, known, name);
            }
            (Shape::WordOr(_, other), _) => self.value(span, other, name),
            (Shape::Enum(_), Some(b'0'..=b'9')) => {}
            (Shape::Such(holds), Some(b'"')) if holds(&unquote(raw)) => {}
            (Shape::Least(least), Some(b'-' | b'0'..=b'9'))
                if raw.parse::<f64>().is_ok_and(|number| number < *least) =>
            {
                self.refuse(name, raw);
            }
            (Shape::Flag, Some(b't' | b'f')) => {}
            (
                Shape::OneOf(_) | Shape::Enum(_) | Shape::Such(_) | Shape::Flag | Shape::Barred,
                _,
            ) if raw != "null" => {
                self.refuse(name, raw);
            }
            (Shape::Media(images), Some(b'"')) if media::is_image(&unquote(raw)) => {
                self.word(span, images, name);
            }
            (Shape::Data, Some(b'"')) => self.data(span, name),
            (Shape::Address(images), _) => self.address(span, images, name),
            _ => {}
        }
    }

    /// Whether something must stand where this is read. Base rules judge entries that are no objects, or of no type.
    fn must_be(&self, raw: &str) -> bool {
        match self.path.last() {
            None => false,
            Some(Step::Member(_)) => raw != "null",
            Some(Step::Element(_)) => true,
        }
    }

    fn list(&mut self, span: Span, (least, most): (usize, usize), shape: &Shape, name: &str) {
        let items = json::elements(self.source, span).unwrap_or_default();
        let count = items.len();
        if !(least..=most).contains(&count) {
            let detail = match most {
                usize::MAX => format!("{name}: {count} of at least {least}"),
                most => format!("{name}: {count}, not {least} to {most}"),
            };
            self.find(self.shapes.value, detail, Mend::Nothing);
        }
        for (at, item) in items.into_iter().enumerate() {
            self.inside(Step::Element(at), |this| this.value(item, shape, name));
        }
    }

    fn refuse(&mut self, name: &str, raw: &str) {
        self.find(self.shapes.value, format!("{name}: {}", said(raw)), Mend::Nothing);
    }

    /// A string that must be one of these; one that is only spelt otherwise is written right.
    fn word(&mut self, span: Span, known: &[&str], name: &str) {
        let raw = span.of(self.source);
        let word = unquote(raw);
        if known.contains(&word.as_ref()) {
            return;
        }
        let mend = match right(&word, known) {
            Some(right) => Mend::Overwrite { value: span, json: quote(right) },
            None => Mend::Nothing,
        };
        self.find(self.shapes.value, format!("{name}: {}", said(raw)), mend);
    }

    fn typed(&mut self, span: Span, typed: &Typed, name: &str) {
        let said_kind = json::member(self.source, span, "type").map(|kind| kind.of(self.source));
        let kind = said_kind.filter(|kind| *kind != "null").map(unquote);
        let object = match &kind {
            Some(kind) => (typed.of)(kind),
            None => typed.untyped,
        };
        let is_word = said_kind.is_some_and(|kind| kind.starts_with('"'));
        match (object, kind) {
            (Some(object), _) => self.object(span, object, name),
            (None, Some(kind)) if typed.others != Others::Taken || !is_word => {
                self.find(self.shapes.kind, said(&kind), Mend::Nothing);
            }
            (None, None) if !self.path.is_empty() => {
                self.find(self.shapes.kind, format!("no type of {name}"), Mend::Nothing);
            }
            _ => {}
        }
    }

    fn object(&mut self, span: Span, object: &Object, name: &str) {
        let members = json::members(self.source, span).unwrap_or_default();
        let shape_of = |key: Span| {
            let key = unquote(key.of(self.source));
            let plain = object.plain.split_whitespace().map(|name| (name, &Shape::Any));
            let shaped = object.shaped.iter().map(|(name, shape)| (*name, shape));
            plain.chain(shaped).find(|(known, _)| self.is_name(known, &key))
        };
        let shapes: Vec<_> = members.iter().map(|(key, _)| shape_of(*key)).collect();
        if object.others != Others::Taken {
            self.strangers(object, &members, &shapes);
        }
        if object.others == Others::Kind && members.is_empty() {
            self.find(self.shapes.kind, format!("nothing in {name}"), Mend::Nothing);
        }
        for ((_, value), known) in members.iter().zip(&shapes) {
            if let Some((name, shape)) = known {
                let step = Step::Member((*name).to_owned());
                self.inside(step, |this| this.value(*value, shape, name));
            }
        }
        self.company(object, &members, &shapes, name);
        let bare = object.needed.split_whitespace().map(|needed| (needed, ""));
        for (needed, stand_in) in bare.chain(object.filled.iter().copied()) {
            let at = shapes.iter().rposition(|known| known.is_some_and(|(name, _)| name == needed));
            let there = at.map(|at| members[at].1);
            let mend = match (there, stand_in) {
                (Some(value), _) if value.of(self.source) != "null" => continue,
                (_, "") => Mend::Nothing,
                (Some(null), json) => Mend::Overwrite { value: null, json: json.to_owned() },
                (None, json) => {
                    Mend::AddMember { holder: span, member: format!("{}:{json}", quote(needed)) }
                }
            };
            let of = if name.is_empty() { String::new() } else { format!(" of {name}") };
            let step = Step::Member(needed.to_owned());
            self.inside(step, |this| {
                this.find(this.shapes.missing, format!("no {needed}{of}"), mend);
            });
        }
    }

    /// Members of which one must be there, or not both.
    fn company(
        &mut self,
        object: &Object,
        members: &[(Span, Span)],
        known: &[Option<(&str, &Shape)>],
        name: &str,
    ) {
        let is_there = |wanted: &str| {
            let mut all = members.iter().zip(known);
            all.any(|((_, value), known)| {
                known.is_some_and(|(name, _)| name == wanted) && value.of(self.source) != "null"
            })
        };
        let mut either = object.either.split_whitespace();
        let lacks = !object.either.is_empty() && !either.any(is_there);
        let both: Vec<_> =
            object.apart.iter().filter(|(one, other)| is_there(one) && is_there(other)).collect();
        if lacks {
            let detail = format!("{name}: none of {}", object.either);
            self.find(self.shapes.missing, detail, Mend::Nothing);
        }
        for (one, other) in both {
            let detail = format!("{other} beside {one}");
            let step = Step::Member((*other).to_owned());
            self.inside(step, |this| this.find(this.shapes.value, detail, Mend::Nothing));
        }
    }

    /// Members that aren't known. A run of them leaves together, as long as what is known stays.
    fn strangers(
        &mut self,
        object: &Object,
        members: &[(Span, Span)],
        known: &[Option<(&str, &Shape)>],
    ) {
        let is_bare = known.iter().all(Option::is_none);
        let mut at = 0;
        while at < members.len() {
            let run = known[at..].iter().take_while(|known| known.is_none()).count();
            if run == 0 {
                at += 1;
                continue;
            }
            let names: Vec<String> = members[at..at + run]
                .iter()
                .map(|(key, _)| unquote(key.of(self.source)).into_owned())
                .collect();
            // It is removed with the separator before it, or before the next element.
            let hole = match (at.checked_sub(1), members.get(at + run)) {
                (None, Some((next, _))) => Span { start: members[at].0.start, end: next.start },
                (before, _) => Span {
                    start: before.map_or(members[at].0.start, |before| members[before].1.end),
                    end: members[at + run - 1].1.end,
                },
            };
            let is_kind = object.others == Others::Kind && is_bare;
            let rule = if is_kind { self.shapes.kind } else { self.shapes.member };
            let mend = if is_bare { Mend::Nothing } else { Mend::LeaveOut(hole) };
            let step = Step::Member(names[0].clone());
            self.inside(step, |this| this.find(rule, names.join(", "), mend));
            at += run;
        }
    }

    fn is_name(&self, known: &str, key: &str) -> bool {
        if known == key {
            return true;
        }
        let Names::EitherCase = self.shapes.names else { return false };
        let mut letters = key.chars().peekable();
        known.chars().all(|c| {
            let is_start = c.is_ascii_uppercase();
            (!is_start || letters.next() == Some('_'))
                && letters.next() == Some(c.to_ascii_lowercase())
        }) && letters.peek().is_none()
    }
}

/// The one of these words that is meant by one that is spelt otherwise.
fn right<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word = word.trim().to_ascii_lowercase();
    // The one short form that every client knows, and no provider.
    let word = match word.strip_suffix("jpg") {
        Some(head) if head.is_empty() || head == "image/" => format!("{head}jpeg"),
        _ => word,
    };
    known.iter().find(|known| known.eq_ignore_ascii_case(&word)).copied()
}

/// The beginning of what was said.
fn said(raw: &str) -> String {
    beginning(raw, 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::rules;

    const INNER: Object = Object::of("")
        .with(&[("mimeType", Shape::Media(&["image/png", "image/jpeg"])), ("data", Shape::Data)])
        .filled(&[("data", "\"\"")]);
    const SHAPES: Shapes = Shapes {
        entry: Shape::Object(
            &Object::union("note memo")
                .with(&[
                    ("blob", Shape::Object(&INNER)),
                    ("way", Shape::OneOf(&["up", "down"])),
                    ("some", Shape::Listed(1, 2, &Shape::Such(says_something))),
                    ("count", Shape::Least(0.0)),
                    ("flag", Shape::Flag),
                    ("never", Shape::Barred),
                    ("url", Shape::Address(&["image/png"])),
                    ("pick", Shape::WordOr(&["up"], &Shape::Object(&INNER))),
                    ("all", Shape::ListOr(&Shape::Flag, &Shape::Object(&INNER))),
                ])
                .either("blob way some count flag url note memo never all pick")
                .apart(&[("note", "memo")]),
        ),
        body: Shape::Any,
        names: Names::EitherCase,
        kind: rules::GEMINI_KIND,
        member: rules::GEMINI_MEMBER,
        value: rules::GEMINI_VALUE,
        missing: rules::GEMINI_MISSING,
    };

    fn found(json: &str) -> Vec<(&'static str, Mend)> {
        let whole = Span::new(0..json.len());
        let found = Reading::of(&SHAPES, json, Some(0), &BTreeSet::new(), (whole, &SHAPES.entry));
        found.into_iter().map(|finding| (finding.rule.0, finding.mend)).collect()
    }

    #[test]
    fn names_are_read_in_either_case_and_nulls_are_not_there() {
        for right in [
            r#"{"blob":{"mimeType":"image/png","data":"AAAA"}}"#,
            r#"{"blob":{"mime_type":"video/odd","data":"AAAA"},"way":null}"#,
            r#"{"blob":null,"way":"up"}"#,
        ] {
            assert_eq!(found(right), [], "{right}");
        }
        let near = r#"{"blob":{"mime_typ":"image/png","mime_types":"x","data":"AAAA"}}"#;
        assert_eq!(found(near).len(), 1, "a run");
    }

    #[test]
    fn odd_spellings_are_corrected() {
        let overwritten = |json: &str| match &found(json)[..] {
            [(_, Mend::Overwrite { value, json: right })] => {
                format!("{}{right}{}", &json[..value.start as usize], &json[value.end as usize..])
            }
            other => format!("{other:?}"),
        };
        for said in ["image/JPG", "image/jpeg ", "Image/Jpeg"] {
            let json = format!(r#"{{"blob":{{"mimeType":"{said}","data":"AAAA"}}}}"#);
            assert_eq!(overwritten(&json), json.replace(said, "image/jpeg"));
        }
        assert_eq!(overwritten(r#"{"way":"Up"}"#), r#"{"way":"up"}"#);
        let url = r#"{"blob":{"data":"data:image/png;base64,AAAA"}}"#;
        assert_eq!(overwritten(url), r#"{"blob":{"data":"AAAA"}}"#);
        assert_eq!(overwritten(r#"{"blob":{"data":null}}"#), r#"{"blob":{"data":""}}"#);
        assert_eq!(found(r#"{"way":"left"}"#), [("gemini/value", Mend::Nothing)]);
    }

    #[test]
    fn values_must_have_the_right_form_and_number() {
        for right in [
            r#"{"some":["a","b"]}"#,
            r#"{"count":0}"#,
            r#"{"flag":false}"#,
            r#"{"never":null,"way":"up"}"#,
            r#"{"url":"HTTPS://e.x"}"#,
            r#"{"note":1,"memo":null}"#,
            r#"{"pick":"up"}"#,
            r#"{"pick":{"data":"AAAA"}}"#,
            r#"{"all":[true,false]}"#,
            r#"{"all":{"data":"AAAA"}}"#,
        ] {
            assert_eq!(found(right), [], "{right}");
        }
        for wrong in [
            r#"{"some":[]}"#,
            r#"{"some":["a","b","c"]}"#,
            r#"{"some":["a",7]}"#,
            r#"{"some":[" "]}"#,
            r#"{"count":-1}"#,
            r#"{"flag":"yes"}"#,
            r#"{"never":[]}"#,
            r#"{"url":"iVBORw0KGgo"}"#,
            r#"{"url":7}"#,
            r#"{"url":""}"#,
            r#"{"note":1,"memo":2}"#,
            r#"{"blob":{"data":"a%"}}"#,
            r#"{"pick":"down"}"#,
            r#"{"pick":{"data":"a%"}}"#,
            r#"{"all":[true,"yes"]}"#,
            r#"{"all":{"data":"a%"}}"#,
        ] {
            assert_eq!(found(wrong), [("gemini/value", Mend::Nothing)], "{wrong}");
        }
        for odd in [r#"{"some":"a"}"#, r#"{"all":"a"}"#, r#"{"pick":7}"#] {
            assert_eq!(found(odd), [("gemini/unknown-part", Mend::Nothing)], "{odd}");
        }
        assert_eq!(found(r#"{"way":null}"#), [("gemini/missing", Mend::Nothing)]);
    }

    #[test]
    fn unknown_members_leave_only_if_something_stays() {
        assert_eq!(found(r#"{"odd":1,"way":"up"}"#).len(), 1);
        assert_eq!(found(r#"{"odd":1,"odder":1}"#)[0], ("gemini/unknown-part", Mend::Nothing));
    }
}
