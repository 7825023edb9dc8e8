//! Bad input of every kind, through the whole binary: the exit code, a message, bounds of time and memory, and
//! nothing half-written. What comes of each is in outcomes.md.

mod cases;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

use epitome::wire;
use epitome_recordings::open;
use expect_test::expect_file;

use crate::bench::{Bench, Ran};
use cases::{Case, cases};

/// No run of a small input takes longer, on a busy machine either.
const LONGEST: Duration = Duration::from_secs(20);
/// Address space of each run in kilobytes, the program itself and the tables of its counters among them.
const MEMORY: &str = "700000";
/// What stands where the output goes.
const OLD: &str = "what was here before\n";

/// What each case is put through.
const COMMANDS: [&str; 6] = [
    "stats",
    "count --counter bytes4",
    "check",
    "plan --target 50% --counter chars4",
    "compact --target 50% --counter chars4 -o out",
    "check --repair -o mended",
];
/// What the last ones of these write.
const OUTPUTS: [(usize, &str); 2] = [(4, "out"), (5, "mended")];

/// Runs a command on a case within bounds of memory, as `ulimit` has it, and time.
fn run(bench: &Bench, command: &str, case: &Case, (memory, longest): (&str, Duration)) -> Ran {
    let epitome = env!("CARGO_BIN_EXE_epitome");
    let line = format!("ulimit -v {memory}; exec '{epitome}' {command} input");
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).current_dir(bench.path(".")).env_clear().env("HOME", bench.path("."));
    let begun = Instant::now();
    let output = shell.output().expect("it runs");
    assert!(begun.elapsed() < longest, "{command}, {}: {:?}", case.name, begun.elapsed());
    assert!(output.status.code().is_some(), "{command}, {}: {}", case.name, output.status);
    Ran::of(&output)
}

/// What a terminal would obey, or what hides or reorders text.
fn is_unseen(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Looks at one run; its exit code.
fn judge(command: &str, case: &Case, ran: &Ran) -> i32 {
    let at = format!("{command}, {}: {} {}", case.name, ran.code, ran.err);
    assert!(matches!(ran.code, 0 | 3 | 65), "{at}");
    assert!(!ran.err.contains("panicked") && !ran.err.contains("memory allocation"), "{at}");
    assert!(!ran.err.chars().any(is_unseen), "{at:?}");
    assert!(!ran.err.contains(cases::SECRET), "{at}");
    if ran.code == 65 {
        assert!(ran.out.is_empty() && ran.err.starts_with("error: input: "), "{at}");
        assert!(ran.err.contains("\nhint: "), "{at}");
    }
    if !command.starts_with("compact") && ran.code != 65 {
        assert!(!ran.out.chars().any(is_unseen), "{at} {:?}", ran.out);
    }
    ran.code
}

/// What isn't read is no more read by commands that write to stdout, or from stdin. No file comes of it.
fn refused(bench: &Bench, case: &Case) {
    let files = bench.names();
    let at = |ran: &Ran| format!("{}: {} {}{}", case.name, ran.code, ran.err, ran.out);
    let convert = "convert --to anthropic";
    let ran = run(bench, convert, case, (MEMORY, LONGEST));
    assert_eq!(judge(convert, case, &ran), 65, "{}", at(&ran));
    for command in ["compact", "check --repair"] {
        let ran = bench.pipe(command, &case.bytes);
        assert!(ran.code == 65 && ran.out.is_empty(), "{command}, {}", at(&ran));
        assert!(ran.err.starts_with("error: stdin: "), "{command}, {}", at(&ran));
        assert!(ran.err.contains("\nhint: "), "{command}, {}", at(&ran));
    }
    assert_eq!(bench.names(), files, "{}", case.name);
}

/// Whether nothing is wrong with a text, looked at without a process.
fn is_sound(text: &str) -> bool {
    let input = open(text.into(), None, epitome_recordings::Options::default());
    input.is_ok_and(|input| wire::check(input.request()).is_empty())
}

/// The rules that a file breaks, each with what was found.
fn faults(bench: &Bench, file: &str) -> BTreeSet<(String, String)> {
    let report = bench.run(&format!("check {file} --json")).json();
    let told = |found: &serde_json::Value| {
        let [rule, detail] = ["rule", "detail"].map(|name| found[name].as_str().map(str::to_owned));
        (rule.expect("a rule"), detail.unwrap_or_default())
    };
    report["findings"].as_array().expect("findings").iter().map(told).collect()
}

#[test]
fn every_bad_input_ends_well() {
    let bench = Bench::new();
    let mut page = PAGE.to_owned();
    let cases = cases();
    assert!(cases.len() >= 200, "{} cases", cases.len());
    let mut family = "";
    for case in &cases {
        bench.write("input", &case.bytes);
        let mut codes = Vec::new();
        let (mut said, mut hint) = (String::new(), String::new());
        for (_, output) in OUTPUTS {
            bench.write(output, OLD);
        }
        for command in COMMANDS {
            let ran = run(&bench, command, case, (MEMORY, LONGEST));
            codes.push(judge(command, case, &ran));
            let first = ran.err.lines().next().unwrap_or_default();
            if said.is_empty()
                && ["error: ", "warning: "].iter().any(|word| first.starts_with(word))
            {
                first.clone_into(&mut said);
                if ran.code == 65 {
                    hint = ran.err.lines().skip(1).collect::<Vec<_>>().join(" ");
                }
            }
        }
        for (at, name) in OUTPUTS {
            let (out, code) = (bench.read(name), codes[at]);
            if code == 65 {
                assert_eq!(out, OLD, "{}", case.name);
                continue;
            }
            assert_ne!(out, OLD, "{}", case.name);
            // What comes out has no fault that didn't come in.
            let left = if is_sound(&out) { 0 } else { bench.run(&format!("check {name}")).code };
            // What only its author can mend is carried as it came.
            let is_carried = || {
                let [came, out] = ["input", name].map(|file| faults(&bench, file));
                out.is_subset(&came)
            };
            assert!(
                left == 0 || left == 3 && (code == 3 || is_carried()),
                "{}: {left} in {name} after {codes:?}",
                case.name
            );
        }
        if codes.iter().all(|code| *code == 65) {
            refused(&bench, case);
        }
        if case.family != family {
            family = case.family;
            let _ = write!(
                page,
                "\n## {family}\n\n| case | bytes | exit | said | next |\n|---|--:|---|---|---|\n"
            );
        }
        codes.dedup();
        let codes: Vec<String> = codes.iter().map(i32::to_string).collect();
        let said = said.trim_start_matches("error: input: ").replace('|', "\\|");
        let said: String = said.chars().take(110).collect();
        let next = hint.trim_start_matches("hint: ").replace('|', "\\|");
        let _ = writeln!(
            page,
            "| {} | {} | {} | {said} | {next} |",
            case.name,
            case.bytes.len(),
            codes.join(", ")
        );
    }
    expect_file!["outcomes.md"].assert_eq(&page);
}

/// What is sound, and larger than anybody's window.
#[test]
fn large_inputs_end_well() {
    end_well(20_000, 4);
}

#[test]
#[ignore = "it takes a minute: ./test full"]
fn the_largest_inputs_end_well() {
    end_well(1_000_000, 200);
}

/// So many messages, and a message of so many megabytes.
fn end_well(messages: usize, megabytes: usize) {
    const HUGE: (&str, Duration) = ("6000000", Duration::from_mins(5));
    let message = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
    let chat = |messages: &str| format!(r#"{{"model":"gpt-4o","messages":[{messages}]}}"#);
    let many = vec![message("hi"); messages].join(",");
    let long = message(&"word ".repeat(megabytes * 200_000));
    for (name, messages) in [("many messages", many), ("a long message", long)] {
        let bytes = chat(&messages).into_bytes();
        let case = Case { family: "Huge", name: name.to_owned(), bytes };
        let bench = Bench::new();
        bench.write("input", &case.bytes);
        for command in COMMANDS {
            let ran = run(&bench, command, &case, HUGE);
            judge(command, &case, &ran);
        }
        for (_, output) in OUTPUTS {
            assert_eq!(bench.run(&format!("check {output}")).code, 0, "{name}, {output}");
        }
    }
}

const PAGE: &str = "\
# Bad input

What becomes of input that isn't what it should be. Each case goes through `stats`, `count`, `check`, `plan`, `compact -o` and
`check --repair -o`, within 700 MB of address space and 20 seconds (most take a hundredth of that): it ends with 0, 3 (something was found, or the target
can't be reached) or 65 (it can't be read), never with a panic or a signal; what says no more than 65 leaves the output as it
was; what is written has no fault that wasn't there before; no message obeys a terminal's escapes or shows a secret.

Made by `UPDATE_EXPECT=1 cargo test -p epitome-cli --test it corpus`, from [the corpus](cases.rs). The exit
codes are those of the commands in that order, repeats left out; the message is the first error or warning, and behind an error
stands its hint. What can't be read is refused by `convert`, too, and from stdin.
";
