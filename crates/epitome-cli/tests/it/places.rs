//! Where output goes, and that nothing is ever half-written.

use std::fs;
use std::time::{Duration, Instant};
use testkit::is_full;

use crate::bench::{Bench, SHORT};

fn bench() -> Bench {
    let bench = Bench::new();
    bench.copy(SHORT, "s.jsonl");
    bench
}

#[test]
fn an_existing_file_is_replaced_in_one_go() {
    let bench = bench();
    bench.write("out.json", "old");
    let ran = bench.run("compact s.jsonl --target 40% -o out.json --receipt receipt.json");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    assert!(bench.read("out.json").starts_with('{'));
    assert_eq!(bench.names(), ["out.json", "receipt.json", "s.jsonl"], "nothing is left beside");
}

#[test]
fn the_input_may_be_the_output() {
    let bench = bench();
    assert_eq!(bench.run("convert s.jsonl --to anthropic -o r.json").code, 0);
    let aside = bench.run("compact r.json --target 40%").out;
    assert_eq!(bench.run("compact r.json --target 40% -o r.json").code, 0);
    assert_eq!(bench.read("r.json"), aside);
}

#[cfg(unix)]
#[test]
fn a_request_isnt_put_where_the_only_recording_is() {
    let bench = bench();
    let original = bench.read("s.jsonl");
    std::os::unix::fs::symlink("s.jsonl", bench.path("link.jsonl")).expect("a link");
    for line in [
        "compact s.jsonl --target 40% -o s.jsonl",
        "compact s.jsonl --target 40% -o link.jsonl",
        "compact s.jsonl --target 40% --to gemini -o s.jsonl",
        "convert s.jsonl --to anthropic -o s.jsonl",
        "check s.jsonl --repair -o s.jsonl",
    ] {
        let ran = bench.run(line).ends(2);
        let why = "s.jsonl would put a request where the claude-code recording is";
        assert!(ran.err.contains(why), "{line}: {}", ran.err);
        assert!(ran.err.contains("hint: name another file: -o "), "{}", ran.err);
        assert!(ran.err.contains("s.request.json\n"), "{}", ran.err);
        assert!(bench.read("s.jsonl") == original, "{line}");
    }
    bench.shell("epitome compact --target 40% -o s.jsonl < s.jsonl").ends(2);
    assert!(bench.read("s.jsonl") == original);
    // What is hinted at is never there already.
    bench.write("s.request.json", "precious");
    let ran = bench.run("convert s.jsonl --to anthropic -o s.jsonl");
    assert!(ran.err.contains("-o s.request-2.json\n"), "{}", ran.err);
    // An archive holds it.
    bench.run("compact s.jsonl --target 40% --archive store -o s.jsonl").ends(0);
    assert!(bench.run("restore s.jsonl --archive store").out == original);
}

#[test]
fn folders_and_what_is_in_none_are_refused() {
    let bench = bench();
    fs::create_dir(bench.path("folder")).expect("a folder");
    for (out, code, hint) in [
        ("folder", 2, "hint: name a file in it: -o folder/compacted.json"),
        ("folder/", 2, "hint: name a file in it"),
        ("missing/out.json", 1, "hint: mkdir -p missing"),
        ("missing/", 1, "hint: mkdir -p missing"),
        ("s.jsonl/out.json", 1, "can't be written: Not a directory"),
    ] {
        let ran = bench.run(&format!("compact s.jsonl -o {out}"));
        assert_eq!(ran.code, code, "{out}: {}", ran.err);
        assert!(ran.err.contains(hint), "{out}: {}", ran.err);
    }
    assert_eq!(bench.names(), ["folder", "s.jsonl"]);
}

#[test]
fn a_write_protected_file_is_left_alone() {
    let bench = bench();
    bench.write("out.json", "precious");
    let path = bench.path("out.json");
    let mut rights = fs::metadata(&path).expect("a file").permissions();
    rights.set_readonly(true);
    fs::set_permissions(&path, rights).expect("rights");
    bench.run("compact s.jsonl -o out.json").ends(1).complains(&["hint: chmod u+w out.json"]);
    assert_eq!(bench.read("out.json"), "precious");
}

#[test]
fn nothing_is_written_if_the_receipt_cant_be() {
    let bench = bench();
    bench.write("out.json", "old");
    let ran = bench.run("compact s.jsonl -o out.json --receipt missing/receipt.json");
    assert_eq!((ran.code, bench.read("out.json").as_str()), (1, "old"));
}

#[cfg(unix)]
#[test]
fn links_stay_and_what_they_point_to_is_replaced() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let bench = bench();
    fs::create_dir(bench.path("deep")).expect("a folder");
    bench.write("deep/real.json", "old");
    let private = fs::Permissions::from_mode(0o600);
    fs::set_permissions(bench.path("deep/real.json"), private).expect("rights");
    symlink("deep/real.json", bench.path("link.json")).expect("a link");
    symlink("deep/new.json", bench.path("dangling.json")).expect("a link");
    symlink("loop.json", bench.path("loop.json")).expect("a link");
    assert_eq!(bench.run("compact s.jsonl -o link.json").code, 0);
    assert_eq!(bench.run("compact s.jsonl -o dangling.json").code, 0);
    assert_eq!(bench.run("compact s.jsonl -o loop.json").code, 1);
    assert!(fs::symlink_metadata(bench.path("link.json")).expect("there").is_symlink());
    assert!(bench.read("deep/real.json").starts_with('{'));
    assert_eq!(bench.read("deep/new.json"), bench.read("deep/real.json"));
    let mode = |name| fs::metadata(bench.path(name)).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode("deep/real.json"), 0o600, "rights are kept");
}

#[cfg(unix)]
#[test]
fn devices_are_written_to_not_replaced() {
    let bench = bench();
    assert_eq!(bench.run("compact s.jsonl -o /dev/null").code, 0);
    assert!(!fs::metadata("/dev/null").expect("there").is_file());
    let to_stdout = bench.run("compact s.jsonl -o -");
    assert!(to_stdout.out.starts_with('{'));
}

#[test]
fn a_report_never_overwrites_what_it_is_about() {
    let bench = bench();
    fs::create_dir(bench.path("folder")).expect("a folder");
    #[cfg(unix)]
    std::os::unix::fs::symlink("s.jsonl", bench.path("link")).expect("a link");
    let before = bench.read("s.jsonl");
    for line in [
        "stats s.jsonl --html s.jsonl",
        "stats s.jsonl --svg ./s.jsonl",
        "stats folder/../s.jsonl --html s.jsonl",
        "stats s.jsonl --html link",
        "stats link --svg s.jsonl",
        "compact s.jsonl --receipt s.jsonl -o out.json",
        "compact s.jsonl --receipt s.jsonl",
    ] {
        let ran = bench.run(line);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{line}: {}", ran.err);
        assert!(ran.err.contains("would overwrite the input\nhint: "), "{line}: {}", ran.err);
        assert_eq!(bench.read("s.jsonl"), before, "{line}");
    }
    assert_eq!(bench.run("stats s.jsonl --html page.html").code, 0);
    assert!(!bench.path("out.json").exists());
}

#[test]
fn two_results_never_go_to_one_file() {
    let bench = bench();
    bench.write("old", "precious");
    for line in [
        "epitome stats s.jsonl --html old --svg old",
        "epitome stats s.jsonl --html old --svg ./old",
        "epitome compact s.jsonl -o old --receipt ./old",
        "epitome stats s.jsonl --html - --svg -",
        "epitome compact s.jsonl --receipt old >> old",
        "epitome compact s.jsonl -o old --receipt /dev/stdout >> old",
        "epitome compact s.jsonl -o old --json >> old",
        "epitome stats s.jsonl --html old >> old",
        "epitome compact s.jsonl -o old --receipt /dev/fd/3 3>> old",
    ] {
        let ran = bench.shell(line);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{line}: {}", ran.err);
        for said in ["can't go to the same place", "hint"] {
            assert!(ran.err.contains(said), "{line}: {}", ran.err);
        }
        assert_eq!(bench.read("old"), "precious", "{line}");
    }
    assert_eq!(bench.shell("epitome compact s.jsonl --receipt old 2>> old").code, 2);
    let log = bench.read("old");
    assert!(log.starts_with("preciouserror: stderr and --receipt can't go"), "{log}");
}

#[cfg(unix)]
#[test]
fn what_is_read_is_not_where_stdout_goes() {
    let bench = bench();
    let before = bench.read("s.jsonl");
    for line in [
        "epitome compact s.jsonl >> s.jsonl",
        "epitome compact < s.jsonl >> s.jsonl",
        "epitome stats s.jsonl 1<> s.jsonl",
    ] {
        bench.shell(line).ends(2).complains(&["is both the input and stdout"]);
        assert_eq!(bench.read("s.jsonl"), before, "{line}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn streams_are_streams_by_any_name() {
    let bench = bench();
    let want = bench.run("compact s.jsonl").out;
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/proc/thread-self/fd/1"] {
        let ran = bench.shell(&format!("epitome compact s.jsonl -o {name} 2>/dev/null | cat"));
        assert_eq!((ran.code, ran.out.as_str()), (0, want.as_str()), "{name}: {}", ran.err);
        bench.write("log", "before\n");
        let ran =
            bench.shell(&format!("epitome compact s.jsonl -o {name} >> log && echo more >> log"));
        assert_eq!(ran.code, 0, "{name}: {}", ran.err);
        assert_eq!(bench.read("log"), format!("before\n{want}more\n"), "{name}");
    }
    std::os::unix::fs::symlink("/dev/stdout", bench.path("link")).expect("a link");
    assert_eq!(bench.shell("epitome compact s.jsonl -o link | cat").out, want);
    assert!(fs::symlink_metadata(bench.path("link")).expect("there").is_symlink());

    bench.write("log", "before\n");
    let ran = bench.shell("epitome compact s.jsonl --receipt /dev/fd/3 3>> log; echo more >> log");
    assert_eq!((ran.code, ran.out.as_str()), (0, want.as_str()), "{}", ran.err);
    let log = bench.read("log");
    assert!(log.starts_with("before\n{") && log.ends_with("}\nmore\n"), "{log}");
    let ran = bench.shell("epitome compact s.jsonl -o >(cat > copy); wait $!; cat copy");
    assert_eq!((ran.code, ran.out.as_str()), (0, want.as_str()), "{}", ran.err);
    bench
        .run("compact s.jsonl -o /dev/fd/77")
        .ends(2)
        .complains(&["/dev/fd/77 isn't open\nhint: "]);
}

#[cfg(target_os = "linux")]
#[test]
fn what_cant_be_written_is_named() {
    let bench = bench();
    for (line, named) in [
        ("epitome compact s.jsonl -o /dev/full", "/dev/full"),
        ("epitome compact s.jsonl > /dev/full", "stdout"),
        ("epitome compact s.jsonl -o /dev/stdout > /dev/full", "stdout"),
        ("epitome stats s.jsonl --html /dev/full", "/dev/full"),
        ("epitome stats s.jsonl > /dev/full", "stdout"),
        ("epitome --help > /dev/full", "stdout"),
        ("epitome compact -h > /dev/full", "stdout"),
        ("epitome --version > /dev/full", "stdout"),
        ("epitome compact s.jsonl -o /proc/none", "/proc/none"),
    ] {
        bench
            .shell(line)
            .ends(1)
            .complains(&[&format!("error: {named} can't be written"), "\nhint: "]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_failed_output_leaves_the_other_file_unchanged() {
    let bench = bench();
    for (other, line) in [
        ("out.json", "epitome compact s.jsonl -o out.json --receipt /dev/full"),
        ("out.json", "epitome compact s.jsonl -o out.json --json > /dev/full"),
        ("receipt", "epitome compact s.jsonl -o /dev/full --receipt receipt"),
        ("receipt", "epitome compact s.jsonl --receipt receipt > /dev/full"),
    ] {
        bench.write(other, "old");
        bench.shell(line).ends(1);
        assert_eq!(bench.read(other), "old", "{line}");
        assert_eq!(bench.names(), [other, "s.jsonl"], "{line}");
        fs::remove_file(bench.path(other)).expect("it is there");
    }
    bench.write("receipt", "old");
    // Whoever reads a pipe to its end finds the receipt.
    let ran = bench.shell(
        "epitome compact s.jsonl -o >(cat > copy; cp receipt found) --receipt receipt; wait $!; cat found",
    );
    assert!(ran.code == 0 && ran.out == bench.read("receipt") && ran.out != "old", "{}", ran.err);
}

/// Whether this process was told to ignore the signal (`nohup`), as what it starts then does too.
#[cfg(target_os = "linux")]
pub(crate) fn is_ignored(signal: nix::sys::signal::Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").expect("Linux has it");
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("a mask");
    let mask = u64::from_str_radix(mask.trim(), 16).expect("hexadecimal");
    mask & (1 << (signal as i32 - 1)) != 0
}

/// Where a request is nearly in place: the receipt's reader lets it wait.
#[cfg(target_os = "linux")]
#[test]
fn signals_leave_the_old_file_and_nothing_else() {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    use std::process::Stdio;

    let bench = bench();
    bench.write("out.json", "old");
    assert_eq!(bench.shell("mkfifo receipt").code, 0);
    let signals = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGKILL];
    for signal in signals.into_iter().filter(|signal| !is_ignored(*signal)) {
        let mut command =
            bench.command(&["compact", "s.jsonl", "-o", "out.json", "--receipt", "receipt"]);
        let mut child = command.stderr(Stdio::null()).spawn().expect("the binary runs");
        let id = Pid::from_raw(i32::try_from(child.id()).expect("an id"));
        // The request lies on the disk without a name; the receipt's place has no reader.
        let is_prepared = || {
            let open = fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten().flatten();
            let mut targets = open.filter_map(|file| fs::read_link(file.path()).ok());
            targets.any(|target| target.to_string_lossy().ends_with("(deleted)"))
        };
        let until = Instant::now() + Duration::from_secs(20);
        while !is_prepared() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(child.try_wait().expect("its state").is_none(), "it waits for a reader");
        kill(id, signal).expect("it is there");
        assert!(!child.wait().expect("it ends").success());
        assert_eq!(bench.read("out.json"), "old", "{signal}");
        assert_eq!(bench.names(), ["out.json", "receipt", "s.jsonl"], "{signal}");
    }
}

#[cfg(unix)]
#[test]
fn killed_at_any_point_there_is_the_old_file_or_the_new_one() {
    let bench = bench();
    let new = bench.run("compact s.jsonl").out;
    let words = ["compact", "s.jsonl", "-o", "out.json", "--receipt", "receipt.json"];
    let quiet = || {
        let mut command = bench.command(&words);
        command.stderr(std::process::Stdio::null());
        command
    };
    let mut child = quiet().spawn().expect("the binary runs");
    let begun = Instant::now();
    assert!(child.wait().expect("it ends").success());
    let whole = begun.elapsed();
    let receipt = bench.read("receipt.json");
    let (mut olds, mut news) = (0, 0);
    let kills: u32 = if is_full() { 48 } else { 24 };
    for at in 0..kills {
        bench.write("out.json", "old");
        bench.write("receipt.json", "old");
        let mut child = quiet().spawn().expect("the binary runs");
        // From before it began until after it should have ended; the last one may end by itself.
        std::thread::sleep(whole.mul_f64(f64::from(at) * 1.2 / f64::from(kills)));
        if at + 1 < kills {
            let _over = child.kill();
        }
        child.wait().expect("it ends");
        match bench.read("out.json").as_str() {
            "old" => olds += 1,
            text => {
                assert_eq!(text, new);
                assert_eq!(bench.read("receipt.json"), receipt, "it is there before the output");
                news += 1;
            }
        }
        assert!(["old", receipt.as_str()].contains(&bench.read("receipt.json").as_str()));
    }
    assert!(olds > 0 && news > 0, "killed on both sides of the moment: {olds}, {news}");
}
