//! Settings: flag, environment, project, user, default.

use std::fmt::Write as _;
use std::fs;

use epitome::Format;

use crate::bench::{Bench, RUN, SESSION};

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

fn ran(bench: &Bench, words: &str) -> (i32, String) {
    let ran = bench.run(words);
    (ran.code, ran.out + &ran.err)
}

#[test]
fn strategies_are_said_by_flags_variables_and_files() {
    let bench = Bench::new();
    bench.copy(SESSION, "run");
    let steps = |words: &str| -> Vec<String> {
        let json = bench.run(words).json();
        let steps = json["steps"].as_array().expect("steps").clone();
        steps.iter().map(|step| step["strategy"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(
        steps("plan run --json --strategy outputs,excerpts --target 5%"),
        ["outputs", "excerpts"]
    );
    assert_eq!(steps("plan run --json --strategy none --target 5%"), [""; 0]);
    bench.write("epitome.toml", "strategies = [\"failed\", { outputs = { max-tokens = 100 } }]\n");
    assert_eq!(steps("plan run --json --target 5%"), ["failed", "outputs"]);
    assert_eq!(steps("plan run --json --target 5% --strategy arguments"), ["arguments"]);
    bench
        .write("epitome.toml", "[strategies]\nrepeats = false\noutputs = { min-gain = 1000000 }\n");
    let ladder = steps("plan run --json --target 30%");
    assert!(!ladder.iter().any(|name| name == "repeats" || name == "outputs"), "{ladder:?}");
    // All that a strategy does, where the target is reached before.
    let edits =
        |words: &str| bench.run(words).json()["steps"][0]["edits"].as_u64().expect("a number");
    let list = "plan run --json --target 90% --strategy outputs";
    assert!(edits(&format!("{list} --stop at-end")) > edits(list));
}

#[test]
fn strategies_that_stop_short_of_the_target_say_so() {
    let bench = Bench::new();
    bench.copy(SESSION, "run");
    let (code, out) = ran(&bench, "plan run --strategy failed --target 5%");
    assert!(code == 3 && out.contains("these strategies don't reach the target"), "{out}");
    let (code, out) = ran(&bench, "diff run --strategy failed --target 5%");
    assert!(code == 3 && out.contains("these strategies don't reach the target"), "{out}");
}

#[test]
fn unknown_strategies_and_options_are_named_with_what_was_meant() {
    let bench = Bench::new();
    bench.copy(RUN, "run");
    let (code, err) = ran(&bench, "plan run --strategy outptus");
    assert!(
        code == 2 && err.contains("`outptus`") && err.contains("did you mean `outputs`?"),
        "{err}"
    );
    for (list, alone) in
        [("ladder,ladder,ladder", "ladder"), ("failed,ladder", "ladder"), ("none,fold", "none")]
    {
        let (code, err) = ran(&bench, &format!("plan run --strategy {list}"));
        assert!(code == 2 && err.contains(&format!("`{alone}` is a")), "{err}");
        assert!(err.contains("in a list of them") && !err.contains("did you mean"), "{err}");
    }
    for (text, unknown, meant) in [
        ("strategies = \"fold,outptus\"\n", "outptus", "outputs"),
        ("[strategies]\noutptus = true\n", "outptus", "outputs"),
        ("[strategies]\noutputs = { min-gian = 5 }\n", "min-gian", "min-gain"),
        ("preset = \"plank\"\n", "plank", "planck"),
        ("targte = 5\n", "targte", "target"),
    ] {
        bench.write("epitome.toml", text);
        let (code, err) = ran(&bench, "plan run");
        assert_eq!(code, 2, "{err}");
        assert!(err.contains(&format!("`{unknown}`")), "{err}");
        assert!(err.contains(&format!("did you mean `{meant}`?")), "{err}");
    }
    bench.write("epitome.toml", "[strategies]\noutputs = { min-gain = 0 }\n");
    let (code, err) = ran(&bench, "plan run");
    assert!(code == 2 && err.contains("outputs.min-gain"), "{err}");
}

#[test]
fn config_show_says_strategies_as_they_would_be_written() {
    let bench = Bench::new();
    let said = |words: &str| {
        let shown = bench.run(&format!("config show --json {words}")).json();
        let settings = shown["settings"].as_array().expect("settings").clone();
        let of = settings.iter().find(|setting| setting["key"] == "strategies").expect("the key");
        of["value"].as_str().expect("words").to_owned()
    };
    assert_eq!(said(""), "ladder");
    assert_eq!(said("--strategy none"), "none");
    assert_eq!(said("--strategy repeats,fold"), "repeats,fold");
    for (text, words) in [
        ("strategies = [\"repeats\", { outputs = { min-gain = 500 } }]\n", "min-gain = 500"),
        ("[strategies]\nfailed = false\n", "failed = false"),
        ("strategies = false\n", "none"),
        ("strategies = true\n", "ladder"),
    ] {
        bench.write("epitome.toml", text);
        let said = said("");
        assert!(said.contains(words) && !said.contains("media"), "{said}");
        bench.write(
            "again.toml",
            format!(
                "strategies = {}\n",
                if words.contains(' ') { said.clone() } else { format!("\"{said}\"") }
            ),
        );
        let again = bench.run("config show --json --config again.toml");
        assert!(again.out.contains(&serde_json::to_string(&said).expect("JSON")), "{}", again.out);
    }
}

#[test]
fn config_show_says_what_a_preset_brings() {
    let bench = Bench::new();
    let shown = |words: &str| {
        let shown = bench.run(&format!("config show --json {words}")).json();
        let settings = shown["settings"].as_array().expect("settings").clone();
        move |key: &str| {
            let of = settings.iter().find(|setting| setting["key"] == key).expect("the key");
            let word = |name: &str| of[name].as_str().unwrap_or("").to_owned();
            [word("value"), word("origin"), word("from")]
        }
    };
    let planck = shown("--preset planck --window 100k");
    assert_eq!(planck("target"), ["79999", "preset", "planck"]);
    assert_eq!(planck("trigger"), ["80%", "preset", "planck"]);
    assert_eq!(planck("stop"), ["at-end", "preset", "planck"]);
    assert_eq!(planck("tail")[1], "default");
    let [strategies, origin, _] = planck("strategies");
    assert_eq!((strategies.as_str(), origin.as_str()), ("recent,fold,head", "preset"));
    // What else is said goes before the preset.
    let both = shown("--preset entelix-head --stop at-target");
    assert_eq!(
        (both("stop")[1].as_str(), both("task")),
        ("flag", ["fold", "preset", "entelix-head"].map(str::to_owned))
    );
    assert_eq!(shown("")("target")[1], "default");
}

#[test]
fn presets_are_compacted_like() {
    let bench = Bench::new();
    bench.copy(SESSION, "run");
    let plan = |words: &str| bench.run(&format!("plan run --json {words}")).json();
    let of = plan("--preset planck --window 100k");
    assert_eq!(of["target"], 79_999);
    assert_eq!(of["steps"][0]["strategy"], "recent");
    // What else is said goes before the preset.
    assert_eq!(plan("--preset planck --window 100k --target 20k")["target"], 20_000);
    assert_eq!(plan("--preset planck --strategy outputs")["steps"][0]["strategy"], "outputs");
    let (code, err) = ran(&bench, "plan run --preset plank");
    assert!(code == 2 && err.contains("planck"), "{err}");
}

/// A session whose calls may have changed something, for all that their names say.
fn probes() -> String {
    let mut notation = "user See which nodes are up.\n".to_owned();
    for step in 0..30 {
        writeln!(
            notation,
            "asst Node {step}. | call c{step} probe {{\"node\":\"n{step}\"}}\n\
             res  c{step} = up\\n{{lorem 60}}"
        )
        .expect("a string takes all");
    }
    testkit::parse(Format::OpenaiChat, &notation).source().as_ref().clone()
}

#[test]
fn tools_that_only_read_are_said_by_flags_variables_and_files() {
    let bench = Bench::new();
    bench.write("in.json", probes());
    let is_deed = |flags: &[&str], environment: &[(&str, &str)]| {
        let words = [&["compact", "in.json", "--target", "40%"], flags].concat();
        let output =
            bench.command(&words).envs(environment.iter().copied()).output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let view = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(view.contains("What was done") && view.contains("probe"), "{view}");
        !view.contains("Only read: probe")
    };
    assert!(is_deed(&[], &[]));
    assert!(is_deed(&["--read-only", "other"], &[]));
    assert!(!is_deed(&["--read-only", "other", "--read-only", "probe"], &[]));
    assert!(!is_deed(&[], &[("EPITOME_READ_ONLY", "other, probe")]));
    bench.write("epitome.toml", "read-only = [\"probe\"]\n");
    assert!(!is_deed(&[], &[]));
    let (_, said) = ran(&bench, "plan in.json --read-only porbe");
    assert!(said.contains("no message calls the tool \"porbe\""), "{said}");
}
