//! A folder with the real sessions in reach, and the binary run in it.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::obeyed::obeyed;

/// A Claude Code session.
pub(crate) const SESSION: &str = "claude-code/session-3fe1b6bc.jsonl";
/// A shorter one.
pub(crate) const SHORT: &str = "claude-code/session-9eda1058.jsonl";
/// A hand-made one, with everything that goes wrong.
pub(crate) const EDGES: &str = "claude-code/edge_cases.jsonl";
/// A tau-bench run.
pub(crate) const RUN: &str = "tau-bench/00_task2_trial1.json";
/// A SWE-agent trajectory.
pub(crate) const TRAJECTORY: &str = "swe-agent/ctf-warmup.traj";

/// A folder of its own.
pub(crate) struct Bench {
    folder: TempDir,
}

/// What a command said and how it ended.
#[derive(Clone)]
pub(crate) struct Ran {
    /// The command, where it was one line.
    line: String,
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Bench {
    /// An empty folder.
    pub(crate) fn new() -> Self {
        Bench { folder: tempfile::tempdir().expect("a folder") }
    }

    /// A path in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file into it.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("in the folder")).expect("a folder");
        fs::write(path, bytes).expect("a file");
    }

    /// Copies a shipped session into it, as `name`.
    pub(crate) fn copy(&self, example: &str, name: &str) {
        fs::copy(shipped(example), self.path(name)).expect("a shipped session");
    }

    /// The text of a file in it.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a file")
    }

    /// The JSON in a file in it.
    pub(crate) fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).expect("JSON")
    }

    /// The names of what is in it, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).expect("a folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// The binary with `words` as arguments, knowing nothing of the user.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        self.command_of(Path::new(env!("CARGO_BIN_EXE_epitome")), words)
    }

    /// The same of the binary where it stands as `program`.
    pub(crate) fn command_of(&self, program: &Path, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(words).current_dir(self.folder.path()).env_clear();
        command.env("HOME", self.folder.path()).stdin(Stdio::null());
        command
    }

    /// Runs it with arguments split at spaces.
    pub(crate) fn run(&self, line: &str) -> Ran {
        let words: Vec<&str> = line.split_whitespace().collect();
        Ran::by(line, &self.command(&words).output().expect("the binary runs"))
    }

    /// Runs it with `input` on stdin.
    pub(crate) fn pipe(&self, line: &str, input: &[u8]) -> Ran {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut command = self.command(&words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary runs");
        // Whoever gives up on its input early may do so.
        let _gone = child.stdin.take().expect("piped").write_all(input);
        Ran::by(line, &child.wait_with_output().expect("the binary ends"))
    }

    /// Runs it with arguments split at spaces and stdout a terminal of `columns`; what that is sent.
    /// Of the two ends of a line, a terminal makes a `\r\n`.
    #[cfg(unix)]
    pub(crate) fn screen(&self, words: &str, columns: u16) -> Ran {
        self.screen_with(words, columns, &[])
    }

    /// Runs it with arguments split at spaces and stdin a terminal.
    #[cfg(unix)]
    pub(crate) fn terminal_stdin(&self, words: &str) -> Ran {
        let pty = nix::pty::openpty(None, None).expect("a terminal");
        let words: Vec<&str> = words.split_whitespace().collect();
        let mut command = self.command(&words);
        command.stdin(Stdio::from(pty.slave));
        Ran::of(&command.output().expect("the binary runs"))
    }

    /// The same as `screen` in an environment.
    #[cfg(unix)]
    pub(crate) fn screen_with(
        &self,
        words: &str,
        columns: u16,
        environment: &[(&str, &str)],
    ) -> Ran {
        use std::io::Read as _;
        let size = nix::pty::Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = nix::pty::openpty(Some(&size), None).expect("a terminal");
        let words: Vec<&str> = words.split_whitespace().collect();
        let mut command = self.command(&words);
        command.stdout(Stdio::from(pty.slave)).stderr(Stdio::piped()).env("TERM", "xterm-256color");
        command.envs(environment.iter().copied());
        let child = command.spawn().expect("the binary runs");
        // The terminal is open as long as one of its other ends is.
        drop(command);
        let mut sent = Vec::new();
        let _closed = fs::File::from(pty.master).read_to_end(&mut sent);
        let ended = child.wait_with_output().expect("the binary ends");
        let mut ran = Ran::of(&ended);
        ran.out = String::from_utf8(sent).expect("UTF-8").replace("\r\n", "\n");
        ran
    }

    /// Runs a shell line in which `epitome` is the binary.
    pub(crate) fn shell(&self, line: &str) -> Ran {
        let binary = Path::new(env!("CARGO_BIN_EXE_epitome"));
        let mut command = Command::new("bash");
        command.args(["-c", &format!("set -o pipefail; {line}")]).current_dir(self.folder.path());
        command.env("HOME", self.folder.path()).stdin(Stdio::null());
        let before = std::env::var("PATH").unwrap_or_default();
        let folder = binary.parent().expect("in a folder").display();
        command.env("PATH", format!("{folder}:{before}")).env_remove("NO_COLOR");
        Ran::by(line, &command.output().expect("a shell"))
    }
}

impl Ran {
    pub(crate) fn of(output: &Output) -> Self {
        Ran::by("", output)
    }

    fn by(line: &str, output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        obeyed(line, &out, &err);
        let code = output.status.code().expect("no signal");
        Ran { line: line.to_owned(), code, out, err }
    }

    /// All of it, for a snapshot. Lines end where their words do.
    pub(crate) fn shown(&self) -> String {
        let mut shown = format!("exit {}\n", self.code);
        for (name, text) in [("stdout", &self.out), ("stderr", &self.err)] {
            if !text.is_empty() {
                write!(shown, "--- {name}\n{}\n", text.trim_end()).expect("a string takes all");
            }
        }
        let lines: Vec<&str> = shown.lines().map(str::trim_end).collect();
        format!("{}\n", lines.join("\n"))
    }

    /// The same without its figures, which are the engine's business.
    pub(crate) fn shape(&self) -> String {
        let mut shape = String::new();
        for c in self.shown().chars() {
            match c {
                '0'..='9' if shape.ends_with('#') => {}
                '0'..='9' => shape.push('#'),
                ',' | '.' if shape.ends_with('#') => {}
                ' ' if shape.ends_with(' ') => {}
                c => shape.push(c),
            }
        }
        shape
    }

    /// That it ended with this code.
    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}: {}{}", self.line, self.out, self.err);
        self
    }

    /// That stdout holds each of these.
    #[track_caller]
    pub(crate) fn says(&self, all: &[&str]) -> &Self {
        for words in all {
            assert!(self.out.contains(words), "{}: {words}: {}", self.line, self.out);
        }
        self
    }

    /// That stderr holds each of these.
    #[track_caller]
    pub(crate) fn complains(&self, all: &[&str]) -> &Self {
        for words in all {
            assert!(self.err.contains(words), "{}: {words}: {}", self.line, self.err);
        }
        self
    }

    /// Stdout as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }

    /// What `recall --json` found.
    pub(crate) fn hits(&self) -> serde_json::Value {
        let report = self.json();
        assert_eq!(report["version"], 1, "{report}");
        report["hits"].clone()
    }
}

/// The path of a shipped session.
pub(crate) fn shipped(example: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    root.join(example).to_string_lossy().into_owned()
}
