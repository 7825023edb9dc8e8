//! Anchors as lines of text within a budget, and back.
//!
//! Reading a rendering and rendering that again gives the same text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Anchors;
use super::entry::{entry_text, read_more, read_noted, read_plain, read_run, row, row_text};
use super::lane::{Item, Lane, Note};
use super::note::{Label, Runs, Slips, Touches, times};

/// The sections in the order they are written, with their share of the budget in percent.
const SECTIONS: [(Section, &str, Form, usize); Section::COUNT] = [
    (Section::Changed, "Files changed", Form::Row, 90),
    (Section::Read, "Files read", Form::Row, 14),
    (Section::Seen, "Files named", Form::Row, 6),
    (Section::Commands, "Commands", Form::List, 24),
    (Section::Errors, "Errors", Form::List, 14),
    (Section::Ids, "Ids", Form::Row, 9),
    (Section::Urls, "URLs", Form::Row, 4),
    (Section::Numbers, "Figures", Form::Row, 3),
    (Section::Todo, "To do", Form::List, 30),
];

/// What further share of the budget sections have before files that were only read have any.
const BEFORE_READS: [(Section, usize); 3] =
    [(Section::Changed, 100), (Section::Errors, 14), (Section::Urls, 8)];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Changed,
    Read,
    Seen,
    Commands,
    Errors,
    Ids,
    Urls,
    Numbers,
    Todo,
}

impl Section {
    pub(super) const COUNT: usize = 9;
}

/// How the entries of a section stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// All on one line, with commas.
    Row,
    /// Each on a line of its own.
    List,
}

const ROOT: &str = "Paths are below: ";
/// Bytes of a section's title.
const TITLE: usize = 16;
/// Bytes kept free for `, +1234567 more`.
const MORE: usize = 24;

impl Anchors {
    /// The anchors as lines, best first within each group, in at most `max_bytes` bytes. What
    /// didn't fit is counted.
    ///
    /// ```text
    /// Files changed: src/lib.rs (edited ×3), src/new.rs (created)
    /// Files read: src/main.rs (×2)
    /// Commands:
    /// - cargo test → ok, failed before (×4)
    /// Errors:
    /// - error[E0308]: mismatched types (fixed)
    /// Ids: reservation_id=4OG6T3
    /// To do:
    /// - [~] write the parser
    /// ```
    pub fn render(&self, max_bytes: usize) -> String {
        let root = self.root.clone().unwrap_or_else(|| self.best_root().into());
        let mut drafts = SECTIONS.map(|section| self.draft(section.0, &root));
        let mut left = max_bytes;
        if !root.is_empty() {
            let cost = ROOT.len() + entry_text(&root, "", &read_plain).len() + 1;
            if cost > left / 4 {
                // Too dear: without it, and decided so for good.
                return Self { root: Some("".into()), ..self.clone() }.render(max_bytes);
            }
            left -= cost;
        }
        let whole = left;
        // Whatever else there is to list, what is to be done and commands that went well in the end have their share.
        let kept =
            [(Section::Todo, self.todo_bytes()), (Section::Commands, self.recovered_bytes())];
        for (section, bytes) in kept {
            let (_, title, form, share) = SECTIONS[section as usize];
            let mut free = bytes.min(whole.saturating_mul(share) / 100).min(left);
            let before = free;
            drafts[section as usize].fill(title, form, &mut free);
            left -= before - free;
        }
        let mut fill = |section: Section, percent: usize, left: &mut usize| {
            let (_, title, form, _) = SECTIONS[section as usize];
            let mut share = (whole.saturating_mul(percent) / 100).min(*left);
            let before = share;
            drafts[section as usize].fill(title, form, &mut share);
            *left -= before - share;
        };
        // What was only read gives way to what can't be found again by looking.
        let (looked, told): (Vec<_>, Vec<_>) = SECTIONS
            .iter()
            .map(|(section, _, _, share)| (*section, *share))
            .partition(|(section, _)| matches!(section, Section::Read | Section::Seen));
        for (section, share) in told.iter().chain(&BEFORE_READS).chain(&looked) {
            fill(*section, *share, &mut left);
        }
        for (section, _) in told.iter().chain(&looked) {
            fill(*section, 100, &mut left);
        }
        for ((section, title, form, _), draft) in SECTIONS.iter().zip(&mut drafts) {
            if !matches!(section, Section::Read | Section::Seen) {
                draft.count(title, *form, &mut left);
            }
        }
        let mut out = String::new();
        if !root.is_empty() && drafts[..3].iter().any(|draft| draft.chosen.contains(&true)) {
            let _ = writeln!(out, "{ROOT}{}", entry_text(&root, "", &read_plain));
        }
        for ((_, title, form, _), draft) in SECTIONS.iter().zip(&drafts) {
            draft.write(title, *form, &mut out);
        }
        out
    }

    /// Bytes of what doesn't give way to quotes: what is to be done, the files that were changed, and the commands that
    /// failed before they went well.
    pub fn firm_bytes(&self) -> usize {
        let root = self.root.clone().unwrap_or_else(|| self.best_root().into());
        let changed = self.draft(Section::Changed, &root).entries;
        let root = if root.is_empty() { 0 } else { ROOT.len() + root.len() + 1 };
        let changed = if changed.is_empty() { 0 } else { root + list_bytes(&changed) };
        changed + self.recovered_bytes() + self.todo_bytes()
    }

    /// Bytes of the list of commands that failed before they went well.
    fn recovered_bytes(&self) -> usize {
        let recovered = self.commands.items().iter().filter(|item| item.note.recovered);
        let recovered: Vec<String> =
            recovered.map(|item| entry_text(&item.text, &item.note.note(), &read_run)).collect();
        if recovered.is_empty() { 0 } else { list_bytes(&recovered) }
    }

    /// Bytes of the list of what is to be done.
    fn todo_bytes(&self) -> usize {
        let lines = self.todo.lines();
        if lines.is_empty() { 0 } else { list_bytes(&lines) }
    }

    /// Reads a rendering. `None` if a line is none of one.
    pub fn parse(text: &str) -> Option<Self> {
        let mut anchors = Self { root: Some("".into()), ..Self::default() };
        let mut open: Option<Section> = None;
        let mut rank = i32::MAX;
        for line in text.lines() {
            if line.is_empty() {
                continue;
            }
            if let Some(root) = line.strip_prefix(ROOT) {
                anchors.root = Some(read_plain(root)?.0.into());
            } else if let Some(entry) = line.strip_prefix("- ") {
                anchors.read_entry(open?, entry, &mut rank)?;
            } else {
                let (section, _, form, rest) =
                    SECTIONS.iter().find_map(|(section, title, form, _)| {
                        line.strip_prefix(title)?
                            .strip_prefix(':')
                            .map(|rest| (*section, title, *form, rest))
                    })?;
                rank = i32::MAX;
                open = Some(section);
                match form {
                    Form::List if rest.is_empty() => {}
                    Form::List => return None,
                    Form::Row => {
                        for entry in row(rest.strip_prefix(' ')?) {
                            anchors.read_entry(section, entry, &mut rank)?;
                        }
                    }
                }
            }
        }
        Some(anchors)
    }

    fn draft(&self, section: Section, root: &str) -> Draft {
        let now = self.now;
        let ranked = self.files.ranked(now);
        let files = |wanted: fn(&Touches) -> bool, note: fn(&Touches) -> String| {
            let items =
                ranked.iter().filter(|item| wanted(&item.note) && !self.is_told_by_another(item));
            items
                .map(|item| row_text(&below(&item.text, root), &note(&item.note), &read_noted))
                .collect()
        };
        let (entries, pruned) = match section {
            Section::Changed => (files(Touches::is_changed, Touches::changes), 0),
            Section::Read => (files(Touches::is_only_read, |touches| times(touches.read)), 0),
            Section::Seen => {
                (files(Touches::is_only_seen, |touches| times(touches.seen)), self.files.pruned())
            }
            Section::Commands => {
                let write = |text: &str, runs: &Runs| entry_text(text, &runs.note(), &read_run);
                (list(&self.commands, now, write), self.commands.pruned())
            }
            Section::Errors => {
                let write =
                    |text: &str, slips: &Slips| entry_text(text, &slips.note(), &read_noted);
                (list(&self.errors, now, write), self.errors.pruned())
            }
            Section::Ids => {
                (list(&self.ids, now, |text, label| label.written(text)), self.ids.pruned())
            }
            Section::Urls => (
                list(&self.urls, now, |text, ()| row_text(text, "", &read_plain)),
                self.urls.pruned(),
            ),
            Section::Numbers => (
                list(&self.numbers, now, |text, ()| row_text(text, "", &read_plain)),
                self.numbers.pruned(),
            ),
            Section::Todo => (self.todo.lines(), 0),
        };
        let unlisted = self.unlisted[section as usize].saturating_add(pruned);
        Draft { chosen: vec![false; entries.len()], entries, unlisted, begun: false }
    }

    fn read_entry(&mut self, section: Section, entry: &str, rank: &mut i32) -> Option<()> {
        if let Some(more) = read_more(entry) {
            let unlisted = &mut self.unlisted[section as usize];
            *unlisted = unlisted.saturating_add(more);
            return Some(());
        }
        *rank = match section {
            Section::Changed | Section::Read | Section::Seen => {
                let (path, note) = read_noted(entry)?;
                let touches = Touches::read(section, &note)?;
                let path = above(&path, self.root.as_deref().unwrap_or_default());
                self.files.carry(&path, touches, touches.weight(), *rank)
            }
            Section::Commands => {
                let (text, note) = read_run(entry)?;
                let runs = Runs::read(&note)?;
                self.commands.carry(&text, runs, runs.times.saturating_mul(2), *rank)
            }
            Section::Errors => {
                let (text, note) = read_noted(entry)?;
                let slips = Slips::read(&note)?;
                let times = slips.times;
                self.errors.carry(&text, slips, times, *rank)
            }
            Section::Ids => {
                let (id, label) = Label::read(entry)?;
                self.ids.carry(&id, label, 2, *rank)
            }
            Section::Urls => self.urls.carry(&read_plain(entry)?.0, (), 2, *rank),
            Section::Numbers => self.numbers.carry(&read_plain(entry)?.0, (), 2, *rank),
            Section::Todo => {
                self.todo.carry(entry)?;
                *rank
            }
        };
        Some(())
    }

    /// Whether a path was only named, and stands elsewhere with more or less before it, or as the
    /// folder of a file.
    fn is_told_by_another(&self, item: &Item<Touches>) -> bool {
        let ends = |long: &str, short: &str| {
            long.strip_suffix(short).is_some_and(|folder| folder.ends_with('/'))
        };
        item.note.is_only_seen()
            && self.files.items().iter().any(|other| {
                let folder = other.text.strip_prefix(&*item.text);
                folder.is_some_and(|rest| rest.starts_with('/'))
                    || ends(&other.text, &item.text)
                    || (!other.note.is_only_seen()
                        && other.text.contains('/')
                        && ends(&item.text, &other.text))
            })
    }

    /// The folder that leaves most out when the paths below it are written without it; often empty.
    fn best_root(&self) -> String {
        let ranked = self.files.ranked(self.now);
        let mut shared: BTreeMap<&str, usize> = BTreeMap::new();
        for item in ranked.iter().take(120).filter(|item| item.text.starts_with(['/', '~'])) {
            for (at, _) in item.text.match_indices('/').skip(1).take(12) {
                *shared.entry(&item.text[..=at]).or_default() += 1;
            }
        }
        // A path that is relative itself takes two bytes more beside a root.
        let relative =
            ranked.iter().take(120).filter(|item| !item.text.starts_with(['/', '~'])).count();
        let saved = |(folder, count): &(&str, usize)| (*count - 1) * folder.len();
        let best = shared
            .into_iter()
            .filter(|(folder, count)| *count > 2.max(relative) && folder.len() > 8)
            .max_by_key(saved);
        best.map(|(folder, _)| folder.to_owned()).unwrap_or_default()
    }
}

/// The entries of a section, those chosen so far, and how many more there were.
#[derive(Debug)]
struct Draft {
    entries: Vec<String>,
    chosen: Vec<bool>,
    unlisted: u32,
    begun: bool,
}

impl Draft {
    /// Chooses entries, best first, that fit into what is left.
    fn fill(&mut self, title: &str, form: Form, left: &mut usize) {
        let opening = if self.begun { 0 } else { title.len() + 2 + MORE };
        for (entry, chosen) in self.entries.iter().zip(&mut self.chosen) {
            let opening = if self.begun { 0 } else { opening };
            let cost = opening + entry.len() + if form == Form::Row { 2 } else { 3 };
            if !*chosen && cost <= *left {
                *left -= cost;
                *chosen = true;
                self.begun = true;
            }
        }
    }

    /// Where none was chosen, has their number written, if there is room for that.
    fn count(&mut self, title: &str, form: Form, left: &mut usize) {
        let cost = title.len() + 2 + MORE + if form == Form::Row { 0 } else { 3 };
        let more = self.unlisted as usize + self.entries.len();
        if !self.begun && more > 0 && cost <= *left {
            *left -= cost;
            self.begun = true;
        }
    }

    fn write(&self, title: &str, form: Form, out: &mut String) {
        if !self.begun {
            return;
        }
        let chosen = self
            .entries
            .iter()
            .zip(&self.chosen)
            .filter(|(_, chosen)| **chosen)
            .map(|(entry, _)| entry.clone());
        let mut entries: Vec<String> = chosen.collect();
        let more = self.unlisted as usize + self.entries.len() - entries.len();
        if more > 0 {
            entries.push(format!("+{more} more"));
        }
        let _ = match form {
            Form::Row => writeln!(out, "{title}: {}", entries.join(", ")),
            Form::List => writeln!(out, "{title}:\n- {}", entries.join("\n- ")),
        };
    }
}

/// At most so many bytes are those of a list of these.
fn list_bytes(entries: &[String]) -> usize {
    TITLE + MORE + entries.iter().map(|entry| entry.len() + 3).sum::<usize>()
}

fn list<T: Note>(lane: &Lane<T>, now: u32, write: impl Fn(&str, &T) -> String) -> Vec<String> {
    lane.ranked(now).into_iter().map(|item| write(&item.text, &item.note)).collect()
}

/// A path as it is written where plain paths are below `root`.
fn below(path: &str, root: &str) -> String {
    if root.is_empty() {
        return path.to_owned();
    }
    match path.strip_prefix(root) {
        Some(rest) if !rest.is_empty() && !rest.starts_with(['/', '~', '.']) => rest.to_owned(),
        _ if path.starts_with(['/', '~']) => path.to_owned(),
        _ => format!("./{path}"),
    }
}

/// The path that [`below`] wrote.
fn above(written: &str, root: &str) -> String {
    match written.strip_prefix("./") {
        Some(path) if !root.is_empty() => path.to_owned(),
        None if !root.is_empty() && !written.starts_with(['/', '~']) => format!("{root}{written}"),
        _ => written.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;

    use super::*;
    use crate::text::Outcome;

    fn sample() -> Anchors {
        let mut anchors = Anchors::default();
        let call =
            |anchors: &mut Anchors, at, tool: &str, arguments: &str, output: &str, outcome| {
                anchors.observe_call(at, tool, arguments);
                anchors.observe_result(at + 1, tool, arguments, output, outcome);
            };
        let test = r#"{"command":"cargo test -p foo"}"#;
        let (ok, error) = (Outcome::Ok, Outcome::Error);
        anchors
            .observe_text(0, "Fix ABC-123, see https://x.org/y, within 300 ms. Look at src/lib.rs");
        call(
            &mut anchors,
            1,
            "Read",
            r#"{"file_path":"/repo/project/src/main.rs"}"#,
            "fn main() {}",
            ok,
        );
        call(
            &mut anchors,
            3,
            "Read",
            r#"{"file_path":"/repo/project/nope.rs"}"#,
            "File does not exist.",
            error,
        );
        call(&mut anchors, 5, "Edit", r#"{"file_path":"/repo/project/src/lib.rs"}"#, "ok", ok);
        call(
            &mut anchors,
            7,
            "Bash",
            test,
            "error[E0308]: mismatched types\n --> src/lib.rs:1:2\nexit code: 101",
            error,
        );
        call(&mut anchors, 9, "Edit", r#"{"file_path":"/repo/project/src/lib.rs"}"#, "ok", ok);
        call(&mut anchors, 11, "Bash", test, "test result: ok. 12 passed; 0 failed", ok);
        call(
            &mut anchors,
            13,
            "Write",
            r#"{"file_path":"/repo/project/src/a, b.rs","content":"x"}"#,
            "",
            ok,
        );
        call(
            &mut anchors,
            15,
            "book_flight",
            r#"{"user_id":"mia_3668","cabin":"economy"}"#,
            "{\"reservation_id\": \"4OG6T3\"}",
            ok,
        );
        call(
            &mut anchors,
            17,
            "Bash",
            r#"{"command":"make all"}"#,
            "make: *** No rule\nError: it broke badly\nexit code 2",
            error,
        );
        anchors
    }

    #[test]
    fn commands_that_went_well_in_the_end_keep_room_beside_many_files() {
        let files: Vec<String> = (0..80)
            .map(|file| format!("crates/part-{file}/src/module_{file}.rs (edited)"))
            .collect();
        let text = format!(
            "Files changed: {}\nCommands:\n- cargo test -p wheel → ok, failed before (×3)\n- ls → ok\n",
            files.join(", ")
        );
        let anchors = Anchors::parse(&text).expect("a rendering");
        let short = anchors.render(700);
        assert!(short.len() <= 700, "{short}");
        assert!(short.contains("cargo test -p wheel → ok, failed before (×3)"), "{short}");
        assert!(short.matches("(edited)").count() > 8, "{short}");
    }

    #[test]
    fn anchors_read_well() {
        expect![[r#"
            Paths are below: /repo/project/
            Files changed: src/lib.rs (edited ×2), "src/a, b.rs" (created)
            Files read: src/main.rs
            Commands:
            - cargo test -p foo → ok, failed before, 12 passed (×2)
            - make all → failed, exit code 2
            - book_flight(user_id=mia_3668, cabin=economy) → ok
            Errors:
            - Error: it broke badly
            - error[E0308]: mismatched types (fixed after editing /repo/project/src/lib.rs)
            Ids: user_id=mia_3668, reservation_id=4OG6T3, ABC-123
            URLs: https://x.org/y
        "#]]
        .assert_eq(&sample().render(2_000));
    }

    #[test]
    fn a_small_budget_keeps_the_best_and_counts_the_rest() {
        expect![[r#"
            Paths are below: /repo/project/
            Files changed: src/lib.rs (edited ×2), "src/a, b.rs" (created)
            Commands:
            - cargo test -p foo → ok, failed before, 12 passed (×2)
            - make all → failed, exit code 2
            - +1 more
            Ids: user_id=mia_3668, +2 more
        "#]]
        .assert_eq(&sample().render(300));
        assert_eq!(sample().render(0), "");
    }

    #[test]
    fn what_is_no_rendering_is_not_read() {
        assert!(Anchors::parse("hello").is_none());
        assert!(Anchors::parse("Commands: x").is_none());
        assert!(Anchors::parse("- x").is_none());
        assert_eq!(Anchors::parse("").map(|anchors| anchors.is_empty()), Some(true));
    }

    #[test]
    fn older_anchors_are_carried_over() {
        let older = Anchors::parse(&sample().render(2_000)).expect("it is a rendering");
        let mut newer = Anchors::default();
        newer.observe_call(0, "Read", r#"{"file_path":"/repo/project/src/new.rs"}"#);
        newer.observe_call(2, "Edit", r#"{"file_path":"/repo/project/src/lib.rs"}"#);
        newer.merge(older);
        expect![[r#"
            Paths are below: /repo/project/src/
            Files changed: lib.rs (edited ×3), "a, b.rs" (created)
            Files read: new.rs, main.rs
            Commands:
            - cargo test -p foo → ok, failed before, 12 passed (×2)
            - make all → failed, exit code 2
            - book_flight(user_id=mia_3668, cabin=economy) → ok
            Errors:
            - Error: it broke badly
            - error[E0308]: mismatched types (fixed after editing /repo/project/src/lib.rs)
            Ids: user_id=mia_3668, reservation_id=4OG6T3, ABC-123
            URLs: https://x.org/y
        "#]]
        .assert_eq(&newer.render(2_000));
    }

    fn value() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a-z]{1,6}/[a-z]{1,6}\\.rs",
            "/base/folder/[a-z]{1,3}/[a-z]{1,6}\\.rs",
            "(, |\"| → |ok|\\(×3\\)| \\(fixed\\)|\\+3 more|=|é|\\./|x){1,6}",
            ".{0,30}",
        ]
    }

    proptest! {
        #[test]
        fn any_rendering_fits_and_reads_back_the_same(
            seen in prop::collection::vec((value(), 0_u32..7, 0_u32..100, 1_u32..9), 0..40),
            max in 0_usize..1_500,
        ) {
            let mut anchors = Anchors::default();
            for (value, kind, at, weight) in seen {
                let json = |key: &str| serde_json::json!({ key: value }).to_string();
                match kind {
                    0 => anchors.observe_call(at, "Read", &json("file_path")),
                    1 => anchors.observe_call(at, "Edit", &json("file_path")),
                    2 => anchors.observe_call(at, "Bash", &json("command")),
                    3 => anchors.observe_result(at, "Bash", &json("command"), &format!("Error: {value}\nexit code 2"), Outcome::Unknown),
                    5 => anchors.observe_call(at, "todo_write", &serde_json::json!({"merge": true, "todos": [{"id": weight.to_string(), "content": value, "status": if at % 2 == 0 { "completed" } else { "pending" }}]}).to_string()),
                    4 => anchors.observe_text(at, &format!("https://x.org/{value} id: {value}1 {weight} ms")),
                    _ => anchors.observe_result(at, "Bash", &json("command"), "", Outcome::Ok),
                }
            }
            let text = anchors.render(max);
            prop_assert!(text.len() <= max);
            let read = Anchors::parse(&text);
            prop_assert!(read.is_some(), "{text}");
            prop_assert_eq!(read.map(|read| read.render(max)), Some(text));
        }
    }
}
