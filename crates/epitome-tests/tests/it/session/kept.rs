//! Machines that share what they keep take turns in a conversation.

use std::collections::BTreeMap;
use std::time::Duration;

use epitome::Request;
use epitome::session::{Reader, Saved, Sessions, Settled};
use epitome::trigger::When;

use super::{START, after, chat, folding, steps};

/// What machines share: the newest epoch at each place.
#[derive(Default)]
struct Shelf(BTreeMap<[u8; 16], (u32, String)>);

impl Shelf {
    /// The newest that is news of a request.
    fn found(&self, sessions: &Sessions, reader: &Reader, request: &Request) -> Option<Saved> {
        let news = sessions.news(&reader.arrive("t", request));
        let found = news.iter().rev().find_map(|place| {
            let kept = self.0.get(&place.id.to_bytes());
            kept.filter(|(number, _)| place.known.is_none_or(|known| *number > known))
        });
        found.map(|(_, saved)| serde_json::from_str(saved).expect("its own form"))
    }

    /// Keeps what is unsaved; what was there before, where somebody else was first.
    fn keep(&mut self, sessions: &mut Sessions, settled: &Settled) -> Option<Saved> {
        let saved = sessions.unsaved(settled.session)?;
        let (id, number) = saved.place().expect("it is compacted");
        if let Some((known, first)) = self.0.get(&id.to_bytes())
            && *known >= number
        {
            return Some(serde_json::from_str(first).expect("its own form"));
        }
        let text = serde_json::to_string(&saved).expect("data");
        self.0.insert(id.to_bytes(), (number, text));
        sessions.kept(settled.session, number);
        None
    }

    /// What a machine sends of a request.
    fn turn(&mut self, sessions: &mut Sessions, request: &Request, now: Duration) -> String {
        let reader = sessions.reader();
        if let Some(saved) = self.found(sessions, &reader, request) {
            assert!(sessions.catch_up(&reader.arrive("t", request), saved.clone()));
            // Once more it is no news.
            assert!(!sessions.catch_up(&reader.arrive("t", request), saved));
        }
        let settled = sessions.settle("t", request, None, now);
        let Some(theirs) = self.keep(sessions, &settled) else {
            return settled.rendered(request).to_owned();
        };
        sessions.give_way(settled.session, theirs);
        shown(sessions, request, now)
    }
}

fn shown(sessions: &mut Sessions, request: &Request, now: Duration) -> String {
    use epitome::session::Outgoing;
    match sessions.show("t", request, None, now).send {
        Outgoing::View(view, _) => view.source().to_string(),
        Outgoing::AsItCame(_) => request.source().to_string(),
        Outgoing::After(_) => panic!("what is shown waits for nothing"),
    }
}

/// What of a prompt is its list, without its end.
fn list(prompt: &str) -> &str {
    prompt.rsplit_once(']').expect("its list is its last").0
}

#[test]
fn machines_in_turn_send_what_one_would() {
    let (mut shelf, mut one) = (Shelf::default(), folding(When::Items(20)));
    let mut each = [folding(When::Items(20)), folding(When::Items(20)), folding(When::Items(20))];
    let mut own = Shelf::default();
    for turn in 0..60 {
        let now = START + Duration::from_secs(turn);
        let request = after(turn as usize + 1);
        let expected = own.turn(&mut one, &request, now);
        // One of them has just begun.
        if turn % 7 == 3 {
            each[2] = folding(When::Items(20));
        }
        let machine = &mut each[[0, 1, 1, 2, 0, 2, 1][turn as usize % 7]];
        assert_eq!(shelf.turn(machine, &request, now), expected, "{turn}");
    }
    assert!(shelf.0.len() > 3, "{}", shelf.0.len());
    assert!(shelf.0.keys().eq(own.0.keys()));
}

#[test]
fn the_second_machine_shows_the_first_ones_view() {
    let mut shelf = Shelf::default();
    let mut keeps_more =
        super::sessions(super::options(When::Items(20), epitome::Target::Percent(60)));
    let (mut first, mut second) = (folding(When::Items(20)), folding(When::Items(20)));
    let request = after(12);
    // All compact the same request, and none has seen what the others keep.
    let other = keeps_more.settle("t", &request, None, START);
    let theirs = first.settle("t", &request, None, START);
    assert_ne!(other.rendered(&request), theirs.rendered(&request));
    assert!(shelf.keep(&mut first, &theirs).is_none());
    let lost = shelf.keep(&mut keeps_more, &other).expect("the first one keeps it");
    keeps_more.give_way(other.session, lost);
    assert_eq!(shown(&mut keeps_more, &request, START), theirs.rendered(&request));
    assert_eq!(keeps_more.len(), 1);
    // Both go on alike, and so does who has seen nothing of it; who rewinds to before it sees all.
    for sessions in [&mut first, &mut keeps_more, &mut second] {
        let before = list(theirs.rendered(&request)).to_owned();
        let next = shelf.turn(sessions, &after(13), START);
        assert!(next.starts_with(&before), "{before}\n{next}");
        assert_eq!(shelf.turn(sessions, &after(5), START), *after(5).source().as_str());
    }
}

#[test]
fn others_and_other_ways_have_no_news() {
    let (mut shelf, mut one) = (Shelf::default(), folding(When::Items(20)));
    shelf.turn(&mut one, &after(12), START);
    assert_eq!(shelf.0.len(), 1);
    let mut two = folding(When::Items(20));
    let reader = two.reader();
    let (_, saved) = shelf.0.values().next().expect("kept");
    let saved: Saved = serde_json::from_str(saved).expect("its own form");
    assert!(!two.catch_up(&reader.arrive("u", &after(12)), saved.clone()), "another tenant's");
    let fork = chat(&format!("{}user No, stop.\n", steps(0..6)));
    assert!(shelf.found(&two, &reader, &fork).is_none());
    assert!(!two.catch_up(&reader.arrive("t", &fork), saved.clone()), "it parted before");
    assert!(two.catch_up(&reader.arrive("t", &after(12)), saved));
}
