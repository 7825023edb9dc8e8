//! A survey, drawn in a terminal.

use std::fmt::Write as _;

use epitome::text::figure::counted;

use super::growth;
use crate::receipt;
use crate::survey::{Kind, Survey, Tool, share};
use crate::terminal::{
    FAINT, GOOD, STRONG, WARN, bar, colour, count, left, line, lines, paint, percent, right, shell,
    size,
};

/// Draws all of it in `width` columns.
pub(super) fn draw(survey: &Survey, width: usize) -> String {
    let mut out = String::new();
    head(&mut out, survey, width);
    kinds(&mut out, survey, width);
    tools(&mut out, survey, width);
    steps(&mut out, survey, width);
    foot(&mut out, survey);
    out
}

fn put(out: &mut String, text: &str) {
    writeln!(out, "{}", text.trim_end()).expect("a string takes all");
}

fn title(out: &mut String, text: &str, note: &str) {
    put(out, "");
    let gap = if note.is_empty() { "" } else { "  " };
    put(out, &format!("{}{gap}{}", paint(STRONG, text), paint(FAINT, note)));
}

fn head(out: &mut String, survey: &Survey, width: usize) {
    let tokens = paint(STRONG, format!("{} tokens", count(survey.total.tokens)));
    let how = paint(FAINT, receipt::basis(survey.total, &survey.counter));
    put(out, &format!("{tokens} {how}"));
    let mut facts = vec![
        size(survey.bytes),
        counted(survey.entries, "message"),
        counted(survey.steps, "step"),
        counted(survey.turns, "turn"),
        counted(survey.pairs, "call"),
    ];
    if survey.parallel_batches > 0 {
        let batches = if survey.parallel_batches == 1 { "batch" } else { "batches" };
        facts.push(format!("{} parallel {batches}", count(survey.parallel_batches)));
    }
    if survey.open_calls > 0 {
        facts.push(format!("{} unanswered", counted(survey.open_calls, "call")));
    }
    put(out, &facts.join(", "));
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
    put(out, &paint(FAINT, line(&from.join(", "), width)));
}

fn kinds(out: &mut String, survey: &Survey, width: usize) {
    title(out, "What fills it", "");
    let kinds = survey.by_weight();
    let room = width.saturating_sub(16 + 9 + 10 + 11 + 4).max(10);
    let largest = kinds.first().map_or(0, |share| share.weight.tokens);
    for share in kinds {
        let drawn = left(&bar(share.weight.tokens, largest, room), room);
        put(
            out,
            &format!(
                "{} {} {} {} {}",
                left(share.kind.words(), 16),
                paint(colour(share.kind.shade()), drawn),
                right(&percent(share.weight.tokens, survey.total.tokens), 7),
                right(&count(share.weight.tokens), 10),
                paint(FAINT, right(&size(share.weight.bytes as usize), 10)),
            ),
        );
    }
    let human = percent(of_kind(survey, Kind::Human), survey.total.tokens);
    let messages = counted(survey.human_messages, "message");
    put(out, &paint(FAINT, format!("A person wrote {human} of it, in {messages}.")));
}

fn of_kind(survey: &Survey, kind: Kind) -> u64 {
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
    let name_width = names.max().unwrap_or(0).clamp(8, 28);
    let failures = shown.iter().any(|tool| tool.errors > 0);
    let room = width.saturating_sub(name_width + 38 + if failures { 7 } else { 0 }).max(8);
    let heads = format!(
        "{}{:>6}{} {:>9} {:>9} {:>7}",
        " ".repeat(name_width + room + 2),
        "calls",
        if failures { " failed" } else { "" },
        "arguments",
        "results",
        "share"
    );
    put(out, &paint(FAINT, heads));
    let largest = shown.first().map_or(0, Tool::tokens);
    for tool in shown {
        let failed = match tool.errors {
            _ if !failures => String::new(),
            0 => " ".repeat(7),
            errors => paint(WARN, right(&count(errors), 7)),
        };
        put(
            out,
            &format!(
                "{} {} {}{failed} {} {} {}",
                left(&line(&tool.name, name_width), name_width),
                two_bars(tool, largest, room),
                right(&count(tool.calls), 6),
                right(&count(tool.argument_tokens), 9),
                right(&count(tool.result_tokens), 9),
                right(&percent(tool.tokens(), survey.total.tokens), 7),
            ),
        );
    }
    if survey.tools.len() > MOST_TOOLS {
        let rest = &survey.tools[MOST_TOOLS..];
        let tokens: u64 = rest.iter().map(Tool::tokens).sum();
        let share = percent(tokens, survey.total.tokens);
        put(out, &paint(FAINT, format!("and {} more tools with {share}", rest.len())));
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
        put(out, &paint(FAINT, text));
    }
}

/// Arguments and results, one behind the other; where they meet, at a whole column.
fn two_bars(tool: &Tool, largest: u64, room: usize) -> String {
    let both = bar(tool.tokens(), largest, room);
    let columns = both.chars().count();
    let share = share(tool.argument_tokens, tool.tokens());
    let first = (columns as f64 * share).round() as usize;
    let arguments: String = both.chars().take(first).collect();
    let results: String = both.chars().skip(first).collect();
    format!(
        "{}{}{}",
        paint(colour(Kind::CallArguments.shade()), arguments),
        paint(colour(Kind::ToolResults.shade()), results),
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
    for row in growth::rows(survey, width) {
        put(out, &row);
    }
    title(out, "Biggest steps", "");
    for at in survey.biggest.iter().take(NAMED) {
        let moment = &survey.timeline[*at];
        let place = if moment.from == moment.to {
            format!("[{}]", moment.from)
        } else {
            format!("[{}–{}]", moment.from, moment.to)
        };
        put(
            out,
            &format!(
                "{} {} {}",
                right(&count(moment.tokens), 9),
                paint(FAINT, left(&place, 11)),
                line(&moment.does, width.saturating_sub(23).max(16)),
            ),
        );
    }
}

fn foot(out: &mut String, survey: &Survey) {
    put(out, "");
    let file = match survey.source.file.as_str() {
        "-" => String::new(),
        file => format!(" {}", shell(&lines(file))),
    };
    if survey.findings.is_empty() {
        let text = paint(GOOD, "check found nothing");
        put(out, &format!("{text} by the rules of {}", survey.format));
    } else {
        let found: Vec<String> =
            survey.findings.iter().map(|(rule, times)| format!("{rule} × {times}")).collect();
        let text = paint(WARN, "check found");
        put(out, &format!("{text} {}", found.join(", ")));
        put(out, &format!("{} epitome check{file}", paint(STRONG, "hint:")));
    }
}
