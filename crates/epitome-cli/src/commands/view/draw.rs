//! The screen.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block as Border, Borders, Paragraph, Sparkline, Wrap};

use super::keys::{Focus, Walk};
use super::session::{Block, Item};
use crate::said::{says, speaker};
use crate::survey::shade;
use crate::terminal::{bar, count, line};
use epitome::count::ContentKind;

/// The least that is drawn on.
const LEAST: (u16, u16) = (36, 10);
/// Columns from which the text stands beside the list.
const BESIDE: u16 = 110;
/// Columns of a bar of the list.
const BAR: usize = 8;

const KEYS: &str =
    "q quit  ? keys  ↑↓ move  Enter open  Tab text  c compactions  / find  y copy id";

const FAINT: Style = Style::new().add_modifier(Modifier::DIM);
const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
const HERE: Style = Style::new().add_modifier(Modifier::REVERSED);

/// Draws all of it.
pub(super) fn screen(frame: &mut Frame<'_>, walk: &mut Walk) {
    let area = frame.area();
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let words = format!("at least {} columns and {} rows are needed", LEAST.0, LEAST.1);
        frame.render_widget(Paragraph::new(words).wrap(Wrap { trim: true }), area);
        return;
    }
    let growth = if area.height >= 20 { 3 } else { 0 };
    let rows = [
        Constraint::Length(2),
        Constraint::Length(growth),
        Constraint::Min(4),
        Constraint::Length(1),
    ];
    let [head, chart, body, foot] = Layout::vertical(rows).areas(area);
    let title = vec![
        Line::styled(line(&walk.session.title, head.width.into()), STRONG),
        Line::styled(line(&walk.session.about, head.width.into()), FAINT),
    ];
    frame.render_widget(Paragraph::new(title), head);
    if growth > 0 {
        grown(frame, walk, chart);
    }
    let halves = [Constraint::Percentage(50), Constraint::Percentage(50)];
    let [left, right] = if area.width >= BESIDE {
        Layout::horizontal(halves).spacing(2).areas(body)
    } else {
        Layout::vertical(halves).areas(body)
    };
    list(frame, walk, left);
    text(frame, walk, right);
    let said = match (&walk.typed, &walk.note) {
        (Some(typed), _) => format!("/{typed}▏"),
        (None, Some(note)) => note.clone(),
        (None, None) => KEYS.to_owned(),
    };
    frame.render_widget(Paragraph::new(Line::styled(said, FAINT)), foot);
}

/// How the context grew, and where in it the user is.
fn grown(frame: &mut Frame<'_>, walk: &Walk, area: Rect) {
    let session = &walk.session;
    let [chart, marks] = Layout::vertical([Constraint::Min(1), Constraint::Length(1)]).areas(area);
    let columns = usize::from(area.width).max(1);
    let said = session.said.max(1);
    let column = |at: usize| (at * columns / said).min(columns - 1);
    let mut heights = vec![0; columns];
    let mut points = session.growth.iter().peekable();
    let mut height = 0;
    for (at, drawn) in heights.iter_mut().enumerate() {
        while let Some((_, tokens)) = points.next_if(|(said, _)| column(*said) <= at) {
            height = *tokens;
        }
        *drawn = height;
    }
    let blue = Color::Indexed(shade(ContentKind::ToolResults));
    frame.render_widget(Sparkline::default().data(heights).style(Style::new().fg(blue)), chart);
    let mut line = vec![' '; columns];
    for done in &session.lived.compactions {
        line[column(done.at)] = '┆';
    }
    line[column(session.said_at(walk.item()))] = '▲';
    frame.render_widget(Paragraph::new(line.into_iter().collect::<String>()), marks);
}

/// Turns, messages and compactions.
fn list(frame: &mut Frame<'_>, walk: &mut Walk, area: Rect) {
    let border = bordered("turns", walk.focus == Focus::List);
    let inner = border.inner(area);
    frame.render_widget(border, area);
    let (rows, width) = (usize::from(inner.height).max(1), usize::from(inner.width));
    walk.page = rows;
    walk.top = walk.top.clamp((walk.at + 1).saturating_sub(rows), walk.at);
    let heaviest = walk.session.turns().map(|(_, turn)| turn.tokens).max().unwrap_or(0);
    let shown = walk.items.iter().enumerate().skip(walk.top).take(rows);
    let lines: Vec<Line<'_>> = shown
        .map(|(at, item)| {
            let line = described(walk, *item, heaviest, width);
            if at == walk.at { line.style(HERE) } else { line }
        })
        .collect();
    frame.render_widget(Paragraph::new(lines), inner);
}

fn described(walk: &Walk, item: Item, heaviest: u64, width: usize) -> Line<'static> {
    let session = &walk.session;
    if let Some((epoch, entry)) = session.entry(item) {
        let number = count(super::session::number(epoch, entry.index));
        let tokens = count(epoch.tally.entry(entry.index));
        let head = format!("  {number:>6} {tokens:>8} ");
        let words = says(&entry, width.saturating_sub(head.len() + 11).max(8));
        let who = speaker(&entry);
        return Line::from(vec![
            Span::styled(head, FAINT),
            Span::styled(format!("{who:<10} "), Style::new().fg(hue(who))),
            Span::raw(words),
        ]);
    }
    match &session.blocks[item.block] {
        Block::Turn(turn) => {
            let mark = if walk.is_open(item.block) { '▾' } else { '▸' };
            let weight = bar(turn.tokens, heaviest, BAR);
            let head = format!("{mark} {:>8} {weight:<BAR$} ", count(turn.tokens));
            let words = line(&turn.words, width.saturating_sub(BAR + 12).max(8));
            Line::from(vec![Span::styled(head, FAINT), Span::styled(words, STRONG)])
        }
        Block::Compaction(at) => {
            let done = session.compaction(*at);
            let by = if done.by_epitome { "Epitome" } else { "the agent" };
            let words = format!(
                "── compaction {} by {by}: {} → {} tokens ",
                done.number,
                count(done.before.tokens),
                count(done.after.tokens)
            );
            let rest = "─".repeat(width.saturating_sub(words.chars().count()));
            Line::styled(words + &rest, Style::new().fg(hue("checkpoint")))
        }
    }
}

/// What the line that the user is at is about.
fn text(frame: &mut Frame<'_>, walk: &mut Walk, area: Rect) {
    let border = bordered(&walk.detail.title, walk.focus == Focus::Detail);
    let inner = border.inner(area);
    frame.render_widget(border, area);
    walk.detail.wrap(usize::from(inner.width).max(1));
    let words = walk.found.as_ref().map(|(words, _)| words.to_lowercase());
    let says = |row: &str| words.as_ref().is_some_and(|it| row.to_lowercase().contains(it));
    let rows = walk.detail.rows().take(inner.height.into());
    let lines = rows.map(|row| if says(row) { Line::styled(row, STRONG) } else { Line::raw(row) });
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), inner);
}

fn bordered(title: &str, is_focused: bool) -> Border<'static> {
    let style = if is_focused { STRONG } else { FAINT };
    Border::new()
        .borders(Borders::TOP)
        .border_style(style)
        .title(Span::styled(format!(" {title} "), style))
}

/// The colour of who speaks.
fn hue(who: &str) -> Color {
    let kind = match who {
        "system" => ContentKind::System,
        "human" => ContentKind::Human,
        "result" => ContentKind::ToolResults,
        "call" => ContentKind::CallArguments,
        "model" => ContentKind::ModelText,
        "checkpoint" => ContentKind::Checkpoint,
        "injected" => ContentKind::Injected,
        _ => ContentKind::Other,
    };
    Color::Indexed(shade(kind))
}
