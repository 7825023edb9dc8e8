//! What `doctor` says of summarizers (which one, with which key, whether it answers) and of agents' settings.

use std::fs;

use crate::agents::{SETTINGS, claude};
use crate::asked::{KEY, Served, canned, page};
use crate::bench::{Bench, Ran};

fn doctor(bench: &Bench, words: &str, environment: &[(&str, &str)]) -> Ran {
    let words: Vec<&str> = ["doctor"].into_iter().chain(words.split_whitespace()).collect();
    let mut command = bench.command(&words);
    command.env("LANG", "C.UTF-8").env("NO_PROXY", "127.0.0.1").envs(environment.iter().copied());
    let ran = Ran::of(&command.output().expect("the binary runs"));
    assert!(!ran.out.contains(KEY) && !ran.err.contains(KEY), "{}", ran.out);
    ran
}

#[test]
fn doctor_says_who_would_be_asked_and_sends_nothing() {
    let (bench, server) = (Bench::new(), Served::new([]));
    let url = server.running.url.as_str();
    let ran = doctor(&bench, "", &[]);
    assert!(
        ran.code == 0 && ran.out.contains("ok   summarizer extractive: no model"),
        "{}",
        ran.out
    );
    let words =
        format!("--summarizer anthropic:claude-haiku-4-5 --then cmd:true --then {url}/v1#mine");
    let keys = [("ANTHROPIC_API_KEY", KEY), ("ANTHROPIC_BASE_URL", url), ("PATH", "/usr/bin:/bin")];
    let ran = doctor(&bench, &words, &keys).ends(0);
    ran.says(&[
        &format!(
            "ok   summarizer anthropic:claude-haiku-4-5 at {url} (ANTHROPIC_BASE_URL), key in ANTHROPIC_API_KEY"
        ),
        "ok   summarizer cmd:true: /",
        &format!(
            "warn summarizer {url}/v1#mine at {url}/v1, no key (EPITOME_API_KEY isn't set); its window and price"
        ),
        "ok   summarizer then extractive",
    ]);
    assert_eq!(server.requests(), 0, "nobody asked it to");
    bench.write(
        ".config/epitome/config.toml",
        "summarizer = [\"openai:gpt-5-mini\", \"cmd:nowhere-at-all\"]\n",
    );
    let ran = doctor(&bench, "", &[]).ends(3);
    ran.says(&[
        "openai:gpt-5-mini needs a key, and no OPENAI_API_KEY is set",
        "export OPENAI_API_KEY=…",
        "bad  summarizer cmd:nowhere-at-all: there is no such program",
    ]);
}

#[test]
fn doctor_asks_servers_for_their_models_if_it_is_told_to() {
    let (bench, server) = (Bench::new(), Served::new([]));
    let url = server.running.url.as_str();
    for (summarizer, variable, base, path, state, words) in [
        (
            "openai:gpt-6.1-sol",
            "OPENAI_API_KEY",
            "OPENAI_BASE_URL",
            "/v1",
            "ok  ",
            "with 1 model, this one among them",
        ),
        (
            "anthropic:claude-haiku-4-5",
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_BASE_URL",
            "",
            "warn",
            "claude-haiku-4-5 not among them",
        ),
        (
            "gemini:gemini-3.1-pro",
            "GEMINI_API_KEY",
            "GOOGLE_GEMINI_BASE_URL",
            "",
            "ok  ",
            "with 1 model, this one among them",
        ),
    ] {
        let base = (base, &*format!("{url}{path}"));
        let ran = doctor(
            &bench,
            &format!("--online --summarizer {summarizer}"),
            &[(variable, KEY), base],
        )
        .ends(0);
        let line = ran.out.lines().find(|line| line.contains(summarizer)).expect("it is looked at");
        assert!(line.starts_with(state) && line.contains(words), "{summarizer}: {line}");
    }
    let recorded = server.running.recorded();
    assert!(recorded.iter().all(|request| request.method == "GET" && request.body.is_empty()));
    assert_eq!(recorded.len(), 3);

    let bad = page(
        "401 Unauthorized",
        "application/json",
        "{\"error\":{\"message\":\"Bad key: sk-very-secret\"}}",
    );
    for (url, words) in [
        (canned(bad), "the key isn't taken: 401 Unauthorized: Bad key: [key]"),
        (canned(page("200 OK", "text/html", "<html>")), "the answer can't be read"),
        ("http://127.0.0.1:9".to_owned(), "can't be reached"),
    ] {
        let base = format!("{url}/v1");
        let ran = doctor(
            &bench,
            "--online --summarizer openai:gpt-4o",
            &[("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", &base)],
        );
        assert!(ran.code == 3 && ran.out.contains(words), "{words}: {}", ran.out);
    }
}

#[test]
fn doctor_says_what_agents_are_told_and_mends_it() {
    let bench = Bench::new();
    let without = doctor(&bench, "", &[]).ends(0);
    assert!(!without.out.contains("ok   agents"), "no agent is here: {}", without.out);
    let bench = claude();
    let doctor = |words: &str| doctor(&bench, words, &[]);
    doctor("")
        .ends(0)
        .says(&["claude-code: epitome isn't installed (epitome install claude-code)"]);
    bench.run("install claude-code --archive kept").ends(0);
    let told = "claude-code: hooks.PreCompact, hooks.SessionStart, statusLine, mcpServers.epitome";
    doctor("").ends(0).says(&[told]);
    // Somebody took the hooks out.
    let installed = bench.read(".claude/settings.json");
    bench.write(".claude/settings.json", SETTINGS);
    let ran = doctor("").ends(3);
    ran.says(&["bad  agents", "what was installed is gone: hooks.PreCompact in ", "doctor --fix"]);
    doctor("--fix --dry-run").ends(3).says(&["fix  claude-code would be installed anew"]);
    assert_eq!(bench.read(".claude/settings.json"), SETTINGS, "nothing was changed");
    doctor("--fix").ends(0).says(&["fix  claude-code installed anew", told]);
    assert_eq!(bench.read(".claude/settings.json"), installed, "and with the same archive");
    // The program is where it was no more.
    let servers = bench.read(".claude.json");
    let program = env!("CARGO_BIN_EXE_epitome");
    bench.write(".claude.json", servers.replace(program, "/nowhere/epitome"));
    doctor("").ends(3).says(&["its MCP server is /nowhere/epitome, and there is no such program"]);
    bench.write(".claude.json", &servers);
    // Somebody wrote another path into the hooks.
    let moved = installed.replace(&format!("{program} hook"), "/nowhere/epitome hook");
    assert_ne!(moved, installed);
    bench.write(".claude/settings.json", moved);
    doctor("").ends(3).says(&["its hooks run /nowhere/epitome, and there is no such program"]);
    doctor("--fix").ends(0).says(&["fix  claude-code installed anew", told]);
    assert_eq!(bench.read(".claude/settings.json"), installed);
    fs::remove_dir_all(bench.path("kept")).expect("there");
    doctor("").ends(3).says(&["its MCP server searches ", "kept, which isn't there"]);
    // As the user registered it, without hooks.
    bench.run("uninstall claude-code").ends(0);
    let server = r#"{"mcpServers":{"epitome":{"command":"epitome-9","args":["mcp"]}}}"#;
    bench.write(".claude.json", server);
    doctor("").ends(3).says(&["its MCP server is epitome-9, and there is no such program"]);
    bench.write(".claude.json", server.replace("epitome-9", program));
    doctor("").ends(0).says(&["claude-code: mcpServers.epitome"]);
    bench.write(".claude.json", "{");
    doctor("").ends(3).says(&["it isn't JSON"]);
    let json = doctor("--json").json();
    let bad = json["checks"].as_array().expect("a list").iter().filter(|it| it["state"] == "bad");
    assert_eq!(bad.map(|it| it["subject"].clone()).collect::<Vec<_>>(), ["agents"]);
}
