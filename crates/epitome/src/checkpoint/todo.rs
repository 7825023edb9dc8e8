//! The agent's to-do list, as its tools keep it: the newest one, each item with its state.
//!
//! Most tools write the whole list anew (`TodoWrite`, `update_plan`, `write_todos`, `task_tracker`); some add and change
//! single items by their ids (`TaskCreate`, `TaskUpdate`, `todo_write` with `merge`), which are kept for that. What looks
//! like a list of boxes in an argument is one, too (`task_progress`).

use serde_json::Value;

use crate::text::arguments::Arguments;
use crate::text::cut;
use crate::tool::{bare, keeps_list};

/// Characters of an item, bytes of a state's word, items of a list, and bytes of a list that is read.
const MAX_ITEM: usize = 180;
const MAX_WORD: usize = 24;
const MAX_ITEMS: usize = 60;
const MAX_BYTES: usize = 64 * 1024;

/// Arguments that are a list, and what an item says and how far it is.
const LIST_ARGUMENTS: [&str; 9] =
    ["todos", "plan", "task_list", "tasks", "items", "steps", "todo_list", "todo", PROGRESS];
/// The argument by which a list goes along with any call.
const PROGRESS: &str = "task_progress";
const TEXTS: [&str; 8] =
    ["content", "step", "description", "subject", "title", "text", "task", "name"];
const STATES: [&str; 2] = ["status", "state"];
const IDS: [&str; 3] = ["id", "taskId", "task_id"];

/// How far an item is, in the order in which they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Underway,
    Open,
    Done,
    Dropped,
}

/// The mark of each state.
const MARKS: [(State, &str); 4] = [
    (State::Underway, "[~] "),
    (State::Open, "[ ] "),
    (State::Done, "[x] "),
    (State::Dropped, "[-] "),
];

impl State {
    /// `None` for a word of its tool's own.
    fn of(word: &str) -> Option<Self> {
        Some(match word.to_ascii_lowercase().replace(['-', ' '], "_").as_str() {
            "completed" | "complete" | "done" | "finished" | "true" => State::Done,
            "in_progress" | "inprogress" | "active" | "doing" | "started" => State::Underway,
            "cancelled" | "canceled" | "deleted" | "skipped" | "dropped" => State::Dropped,
            "pending" | "open" | "todo" | "not_started" | "false" | "" => State::Open,
            _ => return None,
        })
    }

    fn mark(self) -> &'static str {
        MARKS.iter().find(|(state, _)| *state == self).map_or("", |(_, mark)| mark)
    }
}

/// An item.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Item {
    /// By which its tool changes it.
    id: Option<Box<str>>,
    text: Box<str>,
    state: State,
    /// Its tool's own word for a state that isn't known.
    word: Option<Box<str>>,
    /// The call that added it, by its slot, until its answer tells the id.
    added_by: Option<u32>,
}

/// The newest list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Todo {
    items: Vec<Item>,
    /// The newest call that wrote the list, by its slot, and the list before it.
    before: Option<(u32, Vec<Item>)>,
}

impl Todo {
    /// Takes in what the call in `slot` does to the list; whether it does anything.
    pub(super) fn take(&mut self, slot: u32, tool: &str, arguments: &Arguments<'_>) -> bool {
        let name = bare(tool).to_ascii_lowercase().replace('_', "");
        let get = |names: &[&str]| arguments.get(names).map(|value| line(&value));
        match name.as_str() {
            _ if !keeps_list(tool) => {}
            "taskcreate" => {
                let Some(text) = get(&TEXTS) else { return false };
                if let Some(item) = item_of(&text, State::Open) {
                    self.put(Item { added_by: Some(slot), ..item });
                }
                return true;
            }
            "taskupdate" => {
                let Some(id) = get(&IDS) else { return false };
                self.update(&id, get(&STATES).as_deref(), get(&["subject"]));
                return true;
            }
            _ => {}
        }
        let is_own = keeps_list(tool);
        let is_list = |key: &str| key == PROGRESS || is_own && LIST_ARGUMENTS.contains(&key);
        let list = arguments.all().find(|(key, raw)| is_list(key) && raw.len() < MAX_BYTES);
        let Some((key, raw)) = list else { return false };
        let keeps_ids = arguments.get(&["merge"]).is_some_and(|merge| merge == "true");
        let found = match serde_json::from_str(raw) {
            Ok(Value::Array(all)) => all.iter().filter_map(|item| read(item, keeps_ids)).collect(),
            Ok(Value::String(text)) => boxes(&text),
            _ => return false,
        };
        let is_list = raw.starts_with('[') || key == PROGRESS || !found.is_empty();
        if !is_list || found.is_empty() && raw.trim() != "[]" {
            return false;
        }
        self.before = Some((slot, self.items.clone()));
        if keeps_ids {
            for item in found {
                self.put(item);
            }
        } else {
            self.items = found;
            self.items.truncate(MAX_ITEMS);
        }
        true
    }

    /// Whether its tool changes single items: no call says the whole list.
    pub(super) fn is_by_item(&self) -> bool {
        self.items.iter().any(|item| item.id.is_some() || item.added_by.is_some())
    }

    /// Applies the failure of the call in `slot`: the list is as before, without the call's additions.
    pub(super) fn fail(&mut self, slot: u32) {
        self.items.retain(|item| item.added_by != Some(slot));
        if let Some((_, items)) = self.before.take_if(|(call, _)| *call == slot) {
            self.items = items;
        }
    }

    /// Takes in what the call in `slot`, which adds an item, answers: its id, `Task #3 created`.
    pub(super) fn answer(&mut self, slot: u32, output: &str) {
        let head = cut::head(output, 80);
        let Some((_, rest)) = head.split_once('#') else { return };
        let id = &rest[..rest.bytes().take_while(u8::is_ascii_digit).count()];
        let added = self.items.iter_mut().find(|item| item.added_by == Some(slot));
        if let Some(item) = added.filter(|_| !id.is_empty()) {
            (item.id, item.added_by) = (Some(id.into()), None);
        }
    }

    /// Adds an item, or changes the one of its id.
    fn put(&mut self, item: Item) {
        let same = |known: &&mut Item| item.id.is_some() && known.id == item.id;
        if let Some(known) = self.items.iter_mut().find(same) {
            *known = item;
        } else if self.items.len() < MAX_ITEMS {
            self.items.push(item);
        }
    }

    fn update(&mut self, id: &str, state: Option<&str>, text: Option<Box<str>>) {
        let Some(item) = self.items.iter_mut().find(|item| item.id.as_deref() == Some(id)) else {
            return;
        };
        if let Some(text) = text {
            item.text = text;
        }
        if let Some(word) = state {
            *item = item.clone().in_state(word);
        }
    }

    /// The items as they are written, those under way first.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut items: Vec<&Item> = self.items.iter().collect();
        items.sort_by_key(|item| item.state);
        let written = items.into_iter().map(|Item { id, text, state, word, .. }| {
            let mark = word.as_ref().map_or(state.mark().to_owned(), |word| format!("[{word}] "));
            match id {
                Some(id) => format!("{mark}#{id} {text}"),
                None => format!("{mark}{text}"),
            }
        });
        written.collect()
    }

    /// Takes over the lines of an earlier checkpoint, before anything newer is taken in.
    pub(super) fn carry(&mut self, lines: &str) {
        self.items.extend(lines.lines().filter_map(carried));
        self.items.truncate(MAX_ITEMS);
    }
}

/// An item in its written form.
fn carried(line: &str) -> Option<Item> {
    let known = MARKS.iter().find_map(|(state, mark)| Some((*state, line.strip_prefix(mark)?)));
    let own = || Some((State::Open, line.strip_prefix('[')?.split_once("] ")?));
    let (state, word, text) = match known {
        Some((state, text)) => (state, None, text),
        None => own().map(|(state, (word, text))| (state, Some(word.into()), text))?,
    };
    let id = text.strip_prefix('#').and_then(|rest| rest.split_once(' '));
    let (id, text) = match id.filter(|(id, text)| !id.is_empty() && !text.is_empty()) {
        Some((id, text)) => (Some(id.into()), text),
        None => (None, text),
    };
    Some(Item { id, text: text.into(), state, word, added_by: None })
}

fn line(text: &str) -> Box<str> {
    cut::one_line(text, MAX_ITEM).into()
}

/// An item of a list.
fn read(item: &Value, keeps_id: bool) -> Option<Item> {
    if let Value::String(text) = item {
        return boxed(text).or_else(|| item_of(text, State::Open));
    }
    let get = |names: &[&str]| names.iter().find_map(|name| item.get(name));
    let text = get(&TEXTS)?.as_str()?;
    let state = match get(&STATES) {
        Some(state) => state.as_str()?,
        None if get(&["completed", "done"]).is_some_and(|done| done == true) => "done",
        None => "open",
    };
    let id = get(&IDS).filter(|_| keeps_id).map(|id| match id {
        Value::String(id) => line(id),
        id => line(&id.to_string()),
    });
    Some(Item { id, ..item_of(text, State::Open)?.in_state(state) })
}

impl Item {
    /// The item in the state that a word says.
    fn in_state(self, word: &str) -> Self {
        let state = State::of(word);
        // It stands in brackets, on one line.
        let own: String =
            word.chars().filter(|c| c.is_alphanumeric() || matches!(c, '_' | '-')).collect();
        let own = Some(cut::head(&own, MAX_WORD).into()).filter(|_| state.is_none());
        Item { state: state.unwrap_or(State::Open), word: own, ..self }
    }
}

/// Items of a text that are boxes: `- [x] read the parser`.
fn boxes(text: &str) -> Vec<Item> {
    text.lines().filter_map(boxed).take(MAX_ITEMS).collect()
}

fn boxed(text: &str) -> Option<Item> {
    let text = text.trim_start().trim_start_matches(['-', '*', '+', ' ']);
    let (mark, rest) = text.strip_prefix('[')?.split_once(']')?;
    let state = match mark {
        "x" | "X" | "✓" => State::Done,
        "~" | "/" | ">" => State::Underway,
        "-" => State::Dropped,
        " " | "" => State::Open,
        _ => return None,
    };
    item_of(rest, state)
}

fn item_of(text: &str, state: State) -> Option<Item> {
    let text = line(text.trim());
    (!text.is_empty()).then_some(Item { id: None, text, state, word: None, added_by: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(calls: &[(&str, &str)]) -> Vec<String> {
        let mut todo = Todo::default();
        for (tool, arguments) in calls {
            todo.take(0, tool, &Arguments::read(arguments));
        }
        todo.lines()
    }

    #[test]
    fn a_call_that_failed_changes_no_list() {
        let mut todo = Todo::default();
        let of = |state| format!(r#"{{"todos":[{{"content":"test it","status":"{state}"}}]}}"#);
        for (slot, state) in [(1, "pending"), (2, "completed")] {
            todo.take(slot, "TodoWrite", &Arguments::read(&of(state)));
        }
        assert_eq!(todo.lines(), ["[x] test it"]);
        todo.fail(1);
        assert_eq!(todo.lines(), ["[x] test it"]);
        todo.fail(2);
        assert_eq!(todo.lines(), ["[ ] test it"]);
        let mut todo = Todo::default();
        for (slot, subject) in [(1, "one"), (2, "two")] {
            let arguments = format!(r#"{{"subject":"{subject}"}}"#);
            todo.take(slot, "TaskCreate", &Arguments::read(&arguments));
        }
        todo.answer(1, "Task #1 created");
        todo.fail(2);
        assert_eq!(todo.lines(), ["[ ] #1 one"]);
    }

    #[test]
    fn lists_of_known_agents_are_understood() {
        let expected = ["[~] write the parser", "[ ] test it", "[x] read the spec"];
        for (tool, arguments) in [
            (
                "TodoWrite",
                r#"{"todos":[{"content":"read the spec","status":"completed","id":"1"},{"content":"write the parser","status":"in_progress"},{"content":"test it","status":"pending"}]}"#,
            ),
            (
                "update_plan",
                r#"{"explanation":"so","plan":[{"step":"read the spec","status":"completed"},{"step":"write the parser","status":"in_progress"},{"step":"test it","status":"pending"}]}"#,
            ),
            (
                "write_todos",
                r#"{"todos":[{"description":"read the spec","status":"completed"},{"description":"write the parser","status":"in_progress"},{"description":"test it","status":"pending"}]}"#,
            ),
            (
                "task_tracker",
                r#"{"command":"plan","task_list":[{"id":"1","title":"read the spec","status":"done","notes":""},{"id":"2","title":"write the parser","status":"in_progress"},{"id":"3","title":"test it","status":"todo"}]}"#,
            ),
            (
                "write_to_file",
                r#"{"path":"a","task_progress":"- [x] read the spec\n- [~] write the parser\n- [ ] test it"}"#,
            ),
        ] {
            assert_eq!(taken(&[(tool, arguments)]), expected, "{tool}");
        }
        let empty = ("TodoWrite", r#"{"todos":[]}"#);
        assert_eq!(taken(&[("update_plan", r#"{"plan":["look"]}"#), empty]), [""; 0]);
        for (tool, arguments) in [
            ("Bash", r#"{"command":"ls"}"#),
            ("book", r#"{"plan":"economy"}"#),
            ("TodoWrite", r#"{"todos":["broken""#),
        ] {
            let mut none = Todo::default();
            assert!(!none.take(0, tool, &Arguments::read(arguments)), "{tool}");
        }
    }

    #[test]
    fn single_items_change_by_their_ids() {
        let mut todo = Todo::default();
        let mut call = |slot: u32, tool: &str, arguments: &str| {
            todo.take(slot, tool, &Arguments::read(arguments));
        };
        // Both are called at once, and answered in the end.
        call(1, "TaskCreate", r#"{"subject":"read the spec"}"#);
        call(2, "TaskCreate", r#"{"subject":"test it"}"#);
        todo.answer(1, "Task #1 created successfully: read the spec");
        todo.answer(2, "Task #2 created successfully: test it");
        assert!(todo.is_by_item());
        let update = r#"{"taskId":"1","status":"completed"}"#;
        todo.take(3, "TaskUpdate", &Arguments::read(update));
        todo.answer(3, "Updated task #1 status");
        assert_eq!(todo.lines(), ["[ ] #2 test it", "[x] #1 read the spec"]);
        // The next compaction goes on from what the first wrote.
        let mut next = Todo::default();
        next.carry(&todo.lines().join("\n"));
        assert_eq!(next.lines(), todo.lines());
        let merge =
            r#"{"merge":true,"todos":[{"id":"2","content":"test it","status":"in_progress"}]}"#;
        next.take(9, "todo_write", &Arguments::read(merge));
        assert_eq!(next.lines(), ["[~] #2 test it", "[x] #1 read the spec"]);
        // An unknown state is shown as it is written.
        let blocked = r#"{"taskId":"2","status":"blocked"}"#;
        next.take(10, "TaskUpdate", &Arguments::read(blocked));
        assert_eq!(next.lines(), ["[blocked] #2 test it", "[x] #1 read the spec"]);
        let mut last = Todo::default();
        last.carry(&next.lines().join("\n"));
        let done = r#"{"taskId":"2","status":"completed"}"#;
        last.take(11, "TaskUpdate", &Arguments::read(done));
        assert_eq!(last.lines(), ["[x] #2 test it", "[x] #1 read the spec"]);
    }
}
