//! `install`, `uninstall` and `hook`: an agent's settings and its compactions.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::bench::{Bench, Ran, SESSION};

pub(crate) const SETTINGS: &str = "{\n  \"model\": \"opus\",\n  \"env\": {\"ANTHROPIC_AUTH_TOKEN\": \"sk-not-a-key\"},\n  \
                        \"hooks\": {\"PreCompact\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"date\"}]}]}\n}";
const SERVERS: &str = "{\"numStartups\":3,\"mcpServers\":{}}\n";
const CODEX: &str = "# mine\nmodel = \"gpt-5.5\"\n\n[tui]\ntheme = \"dark\"\n";

/// A folder with settings of Claude Code's.
pub(crate) fn claude() -> Bench {
    let bench = Bench::new();
    bench.write(".claude/settings.json", SETTINGS);
    bench.write(".claude.json", SERVERS);
    bench
}

#[test]
fn claude_code_is_told_and_has_its_bytes_back() {
    let bench = claude();
    bench.run("install claude-code").ends(0);
    let settings = bench.json(".claude/settings.json");
    let hooks = &settings["hooks"];
    assert_eq!(hooks["PreCompact"][0]["hooks"][0]["command"], "date", "what was there stays");
    let command = hooks["PreCompact"][1]["hooks"][0]["command"].as_str().expect("a command");
    assert!(command.contains(" hook pre-compact --archive "), "{command}");
    assert_eq!(hooks["SessionStart"][0]["matcher"], "compact");
    assert_eq!(settings["statusLine"]["type"], "command");
    let server = &bench.json(".claude.json")["mcpServers"]["epitome"];
    assert_eq!(server["args"][0], "mcp", "{server}");
    // The server can start at once.
    assert!(bench.path(".local/share/epitome/archive/store.db").exists());

    bench.run("install claude-code").ends(2);
    bench.run("uninstall claude-code").ends(0);
    assert_eq!(bench.read(".claude/settings.json"), SETTINGS);
    assert_eq!(bench.read(".claude.json"), SERVERS);
    assert_eq!(bench.run("uninstall claude-code").code, 2, "nothing is left to be undone");
}

#[test]
fn codex_is_told_and_has_its_bytes_back() {
    let bench = Bench::new();
    bench.write("moved/config.toml", CODEX);
    let run = |line: &str| -> Ran {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut command = bench.command(&words);
        Ran::of(&command.env("CODEX_HOME", bench.path("moved")).output().expect("the binary runs"))
    };
    run("install codex --archive kept").ends(0);
    let config = bench.read("moved/config.toml");
    assert!(config.starts_with(CODEX) && config.contains("\n[mcp_servers.epitome]\n"), "{config}");
    let store = bench.path("kept").display().to_string();
    assert!(config.contains(&store) && bench.path("kept/store.db").exists(), "{config}");
    let hooks = bench.json("moved/hooks.json");
    assert_eq!(hooks["hooks"]["SessionStart"][0]["matcher"], "compact");
    assert!(!bench.path(".codex").exists(), "CODEX_HOME moves it");
    run("uninstall codex").ends(0);
    assert_eq!(bench.read("moved/config.toml"), CODEX);
    assert!(!bench.path("moved/hooks.json").exists(), "it wasn't there");
}

#[test]
fn claude_codes_folder_may_be_elsewhere() {
    let bench = Bench::new();
    let run = |line: &str| -> Ran {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut command = bench.command(&words);
        command.env("CLAUDE_CONFIG_DIR", bench.path("moved"));
        Ran::of(&command.output().expect("the binary runs"))
    };
    assert_eq!(run("install claude-code").code, 0);
    assert!(
        bench.path("moved/settings.json").exists() && bench.path("moved/.claude.json").exists()
    );
    assert!(!bench.path(".claude").exists() && !bench.path(".claude.json").exists());
    assert_eq!(run("uninstall claude-code").code, 0);
    assert!(
        !bench.path("moved/settings.json").exists() && !bench.path("moved/.claude.json").exists()
    );
}

#[test]
fn a_dry_run_shows_what_it_would_do_and_nothing_else() {
    let bench = claude();
    let ran = bench.run("install claude-code --dry-run").ends(0);
    ran.says(&["would be changed", "+ "]);
    assert!(!ran.out.contains("sk-not-a-key"), "lines that stay aren't shown: {}", ran.out);
    assert_eq!(bench.names(), [".claude", ".claude.json"]);
    assert_eq!(bench.read(".claude/settings.json"), SETTINGS);
    assert_eq!(bench.run("install claude-code").code, 0);
    let installed = bench.read(".claude/settings.json");
    let told: Value =
        serde_json::from_str(&bench.run("uninstall claude-code --dry-run --json").out)
            .expect("JSON");
    assert_eq!(told["files"][0]["state"], "changed");
    assert_eq!(bench.read(".claude/settings.json"), installed);
    assert_eq!(bench.run("uninstall claude-code").code, 0);
}

#[test]
fn what_somebody_changed_since_stays_changed() {
    let bench = claude();
    assert_eq!(bench.run("install claude-code").code, 0);
    let changed = bench.read(".claude/settings.json").replace("\"opus\"", "\"sonnet\"");
    bench.write(".claude/settings.json", &changed);
    // Claude Code writes this file anew all the time, in a layout of its own.
    let mut servers = bench.json(".claude.json");
    servers["numStartups"] = json!(4);
    bench.write(".claude.json", serde_json::to_string(&servers).expect("JSON"));
    bench.run("uninstall claude-code").ends(0).says(&["it was changed since"]);
    let mut want: Value = serde_json::from_str(SETTINGS).expect("JSON");
    want["model"] = json!("sonnet");
    assert_eq!(bench.json(".claude/settings.json"), want);
    assert_eq!(bench.json(".claude.json")["numStartups"], 4);
    assert!(!bench.read(".claude.json").contains("epitome"));

    // What isn't there as it was put in is named, and left.
    assert_eq!(bench.run("install claude-code").code, 0);
    let changed = bench.read(".claude/settings.json").replace("status-line", "status-line --mine");
    bench.write(".claude/settings.json", &changed);
    bench.run("uninstall claude-code").ends(3).says(&["statusLine was changed since `install`"]);
    assert!(bench.read(".claude/settings.json").contains("--mine"));
    // Only that is left to be taken out; what somebody takes out is out.
    assert_eq!(bench.run("uninstall claude-code").code, 3);
    bench.write(".claude/settings.json", SETTINGS);
    bench.run("uninstall claude-code").ends(0);
    assert_eq!(bench.read(".claude/settings.json"), SETTINGS);
    assert_eq!(bench.run("uninstall claude-code").code, 2);
}

#[test]
fn one_at_a_time_is_installed() {
    let bench = Bench::new();
    for round in 0..6 {
        let started: Vec<_> = (0..4)
            .map(|_| {
                let mut command = bench.command(&["install", "claude-code"]);
                command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs")
            })
            .collect();
        let ended = started.into_iter().map(|mut child| child.wait().expect("over").code());
        let ended: Vec<Option<i32>> = ended.collect();
        assert_eq!(ended.iter().filter(|code| **code == Some(0)).count(), 1, "{ended:?}");
        assert!(ended.iter().all(|code| matches!(code, Some(0 | 2 | 75))), "{ended:?}");
        assert_eq!(bench.run("uninstall claude-code").code, 0);
        for file in [".claude/settings.json", ".claude.json"] {
            assert!(!bench.path(file).exists(), "{round}: {}", bench.read(file));
        }
    }
    // Whoever comes while another one is at it is told so.
    assert_eq!(bench.run("install codex").code, 0);
    let lock = fs::File::options()
        .append(true)
        .open(bench.path(".local/share/epitome/installed/claude-code.lock"))
        .expect("it is there");
    let is_refused = |line: &str| {
        lock.lock().expect("nobody has it");
        bench.run(line).ends(75).complains(&["is installing or uninstalling for claude-code"]);
        assert_eq!(bench.run(&format!("{line} --dry-run")).code, 0, "it changes nothing");
        lock.unlock().expect("it is held");
    };
    is_refused("install claude-code");
    assert_eq!(bench.run("install claude-code").code, 0);
    is_refused("uninstall claude-code");
    assert_eq!(bench.run("uninstall codex").code, 0);
    assert_eq!(bench.run("uninstall claude-code").code, 0);
}

#[cfg(unix)]
#[test]
fn what_settings_cant_say_is_refused() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let bench = Bench::new();
    for agent in ["codex", "claude-code"] {
        let mut command = bench.command(&["install", agent, "--archive"]);
        let ran = Ran::of(&command.arg(OsStr::from_bytes(b"caf\xe9")).output().expect("it runs"));
        assert_eq!(ran.code, 2, "{agent}: {}", ran.err);
        assert!(ran.err.contains("caf\\351") && ran.err.contains("isn't UTF-8"), "{}", ran.err);
        assert_eq!(bench.names(), [""; 0], "{agent}: nothing was written");
    }
}

#[test]
fn hooks_arent_put_in_twice() {
    let bench = claude();
    assert_eq!(bench.run("install claude-code").code, 0);
    let installed = bench.read(".claude/settings.json");
    // Somebody's copy of the settings outlives what was noted of them.
    let changed = installed
        .replace("\"timeout\": 60", "\"timeout\": 30")
        .replace("\"timeout\":60", "\"timeout\":30");
    assert_ne!(changed, installed);
    fs::remove_file(bench.path(".local/share/epitome/installed/claude-code.json")).expect("there");
    bench.write(".claude/settings.json", &changed);
    bench.run("install claude-code").ends(0).says(&["hooks.PreCompact is there already and stays"]);
    assert_eq!(bench.read(".claude/settings.json"), changed);
}

#[test]
fn comments_behind_what_was_put_in_stay() {
    let bench = Bench::new();
    bench.write(".codex/config.toml", CODEX);
    assert_eq!(bench.run("install codex").code, 0);
    let config = bench.read(".codex/config.toml");
    bench.write(".codex/config.toml", format!("{config}\n# mine too\n"));
    bench.run("uninstall codex").ends(0);
    assert_eq!(bench.read(".codex/config.toml"), format!("{CODEX}\n# mine too\n"));
}

/// Claude Code counts in this file, and writes it anew beside itself, as often as it can.
#[test]
fn what_an_agent_writes_meanwhile_stays() {
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    let bench = claude();
    // What it counted last, and what it had when the run began that is under way.
    let (counted, began) = (AtomicU64::new(3), AtomicU64::new(3));
    let (path, beside) = (bench.path(".claude.json"), bench.path(".claude.json.new"));
    let (is_over, mut codes) = (AtomicBool::new(false), std::collections::BTreeMap::new());
    let (written, set_back) = std::thread::scope(|scope| {
        let agent = scope.spawn(|| {
            let (mut written, mut last, mut set_back) = (0_u64, 3, 0_u64);
            while !is_over.load(Ordering::Relaxed) {
                let floor = began.load(Ordering::SeqCst);
                let text = fs::read_to_string(&path).expect("it is always there");
                let mut settings: Value = serde_json::from_str(&text).expect("whole");
                let count = settings["numStartups"].as_u64().expect("a number");
                // It reads the new file in the very moment before that goes back: seldom, and never one from before the run.
                assert!((floor..=last).contains(&count), "{count} behind {last}, {floor} at least");
                set_back += u64::from(count != last);
                last = count + 1;
                settings["numStartups"] = json!(last);
                fs::write(&beside, settings.to_string()).expect("written");
                fs::rename(&beside, &path).expect("renamed");
                counted.store(last, Ordering::SeqCst);
                written += 1;
                std::thread::sleep(std::time::Duration::from_micros(written % 4 * 300));
            }
            (written, set_back)
        });
        for _ in 0..12 {
            for line in ["install claude-code", "uninstall claude-code"] {
                began.store(counted.load(Ordering::SeqCst), Ordering::SeqCst);
                *codes.entry(bench.run(line).code).or_insert(0) += 1;
            }
        }
        is_over.store(true, Ordering::Relaxed);
        agent.join().expect("nothing of it is lost")
    });
    println!("{written} writes of the agent's, {set_back} set back; it ended so: {codes:?}");
    // More than one a run, however busy the machine is.
    assert!(written > 24 && codes.contains_key(&0), "{written} writes, {codes:?}");
    assert!(set_back * 20 <= written, "{set_back} of {written}");
    let strange: Vec<String> =
        bench.names().into_iter().filter(|it| it.contains("epitome-")).collect();
    assert_eq!(strange, [""; 0]);
}

#[test]
fn settings_that_cant_be_read_are_left_alone() {
    let bench = claude();
    bench.write(".claude.json", "{ // mine\n}");
    bench.run("install claude-code").ends(1).complains(&["it isn't JSON"]);
    assert_eq!(bench.read(".claude/settings.json"), SETTINGS);
    assert_eq!(bench.run("uninstall claude-code").code, 2, "nothing was installed");
}

#[cfg(unix)]
#[test]
fn settings_are_regular_files_of_a_size() {
    let bench = Bench::new();
    bench.write(".claude.json", SERVERS);
    bench.write(".claude/x", "");
    let pipe = bench.path(".claude/settings.json");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).expect("made");
    for line in ["install claude-code", "install claude-code --dry-run"] {
        bench.run(line).ends(1).complains(&["it isn't a regular file"]);
    }
    bench.run("doctor").ends(3).says(&["it isn't a regular file"]);
    fs::remove_file(&pipe).expect("there");
    fs::create_dir(&pipe).expect("made");
    bench.run("install claude-code").ends(1).complains(&["it isn't a regular file"]);
    fs::remove_dir(&pipe).expect("there");
    let long = fs::File::create(&pipe).expect("made");
    long.set_len(65 << 20).expect("set");
    bench.run("install claude-code").ends(1).complains(&["it is longer than 64 MiB"]);
    assert_eq!(bench.read(".claude.json"), SERVERS);
}

#[cfg(unix)]
#[test]
fn rights_and_links_of_settings_stay() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = claude();
    bench.write("dotfiles/settings.json", SETTINGS);
    fs::set_permissions(bench.path("dotfiles/settings.json"), fs::Permissions::from_mode(0o600))
        .expect("own");
    fs::remove_file(bench.path(".claude/settings.json")).expect("there");
    let link = bench.path(".claude/settings.json");
    std::os::unix::fs::symlink("../dotfiles/settings.json", &link).expect("a link");
    assert_eq!(bench.run("install claude-code").code, 0);
    assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
    assert_eq!(fs::metadata(&link).expect("there").permissions().mode() & 0o777, 0o600);
    let journal = bench.path(".local/share/epitome/installed/claude-code.json");
    assert_eq!(fs::metadata(journal).expect("there").permissions().mode() & 0o777, 0o600);
    assert_eq!(bench.run("uninstall claude-code").code, 0);
    assert_eq!(bench.read("dotfiles/settings.json"), SETTINGS);
}

fn hook(bench: &Bench, event: &str, said: &Value) -> Ran {
    bench.pipe(&format!("hook {event}"), said.to_string().as_bytes())
}

#[test]
fn before_a_compaction_all_is_archived_and_the_users_rules_are_said() {
    let bench = Bench::new();
    bench.copy(SESSION, "s.jsonl");
    let said = json!({
        "session_id": "s", "transcript_path": bench.path("s.jsonl"), "cwd": "/", "trigger": "auto",
        "hook_event_name": "PreCompact", "custom_instructions": "",
    });
    let ran = hook(&bench, "pre-compact", &said);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let lines: Vec<&str> = ran.out.lines().collect();
    let [head, rules @ .., foot] = &lines[..] else { panic!("{}", ran.out) };
    assert!(head.starts_with("The user said this"), "{head}");
    assert!(foot.starts_with("Write names of files"), "{foot}");
    assert!(rules.iter().any(|rule| rule.starts_with("- TODO is not acceptable")), "{rules:#?}");
    let session = bench.read("s.jsonl");
    for rule in rules {
        let said = rule.strip_prefix("- ").expect("a line each").trim_end_matches('…');
        let row = session.lines().find(|row| row.contains(said)).expect("it was said so");
        assert!(row.contains(r#""type":"user""#) && !row.contains("tool_result"), "{row}");
    }
    assert!(ran.out.len() < 6000, "{}", ran.out.len());
    let hits = bench.run("recall regex --json");
    let hits: Vec<Value> = serde_json::from_value(hits.hits()).expect("a list");
    assert!(!hits.is_empty(), "nothing has to be hidden to be found");
    let session = hits[0]["session"].as_str().expect("a session").to_owned();
    assert!(bench.run(&format!("restore {session}")).out == bench.read("s.jsonl"));

    // What is pinned is said to whoever sums up.
    assert_eq!(
        bench.run("pin add never-push-to-main --archive .local/share/epitome/archive").code,
        0
    );
    let ran = hook(&bench, "PreCompact", &said);
    assert!(
        ran.out.starts_with("Say each of these in the summary, verbatim:\n- never-push-to-main\n")
    );
}

#[test]
fn after_a_compaction_pins_and_ids_are_said_again() {
    let bench = Bench::new();
    bench.copy(SESSION, "s.jsonl");
    let path = bench.path("s.jsonl");
    let said = |source: &str| json!({ "transcript_path": path, "source": source });
    assert_eq!(hook(&bench, "pre-compact", &said("auto")).code, 0);
    assert_eq!(
        bench.run("pin add never-push-to-main --archive .local/share/epitome/archive").code,
        0
    );
    // The agent's own compaction; what was said before it is known still.
    assert_eq!(bench.run("compact s.jsonl --target 10% --apply").code, 0);
    let ran = hook(&bench, "session-start", &said("compact"));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.contains("- never-push-to-main\n"), "{}", ran.out);
    assert!(
        ran.out.contains("recall_search") && ran.out.contains("epitome recall ID"),
        "{}",
        ran.out
    );
    let ids = ran.out.split("by ids:\n").nth(1).expect("ids are named");
    let id = ids.strip_prefix("- ").and_then(|line| line.split(' ').next()).expect("an id");
    let found = bench.run(&format!("recall {id} --json"));
    let hits: Vec<Value> = serde_json::from_value(found.hits()).expect("a list");
    assert_eq!(hits.len(), 1, "{id}: {}", found.out);
    assert_eq!(hits[0]["origin"], "human");
    // A session that merely starts has lost nothing.
    assert_eq!(hook(&bench, "session-start", &said("startup")).out, "");
    let line = hook(&bench, "status-line", &said("")).out;
    assert!(line.contains("1 compaction") && line.lines().count() == 1, "{line}");
}

#[test]
fn only_archived_messages_are_called_archived() {
    let bench = Bench::new();
    bench.copy(SESSION, "s.jsonl");
    let store = ".local/share/epitome/archive";
    assert_eq!(bench.run("compact s.jsonl --target 10% --apply --archive elsewhere").code, 0);
    let said = json!({ "transcript_path": bench.path("s.jsonl"), "source": "compact" });
    let told = || hook(&bench, "session-start", &said).out;
    assert!(!told().contains("archived"), "there is no archive: {}", told());
    // One that another session made, and that holds a pin.
    bench.copy("claude-code/session-9eda1058.jsonl", "other.jsonl");
    let other = json!({ "transcript_path": bench.path("other.jsonl") });
    assert_eq!(hook(&bench, "pre-compact", &other).code, 0);
    assert_eq!(bench.run(&format!("pin add never-push --archive {store}")).code, 0);
    let out = told();
    assert!(out.contains("- never-push\n") && !out.contains("archived"), "{out}");
    assert!(!out.contains("by ids") && !out.contains("recall"), "{out}");
    // What it was before some of it was said.
    let all = bench.run("restore s.jsonl --archive elsewhere").out;
    let some: String = all.split_inclusive('\n').take(all.lines().count() / 2).collect();
    bench.write("half.jsonl", some);
    let half = json!({ "transcript_path": bench.path("half.jsonl") });
    assert_eq!(hook(&bench, "pre-compact", &half).code, 0);
    let out = told();
    let counts = out.split(" messages that were said before are archived. To").next();
    let counts = counts.and_then(|out| out.lines().last()).expect("it says how many");
    let (some, of) = counts.split_once(" of the ").expect("so many of so many");
    let number = |text: &str| text.parse::<usize>().expect("a number");
    assert!(number(some) > 0 && number(some) < number(of), "{counts}");
    // All of it.
    bench.write("whole.jsonl", &all);
    let whole = json!({ "transcript_path": bench.path("whole.jsonl") });
    assert_eq!(hook(&bench, "pre-compact", &whole).code, 0);
    assert!(told().contains("All that was said before is archived. To have it back"), "{}", told());
}

#[test]
fn a_hook_never_fails_the_agent() {
    let bench = Bench::new();
    bench.write("broken.jsonl", "not a recording");
    for (line, said) in [
        ("hook pre-compact", String::new()),
        ("hook pre-compact", "{".to_owned()),
        ("hook pre-compact", "{}".to_owned()),
        ("hook pre-compact", json!({ "transcript_path": "/none/such" }).to_string()),
        ("hook pre-compact", json!({ "transcript_path": bench.path("broken.jsonl") }).to_string()),
        (
            "hook session-start",
            json!({ "transcript_path": bench.path("broken.jsonl") }).to_string(),
        ),
        ("hook status-line", json!({ "transcript_path": 7 }).to_string()),
        ("hook no-such-event", "{}".to_owned()),
        ("hook", "{}".to_owned()),
        ("hook pre-compact --nonsense", "{}".to_owned()),
    ] {
        let ran = bench.pipe(line, said.as_bytes());
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{line} {said}: {}", ran.err);
        assert!(!ran.err.is_empty(), "{line} {said}: it says why");
    }
    // An archive that can't be written: what is to be kept is said all the same.
    bench.copy(SESSION, "s.jsonl");
    bench.write("taken", "a file");
    let said = json!({ "transcript_path": bench.path("s.jsonl") }).to_string();
    let ran = bench.pipe("hook pre-compact --archive taken", said.as_bytes()).ends(0);
    assert!(ran.out.contains("The user said this") && ran.err.contains("taken"), "{}", ran.err);
    // Nobody reads what it prints.
    let mut command = bench.command(&["hook", "pre-compact"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
    drop(child.stdout.take());
    std::io::Write::write_all(&mut child.stdin.take().expect("piped"), said.as_bytes())
        .expect("it reads");
    assert_eq!(child.wait().expect("over").code(), Some(0));
}
