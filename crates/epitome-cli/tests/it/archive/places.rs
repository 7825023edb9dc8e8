//! Where an archive is: in no folder, on a disk that is full or read only, on no server.

use super::kept;
use crate::bench::{Bench, SESSION, SHORT};

#[test]
fn folders_that_are_no_archives_are_reported() {
    let bench = Bench::new();
    bench.copy(SHORT, "in");
    bench.write("folder/notes.txt", "mine");
    for (command, code) in [
        ("recall x --archive none", 1),
        ("restore in --archive none", 1),
        ("undo in --archive none", 1),
        ("pin list --archive none", 1),
        ("compact in --archive folder", 2),
        ("compact in --archive in", 2),
        ("compact in --archive missing/store", 1),
    ] {
        let ran = bench.run(command);
        assert_eq!(ran.code, code, "{command}: {}", ran.err);
        assert!(ran.err.contains("hint:") && ran.out.is_empty(), "{command}: {}", ran.err);
    }
    assert_eq!(bench.names(), ["folder", "in"], "nothing was made");
}

/// Either all of it is there, or nobody is told so.
#[test]
fn what_a_disk_has_lost_is_told_before_anything_is_written() {
    let bench = kept(SHORT);
    let whole = std::fs::read(bench.path("store/store.db")).expect("there");
    let (old, input) = (bench.read("out.json"), bench.read("in"));
    let mut refused = 0;
    for at in 1..16 {
        let mut bytes = whole.clone();
        let at = whole.len() * at / 16;
        let end = bytes.len().min(at + 3000);
        bytes[at..end].fill(b'x');
        bench.write("store/store.db", bytes);
        let ran = bench.run("compact in --target 20% --archive store -o out.json");
        if ran.code == 65 {
            refused += 1;
            assert!(ran.err.contains("is damaged: ") && ran.err.contains("backup"), "{}", ran.err);
            assert_eq!(bench.read("out.json"), old, "at {at}");
        } else {
            assert!(matches!(ran.code, 0 | 3), "at {at}: {} {}", ran.code, ran.err);
            let back = bench.run("restore out.json --archive store");
            assert_eq!((back.code, &back.out), (0, &input), "at {at}: {}", back.err);
            bench.write("out.json", &old);
        }
    }
    assert!(refused > 5, "{refused}");
}

#[cfg(unix)]
#[test]
fn a_full_archive_leaves_everything_as_it_was() {
    let bench = kept(SHORT);
    let store = bench.path("store/store.db");
    let mut permissions = std::fs::metadata(&store).expect("there").permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&store, permissions).expect("set");
    let before = bench.read("out.json");
    // Whoever may do everything may write it all the same.
    if std::fs::OpenOptions::new().append(true).open(&store).is_err() {
        let ran = bench.run("compact in --target 50% --archive store -o out.json");
        assert_eq!((ran.code, bench.read("out.json")), (1, before), "{}", ran.err);
        assert_eq!(bench.run("restore out.json --archive store").code, 0, "reading goes on");
    }
}

/// A disk that can't be written, where this user may make one for itself.
#[cfg(target_os = "linux")]
#[test]
fn a_read_only_disk_is_read_and_nothing_else() {
    let bench = kept(SHORT);
    bench.copy(SESSION, "more");
    let on_it = |line: &str| {
        bench.shell(&format!("unshare -rm bash -c 'mount --bind store store && mount -o remount,bind,ro store && {line}'"))
    };
    if on_it("true").code != 0 {
        return;
    }
    let back = on_it("epitome restore out.json --archive store");
    assert_eq!((back.code, back.out), (0, bench.read("in")), "{}", back.err);
    let found = on_it("epitome recall error --archive store --json");
    assert!(found.code == 0 && found.out.contains("\"id\""), "{}", found.shown());
    for line in [
        "epitome compact more --target 10% --archive store -o big.json",
        "epitome undo out.json --archive store -o big.json",
        "epitome forget out.json --archive store",
        "epitome pin add x --archive store",
    ] {
        let ran = on_it(line);
        assert!(ran.code == 1 && ran.err.contains("hint:"), "{line}: {}", ran.shown());
        assert!(!bench.names().contains(&"big.json".to_owned()), "{line}");
    }
}

#[test]
fn unreachable_servers_are_reported_without_passwords() {
    let bench = Bench::new();
    bench.copy(SHORT, "in");
    let line =
        "compact in --archive postgres://me:hidden@db.example/app?sslmode=prefer -o out.json";
    let ran = bench.run(line).ends(2);
    assert!(ran.err.contains("verify-full") && !ran.err.contains("hidden"), "{}", ran.err);
    let ran = bench.run("recall port --archive postgres://me:hidden@127.0.0.1:1/app").ends(75);
    assert!(
        ran.err.contains("postgres://me@127.0.0.1:1/app") && !ran.err.contains("hidden"),
        "{}",
        ran.err
    );
}

/// A disk on which files may grow to so many blocks of 1,024 bytes stands for one that is full.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_archive_as_it_was() {
    let bench = kept(SHORT);
    bench.copy(SESSION, "more");
    let store = |bench: &Bench| bench.run("sessions --archive store --json").out;
    let before = store(&bench);
    for blocks in [4, 20, 60, 120] {
        let ran = bench.shell(&format!(
            "trap '' XFSZ; ulimit -f {blocks}; exec epitome compact more --target 10% --archive store -o big.json"
        ));
        assert!(ran.code == 1 && ran.err.contains("hint"), "{blocks}: {}", ran.shown());
        assert!(!bench.names().contains(&"big.json".to_owned()), "{blocks}");
        let again = bench.run("restore out.json --archive store");
        assert_eq!((again.code, again.out), (0, bench.read("in")), "{blocks}: {}", again.err);
    }
    assert_eq!(store(&bench), before, "nothing of it is there");
    let ran = bench.run("compact more --target 10% --archive store -o big.json");
    assert!(matches!(ran.code, 0 | 3), "{}", ran.err);
    let again = bench.run("restore big.json --archive store");
    assert_eq!((again.code, again.out), (0, bench.read("more")));
}
