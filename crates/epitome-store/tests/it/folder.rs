//! Where a store may be, and who may read it.

use std::fs;
use std::path::Path;

use epitome_store::{Access, Store, StoreError};

use crate::{Place, take_in, talk};

/// Keeps others away from a file or folder: what is open to them is refused whatever it is.
fn close(path: &Path, mode: u32) {
    #[cfg(unix)]
    {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        fs::set_permissions(path, permissions).expect("own");
    }
    #[cfg(not(unix))]
    let _unix_only = (path, mode);
}

#[test]
fn folders_that_are_no_stores_are_left_alone() {
    let place = Place::on_disk();
    let open = |access| Store::open(&place.path(), access).expect_err("there is none");
    assert!(matches!(open(Access::Read), StoreError::Missing { .. }));
    assert!(matches!(open(Access::Existing), StoreError::Missing { .. }));
    assert!(!place.path().exists(), "looking makes nothing");
    fs::write(place.path(), "a file").expect("written");
    assert!(matches!(open(Access::Write), StoreError::NotAStore { .. }));
    fs::remove_file(place.path()).expect("removed");
    fs::create_dir(place.path()).expect("made");
    fs::write(place.path().join("notes.txt"), "mine").expect("written");
    assert!(matches!(open(Access::Write), StoreError::NotAStore { .. }));
    fs::remove_file(place.path().join("notes.txt")).expect("removed");
    close(&place.path(), 0o700);
    fs::write(
        place.path().join("store.db"),
        "not a database, but long enough to be one".repeat(99),
    )
    .expect("written");
    close(&place.path().join("store.db"), 0o600);
    for access in [Access::Read, Access::Write] {
        assert!(matches!(open(access), StoreError::NotAStore { .. }), "{:?}", open(access));
    }
    let other = rusqlite::Connection::open(place.path().join("other.db")).expect("made");
    other.execute_batch("CREATE TABLE mine (a)").expect("made");
    drop(other);
    close(&place.path().join("other.db"), 0o600);
    fs::rename(place.path().join("other.db"), place.path().join("store.db")).expect("moved");
    assert!(matches!(open(Access::Write), StoreError::NotAStore { .. }));
}

#[test]
fn an_empty_folder_will_do() {
    let place = Place::on_disk();
    fs::create_dir(place.path()).expect("made");
    take_in(&place.open(), &talk("one", 1));
    assert_eq!(place.open().sessions().expect("listed").len(), 1);
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let mode = fs::metadata(place.path()).expect("there").mode();
        assert_eq!(mode & 0o777, 0o700, "nobody else may look into it from now on");
    }
}

#[test]
fn a_newer_store_is_refused_politely() {
    let place = Place::on_disk();
    take_in(&place.open(), &talk("one", 1));
    let database = place.path().join("store.db");
    let newer = rusqlite::Connection::open(&database).expect("opened");
    newer.pragma_update(None, "user_version", 99).expect("set");
    drop(newer);
    let before = fs::read(&database).expect("readable");
    for access in [Access::Read, Access::Existing, Access::Write] {
        let refused = Store::open(&place.path(), access).expect_err("it is newer");
        assert!(
            matches!(refused, StoreError::OtherVersion { found: 99, known: 6, .. }),
            "{refused:?}"
        );
    }
    assert_eq!(fs::read(&database).expect("readable"), before);
}

#[cfg(unix)]
#[test]
fn a_store_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    let place = Place::on_disk();
    let store = place.open();
    take_in(&store, &talk("one", 1));
    assert_eq!(mode(&place.path()), 0o700);
    let mut files = 0;
    for file in fs::read_dir(place.path()).expect("listed") {
        let path = file.expect("listed").path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        files += 1;
    }
    assert!(files >= 2, "the log is there too");
}

#[cfg(unix)]
#[test]
fn what_others_may_read_or_write_is_refused() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let place = Place::on_disk();
    take_in(&place.open(), &talk("one", 1));
    let database = place.path().join("store.db");
    for (path, closed, modes) in [
        (place.path(), 0o700, [0o750, 0o720, 0o710, 0o701, 0o707]),
        (database, 0o600, [0o640, 0o620, 0o604, 0o602, 0o666]),
    ] {
        let set = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("own");
        for wanted in modes {
            set(wanted);
            for access in [Access::Read, Access::Existing, Access::Write] {
                let refused = Store::open(&place.path(), access).expect_err("it is open to others");
                assert!(
                    matches!(&refused, StoreError::Exposed { mode, .. } if *mode == wanted),
                    "{refused:?}"
                );
            }
            assert_eq!(
                fs::metadata(&path).expect("there").mode() & 0o777,
                wanted,
                "it is as it was"
            );
        }
        set(closed);
        Store::open(&place.path(), Access::Read).expect("it is the owner's alone again");
    }
    // Only one who may give files away can have one that is somebody else's.
    if std::os::unix::fs::chown(place.path(), Some(12_345), None).is_ok() {
        for access in [Access::Read, Access::Existing, Access::Write] {
            let refused = Store::open(&place.path(), access).expect_err("it is another's");
            assert!(matches!(refused, StoreError::Foreign { owner: 12_345, .. }), "{refused:?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn links_are_refused() {
    use std::os::unix::fs::symlink;
    let place = Place::on_disk();
    take_in(&place.open(), &talk("one", 1));
    let link = place.path().with_file_name("link");
    symlink(place.path(), &link).expect("linked");
    for access in [Access::Read, Access::Write] {
        let refused = Store::open(&link, access).expect_err("a link");
        assert!(matches!(refused, StoreError::Link { .. }), "{refused:?}");
    }
    let moved = place.path().with_file_name("elsewhere.db");
    fs::rename(place.path().join("store.db"), &moved).expect("moved");
    symlink(&moved, place.path().join("store.db")).expect("linked");
    for access in [Access::Read, Access::Write] {
        let refused = Store::open(&place.path(), access).expect_err("a link");
        assert!(matches!(refused, StoreError::Link { .. }), "{refused:?}");
    }
}

#[test]
fn reading_leaves_the_folder_as_it_was() {
    let place = Place::on_disk();
    take_in(&place.open(), &talk("one", 1));
    let files = || {
        let all = fs::read_dir(place.path()).expect("listed").map(|file| file.expect("listed"));
        let mut all: Vec<_> =
            all.map(|file| (file.file_name(), fs::read(file.path()).expect("read"))).collect();
        all.sort();
        all
    };
    let before = files();
    assert_eq!(before.len(), 1, "a store at rest is one file");
    let store = Store::open(&place.path(), Access::Read).expect("there");
    assert_eq!(store.sessions().expect("listed").len(), 1);
    assert!(matches!(store.pin("no"), Err(StoreError::ReadOnly)));
    drop(store);
    assert_eq!(files(), before);
}
