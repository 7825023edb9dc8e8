//! A survey, drawn in a terminal.

use std::fmt::Write as _;

use epitome::text::figure::counted;

use super::{facts, growth};
use crate::input::Prompt;
use crate::receipt;
use crate::survey::{Survey, Tool, shade, share};
use crate::terminal::{
    FAINT, GOOD, STRONG, WARN, bar, colour, count, left, line, paint, percent, put, right, size,
};
use epitome::count::ContentKind;

/// Draws all of it in `width` columns.
pub(super) fn draw(survey: &Survey, width: usize) -> String {
    let mut out = String::new();
    head(&mut out, survey, width);
    kinds(&mut out, survey, width);
    tools(&mut out, survey, width);
    steps(&mut out, survey, width);
    rules(&mut out, survey, width);
    foot(&mut out, survey);
    out
}

/// A line that ends where its words do.
fn row(out: &mut String, text: &str) {
    put!(out, "{}", text.trim_end());
}

fn title(out: &mut String, text: &str, note: &str) {
    row(out, "");
    let gap = if note.is_empty() { "" } else { "  " };
    put!(out, "{}{gap}{}", paint(STRONG, text), paint(FAINT, note));
}

fn head(out: &mut String, survey: &Survey, width: usize) {
    let tokens = paint(STRONG, format!("{} tokens", count(survey.total.tokens)));
    let how = paint(FAINT, receipt::basis(survey.total, &survey.counter));
    put!(out, "{tokens} {how}");
    if let Some(Prompt { entries, tokens }) = survey.source.reported {
        // A recording may lack them.
        let of = format!("first {} with system prompt and tools", counted(entries, "message"));
        row(out, &format!("{} tokens reported for the {of}", count(tokens)));
    }
    row(out, &facts(survey));
    if let Some(reading) = &survey.reader {
        row(out, &reading.words(survey.total));
    }
    let source = &survey.source;
    let recording = source.recording.as_deref().map(|kind| format!("{kind}, as "));
    let model = survey.model.as_deref().map(|model| format!(" for {}", line(model, 60)));
    let mut from = vec![format!(
        "{}{}{}",
        recording.unwrap_or_default(),
        survey.format,
        model.unwrap_or_default()
    )];
    if source.compactions > 0 {
        from.push(format!("compacted {} before", counted(source.compactions, "time")));
    }
    if !source.sidechains.is_empty() {
        from.push(counted(source.sidechains.len(), "sub-agent"));
    }
    if source.skipped > 0 {
        from.push(format!("{} left out", counted(source.skipped, "row")));
    }
    row(out, &paint(FAINT, line(&from.join(", "), width)));
}

fn kinds(out: &mut String, survey: &Survey, width: usize) {
    title(out, "What fills it", "");
    let kinds = survey.by_weight();
    // Where there is little room, bytes go first, then bars.
    let has_sizes = width >= 60;
    let room = room(width, 38 + if has_sizes { 11 } else { 0 });
    let largest = kinds.first().map_or(0, |share| share.weight.tokens);
    for share in kinds {
        let drawn = bar(share.weight.tokens, largest, room);
        let mut line = left(share.kind.words(), 16);
        if room > 0 {
            write!(line, " {}", paint(colour(shade(share.kind)), left(&drawn, room)))
                .expect("a string takes all");
        }
        let share_of_all = right(&percent(share.weight.tokens, survey.total.tokens), 7);
        write!(line, " {share_of_all} {}", right(&count(share.weight.tokens), 10))
            .expect("a string takes all");
        if has_sizes {
            let size = right(&size(share.weight.bytes as usize), 10);
            write!(line, " {}", paint(FAINT, size)).expect("a string takes all");
        }
        row(out, &line);
    }
    let human = percent(of_kind(survey, ContentKind::Human), survey.total.tokens);
    let messages = counted(survey.human_messages, "message");
    row(out, &paint(FAINT, format!("A person wrote {human} of it, in {messages}.")));
}

/// Columns that are left for a bar; none where it would say nothing.
fn room(width: usize, others: usize) -> usize {
    match width.saturating_sub(others + 1) {
        ..6 => 0,
        room => room,
    }
}

fn of_kind(survey: &Survey, kind: ContentKind) -> u64 {
    survey.kinds.iter().find(|share| share.kind == kind).map_or(0, |share| share.weight.tokens)
}

/// Tools that are drawn; the rest is summed up.
const MOST_TOOLS: usize = 12;

fn tools(out: &mut String, survey: &Survey, width: usize) {
    if survey.tools.is_empty() && survey.definitions.tools == 0 {
        return;
    }
    title(out, "Tools", "");
    let shown = &survey.tools[..survey.tools.len().min(MOST_TOOLS)];
    let names = shown.iter().map(|tool| tool.name.chars().count());
    let failures = shown.iter().any(|tool| tool.weight.errors > 0);
    let failed_width = if failures { 7 } else { 0 };
    // Where there is little room, tokens go first, then bars.
    let has_tokens = width >= 62 + failed_width;
    let others = if has_tokens { 37 } else { 16 } + failed_width;
    let most = width.saturating_sub(others).min(28);
    let name_width = names.max().unwrap_or(0).clamp(8, 28.min(most.max(8)));
    let room = room(width, name_width + others);
    let gap = if room > 0 { room + 1 } else { 0 };
    let tokens = |arguments: &str, results: &str| {
        if has_tokens { format!(" {arguments:>9} {results:>9}") } else { String::new() }
    };
    let heads = format!(
        "{}{:>6}{}{} {:>7}",
        " ".repeat(name_width + gap + 1),
        "calls",
        if failures { " failed" } else { "" },
        tokens("arguments", "results"),
        "share"
    );
    row(out, &paint(FAINT, heads));
    let largest = shown.first().map_or(0, Tool::tokens);
    for tool in shown {
        let failed = match tool.weight.errors {
            _ if !failures => String::new(),
            0 => " ".repeat(7),
            errors => paint(WARN, right(&count(errors), 7)),
        };
        let bars =
            if room > 0 { format!(" {}", two_bars(tool, largest, room)) } else { String::new() };
        put!(
            out,
            "{}{bars} {}{failed}{} {}",
            left(&line(&tool.name, name_width), name_width),
            right(&count(tool.weight.calls), 6),
            tokens(&count(tool.weight.argument_tokens), &count(tool.weight.result_tokens)),
            right(&percent(tool.tokens(), survey.total.tokens), 7),
        );
    }
    if survey.tools.len() > MOST_TOOLS {
        let rest = &survey.tools[MOST_TOOLS..];
        let tokens: u64 = rest.iter().map(Tool::tokens).sum();
        let share = percent(tokens, survey.total.tokens);
        row(out, &paint(FAINT, format!("and {} more tools with {share}", rest.len())));
    }
    if survey.definitions.tools > 0 {
        let all = &survey.definitions;
        let mut text = format!(
            "{} defined: {} tokens, {} of it all",
            counted(all.tools, "tool"),
            count(all.tokens),
            percent(all.tokens, survey.total.tokens)
        );
        if all.unused > 0 {
            let tokens = count(all.unused_tokens);
            write!(text, "; {} of them never called ({tokens} tokens)", all.unused)
                .expect("a string takes all");
        }
        row(out, &paint(FAINT, text));
    }
}

/// Arguments and results, one behind the other; where they meet, at a whole column.
fn two_bars(tool: &Tool, largest: u64, room: usize) -> String {
    let both = bar(tool.tokens(), largest, room);
    let columns = both.chars().count();
    let share = share(tool.weight.argument_tokens, tool.tokens());
    let first = (columns as f64 * share).round() as usize;
    let arguments: String = both.chars().take(first).collect();
    let results: String = both.chars().skip(first).collect();
    format!(
        "{}{}{}",
        paint(colour(shade(ContentKind::CallArguments)), arguments),
        paint(colour(shade(ContentKind::ToolResults)), results),
        " ".repeat(room - columns)
    )
}

/// Heaviest steps that are named.
const NAMED: usize = 5;

fn steps(out: &mut String, survey: &Survey, width: usize) {
    if survey.timeline.is_empty() {
        return;
    }
    title(out, "Growth", "tokens in the context, from the first message to the last");
    for line in growth::rows(survey, width) {
        row(out, &line);
    }
    title(out, "Biggest steps", "");
    for at in survey.biggest.iter().take(NAMED) {
        let moment = &survey.timeline[*at];
        let place = if moment.from == moment.to {
            format!("[{}]", moment.from)
        } else {
            format!("[{}–{}]", moment.from, moment.to)
        };
        row(
            out,
            &format!(
                "{} {} {}",
                right(&count(moment.tokens), 9),
                paint(FAINT, left(&place, 11)),
                line(&moment.does, width.saturating_sub(23).max(8))
            ),
        );
    }
}

/// Rules that are listed.
const RULES: usize = 6;

fn rules(out: &mut String, survey: &Survey, width: usize) {
    let rules = &survey.unpinned_rules;
    if rules.is_empty() {
        return;
    }
    title(out, "Rules that no pin protects", "--pin TEXT keeps one verbatim");
    for rule in rules.iter().take(RULES) {
        let place = paint(FAINT, left(&format!("[{}]", rule.entry), 7));
        put!(out, "{place} {}", line(&rule.text, width.saturating_sub(9).max(8)));
    }
    if rules.len() > RULES {
        row(out, &paint(FAINT, format!("and {} more (--json)", rules.len() - RULES)));
    }
}

fn foot(out: &mut String, survey: &Survey) {
    row(out, "");
    if survey.findings.is_empty() {
        let text = paint(GOOD, "check found nothing");
        put!(out, "{text} by the rules of {}", survey.format);
    } else {
        let found: Vec<String> =
            survey.findings.iter().map(|(rule, times)| format!("{rule} × {times}")).collect();
        let text = paint(WARN, "check found");
        put!(out, "{text} {}", found.join(", "));
        put!(out, "{} epitome check {}", paint(STRONG, "hint:"), survey.source.operand());
    }
}
