//! Where output goes, and that nothing is ever half-written.

use std::fs;

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
    let aside = bench.run("compact s.jsonl --target 40%").out;
    assert_eq!(bench.run("compact s.jsonl --target 40% -o s.jsonl").code, 0);
    assert_eq!(bench.read("s.jsonl"), aside);
}

#[test]
fn folders_and_what_is_in_none_are_refused() {
    let bench = bench();
    fs::create_dir(bench.path("folder")).expect("a folder");
    for (out, code, hint) in [
        ("folder", 2, "hint: name a file in it: -o folder/compacted.json"),
        ("folder/", 2, "hint: name a file in it"),
        ("missing/out.json", 1, "hint: mkdir -p missing"),
        ("s.jsonl/out.json", 1, "can't be written"),
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
    let ran = bench.run("compact s.jsonl -o out.json");
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("hint: chmod u+w out.json"), "{}", ran.err);
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
    let ran = bench.run("compact s.jsonl -o /dev/full");
    assert_eq!(ran.code, 1, "{}", ran.err);
    let ran = bench.shell("epitome compact s.jsonl > /dev/full");
    assert_eq!(ran.code, 1, "{}", ran.err);
    let to_stdout = bench.run("compact s.jsonl -o -");
    assert!(to_stdout.out.starts_with('{'));
}
