//! The laws of archives: what any [`Archive`] must do, run on the one in memory and on every store.

use epitome::archive::FoundOriginal;
use epitome::archive::{
    Archive, ArchiveError, EntryContext, KeptView, Original, Shown, redone, undone,
};
use epitome::transcript::{ContentId, Origin, Role};
use epitome::view::{Fate, Reason, View};

/// An archive that can keep nothing.
#[derive(Debug)]
pub struct Full;

const FULL: &str = "no space left";

impl Archive for Full {
    fn put(&self, _: &[Original]) -> Result<(), ArchiveError> {
        Err(ArchiveError::Write { why: FULL.to_owned() })
    }

    fn get(&self, _: ContentId) -> Result<Option<String>, ArchiveError> {
        Ok(None)
    }

    fn search(&self, _: &str, _: usize) -> Result<Vec<FoundOriginal>, ArchiveError> {
        Ok(Vec::new())
    }

    fn head(&self) -> Result<u64, ArchiveError> {
        Ok(0)
    }

    fn commit(&self, _: u64, _: &Shown) -> Result<u64, ArchiveError> {
        Err(ArchiveError::Write { why: FULL.to_owned() })
    }

    fn go(&self, _: u64, _: u64) -> Result<(), ArchiveError> {
        Err(ArchiveError::Write { why: FULL.to_owned() })
    }

    fn view(&self, _: u64) -> Result<Option<KeptView>, ArchiveError> {
        Ok(None)
    }

    fn history(&self) -> Result<Vec<(u64, u64)>, ArchiveError> {
        Ok(Vec::new())
    }
}

/// Runs all laws; `fresh` gives an archive that keeps nothing yet.
///
/// # Panics
/// Where one is broken.
pub fn laws(fresh: &dyn Fn() -> Box<dyn Archive>) {
    gives_back_what_was_put(fresh().as_ref());
    keeps_once(fresh().as_ref());
    finds_by_words(fresh().as_ref());
    limits_and_ranks(fresh().as_ref());
    commits_by_comparing(fresh().as_ref());
    goes_back_and_forth(fresh().as_ref());
    one_of_many_wins(fresh().as_ref());
}

/// An original that says `words`, as entry `entry`.
pub fn original(entry: usize, words: &str) -> Original {
    let bytes = format!("{{\"role\":\"user\",\"content\":{}}}", epitome::wire::json::quote(words));
    Original {
        id: ContentId::of_text(&bytes),
        entry,
        bytes,
        about: EntryContext {
            role: Role::User,
            origin: Origin::Human,
            turn: entry + 1,
            tool: None,
            at: None,
            recalled: Vec::new(),
        },
        words: words.to_owned(),
    }
}

/// A view of `entries` entries that folds all but the last and says `text`.
pub fn shown(entries: usize, text: &str) -> Shown {
    let mut view = View::default();
    for _ in 1..entries {
        view.push(Fate::Fold(Reason::OlderStep));
    }
    view.push(Fate::Keep);
    Shown {
        entries,
        view,
        text: text.to_owned(),
        checkpoint: Some(ContentId::of_text(text)),
        receipt: "{\"version\":1}".to_owned(),
    }
}

fn gives_back_what_was_put(archive: &dyn Archive) {
    let texts = ["", "a", "ä\u{1f600}\u{0}", &"long ".repeat(50_000)];
    let originals: Vec<Original> =
        texts.iter().enumerate().map(|(at, text)| original(at, text)).collect();
    archive.put(&originals).expect("kept");
    for original in &originals {
        let kept = archive.get(original.id).expect("readable");
        assert_eq!(kept.as_deref(), Some(original.bytes.as_str()));
    }
    assert_eq!(archive.get(ContentId::of_text("never said")), Ok(None));
    archive.put(&[]).expect("nothing is easily kept");
}

fn keeps_once(archive: &dyn Archive) {
    let said = original(0, "said twice");
    archive.put(&[said.clone(), said.clone()]).expect("kept");
    archive.put(std::slice::from_ref(&said)).expect("kept");
    let found = archive.search("twice", 10).expect("searchable");
    assert_eq!(found.len(), 1, "the same content is one original");
    assert_eq!(found[0].id, said.id);
}

fn finds_by_words(archive: &dyn Archive) {
    let mut call = original(3, "read_file src/parseConfig.rs");
    call.about.tool = Some("read_file".to_owned());
    archive
        .put(&[
            original(0, "The port of the database is 5433."),
            original(1, "Nothing of interest here."),
            call.clone(),
            original(4, "日本語の文章"),
            original(5, ""),
        ])
        .expect("kept");
    let entries = |words: &str| -> Vec<usize> {
        let found = archive.search(words, 10).expect("searchable");
        found.iter().map(|found| found.entry).collect()
    };
    assert_eq!(entries("5433"), [0]);
    assert_eq!(entries("DATABASE port"), [0]);
    assert_eq!(entries("config"), [3], "identifiers are found by their pieces");
    assert_eq!(entries("parse_config"), [3], "however they are spelt");
    assert_eq!(entries("src/parseConfig.rs"), [3]);
    assert_eq!(entries("本語"), [4]);
    for odd in ["", "\"", "a OR (", "NEAR(port", "words:port*", "-port ^", "'; DROP", "\u{0}"] {
        archive.search(odd, 10).expect("any text is a question");
    }
    assert_eq!(entries("unsaid"), [0; 0]);
    let found = archive.search("parseConfig", 10).expect("searchable").remove(0);
    assert_eq!((found.id, found.about, found.words), (call.id, call.about, call.words));
}

fn limits_and_ranks(archive: &dyn Archive) {
    let mut originals: Vec<Original> =
        (0..40).map(|at| original(at, &format!("common text number {at}"))).collect();
    originals.push(original(40, "a rare zebra in common text"));
    archive.put(&originals).expect("kept");
    assert_eq!(archive.search("common", 7).expect("searchable").len(), 7);
    assert!(archive.search("common", 0).expect("searchable").is_empty());
    let found = archive.search("common zebra", 5).expect("searchable");
    assert_eq!(found[0].entry, 40, "the rare word tells more");
    assert!(found.windows(2).all(|pair| pair[0].score >= pair[1].score), "best first");
}

fn commits_by_comparing(archive: &dyn Archive) {
    assert_eq!(archive.head(), Ok(0));
    assert_eq!(archive.history(), Ok(Vec::new()));
    assert_eq!(archive.view(0), Ok(None));
    assert_eq!(archive.commit(0, &shown(3, "first")), Ok(1));
    let late = archive.commit(0, &shown(3, "late"));
    assert_eq!(late, Err(ArchiveError::Conflict { parent: 0, head: 1 }));
    assert_eq!(archive.history(), Ok(vec![(1, 0)]), "the loser leaves nothing");
    assert_eq!(archive.commit(1, &shown(5, "second")), Ok(2));
    assert_eq!(archive.head(), Ok(2));
    let kept = archive.view(1).expect("readable").expect("it is there");
    assert_eq!(kept, KeptView { number: 1, parent: 0, shown: shown(3, "first") });
    assert_eq!(archive.view(3), Ok(None));
    assert_eq!(archive.view(u64::MAX), Ok(None));
}

/// The view to go to, by the history and the one that is in force.
type Choice = fn(&[(u64, u64)], u64) -> Option<u64>;

fn goes_back_and_forth(archive: &dyn Archive) {
    let mut head = 0;
    for text in ["one", "two", "three"] {
        head = archive.commit(head, &shown(4, text)).expect("kept");
    }
    let go = |choose: Choice| {
        let from = archive.head().expect("readable");
        let to = choose(&archive.history().expect("readable"), from)?;
        archive.go(from, to).expect("it is there");
        Some(to)
    };
    assert_eq!((go(undone), go(undone), go(undone), go(undone)), (Some(2), Some(1), Some(0), None));
    assert_eq!((go(redone), go(redone), go(redone), go(redone)), (Some(1), Some(2), Some(3), None));
    assert_eq!((go(undone), go(undone)), (Some(2), Some(1)));
    assert_eq!(archive.commit(1, &shown(4, "another way")), Ok(4), "from there it goes on");
    assert_eq!((go(undone), go(redone)), (Some(1), Some(4)), "the newer way is done again");
    assert_eq!(archive.go(1, 2), Err(ArchiveError::Conflict { parent: 1, head: 4 }));
    assert_eq!(archive.go(4, 9), Err(ArchiveError::NoSuchView { view: 9 }));
    assert_eq!(archive.history(), Ok(vec![(1, 0), (2, 1), (3, 2), (4, 1)]), "views are kept");
}

fn one_of_many_wins(archive: &dyn Archive) {
    let won: Vec<Result<u64, ArchiveError>> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..8)
            .map(|at| scope.spawn(move || archive.commit(0, &shown(2, &format!("by {at}")))))
            .collect();
        all.into_iter().map(|one| one.join().expect("nobody panics")).collect()
    });
    assert_eq!(won.iter().filter(|one| one.is_ok()).count(), 1, "{won:?}");
    let lost = Err(ArchiveError::Conflict { parent: 0, head: 1 });
    assert_eq!(won.iter().filter(|one| **one == lost).count(), 7, "{won:?}");
    assert_eq!(archive.history().expect("readable").len(), 1);
}
