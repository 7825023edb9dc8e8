//! A survey, drawn in a terminal.

use std::fmt::Write as _;

use epitome::text::figure::counted;

use crate::receipt;
use crate::survey::{Kind, Moment, Survey, Weights};
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
    let names = survey.tools.iter().map(|tool| tool.name.chars().count());
    let name_width = names.max().unwrap_or(0).clamp(8, 28);
    let room = width.saturating_sub(name_width + 7 + 11 + 11 + 9 + 4).max(8);
    let defined = survey.definitions.tools > 0;
    let heads = format!(
        "{} {} {:>6} {:>10} {:>10} {:>8}",
        left("", name_width),
        left("", room),
        "calls",
        "arguments",
        "results",
        "share"
    );
    put(out, &paint(FAINT, heads));
    let largest = survey.tools.first().map_or(0, crate::survey::Tool::tokens);
    for tool in survey.tools.iter().take(MOST_TOOLS) {
        let arguments = bar(tool.argument_tokens, largest, room);
        let rest = room.saturating_sub(arguments.chars().count());
        let results = bar(tool.result_tokens, largest, rest);
        let used = arguments.chars().count() + results.chars().count();
        let failed = match tool.errors {
            0 => String::new(),
            errors => paint(WARN, format!("  {errors} failed")),
        };
        put(
            out,
            &format!(
                "{} {}{}{} {} {} {} {}{failed}",
                left(&line(&tool.name, name_width), name_width),
                paint(colour(Kind::CallArguments.shade()), arguments),
                paint(colour(Kind::ToolResults.shade()), results),
                " ".repeat(room.saturating_sub(used)),
                right(&count(tool.calls), 6),
                right(&count(tool.argument_tokens), 10),
                right(&count(tool.result_tokens), 10),
                right(&percent(tool.tokens(), survey.total.tokens), 8),
            ),
        );
    }
    if survey.tools.len() > MOST_TOOLS {
        let rest = &survey.tools[MOST_TOOLS..];
        let tokens: u64 = rest.iter().map(crate::survey::Tool::tokens).sum();
        let share = percent(tokens, survey.total.tokens);
        put(out, &paint(FAINT, format!("and {} more tools with {share}", rest.len())));
    }
    if defined {
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

/// Rows of the chart of growth.
const ROWS: u64 = 7;
/// Heaviest steps that are named.
const NAMED: usize = 5;
/// Columns left of the chart.
const LABEL: usize = 10;

fn steps(out: &mut String, survey: &Survey, width: usize) {
    if survey.timeline.is_empty() {
        return;
    }
    let room = width.saturating_sub(LABEL).max(10);
    let each = survey.timeline.len().div_ceil(room);
    let columns: Vec<&[Moment]> = survey.timeline.chunks(each).collect();
    let wide = (room / columns.len().max(1)).clamp(1, 4);
    title(out, "Growth", "tokens in the context, from the first message to the last");
    growth(out, survey, &columns, wide);
    sizes(out, &columns, wide);
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

/// The whole context after each column, kind upon kind.
fn growth(out: &mut String, survey: &Survey, columns: &[&[Moment]], wide: usize) {
    let mut sums = survey.frame.clone();
    let mut heights = Vec::with_capacity(columns.len());
    for moments in columns {
        moments.iter().for_each(|moment| sums.add_all(&moment.kinds));
        heights.push((sums.total().tokens, sums.clone()));
    }
    let tallest = survey.total.tokens.max(1);
    for row in (0..ROWS).rev() {
        let label = match row {
            row if row == ROWS - 1 => count(tallest),
            0 => "0".to_owned(),
            _ => String::new(),
        };
        let cells = heights.iter().map(|(tokens, sums)| cell(*tokens, sums, tallest, row, wide));
        let drawn: String = cells.collect();
        put(out, &format!("{} {drawn}", paint(FAINT, right(&label, LABEL - 1))));
    }
}

const EIGHTHS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// What each column added.
fn sizes(out: &mut String, columns: &[&[Moment]], wide: usize) {
    let added = |moments: &[Moment]| moments.iter().map(|moment| moment.tokens).sum::<u64>();
    let most = columns.iter().map(|moments| added(moments)).max().unwrap_or(0).max(1);
    let spark =
        |moments: &&[Moment]| EIGHTHS[(added(moments) * 8).div_ceil(most) as usize].repeat(wide);
    let drawn: String = columns.iter().map(spark).collect();
    put(out, &format!("{} {}", paint(FAINT, right("added", LABEL - 1)), paint(FAINT, drawn)));
}

/// The part of a column that lies in a row, in the colour of the kind at its middle.
fn cell(tokens: u64, sums: &Weights, tallest: u64, row: u64, wide: usize) -> String {
    let height = tokens * ROWS * 8 / tallest;
    let filled = height.saturating_sub(row * 8).min(8);
    if filled == 0 {
        return " ".repeat(wide);
    }
    let middle = (row * 8 + filled / 2) * tallest / (ROWS * 8);
    let mut below = 0;
    let kind = sums
        .kinds()
        .find(|(_, weight)| {
            below += weight.tokens;
            below > middle
        })
        .map_or(Kind::Wrapping, |(kind, _)| kind);
    paint(colour(kind.shade()), EIGHTHS[filled as usize].repeat(wide))
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
