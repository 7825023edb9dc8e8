//! Everything before the first kept entry is read in pages, whatever is appended meanwhile.

use epitome::View;
use epitome::session::{Chain, SessionId, page};

use super::*;

/// What is shown of a request by the newest epoch.
fn view(sessions: &Sessions, session: SessionId, request: &Request) -> View {
    let chain = Chain::of(request, "", ChainKey([1, 2, 3, 4]));
    sessions.epoch(session).expect("known").view(request, &chain)
}

/// The entries of a request, by their index, as they are written.
fn written(request: &Request, entries: std::ops::Range<usize>) -> Vec<String> {
    entries.map(|at| request.transcript.entry(at).raw().to_owned()).collect()
}

#[test]
fn pages_have_everything_once_while_the_session_goes_on() {
    let mut sessions = folding(When::Items(20));
    let now = after(12);
    let settled = sessions.settle("", &now, None, START);
    let first = view(&sessions, settled.session, &now);
    let kept = first.first_kept();
    // The newest three steps, each of two messages; before them the checkpoint, and everything that it stands for.
    assert_eq!(kept, now.transcript.len() - 6);
    let placed = first.checkpoint().expect("older steps are folded");
    let shown = settled
        .view
        .expect("a view")
        .transcript
        .entries()
        .map(|e| e.raw().to_owned())
        .collect::<Vec<_>>();
    assert!(placed.before <= kept && shown.iter().any(|entry| entry.contains("<checkpoint")));

    let mut pages = vec![page(&first, None, 5)];
    let mut steps = 12;
    while let Some(cursor) = pages.last().expect("one was read").next {
        // Between two pages the agent works on: it appends, and is compacted again.
        steps += 8;
        let later = after(steps);
        sessions.settle("", &later, None, START);
        let view = view(&sessions, settled.session, &later);
        assert!(view.first_kept() >= kept);
        let next = page(&view, Some(cursor), 5);
        assert_eq!(written(&later, next.entries.clone()), written(&now, next.entries.clone()));
        pages.push(next);
    }
    assert!(sessions.epoch(settled.session).expect("known").number > 2 && pages.len() > 3);
    let read: Vec<usize> = pages.iter().rev().flat_map(|page| page.entries.clone()).collect();
    assert_eq!(read, (0..kept).collect::<Vec<_>>());
}
