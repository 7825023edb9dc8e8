//! `sidecar`, and `compact` with whole compactors behind it.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::bench::{Bench, Ran};
use crate::summarizers::{bench, good};

/// A sidecar that runs as long as this lives, and its address.
pub(crate) struct Sidecar(Child, pub(crate) String);

impl Sidecar {
    pub(crate) fn new(bench: &Bench, token: Option<&str>) -> Self {
        Self::with(bench, token, &[])
    }

    fn with(bench: &Bench, token: Option<&str>, flags: &[&str]) -> Self {
        let listen = ["sidecar", "--listen", "127.0.0.1:0"];
        let mut command = bench.command(&[&listen[..], flags].concat());
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        if let Some(token) = token {
            command.env("EPITOME_RPC_TOKEN", token);
        }
        let mut child = command.spawn().expect("the binary runs");
        let mut line = String::new();
        let stderr = child.stderr.take().expect("it is piped");
        BufReader::new(stderr).read_line(&mut line).expect("it says where it listens");
        let address = line.trim().strip_prefix("serving ").expect(&line).to_owned();
        Sidecar(child, address)
    }
}

impl Drop for Sidecar {
    fn drop(&mut self) {
        self.0.kill().expect("it runs");
        self.0.wait().expect("it ended");
    }
}

fn run(bench: &Bench, words: &[&str], token: Option<&str>) -> Ran {
    let mut command = bench.command(words);
    if let Some(token) = token {
        command.env("EPITOME_RPC_TOKEN", token);
    }
    Ran::of(&command.output().expect("the binary runs"))
}

const COMPACT: [&str; 8] =
    ["compact", "in.jsonl", "--target", "30%", "-o", "out", "--receipt", "receipt"];

fn compact(bench: &Bench, flags: &[&str], token: Option<&str>) -> (Ran, Value) {
    let is_told = flags.contains(&"--target");
    let usual = COMPACT.iter().filter(|word| !(is_told && ["--target", "30%"].contains(word)));
    let words: Vec<&str> = usual.chain(flags).copied().collect();
    let ran = run(bench, &words, token);
    let receipt = if ran.code == 0 { bench.read("receipt") } else { "null".to_owned() };
    (ran, serde_json::from_str(&receipt).expect("JSON"))
}

#[test]
fn the_built_in_engine_compacts_for_others() {
    let bench = bench("");
    let sidecar = Sidecar::new(&bench, None);
    let (ran, receipt) = compact(&bench, &["--summarizer", &sidecar.1], None);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(receipt["fallbacks"], serde_json::json!([]), "{receipt}");
    assert_eq!(receipt["steps"][0]["strategy"], sidecar.1.as_str());
    let (before, after) = (&receipt["before"]["tokens"], &receipt["after"]["tokens"]);
    let (before, after) = (before.as_u64().expect("tokens"), after.as_u64().expect("tokens"));
    assert!(after * 10 <= before * 3, "{after} of {before}");
    run(&bench, &["check", "out"], None).ends(0);

    let doctor = ["doctor", "--online", "--summarizer", &sidecar.1];
    let told = run(&bench, &doctor, None).out;
    assert!(told.contains("it is there, and may take 120 s"), "{told}");
    let other = sidecar.1.replace("#epitome", "#other");
    let told = run(&bench, &["doctor", "--online", "--summarizer", &other], None).out;
    assert!(told.contains("it answers, and knows no compactor of that name"), "{told}");
}

#[test]
fn what_the_built_in_engine_answers_is_taken() {
    let bench = Bench::new();
    bench.copy("codex/rollout-b.jsonl", "codex");
    bench.copy("claude-code/session-9eda1058.jsonl", "claude");
    // Long lines: what is shown of one is its beginning and its end.
    let mut messages = vec![serde_json::json!({"role": "user", "content": "Look at each module."})];
    for nth in 0..30 {
        let asked = format!("Step {nth}: go on with module {nth} and say what you see there.");
        let walks = "The code there walks over the list and collects items one after another. ";
        let told = format!("Module {nth} holds f{nth} in src/m{nth}.rs. {}", walks.repeat(25));
        messages.push(serde_json::json!({"role": "user", "content": asked}));
        messages.push(serde_json::json!({"role": "assistant", "content": told}));
    }
    messages.push(serde_json::json!({"role": "user", "content": "What is next?"}));
    bench.write("chat", serde_json::json!({"model": "gpt-4o", "messages": messages}).to_string());
    let sidecar = Sidecar::new(&bench, None);
    for (file, target) in
        [("codex", "30%"), ("codex", "15%"), ("claude", "15%"), ("chat", "30%"), ("chat", "15%")]
    {
        let words = ["compact", file, "--target", target, "--summarizer", &sidecar.1];
        let more = ["-o", "out", "--receipt", "receipt"];
        let ran = run(&bench, &[&words[..], &more].concat(), None);
        assert_eq!(ran.code, 0, "{file}: {}", ran.err);
        let receipt = bench.json("receipt");
        assert_eq!(receipt["fallbacks"], serde_json::json!([]), "{file} {target}");
        assert_eq!(receipt["steps"][0]["strategy"], sidecar.1.as_str(), "{file} {target}");
    }
}

#[test]
fn a_token_is_asked_for_and_never_shown() {
    let bench = bench("");
    let sidecar = Sidecar::new(&bench, Some("t0p-s3cret"));
    let flags = ["--summarizer", &sidecar.1];
    let (_, receipt) = compact(&bench, &flags, Some("t0p-s3cret"));
    assert_eq!(receipt["fallbacks"], serde_json::json!([]), "{receipt}");
    let (ran, receipt) = compact(&bench, &flags, Some("t0p-wrong"));
    let told = receipt["fallbacks"][0].as_str().expect("why");
    assert!(told.contains("the key isn't taken"), "{told}");
    assert!(!(ran.err + &ran.out + &bench.read("receipt")).contains("t0p-"));
    let doctor =
        run(&bench, &["doctor", "--online", "--summarizer", &sidecar.1], Some("t0p-x")).out;
    assert!(doctor.contains("the key isn't taken") && !doctor.contains("t0p-x"), "{doctor}");
}

#[test]
fn tls_needs_valid_files() {
    let bench = bench("");
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]);
    let made = made.expect("it can be made");
    let other = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]);
    bench.write("c.pem", made.cert.pem());
    bench.write("k.pem", made.signing_key.serialize_pem());
    bench.write("other.pem", other.expect("it can be made").signing_key.serialize_pem());
    for (certificate, key, why) in [
        ("k.pem", "c.pem", "--tls-cert k.pem: it contains no PEM certificate"),
        ("c.pem", "c.pem", "--tls-key c.pem: it contains no PEM private key"),
        ("c.pem", "other.pem", "--tls-cert c.pem, --tls-key other.pem: "),
        ("gone.pem", "k.pem", "--tls-cert gone.pem: "),
    ] {
        let listen = ["sidecar", "--listen", "127.0.0.1:0"];
        let flags = ["--tls-cert", certificate, "--tls-key", key];
        let ran = run(&bench, &[&listen[..], &flags[..]].concat(), None);
        assert_eq!(ran.code, 2, "{certificate} {key}: {}", ran.err);
        assert!(ran.err.contains(why) && !ran.err.contains("serving"), "{}", ran.err);
    }
    let flags = ["--tls-cert", "c.pem", "--tls-key", "k.pem"];
    let sidecar = Sidecar::with(&bench, Some("t0p-s3cret"), &flags);
    let address = sidecar.1.replace("//127.0.0.1", "//localhost");
    let asked = |authorities: &str, address: &str| {
        let words: Vec<&str> = COMPACT.iter().chain(&["--summarizer", address]).copied().collect();
        let mut command = bench.command(&words);
        command.env("EPITOME_RPC_TOKEN", "t0p-s3cret").env("EPITOME_RPC_CA", authorities);
        Ran::of(&command.output().expect("the binary runs"))
    };
    let ran = asked("c.pem", &address);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let receipt = bench.json("receipt");
    assert_eq!(receipt["fallbacks"], serde_json::json!([]), "{receipt}");
    bench.write("empty", "");
    for nothing in ["k.pem", "empty"] {
        let ran = asked(nothing, &address);
        assert_eq!(ran.code, 2, "{}", ran.err);
        let why = format!("EPITOME_RPC_CA, {nothing}: the CA file contains no PEM certificate");
        assert!(ran.err.contains(&why), "{}", ran.err);
    }
    // In the clear nobody answers there, and it is said why that may be.
    let ran = asked("c.pem", &sidecar.1.replace("https://", "http://"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let receipt = bench.json("receipt");
    let told = receipt["fallbacks"][0].as_str().expect("why");
    assert!(told.contains("for TLS use https://"), "{told}");
}

#[test]
fn without_a_server_on_failure_decides() {
    let bench = bench(&good());
    // Nobody listens on a port that was just let go.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let nobody = format!("grpc:http://{}#x", listener.local_addr().expect("it is bound"));
    drop(listener);
    let (ran, _) = compact(&bench, &[], None);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let alone = bench.read("out");
    let (_, receipt) = compact(&bench, &["--summarizer", &nobody], None);
    assert_eq!(bench.read("out"), alone);
    let told = receipt["fallbacks"][0].as_str().expect("why");
    assert!(told.starts_with(&nobody) && told.contains("can't be reached"), "{told}");
    // The next one in the chain sums up what the ladder folds.
    let then = ["--summarizer", &nobody, "--then", "cmd:sh script"];
    let (_, receipt) = compact(&bench, &then, None);
    assert_eq!(receipt["summary"]["by"], "sh script", "{receipt}");
    let (ran, _) = compact(&bench, &["--summarizer", &nobody, "--on-failure", "error"], None);
    assert_eq!(ran.code, 69, "{}", ran.err);
    assert!(ran.err.contains("no compactor gave a usable view"), "{}", ran.err);
}

#[test]
fn what_makes_no_sense_is_a_usage_error() {
    let bench = bench(&good());
    for (flags, why) in [
        (&["--summarizer", "grpc:http://127.0.0.1:1"][..], "the address names no compactor"),
        (&["--summarizer", "grpc:http://127.0.0.1:1#"], "the address names no compactor"),
        (&["--summarizer", "grpc:#mine"], "the address is missing"),
        (&["--summarizer", "grpc:ftp://h:1#mine"], "isn't an address such as"),
        (&["--trigger", "remote"], "asks a whole compactor, and none is named"),
        (
            &["--summarizer", "cmd:sh script", "--then", "grpc:http://127.0.0.1:1#x"],
            "is asked before any summarizer",
        ),
    ] {
        let (ran, _) = compact(&bench, flags, None);
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains(why), "{}", ran.err);
    }
    // What may be a password or a key is not repeated.
    for secret in ["grpc:http://me:s3cret@h:1#mine", "grpc:http://h:1/?key=s3cret#mine"] {
        let flag = format!("--summarizer={secret}");
        for flags in [&["--summarizer", secret][..], &[&flag]] {
            let (ran, _) = compact(&bench, flags, None);
            assert_eq!(ran.code, 2, "{}", ran.err);
            assert!(ran.err.contains("isn't an address such as"), "{}", ran.err);
            assert!(!ran.err.contains("s3cret"), "{}", ran.err);
        }
    }
    let far = ["--summarizer", "grpc:http://10.1.2.3:5#x"];
    let (ran, _) = compact(&bench, &far, Some("t0p-s3cret"));
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("isn't this machine") && !ran.err.contains("t0p"), "{}", ran.err);
    run(&bench, &["sidecar", "--listen", "0.0.0.0:0"], None)
        .ends(2)
        .complains(&["no token is required"]);
    run(&bench, &["sidecar", "--listen", "0.0.0.0:0"], Some("t0p-s3cret"))
        .ends(2)
        .complains(&["nothing is encrypted", "--plain"]);
}

#[test]
fn what_is_small_enough_is_left_as_it_is() {
    let bench = bench("");
    let sidecar = Sidecar::new(&bench, None);
    let (ran, receipt) = compact(
        &bench,
        &["--trigger", "remote", "--target", "900000", "--summarizer", &sidecar.1],
        None,
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    let skipped = format!("{} skipped: it is at the target", sidecar.1);
    assert_eq!(receipt["fallbacks"], serde_json::json!([skipped]), "{receipt}");
    assert_eq!(receipt["outcome"], "nothing-to-do", "{receipt}");
    assert!(!ran.err.contains("failed"), "{}", ran.err);
}
