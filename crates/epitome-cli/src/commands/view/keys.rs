//! Where the user is, and what each key does.

use std::collections::HashSet;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use epitome::text::figure::counted;

use super::detail::Detail;
use super::session::{Block, Item, Session, recall_id};
use crate::terminal::count;

/// What there is to know of the keys.
const KEYS: &str = "\
↑ ↓  j k          a line up or down
PgUp PgDn         a page; Ctrl-U and Ctrl-D half of one
Home End  g G     to the beginning, to the end
Enter  →          list the messages of a turn, or go to the text of a message
←                 back to the turn
Tab               between the list and the text
c C               to the next compaction, to the one before
/                 find words; n and N go to the next message that says them, and to the one before
y                 copy the id by which `epitome recall` gives a message back
q  Esc            leave";

/// Where the user is in a session.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) session: Session,
    /// Blocks whose messages are listed.
    open: HashSet<usize>,
    /// The lines of the list.
    pub(super) items: Vec<Item>,
    /// The line that the user is at.
    pub(super) at: usize,
    /// The first line of the list that is drawn.
    pub(super) top: usize,
    /// Lines of the list that fit on the screen.
    pub(super) page: usize,
    /// What the line that the user is at is about.
    pub(super) detail: Detail,
    /// What the keys move.
    pub(super) focus: Focus,
    /// What is being typed behind `/`.
    pub(super) typed: Option<String>,
    /// The search words, and the messages that have them.
    pub(super) found: Option<(String, Vec<Item>)>,
    /// What there is to say, until the next key.
    pub(super) note: Option<String>,
}

/// What the keys move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Focus {
    List,
    Detail,
}

/// What is to be done behind a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum After {
    Stay,
    Leave,
    /// Put this into the clipboard.
    Copy(String),
}

impl Walk {
    /// At the end, where a session goes on.
    pub(super) fn new(session: Session) -> Self {
        let mut walk = Walk {
            session,
            open: HashSet::new(),
            items: Vec::new(),
            at: 0,
            top: 0,
            page: 1,
            detail: Detail::default(),
            focus: Focus::List,
            typed: None,
            found: None,
            note: None,
        };
        walk.list();
        walk.go(walk.items.len());
        walk
    }

    /// The line that the user is at.
    pub(super) fn item(&self) -> Item {
        self.items[self.at]
    }

    /// Whether the messages of a block are listed.
    pub(super) fn is_open(&self, block: usize) -> bool {
        self.open.contains(&block)
    }

    /// Does what a key means.
    pub(super) fn obey(&mut self, key: KeyEvent) -> After {
        self.note = None;
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            match key.code {
                KeyCode::Char('c') => return After::Leave,
                KeyCode::Char('d') => self.step(self.page() / 2),
                KeyCode::Char('u') => self.step(-self.page() / 2),
                _ => {}
            }
            return After::Stay;
        }
        if let Some(typed) = &mut self.typed {
            match key.code {
                KeyCode::Char(c) => typed.push(c),
                KeyCode::Backspace => {
                    typed.pop();
                }
                KeyCode::Enter => {
                    let words = self.typed.take().unwrap_or_default();
                    self.look_for(words);
                }
                KeyCode::Esc => self.typed = None,
                _ => {}
            }
            return After::Stay;
        }
        match key.code {
            KeyCode::Char('q') | KeyCode::Esc => return After::Leave,
            KeyCode::Down | KeyCode::Char('j') => self.step(1),
            KeyCode::Up | KeyCode::Char('k') => self.step(-1),
            KeyCode::PageDown => self.step(self.page()),
            KeyCode::PageUp => self.step(-self.page()),
            KeyCode::Home | KeyCode::Char('g') => self.step(isize::MIN),
            KeyCode::End | KeyCode::Char('G') => self.step(isize::MAX),
            KeyCode::Tab | KeyCode::BackTab => {
                self.focus = if self.focus == Focus::List { Focus::Detail } else { Focus::List };
            }
            KeyCode::Enter | KeyCode::Char(' ') => self.turn_over(),
            KeyCode::Right | KeyCode::Char('l') if !self.is_open(self.item().block) => {
                self.turn_over();
            }
            KeyCode::Left | KeyCode::Char('h') => self.close(),
            KeyCode::Char('c') => self.compaction(1),
            KeyCode::Char('C') => self.compaction(-1),
            KeyCode::Char('/') => self.typed = Some(String::new()),
            KeyCode::Char('n') => self.next(1),
            KeyCode::Char('N') => self.next(-1),
            KeyCode::Char('y') => return self.copy(),
            KeyCode::Char('?') => {
                self.detail.say("keys", KEYS);
                self.focus = Focus::Detail;
            }
            _ => {}
        }
        After::Stay
    }

    /// Lists blocks, and the messages of those that are open.
    fn list(&mut self) {
        self.items.clear();
        for (block, what) in self.session.blocks.iter().enumerate() {
            self.items.push(Item { block, entry: None });
            if let (Block::Turn(turn), true) = (what, self.open.contains(&block)) {
                let entries = turn.entries.clone();
                self.items.extend(entries.map(|entry| Item { block, entry: Some(entry) }));
            }
        }
    }

    fn page(&self) -> isize {
        self.page.cast_signed()
    }

    fn step(&mut self, by: isize) {
        match self.focus {
            Focus::List => self.go(self.at.saturating_add_signed(by)),
            Focus::Detail => self.detail.scroll(by),
        }
    }

    /// Goes to a line of the list, or to its last.
    fn go(&mut self, to: usize) {
        let to = to.min(self.items.len().saturating_sub(1));
        self.at = to;
        self.detail.show(&self.session, self.item());
    }

    /// Goes to an item, and opens what hides it.
    fn go_to(&mut self, item: Item) {
        if item.entry.is_some() && self.open.insert(item.block) {
            self.list();
        }
        let at = self.items.iter().position(|it| *it == item).unwrap_or(self.at);
        self.go(at);
    }

    /// Opens a turn, or closes it.
    fn turn_over(&mut self) {
        let item = self.item();
        if matches!(self.session.blocks[item.block], Block::Compaction(_)) || item.entry.is_some() {
            self.focus = Focus::Detail;
            return;
        }
        if !self.open.remove(&item.block) {
            self.open.insert(item.block);
        }
        self.list();
    }

    /// Goes to the turn of a message, and closes it.
    fn close(&mut self) {
        self.focus = Focus::List;
        let block = self.item().block;
        self.open.remove(&block);
        self.list();
        self.go_to(Item { block, entry: None });
    }

    /// Goes to the next compaction, or to the one before.
    fn compaction(&mut self, by: isize) {
        self.focus = Focus::List;
        let here = self.item().block;
        let is_one = |at: &usize| matches!(self.session.blocks[*at], Block::Compaction(_));
        let to = if by > 0 {
            (here + 1..self.session.blocks.len()).find(is_one)
        } else {
            (0..here).rev().find(is_one)
        };
        match to {
            Some(block) => self.go_to(Item { block, entry: None }),
            None if self.session.lived.compactions.is_empty() => {
                self.note = Some("it was never compacted".to_owned());
            }
            None => self.note = Some("there is none further on".to_owned()),
        }
    }

    fn look_for(&mut self, words: String) {
        if words.is_empty() {
            self.found = None;
            return;
        }
        let found = self.session.find(&words);
        self.found = Some((words, found));
        self.next(1);
    }

    /// Goes to the next message with the search words, or to the one before; wraps around.
    fn next(&mut self, by: isize) {
        let Some((words, found)) = &self.found else {
            self.note = Some("no search yet: /".to_owned());
            return;
        };
        if found.is_empty() {
            self.note = Some(format!("nothing says {words:?}"));
            return;
        }
        let order = |item: &Item| (item.block, item.entry);
        let here = order(&self.item());
        let next = if by > 0 {
            found.iter().position(|item| order(item) > here).unwrap_or(0)
        } else {
            found.iter().rposition(|item| order(item) < here).unwrap_or(found.len() - 1)
        };
        let item = found[next];
        self.note = Some(format!(
            "{} of {} with {words:?}",
            count(next + 1),
            counted(found.len(), "message")
        ));
        self.focus = Focus::List;
        self.go_to(item);
        if let Some((words, _)) = &self.found {
            self.detail.scroll_to(words);
        }
    }

    /// The command that gives the message back.
    fn copy(&mut self) -> After {
        let Some((_, entry)) = self.session.entry(self.item()) else {
            self.note =
                Some("nothing was copied: open a turn (Enter) and go to a message".to_owned());
            return After::Stay;
        };
        let id = recall_id(&entry);
        self.note = Some(format!("copied: {id} (of an archive: epitome recall {id})"));
        After::Copy(id)
    }
}
