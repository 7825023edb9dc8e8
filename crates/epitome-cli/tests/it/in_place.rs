//! `compact --apply` and the way back: recordings are replaced whole, or not at all.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use crate::bench::{Bench, SESSION, SHORT};
#[cfg(target_os = "linux")]
use crate::interrupted::soon;

const PI: &str = "pi/large-session.jsonl";

#[test]
fn recordings_are_compacted_in_place_and_come_back() {
    let mut rounds = 0;
    for (example, target) in [
        (SHORT, "30%"),
        (PI, "30%"),
        // pi's own words at a compaction are a sixth of it.
        ("pi/pi-words.jsonl", "60%"),
        ("codex/codex-words.jsonl", "30%"),
    ] {
        let bench = Bench::new();
        bench.copy(example, "s.jsonl");
        let original = bench.read("s.jsonl");
        // What the view is, without writing it anywhere near.
        let view = bench.run(&format!("compact s.jsonl --target {target} --archive aside"));
        let line = format!("compact s.jsonl --target {target} --apply --archive store --json");
        let ran = bench.run(&line);
        assert_eq!(ran.code, view.code, "{example}: {}", ran.err);
        let receipt: Value = serde_json::from_str(&ran.out).expect("a receipt on stdout");
        assert_eq!(receipt["archived"]["view"], 1, "{example}");
        let applied = bench.read("s.jsonl");
        assert!(applied.starts_with(&original) && applied.len() > original.len(), "{example}");

        let counted = |line: &str| -> u64 {
            let ran = bench.run(line);
            let counts: Value =
                serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err));
            counts["tokens"].as_u64().unwrap_or_else(|| panic!("{counts}"))
        };
        let (now, after) = (counted("count s.jsonl --json"), &receipt["after"]["tokens"]);
        let after = after.as_u64().unwrap_or_else(|| panic!("{}", receipt["after"]));
        // pi says in a line that there was a compaction.
        let line = if example.starts_with("pi") { 60 } else { 0 };
        assert!(now >= after && now <= after + line, "{example}: {now}, {after} by the receipt");
        assert_eq!(bench.run("check s.jsonl").code, 0, "{example}");

        let again = bench.run("compact s.jsonl --target 60% --apply --archive store");
        assert!(matches!(again.code, 0 | 3), "{example}: {}", again.err);
        let twice = bench.read("s.jsonl");
        assert!(twice.starts_with(&applied), "{example}");
        assert!(!again.err.contains("looks like the checkpoint"), "{example}: {}", again.err);

        // Each restore goes back by one compaction, which the next finds again.
        if twice != applied {
            rounds += 1;
            assert_eq!(bench.run("restore s.jsonl --archive store -o s.jsonl").code, 0);
            assert!(bench.read("s.jsonl") == applied, "{example}: before the second");
        }
        assert_eq!(bench.run("restore s.jsonl --archive store -o s.jsonl").code, 0);
        assert!(bench.read("s.jsonl") == original, "{example}: before the first");
    }
    assert!(rounds >= 2, "{rounds} were compacted twice");
}

#[test]
fn the_usual_archive_is_where_nothing_is_said() {
    let bench = Bench::new();
    bench.copy(SHORT, "s.jsonl");
    let original = bench.read("s.jsonl");
    // Told of it too.
    let ran = bench.run("compact s.jsonl --target 30% --apply --recall shell").ends(0);
    assert!(bench.read("s.jsonl").contains(".local/share/epitome/archive"));
    assert!(ran.err.contains("epitome restore s.jsonl -o s.jsonl\n"), "{}", ran.err);
    assert!(bench.path(".local/share/epitome/archive/store.db").exists());
    assert_eq!(bench.run("recall regex").code, 0);
    let ran = bench.run("restore s.jsonl -o s.jsonl");
    assert_eq!((ran.code, bench.read("s.jsonl") == original), (0, true), "{}", ran.err);
    assert_eq!(bench.names(), [".local", "s.jsonl"], "nothing else is left");
}

#[test]
fn what_was_said_since_is_kept_when_the_file_goes_back() {
    let bench = Bench::new();
    bench.copy(SHORT, "s.jsonl");
    let original = bench.read("s.jsonl");
    assert_eq!(bench.run("compact s.jsonl --target 30% --apply").code, 0);
    let applied = bench.read("s.jsonl");
    let last: Value = serde_json::from_str(applied.lines().last().expect("rows")).expect("JSON");
    let more = format!(
        "{{\"parentUuid\":{},\"type\":\"user\",\"uuid\":\"b1a4b6a8-0000-4000-8000-000000000001\",\
         \"message\":{{\"role\":\"user\",\"content\":\"Go on with the zebra.\"}}}}\n",
        last["uuid"]
    );
    bench.write("s.jsonl", format!("{applied}{more}"));
    let ran = bench.run("restore s.jsonl -o s.jsonl").ends(0);
    assert!(bench.read("s.jsonl") == original);
    let command = ran.err.split("epitome ").nth(1).expect("it says how to have the rest").trim();
    assert!(bench.run(command).out == format!("{applied}{more}"), "{command}");
    // It is named by its bytes: what goes on from them in the same session is another version.
    let again = format!("{applied}{}", more.replace("zebra", "heron"));
    bench.write("s.jsonl", &again);
    assert_eq!(bench.run("restore s.jsonl -o s.jsonl").code, 0);
    assert!(bench.run(command).out == format!("{applied}{more}"), "{command}");
    // So does a copy whose bytes are known give those bytes, whatever came in since.
    bench.write("copy.jsonl", &original);
    assert!(bench.run("restore copy.jsonl").out == original);
}

#[test]
fn nothing_is_written_where_nothing_is_to_be_done() {
    let bench = Bench::new();
    bench.copy(SHORT, "s.jsonl");
    let original = bench.read("s.jsonl");
    bench.run("compact s.jsonl --target 900k --apply").ends(0).complains(&["nothing was written"]);
    assert!(bench.read("s.jsonl") == original);
}

#[test]
fn only_recordings_that_agents_go_on_from_are_replaced() {
    let bench = Bench::new();
    bench.copy("gemini-cli/session-2025-12-01T21-45-5b959dae.json", "gemini.json");
    bench.write("request.json", r#"{"messages":[{"role":"user","content":"Hello"}]}"#);
    bench.copy(SHORT, "s.jsonl");
    let before = bench.read("s.jsonl");
    for (line, why) in [
        ("compact gemini.json --apply", "is a gemini-cli recording"),
        ("compact request.json --apply", "is a request"),
        ("compact - --apply", "stdin can't be replaced"),
        ("compact s.jsonl --apply -o out.json", "cannot be used with"),
        ("compact s.jsonl --apply --whole", "cannot be used with"),
    ] {
        bench.run(line).ends(2).complains(&[why]);
    }
    // What is hinted at leaves the recording alone.
    let ran = bench.run("compact gemini.json --apply");
    assert!(
        ran.err.contains("epitome compact gemini.json -o gemini.request.json\n"),
        "{}",
        ran.err
    );
    assert!(bench.read("s.jsonl") == before);
    // A request isn't put where a recording was.
    assert_eq!(bench.run("compact s.jsonl --target 30% --apply").code, 0);
    bench.run("undo s.jsonl -o s.jsonl").ends(2).complains(&["epitome restore s.jsonl -o s.jsonl"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_is_open_is_left_alone() {
    let bench = Bench::new();
    bench.copy(SHORT, "s.jsonl");
    let original = bench.read("s.jsonl");
    let mut agent = Command::new("bash")
        .args(["-c", "exec 9>>s.jsonl; echo; read line"])
        .current_dir(bench.path("."))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell");
    // It has the file open once it said so.
    let mut said = [0];
    std::io::Read::read_exact(agent.stdout.as_mut().expect("piped"), &mut said).expect("a line");
    bench.run("compact s.jsonl --target 30% --apply").ends(75).complains(&["is open in process"]);
    assert!(bench.read("s.jsonl") == original);
    agent.stdin.take().expect("piped").write_all(b"\n").expect("it reads");
    agent.wait().expect("it ends");
    assert_eq!(bench.run("compact s.jsonl --target 30% --apply").code, 0);
}

#[cfg(target_os = "linux")]
#[test]
fn what_an_agent_wrote_meanwhile_stays() {
    let bench = Bench::new();
    bench.copy(SESSION, "s.jsonl");
    let before = bench.read("s.jsonl");
    // Whoever sums up waits until the agent wrote.
    assert_eq!(bench.shell("mkfifo written").code, 0);
    bench.write("script", "cat > /dev/null\n: > asked\ncat written > /dev/null\nexit 1\n");
    let words = ["compact", "s.jsonl", "--target", "30%", "--apply", "--archive", "store"];
    let summarizer = ["--summarizer", "cmd:sh script", "--timeout", "100"];
    let mut command = bench.command(&[&words[..], &summarizer[..]].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
    soon("it asks", || bench.path("asked").exists());
    let mut file = File::options().append(true).open(bench.path("s.jsonl")).expect("there");
    let row = "{\"type\":\"file-history-snapshot\",\"messageId\":\"m\"}\n";
    file.write_all(row.as_bytes()).expect("written");
    drop(file);
    bench.write("written", "");
    assert_eq!(child.wait().expect("over").code(), Some(75));
    assert!(bench.read("s.jsonl") == format!("{before}{row}"), "nothing of an agent's is lost");
    assert_eq!(bench.run("compact s.jsonl --target 30% --apply --archive store").code, 0);
    assert!(bench.read("s.jsonl").starts_with(&format!("{before}{row}")));
}

/// How often somebody writes at the worst moment; `./test full` has `EPITOME_KILLS=1000`.
fn moments() -> usize {
    std::env::var("EPITOME_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(16)
}

/// Calls `write` as soon as a file that is to be put in place of another gets its name, until `child` is over.
#[cfg(target_os = "linux")]
fn at_the_worst_moment(
    folder: &std::path::Path,
    child: &mut Child,
    mut write: impl FnMut(),
) -> Option<i32> {
    let is_named = || {
        let names = fs::read_dir(folder).expect("a folder").flatten();
        names.map(|it| it.file_name()).any(|name| name.to_string_lossy().starts_with(".epitome-"))
    };
    loop {
        if is_named() {
            write();
        }
        if let Some(ended) = child.try_wait().expect("it is ours") {
            return ended.code();
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_an_agent_writes_at_the_worst_moment_stays() {
    let bench = Bench::new();
    bench.copy(SHORT, "kept.jsonl");
    let original = bench.read("kept.jsonl");
    fs::create_dir(bench.path("agent")).expect("a folder");
    let (mut came, mut written) = (BTreeMap::<_, usize>::new(), 0);
    for moment in 0..moments() {
        bench.write("agent/s.jsonl", &original);
        let line = "compact agent/s.jsonl --target 30% --apply --archive store";
        let mut child = spawned(&bench, line);
        let mut rows = Vec::new();
        let code = at_the_worst_moment(&bench.path("agent"), &mut child, || {
            let (row, at) = (rows.len(), bench.path("agent/s.jsonl"));
            let row = format!(
                "{{\"type\":\"file-history-snapshot\",\"messageId\":\"{moment}-{row}\"}}\n"
            );
            let mut file = File::options().append(true).open(at).expect("it is always there");
            file.write_all(row.as_bytes()).expect("written");
            rows.push(row);
        });
        let now = bench.read("agent/s.jsonl");
        assert!(now.starts_with(&original), "{moment}");
        for row in &rows {
            assert_eq!(now.matches(row).count(), 1, "{moment}: {code:?} {row}");
        }
        assert!(matches!(code, Some(0 | 75)), "{moment}: {code:?}");
        assert_eq!(fs::read_dir(bench.path("agent")).expect("a folder").count(), 1, "{moment}");
        written += usize::from(!rows.is_empty());
        *came.entry(code).or_default() += 1;
    }
    println!(
        "reliability: in {written} of {} runs of `compact --apply` an agent wrote at the worst moment, and no row was lost; exit codes {came:?}",
        moments()
    );
    assert!(written * 4 > moments(), "{written}: the moment is hit");
}

/// A folder in which everybody may write, and whether this user may give files away.
#[cfg(target_os = "linux")]
fn shared() -> (Bench, bool) {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = Bench::new();
    fs::set_permissions(bench.path("."), fs::Permissions::from_mode(0o777)).expect("own");
    bench.copy(SHORT, "s.jsonl");
    fs::set_permissions(bench.path("s.jsonl"), fs::Permissions::from_mode(0o666)).expect("own");
    let is_root = std::os::unix::fs::chown(bench.path("s.jsonl"), Some(1), Some(1)).is_ok();
    (bench, is_root)
}

#[cfg(target_os = "linux")]
#[test]
fn a_recording_that_would_change_hands_is_left_alone() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::os::unix::process::CommandExt as _;
    let (bench, is_root) = shared();
    if !is_root {
        return println!("not shown: only root makes files of others");
    }
    let original = bench.read("s.jsonl");
    // Where it was built, in a folder of `mktemp -d` say, nobody else may go.
    let program = bench.path("epitome");
    let built = env!("CARGO_BIN_EXE_epitome");
    fs::hard_link(built, &program)
        .or_else(|_| fs::copy(built, &program).map(drop))
        .expect("a copy of the program");
    let run = |words: &[&str]| {
        let mut command = bench.command_of(&program, words);
        command.uid(65_534).gid(65_534);
        crate::bench::Ran::of(&command.output().expect("the binary runs"))
    };
    run(&["compact", "s.jsonl", "--target", "30%", "--apply"])
        .ends(1)
        .complains(&["can't keep its owner (user 1)"]);
    assert!(bench.read("s.jsonl") == original);
    // What is no recording is replaced, and it is said.
    bench.write("out.json", "old");
    std::os::unix::fs::chown(bench.path("out.json"), Some(1), Some(1)).expect("root");
    fs::set_permissions(bench.path("out.json"), fs::Permissions::from_mode(0o666)).expect("own");
    run(&["convert", "s.jsonl", "--to", "anthropic", "-o", "out.json"])
        .ends(0)
        .complains(&["loses its owner (user 1)"]);
    // Whoever may, keeps it.
    bench.write("s.jsonl", &original);
    std::os::unix::fs::chown(bench.path("s.jsonl"), Some(1), Some(1)).expect("root");
    // The usual archive is another user's here.
    bench.run("compact s.jsonl --target 30% --apply").ends(1).complains(&["belongs to user 65534"]);
    bench.run("compact s.jsonl --target 30% --apply --archive own").ends(0);
    let owner = fs::metadata(bench.path("s.jsonl")).expect("there");
    assert_eq!((owner.uid(), owner.gid()), (1, 1));
}

#[cfg(target_os = "linux")]
#[test]
fn attributes_stay_and_other_names_are_told_of() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    let bench = Bench::new();
    bench.copy(SHORT, "s.jsonl");
    let original = bench.read("s.jsonl");
    let path = bench.path("s.jsonl");
    let has_any = setxattr(&path, "user.note", b"mine", XattrFlags::empty()).is_ok();
    fs::hard_link(&path, bench.path("other.jsonl")).expect("a link");
    bench
        .run("compact s.jsonl --target 30% --apply")
        .ends(0)
        .complains(&["s.jsonl has 1 other name, which keeps what it was"]);
    assert!(bench.read("other.jsonl") == original && bench.read("s.jsonl") != original);
    if has_any {
        let mut value = [0; 8];
        let length = getxattr(&path, "user.note", &mut value[..]).expect("it is there");
        assert_eq!(&value[..length], b"mine");
    } else {
        println!("attributes aren't shown: this file system has none");
    }
}

#[test]
fn pi_comes_to_rest_at_once() {
    let bench = Bench::new();
    bench.copy(PI, "s.jsonl");
    let line = "compact s.jsonl --target 20000 --apply --archive store --recall mcp";
    assert_eq!(bench.run(line).code, 0);
    let counted = bench.run("count s.jsonl --json");
    let counts: Value = serde_json::from_str(&counted.out).expect("JSON");
    assert!(counts["tokens"].as_u64().expect("a count") <= 20_000, "{counts}");
    let applied = bench.read("s.jsonl");
    let again = bench.run(line);
    assert!(again.code == 0 && again.err.contains("nothing was written"), "{}", again.err);
    assert!(bench.read("s.jsonl") == applied);
}

#[cfg(unix)]
#[test]
fn mode_and_links_stay() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = Bench::new();
    fs::create_dir(bench.path("elsewhere")).expect("a folder");
    bench.copy(SHORT, "elsewhere/s.jsonl");
    let mode = |mode| fs::Permissions::from_mode(mode);
    fs::set_permissions(bench.path("elsewhere/s.jsonl"), mode(0o640)).expect("own");
    std::os::unix::fs::symlink("elsewhere/s.jsonl", bench.path("s.jsonl")).expect("a link");
    assert_eq!(bench.run("compact s.jsonl --target 30% --apply").code, 0);
    assert!(fs::symlink_metadata(bench.path("s.jsonl")).expect("there").is_symlink());
    let found = fs::metadata(bench.path("elsewhere/s.jsonl")).expect("there").permissions();
    assert_eq!(found.mode() & 0o777, 0o640);
}

/// How many processes are killed; `./test full` has `EPITOME_KILLS=1000`.
fn kills() -> usize {
    std::env::var("EPITOME_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(24)
}

#[cfg(unix)]
#[test]
fn killed_at_any_point_it_leaves_the_old_or_the_new() {
    let bench = Bench::new();
    bench.copy(SHORT, "s.jsonl");
    let original = bench.read("s.jsonl");
    let line = "compact s.jsonl --target 30% --apply --archive store";
    let started = Instant::now();
    assert_eq!(bench.run(line).code, 0);
    let whole = started.elapsed();
    let mut came: BTreeMap<&str, usize> = BTreeMap::new();
    let kills = kills();
    for kill in 0..kills {
        bench.write("s.jsonl", &original);
        let mut child = spawned(&bench, line);
        // A little beyond the end, and evenly before it.
        std::thread::sleep(whole.mul_f64(1.1 * kill as f64 / kills as f64));
        // The last one ends by itself, however slow the machine has become.
        if kill + 1 < kills {
            child.kill().expect("it is ours");
        }
        child.wait().expect("over");
        let now = bench.read("s.jsonl");
        if now == original {
            *came.entry("old").or_default() += 1;
            continue;
        }
        *came.entry("new").or_default() += 1;
        assert!(now.starts_with(&original), "whole, after {kill}");
        let checked = bench.run("check s.jsonl");
        assert_eq!(checked.code, 0, "after {kill}: {}", checked.err);
        let back = bench.run("restore s.jsonl --archive store");
        assert!(back.code == 0 && back.out == original, "after {kill}: {}", back.err);
    }
    assert!(came.len() == 2, "both occur: {came:?}");
    println!(
        "reliability: {kills} runs of `compact --apply` killed: {came:?}, each whole, and every new one restored byte for byte"
    );
    // What a killed process was about to write leaves no name behind, or one that no agent reads.
    let strange: Vec<String> =
        bench.names().into_iter().filter(|name| !["s.jsonl", "store"].contains(&&**name)).collect();
    assert!(strange.iter().all(|name| name.starts_with(".epitome-")), "{strange:?}");
}

fn spawned(bench: &Bench, line: &str) -> Child {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut command = bench.command(&words);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary runs")
}
