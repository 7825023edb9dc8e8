//! Epochs as what they are: a lot for each link, whatever runs they are kept in.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::count::CharsPer;
use crate::session::ChainKey;
use crate::transcript::Slot;
use crate::wire::{Format, parse};

const KEY: ChainKey = ChainKey([1, 2, 3, 4]);

fn read(messages: &str) -> (Request, Chain) {
    let body = format!(r#"{{"messages":[{messages}]}}"#);
    let request = parse(Format::Anthropic, body).expect("messages");
    let chain = Chain::of(&request, "", KEY);
    (request, chain)
}

/// This many messages of two texts each.
fn said(many: usize) -> (Request, Chain) {
    let text = |words: String| format!(r#"{{"type":"text","text":"{words}"}}"#);
    let message = |at: usize| {
        let role = if at.is_multiple_of(2) { "user" } else { "assistant" };
        let texts = [text(format!("first of {at}")), text(format!("second of {at}"))].join(",");
        format!(r#"{{"role":"{role}","content":[{texts}]}}"#)
    };
    read(&(0..many).map(message).collect::<Vec<_>>().join(","))
}

fn text(words: &str) -> Put {
    Put::Text(words.into())
}

fn spot(at: usize, nth: u32) -> Spot {
    let (request, _) = said(at + 1);
    let entry = request.transcript.entry(at);
    Spot::of(entry, Slot(entry.slots().start + nth)).expect("it has two parts")
}

fn edit(nth: u32, put: Put) -> LotEdit {
    LotEdit { at: spot(0, nth), put, reason: Reason::LongText }
}

fn fate() -> impl Strategy<Value = u8> {
    0..5_u8
}

/// The fate of entry `at` that this number stands for.
fn of_number(number: u8, request: &Request, at: usize) -> Fate {
    let put = |nth: u32| PartEdit {
        at: Slot(request.transcript.entry(at).slots().start + nth),
        put: text("short"),
        reason: Reason::LongText,
    };
    match number {
        0 => Fate::Keep,
        1 => Fate::Fold(Reason::OlderStep),
        2 => Fate::Drop(Reason::LastResort),
        3 => Fate::Edit([put(1)].into()),
        _ => Fate::Edit([put(0), put(1)].into()),
    }
}

proptest! {
    #[test]
    fn an_epoch_shows_its_request_as_the_view_and_keeps_new_entries(
        fates in vec(fate(), 1..9),
        place in 0..9_usize,
        behind in 0..3_usize,
    ) {
        let (request, chain) = said(fates.len());
        let mut view = View::default();
        for (at, number) in fates.iter().enumerate() {
            view.push(of_number(*number, &request, at));
        }
        if place <= fates.len() {
            view.place(Placed { before: place, text: "what was before".into() });
        }
        let epoch = Epoch::of(&view, &request, &chain);
        prop_assert_eq!(epoch.view(&request, &chain), view.clone());
        prop_assert_eq!(epoch.is_whole(), view.is_whole());
        prop_assert_eq!((epoch.known(), epoch.compacted), (fates.len(), fates.len()));
        // Runs of one lot are kept once; edits are an entry's own.
        let is_new = |pair: &[u8]| pair[0] != pair[1] || pair[0] > 2;
        let runs = 1 + fates.windows(2).filter(|pair| is_new(pair)).count();
        prop_assert_eq!(epoch.lots.len(), runs);
        let (longer, chain) = said(fates.len() + behind);
        for at in fates.len()..longer.transcript.len() {
            view.push(of_number(0, &longer, at));
        }
        prop_assert_eq!(epoch.view(&longer, &chain), view);
    }

    #[test]
    fn what_becomes_of_a_link_is_what_was_said_of_it_last(
        all in vec((0..10_usize, 0..3_u8, 1..9_u64), 1..12),
        first in 0..12_usize,
    ) {
        let mut epoch = Epoch::whole();
        let mut lots: Vec<Lot> = Vec::new();
        let mut spared: Vec<(usize, u64)> = Vec::new();
        for (link, what, tokens) in &all {
            if lots.len() <= *link {
                lots.resize(*link + 1, Lot::Keep);
            }
            match what {
                0 => {
                    lots[*link] = Lot::Fold(Reason::OlderStep);
                    epoch.put(*link, &lots[*link]);
                }
                1 => {
                    lots[*link] = Lot::Keep;
                    epoch.put(*link, &lots[*link]);
                }
                _ => {
                    let before = lots[*link].clone();
                    let cut = edit((*tokens % 2) as u32, text("cut"));
                    let mut edits = match before {
                        Lot::Edit(edits) => edits.to_vec(),
                        _ => Vec::new(),
                    };
                    edits.retain(|other| other.at != cut.at);
                    edits.push(cut.clone());
                    edits.sort_by_key(|edit| edit.at);
                    lots[*link] = Lot::Edit(edits.into());
                    spared.push((*link, *tokens));
                    epoch.cut(*link, cut, *tokens, *tokens);
                }
            }
        }
        let holds = |epoch: &Epoch, links: usize| {
            let sum = |to: usize| {
                spared.iter().filter(|(link, _)| *link < to.min(links)).map(|(_, t)| t).sum::<u64>()
            };
            prop_assert_eq!(epoch.known(), lots.len().min(links));
            for (link, lot) in lots.iter().enumerate().take(links) {
                prop_assert_eq!(epoch.lot(link), Some(lot), "{:?}", link);
            }
            prop_assert_eq!(epoch.lot(lots.len().min(links)), None);
            prop_assert!(epoch.lots.iter().all(|(len, _)| *len > 0));
            prop_assert_eq!(epoch.spared, sum(links));
            for link in 0..12 {
                prop_assert_eq!(epoch.spared_in(link), Some(sum(link)));
            }
            Ok(())
        };
        holds(&epoch, usize::MAX)?;
        let fork = epoch.of_first(first).expect("nothing was compacted");
        holds(&fork, first)?;
        epoch.compacted = 5;
        let is_kept = |link: usize| matches!(epoch.lot(link), None | Some(Lot::Keep));
        let holds = first >= 5 || first == 4 && is_kept(4);
        prop_assert_eq!(epoch.of_first(first).is_some(), holds);
        prop_assert_eq!(epoch.spared_in(first).is_some(), holds);
    }
}

#[test]
fn a_fork_knows_the_strangers_that_it_shares() {
    let epoch = Epoch { strangers: vec![3, 4, 5], ..Epoch::whole() };
    assert_eq!(epoch.of_first(5).expect("nothing was compacted").strangers, [3, 4]);
}

#[test]
fn a_clients_notes_leave_with_what_was_compacted() {
    let say = |role: &str, words: &str| format!(r#"{{"role":"{role}","content":"{words}"}}"#);
    let note = say("user", "<total_tokens>5 left</total_tokens>");
    let (user, model) = (say("user", "Go."), say("assistant", "Well."));
    let (request, chain) =
        read(&[&user, &note, &model, &note, &user, &note].map(String::as_str).join(","));
    assert_eq!(chain.entries(), [0, 2, 4]);
    let kept = |epoch: &Epoch| {
        let view = epoch.view(&request, &chain);
        view.fates().map(Fate::is_shown).collect::<Vec<_>>()
    };
    let epoch = Epoch { compacted: 2, ..Epoch::whole() };
    assert_eq!(kept(&epoch), [true, false, true, true, true, true]);
    assert_eq!(kept(&Epoch { compacted: 3, ..epoch }), [true, false, true, false, true, true]);
    assert_eq!(kept(&Epoch::whole()), [true; 6]);
}

#[test]
fn what_was_cut_as_it_came_stays_cut_by_the_least_that_is_left() {
    let mut before = Epoch::whole();
    for link in 0..5 {
        before.cut(link, edit(0, text("four")), 90, 90);
    }
    let mut epoch = Epoch::whole();
    let cuts = |words: &str| Lot::Edit([edit(0, text(words))].into());
    epoch.push(Lot::Fold(Reason::OlderStep));
    epoch.push(cuts("of twelve..."));
    epoch.push(cuts("ten chars."));
    epoch.push(cuts("two"));
    epoch.carry(&before, |text| text.chars().count() as u64);
    assert_eq!(epoch.lot(0), Some(&Lot::Fold(Reason::OlderStep)));
    assert_eq!((epoch.lot(1), epoch.lot(2)), (Some(&cuts("four")), Some(&cuts("four"))));
    assert_eq!(epoch.lot(3), Some(&cuts("two")), "less of it is left");
    assert_eq!(epoch.lot(4), Some(&cuts("four")), "it would be shown whole");
    assert_eq!(epoch.spared, 8 + 6 + 90);
    assert_eq!(epoch.spared_in(2), Some(8));
    // Where the next compaction shows all of it the cut spares what it spared at first.
    let mut next = Epoch::whole();
    next.carry(&epoch, |text| text.chars().count() as u64);
    assert_eq!((next.lot(1), next.spared), (Some(&cuts("four")), 3 * 90));
}

/// A person's word, and four words of the model's with a thought each, of this many characters.
fn thinking() -> (Request, Chain) {
    let thought = |letters: usize| {
        let thought = "t".repeat(letters);
        format!(
            r#"{{"role":"assistant","content":[{{"type":"thinking","thinking":"{thought}","signature":"c2ln"}},{{"type":"text","text":"Well."}}]}}"#
        )
    };
    let user = r#"{"role":"user","content":"Go."}"#.to_owned();
    read(&[user, thought(100), thought(200), thought(300), thought(400)].join(","))
}

fn counter() -> CharsPer {
    CharsPer::new(std::num::NonZeroU32::MIN)
}

#[test]
fn a_model_that_binds_thoughts_is_shown_those_that_were_said_under_its_view() {
    let (request, _) = thinking();
    let late = |link: usize| Late::of(request.transcript.entry(link), &request, &counter());
    let tokens = |link: usize| late(link).leaving().map(|(_, tokens)| tokens).sum::<u64>();
    assert!(tokens(1) >= 100 && tokens(2) > tokens(1));
    let mut epoch = Epoch { compacted: 2, spared: 50, number: 4, ..Epoch::whole() };
    epoch.lots = vec![(2, Lot::Keep)];
    epoch.take_late(3, &late(3));
    assert_eq!((epoch.strangers.as_slice(), epoch.spared), (&[3][..], 50), "no model minds yet");
    let next = epoch.bound(Binding::PrefixManual, late);
    assert_eq!((next.number, next.binding), (5, Binding::PrefixManual));
    let thoughts = |epoch: &Epoch, link: usize| match epoch.lot(link) {
        None | Some(Lot::Keep) => "kept",
        Some(Lot::Edit(edits)) if edits.iter().all(|edit| edit.put == Put::Nothing) => "gone",
        other => panic!("{other:?}"),
    };
    let all: Vec<&str> = (0..5).map(|link| thoughts(&next, link)).collect();
    assert_eq!(all, ["kept", "gone", "kept", "gone", "kept"]);
    // What the compaction saw is spared for good; what came behind it goes with a fork that leaves it out.
    assert_eq!(next.spared, 50 + tokens(1) + tokens(3));
    assert_eq!((next.spared_in(3), next.spared_in(4)), (Some(50 + tokens(1)), Some(next.spared)));
    assert_eq!((next.spares.len(), next.strangers.len()), (1, 0));
    // From then on what comes late leaves at once.
    let mut bound = next.clone();
    bound.take_late(4, &late(4));
    assert_eq!((thoughts(&bound, 4), bound.spared), ("gone", next.spared + tokens(4)));
    bound.take_late(4, &late(4));
    assert_eq!(bound.spared, next.spared + tokens(4), "once");
}

#[test]
fn a_thought_leaves_beside_what_was_cut_of_its_entry() {
    let (request, _) = thinking();
    let entry = request.transcript.entry(1);
    let [thought, words] = [0, 1]
        .map(|nth| Spot::of(entry, Slot(entry.slots().start + nth)).expect("a thought and a text"));
    let late = Late::of(entry, &request, &counter());
    let put = |at: Spot, put: Put, reason: Reason| LotEdit { at, put, reason };
    let short = put(words, text("short"), Reason::LongText);
    let gone = put(thought, Put::Nothing, Reason::BoundReasoning);
    let both = |edits: &[&LotEdit]| {
        let mut edits: Vec<LotEdit> = edits.iter().map(|edit| (*edit).clone()).collect();
        edits.sort_by_key(|edit| edit.at);
        Lot::Edit(edits.into())
    };
    let left = |lot: &Lot| unbound(Some(lot), &late).0;
    assert_eq!(left(&Lot::Keep), Some(both(&[&gone])));
    assert_eq!(left(&both(&[&short])), Some(both(&[&short, &gone])));
    let old = put(thought, Put::Nothing, Reason::OldReasoning);
    assert_eq!(left(&both(&[&old, &short])), None, "it left before");
    let without = put(words, Put::Nothing, Reason::LongText);
    assert_eq!(left(&both(&[&without])), Some(both(&[&without, &gone])));
    let shortened = put(thought, text("hm"), Reason::LongText);
    assert_eq!(left(&both(&[&shortened])), Some(both(&[&gone])));
    assert_eq!(left(&Lot::Drop(Reason::LastResort)), None);
}

#[test]
fn an_epoch_binds_as_the_model_that_it_was_made_for() {
    for (model, binding) in
        [("claude-opus-4-5", Binding::Free), ("claude-opus-5-5", Binding::Prefix)]
    {
        let body =
            format!(r#"{{"model":"{model}","messages":[{{"role":"user","content":"Go."}}]}}"#);
        let request = parse(Format::Anthropic, body).expect("messages");
        let chain = Chain::of(&request, "", KEY);
        assert_eq!(Epoch::of(&View::whole(1), &request, &chain).binding, binding);
    }
}

#[test]
fn the_last_link_that_was_kept_may_be_another() {
    let of = |lots: &[(usize, Lot)], before: usize| Epoch {
        compacted: 5,
        placed: Some(Placed { before, text: "".into() }),
        lots: lots.to_vec(),
        ..Epoch::whole()
    };
    let fold = Lot::Fold(Reason::OlderStep);
    let kept = [(3, fold.clone()), (2, Lot::Keep)];
    assert_eq!((of(&kept, 3).needed(), of(&kept, 4).needed()), (4, 5), "what ends with it");
    assert_eq!(of(&[(5, fold)], 0).needed(), 5);
    let fork = of(&kept, 3).of_first(4).expect("it holds for four");
    assert_eq!((fork.compacted, fork.known()), (4, 4));
    assert!(of(&kept, 3).of_first(3).is_none());
}
