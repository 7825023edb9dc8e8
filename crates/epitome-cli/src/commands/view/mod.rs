//! `view`: a session on the whole terminal, to walk through.

mod detail;
mod draw;
mod keys;
mod session;

use std::io::{IsTerminal as _, stdin, stdout};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use crossterm::clipboard::CopyToClipboard;
use crossterm::event::{self, Event, KeyEventKind};
use crossterm::execute;

use crate::args::{HowArgs, LookArgs};
use crate::config::Settings;
use crate::failure::{Exit, Failure};
use crate::input;
use crate::output::Report;
use crate::progress::Progress;
use crate::quoting::proposed;
use crate::reader::{Need, Reader};
use crate::signals::{Asked, Heed};

use keys::{After, Walk};
use session::Session;

/// Between two looks whether somebody asked to end.
const LOOK: Duration = Duration::from_millis(200);

/// Shows the input until the user has seen enough.
pub(crate) fn run(args: &LookArgs, report: Report) -> Result<Exit> {
    let file = args.input.file.as_deref();
    let shown = proposed(file);
    if report == Report::Json || !stdout().is_terminal() {
        let what = "`view` needs a terminal";
        bail!(Failure::usage(what).hint(format!("epitome report {shown} --json")));
    }
    let how = HowArgs::counting(&args.counting, args.counter.counter.as_ref());
    let settings = Settings::resolve(&how)?;
    let bytes = input::bytes(file)?;
    let now = input::understood(bytes.clone(), file, &args.input.reading, report)?;
    let reader = Reader::new(&settings, &now.request, Need::Counter)?.remembering();
    let mut progress = Progress::new(report);
    let session = Session::read(&bytes, &now, &args.input.reading, &reader, &mut progress);
    drop((progress, bytes, now));
    if file.is_none_or(|file| file.as_os_str() == "-") && stdin().is_terminal() {
        bail!(Failure::usage("nothing to read: no FILE was given").hint("epitome view FILE"));
    }
    walk(session)?;
    Ok(Exit::Ok)
}

/// Draws, and obeys keys, until the user leaves. The terminal is as it was before, whatever happens.
fn walk(session: Session) -> Result<()> {
    let asked = Asked::listen(Heed::AllButHangup);
    let mut terminal = ratatui::try_init().context("the terminal can't be drawn on")?;
    let mut walk = Walk::new(session);
    let ended = loop {
        if let Err(error) = terminal.draw(|frame| draw::screen(frame, &mut walk)) {
            break Err(error.into());
        }
        let next = loop {
            if asked.to_end() {
                break Ok(None);
            }
            match event::poll(LOOK) {
                Ok(false) => {}
                Ok(true) => break event::read().map(Some),
                Err(error) => break Err(error),
            }
        };
        let after = match next {
            Ok(None) => After::Leave,
            Ok(Some(Event::Key(key))) if key.kind != KeyEventKind::Release => walk.obey(key),
            Ok(Some(_)) => After::Stay,
            Err(error) => break Err(error.into()),
        };
        match after {
            After::Stay => {}
            After::Leave => break Ok(()),
            After::Copy(text) => {
                if let Err(error) = execute!(stdout(), CopyToClipboard::to_clipboard_from(text)) {
                    break Err(error.into());
                }
            }
        }
    };
    ratatui::restore();
    ended
}

#[cfg(test)]
mod tests {
    use crossterm::event::{KeyCode, KeyEvent};
    use epitome::count::counter;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;
    use crate::args::ReadingArgs;

    fn walk() -> Walk {
        let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        let file = examples.join("claude-code/session-9eda1058.jsonl");
        let bytes = std::fs::read(&file).expect("a shipped session");
        let how = ReadingArgs::default();
        let now = input::understood(bytes.clone(), Some(&file), &how, Report::Json).expect("read");
        let counter = counter("claude").expect("built in");
        let reader = Reader { counter, model: None, window: None, unknown: None };
        let mut progress = Progress::new(Report::Json);
        Walk::new(Session::read(&bytes, &now, &how, &reader, &mut progress))
    }

    fn screen(walk: &mut Walk, (columns, rows): (u16, u16)) -> String {
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("in memory");
        terminal.draw(|frame| draw::screen(frame, walk)).expect("in memory");
        terminal.backend().to_string()
    }

    fn press(walk: &mut Walk, keys: &[KeyCode]) -> After {
        keys.iter().map(|key| walk.obey(KeyEvent::from(*key))).last().expect("a key")
    }

    #[test]
    fn turns_open_and_messages_are_found() {
        let mut walk = walk();
        let drawn = screen(&mut walk, (80, 24));
        assert!(drawn.contains("claude-code") && drawn.contains("turns"), "{drawn}");
        let turns = walk.items.len();
        press(&mut walk, &[KeyCode::Home, KeyCode::Enter]);
        assert!(walk.items.len() > turns);
        press(&mut walk, &[KeyCode::Left]);
        assert_eq!(walk.items.len(), turns);
        let typed = "/THREAD pool".chars().map(KeyCode::Char).chain([KeyCode::Enter]);
        press(&mut walk, &typed.collect::<Vec<_>>());
        let drawn = screen(&mut walk, (80, 24));
        assert!(drawn.contains("Thread pool: 2-8 threads"), "{drawn}");
        let After::Copy(id) = press(&mut walk, &[KeyCode::Char('y')]) else { panic!("no id") };
        assert!(walk.detail.title.ends_with(&id), "{}", walk.detail.title);
        press(&mut walk, &[KeyCode::Char('c')]);
        assert_eq!(walk.note.as_deref(), Some("it was never compacted"));
        assert_eq!(press(&mut walk, &[KeyCode::Char('q')]), After::Leave);
    }

    #[test]
    fn every_size_is_drawn() {
        let mut walk = walk();
        for columns in [1, 20, 36, 80, 111, 300] {
            for rows in [1, 9, 10, 19, 20, 60] {
                screen(&mut walk, (columns, rows));
                press(&mut walk, &[KeyCode::Up, KeyCode::Enter, KeyCode::Down]);
            }
        }
    }
}
