//! `wrap`: agents of shell that say how they were called, and ask where they are told to.
#![cfg(unix)]

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::bench::{Bench, Ran};
use crate::serve::upstream;

/// An agent that does `script`, found on the PATH.
fn agent(bench: &Bench, name: &str, script: &str) {
    bench.write(&format!("bin/{name}"), format!("#!/bin/bash\n{script}\n"));
    let path = bench.path(&format!("bin/{name}"));
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
}

fn wrap(bench: &Bench, words: &[&str]) -> Command {
    let mut command = bench.command(&[&["wrap"], words].concat());
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bench.path("bin").display());
    command.env("PATH", path);
    command
}

fn ran(command: &mut Command) -> Ran {
    Ran::of(&command.output().expect("the binary runs"))
}

/// Asks the proxy at `$url`, a URL without a path, for the list of models.
const ASK: &str = r#"address=${url#http://}
exec 3<>"/dev/tcp/${address%:*}/${address#*:}"
printf 'GET /v1/models HTTP/1.1\r\nhost: %s\r\nx-api-key: k\r\nconnection: close\r\n\r\n' "$address" >&3
cat <&3"#;

#[test]
fn an_agent_asks_through_the_proxy_and_its_exit_code_is_the_end() {
    let bench = Bench::new();
    let there = upstream(None);
    let script = format!(
        "url=$ANTHROPIC_BASE_URL\n{ASK}\necho \"$CLAUDE_CODE_ATTRIBUTION_HEADER $NO_PROXY $*\"\nexit 7"
    );
    agent(&bench, "claude", &script);
    // Where the environment says so, where a flag does, and a flag before the environment.
    let environment = ("ANTHROPIC_BASE_URL", format!("http://{there}/gateway"));
    let flag = format!("anthropic=http://{there}/flag");
    for (flags, variables, base) in [
        (vec![], vec![&environment], "/gateway"),
        (vec!["--upstream", &flag], vec![], "/flag"),
        (vec!["--upstream", &flag], vec![&environment], "/flag"),
    ] {
        let words = [&["claude"], &flags[..], &["--", "--resume", "a b"]].concat();
        let mut command = wrap(&bench, &words);
        command.envs(variables.into_iter().map(|(name, value)| (*name, value)));
        let ran = ran(&mut command).ends(7);
        assert!(ran.out.contains(&format!("GET {base}/v1/models HTTP/1.1")), "{}", ran.out);
        assert!(ran.out.ends_with("0 127.0.0.1 --resume a b\n"), "{}", ran.out);
        assert_eq!(ran.err, "");
    }
    assert_eq!(bench.names(), ["bin"]);
}

#[test]
fn each_agent_is_told_in_its_own_way() {
    let bench = Bench::new();
    let there = format!("http://{}", upstream(None));
    let told = |name: &str, script: &str, variables: &[(&str, &str)]| {
        agent(&bench, name, script);
        let mut command = wrap(&bench, &[name, "--upstream", &there, "--", "go"]);
        ran(command.envs(variables.iter().copied())).ends(0).out
    };
    let gemini = told("gemini", &format!("url=$GOOGLE_GEMINI_BASE_URL\n{ASK}"), &[]);
    assert!(gemini.starts_with("HTTP/1.1 200 OK"), "{gemini}");

    let pi = told("pi", r#"echo "$1 $3"; cat "$2"; echo "$2" > "$HOME/told""#, &[]);
    assert!(pi.starts_with("--extension go\n"), "{pi}");
    assert!(pi.contains(r#"pi.registerProvider("openai", {"baseUrl":"http://127.0.0.1:"#), "{pi}");
    let told_by = std::fs::read_to_string(bench.path("told")).expect("it wrote it");
    assert!(!std::path::Path::new(told_by.trim()).exists(), "it is gone with the agent");

    let codex = told("codex", r#"printf '%s\n' "$@""#, &[("OPENAI_API_KEY", "k")]);
    let words: Vec<&str> = codex.lines().collect();
    assert_eq!((words[0], words[2], words[4]), ("-c", "-c", "go"), "{codex}");
    let set: toml::Table = format!("{}\n{}", words[3], words[1]).parse().expect("TOML");
    let provider = &set["model_providers"]["epitome"];
    assert_eq!(set["model_provider"].as_str(), Some("epitome"));
    assert_eq!(provider["supports_websockets"].as_bool(), Some(false));
    assert_eq!(provider["env_key"].as_str(), Some("OPENAI_API_KEY"));
    assert!(provider["base_url"].as_str().is_some_and(|url| url.starts_with("http://127.0.0.1:")));
    // A login goes to ChatGPT's own address, a key that `codex login` was given to the API's.
    let (login, key) = (r#"{"OPENAI_API_KEY":null,"tokens":{}}"#, r#"{"OPENAI_API_KEY":"k"}"#);
    for (file, is_login) in [(None, true), (Some(login), true), (Some(key), false)] {
        if let Some(text) = file {
            bench.write(".codex/auth.json", text);
        }
        let codex = told("codex", r#"printf '%s\n' "$@""#, &[]);
        assert!(
            codex.contains("requires_openai_auth=true") && !codex.contains("env_key"),
            "{codex}"
        );
        assert_eq!(codex.contains("/backend-api/codex\""), is_login, "{codex}");
    }

    let own = r#"{"theme":"dark","provider":{"anthropic":{"options":{"timeout":5}}}}"#;
    let script = r#"printf '%s' "$OPENCODE_CONFIG_CONTENT""#;
    let opencode = told("opencode", script, &[("OPENCODE_CONFIG_CONTENT", own)]);
    let set: Value = serde_json::from_str(&opencode).expect("JSON");
    let options = &set["provider"]["anthropic"]["options"];
    assert_eq!((&set["theme"], &options["timeout"]), (&Value::from("dark"), &Value::from(5)));
    for (provider, path) in [("anthropic", "/v1"), ("openai", "/v1"), ("google", "/v1beta")] {
        let url = set["provider"][provider]["options"]["baseURL"].as_str().expect("a URL");
        assert!(url.starts_with("http://127.0.0.1:") && url.ends_with(path), "{url}");
    }
}

#[test]
fn signals_are_passed_to_the_agent() {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    let bench = Bench::new();
    let there = format!("http://{}", upstream(None));
    for (script, code) in [
        ("trap 'exit 9' TERM\necho ready\nwhile :; do sleep 0.05; done", 9),
        // It ends by the signal itself.
        ("echo ready\nexec sleep 1000", 128 + 15),
    ] {
        agent(&bench, "claude", script);
        let mut command = wrap(&bench, &["claude", "--upstream", &there]);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the binary runs");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("it is piped");
        BufReader::new(stdout).read_line(&mut line).expect("it says so");
        assert_eq!(line, "ready\n");
        kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM).expect("it runs");
        assert_eq!(child.wait().expect("it ends").code(), Some(code));
    }
}

#[test]
fn what_can_not_be_run_is_said() {
    let bench = Bench::new();
    let nobody = ran(&mut wrap(&bench, &["claude", "--upstream", "http://localhost:1"])).ends(1);
    assert!(
        nobody.err.contains("`claude` can't be run") && nobody.err.contains("PATH"),
        "{}",
        nobody.err
    );
    let unknown = ran(&mut wrap(&bench, &["cursor"])).ends(2);
    assert!(unknown.err.contains("opencode"), "{}", unknown.err);
    let mut command = wrap(&bench, &["gemini"]);
    let plain = ran(command.env("GOOGLE_GEMINI_BASE_URL", "http://gateway.example")).ends(2);
    assert!(plain.err.contains("EPITOME_PLAIN_HTTP=gateway.example"), "{}", plain.err);
    agent(&bench, "opencode", "exit 0");
    let mut command = wrap(&bench, &["opencode", "--upstream", "http://localhost:1"]);
    ran(command.env("OPENCODE_CONFIG_CONTENT", "[]")).ends(2);
    let ask = ran(&mut wrap(&bench, &["opencode", "--mode", "ask"])).ends(2);
    assert!(ask.err.contains("needs a dashboard"), "{}", ask.err);
}
