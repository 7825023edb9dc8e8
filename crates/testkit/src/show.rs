//! The notation's other direction: requests and views as text.

use std::fmt::Write as _;

use epitome::transcript::{Entry, Marks, Origin, Part, PartKind, Role};
use epitome::view::{Fate, PartEdit, Put, View};
use epitome::wire::json::unquote;
use epitome::wire::{Format, Request};

use crate::draft::is_flat;
use crate::prose;
use epitome::word_list::words;

/// `request` in the notation. Long words are cut, what `parse` can't draw is shown as well as it
/// goes; everything that `parse` made from short words and helpers comes back the same.
pub fn show(request: &Request) -> String {
    let mut out = String::new();
    system(request, "", &mut out);
    let mut after_results = false;
    for entry in request.transcript.entries() {
        let lines = entry_lines(request, entry);
        let is_results = lines.starts_with("res");
        if after_results && is_results && !is_flat(request.format) {
            out.push('\n');
        }
        after_results = is_results;
        out.push_str(&lines);
    }
    out
}

/// What `view` does to `request`: each entry after its fate, each edit below its entry, and the
/// checkpoint where it stands.
pub fn show_view(request: &Request, view: &View) -> String {
    let mut out = String::new();
    system(request, "     ", &mut out);
    let placed = view.checkpoint();
    let checkpoint = |at: usize, out: &mut String| {
        if let Some(placed) = placed.filter(|placed| placed.before == at) {
            let _ = writeln!(out, "here {}", placed.text.trim_end().replace('\n', "\n   | "));
        }
    };
    for (entry, fate) in request.transcript.entries().zip(view.fates()) {
        checkpoint(entry.index, &mut out);
        let (word, reason) = match fate {
            Fate::Keep => ("keep", None),
            Fate::Edit(_) => ("edit", None),
            Fate::Fold(reason) => ("fold", Some(reason)),
            Fate::Drop(reason) => ("drop", Some(reason)),
        };
        for line in entry_lines(request, entry).lines() {
            let _ = write!(out, "{word} {line}");
            let _ = reason.map(|reason| write!(out, "  # {}", reason.words()));
            out.push('\n');
        }
        for edit in edits(fate) {
            let part = request.transcript.part(edit.at);
            let put = match &edit.put {
                Put::Text(text) | Put::Arguments(text) => escape(&cut(text)),
                Put::Nothing => "nothing".to_owned(),
            };
            let _ = writeln!(out, "   > {} = {put}  # {}", head(part), edit.reason.words());
        }
    }
    checkpoint(view.len(), &mut out);
    out
}

fn edits(fate: &Fate) -> &[PartEdit] {
    match fate {
        Fate::Edit(edits) => edits,
        _ => &[],
    }
}

fn system(request: &Request, indent: &str, out: &mut String) {
    if let Some(system) = request.system() {
        let words = match request.format {
            Format::Gemini => parts_text(system),
            _ => unquote(system).into_owned(),
        };
        let _ = writeln!(out, "{indent}sys  {}", text(&words));
    }
}

/// The words of a content with parts.
fn parts_text(raw: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(raw).unwrap_or_default();
    let parts = value["parts"].as_array().into_iter().flatten();
    parts.filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
}

fn entry_lines(request: &Request, entry: Entry<'_>) -> String {
    let parts: Vec<Part<'_>> = entry.parts().collect();
    let tag = match entry.role() {
        Role::System => "sys",
        Role::Developer => "dev",
        Role::Assistant => "asst",
        Role::Tool => "res",
        Role::Other => return format!("raw  {}\n", entry.raw()),
        Role::User if parts.iter().all(|p| p.origin() == Origin::Injected) && parts.len() == 1 => {
            "inj"
        }
        Role::User => "user",
    };
    if parts.is_empty() {
        return format!("raw  {}\n", entry.raw());
    }
    let mut segments: Vec<String> = Vec::new();
    let mut links: Vec<String> = Vec::new();
    let mut is_result = false;
    for (index, part) in parts.iter().enumerate() {
        if part.kind() == PartKind::Link {
            links.push(segment(*part, entry.role()));
            continue;
        }
        if part.is(Marks::NESTED) {
            if !is_result {
                segments.push(String::new());
            }
            let words = segment(*part, Role::Tool);
            let result = segments.last_mut().expect("a result precedes its sub-parts");
            if !result.ends_with("= ") {
                result.push(' ');
            }
            result.push_str(&words);
            continue;
        }
        is_result = part.kind() == PartKind::Result;
        let has_nested = parts.get(index + 1).is_some_and(|next| next.is(Marks::NESTED));
        segments.push(match part.kind() {
            PartKind::Result if has_nested => format!("{} = ", head(*part)),
            _ => segment(*part, entry.role()),
        });
    }
    segments.append(&mut links);
    if segments[0].starts_with("res") {
        return result_lines(request, &segments);
    }
    let line = segments.join(" | ");
    let line = if tag == "inj" { line.strip_prefix("inj ").unwrap_or(&line) } else { &line };
    format!("{tag:<4} {line}\n")
}

/// A line for each result; what follows a result is on its line.
fn result_lines(request: &Request, segments: &[String]) -> String {
    let mut out = String::new();
    for segment in segments {
        let is_result = segment.starts_with("res");
        if is_result {
            let (tag, rest) = segment.split_once(' ').unwrap_or((segment, ""));
            let rest = if is_flat(request.format) { rest.trim_end() } else { rest };
            let _ = write!(
                out,
                "{}{tag:<4} {}",
                if out.is_empty() { "" } else { "\n" },
                rest.trim_end()
            );
        } else {
            let _ = write!(out, " | {segment}");
        }
    }
    out.push('\n');
    out
}

/// A part's tag and id.
fn head(part: Part<'_>) -> String {
    match part.kind() {
        PartKind::Text if part.origin() == Origin::Injected => "inj".to_owned(),
        PartKind::Text => "text".to_owned(),
        PartKind::Reasoning if part.is(Marks::SIGNED) => "think*".to_owned(),
        PartKind::Reasoning => "think".to_owned(),
        PartKind::Call if part.is(Marks::SERVER) => format!("srv {}", part.id()),
        PartKind::Call if part.id().is_empty() => format!("fn {}", part.name()),
        PartKind::Call => format!("call {}", part.id()),
        PartKind::Result if part.is(Marks::SERVER) => format!("srv {}", part.id()),
        PartKind::Result if part.is(Marks::ERROR) => format!("res! {}", part.id()),
        PartKind::Result if part.id().is_empty() => format!("res fn {}", part.name()),
        PartKind::Result => format!("res {}", part.id()),
        PartKind::Media => "media".to_owned(),
        PartKind::Opaque => "opaque".to_owned(),
        PartKind::Link => format!("id {}", part.text()),
    }
}

fn segment(part: Part<'_>, role: Role) -> String {
    match part.kind() {
        PartKind::Text => {
            let words = part.text();
            let cached = if part.raw().contains("\"cache_control\"") { " @cache" } else { "" };
            let inner = words
                .strip_prefix("<system-reminder>")
                .and_then(|w| w.strip_suffix("</system-reminder>"));
            match inner {
                Some(inner) if role == Role::User => format!("inj {}{cached}", text(inner)),
                _ if role == Role::User && part.origin() == Origin::Injected => {
                    format!("inj {}{cached}", text(&words))
                }
                _ if begins_like_a_part(&words) => format!("say {}{cached}", text(&words)),
                _ => format!("{}{cached}", text(&words)),
            }
        }
        PartKind::Reasoning if part.raw().contains("\"redacted_thinking\"") => {
            "redacted".to_owned()
        }
        PartKind::Reasoning if part.is(Marks::SIGNED) && !part.is(Marks::LITERAL) => {
            let is_beside = part.raw().starts_with('"');
            if is_beside { "sig".to_owned() } else { "redacted".to_owned() }
        }
        PartKind::Reasoning => format!("{} {}", head(part), text(&part.text())),
        PartKind::Call if part.id().is_empty() => format!("{} {}", head(part), part.text()),
        PartKind::Call => format!("{} {} {}", head(part), part.name(), arguments(&part.text())),
        PartKind::Result if part.is(Marks::SERVER) => {
            format!("{} = {}", head(part), text(&title(part.raw())))
        }
        PartKind::Result => format!("{} = {}", head(part), text(&part.text())),
        PartKind::Media => match prose::png_size(&part.text()) {
            Some((width, height)) => format!("{{img {width}x{height}}}"),
            None => "{doc}".to_owned(),
        },
        PartKind::Opaque if part.is(Marks::STATEFUL) && part.name() == "compaction" => {
            let value: serde_json::Value = serde_json::from_str(part.raw()).unwrap_or_default();
            format!("compaction {}", text(value["content"].as_str().unwrap_or_default()))
        }
        PartKind::Opaque => format!("opaque {}", part.raw()),
        PartKind::Link => format!("id {}", part.text()),
    }
}

fn title(raw: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(raw).unwrap_or_default();
    let content =
        if value["response"].is_null() { &value["content"] } else { &value["response"]["content"] };
    content[0]["title"].as_str().map_or_else(|| raw.to_owned(), str::to_owned)
}

fn begins_like_a_part(words: &str) -> bool {
    const PARTS: [&str; 13] =
        words!("id sig think think* redacted compaction opaque call fn srv res res! say");
    PARTS.contains(&words.split(' ').next().unwrap_or_default())
}

/// Words as the notation writes them: helpers found again, long ones cut, escapes put in.
fn text(words: &str) -> String {
    if words.len() > 24 {
        let count = words.split(' ').count();
        if words == prose::lorem(count) {
            return format!("{{lorem {count}}}");
        }
        let count = words.lines().count();
        if words.len() < 1 << 20 {
            for (name, made) in
                [("lines", prose::lines(count)), ("code", prose::code(count as u64, count))]
            {
                if words == made {
                    return format!("{{{name} {count}}}");
                }
            }
        }
    }
    escape(&cut(words))
}

fn arguments(json: &str) -> String {
    cut(json).replace('\n', " ")
}

fn cut(words: &str) -> String {
    const MOST: usize = 240;
    if words.chars().count() <= MOST {
        return words.to_owned();
    }
    let head: String = words.chars().take(MOST / 2).collect();
    let mut tail: Vec<char> = words.chars().rev().take(MOST / 4).collect();
    tail.reverse();
    let tail: String = tail.into_iter().collect();
    format!("{head} … {tail} ({} bytes)", words.len())
}

fn escape(words: &str) -> String {
    words.replace('\\', "\\\\").replace('\n', "\\n").replace(" | ", " \\| ").replace("  #", "  \\#")
}
