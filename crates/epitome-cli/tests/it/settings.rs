//! Settings: flag, environment, project, user, default.

use std::fs;

use crate::bench::{Bench, RUN};

fn target(bench: &Bench, flags: &[&str], environment: &[(&str, &str)]) -> (i32, String) {
    let words = [&["plan", "run.json", "--json"], flags].concat();
    let mut command = bench.command(&words);
    command.envs(environment.iter().copied());
    let output = command.output().expect("the binary runs");
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    match serde_json::from_slice::<serde_json::Value>(&output.stdout) {
        Ok(plan) => (output.status.code().expect("no signal"), plan["target"].to_string() + &err),
        Err(_) => (output.status.code().expect("no signal"), err),
    }
}

#[test]
fn nearer_layers_go_first() {
    let bench = Bench::new();
    bench.copy(RUN, "run.json");
    let is = |want: &str, flags: &[&str], environment: &[(&str, &str)]| {
        let (_, got) = target(&bench, flags, environment);
        assert_eq!(got, want, "{flags:?} {environment:?}");
    };
    bench.write(".config/epitome/config.toml", "target = 5000\n");
    is("5000", &[], &[]);
    bench.write("xdg/epitome/config.toml", "target = \"5001\"\n");
    let xdg = bench.path("xdg").to_string_lossy().into_owned();
    is("5001", &[], &[("XDG_CONFIG_HOME", &xdg)]);
    bench.write("epitome.toml", "target = 4000\npreserved-tools = [\"think\"]\n");
    is("4000", &[], &[]);
    bench.write("other.toml", "target = \"4001\"\n");
    is("4001", &["--config", "other.toml"], &[]);
    is("3000", &["--config", "other.toml"], &[("EPITOME_TARGET", "3k")]);
    is("2500", &["--target", "2500"], &[("EPITOME_TARGET", "3k")]);
}

#[test]
fn a_project_is_found_from_its_folders() {
    let bench = Bench::new();
    bench.copy(RUN, "run.json");
    bench.write("epitome.toml", "target = 4000\n");
    fs::create_dir_all(bench.path("src/deep")).expect("folders");
    let mut command = bench.command(&["plan", "../../run.json"]);
    let output = command.current_dir(bench.path("src/deep")).output().expect("the binary runs");
    assert!(String::from_utf8_lossy(&output.stdout).contains("target 4,000"));
}

#[test]
fn what_is_wrong_is_named() {
    let bench = Bench::new();
    bench.copy(RUN, "run.json");
    for (text, named) in [
        ("targte = 5\n", "targte"),
        ("target = 0\n", "`0`"),
        ("target = \"lots\"\n", "lots"),
        ("tail = []\n", "tail"),
        ("task = \"maybe\"\n", "maybe"),
        ("pins = \"one\"\n", "pins"),
        ("= 5\n", "line 1"),
    ] {
        bench.write("bad.toml", text);
        let (code, err) = target(&bench, &["--config", "bad.toml"], &[]);
        assert_eq!(code, 2, "{text}: {err}");
        assert!(err.contains("bad.toml") && err.contains(named), "{text}: {err}");
    }
    let (code, err) = target(&bench, &["--config", "nowhere.toml"], &[]);
    assert!(code == 1 && err.contains("nowhere.toml"), "{err}");
    let (code, err) = target(&bench, &[], &[("EPITOME_TARGET", "lots")]);
    assert!(code == 2 && err.contains("EPITOME_TARGET"), "{err}");
}

#[test]
fn a_variable_that_is_no_setting_is_a_warning() {
    let bench = Bench::new();
    bench.copy(RUN, "run.json");
    let (code, out) = target(&bench, &[], &[("EPITOME_TARGTE", "5")]);
    assert!(code == 0 && out.contains("EPITOME_TARGTE"), "{out}");
}
