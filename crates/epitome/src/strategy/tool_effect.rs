//! A call's effect on files, as far as strategies need it: which are read, and which are stale since.

use std::ops::RangeInclusive;

use crate::tool::{Act, Call, FileDeed as Done};

/// A parsed call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ToolEffect {
    /// The same for calls that ask the same: tool and arguments, whatever their order and remarks.
    pub(super) question: String,
    /// Files whose content it shows.
    pub(super) reads: Vec<Read>,
    /// Files that it changes in part.
    pub(super) edits: Vec<String>,
    /// Files that it rewrites or deletes.
    pub(super) overwrites: Vec<String>,
    kind: EffectKind,
}

/// Lines of a file that are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Read {
    /// The file.
    pub(super) path: String,
    /// Which lines.
    pub(super) lines: Lines,
}

/// Which lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lines {
    /// All of them.
    All,
    /// These, counted from 1.
    These(RangeInclusive<u64>),
    /// Some.
    Unknown,
}

impl Read {
    /// Whether all that `other` reads is read.
    pub(super) fn covers(&self, other: &Read) -> bool {
        let wider = match (&self.lines, &other.lines) {
            (Lines::All, _) => true,
            (Lines::These(own), Lines::These(other)) => {
                own.start() <= other.start() && other.end() <= own.end()
            }
            (Lines::These(_) | Lines::Unknown, _) => false,
        };
        self.path == other.path && wider
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EffectKind {
    /// What comes back was there before.
    Looks,
    /// Runs a command: what comes back is how things are now.
    Runs,
    /// Anything else.
    Acts,
}

impl ToolEffect {
    /// Understands a call.
    pub(super) fn of(tool: &str, arguments_json: &str) -> Self {
        let call = Call::read(tool, arguments_json);
        let mut deed = ToolEffect {
            question: question(tool, arguments_json, &call),
            reads: Vec::new(),
            edits: Vec::new(),
            overwrites: Vec::new(),
            kind: match call.act {
                Act::Run => EffectKind::Runs,
                _ if call.only_looks() => EffectKind::Looks,
                _ => EffectKind::Acts,
            },
        };
        if let (Act::Read, Some(path)) = (call.act, call.arguments.path()) {
            let lines = call.arguments.range().map_or(Lines::All, Lines::These);
            deed.reads.push(Read { path: path.into_owned(), lines });
        }
        for (done, path) in call.changes(arguments_json) {
            let changed = if done == Done::Edit { &mut deed.edits } else { &mut deed.overwrites };
            changed.push(path);
        }
        let reads = call.shell.deeds.into_iter().filter(|(done, _)| *done == Done::Read);
        if !call.shell.acts {
            deed.reads.extend(reads.map(|(_, path)| Read { path, lines: Lines::Unknown }));
        }
        deed
    }

    /// Whether what comes back was there before, and so tells no outcome.
    pub(super) fn only_reads(&self) -> bool {
        self.kind == EffectKind::Looks
    }

    /// Whether a repeated question gets a new answer.
    pub(super) fn can_be_repeated(&self) -> bool {
        self.kind != EffectKind::Acts
    }

    /// Whether even a failure is the newest state: a command's, not a look's.
    pub(super) fn tells_state(&self) -> bool {
        self.kind == EffectKind::Runs
    }
}

/// Arguments that don't change the question.
const REMARKS: [&str; 6] =
    ["description", "explanation", "timeout", "timeout_ms", "yield_time_ms", "max_output_tokens"];

fn question(tool: &str, arguments_json: &str, call: &Call<'_>) -> String {
    let mut members: Vec<(&str, &str)> = call.arguments.all().collect();
    members.retain(|(key, _)| !REMARKS.contains(key));
    members.sort_unstable();
    let mut question = String::from(tool);
    if call.arguments.is_empty() {
        question.push('\0');
        question.push_str(arguments_json);
    }
    for (key, value) in members {
        for piece in ["\0", key, "=", value] {
            question.push_str(piece);
        }
    }
    question
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_question_has_the_same_words() {
        let of = |json: &str| ToolEffect::of("Bash", json).question;
        let plain = of(r#"{"command":"cargo test","timeout":5}"#);
        assert_eq!(plain, of(r#"{"description":"Run the tests", "command":"cargo test"}"#));
        assert_ne!(plain, of(r#"{"command":"cargo build"}"#));
        assert_ne!(of("one"), of("two"));
    }

    #[test]
    fn reads_cover_what_they_say() {
        let read = |json: &str| ToolEffect::of("Read", json).reads.remove(0);
        let whole = read(r#"{"file_path":"a"}"#);
        let part = read(r#"{"file_path":"a","offset":10,"limit":20}"#);
        let inner = read(r#"{"file_path":"a","offset":12,"limit":5}"#);
        assert_eq!(part.lines, Lines::These(10..=29));
        assert!(whole.covers(&part) && part.covers(&inner) && part.covers(&part));
        assert!(!part.covers(&whole) && !inner.covers(&part));
        assert!(!whole.covers(&read(r#"{"file_path":"b"}"#)));
    }

    #[test]
    fn files_are_found_in_tools_patches_and_commands() {
        let deed =
            ToolEffect::of("Bash", r#"{"command":"sed -i s/a/b/ src/x.rs && cat y.rs > z.rs"}"#);
        assert_eq!((deed.edits, deed.overwrites), (vec!["src/x.rs".into()], vec!["z.rs".into()]));
        let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n*** Delete File: b.rs\n";
        assert_eq!(ToolEffect::of("apply_patch", patch).edits, ["a.rs", "b.rs"]);
        let cat = ToolEffect::of("Bash", r#"{"command":"cat src/x.rs"}"#);
        assert_eq!(cat.reads[0].path, "src/x.rs");
        assert!(
            ToolEffect::of("Read", r#"{"file_path":"src/x.rs"}"#).reads[0].covers(&cat.reads[0])
        );
        assert!(!cat.reads[0].covers(&cat.reads[0]));
        assert!(ToolEffect::of("Write", r#"{"file_path":"w","content":""}"#).overwrites == ["w"]);
    }
}
