//! Where images and documents may stand, and what documents are called.

use std::collections::HashSet;

use crate::json::{self, Span, quote, unquote};
use crate::request::Request;
use crate::transcript::{Entry, Marks, Part, PartKind, Role, Slot};
use crate::wire::rules::{self, Finding, Mend};
use crate::wire::tool_names;

/// Documents in one message (`Message` of the service model).
const MOST_DOCUMENTS: usize = 5;

pub(super) fn check(request: &Request) -> Vec<Finding> {
    let mut findings = names(request);
    findings.extend(cache_points(request));
    let path = ["toolConfig", "tools", "", "toolSpec"];
    let choice = ["toolConfig", "toolChoice", "tool", "name"];
    findings.extend(tool_names::unknown_choice(request, &path, &choice, rules::BEDROCK_VALUE));
    for entry in request.transcript.entries() {
        let media: Vec<_> = entry
            .parts()
            .filter(|part| part.kind() == PartKind::Media && !part.is(Marks::NESTED))
            .collect();
        if entry.role() == Role::Assistant {
            let of_part = |part: &Part<'_>| {
                Finding::of_part(rules::BEDROCK_SIDE, entry.index, part.slot, part.name())
            };
            findings.extend(media.iter().map(of_part));
        } else {
            findings.extend(company(entry, &media));
        }
    }
    findings
}

/// Cache points in one request (AWS: prompt caching).
const MOST_POINTS: usize = 4;

/// Cache points that are too many: one further on has all that an earlier one would.
fn cache_points(request: &Request) -> Vec<Finding> {
    let in_list = |list: &str| {
        let elements = json::elements(list, Span::new(0..list.len())).unwrap_or_default();
        let is_object = |element: &&Span| element.of(list).starts_with('{');
        let is_point = |element: &&Span| json::member(list, **element, "cachePoint").is_some();
        elements.iter().filter(is_object).filter(is_point).count()
    };
    let around = [request.system(), request.value(&["toolConfig", "tools"])];
    let around: usize = around.into_iter().flatten().map(in_list).sum();
    let entries = request.transcript.entries();
    let points: Vec<(usize, Slot)> = entries
        .flat_map(|entry| entry.parts().map(move |part| (entry.index, part)))
        .filter(|(_, part)| part.kind() == PartKind::Opaque && part.name() == "cachePoint")
        .map(|(at, part)| (at, part.slot))
        .collect();
    let all = around + points.len();
    // Where those around the messages are too many already, dropping one in them helps nothing.
    if around > MOST_POINTS {
        let detail = format!("{around} cache points around the messages");
        return vec![Finding::of_member(rules::BEDROCK_VALUE, "system", detail)];
    }
    let surplus = points.into_iter().take(all.saturating_sub(MOST_POINTS));
    let of_point = |(at, slot)| {
        let mend = Mend::DropPart(slot);
        let detail = format!("{all} cache points");
        Finding::of_entry(rules::BEDROCK_VALUE, at, Some(slot), detail, mend)
    };
    surplus.map(of_point).collect()
}

/// What documents of a message have beside them.
fn company(entry: Entry<'_>, media: &[Part<'_>]) -> Option<Finding> {
    let mut documents = media.iter().filter(|part| name(part).is_some());
    let first = documents.next()?;
    let count = documents.count() + 1;
    let slot = Some(first.slot);
    let find =
        |rule, detail: String, mend| Some(Finding::of_entry(rule, entry.index, slot, detail, mend));
    if count > MOST_DOCUMENTS {
        return find(rules::BEDROCK_VALUE, format!("{count} documents"), Mend::Nothing);
    }
    if entry.parts().any(|part| part.kind() == PartKind::Text && !part.is(Marks::NESTED)) {
        return None;
    }
    let mend = element(entry, first).map_or(Mend::Nothing, |value| {
        let block = value.relative_to(entry.span().start).of(entry.raw());
        Mend::Overwrite { value, json: format!(r#"{block},{{"text":{}}}"#, quote(BESIDE)) }
    });
    find(rules::BEDROCK_MISSING, "no text beside a document".to_owned(), mend)
}

/// The element of the content that holds the part.
fn element(entry: Entry<'_>, part: &Part<'_>) -> Option<Span> {
    let raw = entry.raw();
    let content = json::member(raw, Span::new(0..raw.len()), "content")?;
    let span = part.row().span.relative_to(entry.span().start);
    let elements = json::elements(raw, content).ok()?;
    let holder = elements.into_iter().find(|one| one.start <= span.start && span.end <= one.end)?;
    Some(holder.shifted_by(entry.span().start))
}

/// The text put beside a document that has none.
const BESIDE: &str = "[document]";

/// Documents of one name: the later ones get another.
fn names(request: &Request) -> Vec<Finding> {
    let source = request.source();
    let documents: Vec<_> = request
        .transcript
        .entries()
        .flat_map(|entry| entry.parts().map(move |part| (entry.index, part)))
        .filter_map(|(at, part)| Some((at, part.slot, name(&part)?)))
        .collect();
    let text = |span: Span| unquote(span.of(source)).into_owned();
    let mut taken: HashSet<String> = documents.iter().map(|(_, _, span)| text(*span)).collect();
    let mut seen: HashSet<String> = HashSet::new();
    let mut findings = Vec::new();
    for (at, slot, span) in documents {
        let said = text(span);
        if seen.insert(said.clone()) {
            continue;
        }
        // A number behind it has room (at most 200 characters).
        let stem: String = said.chars().take(190).collect();
        let mut numbered = (2..).map(|number| format!("{} {number}", stem.trim_end()));
        let fresh = numbered.find(|name| taken.insert(name.clone())).expect("numbers don't end");
        let mend = Mend::Overwrite { value: span, json: quote(&fresh) };
        let (rule, detail) = (rules::BEDROCK_VALUE, format!("a second document `{said}`"));
        findings.push(Finding::of_entry(rule, at, Some(slot), detail, mend));
    }
    findings
}

/// Where the name of a document stands; other media have none.
fn name(part: &Part<'_>) -> Option<Span> {
    let raw = part.raw();
    let is_one = part.kind() == PartKind::Media && raw.starts_with('{');
    let name = is_one.then(|| json::member(raw, Span::new(0..raw.len()), "name")).flatten()?;
    Some(name.shifted_by(part.row().span.start))
}
